/*-------------------------------------------------------------------------
 *
 * subquery.h
 *	  Subqueries that are one row of aggregates over a range of an index for each outer row.
 *
 *	  subquery_match.c		which subqueries an index can answer; LATERAL ones use it too (lateral_plan.c)
 *	  subquery_plan.c		the planner's hooks: what is remembered while a statement is planned
 *	  subquery_place.c		where the finished plan evaluates such scalar subqueries: nodes go above
 *	  subquery_choose.c		which of them batches answer
 *	  subquery_make.c		the node, and what becomes of expressions
 *	  subquery_tree.c		what the finished plan's nodes read of their children
 *	  subquery_node.c		what travels in the plan node
 *	  subquery_exec.c		the executor node
 *	  subquery_run.c		how many rows the client reads of a statement
 *	  subquery_explain.c	EXPLAIN
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SUBQUERY_H
#define GPB_SUBQUERY_H

#include "exec/aggregate/aggregate_node.h"
#include "exec/join/join_node.h"
#include "exec/range/range_aggregate.h"

/* ---- settings (exec.c) ---- */

extern bool gpb_enable_subquery;	/* gpubtree.enable_subquery */

/* ---- matching (subquery_match.c) ---- */

/* One way to answer a subquery: an index, its conditions and its aggregates */
typedef struct GpbSubqueryMatch
{
	IndexOptInfo *index;
	char	   *alias;			/* of the table */
	double		entries;		/* in the range of one outer row */
	List	   *values;			/* what the key is compared with, over Params */
	int			nconditions;
	GpbRangeCondition *conditions;
	int			nitems;
	GpbAggregateItem *items;
} GpbSubqueryMatch;

/*
 * The table of a subquery that is one row of aggregates over it, but for HAVING; NULL if it is
 * anything else.  To be called when the subquery's paths are made, or later.
 */
extern RelOptInfo *gpb_subquery_table(PlannerInfo *subroot);

/*
 * Collect the distinct Aggrefs of an expression of the subquery's target list in *aggrefs, which
 * may have some already; false if it needs anything of the table beside these, or must not be
 * computed outside the subquery.
 */
extern bool gpb_subquery_aggrefs(Node *expression, List **aggrefs);

/* Fill in the match for an index of the subquery's table; false if the index cannot answer it. */
extern bool gpb_match_subquery(PlannerInfo *subroot, IndexOptInfo *index, List *aggrefs,
							   GpbSubqueryMatch *match);

/* ---- planning of scalar subqueries ---- */

/* A subquery that was planned, of which it is not known yet who evaluates it */
typedef struct GpbSubqueryCandidate
{
	PlannerInfo *subroot;
	List	   *aggrefs;
	Node	   *target;			/* the subquery's one column, over Aggrefs and Params */
	List	   *matches;		/* GpbSubqueryMatch, one for each index that can answer it */
} GpbSubqueryCandidate;

/*
 * Bracket the planning of a statement: remember the candidates met until the end.  Calls nest.
 * Begin returns what end must be given, in an error too.
 */
extern List *gpb_subqueries_begin(void);
extern List *gpb_subqueries_end(List *outer);	/* returns the candidates */
/* Remember the query, if it is such a subquery; to be called from create_upper_paths_hook. */
extern void gpb_subqueries_consider(PlannerInfo *root);

/*
 * Put nodes of ours into a finished plan, wherever it evaluates one of the candidates for each row
 * and a batch is the cheaper way.  cursor_options are the planner's.
 */
extern void gpb_subqueries_place(PlannedStmt *statement, List *candidates, int cursor_options);

/* ---- what plan nodes read (subquery_tree.c) ---- */

/* How many of a node's rows will be read */
typedef enum GpbReading
{
	GPB_READ_ALL,				/* to the end, unless the client stops */
	GPB_READ_BOUNDED,			/* as many as the Limit above says */
	GPB_READ_MOST,				/* probably to the end */
	GPB_READ_SOME				/* it is not known when the reader stops */
} GpbReading;

/* A child of a plan node: where it hangs, and what the node reads of it */
typedef struct GpbPlanChild
{
	Plan	  **plan;
	GpbReading	reading;
} GpbPlanChild;

/*
 * The children of a node whose own rows are read so, as a List of GpbPlanChild.  Those below Gather
 * are left out: they run in workers.
 */
extern List *gpb_plan_children(Plan *plan, GpbReading reading);

/*
 * Does the node, or a plan below it or behind its SubPlans, evaluate an expression for its rows
 * that passes the test?  Of the node's own target list only the leaves count, which it hands up.
 * What is not known passes.
 */
extern bool gpb_plan_evaluates(PlannedStmt *statement, Plan *plan, List *leaves,
							   bool (*test) (Node *));

/* Might evaluating the expression raise an error?  A test for gpb_plan_evaluates(), too. */
extern bool gpb_may_fail(Node *expression);

/*
 * Does the plan of a subquery that aggregates a range evaluate all bounds each time that it is run?
 * An index scan does; a sequential scan evaluates none for an empty table.
 */
extern bool gpb_evaluates_bounds(PlannedStmt *statement, Plan *plan);

/* ---- the plan node (subquery_node.c) ---- */

/* One distinct range of each row, and what is aggregated in it */
typedef struct GpbSubqueryRange
{
	Oid			index;
	const char *alias;			/* of the table, for EXPLAIN */
	int			nconditions;
	GpbRangeCondition *conditions;
	int			nitems;
	GpbAggregateItem *items;
} GpbSubqueryRange;

/*
 * What the node promises.  It returns each row of its child that passes plan.qual, projected.  The
 * target list and plan.qual refer to the scan tuple: the child's columns, then the items of the
 * ranges, range by range, then the results of the subqueries. A subquery's result is what its
 * target expression makes of the items or, where there is no batch, of its SubPlan.
 *
 * lefttree: the child. custom_scan_tlist: as the scan tuple.  For the items typed NULLs, which
 * nothing shows; for the results the SubPlans, for EXPLAIN. custom_exprs: four lists: the values of
 * each range's conditions, range by range; the target expressions; the SubPlans; the offset and
 * count of the Limit above, which may be NULL, if the node reads no more than that, else nothing.
 */
typedef struct GpbSubqueryPlan
{
	bool		may_fail;		/* may reading a row ahead, or finding its ranges, raise an error? */
	bool		on_top;			/* does each row that the statement returns take at least one row of the node? */
	int			ncolumns;		/* of the child */
	int			nranges;
	GpbSubqueryRange *ranges;
	int			nresults;
	int		   *result_range;	/* the range of each */
} GpbSubqueryPlan;

extern List *gpb_subquery_private(const GpbSubqueryPlan *plan);
/* The inverse; arrays are palloc'd. */
extern void gpb_subquery_read_private(List *private, GpbSubqueryPlan *plan);

extern const CustomScanMethods gpb_subquery_scan_methods;

/* ---- the executor node ---- */

/* A range at run time */
typedef struct GpbSubqueryRangeState
{
	Relation	heap;
	Relation	index;
	GpbRangeValues *values;
	GpbRangeTotals *totals;		/* NULL until the first batch */
	int			first_item;		/* place of its items in the scan tuple */
	char	   *ranges;			/* input of the batch: of those rows that have one, in their order */
	uint32	   *row_range;		/* number of each row's range, or GPB_NO_RANGE */
	uint32		n;
} GpbSubqueryRangeState;

typedef struct GpbSubqueryScan
{
	CustomScanState css;
	GpbSubqueryPlan plan;
	MemoryContext context;		/* the node's */
	GpbSubqueryRangeState *ranges;
	ExprState **targets;		/* of each result */
	int		   *target_item;	/* place in the scan tuple of the item that the result is, or -1 */
	ExprState **subplans;
	ExprState  *bound_offset;	/* either may be NULL */
	ExprState  *bound_count;
	bool		bounded;		/* is there a Limit above? */
	int64		bound;			/* rows that are still to be read, if bounded; known once "begun" */
	bool		begun;			/* since the last rescan */

	/* a batch of rows */
	Bitmapset  *wanted;			/* columns of the child that anything refers to, from 1 on */
	GpbOuterRows *rows;
	bool		answered;		/* by the engine, else by the SubPlans */
	bool		child_done;
	uint32		limit;			/* rows of the next batch at most */
	uint32		capacity;		/* rows that there is room for */
	uint32		next;
} GpbSubqueryScan;

extern void gpb_subquery_explain(CustomScanState *css, List *ancestors, ExplainState *es);

/* ---- how much the client reads (subquery_run.c) ---- */

/* Load time: watch how many rows each run of the executor is to return. */
extern void gpb_subquery_run_init(void);
/*
 * How many more rows the executor's current run is to return of the statement whose state this is;
 * UINT64_MAX if all.
 */
extern uint64 gpb_rows_wanted(EState *estate);

#endif							/* GPB_SUBQUERY_H */
