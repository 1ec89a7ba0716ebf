/*-------------------------------------------------------------------------
 *
 * bucket_price.c
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

#include "engine/batch.h"
#include "exec/bucket/bucket_match.h"
#include "exec/price/growth.h"
#include "exec/price/price.h"
#include "exec/price/price_constants.h"
#include "exec/shell/index_columns.h"
#include "exec/where/condition_match.h"

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

/*
 * How far apart the least and the greatest finite value of a key column are, by the histogram; 0 if
 * there is none.
 */
static double
key_span(PlannerInfo *root, IndexOptInfo *index, int column)
{
	Oid			type = index->opcintype[column];
	VariableStatData vardata;
	AttStatsSlot slot;
	double		span = 0.0;

	examine_variable(root, (Node *) gpb_key_column_var(root, index, column), 0, &vardata);
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

/* The share of the ordered column's values that the conditions leave, about */
static double
span_share(const GpbGrouping *query, const GpbBucketMatch *match)
{
	IndexOptInfo *index = match->index;
	List	   *conditions = NIL;
	ListCell   *lc;

	if (index->nkeycolumns == 1)
		return Min(match->entries / Max(query->rel->tuples, 1.0), 1.0);
	foreach(lc, match->plan.conditions)
	{
		bool		point;

		if (gpb_match_column(query->root, index, match->plan.column, lfirst(lc), &point) != NULL)
			conditions = lappend(conditions, lfirst(lc));
	}
	return clauselist_selectivity(query->root, conditions, query->rel->relid, JOIN_INNER, NULL);
}

/*
 * How many buckets the range has.
 *
 * Core takes a function of a column to have as many results as the column has values.  Where the
 * width of a bucket is known there are no more than fit into the part of the histogram that the
 * conditions on the key leave.
 */
static double
estimate_buckets(const GpbGrouping *query, const GpbBucketMatch *match)
{
	PlannerInfo *root = query->root;
	double		entries = match->entries;
	double		buckets = estimate_num_groups(root, list_make1(match->bucket), entries, NULL, NULL);
	double		span;

	if (match->width > 0.0)
	{
		span = key_span(root, match->index, match->plan.column) * span_share(query, match);
		if (span > 0.0)
			buckets = Min(buckets, ceil(span / match->width) + 1.0);
	}
	else
		buckets = Min(buckets, ceil(entries / GPB_UNKNOWN_BUCKET));
	return clamp_row_est(Min(buckets, entries));
}

GpbBucketCounts
gpb_bucket_count(const GpbGrouping *query, const GpbBucketMatch *match)
{
	double		rows = clamp_row_est(query->rel->rows);
	GpbBucketCounts counts;

	counts.buckets = estimate_buckets(query, match);
	counts.groups = counts.buckets;
	if (match->groups != NIL)
		counts.groups *= estimate_num_groups(query->root, match->groups, rows, NULL, NULL);
	counts.groups = clamp_row_est(Min(counts.groups, rows));
	return counts;
}

bool
gpb_bucket_groups_fit(const GpbBucketMatch *match, const GpbBucketCounts *counts)
{
	const GpbProgram *program = &match->plan.program.program;

	return match->groups == NIL ||
		counts->groups / counts->buckets * gpb_batch_group_width(program) <=
		get_hash_memory_limit();
}

bool
gpb_bucket_is_sparse(const GpbBucketMatch *match, const GpbBucketCounts *counts)
{
	return match->width > 0.0 &&
		match->entries * GPB_BUCKET_GROUP_ENTRY_COST <
		counts->buckets * (GPB_BUCKET_COST - GPB_BUCKET_GROUP_COST);
}

/* The price of handing out the groups by other expressions than the bucket */
static Cost
groups_price(const GpbBucketMatch *match, const GpbBucketCounts *counts)
{
	GpbAnswerFormat format;
	int			float_sums;

	if (match->groups == NIL)
		return 0.0;
	gpb_answer_format(&match->plan.program.program, &format);
	float_sums = (format.words - format.integers) / GPB_FLOAT_SUM_WORDS;
	return counts->groups * cpu_operator_cost *
		(GPB_BUCKET_GROUP_COST + GPB_BUCKET_GROUP_FLOAT_COST * float_sums);
}

/* The price of reading the range's entries, and of what the program does with them */
static Cost
entries_price(const GpbGrouping *query, const GpbBucketMatch *match, int columns)
{
	double		rows = query->rel->rows;
	GpbPriceInput input = {.root = query->root, .index = match->index,
	.entries = match->entries, .seen = match->entries};

	if (!match->plan.has_program)
		input.more_columns = columns - 1;
	else
	{
		input.program = gpb_builder_cost(match->builder, match->entries,
										 Min(match->entries, rows));
		if (match->groups != NIL)
			input.program += rows * GPB_BUCKET_GROUP_ENTRY_COST * cpu_operator_cost;
	}
	return gpb_price(&input);
}

void
gpb_bucket_price(const GpbGrouping *query, const GpbBucketMatch *match,
				 const GpbBucketCounts *counts, Path *path)
{
	const GpbBucketPlan *plan = &match->plan;
	PathTarget *target = query->target;
	int			columns = gpb_count_columns(plan->items, plan->nitems);
	double		answers = match->groups == NIL ? counts->buckets : counts->groups;
	Cost		startup = GPB_BUCKET_START_COST * cpu_operator_cost + target->cost.startup +
		gpb_bounds_price(query->root, plan->conditions, NIL);
	Cost		run;
	QualCost	having;

	cost_qual_eval(&having, query->having, query->root);
	startup += having.startup;
	if (plan->has_program)
		startup += gpb_builder_begin_cost(match->builder);
	run = counts->buckets * GPB_BUCKET_COST * cpu_operator_cost +
		answers * ((columns - 1) * GPB_BUCKET_COLUMN_COST * cpu_operator_cost +
				   having.per_tuple + cpu_tuple_cost + target->cost.per_tuple) +
		entries_price(query, match, columns) + groups_price(match, counts);

	path->rows = clamp_row_est(counts->groups *
							   clauselist_selectivity(query->root, query->having, 0, JOIN_INNER,
													  NULL));
	/* With a child no row is handed out before all are known. */
	path->startup_cost = startup +
		(match->needs_child ? run : run * Min(GPB_FIRST_BATCH / counts->buckets, 1.0));
	path->total_cost = startup + run;
}
