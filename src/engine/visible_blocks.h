/*-------------------------------------------------------------------------
 *
 * visible_blocks.h
 *	  The heap blocks whose entries a device may count without a heap visit, as bits.
 *
 * The lower bit of a block is set if it is all-visible by the map (rule M5), or settled for the
 * snapshot without a row that is not seen (rule M11).  The upper bit is set if the block is settled
 * and has a few rows that are not seen: their TIDs are exceptions (aggregate.h).  Map and pages are
 * looked at when the bits are made, so the caller makes them after the epoch was read and before
 * the request is submitted, and its snapshot is older.
 *
 * To look at a settled page costs some 15 to 20 ns, so not every block is looked at: those in the
 * window where the ranges' entries are likely to lie, if they are worth it, and those that the
 * caller has listed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_VISIBLE_BLOCKS_H
#define GPB_VISIBLE_BLOCKS_H

#include "engine/heap_window.h"
#include "engine/settled_pages.h"
#include "engine/visibility.h"

/* The most exceptions of a request, 8 bytes each.  Pages that have more are left to the heap. */
extern int	gpb_most_exceptions;

/* A set of heap blocks: bit b % 32 of word b / 32, as gpb_count_block_words() has it */
typedef struct GpbBlockSet
{
	uint32	   *words;			/* NULL if nwords is 0 */
	uint32		nwords;
} GpbBlockSet;

/*
 * Take the next blocks of the set, from *next on: at most "most" of them, ascending, to "blocks".
 * Returns their number, 0 at the end.  *next is where the following call goes on.
 */
extern uint32 gpb_block_set_next(const GpbBlockSet *set, uint64 *next, uint32 most,
								 BlockNumber *blocks);

/* The ranges for which bits are made */
typedef struct GpbVisibleRanges
{
	Relation	index;
	const GpbLayout *layout;
	GpbRangeForm form;
	const void *ranges;
	uint32		n;
	double		entries;		/* number of entries that they had in earlier runs; 0: unknown */
} GpbVisibleRanges;

typedef struct GpbVisibleBlocks
{
	Relation	heap;
	uint32		heap_blocks;	/* number of blocks that there are bits for */
	BlockNumber map_pages;		/* number of pages of the visibility map */
	GpbSettledReader settled;
	const GpbVisibleRanges *ranges;
	const GpbBlockSet *listed;	/* blocks to look at in any case, or NULL */
	bool		has_window;		/* was the window estimated?  Where all is all-visible it is not. */
	GpbHeapWindow window;
	double		budget;			/* number of blocks of the window that may yet be looked at */
	uint64		settled_blocks; /* number of blocks that have a bit since they are settled */
	/*
	 * The exceptions of the bits made so far, ascending if these were made in ascending order; NULL
	 * until there is one.  They move when more bits are made.
	 */
	uint64	   *exceptions;
	uint32		nexceptions;
	uint32		room;			/* number of exceptions for which there is memory */
} GpbVisibleBlocks;

/* *ranges and *listed belong to *visible until its end. */
extern void gpb_visible_blocks_begin(GpbVisibleBlocks *visible, Relation heap, Snapshot snapshot,
									 const GpbVisibleRanges *ranges, const GpbBlockSet *listed);

/*
 * Make the bits of blocks [first, first + n), in whole bytes.  first is a multiple of
 * GPB_VM_PAGE_BLOCKS.  No pin is held on return (rule M9).
 */
extern void gpb_visible_blocks_fill(GpbVisibleBlocks *visible, BlockNumber first, uint32 n,
									uint8 *bits);

extern void gpb_visible_blocks_end(GpbVisibleBlocks *visible);

#endif							/* GPB_VISIBLE_BLOCKS_H */
