/*-------------------------------------------------------------------------
 *
 * aggregate_subprograms.c
 *	  The programs of one plan node, made of the one in its plan.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "miscadmin.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/compile/program_words.h"

/* ---- steps ---- */

/* Note that the value of a slot is needed. */
static void
need(bool *needed, int slot)
{
	if (slot != GPB_NO_SLOT)
		needed[slot] = true;
}

/*
 * Which steps do filters, terms and groups of the program need?  Those that are to stay are needed
 * too.
 */
static void
find_needed_steps(const GpbProgram *program, const bool *stay, bool *steps)
{
	bool		needed[GPB_SLOTS] = {false};
	int			i;

	for (i = 0; i < program->ngroups; i++)
		need(needed, program->group[i]);
	for (i = 0; i < program->nterms; i++)
	{
		need(needed, program->term[i].slot);
		need(needed, program->term[i].filter);
		need(needed, gpb_term_lower(&program->term[i]));
	}
	for (i = program->nsteps - 1; i >= 0; i--)
	{
		const GpbStep *step = &program->step[i];
		int			operands = gpb_operands(step->op);
		bool		is_filter = step->op == GPB_OP_FILTER;

		steps[i] = is_filter || stay[i] || needed[step->into];
		if (!steps[i])
			continue;
		if (!is_filter)
			needed[step->into] = false;
		need(needed, step->a);
		if (operands > 1)
			need(needed, step->b);
		if (operands > 2)
			need(needed, step->c);
		need(needed, step->guard);
	}
}

/*
 * Drop the steps that the program does not need.  A step of the whole program whose result nothing
 * needs is there since it may fault: it stays if the subprogram has to see to that.
 */
static void
drop_steps(GpbProgram *program, const GpbProgram *whole, bool sees_to_faults)
{
	bool		stay[GPB_MAX_STEPS] = {false};
	bool		of_whole[GPB_MAX_STEPS];
	bool		of_sub[GPB_MAX_STEPS];
	int			i;

	find_needed_steps(whole, stay, of_whole);
	for (i = 0; i < whole->nsteps; i++)
		stay[i] = sees_to_faults && !of_whole[i];
	find_needed_steps(program, stay, of_sub);
	program->nsteps = 0;
	for (i = 0; i < whole->nsteps; i++)
	{
		if (of_sub[i])
			program->step[program->nsteps++] = whole->step[i];
	}
}

/* ---- terms ---- */

/* Terms of the whole that are added to a subprogram */
typedef struct GpbTermMove
{
	const GpbProgram *whole;
	GpbProgram *program;
	int			moved[GPB_MAX_TERMS];	/* the number of each in the subprogram, or GPB_NO_TERM */
} GpbTermMove;

/* The number of a term of the whole in the subprogram, to which it is added if need be */
static int
move_term(int term, void *context)
{
	GpbTermMove *move = context;

	if (move->moved[term] == GPB_NO_TERM)
	{
		move->moved[term] = move->program->nterms;
		move->program->term[move->program->nterms++] = move->whole->term[term];
	}
	return move->moved[term];
}

/* The terms of the subprogram: those of its items, which name them. */
static void
choose_terms(const GpbAggregatePlan *plan, GpbSubprogram *sub)
{
	GpbTermMove move = {&plan->program.program, &sub->program};
	int			i;

	for (i = 0; i < GPB_MAX_TERMS; i++)
		move.moved[i] = GPB_NO_TERM;
	sub->program.nterms = 0;
	for (i = 0; i < sub->nitems; i++)
		gpb_map_item_terms(&sub->items[i], move_term, &move);
	for (i = 0; i < sub->values.n; i++)
	{
		if (sub->values.items[i].has_filter)
			gpb_map_item_terms(&sub->values.items[i].filter, move_term, &move);
	}
}

/* ---- groups ---- */

/* Add the group slots of values of this type, whose words the program has in these slots. */
static void
add_group(GpbSubprogram *sub, GpbWordType type, const uint8 *slots)
{
	GpbProgram *program = &sub->program;
	int			i;

	if (gpb_word_is_float(type.sql))
		sub->floats |= (uint32) 1 << program->ngroups;
	for (i = 0; i < gpb_type_words(type); i++)
		program->group[program->ngroups++] = slots[i];
}

/* The group slots of the subprogram: those of the phase, and those of its values. */
static void
choose_groups(const GpbAggregatePlan *plan, uint32 phase, GpbSubprogram *sub)
{
	GpbProgram *program = &sub->program;
	const uint8 *slots = plan->program.program.group;
	int			i;

	program->ngroups = 0;
	for (i = 0; i < plan->ngroups; i++)
	{
		if (gpb_set_has(phase, i))
			add_group(sub, plan->group_types[i], slots);
		for (; sub->ngroups < program->ngroups; sub->ngroups++)
			sub->group[sub->ngroups] = i;
		slots += gpb_type_words(plan->group_types[i]);
	}
	if (!sub->has_values)
		return;
	if (sub->values.term < 0)
		add_group(sub, sub->values.type, slots);
	else
	{
		const GpbTerm *term = &plan->program.program.term[sub->values.term];

		add_group(sub, sub->values.type, (uint8[]) {term->slot, term->lower});
	}
}

uint32
gpb_subprogram_slots(const GpbSubprogram *sub, uint32 set)
{
	uint32		slots = 0;
	int			i;

	for (i = 0; i < sub->ngroups; i++)
	{
		if (gpb_set_has(set, sub->group[i]))
			slots |= (uint32) 1 << i;
	}
	for (i = sub->ngroups; i < sub->program.ngroups; i++)
		slots |= (uint32) 1 << i;
	return slots;
}

/* ---- the subprogram ---- */

/* Copy what the subprogram has of the query's aggregates. */
static void
choose_aggregates(const GpbAggregatePlan *plan, int values, GpbSubprogram *sub)
{
	if (values == 0)
	{
		sub->nitems = plan->nitems;
		sub->items = palloc(sizeof(GpbAggregateItem) * plan->nitems);
		memcpy(sub->items, plan->items, sizeof(GpbAggregateItem) * plan->nitems);
	}
	if (values < plan->nvalues)
	{
		sub->has_values = true;
		sub->values = plan->values[values];
		sub->values.items = palloc(sizeof(GpbValuesItem) * sub->values.n);
		memcpy(sub->values.items, plan->values[values].items,
			   sizeof(GpbValuesItem) * sub->values.n);
	}
}

void
gpb_subprogram_make(const GpbAggregatePlan *plan, uint32 phase, int values, GpbSubprogram *sub)
{
	memset(sub, 0, sizeof(*sub));
	sub->program = plan->program.program;
	choose_aggregates(plan, values, sub);
	if (gpb_program_is_plain(&plan->program.program))
		return;
	choose_terms(plan, sub);
	choose_groups(plan, phase, sub);
	drop_steps(&sub->program, &plan->program.program, values == 0);
}
