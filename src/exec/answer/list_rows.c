/*-------------------------------------------------------------------------
 *
 * list_rows.c
 *	  The entries that a program lists, one after the other, and the rows that they lead to.
 *
 * In the order of ranges a list must be complete before its first entry can be used; if memory does
 * not hold it, half of the ranges are asked for instead.  The list of a single range needs no
 * sorting and may come in parts.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/memutils.h"

#include "engine/heap_visit.h"
#include "exec/answer/list_rows.h"
#include "exec/price/growth.h"
#include "index/index.h"

struct GpbListRows
{
	MemoryContext context;
	GpbNode    *node;
	GpbAskTarget target;
	GpbAsk	   *ask;
	bool		heap_rows;
	bool		in_order;
	int			width;			/* of a record */
	GpbHeapVisit *visit;		/* NULL before the first one */

	/* ranges [first, end) have been asked for; window: how many at a time */
	const char *ranges;
	Size		range_width;
	uint32		n;
	uint32		first;
	uint32		end;
	uint32		window;
	uint64		halved;			/* windows whose list was too long */

	GpbRangeEntry *records;		/* the part of the list at hand */
	uint64		nrecords;
	uint64		next;			/* next record, or next to be visited */
	bool		visiting;		/* rows of the part at hand are being visited */
	GpbListSkip skip;			/* of the call at hand */
	void	   *arg;
};

GpbListRows *
gpb_list_begin(GpbNode *node, const GpbAskTarget *target, GpbAsk *ask, bool heap_rows,
			   bool in_order)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree list",
												  ALLOCSET_SMALL_SIZES);
	GpbListRows *list = MemoryContextAllocZero(context, sizeof(GpbListRows));

	list->context = context;
	list->node = node;
	list->target = *target;
	list->ask = ask;
	list->heap_rows = heap_rows;
	list->in_order = in_order;
	list->width = gpb_entry_record_width(gpb_layout(target->index));
	list->window = PG_UINT32_MAX;
	return list;
}

void
gpb_list_stop(GpbListRows *list)
{
	if (list->visit != NULL)
		gpb_visit_stop(list->visit);
	list->visiting = false;
	list->n = list->first = list->end = 0;
	list->records = NULL;
	list->nrecords = list->next = 0;
}

void
gpb_list_start(GpbListRows *list, const void *ranges, Size range_width, uint32 n)
{
	gpb_list_stop(list);
	list->ranges = ranges;
	list->range_width = range_width;
	list->n = n;
}

/* ---- parts ---- */

static int
compare_numbers(const void *a, const void *b)
{
	uint32		i = ((const GpbRangeEntry *) a)->number;
	uint32		j = ((const GpbRangeEntry *) b)->number;

	return i < j ? -1 : i > j;
}

/* Ask for the window of n ranges that begins with "first". */
static void
ask_window(GpbListRows *list, uint32 n)
{
	list->end = list->first + n;
	gpb_ask_list(list->ask, list->ranges + list->first * list->range_width, n);
}

/*
 * Get the next part of the list, which may be the first of a new window.  Returns false if there
 * are no more.
 */
static bool
next_part(GpbListRows *list)
{
	for (;;)
	{
		uint32		asked = list->end - list->first;

		list->next = list->nrecords = 0;
		list->records = asked == 0 ? NULL : gpb_ask_matches(list->ask, &list->nrecords);
		if (list->records == NULL)
		{
			list->nrecords = 0;
			list->first = list->end;
			if (list->first == list->n)
				return false;
			ask_window(list, Min(list->window, list->n - list->first));
		}
		else if (!list->in_order || asked == 1)
			return true;
		else if (gpb_ask_at_end(list->ask))
		{
			/* the list had half of the batch's memory */
			if (list->nrecords * list->width < gpb_rows_memory() / 4 &&
				list->window <= PG_UINT32_MAX / 2)
				list->window *= 2;
			pg_qsort(list->records, list->nrecords, list->width, compare_numbers);
			return true;
		}
		else
		{
			/* too many for the memory, until half of the ranges turn out to have few */
			list->window = asked / 2;
			list->halved++;
			ask_window(list, list->window);
		}
	}
}

/* ---- entries and rows ---- */

/* Callback of visits */
static bool
is_skipped(void *arg, const GpbRangeEntry *record)
{
	GpbListRows *list = arg;

	return list->skip(list->arg, list->first + record->number);
}

/* Begin to visit the next records of the part, in the order of the heap unless theirs matters. */
static void
start_visits(GpbListRows *list)
{
	int			n = Min(list->nrecords - list->next, GPB_HEAP_BATCH);
	int			i;

	if (list->visit == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(list->context);

		list->visit = gpb_visit_begin(list->target.heap, list->target.index,
									  list->node->css.ss.ps.state->es_snapshot, list->width,
									  NULL, NULL);
		MemoryContextSwitchTo(caller);
	}
	/* visits pass over what is known to be visible, but a row is wanted of each */
	for (i = 0; i < n; i++)
		gpb_entry_at(list->records, list->next + i, list->width)->flags &=
			~GPB_RANGE_ENTRY_VISIBLE;
	gpb_visit_start(list->visit, gpb_entry_at(list->records, list->next, list->width), n,
					list->in_order);
	list->next += n;
	list->visiting = true;
}

const GpbRangeEntry *
gpb_list_next(GpbListRows *list, GpbListSkip skip, void *arg, uint32 *range,
			  TupleTableSlot **row)
{
	const GpbRangeEntry *record = NULL;

	list->skip = skip;
	list->arg = arg;
	while (record == NULL)
	{
		if (list->visiting)
		{
			record = gpb_visit_next(list->visit, skip == NULL ? NULL : is_skipped, list, row);
			list->visiting = record != NULL;
		}
		else if (list->next == list->nrecords && !next_part(list))
			return NULL;
		else if (list->heap_rows)
			start_visits(list);
		else
			record = gpb_entry_at(list->records, list->next++, list->width);
	}
	*range = list->first + record->number;
	return record;
}

uint64
gpb_list_visits(const GpbListRows *list)
{
	return list == NULL || list->visit == NULL ? 0 : gpb_visit_count(list->visit);
}

uint64
gpb_list_halved(const GpbListRows *list)
{
	return list == NULL ? 0 : list->halved;
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
