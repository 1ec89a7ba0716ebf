/*-------------------------------------------------------------------------
 *
 * host_device.c
 *	  The device interface on the CPU, inside the service.
 *
 * Every line of the protocol between backends, service and device runs with it on
 * a machine without a GPU, and its answers are the reference for the kernels'.
 * Aggregates are computed when launched, so "at launch" and "before the
 * next upload" hold by themselves; searches (host_search.c) and ranges (host_ranges.c) are settled before
 * what they read changes.
 *
 * Free of PostgreSQL calls: memory is malloc's and bounded by memory_limit.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/host/host_device.h"
#include "leaf_aggregate.h"

/* ---- memory ---- */

void *
gpb_host_alloc(GpbDevice *device, uint64 size)
{
	void	   *p;

	if (device->memory_used + size > device->memory_limit ||
		(p = calloc(1, size)) == NULL)
	{
		device->error = "out of memory";
		return NULL;
	}
	device->memory_used += size;
	return p;
}

void
gpb_host_free(GpbDevice *device, void *p, uint64 size)
{
	if (p == NULL)
		return;
	free(p);
	device->memory_used -= size;
}

/* Room for size bytes in all; what is there stays. */
GpbDeviceStatus
gpb_host_reserve(GpbDevice *device, GpbHostBuffer *buffer, uint64 size)
{
	uint64		grown = Max(buffer->size * 2, 8192);
	char	   *data;

	if (size <= buffer->size)
		return GPB_DEVICE_OK;
	while (grown < size)
		grown *= 2;
	data = gpb_host_alloc(device, grown);
	if (data == NULL)
		return GPB_DEVICE_NO_MEMORY;
	if (buffer->used > 0)
		memcpy(data, buffer->data, buffer->used);
	gpb_host_free(device, buffer->data, buffer->size);
	buffer->data = data;
	buffer->size = grown;
	return GPB_DEVICE_OK;
}

/* ---- device ---- */

static GpbDeviceStatus
gpb_host_open(int ordinal, uint64 memory_limit, int channels,
			  GpbDevice **device, const char **message)
{
	GpbDevice  *d = calloc(1, sizeof(GpbDevice));
	uint64		page_size = sysconf(_SC_PAGESIZE);

	if (d != NULL)
		d->channels = calloc(channels, sizeof(GpbHostChannel));
	if (d == NULL || d->channels == NULL)
	{
		free(d);
		*message = "out of memory";
		return GPB_DEVICE_NO_MEMORY;
	}
	d->nchannels = channels;
	d->memory_total = (uint64) sysconf(_SC_PHYS_PAGES) * page_size;
	d->memory_limit = memory_limit != 0 ? memory_limit :
		(uint64) sysconf(_SC_AVPHYS_PAGES) * page_size / 5 * 4;
	d->error = "";
	*device = d;
	return GPB_DEVICE_OK;
}

/* Only ever called when the process is about to end. */
static void
gpb_host_close(GpbDevice *device)
{
	int			i;

	for (i = 0; i < device->nchannels; i++)
		gpb_host_ranges_free(device, &device->channels[i]);
	free(device->channels);
	free(device);
}

static void
gpb_host_describe(GpbDevice *device, GpbDeviceInfo *info)
{
	memset(info, 0, sizeof(*info));
	snprintf(info->name, sizeof(info->name), "host");
	info->memory_total = device->memory_total;
	info->memory_used = device->memory_used;
	info->memory_limit = device->memory_limit;
}

static const char *
gpb_host_last_error(GpbDevice *device)
{
	return device->error;
}

static GpbDeviceStatus
gpb_host_register_region(GpbDevice *device, void *base, size_t size)
{
	return GPB_DEVICE_OK;
}

/* ---- mirrors ---- */

static GpbDeviceStatus
gpb_host_mirror_create(GpbDevice *device, const GpbLayout *layout, GpbDeviceMirror **mirror)
{
	GpbDeviceMirror *m = gpb_host_alloc(device, sizeof(GpbDeviceMirror));

	if (m == NULL)
		return GPB_DEVICE_NO_MEMORY;
	m->layout = *layout;
	m->bytes = sizeof(GpbDeviceMirror);
	*mirror = m;
	return GPB_DEVICE_OK;
}

static void
gpb_host_mirror_destroy(GpbDevice *device, GpbDeviceMirror *mirror)
{
	uint32		c;
	int			i;

	gpb_host_search_settle(device, mirror, false);
	gpb_host_ranges_settle(device, mirror, -1);
	for (c = 0; c < mirror->nchunks; c++)
	{
		if (mirror->chunks[c] == NULL)
			continue;
		for (i = 0; i < GPB_HOST_CHUNK; i++)
			gpb_host_free(device, mirror->chunks[c][i].page, GPB_PAGE_SIZE);
		gpb_host_free(device, mirror->chunks[c], GPB_HOST_CHUNK * sizeof(GpbHostImage));
	}
	gpb_host_free(device, mirror->chunks, mirror->nchunks * sizeof(GpbHostImage *));
	gpb_host_free(device, mirror->separators, mirror->nseparators * sizeof(GpbSeparator));
	gpb_host_free(device, mirror, sizeof(GpbDeviceMirror));
}

static uint64
gpb_host_mirror_bytes(GpbDeviceMirror *mirror)
{
	return mirror->bytes;
}

/* The block's image entry, or NULL if its chunk does not exist. */
static GpbHostImage *
gpb_host_image(const GpbDeviceMirror *mirror, uint32 block)
{
	uint32		c = block / GPB_HOST_CHUNK;

	if (c >= mirror->nchunks || mirror->chunks[c] == NULL)
		return NULL;
	return &mirror->chunks[c][block % GPB_HOST_CHUNK];
}

/* The same, its chunk made if need be; NULL: no memory. */
static GpbHostImage *
gpb_host_image_for(GpbDevice *device, GpbDeviceMirror *mirror, uint32 block)
{
	uint32		c = block / GPB_HOST_CHUNK;

	if (c >= mirror->nchunks)
	{
		uint32		n = Max(c + 1, mirror->nchunks * 2);
		GpbHostImage **chunks = gpb_host_alloc(device, n * sizeof(GpbHostImage *));

		if (chunks == NULL)
			return NULL;
		if (mirror->nchunks > 0)
			memcpy(chunks, mirror->chunks, mirror->nchunks * sizeof(GpbHostImage *));
		gpb_host_free(device, mirror->chunks, mirror->nchunks * sizeof(GpbHostImage *));
		mirror->bytes += (n - mirror->nchunks) * sizeof(GpbHostImage *);
		mirror->chunks = chunks;
		mirror->nchunks = n;
	}
	if (mirror->chunks[c] == NULL)
	{
		mirror->chunks[c] = gpb_host_alloc(device, GPB_HOST_CHUNK * sizeof(GpbHostImage));
		if (mirror->chunks[c] == NULL)
			return NULL;
		mirror->bytes += GPB_HOST_CHUNK * sizeof(GpbHostImage);
	}
	return &mirror->chunks[c][block % GPB_HOST_CHUNK];
}

static GpbDeviceStatus
gpb_host_upload(GpbDevice *device, GpbDeviceMirror *mirror, int n, const uint32 *blocks,
				const void *pages, uint64 epoch)
{
	int			i;

	gpb_host_search_settle(device, mirror, true);
	gpb_host_ranges_settle(device, mirror, -1);
	for (i = 0; i < n; i++)
	{
		GpbHostImage *image = gpb_host_image_for(device, mirror, blocks[i]);

		if (image == NULL)
			return GPB_DEVICE_NO_MEMORY;
		if (image->page == NULL)
		{
			image->page = gpb_host_alloc(device, GPB_PAGE_SIZE);
			if (image->page == NULL)
				return GPB_DEVICE_NO_MEMORY;
			mirror->bytes += GPB_PAGE_SIZE;
		}
		memcpy(image->page, (const char *) pages + (uint64) i * GPB_PAGE_SIZE, GPB_PAGE_SIZE);
		image->stamp = epoch;
	}
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
gpb_host_upload_wait(GpbDevice *device)
{
	return GPB_DEVICE_OK;
}

/* One level-1 page's separators, appended. */
static void
gpb_host_flatten(const GpbDeviceMirror *mirror, const void *page, uint32 count,
				 GpbSeparator *into)
{
	uint32		i;

	for (i = 0; i < count; i++)
	{
		into[i].low = gpb_page_bound(page, mirror->layout.key_width, GPB_INNER_ROW_WIDTH, i);
		into[i].leaf = gpb_row_child(gpb_page_row(page, GPB_INNER_ROW_WIDTH, i));
	}
}

static GpbDeviceStatus
gpb_host_set_inner(GpbDevice *device, GpbDeviceMirror *mirror, uint32 nblocks,
				   const uint32 *blocks, const uint32 *counts, uint32 root_leaf)
{
	uint64		n = nblocks == 0 ? 1 : 0;
	uint64		at = 0;
	GpbSeparator *separators;
	uint32		i;

	gpb_host_ranges_settle(device, mirror, -1);
	for (i = 0; i < nblocks; i++)
	{
		const GpbHostImage *image = gpb_host_image(mirror, blocks[i]);

		if (image == NULL || image->page == NULL)
		{
			device->error = "inner page without an image";
			return GPB_DEVICE_NO_MEMORY;
		}
		n += counts[i];
	}
	separators = gpb_host_alloc(device, n * sizeof(GpbSeparator));
	if (separators == NULL)
		return GPB_DEVICE_NO_MEMORY;
	if (nblocks == 0)
		separators[0].leaf = root_leaf;
	for (i = 0; i < nblocks; i++)
	{
		gpb_host_flatten(mirror, gpb_host_image(mirror, blocks[i])->page, counts[i],
						 separators + at);
		at += counts[i];
	}
	separators[0].low.key = 0;
	separators[0].low.tie = 0;
	gpb_host_search_settle(device, mirror, false);
	gpb_host_free(device, mirror->separators, mirror->nseparators * sizeof(GpbSeparator));
	mirror->bytes += (n - mirror->nseparators) * sizeof(GpbSeparator);
	mirror->separators = separators;
	mirror->nseparators = n;
	return GPB_DEVICE_OK;
}

/* ---- aggregate ---- */

static GpbDeviceStatus
gpb_host_set_visibility(GpbDevice *device, int channel, uint64 offset, const void *bits,
						uint64 n)
{
	GpbHostBuffer *buffer = &device->channels[channel].visibility;

	gpb_host_ranges_settle(device, NULL, channel);
	if (offset == 0)
		buffer->used = 0;
	if (gpb_host_reserve(device, buffer, offset + n) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	memcpy(buffer->data + offset, bits, n);
	buffer->used = Max(buffer->used, offset + n);
	return GPB_DEVICE_OK;
}

/* The launch: what one leaf after the other is judged by */
typedef struct GpbHostLaunch
{
	GpbDevice  *device;
	const GpbDeviceMirror *mirror;
	GpbHostChannel *channel;
	const GpbAggregateSpec *spec;
	const uint32 *changed;
	uint32		nblocks;
	uint32		heap_blocks;	/* that visibility bits were given for */
} GpbHostLaunch;

const char *
gpb_host_clean_leaf(const GpbDeviceMirror *mirror, uint32 block, GpbBound high, uint64 epoch,
					const uint32 *changed, uint32 nblocks)
{
	const GpbLayout *layout = &mirror->layout;
	const GpbHostImage *image;

	if (block >= nblocks || ((changed[block / 32] >> (block % 32)) & 1) != 0)
		return NULL;
	image = gpb_host_image(mirror, block);
	if (image == NULL || image->page == NULL || image->stamp > epoch)
		return NULL;
	if (gpb_page_leaf_count(image->page, layout->key_width, layout->row_width, high) < 0)
		return NULL;
	return image->page;
}

/* Report a piece; neighbours become one. */
static GpbDeviceStatus
gpb_host_unclean(GpbHostLaunch *launch, GpbRange piece, uint32 block)
{
	GpbHostBuffer *buffer = &launch->channel->unclean;
	GpbUncleanLeaf *leaf = (GpbUncleanLeaf *) (buffer->data + buffer->used);

	if (buffer->used > 0 && gpb_bound_cmp(leaf[-1].range.hi, piece.lo) == 0)
	{
		leaf[-1].range.hi = piece.hi;
		return GPB_DEVICE_OK;
	}
	if (gpb_host_reserve(launch->device, buffer,
						 buffer->used + sizeof(GpbUncleanLeaf)) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	leaf = (GpbUncleanLeaf *) (buffer->data + buffer->used);
	leaf->range = piece;
	leaf->block = block;
	leaf->pad = 0;
	buffer->used += sizeof(GpbUncleanLeaf);
	return GPB_DEVICE_OK;
}

/* A run of equal blocks is looked up once. */
void
gpb_host_look_up_visibility(const GpbHostChannel *channel, uint32 heap_blocks, const char *page,
							int row_width, int from, int to, uint8 *visible)
{
	const uint8 *map = (const uint8 *) channel->visibility.data;
	uint64		last_block = ~(uint64) 0;
	uint8		last = 0;
	int			i;

	for (i = from; i < to; i++)
	{
		uint32		block = gpb_locator_block(gpb_row_locator(gpb_page_row(page, row_width, i)));

		if (block != last_block)
		{
			last_block = block;
			last = gpb_heap_all_visible(map, heap_blocks, block);
		}
		visible[i - from] = last;
	}
}

uint32
gpb_host_covered_blocks(const GpbHostChannel *channel, uint32 heap_blocks)
{
	return (uint32) Min((uint64) heap_blocks,
						channel->visibility.used * GPB_HEAPBLOCKS_PER_BYTE);
}

/* Entries [from, to) of a clean leaf. */
static GpbDeviceStatus
gpb_host_leaf(GpbHostLaunch *launch, const char *page, int from, int to)
{
	const GpbLayout *layout = &launch->mirror->layout;
	GpbHostChannel *channel = launch->channel;
	GpbHostBuffer *heap = &channel->heap;
	int			width = gpb_heap_entry_width(layout->row_width);
	uint8		visible[GPB_MAX_LEAF_ENTRIES];
	uint16		unknown[GPB_MAX_LEAF_ENTRIES];
	int			nunknown;
	int			i;

	gpb_host_look_up_visibility(channel, launch->heap_blocks, page, layout->row_width, from, to,
								visible);
	nunknown = gpb_leaf_aggregate(page, launch->spec, from, to, visible,
								  &channel->result.state, channel->sums, unknown);
	if (gpb_host_reserve(launch->device, heap,
						 heap->used + (uint64) nunknown * width) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	for (i = 0; i < nunknown; i++)
	{
		char	   *entry = heap->data + heap->used;
		uint64		key = gpb_page_key(page, layout->key_width, unknown[i]);

		memset(entry, 0, width);
		memcpy(entry, &key, sizeof(key));
		memcpy(entry + sizeof(key), gpb_page_row(page, layout->row_width, unknown[i]),
			   layout->row_width);
		heap->used += width;
	}
	return GPB_DEVICE_OK;
}

uint64
gpb_host_find_separator(const GpbDeviceMirror *mirror, GpbBound bound)
{
	uint64		lo = 0;
	uint64		hi = mirror->nseparators;

	while (hi - lo > 1)
	{
		uint64		mid = lo + (hi - lo) / 2;

		if (gpb_bound_less(bound, mirror->separators[mid].low))
			hi = mid;
		else
			lo = mid;
	}
	return lo;
}

/* The piece of the range that separator s answers. */
static GpbDeviceStatus
gpb_host_piece(GpbHostLaunch *launch, uint64 s)
{
	const GpbDeviceMirror *mirror = launch->mirror;
	const GpbSeparator *separator = &mirror->separators[s];
	const GpbLayout *layout = &mirror->layout;
	GpbBound	high = gpb_host_leaf_limit(mirror, s);
	GpbRange	piece = launch->spec->range;
	const char *page = gpb_host_clean_leaf(mirror, separator->leaf, high, launch->spec->epoch,
										   launch->changed, launch->nblocks);
	int			count;

	if (gpb_bound_less(piece.lo, separator->low))
		piece.lo = separator->low;
	if (gpb_bound_less(high, piece.hi))
		piece.hi = high;
	if (page == NULL)
		return gpb_host_unclean(launch, piece, separator->leaf);
	launch->channel->result.leaves++;
	count = gpb_page_count(page);
	return gpb_host_leaf(launch, page,
						 gpb_page_lower_bound(page, layout->key_width, layout->row_width,
											  count, piece.lo),
						 gpb_bound_cmp(piece.hi, high) == 0 ? count :
						 gpb_page_lower_bound(page, layout->key_width, layout->row_width,
											  count, piece.hi));
}

/* qsort order of heap entries: heap TID. */
static int
gpb_host_compare_tids(const void *a, const void *b)
{
	uint64		x = gpb_row_locator((const char *) a + 8) & GPB_TID_MASK;
	uint64		y = gpb_row_locator((const char *) b + 8) & GPB_TID_MASK;

	return x < y ? -1 : x > y;
}

static GpbDeviceStatus
gpb_host_aggregate(GpbHostLaunch *launch)
{
	const GpbDeviceMirror *mirror = launch->mirror;
	const GpbRange *range = &launch->spec->range;
	GpbHostChannel *channel = launch->channel;
	int			width = gpb_heap_entry_width(mirror->layout.row_width);
	GpbDeviceStatus status = GPB_DEVICE_OK;
	uint64		s;
	int			i;

	gpb_aggregate_state_init(&channel->result.state);
	for (i = 0; i < GPB_MAX_INCLUDE; i++)
		gpb_float_sum_init(&channel->sums[i]);
	channel->result.leaves = 0;
	channel->unclean.used = 0;
	channel->heap.used = 0;
	if (gpb_bound_less(range->lo, range->hi) && mirror->nseparators == 0)
		status = gpb_host_unclean(launch, *range, GPB_NO_BLOCK);
	else if (gpb_bound_less(range->lo, range->hi))
	{
		for (s = gpb_host_find_separator(mirror, range->lo);
			 status == GPB_DEVICE_OK && s < mirror->nseparators &&
			 gpb_bound_less(mirror->separators[s].low, range->hi); s++)
			status = gpb_host_piece(launch, s);
	}
	if (channel->heap.used > 0)
		qsort(channel->heap.data, channel->heap.used / width, width, gpb_host_compare_tids);
	for (i = 0; i < GPB_MAX_INCLUDE; i++)
		gpb_float_sum_normalize(&channel->sums[i]);
	channel->result.unclean = channel->unclean.used / sizeof(GpbUncleanLeaf);
	channel->result.heap = channel->heap.used / width;
	return status;
}

static GpbDeviceStatus
gpb_host_aggregate_launch(GpbDevice *device, GpbDeviceMirror *mirror, int channel,
						  const GpbAggregateSpec *spec, const uint32 *changed, uint32 nblocks)
{
	GpbHostLaunch launch;

	launch.device = device;
	launch.mirror = mirror;
	launch.channel = &device->channels[channel];
	launch.channel->nsums = gpb_count_float_sums(spec);
	launch.spec = spec;
	launch.changed = changed;
	launch.nblocks = nblocks;
	launch.heap_blocks = gpb_host_covered_blocks(launch.channel, spec->heap_blocks);
	gpb_host_ranges_abandon(launch.channel);
	launch.channel->status = gpb_host_aggregate(&launch);
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
gpb_host_aggregate_finish(GpbDevice *device, int channel, GpbAggregateResult *result,
						  GpbFloatSum *sums)
{
	GpbHostChannel *c = &device->channels[channel];

	*result = c->result;
	if (c->nsums > 0)
		memcpy(sums, c->sums, c->nsums * sizeof(GpbFloatSum));
	return c->status;
}

static GpbDeviceStatus
gpb_host_fetch(GpbDevice *device, int channel, GpbFetchWhat what, uint64 first, uint64 n,
			   void *into)
{
	GpbHostChannel *c = &device->channels[channel];
	GpbHostBuffer *buffer = what == GPB_FETCH_UNCLEAN ? &c->unclean : &c->heap;
	uint64		records = what == GPB_FETCH_UNCLEAN ? c->result.unclean : c->result.heap;

	if (what > GPB_FETCH_HEAP)
		return gpb_host_ranges_fetch(device, c, what, first, n, into);
	if (n > 0)
		memcpy(into, buffer->data + first * (buffer->used / records),
			   n * (buffer->used / records));
	return GPB_DEVICE_OK;
}

/* Aggregates have ended when they are launched. */
static GpbDeviceStatus
gpb_host_poll(GpbDevice *device, int channel, bool *ended)
{
	*ended = gpb_host_search_poll(device, channel) && gpb_host_ranges_poll(device, channel);
	return GPB_DEVICE_OK;
}

const GpbDeviceApi gpb_host_device = {
	.abi = GPB_DEVICE_ABI,
	.name = "host",
	.open = gpb_host_open,
	.close = gpb_host_close,
	.describe = gpb_host_describe,
	.last_error = gpb_host_last_error,
	.register_region = gpb_host_register_region,
	.mirror_create = gpb_host_mirror_create,
	.mirror_destroy = gpb_host_mirror_destroy,
	.mirror_bytes = gpb_host_mirror_bytes,
	.upload = gpb_host_upload,
	.upload_wait = gpb_host_upload_wait,
	.set_inner = gpb_host_set_inner,
	.set_visibility = gpb_host_set_visibility,
	.aggregate_launch = gpb_host_aggregate_launch,
	.aggregate_finish = gpb_host_aggregate_finish,
	.fetch = gpb_host_fetch,
	.search_launch = gpb_host_search_launch,
	.search_finish = gpb_host_search_finish,
	.ranges_launch = gpb_host_ranges_launch,
	.ranges_finish = gpb_host_ranges_finish,
	.poll = gpb_host_poll,
};
