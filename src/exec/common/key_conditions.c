/*-------------------------------------------------------------------------
 *
 * key_conditions.c
 *	  Restrictions that are a range of an index's key: at planning, and at run time.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "index/index.h"
#include "exec/common/key_conditions.h"

/* ---- planning ---- */

bool
gpb_is_bound_expression(PlannerInfo *root, Node *expression, Index relid)
{
	return !bms_is_member(relid, pull_varnos(root, expression)) &&
		!contain_volatile_functions(expression);
}

/*
 * An operator clause as "key OP expression", commuted if need be; NULL if
 * it is not one that the index understands.
 */
static Expr *
match_opclause(PlannerInfo *root, OpExpr *clause, IndexOptInfo *index)
{
	Node	   *left;
	Node	   *right;

	if (list_length(clause->args) != 2)
		return NULL;
	left = (Node *) linitial(clause->args);
	right = (Node *) lsecond(clause->args);

	if (match_index_to_operand(left, 0, index) &&
		gpb_is_bound_expression(root, right, index->rel->relid))
	{
		if (!op_in_opfamily(clause->opno, index->opfamily[0]))
			return NULL;
		return (Expr *) copyObject(clause);
	}
	if (match_index_to_operand(right, 0, index) &&
		gpb_is_bound_expression(root, left, index->rel->relid))
	{
		Oid			commutator = get_commutator(clause->opno);

		if (!OidIsValid(commutator) ||
			!op_in_opfamily(commutator, index->opfamily[0]))
			return NULL;
		clause = copyObject(clause);
		CommuteOpExpr(clause);
		return (Expr *) clause;
	}
	return NULL;
}

Expr *
gpb_match_key_clause(PlannerInfo *root, Expr *clause, IndexOptInfo *index)
{
	if (IsA(clause, OpExpr))
		return match_opclause(root, (OpExpr *) clause, index);
	if (IsA(clause, NullTest))
	{
		NullTest   *test = (NullTest *) clause;

		if (!test->argisrow &&
			match_index_to_operand((Node *) test->arg, 0, index))
			return (Expr *) copyObject(test);
	}
	return NULL;
}

Expr *
gpb_match_condition(PlannerInfo *root, RestrictInfo *rinfo, IndexOptInfo *index)
{
	if (rinfo->pseudoconstant ||
		!restriction_is_securely_promotable(rinfo, index->rel))
		return NULL;
	return gpb_match_key_clause(root, rinfo->clause, index);
}

bool
gpb_match_conditions(PlannerInfo *root, IndexOptInfo *index, List **conditions)
{
	ListCell   *lc;

	*conditions = NIL;
	foreach(lc, index->indrestrictinfo)
	{
		Expr	   *condition = gpb_match_condition(root, lfirst_node(RestrictInfo, lc), index);

		if (condition == NULL)
			return false;
		*conditions = lappend(*conditions, condition);
	}
	return true;
}

bool
gpb_is_key_not_null(IndexOptInfo *index, Expr *clause)
{
	NullTest   *test = (NullTest *) clause;

	return IsA(clause, NullTest) && test->nulltesttype == IS_NOT_NULL && !test->argisrow &&
		match_index_to_operand((Node *) test->arg, 0, index);
}

/* ---- run time ---- */

/* Prepare one condition of the plan. */
static void
condition_init(Relation index, Node *clause, PlanState *ps, GpbCondition *condition)
{
	memset(condition, 0, sizeof(*condition));
	if (IsA(clause, NullTest))
	{
		condition->strategy = InvalidStrategy;
		condition->is_null = ((NullTest *) clause)->nulltesttype == IS_NULL;
	}
	else
	{
		OpExpr	   *operation = castNode(OpExpr, clause);
		int			strategy;
		Oid			left;

		get_op_opfamily_properties(operation->opno, index->rd_opfamily[0],
								   false, &strategy, &left, &condition->type);
		condition->strategy = strategy;
		condition->procedure = get_opcode(operation->opno);
		condition->collation = operation->inputcollid;
		condition->value = ExecInitExpr((Expr *) get_rightop((Expr *) operation),
										ps);
	}
}

GpbCondition *
gpb_conditions_init(Relation index, List *clauses, PlanState *ps)
{
	GpbCondition *conditions = palloc(sizeof(GpbCondition) * list_length(clauses));
	ListCell   *lc;

	foreach(lc, clauses)
		condition_init(index, lfirst(lc), ps, &conditions[foreach_current_index(lc)]);
	return conditions;
}

/* Make a scan key of the condition, whose right side has this value; a NULL test has none. */
static void
condition_key(const GpbCondition *condition, Datum value, ScanKey key)
{
	if (condition->strategy == InvalidStrategy)
		ScanKeyEntryInitialize(key,
							   SK_ISNULL | (condition->is_null ? SK_SEARCHNULL : SK_SEARCHNOTNULL),
							   1, InvalidStrategy, InvalidOid, InvalidOid, InvalidOid, (Datum) 0);
	else
		ScanKeyEntryInitialize(key, 0, 1, condition->strategy, condition->type,
							   condition->collation, condition->procedure, value);
}

/* An operand that is NULL satisfies nothing: the operators are strict. */
bool
gpb_conditions_evaluate(const GpbCondition *conditions, int n, Relation index,
						const GpbLayout *layout, ExprContext *econtext,
						GpbRange *range, ScanKey keys)
{
	int			i;

	range->lo = GPB_BOUND_MIN;
	range->hi = GPB_BOUND_MAX;
	for (i = 0; i < n; i++)
	{
		const GpbCondition *condition = &conditions[i];
		GpbRange	nulls;
		Datum		value = (Datum) 0;
		bool		isnull;

		if (condition->strategy == InvalidStrategy)
			nulls = condition->is_null ? gpb_range_null(layout) : gpb_range_not_null(layout);
		else
		{
			nulls = gpb_range_not_null(layout);
			value = ExecEvalExprSwitchContext(condition->value, econtext, &isnull);
			if (isnull)
				return false;
			gpb_range_narrow(index, layout, condition->strategy, condition->type, value, range);
		}
		if (keys != NULL)
			condition_key(condition, value, &keys[i]);
		if (gpb_bound_less(range->lo, nulls.lo))
			range->lo = nulls.lo;
		if (gpb_bound_less(nulls.hi, range->hi))
			range->hi = nulls.hi;
	}
	return gpb_bound_less(range->lo, range->hi);
}

bool
gpb_conditions_key_range(const GpbCondition *conditions, int n, Relation index,
						 ExprContext *econtext, GpbKeyRange *keys)
{
	GpbLayout	layout = *gpb_layout(index);
	GpbRange	not_null = gpb_range_not_null(&layout);
	GpbRange	range;

	if (!gpb_conditions_evaluate(conditions, n, index, &layout, econtext, &range, NULL))
		return false;
	if (gpb_bound_less(range.lo, not_null.lo))
		range.lo = not_null.lo;
	if (gpb_bound_less(not_null.hi, range.hi))
		range.hi = not_null.hi;
	return gpb_closed_range(&layout, &range, keys);
}
