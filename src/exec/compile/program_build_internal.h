/*-------------------------------------------------------------------------
 *
 * program_build_internal.h
 *	  The program that is being built: what the files behind program_build.h share.
 *
 * While a program is built each step has a result of its own, whose slot is GPB_FIRST_TEMPORARY
 * plus the step's number, and which nothing overwrites.  So a step that is needed again is simply
 * used again.  At the end gpb_program_assign() puts the results into temporaries.
 *
 *	program_words.c		SQL values as words
 *	program_slots.c		constants and steps; temporaries
 *	program_once.c		what is evaluated before the first entry
 *	program_value.c		columns, and what classes of values a place allows
 *	program_expr.c		steps for expressions; boolean ones, calls
 *	program_choice.c	CASE, COALESCE, NULLIF, GREATEST, LEAST
 *	program_compare.c	comparisons, also with arrays
 *	program_function.c	functions of words
 *	program_decimal.c	functions of numerics
 *	program_halves.c	arithmetic of numerics of 16 bytes
 *	program_field.c		fields of dates and timestamps
 *	program_codes.c		columns whose values are codes of the dictionary
 *	program_aggregates.c	aggregates and their terms
 *	program_build.c		filters, groups, the whole
 *	program_bounds.c	can a step fault?
 *	program_plan.c		what travels in the plan
 *	program_bind.c		constants when a node runs
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_BUILD_INTERNAL_H
#define GPB_PROGRAM_BUILD_INTERNAL_H

#include "exec/compile/program_build.h"
#include "exec/functions/core_function.h"

/* Shorter names for what is used all the time */
#define STEP1(op, a)		gpb_slot_step(builder, op, a, 0, 0)
#define STEP2(op, a, b)		gpb_slot_step(builder, op, a, b, 0)
#define STEP3(op, a, b, c)	gpb_slot_step(builder, op, a, b, c)
#define WORD(word)			gpb_slot_word(builder, word)

/* Stands for a slot where something was refused.  What is built of it is refused too. */
#define GPB_REFUSED			(-1)

/*
 * The value of an expression: the slots of its words, and what planning knows of them.  What is
 * true of numerics alone program_decimal.h says.
 */
typedef struct GpbTyped
{
	int			slot;			/* GPB_REFUSED: refused */
	int			lower;			/* slot of the lower half, where "slot" is that of the upper one of
								 * 16 bytes; else 0 */
	GpbWordType type;
	int64		divisor;		/* to be divided by divisor / 10^divisor_scale; 0: by nothing */
	int			divisor_scale;
	int			shown;			/* slot of the number of digits that are displayed, where this
								 * depends on the row; else 0 */
	bool		is_constant;	/* a numeric that is known, and not NaN */
	bool		is_null;		/* the constant NULL, of any type */
} GpbTyped;

/* A value of one word, whose SQL type gpb_value() adds */
static inline GpbTyped
gpb_word(int slot)
{
	return (GpbTyped) {.slot = slot, .type.class = GPB_WORDS_SQL};
}

/* What a function returns that makes a value and refuses it; gpb_no_value() says why */
#define GPB_NO_VALUE		((GpbTyped) {GPB_REFUSED})
#define gpb_no_value(...)	gpb_word(gpb_refuse(__VA_ARGS__))

struct GpbProgramBuilder
{
	PlannerInfo *root;
	IndexOptInfo *index;
	/* gpb_expression_value(), which the files for the classes of expressions are below */
	GpbTyped	(*value) (GpbProgramBuilder *builder, Expr *expression);
	GpbProgram	program;		/* step i has its result in GPB_FIRST_TEMPORARY + i */
	List	   *constants;		/* an Expr for each constant */
	GpbWordType constant_type[GPB_MAX_CONSTANTS];
	int			ntables;		/* of the program's tables, how many are in use */
	bool		kept[GPB_MAX_STEPS];	/* steps whose faults matter, not their results */
	int			guard;			/* the guard of steps that are added now, or GPB_NO_SLOT */
	int			case_value;		/* slot of the operand of the CASE around, or GPB_REFUSED */
	List	   *items;			/* GpbAggregateItems that name terms */
	bool		allows_elsewhere;	/* the node tests conditions on values if need be */
	bool		is_portable;	/* gpb_builder_be_portable() */
	bool		asked_elsewhere;
	uint32		elsewhere;		/* if asked: INCLUDE columns with values that are elsewhere */
	const char *refusal;
};

/* Say why something is refused; returns GPB_REFUSED. */
extern int	gpb_refuse(GpbProgramBuilder *builder, const char *format,...)
			pg_attribute_printf(2, 3);
/* gpb_refuse() in a function that returns whether something could be done: its value is false. */
#define gpb_cannot(...)		((void) gpb_refuse(__VA_ARGS__), false)

/*
 * Take back what was added since *before was a copy of the builder unless it "added" all, and that
 * fits.  Returns whether it stays.
 */
extern bool gpb_settle(GpbProgramBuilder *builder, const GpbProgramBuilder *before, bool added);

/* ---- slots (program_slots.c); each returns GPB_REFUSED where there is no room ---- */

/* The constant of an expression without columns, whose base type is one of words */
extern int	gpb_slot_constant(GpbProgramBuilder *builder, Expr *value, GpbWordType type);

/* A constant of a type that is no domain, and of some types that steps need */
extern int	gpb_slot_const(GpbProgramBuilder *builder, Const *value);
extern int	gpb_slot_word(GpbProgramBuilder *builder, int64 word);
extern int	gpb_slot_float(GpbProgramBuilder *builder, double value);
extern int	gpb_slot_boolean(GpbProgramBuilder *builder, bool value);

/* The constant NULL, for which any type of words will do */
extern int	gpb_slot_null(GpbProgramBuilder *builder);

/*
 * The result of an operator.  Operands that it does not have are 0.  Where all operands are known
 * constants it is one, and where a step has the result already it is that step's.  A step that can
 * fault gets the builder's guard.
 */
extern int	gpb_slot_step(GpbProgramBuilder *builder, int op, int a, int b, int c);

/* Have the step whose result a slot is, if it is one, done for its fault.  Returns the slot. */
extern int	gpb_slot_kept(GpbProgramBuilder *builder, int slot);

/*
 * The result of an operator that looks a up in a table, which binding fills from an expression;
 * *constant is the slot of the constant that goes with the table, which is of this type.
 */
extern int	gpb_slot_with_table(GpbProgramBuilder *builder, int op, int a, Expr *value,
								GpbWordType type, int *constant);

/* Is the value among n words, which are in ascending order, each once? */
extern int	gpb_slot_in_words(GpbProgramBuilder *builder, int a, const int64 *words, int n);

/*
 * a = ANY (array), where the array is a constant expression whose elements are words.  A float8 was
 * made an integer by GPB_OP_FLOAT_ORDER.
 */
extern int	gpb_slot_in_array(GpbProgramBuilder *builder, int a, Expr *array);

/* Add a filter. */
extern int	gpb_slot_filter(GpbProgramBuilder *builder, int a);

/* Have the steps that follow guarded by this condition, besides the guard that they have. */
extern void gpb_guard_by(GpbProgramBuilder *builder, int condition);

/*
 * Fill in *out, the program whose results are in temporaries, without steps that nothing needs.
 * Returns false if it needs too many temporaries.
 */
extern bool gpb_program_assign(const GpbProgramBuilder *builder, GpbProgram *out);

/* ---- constants (program_once.c) ---- */

/* Has the expression one value in an execution? */
extern bool gpb_is_constant(Expr *expression);

/* Is it sure enough that evaluating such an expression raises no error? */
extern bool gpb_is_harmless(GpbProgramBuilder *builder, Expr *constant);

/*
 * Must an expression be guarded where core does not always evaluate it, since a step for it can
 * fault, or evaluating a constant of it raise an error?
 */
extern bool gpb_needs_guard(GpbProgramBuilder *builder, Node *expression);

/* ---- functions of words (program_function.c) ---- */

/* May a call of this function need a step that can fault?  Yes of those that are not known. */
extern bool gpb_function_can_fault(Oid function);

/* Is this argument of the function a value?  If not it must be a Const. */
extern bool gpb_function_takes_value(const GpbFunction *function, int argument);

/* The result of a call: value has the arguments that are values, args all of them. */
extern int	gpb_function_slot(GpbProgramBuilder *builder, const GpbFunction *function,
							  const GpbTyped *value, List *args);

/*
 * A timestamptz as a timestamp in a time zone, and the reverse.  The zone is a name, or NULL for
 * that of the session in which the program is bound.
 */
extern int	gpb_local_slot(GpbProgramBuilder *builder, int slot, Const *zone);
extern int	gpb_of_local_slot(GpbProgramBuilder *builder, int slot, Const *zone);

/* A date or timestamp of local time as a timestamptz */
extern int	gpb_moment_slot(GpbProgramBuilder *builder, Oid type, int slot);

/* ---- comparisons (program_compare.c); the operator may be GPB_OP_DISTINCT ---- */

extern bool gpb_function_compares(const GpbFunction *function);

/* The comparison of two expressions that a function does, by its operator or another */
extern int	gpb_comparison_slot(GpbProgramBuilder *builder, const GpbFunction *function,
								GpbOperator op, List *args);

/* That of two values */
extern int	gpb_compared_slot(GpbProgramBuilder *builder, const GpbFunction *function,
							  GpbOperator op, const GpbTyped *value);

/* x = ANY (array) or x <> ALL (array) */
extern int	gpb_array_slot(GpbProgramBuilder *builder, ScalarArrayOpExpr *expression);

/* ---- choices (program_choice.c) ---- */

extern GpbTyped gpb_case(GpbProgramBuilder *builder, CaseExpr *expression);
extern GpbTyped gpb_coalesce(GpbProgramBuilder *builder, CoalesceExpr *expression);
extern GpbTyped gpb_null_if(GpbProgramBuilder *builder, NullIfExpr *expression);
extern GpbTyped gpb_min_max(GpbProgramBuilder *builder, MinMaxExpr *expression);

/* ---- values (program_value.c) ---- */

/* The value of an expression.  Codes may be of values that are elsewhere, or equal to others. */
static inline GpbTyped
gpb_value(GpbProgramBuilder *builder, Expr *expression)
{
	return builder->value(builder, expression);
}

/* The value of an expression where neither codes nor uuids will do */
extern GpbTyped gpb_plain_value(GpbProgramBuilder *builder, Expr *expression);

/* Has the value been made, and is it neither a code nor a uuid?  If it is one, refuse it. */
extern bool gpb_is_plain(GpbProgramBuilder *builder, Expr *expression, const GpbTyped *value);

/* The value of an expression where nothing but a word of its SQL type will do */
extern int	gpb_word_slot(GpbProgramBuilder *builder, Expr *expression);

extern GpbTyped gpb_column_value(GpbProgramBuilder *builder, Var *var);

/* The slot of a column of the index, perhaps with another label; -1 if the expression is none. */
extern int	gpb_var_slot(const GpbProgramBuilder *builder, Expr *expression);

/*
 * Is it a column of the index whose values have halves, where it is only asked whether they are
 * NULL?  Then *column is the slot of the upper halves, and that of the lower ones is not taken.
 */
extern bool gpb_is_counted_wide(GpbProgramBuilder *builder, Expr *expression, int *column);

/* The condition that is true unless "condition" is */
extern int	gpb_unless(GpbProgramBuilder *builder, int condition);

/* Find a function that steps can say; NULL, with a refusal, if it is none. */
extern const GpbFunction *gpb_find_function(GpbProgramBuilder *builder, Oid function);

/*
 * Fill in the function's arguments that are values, but for number "without"; false if one is
 * refused.
 */
extern bool gpb_arguments(GpbProgramBuilder *builder, const GpbFunction *function, List *args,
						  int without, GpbTyped *value);

/* ---- expressions (program_expr.c) ---- */

/* What gpb_value() calls */
extern GpbTyped gpb_expression_value(GpbProgramBuilder *builder, Expr *expression);

/* The value of an expression whose words, codes among them, are to tell values apart */
extern GpbTyped gpb_any_value(GpbProgramBuilder *builder, Expr *expression);

#endif							/* GPB_PROGRAM_BUILD_INTERNAL_H */
