/*-------------------------------------------------------------------------
 *
 * host_device.h
 *	  The host device's own structures; private to host_*.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_HOST_DEVICE_H
#define GPB_HOST_DEVICE_H

#include "device/device.h"

#define Max(a, b)	((a) > (b) ? (a) : (b))
#define Min(a, b)	((a) < (b) ? (a) : (b))

/* Blocks whose image pointers and stamps are allocated together */
#define GPB_HOST_CHUNK	1024

typedef struct GpbHostImage
{
	char	   *page;			/* NULL: no image */
	uint64		stamp;
} GpbHostImage;

typedef struct GpbSeparator
{
	GpbBound	low;
	uint32		leaf;
} GpbSeparator;

struct GpbDeviceMirror
{
	GpbLayout	layout;
	uint32		nchunks;
	GpbHostImage **chunks;		/* NULL where no block has an image */
	uint64		nseparators;
	GpbSeparator *separators;
	uint64		bytes;
};

/* One growing array */
typedef struct GpbHostBuffer
{
	char	   *data;
	uint64		used;
	uint64		size;
} GpbHostBuffer;

typedef struct GpbHostChannel
{
	GpbHostBuffer visibility;
	GpbHostBuffer unclean;
	GpbHostBuffer heap;
	GpbAggregateResult result;
	GpbFloatSum sums[GPB_MAX_INCLUDE];
	int			nsums;			/* that the request asked for */
	GpbDeviceStatus status;
	struct GpbHostSearch *search;	/* host_search.c's, NULL until the first */
	struct GpbHostRanges *ranges;	/* host_ranges.c's */
} GpbHostChannel;

struct GpbDevice
{
	uint64		memory_total;
	uint64		memory_limit;
	uint64		memory_used;
	int			nchannels;
	GpbHostChannel *channels;
	const char *error;
};

/* NULL: beyond the limit, and device->error says so.  Memory is zeroed. */
extern void *gpb_host_alloc(GpbDevice *device, uint64 size);
extern void gpb_host_free(GpbDevice *device, void *p, uint64 size);

/* Room for size bytes in all; what is there stays. */
extern GpbDeviceStatus gpb_host_reserve(GpbDevice *device, GpbHostBuffer *buffer, uint64 size);

/*
 * Rule M4: a block's image if it is clean, that is not marked in changed (a bit for
 * each of nblocks blocks), not stamped above epoch, and ending at high; else NULL.
 */
extern const char *gpb_host_clean_leaf(const GpbDeviceMirror *mirror, uint32 block,
									   GpbBound high, uint64 epoch, const uint32 *changed,
									   uint32 nblocks);

/* host_search.c: as GpbDeviceApi has them; poll does a bounded part and says whether all is done. */
extern GpbDeviceStatus gpb_host_search_launch(GpbDevice *device, GpbDeviceMirror *mirror,
											  int channel, const GpbSearchSpec *spec,
											  const uint32 *changed, uint32 nblocks);
extern GpbDeviceStatus gpb_host_search_finish(GpbDevice *device, int channel);
extern bool gpb_host_search_poll(GpbDevice *device, int channel);
/*
 * Bring launched searches in the mirror to their end, before its inner image, or with images_only
 * just leaf images, are changed (rule M3).
 */
extern void gpb_host_search_settle(GpbDevice *device, const GpbDeviceMirror *mirror,
								   bool images_only);

/* Where the leaf of separator i ends: the next separator. */
static inline GpbBound
gpb_host_leaf_limit(const GpbDeviceMirror *mirror, uint64 i)
{
	return i + 1 < mirror->nseparators ? mirror->separators[i + 1].low : GPB_BOUND_MAX;
}

/* Last separator at or before the bound; there must be one. */
extern uint64 gpb_host_find_separator(const GpbDeviceMirror *mirror, GpbBound bound);

/* Of heap_blocks those that the channel was given visibility bits for */
extern uint32 gpb_host_covered_blocks(const GpbHostChannel *channel, uint32 heap_blocks);

/* Is the heap block of each entry from .. to - 1 all-visible?  visible[0] is of "from". */
extern void gpb_host_look_up_visibility(const GpbHostChannel *channel, uint32 heap_blocks,
										const char *page, int row_width, int from, int to,
										uint8 *visible);

/* ---- host_ranges.c ---- */

extern GpbDeviceStatus gpb_host_ranges_launch(GpbDevice *device, GpbDeviceMirror *mirror,
											  int channel, const GpbRangesSpec *spec,
											  const void *ranges, const uint32 *changed,
											  uint32 nblocks);
extern GpbDeviceStatus gpb_host_ranges_finish(GpbDevice *device, int channel,
											  GpbRangesResult *result);
extern GpbDeviceStatus gpb_host_ranges_fetch(GpbDevice *device, GpbHostChannel *channel,
											 GpbFetchWhat what, uint64 first, uint64 n,
											 void *into);
/* A bounded part of the work; true when nothing is left. */
extern bool gpb_host_ranges_poll(GpbDevice *device, int channel);
/* Nobody wants them: another request is launched on the channel. */
extern void gpb_host_ranges_abandon(GpbHostChannel *channel);

/*
 * Before a mirror (or NULL) or a channel's input (or -1) changes: what was launched and reads it is
 * brought to its end.
 */
extern void gpb_host_ranges_settle(GpbDevice *device, const GpbDeviceMirror *mirror,
								   int channel);
extern void gpb_host_ranges_free(GpbDevice *device, GpbHostChannel *channel);

#endif							/* GPB_HOST_DEVICE_H */
