/*-------------------------------------------------------------------------
 *
 * ranges.cu
 *	  A request of ranges over a mirror, from its launch to its answers and lists.
 *
 * On the channel's own stream a launch submits the input, the kernels (ranges_run.cu), and what
 * they leave for the host: what they counted, and the answers.  Nothing there waits.  A single
 * answer lies behind the counts and comes with them; many go straight to where the caller wants
 * them.
 *
 * A list, or the tasks of a request that lists entries, may turn out longer than the channel's
 * memory for it; then finishing enlarges that and runs the kernels again.  By then newer images may
 * have come: their stamps are above the request's epoch, so their leaves are unclean, and any
 * inner image partitions the keys; the answer differs but is as exact.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "batch_run.cuh"
#include "ranges.cuh"
#include "tuning.cuh"

/* A channel's request of ranges; its buffers stay from one to the next. */
struct GpbRangesWork
{
	GpbChannelState state;
	GpbDeviceStatus outcome;	/* of finished ranges */
	GpbDeviceMirror *mirror;
	bool		runs;			/* could leaves have runs when it was launched? */
	GpbRangesSpec spec;
	GpbRangesPlan plan;
	bool		single;			/* one range, to be aggregated */
	uint64		launch;			/* number of the launch on this channel */
	uint32		polls;			/* since then, that asked no event */
	uint64		range[GPB_RANGE_WORDS];	/* which it is, see GpbRangesJob */
	void	   *answers_host;	/* where the caller wants the answers */
	GpbInput	input;
	GpbBuffer	ranges;
	GpbBuffer	more;			/* words of the program's long tables */
	GpbBuffer	first;			/* see GpbRangesJob */
	GpbBuffer	tasks;
	GpbBuffer	place;
	GpbBuffer	live;
	GpbBuffer	answers;		/* of more than one */
	GpbBuffer	scan;
	GpbBuffer	scratch;		/* of sorting lists */
	GpbSortMemory sort;			/* of many ranges */
	const GpbTreeProfile *profile;
	GpbBuffer	counts;			/* GpbRangesCounts, and a single answer */
	GpbPinned	counts_host;
	GpbListMemory entries;
	GpbListMemory pieces;
	GpbGroupMemory groups;
	GpbBuffer	ranks;			/* GpbRanks, and ranks, of a limited list */
	GpbBuffer	blocks;			/* words of the bitmap of the entries' heap blocks */
	cudaEvent_t ready;			/* the lists are in order */
};

static GpbRangesCounts *
counts_of(const GpbRangesWork *work)
{
	return (GpbRangesCounts *) work->counts_host.data;
}

static bool
has_groups(const GpbRangesWork *work)
{
	return work->plan.program != NULL && work->plan.program->ngroups > 0;
}

/* Is there one answer, which lies behind the counts? */
static bool
is_total(const GpbRangesWork *work)
{
	return gpb_count_answers(&work->spec) == 1;
}

static size_t
counts_size(const GpbRangesWork *work)
{
	return sizeof(GpbRangesCounts) +
		(is_total(work) ? gpb_answer_width(&work->plan.format) : 0);
}

static size_t
ranges_size(const GpbRangesSpec *spec)
{
	return spec->n * (size_t) gpb_range_width(spec->form, spec->program.layout.key_width);
}

static uint64
task_capacity(const GpbRangesWork *work)
{
	uint64		places = work->place.size / sizeof(GpbRangePlace);
	uint64		lives = work->live.size / sizeof(uint64);

	return places < lives ? places : lives;
}

/* ---- memory ---- */

/* See that the channel has its work. */
static GpbDeviceStatus
make_work(GpbDevice *device, GpbChannel *channel)
{
	if (channel->ranges == NULL)
	{
		channel->ranges = (GpbRangesWork *) calloc(1, sizeof(GpbRangesWork));
		if (channel->ranges == NULL)
			return gpb_refuse(device, "out of memory");
	}
	if (channel->ranges->ready != NULL)
		return GPB_DEVICE_OK;
	return gpb_check(device, cudaEventCreateWithFlags(&channel->ranges->ready,
													  cudaEventDisableTiming),
					 "cudaEventCreate");
}

void
gpb_ranges_free(GpbDevice *device, GpbChannel *channel)
{
	GpbRangesWork *work = channel->ranges;

	if (work == NULL)
		return;
	gpb_input_free(device, &work->input);
	gpb_buffer_free(device, &work->ranges);
	gpb_buffer_free(device, &work->more);
	gpb_buffer_free(device, &work->first);
	gpb_buffer_free(device, &work->tasks);
	gpb_buffer_free(device, &work->place);
	gpb_buffer_free(device, &work->live);
	gpb_buffer_free(device, &work->answers);
	gpb_buffer_free(device, &work->scan);
	gpb_sort_memory_free(device, &work->sort);
	gpb_buffer_free(device, &work->scratch);
	gpb_buffer_free(device, &work->counts);
	gpb_pinned_free(device, &work->counts_host);
	gpb_list_free(device, &work->entries);
	gpb_list_free(device, &work->pieces);
	gpb_groups_free(device, &work->groups);
	gpb_buffer_free(device, &work->ranks);
	gpb_buffer_free(device, &work->blocks);
	if (work->ready != NULL)
		(void) cudaEventDestroy(work->ready);
	free(work);
	channel->ranges = NULL;
}

/* Room for the lists, and, where entries are listed, for so many tasks */
static GpbDeviceStatus
reserve_lists(GpbDevice *device, GpbRangesWork *work, uint64 entries, uint64 pieces,
			  uint64 tasks)
{
	const GpbProgram *program = &work->spec.program;

	if (program->list_entries && tasks > 0x7FFFFFFF)
		return gpb_refuse(device, "%llu leaves to list entries of are too many for one request",
						  (unsigned long long) tasks);
	GPB_TRY(gpb_list_reserve(device, &work->entries, entries,
							 gpb_entry_record_width(&program->layout)));
	GPB_TRY(gpb_list_reserve(device, &work->pieces, pieces,
							 gpb_piece_width(program->layout.key_width)));
	if (!program->list_entries)
		return GPB_DEVICE_OK;
	GPB_TRY(gpb_buffer_reserve(device, &work->place, tasks * sizeof(GpbRangePlace)));
	return gpb_buffer_reserve(device, &work->live, tasks * sizeof(uint64));
}

/* The most entries that leaves of the mirror's widths have on as many leaves as it has now */
static uint64
most_entries(const GpbRangesWork *work)
{
	const GpbLayout *layout = &work->spec.program.layout;
	uint64		of_leaf = GPB_MAX_LEAF_ENTRIES;

	if (!work->runs)
		of_leaf = GPB_PAGE_SPACE / (layout->key_width + layout->row_width);
	return work->mirror->tree.n * of_leaf;
}

/*
 * Memory for groups, if the request has such.  Much of it that is not needed is given back: others
 * may want it.
 */
static GpbDeviceStatus
reserve_groups(GpbDevice *device, GpbRangesWork *work)
{
	if (has_groups(work))
		return gpb_groups_reserve(device, &work->groups, &work->plan.groups, most_entries(work));
	if (work->groups.row.size > GPB_GROUP_KEPT_BYTES)
		gpb_groups_free(device, &work->groups);
	return GPB_DEVICE_OK;
}

/*
 * Memory to find the limit of a list, if it has one.  Where there is none to be had, all is listed
 * that the filters let pass.
 */
static void
reserve_ranks(GpbDevice *device, GpbRangesWork *work)
{
	GpbListJob *list = &work->plan.list;
	uint64		most = most_entries(work) * work->spec.n;	/* ranges may have entries in common */

	if (!work->plan.judges || !list->limited)
		return;
	list->rank_capacity = most < GPB_RANKS_MOST ? most : GPB_RANKS_MOST;
	list->limited = list->limit <= list->rank_capacity &&
		gpb_buffer_reserve(device, &work->ranks,
						   sizeof(GpbRanks) + list->rank_capacity * sizeof(uint64)) ==
		GPB_DEVICE_OK;
	if (!list->limited)
		return;
	list->ranks = (GpbRanks *) work->ranks.data;
	list->rank = (uint64 *) (list->ranks + 1);
}

/* Room for what only requests of many ranges, and lists, need */
static GpbDeviceStatus
reserve_many(GpbDevice *device, GpbRangesWork *work)
{
	const GpbRangesSpec *spec = &work->spec;
	bool		list = spec->program.list_entries;
	size_t		scan_size;

	GPB_TRY(gpb_buffer_reserve(device, &work->ranges, ranges_size(spec)));
	if (!list)
		GPB_TRY(gpb_buffer_reserve(device, &work->place, spec->n * sizeof(GpbRangePlace)));
	if (!list && !is_total(work) && !has_groups(work))
		GPB_TRY(gpb_buffer_reserve(device, &work->answers,
								   (size_t) spec->n * gpb_answer_width(&work->plan.format)));
	GPB_TRY(gpb_ranges_scan_size(device, spec->n, list ? task_capacity(work) : 0, &scan_size));
	return gpb_buffer_reserve(device, &work->scan, scan_size);
}

/*
 * Are the ranges many enough to be sorted?  Lists are in the order of the ranges.  Those of wide
 * keys are not.
 */
static bool
is_ordered(const GpbRangesWork *work)
{
	return !work->spec.program.list_entries &&
		work->spec.program.layout.key_width <= 8 && work->spec.n >= GPB_ORDERED_RANGES &&
		work->spec.n <= GPB_SORT_AT_ONCE && work->mirror->tree.n > 1;
}

/* All memory but the input's and CUB's, before anything is submitted */
static GpbDeviceStatus
reserve_work(GpbDevice *device, GpbRangesWork *work)
{
	const GpbRangesSpec *spec = &work->spec;
	size_t		n = spec->n;
	uint64		listed = spec->program.list_entries ? n : 0;

	GPB_TRY(gpb_buffer_reserve(device, &work->counts, counts_size(work)));
	GPB_TRY(gpb_pinned_reserve(device, &work->counts_host, counts_size(work)));
	GPB_TRY(gpb_buffer_reserve(device, &work->first, n * sizeof(uint32)));
	GPB_TRY(gpb_buffer_reserve(device, &work->tasks, n * sizeof(uint64)));
	GPB_TRY(reserve_groups(device, work));
	reserve_ranks(device, work);
	if (is_ordered(work))
	{
		GPB_TRY(gpb_mirror_profile(device, work->mirror, &work->profile));
		GPB_TRY(gpb_buffer_reserve(device, &work->sort.clamped, n * sizeof(uint64)));
		GPB_TRY(gpb_buffer_reserve(device, &work->sort.order, n * sizeof(uint32)));
	}
	GPB_TRY(reserve_lists(device, work, GPB_RANGE_ENTRY_CAPACITY + listed,
						  GPB_RANGE_PIECE_CAPACITY, GPB_RANGE_TASK_CAPACITY + 2 * listed));
	return work->single ? GPB_DEVICE_OK : reserve_many(device, work);
}

/* ---- submitting ---- */

static GpbRangesJob
make_ranges_job(const GpbRangesWork *work)
{
	const GpbRangesSpec *spec = &work->spec;
	const GpbLayout *layout = &spec->program.layout;
	GpbRangesCounts *counts = (GpbRangesCounts *) work->counts.data;
	GpbRangesJob job;

	memset(&job, 0, sizeof(job));
	job.epoch = spec->epoch;
	job.separators = gpb_mirror_separators(work->mirror);
	job.images = gpb_mirror_images(work->mirror);
	gpb_input_show(&work->input, &job, &job.visibility);
	job.key_width = layout->key_width;
	job.row_width = layout->row_width;
	job.layout_flags = layout->flags;
	job.runs = work->runs;
	job.tree = gpb_mirror_tree(work->mirror);
	job.form = spec->form;
	job.n = spec->n;
	job.ranges = work->single ? NULL : work->ranges.data;
	memcpy(job.range, work->range, sizeof(job.range));
	job.total = is_total(work);
	job.only_tasks = spec->program.list_entries || work->plan.program != NULL;
	job.launch = work->launch;
	job.counts = counts;
	job.answers = job.total ? (int64 *) (counts + 1) : (int64 *) work->answers.data;
	job.words = work->plan.format.words;
	job.entries = gpb_list_view(&work->entries);
	job.pieces = gpb_list_view(&work->pieces);
	job.first = (uint32 *) work->first.data;
	job.tasks = (uint64 *) work->tasks.data;
	job.place = (GpbRangePlace *) work->place.data;
	job.live = (uint64 *) work->live.data;
	job.task_capacity = task_capacity(work);
	return job;
}

static GpbDeviceStatus
submit_kernels(GpbDevice *device, GpbChannel *channel)
{
	GpbRangesWork *work = channel->ranges;
	GpbRangesJob job = make_ranges_job(work);

	GPB_TRY(gpb_reader_begin(device, channel));
	if (is_ordered(work))
	{
		GPB_TRY(gpb_ranges_order(device, channel->stream, &job, work->profile, &work->sort));
		job.order = (const uint32 *) work->sort.order.data;
	}
	return gpb_ranges_run(device, channel->stream, &job, &work->plan, work->scan.data,
						  work->scan.size);
}

static GpbDeviceStatus
submit_copy(GpbDevice *device, GpbChannel *channel, void *into, const void *from, size_t size)
{
	return gpb_check(device, cudaMemcpyAsync(into, from, size, cudaMemcpyDeviceToHost,
											 channel->stream),
					 "copying answers");
}

/* The kernels, and what they leave for the host */
static GpbDeviceStatus
submit_request(GpbDevice *device, GpbChannel *channel)
{
	GpbRangesWork *work = channel->ranges;

	work->launch++;
	work->polls = 0;
	counts_of(work)->launch = 0;
	GPB_TRY(submit_kernels(device, channel));
	if (gpb_count_answers(&work->spec) > 1)
		GPB_TRY(submit_copy(device, channel, work->answers_host, work->answers.data,
							(size_t) work->spec.n * gpb_answer_width(&work->plan.format)));
	return submit_copy(device, channel, work->counts_host.data, work->counts.data,
					   counts_size(work));
}

/*
 * Submit the words of long tables.  The kernels read the channel's copy; what a launch before this
 * one read there has ended (rule M3), since the channel has one launch at a time.
 */
static GpbDeviceStatus
submit_more(GpbDevice *device, GpbChannel *channel, const int64 *more)
{
	GpbRangesWork *work = channel->ranges;
	size_t		bytes = gpb_more_words(&work->spec.program) * sizeof(int64);

	if (bytes == 0)
		return GPB_DEVICE_OK;
	return gpb_check(device, cudaMemcpyAsync(work->more.data, more, bytes, cudaMemcpyHostToDevice,
											 channel->stream),
					 "copying tables");
}

static GpbDeviceStatus
submit_input(GpbDevice *device, GpbChannel *channel, const void *ranges, const int64 *more,
			 const uint32 *changed, uint32 nblocks)
{
	GpbRangesWork *work = channel->ranges;
	const GpbRangesSpec *spec = &work->spec;

	GPB_TRY(gpb_input_submit(device, channel->stream, channel, &work->input, spec, changed,
							 nblocks));
	GPB_TRY(submit_more(device, channel, more));
	if (work->single)
		return GPB_DEVICE_OK;	/* the kernels' parameters have it */
	return gpb_check(device,
					 cudaMemcpyAsync(work->ranges.data, ranges, ranges_size(spec),
									 cudaMemcpyHostToDevice, channel->stream),
					 "copying ranges");
}

/*
 * End what a submission of this status began to read.  If it failed, what was submitted of it has
 * ended on return: the caller's memory is not the device's any more.
 */
static GpbDeviceStatus
end_reading(GpbDevice *device, GpbChannel *channel, GpbDeviceStatus status)
{
	GpbDeviceStatus ended = gpb_reader_end(device, channel);

	if (status == GPB_DEVICE_OK)
		return ended;
	(void) gpb_reader_await(device, channel);
	return status;
}

/* ---- launching ---- */

/*
 * Could the mirror hold more than 2^31 entries?  That many values are what a bin of a GpbFloatSum
 * takes without a carry, and in an answer for each of many ranges nothing carries until all values
 * have been added.
 */
static bool
is_beyond_float_sums(const GpbRangesWork *work)
{
	return most_entries(work) > (uint64) 1 << 31;
}

/* Leaves that one kernel may add up to a single answer, or to groups, see GPB_BLOCK_LEAVES */
static uint64
most_leaves(const GpbDevice *device)
{
	return GPB_BLOCK_LEAVES * device->info.multiprocessors;
}

/* Refuse requests too large for what counts and adds up. */
static GpbDeviceStatus
check_work(GpbDevice *device, const GpbRangesWork *work)
{
	const GpbRangesSpec *spec = &work->spec;

	if (spec->n > 0x7FFFFFFF || (is_total(work) && spec->n > most_leaves(device)))
		return gpb_refuse(device, "%u ranges are too many for one request; ask for fewer",
						  spec->n);
	if (!spec->program.list_entries && !is_total(work) &&
		gpb_answer_has_float_sums(&work->plan.format) && is_beyond_float_sums(work))
		return gpb_refuse(device, "too many entries for exact float8 sums of each of many ranges; "
						  "ask for one range at a time");
	return GPB_DEVICE_OK;
}

/* Drop a request that was launched on the channel and never finished. */
static GpbDeviceStatus
abandon(GpbDevice *device, GpbChannel *channel)
{
	channel->ranges->state = GPB_CHANNEL_IDLE;
	return gpb_reader_await(device, channel);
}

/*
 * Copy the request, whose kernels find the words of long tables in the channel's memory for them.
 * No launch on the channel is in flight.
 */
static GpbDeviceStatus
copy_spec(GpbDevice *device, GpbRangesWork *work, const GpbRangesSpec *spec)
{
	const char *fault = gpb_program_fault(&spec->program);
	uint32		words;

	if (fault != NULL)
		return gpb_refuse(device, "%s", fault);
	gpb_ranges_spec_copy(&work->spec, spec);
	words = gpb_more_words(&spec->program);
	if (words == 0)
		return GPB_DEVICE_OK;
	GPB_TRY(gpb_buffer_reserve(device, &work->more, words * sizeof(int64)));
	work->spec.program.tables.more = (const int64 *) work->more.data;
	return GPB_DEVICE_OK;
}

/* Make what is launched of the request that was copied. */
static void
begin_work(GpbRangesWork *work, GpbDeviceMirror *mirror, const GpbRangesSpec *spec,
		   const void *ranges, void *answers)
{
	GpbRangesPlan *plan = &work->plan;
	const GpbProgram *program = &work->spec.program;

	work->mirror = mirror;
	work->runs = mirror->has_runs;
	work->answers_host = answers;
	memset(&plan->format, 0, sizeof(plan->format));
	if (!spec->program.list_entries)
		gpb_answer_format(&spec->program, &plan->format);
	plan->program = program->list_entries || gpb_program_is_plain(program) ? NULL : program;
	plan->npasses = plan->program == NULL ?
		gpb_make_passes(program, &plan->format, plan->pass) :
		gpb_make_program_passes(program, &plan->format, plan->pass);
	if (has_groups(work))
		gpb_make_group_job(program, &plan->format, most_entries(work), &plan->groups);
	plan->judges = gpb_program_judges(program);
	if (plan->judges)
		gpb_make_list_job(program, &plan->list);
	work->single = spec->n == 1 && !spec->program.list_entries;
	if (work->single)
		(program->layout.key_width == GPB_WIDE_KEY ? gpb_wide::gpb_single_range :
		 gpb_narrow::gpb_single_range)
			(spec->form, ranges, program->layout.key_width, program->layout.flags, work->range);
}

/* A request of no ranges is answered without the device. */
static void
answer_no_ranges(GpbRangesWork *work)
{
	memset(counts_of(work), 0, sizeof(GpbRangesCounts));
	if (is_total(work))
		gpb_answer_init(&work->plan.format, (int64 *) work->answers_host);
	work->outcome = GPB_DEVICE_OK;
	work->state = GPB_CHANNEL_FINISHED;
}

static GpbDeviceStatus
submit(GpbDevice *device, GpbChannel *channel, const void *ranges, const int64 *more,
	   const uint32 *changed, uint32 nblocks)
{
	GPB_TRY(submit_input(device, channel, ranges, more, changed, nblocks));
	return submit_request(device, channel);
}

GpbDeviceStatus
gpb_cuda_ranges_launch(GpbDevice *device, GpbDeviceMirror *mirror, int number,
					   const GpbRangesSpec *spec, const void *ranges, void *answers,
					   const uint32 *changed, uint32 nblocks)
{
	GpbChannel *channel = &device->channel[number];
	GpbRangesWork *work;

	GPB_ENTER(device);
	GPB_TRY(make_work(device, channel));
	work = channel->ranges;
	GPB_TRY(abandon(device, channel));
	GPB_TRY(copy_spec(device, work, spec));
	begin_work(work, mirror, spec, ranges, answers);
	GPB_TRY(check_work(device, work));
	GPB_TRY(reserve_work(device, work));
	if (spec->n == 0)
	{
		answer_no_ranges(work);
		return GPB_DEVICE_OK;
	}
	GPB_TRY(end_reading(device, channel, submit(device, channel, ranges,
												spec->program.tables.more, changed, nblocks)));
	work->state = GPB_CHANNEL_LAUNCHED;
	return GPB_DEVICE_OK;
}

/* ---- polling ---- */

/* How many polls look at the counts alone before one asks the event all the same */
#define GPB_QUICK_POLLS		64

/*
 * The counts come last, with the launch's number.  As long as memory has another number, what was
 * launched has not ended, and a look at memory is much cheaper than a call of the driver.  The
 * number alone says nothing about what else has been written: then the event is asked.  It is also
 * asked now and then, since a launch that fails leaves no number.
 */
bool
gpb_ranges_cannot_have_ended(GpbChannel *channel)
{
	GpbRangesWork *work = channel->ranges;

	if (work == NULL || work->state != GPB_CHANNEL_LAUNCHED ||
		*(const volatile uint64 *) &counts_of(work)->launch == work->launch)
		return false;
	return ++work->polls % GPB_QUICK_POLLS != 0;
}

/* ---- finishing ---- */

/* Is nothing of what the kernels left to be used? */
static bool
is_void(const GpbRangesCounts *counts)
{
	return counts->faults > 0 || counts->unheld > 0;
}

/* Wait for what was submitted; true in *whole if all that the kernels counted had room. */
static GpbDeviceStatus
await_counts(GpbDevice *device, GpbChannel *channel, bool *whole)
{
	GpbRangesWork *work = channel->ranges;
	const GpbRangesCounts *counts = counts_of(work);

	GPB_TRY(gpb_reader_await(device, channel));
	*whole = is_void(counts) || (counts->nentries <= gpb_list_capacity(&work->entries) &&
		counts->nunclean <= gpb_list_capacity(&work->pieces) &&
		(!work->spec.program.list_entries || counts->ntasks <= task_capacity(work)) &&
		(!has_groups(work) || counts->ngroups <= work->plan.groups.capacity));
	if ((is_total(work) || has_groups(work)) && counts->ntasks > most_leaves(device))
		return gpb_refuse(device, "%llu leaves are too many for one answer; ask for fewer ranges",
						  (unsigned long long) counts->ntasks);
	return GPB_DEVICE_OK;
}

/*
 * Sort the pieces by number and separator, the entries to be checked by TID.  Listed entries are in
 * order already.
 */
static GpbDeviceStatus
sort_lists(GpbDevice *device, GpbChannel *channel)
{
	GpbRangesWork *work = channel->ranges;
	const GpbRangesCounts *counts = counts_of(work);

	work->entries.result = work->entries.record.data;
	if (!work->spec.program.list_entries)
		GPB_TRY(gpb_list_sort(device, channel->stream, &work->scratch, &work->entries,
							  counts->nentries, 48));
	GPB_TRY(gpb_list_sort(device, channel->stream, &work->scratch, &work->pieces,
						  counts->nunclean, work->single ? 32 : 64));
	if (counts->nentries == 0 && counts->nunclean == 0)
		return GPB_DEVICE_OK;	/* nothing to fetch */
	return gpb_check(device, cudaEventRecord(work->ready, channel->stream), "cudaEventRecord");
}

/* A single answer has come with the counts. */
static void
take_answer(const GpbRangesWork *work)
{
	const GpbAnswerFormat *format = &work->plan.format;

	memcpy(work->answers_host, counts_of(work) + 1, gpb_answer_width(format));
	gpb_answer_normalize(format, (int64 *) work->answers_host);
}

/* Of what the request left nothing is to be used, and lists may lack records. */
static void
drop_results(GpbRangesWork *work)
{
	GpbRangesCounts *counts = counts_of(work);

	counts->nentries = 0;
	counts->nunclean = 0;
	counts->ngroups = 0;
}

static GpbDeviceStatus
run_to_end(GpbDevice *device, GpbChannel *channel)
{
	GpbRangesWork *work = channel->ranges;
	const GpbRangesCounts *counts = counts_of(work);
	bool		whole;

	GPB_TRY(await_counts(device, channel, &whole));
	while (!whole)
	{
		GPB_TRY(reserve_lists(device, work, counts->nentries, counts->nunclean,
							  counts->ntasks));
		if (!work->single)
			GPB_TRY(reserve_many(device, work));
		if (has_groups(work) && counts->ngroups > work->plan.groups.capacity)
			GPB_TRY(gpb_groups_reserve_more(device, &work->groups, &work->plan.groups,
											most_entries(work)));
		GPB_TRY(end_reading(device, channel, submit_request(device, channel)));
		GPB_TRY(await_counts(device, channel, &whole));
	}
	if (is_void(counts))
	{
		drop_results(work);
		return GPB_DEVICE_OK;
	}
	if (has_groups(work))
		work->groups.found = counts->ngroups;
	if (is_total(work))
		take_answer(work);
	return sort_lists(device, channel);
}

static GpbDeviceStatus
complete(GpbDevice *device, GpbChannel *channel)
{
	GpbRangesWork *work = channel->ranges;

	work->outcome = run_to_end(device, channel);
	work->state = GPB_CHANNEL_FINISHED;
	return work->outcome;
}

void
gpb_ranges_settle(GpbDevice *device, const GpbDeviceMirror *mirror)
{
	int			i;

	for (i = 0; i < device->nchannels; i++)
	{
		GpbChannel *channel = &device->channel[i];

		if (channel->ranges != NULL && channel->ranges->state == GPB_CHANNEL_LAUNCHED &&
			channel->ranges->mirror == mirror)
			(void) complete(device, channel);
	}
}

GpbDeviceStatus
gpb_cuda_ranges_finish(GpbDevice *device, int number, GpbRangesResult *result)
{
	GpbChannel *channel = &device->channel[number];
	GpbRangesWork *work = channel->ranges;

	GPB_ENTER(device);
	if (work == NULL || work->state == GPB_CHANNEL_IDLE)
		return gpb_refuse(device, "no ranges were launched on channel %d; launch them first",
						  number);
	if (work->state == GPB_CHANNEL_LAUNCHED)
		(void) complete(device, channel);
	if (work->outcome == GPB_DEVICE_OK)
	{
		result->leaves = counts_of(work)->leaves;
		result->unclean = counts_of(work)->nunclean;
		result->entries = counts_of(work)->nentries;
		result->groups = counts_of(work)->ngroups;
		result->faults = counts_of(work)->faults;
		result->unheld = counts_of(work)->unheld;
	}
	return work->outcome;
}

/* ---- fetching ---- */

/* How many records of this kind did the finished request leave? */
static uint64
count_records(const GpbRangesWork *work, GpbFetchWhat what)
{
	switch (what)
	{
		case GPB_FETCH_PIECES:
			return counts_of(work)->nunclean;
		case GPB_FETCH_ENTRIES:
			return counts_of(work)->nentries;
		case GPB_FETCH_GROUPS:
			return counts_of(work)->ngroups;
		case GPB_FETCH_BLOCKS:
			break;
	}
	return gpb_count_block_words(&work->spec);
}

static GpbDeviceStatus
fetch_submit(GpbDevice *device, GpbRangesWork *work, GpbFetchWhat what, uint64 first, uint64 n,
			 void *into)
{
	const GpbListMemory *list = what == GPB_FETCH_PIECES ? &work->pieces : &work->entries;
	const char *from = (const char *) list->result + first * list->width;
	size_t		width = list->width;

	if (what == GPB_FETCH_GROUPS)
	{
		width = work->plan.groups.row_words * sizeof(int64);
		from = (const char *) work->groups.row.data + first * width;
	}
	if (what == GPB_FETCH_BLOCKS)
	{
		GPB_TRY(gpb_list_blocks(device, device->fetch_stream, &work->entries,
								counts_of(work)->nentries, work->spec.heap_blocks,
								(uint32) first, (uint32) n, &work->blocks));
		from = (const char *) work->blocks.data;
		width = sizeof(uint32);
	}
	return gpb_check(device, cudaMemcpyAsync(into, from, n * width, cudaMemcpyDeviceToHost,
											 device->fetch_stream), "copying records");
}

GpbDeviceStatus
gpb_cuda_fetch(GpbDevice *device, int number, GpbFetchWhat what, uint64 first, uint64 n,
			   void *into)
{
	GpbRangesWork *work = device->channel[number].ranges;
	uint64		count;

	GPB_ENTER(device);
	if (work == NULL || work->state != GPB_CHANNEL_FINISHED || work->outcome != GPB_DEVICE_OK)
		return gpb_refuse(device, "no finished ranges on channel %d; finish them first", number);
	count = count_records(work, what);
	if (first > count || n > count - first)
		return gpb_refuse(device, "%llu records were left on channel %d; fetch no more",
						  (unsigned long long) count, number);
	if (n == 0)
		return GPB_DEVICE_OK;
	GPB_TRY_CUDA(device, cudaStreamWaitEvent(device->fetch_stream, work->ready, 0));
	GPB_TRY(fetch_submit(device, work, what, first, n, into));
	return gpb_check(device, cudaStreamSynchronize(device->fetch_stream), "fetching records");
}

#ifdef GPB_BENCH

/*
 * Submit the kernels of the ranges that were finished on the channel once more.  The mirror must
 * still be there.  Lists are found anew and not sorted.
 */
GpbDeviceStatus
gpb_ranges_repeat(GpbDevice *device, int number)
{
	GpbChannel *channel = &device->channel[number];
	const GpbRangesWork *work = channel->ranges;

	if (work == NULL || work->state != GPB_CHANNEL_FINISHED || work->outcome != GPB_DEVICE_OK ||
		work->spec.n == 0)
		return gpb_refuse(device, "no finished ranges on channel %d; finish them first", number);
	return end_reading(device, channel, submit_kernels(device, channel));
}

#endif							/* GPB_BENCH */
