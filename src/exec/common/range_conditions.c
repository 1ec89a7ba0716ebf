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

#include "index/column_ranges.h"
#include "index/index_clauses.h"
#include "exec/common/column_conditions.h"
#include "exec/common/range_conditions.h"

/* ---- planning ---- */

/* May the expression be what a key of table "relid" is compared with? */
static bool
is_range_value(PlannerInfo *root, Node *value, Index relid)
{
	return !bms_is_member(relid, pull_varnos(root, value)) &&
		!contain_volatile_functions(value) && !contain_subplans(value);
}

/* The key column up to "last", counted from 0, that the expression is; -1 if it is none */
static int
key_column(IndexOptInfo *index, int last, Node *expression)
{
	int			c;

	for (c = 0; c <= last; c++)
	{
		if (match_index_to_operand(expression, c, index))
			return c;
	}
	return -1;
}

bool
gpb_match_range_condition(PlannerInfo *root, IndexOptInfo *index, int last, Expr *clause,
						  GpbRangeCondition *condition, Expr **value)
{
	OpExpr	   *operation = (OpExpr *) clause;
	Node	   *left;
	Node	   *right;
	int			strategy;
	Oid			family;
	Oid			key_type;

	if (!IsA(clause, OpExpr) || list_length(operation->args) != 2)
		return false;
	left = linitial(operation->args);
	right = lsecond(operation->args);
	condition->operator = operation->opno;
	condition->column = key_column(index, last, left);
	if (condition->column < 0)
	{
		condition->operator = get_commutator(operation->opno);
		condition->column = key_column(index, last, right);
		right = left;
	}
	if (condition->column < 0)
		return false;
	family = gpb_own_family(index, condition->column);

	if (!OidIsValid(condition->operator) || !op_in_opfamily(condition->operator, family) ||
		!is_range_value(root, right, index->rel->relid))
		return false;
	get_op_opfamily_properties(condition->operator, family, false, &strategy, &key_type,
							   &condition->value_type);
	condition->strategy = strategy;
	*value = (Expr *) right;
	return true;
}

int
gpb_last_bounded_column(PlannerInfo *root, IndexOptInfo *index, List *clauses)
{
	Bitmapset  *points = NULL;
	ListCell   *lc;
	int			c = 0;

	if (index->nkeycolumns == 1)
		return 0;
	foreach(lc, clauses)
	{
		GpbRangeCondition condition;
		Expr	   *value;

		if (gpb_match_range_condition(root, index, index->nkeycolumns - 1,
									  lfirst_node(RestrictInfo, lc)->clause, &condition,
									  &value) &&
			condition.strategy == BTEqualStrategyNumber &&
			gpb_column_equals_one(index, condition.column, condition.value_type))
			points = bms_add_member(points, condition.column);
	}
	while (c + 1 < index->nkeycolumns && bms_is_member(c, points))
		c++;
	return c;
}

/* ---- what travels in the plan ---- */

void
gpb_put_range_conditions(List **private, const GpbRangeCondition *conditions, int n)
{
	int			i;

	gpb_put_int(private, n);
	for (i = 0; i < n; i++)
	{
		gpb_put_int(private, conditions[i].column);
		gpb_put_oid(private, conditions[i].operator);
		gpb_put_int(private, conditions[i].strategy);
		gpb_put_oid(private, conditions[i].value_type);
	}
}

int
gpb_get_range_conditions(GpbPrivateReader *reader, GpbRangeCondition **conditions)
{
	int			n = gpb_get_int(reader);
	int			i;

	*conditions = palloc(sizeof(GpbRangeCondition) * n);
	for (i = 0; i < n; i++)
	{
		(*conditions)[i].column = gpb_get_int(reader);
		(*conditions)[i].operator = gpb_get_oid(reader);
		(*conditions)[i].strategy = gpb_get_int(reader);
		(*conditions)[i].value_type = gpb_get_oid(reader);
	}
	return n;
}

void
gpb_put_row_range(List **private, const GpbRowRange *range)
{
	gpb_put_oid(private, range->index);
	gpb_put_text(private, range->alias);
	gpb_put_range_conditions(private, range->conditions, range->nconditions);
	gpb_put_items(private, range->items, range->nitems);
	gpb_put_row_program(private, &range->program, range->index, range->alias);
}

void
gpb_get_row_range(GpbPrivateReader *reader, GpbRowRange *range)
{
	range->index = gpb_get_oid(reader);
	range->alias = gpb_get_text(reader);
	range->nconditions = gpb_get_range_conditions(reader, &range->conditions);
	range->nitems = gpb_get_items(reader, &range->items);
	gpb_get_row_program(reader, &range->program);
}

/* ---- execution ---- */

/* Where one condition's value comes from */
typedef struct GpbRangeValue
{
	int			key_column;		/* counted from 0 */
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
	GpbLoneColumn *keys;		/* those with conditions, if the key has several columns */
	int			nkeys;
	int			n;
	GpbRangeValue value[FLEXIBLE_ARRAY_MEMBER];
};

/* Prepare the columns of a key that has several: the conditions are on the first of them. */
static void
begin_keys(GpbRangeValues *values)
{
	Bitmapset  *points = NULL;
	int			i;

	for (i = 0; i < values->n; i++)
	{
		const GpbRangeValue *value = &values->value[i];

		values->nkeys = Max(values->nkeys, value->key_column + 1);
		if (value->strategy == BTEqualStrategyNumber && value->comparison.is_point)
			points = bms_add_member(points, value->key_column);
	}
	values->keys = palloc(sizeof(GpbLoneColumn) * values->nkeys);
	for (i = 0; i < values->nkeys; i++)
		gpb_lone_column(&values->layout, i, &values->keys[i]);
	values->points = bms_num_members(points) == values->layout.nkeys;
}

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

		value->key_column = conditions[i].column;
		gpb_column_comparison_init(index, value->key_column, conditions[i].value_type,
								   &value->comparison);
		value->strategy = conditions[i].strategy;
		if (IsA(expression, Var) && ((Var *) expression)->varno == INDEX_VAR)
			value->column = ((Var *) expression)->varattno;
		else
			value->expression = ExecInitExpr(expression, ps);
		values->columns &= value->column != 0;
	}
	if (values->layout.nkeys > 0)
		begin_keys(values);
	else
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

/* Get the value of one condition for the row.  Returns false if it is NULL. */
static inline bool
row_value(const GpbRangeValue *value, ExprContext *econtext, TupleTableSlot *slot, Datum *datum)
{
	bool		isnull;

	if (value->column != 0)
		*datum = slot_getattr(slot, value->column, &isnull);
	else
		*datum = ExecEvalExprSwitchContext(value->expression, econtext, &isnull);
	return !isnull;
}

/*
 * Find the row's range of keys that have several columns: each but the last of those with
 * conditions equals one value.
 */
static bool
columns_of_row(GpbRangeValues *values, ExprContext *econtext, TupleTableSlot *slot,
			   GpbKeyRange *closed)
{
	GpbRange	bounds[GPB_MAX_KEYS];
	int			last = values->nkeys - 1;
	int			i;

	for (i = 0; i < values->nkeys; i++)
		bounds[i] = (GpbRange) {GPB_BOUND_MIN, GPB_BOUND_MAX};
	for (i = 0; i < values->n; i++)
	{
		GpbRangeValue *value = &values->value[i];
		Datum		datum;

		if (!row_value(value, econtext, slot, &datum))
			return false;
		gpb_comparison_narrow(&values->keys[value->key_column].layout, &value->comparison,
							  value->strategy, datum, &bounds[value->key_column]);
	}
	closed->lo = closed->hi = 0;
	for (i = 0; i < values->nkeys; i++)
	{
		int			shift = values->layout.key[i].shift;
		GpbKeyRange fields;

		if (!gpb_lone_fields(&values->keys[i], &bounds[i], &fields))
			return false;
		Assert(i == last || fields.lo == fields.hi);
		closed->lo |= fields.lo << shift;
		closed->hi |= fields.hi << shift;
	}
	closed->hi |= gpb_field_ones(values->layout.key[last].shift);
	return true;
}

/* Find the row's range of keys that have one column. */
static bool
keys_of_row(GpbRangeValues *values, ExprContext *econtext, TupleTableSlot *slot,
			GpbKeyRange *closed)
{
	GpbRange	bounds = {GPB_BOUND_MIN, GPB_BOUND_MAX};
	int			i;

	for (i = 0; i < values->n; i++)
	{
		GpbRangeValue *value = &values->value[i];
		Datum		datum;

		if (!row_value(value, econtext, slot, &datum))
			return false;
		gpb_comparison_narrow(&values->layout, &value->comparison, value->strategy, datum,
							  &bounds);
	}
	return gpb_closed_range(&values->layout, &bounds, closed);
}

/* Find the row's only key, of an index whose keys have one column. */
static inline bool
point_of_row(GpbRangeValues *values, ExprContext *econtext, TupleTableSlot *slot, GpbKey *key)
{
	GpbRangeValue *value = &values->value[0];
	Datum		datum;

	return row_value(value, econtext, slot, &datum) &&
		gpb_comparison_key(&values->layout, &value->comparison, datum, key);
}

bool
gpb_range_of_row(GpbRangeValues *values, ExprContext *econtext, TupleTableSlot *slot,
				 void *range)
{
	GpbKeyRange closed;

	if (values->points && values->keys == NULL)
		return point_of_row(values, econtext, slot, (GpbKey *) range);
	if (values->keys != NULL ? !columns_of_row(values, econtext, slot, &closed) :
		!keys_of_row(values, econtext, slot, &closed))
		return false;
	if (values->points)
		*(GpbKey *) range = closed.lo;
	else
		*(GpbKeyRange *) range = closed;
	return true;
}
