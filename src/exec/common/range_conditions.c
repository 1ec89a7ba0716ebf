/*-------------------------------------------------------------------------
 *
 * range_conditions.c
 *	  Conditions "key OP value" whose values come from rows: each row's range of keys.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"

#include "index/index.h"
#include "exec/common/range_conditions.h"

/* ---- planning ---- */

/* May the expression be what a key of table "relid" is compared with? */
static bool
is_range_value(PlannerInfo *root, Node *value, Index relid)
{
	return !bms_is_member(relid, pull_varnos(root, value)) &&
		!contain_volatile_functions(value) && !contain_subplans(value);
}

bool
gpb_match_range_condition(PlannerInfo *root, IndexOptInfo *index, Expr *clause,
						  GpbRangeCondition *condition, Expr **value)
{
	OpExpr	   *operation = (OpExpr *) clause;
	Node	   *left;
	Node	   *right;
	int			strategy;
	Oid			key_type;

	if (!IsA(clause, OpExpr) || list_length(operation->args) != 2)
		return false;
	left = linitial(operation->args);
	right = lsecond(operation->args);
	if (match_index_to_operand(left, 0, index))
		condition->operator = operation->opno;
	else if (match_index_to_operand(right, 0, index))
	{
		condition->operator = get_commutator(operation->opno);
		right = left;
	}
	else
		return false;

	if (!OidIsValid(condition->operator) ||
		!op_in_opfamily(condition->operator, index->opfamily[0]) ||
		!is_range_value(root, right, index->rel->relid))
		return false;
	get_op_opfamily_properties(condition->operator, index->opfamily[0], false, &strategy,
							   &key_type, &condition->value_type);
	condition->strategy = strategy;
	*value = (Expr *) right;
	return true;
}

/* ---- what travels in the plan ---- */

void
gpb_put_row_range(List **private, const GpbRowRange *range)
{
	int			i;

	gpb_put_oid(private, range->index);
	gpb_put_text(private, range->alias);
	gpb_put_int(private, range->nconditions);
	for (i = 0; i < range->nconditions; i++)
	{
		gpb_put_oid(private, range->conditions[i].operator);
		gpb_put_int(private, range->conditions[i].strategy);
		gpb_put_oid(private, range->conditions[i].value_type);
	}
	gpb_put_items(private, range->items, range->nitems);
	gpb_put_row_program(private, &range->program, range->index, range->alias);
}

void
gpb_get_row_range(GpbPrivateReader *reader, GpbRowRange *range)
{
	int			i;

	range->index = gpb_get_oid(reader);
	range->alias = gpb_get_text(reader);
	range->nconditions = gpb_get_int(reader);
	range->conditions = palloc(sizeof(GpbRangeCondition) * range->nconditions);
	for (i = 0; i < range->nconditions; i++)
	{
		range->conditions[i].operator = gpb_get_oid(reader);
		range->conditions[i].strategy = gpb_get_int(reader);
		range->conditions[i].value_type = gpb_get_oid(reader);
	}
	range->nitems = gpb_get_items(reader, &range->items);
	gpb_get_row_program(reader, &range->program);
}

/* ---- execution ---- */

/* Where one condition's value comes from */
typedef struct GpbRangeValue
{
	GpbComparison comparison;
	StrategyNumber strategy;
	AttrNumber	column;			/* of the row, if the value is a column, or 0 */
	ExprState  *expression;		/* the value, if it is no column */
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
		values->value[0].comparison.is_point;
	return values;
}

GpbRangeForm
gpb_range_values_form(const GpbRangeValues *values)
{
	return values->points ? GPB_RANGE_POINTS : GPB_RANGE_KEYS;
}

Size
gpb_range_values_width(const GpbRangeValues *values)
{
	return values->points ? sizeof(GpbKey) : sizeof(GpbKeyRange);
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
		*(GpbKey *) range = closed.lo;
	else
		*(GpbKeyRange *) range = closed;
	return true;
}
