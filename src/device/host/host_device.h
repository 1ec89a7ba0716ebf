/*-------------------------------------------------------------------------
 *
 * host_device.h
 *	  The channels of the host device, and what host_device.c calls of the other host_*.c.
 *
 * Private to host_*.c.
 *
 * A channel works on what was launched on it last, be it ranges, searches or part of a sort: a
 * launch of one kind abandons those of the others.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_HOST_DEVICE_H
#define GPB_HOST_DEVICE_H

#include "device/host/host_leaf.h"

struct GpbDeviceMap
{
	GpbHostBuffer bits;			/* "used" is the number of bytes that were set */
};

typedef struct GpbHostChannel
{
	GpbDeviceMap *map;			/* what its ranges read; NULL: the channel's own bits */
	GpbHostBuffer visibility;	/* bits; "used" is the number of bytes that were set */
	struct GpbHostRanges *ranges;	/* of host_ranges.c; NULL until ranges are launched */
	struct GpbHostSearch *search;	/* of host_search.c; NULL until searches are launched */
	struct GpbHostSort *sort;	/* of host_sort.c; NULL while the channel has no sort */
} GpbHostChannel;

/* ---- host_ranges.c ---- */

/* What GpbDeviceApi says of ranges_launch, ranges_finish and fetch */
extern GpbDeviceStatus gpb_host_ranges_launch(GpbDevice *device, GpbDeviceMirror *mirror,
											  int channel, const GpbRangesSpec *spec,
											  const void *ranges, void *answers,
											  const uint32 *changed, uint32 nblocks);
extern GpbDeviceStatus gpb_host_ranges_finish(GpbDevice *device, int channel,
											  GpbRangesResult *result);
extern GpbDeviceStatus gpb_host_ranges_fetch(GpbDevice *device, int channel, GpbFetchWhat what,
											 uint64 first, uint64 n, void *into);

/* Do a bounded part of the channel's ranges.  Returns true when nothing is left to do. */
extern bool gpb_host_ranges_poll(GpbDevice *device, int channel);

/* Stop working on the channel's ranges and forget them, since nobody waits for them. */
extern void gpb_host_ranges_abandon(GpbHostChannel *channel);

/*
 * Complete the launched ranges that read the mirror or the channel's visibility bits, before these
 * change (rule M3).  mirror may be NULL, and channel may be -1, for none.
 */
extern void gpb_host_ranges_settle(GpbDevice *device, const GpbDeviceMirror *mirror,
								   int channel);

/* Complete the launched ranges that read the map, before it changes (rule M3). */
extern void gpb_host_ranges_settle_map(GpbDevice *device, const GpbDeviceMap *map);

/* Free all that the channel holds for ranges. */
extern void gpb_host_ranges_free(GpbDevice *device, GpbHostChannel *channel);

/* ---- host_search.c ---- */

/* What GpbDeviceApi says of search_launch and search_finish */
extern GpbDeviceStatus gpb_host_search_launch(GpbDevice *device, GpbDeviceMirror *mirror,
											  int channel, const GpbSearchSpec *spec,
											  const uint32 *changed, uint32 nblocks);
extern GpbDeviceStatus gpb_host_search_finish(GpbDevice *device, int channel);

/* Do a bounded part of the channel's searches.  Returns true when nothing is left to do. */
extern bool gpb_host_search_poll(GpbDevice *device, int channel);

/* Stop working on the channel's searches, since nobody waits for them. */
extern void gpb_host_search_abandon(GpbDevice *device, GpbHostChannel *channel);

/*
 * Complete launched searches in the mirror before its inner image changes, or, with images_only
 * set, before just its leaf images change (rule M3).
 */
extern void gpb_host_search_settle(GpbDevice *device, const GpbDeviceMirror *mirror,
								   bool images_only);

/* Free all that the channel holds for searches. */
extern void gpb_host_search_free(GpbDevice *device, GpbHostChannel *channel);

/* ---- host_sort.c ---- */

/* What GpbDeviceApi says of sort_begin, sort_add, sort_read, sort_finish and sort_end */
extern GpbDeviceStatus gpb_host_sort_begin(GpbDevice *device, int channel,
										   const GpbSortFormat *format, uint64 expected);
extern GpbDeviceStatus gpb_host_sort_add(GpbDevice *device, int channel, const void *records,
										 uint32 n);
extern GpbDeviceStatus gpb_host_sort_read(GpbDevice *device, int channel, uint64 first,
										  uint32 n, void *into);
extern GpbDeviceStatus gpb_host_sort_finish(GpbDevice *device, int channel);
extern void gpb_host_sort_end(GpbDevice *device, int channel);

/* Do a bounded part of what was launched on the sort.  Returns true when nothing is left to do. */
extern bool gpb_host_sort_poll(GpbDevice *device, int channel);

/*
 * Stop working on what was launched on the channel's sort and was not finished.  The sort has
 * failed then.
 */
extern void gpb_host_sort_abandon(GpbHostChannel *channel);

/* Free the channel's sort, if it has one. */
extern void gpb_host_sort_free(GpbDevice *device, GpbHostChannel *channel);

#endif							/* GPB_HOST_DEVICE_H */
