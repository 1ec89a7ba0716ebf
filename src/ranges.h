/*-------------------------------------------------------------------------
 *
 * ranges.h
 *	  A request: which ranges of the index, and what a program does with their entries.
 *
 * Plain C for both compilers.  One request carries many ranges, each with a number, its place in
 * the request.  An aggregate over one range is a request of one.  Of each range comes an answer
 * (answer.h), or one answer of them all; or a list of entries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANGES_H
#define GPB_RANGES_H

#include "answer.h"

/* Entries with lo <= key <= hi whose key is not NULL; none if lo > hi. */
typedef struct GpbKeyRange
{
	uint64		lo;				/* normalized keys */
	uint64		hi;
} GpbKeyRange;

/* In which form the ranges of a request are given */
typedef enum GpbRangeForm
{
	GPB_RANGE_POINTS,			/* uint64: normalized keys, each a range of its own */
	GPB_RANGE_KEYS,				/* GpbKeyRange */
	GPB_RANGE_BOUNDS			/* GpbRange: half-open intervals of (key, tie), for NULL keys too;
								 * all entries are those from GPB_BOUND_MIN to GPB_BOUND_MAX */
} GpbRangeForm;

typedef struct GpbRangesSpec
{
	GpbProgram	program;
	GpbRangeForm form;
	uint32		n;
	bool		total;			/* one answer, over all ranges; not for lists */
	uint64		epoch;			/* leaves imaged later are not clean */
	uint32		heap_blocks;	/* that the visibility bits cover */
} GpbRangesSpec;

/* Bytes of a range in the request */
GPB_FN int
gpb_range_width(GpbRangeForm form)
{
	return form == GPB_RANGE_POINTS ? (int) sizeof(uint64) :
		form == GPB_RANGE_KEYS ? (int) sizeof(GpbKeyRange) : (int) sizeof(GpbRange);
}

/* How many answers a request has */
GPB_FN uint32
gpb_count_answers(const GpbRangesSpec *spec)
{
	return spec->program.list_entries ? 0 : spec->total ? 1 : spec->n;
}

/*
 * The half-open range of (key, tie) that a closed interval of non-NULL keys is.  With
 * NULLS LAST, NULL keys are all-ones and carry the order bit; with NULLS FIRST they are
 * zero and all others carry it.
 */
GPB_FN GpbRange
gpb_key_range(GpbKeyRange keys, int layout_flags)
{
	GpbRange	range;

	range.lo.key = keys.lo;
	range.lo.tie = (layout_flags & GPB_LAYOUT_NULLS_FIRST) ? GPB_LOC_ORDER_BIT : 0;
	range.hi.key = keys.hi;
	range.hi.tie = (layout_flags & GPB_LAYOUT_NULLS_FIRST) ? ~(uint64) 0 : GPB_LOC_ORDER_BIT;
	return range;
}

/* Range number i of a request's input */
GPB_FN GpbRange
gpb_input_range(GpbRangeForm form, const void *ranges, uint32 i, int layout_flags)
{
	GpbKeyRange keys;

	if (form == GPB_RANGE_BOUNDS)
		return ((const GpbRange *) ranges)[i];
	if (form == GPB_RANGE_POINTS)
		keys.lo = keys.hi = ((const uint64 *) ranges)[i];
	else
		keys = ((const GpbKeyRange *) ranges)[i];
	return gpb_key_range(keys, layout_flags);
}

/*
 * A piece of a range that the device could not answer: the CPU takes [range.lo, range.hi) from the
 * real tree, starting at block and moving right.
 */
typedef struct GpbUncleanPiece
{
	GpbRange	range;			/* already clipped to the leaf */
	uint32		block;			/* the leaf that covered it in the image, or GPB_NO_BLOCK */
	uint32		number;			/* of the range in the request */
} GpbUncleanPiece;

/*
 * An entry that was listed or that must be checked in the heap.  The row is as on the leaf, row_width
 * bytes of it; records lie gpb_range_entry_width() apart.
 */
typedef struct GpbRangeEntry
{
	uint32		number;			/* of the range in the request */
	uint32		flags;
	uint64		key;			/* normalized */
	char		row[];
} GpbRangeEntry;

#define GPB_RANGE_ENTRY_VISIBLE	0x01	/* all-visible by the map: no heap visit */

GPB_FN int
gpb_range_entry_width(int row_width)
{
	return 16 + ((row_width + 7) & ~7);
}

typedef struct GpbRangesResult
{
	uint64		leaves;			/* leaf visits by the device */
	uint64		unclean;		/* GpbUncleanPiece records to fetch, by number, then key order; one
								 * for each leaf of each range */
	uint64		entries;		/* GpbRangeEntry records to fetch: of a list all entries, sorted by
								 * number of the range, then key order; else those to be checked in
								 * the heap, sorted by TID */
} GpbRangesResult;

#endif							/* GPB_RANGES_H */
