/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  Which engine answers ranges the sooner: the device or the CPU.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "engine/cost.h"

bool
gpb_batch_device_pays(double n)
{
	return n * GPB_RANGE_GAIN >= gpb_batch_setup_cost;
}

bool
gpb_aggregate_device_pays(double entries)
{
	return entries * GPB_ENTRY_GAIN >= gpb_batch_setup_cost;
}
