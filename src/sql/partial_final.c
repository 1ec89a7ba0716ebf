/*-------------------------------------------------------------------------
 *
 * partial_final.c
 *	  What partial states (exec/partial/partial.h) say: the results of core's aggregates.
 *
 * An aggregate is named as core names it, and its result is of the type that core gives it, or of
 * another type of numbers that is asked for.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "exec/answer/item_final.h"
#include "exec/answer/item_number.h"
#include "exec/partial/partial.h"
#include "page/numeric_core.h"
#include "sql/partial_percentiles.h"

PG_FUNCTION_INFO_V1(gpubtree_final_count);
PG_FUNCTION_INFO_V1(gpubtree_final);
PG_FUNCTION_INFO_V1(gpubtree_final_distinct);

/* ---- aggregates ---- */

/* Of which kinds of states an aggregate is a function */
#define GPB_OF_SUMS		(1 << GPB_PARTIAL_OF_SUMS | 1 << GPB_PARTIAL_OF_MOMENTS | \
						 1 << GPB_PARTIAL_OF_VALUES)
#define GPB_OF_MOMENTS	(1 << GPB_PARTIAL_OF_MOMENTS)
#define GPB_OF_PAIRS	(1 << GPB_PARTIAL_OF_PAIRS)
#define GPB_OF_VALUES	(1 << GPB_PARTIAL_OF_VALUES)

/* An aggregate of core, by name */
typedef struct GpbNamedAggregate
{
	const char *name;
	GpbAggregateFunction function;
	int			kinds;			/* bit k: states of kind k say it */
	int			term;			/* of pairs: GPB_PARTIAL_X or _Y, of which it is */
} GpbNamedAggregate;

static const GpbNamedAggregate named[] = {
	{"sum", GPB_SUM, GPB_OF_SUMS},
	{"avg", GPB_AVG, GPB_OF_SUMS},
	{"min", GPB_MIN, GPB_OF_SUMS},
	{"max", GPB_MAX, GPB_OF_SUMS},
	{"var_pop", GPB_VAR_POP, GPB_OF_MOMENTS},
	{"var_samp", GPB_VAR_SAMP, GPB_OF_MOMENTS},
	{"variance", GPB_VAR_SAMP, GPB_OF_MOMENTS},
	{"stddev_pop", GPB_STDDEV_POP, GPB_OF_MOMENTS},
	{"stddev_samp", GPB_STDDEV_SAMP, GPB_OF_MOMENTS},
	{"stddev", GPB_STDDEV_SAMP, GPB_OF_MOMENTS},
	{"regr_avgx", GPB_AVG, GPB_OF_PAIRS, GPB_PARTIAL_X},
	{"regr_avgy", GPB_AVG, GPB_OF_PAIRS, GPB_PARTIAL_Y},
	{"regr_sxx", GPB_REGR_SXX, GPB_OF_PAIRS, GPB_PARTIAL_X},
	{"regr_syy", GPB_REGR_SXX, GPB_OF_PAIRS, GPB_PARTIAL_Y},
	{"regr_sxy", GPB_REGR_SXY, GPB_OF_PAIRS},
	{"regr_slope", GPB_REGR_SLOPE, GPB_OF_PAIRS},
	{"regr_intercept", GPB_REGR_INTERCEPT, GPB_OF_PAIRS},
	{"regr_r2", GPB_REGR_R2, GPB_OF_PAIRS},
	{"corr", GPB_CORR, GPB_OF_PAIRS},
	{"covar_pop", GPB_COVAR_POP, GPB_OF_PAIRS},
	{"covar_samp", GPB_COVAR_SAMP, GPB_OF_PAIRS},
	{"mode", GPB_MODE, GPB_OF_VALUES},
	{"first", GPB_MIN, 1 << GPB_PARTIAL_OF_FIRST},
	{"last", GPB_MAX, 1 << GPB_PARTIAL_OF_LAST},
};

/* "count" and "regr_count" are those of all states; the others are named. */
static bool
is_count(const char *name)
{
	return strcmp(name, "count") == 0 || strcmp(name, "regr_count") == 0;
}

/* The aggregate of this name, of which the state must say enough */
static const GpbNamedAggregate *
find_named(const char *name, const GpbPartial *state)
{
	for (int i = 0; i < lengthof(named); i++)
	{
		if (strcmp(named[i].name, name) != 0)
			continue;
		if ((named[i].kinds & 1 << state->kind) == 0)
			ereport(ERROR,
					(errcode(ERRCODE_DATATYPE_MISMATCH),
					 errmsg("aggregate state does not say what %s() is", name),
					 errhint("Make the state by the aggregate that has it: gpubtree_partial(), "
							 "gpubtree_partial_variance(), gpubtree_partial_regression(), "
							 "gpubtree_partial_values(), gpubtree_partial_first() or "
							 "gpubtree_partial_last().")));
		return &named[i];
	}
	ereport(ERROR,
			(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
			 errmsg("unrecognized aggregate: \"%s\"", name),
			 errhint("Name one of core's, such as avg or stddev_samp.")));
}

/* ---- results ---- */

/* The type that core gives an aggregate's result over values of a type */
static Oid
result_type(GpbAggregateFunction function, Oid type)
{
	switch (function)
	{
		case GPB_MIN:
		case GPB_MAX:
		case GPB_MODE:
			return type;
		case GPB_SUM:
			if (type == INT2OID || type == INT4OID)
				return INT8OID;
			return type == INT8OID ? NUMERICOID : type;
		default:
			return type == FLOAT4OID || type == FLOAT8OID ? FLOAT8OID : NUMERICOID;
	}
}

/* ---- of sums ---- */

static Numeric
numeric_special(const GpbPartialNumerics *numerics)
{
	const char *name = "NaN";

	if (!numerics->nan && numerics->infinity != numerics->minus_infinity)
		name = numerics->infinity ? "Infinity" : "-Infinity";
	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(name),
											   ObjectIdGetDatum(InvalidOid), Int32GetDatum(-1)));
}

/* An aggregate of sums of numerics; there is a value, and two of them for a sample. */
static Numeric
final_numerics(const GpbPartialNumerics *numerics, GpbAggregateFunction function)
{
	bool		finite = !numerics->nan && !numerics->infinity && !numerics->minus_infinity;

	switch (function)
	{
		case GPB_MIN:
			return numerics->least;
		case GPB_MAX:
			return numerics->greatest;
		case GPB_SUM:
			return finite ? numerics->sum : numeric_special(numerics);
		case GPB_AVG:
			if (!finite)
				return numeric_special(numerics);
			return gpb_numeric_of(numeric_div, numerics->sum, int64_to_numeric(numerics->count));
		default:
			if (!finite)
				return numeric_special(&(GpbPartialNumerics) {.nan = true});
			return gpb_numeric_variance(numerics->count, numerics->sum, numerics->squares,
										gpb_functions[function].of_sample,
										function == GPB_STDDEV_POP ||
										function == GPB_STDDEV_SAMP);
	}
}

/* An aggregate of sums of words */
static Datum
final_words(GpbPartial *state, const GpbNamedAggregate *aggregate, bool *isnull)
{
	const GpbAnswerFormat *format = state->format;
	GpbAggregateItem item = {
		.function = aggregate->function,
		.column = aggregate->term,
		.type = gpb_sql_type(state->type->sql)
	};
	const GpbAnswerColumn *column = &format->column[aggregate->term];

	memset(&item.terms, 0xFF, sizeof(item.terms));	/* GPB_NO_TERM */
	if (state->kind == GPB_PARTIAL_OF_PAIRS)
	{
		item.terms.y = GPB_PARTIAL_Y;
		item.terms.products = GPB_PARTIAL_PRODUCTS;
		item.terms.rests = GPB_PARTIAL_RESTS;
	}
	gpb_answer_normalize(format, state->answer);
	/* core's sum of these is a bigint, which fewer than 2^31 of them don't overflow */
	if (aggregate->function == GPB_SUM &&
		(item.type.sql == INT2OID || item.type.sql == INT4OID) &&
		state->answer[column->sum + 1] != state->answer[column->sum] >> 63)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("bigint out of range")));
	return gpb_aggregate_final(NULL, &item, column, state->answer, isnull);
}

/* An aggregate of a state of sums; *type is that of the result. */
static Datum
final_sums(GpbPartial *state, const GpbNamedAggregate *aggregate, Oid *type, bool *isnull)
{
	*type = result_type(aggregate->function, state->type->sql);
	*isnull = false;
	if (state->numerics == NULL)
		return final_words(state, aggregate, isnull);
	*isnull = gpb_functions[aggregate->function].of_sample && state->numerics->count == 1;
	return *isnull ? (Datum) 0 :
		NumericGetDatum(final_numerics(state->numerics, aggregate->function));
}

/* ---- of values, and of the first and last ---- */

/*
 * The state of sums that the values of a state have, whose type must have sums: each as often as it
 * occurs, or once if "distinct"
 */
static GpbPartial *
sums_of_values(GpbPartial *partial, bool distinct)
{
	GpbPartial *sums = gpb_partial_new(GPB_PARTIAL_OF_SUMS, partial->type, NULL);
	uint64		n = gpb_partial_nvalues(partial);

	for (uint64 i = 0; i < n; i++)
	{
		int64		count;
		Datum		value = gpb_partial_value(partial, i, &count);

		CHECK_FOR_INTERRUPTS();
		if (distinct)
			count = 1;
		if (sums->numerics != NULL)
			gpb_partial_add_numerics(sums, DatumGetNumeric(value), count);
		else
			gpb_partial_add_words(sums, gpb_partial_word(partial->type, value), count);
	}
	return sums;
}

static Datum
final_values(FunctionCallInfo fcinfo, GpbPartial *state, const GpbNamedAggregate *aggregate,
			 bool distinct, Oid *type, bool *isnull)
{
	*type = state->type->sql;
	switch (aggregate->function)
	{
		case GPB_MIN:
			return gpb_partial_rank(state, PG_GET_COLLATION(), 0);
		case GPB_MAX:
			return gpb_partial_rank(state, PG_GET_COLLATION(), gpb_partial_count(state) - 1);
		case GPB_MODE:
			return gpb_partial_mode(state, PG_GET_COLLATION());
		default:
			if (!state->type->has_sums)
				ereport(ERROR,
						(errcode(ERRCODE_DATATYPE_MISMATCH),
						 errmsg("there is no %s() of type %s", aggregate->name,
								format_type_be(state->type->sql))));
			return final_sums(sums_of_values(state, distinct), aggregate, type,
							  isnull);
	}
}

/* An aggregate of a state; of values also once for each of them. */
static Datum
final_value(FunctionCallInfo fcinfo, GpbPartial *state, const char *name, bool distinct,
			Oid *type, bool *isnull)
{
	const GpbNamedAggregate *aggregate;

	*isnull = false;
	if (is_count(name))
	{
		*type = INT8OID;
		return Int64GetDatum(distinct ? (int64) gpb_partial_nvalues(state) :
							 gpb_partial_count(state));
	}
	aggregate = find_named(name, state);
	if (state->extreme != NULL)
	{
		*type = state->type->sql;
		*isnull = state->extreme->is_null;
		return *isnull ? (Datum) 0 : gpb_partial_datum(state->type, &state->extreme->value);
	}
	if (state->values != NULL)
		return final_values(fcinfo, state, aggregate, distinct, type, isnull);
	return final_sums(state, aggregate, type, isnull);
}

/* ---- functions ---- */

/* gpubtree_final_count(state): the number of values; 0 of NULL, which is a state of no value */
Datum
gpubtree_final_count(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0))
		PG_RETURN_INT64(0);
	PG_RETURN_INT64(gpb_partial_count(gpb_partial_read(PG_GETARG_BYTEA_PP(0))));
}

/* Return the aggregate that the second argument names, as the type of the third. */
static Datum
final_named(FunctionCallInfo fcinfo, GpbPartial *state, bool distinct)
{
	Oid			type;
	bool		isnull;
	Datum		result = final_value(fcinfo, state, text_to_cstring(PG_GETARG_TEXT_PP(1)),
									 distinct, &type, &isnull);

	if (isnull)
		PG_RETURN_NULL();
	PG_RETURN_DATUM(gpb_partial_result(result, type, gpb_partial_wanted(fcinfo, 2)));
}

/* gpubtree_final(state, aggregate, NULL::type of the result) */
Datum
gpubtree_final(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	return final_named(fcinfo, gpb_partial_read(PG_GETARG_BYTEA_PP(0)), false);
}

/* gpubtree_final_distinct(state, aggregate, NULL::type of the result): over each value once */
Datum
gpubtree_final_distinct(PG_FUNCTION_ARGS)
{
	if (PG_ARGISNULL(0) || PG_ARGISNULL(1))
		PG_RETURN_NULL();
	return final_named(fcinfo, gpb_partial_read_values(PG_GETARG_BYTEA_PP(0)), true);
}
