/*-------------------------------------------------------------------------
 *
 * walk.h
 *	  Find the entries of many key ranges, leaf by leaf in key order.
 *
 * A walk visits each leaf that holds entries of the ranges once, from left to
 * right, and says what each range has there.  The caller reads the entries; see
 * src/index/README, "Walks".
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_WALK_H
#define GPB_WALK_H

#include "index/index.h"

#include "key_sort.h"
#include "ranges.h"

/* Entries [from, to) of a leaf belong to a range; there is at least one. */
typedef struct GpbWalkHit
{
	uint32		number;			/* of the range in its batch */
	uint16		from;
	uint16		to;
} GpbWalkHit;

/* Ranges that are looked at, and so hits that are given, at a time at most */
#define GPB_WALK_HITS	1024

typedef struct GpbWalkCounters
{
	uint64		leaves;			/* visits of leaves */
	uint64		right_moves;	/* of those, come to by a right link */
	uint64		stale_moves;	/* right moves because a range began to the right of where it was
								 * looked up */
	uint64		descents;		/* from the root, to a leaf or to level 1 */
} GpbWalkCounters;

typedef struct GpbWalk GpbWalk;

/*
 * A walk, without ranges yet.  layout is copied; *counters is added to.  The index stays open and locked, by
 * AccessShareLock at least, until the end.
 */
extern GpbWalk *gpb_walk_begin(Relation index, const GpbLayout *layout,
							   GpbWalkCounters *counters);

/*
 * Give it n closed ranges: lows has their lower ends, ascending, with the ranges' numbers; ranges
 * is indexed by number, NULL if every range is the one key that lows has.  A range with lo > hi
 * has no entries.  leaves, if not NULL, has for each of lows the leaf where it is, or one to
 * the left of that (rule M7), in the order of lows.  All three are the walk's until it has
 * ended or was given others.
 */
extern void gpb_walk_start(GpbWalk *walk, const GpbNumberedKey *lows,
						   const GpbKeyRange *ranges, const uint32 *leaves, uint32 n);

/*
 * The same for n pieces of ranges that another engine left over, half-open ranges of (key, tie): lows has for each
 * piece the key where it begins and the range's number, pieces the pieces themselves in the same
 * order, ascending by (key, tie).
 */
extern void gpb_walk_start_pieces(GpbWalk *walk, const GpbNumberedKey *lows,
								  const GpbUncleanPiece *pieces, uint32 n);

/*
 * Go to the next leaf, pinned and locked share; the caller releases it before the next
 * call.  false: there are no more.  Ranges may turn out to have nothing on the leaf.  No page may be
 * locked.  Raises ERRCODE_INDEX_CORRUPTED on a damaged page or link.
 */
extern bool gpb_walk_leaf(GpbWalk *walk, Buffer *buffer);

/*
 * The next hits on that leaf, of at most GPB_WALK_HITS ranges; their number is returned.  page is the
 * locked leaf or a copy of it, as it was when gpb_walk_leaf returned it.  The hits stay valid until the
 * next call.  *more: to be called again, before the next gpb_walk_leaf.
 */
extern int	gpb_walk_hits(GpbWalk *walk, const char *page, const GpbWalkHit **hits, bool *more);

extern void gpb_walk_end(GpbWalk *walk);

#endif							/* GPB_WALK_H */
