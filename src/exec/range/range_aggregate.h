/*-------------------------------------------------------------------------
 *
 * range_aggregate.h
 *	  Inside the node GpubtreeRangeAggregate; what the node does is in README.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANGE_AGGREGATE_H
#define GPB_RANGE_AGGREGATE_H

#include "exec/answer/child_rows.h"
#include "exec/answer/kept_rows.h"
#include "exec/answer/outer_rows.h"
#include "exec/answer/range_totals.h"
#include "exec/price/outer_price.h"
#include "exec/shell/node_shell.h"
#include "exec/where/range_conditions.h"

/* ---- the plan node ---- */

/*
 * The fields of the plan node, which joins the outer plan's rows with what one table has in their
 * ranges.  The columns of its scan tuple are: the outer plan's, in its order; one for each item;
 * one for each of "computed".
 *
 * The target list and plan.qual, which is tested on what comes out, refer to items by the
 * expressions that gpb_make_range_aggregate() is given: Aggrefs, or Vars of the subquery that the
 * node stands for.  An item that is no column of the subquery has a Var with a number beyond the
 * subquery's columns, which only "computed" and "having" refer to.
 *
 * The table must be in the statement's range table, since it is opened without a lock.
 */
typedef struct GpbRangeAggregatePlan
{
	GpbRowRange range;
	int			nouter;			/* columns of the outer plan */
	bool		gathered;		/* groups are of outer rows in any order; without group columns all
								 * outer rows are one group, which is there even if they are none */
	int			ngroup;			/* group columns; 0 if not gathered: each outer row is a group */
	AttrNumber *group;			/* their places among the outer columns, from 1 on */
	Oid		   *group_operator; /* equality of each */
	Oid		   *group_collation;
	bool		keep_empty;		/* groups without an entry come out too */
	int			empty_count;	/* what an outer row without an entry adds to count(*): 0, or 1 for
								 * the row with NULLs of a left join, which needs keep_empty */

	bool		has_ordinary;	/* the last of the node's plans is the ordinary one, since the
								 * program may have no answer */

	List	   *values;			/* of each condition, over the outer columns */
	List	   *computed;		/* columns of the subquery that are computed, over outer columns
								 * and items */
	List	   *having;			/* the subquery's HAVING, over outer columns and items; it is tested
								 * before columns are computed */
} GpbRangeAggregatePlan;

/* Put the fields into the plan node, and get them; arrays are palloc'd. */
extern void gpb_range_aggregate_put(const GpbRangeAggregatePlan *plan, CustomScan *scan);
extern void gpb_range_aggregate_get(const CustomScan *scan, GpbRangeAggregatePlan *plan);

extern const GpbNodeKind gpb_range_aggregate_node;

/*
 * Make the plan node over an outer plan; plan->nouter is filled in.  results: the expressions for
 * the items, then for the computed columns.  further: other plans than the outer one; the ordinary
 * one, or one that is never run, but brings its part of the range table into the statement, and
 * with it locks and permissions.
 */
extern Plan *gpb_make_range_aggregate(CustomPath *path, List *tlist, List *qual, Plan *outer,
									  List *further, List *results, GpbRangeAggregatePlan *plan);

/* ---- planning ---- */

/*
 * The price of the node over an outer path, whose rows each have "entries" entries in their range
 * on average, when "rows" rows of the target come out.
 */
extern GpbOuterPrice gpb_range_aggregate_price(PlannerInfo *root, IndexOptInfo *index,
											   Path *outer, const GpbRowRange *range,
											   double entries, double rows,
											   PathTarget *target);

/*
 * Have the path over an outer path keep all rows, with this ordinary path beside the outer one.
 * Then no row comes before all are known, and in no order; and the node does not project, since
 * both have the same target.
 */
extern void gpb_range_aggregate_beside(CustomPath *path, Path *ordinary);

/* Offer our paths for the grouping of a join; to be called from create_upper_paths_hook. */
extern void gpb_range_aggregate_add_paths(PlannerInfo *root, RelOptInfo *input_rel,
										  RelOptInfo *grouped_rel);

/* ---- the executor node ---- */

/* Groups that are gathered (range_groups.c) */
typedef struct GpbRangeGroups
{
	MemoryContext context;		/* of all that follows; NULL if groups are not gathered */
	TupleHashTable table;		/* answers by group columns; NULL before the first row */
	int64	   *only;			/* the answer without group columns; NULL before the first row */
	bool		complete;		/* all outer rows were read */
	bool		returned;		/* the one group without group columns was handed out */
	TupleHashIterator iterator;
	TupleTableSlot *first;		/* a group's first row */
} GpbRangeGroups;

typedef struct GpbRangeAggregateScan
{
	GpbNode		node;
	GpbRangeAggregatePlan plan;
	MemoryContext context;		/* the node's */
	GpbRangeValues *values;
	GpbProgramConstants *constants; /* of the program, if there is one */
	GpbAnswerFormat format;		/* of answers; no words before it is known */
	GpbKeptRows all_rows;		/* if the program may have no answer */
	GpbRangeTotals *totals;		/* NULL until the first batch */
	GpbBatchCounters past;		/* of totals that have ended, since parameters changed */
	char		past_engine[128];	/* the engine of the last of these */
	int			ncomputed;
	ExprState **computed;
	ExprState  *having;

	/* a batch of outer rows, and the ranges of those that have one, in the rows' order */
	GpbChildRows *child;
	GpbOuterRows *rows;
	bool		outer_done;		/* the outer plan has no more */
	uint32		limit;			/* rows of the next batch at most */
	uint32		capacity;		/* rows there is room for in these */
	uint32	   *row_range;		/* number of each row's range, or GPB_NO_RANGE */
	bool	   *starts_group;	/* of each row; unused unless rows come sorted by group columns */
	int64	  **row_answer;		/* of each row's group; unused unless groups are gathered */
	char	   *ranges;			/* input of the batch */
	uint32		nranges;
	uint32		next;			/* first row that is in no group yet */

	/* groups */
	GpbRangeGroups groups;
	ExprState  *same_group;		/* NULL unless rows come sorted by group columns */
	TupleTableSlot *first;		/* first outer row of the group that was read last */
	TupleTableSlot *kept;		/* first row of the open group, when its batch has gone */
	bool		group_open;		/* the scan tuple has the first row of a group, the totals' group
								 * what was added to it */
} GpbRangeAggregateScan;

/* ---- groups that are gathered (range_groups.c) ---- */

/* Prepare to gather groups. */
extern void gpb_range_groups_begin(GpbRangeAggregateScan *scan);

/* Forget all groups. */
extern void gpb_range_groups_reset(GpbRangeAggregateScan *scan);

/*
 * Is one total wanted over all ranges, which are points, and no answer to each?  The totals' group
 * has it.
 */
extern bool gpb_range_is_total(const GpbRangeAggregateScan *scan);

/* Where the answer of an outer row's group is added up; it stays there. */
extern int64 *gpb_range_group_of_row(GpbRangeAggregateScan *scan, TupleTableSlot *row);

/* Add what each row of the batch has, whose ranges were answered, to the answer of its group. */
extern void gpb_range_gather_batch(GpbRangeAggregateScan *scan);

/* There are no more rows: the groups can be handed out. */
extern void gpb_range_groups_complete(GpbRangeAggregateScan *scan);

/*
 * The next group, its first row in the scan tuple and its answer that of the totals' group; false
 * if there are no more.
 */
extern bool gpb_range_next_gathered(GpbRangeAggregateScan *scan);

extern void gpb_range_aggregate_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif							/* GPB_RANGE_AGGREGATE_H */
