/*-------------------------------------------------------------------------
 *
 * program_words.c
 *	  SQL values as words of a program (program.h).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "lib/qunique.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "exec/compile/program_build.h"
#include "exec/compile/program_words.h"
#include "page/page.h"

Oid
gpb_word_type(Oid type)
{
	type = gpb_base_type(type);
	return gpb_type_coding(type) != GPB_CODING_NONE ? type : InvalidOid;
}

/* The coding of a base type that gpb_word_type() has let pass: of others than core's, an enum */
static inline GpbCoding
word_coding(Oid type)
{
	GpbCoding	coding = gpb_core_type_coding(type);

	if (gpb_is_table_type(type) || gpb_is_decimal_type(type))
		elog(ERROR, "values of type %u are no words", type);
	return coding == GPB_CODING_NONE ? GPB_CODING_OID : coding;
}

int
gpb_word_kind(Oid type)
{
	if (gpb_is_code_type(type))
		return GPB_KIND_INT4;
	if (gpb_is_decimal_type(type) || gpb_is_wide_type(type))
		return GPB_KIND_INT8;
	return gpb_coding_kind(word_coding(type));
}

bool
gpb_word_is_ordered(Oid type)
{
	return !OidIsValid(type) || gpb_is_decimal_type(type) || word_coding(type) != GPB_CODING_OID;
}

int64
gpb_datum_word(Oid type, Datum value)
{
	if (gpb_is_uuid_half_type(type))
		return gpb_key_half(gpb_uuid_key(DatumGetPointer(value)), 0,
							type == GPB_UUID_HALF_TYPE(true));
	return gpb_coding_word(word_coding(type), value);
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
		if (gpb_word_is_float(type))
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
	if (gpb_is_numeric_column_type(type))
		return gpb_numeric_datum(word, gpb_decimal_scale(type));
	if (gpb_is_decimal_type(type))
		return NumericGetDatum(int64_div_fast_to_numeric(word, gpb_decimal_scale(type)));
	return gpb_coding_datum(word_coding(type), word);
}

Datum
gpb_words_datum(Oid type, const int64 *words)
{
	uint64		sign = (uint64) 1 << 63;
	GpbCoding	coding = GPB_CODING_UUID;
	GpbKey		key;

	if (!gpb_is_wide_type(type))
		return gpb_word_datum(type, words[0]);
	if (type != UUIDOID)
		coding = gpb_wide_numeric_coding(gpb_decimal_scale(type));
	key = (GpbKey) ((uint64) words[0] ^ sign) << 64 | ((uint64) words[1] ^ sign);
	return gpb_wide_key_datum(coding, key);
}
