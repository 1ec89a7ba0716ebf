/*-------------------------------------------------------------------------
 *
 * subquery_choose.c
 *	  Which SubPlans a batch answers: those that each row evaluates, if that pays and cannot
 *	  raise an error that core would not raise.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "exec/range/range_aggregate.h"
#include "exec/shell/expressions.h"
#include "exec/subquery/subquery_place.h"
#include "exec/subquery/subquery_tree.h"

/* ---- which SubPlans pay ---- */

static Cost
stock_cost(const SubPlan *subplan, double rows)
{
	return subplan->startup_cost + rows * subplan->per_call_cost;
}

/* The same rows are priced several times, while it is found out where a node may go. */
GpbOuterPrice
gpb_subquery_batch_price(const GpbSubqueryCandidate *candidate, GpbSubqueryMatch *match,
						 Path *rows)
{
	int			columns = list_length(rows->pathtarget->exprs);

	Assert(rows->startup_cost == 0 && rows->total_cost == 0);
	if (match->priced_rows != rows->rows || match->priced_columns != columns ||
		match->priced_width != rows->pathtarget->width)
	{
		match->price = gpb_range_aggregate_price(candidate->subroot, match->index,
												 match->partitions, rows,
												 &match->range, match->entries, rows->rows,
												 rows->pathtarget);
		match->priced_rows = rows->rows;
		match->priced_columns = columns;
		match->priced_width = rows->pathtarget->width;
	}
	return match->price;
}

/* May finding the bounds of the SubPlan's range raise an error? */
static bool
bounds_may_fail(const SubPlan *subplan, const GpbSubqueryMatch *match)
{
	return gpb_may_fail((Node *) subplan->args) || gpb_may_fail((Node *) match->values);
}

/* May the bounds of the SubPlan's range be found for each row? */
static bool
bounds_are_safe(GpbEachRow *each, const SubPlan *subplan, const GpbSubqueryMatch *match)
{
	PlannedStmt *statement = each->placing->statement;

	return !bounds_may_fail(subplan, match) ||
		(!each->careful &&
		 gpb_evaluates_bounds(statement, list_nth(statement->subplans, subplan->plan_id - 1)));
}

/* The cheapest match of the SubPlan, if it is a candidate and that pays; NULL otherwise. */
static GpbChoice *
choose(GpbEachRow *each, SubPlan *subplan)
{
	GpbSubqueryCandidate *candidate = each->placing->of_plan[subplan->plan_id];
	Cost		best = stock_cost(subplan, each->rows->rows);
	GpbChoice  *choice = NULL;
	ListCell   *lc;

	if (candidate == NULL || subplan->subLinkType != EXPR_SUBLINK || subplan->useHashTable ||
		subplan->parParam == NIL || contain_subplans((Node *) subplan->args) ||
		contain_volatile_functions((Node *) subplan->args))
		return NULL;
	foreach(lc, candidate->matches)
	{
		GpbSubqueryMatch *match = lfirst(lc);
		Cost		cost = gpb_subquery_batch_price(candidate, match, each->rows).total_cost;

		if (cost >= best || !bounds_are_safe(each, subplan, match))
			continue;
		best = cost;
		if (choice == NULL)
			choice = palloc0(sizeof(GpbChoice));
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
		if (equal(((GpbChoice *) lfirst(lc))->subplan, subplan))
			return foreach_current_index(lc);
	}
	return -1;
}

/* ---- expressions that are evaluated for each row ---- */

/*
 * What takes the SubPlan's place: its result, or the SubPlan itself while choices are collected, or
 * where it is not one of the choices
 */
static Node *
each_row_subplan(GpbEachRow *each, SubPlan *subplan)
{
	int			place = find_choice(each->choices, subplan);

	if (each->first_result > 0)
		return place < 0 ? (Node *) subplan :
			(Node *) makeVar(each->varno, each->first_result + place, subplan->firstColType,
							 subplan->firstColTypmod, subplan->firstColCollation, 0);
	if (place < 0)
	{
		GpbChoice  *choice = choose(each, subplan);

		if (choice == NULL)
			return (Node *) subplan;
		each->choices = lappend(each->choices, choice);
		each->may_fail |= bounds_may_fail(subplan, choice->match);
	}
	each->stock += stock_cost(subplan, each->rows->rows);
	return (Node *) subplan;
}

/* A copy of the list, with the first member alone changed, since the others may not be evaluated */
static List *
first_of_list(List *members, GpbEachRow *each)
{
	List	   *copy = list_copy(members);

	linitial(copy) = gpb_each_row_mutator(linitial(members), each);
	return copy;
}

/*
 * A copy of AND, OR, COALESCE or CASE in which that alone is changed which is evaluated always: the
 * first argument, or the first condition.
 */
static Node *
each_row_first(Node *node, GpbEachRow *each)
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
		copy->arg = (Expr *) gpb_each_row_mutator((Node *) copy->arg, each);
		*when = *linitial_node(CaseWhen, copy->args);
		when->expr = (Expr *) gpb_each_row_mutator((Node *) when->expr, each);
		linitial(copy->args) = when;
		return (Node *) copy;
	}
}

Node *
gpb_each_row_mutator(Node *node, void *argument)
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
	return expression_tree_mutator(node, gpb_each_row_mutator, argument);
}

Node *
gpb_aggregated_mutator(Node *node, void *argument)
{
	if (node == NULL)
		return NULL;
	if (IsA(node, Aggref))
	{
		Aggref	   *copy = makeNode(Aggref);

		*copy = *(Aggref *) node;
		if (copy->aggfilter == NULL)
			copy->args = (List *) gpb_each_row_mutator((Node *) copy->args, argument);
		return (Node *) copy;
	}
	return expression_tree_mutator(node, gpb_aggregated_mutator, argument);
}

GpbEachRow
gpb_collect_choices(const GpbEachRow *like, Path *rows, void *expression)
{
	GpbEachRow	each = *like;

	each.rows = rows;
	each.choices = NIL;
	each.stock = 0;
	(void) gpb_each_row_mutator(expression, &each);
	return each;
}
