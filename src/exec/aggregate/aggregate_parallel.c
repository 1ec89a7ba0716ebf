/*-------------------------------------------------------------------------
 *
 * aggregate_parallel.c
 *	  A node below Gather whose index several processes read together, each some parts of it.
 *
 * The node is parallel-aware and returns states.  Parts are made in the leader, whenever Gather
 * begins, by the ranges that it finds then.  Without shared memory, where a plan with workers is
 * executed by one process, the node is as any other.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "utils/memutils.h"

#include "exec/aggregate/aggregate_node.h"

/* ---- shared memory, in the leader and in a worker ---- */

/* EstimateDSMCustomScan */
Size
gpb_aggregate_estimate_shared(CustomScanState *css, ParallelContext *pcxt)
{
	return gpb_shared_parts_size(pcxt->nworkers);
}

/* Make the parts of this execution, for workers that have not begun. */
static void
make_parts(GpbAggregateScan *scan, int workers)
{
	PlanState  *ps = &scan->node.css.ss.ps;
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree parts",
												  ALLOCSET_DEFAULT_SIZES);
	MemoryContext caller = MemoryContextSwitchTo(context);
	GpbFoundRanges found;

	gpb_conditions_evaluate(scan->conditions, ps->ps_ExprContext, &found);
	gpb_shared_parts_make(scan->parts, workers, scan->node.index, ps->state->es_snapshot, &found);
	MemoryContextSwitchTo(caller);
	MemoryContextDelete(context);
}

/* InitializeDSMCustomScan, ReInitializeDSMCustomScan */
void
gpb_aggregate_make_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;

	scan->parts = coordinate;
	make_parts(scan, pcxt->nworkers);
}

/* InitializeWorkerCustomScan */
void
gpb_aggregate_find_shared(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	((GpbAggregateScan *) css)->parts = coordinate;
}

/* ---- the answer of one process ---- */

/*
 * The first subprogram takes parts as it is done with those that it has; the others answer the same
 * ranges, so that their groups are those of the same entries.
 */
const char *
gpb_aggregate_ask_shared(GpbAggregateScan *scan, const GpbFoundRanges *found)
{
	GpbSharedRanges shared;
	const char *why;

	gpb_shared_ranges_begin(&shared, scan->parts, gpb_layout(scan->node.index), found);
	for (int i = 0; i < scan->nsubs; i++)
	{
		gpb_group_init(scan->subs[i].ask);
		gpb_ask_set_form(scan->subs[i].ask, GPB_RANGE_BOUNDS);
	}
	scan->last = scan->subs[0].ask;
	why = gpb_ask_total_source(scan->subs[0].ask, &shared.source);
	for (int i = 1; i < scan->nsubs && why == NULL && shared.source.n > 0; i++)
		why = gpb_ask_total(scan->subs[i].ask, shared.source.ranges, shared.source.n);
	pfree(shared.taken);
	return why;
}
