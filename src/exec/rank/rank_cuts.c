/*-------------------------------------------------------------------------
 *
 * rank_cuts.c
 *	  Cutting a range of keys into parts of about as many entries each.
 *
 * The separators of one level of inner pages have about as many entries between neighbours.  The
 * level is the highest that has enough of them in the range, so that few pages are read; gaps that
 * are still wide are divided evenly by their keys.  A part may so be larger than others: then its
 * ranks take longer to find, no more.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "index/index.h"
#include "exec/rank/rank_find.h"

int			gpb_rank_parts = GPB_RANK_PARTS;

/*
 * With fewer separators of a level in the range than one for so many parts, the next level is read.
 * At most one page more than there are separators of it has a part in the range.
 */
#define GPB_PARTS_OF_SEPARATOR	32

/* The keys of separators within a range: ascending, none twice */
typedef struct GpbSeparatorKeys
{
	GpbKey	   *keys;
	uint32		n;
	uint32		capacity;
} GpbSeparatorKeys;

static void
separators_add(GpbSeparatorKeys *separators, GpbKey key)
{
	if (separators->n > 0 && separators->keys[separators->n - 1] == key)
		return;
	if (separators->n == separators->capacity)
	{
		separators->capacity *= 2;
		separators->keys = repalloc(separators->keys, sizeof(GpbKey) * separators->capacity);
	}
	separators->keys[separators->n++] = key;
}

/*
 * Collect the keys of the separators on one level that are in the range, but for its first key,
 * without the bits of "behind".
 * Returns the number of entries of the first page, which is the root's on its level.  Raises
 * ERRCODE_INDEX_CORRUPTED if separators do not ascend: parts would overlap.
 */
static int
read_separators(Relation index, const GpbLayout *layout, GpbKeyRange range, GpbKey behind,
				uint32 level, GpbSeparatorKeys *separators)
{
	GpbRange	bounds = gpb_key_range(range, layout->flags);	/* without NULL keys */
	Buffer		buffer = gpb_search_level(index, layout, bounds.lo, level, BUFFER_LOCK_SHARE);
	int			first = gpb_page_count(BufferGetPage(buffer));
	GpbKey		last = 0;
	GpbBound	met = bounds.lo;

	separators->n = 0;
	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		BlockNumber block = BufferGetBlockNumber(buffer);
		BlockNumber right = gpb_special(page)->right;
		GpbBound	high = gpb_page_high(page);
		int			count = gpb_page_count(page);
		int			i = 0;

		/* If a page between was deleted, this one begins before the last one's end. */
		if (gpb_bound_less(gpb_page_low(page), met))
			i = gpb_page_lower_bound(page, layout->key_width, GPB_INNER_ROW_WIDTH, count, met);
		met = high;
		for (; i < count; i++)
		{
			GpbKey		key = gpb_page_key(page, layout->key_width, i);

			if (key < last)
				gpb_corrupted(index, block, "entries are out of order");
			last = key;
			key &= ~behind;
			if (key > range.lo && key <= range.hi)
				separators_add(separators, key);
		}
		UnlockReleaseBuffer(buffer);
		if (right == GPB_NO_BLOCK || !gpb_bound_less(high, bounds.hi))
			return first;
		CHECK_FOR_INTERRUPTS();
		buffer = gpb_read_next(index, layout, block, right, InvalidBuffer, level, high);
	}
}

/*
 * Leave out separators, evenly, until there are no more than "most".  Returns how many times as
 * many there were.
 */
static double
thin_separators(GpbSeparatorKeys *separators, uint32 most)
{
	uint32		n = separators->n;
	uint32		i;

	if (n <= most)
		return 1.0;
	for (i = 0; i < most; i++)
		separators->keys[i] = separators->keys[(uint64) i * n / most];
	separators->n = most;
	return (double) n / most;
}

/*
 * The first key of the range that the index has, about, or the last.  It serves only to divide what
 * lies between: whatever is there by the time that parts are counted belongs to a part.
 */
static GpbKey
outermost_key(Relation index, const GpbLayout *layout, GpbKeyRange range, bool last)
{
	GpbRange	bounds = gpb_key_range(range, layout->flags);
	GpbBound	bound = last ? bounds.hi : bounds.lo;
	Buffer		buffer = gpb_search(index, layout, bound, BUFFER_LOCK_SHARE, NULL);
	Page		page = BufferGetPage(buffer);
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	int			i = gpb_page_lower_bound(page, layout->key_width, row_width, count, bound);
	GpbKey		key;

	if (last)
		key = i > 0 ? gpb_leaf_key(page, layout->key_width, row_width, i - 1) : range.hi;
	else
		key = i < count ? gpb_leaf_key(page, layout->key_width, row_width, i) :
			gpb_page_high(page).key;
	UnlockReleaseBuffer(buffer);
	return Min(Max(key, range.lo), range.hi);
}

/*
 * Add [lo, hi] in so many parts: [inner_lo, inner_hi], which is within, in parts of about equal
 * width in keys, and what is outside it with the first and the last of them.  lo and inner_lo have
 * no bits of "behind".
 */
static void
add_parts(GpbRankCuts *cuts, GpbKey lo, GpbKey hi, GpbKey inner_lo, GpbKey inner_hi,
		  GpbKey behind, uint32 pieces)
{
	GpbKey		width = (inner_hi - inner_lo) / pieces & ~behind;
	uint32		i;

	if (inner_lo > inner_hi || width == 0)
		pieces = 1;
	for (i = 1; i <= pieces; i++)
	{
		GpbKeyRange *part = &cuts->parts[cuts->n++];

		part->lo = lo;
		part->hi = i == pieces ? hi : (inner_lo + i * width) | behind;
		lo = part->hi + 1;
	}
}

/* Cut the range at the separators, and what is between two of them into so many parts. */
static void
cut_at_separators(Relation index, const GpbLayout *layout, GpbKeyRange range, GpbKey behind,
				  const GpbSeparatorKeys *separators, uint32 pieces, GpbRankCuts *cuts)
{
	GpbKey		lo = range.lo;
	GpbKey		first = range.lo;
	GpbKey		last = range.hi;
	uint32		i;

	if (pieces > 1)
	{
		/* what is asked for may reach far beyond what there is */
		first = outermost_key(index, layout, range, false) & ~behind;
		last = outermost_key(index, layout, range, true);
	}
	cuts->parts = palloc(sizeof(GpbKeyRange) * (separators->n + 1) * pieces);
	cuts->n = 0;
	for (i = 0; i < separators->n; i++)
	{
		GpbKey		hi = separators->keys[i] - 1;

		add_parts(cuts, lo, hi, Max(lo, first), hi, behind, pieces);
		lo = hi + 1;
	}
	add_parts(cuts, lo, range.hi, Max(lo, first), last, behind, pieces);
}

void
gpb_rank_cut(Relation index, const GpbLayout *layout, GpbKeyRange range, GpbKey behind,
			 uint32 parts, GpbRankCuts *cuts)
{
	GpbSeparatorKeys separators = {0};
	double		leaves = 1.0;	/* below a separator of the level read */
	uint32		pieces = 1;
	uint32		level = 0;
	uint32		root_level;

	gpb_root_level(index, layout, &root_level);
	if (range.hi - range.lo > behind && root_level > 0)
	{
		double		fan_out = 1.0;

		separators.capacity = 1024;
		separators.keys = palloc(sizeof(GpbKey) * separators.capacity);
		for (level = root_level; level > 0; level--)
		{
			int			count = read_separators(index, layout, range, behind, level,
												&separators);

			if (level == root_level && level > 1)
			{
				double		below = RelationGetNumberOfBlocks(index) / (double) Max(count, 1);

				fan_out = Max(pow(below, 1.0 / (level - 1)), 1.0);
			}
			if (level == 1 || separators.n >= parts / GPB_PARTS_OF_SEPARATOR)
				break;
		}
		leaves = pow(fan_out, level - 1);
	}

	leaves *= thin_separators(&separators, 2 * parts - 1);
	if (level > 1)
		pieces = Max(parts / (separators.n + 1), 1);
	cuts->leaves = leaves / pieces;
	cut_at_separators(index, layout, range, behind, &separators, pieces, cuts);
	if (separators.keys != NULL)
		pfree(separators.keys);
}

/* ---- several indexes ---- */

#define ST_SORT sort_keys
#define ST_ELEMENT_TYPE GpbKey
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

/* Make parts that begin at these keys, in any order, and at the range's first one. */
static void
parts_at(GpbKeyRange range, GpbKey *keys, uint32 n, GpbRankCuts *cuts)
{
	sort_keys(keys, n);
	cuts->parts = palloc(sizeof(GpbKeyRange) * (n + 1));
	cuts->parts[0] = range;
	cuts->n = 1;
	for (uint32 i = 0; i < n; i++)
	{
		if (keys[i] == cuts->parts[cuts->n - 1].lo)
			continue;
		cuts->parts[cuts->n - 1].hi = keys[i] - 1;
		cuts->parts[cuts->n++] = (GpbKeyRange) {keys[i], range.hi};
	}
}

void
gpb_rank_cut_several(const Relation *indexes, int n, const GpbLayout *layout, GpbKeyRange range,
					 GpbKey behind, uint32 parts, GpbRankCuts *cuts)
{
	uint32		each = Max(parts / Max(n, 1), 1);
	GpbKey	   *keys = palloc(sizeof(GpbKey) * 2 * each * Max(n, 1));
	double		leaves = 0.0;
	uint32		nkeys = 0;

	for (int i = 0; i < n; i++)
	{
		GpbRankCuts own;

		gpb_rank_cut(indexes[i], layout, range, behind, each, &own);
		leaves += own.leaves * own.n;
		for (uint32 part = 1; part < own.n; part++)
			keys[nkeys++] = own.parts[part].lo;
		pfree(own.parts);
	}
	parts_at(range, keys, nkeys, cuts);
	cuts->leaves = leaves / cuts->n;
	pfree(keys);
}
