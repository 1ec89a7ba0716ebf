/*-------------------------------------------------------------------------
 *
 * bucket_cost.c
 *	  How many buckets there are, and the price of aggregating them.
 *
 * A bucket costs a descent, a few calls of its function and a range in a batch, whatever it holds;
 * an entry costs a fraction of what an index scan is charged for it.  So a plan is worth having
 * where buckets hold many entries.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "catalog/pg_statistic.h"
#include "catalog/pg_type.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/timestamp.h"

#include "exec/bucket/bucket_node.h"
#include "exec/common/growth.h"
#include "exec/common/plan_rules.h"

/* All in units of cpu_operator_cost */
#define GPB_BUCKET_START_COST	3000	/* to begin: contexts, index, the zone's changes */
#define GPB_BUCKET_COST			200		/* to find a bucket, answer its range and make its row */
#define GPB_BUCKET_COLUMN_COST	5		/* to add up its answer for a further column */

/* Entries of a bucket where the function's arguments are not known until run time */
#define GPB_UNKNOWN_BUCKET		20.0

static bool
key_is_finite(Oid type, Datum value)
{
	switch (type)
	{
		case DATEOID:
			return !DATE_NOT_FINITE(DatumGetDateADT(value));
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return !TIMESTAMP_NOT_FINITE(DatumGetTimestamp(value));
		default:
			return true;
	}
}

/* How far apart the least and the greatest finite key are, by the histogram; 0 if there is none. */
static double
key_span(PlannerInfo *root, IndexOptInfo *index)
{
	Oid			type = index->opcintype[0];
	VariableStatData vardata;
	AttStatsSlot slot;
	double		span = 0.0;

	examine_variable(root, (Node *) gpb_key_var(root, index), 0, &vardata);
	if (HeapTupleIsValid(vardata.statsTuple) &&
		get_attstatsslot(&slot, vardata.statsTuple, STATISTIC_KIND_HISTOGRAM, InvalidOid,
						 ATTSTATSSLOT_VALUES))
	{
		int			first = 0;
		int			last = slot.nvalues - 1;

		while (first < last && !key_is_finite(type, slot.values[first]))
			first++;
		while (last > first && !key_is_finite(type, slot.values[last]))
			last--;
		if (first < last)
			span = (double) gpb_datum_integer(type, slot.values[last]) -
				(double) gpb_datum_integer(type, slot.values[first]);
		free_attstatsslot(&slot);
	}
	ReleaseVariableStats(vardata);
	return span;
}

/*
 * Core takes a function of a column to have as many results as the column has values.  Where the
 * width of a bucket is known there are no more than fit into the part of the histogram that the
 * conditions leave.
 */
double
gpb_estimate_buckets(PlannerInfo *root, IndexOptInfo *index, Expr *bucket, double width)
{
	double		rows = clamp_row_est(index->rel->rows);
	double		buckets = estimate_num_groups(root, list_make1(bucket), rows, NULL, NULL);
	double		span;

	if (width > 0.0)
	{
		span = key_span(root, index) * Min(rows / Max(index->rel->tuples, 1.0), 1.0);
		if (span > 0.0)
			buckets = Min(buckets, ceil(span / width) + 1.0);
	}
	else
		buckets = Min(buckets, ceil(rows / GPB_UNKNOWN_BUCKET));
	return clamp_row_est(Min(buckets, rows));
}

void
gpb_bucket_cost(PlannerInfo *root, IndexOptInfo *index, const GpbBucketPlan *plan,
				double buckets, PathTarget *target, List *having,
				Cost *startup_cost, Cost *total_cost)
{
	Cost		startup = GPB_BUCKET_START_COST * cpu_operator_cost + target->cost.startup;
	int			columns = gpb_count_columns(plan->items, plan->nitems);
	double		entries = clamp_row_est(index->rel->rows);
	Cost		run;
	QualCost	cost;

	cost_qual_eval(&cost, plan->conditions, root);
	startup += cost.startup + cost.per_tuple;
	cost_qual_eval(&cost, having, root);
	startup += cost.startup;
	run = buckets * ((GPB_BUCKET_COST + (columns - 1) * GPB_BUCKET_COLUMN_COST) *
					 cpu_operator_cost +
					 cost.per_tuple + cpu_tuple_cost + target->cost.per_tuple) +
		gpb_count_cost(root, index, entries, false) +
		(columns - 1) * gpb_column_cost(index, entries);

	*startup_cost = startup + run * Min(GPB_FIRST_BATCH / buckets, 1.0);
	*total_cost = startup + run;
}
