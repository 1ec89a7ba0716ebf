/*-------------------------------------------------------------------------
 *
 * partial_percentiles.c
 *	  Partial states of values in the order of the values: ranks, percentiles and the mode.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"

#include "exec/answer/fractions.h"
#include "page/numeric_core.h"
#include "program/program_steps.h"
#include "sql/partial_percentiles.h"

PG_FUNCTION_INFO_V1(gpubtree_final_percentile_cont);
PG_FUNCTION_INFO_V1(gpubtree_final_percentiles_cont);
PG_FUNCTION_INFO_V1(gpubtree_final_percentile_disc);
PG_FUNCTION_INFO_V1(gpubtree_final_percentiles_disc);

GpbPartial *
gpb_partial_read_values(const struct varlena *bytes)
{
	GpbPartial *partial = gpb_partial_read(bytes);

	if (partial->kind != GPB_PARTIAL_OF_VALUES)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("aggregate state does not have the values themselves"),
				 errhint("Make the state by gpubtree_partial_values().")));
	return partial;
}

/* ---- values in order ---- */

/* A value, and the number of rows up to its last one */
typedef struct GpbOrderedValue
{
	Datum		value;
	int64		count;
	int64		end;
} GpbOrderedValue;

typedef struct GpbOrderedValues
{
	const GpbPartialType *type;
	Oid			collation;
	uint64		n;
	GpbOrderedValue *values;
} GpbOrderedValues;

static int
compare_ordered(const void *a, const void *b, void *context)
{
	const GpbOrderedValues *ordered = context;
	Datum		x = ((const GpbOrderedValue *) a)->value;
	Datum		y = ((const GpbOrderedValue *) b)->value;

	CHECK_FOR_INTERRUPTS();
	if (ordered->type->form == GPB_FORM_NUMERIC)
		return gpb_numeric_compare(DatumGetNumeric(x), DatumGetNumeric(y));
	return DatumGetInt32(DirectFunctionCall2Coll(bttextcmp, ordered->collation, x, y));
}

/* The values of a state in their order, which is that of its bytes for all but two types */
static void
order_values(GpbPartial *partial, Oid collation, GpbOrderedValues *ordered)
{
	int64		end = 0;

	ordered->type = partial->type;
	ordered->collation = collation;
	ordered->n = gpb_partial_nvalues(partial);
	ordered->values = MemoryContextAllocHuge(CurrentMemoryContext,
											 sizeof(GpbOrderedValue) * ordered->n);
	for (uint64 i = 0; i < ordered->n; i++)
	{
		GpbOrderedValue *value = &ordered->values[i];

		value->value = gpb_partial_value(partial, i, &value->count);
	}
	if (partial->type->form == GPB_FORM_NUMERIC || partial->type->form == GPB_FORM_TEXT)
		qsort_arg(ordered->values, ordered->n, sizeof(GpbOrderedValue), compare_ordered, ordered);
	for (uint64 i = 0; i < ordered->n; i++)
		ordered->values[i].end = end += ordered->values[i].count;
}

/* The value of row number "row", counted from 0 */
static Datum
ordered_value(const GpbOrderedValues *ordered, int64 row)
{
	uint64		low = 0;
	uint64		high = ordered->n - 1;

	while (low < high)
	{
		uint64		middle = low + (high - low) / 2;

		if (ordered->values[middle].end > row)
			high = middle;
		else
			low = middle + 1;
	}
	return ordered->values[low].value;
}

Datum
gpb_partial_rank(GpbPartial *partial, Oid collation, int64 row)
{
	GpbOrderedValues ordered;

	order_values(partial, collation, &ordered);
	return ordered_value(&ordered, row);
}

Datum
gpb_partial_mode(GpbPartial *partial, Oid collation)
{
	GpbOrderedValues ordered;
	const GpbOrderedValue *most;

	order_values(partial, collation, &ordered);
	most = ordered.values;
	for (uint64 i = 1; i < ordered.n; i++)
	{
		if (ordered.values[i].count > most->count)
			most = &ordered.values[i];
	}
	return most->value;
}

/* ---- percentiles ---- */

static inline int64
total_rows(const GpbOrderedValues *ordered)
{
	return ordered->values[ordered->n - 1].end;
}

/* A row number that was computed as a float8, which may be rounded to one behind the last */
static inline int64
row_number(float8 place, int64 last)
{
	if (place <= 0)
		return 0;
	return place >= (float8) last ? last : (int64) place;
}

/* As core's percentile_disc(): the first row that has at least this fraction of rows up to it */
static Datum
discrete(const GpbOrderedValues *ordered, float8 fraction, bool many)
{
	int64		total = total_rows(ordered);

	return ordered_value(ordered, row_number(ceil(fraction * (float8) total) - 1, total - 1));
}

/* A value as float8 */
static float8
row_float(const GpbOrderedValues *ordered, int64 row)
{
	Datum		value = ordered_value(ordered, row);

	switch (ordered->type->form)
	{
		case GPB_FORM_NUMERIC:
			return DatumGetFloat8(DirectFunctionCall1(numeric_float8, value));
		case GPB_FORM_FLOAT:
			return gpb_float_value(gpb_partial_word(ordered->type, value));
		default:
			return (float8) gpb_partial_word(ordered->type, value);
	}
}

/* As core's percentile_cont(): between the rows to both sides of the fraction */
static Datum
continuous(const GpbOrderedValues *ordered, float8 fraction, bool many)
{
	int64		last = total_rows(ordered) - 1;
	float8		place = fraction * (float8) last;
	int64		first = row_number(floor(place), last);
	int64		second = row_number(ceil(place), last);
	float8		low = row_float(ordered, first);

	if (first != second)
		low = gpb_between_rows(fraction, many, last, first, low, row_float(ordered, second));
	return Float8GetDatum(low);
}

/* A percentile for a fraction, "many" if that is of an array */
typedef Datum (*GpbPercentile) (const GpbOrderedValues *ordered, float8 fraction, bool many);

/* Read the state of the first argument for percentiles, which are float8 if "numbers". */
static void
open_values(FunctionCallInfo fcinfo, bool numbers, GpbOrderedValues *ordered)
{
	GpbPartial *partial = gpb_partial_read_values(PG_GETARG_BYTEA_PP(0));

	if (numbers && !partial->type->has_sums)
		ereport(ERROR,
				(errcode(ERRCODE_DATATYPE_MISMATCH),
				 errmsg("there is no percentile_cont() of type %s",
						format_type_be(partial->type->sql)),
				 errhint("Use gpubtree_final_percentile_disc().")));
	order_values(partial, PG_GET_COLLATION(), ordered);
}

/* The percentiles for an array of fractions, as an array of this type */
static Datum
array_of(const GpbOrderedValues *ordered, Datum array, GpbPercentile percentile, Oid type,
		 Oid wanted)
{
	GpbFractions fractions;
	Datum	   *values;

	gpb_fractions_open(array, &fractions);
	values = palloc0(sizeof(Datum) * Max(fractions.n, 1));
	for (int i = 0; i < fractions.n; i++)
	{
		if (!fractions.nulls[i])
			values[i] = gpb_partial_result(percentile(ordered,
													  DatumGetFloat8(fractions.values[i]), true),
										   type, wanted);
	}
	return gpb_fractions_result(&fractions, values, wanted);
}

/* gpubtree_final_percentile_cont(state, fraction) */
Datum
gpubtree_final_percentile_cont(PG_FUNCTION_ARGS)
{
	GpbOrderedValues ordered;

	gpb_require_fraction(PG_GETARG_FLOAT8(1));
	open_values(fcinfo, true, &ordered);
	PG_RETURN_DATUM(continuous(&ordered, PG_GETARG_FLOAT8(1), false));
}

/* gpubtree_final_percentile_cont(state, fractions) */
Datum
gpubtree_final_percentiles_cont(PG_FUNCTION_ARGS)
{
	GpbOrderedValues ordered;

	open_values(fcinfo, true, &ordered);
	PG_RETURN_DATUM(array_of(&ordered, PG_GETARG_DATUM(1), continuous, FLOAT8OID, FLOAT8OID));
}

/* gpubtree_final_percentile_disc(state, fraction, NULL::type of the result) */
Datum
gpubtree_final_percentile_disc(PG_FUNCTION_ARGS)
{
	GpbOrderedValues ordered;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	gpb_require_fraction(PG_GETARG_FLOAT8(1));
	open_values(fcinfo, false, &ordered);
	PG_RETURN_DATUM(gpb_partial_result(discrete(&ordered, PG_GETARG_FLOAT8(1), false),
									   ordered.type->sql, gpb_partial_wanted(fcinfo, 2)));
}

/* gpubtree_final_percentile_disc(state, fractions, NULL::type of each result) */
Datum
gpubtree_final_percentiles_disc(PG_FUNCTION_ARGS)
{
	GpbOrderedValues ordered;

	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	open_values(fcinfo, false, &ordered);
	PG_RETURN_DATUM(array_of(&ordered, PG_GETARG_DATUM(1), discrete, ordered.type->sql,
							 gpb_partial_wanted(fcinfo, 2)));
}
