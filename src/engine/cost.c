/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  Which engine answers ranges the sooner: the device or the CPU.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "engine/cost.h"
#include "mirror/mirror.h"

/*
 * What the CPU engine pays more than the device for a range, and for an entry that is aggregated,
 * in units of the device's fixed cost.  A range costs a walk to a leaf that may not be in the CPU's
 * cache.  An entry costs a few nanoseconds, so it takes many of them to make up for the time of a
 * request.
 */
#define GPB_RANGE_GAIN		0.02
#define GPB_ENTRY_GAIN		0.0002

bool
gpb_batch_device_pays(double n)
{
	return n * GPB_RANGE_GAIN >= gpb_batch_setup_cost;
}

bool
gpb_batch_aggregate_pays(double n, double entries)
{
	return n * GPB_RANGE_GAIN + entries * GPB_ENTRY_GAIN >= gpb_batch_setup_cost;
}

GpbEngine
gpb_batch_engine_for(Relation index, double entries)
{
	return gpb_batch_aggregate_pays(0, entries) && gpb_mirror_available() &&
		!gpb_mirror_is_inner_only(index) ? GPB_ENGINE_DEVICE : GPB_ENGINE_CPU;
}
