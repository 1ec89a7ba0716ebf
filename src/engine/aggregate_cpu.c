/*-------------------------------------------------------------------------
 *
 * aggregate_cpu.c
 *	  Engine: aggregate leaf pages in shared buffers, page at a time.
 *
 * A leaf whose entries all count is aggregated under its share lock.  Any other is copied under
 * that lock; its pin is kept until the visibility map has been read for its entries (see
 * visibility.h).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

#include "hold.h"
#include "index/index.h"
#include "leaf_aggregate.h"
#include "exec/aggregate/aggregate_node.h"

/* Bytes that one prefetch brings */
#define GPB_CACHE_LINE	64

/* Drop the run's pins on the map, if any. */
void
gpb_visibility_cache_release(GpbAggregateRun *run)
{
	GpbVisibility *visibility = run->visibility;

	run->visibility = NULL;
	gpb_visibility_end(visibility);
}

/*
 * The positions [*from, *to) of a leaf's entries that lie in the range.  Keys are looked at only
 * on the leaves at its ends: a range that starts at minus infinity is one that
 * started on a leaf before.
 */
static void
gpb_leaf_span(const GpbLayout *layout, const char *page, const GpbRange *range,
			  int *from, int *to)
{
	*to = gpb_page_count(page);
	*from = 0;
	if (gpb_bound_less(GPB_BOUND_MIN, range->lo))
		*from = gpb_page_lower_bound(page, layout->key_width, layout->row_width,
									 *to, range->lo);
	if (gpb_bound_less(range->hi, gpb_page_high(page)))
		*to = gpb_page_lower_bound(page, layout->key_width, layout->row_width,
								   *to, range->hi);
}

/*
 * Ask for the cache lines of rows [from, to) at once.  The loops that follow would wait for
 * them a few at a time.
 */
static void
gpb_prefetch_rows(const char *page, int row_width, int from, int to)
{
	const char *line = gpb_page_row(page, row_width, to - 1);
	const char *end = gpb_page_row(page, row_width, from) + row_width;

	for (; line < end; line += GPB_CACHE_LINE)
		__builtin_prefetch(line);
}

/*
 * Aggregate a leaf where it lies, if each of its entries in the range counts and to know that
 * takes no I/O: then it is faster than copying.  False, with nothing done, if not.  The leaf is
 * pinned and share-locked on entry and return, so the map is read while nothing can leave or
 * enter the leaf.
 */
static bool
gpb_cpu_leaf_in_place(GpbAggregateRun *run, const GpbRange *range, const char *page)
{
	uint16		unknown[1];
	int			from;
	int			to;

	if (GPB_HOLD_WANTED("cpu-after-leaf") ||
		(gpb_page_special(page)->flags & GPB_PAGE_HAS_DEAD) != 0)
		return false;
	gpb_leaf_span(&run->spec.layout, page, range, &from, &to);
	gpb_prefetch_rows(page, run->spec.layout.row_width, from, to);
	if (from < to && !gpb_visibility_all_pinned(run->visibility, page,
												run->spec.layout.row_width, from, to))
		return false;
	(void) gpb_leaf_aggregate(page, &run->spec, from, to, NULL,
							  &run->totals.state, run->totals.sums, unknown);
	if (from < to)
		pgstat_count_index_tuples(run->index, to - from);
	return true;
}

/*
 * Aggregate a leaf from a copy.  It is pinned and share-locked on entry; on return it is
 * unlocked, and its pin, which VACUUM must wait for, is dropped, since the map has been
 * read.
 */
static void
gpb_cpu_leaf_copied(GpbAggregateRun *run, const GpbRange *range, Buffer buffer, char *copy)
{
	const GpbLayout *layout = &run->spec.layout;
	uint8		visible[GPB_MAX_LEAF_ENTRIES];
	uint16		unknown[GPB_MAX_LEAF_ENTRIES];
	int			nunknown;
	int			from;
	int			to;
	int			i;

	gpb_copy_leaf(copy, BufferGetPage(buffer));
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	GPB_HOLD("cpu-after-leaf");

	gpb_leaf_span(layout, copy, range, &from, &to);
	if (from < to)
		gpb_visibility_read(run->visibility, copy, layout->row_width, from, to, visible);
	ReleaseBuffer(buffer);
	if (from >= to)
		return;

	nunknown = gpb_leaf_aggregate(copy, &run->spec, from, to, visible,
								  &run->totals.state, run->totals.sums, unknown);
	for (i = 0; i < nunknown; i++)
		gpb_heap_add(run, gpb_page_key(copy, layout->key_width, unknown[i]),
					 gpb_page_row(copy, layout->row_width, unknown[i]));
	pgstat_count_index_tuples(run->index, to - from);
}

/*
 * Aggregate the entries of one leaf that lie in the range.  The leaf is pinned and
 * share-locked on entry and released on return; copy is a page of working memory
 * that has the leaf's special space then.
 */
static void
gpb_cpu_leaf(GpbAggregateRun *run, const GpbRange *range, Buffer buffer, char *copy)
{
	Page		page = BufferGetPage(buffer);

	TestForOldSnapshot(run->snapshot, run->index, page);
	run->counters->cpu_leaves++;
	if (gpb_cpu_leaf_in_place(run, range, page))
	{
		memcpy(copy + GPB_SPECIAL_OFFSET, page + GPB_SPECIAL_OFFSET,
			   sizeof(GpbPageSpecial));
		UnlockReleaseBuffer(buffer);
	}
	else
		gpb_cpu_leaf_copied(run, range, buffer, copy);
}

/*
 * Aggregate a range from the real tree, moving right from the leaf that covers
 * its lower bound.  A leaf's right link is as it was when the leaf was read: a split since then
 * put entries of it there, never later ones.  Entries left for the heap may
 * not have been visited yet on return.  No locks or pins on leaves are held on entry
 * or on return.  Raises ERRCODE_INDEX_CORRUPTED if the leaves are out of order, so that a
 * damaged right link cannot lead round in a circle.
 */
void
gpb_run_cpu_range(GpbAggregateRun *run, GpbRange range)
{
	const GpbLayout *layout = &run->spec.layout;
	char	   *copy;
	Buffer		buffer;
	bool		walked = false;

	if (!gpb_bound_less(range.lo, range.hi))
		return;
	if (run->visibility == NULL)
		run->visibility = gpb_visibility_begin(run->heap);
	copy = palloc(BLCKSZ);

	buffer = gpb_search(run->index, layout, range.lo, BUFFER_LOCK_SHARE, NULL);
	for (;;)
	{
		BlockNumber block = BufferGetBlockNumber(buffer);
		const GpbPageSpecial *special = gpb_page_special(copy);
		GpbBound	high;

		gpb_cpu_leaf(run, &range, buffer, copy);
		CHECK_FOR_INTERRUPTS();
		high = gpb_page_high(copy);
		if (special->right == GPB_NO_BLOCK && walked)
			gpb_require_last(run->index, layout, block);
		if (special->right == GPB_NO_BLOCK || !gpb_bound_less(high, range.hi))
			break;
		range.lo = GPB_BOUND_MIN;
		buffer = gpb_read_right(run->index, layout, block, special->right, 0,
								high, BUFFER_LOCK_SHARE);
		walked = true;
	}
	pfree(copy);
}

void
gpb_run_cpu(GpbAggregateRun *run)
{
	gpb_run_cpu_range(run, run->spec.range);
	gpb_heap_flush(run);
}
