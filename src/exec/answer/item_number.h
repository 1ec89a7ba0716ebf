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

#include "exec/compile/items.h"
#include "program/answer.h"

/* ---- integers (item_integer.c) ---- */

/*
 * The 128-bit sum of integers, or of decimals, which has their scale.  Of few digits, as mostly, it
 * is written as a column's values are: core's functions take several times as long.
 */
extern Numeric gpb_integer_sum(const GpbAggregateItem *item, const GpbAnswerColumn *column,
							   const int64 *answer);

/* The sum of their squares, which has twice the scale */
extern Numeric gpb_integer_squares(const GpbAggregateItem *item, const GpbAnswerColumn *column,
								   const int64 *answer);

/*
 * The variance of "count" numerics from the sums of them and of their squares, or its root, digit
 * for digit as core has it.  There must be a value, and two of them for a sample.
 */
extern Numeric gpb_numeric_variance(int64 count, Numeric sum, Numeric squares, bool sample,
									bool root);

/*
 * The variance of a term's integers / 10^scale, or its root, digit for digit as core's var_pop(),
 * var_samp(), stddev_pop() and stddev_samp() have it.  There must be a value, and two of them for a
 * sample.
 */
extern Numeric gpb_integer_variance(const GpbAnswerColumn *column, const int64 *answer, int scale,
									bool sample, bool root);

/*
 * The sum of "count" numerics of 128 bits, each the integer / 10^scale, from the sums of their
 * upper halves and of their lower ones, as gpb_key_half() has these: 128 bits each, the lowest word
 * first.  The numbers are below 10^38, so the sum has 192 bits.
 */
extern Numeric gpb_halves_numeric(const int64 *upper, const int64 *lower, int64 count, int scale);

/*
 * The sum of an item's numerics of 128 bits, and that of their squares, with the scale that they
 * have.  "columns" are the terms of the answer.
 */
extern Numeric gpb_numerics_sum(const GpbAggregateItem *item, const GpbAnswerColumn *columns,
								const int64 *answer);
extern Numeric gpb_numerics_squares(const GpbAggregateItem *item, const GpbAnswerColumn *columns,
									const int64 *answer);

/*
 * The variance of an item's numerics of 128 bits, each an integer of its terms / 10^scale, or its
 * root, as gpb_integer_variance() has that of words.  "columns" are the terms of the answer.
 */
extern Numeric gpb_halves_variance(const GpbAggregateItem *item, const GpbAnswerColumn *columns,
								   const int64 *answer, int scale, bool sample, bool root);

/* The terms of an item of numerics of 128 bits; of others there is the first alone. */
#define GPB_NUMERICS_UPPER			0
#define GPB_NUMERICS_LOWER			1
#define GPB_NUMERICS_CROSS_UPPER	2
#define GPB_NUMERICS_CROSS_LOWER	3

/* The sums that an answer has of each of these terms, and of the squares of the first two */
typedef struct GpbNumericsWords
{
	int64		sum[GPB_NUMERICS_CROSS_LOWER + 1][2];
	int64		squares[GPB_NUMERICS_CROSS_LOWER + 1][3];
} GpbNumericsWords;

/*
 * The reverse of gpb_numerics_sum() and gpb_numerics_squares(), or of gpb_integer_sum() and
 * gpb_integer_squares() if not "wide": words of which these make the sum of "count" numerics of
 * this scale, and that of their squares unless that is NULL.  Returns false if none do.
 */
extern bool gpb_numerics_words(Numeric sum, Numeric squares, int64 count, int scale, bool wide,
							   GpbNumericsWords *words);

/* ---- transition states of core's aggregates (item_state.c) ---- */

/* The state that is an item's value, as text or as bytes, of the terms "columns" of an answer */
extern Datum gpb_item_state(const GpbAggregateItem *item, const GpbAnswerColumn *columns,
							const int64 *answer, bool *isnull);

/* ---- states as SQL values (item_partial.c) ---- */

/* The partial state that is an item's value, of the terms "columns" of an answer with an entry */
extern bytea *gpb_item_partial(const GpbAggregateItem *item, const GpbAnswerColumn *columns,
							   const int64 *answer);

/* ---- float8 (item_float.c) ---- */

/*
 * The sum of all values, rounded once.  Raises core's overflow error if it is beyond the largest
 * float8.
 */
extern float8 gpb_float_sum_final(const GpbFloatSum *sum);
extern float8 gpb_narrow_sum_final(const GpbNarrowSum *sum);

/* Either, as a term has it */
extern float8 gpb_column_float_sum(const GpbAnswerColumn *column, const int64 *answer);

/*
 * The variance of a term's float8 values, or its root.  NaN if a value is infinite or NaN.  The
 * variance is computed from the exact sums and rounded once, where core's depends on the order of
 * rows; only squares below 2^-970 have lost bits.  There must be a value, and two of them for a
 * sample.
 */
extern float8 gpb_float_variance(const GpbAnswerColumn *column, const int64 *answer,
								 bool sample, bool root);

/*
 * The sum of the squares of differences from the mean, regr_sxx(): computed from the exact sums and
 * rounded once; NaN if a value is infinite or NaN.  There must be a value.
 */
extern float8 gpb_float_deviation(const GpbAnswerColumn *column, const int64 *answer);

/*
 * A function of pairs, of at least one, and of two for GPB_COVAR_SAMP; "columns" are the terms of
 * the answer.  It is computed from the exact sums and rounded a few times, without cancellation
 * and without overflow on the way.  *isnull and NaN are as in core's.
 */
extern float8 gpb_float_pairs(const GpbAggregateItem *item, const GpbAnswerColumn *columns,
							  const int64 *answer, bool *isnull);

#endif							/* GPB_ITEM_NUMBER_H */
