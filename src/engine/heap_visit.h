/*-------------------------------------------------------------------------
 *
 * heap_visit.h
 *	  Heap visits: entries whose visibility the heap must decide (rule M6).
 *
 * Only entries that were in the index at some moment after the snapshot was taken may
 * come here: if such a TID has been recycled since, it holds a tuple that the snapshot
 * cannot see.  No dead hints are set from here.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_HEAP_VISIT_H
#define GPB_HEAP_VISIT_H

#include "postgres.h"
#include "executor/tuptable.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "ranges.h"

/*
 * Entries that are sorted and visited together at most; gathered ones also keep within work_mem / 4
 */
#define GPB_HEAP_BATCH		65536

/*
 * Called for each entry whose row the snapshot sees, in the order of TIDs within a batch; slot
 * has the row, until the call returns.
 */
typedef void (*GpbVisitCallback) (void *arg, GpbRangeEntry *entry, TupleTableSlot *slot);

typedef struct GpbHeapVisit GpbHeapVisit;

/* Records of so many bytes that are gathered before they are visited */
extern int	gpb_visit_batch_size(int width);

/*
 * Prepare visits to a table.  Entries with GPB_RANGE_ENTRY_VISIBLE are passed over.
 */
extern GpbHeapVisit *gpb_visit_begin(Relation heap, Relation index, Snapshot snapshot,
									 int row_width, GpbVisitCallback callback, void *arg);
/*
 * Close what visits opened, and free; records that were added or started with are forgotten.  NULL
 * is allowed.
 */
extern void gpb_visit_end(GpbHeapVisit *visit);

/*
 * Visit entries while the caller asks for one row after the other, without the callback.  Start
 * with at most GPB_HEAP_BATCH entries, gpb_range_entry_width() apart, which live until they were
 * visited; each call of next returns the next one whose row the snapshot sees, with the row in
 * *slot until the call after that (it holds a pin), or NULL when all were visited.  in_order: in
 * the order in which they lie instead of that of TIDs.  skip, if not NULL, says of an entry that it
 * need not be visited any more.  No buffer lock may be held.
 */
typedef bool (*GpbVisitSkip) (void *arg, const GpbRangeEntry *entry);

extern void gpb_visit_start(GpbHeapVisit *visit, GpbRangeEntry *entries, int n, bool in_order);
extern GpbRangeEntry *gpb_visit_next(GpbHeapVisit *visit, GpbVisitSkip skip, void *arg,
									 TupleTableSlot **slot);
/* Forget what was started and not visited; the row's pin is dropped. */
extern void gpb_visit_stop(GpbHeapVisit *visit);

/* Visit n entries that lie gpb_range_entry_width() apart.  No buffer lock may be held. */
extern void gpb_visit_records(GpbHeapVisit *visit, GpbRangeEntry *entries, uint64 n);

/*
 * A place for one more entry, which the caller fills before the next call; when enough
 * are gathered they are visited first.  No buffer lock may be held.
 */
extern GpbRangeEntry *gpb_visit_add(GpbHeapVisit *visit);
/* Visit what was added. */
extern void gpb_visit_flush(GpbHeapVisit *visit);

/* Entries visited so far, seen by the snapshot or not. */
extern uint64 gpb_visit_count(const GpbHeapVisit *visit);

#endif							/* GPB_HEAP_VISIT_H */
