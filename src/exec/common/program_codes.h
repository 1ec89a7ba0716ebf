/*-------------------------------------------------------------------------
 *
 * program_codes.h
 *	  Columns whose values are codes of the index's dictionary, in programs.
 *
 * A program has a code for a word.  Codes can be grouped by and counted, and looked for in a list;
 * their order is not that of values (aggregate_values.h has min() and max()).
 * A condition on the value of one such column is evaluated before the first entry, once for each
 * value that the dictionary has; what the program does is to look the code up in the set of those
 * for which it is true, or false if that takes fewer words: a list of codes, or a bit for each
 * (gpb_is_among_codes()).  What a value is to be equal to by its bytes is looked up instead, and no
 * other value seen.  The dictionary is read after the snapshot was taken, so it has the codes
 * of all rows that the snapshot sees.
 *
 * The dictionary also has values of no row that is seen, and functions see these: so only functions
 * of core are called, which tell nobody.  If one raises an error, the node does without the
 * program.
 *
 *	program_codes.c			when a program is built
 *	program_codes_bind.c	when a node runs
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_CODES_H
#define GPB_PROGRAM_CODES_H

#include "exec/common/program_builder.h"

/* Is it a column whose words are codes, perhaps with another label?  Then *slot is it. */
extern bool gpb_is_code_column(GpbProgramBuilder *builder, Expr *expression, int *slot);

/*
 * The slot and type of words of such a column, where codes are to tell values apart: GPB_REFUSED if
 * different ones may be equal to the column's "=", by its collation or as character without a
 * length.
 */
extern int	gpb_code_slot(GpbProgramBuilder *builder, Expr *expression, Oid *type);

/*
 * What a value has to be equal to for a condition, in which a CaseTestExpr stands for the value, to
 * be true, where equal values have equal bytes; NULL if the condition says more or something else.
 */
extern Expr *gpb_code_equal_to(Expr *condition);

/* The result of a condition on the value of one such column; GPB_REFUSED if it is none. */
extern int	gpb_condition_on_code(GpbProgramBuilder *builder, Expr *condition);

/* ---- execution ---- */

/* Like gpb_words_datum(), of words of an index's programs that may be codes */
extern Datum gpb_words_value(Relation index, Oid type, const int64 *words);

/*
 * Evaluate constant number i, which is a condition on a column's codes.  The set of its codes goes
 * to words, a table for GPB_OP_IN_CODES, which has room for so many words; *negated says that these
 * are the codes for which it is false, and *isnull that it is NULL for all.  Returns NULL, or why
 * that cannot be.
 */
extern const char *gpb_evaluate_codes(const GpbProgramConstants *constants, int i,
									  ExprContext *econtext, int room, int64 *words, int *n,
									  bool *negated, bool *isnull);

#endif							/* GPB_PROGRAM_CODES_H */
