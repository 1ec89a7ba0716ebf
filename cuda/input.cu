/*-------------------------------------------------------------------------
 *
 * input.cu
 *	  What requests are given beside their spec: visibility and changed bits.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "device.cuh"

/*
 * Set n bytes of the visibility bits of the channel's next request.  They are kept in pinned memory
 * until its launch copies them to the device.  A request in flight may still be copying
 * from there, so wait for it.
 */
GpbDeviceStatus
gpb_cuda_set_visibility(GpbDevice *device, int number, uint64 offset, const void *bits, uint64 n)
{
	GpbChannel *channel = &device->channel[number];

	GPB_ENTER(device);
	GPB_TRY(gpb_reader_await(device, channel));
	GPB_TRY(gpb_pinned_reserve(device, &channel->visible_host, offset + n));
	memcpy((char *) channel->visible_host.data + offset, bits, n);
	if (offset == 0 || offset + n > channel->visible_bytes)
		channel->visible_bytes = offset + n;
	return GPB_DEVICE_OK;
}

/* How many of the heap blocks have visibility bits that were ever set? */
static uint32
covered_heap_blocks(const GpbChannel *channel, uint32 heap_blocks)
{
	uint64		covered = channel->visible_bytes * GPB_HEAPBLOCKS_PER_BYTE;

	return heap_blocks < covered ? heap_blocks : (uint32) covered;
}

/*
 * How many heap blocks, from the first on, are all-visible without a gap?  After VACUUM that is
 * most of the table, and entries that point there need no look at the bits.
 */
static uint32
count_visible_run(const uint8 *bits, uint32 heap_blocks)
{
	uint32		block = 0;

	for (; block + 32 <= heap_blocks; block += 32)
	{
		uint64		word;

		memcpy(&word, bits + block / GPB_HEAPBLOCKS_PER_BYTE, sizeof(word));
		if ((word & 0x5555555555555555ul) != 0x5555555555555555ul)
			break;
	}
	while (block < heap_blocks && gpb_heap_all_visible(bits, heap_blocks, block))
		block++;
	return block;
}

static GpbDeviceStatus
copy_input(GpbDevice *device, cudaStream_t stream, GpbInput *input, size_t offset,
		   const void *from, size_t n)
{
	if (n == 0)
		return GPB_DEVICE_OK;
	return gpb_check(device,
					 cudaMemcpyAsync((char *) input->memory.data + offset, from, n,
									 cudaMemcpyHostToDevice, stream),
					 "copying input");
}

/*
 * Submit the channel's own visibility bits with their exceptions, and leave room for so many words
 * of changed bits.
 */
static GpbDeviceStatus
input_of_channel(GpbDevice *device, cudaStream_t stream, const GpbChannel *channel,
				 GpbInput *input, const GpbRangesSpec *spec, size_t words)
{
	uint32		covered = covered_heap_blocks(channel, spec->heap_blocks);
	size_t		visible = ((size_t) covered + GPB_HEAPBLOCKS_PER_BYTE - 1) /
		GPB_HEAPBLOCKS_PER_BYTE;
	size_t		exceptions = spec->exceptions * sizeof(uint64);

	input->map = NULL;
	input->heap_blocks = covered;
	input->nexceptions = 0;
	input->exceptions_offset = gpb_exceptions_offset(spec->heap_blocks);
	/* They come with the bits, in one copy, if all of them were given. */
	if (exceptions > 0 && input->exceptions_offset + exceptions <= channel->visible_bytes)
	{
		input->nexceptions = spec->exceptions;
		visible = input->exceptions_offset + exceptions;
	}
	input->visible_below = count_visible_run((const uint8 *) channel->visible_host.data,
											 covered);
	input->changed_offset = (visible + 15) & ~(size_t) 15;
	input->summary_offset = input->changed_offset + words * sizeof(uint32);
	GPB_TRY(gpb_buffer_reserve(device, &input->memory,
							   input->summary_offset +
							   gpb_summary_words(covered) * sizeof(uint32)));
	return copy_input(device, stream, input, 0, channel->visible_host.data, visible);
}

/* Let the input have the map's visibility bits and exceptions, once they are there. */
static GpbDeviceStatus
input_of_map(GpbDevice *device, cudaStream_t stream, GpbDeviceMap *map, GpbInput *input,
			 const GpbRangesSpec *spec, size_t words)
{
	cudaError_t error;

	input->map = map;
	input->exceptions_offset = gpb_exceptions_offset(spec->heap_blocks);
	input->nexceptions = input->exceptions_offset + spec->exceptions * sizeof(uint64) <=
		map->bytes ? spec->exceptions : 0;
	input->heap_blocks = spec->heap_blocks < map->heap_blocks ? spec->heap_blocks :
		map->heap_blocks;
	input->visible_below = map->visible_below < input->heap_blocks ? map->visible_below :
		input->heap_blocks;
	input->changed_offset = 0;
	GPB_TRY(gpb_buffer_reserve(device, &input->memory, words * sizeof(uint32)));
	if (!map->setting)
		return GPB_DEVICE_OK;
	error = gpb_query(map->set);
	if (error == cudaErrorNotReady)
		return gpb_check(device, cudaStreamWaitEvent(stream, map->set, 0),
						 "cudaStreamWaitEvent");
	map->setting = false;
	return gpb_check(device, error, "cudaEventQuery");
}

GpbDeviceStatus
gpb_input_submit(GpbDevice *device, cudaStream_t stream, const GpbChannel *channel,
				 GpbInput *input, const GpbRangesSpec *spec, const uint32 *changed, uint32 nblocks)
{
	size_t		words = ((size_t) nblocks + 31) / 32;
	size_t		size = words * sizeof(uint32);

	input->changed_blocks = nblocks;
	input->any_changed = changed != NULL && words > 0;
	if (channel->map != NULL)
		GPB_TRY(input_of_map(device, stream, channel->map, input, spec, words));
	else
		GPB_TRY(input_of_channel(device, stream, channel, input, spec, words));
	if (!input->any_changed)
		return GPB_DEVICE_OK;
	GPB_TRY(gpb_pinned_reserve(device, &input->changed_host, size));
	memcpy(input->changed_host.data, changed, size);
	return copy_input(device, stream, input, input->changed_offset, input->changed_host.data,
					  size);
}

void
gpb_input_show(const GpbInput *input, GpbLeafJob *job, GpbVisibilityBits *visibility)
{
	const GpbDeviceMap *map = input->map;
	const char *memory = (const char *) input->memory.data;
	const char *visible = map != NULL ? (const char *) map->memory.data : memory;

	job->changed = input->any_changed ? (const uint32 *) (memory + input->changed_offset) : NULL;
	job->changed_blocks = input->changed_blocks;
	visibility->bits = (const uint8 *) visible;
	visibility->summary = (const uint32 *) (visible + (map != NULL ? map->summary_offset :
													  input->summary_offset));
	visibility->summarized = map != NULL;
	visibility->heap_blocks = input->heap_blocks;
	visibility->visible_below = input->visible_below;
	visibility->nexceptions = input->nexceptions;
	visibility->exceptions = (const uint64 *) (visible + input->exceptions_offset);
}

void
gpb_input_free(GpbDevice *device, GpbInput *input)
{
	gpb_pinned_free(device, &input->changed_host);
	gpb_buffer_free(device, &input->memory);
}

/* ---- maps ---- */

GpbDeviceStatus
gpb_cuda_map_create(GpbDevice *device, GpbDeviceMap **result)
{
	GpbDeviceMap *map;
	GpbDeviceStatus status;

	GPB_ENTER(device);
	map = (GpbDeviceMap *) calloc(1, sizeof(GpbDeviceMap));
	if (map == NULL)
		return gpb_refuse(device, "out of memory");
	status = gpb_check(device, cudaEventCreateWithFlags(&map->set, cudaEventDisableTiming),
					   "cudaEventCreate");
	if (status != GPB_DEVICE_OK)
	{
		free(map);
		return status;
	}
	*result = map;
	return GPB_DEVICE_OK;
}

/* Wait until the map's bits have been transferred. */
static GpbDeviceStatus
await_map(GpbDevice *device, GpbDeviceMap *map)
{
	if (map->setting)
		GPB_TRY_CUDA(device, cudaEventSynchronize(map->set));
	map->setting = false;
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
submit_map(GpbDevice *device, cudaStream_t stream, GpbDeviceMap *map, uint64 n)
{
	GpbVisibilityBits visibility;

	GPB_TRY_CUDA(device, cudaMemcpyAsync(map->memory.data, map->host.data, n,
										 cudaMemcpyHostToDevice, stream));
	memset(&visibility, 0, sizeof(visibility));
	visibility.bits = (const uint8 *) map->memory.data;
	visibility.summary = (const uint32 *) ((char *) map->memory.data + map->summary_offset);
	visibility.heap_blocks = map->heap_blocks;
	return gpb_summary_launch(device, stream, &visibility);
}

/*
 * The last launches that read the map have ended, as the caller says; so the transfer is ordered
 * with what comes later alone.
 */
GpbDeviceStatus
gpb_cuda_map_set(GpbDevice *device, GpbDeviceMap *map, int number, const void *bits, uint64 n)
{
	GpbChannel *channel = &device->channel[number];
	uint64		covered = n * GPB_HEAPBLOCKS_PER_BYTE;
	GpbDeviceStatus status;

	GPB_ENTER(device);
	GPB_TRY(await_map(device, map));
	map->heap_blocks = covered < 0xFFFFFFFF ? (uint32) covered : 0xFFFFFFFF;
	map->bytes = n;
	map->summary_offset = (n + 15) & ~(size_t) 15;
	GPB_TRY(gpb_pinned_reserve(device, &map->host, n));
	GPB_TRY(gpb_buffer_reserve(device, &map->memory, map->summary_offset +
							   gpb_summary_words(map->heap_blocks) * sizeof(uint32)));
	if (n > 0)
		memcpy(map->host.data, bits, n);
	map->visible_below = count_visible_run((const uint8 *) map->host.data, map->heap_blocks);
	if (n == 0)
		return GPB_DEVICE_OK;
	status = submit_map(device, channel->stream, map, n);
	map->setting = true;
	GPB_TRY(gpb_record(device, map->set, channel->stream));
	return status;
}

void
gpb_cuda_map_destroy(GpbDevice *device, GpbDeviceMap *map)
{
	int			i;

	for (i = 0; i < device->nchannels; i++)
	{
		if (device->channel[i].map == map)
			device->channel[i].map = NULL;
	}
	gpb_buffer_free(device, &map->memory);
	gpb_pinned_free(device, &map->host);
	(void) cudaEventDestroy(map->set);
	free(map);
}

GpbDeviceStatus
gpb_cuda_map_use(GpbDevice *device, int number, GpbDeviceMap *map)
{
	GPB_ENTER(device);
	device->channel[number].map = map;
	return GPB_DEVICE_OK;
}
