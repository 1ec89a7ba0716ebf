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
#include "mirror/service/service_device.h"

/* The device's side of a registry slot */
typedef struct GpbServed
{
	GpbDeviceMirror *mirror;	/* NULL: none yet */
	GpbInnerPages *inner;
	uint64		generation;		/* of the registry slot it was made for */
	bool		has_inner;
} GpbServed;

extern uint64 gpb_incarnation;	/* of this service */

extern bool gpb_is_inner_only(int slot);
extern bool gpb_request_is_valid(const GpbRequestSlot *slot);
extern GpbDeviceMirror *gpb_searchable_mirror(const GpbRequestSlot *slot);
extern GpbDeviceMirror *gpb_full_mirror(const GpbRequestSlot *slot);

extern GpbServed *gpb_served_for(const GpbRequestSlot *slot);
extern bool gpb_should_retry(GpbDeviceStatus status, const GpbRequestSlot *slot);
extern void gpb_give_up(int slot);
extern void gpb_reap_discarded(void);

#endif							/* GPB_SERVED_H */
