/*-------------------------------------------------------------------------
 *
 * heap_visit.h
 *	  Heap visits: entries whose visibility the heap must decide (rule M6).
 *
 * Only entries that were in the index at some moment after the snapshot was taken may be visited:
 * if such a TID has been recycled since, it holds a tuple that the snapshot cannot see.  Visits set
 * no dead hints.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_HEAP_VISIT_H
#define GPB_HEAP_VISIT_H

#include "postgres.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "engine/heap_spans.h"
#include "program/ranges.h"

/*
 * The most entries that are sorted and visited together; those that are gathered also keep within
 * work_mem / 4
 */
#define GPB_HEAP_BATCH		65536

/* Called for each entry whose row the snapshot sees, in the order of TIDs within a batch. */
typedef void (*GpbVisitCallback) (void *arg, GpbRangeEntry *entry);

typedef struct GpbHeapVisit GpbHeapVisit;

/* The number of records of "width" bytes that are gathered before they are visited. */
extern int	gpb_visit_batch_size(int width);

/* Prepare visits to a table.  Entries with GPB_RANGE_ENTRY_VISIBLE are passed over. */
extern GpbHeapVisit *gpb_visit_begin(Relation heap, Relation index, Snapshot snapshot,
									 int width, GpbVisitCallback callback, void *arg);
/*
 * Close what visits opened, and free the object, which may be NULL.  Records that were added or
 * started with are forgotten.
 */
extern void gpb_visit_end(GpbHeapVisit *visit);

/*
 * Visit entries while the caller asks for one row after the other, without the callback.
 *
 * gpb_visit_start() is given at most GPB_HEAP_BATCH entries, "width" bytes apart,
 * which must live until they were visited.  They are visited in the order of TIDs or, with in_order
 * set, in the order in which they lie.  skip, if not NULL, says of an entry that it need not be
 * visited any more.
 *
 * gpb_visit_next() returns the next entry whose row the snapshot sees, or NULL when all were
 * visited.  *slot has the row, and a pin, until the next call.  No buffer lock may be held.
 */
typedef bool (*GpbVisitSkip) (void *arg, const GpbRangeEntry *entry);

extern void gpb_visit_start(GpbHeapVisit *visit, GpbRangeEntry *entries, int n, bool in_order);
extern GpbRangeEntry *gpb_visit_next(GpbHeapVisit *visit, GpbVisitSkip skip, void *arg,
									 TupleTableSlot **slot);
/*
 * Forget the entries that were started with and not visited, and drop the pin of the row or page
 * that was visited last.
 */
extern void gpb_visit_stop(GpbHeapVisit *visit);

/* Visit n entries that lie "width" bytes apart.  No buffer lock may be held. */
extern void gpb_visit_records(GpbHeapVisit *visit, GpbRangeEntry *entries, uint64 n);

/*
 * Return a place for one more entry, which the caller fills in before the next call.  When enough
 * entries are gathered, they are visited first.  No buffer lock may be held.
 */
extern GpbRangeEntry *gpb_visit_add(GpbHeapVisit *visit);
/* Visit the entries that were added. */
extern void gpb_visit_flush(GpbHeapVisit *visit);

/*
 * Visit the entries of n spans of a copied leaf at once, n > 0, if they are on few heap pages.
 * Sets visible[] (GpbEntryState) for each of them to seen or unseen.  Returns false, with nothing
 * done, if they are on so many pages that it pays to gather and to sort them, or if the table's
 * access method has no pages to judge.  No buffer lock may be held.  The last page stays pinned
 * until gpb_visit_stop().
 */
extern bool gpb_visit_leaf(GpbHeapVisit *visit, const char *page, int row_width,
						   const GpbHeapSpan *spans, int n, uint8 *visible);

/*
 * Visit n heap pages for the sake of what is known of them afterwards (settled_pages.h).  Blocks
 * ascend.  Pages that are known already are passed over.  No buffer lock may be held.
 */
extern void gpb_visit_pages(GpbHeapVisit *visit, const BlockNumber *blocks, uint32 n);

/* The number of entries visited so far, seen by the snapshot or not. */
extern uint64 gpb_visit_count(const GpbHeapVisit *visit);
/* The number of heap pages judged so far (heap_page.h). */
extern uint64 gpb_visit_pages_count(const GpbHeapVisit *visit);

#endif							/* GPB_HEAP_VISIT_H */
