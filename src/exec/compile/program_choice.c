/*-------------------------------------------------------------------------
 *
 * program_choice.c
 *	  Choices between values in a program: CASE, COALESCE, NULLIF, GREATEST and LEAST.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/regproc.h"

#include "exec/compile/program_build_internal.h"
#include "exec/compile/program_decimal.h"
#include "program/program_steps.h"

/*
 * Fill in what n values have in common that an expression chooses from, and bring numerics to one
 * scale.  Returns false if it is refused.
 */
static bool
align(GpbProgramBuilder *builder, Expr *expression, GpbTyped *value, int n, GpbTyped *choice)
{
	*choice = gpb_word(value[0].slot);
	return !gpb_is_numeric(exprType((Node *) expression)) ||
		gpb_decimal_align(builder, value, n, choice);
}

/* ---- CASE ---- */

/*
 * The choice between n values that is made from the last to the first: i unless condition[i] is
 * true
 */
static GpbTyped
choose(GpbProgramBuilder *builder, Expr *expression, const int *condition, GpbTyped *value, int n)
{
	GpbTyped	choice;
	int			i;

	if (!align(builder, expression, value, n, &choice))
		return GPB_NO_VALUE;
	choice.slot = value[n - 1].slot;
	choice.shown = value[n - 1].shown;
	for (i = n - 2; i >= 0; i--)
	{
		choice.slot = STEP3(GPB_OP_SELECT, condition[i], value[i].slot, choice.slot);
		if (choice.shown != 0)
			choice.shown = STEP3(GPB_OP_SELECT, condition[i], value[i].shown, choice.shown);
	}
	return choice.shown == GPB_REFUSED ? GPB_NO_VALUE : choice;
}

/*
 * CASE: conditions and results in their order, each guarded by what core has found before it
 * evaluates it.
 */
static GpbTyped
case_branches(GpbProgramBuilder *builder, CaseExpr *expression)
{
	int			n = list_length(expression->args);
	int			around = builder->guard;
	int		   *condition = palloc(sizeof(int) * (n + 1));
	GpbTyped   *result = palloc0(sizeof(GpbTyped) * (n + 1));
	bool		needs_guard = gpb_needs_guard(builder, (Node *) expression);
	int			i;

	for (i = 0; i < n; i++)
	{
		CaseWhen   *when = list_nth(expression->args, i);
		int			guard;

		condition[i] = gpb_word_slot(builder, when->expr);
		if (condition[i] == GPB_REFUSED)
			return GPB_NO_VALUE;
		guard = builder->guard;
		if (gpb_needs_guard(builder, (Node *) when->result))
			gpb_guard_by(builder, condition[i]);
		result[i] = gpb_plain_value(builder, when->result);
		builder->guard = guard;
		if (result[i].slot == GPB_REFUSED)
			return GPB_NO_VALUE;
		if (needs_guard)
			gpb_guard_by(builder, gpb_unless(builder, condition[i]));
	}
	if (expression->defresult != NULL)
		result[n] = gpb_plain_value(builder, expression->defresult);
	else
		result[n] = (GpbTyped) {.slot = gpb_slot_null(builder), .is_null = true};
	/* All results are brought to one scale, where a step must fault whichever branch it is of. */
	builder->guard = around;
	return choose(builder, (Expr *) expression, condition, result, n + 1);
}

/* In the conditions of a CASE with an operand a CaseTestExpr stands for that. */
GpbTyped
gpb_case(GpbProgramBuilder *builder, CaseExpr *expression)
{
	int			guard = builder->guard;
	int			case_value = builder->case_value;
	GpbTyped	result;

	if (expression->arg != NULL)
	{
		int			value = gpb_word_slot(builder, expression->arg);

		if (value == GPB_REFUSED)
			return GPB_NO_VALUE;
		builder->case_value = value;
	}
	result = case_branches(builder, expression);
	builder->guard = guard;
	builder->case_value = case_value;
	return result;
}

/* ---- COALESCE ---- */

/* The first of n words that is not NULL */
static int
coalesced(GpbProgramBuilder *builder, const GpbTyped *value, int n)
{
	int			result = value[0].slot;
	int			i;

	for (i = 1; i < n; i++)
		result = STEP2(GPB_OP_COALESCE, result, value[i].slot);
	return result;
}

/*
 * COALESCE: core evaluates an argument if all before are NULL.  The digits of a numeric that are
 * displayed are those of the first that is not NULL.
 */
GpbTyped
gpb_coalesce(GpbProgramBuilder *builder, CoalesceExpr *expression)
{
	int			guard = builder->guard;
	int			n = list_length(expression->args);
	GpbTyped   *value = palloc0(sizeof(GpbTyped) * n);
	GpbTyped	choice;
	int			i;

	for (i = 0; i < n; i++)
	{
		Expr	   *argument = list_nth(expression->args, i);

		if (i > 0 && gpb_needs_guard(builder, (Node *) argument))
			gpb_guard_by(builder, STEP1(GPB_OP_IS_NULL, coalesced(builder, value, i)));
		value[i] = gpb_plain_value(builder, argument);
		builder->guard = guard;
		if (value[i].slot == GPB_REFUSED)
			return GPB_NO_VALUE;
	}
	if (!align(builder, (Expr *) expression, value, n, &choice))
		return GPB_NO_VALUE;
	choice.slot = coalesced(builder, value, n);
	choice.shown = value[n - 1].shown;
	for (i = n - 2; choice.shown != 0 && i >= 0; i--)
		choice.shown = STEP3(GPB_OP_SELECT, STEP1(GPB_OP_IS_NULL, value[i].slot), choice.shown,
							 value[i].shown);
	return choice.shown == GPB_REFUSED ? GPB_NO_VALUE : choice;
}

/* ---- NULLIF ---- */

/* NULLIF(x, y) is x unless x = y. */
GpbTyped
gpb_null_if(GpbProgramBuilder *builder, NullIfExpr *expression)
{
	const GpbFunction *found = gpb_find_function(builder, expression->opfuncid);
	GpbTyped	value[3] = {{0}};
	GpbTyped	result;
	int			null;

	if (found == NULL)
		return GPB_NO_VALUE;
	if (found->call == GPB_CALL_COMPARE_UUIDS)
		return gpb_no_value(builder, "function %s", format_procedure(expression->opfuncid));
	if (!gpb_arguments(builder, found, expression->args, -1, value) ||
		!gpb_decimal_is_whole(builder, &value[0]) || !gpb_decimal_is_whole(builder, &value[1]))
		return GPB_NO_VALUE;
	result = value[0];
	result.is_constant = false;
	null = gpb_slot_null(builder);
	result.slot = STEP3(GPB_OP_SELECT, gpb_compared_slot(builder, found, found->op, value), null,
						value[0].slot);
	return result;
}

/* ---- GREATEST and LEAST ---- */

/* Of equal values the first, as core has it */
GpbTyped
gpb_min_max(GpbProgramBuilder *builder, MinMaxExpr *expression)
{
	Oid			type = gpb_word_type(expression->minmaxtype);
	bool		is_float = gpb_word_is_float(type);
	int			n = list_length(expression->args);
	GpbTyped   *value = palloc0(sizeof(GpbTyped) * n);
	GpbTyped	result;
	int			op;
	int			i;

	if (!gpb_word_is_ordered(type))
		return gpb_no_value(builder, "order of type %s", format_type_be(expression->minmaxtype));
	if (expression->op == IS_LEAST)
		op = is_float ? GPB_OP_FLOAT_LEAST : GPB_OP_LEAST;
	else
		op = is_float ? GPB_OP_FLOAT_GREATEST : GPB_OP_GREATEST;
	for (i = 0; i < n; i++)
	{
		value[i] = gpb_plain_value(builder, list_nth(expression->args, i));
		if (value[i].slot == GPB_REFUSED)
			return GPB_NO_VALUE;
	}
	if (!align(builder, (Expr *) expression, value, n, &result) ||
		!gpb_decimal_is_whole(builder, &result))
		return GPB_NO_VALUE;
	result.slot = value[0].slot;
	for (i = 1; i < n; i++)
		result.slot = STEP2(op, result.slot, value[i].slot);
	return result;
}
