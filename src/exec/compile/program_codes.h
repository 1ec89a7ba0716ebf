/*-------------------------------------------------------------------------
 *
 * program_codes.h
 *	  Columns whose values are codes of the index's dictionary, in programs.
 *
 * A program has a code for a word.  Codes can be grouped by and counted, and looked for in a list;
 * their order is not that of values.  For min() and max() a program has the ranks of a column's
 * codes in a table, by the aggregate's collation, and puts each code below its rank: of such words
 * the least and the greatest are wanted.  They are sorted before the first entry, too.
 * (aggregate_values.h has min() and max() of such groups as are few, without sorting all values.)
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

#include "exec/compile/program_build_internal.h"
#include "program/program_steps.h"

/* The slot of a column whose words are codes, perhaps with another label; -1 if it is none. */
extern int	gpb_code_column(const GpbProgramBuilder *builder, Expr *expression);

/* Is this the slot of an INCLUDE column, and has it codes? */
extern bool gpb_slot_has_code(const GpbProgramBuilder *builder, int slot);

/* The INCLUDE columns of the index whose codes the program reads, as bits */
extern uint32 gpb_program_code_columns(IndexOptInfo *index, const GpbProgram *program);

/*
 * Has the index all values of these INCLUDE columns, which are bits, as far as is known?  The
 * planner must hold a lock on it.
 */
extern bool gpb_codes_are_here(const IndexOptInfo *index, uint32 columns);

/*
 * Do the codes in a slot that are an expression tell its values apart, and has the index all of
 * them?  If not it is refused: different ones may be equal to the column's "=", by its collation
 * or as character without a length.
 */
extern bool gpb_code_tells_apart(GpbProgramBuilder *builder, Expr *expression, int slot);

/*
 * What a value has to be equal to for a condition, in which a CaseTestExpr stands for the value, to
 * be true, where equal values have equal bytes; NULL if the condition says more or something else.
 */
extern Expr *gpb_code_equal_to(Expr *condition);

/* The result of a condition on the value of one such column; GPB_REFUSED if it is none. */
extern int	gpb_condition_on_code(GpbProgramBuilder *builder, Expr *condition);

/*
 * The codes of such a column, which a function of core compares by a collation, below their ranks.
 * It is refused if the expression is no such column, if different values may be equal, or if there
 * are too many.
 */
extern GpbTyped gpb_code_ranked(GpbProgramBuilder *builder, Expr *expression, Oid compare,
								Oid collation);

/*
 * Orders of values for whose ranks there is room whatever the dictionary has.  One of all its codes
 * takes most, with three ranks in a word.
 */
#define GPB_CERTAIN_ORDERS	3
StaticAssertDecl(GPB_DICTIONARY_CODES <= 1 << (64 / 3) &&
				 GPB_CERTAIN_ORDERS * (2 + GPB_DICTIONARY_CODES / 3) <= GPB_MAX_MORE_WORDS,
				 "orders that are to be certain may find no room");

/* The bits that the rank of one of so many values takes */
static inline int
gpb_rank_bits(double values)
{
	int			bits = 1;

	while (bits < GPB_MAX_RANK_BITS && (double) ((int64) 1 << bits) < values)
		bits++;
	return bits;
}

/* ---- execution ---- */

/* What a constant for a column of codes becomes when it is evaluated */
typedef struct GpbCodesTable
{
	int64	   *words;			/* palloc'd; NULL: none */
	uint32		n;
	bool		negated;		/* it has the codes for which the condition is false */
	bool		isnull;			/* the condition is NULL for all */
} GpbCodesTable;

/*
 * Evaluate constant number i, which is a condition on a column's codes, to a table for
 * GPB_OP_IN_CODES.  Returns NULL, or why that cannot be.
 */
extern const char *gpb_evaluate_codes(const GpbProgramConstants *constants, int i,
									  ExprContext *econtext, GpbCodesTable *table);

/* Evaluate constant number i, which is an order of a column's values, to one for GPB_OP_RANKED. */
extern void gpb_evaluate_ranks(const GpbProgramConstants *constants, int i,
							   ExprContext *econtext, GpbCodesTable *table);

#endif							/* GPB_PROGRAM_CODES_H */
