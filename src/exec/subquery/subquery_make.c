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
	GpbChoice	   *choice;
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
	GpbChoice	   *choice = substitution->choice;
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

/*
 * Number of the Aggref's item in the range, to which it is added if need be; aggrefs: those of its
 * items
 */
static int
add_item(GpbSubqueryRange *range, List **aggrefs, const GpbAggregateItem *item, Aggref *aggref)
{
	int			i;

	for (i = 0; i < range->nitems; i++)
	{
		if (equal(list_nth(*aggrefs, i), aggref))
			return i;
	}
	range->items = range->nitems == 0 ? palloc(sizeof(*item)) :
		repalloc(range->items, sizeof(*item) * (range->nitems + 1));
	range->items[range->nitems] = *item;
	*aggrefs = lappend(*aggrefs, aggref);
	return range->nitems++;
}

/* The value types are those of the operators. */
static bool
same_conditions(const GpbSubqueryRange *range, const GpbSubqueryMatch *match)
{
	int			i;

	if (range->index != match->index->indexoid || range->nconditions != match->nconditions)
		return false;
	for (i = 0; i < match->nconditions; i++)
	{
		if (range->conditions[i].operator != match->conditions[i].operator)
			return false;
	}
	return true;
}

/*
 * Give each choice its range, which it shares with those that ask for the same one.  values: a list
 * of each range's values; types: a list of each range's Aggrefs, in the order of its items.
 */
static void
make_ranges(List *choices, GpbSubqueryPlan *plan, List **values, List **types)
{
	ListCell   *lc;

	plan->ranges = palloc0(sizeof(GpbSubqueryRange) * list_length(choices));
	foreach(lc, choices)
	{
		GpbChoice	   *choice = lfirst(lc);
		GpbSubqueryMatch *match = choice->match;
		Substitution substitution = {choice, 0};
		List	   *own = (List *) substitute_mutator((Node *) match->values, &substitution);
		GpbSubqueryRange *range;
		ListCell   *cell;
		int			i;

		for (i = 0; i < plan->nranges; i++)
		{
			if (same_conditions(&plan->ranges[i], match) && equal(list_nth(*values, i), own))
				break;
		}
		range = &plan->ranges[i];
		if (i == plan->nranges)
		{
			plan->nranges++;
			range->index = match->index->indexoid;
			range->alias = match->alias;
			range->nconditions = match->nconditions;
			range->conditions = match->conditions;
			*values = lappend(*values, own);
			*types = lappend(*types, NIL);
		}
		choice->range = i;
		choice->items = palloc(sizeof(int) * match->nitems);
		cell = list_nth_cell(*types, i);
		for (i = 0; i < match->nitems; i++)
		{
			List	   *aggrefs = lfirst(cell);

			choice->items[i] = add_item(range, &aggrefs, &match->items[i],
										list_nth(choice->candidate->aggrefs, i));
			lfirst(cell) = aggrefs;
		}
	}
}

/* The scan tuple's place of a range's first item */
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

/* Describe the scan tuple. */
static List *
scan_tuple_targets(Plan *child, List *types, List *subplans)
{
	List	   *targets = gpb_column_targets(child->targetlist, OUTER_VAR);
	ListCell   *lc;
	ListCell   *cell;

	foreach(lc, types)
	{
		foreach(cell, (List *) lfirst(lc))
		{
			Node	   *aggref = lfirst(cell);

			targets = gpb_append_target(targets, (Node *) makeNullConst(exprType(aggref),
																	 exprTypmod(aggref),
																	 exprCollation(aggref)));
		}
	}
	foreach(lc, subplans)
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

/*
 * Make the node above a child.  Target list and qual are over the child's columns, as OUTER_VAR,
 * with the choices in each->choices among them.  limit: the Limit that bounds what is read, or
 * NULL.
 */
Plan *
gpb_make_subquery_node(GpbEachRow *each, Plan *child, List *targetlist, List *qual,
					   Limit *limit)
{
	CustomScan *scan = makeNode(CustomScan);
	GpbSubqueryPlan plan = {0};
	List	   *values = NIL;
	List	   *types = NIL;
	List	   *all_values = NIL;
	List	   *targets = NIL;
	List	   *subplans = NIL;
	Cost		cost = 0;
	Cost		startup_cost;
	Cost		all_startup_cost = 0;
	ListCell   *lc;
	int			i;

	plan.may_fail = each->may_fail;
	plan.on_top = each->on_top;
	plan.ncolumns = list_length(child->targetlist);
	plan.nresults = list_length(each->choices);
	plan.result_range = palloc(sizeof(int) * plan.nresults);
	make_ranges(each->choices, &plan, &values, &types);
	foreach(lc, each->choices)
	{
		GpbChoice	   *choice = lfirst(lc);
		Substitution substitution = {choice, first_item_place(&plan, choice->range)};

		plan.result_range[foreach_current_index(lc)] = choice->range;
		targets = lappend(targets, substitute_mutator(choice->candidate->target, &substitution));
		subplans = lappend(subplans, copyObject(choice->subplan));
	}
	for (i = 0; i < plan.nranges; i++)
	{
		GpbChoice	   *choice = NULL;

		all_values = list_concat(all_values, list_nth(values, i));
		foreach(lc, each->choices)
		{
			if (((GpbChoice *) lfirst(lc))->range == i)
				choice = lfirst(lc);
		}
		cost += gpb_subquery_batch_cost(choice->candidate, choice->match, each->rows, &startup_cost);
		all_startup_cost += startup_cost;
	}

	each->first_result = first_item_place(&plan, plan.nranges);
	each->varno = INDEX_VAR;
	targetlist = (List *) gpb_each_row_mutator((Node *) targetlist, each);
	qual = (List *) gpb_each_row_mutator((Node *) qual, each);
	scan->scan.plan.targetlist = (List *) scan_tuple_mutator((Node *) targetlist, NULL);
	scan->scan.plan.qual = (List *) scan_tuple_mutator((Node *) qual, NULL);
	subplans = (List *) scan_tuple_mutator((Node *) subplans, NULL);
	copy_plan_info(each->placing, &scan->scan.plan, child);
	scan->custom_scan_tlist = scan_tuple_targets(child, types, subplans);
	scan->custom_exprs = list_make4(scan_tuple_mutator((Node *) all_values, NULL),
									scan_tuple_mutator((Node *) targets, NULL), subplans,
									limit == NULL ? NIL :
									list_make2(copyObject(limit->limitOffset),
											   copyObject(limit->limitCount)));
	scan->custom_private = gpb_subquery_private(&plan);
	scan->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	scan->methods = &gpb_subquery_scan_methods;

	/* the child's price has the SubPlans in it */
	scan->scan.plan.startup_cost = child->startup_cost + all_startup_cost;
	scan->scan.plan.total_cost = Max(child->total_cost - each->stock + cost,
									 scan->scan.plan.startup_cost);
	each->placing->placed = true;
	each->placing->saved += child->total_cost - scan->scan.plan.total_cost;
	child->total_cost = Max(child->total_cost - each->stock, child->startup_cost);
	return &scan->scan.plan;
}
