/*-------------------------------------------------------------------------
 *
 * request.c
 *	  Request slots: how a backend asks the service, and how both survive each
 *	  other.
 *
 * A slot and its staging belong to the backend while CLAIMED or DONE, and to the service from
 * SUBMITTED until it sets DONE.  A backend that leaves in between (cancel, exit, service gone or hanging)
 * marks the slot ABANDONED; only the service frees it then, when nothing reads or
 * writes the staging any more (rules M3, M9).
 *
 *	 FREE -> CLAIMED -> SUBMITTED -> RUNNING -> DONE -> CLAIMED ... -> FREE
 *						    \-----------+--> ABANDONED -> FREE (service)
 *
 * A request names the incarnation of the service that it is meant for.  A service
 * refuses requests meant for its predecessor, and at its start frees what the predecessor
 * had: by then the postmaster has reaped that process, and with it the
 * transfers of its device.
 *
 * A batch slot's staging, units of the pool, goes with the slot: whoever frees the slot frees them, and
 * nobody else.  So units have the slot's life cycle and no other.
 *
 * What a backend holds is tied to its resource owner, so ERROR, FATAL and subtransaction
 * abort all give it back in one place, gpb_request_release_owner.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/shared.h"

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "hold.h"
#include "storage/ipc.h"
#include "storage/proc.h"
#include "storage/s_lock.h"
#include "storage/shmem.h"
#include "utils/memutils.h"
#include "utils/wait_event.h"

/*
 * How long it looks before it sleeps.  A small request is answered within this, and to be put to sleep
 * and woken costs both sides more.
 */
#define GPB_LOOK_US		30
/* And how long it sleeps before it asks for a heartbeat, for which the service must be woken, in milliseconds */
#define GPB_FIRST_SLEEP_MS	100

/* Slots and staging: one page-aligned region, which the service registers */
typedef struct GpbSlotArray
{
	int			count;
	Size		staging_size;
	GpbRequestSlot *slots;		/* each padded to GPB_SLOT_STRIDE */
	char	   *staging;
} GpbSlotArray;

#define GPB_SLOT_STRIDE CACHELINEALIGN(sizeof(GpbRequestSlot))
#define GPB_REGION_ALIGN	((Size) BLCKSZ)

static GpbSlotArray gpb_slots[GPB_SLOT_CLASSES];
static char *gpb_region = NULL;
static Size gpb_region_size = 0;

/* ---- shared memory ---- */

static void
gpb_slots_measure(void)
{
	int			class;

	gpb_slots[GPB_QUERY_SLOT].count = gpb_query_slots;
	gpb_slots[GPB_QUERY_SLOT].staging_size =
		TYPEALIGN(GPB_REGION_ALIGN, (Size) gpb_staging_size * 1024);
	gpb_slots[GPB_REFRESH_SLOT].count = gpb_refresh_slots;
	/* one page more, so that the pages of a transfer are a round number */
	gpb_slots[GPB_REFRESH_SLOT].staging_size =
		gpb_slots[GPB_QUERY_SLOT].staging_size * 2 + BLCKSZ;
	gpb_slots[GPB_BATCH_SLOT].count = gpb_batch_slots;
	gpb_slots[GPB_BATCH_SLOT].staging_size = 0;

	gpb_region_size = gpb_pool_size();
	for (class = 0; class < GPB_SLOT_CLASSES; class++)
		gpb_region_size = add_size(gpb_region_size,
								   mul_size(gpb_slots[class].count,
											add_size(gpb_slots[class].staging_size,
													 GPB_SLOT_STRIDE)));
	gpb_region_size = TYPEALIGN(GPB_REGION_ALIGN, gpb_region_size);
}

Size
gpb_requests_shmem_size(void)
{
	gpb_slots_measure();
	return add_size(gpb_region_size, GPB_REGION_ALIGN);
}

static void
gpb_slot_init(GpbRequestSlot *slot)
{
	memset(slot, 0, sizeof(*slot));
	pg_atomic_init_u32(&slot->state, GPB_SLOT_FREE);
}

/* Staging and pool first: they keep the region's page alignment. */
void
gpb_requests_init_shmem(void)
{
	bool		found;
	char	   *p;
	int			class;
	int			i;

	p = ShmemInitStruct("gpubtree requests", gpb_requests_shmem_size(), &found);
	p = (char *) TYPEALIGN(GPB_REGION_ALIGN, p);
	gpb_region = p;
	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		gpb_slots[class].staging = p;
		p += gpb_slots[class].count * gpb_slots[class].staging_size;
	}
	gpb_pool_init_shmem(p);
	p += gpb_pool_size();
	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		gpb_slots[class].slots = (GpbRequestSlot *) p;
		p += gpb_slots[class].count * GPB_SLOT_STRIDE;
	}
	if (found)
		return;
	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		for (i = 0; i < gpb_slots[class].count; i++)
			gpb_slot_init(gpb_slot_at(class, i));
	}
}

void
gpb_requests_region(void **base, Size *size)
{
	*base = gpb_region;
	*size = gpb_region_size;
}

int
gpb_slot_count(GpbSlotClass class)
{
	return gpb_slots[class].count;
}

GpbRequestSlot *
gpb_slot_at(GpbSlotClass class, int number)
{
	return (GpbRequestSlot *) ((char *) gpb_slots[class].slots + number * GPB_SLOT_STRIDE);
}

char *
gpb_slot_staging(GpbSlotClass class, int number)
{
	return gpb_slots[class].staging + number * gpb_slots[class].staging_size;
}

Size
gpb_slot_staging_size(GpbSlotClass class)
{
	return gpb_slots[class].staging_size;
}

/* ---- both sides ---- */

static void
gpb_wake_process(uint32 pgprocno)
{
	SetLatch(&ProcGlobal->allProcs[pgprocno].procLatch);
}

/* Ask the service to look around.  Any process, also in recovery. */
void
gpb_wake_service(void)
{
	uint32		service;

	pg_memory_barrier();
	service = pg_atomic_read_u32(&gpb_shared->service_pgprocno);
	if (service != 0)
		gpb_wake_process(service - 1);
}

static bool
gpb_slot_change(GpbRequestSlot *slot, GpbSlotState from, GpbSlotState to)
{
	uint32		expected = from;

	return pg_atomic_compare_exchange_u32(&slot->state, &expected, to);
}

/* By whom it belongs to.  No LWLock held. */
void
gpb_slot_free(GpbSlotClass class, GpbRequestSlot *slot)
{
	if (slot->nunits > 0)
		gpb_pool_give_back(slot);
	pg_memory_barrier();
	pg_atomic_write_u32(&slot->state, GPB_SLOT_FREE);
	pg_memory_barrier();
	ConditionVariableSignal(&gpb_shared->slot_cv[class]);
}

/* ---- the service's side ---- */

/*
 * Answer a running request and wake its backend, or free the slot if the
 * backend has gone.
 */
void
gpb_slot_answer(GpbSlotClass class, GpbRequestSlot *slot, bool ok)
{
	uint32		pgprocno = slot->pgprocno;

	INSTR_TIME_SET_CURRENT(slot->answered);
	slot->ok = ok;
	slot->answered_generation = slot->generation;
	if (gpb_slot_change(slot, GPB_SLOT_RUNNING, GPB_SLOT_DONE))
		gpb_wake_process(pgprocno);
	else
		gpb_slot_free(class, slot);
}

/*
 * At the start of a service: free what its predecessor left, whose process and
 * device context no longer exist.  A backend that still waits gets a refusal.  A service without a device
 * does so whenever it is woken: a request made for its predecessor may be submitted late.
 */
void
gpb_slots_reclaim(void)
{
	int			class;
	int			i;

	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		for (i = 0; i < gpb_slots[class].count; i++)
		{
			GpbRequestSlot *slot = gpb_slot_at(class, i);

			if (gpb_slot_change(slot, GPB_SLOT_SUBMITTED, GPB_SLOT_RUNNING) ||
				pg_atomic_read_u32(&slot->state) == GPB_SLOT_RUNNING)
				gpb_slot_answer(class, slot, false);
			else if (pg_atomic_read_u32(&slot->state) == GPB_SLOT_ABANDONED)
				gpb_slot_free(class, slot);
		}
	}
}

/* The service is going: let every waiter look at its incarnation. */
void
gpb_slots_wake_all(void)
{
	int			class;
	int			i;

	for (class = 0; class < GPB_SLOT_CLASSES; class++)
	{
		for (i = 0; i < gpb_slots[class].count; i++)
		{
			GpbRequestSlot *slot = gpb_slot_at(class, i);
			uint32		state = pg_atomic_read_u32(&slot->state);

			if (state == GPB_SLOT_SUBMITTED || state == GPB_SLOT_RUNNING)
				gpb_wake_process(slot->pgprocno);
		}
		ConditionVariableBroadcast(&gpb_shared->slot_cv[class]);
	}
	ConditionVariableBroadcast(&gpb_shared->freed_cv);
}

/* ---- what this backend holds ---- */

typedef struct GpbOwnership
{
	int			slot;
	ResourceOwner owner;
	struct GpbOwnership *next;
} GpbOwnership;

static GpbRequest *gpb_held = NULL;
static GpbOwnership *gpb_owned = NULL;
static bool gpb_release_registered = false;

/* Give a slot back whatever its state.  Raises nothing. */
static void
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
		if (gpb_slot_change(slot, state, GPB_SLOT_ABANDONED))
		{
			gpb_wake_service();
			return;
		}
	}
}

static void
gpb_request_forget(GpbRequest *request)
{
	GpbRequest **link = &gpb_held;

	while (*link != request)
		link = &(*link)->next;
	*link = request->next;
	gpb_slot_give_back(request->class, request->slot);
	pfree(request);
}

/*
 * A resource owner goes: give back what was taken under it.  Requests before
 * ownerships: the next owner of a refresh must find our uploads done or abandoned
 * (see service.c, gpb_serve_refreshes).
 */
static void
gpb_request_release_owner(ResourceReleasePhase phase, bool commit, bool top, void *arg)
{
	GpbRequest *request = gpb_held;
	GpbOwnership **link = &gpb_owned;

	if (phase != RESOURCE_RELEASE_BEFORE_LOCKS)
		return;
	while (request != NULL)
	{
		GpbRequest *next = request->next;

		if (request->owner == CurrentResourceOwner)
			gpb_request_forget(request);
		request = next;
	}
	while (*link != NULL)
	{
		GpbOwnership *ownership = *link;

		if (ownership->owner != CurrentResourceOwner)
		{
			link = &ownership->next;
			continue;
		}
		*link = ownership->next;
		gpb_disown(ownership->slot);
		pfree(ownership);
	}
}

static void
gpb_register_release(void)
{
	if (!gpb_release_registered)
		RegisterResourceReleaseCallback(gpb_request_release_owner, NULL);
	gpb_release_registered = true;
}

/*
 * Take ownership of a mirror's refresh, to be given back on any exit.  False: the service hangs, and
 * somebody else has it.
 */
bool
gpb_hold_ownership(int slot)
{
	GpbOwnership *ownership;
	bool		owned;

	gpb_register_release();
	ownership = MemoryContextAlloc(TopMemoryContext, sizeof(GpbOwnership));
	ownership->slot = slot;
	ownership->owner = CurrentResourceOwner;
	PG_TRY();
	{
		owned = gpb_own(slot);
	}
	PG_CATCH();
	{
		pfree(ownership);
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (!owned)
	{
		pfree(ownership);
		return false;
	}
	ownership->next = gpb_owned;
	gpb_owned = ownership;
	return true;
}

void
gpb_drop_ownership(int slot)
{
	GpbOwnership **link = &gpb_owned;
	GpbOwnership *ownership;

	while ((*link)->slot != slot)
		link = &(*link)->next;
	ownership = *link;
	*link = ownership->next;
	gpb_disown(slot);
	pfree(ownership);
}

/* ---- the backend's side ---- */

static GpbRequestSlot *
gpb_slot_try_claim(GpbSlotClass class, int *number)
{
	int			i;

	for (i = 0; i < gpb_slots[class].count; i++)
	{
		GpbRequestSlot *slot = gpb_slot_at(class, i);

		if (pg_atomic_read_u32(&slot->state) == GPB_SLOT_FREE &&
			gpb_slot_change(slot, GPB_SLOT_FREE, GPB_SLOT_CLAIMED))
		{
			*number = i;
			return slot;
		}
	}
	return NULL;
}

static GpbRequestSlot *
gpb_slot_claim(GpbSlotClass class, bool wait, int *number)
{
	GpbRequestSlot *slot = gpb_slot_try_claim(class, number);
	ConditionVariable *cv = &gpb_shared->slot_cv[class];
	GpbServiceWait service;

	if (slot != NULL || !wait)
		return slot;
	ConditionVariablePrepareToSleep(cv);
	gpb_service_wait_begin(&service);
	while (pg_atomic_read_u64(&gpb_shared->available) != 0 && !gpb_service_hangs(&service) &&
		   (slot = gpb_slot_try_claim(class, number)) == NULL)
		ConditionVariableTimedSleep(cv, gpb_service_wait_ms(&service), PG_WAIT_EXTENSION);
	ConditionVariableCancelSleep();
	return slot;
}

/*
 * Claim a slot for requests about ref.  NULL: no service, one that hangs, or no slot free and told not to
 * wait.  Cancellable; no LWLock held.
 */
GpbRequest *
gpb_request_claim(GpbSlotClass class, const GpbMirrorRef *ref, bool wait)
{
	uint64		incarnation = pg_atomic_read_u64(&gpb_shared->available);
	GpbRequest *request;
	GpbRequestSlot *slot;
	int			number;

	if (incarnation == 0 || !gpb_service_answers())
		return NULL;
	gpb_register_release();
	request = MemoryContextAllocZero(TopMemoryContext, sizeof(GpbRequest));
	PG_TRY();
	{
		slot = gpb_slot_claim(class, wait, &number);
	}
	PG_CATCH();
	{
		pfree(request);
		PG_RE_THROW();
	}
	PG_END_TRY();
	if (slot == NULL)
	{
		pfree(request);
		return NULL;
	}
	slot->pgprocno = MyProc->pgprocno;
	slot->generation++;
	slot->incarnation = incarnation;
	request->class = class;
	request->number = number;
	request->slot = slot;
	request->staging = gpb_slot_staging(class, number);
	request->staging_size = gpb_slot_staging_size(class);
	request->generation = slot->generation;
	request->incarnation = incarnation;
	request->ref = *ref;
	request->owner = CurrentResourceOwner;
	request->next = gpb_held;
	gpb_held = request;
	return request;
}

/* Hand the filled slot to the service. */
void
gpb_request_submit(GpbRequest *request)
{
	GpbRequestSlot *slot = request->slot;

	Assert(!request->pending && !request->lost);
	slot->mirror = request->ref.slot;
	slot->mirror_generation = request->ref.generation;
	slot->ok = false;
	request->pending = true;
	INSTR_TIME_SET_CURRENT(slot->submitted);
	pg_memory_barrier();
	pg_atomic_write_u32(&slot->state, GPB_SLOT_SUBMITTED);
	gpb_wake_service();
}

/* Is the service that the request was made for still there? */
static bool
gpb_request_served(const GpbRequest *request)
{
	return pg_atomic_read_u64(&gpb_shared->available) == request->incarnation;
}

/* Look for the answer for a short while, without sleeping.  Is it there? */
static bool
gpb_request_look(const GpbRequest *request)
{
	instr_time	start,
				now;

	INSTR_TIME_SET_CURRENT(start);
	do
	{
		if (pg_atomic_read_u32(&request->slot->state) == GPB_SLOT_DONE)
			return true;
		if (InterruptPending)
			break;
		SPIN_DELAY();
		INSTR_TIME_SET_CURRENT(now);
		INSTR_TIME_SUBTRACT(now, start);
	} while (INSTR_TIME_GET_MICROSEC(now) < GPB_LOOK_US);
	return false;
}

/*
 * Sleep until the answer is there.  False: the service is gone, or hangs.  Whether it does is asked before
 * the slot is looked at, so that an answer given at the last moment is found.
 */
static bool
gpb_request_sleep(const GpbRequest *request)
{
	GpbServiceWait wait;
	bool		slept = false;
	bool		waiting = false;

	for (;;)
	{
		bool		served = gpb_request_served(request) &&
			(waiting ? !gpb_service_hangs(&wait) : gpb_service_answers());

		pg_memory_barrier();
		if (pg_atomic_read_u32(&request->slot->state) == GPB_SLOT_DONE)
			return true;
		if (!served)
			return false;
		if (slept && !waiting)
		{
			gpb_service_wait_begin(&wait);
			waiting = true;
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 waiting ? gpb_service_wait_ms(&wait) : GPB_FIRST_SLEEP_MS,
						 PG_WAIT_EXTENSION);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		slept = true;
	}
}

/*
 * Wait for the answer.  False: there is none to be used.  If the service went away or hangs the request is
 * lost for good: it stays pending, and gpb_request_end abandons the slot.  Cancellable; the
 * caller holds no buffer lock, pin or LWLock.
 */
bool
gpb_request_wait(GpbRequest *request)
{
	GpbRequestSlot *slot = request->slot;

	Assert(request->pending);
	if (request->lost)
		return false;
	if (!gpb_request_look(request) && !gpb_request_sleep(request))
	{
		request->lost = true;
		pg_atomic_fetch_add_u64(&gpb_shared->statistics.failed_over, 1);
		return false;
	}
	pg_memory_barrier();
	request->pending = false;
	pg_atomic_write_u32(&slot->state, GPB_SLOT_CLAIMED);
	if (!slot->ok || slot->answered_generation != request->generation ||
		slot->incarnation != request->incarnation)
		request->lost = true;
	return !request->lost;
}

static bool
gpb_request_run(GpbRequest *request)
{
	if (request->lost)
		return false;
	gpb_request_submit(request);
	return gpb_request_wait(request);
}

/*
 * May this backend wait for a slot, or for units?  Not if it already holds a query or batch slot (one
 * query with several nodes, double buffering): two such backends could wait for each other.  A
 * refresh's slots are no reason: who holds one waits for none of these.
 */
bool
gpb_request_may_wait(void)
{
	GpbRequest *held;

	for (held = gpb_held; held != NULL; held = held->next)
	{
		if (held->class != GPB_REFRESH_SLOT)
			return false;
	}
	return true;
}

GpbRequest *
gpb_request_begin(const GpbMirrorRef *ref)
{
	return gpb_request_claim(GPB_QUERY_SLOT, ref, gpb_request_may_wait());
}

void
gpb_request_end(GpbRequest *request)
{
	if (request != NULL)
		gpb_request_forget(request);
}

bool
gpb_request_visibility(GpbRequest *request, uint64 offset, const void *bits, uint64 n)
{
	uint64		piece = request->staging_size;
	uint64		done;

	for (done = 0; done < n; done += piece)
	{
		piece = Min(piece, n - done);
		if (request->lost)
			return false;
		memcpy(request->staging, (const char *) bits + done, piece);
		request->slot->op = GPB_OP_VISIBILITY;
		request->slot->offset = offset + done;
		request->slot->n = piece;
		if (!gpb_request_run(request))
			return false;
	}
	return !request->lost;
}

bool
gpb_request_aggregate(GpbRequest *request, const GpbAggregateSpec *spec,
					  GpbAggregateResult *result, GpbFloatSum *sums)
{
	GpbRequestSlot *slot = request->slot;

	if (request->lost)
		return false;
	slot->op = GPB_OP_AGGREGATE;
	slot->spec = *spec;
	GPB_HOLD("aggregate-before-submit");
	if (!gpb_request_run(request))
		return false;
	*result = slot->result;
	if (sums != NULL)
		memcpy(sums, slot->sums, gpb_count_float_sums(spec) * sizeof(GpbFloatSum));
	return true;
}

bool
gpb_request_fetch(GpbRequest *request, GpbFetchWhat what, uint64 first, uint64 n, void *into)
{
	GpbRequestSlot *slot = request->slot;
	uint64		width = what == GPB_FETCH_UNCLEAN ? sizeof(GpbUncleanLeaf) :
	gpb_heap_entry_width(slot->spec.layout.row_width);
	uint64		piece = request->staging_size / width;
	uint64		done;

	for (done = 0; done < n; done += piece)
	{
		piece = Min(piece, n - done);
		if (request->lost)
			return false;
		slot->op = GPB_OP_FETCH;
		slot->what = what;
		slot->offset = first + done;
		slot->n = piece;
		slot->into = 0;
		if (!gpb_request_run(request))
			return false;
		memcpy((char *) into + done * width, request->staging, piece * width);
	}
	return true;
}
