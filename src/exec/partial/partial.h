/*-------------------------------------------------------------------------
 *
 * partial.h
 *	  Partial states: what an aggregate knows of some rows, as an SQL value.
 *
 * An answer's words are of one program; a partial state is of none.  It says all of itself in bytes
 * that servers of any version and byte order read alike, so it can be kept in a table or come from
 * another server.  Equal states have equal bytes, whoever made them: a node, core's Agg, workers.
 *
 *	partial.c			any of them: new, merged, read, written
 *	partial_types.c		the types of values, and values as bytes
 *	partial_bytes.c		numbers and exact sums as bytes
 *	partial_sums.c		sums of words: integers and float8, and pairs of float8
 *	partial_numerics.c	sums of numerics
 *	partial_values.c	values, each with how often it occurs
 *	partial_extreme.c	the value that goes with the least or greatest of another
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PARTIAL_H
#define GPB_PARTIAL_H

#include "postgres.h"
#include "utils/numeric.h"

#include "program/answer.h"

/* What a state is of.  The numbers are part of its bytes. */
typedef enum GpbPartialKind
{
	GPB_PARTIAL_OF_SUMS = 1,	/* count, sum, least, greatest */
	GPB_PARTIAL_OF_MOMENTS = 2, /* the same, and the sum of squares */
	GPB_PARTIAL_OF_PAIRS = 3,	/* (Y, X): of each what moments have but bounds, and the products */
	GPB_PARTIAL_OF_VALUES = 4,	/* each value and its count */
	GPB_PARTIAL_OF_FIRST = 5,	/* the value of the row where another value is the least */
	GPB_PARTIAL_OF_LAST = 6		/* or the greatest */
} GpbPartialKind;

/* The terms of a state of sums: that of its values or of X, and those that pairs have beside */
#define GPB_PARTIAL_X			0
#define GPB_PARTIAL_Y			1
#define GPB_PARTIAL_PRODUCTS	2	/* with what rounding took from them */
#define GPB_PARTIAL_RESTS		3	/* always 0 */

/* How values of a type become bytes whose order is theirs, but for numerics and texts */
typedef enum GpbPartialForm
{
	GPB_FORM_INTEGER,			/* of 1 to 8 bytes, the highest first, with the sign bit inverted */
	GPB_FORM_FLOAT,				/* gpb_float_order(), likewise */
	GPB_FORM_UUID,
	GPB_FORM_NUMERIC,			/* as numeric_send() has them */
	GPB_FORM_TEXT				/* in the encoding of the database */
} GpbPartialForm;

/* A type of values */
typedef struct GpbPartialType
{
	uint8		number;			/* in a state's bytes */
	uint8		form;			/* GpbPartialForm */
	int8		length;			/* bytes of a value; -1: they vary */
	bool		has_sums;		/* are there sums of its values? */
	Oid			sql;
} GpbPartialType;

/* A value as bytes; as many as GPB_PARTIAL_SHORT are in it */
#define GPB_PARTIAL_SHORT	16

typedef struct GpbPartialValue
{
	uint32		length;
	uint16		scale;			/* of a numeric: with how many digits behind the point it is shown;
								 * the bytes have 0 there */
	union
	{
		uint8		here[GPB_PARTIAL_SHORT];
		uint8	   *elsewhere;
	}			bytes;
} GpbPartialValue;

static inline const uint8 *
gpb_partial_value_bytes(const GpbPartialValue *value)
{
	return value->length <= GPB_PARTIAL_SHORT ? value->bytes.here : value->bytes.elsewhere;
}

/* Sums of numerics.  Of values that are not finite no more is known than which there are. */
typedef struct GpbPartialNumerics
{
	int64		count;
	bool		nan;
	bool		infinity;
	bool		minus_infinity;
	Numeric		sum;			/* NULL if a value is not finite */
	Numeric		squares;		/* likewise, and of sums without moments */
	Numeric		least;
	Numeric		greatest;
} GpbPartialNumerics;

/*
 * The value of the row where "by" is the least or greatest; of several such rows that with the
 * least or greatest value, NULL being above all others
 */
typedef struct GpbPartialExtreme
{
	const GpbPartialType *by_type;
	GpbPartialValue by;
	GpbPartialValue value;
	bool		is_null;
} GpbPartialExtreme;

typedef struct GpbPartialValues GpbPartialValues;

/* Bytes of the longest header: version, kind, two types, encoding */
#define GPB_PARTIAL_HEADER	5

typedef struct GpbPartial
{
	GpbPartialKind kind;
	const GpbPartialType *type; /* of values; of pairs float8 */
	MemoryContext context;		/* of all its memory */
	uint8		header[GPB_PARTIAL_HEADER]; /* what its bytes begin with */
	int			header_length;
	const GpbAnswerFormat *format;	/* of an answer that is a state; it stays for good */
	/* one of these: */
	int64	   *answer;			/* sums of words, in this format */
	GpbPartialNumerics *numerics;
	GpbPartialValues *values;
	GpbPartialExtreme *extreme;
} GpbPartial;

/* ---- states (partial.c) ---- */

/*
 * A state of no rows, of this type of values; by_type is that of what orders them, where the kind
 * has such.  Memory is of the current context, as of all that is added.
 */
extern GpbPartial *gpb_partial_new(GpbPartialKind kind, const GpbPartialType *type,
								   const GpbPartialType *by_type);

/*
 * Read a state, into memory of the current context.  Whatever is wrong with the bytes raises an
 * error.
 */
extern GpbPartial *gpb_partial_read(const struct varlena *bytes);

/*
 * Merge a state that is read into "into".  Raises an error if it is of another kind or type.
 */
extern void gpb_partial_merge_bytes(GpbPartial *into, const struct varlena *bytes);

/* Merge the state "from" into "into"; "from" is as before.  Raises an error likewise. */
extern void gpb_partial_merge(GpbPartial *into, GpbPartial *from);

/*
 * A state of at least one row as bytes, palloc'd in the current context.  The state is the same
 * afterwards.
 */
extern bytea *gpb_partial_write(GpbPartial *partial);

/* How many values, or pairs, are in it?  Of the first or last it is 1. */
extern int64 gpb_partial_count(const GpbPartial *partial);

/*
 * Are the bytes those of a state of this kind, and of values of this type?  Raises an error if they
 * are of no state.
 */
extern bool gpb_partial_is(const struct varlena *bytes, GpbPartialKind kind,
						   const GpbPartialType *type);

/*
 * Add what a state of sums of words, given by its bytes, has to an answer: of each of its terms
 * what that term's column of the array has words for, of count, sum, bounds and squares.  Sums need
 * to be normalized afterwards.  Returns false, with the answer meaning nothing, if a sum is narrow
 * and does not hold what it is to take.  The state must have what is wanted; whatever is wrong with
 * the bytes raises an error.
 */
extern bool gpb_partial_add_to_answer(const struct varlena *bytes, const GpbAnswerColumn *columns,
									  int64 *answer);

/* ---- sums of words (partial_sums.c) ---- */

/* Add a value that is not NULL, given by its word, to a state of integers or floats. */
extern void gpb_partial_add_word(GpbPartial *partial, int64 word);

/* Add "count" such values to a state of sums. */
extern void gpb_partial_add_words(GpbPartial *partial, int64 word, int64 count);

/* Add a pair of float8, given by their bits. */
extern void gpb_partial_add_pair(GpbPartial *partial, int64 y, int64 x);

/*
 * Add what a column of an answer, whose sums are normalized, has to a term of the state, of which
 * it must have all.
 */
extern void gpb_partial_take_column(GpbPartial *partial, int term, const GpbAnswerColumn *column,
									const int64 *answer);

/* ---- sums of numerics (partial_numerics.c) ---- */

/* Add "count" values that are not NULL and equal to this one. */
extern void gpb_partial_add_numerics(GpbPartial *partial, Numeric value, int64 count);

/* Add sums of numerics, which are copied. */
extern void gpb_partial_take_numerics(GpbPartial *partial, const GpbPartialNumerics *from);

/* ---- values (partial_values.c) ---- */

/* Add "count" values that are equal to this one. */
extern void gpb_partial_add_value(GpbPartial *partial, Datum value, int64 count);

/* The number of different values */
extern uint64 gpb_partial_nvalues(GpbPartial *partial);

/* Value number i, in an order of the state's own, and its count; palloc'd if by reference */
extern Datum gpb_partial_value(GpbPartial *partial, uint64 i, int64 *count);

/* ---- the first or last (partial_extreme.c) ---- */

/* Take a row into the state; "by" is not NULL. */
extern void gpb_partial_add_row(GpbPartial *partial, Datum value, bool is_null, Datum by);

/* ---- types (partial_types.c) ---- */

/* Of values of this SQL type, or of the base type of a domain; NULL if there are no states of it */
extern const GpbPartialType *gpb_partial_type(Oid sql);

/* The value of these bytes, palloc'd if by reference */
extern Datum gpb_partial_datum(const GpbPartialType *type, const GpbPartialValue *value);

/* The word of a value of a type of integers or floats: a float's bits, as a float8 */
extern int64 gpb_partial_word(const GpbPartialType *type, Datum value);

#endif							/* GPB_PARTIAL_H */
