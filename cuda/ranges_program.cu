/*-------------------------------------------------------------------------
 *
 * ranges_program.cu
 *	  A pass of a program with steps or terms, without groups, over the tasks of ranges; see
 *	  program.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "evaluate.cuh"

/* ---- a lane's state beside its GpbTally ---- */

/* Squares of integers, combined bits and bounds of halves, of the pass's first term */
struct ExtraTally
{
	int64		squares[3];
	int64		bits_and;
	int64		bits_or;
	int64		bits_xor;
	int64		halves[GPB_HALVES_WORDS];
};

/* All that a lane has of a pass */
template <int N, bool FLOAT_SUM>
struct State
{
	GpbTally<N, FLOAT_SUM> tally;
	ExtraTally	extra;			/* with EXTRA alone */
	GpbFloatWindow rest;		/* with FLOAT_SUM: of what squares were rounded by */
	GpbFloatSum *sum;			/* with FLOAT_SUM: where windows go */
	bool		faulted;
};

static __device__ __forceinline__ void
init_extra(ExtraTally *extra)
{
	extra->squares[0] = extra->squares[1] = extra->squares[2] = 0;
	extra->bits_and = -1;
	extra->bits_or = 0;
	extra->bits_xor = 0;
	gpb_halves_init(extra->halves);
}

template <int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
init_state(State<N, FLOAT_SUM> *state)
{
	gpb_tally_init(&state->tally);
	init_extra(&state->extra);
	gpb_window_init(&state->rest, GPB_NO_WINDOW);
}

/* ---- taking values ---- */

static __device__ __forceinline__ void
take_extra(const GpbProgramPass *pass, const GpbOperand *operand, uint32 valid, ExtraTally *extra)
{
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		int64		value = operand->word[u];
		uint64		high;
		uint64		low;

		if ((valid >> u & 1) == 0)
			continue;
		extra->bits_and &= value;
		extra->bits_or |= value;
		extra->bits_xor ^= value;
		if (pass->squares == 0)
			continue;
		low = gpb_square(value, &high);
		gpb_answer_add_square(extra->squares, low, high);
	}
}

/* Take values of two halves, of which "upper" has the upper ones. */
static __device__ __forceinline__ void
take_halves(const GpbProgramPass *pass, const GpbLaneValues *values, const GpbOperand *upper,
			uint32 valid, ExtraTally *extra)
{
	GpbOperand	lower;

	if (pass->halves == 0)
		return;
	gpb_get_operand(&pass->code, values, pass->lower, &lower);
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		int64		value[2] = {upper->word[u], lower.word[u]};

		if (valid >> u & 1)
			gpb_halves_add(extra->halves, value, value);
	}
}

/*
 * Add squares of float8 to the exact sum as gpb_float_sum_add_square() does.  The rests are some 53
 * binades below the products, so they have a window of their own.
 */
template <int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
take_float_squares(const GpbOperand *operand, uint32 valid, State<N, FLOAT_SUM> *state)
{
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		double		value = gpb_float_value(operand->word[u]);
		double		product = value * value;
		int64		bits = gpb_float_bits(product);

		if ((valid >> u & 1) == 0)
			continue;
		gpb_tally_float(&state->tally.window, state->sum, bits);
		if (gpb_float_is_finite(bits))
			gpb_tally_float(&state->rest, state->sum,
							gpb_float_bits(fma(value, value, -product)));
	}
}

/* Tally the terms of the pass for the entries that count. */
template <int N, bool FLOAT_SUM, bool EXTRA>
static __device__ __forceinline__ void
take_terms(const GpbRangesJob *job, const GpbProgramPass *pass, const GpbLaneValues *values,
		   uint32 live, State<N, FLOAT_SUM> *state)
{
	state->tally.entries += __popc(live);
#pragma unroll
	for (int c = 0; c < N; c++)
	{
		const GpbPassColumn *column = &job->pass.column[c];
		GpbEntryValues<N> entry[GPB_PROGRAM_ROWS];
		GpbOperand	operand;
		uint32		valid;

		if (!column->want)
			continue;
		valid = gpb_get_term(&pass->code, values, pass->slot[c], pass->filter[c], live, &operand);
		if (FLOAT_SUM && pass->float_squares)
		{
			take_float_squares(&operand, valid, state);
			continue;
		}
#pragma unroll
		for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
			entry[u].value[c] = operand.word[u];
		gpb_tally_values<GPB_PROGRAM_ROWS>(&state->tally, state->sum, c, column, entry, valid);
		if (EXTRA)
		{
			take_extra(pass, &operand, valid, &state->extra);
			take_halves(pass, values, &operand, valid, &state->extra);
		}
	}
}

/* ---- from lanes to the answer ---- */

/* Of all lanes of the warp, which calls as a whole, each gets the bounds of halves. */
static __device__ __forceinline__ void
merge_halves(int64 *halves)
{
	for (int lanes = GPB_WARP / 2; lanes > 0; lanes /= 2)
	{
		int64		other[4];

		for (int i = 0; i < 4; i++)
			other[i] = gpb_shuffle_int64(halves[i], lanes);
		gpb_halves_add(halves, other, other + 2);
	}
}

/* Add the squares, bits and halves of the warp's lanes to the answer.  The whole warp calls. */
static __device__ __forceinline__ void
flush_extra(const GpbProgramPass *pass, ExtraTally *extra, int64 *answer)
{
	for (int lanes = GPB_WARP / 2; lanes > 0; lanes /= 2)
	{
		int64		squares[3];

		for (int i = 0; i < 3; i++)
			squares[i] = gpb_shuffle_int64(extra->squares[i], lanes);
		gpb_answer_add_squares(extra->squares, squares);
		extra->bits_and &= gpb_shuffle_int64(extra->bits_and, lanes);
		extra->bits_or |= gpb_shuffle_int64(extra->bits_or, lanes);
		extra->bits_xor ^= gpb_shuffle_int64(extra->bits_xor, lanes);
	}
	if (pass->halves != 0)
		merge_halves(extra->halves);
	if (gpb_lane() == 0)
	{
		if (pass->halves != 0)
			gpb_atomic_add_halves(answer + pass->halves, extra->halves, extra->halves + 2);
		if (pass->squares != 0)
			gpb_atomic_add_squares(answer + pass->squares, extra->squares);
		if (pass->bits_and != 0)
			gpb_atomic_and(answer + pass->bits_and, extra->bits_and);
		if (pass->bits_or != 0)
			gpb_atomic_or(answer + pass->bits_or, extra->bits_or);
		if (pass->bits_xor != 0)
			gpb_atomic_xor(answer + pass->bits_xor, extra->bits_xor);
	}
	init_extra(extra);
}

/* Add what the warp's lanes have to the answer to range "number".  The whole warp calls. */
template <int N, bool FLOAT_SUM, bool EXTRA>
static __device__ __forceinline__ void
flush_state(const GpbRangesJob *job, const GpbProgramPass *pass, uint32 number,
			State<N, FLOAT_SUM> *state)
{
	gpb_flush_tally(job, number, &state->tally);
	if (FLOAT_SUM)
		gpb_flush_windows<GPB_WARP>(&state->rest, gpb_float_sum_of(job, number));
	if (EXTRA)
		flush_extra(pass, &state->extra, gpb_answer_of(job, number));
}

/* Add what the block's lanes have to the one answer.  All threads of the block call. */
template <int N, bool FLOAT_SUM, bool EXTRA>
static __device__ __forceinline__ void
finish_state(const GpbRangesJob *job, const GpbProgramPass *pass, uint32 leaves,
			 GpbBlockTally<N> *block, State<N, FLOAT_SUM> *state)
{
	if (EXTRA)
		flush_extra(pass, &state->extra, job->answers);
	if (FLOAT_SUM)
		gpb_flush_windows<GPB_WARP>(&state->rest, &block->sum);
	gpb_tally_finish(&state->tally, block, leaves, job);
}

/* ---- the kernel ---- */

/* As aggregate_long (ranges_long.cu) */
template <int N, bool FLOAT_SUM, bool EXTRA>
static __global__ void
__launch_bounds__(GPB_LEAF_THREADS, GPB_PROGRAM_BLOCKS)
aggregate_program(const __grid_constant__ GpbRangesJob job,
				  const __grid_constant__ GpbProgramPass pass)
{
	__shared__ GpbBlockTally<N> block;
	uint64		total = job.tasks[job.n - 1];
	uint32		number = 0;		/* of the range that is read */
	uint32		leaves;
	State<N, FLOAT_SUM> state;
	GpbLaneValues values;

	if (blockIdx.x == 0 && threadIdx.x == 0)
		job.counts->ntasks = total;
	if (blockIdx.x * gpb_tasks_share(total) >= total)
		return;					/* nothing for any warp of this block */
	init_state(&state);
	state.faulted = false;
	state.sum = FLOAT_SUM ? &block.sum : NULL;
	if (FLOAT_SUM && job.total)
		gpb_block_sum_init(&block.sum);
	leaves = gpb_visit_tasks(&job, gpb_tasks_of_warp(total), [&](GpbRangePlace place)
	{
		GpbLeafView leaf = gpb_view_of_place(place);

		if (!job.total && place.number != number)
			flush_state<N, FLOAT_SUM, EXTRA>(&job, &pass, number, &state);
		number = place.number;
		if (FLOAT_SUM && !job.total)
			state.sum = gpb_float_sum_of(&job, number);
		for (int base = place.from; base < leaf.count; base += GPB_PROGRAM_ROWS * GPB_WARP)
		{
			uint32		live = gpb_take_rows(&job, &pass.code, number, leaf, base + gpb_lane(),
											 &values, &state.faulted);

			if (__any_sync(GPB_ALL_LANES, live != 0))
				take_terms<N, FLOAT_SUM, EXTRA>(&job, &pass, &values, live, &state);
		}
	});
	gpb_count_faults(&job, state.faulted);
	if (job.total)
		finish_state<N, FLOAT_SUM, EXTRA>(&job, &pass, leaves, &block, &state);
	else
	{
		flush_state<N, FLOAT_SUM, EXTRA>(&job, &pass, number, &state);
		if (gpb_lane() == 0)
			gpb_atomic_add(&job.counts->leaves, (uint64) leaves);
	}
}

const GpbProgramKernel GPB_FORM::gpb_program_kernels[GPB_PROGRAM_SHAPES] = {
	aggregate_program<1, false, false>,
	aggregate_program<2, false, false>,
	aggregate_program<1, true, false>,
	aggregate_program<1, false, true>
};
