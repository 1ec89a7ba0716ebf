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

#include "exec/common/program_builder.h"

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
 * The same where it is only asked whether values are NULL: *column is the slot of the upper halves,
 * and that of the lower ones is not taken.
 */
extern bool gpb_is_counted_wide(GpbProgramBuilder *builder, Expr *expression, int *column);

/*
 * Is it a call of a comparison of which one argument is such a column?  Then *slot is its result,
 * or GPB_REFUSED.
 */
extern bool gpb_wide_comparison(GpbProgramBuilder *builder, Oid function, List *args, int *slot);

/* Likewise of a IS DISTINCT FROM b, where the function is the "=" of both */
extern bool gpb_wide_distinct(GpbProgramBuilder *builder, Oid function, List *args, int *slot);

/* Likewise of a = ANY (array) and a <> ALL (array) */
extern bool gpb_wide_array(GpbProgramBuilder *builder, ScalarArrayOpExpr *expression, int *slot);

#endif							/* GPB_PROGRAM_WIDE_H */
