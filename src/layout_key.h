/*-------------------------------------------------------------------------
 *
 * layout_key.h
 *	  Normalized keys, bounds, and ranges of them.
 *
 * Plain C for both compilers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LAYOUT_KEY_H
#define GPB_LAYOUT_KEY_H

#include "layout_format.h"

/* Bytes of the wide keys */
#define GPB_WIDE_KEY		16

/*
 * A normalized key: an integer whose order is that of the index.  On pages, and in memory that
 * PostgreSQL allocates, it lies at multiples of 8 bytes, and so it says.
 *
 * CUDA's compiler compiles what looks at keys twice, so that narrow keys are integers of 64 bits:
 * with GPB_CUDA_WIDE all keys are wide, without it none is.  It has its GpbKey, and what is made of
 * that, in registers alone: in memory it would lie at multiples of 16 bytes.
 */
#ifndef __CUDACC__
#define GPB_MAY_BE_WIDE
typedef unsigned __int128 GpbKey __attribute__((aligned(8)));
#elif defined(GPB_CUDA_WIDE)
#define GPB_MAY_BE_WIDE
typedef unsigned __int128 GpbKey;
#else
typedef uint64 GpbKey;
#endif

/* Is it the width of wide keys?  What is compiled for narrow keys alone knows that it is not. */
GPB_FN bool
gpb_is_wide(int key_width)
{
#ifdef GPB_MAY_BE_WIDE
	return key_width == GPB_WIDE_KEY;
#else
	(void) key_width;
	return false;
#endif
}

/* A wide key of its halves; of narrow keys, the lower one */
GPB_FN GpbKey
gpb_key_of_halves(uint64 lower, uint64 upper)
{
#ifdef GPB_MAY_BE_WIDE
	return (GpbKey) upper << 64 | lower;
#else
	(void) upper;
	return lower;
#endif
}

/* The upper half of a key, which is 0 for narrow ones */
GPB_FN uint64
gpb_key_upper(GpbKey key)
{
#ifdef GPB_MAY_BE_WIDE
	return (uint64) (key >> 64);
#else
	(void) key;
	return 0;
#endif
}

/* The greatest normalized key of a width, which is that of NULL keys with NULLS LAST */
GPB_FN GpbKey
gpb_key_most(int key_width)
{
	if (gpb_is_wide(key_width))
		return ~(GpbKey) 0;
	return key_width == 8 ? ~(uint64) 0 : ~(uint32) 0;
}

/*
 * A place in the index's order, before or after entries.  Any two values make one, but if keys have
 * 8 bytes or less, the key fits 64 bits, or the bound is GPB_BOUND_MAX.
 */
typedef struct GpbBound
{
	GpbKey		key;
	uint64		tie;
} GpbBound;

/* A half-open range: every entry e with lo <= e < hi. */
typedef struct GpbRange
{
	GpbBound	lo;
	GpbBound	hi;
} GpbRange;

#define GPB_BOUND_MIN	((GpbBound) {0, 0})
#define GPB_BOUND_MAX	((GpbBound) {~(GpbKey) 0, ~(uint64) 0})	/* beyond all entries */

/*
 * Bounds and ranges as requests to a device have them, of an index of narrow keys.  GPB_BOUND_MAX
 * has all bits set here too.
 */
#if defined(__CUDACC__) && !defined(GPB_CUDA_WIDE)
typedef GpbBound GpbNarrowBound;
typedef GpbRange GpbNarrowRange;
#else
typedef struct GpbNarrowBound
{
	uint64		key;
	uint64		tie;
} GpbNarrowBound;

typedef struct GpbNarrowRange
{
	GpbNarrowBound lo;
	GpbNarrowBound hi;
} GpbNarrowRange;
#endif

/* Bound and range of wide keys: the bytes that GpbBound and GpbRange have outside of CUDA */
typedef struct GpbWideBound
{
	uint64		lower;
	uint64		upper;
	uint64		tie;
} GpbWideBound;

typedef struct GpbWideRange
{
	GpbWideBound lo;
	GpbWideBound hi;
} GpbWideRange;

/* A bound of an index whose keys have at most 8 bytes, as requests have it */
GPB_FN GpbNarrowBound
gpb_narrow_bound(GpbBound bound)
{
	GpbNarrowBound narrow;

	narrow.key = (uint64) bound.key;
	narrow.tie = bound.tie;
	return narrow;
}

/* The bound of which gpb_narrow_bound() made this */
GPB_FN GpbBound
gpb_widen_bound(GpbNarrowBound narrow)
{
	GpbBound	bound;

#ifdef GPB_MAY_BE_WIDE
	if ((narrow.key & narrow.tie) == ~(uint64) 0)
		return GPB_BOUND_MAX;
#endif
	bound.key = narrow.key;
	bound.tie = narrow.tie;
	return bound;
}

GPB_FN GpbNarrowRange
gpb_narrow_range(GpbRange range)
{
	GpbNarrowRange narrow;

	narrow.lo = gpb_narrow_bound(range.lo);
	narrow.hi = gpb_narrow_bound(range.hi);
	return narrow;
}

GPB_FN GpbRange
gpb_widen_range(GpbNarrowRange narrow)
{
	GpbRange	range;

	range.lo = gpb_widen_bound(narrow.lo);
	range.hi = gpb_widen_bound(narrow.hi);
	return range;
}

/* The bound behind all entries of a key, in an index whose keys have this width */
GPB_FN GpbBound
gpb_bound_behind(GpbKey key, int key_width)
{
	GpbBound	bound = GPB_BOUND_MAX;

	if (key < gpb_key_most(key_width))
	{
		bound.key = key + 1;
		bound.tie = 0;
	}
	return bound;
}

/* Compare two bounds: returns -1, 0 or 1 as a is before, equal to or after b. */
GPB_FN int
gpb_bound_cmp(GpbBound a, GpbBound b)
{
	if (a.key != b.key)
		return a.key < b.key ? -1 : 1;
	if (a.tie != b.tie)
		return a.tie < b.tie ? -1 : 1;
	return 0;
}

/* Is a before b? */
GPB_FN bool
gpb_bound_less(GpbBound a, GpbBound b)
{
	return a.key < b.key || (a.key == b.key && a.tie < b.tie);
}

GPB_FN GpbWideBound
gpb_wide_bound(GpbBound bound)
{
	GpbWideBound wide;

	wide.lower = (uint64) bound.key;
	wide.upper = gpb_key_upper(bound.key);
	wide.tie = bound.tie;
	return wide;
}

/* The bound of which gpb_wide_bound() made this */
GPB_FN GpbBound
gpb_bound_of_wide(GpbWideBound wide)
{
	GpbBound	bound;

	bound.key = gpb_key_of_halves(wide.lower, wide.upper);
	bound.tie = wide.tie;
	return bound;
}

#endif							/* GPB_LAYOUT_KEY_H */
