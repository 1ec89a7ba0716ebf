/*-------------------------------------------------------------------------
 *
 * search_batch.c
 *	  Batches of searches and ranges: the backend's side.
 *
 * A batch is a request slot of its own class with staging from the pool (pool.c).  Slot and staging
 * change hands as all requests' do (slots.c): they are the backend's while CLAIMED or DONE, and the
 * service's in between.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/backend/request.h"

#include "utils/wait_event.h"

#include "hold.h"
#include "mirror/backend/held.h"
#include "mirror/heartbeat.h"
#include "mirror/pool.h"
#include "mirror/service_state.h"

/* ---- begin and end ---- */

/*
 * Take units for the batch's slot.  Who waits here holds a slot but no units, and who holds units
 * waits for nothing but the service; so there is no circle.  Returns false if there are none and
 * the caller does not wait, or the service is gone or hangs.
 */
static bool
mirror_batch_take_units(GpbMirrorBatch *batch, Size bytes, bool wait)
{
	bool		taken = gpb_pool_take(batch->slot, bytes);
	GpbServiceWait service;

	if (taken || !wait)
		return taken;
	ConditionVariablePrepareToSleep(gpb_pool_freed_cv());
	gpb_service_wait_begin(&service);
	while (pg_atomic_read_u64(&gpb_service->available) == batch->incarnation &&
		   !gpb_service_hangs(&service) && !(taken = gpb_pool_take(batch->slot, bytes)))
		ConditionVariableTimedSleep(gpb_pool_freed_cv(), gpb_service_wait_ms(&service),
									PG_WAIT_EXTENSION);
	ConditionVariableCancelSleep();
	return taken;
}

GpbMirrorBatch *
gpb_mirror_batch_begin(const GpbMirrorRef *ref, Size bytes)
{
	bool		wait = gpb_request_may_wait();
	GpbMirrorBatch *batch = gpb_request_claim(GPB_BATCH_SLOT, ref, wait);

	if (batch == NULL)
		return NULL;
	if (!mirror_batch_take_units(batch, bytes, wait))
	{
		gpb_request_end(batch);
		return NULL;
	}
	batch->staging = gpb_pool_staging(batch->slot);
	batch->staging_size = batch->slot->nunits * GPB_POOL_UNIT;
	return batch;
}

char *
gpb_mirror_batch_staging(const GpbMirrorBatch *batch, Size *size)
{
	*size = batch->staging_size;
	return batch->staging;
}

void
gpb_mirror_batch_end(GpbMirrorBatch *batch)
{
	gpb_request_end(batch);
}

/* ---- submit and wait ---- */

/* Hand the filled slot over, unless the batch is lost. */
static bool
mirror_batch_submit(GpbMirrorBatch *batch, GpbOperation op)
{
	if (batch->lost)
		return false;
	batch->slot->op = op;
	GPB_HOLD("batch-before-submit");
	gpb_request_submit(batch);
	return true;
}

bool
gpb_mirror_batch_wait(GpbMirrorBatch *batch)
{
	return batch->pending && gpb_request_wait(batch);
}

void
gpb_mirror_batch_times(const GpbMirrorBatch *batch, instr_time *submitted, instr_time *answered)
{
	Assert(!batch->pending);
	*submitted = batch->slot->submitted;
	*answered = batch->slot->answered;
}

/* ---- searches ---- */

/* The service checks that the arrays fit: it knows the key's width from the mirror. */
bool
gpb_mirror_batch_submit_search(GpbMirrorBatch *batch, const GpbBatchSearch *search)
{
	if (search->order != GPB_ORDER_INPUT && search->n > GPB_SEARCH_CHUNK)
		elog(ERROR, "a search of %u keys cannot be ordered", search->n);
	batch->slot->search = *search;
	return mirror_batch_submit(batch, GPB_OP_SEARCH);
}

bool
gpb_mirror_batch_search(GpbMirrorBatch *batch, const GpbBatchSearch *search)
{
	return gpb_mirror_batch_submit_search(batch, search) && gpb_mirror_batch_wait(batch);
}

/* ---- ranges ---- */

bool
gpb_mirror_batch_visibility(GpbMirrorBatch *batch, uint64 offset, const void *bits, uint64 n)
{
	return gpb_request_visibility(batch, offset, bits, n);
}

bool
gpb_mirror_batch_submit_ranges(GpbMirrorBatch *batch, const GpbRangesSpec *spec)
{
	batch->slot->ranges = *spec;
	return mirror_batch_submit(batch, GPB_OP_RANGES);
}

void
gpb_mirror_batch_ranges_result(const GpbMirrorBatch *batch, GpbRangesResult *result)
{
	Assert(!batch->pending);
	*result = batch->slot->ranges_result;
}

bool
gpb_mirror_batch_ranges(GpbMirrorBatch *batch, const GpbRangesSpec *spec, GpbRangesResult *result)
{
	if (!gpb_mirror_batch_submit_ranges(batch, spec) || !gpb_mirror_batch_wait(batch))
		return false;
	gpb_mirror_batch_ranges_result(batch, result);
	return true;
}

bool
gpb_mirror_batch_submit_fetch(GpbMirrorBatch *batch, GpbFetchWhat what, uint64 first, uint64 n,
							  Size offset)
{
	GpbRequestSlot *slot = batch->slot;

	slot->what = what;
	slot->offset = first;
	slot->n = n;
	slot->into = offset;
	return mirror_batch_submit(batch, GPB_OP_FETCH);
}

bool
gpb_mirror_batch_fetch(GpbMirrorBatch *batch, GpbFetchWhat what, uint64 first, uint64 n,
					   Size offset)
{
	return gpb_mirror_batch_submit_fetch(batch, what, first, n, offset) &&
		gpb_mirror_batch_wait(batch);
}
