/*-------------------------------------------------------------------------
 *
 * program_model.c
 *	  What a program with steps, terms or groups, or one that lists, should give, entry by entry.
 *
 * Which entries of which ranges the snapshot sees is what test_expect() says of a list of them.  A
 * step is what program_steps.h says, but in the order of the program and with each slot in a
 * variable of its own; groups are looked for one after the other in a sorted array.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "program/program_steps.h"
#include "program_model.h"

/* ---- one entry ---- */

/* The sign bit of a word turned over: the order of unsigned integers becomes that of signed ones */
static int64
turn_sign(uint64 word)
{
	return (int64) (word + ((uint64) 1 << 63));
}

/* Half of a key of 16 bytes, as program.h says, but by arithmetic of the model's own */
static int64
half_of_key(const GpbLayout *layout, GpbKey key, bool lower)
{
	uint64		half = (uint64) (lower ? key : key >> 64);

	if (layout->flags & GPB_LAYOUT_DESC)
		half = ~(uint64) 0 - half;
	return turn_sign(half);
}

/*
 * Half of a value of 16 bytes in a row, by arithmetic of the model's own: of an integer, whose least
 * byte comes first, or of bytes, whose greatest does
 */
static int64
half_in_row(const char *bytes, int kind, bool lower)
{
	bool		is_integer = kind == GPB_KIND_INT128;
	uint64		half = 0;
	int			i;

	for (i = 0; i < 8; i++)
	{
		int			place = lower ? 8 + i : i;	/* from the greatest byte */

		half = half * 256 + (uint8) bytes[is_integer ? 15 - place : place];
	}
	/* the upper half of an integer has a sign already */
	return is_integer && !lower ? (int64) half : turn_sign(half);
}

/* A column that has halves, and is no NULL: one of them */
static int64
half_of_column(const GpbLayout *layout, int column, bool lower, GpbKey key, const char *row)
{
	return column == 0 ? half_of_key(layout, key, lower) :
		half_in_row(row + layout->offset[column - 1], layout->kind[column - 1], lower);
}

static bool
is_of_halves(const GpbLayout *layout, int column)
{
	if (column == 0)
		return layout->key_width == 16 && layout->nkeys == 0;
	return column <= layout->ncolumns && (layout->kind[column - 1] == GPB_KIND_INT128 ||
										  layout->kind[column - 1] == GPB_KIND_BYTES16);
}

/* The columns and constants of an entry, given by its key and row */
static void
set_slots(const GpbProgram *program, GpbKey key, const char *row, GpbValue *slot)
{
	const GpbLayout *layout = &program->layout;
	bool		nulls_first = (layout->flags & GPB_LAYOUT_NULLS_FIRST) != 0;
	uint64		locator = gpb_row_locator(row);
	int			c;
	int			i;

	memset(slot, 0, GPB_SLOTS * sizeof(GpbValue));
	slot[0].is_null = ((locator & GPB_LOC_ORDER_BIT) != 0) != nulls_first;
	slot[0].word = is_of_halves(layout, 0) ? half_of_column(layout, 0, false, key, row) :
		gpb_key_value((uint64) key, layout->key_width, layout->flags);
	for (c = 0; c < layout->ncolumns; c++)
	{
		slot[c + 1].is_null = (locator >> (GPB_LOC_NULL_SHIFT + c)) & 1;
		slot[c + 1].word = is_of_halves(layout, c + 1) ?
			half_of_column(layout, c + 1, false, key, row) :
			gpb_row_value(row, layout->offset[c], layout->kind[c]);
	}
	for (c = 0; c < layout->nkeys; c++)
	{
		GpbValue   *value = &slot[gpb_key_column_slot(layout, c)];

		value->is_null = gpb_key_column_is_null(layout, c, key);
		value->word = value->is_null ? 0 : gpb_key_column_value(layout, c, key);
	}
	for (i = 0; i < program->nhalves; i++)
	{
		GpbValue   *value = &slot[layout->ncolumns + 1 + layout->nkeys + i];

		value->is_null = slot[program->half[i]].is_null;
		value->word = half_of_column(layout, program->half[i], true, key, row);
	}
	for (i = 0; i < program->nconstants; i++)
	{
		slot[GPB_FIRST_CONSTANT + i].is_null = (program->null_constants >> i) & 1;
		slot[GPB_FIRST_CONSTANT + i].word = program->constant[i];
	}
}

/* Do a step that is no filter; true if it faults. */
static bool
do_step(const GpbProgram *program, const GpbStep *step, GpbValue *slot)
{
	GpbValue	none = {0, false};
	int			operands = gpb_operands(step->op);
	int			n;
	const int64 *table = gpb_step_table(&program->tables, step, &n);
	GpbValue	a = slot[step->a];
	GpbValue	b = operands > 1 ? slot[step->b] : none;
	GpbValue	c = operands > 2 ? slot[step->c] : none;
	bool		guarded = step->guard != GPB_NO_SLOT && !gpb_is_true(slot[step->guard]);
	GpbValue	result = {0, false};
	bool		fault;

	if (gpb_operator_takes_nulls(step->op))
	{
		slot[step->into] = gpb_step_of_nulls(step->op, a, b, c);
		return false;
	}
	result.is_null = a.is_null || b.is_null || c.is_null;
	fault = !result.is_null &&
		gpb_step_of_values(step->op, a.word, b.word, c.word, table, n, &result.word);
	if (fault)
		result.word = 0;
	slot[step->into] = result;
	return fault && !guarded;
}

/* Do all steps; false if the entry does not count.  Faults are added to *faults. */
static bool
do_steps(const GpbProgram *program, GpbValue *slot, uint64 *faults)
{
	int			i;

	for (i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];

		if (step->op != GPB_OP_FILTER)
			*faults += do_step(program, step, slot);
		else if (!gpb_is_true(slot[step->a]))
			return false;
	}
	return true;
}

/* Does no narrow sum hold the value? */
static bool
is_unheld(double value)
{
	return value != 0 && !(fabs(value) >= ldexp(1, -126) && fabs(value) < ldexp(1, 66));
}

/* How many parts of what is added to the exact sums of a term does a narrow one not hold? */
static uint64
count_unheld(const GpbAnswerColumn *column, double value)
{
	double		product = value * value;
	uint64		unheld = column->float_sum != 0 && is_unheld(value);

	if (column->float_squares != 0)
		unheld += is_unheld(product) || is_unheld(fma(value, value, -product));
	return unheld;
}

/* The integer of 128 bits that two halves stand for */
static __int128
whole_of(int64 upper, int64 lower)
{
	return (__int128) ((unsigned __int128) (uint64) upper << 64 |
					   ((uint64) lower ^ (uint64) 1 << 63));
}

/* Take a value of two halves into a term's bounds of such. */
static void
add_halves(const GpbAnswerColumn *column, int64 *answer, int64 upper, int64 lower)
{
	int64	   *bound = answer + column->halves;

	if (whole_of(upper, lower) < whole_of(bound[0], bound[1]))
	{
		bound[0] = upper;
		bound[1] = lower;
	}
	if (whole_of(upper, lower) > whole_of(bound[2], bound[3]))
	{
		bound[2] = upper;
		bound[3] = lower;
	}
}

/* Add an entry, whose steps are done, to an answer.  Returns count_unheld() of it. */
static uint64
add_terms(const GpbProgram *program, const GpbAnswerFormat *format, const GpbValue *slot,
		  int64 *answer)
{
	uint64		unheld = 0;
	int			t;

	answer[0]++;
	for (t = 0; t < program->nterms; t++)
	{
		const GpbTerm *term = &program->term[t];

		if (term->filter != GPB_NO_SLOT && !gpb_is_true(slot[term->filter]))
			continue;
		if (term->slot == GPB_NO_SLOT)
			answer[format->column[t].count]++;
		else if (!slot[term->slot].is_null)
		{
			gpb_answer_add_value(&format->column[t], answer, slot[term->slot].word);
			if (gpb_term_lower(term) != GPB_NO_SLOT)
				add_halves(&format->column[t], answer, slot[term->slot].word,
						   slot[term->lower].word);
			unheld += count_unheld(&format->column[t], gpb_float_value(slot[term->slot].word));
		}
	}
	return unheld;
}

/* ---- groups ---- */

static int	compared_values;

static int
compare_groups(const void *a, const void *b)
{
	const GpbGroup *x = a;
	const GpbGroup *y = b;

	if (x->number != y->number)
		return x->number < y->number ? -1 : 1;
	if (x->nulls != y->nulls)
		return x->nulls < y->nulls ? -1 : 1;
	return memcmp(x->words, y->words, compared_values * sizeof(int64));
}

void
test_sort_groups(const GpbProgram *program, void *groups, uint64 n, int width)
{
	compared_values = program->ngroups;
	qsort(groups, n, width, compare_groups);
}

/* The answer of the entry's group, which is made if there is none yet; the groups stay sorted. */
static int64 *
answer_of_group(const GpbProgram *program, TestProgramAnswers *answers, uint32 number,
				const GpbValue *slot)
{
	int			width = answers->group_width;
	GpbGroup   *group = calloc(1, width);
	uint64		low = 0;
	uint64		high = answers->ngroups;
	char	   *at;
	int			g;

	group->number = program->by_range ? number : 0;
	for (g = 0; g < program->ngroups; g++)
	{
		GpbValue	value = slot[program->group[g]];

		group->nulls |= (uint32) value.is_null << g;
		group->words[g] = value.is_null ? 0 : value.word;
	}
	compared_values = program->ngroups;
	while (low < high)
	{
		uint64		middle = (low + high) / 2;

		if (compare_groups(answers->groups + middle * width, group) < 0)
			low = middle + 1;
		else
			high = middle;
	}
	if (answers->ngroups == answers->room)
	{
		answers->room = answers->room * 2 + 64;
		answers->groups = realloc(answers->groups, answers->room * width);
	}
	at = answers->groups + low * width;
	if (low == answers->ngroups || compare_groups(at, group) != 0)
	{
		memmove(at + width, at, (answers->ngroups - low) * width);
		gpb_answer_init(&answers->format, group->words + program->ngroups);
		memcpy(at, group, width);
		answers->ngroups++;
	}
	free(group);
	return ((GpbGroup *) at)->words + program->ngroups;
}

/* ---- all entries ---- */

static void
normalize(const GpbProgram *program, TestProgramAnswers *answers)
{
	uint64		i;

	for (i = 0; i < answers->nanswers; i++)
		gpb_answer_normalize(&answers->format, answers->answers + i * answers->format.words);
	for (i = 0; i < answers->ngroups; i++)
	{
		GpbGroup   *group = (GpbGroup *) (answers->groups + i * answers->group_width);

		gpb_answer_normalize(&answers->format, group->words + program->ngroups);
	}
}

TestProgramAnswers *
test_model_program(const TestMirror *mirror, const GpbRangesSpec *spec, const void *ranges)
{
	GpbRangesSpec wide = *spec;
	const GpbProgram *program = &wide.program;
	TestProgramAnswers *answers = calloc(1, sizeof(TestProgramAnswers));
	int			width = test_entry_width(&program->layout);
	GpbRangesSpec list;
	TestExpected *listed;
	uint64		i;

	wide.program.narrow_sums = false;
	gpb_answer_format(program, &answers->format);
	answers->nanswers = gpb_count_answers(spec);
	answers->answers = calloc(answers->nanswers + 1, gpb_answer_width(&answers->format));
	answers->group_width = gpb_group_width(program, &answers->format);
	for (i = 0; i < answers->nanswers; i++)
		gpb_answer_init(&answers->format, answers->answers + i * answers->format.words);
	list = wide;
	list.program.list_entries = true;
	listed = test_expect(mirror->index, &list, ranges, mirror->visible);
	for (i = 0; i < listed->nentries; i++)
	{
		const GpbRangeEntry *entry = (const GpbRangeEntry *) (listed->entries + i * width);
		GpbValue	slot[GPB_SLOTS];
		int64	   *answer;

		if ((entry->flags & GPB_RANGE_ENTRY_VISIBLE) == 0)
			continue;
		set_slots(program, gpb_entry_key(entry, &program->layout), entry->row, slot);
		if (!do_steps(program, slot, &answers->faults))
			continue;
		answers->counted++;
		if (program->ngroups > 0)
			answer = answer_of_group(program, answers, entry->number, slot);
		else
			answer = answers->answers +
				(spec->total ? 0 : (uint64) entry->number * answers->format.words);
		answers->unheld += add_terms(program, &answers->format, slot, answer);
	}
	normalize(program, answers);
	test_expected_free(listed);
	return answers;
}

void
test_program_answers_free(TestProgramAnswers *answers)
{
	free(answers->answers);
	free(answers->groups);
	free(answers);
}

/* ---- lists ---- */

/* The place of a value in the order of a limited list: of two, the first is less */
typedef struct Place
{
	int			nulls;
	int64		word;
	bool		null;
} Place;

static int	backward;

static int
compare_places(const void *a, const void *b)
{
	const Place *x = a;
	const Place *y = b;

	if (x->nulls != y->nulls)
		return x->nulls < y->nulls ? -1 : 1;
	if (x->word == y->word)
		return 0;
	return (x->word < y->word) != (backward != 0) ? -1 : 1;
}

/*
 * Keep the entries of the list that the program wants, with the places of their orders; -1 in
 * nulls stands before all: a step faulted.  Returns how many places count for the limit, which are
 * at "counted".
 */
static uint64
keep_wanted(const GpbProgram *program, TestExpected *listed, Place *places, Place *counted)
{
	int			width = test_entry_width(&program->layout);
	uint64		kept = 0;
	uint64		ncounted = 0;
	uint64		i;

	for (i = 0; i < listed->nentries; i++)
	{
		GpbRangeEntry *entry = (GpbRangeEntry *) (listed->entries + i * width);
		GpbValue	slot[GPB_SLOTS];
		GpbValue	order;
		int			fault = false;
		int			s;

		set_slots(program, gpb_entry_key(entry, &program->layout), entry->row, slot);
		for (s = 0; s < program->nsteps && !fault; s++)
		{
			if (program->step[s].op != GPB_OP_FILTER)
				fault = do_step(program, &program->step[s], slot);
			else if (!gpb_is_true(slot[program->step[s].a]))
				break;
		}
		if (!fault && s < program->nsteps)
			continue;
		order = slot[program->order];
		places[kept].nulls = fault ? -1 : order.is_null != program->nulls_first;
		places[kept].null = order.is_null;
		places[kept].word = fault || order.is_null ? 0 : order.word;
		if (!fault && (entry->flags & GPB_RANGE_ENTRY_VISIBLE) != 0)
			counted[ncounted++] = places[kept];
		if (fault)
			entry->flags |= GPB_RANGE_ENTRY_FAULTED;
		memmove(listed->entries + kept++ * width, entry, width);
	}
	listed->nentries = kept;
	return ncounted;
}

TestListModel *
test_model_list(const TestMirror *mirror, const GpbRangesSpec *spec, const void *ranges)
{
	const GpbProgram *program = &spec->program;
	TestListModel *model = calloc(1, sizeof(TestListModel));
	TestExpected *listed = test_expect(mirror->index, spec, ranges, mirror->visible);
	Place	   *places = malloc((listed->nentries + 1) * sizeof(Place));
	Place	   *counted = malloc((listed->nentries + 1) * sizeof(Place));
	uint64		n = keep_wanted(program, listed, places, counted);
	uint64		i;

	backward = program->descending;
	qsort(counted, n, sizeof(Place), compare_places);
	model->listed = listed;
	model->required = calloc(listed->nentries + 1, sizeof(bool));
	for (i = 0; i < listed->nentries; i++)
	{
		model->required[i] = program->limit == 0 || n < program->limit ||
			places[i].nulls < 0 || compare_places(&places[i], &counted[program->limit - 1]) <= 0;
		model->nrequired += model->required[i];
		model->nextreme += program->limit > 0 &&
			(places[i].null || places[i].word == GPB_INT64_MIN ||
			 places[i].word == GPB_INT64_MAX);
	}
	free(places);
	free(counted);
	return model;
}

void
test_list_model_free(TestListModel *model)
{
	test_expected_free(model->listed);
	free(model->required);
	free(model);
}
