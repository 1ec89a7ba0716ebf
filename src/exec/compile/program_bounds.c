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
#include "parser/parsetree.h"
#include "utils/lsyscache.h"

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
	AttrNumber	attno;

	if (index->nkeycolumns > 1 ? column == 0 || column > index->ncolumns :
		column >= index->ncolumns)
		return gpb_zone_any(GPB_NO_SLOT);
	attno = index->indexkeys[gpb_column_position(index, column)];
	return type_bounds(gpb_word_type(get_atttype(planner_rt_fetch(index->rel->relid,
																  builder->root)->relid, attno)));
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

bool
gpb_builder_can_fault(const GpbProgramBuilder *builder)
{
	const GpbProgram *program = &builder->program;
	GpbZoneValue bounds[GPB_FIRST_TEMPORARY + GPB_MAX_STEPS];
	int			i;

	for (i = 0; i < GPB_FIRST_CONSTANT; i++)
		bounds[i] = column_bounds(builder, i);
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
