/*-------------------------------------------------------------------------
 *
 * range_aggregate_node.c
 *	  The plan node GpubtreeRangeAggregate, and what all ways to plan it share.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"

#include "exec/compile/program_words.h"
#include "exec/price/growth.h"
#include "exec/price/outer_cost.h"
#include "exec/range/range_aggregate.h"
#include "exec/shell/plan_check.h"

/* ---- how its fields travel ---- */

void
gpb_range_aggregate_put(const GpbRangeAggregatePlan *plan, CustomScan *scan)
{
	List	  **private = &scan->custom_private;
	int			i;

	scan->custom_exprs = list_make5(plan->values, plan->computed, plan->having,
									plan->range.program.plan.constants, plan->clauses);
	gpb_put_row_range(private, &plan->range);
	gpb_put_int(private, plan->nouter);
	gpb_put_int(private, plan->gathered);
	gpb_put_int(private, plan->ngroup);
	for (i = 0; i < plan->ngroup; i++)
	{
		gpb_put_int(private, plan->group[i]);
		gpb_put_oid(private, plan->group_operator[i]);
		gpb_put_oid(private, plan->group_collation[i]);
	}
	gpb_put_int(private, plan->keep_empty);
	gpb_put_int(private, plan->empty_count);
	gpb_put_int(private, plan->has_ordinary);
	gpb_put_int(private, plan->joined);
}

void
gpb_range_aggregate_get(const CustomScan *scan, GpbRangeAggregatePlan *plan)
{
	GpbPrivateReader reader = {scan->custom_private};
	int			i;

	plan->values = linitial(scan->custom_exprs);
	plan->computed = lsecond(scan->custom_exprs);
	plan->having = lthird(scan->custom_exprs);
	gpb_get_row_range(&reader, &plan->range);
	plan->range.program.plan.constants = lfourth(scan->custom_exprs);
	plan->nouter = gpb_get_int(&reader);
	plan->gathered = gpb_get_int(&reader) != 0;
	plan->ngroup = gpb_get_int(&reader);
	plan->group = palloc(sizeof(AttrNumber) * plan->ngroup);
	plan->group_operator = palloc(sizeof(Oid) * plan->ngroup);
	plan->group_collation = palloc(sizeof(Oid) * plan->ngroup);
	for (i = 0; i < plan->ngroup; i++)
	{
		plan->group[i] = gpb_get_int(&reader);
		plan->group_operator[i] = gpb_get_oid(&reader);
		plan->group_collation[i] = gpb_get_oid(&reader);
	}
	plan->keep_empty = gpb_get_int(&reader);
	plan->empty_count = gpb_get_int(&reader);
	plan->has_ordinary = gpb_get_int(&reader) != 0;
	plan->joined = gpb_get_int(&reader) != 0;
	plan->clauses = list_nth(scan->custom_exprs, 4);
}

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

/*
 * To begin, merge and round an exact sum of float8 in the answer to one range, in units of
 * cpu_operator_cost.  Measured with 100,000 ranges of 15 entries: the sum of integers took 190 ms,
 * one of float8 320 ms, and three in one answer 610 ms.
 */
#define GPB_RANGE_FLOAT_COST	60

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
		if (gpb_word_is_float(range->items[i].type) &&
			(gpb_function_want(range->items[i].function) & GPB_WANT_SUM) != 0)
			columns = bms_add_member(columns, range->items[i].column);
	}
	return bms_num_members(columns);
}

void
gpb_range_aggregate_cost(PlannerInfo *root, IndexOptInfo *index, Path *outer,
						 const GpbRowRange *range, double entries, double rows,
						 PathTarget *target, Cost *startup_cost, Cost *total_cost)
{
	GpbOuterInput input = {0};

	input.index = index;
	input.outer = outer;
	input.outer_rows = outer->rows;
	input.rows = rows;
	input.matches = outer->rows * entries;
	input.aggregated = true;
	if (range->program.present)
	{
		input.begin_cost = range->program.begin_cost;
		input.entry_cost = range->program.entry_cost;
	}
	else
		input.more_columns = gpb_count_columns(range->items, range->nitems) - 1;
	input.index_only = true;
	input.target = target;
	gpb_outer_cost(root, &input, startup_cost, total_cost);
	*total_cost += outer->rows * count_float_sums(range) * GPB_RANGE_FLOAT_COST * cpu_operator_cost;
}

void
gpb_range_aggregate_beside(CustomPath *path, Path *ordinary)
{
	path->custom_paths = lappend(path->custom_paths, ordinary);
	path->flags &= ~CUSTOMPATH_SUPPORT_PROJECTION;
	path->path.startup_cost = path->path.total_cost;
	path->path.pathkeys = NIL;
}
