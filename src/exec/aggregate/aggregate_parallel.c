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
#include "storage/spin.h"
#include "utils/memutils.h"

#include "exec/aggregate/aggregate_node.h"

/* What the processes of a node share */
typedef struct GpbAggregateShared
{
	slock_t		lock;			/* of the counters */
	GpbBatchCounters counters;	/* of workers that have ended, in all executions; without
								 * pointers */
	char		engine[32];		/* of one of them */
} GpbAggregateShared;

/* Where the parts are, behind that */
#define GPB_PARTS_OFFSET	TYPEALIGN(PG_CACHE_LINE_SIZE, sizeof(GpbAggregateShared))

static inline GpbSharedParts *
shared_parts(GpbAggregateShared *shared)
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
	GpbAggregateShared *shared = coordinate;

	memset(shared, 0, sizeof(*shared));
	SpinLockInit(&shared->lock);
	gpb_aggregate_renew_shared(css, pcxt, coordinate);
}

/* InitializeWorkerCustomScan */
void
gpb_aggregate_find_shared(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	((GpbAggregateScan *) css)->shared = coordinate;
}

/* ---- counters ---- */

/* Add what this worker has counted to what others have. */
static void
report_counters(const GpbAggregateScan *scan)
{
	GpbAggregateShared *shared = scan->shared;
	GpbBatchCounters counters = {0};

	for (int i = 0; i < scan->nsubs; i++)
		gpb_ask_counters(scan->subs[i].ask, &counters);
	if (counters.runs == 0)
		return;
	SpinLockAcquire(&shared->lock);
	strlcpy(shared->engine, counters.engine, sizeof(shared->engine));
	gpb_batch_counters_add(&shared->counters, &counters);
	shared->counters.engine = NULL;
	shared->counters.no_cells = NULL;
	SpinLockRelease(&shared->lock);
}

/* Take what workers have counted, for EXPLAIN. */
static void
take_counters(GpbAggregateScan *scan)
{
	GpbAggregateShared *shared = scan->shared;

	SpinLockAcquire(&shared->lock);
	gpb_batch_counters_add(&scan->workers, &shared->counters);
	strlcpy(scan->workers_engine, shared->engine, sizeof(scan->workers_engine));
	memset(&shared->counters, 0, sizeof(shared->counters));
	SpinLockRelease(&shared->lock);
	scan->workers.engine = scan->workers_engine;
}

/*
 * ShutdownCustomScan: no more rows are wanted.  A worker comes here before the leader learns that
 * it has no more rows, and the leader while there is shared memory still.
 */
void
gpb_aggregate_leave_shared(CustomScanState *css)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;

	if (scan->shared == NULL)
		return;
	if (IsParallelWorker())
		report_counters(scan);
	else
		take_counters(scan);
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
