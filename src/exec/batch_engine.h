/*-------------------------------------------------------------------------
 *
 * batch_engine.h
 *	  Inside a batch: what the object and its engines share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BATCH_ENGINE_H
#define GPB_BATCH_ENGINE_H

#include "../leaf_aggregate.h"
#include "batch.h"
#include "heap_visit.h"
#include "visibility.h"

/*
 * An engine works on the run that the batch holds.  It adds entries with gpb_batch_add_visible and
 * gpb_batch_add_unknown.
 */
typedef struct GpbBatchEngine
{
	const char *name;

	/* Begin a run. */
	void		(*start) (GpbBatch *batch);

	/*
	 * Go on; true: all ranges are done, false: the list is full.  No lock is held on return, and no
	 * pin on a leaf.
	 */
	bool		(*fill) (GpbBatch *batch);

	/* Close what start and fill opened. */
	void		(*end) (GpbBatch *batch);
} GpbBatchEngine;

extern const GpbBatchEngine gpb_batch_cpu;
extern const GpbBatchEngine gpb_batch_scan;

/*
 * Leaves for n keys from elsewhere than the tree, such as a device that mirrors inner pages: for each
 * key, where a range that begins there begins, or to the left of that (rule M7).  false: not to be
 * had, look in the tree.
 */
typedef bool (*GpbFindLeaves) (GpbBatch *batch, const GpbNumberedKey *sorted, uint32 n,
							   uint32 *leaves);

struct GpbBatch
{
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;
	GpbBatchWant want;
	GpbAggregateSpec spec;		/* layout, wanted column, dead hints */
	MemoryContext context;
	Size		memory;			/* bytes of work_mem */
	GpbBatchCounters counters;

	/* the run */
	const GpbBatchEngine *engine;	/* NULL: none, or it has ended */
	const void *input;
	uint32		n;
	GpbRangeAnswer *answers;	/* NULL: all to total */
	GpbRangeAnswer total;

	GpbFindLeaves find_leaves;	/* for the engine "CPU"; NULL: it looks in the tree */

	/* the list */
	char	   *matches;
	int			match_width;
	uint64		nmatches;
	uint64		nunknown;		/* of those, to be checked in the heap */
	uint64		most_matches;

	GpbHeapVisit *visit;		/* NULL until first needed */
	uint64		visited;		/* its count when last looked at */
	void	   *state;			/* the engine's; NULL when it has ended */
};

/* The range number i of the input */
static inline GpbKeyRange
gpb_batch_range(const GpbBatch *batch, uint32 i)
{
	GpbKeyRange keys;

	if (!batch->want.points)
		return ((const GpbKeyRange *) batch->input)[i];
	keys.lo = keys.hi = ((const uint64 *) batch->input)[i];
	return keys;
}

/* Where entries of range i are aggregated */
static inline GpbRangeAnswer *
gpb_batch_answer(GpbBatch *batch, uint32 i)
{
	return batch->answers != NULL ? &batch->answers[i] : &batch->total;
}

static inline bool
gpb_batch_list_full(const GpbBatch *batch)
{
	return batch->want.list && batch->nmatches == batch->most_matches;
}

/*
 * Add an entry of range i: one that is visible, or, if heap_rows is wanted, may be; a list must
 * not be full.
 */
extern void gpb_batch_add_visible(GpbBatch *batch, uint32 i, uint64 key, const char *row);
/*
 * Add one that the heap must decide about (rule M6); the heap may be visited, so no buffer lock may be
 * held.
 */
extern void gpb_batch_add_unknown(GpbBatch *batch, uint32 i, uint64 key, const char *row);

#endif							/* GPB_BATCH_ENGINE_H */
