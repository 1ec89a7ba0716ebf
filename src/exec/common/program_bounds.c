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

#include "program_steps.h"
#include "exec/common/index_columns.h"
#include "exec/common/program_build_internal.h"
#include "exec/common/program_words.h"

/* The least and the greatest word that a value can have */
typedef struct GpbBounds
{
	int64		least;
	int64		greatest;
} GpbBounds;

#define any_word	((GpbBounds) {PG_INT64_MIN, PG_INT64_MAX})
#define any_int4	((GpbBounds) {PG_INT32_MIN, PG_INT32_MAX})
#define any_int2	((GpbBounds) {PG_INT16_MIN, PG_INT16_MAX})
#define any_boolean ((GpbBounds) {0, 1})

/* ---- what has no step ---- */

static GpbBounds
type_bounds(Oid type)
{
	switch (type)
	{
		case BOOLOID:
			return any_boolean;
		case INT2OID:
			return any_int2;
		case INT4OID:
		case DATEOID:
			return any_int4;
		default:
			return any_word;
	}
}

static GpbBounds
column_bounds(const GpbProgramBuilder *builder, int column)
{
	IndexOptInfo *index = builder->index;
	AttrNumber	attno;

	if (index->nkeycolumns > 1 ? column == 0 || column > index->ncolumns :
		column >= index->ncolumns)
		return any_word;
	attno = index->indexkeys[gpb_column_position(index, column)];
	return type_bounds(gpb_word_type(get_atttype(planner_rt_fetch(index->rel->relid,
																  builder->root)->relid, attno)));
}

static GpbBounds
constant_bounds(const GpbProgramBuilder *builder, int i)
{
	Oid			type = list_nth_oid(builder->constant_types, i);
	Const	   *value = list_nth(builder->constants, i);
	GpbBounds	bounds;

	if (!IsA(value, Const) || value->constisnull || gpb_is_table_type(type))
		return type_bounds(type);
	bounds.least = bounds.greatest = gpb_datum_word(type, value->constvalue);
	return bounds;
}

/* ---- integers ---- */

/* The bounds of results from "least" to "greatest", of which those beyond the limits fault */
static GpbBounds
limited(int128 least, int128 greatest, GpbBounds limits, bool *faults)
{
	GpbBounds	bounds = limits;

	*faults = least < limits.least || greatest > limits.greatest;
	if (least > limits.least && least <= limits.greatest)
		bounds.least = (int64) least;
	if (greatest < limits.greatest && greatest >= limits.least)
		bounds.greatest = (int64) greatest;
	return bounds;
}

/* The greatest magnitude within bounds */
static int128
magnitude(GpbBounds bounds)
{
	return Max(-(int128) bounds.least, (int128) bounds.greatest);
}

static bool
contains(GpbBounds bounds, int64 value)
{
	return bounds.least <= value && value <= bounds.greatest;
}

static GpbBounds
joined(GpbBounds a, GpbBounds b)
{
	return (GpbBounds) {Min(a.least, b.least), Max(a.greatest, b.greatest)};
}

static GpbBounds
product_bounds(GpbBounds a, GpbBounds b, bool *faults)
{
	int128		p = (int128) a.least * b.least;
	int128		q = (int128) a.least * b.greatest;
	int128		r = (int128) a.greatest * b.least;
	int128		s = (int128) a.greatest * b.greatest;

	return limited(Min(Min(p, q), Min(r, s)), Max(Max(p, q), Max(r, s)), any_word, faults);
}

static GpbBounds
quotient_bounds(GpbBounds a, GpbBounds b, bool *faults)
{
	GpbBounds	bounds = limited(-magnitude(a), magnitude(a), any_word, faults);

	*faults = contains(b, 0) || (a.least == PG_INT64_MIN && contains(b, -1));
	return bounds;
}

/* A remainder has the sign of the dividend, and is less than the divisor. */
static GpbBounds
remainder_bounds(GpbBounds a, GpbBounds b, bool *faults)
{
	int128		most = Min(magnitude(a), magnitude(b) - 1);
	GpbBounds	bounds = limited(a.least < 0 ? -most : 0, a.greatest > 0 ? most : 0, any_word,
								 faults);

	*faults = contains(b, 0);
	return bounds;
}

static GpbBounds
absolute_bounds(GpbBounds a, bool *faults)
{
	return limited(contains(a, 0) ? 0 : Min(Abs((int128) a.least), Abs((int128) a.greatest)),
				   magnitude(a), any_word, faults);
}

/* ---- steps ---- */

/* Is the greatest multiple below a timestamp out of reach for none, with this unit and origin? */
static bool
truncation_faults(GpbBounds unit, GpbBounds origin)
{
	int64		result;

	return unit.least != unit.greatest || origin.least != origin.greatest ||
		gpb_int64_truncate(GPB_TIMESTAMP_LEAST, unit.least, origin.least, &result) ||
		gpb_int64_truncate(GPB_TIMESTAMP_END, unit.least, origin.least, &result);
}

/* The bounds of each operator's result whatever its operands are */
static const GpbBounds result_bounds[GPB_OPERATORS] = {
#define GPB_OPERATOR(name, operands, kind, range, does) [GPB_OP_##name] = any_##range,
#include "program_operators.h"
};

/* The bounds of a step's result, given those of its operands; *faults: it can fault. */
static GpbBounds
step_bounds(const GpbStep *step, GpbBounds a, GpbBounds b, GpbBounds c, bool *faults)
{
	*faults = gpb_operator_can_fault(step->op);
	switch (step->op)
	{
		case GPB_OP_ADD:
			return limited((int128) a.least + b.least, (int128) a.greatest + b.greatest, any_word,
						   faults);
		case GPB_OP_SUBTRACT:
			return limited((int128) a.least - b.greatest, (int128) a.greatest - b.least, any_word,
						   faults);
		case GPB_OP_MULTIPLY:
			return product_bounds(a, b, faults);
		case GPB_OP_DIVIDE:
			return quotient_bounds(a, b, faults);
		case GPB_OP_MODULO:
			return remainder_bounds(a, b, faults);
		case GPB_OP_NEGATE:
			return limited(-(int128) a.greatest, -(int128) a.least, any_word, faults);
		case GPB_OP_ABS:
			return absolute_bounds(a, faults);
		case GPB_OP_TO_INT2:
			return limited(a.least, a.greatest, any_int2, faults);
		case GPB_OP_TO_INT4:
			return limited(a.least, a.greatest, any_int4, faults);
		case GPB_OP_SELECT:
			return joined(b, c);
		case GPB_OP_COALESCE:
		case GPB_OP_LEAST:
		case GPB_OP_GREATEST:
			return joined(a, b);
		case GPB_OP_TRUNCATE:
			*faults = truncation_faults(b, c);
			return any_word;
		default:
			return result_bounds[step->op];
	}
}

bool
gpb_builder_can_fault(const GpbProgramBuilder *builder)
{
	const GpbProgram *program = &builder->program;
	GpbBounds	bounds[GPB_FIRST_TEMPORARY + GPB_MAX_STEPS];
	int			i;

	for (i = 0; i < GPB_FIRST_CONSTANT; i++)
		bounds[i] = column_bounds(builder, i);
	for (i = 0; i < program->nconstants; i++)
		bounds[GPB_FIRST_CONSTANT + i] = constant_bounds(builder, i);
	for (i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];
		int			operands = gpb_operands(step->op);
		bool		faults;

		bounds[GPB_FIRST_TEMPORARY + i] =
			step_bounds(step, bounds[step->a], operands > 1 ? bounds[step->b] : any_word,
						operands > 2 ? bounds[step->c] : any_word, &faults);
		if (faults)
			return true;
	}
	return false;
}
