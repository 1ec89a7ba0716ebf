/*-------------------------------------------------------------------------
 *
 * subquery_tree.c
 *	  What the nodes of a finished plan read of their children.
 *
 * A node that reads rows ahead must not read any that nobody would have read: what is evaluated for them might raise
 * an error, and would cost something.  So it must be known of each node whether its reader goes on to the end.
 *
 *-------------------------------------------------------------------------
 */
#include "../compat.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "utils/lsyscache.h"

#include "subquery.h"

/* What is read of rows that may be dropped, or multiplied, before the Limit above counts them */
static GpbReading
unbounded(GpbReading reading)
{
	return reading == GPB_READ_BOUNDED ? GPB_READ_SOME : reading;
}

static List *
add_child(List *children, Plan **plan, GpbReading reading)
{
	GpbPlanChild *child = palloc(sizeof(GpbPlanChild));

	if (*plan == NULL)
		return children;
	child->plan = plan;
	child->reading = reading;
	return lappend(children, child);
}

static List *
add_children(List *children, List *plans, GpbReading reading)
{
	ListCell   *lc;

	foreach(lc, plans)
		children = add_child(children, (Plan **) &lfirst(lc), reading);
	return children;
}

/* Is the count known when the Limit begins, and the same for whoever evaluates it? */
static bool
is_simple_count(Node *count)
{
	return count == NULL || IsA(count, Const) ||
		(IsA(count, Param) && ((Param *) count)->paramkind == PARAM_EXTERN);
}

/* What a Limit reads of its child: rows that OFFSET skips are evaluated like others. */
static GpbReading
limit_reading(Limit *limit, GpbReading reading)
{
	if (limit->limitCount == NULL)
		return unbounded(reading);
	if (reading == GPB_READ_ALL && limit->limitOption == LIMIT_OPTION_COUNT &&
		is_simple_count(limit->limitCount) && is_simple_count(limit->limitOffset))
		return GPB_READ_BOUNDED;
	return GPB_READ_SOME;
}

/*
 * Children of a CustomScan.  Nodes of ours that take any plan for a child read it as their own rows are read; what others read
 * is not known.
 */
static List *
custom_children(CustomScan *scan, GpbReading reading)
{
	if (scan->methods == &gpb_join_scan_methods ||
		scan->methods == &gpb_range_aggregate_scan_methods)
		return add_children(NIL, scan->custom_plans, unbounded(reading));
	if (scan->methods == &gpb_subquery_scan_methods)
		return add_child(NIL, &scan->scan.plan.lefttree,
						 scan->scan.plan.qual == NIL ? reading : unbounded(reading));
	return add_children(NIL, scan->custom_plans, GPB_READ_SOME);
}

/* What a join reads of its inner side, each time that it does */
static GpbReading
inner_reading(Join *join, GpbReading reading)
{
	if (join->inner_unique || join->jointype == JOIN_SEMI || join->jointype == JOIN_ANTI)
		return GPB_READ_SOME;
	return unbounded(reading);
}

/* A merge join stops where either side ends. */
static GpbReading
merged_reading(GpbReading reading)
{
	return reading == GPB_READ_ALL ? GPB_READ_MOST : unbounded(reading);
}

/* Does the join ask its inner child to mark a place and to go back there, which ours cannot? */
static bool
keeps_place(MergeJoin *join)
{
	return !join->skip_mark_restore && !IsA(join->join.plan.righttree, Material) &&
		!IsA(join->join.plan.righttree, Sort);
}

List *
gpb_plan_children(Plan *plan, GpbReading reading)
{
	List	   *children = NIL;

	switch (nodeTag(plan))
	{
		case T_Gather:
		case T_GatherMerge:
		case T_ForeignScan:
			return NIL;
		case T_Append:
			return add_children(NIL, ((Append *) plan)->appendplans, reading);
		case T_MergeAppend:
			return add_children(NIL, ((MergeAppend *) plan)->mergeplans, reading);
		case T_SubqueryScan:
			return add_child(NIL, &((SubqueryScan *) plan)->subplan,
							 plan->qual == NIL ? reading : unbounded(reading));
		case T_CustomScan:
			return custom_children((CustomScan *) plan, reading);
		case T_Result:
		case T_LockRows:
			return add_child(NIL, &plan->lefttree, reading);
		case T_Limit:
			return add_child(NIL, &plan->lefttree, limit_reading((Limit *) plan, reading));
		case T_Sort:
		case T_Hash:
			return add_child(NIL, &plan->lefttree, GPB_READ_ALL);
		case T_ModifyTable:
			return add_child(NIL, &plan->lefttree, GPB_READ_ALL);
		case T_Agg:
			if (((Agg *) plan)->aggstrategy == AGG_PLAIN ||
				((Agg *) plan)->aggstrategy == AGG_HASHED)
				reading = GPB_READ_ALL;
			return add_child(NIL, &plan->lefttree, unbounded(reading));
		case T_Memoize:
			return add_child(NIL, &plan->lefttree,
							 ((Memoize *) plan)->singlerow ? GPB_READ_SOME : unbounded(reading));
		case T_NestLoop:
			children = add_child(NIL, &plan->lefttree, unbounded(reading));
			return add_child(children, &plan->righttree, inner_reading((Join *) plan, reading));
		case T_HashJoin:
			children = add_child(NIL, &plan->lefttree, unbounded(reading));
			return add_child(children, &plan->righttree, GPB_READ_ALL);
		case T_MergeJoin:
			children = add_child(NIL, &plan->lefttree, merged_reading(reading));
			return add_child(children, &plan->righttree,
							 keeps_place((MergeJoin *) plan) ? GPB_READ_SOME :
							 merged_reading(reading));
		default:
			children = add_child(NIL, &plan->lefttree, unbounded(reading));
			return add_child(children, &plan->righttree, unbounded(reading));
	}
}

/* ---- what they evaluate ---- */

/* A function that may raise an error: one that is not leakproof */
static bool
function_may_fail(Oid function, void *argument)
{
	return !get_func_leakproof(function);
}

/* Is there anything but columns, constants, parameters, and functions of them that cannot fail? */
static bool
may_fail_walker(Node *node, void *argument)
{
	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_List:
		case T_TargetEntry:
		case T_Var:
		case T_Const:
		case T_Param:
		case T_RelabelType:
		case T_CollateExpr:
		case T_NullTest:
		case T_BooleanTest:
		case T_BoolExpr:
		case T_FuncExpr:
		case T_OpExpr:
			break;
		default:
			return true;
	}
	if (check_functions_in_node(node, function_may_fail, argument))
		return true;
	return expression_tree_walker(node, may_fail_walker, argument);
}

bool
gpb_may_fail(Node *expression)
{
	return may_fail_walker(expression, NULL);
}

/* Does the node itself, when it reads or joins rows? */
static bool
node_evaluates(Plan *plan, bool (*test) (Node *))
{
	if (test((Node *) plan->qual))
		return true;
	if (IsA(plan, NestLoop) || IsA(plan, MergeJoin) || IsA(plan, HashJoin))
		return test((Node *) ((Join *) plan)->joinqual);
	return false;
}

bool
gpb_plan_evaluates(Plan *plan, bool (*test) (Node *))
{
	ListCell   *lc;

	check_stack_depth();
	if (node_evaluates(plan, test))
		return true;
	if (IsA(plan, Gather) || IsA(plan, GatherMerge))
		return test((Node *) plan->lefttree->targetlist) ||
			gpb_plan_evaluates(plan->lefttree, test);
	foreach(lc, gpb_plan_children(plan, GPB_READ_SOME))
	{
		Plan	   *child = *((GpbPlanChild *) lfirst(lc))->plan;

		if (test((Node *) child->targetlist) || gpb_plan_evaluates(child, test))
			return true;
	}
	return false;
}
