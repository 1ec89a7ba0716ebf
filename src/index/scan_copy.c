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
 * Append n entries to the copy.  They are given as on a page: by the address of the first key, and
 * of the last row.
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

/* Make room for n more entries, in the memory context given. */
static void
copy_reserve(GpbCopy *copy, const GpbLayout *layout, int n,
			 MemoryContext context)
{
	int			count = copy->count;

	if ((count + n) * (layout->key_width + layout->row_width) <= copy->size)
		return;

	/* The room for what a page holds is enough for all that will be copied from one. */
	Assert(copy->bytes == copy->small);
	copy->bytes = MemoryContextAlloc(context, BLCKSZ);
	copy->size = BLCKSZ;
	copy->count = 0;
	if (count > 0)
		copy_append(copy, layout, copy->small,
					copy->small + GPB_SMALL_COPY - count * layout->row_width,
					count);
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
	int			to = from;

	if (bound.tie != 0)
		return gpb_page_lower_bound(page, width, layout->row_width, count, bound);

	/* As long as a key is below the bound's, ties do not matter. */
	while (to < count && to < from + GPB_SCAN_EQUAL && gpb_page_key(page, width, to) < bound.key)
		to++;
	if (to < from + GPB_SCAN_EQUAL)
		return to;
	if (bound.key > gpb_key_most(width))
		return count;
	return gpb_page_keys_below(page, width, count, bound.key);
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
	GpbKey		keys[GPB_SCAN_GROUP];

	for (int i = 0; i < n; i++)
		keys[i] = ranges[i].lo.key;
	gpb_page_keys_below_many(page, layout->key_width, count, keys, n, from);
	for (int i = 0; i < n; i++)
	{
		/* Among entries with the bits of NULL keys, ties decide. */
		if (unlikely(ranges[i].lo.tie != 0))
			from[i] = gpb_page_lower_bound(page, layout->key_width, layout->row_width, count,
										   ranges[i].lo);
		__builtin_prefetch(gpb_page_row(page, layout->row_width, Min(from[i], count - 1)));
	}
}

/* Is an entry hinted dead, of which this is the row? */
static inline bool
row_is_dead(const char *row)
{
	return (gpb_row_locator(row) & GPB_LOC_DEAD) != 0;
}

/*
 * Append the entries [from, to) of a page to the copy, and leave out long runs of entries that are
 * hinted dead.  Short ones are not worth copying what comes before and after them separately.
 */
static void
append_live(GpbCopy *copy, const GpbLayout *layout, MemoryContext context, Page page, int from,
			int to)
{
	int			row_width = layout->row_width;

	while (from < to)
	{
		int			end = from;
		int			dead = 0;	/* entries at the end of [from, end) that are hinted dead */

		while (end < to && dead < GPB_SCAN_DEAD)
			dead = row_is_dead(gpb_page_row(page, row_width, end++)) ? dead + 1 : 0;
		if (end - dead > from)
		{
			copy_reserve(copy, layout, end - dead - from, context);
			copy_append(copy, layout, (char *) page + gpb_key_place(layout->key_width, from),
						gpb_page_row(page, row_width, end - dead - 1), end - dead - from);
		}
		while (end < to && row_is_dead(gpb_page_row(page, row_width, end)))
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
			from[0] = gpb_page_lower_bound(page, layout->key_width, layout->row_width, count,
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
			{
				append_live(copy, layout, context, page, from[i], to);
				continue;
			}
			copy_reserve(copy, layout, to - from[i], context);
			copy_append(copy, layout,
						(char *) page + gpb_key_place(layout->key_width, from[i]),
						gpb_page_row(page, layout->row_width, to - 1), to - from[i]);
		}
	}
	return true;
}
