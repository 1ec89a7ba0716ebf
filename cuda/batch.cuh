/*-------------------------------------------------------------------------
 *
 * batch.cuh
 *	  What the kernels of batched search are given, and what they share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BATCH_CUH
#define GPB_BATCH_CUH

#include "device.cuh"
#include "search.cuh"

/* One caller's keys, in memory that the device can read, and results, in memory it can write */
struct GpbBatchPiece
{
	const void *keys;
	uint32	   *result;
	uint32		n;
	uint32		first_tile;		/* tiles of the pieces before */
};

/*
 * A batch: for each key the leaf where its search begins.  It is cut into tiles, each one
 * thread block's, and no tile has keys of two pieces.
 */
struct GpbBatchJob
{
	GpbTree		tree;
	uint128		base;			/* that the keys are distances from */
	bool		or_equal;		/* last separator <= key, not < key */
	bool		slots;			/* results are numbers of separators, not blocks */
	const uint32 *place;		/* if not NULL result i goes to result[place[i]] */
	uint32		npieces;
	uint32		ntiles;
	GpbBatchPiece piece[GPB_SEARCH_PIECES];
};

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

/* Bits up to the highest that is set */
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
 * Key i of the piece, to be searched for with "<": k + 1 serves for <= k, but for the greatest
 * key, below or at which all separators are; *all tells.
 */
template <typename Key>
static __device__ __forceinline__ Key
gpb_batch_key(const GpbBatchJob *job, const GpbBatchPiece *piece, uint32 i, bool *all)
{
	Key			key = ((const Key *) piece->keys)[i] + (Key) job->base;

	*all = job->or_equal && key == gpb_key_max<Key>();
	return job->or_equal && !*all ? (Key) (key + 1) : key;
}

/* The piece of a tile; any number of threads may ask. */
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

/* Keep the result of the piece's key i. */
static __device__ __forceinline__ void
gpb_store_result(const GpbBatchJob *job, const GpbBatchPiece *piece, uint32 i, uint32 result)
{
	piece->result[job->place != NULL ? job->place[i] : i] = result;
}

/* ---- host ---- */

/* Cut the pieces into tiles of so many keys. */
static inline void
gpb_cut_tiles(GpbBatchJob *job, uint32 keys)
{
	uint32		i;

	job->ntiles = 0;
	for (i = 0; i < job->npieces; i++)
	{
		job->piece[i].first_tile = job->ntiles;
		job->ntiles += (uint32) (((uint64) job->piece[i].n + keys - 1) / keys);
	}
}

/* The statement with Key as wide as the tree's keys */
#define GPB_BY_KEY_WIDTH(width, statement) \
	do { \
		if ((width) == 4) \
		{ \
			using Key = uint32; \
			statement; \
		} \
		else if ((width) == 8) \
		{ \
			using Key = uint64; \
			statement; \
		} \
		else \
		{ \
			using Key = uint128; \
			statement; \
		} \
	} while (0)

/* ---- tiles.cu ---- */

GpbDeviceStatus gpb_tiles_launch(GpbDevice *device, cudaStream_t stream, GpbBatchJob *job,
								 bool sorted);

/* ---- groups.cu ---- */

#define GPB_GROUP_SIZES		6	/* 1, 2, 4 .. 32 lanes */

/*
 * Of a tree: its limits; and what sampled keys take, by the size of groups: steps on all
 * levels, added up over the warps, and warps times levels.
 */
struct GpbTreeProfile
{
	uint64		low[2];			/* smallest key but for separator 0's, and */
	uint64		high[2];		/* greatest key; low words first */
	uint32		steps[GPB_GROUP_SIZES];
	uint32		visits[GPB_GROUP_SIZES];
};

GpbDeviceStatus gpb_groups_launch(GpbDevice *device, cudaStream_t stream, GpbBatchJob *job,
								  int group_size);
GpbDeviceStatus gpb_profile_launch(GpbDevice *device, cudaStream_t stream, const GpbTree *tree,
								   GpbTreeProfile *profile);
int			gpb_choose_group(const GpbTreeProfile *profile);

#endif							/* GPB_BATCH_CUH */
