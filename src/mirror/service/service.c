/*-------------------------------------------------------------------------
 *
 * service.c
 *	  The background worker that owns a device and answers requests: the process and its loop.
 *
 * One process for each device, one thread, no database connection, no transactions, no shared
 * buffers (rule M9).  It takes refreshes one by one in the order it finds them (service_refresh.c),
 * launches all queries it finds and looks whether any has ended (service_query.c), and sleeps when
 * there is nothing to do.
 *
 * A device that is lost takes its service with it, and no other: one log line, exit status 1, and
 * the postmaster starts another, which begins with no mirrors.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/service.h"

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/s_lock.h"
#include "utils/guc.h"

#include "hold.h"
#include "mirror/heartbeat.h"
#include "mirror/map/refusals.h"
#include "mirror/map/registry.h"
#include "mirror/service/in_flight.h"
#include "mirror/service/served.h"
#include "mirror/service_state.h"
#include "mirror/slots.h"
#include "waits.h"

/*
 * The service looks for more work before it sleeps: four times as long as the time between two
 * requests has been lately, if that is within these bounds, in microseconds.
 */
#define GPB_LEAST_SPIN_US	50
#define GPB_MOST_SPIN_US	1000

static double usual_gap_us = GPB_MOST_SPIN_US;

static uint32 discards_seen = 0;

/* ---- a look around ---- */

/* Look for work once and do it.  Returns false if there was none and nothing is in flight. */
static bool
serve_round(void)
{
	uint32		discards = pg_atomic_read_u32(&gpb_service->discards);
	bool		worked;

	gpb_heartbeat();
	if (discards != discards_seen)
	{
		discards_seen = discards;
		gpb_reap_discarded();
	}
	worked = gpb_serve_refreshes();
	return gpb_serve_queries() || worked;
}

/* ---- the process ---- */

/* At the exit of the service: nobody serves any more, and waiters must not sleep on. */
static void
service_exit(int code, Datum arg)
{
	pg_atomic_write_u64(&gpb_service->available, 0);
	pg_atomic_write_u32(&gpb_service->pgprocno, 0);
	pg_memory_barrier();
	gpb_slots_wake_all(gpb_service_device);
	ConditionVariableBroadcast(&gpb_registry->freed_cv);
}

/* Become the service of a device: first free what the service before this one left. */
static void
service_begin(int device)
{
	gpb_become_service(device);
	gpb_incarnation = pg_atomic_add_fetch_u64(&gpb_service->incarnation, 1);
	gpb_heartbeat();
	pg_atomic_write_u32(&gpb_service->pgprocno, MyProcNumber + 1);
	before_shmem_exit(service_exit, (Datum) 0);
	gpb_publish_device("none", "starting", NULL);
	gpb_slots_reclaim(device);
	gpb_queries_init();
}

/*
 * Discard the mirrors that the service before this one had, now that it is known whether there is a
 * device: until then nobody uses them, nor makes them elsewhere, where they would stay while this
 * device has none.
 */
static void
discard_former(void)
{
	int			i;

	LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
	for (i = 0; i < GPB_MIRRORS; i++)
	{
		if (gpb_registry->mirrors[i].device == gpb_service_device)
			gpb_registry_discard(i);
	}
	/* the device may be another one, or have other settings */
	gpb_forgive_all(gpb_service_device);
	LWLockRelease(gpb_registry->lock);
	gpb_reap_discarded();
}

/* Look for signals and changed settings.  Changes of its device's settings need a new process. */
static void
service_interrupts(void)
{
	CHECK_FOR_INTERRUPTS();
	if (ShutdownRequestPending)
		proc_exit(1);
	if (!ConfigReloadPending)
		return;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
	gpb_devices_warn();
	if (gpb_device_settings_changed())
	{
		ereport(LOG, (errmsg("gpubtree service restarts with new settings")));
		proc_exit(1);
	}
}

/* Learn from the time between the last work and this how soon work comes. */
static void
note_gap(double us)
{
	usual_gap_us += (Min(us, 2 * GPB_MOST_SPIN_US) - usual_gap_us) / 16;
}

/* How long to look for more work */
static double
spin_us(void)
{
	if (usual_gap_us * 4 > GPB_MOST_SPIN_US)
		return GPB_LEAST_SPIN_US;
	return Max(usual_gap_us * 4, GPB_LEAST_SPIN_US);
}

/* Serve while there is work, and a moment longer.  To be called when work was found. */
static void
serve_until_idle(void)
{
	static instr_time last;		/* when there was work */
	bool		worked = true;
	bool		was_idle = true;

	for (;; worked = serve_round())
	{
		instr_time	now;
		instr_time	gap;

		INSTR_TIME_SET_CURRENT(now);
		gap = now;
		INSTR_TIME_SUBTRACT(gap, last);
		if (worked && was_idle)
			note_gap(INSTR_TIME_GET_MICROSEC(gap));
		if (worked)
			last = now;
		else if (INSTR_TIME_GET_MICROSEC(gap) > spin_us())
			return;
		was_idle = !worked;
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

	service_begin(DatumGetInt32(arg));
	GPB_HOLD_SERVICE("open");
	serving = gpb_open_device(gpb_channels_needed());
	discard_former();
	if (serving)
	{
		pg_memory_barrier();
		pg_atomic_write_u64(&gpb_service->available, gpb_incarnation);
		gpb_device_show("ready");
		ereport(LOG, (errmsg("gpubtree uses %s, " UINT64_FORMAT " MB for mirrors",
							 gpb_mirror_engine_name(gpb_service_device),
							 gpb_device_memory_limit(gpb_service_device) / (1024 * 1024))));
	}
	for (;;)
	{
		ResetLatch(MyLatch);
		gpb_heartbeat();
		service_interrupts();
		if (serving && serve_round())
			serve_until_idle();
		else if (!serving)
		{
			/* without a device nothing is answered, but what backends left is freed */
			gpb_reap_discarded();
			gpb_slots_reclaim(gpb_service_device);
		}
		GPB_HOLD_SERVICE("sleep");
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH, -1L,
						 gpb_waits[GPB_WAIT_SERVICE]);
	}
}
