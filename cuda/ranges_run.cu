/*-------------------------------------------------------------------------
 *
 * ranges_run.cu
 *	  The kernels of a request of ranges, in order; see ranges.cuh.
 *
 *-------------------------------------------------------------------------
 */
#include "cub.cuh"
#include "device.cuh"
#include "psa.cuh"
#include "tuning.cuh"

/* ---- kernels ---- */

/* Those of one form; see forms.cuh. */
struct RangesKernels
{
	GpbDeviceStatus (*prepare) (GpbDevice *, cudaStream_t, const GpbRangesJob *,
								const GpbAnswerFormat *);
	GpbDeviceStatus (*locate) (GpbDevice *, cudaStream_t, const GpbRangesJob *,
							   const GpbAnswerFormat *);
	const GpbRangesKernel *short_pass;
	const GpbRangesKernel *long_pass;
	const GpbRangesKernel *list;
	const GpbJudgedKernel *judged;
	const GpbProgramKernel *program;
	const GpbGroupsKernel *groups;
	const GpbGroupsKernel *columns;
};

/* Those of a form; what reads INCLUDE columns is of the form "columns", which has no runs. */
#define RANGES_KERNELS(form, columns) \
{ \
	form::gpb_prepare_launch, form::gpb_locate_launch, form::gpb_short_kernels, \
	form::gpb_long_kernels, form::gpb_list_kernels, form::gpb_judged_kernels, \
	form::gpb_program_kernels, form::gpb_groups_kernels, columns::gpb_columns_kernels \
}

/* By gpb_kernel_form() */
static const RangesKernels form_kernels[GPB_KERNEL_FORMS] = {
	RANGES_KERNELS(gpb_narrow, gpb_narrow),
	RANGES_KERNELS(gpb_wide, gpb_wide),
	RANGES_KERNELS(gpb_runs, gpb_narrow),
	RANGES_KERNELS(gpb_wide_runs, gpb_wide)
};

/* The form of a request */
static int
form_of(const GpbRangesJob *job)
{
	return gpb_kernel_form(job->key_width, job->runs);
}

static const RangesKernels *
kernels_of(const GpbRangesJob *job)
{
	return &form_kernels[form_of(job)];
}

static const GpbRangesGrids *
grids_of(const GpbDevice *device, const GpbRangesJob *job)
{
	return &device->grids[form_of(job)];
}

/* ---- grids ---- */

/* Set blocks[i] to how many of kernel[i] fill the device; there is none where that is NULL. */
template <typename Kernel>
static GpbDeviceStatus
fill_device(GpbDevice *device, const Kernel *kernel, int n, uint32 *blocks)
{
	for (int i = 0; i < n; i++)
	{
		int			at_once = 0;

		if (kernel[i] == NULL)
			continue;
		GPB_TRY_CUDA(device,
					 cudaOccupancyMaxActiveBlocksPerMultiprocessor(&at_once, kernel[i],
																   GPB_LEAF_THREADS, 0));
		blocks[i] = (uint32) ((at_once > 0 ? at_once : 1) * device->info.multiprocessors);
	}
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
fill_device_with(GpbDevice *device, const RangesKernels *kernels, GpbRangesGrids *grids)
{
	GPB_TRY(fill_device(device, kernels->short_pass, GPB_PASS_KERNELS, grids->short_blocks));
	GPB_TRY(fill_device(device, kernels->long_pass, GPB_PASS_KERNELS, grids->long_blocks));
	GPB_TRY(fill_device(device, kernels->list, GPB_LIST_KERNELS, grids->list_blocks));
	GPB_TRY(fill_device(device, kernels->judged, GPB_JUDGED_KERNELS, grids->judged_blocks));
	GPB_TRY(fill_device(device, kernels->program, GPB_PROGRAM_SHAPES, grids->program_blocks));
	GPB_TRY(fill_device(device, kernels->groups, GPB_GROUPS_KERNELS, grids->groups_blocks));
	return fill_device(device, kernels->columns, GPB_COLUMNS_KERNELS, grids->columns_blocks);
}

/* To ask how many blocks of a kernel fill the device loads it; else the first query would wait. */
GpbDeviceStatus
gpb_ranges_prepare_kernels(GpbDevice *device)
{
	for (int form = 0; form < GPB_KERNEL_FORMS; form++)
		GPB_TRY(fill_device_with(device, &form_kernels[form], &device->grids[form]));
	return GPB_DEVICE_OK;
}

/* ---- order ---- */

/*
 * The order in which the ranges are done: near each other where they lie so, by the top bits
 * of their lower bounds, as keys that are searched for.
 */
GpbDeviceStatus
gpb_ranges_order(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
				 const GpbTreeProfile *profile, GpbSortMemory *sort)
{
	GpbSortPlan plan = gpb_sort_plan(profile, job->separators.n, sizeof(uint64));
	uint64	   *lower = (uint64 *) sort->clamped.data;

	GPB_TRY(gpb_lower_bounds_launch(device, stream, job, (uint64) plan.low, (uint64) plan.high,
									lower));
	/* two passes even if one would do for tiles: neighbours should share leaves */
	plan.first_bit = plan.end_bit > 16 ? plan.end_bit - 16 : 0;
	plan.clamp = false;
	return gpb_sort_keys(device, stream, sort, &plan, sizeof(uint64), lower, 0, job->n,
						 (uint32 *) sort->order.data);
}

/* ---- prefix sums ---- */

GpbDeviceStatus
gpb_ranges_scan_size(GpbDevice *device, uint32 n, uint64 tasks, size_t *size)
{
	size_t		of_tasks = 0;

	*size = 0;
	GPB_TRY(gpb_check(device, gpb_cub_sums(NULL, size, NULL, n, NULL), "planning a prefix sum"));
	GPB_TRY(gpb_check(device, gpb_cub_sums(NULL, &of_tasks, NULL, tasks, NULL),
					  "planning a prefix sum"));
	if (of_tasks > *size)
		*size = of_tasks;
	return GPB_DEVICE_OK;
}

/* ---- aggregates ---- */

/*
 * Rows too wide for registers are read one by one whatever the variant.  Those of leaves that may
 * have runs, which have 8 bytes, are always read four at a time.
 */
static int
pass_kernel(const GpbDevice *device, const GpbRangesJob *job)
{
	bool		by_rows = device->variant == GPB_LEAF_ROWS && !job->runs;
	int			way = by_rows || job->row_width > 16 ? 0 : job->row_width / 4 - 1;

	return way * GPB_PASS_SHAPES + gpb_pass_shape(&job->pass);
}

/* The grid of the pass over ranges within one leaf, by the blocks that fill the device */
static uint32
short_grid(const GpbRangesJob *job, uint32 blocks)
{
	uint32		all = (uint32) (((uint64) job->n + GPB_SHORT_RANGES - 1) / GPB_SHORT_RANGES);

	return job->total && all > blocks ? blocks : all;
}

/* A single range has tasks, which were found with it, and no places. */
static GpbDeviceStatus
run_pass(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job)
{
	const RangesKernels *kernels = kernels_of(job);
	const GpbRangesGrids *grids = grids_of(device, job);
	int			kernel = pass_kernel(device, job);

	if (job->ranges != NULL)
		GPB_TRY(gpb_launch_on(device, stream, "aggregate_short",
							  short_grid(job, grids->short_blocks[kernel]),
							  GPB_LEAF_THREADS, kernels->short_pass[kernel], *job));
	return gpb_launch_on(device, stream, "aggregate_long", grids->long_blocks[kernel],
						 GPB_LEAF_THREADS, kernels->long_pass[kernel], *job);
}

/* A pass of a program that is not plain and has no groups */
static GpbDeviceStatus
run_program_pass(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
				 const GpbRangesPlan *plan)
{
	GpbProgramPass pass;
	GpbProgramShape shape;

	gpb_make_program_pass(plan->program, &plan->format, &job->pass, &pass);
	shape = gpb_program_shape(&job->pass, &pass);
	return gpb_launch_on(device, stream, "aggregate_program",
						 grids_of(device, job)->program_blocks[shape], GPB_LEAF_THREADS,
						 kernels_of(job)->program[shape], *job, pass);
}

/* Float8 sums of many answers are normalized here; that of a single one on the host. */
static GpbDeviceStatus
run_passes(GpbDevice *device, cudaStream_t stream, GpbRangesJob *job, const GpbRangesPlan *plan)
{
	for (int i = 0; i < plan->npasses; i++)
	{
		job->pass = plan->pass[i];
		GPB_TRY(plan->program != NULL ? run_program_pass(device, stream, job, plan) :
				run_pass(device, stream, job));
	}
	if (job->total || plan->format.words == plan->format.integers)
		return GPB_DEVICE_OK;
	return gpb_normalize_launch(device, stream, job, &plan->format);
}

/* ---- groups ---- */

/* The kernel of ranges_columns.cu that reads rows of this width, for so many columns */
static int
columns_kernel(int row_width, int columns)
{
	return 2 * (row_width == 12 ? 1 : row_width == 16 ? 2 : 0) + columns - 1;
}

/*
 * The kernel that finds the groups, for any program or for one of columns.  Where many groups are
 * expected, a block's table takes most of them only if each range has its own.
 */
static GpbDeviceStatus
run_groups_kernel(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
				  const GpbRangesPlan *plan)
{
	const GpbGroupJob *groups = &plan->groups;
	GpbRangesJob of_columns = *job;
	bool		too_many = groups->shared_groups == 0 && !groups->by_range;
	int			columns = too_many ? 0 :
		gpb_group_columns(plan->program, groups, &of_columns.pass);
	int			where = groups->shared_groups == 0 ? 0 : groups->has_slots ? 2 : 1;
	int			kernel = 2 * where + (groups->ngroups > GPB_FEW_GROUP_SLOTS);

	if (columns == 0)
		return gpb_launch_on(device, stream, "aggregate_groups",
							 grids_of(device, job)->groups_blocks[kernel], GPB_LEAF_THREADS,
							 kernels_of(job)->groups[kernel], *job, *groups);
	kernel = columns_kernel(device->variant == GPB_LEAF_ROWS ? 0 : job->row_width, columns);
	return gpb_launch_on(device, stream, "aggregate_columns",
						 grids_of(device, job)->columns_blocks[kernel], GPB_LEAF_THREADS,
						 kernels_of(job)->columns[kernel], of_columns, *groups);
}

/* All groups in one pass, from an empty table */
static GpbDeviceStatus
run_groups(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
		   const GpbRangesPlan *plan)
{
	const GpbGroupJob *groups = &plan->groups;

	GPB_TRY_CUDA(device, cudaMemsetAsync(groups->table, 0xFF,
										 ((size_t) groups->table_mask + 1) * sizeof(uint32),
										 stream));
	if (groups->words > groups->integers)
		GPB_TRY_CUDA(device, cudaMemsetAsync(groups->row, 0, (size_t) groups->capacity *
											 groups->row_words * sizeof(int64), stream));
	if (groups->copied_groups > 0)
		GPB_TRY(gpb_clear_copies_launch(device, stream, groups));
	GPB_TRY(run_groups_kernel(device, stream, job, plan));
	if (groups->copied_groups > 0)
		GPB_TRY(gpb_merge_copies_launch(device, stream, groups));
	return gpb_finish_groups_launch(device, stream, job, groups, &plan->format);
}

/* ---- lists ---- */

/* Find the rank of the limit's last entry. */
static GpbDeviceStatus
run_limit(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
		  const GpbListJob *list)
{
	uint32		blocks = grids_of(device, job)->judged_blocks[0];
	GpbRangesJob ranked = *job;

	ranked.pass.is_first = false;	/* pieces are place's to append */
	GPB_TRY(gpb_begin_ranks_launch(device, stream, list));
	GPB_TRY(gpb_launch_on(device, stream, "rank_tasks", blocks, GPB_LEAF_THREADS,
						  kernels_of(job)->judged[0], ranked, *list));
	return gpb_choose_rank_launch(device, stream, list, blocks);
}

static GpbDeviceStatus
run_lists(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
		  const GpbRangesPlan *plan, void *scan, size_t scan_size)
{
	const RangesKernels *kernels = kernels_of(job);
	const uint32 *blocks = grids_of(device, job)->list_blocks;
	const uint32 *judged_blocks = grids_of(device, job)->judged_blocks;

	if (plan->judges && plan->list.limited)
		GPB_TRY(run_limit(device, stream, job, &plan->list));
	/* the sum runs over all tasks there is room for */
	GPB_TRY_CUDA(device, cudaMemsetAsync(job->live, 0, job->task_capacity * sizeof(uint64),
										 stream));
	GPB_TRY(plan->judges ?
			gpb_launch_on(device, stream, "place_judged", judged_blocks[1], GPB_LEAF_THREADS,
						  kernels->judged[1], *job, plan->list) :
			gpb_launch_on(device, stream, "place_tasks", blocks[0], GPB_LEAF_THREADS,
						  kernels->list[0], *job));
	GPB_TRY(gpb_check(device, gpb_cub_sums(scan, &scan_size, job->live, job->task_capacity,
										   stream), "prefix sum of entries"));
	if (plan->judges)
		return gpb_launch_on(device, stream, "list_judged", judged_blocks[2], GPB_LEAF_THREADS,
							 kernels->judged[2], *job, plan->list);
	return gpb_launch_on(device, stream, "list_tasks", blocks[1], GPB_LEAF_THREADS,
						 kernels->list[1], *job);
}

/* ---- the whole ---- */

GpbDeviceStatus
gpb_ranges_run(GpbDevice *device, cudaStream_t stream, GpbRangesJob *job,
			   const GpbRangesPlan *plan, void *scan, size_t scan_size)
{
	static const GpbAnswerFormat no_answers = {};
	bool		grouped = plan->program != NULL && plan->program->ngroups > 0;
	const GpbAnswerFormat *format = grouped ? &no_answers : &plan->format;

	job->pass = plan->pass[0];
	GPB_TRY(kernels_of(job)->prepare(device, stream, job, format));
	if (job->ranges != NULL)
	{
		if (!job->total && format->words > format->integers)
			GPB_TRY_CUDA(device, cudaMemsetAsync(job->answers, 0,
												 (size_t) job->n * gpb_answer_width(format),
												 stream));
		GPB_TRY(kernels_of(job)->locate(device, stream, job, format));
		GPB_TRY(gpb_check(device, gpb_cub_sums(scan, &scan_size, job->tasks, job->n, stream),
						  "prefix sum of tasks"));
	}
	if (job->pass.list_entries)
		return run_lists(device, stream, job, plan, scan, scan_size);
	return grouped ? run_groups(device, stream, job, plan) :
		run_passes(device, stream, job, plan);
}
