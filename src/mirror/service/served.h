/*-------------------------------------------------------------------------
 *
 * served.h
 *	  The device's side of the registry: which mirrors the service has; see served.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SERVED_H
#define GPB_SERVED_H

#include "mirror/request_slot.h"
#include "mirror/service/inner.h"
#include "mirror/service/piece_images.h"
#include "mirror/service/service_device.h"

/* The device's side of a registry slot */
typedef struct GpbServed
{
	GpbDeviceMirror *mirror;	/* NULL if it has none yet */
	GpbInnerPages *inner;
	GpbPieceImages *images;		/* of a piece; else NULL */
	uint64		generation;		/* of the registry slot it was made for */
	bool		has_inner;
} GpbServed;

extern uint64 gpb_incarnation;	/* of this service */

/* Has the mirror in a registry slot the inner nodes alone?  Is it a piece? */
extern bool gpb_is_inner_only(int slot);
extern bool gpb_is_piece(int slot);
/* The images of a piece that a request asks for, or NULL if it is none; the mirror is there. */
extern GpbPieceImages *gpb_served_images(const GpbRequestSlot *slot);
/* Is the request meant for this service, and about a live mirror? */
extern bool gpb_request_is_valid(const GpbRequestSlot *slot);
/*
 * The device's mirror that a request asks for, if it can be searched; if it has leaves, too; or
 * NULL.
 */
extern GpbDeviceMirror *gpb_searchable_mirror(const GpbRequestSlot *slot);
extern GpbDeviceMirror *gpb_full_mirror(const GpbRequestSlot *slot);

/* The device's side of the request's mirror, made if need be; NULL if there is no memory. */
extern GpbServed *gpb_served_for(const GpbRequestSlot *slot);
/* Is a call that ended with this status to be tried again, now that there is more memory? */
extern bool gpb_should_retry(GpbDeviceStatus status, const GpbRequestSlot *slot);
/* Give up a mirror that finds no memory. */
extern void gpb_give_up(int slot);
/* Free what was discarded. */
extern void gpb_reap_discarded(void);

#endif							/* GPB_SERVED_H */
