/*-------------------------------------------------------------------------
 *
 * bucket_exec.c
 *	  The executor node of aggregates by buckets of a key.
 *
 * Conditions become one range of the index's order.  Keys that are not NULL are cut into the ranges
 * of buckets and answered a batch at a time (bucket_groups.c, bucket_store.c).  If an argument of
 * the function is NULL, so are all results.  In SQL the functions below the one with the NULL
 * argument are called all the same, and may raise an error: date_trunc(NULL, k::timestamp) does for
 * a date k beyond the type's range.  So keys outside the safe interval of these functions are asked
 * first.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "exec/answer/ordinary.h"
#include "exec/bucket/bucket_node.h"
#include "exec/price/growth.h"
#include "index/index.h"

/* ---- begin ---- */

/* Raise core's errors about rights to execute what stands in the query. */
static void
require_rights(const GpbBucketPlan *plan, const CustomScan *node)
{
	ListCell   *lc;

	gpb_require_aggregates(plan->items, plan->nitems);
	if (!plan->has_program)
		return;
	gpb_require_functions(list_make2(plan->conditions, plan->filters));
	foreach(lc, node->custom_scan_tlist)
		gpb_require_functions(list_make1(lfirst_node(TargetEntry, lc)->expr));
}

/*
 * Prepare what asks, by the program if there is one, and what becomes of its rows.  Groups that no
 * range has an answer for have all of hash_mem, since ranges take little.
 */
static void
begin_asking(GpbBucketScan *scan)
{
	CustomScanState *css = &scan->node.css;
	const GpbBucketPlan *plan = &scan->plan;
	GpbAskWant	want = {GPB_ASK_NODE(&scan->node), .nitems = plan->nitems, .items = plan->items};

	want.plan = plan->has_program ? &plan->program : NULL;
	want.form = GPB_RANGE_KEYS;
	want.memory = plan->ngroups > 0 ? 0 : gpb_rows_memory();
	scan->ask = gpb_ask_begin(&css->ss.ps, &want);
	want.constants_of = scan->ask;
	want.form = GPB_RANGE_BOUNDS;
	want.memory = 0;
	want.engine = GPB_ENGINE_DEVICE;
	scan->null_ask = gpb_ask_begin(&css->ss.ps, &want);

	scan->having = css->ss.ps.qual;
	if (scan->node.ordinary_plan != NULL)
		gpb_kept_begin(&scan->kept, css->ss.ps.state, css->ss.ss_ScanTupleSlot);
	if (!plan->has_program)
		return;
	scan->having = ExecInitQual(plan->having, &css->ss.ps);
	if (scan->having == NULL)
		scan->rows = gpb_word_rows_begin(css);
}

/* Begin a node that merges the states of its child. */
static void
begin_merge(GpbBucketScan *scan, int eflags)
{
	const GpbBucketPlan *plan = &scan->plan;

	gpb_start_child(&scan->node, eflags);
	if (!gpb_open_above(&scan->node, plan->index, eflags))
		return;
	gpb_bucket_begin_arguments(scan);
	scan->having = ExecInitQual(plan->having, &scan->node.css.ss.ps);
	gpb_bucket_merge_begin(scan);
}

static void
begin_bucket_aggregate(CustomScanState *css, EState *estate, int eflags)
{
	GpbBucketScan *scan = (GpbBucketScan *) css;
	CustomScan *node = castNode(CustomScan, css->ss.ps.plan);

	gpb_bucket_get(node, &scan->plan);
	require_rights(&scan->plan, node);
	if (scan->plan.merges)
	{
		begin_merge(scan, eflags);
		return;
	}
	if (node->custom_plans != NIL)
		gpb_ordinary_begin(&scan->node, linitial(node->custom_plans), eflags);
	if (!gpb_open_scanned(&scan->node, scan->plan.index, eflags))
		return;

	/* a copy: the relcache may rebuild its own at any time */
	scan->layout = *gpb_layout(scan->node.index);
	gpb_bucket_begin_arguments(scan);
	scan->conditions = gpb_conditions_init(scan->node.index, scan->plan.conditions, NIL, NIL,
										   &css->ss.ps);
	begin_asking(scan);
	gpb_bucket_batches_begin(scan);
	scan->execution = AllocSetContextCreate(CurrentMemoryContext, "gpubtree bucket aggregate",
											ALLOCSET_DEFAULT_SIZES);
}

/* ---- what is to be answered ---- */

/* Is there a row in the range that the snapshot sees? */
static bool
range_has_row(GpbBucketScan *scan, GpbRange range)
{
	TupleTableSlot *slot = table_slot_create(scan->node.heap, NULL);
	IndexScanDesc rows = index_beginscan(scan->node.heap, scan->node.index,
										 scan->node.css.ss.ps.state->es_snapshot, 0, 0);
	bool		found;

	index_rescan(rows, NULL, 0, NULL, 0);
	gpb_scan_use_range(rows, range);
	found = index_getnext_slot(rows, ForwardScanDirection, slot);
	index_endscan(rows);
	ExecDropSingleTupleTableSlot(slot);
	return found;
}

/*
 * Evaluate the conditions.  Fills in the range that satisfies them; returns false if no entry does.
 * If *lossy is set it may have entries that do not.
 */
static bool
evaluate_range(GpbBucketScan *scan, GpbRange *range, bool *lossy)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
	MemoryContext caller = MemoryContextSwitchTo(scan->evaluation);
	bool		some = gpb_conditions_one_range(scan->conditions, econtext, range, lossy);

	MemoryContextSwitchTo(caller);
	return some;
}

/*
 * Evaluate conditions and arguments, and part the range into keys whose result may not be NULL and
 * keys whose result is.  All groups depend on this, and on the settings of the session as they are
 * now (rule M12).
 */
static void
evaluate_buckets(GpbBucketScan *scan)
{
	GpbRange	range;
	GpbRange	not_null;
	GpbRange	nulls;
	bool		lossy;

	MemoryContextReset(scan->evaluation);
	scan->has_ranges = false;
	scan->has_null = false;
	scan->asks_null_keys = false;
	if (!evaluate_range(scan, &range, &lossy))
		return;
	if (lossy)
	{
		gpb_node_give_up(&scan->node,
					"a condition for which a change of the time zone's offset matters");
		return;
	}
	if (scan->arguments_may_fail && !range_has_row(scan, range))
		return;

	scan->order = gpb_bucket_set_arguments(scan);
	scan->has_null = scan->order->null;
	scan->null_range = range;
	gpb_split_nulls(&scan->layout, scan->plan.column, range, &not_null, &nulls);
	if (scan->order->null)
	{
		scan->asks_null_keys = !scan->order->silent &&
			gpb_closed_range(&scan->layout, &not_null, &scan->range);
		return;
	}
	scan->null_range = nulls;
	scan->has_null = gpb_bound_less(scan->null_range.lo, scan->null_range.hi);
	scan->has_ranges = gpb_closed_range(&scan->layout, &not_null, &scan->range);
}

/* Set the program's constants, which are those of one execution. */
static void
set_program(GpbBucketScan *scan)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
	const char *refusal = gpb_ask_bind(scan->ask, econtext);

	if (refusal == NULL)
		refusal = gpb_ask_bind(scan->null_ask, econtext);
	if (refusal != NULL)
		gpb_node_give_up(&scan->node, refusal);
}

/* Begin an execution: evaluate what it depends on, unless that is still good. */
static void
start_buckets(GpbBucketScan *scan)
{
	scan->group_open = false;
	scan->any_result = false;
	scan->next = 0;
	MemoryContextReset(scan->execution);
	gpb_bucket_batches_stop(scan);
	if (!scan->evaluated)
	{
		scan->node.gave_up = NULL;
		evaluate_buckets(scan);
		if (scan->plan.has_program && scan->node.gave_up == NULL &&
			(scan->has_ranges || scan->has_null))
			set_program(scan);
	}
	scan->evaluated = true;
	scan->started = true;
}

/* ---- the node ---- */

/* Begin, and keep the rows if there is an ordinary plan. */
static void
answer_buckets(GpbBucketScan *scan)
{
	start_buckets(scan);
	if (scan->node.ordinary_plan != NULL && scan->node.gave_up == NULL)
		gpb_bucket_store_rows(scan);
}

/* Put the next row into the scan tuple; false if there are no more. */
static bool
next_bucket_row(GpbBucketScan *scan)
{
	MemoryContext caller;

	if (scan->node.ordinary_plan != NULL)
		return gpb_bucket_stored_row(scan);
	if (scan->stream != NULL ? !gpb_bucket_merged_group(scan) : !gpb_bucket_next_group(scan))
		return false;
	caller = MemoryContextSwitchTo(scan->node.css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	if (scan->plan.returns_states)
		gpb_bucket_fill_state(scan);
	else
		gpb_bucket_fill_tuple(scan, NULL);
	MemoryContextSwitchTo(caller);
	return true;
}

static TupleTableSlot *
exec_bucket_aggregate(CustomScanState *css)
{
	GpbBucketScan *scan = (GpbBucketScan *) css;
	TupleTableSlot *row = NULL;

	if (scan->last_rows)
		return gpb_bucket_last_row(scan);
	if (!scan->started && scan->stream == NULL)
		answer_buckets(scan);
	if (scan->node.gave_up != NULL)
		return gpb_ordinary_row(&scan->node);
	while (row == NULL)
	{
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(css->ss.ps.ps_ExprContext);
		if (!next_bucket_row(scan))
			return scan->last_rows ? gpb_bucket_last_row(scan) : NULL;
		row = gpb_node_result(&scan->node, scan->having);
	}
	return row;
}

/*
 * Batches begin small again.  What was evaluated, and rows that were kept, stay good unless a
 * parameter has changed, as core's hash tables of groups do.
 */
static void
rescan_bucket_aggregate(CustomScanState *css)
{
	GpbBucketScan *scan = (GpbBucketScan *) css;
	bool		changed = css->ss.ps.chgParam != NULL;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	if (scan->stream != NULL)
	{
		gpb_bucket_merge_rescan(scan, changed);
		return;
	}
	gpb_ordinary_rescan(&scan->node);
	if (changed)
		scan->evaluated = false;
	if (scan->node.ordinary_plan != NULL && !changed)
	{
		gpb_bucket_rescan_rows(scan);
		return;
	}
	gpb_bucket_batches_stop(scan);
	gpb_bucket_drop_rows(scan);
	scan->started = false;
	scan->phase = GPB_BUCKET_START;
}

static void
end_bucket_aggregate(CustomScanState *css)
{
	GpbBucketScan *scan = (GpbBucketScan *) css;

	gpb_bucket_drop_rows(scan);
	if (scan->stream != NULL)
		gpb_bucket_merge_stop(scan);
	else if (scan->node.index != NULL)
		gpb_bucket_batches_stop(scan);
	gpb_ask_end(scan->ask);
	gpb_ask_end(scan->null_ask);
	gpb_close_node(&scan->node);
}

const GpbNodeKind gpb_bucket_aggregate_node = {
	GPB_NODE_KIND("GpubtreeBucketAggregate", GpbBucketScan),
	.exec.BeginCustomScan = begin_bucket_aggregate,
	.exec.ExecCustomScan = exec_bucket_aggregate,
	.exec.EndCustomScan = end_bucket_aggregate,
	.exec.ReScanCustomScan = rescan_bucket_aggregate,
	.exec.ExplainCustomScan = gpb_bucket_explain
};
