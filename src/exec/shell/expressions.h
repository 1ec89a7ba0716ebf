/*-------------------------------------------------------------------------
 *
 * expressions.h
 *	  What an expression refers to, and whether evaluating it may raise an error.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_EXPRESSIONS_H
#define GPB_EXPRESSIONS_H

#include "postgres.h"
#include "nodes/bitmapset.h"
#include "nodes/pathnodes.h"
#include "optimizer/clauses.h"
#include "nodes/nodes.h"
#include "nodes/primnodes.h"

/*
 * Might evaluating the expression raise an error?  No, if it has nothing but columns, constants,
 * parameters, and leakproof functions of these.
 */
extern bool gpb_may_fail(Node *expression);

/* contain_subplans(), without a walk where the planner has made no plan of a subquery */
static inline bool
gpb_has_subplan(const PlannerInfo *root, Node *expression)
{
	return root->glob->subplans != NIL && contain_subplans(expression);
}

/*
 * list_append_unique() of an aggregate.  Core has numbered a query's aggregates, and equal ones
 * have the same number, so no others are compared.
 */
extern List *gpb_append_aggref(List *aggrefs, Aggref *aggref);

/* An expression without labels of other types that leave its value as it is */
static inline Expr *
gpb_without_labels(Expr *expression)
{
	while (IsA(expression, RelabelType))
		expression = ((RelabelType *) expression)->arg;
	return expression;
}

/* Add the numbers of the columns that the expression refers to by varno to the set. */
extern Bitmapset *gpb_add_columns(Bitmapset *columns, Node *expression, Index varno);

/*
 * A row comparison as what it stands for, an OR: (a, b) > (x, y) as "a > x OR a = x AND b > y".
 * Returns the arms, each a List of clauses; NIL if there is an operator that has no "=".
 */
extern List *gpb_row_comparison_arms(const RowCompareExpr *comparison);

#endif							/* GPB_EXPRESSIONS_H */
