/*-------------------------------------------------------------------------
 *
 * input.cu
 *	  What requests are given beside their spec: visibility and changed bits.
 *
 *-------------------------------------------------------------------------
 */
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

GpbDeviceStatus
gpb_input_submit(GpbDevice *device, cudaStream_t stream, const GpbChannel *channel,
				 GpbInput *input, const GpbRangesSpec *spec, const uint32 *changed, uint32 nblocks)
{
	uint32		covered = covered_heap_blocks(channel, spec->heap_blocks);
	size_t		visible = ((size_t) covered + GPB_HEAPBLOCKS_PER_BYTE - 1) /
		GPB_HEAPBLOCKS_PER_BYTE;
	size_t		words = ((size_t) nblocks + 31) / 32;
	size_t		exceptions = spec->exceptions * sizeof(uint64);

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
	input->changed_blocks = nblocks;
	input->changed_offset = (visible + 15) & ~(size_t) 15;
	input->summary_offset = input->changed_offset + words * sizeof(uint32);
	GPB_TRY(gpb_pinned_reserve(device, &input->changed_host, words * sizeof(uint32)));
	GPB_TRY(gpb_buffer_reserve(device, &input->memory,
							   input->summary_offset +
							   gpb_summary_words(covered) * sizeof(uint32)));
	if (words > 0)
		memcpy(input->changed_host.data, changed, words * sizeof(uint32));
	GPB_TRY(copy_input(device, stream, input, 0, channel->visible_host.data, visible));
	return copy_input(device, stream, input, input->changed_offset, input->changed_host.data,
					  words * sizeof(uint32));
}

void
gpb_input_show(const GpbInput *input, GpbLeafJob *job, GpbVisibilityBits *visibility)
{
	const char *memory = (const char *) input->memory.data;

	job->changed = (const uint32 *) (memory + input->changed_offset);
	job->changed_blocks = input->changed_blocks;
	visibility->bits = (const uint8 *) memory;
	visibility->summary = (const uint32 *) (memory + input->summary_offset);
	visibility->heap_blocks = input->heap_blocks;
	visibility->visible_below = input->visible_below;
	visibility->nexceptions = input->nexceptions;
	visibility->exceptions = (const uint64 *) (memory + input->exceptions_offset);
}

void
gpb_input_free(GpbDevice *device, GpbInput *input)
{
	gpb_pinned_free(device, &input->changed_host);
	gpb_buffer_free(device, &input->memory);
}
