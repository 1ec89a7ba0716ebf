/*-------------------------------------------------------------------------
 *
 * group_rows.cuh
 *	  The groups of a request while they are found: a table, a row for each, and sums in shared
 *	  memory.
 *
 * Rows lie in device memory in the order in which their groups were found first.  Each is a
 * GpbGroup: a header, the values of the group slots, and the words of the group's answer, to which
 * all add by atomics.  So the rows are what the host fetches.
 *
 * The table has open addressing; an entry is a row's number, or one of three marks.  It has at
 * least twice as many entries as there are rows, so there is always one that is empty.
 *
 *		table	| - | 2 | - | 0 | busy | 1 | - | - |
 *		rows	| header | values | answer ||	0
 *				| header | values | answer ||	1
 *				| header | values | answer ||	2
 *
 * A lane that finds an empty entry claims it by an atomic operation, which marks it busy.  It then
 * takes the next row, writes it, and only then its number to the table.  Lanes that meet a busy
 * entry look again; all lanes of a warp go round the loop together and a claim is completed within
 * one round, so that none waits for another of its own warp.  Each lane looks for the groups of
 * several entries at once, so that their loads do not wait for each other.
 *
 * What an entry says once it has a row's number remains true, so it may be read through the cache
 * that is not coherent.  If that has it as empty or busy, the atomic operation tells what it is
 * now.  Rows are read past that cache.
 *
 * Until finish_groups (group_copies.cu) has completed the answers, two of their words mean
 * something else, which spares atomics.  The count of a term is minus the number of entries that
 * have no value for it, mostly none.  Of a sum that one word holds there is the low word alone.
 *
 * When there is no room for another row, the entry is marked full, and what would be added to the
 * group is dropped.  The count of groups then says that it was too many, and the request runs again
 * with more room (ranges.cu).
 *
 * The first rows have sums in the shared memory of each block too, which the block adds to the rows
 * at its end.  With few groups all of them have, and no lane waits for a distant one.  With many,
 * those found first are often the frequent ones.
 *
 * An exact sum of float8 is too wide for shared memory.  What a block has of one there is a window
 * of a few bins, at the same place in all groups, chosen by the first values that the block sees;
 * values that it does not hold are added to the row.  So few groups have room that they are not the
 * first ones: each block has slots, and a group gets one when the block meets it first, if one is
 * free.  Entries in the order of time bring the same few groups to a block.
 *
 * Shared memory has no sums for squares and bits.  If a term wants such, the answers of the first
 * rows have copies in device memory in its place.  A block adds to one of the copies, so that few
 * blocks meet at the same words, and a kernel adds the copies to the rows in the end.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_GROUP_ROWS_CUH
#define GPB_GROUP_ROWS_CUH

#include "evaluate.cuh"

/* ---- the table ---- */

/* What an entry of the table is if it is not a row's number */
#define GPB_GROUP_EMPTY		0xFFFFFFFFu /* as memset() has it */
#define GPB_GROUP_BUSY		0xFFFFFFFEu /* claimed, and not yet a row */
#define GPB_GROUP_FULL		0xFFFFFFFDu /* claimed, but there was no room; also: no row */

/*
 * What a group is found by: the words before the answer in its row.  WORDS is the most that a
 * program of the kernel has: with few of them the keys of a lane's entries stay in registers.
 */
template <int WORDS>
struct GpbGroupKey
{
	int64		word[WORDS];
};

template <int WORDS>
static __device__ __forceinline__ uint64
gpb_hash_group(const GpbGroupJob *groups, const GpbGroupKey<WORDS> *key)
{
	uint64		hash = 0;

#pragma unroll
	for (int i = 0; i < WORDS; i++)
	{
		if (i > groups->ngroups)
			break;
		hash = (hash ^ (uint64) key->word[i]) * 0x9E3779B97F4A7C15u;
		hash ^= hash >> 32;
	}
	return hash;
}

/* Is the row, which is complete, that of the key? */
template <int WORDS>
static __device__ __forceinline__ bool
gpb_is_group(const GpbGroupJob *groups, const GpbGroupKey<WORDS> *key, uint32 row)
{
	const long long *word = (const long long *) groups->row + (uint64) row * groups->row_words;
	bool		equal = true;

#pragma unroll
	for (int i = 0; i < WORDS; i++)
	{
		if (i <= groups->ngroups)
			equal = equal & (__ldcg(word + i) == key->word[i]);
	}
	return equal;
}

/* The words of the answer in a row */
static __device__ __forceinline__ int64 *
gpb_group_answer(const GpbGroupJob *groups, uint32 row)
{
	return groups->row + (uint64) row * groups->row_words + 1 + groups->ngroups;
}

/* Set those words that are not zero in the answer of no entries. */
static __device__ __forceinline__ void
gpb_clear_bounds(const GpbGroupJob *groups, int64 *answer)
{
	for (int t = 0; t < groups->nterms; t++)
	{
		const GpbAnswerColumn *words = &groups->term[t].words;

		if (words->bits_and != 0)
			answer[words->bits_and] = -1;
		if (words->halves != 0)
			gpb_halves_init(answer + words->halves);
		if (words->minmax == 0)
			continue;
		answer[words->minmax] = 0x7FFFFFFFFFFFFFFF;
		answer[words->minmax + 1] = -0x7FFFFFFFFFFFFFFF - 1;
	}
}

/* Write a new row, whose answer is that of no entries; its exact sums are zero already. */
template <int WORDS>
static __device__ __noinline__ void
gpb_write_group(const GpbGroupJob *groups, const GpbGroupKey<WORDS> *key, uint32 row)
{
	int64	   *word = groups->row + (uint64) row * groups->row_words;
	int64	   *answer = gpb_group_answer(groups, row);

#pragma unroll
	for (int i = 0; i < WORDS; i++)
	{
		if (i <= groups->ngroups)
			word[i] = key->word[i];
	}
	for (int i = 0; i < groups->integers; i++)
		answer[i] = 0;
	gpb_clear_bounds(groups, answer);
}

/* What came of the claim of an entry of the table */
struct GpbGroupClaim
{
	uint32		entry;			/* what the entry is now: a row's number, or a mark */
	bool		won;			/* the row is new, and of the claimant's key */
};

/*
 * Claim entry "at" of the table, which looked empty or busy, for the key of each lane that claims
 * one, and make the rows of the claims that are won.  The whole warp calls.
 */
template <int WORDS>
static __device__ __noinline__ GpbGroupClaim
gpb_claim_group(const GpbRangesJob *job, const GpbGroupJob *groups, GpbGroupKey<WORDS> key,
				uint32 at, bool claims)
{
	GpbGroupClaim claim = {GPB_GROUP_FULL, false};
	uint64		row;

	if (claims)
		claim.entry = atomicCAS(groups->table + at, GPB_GROUP_EMPTY, GPB_GROUP_BUSY);
	claim.won = claim.entry == GPB_GROUP_EMPTY;
	row = gpb_append(&job->counts->ngroups, claim.won);
	if (!claim.won)
		return claim;
	claim.entry = GPB_GROUP_FULL;
	if (row < groups->capacity)
	{
		claim.entry = (uint32) row;
		gpb_write_group(groups, &key, claim.entry);
		__threadfence();
	}
	atomicExch(groups->table + at, claim.entry);
	return claim;
}

/*
 * Find the rows of the keys of a lane's entries, those whose bit of "todo" is set, and make them
 * where there is none yet.  A row is GPB_GROUP_FULL where there is no room, and for the other
 * entries.  The loads of all entries are under way together, first those of the table, then those
 * of the rows.  The whole warp calls.
 */
template <int WORDS>
static __device__ __forceinline__ void
gpb_find_groups(const GpbRangesJob *job, const GpbGroupJob *groups,
				const GpbGroupKey<WORDS> *key, uint32 todo, uint32 *row)
{
	uint32		at[GPB_PROGRAM_ROWS];

#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		at[u] = (uint32) gpb_hash_group(groups, &key[u]) & groups->table_mask;
		row[u] = GPB_GROUP_FULL;
	}
	while (__any_sync(GPB_ALL_LANES, todo != 0))
	{
		uint32		entry[GPB_PROGRAM_ROWS];
		uint32		claims = 0;

#pragma unroll
		for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
		{
			entry[u] = todo >> u & 1 ? __ldca(groups->table + at[u]) : GPB_GROUP_FULL;
			if (entry[u] == GPB_GROUP_EMPTY || entry[u] == GPB_GROUP_BUSY)
				claims |= 1u << u;
		}
		if (__any_sync(GPB_ALL_LANES, claims != 0))
		{
#pragma unroll
			for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
			{
				bool		mine = (claims >> u & 1) != 0;
				GpbGroupClaim claim;

				if (!__any_sync(GPB_ALL_LANES, mine))
					continue;
				claim = gpb_claim_group(job, groups, key[u], at[u], mine);
				if (mine)
					entry[u] = claim.entry;
				if (claim.won)
				{
					row[u] = claim.entry;
					todo &= ~(1u << u);
				}
			}
		}
#pragma unroll
		for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
		{
			if (entry[u] < GPB_GROUP_FULL && (todo >> u & 1) != 0 &&
				gpb_is_group(groups, &key[u], entry[u]))
			{
				row[u] = entry[u];
				todo &= ~(1u << u);
			}
		}
#pragma unroll
		for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
		{
			if (entry[u] == GPB_GROUP_FULL)
				todo &= ~(1u << u);
			if (entry[u] != GPB_GROUP_BUSY)
				at[u] = (at[u] + 1) & groups->table_mask;
		}
	}
}

/* ---- adding to rows ---- */

/*
 * Add one value to an exact sum, narrow or not, to which others add as well.  Returns false if the
 * sum does not hold it.
 */
static __device__ __forceinline__ bool
gpb_atomic_add_float(bool narrow, int64 *sum, int64 bits)
{
	int64	   *bin = narrow ? sum - GPB_NARROW_FIRST : sum;
	GpbFloatPieces pieces;

	if (narrow && !gpb_narrow_sum_holds(bits))
		return false;
	if (!gpb_float_is_finite(bits))
	{
		GpbFloatSum *wide = (GpbFloatSum *) sum;
		bool		nan = ((uint64) bits << 12) != 0;

		gpb_atomic_add(nan ? &wide->nans : bits < 0 ? &wide->negative_infinities :
					   &wide->positive_infinities, (int64) 1);
		return true;
	}
	/* Pieces that are 0 are added nowhere: a zero's bins may lie outside of a narrow sum. */
	pieces = gpb_float_cut(bits);
#pragma unroll
	for (int i = 0; i < 3; i++)
		gpb_atomic_add(bin + pieces.first + i, pieces.piece[i]);
	return true;
}

/*
 * Add one value of a float8 to a group's sums, of values or of squares.  Returns false if one of
 * them does not hold what is added.
 */
static __device__ __noinline__ bool
gpb_add_float_to_group(const GpbAnswerColumn *words, int64 *answer, int64 bits)
{
	double		value = gpb_float_value(bits);
	double		product = value * value;
	bool		held = gpb_atomic_add_float(words->narrow, answer + words->float_sum, bits);

	if (words->float_squares == 0)
		return held;
	held = gpb_atomic_add_float(words->narrow, answer + words->float_squares,
								gpb_float_bits(product)) && held;
	if (gpb_float_is_finite(gpb_float_bits(product)))
		held = gpb_atomic_add_float(words->narrow, answer + words->float_squares,
									gpb_float_bits(fma(value, value, -product))) && held;
	return held;
}

/* Add the bounds min and max to those of a group; both are read first, for most change nothing. */
static __device__ __forceinline__ void
gpb_add_bounds(int64 *minmax, int64 min, int64 max)
{
	if (min < ((volatile int64 *) minmax)[0])
		atomicMin((long long *) minmax, (long long) min);
	if (max > ((volatile int64 *) minmax)[1])
		atomicMax((long long *) minmax + 1, (long long) max);
}

/*
 * Add a value to the words of a term in a group's unfinished answer.  Returns false if an exact sum
 * does not hold it.
 */
static __device__ __forceinline__ bool
gpb_add_to_group(const GpbGroupTerm *term, int64 *answer, int64 value)
{
	const GpbAnswerColumn *words = &term->words;
	bool		held = true;

	if (term->one_word)
		gpb_atomic_add(answer + words->sum, value);
	else if (words->sum != 0)
	{
		uint64		carry = gpb_atomic_carry(answer + words->sum, (uint64) value);

		gpb_atomic_add(answer + words->sum + 1, (value >> 63) + (int64) carry);
	}
	if (words->float_sum != 0)
		held = gpb_add_float_to_group(words, answer, value);
	if (words->squares != 0)
	{
		uint64		high;
		int64		square[3] = {(int64) gpb_square(value, &high), 0, 0};

		square[1] = (int64) high;
		gpb_atomic_add_squares(answer + words->squares, square);
	}
	if (words->bits_and != 0)
		gpb_atomic_and(answer + words->bits_and, value);
	if (words->bits_or != 0)
		gpb_atomic_or(answer + words->bits_or, value);
	if (words->bits_xor != 0)
		gpb_atomic_xor(answer + words->bits_xor, value);
	if (words->minmax != 0)
	{
		if (words->kind == GPB_KIND_FLOAT8)
			value = gpb_float_order(value);
		gpb_add_bounds(answer + words->minmax, value, value);
	}
	return held;
}

/* ---- copies of answers ---- */

/* The answer of a row in a copy; the row is below copied_groups. */
static __device__ __forceinline__ int64 *
gpb_group_copy(const GpbGroupJob *groups, uint32 copy, uint32 row)
{
	return groups->copy + ((uint64) copy * groups->copied_groups + row) * groups->words;
}

/* The answer that this block's entries of a group are added to */
static __device__ __forceinline__ int64 *
gpb_answer_for_block(const GpbGroupJob *groups, uint32 row)
{
	return row < groups->copied_groups ?
		gpb_group_copy(groups, blockIdx.x % groups->copies, row) : gpb_group_answer(groups, row);
}

/* Add an exact sum, narrow or not, to another, to which others add as well. */
static __device__ __forceinline__ void
gpb_atomic_add_float_sum(bool narrow, int64 *into, const int64 *from)
{
	int			words = narrow ? GPB_NARROW_SUM_WORDS : GPB_FLOAT_SUM_WORDS;

	/* nothing else counts the additions of a wide sum to which others add: "pending" is 0 */
	for (int i = 0; i < words; i++)
		gpb_atomic_add(into + i, from[i]);
}

/*
 * Add the words of a term in one unfinished answer to those in another, to which others add as
 * well.
 */
static __device__ __forceinline__ void
gpb_add_term_of_copy(const GpbGroupTerm *term, int64 *into, const int64 *from)
{
	const GpbAnswerColumn *words = &term->words;
	int64		missing = -from[words->count];

	if (missing != 0)
		gpb_atomic_add(into + words->count, -missing);
	if (missing == from[0])
		return;
	if (term->one_word)
		gpb_atomic_add(into + words->sum, from[words->sum]);
	else if (words->sum != 0)
	{
		uint64		carry = gpb_atomic_carry(into + words->sum, (uint64) from[words->sum]);

		gpb_atomic_add(into + words->sum + 1, from[words->sum + 1] + (int64) carry);
	}
	if (words->minmax != 0)
		gpb_add_bounds(into + words->minmax, from[words->minmax], from[words->minmax + 1]);
	if (words->halves != 0)
		gpb_atomic_add_halves(into + words->halves, from + words->halves,
							  from + words->halves + 2);
	if (words->squares != 0)
		gpb_atomic_add_squares(into + words->squares, from + words->squares);
	if (words->bits_and != 0)
		gpb_atomic_and(into + words->bits_and, from[words->bits_and]);
	if (words->bits_or != 0)
		gpb_atomic_or(into + words->bits_or, from[words->bits_or]);
	if (words->bits_xor != 0)
		gpb_atomic_xor(into + words->bits_xor, from[words->bits_xor]);
	if (words->float_sum != 0)
		gpb_atomic_add_float_sum(words->narrow, into + words->float_sum,
								 from + words->float_sum);
	if (words->float_squares != 0)
		gpb_atomic_add_float_sum(words->narrow, into + words->float_squares,
								 from + words->float_squares);
}

/* ---- sums in shared memory ---- */

/*
 * A block's sums of groups->shared_groups rows: words of 32 bits, since additions of those are fast
 * in shared memory.  Word w of group g is word[w * shared_groups + g], so that lanes with different
 * groups use different banks.
 *
 * Words of a term: two of 64 bits for the bounds, if these are wanted, before all others; the
 * number of entries that have no value for it, mostly none, which spares an addition for each that
 * has; three of the sum, if it is wanted, which hold 2^31 values (GPB_BLOCK_LEAVES); the window of
 * an exact sum.  The last word is the number of entries.  Where there are slots the word before it
 * is the owner's row plus 1, or 0.
 */
struct GpbSharedGroups
{
	alignas(8) uint32 word[GPB_GROUP_SHARED_WORDS];
	uint32		base[GPB_MAX_TERMS];	/* first bin of the windows of a term, or GPB_NO_WINDOW */
};

static __device__ __forceinline__ uint32 *
gpb_shared_word(const GpbGroupJob *groups, GpbSharedGroups *shared, int w, uint32 group)
{
	return &shared->word[w * groups->shared_groups + group];
}

/* The least and the greatest value of a term lie shared_groups words of 64 bits apart. */
static __device__ __forceinline__ int64 *
gpb_shared_bound(const GpbGroupJob *groups, GpbSharedGroups *shared, const GpbGroupTerm *term,
				 int which, uint32 group)
{
	int64	   *first = (int64 *) gpb_shared_word(groups, shared, term->shared_minmax, 0);

	return first + which * groups->shared_groups + group;
}

/* Make the block's sums those of no entries.  All threads of the block call. */
static __device__ __forceinline__ void
gpb_init_shared_groups(const GpbGroupJob *groups, GpbSharedGroups *shared)
{
	for (uint32 i = threadIdx.x; i < groups->shared_words * groups->shared_groups;
		 i += blockDim.x)
		shared->word[i] = 0;
	if (threadIdx.x < GPB_MAX_TERMS)
		shared->base[threadIdx.x] = GPB_NO_WINDOW;
	__syncthreads();
	for (int t = 0; t < groups->nterms; t++)
	{
		const GpbGroupTerm *term = &groups->term[t];

		if (term->words.minmax == 0)
			continue;
		for (uint32 g = threadIdx.x; g < groups->shared_groups; g += blockDim.x)
		{
			*gpb_shared_bound(groups, shared, term, 0, g) = 0x7FFFFFFFFFFFFFFF;
			*gpb_shared_bound(groups, shared, term, 1, g) = -0x7FFFFFFFFFFFFFFF - 1;
		}
	}
	__syncthreads();
}

/* Add to a word in shared memory; returns what it carries. */
static __device__ __forceinline__ uint32
gpb_shared_carry(uint32 *into, uint32 value)
{
	uint32		before;

	if (value == 0)
		return 0;
	before = atomicAdd(into, value);
	return before + value < before;
}

/* An entry of a group has no value that the term counts: NULL, or what a filter leaves out. */
static __device__ __forceinline__ void
gpb_leave_out_of_shared(const GpbGroupJob *groups, GpbSharedGroups *shared,
						const GpbGroupTerm *term, uint32 group)
{
	atomicAdd(gpb_shared_word(groups, shared, term->shared_missing, group), 1u);
}

/* Add a value to the block's sums of a group. */
static __device__ __forceinline__ void
gpb_add_to_shared(const GpbGroupJob *groups, GpbSharedGroups *shared, const GpbGroupTerm *term,
				  uint32 group, int64 value)
{
	const GpbAnswerColumn *words = &term->words;

	if (words->sum != 0)
	{
		uint32	   *sum = gpb_shared_word(groups, shared, term->shared_sum, group);
		uint32		sign = (uint32) (value >> 63);
		uint64		middle;
		uint32		carry;

		carry = gpb_shared_carry(sum, (uint32) value);
		middle = (uint64) (uint32) (value >> 32) + carry;
		carry = gpb_shared_carry(sum + groups->shared_groups, (uint32) middle);
		carry += (uint32) (middle >> 32) + sign;
		if (carry != 0)
			atomicAdd(sum + 2 * groups->shared_groups, carry);
	}
	if (words->minmax != 0)
	{
		int64	   *min = gpb_shared_bound(groups, shared, term, 0, group);
		int64	   *max = gpb_shared_bound(groups, shared, term, 1, group);

		if (words->kind == GPB_KIND_FLOAT8)
			value = gpb_float_order(value);
		if (value < *(volatile int64 *) min)
			atomicMin((long long *) min, (long long) value);
		if (value > *(volatile int64 *) max)
			atomicMax((long long *) max, (long long) value);
	}
}

/* ---- slots, and exact sums in them ---- */

#define GPB_NO_GROUP_SLOT	0xFFFFFFFFu

/* The slot of a row in shared memory, claimed if it has none; GPB_NO_GROUP_SLOT if none is free. */
static __device__ __forceinline__ uint32
gpb_group_slot(const GpbGroupJob *groups, GpbSharedGroups *shared, uint32 row)
{
	uint32		slot = row % groups->shared_groups;

	for (int i = 0; i < GPB_GROUP_SLOT_TRIES; i++)
	{
		uint32	   *owner = gpb_shared_word(groups, shared, groups->shared_words - 2, slot);
		uint32		found = *(volatile uint32 *) owner;

		if (found == 0)
			found = atomicCAS(owner, 0u, row + 1);
		if (found == 0 || found == row + 1)
			return slot;
		slot = slot + 1 == groups->shared_groups ? 0 : slot + 1;
	}
	return GPB_NO_GROUP_SLOT;
}

/*
 * The first bin of the windows of term t.  If it is not chosen yet, it is chosen for the largest of
 * the warp's values that count, those whose bit of "valid" is set.  Windows of narrow sums hold no
 * value that these do not hold.  The whole warp calls.
 */
static __device__ __forceinline__ int
gpb_window_base(GpbSharedGroups *shared, int t, bool narrow, const GpbOperand *operand,
				uint32 valid)
{
	uint32		base = *(volatile uint32 *) &shared->base[t];
	int			first = 0;

	if (!__any_sync(GPB_ALL_LANES, base == GPB_NO_WINDOW))
		return (int) base;
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		int64		bits = operand->word[u];
		bool		counts = narrow ? gpb_narrow_sum_holds(bits) : gpb_float_is_finite(bits);
		int			other = counts ? gpb_float_cut(bits).first : 0;

		if ((valid >> u & 1) != 0 && other > first)
			first = other;
	}
	for (int lanes = GPB_WARP / 2; lanes > 0; lanes /= 2)
	{
		int			other = __shfl_xor_sync(GPB_ALL_LANES, first, lanes);

		first = other > first ? other : first;
	}
	if (first == 0)
		return GPB_NO_WINDOW;	/* nothing but zeros, or what is hardly more */
	if (narrow && first == GPB_NARROW_FIRST)
		first++;
	base = atomicCAS(&shared->base[t], (uint32) GPB_NO_WINDOW, (uint32) first - 1);
	return base == GPB_NO_WINDOW ? first - 1 : (int) base;
}

/*
 * Add a float8 to the window of a slot, a number in two's complement: four bins of 32 bits, and a
 * word more for its sign and what 2^31 values carry.  Returns false, with nothing added, if the
 * window, whose first bin is "base", does not hold the value.
 */
static __device__ __forceinline__ bool
gpb_add_float_to_shared(const GpbGroupJob *groups, GpbSharedGroups *shared,
						const GpbGroupTerm *term, uint32 slot, int base, int64 bits)
{
	GpbFloatPieces pieces = gpb_float_cut(bits & 0x7FFFFFFFFFFFFFFF);
	uint32	   *word = gpb_shared_word(groups, shared, term->shared_float, slot);
	bool		second = pieces.first != base;
	uint32		sign = (uint32) (bits >> 63);
	uint32		carry = sign & 1;	/* -x is ~x + 1 */

	if (((uint64) bits << 1) == 0)
		return true;
	if (!gpb_float_is_finite(bits) || (second && pieces.first != base + 1))
		return false;
#pragma unroll
	for (int i = 0; i < GPB_SHARED_FLOAT_WORDS; i++)
	{
		uint32		piece = i < 3 && !second ? (uint32) pieces.piece[i % 3] :
			i >= 1 && i < 4 && second ? (uint32) pieces.piece[(i + 2) % 3] : 0;
		uint64		sum = (uint64) (piece ^ sign) + carry;

		/* Where the sum itself carries, nothing of it is left to add. */
		carry = (uint32) (sum >> 32) +
			gpb_shared_carry(word + i * groups->shared_groups, (uint32) sum);
	}
	return true;
}

/*
 * Add the window of a slot to an exact sum, to which others add as well.  What lies above the last
 * bin of a narrow sum belongs to that bin, which has room for it.
 */
static __device__ __forceinline__ void
gpb_flush_shared_float(const GpbGroupJob *groups, const uint32 *word, int base, bool narrow,
					   int64 *sum)
{
	if (base == GPB_NO_WINDOW)
		return;
	if (narrow)
		base -= GPB_NARROW_FIRST;
#pragma unroll
	for (int i = 0; i < GPB_SHARED_FLOAT_WORDS; i++)
	{
		uint32		word_here = word[i * groups->shared_groups];
		int64		value = i < GPB_SHARED_FLOAT_WORDS - 1 ? (int64) word_here :
			(int64) (int32) word_here;
		bool		above = narrow && base + i == GPB_NARROW_BINS;

		gpb_atomic_add(sum + base + i - above, above ? value * ((int64) 1 << 32) : value);
	}
}

/* ---- from shared memory to rows ---- */

/* Add the block's sums of term t to a group's unfinished answer; it had so many entries of it. */
static __device__ __forceinline__ void
gpb_flush_shared_term(const GpbGroupJob *groups, GpbSharedGroups *shared, int t, uint32 group,
					  uint32 entries, int64 *answer)
{
	const GpbGroupTerm *term = &groups->term[t];
	uint32		missing = *gpb_shared_word(groups, shared, term->shared_missing, group);

	if (missing != 0)
		gpb_atomic_add(answer + term->words.count, -(int64) missing);
	if (missing == entries)
		return;
	if (term->words.sum != 0)
	{
		const uint32 *sum = gpb_shared_word(groups, shared, term->shared_sum, group);
		uint64		low = sum[0] | (uint64) sum[groups->shared_groups] << 32;

		if (term->one_word)
			gpb_atomic_add(answer + term->words.sum, (int64) low);
		else
		{
			uint64		carry = gpb_atomic_carry(answer + term->words.sum, low);

			gpb_atomic_add(answer + term->words.sum + 1,
						   (int64) (int32) sum[2 * groups->shared_groups] + (int64) carry);
		}
	}
	if (term->words.float_sum != 0)
		gpb_flush_shared_float(groups, gpb_shared_word(groups, shared, term->shared_float, group),
							   (int) shared->base[t], term->words.narrow,
							   answer + term->words.float_sum);
	if (term->words.minmax != 0)
		gpb_add_bounds(answer + term->words.minmax,
					   *gpb_shared_bound(groups, shared, term, 0, group),
					   *gpb_shared_bound(groups, shared, term, 1, group));
}

/* Add the block's sums to the rows.  All threads of the block call. */
static __device__ __forceinline__ void
gpb_flush_shared_groups(const GpbGroupJob *groups, GpbSharedGroups *shared)
{
	__syncthreads();
	for (uint32 g = threadIdx.x; g < groups->shared_groups; g += blockDim.x)
	{
		uint32		entries = *gpb_shared_word(groups, shared, groups->shared_words - 1, g);
		uint32		row = g;
		int64	   *answer;

		if (entries == 0)
			continue;
		if (groups->has_slots)
			row = *gpb_shared_word(groups, shared, groups->shared_words - 2, g) - 1;
		answer = gpb_group_answer(groups, row);
		gpb_atomic_add(answer, (int64) entries);
		for (int t = 0; t < groups->nterms; t++)
			gpb_flush_shared_term(groups, shared, t, g, entries, answer);
	}
}

#endif							/* GPB_GROUP_ROWS_CUH */
