/*-------------------------------------------------------------------------
 *
 * start.c
 *	  The mirror at server start: its shared memory and its workers.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/mirror.h"

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/lwlock.h"
#include "storage/shmem.h"

#include "mirror/map/changed_map.h"
#include "mirror/map/refusals.h"
#include "mirror/map/registry.h"
#include "mirror/devices.h"
#include "mirror/map_image.h"
#include "mirror/pool.h"
#include "mirror/refresher_state.h"
#include "mirror/service_state.h"
#include "mirror/slots.h"
#include "mirror/statistics.h"

#define GPB_TRANCHE "gpubtree_registry"

/* The locks of the tranche */
enum
{
	REGISTRY_LOCK,
	SERVICE_LOCK,
	POOL_LOCKS					/* one for each device */
};

void
gpb_mirror_request_shmem(void)
{
	RequestAddinShmemSpace(gpb_service_state_size());
	RequestAddinShmemSpace(gpb_refresher_state_size());
	RequestAddinShmemSpace(gpb_statistics_size());
	RequestAddinShmemSpace(gpb_registry_size());
	RequestAddinShmemSpace(gpb_refusals_size());
	RequestAddinShmemSpace(gpb_map_shmem_size());
	RequestAddinShmemSpace(gpb_slots_shmem_size());
	RequestAddinShmemSpace(gpb_pool_shmem_size());
	RequestAddinShmemSpace(gpb_map_images_size());
	RequestNamedLWLockTranche(GPB_TRANCHE, POOL_LOCKS + gpb_devices);
}

void
gpb_mirror_init_shmem(void)
{
	LWLockPadded *locks = GetNamedLWLockTranche(GPB_TRANCHE);

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	gpb_service_state_init_shmem(&locks[SERVICE_LOCK].lock);
	gpb_refresher_state_init_shmem();
	gpb_statistics_init_shmem();
	gpb_refusals_init_shmem();
	gpb_pool_init_shmem(&locks[POOL_LOCKS]);
	gpb_map_images_init_shmem();
	gpb_map_init_shmem();
	gpb_slots_init_shmem();
	gpb_registry_init_shmem(&locks[REGISTRY_LOCK].lock);
	LWLockRelease(AddinShmemInitLock);
}

static void
register_worker(const char *name, const char *function, int number)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS;
	worker.bgw_start_time = BgWorkerStart_PostmasterStart;
	worker.bgw_restart_time = 1;
	strlcpy(worker.bgw_library_name, "gpubtree", BGW_MAXLEN);
	strlcpy(worker.bgw_function_name, function, BGW_MAXLEN);
	strlcpy(worker.bgw_name, name, BGW_MAXLEN);
	strlcpy(worker.bgw_type, name, BGW_MAXLEN);
	worker.bgw_main_arg = Int32GetDatum(number);
	RegisterBackgroundWorker(&worker);
}

/*
 * Register a service for each device, and the refresher.  They start with the server, before
 * recovery ends, so that a standby has them; they connect to no database (rule M9).
 */
void
gpb_mirror_register_workers(void)
{
	int			device;

	for (device = 0; device < gpb_devices; device++)
		register_worker("gpubtree service", "gpb_service_main", device);
	register_worker("gpubtree refresher", "gpb_refresher_main", 0);
}
