/*-------------------------------------------------------------------------
 *
 * service_state.c
 *	  What every process knows of the service.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service_state.h"

#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/shmem.h"

#include "mirror/mirror.h"

GpbServiceState *gpb_service = NULL;

Size
gpb_service_state_size(void)
{
	return MAXALIGN(sizeof(GpbServiceState));
}

void
gpb_service_state_init_shmem(LWLock *lock)
{
	bool		found;
	GpbServiceState *service = ShmemInitStruct("gpubtree service", gpb_service_state_size(),
											   &found);

	if (!found)
	{
		memset(service, 0, sizeof(*service));
		service->lock = lock;
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
	gpb_service = service;
}

void
gpb_wake_process(uint32 pgprocno)
{
	SetLatch(&ProcGlobal->allProcs[pgprocno].procLatch);
}

void
gpb_wake_service(void)
{
	uint32		service;

	pg_memory_barrier();
	service = pg_atomic_read_u32(&gpb_service->pgprocno);
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
gpb_device_memory_limit(void)
{
	return pg_atomic_read_u64(&gpb_service->memory_limit);
}

bool
gpb_device_has_processors(void)
{
	bool		has_processors;

	LWLockAcquire(gpb_service->lock, LW_SHARED);
	has_processors = strcmp(gpb_service->device_kind, "cuda") == 0;
	LWLockRelease(gpb_service->lock);
	return has_processors;
}

/* The result is valid until the next call. */
const char *
gpb_mirror_engine_name(void)
{
	static char name[128];

	if (gpb_service == NULL || pg_atomic_read_u64(&gpb_service->available) == 0)
		return "no device";
	LWLockAcquire(gpb_service->lock, LW_SHARED);
	if (strcmp(gpb_service->device_kind, "cuda") == 0)
		snprintf(name, sizeof(name), "CUDA device %d (%s)", gpb_service->device.ordinal,
				 gpb_service->device.name);
	else
		snprintf(name, sizeof(name), "%s device", gpb_service->device_kind);
	LWLockRelease(gpb_service->lock);
	return name;
}
