/*-------------------------------------------------------------------------
 *
 * ranges.cu
 *	  A batch of ranges over a mirror, from the request to its answers and lists.
 *
 * On the channel's own stream: the input, the kernels (ranges_kernels.cu), and what
 * they counted back.  Nothing there waits.  A list, or the items of a batch that lists entries,
 * may turn out longer than the channel's memory for it; then finishing enlarges that and
 * runs the kernels again, as aggregate.cu says and with the same right.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "batch_run.cuh"
#include "ranges.cuh"
#include "tuning.cuh"

/* A channel's batch of ranges; its buffers stay from one to the next. */
struct GpbRangesWork
{
	GpbChannelState state;
	GpbDeviceStatus outcome;	/* of finished ranges */
	GpbDeviceMirror *mirror;
	GpbRangesSpec spec;
	GpbInput	input;
	GpbBuffer	ranges;
	GpbBuffer	first;			/* see GpbRangesJob */
	GpbBuffer	items;
	GpbBuffer	place;
	GpbBuffer	live;
	GpbBuffer	answers;
	GpbBuffer	scan;
	GpbBuffer	scratch;		/* of sorting lists */
	GpbSortMemory sort;			/* of many ranges */
	const GpbTreeProfile *profile;
	GpbBuffer	counts;
	GpbPinned	counts_host;
	GpbListMemory entries;
	GpbListMemory pieces;
	cudaEvent_t copied;			/* the input has left the host */
	cudaEvent_t ready;			/* the lists are in order */
};

static GpbRangesCounts *
counts_of(const GpbRangesWork *work)
{
	return (GpbRangesCounts *) work->counts_host.data;
}

static uint64
item_capacity(const GpbRangesWork *work)
{
	uint64		places = work->place.size / sizeof(GpbRangePlace);
	uint64		lives = work->live.size / sizeof(uint64);

	return places < lives ? places : lives;
}

/* ---- memory ---- */

static GpbDeviceStatus
create_events(GpbDevice *device, GpbRangesWork *work)
{
	GPB_TRY_CUDA(device, cudaEventCreateWithFlags(&work->copied, cudaEventDisableTiming));
	return gpb_check(device, cudaEventCreateWithFlags(&work->ready, cudaEventDisableTiming),
					 "cudaEventCreate");
}

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
	return channel->ranges->ready != NULL ? GPB_DEVICE_OK :
		create_events(device, channel->ranges);
}

void
gpb_ranges_free(GpbDevice *device, GpbChannel *channel)
{
	GpbRangesWork *work = channel->ranges;

	if (work == NULL)
		return;
	gpb_input_free(device, &work->input);
	gpb_buffer_free(device, &work->ranges);
	gpb_buffer_free(device, &work->first);
	gpb_buffer_free(device, &work->items);
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
	if (work->copied != NULL)
		(void) cudaEventDestroy(work->copied);
	if (work->ready != NULL)
		(void) cudaEventDestroy(work->ready);
	free(work);
	channel->ranges = NULL;
}

/* Room for the lists, and where entries are listed for so many items */
static GpbDeviceStatus
reserve_lists(GpbDevice *device, GpbRangesWork *work, uint64 entries, uint64 pieces,
			  uint64 items)
{
	const GpbRangesSpec *spec = &work->spec;
	size_t		scan_size;

	if (spec->list_entries && items > 0x7FFFFFFF)
		return gpb_refuse(device, "%llu leaves to list entries of are too many for one request",
						  (unsigned long long) items);
	GPB_TRY(gpb_list_reserve(device, &work->entries, entries,
							 gpb_range_entry_width(spec->layout.row_width)));
	GPB_TRY(gpb_list_reserve(device, &work->pieces, pieces, sizeof(GpbUncleanPiece)));
	GPB_TRY(gpb_buffer_reserve(device, &work->place,
							   (spec->list_entries ? items : spec->n) * sizeof(GpbRangePlace)));
	if (spec->list_entries)
		GPB_TRY(gpb_buffer_reserve(device, &work->live, items * sizeof(uint64)));
	GPB_TRY(gpb_ranges_scan_size(device, spec->n,
								 spec->list_entries ? item_capacity(work) : 0, &scan_size));
	return gpb_buffer_reserve(device, &work->scan, scan_size);
}

/* Are the ranges many enough to be sorted?  Lists are in the order of the ranges. */
static bool
is_ordered(const GpbRangesWork *work)
{
	return !work->spec.list_entries && work->spec.n >= GPB_ORDERED_RANGES &&
		work->spec.n <= GPB_SORT_AT_ONCE && work->mirror->tree.n > 1;
}

/* All memory but the input's and CUB's, before anything is submitted */
static GpbDeviceStatus
reserve_work(GpbDevice *device, GpbRangesWork *work)
{
	const GpbRangesSpec *spec = &work->spec;
	size_t		n = spec->n;
	uint64		listed = spec->list_entries ? n : 0;

	GPB_TRY(gpb_buffer_reserve(device, &work->counts, sizeof(GpbRangesCounts)));
	GPB_TRY(gpb_pinned_reserve(device, &work->counts_host, sizeof(GpbRangesCounts)));
	GPB_TRY(gpb_buffer_reserve(device, &work->ranges,
							   n * (spec->points ? sizeof(uint64) : sizeof(GpbKeyRange))));
	GPB_TRY(gpb_buffer_reserve(device, &work->first, n * sizeof(uint32)));
	GPB_TRY(gpb_buffer_reserve(device, &work->items, n * sizeof(uint64)));
	if (is_ordered(work))
	{
		GPB_TRY(gpb_mirror_profile(device, work->mirror, &work->profile));
		GPB_TRY(gpb_buffer_reserve(device, &work->sort.clamped, n * sizeof(uint64)));
		GPB_TRY(gpb_buffer_reserve(device, &work->sort.order, n * sizeof(uint32)));
	}
	if (!spec->list_entries)
		GPB_TRY(gpb_buffer_reserve(device, &work->answers,
								   n * gpb_range_answer_width(spec->want)));
	return reserve_lists(device, work, GPB_RANGE_ENTRY_CAPACITY + listed,
						 GPB_RANGE_PIECE_CAPACITY, GPB_RANGE_ITEM_CAPACITY + 2 * listed);
}

/* ---- submitting ---- */

static GpbRangesJob
make_job(const GpbRangesWork *work)
{
	const GpbRangesSpec *spec = &work->spec;
	GpbRangesJob job;

	memset(&job, 0, sizeof(job));
	job.epoch = spec->epoch;
	job.dead_mask = spec->ignore_dead_hints ? 0 : GPB_LOC_DEAD;
	job.separators = gpb_mirror_separators(work->mirror);
	job.images = gpb_mirror_images(work->mirror);
	gpb_input_show(&work->input, &job);
	job.heap = gpb_list_view(&work->entries);
	job.unclean = gpb_list_view(&work->pieces);
	job.key_width = spec->layout.key_width;
	job.row_width = spec->layout.row_width;
	job.layout_flags = spec->layout.flags;
	job.first_pass = true;
	if (!spec->list_entries)
		job.column[0] = gpb_pass_column(&spec->layout, spec->column, spec->want, 0);
	job.tree = gpb_mirror_tree(work->mirror);
	job.ranges = work->ranges.data;
	job.n = spec->n;
	job.points = spec->points;
	job.list_entries = spec->list_entries;
	job.counts = (GpbRangesCounts *) work->counts.data;
	job.answers = (int64 *) work->answers.data;
	job.words = (uint32) gpb_range_answer_width(spec->want) / sizeof(int64);
	job.first = (uint32 *) work->first.data;
	job.items = (uint64 *) work->items.data;
	job.place = (GpbRangePlace *) work->place.data;
	job.live = (uint64 *) work->live.data;
	job.item_capacity = item_capacity(work);
	return job;
}

/* The kernels, and what they counted */
static GpbDeviceStatus
submit_kernels(GpbDevice *device, GpbChannel *channel)
{
	GpbRangesWork *work = channel->ranges;
	GpbRangesJob job = make_job(work);

	GPB_TRY(gpb_reader_begin(device, channel));
	if (is_ordered(work))
	{
		GPB_TRY(gpb_ranges_order(device, channel->stream, &job, work->profile, &work->sort));
		job.order = (const uint32 *) work->sort.order.data;
	}
	GPB_TRY(gpb_ranges_run(device, channel->stream, &job, work->scan.data, work->scan.size));
	return gpb_check(device,
					 cudaMemcpyAsync(work->counts_host.data, work->counts.data,
									 sizeof(GpbRangesCounts), cudaMemcpyDeviceToHost,
									 channel->stream),
					 "copying counts");
}

static GpbDeviceStatus
submit_input(GpbDevice *device, GpbChannel *channel, const void *ranges, const uint32 *changed,
			 uint32 nblocks)
{
	GpbRangesWork *work = channel->ranges;
	const GpbRangesSpec *spec = &work->spec;
	size_t		bytes = spec->n * (spec->points ? sizeof(uint64) : sizeof(GpbKeyRange));

	GPB_TRY(gpb_input_submit(device, channel->stream, channel, &work->input, spec->heap_blocks,
							 changed, nblocks));
	GPB_TRY_CUDA(device, cudaMemcpyAsync(work->ranges.data, ranges, bytes,
										 cudaMemcpyHostToDevice, channel->stream));
	return gpb_check(device, cudaEventRecord(work->copied, channel->stream), "cudaEventRecord");
}

/* Whatever was submitted, the channel's stream is to be waited for. */
static GpbDeviceStatus
end_reading(GpbDevice *device, GpbChannel *channel, GpbDeviceStatus status)
{
	GpbDeviceStatus ended = gpb_reader_end(device, channel);

	return status != GPB_DEVICE_OK ? status : ended;
}

/* ---- launching ---- */

/* What is asked of a column that it cannot answer is said here. */
static GpbDeviceStatus
check_spec(GpbDevice *device, const GpbRangesSpec *spec)
{
	if (spec->list_entries)
		return GPB_DEVICE_OK;
	if (spec->column > spec->layout.ncolumns)
		return gpb_refuse(device, "ranges of column %d of %d; name the key or an INCLUDE column",
						  spec->column, spec->layout.ncolumns);
	if ((spec->want & GPB_WANT_SUM) != 0 && spec->column > 0 &&
		spec->layout.kind[spec->column - 1] == GPB_KIND_FLOAT8)
		return gpb_refuse(device, "a float8 column is not summed over ranges; "
						  "use an aggregate for each range");
	if (spec->n > 0x7FFFFFFF)
		return gpb_refuse(device, "%u ranges are too many for one request; ask for fewer",
						  spec->n);
	return GPB_DEVICE_OK;
}

/* Requests of either kind that were launched on the channel and never finished */
static GpbDeviceStatus
abandon(GpbDevice *device, GpbChannel *channel)
{
	if (channel->state == GPB_CHANNEL_LAUNCHED)
		(void) gpb_channel_complete(device, channel);
	GPB_ENTER(device);
	if (channel->ranges->state == GPB_CHANNEL_LAUNCHED)
		GPB_TRY_CUDA(device, cudaStreamSynchronize(channel->stream));
	channel->ranges->state = GPB_CHANNEL_IDLE;
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
submit(GpbDevice *device, GpbChannel *channel, const void *ranges, const uint32 *changed,
	   uint32 nblocks)
{
	GPB_TRY(submit_input(device, channel, ranges, changed, nblocks));
	return submit_kernels(device, channel);
}

GpbDeviceStatus
gpb_cuda_ranges_launch(GpbDevice *device, GpbDeviceMirror *mirror, int number,
					   const GpbRangesSpec *spec, const void *ranges, const uint32 *changed,
					   uint32 nblocks)
{
	GpbChannel *channel = &device->channel[number];
	GpbRangesWork *work;

	GPB_ENTER(device);
	GPB_TRY(make_work(device, channel));
	work = channel->ranges;
	GPB_TRY(abandon(device, channel));
	GPB_TRY(check_spec(device, spec));
	work->mirror = mirror;
	work->spec = *spec;
	GPB_TRY(reserve_work(device, work));
	if (spec->n == 0)
	{
		memset(counts_of(work), 0, sizeof(GpbRangesCounts));
		work->outcome = GPB_DEVICE_OK;
		work->state = GPB_CHANNEL_FINISHED;
		return GPB_DEVICE_OK;
	}
	GPB_TRY(end_reading(device, channel, submit(device, channel, ranges, changed, nblocks)));
	work->state = GPB_CHANNEL_LAUNCHED;
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
gpb_ranges_await_input(GpbDevice *device, GpbChannel *channel)
{
	if (channel->ranges == NULL || channel->ranges->state != GPB_CHANNEL_LAUNCHED)
		return GPB_DEVICE_OK;
	return gpb_check(device, cudaEventSynchronize(channel->ranges->copied),
					 "waiting for input");
}

/* ---- finishing ---- */

/* Wait for the counts; true in *whole if all they count had room. */
static GpbDeviceStatus
await_counts(GpbDevice *device, GpbChannel *channel, bool *whole)
{
	GpbRangesWork *work = channel->ranges;
	const GpbRangesCounts *counts = counts_of(work);

	GPB_TRY_CUDA(device, cudaEventSynchronize(channel->read));
	*whole = counts->nentries <= gpb_list_capacity(&work->entries) &&
		counts->nunclean <= gpb_list_capacity(&work->pieces) &&
		(!work->spec.list_entries || counts->nitems <= item_capacity(work));
	return GPB_DEVICE_OK;
}

/* Pieces by number and separator, entries to be checked by TID; listed ones are in order. */
static GpbDeviceStatus
sort_lists(GpbDevice *device, GpbChannel *channel)
{
	GpbRangesWork *work = channel->ranges;
	const GpbRangesCounts *counts = counts_of(work);

	work->entries.result = work->entries.record.data;
	if (!work->spec.list_entries)
		GPB_TRY(gpb_list_sort(device, channel->stream, &work->scratch, &work->entries,
							  counts->nentries, 48));
	GPB_TRY(gpb_list_sort(device, channel->stream, &work->scratch, &work->pieces,
						  counts->nunclean, 64));
	return gpb_check(device, cudaEventRecord(work->ready, channel->stream), "cudaEventRecord");
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
							  counts->nitems));
		GPB_TRY(end_reading(device, channel, submit_kernels(device, channel)));
		GPB_TRY(await_counts(device, channel, &whole));
	}
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
	}
	return work->outcome;
}

/* ---- fetching ---- */

/* Where the records are, how wide, and how many */
static const char *
records_of(const GpbRangesWork *work, GpbFetchWhat what, uint32 *width, uint64 *count)
{
	const GpbListMemory *list = what == GPB_FETCH_PIECES ? &work->pieces : &work->entries;

	if (what == GPB_FETCH_ANSWERS)
	{
		*width = (uint32) gpb_range_answer_width(work->spec.want);
		*count = work->spec.list_entries ? 0 : work->spec.n;
		return (const char *) work->answers.data;
	}
	*width = list->width;
	*count = what == GPB_FETCH_PIECES ? counts_of(work)->nunclean : counts_of(work)->nentries;
	return (const char *) list->result;
}

GpbDeviceStatus
gpb_ranges_fetch(GpbDevice *device, int number, GpbFetchWhat what, uint64 first, uint64 n,
				 void *into)
{
	const GpbRangesWork *work = device->channel[number].ranges;
	const char *from;
	uint32		width;
	uint64		count;

	if (work == NULL || work->state != GPB_CHANNEL_FINISHED || work->outcome != GPB_DEVICE_OK)
		return gpb_refuse(device, "no finished ranges on channel %d; finish them first", number);
	from = records_of(work, what, &width, &count);
	if (first > count || n > count - first)
		return gpb_refuse(device, "%llu records were left on channel %d; fetch no more",
						  (unsigned long long) count, number);
	if (n == 0)
		return GPB_DEVICE_OK;
	GPB_TRY_CUDA(device, cudaStreamWaitEvent(device->fetch_stream, work->ready, 0));
	GPB_TRY_CUDA(device, cudaMemcpyAsync(into, from + first * width, n * width,
										 cudaMemcpyDeviceToHost, device->fetch_stream));
	return gpb_check(device, cudaStreamSynchronize(device->fetch_stream), "fetching records");
}

/* ---- timing ---- */

static GpbDeviceStatus
time_kernels(GpbDevice *device, GpbChannel *channel, int rounds, cudaEvent_t begin,
			 cudaEvent_t end)
{
	GpbDeviceStatus status;

	GPB_TRY_CUDA(device, cudaEventRecord(begin, channel->stream));
	for (int i = 0; i < rounds; i++)
	{
		status = end_reading(device, channel, submit_kernels(device, channel));
		if (status != GPB_DEVICE_OK)
			return status;
	}
	GPB_TRY_CUDA(device, cudaEventRecord(end, channel->stream));
	return gpb_check(device, cudaEventSynchronize(end), "timing ranges");
}

/* The mirror must still be there; lists are found anew and not sorted. */
GpbDeviceStatus
gpb_ranges_time(GpbDevice *device, int number, int rounds, float *ms)
{
	GpbChannel *channel = &device->channel[number];
	cudaEvent_t begin;
	cudaEvent_t end;
	GpbDeviceStatus status;

	if (channel->ranges == NULL || channel->ranges->state != GPB_CHANNEL_FINISHED ||
		channel->ranges->outcome != GPB_DEVICE_OK || channel->ranges->spec.n == 0)
		return gpb_refuse(device, "no finished ranges on channel %d; finish them first", number);
	GPB_TRY_CUDA(device, cudaEventCreateWithFlags(&begin, cudaEventDefault));
	GPB_TRY_CUDA(device, cudaEventCreateWithFlags(&end, cudaEventDefault));
	status = time_kernels(device, channel, rounds, begin, end);
	if (status == GPB_DEVICE_OK)
		status = gpb_check(device, cudaEventElapsedTime(ms, begin, end), "timing ranges");
	*ms /= rounds;
	(void) cudaEventDestroy(begin);
	(void) cudaEventDestroy(end);
	return status;
}
