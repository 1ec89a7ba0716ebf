/*-------------------------------------------------------------------------
 *
 * batch_keys.cuh
 *	  What the kernels of batched search share, for keys of any width.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BATCH_KEYS_CUH
#define GPB_BATCH_KEYS_CUH

#include "batch.cuh"

/* ---- keys of any width ---- */

template <typename Key>
GPB_FN Key
gpb_key_max(void)
{
	return ~(Key) 0;
}

template <typename Key>
static __device__ __forceinline__ Key
gpb_shuffle_xor(Key value, int lanes)
{
	return __shfl_xor_sync(GPB_ALL_LANES, value, lanes);
}

static __device__ __forceinline__ uint128
gpb_shuffle_xor(uint128 value, int lanes)
{
	uint64		low = __shfl_xor_sync(GPB_ALL_LANES, (uint64) value, lanes);
	uint64		high = __shfl_xor_sync(GPB_ALL_LANES, (uint64) (value >> 64), lanes);

	return (uint128) high << 64 | low;
}

/* How many bits does the value have, up to the highest that is set? */
static __device__ __forceinline__ int
gpb_bit_length(uint32 value)
{
	return 32 - __clz((int) value);
}

static __device__ __forceinline__ int
gpb_bit_length(uint64 value)
{
	return 64 - __clzll((long long) value);
}

static __device__ __forceinline__ int
gpb_bit_length(uint128 value)
{
	uint64		high = (uint64) (value >> 64);

	return high != 0 ? 64 + gpb_bit_length(high) : gpb_bit_length((uint64) value);
}

/*
 * Load key i of the piece as one whose last separator *below* it is the answer.  Where the last
 * separator at or below k is wanted, that is k + 1.  The greatest key has no such successor;
 * then *all says that the answer is the last of all separators.
 */
template <typename Key>
static __device__ __forceinline__ Key
gpb_batch_key(const GpbBatchJob *job, const GpbBatchPiece *piece, uint32 i, bool *all)
{
	Key			key = ((const Key *) piece->keys)[i] + (Key) job->base;

	*all = job->or_equal && key == gpb_key_max<Key>();
	return job->or_equal && !*all ? (Key) (key + 1) : key;
}

/* ---- pieces ---- */

/* The piece that the tile belongs to */
static __device__ __forceinline__ const GpbBatchPiece *
gpb_piece_of_tile(const GpbBatchJob *job, uint32 tile)
{
	uint32		low = 0;
	uint32		high = job->npieces;

	while (high - low > 1)
	{
		uint32		middle = (low + high) / 2;

		if (job->piece[middle].first_tile <= tile)
			low = middle;
		else
			high = middle;
	}
	return &job->piece[low];
}

/* Store the result of the piece's key i. */
static __device__ __forceinline__ void
gpb_store_result(const GpbBatchJob *job, const GpbBatchPiece *piece, uint32 i, uint32 result)
{
	piece->result[job->place != NULL ? job->place[i] : i] = result;
}

#endif							/* GPB_BATCH_KEYS_CUH */
