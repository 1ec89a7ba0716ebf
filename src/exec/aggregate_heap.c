/*-------------------------------------------------------------------------
 *
 * aggregate_heap.c
 *	  Heap visits: entries whose visibility the heap must decide (rule M6).
 *
 * Entries are gathered, sorted by TID and looked up with the snapshot, so that a heap
 * page is visited once for all of its entries in a batch.  Only entries that were in the
 * index at some moment after the snapshot was taken may come here: if such a
 * TID has been recycled since, it holds a tuple that the snapshot cannot see.
 * No dead hints are set from here.
 *
 *-------------------------------------------------------------------------
 */
#include "../compat.h"

#include "access/tableam.h"
#include "executor/tuptable.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/itemptr.h"

#include "../leaf_aggregate.h"
#include "aggregate_node.h"

/*
 * What is sorted: the TID in the upper 48 bits, the record's number below.
 */
#define ST_SORT gpb_sort_visits
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

struct GpbHeapVisit
{
	IndexFetchTableData *fetch;
	TupleTableSlot *slot;
	int			width;			/* bytes of a record */
	char	   *records;		/* added and not yet visited */
	int			nrecords;
	int			capacity;
	uint64	   *order;			/* GPB_HEAP_BATCH places */
};

#define GPB_HEAP_INITIAL	1024	/* records there is room for at first */

static GpbHeapVisit *
gpb_heap_visit_get(GpbAggregateRun *run)
{
	GpbHeapVisit *visit = run->heap_visit;

	if (visit == NULL)
	{
		visit = palloc0(sizeof(GpbHeapVisit));
		visit->fetch = table_index_fetch_begin(run->heap);
		visit->slot = table_slot_create(run->heap, NULL);
		visit->width = gpb_heap_entry_width(run->spec.layout.row_width);
		run->heap_visit = visit;
	}
	return visit;
}

/* Close what heap visits opened, if anything. */
void
gpb_heap_visit_release(GpbAggregateRun *run)
{
	GpbHeapVisit *visit = run->heap_visit;

	if (visit == NULL)
		return;
	run->heap_visit = NULL;
	table_index_fetch_end(visit->fetch);
	ExecDropSingleTupleTableSlot(visit->slot);
	if (visit->records != NULL)
		pfree(visit->records);
	if (visit->order != NULL)
		pfree(visit->order);
	pfree(visit);
}

/* Does the snapshot see a version of the row at this TID? */
static bool
gpb_heap_visible(GpbAggregateRun *run, GpbHeapVisit *visit, uint64 locator)
{
	ItemPointerData tid;
	bool		call_again = false;
	bool		found;

	if (unlikely(gpb_locator_offset(locator) == InvalidOffsetNumber))
		ereport(ERROR,
				(errcode(ERRCODE_INDEX_CORRUPTED),
				 errmsg("index \"%s\" is corrupted: entry points to no heap tuple",
						RelationGetRelationName(run->index)),
				 errhint("REINDEX rebuilds the index from its table.")));

	ItemPointerSet(&tid, gpb_locator_block(locator), gpb_locator_offset(locator));
	found = table_index_fetch_tuple(visit->fetch, &tid, run->snapshot, visit->slot,
									&call_again, NULL);
	ExecClearTuple(visit->slot);
	return found;
}

/* Visit at most GPB_HEAP_BATCH records. */
static void
gpb_heap_visit_batch(GpbAggregateRun *run, GpbHeapVisit *visit,
					 const char *records, int n)
{
	int			i;

	if (visit->order == NULL)
		visit->order = palloc(sizeof(uint64) * GPB_HEAP_BATCH);
	for (i = 0; i < n; i++)
	{
		uint64		locator = gpb_row_locator(records + (size_t) i * visit->width + 8);

		visit->order[i] = (locator & GPB_TID_MASK) << 16 | i;
	}
	gpb_sort_visits(visit->order, n);

	for (i = 0; i < n; i++)
	{
		const char *record = records +
			(size_t) (visit->order[i] & 0xFFFF) * visit->width;

		CHECK_FOR_INTERRUPTS();
		if (!gpb_heap_visible(run, visit, gpb_row_locator(record + 8)))
			continue;
		gpb_entry_aggregate(&run->spec, *(const uint64 *) record, record + 8,
							&run->totals.state, run->totals.sums);
		pgstat_count_heap_fetch(run->index);
	}
	table_index_fetch_reset(visit->fetch);
	run->counters->heap_entries += n;
}

void
gpb_heap_visit(GpbAggregateRun *run, const char *records, int n)
{
	GpbHeapVisit *visit = gpb_heap_visit_get(run);

	while (n > 0)
	{
		int			batch = Min(n, GPB_HEAP_BATCH);

		gpb_heap_visit_batch(run, visit, records, batch);
		records += (size_t) batch * visit->width;
		n -= batch;
	}
}

/* Room for one more record, growing up to a whole batch. */
static char *
gpb_heap_room(GpbHeapVisit *visit)
{
	if (visit->records == NULL)
	{
		visit->capacity = GPB_HEAP_INITIAL;
		visit->records = palloc((Size) visit->capacity * visit->width);
	}
	else if (visit->nrecords == visit->capacity)
	{
		visit->capacity *= 2;
		visit->records = repalloc(visit->records,
								  (Size) visit->capacity * visit->width);
	}
	return visit->records + (size_t) visit->nrecords * visit->width;
}

void
gpb_heap_add(GpbAggregateRun *run, uint64 key, const char *row)
{
	GpbHeapVisit *visit = gpb_heap_visit_get(run);
	char	   *record = gpb_heap_room(visit);

	*(uint64 *) record = key;
	memcpy(record + 8, row, run->spec.layout.row_width);
	if (++visit->nrecords == GPB_HEAP_BATCH)
		gpb_heap_flush(run);
}

void
gpb_heap_flush(GpbAggregateRun *run)
{
	GpbHeapVisit *visit = run->heap_visit;

	if (visit == NULL || visit->nrecords == 0)
		return;
	gpb_heap_visit_batch(run, visit, visit->records, visit->nrecords);
	visit->nrecords = 0;
}
