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

#include "layout.h"
#include "ranges.h"

/* ---- planning ---- */

/* Is this expression fixed while the index is scanned? */
extern bool gpb_is_bound_expression(PlannerInfo *root, Node *expression, Index relid);

/*
 * A restriction as an index condition, "key OP expression" or "key IS [NOT] NULL", or NULL if it cannot be one.
 */
extern Expr *gpb_match_condition(PlannerInfo *root, RestrictInfo *rinfo, IndexOptInfo *index);

/*
 * All restrictions of the table that the index's predicate does not imply, as index conditions; false if one
 * of them is something else.
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
} GpbCondition;

/* Take the clauses apart; palloc'd, one for each. */
extern GpbCondition *gpb_conditions_init(Relation index, List *clauses, PlanState *ps);

/*
 * Evaluate the conditions: the range that satisfies them all, and the same as scan
 * keys, unless keys is NULL.  false if no entry can.
 */
extern bool gpb_conditions_evaluate(const GpbCondition *conditions, int n, Relation index,
									const GpbLayout *layout, ExprContext *econtext,
									GpbRange *range, ScanKey keys);

/* The closed range of non-NULL keys that satisfy the conditions; false if there are none. */
extern bool gpb_conditions_key_range(const GpbCondition *conditions, int n, Relation index,
									 ExprContext *econtext, GpbKeyRange *keys);

#endif							/* GPB_KEY_CONDITIONS_H */
