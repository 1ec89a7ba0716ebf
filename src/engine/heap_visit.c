/*-------------------------------------------------------------------------
 *
 * heap_visit.c
 *	  Heap visits: entries whose visibility the heap must decide (rule M6).
 *
 * Entries are gathered, sorted by TID and looked up with the snapshot, so that a heap page is
 * visited once for all of its entries in a batch.  Pages to come are prefetched as a bitmap scan's
 * are.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/tableam.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/itemptr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "index/index.h"
#include "engine/heap_visit.h"

/*
 * sort_visits() sorts words that have a TID in the upper 48 bits and a record's number below.
 */
#define ST_SORT sort_visits
#define ST_ELEMENT_TYPE uint64
#define ST_COMPARE(a, b) (*(a) < *(b) ? -1 : *(a) > *(b))
#define ST_SCOPE static
#define ST_DEFINE
#include "lib/sort_template.h"

StaticAssertDecl(GPB_HEAP_BATCH <= 65536, "numbers of records fit 16 bits");

struct GpbHeapVisit
{
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;
	GpbVisitCallback callback;
	void	   *arg;
	IndexFetchTableData *fetch;
	TupleTableSlot *slot;
	int			width;			/* bytes from one record to the next */
	int			ahead;			/* number of blocks to prefetch */
	int			most;			/* the most records that are gathered */
	uint64		visited;
	char	   *records;		/* records that were added and not yet visited */
	int			nrecords;
	int			capacity;

	/* The entries that gpb_visit_start() was given */
	char	   *started;
	uint64	   *order;			/* TIDs and numbers of the records, in the order of visits */
	int			order_capacity;
	int			norder;
	int			at;				/* the next one of order */
	int			prefetched;		/* the first one whose block was not prefetched */
	int			pending;		/* number of blocks that were prefetched and are not reached */
};

#define GPB_HEAP_INITIAL	1024	/* number of records for which there is room at first */

int
gpb_visit_batch_size(int width)
{
	return Min(GPB_HEAP_BATCH, Max(GPB_HEAP_INITIAL, work_mem * (Size) 1024 / 4 / width));
}

GpbHeapVisit *
gpb_visit_begin(Relation heap, Relation index, Snapshot snapshot, int row_width,
				GpbVisitCallback callback, void *arg)
{
	GpbHeapVisit *visit = palloc0(sizeof(GpbHeapVisit));

	visit->heap = heap;
	visit->index = index;
	visit->snapshot = snapshot;
	visit->callback = callback;
	visit->arg = arg;
	visit->fetch = table_index_fetch_begin(heap);
	visit->slot = table_slot_create(heap, NULL);
	visit->width = gpb_range_entry_width(row_width);
	visit->most = gpb_visit_batch_size(visit->width);
	visit->ahead = get_tablespace_io_concurrency(heap->rd_rel->reltablespace);
	return visit;
}

void
gpb_visit_end(GpbHeapVisit *visit)
{
	if (visit == NULL)
		return;
	gpb_visit_stop(visit);
	table_index_fetch_end(visit->fetch);
	ExecDropSingleTupleTableSlot(visit->slot);
	if (visit->records != NULL)
		pfree(visit->records);
	if (visit->order != NULL)
		pfree(visit->order);
	pfree(visit);
}

/* Put the row at this TID that the snapshot sees into the slot.  Returns false if it sees none. */
static bool
fetch_visible(GpbHeapVisit *visit, uint64 locator)
{
	ItemPointerData tid;
	bool		call_again = false;

	if (unlikely(gpb_locator_offset(locator) == InvalidOffsetNumber))
		gpb_corrupted_index(visit->index, "entry points to no heap tuple");

	ItemPointerSet(&tid, gpb_locator_block(locator), gpb_locator_offset(locator));
	return table_index_fetch_tuple(visit->fetch, &tid, visit->snapshot, visit->slot,
								   &call_again, NULL);
}

/* Make room for n visits in visit->order, in the visits' own memory. */
static void
visit_reserve(GpbHeapVisit *visit, int n)
{
	int			capacity = Max(visit->order_capacity, GPB_HEAP_INITIAL);

	if (n <= visit->order_capacity)
		return;
	while (capacity < n)
		capacity *= 2;
	if (visit->order != NULL)
		pfree(visit->order);
	visit->order = MemoryContextAlloc(GetMemoryChunkContext(visit),
									  sizeof(uint64) * capacity);
	visit->order_capacity = capacity;
}

/* Record number i of those at "records". */
static inline GpbRangeEntry *
visit_entry(const GpbHeapVisit *visit, char *records, uint64 i)
{
	return (GpbRangeEntry *) (records + i * visit->width);
}

void
gpb_visit_start(GpbHeapVisit *visit, GpbRangeEntry *entries, int n, bool in_order)
{
	int			i;

	Assert(n <= GPB_HEAP_BATCH);
	gpb_visit_stop(visit);
	visit_reserve(visit, n);
	visit->started = (char *) entries;
	for (i = 0; i < n; i++)
	{
		const GpbRangeEntry *entry = visit_entry(visit, visit->started, i);
		uint64		tid = gpb_row_locator(entry->row) & GPB_TID_MASK;

		if ((entry->flags & GPB_RANGE_ENTRY_VISIBLE) == 0)
			visit->order[visit->norder++] = tid << 16 | i;
	}
	if (!in_order)
		sort_visits(visit->order, visit->norder);
}

void
gpb_visit_stop(GpbHeapVisit *visit)
{
	if (visit->norder > 0)
	{
		ExecClearTuple(visit->slot);
		table_index_fetch_reset(visit->fetch);
	}
	visit->norder = 0;
	visit->at = 0;
	visit->prefetched = 0;
	visit->pending = 0;
}

/* The heap block of visit number i. */
static inline BlockNumber
visit_block(const GpbHeapVisit *visit, int i)
{
	return (BlockNumber) (visit->order[i] >> 32);
}

/* Prefetch, on coming to a block, so many of the blocks after it as are wanted. */
static void
prefetch_visits(GpbHeapVisit *visit)
{
	visit->pending -= visit->at > 0;
	while (visit->prefetched < visit->norder && visit->pending < visit->ahead)
	{
		BlockNumber block = visit_block(visit, visit->prefetched);

		(void) PrefetchBuffer(visit->heap, MAIN_FORKNUM, block);
		visit->pending++;
		while (visit->prefetched < visit->norder &&
			   visit_block(visit, visit->prefetched) == block)
			visit->prefetched++;
	}
}

GpbRangeEntry *
gpb_visit_next(GpbHeapVisit *visit, GpbVisitSkip skip, void *arg, TupleTableSlot **slot)
{
	ExecClearTuple(visit->slot);
	while (visit->at < visit->norder)
	{
		int			i = visit->at;
		GpbRangeEntry *entry = visit_entry(visit, visit->started,
										   visit->order[i] & 0xFFFF);

		CHECK_FOR_INTERRUPTS();
		if (visit->ahead > 0 &&
			(i == 0 || visit_block(visit, i) != visit_block(visit, i - 1)))
			prefetch_visits(visit);
		visit->at++;
		if (skip != NULL && skip(arg, entry))
			continue;
		visit->visited++;
		if (!fetch_visible(visit, gpb_row_locator(entry->row)))
			continue;
		pgstat_count_heap_fetch(visit->index);
		*slot = visit->slot;
		return entry;
	}
	gpb_visit_stop(visit);
	return NULL;
}

/* Visit at most GPB_HEAP_BATCH entries, and call the callback for those that are visible. */
static void
visit_batch(GpbHeapVisit *visit, GpbRangeEntry *entries, int n)
{
	TupleTableSlot *slot;
	GpbRangeEntry *entry;

	gpb_visit_start(visit, entries, n, false);
	while ((entry = gpb_visit_next(visit, NULL, NULL, &slot)) != NULL)
		visit->callback(visit->arg, entry, slot);
}

void
gpb_visit_records(GpbHeapVisit *visit, GpbRangeEntry *entries, uint64 n)
{
	while (n > 0)
	{
		int			batch = (int) Min(n, GPB_HEAP_BATCH);

		visit_batch(visit, entries, batch);
		entries = visit_entry(visit, (char *) entries, batch);
		n -= batch;
	}
}

GpbRangeEntry *
gpb_visit_add(GpbHeapVisit *visit)
{
	if (visit->records == NULL)
	{
		visit->capacity = GPB_HEAP_INITIAL;
		visit->records = palloc((Size) visit->capacity * visit->width);
	}
	else if (visit->nrecords == visit->most)
		gpb_visit_flush(visit);
	else if (visit->nrecords == visit->capacity)
	{
		visit->capacity = Min(2 * visit->capacity, visit->most);
		visit->records = repalloc(visit->records,
								  (Size) visit->capacity * visit->width);
	}
	return visit_entry(visit, visit->records, visit->nrecords++);
}

void
gpb_visit_flush(GpbHeapVisit *visit)
{
	if (visit->nrecords > 0)
		visit_batch(visit, visit_entry(visit, visit->records, 0), visit->nrecords);
	visit->nrecords = 0;
}

void
gpb_visit_pages(GpbHeapVisit *visit, const BlockNumber *blocks, uint32 n)
{
}

uint64
gpb_visit_count(const GpbHeapVisit *visit)
{
	return visit->visited;
}
