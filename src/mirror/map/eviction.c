/*-------------------------------------------------------------------------
 *
 * eviction.c
 *	  Which mirror makes room for another one: that used longest ago.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/map/eviction.h"

#include "storage/condition_variable.h"

#include "mirror/heartbeat.h"
#include "mirror/map/changed_map.h"
#include "waits.h"

/* Is a device among those that are meant?  What a service that is gone has nobody can free now. */
static bool
device_is_meant(int device, int meant)
{
	return meant == GPB_ANY_DEVICE ? gpb_service_serves(device) : device == meant;
}

/* Do two slots have pieces of one index? */
static bool
are_pieces_of_one(int a, int b)
{
	return pg_atomic_read_u32(&gpb_registry->mirrors[a].mode) == GPB_MIRROR_PIECE &&
		pg_atomic_read_u32(&gpb_registry->mirrors[b].mode) == GPB_MIRROR_PIECE &&
		gpb_identity_equal(&gpb_registry->mirrors[a].identity, &gpb_registry->mirrors[b].identity);
}

/*
 * The slot of the live mirror used longest ago of those on a device, or on any that serves, other
 * than slot "except", pieces of the same index, the mirrors that somebody is refreshing, and those
 * that are kept; GPB_NOT_MIRRORED if there is none.  Registry lock held.
 */
int
gpb_registry_least_used(int device, int except, TimestampTz keep_since)
{
	int			best = GPB_NOT_MIRRORED;
	int			i;

	for (i = 0; i < GPB_MIRRORS; i++)
	{
		GpbMirrorSlot *mirror = &gpb_registry->mirrors[i];

		if (i == except || pg_atomic_read_u32(&mirror->state) != GPB_MIRROR_LIVE ||
			pg_atomic_read_u32(&mirror->owner) != 0 || !device_is_meant(mirror->device, device))
			continue;
		if (except != GPB_NOT_MIRRORED && are_pieces_of_one(i, except))
			continue;
		if (keep_since != 0 && pg_atomic_read_u64(&mirror->last_used) >= (uint64) keep_since)
			continue;
		if (best == GPB_NOT_MIRRORED ||
			pg_atomic_read_u64(&mirror->last_used) <
			pg_atomic_read_u64(&gpb_registry->mirrors[best].last_used))
			best = i;
	}
	return best;
}

/* A part of an index is of little use, so with a piece all others go. */
void
gpb_registry_give_up(int slot)
{
	GpbIdentity identity = gpb_registry->mirrors[slot].identity;

	if (pg_atomic_read_u32(&gpb_registry->mirrors[slot].mode) == GPB_MIRROR_PIECE)
		gpb_registry_discard_former(&identity);
	else
		gpb_registry_discard(slot);
}

/*
 * Discard the least recently used mirror, other than that in slot "except" and those that are kept,
 * and wait until a service has freed something, or its service is gone or hangs.  No LWLock held.
 * Returns false if nothing could be discarded.
 */
bool
gpb_registry_free_one(int except, TimestampTz keep_since)
{
	GpbServiceWait wait;
	int			victim;
	int			device = 0;

	ConditionVariablePrepareToSleep(&gpb_registry->freed_cv);
	LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
	victim = gpb_registry_least_used(GPB_ANY_DEVICE, except, keep_since);
	if (victim != GPB_NOT_MIRRORED)
	{
		device = gpb_registry->mirrors[victim].device;
		gpb_registry_give_up(victim);
	}
	LWLockRelease(gpb_registry->lock);
	gpb_service_wait_begin(&wait, device);
	/* the sleep returns true if it timed out, false if the service ended it */
	while (victim != GPB_NOT_MIRRORED && gpb_service_serves(device) && !gpb_service_hangs(&wait) &&
		   ConditionVariableTimedSleep(&gpb_registry->freed_cv, gpb_service_wait_ms(&wait),
									   gpb_waits[GPB_WAIT_EVICTION]))
		 /* it is not done yet */ ;
	ConditionVariableCancelSleep();
	return victim != GPB_NOT_MIRRORED;
}

/*
 * Let the changed map cover nblocks of a mirror.  The caller owns the mirror's refresh
 * and holds no LWLock.  Returns false if other mirrors cannot make room.
 */
bool
gpb_registry_grow(const GpbMirrorRef *ref, BlockNumber nblocks)
{
	int			slot = ref->slot;
	uint32		nsegments = gpb_map_segments_for(nblocks);
	int			attempt;

	if (pg_atomic_read_u32(&gpb_registry->mirrors[slot].nsegments) >= nsegments)
		return true;
	if (nsegments > gpb_map_segments_total())
		return false;
	for (attempt = 0; attempt < GPB_MIRRORS; attempt++)
	{
		bool		grown;

		LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
		grown = gpb_map_grow(slot, nsegments);
		LWLockRelease(gpb_registry->lock);
		if (grown)
			return true;
		if (!gpb_mirror_available() || !gpb_registry_free_one(slot, ref->keep_since))
			return false;
	}
	return false;
}
