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
#include "parser/parsetree.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"

#include "exec/compile/program_build_internal.h"
#include "exec/compile/program_codes.h"
#include "exec/compile/program_decimal.h"
#include "exec/compile/program_wide.h"
#include "exec/compile/program_words.h"
#include "exec/shell/expressions.h"
#include "exec/shell/index_columns.h"
#include "page/page.h"
#include "program/program_steps.h"

/* Shorter names for what is used all the time */
#define STEP1(op, a)		gpb_slot_step(builder, op, a, 0, 0)
#define STEP2(op, a, b)		gpb_slot_step(builder, op, a, b, 0)

/* ---- constants ---- */

static int
constant_slot(GpbProgramBuilder *builder, Expr *expression)
{
	Oid			type = gpb_word_type(exprType((Node *) expression));

	if (!OidIsValid(type))
		return gpb_refuse(builder, "type %s", format_type_be(exprType((Node *) expression)));
	return gpb_slot_constant(builder, expression, type);
}

/* The constant NULL of a type; any type of words will do. */
static int
null_slot(GpbProgramBuilder *builder)
{
	return gpb_slot_constant(builder, (Expr *) makeNullConst(INT8OID, -1, InvalidOid), INT8OID);
}

static int
boolean_slot(GpbProgramBuilder *builder, bool value)
{
	return gpb_slot_constant(builder, (Expr *) makeBoolConst(value, false), BOOLOID);
}

/* ---- columns ---- */

static int
column_slot(GpbProgramBuilder *builder, Var *var)
{
	IndexOptInfo *index = builder->index;
	RangeTblEntry *rte;
	int			column;
	Oid			type = gpb_word_type(var->vartype);

	if (var->varno != index->rel->relid || var->varlevelsup != 0)
		return gpb_refuse(builder, "column of another table");
	if (var->varattno <= 0)
		return gpb_refuse(builder, "system column or whole row");
	rte = planner_rt_fetch(index->rel->relid, builder->root);
	column = gpb_index_column(index, var->varattno);
	if (column < 0)
		return gpb_refuse(builder, "column %s, which is not in the index",
						  get_attname(rte->relid, var->varattno, true));
	if ((!OidIsValid(type) && gpb_base_type(var->vartype) != NUMERICOID) ||
		!gpb_column_has_words(index, column))
		return gpb_refuse(builder, "column %s, of type %s",
						  get_attname(rte->relid, var->varattno, true),
						  format_type_be(var->vartype));
	return column;
}

/* Is the expression of type numeric, or of a domain of that? */
static bool
is_numeric(Expr *expression)
{
	return gpb_base_type(exprType((Node *) expression)) == NUMERICOID;
}

/* A column of type numeric */
static GpbDecimal
numeric_column(GpbProgramBuilder *builder, Var *var)
{
	GpbWideValue wide;
	int			slot;

	if (gpb_is_wide_column(builder, (Expr *) var, &wide))
		return gpb_decimal_column(wide.upper, wide.lower, wide.scale);
	slot = column_slot(builder, var);
	return gpb_decimal_column(slot, 0, slot == GPB_REFUSED ? 0 :
							  gpb_column_scale(builder->index, slot));
}

/* ---- guards ---- */

/* The condition that is true unless "condition" is */
static int
unless(GpbProgramBuilder *builder, int condition)
{
	return STEP1(GPB_OP_NOT, STEP1(GPB_OP_IS_TRUE, condition));
}

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
				gpb_guard_by(builder, unless(builder, result));
			else
				gpb_guard_by(builder, STEP2(GPB_OP_COALESCE, result,
											boolean_slot(builder, true)));
		}
		slot = gpb_expression_slot(builder, argument);
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
		return STEP1(GPB_OP_NOT, gpb_expression_slot(builder, linitial(expression->args)));
	return and_or_slot(builder, expression);
}

static int
null_test_slot(GpbProgramBuilder *builder, NullTest *test)
{
	int			slot;

	if (test->argisrow)
		return gpb_refuse(builder, "IS NULL of a row");
	if (!gpb_is_counted_wide(builder, test->arg, &slot) &&
		!gpb_is_code_column(builder, test->arg, &slot))
		slot = is_numeric(test->arg) ? gpb_decimal_expression(builder, test->arg).slot :
			gpb_expression_slot(builder, test->arg);
	slot = STEP1(GPB_OP_IS_NULL, slot);
	return test->nulltesttype == IS_NULL ? slot : STEP1(GPB_OP_NOT, slot);
}

static int
boolean_test_slot(GpbProgramBuilder *builder, BooleanTest *test)
{
	int			slot = gpb_expression_slot(builder, test->arg);

	switch (test->booltesttype)
	{
		case IS_TRUE:
			return STEP1(GPB_OP_IS_TRUE, slot);
		case IS_NOT_TRUE:
			return unless(builder, slot);
		case IS_FALSE:
			return STEP1(GPB_OP_IS_TRUE, STEP1(GPB_OP_NOT, slot));
		case IS_NOT_FALSE:
			return unless(builder, STEP1(GPB_OP_NOT, slot));
		case IS_UNKNOWN:
			return STEP1(GPB_OP_IS_NULL, slot);
		case IS_NOT_UNKNOWN:
			return STEP1(GPB_OP_NOT, STEP1(GPB_OP_IS_NULL, slot));
	}
	return GPB_REFUSED;
}

/* ---- functions ---- */

static const GpbFunction *
find_function(GpbProgramBuilder *builder, Oid function)
{
	const GpbFunction *found = gpb_function_find(function);

	if (found == NULL)
		(void) gpb_refuse(builder, "function %s", format_procedure(function));
	return found;
}

/* The arguments of a function that are words; false if one is refused */
static bool
argument_slots(GpbProgramBuilder *builder, const GpbFunction *function, List *args, int *slot)
{
	ListCell   *lc;

	Assert(list_length(args) <= 3);
	foreach(lc, args)
	{
		int			i = foreach_current_index(lc);

		slot[i] = 0;
		if (!gpb_function_takes_word(function, i))
			continue;
		slot[i] = gpb_expression_slot(builder, lfirst(lc));
		if (slot[i] == GPB_REFUSED)
			return false;
	}
	return true;
}

/*
 * The arguments of a function of numerics that are values, but for number "without"; false if one
 * is refused
 */
static bool
decimal_arguments(GpbProgramBuilder *builder, const GpbFunction *function, List *args,
				  int without, GpbDecimal *value)
{
	ListCell   *lc;

	Assert(list_length(args) <= 3);
	foreach(lc, args)
	{
		int			i = foreach_current_index(lc);

		if (i == without || !gpb_decimal_takes_value(function, i))
			continue;
		value[i] = gpb_decimal_expression(builder, lfirst(lc));
		if (value[i].slot == GPB_REFUSED)
			return false;
	}
	return true;
}

static GpbDecimal case_value(GpbProgramBuilder *builder, CaseExpr *expression);
static GpbDecimal coalesce_value(GpbProgramBuilder *builder, CoalesceExpr *expression);
static GpbDecimal min_max_value(GpbProgramBuilder *builder, MinMaxExpr *expression);

/* NULLIF(x, y) of numerics */
static GpbDecimal
decimal_null_if(GpbProgramBuilder *builder, NullIfExpr *expression)
{
	GpbDecimal	value[2];
	GpbDecimal	result;

	value[0] = gpb_decimal_expression(builder, linitial(expression->args));
	value[1] = gpb_decimal_expression(builder, lsecond(expression->args));
	result = value[0];
	if (!gpb_decimal_is_whole(builder, &value[0]) || !gpb_decimal_is_whole(builder, &value[1]))
		result.slot = GPB_REFUSED;
	else
		result.slot = gpb_slot_step(builder, GPB_OP_SELECT, gpb_decimal_equal(builder, value),
									null_slot(builder), value[0].slot);
	result.is_constant = false;
	return result;
}

GpbDecimal
gpb_decimal_expression(GpbProgramBuilder *builder, Expr *expression)
{
	const GpbFunction *found = NULL;
	GpbDecimal	value[3] = {{0}};
	List	   *args = NIL;

	check_stack_depth();
	/* A domain's value, or one with another type modifier that it fits */
	while (IsA(expression, RelabelType) && is_numeric(((RelabelType *) expression)->arg))
		expression = ((RelabelType *) expression)->arg;
	if (!is_numeric(expression))
	{
		value[0].slot = gpb_expression_slot(builder, expression);
		return value[0];
	}
	switch (nodeTag(expression))
	{
		case T_Var:
			return numeric_column(builder, (Var *) expression);
		case T_CaseExpr:
			return case_value(builder, (CaseExpr *) expression);
		case T_CoalesceExpr:
			return coalesce_value(builder, (CoalesceExpr *) expression);
		case T_MinMaxExpr:
			return min_max_value(builder, (MinMaxExpr *) expression);
		case T_NullIfExpr:
			set_opfuncid((OpExpr *) expression);
			if (gpb_decimal_find(((OpExpr *) expression)->opfuncid) != NULL)
				return decimal_null_if(builder, (NullIfExpr *) expression);
			break;
		default:
			break;
	}
	if (IsA(expression, FuncExpr))
	{
		found = gpb_decimal_find(((FuncExpr *) expression)->funcid);
		args = ((FuncExpr *) expression)->args;
	}
	else if (IsA(expression, OpExpr))
	{
		found = gpb_decimal_find(get_opcode(((OpExpr *) expression)->opno));
		args = ((OpExpr *) expression)->args;
	}
	if (found == NULL)
		return gpb_decimal_constant(builder, (Const *) expression);
	if (!decimal_arguments(builder, found, args, -1, value))
		value[0].slot = GPB_REFUSED;
	else
		value[0] = gpb_decimal_call(builder, found, value, args);
	return value[0];
}

/* The number of an argument that is a numeric constant, beside one that is none; else -1 */
static int
constant_beside(List *args)
{
	int			i;

	for (i = 0; list_length(args) == 2 && i < 2; i++)
	{
		Const	   *constant = list_nth(args, i);

		if (IsA(constant, Const) && !constant->constisnull &&
			constant->consttype == NUMERICOID && !IsA(list_nth(args, 1 - i), Const))
			return i;
	}
	return -1;
}

/*
 * The values of a function's arguments, numerics among them; or, of a comparison with a constant
 * that steps need not say, its result.  Returns false if there is that, in *slot, or if one is
 * refused.
 */
static bool
arguments_or_result(GpbProgramBuilder *builder, const GpbFunction *function, bool distinct,
					List *args, GpbDecimal *value, int *slot)
{
	int			constant = constant_beside(args);

	*slot = GPB_REFUSED;
	if (!decimal_arguments(builder, function, args, constant, value))
		return false;
	if (constant < 0)
		return true;
	if (gpb_decimal_compare_constant(builder, function, distinct, &value[1 - constant],
									 list_nth(args, constant), constant == 0, slot))
		return false;
	value[constant] = gpb_decimal_constant(builder, list_nth(args, constant));
	return value[constant].slot != GPB_REFUSED;
}

/* A call whose arguments may be numerics, and whose result is a word */
static int
decimal_call_slot(GpbProgramBuilder *builder, const GpbFunction *function, List *args)
{
	GpbDecimal	value[3] = {{0}};
	int			slot;

	if (!arguments_or_result(builder, function, false, args, value, &slot))
		return slot;
	return gpb_decimal_call(builder, function, value, args).slot;
}

static int
call_slot(GpbProgramBuilder *builder, Oid function, List *args)
{
	const GpbFunction *decimal = gpb_decimal_find(function);
	const GpbFunction *found;
	int			slot[3] = {0};

	if (gpb_uuid_comparison(builder, function, args, &slot[0]))
		return slot[0];
	if (decimal != NULL && !gpb_decimal_gives_numeric(decimal))
		return decimal_call_slot(builder, decimal, args);
	found = find_function(builder, function);
	if (found == NULL || !argument_slots(builder, found, args, slot))
		return GPB_REFUSED;
	return gpb_function_slot(builder, found, slot, args);
}

static int
distinct_slot(GpbProgramBuilder *builder, DistinctExpr *expression)
{
	const GpbFunction *decimal = gpb_decimal_find(expression->opfuncid);
	const GpbFunction *found;
	GpbDecimal	value[3] = {{0}};
	int			slot[3] = {0};

	if (gpb_uuid_distinct(builder, expression->opfuncid, expression->args, &slot[0]))
		return slot[0];
	if (decimal != NULL)
	{
		if (!gpb_decimal_is_equality(decimal, false))
			return gpb_refuse(builder, "IS DISTINCT FROM of numerics such as these");
		if (!arguments_or_result(builder, decimal, true, expression->args, value, &slot[0]))
			return slot[0];
		if (!gpb_decimal_has_scale(builder, &value[0]) ||
			!gpb_decimal_has_scale(builder, &value[1]))
			return gpb_refuse(builder, "IS DISTINCT FROM of numerics such as these");
		return gpb_decimal_distinct(builder, value);
	}
	found = find_function(builder, expression->opfuncid);
	if (found == NULL || !argument_slots(builder, found, expression->args, slot))
		return GPB_REFUSED;
	return gpb_function_distinct(builder, found, slot);
}

/* NULLIF(x, y) is x unless x = y. */
static int
null_if_slot(GpbProgramBuilder *builder, NullIfExpr *expression)
{
	const GpbFunction *found = find_function(builder, expression->opfuncid);
	int			slot[3] = {0};

	if (found == NULL || !argument_slots(builder, found, expression->args, slot))
		return GPB_REFUSED;
	return gpb_slot_step(builder, GPB_OP_SELECT,
						 gpb_function_slot(builder, found, slot, expression->args),
						 null_slot(builder), slot[0]);
}

/* ---- x = ANY (array), x <> ALL (array) ---- */

/* x = ANY of these words, or of NULL besides; there is at least one of them. */
static int
any_slot(GpbProgramBuilder *builder, int slot, const int64 *words, int n, bool has_null)
{
	if (n == 0)
		return null_slot(builder);
	slot = gpb_slot_in_words(builder, slot, words, n);
	return has_null ? STEP2(GPB_OP_OR, slot, null_slot(builder)) : slot;
}

/* x = ANY or <> ALL of numerics */
static int
decimal_array_slot(GpbProgramBuilder *builder, ScalarArrayOpExpr *expression, ArrayType *array)
{
	GpbDecimal	value = gpb_decimal_expression(builder, linitial(expression->args));
	int64	   *words;
	int			n;
	bool		has_null;
	int			slot;

	if (value.lower != 0 && gpb_decimal_has_scale(builder, &value))
	{
		GpbWideValue wide = {value.slot, value.lower, value.scale};

		slot = gpb_wide_any(builder, &wide, array);
		return expression->useOr ? slot : STEP1(GPB_OP_NOT, slot);
	}
	if (!gpb_decimal_is_whole(builder, &value))
		return GPB_REFUSED;
	if (ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) == 0)
		return boolean_slot(builder, !expression->useOr);
	words = gpb_decimal_elements(builder, array, &value, &n, &has_null);
	if (words == NULL)
		return GPB_REFUSED;
	slot = any_slot(builder, value.slot, words, n, has_null);
	return expression->useOr ? slot : STEP1(GPB_OP_NOT, slot);
}

/* x = ANY of an array that is known */
static int
known_array_slot(GpbProgramBuilder *builder, int slot, ArrayType *array)
{
	int64	   *words;
	int			n;
	bool		has_null;

	/* No element is equal to x, whether or not that is NULL. */
	if (ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) == 0)
		return boolean_slot(builder, false);
	words = gpb_array_words(array, &n, &has_null);
	return any_slot(builder, slot, words, n, has_null);
}

/* x = ANY of an array that has one value in an execution */
static int
bound_array_slot(GpbProgramBuilder *builder, int slot, Expr *array)
{
	if (!gpb_is_constant(array))
		return gpb_refuse(builder, "an array that is not the same for all rows");
	if (builder->guard != GPB_NO_SLOT && !gpb_is_harmless(builder, array))
		return gpb_refuse(builder, "an array that must not be evaluated before the first row");
	return gpb_slot_in_array(builder, slot, array);
}

static int
array_slot(GpbProgramBuilder *builder, ScalarArrayOpExpr *expression)
{
	const GpbFunction *decimal = gpb_decimal_find(expression->opfuncid);
	const GpbFunction *found;
	Expr	   *array = lsecond(expression->args);
	bool		is_known = IsA(array, Const) && !((Const *) array)->constisnull;
	Oid			type = get_base_element_type(exprType((Node *) array));
	int			slot;

	if (gpb_uuid_array(builder, expression, &slot))
		return slot;
	if (decimal != NULL && gpb_decimal_is_equality(decimal, !expression->useOr) && is_known)
		return decimal_array_slot(builder, expression,
								  DatumGetArrayTypeP(((Const *) array)->constvalue));
	found = find_function(builder, expression->opfuncid);
	if (found == NULL)
		return GPB_REFUSED;
	if (!gpb_function_is_equality(found, !expression->useOr))
		return gpb_refuse(builder, "comparison with an array that is neither = ANY nor <> ALL");
	if (!OidIsValid(gpb_word_type(type)))
		return gpb_refuse(builder, "array of %s", format_type_be(type));
	slot = gpb_expression_slot(builder, linitial(expression->args));
	if (gpb_word_is_float(gpb_word_type(type)))
		slot = STEP1(GPB_OP_FLOAT_ORDER, slot);
	if (slot == GPB_REFUSED)
		return GPB_REFUSED;
	slot = is_known ?
		known_array_slot(builder, slot, DatumGetArrayTypeP(((Const *) array)->constvalue)) :
		bound_array_slot(builder, slot, array);
	return expression->useOr ? slot : STEP1(GPB_OP_NOT, slot);
}

/* ---- choices ---- */

/* The value of a branch or an argument; of other types than numeric it is a word with scale 0. */
static GpbDecimal
chosen_value(GpbProgramBuilder *builder, Expr *expression)
{
	GpbDecimal	value = {0};

	if (is_numeric(expression))
		return gpb_decimal_expression(builder, expression);
	value.slot = gpb_expression_slot(builder, expression);
	return value;
}

/*
 * A choice between n values that is made from the last to the first: i unless condition[i] is
 * true
 */
static GpbDecimal
choose(GpbProgramBuilder *builder, const int *condition, GpbDecimal *value, int n,
	   bool is_numeric)
{
	GpbDecimal	choice = {0};
	int			i;

	if (is_numeric && !gpb_decimal_align(builder, value, n, &choice))
	{
		choice.slot = GPB_REFUSED;
		return choice;
	}
	choice.slot = value[n - 1].slot;
	choice.shown = value[n - 1].shown;
	for (i = n - 2; i >= 0; i--)
	{
		choice.slot = gpb_slot_step(builder, GPB_OP_SELECT, condition[i], value[i].slot,
									choice.slot);
		if (choice.varies)
			choice.shown = gpb_slot_step(builder, GPB_OP_SELECT, condition[i], value[i].shown,
										 choice.shown);
	}
	if (choice.shown == GPB_REFUSED)
		choice.slot = GPB_REFUSED;
	return choice;
}

/*
 * CASE: conditions and results in their order, each guarded by what core has found before it
 * evaluates it.
 */
static GpbDecimal
case_branches_value(GpbProgramBuilder *builder, CaseExpr *expression)
{
	int			n = list_length(expression->args);
	int			around = builder->guard;
	int		   *condition = palloc(sizeof(int) * (n + 1));
	GpbDecimal *result = palloc0(sizeof(GpbDecimal) * (n + 1));
	bool		needs_guard = gpb_needs_guard(builder, (Node *) expression);
	int			i;

	for (i = 0; i < n; i++)
	{
		CaseWhen   *when = list_nth(expression->args, i);
		int			guard;

		result[i].slot = condition[i] = gpb_expression_slot(builder, when->expr);
		if (condition[i] == GPB_REFUSED)
			return result[i];
		guard = builder->guard;
		if (gpb_needs_guard(builder, (Node *) when->result))
			gpb_guard_by(builder, condition[i]);
		result[i] = chosen_value(builder, when->result);
		builder->guard = guard;
		if (result[i].slot == GPB_REFUSED)
			return result[i];
		if (needs_guard)
			gpb_guard_by(builder, unless(builder, condition[i]));
	}
	if (expression->defresult != NULL)
		result[n] = chosen_value(builder, expression->defresult);
	else
	{
		result[n].slot = null_slot(builder);
		result[n].is_null = true;
	}
	/* All results are brought to one scale, where a step must fault whichever branch it is of. */
	builder->guard = around;
	return choose(builder, condition, result, n + 1, is_numeric((Expr *) expression));
}

/* In the conditions of a CASE with an operand a CaseTestExpr stands for that. */
static GpbDecimal
case_value(GpbProgramBuilder *builder, CaseExpr *expression)
{
	int			guard = builder->guard;
	int			case_value = builder->case_value;
	GpbDecimal	result = {GPB_REFUSED};

	if (expression->arg != NULL)
	{
		int			value = gpb_expression_slot(builder, expression->arg);

		if (value == GPB_REFUSED)
			return result;
		builder->case_value = value;
	}
	result = case_branches_value(builder, expression);
	builder->guard = guard;
	builder->case_value = case_value;
	return result;
}

/* COALESCE of words, whose arguments are not NULL before */
static int
coalesced(GpbProgramBuilder *builder, const GpbDecimal *value, int n)
{
	int			result = value[0].slot;
	int			i;

	for (i = 1; i < n; i++)
		result = STEP2(GPB_OP_COALESCE, result, value[i].slot);
	return result;
}

/* COALESCE of numerics: the digits that are displayed are those of the first that is not NULL. */
static GpbDecimal
decimal_coalesced(GpbProgramBuilder *builder, GpbDecimal *value, int n)
{
	GpbDecimal	choice;
	int			i;

	if (!gpb_decimal_align(builder, value, n, &choice))
	{
		choice.slot = GPB_REFUSED;
		return choice;
	}
	choice.slot = coalesced(builder, value, n);
	choice.shown = value[n - 1].shown;
	for (i = n - 2; choice.varies && i >= 0; i--)
		choice.shown = gpb_slot_step(builder, GPB_OP_SELECT,
									 STEP1(GPB_OP_IS_NULL, value[i].slot), choice.shown,
									 value[i].shown);
	if (choice.shown == GPB_REFUSED)
		choice.slot = GPB_REFUSED;
	return choice;
}

/* COALESCE: core evaluates an argument if all before are NULL. */
static GpbDecimal
coalesce_value(GpbProgramBuilder *builder, CoalesceExpr *expression)
{
	int			guard = builder->guard;
	int			n = list_length(expression->args);
	GpbDecimal *value = palloc0(sizeof(GpbDecimal) * n);
	GpbDecimal	result = {0};
	ListCell   *lc;

	foreach(lc, expression->args)
	{
		int			i = foreach_current_index(lc);

		if (i > 0 && gpb_needs_guard(builder, lfirst(lc)))
			gpb_guard_by(builder, STEP1(GPB_OP_IS_NULL, coalesced(builder, value, i)));
		value[i] = chosen_value(builder, lfirst(lc));
		builder->guard = guard;
		if (value[i].slot == GPB_REFUSED)
			return value[i];
	}
	if (is_numeric((Expr *) expression))
		return decimal_coalesced(builder, value, n);
	result.slot = coalesced(builder, value, n);
	return result;
}

/* GREATEST and LEAST: of equal values the first, as core has it. */
static GpbDecimal
min_max_value(GpbProgramBuilder *builder, MinMaxExpr *expression)
{
	bool		is_float = gpb_word_is_float(gpb_word_type(expression->minmaxtype));
	int			n = list_length(expression->args);
	GpbDecimal *value = palloc0(sizeof(GpbDecimal) * n);
	GpbDecimal	result = {GPB_REFUSED};
	int			op;
	int			i;

	if (!gpb_word_is_ordered(gpb_word_type(expression->minmaxtype)))
	{
		(void) gpb_refuse(builder, "order of type %s", format_type_be(expression->minmaxtype));
		return result;
	}
	if (expression->op == IS_LEAST)
		op = is_float ? GPB_OP_FLOAT_LEAST : GPB_OP_LEAST;
	else
		op = is_float ? GPB_OP_FLOAT_GREATEST : GPB_OP_GREATEST;
	for (i = 0; i < n; i++)
	{
		value[i] = chosen_value(builder, list_nth(expression->args, i));
		if (value[i].slot == GPB_REFUSED)
			return result;
	}
	if (is_numeric((Expr *) expression) &&
		(!gpb_decimal_align(builder, value, n, &result) || !gpb_decimal_is_whole(builder, &result)))
	{
		result.slot = GPB_REFUSED;
		return result;
	}
	result.slot = value[0].slot;
	for (i = 1; i < n; i++)
		result.slot = STEP2(op, result.slot, value[i].slot);
	return result;
}

/* What is of type numeric has a scale, which whoever asks for a slot alone does not get. */
static int
refuse_numeric(GpbProgramBuilder *builder)
{
	return gpb_refuse(builder, "a value of type numeric in such a place");
}

/* A value shown as another type: one of the same words, as a domain's base type is */
static int
relabeled_slot(GpbProgramBuilder *builder, RelabelType *relabel)
{
	Oid			type = gpb_word_type(relabel->resulttype);

	if (!OidIsValid(type) || type != gpb_word_type(exprType((Node *) relabel->arg)))
		return gpb_refuse(builder, "type %s", format_type_be(relabel->resulttype));
	return gpb_expression_slot(builder, relabel->arg);
}

/* ---- row comparisons ---- */

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
	return gpb_expression_slot(builder, make_orclause(arms));
}

/* ---- all expressions ---- */

/* The value of an expression that is no constant, or must not be evaluated as one */
static int
varying_slot(GpbProgramBuilder *builder, Expr *expression)
{
	switch (nodeTag(expression))
	{
		case T_Var:
			return is_numeric(expression) ? refuse_numeric(builder) :
				column_slot(builder, (Var *) expression);
		case T_RelabelType:
			return relabeled_slot(builder, (RelabelType *) expression);
		case T_BoolExpr:
			return boolean_expression_slot(builder, (BoolExpr *) expression);
		case T_NullTest:
			return null_test_slot(builder, (NullTest *) expression);
		case T_RowCompareExpr:
			return row_comparison_slot(builder, (RowCompareExpr *) expression);
		case T_BooleanTest:
			return boolean_test_slot(builder, (BooleanTest *) expression);
		case T_FuncExpr:
			return call_slot(builder, ((FuncExpr *) expression)->funcid,
							 ((FuncExpr *) expression)->args);
		case T_OpExpr:
			set_opfuncid((OpExpr *) expression);
			return call_slot(builder, ((OpExpr *) expression)->opfuncid,
							 ((OpExpr *) expression)->args);
		case T_DistinctExpr:
			set_opfuncid((OpExpr *) expression);
			return distinct_slot(builder, (DistinctExpr *) expression);
		case T_NullIfExpr:
			set_opfuncid((OpExpr *) expression);
			return null_if_slot(builder, (NullIfExpr *) expression);
		case T_ScalarArrayOpExpr:
			set_sa_opfuncid((ScalarArrayOpExpr *) expression);
			return array_slot(builder, (ScalarArrayOpExpr *) expression);
		case T_CaseExpr:
			return is_numeric(expression) ? refuse_numeric(builder) :
				case_value(builder, (CaseExpr *) expression).slot;
		case T_CaseTestExpr:
			return builder->case_value;
		case T_CoalesceExpr:
			return is_numeric(expression) ? refuse_numeric(builder) :
				coalesce_value(builder, (CoalesceExpr *) expression).slot;
		case T_MinMaxExpr:
			return is_numeric(expression) ? refuse_numeric(builder) :
				min_max_value(builder, (MinMaxExpr *) expression).slot;
		case T_Param:
		case T_SubLink:
		case T_SubPlan:
		case T_AlternativeSubPlan:
			return gpb_refuse(builder, "a subquery");
		case T_CoerceViaIO:
		case T_CoerceToDomain:
			return gpb_refuse(builder, "cast to %s",
							  format_type_be(exprType((Node *) expression)));
		default:
			return gpb_refuse(builder, "an expression that is none of the known kinds");
	}
}

/*
 * What has no columns is evaluated once, before the first entry.  If that might raise an error that
 * core would not meet, since it skips this part of the expression, steps are made of it instead.
 */
int
gpb_expression_slot(GpbProgramBuilder *builder, Expr *expression)
{
	int			slot;

	check_stack_depth();
	slot = gpb_condition_on_code(builder, expression);
	if (slot != GPB_REFUSED)
		return slot;
	if (gpb_is_constant(expression) &&
		(builder->guard == GPB_NO_SLOT || gpb_is_harmless(builder, expression)))
		return constant_slot(builder, expression);
	return varying_slot(builder, expression);
}

/* The value of an expression, but for a column of 16 bytes that is no numeric */
static GpbDecimal
word_or_numeric(GpbProgramBuilder *builder, Expr *expression)
{
	GpbDecimal	value = {0};

	if (gpb_is_code_column(builder, expression, &value.slot))
		value.slot = gpb_code_slot(builder, expression, &value.type);
	else if (is_numeric(expression))
		value = gpb_decimal_expression(builder, expression);
	else
	{
		value.slot = gpb_expression_slot(builder, expression);
		value.type = gpb_word_type(exprType((Node *) expression));
	}
	return value;
}

GpbDecimal
gpb_any_expression(GpbProgramBuilder *builder, Expr *expression)
{
	GpbDecimal	value;
	GpbWideValue wide;

	if (gpb_is_wide_column(builder, expression, &wide))
	{
		value = gpb_decimal_column(wide.upper, wide.lower, wide.scale);
		value.type = wide.scale < 0 ? UUIDOID : InvalidOid;
		return value;
	}
	value = word_or_numeric(builder, expression);
	if (value.slot == GPB_REFUSED)
		value.lower = 0;
	return value;
}

Oid
gpb_value_type(const GpbDecimal *value)
{
	if (OidIsValid(value->type))
		return value->type;
	if (value->lower != 0)
		return gpb_wide_numeric_type(value->scale);
	return value->is_column ? gpb_numeric_column_type(value->scale) :
		gpb_decimal_type(value->scale);
}

int
gpb_typed_expression_slot(GpbProgramBuilder *builder, Expr *expression, Oid *type)
{
	GpbDecimal	value = word_or_numeric(builder, expression);

	if (!gpb_decimal_is_whole(builder, &value))
		return GPB_REFUSED;
	*type = gpb_value_type(&value);
	return value.slot;
}
