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

#include "access/genam.h"
#include "access/table.h"
#include "access/xact.h"
#include "catalog/objectaccess.h"
#include "catalog/pg_proc.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/acl.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"
#include "utils/snapmgr.h"

#include "index/index.h"
#include "leaf_aggregate.h"
#include "mirror/mirror.h"
#include "exec/aggregate/aggregate_node.h"
#include "exec/common/node_table.h"

static Node *gpb_create_aggregate_scan(CustomScan *plan);
static void gpb_begin_aggregate(CustomScanState *css, EState *estate, int eflags);
static TupleTableSlot *gpb_exec_aggregate(CustomScanState *css);
static void gpb_end_aggregate(CustomScanState *css);
static void gpb_rescan_aggregate(CustomScanState *css);

const CustomScanMethods gpb_aggregate_scan_methods = {
	.CustomName = "GpubtreeAggregate",
	.CreateCustomScanState = gpb_create_aggregate_scan
};

static const CustomExecMethods gpb_aggregate_exec_methods = {
	.CustomName = "GpubtreeAggregate",
	.BeginCustomScan = gpb_begin_aggregate,
	.ExecCustomScan = gpb_exec_aggregate,
	.EndCustomScan = gpb_end_aggregate,
	.ReScanCustomScan = gpb_rescan_aggregate,
	.ExplainCustomScan = gpb_aggregate_explain
};

static Node *
gpb_create_aggregate_scan(CustomScan *plan)
{
	GpbAggregateScan *scan;

	scan = (GpbAggregateScan *) newNode(sizeof(GpbAggregateScan), T_CustomScanState);
	scan->css.methods = &gpb_aggregate_exec_methods;
	return (Node *) scan;
}

/*
 * Both relations stay open to the end of the node, so that no command of this
 * session can change them under it (rule M10).
 */
static void
gpb_begin_aggregate(CustomScanState *css, EState *estate, int eflags)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);

	scan->nitems = gpb_aggregate_private_items(plan->custom_private, &scan->items);
	gpb_require_aggregates(scan->items, scan->nitems);
	scan->heap = gpb_scanned_table(css);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	scan->index = index_open(gpb_aggregate_private_index(plan->custom_private),
							 exec_rt_fetch(plan->scan.scanrelid, estate)->rellockmode);
	scan->nconditions = list_length(linitial(plan->custom_exprs));
	scan->conditions = gpb_conditions_init(scan->index, linitial(plan->custom_exprs),
										   &css->ss.ps);
	if (lsecond(plan->custom_exprs) != NIL)
		scan->arrays = gpb_arrays_begin(scan->heap, scan->index, estate->es_snapshot,
										scan->items, scan->nitems,
										lsecond(plan->custom_exprs), &css->ss.ps);
	scan->work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree aggregate",
									   ALLOCSET_DEFAULT_SIZES);
}

/* ---- rights ---- */

void
gpb_require_aggregate(Oid aggregate)
{
	AclResult	allowed = pg_proc_aclcheck(aggregate, GetUserId(), ACL_EXECUTE);

	if (allowed != ACLCHECK_OK)
		aclcheck_error(allowed, OBJECT_AGGREGATE, get_func_name(aggregate));
	InvokeFunctionExecuteHook(aggregate);
}

void
gpb_require_aggregates(const GpbAggregateItem *items, int n)
{
	int			i;

	for (i = 0; i < n; i++)
		gpb_require_aggregate(items[i].aggregate);
}

/* ---- wants ---- */

void
gpb_aggregate_wants(const GpbAggregateItem *items, int n, GpbAggregateSpec *spec)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		const GpbAggregateItem *item = &items[i];

		switch (item->function)
		{
			case GPB_COUNT_ENTRIES:
				break;
			case GPB_COUNT_VALUES:
				spec->want[item->column] |= GPB_WANT_COUNT;
				break;
			case GPB_SUM:
			case GPB_AVG:
				spec->want[item->column] |= GPB_WANT_COUNT | GPB_WANT_SUM;
				break;
			case GPB_MIN:
			case GPB_MAX:
				spec->want[item->column] |= GPB_WANT_COUNT | GPB_WANT_MINMAX;
				break;
		}
	}
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
	TupleTableSlot *slot = scan->css.ss.ss_ScanTupleSlot;
	GpbAggregateRun run = {0};
	MemoryContext caller;
	ScanKey		keys;
	int			i;

	ExecClearTuple(slot);
	MemoryContextReset(scan->work);
	caller = MemoryContextSwitchTo(scan->work);

	run.heap = scan->heap;
	run.index = scan->index;
	run.snapshot = scan->css.ss.ps.state->es_snapshot;
	run.counters = &scan->counters;
	/* A copy: the relcache may rebuild its own at any time. */
	run.spec.layout = *gpb_layout(scan->index);
	run.spec.ignore_dead_hints = TransactionStartedDuringRecovery();
	gpb_aggregate_wants(scan->items, scan->nitems, &run.spec);
	gpb_totals_init(&run.totals, &run.spec);

	keys = palloc(sizeof(ScanKeyData) * (scan->nconditions + 1));
	scan->engine = "none";
	if (gpb_conditions_evaluate(scan->conditions, scan->nconditions, scan->index,
								&run.spec.layout, scan->css.ss.ps.ps_ExprContext,
								&run.spec.range, keys))
	{
		if (scan->arrays != NULL)
			gpb_arrays_run(scan->arrays, &run.spec.range, &run.totals.state);
		else
			scan->engine = gpb_aggregate_range(&run, keys, scan->nconditions);
	}

	memset(slot->tts_isnull, true, sizeof(bool) * slot->tts_tupleDescriptor->natts);
	for (i = 0; i < scan->nitems; i++)
		slot->tts_values[i] = gpb_aggregate_final(&scan->items[i], &run.spec,
												  &run.totals, &slot->tts_isnull[i]);
	ExecStoreVirtualTuple(slot);
	MemoryContextSwitchTo(caller);
}

/* ---- the node ---- */

static TupleTableSlot *
gpb_exec_aggregate(CustomScanState *css)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;

	if (scan->returned)
		return NULL;
	ResetExprContext(econtext);
	if (!scan->answered)
		gpb_answer(scan);
	scan->answered = true;
	scan->returned = true;

	if (css->ss.ps.ps_ProjInfo == NULL)
		return css->ss.ss_ScanTupleSlot;
	econtext->ecxt_scantuple = css->ss.ss_ScanTupleSlot;
	return ExecProject(css->ss.ps.ps_ProjInfo);
}

/* The answer stays good unless a parameter of the conditions has changed. */
static void
gpb_rescan_aggregate(CustomScanState *css)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;

	if (css->ss.ps.chgParam != NULL)
		scan->answered = false;
	scan->returned = false;
}

/* The executor closes the table; locks are kept to the end of the transaction. */
static void
gpb_end_aggregate(CustomScanState *css)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;

	if (scan->arrays != NULL)
		gpb_arrays_end(scan->arrays);
	if (scan->index != NULL)
		index_close(scan->index, NoLock);
}
