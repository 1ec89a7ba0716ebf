/*-------------------------------------------------------------------------
 *
 * settings.h
 *	  The mirror's settings; private to the mirror (mirror.h has those that the floors above read).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_MIRROR_SETTINGS_H
#define GPB_MIRROR_SETTINGS_H

#include "compat.h"

#include "mirror/mirror.h"

/* Whether builds sort on the device */
typedef enum GpbSortChoice
{
	GPB_SORT_AUTO,				/* on a device that has processors of its own */
	GPB_SORT_ON,
	GPB_SORT_OFF
} GpbSortChoice;

extern int	gpb_device_sort;
extern int	gpb_memory_limit;	/* kB, of each device */

/* for each device */
extern int	gpb_refresh_slots;
extern int	gpb_staging_size;	/* kB */
extern int	gpb_batch_slots;
extern int	gpb_batch_memory;	/* kB */

extern int	gpb_max_mirrored_blocks;
extern int	gpb_max_mirror_size;	/* kB; 0: no limit but the device's */
extern int	gpb_request_timeout;	/* ms; 0: none */
extern bool gpb_background_refresh;
extern int	gpb_background_refresh_rate;	/* pages a second */

/*
 * Most copies of map images on the device (service_bits.c): one for each mirror, since a statement
 * that asks many of them one after the other would otherwise find none of their copies again.  It
 * is a variable for the sake of tests (hold.h).
 */
#define GPB_DEVICE_MAPS		GPB_MIRRORS
extern int	gpb_device_maps;

/*
 * Kinds of devices that are said to spare the CPU: GPUs, or with 2 the host device, too.  Another
 * variable for the sake of tests, which so make the plans that there are beside a GPU without one.
 */
extern int	gpb_sparing_kinds;

/*
 * Blocks that one segment of the changed map covers, and to a multiple of which each index's share
 * of gpubtree.max_mirrored_blocks is rounded up.  Where hold points are compiled in, tests whose
 * indexes are small set gpubtree.segment_blocks to have several segments for each.
 */
#define GPB_USUAL_SEGMENT_BLOCKS	65536
#ifdef GPB_HOLD_POINTS
extern int	gpb_segment_blocks;
#define GPB_SEGMENT_BLOCKS	((uint32) gpb_segment_blocks)
#else
#define GPB_SEGMENT_BLOCKS	((uint32) GPB_USUAL_SEGMENT_BLOCKS)
#endif

#endif							/* GPB_MIRROR_SETTINGS_H */
