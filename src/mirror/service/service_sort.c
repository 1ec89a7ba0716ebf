/*-------------------------------------------------------------------------
 *
 * service_sort.c
 *	  The service's sorts of the records of builds.
 *
 * A sort is on the channel of the query slot whose backend began it, and belongs to that backend's
 * claim of the slot.  It reads no mirror: M4 and M5 have nothing to do with it, and its slot names
 * none.  Each piece of records and each read is one launch, of a bounded number of records, so it
 * holds up what comes after it by a few milliseconds.
 *
 * The backend keeps its records and has the CPU's sort in hand.  So a device without memory for a
 * sort gives up no mirror: the request fails.  And a sort gets at most half of the memory that
 * nobody has, since it is gone soon, while mirrors that find no room then are not made.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/service.h"

#include "utils/memutils.h"

#include "hold.h"
#include "mirror/pool.h"
#include "mirror/service/in_flight.h"
#include "mirror/service/served.h"
#include "mirror/service/service_device.h"
#include "mirror/slots.h"
#include "mirror/statistics.h"

/* Device memory that a record takes beside its own bytes, about */
#define BYTES_PER_RECORD	8

/* The sort on a query slot's channel */
typedef struct SlotSort
{
	bool		is_open;
	uint64		generation;		/* the slot's, when it was begun */
	uint64		room;			/* for so many more records */
	GpbSortFormat format;
} SlotSort;

static SlotSort *sorts = NULL;	/* by query slot */
static int	nopen = 0;

void
gpb_sorts_init(void)
{
	sorts = MemoryContextAllocZero(TopMemoryContext,
								   gpb_slot_count(GPB_QUERY_SLOT) * sizeof(SlotSort));
}

static void
end_sort(int number)
{
	gpb_api->sort_end(gpb_device, gpb_query_channel(number));
	sorts[number].is_open = false;
	nopen--;
	gpb_device_show("ready");
}

/*
 * Free the sorts whose backends have given their slots back.  A slot that was abandoned before what
 * was submitted in it was taken is freed later in the same look, after which none may come.
 */
void
gpb_sorts_reap(void)
{
	int			number;

	for (number = 0; nopen > 0 && number < gpb_slot_count(GPB_QUERY_SLOT); number++)
	{
		GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, number);
		uint32		state = pg_atomic_read_u32(&slot->state);

		if (sorts[number].is_open && gpb_channel_is_free(gpb_query_channel(number)) &&
			(state == GPB_SLOT_FREE || state == GPB_SLOT_ABANDONED ||
			 slot->generation != sorts[number].generation))
			end_sort(number);
	}
}

/* How many records may a sort have that is begun now? */
static uint64
room_for(const GpbSortFormat *format)
{
	GpbDeviceInfo info;

	gpb_api->describe(gpb_device, &info);
	return info.memory_used > info.memory_limit ? 0 :
		(info.memory_limit - info.memory_used) / 2 / (format->width + BYTES_PER_RECORD);
}

/* Begin a sort for the slot, in the place of the one that it has. */
static bool
begin_sort(int number, const GpbRequestSlot *slot)
{
	SlotSort   *sort = &sorts[number];
	GpbDeviceStatus status;

	if (sort->is_open)
		end_sort(number);
	if (!gpb_sort_format_is_valid(&slot->sort_format) || nopen >= gpb_sorts_at_most())
		return false;
	sort->room = room_for(&slot->sort_format);
	if (slot->sort_expected > sort->room)
		return false;
	status = gpb_api->sort_begin(gpb_device, gpb_query_channel(number), &slot->sort_format,
								 slot->sort_expected);
	gpb_device_check(status);
	if (status != GPB_DEVICE_OK)
		return false;
	sort->is_open = true;
	sort->generation = slot->generation;
	sort->format = slot->sort_format;
	nopen++;
	gpb_device_show("ready");
	return true;
}

/* Launch what was found in a query slot.  Returns false if it cannot be done. */
static bool
launch(int number)
{
	GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, number);
	SlotSort   *sort = &sorts[number];
	int			channel = gpb_query_channel(number);
	bool		reads = slot->op == GPB_OP_SORT_READ;
	uint64		offset = reads ? slot->into : 0;
	Size		size = slot->nunits * GPB_POOL_UNIT;
	GpbDeviceStatus status;

	if (slot->incarnation != gpb_incarnation || !gpb_channel_is_free(channel))
		return false;
	if (slot->op == GPB_OP_SORT_FIRST && !begin_sort(number, slot))
		return false;
	if (!sort->is_open || sort->generation != slot->generation || offset > size ||
		slot->n > (size - offset) / sort->format.width)
		return false;
	if (!reads && slot->n > sort->room)
		return false;			/* more come than were expected */
	if (reads)
		status = gpb_api->sort_read(gpb_device, channel, slot->offset, (uint32) slot->n,
									gpb_pool_staging(slot) + offset);
	else
		status = gpb_api->sort_add(gpb_device, channel, gpb_pool_staging(slot),
								   (uint32) slot->n);
	gpb_device_check(status);
	if (status != GPB_DEVICE_OK)
		return false;
	if (!reads)
		sort->room -= slot->n;
	GPB_SLOW_SERVICE("sort", slot->n);
	gpb_note_launch(GPB_SORT_LAUNCHED, channel, &number, 1);
	GPB_HOLD_SERVICE(reads ? "sort-read" : "sort");
	return true;
}

void
gpb_sort_submitted(int number)
{
	if (!launch(number))
		gpb_answer_query(number, false);
}

void
gpb_sort_completed(int channel, int number)
{
	GpbDeviceStatus status = gpb_api->sort_finish(gpb_device, channel);

	gpb_device_check(status);
	gpb_answer_query(number, status == GPB_DEVICE_OK);
}
