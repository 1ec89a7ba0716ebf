/*-------------------------------------------------------------------------
 *
 * join_aggregate.h
 *	  Inside the node of joins under aggregates.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_JOIN_AGGREGATE_H
#define GPB_JOIN_AGGREGATE_H

#include "exec/aggregate/aggregate_node.h"
#include "exec/join/join_node.h"

/*
 * The plan node.  custom_scan_tlist: the columns of the outer plan, the Aggrefs in the order of their items, and the
 * key's Var, which is never filled.
 * custom_exprs: the clause "key = outer expression".
 * custom_plans: the outer plan.
 * custom_private: what gpb_aggregate_private made, the type of the clause's value, the number of outer columns.
 */
extern const CustomScanMethods gpb_join_aggregate_scan_methods;

/* Offer our paths for the grouping of a join; to be called from create_upper_paths_hook. */
extern void gpb_join_aggregate_add_paths(PlannerInfo *root, RelOptInfo *input_rel,
										 RelOptInfo *grouped_rel);

/* ---- planning: may one table be joined last? ---- */

/*
 * Is the table, but for the outer join "own", which may be NULL, joined to all the others by inner joins alone?  Then it can be
 * the last to be joined, if core found a way to join the others by themselves.
 */
extern bool gpb_joined_last(PlannerInfo *root, RelOptInfo *innerrel,
							const SpecialJoinInfo *own);

/* All of a join but that table; NULL unless it can be computed by itself. */
extern RelOptInfo *gpb_find_outer_side(PlannerInfo *root, RelOptInfo *joinrel,
									   RelOptInfo *innerrel);

/* The clauses that join the two sides, as core would apply them to this join. */
extern List *gpb_join_clauses(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
							  RelOptInfo *innerrel);

#endif							/* GPB_JOIN_AGGREGATE_H */
