/*-------------------------------------------------------------------------
 *
 * item_final.c
 *	  From answers to SQL values, with core's types, NULL rules and scales.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "utils/date.h"
#include "utils/float.h"
#include "utils/fmgrprotos.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "exec/common/item_final.h"

Numeric
gpb_int128_numeric(uint64 low, int64 high)
{
	char		digits[48];
	char	   *p = digits + sizeof(digits);
	bool		negative = high < 0;
	uint64		top = (uint64) high;

	if (high == (int64) low >> 63)
		return int64_to_numeric((int64) low);

	if (negative)
	{
		low = ~low + 1;
		top = ~top + (low == 0);
	}

	/* long division by ten, in pieces of 32 bits */
	*--p = '\0';
	do
	{
		uint32		piece[4] = {top >> 32, top, low >> 32, low};
		uint64		remainder = 0;
		int			i;

		for (i = 0; i < 4; i++)
		{
			remainder = (remainder << 32) | piece[i];
			piece[i] = remainder / 10;
			remainder %= 10;
		}
		*--p = '0' + remainder;
		top = (uint64) piece[0] << 32 | piece[1];
		low = (uint64) piece[2] << 32 | piece[3];
	} while (top != 0 || low != 0);
	if (negative)
		*--p = '-';

	return DatumGetNumeric(DirectFunctionCall3(numeric_in, CStringGetDatum(p),
											   ObjectIdGetDatum(InvalidOid),
											   Int32GetDatum(-1)));
}

/* ---- float8 ---- */

/* Limbs of 32 bits; the last bin carries the sign and may fill two. */
#define GPB_FLOAT_LIMBS		(GPB_FLOAT_BINS + 1)

/* The magnitude of a normalized sum, lowest limb first; true if it is negative. */
static bool
float_sum_magnitude(const GpbFloatSum *sum, uint32 *limb)
{
	int64		top = sum->bin[GPB_FLOAT_BINS - 1];
	bool		negative = top < 0;
	int			i;

	for (i = 0; i < GPB_FLOAT_BINS - 1; i++)
		limb[i] = (uint32) sum->bin[i];
	limb[GPB_FLOAT_BINS - 1] = (uint32) top;
	limb[GPB_FLOAT_BINS] = (uint32) (top >> 32);
	if (negative)
	{
		uint64		carry = 1;

		for (i = 0; i < GPB_FLOAT_LIMBS; i++)
		{
			carry += (uint32) ~limb[i];
			limb[i] = (uint32) carry;
			carry >>= 32;
		}
	}
	return negative;
}

/* Bits [at, at + 53) of the magnitude. */
static uint64
limb_bits(const uint32 *limb, int at)
{
	uint64		bits = 0;
	int			i;

	for (i = 0; i < 53; i++)
		bits |= (uint64) (limb[(at + i) / 32] >> ((at + i) % 32) & 1) << i;
	return bits;
}

/* Is any bit below "at" set? */
static bool
limb_any_below(const uint32 *limb, int at)
{
	int			i;

	for (i = 0; i < at / 32; i++)
	{
		if (limb[i] != 0)
			return true;
	}
	return at % 32 != 0 && (limb[at / 32] << (32 - at % 32)) != 0;
}

/*
 * A normalized sum of finite values, rounded once: to nearest, ties to even.  Bit 0
 * of the magnitude weighs 2^-1074, so a sum below 2^53 units is its own
 * IEEE pattern.  Raises core's overflow error beyond the largest float8.
 */
static float8
float_sum_finite(const GpbFloatSum *sum)
{
	uint32		limb[GPB_FLOAT_LIMBS];
	bool		negative = float_sum_magnitude(sum, limb);
	int			highest = GPB_FLOAT_LIMBS * 32 - 1;
	uint64		pattern;
	float8		result;

	while (highest > 52 && (limb[highest / 32] >> (highest % 32) & 1) == 0)
		highest--;
	pattern = limb_bits(limb, highest - 52);
	if (highest > 52)
	{
		int			half = highest - 53;
		bool		up = limb[half / 32] >> (half % 32) & 1;

		if (up && (pattern & 1) == 0)
			up = limb_any_below(limb, half);
		/* the hidden bit adds one to the exponent; so does a carry */
		pattern += ((uint64) (highest - 52) << 52) + up;
	}
	if (pattern >= (uint64) 0x7FF << 52)
		float_overflow_error();
	memcpy(&result, &pattern, sizeof(result));
	return negative ? -result : result;
}

/* The sum of all values, as IEEE arithmetic has it for those not finite. */
static float8
float_sum_value(const GpbFloatSum *sum)
{
	if (sum->nans > 0 ||
		(sum->positive_infinities > 0 && sum->negative_infinities > 0))
		return get_float8_nan();
	if (sum->positive_infinities > 0)
		return get_float8_infinity();
	if (sum->negative_infinities > 0)
		return -get_float8_infinity();
	return float_sum_finite(sum);
}

/* ---- by function ---- */

/* The 128-bit sum of an integer column */
static Numeric
final_integer_sum(const GpbAnswerColumn *column, const int64 *answer)
{
	return gpb_int128_numeric((uint64) answer[column->sum], answer[column->sum + 1]);
}

/* The exact sum of a float8 column */
static float8
final_float_sum(const GpbAnswerColumn *column, const int64 *answer)
{
	return float_sum_value((const GpbFloatSum *) (answer + column->float_sum));
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
			return NumericGetDatum(final_integer_sum(column, answer));
		case FLOAT8OID:
			return Float8GetDatum(final_float_sum(column, answer));
		default:
			elog(ERROR, "cannot sum type %u", item->type);
	}
}

static Datum
final_avg(const GpbAggregateItem *item, const GpbAnswerColumn *column, const int64 *answer)
{
	if (item->type == FLOAT8OID)
		return Float8GetDatum(final_float_sum(column, answer) /
							  (float8) answer[column->count]);
	return DirectFunctionCall2(numeric_div,
							   NumericGetDatum(final_integer_sum(column, answer)),
							   NumericGetDatum(int64_to_numeric(answer[column->count])));
}

/* A column's value as a Datum; "value" as min and max hold it. */
static Datum
final_value(const GpbAggregateItem *item, int64 value)
{
	switch (item->type)
	{
		case INT2OID:
			return Int16GetDatum((int16) value);
		case INT4OID:
			return Int32GetDatum((int32) value);
		case INT8OID:
			return Int64GetDatum(value);
		case DATEOID:
			return DateADTGetDatum((DateADT) value);
		case TIMESTAMPOID:
			return TimestampGetDatum((Timestamp) value);
		case TIMESTAMPTZOID:
			return TimestampTzGetDatum((TimestampTz) value);
		case FLOAT8OID:
			{
				float8		result;

				value = gpb_float_unorder(value);
				memcpy(&result, &value, sizeof(result));
				return Float8GetDatum(result);
			}
		default:
			elog(ERROR, "cannot compare type %u", item->type);
	}
}

Datum
gpb_aggregate_final(const GpbAggregateItem *item, const GpbAnswerColumn *column,
					const int64 *answer, bool *isnull)
{
	*isnull = false;
	if (item->function == GPB_COUNT_ENTRIES)
		return Int64GetDatum(answer[0]);
	if (item->function == GPB_COUNT_VALUES)
		return Int64GetDatum(answer[column->count]);

	*isnull = answer[column->count] == 0;
	if (*isnull)
		return (Datum) 0;
	switch (item->function)
	{
		case GPB_SUM:
			return final_sum(item, column, answer);
		case GPB_AVG:
			return final_avg(item, column, answer);
		case GPB_MIN:
			return final_value(item, answer[column->minmax]);
		case GPB_MAX:
			return final_value(item, answer[column->minmax + 1]);
		default:
			elog(ERROR, "unrecognized aggregate function: %d", (int) item->function);
	}
}
