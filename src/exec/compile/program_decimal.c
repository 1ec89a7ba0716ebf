/*-------------------------------------------------------------------------
 *
 * program_decimal.c
 *	  Values of type numeric in a program: words with a scale that planning knows.
 *
 * Results of extract(), integers and constants, their sums, products, and whole parts.  What core
 * computes without loss of digits is computed here with integers; where those do not fit, steps
 * fault.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/datetime.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "exec/compile/program_decimal.h"
#include "exec/compile/program_field.h"
#include "exec/compile/program_halves.h"
#include "exec/functions/date_units.h"
#include "page/numeric.h"
#include "program/program_steps.h"

/* Shorter names for what is used all the time */
#define STEP1(op, a)		gpb_slot_step(builder, op, a, 0, 0)
#define STEP2(op, a, b)		gpb_slot_step(builder, op, a, b, 0)
#define WORD(word)			gpb_slot_word(builder, word)

/* 10^18 is the greatest power of ten that fits a word. */
#define GPB_MOST_SCALE		18

const GpbFunction *
gpb_decimal_find(Oid function)
{
	const GpbFunction *found = gpb_core_function(function);

	return found != NULL && found->call >= GPB_DECIMAL_FIELD ? found : NULL;
}

bool
gpb_decimal_is_equality(const GpbFunction *function, bool negated)
{
	return function->call == GPB_DECIMAL_COMPARE &&
		function->op == (negated ? GPB_OP_NE : GPB_OP_EQ);
}

bool
gpb_decimal_gives_numeric(const GpbFunction *function)
{
	return function->call < GPB_DECIMAL_COMPARE &&
		!(function->call == GPB_DECIMAL_FIELD && function->op != 0);
}

bool
gpb_decimal_takes_value(const GpbFunction *function, int argument)
{
	switch (function->call)
	{
		case GPB_DECIMAL_FIELD:
			return argument == 1;
		case GPB_DECIMAL_QUOTIENT:
		case GPB_DECIMAL_TRUNC:
		case GPB_DECIMAL_ROUND:
			return argument == 0;
		default:
			return true;
	}
}

/* ---- numbers ---- */

static const GpbDecimal refused = {GPB_REFUSED};

/* A word that is a decimal of this scale */
static GpbDecimal
decimal(int slot, int scale)
{
	return (GpbDecimal) {slot, scale};
}

GpbDecimal
gpb_decimal_column(int slot, int lower, int scale)
{
	GpbDecimal	value = decimal(slot, scale);

	value.lower = lower;
	value.is_column = true;
	return value;
}

static int64
power_of_ten(int exponent)
{
	int64		power = 1;

	while (exponent-- > 0)
		power *= 10;
	return power;
}

/* A numeric as word and scale; false if it does not fit. */
static bool
number_word(Numeric number, int64 *word, int *scale)
{
	Datum		scaled;

	if (numeric_is_nan(number) || numeric_is_inf(number))
		return false;
	*scale = DatumGetInt32(DirectFunctionCall1(numeric_scale, NumericGetDatum(number)));
	if (*scale > GPB_MOST_SCALE)
		return false;
	scaled = DirectFunctionCall2(numeric_mul, NumericGetDatum(number),
								 NumericGetDatum(int64_to_numeric(power_of_ten(*scale))));
	/* The greatest word is NaN's. */
	if (DatumGetBool(DirectFunctionCall2(numeric_ge,
										 DirectFunctionCall1(numeric_abs, scaled),
										 NumericGetDatum(int64_to_numeric(PG_INT64_MAX)))))
		return false;
	*word = DatumGetInt64(DirectFunctionCall1(numeric_int8, scaled));
	return true;
}

static bool
constant_word(const Const *value, int64 *word, int *scale)
{
	return IsA(value, Const) && !value->constisnull && value->consttype == NUMERICOID &&
		number_word(DatumGetNumeric(value->constvalue), word, scale);
}

/* A numeric constant that no word has */
static GpbDecimal
wide_constant(GpbProgramBuilder *builder, const Const *value)
{
	GpbDecimal	result = decimal(GPB_REFUSED, 0);
	GpbWideValue wide;
	int128		number;
	Numeric		numeric;

	if (!IsA(value, Const) || value->consttype != NUMERICOID)
	{
		(void) gpb_refuse(builder, "a numeric that is neither computed from columns nor constant");
		return result;
	}
	numeric = DatumGetNumeric(value->constvalue);
	if (!numeric_is_nan(numeric) && !numeric_is_inf(numeric))
		result.scale = DatumGetInt32(DirectFunctionCall1(numeric_scale, NumericGetDatum(numeric)));
	if (numeric_is_nan(numeric) || result.scale > GPB_MOST_WIDE_SCALE ||
		!gpb_wide_numeric_fits(value->constvalue, result.scale, &number))
	{
		(void) gpb_refuse(builder, "a numeric that is no constant of 38 digits");
		return result;
	}
	wide = gpb_wide_number(builder, number, result.scale);
	result.slot = wide.lower == GPB_REFUSED ? GPB_REFUSED : wide.upper;
	result.lower = wide.lower;
	result.is_constant = true;
	return result;
}

GpbDecimal
gpb_decimal_constant(GpbProgramBuilder *builder, const Const *value)
{
	GpbDecimal	result;
	int64		word;
	int			scale;

	if (IsA(value, Const) && value->constisnull)
	{
		result = decimal(gpb_slot_constant(builder, (Expr *) makeNullConst(INT8OID, -1, InvalidOid),
										   INT8OID), 0);
		result.is_null = true;
		return result;
	}
	if (!constant_word(value, &word, &scale))
		return wide_constant(builder, value);
	result = decimal(WORD(word), scale);
	result.is_constant = true;
	return result;
}

bool
gpb_decimal_has_scale(GpbProgramBuilder *builder, const GpbDecimal *value)
{
	if (value->slot != GPB_REFUSED && value->divisor != 0)
		(void) gpb_refuse(builder, "a quotient of numeric, whose scale depends on the values");
	else if (value->slot != GPB_REFUSED && value->varies)
		(void) gpb_refuse(builder, "a choice between numerics of different scales");
	return value->slot != GPB_REFUSED && value->divisor == 0 && !value->varies;
}

bool
gpb_decimal_is_whole(GpbProgramBuilder *builder, const GpbDecimal *value)
{
	if (!gpb_decimal_has_scale(builder, value))
		return false;
	if (value->lower != 0)
		(void) gpb_refuse(builder, "a numeric of 16 bytes in such a place");
	return value->lower == 0;
}

/* ---- NaN ---- */

/*
 * A value without NaN: a step faults where a column has that, which is the greatest of all words.
 * Those for values of 16 bytes see to it themselves.
 */
static GpbDecimal
number(GpbProgramBuilder *builder, const GpbDecimal *value)
{
	GpbDecimal	result = *value;
	int			step;

	if (value->slot == GPB_REFUSED || !value->is_column || value->lower != 0)
		return result;
	step = STEP2(GPB_OP_ADD, value->slot, WORD(1));
	if (step == GPB_REFUSED)
		result.slot = GPB_REFUSED;
	else if (step >= GPB_FIRST_TEMPORARY)
		builder->kept[step - GPB_FIRST_TEMPORARY] = true;
	result.is_column = false;
	return result;
}

/*
 * Two values that are to be compared by their words at one scale.  NaN may be on both sides; but
 * what is computed may be the greatest word too.
 */
static void
comparable(GpbProgramBuilder *builder, const GpbDecimal *value, GpbDecimal *result)
{
	int			i;

	for (i = 0; i < 2; i++)
	{
		const GpbDecimal *other = &value[1 - i];

		result[i] = other->is_column || other->is_constant || other->is_null ? value[i] :
			number(builder, &value[i]);
	}
}

/* ---- arithmetic ---- */

/* The word of a value at a scale that is not below its own */
static int
at_scale(GpbProgramBuilder *builder, const GpbDecimal *value, int scale)
{
	if (scale == value->scale)
		return value->slot;
	return STEP2(GPB_OP_MULTIPLY, value->slot, WORD(power_of_ten(scale - value->scale)));
}

/* An operator of two values at the greater of their scales */
static GpbDecimal
at_common_scale(GpbProgramBuilder *builder, int op, const GpbDecimal *value)
{
	int			scale = Max(value[0].scale, value[1].scale);

	return decimal(STEP2(op, at_scale(builder, &value[0], scale),
						 at_scale(builder, &value[1], scale)), scale);
}

/*
 * A comparison of two values of which one has 16 bytes.  A column's NaN is above all that is
 * computed, as it should be; a step for another scale faults there.
 */
static int
wide_compared(GpbProgramBuilder *builder, int op, const GpbDecimal *value)
{
	int			scale = Max(value[0].scale, value[1].scale);
	GpbWideValue wide[2];
	int			i;

	for (i = 0; i < 2; i++)
	{
		GpbDecimal	word = number(builder, &value[i]);

		if (word.slot == GPB_REFUSED)
			return GPB_REFUSED;
		wide[i] = gpb_halves_at_scale(builder, &word, scale);
	}
	return gpb_wide_compare(builder, op, &wide[0], &wide[1]);
}

/* A comparison of two values */
static int
compared(GpbProgramBuilder *builder, int op, const GpbDecimal *value)
{
	GpbDecimal	words[2];

	if (value[0].lower != 0 || value[1].lower != 0)
		return wide_compared(builder, op, value);
	comparable(builder, value, words);
	return at_common_scale(builder, op, words).slot;
}

int
gpb_decimal_distinct(GpbProgramBuilder *builder, const GpbDecimal *value)
{
	return compared(builder, GPB_OP_DISTINCT, value);
}

int
gpb_decimal_equal(GpbProgramBuilder *builder, const GpbDecimal *value)
{
	return compared(builder, GPB_OP_EQ, value);
}

/* The slot of the digits that a value is displayed with */
static int
shown_slot(GpbProgramBuilder *builder, const GpbDecimal *value)
{
	return value->varies ? value->shown : WORD(value->scale);
}

/* What two values vary in makes their sum or product vary; op is of the numbers of digits. */
static GpbDecimal
with_shown(GpbProgramBuilder *builder, int op, const GpbDecimal *value, GpbDecimal result)
{
	result.varies = value[0].varies || value[1].varies;
	if (result.varies && result.slot != GPB_REFUSED)
	{
		result.shown = STEP2(op, shown_slot(builder, &value[0]), shown_slot(builder, &value[1]));
		if (result.shown == GPB_REFUSED)
			result.slot = GPB_REFUSED;
	}
	return result;
}

static GpbDecimal
product(GpbProgramBuilder *builder, const GpbDecimal *value)
{
	int			scale = value[0].scale + value[1].scale;

	if (scale > GPB_MOST_SCALE)
		return decimal(gpb_refuse(builder, "a product of numeric with many digits"), 0);
	return with_shown(builder, GPB_OP_ADD, value,
					  decimal(STEP2(GPB_OP_MULTIPLY, value[0].slot, value[1].slot), scale));
}

static GpbDecimal
quotient(GpbProgramBuilder *builder, const GpbDecimal *value, const Const *divisor)
{
	GpbDecimal	result = *value;

	if (!constant_word(divisor, &result.divisor, &result.divisor_scale) || result.divisor <= 0)
		return decimal(gpb_refuse(builder, "a quotient of numeric by no positive constant"), 0);
	return result;
}

/* A word, which must be kept within the limit: a fault for what is not below it */
static bool
keep_below(GpbProgramBuilder *builder, int slot, int128 limit)
{
	int			step;

	if (limit > PG_INT64_MAX)
		return true;
	step = STEP2(GPB_OP_MULTIPLY, slot, WORD((int64) (PG_INT64_MAX / limit) + 2));
	if (step >= GPB_FIRST_TEMPORARY)
		builder->kept[step - GPB_FIRST_TEMPORARY] = true;
	return step != GPB_REFUSED;
}

/*
 * See that core's rounding of a quotient does not take it to or over an integer.
 *
 * The quotient is n / d for integers, so it is an integer or at least 1 / d away from any.  Core
 * rounds to 16 - 4 w digits behind the point or more (select_div_scale()), where w, the weight in
 * digits of base 10,000 that it expects of the quotient, is at most q if the quotient is below
 * 10,000^(q + 1).  With r = 16 - 4 q digits, and 10^r at least d, the error is at most half of 1 /
 * d.  Nor is it more if an operand has so many digits behind the point that core keeps r.
 */
static bool
keep_quotient_exact(GpbProgramBuilder *builder, const GpbDecimal *value, int64 d)
{
	int			r = 0;
	int			q;
	int128		limit;

	while (r < GPB_MOST_SCALE && power_of_ten(r) < d)
		r++;
	if (r <= Max(value->scale, value->divisor_scale))
		return true;
	if (r > 16)
		return gpb_cannot(builder, "a quotient of numeric with many digits");
	q = (16 - r) / 4;
	limit = (int128) power_of_ten(4 * (q + 1)) * value->divisor;
	if (value->scale >= value->divisor_scale)
		limit *= power_of_ten(value->scale - value->divisor_scale);
	else
		limit /= power_of_ten(value->divisor_scale - value->scale);
	return keep_below(builder, value->slot, limit);
}

/*
 * A value as a fraction n / d of integers; false if it is refused.  All that is displayed of the
 * fraction's whole part is exact.
 */
static bool
fraction(GpbProgramBuilder *builder, const GpbDecimal *value, int *n, int64 *d)
{
	int128		below = power_of_ten(value->scale);
	int			excess = 0;

	*n = value->slot;
	if (value->divisor != 0)
	{
		excess = value->divisor_scale - value->scale;
		below = excess >= 0 ? 1 : power_of_ten(-excess);
		below *= value->divisor;
	}
	if (below > power_of_ten(GPB_MOST_SCALE))
		return gpb_cannot(builder, "a quotient of numeric with many digits");
	*d = (int64) below;
	if (value->divisor == 0)
		return true;
	if (excess > 0)
		*n = STEP2(GPB_OP_MULTIPLY, *n, WORD(power_of_ten(excess)));
	return keep_quotient_exact(builder, value, *d);
}

static int
floor_slot(GpbProgramBuilder *builder, int n, int64 d)
{
	return d == 1 ? n : STEP2(GPB_OP_FLOOR_DIVIDE, n, WORD(d));
}

/* The whole number at or below, or at or above, or toward zero */
static GpbDecimal
whole(GpbProgramBuilder *builder, GpbCall call, const GpbDecimal *value)
{
	int			n;
	int64		d = 1;

	if (!fraction(builder, value, &n, &d))
		return refused;
	switch (call)
	{
		case GPB_DECIMAL_FLOOR:
			return decimal(floor_slot(builder, n, d), 0);
		case GPB_DECIMAL_CEILING:
			n = STEP1(GPB_OP_NEGATE, n);
			return decimal(STEP1(GPB_OP_NEGATE, floor_slot(builder, n, d)), 0);
		default:
			return decimal(STEP2(GPB_OP_DIVIDE, n, WORD(d)), 0);
	}
}

/* A word divided by an even power of ten, or by 1, and rounded half away from zero */
static int
rounded(GpbProgramBuilder *builder, int slot, int64 d)
{
	int			half = WORD(d / 2);

	if (d == 1)
		return slot;
	slot = gpb_slot_step(builder, GPB_OP_SELECT, STEP2(GPB_OP_LT, slot, WORD(0)),
						 STEP2(GPB_OP_SUBTRACT, slot, half), STEP2(GPB_OP_ADD, slot, half));
	return STEP2(GPB_OP_DIVIDE, slot, WORD(d));
}

/* round() or trunc() to a number of digits behind the point */
static GpbDecimal
to_digits(GpbProgramBuilder *builder, GpbCall call, const GpbDecimal *value,
		  const Const *digits)
{
	int			n;
	int64		d;

	if (!IsA(digits, Const) || digits->constisnull)
		return decimal(gpb_refuse(builder, "round() or trunc() to no constant"), 0);
	n = DatumGetInt32(digits->constvalue);
	if (value->divisor != 0 && call == GPB_DECIMAL_TRUNC && n == 0)
		return whole(builder, call, value);
	if (!gpb_decimal_is_whole(builder, value))
		return refused;
	if (n < 0 || n > GPB_MOST_SCALE)
		return decimal(gpb_refuse(builder, "round() or trunc() to so many digits"), 0);
	if (n >= value->scale)
		return decimal(at_scale(builder, value, n), n);
	d = power_of_ten(value->scale - n);
	return decimal(call == GPB_DECIMAL_ROUND ? rounded(builder, value->slot, d) :
				   STEP2(GPB_OP_DIVIDE, value->slot, WORD(d)), n);
}

/* ---- quotients ---- */

/*
 * 1 / n as multiple / 10^scale; false unless n has no other factors than 2 and 5, or the multiple
 * does not fit.
 */
static bool
reciprocal(int64 n, int64 *multiple, int *scale)
{
	int			twos = 0;
	int			fives = 0;

	for (; n % 2 == 0; n /= 2)
		twos++;
	for (; n % 5 == 0; n /= 5)
		fives++;
	*scale = Max(twos, fives);
	if (n != 1 || *scale > GPB_MOST_SCALE)
		return false;
	for (*multiple = 1; twos < *scale; twos++)
		*multiple *= 2;
	for (; fives < *scale; fives++)
	{
		if (gpb_int64_multiply(*multiple, 5, multiple))
			return false;
	}
	return true;
}

/*
 * All quotients are exact at one scale.  That core gives each of them so many digits at least is
 * seen to by a step that faults for others.
 */
bool
gpb_decimal_quotient(GpbProgramBuilder *builder, const GpbDecimal *value, int *slot, int *scale,
					 int *magnitude)
{
	int64		multiple;
	int			excess;

	if (value->divisor > PG_INT32_MAX || !reciprocal(value->divisor, &multiple, scale))
		return gpb_cannot(builder, "a quotient of numeric, whose scale depends on the values");
	*scale += value->scale - value->divisor_scale;
	excess = Max(-*scale, 0);
	*scale += excess;
	if (*scale > 16 || excess > 9 ||
		gpb_int64_multiply(multiple, power_of_ten(excess), &multiple))
		return gpb_cannot(builder, "a quotient of numeric with many digits");
	*slot = multiple == 1 ? value->slot : STEP2(GPB_OP_MULTIPLY, value->slot, WORD(multiple));
	*magnitude = STEP1(GPB_OP_ABS, value->slot);
	/*
	 * A quotient of 0 has as many digits as one of 1, of which those of smaller numbers have
	 * more.
	 */
	if (value->scale > 0)
		*magnitude = gpb_slot_step(builder, GPB_OP_SELECT,
								   STEP2(GPB_OP_EQ, *magnitude, WORD(0)),
								   WORD(power_of_ten(value->scale)), *magnitude);
	return *slot != GPB_REFUSED && *magnitude != GPB_REFUSED &&
		keep_quotient_exact(builder, value, power_of_ten(*scale));
}

/* ---- arrays ---- */

static int64 *column_elements(ArrayType *array, int scale, int *n, bool *has_null);

int64 *
gpb_decimal_elements(GpbProgramBuilder *builder, ArrayType *array, GpbDecimal *value, int *n,
					 bool *has_null)
{
	Datum	   *element;
	bool	   *nulls;
	int64	   *word;
	int		   *scale;
	int			total;
	int			most = value->scale;
	bool		fits;
	int			i;

	if (value->is_column)
		return column_elements(array, value->scale, n, has_null);
	deconstruct_array(array, NUMERICOID, -1, false, TYPALIGN_INT, &element, &nulls, &total);
	word = palloc(sizeof(int64) * (total + 1));
	scale = palloc(sizeof(int) * (total + 1));
	*n = 0;
	*has_null = false;
	for (i = 0; i < total; i++)
	{
		*has_null |= nulls[i];
		if (nulls[i])
			continue;
		if (!number_word(DatumGetNumeric(element[i]), &word[*n], &scale[*n]))
			break;
		most = Max(most, scale[*n]);
		(*n)++;
	}
	fits = i == total;
	for (i = 0; fits && i < *n; i++)
		fits = !gpb_int64_multiply(word[i], power_of_ten(most - scale[i]), &word[i]);
	if (!fits)
	{
		(void) gpb_refuse(builder, "an array of numerics with many digits");
		return NULL;
	}
	*value = decimal(at_scale(builder, value, most), most);
	return word;
}

/* ---- columns and constants ---- */

/*
 * The constant becomes the least word that is not below it, so it may have digits that no word has,
 * or be beyond all of them, or no number.
 */
bool
gpb_decimal_compare_constant(GpbProgramBuilder *builder, const GpbFunction *function,
							 bool distinct, const GpbDecimal *value, const Const *constant,
							 bool constant_is_left, int *slot)
{
	int			op = distinct ? GPB_OP_DISTINCT : function->op;
	GpbWideValue wide = {value->slot, value->lower, value->scale};
	bool		equal;
	int64		word;

	if (function->call != GPB_DECIMAL_COMPARE || value->varies || value->divisor != 0 ||
		(value->lower == 0 && (!value->is_column || distinct)))
		return false;
	if (constant_is_left)
	{
		op = op == GPB_OP_LT ? GPB_OP_GT : op == GPB_OP_LE ? GPB_OP_GE :
			op == GPB_OP_GT ? GPB_OP_LT : op == GPB_OP_GE ? GPB_OP_LE : op;
	}
	if (value->lower != 0)
	{
		*slot = gpb_wide_compare_constant(builder, op, &wide, constant);
		return true;
	}
	word = gpb_numeric_ceiling(constant->constvalue, value->scale, &equal);
	if (!equal)
	{
		/* Between two words; no value has the least of all. */
		op = op == GPB_OP_LE ? GPB_OP_LT : op == GPB_OP_GT ? GPB_OP_GE : op;
		if (op == GPB_OP_EQ || op == GPB_OP_NE)
			word = PG_INT64_MIN;
	}
	*slot = STEP2(op, value->slot, WORD(word));
	return true;
}

/* The words of a column that are equal to elements of an array; there is one at least. */
static int64 *
column_elements(ArrayType *array, int scale, int *n, bool *has_null)
{
	Datum	   *element;
	bool	   *nulls;
	int			total;
	int64	   *word;
	int			i;

	deconstruct_array(array, NUMERICOID, -1, false, TYPALIGN_INT, &element, &nulls, &total);
	word = palloc(sizeof(int64) * (total + 1));
	*n = 0;
	*has_null = false;
	for (i = 0; i < total; i++)
	{
		bool		equal = false;

		*has_null |= nulls[i];
		if (!nulls[i])
			word[*n] = gpb_numeric_ceiling(element[i], scale, &equal);
		*n += equal;
	}
	/* No value has the least of all words. */
	if (*n == 0)
		word[(*n)++] = PG_INT64_MIN;
	return word;
}

/* ---- choices ---- */

bool
gpb_decimal_align(GpbProgramBuilder *builder, GpbDecimal *value, int n, GpbDecimal *choice)
{
	int			least = GPB_MOST_SCALE;
	bool		computed = false;
	int			i;

	*choice = decimal(0, 0);
	for (i = 0; i < n; i++)
	{
		if (value[i].slot == GPB_REFUSED)
			return false;
		if (value[i].divisor != 0 || value[i].lower != 0)
			return gpb_decimal_is_whole(builder, &value[i]);
		if (value[i].is_null)
			continue;
		computed |= !value[i].is_column && !value[i].is_constant;
		choice->varies |= value[i].varies;
		choice->scale = Max(choice->scale, value[i].scale);
		least = Min(least, value[i].scale);
	}
	choice->varies |= least < choice->scale;
	for (i = 0; i < n; i++)
	{
		int			shown = choice->varies ? shown_slot(builder, &value[i]) : 0;

		if (shown == GPB_REFUSED)
			return false;
		if (!value[i].is_null)
		{
			/* Words of a lower scale are multiplied, where NaN faults. */
			if (computed || choice->varies)
				value[i] = number(builder, &value[i]);
			choice->is_column |= value[i].is_column;
			value[i].slot = at_scale(builder, &value[i], choice->scale);
		}
		value[i].shown = shown;
		if (value[i].slot == GPB_REFUSED)
			return false;
	}
	return true;
}

int
gpb_decimal_shown(GpbProgramBuilder *builder, const GpbDecimal *value)
{
	Expr	   *null = (Expr *) makeNullConst(INT8OID, -1, InvalidOid);

	return gpb_slot_step(builder, GPB_OP_SELECT, STEP1(GPB_OP_IS_NULL, value->slot),
						 gpb_slot_constant(builder, null, INT8OID), value->shown);
}

/* ---- other types ---- */

/*
 * A field.  date_part() divides the epoch's microseconds as float8, and adds up seconds as such,
 * which is not said here.
 */
static GpbDecimal
field(GpbProgramBuilder *builder, const GpbFunction *function, int slot, List *args)
{
	Const	   *name = linitial(args);
	int			scale;

	if (!IsA(name, Const) || name->constisnull)
		return decimal(gpb_refuse(builder, "a field of extract() that is not constant"), 0);
	slot = gpb_field_slot(builder, gpb_date_field(DatumGetTextPP(name->constvalue)),
						  getBaseType(exprType(lsecond(args))), slot, &scale);
	if (function->op == 0 || slot == GPB_REFUSED)
		return decimal(slot, scale);
	if (gpb_date_field(DatumGetTextPP(name->constvalue)) == DTK_EPOCH)
		return decimal(STEP2(GPB_OP_FLOAT_DIVIDE, STEP1(function->op, slot),
							 gpb_slot_constant(builder, (Expr *)
											   makeConst(FLOAT8OID, -1, InvalidOid, 8,
														 Float8GetDatum(USECS_PER_SEC), false,
														 FLOAT8PASSBYVAL), FLOAT8OID)), 0);
	if (scale != 0)
		return decimal(gpb_refuse(builder, "a field of date_part() with a fraction"), 0);
	return decimal(STEP1(function->op, slot), 0);
}

/*
 * A decimal as float8.  Core reads the number's text, so the result is the nearest float8, as it is
 * of one division of two integers that are float8 both.
 */
static int
float_slot(GpbProgramBuilder *builder, const GpbDecimal *value)
{
	int			slot = STEP1(GPB_OP_INT_TO_FLOAT, value->slot);
	int			power = WORD(power_of_ten(value->scale));

	if (value->scale == 0)
		return slot;
	if (!keep_below(builder, value->slot, (int128) 1 << 53))
		return GPB_REFUSED;
	return STEP2(GPB_OP_FLOAT_DIVIDE, slot, STEP1(GPB_OP_INT_TO_FLOAT, power));
}

static int
integer_slot(GpbProgramBuilder *builder, const GpbFunction *function,
			 const GpbDecimal *value)
{
	int			slot = rounded(builder, value->slot, power_of_ten(value->scale));

	return function->op == 0 ? slot : STEP1(function->op, slot);
}

/* ---- all functions ---- */

/* May an argument of the function vary in the digits that it is displayed with? */
static bool
takes_varying(const GpbFunction *function)
{
	switch (function->call)
	{
		case GPB_DECIMAL_SUM:
		case GPB_DECIMAL_PRODUCT:
		case GPB_DECIMAL_SIGN:
		case GPB_DECIMAL_SAME:
		case GPB_DECIMAL_FLOOR:
		case GPB_DECIMAL_CEILING:
		case GPB_DECIMAL_COMPARE:
		case GPB_DECIMAL_TO_INTEGER:
		case GPB_DECIMAL_TO_FLOAT:
			return true;
		default:
			return false;
	}
}

/* May arguments of the function have 16 bytes, all of one scale? */
static bool
takes_wide(const GpbFunction *function)
{
	switch (function->call)
	{
		case GPB_DECIMAL_SUM:
		case GPB_DECIMAL_PRODUCT:
		case GPB_DECIMAL_SIGN:
		case GPB_DECIMAL_SAME:
		case GPB_DECIMAL_COMPARE:
			return true;
		default:
			return false;
	}
}

static bool
any_wide(const GpbDecimal *value, int n)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		if (value[i].lower != 0)
			return true;
	}
	return false;
}

/* Are the arguments such as the function takes?  If not, refuse it. */
static bool
arguments_fit(GpbProgramBuilder *builder, const GpbFunction *function,
			  const GpbDecimal *value, int n)
{
	bool		takes_quotient = function->call == GPB_DECIMAL_FLOOR ||
		function->call == GPB_DECIMAL_CEILING || function->call == GPB_DECIMAL_TRUNC;
	bool		wide = any_wide(value, n) && takes_wide(function);
	int			i;

	for (i = 0; i < n; i++)
	{
		if (!gpb_decimal_takes_value(function, i) ||
			(!wide && value[i].divisor != 0 && takes_quotient) ||
			(!wide && value[i].varies && value[i].divisor == 0 && takes_varying(function)))
			continue;
		if (wide ? !gpb_decimal_has_scale(builder, &value[i]) :
			!gpb_decimal_is_whole(builder, &value[i]))
			return false;
	}
	return true;
}

/* A call of a function that gives a numeric, of which an argument has 16 bytes */
static GpbDecimal
wide_call(GpbProgramBuilder *builder, const GpbFunction *function, const GpbDecimal *value)
{
	switch (function->call)
	{
		case GPB_DECIMAL_SUM:
			return gpb_halves_sum(builder, function->op == GPB_OP_SUBTRACT, value);
		case GPB_DECIMAL_PRODUCT:
			return gpb_halves_product(builder, value);
		default:
			return gpb_halves_sign(builder, function->op, value);
	}
}

GpbDecimal
gpb_decimal_call(GpbProgramBuilder *builder, const GpbFunction *function,
				 const GpbDecimal *arguments, List *args)
{
	GpbDecimal	value[3] = {{0}};
	GpbDecimal	result;
	int			i;

	if (!arguments_fit(builder, function, arguments, list_length(args)))
		return refused;
	if (function->call == GPB_DECIMAL_SAME)
		return arguments[0];
	if (function->call == GPB_DECIMAL_COMPARE)
		return decimal(compared(builder, function->op, arguments), 0);
	for (i = 0; i < list_length(args); i++)
	{
		value[i] = number(builder, &arguments[i]);
		if (value[i].slot == GPB_REFUSED)
			return refused;
	}
	if (any_wide(value, list_length(args)))
		return wide_call(builder, function, value);
	switch (function->call)
	{
		case GPB_DECIMAL_FIELD:
			return field(builder, function, value[1].slot, args);
		case GPB_DECIMAL_OF_INTEGER:
			return value[0];
		case GPB_DECIMAL_SUM:
			return with_shown(builder, GPB_OP_GREATEST, value,
							  at_common_scale(builder, function->op, value));
		case GPB_DECIMAL_PRODUCT:
			return product(builder, value);
		case GPB_DECIMAL_QUOTIENT:
			return quotient(builder, value, lsecond(args));
		case GPB_DECIMAL_SIGN:
			result = decimal(STEP1(function->op, value[0].slot), value[0].scale);
			result.varies = value[0].varies;
			result.shown = value[0].shown;
			return result;
		case GPB_DECIMAL_FLOOR:
		case GPB_DECIMAL_CEILING:
			return whole(builder, function->call, value);
		case GPB_DECIMAL_TRUNC:
		case GPB_DECIMAL_ROUND:
			return to_digits(builder, function->call, value, lsecond(args));
		case GPB_DECIMAL_TO_INTEGER:
			return decimal(integer_slot(builder, function, value), 0);
		case GPB_DECIMAL_TO_FLOAT:
			return decimal(float_slot(builder, value), 0);
		default:
			return refused;
	}
}
