/*-------------------------------------------------------------------------
 *
 * leaf_queue.h
 *	  The leaves where the ranges of a scan begin, asked for ahead of time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LEAF_QUEUE_H
#define GPB_LEAF_QUEUE_H

#include "index/index.h"

/* Scans of fewer ranges descend for each. */
#define GPB_QUEUE_LEAST_RANGES	16

typedef struct GpbLeafQueue GpbLeafQueue;

/* A queue without leaves, in the current context; index and layout stay until it is freed, by pfree. */
extern GpbLeafQueue *gpb_leaf_queue_create(Relation index, const GpbLayout *layout);

/*
 * Forget all leaves.  From now on it is about these ranges, from the first to the last, or backward; the set stays
 * as it is.
 */
extern void gpb_leaf_queue_start(GpbLeafQueue *queue, const GpbRangeSet *set,
								 ScanDirection direction);

extern ScanDirection gpb_leaf_queue_direction(const GpbLeafQueue *queue);

/*
 * The leaf that covers where a range begins, backward: ends; pinned and locked share.  No page may be locked.  Any range may
 * be asked for; it is fastest for those that follow, each the first that lies beyond the leaf before.
 */
extern Buffer gpb_leaf_queue_find(GpbLeafQueue *queue, int range);

#endif							/* GPB_LEAF_QUEUE_H */
