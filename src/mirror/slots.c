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
 * Each device has slots of its own, and a pool, so what a service that hangs keeps is nobody
 * else's.  A request names the incarnation of the service that it is meant for.  A service refuses
 * requests meant for its predecessor, and at its start frees what the predecessor had: by then the
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

/* The slots that a device has of a class */
typedef struct GpbSlotArray
{
	GpbRequestSlot *slots;		/* each padded to GPB_SLOT_STRIDE */
	char	   *staging;
} GpbSlotArray;

/*
 * What is a device's: slots and staging of all classes, and the pool, are one page-aligned region,
 * which its service registers with the device.
 */
typedef struct GpbDeviceSlots
{
	char	   *region;
	char	   *joined_staging;
	GpbSlotArray classes[GPB_SLOT_CLASSES];
} GpbDeviceSlots;

/* How many slots each device has of a class, and the staging of each */
typedef struct GpbSlotMeasure
{
	int			count;
	Size		staging_size;
} GpbSlotMeasure;

#define GPB_SLOT_STRIDE CACHELINEALIGN(sizeof(GpbRequestSlot))
#define GPB_REGION_ALIGN	((Size) BLCKSZ)
/* Builds may keep one of so many query slots, and of so many units. */
#define GPB_SORTS_SHARE		4

static GpbSlotMeasure classes[GPB_SLOT_CLASSES];
static GpbDeviceSlots device_slots[GPB_MAX_DEVICES];
static Size region_size = 0;
static ConditionVariable *freed_cv = NULL;	/* by device and class; in shared memory */

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

/* Bytes of the condition variables */
static Size
cvs_size(void)
{
	return MAXALIGN(gpb_devices * GPB_SLOT_CLASSES * sizeof(ConditionVariable));
}

Size
gpb_slots_shmem_size(void)
{
	slots_measure();
	return add_size(add_size(mul_size(gpb_devices, region_size), GPB_REGION_ALIGN), cvs_size());
}

static void
slot_init(GpbRequestSlot *slot, int device)
{
	memset(slot, 0, sizeof(*slot));
	slot->device = device;
	pg_atomic_init_u32(&slot->state, GPB_SLOT_FREE);
	pg_atomic_init_u32(&slot->sleeps, 0);
}

/* Lay out a device's region: staging and pool come first, which keeps them aligned to pages. */
static void
lay_out(int device, char *p)
{
	GpbDeviceSlots *slots = &device_slots[device];
	int			class;

	slots->region = p;
	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		slots->classes[class].staging = p;
		p += classes[class].count * classes[class].staging_size;
	}
	gpb_pool_set_memory(device, p);
	p += gpb_pool_size();
	slots->joined_staging = p;
	p += GPB_JOINED_BUFFERS * GPB_JOINED_STAGING;
	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		slots->classes[class].slots = (GpbRequestSlot *) p;
		p += classes[class].count * GPB_SLOT_STRIDE;
	}
}

/* Let all slots of a device be free. */
static void
slots_init(int device)
{
	int			class;
	int			i;

	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		ConditionVariableInit(gpb_slot_freed_cv(device, class));
		for (i = 0; i < classes[class].count; i++)
			slot_init(gpb_slot_at(device, class, i), device);
	}
}

void
gpb_slots_init_shmem(void)
{
	bool		found;
	char	   *p = ShmemInitStruct("gpubtree requests", gpb_slots_shmem_size(), &found);
	int			device;

	freed_cv = (ConditionVariable *) p;
	p = (char *) TYPEALIGN(GPB_REGION_ALIGN, p + cvs_size());
	for (device = 0; device < gpb_devices; device++)
	{
		lay_out(device, p + device * region_size);
		if (!found)
			slots_init(device);
	}
}

void
gpb_slots_region(int device, void **base, Size *size)
{
	*base = device_slots[device].region;
	*size = region_size;
}

int
gpb_slot_count(GpbSlotClass class)
{
	return classes[class].count;
}

GpbRequestSlot *
gpb_slot_at(int device, GpbSlotClass class, int number)
{
	return (GpbRequestSlot *) ((char *) device_slots[device].classes[class].slots +
							   number * GPB_SLOT_STRIDE);
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
gpb_slot_staging(int device, GpbSlotClass class, int number)
{
	return device_slots[device].classes[class].staging + number * classes[class].staging_size;
}

Size
gpb_slot_staging_size(GpbSlotClass class)
{
	return classes[class].staging_size;
}

char *
gpb_joined_staging(int device, int buffer)
{
	return device_slots[device].joined_staging + buffer * GPB_JOINED_STAGING;
}

ConditionVariable *
gpb_slot_freed_cv(int device, GpbSlotClass class)
{
	return &freed_cv[device * GPB_SLOT_CLASSES + class];
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
	slot->sorts = false;
	pg_memory_barrier();
	pg_atomic_write_u32(&slot->state, GPB_SLOT_FREE);
	pg_memory_barrier();
	ConditionVariableSignal(gpb_slot_freed_cv(slot->device, class));
}

/* ---- the backend's side ---- */

GpbRequestSlot *
gpb_slot_try_claim(int device, GpbSlotClass class, int *number)
{
	static int	last[GPB_MAX_DEVICES][GPB_SLOT_CLASSES];	/* plus 1; 0: none */
	int			count = classes[class].count;
	int			first = last[device][class];
	int			i;

	/* What this backend had last is likely to be free, and its neighbours to be others'. */
	first = first == 0 ? MyProcPid % count : first - 1;
	for (i = 0; i < count; i++)
	{
		int			n = (first + i) % count;
		GpbRequestSlot *slot = gpb_slot_at(device, class, n);

		if (pg_atomic_read_u32(&slot->state) == GPB_SLOT_FREE &&
			slot_change(slot, GPB_SLOT_FREE, GPB_SLOT_CLAIMED))
		{
			*number = n;
			last[device][class] = n + 1;
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
			gpb_wake_service(slot->device);
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
 * Free what an earlier service of the device left, whose process and device context no longer
 * exist; a backend that still waits for it gets a refusal.  A service does this at its start, and
 * one without a device whenever it is woken: a request made for its predecessor may be submitted
 * late.
 */
void
gpb_slots_reclaim(int device)
{
	int			class;
	int			i;

	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		for (i = 0; i < classes[class].count; i++)
		{
			GpbRequestSlot *slot = gpb_slot_at(device, class, i);

			if (slot_change(slot, GPB_SLOT_SUBMITTED, GPB_SLOT_RUNNING) ||
				pg_atomic_read_u32(&slot->state) == GPB_SLOT_RUNNING)
				gpb_slot_answer(class, slot, false);
			else if (pg_atomic_read_u32(&slot->state) == GPB_SLOT_ABANDONED)
				gpb_slot_free(class, slot);
		}
	}
}

/*
 * Wake every backend that waits for the device's service, which is going: each looks whether its
 * incarnation is still there.
 */
void
gpb_slots_wake_all(int device)
{
	int			class;
	int			i;

	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		for (i = 0; i < classes[class].count; i++)
		{
			GpbRequestSlot *slot = gpb_slot_at(device, class, i);
			uint32		state = pg_atomic_read_u32(&slot->state);

			if (state == GPB_SLOT_SUBMITTED || state == GPB_SLOT_RUNNING)
				gpb_wake_process(slot->pgprocno);
		}
		ConditionVariableBroadcast(gpb_slot_freed_cv(device, class));
	}
}
