/*-------------------------------------------------------------------------
 *
 * request_query.c
 *	  What queries ask of the service: searches, ranges, records that ranges left, visibility bits.
 *
 * Such a request has a slot of its own class, with staging from the pool (pool.c).  Slot and
 * staging change hands as all requests' do (slots.c): they are the backend's while CLAIMED or DONE,
 * and the service's in between.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/backend/request.h"


#include "hold.h"
#include "mirror/backend/held.h"
#include "mirror/heartbeat.h"
#include "mirror/map_image.h"
#include "mirror/pool.h"
#include "mirror/service_state.h"
#include "waits.h"

/* ---- begin ---- */

/*
 * Take units for the request's slot.  Who waits here holds a slot but no units, and who holds units
 * waits for nothing but the service; so there is no circle.  Returns false if there are none and
 * the caller does not wait, or the service is gone or hangs.
 */
static bool
take_units(GpbRequest *request, Size bytes, bool wait)
{
	int			device = request->slot->device;
	ConditionVariable *cv = gpb_pool_freed_cv(device);
	bool		taken = gpb_pool_take(request->slot, bytes);
	GpbServiceWait service;

	if (!taken && gpb_map_images_drop(device))
		taken = gpb_pool_take(request->slot, bytes);
	if (taken || !wait)
		return taken;
	ConditionVariablePrepareToSleep(cv);
	gpb_service_wait_begin(&service, device);
	while (pg_atomic_read_u64(&gpb_services[device].available) == request->incarnation &&
		   !gpb_service_hangs(&service) && !(taken = gpb_pool_take(request->slot, bytes)))
		ConditionVariableTimedSleep(cv, gpb_service_wait_ms(&service),
									gpb_waits[GPB_WAIT_BATCH_MEMORY]);
	ConditionVariableCancelSleep();
	return taken;
}

GpbRequest *
gpb_request_claim_query(const GpbMirrorRef *ref, Size bytes, bool wait)
{
	GpbRequest *request = gpb_request_claim(GPB_QUERY_SLOT, ref, wait);

	if (request == NULL)
		return NULL;
	if (!take_units(request, bytes, wait))
	{
		gpb_request_end(request);
		return NULL;
	}
	request->staging = gpb_pool_staging(request->slot);
	request->staging_size = request->slot->nunits * GPB_POOL_UNIT;
	return request;
}

GpbRequest *
gpb_request_begin(const GpbMirrorRef *ref, Size bytes)
{
	return gpb_request_claim_query(ref, bytes, gpb_request_may_wait());
}

char *
gpb_request_staging(const GpbRequest *request, Size *size)
{
	*size = request->staging_size;
	return request->staging;
}

/* ---- visibility bits ---- */

/* The slot is CLAIMED, so it is the backend's to write, and so is its reference to an image. */
const char *
gpb_request_current_bits(GpbRequest *request, uint64 n)
{
	return gpb_map_image_current(request->slot, request->ref.slot, n);
}

char *
gpb_request_new_bits(GpbRequest *request, uint64 n)
{
	char	   *bits = gpb_map_image_make(request->slot, n);

	GPB_HOLD("map-image-made");
	return bits;
}

void
gpb_request_publish_bits(GpbRequest *request)
{
	GPB_HOLD("map-image-publish");
	gpb_map_image_publish(request->slot, request->ref.slot);
}

/* ---- submit ---- */

bool
gpb_request_submit_query(GpbRequest *request, GpbOperation op)
{
	if (!request->lost)
		GPB_HOLD("batch-before-submit");
	return gpb_request_submit(request, op);
}

/* The service checks that the arrays fit: it knows the key's width from the mirror. */
bool
gpb_request_submit_search(GpbRequest *request, const GpbRequestSearch *search)
{
	if (search->order != GPB_ORDER_INPUT && search->n > GPB_SEARCH_CHUNK)
		elog(ERROR, "a search of %u keys cannot be ordered", search->n);
	request->slot->search = *search;
	return gpb_request_submit_query(request, GPB_OP_SEARCH);
}

bool
gpb_request_submit_ranges(GpbRequest *request, const GpbRangesSpec *spec)
{
	gpb_ranges_spec_copy(&request->slot->ranges, spec);
	return gpb_request_submit_query(request, GPB_OP_RANGES);
}

bool
gpb_request_submit_fetch(GpbRequest *request, GpbFetchWhat what, uint64 first, uint64 n,
						 Size offset)
{
	GpbRequestSlot *slot = request->slot;

	slot->what = what;
	slot->offset = first;
	slot->n = n;
	slot->into = offset;
	return gpb_request_submit_query(request, GPB_OP_FETCH);
}

/* ---- submit and wait ---- */

bool
gpb_request_visibility(GpbRequest *request, uint64 offset, const void *bits, uint64 n)
{
	GpbRequestSlot *slot = request->slot;
	uint64		piece = request->staging_size;
	uint64		done;

	gpb_map_image_leave(slot);
	for (done = 0; done < n; done += piece)
	{
		piece = Min(piece, n - done);
		if (request->lost)
			return false;
		memcpy(request->staging, (const char *) bits + done, piece);
		slot->offset = offset + done;
		slot->n = piece;
		if (!gpb_request_submit(request, GPB_OP_VISIBILITY) || !gpb_request_wait(request))
			return false;
	}
	return !request->lost;
}

bool
gpb_request_search(GpbRequest *request, const GpbRequestSearch *search)
{
	return gpb_request_submit_search(request, search) && gpb_request_wait(request);
}

bool
gpb_request_fetch(GpbRequest *request, GpbFetchWhat what, uint64 first, uint64 n, Size offset)
{
	return gpb_request_submit_fetch(request, what, first, n, offset) && gpb_request_wait(request);
}

/* ---- what the answer says ---- */

void
gpb_request_times(const GpbRequest *request, instr_time *submitted, instr_time *answered)
{
	Assert(!request->pending);
	*submitted = request->slot->submitted;
	*answered = request->slot->answered;
}

uint64
gpb_request_staged_groups(const GpbRequest *request)
{
	Assert(!request->pending);
	return request->slot->staged_groups;
}

void
gpb_request_ranges_result(const GpbRequest *request, GpbRangesResult *result)
{
	Assert(!request->pending);
	*result = request->slot->ranges_result;
}
