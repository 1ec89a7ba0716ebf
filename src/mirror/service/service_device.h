/*-------------------------------------------------------------------------
 *
 * service_device.h
 *	  The service's device; see service_device.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SERVICE_DEVICE_H
#define GPB_SERVICE_DEVICE_H

#include "compat.h"

#include "device/device.h"

extern const GpbDeviceApi *gpb_api;
extern GpbDevice *gpb_device;	/* NULL if none is open */

/*
 * Open the device that gpubtree.device and gpubtree.cuda_device name for this service.  Returns
 * false if there is none: one log line, and the server runs without mirrors.
 */
extern bool gpb_open_device(int channels);
/* Say once if more devices are named by now than the server has services. */
extern void gpb_devices_warn(void);
/* Have the settings that the device was opened with changed since? */
extern bool gpb_device_settings_changed(void);
/* Show what there is to know of the device, and a status, to users. */
extern void gpb_device_show(const char *status);
/*
 * To be called with the status of each call to the device: a lost device ends the service, with one
 * log line.  Its waiting backends notice and go on without it.
 */
extern void gpb_device_check(GpbDeviceStatus status);

#endif							/* GPB_SERVICE_DEVICE_H */
