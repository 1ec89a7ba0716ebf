/*-------------------------------------------------------------------------
 *
 * aggregate_cpu.c
 *	  Engine: aggregate leaf pages in shared buffers, page at a time.
 *
 * A leaf is copied under its share lock; its pin is kept until the visibility map has
 * been read for its entries.  VACUUM needs the cleanup lock of a leaf to
 * remove an entry, and removes it before it recycles the tuple and before it
 * can set the heap page all-visible: so an all-visible bit read after the leaf and
 * under its pin speaks about the tuples that the entries still point to.
 *
 *-------------------------------------------------------------------------
 */
#include "../compat.h"

#include "access/visibilitymap.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

#include "../hold.h"
#include "../index/index.h"
#include "../leaf_aggregate.h"
#include "aggregate_node.h"

/*
 * Pinned pages of the visibility map, direct-mapped.  A page that does not
 * exist (yet) is held as zero bits, which only costs heap visits.
 */
#define GPB_VISIBILITY_SLOTS	64	/* a power of two; 16 GB of heap */

typedef struct GpbVisibilitySlot
{
	uint32		page;			/* number of the map page + 1; 0: empty */
	Buffer		buffer;			/* pinned, or InvalidBuffer */
	const volatile uint8 *bits;
} GpbVisibilitySlot;

/* Stands for a map page that does not exist */
static const uint8 gpb_no_bits[GPB_VM_PAGE_BYTES];

struct GpbVisibilityCache
{
	GpbVisibilitySlot slot[GPB_VISIBILITY_SLOTS];
};

/* Drop the run's pins on the map, if any. */
void
gpb_visibility_cache_release(GpbAggregateRun *run)
{
	GpbVisibilityCache *cache = run->visibility;
	int			i;

	if (cache == NULL)
		return;
	run->visibility = NULL;
	for (i = 0; i < GPB_VISIBILITY_SLOTS; i++)
	{
		if (BufferIsValid(cache->slot[i].buffer))
			ReleaseBuffer(cache->slot[i].buffer);
	}
	pfree(cache);
}

/* The pinned map page that covers heap block "block", pinning it if need be. */
static inline GpbVisibilitySlot *
gpb_visibility_slot(GpbAggregateRun *run, BlockNumber block)
{
	uint32		page = block / GPB_VM_PAGE_BLOCKS;
	GpbVisibilitySlot *slot = &run->visibility->slot[page % GPB_VISIBILITY_SLOTS];

	if (likely(slot->page == page + 1))
		return slot;
	/* releases the page that the slot holds now, if it is another */
	(void) visibilitymap_get_status(run->heap, block, &slot->buffer);
	slot->page = page + 1;
	slot->bits = gpb_no_bits;
	if (BufferIsValid(slot->buffer))
		slot->bits = (const uint8 *) PageGetContents(BufferGetPage(slot->buffer));
	return slot;
}

static inline BlockNumber
gpb_leaf_heap_block(const char *page, int row_width, int i)
{
	return gpb_locator_block(gpb_row_locator(gpb_page_row(page, row_width, i)));
}

static inline uint8
gpb_visibility_bit(const volatile uint8 *bits, uint32 at)
{
	return (bits[at / GPB_HEAPBLOCKS_PER_BYTE] >>
			(2 * (at % GPB_HEAPBLOCKS_PER_BYTE))) & 1;
}

/*
 * Set visible[i - from] for entries [from, to) of a leaf; there is at least one.  As in
 * core, the map is read without a lock: what matters is only that the bit was
 * set at some moment after the leaf was read.
 *
 * Most leaves point to heap blocks of one map page, so the first loop runs as
 * far as that is so.
 */
static void
gpb_read_visibility(GpbAggregateRun *run, const char *page, int from, int to,
					uint8 *visible)
{
	int			row_width = run->spec.layout.row_width;
	BlockNumber first = gpb_leaf_heap_block(page, row_width, from);
	BlockNumber base = first - first % GPB_VM_PAGE_BLOCKS;
	const volatile uint8 *bits = gpb_visibility_slot(run, first)->bits;
	int			i;

	for (i = from; i < to; i++)
	{
		uint32		at = gpb_leaf_heap_block(page, row_width, i) - base;

		if (at >= GPB_VM_PAGE_BLOCKS)
			break;
		visible[i - from] = gpb_visibility_bit(bits, at);
	}
	for (; i < to; i++)
	{
		BlockNumber block = gpb_leaf_heap_block(page, row_width, i);

		visible[i - from] =
			gpb_visibility_bit(gpb_visibility_slot(run, block)->bits,
							   block % GPB_VM_PAGE_BLOCKS);
	}
}

/* Copy what a leaf holds: the hole between keys and rows is left out. */
static void
gpb_copy_leaf(char *copy, const char *page)
{
	int			lower = gpb_page_u16(page, GPB_PD_LOWER);
	int			upper = gpb_page_u16(page, GPB_PD_UPPER);

	memcpy(copy, page, lower);
	memcpy(copy + upper, page + upper, BLCKSZ - upper);
}

/*
 * Aggregate the entries of one leaf that lie in the range.  The leaf is pinned and
 * share-locked on entry and released on return; copy is a page of working memory
 * that holds the leaf's contents then.
 */
static void
gpb_cpu_leaf(GpbAggregateRun *run, const GpbRange *range, Buffer buffer, char *copy)
{
	const GpbLayout *layout = &run->spec.layout;
	Page		page = BufferGetPage(buffer);
	uint8		visible[GPB_MAX_LEAF_ENTRIES];
	uint16		unknown[GPB_MAX_LEAF_ENTRIES];
	int			nunknown;
	int			from;
	int			to;
	int			i;

	TestForOldSnapshot(run->snapshot, run->index, page);
	gpb_copy_leaf(copy, page);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	GPB_HOLD("cpu-after-leaf");

	to = gpb_page_count(copy);
	from = gpb_page_lower_bound(copy, layout->key_width, layout->row_width,
								to, range->lo);
	if (gpb_bound_less(range->hi, gpb_page_high(copy)))
		to = gpb_page_lower_bound(copy, layout->key_width, layout->row_width,
								  to, range->hi);
	if (from < to)
		gpb_read_visibility(run, copy, from, to, visible);
	ReleaseBuffer(buffer);
	run->counters->cpu_leaves++;
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
 * Aggregate a range from the real tree, moving right from the leaf that covers
 * its lower bound.  A leaf's right link is that of its copy: a split since then
 * put entries of the copy there, never later ones.  Entries left for the heap may
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

	if (!gpb_bound_less(range.lo, range.hi))
		return;
	if (run->visibility == NULL)
		run->visibility = palloc0(sizeof(GpbVisibilityCache));
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
		if (special->right == GPB_NO_BLOCK || !gpb_bound_less(high, range.hi))
			break;
		buffer = gpb_read_right(run->index, layout, block, special->right, 0,
								high, BUFFER_LOCK_SHARE);
	}
	pfree(copy);
}

void
gpb_run_cpu(GpbAggregateRun *run)
{
	gpb_run_cpu_range(run, run->spec.range);
	gpb_heap_flush(run);
}
