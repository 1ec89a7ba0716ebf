/*-------------------------------------------------------------------------
 *
 * status.c
 *	  The mirror as users see it: copies of what the registry, the service and the slots hold.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/status.h"

#include "catalog/pg_class.h"
#include "storage/bufmgr.h"
#include "storage/proc.h"
#include "utils/rel.h"

#include "mirror/backend/attach.h"
#include "mirror/heartbeat.h"
#include "mirror/map/changed_map.h"
#include "mirror/map/placement.h"
#include "mirror/map/refusals.h"
#include "page/page.h"
#include "mirror/map/registry.h"
#include "mirror/map_image.h"
#include "mirror/pool.h"
#include "mirror/refresher_state.h"
#include "mirror/service_state.h"
#include "mirror/settings.h"
#include "mirror/slots.h"
#include "mirror/statistics.h"

/* ---- mirrors ---- */

int
gpb_mirror_slots(void)
{
	return gpb_registry == NULL ? 0 : GPB_MIRRORS;
}

bool
gpb_mirror_status(int slot, GpbMirrorStatus *status)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];
	GpbMirrorState state;
	GpbMirrorRef ref;

	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	state = pg_atomic_read_u32(&mirror->state);
	status->device = mirror->device;
	status->ordinal = gpb_services[mirror->device].ordinal;
	status->file = mirror->identity.file;
	status->index = mirror->identity.index;
	status->discarded = state == GPB_MIRROR_DISCARDED;
	status->inner_only = pg_atomic_read_u32(&mirror->mode) == GPB_MIRROR_INNER_ONLY;
	status->piece = pg_atomic_read_u32(&mirror->mode) == GPB_MIRROR_PIECE;
	status->share = mirror->share;
	status->nblocks = pg_atomic_read_u32(&mirror->nblocks);
	status->leaves = pg_atomic_read_u64(&mirror->leaves);
	status->memory = pg_atomic_read_u64(&mirror->memory);
	status->changed = gpb_map_count(slot, status->nblocks);
	status->epoch = pg_atomic_read_u64(&mirror->epoch);
	status->last_used = (TimestampTz) pg_atomic_read_u64(&mirror->last_used);
	status->refreshes = pg_atomic_read_u64(&mirror->refreshes);
	status->stale_moves = pg_atomic_read_u64(&mirror->stale_moves);
	ref.slot = slot;
	status->cpu_share = (double) gpb_mirror_balance(&ref).share / GPB_SHARE_ALL;
	LWLockRelease(gpb_registry->lock);
	return state != GPB_MIRROR_FREE;
}

bool
gpb_mirror_has_room(Relation index)
{
	BlockNumber nblocks = RelationGetNumberOfBlocks(index);
	GpbIdentity identity;
	bool		has_room;

	gpb_identity_of(index, &identity);
	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	has_room = gpb_has_room(&identity, gpb_mirror_mode_for(&identity, nblocks), nblocks);
	LWLockRelease(gpb_registry->lock);
	return has_room;
}

/*
 * The map's length is that of the last refresh, so its bits are allocated before the lock is taken
 * that keeps the mirror in its slot, and a mirror that has grown in between is not looked at.
 */
static bool
read_block_states(int slot, Relation index, GpbBlockStates *states)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];
	uint32		nblocks = pg_atomic_read_u32(&mirror->nblocks);
	uint32	   *bits = palloc0(Max(gpb_map_words(nblocks), 1) * sizeof(uint32));
	bool		found;

	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	found = pg_atomic_read_u32(&mirror->state) == GPB_MIRROR_LIVE &&
		pg_atomic_read_u64(&mirror->epoch) != 0 &&
		mirror->identity.index == RelationGetRelid(index) &&
		RelFileNodeEquals(mirror->identity.file, index->rd_node) &&
		pg_atomic_read_u32(&mirror->nblocks) >= nblocks;
	if (found)
	{
		states->inner_only = pg_atomic_read_u32(&mirror->mode) == GPB_MIRROR_INNER_ONLY;
		gpb_map_read(slot, nblocks, bits);
	}
	LWLockRelease(gpb_registry->lock);
	states->nblocks = nblocks;
	states->changed = bits;
	return found;
}

void
gpb_mirror_block_states(Relation index, GpbBlockStates *states)
{
	int			slot;

	memset(states, 0, sizeof(*states));
	for (slot = 0; slot < gpb_mirror_slots() && !states->mirrored; slot++)
	{
		if (pg_atomic_read_u32(&gpb_registry->mirrors[slot].state) == GPB_MIRROR_LIVE)
			states->mirrored = read_block_states(slot, index, states);
	}
}

/* ---- the services and their devices ---- */

static int
count_live_mirrors(int device)
{
	int			n = 0;
	int			slot;

	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	for (slot = 0; slot < GPB_MIRRORS; slot++)
		n += pg_atomic_read_u32(&gpb_registry->mirrors[slot].state) == GPB_MIRROR_LIVE &&
			gpb_registry->mirrors[slot].device == device;
	LWLockRelease(gpb_registry->lock);
	return n;
}

int
gpb_services_count(void)
{
	return gpb_services == NULL ? 1 : gpb_devices;
}

void
gpb_service_status(int device, GpbServiceStatus *status)
{
	GpbServiceState *state;
	uint32		service;

	memset(status, 0, sizeof(*status));
	strlcpy(status->device_kind, "none", sizeof(status->device_kind));
	strlcpy(status->status, "not loaded at server start", sizeof(status->status));
	if (gpb_services == NULL)
		return;
	state = &gpb_services[device];
	status->loaded = true;
	status->present = gpb_service_is_there(device);
	LWLockAcquire(state->lock, LW_SHARED);
	status->device = state->device;
	status->ordinal = state->ordinal;
	strlcpy(status->status, state->status, sizeof(status->status));
	if (status->present)
		strlcpy(status->device_kind, state->device_kind, sizeof(status->device_kind));
	LWLockRelease(state->lock);
	status->mirrors = count_live_mirrors(device);
	status->requests = pg_atomic_read_u64(&gpb_statistics->requests[device]);
	service = pg_atomic_read_u32(&state->pgprocno);
	if (service == 0)
		strlcpy(status->status, "no service", sizeof(status->status));
	else
	{
		status->pid = ProcGlobal->allProcs[service - 1].pid;
		if (!gpb_service_answers(device))
			strlcpy(status->status, "not answering", sizeof(status->status));
	}
}

/* ---- the refresher ---- */

void
gpb_refresher_status(GpbRefresherStatus *status)
{
	uint32		refresher;

	memset(status, 0, sizeof(*status));
	if (gpb_refresher == NULL)
		return;
	refresher = pg_atomic_read_u32(&gpb_refresher->pgprocno);
	if (refresher != 0)
		status->pid = ProcGlobal->allProcs[refresher - 1].pid;
	status->turns = pg_atomic_read_u64(&gpb_refresher->turns);
	status->pages = pg_atomic_read_u64(&gpb_refresher->pages);
}

/* ---- query slots and staging ---- */

void
gpb_batch_resources(GpbBatchResources *resources)
{
	uint32		nunits;
	uint32		nfree;
	int			device;
	int			i;

	resources->slots = gpb_devices * gpb_slot_count(GPB_QUERY_SLOT);
	resources->free_slots = 0;
	for (device = 0; device < gpb_devices; device++)
	{
		for (i = 0; i < gpb_slot_count(GPB_QUERY_SLOT); i++)
			resources->free_slots += pg_atomic_read_u32(
				&gpb_slot_at(device, GPB_QUERY_SLOT, i)->state) == GPB_SLOT_FREE;
	}
	gpb_pool_status(&nunits, &nfree);
	resources->memory = nunits * GPB_POOL_UNIT;
	resources->free_memory = (nfree + gpb_map_images_idle_units()) * GPB_POOL_UNIT;
}

/* ---- counters ---- */

void
gpb_read_counters(GpbCounters *counters)
{
	memset(counters, 0, sizeof(*counters));
	if (gpb_statistics == NULL)
		return;
	counters->batches = pg_atomic_read_u64(&gpb_statistics->batches);
	counters->keys = pg_atomic_read_u64(&gpb_statistics->keys);
	counters->ranges = pg_atomic_read_u64(&gpb_statistics->ranges);
	counters->launches = pg_atomic_read_u64(&gpb_statistics->launches);
	counters->joined = pg_atomic_read_u64(&gpb_statistics->joined);
	counters->sorted = pg_atomic_read_u64(&gpb_statistics->sorted);
	counters->failed_over = pg_atomic_read_u64(&gpb_statistics->failed_over);
	counters->cpu_requests = pg_atomic_read_u64(&gpb_statistics->cpu_requests);
	counters->cpu_batches = pg_atomic_read_u64(&gpb_statistics->cpu_batches);
	counters->cpu_keys = pg_atomic_read_u64(&gpb_statistics->cpu_keys);
	counters->cpu_ranges = pg_atomic_read_u64(&gpb_statistics->cpu_ranges);
	counters->reset = (TimestampTz) pg_atomic_read_u64(&gpb_statistics->reset);
}

/* ---- one index ---- */

/*
 * Was there no memory for the index on a device, in any way, so that it is not to be tried again
 * yet?
 */
static bool
found_no_memory(Relation index)
{
	GpbIdentity identity;
	bool		refused = false;
	int			device;

	gpb_identity_of(index, &identity);
	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	for (device = 0; device < gpb_devices; device++)
		refused = refused || gpb_is_refused(&identity, GPB_MIRROR_FULL, device) ||
			gpb_is_refused(&identity, GPB_MIRROR_INNER_ONLY, device);
	LWLockRelease(gpb_registry->lock);
	return refused;
}

/* Why no device serves */
static const char *
why_no_service(const char **hint)
{
	char		status[sizeof(gpb_services->status)];
	int			device;

	for (device = 0; device < gpb_devices; device++)
	{
		if (!gpb_service_is_there(device))
			continue;
		*hint = "The server's log says since when.";
		return "The GPU service does not answer.";
	}
	LWLockAcquire(gpb_services->lock, LW_SHARED);
	strlcpy(status, gpb_services->status, sizeof(status));
	LWLockRelease(gpb_services->lock);
	return psprintf("The status of the device is \"%s\".", status);
}

const char *
gpb_why_not_mirrored(Relation index, const char **hint)
{
	uint64		most_blocks = (uint64) gpb_map_segments_total() * GPB_SEGMENT_BLOCKS;
	BlockNumber blocks = RelationGetNumberOfBlocks(index);

	*hint = NULL;
	if (!gpb_enabled)
		return "gpubtree.enabled is off.";
	if (!gpb_enable_device)
		return "gpubtree.enable_device is off.";
	if (index->rd_rel->relpersistence == RELPERSISTENCE_TEMP)
		return "Indexes of temporary tables are not mirrored.";
	if (!gpb_may_mirror(index))
	{
		*hint = "Build it anew with REINDEX.";
		return "The index is not valid.";
	}
	if (!gpb_mirror_available())
		return why_no_service(hint);
	if (blocks > most_blocks)
	{
		*hint = "Raise gpubtree.max_mirrored_blocks, which needs a restart.";
		return psprintf("The index has %u blocks, and changes of " UINT64_FORMAT
						" are tracked at most.", blocks, most_blocks);
	}
	if (found_no_memory(index))
	{
		*hint = "Raise gpubtree.memory_limit.";
		return "The device has no memory for it.";
	}
	return "The device did not answer, or other mirrors are in use.";
}
