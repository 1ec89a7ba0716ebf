/*-------------------------------------------------------------------------
 *
 * program_wide.c
 *	  Values of 16 bytes in a program: a uuid, or a numeric of 128 bits, as two words.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/array.h"
#include "utils/builtins.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"
#include "utils/uuid.h"

#include "exec/compile/program_decimal.h"
#include "exec/compile/program_wide.h"
#include "exec/compile/program_words.h"
#include "exec/shell/index_columns.h"
#include "page/coding.h"
#include "program/program_steps.h"

/* Shorter names for what is used all the time */
#define STEP1(op, a)		gpb_slot_step(builder, op, a, 0, 0)
#define STEP2(op, a, b)		gpb_slot_step(builder, op, a, b, 0)

/* Each element takes three steps. */
#define GPB_WIDE_ELEMENTS	20

static const GpbWideValue refused = {GPB_REFUSED, GPB_REFUSED, 0};

/* ---- columns ---- */

/* The slot of a column's lower halves, which the program reads from now on */
static int
lower_slot(GpbProgramBuilder *builder, int column)
{
	GpbProgram *program = &builder->program;
	int			columns = gpb_index_column_slots(builder->index);
	int			i;

	for (i = 0; i < program->nhalves; i++)
	{
		if (program->half[i] == column)
			return columns + i;
	}
	if (i == GPB_MAX_HALVES || columns + i == GPB_MAX_COLUMNS)
		return gpb_refuse(builder, "more columns of 16 bytes, of an index of so many columns");
	program->half[program->nhalves++] = (uint8) column;
	return columns + i;
}

bool
gpb_is_counted_wide(GpbProgramBuilder *builder, Expr *expression, int *column)
{
	IndexOptInfo *index = builder->index;
	Var		   *var;

	/* A domain's value, or one with another type modifier that it fits */
	while (IsA(expression, RelabelType))
		expression = ((RelabelType *) expression)->arg;
	var = (Var *) expression;
	if (!IsA(var, Var) || var->varno != index->rel->relid || var->varlevelsup != 0 ||
		var->varattno <= 0)
		return false;
	*column = gpb_index_column(index, var->varattno);
	return *column >= 0 && gpb_column_is_wide(index, *column);
}

bool
gpb_is_wide_column(GpbProgramBuilder *builder, Expr *expression, GpbWideValue *value)
{
	int			column;

	if (!gpb_is_counted_wide(builder, expression, &column))
		return false;
	value->upper = column;
	value->lower = lower_slot(builder, column);
	value->scale = gpb_column_scale(builder->index, column);
	if (value->lower == GPB_REFUSED)
		value->upper = GPB_REFUSED;
	return true;
}

/* ---- constants ---- */

GpbWideValue
gpb_wide_number(GpbProgramBuilder *builder, int128 number, int scale)
{
	GpbWideValue value;

	value.upper = gpb_slot_word(builder, (int64) (number >> 64));
	value.lower = gpb_slot_word(builder, (int64) ((uint64) number ^ (uint64) 1 << 63));
	value.scale = scale;
	return value;
}

/* The halves of a uuid that has one value in an execution */
static GpbWideValue
constant_uuid(GpbProgramBuilder *builder, Expr *expression)
{
	GpbWideValue value = {0};

	if (getBaseType(exprType((Node *) expression)) != UUIDOID || !gpb_is_constant(expression) ||
		(builder->guard != GPB_NO_SLOT && !gpb_is_harmless(builder, expression)))
	{
		(void) gpb_refuse(builder, "a uuid that is neither a column nor a constant");
		return refused;
	}
	value.upper = gpb_slot_constant(builder, expression, GPB_UUID_HALF_TYPE(false));
	value.lower = gpb_slot_constant(builder, expression, GPB_UUID_HALF_TYPE(true));
	return value;
}

/* ---- comparisons ---- */

/* The operator of a comparison of uuid, or GPB_OPERATORS */
static GpbOperator
comparison_operator(Oid function)
{
	switch (function)
	{
		case F_UUID_EQ:
			return GPB_OP_EQ;
		case F_UUID_NE:
			return GPB_OP_NE;
		case F_UUID_LT:
			return GPB_OP_LT;
		case F_UUID_LE:
			return GPB_OP_LE;
		case F_UUID_GT:
			return GPB_OP_GT;
		case F_UUID_GE:
			return GPB_OP_GE;
		default:
			return GPB_OPERATORS;
	}
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

static int
equal_slot(GpbProgramBuilder *builder, const GpbWideValue *a, const GpbWideValue *b)
{
	return STEP2(GPB_OP_AND, STEP2(GPB_OP_EQ, a->upper, b->upper),
				 STEP2(GPB_OP_EQ, a->lower, b->lower));
}

/* A comparison, or GPB_OP_DISTINCT; a value's halves are both NULL or neither is. */
static int
compare_slot(GpbProgramBuilder *builder, GpbOperator op, const GpbWideValue *a,
			 const GpbWideValue *b)
{
	GpbOperator strict = op == GPB_OP_LT || op == GPB_OP_LE ? GPB_OP_LT : GPB_OP_GT;

	if (a->upper == GPB_REFUSED || b->upper == GPB_REFUSED)
		return GPB_REFUSED;
	if (op == GPB_OP_EQ)
		return equal_slot(builder, a, b);
	if (op == GPB_OP_NE)
		return STEP1(GPB_OP_NOT, equal_slot(builder, a, b));
	if (op == GPB_OP_DISTINCT)
		return STEP2(GPB_OP_OR, STEP2(op, a->upper, b->upper), STEP2(op, a->lower, b->lower));
	return STEP2(GPB_OP_OR, STEP2(strict, a->upper, b->upper),
				 STEP2(GPB_OP_AND, STEP2(GPB_OP_EQ, a->upper, b->upper),
					   STEP2(op, a->lower, b->lower)));
}

/*
 * Compare two uuids of which one is a column, in the order of the arguments or in the other.
 * Returns false if neither is one; else *slot is the result, or GPB_REFUSED.
 */
static bool
compare_uuids(GpbProgramBuilder *builder, GpbOperator op, List *args, int *slot)
{
	Expr	   *other;
	GpbWideValue a;
	GpbWideValue b;

	if (op == GPB_OPERATORS)
		return false;
	other = lsecond(args);
	if (!gpb_is_wide_column(builder, linitial(args), &a))
	{
		if (!gpb_is_wide_column(builder, lsecond(args), &a))
			return false;
		other = linitial(args);
		op = commuted(op);
	}
	if (!gpb_is_wide_column(builder, other, &b))
		b = constant_uuid(builder, other);
	*slot = compare_slot(builder, op, &a, &b);
	return true;
}

bool
gpb_uuid_comparison(GpbProgramBuilder *builder, Oid function, List *args, int *slot)
{
	return compare_uuids(builder, comparison_operator(function), args, slot);
}

bool
gpb_uuid_distinct(GpbProgramBuilder *builder, Oid function, List *args, int *slot)
{
	return comparison_operator(function) == GPB_OP_EQ &&
		compare_uuids(builder, GPB_OP_DISTINCT, args, slot);
}

/* ---- numerics ---- */

/*
 * The constant that a numeric is compared with, which becomes the least integer that is not below
 * it: it may have digits that no integer of the scale has, or be beyond all of them, or no number.
 * *op becomes the operator for this integer.  The value may be computed, with 39 digits.
 */
static GpbWideValue
numeric_bound(GpbProgramBuilder *builder, Datum constant, int scale, GpbOperator *op)
{
	bool		equal;
	int128		number = gpb_wide_numeric_ceiling(constant, scale, &equal);

	if (!equal)
	{
		/* Between two integers; no value but NaN has NaN's upper half. */
		*op = *op == GPB_OP_LE ? GPB_OP_LT : *op == GPB_OP_GT ? GPB_OP_GE : *op;
		if (*op == GPB_OP_EQ || *op == GPB_OP_NE || *op == GPB_OP_DISTINCT)
			number = GPB_WIDE_NUMERIC_NAN - 1;
	}
	return gpb_wide_number(builder, number, scale);
}

int
gpb_wide_compare_constant(GpbProgramBuilder *builder, int op, const GpbWideValue *value,
						  const Const *constant)
{
	GpbOperator by = (GpbOperator) op;
	GpbWideValue bound = numeric_bound(builder, constant->constvalue, value->scale, &by);

	return compare_slot(builder, by, value, &bound);
}

int
gpb_wide_compare(GpbProgramBuilder *builder, int op, const GpbWideValue *a, const GpbWideValue *b)
{
	return compare_slot(builder, (GpbOperator) op, a, b);
}

/* ---- arrays ---- */

/* An element that is not NULL */
static GpbWideValue
element_value(GpbProgramBuilder *builder, const GpbWideValue *value, Oid type, Datum element)
{
	GpbOperator op = GPB_OP_EQ;

	if (type == UUIDOID)
		return constant_uuid(builder, (Expr *) makeConst(type, -1, InvalidOid, UUID_LEN, element,
														 false, false));
	return numeric_bound(builder, element, value->scale, &op);
}

int
gpb_wide_any(GpbProgramBuilder *builder, const GpbWideValue *value, ArrayType *array)
{
	Oid			type = ARR_ELEMTYPE(array);
	Datum	   *element;
	bool	   *nulls;
	int			n;
	int			slot;
	int			i;

	if (type == UUIDOID)
		deconstruct_array(array, type, UUID_LEN, false, TYPALIGN_CHAR, &element, &nulls, &n);
	else
		deconstruct_array(array, type, -1, false, TYPALIGN_INT, &element, &nulls, &n);
	if (n > GPB_WIDE_ELEMENTS)
		return gpb_refuse(builder, "an array of more than %d values of 16 bytes",
						  GPB_WIDE_ELEMENTS);
	/* Of an empty array the result is false, whether or not the value is NULL. */
	slot = gpb_slot_constant(builder, (Expr *) makeBoolConst(false, false), BOOLOID);
	for (i = 0; i < n; i++)
	{
		int			next;

		if (nulls[i])
			next = gpb_slot_constant(builder, (Expr *) makeNullConst(BOOLOID, -1, InvalidOid),
									 BOOLOID);
		else
		{
			GpbWideValue other = element_value(builder, value, type, element[i]);

			next = compare_slot(builder, GPB_OP_EQ, value, &other);
		}
		slot = i == 0 ? next : STEP2(GPB_OP_OR, slot, next);
	}
	return slot;
}

bool
gpb_uuid_array(GpbProgramBuilder *builder, ScalarArrayOpExpr *expression, int *slot)
{
	Const	   *array = lsecond(expression->args);
	GpbOperator op = comparison_operator(expression->opfuncid);
	GpbWideValue column;

	if (op == GPB_OPERATORS || !gpb_is_wide_column(builder, linitial(expression->args), &column))
		return false;
	if (op != (expression->useOr ? GPB_OP_EQ : GPB_OP_NE))
		*slot = gpb_refuse(builder, "comparison with an array that is neither = ANY nor <> ALL");
	else if (!IsA(array, Const) || array->constisnull)
		*slot = gpb_refuse(builder, "an array of values of 16 bytes that planning does not know");
	else if (column.upper == GPB_REFUSED)
		*slot = GPB_REFUSED;
	else
	{
		*slot = gpb_wide_any(builder, &column, DatumGetArrayTypeP(array->constvalue));
		if (!expression->useOr)
			*slot = STEP1(GPB_OP_NOT, *slot);
	}
	return true;
}
