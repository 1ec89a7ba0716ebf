/*-------------------------------------------------------------------------
 *
 * core_aggregate.c
 *	  What gpubtree knows of core's aggregates: one table.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "exec/functions/core_aggregate.h"

/* ---- the aggregates ---- */

/* An aggregate of one type, and of families of types */
#define GPB_OF(name, suffix, type, function) \
	{F_##name##_##suffix, function, GPB_INPUT_WORD, type}
#define GPB_OF_INTEGERS(name, function) \
	GPB_OF(name, INT2, INT2OID, function), \
	GPB_OF(name, INT4, INT4OID, function), \
	GPB_OF(name, INT8, INT8OID, function)
#define GPB_OF_NUMBERS(name, function) \
	GPB_OF_INTEGERS(name, function), \
	GPB_OF(name, FLOAT8, FLOAT8OID, function), \
	GPB_OF(name, FLOAT4, FLOAT4OID, function), \
	GPB_OF(name, NUMERIC, NUMERICOID, function)
#define GPB_OF_ORDERED(name, function) \
	GPB_OF_NUMBERS(name, function), \
	GPB_OF(name, DATE, DATEOID, function), \
	GPB_OF(name, TIMESTAMP, TIMESTAMPOID, function), \
	GPB_OF(name, TIMESTAMPTZ, TIMESTAMPTZOID, function), \
	GPB_OF(name, TIME, TIMEOID, function), \
	GPB_OF(name, MONEY, MONEYOID, function), \
	GPB_OF(name, XID8, XID8OID, function), \
	GPB_OF(name, PG_LSN, LSNOID, function), \
	{F_##name##_TEXT, function, GPB_INPUT_CODE, TEXTOID, F_BTTEXTCMP}, \
	{F_##name##_BPCHAR, function, GPB_INPUT_CODE, BPCHAROID, F_BPCHARCMP}

static const GpbAggregate gpb_aggregates[] = {
	{F_COUNT_, GPB_COUNT_ENTRIES, GPB_INPUT_ROW},
	{F_COUNT_ANY, GPB_COUNT_VALUES, GPB_INPUT_ANY},
	GPB_OF_NUMBERS(SUM, GPB_SUM),
	GPB_OF(SUM, MONEY, MONEYOID, GPB_SUM),
	GPB_OF_NUMBERS(AVG, GPB_AVG),
	GPB_OF_ORDERED(MIN, GPB_MIN),
	GPB_OF_ORDERED(MAX, GPB_MAX),
	GPB_OF_NUMBERS(VAR_POP, GPB_VAR_POP),
	GPB_OF_NUMBERS(VAR_SAMP, GPB_VAR_SAMP),
	GPB_OF_NUMBERS(VARIANCE, GPB_VAR_SAMP),
	GPB_OF_NUMBERS(STDDEV_POP, GPB_STDDEV_POP),
	GPB_OF_NUMBERS(STDDEV_SAMP, GPB_STDDEV_SAMP),
	GPB_OF_NUMBERS(STDDEV, GPB_STDDEV_SAMP),
	{F_BOOL_AND, GPB_MIN, GPB_INPUT_WORD, BOOLOID},
	{F_EVERY, GPB_MIN, GPB_INPUT_WORD, BOOLOID},
	{F_BOOL_OR, GPB_MAX, GPB_INPUT_WORD, BOOLOID},
	GPB_OF_INTEGERS(BIT_AND, GPB_BIT_AND),
	GPB_OF_INTEGERS(BIT_OR, GPB_BIT_OR),
	GPB_OF_INTEGERS(BIT_XOR, GPB_BIT_XOR),
	{F_REGR_COUNT, GPB_COUNT_VALUES, GPB_INPUT_PAIR, FLOAT8OID},
	{F_REGR_AVGX, GPB_AVG, GPB_INPUT_X, FLOAT8OID},
	{F_REGR_AVGY, GPB_AVG, GPB_INPUT_Y, FLOAT8OID},
	{F_REGR_SXX, GPB_REGR_SXX, GPB_INPUT_X, FLOAT8OID},
	{F_REGR_SYY, GPB_REGR_SXX, GPB_INPUT_Y, FLOAT8OID},
	{F_REGR_SXY, GPB_REGR_SXY, GPB_INPUT_BOTH, FLOAT8OID},
	{F_COVAR_POP, GPB_COVAR_POP, GPB_INPUT_BOTH, FLOAT8OID},
	{F_COVAR_SAMP, GPB_COVAR_SAMP, GPB_INPUT_BOTH, FLOAT8OID},
	{F_CORR, GPB_CORR, GPB_INPUT_BOTH, FLOAT8OID},
	{F_REGR_R2, GPB_REGR_R2, GPB_INPUT_BOTH, FLOAT8OID},
	{F_REGR_SLOPE, GPB_REGR_SLOPE, GPB_INPUT_BOTH, FLOAT8OID},
	{F_REGR_INTERCEPT, GPB_REGR_INTERCEPT, GPB_INPUT_BOTH, FLOAT8OID},
	{F_PERCENTILE_DISC_FLOAT8_ANYELEMENT, GPB_PERCENTILE_DISC, GPB_INPUT_ORDER, FLOAT8OID},
	{F_PERCENTILE_DISC__FLOAT8_ANYELEMENT, GPB_PERCENTILE_DISC, GPB_INPUT_ORDER, FLOAT8ARRAYOID},
	{F_PERCENTILE_CONT_FLOAT8_FLOAT8, GPB_PERCENTILE_CONT, GPB_INPUT_ORDER, FLOAT8OID},
	{F_PERCENTILE_CONT__FLOAT8_FLOAT8, GPB_PERCENTILE_CONT, GPB_INPUT_ORDER, FLOAT8ARRAYOID},
	{F_MODE, GPB_MODE, GPB_INPUT_ORDER},
};

const GpbAggregate *
gpb_find_aggregate(Oid aggregate)
{
	for (int i = 0; i < lengthof(gpb_aggregates); i++)
	{
		if (gpb_aggregates[i].aggregate == aggregate)
			return &gpb_aggregates[i];
	}
	return NULL;
}

/* A domain's values are those of its base type. */
bool
gpb_aggregate_takes(const GpbAggregate *known, Oid type)
{
	return getBaseType(type) == known->type;
}

/* ---- what they compute ---- */

#define GPB_WANT_SUMS		(GPB_WANT_COUNT | GPB_WANT_SUM)
#define GPB_WANT_MOMENTS	(GPB_WANT_COUNT | GPB_WANT_SUM | GPB_WANT_SQUARES)
#define GPB_WANT_BOUNDS		(GPB_WANT_COUNT | GPB_WANT_MINMAX)

/* Of functions of GPB_INPUT_ORDER nothing is wanted but the values themselves. */
const GpbFunctionNeeds gpb_functions[] = {
	[GPB_COUNT_ENTRIES] = {0},
	[GPB_COUNT_VALUES] = {GPB_WANT_COUNT},
	[GPB_SUM] = {GPB_WANT_SUMS},
	[GPB_AVG] = {GPB_WANT_SUMS},
	[GPB_MIN] = {GPB_WANT_BOUNDS, .ignores_repeats = true},
	[GPB_MAX] = {GPB_WANT_BOUNDS, .ignores_repeats = true},
	[GPB_VAR_POP] = {GPB_WANT_MOMENTS},
	[GPB_VAR_SAMP] = {GPB_WANT_MOMENTS, .of_sample = true},
	[GPB_STDDEV_POP] = {GPB_WANT_MOMENTS},
	[GPB_STDDEV_SAMP] = {GPB_WANT_MOMENTS, .of_sample = true},
	[GPB_BIT_AND] = {GPB_WANT_COUNT | GPB_WANT_AND, .ignores_repeats = true},
	[GPB_BIT_OR] = {GPB_WANT_COUNT | GPB_WANT_OR, .ignores_repeats = true},
	[GPB_BIT_XOR] = {GPB_WANT_COUNT | GPB_WANT_XOR},
	[GPB_REGR_SXX] = {GPB_WANT_MOMENTS},
	[GPB_REGR_SXY] = {GPB_WANT_SUMS, GPB_WANT_SUMS},
	[GPB_COVAR_POP] = {GPB_WANT_SUMS, GPB_WANT_SUMS},
	[GPB_COVAR_SAMP] = {GPB_WANT_SUMS, GPB_WANT_SUMS, .of_sample = true},
	[GPB_CORR] = {GPB_WANT_MOMENTS, GPB_WANT_MOMENTS},
	[GPB_REGR_R2] = {GPB_WANT_MOMENTS, GPB_WANT_MOMENTS},
	[GPB_REGR_SLOPE] = {GPB_WANT_MOMENTS, GPB_WANT_SUMS},
	[GPB_REGR_INTERCEPT] = {GPB_WANT_MOMENTS, GPB_WANT_SUMS},
	[GPB_PERCENTILE_DISC] = {0},
	[GPB_PERCENTILE_CONT] = {0},
	[GPB_MODE] = {0},
};
