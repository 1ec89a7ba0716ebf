/*-------------------------------------------------------------------------
 *
 * program_expr.c
 *	  From expressions to steps of a program.
 *
 * Steps are done for every entry, where core skips what it need not evaluate: later arguments of
 * AND, OR and COALESCE, branches of CASE.  What might fault there is guarded by the condition under
 * which core evaluates it.  A value whose guard is not true may be anything, and nothing looks at
 * it.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"

#include "exec/compile/program_build_internal.h"
#include "exec/compile/program_codes.h"
#include "exec/compile/program_decimal.h"
#include "exec/shell/expressions.h"
#include "program/program_steps.h"

/* ---- boolean expressions ---- */

/*
 * AND or OR.  Core evaluates the next argument of AND unless one before is false, so after NULL
 * too, and that of OR unless one is true.
 */
static int
and_or_slot(GpbProgramBuilder *builder, BoolExpr *expression)
{
	bool		is_and = expression->boolop == AND_EXPR;
	int			guard = builder->guard;
	int			result = GPB_REFUSED;
	ListCell   *lc;

	foreach(lc, expression->args)
	{
		Expr	   *argument = lfirst(lc);
		int			slot;

		if (result != GPB_REFUSED && gpb_needs_guard(builder, (Node *) argument))
		{
			if (!is_and)
				gpb_guard_by(builder, gpb_unless(builder, result));
			else
				gpb_guard_by(builder, STEP2(GPB_OP_COALESCE, result,
											gpb_slot_boolean(builder, true)));
		}
		slot = gpb_word_slot(builder, argument);
		builder->guard = guard;
		if (slot == GPB_REFUSED)
			return GPB_REFUSED;
		result = result == GPB_REFUSED ? slot :
			STEP2(is_and ? GPB_OP_AND : GPB_OP_OR, result, slot);
		if (result == GPB_REFUSED)
			return GPB_REFUSED;
	}
	return result;
}

static int
boolean_expression_slot(GpbProgramBuilder *builder, BoolExpr *expression)
{
	if (expression->boolop == NOT_EXPR)
		return STEP1(GPB_OP_NOT, gpb_word_slot(builder, linitial(expression->args)));
	return and_or_slot(builder, expression);
}

static int
null_test_slot(GpbProgramBuilder *builder, NullTest *test)
{
	int			slot;

	if (test->argisrow)
		return gpb_refuse(builder, "IS NULL of a row");
	/* A value of 16 bytes is NULL if its upper half is, so that the lower one is not read. */
	if (!gpb_is_counted_wide(builder, test->arg, &slot))
		slot = gpb_value(builder, test->arg).slot;
	slot = STEP1(GPB_OP_IS_NULL, slot);
	return test->nulltesttype == IS_NULL ? slot : STEP1(GPB_OP_NOT, slot);
}

static int
boolean_test_slot(GpbProgramBuilder *builder, BooleanTest *test)
{
	int			slot = gpb_word_slot(builder, test->arg);

	switch (test->booltesttype)
	{
		case IS_TRUE:
			return STEP1(GPB_OP_IS_TRUE, slot);
		case IS_NOT_TRUE:
			return gpb_unless(builder, slot);
		case IS_FALSE:
			return STEP1(GPB_OP_IS_TRUE, STEP1(GPB_OP_NOT, slot));
		case IS_NOT_FALSE:
			return gpb_unless(builder, STEP1(GPB_OP_NOT, slot));
		case IS_UNKNOWN:
			return STEP1(GPB_OP_IS_NULL, slot);
		case IS_NOT_UNKNOWN:
			return STEP1(GPB_OP_NOT, STEP1(GPB_OP_IS_NULL, slot));
	}
	return GPB_REFUSED;
}

/* (a, b) > (x, y), which is NULL, true and false where "a > x OR a = x AND b > y" is */
static int
row_comparison_slot(GpbProgramBuilder *builder, RowCompareExpr *comparison)
{
	List	   *arms = NIL;
	ListCell   *lc;

	foreach(lc, gpb_row_comparison_arms(comparison))
		arms = lappend(arms, make_ands_explicit(lfirst_node(List, lc)));
	if (arms == NIL)
		return gpb_refuse(builder, "a row comparison");
	return gpb_word_slot(builder, make_orclause(arms));
}

/* ---- functions ---- */

static GpbTyped
call_value(GpbProgramBuilder *builder, Oid function, List *args)
{
	const GpbFunction *found = gpb_find_function(builder, function);
	GpbTyped	value[3] = {{0}};

	if (found == NULL)
		return GPB_NO_VALUE;
	if (gpb_function_compares(found))
		return gpb_word(gpb_comparison_slot(builder, found, found->op, args));
	if (!gpb_arguments(builder, found, args, -1, value))
		return GPB_NO_VALUE;
	return found->call < GPB_DECIMAL_FIELD ?
		gpb_word(gpb_function_slot(builder, found, value, args)) :
		gpb_decimal_call(builder, found, value, args);
}

static int
distinct_slot(GpbProgramBuilder *builder, DistinctExpr *expression)
{
	const GpbFunction *found = gpb_find_function(builder, expression->opfuncid);

	return found == NULL ? GPB_REFUSED :
		gpb_comparison_slot(builder, found, GPB_OP_DISTINCT, expression->args);
}

/* ---- other expressions ---- */

/* What has one value in an execution, and is no numeric */
static GpbTyped
constant_value(GpbProgramBuilder *builder, Expr *expression)
{
	Oid			type = gpb_word_type(exprType((Node *) expression));

	if (!OidIsValid(type))
		return gpb_no_value(builder, "type %s", format_type_be(exprType((Node *) expression)));
	return gpb_word(gpb_slot_constant(builder, expression, gpb_sql_type(type)));
}

/*
 * A value shown as another type: one of the same words, as a domain's base type is, or a column of
 * codes or of 16 bytes
 */
static GpbTyped
relabeled_value(GpbProgramBuilder *builder, RelabelType *relabel)
{
	Oid			type = gpb_word_type(relabel->resulttype);
	GpbTyped	value;

	if (OidIsValid(type) ? type == gpb_word_type(exprType((Node *) relabel->arg)) :
		gpb_var_slot(builder, relabel->arg) >= 0)
	{
		value = gpb_value(builder, relabel->arg);
		if (OidIsValid(type) || value.type.class != GPB_WORDS_SQL)
			return value;
	}
	return gpb_no_value(builder, "type %s", format_type_be(relabel->resulttype));
}

/* Can steps compute a numeric by this kind of expression, if at all? */
static bool
is_computed_numeric(Expr *expression)
{
	switch (nodeTag(expression))
	{
		case T_Var:
		case T_Const:
		case T_CaseExpr:
		case T_CoalesceExpr:
		case T_MinMaxExpr:
			return true;
		case T_NullIfExpr:
		case T_OpExpr:
			set_opfuncid((OpExpr *) expression);
			return gpb_core_function(((OpExpr *) expression)->opfuncid) != NULL;
		case T_FuncExpr:
			return gpb_core_function(((FuncExpr *) expression)->funcid) != NULL;
		default:
			return false;
	}
}

/* The value of an expression that is no constant, or must not be evaluated as one */
static GpbTyped
varying_value(GpbProgramBuilder *builder, Expr *expression)
{
	switch (nodeTag(expression))
	{
		case T_Var:
			return gpb_column_value(builder, (Var *) expression);
		case T_Const:
			return gpb_decimal_constant(builder, (Const *) expression);
		case T_RelabelType:
			return relabeled_value(builder, (RelabelType *) expression);
		case T_BoolExpr:
			return gpb_word(boolean_expression_slot(builder, (BoolExpr *) expression));
		case T_NullTest:
			return gpb_word(null_test_slot(builder, (NullTest *) expression));
		case T_RowCompareExpr:
			return gpb_word(row_comparison_slot(builder, (RowCompareExpr *) expression));
		case T_BooleanTest:
			return gpb_word(boolean_test_slot(builder, (BooleanTest *) expression));
		case T_FuncExpr:
			return call_value(builder, ((FuncExpr *) expression)->funcid,
							  ((FuncExpr *) expression)->args);
		case T_OpExpr:
			set_opfuncid((OpExpr *) expression);
			return call_value(builder, ((OpExpr *) expression)->opfuncid,
							  ((OpExpr *) expression)->args);
		case T_DistinctExpr:
			set_opfuncid((OpExpr *) expression);
			return gpb_word(distinct_slot(builder, (DistinctExpr *) expression));
		case T_NullIfExpr:
			set_opfuncid((OpExpr *) expression);
			return gpb_null_if(builder, (NullIfExpr *) expression);
		case T_ScalarArrayOpExpr:
			set_sa_opfuncid((ScalarArrayOpExpr *) expression);
			return gpb_word(gpb_array_slot(builder, (ScalarArrayOpExpr *) expression));
		case T_CaseExpr:
			return gpb_case(builder, (CaseExpr *) expression);
		case T_CaseTestExpr:
			return gpb_word(builder->case_value);
		case T_CoalesceExpr:
			return gpb_coalesce(builder, (CoalesceExpr *) expression);
		case T_MinMaxExpr:
			return gpb_min_max(builder, (MinMaxExpr *) expression);
		case T_Param:
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
			return gpb_no_value(builder, "a subquery");
		case T_CoerceViaIO:
		case T_CoerceToDomain:
			return gpb_no_value(builder, "cast to %s",
								format_type_be(exprType((Node *) expression)));
		default:
			return gpb_no_value(builder, "an expression that is none of the known kinds");
	}
}

/*
 * What has no columns is evaluated once, before the first entry, unless it is a numeric, whose
 * scale planning has to know.  If that might raise an error that core would not meet, since it
 * skips this part of the expression, steps are made of it instead.
 */
GpbTyped
gpb_expression_value(GpbProgramBuilder *builder, Expr *expression)
{
	Oid			type = exprType((Node *) expression);
	GpbTyped	value;

	check_stack_depth();
	if (gpb_is_numeric(type))
	{
		/* A domain's value, or one with another type modifier that it fits */
		expression = gpb_without_labels(expression);
		if (is_computed_numeric(expression))
			return varying_value(builder, expression);
		return gpb_no_value(builder, "a numeric that is neither computed from columns nor "
							"constant");
	}
	value = gpb_word(gpb_condition_on_code(builder, expression));
	if (value.slot == GPB_REFUSED)
		value = gpb_is_constant(expression) &&
			(builder->guard == GPB_NO_SLOT || gpb_is_harmless(builder, expression)) ?
			constant_value(builder, expression) : varying_value(builder, expression);
	if (value.type.class == GPB_WORDS_SQL)
		value.type.sql = gpb_word_type(type);
	return value;
}

GpbTyped
gpb_any_value(GpbProgramBuilder *builder, Expr *expression)
{
	GpbTyped	value = gpb_value(builder, expression);

	if (value.type.class == GPB_WORDS_CODE &&
		!gpb_code_tells_apart(builder, expression, value.slot))
		return GPB_NO_VALUE;
	return value;
}
