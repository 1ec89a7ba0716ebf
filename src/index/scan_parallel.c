/*-------------------------------------------------------------------------
 *
 * scan_parallel.c
 *	  A scan of the index that several processes share, leaf by leaf.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "pgstat.h"
#include "storage/condition_variable.h"
#include "storage/spin.h"

#include "index/scan_parallel.h"

typedef enum GpbParallelState
{
	GPB_PARALLEL_IDLE,			/* anybody may go on from the place */
	GPB_PARALLEL_SEIZED,		/* somebody seeks the next leaf */
	GPB_PARALLEL_DONE
} GpbParallelState;

/* What the processes of a scan share */
typedef struct GpbParallelScan
{
	ConditionVariable released; /* the state is no longer GPB_PARALLEL_SEIZED */
	slock_t		lock;			/* of what follows */
	GpbParallelState state;
	GpbPlace	place;			/* its block is InvalidBlockNumber before the first leaf */
} GpbParallelScan;

static GpbParallelScan *
shared_scan(IndexScanDesc scan)
{
	return (GpbParallelScan *) OffsetToPointer(scan->parallel_scan,
											   scan->parallel_scan->GPB_PARALLEL_OFFSET);
}

/* Set the state, and the place if it is not NULL. */
static void
set_state(GpbParallelScan *shared, GpbParallelState state, const GpbPlace *place)
{
	SpinLockAcquire(&shared->lock);
	shared->state = state;
	if (place != NULL)
		shared->place = *place;
	SpinLockRelease(&shared->lock);
}

bool
gpb_parallel_scan_seize(IndexScanDesc scan, GpbPlace *place)
{
	GpbParallelScan *shared = shared_scan(scan);
	GpbParallelState state;

	for (;;)
	{
		SpinLockAcquire(&shared->lock);
		state = shared->state;
		*place = shared->place;
		if (state == GPB_PARALLEL_IDLE)
			shared->state = GPB_PARALLEL_SEIZED;
		SpinLockRelease(&shared->lock);
		if (state != GPB_PARALLEL_SEIZED)
			break;
		ConditionVariableSleep(&shared->released, WAIT_EVENT_BTREE_PAGE);
	}
	ConditionVariableCancelSleep();
	return state == GPB_PARALLEL_IDLE;
}

void
gpb_parallel_scan_release(IndexScanDesc scan, const GpbPlace *place)
{
	GpbParallelScan *shared = shared_scan(scan);

	set_state(shared, GPB_PARALLEL_IDLE, place);
	ConditionVariableSignal(&shared->released);
}

void
gpb_parallel_scan_done(IndexScanDesc scan)
{
	GpbParallelScan *shared = shared_scan(scan);

	set_state(shared, GPB_PARALLEL_DONE, NULL);
	ConditionVariableBroadcast(&shared->released);
}

void
gpb_parallel_scan_init(void *target)
{
	GpbParallelScan *shared = target;

	ConditionVariableInit(&shared->released);
	SpinLockInit(&shared->lock);
	shared->state = GPB_PARALLEL_IDLE;
	shared->place.block = InvalidBlockNumber;
}

void
gpb_parallel_scan_restart(IndexScanDesc scan)
{
	GpbPlace	nowhere = {.block = InvalidBlockNumber};

	set_state(shared_scan(scan), GPB_PARALLEL_IDLE, &nowhere);
}

Size
gpb_estimate_parallel_scan(GPB_PARALLEL_SIZE_ARGUMENTS)
{
	return sizeof(GpbParallelScan);
}
