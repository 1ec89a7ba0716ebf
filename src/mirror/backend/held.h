/*-------------------------------------------------------------------------
 *
 * held.h
 *	  What this backend holds of the mirror: request slots and ownerships; see held.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_HELD_H
#define GPB_HELD_H

#include "mirror/backend/request.h"

/*
 * Register what gives things back at the end of a resource owner.  To be called before anything is
 * taken.
 */
extern void gpb_held_prepare(void);

/* Note a request whose slot was claimed just now; gpb_request_end() gives the slot back. */
extern void gpb_hold_request(GpbRequest *request);
/* May this backend wait for a slot, or for units? */
extern bool gpb_request_may_wait(void);

/* Take ownership of a mirror's refresh; give it back. */
extern bool gpb_hold_ownership(int slot);
extern bool gpb_try_hold_ownership(int slot);
extern void gpb_release_ownership(int slot);

#endif							/* GPB_HELD_H */
