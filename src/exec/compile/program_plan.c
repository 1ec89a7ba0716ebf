/*-------------------------------------------------------------------------
 *
 * program_plan.c
 *	  A program in a plan's private data, and what it reads: columns, parameters.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"

#include "exec/compile/program_build.h"

StaticAssertDecl(sizeof(GpbStep) == 6 && sizeof(GpbTerm) == 5, "steps or terms are not all bytes");

/* Append n structs of so many bytes, each of which is a field, and their number. */
static void
put_bytes(List **private, const void *bytes, int n, int width)
{
	gpb_put_int(private, n);
	for (int i = 0; i < n * width; i++)
		gpb_put_int(private, ((const uint8 *) bytes)[i]);
}

/* Get what put_bytes() appended; returns the number. */
static int
get_bytes(GpbPrivateReader *reader, void *bytes, int width)
{
	int			n = gpb_get_int(reader);

	for (int i = 0; i < n * width; i++)
		((uint8 *) bytes)[i] = gpb_get_int(reader);
	return n;
}

void
gpb_program_put(List **private, const GpbProgramPlan *plan)
{
	const GpbProgram *program = &plan->program;
	int			i;

	gpb_put_int(private, program->list_entries);
	gpb_put_int(private, program->descending);
	gpb_put_int(private, program->nulls_first);
	gpb_put_int(private, program->order);
	gpb_put_int(private, program->limit);
	gpb_put_int(private, program->by_range);
	put_bytes(private, program->half, program->nhalves, 1);
	put_bytes(private, program->step, program->nsteps, sizeof(GpbStep));
	put_bytes(private, program->term, program->nterms, sizeof(GpbTerm));
	put_bytes(private, program->group, program->ngroups, 1);
	gpb_put_int(private, program->nconstants);
	for (i = 0; i < program->nconstants; i++)
		gpb_put_word_type(private, plan->constant_type[i]);
}

void
gpb_program_get(GpbPrivateReader *reader, List *constants, GpbProgramPlan *plan)
{
	GpbProgram *program = &plan->program;
	int			i;

	memset(plan, 0, sizeof(*plan));
	program->list_entries = gpb_get_int(reader) != 0;
	program->descending = gpb_get_int(reader) != 0;
	program->nulls_first = gpb_get_int(reader) != 0;
	program->order = gpb_get_int(reader);
	program->limit = gpb_get_int(reader);
	program->by_range = gpb_get_int(reader) != 0;
	program->nhalves = get_bytes(reader, program->half, 1);
	program->nsteps = get_bytes(reader, program->step, sizeof(GpbStep));
	program->nterms = get_bytes(reader, program->term, sizeof(GpbTerm));
	program->ngroups = get_bytes(reader, program->group, 1);
	program->nconstants = gpb_get_int(reader);
	for (i = 0; i < program->nconstants; i++)
		plan->constant_type[i] = gpb_get_word_type(reader);
	plan->constants = constants;
}

/* Collect the executor's parameters in an expression. */
static bool
params_walker(Node *node, void *argument)
{
	Bitmapset **params = argument;

	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		*params = bms_add_member(*params, ((Param *) node)->paramid);
	return expression_tree_walker(node, params_walker, argument);
}

Bitmapset *
gpb_executor_params(Node *expression)
{
	Bitmapset  *params = NULL;

	(void) params_walker(expression, &params);
	return params;
}

/* The bit of the INCLUDE column that a slot has, if it has one */
static inline uint32
slot_bit(int slot)
{
	return slot >= 1 && slot <= GPB_MAX_INCLUDE ? (uint32) 1 << (slot - 1) : 0;
}

uint32
gpb_program_columns(const GpbProgram *program)
{
	uint32		columns = program->list_entries ? slot_bit(program->order) : 0;

	for (int i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];
		int			operands = gpb_operands(step->op);

		if (step->op != GPB_OP_IS_NULL)
			columns |= slot_bit(step->a);
		columns |= (operands > 1 ? slot_bit(step->b) : 0) | (operands > 2 ? slot_bit(step->c) : 0);
	}
	for (int i = 0; i < program->nterms; i++)
	{
		if ((program->term[i].want & ~GPB_WANT_COUNT) != 0)
			columns |= slot_bit(program->term[i].slot);
	}
	for (int i = 0; i < program->ngroups; i++)
		columns |= slot_bit(program->group[i]);
	return columns;
}
