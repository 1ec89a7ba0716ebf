/*-------------------------------------------------------------------------
 *
 * ranges_groups.cu
 *	  A program with groups, over the tasks of ranges: each entry that counts is added to its group;
 *	  see group_rows.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "device.cuh"
#include "group_rows.cuh"

/* ---- groups of entries ---- */

/* Find the rows of the groups of a lane's entries that count.  The whole warp calls. */
template <int WORDS>
static __device__ __forceinline__ void
find_rows(const GpbRangesJob *job, const GpbGroupJob *groups, const GpbLaneValues *values,
		  uint32 number, uint32 live, uint32 *row)
{
	GpbGroupKey<WORDS> key[GPB_PROGRAM_ROWS];

#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
		key[u].word[0] = groups->by_range ? number : 0;
#pragma unroll
	for (int i = 0; i < WORDS - 1; i++)
	{
		GpbOperand	operand = {};

		if (i < groups->ngroups)
			gpb_get_operand(&groups->code, values, groups->slot[i], &operand);
#pragma unroll
		for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
		{
			uint64		is_null = operand.nulls >> u & 1;

			key[u].word[0] |= (int64) (is_null << (32 + i));
			key[u].word[1 + i] = is_null ? 0 : operand.word[u];
		}
	}
	gpb_find_groups(job, groups, key, live, row);
}

/* ---- adding entries ---- */

/* Where a block has sums of groups */
enum Where
{
	IN_ROWS,					/* in device memory alone */
	OF_FIRST_ROWS,				/* those of the first rows in shared memory */
	IN_SLOTS					/* in slots of shared memory */
};

/* The place in shared memory of the sums of a row, or GPB_NO_GROUP_SLOT */
template <Where WHERE>
static __device__ __forceinline__ uint32
shared_place(const GpbGroupJob *groups, GpbSharedGroups *shared, uint32 row)
{
	if (WHERE == IN_ROWS || row == GPB_GROUP_FULL)
		return GPB_NO_GROUP_SLOT;
	if (WHERE == IN_SLOTS)
		return gpb_group_slot(groups, shared, row);
	return row < groups->shared_groups ? row : GPB_NO_GROUP_SLOT;
}

/* Count the entries that have a row. */
template <Where WHERE>
static __device__ __forceinline__ void
add_entries(const GpbGroupJob *groups, GpbSharedGroups *shared, const uint32 *row,
			const uint32 *place)
{
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		if (row[u] == GPB_GROUP_FULL)
			continue;
		if (WHERE != IN_ROWS && place[u] != GPB_NO_GROUP_SLOT)
			atomicAdd(gpb_shared_word(groups, shared, groups->shared_words - 1, place[u]), 1u);
		else
			gpb_atomic_add(gpb_answer_for_block(groups, row[u]), (int64) 1);
	}
}

/*
 * Add the values of term t to the groups of their entries.  Returns false if a narrow sum does not
 * hold one.  The whole warp calls.
 */
template <Where WHERE>
static __device__ __forceinline__ bool
add_term(const GpbGroupJob *groups, GpbSharedGroups *shared, int t, const GpbLaneValues *values,
		 uint32 live, const uint32 *row, const uint32 *place)
{
	const GpbGroupTerm *term = &groups->term[t];
	bool		is_float = WHERE == IN_SLOTS && term->words.float_sum != 0;
	bool		held = true;
	int			base = GPB_NO_WINDOW;
	GpbOperand	operand;
	GpbOperand	lower;
	uint32		valid = gpb_get_term(&groups->code, values, term->slot, term->filter, live,
									 &operand);

	if (WHERE == IN_ROWS && term->words.halves != 0)
		gpb_get_operand(&groups->code, values, term->lower, &lower);
	if (is_float)
		base = gpb_window_base(shared, t, term->words.narrow, &operand, valid);
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		bool		is_valid = (valid >> u & 1) != 0;

		if (row[u] == GPB_GROUP_FULL)
			continue;
		if (WHERE == IN_ROWS || place[u] == GPB_NO_GROUP_SLOT)
		{
			int64	   *answer = gpb_answer_for_block(groups, row[u]);

			if (is_valid)
			{
				held = gpb_add_to_group(term, answer, operand.word[u]) && held;
				if (WHERE == IN_ROWS && term->words.halves != 0)
				{
					int64		value[2] = {operand.word[u], lower.word[u]};

					gpb_atomic_add_halves(answer + term->words.halves, value, value);
				}
			}
			else if (live >> u & 1)
				gpb_atomic_add(answer + term->words.count, (int64) -1);
			continue;
		}
		if (!is_valid)
		{
			gpb_leave_out_of_shared(groups, shared, term, place[u]);
			continue;
		}
		gpb_add_to_shared(groups, shared, term, place[u], operand.word[u]);
		if (is_float &&
			!gpb_add_float_to_shared(groups, shared, term, place[u], base, operand.word[u]))
			held = gpb_add_float_to_group(&term->words, gpb_group_answer(groups, row[u]),
										  operand.word[u]) && held;
	}
	return held;
}

/* Add a lane's entries that count to their groups.  The whole warp calls. */
template <Where WHERE, int WORDS>
static __device__ __forceinline__ void
add_rows(const GpbRangesJob *job, const GpbGroupJob *groups, GpbSharedGroups *shared,
		 const GpbLaneValues *values, uint32 number, uint32 live)
{
	uint32		row[GPB_PROGRAM_ROWS];
	uint32		place[GPB_PROGRAM_ROWS];

	find_rows<WORDS>(job, groups, values, number, live, row);
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
		place[u] = shared_place<WHERE>(groups, shared, row[u]);
	add_entries<WHERE>(groups, shared, row, place);
	for (int t = 0; t < groups->nterms; t++)
	{
		/* Whoever finds such a value writes the same. */
		if (!add_term<WHERE>(groups, shared, t, values, live, row, place))
			*(volatile uint64 *) &job->counts->unheld = 1;
	}
}

/* ---- the kernels ---- */

/*
 * Are there more groups than there is room for, so that the request must run again, or was there a
 * value that a narrow sum does not hold?
 */
static __device__ __forceinline__ bool
is_in_vain(const GpbRangesJob *job, const GpbGroupJob *groups)
{
	const volatile GpbRangesCounts *counts = job->counts;

	return __any_sync(GPB_ALL_LANES, gpb_lane() == 0 &&
					  (counts->ngroups > groups->capacity || counts->unheld != 0));
}

template <Where WHERE, int WORDS>
static __global__ void
__launch_bounds__(GPB_LEAF_THREADS, GPB_PROGRAM_BLOCKS)
aggregate_groups(const __grid_constant__ GpbRangesJob job,
				 const __grid_constant__ GpbGroupJob groups)
{
	__shared__ uint64 memory[WHERE != IN_ROWS ? sizeof(GpbSharedGroups) / sizeof(uint64) : 1];
	GpbSharedGroups *shared = (GpbSharedGroups *) memory;
	uint64		total = job.tasks[job.n - 1];
	bool		faulted = false;
	uint32		leaves;
	GpbLaneValues values;

	if (blockIdx.x == 0 && threadIdx.x == 0)
		job.counts->ntasks = total;
	if (gpb_block_has_no_tasks(total))
		return;
	if (WHERE != IN_ROWS)
		gpb_init_shared_groups(&groups, shared);
	leaves = gpb_visit_tasks(&job, gpb_tasks_near_block(total), [&](GpbRangePlace place)
	{
		GpbLeafView leaf = gpb_view_of_place(place);

		if (is_in_vain(&job, &groups))
			return;
		for (int base = place.from; base < leaf.count; base += GPB_PROGRAM_ROWS * GPB_WARP)
		{
			uint32		live = gpb_take_rows(&job, &groups.code, place.number, leaf,
											 base + gpb_lane(), &values, &faulted);

			if (__any_sync(GPB_ALL_LANES, live != 0))
				add_rows<WHERE, WORDS>(&job, &groups, shared, &values, place.number, live);
		}
	});
	gpb_count_faults(&job, faulted);
	if (gpb_lane() == 0)
		gpb_atomic_add(&job.counts->leaves, (uint64) leaves);
	if (WHERE != IN_ROWS)
		gpb_flush_shared_groups(&groups, shared);
}

const GpbGroupsKernel GPB_FORM::gpb_groups_kernels[GPB_GROUPS_KERNELS] = {
	aggregate_groups<IN_ROWS, 1 + GPB_FEW_GROUP_SLOTS>,
	aggregate_groups<IN_ROWS, GPB_GROUP_MOST_WORDS>,
	aggregate_groups<OF_FIRST_ROWS, 1 + GPB_FEW_GROUP_SLOTS>,
	aggregate_groups<OF_FIRST_ROWS, GPB_GROUP_MOST_WORDS>,
	aggregate_groups<IN_SLOTS, 1 + GPB_FEW_GROUP_SLOTS>,
	aggregate_groups<IN_SLOTS, GPB_GROUP_MOST_WORDS>
};
