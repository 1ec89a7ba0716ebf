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

/* Where the parts are in shared memory, behind the counters */
#define GPB_PARTS_OFFSET	TYPEALIGN(PG_CACHE_LINE_SIZE, sizeof(GpbSharedCounters))

static inline GpbSharedParts *
shared_parts(GpbSharedCounters *shared)
{
	return (GpbSharedParts *) ((char *) shared + GPB_PARTS_OFFSET);
}

/* ---- shared memory, in the leader and in a worker ---- */

/* EstimateDSMCustomScan */
Size
gpb_aggregate_estimate_shared(CustomScanState *css, ParallelContext *pcxt)
{
	return GPB_PARTS_OFFSET + gpb_shared_parts_size(pcxt->nworkers);
}

/* ReInitializeDSMCustomScan: make the parts of this execution, for workers that have not begun. */
void
gpb_aggregate_renew_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;

	scan->shared = coordinate;
	gpb_shared_parts_find(shared_parts(scan->shared), pcxt->nworkers, scan->node.index,
						  css->ss.ps.state->es_snapshot, scan->conditions,
						  css->ss.ps.ps_ExprContext);
}

/* InitializeDSMCustomScan */
void
gpb_aggregate_make_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	gpb_shared_counters_init(coordinate);
	gpb_aggregate_renew_shared(css, pcxt, coordinate);
}

/* InitializeWorkerCustomScan */
void
gpb_aggregate_find_shared(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	((GpbAggregateScan *) css)->shared = coordinate;
}

/* ShutdownCustomScan: no more rows are wanted. */
void
gpb_aggregate_leave_shared(CustomScanState *css)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	GpbBatchCounters counters = {0};

	if (scan->shared == NULL)
		return;
	for (int i = 0; i < scan->nsubs; i++)
		gpb_ask_counters(scan->subs[i].ask, &counters);
	if (IsParallelWorker())
		gpb_shared_counters_report(scan->shared, &counters);
	else
		gpb_shared_counters_take(scan->shared, &scan->workers);
	scan->shared = NULL;
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

	gpb_shared_ranges_begin(&shared, shared_parts(scan->shared), gpb_layout(scan->node.index),
							found);
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
