/*-------------------------------------------------------------------------
 *
 * aggregate_sets.h
 *	  The grouping sets of a query, and the phases of a program that answer them.
 *
 * A phase has groups by some of the query's group expressions: by all that occur in its sets.  The
 * groups of a set are made of those of its phase, by merging the answers of all that agree in the
 * set's expressions.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_SETS_H
#define GPB_AGGREGATE_SETS_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/shell/node_private.h"

/* Grouping sets; a query that has none of its own has one, with all its group expressions. */
typedef struct GpbSetsPlan
{
	int			n;
	uint32	   *set;			/* bit i: the set has group expression number i */
	int		   *phase;			/* the number of each set's phase */
	int			nphases;
	uint32	   *phases;			/* of each phase: the union of its sets */
	int			ngroupings;		/* calls of GROUPING() */
	int		   *grouping;		/* for each of them its value in each of the n sets */
} GpbSetsPlan;

/* Is the bit of group expression i set? */
static inline bool
gpb_set_has(uint32 set, int i)
{
	return (set >> i & 1) != 0;
}

/* ---- planning ---- */

/*
 * Fill in the sets, without phases.  groups are the query's group expressions, one for each of the
 * SortGroupClauses "clauses"; groupings the calls of GROUPING().  Returns NULL, or why the sets are
 * none of ours.
 */
extern const char *gpb_sets_match(PlannerInfo *root, List *clauses, List *groups, List *groupings,
								  GpbSetsPlan *plan);

/* One phase for all sets */
extern void gpb_sets_in_one_phase(GpbSetsPlan *plan);

/*
 * A phase for each set that is not within another; a set that is within several goes with the
 * first.
 */
extern void gpb_sets_in_phases(GpbSetsPlan *plan);

/* Append the fields to a plan's private list. */
extern void gpb_sets_put(List **private, const GpbSetsPlan *plan);

/* Read what gpb_sets_put() appended. */
extern void gpb_sets_get(GpbPrivateReader *reader, GpbSetsPlan *plan);

#endif							/* GPB_AGGREGATE_SETS_H */
