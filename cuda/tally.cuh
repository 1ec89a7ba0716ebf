/*-------------------------------------------------------------------------
 *
 * tally.cuh
 *	  Running state of an aggregate: of a lane in registers, of a block in
 *	  shared memory, of the whole in GpbAnswer.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_TALLY_CUH
#define GPB_TALLY_CUH

#include "search.cuh"
#include "tuning.cuh"

/* ---- a lane: integers ---- */

/*
 * GpbColumnState in fewer registers.  96 bits hold any sum of 2^31 values of 64 bits,
 * and no lane sees as many.
 */
struct GpbRunning
{
	uint64		low;
	int32		high;
	uint32		count;
	int64		min;
	int64		max;
};

GPB_FN void
gpb_running_init(GpbRunning *running)
{
	running->low = 0;
	running->high = 0;
	running->count = 0;
	running->min = 0x7FFFFFFFFFFFFFFF;
	running->max = -0x7FFFFFFFFFFFFFFF - 1;
}

GPB_FN void
gpb_running_sum(GpbRunning *running, int64 value)
{
	running->low += (uint64) value;
	running->high += (int32) (value >> 63) + (running->low < (uint64) value);
}

GPB_FN void
gpb_running_minmax(GpbRunning *running, int64 value)
{
	running->min = value < running->min ? value : running->min;
	running->max = value > running->max ? value : running->max;
}

GPB_FN GpbColumnState
gpb_running_state(const GpbRunning *running)
{
	GpbColumnState state;

	state.count = running->count;
	state.sum_low = running->low;
	state.sum_high = running->high;
	state.min = running->min;
	state.max = running->max;
	return state;
}

/* ---- a lane: float8 ---- */

/*
 * The bins that a lane is adding to.  Bins are 32 binades apart, so nearly all values of
 * a column share two neighbouring first bins: four bins in registers take them all.
 * Whatever falls outside moves the window, and its bins go to shared memory.
 */
#define GPB_WINDOW_BINS		4
#define GPB_NO_WINDOW		0x7FFF

struct GpbFloatWindow
{
	int			base;			/* bin of window[0], or GPB_NO_WINDOW */
	int64		bin[GPB_WINDOW_BINS];
};

GPB_FN void
gpb_window_init(GpbFloatWindow *window, int base)
{
	int			i;

	window->base = base;
	for (i = 0; i < GPB_WINDOW_BINS; i++)
		window->bin[i] = 0;
}

GPB_FN bool
gpb_window_holds(const GpbFloatWindow *window, const GpbFloatPieces *pieces)
{
	return pieces->first == window->base || pieces->first == window->base + 1;
}

/* The window must hold the pieces. */
GPB_FN void
gpb_window_add(GpbFloatWindow *window, const GpbFloatPieces *pieces)
{
	bool		second = pieces->first != window->base;

	window->bin[0] += second ? 0 : pieces->piece[0];
	window->bin[1] += second ? pieces->piece[0] : pieces->piece[1];
	window->bin[2] += second ? pieces->piece[1] : pieces->piece[2];
	window->bin[3] += second ? pieces->piece[2] : 0;
}

#ifdef __CUDACC__

/* ---- atomics on two's complement ---- */

static __device__ __forceinline__ void
gpb_atomic_add(uint64 *into, uint64 value)
{
	if (value != 0)
		atomicAdd((unsigned long long *) into, (unsigned long long) value);
}

static __device__ __forceinline__ void
gpb_atomic_add(int64 *into, int64 value)
{
	gpb_atomic_add((uint64 *) into, (uint64) value);
}

/*
 * 128 bits: each addition to the low word knows from what it found whether it carried,
 * so the high word gets every carry, in whatever order.
 */
static __device__ __forceinline__ void
gpb_atomic_add_state(GpbColumnState *into, const GpbColumnState *from)
{
	uint64		before = atomicAdd((unsigned long long *) &into->sum_low,
								   (unsigned long long) from->sum_low);
	bool		carry = before + from->sum_low < before;

	gpb_atomic_add(&into->sum_high, from->sum_high + carry);
	gpb_atomic_add(&into->count, from->count);
	atomicMin((long long *) &into->min, (long long) from->min);
	atomicMax((long long *) &into->max, (long long) from->max);
}

/* ---- a warp ---- */

static __device__ __forceinline__ int64
gpb_shuffle_xor(int64 value, int lanes)
{
	return __shfl_xor_sync(GPB_ALL_LANES, (long long) value, lanes);
}

/* Of each LANES neighbouring lanes all get the sum; the whole warp calls. */
template <int LANES>
static __device__ __forceinline__ int64
gpb_lanes_sum(int64 value)
{
	for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
		value += gpb_shuffle_xor(value, lanes);
	return value;
}

static __device__ __forceinline__ int64
gpb_warp_sum(int64 value)
{
	return gpb_lanes_sum<GPB_WARP>(value);
}

/* Likewise the merged state */
template <int LANES>
static __device__ __forceinline__ GpbColumnState
gpb_lanes_merge(GpbColumnState state)
{
	for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
	{
		GpbColumnState other;

		other.count = gpb_shuffle_xor(state.count, lanes);
		other.sum_low = (uint64) gpb_shuffle_xor((int64) state.sum_low, lanes);
		other.sum_high = gpb_shuffle_xor(state.sum_high, lanes);
		other.min = gpb_shuffle_xor(state.min, lanes);
		other.max = gpb_shuffle_xor(state.max, lanes);
		gpb_column_state_merge(&state, &other);
	}
	return state;
}

static __device__ __forceinline__ GpbColumnState
gpb_warp_merge(GpbColumnState state)
{
	return gpb_lanes_merge<GPB_WARP>(state);
}

/*
 * Add the windows of all lanes to the block's sum.  Lanes with the same base are
 * added up first: shared memory adds 64 bits one lane at a time.
 */
static __device__ inline void
gpb_warp_flush_windows(GpbFloatWindow *window, GpbFloatSum *sum)
{
	for (;;)
	{
		int			base = window->base;
		bool		mine;

		for (int lanes = GPB_WARP / 2; lanes > 0; lanes /= 2)
			base = min(base, __shfl_xor_sync(GPB_ALL_LANES, base, lanes));
		if (base == GPB_NO_WINDOW)
			return;
		mine = window->base == base;
#pragma unroll
		for (int i = 0; i < GPB_WINDOW_BINS; i++)
		{
			int64		bin = gpb_warp_sum(mine ? window->bin[i] : 0);

			if (threadIdx.x % GPB_WARP == 0)
				gpb_atomic_add(&sum->bin[base + i], bin);
		}
		if (mine)
			window->base = GPB_NO_WINDOW;
	}
}

/* ---- a block ---- */

/* What the warps of a block add up in */
template <int N>
struct GpbBlockTally
{
	int64		entries[GPB_LEAF_WARPS];
	int64		leaves[GPB_LEAF_WARPS];
	GpbColumnState column[N][GPB_LEAF_WARPS];
	GpbFloatSum sum;			/* unused without a float8 sum */
};

static __device__ inline void
gpb_block_sum_init(GpbFloatSum *sum)
{
	int64	   *word = (int64 *) sum;

	for (uint32 i = threadIdx.x; i < sizeof(*sum) / sizeof(int64); i += blockDim.x)
		word[i] = 0;
	__syncthreads();
}

/*
 * Add the block's sum to the answer's, by one warp, after __syncthreads.  Normalized
 * first: so a bin of the answer could take 2^31 blocks, and a bin of a block 2^31 values.
 * The grid fills the device, so each block has a small share of what its memory holds.
 */
static __device__ inline void
gpb_block_sum_merge(GpbFloatSum *sum, GpbFloatSum *into)
{
	if (threadIdx.x == 0)
		gpb_float_sum_normalize(sum);
	__syncwarp();
	for (uint32 i = threadIdx.x; i < GPB_FLOAT_BINS; i += GPB_WARP)
		gpb_atomic_add(&into->bin[i], sum->bin[i]);
	if (threadIdx.x == 0)
	{
		gpb_atomic_add(&into->nans, sum->nans);
		gpb_atomic_add(&into->positive_infinities, sum->positive_infinities);
		gpb_atomic_add(&into->negative_infinities, sum->negative_infinities);
	}
}

/* ---- a lane, whole ---- */

/* N columns of integers; or one of float8 whose sum is wanted (FLOAT_SUM). */
template <int N, bool FLOAT_SUM>
struct GpbTally
{
	uint32		entries;
	uint32		leaves;			/* of the warp; the same in all lanes */
	GpbRunning	column[N];
	GpbFloatWindow window;
};

template <int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
gpb_tally_init(GpbTally<N, FLOAT_SUM> *tally)
{
	tally->entries = 0;
	tally->leaves = 0;
	for (int c = 0; c < N; c++)
		gpb_running_init(&tally->column[c]);
	gpb_window_init(&tally->window, GPB_NO_WINDOW);
}

/* Add a float8 to the lane's window, or, where that does not hold it, see to it. */
static __device__ __forceinline__ void
gpb_tally_float(GpbFloatWindow *window, GpbFloatSum *sum, int64 bits)
{
	GpbFloatPieces pieces;

	if (((uint64) bits << 1) == 0)
		return;					/* zeros would only move the window */
	if (!gpb_float_is_finite(bits))
	{
		bool		nan = ((uint64) bits << 12) != 0;

		gpb_atomic_add(nan ? &sum->nans : bits < 0 ? &sum->negative_infinities :
					   &sum->positive_infinities, (int64) 1);
		return;
	}
	pieces = gpb_float_cut(bits);
	if (!gpb_window_holds(window, &pieces))
	{
		if (window->base != GPB_NO_WINDOW)
		{
#pragma unroll
			for (int i = 0; i < GPB_WINDOW_BINS; i++)
				gpb_atomic_add(&sum->bin[window->base + i], window->bin[i]);
		}
		gpb_window_init(window, pieces.first);
	}
	gpb_window_add(window, &pieces);
}

/*
 * Values of column c: those entry[u].value[c] whose bit u is set.  Sums of values of up to 4
 * bytes are formed in 64 bits before they go to the 96 of the lane.
 */
template <int U, int N, bool FLOAT_SUM, typename Entry>
static __device__ __forceinline__ void
gpb_tally_values(GpbTally<N, FLOAT_SUM> *tally, GpbFloatSum *sum, int c,
				 const GpbPassColumn *column, const Entry *entry, uint32 valid)
{
	GpbRunning *running = &tally->column[c];
	bool		is_float = FLOAT_SUM || column->kind == GPB_KIND_FLOAT8;

	running->count += __popc(valid);
	if (FLOAT_SUM)
	{
#pragma unroll
		for (int u = 0; u < U; u++)
		{
			if (valid >> u & 1)
				gpb_tally_float(&tally->window, sum, entry[u].value[c]);
		}
	}
	else if ((column->want & GPB_WANT_SUM) && column->is_narrow)
	{
		int64		narrow = 0;

#pragma unroll
		for (int u = 0; u < U; u++)
			narrow += valid >> u & 1 ? entry[u].value[c] : 0;
		gpb_running_sum(running, narrow);
	}
	else if (column->want & GPB_WANT_SUM)
	{
#pragma unroll
		for (int u = 0; u < U; u++)
			gpb_running_sum(running, valid >> u & 1 ? entry[u].value[c] : 0);
	}
	if (column->want & GPB_WANT_MINMAX)
	{
#pragma unroll
		for (int u = 0; u < U; u++)
		{
			int64		value = entry[u].value[c];

			if (valid >> u & 1)
				gpb_running_minmax(running, is_float ? gpb_float_order(value) : value);
		}
	}
}

/* ---- from lanes to the answer ---- */

/* Called by all threads of the block; block->sum was initialized. */
template <int N, bool FLOAT_SUM>
static __device__ void
gpb_tally_finish(GpbTally<N, FLOAT_SUM> *tally, GpbBlockTally<N> *block, const GpbLeafJob *job)
{
	int			warp = threadIdx.x / GPB_WARP;
	bool		leader = threadIdx.x % GPB_WARP == 0;
	int64		entries = gpb_warp_sum(tally->entries);

	if (leader)
	{
		block->entries[warp] = entries;
		block->leaves[warp] = tally->leaves;
	}
	for (int c = 0; c < N; c++)
	{
		GpbColumnState state = gpb_warp_merge(gpb_running_state(&tally->column[c]));

		if (leader)
			block->column[c][warp] = state;
	}
	if (FLOAT_SUM)
		gpb_warp_flush_windows(&tally->window, &block->sum);
	__syncthreads();

	if (threadIdx.x < N && job->column[threadIdx.x].want)
	{
		GpbColumnState *parts = block->column[threadIdx.x];

		for (int w = 1; w < GPB_LEAF_WARPS; w++)
			gpb_column_state_merge(&parts[0], &parts[w]);
		gpb_atomic_add_state(&job->answer->column[job->column[threadIdx.x].index], &parts[0]);
	}
	if (threadIdx.x == GPB_WARP && job->first_pass)
	{
		for (int w = 1; w < GPB_LEAF_WARPS; w++)
		{
			block->entries[0] += block->entries[w];
			block->leaves[0] += block->leaves[w];
		}
		gpb_atomic_add(&job->answer->entries, (uint64) block->entries[0]);
		gpb_atomic_add(&job->answer->leaves, (uint64) block->leaves[0]);
	}
	if (FLOAT_SUM && warp == 0)
	{
		__syncwarp();
		gpb_block_sum_merge(&block->sum, &job->answer->sum[job->column[0].sum]);
	}
}

#endif							/* __CUDACC__ */

#endif							/* GPB_TALLY_CUH */
