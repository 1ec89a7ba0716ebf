/*-------------------------------------------------------------------------
 *
 * registry.h
 *	  Which indexes are mirrored; see registry.c.
 *
 * The registry lies in shared memory and is empty again after a crash restart.  Lock order: buffer
 * content locks first, then the registry lock, then the lock of service_state.h; nothing after
 * that.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_REGISTRY_H
#define GPB_REGISTRY_H

#include "compat.h"

#include "port/atomics.h"
#include "storage/condition_variable.h"
#include "storage/lwlock.h"

#include "mirror/mark.h"
#include "mirror/mirror.h"

typedef enum GpbMirrorState
{
	GPB_MIRROR_FREE = 0,
	GPB_MIRROR_LIVE,
	GPB_MIRROR_DISCARDED		/* not to be used; its device's service frees it */
} GpbMirrorState;

/* What of an index is mirrored; as long as a mirror lives */
typedef enum GpbMirrorMode
{
	GPB_MIRROR_FULL = 0,		/* all pages */
	GPB_MIRROR_INNER_ONLY,		/* the pages of level 1 */
	GPB_MIRROR_PIECE			/* the pages of level 1, and the leaves of a range of keys */
} GpbMirrorMode;

#define GPB_MIRROR_MODES	(GPB_MIRROR_PIECE + 1)

/* What a mirror is the mirror of (rule M1) */
typedef struct GpbIdentity
{
	RelFileNode file;
	Oid			index;
	TransactionId database_xmin;	/* raw xmin of the pg_database row */
} GpbIdentity;

/*
 * A registry slot.  What stands before the state changes under the exclusive registry lock while
 * the slot is free; state too, but is read without it.  Segments are added by the owner of the
 * refresh and taken away by the service, both under the exclusive lock and only while they hold
 * "owner".
 */
typedef struct GpbMirrorSlot
{
	GpbIdentity identity;
	GpbLayout	layout;
	int			device;			/* that has it */
	uint64		expected;		/* bytes that it was thought to need there */
	GpbRange	range;			/* of a piece: whole keys; else all */
	double		share;			/* about how much of the index that is: 0 to 1 */
	pg_atomic_uint32 state;		/* GpbMirrorState */
	pg_atomic_uint32 mode;		/* GpbMirrorMode */
	pg_atomic_uint64 generation;	/* one more for each mirror in the slot */
	pg_atomic_uint32 owner;		/* who refreshes: pgprocno + 1, or 0 */
	pg_atomic_uint32 begun;		/* has a refresh begun to send pages?  by the owner */
	ConditionVariable owner_cv;
	pg_atomic_uint32 nsegments;
	pg_atomic_uint32 nblocks;	/* of the index at the last refresh */
	pg_atomic_uint64 epoch;		/* published (rule M5); 0: never refreshed */
	pg_atomic_uint64 last_used; /* TimestampTz */
	pg_atomic_uint64 refreshes; /* refreshes that copied something */
	pg_atomic_uint64 leaves;	/* in the inner image */
	pg_atomic_uint64 memory;	/* bytes on the device */
	pg_atomic_uint32 inner_blocks;	/* level-1 pages at the last refresh, if inner-only */
	pg_atomic_uint64 stale_moves;	/* since the last refresh, see refresh_inner.c */
	pg_atomic_uint64 balance;	/* GpbBalance */
	pg_atomic_uint64 queried;	/* TimestampTz of the last query's use; 0: none */
	pg_atomic_uint64 passed;	/* TimestampTz when the refresher last saw all blocks; 0: never */
	pg_atomic_uint32 left_over; /* changed blocks that the refresher leaves, see refresh_due.c */
	pg_atomic_uint64 rent;		/* what queries have paid for these since the last refresh */
} GpbMirrorSlot;

typedef struct GpbRegistry
{
	LWLock	   *lock;
	pg_atomic_uint64 epoch;		/* last stamp given out; never reset (M5) */
	pg_atomic_uint64 unlinks;	/* deletions of pages that were replayed */
	ConditionVariable freed_cv; /* registry slots and segments were freed */

	/* lock-free look-up: tags of live mirrors in slots below tag_limit */
	pg_atomic_uint32 tag_limit;
	pg_atomic_uint64 tags[GPB_MIRRORS];
	pg_atomic_uint32 piece_limit;	/* pieces of indexes are and were in slots below it */

	GpbMirrorSlot mirrors[GPB_MIRRORS];
} GpbRegistry;

extern GpbRegistry *gpb_registry;	/* NULL until shared memory is there */

extern Size gpb_registry_size(void);
extern void gpb_registry_init_shmem(LWLock *lock);

/*
 * Serves a live mirror of that generation in the slot?  The state is read first: a later mirror of
 * the slot raised the generation before it became live.
 */
static inline bool
gpb_mirror_is_live(int slot, uint64 generation)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];

	if (pg_atomic_read_u32(&mirror->state) != GPB_MIRROR_LIVE)
		return false;
	pg_read_barrier();
	return pg_atomic_read_u64(&mirror->generation) == generation;
}

extern bool gpb_identity_equal(const GpbIdentity *a, const GpbIdentity *b);

/*
 * The slot of the live mirror of an identity that is no piece, or GPB_NOT_MIRRORED.  Registry lock
 * held.
 */
extern int	gpb_registry_lookup(const GpbIdentity *identity);
/* The first slot from "from" on that mirrors this file, or GPB_NOT_MIRRORED.  Lock-free. */
extern int	gpb_mirror_find_from(const RelFileNode *file, int from);
/* The first slot from "from" on with a live mirror of an identity, of whichever mode; so, too. */
extern int	gpb_registry_next(const GpbIdentity *identity, int from);
/* The next one that is a piece, likewise */
extern int	gpb_registry_next_piece(const GpbIdentity *identity, int from);

/* Publish a new mirror; discard a mirror.  Registry lock held exclusively. */
extern void gpb_registry_publish(int slot);
extern void gpb_registry_discard(int slot);
/*
 * Discard what stands in the place of an index's mirror, all pieces included.  Registry lock held
 * exclusively.
 */
extern void gpb_registry_discard_former(const GpbIdentity *identity);
/* Tell a device's service that there may be mirrors to free. */
extern void gpb_announce_discard(int device);

#endif							/* GPB_REGISTRY_H */
