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
	bool		heap_rows;
	int			width;			/* of a record */
	GpbAsk	   *ask;
	GpbHeapVisit *visit;
	bool		asked;			/* there may be more parts of the list */
	bool		visiting;		/* rows of the part at hand are being visited */
	GpbRangeEntry *records;		/* the part at hand */
	uint64		nrecords;
	uint64		next;			/* next record, or next to be visited */
};

GpbListRows *
gpb_list_begin(GpbNode *node, bool heap_rows)
{
	GpbAskWant	want = {GPB_ASK_NODE(node), .heap_rows = heap_rows, .early = true};
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree list",
												  ALLOCSET_SMALL_SIZES);
	GpbListRows *list = MemoryContextAllocZero(context, sizeof(GpbListRows));
	MemoryContext caller = MemoryContextSwitchTo(context);

	list->context = context;
	list->ask = gpb_ask_begin(&node->css.ss.ps, &want);
	list->heap_rows = heap_rows;
	list->width = gpb_entry_record_width(gpb_layout(node->index));
	if (heap_rows)
		list->visit = gpb_visit_begin(node->heap, node->index, node->css.ss.ps.state->es_snapshot,
									  list->width, NULL, NULL);
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

void
gpb_list_ask(GpbListRows *list, const GpbProgram *program, GpbRangeForm form,
			 const void *ranges, uint32 n)
{
	gpb_list_stop(list);
	gpb_ask_set_program(list->ask, program, form);
	gpb_ask_list(list->ask, ranges, n);
	list->asked = true;
}

/* Get the next part of the list; false if there are no more. */
static bool
next_part(GpbListRows *list)
{
	list->records = NULL;
	list->next = list->nrecords = 0;
	if (list->asked)
		list->records = gpb_ask_matches(list->ask, &list->nrecords);
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
	gpb_ask_counters(list->ask, counters);
	*visits = list->visit != NULL ? gpb_visit_count(list->visit) : 0;
}

void
gpb_list_end(GpbListRows *list)
{
	if (list == NULL)
		return;
	gpb_visit_end(list->visit);
	gpb_ask_end(list->ask);
	MemoryContextDelete(list->context);
}
