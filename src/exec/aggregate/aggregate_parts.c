/*-------------------------------------------------------------------------
 *
 * aggregate_parts.c
 *	  The programs of one plan node, made of the one in its plan.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"

#include "exec/aggregate/aggregate_parts.h"
#include "exec/common/program_words.h"

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
 * needs is there since it may fault: it stays if the part has to see to that.
 */
static void
drop_steps(GpbProgram *program, const GpbProgram *whole, bool sees_to_faults)
{
	bool		stay[GPB_MAX_STEPS] = {false};
	bool		of_whole[GPB_MAX_STEPS];
	bool		of_part[GPB_MAX_STEPS];
	int			i;

	find_needed_steps(whole, stay, of_whole);
	for (i = 0; i < whole->nsteps; i++)
		stay[i] = sees_to_faults && !of_whole[i];
	find_needed_steps(program, stay, of_part);
	program->nsteps = 0;
	for (i = 0; i < whole->nsteps; i++)
	{
		if (of_part[i])
			program->step[program->nsteps++] = whole->step[i];
	}
}

/* ---- terms ---- */

/* The number of a term of the whole in the part, to which it is added if it is not there yet */
static int
move_term(const GpbProgram *whole, GpbProgram *program, int *moved, int term)
{
	if (moved[term] < 0)
	{
		moved[term] = program->nterms;
		program->term[program->nterms++] = whole->term[term];
	}
	return moved[term];
}

/* Have an item name terms of the part. */
static void
move_item(const GpbProgram *whole, GpbProgram *program, int *moved, GpbAggregateItem *item)
{
	if (item->function == GPB_COUNT_ENTRIES)
		return;
	item->column = move_term(whole, program, moved, item->column);
	if (!gpb_function_is_of_pairs(item->function))
		return;
	item->pair.y = move_term(whole, program, moved, item->pair.y);
	item->pair.products = move_term(whole, program, moved, item->pair.products);
	item->pair.rests = move_term(whole, program, moved, item->pair.rests);
}

/* The terms of the part: those of its items. */
static void
choose_terms(const GpbWhole *whole, GpbPart *part)
{
	int			moved[GPB_MAX_TERMS];
	int			i;

	for (i = 0; i < GPB_MAX_TERMS; i++)
		moved[i] = -1;
	part->program.nterms = 0;
	for (i = 0; i < part->nitems; i++)
		move_item(whole->program, &part->program, moved, &part->items[i]);
	for (i = 0; i < part->values.n; i++)
	{
		if (part->values.items[i].has_filter)
			move_item(whole->program, &part->program, moved, &part->values.items[i].filter);
	}
}

/* ---- groups ---- */

/* Add the group slots of values of this type, whose words the program has in these slots. */
static void
add_group(GpbPart *part, Oid type, const uint8 *slots)
{
	GpbProgram *program = &part->program;
	int			i;

	if (gpb_word_is_float(type))
		part->floats |= (uint32) 1 << program->ngroups;
	for (i = 0; i < gpb_type_words(type); i++)
		program->group[program->ngroups++] = slots[i];
}

/* The group slots of the part: those of the run, and those of its values. */
static void
choose_groups(const GpbWhole *whole, uint32 run, GpbPart *part)
{
	GpbProgram *program = &part->program;
	const uint8 *slots = whole->program->group;
	int			i;

	program->ngroups = 0;
	for (i = 0; i < whole->ngroups; i++)
	{
		if (gpb_set_has(run, i))
			add_group(part, whole->group_types[i], slots);
		for (; part->ngroups < program->ngroups; part->ngroups++)
			part->group[part->ngroups] = i;
		slots += gpb_type_words(whole->group_types[i]);
	}
	if (!part->has_values)
		return;
	if (part->values.term < 0)
		add_group(part, part->values.type, slots);
	else
	{
		const GpbTerm *term = &whole->program->term[part->values.term];

		add_group(part, part->values.type, (uint8[]) {term->slot, term->lower});
	}
}

uint32
gpb_part_slots(const GpbPart *part, uint32 set)
{
	uint32		slots = 0;
	int			i;

	for (i = 0; i < part->ngroups; i++)
	{
		if (gpb_set_has(set, part->group[i]))
			slots |= (uint32) 1 << i;
	}
	for (i = part->ngroups; i < part->program.ngroups; i++)
		slots |= (uint32) 1 << i;
	return slots;
}

/* ---- the part ---- */

/* Copy what the part has of the query's aggregates. */
static void
choose_aggregates(const GpbWhole *whole, int values, GpbPart *part)
{
	if (values == 0)
	{
		part->nitems = whole->nitems;
		part->items = palloc(sizeof(GpbAggregateItem) * whole->nitems);
		memcpy(part->items, whole->items, sizeof(GpbAggregateItem) * whole->nitems);
	}
	if (values < whole->nvalues)
	{
		part->has_values = true;
		part->values = whole->values[values];
		part->values.items = palloc(sizeof(GpbValuesItem) * part->values.n);
		memcpy(part->values.items, whole->values[values].items,
			   sizeof(GpbValuesItem) * part->values.n);
	}
}

void
gpb_part_make(const GpbWhole *whole, uint32 run, int values, GpbPart *part)
{
	memset(part, 0, sizeof(*part));
	part->program = *whole->program;
	choose_aggregates(whole, values, part);
	if (gpb_program_is_plain(whole->program))
		return;
	choose_terms(whole, part);
	choose_groups(whole, run, part);
	drop_steps(&part->program, whole->program, values == 0);
}
