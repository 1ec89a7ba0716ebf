/*-------------------------------------------------------------------------
 *
 * leaves.cu
 *	  The kernels that aggregate leaves, and the choice among them.
 *
 *-------------------------------------------------------------------------
 */
#include "device.cuh"
#include "rows.cuh"

#define GPB_ANY_WIDTH		0	/* for ROW_WIDTH: rows one by one, of whatever width */

/*
 * Read the leaves that this warp's lanes judged, number at + lane each.  The leaves at
 * the ends of the range are clipped to it.
 */
template <int ROW_WIDTH, int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
read_leaves(const GpbLeafJob *job, GpbLeafView judged, bool at_end,
			GpbTally<N, FLOAT_SUM> *tally, GpbFloatSum *sum)
{
	uint32		leaves = __ballot_sync(GPB_ALL_LANES, judged.page != NULL);
	uint32		clipped = __ballot_sync(GPB_ALL_LANES, judged.page != NULL && at_end);
	GpbHeapLister list = {job};

	tally->leaves += __popc(leaves);
	leaves &= ~clipped;
	for (; clipped != 0; clipped &= clipped - 1)
		gpb_walk_rows<true>(job, gpb_leaf_of_lane(judged, __ffs(clipped) - 1), 0, tally, sum,
							list);

	for (; leaves != 0; leaves &= leaves - 1)
	{
		GpbLeafView leaf = gpb_leaf_of_lane(judged, __ffs(leaves) - 1);

		if constexpr (ROW_WIDTH == GPB_ANY_WIDTH)
			gpb_walk_rows<false>(job, leaf, 0, tally, sum, list);
		else
			gpb_walk_quads<ROW_WIDTH>(job, leaf, 0, tally, sum, list);
	}
}

/* Leaves that a warp takes at once: few if there are few, so that all warps have some */
static __device__ __forceinline__ uint32
leaves_at_once(uint32 leaves, uint32 warps)
{
	uint32		share = (leaves + warps - 1) / warps;

	return share < GPB_LEAVES_AT_ONCE ? share : GPB_LEAVES_AT_ONCE;
}

/* Blocks that a multiprocessor should hold: registers are cut to that. */
static constexpr int
leaf_blocks(int columns, bool float_sum)
{
	return float_sum ? GPB_LEAF_BLOCKS_FLOAT :
		columns > 1 ? GPB_LEAF_BLOCKS_WIDE : GPB_LEAF_BLOCKS;
}

/*
 * One pass over the range, all leaves of it.  The grid is as large as the device;
 * warps are numbered across blocks first, so that a short range is spread over
 * all multiprocessors.
 */
template <int ROW_WIDTH, int N, bool FLOAT_SUM>
static __global__ void
__launch_bounds__(GPB_LEAF_THREADS, leaf_blocks(N, FLOAT_SUM))
aggregate_leaves(const __grid_constant__ GpbLeafJob job)
{
	__shared__ GpbBlockTally<N> block;
	GpbTally<N, FLOAT_SUM> tally;
	uint32		warp = threadIdx.x / GPB_WARP;
	uint32		first = job.answer->first;
	uint32		end = job.answer->end;
	uint32		warps = gridDim.x * GPB_LEAF_WARPS;
	uint32		group = leaves_at_once(end - first, warps);
	uint64		at = first + (uint64) (warp * gridDim.x + blockIdx.x) * group;

	if (blockIdx.x * (uint64) group >= end - first)
		return;					/* nothing for any warp of this block */
	gpb_tally_init(&tally);
	if (FLOAT_SUM)
		gpb_block_sum_init(&block.sum);

	for (; at < end; at += (uint64) warps * group)
	{
		uint64		mine = at + gpb_lane();
		bool		judge = mine - at < group && mine < end;
		GpbLeafView judged = {NULL, 0};

		if (judge)
			judged = gpb_judge_leaf(&job, (uint32) mine);
		if (job.first_pass)
			gpb_append_unclean(&job, (uint32) mine, judge && judged.page == NULL);
		read_leaves<ROW_WIDTH>(&job, judged, mine == first || mine + 1 == end, &tally,
							   &block.sum);
	}
	gpb_tally_finish(&tally, &block, &job);
}

/* ---- the choice ---- */

typedef void (*LeafKernel) (GpbLeafJob);

#define GPB_LEAF_FORMS		3	/* one column, two columns, a float8 sum */

#define KERNELS(row_width) \
	aggregate_leaves<row_width, 1, false>, \
	aggregate_leaves<row_width, 2, false>, \
	aggregate_leaves<row_width, 1, true>

static const LeafKernel kernels[GPB_LEAF_KERNELS] = {
	KERNELS(GPB_ANY_WIDTH),
	KERNELS(8),
	KERNELS(12),
	KERNELS(16)
};

/* Rows too wide for registers are read one by one whatever the variant. */
static int
choose_kernel(GpbLeafVariant variant, const GpbLeafJob *job, bool float_sum)
{
	int			form = float_sum ? 2 : job->column[1].want != 0 ? 1 : 0;

	if (variant == GPB_LEAF_ROWS || job->row_width > 16)
		return form;
	return (job->row_width / 4 - 1) * GPB_LEAF_FORMS + form;
}

/* This also loads the kernels, which else the first query would wait for. */
GpbDeviceStatus
gpb_leaves_plan(GpbDevice *device)
{
	int			i;

	for (i = 0; i < GPB_LEAF_KERNELS; i++)
	{
		int			blocks = 0;

		GPB_TRY_CUDA(device,
					 cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernels[i],
																   GPB_LEAF_THREADS, 0));
		device->grids.blocks[i] = (uint32) ((blocks > 0 ? blocks : 1) *
											device->info.multiprocessors);
	}
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
gpb_leaves_launch(GpbDevice *device, const GpbLeafJob *job, bool float_sum)
{
	int			i = choose_kernel(device->variant, job, float_sum);

	return gpb_launch(device, "aggregate_leaves", device->grids.blocks[i], GPB_LEAF_THREADS,
					  kernels[i], *job);
}
