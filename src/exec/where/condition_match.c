/*-------------------------------------------------------------------------
 *
 * condition_match.c
 *	  Which clauses are conditions on a key column of an index.
 *
 * What makes ranges is the same for an index of one key column and for one of several, but for what
 * is_alone() guards: a function of the column makes a range of the only column alone, and what is
 * rewritten as "column = value", so that a column behind may make ranges too, stays as it is where
 * there is no such column.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "catalog/pg_amop.h"
#include "catalog/pg_operator.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/array.h"
#include "utils/lsyscache.h"
#include "utils/syscache.h"

#include "exec/functions/key_function.h"
#include "exec/where/condition_match.h"
#include "index/index.h"
#include "index/index_clauses.h"

/* Is the key of the index one column? */
static inline bool
is_alone(const IndexOptInfo *index)
{
	return index->nkeycolumns == 1;
}

bool
gpb_is_bound_expression(PlannerInfo *root, Node *expression, Index relid)
{
	/* most are one of these */
	if (IsA(expression, Var))
		return ((Var *) expression)->varno != relid;
	if (IsA(expression, Const) || IsA(expression, Param))
		return true;
	return !bms_is_member(relid, pull_varnos(root, expression)) &&
		!contain_volatile_functions(expression);
}

/* ---- comparisons ---- */

bool
gpb_column_equals_one(IndexOptInfo *index, int c, Oid type)
{
	return gpb_coding_key_is_exact(gpb_type_coding(index->opcintype[c])) &&
		(type == index->opcintype[c] || type == INT2OID || type == INT4OID || type == INT8OID);
}

/* Fill in the condition for an operator of key column c; false if its family has none such. */
static bool
find_operator(IndexOptInfo *index, int c, Oid operator, GpbRangeCondition *condition)
{
	HeapTuple	tuple;
	Form_pg_amop form;

	if (!OidIsValid(operator))
		return false;
	tuple = SearchSysCache3(AMOPOPID, ObjectIdGetDatum(operator), CharGetDatum(AMOP_SEARCH),
							ObjectIdGetDatum(gpb_own_family(index, c)));
	if (!HeapTupleIsValid(tuple))
		return false;
	form = (Form_pg_amop) GETSTRUCT(tuple);
	condition->column = c;
	condition->operator = operator;
	condition->strategy = form->amopstrategy;
	condition->value_type = form->amoprighttype;
	ReleaseSysCache(tuple);
	return true;
}

/* Does the key column equal one value by the condition? */
static bool
is_point(IndexOptInfo *index, const GpbRangeCondition *condition)
{
	return condition->strategy == BTEqualStrategyNumber &&
		gpb_column_equals_one(index, condition->column, condition->value_type);
}

bool
gpb_match_comparison(IndexOptInfo *index, int c, const OpExpr *clause,
					 GpbRangeCondition *condition, Node **value)
{
	if (list_length(clause->args) != 2)
		return false;
	*value = lsecond(clause->args);
	if (match_index_to_operand(linitial(clause->args), c, index) &&
		find_operator(index, c, clause->opno, condition))
		return true;
	*value = linitial(clause->args);
	return match_index_to_operand(lsecond(clause->args), c, index) &&
		find_operator(index, c, get_commutator(clause->opno), condition);
}

/* Is this a function that rises with the only column, and which the operator compares? */
static bool
is_function(IndexOptInfo *index, Node *side, Oid operator)
{
	return OidIsValid(operator) && !match_index_to_operand(side, 0, index) &&
		gpb_match_key_function(index, (Expr *) side, operator);
}

/* Is the clause "function of the column OP value", or that commuted?  Fills in *value then. */
static bool
match_function(IndexOptInfo *index, const OpExpr *clause, Node **value)
{
	Node	   *left;
	Node	   *right;

	if (!is_alone(index) || list_length(clause->args) != 2)
		return false;
	left = linitial(clause->args);
	right = lsecond(clause->args);
	*value = right;
	if (is_function(index, left, clause->opno))
		return true;
	*value = left;
	return !IsA(right, Const) && !IsA(right, Param) &&
		is_function(index, right, get_commutator(clause->opno));
}

/* "column OP expression" of column c, commuted if need be; NULL if the clause is none */
static Expr *
match_opclause(PlannerInfo *root, IndexOptInfo *index, int c, OpExpr *clause, bool *point)
{
	GpbRangeCondition condition;
	Node	   *value;
	bool		commuted;

	if (gpb_match_comparison(index, c, clause, &condition, &value))
		*point = is_point(index, &condition);
	else if (!match_function(index, clause, &value))
		return NULL;
	if (!gpb_is_bound_expression(root, value, index->rel->relid))
	{
		*point = false;
		return NULL;
	}
	commuted = value == linitial(clause->args);
	clause = copyObject(clause);
	if (commuted)
		CommuteOpExpr(clause);
	return (Expr *) clause;
}

/* ---- arrays ---- */

/* "left OP element" for an array that is a constant of a single element, not NULL; else NULL */
static OpExpr *
element_comparison(const ScalarArrayOpExpr *clause)
{
	Const	   *array = lsecond(clause->args);
	Oid			type;
	int16		length;
	bool		by_value;
	char		align;
	Datum	   *elements;
	bool	   *nulls;
	int			n;
	Const	   *element;
	OpExpr	   *comparison;

	if (!IsA(array, Const) || array->constisnull)
		return NULL;
	type = ARR_ELEMTYPE(DatumGetArrayTypeP(array->constvalue));
	get_typlenbyvalalign(type, &length, &by_value, &align);
	deconstruct_array(DatumGetArrayTypeP(array->constvalue), type, length, by_value, align,
					  &elements, &nulls, &n);
	if (n != 1 || nulls[0])
		return NULL;
	element = makeConst(type, -1, array->constcollid, length, elements[0], false, by_value);
	comparison = (OpExpr *) make_opclause(clause->opno, BOOLOID, false, linitial(clause->args),
										  (Expr *) element, InvalidOid, clause->inputcollid);
	set_opfuncid(comparison);
	return comparison;
}

/* "column = ANY (array)" of column c, "column = element" if the array has one alone, or NULL */
static Expr *
match_array(PlannerInfo *root, IndexOptInfo *index, int c, ScalarArrayOpExpr *clause, bool *point)
{
	GpbRangeCondition condition;
	OpExpr	   *comparison = NULL;

	if (!clause->useOr || !match_index_to_operand(linitial(clause->args), c, index) ||
		!find_operator(index, c, clause->opno, &condition) ||
		condition.strategy != BTEqualStrategyNumber ||
		!gpb_is_bound_expression(root, lsecond(clause->args), index->rel->relid))
		return NULL;
	*point = is_point(index, &condition);
	if (!is_alone(index))
		comparison = element_comparison(clause);
	return comparison != NULL ? (Expr *) comparison : copyObject((Expr *) clause);
}

/* ---- other conditions ---- */

/*
 * "column = true", or false, for a clause that is true exactly then: the column by itself, negated,
 * or tested with IS TRUE or IS FALSE.  NULL if it is none.
 */
static Expr *
match_boolean(IndexOptInfo *index, int c, Expr *clause, bool *point)
{
	Node	   *operand = (Node *) clause;
	bool		value = true;
	GpbRangeCondition condition;
	Expr	   *comparison;

	if (is_notclause(clause))
	{
		operand = (Node *) get_notclausearg(clause);
		value = false;
	}
	else if (IsA(clause, BooleanTest))
	{
		BooleanTest *test = (BooleanTest *) clause;

		if (test->booltesttype != IS_TRUE && test->booltesttype != IS_FALSE)
			return NULL;
		operand = (Node *) test->arg;
		value = test->booltesttype == IS_TRUE;
	}
	if (!match_index_to_operand(operand, c, index) ||
		!find_operator(index, c, BooleanEqualOperator, &condition))
		return NULL;
	*point = is_point(index, &condition);
	comparison = make_opclause(BooleanEqualOperator, BOOLOID, false, copyObject((Expr *) operand),
							   (Expr *) makeBoolConst(value, false), InvalidOid, InvalidOid);
	set_opfuncid((OpExpr *) comparison);
	return comparison;
}

Expr *
gpb_match_column(PlannerInfo *root, IndexOptInfo *index, int c, Expr *clause, bool *point)
{
	*point = false;
	if (IsA(clause, OpExpr))
		return match_opclause(root, index, c, (OpExpr *) clause, point);
	if (IsA(clause, ScalarArrayOpExpr))
		return match_array(root, index, c, (ScalarArrayOpExpr *) clause, point);
	if (IsA(clause, NullTest) && !((NullTest *) clause)->argisrow &&
		match_index_to_operand((Node *) ((NullTest *) clause)->arg, c, index))
	{
		*point = ((NullTest *) clause)->nulltesttype == IS_NULL;
		return copyObject(clause);
	}
	if (index->opcintype[c] == BOOLOID && !is_alone(index))
		return match_boolean(index, c, clause, point);
	return NULL;
}

Expr *
gpb_match_restriction(PlannerInfo *root, IndexOptInfo *index, int c, RestrictInfo *rinfo,
					  bool *point)
{
	if (rinfo->pseudoconstant || !restriction_is_securely_promotable(rinfo, index->rel))
		return NULL;
	return gpb_match_column(root, index, c, rinfo->clause, point);
}

Expr *
gpb_match_one_range(PlannerInfo *root, IndexOptInfo *index, int c, RestrictInfo *rinfo,
					bool *point)
{
	Expr	   *condition = gpb_match_restriction(root, index, c, rinfo, point);

	return condition != NULL && IsA(condition, ScalarArrayOpExpr) ? NULL : condition;
}

/* ---- what conditions say ---- */

bool
gpb_column_is_fixed(PlannerInfo *root, IndexOptInfo *index, int c, List *restrictions)
{
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		bool		point;

		if (!IsA(rinfo->clause, ScalarArrayOpExpr) &&
			gpb_match_restriction(root, index, c, rinfo, &point) != NULL && point)
			return true;
	}
	return false;
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
gpb_is_key_not_null(IndexOptInfo *index, Expr *clause)
{
	NullTest   *test = (NullTest *) clause;

	return IsA(clause, NullTest) && test->nulltesttype == IS_NOT_NULL && !test->argisrow &&
		match_index_to_operand((Node *) test->arg, 0, index);
}
