/*-------------------------------------------------------------------------
 *
 * estimate.c
 *	  About how many entries a range has, from the inner pages of the tree.
 *
 * The page of level 1 where a range begins tells how many leaves lie between its ends, if the range
 * ends below that page too.  If not, so does the page above it, in units of pages of level 1, and
 * so on up to the root.  The pages on the way where the range begins serve as samples of how many
 * children a page has.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "utils/rel.h"

/* How full leaves are if nothing is known: between a build's and what random inserts leave */
#define GPB_ASSUMED_FILL		0.75

/*
 * With fewer whole children between the ends of a range, the child where the range ends is looked
 * at too, instead of being taken for half.
 */
#define GPB_FEW_CHILDREN		8

double
gpb_entries_per_leaf(Relation index, const GpbLayout *layout)
{
	double		capacity = gpb_page_capacity(layout->key_width, layout->row_width);
	double		tuples = index->rd_rel->reltuples;
	double		pages = index->rd_rel->relpages;

	/* Both are of the same moment, so their ratio holds also where the index has grown since. */
	if (tuples <= 0 || pages < 2)
		return capacity * GPB_ASSUMED_FILL;
	/* Leaves with runs may have more than others can. */
	if (layout->row_width == GPB_LOCATOR_WIDTH)
		capacity = GPB_MAX_LEAF_ENTRIES;
	return Max(Min(tuples / pages, capacity), 1.0);
}

/* The entries of a range that are on the leaf where it begins. */
static double
leaf_entries(Relation index, const GpbLayout *layout, GpbRange range)
{
	Buffer		buffer = gpb_search(index, layout, range.lo, BUFFER_LOCK_SHARE, NULL);
	Page		page = BufferGetPage(buffer);
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	int			from = gpb_page_lower_bound(page, layout->key_width, row_width, count, range.lo);
	int			to = gpb_page_lower_bound(page, layout->key_width, row_width, count, range.hi);

	UnlockReleaseBuffer(buffer);
	return Max(to - from, 0);
}

/* The number of children before the one that covers bound, on the page of that level. */
static int
children_before(Relation index, const GpbLayout *layout, GpbBound bound, uint32 level)
{
	Buffer		buffer = gpb_search_level(index, layout, bound, level, BUFFER_LOCK_SHARE);
	int			position = gpb_child_position(layout, BufferGetPage(buffer), bound);

	UnlockReleaseBuffer(buffer);
	return position;
}

/* The leaves from the one where the range begins to the one where it ends, about. */
static double
estimate_leaves(Relation index, const GpbLayout *layout, GpbRange range, uint32 height)
{
	double		leaves = 0.0;
	double		under = 1.0;	/* leaves under a child of a page of this level */
	double		under_grandchild = 0.0;
	uint32		level;

	for (level = 1; level <= height; level++)
	{
		Buffer		buffer = gpb_search_level(index, layout, range.lo, level, BUFFER_LOCK_SHARE);
		Page		page = BufferGetPage(buffer);
		int			count = gpb_page_count(page);
		bool		ends = gpb_page_covers(page, range.hi);
		int			first = gpb_child_position(layout, page, range.lo);
		int			last = ends ? gpb_child_position(layout, page, range.hi) : count;
		int			between = last - first - 1;

		UnlockReleaseBuffer(buffer);
		/* The child where the range begins was counted on the level below, as far as it goes. */
		leaves += under * Max(level == 1 ? last - first : between, 0);
		if (ends)
		{
			if (level > 1 && between < GPB_FEW_CHILDREN)
				leaves += under_grandchild *
					children_before(index, layout, range.hi, level - 1);
			else if (level > 1)
				leaves += under / 2;
			break;
		}
		under_grandchild = under;
		under *= Max(count, 1);
	}
	return leaves;
}

double
gpb_estimate_entries(Relation index, const GpbLayout *layout, GpbRange range, bool narrow)
{
	uint32		height;
	double		leaves = 0.0;

	if (!gpb_bound_less(range.lo, range.hi))
		return 0.0;
	height = gpb_least_height(index, layout);
	if (height > 0)
		leaves = estimate_leaves(index, layout, range, height);
	if (height == 0 || (leaves < 1.0 && narrow))
		return leaf_entries(index, layout, range);
	return Max(leaves, 0.5) * gpb_entries_per_leaf(index, layout);
}
