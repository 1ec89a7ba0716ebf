/*-------------------------------------------------------------------------
 *
 * programs.c
 *	  Requests with programs: filters, terms, groups, faults.
 *
 * What is expected is computed entry by entry from the list of entries that the ranges have, with
 * the operators of program_steps.h, which test/unit compares with other means.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "harness.h"
#include "program/program_steps.h"

#define CASE(name) {#name, name}

/* ---- what is expected ---- */

bool
test_has_program(const GpbRangesSpec *spec)
{
	return !spec->program.list_entries && !gpb_program_is_plain(&spec->program);
}

/* Do the steps for one entry, whose columns are set.  Returns whether a filter lets it through. */
static bool
do_steps(const GpbProgram *program, GpbValue *value, bool *fault)
{
	int			i;

	for (i = 0; i < program->nsteps; i++)
	{
		const GpbStep *step = &program->step[i];
		int			operands = gpb_operands(step->op);
		GpbValue	none = {0, false};
		GpbValue	a = value[step->a];
		GpbValue	b = operands > 1 ? value[step->b] : none;
		GpbValue	c = operands > 2 ? value[step->c] : none;
		GpbValue	result = {0, false};
		bool		faulted = false;
		int			n;
		const int64 *table = gpb_step_table(&program->tables, step, &n);

		if (step->op == GPB_OP_FILTER)
		{
			if (!gpb_is_true(a))
				return false;
			continue;
		}
		if (gpb_operator_takes_nulls(step->op))
			result = gpb_step_of_nulls(step->op, a, b, c);
		else if (a.is_null || b.is_null || c.is_null)
			result.is_null = true;
		else
			faulted = gpb_step_of_values(step->op, a.word, b.word, c.word, table, n,
										 &result.word);
		if (faulted && (step->guard == GPB_NO_SLOT || gpb_is_true(value[step->guard])))
			*fault = true;
		if (faulted || result.is_null)
			result.word = 0;
		value[step->into] = result;
	}
	return true;
}

/* Where the groups of the request at hand are, by a sum of their bytes: a group's number plus 1 */
#define PLACES	(1 << 17)
static uint32 places[PLACES];

/*
 * Number of the group that begins with these bytes; that of the next one to be made, at whose place
 * it is then noted, if there is none.
 */
static uint64
find_group(const TestExpected *expected, const GpbGroup *group, size_t bytes)
{
	uint64		at = 0;
	size_t		i;

	for (i = 0; i < bytes; i++)
		at = at * 31 + ((const uint8 *) group)[i];
	for (at = (at ^ at >> 17) % PLACES; places[at] != 0; at = (at + 1) % PLACES)
	{
		if (memcmp(expected->groups + (uint64) (places[at] - 1) * expected->group_width, group,
				   bytes) == 0)
			return places[at] - 1;
	}
	places[at] = (uint32) expected->ngroups + 1;
	return expected->ngroups;
}

/* The group to which an entry with these values belongs, made if there is none */
static int64 *
group_answer(TestExpected *expected, const GpbProgram *program, const GpbAnswerFormat *format,
			 uint32 number, const GpbValue *value)
{
	int			width = expected->group_width;
	GpbGroup   *group = calloc(1, width);
	uint64		i;
	int			g;

	group->number = program->by_range ? number : 0;
	for (g = 0; g < program->ngroups; g++)
	{
		const GpbValue *of = &value[program->group[g]];

		group->nulls |= (uint32) of->is_null << g;
		group->words[g] = of->is_null ? 0 : of->word;
	}
	i = find_group(expected, group, sizeof(GpbGroup) + program->ngroups * 8);
	if (i == expected->ngroups)
	{
		if (expected->ngroups == expected->room_groups)
		{
			expected->room_groups = expected->room_groups * 2 + 100;
			expected->groups = realloc(expected->groups, expected->room_groups * width);
		}
		gpb_answer_init(format, group->words + program->ngroups);
		memcpy(expected->groups + i * width, group, width);
		expected->ngroups++;
	}
	free(group);
	return ((GpbGroup *) (expected->groups + i * width))->words + program->ngroups;
}

/* Add an entry, whose steps are done, to an answer. */
static void
add_terms(const GpbProgram *program, const GpbAnswerFormat *format, const GpbValue *value,
		  int64 *answer)
{
	int			i;

	answer[0]++;
	for (i = 0; i < program->nterms; i++)
	{
		const GpbTerm *term = &program->term[i];

		if (term->filter != GPB_NO_SLOT && !gpb_is_true(value[term->filter]))
			continue;
		if (term->slot == GPB_NO_SLOT)
			answer[format->column[i].count]++;
		else if (!value[term->slot].is_null)
			gpb_answer_add_value(&format->column[i], answer, value[term->slot].word);
	}
}

/* Put one listed entry through the program. */
static void
add_listed(TestExpected *expected, const GpbRangesSpec *spec, const GpbAnswerFormat *format,
		   const GpbRangeEntry *entry)
{
	const GpbProgram *program = &spec->program;
	const GpbLayout *layout = &program->layout;
	uint64		locator = gpb_row_locator(entry->row);
	GpbValue	value[GPB_SLOTS];
	int			i;

	memset(value, 0, sizeof(value));
	value[0].is_null = gpb_locator_is_null(locator, layout->flags);
	if (!value[0].is_null)
		value[0].word = gpb_key_value(entry->key, layout->key_width, layout->flags);
	for (i = 0; i < layout->ncolumns; i++)
	{
		value[i + 1].is_null = gpb_locator_column_is_null(locator, i);
		if (!value[i + 1].is_null)
			value[i + 1].word = gpb_row_value(entry->row, layout->offset[i], layout->kind[i]);
	}
	for (i = 0; i < program->nconstants; i++)
	{
		value[GPB_FIRST_CONSTANT + i].is_null = (program->null_constants >> i) & 1;
		if (!value[GPB_FIRST_CONSTANT + i].is_null)
			value[GPB_FIRST_CONSTANT + i].word = program->constant[i];
	}
	if (!do_steps(program, value, &expected->fault))
		return;
	add_terms(program, format, value, program->ngroups > 0 ?
			  group_answer(expected, program, format, entry->number, value) :
			  expected->answers + (spec->total ? 0 : (uint64) entry->number * format->words));
}

TestExpected *
test_expect_program(const TestIndex *index, const GpbRangesSpec *spec, const void *ranges,
					const uint8 *visible)
{
	GpbRangesSpec plain = *spec;
	GpbAnswerFormat format;
	TestExpected *listed;
	TestExpected *expected;
	int			width = test_entry_width(&index->layout);
	uint64		i;

	memset(places, 0, sizeof(places));
	plain.program.nsteps = plain.program.nterms = plain.program.ngroups = 0;
	expected = test_expect(index, &plain, ranges, visible);
	plain.program.list_entries = true;
	plain.total = false;
	listed = test_expect(index, &plain, ranges, visible);

	gpb_answer_format(&spec->program, &format);
	expected->words = format.words;
	expected->nanswers = spec->program.ngroups > 0 ? 0 : spec->total ? 1 : spec->n;
	expected->group_width = gpb_group_width(&spec->program, &format);
	expected->answers = realloc(expected->answers, (expected->nanswers + 1) * format.words * 8);
	for (i = 0; i < expected->nanswers; i++)
		gpb_answer_init(&format, expected->answers + i * format.words);
	for (i = 0; i < listed->nentries; i++)
	{
		const GpbRangeEntry *entry = (const GpbRangeEntry *) (listed->entries + i * width);

		if ((entry->flags & GPB_RANGE_ENTRY_VISIBLE) != 0)
			add_listed(expected, spec, &format, entry);
	}
	for (i = 0; i < expected->nanswers; i++)
		gpb_answer_normalize(&format, expected->answers + i * format.words);
	for (i = 0; i < expected->ngroups; i++)
		gpb_answer_normalize(&format, ((GpbGroup *) (expected->groups +
													 i * expected->group_width))->words +
							 spec->program.ngroups);
	test_expected_free(listed);
	return expected;
}

/* ---- programs ---- */

/* Columns of the index that the cases below use: the key, an int4, an int8, a float8, an int2 */
enum
{
	KEY, INT4, INT8, FLOAT8, INT2
};

#define CONSTANT(i)		(GPB_FIRST_CONSTANT + (i))
#define TEMPORARY(i)	(GPB_FIRST_TEMPORARY + (i))

/* Values that rarely make an operator fault */
static int64
moderate_value(int column, uint32 i)
{
	switch (column + 1)
	{
		case FLOAT8:
			return gpb_float_bits(test_once_in(20) ? 1e300 :
								  ((double) test_below(2000000) - 1000000) / 64);
		case INT8:
			return (int64) test_below((uint64) 1 << 50) - ((int64) 1 << 49);
		default:
			return (int64) test_below(200) - 100;
	}
}

static TestMirror *
program_mirror(uint32 nentries, uint32 null_values, int flags)
{
	static const int kinds[] = {GPB_KIND_INT4, GPB_KIND_INT8, GPB_KIND_FLOAT8, GPB_KIND_INT2};
	TestShape	shape = test_plain_shape(nentries);

	shape.layout = test_layout(8, flags, 4, kinds);
	shape.null_values = null_values;
	shape.null_keys = null_values;
	shape.dead = 30;
	shape.empty_leaves = 20;
	shape.value = moderate_value;
	return test_filled(&shape);
}

/* A request for n ranges without a program yet */
static GpbRangesSpec
program_spec(const TestMirror *mirror, uint32 n)
{
	GpbRangesSpec spec = test_spec(mirror, n);

	memset(spec.program.want, 0, sizeof(spec.program.want));
	return spec;
}

static int
add_constant(GpbProgram *program, int64 value)
{
	program->constant[program->nconstants] = value;
	return CONSTANT(program->nconstants++);
}

/* A table for GPB_OP_IN; returns its number. */
static int
add_table(GpbProgram *program)
{
	static const int64 words[] = {-50, 0, 33};

	program->tables.first[1] = 7;
	program->tables.length[1] = 3;
	memcpy(program->tables.word + 7, words, sizeof(words));
	return 1;
}

/* A set of codes for GPB_OP_IN_CODES, as a list or as bits; returns its table's number. */
static int
add_codes(GpbProgram *program, bool listed)
{
	static const int64 list[] = {GPB_CODES_LISTED, 0, 33, 80};
	static const int64 bits[] = {5, 0x5555555555555555, (int64) 0x8000000000000001};

	program->tables.first[2] = 20;
	program->tables.length[2] = listed ? 4 : 3;
	memcpy(program->tables.word + 20, listed ? list : bits, listed ? sizeof(list) : sizeof(bits));
	return 2;
}

/* Ranks of codes for GPB_OP_RANKED; returns their table's number. */
static int
add_ranks(GpbProgram *program)
{
	static const int64 words[] = {(int64) 6 << GPB_RANK_BITS_AT | 3, 0x123456789ABCDEF0,
	(int64) 0x8877665544332211};

	program->tables.first[3] = 40;
	program->tables.length[3] = 3;
	memcpy(program->tables.word + 40, words, sizeof(words));
	return 3;
}

/* A zone whose offset changes at the beginning of 2000, and then each day for some days */
static int
add_zone(GpbProgram *program)
{
	int			i;

	program->tables.first[0] = 20;
	program->tables.length[0] = 12;
	program->tables.word[20] = gpb_zone_word(GPB_ZONE_BEGIN, 3600);
	for (i = 1; i < 12; i++)
		program->tables.word[20 + i] = gpb_zone_word(i == 11 ? GPB_ZONE_END : (i - 1) * 86400,
													 3600 * (i % 2) - 1800);
	return 0;
}

static int
add_step(GpbProgram *program, int op, int a, int b, int c)
{
	GpbStep    *step = &program->step[program->nsteps];

	step->op = (uint8) op;
	step->into = (uint8) TEMPORARY(program->nsteps % GPB_MAX_TEMPORARIES);
	step->a = (uint8) a;
	step->b = (uint8) b;
	step->c = (uint8) c;
	step->guard = GPB_NO_SLOT;
	program->nsteps++;
	return step->into;
}

static void
add_term(GpbProgram *program, int slot, int kind, int want, int filter)
{
	GpbTerm    *term = &program->term[program->nterms++];

	term->slot = (uint8) slot;
	term->kind = (uint8) kind;
	term->want = (uint8) want;
	term->filter = (uint8) filter;
}

#define WANT_INTEGER \
	(GPB_WANT_COUNT | GPB_WANT_SUM | GPB_WANT_MINMAX | GPB_WANT_SQUARES | GPB_WANT_AND | \
	 GPB_WANT_OR | GPB_WANT_XOR)
#define WANT_FLOAT \
	(GPB_WANT_COUNT | GPB_WANT_SUM | GPB_WANT_MINMAX | GPB_WANT_SQUARES)

/* Ask with random ranges, in every form, for each range and in total. */
static void
ask_program(TestMirror *mirror, const GpbProgram *program, uint32 n, uint64 entries)
{
	int			form;

	for (form = GPB_RANGE_POINTS; form <= GPB_RANGE_BOUNDS; form++)
	{
		GpbRangesSpec spec = program_spec(mirror, n);
		void	   *ranges;

		spec.form = (GpbRangeForm) form;
		spec.program = *program;
		spec.program.layout = mirror->index->layout;
		spec.total = test_once_in(2);
		spec.program.by_range = program->ngroups > 0 && test_once_in(2);
		ranges = test_random_ranges(mirror, &spec, entries);
		test_ask(mirror, 0, &spec, ranges);
		free(ranges);
	}
}

/* Ask for the whole index, and for ranges few and many, short and long. */
static void
ask_all(TestMirror *mirror, const GpbProgram *program)
{
	GpbRangesSpec spec = program_spec(mirror, 1);

	spec.program = *program;
	spec.program.layout = mirror->index->layout;
	test_ask(mirror, 0, &spec, &test_whole);
	spec.total = true;
	test_ask(mirror, 0, &spec, &test_whole);
	ask_program(mirror, program, 1, 3000);
	ask_program(mirror, program, test_emulated ? 20 : 200, 10);
	ask_program(mirror, program, 7, 700);
}

/* ---- cases ---- */

/* Every operator, of operands that fit it, into a sum and a filter */
TEST(program_operators)
{
	TestMirror *mirror = program_mirror(test_emulated ? 1500 : 6000, 6, 0);
	int			op;

	test_random_visible(mirror, 5);
	for (op = GPB_OP_FILTER + 1; op < GPB_OPERATORS; op++)
	{
		bool		floats = op >= GPB_OP_FLOAT_ORDER && op <= GPB_OP_FLOAT_TO_INT &&
			op != GPB_OP_INT_TO_FLOAT;
		bool		float_result = op == GPB_OP_INT_TO_FLOAT ||
			(floats && op != GPB_OP_FLOAT_ORDER && op != GPB_OP_FLOAT_TO_INT);
		GpbProgram	program;
		int			a = floats ? FLOAT8 : INT8;
		int			b = floats ? FLOAT8 : INT4;
		int			c = INT2;
		int			positive;
		int			into;
		GpbRangesSpec spec = program_spec(mirror, 1);

		memset(&program, 0, sizeof(program));
		positive = add_constant(&program, op == GPB_OP_TRUNCATE_MONTHS ? 3 : 1000003);
		if (op <= GPB_OP_IS_TRUE || op == GPB_OP_SELECT)
			a = add_step(&program, GPB_OP_GT, INT4, INT2, 0);
		if (op == GPB_OP_AND || op == GPB_OP_OR)
			b = add_step(&program, GPB_OP_LT, INT2, add_constant(&program, 11), 0);
		if (op == GPB_OP_MULTIPLY || op == GPB_OP_UPPER_MULTIPLY || op == GPB_OP_TO_INT2 ||
			op == GPB_OP_TO_INT4 || op == GPB_OP_DATE_TO_TIMESTAMP || op == GPB_OP_DATE_ADD ||
			op == GPB_OP_DATE_SUBTRACT)
			a = INT4;
		if (op == GPB_OP_DIVIDE || op == GPB_OP_MODULO || op == GPB_OP_TRUNCATE ||
			op == GPB_OP_FLOOR_DIVIDE || op == GPB_OP_TRUNCATE_MONTHS)
			b = positive;
		if (op == GPB_OP_DATE_TO_MONTH || op == GPB_OP_MONTH_TO_DATE)
			a = INT2;
		if (op == GPB_OP_FLOAT_DIVIDE || op == GPB_OP_FLOAT_MULTIPLY)
			b = add_constant(&program, gpb_float_bits(0.75));
		if (op == GPB_OP_IN)
		{
			a = INT4;
			b = add_table(&program);
			c = 0;
		}
		if (op == GPB_OP_IN_CODES)
		{
			a = INT4;
			b = add_codes(&program, test_below(2) > 0);
			c = 0;
		}
		if (op == GPB_OP_RANKED)
		{
			a = INT4;
			b = add_ranks(&program);
			c = 0;
		}
		if (op == GPB_OP_ADD_MONTHS)
			b = INT2;
		if (op == GPB_OP_TO_LOCAL || op == GPB_OP_OF_LOCAL)
		{
			b = add_zone(&program);
			c = 0;
		}
		into = add_step(&program, op, a, b, c);
		add_term(&program, into, float_result ? GPB_KIND_FLOAT8 : GPB_KIND_INT8,
				 float_result ? WANT_FLOAT : WANT_INTEGER, GPB_NO_SLOT);
		spec.program = program;
		spec.program.layout = mirror->index->layout;
		CHECK(gpb_program_fault(&spec.program) == NULL, "operator %d: %s", op,
			  gpb_program_fault(&spec.program));
		test_ask(mirror, 0, &spec, &test_whole);
	}
	test_mirror_free(mirror);
}

/* Filters that let all, some, one and no entry through, one after another */
TEST(program_filters)
{
	static const int64 limits[] = {-1000, -90, 0, 99, 1000};
	TestMirror *mirror = program_mirror(test_emulated ? 3000 : 20000, 0, 0);
	int			i;

	for (i = 0; i < 5; i++)
	{
		GpbProgram	program;
		int			x;

		test_random_visible(mirror, i == 0 ? 1000000 : 4);
		memset(&program, 0, sizeof(program));
		x = add_step(&program, GPB_OP_GE, INT4, add_constant(&program, limits[i]), 0);
		(void) add_step(&program, GPB_OP_FILTER, x, 0, 0);
		x = add_step(&program, GPB_OP_LT, INT2, add_constant(&program, 50), 0);
		(void) add_step(&program, GPB_OP_FILTER, x, 0, 0);
		add_term(&program, INT8, GPB_KIND_INT8, WANT_INTEGER, GPB_NO_SLOT);
		add_term(&program, GPB_NO_SLOT, GPB_KIND_INT8, GPB_WANT_COUNT, x);
		add_term(&program, FLOAT8, GPB_KIND_FLOAT8, WANT_FLOAT, GPB_NO_SLOT);
		ask_all(mirror, &program);
	}
	test_mirror_free(mirror);
}

/* Terms of every column, each want alone and all together, with and without filters, with NULLs */
TEST(program_wants)
{
	static const int kinds[] = {GPB_KIND_INT8, GPB_KIND_INT4, GPB_KIND_INT8, GPB_KIND_FLOAT8,
		GPB_KIND_INT2};
	int			round;

	for (round = 0; round < 8; round++)
	{
		TestMirror *mirror = program_mirror(test_emulated ? 2000 : 8000, round % 2 ? 4 : 0,
											round % 4);
		GpbProgram	program;
		int			filter;
		int			c;

		test_random_visible(mirror, 6);
		memset(&program, 0, sizeof(program));
		filter = add_step(&program, GPB_OP_GT, INT4, INT2, 0);
		for (c = KEY; c <= INT2; c++)
		{
			int			all = kinds[c] == GPB_KIND_FLOAT8 ? WANT_FLOAT : WANT_INTEGER;
			int			want = round == 7 ? all : GPB_WANT_COUNT | (1 << round);

			add_term(&program, c, kinds[c], want & all, GPB_NO_SLOT);
			add_term(&program, c, kinds[c], want & all, filter);
		}
		ask_all(mirror, &program);
		test_mirror_free(mirror);
	}
}

/* Groups few and many, of one value and of four, with NULLs, with float sums */
TEST(program_groups)
{
	static const int64 moduli[] = {1, 7, 100, 1500};
	int			round;

	for (round = 0; round < 8; round++)
	{
		TestMirror *mirror = program_mirror(test_emulated ? 1200 : 4000, round % 2 ? 5 : 0, 0);
		GpbProgram	program;
		int			filter;

		test_random_visible(mirror, 6);
		memset(&program, 0, sizeof(program));
		program.group[0] = (uint8) add_step(&program, GPB_OP_MODULO, INT8,
											add_constant(&program, moduli[round / 2]), 0);
		filter = add_step(&program, GPB_OP_GT, INT4, add_constant(&program, 0), 0);
		program.ngroups = 1;
		if (round >= 4)
		{
			program.group[1] = (uint8) filter;
			program.group[2] = INT2;
			program.group[3] = CONSTANT(1);
			program.ngroups = (uint8) (2 + round % 3);
		}
		add_term(&program, INT4, GPB_KIND_INT4, WANT_INTEGER, GPB_NO_SLOT);
		add_term(&program, INT8, GPB_KIND_INT8, GPB_WANT_COUNT | GPB_WANT_SUM, filter);
		if (round % 3 == 0)
			add_term(&program, FLOAT8, GPB_KIND_FLOAT8, WANT_FLOAT, GPB_NO_SLOT);
		ask_all(mirror, &program);
		test_mirror_free(mirror);
	}
}

/* All entries in one group; each in a group of its own; no term at all */
TEST(program_distinct)
{
	TestMirror *mirror = program_mirror(test_emulated ? 2000 : 12000, 0, 0);
	GpbProgram	program;

	memset(&program, 0, sizeof(program));
	program.ngroups = 1;
	program.group[0] = KEY;
	ask_all(mirror, &program);
	program.group[0] = (uint8) add_constant(&program, 5);
	ask_all(mirror, &program);
	program.null_constants = 1;
	ask_all(mirror, &program);
	test_mirror_free(mirror);
}

/*
 * A division by zero for few entries or one: none, if a filter or a guard stands before; none by
 * entries that the heap must decide about.
 */
TEST(program_faults)
{
	TestMirror *mirror = program_mirror(test_emulated ? 1500 : 9000, 3, 0);
	int			round;

	for (round = 0; round < 8; round++)
	{
		GpbProgram	program;
		int			divisor;
		int			safe;
		int			into;

		test_all_visible(mirror, round % 2 == 0);
		memset(&program, 0, sizeof(program));
		divisor = add_step(&program, GPB_OP_SUBTRACT, INT4, add_constant(&program, 17), 0);
		safe = add_step(&program, GPB_OP_NE, INT4, CONSTANT(0), 0);
		if (round / 2 == 1)
			(void) add_step(&program, GPB_OP_FILTER, safe, 0, 0);
		into = add_step(&program, GPB_OP_DIVIDE, INT8, divisor, 0);
		if (round / 2 == 2)
			program.step[program.nsteps - 1].guard = (uint8) safe;
		into = add_step(&program, GPB_OP_SELECT, safe, into, INT2);
		add_term(&program, into, GPB_KIND_INT8, WANT_INTEGER, GPB_NO_SLOT);
		if (round / 2 == 3)
		{
			program.ngroups = 1;
			program.group[0] = INT2;
		}
		ask_all(mirror, &program);
	}
	test_mirror_free(mirror);
}

/* As many steps, constants, terms and groups as there may be */
TEST(program_longest)
{
	TestMirror *mirror = program_mirror(test_emulated ? 1000 : 5000, 7, GPB_LAYOUT_NULLS_FIRST);
	GpbProgram	program;
	int			x = INT4;
	int			in;
	int			i;

	test_random_visible(mirror, 3);
	memset(&program, 0, sizeof(program));
	for (i = 0; i < GPB_MAX_CONSTANTS; i++)
		(void) add_constant(&program, i);
	for (i = 0; i < GPB_MAX_STEPS; i++)
		x = add_step(&program, i % 3 == 2 ? GPB_OP_COALESCE : i % 3 == 1 ? GPB_OP_SUBTRACT :
					 GPB_OP_ADD, x, i % 3 == 2 ? INT2 : CONSTANT(i % GPB_MAX_CONSTANTS), 0);
	for (i = 0; i < GPB_MAX_TERMS; i++)
		add_term(&program, TEMPORARY(2 * i), GPB_KIND_INT8, WANT_INTEGER, GPB_NO_SLOT);
	ask_all(mirror, &program);
	program.ngroups = GPB_MAX_GROUP_SLOTS;
	for (i = 0; i < GPB_MAX_GROUP_SLOTS; i++)
		program.group[i] = (uint8) (i == 0 ? x : i == 1 ? INT2 : INT4);
	ask_all(mirror, &program);
	in = GPB_MAX_TABLES - 1;
	program.tables.length[in] = GPB_MAX_TABLE_WORDS;
	for (i = 0; i < GPB_MAX_TABLE_WORDS; i++)
		program.tables.word[i] = 3 * i - 200;
	program.nsteps = 1;
	program.step[0] = (GpbStep) {GPB_OP_IN, TEMPORARY(0), INT4, (uint8) in, 0, GPB_NO_SLOT};
	for (i = 0; i < GPB_MAX_TERMS; i++)
		program.term[i].slot = TEMPORARY(0);
	program.ngroups = 1;
	program.group[0] = TEMPORARY(0);
	ask_all(mirror, &program);
	program.ngroups = 0;
	for (i = 0; i < GPB_MAX_TERMS; i++)
	{
		program.term[i].slot = FLOAT8;
		program.term[i].kind = GPB_KIND_FLOAT8;
		program.term[i].want = WANT_FLOAT;
	}
	program.ngroups = 0;
	ask_program(mirror, &program, 3, 500);
	test_mirror_free(mirror);
}

/* Leaves that are not clean, some or all: their entries are left out of answers and groups. */
TEST(program_unclean)
{
	TestMirror *mirror = program_mirror(test_emulated ? 2500 : 10000, 8, 0);
	GpbProgram	program;
	int			round;

	memset(&program, 0, sizeof(program));
	add_term(&program, INT4, GPB_KIND_INT4, WANT_INTEGER, GPB_NO_SLOT);
	for (round = 0; round < 4; round++)
	{

		test_change_leaves(mirror, 4);
		program.ngroups = (uint8) (round % 2);
		program.group[0] = INT2;
		ask_all(mirror, &program);
	}
	test_mirror_free(mirror);
}

/* Several requests with programs on channels at once, finished in another order */
TEST(program_channels)
{
	TestMirror *mirror = program_mirror(test_emulated ? 1500 : 8000, 5, 0);
	GpbRangesSpec spec[4];
	int			i;

	for (i = 0; i < 4; i++)
	{
		GpbProgram *program;

		spec[i] = program_spec(mirror, 1);
		program = &spec[i].program;
		if (i % 2 == 1)
		{
			program->ngroups = 1;
			program->group[0] = (uint8) (i == 1 ? INT2 : INT4);
		}
		add_term(program, INT8, GPB_KIND_INT8, i < 2 ? WANT_INTEGER : GPB_WANT_COUNT, GPB_NO_SLOT);
		CHECK_OK(test_launch(mirror, i, &spec[i], &test_whole));
	}
	for (i = 3; i >= 0; i--)
		test_finish(mirror, i, &spec[i], &test_whole);
	test_mirror_free(mirror);
}

/*
 * A program that looks codes below 100,000 up in long tables of n random words each, one as bits
 * and one with ranks of 17 bits; returns the words, which are the caller's to free.
 */
static int64 *
long_program(GpbProgram *program, uint32 n, bool grouped)
{
	int64	   *words = malloc(2 * n * sizeof(int64));
	int			code;
	int			in;
	int			ranked;
	uint32		i;

	for (i = 0; i < 2 * n; i++)
		words[i] = (int64) test_random();
	words[0] = (int64) test_below(300);
	words[n] = (int64) 16 << GPB_RANK_BITS_AT | (int64) test_below(300);
	program->tables.more = words;
	program->tables.first[1] = GPB_MAX_TABLE_WORDS;
	program->tables.first[2] = GPB_MAX_TABLE_WORDS + n;
	program->tables.length[1] = program->tables.length[2] = n;
	code = add_step(program, GPB_OP_MULTIPLY, add_step(program, GPB_OP_ABS, INT4, 0, 0),
					add_constant(program, 997), 0);
	in = add_step(program, GPB_OP_IN_CODES, code, 1, 0);
	ranked = add_step(program, GPB_OP_RANKED, code, 2, 0);
	add_term(program, ranked, GPB_KIND_INT8, GPB_WANT_COUNT | GPB_WANT_MINMAX, in);
	add_term(program, ranked, GPB_KIND_INT8, WANT_INTEGER, GPB_NO_SLOT);
	program->ngroups = grouped ? 1 : 0;
	program->group[0] = (uint8) in;
	return words;
}

/* Long tables of one request, of requests in flight at once, and of one that is abandoned */
TEST(program_long_tables)
{
	TestMirror *mirror = program_mirror(test_emulated ? 1500 : 8000, 5, 0);
	GpbRangesSpec spec[5];
	int64	   *words[5];
	int			i;

	for (i = 0; i < 5; i++)
	{
		spec[i] = program_spec(mirror, 1);
		words[i] = long_program(&spec[i].program, i == 0 ? 20000 : (uint32) 100 << i * 2,
								i % 2 == 1);
	}
	ask_all(mirror, &spec[0].program);
	ask_all(mirror, &spec[1].program);
	for (i = 0; i < 4; i++)
		CHECK_OK(test_launch(mirror, i, &spec[i], &test_whole));
	CHECK_OK(test_launch(mirror, 1, &spec[4], &test_whole));
	for (i = 3; i >= 0; i--)
		test_finish(mirror, i, &spec[i == 1 ? 4 : i], &test_whole);
	ask_all(mirror, &spec[3].program);
	for (i = 0; i < 5; i++)
		free(words[i]);
	test_mirror_free(mirror);
}
