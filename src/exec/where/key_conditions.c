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

#include "exec/compile/program_build.h"
#include "exec/where/key_conditions.h"
#include "index/index.h"
#include "index/index_clauses.h"

/* ---- planning ---- */

bool
gpb_is_bound_expression(PlannerInfo *root, Node *expression, Index relid)
{
	return !bms_is_member(relid, pull_varnos(root, expression)) &&
		!contain_volatile_functions(expression);
}

/* Is this the key, on the left of an operator of the index, or a function that rises with it? */
static bool
is_key_side(Node *side, Oid operator, IndexOptInfo *index)
{
	if (!OidIsValid(operator))
		return false;
	if (match_index_to_operand(side, 0, index))
		return op_in_opfamily(operator, gpb_own_family(index, 0));
	return gpb_match_key_function(index, (Expr *) side, operator);
}

/*
 * An operator clause as "key OP expression", or with a function of the key there, commuted if need
 * be; NULL if it is not one that the index understands.
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
	if (gpb_is_bound_expression(root, right, index->rel->relid) &&
		is_key_side(left, clause->opno, index))
		return (Expr *) copyObject(clause);
	if (gpb_is_bound_expression(root, left, index->rel->relid) &&
		is_key_side(right, get_commutator(clause->opno), index))
	{
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
gpb_may_be_lossy(List *conditions)
{
	ListCell   *lc;

	foreach(lc, conditions)
	{
		if (gpb_condition_may_be_lossy(lfirst(lc)))
			return true;
	}
	return false;
}

bool
gpb_match_conditions(PlannerInfo *root, IndexOptInfo *index, List **conditions)
{
	ListCell   *lc;

	*conditions = NIL;
	foreach(lc, index->indrestrictinfo)
	{
		Expr	   *condition = gpb_match_condition(root, lfirst_node(RestrictInfo, lc), index);

		if (condition == NULL || gpb_condition_may_be_lossy(condition))
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
	Oid			family = index->rd_opfamily[0];
	CustomScan *plan = castNode(CustomScan, ps->plan);

	memset(condition, 0, sizeof(*condition));
	if (IsA(clause, NullTest))
	{
		condition->strategy = InvalidStrategy;
		condition->is_null = ((NullTest *) clause)->nulltesttype == IS_NULL;
	}
	else
	{
		OpExpr	   *operation = castNode(OpExpr, clause);
		int			strategy = BTEqualStrategyNumber;
		Oid			left;

		condition->function = gpb_key_function_begin(operation, plan->custom_scan_tlist);
		if (condition->function == NULL)
			get_op_opfamily_properties(operation->opno, family, false, &strategy, &left,
									   &condition->type);
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

/* Add a scan key of the condition, whose right side has this value; a NULL test has none. */
static void
add_condition_key(const GpbCondition *condition, Datum value, GpbScanKeys *keys)
{
	ScanKey		key = &keys->key[keys->n++];

	if (condition->strategy == InvalidStrategy)
		ScanKeyEntryInitialize(key,
							   SK_ISNULL | (condition->is_null ? SK_SEARCHNULL : SK_SEARCHNOTNULL),
							   1, InvalidStrategy, InvalidOid, InvalidOid, InvalidOid, (Datum) 0);
	else
		ScanKeyEntryInitialize(key, 0, 1, condition->strategy, condition->type,
							   condition->collation, condition->procedure, value);
}

/* Narrow a range, and add a scan key to "keys" unless that is NULL, for "key OP value". */
static void
narrow_to_bound(Relation index, const GpbLayout *layout, StrategyNumber strategy, int64 value,
				GpbRange *range, GpbScanKeys *keys)
{
	Oid			type = index->rd_opcintype[0];
	Datum		bound = gpb_word_datum(gpb_sql_type(type), value);

	gpb_range_narrow(index, layout, strategy, type, bound, range);
	if (keys != NULL)
		ScanKeyEntryInitialize(&keys->key[keys->n++], 0, 1, strategy, type, InvalidOid,
							   get_opcode(get_opfamily_member(index->rd_opfamily[0], type, type,
															  strategy)),
							   bound);
}

/* Narrow a range to the keys of a condition on a function of the key; false if there are none. */
static bool
narrow_by_function(const GpbCondition *condition, Datum value, Relation index,
				   const GpbLayout *layout, GpbRange *range, GpbScanKeys *keys, bool *lossy)
{
	GpbKeyInterval interval = gpb_key_function_interval(condition->function, value);

	*lossy |= interval.lossy;
	if (interval.least > interval.greatest)
		return false;
	narrow_to_bound(index, layout, BTGreaterEqualStrategyNumber, interval.least, range, keys);
	narrow_to_bound(index, layout, BTLessEqualStrategyNumber, interval.greatest, range, keys);
	return true;
}

/* An operand that is NULL satisfies nothing: the operators are strict. */
bool
gpb_conditions_evaluate(const GpbCondition *conditions, int n, Relation index,
						const GpbLayout *layout, ExprContext *econtext,
						GpbRange *range, GpbScanKeys *keys, bool *lossy)
{
	int			i;

	range->lo = GPB_BOUND_MIN;
	range->hi = GPB_BOUND_MAX;
	*lossy = false;
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
		}
		if (condition->function != NULL)
		{
			if (!narrow_by_function(condition, value, index, layout, range, keys, lossy))
				return false;
		}
		else
		{
			if (condition->strategy != InvalidStrategy)
				gpb_range_narrow(index, layout, condition->strategy, condition->type, value,
								 range);
			if (keys != NULL)
				add_condition_key(condition, value, keys);
		}
		if (gpb_bound_less(range->lo, nulls.lo))
			range->lo = nulls.lo;
		if (gpb_bound_less(nulls.hi, range->hi))
			range->hi = nulls.hi;
	}
	return gpb_bound_less(range->lo, range->hi);
}
