/*-------------------------------------------------------------------------
 *
 * refusals.h
 *	  Indexes for which a device had no memory; see refusals.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_REFUSALS_H
#define GPB_REFUSALS_H

#include "mirror/map/registry.h"

extern Size gpb_refusals_size(void);
extern void gpb_refusals_init_shmem(void);

/*
 * Do not try to mirror the index again soon in this way on a device.  Registry lock held
 * exclusively.
 */
extern void gpb_refuse_mirror(const GpbIdentity *identity, GpbMirrorMode mode, int device);
/* Is the index not to be tried again yet in this way on a device?  Registry lock held. */
extern bool gpb_is_refused(const GpbIdentity *identity, GpbMirrorMode mode, int device);
/* Forget that the index was refused.  Takes the registry lock. */
extern void gpb_forgive(const GpbIdentity *identity);
/* Forget all refusals of a device.  Registry lock held exclusively. */
extern void gpb_forgive_all(int device);

#endif							/* GPB_REFUSALS_H */
