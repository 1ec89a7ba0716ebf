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

#include "engine/engine_price.h"
#include "engine/visible_blocks.h"

/*
 * If more blocks than this are to be looked at, so many of them are tried first.  If none of those
 * is settled, nobody has visited the pages, and the others are not looked at.
 */
#define GPB_LOOKS_TRIED		128

/* Number of blocks that one word of 64 visibility bits has, or one word of a GpbBlockSet */
#define GPB_WORD_BLOCKS		32

/* The bits of a word that say "all visible" */
#define GPB_ALL_VISIBLE		UINT64CONST(0x5555555555555555)

int			gpb_most_exceptions = 1 << 20;

/* How many cells, and how many pages, are prefetched ahead of listed blocks */
#define GPB_CELLS_AHEAD		16
#define GPB_PAGES_AHEAD		8

/* Number of blocks that are looked at together */
#define GPB_BLOCKS_AT_ONCE	256

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

/*
 * The number of pages of the table's map, as core's visibilitymap.c finds it: the size that smgr
 * keeps until an invalidation takes it away, so that a query need not ask the file system.  A size
 * from before the map was extended is too small, and what lies beyond it costs heap visits.  It is
 * not too large: who truncates the map sends the invalidation under an exclusive lock on the table,
 * and we have taken our lock since.
 */
static BlockNumber
count_map_pages(Relation heap)
{
	SMgrRelation smgr = RelationGetSmgr(heap);
	BlockNumber *known = &smgr->smgr_cached_nblocks[VISIBILITYMAP_FORKNUM];

	if (*known == InvalidBlockNumber)
		*known = smgrexists(smgr, VISIBILITYMAP_FORKNUM) ?
			smgrnblocks(smgr, VISIBILITYMAP_FORKNUM) : 0;
	return *known;
}

void
gpb_visible_blocks_begin(GpbVisibleBlocks *visible, Relation heap, Snapshot snapshot,
						 const GpbVisibleRanges *ranges, const GpbBlockSet *listed)
{
	memset(visible, 0, sizeof(*visible));
	visible->heap = heap;
	visible->ranges = ranges;
	visible->listed = listed;
	visible->map_pages = count_map_pages(heap);
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

/* Clear all bits but "all-visible", a word at a time: a large table has many. */
static void
keep_visible(uint8 *bits, Size bytes)
{
	Size		i;

	for (i = 0; i + sizeof(uint64) <= bytes; i += sizeof(uint64))
	{
		uint64		word;

		memcpy(&word, bits + i, sizeof(word));
		word &= GPB_ALL_VISIBLE;
		memcpy(bits + i, &word, sizeof(word));
	}
	for (; i < bytes; i++)
		bits[i] &= (uint8) GPB_ALL_VISIBLE;
}

/*
 * Copy "bytes" bytes of the map from page "page" on; what the map does not have is zero.  The bits
 * that say "all frozen" are left out, since their place is taken.
 */
static void
copy_map(const GpbVisibleBlocks *visible, BlockNumber page, uint8 *into, Size bytes)
{
	while (bytes > 0)
	{
		Size		n = Min(bytes, GPB_VM_PAGE_BYTES);

		CHECK_FOR_INTERRUPTS();
		if (page < visible->map_pages)
		{
			copy_map_page(visible->heap, page, into, n);
			keep_visible(into, n);
		}
		else
			memset(into, 0, n);
		page++;
		into += n;
		bytes -= n;
	}
}

/* ---- settled pages ---- */

/* Is the block known already? */
static inline bool
has_bit(const uint8 *bits, uint32 at)
{
	return gpb_heap_bits(bits, at) != 0;
}

/* Make the rows of the page that are not seen exceptions.  Returns false if there are too many. */
static bool
add_exceptions(GpbVisibleBlocks *visible, BlockNumber block, const GpbSettledPage *page)
{
	int			w;

	if (visible->nexceptions + GPB_SETTLED_OFFSETS > (uint32) gpb_most_exceptions)
		return false;
	if (visible->nexceptions + GPB_SETTLED_OFFSETS > visible->room)
	{
		visible->room = Min(Max(1024, 4 * visible->room), (uint32) gpb_most_exceptions);
		visible->exceptions = visible->exceptions == NULL ?
			palloc(visible->room * sizeof(uint64)) :
			repalloc(visible->exceptions, visible->room * sizeof(uint64));
	}
	for (w = 0; w < lengthof(page->unseen); w++)
	{
		uint64		bits = page->unseen[w];

		for (; bits != 0; bits &= bits - 1)
			visible->exceptions[visible->nexceptions++] = (uint64) block << 16 |
				(w * 64 + pg_rightmost_one_pos64(bits) + 1);
	}
	return true;
}

/* Where does the ascending run end that begins at tids[from]? */
static uint32
run_end(const uint64 *tids, uint32 from, uint32 end)
{
	uint32		i = from + 1;

	while (i < end && tids[i] > tids[i - 1])
		i++;
	return Min(i, end);
}

/* Merge two ascending runs, tids[0 .. middle) and tids[middle .. end). */
static void
merge_runs(uint64 *tids, uint32 middle, uint32 end)
{
	uint32		left = middle;	/* what is left of the first run, ... */
	uint32		right = end - middle;	/* ... and of the second, a copy */
	uint64	   *second = palloc(right * sizeof(uint64));

	memcpy(second, tids + middle, right * sizeof(uint64));
	while (right > 0)
	{
		if (left > 0 && tids[left - 1] > second[right - 1])
		{
			tids[left + right - 1] = tids[left - 1];
			left--;
		}
		else
		{
			tids[left + right - 1] = second[right - 1];
			right--;
		}
	}
	pfree(second);
}

/*
 * Put the exceptions from number "begin" on in order.  Listed blocks, those tried and those of the
 * window were looked at one after the other, each in order, so there are a few ascending runs.
 */
static void
order_exceptions(GpbVisibleBlocks *visible, uint32 begin)
{
	uint64	   *tids = visible->exceptions + begin;
	uint32		n = visible->nexceptions - begin;
	uint32		done;

	if (n == 0)
		return;
	done = run_end(tids, 0, n);
	while (done < n)
	{
		uint32		next = run_end(tids, done, n);

		merge_runs(tids, done, next);
		done = next;
	}
}

/* Set a bit of block first + at if the page is settled.  Returns whether it is. */
static inline bool
look_at(GpbVisibleBlocks *visible, BlockNumber first, uint32 at, uint8 *bits)
{
	GpbSettledPage page;
	int			bit = 1;

	if (!gpb_settled_look(&visible->settled, first + at, &page))
		return false;
	if (!gpb_settled_sees_all(&page))
	{
		if (!add_exceptions(visible, first + at, &page))
			return true;
		bit = 2;
	}
	bits[at / GPB_HEAPBLOCKS_PER_BYTE] |= bit << (2 * (at % GPB_HEAPBLOCKS_PER_BYTE));
	visible->settled_blocks++;
	return true;
}

/*
 * Look at n blocks, which ascend, but for those that are known already.  The bits begin with block
 * "first".
 */
static void
look_at_blocks(GpbVisibleBlocks *visible, const BlockNumber *blocks, uint32 n, BlockNumber first,
			   uint8 *bits)
{
	uint32		i;

	CHECK_FOR_INTERRUPTS();
	for (i = 0; i < Min(GPB_CELLS_AHEAD, n); i++)
		gpb_settled_prefetch(&visible->settled, blocks[i]);
	for (i = 0; i < n; i++)
	{
		if (i + GPB_CELLS_AHEAD < n)
			gpb_settled_prefetch(&visible->settled, blocks[i + GPB_CELLS_AHEAD]);
		if (i + GPB_PAGES_AHEAD < n)
			gpb_settled_prefetch_page(&visible->settled, blocks[i + GPB_PAGES_AHEAD]);
		if (!has_bit(bits, blocks[i] - first))
			(void) look_at(visible, first, blocks[i] - first, bits);
	}
}

/*
 * Word number i of the bits of n blocks.  Blocks beyond these count as all-visible, those included
 * that share the last byte with some that are: else nearly each table would have a block to look
 * at.
 */
static inline uint64
bits_word(const uint8 *bits, uint32 n, uint32 i)
{
	uint64		word = 0;
	Size		at = (Size) i * sizeof(word);
	uint32		blocks = n - i * GPB_WORD_BLOCKS;

	if (blocks >= GPB_WORD_BLOCKS)
		memcpy(&word, bits + at, sizeof(word));
	else
	{
		memcpy(&word, bits + at, (blocks + GPB_HEAPBLOCKS_PER_BYTE - 1) / GPB_HEAPBLOCKS_PER_BYTE);
		word |= GPB_ALL_VISIBLE << 2 * blocks;
	}
	return word & GPB_ALL_VISIBLE;
}

/* Count the blocks of words [from, to) of the bits of n blocks that are not all-visible. */
static uint32
count_unset(const uint8 *bits, uint32 n, uint32 from, uint32 to)
{
	uint32		unset = 0;
	uint32		i;

	for (i = from; i < to; i++)
	{
		uint64		word = bits_word(bits, n, i);

		if (word != GPB_ALL_VISIBLE)
			unset += GPB_WORD_BLOCKS - pg_popcount64(word);
	}
	return unset;
}

/*
 * Look at a few blocks of [from, to) that are not all-visible by the map.  Is any of them settled?
 */
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

/*
 * Estimate the window, and with it how many blocks are worth a look (engine_price.h).  An entry
 * that is left to the heap costs 10 ns where a page has many of them, and 300 ns where it is alone.
 */
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
 * Look at the blocks of words [from, to) of the bits, which are those of n blocks from "first" on,
 * that are not all-visible.
 */
static void
look_at_words(GpbVisibleBlocks *visible, uint32 from, uint32 to, BlockNumber first, uint32 n,
			  uint8 *bits)
{
	BlockNumber blocks[GPB_BLOCKS_AT_ONCE];
	uint32		count = 0;
	uint32		i;

	for (i = from; i < to; i++)
	{
		uint64		missing = ~bits_word(bits, n, i) & GPB_ALL_VISIBLE;

		while (missing != 0)
		{
			uint32		at = i * GPB_WORD_BLOCKS + pg_rightmost_one_pos64(missing) / 2;

			missing &= missing - 1;
			blocks[count++] = first + at;
		}
		if (count > GPB_BLOCKS_AT_ONCE - GPB_WORD_BLOCKS || i + 1 == to)
		{
			look_at_blocks(visible, blocks, count, first, bits);
			count = 0;
		}
	}
}

/* Mark the settled pages of the window among n blocks from "first" on. */
static void
mark_window(GpbVisibleBlocks *visible, BlockNumber first, uint32 n, uint8 *bits)
{
	BlockNumber begin;
	BlockNumber end;
	uint32		from;
	uint32		to;
	uint32		unset;

	if (count_unset(bits, n, 0, (n + GPB_WORD_BLOCKS - 1) / GPB_WORD_BLOCKS) == 0)
		return;
	find_window(visible);
	begin = Max(visible->window.from, first);
	end = Min(visible->window.to, first + n);
	if (begin >= end)
		return;
	from = (begin - first) / GPB_WORD_BLOCKS;
	to = (end - first + GPB_WORD_BLOCKS - 1) / GPB_WORD_BLOCKS;
	unset = count_unset(bits, n, from, to);
	if (unset == 0 || unset > visible->budget)
		return;
	visible->budget -= unset;
	if (unset > GPB_LOOKS_ALWAYS && !try_blocks(visible, first, begin - first, end - first, bits))
		return;
	look_at_words(visible, from, to, first, n, bits);
}

/* Mark those of the listed blocks that are settled, among n blocks from "first" on. */
static void
mark_listed(GpbVisibleBlocks *visible, BlockNumber first, uint32 n, uint8 *bits)
{
	BlockNumber blocks[GPB_BLOCKS_AT_ONCE];
	uint64		next = first;
	uint32		count;

	while ((count = gpb_block_set_next(visible->listed, &next, GPB_BLOCKS_AT_ONCE, blocks)) > 0)
	{
		bool		last = blocks[count - 1] - first >= n;

		while (count > 0 && blocks[count - 1] - first >= n)
			count--;
		look_at_blocks(visible, blocks, count, first, bits);
		if (last)
			return;
	}
}

void
gpb_visible_blocks_fill(GpbVisibleBlocks *visible, BlockNumber first, uint32 n, uint8 *bits)
{
	uint32		exceptions = visible->nexceptions;

	Assert(first % GPB_VM_PAGE_BLOCKS == 0);
	copy_map(visible, first / GPB_VM_PAGE_BLOCKS, bits,
			 ((Size) n + GPB_HEAPBLOCKS_PER_BYTE - 1) / GPB_HEAPBLOCKS_PER_BYTE);
	if (!visible->settled.eligible)
		return;
	if (visible->listed != NULL)
		mark_listed(visible, first, n, bits);
	mark_window(visible, first, n, bits);
	order_exceptions(visible, exceptions);
}

void
gpb_visible_blocks_end(GpbVisibleBlocks *visible)
{
	if (visible->exceptions != NULL)
		pfree(visible->exceptions);
	visible->exceptions = NULL;
}
