/*-------------------------------------------------------------------------
 *
 * bucket_cut.h
 *	  Cutting a range of keys into the buckets of a function.
 *
 * All in the order of the index: ranges come by ascending normalized keys, so in a descending index those of greater
 * values come first.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BUCKET_CUT_H
#define GPB_BUCKET_CUT_H

#include "postgres.h"
#include "utils/relcache.h"

#include "index/index.h"
#include "ranges.h"
#include "exec/bucket/bucket_function.h"

/* How the keys that are there must be cut */
typedef enum GpbCutMode
{
	GPB_CUT_IN_ORDER,			/* results come in order */
	GPB_CUT_SORTED,				/* they may not: their ranges are to be sorted by the function's results */
	GPB_CUT_UNSAFE				/* results are NULL: only of keys outside the safe interval is it asked whether they raise an error */
} GpbCutMode;

typedef struct GpbBucketCut
{
	Relation	index;
	GpbLayout	layout;
	GpbBucketFunction *function;
	const GpbBucketOrder *order;
	GpbCutMode	mode;
	uint64		next;			/* first key that is in no range yet */
	uint64		end;			/* last key */
	bool		done;
	uint64		safe_first;		/* the safe interval, as normalized keys; empty if first > last */
	uint64		safe_last;
	const int64 *boundaries;
	int			nboundaries;

	/* the last end of a bucket that was found, and how many keys long the bucket was; 0: not known */
	uint64		bucket_end;
	uint64		width;
} GpbBucketCut;

/* One range of keys */
typedef struct GpbBucketRange
{
	bool		empty;			/* there was no entry in it */
	uint64		key;			/* else one that has an entry */
	bool		known;			/* the function's result for it is known ... */
	int64		result;
	bool		complete;		/* ... and no other key in the range to be cut has the same */
} GpbBucketRange;

/*
 * Begin to cut.  The function has its arguments, and is not silent.  The snapshot that the ranges are for was taken before: entries that it sees are
 * met, others may be.  Looks whether results come in order.
 */
extern void gpb_cut_begin(GpbBucketCut *cut, Relation index, const GpbLayout *layout,
						  GpbBucketFunction *function, const GpbBucketOrder *order,
						  GpbKeyRange range);

/*
 * The next range; false if there are no more.  Together they cover the whole range without gaps, so that whoever reads
 * them all takes every predicate lock that a scan of it would; but with GPB_CUT_UNSAFE the safe interval is left out.  The function has one result for all keys of a range
 * that have an entry, for a range has many keys only where nothing is raised for any of them; whether it raises
 * an error for others is seen when it is asked.
 */
extern bool gpb_cut_next(GpbBucketCut *cut, GpbKeyRange *keys, GpbBucketRange *range);

#endif							/* GPB_BUCKET_CUT_H */
