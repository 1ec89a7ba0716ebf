/*-------------------------------------------------------------------------
 *
 * aggregate.cu
 *	  An aggregate over a mirror, from the request to its answer and lists.
 *
 * Launching submits one transfer of input, a kernel that finds the leaves of the range, one
 * pass over them for every few columns, and one transfer of the answer back.
 * Nothing there waits.  If a list turns out longer than the channel's memory for it,
 * finishing enlarges that and runs the whole again.  By then newer images may have come:
 * their stamps are above the request's epoch, so their leaves are unclean, and any
 * inner image partitions the keys; the answer differs but is as exact.
 *
 *-------------------------------------------------------------------------
 */
#include <stddef.h>

#include "device.cuh"
#include "search.cuh"
#include "tuning.cuh"

/* ---- kernels ---- */

#define GPB_PREPARE_THREADS 256

/* How many separators are below the bound; the whole warp calls, all get the answer. */
static __device__ uint32
gpb_count_below(const GpbSeparators *separators, GpbBound bound, bool or_equal)
{
	int			lane = threadIdx.x % GPB_WARP;
	uint32		low = 0;
	uint32		n = separators->n;

	while (n > 0)
	{
		uint32		stride = gpb_probe_stride(n);
		uint64		probe = gpb_probe(stride, lane);
		bool		below = probe < n &&
			gpb_separator_below(separators, low + (uint32) probe, bound, or_equal);
		uint32		hits = __popc(__ballot_sync(GPB_ALL_LANES, below));

		low += hits * stride;
		n -= hits * stride;
		if (n > stride - 1)
			n = stride - 1;
	}
	return low;
}

static __device__ void
find_leaves(const GpbLeafJob *job)
{
	bool		low = threadIdx.x < GPB_WARP;
	uint32		below = gpb_count_below(&job->separators,
										low ? job->range.lo : job->range.hi, low);

	if (threadIdx.x == 0)
		job->answer->first = below - 1; /* separator 0 is below everything */
	if (threadIdx.x == GPB_WARP)
		job->answer->end = below;
}

static __device__ void
clear_answer(GpbAnswer *answer, uint32 nsums, uint32 thread, uint32 threads)
{
	int64	   *word = (int64 *) answer->sum;

	if (thread == 0)
	{
		answer->entries = 0;
		answer->leaves = 0;
		answer->nheap = 0;
		answer->nunclean = 0;
	}
	if (thread < GPB_MAX_COLUMNS)
		gpb_column_state_init(&answer->column[thread]);
	for (uint32 i = thread; i < nsums * (sizeof(GpbFloatSum) / sizeof(int64)); i += threads)
		word[i] = 0;
}

/* A bit for each whole group of heap blocks: 32 lanes make a word. */
static __device__ void
summarize_visibility(const GpbLeafJob *job, uint32 *summary, uint32 group)
{
	bool		whole = group < job->heap_blocks / GPB_SUMMARY_BLOCKS;
	bool		all = whole && gpb_group_all_visible(job->visible, group);
	uint32		word = __ballot_sync(GPB_ALL_LANES, all);

	if (group % 32 == 0 && group / 32 < gpb_summary_words(job->heap_blocks))
		summary[group / 32] = word;
}

/*
 * Block 0: the leaves of the range, and an empty answer.  Other blocks: the summary
 * of the visibility bits.
 */
static __global__ void __launch_bounds__(GPB_PREPARE_THREADS)
prepare_aggregate(const __grid_constant__ GpbLeafJob job, uint32 *summary)
{
	if (blockIdx.x > 0)
		summarize_visibility(&job, summary,
							 (blockIdx.x - 1) * GPB_PREPARE_THREADS + threadIdx.x);
	else if (threadIdx.x < 2 * GPB_WARP)
		find_leaves(&job);
	else
		clear_answer(job.answer, job.nsums, threadIdx.x - 2 * GPB_WARP,
					 GPB_PREPARE_THREADS - 2 * GPB_WARP);
}

/* ---- columns ---- */

static bool
is_float_sum(const GpbAggregateSpec *spec, int column)
{
	return column > 0 && (spec->want[column] & GPB_WANT_SUM) != 0 &&
		spec->layout.kind[column - 1] == GPB_KIND_FLOAT8;
}

static uint32
count_float_sums(const GpbAggregateSpec *spec)
{
	uint32		n = 0;
	int			c;

	for (c = 1; c <= spec->layout.ncolumns; c++)
		n += is_float_sum(spec, c);
	return n;
}

static GpbPassColumn
pass_column(const GpbAggregateSpec *spec, int c, uint32 sum)
{
	const GpbLayout *layout = &spec->layout;
	bool		nulls_first = (layout->flags & GPB_LAYOUT_NULLS_FIRST) != 0;
	GpbPassColumn column;

	column.index = (uint8) c;
	column.want = spec->want[c];
	column.kind = c == 0 ? layout->key_kind : layout->kind[c - 1];
	column.offset = c == 0 ? 0 : layout->offset[c - 1];
	column.sum = sum;
	column.null_mask = c == 0 ? GPB_LOC_ORDER_BIT : (uint64) 1 << (GPB_LOC_NULL_SHIFT + c - 1);
	column.null_flip = c == 0 && nulls_first ? GPB_LOC_ORDER_BIT : 0;
	return column;
}

/* One pass with the columns put into the job; the next starts without any. */
static GpbDeviceStatus
run_pass(GpbDevice *device, GpbLeafJob *job, bool float_sum)
{
	GPB_TRY(gpb_leaves_launch(device, job, float_sum));
	memset(job->column, 0, sizeof(job->column));
	job->first_pass = false;
	return GPB_DEVICE_OK;
}

/* A pass for each float8 sum, and one for every GPB_PASS_COLUMNS of the others. */
static GpbDeviceStatus
run_passes(GpbDevice *device, GpbLeafJob *job, const GpbAggregateSpec *spec)
{
	uint32		sum = 0;
	int			n = 0;
	int			c;

	memset(job->column, 0, sizeof(job->column));
	for (c = 0; c <= spec->layout.ncolumns; c++)
	{
		if (spec->want[c] == 0 || is_float_sum(spec, c))
			continue;
		job->column[n++] = pass_column(spec, c, 0);
		if (n < GPB_PASS_COLUMNS)
			continue;
		GPB_TRY(run_pass(device, job, false));
		n = 0;
	}
	if (n > 0)
		GPB_TRY(run_pass(device, job, false));
	for (c = 1; c <= spec->layout.ncolumns; c++)
	{
		if (!is_float_sum(spec, c))
			continue;
		job->column[0] = pass_column(spec, c, sum++);
		GPB_TRY(run_pass(device, job, true));
	}
	return job->first_pass ? run_pass(device, job, false) : GPB_DEVICE_OK;
}

/* ---- lists ---- */

static uint64
list_capacity(const GpbListMemory *list)
{
	uint64		orders = list->order.size / sizeof(uint64);
	uint64		records = list->width ? list->record.size / list->width : 0;

	return orders < records ? orders : records;
}

static GpbDeviceStatus
reserve_list(GpbDevice *device, GpbListMemory *list, uint64 capacity, uint32 width)
{
	list->width = width;
	if (capacity <= list_capacity(list))
		return GPB_DEVICE_OK;
	GPB_TRY(gpb_buffer_reserve(device, &list->order, capacity * sizeof(uint64)));
	return gpb_buffer_reserve(device, &list->record, capacity * width);
}

static GpbList
list_view(const GpbListMemory *memory)
{
	GpbList		list;

	list.order = (uint64 *) memory->order.data;
	list.record = (char *) memory->record.data;
	list.capacity = list_capacity(memory);
	return list;
}

/* ---- submitting ---- */

/* Where the summary lies in the channel's input: behind what was transferred */
static size_t
summary_offset(const GpbChannel *channel)
{
	return channel->changed_offset + (channel->changed_blocks + 31) / 32 * sizeof(uint32);
}

static GpbLeafJob
make_job(const GpbChannel *channel)
{
	const GpbAggregateSpec *spec = &channel->spec;
	const char *input = (const char *) channel->input.data;
	GpbLeafJob	job;

	memset(&job, 0, sizeof(job));
	job.range = spec->range;
	job.epoch = spec->epoch;
	job.dead_mask = spec->ignore_dead_hints ? 0 : GPB_LOC_DEAD;
	job.separators = gpb_mirror_separators(channel->mirror);
	job.images = gpb_mirror_images(channel->mirror);
	job.changed = (const uint32 *) (input + channel->changed_offset);
	job.visible = (const uint8 *) input;
	job.all_visible = (const uint32 *) (input + summary_offset(channel));
	job.answer = channel->answer;
	job.heap = list_view(&channel->heap);
	job.unclean = list_view(&channel->unclean);
	job.changed_blocks = channel->changed_blocks;
	job.heap_blocks = spec->heap_blocks;
	job.nsums = channel->nsums;
	job.key_width = spec->layout.key_width;
	job.row_width = spec->layout.row_width;
	job.layout_flags = spec->layout.flags;
	job.first_pass = true;
	return job;
}

/* All of an aggregate but its input. */
static GpbDeviceStatus
submit(GpbDevice *device, GpbChannel *channel)
{
	GpbLeafJob	job = make_job(channel);
	uint32		groups = gpb_summary_words(job.heap_blocks) * 32;
	uint32		blocks = 1 + (groups + GPB_PREPARE_THREADS - 1) / GPB_PREPARE_THREADS;
	size_t		bytes = offsetof(GpbAnswer, sum) + channel->nsums * sizeof(GpbFloatSum);

	GPB_TRY(gpb_launch(device, "prepare_aggregate", blocks, GPB_PREPARE_THREADS,
					   prepare_aggregate, job, (uint32 *) job.all_visible));
	GPB_TRY(run_passes(device, &job, &channel->spec));
	GPB_TRY_CUDA(device, cudaMemcpyAsync(channel->answer_host, channel->answer, bytes,
										 cudaMemcpyDeviceToHost, device->stream));
	return gpb_check(device, cudaEventRecord(channel->done, device->stream),
					 "cudaEventRecord");
}

/* ---- launching ---- */

/* Only into the channel's pinned copy: it goes to the device with the launch. */
GpbDeviceStatus
gpb_cuda_set_visibility(GpbDevice *device, int number, uint64 offset, const void *bits, uint64 n)
{
	GpbChannel *channel = &device->channel[number];

	GPB_ENTER(device);
	GPB_TRY(gpb_pinned_reserve(device, &channel->visible_host, offset + n));
	memcpy((char *) channel->visible_host.data + offset, bits, n);
	if (offset == 0 || offset + n > channel->visible_bytes)
		channel->visible_bytes = offset + n;
	return GPB_DEVICE_OK;
}

/* Heap blocks that the request has visibility bits for: bits never set do not count. */
static uint32
covered_heap_blocks(const GpbChannel *channel, uint32 heap_blocks)
{
	uint64		covered = channel->visible_bytes * GPB_HEAPBLOCKS_PER_BYTE;

	return heap_blocks < covered ? heap_blocks : (uint32) covered;
}

static GpbDeviceStatus
copy_input(GpbDevice *device, GpbChannel *channel, size_t offset, const void *from, size_t n)
{
	if (n == 0)
		return GPB_DEVICE_OK;
	return gpb_check(device,
					 cudaMemcpyAsync((char *) channel->input.data + offset, from, n,
									 cudaMemcpyHostToDevice, device->stream),
					 "copying input");
}

/*
 * Visibility and changed bits to the device.  The pinned copies are the channel's
 * until the aggregate has finished.
 */
static GpbDeviceStatus
submit_input(GpbDevice *device, GpbChannel *channel, const uint32 *changed)
{
	uint32		heap_blocks = channel->spec.heap_blocks;
	size_t		visible = ((size_t) heap_blocks + GPB_HEAPBLOCKS_PER_BYTE - 1) /
		GPB_HEAPBLOCKS_PER_BYTE;
	size_t		words = ((size_t) channel->changed_blocks + 31) / 32;

	channel->changed_offset = (visible + 15) & ~(size_t) 15;
	GPB_TRY(gpb_pinned_reserve(device, &channel->changed_host, words * sizeof(uint32)));
	GPB_TRY(gpb_buffer_reserve(device, &channel->input,
							   summary_offset(channel) +
							   gpb_summary_words(heap_blocks) * sizeof(uint32)));
	if (words > 0)
		memcpy(channel->changed_host.data, changed, words * sizeof(uint32));
	GPB_TRY(copy_input(device, channel, 0, channel->visible_host.data, visible));
	return copy_input(device, channel, channel->changed_offset, channel->changed_host.data,
					  words * sizeof(uint32));
}

/* Does the channel have an answer without asking the device? */
static bool
answer_at_once(GpbChannel *channel)
{
	bool		empty = !gpb_bound_less(channel->spec.range.lo, channel->spec.range.hi);

	channel->all_unclean = !empty && channel->mirror->tree.n == 0;
	if (!empty && !channel->all_unclean)
		return false;
	memset(channel->answer_host, 0, sizeof(GpbAnswer));
	for (int c = 0; c < GPB_MAX_COLUMNS; c++)
		gpb_column_state_init(&channel->answer_host->column[c]);
	channel->answer_host->nunclean = channel->all_unclean;
	return true;
}

GpbDeviceStatus
gpb_cuda_aggregate_launch(GpbDevice *device, GpbDeviceMirror *mirror, int number,
						  const GpbAggregateSpec *spec, const uint32 *changed, uint32 nblocks)
{
	GpbChannel *channel = &device->channel[number];

	GPB_ENTER(device);
	if (channel->state == GPB_CHANNEL_LAUNCHED)
		(void) gpb_channel_complete(device, channel);	/* nobody wanted it */
	GPB_ENTER(device);
	channel->state = GPB_CHANNEL_IDLE;
	channel->mirror = mirror;
	channel->spec = *spec;
	channel->spec.heap_blocks = covered_heap_blocks(channel, spec->heap_blocks);
	channel->changed_blocks = nblocks;
	channel->nsums = count_float_sums(spec);
	if (answer_at_once(channel))
	{
		channel->outcome = GPB_DEVICE_OK;
		channel->state = GPB_CHANNEL_FINISHED;
		return GPB_DEVICE_OK;
	}
	GPB_TRY(reserve_list(device, &channel->heap, GPB_HEAP_CAPACITY,
						 gpb_heap_entry_width(spec->layout.row_width)));
	GPB_TRY(reserve_list(device, &channel->unclean, GPB_UNCLEAN_CAPACITY,
						 sizeof(GpbUncleanLeaf)));
	GPB_TRY(submit_input(device, channel, changed));
	GPB_TRY(submit(device, channel));
	channel->state = GPB_CHANNEL_LAUNCHED;
	return GPB_DEVICE_OK;
}

/* ---- finishing ---- */

/* Wait for the answer; true in *whole if both lists had room. */
static GpbDeviceStatus
await_answer(GpbDevice *device, GpbChannel *channel, bool *whole)
{
	const GpbAnswer *answer = channel->answer_host;

	GPB_TRY_CUDA(device, cudaEventSynchronize(channel->done));
	*whole = answer->nheap <= list_capacity(&channel->heap) &&
		answer->nunclean <= list_capacity(&channel->unclean);
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
run_to_end(GpbDevice *device, GpbChannel *channel)
{
	const GpbAnswer *answer = channel->answer_host;
	bool		whole;

	GPB_TRY(await_answer(device, channel, &whole));
	while (!whole)
	{
		GPB_TRY(reserve_list(device, &channel->heap, answer->nheap, channel->heap.width));
		GPB_TRY(reserve_list(device, &channel->unclean, answer->nunclean,
							 channel->unclean.width));
		GPB_TRY(submit(device, channel));
		GPB_TRY(await_answer(device, channel, &whole));
	}
	GPB_TRY(gpb_list_sort(device, &channel->heap, answer->nheap, 48));
	GPB_TRY(gpb_list_sort(device, &channel->unclean, answer->nunclean, 32));
	return gpb_check(device, cudaEventRecord(channel->sorted, device->stream),
					 "cudaEventRecord");
}

GpbDeviceStatus
gpb_channel_complete(GpbDevice *device, GpbChannel *channel)
{
	channel->outcome = run_to_end(device, channel);
	channel->state = GPB_CHANNEL_FINISHED;
	return channel->outcome;
}

static void
copy_result(const GpbChannel *channel, GpbAggregateResult *result, GpbFloatSum *sums)
{
	const GpbAnswer *answer = channel->answer_host;

	result->state.entries = (int64) answer->entries;
	memcpy(result->state.column, answer->column, sizeof(answer->column));
	result->leaves = answer->leaves;
	result->unclean = answer->nunclean;
	result->heap = answer->nheap;
	for (uint32 i = 0; i < channel->nsums; i++)
	{
		sums[i] = answer->sum[i];
		gpb_float_sum_normalize(&sums[i]);
	}
}

GpbDeviceStatus
gpb_cuda_aggregate_finish(GpbDevice *device, int number, GpbAggregateResult *result,
						  GpbFloatSum *sums)
{
	GpbChannel *channel = &device->channel[number];

	GPB_ENTER(device);
	if (channel->state == GPB_CHANNEL_IDLE)
		return gpb_refuse(device, "no aggregate was launched on channel %d", number);
	if (channel->state == GPB_CHANNEL_LAUNCHED)
		(void) gpb_channel_complete(device, channel);
	if (channel->outcome == GPB_DEVICE_OK)
		copy_result(channel, result, sums);
	return channel->outcome;
}

/* The one record of a range for which there is no inner image */
static GpbUncleanLeaf
whole_range(const GpbChannel *channel)
{
	GpbUncleanLeaf leaf;

	leaf.range = channel->spec.range;
	leaf.block = GPB_NO_BLOCK;
	leaf.pad = 0;
	return leaf;
}

GpbDeviceStatus
gpb_cuda_fetch(GpbDevice *device, int number, GpbFetchWhat what, uint64 first, uint64 n,
			   void *into)
{
	GpbChannel *channel = &device->channel[number];
	GpbListMemory *list = what == GPB_FETCH_HEAP ? &channel->heap : &channel->unclean;
	const GpbAnswer *answer = channel->answer_host;
	uint64		count = what == GPB_FETCH_HEAP ? answer->nheap : answer->nunclean;

	GPB_ENTER(device);
	if (channel->state != GPB_CHANNEL_FINISHED || channel->outcome != GPB_DEVICE_OK ||
		first > count || n > count - first)
		return gpb_refuse(device, "no such records on channel %d", number);
	if (n == 0)
		return GPB_DEVICE_OK;
	if (channel->all_unclean)
	{
		*(GpbUncleanLeaf *) into = whole_range(channel);
		return GPB_DEVICE_OK;
	}
	GPB_TRY_CUDA(device, cudaStreamWaitEvent(device->fetch_stream, channel->sorted, 0));
	GPB_TRY_CUDA(device, cudaMemcpyAsync(into, (const char *) list->result + first * list->width,
										 n * list->width, cudaMemcpyDeviceToHost,
										 device->fetch_stream));
	return gpb_check(device, cudaStreamSynchronize(device->fetch_stream), "fetching records");
}
