/*-------------------------------------------------------------------------
 *
 * positions.cu
 *	  Batched search: from the leaf where the search of a key begins to the key's position.
 *
 *-------------------------------------------------------------------------
 */
#include "positions.cuh"

#define GPB_POSITION_THREADS	128

/* The key of result i */
static __device__ __forceinline__ GpbKey
batch_key(const GpbLeafJob *job, const GpbPositions *batch, uint32 i)
{
	int			width = gpb_job_key_width(job);
	uint32		at = batch->place != NULL ? batch->place[i] : i;

	return gpb_load_key((const char *) batch->keys + (size_t) at * width, width);
}

/* The position of the leaf's first entry whose key is not below the given one */
static __device__ __forceinline__ uint32
lower_bound(const GpbLeafJob *job, GpbLeafView leaf, GpbKey key)
{
	int			width = gpb_job_key_width(job);

#ifdef GPB_CUDA_RUNS
	if (leaf.runs)
	{
		GpbBound	bound = {key, 0};

		return gpb_page_lower_bound(leaf.page, width, GPB_RUN_ROW_WIDTH, leaf.count, bound);
	}
#endif
	return gpb_is_wide(width) ? gpb_keys_lower_bound(leaf.page, GPB_WIDE_KEY, leaf.count, key) :
		width == 8 ? gpb_keys_lower_bound(leaf.page, 8, leaf.count, key) :
		gpb_keys_lower_bound(leaf.page, 4, leaf.count, key);
}

/* The position of the leaf's first entry at or above the key, or, if "after", above the key */
static __device__ __forceinline__ uint32
find_position(const GpbLeafJob *job, GpbLeafView leaf, GpbKey key, bool after)
{
	if (after && key == gpb_key_most(gpb_job_key_width(job)))
		return leaf.count;
	return lower_bound(job, leaf, after ? key + 1 : key);
}

/*
 * Find the leaf and the position of each key; each thread does one key.  slot[] has the separator
 * at which the search of a key begins.  With GPB_SEARCH_EQUAL the search goes on to the right
 * while the leaf has no entry at or above the key.
 */
static __global__ void __launch_bounds__(GPB_POSITION_THREADS)
find_positions(const __grid_constant__ GpbLeafJob job, GpbPositions batch)
{
	uint32		i = blockIdx.x * GPB_POSITION_THREADS + threadIdx.x;
	uint32		slot;
	GpbKey		key;
	uint32		position = GPB_POSITION_UNCLEAN;
	GpbLeafView leaf;

	if (i >= batch.n)
		return;
	slot = batch.slot[i];
	key = batch_key(&job, &batch, i);
	leaf = gpb_judge_leaf(&job, slot);
	if (leaf.page != NULL)
		position = find_position(&job, leaf, key, batch.bound == GPB_SEARCH_UPPER);
	if (batch.bound == GPB_SEARCH_EQUAL)
	{
		while (leaf.page != NULL && position == (uint32) leaf.count &&
			   slot + 1 < job.separators.n && gpb_separator(&job.separators, slot + 1).key <= key)
		{
			leaf = gpb_judge_leaf(&job, ++slot);
			position = leaf.page != NULL ? find_position(&job, leaf, key, false) :
				GPB_POSITION_UNCLEAN;
		}
		if (leaf.page != NULL &&
			(position == (uint32) leaf.count ||
			 gpb_leaf_key(leaf.page, gpb_job_key_width(&job),
						  GPB_MAY_HAVE_RUNS ? gpb_page_row_width(leaf.page) : job.row_width,
						  (int) position) != key))
			position = GPB_POSITION_NONE;
	}
	batch.leaf[i] = job.separators.child[slot];
	batch.position[i] = (uint16_t) position;
}

GpbDeviceStatus
GPB_FORM::gpb_positions_launch(GpbDevice *device, cudaStream_t stream, const GpbLeafJob *job,
							   const GpbPositions *positions)
{
	uint32		blocks = (uint32) (((uint64) positions->n + GPB_POSITION_THREADS - 1) /
								   GPB_POSITION_THREADS);

	return gpb_launch_on(device, stream, "find_positions", blocks, GPB_POSITION_THREADS,
						 find_positions, *job, *positions);
}
