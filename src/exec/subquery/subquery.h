/*-------------------------------------------------------------------------
 *
 * subquery.h
 *	  Inside the node GpubtreeSubquery; what the node does is in README.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SUBQUERY_H
#define GPB_SUBQUERY_H

#include "exec/answer/ask.h"
#include "exec/answer/outer_batch.h"
#include "exec/answer/partitions.h"
#include "exec/shell/node_shell.h"
#include "exec/where/range_conditions.h"
#include "exec/where/subquery_match.h"

/* ---- planning of scalar subqueries ---- */

/* A subquery that was planned, of which it is not known yet who evaluates it */
typedef struct GpbSubqueryCandidate
{
	PlannerInfo *subroot;
	List	   *aggrefs;
	Node	   *target;			/* the subquery's one column, over Aggrefs and Params */
	List	   *matches;		/* GpbSubqueryMatch, for each index that can answer the subquery */
} GpbSubqueryCandidate;

/*
 * Begin to remember candidates, while a statement is planned.  Returns what gpb_subqueries_end()
 * must be given, in an error too.  Calls nest.
 */
extern List *gpb_subqueries_begin(void);

/* End what gpb_subqueries_begin() began; returns the candidates. */
extern List *gpb_subqueries_end(List *outer);

/*
 * Remember the query, if it is a subquery that an index can answer; to be called from
 * create_upper_paths_hook.
 */
extern void gpb_subqueries_consider(PlannerInfo *root);

/*
 * Put nodes of ours into a finished plan, wherever it evaluates one of the candidates for each row
 * and a batch is the cheaper way.  cursor_options are the planner's.
 */
extern void gpb_subqueries_place(PlannedStmt *statement, List *candidates, int cursor_options);

/* ---- the plan node ---- */

/*
 * The fields of the plan node.  Its child is lefttree.  The columns of its scan tuple are: the
 * child's; the items of the ranges, range by range; the results of the subqueries.  For EXPLAIN,
 * custom_scan_tlist has typed NULLs for the items, which nothing shows, and the SubPlans for the
 * results.  plan.qual is over the scan tuple.
 *
 * A subquery's result is what its target makes of the items or, where there is no batch, of its
 * SubPlan.
 */
typedef struct GpbSubqueryPlan
{
	bool		may_fail;		/* may an error be raised by reading a row ahead, or by finding its
								 * ranges? */
	bool		on_top;			/* does each row that the statement returns take at least one row of
								 * the node? */
	int			ncolumns;		/* of the child */
	int			nranges;		/* distinct ranges of each row */
	GpbRowRange *ranges;
	GpbPartitionList *partitions;	/* of each range; empty if it is of one table */
	List	  **values;			/* of each range: one for each of its conditions */
	int			nresults;
	int		   *result_range;	/* the range of each result */
	List	   *targets;		/* of each result, over items */
	List	   *subplans;		/* of each result */

	bool		bounded;		/* does the node read no more than the Limit above says? */
	Node	   *bound_offset;	/* the Limit's, either may be NULL */
	Node	   *bound_count;
} GpbSubqueryPlan;

/* Put the fields into the plan node. */
extern void gpb_subquery_put(const GpbSubqueryPlan *plan, CustomScan *scan);

/* Get the fields of the plan node; arrays are palloc'd. */
extern void gpb_subquery_get(const CustomScan *scan, GpbSubqueryPlan *plan);

extern const GpbNodeKind gpb_subquery_node;

/* ---- the executor node ---- */

/* A range at run time; its number is that among the ranges of outer rows */
typedef struct GpbSubqueryRangeState
{
	Relation	heap;
	Relation	index;			/* of one of the partitions, if there are several */
	GpbPartitions *partitions;	/* NULL: one table */
	GpbAsk	   *ask;
	int			first_item;		/* place of its items in the scan tuple */
} GpbSubqueryRangeState;

typedef struct GpbSubqueryScan
{
	GpbNode		node;			/* its relations are not used; gave_up: a program has no answer, and
								 * SubPlans go on for good */
	GpbSubqueryPlan plan;
	GpbSubqueryRangeState *ranges;
	ExprState **targets;		/* of each result */
	int		   *target_item;	/* place in the scan tuple of the item that the result is, or -1 */
	ExprState **subplans;
	ExprState  *bound_offset;	/* either may be NULL */
	ExprState  *bound_count;
	int64		bound;			/* rows that are still to be read, if bounded; known once "begun" */
	bool		begun;			/* since the last rescan */
	bool		programs_bound;

	Bitmapset  *wanted;			/* columns of the child that anything refers to, from 1 on */
	GpbOuter	outer;
	bool		answered;		/* the batch, by the engine; else by the SubPlans */
} GpbSubqueryScan;

extern void gpb_subquery_explain(CustomScanState *css, List *ancestors, ExplainState *es);

/* ---- how much the client reads (subquery_run.c) ---- */

/* Load time: watch how many rows each run of the executor is to return. */
extern void gpb_subquery_run_init(void);

/*
 * How many more rows the executor's current run is to return of the statement whose state this is;
 * PG_UINT64_MAX if all.
 */
extern uint64 gpb_rows_wanted(EState *estate);

#endif							/* GPB_SUBQUERY_H */
