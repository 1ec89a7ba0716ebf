/*-------------------------------------------------------------------------
 *
 * item_number.h
 *	  Numbers of many words, as answers have them, made SQL values: for item_final.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ITEM_NUMBER_H
#define GPB_ITEM_NUMBER_H

#include "postgres.h"
#include "utils/numeric.h"

#include "answer.h"

/* ---- integers (item_integer.c) ---- */

/*
 * The variance of a term's integers, or its root, digit for digit as core's var_pop(), var_samp(),
 * stddev_pop() and stddev_samp() have it.  There must be a value, and two of them for a sample.
 */
extern Numeric gpb_integer_variance(const GpbAnswerColumn *column, const int64 *answer,
									bool sample, bool root);

/* ---- float8 (item_float.c) ---- */

/*
 * The sum of all values, rounded once.  Raises core's overflow error if it is beyond the largest
 * float8.
 */
extern float8 gpb_float_sum_final(const GpbFloatSum *sum);

/*
 * The variance of a term's float8 values, or its root.  NaN if a value is infinite or NaN.  The
 * variance is computed from the exact sums and rounded once, where core's depends on the order of
 * rows; only squares below 2^-970 have lost bits.  There must be a value, and two of them for a
 * sample.
 */
extern float8 gpb_float_variance(const GpbAnswerColumn *column, const int64 *answer,
								 bool sample, bool root);

#endif							/* GPB_ITEM_NUMBER_H */
