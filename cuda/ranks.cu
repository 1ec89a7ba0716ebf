/*-------------------------------------------------------------------------
 *
 * ranks.cu
 *	  The limit's last rank among the ranks that ranges_judged.cu has found.
 *
 *		begin				no ranks, empty bins
 *		count, choose		often: the bin that has the limit's last rank, cut into bins in its turn
 *
 *-------------------------------------------------------------------------
 */
#include "device.cuh"
#include "ranks.cuh"

static __global__ void
begin_ranks(GpbRanks *ranks)
{
	for (uint32 i = threadIdx.x; i < GPB_RANK_BINS; i += blockDim.x)
		ranks->bin[i] = 0;
	if (threadIdx.x > 0)
		return;
	ranks->n = 0;
	ranks->before = 0;
	ranks->least = gpb_signed_rank(~(uint64) 0);
	ranks->greatest = gpb_signed_rank(0);
	ranks->last = ~(uint64) 0;
}

/* How far ranks are shifted so that those from the least to the greatest have a bin each. */
static __device__ __forceinline__ int
rank_shift(const GpbRanks *ranks)
{
	uint64		distance = (uint64) ranks->greatest - (uint64) ranks->least;
	int			bits = distance == 0 ? 0 : 64 - __clzll((long long) distance);

	return bits > GPB_RANK_BITS ? bits - GPB_RANK_BITS : 0;
}

static __device__ __forceinline__ uint64
kept_ranks(const GpbListJob *list)
{
	return list->ranks->n < list->rank_capacity ? list->ranks->n : list->rank_capacity;
}

/* Count the ranks between the least and the greatest by bins. */
static __global__ void __launch_bounds__(GPB_LEAF_THREADS)
count_ranks(const __grid_constant__ GpbListJob list)
{
	__shared__ uint32 bin[GPB_RANK_BINS];
	const GpbRanks *ranks = list.ranks;
	bool		found = ranks->least == ranks->greatest && ranks->last != ~(uint64) 0;
	int			shift = rank_shift(ranks);
	uint64		n = found ? 0 : kept_ranks(&list);
	uint64		at = blockIdx.x * (uint64) blockDim.x + threadIdx.x;

	for (uint32 i = threadIdx.x; i < GPB_RANK_BINS; i += blockDim.x)
		bin[i] = 0;
	__syncthreads();
	for (; at < n; at += (uint64) gridDim.x * blockDim.x)
	{
		long long	rank = gpb_signed_rank(list.rank[at]);

		if (rank >= ranks->least && rank <= ranks->greatest)
			atomicAdd(&bin[((uint64) rank - (uint64) ranks->least) >> shift], 1u);
	}
	__syncthreads();
	for (uint32 i = threadIdx.x; i < GPB_RANK_BINS; i += blockDim.x)
	{
		if (bin[i] > 0)
			atomicAdd(&list.ranks->bin[i], bin[i]);
	}
}

/*
 * Choose the bin that has the limit's last rank: it begins at the new least and ends at the new
 * greatest, and ranks up to that are listed.  With fewer ranks than the limit all entries are.
 */
static __global__ void __launch_bounds__(GPB_RANK_BINS / GPB_RANK_SHARE)
choose_rank(const __grid_constant__ GpbListJob list)
{
	__shared__ uint64 sum[GPB_RANK_BINS / GPB_RANK_SHARE];
	GpbRanks   *ranks = list.ranks;
	uint32	   *mine = ranks->bin + threadIdx.x * GPB_RANK_SHARE;
	int			shift = rank_shift(ranks);
	uint64		before = ranks->before;
	uint64		counted = 0;

	for (int i = 0; i < GPB_RANK_SHARE; i++)
		counted += mine[i];
	sum[threadIdx.x] = counted;
	__syncthreads();
	for (uint32 i = 0; i < threadIdx.x; i++)
		before += sum[i];
	/* all have read what one is to write */
	__syncthreads();
	if (kept_ranks(&list) >= list.limit && before < list.limit && before + counted >= list.limit)
	{
		int			i = 0;
		uint64		low;
		uint64		high;

		while (before + mine[i] < list.limit)
			before += mine[i++];
		low = (uint64) ranks->least +
			((uint64) (threadIdx.x * GPB_RANK_SHARE + i) << shift);
		high = low + (((uint64) 1 << shift) - 1);
		if (high - (uint64) ranks->least > (uint64) ranks->greatest - (uint64) ranks->least)
			high = (uint64) ranks->greatest;
		ranks->before = before;
		ranks->least = (long long) low;
		ranks->greatest = (long long) high;
		ranks->last = high ^ (uint64) 1 << 63;
	}
	__syncthreads();
	for (int i = 0; i < GPB_RANK_SHARE; i++)
		mine[i] = 0;
}

GpbDeviceStatus
gpb_begin_ranks_launch(GpbDevice *device, cudaStream_t stream, const GpbListJob *list)
{
	return gpb_launch_on(device, stream, "begin_ranks", 1, GPB_LEAF_THREADS, begin_ranks,
						 list->ranks);
}

GpbDeviceStatus
gpb_choose_rank_launch(GpbDevice *device, cudaStream_t stream, const GpbListJob *list,
					   uint32 blocks)
{
	for (int i = 0; i < GPB_RANK_ROUNDS; i++)
	{
		GPB_TRY(gpb_launch_on(device, stream, "count_ranks", blocks, GPB_LEAF_THREADS,
							  count_ranks, *list));
		GPB_TRY(gpb_launch_on(device, stream, "choose_rank", 1, GPB_RANK_BINS / GPB_RANK_SHARE,
							  choose_rank, *list));
	}
	return GPB_DEVICE_OK;
}
