/*-------------------------------------------------------------------------
 *
 * program_work.c
 *	  What an evaluator does with each strip of entries, in which order.
 *
 *-------------------------------------------------------------------------
 */
#include "program/program_list.h"
#include "program/program_work.h"

static inline void
set_add(GpbSlotSet *set, int slot)
{
	if (slot != GPB_NO_SLOT)
		set->word[slot / 64] |= (uint64) 1 << (slot % 64);
}

/* ---- slots ---- */

/* Add the slots that a step reads. */
static void
add_step_slots(const GpbStep *step, GpbSlotSet *slots)
{
	int			operands = gpb_operands(step->op);

	set_add(slots, step->a);
	if (operands > 1)
		set_add(slots, step->b);
	if (operands > 2)
		set_add(slots, step->c);
	if (step->op != GPB_OP_FILTER)
		set_add(slots, step->guard);
}

/* Add the slots that terms and groups read, or the order of a limited list. */
static void
add_result_slots(const GpbProgram *program, GpbSlotSet *slots)
{
	int			i;

	if (gpb_program_judges(program) && program->limit > 0)
		set_add(slots, program->order);

	for (i = 0; i < program->nterms; i++)
	{
		set_add(slots, program->term[i].slot);
		set_add(slots, program->term[i].filter);
		set_add(slots, gpb_term_lower(&program->term[i]));
	}
	for (i = 0; i < program->ngroups; i++)
		set_add(slots, program->group[i]);
}

GpbSlotSet
gpb_used_slots(const GpbProgram *program)
{
	GpbSlotSet		used = {{0, 0}};
	int			i;

	add_result_slots(program, &used);
	for (i = 0; i < program->nsteps; i++)
	{
		add_step_slots(&program->step[i], &used);
		if (program->step[i].op != GPB_OP_FILTER)
			set_add(&used, program->step[i].into);
	}
	return used;
}

/* ---- the order of work ---- */

/* Plan to load the columns among the slots that are not loaded yet. */
static void
plan_loads(GpbEvaluatorWork *work, const GpbSlotSet *slots, GpbSlotSet *loaded)
{
	int			c;

	for (c = 0; c < GPB_MAX_COLUMNS; c++)
	{
		GpbEvaluatorOp *op = &work->op[work->nops];

		if (!gpb_slots_have(slots, c) || gpb_slots_have(loaded, c))
			continue;
		op->what = GPB_EVALUATE_LOAD;
		op->which = (uint8) c;
		work->nops++;
		work->column[work->ncolumns++] = (uint8) c;
		set_add(loaded, c);
	}
}

/* Note at each filter which slots are read after it, going backward. */
static void
plan_filters(const GpbProgram *program, GpbEvaluatorWork *work)
{
	GpbSlotSet		later = {{0, 0}};
	uint16		loads_later = 0;
	int			i;

	add_result_slots(program, &later);
	for (i = work->nops - 1; i >= 0; i--)
	{
		GpbEvaluatorOp *op = &work->op[i];
		const GpbStep *step = &program->step[op->which];

		if (op->what == GPB_EVALUATE_LOAD)
		{
			loads_later |= (uint16) (1 << op->which);
			continue;
		}
		if (op->what == GPB_EVALUATE_FILTER)
		{
			op->loads_later = loads_later;
			op->later = later;
		}
		else
			later.word[step->into / 64] &= ~((uint64) 1 << (step->into % 64));
		add_step_slots(step, &later);
	}
}

void
gpb_plan_work(const GpbProgram *program, GpbEvaluatorWork *work)
{
	GpbSlotSet		loaded = {{0, 0}};
	GpbSlotSet		results = {{0, 0}};
	int			i;

	for (i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];
		GpbSlotSet		slots = {{0, 0}};
		GpbEvaluatorOp *op;

		add_step_slots(step, &slots);
		plan_loads(work, &slots, &loaded);
		op = &work->op[work->nops++];
		op->what = step->op == GPB_OP_FILTER ? GPB_EVALUATE_FILTER : GPB_EVALUATE_STEP;
		op->which = (uint8) i;
	}
	add_result_slots(program, &results);
	plan_loads(work, &results, &loaded);
	plan_filters(program, work);
}

/* ---- programs of one column ---- */

/*
 * The column slots that steps, filters of terms, and groups read, and terms for more than sums.  A
 * sum that stands for many values is below NaN, as they are: see SUM_LIMIT in value_cells.c.
 */
static GpbSlotSet
deciding_slots(const GpbProgram *program)
{
	GpbSlotSet		slots = {{0, 0}};
	int			i;

	for (i = 0; i < program->nsteps; i++)
		add_step_slots(&program->step[i], &slots);
	for (i = 0; i < program->ngroups; i++)
		set_add(&slots, program->group[i]);
	for (i = 0; i < program->nterms; i++)
	{
		const GpbTerm *term = &program->term[i];
		int			sums = GPB_WANT_COUNT | GPB_WANT_SUM;

		if ((term->want & GPB_WANT_HALVES) == 0 && term->lower == GPB_BOUNDS_FIND_NAN)
			sums |= GPB_WANT_MINMAX;
		set_add(&slots, term->filter);
		if ((term->want & ~sums) == 0)
			continue;
		set_add(&slots, term->slot);
		set_add(&slots, gpb_term_lower(term));
	}
	return slots;
}

/* Lower halves are in another slot than the upper ones. */
bool
gpb_work_by_value(const GpbProgram *program, const GpbEvaluatorWork *work, GpbValueForm *form)
{
	GpbSlotSet	deciding = deciding_slots(program);
	int			ndeciding = 0;
	int			i;

	form->nsums = 0;
	if (program->nhalves > 0)
		return false;
	for (i = 0; i < work->ncolumns; i++)
	{
		if (gpb_slots_have(&deciding, work->column[i]))
		{
			form->slot = work->column[i];
			ndeciding++;
		}
		else if (form->nsums == GPB_VALUE_SUMS)
			return false;
		else
			form->sum[form->nsums++] = work->column[i];
	}
	return ndeciding == 1;
}
