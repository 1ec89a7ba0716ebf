/*-------------------------------------------------------------------------
 *
 * range_aggregate.h
 *	  Inside the node GpubtreeRangeAggregate: aggregates of one table's entries for each outer row, or each
 *	  group of outer rows, answered as batches of ranges.
 *
 *	  range_aggregate.c			the plan node, and what all ways to plan it share
 *	  range_aggregate_plan.c	joins that are grouped by the outer side: which, and the paths
 *	  range_aggregate_exec.c	the executor node
 *	  range_aggregate_explain.c	EXPLAIN
 *	  range_conditions.c		from an outer row's values to its range
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANGE_AGGREGATE_H
#define GPB_RANGE_AGGREGATE_H

#include "exec/aggregate/aggregate_node.h"
#include "exec/join/join_node.h"
#include "exec/common/range_conditions.h"
#include "engine/range_totals.h"

/* ---- settings (exec.c) ---- */

extern bool gpb_enable_rangeaggregate;	/* gpubtree.enable_rangeaggregate */

/* ---- the plan node ---- */

/*
 * What the node promises.  For each outer row there is a range: the entries of the index that
 * satisfy "key OP value" for all conditions, none if a value is NULL.  Without group columns each
 * outer row makes a group; with them the outer rows come sorted by these, and those that are next
 * to each other and equal in all of them (NULLs being equal) make a group.  Each group comes out
 * once, in the outer order: the values of its first outer row, and the aggregates over the entries
 * that the snapshot sees in its rows' ranges, counted once for each row.
 *
 * custom_plans: the outer plan; any others are never run, they only bring their part of the range
 * table with them into the statement, and so its locks and permissions. custom_scan_tlist: the
 * columns of the outer plan in its order, then an expression for each item, which the target list
 * above refers to: an Aggref, or a Var of the subquery that the node stands for; then a Var of that
 * subquery for each of its columns that is computed from items and outer columns.  An item that is
 * no column of the subquery has a Var with a number beyond its columns, which only such
 * computations refer to. custom_exprs: the value of each condition, over the outer columns; then
 * the computed columns, over those and items; then the subquery's HAVING, over the same, which is
 * tested before columns are computed. custom_private: as gpb_range_aggregate_private makes it.
 * plan.qual is tested on what comes out.
 *
 * The table must be in the statement's range table, for it is opened without a lock.
 */
typedef struct GpbRangeAggregatePlan
{
	Oid			index;
	const char *alias;			/* of the table, for EXPLAIN; NULL: the table's name */
	int			nouter;			/* columns of the outer plan */
	int			nitems;
	GpbAggregateItem *items;
	int			ncomputed;		/* columns of the subquery that are computed from items */
	int			nhaving;		/* the subquery's HAVING: conditions on items */
	int			nconditions;	/* at least one */
	GpbRangeCondition *conditions;
	int			ngroup;			/* 0: each outer row is a group */
	AttrNumber *group;			/* their places among the outer columns, from 1 on */
	Oid		   *group_operator; /* equality of each */
	Oid		   *group_collation;
	bool		keep_empty;		/* groups without an entry come out too */
	int			empty_count;	/* what an outer row without an entry adds to count(*): 0, or 1 for the row with NULLs of a
								 * left join, which needs keep_empty */
} GpbRangeAggregatePlan;

extern List *gpb_range_aggregate_private(const GpbRangeAggregatePlan *plan);
/* The inverse; arrays are palloc'd. */
extern void gpb_range_aggregate_read_private(List *private, GpbRangeAggregatePlan *plan);

extern const CustomScanMethods gpb_range_aggregate_scan_methods;

/*
 * Make the plan node; plan->nouter is filled in.  results: expressions for the items, then for the
 * computed columns; exprs: as custom_exprs; unrun: plans that are never run.
 */
extern Plan *gpb_make_range_aggregate(CustomPath *path, List *tlist, List *qual, Plan *outer,
									  List *unrun, List *results, List *exprs,
									  GpbRangeAggregatePlan *plan);

/* ---- planning: what all forms share (range_aggregate.c) ---- */

/*
 * The clause as "key OP value", commuted if need be: fills in *condition, and *value, which may
 * have any Vars but the index's table's, Params, and nothing volatile and no subplan.  false if the
 * index cannot answer it.
 */
extern bool gpb_match_range_condition(PlannerInfo *root, IndexOptInfo *index, Expr *clause,
									  GpbRangeCondition *condition, Expr **value);

/*
 * Price of the node over an outer path, whose rows each have so many entries in their range on
 * average; rows come out.
 */
extern void gpb_range_aggregate_cost(PlannerInfo *root, IndexOptInfo *index, Path *outer,
									 const GpbAggregateItem *items, int nitems,
									 double entries, double rows, PathTarget *target,
									 Cost *startup_cost, Cost *total_cost);


/* ---- planning of joins that are grouped by the outer side (range_aggregate_plan.c) ---- */

/* Offer our paths for the grouping of a join; to be called from create_upper_paths_hook. */
extern void gpb_range_aggregate_add_paths(PlannerInfo *root, RelOptInfo *input_rel,
										  RelOptInfo *grouped_rel);

/* ---- the executor node ---- */

typedef struct GpbRangeAggregateScan
{
	CustomScanState css;
	GpbRangeAggregatePlan plan;
	PlanState  *outer;
	Relation	heap;			/* NULL under EXPLAIN without ANALYZE, as is the index */
	Relation	index;
	MemoryContext context;		/* the node's */
	GpbRangeValues *values;
	GpbRangeTotals *totals;		/* NULL until the first batch */
	ExprState **computed;
	ExprState  *having;

	/* a batch of outer rows, and the ranges of those that have one, in the rows' order */
	GpbOuterRows *rows;
	bool		outer_done;		/* the outer plan has no more */
	uint32		limit;			/* rows of the next batch at most */
	uint32		capacity;		/* rows there is room for in these */
	uint32	   *row_range;		/* number of each row's range, or GPB_NO_RANGE */
	bool	   *starts_group;	/* of each row; unused without group columns */
	char	   *ranges;			/* input of the batch */
	uint32		nranges;
	uint32		next;			/* first row that is in no group yet */

	/* groups */
	ExprState  *same_group;		/* NULL without group columns */
	TupleTableSlot *first;		/* first outer row of the group that was read last */
	TupleTableSlot *kept;		/* first row of the open group, when its batch has gone */
	bool		group_open;		/* the scan tuple has the first row of a group, state what was added to it */
	GpbAggregateState state;
} GpbRangeAggregateScan;

#define GPB_NO_RANGE	PG_UINT32_MAX

extern void gpb_range_aggregate_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif							/* GPB_RANGE_AGGREGATE_H */
