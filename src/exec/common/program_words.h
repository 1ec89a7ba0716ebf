/*-------------------------------------------------------------------------
 *
 * program_words.h
 *	  SQL values as words of a program (program.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_WORDS_H
#define GPB_PROGRAM_WORDS_H

#include "postgres.h"

/*
 * Words may be numerics too, the word being the number times a power of ten.  Such a type of words
 * is no SQL type; its OID stands for the scale, the exponent.
 */
#define GPB_FIRST_DECIMAL_TYPE	((Oid) 0xFFFF0000)

static inline Oid
gpb_decimal_type(int scale)
{
	return GPB_FIRST_DECIMAL_TYPE + scale;
}

static inline bool
gpb_is_decimal_type(Oid type)
{
	return type >= GPB_FIRST_DECIMAL_TYPE;
}

static inline int
gpb_decimal_scale(Oid type)
{
	return (int) (type - GPB_FIRST_DECIMAL_TYPE);
}

/*
 * The type of a program's constant that is what the session's local time is ahead of UTC, in
 * microseconds.  It is no SQL type, and no expression has the value: binding asks the zone.
 */
#define GPB_ZONE_OFFSET_TYPE	((Oid) 0xFFFE0000)

/* The base type of a type whose values are words; InvalidOid if it is another */
extern Oid	gpb_word_type(Oid type);

/* The GpbKind of words of this base type */
extern int	gpb_word_kind(Oid type);

/* The word of a value of this base type, which is not NULL; gpb_word_datum() is the inverse. */
extern int64 gpb_datum_word(Oid type, Datum value);

#endif							/* GPB_PROGRAM_WORDS_H */
