/*-------------------------------------------------------------------------
 *
 * item_state.c
 *	  From answers to transition states of core's aggregates, as Citus has them travel
 *	  (compile/worker_aggregate.c).
 *
 * States of integers are core's, byte for byte.  Those of float8 are exact sums that are rounded
 * once, as all that nodes compute of floats, where core's depend on the order of rows.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "libpq/pqformat.h"
#include "utils/array.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"

#include "exec/answer/item_final.h"
#include "exec/answer/item_number.h"
#include "exec/compile/program_words.h"

/* ---- states of type internal ---- */

/* A numeric as its bytes are sent, and where one of its numbers of 16 bits is in them */
static int
sent_number(const bytea *sent, int number)
{
	const uint8 *bytes = (const uint8 *) VARDATA_ANY(sent) + 2 * number;

	return (int16) ((uint16) bytes[0] << 8 | bytes[1]);
}

/*
 * Append a number as core's states have it: how many digits, weight, sign, scale, and the digits of
 * base 10,000, down to the units if "whole".
 */
static void
put_number(StringInfo to, Numeric value, bool whole)
{
	bytea	   *sent = DatumGetByteaP(DirectFunctionCall1(numeric_send, NumericGetDatum(value)));
	int			digits = sent_number(sent, 0);
	int			weight = sent_number(sent, 1);
	int			shown = whole && digits > 0 ? weight + 1 : digits;

	pq_sendint32(to, shown);
	pq_sendint32(to, weight);
	pq_sendint32(to, (uint16) sent_number(sent, 2));
	pq_sendint32(to, sent_number(sent, 3));
	for (int i = 0; i < shown; i++)
		pq_sendint16(to, i < digits ? sent_number(sent, 4 + i) : 0);
}

/*
 * The count, the sum and the sum of squares of integers, as numeric_poly_serialize() and, of int8,
 * numeric_serialize() write them; the latter with the most digits behind the point, how many values
 * have so many, and how many are not finite.
 */
static bytea *
squares_state(const GpbAggregateItem *item, const GpbAnswerColumn *column, const int64 *answer)
{
	StringInfoData to;
	bool		is_int8 = item->type.sql == INT8OID;

	pq_begintypsend(&to);
	pq_sendint64(&to, answer[column->count]);
	put_number(&to, gpb_integer_sum(item, column, answer), !is_int8);
	put_number(&to, gpb_integer_squares(item, column, answer), !is_int8);
	if (is_int8)
	{
		pq_sendint32(&to, 0);
		pq_sendint64(&to, answer[column->count]);
		for (int i = 0; i < 3; i++)
			pq_sendint64(&to, 0);
	}
	return pq_endtypsend(&to);
}

/* ---- states of other types ---- */

/* The count, sum and sum of squares of differences from the mean, of floats or of one of a pair */
static void
set_moments(const GpbAnswerColumn *column, const int64 *answer, Datum *sums)
{
	sums[0] = Float8GetDatum(gpb_column_float_sum(column, answer));
	sums[1] = Float8GetDatum(gpb_float_deviation(column, answer));
}

/* float8[] of as many elements as the aggregate's initial value has */
static Datum
moments_state(const GpbAggregateItem *item, const GpbAnswerColumn *columns, const int64 *answer)
{
	bool		pairs = item->function == GPB_STATE_PAIRS;
	const GpbAnswerColumn *x = &columns[item->column];
	Datum		sums[6];

	for (int i = 0; i < lengthof(sums); i++)
		sums[i] = Float8GetDatum(0);
	sums[0] = Float8GetDatum((float8) answer[x->count]);
	if (answer[x->count] > 0)
		set_moments(x, answer, &sums[1]);
	if (pairs && answer[x->count] > 0)
	{
		GpbAggregateItem products = *item;
		bool		isnull;

		products.function = GPB_REGR_SXY;
		set_moments(&columns[item->terms.y], answer, &sums[3]);
		sums[5] = Float8GetDatum(gpb_float_pairs(&products, columns, answer, &isnull));
	}
	return PointerGetDatum(construct_array(sums, pairs ? 6 : 3, FLOAT8OID, sizeof(float8),
										   FLOAT8PASSBYVAL, TYPALIGN_DOUBLE));
}

Datum
gpb_item_state(const GpbAggregateItem *item, const GpbAnswerColumn *columns, const int64 *answer,
			   bool *isnull)
{
	const GpbAnswerColumn *column = &columns[item->column];
	Oid			type = item->type.sql;
	Oid			function;
	Datum		value;
	bool		is_varlena;

	*isnull = false;
	switch (item->function)
	{
		case GPB_STATE_SQUARES:
			/* rows that are NULL all make a state, which has counted none */
			*isnull = answer[0] == 0;
			return *isnull ? (Datum) 0 : PointerGetDatum(squares_state(item, column, answer));
		case GPB_STATE_COUNT:
			type = INT8OID;
			value = Int64GetDatum(answer[column->count]);
			break;
		case GPB_STATE_XOR:
			*isnull = answer[column->count] == 0;
			if (*isnull)
				return (Datum) 0;
			value = gpb_word_datum(item->type, answer[column->bits_xor]);
			break;
		default:
			type = FLOAT8ARRAYOID;
			value = moments_state(item, columns, answer);
			break;
	}
	if (get_func_rettype(item->aggregate) == BYTEAOID)
	{
		getTypeBinaryOutputInfo(type, &function, &is_varlena);
		return PointerGetDatum(OidSendFunctionCall(function, value));
	}
	getTypeOutputInfo(type, &function, &is_varlena);
	return CStringGetDatum(OidOutputFunctionCall(function, value));
}
