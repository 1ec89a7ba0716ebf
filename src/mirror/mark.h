/*-------------------------------------------------------------------------
 *
 * mark.h
 *	  What the index tells the mirror: this block changes, this file is built anew.
 *
 * The only header of the mirror that the index includes.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_MARK_H
#define GPB_MARK_H

#include "compat.h"

#include "storage/block.h"

#define GPB_NOT_MIRRORED	(-1)

/*
 * The first registry slot that mirrors this file, or GPB_NOT_MIRRORED.  Lock-free.  Never call it
 * for a temporary relation.
 */
extern int	gpb_mirror_find(const RelFileNode *file);

/*
 * Mark a block of a file changed, in each mirror of it.  To be called while holding the exclusive
 * lock of the page, which is about to change, or has changed (rule M2).  Lock-free, bounded,
 * allocates nothing: fit for a critical section.  Where there is a mirror, a full barrier on both
 * sides.  Never call it for a temporary relation.
 */
extern void gpb_mirror_mark(const RelFileNode *file, BlockNumber block);

/*
 * Count a deletion of pages that is replayed, of any index; how many there were.  For
 * gpubtree_check, which cannot keep replay from it.
 */
extern void gpb_note_unlink(void);
extern uint64 gpb_unlinks_noted(void);

/* Discard any mirror of this file: it is being built anew (rule M1). */
extern void gpb_mirror_forget(const RelFileNode *file);

#endif							/* GPB_MARK_H */
