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

/*
 * Block 0: the leaves of the range, and an empty answer.  Other blocks: the summary
 * of the visibility bits.
 */
static __global__ void __launch_bounds__(GPB_PREPARE_THREADS)
prepare_aggregate(const __grid_constant__ GpbLeafJob job, uint32 *summary)
{
	if (blockIdx.x > 0)
		gpb_summarize_visibility(&job, summary,
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

GpbPassColumn
gpb_pass_column(const GpbLayout *layout, int c, uint8 want, uint32 sum)
{
	bool		nulls_first = (layout->flags & GPB_LAYOUT_NULLS_FIRST) != 0;
	GpbPassColumn column;

	column.index = (uint8) c;
	column.want = want;
	column.kind = c == 0 ? layout->key_kind : layout->kind[c - 1];
	column.is_narrow = column.kind == GPB_KIND_INT2 || column.kind == GPB_KIND_INT4;
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
		job->column[n++] = gpb_pass_column(&spec->layout, c, spec->want[c], 0);
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
		job->column[0] = gpb_pass_column(&spec->layout, c, spec->want[c], sum++);
		GPB_TRY(run_pass(device, job, true));
	}
	return job->first_pass ? run_pass(device, job, false) : GPB_DEVICE_OK;
}

/* ---- submitting ---- */

static GpbLeafJob
make_job(const GpbChannel *channel)
{
	const GpbAggregateSpec *spec = &channel->spec;
	GpbLeafJob	job;

	memset(&job, 0, sizeof(job));
	job.range = spec->range;
	job.epoch = spec->epoch;
	job.dead_mask = spec->ignore_dead_hints ? 0 : GPB_LOC_DEAD;
	job.separators = gpb_mirror_separators(channel->mirror);
	job.images = gpb_mirror_images(channel->mirror);
	gpb_input_show(&channel->input, &job);
	job.answer = channel->answer;
	job.heap = gpb_list_view(&channel->heap);
	job.unclean = gpb_list_view(&channel->unclean);
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
	channel->nsums = count_float_sums(spec);
	if (answer_at_once(channel))
	{
		channel->outcome = GPB_DEVICE_OK;
		channel->state = GPB_CHANNEL_FINISHED;
		return GPB_DEVICE_OK;
	}
	GPB_TRY(gpb_list_reserve(device, &channel->heap, GPB_HEAP_CAPACITY,
						 gpb_heap_entry_width(spec->layout.row_width)));
	GPB_TRY(gpb_list_reserve(device, &channel->unclean, GPB_UNCLEAN_CAPACITY,
						 sizeof(GpbUncleanLeaf)));
	GPB_TRY(gpb_input_submit(device, device->stream, channel, &channel->input,
							 spec->heap_blocks, changed, nblocks));
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
	*whole = answer->nheap <= gpb_list_capacity(&channel->heap) &&
		answer->nunclean <= gpb_list_capacity(&channel->unclean);
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
		GPB_TRY(gpb_list_reserve(device, &channel->heap, answer->nheap, channel->heap.width));
		GPB_TRY(gpb_list_reserve(device, &channel->unclean, answer->nunclean,
							 channel->unclean.width));
		GPB_TRY(submit(device, channel));
		GPB_TRY(await_answer(device, channel, &whole));
	}
	GPB_TRY(gpb_list_sort(device, device->stream, &device->scratch, &channel->heap, answer->nheap, 48));
	GPB_TRY(gpb_list_sort(device, device->stream, &device->scratch, &channel->unclean, answer->nunclean, 32));
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
	if (what > GPB_FETCH_HEAP)
		return gpb_ranges_fetch(device, number, what, first, n, into);
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
