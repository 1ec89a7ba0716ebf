/*-------------------------------------------------------------------------
 *
 * key_arms.h
 *	  An OR each of whose arms has a range of the key.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_KEY_ARMS_H
#define GPB_KEY_ARMS_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/*
 * Is the clause an OR of which every arm has conditions on the index's key?  Returns a List of
 * these for each arm; *exact says whether the arms have nothing else.  NIL if it is no such OR.
 * What equals one of "computed" is taken for no condition, nor is what has a subquery's value.
 */
extern List *gpb_match_arms(PlannerInfo *root, Expr *clause, IndexOptInfo *index, List *computed,
							bool *exact);

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

#endif							/* GPB_KEY_ARMS_H */
