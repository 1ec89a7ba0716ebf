/*-------------------------------------------------------------------------
 *
 * range_split.h
 *	  A table's restrictions, parted into ranges of an index's key and others.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANGE_SPLIT_H
#define GPB_RANGE_SPLIT_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* What becomes of the restrictions for one index */
typedef struct GpbRangeSplit
{
	List	   *conditions;		/* "key OP expression" and "key IS [NOT] NULL" */
	List	   *arrays;			/* "key = ANY (expression)" */
	List	   *arms;			/* of an OR: for each a List of what conditions has */
	List	   *ranges;			/* RestrictInfos of conditions and arrays */
	List	   *arms_clauses;	/* the ORs, RestrictInfos, that are not among the others */
	List	   *others;			/* RestrictInfos that are still to be tested for each entry */
} GpbRangeSplit;

/*
 * Part the restrictions, RestrictInfos, but for those that are always true.  The first that is an
 * OR of ranges is the arms, unless there are arrays of keys.  What equals one of "computed", the
 * expressions that the node's scan tuple will have, stays among the others: setrefs.c would take it
 * from there (rule M13).
 */
extern void gpb_split_restrictions(PlannerInfo *root, IndexOptInfo *index, List *restrictions,
								   List *computed, GpbRangeSplit *split);

/* May the ranges turn out to have entries that do not satisfy their conditions? */
extern bool gpb_split_may_be_lossy(const GpbRangeSplit *split);

/* About how many entries the ranges have; "rows" of them satisfy all restrictions. */
extern double gpb_split_entries(PlannerInfo *root, IndexOptInfo *index,
								const GpbRangeSplit *split, double rows);

#endif							/* GPB_RANGE_SPLIT_H */
