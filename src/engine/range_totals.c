/*-------------------------------------------------------------------------
 *
 * range_totals.c
 *	  SQL aggregates over each of many key ranges.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "index/index.h"
#include "leaf_aggregate.h"
#include "engine/range_totals.h"

/* One column's batch and what it answered */
typedef struct GpbColumnBatch
{
	int			column;
	GpbBatch   *batch;
	GpbRangeAnswer *answers;	/* of each range of the last run */
} GpbColumnBatch;

struct GpbRangeTotals
{
	MemoryContext context;		/* the object's; answers are in one of their own */
	MemoryContext answers;
	int			nitems;
	GpbAggregateItem *items;
	GpbAggregateSpec spec;		/* layout and wants */
	int			ncolumns;
	GpbColumnBatch columns[GPB_MAX_COLUMNS];
	uint32		n;				/* ranges of the last run */
};

/* ---- planning ---- */

bool
gpb_match_range_aggrefs(IndexOptInfo *index, List *aggrefs, GpbAggregateItem **items)
{
	ListCell   *lc;

	*items = palloc(sizeof(GpbAggregateItem) * list_length(aggrefs));
	foreach(lc, aggrefs)
	{
		GpbAggregateItem *item = &(*items)[foreach_current_index(lc)];

		if (!gpb_match_aggref(lfirst_node(Aggref, lc), index, item))
			return false;
		if ((item->function == GPB_SUM || item->function == GPB_AVG) &&
			item->type == FLOAT8OID)
			return false;
	}
	return true;
}

int
gpb_count_item_columns(const GpbAggregateItem *items, int nitems)
{
	Bitmapset  *columns = NULL;
	int			i;

	for (i = 0; i < nitems; i++)
	{
		if (items[i].function != GPB_COUNT_ENTRIES)
			columns = bms_add_member(columns, items[i].column);
	}
	return Max(bms_num_members(columns), 1);
}

/* ---- begin and end ---- */

GpbRangeTotals *
gpb_range_totals_begin(Relation heap, Relation index, Snapshot snapshot,
					   const GpbAggregateItem *items, int nitems,
					   bool points, Size memory, GpbEngine engine)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree range totals",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	GpbRangeTotals *totals = palloc0(sizeof(GpbRangeTotals));
	int			c;

	totals->context = context;
	totals->answers = AllocSetContextCreate(context, "gpubtree range answers",
											ALLOCSET_DEFAULT_SIZES);
	totals->nitems = nitems;
	totals->items = palloc(sizeof(GpbAggregateItem) * nitems);
	memcpy(totals->items, items, sizeof(GpbAggregateItem) * nitems);
	totals->spec.layout = *gpb_layout(index);
	gpb_aggregate_wants(items, nitems, totals->spec.want);

	for (c = 0; c < GPB_MAX_COLUMNS; c++)
	{
		if (totals->spec.want[c] != 0)
			totals->columns[totals->ncolumns++].column = c;
	}
	/* count(*) alone: any column's batch counts entries */
	if (totals->ncolumns == 0)
		totals->columns[totals->ncolumns++].column = 0;
	for (c = 0; c < totals->ncolumns; c++)
	{
		GpbColumnBatch *column = &totals->columns[c];
		GpbBatchWant want = {0};

		want.points = points;
		want.column = column->column;
		want.want = totals->spec.want[column->column];
		want.memory = memory;
		column->batch = gpb_batch_begin(heap, index, snapshot, &want, engine);
	}
	MemoryContextSwitchTo(caller);
	return totals;
}

void
gpb_range_totals_end(GpbRangeTotals *totals)
{
	int			c;

	for (c = 0; c < totals->ncolumns; c++)
		gpb_batch_end(totals->columns[c].batch);
	MemoryContextDelete(totals->context);
}

/* ---- answers ---- */

void
gpb_range_totals_run(GpbRangeTotals *totals, const void *input, uint32 n)
{
	int			c;

	MemoryContextReset(totals->answers);
	totals->n = n;
	for (c = 0; c < totals->ncolumns; c++)
	{
		GpbColumnBatch *column = &totals->columns[c];

		column->answers = MemoryContextAllocHuge(totals->answers,
												 sizeof(GpbRangeAnswer) * Max((Size) n, 1));
		if (n > 0)
			gpb_batch_run(column->batch, input, n, column->answers);
	}
}

void
gpb_range_totals_sum(GpbRangeTotals *totals, const void *input, uint32 n,
					 GpbAggregateState *group)
{
	int			c;

	for (c = 0; c < totals->ncolumns; c++)
	{
		const GpbColumnBatch *column = &totals->columns[c];
		const GpbRangeAnswer *total;

		gpb_batch_run(column->batch, input, n, NULL);
		total = gpb_batch_total(column->batch);
		if (c == 0)
			group->entries += total->entries;
		if (total->column.count > 0)
			gpb_column_state_merge(&group->column[column->column], &total->column);
	}
}

Size
gpb_range_totals_width(const GpbRangeTotals *totals)
{
	return sizeof(GpbRangeAnswer) * totals->ncolumns;
}

int64
gpb_range_totals_entries(const GpbRangeTotals *totals, uint32 range)
{
	Assert(range < totals->n);
	return totals->columns[0].answers[range].entries;
}

void
gpb_range_group_init(GpbAggregateState *group)
{
	gpb_aggregate_state_init(group);
}

void
gpb_range_group_add(const GpbRangeTotals *totals, uint32 range, GpbAggregateState *group)
{
	int			c;

	Assert(range < totals->n);
	group->entries += totals->columns[0].answers[range].entries;
	for (c = 0; c < totals->ncolumns; c++)
	{
		const GpbColumnBatch *column = &totals->columns[c];
		const GpbColumnState *state = &column->answers[range].column;

		if (state->count > 0)
			gpb_column_state_merge(&group->column[column->column], state);
	}
}

void
gpb_range_group_final(const GpbRangeTotals *totals, const GpbAggregateState *group,
					  Datum *values, bool *isnull)
{
	GpbTotals	state;
	int			i;

	/* only what the items look at: this runs for each row that comes out */
	state.state.entries = group->entries;
	for (i = 0; i < totals->ncolumns; i++)
		state.state.column[totals->columns[i].column] = group->column[totals->columns[i].column];
	state.sums = NULL;
	for (i = 0; i < totals->nitems; i++)
		values[i] = gpb_aggregate_final(&totals->items[i], &totals->spec, &state, &isnull[i]);
}

void
gpb_range_totals_counters(const GpbRangeTotals *totals, GpbBatchCounters *counters)
{
	int			c;

	*counters = *gpb_batch_counters(totals->columns[0].batch);
	for (c = 1; c < totals->ncolumns; c++)
	{
		const GpbBatchCounters *more = gpb_batch_counters(totals->columns[c].batch);

		counters->heap_fetches += more->heap_fetches;
		counters->walk.leaves += more->walk.leaves;
		counters->requests += more->requests;
		counters->unclean += more->unclean;
		counters->refreshed_blocks += more->refreshed_blocks;
		counters->fallbacks += more->fallbacks;
	}
}
