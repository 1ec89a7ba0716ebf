/*-------------------------------------------------------------------------
 *
 * tally.cuh
 *	  Running state of a pass: of a lane in registers, of a block in shared memory; and how it
 *	  gets into answers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_TALLY_CUH
#define GPB_TALLY_CUH

#include "ranges.cuh"
#include "search.cuh"
#include "tuning.cuh"

/* ---- a lane: integers ---- */

/*
 * GpbColumnState in fewer registers.  96 bits hold any sum of 2^31 values of 64 bits, and no lane
 * sees as many: not of one range, nor of the leaves that a block has of a single answer
 * (GPB_BLOCK_LEAVES).
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
 * Whatever falls outside moves the window, and its bins go to the sum in memory.
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

static __device__ __forceinline__ void
gpb_atomic_and(int64 *into, int64 value)
{
	atomicAnd((unsigned long long *) into, (unsigned long long) value);
}

static __device__ __forceinline__ void
gpb_atomic_or(int64 *into, int64 value)
{
	atomicOr((unsigned long long *) into, (unsigned long long) value);
}

static __device__ __forceinline__ void
gpb_atomic_xor(int64 *into, int64 value)
{
	atomicXor((unsigned long long *) into, (unsigned long long) value);
}

/*
 * Add to a word of a longer sum; returns what it carries.  Whoever adds knows from what was found
 * whether that addition carried, so the next word gets every carry, in whatever order.
 */
static __device__ __forceinline__ uint64
gpb_atomic_carry(int64 *into, uint64 value)
{
	uint64		before;

	if (value == 0)
		return 0;
	before = atomicAdd((unsigned long long *) into, (unsigned long long) value);
	return before + value < before;
}

/* Add 192 bits in two's complement. */
static __device__ __forceinline__ void
gpb_atomic_add_squares(int64 *into, const int64 *from)
{
	uint64		carry = gpb_atomic_carry(into, (uint64) from[0]);
	uint64		middle = (uint64) from[1] + carry;

	carry = middle < carry;		/* the carry may itself have carried */
	carry += gpb_atomic_carry(into + 1, middle);
	gpb_atomic_add(into + 2, from[2] + (int64) carry);
}

/*
 * Take the values at least[] and greatest[] into the bounds of values of two halves, into which
 * others take some as well.
 *
 * Who has the latch writes lower halves before upper ones, and bounds only ever move outwards.  So
 * whoever reads an upper half and then the lower one has read bounds that the values have reached,
 * or do not lie outside of those that they will have reached: what is not outside of what was read
 * need not be taken.  Only the others ask for the latch.
 */
static __device__ inline void
gpb_atomic_add_halves(int64 *halves, const int64 *least, const int64 *greatest)
{
	volatile int64 *bound = halves;
	uint32	   *latch = (uint32 *) (halves + GPB_HALVES_LATCH);
	int64		least_upper = bound[0];
	int64		greatest_upper = bound[2];
	bool		done;

	__threadfence();
	done = !gpb_halves_less(least[0], least[1], least_upper, bound[1]) &&
		!gpb_halves_less(greatest_upper, bound[3], greatest[0], greatest[1]);
	/* A latch is given back in the turn in which it was got, so no lane waits for its own warp. */
	while (!done)
	{
		if (atomicCAS(latch, 0u, 1u) != 0)
			continue;
		__threadfence();
		if (gpb_halves_less(least[0], least[1], bound[0], bound[1]))
		{
			bound[1] = least[1];
			__threadfence();
			bound[0] = least[0];
		}
		if (gpb_halves_less(bound[2], bound[3], greatest[0], greatest[1]))
		{
			bound[3] = greatest[1];
			__threadfence();
			bound[2] = greatest[0];
		}
		__threadfence();
		atomicExch(latch, 0u);
		done = true;
	}
}

/* ---- a column's words in an answer ---- */

/*
 * Add the state to the column's words in the answer, to which others add as well.  Each addition to
 * the low word of a sum knows from what it found whether it carried, so the high word gets
 * every carry, in whatever order.
 */
static __device__ __forceinline__ void
gpb_atomic_add_column(const GpbPassColumn *column, int64 *answer, const GpbColumnState *state)
{
	gpb_atomic_add(answer + column->count, state->count);
	if (column->sum != 0)
	{
		int64	   *sum = answer + column->sum;
		uint64		before = atomicAdd((unsigned long long *) sum,
									   (unsigned long long) state->sum_low);

		gpb_atomic_add(sum + 1, state->sum_high + (before + state->sum_low < before));
	}
	if (column->minmax != 0 && state->count > 0)
	{
		atomicMin((long long *) answer + column->minmax, (long long) state->min);
		atomicMax((long long *) answer + column->minmax + 1, (long long) state->max);
	}
}

/* Store the state as the column's words in an answer that nobody else adds to. */
static __device__ __forceinline__ void
gpb_store_column(const GpbPassColumn *column, int64 *answer, const GpbColumnState *state)
{
	answer[column->count] = state->count;
	if (column->sum != 0)
	{
		answer[column->sum] = (int64) state->sum_low;
		answer[column->sum + 1] = state->sum_high;
	}
	if (column->minmax != 0)
	{
		answer[column->minmax] = state->min;
		answer[column->minmax + 1] = state->max;
	}
}

/* ---- a warp ---- */

static __device__ __forceinline__ int64
gpb_shuffle_int64(int64 value, int lanes)
{
	return __shfl_xor_sync(GPB_ALL_LANES, (long long) value, lanes);
}

/* Of each LANES neighbouring lanes all get the sum; the whole warp calls. */
template <int LANES>
static __device__ __forceinline__ int64
gpb_lanes_sum(int64 value)
{
	for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
		value += gpb_shuffle_int64(value, lanes);
	return value;
}

static __device__ __forceinline__ int64
gpb_warp_sum(int64 value)
{
	return gpb_lanes_sum<GPB_WARP>(value);
}

/* Of each LANES neighbouring lanes all get the merged state; the whole warp calls. */
template <int LANES>
static __device__ __forceinline__ GpbColumnState
gpb_lanes_merge(GpbColumnState state)
{
	for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
	{
		GpbColumnState other;

		other.count = gpb_shuffle_int64(state.count, lanes);
		other.sum_low = (uint64) gpb_shuffle_int64((int64) state.sum_low, lanes);
		other.sum_high = gpb_shuffle_int64(state.sum_high, lanes);
		other.min = gpb_shuffle_int64(state.min, lanes);
		other.max = gpb_shuffle_int64(state.max, lanes);
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
 * Add the windows of each LANES neighbouring lanes to their sum, in shared or device memory, and
 * empty them; the whole warp calls.  Windows with the same base are added up first, so that memory
 * is asked once for each bin.
 */
template <int LANES>
static __device__ __forceinline__ void
gpb_flush_windows(GpbFloatWindow *window, GpbFloatSum *sum)
{
	for (;;)
	{
		int			base = window->base;
		bool		mine;

		for (int lanes = LANES / 2; lanes > 0; lanes /= 2)
			base = min(base, __shfl_xor_sync(GPB_ALL_LANES, base, lanes));
		if (!__any_sync(GPB_ALL_LANES, base != GPB_NO_WINDOW))
			return;
		mine = window->base == base && base != GPB_NO_WINDOW;
#pragma unroll
		for (int i = 0; i < GPB_WINDOW_BINS; i++)
		{
			int64		bin = gpb_lanes_sum<LANES>(mine ? window->bin[i] : 0);

			if (threadIdx.x % LANES == 0 && base != GPB_NO_WINDOW)
				gpb_atomic_add(&sum->bin[base + i], bin);
		}
		if (mine)
			gpb_window_init(window, GPB_NO_WINDOW);
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
	GpbFloatSum sum;			/* unused without a float8 sum; see GPB_BLOCK_LEAVES */
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
 * Add the block's sum to the answer's, by one warp, after __syncthreads.  It is normalized first,
 * so a bin of the answer takes 2^31 blocks.
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
	GpbRunning	column[N];
	GpbFloatWindow window;
};

template <int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
gpb_tally_init(GpbTally<N, FLOAT_SUM> *tally)
{
	tally->entries = 0;
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

/*
 * Add what the block's lanes have to the request's one answer.  "leaves" are the warp's.  All
 * threads of the block call; block->sum was initialized.
 */
template <int N, bool FLOAT_SUM>
static __device__ void
gpb_tally_finish(GpbTally<N, FLOAT_SUM> *tally, GpbBlockTally<N> *block, uint32 leaves,
				 const GpbRangesJob *job)
{
	const GpbPass *pass = &job->pass;
	int			warp = threadIdx.x / GPB_WARP;
	bool		leader = threadIdx.x % GPB_WARP == 0;
	int64		entries = gpb_warp_sum(tally->entries);

	if (leader)
	{
		block->entries[warp] = entries;
		block->leaves[warp] = leaves;
	}
	for (int c = 0; c < N; c++)
	{
		GpbColumnState state = gpb_warp_merge(gpb_running_state(&tally->column[c]));

		if (leader)
			block->column[c][warp] = state;
	}
	if (FLOAT_SUM)
		gpb_flush_windows<GPB_WARP>(&tally->window, &block->sum);
	__syncthreads();

	if (threadIdx.x < N && pass->column[threadIdx.x].want)
	{
		GpbColumnState *parts = block->column[threadIdx.x];

		for (int w = 1; w < GPB_LEAF_WARPS; w++)
			gpb_column_state_merge(&parts[0], &parts[w]);
		gpb_atomic_add_column(&pass->column[threadIdx.x], job->answers, &parts[0]);
	}
	if (threadIdx.x == GPB_WARP && pass->is_first)
	{
		for (int w = 1; w < GPB_LEAF_WARPS; w++)
		{
			block->entries[0] += block->entries[w];
			block->leaves[0] += block->leaves[w];
		}
		gpb_atomic_add(&job->answers[0], block->entries[0]);
		gpb_atomic_add(&job->counts->leaves, (uint64) block->leaves[0]);
	}
	if (FLOAT_SUM && warp == 0)
	{
		__syncwarp();
		gpb_block_sum_merge(&block->sum,
							(GpbFloatSum *) (job->answers + pass->column[0].float_sum));
	}
}

#endif							/* __CUDACC__ */

#endif							/* GPB_TALLY_CUH */
