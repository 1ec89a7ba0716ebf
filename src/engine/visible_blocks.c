/*-------------------------------------------------------------------------
 *
 * visible_blocks.c
 *	  The heap blocks whose entries a device may count without a heap visit, as bits.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/bufmgr.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "engine/visible_blocks.h"

/*
 * Blocks of the window are looked at only if there are at most so many for each entry of the
 * ranges, or few in all.  A look costs 20 ns; an entry that is left to the heap costs 10 ns where a
 * page has many of them, and some 300 ns where it is alone on its page.
 */
#define GPB_LOOKS_OF_ENTRY	8
#define GPB_LOOKS_ALWAYS	4096

/*
 * If more blocks than this are to be looked at, so many of them are tried first.  If none of those
 * is settled, nobody has visited the pages, and the others are not looked at.
 */
#define GPB_LOOKS_TRIED		128

/* Number of blocks that one word of 64 visibility bits has, or one word of a GpbBlockSet */
#define GPB_WORD_BLOCKS		32

/* The bits of a word that say "all visible" */
#define GPB_ALL_VISIBLE		UINT64CONST(0x5555555555555555)

/* How many cells, and how many pages, are prefetched ahead of listed blocks */
#define GPB_CELLS_AHEAD		16
#define GPB_PAGES_AHEAD		8

/* ---- sets of blocks ---- */

uint32
gpb_block_set_next(const GpbBlockSet *set, uint64 *next, uint32 most, BlockNumber *blocks)
{
	uint32		n = 0;

	while (n < most && *next / GPB_WORD_BLOCKS < set->nwords)
	{
		uint32		word = set->words[*next / GPB_WORD_BLOCKS] >> (*next % GPB_WORD_BLOCKS);

		if (word == 0)
		{
			*next = (*next / GPB_WORD_BLOCKS + 1) * GPB_WORD_BLOCKS;
			continue;
		}
		*next += pg_rightmost_one_pos32(word);
		blocks[n++] = (BlockNumber) (*next)++;
	}
	return n;
}

/* ---- begin ---- */

void
gpb_visible_blocks_begin(GpbVisibleBlocks *visible, Relation heap, Snapshot snapshot,
						 const GpbVisibleRanges *ranges, const GpbBlockSet *listed)
{
	SMgrRelation smgr = RelationGetSmgr(heap);

	memset(visible, 0, sizeof(*visible));
	visible->heap = heap;
	visible->ranges = ranges;
	visible->listed = listed;
	if (smgrexists(smgr, VISIBILITYMAP_FORKNUM))
		visible->map_pages = smgrnblocks(smgr, VISIBILITYMAP_FORKNUM);
	visible->heap_blocks = (uint32) Min((uint64) visible->map_pages * GPB_VM_PAGE_BLOCKS,
										(uint64) MaxBlockNumber);
	gpb_settled_begin(&visible->settled, heap, snapshot);
	/* The map of a table that was never vacuumed is missing, or ends before the table does. */
	if (visible->settled.eligible)
		visible->heap_blocks = RelationGetNumberOfBlocks(heap);
}

/* ---- the map ---- */

/* Copy one page of the map without its header.  No lock is taken, as core takes none to read it. */
static void
copy_map_page(Relation heap, BlockNumber page, uint8 *into, Size n)
{
	Buffer		buffer;

	buffer = ReadBufferExtended(heap, VISIBILITYMAP_FORKNUM, page,
								RBM_ZERO_ON_ERROR, NULL);
	memcpy(into, PageGetContents(BufferGetPage(buffer)), n);
	ReleaseBuffer(buffer);
}

/* Copy "bytes" bytes of the map from page "page" on; what the map does not have is zero. */
static void
copy_map(const GpbVisibleBlocks *visible, BlockNumber page, uint8 *into, Size bytes)
{
	while (bytes > 0)
	{
		Size		n = Min(bytes, GPB_VM_PAGE_BYTES);

		CHECK_FOR_INTERRUPTS();
		if (page < visible->map_pages)
			copy_map_page(visible->heap, page, into, n);
		else
			memset(into, 0, n);
		page++;
		into += n;
		bytes -= n;
	}
}

/* ---- settled pages ---- */

static inline bool
has_bit(const uint8 *bits, uint32 at)
{
	return gpb_heap_all_visible(bits, at + 1, at);
}

/* Set the bit of block first + at if the page is settled and has no row that is not seen. */
static inline bool
look_at(GpbVisibleBlocks *visible, BlockNumber first, uint32 at, uint8 *bits)
{
	GpbSettledPage page;

	if (!gpb_settled_look(&visible->settled, first + at, &page) || page.nunseen > 0)
		return false;
	bits[at / GPB_HEAPBLOCKS_PER_BYTE] |= 1 << (2 * (at % GPB_HEAPBLOCKS_PER_BYTE));
	visible->settled_blocks++;
	return true;
}

/* Word number i of the bits, which are so many bytes; what lies beyond counts as all-visible. */
static inline uint64
bits_word(const uint8 *bits, Size bytes, uint32 i)
{
	uint64		word = GPB_ALL_VISIBLE;

	memcpy(&word, bits + (Size) i * sizeof(word), Min(sizeof(word), bytes - (Size) i * sizeof(word)));
	return word & GPB_ALL_VISIBLE;
}

/* Count the blocks of words [from, to) of the bits that are not all-visible. */
static uint32
count_unset(const uint8 *bits, Size bytes, uint32 from, uint32 to)
{
	uint32		n = 0;
	uint32		i;

	for (i = from; i < to; i++)
	{
		uint64		word = bits_word(bits, bytes, i);

		if (word != GPB_ALL_VISIBLE)
			n += GPB_WORD_BLOCKS - pg_popcount64(word);
	}
	return n;
}

/* Look at a few blocks of [from, to) that are not all-visible by the map.  Is any of them settled? */
static bool
try_blocks(GpbVisibleBlocks *visible, BlockNumber first, uint32 from, uint32 to, uint8 *bits)
{
	uint32		i;
	bool		any = false;

	for (i = 0; i < GPB_LOOKS_TRIED; i++)
	{
		uint32		at = from + (uint32) ((uint64) i * (to - from) / GPB_LOOKS_TRIED);

		if (!has_bit(bits, at))
			any |= look_at(visible, first, at, bits);
	}
	return any;
}

/* Estimate the window, and with it how many blocks are worth a look. */
static void
find_window(GpbVisibleBlocks *visible)
{
	const GpbVisibleRanges *ranges = visible->ranges;

	if (visible->has_window)
		return;
	visible->has_window = true;
	visible->window = gpb_heap_window(ranges->index, ranges->layout, ranges->form, ranges->ranges,
									  ranges->n);
	visible->budget = Max(visible->window.entries, ranges->entries) * GPB_LOOKS_OF_ENTRY +
		GPB_LOOKS_ALWAYS;
}

/*
 * Mark the settled pages of the window among n blocks from "first" on.  Runs of words in which some
 * block is not all-visible are looked at together.
 */
static void
mark_window(GpbVisibleBlocks *visible, BlockNumber first, uint32 n, uint8 *bits)
{
	Size		bytes = ((Size) n + GPB_HEAPBLOCKS_PER_BYTE - 1) / GPB_HEAPBLOCKS_PER_BYTE;
	BlockNumber begin;
	BlockNumber end;
	uint32		from;
	uint32		to;
	uint32		unset;

	if (count_unset(bits, bytes, 0, (n + GPB_WORD_BLOCKS - 1) / GPB_WORD_BLOCKS) == 0)
		return;
	find_window(visible);
	begin = Max(visible->window.from, first);
	end = Min(visible->window.to, first + n);
	if (begin >= end)
		return;
	from = (begin - first) / GPB_WORD_BLOCKS;
	to = (end - first + GPB_WORD_BLOCKS - 1) / GPB_WORD_BLOCKS;
	unset = count_unset(bits, bytes, from, to);
	if (unset == 0 || unset > visible->budget)
		return;
	visible->budget -= unset;
	if (unset > GPB_LOOKS_ALWAYS && !try_blocks(visible, first, begin - first, end - first, bits))
		return;
	while (from < to)
	{
		uint32		run = from;

		while (run < to && bits_word(bits, bytes, run) != GPB_ALL_VISIBLE)
			run++;
		if (run > from)
		{
			uint32		at = from * GPB_WORD_BLOCKS;

			CHECK_FOR_INTERRUPTS();
			visible->settled_blocks += gpb_settled_mark(&visible->settled, first + at,
														Min(run * GPB_WORD_BLOCKS, n) - at,
														bits + at / GPB_HEAPBLOCKS_PER_BYTE);
		}
		from = run + 1;
	}
}

/* Mark those of the listed blocks that are settled, among n blocks from "first" on. */
static void
mark_listed(GpbVisibleBlocks *visible, BlockNumber first, uint32 n, uint8 *bits)
{
	BlockNumber blocks[256];
	uint64		next = first;
	uint32		count;
	uint32		i;

	while ((count = gpb_block_set_next(visible->listed, &next, lengthof(blocks), blocks)) > 0)
	{
		CHECK_FOR_INTERRUPTS();
		for (i = 0; i < Min(GPB_CELLS_AHEAD, count); i++)
			gpb_settled_prefetch(&visible->settled, blocks[i]);
		for (i = 0; i < count && blocks[i] - first < n; i++)
		{
			if (i + GPB_CELLS_AHEAD < count)
				gpb_settled_prefetch(&visible->settled, blocks[i + GPB_CELLS_AHEAD]);
			if (i + GPB_PAGES_AHEAD < count)
				gpb_settled_prefetch_page(&visible->settled, blocks[i + GPB_PAGES_AHEAD]);
			if (!has_bit(bits, blocks[i] - first))
				(void) look_at(visible, first, blocks[i] - first, bits);
		}
		if (i < count)
			return;
	}
}

void
gpb_visible_blocks_fill(GpbVisibleBlocks *visible, BlockNumber first, uint32 n, uint8 *bits)
{
	Assert(first % GPB_VM_PAGE_BLOCKS == 0);
	copy_map(visible, first / GPB_VM_PAGE_BLOCKS, bits,
			 ((Size) n + GPB_HEAPBLOCKS_PER_BYTE - 1) / GPB_HEAPBLOCKS_PER_BYTE);
	if (!visible->settled.eligible)
		return;
	if (visible->listed != NULL)
		mark_listed(visible, first, n, bits);
	mark_window(visible, first, n, bits);
}
