/*-------------------------------------------------------------------------
 *
 * partial_types.c
 *	  The types of which there are partial states, and their values as bytes.
 *
 * A type has a number of its own, since another server may have other OIDs; so there are types of
 * core alone.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <float.h>
#include <math.h>

#include "catalog/pg_type.h"
#include "fmgr.h"
#include "mb/pg_wchar.h"
#include "utils/builtins.h"
#include "utils/date.h"
#include "utils/fmgrprotos.h"
#include "utils/lsyscache.h"
#include "utils/timestamp.h"
#include "utils/uuid.h"

#include "exec/partial/partial_internal.h"
#include "page/numeric_core.h"
#include "program/program_steps.h"

/* ---- types ---- */

static const GpbPartialType types[] = {
	{1, GPB_FORM_INTEGER, 1, false, BOOLOID},
	{2, GPB_FORM_INTEGER, 2, true, INT2OID},
	{3, GPB_FORM_INTEGER, 4, true, INT4OID},
	{4, GPB_FORM_INTEGER, 8, true, INT8OID},
	{5, GPB_FORM_FLOAT, 8, true, FLOAT4OID},
	{6, GPB_FORM_FLOAT, 8, true, FLOAT8OID},
	{7, GPB_FORM_NUMERIC, -1, true, NUMERICOID},
	{8, GPB_FORM_INTEGER, 4, false, DATEOID},
	{9, GPB_FORM_INTEGER, 8, false, TIMEOID},
	{10, GPB_FORM_INTEGER, 8, false, TIMESTAMPOID},
	{11, GPB_FORM_INTEGER, 8, false, TIMESTAMPTZOID},
	{12, GPB_FORM_INTEGER, 8, false, MONEYOID},
	{13, GPB_FORM_UUID, UUID_LEN, false, UUIDOID},
	{14, GPB_FORM_TEXT, -1, false, TEXTOID},
	{14, GPB_FORM_TEXT, -1, false, VARCHAROID}, /* its values are texts */
};

const GpbPartialType *
gpb_partial_type(Oid sql)
{
	Oid			base = getBaseType(sql);

	for (int i = 0; i < lengthof(types); i++)
	{
		if (types[i].sql == base)
			return base == VARCHAROID ? gpb_partial_type(TEXTOID) : &types[i];
	}
	return NULL;
}

const GpbPartialType *
gpb_partial_type_numbered(int number)
{
	for (int i = 0; i < lengthof(types); i++)
	{
		if (types[i].number == number)
			return &types[i];
	}
	gpb_partial_damaged("it is of an unknown type");
}

/* ---- words ---- */

int64
gpb_partial_word(const GpbPartialType *type, Datum value)
{
	switch (type->sql)
	{
		case BOOLOID:
			return DatumGetBool(value);
		case INT2OID:
			return DatumGetInt16(value);
		case INT4OID:
		case DATEOID:
			return DatumGetInt32(value);
		case FLOAT4OID:
			return gpb_float_bits((double) DatumGetFloat4(value));
		case FLOAT8OID:
			return gpb_float_bits(DatumGetFloat8(value));
		default:
			return DatumGetInt64(value);
	}
}

/* A word made a value */
static Datum
word_datum(const GpbPartialType *type, int64 word)
{
	switch (type->sql)
	{
		case BOOLOID:
			return BoolGetDatum(word != 0);
		case INT2OID:
			return Int16GetDatum((int16) word);
		case INT4OID:
		case DATEOID:
			return Int32GetDatum((int32) word);
		case FLOAT4OID:
			return Float4GetDatum((float4) gpb_float_value(word));
		case FLOAT8OID:
			return Float8GetDatum(gpb_float_value(word));
		default:
			return Int64GetDatum(word);
	}
}

/* Is a word that of a value of a type of integers? */
static bool
is_word_of(const GpbPartialType *type, int64 word)
{
	switch (type->sql)
	{
		case BOOLOID:
			return word == 0 || word == 1;
		case DATEOID:
			return DATE_NOT_FINITE((DateADT) word) || IS_VALID_DATE((DateADT) word);
		case TIMEOID:
			return word >= 0 && word <= USECS_PER_DAY;
		case TIMESTAMPOID:
		case TIMESTAMPTZOID:
			return TIMESTAMP_NOT_FINITE(word) || IS_VALID_TIMESTAMP(word);
		default:
			return true;
	}
}

bool
gpb_is_order_of_real(int64 order)
{
	double		value = gpb_float_value(gpb_float_unorder(order));

	return isnan(value) || isinf(value) ||
		(fabs(value) <= FLT_MAX && (double) (float4) value == value);
}

/* ---- words as bytes: so many, the highest first, with the sign bit inverted ---- */

static inline uint64
sign_bit(int length)
{
	return (uint64) 1 << (8 * length - 1);
}

static inline int64
word_of_bytes(const uint8 *bytes, int length)
{
	uint64		word = 0;

	/* copies of a constant number of bytes are loads */
	if (length == sizeof(uint64))
		memcpy(&word, bytes, sizeof(uint64));
	else if (length == sizeof(uint32))
		memcpy(&word, bytes, sizeof(uint32));
	else if (length == sizeof(uint16))
		memcpy(&word, bytes, sizeof(uint16));
	else
		memcpy(&word, bytes, sizeof(uint8));
	word = pg_ntoh64(word) >> 8 * (sizeof(word) - length);
	return (int64) (word - sign_bit(length));
}

/* Make a word the bytes of a value. */
static inline void
set_word(GpbPartialValue *value, int64 word, int length)
{
	uint64		bytes = (uint64) word ^ sign_bit(length);

	bytes = pg_hton64(bytes << 8 * (sizeof(bytes) - length));
	value->length = length;
	memcpy(value->bytes.here, &bytes, sizeof(bytes));
}

/* ---- numerics ---- */

/* numeric_send(): the numbers of digits, of those before the point, sign and scale; the digits */
#define GPB_NUMERIC_HEADER	8
#define GPB_NUMERIC_SIGN	4	/* where the sign is, of two bytes, and the scale */
#define GPB_NUMERIC_SCALE	6

/* numeric_recv() takes no more digits, of base 10,000. */
#define GPB_NUMERIC_MOST	3000

static inline int
short_at(const uint8 *bytes)
{
	return bytes[0] << 8 | bytes[1];
}

/* The bytes of numeric_send(), palloc'd */
static bytea *
numeric_bytes(Numeric value)
{
	bytea	   *bytes = DatumGetByteaPP(DirectFunctionCall1(numeric_send,
															NumericGetDatum(value)));

	if (short_at((uint8 *) VARDATA_ANY(bytes)) > GPB_NUMERIC_MOST)
		ereport(ERROR,
				(errcode(ERRCODE_NUMERIC_VALUE_OUT_OF_RANGE),
				 errmsg("numeric has too many digits for an aggregate state"),
				 errdetail("A state holds numbers of up to %d digits.", 4 * GPB_NUMERIC_MOST)));
	return bytes;
}

void
gpb_put_numeric(StringInfo to, Numeric value)
{
	bytea	   *bytes = numeric_bytes(value);

	appendBinaryStringInfo(to, VARDATA_ANY(bytes), VARSIZE_ANY_EXHDR(bytes));
	pfree(bytes);
}

/* The numeric of bytes in the form of numeric_send() */
static Numeric
receive_numeric(const uint8 *bytes, int length)
{
	StringInfoData message = {
		.data = (char *) bytes, .len = length, .maxlen = length
	};

	return DatumGetNumeric(DirectFunctionCall3(numeric_recv, PointerGetDatum(&message),
											   ObjectIdGetDatum(InvalidOid),
											   Int32GetDatum(-1)));
}

/*
 * Are these the bytes of a numeric, as far as numeric_recv() would look at them?  Its errors do not
 * say what to do.
 */
static bool
is_numeric(const uint8 *bytes, int digits)
{
	int			sign = short_at(bytes + GPB_NUMERIC_SIGN);

	/* positive, negative, NaN, Infinity, -Infinity; a scale has 14 bits */
	if ((sign != 0 && sign != 0x4000 && sign != 0xC000 && sign != 0xD000 && sign != 0xF000) ||
		short_at(bytes + GPB_NUMERIC_SCALE) > 0x3FFF)
		return false;
	for (int i = 0; i < digits; i++)
	{
		if (short_at(bytes + GPB_NUMERIC_HEADER + sizeof(int16) * i) >= 10000)
			return false;
	}
	return true;
}

/* Take the bytes of a numeric; *length is their number. */
static const uint8 *
take_numeric_bytes(GpbPartialReader *reader, int *length, Numeric *value)
{
	const uint8 *bytes = gpb_take_bytes(reader, GPB_NUMERIC_HEADER);
	int			digits = short_at(bytes);
	bytea	   *again;
	bool		same;

	if (digits > GPB_NUMERIC_MOST)
		gpb_partial_damaged("a numeric has too many digits");
	(void) gpb_take_bytes(reader, sizeof(int16) * digits);
	if (!is_numeric(bytes, digits))
		gpb_partial_damaged("a numeric is none");
	*length = GPB_NUMERIC_HEADER + (int) sizeof(int16) * digits;
	*value = receive_numeric(bytes, *length);
	again = numeric_bytes(*value);
	same = VARSIZE_ANY_EXHDR(again) == *length &&
		memcmp(VARDATA_ANY(again), bytes, *length) == 0;
	pfree(again);
	if (!same)
		gpb_partial_damaged("a numeric is not in its shortest form");
	return bytes;
}

Numeric
gpb_take_numeric(GpbPartialReader *reader)
{
	int			length;
	Numeric		value;

	(void) take_numeric_bytes(reader, &length, &value);
	return value;
}

/* ---- values ---- */

/* Set the bytes of a value, which are copied. */
static void
set_bytes(GpbPartialValue *value, const void *bytes, Size length)
{
	value->length = (uint32) length;
	if (length > GPB_PARTIAL_SHORT)
		value->bytes.elsewhere = palloc(length);
	memcpy(unconstify(uint8 *, gpb_partial_value_bytes(value)), bytes, length);
}

/* Take the scale out of a numeric's bytes, since values that are equal may differ in it. */
static void
take_out_scale(GpbPartialValue *value)
{
	uint8	   *scale = unconstify(uint8 *, gpb_partial_value_bytes(value)) + GPB_NUMERIC_SCALE;

	value->scale = (uint16) short_at(scale);
	scale[0] = scale[1] = 0;
}

/* The bytes of a numeric with its scale, in a buffer that is palloc'd */
static uint8 *
with_scale(const GpbPartialValue *value)
{
	uint8	   *bytes = palloc(value->length);

	memcpy(bytes, gpb_partial_value_bytes(value), value->length);
	bytes[GPB_NUMERIC_SCALE] = (uint8) (value->scale >> 8);
	bytes[GPB_NUMERIC_SCALE + 1] = (uint8) value->scale;
	return bytes;
}

void
gpb_partial_encode(const GpbPartialType *type, Datum datum, GpbPartialValue *value)
{
	struct varlena *flat;
	int64		word;

	memset(value, 0, sizeof(*value));
	switch (type->form)
	{
		case GPB_FORM_INTEGER:
		case GPB_FORM_FLOAT:
			word = gpb_partial_word(type, datum);
			if (type->form == GPB_FORM_FLOAT)
				word = gpb_float_order(word);
			set_word(value, word, type->length);
			break;
		case GPB_FORM_UUID:
			set_bytes(value, DatumGetUUIDP(datum)->data, UUID_LEN);
			break;
		case GPB_FORM_NUMERIC:
			flat = (struct varlena *) numeric_bytes(DatumGetNumeric(datum));
			set_bytes(value, VARDATA_ANY(flat), VARSIZE_ANY_EXHDR(flat));
			take_out_scale(value);
			pfree(flat);
			break;
		default:
			flat = PG_DETOAST_DATUM_PACKED(datum);
			set_bytes(value, VARDATA_ANY(flat), VARSIZE_ANY_EXHDR(flat));
			if ((Pointer) flat != DatumGetPointer(datum))
				pfree(flat);
			break;
	}
}

Datum
gpb_partial_datum(const GpbPartialType *type, const GpbPartialValue *value)
{
	const uint8 *bytes = gpb_partial_value_bytes(value);
	uint8	   *copy;
	int64		word;

	switch (type->form)
	{
		case GPB_FORM_INTEGER:
			return word_datum(type, word_of_bytes(bytes, type->length));
		case GPB_FORM_FLOAT:
			word = word_of_bytes(bytes, type->length);
			return word_datum(type, gpb_float_unorder(word));
		case GPB_FORM_UUID:
			copy = palloc(UUID_LEN);
			memcpy(copy, bytes, UUID_LEN);
			return PointerGetDatum(copy);
		case GPB_FORM_NUMERIC:
			return NumericGetDatum(receive_numeric(with_scale(value), (int) value->length));
		default:
			return PointerGetDatum(cstring_to_text_with_len((const char *) bytes,
															(int) value->length));
	}
}

void
gpb_put_value(StringInfo to, const GpbPartialType *type, const GpbPartialValue *value)
{
	uint8	   *bytes;

	if (type->form == GPB_FORM_NUMERIC)
	{
		bytes = with_scale(value);
		appendBinaryStringInfo(to, (char *) bytes, (int) value->length);
		pfree(bytes);
		return;
	}
	if (type->length < 0)
		gpb_put_count(to, value->length);
	appendBinaryStringInfo(to, (const char *) gpb_partial_value_bytes(value),
						   (int) value->length);
}

/* Take a text, which must be one in the encoding of the database. */
static void
take_text(GpbPartialReader *reader, GpbPartialValue *value)
{
	int64		length = gpb_take_count(reader);
	const char *bytes = (const char *) gpb_take_bytes(reader, (Size) length);

	if (!pg_verify_mbstr(GetDatabaseEncoding(), bytes, (int) length, true))
		gpb_partial_damaged("a text is not in the encoding of the database");
	set_bytes(value, bytes, (Size) length);
}

void
gpb_take_value(GpbPartialReader *reader, const GpbPartialType *type, GpbPartialValue *value)
{
	const uint8 *bytes;
	Numeric		number;
	int			length = type->length;
	int64		word;

	memset(value, 0, sizeof(*value));
	if (type->form == GPB_FORM_TEXT)
	{
		take_text(reader, value);
		return;
	}
	if (type->form == GPB_FORM_NUMERIC)
	{
		bytes = take_numeric_bytes(reader, &length, &number);
		pfree(number);
		set_bytes(value, bytes, (Size) length);
		take_out_scale(value);
		return;
	}
	bytes = gpb_take_bytes(reader, (Size) length);
	if (type->form == GPB_FORM_UUID)
	{
		set_bytes(value, bytes, UUID_LEN);
		return;
	}
	word = word_of_bytes(bytes, length);
	set_word(value, word, length);
	if (type->form == GPB_FORM_FLOAT ? !gpb_is_order_of(type, word) : !is_word_of(type, word))
		gpb_partial_damaged("a value is none of its type");
}

void
gpb_partial_keep(GpbPartialValue *value)
{
	if (value->length > GPB_PARTIAL_SHORT)
	{
		uint8	   *bytes = palloc(value->length);

		memcpy(bytes, value->bytes.elsewhere, value->length);
		value->bytes.elsewhere = bytes;
	}
}

void
gpb_partial_free(GpbPartialValue *value)
{
	if (value->length > GPB_PARTIAL_SHORT)
		pfree(value->bytes.elsewhere);
}

/* ---- orders ---- */

int
gpb_compare_long(const GpbPartialValue *a, const GpbPartialValue *b)
{
	int			order = memcmp(gpb_partial_value_bytes(a), gpb_partial_value_bytes(b),
							   Min(a->length, b->length));

	return order != 0 ? order : (a->length > b->length) - (a->length < b->length);
}

int
gpb_compare_values(const GpbPartialType *type, const GpbPartialValue *a,
				   const GpbPartialValue *b)
{
	Datum		x;
	Datum		y;
	int			order;

	if (type->form != GPB_FORM_NUMERIC)
		return gpb_compare_bytes(a, b);
	x = gpb_partial_datum(type, a);
	y = gpb_partial_datum(type, b);
	order = gpb_numeric_compare(DatumGetNumeric(x), DatumGetNumeric(y));
	pfree(DatumGetPointer(x));
	pfree(DatumGetPointer(y));
	return order;
}
