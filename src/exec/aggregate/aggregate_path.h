/*-------------------------------------------------------------------------
 *
 * aggregate_path.h
 *	  Paths of GpubtreeAggregate.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_PATH_H
#define GPB_AGGREGATE_PATH_H

#include "postgres.h"
#include "lib/stringinfo.h"
#include "nodes/extensible.h"

#include "exec/aggregate/aggregate_match.h"

/* One way to answer the query: an index, with its conditions and aggregates */
typedef struct GpbAggregatePath
{
	CustomPath	path;
	IndexOptInfo *index;
	Cost		estimated_cost; /* what it has beside the paths of other indexes */
	bool		may_give_up;	/* the program may have no answer */
	List	   *values;			/* aggregates, group expressions and calls of GROUPING() */
	List	   *columns;		/* what the node computes: these, or the state alone */
	GpbAggregatePlan plan;
} GpbAggregatePath;

/* A path without costs for rows of this target, in the place of those of "parent" */
extern GpbAggregatePath *gpb_make_aggregate_path(RelOptInfo *parent, PathTarget *target);

/*
 * The cheapest path of the query's table by one of its indexes; NULL, with *refusals told why, if
 * none of them can answer.  Of one that returns states the node has no ordinary plan, though its
 * program may give up.
 */
extern GpbAggregatePath *gpb_cheapest_aggregate_path(const GpbAggregateQuery *query,
													 StringInfo refusals);

/* Say why no path of ours was made, if anybody wants to know. */
extern void gpb_explain_aggregate_refusal(const char *refusal);

/* Offer the path, and say what it costs if that is more than the cheapest of the others. */
extern void gpb_offer_aggregate_path(RelOptInfo *grouped_rel, GpbAggregatePath *own);

#endif							/* GPB_AGGREGATE_PATH_H */
