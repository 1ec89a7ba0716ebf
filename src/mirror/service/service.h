/*-------------------------------------------------------------------------
 *
 * service.h
 *	  What the service does, by file; private to the service.
 *
 *	start.c				at server start: shared memory, registering the worker
 *	service.c			the process and its loop
 *	service_device.c	choosing and opening the device
 *	served.c			the mirrors on the device
 *	service_refresh.c	refreshes: pages and inner images
 *	inner.c				level 1 of an index, as the pages uploaded have it
 *	service_query.c		queries: launched, polled, completed, fetched
 *	service_ranges.c	ranges: joined if few, else launched one by one
 *	service_bits.c		the visibility bits that launches of ranges read
 *	service_search.c	searches: joined if small, cut into chunks if large
 *	service_sort.c		sorts of the records of builds
 *	in_flight.c			channels, launches in flight, answers
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SERVICE_H
#define GPB_SERVICE_H

#include "compat.h"

#include "mirror/service_state.h"
#include "mirror/slots.h"

extern PGDLLEXPORT void gpb_service_main(Datum arg);

/* A slot of the service's own device */
static inline GpbRequestSlot *
gpb_own_slot(GpbSlotClass class, int number)
{
	return gpb_slot_at(gpb_service_device, class, number);
}

/* ---- service_refresh.c ---- */

extern bool gpb_serve_refreshes(void);

/* ---- service_query.c ---- */

extern void gpb_queries_init(void);
extern bool gpb_serve_queries(void);

/* ---- service_ranges.c ---- */

struct GpbLaunch;
struct GpbRequestSlot;

extern void gpb_ranges_init(void);
/* Ranges were found in a query slot. */
extern void gpb_ranges_submitted(int number);
extern bool gpb_ranges_has_slot(int number);
extern bool gpb_launch_ranges(void);
/* The launch of a query slot's ranges has ended; a joined launch has. */
extern void gpb_ranges_completed(int channel, int number);
extern void gpb_ranges_joined_completed(const struct GpbLaunch *launch);
/* Copy records that a slot's ranges left behind to its staging. */
extern bool gpb_serve_fetch(int channel, const struct GpbRequestSlot *slot, char *staging,
							Size size);

/* ---- service_search.c ---- */

extern void gpb_searches_init(void);
/* A search was found in a query slot. */
extern void gpb_search_submitted(int number);
extern bool gpb_search_has_slot(int number);
extern bool gpb_launch_searches(void);
/* A launch with keys of a query slot's search has ended. */
extern void gpb_search_completed(int number, bool ok);

/* ---- service_sort.c ---- */

extern void gpb_sorts_init(void);
/* Free what slots that were given back have left of sorts. */
extern void gpb_sorts_reap(void);
/* Records of a sort, or a wish for some, were found in a query slot. */
extern void gpb_sort_submitted(int number);
/* The launch for a query slot's sort has ended. */
extern void gpb_sort_completed(int channel, int number);

#endif							/* GPB_SERVICE_H */
