/*-------------------------------------------------------------------------
 *
 * refresher.c
 *	  The background worker that brings mirrors up to date beside the queries that use them: the
 *	  process, which mirrors it looks at, when, and at which rate.
 *
 * No database connection and no transactions, as the service has none (rule M9): it is in nobody's
 * list of sessions, so neither DROP DATABASE nor a recovery conflict waits for it or cancels it.
 * It uses shared buffers, but reads nothing into them (turn.c), and opens no file.
 *
 * A mirror is hot for a few seconds after a query used it.  While there is a hot mirror the
 * refresher looks at all hot ones every few milliseconds; else it sleeps until a query wakes it.
 *
 * An error ends the process, as does SIGTERM: what it holds goes back in refresher_exit(), and the
 * postmaster starts another one a second later, which has nothing to clear up.  Until then queries
 * refresh for themselves.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/refresher/refresher.h"

#include "miscadmin.h"
#include "portability/instr_time.h"
#include "postmaster/bgworker.h"
#include "postmaster/interrupt.h"
#include "storage/ipc.h"
#include "storage/latch.h"
#include "storage/proc.h"
#include "tcop/tcopprot.h"
#include "utils/guc.h"
#include "utils/memutils.h"
#include "utils/resowner.h"
#include "utils/timestamp.h"

#include "hold.h"
#include "mirror/refresher_state.h"
#include "mirror/service_state.h"
#include "mirror/settings.h"
#include "waits.h"

/* How long a mirror is hot after its last use, in milliseconds */
#define GPB_HOT_MS			5000

/*
 * How long the refresher sleeps between two looks, in milliseconds: when more is known to be
 * changed, but a query may want to refresh the mirror itself; when something was copied; and when
 * there was nothing to copy.
 */
#define GPB_BACKLOG_MS		1
#define GPB_BUSY_MS			4
#define GPB_IDLE_MS			10
/* The longest that it leaves a mirror alone whose changed blocks are not in shared buffers */
#define GPB_FRUITLESS_MS	1000

/*
 * The most pages of a turn: a query that wants to refresh the mirror itself waits for the turn,
 * some 2 us for each page.
 */
#define GPB_TURN_PAGES		1024

/* The rate is kept over so many milliseconds */
#define GPB_RATE_MS			50

/* What the refresher remembers of a registry slot */
typedef struct GpbHotMirror
{
	GpbPass		pass;
	int			fruitless;		/* turns since the last one that was not */
	double		next;			/* no turn before; in seconds, see seconds_now() */
} GpbHotMirror;

static GpbHotMirror hot_mirrors[GPB_MIRRORS];
static MemoryContext turn_context;

/* Pages that may be copied now; the rate adds to them as time goes by */
static double allowance = 0;
static double allowance_at = 0;

/* A clock that is never set. */
static double
seconds_now(void)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	return INSTR_TIME_GET_DOUBLE(now);
}

/* ---- rate ---- */

/* The number of pages that a turn may copy now. */
static uint32
pages_allowed(double now)
{
	double		rate = gpb_background_refresh_rate;

	allowance += rate * (now - allowance_at);
	allowance = Min(allowance, Max(rate * GPB_RATE_MS / 1000, 1));
	allowance_at = now;
	return allowance < 1 ? 0 : (uint32) Min(allowance, GPB_TURN_PAGES);
}

/* ---- which mirrors ---- */

/* Is there a mirror with leaves in the slot, with a service, that a query has used lately? */
static bool
is_hot(int slot, TimestampTz now)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];
	TimestampTz queried = (TimestampTz) pg_atomic_read_u64(&mirror->queried);

	return pg_atomic_read_u32(&mirror->state) == GPB_MIRROR_LIVE &&
		pg_atomic_read_u32(&mirror->mode) != GPB_MIRROR_INNER_ONLY &&
		gpb_service_is_there(mirror->device) &&
		!TimestampDifferenceExceeds(queried, now, GPB_HOT_MS);
}

/* Is there a hot mirror? */
static bool
any_hot(void)
{
	TimestampTz now = GetCurrentTimestamp();
	int			slot;

	if (!gpb_background_refresh)
		return false;
	for (slot = 0; slot < GPB_MIRRORS; slot++)
	{
		if (is_hot(slot, now))
			return true;
	}
	return false;
}

/*
 * Give the mirror in a slot a turn, unless it is to be left alone for a while.  Returns how long
 * the refresher may sleep after that, in milliseconds.
 */
static long
give_turn(int slot)
{
	GpbHotMirror *hot = &hot_mirrors[slot];
	double		now = seconds_now();
	uint32		budget = pages_allowed(now);
	MemoryContext caller;
	GpbTurn		turn;

	if (budget == 0 || now < hot->next)
		return GPB_IDLE_MS;
	caller = MemoryContextSwitchTo(turn_context);
	turn = gpb_refresher_turn(slot, &hot->pass, budget);
	MemoryContextSwitchTo(caller);
	MemoryContextReset(turn_context);
	allowance -= turn.pages;
	hot->fruitless = turn.fruitless ? Min(hot->fruitless + 1, 10) : 0;
	hot->next = turn.fruitless ?
		now + Min(GPB_IDLE_MS << hot->fruitless, GPB_FRUITLESS_MS) / 1000.0 : now;
	if (turn.more)
		return GPB_BACKLOG_MS;
	return turn.pages > 0 ? GPB_BUSY_MS : GPB_IDLE_MS;
}

/* Give each hot mirror a turn.  Returns how long the refresher may sleep, in milliseconds. */
static long
look_around(void)
{
	static int	first = 0;
	TimestampTz now = GetCurrentTimestamp();
	long		sleep = GPB_IDLE_MS;
	int			i;

	/* each look begins one slot further, so that not always the same mirrors get the allowance */
	first = (first + 1) % GPB_MIRRORS;
	for (i = 0; i < GPB_MIRRORS; i++)
	{
		int			slot = (first + i) % GPB_MIRRORS;

		if (is_hot(slot, now))
			sleep = Min(sleep, give_turn(slot));
	}
	return sleep;
}

/* ---- the process ---- */

/* Give everything back: no transaction's end does it here. */
static void
refresher_exit(int code, Datum arg)
{
	pg_atomic_write_u32(&gpb_refresher->pgprocno, 0);
	pg_atomic_write_u32(&gpb_refresher->asleep, 0);
	ResourceOwnerRelease(CurrentResourceOwner, RESOURCE_RELEASE_BEFORE_LOCKS, false, true);
}

static void
refresher_begin(void)
{
	CurrentResourceOwner = ResourceOwnerCreate(NULL, "gpubtree refresher");
	turn_context = AllocSetContextCreate(TopMemoryContext, "gpubtree turn",
										 ALLOCSET_DEFAULT_SIZES);
	allowance_at = seconds_now();
	before_shmem_exit(refresher_exit, (Datum) 0);
	pg_atomic_write_u32(&gpb_refresher->asleep, 0);
	pg_atomic_write_u32(&gpb_refresher->pgprocno, MyProcNumber + 1);
}

/* Look for signals and changed settings. */
static void
refresher_interrupts(void)
{
	/* without a turn there is nothing to say about it; within one CHECK_FOR_INTERRUPTS() does */
	if (ProcDiePending)
		proc_exit(1);
	CHECK_FOR_INTERRUPTS();
	if (!ConfigReloadPending)
		return;
	ConfigReloadPending = false;
	ProcessConfigFile(PGC_SIGHUP);
}

/* Sleep until the latch is set, or for so many milliseconds if that is not -1. */
static void
refresher_sleep(long ms)
{
	(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_EXIT_ON_PM_DEATH | (ms >= 0 ? WL_TIMEOUT : 0), ms,
					 gpb_waits[GPB_WAIT_REFRESHER]);
}

void
gpb_refresher_main(Datum arg)
{
	pqsignal(SIGTERM, die);
	pqsignal(SIGHUP, SignalHandlerForConfigReload);
	BackgroundWorkerUnblockSignals();
	refresher_begin();
	for (;;)
	{
		ResetLatch(MyLatch);
		refresher_interrupts();
		if (any_hot())
		{
			refresher_sleep(look_around());
			continue;
		}
		GPB_HOLD_SERVICE("refresher-sleep");
		/* a query that uses a mirror after the second look finds us asleep, and sets the latch */
		pg_atomic_write_u32(&gpb_refresher->asleep, 1);
		pg_memory_barrier();
		if (!any_hot())
			refresher_sleep(-1);
		pg_atomic_write_u32(&gpb_refresher->asleep, 0);
	}
}
