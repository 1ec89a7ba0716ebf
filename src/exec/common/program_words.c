/*-------------------------------------------------------------------------
 *
 * program_words.c
 *	  SQL values as words of a program (program.h).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "lib/qunique.h"
#include "utils/date.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"
#include "utils/timestamp.h"

#include "exec/common/program_build.h"
#include "exec/common/program_words.h"

Oid
gpb_word_type(Oid type)
{
	type = getBaseType(type);
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
		case INT4OID:
		case INT8OID:
		case DATEOID:
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
		case FLOAT8OID:
			return type;
		default:
			return InvalidOid;
	}
}

int
gpb_word_kind(Oid type)
{
	switch (type)
	{
		case BOOLOID:
		case INT2OID:
			return GPB_KIND_INT2;
		case INT4OID:
		case DATEOID:
			return GPB_KIND_INT4;
		case FLOAT8OID:
			return GPB_KIND_FLOAT8;
		default:
			return GPB_KIND_INT8;
	}
}

int64
gpb_datum_word(Oid type, Datum value)
{
	switch (type)
	{
		case BOOLOID:
			return DatumGetBool(value) ? 1 : 0;
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
			return DatumGetInt32(value);
		case INT8OID:
			return DatumGetInt64(value);
		case DATEOID:
			return DatumGetDateADT(value);
		case TIMESTAMPOID:
			return DatumGetTimestamp(value);
		case TIMESTAMPTZOID:
			return DatumGetTimestampTz(value);
		case FLOAT8OID:
			return gpb_float_bits(DatumGetFloat8(value));
		default:
			elog(ERROR, "values of type %u are no words", type);
	}
}

static int
compare_words(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

int64 *
gpb_array_words(ArrayType *array, int *n, bool *has_null)
{
	Oid			type = gpb_word_type(ARR_ELEMTYPE(array));
	int16		width;
	bool		by_value;
	char		align;
	Datum	   *values;
	bool	   *nulls;
	int			total;
	int64	   *words;
	int			kept = 0;
	int			i;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &width, &by_value, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), width, by_value, align, &values, &nulls, &total);
	words = palloc(sizeof(int64) * (total + 1));
	*has_null = false;
	for (i = 0; i < total; i++)
	{
		*has_null |= nulls[i];
		if (nulls[i])
			continue;
		words[kept] = gpb_datum_word(type, values[i]);
		if (type == FLOAT8OID)
			words[kept] = gpb_float_order(words[kept]);
		kept++;
	}
	qsort(words, kept, sizeof(int64), compare_words);
	*n = qunique(words, kept, sizeof(int64), compare_words);
	return words;
}

Datum
gpb_word_datum(Oid type, int64 word)
{
	if (gpb_is_decimal_type(type))
		return NumericGetDatum(int64_div_fast_to_numeric(word, gpb_decimal_scale(type)));
	switch (type)
	{
		case BOOLOID:
			return BoolGetDatum(word != 0);
		case INT2OID:
			return Int16GetDatum((int16) word);
		case INT4OID:
			return Int32GetDatum((int32) word);
		case INT8OID:
			return Int64GetDatum(word);
		case DATEOID:
			return DateADTGetDatum((DateADT) word);
		case TIMESTAMPOID:
			return TimestampGetDatum((Timestamp) word);
		case TIMESTAMPTZOID:
			return TimestampTzGetDatum((TimestampTz) word);
		case FLOAT8OID:
			return Float8GetDatum(gpb_float_value(word));
		default:
			elog(ERROR, "values of type %u are no words", type);
	}
}
