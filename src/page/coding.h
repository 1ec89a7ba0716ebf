/*-------------------------------------------------------------------------
 *
 * coding.h
 *	  How values of a type become integers: words, which INCLUDE columns hold, and keys.  Some types
 *	  have no words: INCLUDE columns hold the bytes of their values.
 *
 * A word is a signed integer or, of float4 and float8, the bits of a float8.  The order of words,
 * or of the float8, is that of the type, but for GPB_CODING_OID.  A key is a signed integer of the
 * key's width whose order is the type's, always; gpb_key_encode() makes the normalized key of it.
 * Both can be turned back into the value, bit for bit.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_CODING_H
#define GPB_CODING_H

#include "postgres.h"
#include "port/pg_bswap.h"

#include "layout.h"
#include "page/numeric.h"

typedef enum GpbCoding
{
	GPB_CODING_NONE,			/* values of the type are not held */
	GPB_CODING_INT2,
	GPB_CODING_INT4,			/* date too */
	GPB_CODING_INT8,			/* timestamp, timestamptz, time and money too */
	GPB_CODING_FLOAT8,
	GPB_CODING_FLOAT4,			/* the float8 that is equal */
	GPB_CODING_BOOL,			/* 0 or 1 */
	GPB_CODING_CHAR,			/* "char": 0 to 255, which is how core orders it */

	/*
	 * oid, regclass and its like, and enum types, of which values are OIDs.  The word is the OID as
	 * an int4, in whose order it is not.  It cannot be another: ALTER TABLE makes an oid or a
	 * regclass of an integer, and the reverse, without a change of table or index.
	 */
	GPB_CODING_OID,
	GPB_CODING_UINT8,			/* xid8, pg_lsn: the integer less 2^63 */
	GPB_CODING_MACADDR,			/* its bytes as one integer, the first the most significant */
	GPB_CODING_MACADDR8,		/* its bytes as one integer, less 2^63 */

	/*
	 * uuid, interval and timetz have no words, and of the functions below those about kinds and
	 * widths and those about keys alone know them.  The key of a uuid is wide: gpb_uuid_key().
	 * That of a timetz has 8 bytes: gpb_timetz_key().  An interval is no key: equal ones differ, as
	 * '1 day' and '24 hours' do, and what orders them and what tells them apart do not fit 16 bytes
	 * together.
	 */
	GPB_CODING_UUID,
	GPB_CODING_INTERVAL,
	GPB_CODING_TIMETZ,

	/*
	 * text, character varying, character and bytea, in INCLUDE columns alone.  The word, and what
	 * the functions below take for a value, is the code that the index's dictionary has for the
	 * value (index/dictionary.h), which tells values apart and no more.
	 */
	GPB_CODING_DICTIONARY = 31,

	/*
	 * numeric: the value times 10^scale (numeric.h).  Each scale from 0 to GPB_NUMERIC_DIGITS is a
	 * coding of its own, gpb_numeric_coding(), since the column has it and not the value.  With
	 * more digits, and those of wide scales, there is no word: the integer has 128 bits, and so has
	 * the key.
	 */
	GPB_CODING_NUMERIC = 32,
	GPB_CODING_WIDE_NUMERIC = 64
} GpbCoding;

static inline GpbCoding
gpb_numeric_coding(int scale)
{
	return (GpbCoding) (GPB_CODING_NUMERIC + scale);
}

static inline GpbCoding
gpb_wide_numeric_coding(int scale)
{
	return (GpbCoding) (GPB_CODING_WIDE_NUMERIC + scale);
}

static inline bool
gpb_coding_is_numeric(GpbCoding coding)
{
	return coding >= GPB_CODING_NUMERIC;
}

static inline bool
gpb_coding_is_wide_numeric(GpbCoding coding)
{
	return coding >= GPB_CODING_WIDE_NUMERIC;
}

/* Do values of a coding have words? */
static inline bool
gpb_coding_has_words(GpbCoding coding)
{
	return coding != GPB_CODING_UUID && coding != GPB_CODING_INTERVAL &&
		coding != GPB_CODING_TIMETZ && !gpb_coding_is_wide_numeric(coding);
}

/* The scale of a coding of numeric; 0 for others */
static inline int
gpb_coding_scale(GpbCoding coding)
{
	if (gpb_coding_is_wide_numeric(coding))
		return (int) coding - GPB_CODING_WIDE_NUMERIC;
	return gpb_coding_is_numeric(coding) ? (int) coding - GPB_CODING_NUMERIC : 0;
}

/* The scale as the metapage has it, which says whether integers are wide */
static inline int
gpb_coding_stored_scale(GpbCoding coding)
{
	return gpb_coding_scale(coding) | (gpb_coding_is_wide_numeric(coding) ? GPB_META_WIDE : 0);
}

/* The numbers of NaNs that have one sign, as float8 and as float4 */
#define GPB_NANS8	(((int64) 1 << 52) - 1)
#define GPB_NANS4	((1 << 23) - 1)

/* The GpbKind in which words of a coding are held, or one of halves, or GPB_KIND_WIDE */
static inline int
gpb_coding_kind(GpbCoding coding)
{
	switch (coding)
	{
		case GPB_CODING_INT2:
		case GPB_CODING_BOOL:
		case GPB_CODING_CHAR:
			return GPB_KIND_INT2;
		case GPB_CODING_INT4:
		case GPB_CODING_OID:
		case GPB_CODING_DICTIONARY:
			return GPB_KIND_INT4;
		case GPB_CODING_FLOAT8:
		case GPB_CODING_FLOAT4:
			return GPB_KIND_FLOAT8;
		case GPB_CODING_UUID:
			return GPB_KIND_BYTES16;
		case GPB_CODING_INTERVAL:
		case GPB_CODING_TIMETZ:
			return GPB_KIND_WIDE;
		default:
			return gpb_coding_is_wide_numeric(coding) ? GPB_KIND_INT128 : GPB_KIND_INT8;
	}
}

/* Bytes of a value of a type with this coding; of a numeric, those of its integer */
static inline int
gpb_coding_width(GpbCoding coding)
{
	switch (coding)
	{
		case GPB_CODING_BOOL:
		case GPB_CODING_CHAR:
			return 1;
		case GPB_CODING_INT2:
			return 2;
		case GPB_CODING_INT4:
		case GPB_CODING_OID:
		case GPB_CODING_FLOAT4:
		case GPB_CODING_DICTIONARY:
			return 4;
		case GPB_CODING_MACADDR:
			return 6;
		case GPB_CODING_UUID:
		case GPB_CODING_INTERVAL:
			return 16;
		case GPB_CODING_TIMETZ:
			return 12;
		default:
			return gpb_coding_is_wide_numeric(coding) ? 16 : 8;
	}
}

/* Bytes of a value in the row of an entry */
static inline int
gpb_coding_row_width(GpbCoding coding)
{
	switch (gpb_coding_kind(coding))
	{
		case GPB_KIND_INT2:
			return 2;
		case GPB_KIND_INT4:
			return 4;
		case GPB_KIND_WIDE:
		case GPB_KIND_INT128:
		case GPB_KIND_BYTES16:
			return gpb_coding_width(coding);
		default:
			return 8;
	}
}

/* Bytes of a key of a coding */
static inline int
gpb_coding_key_width(GpbCoding coding)
{
	return coding == GPB_CODING_MACADDR || coding == GPB_CODING_TIMETZ ? 8 :
		Max(gpb_coding_width(coding), 4);
}

/* Is a word of this coding the key as well? */
static inline bool
gpb_coding_key_is_word(GpbCoding coding)
{
	return coding != GPB_CODING_FLOAT8 && coding != GPB_CODING_FLOAT4 &&
		coding != GPB_CODING_OID && gpb_coding_has_words(coding);
}

/* Do keys differ exactly if the values do?  -0 equals 0, and each NaN all others. */
static inline bool
gpb_coding_key_is_exact(GpbCoding coding)
{
	return coding != GPB_CODING_FLOAT8 && coding != GPB_CODING_FLOAT4;
}

/* ---- floats ---- */

/*
 * The float8 that equals a float4.  A NaN keeps its payload, which the processor's conversion would
 * change if it signals.
 */
static inline int64
gpb_float4_widen(uint32 bits)
{
	float4		narrow;
	float8		wide;
	int64		word;

	if ((bits & 0x7FFFFFFF) > 0x7F800000)
		return (int64) ((uint64) (bits >> 31) << 63 | (uint64) 0x7FF << 52 |
						(uint64) (bits & 0x7FFFFF) << 29);
	memcpy(&narrow, &bits, sizeof(narrow));
	wide = narrow;
	memcpy(&word, &wide, sizeof(word));
	return word;
}

/* The bits of the float4 of which gpb_float4_widen() made a float8 */
static inline uint32
gpb_float4_narrow(int64 word)
{
	uint64		bits = (uint64) word;
	float8		wide;
	float4		narrow;
	uint32		result;

	if ((bits & ~((uint64) 1 << 63)) > (uint64) 0x7FF << 52)
		return (uint32) (bits >> 63) << 31 | (uint32) 0xFF << 23 |
			(uint32) (bits >> 29 & 0x7FFFFF);
	memcpy(&wide, &bits, sizeof(wide));
	narrow = (float4) wide;
	memcpy(&result, &narrow, sizeof(result));
	return result;
}

/*
 * The key of a float, by its bits.  Negative numbers have the order of their magnitudes reversed.
 * That leaves -NaNs below -infinity; so all keys move down by the number of these, and -NaNs, which
 * go round, come to be above NaNs.
 */
static inline int64
gpb_float8_key(int64 bits)
{
	uint64		ordered = (uint64) bits ^ (bits < 0 ? (uint64) PG_INT64_MAX : 0);

	return (int64) (ordered - GPB_NANS8);
}

static inline int64
gpb_float8_of_key(int64 key)
{
	int64		ordered = (int64) ((uint64) key + GPB_NANS8);

	return ordered ^ (ordered < 0 ? PG_INT64_MAX : 0);
}

static inline int32
gpb_float4_key(int32 bits)
{
	uint32		ordered = (uint32) bits ^ (bits < 0 ? (uint32) PG_INT32_MAX : 0);

	return (int32) (ordered - GPB_NANS4);
}

static inline int32
gpb_float4_of_key(int32 key)
{
	int32		ordered = (int32) ((uint32) key + GPB_NANS4);

	return ordered ^ (ordered < 0 ? PG_INT32_MAX : 0);
}

/* ---- macaddr ---- */

/* The bytes of a macaddr, which are "width" many, as an integer whose order is theirs */
static inline uint64
gpb_macaddr_bits(Datum value, int width)
{
	uint64		bits = 0;

	memcpy((char *) &bits + sizeof(bits) - width, DatumGetPointer(value), width);
	return pg_bswap64(bits);
}

/* The macaddr of an integer, palloc'd; a macaddr8, if the width is 8 */
static inline Datum
gpb_macaddr_datum(uint64 bits, int width)
{
	char	   *value = palloc(width);

	bits = pg_bswap64(bits);
	memcpy(value, (const char *) &bits + sizeof(bits) - width, width);
	return PointerGetDatum(value);
}

/* ---- uuid ---- */

/* The key of a uuid, which has 16 bytes at any alignment; gpb_uuid_of_key() is the inverse. */
static inline GpbKey
gpb_uuid_key(const void *bytes)
{
	uint64		halves[2];

	memcpy(halves, bytes, sizeof(halves));
	return (GpbKey) pg_bswap64(halves[0]) << 64 | pg_bswap64(halves[1]);
}

static inline void
gpb_uuid_of_key(GpbKey key, void *bytes)
{
	uint64		halves[2] = {pg_bswap64((uint64) (key >> 64)), pg_bswap64((uint64) key)};

	memcpy(bytes, halves, sizeof(halves));
}

/* ---- timetz ---- */

/*
 * A timetz is ordered by its time in UTC, in microseconds, and then by its zone, the seconds west
 * of Greenwich, which come to 2^20 at most: 291 hours.  No literal has a zone of more than 16, but
 * AT TIME ZONE takes any.
 */
#define GPB_TIMETZ_ZONE_BITS	21
#define GPB_TIMETZ_ZONES		((int64) 1 << GPB_TIMETZ_ZONE_BITS)
#define GPB_TIMETZ_MOST_UTC		((int64) 1 << (63 - GPB_TIMETZ_ZONE_BITS))

/* The time in UTC of a timetz, and its zone */
static inline int64
gpb_timetz_utc(Datum value, int32 *zone)
{
	int64		time;

	memcpy(&time, DatumGetPointer(value), sizeof(time));
	memcpy(zone, (char *) DatumGetPointer(value) + sizeof(time), sizeof(*zone));
	return time + *zone * INT64CONST(1000000);
}

static inline bool
gpb_timetz_fits(int64 utc, int32 zone)
{
	return utc >= -GPB_TIMETZ_MOST_UTC && utc < GPB_TIMETZ_MOST_UTC &&
		zone >= -GPB_TIMETZ_ZONES / 2 && zone < GPB_TIMETZ_ZONES / 2;
}

/* The key of what fits */
static inline int64
gpb_timetz_key(int64 utc, int32 zone)
{
	return utc * GPB_TIMETZ_ZONES + zone + GPB_TIMETZ_ZONES / 2;
}

/* The timetz of a key, palloc'd */
static inline Datum
gpb_timetz_of_key(int64 key)
{
	int32		zone = (int32) (((uint64) key & (GPB_TIMETZ_ZONES - 1)) - GPB_TIMETZ_ZONES / 2);
	int64		time = (key >> GPB_TIMETZ_ZONE_BITS) - zone * INT64CONST(1000000);
	char	   *value = palloc(16);

	memcpy(value, &time, sizeof(time));
	memcpy(value + sizeof(time), &zone, sizeof(zone));
	return PointerGetDatum(value);
}

/* ---- wide keys ---- */

/* Has a coding keys of 16 bytes? */
static inline bool
gpb_coding_key_is_wide(GpbCoding coding)
{
	return coding == GPB_CODING_UUID || gpb_coding_is_wide_numeric(coding);
}

/* The wide key of the integer of a numeric; its inverse is a conversion after the same. */
static inline GpbKey
gpb_wide_numeric_key(int128 number)
{
	return (GpbKey) number ^ (GpbKey) 1 << 127;
}

/* The wide key of a value that is not NULL; gpb_wide_key_datum() is the inverse, palloc'd. */
static inline GpbKey
gpb_wide_key(GpbCoding coding, Datum value)
{
	return gpb_coding_is_wide_numeric(coding) ?
		gpb_wide_numeric_key(gpb_wide_numeric(value, gpb_coding_scale(coding))) :
		gpb_uuid_key(DatumGetPointer(value));
}

static inline Datum
gpb_wide_key_datum(GpbCoding coding, GpbKey key)
{
	void	   *uuid;

	if (gpb_coding_is_wide_numeric(coding))
		return gpb_wide_numeric_datum((int128) (key ^ (GpbKey) 1 << 127), gpb_coding_scale(coding));
	uuid = palloc(GPB_WIDE_KEY);
	gpb_uuid_of_key(key, uuid);
	return PointerGetDatum(uuid);
}

/* ---- values without words in rows ---- */

/* Store such a value, which is not NULL; gpb_row_datum() is the inverse, palloc'd. */
static inline void
gpb_row_store(GpbCoding coding, Datum value, char *to)
{
	if (gpb_coding_is_wide_numeric(coding))
	{
		int128		number = gpb_wide_numeric(value, gpb_coding_scale(coding));

		memcpy(to, &number, sizeof(number));
		return;
	}
	memcpy(to, DatumGetPointer(value), gpb_coding_width(coding));
}

/* The integer of a wide numeric that is in a row */
static inline int128
gpb_row_wide_numeric(const char *from)
{
	int128		number;

	memcpy(&number, from, sizeof(number));
	return number;
}

static inline Datum
gpb_row_datum(GpbCoding coding, const char *from)
{
	void	   *value;

	if (gpb_coding_is_wide_numeric(coding))
		return gpb_wide_numeric_datum(gpb_row_wide_numeric(from), gpb_coding_scale(coding));
	value = palloc(gpb_coding_width(coding));
	memcpy(value, from, gpb_coding_width(coding));
	return PointerGetDatum(value);
}

/* ---- Datums ---- */

/*
 * The word of a value that is not NULL; gpb_coding_datum() is the inverse.  A numeric that does not
 * fit raises an error.  What is made and not passed by value is palloc'd.
 */
static inline int64
gpb_coding_word(GpbCoding coding, Datum value)
{
	switch (coding)
	{
		case GPB_CODING_INT2:
			return DatumGetInt16(value);
		case GPB_CODING_INT4:
		case GPB_CODING_OID:
		case GPB_CODING_DICTIONARY:
			return DatumGetInt32(value);
		case GPB_CODING_FLOAT4:
			return gpb_float4_widen(DatumGetUInt32(value));
		case GPB_CODING_BOOL:
			return DatumGetBool(value) ? 1 : 0;
		case GPB_CODING_CHAR:
			return DatumGetUInt8(value);
		case GPB_CODING_UINT8:
			return (int64) (DatumGetUInt64(value) ^ (uint64) 1 << 63);
		case GPB_CODING_MACADDR:
			return (int64) gpb_macaddr_bits(value, 6);
		case GPB_CODING_MACADDR8:
			return (int64) (gpb_macaddr_bits(value, 8) ^ (uint64) 1 << 63);
		default:
			return gpb_coding_is_numeric(coding) ?
				gpb_numeric_word(value, gpb_coding_scale(coding)) : DatumGetInt64(value);
	}
}

static inline Datum
gpb_coding_datum(GpbCoding coding, int64 word)
{
	switch (coding)
	{
		case GPB_CODING_INT2:
			return Int16GetDatum((int16) word);
		case GPB_CODING_INT4:
		case GPB_CODING_DICTIONARY:
			return Int32GetDatum((int32) word);
		case GPB_CODING_OID:
			return ObjectIdGetDatum((Oid) word);
		case GPB_CODING_FLOAT4:
			return Int32GetDatum((int32) gpb_float4_narrow(word));
		case GPB_CODING_BOOL:
			return BoolGetDatum(word != 0);
		case GPB_CODING_CHAR:
			return CharGetDatum((char) word);
		case GPB_CODING_UINT8:
			return UInt64GetDatum((uint64) word ^ (uint64) 1 << 63);
		case GPB_CODING_MACADDR:
			return gpb_macaddr_datum((uint64) word, 6);
		case GPB_CODING_MACADDR8:
			return gpb_macaddr_datum((uint64) word ^ (uint64) 1 << 63, 8);
		default:
			return gpb_coding_is_numeric(coding) ?
				gpb_numeric_datum(word, gpb_coding_scale(coding)) : Int64GetDatum(word);
	}
}

/*
 * The key of a value that is not NULL; gpb_coding_key_datum() is the inverse.  A timetz that does
 * not fit raises an error.
 */
static inline int64
gpb_coding_key(GpbCoding coding, Datum value)
{
	int64		utc;
	int32		zone;

	switch (coding)
	{
		case GPB_CODING_FLOAT8:
			return gpb_float8_key(DatumGetInt64(value));
		case GPB_CODING_FLOAT4:
			return gpb_float4_key(DatumGetInt32(value));
		case GPB_CODING_OID:
			return (int32) (DatumGetObjectId(value) ^ 0x80000000u);
		case GPB_CODING_TIMETZ:
			utc = gpb_timetz_utc(value, &zone);
			if (!gpb_timetz_fits(utc, zone))
				ereport(ERROR,
						(errcode(ERRCODE_DATETIME_FIELD_OVERFLOW),
						 errmsg("the zone of a time is %d seconds from UTC, which does not fit the "
								"key of a gpubtree index", -zone),
						 errhint("Make the column an INCLUDE column, or use an access method such "
								 "as btree.")));
			return gpb_timetz_key(utc, zone);
		default:
			return gpb_coding_word(coding, value);
	}
}

static inline Datum
gpb_coding_key_datum(GpbCoding coding, int64 key)
{
	switch (coding)
	{
		case GPB_CODING_FLOAT8:
			return Int64GetDatum(gpb_float8_of_key(key));
		case GPB_CODING_FLOAT4:
			return Int32GetDatum(gpb_float4_of_key((int32) key));
		case GPB_CODING_OID:
			return ObjectIdGetDatum((uint32) (int32) key ^ 0x80000000u);
		case GPB_CODING_TIMETZ:
			return gpb_timetz_of_key(key);
		default:
			return gpb_coding_datum(coding, key);
	}
}

/* The least and the greatest key of a value of a coding */
static inline void
gpb_coding_key_limits(GpbCoding coding, int64 *least, int64 *greatest)
{
	switch (coding)
	{
		case GPB_CODING_BOOL:
			*least = 0;
			*greatest = 1;
			return;
		case GPB_CODING_CHAR:
			*least = 0;
			*greatest = PG_UINT8_MAX;
			return;
		case GPB_CODING_INT2:
			*least = PG_INT16_MIN;
			*greatest = PG_INT16_MAX;
			return;
		case GPB_CODING_MACADDR:
			*least = 0;
			*greatest = ((int64) 1 << 48) - 1;
			return;
		default:
			if (gpb_coding_is_numeric(coding))
			{
				*least = 1 - GPB_NUMERIC_BEYOND;
				*greatest = GPB_NUMERIC_NAN;
				return;
			}
			*least = gpb_coding_key_width(coding) == 4 ? PG_INT32_MIN : PG_INT64_MIN;
			*greatest = gpb_coding_key_width(coding) == 4 ? PG_INT32_MAX : PG_INT64_MAX;
	}
}

#endif							/* GPB_CODING_H */
