/*-------------------------------------------------------------------------
 *
 * bucket_cut.h
 *	  Cutting a range of keys into the buckets of a function.
 *
 * All is in the order of the index: ranges come by ascending normalized keys, so in a descending
 * index ranges of greater values come first.  Backward, all is in the reverse order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BUCKET_CUT_H
#define GPB_BUCKET_CUT_H

#include "postgres.h"
#include "utils/relcache.h"

#include "index/column_ranges.h"
#include "index/index.h"
#include "program/ranges.h"
#include "exec/bucket/bucket_function.h"

/* How the keys that are there must be cut */
typedef enum GpbCutMode
{
	GPB_CUT_IN_ORDER,			/* results come in the order of keys */
	GPB_CUT_SORTED,				/* results may come in another order, so that ranges are to be
								 * sorted by result */
	GPB_CUT_UNSAFE				/* results are NULL, and only keys outside the safe interval are of
								 * interest: an error may be raised for them */
} GpbCutMode;

typedef struct GpbBucketCut
{
	Relation	index;
	GpbLayout	index_layout;
	GpbLayout	layout;			/* of keys of the column alone */
	GpbLoneColumn lone;			/* the column */
	GpbKey		prefix;			/* of all keys: the fields of the columns before it */
	GpbBucketFunction *function;
	const GpbBucketOrder *order;
	GpbCutMode	mode;
	bool		backward;

	/*
	 * What follows are places: normalized keys of the column alone, or backward their complements,
	 * so that ranges come by ascending places.
	 */
	uint64		next;			/* first place that is in no range yet */
	uint64		end;			/* last place */
	uint64		last_entry;		/* no entry that the snapshot sees is after it */
	bool		done;
	uint64		safe_first;		/* the safe interval; empty if first > last */
	uint64		safe_last;
	const int64 *boundaries;
	int			nboundaries;

	/*
	 * the last end of a bucket that was found, and how many keys long the bucket was; 0: not known
	 */
	uint64		bucket_end;
	uint64		width;
} GpbBucketCut;

/* One range of keys */
typedef struct GpbBucketRange
{
	bool		empty;			/* no entry was found in it */
	uint64		key;			/* a key of the column alone, with an entry, unless empty */
	bool		known;			/* is the function's result for that key known? */
	int64		result;
	bool		complete;		/* is it known that no later range has the same result? */
} GpbBucketRange;

/*
 * Begin to cut a range of keys of the index, from its end if "backward", and look whether results
 * come in order.  They are cut by key column "column", and agree in those before it.  The function
 * has its arguments, with this order, which is not silent.  The snapshot that the ranges are for
 * was taken before: all entries that it sees are met, and others may be.
 */
extern void gpb_cut_begin(GpbBucketCut *cut, Relation index, const GpbLayout *layout,
						  int column, GpbBucketFunction *function, const GpbBucketOrder *order,
						  GpbKeyRange range, bool backward);

/*
 * Cut the next range, and fill in its keys and what is known of it; false if there are no more.
 *
 * Together the ranges cover the whole range without gaps, so that whoever reads them all takes
 * every predicate lock that a scan of it would; but with GPB_CUT_UNSAFE the safe interval is left
 * out.  The function has one result for all keys of a range that have an entry: a range has many
 * keys only where no error is raised for any of them.  Whether one is raised for a range of one key
 * shows when the function is called.
 */
extern bool gpb_cut_next(GpbBucketCut *cut, GpbKeyRange *keys, GpbBucketRange *range);

/*
 * The keys that the column alone has in a range of keys of the index, which is between two values
 * of the column; and the other way round, where a range without any is one with lo > hi
 */
extern GpbKeyRange gpb_cut_lone_keys(const GpbBucketCut *cut, GpbKeyRange keys);
extern GpbKeyRange gpb_cut_index_keys(const GpbBucketCut *cut, GpbKeyRange lone);

#endif							/* GPB_BUCKET_CUT_H */
