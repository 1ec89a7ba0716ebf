/*-------------------------------------------------------------------------
 *
 * fractions.h
 *	  The fractions that percentiles are asked for: one, or an array of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_FRACTIONS_H
#define GPB_FRACTIONS_H

#include "postgres.h"
#include "utils/array.h"

/* Raise what core raises about such a fraction. */
extern void gpb_require_fraction(float8 fraction);

/*
 * What percentile_cont() has for a fraction between two rows with these values, of which the first
 * has the number "before", and the last of all has "last"; "many" if the fraction is of an array.
 * Bit by bit what core has, where both are compiled by gcc.
 */
extern float8 gpb_between_rows(float8 fraction, bool many, int64 last, int64 before, float8 low,
							   float8 high);

/* An array of fractions */
typedef struct GpbFractions
{
	ArrayType  *array;
	Datum	   *values;
	bool	   *nulls;
	int			n;
} GpbFractions;

/*
 * Take the array apart.  Raises what core raises about the first fraction that is none.  All memory
 * is of the current context, and the array must live as long.
 */
extern void gpb_fractions_open(Datum array, GpbFractions *fractions);

/*
 * The result for an array of fractions: an array of the same form with n values of this type, NULL
 * where a fraction is.
 */
extern Datum gpb_fractions_result(const GpbFractions *fractions, Datum *values, Oid type);

#endif							/* GPB_FRACTIONS_H */
