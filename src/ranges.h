/*-------------------------------------------------------------------------
 *
 * ranges.h
 *	  What a batch of key ranges asks for, and what it gets.
 *
 * Plain C for both compilers, like aggregate.h.  One request carries many closed
 * intervals of keys; for each it counts entries and aggregates one column, or it
 * lists the entries.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANGES_H
#define GPB_RANGES_H

#include "aggregate.h"

/* Entries with lo <= key <= hi whose key is not NULL; none if lo > hi. */
typedef struct GpbKeyRange
{
	uint64		lo;				/* normalized keys */
	uint64		hi;
} GpbKeyRange;

typedef struct GpbRangesSpec
{
	GpbLayout	layout;
	uint32		n;
	bool		points;			/* n keys of 8 bytes, each a range of its own, instead of
								 * GpbKeyRange */
	bool		list_entries;	/* list them all instead of aggregating */
	bool		ignore_dead_hints;
	uint8		column;			/* 0: the key; c: INCLUDE column c - 1 */
	uint8		want;			/* GPB_WANT_* of it; no sum of a float8 */
	uint64		epoch;			/* leaves imaged later are not clean */
	uint32		heap_blocks;	/* that the visibility bits cover */
} GpbRangesSpec;

/*
 * A range's answer, of entries that need no visit to the heap, packed: int64 entries; then of
 * the column, as want has them: int64 count (GPB_WANT_COUNT), uint64 and int64
 * of the 128-bit sum (GPB_WANT_SUM), int64 min and max (GPB_WANT_MINMAX), which compare
 * as in GpbColumnState; min > max if the column had no value.
 */
GPB_FN int
gpb_range_answer_width(uint8 want)
{
	return 8 + ((want & GPB_WANT_COUNT) ? 8 : 0) + ((want & GPB_WANT_SUM) ? 16 : 0) +
		((want & GPB_WANT_MINMAX) ? 16 : 0);
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

/* A piece of one range that the CPU has to do, see GpbUncleanLeaf */
typedef struct GpbUncleanPiece
{
	GpbRange	range;			/* already clipped to the leaf */
	uint32		block;
	uint32		number;			/* of the range in the request */
} GpbUncleanPiece;

/*
 * An entry that was listed or that must be checked in the heap: uint32 number of its range,
 * uint32 flags, then as a heap entry of an aggregate: 8 bytes of key, the row, padded to 8.
 */
#define GPB_RANGE_ENTRY_VISIBLE	0x01	/* all-visible by the map: no heap visit */

GPB_FN int
gpb_range_entry_width(int row_width)
{
	return 8 + gpb_heap_entry_width(row_width);
}

typedef struct GpbRangesResult
{
	uint64		leaves;			/* leaf visits by the device */
	uint64		unclean;		/* GpbUncleanPiece records to fetch, by number, then
								 * key order; one for each leaf of each range */
	uint64		entries;		/* range entries to fetch: without list_entries those to
								 * be checked in the heap, sorted by TID; with it all, sorted by
								 * number of the range, then key order */
} GpbRangesResult;

#endif							/* GPB_RANGES_H */
