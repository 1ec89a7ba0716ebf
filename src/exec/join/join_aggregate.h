/*-------------------------------------------------------------------------
 *
 * join_aggregate.h
 *	  Planning of joins under aggregates, which run as GpubtreeJoinAggregate, a form of range
 *	  aggregates (range_aggregate.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_JOIN_AGGREGATE_H
#define GPB_JOIN_AGGREGATE_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* Offer our paths for the grouping of a join; to be called from create_upper_paths_hook. */
extern void gpb_join_aggregate_add_paths(PlannerInfo *root, RelOptInfo *input_rel,
										 RelOptInfo *grouped_rel);

#endif							/* GPB_JOIN_AGGREGATE_H */
