/*-------------------------------------------------------------------------
 *
 * program_halves.h
 *	  Arithmetic of numerics of 16 bytes in a program, by steps on their halves.
 *
 * An integer of 128 bits is two words, as program_words.h says.  The steps for one fault where NaN
 * is an operand and where the result does not fit, so what is computed is never NaN, and none of it
 * has NaN's upper half.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_HALVES_H
#define GPB_PROGRAM_HALVES_H

#include "exec/compile/program_decimal.h"

/* The most digits behind the point that a value may have */
#define GPB_MOST_WIDE_SCALE		38

/* The numeric of an integer of 128 bits, whose words planning knows */
extern GpbTyped gpb_halves_number(GpbProgramBuilder *builder, int128 number, int scale);

/* A numeric of one word or of two as two, at a scale that is not below its own */
extern GpbTyped gpb_halves_at_scale(GpbProgramBuilder *builder, const GpbTyped *value,
										int scale);

/* a + b or a - b, of which one at least has 16 bytes */
extern GpbTyped gpb_halves_sum(GpbProgramBuilder *builder, bool subtract,
								 const GpbTyped *value);

/* a * b, of which one has 16 bytes and the other a word */
extern GpbTyped gpb_halves_product(GpbProgramBuilder *builder, const GpbTyped *value);

/* -a or, with GPB_OP_ABS, |a| */
extern GpbTyped gpb_halves_sign(GpbProgramBuilder *builder, int op, const GpbTyped *value);

/* The product of the upper half and the low word of a value, by halves; it never faults. */
extern GpbTyped gpb_halves_cross(GpbProgramBuilder *builder, const GpbTyped *value);

#endif							/* GPB_PROGRAM_HALVES_H */
