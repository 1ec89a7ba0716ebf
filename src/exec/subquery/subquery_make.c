/*-------------------------------------------------------------------------
 *
 * subquery_make.c
 *	  The plan node GpubtreeSubquery, and what becomes of the expressions of the plan node below.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"

#include "exec/subquery/subquery_place.h"

/* ---- columns that a plan node hands up ---- */

/* What the plan node alone can compute: its input's columns, and aggregates */
static bool
is_leaf(Node *node)
{
	return IsA(node, Var) || IsA(node, Aggref) || IsA(node, GroupingFunc) ||
		IsA(node, WindowFunc);
}

/*
 * The expression over the columns of the node, which are collected in the list that the argument
 * points to
 */
Node *
gpb_leaf_mutator(Node *node, void *argument)
{
	List	  **leaves = argument;
	ListCell   *lc;
	int			column = 0;

	if (node == NULL)
		return NULL;
	if (!is_leaf(node))
		return expression_tree_mutator(node, gpb_leaf_mutator, argument);
	foreach(lc, *leaves)
	{
		if (equal(lfirst(lc), node))
			column = foreach_current_index(lc) + 1;
	}
	if (column == 0)
	{
		*leaves = lappend(*leaves, node);
		column = list_length(*leaves);
	}
	return (Node *) makeVar(OUTER_VAR, column, exprType(node), exprTypmod(node),
							exprCollation(node), 0);
}

/* The expression over the scan tuple, which begins with the child's columns */
static Node *
scan_tuple_mutator(Node *node, void *argument)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Var) && ((Var *) node)->varno == OUTER_VAR)
	{
		Var		   *var = copyObject((Var *) node);

		var->varno = INDEX_VAR;
		return (Node *) var;
	}
	return expression_tree_mutator(node, scan_tuple_mutator, argument);
}

/* A target list of the columns, from 1 on, referred to by varno */
List *
gpb_column_targets(List *targetlist, Index varno)
{
	List	   *targets = NIL;
	ListCell   *lc;

	foreach(lc, targetlist)
	{
		TargetEntry *target = flatCopyTargetEntry(lfirst(lc));

		target->expr = (Expr *) makeVar(varno, target->resno, exprType((Node *) target->expr),
										exprTypmod((Node *) target->expr),
										exprCollation((Node *) target->expr), 0);
		targets = lappend(targets, target);
	}
	return targets;
}

/* ---- what the subquery's expressions stand for ---- */

typedef struct Substitution
{
	GpbChoice  *choice;
	AttrNumber	first_item;		/* of the choice's range, in the scan tuple */
} Substitution;

/*
 * The subquery's expression with the outer row's values for Params, and the range's items for
 * aggregates
 */
static Node *
substitute_mutator(Node *node, void *argument)
{
	Substitution *substitution = argument;
	GpbChoice  *choice = substitution->choice;
	ListCell   *lc;
	ListCell   *id;

	if (node == NULL)
		return NULL;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
	{
		forboth(id, choice->subplan->parParam, lc, choice->subplan->args)
		{
			if (lfirst_int(id) == ((Param *) node)->paramid)
				return copyObject(lfirst(lc));
		}
		return copyObject(node);
	}
	if (IsA(node, Aggref))
	{
		foreach(lc, choice->candidate->aggrefs)
		{
			if (equal(lfirst(lc), node))
				return (Node *) makeVar(INDEX_VAR,
										substitution->first_item +
										choice->items[foreach_current_index(lc)],
										exprType(node), exprTypmod(node),
										exprCollation(node), 0);
		}
		elog(ERROR, "aggregate %u of a subquery is not among its aggregates",
			 ((Aggref *) node)->aggfnoid);
	}
	return expression_tree_mutator(node, substitute_mutator, argument);
}

/* ---- the node ---- */

/* Add an item to the range and its Aggref to those of its items; returns the item's number. */
static int
append_item(GpbRowRange *range, List **aggrefs, const GpbAggregateItem *item, Aggref *aggref)
{
	range->items = range->nitems == 0 ? palloc(sizeof(*item)) :
		repalloc(range->items, sizeof(*item) * (range->nitems + 1));
	range->items[range->nitems] = *item;
	*aggrefs = lappend(*aggrefs, aggref);
	return range->nitems++;
}

/*
 * Number of the Aggref's item in the range, to which it is added if need be; aggrefs: those of its
 * items
 */
static int
add_item(GpbRowRange *range, List **aggrefs, const GpbAggregateItem *item, Aggref *aggref)
{
	int			i;

	for (i = 0; i < range->nitems; i++)
	{
		if (equal(list_nth(*aggrefs, i), aggref))
			return i;
	}
	return append_item(range, aggrefs, item, aggref);
}

/* Does the range have the match's conditions?  Equal operators have equal types of values. */
static bool
same_conditions(const GpbRowRange *range, const GpbSubqueryMatch *match)
{
	int			i;

	if (range->index != match->range.index || range->nconditions != match->range.nconditions)
		return false;
	for (i = 0; i < range->nconditions; i++)
	{
		if (range->conditions[i].operator != match->range.conditions[i].operator ||
			range->conditions[i].column != match->range.conditions[i].column)
			return false;
	}
	return true;
}

/*
 * Number of the plan's range that has the match's conditions with these values; -1 if there is
 * none.  A range with a program is its subquery's alone, and so is one of several partitions, of
 * which conditions that are not the range's may have left others.
 */
static int
find_range(const GpbSubqueryPlan *plan, const GpbSubqueryMatch *match, List *values)
{
	int			i;

	for (i = 0; i < plan->nranges && !match->range.program.present && match->partitions == NULL;
		 i++)
	{
		if (!plan->ranges[i].program.present && plan->partitions[i].n == 0 &&
			same_conditions(&plan->ranges[i], match) && equal(plan->values[i], values))
			return i;
	}
	return -1;
}

/* Add a range without items to the plan, for the match's conditions with these values. */
static int
add_range(GpbSubqueryPlan *plan, const GpbSubqueryMatch *match, List *values)
{
	GpbRowRange *range = &plan->ranges[plan->nranges];

	*range = match->range;
	range->nitems = 0;
	if (match->partitions != NULL)
		plan->partitions[plan->nranges] = match->partitions->list;
	plan->values[plan->nranges] = values;
	return plan->nranges++;
}

/*
 * Give each choice its range, which it shares with choices that ask for an equal range.  aggrefs: a
 * List for each range, of its items' Aggrefs.
 */
static void
make_ranges(List *choices, GpbSubqueryPlan *plan, List **aggrefs)
{
	ListCell   *lc;

	plan->ranges = palloc0(sizeof(GpbRowRange) * list_length(choices));
	plan->partitions = palloc0(sizeof(GpbPartitionList) * list_length(choices));
	plan->values = palloc0(sizeof(List *) * list_length(choices));
	foreach(lc, choices)
	{
		GpbChoice  *choice = lfirst(lc);
		GpbSubqueryMatch *match = choice->match;
		Substitution substitution = {choice, 0};
		List	   *values = (List *) substitute_mutator((Node *) match->values, &substitution);
		int			i;

		choice->range = find_range(plan, match, values);
		if (choice->range < 0)
			choice->range = add_range(plan, match, values);
		choice->items = palloc(sizeof(int) * match->range.nitems);
		for (i = 0; i < match->range.nitems; i++)
			choice->items[i] = match->range.program.present ?
				append_item(&plan->ranges[choice->range], &aggrefs[choice->range],
							&match->range.items[i], list_nth(choice->candidate->aggrefs, i)) :
				add_item(&plan->ranges[choice->range], &aggrefs[choice->range],
						 &match->range.items[i], list_nth(choice->candidate->aggrefs, i));
	}
}

/* The number of the scan tuple's column that a range's first item is in */
static AttrNumber
first_item_place(const GpbSubqueryPlan *plan, int range)
{
	AttrNumber	place = plan->ncolumns + 1;
	int			i;

	for (i = 0; i < range; i++)
		place += plan->ranges[i].nitems;
	return place;
}

List *
gpb_append_target(List *targets, Node *expression)
{
	return lappend(targets, makeTargetEntry((Expr *) expression, list_length(targets) + 1, NULL,
											false));
}

/* A target list that describes the scan tuple; aggrefs is as for make_ranges(). */
static List *
scan_tuple_targets(Plan *child, const GpbSubqueryPlan *plan, List **aggrefs)
{
	List	   *targets = gpb_column_targets(child->targetlist, OUTER_VAR);
	ListCell   *lc;
	int			i;

	for (i = 0; i < plan->nranges; i++)
	{
		foreach(lc, aggrefs[i])
		{
			Node	   *aggref = lfirst(lc);

			targets = gpb_append_target(targets, (Node *) makeNullConst(exprType(aggref),
																		exprTypmod(aggref),
																		exprCollation(aggref)));
		}
	}
	foreach(lc, plan->subplans)
		targets = gpb_append_target(targets, copyObject(lfirst(lc)));
	return targets;
}

/*
 * InitPlans belong to the topmost node that may refer to what they set; the child's come from above
 * it now.
 */
static void
raise_init_plans(Plan *node, Plan *child)
{
	ListCell   *lc;
	ListCell   *id;

	node->initPlan = child->initPlan;
	child->initPlan = NIL;
	foreach(lc, node->initPlan)
	{
		foreach(id, lfirst_node(SubPlan, lc)->setParam)
			child->extParam = bms_add_member(child->extParam, lfirst_int(id));
	}
}

/* What is common to a node and the child below which it does not go */
static void
copy_plan_info(GpbPlacing *placing, Plan *node, Plan *child)
{
	node->plan_rows = child->plan_rows;
	node->plan_width = child->plan_width;
	node->parallel_safe = child->parallel_safe;
	node->extParam = bms_copy(child->extParam);
	node->allParam = bms_copy(child->allParam);
	node->plan_node_id = placing->glob->lastPlanNodeId++;
	raise_init_plans(node, child);
	node->lefttree = child;
}

/* The price of answering the plan's ranges */
static GpbOuterPrice
ranges_price(const GpbEachRow *each, const GpbSubqueryPlan *plan)
{
	GpbOuterPrice price = {0};
	ListCell   *lc;
	int			i;

	for (i = 0; i < plan->nranges; i++)
	{
		GpbChoice  *choice = NULL;
		GpbOuterPrice range;

		foreach(lc, each->choices)
		{
			if (((GpbChoice *) lfirst(lc))->range == i)
				choice = lfirst(lc);
		}
		range = gpb_subquery_batch_price(choice->candidate, choice->match, each->rows);
		price.startup_cost += range.startup_cost;
		price.total_cost += range.total_cost;
	}
	return price;
}

/* Fill in the plan's fields, with expressions over the scan tuple. */
static void
make_plan(const GpbEachRow *each, Plan *child, Limit *limit, GpbSubqueryPlan *plan,
		  List **aggrefs)
{
	ListCell   *lc;
	int			i;

	plan->may_fail = each->may_fail;
	plan->on_top = each->on_top;
	plan->ncolumns = list_length(child->targetlist);
	plan->nresults = list_length(each->choices);
	plan->result_range = palloc(sizeof(int) * plan->nresults);
	make_ranges(each->choices, plan, aggrefs);
	foreach(lc, each->choices)
	{
		GpbChoice  *choice = lfirst(lc);
		Substitution substitution = {choice, first_item_place(plan, choice->range)};

		plan->result_range[foreach_current_index(lc)] = choice->range;
		plan->targets = lappend(plan->targets,
								substitute_mutator(choice->candidate->target, &substitution));
		plan->subplans = lappend(plan->subplans, choice->subplan);
	}
	for (i = 0; i < plan->nranges; i++)
		plan->values[i] = (List *) scan_tuple_mutator((Node *) plan->values[i], NULL);
	plan->targets = (List *) scan_tuple_mutator((Node *) plan->targets, NULL);
	plan->subplans = (List *) scan_tuple_mutator((Node *) plan->subplans, NULL);
	if (limit != NULL)
	{
		plan->bounded = true;
		plan->bound_offset = copyObject(limit->limitOffset);
		plan->bound_count = copyObject(limit->limitCount);
	}
}

Plan *
gpb_make_subquery_node(GpbEachRow *each, Plan *child, List *targetlist, List *qual,
					   Limit *limit)
{
	CustomScan *scan = makeNode(CustomScan);
	GpbSubqueryPlan plan = {0};
	List	  **aggrefs = palloc0(sizeof(List *) * list_length(each->choices));
	GpbOuterPrice price;

	make_plan(each, child, limit, &plan, aggrefs);
	price = ranges_price(each, &plan);

	each->first_result = first_item_place(&plan, plan.nranges);
	each->varno = INDEX_VAR;
	targetlist = (List *) gpb_each_row_mutator((Node *) targetlist, each);
	qual = (List *) gpb_each_row_mutator((Node *) qual, each);
	scan->scan.plan.targetlist = (List *) scan_tuple_mutator((Node *) targetlist, NULL);
	scan->scan.plan.qual = (List *) scan_tuple_mutator((Node *) qual, NULL);
	copy_plan_info(each->placing, &scan->scan.plan, child);
	scan->custom_scan_tlist = scan_tuple_targets(child, &plan, aggrefs);
	gpb_subquery_put(&plan, scan);
	scan->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	scan->methods = &gpb_subquery_node.scan;

	/* the child's price has the SubPlans in it */
	scan->scan.plan.startup_cost = child->startup_cost + price.startup_cost;
	scan->scan.plan.total_cost = Max(child->total_cost - each->stock + price.total_cost,
									 scan->scan.plan.startup_cost);
	each->placing->placed = true;
	each->placing->saved += child->total_cost - scan->scan.plan.total_cost;
	child->total_cost = Max(child->total_cost - each->stock, child->startup_cost);
	return &scan->scan.plan;
}
