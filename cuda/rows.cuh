/*-------------------------------------------------------------------------
 *
 * rows.cuh
 *	  How a warp reads the rows of a clean leaf, and what it does with an entry.
 *
 * There are two ways to read rows and one way to take what was read.  A walk is called by all
 * lanes of a warp with the same leaf.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ROWS_CUH
#define GPB_ROWS_CUH

#include "tally.cuh"

#define GPB_ANY_WIDTH		0	/* as ROW_WIDTH: rows one by one, of whatever width */

/* What a pass needs of one entry; a value is meaningless where its column is NULL. */
template <int N>
struct GpbEntryValues
{
	uint64		locator;
	int64		value[N];
};

static __device__ __forceinline__ int
gpb_lane(void)
{
	return threadIdx.x % GPB_WARP;
}

/* ---- appending to the lists ---- */

/*
 * A place in a list for each lane that wants one; the whole warp calls.  A place may
 * lie beyond the capacity: then it is counted and nothing is to be written.
 */
static __device__ __forceinline__ uint64
gpb_append(uint64 *count, bool wanted)
{
	uint32		lanes = __ballot_sync(GPB_ALL_LANES, wanted);
	uint32		before = lanes & ((1u << gpb_lane()) - 1);
	unsigned long long first = 0;

	if (lanes == 0)
		return 0;
	if (gpb_lane() == 0)
		first = atomicAdd((unsigned long long *) count, (unsigned long long) __popc(lanes));
	first = __shfl_sync(GPB_ALL_LANES, first, 0);
	return first + __popc(before);
}

/*
 * Write entry i of the page to its place in the list, as a GpbRangeEntry of range "number".  Rows
 * are whole words.  Entries to be checked in the heap will be sorted by TID; a list of all entries
 * is written in order.
 */
static __device__ void
gpb_write_entry(const GpbRangesJob *job, uint32 number, uint32 flags, const char *page, int i,
				uint64 place)
{
	int			key_width = gpb_job_key_width(job);
	int			width = gpb_entry_width(key_width, job->row_width);
	int			row_width = GPB_MAY_HAVE_RUNS ? gpb_page_row_width(page) : job->row_width;
	GpbKey		key = gpb_leaf_key(page, key_width, row_width, i);
	GpbSpreadRow spread;
	const uint32 *row = (const uint32 *) gpb_spread_row(page, row_width, i, &spread);
	uint64	   *record = (uint64 *) (job->entries.record + place * width);
	uint32	   *into = (uint32 *) (record + 2);
	int			words = (gpb_range_entry_width(job->row_width) - 16) / 4;

	if (!job->pass.list_entries)
		job->entries.order[place] = gpb_load64(row) & GPB_TID_MASK;
	record[0] = number | (uint64) flags << 32;
	record[1] = (uint64) key;
	for (int w = 0; w < words; w++)
		into[w] = w * 4 < job->row_width ? row[w] : 0;
	if (gpb_is_wide(key_width))
		record[width / 8 - 1] = gpb_key_upper(key);
}

/*
 * List entries of each lane's page to be checked in the heap: those first + u * step whose bit u is
 * set in the lane's mask.  "number" is of the lane's range.  The whole warp calls.  Out of line,
 * for it is rare, or else memory is the limit.
 */
static __device__ __noinline__ void
gpb_append_entries(const GpbRangesJob *job, uint32 number, const char *page, int first, int step,
				   uint32 wanted)
{
	for (int u = 0; __any_sync(GPB_ALL_LANES, (wanted >> u) != 0); u++)
	{
		bool		this_one = (wanted >> u) & 1;
		uint64		place = gpb_append(&job->counts->nentries, this_one);

		if (this_one && place < job->entries.capacity)
			gpb_write_entry(job, number, 0, page, first + u * step, place);
	}
}

/* ---- taking entries ---- */

/*
 * Which of the wanted entries does the snapshot see, by the bits?  Those that it does not see are
 * taken out of *present.
 */
template <int U, int N>
static __device__ __forceinline__ uint32
gpb_look_up_visibility(const GpbVisibilityBits *visibility, const GpbEntryValues<N> *entry,
					   uint32 wanted, uint32 *present)
{
	uint32		summary[U];
	uint32		seen = 0;
	uint32		trusted = 0;	/* on heap blocks that may have exceptions */

#pragma unroll
	for (int u = 0; u < U; u++)
	{
		uint32		block = gpb_locator_block(entry[u].locator);

		summary[u] = 0;
		if ((wanted >> u & 1) && block < visibility->heap_blocks)
			summary[u] = visibility->summary[block / GPB_SUMMARY_BLOCKS / 32];
	}
#pragma unroll
	for (int u = 0; u < U; u++)
	{
		uint32		block = gpb_locator_block(entry[u].locator);
		uint32		bits = 0;

		if ((summary[u] >> (block / GPB_SUMMARY_BLOCKS % 32)) & 1)
			bits = 1;
		else if ((wanted >> u & 1) && block < visibility->heap_blocks)
			bits = (uint32) gpb_heap_bits(visibility->bits, block);
		seen |= (bits & 1) << u;
		trusted |= (bits >> 1) << u;
	}
	trusted &= ~seen;
	if (trusted != 0 && visibility->nexceptions > 0)
	{
#pragma unroll
		for (int u = 0; u < U; u++)
		{
			if ((trusted >> u & 1) == 0)
				continue;
			if (gpb_is_exception(visibility->exceptions, visibility->nexceptions,
								 entry[u].locator & GPB_TID_MASK))
				*present &= ~(1u << u);
			else
				seen |= 1u << u;
		}
	}
	return seen;
}

/*
 * Which of a lane's U entries does the snapshot see?  Those in *present are judged: entries hinted
 * dead, and those that the snapshot does not see, are taken out of it, so that it is left with what
 * is seen and what the bits say nothing of.  The whole warp calls.
 */
template <int U, int N>
static __device__ __forceinline__ uint32
gpb_see_entries(const GpbRangesJob *job, const GpbEntryValues<N> *entry, uint32 *present)
{
	uint32		seen = 0;

#pragma unroll
	for (int u = 0; u < U; u++)
	{
		bool		near = gpb_locator_block(entry[u].locator) < job->visibility.visible_below;

		if (entry[u].locator & job->pass.dead_mask)
			*present &= ~(1u << u);
		seen |= (uint32) near << u;
	}
	seen &= *present;
	if (__any_sync(GPB_ALL_LANES, *present != seen))
		seen |= gpb_look_up_visibility<U, N>(&job->visibility, entry, *present & ~seen, present);
	return seen;
}

/*
 * U entries of each lane: entry u is number first + u * step of the page, if bit u of
 * present is set.  Those that the snapshot sees by the bits are tallied, those it does not see left
 * out, and those that the bits say nothing of listed.  "number" is of
 * the range that the lane's entries are of.  The whole warp calls, its lanes with pages of their
 * own or with the same.
 */
template <int U, int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
gpb_take(const GpbRangesJob *job, uint32 number, const char *page,
		 const GpbEntryValues<N> *entry, int first, int step, uint32 present,
		 GpbTally<N, FLOAT_SUM> *tally, GpbFloatSum *sum)
{
	const GpbPass *pass = &job->pass;
	uint32		seen = gpb_see_entries<U, N>(job, entry, &present);

	tally->entries += __popc(seen);

#pragma unroll
	for (int c = 0; c < N; c++)
	{
		const GpbPassColumn *column = &pass->column[c];
		uint32		valid = 0;

		if (!column->want)
			continue;
#pragma unroll
		for (int u = 0; u < U; u++)
		{
			uint64		null = (entry[u].locator ^ column->null_flip) & column->null_mask;

			valid |= (uint32) (null == 0) << u;
		}
		gpb_tally_values<U>(tally, sum, c, column, entry, seen & valid);
	}

	if (pass->is_first && __any_sync(GPB_ALL_LANES, present != seen))
		gpb_append_entries(job, number, page, first, step, present & ~seen);
}

/* The value of entry i's key; of a wide key, which is no word, nothing but that there is one */
static __device__ __forceinline__ int64
gpb_page_key_value(const GpbRangesJob *job, const char *page, int i)
{
#ifdef GPB_CUDA_WIDE
	(void) job;
	(void) page;
	(void) i;
	return 0;
#else
	return gpb_key_value(gpb_page_key(page, job->key_width, i), job->key_width,
						 job->layout_flags);
#endif
}

#ifdef GPB_CUDA_RUNS

/* ---- leaves that have runs ---- */

/* Where a lane is among the runs of a leaf.  It asks for keys of entries in ascending order. */
struct GpbRunKeys
{
	const char *page;
	const uint16 *ends;
	int			key_width;
	int			n;
	int			run;			/* -1 before the first key */

	__device__ __forceinline__ void
	begin(const GpbRangesJob *job, const char *leaf)
	{
		page = leaf;
		key_width = gpb_job_key_width(job);
		n = gpb_page_runs(leaf, key_width);
		ends = gpb_run_ends(leaf, key_width, n);
		run = -1;
	}

	/* the key of entry i */
	__device__ __forceinline__ GpbKey
	key(int i)
	{
		run = run < 0 ? gpb_run_of(ends, n, i) : gpb_run_from(ends, n, run, i);
		return gpb_page_key(page, key_width, run);
	}
};

/* The value of a key; of a wide key, which is no word, nothing but that there is one */
static __device__ __forceinline__ int64
gpb_run_key_value(const GpbRangesJob *job, GpbKey key)
{
#ifdef GPB_CUDA_WIDE
	(void) job;
	(void) key;
	return 0;
#else
	return gpb_key_value(key, job->key_width, job->layout_flags);
#endif
}

/*
 * Set the values of a lane's U entries, first + u of the page, whose bit of "present" is set: those
 * of the columns that are the key, since there is no other.  A lane without entries may have no
 * page.
 */
template <int U, int N>
static __device__ __forceinline__ void
gpb_fetch_run_keys(const GpbRangesJob *job, const char *page, int first, uint32 present,
				   GpbEntryValues<N> *entry)
{
#pragma unroll
	for (int c = 0; c < N; c++)
	{
		const GpbPassColumn *column = &job->pass.column[c];
		GpbRunKeys	keys;

#pragma unroll
		for (int u = 0; u < U; u++)
			entry[u].value[c] = 0;
		if (!column->want || column->column != 0 || present == 0)
			continue;
		keys.begin(job, page);
#pragma unroll
		for (int u = 0; u < U; u++)
		{
			if (present >> u & 1)
				entry[u].value[c] = gpb_run_key_value(job, keys.key(first + u));
		}
	}
}

#define GPB_RUN_QUAD	4

/*
 * Rows 4j .. 4j + 3 of a page with runs: four of them begin and end at addresses that 8 divides.
 * Row 4j is the highest.
 */
struct GpbRunQuad
{
	uint2		vector[GPB_RUN_QUAD * GPB_RUN_ROW_WIDTH / 8];

	__device__ __forceinline__ void
	load(const char *page, int j)
	{
		const uint2 *from = (const uint2 *)
			(page + GPB_SPECIAL_OFFSET - (j + 1) * (int) sizeof(vector));

#pragma unroll
		for (int v = 0; v < (int) (sizeof(vector) / sizeof(uint2)); v++)
			vector[v] = __ldcs(from + v);
	}

	/* locator of row 4j + k */
	__device__ __forceinline__ uint64
	locator(int k) const
	{
		uint64		low = (uint64) vector[0].y << 32 | vector[0].x;
		uint64		mid = (uint64) vector[1].y << 32 | vector[1].x;
		uint64		high = (uint64) vector[2].y << 32 | vector[2].x;
		uint64		bits = k == 3 ? low : k == 2 ? low >> 48 | mid << 16 :
			k == 1 ? mid >> 32 | high << 32 : high >> 16;

		return gpb_locator_of_short(bits);
	}
};

/* Take the lane's quad of a leaf with runs, as gpb_take_quad() does that of another leaf. */
template <int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
gpb_take_run_quad(const GpbRangesJob *job, uint32 number, GpbLeafView leaf, int from, int first,
				  GpbTally<N, FLOAT_SUM> *tally, GpbFloatSum *sum)
{
	GpbRunQuad	quad = {};
	GpbEntryValues<N> entry[GPB_RUN_QUAD];
	uint32		present = 0;

	if (first < leaf.count)
		quad.load(leaf.page, first / GPB_RUN_QUAD);
#pragma unroll
	for (int k = 0; k < GPB_RUN_QUAD; k++)
	{
		present |= (uint32) ((uint32) (first + k - from) < (uint32) (leaf.count - from)) << k;
		entry[k].locator = quad.locator(k);
	}
	gpb_fetch_run_keys<GPB_RUN_QUAD, N>(job, leaf.page, first, present, entry);
	gpb_take<GPB_RUN_QUAD>(job, number, leaf.page, entry, first, 1, present, tally, sum);
}

#endif							/* GPB_CUDA_RUNS */

/* ---- a row in memory ---- */

template <int N>
static __device__ __forceinline__ void
gpb_fetch_entry(const GpbRangesJob *job, const char *page, const char *row, int i,
				GpbEntryValues<N> *entry)
{
	entry->locator = gpb_row_locator(row);
#pragma unroll
	for (int c = 0; c < N; c++)
	{
		const GpbPassColumn *column = &job->pass.column[c];

		entry->value[c] = 0;
		if (!column->want)
			continue;
		if (column->column == 0)
			entry->value[c] = gpb_page_key_value(job, page, i);
		else
			entry->value[c] = gpb_row_value(row, column->offset, column->kind);
	}
}

/*
 * Take the rows of the leaf, which has no runs, from row "from" on, each lane one at a time.  All
 * are of range "number".
 */
template <int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
gpb_walk_rows(const GpbRangesJob *job, uint32 number, GpbLeafView leaf, int from,
			  GpbTally<N, FLOAT_SUM> *tally, GpbFloatSum *sum)
{
	constexpr int U = GPB_ROWS_IN_FLIGHT;

	for (int base = from; base < leaf.count; base += U * GPB_WARP)
	{
		GpbEntryValues<N> entry[U];
		int			first = base + gpb_lane();
		uint32		present = 0;

#pragma unroll
		for (int u = 0; u < U; u++)
		{
			int			i = first + u * GPB_WARP;

			entry[u].locator = 0;
			if (i >= leaf.count)
				continue;
			present |= 1u << u;
			gpb_fetch_entry(job, leaf.page, gpb_page_row(leaf.page, job->row_width, i), i,
							&entry[u]);
		}
		gpb_take<U>(job, number, leaf.page, entry, first, GPB_WARP, present, tally, sum);
	}
}

/* ---- four rows in registers ---- */

#define GPB_QUAD	4

/*
 * Word w of a row of W words.  Registers cannot be indexed by a variable; the row has few
 * words and w is the same for all lanes, so it is chosen among them.
 */
template <int W>
static __device__ __forceinline__ uint32
gpb_row_word(const uint32 *row, int w)
{
	uint32		word = 0;

#pragma unroll
	for (int k = GPB_LOCATOR_WIDTH / 4; k < W; k++)
		word = w == k ? row[k] : word;
	return word;
}

/*
 * Rows 4j .. 4j + 3 of a page, W words each.  Rows grow down from an address that 16
 * divides, so four of them begin and end at such addresses; row 4j is the highest.
 */
template <int W>
struct GpbQuad
{
	uint4		vector[W];

	__device__ __forceinline__ void
	load(const char *page, int j)
	{
		const uint4 *from = (const uint4 *)
			(page + GPB_SPECIAL_OFFSET - (j + 1) * (int) sizeof(vector));

#pragma unroll
		for (int v = 0; v < W; v++)
			vector[v] = __ldcs(from + v);
	}

	/* words of row 4j + k, copied to registers of their own */
	__device__ __forceinline__ void
	row(int k, uint32 *words) const
	{
#pragma unroll
		for (int w = 0; w < W; w++)
		{
			int			at = (GPB_QUAD - 1 - k) * W + w;
			uint4		four = vector[at / 4];

			words[w] = at % 4 == 0 ? four.x : at % 4 == 1 ? four.y :
				at % 4 == 2 ? four.z : four.w;
		}
	}
};

/*
 * Values of an INCLUDE column in the four rows, to entry[k].value[c].  The kind is the same for
 * all lanes and rows, so it is looked at once.
 */
template <int W, int N>
static __device__ __forceinline__ void
gpb_quad_column(const GpbQuad<W> &quad, const GpbPassColumn *column, int c,
				GpbEntryValues<N> *entry)
{
	int			w = column->offset / 4;
	uint32		low[GPB_QUAD];
	uint32		row[W];

#pragma unroll
	for (int k = 0; k < GPB_QUAD; k++)
	{
		quad.row(k, row);
		low[k] = gpb_row_word<W>(row, w);
	}
	if (column->kind == GPB_KIND_INT4)
	{
#pragma unroll
		for (int k = 0; k < GPB_QUAD; k++)
			entry[k].value[c] = (int32) low[k];
	}
	else if (column->kind == GPB_KIND_INT2)
	{
#pragma unroll
		for (int k = 0; k < GPB_QUAD; k++)
			entry[k].value[c] = (int16) (low[k] >> (column->offset % 4 * 8));
	}
	else
	{
#pragma unroll
		for (int k = 0; k < GPB_QUAD; k++)
		{
			quad.row(k, row);
			entry[k].value[c] = (int64) (low[k] | (uint64) gpb_row_word<W>(row, w + 1) << 32);
		}
	}
}

/*
 * The four rows, the first of which is number "first" of the page and of which those in present
 * are there
 */
template <int W, int N>
static __device__ __forceinline__ void
gpb_quad_entries(const GpbRangesJob *job, const char *page, const GpbQuad<W> &quad, int first,
				 uint32 present, GpbEntryValues<N> *entry)
{
#pragma unroll
	for (int k = 0; k < GPB_QUAD; k++)
	{
		uint32		row[W];

		quad.row(k, row);
		entry[k].locator = row[0] | (uint64) row[1] << 32;
	}
#pragma unroll
	for (int c = 0; c < N; c++)
	{
		const GpbPassColumn *column = &job->pass.column[c];

#pragma unroll
		for (int k = 0; k < GPB_QUAD; k++)
			entry[k].value[c] = 0;
		if (!column->want)
			continue;
		if (column->column != 0)
		{
			gpb_quad_column<W>(quad, column, c, entry);
			continue;
		}
#pragma unroll
		for (int k = 0; k < GPB_QUAD; k++)
		{
			if (present >> k & 1)
				entry[k].value[c] = gpb_page_key_value(job, page, first + k);
		}
	}
}

/*
 * Take the lane's quad, whose first row is "first", of range "number"; there may be no row there,
 * or rows before "from", which are not taken.
 */
template <int W, int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
gpb_take_quad(const GpbRangesJob *job, uint32 number, GpbLeafView leaf, int from, int first,
			  GpbTally<N, FLOAT_SUM> *tally, GpbFloatSum *sum)
{
	GpbQuad<W>	quad = {};
	GpbEntryValues<N> entry[GPB_QUAD];
	uint32		present = 0;

	if (first < leaf.count)
		quad.load(leaf.page, first / GPB_QUAD);
#pragma unroll
	for (int k = 0; k < GPB_QUAD; k++)
		present |= (uint32) ((uint32) (first + k - from) < (uint32) (leaf.count - from)) << k;
	gpb_quad_entries<W, N>(job, leaf.page, quad, first, present, entry);
	gpb_take<GPB_QUAD>(job, number, leaf.page, entry, first, 1, present, tally, sum);
}

/*
 * Take the rows of the leaf, of ROW_WIDTH bytes, from row "from" on, which must be below the count
 * unless both are 0: each lane four rows at a time, a warp 128.  All are of range "number".  The
 * last quad may begin in the hole or among the keys, never outside the page.
 */
template <int ROW_WIDTH, int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
gpb_walk_quads(const GpbRangesJob *job, uint32 number, GpbLeafView leaf, int from,
			   GpbTally<N, FLOAT_SUM> *tally, GpbFloatSum *sum)
{
	constexpr int step = GPB_QUAD * GPB_WARP;
	int			base = from / GPB_QUAD * GPB_QUAD;
	int			first = base + GPB_QUAD * gpb_lane();

#ifdef GPB_CUDA_RUNS
	if (leaf.runs)
	{
		for (; base < leaf.count; base += step, first += step)
			gpb_take_run_quad(job, number, leaf, from, first, tally, sum);
		return;
	}
#endif
	for (; base < leaf.count; base += step, first += step)
		gpb_take_quad<ROW_WIDTH / 4>(job, number, leaf, from, first, tally, sum);
}

#endif							/* GPB_ROWS_CUH */
