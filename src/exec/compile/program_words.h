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
#include "utils/array.h"

#include "catalog/pg_type.h"

/*
 * Words may be numerics too, the word being the number times a power of ten.  Such a type of words
 * is no SQL type; its OID stands for the scale, the exponent.  Those of a column may be NaN too,
 * which is GPB_NUMERIC_NAN; what a program computes is never NaN, and may be any word.
 */
#define GPB_FIRST_DECIMAL_TYPE	((Oid) 0xFFFF0000)
#define GPB_NUMERIC_COLUMN		((Oid) 0x100)

static inline Oid
gpb_decimal_type(int scale)
{
	return GPB_FIRST_DECIMAL_TYPE + scale;
}

/* The type of the words of a column of type numeric */
static inline Oid
gpb_numeric_column_type(int scale)
{
	return gpb_decimal_type(scale) | GPB_NUMERIC_COLUMN;
}

static inline bool
gpb_is_decimal_type(Oid type)
{
	return type >= GPB_FIRST_DECIMAL_TYPE;
}

static inline int
gpb_decimal_scale(Oid type)
{
	return (int) (type & (GPB_NUMERIC_COLUMN - 1));
}

/* Is it a type of words of which one is NaN? */
static inline bool
gpb_is_numeric_column_type(Oid type)
{
	return gpb_is_decimal_type(type) && (type & GPB_NUMERIC_COLUMN) != 0;
}

/*
 * A value of 16 bytes is two words, its upper half and its lower one, both in the order of
 * gpb_key_half(), and NULL if the value is.  The type of such words is uuid, or that of a column of
 * type numeric with this bit.
 */
#define GPB_WIDE_COLUMN			((Oid) 0x200)

static inline Oid
gpb_wide_numeric_type(int scale)
{
	return gpb_numeric_column_type(scale) | GPB_WIDE_COLUMN;
}

static inline bool
gpb_is_wide_type(Oid type)
{
	return type == UUIDOID || (gpb_is_decimal_type(type) && (type & GPB_WIDE_COLUMN) != 0);
}

/* The number of words that a value of a type of words has */
static inline int
gpb_type_words(Oid type)
{
	return gpb_is_wide_type(type) ? 2 : 1;
}

/*
 * The types of constants that go with a table of the program, which binding fills.  That of a zone
 * is the zone's name, or NULL for the session's; the table has its offsets, and the constant is not
 * used.  That of an array has its elements in the table; it is NULL if the array is, or if an
 * element is, and false otherwise.  The third has no expression: has the array elements, or is it
 * NULL?
 */
#define GPB_ZONE_TYPE(table)	((Oid) 0xFFFE0000 + (table))
#define GPB_ARRAY_TYPE(table)	((Oid) 0xFFFD0000 + (table))
#define GPB_FILLED_TYPE(table)	((Oid) 0xFFFC0000 + (table))

/*
 * The type of the constant that goes with a condition on an INCLUDE column whose words are codes
 * (program_codes.h): the table has codes, and the constant says whether they are those for which
 * the condition is false.
 */
#define GPB_CODES_TYPE(column, table)	((Oid) 0xFFFB0000 + ((column) << 8) + (table))

/* The type of words that are codes of an INCLUDE column, counted from 0, which is no SQL type */
#define GPB_FIRST_CODE_TYPE		((Oid) 0xFFFA0000)

/*
 * The type of the constant that goes with the order of the values of an INCLUDE column whose words
 * are codes: the table has the ranks of their codes, and the constant is not used.  What a program
 * makes of codes by it are words of GPB_RANKED_TYPE, whose lower half is the code, and whose order
 * is that of the values.
 */
#define GPB_RANKS_TYPE(column, table)	((Oid) 0xFFF80000 + ((column) << 8) + (table))
#define GPB_RANKED_TYPE(column)	((Oid) 0xFFF70000 + ((column) << 8))

/* The types of constants that are a half of a uuid: the upper one, and the lower one */
#define GPB_FIRST_UUID_HALF_TYPE	((Oid) 0xFFF90000)
#define GPB_UUID_HALF_TYPE(lower)	(GPB_FIRST_UUID_HALF_TYPE + ((lower) ? 1 : 0))

static inline bool
gpb_is_uuid_half_type(Oid type)
{
	return type >= GPB_FIRST_UUID_HALF_TYPE && type < GPB_FIRST_CODE_TYPE;
}

static inline bool
gpb_is_zone_type(Oid type)
{
	return type >= GPB_ZONE_TYPE(0) && type < GPB_FIRST_DECIMAL_TYPE;
}

static inline bool
gpb_is_array_type(Oid type)
{
	return type >= GPB_ARRAY_TYPE(0) && type < GPB_ZONE_TYPE(0);
}

static inline bool
gpb_is_filled_type(Oid type)
{
	return type >= GPB_FILLED_TYPE(0) && type < GPB_ARRAY_TYPE(0);
}

static inline bool
gpb_is_codes_type(Oid type)
{
	return type >= GPB_CODES_TYPE(0, 0) && type < GPB_FILLED_TYPE(0);
}

static inline bool
gpb_is_ranks_type(Oid type)
{
	return type >= GPB_RANKS_TYPE(0, 0) && type < GPB_FIRST_UUID_HALF_TYPE;
}

/* Has a constant of this type no word of its own? */
static inline bool
gpb_is_table_type(Oid type)
{
	return (type >= GPB_CODES_TYPE(0, 0) && type < GPB_FIRST_DECIMAL_TYPE) ||
		gpb_is_ranks_type(type);
}

/* Is it the type of words that are codes below their ranks? */
static inline bool
gpb_is_ranked_type(Oid type)
{
	return type >= GPB_RANKED_TYPE(0) && type < GPB_RANKS_TYPE(0, 0);
}

static inline Oid
gpb_code_type(int column)
{
	return GPB_FIRST_CODE_TYPE + (column << 8);
}

static inline bool
gpb_is_code_type(Oid type)
{
	return type >= GPB_FIRST_CODE_TYPE && type < GPB_CODES_TYPE(0, 0);
}

/* The column of words that are codes, of a condition on them, or of their order */
static inline int
gpb_column_of_code_type(Oid type)
{
	return (int) (type >> 8 & 0xFF);
}

/* The number of the table of a constant of these types */
static inline int
gpb_table_of_type(Oid type)
{
	return (int) (type & 0xFF);
}

/* The base type of a type whose values are words; InvalidOid if it is another */
extern Oid	gpb_word_type(Oid type);

/* Are a type's words float8, in whose order -0 is 0 and each NaN all others? */
static inline bool
gpb_word_is_float(Oid type)
{
	return type == FLOAT8OID || type == FLOAT4OID;
}

/*
 * Is the order of a base type that of its words, or of the float8?  If not they can only be equal.
 * True of InvalidOid, the type of what is no word.
 */
extern bool gpb_word_is_ordered(Oid type);

/* The GpbKind of words of this type, each of them if a value has two */
extern int	gpb_word_kind(Oid type);

/* The word of a value of this base type, which is not NULL; gpb_word_datum() is the inverse. */
extern int64 gpb_datum_word(Oid type, Datum value);

/* The value of gpb_type_words() words, which is not NULL */
extern Datum gpb_words_datum(Oid type, const int64 *words);

/*
 * The elements of an array that are not NULL, as words in the order of their type's comparison,
 * which for a float8 is that of GPB_OP_FLOAT_ORDER; ascending, and each once.  Returns palloc'd
 * words, *n of them.
 */
extern int64 *gpb_array_words(ArrayType *array, int *n, bool *has_null);

#endif							/* GPB_PROGRAM_WORDS_H */
