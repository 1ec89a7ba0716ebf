/*-------------------------------------------------------------------------
 *
 * service_bits.h
 *	  The visibility bits that launches of ranges read; see service_bits.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SERVICE_BITS_H
#define GPB_SERVICE_BITS_H

#include "mirror/request_slot.h"

extern void gpb_bits_init(void);
/*
 * Let the channel's next launch read the bits of the map image that the slot refers to, or, if it
 * refers to none, the bits that were sent to the channel.  Returns false if there is no memory.
 */
extern bool gpb_give_bits(int channel, const GpbRequestSlot *slot);
/* Note that the launch is in flight; that it is complete. */
extern void gpb_bits_in_flight(int channel);
extern void gpb_bits_done(int channel);

#endif							/* GPB_SERVICE_BITS_H */
