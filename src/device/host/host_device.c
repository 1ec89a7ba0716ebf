/*-------------------------------------------------------------------------
 *
 * host_device.c
 *	  The device interface on the CPU, inside the service: its table, and its mirrors.
 *
 * With it every line of the protocol between backends, service and device runs on a machine without
 * a GPU.  host_ranges.c has the requests of ranges, host_search.c the searches; both stand on
 * host_leaf.c, which reads mirrors, and host_memory.c.  host_sort.c has the sorts, which read no
 * mirror.  A launch does no work, so whatever changes a mirror or a channel's visibility bits here
 * first completes the requests that read them (rule M3).
 *
 * Free of PostgreSQL calls: memory is malloc's, and bounded by memory_limit.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

#include "device/host/host_device.h"

/* ---- device ---- */

static GpbDeviceStatus
host_open(int ordinal, uint64 memory_limit, int channels,
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
	d->ordinal = ordinal;
	d->nchannels = channels;
	d->memory_total = (uint64) sysconf(_SC_PHYS_PAGES) * page_size;
	d->memory_limit = memory_limit != 0 ? memory_limit :
		(uint64) sysconf(_SC_AVPHYS_PAGES) * page_size / 5 * 4;
	d->error = "";
	*device = d;
	return GPB_DEVICE_OK;
}

/* Free the device and its channels; this is called only when the process is about to end. */
static void
host_close(GpbDevice *device)
{
	int			i;

	for (i = 0; i < device->nchannels; i++)
	{
		GpbHostChannel *channel = &device->channels[i];

		gpb_host_ranges_free(device, channel);
		gpb_host_search_free(device, channel);
		gpb_host_sort_free(device, channel);
		gpb_host_free(device, channel->visibility.data, channel->visibility.size);
	}
	free(device->channels);
	free(device);
}

static void
host_describe(GpbDevice *device, GpbDeviceInfo *info)
{
	memset(info, 0, sizeof(*info));
	snprintf(info->name, sizeof(info->name), "host");
	info->ordinal = device->ordinal;
	info->memory_total = device->memory_total;
	info->memory_used = device->memory_used;
	info->memory_limit = device->memory_limit;
}

static const char *
host_last_error(GpbDevice *device)
{
	return device->error;
}

static GpbDeviceStatus
host_register_region(GpbDevice *device, void *base, size_t size)
{
	return GPB_DEVICE_OK;
}

/* ---- mirrors ---- */

static GpbDeviceStatus
host_mirror_create(GpbDevice *device, const GpbLayout *layout, GpbDeviceMirror **mirror)
{
	GpbDeviceMirror *m = gpb_host_alloc(device, sizeof(GpbDeviceMirror));

	if (m == NULL)
		return GPB_DEVICE_NO_MEMORY;
	m->layout = *layout;
	m->bytes = sizeof(GpbDeviceMirror);
	*mirror = m;
	return GPB_DEVICE_OK;
}

/* The bytes of a separator, with the upper half of its key */
static uint64
host_separator_width(const GpbDeviceMirror *mirror)
{
	return sizeof(GpbHostSeparator) +
		(gpb_is_wide(mirror->layout.key_width) ? sizeof(uint64) : 0);
}

/* Free the inner image, which nobody reads any longer. */
static void
host_free_inner(GpbDevice *device, GpbDeviceMirror *mirror)
{
	gpb_host_free(device, mirror->separators, mirror->nseparators * sizeof(GpbHostSeparator));
	if (mirror->upper != NULL)
		gpb_host_free(device, mirror->upper, mirror->nseparators * sizeof(uint64));
	mirror->bytes -= mirror->nseparators * host_separator_width(mirror);
}

/* Complete the requests that read the mirror, then free it. */
static void
host_mirror_destroy(GpbDevice *device, GpbDeviceMirror *mirror)
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
	host_free_inner(device, mirror);
	gpb_host_free(device, mirror, sizeof(GpbDeviceMirror));
}

static uint64
host_mirror_bytes(GpbDeviceMirror *mirror)
{
	return mirror->bytes;
}

/*
 * The image entry of a block.  Its chunk of entries is made if need be; returns NULL if there is no
 * memory.
 */
static GpbHostImage *
host_image_for(GpbDevice *device, GpbDeviceMirror *mirror, uint32 block)
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

/* Take page images, after the launched requests that read the mirror's images were completed. */
static GpbDeviceStatus
host_upload(GpbDevice *device, GpbDeviceMirror *mirror, int n, const uint32 *blocks,
			const void *pages, uint64 epoch)
{
	int			i;

	gpb_host_search_settle(device, mirror, true);
	gpb_host_ranges_settle(device, mirror, -1);
	for (i = 0; i < n; i++)
	{
		GpbHostImage *image = host_image_for(device, mirror, blocks[i]);

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
host_upload_wait(GpbDevice *device)
{
	return GPB_DEVICE_OK;
}

/*
 * Append the separators of a level-1 page to the inner image; upper is NULL if there are no upper
 * halves of keys.
 */
static void
host_flatten(const GpbDeviceMirror *mirror, const void *page, uint32 count,
			 GpbHostSeparator *into, uint64 *upper)
{
	uint32		i;

	for (i = 0; i < count; i++)
	{
		GpbBound	low = gpb_page_bound(page, mirror->layout.key_width, GPB_INNER_ROW_WIDTH, i);

		into[i].low = gpb_narrow_bound(low);
		if (upper != NULL)
			upper[i] = gpb_key_upper(low.key);
		into[i].leaf = gpb_row_child(gpb_page_row(page, GPB_INNER_ROW_WIDTH, i));
	}
}

/* Replace the inner image.  The launched requests that read it are completed first. */
static GpbDeviceStatus
host_set_inner(GpbDevice *device, GpbDeviceMirror *mirror, uint32 nblocks,
			   const uint32 *blocks, const uint32 *counts, uint32 root_leaf)
{
	uint64		n = nblocks == 0 ? 1 : 0;
	uint64		at = 0;
	GpbHostSeparator *separators;
	uint64	   *upper = NULL;
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
	separators = gpb_host_alloc(device, n * sizeof(GpbHostSeparator));
	if (separators == NULL)
		return GPB_DEVICE_NO_MEMORY;
	if (gpb_is_wide(mirror->layout.key_width))
	{
		upper = gpb_host_alloc(device, n * sizeof(uint64));
		if (upper == NULL)
		{
			gpb_host_free(device, separators, n * sizeof(GpbHostSeparator));
			return GPB_DEVICE_NO_MEMORY;
		}
	}
	if (nblocks == 0)
		separators[0].leaf = root_leaf;
	for (i = 0; i < nblocks; i++)
	{
		host_flatten(mirror, gpb_host_image(mirror, blocks[i])->page, counts[i],
					 separators + at, upper == NULL ? NULL : upper + at);
		at += counts[i];
	}
	separators[0].low.key = 0;
	separators[0].low.tie = 0;
	if (upper != NULL)
		upper[0] = 0;
	gpb_host_search_settle(device, mirror, false);
	host_free_inner(device, mirror);
	mirror->bytes += n * host_separator_width(mirror);
	mirror->separators = separators;
	mirror->upper = upper;
	mirror->nseparators = n;
	return GPB_DEVICE_OK;
}

/* ---- requests ---- */

static GpbDeviceStatus
host_set_visibility(GpbDevice *device, int channel, uint64 offset, const void *bits,
					uint64 n)
{
	GpbHostBuffer *buffer = &device->channels[channel].visibility;

	gpb_host_ranges_settle(device, NULL, channel);
	if (offset == 0)
		buffer->used = 0;
	if (gpb_host_reserve(device, buffer, offset + n) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	if (offset > buffer->used)	/* what another request left there */
		memset(buffer->data + buffer->used, 0, offset - buffer->used);
	memcpy(buffer->data + offset, bits, n);
	buffer->used = Max(buffer->used, offset + n);
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
host_map_create(GpbDevice *device, GpbDeviceMap **map)
{
	*map = gpb_host_alloc(device, sizeof(GpbDeviceMap));
	return *map == NULL ? GPB_DEVICE_NO_MEMORY : GPB_DEVICE_OK;
}

static GpbDeviceStatus
host_map_set(GpbDevice *device, GpbDeviceMap *map, int channel, const void *bits, uint64 n)
{
	gpb_host_ranges_settle_map(device, map);
	map->bits.used = 0;
	if (gpb_host_reserve(device, &map->bits, n) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	if (n > 0)
		memcpy(map->bits.data, bits, n);
	map->bits.used = n;
	return GPB_DEVICE_OK;
}

static void
host_map_destroy(GpbDevice *device, GpbDeviceMap *map)
{
	int			i;

	gpb_host_ranges_settle_map(device, map);
	for (i = 0; i < device->nchannels; i++)
	{
		if (device->channels[i].map == map)
			device->channels[i].map = NULL;
	}
	gpb_host_free(device, map->bits.data, map->bits.size);
	gpb_host_free(device, map, sizeof(GpbDeviceMap));
}

static GpbDeviceStatus
host_map_use(GpbDevice *device, int channel, GpbDeviceMap *map)
{
	device->channels[channel].map = map;
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
host_launch_ranges(GpbDevice *device, GpbDeviceMirror *mirror, int channel,
				   const GpbRangesSpec *spec, const void *ranges, void *answers,
				   const uint32 *changed, uint32 nblocks)
{
	gpb_host_search_abandon(device, &device->channels[channel]);
	gpb_host_sort_abandon(&device->channels[channel]);
	return gpb_host_ranges_launch(device, mirror, channel, spec, ranges, answers, changed,
								  nblocks);
}

static GpbDeviceStatus
host_launch_search(GpbDevice *device, GpbDeviceMirror *mirror, int channel,
				   const GpbSearchSpec *spec, const uint32 *changed, uint32 nblocks)
{
	gpb_host_ranges_abandon(&device->channels[channel]);
	gpb_host_sort_abandon(&device->channels[channel]);
	return gpb_host_search_launch(device, mirror, channel, spec, changed, nblocks);
}

static GpbDeviceStatus
host_add_records(GpbDevice *device, int channel, const void *records, uint32 n)
{
	gpb_host_ranges_abandon(&device->channels[channel]);
	gpb_host_search_abandon(device, &device->channels[channel]);
	return gpb_host_sort_add(device, channel, records, n);
}

static GpbDeviceStatus
host_read_records(GpbDevice *device, int channel, uint64 first, uint32 n, void *into)
{
	gpb_host_ranges_abandon(&device->channels[channel]);
	gpb_host_search_abandon(device, &device->channels[channel]);
	return gpb_host_sort_read(device, channel, first, n, into);
}

/* At most one of the three kinds of requests has something to do. */
static GpbDeviceStatus
host_poll(GpbDevice *device, int channel, bool *ended)
{
	*ended = gpb_host_search_poll(device, channel) && gpb_host_ranges_poll(device, channel) &&
		gpb_host_sort_poll(device, channel);
	return GPB_DEVICE_OK;
}

const GpbDeviceApi gpb_host_device = {
	.abi = GPB_DEVICE_ABI,
	.name = "host",
	.open = host_open,
	.close = host_close,
	.describe = host_describe,
	.last_error = host_last_error,
	.register_region = host_register_region,
	.mirror_create = host_mirror_create,
	.mirror_destroy = host_mirror_destroy,
	.mirror_bytes = host_mirror_bytes,
	.upload = host_upload,
	.upload_wait = host_upload_wait,
	.set_inner = host_set_inner,
	.set_visibility = host_set_visibility,
	.map_create = host_map_create,
	.map_set = host_map_set,
	.map_destroy = host_map_destroy,
	.map_use = host_map_use,
	.ranges_launch = host_launch_ranges,
	.ranges_finish = gpb_host_ranges_finish,
	.fetch = gpb_host_ranges_fetch,
	.search_launch = host_launch_search,
	.search_finish = gpb_host_search_finish,
	.sort_begin = gpb_host_sort_begin,
	.sort_add = host_add_records,
	.sort_read = host_read_records,
	.sort_finish = gpb_host_sort_finish,
	.sort_end = gpb_host_sort_end,
	.poll = host_poll,
};
