/*-------------------------------------------------------------------------
 *
 * range_aggregate.c
 *	  The plan node of aggregates over each of many ranges, and what all ways to plan it share.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"

#include "exec/common/plan_check.h"
#include "exec/range/range_aggregate.h"

/* ---- what travels in custom_private ---- */

/*
 * Four lists: what gpb_aggregate_private made; OIDs and integers of the conditions; the same of
 * the group columns; numbers; and the alias, empty if there is none.  So plans can be copied.
 */
List *
gpb_range_aggregate_private(const GpbRangeAggregatePlan *plan)
{
	List	   *operators = NIL;
	List	   *strategies = NIL;
	List	   *equalities = NIL;
	List	   *columns = NIL;
	int			i;

	for (i = 0; i < plan->nconditions; i++)
	{
		operators = lappend_oid(operators, plan->conditions[i].operator);
		operators = lappend_oid(operators, plan->conditions[i].value_type);
		strategies = lappend_int(strategies, plan->conditions[i].strategy);
	}
	for (i = 0; i < plan->ngroup; i++)
	{
		equalities = lappend_oid(equalities, plan->group_operator[i]);
		equalities = lappend_oid(equalities, plan->group_collation[i]);
		columns = lappend_int(columns, plan->group[i]);
	}
	return list_make5(gpb_aggregate_private(plan->index, plan->items, plan->nitems),
					  list_make2(operators, strategies), list_make2(equalities, columns),
					  list_make5_int(plan->nouter, plan->ncomputed, plan->nhaving,
									 plan->keep_empty, plan->empty_count),
					  makeString(pstrdup(plan->alias != NULL ? plan->alias : "")));
}

/* Take the conditions' two lists apart. */
static void
gpb_read_conditions(List *lists, GpbRangeAggregatePlan *plan)
{
	List	   *operators = linitial(lists);
	List	   *strategies = lsecond(lists);
	int			i;

	plan->nconditions = list_length(strategies);
	plan->conditions = palloc(sizeof(GpbRangeCondition) * plan->nconditions);
	for (i = 0; i < plan->nconditions; i++)
	{
		plan->conditions[i].operator = list_nth_oid(operators, 2 * i);
		plan->conditions[i].value_type = list_nth_oid(operators, 2 * i + 1);
		plan->conditions[i].strategy = list_nth_int(strategies, i);
	}
}

/* The group columns' */
static void
gpb_read_group(List *lists, GpbRangeAggregatePlan *plan)
{
	List	   *equalities = linitial(lists);
	List	   *columns = lsecond(lists);
	int			i;

	plan->ngroup = list_length(columns);
	plan->group = palloc(sizeof(AttrNumber) * plan->ngroup);
	plan->group_operator = palloc(sizeof(Oid) * plan->ngroup);
	plan->group_collation = palloc(sizeof(Oid) * plan->ngroup);
	for (i = 0; i < plan->ngroup; i++)
	{
		plan->group[i] = list_nth_int(columns, i);
		plan->group_operator[i] = list_nth_oid(equalities, 2 * i);
		plan->group_collation[i] = list_nth_oid(equalities, 2 * i + 1);
	}
}

void
gpb_range_aggregate_read_private(List *private, GpbRangeAggregatePlan *plan)
{
	List	   *numbers = lfourth(private);

	plan->index = gpb_aggregate_private_index(linitial(private));
	plan->nitems = gpb_aggregate_private_items(linitial(private), &plan->items);
	gpb_read_conditions(lsecond(private), plan);
	gpb_read_group(lthird(private), plan);
	plan->nouter = linitial_int(numbers);
	plan->ncomputed = lsecond_int(numbers);
	plan->nhaving = lthird_int(numbers);
	plan->keep_empty = lfourth_int(numbers);
	plan->empty_count = list_nth_int(numbers, 4);
	plan->alias = strVal(list_nth(private, 4));
	if (plan->alias[0] == '\0')
		plan->alias = NULL;
}

/* ---- the plan node ---- */

Plan *
gpb_make_range_aggregate(CustomPath *path, List *tlist, List *qual, Plan *outer, List *unrun,
						 List *results, List *exprs, GpbRangeAggregatePlan *plan)
{
	CustomScan *scan = makeNode(CustomScan);
	ListCell   *lc;

	Assert(list_length(results) == plan->nitems + plan->ncomputed);
	Assert(list_length(exprs) == plan->nconditions + plan->ncomputed + plan->nhaving);
	plan->nouter = list_length(outer->targetlist);
	foreach(lc, outer->targetlist)
		scan->custom_scan_tlist =
			lappend(scan->custom_scan_tlist,
					makeTargetEntry(lfirst_node(TargetEntry, lc)->expr,
									list_length(scan->custom_scan_tlist) + 1, NULL, false));
	foreach(lc, results)
		scan->custom_scan_tlist =
			lappend(scan->custom_scan_tlist,
					makeTargetEntry(lfirst(lc), list_length(scan->custom_scan_tlist) + 1,
									NULL, false));

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = qual;
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->custom_plans = lcons(outer, unrun);
	scan->custom_exprs = exprs;
	scan->custom_private = gpb_range_aggregate_private(plan);
	scan->methods = &gpb_range_aggregate_scan_methods;
	gpb_check_expressions(path, scan, list_copy_head(exprs, plan->nconditions), 1, plan->nouter);
	gpb_check_expressions(path, scan, list_copy_tail(exprs, plan->nconditions), 1,
						  plan->nouter + plan->nitems);
	gpb_check_expressions(path, scan, list_concat_copy(tlist, qual), 1,
						  list_length(scan->custom_scan_tlist));
	return &scan->scan.plan;
}

/* ---- matching ---- */

/* May this be what a key is compared with? */
static bool
gpb_is_range_value(PlannerInfo *root, Node *value, Index relid)
{
	return !bms_is_member(relid, pull_varnos(root, value)) &&
		!contain_volatile_functions(value) && !contain_subplans(value);
}

bool
gpb_match_range_condition(PlannerInfo *root, IndexOptInfo *index, Expr *clause,
						  GpbRangeCondition *condition, Expr **value)
{
	OpExpr	   *operation = (OpExpr *) clause;
	Node	   *left;
	Node	   *right;
	int			strategy;
	Oid			key_type;

	if (!IsA(clause, OpExpr) || list_length(operation->args) != 2)
		return false;
	left = linitial(operation->args);
	right = lsecond(operation->args);
	if (match_index_to_operand(left, 0, index))
		condition->operator = operation->opno;
	else if (match_index_to_operand(right, 0, index))
	{
		condition->operator = get_commutator(operation->opno);
		right = left;
	}
	else
		return false;

	if (!OidIsValid(condition->operator) ||
		!op_in_opfamily(condition->operator, index->opfamily[0]) ||
		!gpb_is_range_value(root, right, index->rel->relid))
		return false;
	get_op_opfamily_properties(condition->operator, index->opfamily[0], false, &strategy,
							   &key_type, &condition->value_type);
	condition->strategy = strategy;
	*value = (Expr *) right;
	return true;
}

/* ---- price ---- */

void
gpb_range_aggregate_cost(PlannerInfo *root, IndexOptInfo *index, Path *outer,
						 const GpbAggregateItem *items, int nitems, double entries,
						 double rows, PathTarget *target, Cost *startup_cost, Cost *total_cost)
{
	GpbJoinInput input = {0};
	Cost		inner;
	Cost		first;
	int			more = gpb_count_item_columns(items, nitems) - 1;

	input.index = index;
	input.outer = outer;
	input.outer_rows = outer->rows;
	input.rows = rows;
	input.matches = outer->rows * entries;
	input.aggregated = true;
	input.index_only = true;
	input.target = target;
	gpb_join_cost(root, &input, startup_cost, total_cost);

	/* each further column costs as much again, but for the outer rows */
	first = *startup_cost - outer->startup_cost;
	inner = *total_cost - outer->total_cost;
	*startup_cost += more * Max(first, 0);
	*total_cost += more * Max(inner, 0);
}
