/*-------------------------------------------------------------------------
 *
 * numeric.h
 *	  Values of type numeric as integers: the value times 10^scale, where the column has the scale.
 *
 * The values of a column numeric(p, s) are stored by core with s digits behind the point, or with
 * none where s is negative.  So an integer says all of one, how it is displayed included.  NaN is
 * the greatest integer.  Integers of 64 bits, words, have values of 18 digits at most, and those of
 * 128 bits, the wide ones, of 38; there is no infinity.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_NUMERIC_H
#define GPB_NUMERIC_H

#include "postgres.h"

#include "utils/numeric.h"

/* The most digits of a value, and the most of them behind the point */
#define GPB_NUMERIC_DIGITS	18

/* Every value but NaN is below this, and above its negative. */
#define GPB_NUMERIC_BEYOND	INT64CONST(1000000000000000000)

#define GPB_NUMERIC_NAN		PG_INT64_MAX

/* The most digits of a wide integer, what every value but NaN is below, and NaN */
#define GPB_WIDE_NUMERIC_DIGITS	38
#define GPB_WIDE_NUMERIC_BEYOND \
	((int128) GPB_NUMERIC_BEYOND * GPB_NUMERIC_BEYOND * 100)
#define GPB_WIDE_NUMERIC_NAN	((int128) (~(uint128) 0 >> 1))

/*
 * The most bytes of a value without a varlena's header: a word and six digits of base 10,000, and
 * eleven of those of a wide integer
 */
#define GPB_NUMERIC_BYTES		14
#define GPB_WIDE_NUMERIC_BYTES	24

/*
 * The bits of a signed integer that has room for every value of so many digits, and then for NaN,
 * the greatest integer, and for one that is no value on either side (GPB_COLUMN_NULL_SPARE).  Each
 * number of digits has its own number of bits: gpb_numeric_bits_digits() finds it, or 0.
 */
extern int	gpb_numeric_bits(int digits);
extern int	gpb_numeric_bits_digits(int bits);
/* Is it the integer of a value of so many digits? */
extern bool gpb_numeric_has_digits(int64 word, int digits);

/* The modifier of a column's type: its precision and scale; false if it has none. */
extern bool gpb_numeric_typmod(int32 typmod, int *precision, int *scale);

/*
 * The integer of a value that a column of this scale has.  Returns false if it does not fit: if it
 * has another number of digits behind the point, or too many before it, or is infinite.
 */
extern bool gpb_numeric_fits(Datum value, int scale, int64 *word);

/* The integer of a value that fits; raises an error for others. */
extern int64 gpb_numeric_word(Datum value, int scale);

/*
 * Find the least integer of this scale whose value is not below "value", which may be any, and
 * whether it is equal.  Beyond the integers of numbers that is the least of all integers, or that
 * of NaN.
 */
extern int64 gpb_numeric_ceiling(Datum value, int scale, bool *equal);

/*
 * Store the value of an integer as core stores it, without a varlena's header.  Returns the number
 * of bytes.  "to" has room for GPB_NUMERIC_BYTES, all of which may be written, and need not be
 * aligned.
 */
extern int	gpb_numeric_store(int64 word, int scale, char *to);

/* The value of an integer, palloc'd */
extern Datum gpb_numeric_datum(int64 word, int scale);

/*
 * Wide integers, by functions named and used as those of words.  What is stored has
 * GPB_WIDE_NUMERIC_BYTES at most.
 */
extern bool gpb_wide_numeric_fits(Datum value, int scale, int128 *number);
extern int128 gpb_wide_numeric(Datum value, int scale);
extern int128 gpb_wide_numeric_ceiling(Datum value, int scale, bool *equal);
extern int	gpb_wide_numeric_store(int128 number, int scale, char *to);
extern Datum gpb_wide_numeric_datum(int128 number, int scale);

#endif							/* GPB_NUMERIC_H */
