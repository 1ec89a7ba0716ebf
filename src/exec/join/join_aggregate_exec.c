/*-------------------------------------------------------------------------
 *
 * join_aggregate_exec.c
 *	  The executor node of joins under aggregates.
 *
 * The node keeps only the key of each outer row; a batch of keys is answered by one total, and the
 * totals of all batches make the one row that comes out.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "leaf_aggregate.h"
#include "exec/common/growth.h"
#include "exec/common/item_final.h"
#include "exec/common/node_explain.h"
#include "exec/join/join_aggregate.h"
#include "exec/join/join_node.h"

/* Keys there is room for at first */
#define GPB_JOIN_INITIAL_KEYS	1024

typedef struct GpbJoinAggregateScan
{
	GpbNode		node;
	GpbJoinAggregatePlan plan;
	GpbJoinKeys keys;
	uint32		most_keys;		/* of a batch */
	GpbBatch   *batch;
	GpbAggregateSpec spec;		/* layout and wanted column */
	int			column;			/* that the items are over */
	MemoryContext context;		/* the node's */
} GpbJoinAggregateScan;

static void
gpb_begin_join_aggregate(CustomScanState *css, EState *estate, int eflags)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;
	GpbJoinAggregatePlan *plan = &scan->plan;
	int			i;

	gpb_join_aggregate_get(castNode(CustomScan, css->ss.ps.plan), plan);
	gpb_start_child(&scan->node, eflags);
	gpb_require_aggregates(plan->items, plan->nitems);
	if (!gpb_open_joined(&scan->node, plan->index, eflags))
		return;

	gpb_keys_init(&scan->keys, scan->node.index, plan->value_type, plan->condition, &css->ss.ps);
	scan->most_keys = Min(gpb_rows_memory() / scan->keys.width, GPB_MOST_ROWS);
	scan->spec.layout = scan->keys.layout;
	for (i = 0; i < plan->nitems; i++)
		scan->column = Max(scan->column, plan->items[i].column);
	gpb_aggregate_wants(plan->items, plan->nitems, scan->spec.want);
	scan->context = CurrentMemoryContext;
	scan->node.work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree join aggregate",
											ALLOCSET_DEFAULT_SIZES);
}

/* ---- keys ---- */

/* The value of the outer expression for a row of the outer plan */
static Datum
gpb_outer_value(GpbJoinAggregateScan *scan, TupleTableSlot *outer, bool *isnull)
{
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;

	if (scan->keys.column != 0)
		return slot_getattr(outer, scan->keys.column, isnull);
	slot_getallattrs(outer);
	memcpy(tuple->tts_values, outer->tts_values, scan->plan.nouter * sizeof(Datum));
	memcpy(tuple->tts_isnull, outer->tts_isnull, scan->plan.nouter * sizeof(bool));
	econtext->ecxt_scantuple = tuple;
	ResetExprContext(econtext);
	return ExecEvalExprSwitchContext(scan->keys.expression, econtext, isnull);
}

/* Read the keys of the next batch; false if these are the last. */
static bool
gpb_read_keys(GpbJoinAggregateScan *scan)
{
	gpb_keys_clear(&scan->keys, GPB_JOIN_INITIAL_KEYS);
	for (;;)
	{
		TupleTableSlot *slot = ExecProcNode(scan->node.child);
		Datum		value;
		bool		isnull;

		if (TupIsNull(slot))
			return false;
		value = gpb_outer_value(scan, slot, &isnull);
		if (!isnull)
			(void) gpb_keys_add(&scan->keys, value);
		if (scan->keys.n == scan->most_keys)
			return true;
		if (scan->keys.n == scan->keys.capacity)
			gpb_keys_grow(&scan->keys, scan->most_keys);
	}
}

/* ---- the answer ---- */

static GpbBatch *
gpb_join_aggregate_batch(GpbJoinAggregateScan *scan)
{
	GpbBatchWant want = {0};
	MemoryContext caller;

	if (scan->batch != NULL)
		return scan->batch;
	caller = MemoryContextSwitchTo(scan->context);
	want.points = scan->keys.points;
	want.column = scan->column;
	want.want = scan->spec.want[scan->column];
	want.memory = gpb_rows_memory();
	scan->batch = gpb_batch_begin(scan->node.heap, scan->node.index,
								  scan->node.css.ss.ps.state->es_snapshot, &want, GPB_ENGINE_AUTO);
	MemoryContextSwitchTo(caller);
	return scan->batch;
}

/* Put the answer into the scan tuple. */
static void
gpb_answer_join_aggregate(CustomScanState *css)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;
	TupleTableSlot *tuple = css->ss.ss_ScanTupleSlot;
	int			nouter = scan->plan.nouter;
	GpbTotals	totals;
	MemoryContext caller;
	bool		more;
	int			i;

	gpb_clear_answer(&scan->node);
	ExecStoreVirtualTuple(tuple);
	gpb_aggregate_state_init(&totals.state);
	totals.sums = NULL;
	do
	{
		more = gpb_read_keys(scan);
		if (scan->keys.n > 0)
		{
			const GpbRangeAnswer *total;

			gpb_batch_run(gpb_join_aggregate_batch(scan), scan->keys.keys, scan->keys.n, NULL);
			total = gpb_batch_total(scan->batch);
			totals.state.entries += total->entries;
			if (total->column.count > 0)
				gpb_column_state_merge(&totals.state.column[scan->column], &total->column);
		}
	} while (more);

	caller = MemoryContextSwitchTo(scan->node.work);
	for (i = 0; i < scan->plan.nitems; i++)
		tuple->tts_values[nouter + i] =
			gpb_aggregate_final(&scan->plan.items[i], &scan->spec, &totals,
								&tuple->tts_isnull[nouter + i]);
	/* an outer row's values are gone with the row */
	memset(tuple->tts_isnull, true, sizeof(bool) * nouter);
	MemoryContextSwitchTo(caller);
}

/* ---- the node ---- */

static void
gpb_end_join_aggregate(CustomScanState *css)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;

	if (scan->batch != NULL)
		gpb_batch_end(scan->batch);
	gpb_close_node(&scan->node);
}

static void
gpb_explain_join_aggregate(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;

	gpb_explain_inner_index(scan->plan.index, gpb_inner_alias(css, es), es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, css, list_make1(scan->plan.condition), ancestors, es);
	if (es->analyze)
		gpb_explain_batch(GPB_LABEL_KEYS, scan->batch, 0, es);
}

const GpbNodeKind gpb_join_aggregate_node = {
	GPB_NODE_KIND("GpubtreeJoinAggregate", GpbJoinAggregateScan),
	GPB_ONE_ROW(gpb_answer_join_aggregate),
	.exec.BeginCustomScan = gpb_begin_join_aggregate,
	.exec.EndCustomScan = gpb_end_join_aggregate,
	.exec.ExplainCustomScan = gpb_explain_join_aggregate
};
