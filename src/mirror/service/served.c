/*-------------------------------------------------------------------------
 *
 * served.c
 *	  The device's side of the registry: making mirrors, giving them up, finding them.
 *
 * A service looks at the mirrors of its own device alone.  What it has by registry slot is empty
 * where the slot has another device's mirror: whoever frees a slot has destroyed its own part
 * first.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/served.h"

#include "storage/condition_variable.h"

#include "hold.h"
#include "mirror/heartbeat.h"
#include "mirror/map/changed_map.h"
#include "mirror/map/eviction.h"
#include "mirror/map/ownership.h"
#include "mirror/map/refusals.h"
#include "mirror/map_image.h"
#include "mirror/service_state.h"

uint64		gpb_incarnation = 0;

static GpbServed served_mirrors[GPB_MIRRORS];

bool
gpb_is_inner_only(int slot)
{
	return pg_atomic_read_u32(&gpb_registry->mirrors[slot].mode) == GPB_MIRROR_INNER_ONLY;
}

bool
gpb_is_piece(int slot)
{
	return pg_atomic_read_u32(&gpb_registry->mirrors[slot].mode) == GPB_MIRROR_PIECE;
}

GpbPieceImages *
gpb_served_images(const GpbRequestSlot *slot)
{
	return served_mirrors[slot->mirror].images;
}

/* ---- giving up ---- */

static void
destroy(GpbServed *served)
{
	if (served->mirror != NULL)
		gpb_api->mirror_destroy(gpb_device, served->mirror);
	if (served->inner != NULL)
		gpb_inner_destroy(served->inner);
	if (served->images != NULL)
		gpb_piece_images_destroy(served->images);
	memset(served, 0, sizeof(*served));
}

/*
 * Free what was discarded.  The device's part is freed at once: launches refuse it, and the device
 * waits for what it still runs (rule M3).  The registry slot and its segments are freed only when
 * nobody owns a refresh of it; the owner tells us when it is done.
 */
void
gpb_reap_discarded(void)
{
	int			i;

	for (i = 0; i < GPB_MIRRORS; i++)
	{
		GpbMirrorSlot *mirror = &gpb_registry->mirrors[i];

		if (pg_atomic_read_u32(&mirror->state) != GPB_MIRROR_DISCARDED ||
			mirror->device != gpb_service_device)
			continue;
		destroy(&served_mirrors[i]);
		gpb_map_image_forget(i);
		if (!gpb_own_try(i))
			continue;
		LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
		gpb_map_release(i);
		pg_atomic_write_u64(&mirror->memory, 0);
		pg_atomic_write_u32(&mirror->state, GPB_MIRROR_FREE);
		LWLockRelease(gpb_registry->lock);
		gpb_disown(i);
	}
	ConditionVariableBroadcast(&gpb_registry->freed_cv);
}

/*
 * Make room on the device for what a request is about: give up the mirror used longest ago, other
 * than the request's own and those that it keeps.  Returns false if there is none.
 */
static bool
make_room(const GpbRequestSlot *slot)
{
	int			victim;

	LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
	victim = gpb_registry_least_used(gpb_service_device, slot->mirror, slot->keep_since);
	if (victim != GPB_NOT_MIRRORED)
		gpb_registry_give_up(victim);
	LWLockRelease(gpb_registry->lock);
	if (victim == GPB_NOT_MIRRORED)
		return false;
	ereport(DEBUG1, (errmsg_internal("gpubtree gives up the mirror of index %u to make room",
									 gpb_registry->mirrors[victim].identity.index)));
	GPB_HOLD_SERVICE("make-room");
	gpb_reap_discarded();
	gpb_heartbeat();
	return true;
}

/*
 * The device has no memory for the mirror in this slot.  Unless others stand in its way, which are
 * being refreshed, and are no pieces of the same index, it need not be tried again soon; until then
 * a mirror of its inner nodes takes its place.
 */
void
gpb_give_up(int slot)
{
	bool		alone = true;
	GpbMirrorMode mode;
	int			i;

	LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
	for (i = 0; i < GPB_MIRRORS; i++)
		alone = alone && (i == slot || served_mirrors[i].mirror == NULL ||
						  gpb_identity_equal(&gpb_registry->mirrors[i].identity,
											 &gpb_registry->mirrors[slot].identity));
	mode = pg_atomic_read_u32(&gpb_registry->mirrors[slot].mode);
	if (alone)
		gpb_refuse_mirror(&gpb_registry->mirrors[slot].identity, mode, gpb_service_device);
	gpb_registry_discard(slot);
	LWLockRelease(gpb_registry->lock);
	ereport(LOG, (errmsg(mode == GPB_MIRROR_FULL ?
						 "gpubtree has no device memory for the mirror of index %u of database %u" :
						 mode == GPB_MIRROR_PIECE ?
						 "gpubtree has no device memory for a piece of the mirror of index %u of database %u" :
						 "gpubtree has no device memory for the inner nodes of index %u of database %u",
						 gpb_registry->mirrors[slot].identity.index,
						 gpb_registry->mirrors[slot].identity.file.dbNode),
				  errdetail("%s", gpb_api->last_error(gpb_device)),
				  errhint("Raise gpubtree.memory_limit, or drop mirrors with gpubtree_drop_mirror().")));
	gpb_reap_discarded();
}

/* ---- finding and making ---- */

/* Is the request meant for this service, and about a live mirror? */
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
bool
gpb_should_retry(GpbDeviceStatus status, const GpbRequestSlot *slot)
{
	gpb_device_check(status);
	return status == GPB_DEVICE_NO_MEMORY && make_room(slot) &&
		gpb_request_is_valid(slot);
}

/* The device's side of the request's mirror, made now if need be; NULL if there is no memory. */
GpbServed *
gpb_served_for(const GpbRequestSlot *slot)
{
	GpbServed  *served = &served_mirrors[slot->mirror];
	const GpbLayout *layout = &gpb_registry->mirrors[slot->mirror].layout;
	GpbDeviceStatus status;

	if (served->mirror != NULL && served->generation == slot->mirror_generation)
		return served;
	destroy(served);
	do
	{
		status = gpb_api->mirror_create(gpb_device, layout, &served->mirror);
	} while (gpb_should_retry(status, slot));
	if (status != GPB_DEVICE_OK)
	{
		served->mirror = NULL;
		return NULL;
	}
	if (gpb_is_piece(slot->mirror))
		served->images = gpb_piece_images_create(layout,
												 gpb_registry->mirrors[slot->mirror].range);
	served->inner = gpb_inner_create(layout, gpb_is_inner_only(slot->mirror), served->images);
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
	served = &served_mirrors[slot->mirror];
	if (served->generation != slot->mirror_generation || !served->has_inner)
		return NULL;
	return served->mirror;
}

/*
 * The device's mirror that a query asks for, if it can be searched and has images of leaves; else
 * NULL.
 */
GpbDeviceMirror *
gpb_full_mirror(const GpbRequestSlot *slot)
{
	GpbDeviceMirror *mirror = gpb_searchable_mirror(slot);

	return mirror == NULL || gpb_is_inner_only(slot->mirror) ? NULL : mirror;
}
