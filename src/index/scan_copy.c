/*-------------------------------------------------------------------------
 *
 * scan_copy.c
 *	  The entries of a leaf that a scan wants, copied from it.
 *
 *-------------------------------------------------------------------------
 */
#include "index/scan_copy.h"

#include "utils/memutils.h"

#include "key_search.h"

/*
 * Number of ranges that are searched in step, and of entries compared one by one in search of a
 * range's end
 */
#define GPB_SCAN_GROUP			64
#define GPB_SCAN_EQUAL			8

/* So many entries in a row that are hinted dead are left out of a copy; fewer are copied. */
#define GPB_SCAN_DEAD			16

/*
 * Append n entries to the copy.  They are given as on a page without runs: by the address of the
 * first key, and of the last row.
 */
static inline void
copy_append(GpbCopy *copy, const GpbLayout *layout, const char *keys,
			const char *last_row, int n)
{
	int			count = copy->count;

	memcpy(copy->bytes + count * layout->key_width, keys,
		   n * layout->key_width);
	copy->count = count + n;
	memcpy(unconstify(char *, gpb_copy_row(copy, layout->row_width,
										   copy->count - 1)),
		   last_row, n * layout->row_width);
}

/*
 * Make room for n more entries, in the memory context given.
 *
 * The room for what a page holds is enough for all that will be copied from one.  Spread out, the
 * entries of a leaf with runs may take more.
 */
static void
copy_reserve(GpbCopy *copy, const GpbLayout *layout, int n,
			 MemoryContext context)
{
	int			width = layout->key_width + layout->row_width;
	int			count = copy->count;
	char	   *bytes = copy->bytes;
	int			size = copy->size;

	if (likely((count + n) * width <= size))
		return;
	copy->size = (count + n) * width <= BLCKSZ ? BLCKSZ : GPB_MAX_LEAF_ENTRIES * width;
	Assert((count + n) * width <= copy->size);
	copy->bytes = MemoryContextAlloc(context, copy->size);
	copy->count = 0;
	if (count > 0)
		copy_append(copy, layout, bytes, bytes + size - count * layout->row_width, count);
	if (bytes != copy->small)
		pfree(bytes);
}

/* Write the keys of entries from "first" on; key_width is a constant. */
static pg_attribute_always_inline void
spread_keys(char *into, int key_width, Page page, int first, int n)
{
	GpbKeyReader reader = gpb_read_keys(page, key_width, GPB_RUN_ROW_WIDTH, first);

	for (int i = 0; i < n; i++)
	{
		GpbKey		key = gpb_next_key(&reader, key_width, GPB_RUN_ROW_WIDTH, first + i);

		memcpy(into + i * key_width, &key, key_width);
	}
}

/* Append n entries of a leaf with runs to the copy, which has room for them. */
static void
spread_entries(GpbCopy *copy, int key_width, Page page, int first, int n)
{
	char	   *keys = copy->bytes + copy->count * key_width;
	uint64	   *rows = (uint64 *) (copy->bytes + copy->size) - copy->count - 1;
	const char *row = gpb_page_row(page, GPB_RUN_ROW_WIDTH, first);

	if (key_width == 8)
		spread_keys(keys, 8, page, first, n);
	else if (key_width == 4)
		spread_keys(keys, 4, page, first, n);
	else
		spread_keys(keys, GPB_WIDE_KEY, page, first, n);
	for (int i = 0; i < n; i++)
		rows[-i] = gpb_stored_locator(row - i * GPB_RUN_ROW_WIDTH, GPB_RUN_ROW_WIDTH);
	copy->count += n;
}

/* Append entries [from, to) of a page to the copy.  Those of runs are spread out. */
static void
append_entries(GpbCopy *copy, const GpbLayout *layout, MemoryContext context, Page page, int from,
			   int to)
{
	int			key_width = layout->key_width;
	int			row_width = gpb_page_row_width(page);
	int			n = to - from;

	copy_reserve(copy, layout, n, context);
	if (likely(!gpb_has_runs(row_width)))
		copy_append(copy, layout, (char *) page + gpb_key_place(key_width, from),
					gpb_page_row(page, row_width, to - 1), n);
	else
		spread_entries(copy, key_width, page, from, n);
}

void
gpb_copy_assign(GpbCopy *target, const GpbCopy *source, const GpbLayout *layout,
				MemoryContext context)
{
	target->count = 0;
	copy_reserve(target, layout, source->count, context);
	if (source->count > 0)
		copy_append(target, layout, source->bytes,
					gpb_copy_row(source, layout->row_width, source->count - 1),
					source->count);
}

/* ---- ranges of a leaf ---- */

/*
 * Find the first position in [from, count) at or after the bound, which is usually very near
 * "from".
 */
static inline int
page_upper(Page page, const GpbLayout *layout, int from, int count,
		   GpbBound bound)
{
	int			width = layout->key_width;
	int			row_width = gpb_page_row_width(page);
	int			to = from;

	if (bound.tie != 0)
		return gpb_page_lower_bound(page, width, row_width, count, bound);

	/* As long as a key is below the bound's, ties do not matter. */
	while (!gpb_has_runs(row_width) && to < count && to < from + GPB_SCAN_EQUAL &&
		   gpb_page_key(page, width, to) < bound.key)
		to++;
	if (!gpb_has_runs(row_width) && to < from + GPB_SCAN_EQUAL)
		return to;
	if (bound.key > gpb_key_most(width))
		return count;
	return gpb_entries_below(page, width, row_width, count, bound.key);
}

/*
 * Find where n ranges begin on a page, n <= GPB_SCAN_GROUP, searching for them in step, and
 * prefetch their rows.  The ranges are those of an array's elements, whose keys fit the width of
 * the index's key.
 */
static void
search_ranges(const GpbLayout *layout, Page page, int count, const GpbRange *ranges, int n,
			  uint16 *from)
{
	int			row_width = gpb_page_row_width(page);
	GpbKey		keys[GPB_SCAN_GROUP];

	for (int i = 0; i < n; i++)
		keys[i] = ranges[i].lo.key;
	gpb_entries_below_many(page, layout->key_width, row_width, count, keys, n, from);
	for (int i = 0; i < n; i++)
	{
		/* Among entries with the bits of NULL keys, ties decide. */
		if (unlikely(ranges[i].lo.tie != 0))
			from[i] = gpb_page_lower_bound(page, layout->key_width, row_width, count,
										   ranges[i].lo);
		__builtin_prefetch(gpb_page_row(page, row_width, Min(from[i], count - 1)));
	}
}

/* Is an entry hinted dead? */
static inline bool
is_hinted_dead(Page page, int row_width, int i)
{
	return (gpb_page_locator(page, row_width, i) & GPB_LOC_DEAD) != 0;
}

/*
 * Append the entries [from, to) of a page to the copy, and leave out long runs of entries that are
 * hinted dead.  Short ones are not worth copying what comes before and after them separately.
 */
static void
append_live(GpbCopy *copy, const GpbLayout *layout, MemoryContext context, Page page, int from,
			int to)
{
	int			row_width = gpb_page_row_width(page);

	while (from < to)
	{
		int			end = from;
		int			dead = 0;	/* entries at the end of [from, end) that are hinted dead */

		while (end < to && dead < GPB_SCAN_DEAD)
			dead = is_hinted_dead(page, row_width, end++) ? dead + 1 : 0;
		if (end - dead > from)
			append_entries(copy, layout, context, page, from, end - dead);
		while (end < to && is_hinted_dead(page, row_width, end))
			end++;
		from = end;
	}
}

bool
gpb_copy_ranges(GpbCopy *copy, const GpbLayout *layout, MemoryContext context, Page page,
				GpbBound high, const GpbRange *first, const GpbRange *last, bool in_step,
				bool skip_dead)
{
	int			count = gpb_page_count(page);
	int			start = 0;		/* where the range before ended */
	bool		has_dead = skip_dead && (gpb_special(page)->flags & GPB_PAGE_HAS_DEAD) != 0;
	int			n;

	for (; count > 0 && first <= last; first += n)
	{
		uint16		from[GPB_SCAN_GROUP];

		n = in_step ? Min(last - first + 1, GPB_SCAN_GROUP) : 1;
		if (in_step)
			search_ranges(layout, page, count, first, n, from);
		else
			from[0] = gpb_page_lower_bound(page, layout->key_width, gpb_page_row_width(page), count,
										   first->lo);
		for (int i = 0; i < n; i++)
		{
			int			to = count;

			/* Two ranges that claimed the same entries would overflow the copy. */
			if (unlikely(from[i] < start))
				return false;
			if (gpb_bound_less(first[i].hi, high))
				to = page_upper(page, layout, from[i], count, first[i].hi);
			start = Max(from[i], to);
			if (from[i] >= to)
				continue;
			if (unlikely(has_dead))
				append_live(copy, layout, context, page, from[i], to);
			else
				append_entries(copy, layout, context, page, from[i], to);
		}
	}
	return true;
}
