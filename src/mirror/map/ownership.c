/*-------------------------------------------------------------------------
 *
 * ownership.c
 *	  Ownership of a mirror's refresh: one refresh at a time (rule M3).
 *
 * An atomic, not an LWLock: the owner waits for the service and must stay cancellable.  The service
 * takes ownership, too, before it takes a discarded mirror's segments away.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/map/ownership.h"

#include "storage/proc.h"

#include "mirror/heartbeat.h"
#include "mirror/map/registry.h"
#include "waits.h"

bool
gpb_own_try(int slot)
{
	uint32		nobody = 0;

	return pg_atomic_compare_exchange_u32(&gpb_registry->mirrors[slot].owner, &nobody,
										  MyProcNumber + 1);
}

/*
 * Wait for ownership; cancellable; no LWLock held.  Returns false if the mirror's service hangs,
 * which the owner may be, or be waiting for.
 */
bool
gpb_own(int slot)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];
	ConditionVariable *cv = &mirror->owner_cv;
	GpbServiceWait wait;
	bool		owned;

	if (gpb_own_try(slot))
		return true;
	ConditionVariablePrepareToSleep(cv);
	gpb_service_wait_begin(&wait, mirror->device);
	while (!(owned = gpb_own_try(slot)) && !gpb_service_hangs(&wait))
		ConditionVariableTimedSleep(cv, gpb_service_wait_ms(&wait), gpb_waits[GPB_WAIT_REFRESH]);
	ConditionVariableCancelSleep();
	return owned;
}

void
gpb_disown(int slot)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];

	Assert(pg_atomic_read_u32(&mirror->owner) == MyProcNumber + 1);
	pg_memory_barrier();
	pg_atomic_write_u32(&mirror->owner, 0);
	pg_memory_barrier();
	ConditionVariableSignal(&mirror->owner_cv);
	/* the service may have been waiting for us before it could free the slot */
	if (pg_atomic_read_u32(&mirror->state) == GPB_MIRROR_DISCARDED)
		gpb_announce_discard(mirror->device);
}
