/*-------------------------------------------------------------------------
 *
 * program_compare.c
 *	  Comparisons in a program, IS DISTINCT FROM, and those with the elements of an array.
 *
 * A numeric constant beside a column, or beside what has 16 bytes, becomes the least number of its
 * scale that is not below it, so it may have digits that no such number has, or be beyond all of
 * them, or no number.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"
#include "utils/uuid.h"

#include "exec/compile/program_build_internal.h"
#include "exec/compile/program_decimal.h"
#include "exec/compile/program_halves.h"
#include "page/base_type.h"
#include "page/numeric.h"
#include "program/program_steps.h"

/* Each element of 16 bytes takes three steps. */
#define GPB_WIDE_ELEMENTS	20

bool
gpb_function_compares(const GpbFunction *function)
{
	return function->call >= GPB_CALL_COMPARE && function->call <= GPB_CALL_COMPARE_UUIDS;
}

/* Is the function "=" (or, if "negated", "<>") of values of one type? */
static bool
is_equality(const GpbFunction *function, bool negated)
{
	return function->op == (negated ? GPB_OP_NE : GPB_OP_EQ) &&
		(function->call == GPB_CALL_COMPARE || function->call == GPB_CALL_COMPARE_FLOATS ||
		 function->call == GPB_CALL_COMPARE_NUMERICS || function->call == GPB_CALL_COMPARE_UUIDS);
}

/* The operator that gives "b op a" for "a op b" */
static GpbOperator
commuted(GpbOperator op)
{
	switch (op)
	{
		case GPB_OP_LT:
			return GPB_OP_GT;
		case GPB_OP_LE:
			return GPB_OP_GE;
		case GPB_OP_GT:
			return GPB_OP_LT;
		case GPB_OP_GE:
			return GPB_OP_LE;
		default:
			return op;
	}
}

/* ---- two values ---- */

static int
equal_halves(GpbProgramBuilder *builder, const GpbTyped *a, const GpbTyped *b)
{
	return STEP2(GPB_OP_AND, STEP2(GPB_OP_EQ, a->slot, b->slot),
				 STEP2(GPB_OP_EQ, a->lower, b->lower));
}

/* A comparison of values of 16 bytes; a value's halves are both NULL or neither is. */
static int
compared_halves(GpbProgramBuilder *builder, GpbOperator op, const GpbTyped *a, const GpbTyped *b)
{
	GpbOperator strict = op == GPB_OP_LT || op == GPB_OP_LE ? GPB_OP_LT : GPB_OP_GT;

	if (a->slot == GPB_REFUSED || b->slot == GPB_REFUSED)
		return GPB_REFUSED;
	if (op == GPB_OP_EQ)
		return equal_halves(builder, a, b);
	if (op == GPB_OP_NE)
		return STEP1(GPB_OP_NOT, equal_halves(builder, a, b));
	if (op == GPB_OP_DISTINCT)
		return STEP2(GPB_OP_OR, STEP2(op, a->slot, b->slot), STEP2(op, a->lower, b->lower));
	return STEP2(GPB_OP_OR, STEP2(strict, a->slot, b->slot),
				 STEP2(GPB_OP_AND, STEP2(GPB_OP_EQ, a->slot, b->slot),
					   STEP2(op, a->lower, b->lower)));
}

/*
 * A comparison of numerics.  A column's NaN is above all that is computed, as it should be: it is
 * the greatest of all words, but what is computed may be that too.  With 16 bytes a step for
 * another scale faults there.
 */
static int
compared_numerics(GpbProgramBuilder *builder, GpbOperator op, const GpbTyped *value)
{
	bool		wide = value[0].lower != 0 || value[1].lower != 0;
	int			scale = Max(value[0].type.scale, value[1].type.scale);
	GpbTyped	number[2];
	int			i;

	for (i = 0; i < 2; i++)
	{
		const GpbTyped *other = &value[1 - i];

		if ((wide || op == GPB_OP_DISTINCT || value[i].divisor != 0) &&
			!gpb_decimal_has_scale(builder, &value[i]))
			return op != GPB_OP_DISTINCT ? GPB_REFUSED :
				gpb_refuse(builder, "IS DISTINCT FROM of numerics such as these");
		number[i] = !wide && (other->type.class == GPB_WORDS_NUMERIC || other->is_constant ||
							  other->is_null) ? value[i] : gpb_decimal_number(builder, &value[i]);
		if (number[i].slot == GPB_REFUSED)
			return GPB_REFUSED;
		if (wide)
			number[i] = gpb_halves_at_scale(builder, &number[i], scale);
	}
	if (wide)
		return compared_halves(builder, op, &number[0], &number[1]);
	return gpb_decimal_operated(builder, op, number).slot;
}

/* The operand of a comparison of words that stands for argument i of the function */
static int
operand(GpbProgramBuilder *builder, const GpbFunction *function, int i, int slot)
{
	switch (function->call)
	{
		case GPB_CALL_COMPARE_FLOATS:
			return STEP1(GPB_OP_FLOAT_ORDER, slot);
		case GPB_CALL_COMPARE_DATE:
			return i == 0 ? STEP1(GPB_OP_DATE_TO_TIMESTAMP, slot) : slot;
		case GPB_CALL_COMPARE_WITH_DATE:
			return i == 1 ? STEP1(GPB_OP_DATE_TO_TIMESTAMP, slot) : slot;
		case GPB_CALL_COMPARE_LOCAL:
			return i == 0 ? gpb_moment_slot(builder, function->then, slot) : slot;
		case GPB_CALL_COMPARE_WITH_LOCAL:
			return i == 1 ? gpb_moment_slot(builder, function->then, slot) : slot;
		default:
			return slot;
	}
}

int
gpb_compared_slot(GpbProgramBuilder *builder, const GpbFunction *function, GpbOperator op,
				  const GpbTyped *value)
{
	int			left;

	if (function->call == GPB_CALL_COMPARE_NUMERICS)
		return compared_numerics(builder, op, value);
	if (function->call == GPB_CALL_COMPARE_UUIDS)
		return compared_halves(builder, op, &value[0], &value[1]);
	left = operand(builder, function, 0, value[0].slot);
	return STEP2(op, left, operand(builder, function, 1, value[1].slot));
}

/* ---- constants ---- */

/*
 * The bound at a numeric constant, of the class and scale of a column or of 16 bytes.  *op becomes
 * the operator by which the value is compared with the bound in the place of the constant.
 */
static GpbTyped
bound_value(GpbProgramBuilder *builder, const GpbTyped *value, Datum constant, GpbOperator *op)
{
	bool		wide = value->lower != 0;
	int			scale = value->type.scale;
	bool		equal;
	int128		bound = wide ? gpb_wide_numeric_ceiling(constant, scale, &equal) :
		gpb_numeric_ceiling(constant, scale, &equal);

	if (!equal)
	{
		/*
		 * Between two numbers.  No value of a column has the least of all words, and no value of 16
		 * bytes, which may be computed with 39 digits, but NaN has NaN's upper half.
		 */
		*op = *op == GPB_OP_LE ? GPB_OP_LT : *op == GPB_OP_GT ? GPB_OP_GE : *op;
		if (*op == GPB_OP_EQ || *op == GPB_OP_NE || *op == GPB_OP_DISTINCT)
			bound = wide ? GPB_WIDE_NUMERIC_NAN - 1 : PG_INT64_MIN;
	}
	return wide ? gpb_halves_number(builder, bound, scale) :
		gpb_word(gpb_slot_word(builder, (int64) bound));
}

/* The halves of a uuid that has one value in an execution */
static GpbTyped
constant_uuid(GpbProgramBuilder *builder, Expr *expression)
{
	GpbTyped	value = {GPB_REFUSED};

	if (gpb_base_type(exprType((Node *) expression)) != UUIDOID || !gpb_is_constant(expression) ||
		(builder->guard != GPB_NO_SLOT && !gpb_is_harmless(builder, expression)))
	{
		(void) gpb_refuse(builder, "a uuid that is neither a column nor a constant");
		return value;
	}
	value.type = gpb_class_type(GPB_WORDS_UUID, 0);
	value.slot = gpb_slot_constant(builder, expression, gpb_class_type(GPB_WORDS_UUID_UPPER, 0));
	value.lower = gpb_slot_constant(builder, expression, gpb_class_type(GPB_WORDS_UUID_LOWER, 0));
	return value;
}

/*
 * The number of the argument that is taken for a constant, beside one that is none; -1 if there is
 * none such: a numeric that is not NULL, or a uuid, if the other is a column.
 */
static int
constant_beside(GpbProgramBuilder *builder, const GpbFunction *function, List *args)
{
	int			slot;
	int			i;

	for (i = 0; i < 2; i++)
	{
		Const	   *constant = list_nth(args, i);
		Expr	   *other = list_nth(args, 1 - i);

		if (function->call == GPB_CALL_COMPARE_UUIDS ?
			gpb_is_counted_wide(builder, other, &slot) &&
			!gpb_is_counted_wide(builder, (Expr *) constant, &slot) :
			function->call == GPB_CALL_COMPARE_NUMERICS && IsA(constant, Const) &&
			!constant->constisnull && constant->consttype == NUMERICOID && !IsA(other, Const))
			return i;
	}
	return -1;
}

/* A comparison of a uuid or a numeric with argument number i, which is a constant */
static int
compared_constant(GpbProgramBuilder *builder, const GpbFunction *function, GpbOperator op,
				  GpbTyped *value, Expr *constant, int i)
{
	const GpbTyped *other = &value[1 - i];
	GpbOperator by = i == 0 ? commuted(op) : op;
	bool		is_uuid = function->call == GPB_CALL_COMPARE_UUIDS;
	GpbTyped	bound;

	if (is_uuid || (other->lower != 0 && other->shown == 0 && other->divisor == 0))
	{
		bound = is_uuid ? constant_uuid(builder, constant) :
			bound_value(builder, other, ((Const *) constant)->constvalue, &by);
		return compared_halves(builder, by, other, &bound);
	}
	if (other->type.class == GPB_WORDS_NUMERIC && other->shown == 0 && op != GPB_OP_DISTINCT)
	{
		bound = bound_value(builder, other, ((Const *) constant)->constvalue, &by);
		return STEP2(by, other->slot, bound.slot);
	}
	value[i] = gpb_decimal_constant(builder, (Const *) constant);
	return value[i].slot == GPB_REFUSED ? GPB_REFUSED :
		gpb_compared_slot(builder, function, op, value);
}

/* Is it a comparison that IS DISTINCT FROM can be made of?  If not, refuse it. */
static bool
can_be_distinct(GpbProgramBuilder *builder, const GpbFunction *function)
{
	if (function->op != GPB_OP_EQ || !gpb_function_compares(function) ||
		function->call == GPB_CALL_COMPARE_LOCAL || function->call == GPB_CALL_COMPARE_WITH_LOCAL)
		return gpb_cannot(builder, "IS DISTINCT FROM of these types");
	return true;
}

int
gpb_comparison_slot(GpbProgramBuilder *builder, const GpbFunction *function, GpbOperator op,
					List *args)
{
	GpbTyped	value[3] = {{0}};
	int			constant;

	if (op == GPB_OP_DISTINCT && !can_be_distinct(builder, function))
		return GPB_REFUSED;
	constant = constant_beside(builder, function, args);
	if (!gpb_arguments(builder, function, args, constant, value))
		return GPB_REFUSED;
	return constant < 0 ? gpb_compared_slot(builder, function, op, value) :
		compared_constant(builder, function, op, value, list_nth(args, constant), constant);
}

/* ---- x = ANY (array), x <> ALL (array) ---- */

/* x = ANY of an array of values of 16 bytes, which has elements */
static int
any_of_halves(GpbProgramBuilder *builder, const GpbTyped *value, ArrayType *array)
{
	Datum	   *element;
	bool	   *nulls;
	int			n = gpb_array_elements(array, &element, &nulls);
	int			slot = gpb_slot_boolean(builder, false);
	int			i;

	if (n > GPB_WIDE_ELEMENTS)
		return gpb_refuse(builder, "an array of more than %d values of 16 bytes",
						  GPB_WIDE_ELEMENTS);
	for (i = 0; i < n; i++)
	{
		GpbOperator op = GPB_OP_EQ;
		GpbTyped	other;
		int			next;

		if (nulls[i])
			next = gpb_slot_const(builder, makeNullConst(BOOLOID, -1, InvalidOid));
		else
		{
			other = value->type.class == GPB_WORDS_UUID ?
				constant_uuid(builder, (Expr *) makeConst(UUIDOID, -1, InvalidOid, UUID_LEN,
														  element[i], false, false)) :
				bound_value(builder, value, element[i], &op);
			next = compared_halves(builder, GPB_OP_EQ, value, &other);
		}
		slot = i == 0 ? next : STEP2(GPB_OP_OR, slot, next);
	}
	return slot;
}

/* Have a value's steps done for their faults, though no step takes it. */
static void
keep(GpbProgramBuilder *builder, const GpbTyped *value)
{
	(void) gpb_slot_kept(builder, value->slot);
	if (value->lower != 0)
		(void) gpb_slot_kept(builder, value->lower);
}

/* x = ANY of an array that is known */
static int
any_of_known(GpbProgramBuilder *builder, const GpbFunction *function, GpbTyped *value,
			 ArrayType *array)
{
	int64	   *words;
	int			n;
	bool		has_null;
	int			slot;

	/* No element is equal to x, whether or not that is NULL; but it is evaluated. */
	if (ArrayGetNItems(ARR_NDIM(array), ARR_DIMS(array)) == 0)
	{
		keep(builder, value);
		return gpb_slot_boolean(builder, false);
	}
	if (value->lower != 0)
		return any_of_halves(builder, value, array);
	words = function->call == GPB_CALL_COMPARE_NUMERICS ?
		gpb_decimal_elements(builder, array, value, &n, &has_null) :
		gpb_array_words(array, &n, &has_null);
	if (words == NULL)
		return GPB_REFUSED;
	if (n == 0)
	{
		keep(builder, value);
		return gpb_slot_null(builder);
	}
	slot = gpb_slot_in_words(builder, value->slot, words, n);
	return has_null ? STEP2(GPB_OP_OR, slot, gpb_slot_null(builder)) : slot;
}

/* x = ANY of an array that has one value in an execution */
static int
any_of_bound(GpbProgramBuilder *builder, int slot, Expr *array)
{
	if (!gpb_is_constant(array))
		return gpb_refuse(builder, "an array that is not the same for all rows");
	if (builder->guard != GPB_NO_SLOT && !gpb_is_harmless(builder, array))
		return gpb_refuse(builder, "an array that must not be evaluated before the first row");
	return gpb_slot_in_array(builder, slot, array);
}

/* Is it a comparison with an array that steps can say, but for the values?  If not, refuse it. */
static bool
array_fits(GpbProgramBuilder *builder, const ScalarArrayOpExpr *expression,
		   const GpbFunction *function, bool is_known)
{
	Oid			type = get_base_element_type(exprType(lsecond(expression->args)));
	bool		fits = is_equality(function, !expression->useOr);

	if (function->call == GPB_CALL_COMPARE_NUMERICS && !(fits && is_known))
		return gpb_cannot(builder, "function %s", format_procedure(expression->opfuncid));
	if (!fits)
		return gpb_cannot(builder, "comparison with an array that is neither = ANY nor <> ALL");
	if (function->call == GPB_CALL_COMPARE_UUIDS && !is_known)
		return gpb_cannot(builder,
						  "an array of values of 16 bytes that planning does not know");
	if (function->call < GPB_CALL_COMPARE_NUMERICS && !OidIsValid(gpb_word_type(type)))
		return gpb_cannot(builder, "array of %s", format_type_be(type));
	return true;
}

int
gpb_array_slot(GpbProgramBuilder *builder, ScalarArrayOpExpr *expression)
{
	const GpbFunction *found = gpb_find_function(builder, expression->opfuncid);
	Const	   *array = lsecond(expression->args);
	bool		is_known = IsA(array, Const) && !array->constisnull;
	GpbTyped	value;
	int			slot;

	if (found == NULL || !array_fits(builder, expression, found, is_known))
		return GPB_REFUSED;
	value = gpb_value(builder, linitial(expression->args));
	value.slot = operand(builder, found, 0, value.slot);
	if (!gpb_decimal_has_scale(builder, &value))
		return GPB_REFUSED;
	slot = is_known ?
		any_of_known(builder, found, &value, DatumGetArrayTypeP(array->constvalue)) :
		any_of_bound(builder, value.slot, (Expr *) array);
	return expression->useOr ? slot : STEP1(GPB_OP_NOT, slot);
}
