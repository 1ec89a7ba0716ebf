/*-------------------------------------------------------------------------
 *
 * request.c
 *	  A backend's requests: claim a slot, submit, wait.
 *
 * slots.c says whose a slot is at which time, held.c how it is given back, after errors too;
 * request_query.c has what queries ask for, refresh_transfer.c what refreshes do.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/backend/request.h"

#include <unistd.h>

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "storage/s_lock.h"
#include "utils/memutils.h"

#include "hold.h"
#include "mirror/backend/held.h"
#include "mirror/heartbeat.h"
#include "mirror/service_state.h"
#include "mirror/statistics.h"
#include "program/leaf_aggregate.h"
#include "waits.h"

/*
 * To be put to sleep and woken costs both sides system calls, more than a small request takes.  So
 * a backend looks for the answer before it sleeps, about twice as long as its answers took lately,
 * if they took no more than GPB_LOOK_WORTH_US.  No more backends look at a time than leave a
 * processor to each service, and one to others.
 */
#define GPB_FIRST_LOOK_US	30
#define GPB_LOOK_WORTH_US	200
#define GPB_SHORT_LOOK_US	5

static double usual_us = GPB_FIRST_LOOK_US; /* what this backend's answers took lately */

/*
 * How long, in ms, a backend then sleeps before it asks for a heartbeat, for which the service must
 * be woken.
 */
#define GPB_FIRST_SLEEP_MS	100

/* ---- claim ---- */

/*
 * Claim a free slot of the device and class.  Returns NULL if there is none and the caller does not
 * wait, or if there is no service.
 */
static GpbRequestSlot *
claim_slot(int device, GpbSlotClass class, bool wait, int *number)
{
	GpbRequestSlot *slot = gpb_slot_try_claim(device, class, number);
	ConditionVariable *cv = gpb_slot_freed_cv(device, class);
	GpbServiceWait service;

	if (slot != NULL || !wait)
		return slot;
	ConditionVariablePrepareToSleep(cv);
	gpb_service_wait_begin(&service, device);
	while (gpb_service_is_there(device) && !gpb_service_hangs(&service) &&
		   (slot = gpb_slot_try_claim(device, class, number)) == NULL)
		ConditionVariableTimedSleep(cv, gpb_service_wait_ms(&service), gpb_waits[GPB_WAIT_SLOT]);
	ConditionVariableCancelSleep();
	return slot;
}

GpbRequest *
gpb_request_claim(GpbSlotClass class, const GpbMirrorRef *ref, bool wait)
{
	int			device = ref->device;
	uint64		incarnation = pg_atomic_read_u64(&gpb_services[device].available);
	GpbRequest *request;
	GpbRequestSlot *slot;
	int			number;

	if (incarnation == 0 || !gpb_service_answers(device))
		return NULL;
	gpb_held_prepare();
	request = MemoryContextAllocZero(TopMemoryContext, sizeof(GpbRequest));
	PG_TRY();
	{
		slot = claim_slot(device, class, wait, &number);
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
	slot->pgprocno = MyProcNumber;
	pg_atomic_write_u32(&slot->sleeps, 0);
	slot->generation++;
	slot->incarnation = incarnation;
	request->class = class;
	request->number = number;
	request->slot = slot;
	request->staging = gpb_slot_staging(device, class, number);
	request->staging_size = gpb_slot_staging_size(class);
	request->generation = slot->generation;
	request->incarnation = incarnation;
	request->ref = *ref;
	gpb_hold_request(request);
	return request;
}

/* ---- submit and wait ---- */

bool
gpb_request_submit(GpbRequest *request, GpbOperation op)
{
	GpbRequestSlot *slot = request->slot;

	if (request->lost)
		return false;
	Assert(!request->pending);
	slot->op = op;
	slot->mirror = request->ref.slot;
	slot->mirror_generation = request->ref.generation;
	slot->keep_since = request->ref.keep_since;
	slot->ok = false;
	request->pending = true;
	INSTR_TIME_SET_CURRENT(slot->submitted);
	pg_memory_barrier();
	pg_atomic_write_u32(&slot->state, GPB_SLOT_SUBMITTED);
	gpb_wake_service(slot->device);
	return true;
}

/* Is the service that the request was made for still there? */
static bool
is_served(const GpbRequest *request)
{
	return pg_atomic_read_u64(&gpb_services[request->slot->device].available) ==
		request->incarnation;
}

bool
gpb_request_answered(const GpbRequest *request)
{
	return !request->pending || request->lost || !is_served(request) ||
		pg_atomic_read_u32(&request->slot->state) == GPB_SLOT_DONE;
}

/* How many backends may look at a time */
static uint32
most_lookers(void)
{
	static long processors = 0;

	if (processors == 0)
		processors = sysconf(_SC_NPROCESSORS_ONLN);
	return (uint32) Max(processors - 1 - gpb_devices, 1);
}

/* Look for the answer for so many microseconds.  Is it there? */
static bool
look_for(const GpbRequest *request, double most_us)
{
	instr_time	start,
				now;

	INSTR_TIME_SET_CURRENT(start);
	do
	{
		int			i;

		for (i = 0; i < 16; i++)
		{
			if (pg_atomic_read_u32(&request->slot->state) == GPB_SLOT_DONE)
				return true;
			SPIN_DELAY();
		}
		if (InterruptPending)
			break;
		INSTR_TIME_SET_CURRENT(now);
		INSTR_TIME_SUBTRACT(now, start);
	} while (INSTR_TIME_GET_MICROSEC(now) < most_us);
	return false;
}

/* Look for the answer for a short while, without sleeping, unless too many do.  Is it there? */
static bool
look_for_answer(const GpbRequest *request)
{
	bool		found = false;

	/* Nothing is raised between the two changes of the count. */
	if (pg_atomic_add_fetch_u32(&gpb_services[0].lookers, 1) <= most_lookers())
		found = look_for(request, usual_us <= GPB_LOOK_WORTH_US ?
						 2 * usual_us + GPB_FIRST_LOOK_US / 2 : GPB_SHORT_LOOK_US);
	pg_atomic_fetch_sub_u32(&gpb_services[0].lookers, 1);
	return found;
}

/* Learn from an answer how long answers take. */
static void
note_answer_time(const GpbRequestSlot *slot)
{
	instr_time	taken = slot->answered;

	INSTR_TIME_SUBTRACT(taken, slot->submitted);
	usual_us += (Min(INSTR_TIME_GET_MICROSEC(taken), 10 * GPB_LOOK_WORTH_US) - usual_us) / 8;
}

/*
 * Sleep until the answer is there.  Returns false if the service is gone or hangs.  Whether it does
 * is asked before the slot is looked at, so that an answer given at the last moment is found.
 */
static bool
sleep_till_answer(const GpbRequest *request)
{
	GpbServiceWait wait;
	bool		slept = false;
	bool		waiting = false;

	for (;;)
	{
		bool		served = is_served(request) &&
			(waiting ? !gpb_service_hangs(&wait) : gpb_service_answers(request->slot->device));

		pg_memory_barrier();
		if (pg_atomic_read_u32(&request->slot->state) == GPB_SLOT_DONE)
			return true;
		if (!served)
			return false;
		if (slept && !waiting)
		{
			gpb_service_wait_begin(&wait, request->slot->device);
			waiting = true;
		}
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 waiting ? gpb_service_wait_ms(&wait) : GPB_FIRST_SLEEP_MS,
						 gpb_waits[GPB_WAIT_ANSWER]);
		ResetLatch(MyLatch);
		CHECK_FOR_INTERRUPTS();
		slept = true;
	}
}

/* Sleep until the answer is there, and let the service know that it is to wake us. */
static bool
sleep_for_answer(const GpbRequest *request)
{
	bool		answered;

	GPB_HOLD("request-before-sleep");
	pg_atomic_write_u32(&request->slot->sleeps, 1);
	pg_memory_barrier();
	answered = sleep_till_answer(request);
	if (answered)
		pg_atomic_write_u32(&request->slot->sleeps, 0);
	return answered;
}

/*
 * Wait for the answer.  Returns false if there is none to be used.  If the service went away or
 * hangs the request is lost for good: it stays pending, and gpb_request_end() abandons the slot.
 */
bool
gpb_request_wait(GpbRequest *request)
{
	GpbRequestSlot *slot = request->slot;

	if (!request->pending || request->lost)
		return false;
	if (!look_for_answer(request) && !sleep_for_answer(request))
	{
		request->lost = true;
		pg_atomic_fetch_add_u64(&gpb_statistics->failed_over, 1);
		return false;
	}
	pg_memory_barrier();
	note_answer_time(slot);
	request->pending = false;
	pg_atomic_write_u32(&slot->state, GPB_SLOT_CLAIMED);
	if (!slot->ok || slot->answered_generation != request->generation ||
		slot->incarnation != request->incarnation)
		request->lost = true;
	return !request->lost;
}
