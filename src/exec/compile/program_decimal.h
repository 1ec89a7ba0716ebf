/*-------------------------------------------------------------------------
 *
 * program_decimal.h
 *	  Values of type numeric in a program: words with a scale that planning knows.
 *
 * A decimal is word / 10^scale, and is displayed with as many digits as its scale says, which is
 * what core's numeric of the same expression has.  A column's word may be NaN's (page/numeric.h),
 * which is in the order of words where it is in that of numerics; what is computed from it faults
 * there.  There is no infinity: a step faults where core would have one.
 *
 * A quotient by a constant has a scale that depends on the value, so it is no decimal, but its
 * floor, ceiling and whole part are.  A choice between values of different scales (CASE, COALESCE)
 * has the greatest of them for its word, and varies in how many digits are displayed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_DECIMAL_H
#define GPB_PROGRAM_DECIMAL_H

#include "utils/array.h"

#include "exec/compile/program_build_internal.h"

static inline int64
gpb_power_of_ten(int exponent)
{
	int64		power = 1;

	while (exponent-- > 0)
		power *= 10;
	return power;
}

/* A numeric constant */
extern GpbTyped gpb_decimal_constant(GpbProgramBuilder *builder, const Const *value);

/* The result of a call.  "arguments" has those that are values; args has all of them. */
extern GpbTyped gpb_decimal_call(GpbProgramBuilder *builder, const GpbFunction *function,
								 const GpbTyped *arguments, List *args);

/*
 * A value without NaN: a step faults where a column has that, which is the greatest of all words.
 * Those for values of 16 bytes see to it themselves.
 */
extern GpbTyped gpb_decimal_number(GpbProgramBuilder *builder, const GpbTyped *value);

/* An operator of two values of a word at the greater of their scales */
extern GpbTyped gpb_decimal_operated(GpbProgramBuilder *builder, int op, const GpbTyped *value);

/*
 * The elements of an array of numerics that are not NULL, as words of one scale, to which *value is
 * brought too; NULL if they are refused.
 */
extern int64 *gpb_decimal_elements(GpbProgramBuilder *builder, ArrayType *array,
								   GpbTyped *value, int *n, bool *has_null);

/*
 * The slot of a quotient as a word of *scale, and of the dividend's magnitude.  Returns false if it
 * is refused: if there are quotients that no scale can say, or core cuts off digits.
 */
extern bool gpb_decimal_quotient(GpbProgramBuilder *builder, const GpbTyped *value, int *slot,
								 int *scale, int *magnitude);

/* Has it one scale and no quotient, as what is no numeric has?  If not, refuse it. */
extern bool gpb_decimal_has_scale(GpbProgramBuilder *builder, const GpbTyped *value);

/* Is it besides a word? */
extern bool gpb_decimal_is_whole(GpbProgramBuilder *builder, const GpbTyped *value);

/*
 * Bring n values, between which there is a choice, to one scale, and fill in *choice but for the
 * slot.  If it varies, each value has the slot of the digits that it is displayed with.  Returns
 * false if it is refused.
 */
extern bool gpb_decimal_align(GpbProgramBuilder *builder, GpbTyped *value, int n,
							  GpbTyped *choice);

/* The slot of the digits that a value which varies is displayed with; NULL if the value is. */
extern int	gpb_decimal_shown(GpbProgramBuilder *builder, const GpbTyped *value);

#endif							/* GPB_PROGRAM_DECIMAL_H */
