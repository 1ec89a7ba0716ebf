/*-------------------------------------------------------------------------
 *
 * shared_counters.c
 *	  What the batches of workers count, for the EXPLAIN of a node that several processes run.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/answer/shared_counters.h"

void
gpb_shared_counters_init(GpbSharedCounters *shared)
{
	memset(shared, 0, sizeof(*shared));
	SpinLockInit(&shared->lock);
}

void
gpb_shared_counters_report(GpbSharedCounters *shared, const GpbBatchCounters *counters)
{
	if (counters->runs == 0)
		return;
	SpinLockAcquire(&shared->lock);
	strlcpy(shared->engine, counters->engine, sizeof(shared->engine));
	gpb_batch_counters_add(&shared->counters, counters);
	shared->counters.engine = NULL;
	shared->counters.no_cells = NULL;
	SpinLockRelease(&shared->lock);
}

void
gpb_shared_counters_take(GpbSharedCounters *shared, GpbWorkersCounters *workers)
{
	SpinLockAcquire(&shared->lock);
	gpb_batch_counters_add(&workers->counters, &shared->counters);
	strlcpy(workers->engine, shared->engine, sizeof(workers->engine));
	memset(&shared->counters, 0, sizeof(shared->counters));
	SpinLockRelease(&shared->lock);
	workers->counters.engine = workers->engine;
}
