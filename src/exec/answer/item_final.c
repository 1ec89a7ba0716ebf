/*-------------------------------------------------------------------------
 *
 * item_final.c
 *	  From answers to SQL values, with core's types, NULL rules and scales.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"

#include "exec/answer/item_final.h"
#include "exec/compile/item_number.h"
#include "exec/compile/program_build.h"
#include "exec/compile/program_codes.h"
#include "exec/compile/program_words.h"
#include "page/numeric.h"

/*
 * The 128-bit sum of integers, or of decimals, which has their scale.  Of few digits, as mostly, it
 * is written as a column's values are: core's functions take several times as long.
 */
static Numeric
final_integer_sum(const GpbAggregateItem *item, const GpbAnswerColumn *column,
				  const int64 *answer)
{
	int64		low = answer[column->sum];
	int64		high = answer[column->sum + 1];
	bool		is_decimal = gpb_is_decimal_type(item->type);
	int			scale = is_decimal ? gpb_decimal_scale(item->type) : 0;
	Numeric		sum;

	if (high == low >> 63 && low > -GPB_NUMERIC_BEYOND && low < GPB_NUMERIC_BEYOND &&
		scale <= GPB_NUMERIC_DIGITS)
		return DatumGetNumeric(gpb_numeric_datum(low, scale));
	sum = gpb_int128_numeric((uint64) low, high);
	if (!is_decimal)
		return sum;
	return DatumGetNumeric(DirectFunctionCall2(numeric_mul, NumericGetDatum(sum),
											   gpb_word_datum(item->type, 1)));
}

/* The exact sum of float8 */
static float8
final_float_sum(const GpbAnswerColumn *column, const int64 *answer)
{
	const int64 *sum = answer + column->float_sum;

	return column->narrow ? gpb_narrow_sum_final((const GpbNarrowSum *) sum) :
		gpb_float_sum_final((const GpbFloatSum *) sum);
}

/* The exact sum of float4, which is not rounded to one before the end */
static Datum
final_float4_sum(const GpbAnswerColumn *column, const int64 *answer)
{
	float8		wide = final_float_sum(column, answer);
	float4		sum = (float4) wide;

	if (isinf(sum) && !isinf(wide))
		float_overflow_error();
	return Float4GetDatum(sum);
}

/* A sum of money, given as 128 bits.  Core's raises the error where the sum so far is too large. */
static Datum
final_money_sum(int64 low, int64 high)
{
	if (high != (low < 0 ? -1 : 0))
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE), errmsg("money out of range")));
	return Int64GetDatum(low);
}

static Datum
final_sum(const GpbAggregateItem *item, const GpbAnswerColumn *column, const int64 *answer)
{
	switch (item->type)
	{
		case INT2OID:
		case INT4OID:
			return Int64GetDatum(answer[column->sum]);
		case INT8OID:
			return NumericGetDatum(final_integer_sum(item, column, answer));
		case FLOAT8OID:
			return Float8GetDatum(final_float_sum(column, answer));
		case FLOAT4OID:
			return final_float4_sum(column, answer);
		case MONEYOID:
			return final_money_sum(answer[column->sum], answer[column->sum + 1]);
		default:
			if (gpb_is_decimal_type(item->type))
				return NumericGetDatum(final_integer_sum(item, column, answer));
			elog(ERROR, "cannot sum type %u", item->type);
	}
}

/* A sum divided by the number of values, as core's avg() divides */
static Datum
quotient(Numeric sum, int64 count)
{
	return DirectFunctionCall2(numeric_div, NumericGetDatum(sum),
							   NumericGetDatum(int64_to_numeric(count)));
}

static Datum
final_avg(const GpbAggregateItem *item, const GpbAnswerColumn *column, const int64 *answer)
{
	if (gpb_word_is_float(item->type))
		return Float8GetDatum(final_float_sum(column, answer) /
							  (float8) answer[column->count]);
	return quotient(final_integer_sum(item, column, answer), answer[column->count]);
}

/*
 * The sum of quotients, of which each is exact at the scale of the item's type; "terms" has all
 * terms of the answer.
 */
static Numeric
final_quotient_sum(const GpbAggregateItem *item, const GpbAnswerColumn *terms,
				   const int64 *answer)
{
	const GpbQuotient *shown = &item->quotient;
	int64		least = answer[terms[item->pair.y].minmax];
	Numeric		sum = final_integer_sum(item, &terms[item->column], answer);
	Datum		longest;

	longest = DirectFunctionCall2(numeric_div,
								  gpb_word_datum(gpb_decimal_type(shown->scale), least),
								  gpb_word_datum(gpb_decimal_type(shown->divisor_scale),
												 shown->divisor));
	return DatumGetNumeric(DirectFunctionCall2(numeric_round, NumericGetDatum(sum),
											   DirectFunctionCall1(numeric_scale, longest)));
}

/*
 * The sum of numerics that are displayed with as many digits as the one of them that has most;
 * "terms" has all terms of the answer.
 */
static Numeric
final_varying_sum(const GpbAggregateItem *item, const GpbAnswerColumn *terms, const int64 *answer)
{
	Numeric		sum = final_integer_sum(item, &terms[item->column], answer);
	int64		most = answer[terms[item->pair.y].minmax + 1];

	return DatumGetNumeric(DirectFunctionCall2(numeric_round, NumericGetDatum(sum),
											   Int32GetDatum((int32) most)));
}

/*
 * The sum of numerics of 16 bytes, from the sums of their halves; "terms" has all terms of the
 * answer.
 */
static Numeric
final_wide_sum(const GpbAggregateItem *item, const GpbAnswerColumn *terms, const int64 *answer)
{
	const GpbAnswerColumn *upper = &terms[item->column];

	return gpb_halves_numeric(answer + upper->sum, answer + terms[item->pair.y].sum,
							  answer[upper->count], gpb_decimal_scale(item->type));
}

/* A value as a Datum; "value" as min and max hold it. */
static Datum
final_value(Relation index, const GpbAggregateItem *item, int64 value)
{
	int64		word = gpb_word_is_float(item->type) ? gpb_float_unorder(value) : value;

	return gpb_words_value(index, item->type, &word);
}

/* A variance, or the standard deviation that is its root, of a population or of a sample */
static Datum
final_variance(const GpbAggregateItem *item, const GpbAnswerColumn *column, const int64 *answer)
{
	bool		sample = item->function == GPB_VAR_SAMP || item->function == GPB_STDDEV_SAMP;
	bool		root = item->function == GPB_STDDEV_POP || item->function == GPB_STDDEV_SAMP;

	if (gpb_word_is_float(item->type))
		return Float8GetDatum(gpb_float_variance(column, answer, sample, root));
	return NumericGetDatum(gpb_integer_variance(column, answer,
												gpb_is_decimal_type(item->type) ?
												gpb_decimal_scale(item->type) : 0, sample, root));
}

/*
 * The variance of numerics of 16 bytes, or the standard deviation that is its root; "terms" has all
 * terms of the answer.
 */
static Numeric
final_wide_variance(const GpbAggregateItem *item, const GpbAnswerColumn *terms,
					const int64 *answer)
{
	bool		sample = item->function == GPB_WIDE_VAR_SAMP ||
		item->function == GPB_WIDE_STDDEV_SAMP;
	bool		root = item->function == GPB_WIDE_STDDEV_POP ||
		item->function == GPB_WIDE_STDDEV_SAMP;

	return gpb_halves_variance(&terms[item->column], &terms[item->pair.y],
							   &terms[item->pair.products], &terms[item->pair.rests], answer,
							   gpb_decimal_scale(item->type), sample, root);
}

/* Is the aggregate NULL for so many values? */
static bool
final_is_null(GpbAggregateFunction function, int64 count)
{
	if (function == GPB_VAR_SAMP || function == GPB_STDDEV_SAMP || function == GPB_COVAR_SAMP ||
		function == GPB_WIDE_VAR_SAMP || function == GPB_WIDE_STDDEV_SAMP)
		return count <= 1;
	return count == 0;
}

/*
 * Is NaN among the values of a column of type numeric?  Then all that is computed of them is NaN.
 */
static bool
final_is_nan(const GpbAggregateItem *item, const GpbAnswerColumn *column, const int64 *answer)
{
	return gpb_is_numeric_column_type(item->type) &&
		(gpb_function_want(item->function) & GPB_WANT_SUM) != 0 &&
		answer[column->minmax + 1] == GPB_NUMERIC_NAN;
}

Datum
gpb_aggregate_final(Relation index, const GpbAggregateItem *item,
					const GpbAnswerColumn *column, const int64 *answer, bool *isnull)
{
	*isnull = false;
	if (item->function == GPB_COUNT_ENTRIES)
		return Int64GetDatum(answer[0]);
	if (item->function == GPB_COUNT_VALUES)
		return Int64GetDatum(answer[column->count]);

	*isnull = final_is_null(item->function, answer[column->count]);
	if (*isnull)
		return (Datum) 0;
	if (final_is_nan(item, column, answer))
		return gpb_numeric_datum(GPB_NUMERIC_NAN, 0);
	switch (item->function)
	{
		case GPB_SUM:
			return final_sum(item, column, answer);
		case GPB_AVG:
			return final_avg(item, column, answer);
		case GPB_MIN:
		case GPB_BOOL_AND:
			return final_value(index, item, answer[column->minmax]);
		case GPB_MAX:
		case GPB_BOOL_OR:
			return final_value(index, item, answer[column->minmax + 1]);
		case GPB_VAR_POP:
		case GPB_VAR_SAMP:
		case GPB_STDDEV_POP:
		case GPB_STDDEV_SAMP:
			return final_variance(item, column, answer);
		case GPB_REGR_SXX:
			return Float8GetDatum(gpb_float_deviation(column, answer));
		case GPB_REGR_SXY:
		case GPB_COVAR_POP:
		case GPB_COVAR_SAMP:
		case GPB_CORR:
		case GPB_REGR_R2:
		case GPB_REGR_SLOPE:
		case GPB_REGR_INTERCEPT:
			/* The format has the terms in their order. */
			return Float8GetDatum(gpb_float_pairs(item, column - item->column, answer, isnull));
		case GPB_QUOTIENT_SUM:
			return NumericGetDatum(final_quotient_sum(item, column - item->column, answer));
		case GPB_QUOTIENT_AVG:
			return quotient(final_quotient_sum(item, column - item->column, answer),
							answer[column->count]);
		case GPB_VARYING_SUM:
			return NumericGetDatum(final_varying_sum(item, column - item->column, answer));
		case GPB_VARYING_AVG:
			return quotient(final_varying_sum(item, column - item->column, answer),
							answer[column->count]);
		case GPB_WIDE_MIN:
			return gpb_words_datum(item->type, answer + column->halves);
		case GPB_WIDE_MAX:
			return gpb_words_datum(item->type, answer + column->halves + 2);
		case GPB_WIDE_SUM:
			return NumericGetDatum(final_wide_sum(item, column - item->column, answer));
		case GPB_WIDE_AVG:
			return quotient(final_wide_sum(item, column - item->column, answer),
							answer[column->count]);
		case GPB_WIDE_VAR_POP:
		case GPB_WIDE_VAR_SAMP:
		case GPB_WIDE_STDDEV_POP:
		case GPB_WIDE_STDDEV_SAMP:
			return NumericGetDatum(final_wide_variance(item, column - item->column, answer));
		case GPB_BIT_AND:
			return gpb_word_datum(item->type, answer[column->bits_and]);
		case GPB_BIT_OR:
			return gpb_word_datum(item->type, answer[column->bits_or]);
		case GPB_BIT_XOR:
			return gpb_word_datum(item->type, answer[column->bits_xor]);
		default:
			elog(ERROR, "unrecognized aggregate function: %d", (int) item->function);
	}
}
