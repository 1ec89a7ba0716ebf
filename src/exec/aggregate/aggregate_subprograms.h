/*-------------------------------------------------------------------------
 *
 * aggregate_subprograms.h
 *	  The programs of one plan node.
 *
 * A plan has one program, with all that the query needs of an entry.  Where that has several phases
 * (aggregate_sets.h), or aggregates that depend on the values of several expressions, each phase
 * does a subprogram of it for each of the expressions: groups by the phase's expressions and by
 * that one.  Ordinary aggregates belong to the phase's first subprogram.
 *
 * All subprograms see the same entries.  So those of one phase have the same groups of the query.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_SUBPROGRAMS_H
#define GPB_AGGREGATE_SUBPROGRAMS_H

#include "postgres.h"

#include "exec/aggregate/aggregate_sets.h"
#include "exec/aggregate/aggregate_values.h"
#include "exec/answer/merge_groups.h"
#include "exec/compile/items.h"
#include "exec/compile/program_build.h"

typedef struct GpbSubprogram
{
	GpbProgram	program;		/* without constants */
	int			ngroups;		/* group slots of the program that are of the query, the first */
	int			group[GPB_MAX_GROUP_SLOTS]; /* of each the number of its expression among the
											 * query's; those of two words have two slots */
	uint32		floats;			/* bit i: group slot i is a float8 */
	int			nitems;
	GpbAggregateItem *items;	/* ordinary aggregates, over the subprogram's terms; of a plain
								 * program over columns */
	bool		has_values;
	GpbValuesPlan values;		/* over the subprogram's terms */

	/* the executor's */
	GpbValuesScan *scan;		/* NULL unless it has values */
	GpbAsk	   *ask;
	GpbGroupList groups;		/* of the set at hand */
	uint64		next;			/* where gpb_group_list_next() or gpb_values_next() goes on */
} GpbSubprogram;

/*
 * Make the subprogram of a plan's phase, whose group expressions are the bits of "phase", for
 * values number "values" if there are any.  Memory is of the current context.
 */
struct GpbAggregatePlan;		/* aggregate_node.h */
extern void gpb_subprogram_make(const struct GpbAggregatePlan *plan, uint32 phase, int values,
								GpbSubprogram *sub);

/*
 * The bits of those group slots of the subprogram that a set of its phase has, and that of its
 * values
 */
extern uint32 gpb_subprogram_slots(const GpbSubprogram *sub, uint32 set);

#endif							/* GPB_AGGREGATE_SUBPROGRAMS_H */
