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
#include "lib/stringinfo.h"

#include "exec/partial/partial.h"

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
extern const uint8 *gpb_take_bytes(GpbPartialReader *reader, Size n);
extern uint8 gpb_take_byte(GpbPartialReader *reader);

/* A number that is not negative: seven bits a byte, the lowest first, in as few bytes as do */
extern void gpb_put_count(StringInfo to, int64 count);
extern int64 gpb_take_count(GpbPartialReader *reader);

/* A word of 8 bytes, the highest byte first */
extern void gpb_put_word(StringInfo to, int64 word);
extern int64 gpb_take_word(GpbPartialReader *reader);

/* An exact sum, normalized when it is written; what is read is added to *sum. */
extern void gpb_put_float_sum(StringInfo to, GpbFloatSum *sum);
extern void gpb_take_float_sum(GpbPartialReader *reader, int64 count, GpbFloatSum *sum);

/* Add counts.  Raises an error if there would be too many. */
extern int64 gpb_add_counts(int64 a, int64 b);

/* ---- values (partial_types.c) ---- */

/* The type with this number.  Raises an error if there is none. */
extern const GpbPartialType *gpb_partial_type_numbered(int number);

/* Is it gpb_float_order() of a value of this type of floats? */
extern bool gpb_is_order_of(const GpbPartialType *type, int64 order);

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

/* The order of the bytes */
extern int	gpb_compare_bytes(const GpbPartialValue *a, const GpbPartialValue *b);

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
