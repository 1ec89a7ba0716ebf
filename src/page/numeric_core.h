/*-------------------------------------------------------------------------
 *
 * numeric_core.h
 *	  Core's functions of numerics, called with numerics.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_NUMERIC_CORE_H
#define GPB_NUMERIC_CORE_H

#include "postgres.h"

#include "fmgr.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

/* numeric_add() and the like of two values */
static inline Numeric
gpb_numeric_of(PGFunction function, Numeric a, Numeric b)
{
	return DatumGetNumeric(DirectFunctionCall2(function, NumericGetDatum(a),
											   NumericGetDatum(b)));
}

/* The order of two values */
static inline int
gpb_numeric_compare(Numeric a, Numeric b)
{
	return DatumGetInt32(DirectFunctionCall2(numeric_cmp, NumericGetDatum(a),
											 NumericGetDatum(b)));
}

/* With how many digits behind the point a value is shown */
static inline int
gpb_numeric_scale(Numeric value)
{
	return DatumGetInt32(DirectFunctionCall1(numeric_scale, NumericGetDatum(value)));
}

#endif							/* GPB_NUMERIC_CORE_H */
