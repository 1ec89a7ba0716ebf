/*-------------------------------------------------------------------------
 *
 * seen_blocks.h
 *	  Are all rows of a stretch of heap blocks seen by a snapshot?
 *
 * They are where the map shows a block all-visible, or where a look finds it settled without a row
 * that is not seen (rule M11).  What was found is remembered, so that many who ask for the same
 * blocks, one after the other, cost one pass over the map.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SEEN_BLOCKS_H
#define GPB_SEEN_BLOCKS_H

#include "compat.h"

#include "engine/settled_pages.h"
#include "engine/visibility.h"

/* The stretches that are remembered: leaves lead to a few places of a table each */
#define GPB_SEEN_STRETCHES	4

typedef struct GpbSeenStretch
{
	uint64		first;
	uint64		end;			/* blocks [first, end) are seen */
} GpbSeenStretch;

typedef struct GpbSeenBlocks
{
	GpbSeenStretch stretch[GPB_SEEN_STRETCHES];
	uint32		last;			/* the stretch that was asked for last */
	uint32		turn;			/* the stretch that is forgotten next */
	uint64		unseen;			/* a block that is not all seen, or PG_UINT64_MAX */
	int32		looks;			/* how many heap pages may be looked at */
} GpbSeenBlocks;

typedef enum GpbSeen
{
	GPB_SEEN_ALL,
	GPB_SEEN_NOT_ALL,
	GPB_SEEN_LATER				/* not known yet: it would take more looks than there are */
} GpbSeen;

/* Nothing is known yet, and no looks are granted. */
extern void gpb_seen_begin(GpbSeenBlocks *seen);

/* Looks do not pile up beyond this. */
#define GPB_SEEN_LOOKS		1024

/* Grant some more looks. */
static inline void
gpb_seen_grant(GpbSeenBlocks *seen, int looks)
{
	seen->looks = Min(seen->looks + looks, GPB_SEEN_LOOKS);
}

/* Are these blocks within the stretch that was asked for last?  Then they are all seen. */
static inline bool
gpb_seen_lately(const GpbSeenBlocks *seen, BlockNumber first, BlockNumber last)
{
	const GpbSeenStretch *stretch = &seen->stretch[seen->last];

	return first >= stretch->first && last < stretch->end;
}

/* Is this block one that is known not to be all seen? */
static inline bool
gpb_seen_knows_unseen(const GpbSeenBlocks *seen, BlockNumber first, BlockNumber last)
{
	return seen->unseen >= first && seen->unseen <= last;
}

/*
 * Are all rows of heap blocks [first, last] seen, at some moment since gpb_seen_begin() for each of
 * them?  The map is read, so no lock may be held.  "settled" must have begun, with the snapshot.
 */
extern GpbSeen gpb_seen_blocks(GpbSeenBlocks *seen, GpbVisibility *visibility,
							   GpbSettledReader *settled, BlockNumber first, BlockNumber last);

#endif							/* GPB_SEEN_BLOCKS_H */
