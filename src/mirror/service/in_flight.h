/*-------------------------------------------------------------------------
 *
 * in_flight.h
 *	  Requests in flight: what the device was given and has not completed; see in_flight.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_IN_FLIGHT_H
#define GPB_IN_FLIGHT_H

#include "mirror/request_slot.h"

#include "search.h"

typedef enum GpbLaunchKind
{
	GPB_NOTHING_LAUNCHED = 0,
	GPB_RANGES_LAUNCHED,
	GPB_JOINED_RANGES_LAUNCHED,
	GPB_SEARCH_LAUNCHED,
	GPB_SORT_LAUNCHED
} GpbLaunchKind;

/* What is in flight on a channel */
typedef struct GpbLaunch
{
	GpbLaunchKind kind;
	int			nslots;
	int			number[GPB_SEARCH_PIECES];	/* of the query slots */
} GpbLaunch;

/* How many channels the device is to be opened with. */
extern int	gpb_channels_needed(void);
extern void gpb_in_flight_init(void);

/* The channel of a query slot */
extern int	gpb_query_channel(int number);
extern bool gpb_channel_is_free(int channel);
/* A spare channel on which nothing is in flight, or -1 if there is none. */
extern int	gpb_spare_channel(void);

/*
 * Read the changed map of the request's mirror as rule M4 wants it, for a launch: *changed is NULL
 * if no bit is set.  Returns false if the mirror is not live.
 */
extern bool gpb_read_changed(const GpbRequestSlot *slot, const uint32 **changed, uint32 *nblocks);

/*
 * Note that a launch for n slots is in flight on a channel, until gpb_has_ended() says that it has
 * ended and it is taken from the channel.
 */
extern void gpb_note_launch(GpbLaunchKind kind, int channel, const int *numbers, int n);
extern bool gpb_any_in_flight(void);
/* Has the launch in flight on the channel ended? */
extern bool gpb_has_ended(int channel);
extern GpbLaunch gpb_take_launch(int channel);

/* Answer a query slot, and count what it asked for. */
extern void gpb_answer_query(int number, bool ok);

#endif							/* GPB_IN_FLIGHT_H */
