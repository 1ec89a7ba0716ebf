/*-------------------------------------------------------------------------
 *
 * plan_rules.h
 *	  What the planning of every node of ours asks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PLAN_RULES_H
#define GPB_PLAN_RULES_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* ---- queries and clauses ---- */

/*
 * Is the query a SELECT, or the SELECT of an INSERT, and not below a statement that may recheck
 * rows by running plan trees again (EvalPlanQual)?
 */
extern bool gpb_query_allows_nodes(PlannerInfo *root);

/*
 * The clauses, RestrictInfos or bare ones, as bare clauses in the order in which core would test
 * them: by security level, then by cost, then as they stand.
 */
extern List *gpb_order_clauses(PlannerInfo *root, List *clauses);

/* ---- tables and indexes ---- */

/*
 * Is the relation one ordinary table of the heap access method, without children, sampling or
 * lateral references, whose rows are all in its heap?  Asked when other modules have had their say
 * about the table's paths.
 */
extern bool gpb_rel_is_plain(PlannerInfo *root, RelOptInfo *rel);

/*
 * The two halves of gpb_rel_is_plain(): what the relation's description says, and whether a table
 * is of the heap access method, which takes as long as all the rest.  Where most queries end
 * between the two, as look-ups do in scan/, they are asked apart.
 */
extern bool gpb_rel_may_be_plain(PlannerInfo *root, RelOptInfo *rel);
extern bool gpb_rel_is_heap(PlannerInfo *root, RelOptInfo *rel);

/* Is it a gpubtree index on a plain column, whose predicate, if it has one, the query implies? */
extern bool gpb_index_is_usable(IndexOptInfo *index);

/*
 * Is it a gpubtree index with several key columns, none of them an expression, whose predicate, if
 * it has one, the query implies?  Only some nodes know such indexes; those that ask for
 * gpb_index_is_usable() alone know none.
 */
extern bool gpb_index_has_several_keys(IndexOptInfo *index);

/* ---- joins ---- */

/* May there be a batched join with this inner table, in this query? */
extern bool gpb_join_is_possible(PlannerInfo *root, RelOptInfo *innerrel);

/*
 * Is the table joined to all others by inner joins alone, but for the outer join "own", which may
 * be NULL?  Then it can be the last to be joined, if core found a way to join the others by
 * themselves.
 */
extern bool gpb_joined_last(PlannerInfo *root, RelOptInfo *innerrel, const SpecialJoinInfo *own);

/* All of the join but the inner table; NULL unless core can compute that by itself. */
extern RelOptInfo *gpb_find_outer_side(PlannerInfo *root, RelOptInfo *joinrel,
									   RelOptInfo *innerrel);

/* The clauses, RestrictInfos, that join the two sides, as core would apply them to this join */
extern List *gpb_join_clauses(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
							  RelOptInfo *innerrel);

#endif							/* GPB_PLAN_RULES_H */
