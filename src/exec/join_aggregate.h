/*-------------------------------------------------------------------------
 *
 * join_aggregate.h
 *	  Inside the node of joins under aggregates.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_JOIN_AGGREGATE_H
#define GPB_JOIN_AGGREGATE_H

#include "aggregate_node.h"
#include "join_node.h"

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

#endif							/* GPB_JOIN_AGGREGATE_H */
