/*-------------------------------------------------------------------------
 *
 * range_conditions.h
 *	  Conditions "key OP value" whose values come from rows: each row's range of keys.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANGE_CONDITIONS_H
#define GPB_RANGE_CONDITIONS_H

#include "postgres.h"
#include "access/stratnum.h"
#include "nodes/execnodes.h"
#include "utils/rel.h"

#include "ranges.h"

/* One condition on the key, an operator of the index's family with the key on its left */
typedef struct GpbRangeCondition
{
	Oid			operator;
	StrategyNumber strategy;
	Oid			value_type;		/* right input type of the operator in the family */
} GpbRangeCondition;

typedef struct GpbRangeValues GpbRangeValues;

/* The values are expressions over the node's scan tuple, one for each condition.  Memory is of the current context. */
extern GpbRangeValues *gpb_range_values_begin(Relation index, int nconditions,
											  const GpbRangeCondition *conditions,
											  List *expressions, PlanState *ps);

/*
 * Is each range one key?  Then a range of a batch is a uint64, else a GpbKeyRange.  Bytes of it.
 */
extern bool gpb_range_values_are_points(const GpbRangeValues *values);
extern Size gpb_range_values_width(const GpbRangeValues *values);

/* Are all values plain columns of the row, so that gpb_range_of_row needs no scan tuple? */
extern bool gpb_range_values_are_columns(const GpbRangeValues *values);

/*
 * The range of keys that satisfy all conditions, put at "range"; false if there are none.  The row's columns are in the
 * slot; unless the values are plain columns it is also in the expression context's scan tuple.
 */
extern bool gpb_range_of_row(GpbRangeValues *values, ExprContext *econtext,
							 TupleTableSlot *slot, void *range);

#endif							/* GPB_RANGE_CONDITIONS_H */
