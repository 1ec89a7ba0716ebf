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
 * Of groups there are many, and their values are rarely as far apart as float8 can be.  So there is
 * a second form, a narrow sum, that has only those bins that ordinary values need.  Whoever adds to
 * one must be ready for a value that it does not hold; then all is begun anew with wide sums.
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

/*
 * A sum with bins [GPB_NARROW_FIRST, GPB_NARROW_FIRST + GPB_NARROW_BINS) alone.  It holds 0 and the
 * values of magnitudes from 2^-126 to below 2^66, by their exponents, and no infinity or NaN.
 * Values below that are the worse surprise, since they may come late, as the rests of squares do:
 * so the window reaches farther down than up.
 *
 * The last bin is not full before 2^43 values were added: each is below 2^(32 * (bins - 1) + 20)
 * units of the first bin.  An index has fewer entries.
 */
#define GPB_NARROW_FIRST	28
#define GPB_NARROW_BINS		8

typedef struct GpbNarrowSum
{
	int64		bin[GPB_NARROW_BINS];
} GpbNarrowSum;

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
 * Carry from bin to bin of n, so that every bin but the last is in [0, 2^32).  The last one keeps
 * the sign.
 */
GPB_FN void
gpb_float_bins_normalize(int64 *bin, int n)
{
	int64		carry = 0;
	int			i;

	for (i = 0; i < n - 1; i++)
	{
		int64		v = bin[i] + carry;

		carry = v >> 32;		/* floor */
		bin[i] = v & 0xFFFFFFFF;
	}
	bin[n - 1] += carry;
}

GPB_FN void
gpb_float_sum_normalize(GpbFloatSum *sum)
{
	gpb_float_bins_normalize(sum->bin, GPB_FLOAT_BINS);
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

/* ---- narrow sums ---- */

/*
 * How far the float8 with these bits lies above the lowest bit of a narrow sum: the sum holds it if
 * that is below GPB_NARROW_SHIFTS.  What lies below, 0 included, is far above that as an unsigned
 * number, and so are infinities and NaNs.
 */
#define GPB_NARROW_SHIFTS	((uint32) 32 * (GPB_NARROW_BINS - 2))

GPB_FN uint32
gpb_narrow_shift(int64 bits)
{
	return ((uint32) ((uint64) bits >> 52) & 0x7FF) - (32 * GPB_NARROW_FIRST + 1);
}

/* Does a narrow sum hold the float8 with these bits? */
GPB_FN bool
gpb_narrow_sum_holds(int64 bits)
{
	return gpb_narrow_shift(bits) < GPB_NARROW_SHIFTS || (uint64) bits << 1 == 0;
}

/*
 * Add a float8, given by its bits, to the sum; false if the sum does not hold it.  The caller
 * normalizes before 2^31 values were added.
 */
GPB_FN bool
gpb_narrow_sum_add(GpbNarrowSum *sum, int64 bits)
{
	GpbFloatPieces p;
	int64	   *bin;

	if (gpb_narrow_shift(bits) >= GPB_NARROW_SHIFTS)
		return (uint64) bits << 1 == 0;
	p = gpb_float_cut(bits);
	bin = sum->bin + (p.first - GPB_NARROW_FIRST);
	bin[0] += p.piece[0];
	bin[1] += p.piece[1];
	bin[2] += p.piece[2];
	return true;
}

GPB_FN void
gpb_narrow_sum_normalize(GpbNarrowSum *sum)
{
	gpb_float_bins_normalize(sum->bin, GPB_NARROW_BINS);
}

/* As gpb_float_sum_merge() */
GPB_FN void
gpb_narrow_sum_merge(GpbNarrowSum *into, const GpbNarrowSum *from)
{
	int			i;

	for (i = 0; i < GPB_NARROW_BINS; i++)
		into->bin[i] += from->bin[i];
	gpb_narrow_sum_normalize(into);
}

/* Make the wide sum that is the same number as the narrow one; it is normalized. */
GPB_FN void
gpb_narrow_sum_widen(const GpbNarrowSum *narrow, GpbFloatSum *wide)
{
	int			i;

	memset(wide, 0, sizeof(*wide));
	for (i = 0; i < GPB_NARROW_BINS; i++)
		wide->bin[GPB_NARROW_FIRST + i] = narrow->bin[i];
	gpb_float_sum_normalize(wide);
}

#endif							/* GPB_FLOAT_SUM_H */
