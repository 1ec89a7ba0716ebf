/*-------------------------------------------------------------------------
 *
 * refresher_state.h
 *	  What every process knows of the refresher, which brings mirrors up to date in the background;
 *	  in shared memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_REFRESHER_STATE_H
#define GPB_REFRESHER_STATE_H

#include "compat.h"

#include "port/atomics.h"

typedef struct GpbRefresherState
{
	pg_atomic_uint32 pgprocno;	/* plus 1; 0: no refresher */
	pg_atomic_uint32 asleep;	/* it sleeps until somebody sets its latch */

	/* counters since the server started; nothing depends on them */
	pg_atomic_uint64 turns;		/* turns that copied something */
	pg_atomic_uint64 pages;		/* pages copied */
} GpbRefresherState;

extern GpbRefresherState *gpb_refresher;	/* NULL until shared memory is there */

extern Size gpb_refresher_state_size(void);
extern void gpb_refresher_state_init_shmem(void);

/* Is there a refresher, and may it work?  Cheap. */
extern bool gpb_refresher_works(void);
/* A query uses a mirror, as "queried" says already: the refresher must not sleep.  Cheap. */
extern void gpb_wake_refresher(void);

#endif							/* GPB_REFRESHER_STATE_H */
