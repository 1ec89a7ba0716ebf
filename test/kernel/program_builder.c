/*-------------------------------------------------------------------------
 *
 * program_builder.c
 *	  Programs with steps, terms and groups, step by step or at random.
 *
 * Random programs are sound in what they do with which type: an operator gets values of the types
 * that it is for, so that no bits of a NaN are taken for an integer, which differ between machines.
 *
 *-------------------------------------------------------------------------
 */
#include "program/program_steps.h"
#include "program_builder.h"

const TestSignature test_signatures[] = {
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
	{GPB_OP_RANKED, TYPE_INTEGER, {TYPE_INTEGER}},
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
	{GPB_OP_LOWER_CARRY, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_UPPER_ADD, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER, TYPE_INTEGER}},
	{GPB_OP_UPPER_SUBTRACT, TYPE_INTEGER, {TYPE_INTEGER, TYPE_INTEGER, TYPE_INTEGER}},
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

const int	test_nsignatures = sizeof(test_signatures) / sizeof(test_signatures[0]);

int
test_add_constant(TestBuilder *builder, SlotType type, int64 value, bool is_null)
{
	GpbProgram *program = builder->program;
	int			i = program->nconstants++;

	program->constant[i] = value;
	program->null_constants |= (uint64) is_null << i;
	builder->type[GPB_FIRST_CONSTANT + i] = type;
	return GPB_FIRST_CONSTANT + i;
}

/* The type of what programs read of a column */
static SlotType
column_type(const GpbLayout *layout, int column)
{
	if (gpb_column_has_halves(layout, column))
		return TYPE_HALF;
	return gpb_column_kind(layout, column) == GPB_KIND_FLOAT8 ? TYPE_FLOAT : TYPE_INTEGER;
}

void
test_begin(TestBuilder *builder, GpbRangesSpec *spec)
{
	GpbProgram *program = &spec->program;
	const GpbLayout *layout = &program->layout;
	int			c;

	memset(builder, 0, sizeof(*builder));
	memset(program->want, 0, sizeof(program->want));
	builder->program = program;
	builder->next = GPB_FIRST_TEMPORARY;
	for (c = layout->nkeys > 0 ? 1 : 0; c < gpb_column_slots(layout); c++)
		builder->type[c] = column_type(layout, c);
}

int
test_lower_slot(TestBuilder *builder, int column)
{
	GpbProgram *program = builder->program;
	int			slot = gpb_column_slots(&program->layout);
	int			i;

	for (i = 0; i < program->nhalves; i++)
	{
		if (program->half[i] == column)
			return slot + i;
	}
	program->half[program->nhalves++] = (uint8) column;
	builder->type[slot + i] = TYPE_HALF;
	return slot + i;
}

/* Add a step; returns the slot of its result.  Temporaries are used anew in the end. */
int
test_add_step(TestBuilder *builder, int op, SlotType type, int a, int b, int c, int guard)
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

void
test_add_filter(TestBuilder *builder, int slot)
{
	(void) test_add_step(builder, GPB_OP_FILTER, TYPE_NONE, slot, 0, 0, GPB_NO_SLOT);
}

void
test_add_term(TestBuilder *builder, int slot, int kind, int want, int filter)
{
	GpbTerm    *term = &builder->program->term[builder->program->nterms++];

	term->slot = (uint8) slot;
	term->kind = (uint8) kind;
	term->want = (uint8) (want | GPB_WANT_COUNT);
	term->filter = (uint8) filter;
}

void
test_add_halves_term(TestBuilder *builder, int upper, int lower, int want, int filter)
{
	test_add_term(builder, upper, GPB_KIND_INT8, want | GPB_WANT_HALVES, filter);
	builder->program->term[builder->program->nterms - 1].lower = (uint8) lower;
}

/* Any slot of the type, a recent one often; the columns and constants include one of each type. */
int
test_random_slot(const TestBuilder *builder, SlotType type)
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

/*
 * Words of long tables, the same ones in all programs: at each multiple of LONG_TABLE those that a
 * set of codes as bits begins with, then a list of codes, then the beginning of ranks.
 */
#define LONG_TABLE		64
#define LONG_LIST_AT	16
#define LONG_RANKS_AT	40

static const int64 *
long_words(void)
{
	static int64 words[TEST_MORE_WORDS];
	int			i;

	if (words[0] != 0)
		return words;
	for (i = 0; i < TEST_MORE_WORDS; i++)
	{
		int			place = i % LONG_TABLE;

		words[i] = (int64) ((uint64) (i + 1) * 0x9E3779B97F4A7C15);
		if (place == 0)
			words[i] = 1 + i / LONG_TABLE % 30;
		if (place == LONG_LIST_AT)
			words[i] = GPB_CODES_LISTED;
		if (place > LONG_LIST_AT && place < LONG_RANKS_AT)
			words[i] = (place - LONG_LIST_AT) * 4;
		if (place == LONG_RANKS_AT)
			words[i] = (int64) ((uint64) (i / LONG_TABLE % 31) << GPB_RANK_BITS_AT | (i % 25));
	}
	return words;
}

/* Let a table be a long one, which begins at a random one of such places. */
static void
set_long_table(GpbTables *tables, int t, int place, uint32 most)
{
	uint32		first = (uint32) test_below(TEST_MORE_WORDS / LONG_TABLE) * LONG_TABLE + place;
	uint32		left = TEST_MORE_WORDS - first;

	tables->more = long_words();
	tables->first[t] = GPB_MAX_TABLE_WORDS + first;
	tables->length[t] = (uint32) (1 + test_below(most < left ? most : left));
}

void
test_add_random_constants(TestBuilder *builder)
{
	static const double floats[] = {0.5, -3, 1e10, 100};
	GpbTables  *tables = &builder->program->tables;
	int			i;

	/* tables of no words, of one, and of many */
	tables->first[1] = 100;
	tables->length[1] = 1;
	tables->word[100] = (int64) test_below(30);
	tables->length[2] = (uint32) (1 + test_below(100));
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
	tables->length[4] = (uint32) (1 + test_below(4));
	tables->word[104] = (int64) test_below(30);
	for (i = 1; i < tables->length[4]; i++)
		tables->word[104 + i] = (int64) test_random();
	tables->first[5] = 110;
	tables->length[5] = (uint32) (1 + test_below(60));
	tables->word[110] = GPB_CODES_LISTED;
	for (i = 1; i < tables->length[5]; i++)
		tables->word[110 + i] = i * 3;
	/* ranks of codes */
	tables->first[6] = 170;
	tables->length[6] = (uint32) (1 + test_below(10));
	tables->word[170] = (int64) (test_below(31) << GPB_RANK_BITS_AT | test_below(30));
	for (i = 1; i < tables->length[6]; i++)
		tables->word[170 + i] = (int64) test_random();
	/* long tables: codes as bits, and listed, and ranks */
	set_long_table(tables, 7, 0, TEST_MORE_WORDS);
	set_long_table(tables, 8, LONG_LIST_AT, LONG_RANKS_AT - LONG_LIST_AT);
	set_long_table(tables, 9, LONG_RANKS_AT, TEST_MORE_WORDS);

	for (i = 0; i < 6; i++)
		(void) test_add_constant(builder, TYPE_INTEGER, (int64) test_below(60) - 10 + i * 20,
								 i == 5);
	for (i = 0; i < 4; i++)
		(void) test_add_constant(builder, TYPE_FLOAT, gpb_float_bits(floats[i]), false);
	(void) test_add_constant(builder, TYPE_BOOLEAN, 1, false);
	(void) test_add_constant(builder, TYPE_BOOLEAN, 0, test_once_in(2));
}

/* A step of any operator whose operands there are; guarded now and then */
void
test_add_random_step(TestBuilder *builder)
{
	const TestSignature *signature = &test_signatures[test_below(test_nsignatures)];
	int			slot[3] = {0, 0, 0};
	int			guard = GPB_NO_SLOT;
	int			i;

	for (i = 0; i < 3; i++)
	{
		if (signature->operand[i] != TYPE_NONE)
			slot[i] = test_random_slot(builder, (SlotType) signature->operand[i]);
	}
	if (signature->op == GPB_OP_IN)
		slot[1] = (int) test_below(3);
	if (signature->op == GPB_OP_IN_CODES)
		slot[1] = (int) (test_once_in(4) ? 0 : test_once_in(2) ? 4 + test_below(2) :
						 7 + test_below(2));
	if (signature->op == GPB_OP_RANKED)
		slot[1] = test_once_in(4) ? 0 : test_once_in(2) ? 6 : 9;
	if (signature->op == GPB_OP_TO_LOCAL || signature->op == GPB_OP_OF_LOCAL)
		slot[1] = 3;
	/* what faults mostly, or often, is left to tests of faults */
	if ((signature->op == GPB_OP_DIVIDE || signature->op == GPB_OP_MODULO ||
		 signature->op == GPB_OP_TRUNCATE || signature->op == GPB_OP_FLOOR_DIVIDE ||
		 signature->op == GPB_OP_TRUNCATE_MONTHS) &&
		!test_once_in(20))
		slot[1] = GPB_FIRST_CONSTANT + 3;	/* not below 50 */
	if (test_once_in(2))
		guard = test_random_slot(builder, TYPE_BOOLEAN);
	(void) test_add_step(builder, signature->op, (SlotType) signature->result, slot[0], slot[1],
						 slot[2], guard);
	if (test_once_in(15))
		test_add_filter(builder, test_random_slot(builder, TYPE_BOOLEAN));
}

void
test_add_random_terms(TestBuilder *builder, int n)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		bool		is_float = test_once_in(3);
		int			filter = test_once_in(2) ? GPB_NO_SLOT :
			test_random_slot(builder, TYPE_BOOLEAN);
		int			most = is_float ? 0x10 : 0x80;
		int			kind = is_float ? GPB_KIND_FLOAT8 : GPB_KIND_INT8;
		int			slot = test_random_slot(builder, is_float ? TYPE_FLOAT : TYPE_INTEGER);

		if (slot < gpb_column_slots(&builder->program->layout))
			kind = gpb_column_kind(&builder->program->layout, slot);
		if (test_once_in(6))
			test_add_term(builder, GPB_NO_SLOT, GPB_KIND_INT8, GPB_WANT_COUNT, filter);
		else
			test_add_term(builder, slot, kind,
						  (int) test_below(most) & (test_once_in(2) ? 0x07 : 0xFF), filter);
	}
}

void
test_add_random_groups(TestBuilder *builder, int n)
{
	int			i;

	builder->program->ngroups = (uint8) n;
	for (i = 0; i < n; i++)
		builder->program->group[i] = (uint8) test_random_slot(builder, test_once_in(3) ?
															  TYPE_BOOLEAN : TYPE_INTEGER);
	builder->program->by_range = n > 0 && test_once_in(2);
}

void
test_random_program(GpbRangesSpec *spec, int nsteps, int nterms, int ngroups)
{
	TestBuilder		builder;

	test_begin(&builder, spec);
	test_add_random_constants(&builder);
	/* as many temporaries as there are, used twice */
	while (nsteps-- > 0)
		test_add_random_step(&builder);
	test_add_random_terms(&builder, nterms);
	test_add_random_groups(&builder, ngroups);
}

/* A list of random steps, now and then with a limit */
void
test_random_list(GpbRangesSpec *spec, int nsteps, uint32 most)
{
	static const uint32 limits[] = {1, 2, 10, 100};
	TestBuilder		builder;

	test_begin(&builder, spec);
	test_add_random_constants(&builder);
	while (nsteps-- > 0)
		test_add_random_step(&builder);
	if (test_once_in(3))
		test_add_filter(&builder, test_random_slot(&builder, TYPE_BOOLEAN));
	spec->program.list_entries = true;
	if (test_once_in(3))
		return;
	spec->program.limit = test_once_in(4) ? most : limits[test_below(4)];
	spec->program.order = (uint8) test_random_slot(&builder, TYPE_INTEGER);
	spec->program.descending = test_once_in(2);
	spec->program.nulls_first = test_once_in(2);
}
