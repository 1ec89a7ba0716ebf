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

extern int	gpb_registry_least_used(int except);
extern bool gpb_registry_free_one(int except);
extern bool gpb_registry_grow(int slot, BlockNumber nblocks);

#endif							/* GPB_EVICTION_H */
