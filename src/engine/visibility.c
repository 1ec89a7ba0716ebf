/*-------------------------------------------------------------------------
 *
 * visibility.c
 *	  Reading the visibility map for entries of leaf pages (rule M5).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/visibilitymap.h"
#include "access/xact.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

#include "engine/visibility.h"

/*
 * Number of pages of the visibility map that are kept pinned, direct-mapped.  A page that does not
 * exist (yet) is held as zero bits, which costs heap visits and no more.
 */
#define GPB_VISIBILITY_SLOTS	64	/* a power of two; 16 GB of heap */

typedef struct GpbVisibilitySlot
{
	uint32		page;			/* number of the map page, plus 1; 0 if the slot is empty */
	Buffer		buffer;			/* pinned, or InvalidBuffer */
	const volatile uint8 *bits;
} GpbVisibilitySlot;

/* The bits of a map page that does not exist */
static const uint8 no_bits[GPB_VM_PAGE_BYTES];

struct GpbVisibility
{
	Relation	heap;
	GpbVisibilitySlot slot[GPB_VISIBILITY_SLOTS];
};

GpbVisibility *
gpb_visibility_begin(Relation heap)
{
	GpbVisibility *visibility = palloc0(sizeof(GpbVisibility));

	visibility->heap = heap;
	return visibility;
}

void
gpb_visibility_release(GpbVisibility *visibility)
{
	int			i;

	for (i = 0; i < GPB_VISIBILITY_SLOTS; i++)
	{
		if (BufferIsValid(visibility->slot[i].buffer))
			ReleaseBuffer(visibility->slot[i].buffer);
	}
	memset(visibility->slot, 0, sizeof(visibility->slot));
}

void
gpb_visibility_end(GpbVisibility *visibility)
{
	if (visibility == NULL)
		return;
	gpb_visibility_release(visibility);
	pfree(visibility);
}

/* The slot of the map page that covers heap block "block".  The page is pinned if it is not yet. */
static inline GpbVisibilitySlot *
visibility_slot(GpbVisibility *visibility, BlockNumber block)
{
	uint32		page = block / GPB_VM_PAGE_BLOCKS;
	GpbVisibilitySlot *slot = &visibility->slot[page % GPB_VISIBILITY_SLOTS];

	if (likely(slot->page == page + 1))
		return slot;
	/* This releases the page that the slot holds now, if it is another one. */
	(void) visibilitymap_get_status(visibility->heap, block, &slot->buffer);
	slot->page = page + 1;
	slot->bits = no_bits;
	if (BufferIsValid(slot->buffer))
		slot->bits = (const uint8 *) PageGetContents(BufferGetPage(slot->buffer));
	return slot;
}

static inline BlockNumber
leaf_heap_block(const char *page, int row_width, int i)
{
	return gpb_locator_block(gpb_row_locator(gpb_page_row(page, row_width, i)));
}

static inline uint8
visibility_bit(const volatile uint8 *bits, uint32 at)
{
	return (bits[at / GPB_HEAPBLOCKS_PER_BYTE] >>
			(2 * (at % GPB_HEAPBLOCKS_PER_BYTE))) & 1;
}

/*
 * As in core, the map is read without a lock: what matters is only that the bit was set at some
 * moment after the leaf was read.
 *
 * Most leaves point to heap blocks of one map page, so the first loop runs as far as that is so.
 */
void
gpb_visibility_read(GpbVisibility *visibility, const char *page, int row_width,
					int from, int to, uint8 *visible)
{
	BlockNumber first = leaf_heap_block(page, row_width, from);
	BlockNumber base = first - first % GPB_VM_PAGE_BLOCKS;
	const volatile uint8 *bits = visibility_slot(visibility, first)->bits;
	int			i;

	for (i = from; i < to; i++)
	{
		uint32		at = leaf_heap_block(page, row_width, i) - base;

		if (at >= GPB_VM_PAGE_BLOCKS)
			break;
		visible[i - from] = visibility_bit(bits, at);
	}
	for (; i < to; i++)
	{
		BlockNumber block = leaf_heap_block(page, row_width, i);

		visible[i - from] =
			visibility_bit(visibility_slot(visibility, block)->bits,
						   block % GPB_VM_PAGE_BLOCKS);
	}
}

bool
gpb_visibility_all_pinned(const GpbVisibility *visibility, const char *page,
						  int row_width, int from, int to)
{
	const char *row = gpb_page_row(page, row_width, from);
	BlockNumber last = InvalidBlockNumber;
	int			i;

	for (i = from; i < to; i++, row -= row_width)
	{
		BlockNumber block = gpb_locator_block(gpb_row_locator(row));
		uint32		map_page = block / GPB_VM_PAGE_BLOCKS;
		const GpbVisibilitySlot *slot;

		/* Neighbours in a table that was loaded in key order share their block. */
		if (block == last)
			continue;
		slot = &visibility->slot[map_page % GPB_VISIBILITY_SLOTS];
		if (slot->page != map_page + 1 ||
			!visibility_bit(slot->bits, block % GPB_VM_PAGE_BLOCKS))
			return false;
		last = block;
	}
	return true;
}

bool
gpb_needs_plain_scan(Snapshot snapshot)
{
	return IsolationIsSerializable() ||
		snapshot->snapshot_type != SNAPSHOT_MVCC ||
		OldSnapshotThresholdActive();
}

void
gpb_copy_leaf(char *copy, const char *page)
{
	int			lower = gpb_page_u16(page, GPB_PD_LOWER);
	int			upper = gpb_page_u16(page, GPB_PD_UPPER);

	memcpy(copy, page, lower);
	memcpy(copy + upper, page + upper, BLCKSZ - upper);
}
