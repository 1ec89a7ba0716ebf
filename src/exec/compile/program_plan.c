/*-------------------------------------------------------------------------
 *
 * program_plan.c
 *	  A program in a plan's private data.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

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
