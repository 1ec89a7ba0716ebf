/*-------------------------------------------------------------------------
 *
 * heartbeat.c
 *	  How long a backend waits for a service that shows no sign of life.
 *
 * The service counts a heartbeat whenever it looks over the slots, and after each request that it
 * serves in such a look.  A backend that waits for the service, or for something that only the
 * service or another backend can give back, wakes the service and expects the count to change.  If
 * it has not changed for gpubtree.request_timeout the service hangs, and the backend goes on
 * without it.
 *
 * Work for others counts as a sign of life.  So a request may wait in a queue, a refresh may copy a
 * huge index and a search may have many chunks, for as long as each step of the service is shorter
 * than the timeout; and a service that sleeps because there is nothing to do answers the wake-up.
 * What the device does in the background is not watched: a service that polls a launch is alive.
 *
 * The verdict is shared, so that later queries need not wait for it again: hung_at is the count at
 * which a backend found the service hanging, and the service hangs as long as the count is still
 * that.  Nobody has to take the verdict back; the next heartbeat does, whatever happens in
 * between.  The count never falls while shared memory lives, so each hang has its own hung_at, and
 * the backend that sets it writes the one line in the log.
 *
 * A wrong verdict costs CPU answers until the next heartbeat, and nothing else: all that a backend
 * left with the service stays the service's (rule M9).
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/heartbeat.h"

#include "storage/proc.h"

#include "mirror/mirror.h"
#include "mirror/service_state.h"
#include "mirror/settings.h"

/* How long a waiter sleeps before it looks at the service again, in milliseconds */
#define GPB_WAIT_MS		1000

/* ---- the service's side ---- */

/*
 * Count a heartbeat.  The service calls this between two steps of its work, and after each
 * ResetLatch(): then a backend that reads the count and sets the latch afterwards sees it change.
 */
void
gpb_heartbeat(void)
{
	uint64		last = pg_atomic_read_u64(&gpb_service->heartbeats);

	/* nobody else writes it while we serve */
	pg_atomic_write_u64(&gpb_service->heartbeats, last + 1);
	if (pg_atomic_read_u64(&gpb_service->hung_at) == last)
		ereport(LOG, (errmsg("gpubtree service answers again")));
}

/* ---- the backends' side ---- */

/* Is it so that no backend has found the service hanging, or that it has moved since? */
bool
gpb_service_answers(int device)
{
	GpbServiceState *service = &gpb_services[device];
	uint64		hung_at = pg_atomic_read_u64(&service->hung_at);

	return gpb_request_timeout == 0 ||
		hung_at != pg_atomic_read_u64(&service->heartbeats);
}

bool
gpb_service_serves(int device)
{
	return gpb_service_is_there(device) && gpb_service_answers(device);
}

/* Begin to wait for the service: from here on it owes a heartbeat. */
void
gpb_service_wait_begin(GpbServiceWait *wait, int device)
{
	wait->device = device;
	wait->heartbeat = pg_atomic_read_u64(&gpb_services[device].heartbeats);
	wait->silent_ms = 0;
	INSTR_TIME_SET_CURRENT(wait->looked);
	gpb_wake_service(device);
}

/* How long to sleep, in milliseconds, before gpb_service_hangs() is asked again. */
long
gpb_service_wait_ms(const GpbServiceWait *wait)
{
	if (gpb_request_timeout == 0)
		return GPB_WAIT_MS;
	return Max(Min(GPB_WAIT_MS, (long) (gpb_request_timeout - wait->silent_ms) + 1), 1);
}

/*
 * Tell all backends that the service hangs.  hung_at is read before the count is looked at again:
 * whoever has given a later verdict meanwhile makes either the comparison or the exchange fail, and
 * so it stays.
 */
static void
service_mark_hung(const GpbServiceWait *wait)
{
	GpbServiceState *state = &gpb_services[wait->device];
	uint64		hung_at = pg_atomic_read_u64(&state->hung_at);
	uint32		service = pg_atomic_read_u32(&state->pgprocno);

	pg_memory_barrier();
	if (service == 0 || hung_at == wait->heartbeat ||
		pg_atomic_read_u64(&state->heartbeats) != wait->heartbeat ||
		!pg_atomic_compare_exchange_u64(&state->hung_at, &hung_at, wait->heartbeat))
		return;
	ereport(LOG,
			(errmsg("gpubtree service (process %d) has not answered for %d ms",
					ProcGlobal->allProcs[service - 1].pid, gpb_request_timeout),
			 errdetail("Queries are answered without the device until it moves again."),
			 errhidestmt(true), errhidecontext(true)));
}

/*
 * Has the service shown no sign of life for too long?  To be asked after each sleep.
 *
 * A sleep counts for no more than it was to last: where backends and service were stopped together
 * (a container paused, a machine moved), the service gets the time to move first.
 */
bool
gpb_service_hangs(GpbServiceWait *wait)
{
	instr_time	now;
	instr_time	slept;

	if (!gpb_service_answers(wait->device))
		return true;
	if (pg_atomic_read_u64(&gpb_services[wait->device].heartbeats) != wait->heartbeat)
	{
		gpb_service_wait_begin(wait, wait->device);
		return false;
	}
	INSTR_TIME_SET_CURRENT(now);
	slept = now;
	INSTR_TIME_SUBTRACT(slept, wait->looked);
	wait->looked = now;
	wait->silent_ms += Min(INSTR_TIME_GET_MILLISEC(slept), GPB_WAIT_MS);
	if (gpb_request_timeout == 0 || wait->silent_ms < gpb_request_timeout)
		return false;
	service_mark_hung(wait);
	return true;
}

bool
gpb_mirror_available(void)
{
	if (!gpb_enabled || !gpb_enable_device || gpb_services == NULL)
		return false;
	for (int device = 0; device < gpb_devices; device++)
	{
		if (gpb_service_serves(device))
			return true;
	}
	return false;
}

bool
gpb_mirror_spares_cpu(void)
{
	return (gpb_device_choice() != GPB_CHOOSE_HOST || gpb_sparing_kinds > 1) &&
		gpb_mirror_available();
}
