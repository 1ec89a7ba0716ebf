/*-------------------------------------------------------------------------
 *
 * program_decimal.h
 *	  Values of type numeric in a program: words with a scale that planning knows.
 *
 * A decimal is word / 10^scale, and is displayed with as many digits as its scale says, which is
 * what core's numeric of the same expression has.  A column's word may be NaN's (page/numeric.h),
 * which is in the order of words where it is in that of numerics; what is computed from it faults
 * there.  There is no infinity: a step faults where core would have one.
 *
 * A quotient by a constant has a scale that depends on the value, so it is no decimal, but its
 * floor, ceiling and whole part are.  A choice between values of different scales (CASE, COALESCE)
 * has the greatest of them for its word, and varies in how many digits are displayed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_DECIMAL_H
#define GPB_PROGRAM_DECIMAL_H

#include "utils/array.h"

#include "exec/compile/program_build_internal.h"

typedef struct GpbDecimal
{
	int			slot;			/* GPB_REFUSED: refused */
	int			scale;
	int			lower;			/* of a value of 16 bytes, whose upper half the slot has: that of
								 * the lower one; 0: the value is a word */
	int64		divisor;		/* to be divided by divisor / 10^divisor_scale; 0: by nothing */
	int			divisor_scale;
	bool		is_column;		/* a column's word, or a choice between such, which may be NaN */
	bool		is_constant;	/* a word that is known, and not NaN's */
	bool		is_null;		/* the constant NULL, of any scale */
	bool		varies;			/* how many digits are displayed depends on the row: */
	int			shown;			/* the slot of their number, if so */
	Oid			type;			/* of gpb_any_expression(): what words of no numeric are of */
} GpbDecimal;

/* Find a function whose arguments or result are numeric by its OID; NULL if it is none. */
extern const GpbFunction *gpb_decimal_find(Oid function);

/* Is the function's result numeric?  Else it is a word. */
extern bool gpb_decimal_gives_numeric(const GpbFunction *function);

/* Is the function "=" of numerics or, if "negated", "<>"? */
extern bool gpb_decimal_is_equality(const GpbFunction *function, bool negated);

/* Is the argument a value?  If not it must be a Const. */
extern bool gpb_decimal_takes_value(const GpbFunction *function, int argument);

/* A numeric constant */
extern GpbDecimal gpb_decimal_constant(GpbProgramBuilder *builder, const Const *value);

/*
 * The result of a call, a word with scale 0 unless it is numeric.  "arguments" has those that are
 * values, with scale 0 where they are no numerics; args has all of them.
 */
extern GpbDecimal gpb_decimal_call(GpbProgramBuilder *builder, const GpbFunction *function,
								   const GpbDecimal *arguments, List *args);

/*
 * The elements of an array of numerics that are not NULL, as words of one scale, to which *value is
 * brought too; NULL if they are refused.
 */
extern int64 *gpb_decimal_elements(GpbProgramBuilder *builder, ArrayType *array,
								   GpbDecimal *value, int *n, bool *has_null);

/* The value of an expression of type numeric, or of one of words with scale 0 (program_expr.c) */
extern GpbDecimal gpb_decimal_expression(GpbProgramBuilder *builder, Expr *expression);

/*
 * The value of an expression of any type (program_expr.c).  "lower" is 0 unless the value has 16
 * bytes; it is not 0 where a column of 16 bytes is refused, and 0 where anything else is.
 */
extern GpbDecimal gpb_any_expression(GpbProgramBuilder *builder, Expr *expression);

/* The type of a value's words, or of both halves */
extern Oid	gpb_value_type(const GpbDecimal *value);

/*
 * The slot of a quotient as a word of *scale, and of the dividend's magnitude.  Returns false if it
 * is refused: if there are quotients that no scale can say, or core cuts off digits.
 */
extern bool gpb_decimal_quotient(GpbProgramBuilder *builder, const GpbDecimal *value, int *slot,
								 int *scale, int *magnitude);

/* Is it a decimal of one scale, without a quotient?  If not, refuse it. */
extern bool gpb_decimal_has_scale(GpbProgramBuilder *builder, const GpbDecimal *value);

/* Is it besides a word? */
extern bool gpb_decimal_is_whole(GpbProgramBuilder *builder, const GpbDecimal *value);

/* A column of the index, of this scale; lower is 0, or the slot of its lower halves. */
extern GpbDecimal gpb_decimal_column(int slot, int lower, int scale);

/*
 * Is it a comparison, or IS DISTINCT FROM, of which a constant that is not NULL may be part,
 * whatever number it is?  So it may beside a column of the index, and beside what has 16 bytes.
 * Then *slot is its result.
 */
extern bool gpb_decimal_compare_constant(GpbProgramBuilder *builder,
										 const GpbFunction *function, bool distinct,
										 const GpbDecimal *value, const Const *constant,
										 bool constant_is_left, int *slot);

/* a IS DISTINCT FROM b */
extern int	gpb_decimal_distinct(GpbProgramBuilder *builder, const GpbDecimal *value);

/* a = b */
extern int	gpb_decimal_equal(GpbProgramBuilder *builder, const GpbDecimal *value);

/*
 * Bring n values, between which there is a choice, to one scale, and fill in *choice but for the
 * slots.  If it varies, each value has the slot of the digits that it is displayed with.  Returns
 * false if it is refused.
 */
extern bool gpb_decimal_align(GpbProgramBuilder *builder, GpbDecimal *value, int n,
							  GpbDecimal *choice);

/* The slot of the digits that a value which varies is displayed with; NULL if the value is. */
extern int	gpb_decimal_shown(GpbProgramBuilder *builder, const GpbDecimal *value);

#endif							/* GPB_PROGRAM_DECIMAL_H */
