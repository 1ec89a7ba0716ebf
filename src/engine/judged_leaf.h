/*-------------------------------------------------------------------------
 *
 * judged_leaf.h
 *	  Which entries of a leaf a list wants, by its program.
 *
 * The program is done for all hits of a leaf in one go, before anything is asked about the rows of
 * the entries: a filter may leave nothing to ask.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_JUDGED_LEAF_H
#define GPB_JUDGED_LEAF_H

#include "engine/batch_engine.h"

typedef struct GpbJudgedLeaf
{
	uint8		judged[GPB_MAX_LEAF_ENTRIES];	/* GpbJudgement */
	uint64		rank[GPB_MAX_LEAF_ENTRIES]; /* of those that are not dropped */
	uint16		at[GPB_MAX_LEAF_ENTRIES];
} GpbJudgedLeaf;

/*
 * Judge the entries of n hits on a leaf, of which some may overlap; or, if "all" is set, all
 * entries of the leaf.  Those behind the limit's last one are dropped.  Returns how many are to be
 * listed, each counted for every hit that has it.
 *
 * The leaf may be locked.  The program is done once for each entry, as that of an aggregate is.
 */
extern int	gpb_judge_hits(const GpbListing *listing, GpbJudgedLeaf *leaf, const char *page,
						   const GpbWalkHit *hits, int n, bool all);

/*
 * Have the wanted entries of n hits, all of which are visible, count for the limit, and drop those
 * that are behind it then.  So few are listed of a leaf whose every next entry is better.
 */
extern void gpb_judged_count(GpbListing *listing, GpbJudgedLeaf *leaf, const GpbWalkHit *hits,
							 int n);

/*
 * Find the next entries of [from, to) that are wanted, one after the other: [*first, *end).
 * Returns false if there are none.
 */
static inline bool
gpb_judged_stretch(const GpbJudgedLeaf *leaf, int from, int to, int *first, int *end)
{
	const uint8 *judged = leaf->judged;
	uint64		eight;

	StaticAssertStmt(GPB_JUDGED_DROPPED == 0, "entries are skipped by words");
	for (; from + 8 <= to; from += 8)
	{
		memcpy(&eight, judged + from, sizeof(eight));
		if (eight != 0)
			break;
	}
	while (from < to && judged[from] == GPB_JUDGED_DROPPED)
		from++;
	*first = from;
	while (from < to && judged[from] != GPB_JUDGED_DROPPED)
		from++;
	*end = from;
	return *first < from;
}

#endif							/* GPB_JUDGED_LEAF_H */
