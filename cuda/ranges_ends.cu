/*-------------------------------------------------------------------------
 *
 * ranges_ends.cu
 *	  The kernels of a request that look at no leaf, before the others and after; see ranges.cuh.
 *
 *		lower_bounds	where each range begins, to sort many ranges by
 *		summarize		the summary of visibility bits that many requests read
 *		normalize		a thread for each float8 sum of many answers
 *
 *-------------------------------------------------------------------------
 */
#include "device.cuh"
#include "places.cuh"

/* ---- lower bounds ---- */

/* Write where each range begins, as a distance from the tree's smallest key. */
static __global__ void __launch_bounds__(GPB_LEAF_THREADS)
lower_bounds(const __grid_constant__ GpbRangesJob job, uint64 base, uint64 most, uint64 *lower)
{
	uint32		i = blockIdx.x * GPB_LEAF_THREADS + threadIdx.x;

	if (i < job.n)
	{
		uint64		key = (uint64) gpb_range_of(&job, i).lo.key;

		key = key < base ? base : key > most ? most : key;
		lower[i] = key - base;
	}
}

/* ---- the summary of visibility bits ---- */

static __global__ void __launch_bounds__(GPB_PREPARE_THREADS)
summarize(const __grid_constant__ GpbVisibilityBits visibility)
{
	gpb_summarize_visibility(&visibility, blockIdx.x * GPB_PREPARE_THREADS + threadIdx.x);
}

/* ---- normalize ---- */

/* Carry in each float8 sum of each answer. */
static __global__ void __launch_bounds__(GPB_LEAF_THREADS)
normalize_sums(const __grid_constant__ GpbRangesJob job, uint32 first_word, uint32 sums)
{
	uint64		i = blockIdx.x * (uint64) GPB_LEAF_THREADS + threadIdx.x;

	if (i < (uint64) job.n * sums)
	{
		int64	   *answer = gpb_answer_of(&job, (uint32) (i / sums));
		GpbFloatSum *sum = (GpbFloatSum *) (answer + first_word);

		gpb_float_sum_normalize(&sum[i % sums]);
	}
}

/* ---- host ---- */

static uint32
blocks_for_threads(uint64 threads)
{
	return (uint32) ((threads + GPB_LEAF_THREADS - 1) / GPB_LEAF_THREADS);
}

GpbDeviceStatus
gpb_lower_bounds_launch(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
						uint64 base, uint64 most, uint64 *lower)
{
	return gpb_launch_on(device, stream, "lower_bounds", blocks_for_threads(job->n),
						 GPB_LEAF_THREADS, lower_bounds, *job, base, most, lower);
}

GpbDeviceStatus
gpb_summary_launch(GpbDevice *device, cudaStream_t stream, const GpbVisibilityBits *visibility)
{
	return gpb_launch_on(device, stream, "summarize", gpb_summary_blocks(visibility),
						 GPB_PREPARE_THREADS, summarize, *visibility);
}

GpbDeviceStatus
gpb_normalize_launch(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
					 const GpbAnswerFormat *format)
{
	uint32		sums = (format->words - format->integers) / GPB_FLOAT_SUM_WORDS;

	return gpb_launch_on(device, stream, "normalize_sums",
						 blocks_for_threads((uint64) job->n * sums), GPB_LEAF_THREADS,
						 normalize_sums, *job, (uint32) format->integers, sums);
}
