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
	List	   *conditions;		/* "column OP expression" and "column IS [NOT] NULL" */
	List	   *arrays;			/* "column = ANY (expression)" */
	List	   *arms;			/* of ORs: for each a List of what conditions has */
	List	   *ranges;			/* RestrictInfos of conditions and arrays */
	List	   *arms_clauses;	/* the ORs, RestrictInfos, that are not among the others */
	List	   *others;			/* RestrictInfos that are still to be tested for each entry */
} GpbRangeSplit;

/*
 * Part the restrictions, RestrictInfos, but for those that are always true.  What is on a prefix of
 * the key columns makes ranges, as far as each column before has a condition by which it equals
 * single values; then arms are taken (arms.h).  What equals one of "computed", the expressions that
 * the node's scan tuple will have, stays among the others: setrefs.c would take it from there (rule
 * M13).
 */
extern void gpb_split_restrictions(PlannerInfo *root, IndexOptInfo *index, List *restrictions,
								   List *computed, GpbRangeSplit *split);

/*
 * Part the restrictions into conditions on the first ncolumns key columns, whether or not they make
 * ranges, and others.
 */
extern void gpb_split_leading(PlannerInfo *root, IndexOptInfo *index, List *restrictions,
							  int ncolumns, GpbRangeSplit *split);

/*
 * Part the restrictions into conditions on the ordered column (ordered_column.h), which this finds,
 * and on the columns before it, and others.  An array is among the others, and so is what equals
 * one of "computed".  Returns false if there is no such column.
 */
extern bool gpb_split_by_order(PlannerInfo *root, IndexOptInfo *index, List *restrictions,
							   List *computed, int *column, GpbRangeSplit *split);

/* May the ranges turn out to have entries that do not satisfy their conditions? */
extern bool gpb_split_may_be_lossy(const IndexOptInfo *index, const GpbRangeSplit *split);

/* About how many entries the ranges have; "rows" of them satisfy all restrictions. */
extern double gpb_split_entries(PlannerInfo *root, IndexOptInfo *index,
								const GpbRangeSplit *split, double rows);

#endif							/* GPB_RANGE_SPLIT_H */
