/*-------------------------------------------------------------------------
 *
 * walk.h
 *	  Find the entries of many key ranges, leaf by leaf in key order.
 *
 * A walk visits each leaf that holds entries of the ranges once, from left to right, and says what
 * each range has there.  The caller reads the entries; see src/index/README, "Walks".
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_WALK_H
#define GPB_WALK_H

#include "index/index.h"

#include "key_sort.h"
#include "program/ranges.h"

/* Entries [from, to) of a leaf belong to a range; there is at least one of them. */
typedef struct GpbWalkHit
{
	uint32		number;			/* the range's number in its batch */
	uint16		from;
	uint16		to;
} GpbWalkHit;

/* The most ranges that one call looks at, and so the most hits that it returns */
#define GPB_WALK_HITS	1024

typedef struct GpbWalkCounters
{
	uint64		leaves;			/* visits of leaves */
	uint64		right_moves;	/* visits of leaves to which a right link led */
	uint64		stale_moves;	/* right links followed because a range began to the right of the
								 * leaf that was looked up for it */
	uint64		descents;		/* descents from the root, to a leaf or to level 1 */
} GpbWalkCounters;

typedef struct GpbWalk GpbWalk;

/*
 * Begin a walk that has no ranges yet.  layout is copied; what the walk does is added to *counters.
 * The index must stay open and locked, by AccessShareLock at least, until the walk ends.
 */
extern GpbWalk *gpb_walk_begin(Relation index, const GpbLayout *layout,
							   GpbWalkCounters *counters);

/*
 * Give the walk n closed ranges.  lows has their lower ends, ascending, with the ranges' numbers.
 * ranges is indexed by number; it is NULL if every range is the one key that lows has.  A range
 * with lo > hi has no entries.  leaves, if not NULL, has for each of lows, in their order, the leaf
 * where it is, or one to the left of that (rule M7).  All three arrays belong to the walk until it
 * has ended or was given other ranges.
 */
extern void gpb_walk_start(GpbWalk *walk, GpbNumberedKeys lows,
						   const GpbKeyRange *ranges, const uint32 *leaves, uint32 n);

/*
 * Give the walk n pieces of ranges that another engine left over, half-open ranges of (key, tie).
 * pieces has them ascending by (key, tie); lows has for each piece, in the same order, the key
 * where it begins and the range's number.  Both arrays belong to the walk until it has ended or was
 * given other ranges.
 */
extern void gpb_walk_start_pieces(GpbWalk *walk, GpbNumberedKeys lows,
								  const GpbPiece *pieces, uint32 n);

/*
 * Go to the next leaf, which is pinned and locked share on return; the caller releases it before
 * the next call.  Returns false if there are no more leaves.  Ranges may turn out to have nothing
 * on the leaf.  No page may be locked on entry.  Raises ERRCODE_INDEX_CORRUPTED on a damaged page
 * or link.
 */
extern bool gpb_walk_leaf(GpbWalk *walk, Buffer *buffer);

/*
 * Get the next hits on that leaf, of at most GPB_WALK_HITS ranges; returns their number.  page is
 * the locked leaf, or a copy of it as it was when gpb_walk_leaf() returned it.  The hits stay valid
 * until the next call.  *more tells whether to call this again before the next gpb_walk_leaf().
 */
extern int	gpb_walk_hits(GpbWalk *walk, const char *page, const GpbWalkHit **hits, bool *more);

/*
 * Where the leaf is to which the walk will go next by a right link, as far as that is known after
 * the last hits; else NULL.  The page is not pinned: it may be prefetched, no more.
 */
extern const char *gpb_walk_next_page(const GpbWalk *walk);

/*
 * The leaf to which the walk goes next by a right link, for the sake of ranges that have begun,
 * when all hits on the last leaf were returned.
 */
typedef struct GpbWalkLink
{
	BlockNumber block;			/* the leaf */
	GpbBound	low;			/* where it begins, unless the link is out of date */
	GpbBound	end;			/* up to here the ranges are the same: none ends or begins */
} GpbWalkLink;

/*
 * Get that link.  Returns false if there is none, or if ranges end or begin so soon that there is
 * no use in anything but to visit the leaves: some few of them, as far as the level above tells.
 */
extern bool gpb_walk_link(GpbWalk *walk, GpbWalkLink *link);

/* Number of ranges that have begun and not ended, and the number of the i-th in the batch */
extern uint32 gpb_walk_active(const GpbWalk *walk);
extern uint32 gpb_walk_active_number(const GpbWalk *walk, uint32 i);

/*
 * The caller has done, without a visit, the leaves from that link on to this block, which has this
 * right link and this high key and was in this buffer; it does not end behind link->end.  The walk
 * goes on as if it had visited them.
 */
extern void gpb_walk_passed(GpbWalk *walk, BlockNumber block, Buffer buffer, BlockNumber right,
							GpbBound high);

/*
 * Find the leaves from this bound on, at most "most" of them, as one page of the level above has
 * them.  Some may not be there any more, and others be missing.  Returns their number.  No page may
 * be locked.
 */
extern int	gpb_walk_leaves_ahead(GpbWalk *walk, GpbBound bound, BlockNumber *leaves, int most);

/*
 * What is left of the pieces behind the last leaf, all of whose hits were returned.  There is room
 * in rest for as many ranges as the walk has pieces.  Returns their number.
 */
extern int	gpb_walk_rest(const GpbWalk *walk, GpbRange *rest);

extern void gpb_walk_end(GpbWalk *walk);

#endif							/* GPB_WALK_H */
