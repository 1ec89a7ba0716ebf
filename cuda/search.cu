/*-------------------------------------------------------------------------
 *
 * search.cu
 *	  A batch of searches from host memory, from the request to the results in it.
 *
 * A few keys are read where they lie, in host memory, and their results are written there, by one
 * kernel without a transfer.  Many keys are cut into chunks, which a few pipelines take in
 * turn, so that the transfer of one chunk, the search of another and the transfer of a third one's
 * results overlap (HB+-tree's pipelining and double buffering; Shahvarani and Jacobsen, SIGMOD
 * 2016).
 *
 *		pipeline 0	| keys in | search | leaves out |         | keys in | ...
 *		pipeline 1	          | keys in | search | leaves out |
 *
 * Nothing here waits for the device, except for the look at the order of a batch that may be worth
 * sorting.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "batch_run.cuh"
#include "positions.cuh"
#include "tuning.cuh"

struct GpbSearchWork
{
	bool		launched;
	GpbDeviceStatus outcome;	/* status of the submission */
	GpbPipeline pipeline[GPB_PIPELINES];	/* the first on the channel's own stream */
	cudaEvent_t forked;			/* the other pipelines may begin */
	cudaEvent_t joined[GPB_PIPELINES];	/* a pipeline has ended */
	GpbPinned	changed_host;
	GpbBuffer	changed;
};

GpbSorting	gpb_near_sorting = GPB_SORT_MAY;

/* One launch of a batch */
struct SearchState
{
	GpbDevice  *device;
	GpbDeviceMirror *mirror;
	GpbSearchWork *work;
	const GpbSearchSpec *spec;
	const GpbTreeProfile *profile;
	uint32		nblocks;		/* of the changed map */
	bool		any_changed;	/* of these blocks */
	uint32		turn;			/* chunks submitted so far */
};

/* ---- the work's memory ---- */

static GpbDeviceStatus
open_pipelines(GpbDevice *device, GpbChannel *channel)
{
	GpbSearchWork *work = channel->search;

	GPB_TRY_CUDA(device, cudaEventCreateWithFlags(&work->forked, cudaEventDisableTiming));
	for (int i = 0; i < GPB_PIPELINES; i++)
	{
		if (i > 0)
			GPB_TRY_CUDA(device, cudaStreamCreateWithFlags(&channel->side_stream[i - 1],
														   cudaStreamNonBlocking));
		work->pipeline[i].stream = i > 0 ? channel->side_stream[i - 1] : channel->stream;
		GPB_TRY_CUDA(device, cudaEventCreateWithFlags(&work->joined[i], cudaEventDisableTiming));
		GPB_TRY_CUDA(device, cudaHostAlloc((void **) &work->pipeline[i].sample,
										   sizeof(GpbBatchSample), cudaHostAllocDefault));
	}
	return GPB_DEVICE_OK;
}

void
gpb_search_free(GpbDevice *device, GpbChannel *channel)
{
	GpbSearchWork *work = channel->search;

	if (work == NULL)
		return;
	gpb_pinned_free(device, &work->changed_host);
	gpb_buffer_free(device, &work->changed);
	for (int i = 0; i < GPB_PIPELINES; i++)
		gpb_pipeline_close(device, &work->pipeline[i]);
	for (int i = 0; i < GPB_PIPELINES; i++)
	{
		if (work->joined[i] != NULL)
			(void) cudaEventDestroy(work->joined[i]);
	}
	for (int i = 0; i < GPB_SIDE_STREAMS; i++)
	{
		if (channel->side_stream[i] != NULL)
			(void) cudaStreamDestroy(channel->side_stream[i]);
		channel->side_stream[i] = NULL;
	}
	if (work->forked != NULL)
		(void) cudaEventDestroy(work->forked);
	free(work);
	channel->search = NULL;
}

/* See that the channel has its work; on failure it has none of it. */
static GpbDeviceStatus
open_work(GpbDevice *device, GpbChannel *channel)
{
	GpbDeviceStatus status;

	if (channel->search != NULL)
		return GPB_DEVICE_OK;
	channel->search = (GpbSearchWork *) calloc(1, sizeof(GpbSearchWork));
	if (channel->search == NULL)
		return gpb_refuse(device, "out of memory");
	status = open_pipelines(device, channel);
	if (status != GPB_DEVICE_OK)
		gpb_search_free(device, channel);
	return status;
}

/* ---- few keys ---- */

/* Do all the bytes lie in the registered memory, which the device can read and write? */
static bool
in_region(const GpbDevice *device, const void *p, size_t size)
{
	const char *base = (const char *) device->region;

	return base != NULL && (const char *) p >= base &&
		(const char *) p + size <= base + device->region_size;
}

/* Can all keys be read, and all results written, where they lie in host memory? */
static bool
is_direct(const GpbDevice *device, const GpbSearchSpec *spec, int key_width, uint64 total)
{
	uint32		i;

	if (spec->order != GPB_ORDER_INPUT || total > GPB_DIRECT_KEYS)
		return false;
	for (i = 0; i < spec->npieces; i++)
	{
		const GpbSearchPiece *piece = &spec->piece[i];

		if (piece->position != NULL ||
			!in_region(device, piece->keys, (size_t) piece->n * key_width) ||
			!in_region(device, piece->leaf, (size_t) piece->n * sizeof(uint32)))
			return false;
	}
	return true;
}

/* Submit the one kernel that searches keys where they lie. */
static GpbDeviceStatus
search_direct(const SearchState *state)
{
	const GpbSearchSpec *spec = state->spec;
	GpbBatchJob job;

	memset(&job, 0, sizeof(job));
	job.tree = gpb_mirror_tree(state->mirror);
	job.or_equal = spec->bound == GPB_SEARCH_UPPER;
	for (uint32 i = 0; i < spec->npieces; i++)
	{
		if (spec->piece[i].n == 0)
			continue;
		job.piece[job.npieces].keys = spec->piece[i].keys;
		job.piece[job.npieces].result = spec->piece[i].leaf;
		job.piece[job.npieces].n = spec->piece[i].n;
		job.npieces++;
	}
	return gpb_groups_launch(state->device, state->work->pipeline[0].stream, &job,
							 gpb_choose_group(state->profile));
}

/* ---- chunks ---- */

static GpbDeviceStatus
copy_in(GpbDevice *device, GpbPipeline *pipeline, void *into, const void *from, size_t size)
{
	return gpb_check(device,
					 cudaMemcpyAsync(into, from, size, cudaMemcpyHostToDevice, pipeline->stream),
					 "copying keys");
}

static GpbDeviceStatus
copy_out(GpbDevice *device, GpbPipeline *pipeline, void *into, const void *from, size_t size)
{
	return gpb_check(device,
					 cudaMemcpyAsync(into, from, size, cudaMemcpyDeviceToHost, pipeline->stream),
					 "copying results");
}

static GpbDeviceStatus
reserve_pipeline(GpbDevice *device, GpbPipeline *pipeline, size_t n, int key_width)
{
	GPB_TRY(gpb_buffer_reserve(device, &pipeline->keys, n * key_width));
	GPB_TRY(gpb_buffer_reserve(device, &pipeline->slots, n * sizeof(uint32)));
	GPB_TRY(gpb_buffer_reserve(device, &pipeline->leaves, n * sizeof(uint32)));
	GPB_TRY(gpb_buffer_reserve(device, &pipeline->positions, n * sizeof(uint16_t)));
	return gpb_buffer_reserve(device, &pipeline->permutation, n * sizeof(uint32));
}

#define POSITIONS_LAUNCH(form)	form::gpb_positions_launch,

/* By gpb_kernel_form() */
static GpbDeviceStatus (*const positions_launch[GPB_KERNEL_FORMS]) (GpbDevice *, cudaStream_t,
																	 const GpbLeafJob *,
																	 const GpbPositions *) = {
	GPB_FOR_FORMS(POSITIONS_LAUNCH)
};

/* Submit the search for the positions of a chunk's keys, whose separators have been found. */
static GpbDeviceStatus
find_chunk_positions(const SearchState *state, GpbPipeline *pipeline, const GpbSearchBatch *batch)
{
	GpbLeafJob	job;
	GpbPositions positions;

	memset(&job, 0, sizeof(job));
	job.epoch = state->spec->epoch;
	job.separators = gpb_mirror_separators(state->mirror);
	job.images = gpb_mirror_images(state->mirror);
	job.changed = state->any_changed ? (const uint32 *) state->work->changed.data : NULL;
	job.changed_blocks = state->nblocks;
	job.key_width = state->mirror->layout.key_width;
	job.row_width = state->mirror->layout.row_width;
	job.layout_flags = state->mirror->layout.flags;
	job.runs = state->mirror->has_runs;

	memset(&positions, 0, sizeof(positions));
	positions.keys = batch->keys;
	/* A key that was clamped has the same leaf as before, but not the same position in it. */
	if (batch->order != GPB_ORDER_INPUT && batch->sorted && batch->clamped)
		positions.place = batch->permutation;
	else if (batch->order != GPB_ORDER_INPUT && batch->sorted)
		positions.keys = pipeline->sort.keys.data;
	positions.slot = batch->result;
	positions.leaf = (uint32 *) pipeline->leaves.data;
	positions.position = (uint16_t *) pipeline->positions.data;
	positions.n = batch->n;
	positions.bound = state->spec->bound;
	return positions_launch[gpb_kernel_form(job.key_width, job.runs)] (state->device,
																		pipeline->stream, &job,
																		&positions);
}

/* Submit the search for n keys of the piece from "first" on, to the pipeline whose turn it is. */
static GpbDeviceStatus
search_chunk(SearchState *state, const GpbSearchPiece *piece, uint32 first, uint32 n)
{
	GpbDevice  *device = state->device;
	GpbPipeline *pipeline = &state->work->pipeline[state->turn++ % GPB_PIPELINES];
	int			width = state->mirror->layout.key_width;
	GpbSearchBatch batch;

	GPB_TRY(reserve_pipeline(device, pipeline, n, width));
	memset(&batch, 0, sizeof(batch));
	batch.tree = gpb_mirror_tree(state->mirror);
	batch.profile = state->profile;
	batch.keys = pipeline->keys.data;
	batch.n = n;
	batch.order = state->spec->order;
	batch.or_equal = state->spec->bound == GPB_SEARCH_UPPER;
	batch.slots = piece->position != NULL;
	batch.together = state->spec->ascending;
	/* in input order, sorting would save nothing: the transfer takes longer than the search */
	batch.sorting = state->spec->ascending || batch.order == GPB_ORDER_INPUT ? GPB_SORT_NEVER :
		batch.order == GPB_ORDER_KEY ? GPB_SORT_ALWAYS : gpb_near_sorting;
	batch.result = (uint32 *) (batch.slots ? pipeline->slots.data : pipeline->leaves.data);
	batch.permutation = (uint32 *) pipeline->permutation.data;

	GPB_TRY(copy_in(device, pipeline, pipeline->keys.data,
					(const char *) piece->keys + (size_t) first * width, (size_t) n * width));
	GPB_TRY(gpb_search_batch_run(device, pipeline, &batch));
	if (piece->position != NULL)
	{
		GPB_TRY(find_chunk_positions(state, pipeline, &batch));
		GPB_TRY(copy_out(device, pipeline, piece->position + first, pipeline->positions.data,
						 (size_t) n * sizeof(uint16_t)));
	}
	if (batch.order != GPB_ORDER_INPUT)
		GPB_TRY(copy_out(device, pipeline, piece->permutation + first, pipeline->permutation.data,
						 (size_t) n * sizeof(uint32)));
	return copy_out(device, pipeline, piece->leaf + first, pipeline->leaves.data,
					(size_t) n * sizeof(uint32));
}

/* How many keys do the chunks of a piece of n keys have?  See tuning.cuh. */
static uint32
chunk_keys(const GpbDevice *device, uint32 n)
{
	uint32		keys = n / GPB_CHUNKS;

	if (device->chunk_keys != 0)
		return device->chunk_keys;
	if (keys < GPB_CHUNK_LEAST)
		return GPB_CHUNK_LEAST;
	return keys < GPB_CHUNK_KEYS ? keys : GPB_CHUNK_KEYS;
}

/* Submit a piece, in chunks; as one chunk where its results are to be in sorted order. */
static GpbDeviceStatus
search_piece(SearchState *state, const GpbSearchPiece *piece)
{
	uint32		most = chunk_keys(state->device, piece->n);
	uint32		n;

	if (state->spec->order != GPB_ORDER_INPUT)
	{
		if (piece->n > GPB_SORT_AT_ONCE)
			return gpb_refuse(state->device, "%u keys are too many to be put in order at once",
							  piece->n);
		return search_chunk(state, piece, 0, piece->n);
	}
	for (uint32 first = 0; first < piece->n; first += n)
	{
		n = piece->n - first < most ? piece->n - first : most;
		GPB_TRY(search_chunk(state, piece, first, n));
	}
	return GPB_DEVICE_OK;
}

/* ---- launching ---- */

/* Submit the copy of the changed map, which tells clean leaves. */
static GpbDeviceStatus
submit_changed(SearchState *state, const uint32 *changed)
{
	GpbSearchWork *work = state->work;
	size_t		size = ((size_t) state->nblocks + 31) / 32 * sizeof(uint32);

	state->any_changed = changed != NULL && size > 0;
	if (!state->any_changed)
		return GPB_DEVICE_OK;
	GPB_TRY(gpb_pinned_reserve(state->device, &work->changed_host, size));
	GPB_TRY(gpb_buffer_reserve(state->device, &work->changed, size));
	memcpy(work->changed_host.data, changed, size);
	return copy_in(state->device, &work->pipeline[0], work->changed.data, work->changed_host.data,
				   size);
}

/* Let the other pipelines begin when the first has ended what was submitted to it so far. */
static GpbDeviceStatus
fork_pipelines(GpbDevice *device, GpbSearchWork *work)
{
	GPB_TRY_CUDA(device, cudaEventRecord(work->forked, work->pipeline[0].stream));
	for (int i = 1; i < GPB_PIPELINES; i++)
		GPB_TRY_CUDA(device, cudaStreamWaitEvent(work->pipeline[i].stream, work->forked, 0));
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
submit_join(GpbDevice *device, GpbSearchWork *work)
{
	for (int i = 1; i < GPB_PIPELINES; i++)
	{
		GPB_TRY_CUDA(device, cudaEventRecord(work->joined[i], work->pipeline[i].stream));
		GPB_TRY_CUDA(device, cudaStreamWaitEvent(work->pipeline[0].stream, work->joined[i], 0));
	}
	return GPB_DEVICE_OK;
}

/*
 * Let the first pipeline go on when all others have ended what was submitted to them so far.  If
 * that cannot be submitted for want of memory, wait for them instead.
 */
static GpbDeviceStatus
join_pipelines(GpbDevice *device, GpbChannel *channel)
{
	GpbDeviceStatus status = submit_join(device, channel->search);

	if (status == GPB_DEVICE_NO_MEMORY)
		GPB_TRY(gpb_await_side_streams(device, channel));
	return status;
}

static GpbDeviceStatus
submit_pieces(SearchState *state, GpbChannel *channel, const uint32 *changed)
{
	GpbSearchWork *work = state->work;
	uint64		total = 0;
	GpbDeviceStatus status = GPB_DEVICE_OK;
	GpbDeviceStatus joined;
	uint32		i;

	for (i = 0; i < state->spec->npieces; i++)
		total += state->spec->piece[i].n;
	if (total == 0)
		return GPB_DEVICE_OK;
	if (is_direct(state->device, state->spec, state->mirror->layout.key_width, total))
		return search_direct(state);
	if (state->spec->piece[0].position != NULL)
		GPB_TRY(submit_changed(state, changed));
	GPB_TRY(fork_pipelines(state->device, work));
	for (i = 0; i < state->spec->npieces && status == GPB_DEVICE_OK; i++)
		status = search_piece(state, &state->spec->piece[i]);
	/* also after a failure: what was submitted must end before the caller has its arrays back */
	joined = join_pipelines(state->device, channel);
	return status != GPB_DEVICE_OK ? status : joined;
}

GpbDeviceStatus
gpb_cuda_search_launch(GpbDevice *device, GpbDeviceMirror *mirror, int number,
					   const GpbSearchSpec *spec, const uint32 *changed, uint32 nblocks)
{
	GpbChannel *channel = &device->channel[number];
	SearchState state;
	GpbDeviceStatus ended;

	GPB_ENTER(device);
	if (mirror->tree.n == 0)
		return gpb_refuse(device, "no inner image");
	if (spec->npieces > GPB_SEARCH_PIECES ||
		(spec->npieces > 1 && spec->order != GPB_ORDER_INPUT))
		return gpb_refuse(device, "too many pieces in a batch of searches");
	GPB_TRY(open_work(device, channel));
	memset(&state, 0, sizeof(state));
	state.device = device;
	state.mirror = mirror;
	state.work = channel->search;
	state.spec = spec;
	state.nblocks = nblocks;
	GPB_TRY(gpb_mirror_profile(device, mirror, &state.profile));
	GPB_TRY(gpb_reader_begin(device, channel));
	state.work->outcome = submit_pieces(&state, channel, changed);
	state.work->launched = true;
	ended = gpb_reader_end(device, channel);
	if (state.work->outcome == GPB_DEVICE_OK)
		state.work->outcome = ended;
	if (state.work->outcome != GPB_DEVICE_OK)
		return gpb_cuda_search_finish(device, number);
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
gpb_cuda_search_finish(GpbDevice *device, int number)
{
	GpbChannel *channel = &device->channel[number];

	GPB_ENTER(device);
	if (channel->search == NULL || !channel->search->launched)
		return gpb_refuse(device, "no search was launched on channel %d", number);
	channel->search->launched = false;
	GPB_TRY(gpb_reader_await(device, channel));
	return channel->search->outcome;
}

GpbDeviceStatus
gpb_cuda_poll(GpbDevice *device, int number, bool *ended)
{
	GpbChannel *channel = &device->channel[number];
	cudaError_t error;

	GPB_ENTER(device);
	*ended = false;
	if (gpb_ranges_cannot_have_ended(channel))
		return GPB_DEVICE_OK;
	error = gpb_sort_query(channel);
	if (error == cudaSuccess && channel->reading)
		error = gpb_query(channel->read);
	*ended = error != cudaErrorNotReady;
	return error == cudaErrorNotReady ? GPB_DEVICE_OK :
		gpb_check(device, error, "cudaEventQuery");
}

#ifdef GPB_BENCH

/* Set *pipeline to the channel's pipeline on its own stream; it is opened if need be. */
GpbDeviceStatus
gpb_search_pipeline(GpbDevice *device, GpbChannel *channel, GpbPipeline **pipeline)
{
	GPB_TRY(open_work(device, channel));
	*pipeline = &channel->search->pipeline[0];
	return GPB_DEVICE_OK;
}

#endif							/* GPB_BENCH */
