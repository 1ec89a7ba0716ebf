/*-------------------------------------------------------------------------
 *
 * bucket_store.c
 *	  The rows of a plan whose program may have no answer: all of them, before any is returned.
 *
 * If the plan groups by more than buckets, the groups of a batch of buckets are asked for together.
 * Each bucket is one range, so its groups are whole.  When they take more than memory half of the
 * ranges are asked for, and when those of one bucket do, the child returns the rows.  The groups of
 * the last batch, which most often is the only one, are not kept as rows: they stay where they are,
 * and become rows when the others have been returned.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"

#include "exec/answer/ordinary.h"
#include "exec/bucket/bucket_node.h"
#include "exec/price/growth.h"

/*
 * Ranges of the first batch where groups are asked for: all rows are computed before any is
 * returned, so a small batch would save nothing.
 */
#define GPB_FIRST_GROUPED	1024

/* ---- the store ---- */

void
gpb_bucket_drop_rows(GpbBucketScan *scan)
{
	scan->last_groups = false;
	scan->last_rows = false;
	scan->last_results = NULL;	/* they were the last execution's */
	gpb_kept_drop(&scan->kept);
}

/* Keep the row of a group, which is the one at hand; "group" as for gpb_bucket_fill_tuple() */
static void
store_group(GpbBucketScan *scan, const GpbGroup *group)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
	MemoryContext caller;

	CHECK_FOR_INTERRUPTS();
	ResetExprContext(econtext);
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	gpb_bucket_fill_tuple(scan, group);
	MemoryContextSwitchTo(caller);
	gpb_kept_add(&scan->kept, scan->node.css.ss.ss_ScanTupleSlot);
}

/* ---- groups by buckets alone ---- */

static void
store_buckets(GpbBucketScan *scan)
{
	while (gpb_bucket_next_group(scan) && scan->node.gave_up == NULL)
		store_group(scan, NULL);
}

/* ---- groups by more ---- */

/*
 * Ask for the groups of ranges [first, first + *n) of the batch.  *n becomes smaller until they fit
 * into memory.  Returns false if the program gave up.
 */
static bool
ask_groups(GpbBucketScan *scan, uint32 first, uint32 *n)
{
	GpbBucketBatches *batches = &scan->batches;

	for (;;)
	{
		const char *why = gpb_ask_total(scan->ask, batches->keys + first, *n);

		if (why == NULL)
			return true;
		if (*n == 1)
		{
			gpb_node_give_up(&scan->node, why);
			return false;
		}
		*n /= 2;
		scan->halved++;
	}
}

/*
 * Call the function for the ranges that have a group, and keep the groups if that is wanted: where
 * the results are NULL errors are all that matters, and the last groups stay where they are.
 */
static void
take_groups(GpbBucketScan *scan, uint32 first, bool keep)
{
	const GpbGroup *group;
	uint64		at = 0;

	while ((group = gpb_ask_next_group(scan->ask, &at)) != NULL)
	{
		CHECK_FOR_INTERRUPTS();
		scan->group_result = gpb_bucket_batch_result(scan, first + group->number);
		if (keep)
			store_group(scan, group);
	}
}

/* Was the function called for all of ranges [first, first + n) already when they were cut? */
static bool
are_known(const GpbBucketScan *scan, uint32 first, uint32 n)
{
	const GpbBucketRange *ranges = scan->batches.ranges + first;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		if (!ranges[i].known || ranges[i].empty)
			return false;
	}
	return true;
}

/* Take the groups of all ranges of keys, a batch after the other. */
static void
take_ranges(GpbBucketScan *scan, bool keep)
{
	GpbBucketBatches *batches = &scan->batches;
	uint32		most = GPB_MOST_ROWS;

	scan->group_null = false;
	gpb_bucket_batches_start(scan, scan->range, scan->order);
	if (batches->cut.mode == GPB_CUT_SORTED)
	{
		/* several ranges may make one bucket */
		gpb_node_give_up(&scan->node, "buckets do not come in order");
		return;
	}
	batches->limit = GPB_FIRST_GROUPED;
	while (gpb_bucket_batch_cut(scan))
	{
		uint32		first = 0;
		bool		last = batches->n < batches->limit;

		while (first < batches->n)
		{
			uint32		n = Min(batches->n - first, most);
			uint32		wanted = n;

			if (!ask_groups(scan, first, &n))
				return;
			if (n < wanted)
				most = n;
			scan->last_groups = keep && last && first + n == batches->n;
			/* Groups may be many: there is no need to look at each where that is all. */
			if (!scan->last_groups || !are_known(scan, first, n))
				take_groups(scan, first, keep && !scan->last_groups);
			scan->last_first = first;
			scan->last_n = n;
			scan->last_at = 0;
			first += n;
		}
		if (last)
			return;
		batches->limit = Min(gpb_grown_batch(batches->limit), most);
	}
}

/* Keep the groups of keys whose result is NULL. */
static void
store_null_groups(GpbBucketScan *scan)
{
	const char *why = gpb_ask_total(scan->null_ask, &scan->null_range, 1);
	const GpbGroup *group;
	uint64		at = 0;

	if (why != NULL)
	{
		gpb_node_give_up(&scan->node, why);
		return;
	}
	scan->group_null = true;
	while ((group = gpb_ask_next_group(scan->null_ask, &at)) != NULL)
		store_group(scan, group);
}

static void
store_all_groups(GpbBucketScan *scan)
{
	if (scan->has_null)
		store_null_groups(scan);
	if (scan->node.gave_up == NULL && (scan->asks_null_keys || scan->has_ranges))
		take_ranges(scan, scan->has_ranges);
}

void
gpb_bucket_store_rows(GpbBucketScan *scan)
{
	gpb_bucket_drop_rows(scan);
	if (scan->plan.ngroups > 0)
		store_all_groups(scan);
	else
		store_buckets(scan);
	gpb_bucket_batches_stop(scan);
	if (scan->node.gave_up != NULL)
		gpb_bucket_drop_rows(scan);
}

/* ---- handing out ---- */

/* Put the next of the last groups into the scan tuple; false if there are no more. */
static bool
next_last_group(GpbBucketScan *scan)
{
	const GpbGroup *group;
	MemoryContext caller;

	if (!scan->last_groups)
		return false;
	group = gpb_ask_next_group(scan->ask, &scan->last_at);
	if (group == NULL)
		return false;
	caller = MemoryContextSwitchTo(scan->node.css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	scan->group_null = false;
	scan->group_result = gpb_bucket_batch_result(scan, scan->last_first + group->number);
	gpb_bucket_fill_tuple(scan, group);
	MemoryContextSwitchTo(caller);
	return true;
}

/* The results of the function for the ranges of the last groups; 0 where they have no group */
static const Datum *
make_last_results(const GpbBucketScan *scan)
{
	uint32		n = scan->last_n;
	Datum	   *results = MemoryContextAllocHuge(scan->execution, sizeof(Datum) * n);
	uint32		i;

	for (i = 0; i < n; i++)
	{
		const GpbBucketRange *range = &scan->batches.ranges[scan->last_first + i];

		results[i] = range->known ? gpb_bucket_datum(scan->function, range->result) : (Datum) 0;
	}
	return results;
}

/* From now on the last groups become rows of the node, without a scan tuple. */
static void
begin_last_rows(GpbBucketScan *scan)
{
	const GpbBucketPlan *plan = &scan->plan;
	GpbRowSources sources = {{scan->node.index}, plan->nitems, plan->items, plan->ngroups};
	int			i;

	sources.by_number = plan->nitems;
	for (i = 0; i < plan->ngroups; i++)
	{
		sources.column[i] = plan->nitems + 1 + i;
		sources.type[i] = plan->group_types[i];
	}
	if (scan->last_results == NULL)
		scan->last_results = make_last_results(scan);
	gpb_word_rows_start(scan->rows, &sources, scan->ask, scan->last_results);
	scan->last_rows = true;
}

TupleTableSlot *
gpb_bucket_last_row(GpbBucketScan *scan)
{
	GpbGroupList groups = {scan->ask, NULL};

	return gpb_word_rows_next(scan->rows, &groups, &scan->last_at);
}

bool
gpb_bucket_stored_row(GpbBucketScan *scan)
{
	if (gpb_kept_next(&scan->kept) != NULL)
		return true;
	if (!scan->last_groups || scan->rows == NULL)
		return next_last_group(scan);
	begin_last_rows(scan);
	return false;
}

void
gpb_bucket_rescan_rows(GpbBucketScan *scan)
{
	scan->last_at = 0;
	scan->last_rows = false;
	gpb_kept_rewind(&scan->kept);
}
