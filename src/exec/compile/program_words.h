/*-------------------------------------------------------------------------
 *
 * program_words.h
 *	  SQL values as words of a program (program.h), and the type of such words.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_WORDS_H
#define GPB_PROGRAM_WORDS_H

#include "postgres.h"
#include "catalog/pg_type.h"
#include "utils/array.h"
#include "utils/relcache.h"

#include "exec/shell/node_private.h"

/* What words have to do with the values of their SQL type */
typedef enum GpbWordClass
{
	GPB_WORDS_ANY,				/* it does not matter, as where rows are counted */
	GPB_WORDS_SQL,				/* the word of a value in its type's coding */
	GPB_WORDS_DECIMAL,			/* a numeric that was computed, times 10^scale; never NaN */
	GPB_WORDS_NUMERIC,			/* that of a column, where GPB_NUMERIC_NAN is NaN */
	GPB_WORDS_WIDE,				/* a numeric of 16 bytes, times 10^scale */
	GPB_WORDS_UUID,
	GPB_WORDS_CODE,				/* the code of a value of an INCLUDE column (program_codes.h) */
	GPB_WORDS_RANKED,			/* such a code in the lower half, below the value's rank */

	/* The other classes are of a program's constants alone. */
	GPB_WORDS_UUID_UPPER,		/* a half of a uuid */
	GPB_WORDS_UUID_LOWER,

	/*
	 * These go with a table of the program, which binding fills.  The constant of a zone is the
	 * zone's name, or NULL for the session's; the table has its offsets, and the constant is not
	 * used.  That of an array has its elements in the table; it is NULL if the array is, or if an
	 * element is, and false otherwise.
	 */
	GPB_TABLE_ZONE,
	GPB_TABLE_ARRAY,
	GPB_TABLE_FILLED,			/* has the table's array elements, or is it NULL? */
	GPB_TABLE_CODES,			/* the codes for which a condition on a column is true; the constant
								 * says whether they are those for which it is false */
	GPB_TABLE_RANKS				/* the ranks of a column's codes; the constant is not used */
} GpbWordClass;

/*
 * The type of a value's words, which travels in plans.  A value of 16 bytes is two words, its upper
 * half and its lower one, both in the order of gpb_key_half(), and NULL if the value is.
 */
typedef struct GpbWordType
{
	Oid			sql;			/* base type of the values; InvalidOid where nobody asks */
	uint8		class;			/* GpbWordClass */
	uint8		scale;			/* of numerics */
	uint8		column;			/* of codes: the INCLUDE column, counted from 0 */
	uint8		table;			/* its number in the program */
} GpbWordType;

static inline GpbWordType
gpb_sql_type(Oid sql)
{
	return (GpbWordType) {.sql = sql, .class = GPB_WORDS_SQL};
}

/* The type of numerics of one of their classes */
static inline GpbWordType
gpb_number_type(GpbWordClass class, int scale)
{
	return (GpbWordType) {.sql = NUMERICOID, .class = class, .scale = (uint8) scale};
}

/* The type of words of another class, which are of an INCLUDE column if it has codes */
static inline GpbWordType
gpb_class_type(GpbWordClass class, int column)
{
	return (GpbWordType) {.class = class, .column = (uint8) column};
}

static inline bool
gpb_same_type(GpbWordType a, GpbWordType b)
{
	return a.sql == b.sql && a.class == b.class && a.scale == b.scale && a.column == b.column &&
		a.table == b.table;
}

/* Have values of this type two words? */
static inline bool
gpb_type_is_wide(GpbWordType type)
{
	return type.class == GPB_WORDS_WIDE || type.class == GPB_WORDS_UUID;
}

static inline int
gpb_type_words(GpbWordType type)
{
	return gpb_type_is_wide(type) ? 2 : 1;
}

/* May a numeric of this type be NaN? */
static inline bool
gpb_may_be_nan(GpbWordType type)
{
	return type.class == GPB_WORDS_NUMERIC || type.class == GPB_WORDS_WIDE;
}

/* Does a constant of this type go with a table, so that it has no word of its own? */
static inline bool
gpb_has_table(GpbWordType type)
{
	return type.class >= GPB_TABLE_ZONE;
}

/* Append a type to a plan's private list. */
extern void gpb_put_word_type(List **private, GpbWordType type);

/* Get what gpb_put_word_type() appended. */
extern GpbWordType gpb_get_word_type(GpbPrivateReader *reader);

/* The base type of an SQL type whose values are words; InvalidOid if it is another */
extern Oid	gpb_word_type(Oid type);

/* Is it numeric, or a domain of that? */
extern bool gpb_is_numeric(Oid type);

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
extern int	gpb_word_kind(GpbWordType type);

/* The word of a value that is not NULL, of an SQL type or of a half of a uuid */
extern int64 gpb_datum_word(GpbWordType type, Datum value);

/* The value of gpb_type_words() words, which is not NULL; of codes it is gpb_words_value(). */
extern Datum gpb_words_datum(GpbWordType type, const int64 *words);

/*
 * The reverse: fill in the gpb_type_words() words of a value that is not NULL, whose type has no
 * codes.  Returns false if it is a numeric that has none.
 */
extern bool gpb_datum_words(GpbWordType type, Datum value, int64 *words);

static inline Datum
gpb_word_datum(GpbWordType type, int64 word)
{
	return gpb_words_datum(type, &word);
}

/* Whose codes the words of a program are */
typedef struct GpbCodeSource
{
	Relation	index;			/* that of the dictionary, unless one of these is there: */
	struct GpbDictionary *dictionary;	/* one that is no index's */
	const struct GpbTexts *texts;	/* values of which they are numbers (bind/texts.h) */
} GpbCodeSource;

/* Like gpb_words_datum(), of words that may be codes */
extern Datum gpb_words_value(const GpbCodeSource *codes, GpbWordType type, const int64 *words);

/* Bring n words into ascending order, each once.  Returns how many are left. */
extern int	gpb_sort_words(int64 *words, int n);

/* The elements of an array, palloc'd.  Returns their number. */
extern int	gpb_array_elements(ArrayType *array, Datum **elements, bool **nulls);

/*
 * The elements of an array that are not NULL, as words in the order of their type's comparison,
 * which for a float8 is that of GPB_OP_FLOAT_ORDER; ascending, and each once.  Returns palloc'd
 * words, *n of them.
 */
extern int64 *gpb_array_words(ArrayType *array, int *n, bool *has_null);

#endif							/* GPB_PROGRAM_WORDS_H */
