/*-------------------------------------------------------------------------
 *
 * key_function.h
 *	  Conditions "function of the key OP value" whose function rises with the key, as ranges.
 *
 * A function of the key is an expression over the key column made of those that key_function.c
 * lists, such as date_trunc('month', k)::date, or k / 100; their other arguments are constants.
 * All are computed here, for every value of the key's type, and no error is raised for any.  Core
 * raises one for a row whose result would be out of range, as date_trunc('year', k) does for a k in
 * 4714 BC, if a plan comes to evaluate it; here such a result is below or above all that are in
 * range.
 *
 * For a function without time zones the keys that satisfy a condition are one interval, which is
 * found by halving.  Where a zone's offset falls back local time is passed twice, so those keys may
 * have a gap: then the interval around them is found, and it is said that it is lossy.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_KEY_FUNCTION_H
#define GPB_KEY_FUNCTION_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* ---- planning ---- */

/*
 * Is "expression OP value" such a condition, for a value that is fixed while the index is read?
 * The value's type is the operator's.
 */
extern bool gpb_match_key_function(IndexOptInfo *index, Expr *expression, Oid operator);

/*
 * May the interval that is found for this index condition be lossy, since its function has a
 * time zone?
 */
extern bool gpb_condition_may_be_lossy(Expr *condition);

/* ---- run time ---- */

/*
 * What an expression of a finished plan stands for: without relabelings, and what a column of the
 * scan tuple holds, of these TargetEntries.  setrefs.c puts such a column in the place of an
 * expression that the query groups by, relabelings included (rule M13).
 */
extern Expr *gpb_resolved(Expr *expression, List *columns);

typedef struct GpbKeyFunction GpbKeyFunction;

/*
 * Prepare the condition of a finished plan whose scan tuple has these columns, TargetEntries; NULL
 * if its left side is the key itself.
 */
extern GpbKeyFunction *gpb_key_function_begin(OpExpr *condition, List *columns);

/* An interval of key values; none if least > greatest */
typedef struct GpbKeyInterval
{
	int64		least;
	int64		greatest;
	bool		lossy;			/* there may be keys in it that do not satisfy the condition */
} GpbKeyInterval;

/*
 * The keys that satisfy the condition with this value, which is not NULL.  The session's time zone
 * counts as it is now (rule M12).
 */
extern GpbKeyInterval gpb_key_function_interval(const GpbKeyFunction *function, Datum value);

#endif							/* GPB_KEY_FUNCTION_H */
