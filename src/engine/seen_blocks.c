/*-------------------------------------------------------------------------
 *
 * seen_blocks.c
 *	  Are all rows of a stretch of heap blocks seen by a snapshot?
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "engine/seen_blocks.h"

/* The map is read so far beyond what is asked for: the next leaf's blocks are there. */
#define MAP_AHEAD		1024

/* Blocks that are tested together where a stretch grows downwards */
#define DOWNWARDS		512

/* Of an interval of so many blocks the last one is tested first: new rows are there. */
#define WIDE_INTERVAL	1024

/* How far ahead what a look needs is prefetched: the cell, and the page's header */
#define CELLS_AHEAD		8
#define PAGES_AHEAD		4

void
gpb_seen_begin(GpbSeenBlocks *seen)
{
	memset(seen, 0, sizeof(*seen));
	seen->unseen = PG_UINT64_MAX;
}

/* Does a look find all rows of this block seen?  If not, that is remembered. */
static bool
look_at(GpbSeenBlocks *seen, GpbSettledReader *settled, BlockNumber block)
{
	GpbSettledPage page;

	seen->looks--;
	if (settled->eligible && gpb_settled_look(settled, block, &page) &&
		gpb_settled_sees_all(&page))
		return true;
	seen->unseen = block;
	return false;
}

/*
 * The first block from "first" on that is not seen, or not known to be for want of looks; beyond
 * "last" if there is none up to that.
 */
static uint64
seen_upto(GpbSeenBlocks *seen, GpbVisibility *visibility, GpbSettledReader *settled,
		  uint64 first, uint64 last)
{
	uint64		map_end = (last / GPB_VM_PAGE_BLOCKS + 1) * GPB_VM_PAGE_BLOCKS - 1;
	BlockNumber ahead = (BlockNumber) Min(Min(last + MAP_AHEAD, map_end), MaxBlockNumber);
	uint64		block = gpb_visibility_first_unmarked(visibility, (BlockNumber) first, ahead);

	if (block <= last && !settled->eligible)
		seen->unseen = block;
	while (block <= last && settled->eligible && seen->looks > 0)
	{
		gpb_settled_prefetch(settled, (BlockNumber) block + CELLS_AHEAD);
		gpb_settled_prefetch_page(settled, (BlockNumber) block + PAGES_AHEAD);
		if (!look_at(seen, settled, (BlockNumber) block))
			break;
		block = block < ahead ?
			gpb_visibility_first_unmarked(visibility, (BlockNumber) block + 1, ahead) : block + 1;
	}
	return block;
}

/* Find the stretch that these blocks overlap or adjoin, or begin one at the first of them. */
static GpbSeenStretch *
find_stretch(GpbSeenBlocks *seen, uint64 first, uint64 last)
{
	GpbSeenStretch *empty = NULL;
	int			i;

	for (i = 0; i < GPB_SEEN_STRETCHES; i++)
	{
		GpbSeenStretch *stretch = &seen->stretch[i];

		if (stretch->first == stretch->end)
			empty = stretch;
		else if (first <= stretch->end && last + 1 >= stretch->first)
			return stretch;
	}
	if (empty == NULL)
		empty = &seen->stretch[seen->turn++ % GPB_SEEN_STRETCHES];
	empty->first = empty->end = first;
	return empty;
}

/* Was this block, where a pass has stopped, found not to be seen? */
static GpbSeen
stopped(const GpbSeenBlocks *seen, uint64 block)
{
	return seen->unseen == block ? GPB_SEEN_NOT_ALL : GPB_SEEN_LATER;
}

GpbSeen
gpb_seen_blocks(GpbSeenBlocks *seen, GpbVisibility *visibility, GpbSettledReader *settled,
				BlockNumber first, BlockNumber last)
{
	GpbSeenStretch *stretch;

	if (gpb_seen_knows_unseen(seen, first, last))
		return GPB_SEEN_NOT_ALL;
	stretch = find_stretch(seen, first, last);
	seen->last = (uint32) (stretch - seen->stretch);
	if (stretch->end <= last)
	{
		if (last - stretch->end > WIDE_INTERVAL && seen->looks > 0 &&
			gpb_visibility_first_unmarked(visibility, last, last) == last &&
			!look_at(seen, settled, last))
			return GPB_SEEN_NOT_ALL;
		stretch->end = seen_upto(seen, visibility, settled, stretch->end, last);
		if (stretch->end <= last)
			return stopped(seen, stretch->end);
	}
	while (stretch->first > first)
	{
		uint64		lower = stretch->first - Min(stretch->first - first, DOWNWARDS);
		uint64		end = seen_upto(seen, visibility, settled, lower, stretch->first - 1);

		if (end < stretch->first)
			return stopped(seen, end);
		stretch->first = lower;
	}
	return GPB_SEEN_ALL;
}
