/*-------------------------------------------------------------------------
 *
 * subquery_tree.c
 *	  What the nodes of a finished plan read of their children.
 *
 * A node that reads rows ahead must not read any that nobody would have read: what is evaluated for
 * them might raise an error, and would cost something.  So it must be known of each node whether
 * its reader goes on to the end.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/join/join_node.h"
#include "exec/range/range_aggregate.h"
#include "exec/subquery/subquery.h"
#include "exec/subquery/subquery_tree.h"

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
 * Children of a CustomScan.  Nodes of ours that take any plan for a child read it as their own rows
 * are read; what others read is not known.
 */
static List *
custom_children(CustomScan *scan, GpbReading reading)
{
	if (scan->methods == &gpb_join_node.scan ||
		scan->methods == &gpb_range_aggregate_node.scan)
		return add_children(NIL, scan->custom_plans, unbounded(reading));
	if (scan->methods == &gpb_subquery_node.scan)
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

/* What is read of a side of a join that stops where the other side ends */
static GpbReading
probably_all(GpbReading reading)
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
			/* the Limit counts the rows of all children together */
			return add_children(NIL, ((Append *) plan)->appendplans, unbounded(reading));
		case T_MergeAppend:
			return add_children(NIL, ((MergeAppend *) plan)->mergeplans, unbounded(reading));
		case T_BitmapAnd:
			return add_children(NIL, ((BitmapAnd *) plan)->bitmapplans, unbounded(reading));
		case T_BitmapOr:
			return add_children(NIL, ((BitmapOr *) plan)->bitmapplans, unbounded(reading));
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
		case T_WindowAgg:
			return add_child(NIL, &plan->lefttree,
							 ((WindowAgg *) plan)->runCondition != NIL ? GPB_READ_SOME :
							 unbounded(reading));
		case T_HashJoin:
			/* it may read one outer row before it finds that there is no inner one */
			children = add_child(NIL, &plan->lefttree, probably_all(reading));
			return add_child(children, &plan->righttree, GPB_READ_ALL);
		case T_MergeJoin:
			children = add_child(NIL, &plan->lefttree, probably_all(reading));
			return add_child(children, &plan->righttree,
							 keeps_place((MergeJoin *) plan) ? GPB_READ_SOME :
							 probably_all(reading));
		default:
			children = add_child(NIL, &plan->lefttree, unbounded(reading));
			return add_child(children, &plan->righttree, unbounded(reading));
	}
}

/* ---- what they evaluate ---- */

/*
 * Add the expressions that the node evaluates, its target list apart; false if they are not known.
 * Of the nodes that are named here all fields were looked at: a server whose nodes have others
 * fails the test of test/t/138_plan_readers.pl.
 */
static bool
node_expressions(Plan *plan, List **expressions)
{
	*expressions = list_make1(plan->qual);
	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SubqueryScan:
		case T_CteScan:
		case T_NamedTuplestoreScan:
		case T_WorkTableScan:
		case T_ProjectSet:
		case T_Append:
		case T_MergeAppend:
		case T_RecursiveUnion:
		case T_BitmapAnd:
		case T_BitmapOr:
		case T_Gather:
		case T_GatherMerge:
		case T_Material:
		case T_Sort:
		case T_IncrementalSort:
		case T_Group:
		case T_Agg:
		case T_Unique:
		case T_SetOp:
		case T_LockRows:
			return true;
		case T_Result:
			*expressions = lappend(*expressions, ((Result *) plan)->resconstantqual);
			return true;
		case T_Limit:
			*expressions = lappend(*expressions, ((Limit *) plan)->limitOffset);
			*expressions = lappend(*expressions, ((Limit *) plan)->limitCount);
			return true;
		case T_SampleScan:
			*expressions = lappend(*expressions, ((SampleScan *) plan)->tablesample);
			return true;
		case T_IndexScan:
			*expressions = lappend(*expressions, ((IndexScan *) plan)->indexqualorig);
			*expressions = lappend(*expressions, ((IndexScan *) plan)->indexorderbyorig);
			return true;
		case T_IndexOnlyScan:
			*expressions = lappend(*expressions, ((IndexOnlyScan *) plan)->indexqual);
			*expressions = lappend(*expressions, ((IndexOnlyScan *) plan)->indexorderby);
			return true;
		case T_BitmapIndexScan:
			*expressions = lappend(*expressions, ((BitmapIndexScan *) plan)->indexqualorig);
			return true;
		case T_BitmapHeapScan:
			*expressions = lappend(*expressions, ((BitmapHeapScan *) plan)->bitmapqualorig);
			return true;
		case T_TidScan:
			*expressions = lappend(*expressions, ((TidScan *) plan)->tidquals);
			return true;
		case T_TidRangeScan:
			*expressions = lappend(*expressions, ((TidRangeScan *) plan)->tidrangequals);
			return true;
		case T_FunctionScan:
			*expressions = lappend(*expressions, ((FunctionScan *) plan)->functions);
			return true;
		case T_TableFuncScan:
			*expressions = lappend(*expressions, ((TableFuncScan *) plan)->tablefunc);
			return true;
		case T_ValuesScan:
			*expressions = lappend(*expressions, ((ValuesScan *) plan)->values_lists);
			return true;
		case T_NestLoop:
			*expressions = lappend(*expressions, ((Join *) plan)->joinqual);
			return true;
		case T_MergeJoin:
			*expressions = lappend(*expressions, ((Join *) plan)->joinqual);
			*expressions = lappend(*expressions, ((MergeJoin *) plan)->mergeclauses);
			return true;
		case T_HashJoin:
			*expressions = lappend(*expressions, ((Join *) plan)->joinqual);
			*expressions = lappend(*expressions, ((HashJoin *) plan)->hashclauses);
			*expressions = lappend(*expressions, ((HashJoin *) plan)->hashkeys);
			return true;
		case T_Hash:
			*expressions = lappend(*expressions, ((Hash *) plan)->hashkeys);
			return true;
		case T_Memoize:
			*expressions = lappend(*expressions, ((Memoize *) plan)->param_exprs);
			return true;
		case T_WindowAgg:
			*expressions = lappend(*expressions, ((WindowAgg *) plan)->startOffset);
			*expressions = lappend(*expressions, ((WindowAgg *) plan)->endOffset);
			return ((WindowAgg *) plan)->runCondition == NIL;
		case T_CustomScan:
			*expressions = lappend(*expressions, ((CustomScan *) plan)->custom_exprs);
			return gpb_is_node_name(((CustomScan *) plan)->methods->CustomName);
		default:
			return false;
	}
}

/* A search for an expression that passes the test, in a part of a statement's plan */
typedef struct Looking
{
	PlannedStmt *statement;
	bool		(*test) (Node *);
} Looking;

static bool evaluates_below(Looking *looking, Plan *plan);

/*
 * Does the plan of a SubPlan or of a WITH query evaluate what is looked for, for its rows or for
 * what it returns?
 */
static bool
subplan_evaluates(Looking *looking, int plan_id)
{
	Plan	   *plan = list_nth(looking->statement->subplans, plan_id - 1);

	return plan == NULL || looking->test((Node *) plan->targetlist) ||
		evaluates_below(looking, plan);
}

/* The InitPlan, at or below the plan node, that sets the Param; 0 if there is none. */
static int
find_init_plan(Plan *plan, int param)
{
	List	   *children = gpb_plan_children(plan, GPB_READ_SOME);
	ListCell   *lc;
	int			plan_id = 0;

	check_stack_depth();
	foreach(lc, plan->initPlan)
	{
		if (list_member_int(lfirst_node(SubPlan, lc)->setParam, param))
			return lfirst_node(SubPlan, lc)->plan_id;
	}
	if (IsA(plan, Gather) || IsA(plan, GatherMerge))
		children = add_child(NIL, &plan->lefttree, GPB_READ_SOME);
	foreach(lc, children)
	{
		if (plan_id == 0)
			plan_id = find_init_plan(*((GpbPlanChild *) lfirst(lc))->plan, param);
	}
	return plan_id;
}

/* Does the InitPlan that sets the Param, when that is first needed, evaluate what is looked for? */
static bool
param_evaluates(Looking *looking, int param)
{
	int			plan_id = find_init_plan(looking->statement->planTree, param);
	ListCell   *lc;

	foreach(lc, looking->statement->subplans)
	{
		if (plan_id == 0 && lfirst(lc) != NULL)
			plan_id = find_init_plan(lfirst(lc), param);
	}
	return plan_id > 0 && subplan_evaluates(looking, plan_id);
}

/*
 * Does a SubPlan in the expression, or an InitPlan whose value it uses, evaluate what is looked
 * for?
 */
static bool
subplan_walker(Node *node, void *argument)
{
	if (node == NULL)
		return false;
	if (IsA(node, SubPlan) && subplan_evaluates(argument, ((SubPlan *) node)->plan_id))
		return true;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC &&
		param_evaluates(argument, ((Param *) node)->paramid))
		return true;
	return expression_tree_walker(node, subplan_walker, argument);
}

static bool
expression_passes(Looking *looking, Node *expression)
{
	return looking->test(expression) || subplan_walker(expression, looking);
}

/* Does the plan, its target list apart, evaluate what is looked for? */
static bool
evaluates_below(Looking *looking, Plan *plan)
{
	List	   *children;
	List	   *expressions;
	ListCell   *lc;

	check_stack_depth();
	if (!node_expressions(plan, &expressions))
		return true;
	foreach(lc, expressions)
	{
		if (expression_passes(looking, lfirst(lc)))
			return true;
	}
	if (IsA(plan, CteScan) && subplan_evaluates(looking, ((CteScan *) plan)->ctePlanId))
		return true;
	children = gpb_plan_children(plan, GPB_READ_SOME);
	if (IsA(plan, Gather) || IsA(plan, GatherMerge))
		children = add_child(NIL, &plan->lefttree, GPB_READ_SOME);
	foreach(lc, children)
	{
		Plan	   *child = *((GpbPlanChild *) lfirst(lc))->plan;

		if (expression_passes(looking, (Node *) child->targetlist) ||
			evaluates_below(looking, child))
			return true;
	}
	return false;
}

bool
gpb_plan_evaluates(PlannedStmt *statement, Plan *plan, List *leaves, bool (*test) (Node *))
{
	Looking		looking = {statement, test};
	ListCell   *lc;

	foreach(lc, leaves)
	{
		if (!IsA(lfirst(lc), Var) && expression_passes(&looking, lfirst(lc)))
			return true;
	}
	return evaluates_below(&looking, plan);
}

/* ---- what a subquery's own plan evaluates ---- */

/* Does the expression, whenever it is evaluated, use a value that an InitPlan of the node sets? */
static bool
always_uses_init_plan(Plan *plan, Node *node)
{
	List	   *args = NIL;
	ListCell   *lc;

	if (node == NULL)
		return false;
	switch (nodeTag(node))
	{
		case T_Param:
			foreach(lc, plan->initPlan)
			{
				if (((Param *) node)->paramkind == PARAM_EXEC &&
					list_member_int(lfirst_node(SubPlan, lc)->setParam,
									((Param *) node)->paramid))
					return true;
			}
			return false;
		case T_RelabelType:
			return always_uses_init_plan(plan, (Node *) ((RelabelType *) node)->arg);
		case T_NullTest:
			return always_uses_init_plan(plan, (Node *) ((NullTest *) node)->arg);
		case T_CoalesceExpr:
			return always_uses_init_plan(plan, linitial(((CoalesceExpr *) node)->args));
		case T_FuncExpr:
			args = ((FuncExpr *) node)->args;
			break;
		case T_OpExpr:
			args = ((OpExpr *) node)->args;
			break;
		case T_MinMaxExpr:
			args = ((MinMaxExpr *) node)->args;
			break;
		default:
			return false;
	}
	foreach(lc, args)
	{
		if (always_uses_init_plan(plan, lfirst(lc)))
			return true;
	}
	return false;
}

/* Does the node merge what others return, of partitions or workers? */
static bool
is_over_many(const CustomScan *scan)
{
	const Plan *child = scan->custom_plans == NIL ? NULL : linitial(scan->custom_plans);

	return child != NULL &&
		(IsA(child, Append) || IsA(child, MergeAppend) || IsA(child, Gather));
}

bool
gpb_evaluates_bounds(PlannedStmt *statement, Plan *plan)
{
	ListCell   *lc;

	check_stack_depth();
	switch (nodeTag(plan))
	{
		case T_IndexScan:
		case T_IndexOnlyScan:
			return plan->qual == NIL;
		case T_BitmapIndexScan:
			return true;
		case T_CustomScan:
			/* one table's aggregates find the range first; of several all may be pruned */
			return ((CustomScan *) plan)->methods == &gpb_aggregate_node.scan &&
				!is_over_many((CustomScan *) plan);
		case T_BitmapHeapScan:
		case T_Agg:
		case T_Limit:
			return plan->qual == NIL && gpb_evaluates_bounds(statement, plan->lefttree);
		case T_Result:
			/* the least or greatest keys, each from an index: their bounds are the same */
			if (plan->targetlist == NIL ||
				!always_uses_init_plan(plan, (Node *) linitial_node(TargetEntry,
																	plan->targetlist)->expr))
				return false;
			foreach(lc, plan->initPlan)
			{
				int			plan_id = lfirst_node(SubPlan, lc)->plan_id;

				if (!gpb_evaluates_bounds(statement,
										  list_nth(statement->subplans, plan_id - 1)))
					return false;
			}
			return true;
		default:
			return false;
	}
}
