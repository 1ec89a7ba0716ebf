/*-------------------------------------------------------------------------
 *
 * groups.c
 *	  The groups of an index with several key columns, and the ranges of what is wanted in each.
 *
 * From one group to the next the tree is descended, unless the next one begins on the same leaf.
 * An entry that stays in the index lies at any moment on the leaf that covers it.  So of each leaf
 * that a descent comes to, what is said holds under its lock: between the bound looked for and the
 * first entry found there is none, or none before the leaf's high key, where the search goes on.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"

#include "hold.h"
#include "index/groups.h"

/* Groups of one leaf that are found under one lock */
#define GPB_GROUPS_AT_ONCE	64

/* Where a walk from group to group is */
typedef struct GpbGroupsWalk
{
	Relation	index;
	const GpbColumnSets *sets;
	int			prefix;
	GpbKey		behind;			/* the bits behind the prefix */
	GpbKey		greatest;		/* the greatest key that the columns can make */
	GpbBound	next;			/* the next group is looked for from here on */
	bool		finished;		/* there is no next group */
	int			nfound;
	GpbKey		found[GPB_GROUPS_AT_ONCE];	/* the least keys of groups */
} GpbGroupsWalk;

/* Have the next group looked for from the bound on, or from where the conditions admit one. */
static void
look_from(GpbGroupsWalk *walk, GpbBound bound)
{
	GpbKey		key = bound.key;

	walk->next = bound;
	if (key > walk->greatest || !gpb_fields_next(walk->sets, walk->prefix, &key))
		walk->finished = true;
	else if (key > bound.key)
		walk->next = (GpbBound) {key, 0};
}

/* Take note of an entry's group, if the conditions admit it, and look for the next one. */
static void
take_group(GpbGroupsWalk *walk, GpbBound entry)
{
	GpbKey		last = entry.key | walk->behind;

	look_from(walk, entry);
	if (walk->finished || gpb_bound_less(entry, walk->next))
		return;
	walk->found[walk->nfound++] = entry.key & ~walk->behind;
	if (last >= walk->greatest)
		walk->finished = true;
	else
		look_from(walk, (GpbBound) {last + 1, 0});
}

/* Find the groups that begin on a locked leaf, which covers the bound looked for. */
static void
find_on_leaf(GpbGroupsWalk *walk, Buffer buffer)
{
	const GpbLayout *layout = walk->sets->layout;
	Page		page = BufferGetPage(buffer);
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	GpbBound	high = gpb_page_high(page);

	while (!walk->finished && walk->nfound < GPB_GROUPS_AT_ONCE &&
		   gpb_bound_less(walk->next, high))
	{
		int			position = gpb_page_lower_bound(page, layout->key_width, row_width,
													count, walk->next);
		GpbBound	entry;

		if (position == count)
		{
			walk->finished = gpb_special(page)->right == GPB_NO_BLOCK;
			if (!walk->finished)
				look_from(walk, high);
			return;
		}
		entry = gpb_page_bound(page, layout->key_width, row_width, position);
		/* The walk goes on behind the entry, and must not meet it again. */
		if (gpb_bound_less(entry, walk->next) || !gpb_bound_less(entry, high))
			gpb_corrupted(walk->index, BufferGetBlockNumber(buffer), "entries are out of order");
		take_group(walk, entry);
	}
}

/* Find the next groups, all on one leaf; false if there are no more. */
static bool
find_groups(GpbGroupsWalk *walk, GpbGroupCounters *counters)
{
	walk->nfound = 0;
	while (walk->nfound == 0 && !walk->finished)
	{
		Buffer		buffer;

		CHECK_FOR_INTERRUPTS();
		buffer = gpb_search(walk->index, walk->sets->layout, walk->next, BUFFER_LOCK_SHARE, NULL);
		counters->descents++;
		find_on_leaf(walk, buffer);
		UnlockReleaseBuffer(buffer);
		GPB_HOLD(counters->descents == 4 ? "skip-fourth-search" : "skip-search");
	}
	counters->groups += walk->nfound;
	return walk->nfound > 0;
}

bool
gpb_group_ranges(Relation index, const GpbColumnSets *sets, int prefix, uint32 most,
				 GpbRangeSet *set, GpbGroupCounters *counters)
{
	const GpbKeyColumn *key = sets->layout->key;
	GpbGroupsWalk walk = {index, sets, prefix};

	Assert(prefix > 0 && prefix < sets->layout->nkeys);
	walk.behind = gpb_field_ones(key[prefix].shift + key[prefix].bits);
	walk.greatest = gpb_field_ones(key[0].shift + key[0].bits);
	look_from(&walk, GPB_BOUND_MIN);
	while (find_groups(&walk, counters))
	{
		for (int i = 0; i < walk.nfound; i++)
		{
			if (!gpb_column_ranges_of_group(sets, prefix, walk.found[i], most, set))
				return false;
		}
	}
	return true;
}
