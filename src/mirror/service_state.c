/*-------------------------------------------------------------------------
 *
 * service_state.c
 *	  What every process knows of the services.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service_state.h"

#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/shmem.h"

#include "hold.h"
#include "mirror/mirror.h"

GpbServiceState *gpb_services = NULL;
int			gpb_service_device = -1;
GpbServiceState *gpb_service = NULL;

Size
gpb_service_state_size(void)
{
	return MAXALIGN(mul_size(gpb_devices, sizeof(GpbServiceState)));
}

static void
init_state(GpbServiceState *service, LWLock *lock)
{
	memset(service, 0, sizeof(*service));
	service->lock = lock;
	service->ordinal = -1;
	pg_atomic_init_u64(&service->incarnation, 0);
	pg_atomic_init_u64(&service->available, 0);
	pg_atomic_init_u32(&service->pgprocno, 0);
	pg_atomic_init_u64(&service->memory_limit, 0);
	pg_atomic_init_u64(&service->hung_at, 0);
	pg_atomic_init_u64(&service->heartbeats, 1);
	pg_atomic_init_u32(&service->discards, 0);
	pg_atomic_init_u32(&service->lookers, 0);
	strlcpy(service->device_kind, "none", sizeof(service->device_kind));
	strlcpy(service->status, "starting", sizeof(service->status));
}

void
gpb_service_state_init_shmem(LWLock *lock)
{
	bool		found;
	GpbServiceState *services = ShmemInitStruct("gpubtree service", gpb_service_state_size(),
												&found);

	for (int device = 0; device < gpb_devices && !found; device++)
		init_state(&services[device], lock);
	gpb_services = services;
}

void
gpb_become_service(int device)
{
	gpb_service_device = device;
	gpb_service = &gpb_services[device];
#ifdef GPB_HOLD_POINTS
	gpb_hold_device = gpb_devices > 1 ? device : -1;
#endif
}

void
gpb_wake_process(uint32 pgprocno)
{
	SetLatch(&ProcGlobal->allProcs[pgprocno].procLatch);
}

void
gpb_wake_service(int device)
{
	uint32		service;

	pg_memory_barrier();
	service = pg_atomic_read_u32(&gpb_services[device].pgprocno);
	if (service != 0)
		gpb_wake_process(service - 1);
}

void
gpb_publish_device(const char *kind, const char *status, const GpbDeviceInfo *info)
{
	LWLockAcquire(gpb_service->lock, LW_EXCLUSIVE);
	if (info != NULL)
		gpb_service->device = *info;
	else
		memset(&gpb_service->device, 0, sizeof(gpb_service->device));
	pg_atomic_write_u64(&gpb_service->memory_limit, gpb_service->device.memory_limit);
	strlcpy(gpb_service->device_kind, kind, sizeof(gpb_service->device_kind));
	strlcpy(gpb_service->status, status, sizeof(gpb_service->status));
	LWLockRelease(gpb_service->lock);
}

uint64
gpb_device_memory_limit(int device)
{
	return pg_atomic_read_u64(&gpb_services[device].memory_limit);
}

bool
gpb_device_has_processors(int device)
{
	const GpbServiceState *service = &gpb_services[device];
	bool		has_processors;

	LWLockAcquire(service->lock, LW_SHARED);
	has_processors = strcmp(service->device_kind, "cuda") == 0;
	LWLockRelease(service->lock);
	return has_processors;
}

/* The result is valid until the next call. */
const char *
gpb_mirror_engine_name(int device)
{
	static char name[128];
	const GpbServiceState *service = &gpb_services[device];

	if (!gpb_service_is_there(device))
		return "no device";
	LWLockAcquire(service->lock, LW_SHARED);
	if (strcmp(service->device_kind, "cuda") == 0)
		snprintf(name, sizeof(name), "CUDA device %d (%s)", service->device.ordinal,
				 service->device.name);
	else if (gpb_devices == 1)
		snprintf(name, sizeof(name), "%s device", service->device_kind);
	else
		snprintf(name, sizeof(name), "%s device %d", service->device_kind,
				 service->device.ordinal);
	LWLockRelease(service->lock);
	return name;
}
