/*-------------------------------------------------------------------------
 *
 * item_float.c
 *	  Exact sums of float8 made float8: sums, variances and what describes pairs, without
 *	  cancellation and rounded once or a few times.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "port/pg_bitutils.h"
#include "utils/float.h"

#include "exec/answer/item_number.h"

/* ---- magnitudes: limbs of 32 bits, the lowest first ---- */

/* Limbs of a sum; its last bin carries the sign and may fill two. */
#define GPB_SUM_LIMBS		(GPB_FLOAT_BINS + 1)

/* Bit 0 of a sum weighs 2^-1074, so a sum below 2^53 units is its own IEEE pattern. */
#define GPB_FLOAT_UNIT_BITS 1074

/* Limbs of the square of a sum, whose bit 0 weighs 2^-2148 */
#define GPB_SQUARE_LIMBS	(2 * GPB_SUM_LIMBS)

/* Negate n limbs in two's complement. */
static void
negate_limbs(uint32 *limb, int n)
{
	uint64		carry = 1;
	int			i;

	for (i = 0; i < n; i++)
	{
		carry += (uint32) ~limb[i];
		limb[i] = (uint32) carry;
		carry >>= 32;
	}
}

/* The magnitude of a normalized sum, in GPB_SUM_LIMBS limbs; true if it is negative. */
static bool
sum_magnitude(const GpbFloatSum *sum, uint32 *limb)
{
	int64		top = sum->bin[GPB_FLOAT_BINS - 1];
	bool		negative = top < 0;
	int			i;

	for (i = 0; i < GPB_FLOAT_BINS - 1; i++)
		limb[i] = (uint32) sum->bin[i];
	limb[GPB_FLOAT_BINS - 1] = (uint32) top;
	limb[GPB_FLOAT_BINS] = (uint32) (top >> 32);
	if (negative)
		negate_limbs(limb, GPB_SUM_LIMBS);
	return negative;
}

/* Bits [at, at + 53) of the magnitude, which has them all. */
static uint64
limb_bits(const uint32 *limb, int at)
{
	int			shift = at % 32;
	uint64		bits;

	limb += at / 32;
	bits = (limb[0] | (uint64) limb[1] << 32) >> shift;
	if (shift > 64 - 53)
		bits |= (uint64) limb[2] << (64 - shift);
	return bits & (((uint64) 1 << 53) - 1);
}

/* The highest bit that is set, or "least" if all above are clear */
static int
highest_bit(const uint32 *limb, int n, int least)
{
	int			i = n - 1;
	int			highest;

	while (i > least / 32 && limb[i] == 0)
		i--;
	highest = limb[i] == 0 ? 0 : i * 32 + pg_leftmost_one_pos32(limb[i]);
	return Max(highest, least);
}

/* Is any bit below "at" set? */
static bool
limb_any_below(const uint32 *limb, int at)
{
	int			i;

	for (i = 0; i < at / 32; i++)
	{
		if (limb[i] != 0)
			return true;
	}
	return at % 32 != 0 && (limb[at / 32] << (32 - at % 32)) != 0;
}

/*
 * Is a magnitude whose bits from "lowest" on are "pattern" rounded up there, to nearest, ties to
 * even?  more: there is something below bit 0.
 */
static bool
rounds_up(const uint32 *limb, int lowest, uint64 pattern, bool more)
{
	int			half = lowest - 1;

	if (lowest == 0 || (limb[half / 32] >> (half % 32) & 1) == 0)
		return false;
	return (pattern & 1) != 0 || more || limb_any_below(limb, half);
}

/*
 * A magnitude of n limbs, of which bit number "unit" weighs 2^-1074, rounded to nearest, ties to
 * even.  more: there is something below bit 0.  Raises core's overflow error beyond the largest
 * float8.
 */
static float8
round_magnitude(const uint32 *limb, int n, int unit, bool more)
{
	int			highest = highest_bit(limb, n, unit + 52);
	int			lowest = highest - 52;	/* bit of the result */
	uint64		pattern;
	float8		result;

	pattern = limb_bits(limb, lowest);
	/* the hidden bit adds one to the exponent; so does a carry */
	if (lowest > 0)
		pattern += ((uint64) (lowest - unit) << 52) + rounds_up(limb, lowest, pattern, more);
	if (pattern >= (uint64) 0x7FF << 52)
		float_overflow_error();
	memcpy(&result, &pattern, sizeof(result));
	return result;
}

/* ---- sums ---- */

/* A normalized sum of finite values */
static float8
finite_sum(const GpbFloatSum *sum)
{
	uint32		limb[GPB_SUM_LIMBS];
	bool		negative = sum_magnitude(sum, limb);
	float8		result = round_magnitude(limb, GPB_SUM_LIMBS, 0, false);

	return negative ? -result : result;
}

/* Values that are not finite are summed as IEEE arithmetic has it. */
float8
gpb_float_sum_final(const GpbFloatSum *sum)
{
	if (sum->nans > 0 ||
		(sum->positive_infinities > 0 && sum->negative_infinities > 0))
		return get_float8_nan();
	if (sum->positive_infinities > 0)
		return get_float8_infinity();
	if (sum->negative_infinities > 0)
		return -get_float8_infinity();
	return finite_sum(sum);
}

/* Words of 64 bits of a narrow sum's magnitude; its last bin may fill two halves of them. */
#define GPB_NARROW_WORDS	(GPB_NARROW_BINS / 2 + 1)

/* The weight of the lowest bit of a narrow sum, as an exponent of 2 */
#define GPB_NARROW_LOWEST	(32 * GPB_NARROW_FIRST - GPB_FLOAT_UNIT_BITS)

/* The magnitude of a normalized narrow sum; true if it is negative. */
static inline bool
narrow_magnitude(const GpbNarrowSum *sum, uint64 *word)
{
	int64		top = sum->bin[GPB_NARROW_BINS - 1];
	bool		negative = top < 0;
	uint64		carry = negative;
	uint64		flip = negative ? ~(uint64) 0 : 0;
	int			i;

	for (i = 0; i < GPB_NARROW_WORDS - 1; i++)
		word[i] = (uint64) sum->bin[2 * i] | (uint64) sum->bin[2 * i + 1] << 32;
	word[GPB_NARROW_WORDS - 1] = (uint64) (top >> 32);
	for (i = 0; i < GPB_NARROW_WORDS; i++)
	{
		word[i] = (word[i] ^ flip) + carry;
		carry &= word[i] == 0;
	}
	return negative;
}

/*
 * Its bits lie far from the ends of the range of float8: the result is neither subnormal nor
 * infinite.  It is what gpb_float_sum_final() makes of the same number.
 */
float8
gpb_narrow_sum_final(const GpbNarrowSum *sum)
{
	uint64		word[GPB_NARROW_WORDS];
	bool		negative = narrow_magnitude(sum, word);
	int			i = GPB_NARROW_WORDS - 1;
	int			zeros;
	uint64		high;
	uint64		below;			/* not 0: something is below "high" */
	uint64		pattern;
	int			at;

	while (word[i] == 0)
	{
		if (i == 0)
			return 0;
		i--;
	}
	zeros = 63 - pg_leftmost_one_pos64(word[i]);
	high = word[i] << zeros;
	below = 0;
	if (i > 0)
	{
		high |= word[i - 1] >> 1 >> (63 - zeros);
		below = word[i - 1] << zeros;
	}
	for (at = 0; at < i - 1; at++)
		below |= word[at];

	/* The hidden bit adds one to the exponent; so does a carry. */
	pattern = high >> 11;
	pattern += (high >> 10 & 1) & ((pattern & 1) | ((high & 0x3FF) != 0) | (below != 0));
	pattern += (uint64) (64 * i + 63 - zeros + GPB_NARROW_LOWEST + 1022) << 52;
	pattern |= (uint64) negative << 63;
	return gpb_float_value((int64) pattern);
}

float8
gpb_column_float_sum(const GpbAnswerColumn *column, const int64 *answer)
{
	const int64 *sum = answer + column->float_sum;

	return column->narrow ? gpb_narrow_sum_final((const GpbNarrowSum *) sum) :
		gpb_float_sum_final((const GpbFloatSum *) sum);
}

/* An exact sum of a term, at this word of the answer, as a wide one, in "room" if it is narrow */
static const GpbFloatSum *
wide_sum(const GpbAnswerColumn *column, const int64 *answer, int word, GpbFloatSum *room)
{
	if (!column->narrow)
		return (const GpbFloatSum *) (answer + word);
	gpb_narrow_sum_widen((const GpbNarrowSum *) (answer + word), room);
	return room;
}

/* The exact sum of a term's values, as a wide one, in "room" if it is narrow */
static const GpbFloatSum *
term_sum(const GpbAnswerColumn *column, const int64 *answer, GpbFloatSum *room)
{
	return wide_sum(column, answer, column->float_sum, room);
}

/* ---- arithmetic of magnitudes ---- */

/* Add a * b to the limbs at *to, which has room for the carry. */
static void
add_product(uint32 *to, const uint32 *a, int n, uint32 b)
{
	uint64		carry = 0;
	int			i;

	if (b == 0)
		return;
	for (i = 0; i < n; i++)
	{
		carry += (uint64) a[i] * b + to[i];
		to[i] = (uint32) carry;
		carry >>= 32;
	}
	for (; carry != 0; i++)
	{
		carry += to[i];
		to[i] = (uint32) carry;
		carry >>= 32;
	}
}

/* Subtract b from a, both of n limbs; false if a is less. */
static bool
subtract_limbs(uint32 *a, const uint32 *b, int n)
{
	int64		borrow = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		borrow += (int64) a[i] - b[i];
		a[i] = (uint32) borrow;
		borrow >>= 32;
	}
	return borrow == 0;
}

/* Divide n limbs by a number from 1 to 2^63; returns whether there is a remainder. */
static bool
divide_limbs(uint32 *limb, int n, uint64 divisor)
{
	uint128		remainder = 0;
	int			i;

	for (i = n - 1; i >= 0; i--)
	{
		remainder = remainder << 32 | limb[i];
		if (remainder == 0)
			continue;
		limb[i] = (uint32) (remainder / divisor);
		remainder %= divisor;
	}
	return remainder != 0;
}

/* Add the limbs of a * b to those at *to, which has room for the carry. */
static void
add_limbs_product(uint32 *to, const uint32 *a, int na, const uint32 *b, int nb)
{
	int			i;

	for (i = 0; i < nb; i++)
		add_product(to + i, a, na, b[i]);
}

/*
 * Subtract b from a, both of n limbs and with a sign.  Returns whether a is negative then.
 */
static bool
subtract_signed(uint32 *a, bool a_negative, const uint32 *b, bool b_negative, int n)
{
	if (a_negative != b_negative)
	{
		add_product(a, b, n, 1);
		return a_negative;
	}
	if (subtract_limbs(a, b, n))
		return a_negative;
	negate_limbs(a, n);
	return !a_negative;
}

/* ---- moments ---- */

/*
 * The sum of the products of pairs of values, times their number, less the product of the sums of
 * the values: what they have in common with each other, or with themselves
 */
typedef struct GpbMoment
{
	bool		is_nan;			/* a value is infinite or NaN: nothing else is set */
	bool		negative;
	uint32		limb[GPB_SQUARE_LIMBS]; /* bit 0 weighs 2^-2148 */
} GpbMoment;

static bool
sum_is_finite(const GpbFloatSum *sum)
{
	return sum->nans == 0 && sum->positive_infinities == 0 && sum->negative_infinities == 0;
}

static bool
moment_is_zero(const GpbMoment *moment)
{
	return !moment->is_nan && !limb_any_below(moment->limb, GPB_SQUARE_LIMBS * 32);
}

/* Compute a moment of "count" pairs, whose values have the sums a and b. */
static void
make_moment(const GpbFloatSum *a, const GpbFloatSum *b, const GpbFloatSum *products, uint64 count,
			GpbMoment *moment)
{
	uint32		a_limb[GPB_SUM_LIMBS];
	uint32		b_limb[GPB_SUM_LIMBS];
	uint32		shifted[GPB_SUM_LIMBS + 1] = {0};
	uint32		square[GPB_SQUARE_LIMBS] = {0};
	int			shift = GPB_FLOAT_UNIT_BITS / 32;
	bool		negative;

	memset(moment, 0, sizeof(*moment));
	moment->is_nan = !sum_is_finite(a) || !sum_is_finite(b);
	if (moment->is_nan)
		return;
	if (!sum_is_finite(products))
		float_overflow_error();
	negative = sum_magnitude(products, a_limb);
	add_product(shifted, a_limb, GPB_SUM_LIMBS, (uint32) 1 << GPB_FLOAT_UNIT_BITS % 32);
	add_product(moment->limb + shift, shifted, GPB_SUM_LIMBS + 1, (uint32) count);
	add_product(moment->limb + shift + 1, shifted, GPB_SUM_LIMBS + 1, (uint32) (count >> 32));

	moment->negative = sum_magnitude(a, a_limb);
	moment->negative ^= sum_magnitude(b, b_limb);
	add_limbs_product(square, a_limb, GPB_SUM_LIMBS, b_limb, GPB_SUM_LIMBS);
	moment->negative = subtract_signed(moment->limb, negative, square, moment->negative,
									   GPB_SQUARE_LIMBS);
}

/*
 * The moment of a term's values with themselves.  It is 0 where bits that squares have lost would
 * make it negative.
 */
static void
make_square_moment(const GpbAnswerColumn *column, const int64 *answer, GpbMoment *moment)
{
	GpbFloatSum room[2];
	const GpbFloatSum *sum = term_sum(column, answer, &room[0]);

	make_moment(sum, sum, wide_sum(column, answer, column->float_squares, &room[1]),
				answer[column->count], moment);
	if (moment->negative)
		memset(moment, 0, sizeof(*moment));
}

/* Divide a moment by two numbers from 1 on; rounded once.  The moment is overwritten. */
static float8
divide_moment(GpbMoment *moment, uint64 a, uint64 b)
{
	bool		more;
	float8		result;

	if (moment->is_nan)
		return get_float8_nan();
	more = divide_limbs(moment->limb, GPB_SQUARE_LIMBS, a);
	more |= divide_limbs(moment->limb, GPB_SQUARE_LIMBS, b);
	result = round_magnitude(moment->limb, GPB_SQUARE_LIMBS, GPB_FLOAT_UNIT_BITS, more);
	return moment->negative && result != 0 ? -result : result;
}

/* ---- variance ---- */

float8
gpb_float_variance(const GpbAnswerColumn *column, const int64 *answer, bool sample, bool root)
{
	uint64		count = answer[column->count];
	GpbMoment	moment;
	float8		variance;

	make_square_moment(column, answer, &moment);
	variance = divide_moment(&moment, count, sample ? count - 1 : count);
	return root ? sqrt(variance) : variance;
}

float8
gpb_float_deviation(const GpbAnswerColumn *column, const int64 *answer)
{
	GpbMoment	moment;

	make_square_moment(column, answer, &moment);
	return divide_moment(&moment, answer[column->count], 1);
}

/* ---- pairs ---- */

/* A number that is rounded once and may be beyond the range of float8: value * 2^exponent */
typedef struct GpbScaledFloat
{
	float8		value;
	int			exponent;
} GpbScaledFloat;

/* The number of n limbs whose bit 0 weighs 1; of its value, the magnitude is below 2^54. */
static GpbScaledFloat
scaled_float(const uint32 *limb, int n, bool negative)
{
	int			lowest = highest_bit(limb, n, 52) - 52;
	uint64		pattern = limb_bits(limb, lowest);
	GpbScaledFloat result;

	pattern += rounds_up(limb, lowest, pattern, false);
	result.value = negative && pattern != 0 ? -(float8) pattern : (float8) pattern;
	result.exponent = lowest;
	return result;
}

static GpbScaledFloat
scaled_moment(const GpbMoment *moment)
{
	return scaled_float(moment->limb, GPB_SQUARE_LIMBS, moment->negative);
}

/* xy / sqrt(xx * yy), where neither is 0 */
static float8
correlation(GpbScaledFloat xx, GpbScaledFloat yy, GpbScaledFloat xy)
{
	float8		square = xx.value * yy.value;
	int			exponent = xx.exponent + yy.exponent;
	float8		result;

	if (exponent % 2 != 0)
	{
		square *= 2;
		exponent--;
	}
	result = ldexp(xy.value / sqrt(square), xy.exponent - exponent / 2);
	return Max(Min(result, 1.0), -1.0);
}

/* xy^2 / (xx * yy), where neither is 0 */
static float8
determination(GpbScaledFloat xx, GpbScaledFloat yy, GpbScaledFloat xy)
{
	float8		result = ldexp(xy.value * xy.value / (xx.value * yy.value),
							   2 * xy.exponent - xx.exponent - yy.exponent);

	return Min(result, 1.0);
}

static float8
slope(GpbScaledFloat xx, GpbScaledFloat xy)
{
	return ldexp(xy.value / xx.value, xy.exponent - xx.exponent);
}

/* Limbs of a sum times a moment, whose bit 0 weighs 2^-3222 */
#define GPB_CUBE_LIMBS		(GPB_SUM_LIMBS + GPB_SQUARE_LIMBS)

/*
 * The mean of Y less the slope times the mean of X, as (sum of Y * xx - sum of X * xy) / (count *
 * xx), whose numerator is exact
 */
static float8
intercept(const GpbFloatSum *x, const GpbFloatSum *y, uint64 count, const GpbMoment *xx,
		  const GpbMoment *xy)
{
	uint32		x_limb[GPB_SUM_LIMBS];
	uint32		y_limb[GPB_SUM_LIMBS];
	uint32		cube[GPB_CUBE_LIMBS] = {0};
	uint32		other[GPB_CUBE_LIMBS] = {0};
	bool		x_negative = sum_magnitude(x, x_limb);
	bool		negative = sum_magnitude(y, y_limb);
	GpbScaledFloat above;
	GpbScaledFloat below = scaled_moment(xx);

	add_limbs_product(cube, xx->limb, GPB_SQUARE_LIMBS, y_limb, GPB_SUM_LIMBS);
	add_limbs_product(other, xy->limb, GPB_SQUARE_LIMBS, x_limb, GPB_SUM_LIMBS);
	negative = subtract_signed(cube, negative, other, x_negative ^ xy->negative, GPB_CUBE_LIMBS);
	above = scaled_float(cube, GPB_CUBE_LIMBS, negative);
	return ldexp(above.value / (below.value * (float8) count),
				 above.exponent - GPB_FLOAT_UNIT_BITS - below.exponent);
}

/* The moment of X and Y, whose products and their rests have sums of their own */
static void
make_pair_moment(const GpbAggregateItem *item, const GpbAnswerColumn *columns,
				 const int64 *answer, GpbMoment *moment)
{
	const GpbItemTerms *terms = &item->terms;
	const GpbAnswerColumn *x = &columns[item->column];
	GpbFloatSum room[3];
	GpbFloatSum products = *term_sum(&columns[terms->products], answer, &room[0]);

	gpb_float_sum_merge(&products, term_sum(&columns[terms->rests], answer, &room[0]));
	make_moment(term_sum(x, answer, &room[1]), term_sum(&columns[terms->y], answer, &room[2]),
				&products, answer[x->count], moment);
}

/* What describes a line: NULL if it would be vertical, and of which Y is "y". */
static float8
line_value(const GpbAggregateItem *item, const GpbAnswerColumn *x, const GpbAnswerColumn *y,
		   const int64 *answer, const GpbMoment *xy, bool *isnull)
{
	GpbFloatSum room[2];
	GpbMoment	xx;

	make_square_moment(x, answer, &xx);
	*isnull = moment_is_zero(&xx);
	if (*isnull)
		return 0;
	if (xy->is_nan)
		return get_float8_nan();
	if (item->function == GPB_REGR_SLOPE)
		return slope(scaled_moment(&xx), scaled_moment(xy));
	return intercept(term_sum(x, answer, &room[0]), term_sum(y, answer, &room[1]),
					 answer[x->count], &xx, xy);
}

/*
 * How well a line describes the pairs.  Where all Y are the same, core says that a line does so
 * fully, but that they do not correlate.
 */
static float8
fit_value(const GpbAggregateItem *item, const GpbAnswerColumn *x, const GpbAnswerColumn *y,
		  const int64 *answer, const GpbMoment *xy, bool *isnull)
{
	bool		is_corr = item->function == GPB_CORR;
	GpbMoment	xx;
	GpbMoment	yy;

	make_square_moment(x, answer, &xx);
	make_square_moment(y, answer, &yy);
	*isnull = moment_is_zero(&xx) || (is_corr && moment_is_zero(&yy));
	if (*isnull)
		return 0;
	if (moment_is_zero(&yy))
		return 1;
	if (xy->is_nan)
		return get_float8_nan();
	return (is_corr ? correlation : determination) (scaled_moment(&xx), scaled_moment(&yy),
													scaled_moment(xy));
}

float8
gpb_float_pairs(const GpbAggregateItem *item, const GpbAnswerColumn *columns, const int64 *answer,
				bool *isnull)
{
	const GpbAnswerColumn *x = &columns[item->column];
	const GpbAnswerColumn *y = &columns[item->terms.y];
	uint64		count = answer[x->count];
	GpbMoment	xy;

	*isnull = false;
	make_pair_moment(item, columns, answer, &xy);
	switch (item->function)
	{
		case GPB_REGR_SXY:
			return divide_moment(&xy, count, 1);
		case GPB_COVAR_POP:
			return divide_moment(&xy, count, count);
		case GPB_COVAR_SAMP:
			return divide_moment(&xy, count, count - 1);
		case GPB_REGR_SLOPE:
		case GPB_REGR_INTERCEPT:
			return line_value(item, x, y, answer, &xy, isnull);
		default:
			return fit_value(item, x, y, answer, &xy, isnull);
	}
}
