/*-------------------------------------------------------------------------
 *
 * attach.c
 *	  A backend finds the mirror of an index, or makes one.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/backend/attach.h"

#include "access/htup_details.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_index.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/timestamp.h"

#include "mirror/heartbeat.h"
#include "mirror/service_state.h"
#include "mirror/map/changed_map.h"
#include "mirror/map/eviction.h"
#include "mirror/map/placement.h"
#include "mirror/map/refusals.h"
#include "page/page.h"

/* What a mirror is wanted for */
typedef enum GpbMirrorUse
{
	GPB_USE_PAGES,
	GPB_USE_SEPARATORS			/* the pages of level 1 are enough */
} GpbMirrorUse;

typedef enum GpbAttach
{
	GPB_ATTACHED,
	GPB_ATTACH_REFUSED,
	GPB_ATTACH_FULL				/* no slot or no segment is free */
} GpbAttach;

/* ---- identity ---- */

/*
 * What a mirror of this index must have been made of (rule M1).  This is the mirror's one look at a
 * catalog: the row of the session's database.  The caller is in a transaction and holds a lock on
 * the index; no LWLock.
 */
void
gpb_identity_of(Relation index, GpbIdentity *identity)
{
	HeapTuple	tuple = SearchSysCache1(DATABASEOID, ObjectIdGetDatum(MyDatabaseId));

	if (!HeapTupleIsValid(tuple))
		elog(ERROR, "cache lookup failed for database %u", MyDatabaseId);
	memset(identity, 0, sizeof(*identity));
	identity->file = index->rd_node;
	identity->index = RelationGetRelid(index);
	identity->database_xmin = HeapTupleHeaderGetRawXmin(tuple->t_data);
	ReleaseSysCache(tuple);
}

/*
 * May the index be mirrored?  Only if every change of its pages is marked: it is valid, because a
 * build writes pages without marking them, and it is not temporary (rule M1).
 */
bool
gpb_may_mirror(Relation index)
{
	return index->rd_rel->relpersistence != RELPERSISTENCE_TEMP &&
		index->rd_index->indisvalid && index->rd_index->indisready &&
		index->rd_index->indislive;
}

/* ---- how an index is mirrored ---- */

bool
gpb_has_pieces(const GpbIdentity *identity)
{
	return gpb_registry_next_piece(identity, 0) != GPB_NOT_MIRRORED;
}

void
gpb_use_pieces(const GpbIdentity *identity)
{
	uint64		now = (uint64) GetCurrentTimestamp();
	int			slot;

	for (slot = gpb_registry_next_piece(identity, 0); slot != GPB_NOT_MIRRORED;
		 slot = gpb_registry_next_piece(identity, slot + 1))
		pg_atomic_write_u64(&gpb_registry->mirrors[slot].last_used, now);
}

/*
 * How an index of nblocks blocks is to be mirrored: all of it, unless on each device that is there
 * that is more than is allowed or than its memory, or was tried in vain; then in pieces, if all
 * devices together have room; else its inner nodes.  One that has pieces keeps them.  Registry lock
 * held.
 */
GpbMirrorMode
gpb_mirror_mode_for(const GpbIdentity *identity, BlockNumber nblocks)
{
	GpbMirrorMode mode = GPB_MIRROR_FULL;
	int			devices[GPB_MAX_DEVICES];
	int			device;

	if (gpb_has_pieces(identity))
		return gpb_is_too_large_for_all(nblocks) ? GPB_MIRROR_INNER_ONLY : GPB_MIRROR_PIECE;
	for (device = 0; device < gpb_devices; device++)
	{
		if (!gpb_service_is_there(device))
			continue;
		if (!gpb_is_too_large(nblocks, device) &&
			!gpb_is_refused(identity, GPB_MIRROR_FULL, device))
			return GPB_MIRROR_FULL;
		mode = GPB_MIRROR_INNER_ONLY;
	}
	if (mode == GPB_MIRROR_INNER_ONLY && gpb_devices > 1 &&
		gpb_place_pieces(identity, nblocks, devices) > 0)
		return GPB_MIRROR_PIECE;
	return mode;
}

/*
 * May the mirror in the slot serve this use?  A mirror of all pages may not where the index has
 * become too large, for its device alone or for all.  A mirror of the inner nodes serves searches
 * also where by now there would be memory for all pages: who needs all pages makes it.
 */
static bool
slot_serves(int slot, GpbMirrorMode mode, BlockNumber nblocks, GpbMirrorUse use)
{
	if (pg_atomic_read_u32(&gpb_registry->mirrors[slot].mode) == GPB_MIRROR_FULL)
		return mode == GPB_MIRROR_FULL &&
			!gpb_is_too_large(nblocks, gpb_registry->mirrors[slot].device);
	return use == GPB_USE_SEPARATORS;
}

bool
gpb_slot_is_served(int slot)
{
	return gpb_service_serves(gpb_registry->mirrors[slot].device);
}

/* ---- attach ---- */

void
gpb_refer(int slot, GpbMirrorRef *ref)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];

	ref->slot = slot;
	ref->device = mirror->device;
	ref->generation = pg_atomic_read_u64(&mirror->generation);
	ref->file = mirror->identity.file;
	ref->index = mirror->identity.index;
	ref->inner_only = pg_atomic_read_u32(&mirror->mode) == GPB_MIRROR_INNER_ONLY;
	ref->piece = pg_atomic_read_u32(&mirror->mode) == GPB_MIRROR_PIECE;
	pg_atomic_write_u64(&mirror->last_used, (uint64) GetCurrentTimestamp());
}

/*
 * Make an empty mirror: first all bits are set, then it can be found (rule M2).  Returns its slot,
 * or GPB_NOT_MIRRORED if no slot or no segment is free.  Registry lock held exclusively; no live
 * mirror has this file's tag, unless all are to be pieces.
 */
int
gpb_publish_empty(const GpbIdentity *identity, const GpbLayout *layout, BlockNumber nblocks,
			  const GpbNewMirror *new)
{
	int			slot;
	GpbMirrorSlot *mirror;

	for (slot = 0; slot < GPB_MIRRORS; slot++)
	{
		if (pg_atomic_read_u32(&gpb_registry->mirrors[slot].state) == GPB_MIRROR_FREE)
			break;
	}
	if (slot == GPB_MIRRORS)
		return GPB_NOT_MIRRORED;
	mirror = &gpb_registry->mirrors[slot];
	if (!gpb_map_grow(slot, Max(gpb_map_segments_for(nblocks), 1)))
		return GPB_NOT_MIRRORED;

	mirror->identity = *identity;
	mirror->layout = *layout;
	mirror->device = new->device;
	mirror->range = new->range;
	mirror->share = new->share;
	mirror->expected = gpb_mirror_bytes_expected(new->mode, (BlockNumber) (nblocks * new->share));
	pg_atomic_write_u32(&mirror->mode, new->mode);
	pg_atomic_write_u32(&mirror->begun, 0);
	pg_atomic_write_u32(&mirror->nblocks, 0);
	pg_atomic_write_u64(&mirror->epoch, 0);
	pg_atomic_write_u64(&mirror->refreshes, 0);
	pg_atomic_write_u64(&mirror->leaves, 0);
	pg_atomic_write_u64(&mirror->memory, 0);
	pg_atomic_write_u32(&mirror->inner_blocks, 0);
	pg_atomic_write_u64(&mirror->stale_moves, 0);
	pg_atomic_write_u64(&mirror->balance, 0);
	pg_atomic_write_u64(&mirror->queried, 0);
	pg_atomic_write_u64(&mirror->passed, 0);
	pg_atomic_write_u32(&mirror->left_over, 0);
	pg_atomic_write_u64(&mirror->rent, 0);
	pg_atomic_write_u64(&mirror->last_used, (uint64) GetCurrentTimestamp());
	gpb_registry_publish(slot);
	return slot;
}

/* Make an empty mirror that is no piece, on the device that is to have it. */
static GpbAttach
create_mirror(const GpbIdentity *identity, const GpbLayout *layout,
			  GpbMirrorMode mode, BlockNumber nblocks, GpbMirrorRef *ref)
{
	GpbNewMirror new = {.mode = mode, .range = {GPB_BOUND_MIN, GPB_BOUND_MAX}, .share = 1};
	int			slot;

	new.device = gpb_place_mirror(identity, mode, nblocks, ref->keep_since);
	if (new.device == GPB_NO_DEVICE)
		return GPB_ATTACH_REFUSED;
	slot = gpb_publish_empty(identity, layout, nblocks, &new);
	if (slot == GPB_NOT_MIRRORED)
		return GPB_ATTACH_FULL;
	gpb_refer(slot, ref);
	return GPB_ATTACHED;
}

/*
 * Find the mirror or make one; a mirror changes its mode by being discarded and made anew.  No
 * LWLock held on entry or exit.
 */
static GpbAttach
attach_or_create(const GpbIdentity *identity, const GpbLayout *layout,
				 BlockNumber nblocks, GpbMirrorUse use, GpbMirrorRef *ref)
{
	GpbAttach	outcome = GPB_ATTACHED;
	GpbMirrorMode mode;
	int			slot;

	LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
	mode = gpb_mirror_mode_for(identity, nblocks);
	slot = gpb_registry_lookup(identity);
	if (mode == GPB_MIRROR_PIECE)
		outcome = GPB_ATTACH_REFUSED;	/* who can ask pieces finds the cut */
	else if (slot != GPB_NOT_MIRRORED && !gpb_slot_is_served(slot))
		outcome = GPB_ATTACH_REFUSED;	/* its service may answer again, or another discard it */
	else if (slot != GPB_NOT_MIRRORED && slot_serves(slot, mode, nblocks, use))
		gpb_refer(slot, ref);
	else if (use == GPB_USE_PAGES && mode == GPB_MIRROR_INNER_ONLY)
	{
		/* leave a mirror of the inner nodes to the searches that it serves */
		if (slot == GPB_NOT_MIRRORED || !slot_serves(slot, mode, nblocks, GPB_USE_SEPARATORS))
			gpb_registry_discard_former(identity);
		outcome = GPB_ATTACH_REFUSED;
	}
	else
	{
		gpb_registry_discard_former(identity);
		outcome = create_mirror(identity, layout, mode, nblocks, ref);
	}
	LWLockRelease(gpb_registry->lock);
	return outcome;
}

/*
 * Find a mirror of all pages that is there, on a device that serves, and that an index of so many
 * blocks may have: the common case, without a lock.  Fills in slot, device and generation; returns
 * false if there is none.  Identity and device of a slot change only while its mirror is not live,
 * and a later mirror has a later generation; so if the mirror of one generation is live before and
 * after the identity was compared, it is that mirror's.
 */
bool
gpb_find_whole(const GpbIdentity *identity, BlockNumber nblocks, GpbMirrorRef *ref)
{
	int			slot = gpb_mirror_find(&identity->file);
	GpbMirrorSlot *mirror;
	bool		same;

	if (slot == GPB_NOT_MIRRORED)
		return false;
	mirror = &gpb_registry->mirrors[slot];
	ref->slot = slot;
	ref->generation = pg_atomic_read_u64(&mirror->generation);
	pg_memory_barrier();
	if (!gpb_mirror_is_live(slot, ref->generation))
		return false;
	pg_memory_barrier();
	same = gpb_identity_equal(&mirror->identity, identity) &&
		pg_atomic_read_u32(&mirror->mode) == GPB_MIRROR_FULL;
	ref->device = mirror->device;
	pg_memory_barrier();
	return same && gpb_mirror_is_live(slot, ref->generation) &&
		gpb_service_serves(ref->device) && !gpb_is_too_large(nblocks, ref->device);
}

/* Attach to a mirror of all pages that is there. */
static bool
attach_at_once(const GpbIdentity *identity, BlockNumber nblocks, GpbMirrorRef *ref)
{
	if (!gpb_find_whole(identity, nblocks, ref))
		return false;
	ref->file = identity->file;
	ref->index = identity->index;
	ref->inner_only = false;
	ref->piece = false;
	pg_atomic_write_u64(&gpb_registry->mirrors[ref->slot].last_used,
						(uint64) GetCurrentTimestamp());
	return true;
}

/*
 * Attach to a mirror that is there and serves this use, under a shared lock only.
 */
static bool
attach_present(const GpbIdentity *identity, BlockNumber nblocks, GpbMirrorUse use,
			   GpbMirrorRef *ref)
{
	int			slot;
	bool		serves;

	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	slot = gpb_registry_lookup(identity);
	serves = slot != GPB_NOT_MIRRORED && gpb_slot_is_served(slot) &&
		slot_serves(slot, gpb_mirror_mode_for(identity, nblocks), nblocks, use);
	if (serves)
		gpb_refer(slot, ref);
	LWLockRelease(gpb_registry->lock);
	return serves;
}

static bool
attach_for(Relation index, const GpbLayout *layout, GpbMirrorUse use, TimestampTz keep_since,
		   GpbMirrorRef *ref)
{
	GpbIdentity identity;
	BlockNumber nblocks;
	int			attempt;

	ref->keep_since = keep_since;
	if (!gpb_mirror_available() || !gpb_may_mirror(index))
		return false;
	gpb_identity_of(index, &identity);
	nblocks = RelationGetNumberOfBlocks(index);
	if (attach_at_once(&identity, nblocks, ref) || attach_present(&identity, nblocks, use, ref))
		return true;

	if (gpb_map_segments_for(nblocks) > gpb_map_segments_total() ||
		!gpb_fits_beside(nblocks, keep_since))
		return false;
	for (attempt = 0; attempt < GPB_MIRRORS; attempt++)
	{
		GpbAttach	outcome = attach_or_create(&identity, layout, nblocks, use, ref);

		if (outcome != GPB_ATTACH_FULL)
			return outcome == GPB_ATTACHED;
		if (!gpb_mirror_available() || !gpb_registry_free_one(GPB_NOT_MIRRORED, keep_since))
			return false;
	}
	return false;
}

bool
gpb_mirror_attach(Relation index, const GpbLayout *layout, GpbMirrorRef *ref)
{
	return attach_for(index, layout, GPB_USE_PAGES, 0, ref);
}

bool
gpb_mirror_attach_beside(Relation index, const GpbLayout *layout, TimestampTz keep_since,
						 GpbMirrorRef *ref)
{
	return attach_for(index, layout, GPB_USE_PAGES, keep_since, ref);
}

void
gpb_mirror_use(Relation index)
{
	GpbIdentity identity;
	GpbMirrorRef ref;

	if (!gpb_mirror_available() || !gpb_may_mirror(index))
		return;
	gpb_identity_of(index, &identity);
	if (attach_at_once(&identity, RelationGetNumberOfBlocks(index), &ref) || gpb_devices == 1)
		return;
	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	if (gpb_has_pieces(&identity))
		gpb_use_pieces(&identity);
	LWLockRelease(gpb_registry->lock);
}

bool
gpb_mirror_attach_search(Relation index, const GpbLayout *layout, GpbMirrorRef *ref)
{
	return attach_for(index, layout, GPB_USE_SEPARATORS, 0, ref);
}

/*
 * Give up a mirror of all pages whose index may not have one any more: what would attach to it is
 * not tried.  No LWLock held on entry or exit.
 */
static void
discard_too_large(const GpbIdentity *identity)
{
	int			slot;

	LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
	slot = gpb_registry_next(identity, 0);
	if (slot != GPB_NOT_MIRRORED &&
		pg_atomic_read_u32(&gpb_registry->mirrors[slot].mode) != GPB_MIRROR_INNER_ONLY)
		gpb_registry_give_up(slot);
	LWLockRelease(gpb_registry->lock);
}

bool
gpb_mirror_is_inner_only(Relation index)
{
	GpbIdentity identity;
	BlockNumber nblocks;
	GpbMirrorMode mode;
	GpbMirrorRef ref;
	int			slot;
	bool		full;

	if (!gpb_mirror_available() || !gpb_may_mirror(index))
		return false;
	gpb_identity_of(index, &identity);
	nblocks = RelationGetNumberOfBlocks(index);
	if (gpb_find_whole(&identity, nblocks, &ref))
		return false;
	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	mode = gpb_mirror_mode_for(&identity, nblocks);
	slot = gpb_registry_lookup(&identity);
	full = slot == GPB_NOT_MIRRORED ? gpb_has_pieces(&identity) : gpb_slot_is_served(slot) &&
		pg_atomic_read_u32(&gpb_registry->mirrors[slot].mode) == GPB_MIRROR_FULL;
	LWLockRelease(gpb_registry->lock);
	if (mode == GPB_MIRROR_INNER_ONLY && full)
		discard_too_large(&identity);
	return mode == GPB_MIRROR_INNER_ONLY;
}

/* ---- refusals ---- */

void
gpb_mirror_forgive(Relation index)
{
	GpbIdentity identity;

	gpb_identity_of(index, &identity);
	gpb_forgive(&identity);
}
