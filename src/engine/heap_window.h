/*-------------------------------------------------------------------------
 *
 * heap_window.h
 *	  Where in the heap the entries of ranges lie, about.
 *
 * The separators of inner pages carry TIDs, so a few pages of the index tell between which heap
 * blocks the entries of a range are likely to lie, and about how many entries there are.  Nothing
 * but time may depend on either.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_HEAP_WINDOW_H
#define GPB_HEAP_WINDOW_H

#include "postgres.h"
#include "storage/block.h"
#include "utils/relcache.h"

#include "program/ranges.h"

/* Heap blocks [from, to), and the number of entries that may be there */
typedef struct GpbHeapWindow
{
	BlockNumber from;
	BlockNumber to;
	double		entries;
} GpbHeapWindow;

/*
 * Estimate the window of n ranges, in the form given.  Of many ranges it is the whole heap.  No
 * lock may be held on a page of the index.
 */
extern GpbHeapWindow gpb_heap_window(Relation index, const GpbLayout *layout, GpbRangeForm form,
									 const void *ranges, uint32 n);

/*
 * About how many entries n ranges have, n > 0, by the estimates of so many of them, evenly spread.
 * No lock may be held on a page of the index.
 */
extern double gpb_sampled_entries(Relation index, const GpbLayout *layout, GpbRangeForm form,
								  const void *ranges, uint32 n, uint32 samples);

#endif							/* GPB_HEAP_WINDOW_H */
