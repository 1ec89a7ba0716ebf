/*-------------------------------------------------------------------------
 *
 * room.c
 *	  Tests of mirror/map/eviction.c and placement.c: which mirror makes room for another one, with
 *	  pieces of indexes among them, and for which new ones there is room beside all.
 *
 * usage: room_test; ends with "N passed, N failed".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <stdlib.h>

#include "storage/shmem.h"

#include "mirror/heartbeat.h"
#include "mirror/map/changed_map.h"
#include "mirror/map/eviction.h"
#include "mirror/map/placement.h"
#include "mirror/map/refusals.h"
#include "mirror/service_state.h"
#include "mirror/settings.h"
#include "waits.h"

/* The C library's, not PostgreSQL's */
#undef printf
#include "verdict.h"

/* ---- what the sources call ---- */

#define DEVICES		2
#define MEMORY		1000		/* blocks of each device */
#define SEGMENT		400			/* blocks of the changed map that a segment covers */

static GpbServiceState services[DEVICES];
static uint32 segments = 1000;

int			gpb_devices = DEVICES;
int			gpb_max_mirror_size = 0;
GpbServiceState *gpb_services = services;
uint32		gpb_waits[GPB_WAITS];

void *
ShmemInitStruct(const char *name, Size size, bool *found)
{
	*found = false;
	return malloc(size);
}

uint64
gpb_device_memory_limit(int device)
{
	return (uint64) MEMORY * BLCKSZ;
}

bool
gpb_service_serves(int device)
{
	return true;
}

bool
gpb_is_refused(const GpbIdentity *identity, GpbMirrorMode mode, int device)
{
	return false;
}

uint32
gpb_map_segments_for(BlockNumber nblocks)
{
	return (nblocks + SEGMENT - 1) / SEGMENT;
}

uint32
gpb_map_segments_total(void)
{
	return segments;
}

/* Nobody waits for a lock or a service here. */
void
gpb_wake_service(int device)
{
}

bool
gpb_mirror_available(void)
{
	return true;
}

bool
gpb_map_grow(int slot, uint32 nsegments)
{
	return false;
}

void
gpb_service_wait_begin(GpbServiceWait *wait, int device)
{
}

long
gpb_service_wait_ms(const GpbServiceWait *wait)
{
	return 0;
}

bool
gpb_service_hangs(GpbServiceWait *wait)
{
	return true;
}

bool
LWLockAcquire(LWLock *lock, LWLockMode mode)
{
	return true;
}

void
LWLockRelease(LWLock *lock)
{
}

void
ConditionVariableInit(ConditionVariable *cv)
{
}

void
ConditionVariablePrepareToSleep(ConditionVariable *cv)
{
}

bool
ConditionVariableTimedSleep(ConditionVariable *cv, long timeout, uint32 wait_event_info)
{
	return true;
}

/* It has an answer since 17. */
__typeof__(ConditionVariableCancelSleep())
ConditionVariableCancelSleep(void)
{
	return (__typeof__(ConditionVariableCancelSleep())) 0;
}

/* ---- the registry ---- */

static GpbIdentity
identity_of(Oid index)
{
	GpbIdentity identity = {.file = {.spcNode = 1, .dbNode = 2, .relNode = index}, .index = index};

	return identity;
}

/* Put a mirror of so many blocks of an index into a free slot; one put before was used before. */
static int
put(Oid index, GpbMirrorMode mode, int device, BlockNumber nblocks)
{
	static uint64 now = 0;
	GpbMirrorSlot *mirror;
	int			slot = 0;

	while (pg_atomic_read_u32(&gpb_registry->mirrors[slot].state) != GPB_MIRROR_FREE)
		slot++;
	mirror = &gpb_registry->mirrors[slot];
	mirror->identity = identity_of(index);
	mirror->device = device;
	mirror->expected = (uint64) nblocks * BLCKSZ;
	pg_atomic_write_u32(&mirror->mode, mode);
	pg_atomic_write_u32(&mirror->nsegments, gpb_map_segments_for(nblocks));
	pg_atomic_write_u64(&mirror->last_used, ++now);
	gpb_registry_publish(slot);
	return slot;
}

static bool
is_live(int slot)
{
	return pg_atomic_read_u32(&gpb_registry->mirrors[slot].state) == GPB_MIRROR_LIVE;
}

/* Discard all mirrors, and free their slots. */
static void
empty_registry(void)
{
	int			slot;

	for (slot = 0; slot < GPB_MIRRORS; slot++)
	{
		gpb_registry_discard(slot);
		pg_atomic_write_u32(&gpb_registry->mirrors[slot].state, GPB_MIRROR_FREE);
		pg_atomic_write_u32(&gpb_registry->mirrors[slot].nsegments, 0);
	}
}

/* ---- who makes room ---- */

static void
test_eviction(void)
{
	int			first = put(10, GPB_MIRROR_PIECE, 0, 100);
	int			second = put(10, GPB_MIRROR_PIECE, 0, 100);
	int			third = put(10, GPB_MIRROR_PIECE, 1, 100);
	int			other;
	int			whole;

	verdict(gpb_registry_least_used(0, second, 0) == GPB_NOT_MIRRORED,
			"no piece makes room for another one of its index on a device");
	verdict(gpb_registry_least_used(GPB_ANY_DEVICE, second, 0) == GPB_NOT_MIRRORED,
			"nor on any");
	verdict(!gpb_registry_free_one(second, 0) && is_live(first) && is_live(second) &&
			is_live(third), "so an index whose map grows loses none");
	verdict(gpb_registry_least_used(GPB_ANY_DEVICE, GPB_NOT_MIRRORED, 0) == first,
			"for a new mirror that used longest ago does");

	other = put(20, GPB_MIRROR_PIECE, 1, 100);
	whole = put(30, GPB_MIRROR_FULL, 1, 100);
	verdict(gpb_registry_least_used(0, other, 0) == first, "and for a piece of another index");
	verdict(gpb_registry_least_used(1, third, 0) == other, "that makes room for a piece, too");
	verdict(gpb_registry_least_used(1, whole, 0) == third, "as for a mirror of all pages");
	verdict(gpb_registry_least_used(1, other, 0) == third && gpb_registry_free_one(other, 0) &&
			!is_live(first) && !is_live(second) && !is_live(third),
			"an index loses all its pieces, on all devices");
	verdict(is_live(other) && is_live(whole), "and no other one does");
	verdict(gpb_registry_least_used(1, other, 0) == whole,
			"a mirror of all pages makes room for a piece");
	empty_registry();
}

/* ---- for whom there is room ---- */

static bool
has_room(GpbMirrorMode mode, BlockNumber nblocks)
{
	GpbIdentity identity = identity_of(1);

	return gpb_has_room(&identity, mode, nblocks);
}

static void
test_room(void)
{
	int			i;

	verdict(has_room(GPB_MIRROR_FULL, MEMORY), "an empty device has room for what it can hold");
	verdict(!has_room(GPB_MIRROR_FULL, MEMORY + 1), "and for no more");
	verdict(has_room(GPB_MIRROR_PIECE, 3 * MEMORY / 2), "two have for pieces");
	verdict(!has_room(GPB_MIRROR_PIECE, 2 * MEMORY), "of no more than fit both");
	verdict(!has_room(GPB_MIRROR_INNER_ONLY, MEMORY), "inner nodes alone are not made ahead");

	(void) put(10, GPB_MIRROR_FULL, 1, 300);
	verdict(has_room(GPB_MIRROR_FULL, MEMORY), "a mirror on one leaves the other");
	verdict(has_room(GPB_MIRROR_PIECE, 2 * 700), "pieces get what is left beside it");
	verdict(!has_room(GPB_MIRROR_PIECE, 2 * 701), "and no mirror makes room for them");
	i = put(10, GPB_MIRROR_FULL, 0, 500);
	verdict(!has_room(GPB_MIRROR_FULL, 701) && has_room(GPB_MIRROR_FULL, 700),
			"nor for one of all pages");
	verdict(!has_room(GPB_MIRROR_PIECE, 2 * 501),
			"each piece has room on its own device, or none is made");
	gpb_registry_discard(i);
	verdict(has_room(GPB_MIRROR_PIECE, 2 * 700), "a mirror that was discarded takes none");
	empty_registry();

	segments = 2 * gpb_map_segments_for(1500);
	verdict(has_room(GPB_MIRROR_PIECE, 1500), "each piece has a map of the whole index");
	(void) put(10, GPB_MIRROR_FULL, 0, 1);
	verdict(!has_room(GPB_MIRROR_PIECE, 1500) && has_room(GPB_MIRROR_FULL, MEMORY),
			"so two take segments twice");
	empty_registry();
	segments = 1000;

	for (i = 0; i < GPB_MIRRORS - 1; i++)
		(void) put(10 + i, GPB_MIRROR_FULL, 0, 0);
	verdict(!has_room(GPB_MIRROR_PIECE, 1500) && has_room(GPB_MIRROR_FULL, MEMORY),
			"and two slots");
	empty_registry();
}

int
main(void)
{
	LWLock		lock;

	gpb_registry_init_shmem(&lock);
	test_eviction();
	test_room();
	return print_sums();
}
