/*-------------------------------------------------------------------------
 *
 * bucket_groups.c
 *	  The groups of a plan that groups by buckets alone: one after the other, as they are asked for.
 *
 * Ranges next to each other with equal results are one group.  Keys that are NULL, or all if an
 * argument of the function is, make the group of NULL: one range aggregate, which comes where the
 * index has its NULLs, or backward at the other end.  A range makes a group only if it has an entry
 * that the snapshot sees and that passes the filters, and the function is called for no other.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"

#include "exec/answer/ordinary.h"
#include "exec/bucket/bucket_node.h"
#include "exec/compile/program_codes.h"
#include "index/index.h"

/* Raise what the functions below a NULL argument raise for a key that has a visible entry. */
static void
ask_null_keys(GpbBucketScan *scan)
{
	GpbBucketBatches *batches = &scan->batches;
	uint32		i;

	gpb_bucket_batches_start(scan, scan->range, scan->order);
	while (gpb_bucket_batch_next(scan))
	{
		for (i = 0; i < batches->n; i++)
		{
			if (gpb_ask_answer(scan->ask, i)[0] > 0)
				(void) gpb_bucket_batch_result(scan, i);
		}
	}
	gpb_bucket_batches_stop(scan);
}

/* Find the group of NULL, if it has an entry. */
static bool
null_group(GpbBucketScan *scan)
{
	const char *why;

	if (!scan->has_null)
		return false;
	if (scan->asks_null_keys)
		ask_null_keys(scan);
	if (scan->node.gave_up != NULL)
		return false;
	gpb_group_init(scan->null_ask);
	why = gpb_ask_total(scan->null_ask, &scan->null_range, 1);
	if (why != NULL)
	{
		gpb_node_give_up(&scan->node, why);
		return false;
	}
	scan->group_null = true;
	return gpb_group_answer(scan->null_ask)[0] > 0;
}

/* Open the group with this result, which must come after the last group's. */
static void
open_bucket(GpbBucketScan *scan, int64 result)
{
	if (scan->any_result && (gpb_bucket_descends(scan) ?
							 result >= scan->group_result : result <= scan->group_result))
		gpb_corrupted_index(scan->node.index, "keys of buckets are out of order");
	scan->any_result = true;
	scan->group_result = result;
	scan->group_null = false;
	scan->group_open = true;
	gpb_group_init(scan->ask);
}

/*
 * Make the next group of ranges, in "state"; false if there are no more.  After the program gave up
 * the group is not whole.
 */
static bool
range_group(GpbBucketScan *scan)
{
	GpbBucketBatches *batches = &scan->batches;

	scan->group_open = false;
	for (;;)
	{
		int64		result;

		if (scan->next == batches->n)
		{
			scan->next = 0;
			if (!gpb_bucket_batch_next(scan))
				return scan->group_open;
		}
		if (gpb_ask_answer(scan->ask, scan->next)[0] == 0)
		{
			scan->next++;
			continue;
		}
		result = gpb_bucket_batch_result(scan, scan->next);
		if (!scan->group_open)
			open_bucket(scan, result);
		else if (result != scan->group_result)
			return true;
		gpb_group_add(scan->ask, gpb_ask_answer(scan->ask, scan->next));
		if (batches->ranges[scan->next++].complete)
			return true;
	}
}

bool
gpb_bucket_next_group(GpbBucketScan *scan)
{
	bool		nulls_first = gpb_key_column_nulls_first(&scan->layout, scan->plan.column) !=
	scan->plan.backward;

	switch (scan->phase)
	{
		case GPB_BUCKET_START:
			scan->phase = GPB_BUCKET_RANGES;
			if (scan->has_ranges)
				gpb_bucket_batches_start(scan, scan->range, scan->order);
			if (nulls_first && null_group(scan))
				return true;
			pg_fallthrough;
		case GPB_BUCKET_RANGES:
			if (scan->has_ranges && range_group(scan))
				return true;
			scan->phase = GPB_BUCKET_END;
			return !nulls_first && null_group(scan);
		case GPB_BUCKET_END:
			return false;
	}
	return false;
}

void
gpb_bucket_fill_tuple(GpbBucketScan *scan, const GpbGroup *group)
{
	const GpbBucketPlan *plan = &scan->plan;
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	Datum	   *values = tuple->tts_values;
	bool	   *isnull = tuple->tts_isnull;
	int			place = plan->nitems;

	ExecClearTuple(tuple);
	memset(isnull, true, tuple->tts_tupleDescriptor->natts * sizeof(bool));
	/* the group at hand is that of NULL, or one that is cut from ranges */
	gpb_group_final(gpb_bucket_ask(scan), values, isnull);
	if (!scan->group_null)
	{
		values[place] = gpb_bucket_datum(scan->function, scan->group_result);
		isnull[place] = false;
	}
	for (int i = 0; group != NULL && i < plan->ngroups; i++)
	{
		isnull[++place] = (group->nulls >> i & 1) != 0;
		if (!isnull[place])
			values[place] = gpb_words_value(&(GpbCodeSource) {scan->node.index},
											plan->group_types[i], &group->words[i]);
	}
	ExecStoreVirtualTuple(tuple);
}
