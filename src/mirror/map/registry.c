/*-------------------------------------------------------------------------
 *
 * registry.c
 *	  Which indexes are mirrored: slots, identity, attach, discard, ownership.
 *
 * Life of a slot: FREE -> (a backend attaches) LIVE -> (anyone) DISCARDED -> (the
 * service, once nobody owns a refresh of it) FREE.  A discarded mirror is
 * never revived; a new one has a new generation, and whoever still holds a reference to the old one is
 * refused by the service.
 *
 * "live" state and tag go together: discarding clears the state first, so that a
 * launch which finds the state live *after* having read the changed map knows that all markers
 * up to that reading had found the tag (service.c).
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/shared.h"

#include "access/htup_details.h"
#include "access/xact.h"
#include "catalog/pg_class.h"
#include "catalog/pg_database.h"
#include "catalog/pg_index.h"
#include "common/hashfn.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/proc.h"
#include "utils/rel.h"
#include "utils/syscache.h"
#include "utils/wait_event.h"

/*
 * How long an index that found no memory is not tried again: the first time, and at most, since it
 * doubles each time
 */
#define GPB_REFUSAL_MS		60000
#define GPB_LONGEST_REFUSAL_MS	(64 * GPB_REFUSAL_MS)

/* Fill in the registry; its memory is zeroed. */
void
gpb_registry_init(void)
{
	int			i;

	pg_atomic_init_u64(&gpb_shared->incarnation, 0);
	pg_atomic_init_u64(&gpb_shared->available, 0);
	pg_atomic_init_u32(&gpb_shared->service_pgprocno, 0);
	pg_atomic_init_u64(&gpb_shared->heartbeats, 1);
	pg_atomic_init_u64(&gpb_shared->hung_at, 0);
	gpb_statistics_init();
	pg_atomic_init_u32(&gpb_shared->discards, 0);
	pg_atomic_init_u64(&gpb_shared->epoch, 0);
	strlcpy(gpb_shared->device_kind, "none", sizeof(gpb_shared->device_kind));
	strlcpy(gpb_shared->status, "starting", sizeof(gpb_shared->status));
	ConditionVariableInit(&gpb_shared->freed_cv);
	ConditionVariableInit(&gpb_shared->pool_cv);
	for (i = 0; i < GPB_SLOT_CLASSES; i++)
		ConditionVariableInit(&gpb_shared->slot_cv[i]);
	pg_atomic_init_u32(&gpb_shared->tag_limit, 0);
	for (i = 0; i < GPB_MIRRORS; i++)
	{
		GpbMirrorSlot *mirror = &gpb_shared->mirrors[i];

		pg_atomic_init_u64(&gpb_shared->tags[i], 0);
		pg_atomic_init_u32(&mirror->state, GPB_MIRROR_FREE);
		pg_atomic_init_u32(&mirror->mode, GPB_MIRROR_FULL);
		pg_atomic_init_u64(&mirror->generation, 0);
		pg_atomic_init_u32(&mirror->owner, 0);
		ConditionVariableInit(&mirror->owner_cv);
		pg_atomic_init_u32(&mirror->nsegments, 0);
		pg_atomic_init_u32(&mirror->nblocks, 0);
		pg_atomic_init_u64(&mirror->epoch, 0);
		pg_atomic_init_u64(&mirror->last_used, 0);
		pg_atomic_init_u64(&mirror->refreshes, 0);
		pg_atomic_init_u64(&mirror->leaves, 0);
		pg_atomic_init_u64(&mirror->memory, 0);
		pg_atomic_init_u32(&mirror->inner_blocks, 0);
		pg_atomic_init_u64(&mirror->stale_moves, 0);
		pg_atomic_init_u64(&mirror->balance, 0);
	}
}

/* ---- look-up without a lock ---- */

/* One to one: every bit of h depends on every bit of the argument. */
static inline uint64
gpb_mix64(uint64 h)
{
	h = (h ^ (h >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	h = (h ^ (h >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return h ^ (h >> 31);
}

/* Never 0.  No two live mirrors have the same (see gpb_registry_attach). */
static uint64
gpb_file_tag(const RelFileNode *file)
{
	uint64		numbers = ((uint64) file->dbNode << 32) | file->relNode;

	return gpb_mix64(numbers ^ gpb_mix64(file->spcNode)) | 1;
}

int
gpb_mirror_find(const RelFileNode *file)
{
	uint32		limit;
	uint64		tag;
	uint32		i;

	if (gpb_shared == NULL)
		return GPB_NOT_MIRRORED;
	limit = pg_atomic_read_u32(&gpb_shared->tag_limit);
	if (limit == 0)
		return GPB_NOT_MIRRORED;
	tag = gpb_file_tag(file);
	for (i = 0; i < limit; i++)
	{
		if (pg_atomic_read_u64(&gpb_shared->tags[i]) == tag)
			return (int) i;
	}
	return GPB_NOT_MIRRORED;
}

/* ---- identity ---- */

/*
 * What a mirror of this index must have been made of (rule M1).  The caller is in a
 * transaction and holds a lock on the index; no LWLock.
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

static bool
gpb_identity_equal(const GpbIdentity *a, const GpbIdentity *b)
{
	return RelFileNodeEquals(a->file, b->file) && a->index == b->index &&
		a->database_xmin == b->database_xmin;
}

/* The live mirror of that identity, or GPB_NOT_MIRRORED.  Registry lock held. */
int
gpb_registry_lookup(const GpbIdentity *identity)
{
	int			slot = gpb_mirror_find(&identity->file);

	if (slot != GPB_NOT_MIRRORED &&
		pg_atomic_read_u32(&gpb_shared->mirrors[slot].state) == GPB_MIRROR_LIVE &&
		gpb_identity_equal(&gpb_shared->mirrors[slot].identity, identity))
		return slot;
	return GPB_NOT_MIRRORED;
}

/*
 * Only files that every change of a page is announced for: of a valid index, because a
 * build writes pages without marking them; not temporary (rule M1).
 */
bool
gpb_may_mirror(Relation index)
{
	return index->rd_rel->relpersistence != RELPERSISTENCE_TEMP &&
		index->rd_index->indisvalid && index->rd_index->indisready &&
		index->rd_index->indislive;
}

/* ---- discard ---- */

static void
gpb_announce_discard(void)
{
	pg_atomic_fetch_add_u32(&gpb_shared->discards, 1);
	gpb_wake_service();
}

/* Discard the mirror in a slot.  Registry lock held exclusively. */
void
gpb_registry_discard(int slot)
{
	GpbMirrorSlot *mirror = &gpb_shared->mirrors[slot];

	Assert(LWLockHeldByMeInMode(gpb_shared->registry_lock, LW_EXCLUSIVE));
	if (pg_atomic_read_u32(&mirror->state) != GPB_MIRROR_LIVE)
		return;
	pg_atomic_write_u32(&mirror->state, GPB_MIRROR_DISCARDED);
	pg_memory_barrier();
	pg_atomic_write_u64(&gpb_shared->tags[slot], 0);
	gpb_announce_discard();
}

/* Discard the mirror of a file, if there is one. */
void
gpb_mirror_forget(const RelFileNode *file)
{
	int			slot;

	if (gpb_mirror_find(file) == GPB_NOT_MIRRORED)
		return;
	LWLockAcquire(gpb_shared->registry_lock, LW_EXCLUSIVE);
	slot = gpb_mirror_find(file);
	if (slot != GPB_NOT_MIRRORED)
		gpb_registry_discard(slot);
	LWLockRelease(gpb_shared->registry_lock);
}

/* Is there a live mirror of this index in this slot?  Registry lock held. */
static bool
gpb_slot_is_of_index(int slot, Oid database, Oid index)
{
	GpbMirrorSlot *mirror = &gpb_shared->mirrors[slot];

	return pg_atomic_read_u32(&mirror->state) == GPB_MIRROR_LIVE &&
		mirror->identity.index == index && mirror->identity.file.dbNode == database;
}

/* Has there ever been a mirror?  Cheap. */
bool
gpb_registry_was_used(void)
{
	return gpb_shared != NULL && pg_atomic_read_u32(&gpb_shared->tag_limit) > 0;
}

/* Is there a mirror of any file that the index has or had? */
static bool
gpb_registry_has_index(Oid database, Oid index)
{
	bool		found = false;
	int			slot;

	if (!gpb_registry_was_used())
		return false;
	LWLockAcquire(gpb_shared->registry_lock, LW_SHARED);
	for (slot = 0; slot < GPB_MIRRORS && !found; slot++)
		found = gpb_slot_is_of_index(slot, database, index);
	LWLockRelease(gpb_shared->registry_lock);
	return found;
}

/*
 * Discard the mirrors of the files that the index has and had; was there one?  No LWLock
 * held on entry or exit.
 */
bool
gpb_registry_drop_index(Oid database, Oid index)
{
	bool		found = false;
	int			slot;

	if (!gpb_registry_has_index(database, index))
		return false;
	LWLockAcquire(gpb_shared->registry_lock, LW_EXCLUSIVE);
	for (slot = 0; slot < GPB_MIRRORS; slot++)
	{
		if (!gpb_slot_is_of_index(slot, database, index))
			continue;
		gpb_registry_discard(slot);
		found = true;
	}
	LWLockRelease(gpb_shared->registry_lock);
	return found;
}

/* Discard the mirrors of a database. */
void
gpb_registry_drop_database(Oid database)
{
	int			slot;

	LWLockAcquire(gpb_shared->registry_lock, LW_EXCLUSIVE);
	for (slot = 0; slot < GPB_MIRRORS; slot++)
	{
		if (gpb_shared->mirrors[slot].identity.file.dbNode == database)
			gpb_registry_discard(slot);
	}
	LWLockRelease(gpb_shared->registry_lock);
}

/*
 * The live mirror used longest ago of those that nobody is refreshing;
 * GPB_NOT_MIRRORED if there is none.  Registry lock held.
 */
int
gpb_registry_least_used(int except)
{
	int			best = GPB_NOT_MIRRORED;
	int			i;

	for (i = 0; i < GPB_MIRRORS; i++)
	{
		GpbMirrorSlot *mirror = &gpb_shared->mirrors[i];

		if (i == except || pg_atomic_read_u32(&mirror->state) != GPB_MIRROR_LIVE ||
			pg_atomic_read_u32(&mirror->owner) != 0)
			continue;
		if (best == GPB_NOT_MIRRORED ||
			pg_atomic_read_u64(&mirror->last_used) <
			pg_atomic_read_u64(&gpb_shared->mirrors[best].last_used))
			best = i;
	}
	return best;
}

/*
 * Discard the least recently used mirror and wait until the service has freed something, is gone or
 * hangs.  No LWLock held.  False: nothing could be discarded.
 */
bool
gpb_registry_free_one(int except)
{
	GpbServiceWait wait;
	int			victim;

	ConditionVariablePrepareToSleep(&gpb_shared->freed_cv);
	LWLockAcquire(gpb_shared->registry_lock, LW_EXCLUSIVE);
	victim = gpb_registry_least_used(except);
	if (victim != GPB_NOT_MIRRORED)
		gpb_registry_discard(victim);
	LWLockRelease(gpb_shared->registry_lock);
	gpb_service_wait_begin(&wait);
	/* the sleep returns false if it was ended by the service */
	while (victim != GPB_NOT_MIRRORED && gpb_mirror_available() && !gpb_service_hangs(&wait) &&
		   ConditionVariableTimedSleep(&gpb_shared->freed_cv, gpb_service_wait_ms(&wait),
									   PG_WAIT_EXTENSION))
		 /* it is not done yet */ ;
	ConditionVariableCancelSleep();
	return victim != GPB_NOT_MIRRORED;
}

/* ---- indexes too large for the device ---- */

static GpbRefusal *
gpb_refusal_of(const GpbIdentity *identity)
{
	int			i;

	for (i = 0; i < GPB_REFUSALS; i++)
	{
		if (gpb_shared->refused[i].failures != 0 &&
			gpb_identity_equal(&gpb_shared->refused[i].identity, identity))
			return &gpb_shared->refused[i];
	}
	return NULL;
}

/*
 * Do not try to mirror this index again soon in this way: the pages would be copied for
 * nothing.  Registry lock held exclusively.
 */
void
gpb_registry_refuse(const GpbIdentity *identity, GpbMirrorMode mode)
{
	GpbRefusal *refusal = gpb_refusal_of(identity);
	int64		ms;

	if (refusal == NULL)
	{
		refusal = &gpb_shared->refused[gpb_shared->next_refusal];
		gpb_shared->next_refusal = (gpb_shared->next_refusal + 1) % GPB_REFUSALS;
		memset(refusal, 0, sizeof(*refusal));
		refusal->identity = *identity;
	}
	ms = Min((int64) GPB_REFUSAL_MS << Min(refusal->failures, 16), GPB_LONGEST_REFUSAL_MS);
	refusal->failures++;
	refusal->until[mode] = TimestampTzPlusMilliseconds(GetCurrentTimestamp(), ms);
}

/* Is it not to be tried again yet?  Registry lock held. */
static bool
gpb_is_refused(const GpbIdentity *identity, GpbMirrorMode mode)
{
	const GpbRefusal *refusal = gpb_refusal_of(identity);

	return refusal != NULL && refusal->until[mode] != 0 &&
		refusal->until[mode] > GetCurrentTimestamp();
}

/* Was there no memory for it on the device, in any way, so that it is not to be tried again yet? */
bool
gpb_registry_is_refused(const GpbIdentity *identity)
{
	bool		refused;

	LWLockAcquire(gpb_shared->registry_lock, LW_SHARED);
	refused = gpb_is_refused(identity, GPB_MIRROR_FULL) ||
		gpb_is_refused(identity, GPB_MIRROR_INNER_ONLY);
	LWLockRelease(gpb_shared->registry_lock);
	return refused;
}

/* Someone asked for it: try again. */
void
gpb_registry_forgive(const GpbIdentity *identity)
{
	GpbRefusal *refusal;

	LWLockAcquire(gpb_shared->registry_lock, LW_EXCLUSIVE);
	refusal = gpb_refusal_of(identity);
	if (refusal != NULL)
		memset(refusal, 0, sizeof(*refusal));
	LWLockRelease(gpb_shared->registry_lock);
}

/* ---- attach ---- */

/* What a mirror is wanted for */
typedef enum GpbMirrorUse
{
	GPB_USE_PAGES,
	GPB_USE_SEPARATORS			/* those of level 1 are enough */
} GpbMirrorUse;

typedef enum GpbAttach
{
	GPB_ATTACHED,
	GPB_ATTACH_REFUSED,
	GPB_ATTACH_FULL				/* no slot or no segment is free */
} GpbAttach;

/*
 * How an index of that size is to be mirrored: all of it, unless that is more than is allowed or than the
 * device's memory, or was tried in vain.  Registry lock held.
 */
static GpbMirrorMode
gpb_mode_for(const GpbIdentity *identity, BlockNumber nblocks)
{
	uint64		bytes = (uint64) nblocks * BLCKSZ;
	uint64		memory = gpb_shared->device.memory_limit;

	if ((gpb_max_mirror_size > 0 && bytes > (uint64) gpb_max_mirror_size * 1024) ||
		(memory > 0 && bytes > memory) || gpb_is_refused(identity, GPB_MIRROR_FULL))
		return GPB_MIRROR_INNER_ONLY;
	return GPB_MIRROR_FULL;
}

/*
 * May the mirror in the slot serve this use?  One of all pages may not where it has become too large.  One
 * of inner nodes serves searches also where by now there would be memory for more: who needs
 * more makes it.
 */
static bool
gpb_slot_serves(int slot, GpbMirrorMode mode, GpbMirrorUse use)
{
	if (pg_atomic_read_u32(&gpb_shared->mirrors[slot].mode) == GPB_MIRROR_FULL)
		return mode == GPB_MIRROR_FULL;
	return use == GPB_USE_SEPARATORS;
}

static void
gpb_registry_refer(int slot, GpbMirrorRef *ref)
{
	GpbMirrorSlot *mirror = &gpb_shared->mirrors[slot];

	ref->slot = slot;
	ref->generation = pg_atomic_read_u64(&mirror->generation);
	ref->file = mirror->identity.file;
	ref->index = mirror->identity.index;
	ref->inner_only = pg_atomic_read_u32(&mirror->mode) == GPB_MIRROR_INNER_ONLY;
	pg_atomic_write_u64(&mirror->last_used, (uint64) GetCurrentTimestamp());
}

/*
 * Make an empty mirror: all bits set, then findable, in that order (rule M2).
 * Registry lock held exclusively; no live mirror has this file's tag.
 */
static GpbAttach
gpb_registry_create(const GpbIdentity *identity, const GpbLayout *layout,
					GpbMirrorMode mode, BlockNumber nblocks, GpbMirrorRef *ref)
{
	int			slot;
	GpbMirrorSlot *mirror;

	for (slot = 0; slot < GPB_MIRRORS; slot++)
	{
		if (pg_atomic_read_u32(&gpb_shared->mirrors[slot].state) == GPB_MIRROR_FREE)
			break;
	}
	if (slot == GPB_MIRRORS)
		return GPB_ATTACH_FULL;
	mirror = &gpb_shared->mirrors[slot];
	if (!gpb_map_grow(slot, Max(gpb_map_segments_for(nblocks), 1)))
		return GPB_ATTACH_FULL;

	mirror->identity = *identity;
	mirror->layout = *layout;
	pg_atomic_write_u32(&mirror->mode, mode);
	pg_atomic_write_u32(&mirror->nblocks, 0);
	pg_atomic_write_u64(&mirror->epoch, 0);
	pg_atomic_write_u64(&mirror->refreshes, 0);
	pg_atomic_write_u64(&mirror->leaves, 0);
	pg_atomic_write_u64(&mirror->memory, 0);
	pg_atomic_write_u32(&mirror->inner_blocks, 0);
	pg_atomic_write_u64(&mirror->stale_moves, 0);
	pg_atomic_write_u64(&mirror->balance, 0);
	pg_atomic_fetch_add_u64(&mirror->generation, 1);
	pg_memory_barrier();
	pg_atomic_write_u32(&mirror->state, GPB_MIRROR_LIVE);
	pg_memory_barrier();
	pg_atomic_write_u64(&gpb_shared->tags[slot], gpb_file_tag(&identity->file));
	if (pg_atomic_read_u32(&gpb_shared->tag_limit) < slot + 1)
		pg_atomic_write_u32(&gpb_shared->tag_limit, slot + 1);
	pg_memory_barrier();
	gpb_registry_refer(slot, ref);
	return GPB_ATTACHED;
}

/*
 * Discard what stands in the place of an index's mirror: one of its file under another
 * identity, or of another file with the same tag; and, to free their memory, those of files that the
 * index had before (REINDEX and TRUNCATE give it another).  Registry lock held
 * exclusively.
 */
static void
gpb_registry_discard_former(const GpbIdentity *identity)
{
	int			slot = gpb_mirror_find(&identity->file);

	if (slot != GPB_NOT_MIRRORED)
		gpb_registry_discard(slot);
	for (slot = 0; slot < GPB_MIRRORS; slot++)
	{
		if (gpb_slot_is_of_index(slot, identity->file.dbNode, identity->index))
			gpb_registry_discard(slot);
	}
}

/*
 * Find the mirror or make one; a mirror changes its mode by being discarded and made anew.  No LWLock held on entry or
 * exit.
 */
static GpbAttach
gpb_registry_attach(const GpbIdentity *identity, const GpbLayout *layout,
					BlockNumber nblocks, GpbMirrorUse use, GpbMirrorRef *ref)
{
	GpbAttach	outcome = GPB_ATTACHED;
	GpbMirrorMode mode;
	int			slot;

	LWLockAcquire(gpb_shared->registry_lock, LW_EXCLUSIVE);
	mode = gpb_mode_for(identity, nblocks);
	slot = gpb_registry_lookup(identity);
	if (slot != GPB_NOT_MIRRORED && gpb_slot_serves(slot, mode, use))
		gpb_registry_refer(slot, ref);
	else if (use == GPB_USE_PAGES && mode == GPB_MIRROR_INNER_ONLY)
	{
		/* leave one of the inner nodes to those whom it serves */
		if (slot == GPB_NOT_MIRRORED || !gpb_slot_serves(slot, mode, GPB_USE_SEPARATORS))
			gpb_registry_discard_former(identity);
		outcome = GPB_ATTACH_REFUSED;
	}
	else
	{
		gpb_registry_discard_former(identity);
		if (gpb_is_refused(identity, mode))
			outcome = GPB_ATTACH_REFUSED;
		else
			outcome = gpb_registry_create(identity, layout, mode, nblocks, ref);
	}
	LWLockRelease(gpb_shared->registry_lock);
	return outcome;
}

/* The common case: it is there, and as it should be.  Shared lock only. */
static bool
gpb_registry_attach_present(const GpbIdentity *identity, BlockNumber nblocks, GpbMirrorUse use,
							GpbMirrorRef *ref)
{
	int			slot;
	bool		serves;

	LWLockAcquire(gpb_shared->registry_lock, LW_SHARED);
	slot = gpb_registry_lookup(identity);
	serves = slot != GPB_NOT_MIRRORED &&
		gpb_slot_serves(slot, gpb_mode_for(identity, nblocks), use);
	if (serves)
		gpb_registry_refer(slot, ref);
	LWLockRelease(gpb_shared->registry_lock);
	return serves;
}

bool
gpb_mirror_available(void)
{
	return gpb_enabled && gpb_enable_device && gpb_shared != NULL &&
		pg_atomic_read_u64(&gpb_shared->available) != 0 && gpb_service_answers();
}

static bool
gpb_mirror_attach_for(Relation index, const GpbLayout *layout, GpbMirrorUse use,
					  GpbMirrorRef *ref)
{
	GpbIdentity identity;
	BlockNumber nblocks;
	int			attempt;

	if (!gpb_mirror_available() || !gpb_may_mirror(index))
		return false;
	gpb_identity_of(index, &identity);
	nblocks = RelationGetNumberOfBlocks(index);
	if (gpb_registry_attach_present(&identity, nblocks, use, ref))
		return true;

	if (gpb_map_segments_for(nblocks) > gpb_map_segments_total())
		return false;
	for (attempt = 0; attempt < GPB_MIRRORS; attempt++)
	{
		GpbAttach	outcome = gpb_registry_attach(&identity, layout, nblocks, use, ref);

		if (outcome != GPB_ATTACH_FULL)
			return outcome == GPB_ATTACHED;
		if (!gpb_mirror_available() || !gpb_registry_free_one(GPB_NOT_MIRRORED))
			return false;
	}
	return false;
}

bool
gpb_mirror_attach(Relation index, const GpbLayout *layout, GpbMirrorRef *ref)
{
	return gpb_mirror_attach_for(index, layout, GPB_USE_PAGES, ref);
}

bool
gpb_mirror_attach_search(Relation index, const GpbLayout *layout, GpbMirrorRef *ref)
{
	return gpb_mirror_attach_for(index, layout, GPB_USE_SEPARATORS, ref);
}

bool
gpb_mirror_is_inner_only(Relation index)
{
	GpbIdentity identity;
	BlockNumber nblocks;
	GpbMirrorMode mode;

	if (!gpb_mirror_available() || !gpb_may_mirror(index))
		return false;
	gpb_identity_of(index, &identity);
	nblocks = RelationGetNumberOfBlocks(index);
	LWLockAcquire(gpb_shared->registry_lock, LW_SHARED);
	mode = gpb_mode_for(&identity, nblocks);
	LWLockRelease(gpb_shared->registry_lock);
	return mode == GPB_MIRROR_INNER_ONLY;
}

/* ---- what searches in a mirror learn ---- */

void
gpb_mirror_note_stale(const GpbMirrorRef *ref, uint64 moves)
{
	if (moves > 0)
		pg_atomic_fetch_add_u64(&gpb_shared->mirrors[ref->slot].stale_moves, moves);
}

StaticAssertDecl(sizeof(GpbBalance) == sizeof(uint64), "a balance is read and written at once");

GpbBalance
gpb_mirror_balance(const GpbMirrorRef *ref)
{
	uint64		word = pg_atomic_read_u64(&gpb_shared->mirrors[ref->slot].balance);
	GpbBalance	balance;

	memcpy(&balance, &word, sizeof(balance));
	return balance;
}

/* A sample that was taken with a balance which is no longer is dropped. */
void
gpb_mirror_balance_sample(const GpbMirrorRef *ref, GpbBalance then, double device_us,
						  double cpu_us)
{
	GpbBalance	next = gpb_balance_next(then, device_us, cpu_us);
	uint64		from;
	uint64		to;

	memcpy(&from, &then, sizeof(from));
	memcpy(&to, &next, sizeof(to));
	if (gpb_mirror_is_live(ref->slot, ref->generation))
		(void) pg_atomic_compare_exchange_u64(&gpb_shared->mirrors[ref->slot].balance, &from, to);
}

/*
 * Let the map cover nblocks.  The caller owns the mirror's refresh and holds no
 * LWLock.  False if other mirrors cannot make room.
 */
bool
gpb_registry_grow(int slot, BlockNumber nblocks)
{
	uint32		nsegments = gpb_map_segments_for(nblocks);
	int			attempt;

	if (pg_atomic_read_u32(&gpb_shared->mirrors[slot].nsegments) >= nsegments)
		return true;
	if (nsegments > gpb_map_segments_total())
		return false;
	for (attempt = 0; attempt < GPB_MIRRORS; attempt++)
	{
		bool		grown;

		LWLockAcquire(gpb_shared->registry_lock, LW_EXCLUSIVE);
		grown = gpb_map_grow(slot, nsegments);
		LWLockRelease(gpb_shared->registry_lock);
		if (grown)
			return true;
		if (!gpb_mirror_available() || !gpb_registry_free_one(slot))
			return false;
	}
	return false;
}

uint64
gpb_mirror_epoch(const GpbMirrorRef *ref)
{
	uint64		epoch = pg_atomic_read_u64(&gpb_shared->mirrors[ref->slot].epoch);

	pg_memory_barrier();
	return gpb_mirror_is_live(ref->slot, ref->generation) ? epoch : 0;
}

/* ---- ownership of a refresh ---- */

/*
 * One refresh at a time (rule M3).  An atomic, not an LWLock: the owner waits for the service and
 * must stay cancellable.  The service takes it, too, before it takes a discarded mirror's
 * segments away.
 */
bool
gpb_own_try(int slot)
{
	uint32		nobody = 0;

	return pg_atomic_compare_exchange_u32(&gpb_shared->mirrors[slot].owner, &nobody,
										  MyProc->pgprocno + 1);
}

/*
 * Wait for ownership; cancellable; no LWLock held.  False: the service hangs, which the owner may be, or be
 * waiting for.
 */
bool
gpb_own(int slot)
{
	ConditionVariable *cv = &gpb_shared->mirrors[slot].owner_cv;
	GpbServiceWait wait;
	bool		owned;

	if (gpb_own_try(slot))
		return true;
	ConditionVariablePrepareToSleep(cv);
	gpb_service_wait_begin(&wait);
	while (!(owned = gpb_own_try(slot)) && !gpb_service_hangs(&wait))
		ConditionVariableTimedSleep(cv, gpb_service_wait_ms(&wait), PG_WAIT_EXTENSION);
	ConditionVariableCancelSleep();
	return owned;
}

void
gpb_disown(int slot)
{
	GpbMirrorSlot *mirror = &gpb_shared->mirrors[slot];

	Assert(pg_atomic_read_u32(&mirror->owner) == MyProc->pgprocno + 1);
	pg_memory_barrier();
	pg_atomic_write_u32(&mirror->owner, 0);
	pg_memory_barrier();
	ConditionVariableSignal(&mirror->owner_cv);
	/* the service may have been waiting for us to free it */
	if (pg_atomic_read_u32(&mirror->state) == GPB_MIRROR_DISCARDED)
		gpb_announce_discard();
}
