/*-------------------------------------------------------------------------
 *
 * row_program.h
 *	  What is done with the entries in each row's range, where that takes a program (program.h):
 *	  conditions on other columns than the key, and aggregates that are not of a bare column.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ROW_PROGRAM_H
#define GPB_ROW_PROGRAM_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/compile/items.h"
#include "exec/compile/program_build.h"

/*
 * The program of a plan node.  Its constants travel in custom_exprs, all else in custom_private.
 * What EXPLAIN shows travels as text: the plan node may have no Vars of the table.
 */
typedef struct GpbRowProgram
{
	bool		present;		/* else the items are over bare columns, and of all entries */
	bool		may_give_up;	/* the program may have no answer, so the plan has another way */
	GpbProgramPlan plan;
	const char *filter;			/* the conditions that it tests, or NULL */
	List	   *item_texts;		/* a String for each item */
	List	   *functions;		/* OIDs of all functions in conditions and aggregates */

	/* while the query is planned */
	bool		is_uncertain;	/* as in GpbEntriesMatch */
	List	   *filters;		/* the conditions, bare, in the order in which they are tested */
	List	   *aggrefs;		/* of the items */
	Cost		entry_cost;		/* the price of an entry on the CPU */
	Cost		begin_cost;		/* gpb_builder_begin_cost() */
} GpbRowProgram;

/*
 * Fill in the items, palloc'd, for the aggregates over the entries for which the filters,
 * RestrictInfos of the index's table, are true; and the program, if that takes one.  Returns NULL,
 * or why the index cannot answer it.
 */
extern const char *gpb_match_row_program(PlannerInfo *root, IndexOptInfo *index, List *filters,
										 List *aggrefs, GpbRowProgram *program,
										 GpbAggregateItem **items);

/*
 * Is there an answer whatever the data and, unless there is no program, whichever row of the outer
 * side is at hand: can no step fault, and are all constants known when the query is planned?
 */
extern bool gpb_row_program_is_certain(const GpbRowProgram *program);

/* Has it values that are ranks of texts, whose order is that of one index's dictionary? */
extern bool gpb_row_program_has_ranks(const GpbRowProgram *program);

/* Append the program to a plan's private list; alias is the table's. */
extern void gpb_put_row_program(List **private, const GpbRowProgram *program, Oid index,
								const char *alias);

/* Get what gpb_put_row_program() appended; the caller sets plan.constants. */
extern void gpb_get_row_program(GpbPrivateReader *reader, GpbRowProgram *program);

/* Raise an error unless the current user may execute the program's functions. */
extern void gpb_require_row_program(const GpbRowProgram *program);

#endif							/* GPB_ROW_PROGRAM_H */
