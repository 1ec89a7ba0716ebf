/*-------------------------------------------------------------------------
 *
 * statistics.h
 *	  Counters of what was answered, and by whom; in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_STATISTICS_H
#define GPB_STATISTICS_H

#include "compat.h"

#include "port/atomics.h"

#include "mirror/devices.h"

/* Counters since the last reset; nothing depends on them. */
typedef struct GpbStatistics
{
	/* the devices', counted by their services */
	pg_atomic_uint64 requests[GPB_MAX_DEVICES];	/* aggregates answered, by each */
	pg_atomic_uint64 batches;	/* batches answered */
	pg_atomic_uint64 keys;		/* keys of the batches answered */
	pg_atomic_uint64 ranges;	/* ranges of the batches answered */
	pg_atomic_uint64 launches;	/* batches launched on the device */
	pg_atomic_uint64 joined;	/* launches that served several requests at once */
	pg_atomic_uint64 sorted;	/* records of builds */
	pg_atomic_uint64 failed_over;	/* requests of all kinds without an answer */

	/* the other engines', counted by the backends */
	pg_atomic_uint64 cpu_requests;
	pg_atomic_uint64 cpu_batches;
	pg_atomic_uint64 cpu_keys;
	pg_atomic_uint64 cpu_ranges;

	pg_atomic_uint64 reset;		/* TimestampTz of the last reset, or of the server's start */
} GpbStatistics;

extern GpbStatistics *gpb_statistics;	/* NULL until shared memory is there */

extern Size gpb_statistics_size(void);
extern void gpb_statistics_init_shmem(void);

#endif							/* GPB_STATISTICS_H */
