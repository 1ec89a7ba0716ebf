/*-------------------------------------------------------------------------
 *
 * tiles.cu
 *	  Batched search, a tile of keys to a thread block.
 *
 * On each level of the tree, the answers of a tile lie between those of its smallest and of its
 * greatest key.  The block copies that piece of one level to shared memory and searches for every
 * key of the tile there.  It takes the piece of the lowest level where that fits; then the search
 * ends in it.  Otherwise it takes the lowest level whose piece fits, and each thread goes on down
 * by itself.  So the nearer the keys of a tile are to each other, the less of the tree is read, and
 * all of it in whole memory lines.  For sorted keys, and keys sorted by their top bits alone
 * (psa.cu), the search ends in shared memory; for random keys the top of the tree is there,
 * which is Harmonia's use of the fastest memory.
 *
 * A table in shared memory leads from a key's next bits to the few keys of the piece that share
 * them: where keys are about evenly spread one or two comparisons are left, elsewhere a
 * binary search.
 *
 *-------------------------------------------------------------------------
 */
#include "batch_keys.cuh"
#include "tuning.cuh"

/* ---- the piece in shared memory ---- */

#define GPB_TABLE_BITS		11
#define GPB_TABLE_SIZE		(1 << GPB_TABLE_BITS)

template <typename Key>
static constexpr uint32 piece_keys = GPB_TILE_PIECE_BYTES / sizeof(Key);

template <typename Key>
struct TilePiece
{
	union
	{
		Key			key[piece_keys<Key>];
		uint32		child[GPB_TILE_PIECE_BYTES / sizeof(uint32)];
	};
	uint16_t	table[GPB_TABLE_SIZE + 1];	/* keys of the piece in the cells below each */
	Key			low[GPB_TILE_THREADS / GPB_WARP];
	Key			high[GPB_TILE_THREADS / GPB_WARP];
	uint32		first[GPB_TREE_LEVELS]; /* answer of the smallest key on each level */
	uint32		last[GPB_TREE_LEVELS];	/* and of the greatest */
};

/*
 * Set low[0] and high[0] of the piece to the smallest and the greatest key of the tile; low and
 * high are those of the thread.  The whole block calls.
 */
template <typename Key>
static __device__ __forceinline__ void
reduce_limits(TilePiece<Key> *piece, Key low, Key high)
{
	int			warp = threadIdx.x / GPB_WARP;
	int			lane = threadIdx.x % GPB_WARP;

	for (int lanes = GPB_WARP / 2; lanes > 0; lanes /= 2)
	{
		Key			other_low = gpb_shuffle_xor(low, lanes);
		Key			other_high = gpb_shuffle_xor(high, lanes);

		low = other_low < low ? other_low : low;
		high = other_high > high ? other_high : high;
	}
	if (lane == 0)
	{
		piece->low[warp] = low;
		piece->high[warp] = high;
	}
	__syncthreads();
	if (threadIdx.x == 0)
	{
		for (warp = 1; warp < GPB_TILE_THREADS / GPB_WARP; warp++)
			low = piece->low[warp] < low ? piece->low[warp] : low;
		piece->low[0] = low;
	}
	if (threadIdx.x == GPB_WARP)
	{
		for (warp = 0; warp < GPB_TILE_THREADS / GPB_WARP; warp++)
			high = piece->high[warp] > high ? piece->high[warp] : high;
		piece->high[0] = high;
	}
}

/*
 * Set path[] to the last key below the given one on each level.  The whole warp calls; in each node
 * a lane compares one key.
 */
template <typename Key>
static __device__ __forceinline__ void
descend_by_warp(const GpbTree *tree, Key key, uint32 *path)
{
	int			lane = threadIdx.x % GPB_WARP;
	uint32		at = 0;

	for (int level = tree->top; level >= 0; level--)
	{
		uint32		first = at * gpb_fanout<Key>;
		bool		below = lane < (int) gpb_fanout<Key> && first + lane < tree->n[level] &&
			gpb_tree_keys<Key>(tree, level)[first + lane] < key;
		int			passed = __popc(__ballot_sync(GPB_ALL_LANES, below));

		at = first + (passed > 0 ? passed - 1 : 0);
		if (lane == 0)
			path[level] = at;
	}
}

/*
 * The table's cell of a key between the tile's limits.  A damaged index may have keys that do not
 * ascend; then answers are wrong, but nothing outside the piece is read or written.
 */
template <typename Key>
static __device__ __forceinline__ uint32
cell_of(Key key, Key low, int shift)
{
	Key			cell = (key - low) >> shift;

	return cell < GPB_TABLE_SIZE ? (uint32) cell : GPB_TABLE_SIZE - 1;
}

/* The cell of a key of 16 bytes, found with words of 64 bits: variable shifts of 128 are slow. */
static __device__ __forceinline__ uint32
cell_of(uint128 key, uint128 low, int shift)
{
	uint128		distance = key - low;
	uint64		high = (uint64) (distance >> 64);

	if (shift >= 64)
		return cell_of(high, (uint64) 0, shift - 64);
	if ((high >> shift) != 0)
		return GPB_TABLE_SIZE - 1;
	return cell_of((uint64) distance >> shift | (shift > 0 ? high << (64 - shift) : 0),
					 (uint64) 0, 0);
}

/*
 * Copy n keys to the piece, and make its table.  They are the keys that follow the first answer of
 * the tile; so they lie between its limits, the greatest excluded.  The whole block calls.
 */
template <typename Key>
static __device__ __forceinline__ void
load_piece(TilePiece<Key> *piece, const Key *keys, uint32 n, Key low, int shift)
{
	uint32		i;

	for (i = threadIdx.x; i < n; i += GPB_TILE_THREADS)
		piece->key[i] = keys[i];
	__syncthreads();
	for (i = threadIdx.x; i <= n; i += GPB_TILE_THREADS)
	{
		uint32		cell = i > 0 ? cell_of(piece->key[i - 1], low, shift) + 1 : 0;
		uint32		end = i < n ? cell_of(piece->key[i], low, shift) : GPB_TABLE_SIZE;

		for (; cell <= end; cell++)
			piece->table[cell] = (uint16_t) i;
	}
	__syncthreads();
}

/*
 * Set found[] to how many of the piece's n keys are below each of the thread's keys.  The thread
 * makes a step of all its searches in turn, so that their loads do not wait for each other.
 * open[] has the bounds of each search, the lower one in the low half.
 */
template <typename Key, int KEYS>
static __device__ __forceinline__ void
count_in_piece(const TilePiece<Key> *piece, uint32 n, const Key *key, Key low, int shift,
			   uint32 *found)
{
	uint32		open[KEYS];
	bool		more;

#pragma unroll
	for (int j = 0; j < KEYS; j++)
	{
		uint32		cell = cell_of(key[j], low, shift);
		uint32		to = piece->table[cell + 1];

		open[j] = piece->table[cell] | (to < n ? to : n) << 16;
	}
	do
	{
		more = false;
#pragma unroll
		for (int j = 0; j < KEYS; j++)
		{
			uint32		from = open[j] & 0xFFFF;
			uint32		to = open[j] >> 16;

			if (from < to)
			{
				uint32		middle = (from + to) / 2;

				open[j] = piece->key[middle] < key[j] ? (middle + 1) | to << 16 :
					from | middle << 16;
				more = true;
			}
		}
	} while (more);
#pragma unroll
	for (int j = 0; j < KEYS; j++)
		found[j] = open[j] & 0xFFFF;
}

/*
 * Replace the separators' numbers in found[] by their leaf blocks.  Where the separators of the
 * piece are fewer than the tile's keys, the block copies their children to shared memory first, in
 * whole memory lines.  The whole block calls.
 */
template <typename Key, int KEYS>
static __device__ __forceinline__ void
children_of(TilePiece<Key> *piece, const GpbTree *tree, uint32 at, int level, uint32 n,
			uint32 *found)
{
	bool		staged = level == 0 && n < KEYS * GPB_TILE_THREADS &&
		n < sizeof(piece->child) / sizeof(uint32);

	if (staged)
	{
		__syncthreads();		/* keys have been read */
		for (uint32 i = threadIdx.x; i <= n; i += GPB_TILE_THREADS)
			piece->child[i] = tree->child[at + i];
		__syncthreads();
	}
#pragma unroll
	for (int j = 0; j < KEYS; j++)
		found[j] = staged && found[j] - at <= n ? piece->child[found[j] - at] :
			tree->child[found[j]];
}

/* ---- the kernel ---- */

template <typename Key, int KEYS, int BLOCKS>
static __global__ void __launch_bounds__(GPB_TILE_THREADS, BLOCKS)
search_tiles(const __grid_constant__ GpbBatchJob job)
{
	__shared__ TilePiece<Key> shared;
	const GpbBatchPiece *piece = gpb_piece_of_tile(&job, blockIdx.x);
	uint32		first = (blockIdx.x - piece->first_tile) * (GPB_TILE_THREADS * KEYS) + threadIdx.x;
	Key			key[KEYS];
	uint32		found[KEYS];
	uint32		all = 0;
	Key			low = gpb_key_max<Key>();
	Key			high = 0;

#pragma unroll
	for (int j = 0; j < KEYS; j++)
	{
		uint32		i = first + j * GPB_TILE_THREADS;
		bool		beyond = false;

		/* threads past the end take the last key, so that every thread has one */
		key[j] = gpb_batch_key<Key>(&job, piece, i < piece->n ? i : piece->n - 1, &beyond);
		all |= (uint32) beyond << j;
		low = key[j] < low ? key[j] : low;
		high = key[j] > high ? key[j] : high;
	}
	reduce_limits(&shared, low, high);
	if (threadIdx.x < GPB_WARP)
	{
		__syncwarp();
		descend_by_warp(&job.tree, shared.low[0], shared.first);
	}
	else if (threadIdx.x < 2 * GPB_WARP)
	{
		__syncwarp();
		descend_by_warp(&job.tree, shared.high[0], shared.last);
	}
	__syncthreads();

	int			level = 0;
	uint32		at;
	uint32		n;
	int			shift;

	while (level < job.tree.top && shared.last[level] - shared.first[level] > piece_keys<Key>)
		level++;
	low = shared.low[0];
	shift = gpb_bit_length((Key) (shared.high[0] - low)) - GPB_TABLE_BITS;
	shift = shift > 0 ? shift : 0;
	at = shared.first[level];
	n = shared.last[level] - at;
	n = n <= piece_keys<Key> ? n : 0;
	load_piece(&shared, gpb_tree_keys<Key>(&job.tree, level) + at + 1, n, low, shift);

	count_in_piece<Key, KEYS>(&shared, n, key, low, shift, found);
#pragma unroll
	for (int j = 0; j < KEYS; j++)
		found[j] += at;
	if (level > 0)
	{
#pragma unroll
		for (int j = 0; j < KEYS; j++)
			found[j] = gpb_tree_descend(&job.tree, level, found[j], key[j]);
	}
	if (all != 0)
	{
#pragma unroll
		for (int j = 0; j < KEYS; j++)
			found[j] = (all >> j) & 1 ? job.tree.n[0] - 1 : found[j];
	}
	if (!job.slots)
		children_of<Key, KEYS>(&shared, &job.tree, at, level, n, found);
#pragma unroll
	for (int j = 0; j < KEYS; j++)
	{
		uint32		i = first + j * GPB_TILE_THREADS;

		if (i < piece->n)
			gpb_store_result(&job, piece, i, found[j]);
	}
}

/* ---- host ---- */

template <typename Key, int KEYS, int BLOCKS>
static GpbDeviceStatus
launch_tiles(GpbDevice *device, cudaStream_t stream, GpbBatchJob *job)
{
	gpb_cut_tiles(job, GPB_TILE_THREADS * KEYS);
	return gpb_launch_on(device, stream, "search_tiles", job->ntiles, GPB_TILE_THREADS,
						 search_tiles<Key, KEYS, BLOCKS>, *job);
}

/* Launch with the size of tiles that suits the batch. */
template <typename Key>
static GpbDeviceStatus
launch_fitting_tiles(GpbDevice *device, cudaStream_t stream, GpbBatchJob *job, bool sorted)
{
	const uint32 filled = device->info.multiprocessors * GPB_TILE_THREADS;
	uint64		n = 0;

	for (uint32 i = 0; i < job->npieces; i++)
		n += job->piece[i].n;
	/* tiles are small where larger ones would be too few to fill the device */
	if (n < (uint64) filled * GPB_SORTED_KEYS)
		return launch_tiles<Key, 2, 1>(device, stream, job);
	if (sorted)
		return launch_tiles<Key, GPB_SORTED_KEYS, GPB_SORTED_BLOCKS>(device, stream, job);
	/* keys of 16 bytes fill the registers sooner */
	return launch_tiles<Key, sizeof(Key) == 16 ? GPB_RANDOM_KEYS / 2 : GPB_RANDOM_KEYS,
		GPB_RANDOM_BLOCKS>(device, stream, job);
}

/*
 * Search for the keys of the job, in whatever order they are.  "sorted" says that neighbours are
 * near each other, and chooses among sizes of tiles alone.  No piece may be empty.
 */
GpbDeviceStatus
gpb_tiles_launch(GpbDevice *device, cudaStream_t stream, GpbBatchJob *job, bool sorted)
{
	GPB_BY_KEY_WIDTH(job->tree.key_width,
					 return launch_fitting_tiles<Key>(device, stream, job, sorted));
}
