/*-------------------------------------------------------------------------
 *
 * leaf_queue.h
 *	  The leaves where the ranges of a scan begin, prefetched.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LEAF_QUEUE_H
#define GPB_LEAF_QUEUE_H

#include "index/index.h"

/* A scan of fewer ranges descends for each of them. */
#define GPB_QUEUE_LEAST_RANGES	16

typedef struct GpbLeafQueue GpbLeafQueue;

/*
 * Make a queue without leaves, in the current context.  index and layout must stay until the queue
 * is freed, by pfree().
 */
extern GpbLeafQueue *gpb_leaf_queue_create(Relation index, const GpbLayout *layout);

/*
 * Empty the queue, and make it that of a scan of these ranges, from the first to the last, or
 * backward.  The set must stay as it is.
 */
extern void gpb_leaf_queue_start(GpbLeafQueue *queue, const GpbRangeSet *set,
								 ScanDirection direction);

extern ScanDirection gpb_leaf_queue_direction(const GpbLeafQueue *queue);

/*
 * Find the leaf that covers where a range begins, or, backward, ends.  It is pinned and locked
 * share on return.  No page may be locked on entry.  Any range may be asked for.  It is fastest to
 * ask for ranges in order, for each the first one that lies beyond the leaf before.
 */
extern Buffer gpb_leaf_queue_find(GpbLeafQueue *queue, int range);

#endif							/* GPB_LEAF_QUEUE_H */
