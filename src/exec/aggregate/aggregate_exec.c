/*-------------------------------------------------------------------------
 *
 * aggregate_exec.c
 *	  The executor node of range aggregates.
 *
 * The node returns one row.  Its conditions become one range of the index's
 * order, a batch of one range; or, with arrays, many.  The answer becomes the values of the
 * scan tuple.  Which engine gives it is decided at each execution, since plans are cached
 * and devices come and go.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/xact.h"
#include "executor/executor.h"
#include "pgstat.h"
#include "utils/memutils.h"

#include "index/index.h"
#include "exec/aggregate/aggregate_node.h"
#include "exec/common/range_totals.h"

/* ---- begin ---- */

static void
begin_aggregate(CustomScanState *css, EState *estate, int eflags)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	GpbAggregatePlan *plan = &scan->plan;

	gpb_aggregate_get(castNode(CustomScan, css->ss.ps.plan), plan);
	gpb_require_aggregates(plan->items, plan->nitems);
	if (!gpb_open_scanned(&scan->node, plan->index, eflags))
		return;

	scan->nconditions = list_length(plan->conditions);
	scan->conditions = gpb_conditions_init(scan->node.index, plan->conditions, &css->ss.ps);
	if (plan->arrays != NIL)
		scan->arrays = gpb_arrays_begin(scan->node.index, plan->arrays, &css->ss.ps);
	scan->context = CurrentMemoryContext;
	scan->node.work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree aggregate",
											ALLOCSET_DEFAULT_SIZES);
}

/* ---- the answer ---- */

/* What answers the node's range or keys, made when first asked for. */
static GpbRangeTotals *
aggregate_totals(GpbAggregateScan *scan)
{
	MemoryContext caller;
	bool		arrays = scan->arrays != NULL;

	if (scan->totals != NULL)
		return scan->totals;
	caller = MemoryContextSwitchTo(scan->context);
	scan->totals = gpb_range_totals_begin(scan->node.heap, scan->node.index,
										  scan->node.css.ss.ps.state->es_snapshot,
										  scan->plan.items, scan->plan.nitems,
										  arrays ? gpb_arrays_form(scan->arrays) : GPB_RANGE_BOUNDS,
										  0, GPB_ENGINE_AUTO);
	MemoryContextSwitchTo(caller);
	return scan->totals;
}

/*
 * Compute the answer and leave it in the scan tuple.  The values' memory is of the node's work
 * context, which lives until the next execution.
 */
static void
answer(GpbAggregateScan *scan)
{
	TupleTableSlot *slot = scan->node.css.ss.ss_ScanTupleSlot;
	GpbRangeTotals *totals = aggregate_totals(scan);
	/* a copy: the relcache may rebuild its own at any time */
	GpbLayout	layout = *gpb_layout(scan->node.index);
	MemoryContext caller;
	GpbRange	range;

	ExecClearTuple(slot);
	MemoryContextReset(scan->node.work);
	caller = MemoryContextSwitchTo(scan->node.work);

	gpb_range_group_init(totals);
	scan->engine = "none";
	if (gpb_conditions_evaluate(scan->conditions, scan->nconditions, scan->node.index, &layout,
								scan->node.css.ss.ps.ps_ExprContext, &range, NULL))
	{
		if (scan->arrays != NULL)
			gpb_arrays_run(scan->arrays, &range, totals);
		else
		{
			gpb_range_totals_sum(totals, &range, 1);
			scan->engine = gpb_range_totals_counters(totals)->engine;
		}
	}

	memset(slot->tts_isnull, true, sizeof(bool) * slot->tts_tupleDescriptor->natts);
	gpb_range_group_final(totals, slot->tts_values, slot->tts_isnull);
	ExecStoreVirtualTuple(slot);
	MemoryContextSwitchTo(caller);
}

/* ---- the node ---- */

/* ExecCustomScan leaves the answer to gpb_exec_one_row(). */
static void
answer_aggregate(CustomScanState *css)
{
	answer((GpbAggregateScan *) css);
}

static void
end_aggregate(CustomScanState *css)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;

	if (scan->totals != NULL)
		gpb_range_totals_end(scan->totals);
	gpb_close_node(&scan->node);
}

const GpbNodeKind gpb_aggregate_node = {
	GPB_NODE_KIND("GpubtreeAggregate", GpbAggregateScan),
	GPB_ONE_ROW(answer_aggregate),
	.exec.BeginCustomScan = begin_aggregate,
	.exec.EndCustomScan = end_aggregate,
	.exec.ExplainCustomScan = gpb_aggregate_explain
};
