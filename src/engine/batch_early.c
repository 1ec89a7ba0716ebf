/*-------------------------------------------------------------------------
 *
 * batch_early.c
 *	  The first parts of a list whose reader may stop soon, as one below LIMIT or of a cursor does.
 *
 * The first part ends after one leaf, or after a few entries, and each further one after twice as
 * many.  So the first entries cost little, and whoever reads on has read at most about twice the
 * leaves that were needed.  All entries take a number of parts that is the logarithm of the leaves.
 *
 * A device has a fixed cost, and brings the whole list at once.  So the CPU begins, and the device
 * is asked for the rest if the reader comes back for more than a few leaves.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "engine/batch_engine.h"

/* The leaves and the entries after which the first part ends */
#define GPB_EARLY_LEAVES	1
#define GPB_EARLY_ENTRIES	64

/*
 * The CPU reads so many leaves before the device is asked, or this part of all entries if that is
 * more: little beside what the device's list takes.
 */
#define GPB_EARLY_CPU_LEAVES	16
#define GPB_EARLY_CPU_PART		(1.0 / 512)

/* The most ranges of which the CPU reads the first ones for a device */
#define GPB_EARLY_RANGES	256

/*
 * Only bounds can be parted within a range; of many ranges each is short, or they are what the
 * device is wanted for.
 */
static bool
device_can_wait(const GpbBatch *batch, const GpbBatchEngine *engine)
{
	return engine == &gpb_batch_device && batch->wish == GPB_ENGINE_AUTO &&
		batch->form == GPB_RANGE_BOUNDS && batch->n <= GPB_EARLY_RANGES;
}

const GpbBatchEngine *
gpb_batch_early_start(GpbBatch *batch, const GpbBatchEngine *engine)
{
	const GpbLayout *layout = &batch->program.layout;

	batch->later = NULL;
	batch->part_leaves = GPB_EARLY_LEAVES;
	batch->end_leaves = batch->end_matches = PG_UINT64_MAX;
	if (!batch->early || !device_can_wait(batch, engine))
		return engine;
	batch->later = engine;
	batch->later_leaves = batch->counters.walk.leaves +
		Max(GPB_EARLY_CPU_LEAVES, (uint64) (batch->counters.choice.entries * GPB_EARLY_CPU_PART /
											gpb_page_capacity(layout->key_width,
															  layout->row_width)));
	return &gpb_batch_cpu;
}

void
gpb_batch_early_part(GpbBatch *batch)
{
	if (!batch->early || batch->engine == &gpb_batch_device)
	{
		batch->end_leaves = batch->end_matches = PG_UINT64_MAX;
		return;
	}
	batch->end_leaves = batch->counters.walk.leaves + batch->part_leaves;
	/* where another engine goes on, parts end between leaves */
	batch->end_matches = batch->later != NULL ? PG_UINT64_MAX :
		batch->part_leaves * (GPB_EARLY_ENTRIES / GPB_EARLY_LEAVES);
	batch->part_leaves *= 2;
}

bool
gpb_batch_early_hands_over(GpbBatch *batch, const GpbBatchEngine **later)
{
	GpbRange   *rest;
	int			n;

	if (batch->later == NULL || batch->engine != &gpb_batch_cpu ||
		batch->counters.walk.leaves < batch->later_leaves)
		return false;
	rest = MemoryContextAlloc(batch->context, sizeof(GpbRange) * batch->n);
	n = gpb_cpu_answer_rest((const GpbCpuAnswer *) batch->state, rest);
	if (n <= 0)
	{
		pfree(rest);
		return false;
	}
	Assert(batch->rest == NULL);
	*later = batch->later;
	batch->later = NULL;
	batch->ranges = batch->rest = rest;
	batch->n = n;
	batch->first = 0;
	return true;
}
