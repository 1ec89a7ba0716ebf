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

/* What a mirror of this index must have been made of (rule M1). */
extern void gpb_identity_of(Relation index, GpbIdentity *identity);
/* May the index be mirrored at all? */
extern bool gpb_may_mirror(Relation index);

#endif							/* GPB_ATTACH_H */
