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
#include "exec/answer/item_number.h"
#include "exec/compile/program_build.h"
#include "exec/compile/program_codes.h"
#include "exec/compile/program_words.h"
#include "page/numeric.h"
#include "page/numeric_core.h"

/* The exact sum of float4, which is not rounded to one before the end */
static Datum
final_float4_sum(const GpbAnswerColumn *column, const int64 *answer)
{
	float8		wide = gpb_column_float_sum(column, answer);
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

/* The column of another term of an item whose own column this is: the format has terms in order. */
static inline const GpbAnswerColumn *
other_column(const GpbAggregateItem *item, const GpbAnswerColumn *column, int term)
{
	return column + (term - item->column);
}

/* The digits behind the point that core gives the longest of quotients */
static Datum
quotient_digits(const GpbQuotient *quotient, int64 least_dividend)
{
	Datum		longest;

	longest = DirectFunctionCall2(numeric_div,
								  gpb_word_datum(gpb_number_type(GPB_WORDS_DECIMAL,
																 quotient->scale),
												 least_dividend),
								  gpb_word_datum(gpb_number_type(GPB_WORDS_DECIMAL,
																 quotient->divisor_scale),
												 quotient->divisor));
	return DirectFunctionCall1(numeric_scale, longest);
}

/*
 * The sum of integers, or of numerics.  Those of 16 bytes are put together from their halves;
 * quotients, and what varies in how many digits are displayed, show as many as the one of them that
 * has most.
 */
static Numeric
final_numeric_sum(const GpbAggregateItem *item, const GpbAnswerColumn *column,
				  const int64 *answer)
{
	const GpbItemTerms *terms = &item->terms;
	Numeric		sum;
	Datum		digits;

	if (gpb_type_is_wide(item->type))
		return gpb_halves_numeric(answer + column->sum,
								  answer + other_column(item, column, terms->lower)->sum,
								  answer[column->count], item->type.scale);
	sum = gpb_integer_sum(item, column, answer);
	if (terms->dividends != GPB_NO_TERM)
		digits = quotient_digits(&item->quotient,
								 answer[other_column(item, column, terms->dividends)->minmax]);
	else if (terms->digits != GPB_NO_TERM)
		digits = Int32GetDatum(answer[other_column(item, column, terms->digits)->minmax + 1]);
	else
		return sum;
	return DatumGetNumeric(DirectFunctionCall2(numeric_round, NumericGetDatum(sum), digits));
}

static Datum
final_sum(const GpbAggregateItem *item, const GpbAnswerColumn *column, const int64 *answer)
{
	switch (item->type.sql)
	{
		case INT2OID:
		case INT4OID:
			return Int64GetDatum(answer[column->sum]);
		case FLOAT8OID:
			return Float8GetDatum(gpb_column_float_sum(column, answer));
		case FLOAT4OID:
			return final_float4_sum(column, answer);
		case MONEYOID:
			return final_money_sum(answer[column->sum], answer[column->sum + 1]);
		default:
			Assert(item->type.sql == INT8OID || item->type.sql == NUMERICOID);
			return NumericGetDatum(final_numeric_sum(item, column, answer));
	}
}

/* A sum divided by the number of values, as core's avg() divides */
static Datum
final_avg(const GpbAggregateItem *item, const GpbAnswerColumn *column, const int64 *answer)
{
	int64		count = answer[column->count];

	if (gpb_word_is_float(item->type.sql))
		return Float8GetDatum(gpb_column_float_sum(column, answer) / (float8) count);
	return NumericGetDatum(gpb_numeric_of(numeric_div, final_numeric_sum(item, column, answer),
										  int64_to_numeric(count)));
}

/* The least value or the greatest */
static Datum
final_extreme(Relation index, const GpbAggregateItem *item, const GpbAnswerColumn *column,
			  const int64 *answer)
{
	int			greatest = item->function == GPB_MAX;
	int64		word;

	if (gpb_type_is_wide(item->type))
		return gpb_words_datum(item->type, answer + column->halves + 2 * greatest);
	word = answer[column->minmax + greatest];
	if (gpb_word_is_float(item->type.sql))
		word = gpb_float_unorder(word);
	return gpb_words_value(&(GpbCodeSource) {.index = index}, item->type, &word);
}

/* A variance, or the standard deviation that is its root, of a population or of a sample */
static Datum
final_variance(const GpbAggregateItem *item, const GpbAnswerColumn *column, const int64 *answer)
{
	bool		sample = gpb_functions[item->function].of_sample;
	bool		root = item->function == GPB_STDDEV_POP || item->function == GPB_STDDEV_SAMP;
	int			scale = item->type.scale;

	if (gpb_word_is_float(item->type.sql))
		return Float8GetDatum(gpb_float_variance(column, answer, sample, root));
	if (gpb_type_is_wide(item->type))
		return NumericGetDatum(gpb_halves_variance(item, other_column(item, column, 0), answer,
												   scale, sample, root));
	return NumericGetDatum(gpb_integer_variance(column, answer, scale, sample, root));
}

/*
 * Is NaN among the values of a column of type numeric?  Then all that is computed of them is NaN.
 */
static bool
final_is_nan(const GpbAggregateItem *item, const GpbAnswerColumn *column, const int64 *answer)
{
	return gpb_may_be_nan(item->type) &&
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
	if (gpb_function_is_state(item->function))
		return gpb_item_state(item, other_column(item, column, 0), answer, isnull);

	*isnull = answer[column->count] <= (gpb_functions[item->function].of_sample ? 1 : 0);
	if (*isnull)
		return (Datum) 0;
	if (!gpb_function_is_partial(item->function) && final_is_nan(item, column, answer))
		return gpb_numeric_datum(GPB_NUMERIC_NAN, 0);
	switch (item->function)
	{
		case GPB_SUM:
			return final_sum(item, column, answer);
		case GPB_AVG:
			return final_avg(item, column, answer);
		case GPB_MIN:
		case GPB_MAX:
			return final_extreme(index, item, column, answer);
		case GPB_VAR_POP:
		case GPB_VAR_SAMP:
		case GPB_STDDEV_POP:
		case GPB_STDDEV_SAMP:
			return final_variance(item, column, answer);
		case GPB_BIT_AND:
			return gpb_word_datum(item->type, answer[column->bits_and]);
		case GPB_BIT_OR:
			return gpb_word_datum(item->type, answer[column->bits_or]);
		case GPB_BIT_XOR:
			return gpb_word_datum(item->type, answer[column->bits_xor]);
		case GPB_REGR_SXX:
			return Float8GetDatum(gpb_float_deviation(column, answer));
		case GPB_REGR_SXY:
		case GPB_COVAR_POP:
		case GPB_COVAR_SAMP:
		case GPB_CORR:
		case GPB_REGR_R2:
		case GPB_REGR_SLOPE:
		case GPB_REGR_INTERCEPT:
			return Float8GetDatum(gpb_float_pairs(item, other_column(item, column, 0), answer,
												  isnull));
		case GPB_PARTIAL_SUMS:
		case GPB_PARTIAL_MOMENTS:
		case GPB_PARTIAL_PAIRS:
			return PointerGetDatum(gpb_item_partial(item, other_column(item, column, 0), answer));
		default:
			elog(ERROR, "unrecognized aggregate function: %d", (int) item->function);
	}
}
