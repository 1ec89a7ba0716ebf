/*-------------------------------------------------------------------------
 *
 * waits.h
 *	  What pg_stat_activity says that a process of ours waits for.
 *
 * Since 17 an extension's wait events have names, which pg_wait_events lists; to 16 all are
 * "Extension".
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_WAITS_H
#define GPB_WAITS_H

#include "utils/wait_event.h"

typedef enum GpbWait
{
	GPB_WAIT_ANSWER,			/* a backend: for what the device answers */
	GPB_WAIT_SLOT,				/* a backend: for a free slot of requests */
	GPB_WAIT_BATCH_MEMORY,		/* a backend: for room in gpubtree.batch_memory */
	GPB_WAIT_REFRESH,			/* a backend, the refresher: for the owner of a mirror's refresh */
	GPB_WAIT_EVICTION,			/* a backend: for the memory of a mirror that makes room */
	GPB_WAIT_KEY_EXCHANGE,		/* a process of a join: for the keys of the others */
	GPB_WAIT_SERVICE,			/* the service: for requests */
	GPB_WAIT_REFRESHER,			/* the refresher: for its next turn */
	GPB_WAITS
} GpbWait;

/* What WaitLatch() and its like take for each */
extern uint32 gpb_waits[GPB_WAITS];

extern void gpb_waits_init(void);

#endif							/* GPB_WAITS_H */
