/*-------------------------------------------------------------------------
 *
 * lateral.h
 *	  LATERAL subqueries that aggregate a range of an index for each outer row.  They run on the
 *	  node GpubtreeRangeAggregate (range_aggregate.h).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LATERAL_H
#define GPB_LATERAL_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/*
 * Offer our paths for a join whose inner side is a LATERAL subquery; to be called from
 * set_join_pathlist_hook.
 */
extern void gpb_lateral_add_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
								  RelOptInfo *innerrel, JoinType jointype,
								  JoinPathExtraData *extra);

#endif							/* GPB_LATERAL_H */
