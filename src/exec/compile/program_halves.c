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

/* Shorter names for what is used all the time */
#define STEP2(op, a, b)		gpb_slot_step(builder, op, a, b, 0)
#define STEP3(op, a, b, c)	gpb_slot_step(builder, op, a, b, c)
#define WORD(word)			gpb_slot_word(builder, word)

/* 10^18 is the greatest power of ten that fits a word. */
#define GPB_MOST_POWER		18

static int64
power_of_ten(int exponent)
{
	int64		power = 1;

	while (exponent-- > 0)
		power *= 10;
	return power;
}

/* The value of two halves, which may be refused, as a decimal */
static GpbDecimal
decimal_of(const GpbWideValue *value)
{
	GpbDecimal	result = {0};

	result.slot = value->lower == GPB_REFUSED ? GPB_REFUSED : value->upper;
	result.lower = value->lower;
	result.scale = value->scale;
	return result;
}

/* ---- products with a word ---- */

static GpbWideValue
multiplied(GpbProgramBuilder *builder, const GpbWideValue *value, int word)
{
	GpbWideValue result = *value;

	result.upper = STEP3(GPB_OP_UPPER_MULTIPLY, value->upper, word,
						 STEP2(GPB_OP_LOWER_CARRY, value->lower, word));
	result.lower = STEP2(GPB_OP_LOWER_MULTIPLY, value->lower, word);
	return result;
}

/* The halves of a word times a power of ten */
static GpbWideValue
widened(GpbProgramBuilder *builder, int word, int64 power)
{
	int			low = WORD((int64) ((uint64) power ^ GPB_HALF_SIGN));
	GpbWideValue result = {0};

	result.upper = STEP2(GPB_OP_LOWER_CARRY, low, word);
	result.lower = STEP2(GPB_OP_LOWER_MULTIPLY, low, word);
	return result;
}

GpbWideValue
gpb_halves_at_scale(GpbProgramBuilder *builder, const GpbDecimal *value, int scale)
{
	int			more = scale - value->scale;
	GpbWideValue result = {value->slot, value->lower};

	if (value->lower == 0)
	{
		int			first = Min(more, GPB_MOST_POWER);

		result = widened(builder, value->slot, power_of_ten(first));
		more -= first;
	}
	for (; more > 0; more -= Min(more, GPB_MOST_POWER))
		result = multiplied(builder, &result, WORD(power_of_ten(Min(more, GPB_MOST_POWER))));
	result.scale = scale;
	return result;
}

GpbDecimal
gpb_halves_product(GpbProgramBuilder *builder, const GpbDecimal *value)
{
	int			scale = value[0].scale + value[1].scale;
	int			word = value[0].lower == 0 ? 0 : 1;
	GpbDecimal	result = {GPB_REFUSED};
	GpbWideValue product;

	if (value[word].lower != 0)
		(void) gpb_refuse(builder, "a product of two numerics of 16 bytes");
	else if (scale > GPB_MOST_WIDE_SCALE)
		(void) gpb_refuse(builder, "a product of numeric with many digits");
	else
	{
		product = gpb_halves_at_scale(builder, &value[1 - word], value[1 - word].scale);
		product = multiplied(builder, &product, value[word].slot);
		product.scale = scale;
		result = decimal_of(&product);
	}
	return result;
}

/* ---- sums ---- */

static GpbWideValue
sum_of(GpbProgramBuilder *builder, bool subtract, const GpbWideValue *a, const GpbWideValue *b)
{
	GpbWideValue result = *a;
	int			carry;

	result.lower = STEP2(subtract ? GPB_OP_LOWER_SUBTRACT : GPB_OP_LOWER_ADD, a->lower, b->lower);
	carry = subtract ? STEP2(GPB_OP_LT, a->lower, b->lower) :
		STEP2(GPB_OP_LT, result.lower, a->lower);
	result.upper = STEP3(subtract ? GPB_OP_UPPER_SUBTRACT : GPB_OP_UPPER_ADD, a->upper, b->upper,
						 carry);
	return result;
}

GpbDecimal
gpb_halves_sum(GpbProgramBuilder *builder, bool subtract, const GpbDecimal *value)
{
	int			scale = Max(value[0].scale, value[1].scale);
	GpbWideValue a = gpb_halves_at_scale(builder, &value[0], scale);
	GpbWideValue b = gpb_halves_at_scale(builder, &value[1], scale);
	GpbWideValue sum = sum_of(builder, subtract, &a, &b);

	return decimal_of(&sum);
}

GpbDecimal
gpb_halves_sign(GpbProgramBuilder *builder, int op, const GpbDecimal *value)
{
	GpbWideValue same = gpb_halves_at_scale(builder, value, value->scale);
	GpbWideValue zero = widened(builder, WORD(0), 1);
	GpbWideValue result = sum_of(builder, true, &zero, &same);

	result.scale = value->scale;
	if (op == GPB_OP_ABS)
	{
		int			negative = STEP2(GPB_OP_LT, same.upper, WORD(0));

		result.upper = STEP3(GPB_OP_SELECT, negative, result.upper, same.upper);
		result.lower = STEP3(GPB_OP_SELECT, negative, result.lower, same.lower);
	}
	return decimal_of(&result);
}

/* ---- squares ---- */

GpbWideValue
gpb_halves_cross(GpbProgramBuilder *builder, const GpbWideValue *value)
{
	GpbWideValue result = {0};

	result.upper = STEP2(GPB_OP_LOWER_CARRY, value->lower, value->upper);
	result.lower = STEP2(GPB_OP_LOWER_MULTIPLY, value->lower, value->upper);
	return result;
}
