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

static void
put_step(List **private, const GpbStep *step)
{
	gpb_put_int(private, step->op);
	gpb_put_int(private, step->into);
	gpb_put_int(private, step->a);
	gpb_put_int(private, step->b);
	gpb_put_int(private, step->c);
	gpb_put_int(private, step->guard);
}

static void
get_step(GpbPrivateReader *reader, GpbStep *step)
{
	step->op = gpb_get_int(reader);
	step->into = gpb_get_int(reader);
	step->a = gpb_get_int(reader);
	step->b = gpb_get_int(reader);
	step->c = gpb_get_int(reader);
	step->guard = gpb_get_int(reader);
}

static void
put_term(List **private, const GpbTerm *term)
{
	gpb_put_int(private, term->slot);
	gpb_put_int(private, term->kind);
	gpb_put_int(private, term->want);
	gpb_put_int(private, term->filter);
	gpb_put_int(private, term->lower);
}

static void
get_term(GpbPrivateReader *reader, GpbTerm *term)
{
	term->slot = gpb_get_int(reader);
	term->kind = gpb_get_int(reader);
	term->want = gpb_get_int(reader);
	term->filter = gpb_get_int(reader);
	term->lower = gpb_get_int(reader);
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
	gpb_put_int(private, program->nhalves);
	for (i = 0; i < program->nhalves; i++)
		gpb_put_int(private, program->half[i]);
	gpb_put_int(private, program->nsteps);
	for (i = 0; i < program->nsteps; i++)
		put_step(private, &program->step[i]);
	gpb_put_int(private, program->nterms);
	for (i = 0; i < program->nterms; i++)
		put_term(private, &program->term[i]);
	gpb_put_int(private, program->ngroups);
	for (i = 0; i < program->ngroups; i++)
		gpb_put_int(private, program->group[i]);
	gpb_put_int(private, program->nconstants);
	for (i = 0; i < program->nconstants; i++)
		gpb_put_oid(private, list_nth_oid(plan->constant_types, i));
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
	program->nhalves = gpb_get_int(reader);
	for (i = 0; i < program->nhalves; i++)
		program->half[i] = gpb_get_int(reader);
	program->nsteps = gpb_get_int(reader);
	for (i = 0; i < program->nsteps; i++)
		get_step(reader, &program->step[i]);
	program->nterms = gpb_get_int(reader);
	for (i = 0; i < program->nterms; i++)
		get_term(reader, &program->term[i]);
	program->ngroups = gpb_get_int(reader);
	for (i = 0; i < program->ngroups; i++)
		program->group[i] = gpb_get_int(reader);
	program->nconstants = gpb_get_int(reader);
	for (i = 0; i < program->nconstants; i++)
		plan->constant_types = lappend_oid(plan->constant_types, gpb_get_oid(reader));
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
