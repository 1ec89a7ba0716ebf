/*-------------------------------------------------------------------------
 *
 * ranges_short.cu
 *	  A pass over the ranges that lie within one leaf: four lanes for each; see ranges.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "places.cuh"

/*
 * Blocks of GPB_LEAF_THREADS that a multiprocessor should hold.  Since this source asks about the
 * architecture, the Makefile has nvcc read it for each (CUDA_ONCE is without it).
 */
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ < 800
#define GPB_SHORT_BLOCKS		4	/* Turing has room for 1024 threads */
#else
#define GPB_SHORT_BLOCKS		5
#endif

/* Merge what the lanes of a range have of the column, and no more of it than is wanted. */
static __device__ __forceinline__ GpbColumnState
merge_column(const GpbPassColumn *column, const GpbRunning *running)
{
	GpbColumnState state = gpb_running_state(running);

	if (column->minmax != 0)
		return gpb_lanes_merge<GPB_SHORT_LANES>(state);
	for (int lanes = GPB_SHORT_LANES / 2; lanes > 0; lanes /= 2)
	{
		uint64		low = (uint64) gpb_shuffle_int64((int64) state.sum_low, lanes);
		int32		high = __shfl_xor_sync(GPB_ALL_LANES, (int32) state.sum_high, lanes);

		state.count += __shfl_xor_sync(GPB_ALL_LANES, (uint32) state.count, lanes);
		state.sum_low += low;
		state.sum_high += high + (state.sum_low < low);
	}
	return state;
}

#ifdef GPB_CUDA_RUNS

/* Read the rows of the lane's place if its leaf has runs.  The whole warp calls. */
template <int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
read_runs(const GpbRangesJob *job, GpbRangePlace place, GpbTally<N, FLOAT_SUM> *tally,
		  GpbFloatSum *sum)
{
	GpbLeafView leaf = gpb_view_of_place(place);
	int			from = place.from;

	if (!place.runs)
		from = leaf.count = 0;
	for (int first = (from / GPB_RUN_QUAD + threadIdx.x % GPB_SHORT_LANES) * GPB_RUN_QUAD;
		 __any_sync(GPB_ALL_LANES, first < leaf.count); first += GPB_RUN_QUAD * GPB_SHORT_LANES)
		gpb_take_run_quad(job, place.number, leaf, from, first, tally, sum);
}

#endif

/*
 * Read the rows of the lane's place, four lanes together, a quad each at a time where rows are
 * narrow.  The whole warp calls; lanes whose range is done go along with the others.
 */
template <int ROW_WIDTH, int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
read_place(const GpbRangesJob *job, GpbRangePlace place, GpbTally<N, FLOAT_SUM> *tally,
		   GpbFloatSum *sum)
{
	int			lane = threadIdx.x % GPB_SHORT_LANES;

	if constexpr (ROW_WIDTH == GPB_ANY_WIDTH)
	{
		for (int first = place.from + lane; __any_sync(GPB_ALL_LANES, first < place.to);
			 first += GPB_SHORT_LANES)
		{
			GpbEntryValues<N> entry = {};
			bool		present = first < place.to;

			if (present)
				gpb_fetch_entry(job, place.page,
								gpb_page_row(place.page, job->row_width, first), first, &entry);
			gpb_take<1>(job, place.number, place.page, &entry, first, 1, (uint32) present, tally,
						sum);
		}
	}
	else
	{
		GpbLeafView leaf = gpb_view_of_place(place);

#ifdef GPB_CUDA_RUNS
		/* Lanes whose leaves have runs go along, and then have a loop of their own. */
		if (__any_sync(GPB_ALL_LANES, place.runs != 0))
			read_runs(job, place, tally, sum);
		if (place.runs)
			place.from = place.to = leaf.count = 0;
#endif
		for (int first = (place.from / GPB_QUAD + lane) * GPB_QUAD;
			 __any_sync(GPB_ALL_LANES, first < place.to); first += GPB_QUAD * GPB_SHORT_LANES)
			gpb_take_quad<ROW_WIDTH / 4>(job, place.number, leaf, place.from, first, tally, sum);
	}
}

/* Store what the lanes of a range have as its answer.  The whole warp calls. */
template <int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
store_answer(const GpbRangesJob *job, GpbRangePlace place, GpbTally<N, FLOAT_SUM> *tally)
{
	const GpbPass *pass = &job->pass;
	int64	   *answer = gpb_answer_of(job, place.number);
	bool		stores = place.page != NULL && threadIdx.x % GPB_SHORT_LANES == 0;
	uint32		entries = tally->entries;

	for (int lanes = GPB_SHORT_LANES / 2; lanes > 0; lanes /= 2)
		entries += __shfl_xor_sync(GPB_ALL_LANES, entries, lanes);
	if (stores && pass->is_first)
		answer[0] = entries;
#pragma unroll
	for (int c = 0; c < N; c++)
	{
		GpbColumnState state;

		if (!pass->column[c].want)
			continue;
		state = merge_column(&pass->column[c], &tally->column[c]);
		if (stores)
			gpb_store_column(&pass->column[c], answer, &state);
	}
	if (FLOAT_SUM)
		gpb_flush_windows<GPB_SHORT_LANES>(&tally->window,
										   gpb_float_sum_of(job, place.number));
}

/*
 * Where each range has an answer of its own, the grid covers all ranges.  Where there is one
 * answer, the grid fills the device, and each block adds up its share of the ranges before it adds
 * that to the answer.
 */
template <int ROW_WIDTH, int N, bool FLOAT_SUM>
static __global__ void
__launch_bounds__(GPB_LEAF_THREADS, gpb_blocks_at_once(GPB_SHORT_BLOCKS, N, FLOAT_SUM))
aggregate_short(const __grid_constant__ GpbRangesJob job)
{
	__shared__ GpbBlockTally<N> block;
	GpbTally<N, FLOAT_SUM> tally;

	gpb_tally_init(&tally);
	if (FLOAT_SUM && job.total)
		gpb_block_sum_init(&block.sum);
	for (uint64 base = blockIdx.x * (uint64) GPB_SHORT_RANGES; base < job.n;
		 base += gridDim.x * (uint64) GPB_SHORT_RANGES)
	{
		uint64		i = base + threadIdx.x / GPB_SHORT_LANES;
		GpbRangePlace place = {};
		GpbFloatSum *sum = NULL;

		if (i < job.n)
			place = job.place[i];
		if (FLOAT_SUM)
			sum = job.total ? &block.sum : gpb_float_sum_of(&job, place.number);
		read_place<ROW_WIDTH>(&job, place, &tally, sum);
		if (!job.total)
		{
			store_answer(&job, place, &tally);
			return;
		}
	}
	gpb_tally_finish(&tally, &block, 0, &job);
}

/* By shape of the pass.  Rows of 8 bytes have no column but the key, which has no exact sum. */
#define KERNELS(row_width) \
	aggregate_short<row_width, 1, false>, \
	aggregate_short<row_width, 2, false>, \
	aggregate_short<row_width, 1, true>
#define KERNELS_OF_KEYS aggregate_short<8, 1, false>, NULL, NULL

const GpbRangesKernel GPB_FORM::gpb_short_kernels[GPB_PASS_KERNELS] = {
#ifdef GPB_CUDA_RUNS			/* rows of 8 bytes alone */
	NULL, NULL, NULL,
	KERNELS_OF_KEYS
#else
	KERNELS(GPB_ANY_WIDTH),
	KERNELS_OF_KEYS,
	KERNELS(12),
	KERNELS(16)
#endif
};
