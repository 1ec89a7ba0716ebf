/*-------------------------------------------------------------------------
 *
 * expect.c
 *	  What a request should give, by brute force over the model.
 *
 * Nothing here calls what the devices are made of, but for requests with programs (programs.c):
 * ranges, answers and records are read and written as the comments of ranges.h and answer.h say,
 * sums with wider numbers.  (And for gpb_bound_cmp, by which the model is sorted too.)
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>

#include "index.h"

#define LIMBS	72

/* An exact sum, two's complement in units of 2^-1074 */
typedef struct FloatSum
{
	uint32		limb[LIMBS];
	int64		nans;
	int64		positive_infinities;
	int64		negative_infinities;
} FloatSum;

/* ---- exact sums: schoolbook arithmetic on a long integer ---- */

static void
limbs_negate(uint32 *limb)
{
	uint64		carry = 1;
	int			i;

	for (i = 0; i < LIMBS; i++)
	{
		carry += (uint32) ~limb[i];
		limb[i] = (uint32) carry;
		carry >>= 32;
	}
}

static void
limbs_add(uint32 *into, const uint32 *limb)
{
	uint64		carry = 0;
	int			i;

	for (i = 0; i < LIMBS; i++)
	{
		carry += (uint64) into[i] + limb[i];
		into[i] = (uint32) carry;
		carry >>= 32;
	}
}

static void
float_sum_add(FloatSum *sum, int64 bits)
{
	uint32		limb[LIMBS];
	double		value;
	int			exponent;
	uint64		mantissa;
	int			bit;

	memcpy(&value, &bits, sizeof(value));
	if (isnan(value))
		sum->nans++;
	else if (isinf(value))
		*(value < 0 ? &sum->negative_infinities : &sum->positive_infinities) += 1;
	if (!isfinite(value) || value == 0)
		return;
	/* |value| = mantissa * 2^(exponent - 53), so bit b weighs 2^(b + exponent - 53) */
	mantissa = (uint64) ldexp(frexp(fabs(value), &exponent), 53);
	memset(limb, 0, sizeof(limb));
	for (bit = 0; bit < 53; bit++)
	{
		int			place = bit + exponent - 53 + 1074;

		if ((mantissa >> bit) & 1)
			limb[place / 32] |= (uint32) 1 << (place % 32);
	}
	if (value < 0)
		limbs_negate(limb);
	limbs_add(sum->limb, limb);
}

/* Write the sum as a normalized GpbFloatSum is: a limb a bin, the last bin with the sign. */
static void
pack_float_sum(const FloatSum *sum, int64 *word)
{
	int			i;

	for (i = 0; i < GPB_FLOAT_BINS - 1; i++)
		word[i] = sum->limb[i];
	word[i] = (int64) (sum->limb[i] | (uint64) sum->limb[i + 1] << 32);
	word += GPB_FLOAT_BINS;
	word[0] = sum->nans;
	word[1] = sum->positive_infinities;
	word[2] = sum->negative_infinities;
	word[3] = 0;				/* additions since it was normalized */
}

/* ---- answers ---- */

/* One answer, of every column whatever is wanted of it */
typedef struct Answer
{
	int64		entries;
	int64		count[GPB_MAX_COLUMNS];
	__int128	sum[GPB_MAX_COLUMNS];
	int64		min[GPB_MAX_COLUMNS];	/* float8: an integer in the order of float8s */
	int64		max[GPB_MAX_COLUMNS];
	FloatSum float_sum[GPB_MAX_COLUMNS];
} Answer;

static bool
is_float(const GpbLayout *layout, int column)
{
	return column > 0 && layout->kind[column - 1] == GPB_KIND_FLOAT8;
}

/* The value as an integer that compares as it does: of float8s NaN is last, the zeros are equal. */
static int64
comparable(const GpbLayout *layout, int column, int64 value)
{
	double		number;

	if (!is_float(layout, column))
		return value;
	memcpy(&number, &value, sizeof(number));
	if (isnan(number))
		return (int64) 0x7FFFFFFFFFFFFFFF;
	if (number == 0)
		return 0;
	return number < 0 ? -(int64) ((uint64) value & 0x7FFFFFFFFFFFFFFFul) : value;
}

static void
add_value(Answer *answer, const GpbProgram *program, int column, int64 value)
{
	int64		order = comparable(&program->layout, column, value);

	if (answer->count[column] == 0 || order < answer->min[column])
		answer->min[column] = order;
	if (answer->count[column] == 0 || order > answer->max[column])
		answer->max[column] = order;
	answer->count[column]++;
	answer->sum[column] += value;
	if (is_float(&program->layout, column) && (program->want[column] & GPB_WANT_SUM))
		float_sum_add(&answer->float_sum[column], value);
}

static void
add_entry(Answer *answer, const GpbProgram *program, const TestEntry *entry)
{
	int			c;

	answer->entries++;
	if (!entry->key_is_null)
		add_value(answer, program, 0, entry->key);
	for (c = 0; c < program->layout.ncolumns; c++)
	{
		if (!entry->is_null[c])
			add_value(answer, program, c + 1, entry->value[c]);
	}
}

/* Write the answer's words; returns their number. */
static int
pack_answer(const Answer *answer, const GpbProgram *program, int64 *word)
{
	int			n = 0;
	int			c;

	word[n++] = answer->entries;
	for (c = 0; c <= program->layout.ncolumns; c++)
	{
		int			want = program->want[c];

		if (want != 0)
			word[n++] = answer->count[c];
		if ((want & GPB_WANT_SUM) && !is_float(&program->layout, c))
		{
			word[n++] = (int64) answer->sum[c];
			word[n++] = (int64) (answer->sum[c] >> 64);
		}
		if (want & GPB_WANT_MINMAX)
		{
			/* min above max says that there was no value */
			word[n++] = answer->count[c] > 0 ? answer->min[c] : 0x7FFFFFFFFFFFFFFF;
			word[n++] = answer->count[c] > 0 ? answer->max[c] : -0x7FFFFFFFFFFFFFFF - 1;
		}
	}
	for (c = 0; c <= program->layout.ncolumns; c++)
	{
		if (!(program->want[c] & GPB_WANT_SUM) || !is_float(&program->layout, c))
			continue;
		pack_float_sum(&answer->float_sum[c], word + n);
		n += GPB_FLOAT_SUM_WORDS;
	}
	return n;
}

int
test_answer_width(const GpbProgram *program)
{
	static const Answer none;
	GpbAnswerFormat format;
	int64		word[1 + GPB_MAX_COLUMNS * (5 + GPB_FLOAT_SUM_WORDS)];

	if (!gpb_program_is_plain(program))
	{
		gpb_answer_format(program, &format);
		return gpb_answer_width(&format);
	}
	return pack_answer(&none, program, word) * 8;
}

/* ---- records ---- */

int
test_entry_width(const GpbLayout *layout)
{
	return 4 + 4 + 8 + (layout->row_width + 7) / 8 * 8 + (layout->key_width == 16 ? 8 : 0);
}

static void
expect_entry(TestExpected *expected, const TestIndex *index, uint32 number, bool visible, uint32 i)
{
	int			width = test_entry_width(&index->layout);
	uint32		flags = visible ? GPB_RANGE_ENTRY_VISIBLE : 0;
	uint64		key;
	char	   *record;

	if (expected->nentries == expected->room_entries)
	{
		expected->room_entries = expected->room_entries * 2 + 1000;
		expected->entries = realloc(expected->entries, expected->room_entries * width);
	}
	record = expected->entries + expected->nentries++ * width;
	memset(record, 0, width);
	memcpy(record, &number, 4);
	memcpy(record + 4, &flags, 4);
	key = (uint64) index->entry[i].bound.key;
	memcpy(record + 8, &key, 8);
	test_row(index, i, record + 16);
	key = (uint64) (index->entry[i].bound.key >> 64);
	if (index->layout.key_width == 16)
		memcpy(record + width - 8, &key, 8);
}

static void
expect_piece(TestExpected *expected, GpbRange range, uint32 block, uint32 number)
{
	GpbPiece   *piece;

	if (expected->npieces == expected->room_pieces)
	{
		expected->room_pieces = expected->room_pieces * 2 + 1000;
		expected->pieces = realloc(expected->pieces,
								   expected->room_pieces * sizeof(GpbPiece));
	}
	piece = &expected->pieces[expected->npieces++];
	piece->range = range;
	piece->block = block;
	piece->number = number;
}

/* ---- ranges ---- */

/* One range, in whichever form it was given */
typedef struct Range
{
	GpbRange	bounds;			/* where it begins and ends in the index's order */
	bool		by_key;			/* else bounds decide */
	GpbKey		lo;				/* keys, both included */
	GpbKey		hi;
} Range;

int
test_range_width(const GpbRangesSpec *spec)
{
	int			key = spec->program.layout.key_width == 16 ? 16 : 8;

	return spec->form == GPB_RANGE_POINTS ? key :
		spec->form == GPB_RANGE_KEYS ? 2 * key : 2 * (key + 8);
}

static Range
get_range(const GpbRangesSpec *spec, const void *ranges, uint32 i)
{
	bool		nulls_first = (spec->program.layout.flags & GPB_LAYOUT_NULLS_FIRST) != 0;
	const char *at = (const char *) ranges + (uint64) i * test_range_width(spec);
	int			key = spec->program.layout.key_width == 16 ? 16 : 8;
	Range		range;

	memset(&range, 0, sizeof(range));
	if (spec->form == GPB_RANGE_BOUNDS && key == 16)
	{
		memcpy(&range.bounds, at, sizeof(range.bounds));
		return range;
	}
	if (spec->form == GPB_RANGE_BOUNDS)
	{
		GpbNarrowRange narrow;

		memcpy(&narrow, at, sizeof(narrow));
		range.bounds = gpb_widen_range(narrow);
		return range;
	}
	range.by_key = true;
	memcpy(&range.lo, at, key);
	memcpy(&range.hi, spec->form == GPB_RANGE_KEYS ? at + key : at, key);
	/* NULL keys have the bits of the least or the greatest key */
	range.bounds.lo.key = range.lo;
	range.bounds.hi.key = range.hi;
	range.bounds.lo.tie = nulls_first ? (uint64) 1 << 48 : 0;
	range.bounds.hi.tie = nulls_first ? ~(uint64) 0 : (uint64) 1 << 48;
	return range;
}

static bool
in_range(const TestEntry *entry, const Range *range)
{
	if (range->by_key)
		return !entry->key_is_null && entry->bound.key >= range->lo &&
			entry->bound.key <= range->hi;
	return gpb_bound_cmp(entry->bound, range->bounds.lo) >= 0 &&
		gpb_bound_cmp(entry->bound, range->bounds.hi) < 0;
}

/* 1: seen, 2: not seen, 0: the heap must decide */
static int
entry_state(const GpbRangesSpec *spec, const uint8 *visible, const TestEntry *entry)
{
	uint32		block = entry->heap_block;
	const uint64 *exceptions =
		(const uint64 *) (visible + gpb_exceptions_offset(spec->heap_blocks));
	uint32		i;

	if (block >= spec->heap_blocks)
		return 0;
	if ((visible[block / 4] & (1 << (block % 4 * 2))) != 0)
		return 1;
	if (spec->exceptions == 0 || (visible[block / 4] & (2 << (block % 4 * 2))) == 0)
		return 0;
	for (i = 0; i < spec->exceptions; i++)
	{
		if (exceptions[i] == (entry->bound.tie & GPB_TID_MASK))
			return 2;
	}
	return 1;
}

static void
expect_leaf(TestExpected *expected, const TestIndex *index, const GpbRangesSpec *spec,
			const uint8 *visible, const TestLeaf *leaf, uint32 number, const Range *range,
			Answer *answer)
{
	uint32		i;

	expected->leaves++;
	for (i = leaf->first; i < leaf->first + leaf->count; i++)
	{
		const TestEntry *entry = &index->entry[i];
		int			state = entry_state(spec, visible, entry);

		if (!in_range(entry, range) || (entry->dead && !spec->program.ignore_dead_hints))
			continue;
		if (spec->program.list_entries || state == 0)
			expect_entry(expected, index, number, state == 1, i);
		else if (state == 1)
			add_entry(answer, &spec->program, entry);
	}
}

/* First leaf that ends above the bound */
static uint32
first_leaf(const TestIndex *index, GpbBound bound)
{
	uint32		lo = 0;
	uint32		hi = index->nleaves - 1;

	while (lo < hi)
	{
		uint32		mid = (lo + hi) / 2;

		if (gpb_bound_cmp(index->leaf[mid].high, bound) > 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static void
expect_range(TestExpected *expected, const TestIndex *index, const GpbRangesSpec *spec,
			 const uint8 *visible, uint32 number, const Range *range, Answer *answer)
{
	uint32		k;

	if (gpb_bound_cmp(range->bounds.lo, range->bounds.hi) >= 0)
		return;
	for (k = first_leaf(index, range->bounds.lo);
		 k < index->nleaves && gpb_bound_cmp(index->leaf[k].low, range->bounds.hi) < 0; k++)
	{
		const TestLeaf *leaf = &index->leaf[k];
		GpbRange	piece = range->bounds;

		if (gpb_bound_cmp(piece.lo, leaf->low) < 0)
			piece.lo = leaf->low;
		if (gpb_bound_cmp(piece.hi, leaf->high) > 0)
			piece.hi = leaf->high;
		if (leaf->unclean)
			expect_piece(expected, piece, leaf->block, number);
		else
			expect_leaf(expected, index, spec, visible, leaf, number, range, answer);
	}
}

TestExpected *
test_expect(const TestIndex *index, const GpbRangesSpec *spec, const void *ranges,
			const uint8 *visible)
{
	TestExpected *expected;
	Answer	   *answer;
	uint32		i;

	if (test_has_program(spec))
		return test_expect_program(index, spec, ranges, visible);
	expected = calloc(1, sizeof(TestExpected));
	answer = calloc(1, sizeof(Answer));
	expected->words = test_answer_width(&spec->program) / 8;
	if (!spec->program.list_entries)
		expected->nanswers = spec->total ? 1 : spec->n;
	expected->answers = calloc(expected->nanswers + 1, expected->words * 8);
	for (i = 0; i < spec->n; i++)
	{
		Range		range = get_range(spec, ranges, i);

		expect_range(expected, index, spec, visible, i, &range, answer);
		if (spec->program.list_entries || spec->total)
			continue;
		pack_answer(answer, &spec->program, expected->answers + (uint64) i * expected->words);
		memset(answer, 0, sizeof(*answer));
	}
	if (expected->nanswers == 1 && spec->total)
		pack_answer(answer, &spec->program, expected->answers);
	free(answer);
	return expected;
}

void
test_expected_free(TestExpected *expected)
{
	free(expected->answers);
	free(expected->pieces);
	free(expected->entries);
	free(expected->groups);
	free(expected);
}
