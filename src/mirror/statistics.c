/*-------------------------------------------------------------------------
 *
 * statistics.c
 *	  What was answered since the server started, or since the counters were reset, and by whom.
 *
 * The services count what their devices answer (service/), backends what the CPU does.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/statistics.h"

#include "storage/shmem.h"
#include "utils/timestamp.h"

#include "mirror/status.h"

GpbStatistics *gpb_statistics = NULL;

Size
gpb_statistics_size(void)
{
	return MAXALIGN(sizeof(GpbStatistics));
}

void
gpb_statistics_init_shmem(void)
{
	bool		found;

	gpb_statistics = ShmemInitStruct("gpubtree statistics", gpb_statistics_size(), &found);
	if (found)
		return;
	for (int device = 0; device < GPB_MAX_DEVICES; device++)
		pg_atomic_init_u64(&gpb_statistics->requests[device], 0);
	pg_atomic_init_u64(&gpb_statistics->batches, 0);
	pg_atomic_init_u64(&gpb_statistics->keys, 0);
	pg_atomic_init_u64(&gpb_statistics->ranges, 0);
	pg_atomic_init_u64(&gpb_statistics->launches, 0);
	pg_atomic_init_u64(&gpb_statistics->joined, 0);
	pg_atomic_init_u64(&gpb_statistics->sorted, 0);
	pg_atomic_init_u64(&gpb_statistics->failed_over, 0);
	pg_atomic_init_u64(&gpb_statistics->cpu_requests, 0);
	pg_atomic_init_u64(&gpb_statistics->cpu_batches, 0);
	pg_atomic_init_u64(&gpb_statistics->cpu_keys, 0);
	pg_atomic_init_u64(&gpb_statistics->cpu_ranges, 0);
	pg_atomic_init_u64(&gpb_statistics->reset, (uint64) GetCurrentTimestamp());
}

void
gpb_statistics_reset(void)
{
	if (gpb_statistics == NULL)
		return;
	for (int device = 0; device < GPB_MAX_DEVICES; device++)
		pg_atomic_write_u64(&gpb_statistics->requests[device], 0);
	pg_atomic_write_u64(&gpb_statistics->batches, 0);
	pg_atomic_write_u64(&gpb_statistics->keys, 0);
	pg_atomic_write_u64(&gpb_statistics->ranges, 0);
	pg_atomic_write_u64(&gpb_statistics->launches, 0);
	pg_atomic_write_u64(&gpb_statistics->joined, 0);
	pg_atomic_write_u64(&gpb_statistics->sorted, 0);
	pg_atomic_write_u64(&gpb_statistics->failed_over, 0);
	pg_atomic_write_u64(&gpb_statistics->cpu_requests, 0);
	pg_atomic_write_u64(&gpb_statistics->cpu_batches, 0);
	pg_atomic_write_u64(&gpb_statistics->cpu_keys, 0);
	pg_atomic_write_u64(&gpb_statistics->cpu_ranges, 0);
	pg_atomic_write_u64(&gpb_statistics->reset, (uint64) GetCurrentTimestamp());
}

void
gpb_count_cpu_batch(GpbRangeForm form, uint32 n)
{
	if (gpb_statistics == NULL)
		return;
	if (gpb_is_aggregate(form, n))
	{
		pg_atomic_fetch_add_u64(&gpb_statistics->cpu_requests, 1);
		return;
	}
	pg_atomic_fetch_add_u64(&gpb_statistics->cpu_batches, 1);
	pg_atomic_fetch_add_u64(form == GPB_RANGE_POINTS ? &gpb_statistics->cpu_keys :
							&gpb_statistics->cpu_ranges, n);
}
