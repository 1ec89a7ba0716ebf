/*-------------------------------------------------------------------------
 *
 * program_halves.c
 *	  Programs over values of 16 bytes, each of which is two words: wide keys and INCLUDE columns.
 *
 * The order of such values is that of their ranks, unsigned integers of 128 bits that are made here
 * of what the model keeps, and a half is a word that is 2^63 less than the rank's half.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "program/program_steps.h"
#include "program_builder.h"
#include "program_model.h"

typedef unsigned __int128 Rank;

/* The slots of a value's halves */
typedef struct Halves
{
	int			upper;
	int			lower;
} Halves;

/* ---- values ---- */

static uint64
turn_bytes(uint64 word)
{
	uint64		turned = 0;
	int			i;

	for (i = 0; i < 8; i++)
		turned |= (word >> (8 * i) & 0xFF) << (56 - 8 * i);
	return turned;
}

static Rank
rank_of(const TestIndex *index, const TestEntry *entry, int column)
{
	uint64		first;
	uint64		rest;

	if (column == 0)
		return index->layout.flags & GPB_LAYOUT_DESC ? ~(Rank) entry->bound.key : entry->bound.key;
	first = (uint64) entry->value[column - 1];
	rest = entry->rest[column - 1];
	if (index->layout.kind[column - 1] == GPB_KIND_BYTES16)
		return (Rank) turn_bytes(first) << 64 | turn_bytes(rest);
	return ((Rank) rest << 64 | first) + ((Rank) 1 << 127);
}

static bool
is_null(const TestEntry *entry, int column)
{
	return column == 0 ? entry->key_is_null : entry->is_null[column - 1];
}

/* A column that has halves; the layout has one. */
static int
random_column(const GpbLayout *layout)
{
	for (;;)
	{
		int			column = (int) test_below(layout->ncolumns + 1);

		if (gpb_column_has_halves(layout, column))
			return column;
	}
}

/* The rank of some entry's value, or one that has a half of it, or beside it */
static Rank
random_rank(const TestIndex *index)
{
	Rank		rank[2];
	int			i;

	for (i = 0; i < 2; i++)
		rank[i] = rank_of(index, &index->entry[test_below(index->nentries)],
						  random_column(&index->layout));
	if (test_once_in(4))
		return rank[0] >> 64 << 64 | (uint64) rank[1];
	return rank[0] + (test_once_in(3) ? test_below(3) - 1 : 0);
}

/* ---- steps ---- */

static Halves
halves_of_column(TestBuilder *builder, int column)
{
	return (Halves) {column, test_lower_slot(builder, column)};
}

static Halves
halves_of_rank(TestBuilder *builder, Rank rank, bool is_null)
{
	uint64		sign = (uint64) 1 << 63;
	Halves		halves;

	halves.upper = test_add_constant(builder, TYPE_HALF, (int64) ((uint64) (rank >> 64) - sign),
									 is_null);
	halves.lower = test_add_constant(builder, TYPE_HALF, (int64) ((uint64) rank - sign), is_null);
	return halves;
}

static int
add_boolean(TestBuilder *builder, int op, int a, int b)
{
	return test_add_step(builder, op, TYPE_BOOLEAN, a, b, 0, GPB_NO_SLOT);
}

/* Steps that compare two values by an operator for integers, as the planner writes them */
static int
add_comparison(TestBuilder *builder, int op, Halves a, Halves b)
{
	int			strict = op == GPB_OP_LE ? GPB_OP_LT : op == GPB_OP_GE ? GPB_OP_GT : op;
	int			uppers;
	int			lowers;

	if (op == GPB_OP_DISTINCT || op == GPB_OP_NE)
	{
		uppers = add_boolean(builder, op, a.upper, b.upper);
		lowers = add_boolean(builder, op, a.lower, b.lower);
		return add_boolean(builder, GPB_OP_OR, uppers, lowers);
	}
	uppers = add_boolean(builder, GPB_OP_EQ, a.upper, b.upper);
	lowers = add_boolean(builder, op, a.lower, b.lower);
	lowers = add_boolean(builder, GPB_OP_AND, uppers, lowers);
	if (op == GPB_OP_EQ)
		return lowers;
	uppers = add_boolean(builder, strict, a.upper, b.upper);
	return add_boolean(builder, GPB_OP_OR, uppers, lowers);
}

static const int comparisons[] = {
	GPB_OP_EQ, GPB_OP_NE, GPB_OP_LT, GPB_OP_LE, GPB_OP_GT, GPB_OP_GE, GPB_OP_DISTINCT
};

#define NCOMPARISONS ((int) (sizeof(comparisons) / sizeof(comparisons[0])))

static void
add_random_comparison(TestBuilder *builder, const TestIndex *index)
{
	Halves		a = halves_of_column(builder, random_column(&index->layout));
	Halves		b = test_once_in(3) ? halves_of_column(builder, random_column(&index->layout)) :
		halves_of_rank(builder, random_rank(index), test_once_in(10));

	(void) add_comparison(builder, comparisons[test_below(NCOMPARISONS)], a, b);
}

/* ---- mirrors ---- */

/* Some column of 16 bytes at least; keys of any width, of one column or of several */
static GpbLayout
random_layout(void)
{
	static const int any[] = {GPB_KIND_INT128, GPB_KIND_BYTES16, GPB_KIND_INT4, GPB_KIND_INT8};
	int			key_width = test_once_in(2) ? 16 : test_once_in(2) ? 8 : 4;
	int			ncolumns = (int) test_below(6);
	int			kinds[5];
	int			c;

	for (c = 0; c < 5; c++)
		kinds[c] = any[test_below(4)];
	/* what the mirrors' column 3 has */
	kinds[3] = GPB_KIND_FLOAT8;
	if (key_width == 16 && test_once_in(2))
		return test_layout(16, (int) test_below(4), ncolumns, kinds);
	kinds[0] = any[test_below(2)];
	ncolumns += ncolumns == 0;
	/* the slots are for 8 key columns, 3 others and their lower halves */
	if (test_once_in(3))
		return test_columns_layout(key_width, ncolumns < 3 ? ncolumns : 3, kinds);
	return test_layout(key_width, (int) test_below(4), ncolumns, kinds);
}

/* ---- the tests ---- */

/* Terms, groups or a list, with halves among what is filtered, added up, grouped and ordered */
static void
random_halves(GpbRangesSpec *spec, const TestIndex *index, int what)
{
	TestBuilder builder;
	GpbProgram *program = &spec->program;
	int			n = 1 + (int) test_below(4);
	int			i;

	test_begin(&builder, spec);
	test_add_random_constants(&builder);
	for (i = 0; i < n; i++)
		add_random_comparison(&builder, index);
	for (i = (int) test_below(4); i > 0; i--)
		test_add_random_step(&builder);
	if (test_once_in(2))
		test_add_filter(&builder, test_random_slot(&builder, TYPE_BOOLEAN));
	if (what == 2)
	{
		program->list_entries = true;
		program->limit = test_once_in(3) ? 0 : 1 + (uint32) test_below(100);
		program->order = (uint8) test_random_slot(&builder, TYPE_HALF);
		program->descending = test_once_in(2);
		program->nulls_first = test_once_in(2);
		return;
	}
	test_add_random_terms(&builder, (int) test_below(3));
	for (i = (int) test_below(3); i > 0; i--)
		test_add_term(&builder, test_random_slot(&builder, TYPE_HALF), GPB_KIND_INT8,
					  (int) test_below(8), test_random_slot(&builder, TYPE_BOOLEAN));
	for (i = (int) test_below(3); i > 0; i--)
	{
		Halves		value = halves_of_column(&builder, random_column(&index->layout));

		test_add_halves_term(&builder, value.upper, value.lower, (int) test_below(0x80),
							 test_random_slot(&builder, TYPE_BOOLEAN));
	}
	if (what == 1)
	{
		test_add_random_groups(&builder, 1 + (int) test_below(3));
		program->group[0] = (uint8) test_random_slot(&builder, TYPE_HALF);
	}
}

TEST_ONCE(halves_random)
{
	int			rounds = test_emulated ? 15 : 60;

	while (rounds-- > 0)
	{
		GpbLayout	layout = random_layout();
		TestMirror *mirror = test_mirror_of_layout(&layout, 1 + (uint32) test_below(2000),
												   test_once_in(3));
		int			i;

		if (test_once_in(3))
			test_change_leaf(mirror, test_below(mirror->index->nleaves));
		for (i = 0; i < 6; i++)
		{
			GpbRangesSpec spec = test_spec(mirror, 1);

			random_halves(&spec, mirror->index, i % 3);
			CHECK(gpb_program_fault(&spec.program) == NULL, "%s",
				  gpb_program_fault(&spec.program));
			test_ask_program_forms(mirror, &spec);
		}
		test_mirror_free(mirror);
	}
}

/* Is a value of rank a so compared with one of rank b?  Neither is NULL. */
static bool
compares(int op, Rank a, Rank b)
{
	switch (op)
	{
		case GPB_OP_EQ:
			return a == b;
		case GPB_OP_LT:
			return a < b;
		case GPB_OP_LE:
			return a <= b;
		case GPB_OP_GT:
			return a > b;
		case GPB_OP_GE:
			return a >= b;
		default:
			return a != b;
	}
}

/* The entries on leaves that a comparison is true for, counted by ranks */
static uint64
count_by_rank(const TestIndex *index, int column, int op, Rank rank)
{
	uint64		n = 0;
	uint32		i;
	uint32		k;

	for (i = 0; i < index->nleaves; i++)
	{
		for (k = 0; k < index->leaf[i].count; k++)
		{
			const TestEntry *entry = &index->entry[index->leaf[i].first + k];

			n += !is_null(entry, column) && compares(op, rank_of(index, entry, column), rank);
		}
	}
	return n;
}

/* The order of halves is that of the values, and each comparison of these is what it should be. */
TEST_ONCE(halves_order)
{
	int			rounds = test_emulated ? 20 : 100;

	while (rounds-- > 0)
	{
		GpbLayout	layout = random_layout();
		TestMirror *mirror = test_mirror_of_layout(&layout, 1 + (uint32) test_below(1000),
												   test_once_in(3));
		int			i;

		test_all_visible(mirror, true);
		for (i = 0; i < 6; i++)
		{
			GpbRangesSpec spec = test_spec(mirror, 1);
			Rank		rank = random_rank(mirror->index);
			int			column = random_column(&layout);
			int			op = comparisons[i];
			TestBuilder builder;
			TestProgramAnswers *model;
			uint64		n = count_by_rank(mirror->index, column, op, rank);

			test_begin(&builder, &spec);
			spec.program.ignore_dead_hints = true;
			test_add_filter(&builder, add_comparison(&builder, op,
													 halves_of_column(&builder, column),
													 halves_of_rank(&builder, rank, false)));
			(void) test_ask_program(mirror, &spec, test_whole_of(mirror));
			model = test_model_program(mirror, &spec, test_whole_of(mirror));
			CHECK(model->counted == n, "%lu entries of column %d for %lu, by operator %d",
				  model->counted, column, n, op);
			test_program_answers_free(model);
		}
		test_mirror_free(mirror);
	}
}

/*
 * The sum of a column's ranks on leaves, put together from those of the halves: as three words, of
 * which the lowest is first.  What is wanted of the upper and of the lower ones is terms 0 and 1.
 */
static void
sum_of_halves(const int64 *answer, const GpbAnswerFormat *format, uint64 sum[3])
{
	const int64 *upper = answer + format->column[0].sum;
	const int64 *lower = answer + format->column[1].sum;
	Rank		bias = (Rank) (uint64) answer[format->column[0].count] << 63;
	Rank		lows = ((Rank) (uint64) lower[1] << 64) + (uint64) lower[0] + bias;
	Rank		highs = ((Rank) (uint64) upper[1] << 64) + (uint64) upper[0] + bias +
		(uint64) (lows >> 64);

	sum[0] = (uint64) lows;
	sum[1] = (uint64) highs;
	sum[2] = (uint64) (highs >> 64);
}

/* The number, the sum and the bounds of a column's values on leaves, by their ranks */
typedef struct RankTotals
{
	uint64		count;
	uint64		sum[3];
	Rank		least;
	Rank		greatest;
} RankTotals;

static RankTotals
totals_by_rank(const TestIndex *index, int column)
{
	RankTotals	totals = {.least = ~(Rank) 0};
	uint32		i;
	uint32		k;

	for (i = 0; i < index->nleaves; i++)
	{
		for (k = 0; k < index->leaf[i].count; k++)
		{
			const TestEntry *entry = &index->entry[index->leaf[i].first + k];
			Rank		rank = rank_of(index, entry, column);
			Rank		low = (Rank) totals.sum[1] << 64 | totals.sum[0];

			if (is_null(entry, column))
				continue;
			totals.count++;
			totals.least = rank < totals.least ? rank : totals.least;
			totals.greatest = rank > totals.greatest ? rank : totals.greatest;
			totals.sum[2] += low + rank < low;
			totals.sum[0] = (uint64) (low + rank);
			totals.sum[1] = (uint64) ((low + rank) >> 64);
		}
	}
	return totals;
}

static Rank
rank_of_halves(const int64 *half)
{
	uint64		sign = (uint64) 1 << 63;

	return (Rank) ((uint64) half[0] ^ sign) << 64 | ((uint64) half[1] ^ sign);
}

/* The sums of halves make that of the values, and their bounds are those of the values. */
TEST_ONCE(halves_totals)
{
	int			rounds = test_emulated ? 20 : 100;

	while (rounds-- > 0)
	{
		GpbLayout	layout = random_layout();
		TestMirror *mirror = test_mirror_of_layout(&layout, 1 + (uint32) test_below(1000),
												   test_once_in(3));
		GpbRangesSpec spec = test_spec(mirror, 1);
		int			column = random_column(&layout);
		RankTotals	totals = totals_by_rank(mirror->index, column);
		GpbAnswerFormat format;
		TestBuilder builder;
		TestProgramAnswers *model;
		Halves		value;
		uint64		sum[3];

		test_all_visible(mirror, true);
		test_begin(&builder, &spec);
		spec.program.ignore_dead_hints = true;
		value = halves_of_column(&builder, column);
		test_add_halves_term(&builder, value.upper, value.lower, GPB_WANT_SUM, GPB_NO_SLOT);
		test_add_term(&builder, value.lower, GPB_KIND_INT8, GPB_WANT_SUM, GPB_NO_SLOT);
		gpb_answer_format(&spec.program, &format);
		(void) test_ask_program(mirror, &spec, test_whole_of(mirror));
		model = test_model_program(mirror, &spec, test_whole_of(mirror));
		sum_of_halves(model->answers, &format, sum);
		CHECK((uint64) model->answers[format.column[0].count] == totals.count,
			  "%ld values of column %d, not %lu", model->answers[format.column[0].count], column,
			  totals.count);
		CHECK(memcmp(sum, totals.sum, sizeof(sum)) == 0, "another sum of column %d", column);
		CHECK(totals.count == 0 ||
			  (rank_of_halves(model->answers + format.column[0].halves) == totals.least &&
			   rank_of_halves(model->answers + format.column[0].halves + 2) == totals.greatest),
			  "other bounds of column %d", column);
		test_program_answers_free(model);
		test_mirror_free(mirror);
	}
}

/* ---- arithmetic ---- */

static int
add_half(TestBuilder *builder, int op, int a, int b, int c)
{
	return test_add_step(builder, op, TYPE_HALF, a, b, c, GPB_NO_SLOT);
}

/* Steps for the product of a value and a word, as the planner writes them */
static Halves
add_product(TestBuilder *builder, Halves a, int word)
{
	int			carry = add_half(builder, GPB_OP_LOWER_CARRY, a.lower, word, 0);

	return (Halves) {add_half(builder, GPB_OP_UPPER_MULTIPLY, a.upper, word, carry),
					 add_half(builder, GPB_OP_LOWER_MULTIPLY, a.lower, word, 0)};
}

/* Steps for the sum or the difference of two values, as the planner writes them */
static Halves
add_sum(TestBuilder *builder, bool subtract, Halves a, Halves b)
{
	int			lower = add_half(builder, subtract ? GPB_OP_LOWER_SUBTRACT : GPB_OP_LOWER_ADD,
								 a.lower, b.lower, 0);
	int			carry = add_boolean(builder, GPB_OP_LT, subtract ? a.lower : lower,
									subtract ? b.lower : a.lower);

	return (Halves) {add_half(builder, subtract ? GPB_OP_UPPER_SUBTRACT : GPB_OP_UPPER_ADD,
							  a.upper, b.upper, carry), lower};
}

/* What is computed of each value x of a column whose upper half is small: x * by + or - other */
typedef struct Computed
{
	int			column;
	int64		by;
	__int128	other;
	bool		subtract;
} Computed;

/* Upper halves of values that are computed with are not beyond these bounds. */
#define SMALL_UPPER			((int64) 1 << 60)

/* The sum of what is computed of the values on leaves, as three words, and their number */
static uint64
sum_of_computed(const TestIndex *index, const Computed *computed, uint64 sum[3])
{
	uint64		n = 0;
	uint32		i;
	uint32		k;

	memset(sum, 0, 3 * sizeof(uint64));
	for (i = 0; i < index->nleaves; i++)
	{
		for (k = 0; k < index->leaf[i].count; k++)
		{
			const TestEntry *entry = &index->entry[index->leaf[i].first + k];
			__int128	x = (__int128) (rank_of(index, entry, computed->column) - ((Rank) 1 << 127));
			Rank		low = (Rank) sum[1] << 64 | sum[0];
			Rank		total;

			if (is_null(entry, computed->column) || (int64) (x >> 64) < -SMALL_UPPER ||
				(int64) (x >> 64) > SMALL_UPPER)
				continue;
			x *= computed->by;
			x += computed->subtract ? -computed->other : computed->other;
			total = low + (Rank) x;
			sum[2] += (uint64) (total < low) + (x < 0 ? ~(uint64) 0 : 0);
			sum[0] = (uint64) total;
			sum[1] = (uint64) (total >> 64);
			n++;
		}
	}
	return n;
}

static void
random_computed(const GpbLayout *layout, Computed *computed)
{
	computed->column = random_column(layout);
	computed->by = (int64) test_below(7) - 3;
	computed->subtract = test_once_in(2);
	computed->other = (__int128) ((Rank) test_random() << 64 | test_random());
	/* So the sum fits: what is computed of the value is below 2^126. */
	computed->other >>= 4 + (test_once_in(2) ? 0 : test_below(124));
}

/* Steps for it, with a filter on the column's upper halves */
static Halves
add_computed(TestBuilder *builder, const Computed *computed)
{
	Halves		x = halves_of_column(builder, computed->column);
	Halves		other = halves_of_rank(builder, (Rank) computed->other + ((Rank) 1 << 127), false);
	int			by = test_add_constant(builder, TYPE_HALF, computed->by, false);
	int			least = test_add_constant(builder, TYPE_HALF, -SMALL_UPPER, false);
	int			greatest = test_add_constant(builder, TYPE_HALF, SMALL_UPPER, false);

	test_add_filter(builder, add_boolean(builder, GPB_OP_GE, x.upper, least));
	test_add_filter(builder, add_boolean(builder, GPB_OP_LE, x.upper, greatest));
	return add_sum(builder, computed->subtract, add_product(builder, x, by), other);
}

/* Sums of what is computed of values by their halves are those of the values. */
TEST_ONCE(halves_arithmetic)
{
	int			rounds = test_emulated ? 20 : 100;

	while (rounds-- > 0)
	{
		GpbLayout	layout = random_layout();
		TestMirror *mirror = test_mirror_of_layout(&layout, 1 + (uint32) test_below(1000),
												   test_once_in(3));
		GpbRangesSpec spec = test_spec(mirror, 1);
		GpbAnswerFormat format;
		TestBuilder builder;
		TestProgramAnswers *model;
		Computed	computed;
		Halves		value;
		uint64		expected[3];
		uint64		count;
		uint64		sum[3];

		random_computed(&layout, &computed);
		count = sum_of_computed(mirror->index, &computed, expected);
		test_all_visible(mirror, true);
		test_begin(&builder, &spec);
		spec.program.ignore_dead_hints = true;
		value = add_computed(&builder, &computed);
		test_add_term(&builder, value.upper, GPB_KIND_INT8, GPB_WANT_SUM, GPB_NO_SLOT);
		test_add_term(&builder, value.lower, GPB_KIND_INT8, GPB_WANT_SUM, GPB_NO_SLOT);
		gpb_answer_format(&spec.program, &format);
		(void) test_ask_program(mirror, &spec, test_whole_of(mirror));
		model = test_model_program(mirror, &spec, test_whole_of(mirror));
		CHECK((uint64) model->answers[format.column[0].count] == count,
			  "%ld values of column %d, not %lu", model->answers[format.column[0].count],
			  computed.column, count);
		sum_of_halves(model->answers, &format, sum);
		/* Ranks are 2^127 more than integers. */
		sum[1] -= count << 63;
		sum[2] -= (count >> 1) + ((uint64) (sum[1] + (count << 63)) < (count << 63));
		CHECK(memcmp(sum, expected, sizeof(sum)) == 0, "another sum of what column %d gives",
			  computed.column);
		test_program_answers_free(model);
		test_mirror_free(mirror);
	}
}

/* ---- groups ---- */

static int
compare_ranks(const void *a, const void *b)
{
	const Rank *x = a;
	const Rank *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* The number of different values of a column on leaves, with NULL as one of them */
static uint64
count_values(const TestIndex *index, int column)
{
	Rank	   *ranks = malloc(index->nentries * sizeof(Rank));
	bool		has_null = false;
	uint64		n = 0;
	uint64		values = 0;
	uint64		i;
	uint32		k;

	for (i = 0; i < index->nleaves; i++)
	{
		for (k = 0; k < index->leaf[i].count; k++)
		{
			const TestEntry *entry = &index->entry[index->leaf[i].first + k];

			if (is_null(entry, column))
				has_null = true;
			else
				ranks[n++] = rank_of(index, entry, column);
		}
	}
	qsort(ranks, n, sizeof(Rank), compare_ranks);
	for (i = 0; i < n; i++)
		values += i == 0 || ranks[i] != ranks[i - 1];
	free(ranks);
	return values + has_null;
}

/* Groups by both halves are those by the values, and there may be two such values. */
TEST_ONCE(halves_groups)
{
	int			rounds = test_emulated ? 20 : 100;

	while (rounds-- > 0)
	{
		GpbLayout	layout = random_layout();
		TestMirror *mirror = test_mirror_of_layout(&layout, 1 + (uint32) test_below(1000),
												   test_once_in(3));
		GpbRangesSpec spec = test_spec(mirror, 1);
		int			column = random_column(&layout);
		TestBuilder builder;
		TestProgramAnswers *model;
		Halves		value;
		uint64		n = count_values(mirror->index, column);

		test_all_visible(mirror, true);
		test_begin(&builder, &spec);
		spec.program.ignore_dead_hints = true;
		value = halves_of_column(&builder, column);
		if (test_once_in(2))
			test_add_term(&builder, value.lower, GPB_KIND_INT8, GPB_WANT_SUM, GPB_NO_SLOT);
		spec.program.ngroups = 2;
		spec.program.group[0] = (uint8) value.upper;
		spec.program.group[1] = (uint8) value.lower;
		(void) test_ask_program(mirror, &spec, test_whole_of(mirror));
		model = test_model_program(mirror, &spec, test_whole_of(mirror));
		CHECK(model->ngroups == n, "%lu groups by column %d, not %lu", model->ngroups, column, n);
		test_program_answers_free(model);
		value = halves_of_column(&builder, random_column(&layout));
		spec.program.ngroups = 4;
		spec.program.group[2] = (uint8) value.upper;
		spec.program.group[3] = (uint8) value.lower;
		(void) test_ask_program(mirror, &spec, test_whole_of(mirror));
		test_mirror_free(mirror);
	}
}

/* ---- many threads at the bounds of few answers ---- */

/* How values of 16 bytes follow each other where many of them move the bounds */
typedef enum Course
{
	EQUAL_UPPERS,				/* lower halves alone move outwards */
	OPPOSITE_LOWERS,			/* upper halves do, and lower ones inwards */
	RANDOM_LOWERS,				/* upper halves do, each for several values */
	COURSES
} Course;

/* The i-th of n values, every second one below all before it, the others above these */
static void
set_outward(TestEntry *entry, Course course, uint32 i, uint32 n)
{
	int64		out = i % 2 == 0 ? -(int64) i : (int64) i;
	int64		in = i % 2 == 0 ? (int64) (n - i) : -(int64) (n - i);

	switch (course)
	{
		case EQUAL_UPPERS:
			entry->rest[1] = 7;
			entry->value[1] = out;
			return;
		case OPPOSITE_LOWERS:
			entry->rest[1] = (uint64) out;
			entry->value[1] = -in;
			return;
		default:
			entry->rest[1] = (uint64) (out / 64);
			entry->value[1] = (int64) test_random();
	}
}

/*
 * Warps read leaves at the same time, each from its first entry on.  So the values follow each
 * other by their places on leaves, and each entry that is read moves bounds that others move, too.
 */
static void
set_values_outward(TestIndex *index, Course course, uint32 ngroups)
{
	uint32		i;
	uint32		k;

	for (i = 0; i < index->nleaves; i++)
	{
		for (k = 0; k < index->leaf[i].count; k++)
		{
			TestEntry  *entry = &index->entry[index->leaf[i].first + k];

			entry->value[0] = (int64) test_below(ngroups);
			if (!entry->is_null[1])
				set_outward(entry, course, k * index->nleaves + i, 1000 * index->nleaves);
		}
		test_write_leaf(index, i);
	}
}

/* The bounds of all entries, of several groups and of all, and with a filter */
static void
ask_bounds(TestMirror *mirror, bool in_groups)
{
	GpbRangesSpec spec = test_spec(mirror, 1);
	TestBuilder builder;
	Halves		value;
	int			zero;

	test_begin(&builder, &spec);
	spec.program.ignore_dead_hints = true;
	value = halves_of_column(&builder, 2);
	zero = test_add_constant(&builder, TYPE_HALF, 0, false);
	test_add_halves_term(&builder, value.upper, value.lower, 0, GPB_NO_SLOT);
	test_add_halves_term(&builder, value.upper, value.lower, GPB_WANT_SUM,
						 add_boolean(&builder, GPB_OP_LT, value.lower, zero));
	if (in_groups)
	{
		spec.program.ngroups = 1;
		spec.program.group[0] = 1;
	}
	(void) test_ask_program(mirror, &spec, test_whole_of(mirror));
}

/* Bounds that many threads move at the same time, in answers of few groups and in one answer */
TEST_ONCE(halves_contended)
{
	static const int kinds[] = {GPB_KIND_INT4, GPB_KIND_INT128};
	/* the last are more than have copies (group_rows.cuh) */
	static const uint32 ngroups[] = {1, 3, 40, 3000};
	GpbLayout	layout = test_layout(8, 0, 2, kinds);
	int			course;
	int			i;

	for (course = 0; course < COURSES; course++)
	{
		for (i = 0; i < (test_emulated ? 2 : 4); i++)
		{
			TestShape	shape = {.layout = layout, .nentries = test_emulated ? 3000 : 60000,
			.null_values = 50};
			TestMirror *mirror = test_mirror_create(&shape);
			int			repeats = test_emulated ? 1 : 3;

			set_values_outward(mirror->index, (Course) course, ngroups[i]);
			test_mirror_fill(mirror, true);
			test_all_visible(mirror, true);
			while (repeats-- > 0)
				ask_bounds(mirror, true);
			ask_bounds(mirror, false);
			test_mirror_free(mirror);
		}
	}
}

static void
check_refused(TestMirror *mirror, const GpbRangesSpec *spec, const char *what)
{
	int64		answers[64];

	CHECK(test_launch_at(mirror, 0, spec, test_whole_of(mirror), answers) == GPB_DEVICE_NO_MEMORY,
		  "%s was accepted", what);
	test_requests_end();
}

/* Halves of what has none, more than there may be, and one that is not named; then as ever */
TEST_ONCE(halves_refused)
{
	static const int kinds[] = {GPB_KIND_INT128, GPB_KIND_INT8};
	GpbLayout	layout = test_layout(8, 0, 2, kinds);
	TestMirror *mirror = test_mirror_of_layout(&layout, 500, false);
	GpbRangesSpec good = test_spec(mirror, 1);
	GpbRangesSpec bad;
	TestBuilder builder;
	Halves		halves;

	test_begin(&builder, &good);
	halves = halves_of_column(&builder, 1);
	test_add_filter(&builder, add_comparison(&builder, GPB_OP_LT, halves,
											 halves_of_rank(&builder, (Rank) 1 << 127, false)));
	(void) test_ask_program(mirror, &good, &test_whole);
	bad = good;
	bad.program.half[0] = 0;
	check_refused(mirror, &bad, "the half of a narrow key");
	bad.program.half[0] = 2;
	check_refused(mirror, &bad, "the half of a value of 8 bytes");
	bad.program.half[0] = 3;
	check_refused(mirror, &bad, "the half of a column that is not there");
	bad = good;
	bad.program.nhalves = GPB_MAX_HALVES + 1;
	memset(bad.program.half, 1, sizeof(bad.program.half));
	check_refused(mirror, &bad, "a program of too many halves");
	bad = good;
	bad.program.nhalves = 0;
	check_refused(mirror, &bad, "a slot of no half");
	test_add_halves_term(&builder, halves.upper, halves.lower, 0, GPB_NO_SLOT);
	(void) test_ask_program(mirror, &good, &test_whole);
	bad = good;
	bad.program.term[0].lower = GPB_NO_SLOT;
	check_refused(mirror, &bad, "a term of a half alone");
	bad.program.term[0].lower = GPB_SLOTS - 1;
	check_refused(mirror, &bad, "a term of a half that has no value");
	bad = good;
	bad.program.term[0].kind = GPB_KIND_FLOAT8;
	check_refused(mirror, &bad, "a term of halves that are float8");
	(void) test_ask_program(mirror, &good, &test_whole);
	test_mirror_free(mirror);
}
