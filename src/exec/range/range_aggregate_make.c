/*-------------------------------------------------------------------------
 *
 * range_aggregate_make.c
 *	  The plan node GpubtreeRangeAggregate and its price, for all ways to plan it.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "exec/compile/program_words.h"
#include "exec/price/outer_price.h"
#include "exec/price/price_constants.h"
#include "exec/range/range_aggregate.h"
#include "exec/shell/plan_check.h"
#include "exec/where/partition_match.h"

/* ---- the plan node ---- */

Plan *
gpb_make_range_aggregate(CustomPath *path, List *tlist, List *qual, Plan *outer, List *further,
						 List *results, GpbRangeAggregatePlan *plan)
{
	List	   *columns = gpb_plan_columns(outer);
	CustomScan *scan;
	int			nfilled;		/* columns that are filled when results are computed */

	Assert(list_length(plan->values) == plan->range.nconditions);
	Assert(list_length(results) == plan->range.nitems + list_length(plan->computed));
	plan->nouter = list_length(columns);
	columns = list_concat(columns, results);
	nfilled = plan->nouter + plan->range.nitems;
	scan = gpb_make_node(&gpb_range_aggregate_node, path, 0, tlist, qual, lcons(outer, further),
						 columns);
	gpb_range_aggregate_put(plan, scan);
	gpb_check_expressions(path, scan, plan->values, 1, plan->nouter);
	gpb_check_expressions(path, scan, plan->range.program.plan.constants, 1, plan->nouter);
	gpb_check_expressions(path, scan, list_concat_copy(plan->computed, plan->having), 1, nfilled);
	gpb_check_expressions(path, scan, list_concat_copy(tlist, qual), 1, list_length(columns));
	gpb_agree_on_nulling(path, scan);
	return &scan->scan.plan;
}

/* ---- price ---- */

/* The number of exact sums of float8 in an answer */
static int
count_float_sums(const GpbRowRange *range)
{
	GpbAnswerFormat format;
	Bitmapset  *columns = NULL;
	int			i;

	if (range->program.present)
	{
		gpb_answer_format(&range->program.plan.program, &format);
		return (format.words - format.integers) / GPB_FLOAT_SUM_WORDS;
	}
	for (i = 0; i < range->nitems; i++)
	{
		if (gpb_word_is_float(range->items[i].type.sql) &&
			(gpb_function_want(range->items[i].function) & GPB_WANT_SUM) != 0)
			columns = bms_add_member(columns, range->items[i].column);
	}
	return bms_num_members(columns);
}

GpbOuterPrice
gpb_range_aggregate_price(PlannerInfo *root, IndexOptInfo *index,
						  const GpbPartitionMatch *partitions, Path *outer,
						  const GpbRowRange *range, double entries, double rows,
						  PathTarget *target)
{
	GpbOuterInput input = {.ask.root = root, .ask.index = index, .outer = outer, .rows = rows,
	.target = target};
	GpbOuterPrice price;

	if (partitions != NULL)
		gpb_price_partitions(&input, partitions, entries);
	input.ask.entries = outer->rows * entries;
	if (range->program.present)
	{
		input.begin_cost = range->program.begin_cost;
		input.ask.entry_cost = range->program.entry_cost;
	}
	else
		input.ask.more_columns = gpb_count_columns(range->items, range->nitems) - 1;
	price = gpb_outer_price(&input);
	price.total_cost += outer->rows * count_float_sums(range) * GPB_RANGE_FLOAT_COST *
		cpu_operator_cost;
	return price;
}

void
gpb_range_aggregate_beside(CustomPath *path, Path *ordinary)
{
	path->custom_paths = lappend(path->custom_paths, ordinary);
	path->flags &= ~CUSTOMPATH_SUPPORT_PROJECTION;
	path->path.startup_cost = path->path.total_cost;
	path->path.pathkeys = NIL;
}
