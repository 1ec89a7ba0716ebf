/*-------------------------------------------------------------------------
 *
 * condition_match.h
 *	  Which clauses are conditions on a key column of an index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CONDITION_MATCH_H
#define GPB_CONDITION_MATCH_H

#include "postgres.h"
#include "access/stratnum.h"
#include "nodes/pathnodes.h"

/* Does the expression have one value while the index of table "relid" is scanned? */
extern bool gpb_is_bound_expression(PlannerInfo *root, Node *expression, Index relid);

/* "column OP value" of a key column, an operator of its family with the column on its left */
typedef struct GpbRangeCondition
{
	int			column;			/* of the key, counted from 0 */
	Oid			operator;
	StrategyNumber strategy;
	Oid			value_type;		/* right input type of the operator in the family */
} GpbRangeCondition;

/*
 * Is the clause "column OP value" of the index's key column c, or that commuted?  Fills in
 * *condition, and *value, one of the clause's arguments, which may be any expression.
 */
extern bool gpb_match_comparison(IndexOptInfo *index, int c, const OpExpr *clause,
								 GpbRangeCondition *condition, Node **value);

/*
 * The clause as a condition on key column c; NULL if it cannot be one.  It is "column OP
 * expression", "column = ANY (array)" or "column IS [NOT] NULL", or, of the only column of a key,
 * "function of the column OP expression" (key_function.h), whose range may turn out to be lossy
 * when it is evaluated.  *point is set if the column equals single values by it.  Whether it may be
 * tested before others is not asked.
 */
extern Expr *gpb_match_column(PlannerInfo *root, IndexOptInfo *index, int c, Expr *clause,
							  bool *point);

/* gpb_match_column() for a restriction, which is no condition if others must be tested before it */
extern Expr *gpb_match_restriction(PlannerInfo *root, IndexOptInfo *index, int c,
								   RestrictInfo *rinfo, bool *point);

/*
 * The restriction as a condition on key column c that leaves one range of its values, as an array
 * might not; NULL if it is none.
 */
extern Expr *gpb_match_one_range(PlannerInfo *root, IndexOptInfo *index, int c,
								 RestrictInfo *rinfo, bool *point);

/* Does "=" of the index's key column c, counted from 0, hold for one value at most of that type? */
extern bool gpb_column_equals_one(IndexOptInfo *index, int c, Oid type);

/* Do the restrictions, RestrictInfos, let key column c, counted from 0, have one value at most? */
extern bool gpb_column_is_fixed(PlannerInfo *root, IndexOptInfo *index, int c, List *restrictions);

/* May the range of one of these index conditions turn out to be lossy? */
extern bool gpb_may_be_lossy(List *conditions);

/* Is the clause "column IS NOT NULL" of the first key column, as comparisons with it imply? */
extern bool gpb_is_key_not_null(IndexOptInfo *index, Expr *clause);

#endif							/* GPB_CONDITION_MATCH_H */
