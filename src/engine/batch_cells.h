/*-------------------------------------------------------------------------
 *
 * batch_cells.h
 *	  What the CPU engine does with cells of leaves (rule M14).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BATCH_CELLS_H
#define GPB_BATCH_CELLS_H

#include "engine/batch_engine.h"
#include "engine/leaf_cells.h"
#include "index/walk.h"

/*
 * Pass by the leaves that come after this link of the walk, as far as their cells hold, and add
 * what they have to the answers of the ranges that the walk is in.  No page may be locked;
 * "settled" has begun.
 */
extern void gpb_batch_pass_leaves(GpbBatch *batch, GpbCellReader *cells, GpbWalk *walk,
								  const GpbWalkLink *at, GpbVisibility *visibility,
								  GpbSettledReader *settled);

/*
 * Add all of the leaf in this buffer, which is locked, to the ranges of its hits, and record it, if
 * that is of use to later readers.  All hits' entries are seen, and the leaf has no dead hints.
 * Returns false, with nothing added, if it is not to be recorded, or if a hit has not all entries.
 */
extern bool gpb_batch_record_leaf(GpbBatch *batch, GpbCellReader *cells, Buffer buffer,
								  const GpbWalkHit *hits, int nhits);

/*
 * Does no entry of the leaf in this buffer, which is locked, pass the filters of the program?  The
 * leaf is recorded, if that is of use to later readers, and only then it may be known.
 */
extern bool gpb_batch_none_passes(GpbBatch *batch, GpbCellReader *cells, Buffer buffer);

#endif							/* GPB_BATCH_CELLS_H */
