/*-------------------------------------------------------------------------
 *
 * ranges_columns.cu
 *	  A program that groups by one narrow column, over the tasks of ranges, without steps: counts
 *	  and sums of another narrow column, or of the same.
 *
 * What aggregate_groups (ranges_groups.cu) does for any program is much for this one, which is what
 * most queries are: values go by way of local memory, and each entry's group is looked up in device
 * memory.  Here rows are read as plain programs read them, to registers, and a block has a table of
 * its own in shared memory, with the groups' keys and sums.  Groups get to the rows of device
 * memory once for each block, at its end.  An entry whose group finds no place in the table is
 * added to its row at once.
 *
 * A key is the range's number, if that counts, above the value, or above 0 and with the top bit set
 * where the value is NULL.
 *
 *-------------------------------------------------------------------------
 */
#include "device.cuh"
#include "group_rows.cuh"

/* ---- the table of a block ---- */

#define NO_KEY			0xFFFFFFFFFFFFFFFFu /* no NULL has a value */
#define KEY_IS_NULL		((uint64) 1 << 63)
#define NO_PLACE		0xFFFFFFFFu

/* Sums of values of 32 bits, 2^31 of them at most, take two words. */
struct Table
{
	uint64		key[GPB_COLUMN_PLACES];
	uint32		entries[GPB_COLUMN_PLACES];
	uint32		missing[GPB_COLUMN_PLACES];	/* entries that have no value for the term */
	uint32		low[GPB_COLUMN_PLACES];
	uint32		high[GPB_COLUMN_PLACES];
};

static_assert((GPB_COLUMN_PLACES & (GPB_COLUMN_PLACES - 1)) == 0,
			  "places are found by a mask");

/* All threads of the block call. */
static __device__ __forceinline__ void
init_table(Table *table)
{
	for (uint32 i = threadIdx.x; i < GPB_COLUMN_PLACES; i += blockDim.x)
	{
		table->key[i] = NO_KEY;
		table->entries[i] = 0;
		table->missing[i] = 0;
		table->low[i] = 0;
		table->high[i] = 0;
	}
	__syncthreads();
}

/* The first place that is looked at for a key: neighbouring values get places far apart */
static __device__ __forceinline__ uint32
first_place(uint64 key)
{
	uint32		hash = ((uint32) key ^ (uint32) (key >> 32) * 0x85EBCA6Bu) * 0x9E3779B1u;

	return (uint32) ((uint64) hash * GPB_COLUMN_PLACES >> 32);
}

/* The place of a key, from "at" on, claimed if it has none; NO_PLACE if there is none near. */
static __device__ __forceinline__ uint32
find_place(Table *table, uint32 at, uint64 key)
{
	for (int i = 0; i < GPB_COLUMN_TRIES; i++)
	{
		uint64		found = *(volatile uint64 *) &table->key[at];

		if (found == NO_KEY)
		{
			found = atomicCAS((unsigned long long *) &table->key[at], NO_KEY, key);
			if (found == NO_KEY)
				return at;
		}
		if (found == key)
			return at;
		at = (at + 1) & (GPB_COLUMN_PLACES - 1);
	}
	return NO_PLACE;
}

/* Add a value, or the sum of a few, to the sum at a place. */
static __device__ __forceinline__ void
add_value(Table *table, uint32 at, int64 value)
{
	uint32		before = atomicAdd(&table->low[at], (uint32) value);
	uint32		above = (uint32) (value >> 32) + (before + (uint32) value < before);

	if (above != 0)
		atomicAdd(&table->high[at], above);
}

/* ---- rows in device memory ---- */

/* What one group, or one entry, adds to the row of its group */
struct Addition
{
	uint64		key;
	uint32		entries;
	uint32		missing;
	int64		sum;
};

/* Make those additions of a lane whose bit of "todo" is set.  The whole warp calls. */
static __device__ __noinline__ void
add_to_rows(const GpbRangesJob *job, const GpbGroupJob *groups, const Addition *addition,
			uint32 todo)
{
	GpbGroupKey<2> key[GPB_PROGRAM_ROWS];
	uint32		row[GPB_PROGRAM_ROWS];

#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		uint64		is_null = addition[u].key >> 63;

		key[u].word[0] = (int64) (addition[u].key << 1 >> 33 | is_null << 32);
		key[u].word[1] = (int32) (uint32) addition[u].key;
	}
	gpb_find_groups(job, groups, key, todo, row);
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		int64	   *answer;

		if (row[u] == GPB_GROUP_FULL)
			continue;
		answer = gpb_group_answer(groups, row[u]);
		gpb_atomic_add(answer, (int64) addition[u].entries);
		if (groups->nterms == 0)
			continue;
		gpb_atomic_add(answer + groups->term[0].words.count, -(int64) addition[u].missing);
		if (groups->term[0].words.sum != 0)
			gpb_atomic_add(answer + groups->term[0].words.sum, addition[u].sum);
	}
}

/* Add the block's groups to their rows.  All threads of the block call. */
static __device__ __forceinline__ void
flush_table(const GpbRangesJob *job, const GpbGroupJob *groups, Table *table)
{
	__syncthreads();
	for (uint32 first = 0; first < GPB_COLUMN_PLACES; first += GPB_PROGRAM_ROWS * GPB_LEAF_THREADS)
	{
		Addition	addition[GPB_PROGRAM_ROWS];
		uint32		todo = 0;

#pragma unroll
		for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
		{
			uint32		at = first + u * GPB_LEAF_THREADS + threadIdx.x;

			addition[u].key = table->key[at];
			addition[u].entries = table->entries[at];
			addition[u].missing = table->missing[at];
			addition[u].sum = (int64) (table->low[at] | (uint64) table->high[at] << 32);
			todo |= (uint32) (addition[u].key != NO_KEY) << u;
		}
		if (__any_sync(GPB_ALL_LANES, todo != 0))
			add_to_rows(job, groups, addition, todo);
	}
}

static_assert(GPB_COLUMN_PLACES % (GPB_PROGRAM_ROWS * GPB_LEAF_THREADS) == 0 &&
			  GPB_PROGRAM_ROWS == GPB_QUAD, "a block takes its table in whole rounds");

/* ---- entries ---- */

/* Is a column of the pass not NULL in the entry? */
static __device__ __forceinline__ bool
has_value(const GpbPassColumn *column, uint64 locator)
{
	return ((locator ^ column->null_flip) & column->null_mask) == 0;
}

/* The place of the first of a lane's entries in "todo", which must have one */
static __device__ __forceinline__ uint32
first_of(const uint32 *at, uint32 todo)
{
	uint32		place = at[GPB_QUAD - 1];

#pragma unroll
	for (int u = GPB_QUAD - 2; u >= 0; u--)
		place = todo >> u & 1 ? at[u] : place;
	return place;
}

/*
 * Additions to one word wait for each other.  So where many of the warp's entries are of one group
 * the warp adds these up, and then makes one addition.  "todo" are the entries of the lane that
 * have a place, "valid" those with a value.  Returns what is left to be added one by one.  The
 * whole warp calls.
 */
template <int N>
static __device__ __forceinline__ uint32
add_alike(Table *table, const uint32 *at, const GpbEntryValues<N> *entry, uint32 todo,
		  uint32 valid)
{
	for (int round = 0; round < GPB_COLUMN_ROUNDS; round++)
	{
		uint32		lanes = __ballot_sync(GPB_ALL_LANES, todo != 0);
		uint32		place;
		uint32		same = 0;
		int			n = 0;
		int			missing = 0;
		int64		sum = 0;

		if (lanes == 0)
			break;
		place = __shfl_sync(GPB_ALL_LANES, first_of(at, todo), __ffs(lanes) - 1);
#pragma unroll
		for (int u = 0; u < GPB_QUAD; u++)
		{
			bool		is_same = (todo >> u & 1) != 0 && at[u] == place;

			same |= (uint32) is_same << u;
			n += __popc(__ballot_sync(GPB_ALL_LANES, is_same));
		}
		if (n < GPB_COLUMN_ALIKE)
			break;
		todo &= ~same;
		if (N > 1)
		{
#pragma unroll
			for (int u = 0; u < GPB_QUAD; u++)
			{
				missing += __popc(__ballot_sync(GPB_ALL_LANES, (same & ~valid) >> u & 1));
				sum += (same & valid) >> u & 1 ? entry[u].value[N - 1] : 0;
			}
			sum = gpb_warp_sum(sum);
		}
		if (gpb_lane() != 0)
			continue;
		atomicAdd(&table->entries[place], (uint32) n);
		if (missing > 0)
			atomicAdd(&table->missing[place], (uint32) missing);
		if (sum != 0)
			add_value(table, place, sum);
	}
	return todo;
}

/*
 * Add a lane's entries, first + u * step of the page, if bit u of present is set and the snapshot
 * sees them.  The values are the group's and, if N is 2, the term's.  The whole warp calls.
 */
template <int N>
static __device__ __forceinline__ void
add_some(const GpbRangesJob *job, const GpbGroupJob *groups, Table *table, uint32 number,
		 const char *page, const GpbEntryValues<N> *entry, int first, int step, uint32 present)
{
	const GpbPass *pass = &job->pass;
	uint32		seen = gpb_see_entries<GPB_QUAD, N>(job, entry, &present);
	uint64		above = groups->by_range ? (uint64) number << 32 : 0;
	uint64		key[GPB_QUAD];
	uint64		found[GPB_QUAD];
	uint32		at[GPB_QUAD];
	uint32		placed = 0;		/* entries whose group has a place */
	uint32		valid = 0;		/* those that have a value for the term */
	uint32		alone;			/* those of placed to be added one by one */

#pragma unroll
	for (int u = 0; u < GPB_QUAD; u++)
	{
		key[u] = above | (has_value(&pass->column[0], entry[u].locator) ?
						  (uint32) entry[u].value[0] : KEY_IS_NULL);
		at[u] = first_place(key[u]);
		found[u] = *(volatile uint64 *) &table->key[at[u]];
		valid |= (uint32) has_value(&pass->column[N - 1], entry[u].locator) << u;
	}
#pragma unroll
	for (int u = 0; u < GPB_QUAD; u++)
	{
		if ((seen >> u & 1) == 0)
			continue;
		if (found[u] != key[u])
			at[u] = find_place(table, at[u], key[u]);
		placed |= (uint32) (at[u] != NO_PLACE) << u;
	}
	alone = add_alike<N>(table, at, entry, placed, valid);
#pragma unroll
	for (int u = 0; u < GPB_QUAD; u++)
	{
		if ((alone >> u & 1) == 0)
			continue;
		atomicAdd(&table->entries[at[u]], 1u);
		if (N == 1)
			continue;
		if (valid >> u & 1)
			add_value(table, at[u], entry[u].value[N - 1]);
		else
			atomicAdd(&table->missing[at[u]], 1u);
	}
	if (__any_sync(GPB_ALL_LANES, placed != seen))
	{
		Addition	addition[GPB_QUAD];

#pragma unroll
		for (int u = 0; u < GPB_QUAD; u++)
		{
			bool		is_valid = (valid >> u & 1) != 0;

			addition[u].key = key[u];
			addition[u].entries = 1;
			addition[u].missing = N > 1 && !is_valid;
			addition[u].sum = N > 1 && is_valid ? entry[u].value[N - 1] : 0;
		}
		add_to_rows(job, groups, addition, seen & ~placed);
	}
	if (pass->is_first && __any_sync(GPB_ALL_LANES, present != seen))
		gpb_append_entries(job, number, page, first, step, present & ~seen);
}

/* Add the entries of a place: rows of ROW_WIDTH bytes four at a time, others one by one. */
template <int ROW_WIDTH, int N>
static __device__ __forceinline__ void
add_place(const GpbRangesJob *job, const GpbGroupJob *groups, Table *table, GpbRangePlace place)
{
	constexpr bool by_quads = ROW_WIDTH != GPB_ANY_WIDTH;
	int			base = by_quads ? place.from / GPB_QUAD * GPB_QUAD : place.from;

	for (; base < place.to; base += GPB_QUAD * GPB_WARP)
	{
		GpbEntryValues<N> entry[GPB_QUAD];
		uint32		present = 0;
		int			step = by_quads ? 1 : GPB_WARP;
		int			first = base + gpb_lane() * (by_quads ? GPB_QUAD : 1);

#pragma unroll
		for (int u = 0; u < GPB_QUAD; u++)
		{
			int			i = first + u * step;

			present |= (uint32) (i >= place.from && i < place.to) << u;
		}
		if constexpr (by_quads)
		{
			GpbQuad<ROW_WIDTH / 4> quad = {};

			if (first < place.to)
				quad.load(place.page, first / GPB_QUAD);
			gpb_quad_entries<ROW_WIDTH / 4, N>(job, place.page, quad, first, present, entry);
		}
		else
		{
#pragma unroll
			for (int u = 0; u < GPB_QUAD; u++)
			{
				int			i = first + u * step;

				entry[u].locator = 0;
				if (present >> u & 1)
					gpb_fetch_entry(job, place.page, gpb_page_row(place.page, job->row_width, i),
									i, &entry[u]);
			}
		}
		add_some<N>(job, groups, table, place.number, place.page, entry, first, step, present);
	}
}

/* ---- the kernels ---- */

template <int ROW_WIDTH, int N>
static __global__ void
__launch_bounds__(GPB_LEAF_THREADS, GPB_COLUMN_BLOCKS)
aggregate_columns(const __grid_constant__ GpbRangesJob job,
				  const __grid_constant__ GpbGroupJob groups)
{
	__shared__ Table table;
	uint64		total = job.tasks[job.n - 1];
	GpbTaskShare own = gpb_tasks_near_block(total);
	uint32		leaves;

	if (blockIdx.x == 0 && threadIdx.x == 0)
		job.counts->ntasks = total;
	if (gpb_block_has_no_tasks(total))
		return;
	init_table(&table);
	leaves = gpb_visit_tasks(&job, own, [&](GpbRangePlace place)
	{
		add_place<ROW_WIDTH, N>(&job, &groups, &table, place);
	});
	if (gpb_lane() == 0)
		gpb_atomic_add(&job.counts->leaves, (uint64) leaves);
	flush_table(&job, &groups, &table);
}

const GpbGroupsKernel GPB_FORM::gpb_columns_kernels[GPB_COLUMNS_KERNELS] = {
	aggregate_columns<GPB_ANY_WIDTH, 1>,
	aggregate_columns<GPB_ANY_WIDTH, 2>,
	aggregate_columns<12, 1>,
	aggregate_columns<12, 2>,
	aggregate_columns<16, 1>,
	aggregate_columns<16, 2>
};
