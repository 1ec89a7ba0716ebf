/*-------------------------------------------------------------------------
 *
 * zone_cells.c
 *	  Leaves that a program's filters decide as a whole, by the least and greatest values that their
 *	  cells have (rule M14).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "engine/zone_cells.h"
#include "program/leaf_aggregate.h"

/* What cells have of a column that is no float8's wide sum */
#define CELL_WANTS	(GPB_WANT_COUNT | GPB_WANT_SUM | GPB_WANT_MINMAX)

/* ---- what a program wants ---- */

/* Have the cells of a column its least and greatest value, and its sum? */
static bool
has_bounds(const GpbLayout *layout, int column)
{
	switch (gpb_column_kind(layout, column))
	{
		case GPB_KIND_INT2:
		case GPB_KIND_INT4:
		case GPB_KIND_INT8:
			return column > 0 || !gpb_is_wide(layout->key_width);
		case GPB_KIND_FLOAT8:
			return column > 0;
		default:
			return false;
	}
}

/* Can the cells of a column answer for a term? */
static bool
column_answers(const GpbLayout *layout, int column, const GpbTerm *term)
{
	bool		is_float = gpb_column_kind(layout, column) == GPB_KIND_FLOAT8;

	if ((term->want & ~GPB_WANT_COUNT) == 0)
		return true;
	return has_bounds(layout, column) && is_float == (term->kind == GPB_KIND_FLOAT8);
}

/* The step before "before" that sets this temporary */
static int
setting_step(const GpbProgram *program, int slot, int before)
{
	while (--before > 0 &&
		   (program->step[before].op == GPB_OP_FILTER || program->step[before].into != slot))
		;
	return before;
}

/*
 * Want of each column whose value this slot may turn out to have what the term wants.  Returns
 * false if the slot has the result of a computation, which no cell has.
 */
static bool
want_sources(const GpbProgram *program, GpbZoneCells *zone, int slot, int before,
			 const GpbTerm *term)
{
	const GpbStep *step;
	int			i;

	if (slot >= GPB_FIRST_CONSTANT && slot < GPB_FIRST_TEMPORARY)
		return true;
	if (slot < GPB_FIRST_CONSTANT)
	{
		if (slot >= gpb_column_slots(&program->layout) ||
			!column_answers(&program->layout, slot, term))
			return false;
		zone->want[slot] |= term->want | GPB_WANT_COUNT;
		return true;
	}
	i = setting_step(program, slot, before);
	step = &program->step[i];
	if (step->op == GPB_OP_SELECT)
		return want_sources(program, zone, step->b, i, term) &&
			want_sources(program, zone, step->c, i, term);
	if (step->op == GPB_OP_COALESCE)
		return want_sources(program, zone, step->a, i, term) &&
			want_sources(program, zone, step->b, i, term);
	return false;
}

/* Can what all entries of a leaf add be told by cells?  Want of columns what that takes. */
static bool
want_terms(const GpbProgram *program, GpbZoneCells *zone)
{
	int			t;

	if (program->list_entries || program->ngroups > 0)
		return false;
	for (t = 0; t < program->nterms; t++)
	{
		const GpbTerm *term = &program->term[t];

		if ((term->want & ~CELL_WANTS) != 0 ||
			(term->slot != GPB_NO_SLOT &&
			 !want_sources(program, zone, term->slot, program->nsteps, term)))
			return false;
	}
	return true;
}

/* The steps up to the last filter */
static int
filtering_steps(const GpbProgram *program)
{
	int			n = program->nsteps;

	while (n > 0 && program->step[n - 1].op != GPB_OP_FILTER)
		n--;
	return n;
}

static void
add_input(const GpbProgram *program, int slot, uint32 *inputs)
{
	if (slot < gpb_column_slots(&program->layout))
		*inputs |= (uint32) 1 << slot;
}

/* The columns whose bounds decide what the first nsteps steps do with a leaf, as bits */
static uint32
find_inputs(const GpbProgram *program, int nsteps, bool terms)
{
	uint32		inputs = 0;
	int			i;

	for (i = 0; i < nsteps; i++)
	{
		const GpbStep *step = &program->step[i];
		int			operands = gpb_operands(step->op);

		add_input(program, step->a, &inputs);
		if (operands > 1)
			add_input(program, step->b, &inputs);
		if (operands > 2)
			add_input(program, step->c, &inputs);
		if (step->op != GPB_OP_FILTER)
			add_input(program, step->guard, &inputs);
	}
	for (i = 0; i < program->nterms && terms; i++)
		add_input(program, program->term[i].filter, &inputs);
	return inputs;
}

/* Add the columns among these of which something is wanted to the format. */
static void
add_columns(const GpbProgram *program, GpbZoneCells *zone, uint32 columns)
{
	int			c;

	for (c = 0; c < gpb_column_slots(&program->layout); c++)
	{
		if ((columns >> c & 1) == 0 || zone->want[c] == 0)
			continue;
		zone->place[c] = (uint8) zone->format.ncolumns;
		(void) gpb_answer_add_column(&zone->format, c, gpb_column_kind(&program->layout, c),
									 zone->want[c]);
	}
}

const char *
gpb_zone_cells_begin(GpbCellReader *reader)
{
	static const GpbAnswerFormat no_answers = {0};
	const GpbProgram *program = reader->program;
	GpbZoneCells *zone = MemoryContextAllocZero(reader->context, sizeof(GpbZoneCells));
	int			nsteps = program->nsteps;
	uint32		inputs;
	int			c;

	reader->zone = zone;
	zone->takes_whole = want_terms(program, zone);
	if (!zone->takes_whole)
	{
		memset(zone->want, 0, sizeof(zone->want));
		nsteps = filtering_steps(program);
		reader->answers = &no_answers;
	}
	inputs = find_inputs(program, nsteps, zone->takes_whole);
	for (c = 0; c < gpb_read_slots(program); c++)
	{
		zone->slot[c] = gpb_zone_any(c);
		if (inputs >> c & 1)
			zone->want[c] |= GPB_WANT_COUNT |
				(has_bounds(&program->layout, c) ? GPB_WANT_MINMAX : 0);
	}
	gpb_zone_constants(program, zone->slot);
	zone->format.words = 1;
	add_columns(program, zone, inputs);
	zone->ninputs = zone->format.ncolumns;
	add_columns(program, zone, ~inputs);
	if (nsteps == 0 || zone->ninputs == 0)
		return "the query has groups or expressions of several columns, and no filters";
	if (zone->format.ncolumns > GPB_CELL_COLUMNS)
		return "the query has too many columns";
	reader->format = &zone->format;
	gpb_cells_note_wants(reader, zone->want);
	return NULL;
}

/* ---- a leaf ---- */

/* What the copied cells of a leaf have of column i of the format */
static inline const GpbCellColumn *
copied_column(const GpbCellCopy *copy, int i)
{
	return copy->column_at[i] == NULL ? &copy->leaf.leaf.column : &copy->column[i].column.column;
}

/* The bounds of column i of the format on a leaf */
static GpbZoneValue
column_zone(const GpbCellReader *reader, const GpbCellCopy *copy, int i)
{
	const GpbCellColumn *have = copied_column(copy, i);
	int			column = reader->format->column[i].column;
	GpbZoneValue value = gpb_zone_any(column);

	value.has_values = have->count > 0;
	value.has_nulls = have->count < copy->leaf.leaf.entries;
	if (!has_bounds(&reader->program->layout, column))
		return value;
	value.least = have->min;
	value.greatest = have->max;
	value.floats = reader->format->column[i].kind == GPB_KIND_FLOAT8;
	return value;
}

/*
 * What does a term take of a leaf all of whose entries pass the filters?  Returns false if it can't
 * be told.
 */
static bool
take_term(const GpbZoneCells *zone, const GpbTerm *term, GpbZoneTerm *take)
{
	const GpbZoneValue *value = zone->slot + term->slot;
	const GpbZoneValue *filter = zone->slot + term->filter;

	take->from = GPB_TERM_NOTHING;
	if (term->filter != GPB_NO_SLOT && !gpb_zone_may_be_true(filter))
		return true;
	if (term->filter != GPB_NO_SLOT && !gpb_zone_is_true(filter))
		return false;
	take->from = GPB_TERM_ENTRIES;
	if (term->slot == GPB_NO_SLOT)
		return true;
	if (value->column != GPB_NO_SLOT)
	{
		take->from = zone->place[value->column];
		return true;
	}
	if (!value->has_values)
	{
		take->from = GPB_TERM_NOTHING;
		return true;
	}
	take->from = GPB_TERM_VALUE;
	take->value = value->least;
	return gpb_zone_is_one(value) &&
		(term->kind != GPB_KIND_FLOAT8 || (term->want & ~GPB_WANT_COUNT) == 0);
}

GpbZoneVerdict
gpb_zone_cells_judge(GpbCellReader *reader, GpbCellCopy *copy)
{
	GpbZoneCells *zone = reader->zone;
	GpbZoneVerdict verdict;
	int			i;

	if (copy->leaf.leaf.entries == 0)
		return GPB_ZONE_NONE;
	for (i = 0; i < zone->ninputs; i++)
		zone->slot[zone->format.column[i].column] = column_zone(reader, copy, i);
	verdict = gpb_zone_judge(reader->program, zone->slot);
	if (verdict != GPB_ZONE_ALL)
		return verdict;
	if (!zone->takes_whole)
		return GPB_ZONE_MIXED;
	for (i = 0; i < reader->program->nterms; i++)
	{
		if (!take_term(zone, &reader->program->term[i], &copy->term[i]))
			return GPB_ZONE_MIXED;
	}
	return GPB_ZONE_ALL;
}

void
gpb_zone_cells_add(const GpbCellReader *reader, const GpbCellCopy *copy, GpbCellTotal *total)
{
	int			entries = copy->leaf.leaf.entries;
	int			t;

	total->entries += entries;
	for (t = 0; t < reader->program->nterms; t++)
	{
		const GpbZoneTerm *term = &copy->term[t];
		GpbColumnState *state = &total->state[t];

		if (term->from == GPB_TERM_ENTRIES)
			state->count += entries;
		else if (term->from == GPB_TERM_VALUE)
			gpb_column_state_add_times(state, term->value, entries);
		else if (term->from != GPB_TERM_NOTHING)
		{
			gpb_cell_add_column(state, copied_column(copy, term->from));
			if (reader->answers->column[t].float_sum != 0)
				gpb_narrow_sum_merge(&total->sum[t], &copy->column[term->from].column.sum);
		}
	}
}
