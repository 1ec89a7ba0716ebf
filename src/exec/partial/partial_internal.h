/*-------------------------------------------------------------------------
 *
 * partial_internal.h
 *	  What the files of this folder share: bytes of states, and the kinds.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PARTIAL_INTERNAL_H
#define GPB_PARTIAL_INTERNAL_H

#include "postgres.h"
#include "catalog/pg_type.h"
#include "common/int.h"
#include "lib/stringinfo.h"
#include "port/pg_bswap.h"

#include "exec/partial/partial.h"
#include "program/program_steps.h"

/* ---- bytes (partial_bytes.c) ---- */

/* Bytes that are read, and the place behind the last one */
typedef struct GpbPartialReader
{
	const uint8 *at;
	const uint8 *end;
} GpbPartialReader;

/* Raise the error for bytes that are no state; "what" is a phrase that says why. */
extern void gpb_partial_damaged(const char *what) pg_attribute_noreturn();

/* Take n bytes.  Raises an error if there are fewer. */
static inline const uint8 *
gpb_take_bytes(GpbPartialReader *reader, Size n)
{
	const uint8 *bytes = reader->at;

	if (unlikely(n > (Size) (reader->end - bytes)))
		gpb_partial_damaged("it is cut short");
	reader->at += n;
	return bytes;
}

static inline uint8
gpb_take_byte(GpbPartialReader *reader)
{
	return *gpb_take_bytes(reader, 1);
}

/* A number that is not negative: seven bits a byte, the lowest first, in as few bytes as do */
extern void gpb_put_count(StringInfo to, int64 count);

/* Take such a number, of which this is the first byte. */
extern int64 gpb_take_rest_of_count(GpbPartialReader *reader, uint8 byte);

static inline int64
gpb_take_count(GpbPartialReader *reader)
{
	uint8		byte = gpb_take_byte(reader);

	return likely(byte < 0x80) ? byte : gpb_take_rest_of_count(reader, byte);
}

/* A word of 8 bytes, the highest byte first */
extern void gpb_put_word(StringInfo to, int64 word);

static inline int64
gpb_take_word(GpbPartialReader *reader)
{
	uint64		bytes;

	memcpy(&bytes, gpb_take_bytes(reader, sizeof(bytes)), sizeof(bytes));
	return (int64) pg_ntoh64(bytes);
}

/*
 * An exact sum, normalized when it is written; what is read is added to that at *into, which need
 * not be normalized afterwards.  Returns false, with part of it read, if that is narrow and does
 * not hold it.
 */
extern void gpb_put_float_sum(StringInfo to, GpbFloatSum *sum);
extern bool gpb_take_exact_sum(GpbPartialReader *reader, int64 count, bool narrow, int64 *into);

/* Raise the error for states that have together more values than can be counted. */
extern void gpb_too_many_values(void) pg_attribute_noreturn();

/* Add counts.  Raises an error if there would be too many. */
static inline int64
gpb_add_counts(int64 a, int64 b)
{
	int64		sum;

	if (unlikely(pg_add_s64_overflow(a, b, &sum)))
		gpb_too_many_values();
	return sum;
}

/* ---- values (partial_types.c) ---- */

/* The type with this number.  Raises an error if there is none. */
extern const GpbPartialType *gpb_partial_type_numbered(int number);

/* Is it gpb_float_order() of a value of this type of floats? */
extern bool gpb_is_order_of_real(int64 order);

static inline bool
gpb_is_order_of(const GpbPartialType *type, int64 order)
{
	return order != PG_INT64_MIN && gpb_float_order(gpb_float_unorder(order)) == order &&
		(type->sql != FLOAT4OID || gpb_is_order_of_real(order));
}

/* The bytes of a value, which are of the current context where they are not in it */
extern void gpb_partial_encode(const GpbPartialType *type, Datum datum, GpbPartialValue *value);

extern void gpb_put_value(StringInfo to, const GpbPartialType *type,
						  const GpbPartialValue *value);

/* Read a value.  Raises an error if it is none of the type. */
extern void gpb_take_value(GpbPartialReader *reader, const GpbPartialType *type,
						   GpbPartialValue *value);

/* Copy what is elsewhere into the current context. */
extern void gpb_partial_keep(GpbPartialValue *value);
extern void gpb_partial_free(GpbPartialValue *value);

/* The order of the bytes of two values, of which one at least is elsewhere */
extern int	gpb_compare_long(const GpbPartialValue *a, const GpbPartialValue *b);

/* Word number i of a value that is in it, whose bytes end with zeros */
static inline uint64
gpb_short_word(const GpbPartialValue *value, int i)
{
	uint64		word;

	memcpy(&word, value->bytes.here + sizeof(word) * i, sizeof(word));
	return pg_ntoh64(word);
}

/* The order of the bytes of two values of one type */
static inline int
gpb_compare_bytes(const GpbPartialValue *a, const GpbPartialValue *b)
{
	if (unlikely(Max(a->length, b->length) > GPB_PARTIAL_SHORT))
		return gpb_compare_long(a, b);
	for (int i = 0; i < 2; i++)
	{
		uint64		x = gpb_short_word(a, i);
		uint64		y = gpb_short_word(b, i);

		if (x != y)
			return x < y ? -1 : 1;
	}
	return (a->length > b->length) - (a->length < b->length);
}

/* The order of values, by bytes for texts */
extern int	gpb_compare_values(const GpbPartialType *type, const GpbPartialValue *a,
							   const GpbPartialValue *b);

/* A numeric as bytes, and back.  Raises an error if they are not those of gpb_put_numeric(). */
extern void gpb_put_numeric(StringInfo to, Numeric value);
extern Numeric gpb_take_numeric(GpbPartialReader *reader);

/* ---- kinds: written, and what is read added; both without what all states have ---- */

extern void gpb_sums_new(GpbPartial *partial);
extern void gpb_sums_put(StringInfo to, GpbPartial *partial);
extern void gpb_sums_take(GpbPartialReader *reader, GpbPartial *partial);
extern bool gpb_sums_take_columns(GpbPartialReader *reader, GpbPartialKind kind,
								  const GpbPartialType *type, const GpbAnswerColumn *into,
								  int64 *answer);
extern void gpb_sums_merge(GpbPartial *into, GpbPartial *from);

extern void gpb_numerics_new(GpbPartial *partial);
extern void gpb_numerics_put(StringInfo to, GpbPartial *partial);
extern void gpb_numerics_take(GpbPartialReader *reader, GpbPartial *partial);

extern void gpb_values_new(GpbPartial *partial);
extern void gpb_values_put_all(StringInfo to, GpbPartial *partial);
extern void gpb_values_take(GpbPartialReader *reader, GpbPartial *partial);
extern void gpb_values_merge(GpbPartial *into, GpbPartial *from);
extern int64 gpb_values_count(const GpbPartial *partial);

extern void gpb_extreme_new(GpbPartial *partial, const GpbPartialType *by_type);
extern void gpb_extreme_put(StringInfo to, GpbPartial *partial);
extern void gpb_extreme_take(GpbPartialReader *reader, GpbPartial *partial);
extern void gpb_extreme_merge(GpbPartial *into, const GpbPartialExtreme *from);

#endif							/* GPB_PARTIAL_INTERNAL_H */
