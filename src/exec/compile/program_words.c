/*-------------------------------------------------------------------------
 *
 * program_words.c
 *	  SQL values as words of a program (program.h).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/transam.h"
#include "lib/qunique.h"
#include "utils/lsyscache.h"
#include "utils/numeric.h"

#include "exec/compile/program_build.h"
#include "exec/compile/program_words.h"
#include "page/base_type.h"
#include "page/numeric.h"
#include "page/page.h"

void
gpb_put_word_type(List **private, GpbWordType type)
{
	gpb_put_int(private, type.class);
	gpb_put_oid(private, type.sql);
	/* Most words are those of values, and fewer nodes travel faster. */
	if (type.class == GPB_WORDS_SQL)
		return;
	gpb_put_int(private, type.scale);
	gpb_put_int(private, type.column);
	gpb_put_int(private, type.table);
}

GpbWordType
gpb_get_word_type(GpbPrivateReader *reader)
{
	GpbWordType type = {0};

	type.class = gpb_get_int(reader);
	type.sql = gpb_get_oid(reader);
	if (type.class == GPB_WORDS_SQL)
		return type;
	type.scale = gpb_get_int(reader);
	type.column = gpb_get_int(reader);
	type.table = gpb_get_int(reader);
	return type;
}

/* Each node of an expression asks, so core's own types cost no look at a catalog. */
Oid
gpb_word_type(Oid type)
{
	type = gpb_base_type(type);
	return gpb_type_coding(type) != GPB_CODING_NONE ? type : InvalidOid;
}

bool
gpb_is_numeric(Oid type)
{
	return gpb_base_type(type) == NUMERICOID;
}

/* The coding of a base type that gpb_word_type() has let pass: of others than core's, an enum */
static inline GpbCoding
word_coding(Oid type)
{
	GpbCoding	coding = gpb_core_type_coding(type);

	return coding == GPB_CODING_NONE ? GPB_CODING_OID : coding;
}

int
gpb_word_kind(GpbWordType type)
{
	switch (type.class)
	{
		case GPB_WORDS_SQL:
			return gpb_coding_kind(word_coding(type.sql));
		case GPB_WORDS_CODE:
			return GPB_KIND_INT4;
		default:
			return GPB_KIND_INT8;
	}
}

bool
gpb_word_is_ordered(Oid type)
{
	return !OidIsValid(type) || word_coding(type) != GPB_CODING_OID;
}

int64
gpb_datum_word(GpbWordType type, Datum value)
{
	if (type.class == GPB_WORDS_UUID_UPPER || type.class == GPB_WORDS_UUID_LOWER)
		return gpb_key_half(gpb_uuid_key(DatumGetPointer(value)), 0,
							type.class == GPB_WORDS_UUID_LOWER);
	Assert(type.class == GPB_WORDS_SQL);
	return gpb_coding_word(word_coding(type.sql), value);
}

bool
gpb_datum_words(GpbWordType type, Datum value, int64 *words)
{
	int128		number;
	GpbKey		uuid;

	switch (type.class)
	{
		case GPB_WORDS_DECIMAL:
		case GPB_WORDS_NUMERIC:
			return gpb_numeric_fits(value, type.scale, words) &&
				(words[0] != GPB_NUMERIC_NAN || type.class == GPB_WORDS_NUMERIC);
		case GPB_WORDS_WIDE:
			if (!gpb_wide_numeric_fits(value, type.scale, &number))
				return false;
			words[0] = (int64) (number >> 64);
			words[1] = (int64) ((uint64) number ^ (uint64) 1 << 63);
			return true;
		case GPB_WORDS_UUID:
			uuid = gpb_uuid_key(DatumGetPointer(value));
			words[0] = gpb_key_half(uuid, 0, false);
			words[1] = gpb_key_half(uuid, 0, true);
			return true;
		default:
			words[0] = gpb_datum_word(type, value);
			return true;
	}
}

static int
compare_words(const void *a, const void *b)
{
	int64		x = *(const int64 *) a;
	int64		y = *(const int64 *) b;

	return x < y ? -1 : x > y;
}

int
gpb_sort_words(int64 *words, int n)
{
	qsort(words, n, sizeof(int64), compare_words);
	return (int) qunique(words, n, sizeof(int64), compare_words);
}

int
gpb_array_elements(ArrayType *array, Datum **elements, bool **nulls)
{
	int16		width;
	bool		by_value;
	char		align;
	int			n;

	get_typlenbyvalalign(ARR_ELEMTYPE(array), &width, &by_value, &align);
	deconstruct_array(array, ARR_ELEMTYPE(array), width, by_value, align, elements, nulls, &n);
	return n;
}

int64 *
gpb_array_words(ArrayType *array, int *n, bool *has_null)
{
	GpbWordType type = gpb_sql_type(gpb_word_type(ARR_ELEMTYPE(array)));
	Datum	   *values;
	bool	   *nulls;
	int			total = gpb_array_elements(array, &values, &nulls);
	int64	   *words = palloc(sizeof(int64) * (total + 1));
	int			kept = 0;
	int			i;

	*has_null = false;
	for (i = 0; i < total; i++)
	{
		*has_null |= nulls[i];
		if (nulls[i])
			continue;
		words[kept] = gpb_datum_word(type, values[i]);
		if (gpb_word_is_float(type.sql))
			words[kept] = gpb_float_order(words[kept]);
		kept++;
	}
	*n = gpb_sort_words(words, kept);
	return words;
}

/* The key of 16 bytes whose halves these are */
static GpbKey
key_of_halves(const int64 *words)
{
	uint64		sign = (uint64) 1 << 63;

	return (GpbKey) ((uint64) words[0] ^ sign) << 64 | ((uint64) words[1] ^ sign);
}

Datum
gpb_words_datum(GpbWordType type, const int64 *words)
{
	switch (type.class)
	{
		case GPB_WORDS_SQL:
			return gpb_coding_datum(word_coding(type.sql), words[0]);
		case GPB_WORDS_DECIMAL:
			return NumericGetDatum(int64_div_fast_to_numeric(words[0], type.scale));
		case GPB_WORDS_NUMERIC:
			return gpb_numeric_datum(words[0], type.scale);
		case GPB_WORDS_WIDE:
			return gpb_wide_key_datum(gpb_wide_numeric_coding(type.scale), key_of_halves(words));
		case GPB_WORDS_UUID:
			return gpb_wide_key_datum(GPB_CODING_UUID, key_of_halves(words));
		default:
			elog(ERROR, "words of class %d are no value", type.class);
	}
}
