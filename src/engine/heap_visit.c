/*-------------------------------------------------------------------------
 *
 * heap_visit.c
 *	  Heap visits: entries whose visibility the heap must decide (rule M6).
 *
 * Entries are gathered, sorted by TID and looked up with the snapshot, so that a heap page is
 * visited once for all of its entries in a batch.  Pages to come are prefetched as a bitmap scan's
 * are.
 *
 * Where nobody wants the rows themselves, all entries of a heap page are judged together
 * (heap_page.h).  Rows that are wanted, and those of other access methods, are fetched one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "access/tableam.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/itemptr.h"
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "index/index.h"
#include "engine/heap_page.h"
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
	GpbHeapPages *pages;		/* judges pages; NULL if rows must be fetched one by one */
	IndexFetchTableData *fetch; /* NULL until first needed, as slot is */
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
gpb_visit_begin(Relation heap, Relation index, Snapshot snapshot, int width,
				GpbVisitCallback callback, void *arg)
{
	GpbHeapVisit *visit = palloc0(sizeof(GpbHeapVisit));

	visit->heap = heap;
	visit->index = index;
	visit->snapshot = snapshot;
	visit->callback = callback;
	visit->arg = arg;
	visit->pages = callback == NULL ? NULL : gpb_heap_pages_begin(heap, snapshot);
	visit->width = width;
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
	gpb_heap_pages_end(visit->pages);
	if (visit->fetch != NULL)
	{
		table_index_fetch_end(visit->fetch);
		ExecDropSingleTupleTableSlot(visit->slot);
	}
	if (visit->records != NULL)
		pfree(visit->records);
	if (visit->order != NULL)
		pfree(visit->order);
	pfree(visit);
}

/* The line pointer to which an entry leads. */
static inline OffsetNumber
visit_offset(const GpbHeapVisit *visit, uint64 locator)
{
	OffsetNumber offset = gpb_locator_offset(locator);

	if (unlikely(offset == InvalidOffsetNumber))
		gpb_corrupted_index(visit->index, "entry points to no heap tuple");
	return offset;
}

/* ---- row by row ---- */

/* Prepare to fetch rows, in the memory of the visits. */
static void
visit_open_fetch(GpbHeapVisit *visit)
{
	MemoryContext caller;

	if (visit->fetch != NULL)
		return;
	caller = MemoryContextSwitchTo(GetMemoryChunkContext(visit));
	visit->slot = table_slot_create(visit->heap, NULL);
	visit->fetch = table_index_fetch_begin(visit->heap);
	MemoryContextSwitchTo(caller);
}

/* Put the row at this TID that the snapshot sees into the slot.  Returns false if it sees none. */
static bool
fetch_visible(GpbHeapVisit *visit, uint64 locator)
{
	OffsetNumber offset = visit_offset(visit, locator);
	ItemPointerData tid;
	bool		call_again = false;

	ItemPointerSet(&tid, gpb_locator_block(locator), offset);
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
	if (visit->norder > 0 && visit->fetch != NULL)
	{
		ExecClearTuple(visit->slot);
		table_index_fetch_reset(visit->fetch);
	}
	if (visit->pages != NULL)
		gpb_heap_pages_release(visit->pages);
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
	visit_open_fetch(visit);
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

/* ---- page by page ---- */

/* Count n rows that the snapshot sees in the table's statistics, as core's index scans do. */
static inline void
visit_count_seen(GpbHeapVisit *visit, int n)
{
	if (pgstat_should_count_relation(visit->index))
		GPB_TUPLES_FETCHED(visit->index) += n;
}

/*
 * Judge up to MaxHeapTuplesPerPage entries of visit->order from visit->at on that are on one heap
 * page, and call the callback for those that the snapshot sees.
 */
static void
visit_next_page(GpbHeapVisit *visit)
{
	BlockNumber block = visit_block(visit, visit->at);
	GpbRangeEntry *entries[MaxHeapTuplesPerPage];
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	uint8		seen[MaxHeapTuplesPerPage];
	int			n;
	int			i;

	for (n = 0; n < MaxHeapTuplesPerPage && visit->at + n < visit->norder &&
		 visit_block(visit, visit->at + n) == block; n++)
	{
		entries[n] = visit_entry(visit, visit->started, visit->order[visit->at + n] & 0xFFFF);
		offsets[n] = visit_offset(visit, gpb_row_locator(entries[n]->row));
	}
	if (visit->ahead > 0 && visit->at + n < visit->norder)
		gpb_heap_pages_ahead(visit->pages, visit_block(visit, visit->at + n));
	visit_count_seen(visit, gpb_heap_pages_judge(visit->pages, block, offsets, n, seen));
	for (i = 0; i < n; i++)
	{
		if (seen[i] == GPB_ENTRY_SEEN)
			visit->callback(visit->arg, entries[i]);
	}
	visit->visited += n;
	visit->at += n;
}

/* Visit all entries that were started with, a page at a time. */
static void
visit_pages(GpbHeapVisit *visit)
{
	while (visit->at < visit->norder)
	{
		CHECK_FOR_INTERRUPTS();
		/* visit_next_page() fetches one page ahead by itself. */
		if (visit->ahead > 1)
			prefetch_visits(visit);
		visit_next_page(visit);
	}
	gpb_visit_stop(visit);
}

/* Visit at most GPB_HEAP_BATCH entries, and call the callback for those that are visible. */
static void
visit_batch(GpbHeapVisit *visit, GpbRangeEntry *entries, int n)
{
	TupleTableSlot *slot;
	GpbRangeEntry *entry;

	gpb_visit_start(visit, entries, n, false);
	if (visit->pages != NULL)
	{
		visit_pages(visit);
		return;
	}
	while ((entry = gpb_visit_next(visit, NULL, NULL, &slot)) != NULL)
		visit->callback(visit->arg, entry);
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

/* ---- a leaf at a time ---- */

/* Entries of a leaf are visited at once if there are at least so many on each heap page */
#define GPB_LEAF_PAGE_ENTRIES	8

/* The number of entries in n spans. */
static int
spans_entries(const GpbHeapSpan *spans, int n)
{
	int			entries = 0;
	int			i;

	for (i = 0; i < n; i++)
		entries += spans[i].end - spans[i].first;
	return entries;
}

/* Judge entries [first, end) of a leaf, which lead to one heap page and are not too many for it. */
static void
visit_span(GpbHeapVisit *visit, BlockNumber block, const char *page, int row_width, int first,
		   int end, uint8 *visible)
{
	OffsetNumber offsets[MaxHeapTuplesPerPage];
	const char *row = gpb_page_row(page, row_width, first);
	int			n = end - first;
	int			i;

	for (i = 0; i < n; i++, row -= row_width)
		offsets[i] = visit_offset(visit, gpb_stored_locator(row, row_width));
	visit_count_seen(visit,
					 gpb_heap_pages_judge(visit->pages, block, offsets, n, visible + first));
	visit->visited += n;
}

bool
gpb_visit_leaf(GpbHeapVisit *visit, const char *page, int row_width, const GpbHeapSpan *spans,
			   int n,
			   uint8 *visible)
{
	int			i;

	if (visit->pages == NULL || (n > 1 && spans_entries(spans, n) < GPB_LEAF_PAGE_ENTRIES * n))
		return false;
	for (i = 0; i < n; i++)
	{
		const GpbHeapSpan *span = &spans[i];
		int			first;

		CHECK_FOR_INTERRUPTS();
		/* Of blocks in a row the system reads ahead by itself. */
		if (visit->ahead > 0 && i + 1 < n && spans[i + 1].block != span->block + 1)
			gpb_heap_pages_ahead(visit->pages, spans[i + 1].block);
		for (first = span->first; first < span->end; first += MaxHeapTuplesPerPage)
			visit_span(visit, span->block, page, row_width, first,
					   Min(first + MaxHeapTuplesPerPage, span->end), visible);
	}
	return true;
}

/* ---- pages for their own sake ---- */

void
gpb_visit_pages(GpbHeapVisit *visit, const BlockNumber *blocks, uint32 n)
{
	uint32		i;

	if (visit->pages == NULL)
		return;
	for (i = 0; i < n; i++)
	{
		CHECK_FOR_INTERRUPTS();
		if (visit->ahead > 0 && i + visit->ahead < n)
			(void) PrefetchBuffer(visit->heap, MAIN_FORKNUM, blocks[i + visit->ahead]);
		(void) gpb_heap_pages_judge(visit->pages, blocks[i], NULL, 0, NULL);
	}
	gpb_heap_pages_release(visit->pages);
}

uint64
gpb_visit_count(const GpbHeapVisit *visit)
{
	return visit->visited;
}

uint64
gpb_visit_pages_count(const GpbHeapVisit *visit)
{
	return visit->pages == NULL ? 0 : gpb_heap_pages_count(visit->pages);
}
