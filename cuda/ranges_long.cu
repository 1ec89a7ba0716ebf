/*-------------------------------------------------------------------------
 *
 * ranges_long.cu
 *	  A pass over the tasks of ranges that touch several leaves, and over a single range; see
 *	  ranges.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "places.cuh"

/*
 * The grid fills the device, and each warp has an equal share of all tasks.  It takes them several
 * at a time: a lane for each judges the leaf and finds its rows, then all lanes read them together.
 */
template <int ROW_WIDTH, int N, bool FLOAT_SUM>
static __global__ void
__launch_bounds__(GPB_LEAF_THREADS, gpb_blocks_at_once(GPB_LEAF_BLOCKS, N, FLOAT_SUM))
aggregate_long(const __grid_constant__ GpbRangesJob job)
{
	__shared__ GpbBlockTally<N> block;
	uint64		total = job.tasks[job.n - 1];
	GpbTaskShare own = gpb_tasks_of_warp(total);
	GpbTally<N, FLOAT_SUM> tally;
	GpbFloatSum *sum = FLOAT_SUM ? &block.sum : NULL;
	uint32		number = 0;		/* of the range that is read */
	uint32		leaves = 0;
	uint32		i = 0;			/* this lane's task is of the i-th range */

	if (blockIdx.x == 0 && threadIdx.x == 0)
		job.counts->ntasks = total;
	if (blockIdx.x * gpb_tasks_share(total) >= total)
		return;					/* nothing for any warp of this block */
	gpb_tally_init(&tally);
	if (FLOAT_SUM && job.total)
		gpb_block_sum_init(&block.sum);
	for (; own.at < own.end; own.at += GPB_LEAVES_AT_ONCE)
	{
		uint64		mine = own.at + gpb_lane();
		bool		here = gpb_lane() < GPB_LEAVES_AT_ONCE && mine < own.end;
		uint32		from = __shfl_sync(GPB_ALL_LANES, i, 0);
		uint32		separator = 0;
		GpbRangePlace place = {};
		bool		clean = false;

		if (here)
		{
			i = gpb_range_of_task(&job, mine, from);
			clean = gpb_place_task(&job, mine, i, &separator, &place);
		}
		if (job.pass.is_first)
		{
			gpb_append_piece(&job, here ? gpb_number_of(&job, i) : 0, separator, here && !clean);
			leaves += __popc(__ballot_sync(GPB_ALL_LANES, clean));
		}
		for (uint32 todo = __ballot_sync(GPB_ALL_LANES, place.from < place.to); todo != 0;
			 todo &= todo - 1)
		{
			GpbRangePlace next = gpb_place_of_lane(place, __ffs(todo) - 1);
			GpbLeafView leaf = gpb_view_of_place(next);

			if (!job.total && next.number != number)
				gpb_flush_tally(&job, number, &tally);
			number = next.number;
			if (FLOAT_SUM && !job.total)
				sum = gpb_float_sum_of(&job, number);
			if constexpr (ROW_WIDTH == GPB_ANY_WIDTH)
				gpb_walk_rows(&job, number, leaf, next.from, &tally, sum);
			else
				gpb_walk_quads<ROW_WIDTH>(&job, number, leaf, next.from, &tally, sum);
		}
	}
	if (job.total)
		gpb_tally_finish(&tally, &block, leaves, &job);
	else
	{
		gpb_flush_tally(&job, number, &tally);
		if (gpb_lane() == 0)
			gpb_atomic_add(&job.counts->leaves, (uint64) leaves);
	}
}

/* By shape of the pass.  Rows of 8 bytes have no column but the key, which has no exact sum. */
#define KERNELS(row_width) \
	aggregate_long<row_width, 1, false>, \
	aggregate_long<row_width, 2, false>, \
	aggregate_long<row_width, 1, true>
#define KERNELS_OF_KEYS aggregate_long<8, 1, false>, NULL, NULL

const GpbRangesKernel GPB_FORM::gpb_long_kernels[GPB_PASS_KERNELS] = {
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
