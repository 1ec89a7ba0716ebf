/*-------------------------------------------------------------------------
 *
 * item_float.c
 *	  Exact sums of float8 made float8: sums and variances, rounded once.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "port/pg_bitutils.h"
#include "utils/float.h"

#include "exec/common/item_number.h"

/* ---- magnitudes: limbs of 32 bits, the lowest first ---- */

/* Limbs of a sum; its last bin carries the sign and may fill two. */
#define GPB_SUM_LIMBS		(GPB_FLOAT_BINS + 1)

/* Bit 0 of a sum weighs 2^-1074, so a sum below 2^53 units is its own IEEE pattern. */
#define GPB_FLOAT_UNIT_BITS 1074

/* Limbs of the square of a sum, whose bit 0 weighs 2^-2148 */
#define GPB_SQUARE_LIMBS	(2 * GPB_SUM_LIMBS)

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
	{
		uint64		carry = 1;

		for (i = 0; i < GPB_SUM_LIMBS; i++)
		{
			carry += (uint32) ~limb[i];
			limb[i] = (uint32) carry;
			carry >>= 32;
		}
	}
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
	if (lowest > 0)
	{
		int			half = lowest - 1;
		bool		up = limb[half / 32] >> (half % 32) & 1;

		if (up && (pattern & 1) == 0)
			up = more || limb_any_below(limb, half);
		/* the hidden bit adds one to the exponent; so does a carry */
		pattern += ((uint64) (lowest - unit) << 52) + up;
	}
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

/* ---- variance ---- */

/*
 * The sum of squares times the count, less the square of the sum: limbs whose bit 0 weighs 2^-2148.
 * It is 0 where bits that squares have lost would make it negative.
 */
static void
scaled_variance(const GpbFloatSum *sum, const GpbFloatSum *squares, uint64 count, uint32 *limb)
{
	uint32		magnitude[GPB_SUM_LIMBS];
	uint32		square[GPB_SQUARE_LIMBS] = {0};
	uint32		shifted[GPB_SUM_LIMBS + 1] = {0};
	int			shift = GPB_FLOAT_UNIT_BITS / 32;
	int			i;

	memset(limb, 0, sizeof(uint32) * GPB_SQUARE_LIMBS);
	(void) sum_magnitude(squares, magnitude);
	add_product(shifted, magnitude, GPB_SUM_LIMBS, (uint32) 1 << GPB_FLOAT_UNIT_BITS % 32);
	add_product(limb + shift, shifted, GPB_SUM_LIMBS + 1, (uint32) count);
	add_product(limb + shift + 1, shifted, GPB_SUM_LIMBS + 1, (uint32) (count >> 32));

	(void) sum_magnitude(sum, magnitude);
	for (i = 0; i < GPB_SUM_LIMBS; i++)
		add_product(square + i, magnitude, GPB_SUM_LIMBS, magnitude[i]);
	if (!subtract_limbs(limb, square, GPB_SQUARE_LIMBS))
		memset(limb, 0, sizeof(uint32) * GPB_SQUARE_LIMBS);
}

float8
gpb_float_variance(const GpbAnswerColumn *column, const int64 *answer, bool sample, bool root)
{
	const GpbFloatSum *sum = (const GpbFloatSum *) (answer + column->float_sum);
	const GpbFloatSum *squares = (const GpbFloatSum *) (answer + column->float_squares);
	uint64		count = answer[column->count];
	uint32		limb[GPB_SQUARE_LIMBS];
	bool		more;
	float8		variance;

	if (sum->nans > 0 || sum->positive_infinities > 0 || sum->negative_infinities > 0)
		return get_float8_nan();
	if (squares->positive_infinities > 0)
		float_overflow_error();
	scaled_variance(sum, squares, count, limb);
	more = divide_limbs(limb, GPB_SQUARE_LIMBS, count);
	more |= divide_limbs(limb, GPB_SQUARE_LIMBS, sample ? count - 1 : count);
	variance = round_magnitude(limb, GPB_SQUARE_LIMBS, GPB_FLOAT_UNIT_BITS, more);
	return root ? sqrt(variance) : variance;
}
