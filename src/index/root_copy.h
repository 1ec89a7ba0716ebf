/*-------------------------------------------------------------------------
 *
 * root_copy.h
 *	  Copies of roots, which this process keeps for its look-ups.
 *
 * All processes that look something up begin at the root, and each writes four times to the two
 * cache lines that say who has pinned it and locked it.  A look-up that begins with a copy of the
 * root neither pins nor locks it.  A copy may be old: whoever follows its links tests the page that
 * they lead to (rule M7).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ROOT_COPY_H
#define GPB_ROOT_COPY_H

#include "page/page.h"

typedef struct GpbRootCopy
{
	uint64		owner;			/* number of the GpbRelCache of the root's index; 0: of none */
	BlockNumber block;
	PGAlignedBlock page;		/* as it was when it was alone on its level, which is above 0 */
} GpbRootCopy;

/* The copy of the root of the index that has this cache, or NULL */
extern const GpbRootCopy *gpb_root_copy(const GpbRelCache *cache);

/*
 * A look-up has read the root itself, which is locked.  Copy it, if it is an inner page, alone on
 * its level, and enough look-ups have been here to pay for that.
 */
extern void gpb_root_copy_consider(GpbRelCache *cache, Buffer root);

/* Forget the copy, which led astray. */
extern void gpb_root_copy_drop(GpbRelCache *cache);

#endif							/* GPB_ROOT_COPY_H */
