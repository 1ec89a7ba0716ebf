/*-------------------------------------------------------------------------
 *
 * range_conditions.c
 *	  Conditions "key OP value" whose values come from rows: each row's range of keys.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_amop.h"
#include "executor/executor.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"
#include "utils/syscache.h"

#include "exec/shell/explain_labels.h"
#include "exec/shell/node_explain.h"
#include "exec/where/column_conditions.h"
#include "exec/where/range_conditions.h"
#include "index/column_ranges.h"
#include "index/index_clauses.h"

/* ---- planning ---- */

/* May the expression be what a key of table "relid" is compared with? */
static bool
is_range_value(PlannerInfo *root, Node *value, Index relid)
{
	/* most are one of these */
	if (IsA(value, Var))
		return ((Var *) value)->varno != relid;
	if (IsA(value, Const) || IsA(value, Param))
		return true;
	return !bms_is_member(relid, pull_varnos(root, value)) &&
		!contain_volatile_functions(value) && !contain_subplans(value);
}

/* Is the operand none of table "relid"'s columns by what it is? */
static bool
is_no_column(const Node *operand, Index relid)
{
	if (operand != NULL && IsA(operand, RelabelType))
		operand = (const Node *) ((const RelabelType *) operand)->arg;
	return operand == NULL || IsA(operand, Const) || IsA(operand, Param) ||
		(IsA(operand, Var) && ((const Var *) operand)->varno != relid);
}

/* The key column, counted from 0, that the expression is; -1 if it is none */
static int
key_column(IndexOptInfo *index, Node *expression)
{
	int			c;

	if (is_no_column(expression, index->rel->relid))
		return -1;
	for (c = 0; c < index->nkeycolumns; c++)
	{
		if (match_index_to_operand(expression, c, index))
			return c;
	}
	return -1;
}

/* Fill in what the operator family says of the condition's operator; false if it has none such. */
static bool
find_operator(Oid family, GpbRangeCondition *condition)
{
	HeapTuple	tuple = SearchSysCache3(AMOPOPID, ObjectIdGetDatum(condition->operator),
										CharGetDatum(AMOP_SEARCH), ObjectIdGetDatum(family));
	Form_pg_amop form;

	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_amop) GETSTRUCT(tuple);
	condition->strategy = form->amopstrategy;
	condition->value_type = form->amoprighttype;
	ReleaseSysCache(tuple);
	return true;
}

/*
 * Is the clause "column OP value" of a key column, or that commuted?  Fills in *condition, and
 * *value, an expression that is not volatile, has no subplan, and no Vars of the index's table.
 */
static bool
match_range_condition(PlannerInfo *root, IndexOptInfo *index, Expr *clause,
					  GpbRangeCondition *condition, Expr **value)
{
	OpExpr	   *operation = (OpExpr *) clause;
	Node	   *left;
	Node	   *right;

	if (!IsA(clause, OpExpr) || list_length(operation->args) != 2)
		return false;
	left = linitial(operation->args);
	right = lsecond(operation->args);
	condition->operator = operation->opno;
	condition->column = key_column(index, left);
	if (condition->column < 0)
	{
		condition->column = key_column(index, right);
		if (condition->column < 0)
			return false;
		condition->operator = get_commutator(operation->opno);
		right = left;
	}
	*value = (Expr *) right;
	return OidIsValid(condition->operator) && is_range_value(root, right, index->rel->relid) &&
		find_operator(gpb_own_family(index, condition->column), condition);
}

GpbRangeClause *
gpb_match_range_clauses(PlannerInfo *root, IndexOptInfo *index, List *rinfos, int *last)
{
	GpbRangeClause *clauses = palloc(sizeof(GpbRangeClause) * (list_length(rinfos) + 1));
	Bitmapset  *points = NULL;
	ListCell   *lc;

	foreach(lc, rinfos)
	{
		GpbRangeClause *clause = &clauses[foreach_current_index(lc)];
		GpbRangeCondition *condition = &clause->condition;

		clause->rinfo = lfirst_node(RestrictInfo, lc);
		if (!match_range_condition(root, index, clause->rinfo->clause, condition, &clause->value))
			condition->column = GPB_NO_KEY_COLUMN;
		else if (index->nkeycolumns > 1 && condition->strategy == BTEqualStrategyNumber &&
				 gpb_column_equals_one(index, condition->column, condition->value_type))
			points = bms_add_member(points, condition->column);
	}
	*last = 0;
	while (*last + 1 < index->nkeycolumns && bms_is_member(*last, points))
		(*last)++;
	return clauses;
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

/* ---- EXPLAIN ---- */

void
gpb_explain_row_range(const GpbRowRange *range, List *values, CustomScanState *css,
					  List *ancestors, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, css->ss.ps.plan, ancestors);
	StringInfoData text;
	int			i;

	gpb_explain_inner_index(range->index, range->alias, es);
	initStringInfo(&text);
	for (i = 0; i < range->nconditions; i++)
		appendStringInfo(&text, "%s(%s %s %s)", i > 0 ? " AND " : "",
						 quote_identifier(get_attname(range->index,
													  range->conditions[i].column + 1, false)),
						 get_opname(range->conditions[i].operator),
						 deparse_expression(list_nth(values, i), context, true, false));
	if (range->nconditions > 1)
		ExplainPropertyText(GPB_LABEL_INDEX_COND, psprintf("(%s)", text.data), es);
	else
		ExplainPropertyText(GPB_LABEL_INDEX_COND, text.data, es);
	if (range->program.filter != NULL)
		ExplainPropertyText(GPB_LABEL_INDEX_FILTER, range->program.filter, es);
}
