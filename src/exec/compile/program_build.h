/*-------------------------------------------------------------------------
 *
 * program_build.h
 *	  From SQL expressions to a program (program.h): at planning into a GpbProgramPlan, which
 *	  travels in the plan, and when a node begins into the program itself.
 *
 * The builder takes a query's parts one after the other: conditions, aggregates, group expressions.
 * Whatever an index and a program cannot say is refused, and the caller leaves the query to the
 * ordinary plans.  Constants of a program are expressions without columns of the table, which have
 * one value in an execution: constants, parameters, stable functions of these.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PROGRAM_BUILD_H
#define GPB_PROGRAM_BUILD_H

#include "postgres.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"

#include "exec/compile/items.h"
#include "exec/compile/program_words.h"
#include "exec/shell/node_private.h"
#include "program/program.h"

/*
 * What of a program the plan knows: all but the layout and the values of constants.  As a List of
 * the plan's private data it travels by gpb_program_put() and gpb_program_get(); the constants are
 * expressions, and travel in custom_exprs.
 */
typedef struct GpbProgramPlan
{
	GpbProgram	program;		/* layout, constants, tables and want are not set */
	List	   *constants;		/* an Expr for each constant of the program */
	GpbWordType constant_type[GPB_MAX_CONSTANTS];	/* how the value of each becomes a word */
} GpbProgramPlan;

/* ---- planning ---- */

typedef struct GpbProgramBuilder GpbProgramBuilder;

/* Begin a program over an index of a table.  All memory is of the current context. */
extern GpbProgramBuilder *gpb_builder_begin(PlannerInfo *root, IndexOptInfo *index);
/*
 * Let the program read codes of columns that are known to have values elsewhere: where it gives up
 * the node tests the conditions on values, which is cheaper than what core does.
 */
extern void gpb_builder_allow_elsewhere(GpbProgramBuilder *builder);

/*
 * Let terms and items be those of the query alone, whatever the index: the program will not be
 * plain, and count(column) counts values even if the column is never NULL.  Answers by programs
 * over several indexes can be merged then.
 */
extern void gpb_builder_be_portable(GpbProgramBuilder *builder);

/*
 * Add a condition to the program's filters: entries for which it is not true are dropped before
 * whatever is added later is computed.  Returns false, with nothing added, if the program cannot
 * say it.  The condition must not be volatile, nor have a subquery.
 */
extern bool gpb_build_filter(GpbProgramBuilder *builder, Expr *condition);

/*
 * Make the program one that lists, and of which the first "limit" entries are wanted in the order
 * of an expression, which has columns.  Filters must have been added.  Returns false, with nothing
 * added, if the program cannot say it.  The expression must not be volatile, nor have a subquery.
 */
extern bool gpb_build_order(GpbProgramBuilder *builder, Expr *expression, bool descending,
							bool nulls_first, uint32 limit);

/*
 * Add a term for an aggregate of the query, its FILTER included, and fill in the item, whose column
 * is the term's number.  Equal terms are added once.  The item must stay where it is until
 * gpb_builder_end(), which may change its column.  Returns false if the program cannot say it.
 */
extern bool gpb_build_aggref(GpbProgramBuilder *builder, Aggref *aggref, GpbAggregateItem *item);

/* Add a term for the least or greatest value of an expression, as gpb_build_aggref() does. */
extern bool gpb_build_extreme(GpbProgramBuilder *builder, Expr *value, bool greatest,
							  GpbAggregateItem *item);

/* Add a term that counts the entries for which a filter is true, as gpb_build_aggref() does. */
extern bool gpb_build_count(GpbProgramBuilder *builder, Expr *filter, GpbAggregateItem *item);

/*
 * Add a group slot for an expression, whose words are of *type (gpb_words_datum() takes it), or a
 * slot for each word of a column of 16 bytes (gpb_type_words()).  Returns false if the program
 * cannot say it, or if values that are equal in GROUP BY may differ in their words (float8) and the
 * caller does not merge the groups of 0 and -0, and of NaNs with different bits.
 */
extern bool gpb_build_group(GpbProgramBuilder *builder, Expr *expression, bool merges_floats,
							GpbWordType *type);

/*
 * Add a term that has an expression's words, which are of *type, even if they are never NULL, so
 * that their count is that of the rows.  *term becomes its number.  Of values of two words the
 * term's "lower" is the slot of the second.  Returns false if the program cannot have it, or had no
 * room for it in the place of its last "instead" group slots.
 */
extern bool gpb_build_values(GpbProgramBuilder *builder, Expr *value, int instead,
							 GpbWordType *type, int *term);

/* Can a step of the program fault? */
extern bool gpb_builder_can_fault(const GpbProgramBuilder *builder);

/*
 * The price, measured, of the program's steps for so many entries on the CPU, and of its terms for
 * those that pass its filters
 */
extern Cost gpb_builder_cost(const GpbProgramBuilder *builder, double entries, double passed);

/*
 * The price of what is evaluated before the first entry and depends on the index: conditions on
 * codes, once for each value that the dictionary is expected to have
 */
extern Cost gpb_builder_begin_cost(const GpbProgramBuilder *builder);

/*
 * What was added, for the plan.  If there are neither filters nor groups, and all aggregates are
 * such over bare columns, the program is plain where that is possible: then nsteps and nterms are 0
 * and the items name columns (items.h: gpb_aggregate_wants() sets what is wanted).
 */
extern GpbProgramPlan *gpb_builder_end(GpbProgramBuilder *builder);

/* Which rule refused the query's part that was refused last, for EXPLAIN; NULL if none was. */
extern const char *gpb_builder_refusal(const GpbProgramBuilder *builder);

/*
 * Does the expression have a parameter that may be the value of a subquery?  That is evaluated when
 * it is asked for, and may raise an error that core might not come to.
 */
extern bool gpb_has_subquery_value(PlannerInfo *root, Node *expression);

/* Is it a function of constants and the clock whose errors core's planner would raise? */
extern bool gpb_is_of_moments(Node *expression);

/* ---- what travels in the plan ---- */

/* Append the program to a plan's private list.  Its constants are left to the caller. */
extern void gpb_program_put(List **private, const GpbProgramPlan *plan);

/* Read what gpb_program_put() appended; constants is the list that the caller put elsewhere. */
extern void gpb_program_get(GpbPrivateReader *reader, List *constants, GpbProgramPlan *plan);

/* ---- execution ---- */

/* The words of the long tables of a program that was bound (GpbTables) */
typedef struct GpbMoreWords
{
	MemoryContext context;
	int64	   *words;			/* NULL: none yet */
	uint32		n;
	uint32		room;
} GpbMoreWords;

/* The constants of a plan's program, ready to be evaluated */
typedef struct GpbProgramConstants
{
	Relation	index;			/* over whose entries the program is */
	int			n;
	ExprState **value;
	ExprState **equal;			/* of a condition on codes: what the value is equal to, if it is
								 * nothing but that, else NULL */
	GpbWordType type[GPB_MAX_CONSTANTS];
	Oid		   *collation;
	Bitmapset  *params;			/* of the executor, among them values of subqueries */
	GpbMoreWords *more;			/* of the program that was bound last */
	uint32		columns;		/* INCLUDE columns whose words the program reads, as bits; who
								 * makes other programs of it adds theirs */
	bool		of_rows;		/* the entries are rows, whose texts are not in the index:
								 * conditions on codes are evaluated as these come
								 * (exec/bind/row_codes.h) */
} GpbProgramConstants;

/*
 * The INCLUDE columns whose words a program reads, as bits; whether they are NULL does not count.
 */
extern uint32 gpb_program_columns(const GpbProgram *program);

/* The executor's parameters in an expression, or in a List of such */
extern Bitmapset *gpb_executor_params(Node *expression);

extern GpbProgramConstants *gpb_program_constants_init(const GpbProgramPlan *plan,
													   Relation index, PlanState *ps);

/*
 * Evaluate the constants and put them into *program, which is a copy of the plan's, and fill its
 * tables.  Returns NULL, or why the program cannot be used, as where an array is too long: then the
 * node does without the program.
 *
 * The words of long tables are the constants', and are overwritten when these are bound again: by
 * then the caller has ended, or does not ask again, what answered by the program before.
 */
extern const char *gpb_program_bind(const GpbProgramConstants *constants, ExprContext *econtext,
									GpbProgram *program);

/* Give a program the constants and tables of another, which were bound. */
extern void gpb_program_copy_bound(GpbProgram *program, const GpbProgram *bound);

#endif							/* GPB_PROGRAM_BUILD_H */
