/*-------------------------------------------------------------------------
 *
 * statistics.c
 *	  What was answered since the server started, or since the counters were reset, and by whom.
 *
 * The service counts what the device answers (service_query.c), backends what the CPU does.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/shared.h"

#include "fmgr.h"
#include "utils/timestamp.h"

PG_FUNCTION_INFO_V1(gpubtree_stat_reset);

void
gpb_statistics_init(void)
{
	GpbStatistics *statistics = &gpb_shared->statistics;

	pg_atomic_init_u64(&statistics->requests, 0);
	pg_atomic_init_u64(&statistics->batches, 0);
	pg_atomic_init_u64(&statistics->keys, 0);
	pg_atomic_init_u64(&statistics->ranges, 0);
	pg_atomic_init_u64(&statistics->launches, 0);
	pg_atomic_init_u64(&statistics->joined, 0);
	pg_atomic_init_u64(&statistics->failed_over, 0);
	pg_atomic_init_u64(&statistics->cpu_requests, 0);
	pg_atomic_init_u64(&statistics->cpu_batches, 0);
	pg_atomic_init_u64(&statistics->cpu_keys, 0);
	pg_atomic_init_u64(&statistics->cpu_ranges, 0);
	pg_atomic_init_u64(&statistics->reset, (uint64) GetCurrentTimestamp());
}

void
gpb_count_cpu_aggregate(void)
{
	if (gpb_shared != NULL)
		pg_atomic_fetch_add_u64(&gpb_shared->statistics.cpu_requests, 1);
}

void
gpb_count_cpu_batch(bool points, uint32 n)
{
	GpbStatistics *statistics;

	if (gpb_shared == NULL)
		return;
	statistics = &gpb_shared->statistics;
	pg_atomic_fetch_add_u64(&statistics->cpu_batches, 1);
	pg_atomic_fetch_add_u64(points ? &statistics->cpu_keys : &statistics->cpu_ranges, n);
}

/*
 * gpubtree_stat_reset(): set all counters of gpubtree_device and gpubtree_batches to zero.  What is
 * counted at the same moment may be lost, or be left in one counter alone.
 */
Datum
gpubtree_stat_reset(PG_FUNCTION_ARGS)
{
	GpbStatistics *statistics;

	if (gpb_shared == NULL)
		PG_RETURN_VOID();
	statistics = &gpb_shared->statistics;
	pg_atomic_write_u64(&statistics->requests, 0);
	pg_atomic_write_u64(&statistics->batches, 0);
	pg_atomic_write_u64(&statistics->keys, 0);
	pg_atomic_write_u64(&statistics->ranges, 0);
	pg_atomic_write_u64(&statistics->launches, 0);
	pg_atomic_write_u64(&statistics->joined, 0);
	pg_atomic_write_u64(&statistics->failed_over, 0);
	pg_atomic_write_u64(&statistics->cpu_requests, 0);
	pg_atomic_write_u64(&statistics->cpu_batches, 0);
	pg_atomic_write_u64(&statistics->cpu_keys, 0);
	pg_atomic_write_u64(&statistics->cpu_ranges, 0);
	pg_atomic_write_u64(&statistics->reset, (uint64) GetCurrentTimestamp());
	PG_RETURN_VOID();
}
