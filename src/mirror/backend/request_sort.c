/*-------------------------------------------------------------------------
 *
 * request_sort.c
 *	  What builds ask of the service: sorts of their records.
 *
 * A sort lives on a device from the first piece of its records to the last read, while the
 * backend keeps the slot (service_sort.c).  Slot and staging change hands as all requests' do.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/backend/request.h"

#include "mirror/heartbeat.h"
#include "mirror/pool.h"
#include "mirror/service_state.h"
#include "mirror/settings.h"

/* May builds sort on this device now? */
static bool
device_sorts(int device)
{
	return gpb_service_serves(device) &&
		(gpb_device_sort == GPB_SORT_ON || gpb_device_has_processors(device));
}

/* The device that serves and has the fewest sorts; -1 if none serves. */
static int
least_busy_device(void)
{
	int			best = -1;
	int			fewest = 0;
	int			device;

	for (device = 0; device < gpb_devices; device++)
	{
		int			sorts = 0;
		int			i;

		for (i = 0; i < gpb_slot_count(GPB_QUERY_SLOT); i++)
			sorts += gpb_slot_at(device, GPB_QUERY_SLOT, i)->sorts;
		if (!gpb_service_serves(device) || (best >= 0 && sorts >= fewest))
			continue;
		best = device;
		fewest = sorts;
	}
	return best;
}

bool
gpb_sort_available(void)
{
	int			device;

	if (gpb_device_sort == GPB_SORT_OFF || !gpb_mirror_available() || gpb_sorts_at_most() == 0)
		return false;
	for (device = 0; device < gpb_devices; device++)
	{
		if (device_sorts(device))
			return true;
	}
	return false;
}

GpbRequest *
gpb_request_begin_sort(Size bytes)
{
	GpbMirrorRef no_mirror = {.slot = -1, .device = least_busy_device()};
	GpbRequest *request;

	if (no_mirror.device < 0)
		return NULL;
	request = gpb_request_claim_query(&no_mirror, Min(bytes, gpb_sort_units() * GPB_POOL_UNIT),
									  false);
	if (request != NULL)
		request->sorts = request->slot->sorts = true;
	return request;
}

bool
gpb_request_submit_first_records(GpbRequest *request, const GpbSortFormat *format,
								 uint64 expected, uint32 n)
{
	GpbRequestSlot *slot = request->slot;

	slot->sort_format = *format;
	slot->sort_expected = expected;
	slot->n = n;
	return gpb_request_submit_query(request, GPB_OP_SORT_FIRST);
}

bool
gpb_request_submit_records(GpbRequest *request, uint32 n)
{
	request->slot->n = n;
	return gpb_request_submit_query(request, GPB_OP_SORT_ADD);
}

bool
gpb_request_submit_read(GpbRequest *request, uint64 first, uint32 n, Size offset)
{
	GpbRequestSlot *slot = request->slot;

	slot->offset = first;
	slot->n = n;
	slot->into = offset;
	return gpb_request_submit_query(request, GPB_OP_SORT_READ);
}
