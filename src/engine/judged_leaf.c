/*-------------------------------------------------------------------------
 *
 * judged_leaf.c
 *	  Which entries of a leaf a list wants, by its program.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "engine/judged_leaf.h"

/* Pick the entries of the hits, which ascend by where they begin, each once though hits overlap. */
static GpbLeafPick
pick_hits(GpbJudgedLeaf *leaf, const GpbWalkHit *hits, int n)
{
	GpbLeafPick pick = {leaf->at, 0, 0};
	int			end = 0;
	int			i;

	if (n == 1)
	{
		pick.at = NULL;
		pick.first = hits[0].from;
		pick.n = hits[0].to - hits[0].from;
		return pick;
	}
	for (i = 0; i < n; i++)
	{
		int			at;

		for (at = Max(hits[i].from, end); at < hits[i].to; at++)
			leaf->at[pick.n++] = (uint16) at;
		end = Max(end, hits[i].to);
	}
	return pick;
}

/* Drop the picked entries that are behind the limit's last one. */
static void
drop_behind(const GpbListBest *best, GpbJudgedLeaf *leaf, const GpbLeafPick *pick)
{
	int			i;

	for (i = 0; i < pick->n; i++)
	{
		int			at = gpb_pick_position(pick, i, pick->at == NULL);

		if (leaf->judged[at] != GPB_JUDGED_DROPPED && gpb_best_is_behind(best, leaf->rank[at]))
			leaf->judged[at] = GPB_JUDGED_DROPPED;
	}
}

int
gpb_judge_hits(const GpbListing *listing, GpbJudgedLeaf *leaf, const char *page,
			   const GpbWalkHit *hits, int n, bool all)
{
	GpbWalkHit	every = {0, 0, (uint16) gpb_page_count(page)};
	GpbLeafPick pick;
	int			wanted = 0;
	int			first;
	int			end;
	int			i;

	if (all)
	{
		hits = &every;
		n = 1;
	}
	pick = pick_hits(leaf, hits, n);
	if (gpb_judge_leaf(listing->evaluator, page, &pick, leaf->judged, leaf->rank) == 0)
		return 0;
	if (listing->limited)
		drop_behind(&listing->best, leaf, &pick);
	for (i = 0; i < n; i++)
	{
		for (end = hits[i].from; gpb_judged_stretch(leaf, end, hits[i].to, &first, &end);)
			wanted += end - first;
	}
	return wanted;
}

/* Have an entry count for the limit, if it is not behind it; each entry once. */
static inline void
count_entry(GpbListBest *best, GpbJudgedLeaf *leaf, int at)
{
	if (leaf->judged[at] != GPB_JUDGED_LISTED || gpb_best_is_behind(best, leaf->rank[at]))
		return;
	gpb_best_add(best, leaf->rank[at]);
	leaf->judged[at] = GPB_JUDGED_COUNTED;
}

/*
 * From the better end on, if there is one: then most of the others are behind at once, and never
 * move a rank.  Dropped entries have no rank, so the ends say nothing sure.
 */
void
gpb_judged_count(GpbListing *listing, GpbJudgedLeaf *leaf, const GpbWalkHit *hits, int n)
{
	GpbListBest *best = &listing->best;
	int			i;
	int			at;

	for (i = 0; i < n; i++)
	{
		int			from = hits[i].from;
		int			to = hits[i].to;

		while (from < to && leaf->judged[from] == GPB_JUDGED_DROPPED)
			from++;
		while (from < to && leaf->judged[to - 1] == GPB_JUDGED_DROPPED)
			to--;
		if (from < to && leaf->rank[to - 1] < leaf->rank[from])
		{
			for (at = to; at-- > from;)
				count_entry(best, leaf, at);
		}
		else
		{
			for (at = from; at < to; at++)
				count_entry(best, leaf, at);
		}
		for (at = from; at < to; at++)
		{
			if (gpb_best_is_behind(best, leaf->rank[at]))
				leaf->judged[at] = GPB_JUDGED_DROPPED;
		}
	}
}
