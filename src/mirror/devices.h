/*-------------------------------------------------------------------------
 *
 * devices.h
 *	  Which devices the settings name, and how many services the server has; see devices.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_DEVICES_H
#define GPB_DEVICES_H

#include "compat.h"

/* Most devices of a server, each with a service of its own */
#define GPB_MAX_DEVICES		8

typedef enum GpbDeviceChoice
{
	GPB_CHOOSE_AUTO,
	GPB_CHOOSE_CUDA,
	GPB_CHOOSE_HOST,
	GPB_CHOOSE_OFF
} GpbDeviceChoice;

/* What a service is to open */
typedef struct GpbDeviceWish
{
	GpbDeviceChoice choice;		/* off: the settings name fewer devices than there are services */
	int			ordinal;		/* of CUDA devices, or of host devices; -1: none */
} GpbDeviceWish;

/* Define gpubtree.device and gpubtree.cuda_device. */
extern void gpb_define_devices(void);
/* What gpubtree.device says of the kind of devices */
extern GpbDeviceChoice gpb_device_choice(void);
/* How many devices the settings name now, at least 1 */
extern int	gpb_devices_named(void);
/* What the service of that number is to open by the settings of now */
extern GpbDeviceWish gpb_device_wish(int number);

/*
 * How many services the server has: as many as devices were named when it started, which
 * gpb_count_devices() notes.
 */
extern int	gpb_devices;
extern void gpb_count_devices(void);

#endif							/* GPB_DEVICES_H */
