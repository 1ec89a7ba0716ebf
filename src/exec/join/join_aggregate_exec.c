/*-------------------------------------------------------------------------
 *
 * join_aggregate_exec.c
 *	  The executor node of joins under aggregates.
 *
 * Of each outer row only the key is kept; a batch of keys is answered by one total, and the totals of all
 * batches make the one row that comes out.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "leaf_aggregate.h"
#include "exec/join/join_aggregate.h"
#include "exec/common/node_explain.h"

/* Keys there is room for at first */
#define GPB_JOIN_INITIAL_KEYS	1024

typedef struct GpbJoinAggregateScan
{
	CustomScanState css;
	PlanState  *outer;
	int			nouter;			/* columns of it */
	Relation	heap;
	Relation	index;			/* NULL under EXPLAIN without ANALYZE */
	int			nitems;
	GpbAggregateItem *items;
	GpbJoinKeys keys;
	uint32		most_keys;		/* of a batch */
	GpbBatch   *batch;
	GpbAggregateSpec spec;		/* layout and wanted column */
	int			column;			/* that one */
	MemoryContext context;		/* the node's */
	MemoryContext work;			/* one execution's */
	bool		answered;		/* the scan tuple holds the answer */
	bool		returned;		/* and was handed out */
} GpbJoinAggregateScan;

static Node *gpb_create_join_aggregate(CustomScan *plan);
static void gpb_begin_join_aggregate(CustomScanState *css, EState *estate, int eflags);
static TupleTableSlot *gpb_exec_join_aggregate(CustomScanState *css);
static void gpb_end_join_aggregate(CustomScanState *css);
static void gpb_rescan_join_aggregate(CustomScanState *css);
static void gpb_explain_join_aggregate(CustomScanState *css, List *ancestors,
									   ExplainState *es);

const CustomScanMethods gpb_join_aggregate_scan_methods = {
	.CustomName = "GpubtreeJoinAggregate",
	.CreateCustomScanState = gpb_create_join_aggregate
};

static const CustomExecMethods gpb_join_aggregate_exec_methods = {
	.CustomName = "GpubtreeJoinAggregate",
	.BeginCustomScan = gpb_begin_join_aggregate,
	.ExecCustomScan = gpb_exec_join_aggregate,
	.EndCustomScan = gpb_end_join_aggregate,
	.ReScanCustomScan = gpb_rescan_join_aggregate,
	.ExplainCustomScan = gpb_explain_join_aggregate
};

static Node *
gpb_create_join_aggregate(CustomScan *plan)
{
	GpbJoinAggregateScan *scan;

	scan = (GpbJoinAggregateScan *) newNode(sizeof(GpbJoinAggregateScan), T_CustomScanState);
	scan->css.methods = &gpb_join_aggregate_exec_methods;
	return (Node *) scan;
}

/* Both relations stay open to the end of the node (rule M10). */
static void
gpb_begin_join_aggregate(CustomScanState *css, EState *estate, int eflags)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);
	TargetEntry *key = llast_node(TargetEntry, plan->custom_scan_tlist);
	Index		rti = castNode(Var, key->expr)->varno;
	List	   *aggregates = linitial(plan->custom_private);
	int			i;

	scan->outer = ExecInitNode(linitial(plan->custom_plans), estate, eflags);
	css->custom_ps = list_make1(scan->outer);
	scan->nitems = gpb_aggregate_private_items(aggregates, &scan->items);
	gpb_require_aggregates(scan->items, scan->nitems);
	scan->heap = ExecOpenScanRelation(estate, rti, eflags);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	scan->nouter = linitial_int(lthird(plan->custom_private));
	scan->index = index_open(gpb_aggregate_private_index(aggregates),
							 exec_rt_fetch(rti, estate)->rellockmode);
	gpb_keys_init(&scan->keys, scan->index, linitial_oid(lsecond(plan->custom_private)),
				  linitial(plan->custom_exprs), &css->ss.ps);
	scan->most_keys = Min(gpb_join_memory() / scan->keys.width, GPB_JOIN_MOST_ROWS);
	scan->spec.layout = scan->keys.layout;
	for (i = 0; i < scan->nitems; i++)
		scan->column = Max(scan->column, scan->items[i].column);
	gpb_aggregate_wants(scan->items, scan->nitems, &scan->spec);
	scan->context = CurrentMemoryContext;
	scan->work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree join aggregate",
									   ALLOCSET_DEFAULT_SIZES);
}

/* ---- keys ---- */

/* The value of the outer expression for a row of the outer plan */
static Datum
gpb_outer_value(GpbJoinAggregateScan *scan, TupleTableSlot *outer, bool *isnull)
{
	TupleTableSlot *tuple = scan->css.ss.ss_ScanTupleSlot;
	ExprContext *econtext = scan->css.ss.ps.ps_ExprContext;

	if (scan->keys.column != 0)
		return slot_getattr(outer, scan->keys.column, isnull);
	slot_getallattrs(outer);
	memcpy(tuple->tts_values, outer->tts_values, scan->nouter * sizeof(Datum));
	memcpy(tuple->tts_isnull, outer->tts_isnull, scan->nouter * sizeof(bool));
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
		TupleTableSlot *slot = ExecProcNode(scan->outer);
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
	want.memory = gpb_join_memory();
	scan->batch = gpb_batch_begin(scan->heap, scan->index,
								  scan->css.ss.ps.state->es_snapshot, &want, GPB_ENGINE_AUTO);
	MemoryContextSwitchTo(caller);
	return scan->batch;
}

/* Compute the answer and leave it in the scan tuple; it lives until the next execution. */
static void
gpb_answer_join_aggregate(GpbJoinAggregateScan *scan)
{
	TupleTableSlot *tuple = scan->css.ss.ss_ScanTupleSlot;
	GpbTotals	totals;
	MemoryContext caller;
	bool		more;
	int			i;

	ExecClearTuple(tuple);
	MemoryContextReset(scan->work);
	memset(tuple->tts_isnull, true, sizeof(bool) * tuple->tts_tupleDescriptor->natts);
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

	caller = MemoryContextSwitchTo(scan->work);
	for (i = 0; i < scan->nitems; i++)
		tuple->tts_values[scan->nouter + i] =
			gpb_aggregate_final(&scan->items[i], &scan->spec, &totals,
								&tuple->tts_isnull[scan->nouter + i]);
	/* an outer row's values are gone with the row */
	memset(tuple->tts_isnull, true, sizeof(bool) * scan->nouter);
	MemoryContextSwitchTo(caller);
}

/* ---- the node ---- */

static TupleTableSlot *
gpb_exec_join_aggregate(CustomScanState *css)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;

	if (scan->returned)
		return NULL;
	ResetExprContext(econtext);
	if (!scan->answered)
		gpb_answer_join_aggregate(scan);
	scan->answered = true;
	scan->returned = true;

	if (css->ss.ps.ps_ProjInfo == NULL)
		return css->ss.ss_ScanTupleSlot;
	econtext->ecxt_scantuple = css->ss.ss_ScanTupleSlot;
	return ExecProject(css->ss.ps.ps_ProjInfo);
}

/* The answer stays good unless a parameter, of the outer plan or of ours, has changed. */
static void
gpb_rescan_join_aggregate(CustomScanState *css)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;

	scan->returned = false;
	if (css->ss.ps.chgParam == NULL && scan->outer->chgParam == NULL && scan->answered)
		return;
	scan->answered = false;
	if (css->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(scan->outer, css->ss.ps.chgParam);
	if (scan->outer->chgParam == NULL)
		ExecReScan(scan->outer);
}

/* The executor closes the table; locks are kept to the end of the transaction. */
static void
gpb_end_join_aggregate(CustomScanState *css)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;

	if (scan->batch != NULL)
		gpb_batch_end(scan->batch);
	ExecEndNode(scan->outer);
	if (scan->index != NULL)
		index_close(scan->index, NoLock);
}

static void
gpb_explain_join_aggregate(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbJoinAggregateScan *scan = (GpbJoinAggregateScan *) css;
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);

	gpb_explain_inner_index(gpb_aggregate_private_index(linitial(plan->custom_private)),
							gpb_inner_alias(plan, es), es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, plan, plan->custom_exprs, ancestors, es);
	if (es->analyze)
		gpb_explain_batch(GPB_LABEL_KEYS, scan->batch, 0, es);
}
