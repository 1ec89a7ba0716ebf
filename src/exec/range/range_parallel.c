/*-------------------------------------------------------------------------
 *
 * range_parallel.c
 *	  Joins under aggregates whose outer rows several processes read, each some: they exchange the
 *	  keys (key_exchange.h), and each returns the state of those that it has answered.
 *
 * Nothing of an outer row is needed but its range of keys, so it does not matter which process
 * answers that.  Without shared memory, where a plan with workers is executed by one process, the
 * node is as any other.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/parallel.h"
#include "executor/executor.h"

#include "exec/price/growth.h"
#include "exec/range/range_aggregate.h"

/* Where the exchange is in shared memory, behind the counters */
#define GPB_EXCHANGE_OFFSET	TYPEALIGN(PG_CACHE_LINE_SIZE, sizeof(GpbSharedCounters))

static inline GpbKeyExchange *
shared_exchange(GpbSharedCounters *shared)
{
	return (GpbKeyExchange *) ((char *) shared + GPB_EXCHANGE_OFFSET);
}

/* ---- shared memory, in the leader and in a worker ---- */

/* EstimateDSMCustomScan */
Size
gpb_range_estimate_shared(CustomScanState *css, ParallelContext *pcxt)
{
	return GPB_EXCHANGE_OFFSET + gpb_exchange_size(pcxt->nworkers);
}

/* InitializeDSMCustomScan; there is no area where no worker can be started. */
void
gpb_range_make_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;

	if (css->ss.ps.state->es_query_dsa == NULL)
		return;
	scan->shared = coordinate;
	gpb_shared_counters_init(scan->shared);
	gpb_exchange_init(shared_exchange(scan->shared), pcxt->nworkers);
}

/* ReInitializeDSMCustomScan: no worker has begun. */
void
gpb_range_renew_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;

	if (css->ss.ps.state->es_query_dsa == NULL)
		return;
	scan->shared = coordinate;
	gpb_exchange_renew(shared_exchange(scan->shared), css->ss.ps.state->es_query_dsa);
}

/* InitializeWorkerCustomScan */
void
gpb_range_find_shared(CustomScanState *css, shm_toc *toc, void *coordinate)
{
	((GpbRangeAggregateScan *) css)->shared = coordinate;
}

/* ShutdownCustomScan: no more rows are wanted. */
void
gpb_range_leave_shared(CustomScanState *css)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;
	GpbBatchCounters counters = {0};

	if (scan->shared == NULL)
		return;
	gpb_ask_counters(scan->ask, &counters);
	if (IsParallelWorker())
		gpb_shared_counters_report(scan->shared, &counters);
	else
		gpb_shared_counters_take(scan->shared, &scan->workers);
	scan->shared = NULL;
}

/* ---- the answer of one process ---- */

/*
 * Read this process's outer rows, as many as memory holds, and put in what they ask for.  Returns
 * false if there are no more, when it is not to be called again.
 */
static bool
put_outer_rows(GpbRangeAggregateScan *scan, GpbExchangeSide *side)
{
	const GpbOuterRanges *ranges = &scan->outer.ranges[0];
	Size		bytes = ranges->width + gpb_exchange_range_memory(side);
	uint32		most = (uint32) Min(gpb_rows_memory() / bytes, GPB_MOST_ROWS);
	bool		more = gpb_outer_read_ranges(&scan->outer, most);

	gpb_exchange_put(side, ranges->ranges, ranges->n, more);
	return more;
}

const char *
gpb_range_ask_shared(GpbRangeAggregateScan *scan)
{
	const char *why = NULL;
	bool		more = true;
	GpbExchangeSide *side = gpb_exchange_attach(shared_exchange(scan->shared),
												scan->node.css.ss.ps.state->es_query_dsa,
												scan->outer.ranges[0].form,
												gpb_layout(scan->node.index));

	do
	{
		const void *part;
		uint32		n;

		if (gpb_exchange_collects(side) && more)
			more = put_outer_rows(scan, side);
		else if (gpb_exchange_collects(side))
			gpb_exchange_put(side, NULL, 0, false);
		while (why == NULL && (n = gpb_exchange_take(side, &part)) > 0)
			why = gpb_ask_total(scan->ask, part, n);
	} while (why == NULL && gpb_exchange_next_round(side));
	return why;
}
