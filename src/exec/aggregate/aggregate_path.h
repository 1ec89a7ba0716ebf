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
#include "exec/shell/sibling.h"

/* One way to answer the query: an index, with its conditions and aggregates */
typedef struct GpbAggregatePath
{
	CustomPath	path;
	IndexOptInfo *index;
	Cost		estimated_cost; /* what it has beside the paths of other indexes */
	double		entries;		/* of the ranges, about */
	Cost		row_cost;		/* of rows: what the program takes for each */
	bool		may_give_up;	/* the program may have no answer */
	List	   *values;			/* aggregates, group expressions and calls of GROUPING() */
	List	   *columns;		/* what the node computes: these, or the state alone */
	GpbAggregatePlan plan;
	uint32		codes;			/* of a model: bits of INCLUDE columns whose codes it reads */
	GpbAlikePlans plans;		/* of a model: of others (gpb_alike_aggregate_path()) */
} GpbAggregatePath;

/* ---- a path (aggregate_path.c, aggregate_plan.c) ---- */

/* May an error come of what the node evaluates before it reads anything? */
extern bool gpb_constants_may_fail(const GpbAggregatePlan *plan);

/* A path without costs for rows of this target, in the place of those of "parent" */
extern GpbAggregatePath *gpb_make_aggregate_path(RelOptInfo *parent, PathTarget *target);

/*
 * The cheapest path of the query's table by one of its indexes; NULL, with *refusals told why, if
 * none of them can answer; *by_price, unless that is NULL, whether one could but for its price.
 * Of one that returns states the node has no ordinary plan, though its program may give up.
 */
extern GpbAggregatePath *gpb_cheapest_aggregate_path(const GpbAggregateQuery *query,
													 StringInfo refusals, bool *by_price);

/*
 * A path without costs for rows of the query's table, which a child is to return, by a program over
 * the index, which may be another table's.  NULL, with *refusal set, if that cannot be said.
 */
extern GpbAggregatePath *gpb_rows_aggregate_path(const GpbAggregateQuery *query,
												 IndexOptInfo *index, const char **refusal);

/* ---- states (aggregate_merge.c) ---- */

/*
 * Change what a query wants of a table to states, which are what the expression says, of this
 * target.  gpb_cheapest_aggregate_path() returns a path of them then.
 */
extern void gpb_want_states(GpbAggregateQuery *query, Expr *state, PathTarget *target);

/* Have the states of two plans the same format, and the same meaning? */
extern bool gpb_states_agree(const GpbAggregatePlan *a, const GpbAggregatePlan *b);

/*
 * Have a plan, which is a copy of that of the sibling's leaf, show the expressions of its values as
 * those of the other relation.
 */
extern void gpb_translate_values(const GpbSibling *sibling, GpbAggregatePlan *plan);

/*
 * The path of a node that answers the query by the states that the path "states" returns, shards'
 * rows among them unless "shards" is NULL; these agree with those of "first", a path of the query's
 * table or of one of its leaves.  If one of them
 * may have no answer the node has the query's ordinary plan beside it; returns NULL, with *refusal
 * set, if there is none.
 */
extern GpbAggregatePath *gpb_merging_aggregate_path(const GpbAggregateQuery *query,
													const GpbAggregatePath *first,
													Path *states, GpbShards *shards,
													bool may_give_up, const char **refusal);

/* ---- workers (aggregate_gather.c) ---- */

/*
 * Offer a path by which workers answer the query together with the leader, if that may pay; serial
 * is the path of one process, whose price is lowered where that needs few leaves.
 */
extern void gpb_aggregate_add_gather_path(const GpbAggregateQuery *query,
										  GpbAggregatePath *serial);

/*
 * Likewise for the query of a parent, by the n paths of its leaves, which return states that agree
 * with those of "first", and of which "append" is that of one process.  may_give_up: one of them
 * may have no answer.
 */
extern void gpb_aggregate_gather_leaves(const GpbAggregateQuery *query,
										const GpbAggregatePath *first, CustomPath **leaves, int n,
										const Path *append, bool may_give_up);

/* ---- what comes of it ---- */

/*
 * A path without costs of states of the sibling's other leaf, whose index this is: what the model,
 * a path of states of the sibling's leaf, does there, it is to do here.  Restrictions and indexes
 * of both must have been found to be the same.
 */
extern CustomPath *gpb_alike_aggregate_path(GpbAggregatePath *model, const GpbSibling *sibling,
											const IndexOptInfo *index);

/* The path that says what the path of a leaf does: that itself, or the one that it is alike */
extern const GpbAggregatePath *gpb_aggregate_model(const CustomPath *leaf);

/* A copy of the path of a leaf */
extern CustomPath *gpb_copy_aggregate_path(const CustomPath *leaf);

/* Say why no path of ours was made, if anybody wants to know. */
extern void gpb_explain_aggregate_refusal(const char *refusal);

/* Offer the path, and say what it costs if that is more than the cheapest of the others. */
extern void gpb_offer_aggregate_path(RelOptInfo *grouped_rel, GpbAggregatePath *own);

#endif							/* GPB_AGGREGATE_PATH_H */
