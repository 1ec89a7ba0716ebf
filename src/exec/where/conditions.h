/*-------------------------------------------------------------------------
 *
 * conditions.h
 *	  The conditions of a plan on the key columns of its index, at run time: ready to be evaluated,
 *	  and the ranges that satisfy them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CONDITIONS_H
#define GPB_CONDITIONS_H

#include "postgres.h"
#include "access/stratnum.h"
#include "executor/executor.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "exec/functions/key_function.h"
#include "index/column_ranges.h"
#include "index/groups.h"
#include "layout.h"
#include "program/ranges.h"

/* ---- one condition ---- */

/* One condition on a key column, ready to be evaluated */
typedef struct GpbCondition
{
	int			column;			/* of the key, counted from 0 */
	StrategyNumber strategy;	/* InvalidStrategy: a NULL test */
	bool		is_null;		/* NULL test: IS NULL, else IS NOT NULL */
	bool		is_array;		/* = ANY */
	GpbKeyFunction *function;	/* on the left side; NULL: the column by itself */
	GpbComparison comparison;	/* of the column with the value, or with the function's interval */
	AttrNumber	source;			/* column of a row that is the value (range_conditions.h); else 0 */
	ExprState  *value;			/* the right side, unless source is set */
} GpbCondition;

/*
 * Get the value of a condition that is no NULL test.  The slot has the row of "source", which only
 * conditions with values of rows have.  Returns false if the value is NULL, which satisfies
 * nothing: the operators are strict.
 */
static inline bool
gpb_condition_value(const GpbCondition *condition, ExprContext *econtext, TupleTableSlot *slot,
					Datum *value)
{
	bool		isnull;

	if (condition->source != 0)
		*value = slot_getattr(slot, condition->source, &isnull);
	else
		*value = ExecEvalExprSwitchContext(condition->value, econtext, &isnull);
	return !isnull;
}

/* ---- those of a plan ---- */

typedef struct GpbConditions GpbConditions;

/*
 * Prepare the conditions of a plan, with arrays and without, and the arms of an OR: for each a List
 * of conditions.  Memory is of the current context.
 */
extern GpbConditions *gpb_conditions_init(Relation index, List *conditions, List *arrays,
										  List *arms, PlanState *ps);

/*
 * Have ranges made of each group by the first "prefix" key columns, by further conditions, which
 * the entries that are read are to be tested for all the same (column_skip.h).  There are no arms.
 */
extern void gpb_conditions_skip(GpbConditions *conditions, List *further, int prefix,
								PlanState *ps);

/* What came of that, in all executions */
typedef struct GpbSkipCounters
{
	GpbGroupCounters groups;
	uint64		gave_up;		/* executions in which there were too many ranges */
} GpbSkipCounters;

extern const GpbSkipCounters *gpb_conditions_skipped(const GpbConditions *conditions);

/*
 * The form of the ranges that satisfy the conditions: arrays of the only column of a key make
 * GPB_RANGE_POINTS or GPB_RANGE_KEYS, all else GPB_RANGE_BOUNDS.
 */
extern GpbRangeForm gpb_conditions_form(const GpbConditions *conditions);

/* The ranges that satisfy conditions, disjoint, and in the order of the index */
typedef struct GpbFoundRanges
{
	GpbRangeForm form;
	void	   *ranges;			/* in this form, palloc'd */
	uint32		n;
	bool		lossy;			/* they may have entries that do not satisfy the conditions */
} GpbFoundRanges;

/*
 * Evaluate the conditions.  lossy is set where a change of a time zone's offset matters to a
 * function of the column, and where there would be so many ranges that they are fewer.
 */
extern void gpb_conditions_evaluate(GpbConditions *conditions, ExprContext *econtext,
									GpbFoundRanges *found);

/*
 * Evaluate the conditions, without arms, as what they leave of each column.  layout must stay as
 * long as the sets are used.  Returns false if no entry satisfies them.
 */
extern bool gpb_conditions_sets(GpbConditions *conditions, ExprContext *econtext,
								const GpbLayout *layout, GpbColumnSets *sets);

/*
 * Evaluate conditions that leave one range at most, as those on an ordered column do; lossy is as
 * above.  Returns false if no entry satisfies them.
 */
extern bool gpb_conditions_one_range(GpbConditions *conditions, ExprContext *econtext,
									 GpbRange *range, bool *lossy);

/*
 * Sort ranges, and make those that overlap, or that follow each other, one.  Returns how many are
 * left.
 */
extern uint32 gpb_unite_ranges(GpbRange *ranges, uint32 n);

#endif							/* GPB_CONDITIONS_H */
