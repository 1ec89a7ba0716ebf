/*-------------------------------------------------------------------------
 *
 * heap_page.h
 *	  Which rows of a heap page does a snapshot see?  (rules M6 and M11)
 *
 * All entries that lead to one page are judged under one pin and one share lock.  This knows how
 * PostgreSQL's own heap pages look; tables of other access methods are visited row by row
 * (heap_visit.c).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_HEAP_PAGE_H
#define GPB_HEAP_PAGE_H

#include "postgres.h"
#include "storage/block.h"
#include "storage/off.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

/* The pages of one table, visited with one snapshot */
typedef struct GpbHeapPages GpbHeapPages;

/*
 * Begin to visit pages.  Returns NULL if the table is of another access method, or if the snapshot
 * needs what only core's scans do (gpb_needs_plain_scan()).
 */
extern GpbHeapPages *gpb_heap_pages_begin(Relation heap, Snapshot snapshot);
/* Drop the pin on the page that was visited last, if there is one. */
extern void gpb_heap_pages_release(GpbHeapPages *pages);
/* Drop the pin, and free the object, which may be NULL. */
extern void gpb_heap_pages_end(GpbHeapPages *pages);

/*
 * Does the snapshot see the rows to which n line pointers of a page lead, each the root of a HOT
 * chain?  Sets seen[i] to GPB_ENTRY_SEEN or GPB_ENTRY_UNSEEN for each (GpbEntryState), and returns
 * how many it sees.
 *
 * If the page's state is not known yet, all of its rows are judged, and the page is recorded if it
 * is settled.  The page is pruned as any scan would, if few were before.  It stays pinned, not
 * locked, until the next call.  No buffer lock may be held.
 */
extern int	gpb_heap_pages_judge(GpbHeapPages *pages, BlockNumber block,
								 const OffsetNumber *offsets, int n, uint8 *seen);

/* Prefetch the page that will be judged next; where it is in shared buffers is remembered. */
extern void gpb_heap_pages_ahead(GpbHeapPages *pages, BlockNumber block);

/* The number of pages that were judged, one that was left and visited anew counted again. */
extern uint64 gpb_heap_pages_count(const GpbHeapPages *pages);

#endif							/* GPB_HEAP_PAGE_H */
