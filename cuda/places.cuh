/*-------------------------------------------------------------------------
 *
 * places.cuh
 *	  From a range of the request to its rows in a leaf, by one thread; and to its pieces that the
 *	  device cannot answer.  What the kernels of ranges share.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PLACES_CUH
#define GPB_PLACES_CUH

#include "rows.cuh"

/* ---- a range ---- */

/* The number of the range that is i-th in the order in which they are done */
static __device__ __forceinline__ uint32
gpb_number_of(const GpbRangesJob *job, uint32 i)
{
	return job->order != NULL ? job->order[i] : i;
}

static __device__ __forceinline__ GpbRange
gpb_range_of(const GpbRangesJob *job, uint32 number)
{
	int			key_width = gpb_job_key_width(job);

	if (job->ranges == NULL)
		return gpb_input_range(GPB_RANGE_BOUNDS, job->range, 0, key_width, job->layout_flags);
	return gpb_input_range(job->form, job->ranges, number, key_width, job->layout_flags);
}

/* The answer that the range is counted to */
static __device__ __forceinline__ int64 *
gpb_answer_of(const GpbRangesJob *job, uint32 number)
{
	return job->answers + (job->total ? 0 : (uint64) number * job->words);
}

/* The float8 sum of the pass in that answer */
static __device__ __forceinline__ GpbFloatSum *
gpb_float_sum_of(const GpbRangesJob *job, uint32 number)
{
	return (GpbFloatSum *) (gpb_answer_of(job, number) + job->pass.column[0].float_sum);
}

/*
 * Add what the warp's lanes have to the answer to range "number", and make their tallies empty.
 * The whole warp calls.
 */
template <int N, bool FLOAT_SUM>
static __device__ __forceinline__ void
gpb_flush_tally(const GpbRangesJob *job, uint32 number, GpbTally<N, FLOAT_SUM> *tally)
{
	const GpbPass *pass = &job->pass;
	int64	   *answer = gpb_answer_of(job, number);
	int64		entries = gpb_warp_sum(tally->entries);
	bool		adds = gpb_lane() == 0 && entries > 0;

	if (adds && pass->is_first)
		gpb_atomic_add(&answer[0], entries);
	for (int c = 0; c < N; c++)
	{
		GpbColumnState state = gpb_warp_merge(gpb_running_state(&tally->column[c]));

		if (adds && pass->column[c].want)
			gpb_atomic_add_column(&pass->column[c], answer, &state);
	}
	if (FLOAT_SUM)
		gpb_flush_windows<GPB_WARP>(&tally->window, gpb_float_sum_of(job, number));
	gpb_tally_init(tally);
}

/* ---- its bounds in a leaf ---- */

/*
 * A bound that divides the entries of an index as the given one does, with a tie of zero wherever
 * there is such: that is compared without a look at the rows.  All entries of a key have the same
 * order bit, set or not, but those of the key whose bits NULL shares.
 */
static __device__ __forceinline__ GpbBound
gpb_bound_by_key(const GpbRangesJob *job, GpbBound bound)
{
	GpbKey		most = gpb_key_most(gpb_job_key_width(job));
	bool		nulls_first = (job->layout_flags & GPB_LAYOUT_NULLS_FIRST) != 0;
	bool		above_all = nulls_first ? bound.tie > GPB_TIE_MASK :
		bound.tie >= GPB_LOC_ORDER_BIT;

	if (above_all && bound.key < most)
	{
		bound.key++;
		bound.tie = 0;
	}
	else if (nulls_first && bound.key != 0 && bound.tie <= GPB_LOC_ORDER_BIT)
		bound.tie = 0;
	return bound;
}

/* Is entry i, whose key is given, below the bound? */
static __device__ __forceinline__ bool
gpb_entry_below(const GpbRangesJob *job, const char *page, int i, GpbKey key, GpbBound bound)
{
	if (key != bound.key || bound.tie == 0)
		return key < bound.key;
	return (gpb_row_locator(gpb_page_row(page, job->row_width, i)) & GPB_TIE_MASK) < bound.tie;
}

/*
 * About how far apart keys are; of wide ones in units of 2^64, since no float is as large as 2^128,
 * to which the greatest distances would be rounded.
 */
static __device__ __forceinline__ float
gpb_key_distance(GpbKey distance)
{
#ifdef GPB_CUDA_WIDE
	return (float) gpb_key_upper(distance) + (float) (uint64) distance / 18446744073709551616.0f;
#else
	return (float) distance;
#endif
}

/* Where among the leaf's entries a key would be if they were evenly spread */
static __device__ __forceinline__ int
gpb_guess_position(GpbBound low, GpbBound limit, int count, GpbKey key)
{
	float		share = key <= low.key ? 0.0f : key >= limit.key ? 1.0f :
		gpb_key_distance(key - low.key) / gpb_key_distance(limit.key - low.key);

	return (int) (share * (float) (count - 1));
}

#define GPB_FIRST_STRIDE	4	/* keys of 8 bytes in a memory sector */

/*
 * First entry not below the bound, looked for from a guess on: in doubling steps, then by
 * halves (interpolation search).  Reads two or three sectors where the guess is good, which a
 * binary search of the leaf never does, and few more than that where it is not.
 */
static __device__ __forceinline__ int
gpb_search_from(const GpbRangesJob *job, GpbLeafView leaf, GpbBound bound, int guess)
{
	int			key_width = gpb_job_key_width(job);
	int			low = 0;
	int			high = leaf.count;
	int			stride = GPB_FIRST_STRIDE;
	bool		below = gpb_entry_below(job, leaf.page, guess,
									gpb_page_key(leaf.page, key_width, guess), bound);

	low = below ? guess + 1 : 0;
	high = below ? leaf.count : guess;
	while (low < high)
	{
		int			i = below ? low + stride - 1 : high - stride;
		bool		under;

		if (i >= high || i < low)
			break;
		under = gpb_entry_below(job, leaf.page, i, gpb_page_key(leaf.page, key_width, i), bound);
		if (under)
			low = i + 1;
		else
			high = i;
		if (under != below)
			break;
		stride *= 2;
	}
	while (low < high)
	{
		int			i = (low + high) / 2;

		if (gpb_entry_below(job, leaf.page, i, gpb_page_key(leaf.page, key_width, i), bound))
			low = i + 1;
		else
			high = i;
	}
	return low;
}

#ifdef GPB_CUDA_RUNS

/*
 * How many entries of a leaf that has runs are below the bound.  Out of line: the search of other
 * leaves has the registers.
 */
static __device__ __noinline__ int
gpb_search_runs(const GpbRangesJob *job, const char *page, int count, GpbBound bound)
{
	return gpb_page_lower_bound(page, gpb_job_key_width(job), GPB_RUN_ROW_WIDTH, count, bound);
}

#endif

/*
 * Find the rows of separator i's leaf that are in the range; begins and ends say which of the
 * range's bounds is in the leaf.
 */
static __device__ __forceinline__ void
gpb_find_rows(const GpbRangesJob *job, uint32 i, GpbLeafView leaf, GpbRange range, bool begins,
			  bool ends, GpbRangePlace *place)
{
	GpbBound	first = gpb_separator(&job->separators, i);
	GpbBound	limit = gpb_leaf_limit(&job->separators, i);
	GpbBound	lo = gpb_bound_by_key(job, range.lo);
	GpbBound	hi = gpb_bound_by_key(job, range.hi);
	int			low = 0;
	int			high = leaf.count;

#ifdef GPB_CUDA_RUNS
	if (leaf.runs)
	{
		low = begins ? gpb_search_runs(job, leaf.page, leaf.count, lo) : low;
		high = ends ? gpb_search_runs(job, leaf.page, leaf.count, hi) : high;
		begins = ends = false;
	}
	place->runs = leaf.runs;
#endif
	if (begins && leaf.count > 0)
		low = gpb_search_from(job, leaf, lo,
							  gpb_guess_position(first, limit, leaf.count, lo.key));
	if (ends && leaf.count > 0)
		high = gpb_search_from(job, leaf, hi,
							   gpb_guess_position(first, limit, leaf.count, hi.key));
	place->page = leaf.page;
	place->from = (uint16) low;
	place->to = (uint16) (high > low ? high : low);
}

/* ---- pieces that are not clean ---- */

/*
 * Write the part of a range that separator i's leaf does not answer, all of it if there is no tree,
 * as a piece of the list.
 */
static __device__ void
gpb_write_piece(const GpbRangesJob *job, uint32 number, uint32 i, uint64 place)
{
	GpbRange	range = gpb_range_of(job, number);
	uint32		block = GPB_NO_BLOCK;

	if (job->separators.n > 0)
	{
		GpbBound	low = gpb_separator(&job->separators, i);
		GpbBound	limit = gpb_leaf_limit(&job->separators, i);

		if (gpb_bound_less(range.lo, low))
			range.lo = low;
		if (gpb_bound_less(limit, range.hi))
			range.hi = limit;
		block = job->separators.child[i];
	}
	gpb_put_piece(job->pieces.record, place, gpb_job_key_width(job), range, block, number);
}

/*
 * List, for each lane that wants it, separator's part of the range as one that the device cannot
 * answer.  The whole warp calls.
 */
static __device__ __forceinline__ void
gpb_append_piece(const GpbRangesJob *job, uint32 number, uint32 separator, bool wanted)
{
	uint64		place = gpb_append(&job->counts->nunclean, wanted);

	if (wanted && place < job->pieces.capacity)
	{
		job->pieces.order[place] = (uint64) number << 32 | separator;
		gpb_write_piece(job, number, separator, place);
	}
}

/* ---- tasks ---- */

/* Items [at, end) are this warp's: an equal share of all. */
struct GpbTaskShare
{
	uint64		at;
	uint64		end;
};

/* How many of all tasks a warp gets; the last ones get fewer. */
static __device__ __forceinline__ uint64
gpb_tasks_share(uint64 total)
{
	uint64		warps = (uint64) gridDim.x * GPB_LEAF_WARPS;

	return (total + warps - 1) / warps;
}

/*
 * The warp's share of the tasks.  Warps are numbered across blocks first, so that a few tasks are
 * spread over all multiprocessors.
 */
static __device__ __forceinline__ GpbTaskShare
gpb_tasks_of_warp(uint64 total)
{
	uint64		warp = (uint64) (threadIdx.x / GPB_WARP) * gridDim.x + blockIdx.x;
	uint64		share = gpb_tasks_share(total);
	GpbTaskShare own;

	own.at = warp * share < total ? warp * share : total;
	own.end = own.at + share < total ? own.at + share : total;
	return own;
}

/*
 * The share of a warp where those of a block lie next to each other, so that a block sees the same
 * few groups if neighbouring entries have them.
 */
static __device__ __forceinline__ GpbTaskShare
gpb_tasks_near_block(uint64 total)
{
	uint64		first = total * blockIdx.x / gridDim.x;
	uint64		n = total * (blockIdx.x + 1) / gridDim.x - first;
	uint32		warp = threadIdx.x / GPB_WARP;
	GpbTaskShare own;

	own.at = first + n * warp / GPB_LEAF_WARPS;
	own.end = first + n * (warp + 1) / GPB_LEAF_WARPS;
	return own;
}

/* Has no warp of the block anything in its share of gpb_tasks_near_block()? */
static __device__ __forceinline__ bool
gpb_block_has_no_tasks(uint64 total)
{
	return total * blockIdx.x / gridDim.x == total * (blockIdx.x + 1) / gridDim.x;
}

/* The place in order of the range that a task is of; it is "from" or a later one. */
static __device__ __forceinline__ uint32
gpb_range_of_task(const GpbRangesJob *job, uint64 task, uint32 from)
{
	uint64		step = 1;
	uint64		end;

	while (from + step - 1 < job->n && job->tasks[from + step - 1] <= task)
	{
		from += (uint32) step;
		step *= 2;
	}
	end = from + step - 1 < job->n ? from + step - 1 : job->n - 1;
	while (from < end)
	{
		uint32		mid = (uint32) (from + (end - from) / 2);

		if (job->tasks[mid] <= task)
			from = mid + 1;
		else
			end = mid;
	}
	return from;
}

/*
 * Find the rows of a task of the i-th range, for *place, and its separator; false: the leaf is not
 * clean.
 */
static __device__ __forceinline__ bool
gpb_place_task(const GpbRangesJob *job, uint64 task, uint32 i, uint32 *separator,
			   GpbRangePlace *place)
{
	uint64		before = i > 0 ? job->tasks[i - 1] : 0;
	bool		begins = task == before;
	bool		ends = task + 1 == job->tasks[i];
	GpbLeafView leaf;

	*separator = job->first[i] + (uint32) (task - before);
	leaf = gpb_judge_leaf(job, *separator);
	if (leaf.page == NULL)
		return false;
	place->number = gpb_number_of(job, i);
	gpb_find_rows(job, *separator, leaf, gpb_range_of(job, place->number), begins, ends, place);
	return true;
}

/* The rows of a place as the image of a leaf that ends with them */
static __device__ __forceinline__ GpbLeafView
gpb_view_of_place(GpbRangePlace place)
{
	GpbLeafView leaf;

	leaf.page = place.page;
	leaf.count = place.to;
#ifdef GPB_CUDA_RUNS
	leaf.runs = place.runs;
#endif
	return leaf;
}

/* The width of the rows of a place's leaf */
static __device__ __forceinline__ int
gpb_place_row_width(const GpbRangesJob *job, GpbRangePlace place)
{
#ifdef GPB_CUDA_RUNS
	if (place.runs)
		return GPB_RUN_ROW_WIDTH;
#endif
	(void) place;
	return job->row_width;
}

/* The place that a lane of the warp has; the whole warp calls. */
static __device__ __forceinline__ GpbRangePlace
gpb_place_of_lane(GpbRangePlace place, int lane)
{
	uint32		rows = place.from | (uint32) place.to << 16;
	GpbRangePlace out;

#ifdef GPB_CUDA_RUNS
	rows |= (uint32) place.runs << 15;
#endif
	rows = __shfl_sync(GPB_ALL_LANES, rows, lane);
	out.page = (const char *) __shfl_sync(GPB_ALL_LANES, (unsigned long long) place.page, lane);
#ifdef GPB_CUDA_RUNS
	out.from = (uint16) (rows & 0x7FFF);
	out.runs = (uint16) (rows >> 15 & 1);
#else
	out.from = (uint16) rows;
#endif
	out.to = (uint16) (rows >> 16);
	out.number = __shfl_sync(GPB_ALL_LANES, place.number, lane);
	return out;
}

#endif							/* GPB_PLACES_CUH */
