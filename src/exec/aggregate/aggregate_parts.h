/*-------------------------------------------------------------------------
 *
 * aggregate_parts.h
 *	  The programs of one plan node.
 *
 * A plan has one program, with all that the query needs of an entry.  Where that has several runs
 * (aggregate_sets.h), or aggregates that depend on the values of several expressions, each run does
 * a part of it for each of the expressions: groups by the run's expressions and by that one.
 * Ordinary aggregates belong to the run's first part.
 *
 * All parts see the same entries.  So those of one run have the same groups of the query.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_PARTS_H
#define GPB_AGGREGATE_PARTS_H

#include "postgres.h"

#include "exec/aggregate/aggregate_regroup.h"
#include "exec/aggregate/aggregate_sets.h"
#include "exec/aggregate/aggregate_values.h"
#include "exec/common/items.h"
#include "exec/common/program_build.h"

/* What a plan has, of which a part is made */
typedef struct GpbWhole
{
	const GpbProgram *program;	/* group slots: the query's and, if there are values, one of the
								 * first of these */
	int			ngroups;		/* expressions of the query */
	const Oid  *group_types;
	int			nitems;
	const GpbAggregateItem *items;	/* ordinary aggregates */
	int			nvalues;
	const GpbValuesPlan *values;
} GpbWhole;

typedef struct GpbPart
{
	GpbProgram	program;		/* constants are set by the caller */
	int			ngroups;		/* group slots of the program that are of the query, the first */
	int			group[GPB_MAX_GROUP_SLOTS]; /* of each the number of its expression among the
											 * query's; those of two words have two slots */
	uint32		floats;			/* bit i: group slot i is a float8 */
	int			nitems;
	GpbAggregateItem *items;	/* ordinary aggregates, over the part's terms; of a plain program
								 * over columns */
	bool		has_values;
	GpbValuesPlan values;		/* over the part's terms */

	/* the executor's */
	GpbValuesScan *scan;		/* NULL unless it has values */
	GpbRangeTotals *totals;		/* NULL until first needed, and after the node gave up */
	bool		wide_sums;		/* narrow ones did not hold a value in an execution before */
	GpbGroupList groups;		/* of the set at hand */
	uint64		next;			/* where gpb_group_list_next() or gpb_values_next() goes on */
} GpbPart;

/*
 * Make the part of a run, whose group expressions are the bits of "run", for values number "values"
 * if there are any.  Memory is of the current context.
 */
extern void gpb_part_make(const GpbWhole *whole, uint32 run, int values, GpbPart *part);

/* The bits of those group slots of the part that a set of its run has, and that of its values */
extern uint32 gpb_part_slots(const GpbPart *part, uint32 set);

#endif							/* GPB_AGGREGATE_PARTS_H */
