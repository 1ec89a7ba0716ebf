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

#include "index/index.h"
#include "exec/bucket/bucket_node.h"

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
			if (gpb_range_totals_entries(batches->totals, i) > 0)
				(void) gpb_bucket_batch_result(scan, i);
		}
	}
	gpb_bucket_batches_stop(scan);
}

/* The group at hand is that of NULL, or one that is cut from ranges: the totals that have it */
static GpbRangeTotals *
group_totals(GpbBucketScan *scan)
{
	return scan->group_null ? scan->null_totals : gpb_bucket_totals(scan);
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
	if (scan->gave_up != NULL)
		return false;
	if (scan->null_totals == NULL)
		scan->null_totals = gpb_bucket_totals_begin(scan, GPB_RANGE_BOUNDS, 0, GPB_ENGINE_DEVICE);
	gpb_range_group_init(scan->null_totals);
	gpb_range_totals_sum(scan->null_totals, &scan->null_range, 1);
	if (gpb_range_totals_gave_up(scan->null_totals, &why))
	{
		gpb_bucket_give_up(scan, why);
		return false;
	}
	scan->group_null = true;
	return gpb_range_group_entries(scan->null_totals) > 0;
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
	gpb_range_group_init(scan->batches.totals);
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
		if (gpb_range_totals_entries(batches->totals, scan->next) == 0)
		{
			scan->next++;
			continue;
		}
		result = gpb_bucket_batch_result(scan, scan->next);
		if (!scan->group_open)
			open_bucket(scan, result);
		else if (result != scan->group_result)
			return true;
		gpb_range_group_add(batches->totals, scan->next);
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
			/* FALLTHROUGH */
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
gpb_bucket_fill_tuple(GpbBucketScan *scan)
{
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;

	ExecClearTuple(tuple);
	memset(tuple->tts_isnull, true, tuple->tts_tupleDescriptor->natts * sizeof(bool));
	gpb_range_group_final(group_totals(scan), tuple->tts_values, tuple->tts_isnull);
	if (!scan->group_null)
	{
		tuple->tts_values[scan->plan.nitems] = gpb_bucket_datum(scan->function, scan->group_result);
		tuple->tts_isnull[scan->plan.nitems] = false;
	}
	ExecStoreVirtualTuple(tuple);
}
