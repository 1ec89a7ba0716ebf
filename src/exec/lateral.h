/*-------------------------------------------------------------------------
 *
 * lateral.h
 *	  Aggregates over a range for each outer row: LATERAL subqueries, and scalar subqueries made into these.
 *	  They run on the node GpubtreeRangeAggregate (range_aggregate.h).
 *
 *	  lateral_plan.c		joins with such a subquery: which, and the paths
 *	  lateral_rewrite.c		before planning: where in a query there is a scalar subquery that may become one
 *	  lateral_sublink.c		which scalar subqueries may, and what becomes of them
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_LATERAL_H
#define GPB_LATERAL_H

#include "postgres.h"
#include "nodes/parsenodes.h"
#include "nodes/pathnodes.h"

/* Offer our paths for a join whose inner side is a LATERAL subquery; to be called from set_join_pathlist_hook. */
extern void gpb_lateral_add_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
								  RelOptInfo *innerrel, JoinType jointype,
								  JoinPathExtraData *extra);

/*
 * Make LATERAL subqueries of a query's scalar subqueries, in place, wherever that gives the same rows and each is evaluated once a
 * row in either form; to be called before the query is planned.  Queries without a subquery of our kind are left as they are.
 */
extern void gpb_lateral_rewrite(Query *query);

/* ---- between the files ---- */

/* What the FROM list of a query gets: LATERAL subqueries made of scalar ones */
typedef struct GpbLateralFrom
{
	Query	   *query;
	bool		joined;			/* rows of it may be joined away before its target list is evaluated */
	List	   *keys;			/* of each: the subquery without targets, to find its equals */
	List	   *rtis;			/* and its place in the range table */
	int			room;			/* how many more there may be */
} GpbLateralFrom;

/*
 * The expression that takes the place of a scalar subquery, over a subquery that is in the FROM list then; NULL if
 * it must stay as it is.
 */
extern Node *gpb_lateral_replace(GpbLateralFrom *from, SubLink *sublink);

/*
 * If the subquery is LATERAL and a batch of ranges can answer its aggregates, part them from the expressions over them.  The
 * entry is changed in place.
 */
extern void gpb_lateral_part(RangeTblEntry *rte);

#endif							/* GPB_LATERAL_H */
