/*-------------------------------------------------------------------------
 *
 * key_conditions.h
 *	  Restrictions that are a range of an index's key: at planning, and at run time.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_KEY_CONDITIONS_H
#define GPB_KEY_CONDITIONS_H

#include "postgres.h"
#include "access/skey.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"

#include "exec/functions/key_function.h"
#include "layout.h"
#include "program/ranges.h"

/* ---- planning ---- */

/* Does the expression have one value while the index of table "relid" is scanned? */
extern bool gpb_is_bound_expression(PlannerInfo *root, Node *expression, Index relid);

/*
 * The clause as an index condition; NULL if it cannot be one.  It is "key OP expression" or "key IS
 * [NOT] NULL", or "function of the key OP expression" (key_function.h), whose range may turn out to
 * be lossy when it is evaluated.  Whether it may be tested before others is not asked.
 */
extern Expr *gpb_match_key_clause(PlannerInfo *root, Expr *clause, IndexOptInfo *index);

/*
 * The restriction as an index condition, as gpb_match_key_clause() makes it; NULL if it cannot be
 * one, or must not be tested before others.
 */
extern Expr *gpb_match_condition(PlannerInfo *root, RestrictInfo *rinfo, IndexOptInfo *index);

/* May the range of one of these index conditions turn out to be lossy? */
extern bool gpb_may_be_lossy(List *conditions);

/*
 * Fill in the index conditions that all restrictions of the table are which the index's predicate
 * does not imply; false if a restriction is anything else, or if a range may be lossy.
 */
extern bool gpb_match_conditions(PlannerInfo *root, IndexOptInfo *index, List **conditions);

/* Is the clause "key IS NOT NULL", which every comparison with the key implies? */
extern bool gpb_is_key_not_null(IndexOptInfo *index, Expr *clause);

/* ---- run time ---- */

/* One index condition, ready to be evaluated */
typedef struct GpbCondition
{
	StrategyNumber strategy;	/* InvalidStrategy: a NULL test */
	bool		is_null;		/* NULL test: IS NULL, else IS NOT NULL */
	Oid			type;			/* of the operator's right side */
	RegProcedure procedure;		/* the operator's function */
	Oid			collation;
	ExprState  *value;			/* the right side */
	GpbKeyFunction *function;	/* on the left side; NULL: the key */
} GpbCondition;

/* Scan keys that are made of conditions */
typedef struct GpbScanKeys
{
	int			n;
	ScanKey		key;
} GpbScanKeys;

/* How many scan keys a condition makes at most */
#define GPB_CONDITION_KEYS	2

/* Prepare the clauses, index conditions of a plan.  The result is palloc'd, one for each clause. */
extern GpbCondition *gpb_conditions_init(Relation index, List *clauses, PlanState *ps);

/*
 * Evaluate n conditions.  Fills in the range that satisfies them all and, unless keys is NULL, adds
 * scan keys that say the same; returns false if no entry can satisfy them.  If *lossy is set the
 * range may have entries that do not.
 */
extern bool gpb_conditions_evaluate(const GpbCondition *conditions, int n, Relation index,
									const GpbLayout *layout, ExprContext *econtext,
									GpbRange *range, GpbScanKeys *keys, bool *lossy);

#endif							/* GPB_KEY_CONDITIONS_H */
