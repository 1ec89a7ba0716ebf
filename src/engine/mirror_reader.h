/*-------------------------------------------------------------------------
 *
 * mirror_reader.h
 *	  The order of a reader of a mirror (rule M5), step by step.
 *
 * The order is: snapshot, refresh, epoch, visible blocks, submit, with a full barrier between each.
 * The caller holds a registered MVCC snapshot, and takes the steps in the order in which they stand
 * here.  Each may say that the mirror cannot be had; then the CPU answers.  No buffer lock, pin or
 * LWLock may be held (rule M9).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_MIRROR_READER_H
#define GPB_MIRROR_READER_H

#include "engine/visible_blocks.h"
#include "mirror/mirror.h"

/*
 * Is the index cut, or to be cut, into pieces?  Then *cut says how, and each range may be asked of
 * its piece.  Raises ERRCODE_INDEX_CORRUPTED.
 */
extern bool gpb_reader_cut(Relation index, const GpbLayout *layout, TimestampTz keep_since,
						   GpbMirrorCut *cut);

/*
 * Bring the mirror of all pages of the index, or its pieces, up to date; what is not there is made,
 * and other mirrors make room for it.  *blocks becomes the number of blocks copied.  Returns false
 * if there is no such mirror, or a range of the cut has no piece.
 */
extern bool gpb_reader_fill(Relation index, const GpbLayout *layout, uint64 *blocks);

/*
 * Attach to the mirror of the index, as gpb_mirror_attach_beside() does, or, if "piece" is not
 * NULL, to the piece that has this range of a cut, and bring it up to date.
 * The pages copied are added to *blocks.  Returns false if the mirror cannot be had.
 */
extern bool gpb_reader_refresh(Relation index, const GpbLayout *layout, const GpbRange *piece,
							   TimestampTz keep_since, GpbMirrorRef *ref, uint64 *blocks);

/* Read the epoch that goes with the request.  Returns 0 if the mirror was lost. */
extern uint64 gpb_reader_epoch(const GpbMirrorRef *ref);

/*
 * Bits are shared where they, with the exceptions, are no more than so many bytes; those of larger
 * tables are sent, a part at a time.
 */
extern int	gpb_shared_bits;

/*
 * Make the bits of all visible blocks, and let the request's ranges be answered by them and their
 * exceptions: by equal bits that are shared with other requests, else by bits that are sent.
 * *visible was begun after the epoch was read.  Blocks at or beyond its heap_blocks count as not
 * all-visible.  Returns false if the mirror was lost.
 */
extern bool gpb_reader_visibility(GpbRequest *request, GpbVisibleBlocks *visible);

#endif							/* GPB_MIRROR_READER_H */
