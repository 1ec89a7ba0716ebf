/*-------------------------------------------------------------------------
 *
 * aggregate_match.h
 *	  Which queries GpubtreeAggregate answers, and with which index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_MATCH_H
#define GPB_AGGREGATE_MATCH_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/where/column_skip.h"

/* How many groups core takes the query to have by some expressions */
typedef struct GpbGroupEstimate
{
	List	   *expressions;
	double		groups;
} GpbGroupEstimate;

/* What a query wants of a table, whatever the index */
typedef struct GpbAggregateQuery
{
	const GpbGrouping *grouping;	/* of which some follows */
	PlannerInfo *root;
	RelOptInfo *rel;
	RelOptInfo *grouped_rel;	/* which has the paths */
	PathTarget *target;			/* of these */
	List	   *groups;			/* expressions, each once; those of DISTINCT are groups too */
	List	   *aggrefs;		/* each once, without those that depend on values */
	List	   *plain_aggrefs;	/* these without DISTINCT, which makes no difference */
	List	   *value_aggrefs;	/* aggregate_values.h */
	List	   *groupings;		/* calls of GROUPING(), each once */
	GpbSetsPlan sets;			/* without phases, unless they are given */
	/* of a leaf, for a node that merges (aggregate_merge.c) */
	Expr	   *state;			/* what its states are to say, in the place of values */
	bool		portable;		/* its program is to be one whatever the index */
	bool		of_rows;		/* the program is for rows that satisfy all restrictions */
	List	   *having;
	bool		has_arrays;		/* is a restriction on the elements of an array? */
	bool		has_unknown_bounds; /* has one a parameter of the statement? */
	List	  **group_estimates;	/* GpbGroupEstimates, as far as they have been asked for */
} GpbAggregateQuery;

/* Fill in what the query wants.  Returns NULL, or why no index could answer it. */
extern const char *gpb_aggregate_match_query(const GpbGrouping *grouping,
											 GpbAggregateQuery *query);

/* How one index answers the query */
typedef struct GpbAggregateMatch
{
	IndexOptInfo *index;
	GpbAggregatePlan plan;
	List	   *value_aggrefs;	/* those of the query, in the order of the plan's items */
	GpbProgramBuilder *builder; /* NULL if the program is plain */
	List	   *others;			/* RestrictInfos that the ranges leave to the program */
	double		entries;		/* of the ranges, about */
	GpbSkip		skip;			/* the plan skips if that is cheaper */
	bool		needs_child;	/* the program may have no answer */
} GpbAggregateMatch;

/*
 * Match the whole query to one index, which is usable: every restriction must be a range of its
 * key, or an array of keys, or something that a program can test, or be implied by the index's
 * predicate (rule M10).  Returns NULL, or why the index cannot answer it.
 */
extern const char *gpb_aggregate_match_index(const GpbAggregateQuery *query, IndexOptInfo *index,
											 GpbAggregateMatch *match);

#endif							/* GPB_AGGREGATE_MATCH_H */
