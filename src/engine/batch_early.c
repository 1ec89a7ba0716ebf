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

/* later_leaves where no device will be asked */
#define GPB_NEVER	PG_UINT64_MAX

/*
 * Only bounds can be parted within a range; of many ranges each is short, or they are what a device
 * is wanted for.
 */
bool
gpb_batch_early_waits(const GpbBatch *batch)
{
	return batch->early && batch->wish == GPB_ENGINE_AUTO && batch->form == GPB_RANGE_BOUNDS &&
		batch->n <= GPB_EARLY_RANGES;
}

void
gpb_batch_early_start(GpbBatch *batch)
{
	batch->later_leaves = GPB_NEVER;
	if (gpb_batch_early_waits(batch) && batch->engine == &gpb_batch_cpu)
		batch->later_leaves = batch->counters.walk.leaves + GPB_EARLY_CPU_LEAVES;
	batch->part_leaves = GPB_EARLY_LEAVES;
	batch->end_leaves = batch->end_matches = PG_UINT64_MAX;
}

void
gpb_batch_early_part(GpbBatch *batch)
{
	batch->end_leaves = batch->end_matches = PG_UINT64_MAX;
	if (!batch->early || gpb_engine_is_device(batch->engine))
		return;
	batch->end_leaves = batch->counters.walk.leaves + batch->part_leaves;
	/* what is left of the ranges can be told between leaves */
	if (batch->end_leaves < batch->later_leaves || batch->later_leaves == GPB_NEVER)
		batch->end_matches = batch->part_leaves * (GPB_EARLY_ENTRIES / GPB_EARLY_LEAVES);
	batch->part_leaves *= 2;
}

/* Is a device to be asked for the n ranges that are left?  If not now, later_leaves says when. */
static bool
device_goes_on(GpbBatch *batch, const GpbRange *rest, int n)
{
	const GpbLayout *layout = &batch->program.layout;
	const void *ranges = batch->ranges;
	uint32		nranges = batch->n;
	uint64		read = batch->counters.walk.leaves - batch->later_leaves + GPB_EARLY_CPU_LEAVES;
	double		wait;
	bool		pays;

	batch->ranges = rest;
	batch->n = n;
	pays = gpb_batch_device_pays_now(batch);
	batch->ranges = ranges;
	batch->n = nranges;
	wait = batch->counters.choice.entries * GPB_EARLY_CPU_PART /
		gpb_page_capacity(layout->key_width, layout->row_width);
	if (pays && wait <= read)
		return true;
	batch->later_leaves = pays ? batch->counters.walk.leaves + (uint64) (wait - read) : GPB_NEVER;
	return false;
}

bool
gpb_batch_early_hands_over(GpbBatch *batch)
{
	GpbRange   *rest;
	int			n;

	if (batch->engine != &gpb_batch_cpu || batch->counters.walk.leaves < batch->later_leaves)
		return false;
	rest = MemoryContextAlloc(batch->context, sizeof(GpbRange) * batch->n);
	n = gpb_cpu_answer_rest((const GpbCpuAnswer *) batch->state, rest);
	if (n <= 0 || !device_goes_on(batch, rest, n))
	{
		pfree(rest);
		return false;
	}
	Assert(batch->rest == NULL);
	batch->later_leaves = GPB_NEVER;
	batch->ranges = batch->rest = rest;
	batch->n = n;
	batch->first = 0;
	return true;
}
