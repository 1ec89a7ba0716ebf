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

/* Entries that are sorted and visited together at most; gathered ones also keep within work_mem / 4 */
#define GPB_HEAP_BATCH		65536

/*
 * Called for each record whose row the snapshot sees, in the order of TIDs within a batch; slot
 * has the row, until the call returns.
 */
typedef void (*GpbVisitCallback) (void *arg, char *record, TupleTableSlot *slot);

typedef struct GpbHeapVisit GpbHeapVisit;

/* Records of so many bytes that are gathered before they are visited */
extern int	gpb_visit_batch_size(int width);

/*
 * Prepare visits to a table.  Records are heap entries of an aggregate (see
 * gpb_heap_entry_width) or, if ranged, range entries (see gpb_range_entry_width): of the latter
 * those with GPB_RANGE_ENTRY_VISIBLE are passed over.
 */
extern GpbHeapVisit *gpb_visit_begin(Relation heap, Relation index, Snapshot snapshot,
									 int row_width, bool ranged,
									 GpbVisitCallback callback, void *arg);
/* Close what visits opened, and free; records that were added or started with are forgotten.  NULL is allowed. */
extern void gpb_visit_end(GpbHeapVisit *visit);

/*
 * The same, the caller asking for one row after the other.  Start with at most GPB_HEAP_BATCH records, which
 * live until they were visited; each call of next returns the next one whose row the snapshot sees,
 * with the row in *slot until the call after that (it holds a pin), or NULL when all were visited.
 * in_order: in the records' order instead of that of TIDs.  skip, if not NULL, says of a record
 * that it need not be visited any more.  No buffer lock may be held.
 */
typedef bool (*GpbVisitSkip) (void *arg, const char *record);

extern void gpb_visit_start(GpbHeapVisit *visit, char *records, int n, bool in_order);
extern char *gpb_visit_next(GpbHeapVisit *visit, GpbVisitSkip skip, void *arg,
							TupleTableSlot **slot);
/* Forget what was started and not visited; the row's pin is dropped. */
extern void gpb_visit_stop(GpbHeapVisit *visit);

/* Visit n records that lie one after the other.  No buffer lock may be held. */
extern void gpb_visit_records(GpbHeapVisit *visit, char *records, uint64 n);

/*
 * A place for one more record, which the caller fills before the next call; when enough
 * are gathered they are visited first.  No buffer lock may be held.
 */
extern char *gpb_visit_add(GpbHeapVisit *visit);
/* Visit what was added. */
extern void gpb_visit_flush(GpbHeapVisit *visit);

/* Records visited so far, seen by the snapshot or not. */
extern uint64 gpb_visit_count(const GpbHeapVisit *visit);

#endif							/* GPB_HEAP_VISIT_H */
