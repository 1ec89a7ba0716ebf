/*-------------------------------------------------------------------------
 *
 * load.c
 *	  What a request would have to wait for: other requests, and a refresh.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "utils/rel.h"
#include "utils/timestamp.h"

#include "mirror/backend/attach.h"
#include "mirror/heartbeat.h"
#include "mirror/map/changed_map.h"
#include "mirror/map/registry.h"
#include "mirror/service_state.h"
#include "mirror/slots.h"

int
gpb_mirror_load_limit(void)
{
	return gpb_slot_count(GPB_QUERY_SLOT);
}

/* The requests of queries that a device's service has and has not answered */
static int
device_load(int device)
{
	int			n = 0;
	int			i;

	for (i = 0; i < gpb_slot_count(GPB_QUERY_SLOT); i++)
	{
		uint32		state = pg_atomic_read_u32(&gpb_slot_at(device, GPB_QUERY_SLOT, i)->state);

		n += state == GPB_SLOT_SUBMITTED || state == GPB_SLOT_RUNNING;
	}
	return n;
}

int
gpb_mirror_load(Relation index)
{
	int			least = gpb_mirror_load_limit();
	int			most = -1;
	int			slot;
	int			device;

	if (gpb_devices == 1)
		return device_load(0);
	/* who asks several pieces waits for the last of them */
	for (slot = gpb_mirror_find(&index->rd_node); slot != GPB_NOT_MIRRORED;
		 slot = gpb_mirror_find_from(&index->rd_node, slot + 1))
		most = Max(most, device_load(gpb_registry->mirrors[slot].device));
	if (most >= 0)
		return most;
	for (device = 0; device < gpb_devices; device++)
	{
		if (gpb_service_serves(device))
			least = Min(least, device_load(device));
	}
	return least;
}

bool
gpb_mirror_is_filled(Relation index)
{
	GpbIdentity identity;
	int			slot;
	bool		filled;

	if (!gpb_may_mirror(index))
		return false;
	gpb_identity_of(index, &identity);
	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	slot = gpb_registry_next(&identity, 0);
	for (filled = slot != GPB_NOT_MIRRORED; filled && slot != GPB_NOT_MIRRORED;
		 slot = gpb_registry_next(&identity, slot + 1))
		filled = pg_atomic_read_u64(&gpb_registry->mirrors[slot].epoch) != 0;
	LWLockRelease(gpb_registry->lock);
	return filled;
}

int
gpb_mirror_changed(Relation index, int most)
{
	GpbIdentity identity;
	int			changed = 0;
	int			slot;

	if (!gpb_may_mirror(index))
		return 0;
	gpb_identity_of(index, &identity);
	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	/* of pieces the one that has most to copy */
	for (slot = gpb_registry_next(&identity, 0); slot != GPB_NOT_MIRRORED;
		 slot = gpb_registry_next(&identity, slot + 1))
	{
		GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];

		if (pg_atomic_read_u64(&mirror->epoch) == 0 && pg_atomic_read_u32(&mirror->owner) != 0)
			changed = most;
		else
			changed = Max(changed,
						  gpb_map_count_upto(slot, pg_atomic_read_u32(&mirror->nblocks), most));
		/* It would be used if less had changed, so it is worth being kept up to date. */
		pg_atomic_write_u64(&mirror->last_used, (uint64) GetCurrentTimestamp());
	}
	LWLockRelease(gpb_registry->lock);
	return changed;
}
