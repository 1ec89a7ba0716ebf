/*-------------------------------------------------------------------------
 *
 * ranges_list.cu
 *	  The entries of ranges as a list, in order; see ranges.cuh.
 *
 *		place		a thread for each task: its rows, and how many of them count
 *		(prefix sum of entries)
 *		list		eight lanes for each task
 *
 *-------------------------------------------------------------------------
 */
#include "places.cuh"

#define GPB_LIST_LANES		8	/* for a task to be listed */

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
			(gpb_page_locator(place.page, gpb_place_row_width(job, place), i) &
			 job->pass.dead_mask) == 0;

		live += __popc(__ballot_sync(GPB_ALL_LANES, alive));
	}
	return live;
}

/*
 * Find each task's place, for place[], and how many of its entries are to be listed, for live[].
 * Rows are looked at for hints only where the page says that some are set, as list_tasks does.
 */
static __global__ void __launch_bounds__(GPB_LEAF_THREADS, GPB_LEAF_BLOCKS)
place_tasks(const __grid_constant__ GpbRangesJob job)
{
	uint64		total = job.tasks[job.n - 1];
	GpbTaskShare own = gpb_tasks_of_warp(total < job.task_capacity ? total : job.task_capacity);
	uint64		leaves = 0;
	uint32		i = 0;

	for (; own.at < own.end; own.at += GPB_WARP)
	{
		uint64		mine = own.at + gpb_lane();
		bool		here = mine < own.end;
		uint32		from = __shfl_sync(GPB_ALL_LANES, i, 0);
		uint32		separator = 0;
		GpbRangePlace place = {};
		bool		clean = false;
		uint32		live;

		if (here)
		{
			i = gpb_range_of_task(&job, mine, from);
			clean = gpb_place_task(&job, mine, i, &separator, &place);
		}
		gpb_append_piece(&job, here ? gpb_number_of(&job, i) : 0, separator, here && !clean);
		leaves += __popc(__ballot_sync(GPB_ALL_LANES, clean));
		live = (uint32) (place.to - place.from);
		for (uint32 hinted = __ballot_sync(GPB_ALL_LANES, clean && job.pass.dead_mask != 0 &&
										   (gpb_page_special(place.page)->flags &
											GPB_PAGE_HAS_DEAD) != 0);
			 hinted != 0; hinted &= hinted - 1)
		{
			int			lane = __ffs(hinted) - 1;
			uint32		counted = count_live(&job, gpb_place_of_lane(place, lane));

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
list_tasks(const __grid_constant__ GpbRangesJob job)
{
	uint64		total = job.tasks[job.n - 1];
	uint64		tasks = total < job.task_capacity ? total : job.task_capacity;
	GpbTaskShare own = gpb_tasks_of_warp(tasks);
	int			group = gpb_lane() / GPB_LIST_LANES;
	int			lane = gpb_lane() % GPB_LIST_LANES;

	if (blockIdx.x == 0 && threadIdx.x == 0)
	{
		job.counts->ntasks = total;
		job.counts->nentries = tasks > 0 ? job.live[tasks - 1] : 0;
	}
	for (; own.at < own.end; own.at += GPB_WARP / GPB_LIST_LANES)
	{
		uint64		mine = own.at + group;
		GpbRangePlace place = {};
		uint64		into = 0;
		bool		hints = false;

		if (mine < own.end)
		{
			place = job.place[mine];
			into = mine > 0 ? job.live[mine - 1] : 0;
		}
		if (place.page != NULL)
			hints = (gpb_page_special(place.page)->flags & GPB_PAGE_HAS_DEAD) != 0;
		for (int base = place.from; __any_sync(GPB_ALL_LANES, base < place.to);
			 base += GPB_LIST_LANES)
		{
			int			i = base + lane;
			uint64		locator = i < place.to ?
				gpb_page_locator(place.page, gpb_place_row_width(&job, place), i) : 0;
			bool		wanted = i < place.to && (!hints || (locator & job.pass.dead_mask) == 0);
			uint32		lanes = __ballot_sync(GPB_ALL_LANES, wanted) >>
				(group * GPB_LIST_LANES) & ((1u << GPB_LIST_LANES) - 1);
			uint64		at = into + __popc(lanes & ((1u << lane) - 1));

			if (wanted && at < job.entries.capacity)
				gpb_write_entry(&job, place.number,
							gpb_entry_seen(&job.visibility, locator) ?
							GPB_RANGE_ENTRY_VISIBLE : 0, place.page, i, at);
			into += __popc(lanes);
		}
	}
}

const GpbRangesKernel GPB_FORM::gpb_list_kernels[GPB_LIST_KERNELS] = {
	place_tasks,
	list_tasks
};
