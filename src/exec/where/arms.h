/*-------------------------------------------------------------------------
 *
 * arms.h
 *	  ORs and row comparisons each of whose arms makes ranges of an index's key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ARMS_H
#define GPB_ARMS_H

#include "postgres.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

#include "exec/where/range_split.h"

/*
 * Of what gpb_split_restrictions() leaves take those ORs and row comparisons of which every arm,
 * together with the conditions that are taken, makes ranges.  Of several the arms are combined; an
 * index of one key column takes the first OR alone, and none beside arrays.  What equals one of
 * "computed" is taken for no condition, nor is what has a subquery's value.
 */
extern void gpb_take_arms(PlannerInfo *root, IndexOptInfo *index, List *computed,
						  GpbRangeSplit *split);

/*
 * May evaluating the arms' values raise an error that core might not come to?  Core evaluates no
 * arm before a row satisfies all other conditions, and a value only for rows that no arm before
 * admits, and that satisfy what stands before it in its own arm.
 */
extern bool gpb_arms_may_fail(List *arms);

/* The part of the table's rows that the arms' ranges have, about */
extern Selectivity gpb_arms_selectivity(PlannerInfo *root, IndexOptInfo *index, List *arms);

/* A plan's conditions on the key as a List of clauses, the arms put together again: for EXPLAIN */
extern List *gpb_index_conditions(List *conditions, List *arrays, List *arms);

#endif							/* GPB_ARMS_H */
