/*-------------------------------------------------------------------------
 *
 * service_query.c
 *	  What queries ask of the service, ranges and searches; and builds, sorts.
 *
 * Nothing here waits for the device.  A look over the slots launches what it finds; every look
 * polls all that is in flight (in_flight.c) and answers what has ended.  A slot whose backend has
 * gone while the device works for it stays ABANDONED until its launches have ended, because until
 * then the device reads and writes its staging (rule M3).
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/service.h"

#include "hold.h"
#include "mirror/heartbeat.h"
#include "mirror/pool.h"
#include "mirror/service/in_flight.h"
#include "mirror/service/served.h"
#include "mirror/service/service_bits.h"
#include "mirror/slots.h"
#include "mirror/statistics.h"

static int	first_slot = 0;		/* where the next look begins */

void
gpb_queries_init(void)
{
	gpb_in_flight_init();
	gpb_bits_init();
	gpb_ranges_init();
	gpb_searches_init();
	gpb_sorts_init();
}

/* ---- what is done at once ---- */

static bool
serve_visibility(int channel, GpbRequestSlot *slot, const char *staging, Size size)
{
	GpbDeviceStatus status;

	if (slot->incarnation != gpb_incarnation || slot->n > size)
		return false;
	status = gpb_api->map_use(gpb_device, channel, NULL);
	if (status == GPB_DEVICE_OK)
		status = gpb_api->set_visibility(gpb_device, channel, slot->offset, staging,
											 slot->n);
	gpb_device_check(status);
	return status == GPB_DEVICE_OK;
}

/* ---- one request ---- */

static void
serve_query(int number, GpbRequestSlot *slot)
{
	int			channel = gpb_query_channel(number);
	char	   *staging = gpb_pool_staging(slot);
	Size		size = slot->nunits * GPB_POOL_UNIT;
	bool		ok = false;

	switch (slot->op)
	{
		case GPB_OP_VISIBILITY:
			ok = serve_visibility(channel, slot, staging, size);
			break;
		case GPB_OP_FETCH:
			ok = gpb_serve_fetch(channel, slot, staging, size);
			break;
		case GPB_OP_SEARCH:
			gpb_search_submitted(number);
			return;
		case GPB_OP_RANGES:
			gpb_ranges_submitted(number);
			return;
		case GPB_OP_SORT_FIRST:
		case GPB_OP_SORT_ADD:
		case GPB_OP_SORT_READ:
			gpb_sort_submitted(number);
			return;
		default:
			break;
	}
	gpb_answer_query(number, ok);
}

/* ---- looking over the slots ---- */

/*
 * Take the slot if something was submitted in it.  An abandoned slot for which nothing is in flight
 * (it is not busy) is freed; one for which something is, is freed by whoever answers it.
 */
static bool
take_submitted(GpbSlotClass class, GpbRequestSlot *slot, bool busy)
{
	if (pg_atomic_read_u32(&slot->state) == GPB_SLOT_ABANDONED && !busy)
		gpb_slot_free(class, slot);
	return gpb_slot_take(slot);
}

/*
 * Look once over the query slots.  Each look begins one slot further, so that no slot is always the
 * first.
 */
static bool
look_at_slots(void)
{
	int			n = gpb_slot_count(GPB_QUERY_SLOT);
	bool		worked = false;
	int			i;

	GPB_HOLD_SERVICE("batches");
	first_slot = (first_slot + 1) % n;
	gpb_sorts_reap();
	for (i = 0; i < n; i++)
	{
		int			number = (first_slot + i) % n;
		GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, number);
		bool		busy = gpb_search_has_slot(number) || gpb_ranges_has_slot(number) ||
		!gpb_channel_is_free(gpb_query_channel(number));

		if (!take_submitted(GPB_QUERY_SLOT, slot, busy))
			continue;
		serve_query(number, slot);
		gpb_heartbeat();
		worked = true;
	}
	worked = gpb_launch_ranges() || worked;
	return gpb_launch_searches() || worked;
}

/* ---- completing ---- */

static void
complete_searches(int channel, const GpbLaunch *launch)
{
	GpbDeviceStatus status = gpb_api->search_finish(gpb_device, channel);
	int			i;

	gpb_device_check(status);
	for (i = 0; i < launch->nslots; i++)
		gpb_search_completed(launch->number[i], status == GPB_DEVICE_OK);
}

/* Finish the launch that has ended on a channel, and answer its requests. */
static void
complete_launch(int channel)
{
	GpbLaunch	launch = gpb_take_launch(channel);

	if (launch.kind == GPB_RANGES_LAUNCHED)
		gpb_ranges_completed(channel, launch.number[0]);
	else if (launch.kind == GPB_JOINED_RANGES_LAUNCHED)
		gpb_ranges_joined_completed(&launch);
	else if (launch.kind == GPB_SORT_LAUNCHED)
		gpb_sort_completed(channel, launch.number[0]);
	else
		complete_searches(channel, &launch);
}

/* Poll each channel once, and complete what has ended. */
static void
poll_launches(void)
{
	int			n = gpb_channels_needed();
	int			channel;

	for (channel = 0; channel < n && gpb_any_in_flight(); channel++)
	{
		if (gpb_channel_is_free(channel))
			continue;
		if (gpb_has_ended(channel))
			complete_launch(channel);
		gpb_heartbeat();
	}
}

/* Look once over the slots and what is in flight.  Returns false if nothing was found in either. */
bool
gpb_serve_queries(void)
{
	bool		worked = look_at_slots();

	worked = gpb_any_in_flight() || worked;
	poll_launches();
	return worked;
}
