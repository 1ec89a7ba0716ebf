/*-------------------------------------------------------------------------
 *
 * list_rows.c
 *	  The entries that a program lists, one after the other, and the rows that they lead to.
 *
 * A batch has one program with its constants.  One whose program is asked for again goes on; for
 * another program there is another batch, and what the one before counted is kept.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/memutils.h"

#include "engine/heap_visit.h"
#include "exec/answer/list_rows.h"
#include "index/index.h"

struct GpbListRows
{
	MemoryContext context;
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;
	bool		heap_rows;
	int			width;			/* of a record */
	GpbBatch   *batch;			/* NULL if there was none yet */
	GpbProgram	program;		/* of the batch, and the form of its ranges */
	GpbRangeForm form;
	GpbHeapVisit *visit;
	bool		asked;			/* there may be more parts of the list */
	bool		visiting;		/* rows of the part at hand are being visited */
	GpbRangeEntry *records;		/* the part at hand */
	uint64		nrecords;
	uint64		next;			/* next record, or next to be visited */
	GpbBatchCounters past;		/* of batches that have ended */
	char		past_engine[128];	/* the engine of the last of them */
};

GpbListRows *
gpb_list_begin(Relation heap, Relation index, Snapshot snapshot, bool heap_rows)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree list",
												  ALLOCSET_SMALL_SIZES);
	GpbListRows *list = MemoryContextAllocZero(context, sizeof(GpbListRows));
	MemoryContext caller = MemoryContextSwitchTo(context);

	list->context = context;
	list->heap = heap;
	list->index = index;
	list->snapshot = snapshot;
	list->heap_rows = heap_rows;
	list->width = gpb_entry_record_width(gpb_layout(index));
	if (heap_rows)
		list->visit = gpb_visit_begin(heap, index, snapshot, list->width, NULL, NULL);
	MemoryContextSwitchTo(caller);
	return list;
}

void
gpb_list_stop(GpbListRows *list)
{
	if (list->visit != NULL)
		gpb_visit_stop(list->visit);
	list->visiting = false;
	list->asked = false;
	list->records = NULL;
	list->nrecords = list->next = 0;
}

/* End the batch, but keep what it counted, and the name of its engine, which goes with it. */
static void
end_batch(GpbListRows *list)
{
	const GpbBatchCounters *counters;

	if (list->batch == NULL)
		return;
	counters = gpb_batch_counters(list->batch);
	gpb_batch_counters_add(&list->past, counters);
	strlcpy(list->past_engine, counters->engine, sizeof(list->past_engine));
	list->past.engine = list->past_engine;
	gpb_batch_end(list->batch);
	list->batch = NULL;
}

/*
 * Under a limit the batch itself decides which entries are visible, even if rows come from the
 * heap: else all of unknown visibility would be listed, since none counts for the limit.
 */
void
gpb_list_ask(GpbListRows *list, const GpbProgram *program, GpbRangeForm form,
			 const void *ranges, uint32 n)
{
	gpb_list_stop(list);
	if (list->batch == NULL || list->form != form ||
		memcmp(&list->program, program, sizeof(GpbProgram)) != 0)
	{
		MemoryContext caller = MemoryContextSwitchTo(list->context);
		GpbBatchWant want = {.form = form,.program = *program,
		.heap_rows = list->heap_rows && program->limit == 0,.early = true};

		end_batch(list);
		memcpy(&list->program, program, sizeof(GpbProgram));
		list->form = form;
		list->batch = gpb_batch_begin(list->heap, list->index, list->snapshot, &want,
									  GPB_ENGINE_AUTO);
		MemoryContextSwitchTo(caller);
	}
	gpb_batch_run(list->batch, ranges, n, NULL);
	list->asked = true;
}

/* Get the next part of the list; false if there are no more. */
static bool
next_part(GpbListRows *list)
{
	list->records = NULL;
	list->next = list->nrecords = 0;
	if (list->asked)
		list->records = gpb_batch_matches(list->batch, &list->nrecords);
	list->asked = list->records != NULL;
	return list->asked;
}

/* Begin to visit the next records of the part, in the order of the heap. */
static void
start_visits(GpbListRows *list)
{
	int			n = Min(list->nrecords - list->next, GPB_HEAP_BATCH);
	int			i;

	/* visits pass over what is known to be visible, but a row is wanted of each */
	for (i = 0; i < n; i++)
		gpb_entry_at(list->records, list->next + i, list->width)->flags &=
			~GPB_RANGE_ENTRY_VISIBLE;
	gpb_visit_start(list->visit, gpb_entry_at(list->records, list->next, list->width), n, false);
	list->next += n;
	list->visiting = true;
}

const GpbRangeEntry *
gpb_list_next(GpbListRows *list, TupleTableSlot **row)
{
	for (;;)
	{
		if (list->visiting)
		{
			const GpbRangeEntry *record = gpb_visit_next(list->visit, NULL, NULL, row);

			if (record != NULL)
				return record;
			list->visiting = false;
		}
		if (list->next == list->nrecords && !next_part(list))
			return NULL;
		if (!list->heap_rows)
			return gpb_entry_at(list->records, list->next++, list->width);
		start_visits(list);
	}
}

void
gpb_list_counters(const GpbListRows *list, GpbBatchCounters *counters, uint64 *visits)
{
	*counters = list->past;
	if (list->batch != NULL)
	{
		gpb_batch_counters_add(counters, gpb_batch_counters(list->batch));
		counters->engine = gpb_batch_counters(list->batch)->engine;
	}
	if (counters->engine == NULL)
		counters->engine = "none";
	*visits = list->visit != NULL ? gpb_visit_count(list->visit) : 0;
}

void
gpb_list_end(GpbListRows *list)
{
	if (list == NULL)
		return;
	gpb_visit_end(list->visit);
	if (list->batch != NULL)
		gpb_batch_end(list->batch);
	MemoryContextDelete(list->context);
}
