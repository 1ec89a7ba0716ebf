/*-------------------------------------------------------------------------
 *
 * request_sort.c
 *	  What builds ask of the service: sorts of their records.
 *
 * A sort lives on the device from the first piece of its records to the last read, while the
 * backend keeps the slot (service_sort.c).  Slot and staging change hands as all requests' do.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/backend/request.h"

#include "mirror/pool.h"
#include "mirror/service_state.h"
#include "mirror/settings.h"

bool
gpb_sort_available(void)
{
	return gpb_device_sort != GPB_SORT_OFF && gpb_mirror_available() && gpb_sorts_at_most() > 0 &&
		(gpb_device_sort == GPB_SORT_ON || gpb_device_has_processors());
}

GpbRequest *
gpb_request_begin_sort(Size bytes)
{
	static const GpbMirrorRef no_mirror = {.slot = -1};
	GpbRequest *request = gpb_request_claim_query(&no_mirror,
												  Min(bytes, gpb_sort_units() * GPB_POOL_UNIT),
												  false);

	if (request != NULL)
		request->sorts = true;
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
