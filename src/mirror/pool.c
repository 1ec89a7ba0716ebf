/*-------------------------------------------------------------------------
 *
 * pool.c
 *	  The staging of batches: shared memory handed out in spans of units.
 *
 * Each device has a pool, which is part of the region that its service registers with it.  A query
 * slot has one span of adjoining units or none, and the span goes when the slot is freed, by
 * whoever frees it (slots.c); so no unit is lost with a backend or a service.  Map images have
 * spans too, which go with their last user (map_image.c).
 *
 * A pool's lock is taken for a scan of its map and no longer.  It comes after all other locks, and
 * nothing is taken after it.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/pool.h"

#include "storage/shmem.h"

#include "mirror/devices.h"
#include "mirror/settings.h"

/* The map of the units.  Its lock protects all of it. */
typedef struct GpbPool
{
	LWLock	   *lock;
	ConditionVariable freed_cv;
	uint32		nunits;
	uint32		nfree;
	bool		taken[FLEXIBLE_ARRAY_MEMBER];
} GpbPool;

static char *pools = NULL;		/* pool_stride() bytes apart */
static char *pool_memory[GPB_MAX_DEVICES];

uint32
gpb_pool_units(void)
{
	return (uint32) ((Size) gpb_batch_memory * 1024 / GPB_POOL_UNIT);
}

/* Bytes of a pool's units themselves, which lie in the region of the request slots. */
Size
gpb_pool_size(void)
{
	return mul_size(gpb_pool_units(), GPB_POOL_UNIT);
}

/* Bytes of a map of units */
static Size
pool_stride(void)
{
	return CACHELINEALIGN(add_size(offsetof(GpbPool, taken), gpb_pool_units() * sizeof(bool)));
}

static GpbPool *
pool_of(int device)
{
	return (GpbPool *) (pools + device * pool_stride());
}

/* Bytes of the maps of the units. */
Size
gpb_pool_shmem_size(void)
{
	return mul_size(gpb_devices, pool_stride());
}

void
gpb_pool_init_shmem(LWLockPadded *locks)
{
	bool		found;
	int			device;

	pools = ShmemInitStruct("gpubtree batch staging", gpb_pool_shmem_size(), &found);
	if (found)
		return;
	memset(pools, 0, gpb_pool_shmem_size());
	for (device = 0; device < gpb_devices; device++)
	{
		GpbPool    *pool = pool_of(device);

		pool->lock = &locks[device].lock;
		ConditionVariableInit(&pool->freed_cv);
		pool->nunits = gpb_pool_units();
		pool->nfree = pool->nunits;
	}
}

/* Where the units lie: gpb_pool_size() bytes of the region that the service registers (slots.c). */
void
gpb_pool_set_memory(int device, char *memory)
{
	pool_memory[device] = memory;
}

ConditionVariable *
gpb_pool_freed_cv(int device)
{
	return &pool_of(device)->freed_cv;
}

char *
gpb_pool_staging(const GpbRequestSlot *slot)
{
	return pool_memory[slot->device] + slot->first_unit * GPB_POOL_UNIT;
}

/*
 * Find the first span of free units that is as long as wanted, else the longest span.  *first is
 * where it begins; returns its length.
 */
static uint32
pool_find_span(const GpbPool *pool, uint32 wanted, uint32 *first)
{
	uint32		best = 0;
	uint32		length = 0;
	uint32		i;

	for (i = 0; i < pool->nunits && best < wanted; i++)
	{
		length = pool->taken[i] ? 0 : length + 1;
		if (length > best)
		{
			best = length;
			*first = i + 1 - length;
		}
	}
	return best;
}

/* Are units [first, first + n) there and free? */
static bool
span_is_free(const GpbPool *pool, uint32 first, uint32 n)
{
	uint32		i;

	if (first + n > pool->nunits)
		return false;
	for (i = first; i < first + n; i++)
	{
		if (pool->taken[i])
			return false;
	}
	return true;
}

/*
 * Give the slot units for that many bytes, or fewer, so that half of what is free stays free for
 * others.  Returns false if none is free.  The slot is the caller's and has no units.
 */
bool
gpb_pool_take(GpbRequestSlot *slot, Size bytes)
{
	GpbPool    *pool = pool_of(slot->device);
	Size		asked = Max((bytes + GPB_POOL_UNIT - 1) / GPB_POOL_UNIT, 1);
	uint32		wanted;
	uint32		n;

	Assert(slot->nunits == 0);
	LWLockAcquire(pool->lock, LW_EXCLUSIVE);
	wanted = (uint32) Min(asked, (Size) Max(pool->nfree / 2, 1));
	/* What the slot had before is likely to be free, and found at once. */
	if (span_is_free(pool, slot->first_unit, wanted))
		n = wanted;
	else
		n = pool_find_span(pool, wanted, &slot->first_unit);
	memset(&pool->taken[slot->first_unit], true, n);
	pool->nfree -= n;
	slot->nunits = n;
	LWLockRelease(pool->lock);
	return n > 0;
}

static void
give_back(GpbPool *pool, uint32 first, uint32 n)
{
	LWLockAcquire(pool->lock, LW_EXCLUSIVE);
	memset(&pool->taken[first], false, n);
	pool->nfree += n;
	LWLockRelease(pool->lock);
	ConditionVariableBroadcast(&pool->freed_cv);
}

/* Take the slot's units away.  Nobody may read or write them any more. */
void
gpb_pool_give_back(GpbRequestSlot *slot)
{
	uint32		n = slot->nunits;

	slot->nunits = 0;
	give_back(pool_of(slot->device), slot->first_unit, n);
}

/* ---- spans of a size ---- */

/*
 * Take exactly nunits adjoining units, and leave at least as many free for slots.  Returns false,
 * with an empty span, if they cannot be had.
 */
bool
gpb_pool_take_span(int device, GpbPoolSpan *span, uint32 nunits)
{
	GpbPool    *pool = pool_of(device);
	bool		taken;

	span->device = device;
	span->nunits = 0;
	LWLockAcquire(pool->lock, LW_EXCLUSIVE);
	taken = nunits <= pool->nfree / 2 && pool_find_span(pool, nunits, &span->first) >= nunits;
	if (taken)
	{
		memset(&pool->taken[span->first], true, nunits);
		pool->nfree -= nunits;
		span->nunits = nunits;
	}
	LWLockRelease(pool->lock);
	return taken;
}

void
gpb_pool_give_back_span(GpbPoolSpan *span)
{
	uint32		n = span->nunits;

	span->nunits = 0;
	give_back(pool_of(span->device), span->first, n);
}

char *
gpb_pool_span_memory(const GpbPoolSpan *span)
{
	return pool_memory[span->device] + span->first * GPB_POOL_UNIT;
}

void
gpb_pool_status(uint32 *nunits, uint32 *nfree)
{
	int			device;

	*nunits = *nfree = 0;
	for (device = 0; device < gpb_devices; device++)
	{
		GpbPool    *pool = pool_of(device);

		LWLockAcquire(pool->lock, LW_SHARED);
		*nunits += pool->nunits;
		*nfree += pool->nfree;
		LWLockRelease(pool->lock);
	}
}
