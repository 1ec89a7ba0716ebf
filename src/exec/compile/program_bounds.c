/*-------------------------------------------------------------------------
 *
 * program_bounds.c
 *	  Can a step of a program that is being built fault?
 *
 * Types bound the values of columns and parameters, and so the results of steps: the product of two
 * int4 fits 64 bits, and a remainder by 10 faults never.  Values behind a guard that is not true
 * may be beyond their bounds, but what takes them has that guard too.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"

#include "exec/compile/program_build_internal.h"
#include "exec/compile/program_words.h"
#include "exec/shell/index_columns.h"
#include "program/program_zone.h"

/* The words that a value of this type can have, or NULL */
static GpbZoneValue
type_bounds(Oid type)
{
	GpbZoneValue any = gpb_zone_any(GPB_NO_SLOT);

	switch (type)
	{
		case BOOLOID:
			any.least = 0;
			any.greatest = 1;
			break;
		case INT2OID:
			any.least = PG_INT16_MIN;
			any.greatest = PG_INT16_MAX;
			break;
		case INT4OID:
		case DATEOID:
			any.least = PG_INT32_MIN;
			any.greatest = PG_INT32_MAX;
			break;
	}
	return any;
}

static GpbZoneValue
column_bounds(const GpbProgramBuilder *builder, int column)
{
	IndexOptInfo *index = builder->index;
	TargetEntry *entry;

	if (index->nkeycolumns > 1 ? column == 0 || column > index->ncolumns :
		column >= index->ncolumns)
		return gpb_zone_any(GPB_NO_SLOT);
	entry = list_nth_node(TargetEntry, index->indextlist, gpb_column_position(index, column));
	return type_bounds(gpb_word_type(exprType((Node *) entry->expr)));
}

static GpbZoneValue
constant_bounds(const GpbProgramBuilder *builder, int i)
{
	GpbWordType type = builder->constant_type[i];
	Const	   *value = list_nth(builder->constants, i);
	GpbZoneValue bounds = type_bounds(type.sql);

	if (!IsA(value, Const) || value->constisnull || gpb_has_table(type))
		return bounds;
	bounds.has_nulls = false;
	bounds.least = bounds.greatest = gpb_datum_word(type, value->constvalue);
	return bounds;
}

/* Find the bounds of those columns that steps have as operands; others are not looked at. */
static void
read_columns_bounds(const GpbProgramBuilder *builder, GpbZoneValue *bounds)
{
	bool		found[GPB_FIRST_CONSTANT] = {false};
	int			i;

	for (i = 0; i < builder->program.nsteps; i++)
	{
		const GpbStep *step = &builder->program.step[i];
		const int	operand[] = {step->a, step->b, step->c};
		int			j;

		for (j = 0; j < gpb_operands(step->op); j++)
		{
			int			slot = operand[j];

			if (slot >= GPB_FIRST_CONSTANT || found[slot])
				continue;
			bounds[slot] = column_bounds(builder, slot);
			found[slot] = true;
		}
	}
}

bool
gpb_builder_can_fault(const GpbProgramBuilder *builder)
{
	const GpbProgram *program = &builder->program;
	GpbZoneValue bounds[GPB_FIRST_TEMPORARY + GPB_MAX_STEPS];
	int			i;

	read_columns_bounds(builder, bounds);
	for (i = 0; i < program->nconstants; i++)
		bounds[GPB_FIRST_CONSTANT + i] = constant_bounds(builder, i);
	for (i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];

		/* The builder gives each step a slot of its own; tables are filled when it is bound. */
		if (step->op != GPB_OP_FILTER &&
			!gpb_zone_step(step, bounds + step->a, bounds + step->b, bounds + step->c, NULL, 0,
						   &bounds[GPB_FIRST_TEMPORARY + i]))
			return true;
	}
	return false;
}
