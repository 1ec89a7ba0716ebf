/*-------------------------------------------------------------------------
 *
 * program_cases.c
 *	  Programs with steps, terms and groups, held to the model entry by entry.
 *
 * Random programs are sound in what they do with which type: an operator gets values of the types
 * that it is for, so that no bits of a NaN are taken for an integer, which differ between machines.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>

#include "program_model.h"
#include "program_steps.h"

#define GUARD		64			/* bytes behind the answers */

/* ---- building programs ---- */

/* What a slot has; of the last three the integers are as in program.h */
typedef enum SlotType
{
	TYPE_NONE,
	TYPE_BOOLEAN,
	TYPE_INTEGER,
	TYPE_FLOAT,
	TYPE_DATE,
	TYPE_TIMESTAMP,
	TYPE_SAME					/* of an operator: what its operands have */
} SlotType;

typedef struct Builder
{
	GpbProgram *program;
	SlotType	type[GPB_SLOTS];
	int			next;			/* temporary that is given out next */
} Builder;

/* The types that an operator takes and gives */
typedef struct Signature
{
	uint8		op;
	uint8		result;
	uint8		operand[3];
} Signature;

static const Signature signatures[] = {
	{GPB_OP_AND, TYPE_BOOLEAN, {TYPE_BOOLEAN, TYPE_BOOLEAN}},
	{GPB_OP_OR, TYPE_BOOLEAN, {TYPE_BOOLEAN, TYPE_BOOLEAN}},
	{GPB_OP_NOT, TYPE_BOOLEAN, {TYPE_BOOLEAN}},
	{GPB_OP_IS_NULL, TYPE_BOOLEAN, {TYPE_INTEGER}},
	{GPB_OP_IS_NULL, TYPE_BOOLEAN, {TYPE_FLOAT}},
	{GPB_OP_IS_TRUE, TYPE_BOOLEAN, {TYPE_BOOLEAN}},
	{GPB_OP_EQ, TYPE_BOOLEAN, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_NE, TYPE_BOOLEAN, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_LT, TYPE_BOOLEAN, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_LE, TYPE_BOOLEAN, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_GT, TYPE_BOOLEAN, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_GE, TYPE_BOOLEAN, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_DISTINCT, TYPE_BOOLEAN, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_IN, TYPE_BOOLEAN, {TYPE_INTEGER}},
	{GPB_OP_IN_CODES, TYPE_BOOLEAN, {TYPE_INTEGER}},
	{GPB_OP_SELECT, TYPE_INTEGER, {TYPE_BOOLEAN, TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_SELECT, TYPE_FLOAT, {TYPE_BOOLEAN, TYPE_FLOAT, TYPE_FLOAT}},
	{GPB_OP_COALESCE, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_COALESCE, TYPE_FLOAT, {TYPE_FLOAT, TYPE_FLOAT}},
	{GPB_OP_LEAST, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_GREATEST, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_ADD, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_SUBTRACT, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_MULTIPLY, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_DIVIDE, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_MODULO, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_NEGATE, TYPE_INTEGER, {TYPE_INTEGER}},
	{GPB_OP_ABS, TYPE_INTEGER, {TYPE_INTEGER}},
	{GPB_OP_TO_INT2, TYPE_INTEGER, {TYPE_INTEGER}},
	{GPB_OP_TO_INT4, TYPE_INTEGER, {TYPE_INTEGER}},
	{GPB_OP_FLOAT_ORDER, TYPE_INTEGER, {TYPE_FLOAT}},
	{GPB_OP_FLOAT_ADD, TYPE_FLOAT, {TYPE_FLOAT, TYPE_FLOAT}},
	{GPB_OP_FLOAT_SUBTRACT, TYPE_FLOAT, {TYPE_FLOAT, TYPE_FLOAT}},
	{GPB_OP_FLOAT_MULTIPLY, TYPE_FLOAT, {TYPE_FLOAT, TYPE_FLOAT}},
	{GPB_OP_FLOAT_PRODUCT_REST, TYPE_FLOAT, {TYPE_FLOAT, TYPE_FLOAT}},
	{GPB_OP_FLOAT_DIVIDE, TYPE_FLOAT, {TYPE_FLOAT, TYPE_FLOAT}},
	{GPB_OP_FLOAT_NEGATE, TYPE_FLOAT, {TYPE_FLOAT}},
	{GPB_OP_FLOAT_ABS, TYPE_FLOAT, {TYPE_FLOAT}},
	{GPB_OP_FLOAT_LEAST, TYPE_FLOAT, {TYPE_FLOAT, TYPE_FLOAT}},
	{GPB_OP_FLOAT_GREATEST, TYPE_FLOAT, {TYPE_FLOAT, TYPE_FLOAT}},
	{GPB_OP_INT_TO_FLOAT, TYPE_FLOAT, {TYPE_INTEGER}},
	{GPB_OP_FLOAT_TO_INT, TYPE_INTEGER, {TYPE_FLOAT}},
	{GPB_OP_DATE_TO_TIMESTAMP, TYPE_INTEGER, {TYPE_INTEGER}},
	{GPB_OP_TIMESTAMP_TO_DATE, TYPE_INTEGER, {TYPE_INTEGER}},
	{GPB_OP_DATE_ADD, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_DATE_SUBTRACT, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_TIMESTAMP_ADD, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_TRUNCATE, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_FLOOR_DIVIDE, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_DATE_TO_MONTH, TYPE_INTEGER, {TYPE_INTEGER}},
	{GPB_OP_MONTH_TO_DATE, TYPE_INTEGER, {TYPE_INTEGER}},
	{GPB_OP_TRUNCATE_MONTHS, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_ADD_MONTHS, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_TO_LOCAL, TYPE_INTEGER, {TYPE_INTEGER}},
	{GPB_OP_OF_LOCAL, TYPE_INTEGER, {TYPE_INTEGER}}
};

#define NSIGNATURES ((int) (sizeof(signatures) / sizeof(signatures[0])))

static int
add_constant(Builder *builder, SlotType type, int64 value, bool is_null)
{
	GpbProgram *program = builder->program;
	int			i = program->nconstants++;

	program->constant[i] = value;
	program->null_constants |= (uint64) is_null << i;
	builder->type[GPB_FIRST_CONSTANT + i] = type;
	return GPB_FIRST_CONSTANT + i;
}

static void
begin(Builder *builder, GpbRangesSpec *spec)
{
	const GpbLayout *layout = &spec->program.layout;
	int			c;

	memset(builder, 0, sizeof(*builder));
	memset(spec->program.want, 0, sizeof(spec->program.want));
	builder->program = &spec->program;
	builder->next = GPB_FIRST_TEMPORARY;
	for (c = layout->nkeys > 0 ? 1 : 0; c < gpb_column_slots(layout); c++)
		builder->type[c] = gpb_column_kind(layout, c) == GPB_KIND_FLOAT8 ? TYPE_FLOAT :
			TYPE_INTEGER;
}

/* Add a step; returns the slot of its result.  Temporaries are used anew in the end. */
static int
add_step(Builder *builder, int op, SlotType type, int a, int b, int c, int guard)
{
	GpbStep    *step = &builder->program->step[builder->program->nsteps++];

	step->op = (uint8) op;
	step->into = (uint8) builder->next;
	step->a = (uint8) a;
	step->b = (uint8) b;
	step->c = (uint8) c;
	step->guard = (uint8) guard;
	if (op == GPB_OP_FILTER)
		return GPB_NO_SLOT;
	builder->next = builder->next + 1 < GPB_SLOTS ? builder->next + 1 : GPB_FIRST_TEMPORARY;
	builder->type[step->into] = type;
	return step->into;
}

static void
add_filter(Builder *builder, int slot)
{
	(void) add_step(builder, GPB_OP_FILTER, TYPE_NONE, slot, 0, 0, GPB_NO_SLOT);
}

static void
add_term(Builder *builder, int slot, int kind, int want, int filter)
{
	GpbTerm    *term = &builder->program->term[builder->program->nterms++];

	term->slot = (uint8) slot;
	term->kind = (uint8) kind;
	term->want = (uint8) (want | GPB_WANT_COUNT);
	term->filter = (uint8) filter;
}

/* Any slot of the type, a recent one often; the columns and constants include one of each type. */
static int
random_slot(const Builder *builder, SlotType type)
{
	for (;;)
	{
		int			slot = (int) test_below(GPB_SLOTS);

		if (test_once_in(2))
			slot = builder->next - 1;
		if (slot >= 0 && builder->type[slot] == type)
			return slot;
	}
}

static void
add_random_constants(Builder *builder)
{
	static const double floats[] = {0.5, -3, 1e10, 100};
	GpbTables  *tables = &builder->program->tables;
	int			i;

	/* tables of no words, of one, and of many */
	tables->first[1] = 100;
	tables->length[1] = 1;
	tables->word[100] = (int64) test_below(30);
	tables->length[2] = (uint16) (1 + test_below(100));
	for (i = 0; i < tables->length[2]; i++)
		tables->word[i] = i * 7 - (int64) test_below(7);
	/* a zone that changes at the beginning of 2000 */
	tables->first[3] = 101;
	tables->length[3] = 3;
	tables->word[101] = gpb_zone_word(GPB_ZONE_BEGIN, -7200);
	tables->word[102] = gpb_zone_word(0, test_once_in(2) ? -3600 : 0);
	tables->word[103] = gpb_zone_word(GPB_ZONE_END, 0);
	/* codes as bits, and listed */
	tables->first[4] = 104;
	tables->length[4] = (uint16) (1 + test_below(4));
	tables->word[104] = (int64) test_below(30);
	for (i = 1; i < tables->length[4]; i++)
		tables->word[104 + i] = (int64) test_random();
	tables->first[5] = 110;
	tables->length[5] = (uint16) (1 + test_below(60));
	tables->word[110] = GPB_CODES_LISTED;
	for (i = 1; i < tables->length[5]; i++)
		tables->word[110 + i] = i * 3;

	for (i = 0; i < 6; i++)
		(void) add_constant(builder, TYPE_INTEGER, (int64) test_below(60) - 10 + i * 20, i == 5);
	for (i = 0; i < 4; i++)
		(void) add_constant(builder, TYPE_FLOAT, gpb_float_bits(floats[i]), false);
	(void) add_constant(builder, TYPE_BOOLEAN, 1, false);
	(void) add_constant(builder, TYPE_BOOLEAN, 0, test_once_in(2));
}

/* A step of any operator whose operands there are; guarded now and then */
static void
add_random_step(Builder *builder)
{
	const Signature *signature = &signatures[test_below(NSIGNATURES)];
	int			slot[3] = {0, 0, 0};
	int			i;

	for (i = 0; i < 3; i++)
	{
		if (signature->operand[i] != TYPE_NONE)
			slot[i] = random_slot(builder, (SlotType) signature->operand[i]);
	}
	if (signature->op == GPB_OP_IN)
		slot[1] = (int) test_below(3);
	if (signature->op == GPB_OP_IN_CODES)
		slot[1] = (int) (test_once_in(4) ? 0 : 4 + test_below(2));
	if (signature->op == GPB_OP_TO_LOCAL || signature->op == GPB_OP_OF_LOCAL)
		slot[1] = 3;
	/* what faults mostly, or often, is left to tests of faults */
	if ((signature->op == GPB_OP_DIVIDE || signature->op == GPB_OP_MODULO ||
		 signature->op == GPB_OP_TRUNCATE || signature->op == GPB_OP_FLOOR_DIVIDE ||
		 signature->op == GPB_OP_TRUNCATE_MONTHS) &&
		!test_once_in(20))
		slot[1] = GPB_FIRST_CONSTANT + 3;	/* not below 50 */
	(void) add_step(builder, signature->op, (SlotType) signature->result, slot[0], slot[1],
					slot[2], test_once_in(2) ? random_slot(builder, TYPE_BOOLEAN) : GPB_NO_SLOT);
	if (test_once_in(15))
		add_filter(builder, random_slot(builder, TYPE_BOOLEAN));
}

static void
add_random_terms(Builder *builder, int n)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		bool		is_float = test_once_in(3);
		int			filter = test_once_in(2) ? GPB_NO_SLOT : random_slot(builder, TYPE_BOOLEAN);
		int			most = is_float ? 0x10 : 0x80;
		int			kind = is_float ? GPB_KIND_FLOAT8 : GPB_KIND_INT8;
		int			slot = random_slot(builder, is_float ? TYPE_FLOAT : TYPE_INTEGER);

		if (slot < gpb_column_slots(&builder->program->layout))
			kind = gpb_column_kind(&builder->program->layout, slot);
		if (test_once_in(6))
			add_term(builder, GPB_NO_SLOT, GPB_KIND_INT8, GPB_WANT_COUNT, filter);
		else
			add_term(builder, slot, kind, (int) test_below(most) & (test_once_in(2) ? 0x07 : 0xFF),
					 filter);
	}
}

static void
add_random_groups(Builder *builder, int n)
{
	int			i;

	builder->program->ngroups = (uint8) n;
	for (i = 0; i < n; i++)
		builder->program->group[i] = (uint8) random_slot(builder, test_once_in(3) ?
														 TYPE_BOOLEAN : TYPE_INTEGER);
	builder->program->by_range = n > 0 && test_once_in(2);
}

static void
random_program(GpbRangesSpec *spec, int nsteps, int nterms, int ngroups)
{
	Builder		builder;

	begin(&builder, spec);
	add_random_constants(&builder);
	/* as many temporaries as there are, used twice */
	while (nsteps-- > 0)
		add_random_step(&builder);
	add_random_terms(&builder, nterms);
	add_random_groups(&builder, ngroups);
}

/* ---- comparing ---- */

/* Requests that were answered with narrow sums */
static uint64 narrow_requests;

static void
compare_program_answers(const TestProgramAnswers *expected, const int64 *answers)
{
	int			words = expected->format.words;
	uint64		i;

	for (i = 0; i < expected->nanswers * words; i++)
	{
		if (answers[i] == expected->answers[i])
			continue;
		CHECK(false, "answer %lu of %lu differs in word %lu of %d: %ld for %ld", i / words,
			  expected->nanswers, i % words, words, answers[i], expected->answers[i]);
		return;
	}
}

/* The groups that a request left, with wide sums; to be given back */
static char *
fetch_groups(int channel, const GpbRangesSpec *spec, const TestProgramAnswers *expected)
{
	GpbAnswerFormat format;
	char	   *groups;
	char	   *wide;
	int			width;
	uint64		i;

	gpb_answer_format(&spec->program, &format);
	width = gpb_group_width(&spec->program, &format);
	groups = test_fetch(channel, GPB_FETCH_GROUPS, expected->ngroups, width);
	if (!spec->program.narrow_sums)
		return groups;
	wide = malloc(expected->ngroups * expected->group_width + 1);
	for (i = 0; i < expected->ngroups; i++)
	{
		GpbGroup   *group = (GpbGroup *) (wide + i * expected->group_width);

		memcpy(group, groups + i * width, width);
		gpb_answer_widen(&format, &expected->format, group->words + spec->program.ngroups);
	}
	free(groups);
	return wide;
}

static void
compare_program_groups(int channel, const GpbRangesSpec *spec, const TestProgramAnswers *expected)
{
	int			width = expected->group_width;
	char	   *groups = fetch_groups(channel, spec, expected);
	uint64		differing = 0;
	uint64		i;

	test_sort_groups(&spec->program, groups, expected->ngroups, width);
	for (i = 0; i < expected->ngroups; i++)
		differing += memcmp(groups + i * width, expected->groups + i * width, width) != 0;
	CHECK(differing == 0, "%lu of %lu groups differ", differing, expected->ngroups);
	free(groups);
}

/* The entries to be checked, by TID and number alone: test_finish() compares all of them. */
static void
compare_listed(const TestMirror *mirror, int channel, const TestExpected *expected)
{
	int			width = test_entry_width(&mirror->index->layout);
	char	   *entries = test_fetch(channel, GPB_FETCH_ENTRIES, expected->nentries, width);
	uint64		sum = 0;
	uint64		expected_sum = 0;
	uint64		i;

	for (i = 0; i < expected->nentries; i++)
	{
		const GpbRangeEntry *entry = (const GpbRangeEntry *) (entries + i * width);
		const GpbRangeEntry *other = (const GpbRangeEntry *) (expected->entries + i * width);

		sum += (gpb_row_locator(entry->row) & GPB_TID_MASK) * (entry->number + 1);
		expected_sum += (gpb_row_locator(other->row) & GPB_TID_MASK) * (other->number + 1);
	}
	CHECK(sum == expected_sum, "%lu entries to be checked differ", expected->nentries);
	free(entries);
}

/*
 * The list has what it must, in order, and no more: of the rest only what counts as NULL does,
 * where that may be the limit's last.
 */
static void
compare_list(const TestMirror *mirror, int channel, const GpbRangesSpec *spec,
			 const void *ranges, const GpbRangesResult *result)
{
	TestListModel *model = test_model_list(mirror, spec, ranges);
	const TestExpected *listed = model->listed;
	int			width = test_entry_width(&mirror->index->layout);
	char	   *entries = test_fetch(channel, GPB_FETCH_ENTRIES, result->entries, width);
	uint64		missing = 0;
	uint64		at = 0;
	uint64		i;

	CHECK(result->faults == 0 && result->leaves == listed->leaves &&
		  result->unclean == listed->npieces, "%lu faults, %lu leaves for %lu, %lu pieces for %lu",
		  result->faults, result->leaves, listed->leaves, result->unclean, listed->npieces);
	for (i = 0; i < listed->nentries; i++)
	{
		if (at < result->entries &&
			memcmp(entries + at * width, listed->entries + i * width, width) == 0)
			at++;
		else
			missing += model->required[i];
	}
	CHECK(missing == 0, "%lu of %lu entries to be listed are missing", missing, model->nrequired);
	CHECK(at == result->entries, "entry %lu of %lu is not one to be listed", at, result->entries);
	CHECK(at <= model->nrequired + model->nextreme, "%lu entries where %lu are wanted of %lu", at,
		  model->nrequired, listed->nentries);
	free(entries);
	test_list_model_free(model);
}

static void
compare_result(const TestMirror *mirror, int channel, const GpbRangesSpec *spec,
			   const void *ranges, const GpbRangesResult *result, const int64 *answers)
{
	TestProgramAnswers *expected = test_model_program(mirror, spec, ranges);
	TestExpected *listed = test_expect(mirror->index, spec, ranges, mirror->visible);

	bool		unheld = spec->program.narrow_sums && expected->unheld > 0;

	/* Where there are both, either ends the work. */
	if (unheld && expected->faults > 0)
		CHECK(result->faults + result->unheld > 0, "neither a fault nor a value that is not held");
	else
		CHECK((result->faults != 0) == (expected->faults != 0) &&
			  (result->unheld != 0) == unheld, "%lu faults for %lu, %lu values not held for %lu",
			  result->faults, expected->faults, result->unheld, expected->unheld);
	if (expected->faults == 0 && result->faults == 0 && !unheld && result->unheld == 0)
	{
		narrow_requests += spec->program.narrow_sums;
		CHECK(result->leaves == listed->leaves, "%lu leaves for %lu", result->leaves,
			  listed->leaves);
		CHECK(result->unclean == listed->npieces, "%lu pieces for %lu", result->unclean,
			  listed->npieces);
		CHECK(result->entries == listed->nentries, "%lu entries for %lu", result->entries,
			  listed->nentries);
		CHECK(result->groups == expected->ngroups, "%lu groups for %lu", result->groups,
			  expected->ngroups);
		compare_program_answers(expected, answers);
		if (result->groups == expected->ngroups)
			compare_program_groups(channel, spec, expected);
		if (result->entries == listed->nentries)
			compare_listed(mirror, channel, listed);
	}
	test_expected_free(listed);
	test_program_answers_free(expected);
}

/* Does the request give what the model says?  Returns its faults. */
static uint64
ask_once(TestMirror *mirror, const GpbRangesSpec *spec, const void *ranges)
{
	GpbAnswerFormat format;
	GpbRangesResult result = {0, 0, 0, 0, 0, 0};
	int			channel = (int) test_below(TEST_CHANNELS);
	size_t		bytes;
	char	   *answers;
	GpbDeviceStatus status;
	int			i;

	gpb_answer_format(&spec->program, &format);
	bytes = (size_t) gpb_count_answers(spec) * gpb_answer_width(&format);
	answers = malloc(bytes + GUARD);
	memset(answers, 0x77, bytes + GUARD);
	status = test_launch_at(mirror, channel, spec, ranges, bytes > 0 ? answers : NULL);
	if (status == GPB_DEVICE_OK)
		status = test_device.api->ranges_finish(test_device.device, channel, &result);
	CHECK(status == GPB_DEVICE_OK, "status %d: %s", status,
		  test_device.api->last_error(test_device.device));
	for (i = 0; i < GUARD; i++)
		CHECK(answers[bytes + i] == 0x77, "byte %d behind the answers written", i);
	if (status == GPB_DEVICE_OK && spec->program.list_entries)
		compare_list(mirror, channel, spec, ranges, &result);
	else if (status == GPB_DEVICE_OK)
		compare_result(mirror, channel, spec, ranges, &result, (const int64 *) answers);
	test_requests_end();
	free(answers);
	return result.faults;
}

/* Likewise; a request for groups is also asked with narrow sums. */
static uint64
ask(TestMirror *mirror, const GpbRangesSpec *spec, const void *ranges)
{
	GpbRangesSpec narrow = *spec;
	uint64		faults = ask_once(mirror, spec, ranges);

	narrow.program.narrow_sums = spec->program.ngroups > 0;
	if (narrow.program.narrow_sums)
		(void) ask_once(mirror, &narrow, ranges);
	return faults;
}

/* ---- mirrors ---- */

/* Values that seldom make a step fault; a column of few values to group by */
static int64
small_value(int column, uint32 i)
{
	if (column == 3)
		return gpb_float_bits((double) (int64) (test_below(2000)) / 8 - 100);
	return column == 1 ? (int64) test_below(5) : (int64) test_below(200) - 100;
}

static TestMirror *
mirror_of_layout(const GpbLayout *layout, uint32 nentries, bool odd)
{
	TestShape	shape;
	TestMirror *mirror;

	memset(&shape, 0, sizeof(shape));
	shape.layout = *layout;
	shape.nentries = nentries;
	shape.leaf_entries = test_once_in(2) ? 60 : 0;
	shape.distinct_keys = test_once_in(2) ? nentries / 8 + 1 : nentries;
	shape.null_keys = layout->nkeys == 0 && test_once_in(2) ? 20 : 0;
	shape.null_values = test_once_in(3) ? 0 : 10;
	shape.dead = 15;
	shape.empty_leaves = 15;
	shape.value = odd ? NULL : small_value;
	mirror = test_filled(&shape);
	if (test_once_in(2))
		test_random_visible(mirror, 10);
	return mirror;
}

static const int small_kinds[] = {GPB_KIND_INT4, GPB_KIND_INT2, GPB_KIND_INT8, GPB_KIND_FLOAT8};

static TestMirror *
small_mirror(uint32 nentries, bool odd)
{
	GpbLayout	layout = test_layout(test_once_in(2) ? 8 : 4, (int) test_below(4), 4, small_kinds);

	return mirror_of_layout(&layout, nentries, odd);
}

/* One range over all, or many: an answer each or one of them all, or groups of these */
static void
ask_forms(TestMirror *mirror, GpbRangesSpec *spec)
{
	void	   *ranges;

	spec->form = (GpbRangeForm) test_below(3);
	spec->n = 1 + (uint32) test_below(60);
	spec->total = !spec->program.list_entries && spec->program.ngroups == 0 && test_once_in(2);
	ranges = test_random_ranges(mirror, spec, mirror->index->nentries / 4);
	(void) ask(mirror, spec, ranges);
	free(ranges);
	spec->form = GPB_RANGE_BOUNDS;
	spec->n = 1;
	spec->total = false;
	(void) ask(mirror, spec, test_whole_of(mirror));
}

/* ---- the tests ---- */

static void
with_random_programs(int rounds, int nterms, int ngroups)
{
	while (rounds-- > 0)
	{
		TestMirror *mirror = small_mirror(1 + (uint32) test_below(3000), test_once_in(5));
		int			i;

		if (test_once_in(3))
		{
			const TestIndex *index = mirror->index;
			TestLeaf   *leaf = &index->leaf[test_below(index->nleaves)];

			leaf->unclean = true;
			test_mark_changed(mirror, leaf->block);
		}
		for (i = 0; i < 6; i++)
		{
			GpbRangesSpec spec = test_spec(mirror, 1);

			spec.program.ignore_dead_hints = test_once_in(4);
			random_program(&spec, (int) test_below(test_once_in(4) ? 60 : 8),
						   (int) test_below(nterms + 1),
						   ngroups == 0 ? 0 : 1 + (int) test_below(ngroups));
			if (gpb_program_is_plain(&spec.program))
				spec.program.term[spec.program.nterms++] =
					(GpbTerm) {GPB_NO_SLOT, GPB_KIND_INT8, GPB_WANT_COUNT, GPB_NO_SLOT};
			CHECK(gpb_program_fault(&spec.program) == NULL, "%s",
				  gpb_program_fault(&spec.program));
			ask_forms(mirror, &spec);
		}
		test_mirror_free(mirror);
	}
}

static void
program_random(void)
{
	with_random_programs(25, 5, 0);
}

static void
program_many_terms(void)
{
	with_random_programs(4, GPB_MAX_TERMS, 0);
}

static void
program_random_groups(void)
{
	with_random_programs(25, 4, GPB_MAX_GROUP_SLOTS);
}

/* Each operator over odd values, a few entries at a time so that not all of them fault */
static void
program_each_operator(void)
{
	TestMirror *mirror = small_mirror(500, true);
	TestMirror *small = small_mirror(500, false);
	uint64		faults = 0;
	int			asked = 0;
	int			i;

	for (i = 0; i < NSIGNATURES * 12; i++)
	{
		const Signature *signature = &signatures[i % NSIGNATURES];
		TestMirror *of = test_once_in(2) ? mirror : small;
		GpbRangesSpec spec = test_spec(of, 1);
		SlotType	type = (SlotType) signature->result;
		Builder		builder;
		GpbNarrowKeyRange keys = test_near_keys(of, 5);
		int			slot[3] = {0, 0, 0};
		int			k;
		int			result;

		begin(&builder, &spec);
		add_random_constants(&builder);
		for (k = 0; k < 3; k++)
		{
			if (signature->operand[k] == TYPE_BOOLEAN)
				slot[k] = add_step(&builder, GPB_OP_GT, TYPE_BOOLEAN, 1 + (int) test_below(3),
								   GPB_FIRST_CONSTANT, 0, GPB_NO_SLOT);
			else if (signature->operand[k] != TYPE_NONE)
				slot[k] = random_slot(&builder, (SlotType) signature->operand[k]);
		}
		if (signature->op == GPB_OP_IN)
			slot[1] = 2;
		if (signature->op == GPB_OP_IN_CODES)
			slot[1] = 4 + i % 2;
		if (signature->op == GPB_OP_TO_LOCAL || signature->op == GPB_OP_OF_LOCAL)
			slot[1] = 3;
		result = add_step(&builder, signature->op, type, slot[0], slot[1], slot[2], GPB_NO_SLOT);
		add_term(&builder, result, type == TYPE_FLOAT ? GPB_KIND_FLOAT8 : GPB_KIND_INT8,
				 type == TYPE_FLOAT ? 0x0F : 0x7F, GPB_NO_SLOT);
		spec.form = GPB_RANGE_KEYS;
		faults += ask(of, &spec, &keys) != 0;
		asked++;
	}
	CHECK(faults > 0 && faults < asked / 2, "%lu of %d requests faulted", faults, asked);
	test_mirror_free(mirror);
	test_mirror_free(small);
}

/* 1 / column 1, for entries that pass "column 1 <> 0" in one way or another */
static uint64
ask_division(TestMirror *mirror, bool filtered, bool guarded, bool seen)
{
	GpbRangesSpec spec = test_spec(mirror, 1);
	Builder		builder;
	int			one;
	int			differs;
	int			quotient;

	begin(&builder, &spec);
	one = add_constant(&builder, TYPE_INTEGER, 1, false);
	differs = add_step(&builder, GPB_OP_NE, TYPE_BOOLEAN, 2,
					   add_constant(&builder, TYPE_INTEGER, 0, false), 0, GPB_NO_SLOT);
	if (filtered)
		add_filter(&builder, differs);
	quotient = add_step(&builder, GPB_OP_DIVIDE, TYPE_INTEGER, one, 2, 0,
						guarded ? differs : GPB_NO_SLOT);
	add_term(&builder, quotient, GPB_KIND_INT8, GPB_WANT_SUM, differs);
	if (test_once_in(2))
	{
		spec.program.ngroups = 1;
		spec.program.group[0] = 2;
	}
	test_all_visible(mirror, seen);
	return ask(mirror, &spec, &test_whole);
}

/* A step faults for entries that are seen and not dropped, and unless its guard is not true. */
static void
program_division(void)
{
	int			i;

	for (i = 0; i < 3; i++)
	{
		TestMirror *mirror = small_mirror(400, false);

		CHECK(ask_division(mirror, false, false, true) != 0, "no fault");
		CHECK(ask_division(mirror, true, false, true) == 0, "a fault of a dropped entry");
		CHECK(ask_division(mirror, false, true, true) == 0, "a fault in spite of the guard");
		CHECK(ask_division(mirror, false, false, false) == 0, "a fault of an entry not seen");
		CHECK(ask_division(mirror, false, false, true) != 0, "no fault");
		test_mirror_free(mirror);
	}
}

/* Groups by key with sums of floats: wide answers, and many */
static GpbRangesSpec
wide_groups(const TestMirror *mirror)
{
	GpbRangesSpec spec = test_spec(mirror, 1);
	Builder		builder;
	int			number;
	int			t;

	begin(&builder, &spec);
	number = add_step(&builder, GPB_OP_INT_TO_FLOAT, TYPE_FLOAT, 1, 0, 0, GPB_NO_SLOT);
	for (t = 0; t < GPB_MAX_TERMS; t++)
		add_term(&builder, number, GPB_KIND_FLOAT8, 0x0F, GPB_NO_SLOT);
	spec.program.ngroups = 1;
	return spec;
}

/* So many groups of wide answers that the device's first room for them is too small; few again */
static void
program_many_groups(void)
{
	TestShape	shape = test_plain_shape(3000);
	TestMirror *mirror;
	GpbRangesSpec spec;
	int			i;

	shape.distinct_keys = 3000;
	mirror = test_filled(&shape);
	for (i = 0; i < 3; i++)
	{
		spec = wide_groups(mirror);
		if (i == 1)
			spec.program.nterms = 2;
		(void) ask(mirror, &spec, &test_whole);
	}
	test_mirror_free(mirror);
}

/* Bytes of device memory in use */
static uint64
used_memory(void)
{
	GpbDeviceInfo info;

	test_device.api->describe(test_device.device, &info);
	return info.memory_used;
}

/*
 * Memory for the groups runs out at one step or the other: a request fails whole, and the next goes
 * on.
 */
static void
program_memory(void)
{
	TestDevice	whole = test_device;
	TestShape	shape = test_plain_shape(2500);
	GpbDeviceStatus status = GPB_DEVICE_NO_MEMORY;
	uint64		more = 1 << 20;
	int			failed = 0;

	for (; status == GPB_DEVICE_NO_MEMORY && more < (uint64) 1 << 32; more += more / 2)
	{
		TestMirror *mirror;
		GpbRangesSpec spec;
		GpbRangesResult result;
		uint64		used;

		test_open(&test_device, whole.api, 0);
		mirror = test_filled(&shape);
		test_ask_whole(mirror);
		used = used_memory();
		test_mirror_free(mirror);
		test_close(&test_device);
		test_open(&test_device, whole.api, used + more);
		mirror = test_filled(&shape);
		test_ask_whole(mirror); /* channel 0 has its memory now */
		spec = wide_groups(mirror);
		status = test_launch_at(mirror, 0, &spec, &test_whole, NULL);
		if (status == GPB_DEVICE_OK)
			status = test_device.api->ranges_finish(test_device.device, 0, &result);
		failed += status == GPB_DEVICE_NO_MEMORY;
		if (status == GPB_DEVICE_OK)
			compare_result(mirror, 0, &spec, &test_whole, &result, NULL);
		test_requests_end();
		CHECK(used_memory() <= used + more, "%lu bytes used of %lu", used_memory(), used + more);
		test_ask_whole(mirror);
		test_mirror_free(mirror);
		test_close(&test_device);
	}
	CHECK(status == GPB_DEVICE_OK && failed > 3, "status %d, memory ran out %d times", status,
		  failed);
	test_device = whole;
}

/* Groups by few values with sums that shared memory has, some of it full: the first rows alone */
static void
program_shared_groups(void)
{
	int			i;

	for (i = 0; i < 4; i++)
	{
		TestMirror *mirror = small_mirror(4000, false);
		GpbRangesSpec spec = test_spec(mirror, 1);
		Builder		builder;

		begin(&builder, &spec);
		add_term(&builder, 1, GPB_KIND_INT4, GPB_WANT_SUM, GPB_NO_SLOT);
		add_term(&builder, 3, GPB_KIND_INT8, GPB_WANT_SUM | GPB_WANT_MINMAX, GPB_NO_SLOT);
		add_term(&builder, 4, GPB_KIND_FLOAT8, GPB_WANT_MINMAX, GPB_NO_SLOT);
		if (i % 2 == 0)
			add_term(&builder, 0, GPB_KIND_INT8, GPB_WANT_SUM, GPB_NO_SLOT);
		spec.program.ngroups = 2;
		spec.program.group[0] = 2;
		spec.program.group[1] = i >= 2 ? 0 : 1;
		ask_forms(mirror, &spec);
		test_mirror_free(mirror);
	}
}

/* How many values the column that makes groups has; 0: any */
static uint32 column_values;

/* The first column's values are few or many; the others' are the ends of their type, or near 0. */
static int64
column_value(int column, uint32 i)
{
	static const int64 ends[] = {-0x7FFFFFFF - 1, 0x7FFFFFFF, -1, 0, 1};
	uint64		random = (i + 1) * (uint64) 0x9E3779B97F4A7C15;

	random ^= random >> 29;
	random *= (uint64) 0xBF58476D1CE4E5B9;
	random ^= random >> 32;
	if (column == 0 && column_values > 0)
		return (int64) (random % column_values) - column_values / 2;
	if (column == 0)
		return (int32) random;
	return i % 2 == 0 ? ends[random % 5] : (int64) (random % 100) - 50;
}

/*
 * Groups of a narrow column, and a sum of another or of the same: rows of all widths, fewer groups
 * and more than a block's table takes, NULLs, groups of each range.
 */
static void
program_column_groups(void)
{
	static const int kinds[] = {GPB_KIND_INT4, GPB_KIND_INT4, GPB_KIND_INT2, GPB_KIND_INT8};
	static const uint32 values[] = {1, 2, 40, 1000, 0};
	int			i;

	for (i = 0; i < 60; i++)
	{
		TestShape	shape = test_plain_shape(i % 5 == 4 ? 12000 : 3000);
		TestMirror *mirror;
		GpbRangesSpec spec;
		Builder		builder;
		int			columns = 1 + i % 4;
		int			term = (int) test_below(5);

		column_values = values[i % 5];
		shape.layout = test_layout(8, 0, columns, kinds);
		shape.value = column_value;
		shape.null_values = test_once_in(2) ? 10 : 0;
		shape.dead = 15;
		mirror = test_filled(&shape);
		if (test_once_in(2))
			test_random_visible(mirror, 10);
		if (test_once_in(3))
		{
			TestLeaf   *leaf = &mirror->index->leaf[test_below(mirror->index->nleaves)];

			leaf->unclean = true;
			test_mark_changed(mirror, leaf->block);
		}
		spec = test_spec(mirror, 1);
		begin(&builder, &spec);
		if (term > 0)
			add_term(&builder, term > columns ? 1 : term, kinds[term > columns ? 0 : term - 1],
					 test_once_in(4) ? GPB_WANT_COUNT : GPB_WANT_SUM, GPB_NO_SLOT);
		spec.program.ngroups = 1;
		spec.program.group[0] = (uint8) (columns > 2 && test_once_in(4) ? 3 : 1);
		spec.program.by_range = test_once_in(2);
		ask_forms(mirror, &spec);
		test_mirror_free(mirror);
	}
}

/* Which floats the groups have */
static int	float_kind;

/*
 * Few groups in column 0, and floats in column 1: of one size; with signs, and what cancels them;
 * of sizes that differ within a group; of the ends of the range; all of these with what is not
 * finite; of all sizes that a narrow sum holds; any bits.
 */
static int64
grouped_float(int column, uint32 i)
{
	static const double ends[] = {
		5e-324, -5e-324, 2.2250738585072014e-308, 1e308, -1e308, 1.7976931348623157e308, 1e-308,
		0.0, -0.0, 1, -1, 4294967296.0, -4294967295.5, 1e-30, INFINITY, -INFINITY, NAN
	};
	uint64		random = (i + 1) * (uint64) 0x9E3779B97F4A7C15;
	double		ordinary;
	int64		bits;

	random ^= random >> 29;
	random *= (uint64) 0xBF58476D1CE4E5B9;
	random ^= random >> 32;
	if (column == 0)
		return (int64) (random % 150);
	ordinary = (double) (random >> 11) / ((uint64) 1 << 53) * 100;
	switch (float_kind)
	{
		case 0:
			return gpb_float_bits(ordinary);
		case 1:
			return gpb_float_bits(random & 1 ? -ordinary : i % 5 == 0 ? 1e15 : ordinary);
		case 2:
			return gpb_float_bits(ldexp(random & 1 ? -ordinary : ordinary,
										(int) (random >> 8 & 127) - 64));
		case 3:
			return gpb_float_bits(ends[(random >> 8) % 14]);
		case 4:
			return gpb_float_bits(ends[(random >> 8) % 17]);
		case 5:
			return (random & (uint64) 1 << 63) |
				(uint64) (1023 - 126 + (random >> 8) % (126 + 66)) << 52 |
				(random & 1 ? random >> 12 : random & 2 ? 0 : ((uint64) 1 << 52) - 1);
		default:
			/* NaNs of any bits are one value, but not one in bounds. */
			bits = (int64) random;
			return gpb_float_is_finite(bits) ? bits : 0;
	}
}

/* Exact sums in groups: more of these, or wider answers, than a block has slots for, and fewer */
static void
program_float_groups(void)
{
	static const int kinds[] = {GPB_KIND_INT4, GPB_KIND_FLOAT8};
	int			i;

	for (i = 0; i < 14; i++)
	{
		TestShape	shape = test_plain_shape(4000);
		TestMirror *mirror;
		GpbRangesSpec spec;
		Builder		builder;
		int			negative;
		int			nterms = i % 2 == 0 ? 1 : 11;
		int			t;

		float_kind = i / 2;
		narrow_requests = 0;
		shape.layout = test_layout(8, (int) test_below(4), 2, kinds);
		shape.value = grouped_float;
		shape.null_values = test_once_in(2) ? 10 : 0;
		mirror = test_filled(&shape);
		spec = test_spec(mirror, 1);
		begin(&builder, &spec);
		negative = add_step(&builder, GPB_OP_FLOAT_NEGATE, TYPE_FLOAT, 2, 0, 0, GPB_NO_SLOT);
		add_term(&builder, 2, GPB_KIND_FLOAT8, GPB_WANT_SUM, GPB_NO_SLOT);
		for (t = 1; t < nterms; t++)
			add_term(&builder, t % 3 == 0 ? negative : 2, GPB_KIND_FLOAT8,
					 t == 4 ? GPB_WANT_SUM | GPB_WANT_MINMAX : GPB_WANT_SUM,
					 t == 5 ? 1 : GPB_NO_SLOT);
		if (nterms > 1)
			add_term(&builder, 1, GPB_KIND_INT4, GPB_WANT_SUM | GPB_WANT_MINMAX, GPB_NO_SLOT);
		spec.program.ngroups = 1;
		spec.program.group[0] = 1;
		ask_forms(mirror, &spec);
		CHECK((float_kind > 1 && float_kind != 5) || narrow_requests == 2, "narrow sums in %lu requests of two",
			  narrow_requests);
		test_mirror_free(mirror);
	}
}

/* A list of random steps, now and then with a limit */
static void
random_list(GpbRangesSpec *spec, int nsteps, uint32 most)
{
	static const uint32 limits[] = {1, 2, 10, 100};
	Builder		builder;

	begin(&builder, spec);
	add_random_constants(&builder);
	while (nsteps-- > 0)
		add_random_step(&builder);
	if (test_once_in(3))
		add_filter(&builder, random_slot(&builder, TYPE_BOOLEAN));
	spec->program.list_entries = true;
	if (test_once_in(3))
		return;
	spec->program.limit = test_once_in(4) ? most : limits[test_below(4)];
	spec->program.order = (uint8) random_slot(&builder, TYPE_INTEGER);
	spec->program.descending = test_once_in(2);
	spec->program.nulls_first = test_once_in(2);
}

static void
program_lists(void)
{
	int			rounds = 25;

	while (rounds-- > 0)
	{
		TestMirror *mirror = small_mirror(1 + (uint32) test_below(3000), test_once_in(4));
		int			i;

		if (test_once_in(3))
		{
			TestLeaf   *leaf = &mirror->index->leaf[test_below(mirror->index->nleaves)];

			leaf->unclean = true;
			test_mark_changed(mirror, leaf->block);
		}
		for (i = 0; i < 8; i++)
		{
			GpbRangesSpec spec = test_spec(mirror, 1);

			spec.program.ignore_dead_hints = test_once_in(4);
			random_list(&spec, (int) test_below(test_once_in(4) ? 60 : 8),
						mirror->index->nentries);
			CHECK(gpb_program_fault(&spec.program) == NULL, "%s",
				  gpb_program_fault(&spec.program));
			ask_forms(mirror, &spec);
		}
		test_mirror_free(mirror);
	}
}

/* A list longer than the device's first room for one; and one with a fault for each second entry */
static void
program_long_lists(void)
{
	TestMirror *mirror = small_mirror(test_emulated ? 20000 : 60000, false);
	int			i;

	for (i = 0; i < 6; i++)
	{
		GpbRangesSpec spec = test_spec(mirror, 1);
		Builder		builder;
		int			zero;
		int			half;

		begin(&builder, &spec);
		spec.program.list_entries = true;
		zero = add_constant(&builder, TYPE_INTEGER, 0, false);
		half = add_step(&builder, GPB_OP_GT, TYPE_BOOLEAN, 1, zero, 0, GPB_NO_SLOT);
		if (i % 3 == 1)
			half = add_step(&builder, GPB_OP_DIVIDE, TYPE_INTEGER, 3, half, 0, GPB_NO_SLOT);
		if (i % 3 == 0)
			add_filter(&builder, half);
		if (i >= 3)
		{
			spec.program.limit = (uint32) (i - 2) * 500;
			spec.program.order = (uint8) half;
		}
		(void) ask(mirror, &spec, &test_whole);
	}
	test_mirror_free(mirror);
}

/* A program at fault is refused, and the device goes on. */
static void
program_refused(void)
{
	TestMirror *mirror = small_mirror(100, false);
	GpbRangesSpec spec = test_spec(mirror, 1);
	Builder		builder;
	int64		answers[64];

	begin(&builder, &spec);
	(void) add_step(&builder, GPB_OP_ADD, TYPE_INTEGER, 1, GPB_FIRST_TEMPORARY + 3, 0,
					GPB_NO_SLOT);
	CHECK(test_launch_at(mirror, 0, &spec, &test_whole, answers) == GPB_DEVICE_NO_MEMORY,
		  "a slot without a value was accepted");
	test_requests_end();
	test_ask_whole(mirror);
	test_mirror_free(mirror);
}

/* Programs, and lists by programs, that read the columns of a key that has several */
static void
key_columns_of(int key_width)
{
	int			rounds = test_emulated ? 12 : 40;

	while (rounds-- > 0)
	{
		GpbLayout	layout = test_columns_layout(key_width, 4, small_kinds);
		TestMirror *mirror = mirror_of_layout(&layout, 1 + (uint32) test_below(3000), false);
		int			i;

		for (i = 0; i < 6; i++)
		{
			GpbRangesSpec spec = test_spec(mirror, 1);

			if (i % 3 == 2)
				random_list(&spec, (int) test_below(8), mirror->index->nentries);
			else
				random_program(&spec, (int) test_below(8), 1 + (int) test_below(4), i % 3);
			CHECK(gpb_program_fault(&spec.program) == NULL, "%s",
				  gpb_program_fault(&spec.program));
			ask_forms(mirror, &spec);
		}
		test_mirror_free(mirror);
	}
}

static void
program_key_columns(void)
{
	key_columns_of(8);
	key_columns_of(4);
}

static void
program_wide_key_columns(void)
{
	key_columns_of(16);
}

const TestCase test_program_cases[] = {
	{"program_random", program_random},
	{"program_many_terms", program_many_terms},
	{"program_random_groups", program_random_groups},
	{"program_each_operator", program_each_operator},
	{"program_division", program_division},
	{"program_many_groups", program_many_groups},
	{"program_memory", program_memory},
	{"program_shared_groups", program_shared_groups},
	{"program_column_groups", program_column_groups},
	{"program_float_groups", program_float_groups},
	{"program_lists", program_lists},
	{"program_long_lists", program_long_lists},
	{"program_refused", program_refused},
	{"program_key_columns", program_key_columns},
	{"program_wide_key_columns", program_wide_key_columns}
};
const int	test_nprogram_cases = sizeof(test_program_cases) / sizeof(test_program_cases[0]);
