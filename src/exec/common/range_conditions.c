/*-------------------------------------------------------------------------
 *
 * range_conditions.c
 *	  Conditions "key OP value" whose values come from rows: each row's range of keys.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"

#include "index/index.h"
#include "exec/join/join_node.h"
#include "exec/common/range_conditions.h"

/* Where one condition's value comes from */
typedef struct GpbRangeValue
{
	GpbComparison comparison;
	StrategyNumber strategy;
	AttrNumber	column;			/* of the row, if the value is that, or 0 */
	ExprState  *expression;		/* else */
} GpbRangeValue;

struct GpbRangeValues
{
	GpbLayout	layout;
	bool		points;
	bool		columns;		/* all values are columns */
	int			n;
	GpbRangeValue value[FLEXIBLE_ARRAY_MEMBER];
};

GpbRangeValues *
gpb_range_values_begin(Relation index, int nconditions, const GpbRangeCondition *conditions,
					   List *expressions, PlanState *ps)
{
	GpbRangeValues *values = palloc0(offsetof(GpbRangeValues, value) +
									 sizeof(GpbRangeValue) * nconditions);
	int			i;

	Assert(nconditions == list_length(expressions));
	values->layout = *gpb_layout(index);
	values->columns = true;
	values->n = nconditions;
	for (i = 0; i < nconditions; i++)
	{
		GpbRangeValue *value = &values->value[i];
		Expr	   *expression = list_nth(expressions, i);

		gpb_comparison_init(index, conditions[i].value_type, &value->comparison);
		value->strategy = conditions[i].strategy;
		if (IsA(expression, Var) && ((Var *) expression)->varno == INDEX_VAR)
			value->column = ((Var *) expression)->varattno;
		else
			value->expression = ExecInitExpr(expression, ps);
		values->columns &= value->column != 0;
	}
	values->points = nconditions == 1 && conditions[0].strategy == BTEqualStrategyNumber &&
		values->value[0].comparison.width != 0;
	return values;
}

bool
gpb_range_values_are_points(const GpbRangeValues *values)
{
	return values->points;
}

Size
gpb_range_values_width(const GpbRangeValues *values)
{
	return values->points ? sizeof(uint64) : sizeof(GpbKeyRange);
}

bool
gpb_range_values_are_columns(const GpbRangeValues *values)
{
	return values->columns;
}

bool
gpb_range_of_row(GpbRangeValues *values, ExprContext *econtext, TupleTableSlot *slot,
				 void *range)
{
	GpbRange	bounds = {GPB_BOUND_MIN, GPB_BOUND_MAX};
	GpbKeyRange closed;
	int			i;

	for (i = 0; i < values->n; i++)
	{
		GpbRangeValue *value = &values->value[i];
		Datum		datum;
		bool		isnull;

		if (value->column != 0)
			datum = slot_getattr(slot, value->column, &isnull);
		else
			datum = ExecEvalExprSwitchContext(value->expression, econtext, &isnull);
		if (isnull)
			return false;
		gpb_comparison_narrow(&values->layout, &value->comparison, value->strategy, datum,
							  &bounds);
	}
	if (!gpb_closed_range(&values->layout, &bounds, &closed))
		return false;
	if (values->points)
		*(uint64 *) range = closed.lo;
	else
		*(GpbKeyRange *) range = closed;
	return true;
}
