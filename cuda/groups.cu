/*-------------------------------------------------------------------------
 *
 * groups.cu
 *	  Batched search, a few lanes to a key: Harmonia's narrowed thread groups.
 *
 * For batches too small to gain by tiles.  A group compares as many keys of a node
 * at a time as it has lanes, and goes on in the node until one is not below.  A
 * wide group compares in vain, a narrow one takes more steps, and the warp as many as the
 * slowest of its groups.  How many is measured when the tree is built, and Harmonia's
 * Equation 4 says whether narrowing pays.
 *
 *-------------------------------------------------------------------------
 */
#include "batch.cuh"
#include "tuning.cuh"

/* ---- search ---- */

/*
 * The last key of the node below the key, or its first.  All lanes of the warp call; each
 * group with its own node and key.
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
launch(GpbDevice *device, cudaStream_t stream, GpbBatchJob *job)
{
	gpb_cut_tiles(job, GPB_GROUP_THREADS / GROUP);
	return gpb_launch_on(device, stream, "search_groups", job->ntiles, GPB_GROUP_THREADS,
						 search_groups<Key, GROUP>, *job);
}

template <typename Key>
static GpbDeviceStatus
launch_group(GpbDevice *device, cudaStream_t stream, GpbBatchJob *job, int group_size)
{
	switch (group_size)
	{
		case 1:
			return launch<Key, 1>(device, stream, job);
		case 2:
			return launch<Key, 2>(device, stream, job);
		case 4:
			return launch<Key, 4>(device, stream, job);
		case 8:
			return launch<Key, 8>(device, stream, job);
		case 16:
			return launch<Key, 16>(device, stream, job);
		default:
			return launch<Key, 32>(device, stream, job);
	}
}

/* Search with groups of 1, 2, 4 .. 32 lanes; no piece may be empty. */
GpbDeviceStatus
gpb_groups_launch(GpbDevice *device, cudaStream_t stream, GpbBatchJob *job, int group_size)
{
	GPB_BY_KEY_WIDTH(job->tree.key_width,
					 return launch_group<Key>(device, stream, job, group_size));
}

/* ---- the profile ---- */

/* Keys drawn from the tree, as Harmonia does with a thousand queries */
#define GPB_PROFILE_KEYS	1024

/* Numbers without order, the same each time */
static __device__ __forceinline__ uint32
scattered(uint32 i, uint32 n)
{
	uint32		x = i * 0x9E3779B9u;

	x ^= x >> 16;
	x *= 0x85EBCA6Bu;
	x ^= x >> 13;
	return (uint32) (((uint64) x * n) >> 32);
}

/* The greatest of the values of "lanes" neighbouring lanes */
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
 * For each size of group: the steps on all levels of the warps that would search the
 * sampled keys, and the number of those warps.  A thread has a key; 32 / size
 * neighbours would be in one warp.
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
 * What a warp takes for one level, in steps.  Harmonia's model counts the steps alone.  Here
 * each level begins with a wait for its lines, worth some steps, and a step takes longer
 * the more lines it reads, one for each of the warp's keys.  Without the two, the
 * model chose groups of 8 and 16 lanes on an H200 where 2 were faster by a fifth.
 */
static double
warp_time(const GpbTreeProfile *profile, int size)
{
	double		steps = (double) profile->steps[size] / profile->visits[size];
	int			keys = GPB_WARP >> size;

	return GPB_LEVEL_STEPS + steps * (1 + (double) keys / GPB_KEYS_A_STEP);
}

/*
 * Harmonia's Equation 4: half the lanes let a warp serve twice the keys, in more time; narrow
 * while that gains.
 */
int
gpb_choose_group(const GpbTreeProfile *profile)
{
	int			size = GPB_GROUP_SIZES - 1;

	while (size > 0 && 2 * warp_time(profile, size) > warp_time(profile, size - 1))
		size--;
	return 1 << size;
}
