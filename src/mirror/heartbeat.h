/*-------------------------------------------------------------------------
 *
 * heartbeat.h
 *	  How long a backend waits for a service that shows no sign of life; see heartbeat.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_HEARTBEAT_H
#define GPB_HEARTBEAT_H

#include "compat.h"

#include "portability/instr_time.h"

/* A backend's wait for the service of a device */
typedef struct GpbServiceWait
{
	int			device;
	uint64		heartbeat;		/* the last heartbeat that was seen */
	double		silent_ms;		/* how long no other heartbeat has been seen since */
	instr_time	looked;			/* when that was last looked at */
} GpbServiceWait;

/* A service shows that it is alive. */
extern void gpb_heartbeat(void);
/* Has a device's service moved since a backend last found that it hangs?  Cheap. */
extern bool gpb_service_answers(int device);
/* Has the device a service that has opened it, and answers?  Cheap. */
extern bool gpb_service_serves(int device);

/*
 * A backend that waits for a service begins a wait, sleeps at most gpb_service_wait_ms() at a
 * time, and asks gpb_service_hangs() after each sleep.
 */
extern void gpb_service_wait_begin(GpbServiceWait *wait, int device);
extern long gpb_service_wait_ms(const GpbServiceWait *wait);
extern bool gpb_service_hangs(GpbServiceWait *wait);

#endif							/* GPB_HEARTBEAT_H */
