/*-------------------------------------------------------------------------
 *
 * slots.c
 *	  Request slots and their staging, and whose they are.
 *
 * A slot and its staging belong to the backend while CLAIMED or DONE, and to the service from
 * SUBMITTED until it sets DONE.  A backend that leaves in between (cancel, exit, service gone or
 * hanging) marks the slot ABANDONED; only the service frees it then, when nothing reads or writes
 * the staging any more (rules M3, M9).
 *
 * 	 FREE -> CLAIMED -> SUBMITTED -> RUNNING -> DONE -> CLAIMED ... -> FREE
 * 						    \-----------+--> ABANDONED -> FREE (service)
 *
 * A request names the incarnation of the service that it is meant for.  A service refuses requests
 * meant for its predecessor, and at its start frees what the predecessor had: by then the
 * postmaster has reaped that process, and with it the transfers of its device.
 *
 * A query slot's staging, units of the pool, goes with the slot: whoever frees the slot frees the
 * units, and nobody else does.  So units have the slot's life cycle and no other.  The slot's
 * reference to a map image (map_image.c) goes in the same way.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/slots.h"

#include "miscadmin.h"
#include "storage/shmem.h"

#include "hold.h"
#include "mirror/map_image.h"
#include "mirror/pool.h"
#include "mirror/service_state.h"
#include "mirror/settings.h"

/*
 * The slots of a class.  Slots and staging of all classes, and the pool, are one page-aligned
 * region, which the service registers with its device.
 */
typedef struct GpbSlotArray
{
	int			count;
	Size		staging_size;
	GpbRequestSlot *slots;		/* each padded to GPB_SLOT_STRIDE */
	char	   *staging;
} GpbSlotArray;

#define GPB_SLOT_STRIDE CACHELINEALIGN(sizeof(GpbRequestSlot))
#define GPB_REGION_ALIGN	((Size) BLCKSZ)
/* Builds may keep one of so many query slots, and of so many units. */
#define GPB_SORTS_SHARE		4

static GpbSlotArray classes[GPB_SLOT_CLASSES];
static char *region = NULL;
static char *joined_staging = NULL;
static Size region_size = 0;
static ConditionVariable *freed_cv = NULL;	/* by class; in shared memory */

/* ---- shared memory ---- */

static void
slots_measure(void)
{
	int			class;

	classes[GPB_REFRESH_SLOT].count = gpb_refresh_slots;
	/* one page more for block numbers, so that the pages of a transfer are a round number */
	classes[GPB_REFRESH_SLOT].staging_size =
		TYPEALIGN(GPB_REGION_ALIGN, (Size) gpb_staging_size * 1024) + BLCKSZ;
	classes[GPB_QUERY_SLOT].count = gpb_batch_slots;
	classes[GPB_QUERY_SLOT].staging_size = 0;

	region_size = add_size(gpb_pool_size(), GPB_JOINED_BUFFERS * GPB_JOINED_STAGING);
	for (class = 0; class < GPB_SLOT_CLASSES; class++)
		region_size = add_size(region_size,
							   mul_size(classes[class].count,
										add_size(classes[class].staging_size,
												 GPB_SLOT_STRIDE)));
	region_size = TYPEALIGN(GPB_REGION_ALIGN, region_size);
}

Size
gpb_slots_shmem_size(void)
{
	slots_measure();
	return add_size(add_size(region_size, GPB_REGION_ALIGN),
					MAXALIGN(GPB_SLOT_CLASSES * sizeof(ConditionVariable)));
}

static void
slot_init(GpbRequestSlot *slot)
{
	memset(slot, 0, sizeof(*slot));
	pg_atomic_init_u32(&slot->state, GPB_SLOT_FREE);
	pg_atomic_init_u32(&slot->sleeps, 0);
}

/* Lay out the region: staging and pool come first, which keeps them aligned to pages. */
void
gpb_slots_init_shmem(void)
{
	bool		found;
	char	   *p;
	int			class;
	int			i;

	p = ShmemInitStruct("gpubtree requests", gpb_slots_shmem_size(), &found);
	freed_cv = (ConditionVariable *) p;
	p += MAXALIGN(GPB_SLOT_CLASSES * sizeof(ConditionVariable));
	p = (char *) TYPEALIGN(GPB_REGION_ALIGN, p);
	region = p;
	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		classes[class].staging = p;
		p += classes[class].count * classes[class].staging_size;
	}
	gpb_pool_set_memory(p);
	p += gpb_pool_size();
	joined_staging = p;
	p += GPB_JOINED_BUFFERS * GPB_JOINED_STAGING;
	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		classes[class].slots = (GpbRequestSlot *) p;
		p += classes[class].count * GPB_SLOT_STRIDE;
	}
	if (found)
		return;
	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		ConditionVariableInit(&freed_cv[class]);
		for (i = 0; i < classes[class].count; i++)
			slot_init(gpb_slot_at(class, i));
	}
}

void
gpb_slots_region(void **base, Size *size)
{
	*base = region;
	*size = region_size;
}

int
gpb_slot_count(GpbSlotClass class)
{
	return classes[class].count;
}

GpbRequestSlot *
gpb_slot_at(GpbSlotClass class, int number)
{
	return (GpbRequestSlot *) ((char *) classes[class].slots + number * GPB_SLOT_STRIDE);
}

int
gpb_sorts_at_most(void)
{
	return Min(classes[GPB_QUERY_SLOT].count, (int) gpb_pool_units()) / GPB_SORTS_SHARE;
}

uint32
gpb_sort_units(void)
{
	int			most = gpb_sorts_at_most();

	return most == 0 ? 0 : gpb_pool_units() / GPB_SORTS_SHARE / most;
}

char *
gpb_slot_staging(GpbSlotClass class, int number)
{
	return classes[class].staging + number * classes[class].staging_size;
}

Size
gpb_slot_staging_size(GpbSlotClass class)
{
	return classes[class].staging_size;
}

char *
gpb_joined_staging(int buffer)
{
	return joined_staging + buffer * GPB_JOINED_STAGING;
}

ConditionVariable *
gpb_slot_freed_cv(GpbSlotClass class)
{
	return &freed_cv[class];
}

/* ---- both sides ---- */

static bool
slot_change(GpbRequestSlot *slot, GpbSlotState from, GpbSlotState to)
{
	uint32		expected = from;

	return pg_atomic_compare_exchange_u32(&slot->state, &expected, to);
}

/*
 * Free a slot, with its units and its map image.  Called by whoever the slot belongs to; no LWLock
 * held.
 */
void
gpb_slot_free(GpbSlotClass class, GpbRequestSlot *slot)
{
	if (slot->image != 0)
		gpb_map_image_leave(slot);
	if (slot->nunits > 0)
		gpb_pool_give_back(slot);
	pg_memory_barrier();
	pg_atomic_write_u32(&slot->state, GPB_SLOT_FREE);
	pg_memory_barrier();
	ConditionVariableSignal(gpb_slot_freed_cv(class));
}

/* ---- the backend's side ---- */

GpbRequestSlot *
gpb_slot_try_claim(GpbSlotClass class, int *number)
{
	static int	last[GPB_SLOT_CLASSES] = {-1, -1};
	int			count = classes[class].count;
	int			i;

	/* What this backend had last is likely to be free, and its neighbours to be others'. */
	if (last[class] < 0)
		last[class] = MyProcPid % count;
	for (i = 0; i < count; i++)
	{
		int			n = (last[class] + i) % count;
		GpbRequestSlot *slot = gpb_slot_at(class, n);

		if (pg_atomic_read_u32(&slot->state) == GPB_SLOT_FREE &&
			slot_change(slot, GPB_SLOT_FREE, GPB_SLOT_CLAIMED))
		{
			last[class] = *number = n;
			return slot;
		}
	}
	return NULL;
}

void
gpb_slot_give_back(GpbSlotClass class, GpbRequestSlot *slot)
{
	for (;;)
	{
		uint32		state = pg_atomic_read_u32(&slot->state);

		if (state == GPB_SLOT_CLAIMED || state == GPB_SLOT_DONE)
		{
			gpb_slot_free(class, slot);
			return;
		}
		Assert(state == GPB_SLOT_SUBMITTED || state == GPB_SLOT_RUNNING);
		if (slot_change(slot, state, GPB_SLOT_ABANDONED))
		{
			gpb_wake_service();
			return;
		}
	}
}

/* ---- the service's side ---- */

bool
gpb_slot_take(GpbRequestSlot *slot)
{
	return pg_atomic_read_u32(&slot->state) == GPB_SLOT_SUBMITTED &&
		slot_change(slot, GPB_SLOT_SUBMITTED, GPB_SLOT_RUNNING);
}

void
gpb_slot_answer(GpbSlotClass class, GpbRequestSlot *slot, bool ok)
{
	uint32		pgprocno = slot->pgprocno;

	INSTR_TIME_SET_CURRENT(slot->answered);
	slot->ok = ok;
	slot->answered_generation = slot->generation;
	/*
	 * Who sleeps has said so before looking at the state for the last time; the exchange is a full
	 * barrier.
	 */
	GPB_HOLD_SERVICE("answer");
	if (!slot_change(slot, GPB_SLOT_RUNNING, GPB_SLOT_DONE))
		gpb_slot_free(class, slot);
	else if (pg_atomic_read_u32(&slot->sleeps) != 0)
		gpb_wake_process(pgprocno);
}

/*
 * Free what an earlier service left, whose process and device context no longer exist; a backend
 * that still waits for it gets a refusal.  A service does this at its start, and one without a
 * device whenever it is woken: a request made for its predecessor may be submitted late.
 */
void
gpb_slots_reclaim(void)
{
	int			class;
	int			i;

	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		for (i = 0; i < classes[class].count; i++)
		{
			GpbRequestSlot *slot = gpb_slot_at(class, i);

			if (slot_change(slot, GPB_SLOT_SUBMITTED, GPB_SLOT_RUNNING) ||
				pg_atomic_read_u32(&slot->state) == GPB_SLOT_RUNNING)
				gpb_slot_answer(class, slot, false);
			else if (pg_atomic_read_u32(&slot->state) == GPB_SLOT_ABANDONED)
				gpb_slot_free(class, slot);
		}
	}
}

/*
 * Wake every backend that waits for the service, which is going: each looks whether its incarnation
 * is still there.
 */
void
gpb_slots_wake_all(void)
{
	int			class;
	int			i;

	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		for (i = 0; i < classes[class].count; i++)
		{
			GpbRequestSlot *slot = gpb_slot_at(class, i);
			uint32		state = pg_atomic_read_u32(&slot->state);

			if (state == GPB_SLOT_SUBMITTED || state == GPB_SLOT_RUNNING)
				gpb_wake_process(slot->pgprocno);
		}
		ConditionVariableBroadcast(gpb_slot_freed_cv(class));
	}
}
