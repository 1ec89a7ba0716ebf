/*-------------------------------------------------------------------------
 *
 * host_device.h
 *	  The channels of the host device, and what host_device.c calls of host_ranges.c and
 *	  host_search.c; private to host_*.c.
 *
 * A channel works on what was launched on it last: launching ranges abandons its searches, and the
 * other way round.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_HOST_DEVICE_H
#define GPB_HOST_DEVICE_H

#include "device/host/host_leaf.h"

typedef struct GpbHostChannel
{
	GpbHostBuffer visibility;	/* bits; used: the bytes that were set */
	struct GpbHostRanges *ranges;	/* host_ranges.c's; NULL until the first launch */
	struct GpbHostSearch *search;	/* host_search.c's, likewise */
} GpbHostChannel;

/* ---- host_ranges.c ---- */

/* These three are as GpbDeviceApi has them. */
extern GpbDeviceStatus gpb_host_ranges_launch(GpbDevice *device, GpbDeviceMirror *mirror,
											  int channel, const GpbRangesSpec *spec,
											  const void *ranges, void *answers,
											  const uint32 *changed, uint32 nblocks);
extern GpbDeviceStatus gpb_host_ranges_finish(GpbDevice *device, int channel,
											  GpbRangesResult *result);
extern GpbDeviceStatus gpb_host_ranges_fetch(GpbDevice *device, int channel, GpbFetchWhat what,
											 uint64 first, uint64 n, void *into);

/* Do a bounded part of the channel's ranges; true when nothing is left. */
extern bool gpb_host_ranges_poll(GpbDevice *device, int channel);

/* Stop working on the channel's ranges and forget them: nobody waits for them. */
extern void gpb_host_ranges_abandon(GpbHostChannel *channel);

/*
 * Bring to their end the launched ranges that read the mirror or the channel's visibility bits,
 * before these change (rule M3).  mirror may be NULL, channel -1: none.
 */
extern void gpb_host_ranges_settle(GpbDevice *device, const GpbDeviceMirror *mirror,
								   int channel);

/* Free all that the channel holds for ranges. */
extern void gpb_host_ranges_free(GpbDevice *device, GpbHostChannel *channel);

/* ---- host_search.c ---- */

/* These two are as GpbDeviceApi has them. */
extern GpbDeviceStatus gpb_host_search_launch(GpbDevice *device, GpbDeviceMirror *mirror,
											  int channel, const GpbSearchSpec *spec,
											  const uint32 *changed, uint32 nblocks);
extern GpbDeviceStatus gpb_host_search_finish(GpbDevice *device, int channel);

/* Do a bounded part of the channel's searches; true when nothing is left. */
extern bool gpb_host_search_poll(GpbDevice *device, int channel);

/* Stop working on the channel's searches: nobody waits for them. */
extern void gpb_host_search_abandon(GpbDevice *device, GpbHostChannel *channel);

/*
 * Bring launched searches in the mirror to their end, before its inner image changes, or with
 * images_only just its leaf images (rule M3).
 */
extern void gpb_host_search_settle(GpbDevice *device, const GpbDeviceMirror *mirror,
								   bool images_only);

/* Free all that the channel holds for searches. */
extern void gpb_host_search_free(GpbDevice *device, GpbHostChannel *channel);

#endif							/* GPB_HOST_DEVICE_H */
