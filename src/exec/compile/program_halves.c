/*-------------------------------------------------------------------------
 *
 * program_halves.c
 *	  Arithmetic of numerics of 16 bytes in a program, by steps on their halves.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/compile/program_halves.h"
#include "program/program_steps.h"

/* 10^18 is the greatest power of ten that fits a word. */
#define GPB_MOST_POWER		18

/* A numeric of two halves, which is refused if one of these is */
static GpbTyped
of_halves(int upper, int lower, int scale)
{
	return (GpbTyped) {.slot = lower == GPB_REFUSED ? GPB_REFUSED : upper, .lower = lower,
		.type = gpb_number_type(GPB_WORDS_WIDE, scale)};
}

GpbTyped
gpb_halves_number(GpbProgramBuilder *builder, int128 number, int scale)
{
	int			upper = WORD((int64) (number >> 64));

	return of_halves(upper, WORD((int64) ((uint64) number ^ (uint64) 1 << 63)), scale);
}

/* ---- products with a word ---- */

static GpbTyped
multiplied(GpbProgramBuilder *builder, const GpbTyped *value, int word, int scale)
{
	int			upper = STEP3(GPB_OP_UPPER_MULTIPLY, value->slot, word,
							  STEP2(GPB_OP_LOWER_CARRY, value->lower, word));

	return of_halves(upper, STEP2(GPB_OP_LOWER_MULTIPLY, value->lower, word), scale);
}

/* A word times a power of ten */
static GpbTyped
widened(GpbProgramBuilder *builder, int word, int64 power, int scale)
{
	int			low = WORD((int64) ((uint64) power ^ GPB_HALF_SIGN));
	int			upper = STEP2(GPB_OP_LOWER_CARRY, low, word);

	return of_halves(upper, STEP2(GPB_OP_LOWER_MULTIPLY, low, word), scale);
}

GpbTyped
gpb_halves_at_scale(GpbProgramBuilder *builder, const GpbTyped *value, int scale)
{
	int			more = scale - value->type.scale;
	GpbTyped	result = *value;

	if (value->lower == 0)
	{
		int			first = Min(more, GPB_MOST_POWER);

		result = widened(builder, value->slot, gpb_power_of_ten(first), scale);
		more -= first;
	}
	for (; more > 0; more -= Min(more, GPB_MOST_POWER))
		result = multiplied(builder, &result,
							WORD(gpb_power_of_ten(Min(more, GPB_MOST_POWER))), scale);
	return result;
}

GpbTyped
gpb_halves_product(GpbProgramBuilder *builder, const GpbTyped *value)
{
	int			scale = value[0].type.scale + value[1].type.scale;
	int			word = value[0].lower == 0 ? 0 : 1;
	GpbTyped	product;

	if (value[word].lower != 0)
		return gpb_no_value(builder, "a product of two numerics of 16 bytes");
	if (scale > GPB_MOST_WIDE_SCALE)
		return gpb_no_value(builder, "a product of numeric with many digits");
	product = gpb_halves_at_scale(builder, &value[1 - word], value[1 - word].type.scale);
	return multiplied(builder, &product, value[word].slot, scale);
}

/* ---- sums ---- */

static GpbTyped
sum_of(GpbProgramBuilder *builder, bool subtract, const GpbTyped *a, const GpbTyped *b)
{
	int			lower = STEP2(subtract ? GPB_OP_LOWER_SUBTRACT : GPB_OP_LOWER_ADD, a->lower,
							  b->lower);
	int			carry = subtract ? STEP2(GPB_OP_LT, a->lower, b->lower) :
		STEP2(GPB_OP_LT, lower, a->lower);

	return of_halves(STEP3(subtract ? GPB_OP_UPPER_SUBTRACT : GPB_OP_UPPER_ADD, a->slot, b->slot,
						   carry), lower, a->type.scale);
}

GpbTyped
gpb_halves_sum(GpbProgramBuilder *builder, bool subtract, const GpbTyped *value)
{
	int			scale = Max(value[0].type.scale, value[1].type.scale);
	GpbTyped	a = gpb_halves_at_scale(builder, &value[0], scale);
	GpbTyped	b = gpb_halves_at_scale(builder, &value[1], scale);

	return sum_of(builder, subtract, &a, &b);
}

GpbTyped
gpb_halves_sign(GpbProgramBuilder *builder, int op, const GpbTyped *value)
{
	int			scale = value->type.scale;
	GpbTyped	zero = widened(builder, WORD(0), 1, scale);
	GpbTyped	negated = sum_of(builder, true, &zero, value);
	int			negative;

	if (op != GPB_OP_ABS)
		return negated;
	negative = STEP2(GPB_OP_LT, value->slot, WORD(0));
	negated.slot = STEP3(GPB_OP_SELECT, negative, negated.slot, value->slot);
	return of_halves(negated.slot,
					 STEP3(GPB_OP_SELECT, negative, negated.lower, value->lower), scale);
}

/* ---- squares ---- */

GpbTyped
gpb_halves_cross(GpbProgramBuilder *builder, const GpbTyped *value)
{
	int			upper = STEP2(GPB_OP_LOWER_CARRY, value->lower, value->slot);

	return of_halves(upper, STEP2(GPB_OP_LOWER_MULTIPLY, value->lower, value->slot), 0);
}
