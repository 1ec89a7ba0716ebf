/*-------------------------------------------------------------------------
 *
 * program_wide.h
 *	  Values of 16 bytes in a program: a uuid, or a numeric of 128 bits, as two words.
 *
 * The order of values is that of their upper halves, and of the lower ones where these are equal,
 * both as signed integers (gpb_key_half()).  Both halves are NULL if the value is.  Steps know
 * words alone, so what is done with such values is said here with steps of words.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_WIDE_H
#define GPB_PROGRAM_WIDE_H

#include "utils/array.h"

#include "exec/compile/program_build_internal.h"

/* The slots of a value's halves */
typedef struct GpbWideValue
{
	int			upper;			/* GPB_REFUSED: refused */
	int			lower;
	int			scale;			/* of a numeric */
} GpbWideValue;

/* Is it a column of the index whose values have halves?  Then *value is that. */
extern bool gpb_is_wide_column(GpbProgramBuilder *builder, Expr *expression, GpbWideValue *value);

/*
 * Is it a column of the index whose values have halves, where it is only asked whether they are
 * NULL?  Then *column is the slot of the upper halves, and that of the lower ones is not taken.
 */
extern bool gpb_is_counted_wide(GpbProgramBuilder *builder, Expr *expression, int *column);

/* The numeric of an integer of 128 bits, whose words planning knows */
extern GpbWideValue gpb_wide_number(GpbProgramBuilder *builder, int128 number, int scale);

/* A comparison of two numerics of one scale by an operator for words, or GPB_OP_DISTINCT */
extern int	gpb_wide_compare(GpbProgramBuilder *builder, int op, const GpbWideValue *a,
							 const GpbWideValue *b);

/*
 * A comparison of a numeric of 16 bytes and a constant that is not NULL, whatever number it is, by
 * an operator for words, or GPB_OP_DISTINCT
 */
extern int	gpb_wide_compare_constant(GpbProgramBuilder *builder, int op,
									  const GpbWideValue *value, const Const *constant);

/* value = ANY of an array that is known, of its type */
extern int	gpb_wide_any(GpbProgramBuilder *builder, const GpbWideValue *value,
						 ArrayType *array);

/*
 * Is it a call of a comparison of uuids of which one argument is a column of the index?  Then *slot
 * is its result, or GPB_REFUSED.
 */
extern bool gpb_uuid_comparison(GpbProgramBuilder *builder, Oid function, List *args, int *slot);

/*
 * Is it a IS DISTINCT FROM b of uuids, the function being their "=", of which one is a column of
 * the index?  Then *slot is its result, or GPB_REFUSED.
 */
extern bool gpb_uuid_distinct(GpbProgramBuilder *builder, Oid function, List *args, int *slot);

/*
 * Is it a = ANY (array) or a <> ALL (array) where a is a column of uuids of the index?  Then *slot
 * is its result, or GPB_REFUSED.
 */
extern bool gpb_uuid_array(GpbProgramBuilder *builder, ScalarArrayOpExpr *expression, int *slot);

#endif							/* GPB_PROGRAM_WIDE_H */
