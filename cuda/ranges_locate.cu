/*-------------------------------------------------------------------------
 *
 * ranges_locate.cu
 *	  The kernels that find the leaves of a request; see ranges.cuh.
 *
 *		prepare			the summary of the visibility bits; counts and a single answer, empty; the
 *						leaves of a single range
 *		locate			a thread for each range: its first leaf; within one leaf, its rows
 *
 *-------------------------------------------------------------------------
 */
#include "device.cuh"
#include "places.cuh"

/* ---- prepare ---- */

/* How many separators are below the bound; the whole warp calls, all get the answer. */
static __device__ uint32
count_below(const GpbSeparatorArray *separators, GpbBound bound, bool or_equal)
{
	int			lane = threadIdx.x % GPB_WARP;
	uint32		low = 0;
	uint32		n = separators->n;

	while (n > 0)
	{
		uint32		stride = gpb_probe_stride(n);
		uint64		probe = gpb_probe(stride, lane);
		bool		below = probe < n &&
			gpb_separator_below(separators, low + (uint32) probe, bound, or_equal);
		uint32		hits = __popc(__ballot_sync(GPB_ALL_LANES, below));

		low += hits * stride;
		n -= hits * stride;
		if (n > stride - 1)
			n = stride - 1;
	}
	return low;
}

/* Set those words of a column that are not zero in the answer of no entries. */
static __device__ __forceinline__ void
clear_column(const GpbAnswerColumn *column, int64 *answer)
{
	if (column->bits_and != 0)
		answer[column->bits_and] = -1;
	if (column->halves != 0)
		gpb_halves_init(answer + column->halves);
	if (column->minmax == 0)
		return;
	answer[column->minmax] = 0x7FFFFFFFFFFFFFFF;
	answer[column->minmax + 1] = -0x7FFFFFFFFFFFFFFF - 1;
}

/* Empty an answer, by all threads of a block. */
static __device__ void
clear_answer(const GpbAnswerFormat *format, int64 *answer)
{
	for (uint32 i = threadIdx.x; i < format->words; i += blockDim.x)
		answer[i] = 0;
	__syncthreads();
	if (threadIdx.x < (uint32) format->ncolumns)
		clear_column(&format->column[threadIdx.x], answer);
}

/* Note the leaves of the single range, which end before separator "end", as its tasks. */
static __device__ void
note_leaves(const GpbRangesJob *job, uint32 end)
{
	GpbRange	range = gpb_range_of(job, 0);
	bool		is_empty = !gpb_bound_less(range.lo, range.hi);
	uint32		first = job->first[0];

	job->tasks[0] = is_empty || job->separators.n == 0 ? 0 : end - first;
	if (is_empty || job->separators.n > 0)
		return;
	job->counts->nunclean = 1;
	job->pieces.order[0] = 0;
	gpb_write_piece(job, 0, 0, 0);
}

/*
 * Find the leaves of the single range, a warp for each of its ends.  Separator 0 is below
 * everything.
 */
static __device__ void
find_leaves(const GpbRangesJob *job)
{
	__shared__ uint32 end;
	uint32		warp = threadIdx.x / GPB_WARP;

	if (warp < 2)
	{
		GpbRange	range = gpb_range_of(job, 0);
		uint32		below = count_below(&job->separators, warp == 0 ? range.lo : range.hi,
										warp == 0);

		if (threadIdx.x == 0)
			job->first[0] = below - 1;
		if (threadIdx.x == GPB_WARP)
			end = below;
	}
	__syncthreads();
	if (threadIdx.x == 0)
		note_leaves(job, end);
}

/* Block 0 begins what is counted, and finds a single range; the others make the summary. */
static __global__ void __launch_bounds__(GPB_PREPARE_THREADS)
prepare_ranges(const __grid_constant__ GpbRangesJob job,
			   const __grid_constant__ GpbAnswerFormat format)
{
	if (blockIdx.x > 0)
	{
		gpb_summarize_visibility(&job.visibility,
								 (blockIdx.x - 1) * GPB_PREPARE_THREADS + threadIdx.x);
		return;
	}
	if (threadIdx.x == 0)
	{
		job.counts->leaves = 0;
		job.counts->nunclean = 0;
		job.counts->nentries = 0;
		job.counts->ntasks = 0;
		job.counts->ngroups = 0;
		job.counts->faults = 0;
		job.counts->unheld = 0;
		job.counts->launch = job.launch;
	}
	if (job.total)
		clear_answer(&format, job.answers);
	if (job.ranges == NULL)
		find_leaves(&job);
}

/* ---- locate ---- */

/* An empty answer, but for its float8 sums, which are zero already */
static __device__ void
store_empty_answer(const GpbRangesJob *job, const GpbAnswerFormat *format, uint32 number)
{
	int64	   *answer = gpb_answer_of(job, number);

	for (int i = 0; i < format->integers; i++)
		answer[i] = 0;
	for (int c = 0; c < format->ncolumns; c++)
		clear_column(&format->column[c], answer);
}

/* What one thread finds about its range; job->first and job->tasks have the rest. */
struct Located
{
	bool		clean;			/* place is in a clean leaf */
	bool		unclean;		/* the only leaf is not clean, or there is no tree */
	GpbRangePlace place;
};

/*
 * Find the i-th range, which has the given number.  What is found first is stored at once: that
 * keeps the kernel within 32 registers, at which the device is full of its threads.
 */
static __device__ __forceinline__ void
locate_range(const GpbRangesJob *job, uint32 i, uint32 number, Located *located)
{
	GpbRange	range = gpb_range_of(job, number);
	const GpbSeparatorArray *separators = &job->separators;
	uint32		first;
	GpbLeafView leaf;

	job->tasks[i] = 0;
	if (!gpb_bound_less(range.lo, range.hi))
		return;
	if (separators->n == 0)
	{
		job->first[i] = 0;
		located->unclean = true;
		return;
	}
	first = gpb_last_separator(&job->tree, separators, range.lo);
	job->first[i] = first;
	if (job->only_tasks ||
		gpb_bound_less(gpb_leaf_limit(separators, first), range.hi))
	{
		uint32		last = gpb_gallop_separators(separators, first, range.hi, false);

		job->tasks[i] = (uint64) last - first + 1;
		return;
	}
	leaf = gpb_judge_leaf(job, first);
	located->clean = leaf.page != NULL;
	located->unclean = leaf.page == NULL;
	if (located->clean)
		gpb_find_rows(job, first, leaf, range, true, true, &located->place);
}

/*
 * Find out where each range is.  Where each has an answer of its own, one that no other kernel will
 * store is made empty here: nothing of the range is in a clean leaf, or its answer is added up
 * from tasks.
 */
static __global__ void __launch_bounds__(GPB_LEAF_THREADS)
locate_ranges(const __grid_constant__ GpbRangesJob job,
			  const __grid_constant__ GpbAnswerFormat format)
{
	__shared__ uint32 leaves;
	uint32		i = blockIdx.x * GPB_LEAF_THREADS + threadIdx.x;
	uint32		number = 0;
	Located		located = {};

	if (threadIdx.x == 0)
		leaves = 0;
	__syncthreads();
	if (i < job.n)
	{
		number = gpb_number_of(&job, i);
		locate_range(&job, i, number, &located);
		if (located.place.from == located.place.to)
			located.place = {};	/* no quad of it is to be read */
		located.place.number = number;
		if (!job.pass.list_entries)
		{
			job.place[i] = located.place;
			if (located.place.page == NULL && !job.total)
				store_empty_answer(&job, &format, number);
		}
	}
	gpb_append_piece(&job, number, located.unclean ? job.first[i] : 0, located.unclean);
	uint32		clean = __ballot_sync(GPB_ALL_LANES, located.clean);

	if (gpb_lane() == 0 && clean != 0)
		atomicAdd(&leaves, (uint32) __popc(clean));
	__syncthreads();
	if (threadIdx.x == 0)
		gpb_atomic_add(&job.counts->leaves, (uint64) leaves);
}

/* ---- host ---- */

void
GPB_FORM::gpb_single_range(GpbRangeForm of, const void *ranges, int key_width, int layout_flags,
						   uint64 *into)
{
	GpbRange	range = gpb_input_range(of, ranges, 0, key_width, layout_flags);

#ifdef GPB_CUDA_WIDE
	GpbWideRange request = {gpb_wide_bound(range.lo), gpb_wide_bound(range.hi)};
#else
	GpbNarrowRange request = gpb_narrow_range(range);
#endif

	memcpy(into, &request, sizeof(request));
}

static uint32
blocks_for_threads(uint64 threads)
{
	return (uint32) ((threads + GPB_LEAF_THREADS - 1) / GPB_LEAF_THREADS);
}

GpbDeviceStatus
GPB_FORM::gpb_prepare_launch(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
							 const GpbAnswerFormat *format)
{
	uint32		blocks = 1 +
		(job->visibility.summarized ? 0 : gpb_summary_blocks(&job->visibility));

	return gpb_launch_on(device, stream, "prepare_ranges", blocks, GPB_PREPARE_THREADS,
						 prepare_ranges, *job, *format);
}

GpbDeviceStatus
GPB_FORM::gpb_locate_launch(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
							 const GpbAnswerFormat *format)
{
	return gpb_launch_on(device, stream, "locate_ranges", blocks_for_threads(job->n),
						 GPB_LEAF_THREADS, locate_ranges, *job, *format);
}
