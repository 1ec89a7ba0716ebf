/*-------------------------------------------------------------------------
 *
 * balance.h
 *	  How a batch of searches is divided between CPU and device.
 *
 * HB+-tree's load balancing (Shahvarani and Jacobsen, SIGMOD 2016, section 5.5) for hosts where the
 * device is the slower side.  "share" is the part of each chunk's keys that the CPU takes all the
 * way down, the device the others; the paper's depth D is 0, see doc/design.md.
 *
 * The discovery algorithm (their Algorithm 1): all keys to the device first, and if it then takes
 * no longer than the CPU needs for the leaves, it stays so.  Else the share begins at one half and
 * each sample moves it by half as much as the one before, toward the side that waited.  After
 * enough samples it begins anew, since load changes.
 *
 * Plain C, free of PostgreSQL headers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BALANCE_H
#define GPB_BALANCE_H

#include "layout.h"

#define GPB_SHARE_ALL		1024	/* the share that is all keys */
#define GPB_BALANCE_FIRST	2	/* the first step of the binary search */
#define GPB_BALANCE_FOUND	6	/* the step at which the search has ended */
#define GPB_BALANCE_AGAIN	256 /* samples for which what was found holds */

typedef struct GpbBalance
{
	uint16		share;			/* of GPB_SHARE_ALL */
	uint16		step;			/* of the search; 0: not begun */
	uint32		samples;		/* since it was found */
} GpbBalance;

/* The balance after a sample that was taken with this one. */
static inline GpbBalance
gpb_balance_next(GpbBalance balance, double device_us, double cpu_us)
{
	bool		device_slower = device_us > cpu_us;
	uint16		change;

	if (balance.step == GPB_BALANCE_FOUND)
	{
		if (++balance.samples == GPB_BALANCE_AGAIN)
			balance.share = balance.step = balance.samples = 0;
	}
	else if (balance.step >= GPB_BALANCE_FIRST)
	{
		change = GPB_SHARE_ALL >> balance.step;
		balance.share += device_slower ? change : -change;
		balance.step++;
	}
	else if (device_slower)
	{
		balance.share = GPB_SHARE_ALL / 2;
		balance.step = GPB_BALANCE_FIRST;
	}
	else
		balance.step = GPB_BALANCE_FOUND;
	return balance;
}

#endif							/* GPB_BALANCE_H */
