/*-------------------------------------------------------------------------
 *
 * shared_counters.h
 *	  What the batches of workers count, for the EXPLAIN of a node that several processes run.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SHARED_COUNTERS_H
#define GPB_SHARED_COUNTERS_H

#include "postgres.h"
#include "storage/spin.h"

#include "engine/batch.h"

/* In shared memory */
typedef struct GpbSharedCounters
{
	slock_t		lock;
	GpbBatchCounters counters;	/* of workers that have ended, in all executions; without
								 * pointers */
	char		engine[32];		/* of one of them */
} GpbSharedCounters;

/* What the leader has taken from there */
typedef struct GpbWorkersCounters
{
	GpbBatchCounters counters;
	char		engine[32];
} GpbWorkersCounters;

extern void gpb_shared_counters_init(GpbSharedCounters *shared);

/*
 * When no more rows are wanted: have a worker add what it has counted, and the leader take what
 * workers have.  A worker comes here before the leader learns that it has no more rows, and the
 * leader while there is shared memory still.
 */
extern void gpb_shared_counters_report(GpbSharedCounters *shared, const GpbBatchCounters *counters);
extern void gpb_shared_counters_take(GpbSharedCounters *shared, GpbWorkersCounters *workers);

#endif							/* GPB_SHARED_COUNTERS_H */
