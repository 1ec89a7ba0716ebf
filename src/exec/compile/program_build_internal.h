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
 *	program_function.c	steps for calls of functions
 *	program_decimal.c	values of type numeric
 *	program_wide.c		values of 16 bytes
 *	program_halves.c	arithmetic of numerics of 16 bytes
 *	program_codes.c		columns whose values are codes of the dictionary
 *	program_field.c		fields of dates and timestamps
 *	program_expr.c		steps for expressions
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

/* Stands for a slot where something was refused.  What is built of it is refused too. */
#define GPB_REFUSED			(-1)

struct GpbProgramBuilder
{
	PlannerInfo *root;
	IndexOptInfo *index;
	GpbProgram	program;		/* step i has its result in GPB_FIRST_TEMPORARY + i */
	List	   *constants;		/* an Expr for each constant */
	List	   *constant_types; /* OidList: the base type of each */
	int			ntables;		/* of the program's tables, how many are in use */
	bool		kept[GPB_MAX_STEPS];	/* steps whose faults matter, not their results */
	int			guard;			/* the guard of steps that are added now, or GPB_NO_SLOT */
	int			case_value;		/* slot of the operand of the CASE around, or GPB_REFUSED */
	List	   *items;			/* GpbAggregateItems that name terms */
	bool		allows_elsewhere;	/* the node tests conditions on values if need be */
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
extern int	gpb_slot_constant(GpbProgramBuilder *builder, Expr *value, Oid type);

/* A constant with this word */
extern int	gpb_slot_word(GpbProgramBuilder *builder, int64 word);

/*
 * A timestamptz as a timestamp in a time zone, and the reverse.  The zone is a name, or NULL for
 * that of the session in which the program is bound.
 */
extern int	gpb_slot_local(GpbProgramBuilder *builder, int slot, Const *zone);
extern int	gpb_slot_of_local(GpbProgramBuilder *builder, int slot, Const *zone);

/*
 * The result of an operator.  Operands that it does not have are 0.  Where all operands are known
 * constants it is one, and where a step has the result already it is that step's.  A step that can
 * fault gets the builder's guard.
 */
extern int	gpb_slot_step(GpbProgramBuilder *builder, int op, int a, int b, int c);

/* Is the value among n words? */
extern int	gpb_slot_in_words(GpbProgramBuilder *builder, int a, const int64 *words, int n);

/*
 * a = ANY (array), where the array is a constant expression whose elements are words.  A float8 was
 * made an integer by GPB_OP_FLOAT_ORDER.
 */
extern int	gpb_slot_in_array(GpbProgramBuilder *builder, int a, Expr *array);

/*
 * The result of a condition on the value of the INCLUDE column in this slot, whose words are codes.
 * A CaseTestExpr stands for the value.
 */
extern int	gpb_slot_in_codes(GpbProgramBuilder *builder, int column, Expr *condition);

/*
 * The codes of the INCLUDE column in this slot below their ranks, in an order as
 * gpb_ranked_code_slot() makes it
 */
extern int	gpb_slot_ranked(GpbProgramBuilder *builder, int column, Expr *order);

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

/* ---- functions (program_function.c) ---- */

/* Find a function of words by its OID; NULL if steps cannot say it. */
extern const GpbFunction *gpb_function_find(Oid function);

/* May a call of this function need a step that can fault?  Yes of those that are not known. */
extern bool gpb_function_can_fault(Oid function);

/* Is this argument of the function a word?  If not it must be a Const. */
extern bool gpb_function_takes_word(const GpbFunction *function, int argument);

/* The result of a call: slot has the arguments that are words, args all of them. */
extern int	gpb_function_slot(GpbProgramBuilder *builder, const GpbFunction *function,
							  const int *slot, List *args);

/* Is the function "=" (or, if "negated", "<>") of words, with or without GPB_OP_FLOAT_ORDER? */
extern bool gpb_function_is_equality(const GpbFunction *function, bool negated);

/* a IS DISTINCT FROM b, where the function is the "=" of both */
extern int	gpb_function_distinct(GpbProgramBuilder *builder, const GpbFunction *function,
								  const int *slot);

/* ---- expressions (program_expr.c) ---- */

/* The value of an expression */
extern int	gpb_expression_slot(GpbProgramBuilder *builder, Expr *expression);

/*
 * The value of an expression that may be of type numeric, and its type of words, which is
 * gpb_decimal_type() then
 */
extern int	gpb_typed_expression_slot(GpbProgramBuilder *builder, Expr *expression, Oid *type);

#endif							/* GPB_PROGRAM_BUILD_INTERNAL_H */
