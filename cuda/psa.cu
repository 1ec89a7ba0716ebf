/*-------------------------------------------------------------------------
 *
 * psa.cu
 *	  Partially sorted aggregation: keys of a batch are sorted by a few bits before the
 *	  search, and results are put back in order after it.
 *
 * Harmonia's Equation 2 sorts by as many of the top bits, N = log2(T / K), as bring together the
 * keys that meet in one memory line of K keys, T being the size of the tree.  Here keys have to
 * meet in the piece of the tree that a tile has in shared memory, so K is a thousand and N is
 * smaller.  Keys of a type seldom fill its range, so the bits are those of the key's distance from
 * the smallest key of the tree.
 *
 * Results go back to input order in two steps, since writing them one by one all over a large array
 * takes twice as long as everything else: they are sorted into windows by the top bits of their
 * place, and then put in order within each window, in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#include "batch_keys.cuh"
#include "cub.cuh"
#include "psa.cuh"
#include "tuning.cuh"

#define GPB_PSA_THREADS		256

/* ---- kernels ---- */

/* number[i] = first + i */
static __global__ void __launch_bounds__(GPB_PSA_THREADS)
number_keys(uint32 *number, uint32 first, uint32 n)
{
	uint32		i = blockIdx.x * GPB_PSA_THREADS + threadIdx.x;

	if (i < n)
		number[i] = first + i;
}

/*
 * Write the distance of each key from low.  Keys below low lead to the same separator as low, and
 * keys above high to the same as high, so they are taken for low and high.
 */
template <typename Key>
static __global__ void __launch_bounds__(GPB_PSA_THREADS)
clamp_keys(const Key *keys, Key *clamped, uint32 n, Key low, Key high)
{
	uint32		i = blockIdx.x * GPB_PSA_THREADS + threadIdx.x;

	if (i < n)
		clamped[i] = (keys[i] < low ? low : keys[i] > high ? high : keys[i]) - low;
}

/* Add the offset to n numbers. */
static __global__ void __launch_bounds__(GPB_PSA_THREADS)
offset_numbers(uint32 *number, uint32 n, uint32 offset)
{
	uint32		i = blockIdx.x * GPB_PSA_THREADS + threadIdx.x;

	if (i < n)
		number[i] += offset;
}

/*
 * result[place[i]] = value[i].  The places of a window are the numbers of that window, in any
 * order; each block of threads puts one window in order.
 */
static __global__ void __launch_bounds__(GPB_PSA_THREADS)
order_window(const uint32 *place, const uint32 *value, uint32 *result, uint32 n)
{
	__shared__ uint32 window[1 << GPB_WINDOW_BITS];
	uint32		first = blockIdx.x << GPB_WINDOW_BITS;
	uint32		most = n - first;
	uint32		i;

	most = most < 1 << GPB_WINDOW_BITS ? most : 1 << GPB_WINDOW_BITS;
#pragma unroll 8
	for (i = threadIdx.x; i < most; i += GPB_PSA_THREADS)
		window[place[first + i] - first] = value[first + i];
	__syncthreads();
#pragma unroll 8
	for (i = threadIdx.x; i < most; i += GPB_PSA_THREADS)
		result[first + i] = window[i];
}

/*
 * See how much order a batch of keys has: for some tiles of it, spread evenly, find the lowest
 * level of the tree whose piece for the tile would fit shared memory.  Each block of threads
 * does one tile.
 */
template <typename Key>
static __global__ void __launch_bounds__(GPB_PSA_THREADS)
sample_tiles(const __grid_constant__ GpbTree tree, const Key *keys, uint32 n,
			 GpbBatchSample *sample)
{
	__shared__ Key lows[GPB_PSA_THREADS / GPB_WARP];
	__shared__ Key highs[GPB_PSA_THREADS / GPB_WARP];
	uint32		tile = GPB_TILE_THREADS * GPB_SORTED_KEYS;
	uint32		first = (uint32) ((uint64) (n - tile) * blockIdx.x / GPB_SAMPLED_TILES);
	Key			low = gpb_key_max<Key>();
	Key			high = 0;

#pragma unroll 4
	for (uint32 i = threadIdx.x; i < tile; i += GPB_PSA_THREADS)
	{
		Key			key = keys[first + i];

		low = key < low ? key : low;
		high = key > high ? key : high;
	}
	for (int lanes = GPB_WARP / 2; lanes > 0; lanes /= 2)
	{
		Key			other_low = gpb_shuffle_xor(low, lanes);
		Key			other_high = gpb_shuffle_xor(high, lanes);

		low = other_low < low ? other_low : low;
		high = other_high > high ? other_high : high;
	}
	if (threadIdx.x % GPB_WARP == 0)
	{
		lows[threadIdx.x / GPB_WARP] = low;
		highs[threadIdx.x / GPB_WARP] = high;
	}
	__syncthreads();
	if (threadIdx.x == 0)
	{
		uint32		from;
		uint32		to;
		int			level = 0;

		for (int warp = 1; warp < GPB_PSA_THREADS / GPB_WARP; warp++)
		{
			low = lows[warp] < low ? lows[warp] : low;
			high = highs[warp] > high ? highs[warp] : high;
		}
		from = gpb_tree_descend<Key>(&tree, tree.top + 1, 0, low);
		to = gpb_tree_descend<Key>(&tree, tree.top + 1, 0, high);
		for (; level < tree.top && to - from > GPB_TILE_PIECE_BYTES / sizeof(Key); level++)
		{
			from /= gpb_fanout<Key>;
			to /= gpb_fanout<Key>;
		}
		sample->level[blockIdx.x] = level;
	}
}

/* ---- planning ---- */

static uint128
wide(const uint64 *words)
{
	return (uint128) words[1] << 64 | words[0];
}

static int
bit_length(uint128 value)
{
	int			bits = 0;

	for (; value != 0; value >>= 1)
		bits++;
	return bits;
}

/*
 * Plan how to sort a batch that a tree is searched for.  Every 8 bits are one more pass over the
 * keys.  Where keys are clamped to the tree's range, the limits are one less than the smallest
 * separator and one more than the greatest, so that keys outside keep their answers.
 */
GpbSortPlan
gpb_sort_plan(const GpbTreeProfile *profile, uint32 nseparators, int key_width)
{
	uint128		most = ~(uint128) 0 >> (128 - 8 * key_width);
	uint128		low = wide(profile->low);
	uint128		high = wide(profile->high);
	int			bits = bit_length(nseparators - 1) - GPB_SORTED_SPAN_BITS;
	GpbSortPlan plan;

	plan.low = low > 0 ? low - 1 : 0;
	plan.high = high < most ? high + 1 : most;
	if (plan.high < plan.low)
	{
		/* damaged, keys do not ascend: no limits, and no more bits than a key has */
		plan.low = 0;
		plan.high = most;
	}
	plan.end_bit = bit_length(plan.high - plan.low);
	plan.clamp = plan.end_bit < 8 * key_width;
	bits = bits <= 8 ? 8 : 16;
	plan.first_bit = plan.end_bit > bits ? plan.end_bit - bits : 0;
	return plan;
}

/* Are the pieces of the sampled tiles, on average, above level 1?  Then sorting pays. */
bool
gpb_sample_says_sort(const GpbBatchSample *sample)
{
	uint32		levels = 0;

	for (int i = 0; i < GPB_SAMPLED_TILES; i++)
		levels += sample->level[i];
	return levels > GPB_SAMPLED_TILES;
}

/* ---- sorting ---- */

void
gpb_sort_memory_free(GpbDevice *device, GpbSortMemory *memory)
{
	gpb_buffer_free(device, &memory->keys);
	gpb_buffer_free(device, &memory->clamped);
	gpb_buffer_free(device, &memory->numbers);
	gpb_buffer_free(device, &memory->order);
	gpb_buffer_free(device, &memory->results);
	gpb_buffer_free(device, &memory->temporary);
	memset(memory, 0, sizeof(*memory));
}

static uint32
blocks_for_keys(uint32 n)
{
	return (uint32) (((uint64) n + GPB_PSA_THREADS - 1) / GPB_PSA_THREADS);
}

/* See that numbers[i] = i for i < n. */
static GpbDeviceStatus
number_up_to(GpbDevice *device, cudaStream_t stream, GpbSortMemory *memory, uint32 n)
{
	if (n * sizeof(uint32) > memory->numbers.size)
		memory->numbered = 0;
	GPB_TRY(gpb_buffer_reserve(device, &memory->numbers, n * sizeof(uint32)));
	if (n <= memory->numbered)
		return GPB_DEVICE_OK;
	GPB_TRY(gpb_launch_on(device, stream, "number_keys", blocks_for_keys(n - memory->numbered),
						  GPB_PSA_THREADS, number_keys,
						  (uint32 *) memory->numbers.data + memory->numbered,
						  memory->numbered, n - memory->numbered));
	memory->numbered = n;
	return GPB_DEVICE_OK;
}

/*
 * Sort n keys, and a value with each, by the bits [first_bit, end_bit).  CUB's temporary memory is
 * in the buffer, which grows if need be.
 */
template <typename Key>
static GpbDeviceStatus
sort_pairs(GpbDevice *device, cudaStream_t stream, GpbBuffer *temporary, const Key *keys,
		   Key *sorted, const uint32 *values, uint32 *sorted_values, uint32 n, int first_bit,
		   int end_bit)
{
	size_t		size = 0;

	GPB_TRY(gpb_check(device,
					  gpb_cub_sort(NULL, &size, keys, sorted, values, sorted_values, n, first_bit,
								   end_bit, stream),
					  "planning a sort"));
	GPB_TRY(gpb_buffer_reserve(device, temporary, size));
	size = temporary->size;
	return gpb_check(device,
					 gpb_cub_sort(temporary->data, &size, keys, sorted, values, sorted_values, n,
								  first_bit, end_bit, stream),
					 "sorting keys");
}

/* See gpb_sort_keys(). */
template <typename Key>
static GpbDeviceStatus
sort_keys(GpbDevice *device, cudaStream_t stream, GpbSortMemory *memory, const GpbSortPlan *plan,
		  const Key *keys, uint32 first, uint32 n, uint32 *order)
{
	GPB_TRY(gpb_buffer_reserve(device, &memory->keys, n * sizeof(Key)));
	GPB_TRY(number_up_to(device, stream, memory, n));
	if (plan->clamp)
	{
		GPB_TRY(gpb_buffer_reserve(device, &memory->clamped, n * sizeof(Key)));
		GPB_TRY(gpb_launch_on(device, stream, "clamp_keys", blocks_for_keys(n), GPB_PSA_THREADS,
							  clamp_keys<Key>, keys, (Key *) memory->clamped.data, n,
							  (Key) plan->low, (Key) plan->high));
		keys = (const Key *) memory->clamped.data;
	}
	GPB_TRY(sort_pairs<Key>(device, stream, &memory->temporary, keys,
							(Key *) memory->keys.data, (const uint32 *) memory->numbers.data,
							order, n, plan->first_bit, plan->end_bit));
	if (first == 0)
		return GPB_DEVICE_OK;
	return gpb_launch_on(device, stream, "offset_numbers", blocks_for_keys(n), GPB_PSA_THREADS,
						 offset_numbers, order, n, first);
}

GpbDeviceStatus
gpb_sort_words(GpbDevice *device, cudaStream_t stream, GpbBuffer *temporary, const uint64 *words,
			   uint64 *sorted, const uint32 *numbers, uint32 *sorted_numbers, uint32 n,
			   int end_bit)
{
	return sort_pairs<uint64>(device, stream, temporary, words, sorted, numbers, sorted_numbers,
							  n, 0, end_bit);
}

/* Set order[i] = first + i for n numbers. */
GpbDeviceStatus
gpb_number_keys(GpbDevice *device, cudaStream_t stream, uint32 first, uint32 n, uint32 *order)
{
	return gpb_launch_on(device, stream, "number_keys", blocks_for_keys(n), GPB_PSA_THREADS,
						 number_keys, order, first, n);
}

/* Plan to sort by all bits, which puts keys in ascending order. */
GpbSortPlan
gpb_sort_plan_whole(int key_width)
{
	GpbSortPlan plan;

	memset(&plan, 0, sizeof(plan));
	plan.end_bit = 8 * key_width;
	return plan;
}

/*
 * Sort n keys as planned, into memory->keys.  order[i] is first plus the number of the key that
 * went to i.  n is at most GPB_SORT_AT_ONCE.  With plan->clamp the sorted keys are distances from
 * plan->low.
 */
GpbDeviceStatus
gpb_sort_keys(GpbDevice *device, cudaStream_t stream, GpbSortMemory *memory,
			  const GpbSortPlan *plan, int key_width, const void *keys, uint32 first, uint32 n,
			  uint32 *order)
{
	GPB_BY_KEY_WIDTH(key_width,
					 return sort_keys<Key>(device, stream, memory, plan, (const Key *) keys,
										   first, n, order));
}

/* Set result[order[i]] = value[i] for n values; order is a permutation. */
GpbDeviceStatus
gpb_restore_order(GpbDevice *device, cudaStream_t stream, GpbSortMemory *memory, uint32 *order,
				  uint32 *value, uint32 n, uint32 *result)
{
	int			bits = bit_length(n - 1);
	uint32		windows = (uint32) (((uint64) n + (1 << GPB_WINDOW_BITS) - 1) >> GPB_WINDOW_BITS);

	if (windows > 1)
	{
		uint32	   *windowed;

		GPB_TRY(gpb_buffer_reserve(device, &memory->results, 2 * (size_t) n * sizeof(uint32)));
		windowed = (uint32 *) memory->results.data;
		GPB_TRY(sort_pairs<uint32>(device, stream, &memory->temporary, order, windowed, value,
								   windowed + n, n, GPB_WINDOW_BITS, bits));
		order = windowed;
		value = windowed + n;
	}
	return gpb_launch_on(device, stream, "order_window", windows, GPB_PSA_THREADS, order_window,
						 (const uint32 *) order, (const uint32 *) value, result, n);
}

/*
 * Submit the look at the order of n keys, which are at least as many as a tile has.  *sample is
 * pinned memory.
 */
GpbDeviceStatus
gpb_sample_launch(GpbDevice *device, cudaStream_t stream, const GpbTree *tree, const void *keys,
				  uint32 n, GpbBatchSample *sample)
{
	GPB_BY_KEY_WIDTH(tree->key_width,
					 return gpb_launch_on(device, stream, "sample_tiles", GPB_SAMPLED_TILES,
										  GPB_PSA_THREADS, sample_tiles<Key>, *tree,
										  (const Key *) keys, n, sample));
}
