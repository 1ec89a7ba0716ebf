/*-------------------------------------------------------------------------
 *
 * evaluate.cuh
 *	  The steps of a program, done by each lane for several entries at a time.
 *
 * What a step does is in src/program/program_steps.h, with the operator as a constant here: the
 * steps are the same for all lanes, so all take the same branch of the one switch.  Values lie in
 * local memory, where those of neighbouring lanes are neighbours; the result of the last step is
 * kept in registers, from where the next one reads it.
 *
 * The function that does all steps is called, not copied into each kernel that needs it: it is
 * large, and a call is little beside what it does.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_EVALUATE_CUH
#define GPB_EVALUATE_CUH

#include "places.cuh"
#include "program.cuh"
#include "program/program_steps.h"

/* ---- values ---- */

/* A value of each of a lane's entries; a word means nothing if the entry's bit of nulls is set. */
struct alignas(16) GpbOperand
{
	int64		word[GPB_PROGRAM_ROWS];
	uint32		nulls;
};

#define GPB_LANE_VALUES		(GPB_MAX_COLUMNS + GPB_MAX_TEMPORARIES)

/* The columns and temporaries of a lane's entries */
struct alignas(16) GpbLaneValues
{
	int64		word[GPB_LANE_VALUES][GPB_PROGRAM_ROWS];
	uint32		nulls[GPB_LANE_VALUES];
};

/* Where the values of a slot are in GpbLaneValues; it is no constant's. */
static __device__ __forceinline__ int
gpb_value_place(int slot)
{
	return slot < GPB_FIRST_CONSTANT ? slot : slot - GPB_MAX_CONSTANTS;
}

/* Get the values of a slot that is not GPB_LAST_RESULT. */
static __device__ __forceinline__ void
gpb_get_operand(const GpbCode *code, const GpbLaneValues *values, int slot, GpbOperand *operand)
{
	if (slot >= GPB_FIRST_CONSTANT && slot < GPB_FIRST_TEMPORARY)
	{
		int64		word = code->constant[slot - GPB_FIRST_CONSTANT];
		bool		is_null = (code->null_constants >> (slot - GPB_FIRST_CONSTANT) & 1) != 0;

#pragma unroll
		for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
			operand->word[u] = word;
		operand->nulls = is_null ? (1u << GPB_PROGRAM_ROWS) - 1 : 0;
	}
	else
	{
		int			place = gpb_value_place(slot);

#pragma unroll
		for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
			operand->word[u] = values->word[place][u];
		operand->nulls = values->nulls[place];
	}
}

static __device__ __forceinline__ void
gpb_get_step_operand(const GpbCode *code, const GpbLaneValues *values, const GpbOperand *last,
					 int slot, GpbOperand *operand)
{
	if (slot == GPB_LAST_RESULT)
		*operand = *last;
	else
		gpb_get_operand(code, values, slot, operand);
}

/* For which entries is the value true? */
static __device__ __forceinline__ uint32
gpb_truth(const GpbOperand *operand)
{
	uint32		truth = 0;

#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
		truth |= (uint32) (operand->word[u] != 0) << u;
	return truth & ~operand->nulls;
}

/* ---- columns ---- */

/*
 * Load a column of a key that has several, of those of the lane's entries whose bit of "wanted" is
 * set; the others are zeros.
 */
static __device__ __forceinline__ void
gpb_load_key_column(const GpbRangesJob *job, GpbCodeColumn column, const char *page, int first,
					int step, uint32 wanted, GpbLaneValues *values)
{
	uint32		nulls = 0;

#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		int64		word = 0;

		if (wanted >> u & 1)
		{
			GpbKey		field = gpb_key_field(column.field,
											  gpb_page_key(page, gpb_job_key_width(job),
														   first + u * step));

			nulls |= (uint32) gpb_field_is_null(column.field, field) << u;
			word = gpb_field_value(column.field, field);
		}
		values->word[column.slot][u] = word;
	}
	values->nulls[column.slot] = nulls;
}

/* The value of entry i's key, or a half of it if it is wide */
static __device__ __forceinline__ int64
gpb_page_key_word(const GpbRangesJob *job, const char *page, int i, bool lower)
{
#ifdef GPB_CUDA_WIDE
	return gpb_key_half(gpb_page_key(page, gpb_job_key_width(job), i), job->layout_flags, lower);
#else
	(void) lower;
	return gpb_page_key_value(job, page, i);
#endif
}

#ifdef GPB_CUDA_RUNS

/*
 * Load a column of a leaf with runs: the key, a half of it, or a column of it.  Whether a key is
 * NULL that has one column its locator says.
 */
static __device__ __forceinline__ void
gpb_load_run_column(const GpbRangesJob *job, GpbCodeColumn column, const char *page, int first,
					int step, const uint64 *locator, uint32 wanted, GpbLaneValues *values)
{
	bool		nulls_first = (job->layout_flags & GPB_LAYOUT_NULLS_FIRST) != 0;
	bool		is_field = column.field.bits != 0;
	GpbRunKeys	keys;
	uint32		nulls = 0;

	keys.begin(job, page);
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		bool		is_null = !is_field && (locator[u] >> 48 & 1) != nulls_first;
		int64		word = 0;

		if (wanted >> u & 1)
		{
			GpbKey		key = keys.key(first + u * step);

			if (is_field)
			{
				GpbKey		field = gpb_key_field(column.field, key);

				is_null = gpb_field_is_null(column.field, field);
				word = gpb_field_value(column.field, field);
			}
			else
#ifdef GPB_CUDA_WIDE
				word = gpb_key_half(key, job->layout_flags, column.lower);
#else
				word = gpb_run_key_value(job, key);
#endif
		}
		values->word[column.slot][u] = word;
		nulls |= (uint32) is_null << u;
	}
	values->nulls[column.slot] = nulls;
}

/* Load the columns that the code reads, of a leaf with runs. */
static __device__ __forceinline__ void
gpb_load_run_columns(const GpbRangesJob *job, const GpbCode *code, const char *page, int first,
					 int step, const uint64 *locator, uint32 wanted, GpbLaneValues *values)
{
	for (int c = 0; c < code->ncolumns; c++)
		gpb_load_run_column(job, code->column[c], page, first, step, locator, wanted, values);
}

#endif

/*
 * Load the columns that the code reads, of those of the lane's entries, first + u * step of the
 * page, whose bit u of "wanted" is set.
 */
static __device__ __forceinline__ void
gpb_load_columns(const GpbRangesJob *job, const GpbCode *code, const char *page, int first,
				 int step, const uint64 *locator, uint32 wanted, GpbLaneValues *values)
{
	bool		nulls_first = (job->layout_flags & GPB_LAYOUT_NULLS_FIRST) != 0;

	for (int c = 0; c < code->ncolumns; c++)
	{
		GpbCodeColumn column = code->column[c];
		int			bit = column.column == 0 ? 48 : GPB_LOC_NULL_SHIFT + column.column - 1;
		uint32		nulls = 0;

		if (column.field.bits != 0)
		{
			gpb_load_key_column(job, column, page, first, step, wanted, values);
			continue;
		}
#pragma unroll
		for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
		{
			int			i = first + u * step;
			int64		word = 0;

			if (wanted >> u & 1)
				word = column.column == 0 ?
					gpb_page_key_word(job, page, i, column.lower) :
					gpb_row_value(gpb_page_row(page, job->row_width, i), column.offset,
								  column.kind);
			values->word[column.slot][u] = word;
			nulls |= (uint32) (locator[u] >> bit & 1) << u;
		}
		if (column.column == 0 && nulls_first)
			nulls = ~nulls;
		values->nulls[column.slot] = nulls & ((1u << GPB_PROGRAM_ROWS) - 1);
	}
}

/* ---- one step ---- */

/*
 * An operator whose result is NULL if an operand is, and 0 where it faults.  Returns the entries
 * for which it does.
 */
template <int OP>
static __device__ __forceinline__ uint32
gpb_do_values(const GpbOperand *a, const GpbOperand *b, const GpbOperand *c, const int64 *list,
			  int n, GpbOperand *result)
{
	uint32		faults = 0;

#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		int64		word = 0;
		bool		fault = gpb_step_of_values(OP, a->word[u], b->word[u], c->word[u], list, n,
											   &word);

		faults |= (uint32) fault << u;
		result->word[u] = fault ? 0 : word;
	}
	result->nulls = a->nulls | b->nulls | c->nulls;
	return faults & ~result->nulls;
}

static __device__ __forceinline__ GpbValue
gpb_value_of(const GpbOperand *operand, int u)
{
	GpbValue	value;

	value.word = operand->word[u];
	value.is_null = operand->nulls >> u & 1;
	return value;
}

/* An operator that takes NULLs */
template <int OP>
static __device__ __forceinline__ uint32
gpb_do_nulls(const GpbOperand *a, const GpbOperand *b, const GpbOperand *c, GpbOperand *result)
{
	uint32		nulls = 0;

#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		GpbValue	value = gpb_step_of_nulls(OP, gpb_value_of(a, u), gpb_value_of(b, u),
											  gpb_value_of(c, u));

		result->word[u] = value.word;
		nulls |= (uint32) value.is_null << u;
	}
	result->nulls = nulls;
	return 0;
}

/* The words of a step's long table */
static __device__ __forceinline__ const int64 *
gpb_step_words(const GpbCode *code, const GpbCodeStep *step)
{
	return code->tables.more + (code->tables.first[step->b] - GPB_MAX_TABLE_WORDS);
}

/* The words of a step's table that is not a long one */
static __device__ __forceinline__ const int64 *
gpb_short_words(const GpbCode *code, const GpbCodeStep *step)
{
	return code->tables.word + code->tables.first[step->b];
}

/*
 * Do an operator of any kind but GPB_OPERATOR_FILTER.  The branch of long tables keeps the look-ups
 * in the two kinds of memory apart: by one pointer into either, those in parameters would be
 * slower.
 */
template <int OP, GpbOperatorKind KIND>
static __device__ __forceinline__ uint32
gpb_do_operator(const GpbCode *code, const GpbCodeStep *step, const GpbOperand *a,
				const GpbOperand *b, const GpbOperand *c, GpbOperand *result)
{
	if constexpr (KIND == GPB_OPERATOR_NULLS)
		return gpb_do_nulls<OP>(a, b, c, result);
	else if constexpr (KIND < GPB_OPERATOR_TABLE)
		return gpb_do_values<OP>(a, b, c, NULL, 0, result);
	else
	{
		if constexpr (KIND == GPB_OPERATOR_LONG_TABLE)
		{
			if (gpb_is_long_table(&code->tables, step->b))
				return gpb_do_values<OP>(a, b, c, gpb_step_words(code, step),
										 (int) code->tables.length[step->b], result);
		}
		return gpb_do_values<OP>(a, b, c, gpb_short_words(code, step),
								 (int) code->tables.length[step->b], result);
	}
}

/*
 * Do a step for all of a lane's entries.  Operands that the operator has not are zeros.  Returns
 * the entries for which it faults, whether or not anything is to become of these.
 */
static __device__ __forceinline__ uint32
gpb_do_step(const GpbCode *code, const GpbCodeStep *step, const GpbOperand *a,
			const GpbOperand *b, const GpbOperand *c, GpbOperand *result)
{
	switch (step->op)
	{
#define GPB_OPERATOR(name, operands, kind, range, does) \
		case GPB_OP_##name: \
			return gpb_do_operator<GPB_OP_##name, GPB_OPERATOR_##kind>(code, step, a, b, c, result);
#include "program/program_operators.h"
		default:
			*result = *a;
			return ~0u;
	}
}

/* ---- all steps ---- */

/* What is left of a lane's entries after the steps */
struct GpbEvaluated
{
	uint32		live;			/* those that all filters let pass */
	uint32		faults;			/* those for which a step faulted */
};

/*
 * Do all steps for those of the lane's entries, first + u * step of the page, whose bit u of
 * "wanted" is set; their locators are given.  The whole warp calls.  Out of line, so that the
 * interpreter is in a kernel once.
 */
static __device__ __noinline__ GpbEvaluated
gpb_evaluate(const GpbRangesJob *job, const GpbCode *code, const char *page, int first, int step,
			 const uint64 *locator, uint32 wanted, GpbLaneValues *values)
{
	GpbEvaluated out = {wanted, 0};
	GpbOperand	last = {};

#ifdef GPB_CUDA_RUNS
	if (gpb_has_runs(gpb_page_row_width(page)))
		gpb_load_run_columns(job, code, page, first, step, locator, wanted, values);
	else
#endif
	gpb_load_columns(job, code, page, first, step, locator, wanted, values);
	for (int s = 0; s < code->nsteps; s++)
	{
		GpbCodeStep todo = code->step[s];
		GpbOperand	a;
		GpbOperand	b = {};
		GpbOperand	c = {};
		GpbOperand	result;
		uint32		faults;

		gpb_get_step_operand(code, values, &last, todo.a, &a);
		if (todo.op == GPB_OP_FILTER)
		{
			out.live &= gpb_truth(&a);
			if (!__any_sync(GPB_ALL_LANES, out.live != 0))
				break;
			continue;
		}
		if (todo.operands > 1)
			gpb_get_step_operand(code, values, &last, todo.b, &b);
		if (todo.operands > 2)
			gpb_get_step_operand(code, values, &last, todo.c, &c);
		faults = gpb_do_step(code, &todo, &a, &b, &c, &result) & out.live;
		if (todo.guard != GPB_NO_SLOT && __any_sync(GPB_ALL_LANES, faults != 0))
		{
			GpbOperand	guard;

			gpb_get_step_operand(code, values, &last, todo.guard, &guard);
			faults &= gpb_truth(&guard);
		}
		out.faults |= faults;
		last = result;
		if (todo.into != GPB_NO_SLOT)
		{
			int			place = gpb_value_place(todo.into);

#pragma unroll
			for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
				values->word[place][u] = result.word[u];
			values->nulls[place] = result.nulls;
		}
	}
	return out;
}

/* ---- rows ---- */

#ifdef GPB_CUDA_RUNS

/*
 * Get the locators of a lane's entries, first + u * GPB_WARP of the leaf, which are 0 behind its
 * end.  The loop is there for each form of a leaf, since nothing may come between its loads.
 */
static __device__ __forceinline__ void
gpb_load_locators(const GpbRangesJob *job, GpbLeafView leaf, int first, uint64 *locator)
{
	if (leaf.runs)
	{
#pragma unroll
		for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
		{
			int			i = first + u * GPB_WARP;

			locator[u] = i < leaf.count ? gpb_page_locator(leaf.page, GPB_RUN_ROW_WIDTH, i) : 0;
		}
		return;
	}
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		int			i = first + u * GPB_WARP;

		locator[u] = i < leaf.count ?
			gpb_row_locator(gpb_page_row(leaf.page, GPB_LOCATOR_WIDTH, i)) : 0;
	}
	(void) job;
}

#endif

/*
 * Read up to GPB_PROGRAM_ROWS entries of each lane, entry first + u * GPB_WARP of the leaf being
 * the lane's u-th, and do the steps for those that the snapshot sees; entries that the visibility
 * bits say nothing of are listed, if the pass is the first.  Returns those that count; *faults
 * becomes true if a step faulted.  The whole warp calls.
 */
static __device__ __forceinline__ uint32
gpb_take_rows(const GpbRangesJob *job, const GpbCode *code, uint32 number, GpbLeafView leaf,
			  int first, GpbLaneValues *values, bool *faulted)
{
	GpbEntryValues<1> entry[GPB_PROGRAM_ROWS];
	uint64		locator[GPB_PROGRAM_ROWS];
	GpbEvaluated out = {0, 0};
	uint32		present = 0;
	uint32		seen;

#ifdef GPB_CUDA_RUNS
	gpb_load_locators(job, leaf, first, locator);
#endif
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		int			i = first + u * GPB_WARP;

		entry[u].locator = 0;
		if (i < leaf.count)
		{
			present |= 1u << u;
#ifdef GPB_CUDA_RUNS
			entry[u].locator = locator[u];
#else
			entry[u].locator = gpb_row_locator(gpb_page_row(leaf.page, job->row_width, i));
#endif
		}
		locator[u] = entry[u].locator;
	}
	seen = gpb_see_entries<GPB_PROGRAM_ROWS, 1>(job, entry, &present);
	if (__any_sync(GPB_ALL_LANES, seen != 0))
		out = gpb_evaluate(job, code, leaf.page, first, GPB_WARP, locator, seen, values);
	*faulted = *faulted || out.faults != 0;
	if (job->pass.is_first && __any_sync(GPB_ALL_LANES, present != seen))
		gpb_append_entries(job, number, leaf.page, first, GPB_WARP, present & ~seen);
	return out.live;
}

/* The entries for which a term's filter is true; all if it has none */
static __device__ __forceinline__ uint32
gpb_filtered(const GpbCode *code, const GpbLaneValues *values, int filter)
{
	GpbOperand	operand;

	if (filter == GPB_NO_SLOT)
		return ~0u;
	gpb_get_operand(code, values, filter, &operand);
	return gpb_truth(&operand);
}

/*
 * Get the values of a term; returns those entries of "live" that have one and that its filter lets
 * pass.  A term without a slot has a value for each.
 */
static __device__ __forceinline__ uint32
gpb_get_term(const GpbCode *code, const GpbLaneValues *values, int slot, int filter, uint32 live,
			 GpbOperand *operand)
{
	live &= gpb_filtered(code, values, filter);
	operand->nulls = 0;
	if (slot == GPB_NO_SLOT)
	{
#pragma unroll
		for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
			operand->word[u] = 0;
		return live;
	}
	gpb_get_operand(code, values, slot, operand);
	return live & ~operand->nulls;
}

/* Count that a step faulted for some lane of the warp; the whole warp calls. */
static __device__ __forceinline__ void
gpb_count_faults(const GpbRangesJob *job, bool faulted)
{
	uint32		lanes = __ballot_sync(GPB_ALL_LANES, faulted);

	if (gpb_lane() == 0)
		gpb_atomic_add(&job->counts->faults, (uint64) __popc(lanes));
}

/* ---- tasks ---- */

/*
 * Find the places of a warp's tasks, GPB_LEAVES_AT_ONCE at a time, and call visit(place) with each
 * that has rows.  Leaves that are not clean become pieces if the pass is the first.  Returns
 * the number of clean leaves.  The whole warp calls, and visits.
 */
template <typename Visit>
static __device__ __forceinline__ uint32
gpb_visit_tasks(const GpbRangesJob *job, GpbTaskShare own, Visit visit)
{
	uint32		leaves = 0;
	uint32		i = 0;			/* this lane's task is of the i-th range */

	for (; own.at < own.end; own.at += GPB_LEAVES_AT_ONCE)
	{
		uint64		mine = own.at + gpb_lane();
		bool		here = gpb_lane() < GPB_LEAVES_AT_ONCE && mine < own.end;
		uint32		from = __shfl_sync(GPB_ALL_LANES, i, 0);
		uint32		separator = 0;
		GpbRangePlace place = {};
		bool		clean = false;

		if (here)
		{
			i = gpb_range_of_task(job, mine, from);
			clean = gpb_place_task(job, mine, i, &separator, &place);
		}
		if (job->pass.is_first)
		{
			gpb_append_piece(job, here ? gpb_number_of(job, i) : 0, separator, here && !clean);
			leaves += __popc(__ballot_sync(GPB_ALL_LANES, clean));
		}
		for (uint32 todo = __ballot_sync(GPB_ALL_LANES, place.from < place.to); todo != 0;
			 todo &= todo - 1)
			visit(gpb_place_of_lane(place, __ffs(todo) - 1));
	}
	return leaves;
}

#endif							/* GPB_EVALUATE_CUH */
