/*-------------------------------------------------------------------------
 *
 * ranges_judged.cu
 *	  A list by a program with steps, or with a limit, over the tasks of ranges; see program.cuh.
 *
 *		begin, rank, (count, choose) often		with a limit: the greatest rank that is listed
 *		place		a warp for each task: its rows, and how many of them are to be listed
 *		(prefix sum of entries)
 *		list		a warp for each task that has some
 *
 * An entry is judged by place and by list, which agree.  Nothing is kept of it in between: a warp
 * reads a leaf faster than it would write and read what it found.
 *
 * The limit's last entry is looked for among the ranks of entries that count, or of as many of them
 * as there is room for: the last one of these is not before it, so the list has all that it must.
 *
 *-------------------------------------------------------------------------
 */
#include "device.cuh"
#include "evaluate.cuh"
#include "ranks.cuh"

/* ---- judging ---- */

/* What is known of a lane's entries, bit u of its u-th */
struct Judged
{
	uint32		listed;
	uint32		faulted;
	uint32		seen;
};

/*
 * Judge up to GPB_PROGRAM_ROWS entries of each lane, entry first + u * GPB_WARP below "to" being
 * the lane's u-th.  Their ranks are set if there is a limit.  The whole warp calls.
 */
static __device__ __forceinline__ Judged
judge_rows(const GpbRangesJob *job, const GpbListJob *list, GpbRangePlace place, int first,
		   GpbLaneValues *values, uint64 *rank)
{
	GpbLeafView leaf = gpb_view_of_place(place);
	int			to = leaf.count;
	GpbEntryValues<1> entry[GPB_PROGRAM_ROWS];
	uint64		locator[GPB_PROGRAM_ROWS];
	GpbEvaluated out = {0, 0};
	uint32		present = 0;
	uint32		kept;
	Judged		judged = {0, 0, 0};

#ifdef GPB_CUDA_RUNS
	gpb_load_locators(job, leaf, first, locator);
#endif
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		int			i = first + u * GPB_WARP;

#ifndef GPB_CUDA_RUNS
		locator[u] = i < to ? gpb_row_locator(gpb_page_row(leaf.page, job->row_width, i)) : 0;
#endif
		entry[u].locator = locator[u];
		if (i < to && (locator[u] & job->pass.dead_mask) == 0)
			present |= 1u << u;
	}
	if (!__any_sync(GPB_ALL_LANES, present != 0))
		return judged;
	out = gpb_evaluate(job, &list->code, leaf.page, first, GPB_WARP, locator, present, values);
	judged.listed = (out.live | out.faults) & present;
	judged.faulted = out.faults & present;
	if (!__any_sync(GPB_ALL_LANES, judged.listed != 0))
		return judged;
	if (list->limited)
	{
		GpbOperand	order;

		gpb_get_operand(&list->code, values, list->order, &order);
#pragma unroll
		for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
			rank[u] = judged.faulted >> u & 1 ? GPB_FAULTED_RANK :
				gpb_list_rank(list->descending, list->nulls_first, order.word[u],
							  order.nulls >> u & 1);
	}
	kept = judged.listed;
	judged.seen = gpb_see_entries<GPB_PROGRAM_ROWS, 1>(job, entry, &kept);
	return judged;
}

/* Drop entries that are behind the limit. */
static __device__ __forceinline__ uint32
drop_behind(const GpbListJob *list, uint32 listed, const uint64 *rank)
{
	uint64		last;

	if (!list->limited)
		return listed;
	last = list->ranks->last;
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		if (rank[u] > last)
			listed &= ~(1u << u);
	}
	return listed;
}

/* ---- the limit ---- */

/* Append the ranks of the lane's entries whose bits are set.  The whole warp calls. */
static __device__ __forceinline__ void
append_ranks(const GpbListJob *list, uint32 wanted, const uint64 *rank)
{
	GpbRanks   *ranks = list->ranks;
	uint32		total = 0;
	unsigned long long at = 0;

#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
		total += __popc(__ballot_sync(GPB_ALL_LANES, wanted >> u & 1));
	if (total == 0)
		return;
	if (gpb_lane() == 0)
		at = atomicAdd((unsigned long long *) &ranks->n, (unsigned long long) total);
	at = __shfl_sync(GPB_ALL_LANES, at, 0);
#pragma unroll
	for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
	{
		uint32		lanes = __ballot_sync(GPB_ALL_LANES, wanted >> u & 1);
		uint64		place = at + __popc(lanes & ((1u << gpb_lane()) - 1));

		if ((wanted >> u & 1) && place < list->rank_capacity)
			list->rank[place] = rank[u];
		at += __popc(lanes);
	}
}

/* The ranks of all entries that count for the limit */
static __global__ void
__launch_bounds__(GPB_LEAF_THREADS, GPB_PROGRAM_BLOCKS)
rank_tasks(const __grid_constant__ GpbRangesJob job, const __grid_constant__ GpbListJob list)
{
	GpbLaneValues values;
	long long	least = gpb_signed_rank(~(uint64) 0);
	long long	greatest = gpb_signed_rank(0);

	(void) gpb_visit_tasks(&job, gpb_tasks_of_warp(job.tasks[job.n - 1]), [&](GpbRangePlace place)
	{
		for (int base = place.from; base < place.to; base += GPB_PROGRAM_ROWS * GPB_WARP)
		{
			uint64		rank[GPB_PROGRAM_ROWS] = {};
			Judged		judged = judge_rows(&job, &list, place, base + gpb_lane(), &values, rank);
			uint32		counted = judged.listed & judged.seen & ~judged.faulted;

			append_ranks(&list, counted, rank);
#pragma unroll
			for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
			{
				long long	value = gpb_signed_rank(rank[u]);

				if ((counted >> u & 1) == 0)
					continue;
				least = value < least ? value : least;
				greatest = value > greatest ? value : greatest;
			}
		}
	});
	if (least > greatest)
		return;
	atomicMin(&list.ranks->least, least);
	atomicMax(&list.ranks->greatest, greatest);
}

/* ---- place ---- */

/* How many entries of the place are to be listed; the whole warp calls. */
static __device__ __forceinline__ uint32
count_listed(const GpbRangesJob *job, const GpbListJob *list, GpbRangePlace place,
			 GpbLaneValues *values)
{
	uint32		listed = 0;

	for (int base = place.from; base < place.to; base += GPB_PROGRAM_ROWS * GPB_WARP)
	{
		uint64		rank[GPB_PROGRAM_ROWS] = {};
		Judged		judged = judge_rows(job, list, place, base + gpb_lane(), values, rank);

		listed += __popc(drop_behind(list, judged.listed, rank));
	}
	for (int lanes = GPB_WARP / 2; lanes > 0; lanes /= 2)
		listed += __shfl_xor_sync(GPB_ALL_LANES, listed, lanes);
	return listed;
}

/* Find each task's place, for place[], and how many of its entries are to be listed, for live[]. */
static __global__ void
__launch_bounds__(GPB_LEAF_THREADS, GPB_PROGRAM_BLOCKS)
place_judged(const __grid_constant__ GpbRangesJob job, const __grid_constant__ GpbListJob list)
{
	uint64		total = job.tasks[job.n - 1];
	GpbTaskShare own = gpb_tasks_of_warp(total < job.task_capacity ? total : job.task_capacity);
	GpbLaneValues values;
	uint64		leaves = 0;
	uint32		i = 0;

	for (; own.at < own.end; own.at += GPB_LEAVES_AT_ONCE)
	{
		uint64		mine = own.at + gpb_lane();
		bool		here = gpb_lane() < GPB_LEAVES_AT_ONCE && mine < own.end;
		uint32		from = __shfl_sync(GPB_ALL_LANES, i, 0);
		uint32		separator = 0;
		GpbRangePlace place = {};
		bool		clean = false;
		uint32		listed = 0;

		if (here)
		{
			i = gpb_range_of_task(&job, mine, from);
			clean = gpb_place_task(&job, mine, i, &separator, &place);
		}
		gpb_append_piece(&job, here ? gpb_number_of(&job, i) : 0, separator, here && !clean);
		leaves += __popc(__ballot_sync(GPB_ALL_LANES, clean));
		for (uint32 todo = __ballot_sync(GPB_ALL_LANES, place.from < place.to); todo != 0;
			 todo &= todo - 1)
		{
			int			lane = __ffs(todo) - 1;
			uint32		counted = count_listed(&job, &list, gpb_place_of_lane(place, lane),
											   &values);

			if (gpb_lane() == lane)
				listed = counted;
		}
		if (here)
		{
			job.place[mine] = place;
			job.live[mine] = listed;
		}
	}
	if (gpb_lane() == 0)
		gpb_atomic_add(&job.counts->leaves, leaves);
}

/* ---- list ---- */

/* Write the entries of a place that are to be listed, from number "into" on. */
static __device__ __forceinline__ void
list_place(const GpbRangesJob *job, const GpbListJob *list, GpbRangePlace place, uint64 into,
		   GpbLaneValues *values)
{
	for (int base = place.from; base < place.to; base += GPB_PROGRAM_ROWS * GPB_WARP)
	{
		int			first = base + gpb_lane();
		uint64		rank[GPB_PROGRAM_ROWS] = {};
		Judged		judged = judge_rows(job, list, place, first, values, rank);
		uint32		listed = drop_behind(list, judged.listed, rank);

		for (int u = 0; u < GPB_PROGRAM_ROWS; u++)
		{
			bool		wanted = listed >> u & 1;
			uint32		lanes = __ballot_sync(GPB_ALL_LANES, wanted);
			uint64		at = into + __popc(lanes & ((1u << gpb_lane()) - 1));
			uint32		flags = (judged.seen >> u & 1 ? GPB_RANGE_ENTRY_VISIBLE : 0) |
				(judged.faulted >> u & 1 ? GPB_RANGE_ENTRY_FAULTED : 0);

			if (wanted && at < job->entries.capacity)
				gpb_write_entry(job, place.number, flags, place.page, first + u * GPB_WARP, at);
			into += __popc(lanes);
		}
	}
}

static __global__ void
__launch_bounds__(GPB_LEAF_THREADS, GPB_PROGRAM_BLOCKS)
list_judged(const __grid_constant__ GpbRangesJob job, const __grid_constant__ GpbListJob list)
{
	uint64		total = job.tasks[job.n - 1];
	uint64		tasks = total < job.task_capacity ? total : job.task_capacity;
	GpbTaskShare own = gpb_tasks_of_warp(tasks);
	GpbLaneValues values;

	if (blockIdx.x == 0 && threadIdx.x == 0)
	{
		job.counts->ntasks = total;
		job.counts->nentries = tasks > 0 ? job.live[tasks - 1] : 0;
	}
	for (; own.at < own.end; own.at += GPB_WARP)
	{
		uint64		mine = own.at + gpb_lane();
		GpbRangePlace place = {};
		uint64		into = 0;
		bool		wanted = false;

		if (mine < own.end)
		{
			into = mine > 0 ? job.live[mine - 1] : 0;
			wanted = job.live[mine] > into;
		}
		if (wanted)
			place = job.place[mine];
		for (uint32 todo = __ballot_sync(GPB_ALL_LANES, wanted); todo != 0; todo &= todo - 1)
		{
			int			lane = __ffs(todo) - 1;

			list_place(&job, &list, gpb_place_of_lane(place, lane),
					   __shfl_sync(GPB_ALL_LANES, (unsigned long long) into, lane), &values);
		}
	}
}

/* ---- launches ---- */

const GpbJudgedKernel GPB_FORM::gpb_judged_kernels[GPB_JUDGED_KERNELS] = {
	rank_tasks,
	place_judged,
	list_judged
};
