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

/* One caller's keys and results, in memory that the device can read and write */
struct GpbBatchPiece
{
	const void *keys;
	uint32	   *result;
	uint32		n;
	uint32		first_tile;		/* how many tiles the pieces before it have */
};

/*
 * A batch of keys; the result of each is the leaf where its search begins.  It is cut into tiles.
 * A block of threads does one tile, and no tile has keys of two pieces.
 */
struct GpbBatchJob
{
	GpbTree		tree;
	uint128		base;			/* keys are distances from it */
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

/* Run the statement, in which the type Key is as wide as the tree's keys. */
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
 * What is measured of a tree when it is written: its limits; and, for each size of group, the steps
 * that sampled keys take on all levels, added up over the warps, and warps times levels.
 */
struct GpbTreeProfile
{
	uint64		low[2];			/* smallest key but separator 0's, low word first */
	uint64		high[2];		/* greatest key, low word first */
	uint32		steps[GPB_GROUP_SIZES];
	uint32		visits[GPB_GROUP_SIZES];
};

GpbDeviceStatus gpb_groups_launch(GpbDevice *device, cudaStream_t stream, GpbBatchJob *job,
								  int group_size);
GpbDeviceStatus gpb_profile_launch(GpbDevice *device, cudaStream_t stream, const GpbTree *tree,
								   GpbTreeProfile *profile);
int			gpb_choose_group(const GpbTreeProfile *profile);

#endif							/* GPB_BATCH_CUH */
