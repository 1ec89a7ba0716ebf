/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  Which engine answers ranges the sooner: the device or the CPU.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "engine/cost.h"

double		gpb_batch_setup_cost = 20.0;

double
gpb_entry_gain(const GpbProgram *program)
{
	return GPB_ENTRY_GAIN + GPB_STEP_GAIN * (program->nsteps + program->nterms) +
		(program->ngroups > 0 ? GPB_GROUP_GAIN : 0);
}

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
