/*-------------------------------------------------------------------------
 *
 * service.c
 *	  The background worker that owns the device and answers requests.
 *
 * One process, one thread, no database connection, no transactions, no
 * shared buffers (rule M9).  It takes refreshes one by one in the order it finds them,
 * launches all queries it finds and looks whether any has ended (service_query.c), and sleeps
 * when there is nothing to do.
 *
 * A device that is lost takes the service with it: one log line, exit status
 * 1, and the postmaster starts another, which begins with no mirrors.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/service.h"

#include <dlfcn.h>
#include <unistd.h>

#include "miscadmin.h"
#include "pgstat.h"
#include "portability/instr_time.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/s_lock.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

#include "hold.h"

/* After work, how long to look for more before sleeping */
#define GPB_SPIN_US		50

/* The device's side of a registry slot */
typedef struct GpbServed
{
	GpbDeviceMirror *mirror;	/* NULL: none yet */
	GpbInner   *inner;
	uint64		generation;		/* of the registry slot it was made for */
	bool		has_inner;
} GpbServed;

const GpbDeviceApi *gpb_api = NULL;
GpbDevice  *gpb_device = NULL;
uint64		gpb_incarnation = 0;

static GpbServed gpb_served[GPB_MIRRORS];
static uint32 gpb_discards_seen = 0;

/* settings the device was opened with */
static int	gpb_opened_choice;
static int	gpb_opened_ordinal;
static int	gpb_opened_limit;

/* ---- device ---- */

/* The CUDA library's table, or NULL and why. */
static const GpbDeviceApi *
gpb_load_cuda(const char **why)
{
	static char message[MAXPGPATH + 256];
	char		path[MAXPGPATH];
	void	   *library;
	GpbDeviceEntry entry;
	const GpbDeviceApi *api;

	snprintf(path, sizeof(path), "%s/gpubtree_cuda.so", pkglib_path);
	if (access(path, F_OK) != 0)
	{
		*why = "gpubtree_cuda.so is not installed";
		return NULL;
	}
	library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (library == NULL)
	{
		strlcpy(message, dlerror(), sizeof(message));
		*why = message;
		return NULL;
	}
	entry = (GpbDeviceEntry) dlsym(library, GPB_CUDA_ENTRY);
	api = entry != NULL ? entry() : NULL;
	if (api == NULL || api->abi != GPB_DEVICE_ABI)
	{
		*why = "gpubtree_cuda.so is of another version";
		return NULL;
	}
	return api;
}

static void
gpb_set_status(const char *kind, const char *status)
{
	LWLockAcquire(gpb_shared->registry_lock, LW_EXCLUSIVE);
	memset(&gpb_shared->device, 0, sizeof(gpb_shared->device));
	if (gpb_device != NULL)
		gpb_api->describe(gpb_device, &gpb_shared->device);
	strlcpy(gpb_shared->device_kind, kind, sizeof(gpb_shared->device_kind));
	strlcpy(gpb_shared->status, status, sizeof(gpb_shared->status));
	LWLockRelease(gpb_shared->registry_lock);
}

/*
 * Open the device that gpubtree.device names.  False if there is none: one log
 * line, and the server runs without mirrors.
 */
static bool
gpb_open_device(void)
{
	const char *why = "gpubtree.device is off";
	void	   *region;
	Size		size;

	gpb_opened_choice = gpb_device_choice;
	gpb_opened_ordinal = gpb_cuda_device;
	gpb_opened_limit = gpb_memory_limit;

	if (gpb_device_choice == GPB_CHOOSE_HOST)
		gpb_api = &gpb_host_device;
	else if (gpb_device_choice != GPB_CHOOSE_OFF)
		gpb_api = gpb_load_cuda(&why);
	if (gpb_api == NULL ||
		gpb_api->open(gpb_device_choice == GPB_CHOOSE_HOST ? 0 : gpb_cuda_device,
					  (uint64) gpb_memory_limit * 1024, gpb_channels_needed(),
					  &gpb_device, &why) != GPB_DEVICE_OK)
	{
		char		status[sizeof(gpb_shared->status)];

		gpb_device = NULL;
		snprintf(status, sizeof(status), "no device: %s", why);
		gpb_set_status("none", status);
		if (gpb_device_choice != GPB_CHOOSE_OFF)
			ereport(LOG, (errmsg("gpubtree runs without a device: %s", why)));
		return false;
	}
	gpb_requests_region(&region, &size);
	if (gpb_api->register_region(gpb_device, region, size) != GPB_DEVICE_OK)
		ereport(LOG, (errmsg("gpubtree transfers without registered memory: %s",
							 gpb_api->last_error(gpb_device))));
	return true;
}

/*
 * OK or not; a lost device ends the service.  Its waiting backends notice and
 * go on without it.
 */
void
gpb_device_check(GpbDeviceStatus status)
{
	if (status != GPB_DEVICE_LOST)
		return;
	ereport(LOG, (errmsg("gpubtree device is lost: %s", gpb_api->last_error(gpb_device)),
				  errdetail("All mirrors are given up; the service restarts.")));
	proc_exit(1);
}

/* ---- mirrors ---- */

static bool
gpb_is_inner_only(int slot)
{
	return pg_atomic_read_u32(&gpb_shared->mirrors[slot].mode) == GPB_MIRROR_INNER_ONLY;
}

static void
gpb_served_destroy(GpbServed *served)
{
	if (served->mirror != NULL)
		gpb_api->mirror_destroy(gpb_device, served->mirror);
	if (served->inner != NULL)
		gpb_inner_destroy(served->inner);
	memset(served, 0, sizeof(*served));
}

/*
 * Free what was discarded.  The device's part at once: launches refuse it, and the device waits for
 * what it still runs (rule M3).
 * The registry slot and its segments only when nobody owns a refresh of it; the
 * owner tells us when it is done.
 */
static void
gpb_reap_discarded(void)
{
	int			i;

	for (i = 0; i < GPB_MIRRORS; i++)
	{
		GpbMirrorSlot *mirror = &gpb_shared->mirrors[i];

		if (pg_atomic_read_u32(&mirror->state) != GPB_MIRROR_DISCARDED)
			continue;
		gpb_served_destroy(&gpb_served[i]);
		if (!gpb_own_try(i))
			continue;
		LWLockAcquire(gpb_shared->registry_lock, LW_EXCLUSIVE);
		gpb_map_release(i);
		pg_atomic_write_u64(&mirror->memory, 0);
		pg_atomic_write_u32(&mirror->state, GPB_MIRROR_FREE);
		LWLockRelease(gpb_shared->registry_lock);
		gpb_disown(i);
	}
	ConditionVariableBroadcast(&gpb_shared->freed_cv);
}

/* Make room on the device: give up the mirror used longest ago. */
static bool
gpb_make_room(int except)
{
	int			victim;

	LWLockAcquire(gpb_shared->registry_lock, LW_EXCLUSIVE);
	victim = gpb_registry_least_used(except);
	if (victim != GPB_NOT_MIRRORED)
		gpb_registry_discard(victim);
	LWLockRelease(gpb_shared->registry_lock);
	if (victim == GPB_NOT_MIRRORED)
		return false;
	ereport(DEBUG1, (errmsg_internal("gpubtree gives up the mirror of index %u to make room",
									 gpb_shared->mirrors[victim].identity.index)));
	GPB_HOLD_SERVICE("make-room");
	gpb_reap_discarded();
	gpb_heartbeat();
	return true;
}

/*
 * The device has no memory for this one.  Unless others stand in its way, which are just
 * being refreshed, it need not be tried again soon; until then a mirror of its inner nodes takes its place.
 */
static void
gpb_give_up(int slot)
{
	bool		alone = true;
	GpbMirrorMode mode;
	int			i;

	LWLockAcquire(gpb_shared->registry_lock, LW_EXCLUSIVE);
	for (i = 0; i < GPB_MIRRORS; i++)
		alone = alone && (i == slot || gpb_served[i].mirror == NULL);
	mode = pg_atomic_read_u32(&gpb_shared->mirrors[slot].mode);
	if (alone)
		gpb_registry_refuse(&gpb_shared->mirrors[slot].identity, mode);
	gpb_registry_discard(slot);
	LWLockRelease(gpb_shared->registry_lock);
	ereport(LOG, (errmsg(mode == GPB_MIRROR_FULL ?
						 "gpubtree has no device memory for the mirror of index %u of database %u" :
						 "gpubtree has no device memory for the inner nodes of index %u of database %u",
						 gpb_shared->mirrors[slot].identity.index,
						 gpb_shared->mirrors[slot].identity.file.dbNode),
				  errdetail("%s", gpb_api->last_error(gpb_device)),
				  errhint("Raise gpubtree.memory_limit, or drop mirrors with gpubtree_drop_mirror().")));
	gpb_reap_discarded();
}

/* Does the request concern a live mirror, and us? */
bool
gpb_request_is_valid(const GpbRequestSlot *slot)
{
	return slot->incarnation == gpb_incarnation &&
		slot->mirror >= 0 && slot->mirror < GPB_MIRRORS &&
		gpb_mirror_is_live(slot->mirror, slot->mirror_generation);
}

/*
 * Did the call fail for want of memory that could be found?  Making room frees all that was
 * discarded meanwhile, which may include the request's own mirror.
 */
static bool
gpb_should_retry(GpbDeviceStatus status, const GpbRequestSlot *slot)
{
	gpb_device_check(status);
	return status == GPB_DEVICE_NO_MEMORY && gpb_make_room(slot->mirror) &&
		gpb_request_is_valid(slot);
}

/* The device's side of the request's mirror, made now if need be; NULL: no memory. */
static GpbServed *
gpb_served_for(const GpbRequestSlot *slot)
{
	GpbServed  *served = &gpb_served[slot->mirror];
	const GpbLayout *layout = &gpb_shared->mirrors[slot->mirror].layout;
	GpbDeviceStatus status;

	if (served->mirror != NULL && served->generation == slot->mirror_generation)
		return served;
	gpb_served_destroy(served);
	do
	{
		status = gpb_api->mirror_create(gpb_device, layout, &served->mirror);
	} while (gpb_should_retry(status, slot));
	if (status != GPB_DEVICE_OK)
	{
		served->mirror = NULL;
		return NULL;
	}
	served->inner = gpb_inner_create(layout, gpb_is_inner_only(slot->mirror));
	served->generation = slot->mirror_generation;
	return served;
}

/* The device's mirror that a query asks for, if it can be searched; else NULL. */
GpbDeviceMirror *
gpb_searchable_mirror(const GpbRequestSlot *slot)
{
	const GpbServed *served;

	if (!gpb_request_is_valid(slot))
		return NULL;
	served = &gpb_served[slot->mirror];
	if (served->generation != slot->mirror_generation || !served->has_inner)
		return NULL;
	return served->mirror;
}

/* The same, if it has images of leaves; else NULL. */
GpbDeviceMirror *
gpb_full_mirror(const GpbRequestSlot *slot)
{
	GpbDeviceMirror *mirror = gpb_searchable_mirror(slot);

	return mirror == NULL || gpb_is_inner_only(slot->mirror) ? NULL : mirror;
}

/* ---- refreshes ---- */

/* Replace the inner image if level 1 has changed and chains. */
static GpbDeviceStatus
gpb_serve_inner(const GpbRequestSlot *slot, GpbServed *served)
{
	GpbInnerChain chain;
	GpbDeviceStatus status;

	if (gpb_inner_chain(served->inner, &chain) == GPB_INNER_SAME)
		return GPB_DEVICE_OK;
	do
	{
		status = gpb_api->set_inner(gpb_device, served->mirror, chain.nblocks,
									chain.blocks, chain.counts, chain.root_leaf);
	} while (gpb_should_retry(status, slot));
	if (status == GPB_DEVICE_OK)
	{
		served->has_inner = true;
		pg_atomic_write_u64(&gpb_shared->mirrors[slot->mirror].leaves, chain.leaves);
	}
	pfree(chain.blocks);
	pfree(chain.counts);
	return status;
}

/*
 * Take the pages in staging; with the last of a refresh also the inner image.
 */
static bool
gpb_serve_upload(GpbRequestSlot *slot, const char *staging)
{
	const uint32 *blocks = (const uint32 *) staging;
	const char *pages = staging + BLCKSZ;
	uint32		images[BLCKSZ / sizeof(uint32)];
	GpbDeviceStatus status = GPB_DEVICE_NO_MEMORY;
	GpbServed  *served;
	uint64		i;

	GPB_HOLD_SERVICE("upload");
	if (!gpb_request_is_valid(slot) || slot->n > GPB_UPLOAD_PAGES)
		return false;
	served = gpb_served_for(slot);
	if (served != NULL)
	{
		status = GPB_DEVICE_OK;
		for (i = 0; i < slot->n; i++)
			images[i] = gpb_is_inner_only(slot->mirror) ?
				gpb_inner_image(served->inner, blocks[i]) : blocks[i];
		if (slot->n > 0)
		{
			do
			{
				status = gpb_api->upload(gpb_device, served->mirror, (int) slot->n, images,
										 pages, slot->epoch);
				if (status == GPB_DEVICE_OK)
					status = gpb_api->upload_wait(gpb_device);
			} while (gpb_should_retry(status, slot));
		}
		if (status == GPB_DEVICE_OK)
		{
			for (i = 0; i < slot->n; i++)
				gpb_inner_note(served->inner, blocks[i], pages + i * BLCKSZ);
			if (slot->last)
				status = gpb_serve_inner(slot, served);
		}
	}
	if (status != GPB_DEVICE_OK)
	{
		if (gpb_request_is_valid(slot))
			gpb_give_up(slot->mirror);
		return false;
	}
	if (slot->last)
	{
		pg_atomic_write_u64(&gpb_shared->mirrors[slot->mirror].memory,
							gpb_api->mirror_bytes(served->mirror));
		gpb_set_status(gpb_api->name, "ready");
	}
	return true;
}

/*
 * Each refresh request is carried out the moment it is found, and one abandoned
 * before that never.  So an upload left behind by a refresh that died cannot land on top of the
 * next one's: the next owner submits only after the former's requests
 * were done or abandoned.
 */
static bool
gpb_serve_refreshes(void)
{
	bool		worked = false;
	int			i;

	GPB_HOLD_SERVICE("refreshes");
	for (i = 0; i < gpb_slot_count(GPB_REFRESH_SLOT); i++)
	{
		GpbRequestSlot *slot = gpb_slot_at(GPB_REFRESH_SLOT, i);
		uint32		expected = GPB_SLOT_SUBMITTED;
		uint32		state = pg_atomic_read_u32(&slot->state);

		if (state == GPB_SLOT_ABANDONED)
			gpb_slot_free(GPB_REFRESH_SLOT, slot);
		else if (state == GPB_SLOT_SUBMITTED &&
				 pg_atomic_compare_exchange_u32(&slot->state, &expected, GPB_SLOT_RUNNING))
		{
			bool		ok = gpb_serve_upload(slot, gpb_slot_staging(GPB_REFRESH_SLOT, i));

			gpb_slot_answer(GPB_REFRESH_SLOT, slot, ok);
			gpb_heartbeat();
			worked = true;
		}
	}
	return worked;
}

/* ---- a look around ---- */

static bool
gpb_serve_round(void)
{
	uint32		discards = pg_atomic_read_u32(&gpb_shared->discards);
	bool		worked;

	gpb_heartbeat();
	if (discards != gpb_discards_seen)
	{
		gpb_discards_seen = discards;
		gpb_reap_discarded();
	}
	worked = gpb_serve_refreshes();
	return gpb_serve_queries() || worked;
}

/* ---- the process ---- */

/* Nobody serves any more; waiters must not sleep on. */
static void
gpb_service_exit(int code, Datum arg)
{
	pg_atomic_write_u64(&gpb_shared->available, 0);
	pg_atomic_write_u32(&gpb_shared->service_pgprocno, 0);
	pg_memory_barrier();
	gpb_slots_wake_all();
}

/* Become the service: what the one before left is freed first. */
static void
gpb_service_begin(void)
{
	int			i;

	gpb_incarnation = pg_atomic_add_fetch_u64(&gpb_shared->incarnation, 1);
	gpb_heartbeat();
	pg_atomic_write_u32(&gpb_shared->service_pgprocno, MyProc->pgprocno + 1);
	before_shmem_exit(gpb_service_exit, (Datum) 0);
	gpb_set_status("none", "starting");

	LWLockAcquire(gpb_shared->registry_lock, LW_EXCLUSIVE);
	for (i = 0; i < GPB_MIRRORS; i++)
		gpb_registry_discard(i);
	/* another device, or other settings of it */
	memset(gpb_shared->refused, 0, sizeof(gpb_shared->refused));
	LWLockRelease(gpb_shared->registry_lock);
	gpb_reap_discarded();
	gpb_slots_reclaim();
	gpb_queries_init();
}

/* Signals and settings.  The device's settings need a new process. */
static void
gpb_service_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
	if (ShutdownRequestPending)
		proc_exit(1);
	if (!ConfigReloadPending)
		return;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	if (gpb_device_choice != gpb_opened_choice || gpb_cuda_device != gpb_opened_ordinal ||
		gpb_memory_limit != gpb_opened_limit)
	{
		ereport(LOG, (errmsg("gpubtree service restarts with new settings")));
		proc_exit(1);
	}
}

/* Serve while there is work, and a moment longer. */
static void
gpb_serve_until_idle(void)
{
	instr_time	last,
				now;

	INSTR_TIME_SET_CURRENT(last);
	for (;;)
	{
		bool		worked = gpb_serve_round();

		INSTR_TIME_SET_CURRENT(now);
		if (worked)
			last = now;
		INSTR_TIME_SUBTRACT(now, last);
		if (INSTR_TIME_GET_MICROSEC(now) > GPB_SPIN_US)
			return;
		if (ShutdownRequestPending || ConfigReloadPending)
			return;
		SPIN_DELAY();
	}
}

void
gpb_service_main(Datum arg)
{
	bool		serving;

	pqsignal(SIGTERM, SignalHandlerForShutdownRequest);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();

	gpb_service_begin();
	serving = gpb_open_device();
	if (serving)
	{
		pg_memory_barrier();
		pg_atomic_write_u64(&gpb_shared->available, gpb_incarnation);
		gpb_set_status(gpb_api->name, "ready");
		ereport(LOG, (errmsg("gpubtree uses %s, " UINT64_FORMAT " MB for mirrors",
							 gpb_mirror_engine_name(),
							 gpb_shared->device.memory_limit / (1024 * 1024))));
	}
	for (;;)
	{
		ResetLatch(MyLatch);
		gpb_heartbeat();
		gpb_service_interrupts();
		if (serving && gpb_serve_round())
			gpb_serve_until_idle();
		else if (!serving)
		{
			/* no device: nothing is answered, and nothing given back may lie there */
			gpb_reap_discarded();
			gpb_slots_reclaim();
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, -1L,
						 PG_WAIT_EXTENSION);
	}
}
