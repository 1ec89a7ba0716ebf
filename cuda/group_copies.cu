/*-------------------------------------------------------------------------
 *
 * group_copies.cu
 *	  The kernels of a request with groups before and after the one that finds them; see
 *	  group_rows.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "device.cuh"
#include "group_rows.cuh"

/* ---- copies of answers ---- */

/* Finish the making of copies that are the answers of no entries; all words are zero so far. */
static __global__ void __launch_bounds__(GPB_LEAF_THREADS)
clear_copies(const __grid_constant__ GpbGroupJob groups)
{
	uint32		i = blockIdx.x * GPB_LEAF_THREADS + threadIdx.x;

	if (i < groups.copies * groups.copied_groups)
		gpb_clear_bounds(&groups, groups.copy + (uint64) i * groups.words);
}

/* Add each copy to its row, a thread for each. */
static __global__ void __launch_bounds__(GPB_LEAF_THREADS)
merge_copies(const __grid_constant__ GpbGroupJob groups)
{
	uint32		i = blockIdx.x * GPB_LEAF_THREADS + threadIdx.x;
	const int64 *from = groups.copy + (uint64) i * groups.words;
	int64	   *into;

	if (i >= groups.copies * groups.copied_groups || from[0] == 0)
		return;
	into = gpb_group_answer(&groups, i % groups.copied_groups);
	gpb_atomic_add(into, from[0]);
	for (int t = 0; t < groups.nterms; t++)
		gpb_add_term_of_copy(&groups.term[t], into, from);
}

static uint32
blocks_for_copies(const GpbGroupJob *groups)
{
	return (groups->copies * groups->copied_groups + GPB_LEAF_THREADS - 1) / GPB_LEAF_THREADS;
}

GpbDeviceStatus
gpb_clear_copies_launch(GpbDevice *device, cudaStream_t stream, const GpbGroupJob *groups)
{
	GPB_TRY_CUDA(device, cudaMemsetAsync(groups->copy, 0, gpb_group_copies_size(groups), stream));
	return gpb_launch_on(device, stream, "clear_copies", blocks_for_copies(groups),
						 GPB_LEAF_THREADS, clear_copies, *groups);
}

GpbDeviceStatus
gpb_merge_copies_launch(GpbDevice *device, cudaStream_t stream, const GpbGroupJob *groups)
{
	return gpb_launch_on(device, stream, "merge_copies", blocks_for_copies(groups),
						 GPB_LEAF_THREADS, merge_copies, *groups);
}

/* ---- finish ---- */

/* Make the counts and one-word sums of a row's answer what the format says: group_rows.cuh. */
static __device__ __forceinline__ void
finish_integers(const GpbGroupJob *groups, int64 *answer)
{
	for (int t = 0; t < groups->nterms; t++)
	{
		const GpbGroupTerm *term = &groups->term[t];

		answer[term->words.count] += answer[0];
		if (term->one_word)
			answer[term->words.sum + 1] = answer[term->words.sum] >> 63;
	}
}

/* Complete the answers, a thread for the integers of each and for each of its float8 sums. */
static __global__ void __launch_bounds__(GPB_LEAF_THREADS)
finish_groups(const __grid_constant__ GpbRangesJob job, const __grid_constant__ GpbGroupJob groups,
			  uint32 first_word, uint32 sums, bool narrow)
{
	uint64		n = job.counts->ngroups < groups.capacity ? job.counts->ngroups : groups.capacity;
	uint32		parts = 1 + sums;

	for (uint64 i = blockIdx.x * (uint64) GPB_LEAF_THREADS + threadIdx.x; i < n * parts;
		 i += gridDim.x * (uint64) GPB_LEAF_THREADS)
	{
		int64	   *answer = gpb_group_answer(&groups, (uint32) (i / parts));
		uint32		part = (uint32) (i % parts);

		if (part == 0)
			finish_integers(&groups, answer);
		else if (narrow)
			gpb_narrow_sum_normalize((GpbNarrowSum *) (answer + first_word) + part - 1);
		else
			gpb_float_sum_normalize((GpbFloatSum *) (answer + first_word) + part - 1);
	}
}

GpbDeviceStatus
gpb_finish_groups_launch(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
						 const GpbGroupJob *groups, const GpbAnswerFormat *format)
{
	uint32		sums = (format->words - format->integers) / format->sum_words;

	return gpb_launch_on(device, stream, "finish_groups", 4 * device->info.multiprocessors,
						 GPB_LEAF_THREADS, finish_groups, *job, *groups,
						 (uint32) format->integers, sums,
						 format->sum_words == GPB_NARROW_SUM_WORDS);
}
