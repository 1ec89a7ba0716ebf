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

/* ---- attach.c, for pieces.c; registry lock held, unless said otherwise ---- */

extern GpbMirrorMode gpb_mirror_mode_for(const GpbIdentity *identity, BlockNumber nblocks);
/* Has the mirror in the slot a service that answers? */
extern bool gpb_slot_is_served(int slot);
/* Find a mirror of all pages that may serve, without a lock. */
extern bool gpb_find_whole(const GpbIdentity *identity, BlockNumber nblocks, GpbMirrorRef *ref);
/* Fill in a reference to the live mirror in a slot, which is used now. */
extern void gpb_refer(int slot, GpbMirrorRef *ref);

/* What an empty mirror is to be */
typedef struct GpbNewMirror
{
	GpbMirrorMode mode;
	int			device;
	GpbRange	range;			/* of all entries, unless it is a piece */
	double		share;
} GpbNewMirror;

extern int	gpb_publish_empty(const GpbIdentity *identity, const GpbLayout *layout,
							  BlockNumber nblocks, const GpbNewMirror *new);

/* Has the index pieces?  Registry lock held, here and below. */
extern bool gpb_has_pieces(const GpbIdentity *identity);
/* Count all pieces of an index as used now. */
extern void gpb_use_pieces(const GpbIdentity *identity);

#endif							/* GPB_ATTACH_H */
