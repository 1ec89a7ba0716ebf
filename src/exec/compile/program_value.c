/*-------------------------------------------------------------------------
 *
 * program_value.c
 *	  What the compiler of each class of expressions begins with: columns of the index, values of
 *	  the classes that a place allows, arguments of functions.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/regproc.h"

#include "exec/compile/program_build_internal.h"
#include "exec/shell/index_columns.h"
#include "page/coding.h"
#include "program/program_steps.h"

/* ---- columns ---- */

int
gpb_var_slot(const GpbProgramBuilder *builder, Expr *expression)
{
	Var		   *var = gpb_argument_var(expression, builder->index->rel->relid);

	return var == NULL ? -1 : gpb_index_column(builder->index, var->varattno);
}

bool
gpb_is_counted_wide(GpbProgramBuilder *builder, Expr *expression, int *column)
{
	*column = gpb_var_slot(builder, expression);
	return *column >= 0 && gpb_coding_key_is_wide(gpb_slot_coding(builder->index, *column));
}

/* The slot of the lower halves of a column of 16 bytes, which the program reads from now on */
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

static GpbTyped
wide_column(GpbProgramBuilder *builder, int column, GpbCoding coding)
{
	GpbTyped	value = {column, lower_slot(builder, column)};

	value.type.class = GPB_WORDS_UUID;
	if (gpb_coding_is_numeric(coding))
		value.type = gpb_number_type(GPB_WORDS_WIDE, gpb_coding_scale(coding));
	return value.lower == GPB_REFUSED ? GPB_NO_VALUE : value;
}

/* Refuse a column of the table for its type. */
static GpbTyped
refuse_column(GpbProgramBuilder *builder, const Var *var)
{
	return gpb_no_value(builder, "column %s, of type %s",
						get_attname(planner_rt_fetch(var->varno, builder->root)->relid,
									var->varattno, true), format_type_be(var->vartype));
}

GpbTyped
gpb_column_value(GpbProgramBuilder *builder, Var *var)
{
	IndexOptInfo *index = builder->index;
	int			column;
	GpbCoding	coding;

	if (var->varno != index->rel->relid || var->varlevelsup != 0)
		return gpb_no_value(builder, "column of another table");
	if (var->varattno <= 0)
		return gpb_no_value(builder, "system column or whole row");
	column = gpb_index_column(index, var->varattno);
	if (column < 0)
		return gpb_no_value(builder, "column %s, which is not in the index",
							get_attname(planner_rt_fetch(var->varno, builder->root)->relid,
										var->varattno, true));
	coding = gpb_slot_coding(index, column);
	if (coding == GPB_CODING_DICTIONARY)
		return (GpbTyped) {.slot = column, .type = gpb_class_type(GPB_WORDS_CODE, column - 1)};
	if (gpb_coding_key_is_wide(coding))
		return wide_column(builder, column, coding);
	if (!gpb_column_has_words(index, column, coding))
		return refuse_column(builder, var);
	if (gpb_is_numeric(var->vartype))
		return (GpbTyped) {.slot = column,
			.type = gpb_number_type(GPB_WORDS_NUMERIC, gpb_coding_scale(coding))};
	return OidIsValid(gpb_word_type(var->vartype)) ? gpb_word(column) :
		refuse_column(builder, var);
}

/* ---- where not every class will do ---- */

bool
gpb_is_plain(GpbProgramBuilder *builder, Expr *expression, const GpbTyped *value)
{
	if (value->slot == GPB_REFUSED)
		return false;
	if (value->type.class != GPB_WORDS_CODE && value->type.class != GPB_WORDS_UUID)
		return true;
	if (IsA(expression, Var))
		(void) refuse_column(builder, (Var *) expression);
	else
		(void) gpb_refuse(builder, "type %s", format_type_be(exprType((Node *) expression)));
	return false;
}

GpbTyped
gpb_plain_value(GpbProgramBuilder *builder, Expr *expression)
{
	GpbTyped	value = gpb_value(builder, expression);

	return gpb_is_plain(builder, expression, &value) ? value : GPB_NO_VALUE;
}

int
gpb_word_slot(GpbProgramBuilder *builder, Expr *expression)
{
	GpbTyped	value = gpb_plain_value(builder, expression);

	if (value.slot != GPB_REFUSED && value.type.class != GPB_WORDS_SQL)
		return gpb_refuse(builder, "a value of type numeric in such a place");
	return value.slot;
}

/* ---- guards ---- */

int
gpb_unless(GpbProgramBuilder *builder, int condition)
{
	return STEP1(GPB_OP_NOT, STEP1(GPB_OP_IS_TRUE, condition));
}

/* ---- functions ---- */

const GpbFunction *
gpb_find_function(GpbProgramBuilder *builder, Oid function)
{
	const GpbFunction *found = gpb_core_function(function);

	if (found != NULL && found->call != GPB_CALL_NONE)
		return found;
	(void) gpb_refuse(builder, "function %s", format_procedure(function));
	return NULL;
}

bool
gpb_arguments(GpbProgramBuilder *builder, const GpbFunction *function, List *args, int without,
			  GpbTyped *value)
{
	ListCell   *lc;

	Assert(list_length(args) <= 3);
	foreach(lc, args)
	{
		int			i = foreach_current_index(lc);

		if (i == without || !gpb_function_takes_value(function, i))
			continue;
		value[i] = gpb_value(builder, lfirst(lc));
		if (value[i].slot == GPB_REFUSED)
			return false;
	}
	return true;
}
