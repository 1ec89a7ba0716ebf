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
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"
#include "utils/snapmgr.h"

#include "engine/visibility.h"

StaticAssertDecl(GPB_VM_PAGE_BYTES == BLCKSZ - MAXALIGN(SizeOfPageHeaderData),
				 "bytes of a page of the visibility map");

/*
 * The pages of the map that are kept pinned.  A page that does not exist (yet) is held as zero
 * bits, without a buffer, which costs heap visits and no more.
 */
struct GpbVisibility
{
	Relation	heap;
	GpbVisibilityPages pages;
	Buffer		buffer[GPB_VM_SLOTS];	/* pinned, or InvalidBuffer */
};

GpbVisibility *
gpb_visibility_begin(Relation heap)
{
	GpbVisibility *visibility = palloc0(sizeof(GpbVisibility));

	visibility->heap = heap;
	gpb_visibility_pages_init(&visibility->pages);
	return visibility;
}

void
gpb_visibility_release(GpbVisibility *visibility)
{
	int			i;

	for (i = 0; i < GPB_VM_SLOTS; i++)
	{
		if (BufferIsValid(visibility->buffer[i]))
			ReleaseBuffer(visibility->buffer[i]);
		visibility->buffer[i] = InvalidBuffer;
	}
	gpb_visibility_pages_init(&visibility->pages);
}

void
gpb_visibility_end(GpbVisibility *visibility)
{
	if (visibility == NULL)
		return;
	gpb_visibility_release(visibility);
	pfree(visibility);
}

/* Pin the map page that covers heap block "block", instead of the one that its slot holds. */
static void
visibility_pin(GpbVisibility *visibility, BlockNumber block)
{
	uint32		page = block / GPB_VM_PAGE_BLOCKS;
	int			slot = page % GPB_VM_SLOTS;
	Buffer	   *buffer = &visibility->buffer[slot];
	const char *bits = NULL;

	gpb_visibility_pages_clear(&visibility->pages, slot);
	/* This releases the page that the slot held. */
	(void) visibilitymap_get_status(visibility->heap, block, buffer);
	if (BufferIsValid(*buffer))
		bits = PageGetContents(BufferGetPage(*buffer));
	gpb_visibility_pages_set(&visibility->pages, page, bits);
}

/*
 * As in core, the map is read without a lock: what matters is only that the bit was set at some
 * moment after the leaf was read.
 */
void
gpb_visibility_read(GpbVisibility *visibility, const char *page, int row_width,
					int from, int to, uint8 *visible)
{
	int			i = from;

	while ((i = gpb_visible_entries(&visibility->pages, page, row_width, i, to,
									visible + (i - from))) < to)
		visibility_pin(visibility,
					   gpb_locator_block(gpb_page_locator(page, row_width, i)));
}

bool
gpb_visibility_all_pinned(const GpbVisibility *visibility, const char *page,
						  int row_width, int from, int to, const char *next)
{
	return gpb_all_entries_visible(&visibility->pages, page, row_width, from, to, next);
}

/* The first block of [first, last] without its bit among those of one map page, or last + 1 */
static uint32
first_unmarked_of_page(const uint8 *bits, uint32 first, uint32 last)
{
	const volatile uint64 *words = (const volatile uint64 *) bits;
	const uint32 blocks = 64 / BITS_PER_HEAPBLOCK;
	uint32		at = first;

	while (at <= last)
	{
		uint64		missing = ~words[at / blocks] & UINT64CONST(0x5555555555555555);

		missing >>= at % blocks * BITS_PER_HEAPBLOCK;
		if (missing != 0)
			return Min(at + pg_rightmost_one_pos64(missing) / BITS_PER_HEAPBLOCK, last + 1);
		at = at / blocks * blocks + blocks;
	}
	return last + 1;
}

uint64
gpb_visibility_first_unmarked(GpbVisibility *visibility, BlockNumber first, BlockNumber last)
{
	uint64		block = first;

	while (block <= last)
	{
		uint32		page = (uint32) (block / GPB_VM_PAGE_BLOCKS);
		int			slot = page % GPB_VM_SLOTS;
		uint64		begin = (uint64) page * GPB_VM_PAGE_BLOCKS;
		uint64		end = Min(begin + GPB_VM_PAGE_BLOCKS - 1, last);

		if (visibility->pages.tag[slot] != page + 1)
			visibility_pin(visibility, (BlockNumber) block);
		block = begin + first_unmarked_of_page(visibility->pages.bits[slot],
											   (uint32) (block - begin), (uint32) (end - begin));
		if (block <= end)
			break;
	}
	return block;
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
