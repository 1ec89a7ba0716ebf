/*-------------------------------------------------------------------------
 *
 * service.h
 *	  What the service's own files share; private to service*.c.
 *
 *	service.c			the process: device, mirrors, refreshes, the loop
 *	service_query.c		queries: what is launched, polled, finished, fetched
 *	service_search.c	searches: joined if small, cut if large
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SERVICE_H
#define GPB_SERVICE_H

#include "mirror/shared.h"

extern const GpbDeviceApi *gpb_api;
extern GpbDevice *gpb_device;
extern uint64 gpb_incarnation;

/* ---- service.c ---- */

extern void gpb_device_check(GpbDeviceStatus status);
extern bool gpb_request_is_valid(const GpbRequestSlot *slot);
extern GpbDeviceMirror *gpb_searchable_mirror(const GpbRequestSlot *slot);
extern GpbDeviceMirror *gpb_full_mirror(const GpbRequestSlot *slot);

/* ---- service_query.c ---- */

typedef enum GpbFlightKind
{
	GPB_NO_FLIGHT = 0,
	GPB_AGGREGATE_FLIGHT,
	GPB_RANGES_FLIGHT,
	GPB_SEARCH_FLIGHT
} GpbFlightKind;

extern int	gpb_channels_needed(void);
extern void gpb_queries_init(void);
extern bool gpb_serve_queries(void);

extern const uint32 *gpb_read_changed(const GpbRequestSlot *slot, uint32 *nblocks);
extern int	gpb_batch_channel(int number);
extern bool gpb_channel_is_free(int channel);
extern int	gpb_spare_channel(void);
extern void gpb_take_off(GpbFlightKind kind, int channel, const int *numbers, int n);
extern void gpb_answer_batch(int number, bool ok);

/* ---- service_search.c ---- */

extern void gpb_searches_init(void);
extern void gpb_search_submitted(int number);
extern bool gpb_search_has_slot(int number);
extern bool gpb_launch_searches(void);
extern void gpb_search_landed(int number, bool ok);

#endif							/* GPB_SERVICE_H */
