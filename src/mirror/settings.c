/*-------------------------------------------------------------------------
 *
 * settings.c
 *	  The mirror's settings, its shared memory and its worker, at server start.
 *
 * Sizes of shared memory are fixed at server start.  What concerns the device alone may
 * change on reload: the service then restarts itself.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/shared.h"

#include "miscadmin.h"
#include "postmaster/bgworker.h"
#include "storage/ipc.h"
#include "storage/shmem.h"
#include "utils/guc.h"
#include "utils/plancache.h"

bool		gpb_enabled = true;
bool		gpb_enable_device = true;
int			gpb_device_choice = GPB_CHOOSE_AUTO;
int			gpb_cuda_device = 0;
int			gpb_memory_limit = 0;
int			gpb_query_slots = 16;
int			gpb_refresh_slots = 4;
int			gpb_staging_size = 1024;
int			gpb_batch_slots = 64;
int			gpb_batch_memory = 64 * 1024;
int			gpb_max_mirrored_blocks = 16 * 1024 * 1024;
int			gpb_max_mirror_size = 0;
int			gpb_request_timeout = 10000;

GpbShared  *gpb_shared = NULL;

static const struct config_enum_entry gpb_device_choices[] = {
	{"auto", GPB_CHOOSE_AUTO, false},
	{"cuda", GPB_CHOOSE_CUDA, false},
	{"host", GPB_CHOOSE_HOST, false},
	{"off", GPB_CHOOSE_OFF, false},
	{NULL, 0, false}
};

#define GPB_TRANCHE "gpubtree_registry"

/*
 * Plans that this session has cached were made for the other value: all are made anew before they
 * are executed again.  This touches nothing but memory of this process, and so may be done at any
 * time, also when a transaction's end brings the old value back.
 */
static void
gpb_assign_enabled(bool value, void *extra)
{
	if (value != gpb_enabled)
		ResetPlanCache();
}

void
gpb_mirror_define_settings(void)
{
	DefineCustomBoolVariable("gpubtree.enabled",
							 "Enables whatever queries can do with gpubtree indexes beyond ordinary index scans.",
							 "Without it, plans have no nodes of gpubtree, and the device is not used.",
							 &gpb_enabled, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, gpb_assign_enabled, NULL);
	DefineCustomBoolVariable("gpubtree.enable_device",
							 "Enables the use of the device that mirrors gpubtree indexes.",
							 "Without it, the CPU answers from the index itself.",
							 &gpb_enable_device, true, PGC_USERSET, GUC_EXPLAIN,
							 NULL, NULL, NULL);
	DefineCustomEnumVariable("gpubtree.device",
							 "Selects the device that holds mirrors.",
							 "auto is a CUDA device if there is one, else none; host keeps mirrors in the service's own memory.",
							 &gpb_device_choice, GPB_CHOOSE_AUTO,
							 gpb_device_choices, PGC_SIGHUP, 0,
							 NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.cuda_device",
							"Number of the CUDA device.",
							NULL, &gpb_cuda_device, 0, 0, 1023, PGC_SIGHUP, 0,
							NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.memory_limit",
							"Device memory that mirrors may take.",
							"0 is four fifths of what is free when the service starts.",
							&gpb_memory_limit, 0, 0, INT_MAX, PGC_SIGHUP,
							GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.max_mirror_size",
							"Largest index of which all pages are mirrored.",
							"Of a larger one only inner nodes are; 0 is as large as the device's memory allows.",
							&gpb_max_mirror_size, 0, 0, INT_MAX, PGC_SUSET,
							GUC_UNIT_KB, NULL, NULL, NULL);
	/* of the server: what one backend finds, all go by */
	DefineCustomIntVariable("gpubtree.request_timeout",
							"Time without a sign of life from the service after which queries do without it.",
							"0 waits without end.",
							&gpb_request_timeout, 10000, 0, INT_MAX, PGC_SIGHUP,
							GUC_UNIT_MS, NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.query_slots",
							"Queries that the service answers at the same time.",
							NULL, &gpb_query_slots, 16, 1, 256, PGC_POSTMASTER, 0,
							NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.refresh_slots",
							"Transfers of changed pages to the service at the same time.",
							NULL, &gpb_refresh_slots, 4, 1, 64, PGC_POSTMASTER, 0,
							NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.staging_size",
							"Shared memory of each query slot; a refresh slot has twice as much.",
							NULL, &gpb_staging_size, 1024, 64, 1024 * 1024, PGC_POSTMASTER,
							GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.batch_slots",
							"Batches of searches and ranges that the service has at the same time.",
							NULL, &gpb_batch_slots, 64, 1, 1024, PGC_POSTMASTER, 0,
							NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.batch_memory",
							"Shared memory for keys and results of all batches together.",
							"It is handed out in pieces of 64 kB.",
							&gpb_batch_memory, 64 * 1024, 64, 64 * 1024 * 1024, PGC_POSTMASTER,
							GUC_UNIT_KB, NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.max_mirrored_blocks",
							"Blocks of all mirrored indexes together that changes are tracked for.",
							"Each takes two bits of shared memory; rounded up to 65536 for each index.",
							&gpb_max_mirrored_blocks, 16 * 1024 * 1024,
							GPB_SEGMENT_BLOCKS, INT_MAX, PGC_POSTMASTER, 0,
							NULL, NULL, NULL);
}

void
gpb_mirror_request_shmem(void)
{
	RequestAddinShmemSpace(MAXALIGN(sizeof(GpbShared)));
	RequestAddinShmemSpace(gpb_map_shmem_size());
	RequestAddinShmemSpace(gpb_requests_shmem_size());
	RequestAddinShmemSpace(gpb_pool_shmem_size());
	RequestNamedLWLockTranche(GPB_TRANCHE, 2);
}

void
gpb_mirror_init_shmem(void)
{
	bool		found;

	LWLockAcquire(AddinShmemInitLock, LW_EXCLUSIVE);
	gpb_shared = ShmemInitStruct("gpubtree mirrors", sizeof(GpbShared), &found);
	if (!found)
	{
		memset(gpb_shared, 0, sizeof(GpbShared));
		gpb_shared->registry_lock = &(GetNamedLWLockTranche(GPB_TRANCHE))[0].lock;
		gpb_shared->pool_lock = &(GetNamedLWLockTranche(GPB_TRANCHE))[1].lock;
		gpb_registry_init();
	}
	gpb_map_init_shmem();
	gpb_requests_init_shmem();
	LWLockRelease(AddinShmemInitLock);
}

/*
 * The service.  It starts with the server, before recovery ends, so that a
 * standby has it; it connects to no database (rule M9).
 */
void
gpb_mirror_register_service(void)
{
	BackgroundWorker worker;

	memset(&worker, 0, sizeof(worker));
	worker.bgw_flags = BGWORKER_SHMEM_ACCESS;
	worker.bgw_start_time = BgWorkerStart_PostmasterStart;
	worker.bgw_restart_time = 1;
	strlcpy(worker.bgw_library_name, "gpubtree", BGW_MAXLEN);
	strlcpy(worker.bgw_function_name, "gpb_service_main", BGW_MAXLEN);
	strlcpy(worker.bgw_name, "gpubtree service", BGW_MAXLEN);
	strlcpy(worker.bgw_type, "gpubtree service", BGW_MAXLEN);
	RegisterBackgroundWorker(&worker);
}
