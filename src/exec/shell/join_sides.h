/*-------------------------------------------------------------------------
 *
 * join_sides.h
 *	  Joins whose last step is one table: may there be a node of ours, and what it joins.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_JOIN_SIDES_H
#define GPB_JOIN_SIDES_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/*
 * The table that a batched join with this inner relation asks, which is that or the only leaf that
 * planning has left of it; NULL if there may be none in this query.
 */
extern RelOptInfo *gpb_join_table(PlannerInfo *root, RelOptInfo *innerrel);

/*
 * The leaves, several, that planning has left of the inner relation, all of which a batched join
 * has to ask; NIL if it has not left several, or if there may be no such join in this query.
 */
extern List *gpb_join_leaves(PlannerInfo *root, RelOptInfo *innerrel);

/*
 * Is the table joined to all others by inner joins alone, but for the outer join "own", which may
 * be NULL?  Then it can be the last to be joined, if core found a way to join the others by
 * themselves.
 */
extern bool gpb_joined_last(PlannerInfo *root, RelOptInfo *innerrel, const SpecialJoinInfo *own);

/* All of the join but the inner table; NULL unless core can compute that by itself. */
extern RelOptInfo *gpb_find_outer_side(PlannerInfo *root, RelOptInfo *joinrel,
									   RelOptInfo *innerrel);

/*
 * The clauses, RestrictInfos, that join the two sides, as core would apply them to this join: those
 * too that an outer join, "own" if it is one, lets be evaluated.
 */
extern List *gpb_join_clauses(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
							  RelOptInfo *innerrel, SpecialJoinInfo *own);

#endif							/* GPB_JOIN_SIDES_H */
