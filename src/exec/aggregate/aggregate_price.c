/*-------------------------------------------------------------------------
 *
 * aggregate_price.c
 *	  The price of GpubtreeAggregate.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "engine/cost.h"
#include "exec/aggregate/aggregate_price.h"
#include "exec/common/plan_rules.h"
#include "exec/common/settings.h"
#include "mirror/mirror.h"

/*
 * A range whose bounds are parameters of a generic plan is priced as if it had no more entries, but
 * for one in a subquery, whose price is compared with that of batches of ranges.
 *
 * Of such a range core expects a part of the whole table.  Generic plans are compared with the mean
 * of custom ones, and would be too dear wherever the ranges asked for are smaller than that: then
 * each execution is planned anew, which takes as long as aggregating 10,000 entries.  Planning
 * would find nothing better, since the engine is chosen when the bounds are known.
 */
#define GPB_UNKNOWN_ENTRIES		100.0

/*
 * A range whose bounds come from the rows of an outer query is answered for each of them.  Batches
 * of ranges do that better, though core's guesses of the ranges make it look dearer; so this node
 * is charged so many times as much to begin.
 */
#define GPB_EACH_ROW_SETUP		100.0

/*
 * To find the group of an entry on the CPU, in units of cpu_operator_cost.  Measured with 2 M
 * entries (release build, CPU time): a sum took 5.7 ns an entry without groups, 15 ns with 9 or
 * 1,000 groups, and 33 ns with 100,000, which the CPU's caches do not hold.  Core's hash aggregates
 * took 110 ns with 9 groups.
 *
 * To make and hand out a group took 0.19 us, where core's hash aggregates took 0.9: it has core's
 * price, cpu_tuple_cost.
 */
#define GPB_GROUP_ENTRY_COST	1.0
#define GPB_MANY_GROUPS_COST	2.0 /* besides, if the groups have more bytes than the next */
#define GPB_CACHED_GROUPS		(1024.0 * 1024.0)

/* Entries of a group of an expression, at least, as far as the price is concerned */
#define GPB_GROUP_ENTRIES		20.0

/* expression_tree_walker: is there a parameter of the kind *context, whose value is not known? */
static bool
has_parameter(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == *(ParamKind *) context)
		return true;
	return expression_tree_walker(node, has_parameter, context);
}

/* The number of entries that the price of the ranges is for */
static double
priced_entries(const GpbAggregateQuery *query, const GpbAggregateMatch *match)
{
	ParamKind	kind = PARAM_EXTERN;

	if (query->root->parent_root == NULL && match->entries > GPB_UNKNOWN_ENTRIES &&
		(has_parameter((Node *) match->plan.conditions, &kind) ||
		 has_parameter((Node *) match->plan.arms, &kind)))
		return GPB_UNKNOWN_ENTRIES;
	return match->entries;
}

/* Do values come from the rows of an outer query, but for those of arrays? */
static bool
is_of_each_row(const GpbAggregatePlan *plan)
{
	ParamKind	kind = PARAM_EXEC;

	return has_parameter((Node *) plan->conditions, &kind) ||
		has_parameter((Node *) plan->arms, &kind) ||
		has_parameter((Node *) plan->program.constants, &kind);
}

/* The bytes of so many groups of the match's program */
static double
groups_size(const GpbAggregateMatch *match, double groups)
{
	GpbAnswerFormat format;
	double		width;

	gpb_answer_format(&match->plan.program.program, &format);
	width = gpb_group_width(&match->plan.program.program, &format);
	if (match->plan.values.n > 0)
		width += gpb_values_width();
	return groups * width;
}

/*
 * What the program costs beyond reading the entries.  On a device that has enough to do it is next
 * to nothing.
 */
static Cost
program_cost(const GpbAggregateMatch *match, double entries, double groups)
{
	double		each = GPB_GROUP_ENTRY_COST;
	Cost		cost;

	if (!match->plan.has_program ||
		(gpb_mirror_available() && gpb_aggregate_device_pays(entries)))
		return 0.0;
	cost = gpb_builder_cost(match->builder, entries);
	if (match->plan.program.program.ngroups == 0)
		return cost;
	if (groups_size(match, groups) > GPB_CACHED_GROUPS)
		each += GPB_MANY_GROUPS_COST;
	return cost + entries * each * cpu_operator_cost;
}

/*
 * The price of executing the plan node up to its first row.  setup_cost is charged whatever the
 * engine, so that plans do not depend on it for small queries.
 */
static Cost
answer_cost(const GpbAggregateQuery *query, const GpbAggregateMatch *match, double groups)
{
	const GpbAggregatePlan *plan = &match->plan;
	double		entries = priced_entries(query, match);
	QualCost	bounds;
	Cost		cost;
	ListCell   *lc;

	cost_qual_eval(&bounds, plan->conditions, query->root);
	cost = bounds.startup + bounds.per_tuple;
	foreach(lc, plan->arms)
	{
		cost_qual_eval(&bounds, lfirst_node(List, lc), query->root);
		cost += bounds.startup + bounds.per_tuple;
	}
	if (plan->arrays != NIL)
		return cost + gpb_array_cost(query->root, match->index, plan->arrays, plan->items,
									 plan->nitems) +
			program_cost(match, match->entries, groups);
	if (is_of_each_row(plan))
		cost += gpb_setup_cost * (GPB_EACH_ROW_SETUP - 1.0);
	return cost + (gpb_setup_cost + gpb_count_cost(query->root, match->index, entries, false)) +
		program_cost(match, entries, groups);
}

/*
 * What an expression is a sum or a difference of, beside what has no column: it has as many values.
 */
static Node *
below_shifts(Node *expression)
{
	while (IsA(expression, OpExpr))
	{
		OpExpr	   *call = (OpExpr *) expression;
		char	   *name = get_opname(call->opno);
		Node	   *first = linitial(call->args);
		Node	   *last = llast(call->args);

		if (name == NULL || (strcmp(name, "+") != 0 && strcmp(name, "-") != 0))
			break;
		if (first == last || !contain_var_clause(last))
			expression = first;
		else if (!contain_var_clause(first))
			expression = last;
		else
			break;
	}
	return expression;
}

/*
 * Is the number of groups what statistics say?  Of an expression core takes as many values as its
 * columns have, which often is far too many.
 */
static bool
groups_are_columns(List *expressions)
{
	ListCell   *lc;

	foreach(lc, expressions)
	{
		if (!IsA(below_shifts(lfirst(lc)), Var))
			return false;
	}
	return true;
}

/* The number of groups by these expressions, as core estimates it */
static double
estimate_groups(const GpbAggregateQuery *query, List *expressions)
{
	if (expressions == NIL)
		return 1.0;
	return estimate_num_groups(query->root, expressions, query->rel->rows, NULL, NULL);
}

/*
 * The number of the program's groups that the price is for.  If there are more of them than fit
 * into memory after all, what was tried until then is little beside what core's plan takes for so
 * many.
 */
static double
priced_groups(const GpbAggregateQuery *query, const GpbAggregateMatch *match)
{
	List	   *expressions = list_concat_copy(query->groups, match->plan.values.value);
	double		groups = estimate_groups(query, expressions);

	if (groups_are_columns(expressions))
		return groups;
	groups = Min(groups, ceil(query->rel->rows / GPB_GROUP_ENTRIES));
	return Min(groups, floor(get_hash_memory_limit() / groups_size(match, 1.0)));
}

const char *
gpb_aggregate_price(const GpbAggregateQuery *query, const GpbAggregateMatch *match, Path *path)
{
	PathTarget *target = query->target;
	double		estimated = estimate_groups(query, query->groups);
	double		groups = priced_groups(query, match);
	Selectivity kept;
	QualCost	having;
	Cost		row;

	if (match->plan.program.program.ngroups > 0 &&
		groups_size(match, groups) > get_hash_memory_limit())
		return "its groups do not fit into hash_mem";
	kept = clauselist_selectivity(query->root, query->having, 0, JOIN_INNER, NULL);
	cost_qual_eval(&having, query->having, query->root);
	row = having.per_tuple + target->cost.per_tuple;
	if (query->groups != NIL)
		row += cpu_tuple_cost;
	path->rows = clamp_row_est(estimated * kept);
	path->startup_cost = answer_cost(query, match, groups) + having.startup + target->cost.startup;
	if (match->plan.values.n > 0)
	{
		path->startup_cost += gpb_values_cost(groups);
		path->total_cost = path->startup_cost + Min(groups, estimated) * row;
		return NULL;
	}
	path->total_cost = path->startup_cost + groups * row;
	if (gpb_hashing_is_cheaper(query->root, query->grouped_rel, path->total_cost,
							   list_length(query->groups), groups))
		return "an ordinary plan that hashes groups is cheaper";
	return NULL;
}
