/*-------------------------------------------------------------------------
 *
 * row_codes.h
 *	  Texts of rows, which no index has, in a program over codes.
 *
 * The rows' texts are numbered as they come (texts.h), and the numbers are the program's codes.  So
 * conditions on codes, which of an index are evaluated for all its values before the first entry,
 * are evaluated for each text when it is first met in their column: before the program sees its
 * code.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ROW_CODES_H
#define GPB_ROW_CODES_H

#include "postgres.h"
#include "nodes/execnodes.h"

#include "exec/bind/texts.h"
#include "exec/compile/program_build.h"

typedef struct GpbRowCodes GpbRowCodes;

/*
 * Prepare for a plan's program whose constants are "constants", which know by now all columns whose
 * codes any part of the program reads.  The texts may take so many bytes.  Memory is of the current
 * context.
 */
extern GpbRowCodes *gpb_row_codes(const GpbProgramPlan *plan,
								  const GpbProgramConstants *constants, GpbTexts *texts,
								  Size limit);

/* Begin an execution: nothing is known of any text, and the texts have no numbers yet. */
extern void gpb_row_codes_start(GpbRowCodes *codes);

/* The INCLUDE columns whose codes the program reads, as bits */
extern uint32 gpb_row_codes_columns(const GpbRowCodes *codes);

/*
 * Find or make the code of a text in such a column, counted from 0.  Returns false if the texts
 * take too much memory.
 */
extern bool gpb_row_code(GpbRowCodes *codes, int column, Datum value, int64 *code);

/* Are there texts of which conditions are not known? */
extern bool gpb_row_codes_wait(const GpbRowCodes *codes);

/*
 * Evaluate the conditions for the texts that have come since, and let the bound program have what
 * they are.  Returns NULL, or why the program has no answer.
 */
extern const char *gpb_row_codes_judge(GpbRowCodes *codes, ExprContext *econtext,
									   GpbProgram *program);

#endif							/* GPB_ROW_CODES_H */
