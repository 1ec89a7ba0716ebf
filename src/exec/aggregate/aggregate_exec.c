/*-------------------------------------------------------------------------
 *
 * aggregate_exec.c
 *	  The executor node of range aggregates.
 *
 * The node returns one row.  Its conditions become one range of the index's
 * order, an engine aggregates the range, and the totals become the values of the
 * scan tuple.  Which engine is decided at each execution, since plans are cached
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
#include "leaf_aggregate.h"
#include "mirror/mirror.h"
#include "exec/aggregate/aggregate_node.h"

/* ---- begin ---- */

static void
gpb_begin_aggregate(CustomScanState *css, EState *estate, int eflags)
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
		scan->arrays = gpb_arrays_begin(scan->node.heap, scan->node.index, estate->es_snapshot,
										plan->items, plan->nitems, plan->arrays, &css->ss.ps);
	scan->node.work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree aggregate",
											ALLOCSET_DEFAULT_SIZES);
}

/* ---- engines ---- */

static void
gpb_totals_init(GpbTotals *totals, const GpbAggregateSpec *spec)
{
	int			nsums = gpb_count_float_sums(spec);
	int			i;

	gpb_aggregate_state_init(&totals->state);
	if (totals->sums == NULL)
		totals->sums = palloc(sizeof(GpbFloatSum) * Max(nsums, 1));
	for (i = 0; i < nsums; i++)
		gpb_float_sum_init(&totals->sums[i]);
}

/*
 * Drop what an engine left open.  Entries that were added for a heap visit and not
 * visited are forgotten.
 */
static void
gpb_run_close(GpbAggregateRun *run)
{
	gpb_heap_visit_release(run);
	gpb_visibility_cache_release(run);
}

/* Answer the range with the best engine there is; its name is returned. */
static const char *
gpb_run_engines(GpbAggregateRun *run, ScanKey keys, int nkeys)
{
	if (gpb_needs_plain_scan(run->snapshot))
	{
		gpb_count_cpu_aggregate();
		gpb_run_scan(run, keys, nkeys);
		return "index scan";
	}

	pgstat_count_index_scan(run->index);
	if (gpb_mirror_available())
	{
		GpbAggregateCounters before = *run->counters;

		if (gpb_run_mirror(run))
			return gpb_mirror_engine_name();
		/* All or nothing: no part of a failed answer is used. */
		gpb_run_close(run);
		gpb_totals_init(&run->totals, &run->spec);
		*run->counters = before;
		run->counters->fallbacks++;
	}
	gpb_count_cpu_aggregate();
	gpb_run_cpu(run);
	return "CPU";
}

const char *
gpb_aggregate_range(GpbAggregateRun *run, ScanKey keys, int nkeys)
{
	const char *engine;
	int			i;

	gpb_totals_init(&run->totals, &run->spec);
	engine = gpb_run_engines(run, keys, nkeys);
	gpb_run_close(run);
	run->counters->matches += run->totals.state.entries;
	for (i = 0; i < gpb_count_float_sums(&run->spec); i++)
		gpb_float_sum_normalize(&run->totals.sums[i]);
	return engine;
}

/*
 * Compute the answer and leave it in the scan tuple.  All memory, the values'
 * included, is of the node's work context, which lives until the next
 * execution.
 */
static void
gpb_answer(GpbAggregateScan *scan)
{
	TupleTableSlot *slot = scan->node.css.ss.ss_ScanTupleSlot;
	GpbAggregateRun run = {0};
	MemoryContext caller;
	ScanKey		keys;
	int			i;

	ExecClearTuple(slot);
	MemoryContextReset(scan->node.work);
	caller = MemoryContextSwitchTo(scan->node.work);

	run.heap = scan->node.heap;
	run.index = scan->node.index;
	run.snapshot = scan->node.css.ss.ps.state->es_snapshot;
	run.counters = &scan->counters;
	/* A copy: the relcache may rebuild its own at any time. */
	run.spec.layout = *gpb_layout(scan->node.index);
	run.spec.ignore_dead_hints = TransactionStartedDuringRecovery();
	gpb_aggregate_wants(scan->plan.items, scan->plan.nitems, run.spec.want);
	gpb_totals_init(&run.totals, &run.spec);

	keys = palloc(sizeof(ScanKeyData) * (scan->nconditions + 1));
	scan->engine = "none";
	if (gpb_conditions_evaluate(scan->conditions, scan->nconditions, scan->node.index,
								&run.spec.layout, scan->node.css.ss.ps.ps_ExprContext,
								&run.spec.range, keys))
	{
		if (scan->arrays != NULL)
			gpb_arrays_run(scan->arrays, &run.spec.range, &run.totals.state);
		else
			scan->engine = gpb_aggregate_range(&run, keys, scan->nconditions);
	}

	memset(slot->tts_isnull, true, sizeof(bool) * slot->tts_tupleDescriptor->natts);
	for (i = 0; i < scan->plan.nitems; i++)
		slot->tts_values[i] = gpb_aggregate_final(&scan->plan.items[i], &run.spec,
												  &run.totals, &slot->tts_isnull[i]);
	ExecStoreVirtualTuple(slot);
	MemoryContextSwitchTo(caller);
}

/* ---- the node ---- */

/* ExecCustomScan leaves the answer to gpb_exec_one_row(). */
static void
gpb_answer_aggregate(CustomScanState *css)
{
	gpb_answer((GpbAggregateScan *) css);
}

static void
gpb_end_aggregate(CustomScanState *css)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;

	if (scan->arrays != NULL)
		gpb_arrays_end(scan->arrays);
	gpb_close_node(&scan->node);
}

const GpbNodeKind gpb_aggregate_node = {
	GPB_NODE_KIND("GpubtreeAggregate", GpbAggregateScan),
	GPB_ONE_ROW(gpb_answer_aggregate),
	.exec.BeginCustomScan = gpb_begin_aggregate,
	.exec.EndCustomScan = gpb_end_aggregate,
	.exec.ExplainCustomScan = gpb_aggregate_explain
};
