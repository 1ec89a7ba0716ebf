/*-------------------------------------------------------------------------
 *
 * ranges_kernels.cu
 *	  The kernels of a batch of ranges; see ranges.cuh.
 *
 *		(sort)		many ranges by their lower bounds, see order_ranges
 *		prepare		the summary of the visibility bits; counts at zero
 *		locate		a thread for each range: its first leaf; within it, the rows
 *		(prefix sum of items)
 *		short		four lanes for each range of one leaf
 *		long		the items of all others, a run of them for each warp
 *
 * or, where entries are listed, after the prefix sum:
 *
 *		place		a thread for each item: the rows, and how many of them count
 *		(prefix sum of entries)
 *		list		eight lanes for each item
 *
 *-------------------------------------------------------------------------
 */
#include <cub/device/device_scan.cuh>

#include "device.cuh"
#include "psa.cuh"
#include "ranges.cuh"
#include "rows.cuh"

#define GPB_ANY_WIDTH		0	/* for ROW_WIDTH: rows one by one, of whatever width */

/* ---- a range, and its bounds in a leaf ---- */

/* The number of the range that is i-th in the order in which they are done */
static __device__ __forceinline__ uint32
number_of(const GpbRangesJob *job, uint32 i)
{
	return job->order != NULL ? job->order[i] : i;
}

static __device__ __forceinline__ GpbRange
range_of(const GpbRangesJob *job, uint32 number)
{
	GpbKeyRange keys;

	if (job->points)
		keys.lo = keys.hi = ((const uint64 *) job->ranges)[number];
	else
		keys = ((const GpbKeyRange *) job->ranges)[number];
	return gpb_key_range(keys, job->layout_flags);
}

/*
 * Bounds that divide the entries of an index as the range's do, with ties of zero
 * wherever there are such: those are compared without a look at the rows.  Only the key whose bits
 * NULL shares has entries on both sides of the order bit.
 */
static __device__ __forceinline__ GpbRange
bounds_by_key(const GpbRangesJob *job, GpbRange range)
{
	uint64		most = job->key_width == 8 ? ~(uint64) 0 : 0xFFFFFFFF;

	if (job->layout_flags & GPB_LAYOUT_NULLS_FIRST)
	{
		if (range.lo.key != 0)
			range.lo.tie = 0;
		if (range.hi.key != ~(uint64) 0)
		{
			range.hi.key++;
			range.hi.tie = 0;
		}
	}
	else if (range.hi.key < most)
	{
		range.hi.key++;
		range.hi.tie = 0;
	}
	return range;
}

/* Is entry i, whose key is given, below the bound? */
static __device__ __forceinline__ bool
entry_below(const GpbRangesJob *job, const char *page, int i, uint64 key, GpbBound bound)
{
	if (key != bound.key || bound.tie == 0)
		return key < bound.key;
	return (gpb_row_locator(gpb_page_row(page, job->row_width, i)) & GPB_TIE_MASK) < bound.tie;
}

/* Where among the leaf's entries a key would be if they were evenly spread */
static __device__ __forceinline__ int
guess_position(GpbBound low, GpbBound limit, int count, uint64 key)
{
	float		share = key <= low.key ? 0.0f : key >= limit.key ? 1.0f :
		(float) (key - low.key) / (float) (limit.key - low.key);

	return (int) (share * (float) (count - 1));
}

#define GPB_FIRST_STRIDE	4	/* keys of 8 bytes in a memory sector */

/*
 * First entry not below the bound, looked for from a guess on: in doubling steps, then by
 * halves (interpolation search).  Reads two or three sectors where the guess is good, which a
 * binary search of the leaf never does, and few more than that where it is not.
 */
static __device__ __forceinline__ int
search_from(const GpbRangesJob *job, GpbLeafView leaf, GpbBound bound, int guess)
{
	int			low = 0;
	int			high = leaf.count;
	int			stride = GPB_FIRST_STRIDE;
	bool		below = entry_below(job, leaf.page, guess,
									gpb_page_key(leaf.page, job->key_width, guess), bound);

	low = below ? guess + 1 : 0;
	high = below ? leaf.count : guess;
	while (low < high)
	{
		int			i = below ? low + stride - 1 : high - stride;
		bool		under;

		if (i >= high || i < low)
			break;
		under = entry_below(job, leaf.page, i, gpb_page_key(leaf.page, job->key_width, i), bound);
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

		if (entry_below(job, leaf.page, i, gpb_page_key(leaf.page, job->key_width, i), bound))
			low = i + 1;
		else
			high = i;
	}
	return low;
}

/*
 * The rows of separator i's leaf in the range, by one thread; begins and ends say which of the
 * range's bounds is in the leaf.
 */
static __device__ __forceinline__ void
find_rows(const GpbRangesJob *job, uint32 i, GpbLeafView leaf, GpbRange range, bool begins,
		  bool ends, GpbRangePlace *place)
{
	GpbBound	first = gpb_separator(&job->separators, i);
	GpbBound	limit = gpb_leaf_limit(&job->separators, i);
	int			low = 0;
	int			high = leaf.count;

	range = bounds_by_key(job, range);
	if (begins && leaf.count > 0)
		low = search_from(job, leaf, range.lo,
						  guess_position(first, limit, leaf.count, range.lo.key));
	if (ends && leaf.count > 0)
		high = search_from(job, leaf, range.hi,
						   guess_position(first, limit, leaf.count, range.hi.key));
	place->page = leaf.page;
	place->from = (uint16) low;
	place->to = (uint16) (high > low ? high : low);
}

/* ---- answers ---- */

/* Of a range that nobody else adds to */
static __device__ void
store_answer(const GpbRangesJob *job, uint32 number, int64 entries, const GpbColumnState *state)
{
	int64	   *word = job->answers + (uint64) number * job->words;
	int			want = job->column[0].want;

	*word++ = entries;
	if (want & GPB_WANT_COUNT)
		*word++ = state->count;
	if (want & GPB_WANT_SUM)
	{
		*word++ = (int64) state->sum_low;
		*word++ = state->sum_high;
	}
	if (want & GPB_WANT_MINMAX)
	{
		*word++ = state->min;
		*word++ = state->max;
	}
}

static __device__ void
store_empty_answer(const GpbRangesJob *job, uint32 number)
{
	GpbColumnState state;

	gpb_column_state_init(&state);
	store_answer(job, number, 0, &state);
}

/* A part of a range whose parts several warps have; the carry as in gpb_atomic_add_state. */
static __device__ void
add_to_answer(const GpbRangesJob *job, uint32 number, int64 entries, const GpbColumnState *state)
{
	int64	   *word = job->answers + (uint64) number * job->words;
	int			want = job->column[0].want;

	gpb_atomic_add(word++, entries);
	if (want & GPB_WANT_COUNT)
		gpb_atomic_add(word++, state->count);
	if (want & GPB_WANT_SUM)
	{
		uint64		before = atomicAdd((unsigned long long *) word,
									   (unsigned long long) state->sum_low);

		gpb_atomic_add(word + 1, state->sum_high + (before + state->sum_low < before));
		word += 2;
	}
	if ((want & GPB_WANT_MINMAX) && state->count > 0)
	{
		atomicMin((long long *) word, (long long) state->min);
		atomicMax((long long *) word + 1, (long long) state->max);
	}
}

/* ---- lists ---- */

/* Entry i of the page as a record of the list, with its heap TID to sort by, if it is sorted */
static __device__ void
write_entry(const GpbRangesJob *job, uint32 number, uint32 flags, const char *page, int i,
			uint64 place)
{
	int			width = gpb_range_entry_width(job->row_width);
	const uint32 *row = (const uint32 *) gpb_page_row(page, job->row_width, i);
	uint64	   *record = (uint64 *) (job->heap.record + place * width);
	uint32	   *into = (uint32 *) (record + 2);
	int			words = (width - 16) / 4;

	if (!job->list_entries)
		job->heap.order[place] = gpb_load64(row) & GPB_TID_MASK;
	record[0] = number | (uint64) flags << 32;
	record[1] = gpb_page_key(page, job->key_width, i);
	for (int w = 0; w < words; w++)
		into[w] = w * 4 < job->row_width ? row[w] : 0;
}

/* As gpb_append_heap, for the lane's range */
static __device__ __noinline__ void
append_entries(const GpbRangesJob *job, uint32 number, const char *page, int first, int step,
			   uint32 wanted)
{
	for (int u = 0; __any_sync(GPB_ALL_LANES, (wanted >> u) != 0); u++)
	{
		bool		this_one = (wanted >> u) & 1;
		uint64		place = gpb_append(&job->counts->nentries, this_one);

		if (this_one && place < job->heap.capacity)
			write_entry(job, number, 0, page, first + u * step, place);
	}
}

struct RangeLister
{
	const GpbRangesJob *job;
	uint32		number;			/* of the lane's range */

	__device__ __forceinline__ void
	operator()(const char *page, int first, int step, uint32 wanted) const
	{
		append_entries(job, number, page, first, step, wanted);
	}
};

/* The part of a range that separator i's leaf does not answer; all of it if there is no tree. */
static __device__ GpbUncleanPiece
unclean_piece(const GpbRangesJob *job, uint32 number, uint32 i)
{
	GpbUncleanPiece piece;

	piece.range = range_of(job, number);
	piece.number = number;
	piece.block = GPB_NO_BLOCK;
	if (job->separators.n > 0)
	{
		GpbBound	low = gpb_separator(&job->separators, i);
		GpbBound	limit = gpb_leaf_limit(&job->separators, i);

		if (gpb_bound_less(piece.range.lo, low))
			piece.range.lo = low;
		if (gpb_bound_less(limit, piece.range.hi))
			piece.range.hi = limit;
		piece.block = job->separators.child[i];
	}
	return piece;
}

/* The whole warp calls. */
static __device__ __forceinline__ void
append_piece(const GpbRangesJob *job, uint32 number, uint32 separator, bool wanted)
{
	uint64		place = gpb_append(&job->counts->nunclean, wanted);

	if (wanted && place < job->unclean.capacity)
	{
		job->unclean.order[place] = (uint64) number << 32 | separator;
		((GpbUncleanPiece *) job->unclean.record)[place] = unclean_piece(job, number, separator);
	}
}

/* ---- sort ---- */

/* Where each range begins, from the tree's smallest key on */
static __global__ void __launch_bounds__(GPB_LEAF_THREADS)
lower_bounds(const __grid_constant__ GpbRangesJob job, uint64 base, uint64 most, uint64 *lower)
{
	uint32		i = blockIdx.x * GPB_LEAF_THREADS + threadIdx.x;

	if (i < job.n)
	{
		uint64		key = job.points ? ((const uint64 *) job.ranges)[i] :
			((const GpbKeyRange *) job.ranges)[i].lo;

		key = key < base ? base : key > most ? most : key;
		lower[i] = key - base;
	}
}

/* ---- prepare ---- */

static __global__ void __launch_bounds__(GPB_LEAF_THREADS)
prepare_ranges(const __grid_constant__ GpbRangesJob job, uint32 *summary)
{
	if (blockIdx.x == 0 && threadIdx.x == 0)
	{
		job.counts->leaves = 0;
		job.counts->nunclean = 0;
		job.counts->nentries = 0;
		job.counts->nitems = 0;
	}
	gpb_summarize_visibility(&job, summary, blockIdx.x * GPB_LEAF_THREADS + threadIdx.x);
}

/* ---- locate ---- */

/* What one thread finds about its range */
struct Located
{
	uint32		first;			/* separator */
	uint64		items;
	bool		clean;			/* place is in a clean leaf */
	bool		unclean;		/* the only leaf is not clean, or there is no tree */
	GpbRangePlace place;
};

static __device__ __forceinline__ void
locate_range(const GpbRangesJob *job, uint32 number, Located *located)
{
	GpbRange	range = range_of(job, number);
	const GpbSeparators *separators = &job->separators;
	GpbLeafView leaf;

	if (!gpb_bound_less(range.lo, range.hi))
		return;
	if (separators->n == 0)
	{
		located->unclean = true;
		return;
	}
	located->first = gpb_last_separator(&job->tree, separators, range.lo);
	if (job->list_entries || gpb_bound_less(gpb_leaf_limit(separators, located->first), range.hi))
	{
		uint32		last = gpb_gallop_separators(separators, located->first, range.hi, false);

		located->items = (uint64) last - located->first + 1;
		return;
	}
	leaf = gpb_judge_leaf(job, located->first);
	located->clean = leaf.page != NULL;
	located->unclean = leaf.page == NULL;
	if (located->clean)
		find_rows(job, located->first, leaf, range, true, true, &located->place);
}

/*
 * Where each range is.  What no other kernel will answer, because nothing of it
 * is in a clean leaf or because its answer is added up from items, gets an empty answer.
 */
static __global__ void __launch_bounds__(GPB_LEAF_THREADS)
locate_ranges(const __grid_constant__ GpbRangesJob job)
{
	__shared__ uint32 leaves;
	uint32		i = blockIdx.x * GPB_LEAF_THREADS + threadIdx.x;
	uint32		number = 0;
	Located		located = {};

	if (threadIdx.x == 0)
		leaves = 0;
	__syncthreads();
	if (i < job.n)
	{
		number = number_of(&job, i);
		locate_range(&job, number, &located);
		if (located.place.from == located.place.to)
			located.place = {};	/* no quad of it is to be read */
		located.place.number = number;
		job.first[i] = located.first;
		job.items[i] = located.items;
		if (!job.list_entries)
		{
			job.place[i] = located.place;
			if (located.place.page == NULL)
				store_empty_answer(&job, number);
		}
	}
	append_piece(&job, number, located.first, located.unclean);
	uint32		clean = __ballot_sync(GPB_ALL_LANES, located.clean);

	if (gpb_lane() == 0 && clean != 0)
		atomicAdd(&leaves, (uint32) __popc(clean));
	__syncthreads();
	if (threadIdx.x == 0)
		gpb_atomic_add(&job.counts->leaves, (uint64) leaves);
}

/* ---- short ---- */

#define GPB_RANGE_LANES		8	/* for an item to be listed */
#define GPB_SHORT_LANES		4	/* for a range of one leaf */

/* The sum of what the lanes of a range have, and no more of it than is wanted */
static __device__ __forceinline__ GpbColumnState
merge_short(const GpbRangesJob *job, const GpbRunning *running)
{
	GpbColumnState state;

	if (job->column[0].want & GPB_WANT_MINMAX)
		return gpb_lanes_merge<GPB_SHORT_LANES>(gpb_running_state(running));
	state = gpb_running_state(running);
	for (int lanes = GPB_SHORT_LANES / 2; lanes > 0; lanes /= 2)
	{
		uint64		low = (uint64) gpb_shuffle_xor((int64) state.sum_low, lanes);
		int32		high = __shfl_xor_sync(GPB_ALL_LANES, (int32) state.sum_high, lanes);

		state.count += __shfl_xor_sync(GPB_ALL_LANES, (uint32) state.count, lanes);
		state.sum_low += low;
		state.sum_high += high + (state.sum_low < low);
	}
	return state;
}

/* Four lanes for each range of one leaf, a quad each at a time where rows are narrow */
template <int ROW_WIDTH>
static __global__ void __launch_bounds__(GPB_LEAF_THREADS)
aggregate_short_ranges(const __grid_constant__ GpbRangesJob job)
{
	uint32		i = (uint32) ((blockIdx.x * (uint64) GPB_LEAF_THREADS + threadIdx.x) /
							  GPB_SHORT_LANES);
	int			lane = threadIdx.x % GPB_SHORT_LANES;
	GpbRangePlace place = {};
	GpbTally<1, false> tally;
	uint32		entries;
	GpbColumnState state;

	gpb_tally_init(&tally);
	if (i < job.n)
		place = job.place[i];

	RangeLister list = {&job, place.number};
	GpbLeafView leaf = {place.page, place.to};

	/* lanes whose range is done go along with the others of their warp */
	if constexpr (ROW_WIDTH == GPB_ANY_WIDTH)
	{
		for (int first = place.from + lane; __any_sync(GPB_ALL_LANES, first < place.to);
			 first += GPB_SHORT_LANES)
		{
			GpbEntryValues<1> entry;
			bool		present = first < place.to;

			entry.locator = 0;
			entry.value[0] = 0;
			if (present)
				gpb_fetch_entry(&job, place.page,
								gpb_page_row(place.page, job.row_width, first), first, &entry);
			gpb_take<1>(&job, place.page, &entry, first, 1, (uint32) present, &tally,
						(GpbFloatSum *) NULL, list);
		}
	}
	else
	{
		for (int first = (place.from / GPB_QUAD + lane) * GPB_QUAD;
			 __any_sync(GPB_ALL_LANES, first < place.to); first += GPB_QUAD * GPB_SHORT_LANES)
			gpb_take_quad<ROW_WIDTH / 4>(&job, leaf, place.from, first, &tally,
										 (GpbFloatSum *) NULL, list);
	}
	entries = tally.entries;
	for (int lanes = GPB_SHORT_LANES / 2; lanes > 0; lanes /= 2)
		entries += __shfl_xor_sync(GPB_ALL_LANES, entries, lanes);
	state = merge_short(&job, &tally.column[0]);
	if (place.page != NULL && lane == 0)
		store_answer(&job, place.number, entries, &state);
}

/* ---- items ---- */

/* Items [at, end) are this warp's: an equal share of all. */
struct ItemRun
{
	uint64		at;
	uint64		end;
};

static __device__ __forceinline__ ItemRun
items_of_warp(uint64 total)
{
	uint64		warps = (uint64) gridDim.x * GPB_LEAF_WARPS;
	uint64		warp = (uint64) (threadIdx.x / GPB_WARP) * gridDim.x + blockIdx.x;
	uint64		share = (total + warps - 1) / warps;
	ItemRun		run;

	run.at = warp * share < total ? warp * share : total;
	run.end = run.at + share < total ? run.at + share : total;
	return run;
}

/* Which range in order an item is of; it is the one at "from" or a later one. */
static __device__ __forceinline__ uint32
range_of_item(const GpbRangesJob *job, uint64 item, uint32 from)
{
	uint64		step = 1;
	uint64		end;

	while (from + step - 1 < job->n && job->items[from + step - 1] <= item)
	{
		from += (uint32) step;
		step *= 2;
	}
	end = from + step - 1 < job->n ? from + step - 1 : job->n - 1;
	while (from < end)
	{
		uint32		mid = (uint32) (from + (end - from) / 2);

		if (job->items[mid] <= item)
			from = mid + 1;
		else
			end = mid;
	}
	return from;
}

/*
 * The rows of an item of the i-th range, in *place; false: the leaf is not clean.  *separator
 * becomes the leaf's.
 */
static __device__ __forceinline__ bool
place_item(const GpbRangesJob *job, uint64 item, uint32 i, uint32 *separator,
		   GpbRangePlace *place)
{
	uint64		before = i > 0 ? job->items[i - 1] : 0;
	bool		begins = item == before;
	bool		ends = item + 1 == job->items[i];
	GpbLeafView leaf;

	*separator = job->first[i] + (uint32) (item - before);
	leaf = gpb_judge_leaf(job, *separator);
	if (leaf.page == NULL)
		return false;
	place->number = number_of(job, i);
	find_rows(job, *separator, leaf, range_of(job, place->number), begins, ends, place);
	return true;
}

static __device__ __forceinline__ GpbRangePlace
place_of_lane(GpbRangePlace place, int lane)
{
	uint32		rows = place.from | (uint32) place.to << 16;
	GpbRangePlace out;

	rows = __shfl_sync(GPB_ALL_LANES, rows, lane);
	out.page = (const char *) __shfl_sync(GPB_ALL_LANES, (unsigned long long) place.page, lane);
	out.from = (uint16) rows;
	out.to = (uint16) (rows >> 16);
	out.number = __shfl_sync(GPB_ALL_LANES, place.number, lane);
	return out;
}

/* ---- long ---- */

/* Add what the warp has of a range to its answer, and begin another. */
static __device__ __forceinline__ void
flush_tally(const GpbRangesJob *job, uint32 number, GpbTally<1, false> *tally)
{
	int64		entries = gpb_warp_sum(tally->entries);
	GpbColumnState state = gpb_warp_merge(gpb_running_state(&tally->column[0]));

	if (gpb_lane() == 0 && entries > 0)
		add_to_answer(job, number, entries, &state);
	gpb_tally_init(tally);
}

/*
 * A warp takes its items several at a time: a lane for each finds its rows, then all lanes
 * read them together.
 */
template <int ROW_WIDTH>
static __global__ void __launch_bounds__(GPB_LEAF_THREADS, GPB_LEAF_BLOCKS)
aggregate_long_ranges(const __grid_constant__ GpbRangesJob job)
{
	ItemRun		run = items_of_warp(job.items[job.n - 1]);
	GpbTally<1, false> tally;
	RangeLister list = {&job, 0};
	uint64		leaves = 0;
	uint32		i = 0;			/* this lane's item is of the i-th range */

	if (run.at >= run.end)
		return;
	gpb_tally_init(&tally);
	for (; run.at < run.end; run.at += GPB_LEAVES_AT_ONCE)
	{
		uint64		mine = run.at + gpb_lane();
		bool		here = gpb_lane() < GPB_LEAVES_AT_ONCE && mine < run.end;
		uint32		from = __shfl_sync(GPB_ALL_LANES, i, 0);
		uint32		separator = 0;
		GpbRangePlace place = {};
		bool		clean = false;

		if (here)
		{
			i = range_of_item(&job, mine, from);
			clean = place_item(&job, mine, i, &separator, &place);
		}
		append_piece(&job, here ? number_of(&job, i) : 0, separator, here && !clean);
		leaves += __popc(__ballot_sync(GPB_ALL_LANES, clean));
		for (uint32 todo = __ballot_sync(GPB_ALL_LANES, place.from < place.to); todo != 0;
			 todo &= todo - 1)
		{
			GpbRangePlace next = place_of_lane(place, __ffs(todo) - 1);
			GpbLeafView leaf = {next.page, next.to};

			if (next.number != list.number)
				flush_tally(&job, list.number, &tally);
			list.number = next.number;
			if constexpr (ROW_WIDTH == GPB_ANY_WIDTH)
				gpb_walk_rows<false>(&job, leaf, next.from, &tally, (GpbFloatSum *) NULL, list);
			else
				gpb_walk_quads<ROW_WIDTH>(&job, leaf, next.from, &tally, (GpbFloatSum *) NULL,
										  list);
		}
	}
	flush_tally(&job, list.number, &tally);
	if (gpb_lane() == 0)
		gpb_atomic_add(&job.counts->leaves, leaves);
}

/* ---- place ---- */

/* Entries of the place that are not hinted dead; the whole warp calls. */
static __device__ __forceinline__ uint32
count_live(const GpbRangesJob *job, GpbRangePlace place)
{
	uint32		live = 0;

	for (int base = place.from; base < place.to; base += GPB_WARP)
	{
		int			i = base + gpb_lane();
		bool		alive = i < place.to &&
			(gpb_row_locator(gpb_page_row(place.page, job->row_width, i)) & job->dead_mask) == 0;

		live += __popc(__ballot_sync(GPB_ALL_LANES, alive));
	}
	return live;
}

/*
 * Each item's place, and in live[] its entries to list.  Rows are looked at only where
 * the page says that hints are set; list_items overlooks the others as well.
 */
static __global__ void __launch_bounds__(GPB_LEAF_THREADS, GPB_LEAF_BLOCKS)
place_items(const __grid_constant__ GpbRangesJob job)
{
	uint64		total = job.items[job.n - 1];
	ItemRun		run = items_of_warp(total < job.item_capacity ? total : job.item_capacity);
	uint64		leaves = 0;
	uint32		i = 0;

	for (; run.at < run.end; run.at += GPB_WARP)
	{
		uint64		mine = run.at + gpb_lane();
		bool		here = mine < run.end;
		uint32		from = __shfl_sync(GPB_ALL_LANES, i, 0);
		uint32		separator = 0;
		GpbRangePlace place = {};
		bool		clean = false;
		uint32		live;

		if (here)
		{
			i = range_of_item(&job, mine, from);
			clean = place_item(&job, mine, i, &separator, &place);
		}
		append_piece(&job, here ? number_of(&job, i) : 0, separator, here && !clean);
		leaves += __popc(__ballot_sync(GPB_ALL_LANES, clean));
		live = (uint32) (place.to - place.from);
		for (uint32 hinted = __ballot_sync(GPB_ALL_LANES, clean && job.dead_mask != 0 &&
										   (gpb_page_special(place.page)->flags &
											GPB_PAGE_HAS_DEAD) != 0);
			 hinted != 0; hinted &= hinted - 1)
		{
			int			lane = __ffs(hinted) - 1;
			uint32		counted = count_live(&job, place_of_lane(place, lane));

			if (gpb_lane() == lane)
				live = counted;
		}
		if (here)
		{
			job.place[mine] = place;
			job.live[mine] = live;
		}
	}
	if (gpb_lane() == 0)
		gpb_atomic_add(&job.counts->leaves, leaves);
}

/* ---- list ---- */

static __global__ void __launch_bounds__(GPB_LEAF_THREADS, GPB_LEAF_BLOCKS)
list_items(const __grid_constant__ GpbRangesJob job)
{
	uint64		total = job.items[job.n - 1];
	uint64		items = total < job.item_capacity ? total : job.item_capacity;
	ItemRun		run = items_of_warp(items);
	int			group = gpb_lane() / GPB_RANGE_LANES;
	int			lane = gpb_lane() % GPB_RANGE_LANES;

	if (blockIdx.x == 0 && threadIdx.x == 0)
	{
		job.counts->nitems = total;
		job.counts->nentries = items > 0 ? job.live[items - 1] : 0;
	}
	for (; run.at < run.end; run.at += GPB_WARP / GPB_RANGE_LANES)
	{
		uint64		mine = run.at + group;
		GpbRangePlace place = {};
		uint64		into = 0;
		bool		hints = false;

		if (mine < run.end)
		{
			place = job.place[mine];
			into = mine > 0 ? job.live[mine - 1] : 0;
		}
		if (place.page != NULL)
			hints = (gpb_page_special(place.page)->flags & GPB_PAGE_HAS_DEAD) != 0;
		for (int base = place.from; __any_sync(GPB_ALL_LANES, base < place.to);
			 base += GPB_RANGE_LANES)
		{
			int			i = base + lane;
			uint64		locator = i < place.to ?
				gpb_row_locator(gpb_page_row(place.page, job.row_width, i)) : 0;
			bool		wanted = i < place.to && (!hints || (locator & job.dead_mask) == 0);
			uint32		lanes = __ballot_sync(GPB_ALL_LANES, wanted) >>
				(group * GPB_RANGE_LANES) & ((1u << GPB_RANGE_LANES) - 1);
			uint64		at = into + __popc(lanes & ((1u << lane) - 1));

			if (wanted && at < job.heap.capacity)
				write_entry(&job, place.number,
							gpb_block_all_visible(&job, gpb_locator_block(locator)) ?
							GPB_RANGE_ENTRY_VISIBLE : 0, place.page, i, at);
			into += __popc(lanes);
		}
	}
}

/* ---- host ---- */

typedef void (*RangesKernel) (GpbRangesJob);

/* By words of a row, as leaves.cu chooses; then those of lists */
#define GPB_LONG_KERNELS	4

static const RangesKernel kernels[GPB_RANGES_KERNELS] = {
	aggregate_long_ranges<GPB_ANY_WIDTH>,
	aggregate_long_ranges<8>,
	aggregate_long_ranges<12>,
	aggregate_long_ranges<16>,
	place_items,
	list_items
};

GpbDeviceStatus
gpb_ranges_plan(GpbDevice *device)
{
	int			i;

	for (i = 0; i < GPB_RANGES_KERNELS; i++)
	{
		int			blocks = 0;

		GPB_TRY_CUDA(device,
					 cudaOccupancyMaxActiveBlocksPerMultiprocessor(&blocks, kernels[i],
																   GPB_LEAF_THREADS, 0));
		device->ranges_blocks[i] = (uint32) ((blocks > 0 ? blocks : 1) *
											 device->info.multiprocessors);
	}
	return GPB_DEVICE_OK;
}

/* In place */
static cudaError_t
prefix_sum(void *scan, size_t *scan_size, uint64 *sums, uint64 n, cudaStream_t stream)
{
	return cub::DeviceScan::InclusiveSum(scan, *scan_size, sums, sums, (int) n, stream);
}

GpbDeviceStatus
gpb_ranges_scan_size(GpbDevice *device, uint32 n, uint64 items, size_t *size)
{
	size_t		of_items = 0;

	*size = 0;
	GPB_TRY(gpb_check(device, prefix_sum(NULL, size, NULL, n, NULL), "planning a prefix sum"));
	GPB_TRY(gpb_check(device, prefix_sum(NULL, &of_items, NULL, items, NULL),
					  "planning a prefix sum"));
	if (of_items > *size)
		*size = of_items;
	return GPB_DEVICE_OK;
}

/* One of kernels[], on a grid that fills the device */
static GpbDeviceStatus
run_on_all(GpbDevice *device, cudaStream_t stream, int kernel, const GpbRangesJob *job)
{
	return gpb_launch_on(device, stream, "ranges", device->ranges_blocks[kernel],
						 GPB_LEAF_THREADS, kernels[kernel], *job);
}

static const RangesKernel short_kernels[GPB_LONG_KERNELS] = {
	aggregate_short_ranges<GPB_ANY_WIDTH>,
	aggregate_short_ranges<8>,
	aggregate_short_ranges<12>,
	aggregate_short_ranges<16>
};

static GpbDeviceStatus
run_aggregates(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job)
{
	uint32		blocks = (uint32) (((uint64) job->n * GPB_SHORT_LANES + GPB_LEAF_THREADS - 1) /
								   GPB_LEAF_THREADS);
	bool		by_rows = device->variant == GPB_LEAF_ROWS || job->row_width > 16;
	int			kernel = by_rows ? 0 : job->row_width / 4 - 1;

	GPB_TRY(gpb_launch_on(device, stream, "aggregate_short_ranges", blocks, GPB_LEAF_THREADS,
						  short_kernels[kernel], *job));
	return run_on_all(device, stream, kernel, job);
}

static GpbDeviceStatus
run_lists(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job, void *scan,
		  size_t scan_size)
{
	/* the sum runs over all items there is room for */
	GPB_TRY_CUDA(device, cudaMemsetAsync(job->live, 0, job->item_capacity * sizeof(uint64),
										 stream));
	GPB_TRY(run_on_all(device, stream, GPB_LONG_KERNELS, job));
	GPB_TRY(gpb_check(device, prefix_sum(scan, &scan_size, job->live, job->item_capacity,
										 stream), "prefix sum of entries"));
	return run_on_all(device, stream, GPB_LONG_KERNELS + 1, job);
}

/*
 * The order in which the ranges are done: near each other where they lie so, by the top bits
 * of their lower bounds, as keys that are searched for.
 */
GpbDeviceStatus
gpb_ranges_order(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
				 const GpbTreeProfile *profile, GpbSortMemory *sort)
{
	GpbSortPlan plan = gpb_sort_plan(profile, job->separators.n, sizeof(uint64));
	uint32		blocks = (uint32) (((uint64) job->n + GPB_LEAF_THREADS - 1) / GPB_LEAF_THREADS);
	uint64	   *lower = (uint64 *) sort->clamped.data;

	GPB_TRY(gpb_launch_on(device, stream, "lower_bounds", blocks, GPB_LEAF_THREADS, lower_bounds,
						  *job, (uint64) plan.low, (uint64) plan.high, lower));
	/* two passes even if one would do for tiles: neighbours should share leaves */
	plan.first_bit = plan.end_bit > 16 ? plan.end_bit - 16 : 0;
	plan.clamp = false;
	return gpb_sort_keys(device, stream, sort, &plan, sizeof(uint64), lower, 0, job->n,
						 (uint32 *) sort->order.data);
}

GpbDeviceStatus
gpb_ranges_run(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job, void *scan,
			   size_t scan_size)
{
	uint32		groups = gpb_summary_words(job->heap_blocks) * 32;
	uint32		blocks = (uint32) (((uint64) job->n + GPB_LEAF_THREADS - 1) / GPB_LEAF_THREADS);

	GPB_TRY(gpb_launch_on(device, stream, "prepare_ranges",
						  1 + groups / GPB_LEAF_THREADS, GPB_LEAF_THREADS, prepare_ranges, *job,
						  (uint32 *) job->all_visible));
	GPB_TRY(gpb_launch_on(device, stream, "locate_ranges", blocks, GPB_LEAF_THREADS,
						  locate_ranges, *job));
	GPB_TRY(gpb_check(device, prefix_sum(scan, &scan_size, job->items, job->n, stream),
					  "prefix sum of items"));
	if (job->list_entries)
		return run_lists(device, stream, job, scan, scan_size);
	return run_aggregates(device, stream, job);
}
