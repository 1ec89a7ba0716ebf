/*-------------------------------------------------------------------------
 *
 * subquery_place.c
 *	  Where a finished plan evaluates a scalar subquery for each row, and the node that answers it in batches.
 *
 *	  SELECT b.id, (SELECT coalesce(sum(v), 0) FROM t WHERE k >= b.lo AND k < b.hi) FROM bins b
 *
 *	  Seq Scan on bins b			GpubtreeSubquery		projects id and the subquery's result
 *		SubPlan 1			 =>		  ->  Seq Scan on bins b	returns the columns id, lo, hi
 *									  SubPlan 1				runs where there is no batch
 *
 * The node comes above the plan node that evaluates the SubPlan, so it sees the rows that core would evaluate it for, no
 * others, after the same joins and conditions.  That plan node hands its columns up, and what it made
 * of them is computed by the new one.  Conditions with a SubPlan move up with those after them.  The stock SubPlan
 * stays in the plan: with it stay locks, rights and dependencies, and it is run wherever there is no batch.
 *
 * Only SubPlans are taken that each row evaluates, whatever the rest of the expression yields, and only where the
 * rows are read to the end, or up to a LIMIT right above: so nothing is evaluated that core would not evaluate.  Below
 * a merge join, which may stop early, nothing that is evaluated for a row may fail.
 *
 * Here expressions refer to a child's columns by OUTER_VAR, the plan being finished.
 *
 *-------------------------------------------------------------------------
 */
#include "../compat.h"

#include "jit/jit.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "executor/executor.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"
#include "utils/lsyscache.h"

#include "subquery.h"

/*
 * Selectivity that is assumed of a condition on a subquery's result: core's guess for an inequality that it knows
 * nothing of.
 */
#define GPB_SUBQUERY_SELECTIVITY	(1.0 / 3.0)

/* One statement */
typedef struct Placing
{
	PlannedStmt *statement;
	PlannerGlobal *glob;
	GpbSubqueryCandidate **of_plan; /* by plan_id */
	Bitmapset  *partly_read;	/* plan_ids of WITH queries that somebody does not read to the end */
	Cost		saved;			/* in the plan that is being walked */
	bool		placed;			/* any node */
} Placing;

/* What is known of who reads a plan node's rows */
typedef struct Reader
{
	GpbReading	reading;
	Limit	   *limit;			/* the Limit above, if reading is GPB_READ_BOUNDED */
	bool		on_top;			/* does each row that the statement returns take at least one of these? */
} Reader;

/* A SubPlan that a batch is to answer */
typedef struct Choice
{
	SubPlan    *subplan;
	GpbSubqueryCandidate *candidate;
	GpbSubqueryMatch *match;
	int			range;			/* of the node's ranges */
	int		   *items;			/* of that range's items, for each of the candidate's aggregates */
} Choice;

/* Walking or changing what is evaluated for each row */
typedef struct EachRow
{
	Placing    *placing;
	Path	   *rows;			/* that it is evaluated for, as a price */
	bool		careful;		/* some may be read that core does not come to: nothing of them may fail */
	bool		may_fail;		/* bounds of a choice, or what is evaluated below, may */
	bool		on_top;			/* as in Reader */
	List	   *choices;
	Cost		stock;			/* what core's evaluation of them costs */
	AttrNumber	first_result;	/* 0: collect choices; else put their results in place, from this column on */
	Index		varno;			/* by which the results are referred to */
} EachRow;

/* ---- which SubPlans pay ---- */

static Cost
stock_cost(const SubPlan *subplan, double rows)
{
	return subplan->startup_cost + rows * subplan->per_call_cost;
}

/* Price of answering the rows' ranges by a match; the rows have none. */
static Cost
batch_cost(const GpbSubqueryCandidate *candidate, const GpbSubqueryMatch *match, Path *rows,
		   Cost *startup_cost)
{
	Cost		total_cost;

	gpb_range_aggregate_cost(candidate->subroot, match->index, rows, match->items,
							 match->nitems, match->entries, rows->rows, rows->pathtarget,
							 startup_cost, &total_cost);
	return total_cost;
}

/* May finding the bounds of the SubPlan's range raise an error? */
static bool
bounds_may_fail(const SubPlan *subplan, const GpbSubqueryMatch *match)
{
	return gpb_may_fail((Node *) subplan->args) || gpb_may_fail((Node *) match->values);
}

/* May they be found for each row? */
static bool
bounds_are_safe(EachRow *each, const SubPlan *subplan, const GpbSubqueryMatch *match)
{
	PlannedStmt *statement = each->placing->statement;

	return !bounds_may_fail(subplan, match) ||
		(!each->careful &&
		 gpb_evaluates_bounds(statement, list_nth(statement->subplans, subplan->plan_id - 1)));
}

/* The cheapest match of the SubPlan, if it is a candidate and that pays; NULL otherwise. */
static Choice *
choose(EachRow *each, SubPlan *subplan)
{
	GpbSubqueryCandidate *candidate = each->placing->of_plan[subplan->plan_id];
	Cost		best = stock_cost(subplan, each->rows->rows);
	Choice	   *choice = NULL;
	ListCell   *lc;

	if (candidate == NULL || subplan->subLinkType != EXPR_SUBLINK || subplan->useHashTable ||
		subplan->parParam == NIL || contain_subplans((Node *) subplan->args) ||
		contain_volatile_functions((Node *) subplan->args))
		return NULL;
	foreach(lc, candidate->matches)
	{
		GpbSubqueryMatch *match = lfirst(lc);
		Cost		startup_cost;
		Cost		cost = batch_cost(candidate, match, each->rows, &startup_cost);

		if (cost >= best || !bounds_are_safe(each, subplan, match))
			continue;
		best = cost;
		if (choice == NULL)
			choice = palloc0(sizeof(Choice));
		choice->subplan = subplan;
		choice->candidate = candidate;
		choice->match = match;
	}
	return choice;
}

static int
find_choice(List *choices, SubPlan *subplan)
{
	ListCell   *lc;

	foreach(lc, choices)
	{
		if (equal(((Choice *) lfirst(lc))->subplan, subplan))
			return foreach_current_index(lc);
	}
	return -1;
}

/* ---- expressions that are evaluated for each row ---- */

/* The SubPlan's result, or the SubPlan itself while choices are collected, or if it is none */
static Node *
each_row_subplan(EachRow *each, SubPlan *subplan)
{
	int			place = find_choice(each->choices, subplan);

	if (each->first_result > 0)
		return place < 0 ? (Node *) subplan :
			(Node *) makeVar(each->varno, each->first_result + place, subplan->firstColType,
							 subplan->firstColTypmod, subplan->firstColCollation, 0);
	if (place < 0)
	{
		Choice	   *choice = choose(each, subplan);

		if (choice == NULL)
			return (Node *) subplan;
		each->choices = lappend(each->choices, choice);
		each->may_fail |= bounds_may_fail(subplan, choice->match);
	}
	each->stock += stock_cost(subplan, each->rows->rows);
	return (Node *) subplan;
}

static Node *each_row_mutator(Node *node, void *argument);

/* A copy of the list, of which the first member alone is evaluated always */
static List *
first_of_list(List *members, EachRow *each)
{
	List	   *copy = list_copy(members);

	linitial(copy) = each_row_mutator(linitial(members), each);
	return copy;
}

/* What is left out of AND, OR, COALESCE and CASE may not be evaluated. */
static Node *
each_row_first(Node *node, EachRow *each)
{
	if (IsA(node, BoolExpr))
	{
		BoolExpr   *copy = makeNode(BoolExpr);

		*copy = *(BoolExpr *) node;
		copy->args = first_of_list(copy->args, each);
		return (Node *) copy;
	}
	else if (IsA(node, CoalesceExpr))
	{
		CoalesceExpr *copy = makeNode(CoalesceExpr);

		*copy = *(CoalesceExpr *) node;
		copy->args = first_of_list(copy->args, each);
		return (Node *) copy;
	}
	else
	{
		CaseExpr   *copy = makeNode(CaseExpr);
		CaseWhen   *when = makeNode(CaseWhen);

		*copy = *castNode(CaseExpr, node);
		copy->args = list_copy(copy->args);
		copy->arg = (Expr *) each_row_mutator((Node *) copy->arg, each);
		*when = *linitial_node(CaseWhen, copy->args);
		when->expr = (Expr *) each_row_mutator((Node *) when->expr, each);
		linitial(copy->args) = when;
		return (Node *) copy;
	}
}

/* The expression, with choices collected or put in place, where they are evaluated whenever the expression is */
static Node *
each_row_mutator(Node *node, void *argument)
{
	if (node == NULL)
		return NULL;
	switch (nodeTag(node))
	{
		case T_SubPlan:
			return each_row_subplan(argument, (SubPlan *) node);
		case T_CoalesceExpr:
		case T_CaseExpr:
			return each_row_first(node, argument);
		case T_BoolExpr:
			if (((BoolExpr *) node)->boolop != NOT_EXPR)
				return each_row_first(node, argument);
			break;
		case T_List:
		case T_TargetEntry:
		case T_NamedArgExpr:
		case T_FuncExpr:
		case T_OpExpr:
		case T_DistinctExpr:
		case T_NullIfExpr:
		case T_ScalarArrayOpExpr:
		case T_RelabelType:
		case T_CoerceViaIO:
		case T_ArrayCoerceExpr:
		case T_CoerceToDomain:
		case T_NullTest:
		case T_BooleanTest:
		case T_MinMaxExpr:
		case T_ArrayExpr:
		case T_RowExpr:
		case T_FieldSelect:
			break;
		default:
			return node;
	}
	return expression_tree_mutator(node, each_row_mutator, argument);
}

/* The same in arguments of aggregates: an aggregate sees each row, unless it has a filter. */
static Node *
aggregated_mutator(Node *node, void *argument)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref))
	{
		Aggref	   *copy = makeNode(Aggref);

		*copy = *(Aggref *) node;
		if (copy->aggfilter == NULL)
			copy->args = (List *) each_row_mutator((Node *) copy->args, argument);
		return (Node *) copy;
	}
	return expression_tree_mutator(node, aggregated_mutator, argument);
}

/* Collect the choices of an expression that is evaluated for these rows; *each says how else it is. */
static EachRow
collect(const EachRow *like, Path *rows, void *expression)
{
	EachRow		each = *like;

	each.rows = rows;
	each.choices = NIL;
	each.stock = 0;
	(void) each_row_mutator(expression, &each);
	return each;
}

/* ---- columns that a plan node hands up ---- */

/* What the plan node alone can compute: its input's columns, and aggregates */
static bool
is_leaf(Node *node)
{
	return IsA(node, Var) || IsA(node, Aggref) || IsA(node, GroupingFunc) ||
		IsA(node, WindowFunc);
}

/* The expression over the columns of the node, which are collected in the list that the argument points to */
static Node *
leaf_mutator(Node *node, void *argument)
{
	List	  **leaves = argument;
	ListCell   *lc;
	int			column = 0;

	if (node == NULL)
		return NULL;
	if (!is_leaf(node))
		return expression_tree_mutator(node, leaf_mutator, argument);
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
static List *
column_targets(List *targetlist, Index varno)
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
	Choice	   *choice;
	AttrNumber	first_item;		/* of the choice's range, in the scan tuple */
} Substitution;

/* The subquery's expression with the outer row's values for Params, and the range's items for aggregates */
static Node *
substitute_mutator(Node *node, void *argument)
{
	Substitution *substitution = argument;
	Choice	   *choice = substitution->choice;
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

/* Number of the Aggref's item in the range, to which it is added if need be; aggrefs: those of its items */
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
 * Give each choice its range, which it shares with those that ask for the same one.  values: a list of each range's values;
 * types: a list of each range's Aggrefs, in the order of its items.
 */
static void
make_ranges(List *choices, GpbSubqueryPlan *plan, List **values, List **types)
{
	ListCell   *lc;

	plan->ranges = palloc0(sizeof(GpbSubqueryRange) * list_length(choices));
	foreach(lc, choices)
	{
		Choice	   *choice = lfirst(lc);
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

static List *
append_target(List *targets, Node *expression)
{
	return lappend(targets, makeTargetEntry((Expr *) expression, list_length(targets) + 1, NULL,
											false));
}

/* Describe the scan tuple. */
static List *
scan_tuple_targets(Plan *child, List *types, List *subplans)
{
	List	   *targets = column_targets(child->targetlist, OUTER_VAR);
	ListCell   *lc;
	ListCell   *cell;

	foreach(lc, types)
	{
		foreach(cell, (List *) lfirst(lc))
		{
			Node	   *aggref = lfirst(cell);

			targets = append_target(targets, (Node *) makeNullConst(exprType(aggref),
																	 exprTypmod(aggref),
																	 exprCollation(aggref)));
		}
	}
	foreach(lc, subplans)
		targets = append_target(targets, copyObject(lfirst(lc)));
	return targets;
}

/* InitPlans belong to the topmost node that may refer to what they set; the child's come from above it now. */
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
copy_plan_info(Placing *placing, Plan *node, Plan *child)
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
 * Make the node above a child.  Target list and qual are over the child's columns, as OUTER_VAR, with the choices in
 * each->choices among them.  limit: the Limit that bounds what is read, or NULL.
 */
static Plan *
make_subquery_node(EachRow *each, Plan *child, List *targetlist, List *qual, Limit *limit)
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
		Choice	   *choice = lfirst(lc);
		Substitution substitution = {choice, first_item_place(&plan, choice->range)};

		plan.result_range[foreach_current_index(lc)] = choice->range;
		targets = lappend(targets, substitute_mutator(choice->candidate->target, &substitution));
		subplans = lappend(subplans, copyObject(choice->subplan));
	}
	for (i = 0; i < plan.nranges; i++)
	{
		Choice	   *choice = NULL;

		all_values = list_concat(all_values, list_nth(values, i));
		foreach(lc, each->choices)
		{
			if (((Choice *) lfirst(lc))->range == i)
				choice = lfirst(lc);
		}
		cost += batch_cost(choice->candidate, choice->match, each->rows, &startup_cost);
		all_startup_cost += startup_cost;
	}

	each->first_result = first_item_place(&plan, plan.nranges);
	each->varno = INDEX_VAR;
	targetlist = (List *) each_row_mutator((Node *) targetlist, each);
	qual = (List *) each_row_mutator((Node *) qual, each);
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

/* ---- where a node goes ---- */

/* Does the plan node compute its target list itself, of what it reads, and may another do that in its place? */
static bool
hands_up_columns(Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SampleScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
		case T_SubqueryScan:
		case T_FunctionScan:
		case T_TableFuncScan:
		case T_ValuesScan:
		case T_CteScan:
		case T_NamedTuplestoreScan:
		case T_WorkTableScan:
		case T_NestLoop:
		case T_MergeJoin:
		case T_HashJoin:
		case T_Agg:
		case T_Group:
		case T_Gather:
		case T_GatherMerge:
			return true;
		case T_WindowAgg:
			/* a run condition refers to the target list by number */
			return ((WindowAgg *) plan)->runCondition == NIL;
		case T_Result:
			return plan->lefttree != NULL;
		case T_CustomScan:
			return ((CustomScan *) plan)->methods == &gpb_join_scan_methods ||
				((CustomScan *) plan)->methods == &gpb_range_aggregate_scan_methods;
		default:
			return false;
	}
}

/* The rows that come out of a plan node, so many of them, as a path without a price of its own */
static Path *
rows_of(Plan *plan, double rows)
{
	Path	   *path = makeNode(Path);
	ListCell   *lc;

	path->pathtype = nodeTag(plan);
	path->pathtarget = makeNode(PathTarget);
	path->pathtarget->width = plan->plan_width;
	foreach(lc, plan->targetlist)
		path->pathtarget->exprs = lappend(path->pathtarget->exprs,
										  lfirst_node(TargetEntry, lc)->expr);
	path->rows = clamp_row_est(rows);
	return path;
}

/* How many rows a plan node hands up before the Limit stops reading */
static double
rows_read(Plan *plan, Limit *limit)
{
	double		rows = plan->plan_rows;

	if (limit == NULL)
		return rows;
	if (limit->limitOffset != NULL && IsA(limit->limitOffset, Const) &&
		!((Const *) limit->limitOffset)->constisnull)
		return Min(rows, limit->plan.plan_rows +
				   DatumGetInt64(((Const *) limit->limitOffset)->constvalue));
	return Min(rows, limit->plan.plan_rows);
}

/* Place in the list of the first condition for which a batch pays, or the list's length; rows: how many reach it */
static int
first_batched_qual(const EachRow *like, Plan *plan, List *quals, int from, double rows)
{
	int			i;

	for (i = from; i < list_length(quals); i++)
	{
		EachRow		each = collect(like, rows_of(plan, rows), list_nth(quals, i));

		if (each.choices != NIL)
			break;
	}
	return i;
}

/* The list's members from "from" on, before "to" */
static List *
sublist(List *list, int from, int to)
{
	List	   *part = NIL;

	for (; from < to; from++)
		part = lappend(part, list_nth(list, from));
	return part;
}

/*
 * May a node read rows of the plan node ahead, which hands up these leaves?  Fills in what is known of them in *like,
 * from which choices are collected.
 */
static bool
may_read_ahead(Placing *placing, Plan *plan, List *leaves, const Reader *reader, EachRow *like)
{
	PlannedStmt *statement = placing->statement;

	memset(like, 0, sizeof(*like));
	like->placing = placing;
	like->careful = reader->reading == GPB_READ_MOST;
	like->on_top = reader->on_top;
	like->may_fail = gpb_plan_evaluates(statement, plan, leaves, gpb_may_fail);
	return !gpb_plan_evaluates(statement, plan, leaves, contain_volatile_functions) &&
		!(like->careful && like->may_fail);
}

/*
 * Put nodes above a plan node that evaluates subqueries in its conditions or its target list: one for each condition
 * with such, so that what rows fail before is not asked for them, and one for the target list.
 */
static Plan *
place_above(Placing *placing, Plan *plan, const Reader *reader)
{
	List	   *quals = plan->qual;
	List	   *targets = plan->targetlist;
	List	   *leaves = NIL;
	List	   *moved;
	List	   *moved_targets;
	double		rows = rows_read(plan, reader->limit);
	double		qual_rows = rows / GPB_SUBQUERY_SELECTIVITY;
	int			next = list_length(quals);
	Plan	   *child = plan;
	EachRow		like = {.placing = placing};
	EachRow		target_each;
	ListCell   *lc;

	/* most plan nodes have no subquery at all: that is found out first */
	if (!hands_up_columns(plan) ||
		(collect(&like, rows_of(plan, rows), targets).choices == NIL &&
		 first_batched_qual(&like, plan, quals, 0, qual_rows) == list_length(quals)))
		return plan;
	moved_targets = (List *) leaf_mutator((Node *) targets, &leaves);
	(void) leaf_mutator((Node *) quals, &leaves);
	if (!may_read_ahead(placing, plan, leaves, reader, &like))
		return plan;
	/* with conditions above, it is not known how many rows are read */
	if (reader->limit == NULL)
		next = first_batched_qual(&like, plan, quals, 0, qual_rows);
	target_each = collect(&like, rows_of(plan, rows), targets);
	if (next == list_length(quals) && target_each.choices == NIL)
		return plan;

	leaves = NIL;
	moved = (List *) leaf_mutator((Node *) sublist(quals, next, list_length(quals)), &leaves);
	moved_targets = (List *) leaf_mutator((Node *) targets, &leaves);
	plan->qual = sublist(quals, 0, next);
	plan->targetlist = NIL;
	foreach(lc, leaves)
		plan->targetlist = append_target(plan->targetlist, lfirst(lc));

	for (next = 0; next < list_length(moved);)
	{
		int			end = first_batched_qual(&like, child, moved, next + 1, qual_rows);
		bool		last = end == list_length(moved) && target_each.choices == NIL;
		List	   *stage = sublist(moved, next, end);
		/* of the conditions that come with it none has a batch, so only the first is asked for each row */
		EachRow		each = collect(&like, rows_of(child, qual_rows), linitial(stage));

		child = make_subquery_node(&each, child,
								   last ? moved_targets : column_targets(child->targetlist,
																		 OUTER_VAR),
								   stage, NULL);
		next = end;
	}
	if (target_each.choices != NIL)
	{
		EachRow		each = collect(&like, rows_of(child, rows), moved_targets);

		child = make_subquery_node(&each, child, moved_targets, NIL, reader->limit);
	}
	return child;
}

/* ---- below an Agg ---- */

/* Collect the columns of its child that an Agg refers to, by number. */
static bool
agg_columns_walker(Node *node, void *argument)
{
	Bitmapset **columns = argument;

	if (node == NULL)
		return false;
	if (IsA(node, Var) && ((Var *) node)->varno == OUTER_VAR)
		*columns = bms_add_member(*columns, ((Var *) node)->varattno);
	return expression_tree_walker(node, agg_columns_walker, argument);
}

/* The child's columns, with NULLs for those that the Agg does not refer to, and the results behind them */
static List *
agg_child_targets(Agg *agg, Plan *child, List *choices)
{
	List	   *targets = column_targets(child->targetlist, OUTER_VAR);
	Bitmapset  *columns = NULL;
	ListCell   *lc;
	int			i;

	(void) agg_columns_walker((Node *) agg->plan.targetlist, &columns);
	(void) agg_columns_walker((Node *) agg->plan.qual, &columns);
	for (i = 0; i < agg->numCols; i++)
		columns = bms_add_member(columns, agg->grpColIdx[i]);
	foreach(lc, targets)
	{
		TargetEntry *target = lfirst_node(TargetEntry, lc);

		if (!bms_is_member(target->resno, columns))
			target->expr = (Expr *) makeNullConst(exprType((Node *) target->expr),
												  exprTypmod((Node *) target->expr),
												  exprCollation((Node *) target->expr));
	}
	foreach(lc, choices)
		targets = append_target(targets, (Node *) ((Choice *) lfirst(lc))->subplan);
	return targets;
}

/*
 * Put a node between an Agg and its child, of which it reads so much, if arguments of aggregates are subqueries.
 */
static void
place_below_agg(Placing *placing, Agg *agg, const Reader *reader)
{
	Plan	   *child = agg->plan.lefttree;
	List	   *columns = NIL;
	EachRow		each = {.placing = placing};
	ListCell   *lc;

	if (reader->reading == GPB_READ_SOME || agg->groupingSets != NIL || agg->chain != NIL)
		return;
	each.rows = rows_of(child, child->plan_rows);
	(void) aggregated_mutator((Node *) agg->plan.targetlist, &each);
	(void) aggregated_mutator((Node *) agg->plan.qual, &each);
	if (each.choices == NIL)
		return;
	foreach(lc, child->targetlist)
		columns = lappend(columns, lfirst_node(TargetEntry, lc)->expr);
	if (!may_read_ahead(placing, child, columns, reader, &each))
		return;
	each.rows = rows_of(child, child->plan_rows);
	(void) aggregated_mutator((Node *) agg->plan.targetlist, &each);
	(void) aggregated_mutator((Node *) agg->plan.qual, &each);
	if (each.choices == NIL)
		return;

	/* the results come behind the columns that there are, since the Agg knows its groups' by number */
	each.first_result = list_length(child->targetlist) + 1;
	each.varno = OUTER_VAR;
	agg->plan.targetlist = (List *) aggregated_mutator((Node *) agg->plan.targetlist, &each);
	agg->plan.qual = (List *) aggregated_mutator((Node *) agg->plan.qual, &each);
	/* it is the Agg's price that has the SubPlans in it */
	child->total_cost += each.stock;
	agg->plan.lefttree = make_subquery_node(&each, child,
											agg_child_targets(agg, child, each.choices), NIL,
											NULL);
}

/* ---- the walk ---- */

/* Note that a WITH query is not read to the end by this node. */
static void
note_cte(Placing *placing, Plan *plan, GpbReading reading)
{
	if (IsA(plan, CteScan) && reading != GPB_READ_ALL)
		placing->partly_read = bms_add_member(placing->partly_read,
											  ((CteScan *) plan)->ctePlanId);
}

/* Does the plan node return no more rows than it reads of its child? */
static bool
hands_on_rows(Plan *plan)
{
	return IsA(plan, Result) || IsA(plan, SubqueryScan) || IsA(plan, Append) ||
		IsA(plan, Unique) || IsA(plan, Material);
}

/* What a plan node pays of what its child saves: a Limit pays for the rows that it reads. */
static Cost
saved_above(Plan *plan, Cost saved)
{
	Plan	   *child = plan->lefttree;

	if (!IsA(plan, Limit) || child->plan_rows < 1)
		return saved;
	return saved * Min(rows_read(child, (Limit *) plan) / child->plan_rows, 1.0);
}

static Plan *place(Placing *placing, Plan *plan, const Reader *reader);

/* Place nodes below a plan node; returns who read the last child. */
static Reader
place_in_children(Placing *placing, Plan *plan, const Reader *reader)
{
	Reader		child_reader = {GPB_READ_SOME, NULL, false};
	ListCell   *lc;

	foreach(lc, gpb_plan_children(plan, reader->reading))
	{
		GpbPlanChild *child = lfirst(lc);

		child_reader.reading = child->reading;
		child_reader.limit = child->reading != GPB_READ_BOUNDED ? NULL :
			IsA(plan, Limit) ? (Limit *) plan : reader->limit;
		child_reader.on_top = reader->on_top && hands_on_rows(plan);
		*child->plan = place(placing, *child->plan, &child_reader);
	}
	return child_reader;
}

/* The plan with nodes placed in it */
static Plan *
place(Placing *placing, Plan *plan, const Reader *reader)
{
	Cost		saved_before = placing->saved;
	Cost		saved;
	Reader		child_reader;

	check_stack_depth();
	note_cte(placing, plan, reader->reading);
	child_reader = place_in_children(placing, plan, reader);
	if (IsA(plan, Agg))
		place_below_agg(placing, (Agg *) plan, &child_reader);
	saved = saved_above(plan, placing->saved - saved_before);
	saved = Min(saved, plan->total_cost);
	plan->total_cost -= saved;
	plan->startup_cost = Min(plan->startup_cost, plan->total_cost);
	placing->saved = saved_before + saved;
	if (reader->reading == GPB_READ_SOME)
		return plan;
	return place_above(placing, plan, reader);
}

/* Statements in which rows may be rechecked by running plan trees again, or are changed while they are read */
static bool
statement_allows_nodes(PlannedStmt *statement)
{
	if (statement->hasModifyingCTE || statement->rowMarks != NIL)
		return false;
	if (statement->commandType == CMD_INSERT)
		return IsA(statement->planTree, ModifyTable) &&
			((ModifyTable *) statement->planTree)->onConflictAction == ONCONFLICT_NONE;
	return statement->commandType == CMD_SELECT;
}

/* Find the candidates that are the statement's SubPlans, by their numbers; false if none is. */
static bool
find_candidates(Placing *placing, List *candidates)
{
	bool		found = false;
	ListCell   *lc;
	ListCell   *root;

	placing->of_plan = palloc0(sizeof(GpbSubqueryCandidate *) *
							   (list_length(placing->statement->subplans) + 1));
	foreach(lc, candidates)
	{
		GpbSubqueryCandidate *candidate = lfirst(lc);

		/* a statement may be planned more than once, by other extensions' hooks */
		if (candidate->subroot->glob->subplans != placing->statement->subplans)
			continue;
		placing->glob = candidate->subroot->glob;
		foreach(root, placing->glob->subroots)
		{
			if (lfirst(root) == candidate->subroot)
			{
				placing->of_plan[foreach_current_index(root) + 1] = candidate;
				found = true;
			}
		}
	}
	return found;
}

/* The SubPlans that compute a value, or a WITH query, before or while the plan runs, by plan_id */
static void
collect_init_plans(Plan *plan, SubPlan **init_plans)
{
	ListCell   *lc;

	check_stack_depth();
	foreach(lc, plan->initPlan)
		init_plans[lfirst_node(SubPlan, lc)->plan_id] = lfirst(lc);
	foreach(lc, gpb_plan_children(plan, GPB_READ_SOME))
		collect_init_plans(*((GpbPlanChild *) lfirst(lc))->plan, init_plans);
}

/*
 * Place nodes in the statement's SubPlans.  A WITH query is scanned only by plans of higher numbers, and by the main
 * plan, which was walked before.
 */
static void
place_in_subplans(Placing *placing)
{
	List	   *subplans = placing->statement->subplans;
	SubPlan   **init_plans = palloc0(sizeof(SubPlan *) * (list_length(subplans) + 1));
	ListCell   *lc;
	int			id;

	collect_init_plans(placing->statement->planTree, init_plans);
	foreach(lc, subplans)
	{
		if (lfirst(lc) != NULL)
			collect_init_plans(lfirst(lc), init_plans);
	}
	for (id = list_length(subplans); id > 0; id--)
	{
		SubPlan    *subplan = init_plans[id];
		Reader		reader = {GPB_READ_SOME, NULL, false};
		Cost		saved_before;

		lc = list_nth_cell(subplans, id - 1);
		if (lfirst(lc) == NULL)
			continue;
		/* those that give one value stop at the first row, or the second, which is an error */
		if (subplan != NULL && !bms_is_member(id, placing->partly_read) &&
			(subplan->subLinkType == CTE_SUBLINK || subplan->subLinkType == ARRAY_SUBLINK))
			reader.reading = GPB_READ_ALL;
		saved_before = placing->saved;
		lfirst(lc) = place(placing, lfirst(lc), &reader);
		/* it runs once, and core has added its price to that of the plan it belongs to */
		if (subplan != NULL)
			placing->statement->planTree->total_cost -= placing->saved - saved_before;
	}
}

/* Take back what core decided about compiling expressions, if the plan is cheaper now. */
static void
reconsider_jit(PlannedStmt *statement)
{
	Cost		cost = statement->planTree->total_cost;

	if (cost <= jit_above_cost)
		statement->jitFlags = PGJIT_NONE;
	if (cost <= jit_optimize_above_cost)
		statement->jitFlags &= ~PGJIT_OPT3;
	if (cost <= jit_inline_above_cost)
		statement->jitFlags &= ~PGJIT_INLINE;
}

/* The plan below a Material node, which keeps its rows for a cursor that moves backward */
static Plan *
materialized(Placing *placing, Plan *plan)
{
	Plan	   *material = materialize_finished_plan(plan);

	/* the InitPlans are on it already */
	material->extParam = bms_copy(plan->extParam);
	material->allParam = bms_copy(plan->allParam);
	material->plan_node_id = placing->glob->lastPlanNodeId++;
	material->targetlist = column_targets(plan->targetlist, OUTER_VAR);
	return material;
}

/* ---- cursors ---- */

/*
 * May UPDATE or DELETE WHERE CURRENT OF a cursor find the row's scan in the plan?  As search_plan_tree() in core looks
 * for it, but without looking at the table.
 */
static bool
shows_current_row(Plan *plan)
{
	ListCell   *lc;
	List	   *children = NIL;

	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SampleScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
		case T_ForeignScan:
		case T_CustomScan:
			return true;
		case T_Append:
			children = ((Append *) plan)->appendplans;
			break;
		case T_MergeAppend:
			children = ((MergeAppend *) plan)->mergeplans;
			break;
		case T_Result:
		case T_Limit:
			return plan->lefttree != NULL && shows_current_row(plan->lefttree);
		case T_SubqueryScan:
			return shows_current_row(((SubqueryScan *) plan)->subplan);
		default:
			return false;
	}
	foreach(lc, children)
	{
		if (shows_current_row(lfirst(lc)))
			return true;
	}
	return false;
}

/* Options of all cursors that a user can name; FAST_PLAN is that of DECLARE and of OPEN. */
#define NAMED_CURSOR	(CURSOR_OPT_FAST_PLAN | CURSOR_OPT_SCROLL | CURSOR_OPT_HOLD)

void
gpb_subqueries_place(PlannedStmt *statement, List *candidates, int cursor_options)
{
	Placing		placing = {0};
	Reader		client = {GPB_READ_ALL, NULL, true};
	bool		moves_back;

	placing.statement = statement;
	if (candidates == NIL || !statement_allows_nodes(statement) ||
		((cursor_options & NAMED_CURSOR) != 0 && shows_current_row(statement->planTree)) ||
		!find_candidates(&placing, candidates))
		return;
	/* what moves back without our nodes must do so with them */
	moves_back = (cursor_options & NAMED_CURSOR) != 0 &&
		(cursor_options & CURSOR_OPT_NO_SCROLL) == 0 &&
		ExecSupportsBackwardScan(statement->planTree);
	statement->planTree = place(&placing, statement->planTree, &client);
	place_in_subplans(&placing);
	if (!placing.placed)
		return;
	if (moves_back && !ExecSupportsBackwardScan(statement->planTree))
		statement->planTree = materialized(&placing, statement->planTree);
	reconsider_jit(statement);
}
