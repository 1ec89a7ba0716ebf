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
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "exec/shell/explain_labels.h"
#include "exec/shell/node_explain.h"
#include "exec/where/conditions.h"
#include "exec/where/range_conditions.h"
#include "index/column_ranges.h"

/* ---- planning ---- */

/* Is the operand none of table "relid"'s columns by what it is? */
static bool
is_no_column(const Node *operand, Index relid)
{
	if (operand != NULL && IsA(operand, RelabelType))
		operand = (const Node *) ((const RelabelType *) operand)->arg;
	return operand == NULL || IsA(operand, Const) || IsA(operand, Param) ||
		(IsA(operand, Var) && ((const Var *) operand)->varno != relid);
}

/*
 * Is the clause "column OP value" of a key column, or that commuted?  Fills in *condition, and
 * *value, an expression that is not volatile, has no subplan, and no Vars of the index's table.
 */
static bool
match_range_condition(PlannerInfo *root, IndexOptInfo *index, OpExpr *clause,
					  GpbRangeCondition *condition, Node **value)
{
	Index		relid = index->rel->relid;

	if (!IsA(clause, OpExpr) || list_length(clause->args) != 2 ||
		(is_no_column(linitial(clause->args), relid) && is_no_column(lsecond(clause->args), relid)))
		return false;
	for (int c = 0; c < index->nkeycolumns; c++)
	{
		if (gpb_match_comparison(index, c, clause, condition, value))
			return gpb_is_bound_expression(root, *value, relid) && !contain_subplans(*value);
	}
	return false;
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
		Node	   *value = NULL;

		clause->rinfo = lfirst_node(RestrictInfo, lc);
		if (!match_range_condition(root, index, (OpExpr *) clause->rinfo->clause, condition,
								   &value))
			condition->column = GPB_NO_KEY_COLUMN;
		else if (condition->strategy == BTEqualStrategyNumber &&
				 gpb_column_equals_one(index, condition->column, condition->value_type))
			points = bms_add_member(points, condition->column);
		clause->value = (Expr *) value;
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

struct GpbRangeValues
{
	GpbLayout	layout;
	bool		points;
	bool		key_is_value;	/* the key of one column equals the value of the only condition */
	bool		columns;		/* all values are columns */
	int			nkeys;			/* key columns with conditions, the first ones */
	GpbLoneColumn *keys;
	int			n;
	GpbCondition conditions[FLEXIBLE_ARRAY_MEMBER];
};

/* Prepare the key columns: the conditions are on the first of them. */
static void
begin_keys(GpbRangeValues *values)
{
	Bitmapset  *points = NULL;
	int			i;

	for (i = 0; i < values->n; i++)
	{
		const GpbCondition *condition = &values->conditions[i];

		values->nkeys = Max(values->nkeys, condition->column + 1);
		if (condition->strategy == BTEqualStrategyNumber && condition->comparison.is_point)
			points = bms_add_member(points, condition->column);
	}
	values->keys = palloc(sizeof(GpbLoneColumn) * values->nkeys);
	for (i = 0; i < values->nkeys; i++)
		gpb_lone_column(&values->layout, i, &values->keys[i]);
	values->points = bms_num_members(points) == gpb_count_keys(&values->layout);
	values->key_is_value = values->points && values->keys[0].is_key && values->n == 1;
}

GpbRangeValues *
gpb_range_values_begin(Relation index, int nconditions, const GpbRangeCondition *conditions,
					   List *expressions, PlanState *ps)
{
	GpbRangeValues *values = palloc0(offsetof(GpbRangeValues, conditions) +
									 sizeof(GpbCondition) * nconditions);
	int			i;

	Assert(nconditions == list_length(expressions));
	values->layout = *gpb_layout(index);
	values->columns = true;
	values->n = nconditions;
	for (i = 0; i < nconditions; i++)
	{
		GpbCondition *condition = &values->conditions[i];
		Expr	   *expression = list_nth(expressions, i);

		condition->column = conditions[i].column;
		gpb_column_comparison_init(index, condition->column, conditions[i].value_type,
								   &condition->comparison);
		condition->strategy = conditions[i].strategy;
		if (IsA(expression, Var) && ((Var *) expression)->varno == INDEX_VAR)
			condition->source = ((Var *) expression)->varattno;
		else
			condition->value = ExecInitExpr(expression, ps);
		values->columns &= condition->source != 0;
	}
	begin_keys(values);
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

/*
 * Find the row's range of keys, at "range": each column but the last with a condition equals one
 * value.  Returns false if no key satisfies the conditions.
 */
static pg_noinline bool
keys_of_row(GpbRangeValues *values, ExprContext *econtext, TupleTableSlot *slot, void *range)
{
	GpbRange	bounds[GPB_MAX_KEYS];
	GpbKeyRange closed = {0, 0};
	int			last = values->nkeys - 1;
	int			i;

	for (i = 0; i < values->nkeys; i++)
		bounds[i] = (GpbRange) {GPB_BOUND_MIN, GPB_BOUND_MAX};
	for (i = 0; i < values->n; i++)
	{
		GpbCondition *condition = &values->conditions[i];
		Datum		datum;

		if (!gpb_condition_value(condition, econtext, slot, &datum))
			return false;
		gpb_comparison_narrow(&values->keys[condition->column].layout, &condition->comparison,
							  condition->strategy, datum, &bounds[condition->column]);
	}
	/* as the loop would, but that takes longer */
	if (values->keys[0].is_key && !values->points)
		return gpb_closed_range(&values->keys[0].layout, &bounds[0], (GpbKeyRange *) range);
	for (i = 0; i < values->nkeys; i++)
	{
		int			shift = values->keys[i].column.shift;
		GpbKeyRange fields;

		if (!gpb_lone_fields(&values->keys[i], &bounds[i], &fields))
			return false;
		Assert(i == last || fields.lo == fields.hi);
		closed.lo |= fields.lo << shift;
		closed.hi |= fields.hi << shift;
	}
	closed.hi |= gpb_field_ones(values->keys[last].column.shift);
	if (values->points)
		*(GpbKey *) range = closed.lo;
	else
		*(GpbKeyRange *) range = closed;
	return true;
}

/* Joins come here once for each row of the outer side, so a single key has a way of its own. */
bool
gpb_range_of_row(GpbRangeValues *values, ExprContext *econtext, TupleTableSlot *slot,
				 void *range)
{
	const GpbCondition *condition = &values->conditions[0];
	Datum		datum;

	if (!values->key_is_value)
		return keys_of_row(values, econtext, slot, range);
	return gpb_condition_value(condition, econtext, slot, &datum) &&
		gpb_comparison_key(&values->layout, &condition->comparison, datum, range);
}

/* ---- EXPLAIN ---- */

void
gpb_explain_row_range(const GpbRowRange *range, Oid parent, List *values, CustomScanState *css,
					  List *ancestors, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, css->ss.ps.plan, ancestors);
	StringInfoData text;
	int			i;

	if (OidIsValid(parent))
		gpb_explain_inner_partitions(parent, range->alias, es);
	else
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
