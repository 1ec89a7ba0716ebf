/*-------------------------------------------------------------------------
 *
 * float_sum.h
 *	  Exact, order-independent sums of float8.
 *
 * A float8 is an integer of 53 bits times a power of two.  The sum is kept as a
 * fixed-point number wide enough for every finite float8, in signed bins of
 * 64 bits that overlap by 32: bin b has weight 2^(32 b - 1074).  A value is cut into
 * three 32-bit pieces, each added to its bin, so a bin takes 2^31 additions before
 * it could overflow; gpb_float_sum_normalize carries well before that.  Since integer
 * addition is associative, the sum does not depend on the order of entries, the number
 * of threads, or the engine: host, CUDA and CPU give the same bits.  The idea is
 * Kulisch's long accumulator; the cut into bins follows Collange et al.,
 * "Numerical reproducibility for the parallel reduction" (2015).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_FLOAT_SUM_H
#define GPB_FLOAT_SUM_H

#include "layout.h"

#define GPB_FLOAT_BINS		68

/* An exact sum of float8 values */
typedef struct GpbFloatSum
{
	int64		bin[GPB_FLOAT_BINS];
	int64		nans;			/* number of values that were NaN */
	int64		positive_infinities;
	int64		negative_infinities;
	int64		pending;		/* number of additions since the bins were last normalized */
} GpbFloatSum;

/* What one finite value adds to a sum: piece[i] belongs to bin[first + i]. */
typedef struct GpbFloatPieces
{
	int			first;
	int64		piece[3];
} GpbFloatPieces;

/*
 * Cut a finite float8, given by its bits, into what it adds to a sum.  Signs and exponents of
 * neighbouring values differ, so there are no branches.
 */
GPB_FN GpbFloatPieces
gpb_float_cut(int64 bits)
{
	GpbFloatPieces out;
	uint32		exponent = (uint32) ((uint64) bits >> 52) & 0x7FF;
	uint32		normal = exponent != 0; /* A subnormal weighs what exponent 1 does, and has no
										 * hidden bit. */
	uint64		mantissa = ((uint64) bits & (((uint64) 1 << 52) - 1)) | (uint64) normal << 52;
	uint32		place = exponent - normal;	/* value = mantissa * 2^(place - 1074) */
	uint32		shift = place % 32;
	uint64		low = mantissa << shift;
	uint64		high = mantissa >> 1 >> (63 - shift);
	int64		sign = bits >> 63;	/* -1 or 0; (x ^ sign) - sign is -x or x */

	out.first = (int) (place / 32);
	out.piece[0] = ((int64) (low & 0xFFFFFFFF) ^ sign) - sign;
	out.piece[1] = ((int64) (low >> 32) ^ sign) - sign;
	out.piece[2] = ((int64) high ^ sign) - sign;
	return out;
}

/* Is the float8 with these bits neither NaN nor infinite? */
GPB_FN bool
gpb_float_is_finite(int64 bits)
{
	return (((uint64) bits >> 52) & 0x7FF) != 0x7FF;
}

/*
 * Carry from bin to bin, so that every bin but the last is in [0, 2^32).  The last one keeps the
 * sign.
 */
GPB_FN void
gpb_float_sum_normalize(GpbFloatSum *sum)
{
	int64		carry = 0;
	int			i;

	for (i = 0; i < GPB_FLOAT_BINS - 1; i++)
	{
		int64		v = sum->bin[i] + carry;

		carry = v >> 32;		/* floor */
		sum->bin[i] = v & 0xFFFFFFFF;
	}
	sum->bin[GPB_FLOAT_BINS - 1] += carry;
	sum->pending = 0;
}

/* Count a value that is NaN or infinite, given by its bits. */
GPB_FN void
gpb_float_sum_add_special(GpbFloatSum *sum, int64 bits)
{
	if (((uint64) bits & (((uint64) 1 << 52) - 1)) != 0)
		sum->nans++;
	else if (bits < 0)
		sum->negative_infinities++;
	else
		sum->positive_infinities++;
}

/* Add a float8, given by its bits, to the sum. */
GPB_FN void
gpb_float_sum_add(GpbFloatSum *sum, int64 bits)
{
	GpbFloatPieces p;

	if (!gpb_float_is_finite(bits))
	{
		gpb_float_sum_add_special(sum, bits);
		return;
	}
	p = gpb_float_cut(bits);
	sum->bin[p.first] += p.piece[0];
	sum->bin[p.first + 1] += p.piece[1];
	sum->bin[p.first + 2] += p.piece[2];
	if (++sum->pending >= (int64) 1 << 30)
		gpb_float_sum_normalize(sum);
}

/* Add the sum "from" to the sum "into".  Both must be normalized, and "into" is afterwards. */
GPB_FN void
gpb_float_sum_merge(GpbFloatSum *into, const GpbFloatSum *from)
{
	int			i;

	for (i = 0; i < GPB_FLOAT_BINS; i++)
		into->bin[i] += from->bin[i];
	into->nans += from->nans;
	into->positive_infinities += from->positive_infinities;
	into->negative_infinities += from->negative_infinities;
	gpb_float_sum_normalize(into);
}

#endif							/* GPB_FLOAT_SUM_H */
