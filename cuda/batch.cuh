/*-------------------------------------------------------------------------
 *
 * batch.cuh
 *	  What the kernels of batched search are given; batch_keys.cuh has what they share.
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
