/*-------------------------------------------------------------------------
 *
 * bucket_exec.c
 *	  The executor node of aggregates by buckets of a key.
 *
 * Conditions become one range of the index's order.  Keys that are not NULL are cut into the ranges
 * of buckets and answered a batch at a time; ranges next to each other with equal results are one
 * group.  Keys that are NULL, or all if an argument of the function is, make the group of NULL: one
 * range aggregate, which comes where the index has its NULLs.  In SQL the functions below the one
 * with the NULL argument are called all the same, and may raise an error: date_trunc(NULL,
 * k::timestamp) does for a date k beyond the type's range.  So keys outside the safe interval of
 * these functions are asked first.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/tableam.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"
#include "utils/ruleutils.h"

#include "index/index.h"
#include "exec/bucket/bucket_node.h"
#include "exec/common/expressions.h"
#include "exec/common/node_explain.h"

/* ---- begin ---- */

/* Prepare the conditions and the function, for an open index. */
static void
begin_bucket_expressions(GpbBucketScan *scan)
{
	const GpbBucketPlan *plan = &scan->plan;
	PlanState  *ps = &scan->node.css.ss.ps;
	ListCell   *lc;

	scan->nconditions = list_length(plan->conditions);
	scan->conditions = gpb_conditions_init(scan->node.index, plan->conditions, ps);
	scan->keys = palloc(sizeof(ScanKeyData) * scan->nconditions);
	scan->function = gpb_bucket_function_begin(plan->functions,
											   scan->node.index->rd_opcintype[0]);
	gpb_bucket_function_check_rights(scan->function);
	scan->narguments = list_length(plan->arguments);
	Assert(scan->narguments == gpb_bucket_function_arguments(scan->function));
	scan->arguments = palloc(sizeof(ExprState *) * scan->narguments);
	foreach(lc, plan->arguments)
		scan->arguments[foreach_current_index(lc)] = ExecInitExpr(lfirst(lc), ps);
	scan->arguments_may_fail = gpb_may_fail((Node *) plan->arguments);
}

static void
begin_bucket_aggregate(CustomScanState *css, EState *estate, int eflags)
{
	GpbBucketScan *scan = (GpbBucketScan *) css;

	gpb_bucket_get(castNode(CustomScan, css->ss.ps.plan), &scan->plan);
	gpb_require_aggregates(scan->plan.items, scan->plan.nitems);
	if (!gpb_open_scanned(&scan->node, scan->plan.index, eflags))
		return;

	/* a copy: the relcache may rebuild its own at any time */
	scan->layout = *gpb_layout(scan->node.index);
	begin_bucket_expressions(scan);
	gpb_bucket_batches_begin(scan);
	scan->evaluation = AllocSetContextCreate(CurrentMemoryContext, "gpubtree bucket arguments",
											 ALLOCSET_SMALL_SIZES);
	scan->execution = AllocSetContextCreate(CurrentMemoryContext, "gpubtree bucket aggregate",
											ALLOCSET_DEFAULT_SIZES);
}

/* ---- what is to be answered ---- */

/* Is there a row that the conditions, as scan keys, admit and the snapshot sees? */
static bool
bucket_has_row(GpbBucketScan *scan)
{
	TupleTableSlot *slot = table_slot_create(scan->node.heap, NULL);
	IndexScanDesc rows = index_beginscan(scan->node.heap, scan->node.index,
										 scan->node.css.ss.ps.state->es_snapshot,
										 scan->nconditions, 0);
	bool		found;

	index_rescan(rows, scan->keys, scan->nconditions, NULL, 0);
	found = index_getnext_slot(rows, ForwardScanDirection, slot);
	index_endscan(rows);
	ExecDropSingleTupleTableSlot(slot);
	return found;
}

/* Evaluate the function's other arguments; they live until the next evaluation. */
static const GpbBucketOrder *
set_bucket_arguments(GpbBucketScan *scan)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
	MemoryContext caller = MemoryContextSwitchTo(scan->evaluation);
	Datum	   *values = palloc(sizeof(Datum) * scan->narguments);
	bool	   *isnull = palloc(sizeof(bool) * scan->narguments);
	const GpbBucketOrder *order;
	int			i;

	/* not in the per-tuple memory, which goes with each group */
	for (i = 0; i < scan->narguments; i++)
		values[i] = ExecEvalExpr(scan->arguments[i], econtext, &isnull[i]);
	order = gpb_bucket_function_set(scan->function, values, isnull);
	MemoryContextSwitchTo(caller);
	return order;
}

static inline GpbRange
intersection(GpbRange a, GpbRange b)
{
	if (gpb_bound_less(a.lo, b.lo))
		a.lo = b.lo;
	if (gpb_bound_less(b.hi, a.hi))
		a.hi = b.hi;
	return a;
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

	MemoryContextReset(scan->evaluation);
	scan->has_ranges = false;
	scan->has_null = false;
	scan->asks_null_keys = false;
	/* what the scan keys have is passed by value, so it may go with this row's memory */
	if (!gpb_conditions_evaluate(scan->conditions, scan->nconditions, scan->node.index,
								 &scan->layout, scan->node.css.ss.ps.ps_ExprContext, &range,
								 scan->keys))
		return;
	if (scan->arguments_may_fail && !bucket_has_row(scan))
		return;

	scan->order = set_bucket_arguments(scan);
	scan->has_null = scan->order->null;
	scan->null_range = range;
	not_null = intersection(range, gpb_range_not_null(&scan->layout));
	if (scan->order->null)
	{
		scan->asks_null_keys = !scan->order->silent &&
			gpb_closed_range(&scan->layout, &not_null, &scan->range);
		return;
	}
	scan->null_range = intersection(range, gpb_range_null(&scan->layout));
	scan->has_null = gpb_bound_less(scan->null_range.lo, scan->null_range.hi);
	scan->has_ranges = gpb_closed_range(&scan->layout, &not_null, &scan->range);
}

/* Begin with the first group. */
static void
start_buckets(GpbBucketScan *scan)
{
	scan->group_open = false;
	scan->any_result = false;
	scan->next = 0;
	MemoryContextReset(scan->execution);
	gpb_bucket_batches_stop(scan);
	if (!scan->evaluated)
		evaluate_buckets(scan);
	scan->evaluated = true;
	scan->phase = GPB_BUCKET_NULL_FIRST;
	if (scan->has_ranges)
		gpb_bucket_batches_start(scan, scan->range, scan->order);
}

/* ---- groups ---- */

/* Raise what the functions below a NULL argument raise for a key that has a visible entry. */
static void
ask_null_keys(GpbBucketScan *scan)
{
	GpbBucketBatches *batches = &scan->batches;
	uint32		i;

	gpb_bucket_batches_start(scan, scan->range, scan->order);
	while (gpb_bucket_batch_next(scan))
	{
		for (i = 0; i < batches->n; i++)
		{
			if (gpb_range_totals_entries(batches->totals, i) > 0)
				(void) gpb_bucket_batch_result(scan, i);
		}
	}
	gpb_bucket_batches_stop(scan);
}

/* The group at hand is that of NULL, or one that is cut from ranges: the totals that have it */
static GpbRangeTotals *
group_totals(GpbBucketScan *scan)
{
	return scan->group_null ? scan->null_totals : gpb_bucket_totals(scan);
}

/* Find the group of NULL, if it has an entry. */
static bool
null_group(GpbBucketScan *scan)
{
	if (!scan->has_null)
		return false;
	if (scan->asks_null_keys)
		ask_null_keys(scan);
	if (scan->null_totals == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(scan->batches.context);

		scan->null_totals = gpb_range_totals_begin(scan->node.heap, scan->node.index,
												   scan->node.css.ss.ps.state->es_snapshot,
												   scan->plan.items, scan->plan.nitems,
												   GPB_RANGE_BOUNDS, 0, GPB_ENGINE_DEVICE);
		MemoryContextSwitchTo(caller);
	}
	gpb_range_group_init(scan->null_totals);
	gpb_range_totals_sum(scan->null_totals, &scan->null_range, 1);
	scan->group_null = true;
	return gpb_range_group_entries(scan->null_totals) > 0;
}

/* Open the group with this result, which must come after the last group's. */
static void
open_bucket(GpbBucketScan *scan, int64 result)
{
	if (scan->any_result && ((scan->layout.flags & GPB_LAYOUT_DESC) ?
							 result >= scan->group_result : result <= scan->group_result))
		gpb_corrupted_index(scan->node.index, "keys of buckets are out of order");
	scan->any_result = true;
	scan->group_result = result;
	scan->group_null = false;
	scan->group_open = true;
	gpb_range_group_init(scan->batches.totals);
}

/* Make the next group of ranges, in "state"; false if there are no more. */
static bool
range_group(GpbBucketScan *scan)
{
	GpbBucketBatches *batches = &scan->batches;

	scan->group_open = false;
	for (;;)
	{
		int64		result;

		if (scan->next == batches->n)
		{
			scan->next = 0;
			if (!gpb_bucket_batch_next(scan))
				return scan->group_open;
		}
		if (gpb_range_totals_entries(batches->totals, scan->next) == 0)
		{
			scan->next++;
			continue;
		}
		result = gpb_bucket_batch_result(scan, scan->next);
		if (!scan->group_open)
			open_bucket(scan, result);
		else if (result != scan->group_result)
			return true;
		gpb_range_group_add(batches->totals, scan->next);
		if (batches->ranges[scan->next++].complete)
			return true;
	}
}

/* Find the next group; false if there are no more. */
static bool
next_bucket_group(GpbBucketScan *scan)
{
	bool		nulls_first = (scan->layout.flags & GPB_LAYOUT_NULLS_FIRST) != 0;

	switch (scan->phase)
	{
		case GPB_BUCKET_START:
			start_buckets(scan);
			return next_bucket_group(scan);
		case GPB_BUCKET_NULL_FIRST:
			scan->phase = GPB_BUCKET_RANGES;
			if (nulls_first && null_group(scan))
				return true;
			/* FALLTHROUGH */
		case GPB_BUCKET_RANGES:
			if (scan->has_ranges && range_group(scan))
				return true;
			scan->phase = GPB_BUCKET_END;
			return !nulls_first && null_group(scan);
		case GPB_BUCKET_END:
			return false;
	}
	return false;
}

/* ---- the node ---- */

/*
 * Put the values of the aggregates and the group's result into the scan tuple.  Memory is of the
 * current context.
 */
static void
fill_bucket_tuple(GpbBucketScan *scan)
{
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;

	ExecClearTuple(tuple);
	memset(tuple->tts_isnull, true, tuple->tts_tupleDescriptor->natts * sizeof(bool));
	gpb_range_group_final(group_totals(scan), tuple->tts_values, tuple->tts_isnull);
	if (!scan->group_null)
	{
		tuple->tts_values[scan->plan.nitems] = gpb_bucket_datum(scan->function, scan->group_result);
		tuple->tts_isnull[scan->plan.nitems] = false;
	}
	ExecStoreVirtualTuple(tuple);
}

static TupleTableSlot *
exec_bucket_aggregate(CustomScanState *css)
{
	GpbBucketScan *scan = (GpbBucketScan *) css;
	PlanState  *ps = &css->ss.ps;
	ExprContext *econtext = ps->ps_ExprContext;

	for (;;)
	{
		MemoryContext caller;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		if (!next_bucket_group(scan))
			return NULL;
		caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		fill_bucket_tuple(scan);
		MemoryContextSwitchTo(caller);
		econtext->ecxt_scantuple = css->ss.ss_ScanTupleSlot;
		if (ps->qual == NULL || ExecQual(ps->qual, econtext))
			break;
		InstrCountFiltered1(ps, 1);
	}
	return ps->ps_ProjInfo == NULL ? css->ss.ss_ScanTupleSlot : ExecProject(ps->ps_ProjInfo);
}

/*
 * Batches begin small again.  What was evaluated stays good unless a parameter has changed, as
 * core's hash tables of groups do.
 */
static void
rescan_bucket_aggregate(CustomScanState *css)
{
	GpbBucketScan *scan = (GpbBucketScan *) css;

	if (css->ss.ps.chgParam != NULL)
		scan->evaluated = false;
	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	gpb_bucket_batches_stop(scan);
	scan->phase = GPB_BUCKET_START;
}

static void
end_bucket_aggregate(CustomScanState *css)
{
	GpbBucketScan *scan = (GpbBucketScan *) css;

	if (scan->node.index != NULL)
		gpb_bucket_batches_end(scan);
	if (scan->null_totals != NULL)
		gpb_range_totals_end(scan->null_totals);
	gpb_close_node(&scan->node);
}

/* ---- EXPLAIN ---- */

/* Show the bucket function, as core shows what an aggregate is grouped by. */
static void
explain_bucket(CustomScan *plan, List *ancestors, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan, ancestors);
	int			place = list_length(plan->custom_scan_tlist) - 2;
	TargetEntry *bucket = list_nth_node(TargetEntry, plan->custom_scan_tlist, place);

	ExplainPropertyList(GPB_LABEL_GROUP_KEY,
						list_make1(deparse_expression((Node *) bucket->expr, context,
													  list_length(es->rtable) > 1 || es->verbose,
													  true)), es);
}

static void
explain_bucket_aggregate(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbBucketScan *scan = (GpbBucketScan *) css;
	GpbBatchCounters counters = {.engine = "none"};
	GpbBatchCounters null = counters;

	explain_bucket(castNode(CustomScan, css->ss.ps.plan), ancestors, es);
	gpb_explain_index(scan->plan.index, es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, css, scan->plan.conditions, ancestors, es);
	if (!es->analyze)
		return;
	if (scan->null_totals != NULL)
		null = *gpb_range_totals_counters(scan->null_totals);
	if (scan->batches.totals != NULL)
		counters = *gpb_range_totals_counters(scan->batches.totals);
	else
		counters.engine = null.engine;
	/* the group of NULL's are with the others, but it is no range of theirs */
	counters.matches += null.matches;
	counters.walk.leaves += null.walk.leaves;
	counters.refreshed_blocks += null.refreshed_blocks;
	counters.fallbacks += null.fallbacks;
	gpb_explain_counters(GPB_LABEL_RANGES, &counters, null.heap_fetches, es);
	ExplainPropertyInteger(GPB_LABEL_RANGES_SORTED, NULL, (int64) scan->batches.nsorted, es);
}

const GpbNodeKind gpb_bucket_aggregate_node = {
	GPB_NODE_KIND("GpubtreeBucketAggregate", GpbBucketScan),
	.exec.BeginCustomScan = begin_bucket_aggregate,
	.exec.ExecCustomScan = exec_bucket_aggregate,
	.exec.EndCustomScan = end_bucket_aggregate,
	.exec.ReScanCustomScan = rescan_bucket_aggregate,
	.exec.ExplainCustomScan = explain_bucket_aggregate
};
