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
#include "page/base_type.h"
#include "page/numeric.h"
#include "program/program_steps.h"

/* 10^18 is the greatest power of ten that fits a word. */
#define GPB_MOST_SCALE		18

/* ---- numbers ---- */

/* A word that is a decimal of this scale */
static GpbTyped
decimal(int slot, int scale)
{
	return (GpbTyped) {.slot = slot, .type = gpb_number_type(GPB_WORDS_DECIMAL, scale)};
}

/* A numeric as integer and scale; false if it is no number of 38 digits. */
static bool
scaled_number(Datum value, int128 *number, int *scale)
{
	Numeric		numeric = DatumGetNumeric(value);

	if (numeric_is_nan(numeric) || numeric_is_inf(numeric))
		return false;
	*scale = DatumGetInt32(DirectFunctionCall1(numeric_scale, NumericGetDatum(numeric)));
	return *scale <= GPB_MOST_WIDE_SCALE && gpb_wide_numeric_fits(value, *scale, number);
}

/* Is it besides a word?  The greatest one is NaN's. */
static bool
is_word(int128 number, int scale)
{
	return number < PG_INT64_MAX && number > -PG_INT64_MAX && scale <= GPB_MOST_SCALE;
}

static bool
number_word(Datum value, int64 *word, int *scale)
{
	int128		number;

	if (!scaled_number(value, &number, scale) || !is_word(number, *scale))
		return false;
	*word = (int64) number;
	return true;
}

GpbTyped
gpb_decimal_constant(GpbProgramBuilder *builder, const Const *value)
{
	GpbTyped	result;
	int128		number;
	int			scale;

	if (value->constisnull)
		result = decimal(gpb_slot_null(builder), 0);
	else if (value->consttype != NUMERICOID)
		return gpb_no_value(builder, "a numeric that is neither computed from columns nor "
							"constant");
	else if (!scaled_number(value->constvalue, &number, &scale))
		return gpb_no_value(builder, "a numeric that is no constant of 38 digits");
	else if (is_word(number, scale))
		result = decimal(WORD((int64) number), scale);
	else
		result = gpb_halves_number(builder, number, scale);
	result.is_null = value->constisnull;
	result.is_constant = !value->constisnull;
	return result;
}

bool
gpb_decimal_has_scale(GpbProgramBuilder *builder, const GpbTyped *value)
{
	if (value->slot == GPB_REFUSED)
		return false;
	if (value->divisor != 0)
		return gpb_cannot(builder, "a quotient of numeric, whose scale depends on the values");
	return value->shown == 0 ||
		gpb_cannot(builder, "a choice between numerics of different scales");
}

bool
gpb_decimal_is_whole(GpbProgramBuilder *builder, const GpbTyped *value)
{
	return gpb_decimal_has_scale(builder, value) &&
		(value->lower == 0 || gpb_cannot(builder, "a numeric of 16 bytes in such a place"));
}

GpbTyped
gpb_decimal_number(GpbProgramBuilder *builder, const GpbTyped *value)
{
	GpbTyped	result = *value;

	if (value->slot == GPB_REFUSED || value->type.class != GPB_WORDS_NUMERIC)
		return result;
	if (gpb_slot_kept(builder, STEP2(GPB_OP_ADD, value->slot, WORD(1))) == GPB_REFUSED)
		return GPB_NO_VALUE;
	result.type.class = GPB_WORDS_DECIMAL;
	return result;
}

/* ---- arithmetic ---- */

/* The word of a value at a scale that is not below its own */
static int
at_scale(GpbProgramBuilder *builder, const GpbTyped *value, int scale)
{
	if (scale == value->type.scale)
		return value->slot;
	return STEP2(GPB_OP_MULTIPLY, value->slot, WORD(gpb_power_of_ten(scale - value->type.scale)));
}

GpbTyped
gpb_decimal_operated(GpbProgramBuilder *builder, int op, const GpbTyped *value)
{
	int			scale = Max(value[0].type.scale, value[1].type.scale);

	return decimal(STEP2(op, at_scale(builder, &value[0], scale),
						 at_scale(builder, &value[1], scale)), scale);
}

/* The slot of the digits that a value is displayed with */
static int
shown_slot(GpbProgramBuilder *builder, const GpbTyped *value)
{
	return value->shown != 0 ? value->shown : WORD(value->type.scale);
}

/* What two values vary in makes their sum or product vary; op is of the numbers of digits. */
static GpbTyped
with_shown(GpbProgramBuilder *builder, int op, const GpbTyped *value, GpbTyped result)
{
	if ((value[0].shown != 0 || value[1].shown != 0) && result.slot != GPB_REFUSED)
	{
		result.shown = STEP2(op, shown_slot(builder, &value[0]), shown_slot(builder, &value[1]));
		if (result.shown == GPB_REFUSED)
			result.slot = GPB_REFUSED;
	}
	return result;
}

static GpbTyped
product(GpbProgramBuilder *builder, const GpbTyped *value)
{
	int			scale = value[0].type.scale + value[1].type.scale;

	if (scale > GPB_MOST_SCALE)
		return gpb_no_value(builder, "a product of numeric with many digits");
	return with_shown(builder, GPB_OP_ADD, value,
					  decimal(STEP2(GPB_OP_MULTIPLY, value[0].slot, value[1].slot), scale));
}

static GpbTyped
quotient(GpbProgramBuilder *builder, const GpbTyped *value, const Const *divisor)
{
	GpbTyped	result = *value;

	if (!IsA(divisor, Const) || divisor->constisnull || divisor->consttype != NUMERICOID ||
		!number_word(divisor->constvalue, &result.divisor, &result.divisor_scale) ||
		result.divisor <= 0)
		return gpb_no_value(builder, "a quotient of numeric by no positive constant");
	return result;
}

/* A word, which must be kept within the limit: a fault for what is not below it */
static bool
keep_below(GpbProgramBuilder *builder, int slot, int128 limit)
{
	if (limit > PG_INT64_MAX)
		return true;
	slot = STEP2(GPB_OP_MULTIPLY, slot, WORD((int64) (PG_INT64_MAX / limit) + 2));
	return gpb_slot_kept(builder, slot) != GPB_REFUSED;
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
keep_quotient_exact(GpbProgramBuilder *builder, const GpbTyped *value, int64 d)
{
	int			r = 0;
	int			q;
	int128		limit;

	while (r < GPB_MOST_SCALE && gpb_power_of_ten(r) < d)
		r++;
	if (r <= Max(value->type.scale, value->divisor_scale))
		return true;
	if (r > 16)
		return gpb_cannot(builder, "a quotient of numeric with many digits");
	q = (16 - r) / 4;
	limit = (int128) gpb_power_of_ten(4 * (q + 1)) * value->divisor;
	if (value->type.scale >= value->divisor_scale)
		limit *= gpb_power_of_ten(value->type.scale - value->divisor_scale);
	else
		limit /= gpb_power_of_ten(value->divisor_scale - value->type.scale);
	return keep_below(builder, value->slot, limit);
}

/*
 * A value as a fraction n / d of integers; false if it is refused.  All that is displayed of the
 * fraction's whole part is exact.
 */
static bool
fraction(GpbProgramBuilder *builder, const GpbTyped *value, int *n, int64 *d)
{
	int128		below = gpb_power_of_ten(value->type.scale);
	int			excess = 0;

	*n = value->slot;
	if (value->divisor != 0)
	{
		excess = value->divisor_scale - value->type.scale;
		below = excess >= 0 ? 1 : gpb_power_of_ten(-excess);
		below *= value->divisor;
	}
	if (below > gpb_power_of_ten(GPB_MOST_SCALE))
		return gpb_cannot(builder, "a quotient of numeric with many digits");
	*d = (int64) below;
	if (value->divisor == 0)
		return true;
	if (excess > 0)
		*n = STEP2(GPB_OP_MULTIPLY, *n, WORD(gpb_power_of_ten(excess)));
	return keep_quotient_exact(builder, value, *d);
}

static int
floor_slot(GpbProgramBuilder *builder, int n, int64 d)
{
	return d == 1 ? n : STEP2(GPB_OP_FLOOR_DIVIDE, n, WORD(d));
}

/* The whole number at or below, or at or above, or toward zero */
static GpbTyped
whole(GpbProgramBuilder *builder, GpbCall call, const GpbTyped *value)
{
	int			n;
	int64		d = 1;

	if (!fraction(builder, value, &n, &d))
		return GPB_NO_VALUE;
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
	slot = STEP3(GPB_OP_SELECT, STEP2(GPB_OP_LT, slot, WORD(0)),
				 STEP2(GPB_OP_SUBTRACT, slot, half), STEP2(GPB_OP_ADD, slot, half));
	return STEP2(GPB_OP_DIVIDE, slot, WORD(d));
}

/* round() or trunc() to a number of digits behind the point */
static GpbTyped
to_digits(GpbProgramBuilder *builder, GpbCall call, const GpbTyped *value,
		  const Const *digits)
{
	int			n;
	int64		d;

	if (!IsA(digits, Const) || digits->constisnull)
		return gpb_no_value(builder, "round() or trunc() to no constant");
	n = DatumGetInt32(digits->constvalue);
	if (value->divisor != 0 && call == GPB_DECIMAL_TRUNC && n == 0)
		return whole(builder, call, value);
	if (!gpb_decimal_is_whole(builder, value))
		return GPB_NO_VALUE;
	if (n < 0 || n > GPB_MOST_SCALE)
		return gpb_no_value(builder, "round() or trunc() to so many digits");
	if (n >= value->type.scale)
		return decimal(at_scale(builder, value, n), n);
	d = gpb_power_of_ten(value->type.scale - n);
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
gpb_decimal_quotient(GpbProgramBuilder *builder, const GpbTyped *value, int *slot, int *scale,
					 int *magnitude)
{
	int64		multiple;
	int			excess;

	if (value->divisor > PG_INT32_MAX || !reciprocal(value->divisor, &multiple, scale))
		return gpb_cannot(builder, "a quotient of numeric, whose scale depends on the values");
	*scale += value->type.scale - value->divisor_scale;
	excess = Max(-*scale, 0);
	*scale += excess;
	if (*scale > 16 || excess > 9 ||
		gpb_int64_multiply(multiple, gpb_power_of_ten(excess), &multiple))
		return gpb_cannot(builder, "a quotient of numeric with many digits");
	*slot = multiple == 1 ? value->slot : STEP2(GPB_OP_MULTIPLY, value->slot, WORD(multiple));
	*magnitude = STEP1(GPB_OP_ABS, value->slot);
	/*
	 * A quotient of 0 has as many digits as one of 1, of which those of smaller numbers have
	 * more.
	 */
	if (value->type.scale > 0)
		*magnitude = STEP3(GPB_OP_SELECT, STEP2(GPB_OP_EQ, *magnitude, WORD(0)),
						   WORD(gpb_power_of_ten(value->type.scale)), *magnitude);
	return *slot != GPB_REFUSED && *magnitude != GPB_REFUSED &&
		keep_quotient_exact(builder, value, gpb_power_of_ten(*scale));
}

/* ---- arrays ---- */

/*
 * The words of a column keep their scale: of the elements those are left out that none of them is
 * equal to, but one word at least is returned.
 */
int64 *
gpb_decimal_elements(GpbProgramBuilder *builder, ArrayType *array, GpbTyped *value, int *n,
					 bool *has_null)
{
	bool		is_column = value->type.class == GPB_WORDS_NUMERIC;
	int			most = value->type.scale;
	bool		fits = true;
	Datum	   *element;
	bool	   *nulls;
	int			total = gpb_array_elements(array, &element, &nulls);
	int64	   *word = palloc(sizeof(int64) * (total + 1));
	int		   *scale = palloc(sizeof(int) * (total + 1));
	int			i;

	*n = 0;
	*has_null = false;
	for (i = 0; fits && i < total; i++)
	{
		bool		found = false;

		*has_null |= nulls[i];
		scale[*n] = most;
		if (nulls[i])
			continue;
		if (is_column)
			word[*n] = gpb_numeric_ceiling(element[i], most, &found);
		else
			found = fits = number_word(element[i], &word[*n], &scale[*n]);
		*n += found;
	}
	/* No value has the least of all words. */
	if (is_column && *n == 0)
	{
		scale[0] = most;
		word[(*n)++] = PG_INT64_MIN;
	}
	for (i = 0; i < *n; i++)
		most = Max(most, scale[i]);
	for (i = 0; fits && i < *n; i++)
		fits = !gpb_int64_multiply(word[i], gpb_power_of_ten(most - scale[i]), &word[i]);
	if (!fits)
	{
		(void) gpb_refuse(builder, "an array of numerics with many digits");
		return NULL;
	}
	value->slot = at_scale(builder, value, most);
	value->type.scale = (uint8) most;
	*n = gpb_sort_words(word, *n);
	return word;
}

/* ---- choices ---- */

bool
gpb_decimal_align(GpbProgramBuilder *builder, GpbTyped *value, int n, GpbTyped *choice)
{
	int			least = GPB_MOST_SCALE;
	bool		computed = false;
	bool		varies = false;
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
		computed |= value[i].type.class != GPB_WORDS_NUMERIC && !value[i].is_constant;
		varies |= value[i].shown != 0;
		choice->type.scale = Max(choice->type.scale, value[i].type.scale);
		least = Min(least, value[i].type.scale);
	}
	varies |= least < choice->type.scale;
	for (i = 0; i < n; i++)
	{
		int			shown = varies ? shown_slot(builder, &value[i]) : 0;

		if (shown == GPB_REFUSED)
			return false;
		if (!value[i].is_null)
		{
			/* Words of a lower scale are multiplied, where NaN faults. */
			if (computed || varies)
				value[i] = gpb_decimal_number(builder, &value[i]);
			if (value[i].type.class == GPB_WORDS_NUMERIC)
				choice->type.class = GPB_WORDS_NUMERIC;
			value[i].slot = at_scale(builder, &value[i], choice->type.scale);
		}
		value[i].shown = shown;
		if (value[i].slot == GPB_REFUSED)
			return false;
	}
	choice->shown = value[n - 1].shown;
	return true;
}

int
gpb_decimal_shown(GpbProgramBuilder *builder, const GpbTyped *value)
{
	return STEP3(GPB_OP_SELECT, STEP1(GPB_OP_IS_NULL, value->slot), gpb_slot_null(builder),
				 value->shown);
}

/* ---- other types ---- */

/*
 * A field.  date_part() divides the epoch's microseconds as float8, and adds up seconds as such,
 * which is not said here.
 */
static GpbTyped
field(GpbProgramBuilder *builder, const GpbFunction *function, int slot, List *args)
{
	Const	   *name = linitial(args);
	int			scale;

	if (!IsA(name, Const) || name->constisnull)
		return gpb_no_value(builder, "a field of extract() that is not constant");
	slot = gpb_field_slot(builder, gpb_date_field(DatumGetTextPP(name->constvalue)),
						  gpb_base_type(exprType(lsecond(args))), slot, &scale);
	if (function->op == 0 || slot == GPB_REFUSED)
		return decimal(slot, scale);
	if (gpb_date_field(DatumGetTextPP(name->constvalue)) == DTK_EPOCH)
		return gpb_word(STEP2(GPB_OP_FLOAT_DIVIDE, STEP1(function->op, slot),
							  gpb_slot_float(builder, USECS_PER_SEC)));
	if (scale != 0)
		return gpb_no_value(builder, "a field of date_part() with a fraction");
	return gpb_word(STEP1(function->op, slot));
}

/*
 * A decimal as float8.  Core reads the number's text, so the result is the nearest float8, as it is
 * of one division of two integers that are float8 both.
 */
static int
float_slot(GpbProgramBuilder *builder, const GpbTyped *value)
{
	int			slot = STEP1(GPB_OP_INT_TO_FLOAT, value->slot);
	int			power = WORD(gpb_power_of_ten(value->type.scale));

	if (value->type.scale == 0)
		return slot;
	if (!keep_below(builder, value->slot, (int128) 1 << 53))
		return GPB_REFUSED;
	return STEP2(GPB_OP_FLOAT_DIVIDE, slot, STEP1(GPB_OP_INT_TO_FLOAT, power));
}

static int
integer_slot(GpbProgramBuilder *builder, const GpbFunction *function,
			 const GpbTyped *value)
{
	int			slot = rounded(builder, value->slot, gpb_power_of_ten(value->type.scale));

	return function->op == 0 ? slot : STEP1(function->op, slot);
}

/* ---- all functions ---- */

/* What else than words of one scale the arguments of a function may be, as bits */
#define GPB_TAKES_VARYING	0x01	/* the digits that are displayed depend on the row */
#define GPB_TAKES_QUOTIENT	0x02
#define GPB_TAKES_WIDE		0x04	/* some have 16 bytes, and all have one scale */

static int
taken(const GpbFunction *function)
{
	switch (function->call)
	{
		case GPB_DECIMAL_SUM:
		case GPB_DECIMAL_PRODUCT:
		case GPB_DECIMAL_SIGN:
		case GPB_DECIMAL_SAME:
			return GPB_TAKES_VARYING | GPB_TAKES_WIDE;
		case GPB_DECIMAL_FLOOR:
		case GPB_DECIMAL_CEILING:
			return GPB_TAKES_VARYING | GPB_TAKES_QUOTIENT;
		case GPB_DECIMAL_TRUNC:
			return GPB_TAKES_QUOTIENT;
		case GPB_DECIMAL_TO_INTEGER:
		case GPB_DECIMAL_TO_FLOAT:
			return GPB_TAKES_VARYING;
		default:
			return 0;
	}
}

/* Is the argument such as the function takes, where one is "wide" or none is?  Else refuse it. */
static bool
argument_fits(GpbProgramBuilder *builder, int takes, bool wide, const GpbTyped *value)
{
	if (wide)
		return gpb_decimal_has_scale(builder, value);
	if (value->divisor != 0 ? (takes & GPB_TAKES_QUOTIENT) != 0 :
		value->shown != 0 && (takes & GPB_TAKES_VARYING) != 0)
		return true;
	return gpb_decimal_is_whole(builder, value);
}

/* A call of a function that gives a numeric, of which an argument has 16 bytes */
static GpbTyped
wide_call(GpbProgramBuilder *builder, const GpbFunction *function, const GpbTyped *value)
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

GpbTyped
gpb_decimal_call(GpbProgramBuilder *builder, const GpbFunction *function,
				 const GpbTyped *arguments, List *args)
{
	int			takes = taken(function);
	bool		wide = (takes & GPB_TAKES_WIDE) != 0 &&
		(arguments[0].lower != 0 || arguments[1].lower != 0);
	GpbTyped	value[3] = {{0}};
	GpbTyped	result;
	int			i;

	for (i = 0; i < list_length(args); i++)
	{
		if (!argument_fits(builder, takes, wide, &arguments[i]))
			return GPB_NO_VALUE;
	}
	if (function->call == GPB_DECIMAL_SAME)
		return arguments[0];
	for (i = 0; i < list_length(args); i++)
	{
		value[i] = gpb_decimal_number(builder, &arguments[i]);
		if (value[i].slot == GPB_REFUSED)
			return GPB_NO_VALUE;
	}
	if (wide)
		return wide_call(builder, function, value);
	switch (function->call)
	{
		case GPB_DECIMAL_FIELD:
			return field(builder, function, value[1].slot, args);
		case GPB_DECIMAL_OF_INTEGER:
			return decimal(value[0].slot, 0);
		case GPB_DECIMAL_SUM:
			return with_shown(builder, GPB_OP_GREATEST, value,
							  gpb_decimal_operated(builder, function->op, value));
		case GPB_DECIMAL_PRODUCT:
			return product(builder, value);
		case GPB_DECIMAL_QUOTIENT:
			return quotient(builder, value, lsecond(args));
		case GPB_DECIMAL_SIGN:
			result = decimal(STEP1(function->op, value[0].slot), value[0].type.scale);
			result.shown = value[0].shown;
			return result;
		case GPB_DECIMAL_FLOOR:
		case GPB_DECIMAL_CEILING:
			return whole(builder, function->call, value);
		case GPB_DECIMAL_TRUNC:
		case GPB_DECIMAL_ROUND:
			return to_digits(builder, function->call, value, lsecond(args));
		case GPB_DECIMAL_TO_INTEGER:
			return gpb_word(integer_slot(builder, function, value));
		case GPB_DECIMAL_TO_FLOAT:
			return gpb_word(float_slot(builder, value));
		default:
			return GPB_NO_VALUE;
	}
}
