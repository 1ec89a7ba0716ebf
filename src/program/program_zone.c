/*-------------------------------------------------------------------------
 *
 * program_zone.c
 *	  What a program does with entries of which no more is known than bounds of their columns.
 *
 * Where all operands have one value the step itself is done (program_steps.h).  Operators that rise
 * with an operand, the others having one value, are done for its least and its greatest value: if
 * neither faults, nothing between does.
 *
 *-------------------------------------------------------------------------
 */
#include "program/program_zone.h"

/* ---- values ---- */

#define ANY_LEAST		GPB_INT64_MIN
#define ANY_GREATEST	GPB_INT64_MAX

/* Values from "least" to "greatest", with the NULLs of the operands to come */
static GpbZoneValue
between(int64 least, int64 greatest)
{
	return (GpbZoneValue) {least, greatest, true, false, false, GPB_NO_SLOT};
}

GpbZoneValue
gpb_zone_any(int column)
{
	return (GpbZoneValue) {ANY_LEAST, ANY_GREATEST, true, true, false, (uint8) column};
}

bool
gpb_zone_may_be_true(const GpbZoneValue *value)
{
	return value->has_values && (value->least != 0 || value->greatest != 0);
}

static bool
may_be_false(const GpbZoneValue *value)
{
	return value->has_values && value->least <= 0 && value->greatest >= 0;
}

bool
gpb_zone_is_true(const GpbZoneValue *value)
{
	return !value->has_nulls && !may_be_false(value);
}

bool
gpb_zone_is_one(const GpbZoneValue *value)
{
	return value->has_values && !value->has_nulls && value->least == value->greatest;
}

void
gpb_zone_constants(const GpbProgram *program, GpbZoneValue *slot)
{
	int			i;

	for (i = 0; i < program->nconstants; i++)
	{
		bool		is_null = (program->null_constants >> i) & 1;
		GpbZoneValue value = between(program->constant[i], program->constant[i]);

		value.has_values = !is_null;
		value.has_nulls = is_null;
		slot[GPB_FIRST_CONSTANT + i] = value;
	}
}

/* Any value that an operator may have */
#define GPB_ANY_boolean	{0, 1, true, false, false, GPB_NO_SLOT}
#define GPB_ANY_int4	{GPB_INT32_MIN, GPB_INT32_MAX, true, false, false, GPB_NO_SLOT}
#define GPB_ANY_word	{ANY_LEAST, ANY_GREATEST, true, false, false, GPB_NO_SLOT}
#define GPB_ANY_float8	{ANY_LEAST, ANY_GREATEST, true, false, true, GPB_NO_SLOT}

static const GpbZoneValue any_results[GPB_OPERATORS] = {
#define GPB_OPERATOR(name, operands, kind, range, does) [GPB_OP_##name] = GPB_ANY_##range,
#include "program/program_operators.h"
};

static GpbZoneValue
any_result(int op)
{
	return any_results[op];
}

/* Is the result of the operator a float8, and does it take its operands for such? */
static bool
gives_floats(int op)
{
	return any_results[op].floats;
}

static bool
takes_floats(int op)
{
	return (gives_floats(op) && op != GPB_OP_INT_TO_FLOAT) || op == GPB_OP_FLOAT_ORDER ||
		op == GPB_OP_FLOAT_TO_INT;
}

/*
 * Take an operand for a float8, or for what is none.  A constant does not say what it is.  Returns
 * false, with the bounds of any value, if it was something else.
 */
static bool
take(GpbZoneValue *value, bool floats)
{
	if (!value->has_values || value->floats == floats)
	{
		value->floats = floats;
		return true;
	}
	if (floats && value->least == value->greatest)
		value->least = value->greatest = gpb_float_order(value->least);
	else
	{
		value->least = ANY_LEAST;
		value->greatest = ANY_GREATEST;
	}
	value->floats = floats;
	return value->least == value->greatest;
}

/* ---- one value ---- */

static bool
is_single(const GpbZoneValue *value)
{
	return value->least == value->greatest;
}

/* The word of a value that is the only one */
static int64
word_of(const GpbZoneValue *value)
{
	return value->floats ? gpb_float_unorder(value->least) : value->least;
}

/* Do a step with these words.  Returns false if it faults. */
static bool
do_step(int op, int64 a, int64 b, int64 c, const int64 *table, int n, int64 *result)
{
	int64		word = 0;
	bool		faults = gpb_step_of_values(op, a, b, c, table, n, &word);

	*result = gives_floats(op) ? gpb_float_order(word) : word;
	return !faults;
}

/* ---- comparisons ---- */

/* A boolean that may be true, and may be false */
static GpbZoneValue
truth(bool may_be_true, bool may_be_false)
{
	return between(!may_be_false, may_be_true);
}

static bool
overlap(const GpbZoneValue *a, const GpbZoneValue *b)
{
	return a->least <= b->greatest && b->least <= a->greatest;
}

/* A comparison of values that are not both single */
static GpbZoneValue
compare(int op, const GpbZoneValue *a, const GpbZoneValue *b)
{
	switch (op)
	{
		case GPB_OP_EQ:
			return truth(overlap(a, b), true);
		case GPB_OP_NE:
			return truth(true, overlap(a, b));
		case GPB_OP_LT:
			return truth(a->least < b->greatest, a->greatest >= b->least);
		case GPB_OP_LE:
			return truth(a->least <= b->greatest, a->greatest > b->least);
		case GPB_OP_GT:
			return truth(a->greatest > b->least, a->least <= b->greatest);
		default:
			return truth(a->greatest >= b->least, a->least < b->greatest);
	}
}

/* Of so many values each is looked up in a table. */
#define FEW_VALUES		16

/* Is a value among the words of a table, or among the codes that it has? */
static GpbZoneValue
look_up(int op, const GpbZoneValue *a, const int64 *table, int n)
{
	bool		found = false;
	bool		missed = false;
	uint64		i;

	if ((uint64) a->greatest - (uint64) a->least >= FEW_VALUES)
	{
		/* Words ascend: the first that is not below the least one tells. */
		int			at = 0;

		if (op != GPB_OP_IN)
			return truth(true, true);
		while (at < n && table[at] < a->least)
			at++;
		return truth(at < n && table[at] <= a->greatest, true);
	}
	for (i = 0; i <= (uint64) a->greatest - (uint64) a->least; i++)
	{
		int64		result;

		(void) do_step(op, a->least + (int64) i, 0, 0, table, n, &result);
		found |= result != 0;
		missed |= result == 0;
	}
	return truth(found, missed);
}

/* ---- integers ---- */

typedef __int128 Wide;

/* Results from "least" to "greatest", of which those beyond the limits fault */
static bool
limited(Wide least, Wide greatest, int64 limit_least, int64 limit_greatest, GpbZoneValue *result)
{
	if (least < limit_least || greatest > limit_greatest)
		return false;
	*result = between((int64) least, (int64) greatest);
	return true;
}

static bool
fits_word(Wide least, Wide greatest, GpbZoneValue *result)
{
	return limited(least, greatest, GPB_INT64_MIN, GPB_INT64_MAX, result);
}

static Wide
lesser(Wide a, Wide b)
{
	return a < b ? a : b;
}

static Wide
larger(Wide a, Wide b)
{
	return a > b ? a : b;
}

static bool
contains(const GpbZoneValue *value, int64 word)
{
	return value->least <= word && word <= value->greatest;
}

/* The greatest magnitude */
static Wide
magnitude(const GpbZoneValue *value)
{
	return larger(-(Wide) value->least, value->greatest);
}

static bool
multiply(const GpbZoneValue *a, const GpbZoneValue *b, GpbZoneValue *result)
{
	Wide		p = (Wide) a->least * b->least;
	Wide		q = (Wide) a->least * b->greatest;
	Wide		r = (Wide) a->greatest * b->least;
	Wide		s = (Wide) a->greatest * b->greatest;

	return fits_word(lesser(lesser(p, q), lesser(r, s)), larger(larger(p, q), larger(r, s)),
					 result);
}

/* A quotient toward 0: it rises or falls with the dividend, and has no more than its magnitude. */
static bool
divide(const GpbZoneValue *a, const GpbZoneValue *b, GpbZoneValue *result)
{
	Wide		p;
	Wide		q;

	if (contains(b, 0) || (a->least == GPB_INT64_MIN && contains(b, -1)))
		return false;
	if (!is_single(b))
		return fits_word(-magnitude(a), larger(magnitude(a), 0), result);
	p = (Wide) a->least / b->least;
	q = (Wide) a->greatest / b->least;
	return fits_word(lesser(p, q), larger(p, q), result);
}

/* A remainder has the sign of the dividend, and is less than the divisor. */
static bool
modulo(const GpbZoneValue *a, const GpbZoneValue *b, GpbZoneValue *result)
{
	Wide		most = lesser(magnitude(a), magnitude(b) - 1);

	if (contains(b, 0))
		return false;
	return fits_word(a->least < 0 ? -most : 0, a->greatest > 0 ? most : 0, result);
}

static bool
absolute(const GpbZoneValue *a, GpbZoneValue *result)
{
	Wide		least = contains(a, 0) ? 0 : a->least > 0 ? a->least : -(Wide) a->greatest;

	return fits_word(least, magnitude(a), result);
}

/* ---- float8: NaN is above all others, and infinities fault nowhere ---- */

static bool
is_finite(const GpbZoneValue *value)
{
	const int64 infinity = (int64) 0x7FF << 52;

	return value->least > -infinity && value->greatest < infinity;
}

static bool
has_one_sign(const GpbZoneValue *value)
{
	return value->least > 0 || value->greatest < 0;
}

/*
 * A sum, difference, product or quotient lies between those of the ends, since rounding rises.
 * Factors that come near 0 may underflow, and divisors are not 0.
 */
static bool
float_arithmetic(int op, const GpbZoneValue *a, const GpbZoneValue *b, GpbZoneValue *result)
{
	bool		sum = op == GPB_OP_FLOAT_ADD || op == GPB_OP_FLOAT_SUBTRACT;
	int			i;

	if (!is_finite(a) || !is_finite(b) || (!sum && (!has_one_sign(a) || !has_one_sign(b))))
		return false;
	for (i = 0; i < 4; i++)
	{
		int64		end;

		if (!do_step(op, gpb_float_unorder(i & 1 ? a->greatest : a->least),
					 gpb_float_unorder(i & 2 ? b->greatest : b->least), 0, NULL, 0, &end))
			return false;
		if (i == 0)
			*result = between(end, end);
		result->least = lesser(result->least, end);
		result->greatest = larger(result->greatest, end);
	}
	result->floats = true;
	return true;
}

static GpbZoneValue
float_sign(int op, const GpbZoneValue *a)
{
	GpbZoneValue result = any_result(op);

	if (a->greatest == GPB_INT64_MAX)
		return result;			/* NaN stays */
	if (op == GPB_OP_FLOAT_NEGATE)
		result = between(-a->greatest, -a->least);
	else
		(void) absolute(a, &result);
	result.floats = true;
	return result;
}

/* ---- what rises with its first operand ---- */

static bool
is_finite_date(const GpbZoneValue *value)
{
	return value->least > GPB_INT32_MIN && value->greatest < GPB_INT32_MAX;
}

static bool
takes_timestamps(int op)
{
	return op == GPB_OP_TIMESTAMP_ADD || op == GPB_OP_TRUNCATE || op == GPB_OP_TRUNCATE_MONTHS ||
		op == GPB_OP_TO_LOCAL;
}

/* Does the operator rise with a, where the others have one value each, and a is finite? */
static bool
rises(int op, const GpbZoneValue *a, const int64 *table, int n)
{
	switch (op)
	{
		case GPB_OP_DATE_TO_TIMESTAMP:
		case GPB_OP_DATE_ADD:
		case GPB_OP_DATE_TO_MONTH:
			return is_finite_date(a);
		case GPB_OP_FLOAT_TO_INT:
			return is_finite(a);
		case GPB_OP_TO_LOCAL:
			/* It does as long as the offset is the same. */
			return table != NULL &&
				gpb_zone_find(table, n, gpb_timestamp_seconds(a->least)) ==
				gpb_zone_find(table, n, gpb_timestamp_seconds(a->greatest));
		case GPB_OP_FLOOR_DIVIDE:	/* by what is not positive it faults */
		case GPB_OP_TIMESTAMP_TO_DATE:
		case GPB_OP_TIMESTAMP_ADD:
		case GPB_OP_TRUNCATE:
		case GPB_OP_TRUNCATE_MONTHS:
		case GPB_OP_MONTH_TO_DATE:
		case GPB_OP_INT_TO_FLOAT:
			return true;
		default:
			return false;
	}
}

/*
 * Do a step for the ends of a.  Infinite timestamps stay what they are, where the step takes such;
 * the finite ones are those that there are.  Beside them a result that is none, which a later step
 * finds, has no place: so the bounds are then any, and a fault is to be expected.
 */
static bool
do_ends(int op, const GpbZoneValue *a, int64 b, int64 c, const int64 *table, int n,
		GpbZoneValue *result)
{
	GpbZoneValue ends = *a;

	if (takes_timestamps(op))
	{
		ends.least = a->least == GPB_INT64_MIN ? GPB_TIMESTAMP_LEAST : a->least;
		ends.greatest = a->greatest == GPB_INT64_MAX ? GPB_TIMESTAMP_END - 1 : a->greatest;
	}
	*result = any_result(op);
	if (!do_step(op, a->floats ? gpb_float_unorder(ends.least) : ends.least, b, c, table, n,
				 &result->least) ||
		!do_step(op, a->floats ? gpb_float_unorder(ends.greatest) : ends.greatest, b, c, table, n,
				 &result->greatest))
		return false;
	if ((ends.least != a->least && result->least < GPB_TIMESTAMP_LEAST) ||
		(ends.greatest != a->greatest && result->greatest >= GPB_TIMESTAMP_END))
	{
		*result = any_result(op);
		return false;
	}
	if (ends.least != a->least)
		result->least = a->least;
	if (ends.greatest != a->greatest)
		result->greatest = a->greatest;
	return true;
}

/* ---- steps ---- */

/*
 * A step of values that are not NULL and not all single.  Returns false if it may fault; *result
 * has the bounds of any value on entry.
 */
static bool
step_of_values(const GpbStep *step, const GpbZoneValue *a, const GpbZoneValue *b,
			   const GpbZoneValue *c, const int64 *table, int n, GpbZoneValue *result)
{
	switch (step->op)
	{
		case GPB_OP_NOT:
			*result = truth(may_be_false(a), gpb_zone_may_be_true(a));
			return true;
		case GPB_OP_EQ:
		case GPB_OP_NE:
		case GPB_OP_LT:
		case GPB_OP_LE:
		case GPB_OP_GT:
		case GPB_OP_GE:
			*result = compare(step->op, a, b);
			return true;
		case GPB_OP_IN:
		case GPB_OP_IN_CODES:
			if (table != NULL)
				*result = look_up(step->op, a, table, n);
			return true;
		case GPB_OP_ADD:
			return fits_word((Wide) a->least + b->least, (Wide) a->greatest + b->greatest, result);
		case GPB_OP_SUBTRACT:
			return fits_word((Wide) a->least - b->greatest, (Wide) a->greatest - b->least, result);
		case GPB_OP_MULTIPLY:
			return multiply(a, b, result);
		case GPB_OP_DIVIDE:
			return divide(a, b, result);
		case GPB_OP_MODULO:
			return modulo(a, b, result);
		case GPB_OP_NEGATE:
			return fits_word(-(Wide) a->greatest, -(Wide) a->least, result);
		case GPB_OP_ABS:
			return absolute(a, result);
		case GPB_OP_TO_INT2:
			return limited(a->least, a->greatest, -32768, 32767, result);
		case GPB_OP_TO_INT4:
			return limited(a->least, a->greatest, GPB_INT32_MIN, GPB_INT32_MAX, result);
		case GPB_OP_DATE_SUBTRACT:
			*result = between(a->least - b->greatest, a->greatest - b->least);
			return is_finite_date(a) && is_finite_date(b);
		case GPB_OP_FLOAT_ORDER:
			*result = between(a->least, a->greatest);
			return true;
		case GPB_OP_FLOAT_ADD:
		case GPB_OP_FLOAT_SUBTRACT:
		case GPB_OP_FLOAT_MULTIPLY:
		case GPB_OP_FLOAT_DIVIDE:
			return float_arithmetic(step->op, a, b, result);
		case GPB_OP_FLOAT_NEGATE:
		case GPB_OP_FLOAT_ABS:
			*result = float_sign(step->op, a);
			return true;
		default:
			if (is_single(b) && is_single(c) && rises(step->op, a, table, n))
				return do_ends(step->op, a, b->least, c->least, table, n, result);
			return !gpb_operator_can_fault(step->op);
	}
}

/* A step whose result is NULL where an operand is. */
static bool
strict_step(const GpbStep *step, GpbZoneValue a, GpbZoneValue b, GpbZoneValue c,
			const int64 *table, int n, GpbZoneValue *result)
{
	bool		floats = takes_floats(step->op);
	bool		has_values = a.has_values && b.has_values && c.has_values;
	bool		has_nulls = a.has_nulls || b.has_nulls || c.has_nulls;
	bool		sound = true;

	*result = any_result(step->op);
	if (has_values)
	{
		(void) take(&a, floats);
		(void) take(&b, floats);
		(void) take(&c, floats);
		if (is_single(&a) && is_single(&b) && is_single(&c) &&
			(table != NULL || !gpb_step_has_table(step)))
		{
			sound = do_step(step->op, word_of(&a), word_of(&b), word_of(&c), table, n,
							&result->least);
			result->greatest = result->least;
		}
		else
			sound = step_of_values(step, &a, &b, &c, table, n, result);
		if (!sound)
			*result = any_result(step->op);
	}
	result->has_values = has_values;
	result->has_nulls = has_nulls;
	return sound;
}

/* One or the other of two values */
static GpbZoneValue
either(GpbZoneValue a, GpbZoneValue b)
{
	if (!a.has_values || !b.has_values)
	{
		GpbZoneValue one = a.has_values ? a : b;

		one.has_nulls = a.has_nulls || b.has_nulls;
		one.column = GPB_NO_SLOT;
		return one;
	}
	(void) take(&a, a.floats || b.floats);
	(void) take(&b, a.floats);
	a.least = lesser(a.least, b.least);
	a.greatest = larger(a.greatest, b.greatest);
	a.has_nulls |= b.has_nulls;
	a.column = a.column == b.column ? a.column : GPB_NO_SLOT;
	return a;
}

/* The least or the greatest of two values, or the one that is not NULL. */
static GpbZoneValue
extreme(int op, GpbZoneValue a, GpbZoneValue b)
{
	bool		floats = takes_floats(op);
	bool		least = op == GPB_OP_LEAST || op == GPB_OP_FLOAT_LEAST;
	GpbZoneValue result;

	(void) take(&a, floats);
	(void) take(&b, floats);
	result = either(a, b);
	result.column = GPB_NO_SLOT;
	result.floats = floats;
	result.has_nulls = a.has_nulls && b.has_nulls;
	if (!a.has_values || !b.has_values)
		return result;
	if (least && !a.has_nulls)
		result.greatest = lesser(result.greatest, a.greatest);
	if (least && !b.has_nulls)
		result.greatest = lesser(result.greatest, b.greatest);
	if (!least && !a.has_nulls)
		result.least = larger(result.least, a.least);
	if (!least && !b.has_nulls)
		result.least = larger(result.least, b.least);
	return result;
}

static GpbZoneValue
distinct(GpbZoneValue a, GpbZoneValue b)
{
	bool		equal = !a.has_nulls && !b.has_nulls && is_single(&a) && is_single(&b) &&
		a.least == b.least;
	bool		both = a.has_values && b.has_values;

	if (both && (a.floats || b.floats))
		return truth(true, true);
	return truth(!(both ? equal : !a.has_values && !b.has_values),
				 (both && overlap(&a, &b)) || (a.has_nulls && b.has_nulls));
}

/* A step that takes NULLs. */
static GpbZoneValue
step_of_nulls(int op, const GpbZoneValue *a, const GpbZoneValue *b, const GpbZoneValue *c)
{
	GpbZoneValue result;

	switch (op)
	{
		case GPB_OP_AND:
			result = truth(gpb_zone_may_be_true(a) && gpb_zone_may_be_true(b),
						   may_be_false(a) || may_be_false(b));
			result.has_nulls = (a->has_nulls && (b->has_nulls || gpb_zone_may_be_true(b))) ||
				(b->has_nulls && gpb_zone_may_be_true(a));
			break;
		case GPB_OP_OR:
			result = truth(gpb_zone_may_be_true(a) || gpb_zone_may_be_true(b),
						   may_be_false(a) && may_be_false(b));
			result.has_nulls = (a->has_nulls && (b->has_nulls || may_be_false(b))) ||
				(b->has_nulls && may_be_false(a));
			break;
		case GPB_OP_IS_NULL:
			return truth(a->has_nulls, a->has_values);
		case GPB_OP_IS_TRUE:
			return truth(gpb_zone_may_be_true(a), a->has_nulls || may_be_false(a));
		case GPB_OP_DISTINCT:
			return distinct(*a, *b);
		case GPB_OP_SELECT:
			if (gpb_zone_is_true(a))
				return *b;
			return gpb_zone_may_be_true(a) ? either(*b, *c) : *c;
		case GPB_OP_COALESCE:
			if (!a->has_nulls)
				return *a;
			if (!a->has_values)
				return *b;
			result = either(*a, *b);
			result.has_nulls = b->has_nulls;
			return result;
		default:
			return extreme(op, *a, *b);
	}
	result.has_values = result.least <= result.greatest;
	return result;
}

bool
gpb_zone_step(const GpbStep *step, const GpbZoneValue *a, const GpbZoneValue *b,
			  const GpbZoneValue *c, const int64 *table, int n, GpbZoneValue *result)
{
	static const GpbZoneValue none = {0, 0, true, false, false, GPB_NO_SLOT};
	int			operands = gpb_operands(step->op);

	if (operands < 2)
		b = &none;
	if (operands < 3)
		c = &none;
	if (!gpb_operator_takes_nulls(step->op))
		return strict_step(step, *a, *b, *c, table, n, result);
	*result = step_of_nulls(step->op, a, b, c);
	return true;
}

/*
 * A step faults only for entries for which its guard is true.  Of others its result means nothing,
 * where it would have faulted.
 */
GpbZoneVerdict
gpb_zone_judge(const GpbProgram *program, GpbZoneValue *slot)
{
	GpbZoneVerdict verdict = GPB_ZONE_ALL;
	int			i;

	for (i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];
		const int64 *table;
		GpbZoneValue result;
		int			n;

		if (step->op == GPB_OP_FILTER)
		{
			if (!gpb_zone_may_be_true(&slot[step->a]))
				return GPB_ZONE_NONE;
			if (!gpb_zone_is_true(&slot[step->a]))
				verdict = GPB_ZONE_MIXED;
			continue;
		}
		table = gpb_step_table(&program->tables, step, &n);
		if (!gpb_zone_step(step, slot + step->a, slot + step->b, slot + step->c, table, n,
						   &result) &&
			(step->guard == GPB_NO_SLOT || gpb_zone_may_be_true(&slot[step->guard])))
			return GPB_ZONE_MIXED;
		slot[step->into] = result;
	}
	return verdict;
}
