/*-------------------------------------------------------------------------
 *
 * program_bind_safe.h
 *	  The constants of a node's program.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_BIND_SAFE_H
#define GPB_PROGRAM_BIND_SAFE_H

#include "postgres.h"

#include "exec/compile/program_build.h"

/*
 * Evaluate the constants and put them into the program, as gpb_program_bind() does.  If evaluating
 * them may fail, errors of functions are not raised, but those of subqueries are.  Returns NULL, or
 * why the program cannot be used.
 */
extern const char *gpb_program_constants_bind(const GpbProgramConstants *constants,
											  bool may_fail, ExprContext *econtext,
											  GpbProgram *program);

/*
 * Call evaluate(argument), which evaluates expressions that may fail and returns NULL, or why what
 * they are for cannot be done.  Errors of functions become such a reason.  Those of subqueries are
 * raised: params are the executor's parameters in the expressions, which come first.  Memory of the
 * current context that evaluate() takes stays.
 */
extern const char *gpb_evaluate_safely(const char *(*evaluate) (void *argument), void *argument,
									   const Bitmapset *params, ExprContext *econtext);

#endif							/* GPB_PROGRAM_BIND_SAFE_H */
