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

/*
 * The slot of the mirror that is to go first, of those on a device, or, if that is GPB_ANY_DEVICE,
 * on any that serves; other than slot "except" and pieces of the same index.  Of those that were
 * used at keep_since or later none goes, unless that is 0.  Registry lock held.
 */
#define GPB_ANY_DEVICE	(-1)
extern int	gpb_registry_least_used(int device, int except, TimestampTz keep_since);
/* Discard the mirror in a slot to make room.  Registry lock held exclusively. */
extern void gpb_registry_give_up(int slot);
/* Discard that mirror and wait until its device's service has freed it.  No LWLock held. */
extern bool gpb_registry_free_one(int except, TimestampTz keep_since);
/* Let the changed map cover nblocks of a mirror whose refresh the caller owns.  No LWLock held. */
extern bool gpb_registry_grow(const GpbMirrorRef *ref, BlockNumber nblocks);

#endif							/* GPB_EVICTION_H */
