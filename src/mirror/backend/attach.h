/*-------------------------------------------------------------------------
 *
 * attach.h
 *	  What the backend's other files ask about an index that is to be mirrored; see attach.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ATTACH_H
#define GPB_ATTACH_H

#include "mirror/map/registry.h"

extern void gpb_identity_of(Relation index, GpbIdentity *identity);
extern bool gpb_may_mirror(Relation index);

#endif							/* GPB_ATTACH_H */
