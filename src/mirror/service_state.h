/*-------------------------------------------------------------------------
 *
 * service_state.h
 *	  What every process knows of the services: is there one for a device, and how to wake it.
 *
 * A server has a service for each device, numbered from 0 on (devices.h).  This lies in shared
 * memory.  The lock is taken for a copy and no longer; it may be taken after the registry lock, and
 * nothing is taken after it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SERVICE_STATE_H
#define GPB_SERVICE_STATE_H

#include "compat.h"

#include "port/atomics.h"
#include "storage/lwlock.h"

#include "device/device.h"
#include "mirror/devices.h"

/* One for each device */
typedef struct GpbServiceState
{
	LWLock	   *lock;			/* the same in all */

	/* available is the service's incarnation while it has a device and serves, else 0 */
	pg_atomic_uint64 incarnation;
	pg_atomic_uint64 available;
	pg_atomic_uint32 pgprocno;	/* plus 1; 0: no service process */
	pg_atomic_uint64 memory_limit;	/* of the device, in bytes; 0: not known */
	pg_atomic_uint64 hung_at;	/* heartbeats when it was last found hanging; 0: never */

	/* under the lock */
	GpbDeviceInfo device;
	int			ordinal;		/* that it is to open; -1: none */
	char		device_kind[16];	/* "cuda", "host", "none" */
	char		status[128];

	/* what the service writes often lies apart from what backends read often */
	pg_atomic_uint64 heartbeats;	/* signs of life (heartbeat.c) */
	pg_atomic_uint32 discards;	/* counts the reasons to look for mirrors to free */
	pg_atomic_uint32 lookers;	/* of the first: backends that look for answers without sleeping,
								 * from whichever service */

	char		apart[PG_CACHE_LINE_SIZE];	/* from the next one's */
} GpbServiceState;

extern GpbServiceState *gpb_services;	/* by device; NULL until shared memory is there */

/* In a service: the number of its device, and its own state; else -1 and NULL */
extern int	gpb_service_device;
extern GpbServiceState *gpb_service;

extern Size gpb_service_state_size(void);
extern void gpb_service_state_init_shmem(LWLock *lock);

/* Be the service of a device, in a process that was started as such. */
extern void gpb_become_service(int device);
/* Ask the service of a device to look around.  Any process may, also in recovery. */
extern void gpb_wake_service(int device);
/* Set the latch of a process, by its number in ProcGlobal. */
extern void gpb_wake_process(uint32 pgprocno);

/* Publish what there is to know of its device; info may be NULL.  A service alone calls it. */
extern void gpb_publish_device(const char *kind, const char *status, const GpbDeviceInfo *info);
/* Has the device a service that has opened it? */
static inline bool
gpb_service_is_there(int device)
{
	return pg_atomic_read_u64(&gpb_services[device].available) != 0;
}

/* Bytes of a device's memory that mirrors may take; 0 if that is not known. */
extern uint64 gpb_device_memory_limit(int device);
/* Does the device compute with processors of its own? */
extern bool gpb_device_has_processors(int device);

#endif							/* GPB_SERVICE_STATE_H */
