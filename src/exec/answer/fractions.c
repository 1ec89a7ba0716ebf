/*-------------------------------------------------------------------------
 *
 * fractions.c
 *	  The fractions that percentiles are asked for: one, or an array of them.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "utils/lsyscache.h"

#include "exec/answer/fractions.h"

void
gpb_require_fraction(float8 fraction)
{
	if (fraction < 0 || fraction > 1 || isnan(fraction))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("percentile value %g is not between 0 and 1", fraction)));
}

/*
 * Where compilers fuse the two (aarch64) this product, which has no other use, is not rounded
 * before the subtraction: hence a function of its own.
 */
static pg_noinline float8
part_of_row(float8 fraction, float8 last, float8 before)
{
	return fraction * last - before;
}

/*
 * percentile_cont_final_common() of core computes the product anew for the part of a row, and
 * setup_pct_info(), for an array, has it from floor() as well, so that it is rounded.
 */
float8
gpb_between_rows(float8 fraction, bool many, int64 last, int64 before, float8 low, float8 high)
{
	float8		place = fraction * (float8) last;
	float8		part = many ? place - floor(place) :
		part_of_row(fraction, (float8) last, (float8) before);

	return low + part * (high - low);
}

void
gpb_fractions_open(Datum array, GpbFractions *fractions)
{
	int			i;

	fractions->array = DatumGetArrayTypeP(array);
	deconstruct_array(fractions->array, FLOAT8OID, sizeof(float8), FLOAT8PASSBYVAL,
					  TYPALIGN_DOUBLE, &fractions->values, &fractions->nulls, &fractions->n);
	for (i = 0; i < fractions->n; i++)
	{
		if (!fractions->nulls[i])
			gpb_require_fraction(DatumGetFloat8(fractions->values[i]));
	}
}

Datum
gpb_fractions_result(const GpbFractions *fractions, Datum *values, Oid type)
{
	int16		length;
	bool		by_value;
	char		align;

	if (fractions->n == 0)
		return PointerGetDatum(construct_empty_array(type));
	get_typlenbyvalalign(type, &length, &by_value, &align);
	return PointerGetDatum(construct_md_array(values, fractions->nulls,
											  ARR_NDIM(fractions->array),
											  ARR_DIMS(fractions->array),
											  ARR_LBOUND(fractions->array),
											  type, length, by_value, align));
}
