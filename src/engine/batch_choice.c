/*-------------------------------------------------------------------------
 *
 * batch_choice.c
 *	  Which engine answers a run the sooner, by what is known when the run begins.
 *
 * A plan may be cached and its parameters differ, so the choice is made anew for each run.  The CPU
 * pays for each range, for each entry and for what a program does with it; how many entries there
 * are is estimated from the tree.  The device has a fixed cost, which grows with the requests that
 * the service has already and with the blocks that a refresh would have to copy first.  These two
 * are looked at only where they can decide.
 *
 * Heap visits count for neither side: both engines visit the same pages.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "index/index.h"
#include "mirror/mirror.h"
#include "engine/batch_engine.h"

/*
 * What a request that the service has already, and a changed block, add to the device's fixed cost,
 * as parts of it.  Measured on the host of an H200: 80 us, 16 us more for each request that comes
 * before, 10 us for each changed block.
 */
#define GPB_REQUEST_DELAY	0.2
#define GPB_BLOCK_DELAY		0.125

/* The number of ranges of a run whose entries are estimated, to stand for all */
#define GPB_CHOICE_SAMPLES	8

/* Range number i of the batch, from bound to bound. */
static GpbRange
choice_range(const GpbBatch *batch, uint32 i)
{
	if (batch->form == GPB_RANGE_BOUNDS)
		return ((const GpbRange *) batch->ranges)[i];
	return gpb_key_range(gpb_batch_keys(batch, i), batch->program.layout.flags);
}

/* About how many entries the ranges of the run have. */
static double
choice_entries(const GpbBatch *batch)
{
	uint32		samples = Min(batch->n, GPB_CHOICE_SAMPLES);
	double		entries = 0;
	uint32		i;

	for (i = 0; i < samples; i++)
	{
		uint32		number = (uint32) ((2 * (uint64) i + 1) * batch->n / (2 * samples));

		entries += gpb_estimate_entries(batch->index, &batch->program.layout,
										choice_range(batch, number), batch->n > 1);
	}
	return entries * batch->n / samples;
}

/* Is the device the sooner?  What was looked at to decide is filled in. */
static bool
choose_device(const GpbBatch *batch, GpbEngineChoice *choice)
{
	double		fixed = gpb_batch_setup_cost;
	double		most = fixed * (1.0 + GPB_REQUEST_DELAY * gpb_mirror_load_limit() +
								GPB_BLOCK_DELAY * GPB_CHOICE_BLOCKS);
	double		gain = batch->n * GPB_RANGE_GAIN;

	if (gain >= most)
		return true;
	/*
	 * What is listed is brought back and handed out whichever engine finds it; but a program may
	 * drop most of what it looks at.
	 */
	if (!batch->program.list_entries || batch->listing != NULL)
	{
		choice->saw_entries = true;
		choice->entries = choice_entries(batch);
		gain += choice->entries * gpb_entry_gain(&batch->program);
	}
	if (gain < fixed || gain >= most)
		return gain >= most;
	choice->saw_requests = true;
	choice->requests = gpb_mirror_load();
	fixed += gpb_batch_setup_cost * GPB_REQUEST_DELAY * choice->requests;
	if (gain < fixed)
		return false;
	choice->saw_blocks = true;
	choice->blocks = gpb_mirror_changed(batch->index, GPB_CHOICE_BLOCKS);
	fixed += gpb_batch_setup_cost * GPB_BLOCK_DELAY * choice->blocks;
	return gain >= fixed;
}

bool
gpb_batch_device_pays_now(GpbBatch *batch)
{
	return gpb_mirror_available() && choose_device(batch, &batch->counters.choice) &&
		!gpb_mirror_is_inner_only(batch->index);
}
