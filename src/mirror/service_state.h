/*-------------------------------------------------------------------------
 *
 * service_state.h
 *	  What every process knows of the service: is there one, with which device, and how to wake it.
 *
 * Lies in shared memory.  Its lock is taken for a copy and no longer; it may be taken after the
 * registry lock, and nothing is taken after it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SERVICE_STATE_H
#define GPB_SERVICE_STATE_H

#include "compat.h"

#include "port/atomics.h"
#include "storage/lwlock.h"

#include "device/device.h"

typedef struct GpbServiceState
{
	LWLock	   *lock;

	/* available is the service's incarnation while it has a device and serves, else 0 */
	pg_atomic_uint64 incarnation;
	pg_atomic_uint64 available;
	pg_atomic_uint32 pgprocno;	/* plus 1; 0: no service process */
	pg_atomic_uint64 memory_limit;	/* of the device, in bytes; 0: not known */
	pg_atomic_uint64 hung_at;	/* heartbeats when it was last found hanging; 0: never */

	/* under the lock */
	GpbDeviceInfo device;
	char		device_kind[16];	/* "cuda", "host", "none" */
	char		status[128];

	/* what the service writes often lies apart from what backends read often */
	pg_atomic_uint64 heartbeats;	/* signs of life (heartbeat.c) */
	pg_atomic_uint32 discards;	/* counts the reasons to look for mirrors to free */
	pg_atomic_uint32 lookers;	/* backends that look for answers without sleeping */
} GpbServiceState;

extern GpbServiceState *gpb_service;	/* NULL until shared memory is there */

extern Size gpb_service_state_size(void);
extern void gpb_service_state_init_shmem(LWLock *lock);

/* Ask the service to look around.  Any process may, also in recovery. */
extern void gpb_wake_service(void);
/* Set the latch of a process, by its number in ProcGlobal. */
extern void gpb_wake_process(uint32 pgprocno);

/* Publish what there is to know of the device; info may be NULL.  The service alone calls it. */
extern void gpb_publish_device(const char *kind, const char *status, const GpbDeviceInfo *info);
/* Bytes of device memory that mirrors may take; 0 if that is not known. */
extern uint64 gpb_device_memory_limit(void);
/* Does the device that serves compute with processors of its own? */
extern bool gpb_device_has_processors(void);

#endif							/* GPB_SERVICE_STATE_H */
