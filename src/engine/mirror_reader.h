/*-------------------------------------------------------------------------
 *
 * mirror_reader.h
 *	  The order of a reader of a mirror (rule M5), step by step.
 *
 * The order is: snapshot, refresh, epoch, visibility map, submit, with a full barrier between each.
 * The caller holds a registered MVCC snapshot, and takes the steps in the order in which they stand
 * here.  Each may say that the mirror cannot be had; then the CPU answers.  No buffer lock, pin or
 * LWLock may be held (rule M9).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_MIRROR_READER_H
#define GPB_MIRROR_READER_H

#include "mirror/mirror.h"

/*
 * Attach to the mirror of the index, and bring it up to date.  The pages copied are added to
 * *blocks.  Returns false if the mirror cannot be had.
 */
extern bool gpb_reader_refresh(Relation index, const GpbLayout *layout, GpbMirrorRef *ref,
							   uint64 *blocks);

/* Read the epoch that goes with the request.  Returns 0 if the mirror was lost. */
extern uint64 gpb_reader_epoch(const GpbMirrorRef *ref);

/*
 * Read the whole visibility map and send it for the request's ranges.  *heap_blocks becomes the
 * number of heap blocks that the map covers; those beyond count as not all-visible.  Returns false
 * if the mirror was lost.
 */
extern bool gpb_reader_visibility(GpbRequest *request, Relation heap, uint32 *heap_blocks);

#endif							/* GPB_MIRROR_READER_H */
