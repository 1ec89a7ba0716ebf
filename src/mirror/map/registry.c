/*-------------------------------------------------------------------------
 *
 * registry.c
 *	  Which indexes are mirrored: slots, tags, identities, discarding.
 *
 * Life of a slot: FREE -> (a backend attaches, attach.c) LIVE -> (anyone) DISCARDED -> (its
 * device's service, once nobody owns a refresh of it) FREE.  A discarded mirror is never revived; a
 * new one has a new generation, and the service refuses whoever still holds a reference to the old
 * one.
 *
 * "live" state and tag go together: discarding clears the state first, so that a launch which finds
 * the state live *after* having read the changed map knows that all markers up to that reading had
 * found the tag (in_flight.c).
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/map/registry.h"

#include "storage/shmem.h"

#include "mirror/service_state.h"

GpbRegistry *gpb_registry = NULL;

Size
gpb_registry_size(void)
{
	return MAXALIGN(sizeof(GpbRegistry));
}

static void
init_slot(GpbMirrorSlot *mirror)
{
	pg_atomic_init_u32(&mirror->state, GPB_MIRROR_FREE);
	pg_atomic_init_u32(&mirror->mode, GPB_MIRROR_FULL);
	pg_atomic_init_u64(&mirror->generation, 0);
	pg_atomic_init_u32(&mirror->owner, 0);
	pg_atomic_init_u32(&mirror->begun, 0);
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
	pg_atomic_init_u64(&mirror->queried, 0);
	pg_atomic_init_u64(&mirror->passed, 0);
	pg_atomic_init_u32(&mirror->left_over, 0);
	pg_atomic_init_u64(&mirror->rent, 0);
}

void
gpb_registry_init_shmem(LWLock *lock)
{
	bool		found;
	GpbRegistry *registry = ShmemInitStruct("gpubtree mirrors", gpb_registry_size(), &found);
	int			i;

	if (!found)
	{
		memset(registry, 0, sizeof(*registry));
		registry->lock = lock;
		pg_atomic_init_u64(&registry->epoch, 0);
		pg_atomic_init_u64(&registry->unlinks, 0);
		ConditionVariableInit(&registry->freed_cv);
		pg_atomic_init_u32(&registry->tag_limit, 0);
		pg_atomic_init_u32(&registry->piece_limit, 0);
		for (i = 0; i < GPB_MIRRORS; i++)
		{
			pg_atomic_init_u64(&registry->tags[i], 0);
			init_slot(&registry->mirrors[i]);
		}
	}
	gpb_registry = registry;
}

/* ---- look-up without a lock ---- */

/* Mix the bits of h; one to one: every bit of the result depends on every bit of h. */
static inline uint64
mix64(uint64 h)
{
	h = (h ^ (h >> 30)) * UINT64CONST(0xBF58476D1CE4E5B9);
	h = (h ^ (h >> 27)) * UINT64CONST(0x94D049BB133111EB);
	return h ^ (h >> 31);
}

/*
 * The tag of a file: never 0.  Live mirrors with one tag are pieces of one index, and of one
 * identity (see attach.c).
 */
static uint64
file_tag(const RelFileNode *file)
{
	uint64		numbers = ((uint64) file->dbNode << 32) | file->relNode;

	return mix64(numbers ^ mix64(file->spcNode)) | 1;
}

int
gpb_mirror_find_from(const RelFileNode *file, int from)
{
	uint32		limit;
	uint64		tag;
	uint32		i;

	if (gpb_registry == NULL)
		return GPB_NOT_MIRRORED;
	limit = pg_atomic_read_u32(&gpb_registry->tag_limit);
	if (from >= (int) limit)
		return GPB_NOT_MIRRORED;
	tag = file_tag(file);
	for (i = from; i < limit; i++)
	{
		if (pg_atomic_read_u64(&gpb_registry->tags[i]) == tag)
			return (int) i;
	}
	return GPB_NOT_MIRRORED;
}

int
gpb_mirror_find(const RelFileNode *file)
{
	return gpb_mirror_find_from(file, 0);
}

/* ---- identity ---- */

bool
gpb_identity_equal(const GpbIdentity *a, const GpbIdentity *b)
{
	return RelFileNodeEquals(a->file, b->file) && a->index == b->index &&
		a->database_xmin == b->database_xmin;
}

int
gpb_registry_next(const GpbIdentity *identity, int from)
{
	int			slot;

	for (slot = gpb_mirror_find_from(&identity->file, from); slot != GPB_NOT_MIRRORED;
		 slot = gpb_mirror_find_from(&identity->file, slot + 1))
	{
		if (pg_atomic_read_u32(&gpb_registry->mirrors[slot].state) == GPB_MIRROR_LIVE &&
			gpb_identity_equal(&gpb_registry->mirrors[slot].identity, identity))
			return slot;
	}
	return GPB_NOT_MIRRORED;
}

int
gpb_registry_next_piece(const GpbIdentity *identity, int from)
{
	int			slot = gpb_registry_next(identity, from);

	return slot != GPB_NOT_MIRRORED &&
		pg_atomic_read_u32(&gpb_registry->mirrors[slot].mode) == GPB_MIRROR_PIECE ?
		slot : GPB_NOT_MIRRORED;
}

/* Pieces stand in the place of any other mirror, so the first that is found tells. */
int
gpb_registry_lookup(const GpbIdentity *identity)
{
	int			slot = gpb_registry_next(identity, 0);

	return slot != GPB_NOT_MIRRORED &&
		pg_atomic_read_u32(&gpb_registry->mirrors[slot].mode) == GPB_MIRROR_PIECE ?
		GPB_NOT_MIRRORED : slot;
}

/* ---- publish and discard ---- */

/*
 * Publish the new mirror in a slot, whose fields are filled in and whose segments have all bits
 * set: from here on it can be found (rule M2).  Registry lock held exclusively; no live mirror has
 * this file's tag, unless both are pieces.
 */
void
gpb_registry_publish(int slot)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];

	Assert(LWLockHeldByMeInMode(gpb_registry->lock, LW_EXCLUSIVE));
	pg_atomic_fetch_add_u64(&mirror->generation, 1);
	pg_memory_barrier();
	pg_atomic_write_u32(&mirror->state, GPB_MIRROR_LIVE);
	if (pg_atomic_read_u32(&mirror->mode) == GPB_MIRROR_PIECE &&
		pg_atomic_read_u32(&gpb_registry->piece_limit) < slot + 1)
		pg_atomic_write_u32(&gpb_registry->piece_limit, slot + 1);
	pg_memory_barrier();
	pg_atomic_write_u64(&gpb_registry->tags[slot], file_tag(&mirror->identity.file));
	if (pg_atomic_read_u32(&gpb_registry->tag_limit) < slot + 1)
		pg_atomic_write_u32(&gpb_registry->tag_limit, slot + 1);
	pg_memory_barrier();
}

/* Tell a device's service that there may be mirrors to free. */
void
gpb_announce_discard(int device)
{
	pg_atomic_fetch_add_u32(&gpb_services[device].discards, 1);
	gpb_wake_service(device);
}

/* Discard the mirror in a slot, if it is live.  Registry lock held exclusively. */
void
gpb_registry_discard(int slot)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];

	Assert(LWLockHeldByMeInMode(gpb_registry->lock, LW_EXCLUSIVE));
	if (pg_atomic_read_u32(&mirror->state) != GPB_MIRROR_LIVE)
		return;
	pg_atomic_write_u32(&mirror->state, GPB_MIRROR_DISCARDED);
	pg_memory_barrier();
	pg_atomic_write_u64(&gpb_registry->tags[slot], 0);
	gpb_announce_discard(mirror->device);
}

void
gpb_note_unlink(void)
{
	if (gpb_registry != NULL)
		pg_atomic_fetch_add_u64(&gpb_registry->unlinks, 1);
}

uint64
gpb_unlinks_noted(void)
{
	return gpb_registry == NULL ? 0 : pg_atomic_read_u64(&gpb_registry->unlinks);
}

/* Discard all mirrors with a file's tag.  Registry lock held exclusively. */
static void
discard_file(const RelFileNode *file)
{
	int			slot;

	for (slot = gpb_mirror_find(file); slot != GPB_NOT_MIRRORED;
		 slot = gpb_mirror_find_from(file, slot + 1))
		gpb_registry_discard(slot);
}

/* Discard the mirrors of a file, if there is one. */
void
gpb_mirror_forget(const RelFileNode *file)
{
	if (gpb_mirror_find(file) == GPB_NOT_MIRRORED)
		return;
	LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
	discard_file(file);
	LWLockRelease(gpb_registry->lock);
}

/* Is there a live mirror of this index in this slot?  Registry lock held. */
static bool
slot_is_of_index(int slot, Oid database, Oid index)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];

	return pg_atomic_read_u32(&mirror->state) == GPB_MIRROR_LIVE &&
		mirror->identity.index == index && mirror->identity.file.dbNode == database;
}

/* Has there ever been a mirror?  Cheap. */
bool
gpb_mirror_was_used(void)
{
	return gpb_registry != NULL && pg_atomic_read_u32(&gpb_registry->tag_limit) > 0;
}

/* Is there a mirror of any file that the index has or had? */
static bool
registry_has_index(Oid database, Oid index)
{
	bool		found = false;
	int			slot;

	if (!gpb_mirror_was_used())
		return false;
	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	for (slot = 0; slot < GPB_MIRRORS && !found; slot++)
		found = slot_is_of_index(slot, database, index);
	LWLockRelease(gpb_registry->lock);
	return found;
}

/*
 * Discard the mirrors of the files that the index has and had; was there one?  No LWLock
 * held on entry or exit.
 */
bool
gpb_mirror_drop_index(Oid database, Oid index)
{
	bool		found = false;
	int			slot;

	if (!registry_has_index(database, index))
		return false;
	LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
	for (slot = 0; slot < GPB_MIRRORS; slot++)
	{
		if (!slot_is_of_index(slot, database, index))
			continue;
		gpb_registry_discard(slot);
		found = true;
	}
	LWLockRelease(gpb_registry->lock);
	return found;
}

/* Discard the mirrors of a database. */
void
gpb_mirror_drop_database(Oid database)
{
	int			slot;

	LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
	for (slot = 0; slot < GPB_MIRRORS; slot++)
	{
		if (gpb_registry->mirrors[slot].identity.file.dbNode == database)
			gpb_registry_discard(slot);
	}
	LWLockRelease(gpb_registry->lock);
}

/*
 * Discard the mirrors that stand in the place of an index's mirror: a mirror of its file under
 * another identity, or of another file with an equal tag; and, to free their memory, the mirrors of
 * files that the index had before (REINDEX and TRUNCATE give it another one).  Registry lock held
 * exclusively.
 */
void
gpb_registry_discard_former(const GpbIdentity *identity)
{
	int			slot;

	discard_file(&identity->file);
	for (slot = 0; slot < GPB_MIRRORS; slot++)
	{
		if (slot_is_of_index(slot, identity->file.dbNode, identity->index))
			gpb_registry_discard(slot);
	}
}

uint64
gpb_mirror_epoch(const GpbMirrorRef *ref)
{
	uint64		epoch = pg_atomic_read_u64(&gpb_registry->mirrors[ref->slot].epoch);

	pg_memory_barrier();
	return gpb_mirror_is_live(ref->slot, ref->generation) ? epoch : 0;
}
