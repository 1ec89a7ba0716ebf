/*-------------------------------------------------------------------------
 *
 * eviction.h
 *	  Which mirror makes room for another; see eviction.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_EVICTION_H
#define GPB_EVICTION_H

#include "mirror/map/registry.h"

/* The slot of the mirror that is to go first, other than slot "except".  Registry lock held. */
extern int	gpb_registry_least_used(int except);
/* Discard that mirror and wait until the service has freed it.  No LWLock held. */
extern bool gpb_registry_free_one(int except);
/* Let the changed map cover nblocks of a mirror whose refresh the caller owns.  No LWLock held. */
extern bool gpb_registry_grow(int slot, BlockNumber nblocks);

#endif							/* GPB_EVICTION_H */
