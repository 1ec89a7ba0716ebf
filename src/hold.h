/*-------------------------------------------------------------------------
 *
 * hold.h
 *	  Points at which a test may hold a backend still.
 *
 * They are compiled only with -DGPB_HOLD_POINTS (make GPB_CFLAGS=-DGPB_HOLD_POINTS); the tests that
 * need an interleaving build so.  A session that has set
 *		gpubtree.hold_point = 'name'
 * takes and gives back the advisory lock (0, GPB_HOLD_LOCK) at the point of that name, and so waits
 * for a session that holds it:
 *		SELECT pg_advisory_lock(0, 7001);
 * gpubtree.hold_lock names another lock, for a second session to be held apart from the first.  The
 * lock is a heavyweight one, so that the isolation tester sees the wait.  A point may lie under a
 * buffer's content lock, never in a critical section.  At a point written GPB_FAIL the session
 * raises an error instead, as a full disk might.
 *
 * The service has no locks to wait for.  If the data directory has a file gpubtree_hold.NAME, the
 * service waits at point NAME until that file is removed, and shows that it does by a file
 * gpubtree_held.NAME.  At a point written GPB_SLOW_SERVICE it goes slowly: if there is a file
 * gpubtree_slow.NAME, it sleeps the nanoseconds written there for each of n things.  Where there
 * are several devices a file NAME.1 is for the service of device 1 alone.
 *
 * Where the session names the point programs-in-log, programs that it compiles, and what it cannot
 * compile, are written to the server's log (test/program_steps).
 *
 * At a point written GPB_STEP nobody can wait: a spinlock is held there.  The session calls the
 * function, if any, that its test has set.
 *
 * Hold points change no constant.  Where a test needs another value than production's, for instance
 * small segments of the changed map, there is a setting that exists only where hold points are
 * compiled in: gpubtree.segment_blocks in mirror/settings.h, gpubtree.rank_parts in exec/exec.c,
 * and those that are defined with gpb_hold_number().
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_HOLD_H
#define GPB_HOLD_H

#ifdef GPB_HOLD_POINTS
#define GPB_HOLD_LOCK	7001

extern void gpb_hold_init(void);
extern void gpb_hold_number(const char *name, const char *description, int *number);
extern void gpb_hold(const char *point);
extern void gpb_fail(const char *point);
extern void gpb_hold_service(const char *point);
extern bool gpb_hold_wanted(const char *point);
extern void gpb_slow_service(const char *point, uint64 n);
extern int	gpb_hold_device;
extern void (*gpb_step_hook) (const char *point);

#define GPB_HOLD(point) gpb_hold(point)
#define GPB_FAIL(point) gpb_fail(point)
#define GPB_HOLD_SERVICE(point) gpb_hold_service(point)
#define GPB_HOLD_WANTED(point) gpb_hold_wanted(point)
#define GPB_SLOW_SERVICE(point, n) gpb_slow_service(point, n)
#define GPB_STEP(point) (gpb_step_hook == NULL ? (void) 0 : gpb_step_hook(point))
#else
#define GPB_HOLD(point) ((void) 0)
#define GPB_FAIL(point) ((void) 0)
#define GPB_HOLD_SERVICE(point) ((void) 0)
#define GPB_HOLD_WANTED(point) false
#define GPB_SLOW_SERVICE(point, n) ((void) 0)
#define GPB_STEP(point) ((void) 0)
#endif

#endif							/* GPB_HOLD_H */
