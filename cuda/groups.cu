/*-------------------------------------------------------------------------
 *
 * groups.cu
 *	  Batched search, a few lanes to a key: Harmonia's narrowed thread groups.
 *
 * This is for batches too small to gain by tiles.  A group of lanes compares as many keys of a node
 * at a time as it has lanes, and goes on in the node until a key is not below the one sought.  In a
 * wide group some comparisons are in vain; a narrow group takes more steps, and the warp takes
 * as many as the slowest of its groups.  How many steps each size takes is measured when
 * the tree is built, and Harmonia's Equation 4 says whether narrowing pays.
 *
 *-------------------------------------------------------------------------
 */
#include "batch_keys.cuh"
#include "tuning.cuh"

/* ---- search ---- */

/*
 * Find the last of a node's keys that is below the given key, or the first where none is.  The
 * node's n keys begin at keys[first].  The whole warp calls, each group with a node and a key of
 * its own.
 */
template <typename Key, int GROUP>
static __device__ __forceinline__ uint32
search_node(const Key *keys, uint32 first, uint32 n, Key key)
{
	int			lane = threadIdx.x % GPB_WARP;
	int			member = lane % GROUP;
	uint32		mask = GROUP == 32 ? ~0u : (1u << GROUP % 32) - 1;
	uint32		passed = 0;
	bool		more = true;

	while (__any_sync(GPB_ALL_LANES, more))
	{
		uint32		i = passed + member;
		bool		below = more && i < n && keys[first + i] < key;
		uint32		votes = __ballot_sync(GPB_ALL_LANES, below) >> (lane - member) & mask;
		uint32		count = __popc(votes);

		passed += count;
		more = more && count == GROUP && passed < n;
	}
	return first + (passed > 0 ? passed - 1 : 0);
}

template <typename Key, int GROUP>
static __global__ void __launch_bounds__(GPB_GROUP_THREADS)
search_groups(const __grid_constant__ GpbBatchJob job)
{
	const GpbBatchPiece *piece = gpb_piece_of_tile(&job, blockIdx.x);
	uint32		i = (blockIdx.x - piece->first_tile) * (GPB_GROUP_THREADS / GROUP) +
		threadIdx.x / GROUP;
	uint32		at = 0;
	bool		all;
	Key			key = gpb_batch_key<Key>(&job, piece, i < piece->n ? i : piece->n - 1, &all);

	for (int level = job.tree.top; level >= 0; level--)
	{
		uint32		first = at * gpb_fanout<Key>;
		uint32		rest = job.tree.n[level] - first;

		at = search_node<Key, GROUP>(gpb_tree_keys<Key>(&job.tree, level), first,
									 rest < gpb_fanout<Key> ? rest : gpb_fanout<Key>, key);
	}
	if (i < piece->n && threadIdx.x % GROUP == 0)
	{
		at = all ? job.tree.n[0] - 1 : at;
		gpb_store_result(&job, piece, i, job.slots ? at : job.tree.child[at]);
	}
}

template <typename Key, int GROUP>
static GpbDeviceStatus
launch_groups(GpbDevice *device, cudaStream_t stream, GpbBatchJob *job)
{
	gpb_cut_tiles(job, GPB_GROUP_THREADS / GROUP);
	return gpb_launch_on(device, stream, "search_groups", job->ntiles, GPB_GROUP_THREADS,
						 search_groups<Key, GROUP>, *job);
}

template <typename Key>
static GpbDeviceStatus
launch_groups_of_size(GpbDevice *device, cudaStream_t stream, GpbBatchJob *job, int group_size)
{
	switch (group_size)
	{
		case 1:
			return launch_groups<Key, 1>(device, stream, job);
		case 2:
			return launch_groups<Key, 2>(device, stream, job);
		case 4:
			return launch_groups<Key, 4>(device, stream, job);
		case 8:
			return launch_groups<Key, 8>(device, stream, job);
		case 16:
			return launch_groups<Key, 16>(device, stream, job);
		default:
			return launch_groups<Key, 32>(device, stream, job);
	}
}

/* Search with groups of 1, 2, 4 .. 32 lanes; no piece may be empty. */
GpbDeviceStatus
gpb_groups_launch(GpbDevice *device, cudaStream_t stream, GpbBatchJob *job, int group_size)
{
	GPB_BY_KEY_WIDTH(job->tree.key_width,
					 return launch_groups_of_size<Key>(device, stream, job, group_size));
}

/* ---- the profile ---- */

/* Keys drawn from the tree, as Harmonia does with a thousand queries */
#define GPB_PROFILE_KEYS	1024

/* A number below n that depends on i alone, but without order */
static __device__ __forceinline__ uint32
scattered(uint32 i, uint32 n)
{
	uint32		x = i * 0x9E3779B9u;

	x ^= x >> 16;
	x *= 0x85EBCA6Bu;
	x ^= x >> 13;
	return (uint32) (((uint64) x * n) >> 32);
}

/* The greatest of the values that so many neighbouring lanes have */
static __device__ __forceinline__ uint32
segment_max(uint32 value, int lanes)
{
	for (int step = lanes / 2; step > 0; step /= 2)
	{
		uint32		other = gpb_shuffle_xor(value, step);

		value = other > value ? other : value;
	}
	return value;
}

/*
 * Count, for each size of group, the steps that warps would take on all levels to search the
 * sampled keys, and those warps times levels.  Each thread has a key; with groups of "size" lanes,
 * 32 / size neighbours would share a warp.
 */
template <typename Key>
static __global__ void __launch_bounds__(GPB_PROFILE_KEYS)
profile_tree(const __grid_constant__ GpbTree tree, GpbTreeProfile *profile)
{
	__shared__ uint32 steps[GPB_GROUP_SIZES];
	uint32		slot = scattered(threadIdx.x, tree.n[0]);
	Key			key = gpb_tree_keys<Key>(&tree, 0)[slot];
	uint32		at = 0;

	if (threadIdx.x < GPB_GROUP_SIZES)
		steps[threadIdx.x] = 0;
	__syncthreads();
	for (int level = tree.top; level >= 0; level--)
	{
		uint32		first = at * gpb_fanout<Key>;
		uint32		rest = tree.n[level] - first;
		uint32		n = rest < gpb_fanout<Key> ? rest : gpb_fanout<Key>;
		uint32		passed = 0;

		while (passed < n && gpb_tree_keys<Key>(&tree, level)[first + passed] < key)
			passed++;
		for (int size = 0; size < GPB_GROUP_SIZES; size++)
		{
			uint32		lanes = 1u << size;
			uint32		mine = passed / lanes + (passed < n || passed % lanes != 0);
			uint32		most = segment_max(mine, GPB_WARP / lanes);

			if (threadIdx.x % (GPB_WARP / lanes) == 0)
				atomicAdd(&steps[size], most);
		}
		at = first + (passed > 0 ? passed - 1 : 0);
	}
	__syncthreads();
	if (threadIdx.x < GPB_GROUP_SIZES)
	{
		profile->steps[threadIdx.x] = steps[threadIdx.x];
		profile->visits[threadIdx.x] = (GPB_PROFILE_KEYS >> (5 - threadIdx.x)) * (tree.top + 1);
	}
	if (threadIdx.x == 0)
	{
		uint128		low = gpb_tree_keys<Key>(&tree, 0)[tree.n[0] > 1 ? 1 : 0];
		uint128		high = gpb_tree_keys<Key>(&tree, 0)[tree.n[0] - 1];

		profile->low[0] = (uint64) low;
		profile->low[1] = (uint64) (low >> 64);
		profile->high[0] = (uint64) high;
		profile->high[1] = (uint64) (high >> 64);
	}
}

/* Fill the profile, which is in memory that the device can write. */
GpbDeviceStatus
gpb_profile_launch(GpbDevice *device, cudaStream_t stream, const GpbTree *tree,
				   GpbTreeProfile *profile)
{
	GPB_BY_KEY_WIDTH(tree->key_width,
					 return gpb_launch_on(device, stream, "profile_tree", 1, GPB_PROFILE_KEYS,
										  profile_tree<Key>, *tree, profile));
}

/*
 * The time that a warp takes for one level, in steps.  Harmonia's model counts the steps alone.
 * Here each level begins with a wait for its memory lines, worth some steps, and a step takes
 * longer the more lines it reads, one for each of the warp's keys.  Without these two terms the
 * model chose groups of 8 and 16 lanes on an H200 where groups of 2 were faster by a fifth.
 */
static double
warp_time(const GpbTreeProfile *profile, int size)
{
	double		steps = (double) profile->steps[size] / profile->visits[size];
	int			keys = GPB_WARP >> size;

	return GPB_LEVEL_STEPS + steps * (1 + (double) keys / GPB_KEYS_A_STEP);
}

/*
 * Choose the size of groups by Harmonia's Equation 4: with half the lanes to a key a warp serves
 * twice the keys, in more time; so groups are made narrower while that gains.
 */
int
gpb_choose_group(const GpbTreeProfile *profile)
{
	int			size = GPB_GROUP_SIZES - 1;

	while (size > 0 && 2 * warp_time(profile, size) > warp_time(profile, size - 1))
		size--;
	return 1 << size;
}
