/*-------------------------------------------------------------------------
 *
 * expect.c
 *	  What an aggregate should be, by brute force over the model.
 *
 *-------------------------------------------------------------------------
 */
#include <math.h>
#include <stdlib.h>

#include "index.h"

/* ---- exact sums: schoolbook arithmetic on a long integer ---- */

static void
limbs_negate(uint32 *limb)
{
	uint64		carry = 1;
	int			i;

	for (i = 0; i < TEST_LIMBS; i++)
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

	for (i = 0; i < TEST_LIMBS; i++)
	{
		carry += (uint64) into[i] + limb[i];
		into[i] = (uint32) carry;
		carry >>= 32;
	}
}

static void
float_sum_add(TestFloatSum *sum, int64 bits)
{
	uint32		limb[TEST_LIMBS];
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

/* sum must be normalized: each bin but the last is one limb. */
bool
test_float_sum_equal(const TestFloatSum *expected, const GpbFloatSum *sum)
{
	int64		top = sum->bin[GPB_FLOAT_BINS - 1];
	int			i;

	for (i = 0; i < GPB_FLOAT_BINS - 1; i++)
	{
		if (sum->bin[i] != (int64) expected->limb[i])
			return false;
	}
	for (; i < TEST_LIMBS; i++, top >>= 32)
	{
		if ((uint32) top != expected->limb[i])
			return false;
	}
	return sum->nans == expected->nans &&
		sum->positive_infinities == expected->positive_infinities &&
		sum->negative_infinities == expected->negative_infinities;
}

/* ---- columns ---- */

static int64
comparable(const GpbLayout *layout, int column, int64 value)
{
	double		number;

	if (column == 0 || layout->kind[column - 1] != GPB_KIND_FLOAT8)
		return value;
	memcpy(&number, &value, sizeof(number));
	if (isnan(number))
		return (int64) 0x7FFFFFFFFFFFFFFF;
	if (number == 0)
		return 0;
	return number < 0 ? -(int64) ((uint64) value & 0x7FFFFFFFFFFFFFFFul) : value;
}

static void
add_value(TestAnswer *answer, const GpbLayout *layout, int column, int64 value)
{
	int64		order = comparable(layout, column, value);

	if (answer->count[column] == 0 || order < answer->min[column])
		answer->min[column] = order;
	if (answer->count[column] == 0 || order > answer->max[column])
		answer->max[column] = order;
	answer->count[column]++;
	answer->sum[column] += value;
	if (column > 0 && layout->kind[column - 1] == GPB_KIND_FLOAT8)
		float_sum_add(&answer->float_sum[column], value);
}

static void
add_entry(TestAnswer *answer, const GpbLayout *layout, const TestEntry *entry)
{
	int			c;

	answer->entries++;
	if (!entry->key_is_null)
		add_value(answer, layout, 0, entry->key);
	for (c = 0; c < layout->ncolumns; c++)
	{
		if (!entry->is_null[c])
			add_value(answer, layout, c + 1, entry->value[c]);
	}
}

/* ---- leaves ---- */

static bool
is_visible(const GpbAggregateSpec *spec, const uint8 *visible, uint32 block)
{
	return block < spec->heap_blocks && (visible[block / 4] & (1 << (block % 4 * 2))) != 0;
}

static void
expect_leaf(TestAnswer *answer, const TestIndex *index, const GpbAggregateSpec *spec,
			const uint8 *visible, const TestLeaf *leaf)
{
	uint32		i;

	answer->leaves++;
	for (i = leaf->first; i < leaf->first + leaf->count; i++)
	{
		const TestEntry *entry = &index->entry[i];

		if (gpb_bound_cmp(entry->bound, spec->range.lo) < 0 ||
			gpb_bound_cmp(entry->bound, spec->range.hi) >= 0 ||
			(entry->dead && !spec->ignore_dead_hints))
			continue;
		if (is_visible(spec, visible, entry->heap_block))
			add_entry(answer, &index->layout, entry);
		else
			answer->heap[answer->nheap++] = i;
	}
}

static void
expect_unclean(TestAnswer *answer, const TestLeaf *leaf, GpbRange range)
{
	GpbUncleanLeaf *unclean = &answer->unclean[answer->nunclean++];

	unclean->range = range;
	unclean->block = leaf->block;
}

TestAnswer *
test_expect(const TestIndex *index, const GpbAggregateSpec *spec, const uint8 *visible)
{
	TestAnswer *answer = calloc(1, sizeof(TestAnswer));
	uint32		i;

	answer->heap = calloc(index->nentries + 1, sizeof(uint32));
	answer->unclean = calloc(index->nleaves, sizeof(GpbUncleanLeaf));
	for (i = 0; i < index->nleaves; i++)
	{
		const TestLeaf *leaf = &index->leaf[i];
		GpbRange	range = spec->range;

		if (gpb_bound_cmp(range.lo, leaf->low) < 0)
			range.lo = leaf->low;
		if (gpb_bound_cmp(range.hi, leaf->high) > 0)
			range.hi = leaf->high;
		if (gpb_bound_cmp(range.lo, range.hi) >= 0)
			continue;
		if (leaf->unclean)
			expect_unclean(answer, leaf, range);
		else
			expect_leaf(answer, index, spec, visible, leaf);
	}
	return answer;
}

void
test_answer_free(TestAnswer *answer)
{
	free(answer->heap);
	free(answer->unclean);
	free(answer);
}
