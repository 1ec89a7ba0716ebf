/*-------------------------------------------------------------------------
 *
 * program_constants.h
 *	  The constants of a node's program.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_CONSTANTS_H
#define GPB_PROGRAM_CONSTANTS_H

#include "postgres.h"

#include "exec/common/program_build.h"

/*
 * Evaluate the constants and put them into the program, as gpb_program_bind() does.  If evaluating
 * them may fail, errors of functions are not raised, but those of subqueries are.  Returns NULL, or
 * why the program cannot be used.
 */
extern const char *gpb_program_constants_bind(const GpbProgramConstants *constants,
											  bool may_fail, ExprContext *econtext,
											  GpbProgram *program);

#endif							/* GPB_PROGRAM_CONSTANTS_H */
