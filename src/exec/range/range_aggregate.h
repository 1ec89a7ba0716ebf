/*-------------------------------------------------------------------------
 *
 * range_aggregate.h
 *	  Inside the node GpubtreeRangeAggregate, of which GpubtreeJoinAggregate is a form; what the
 *	  nodes do is in README.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANGE_AGGREGATE_H
#define GPB_RANGE_AGGREGATE_H

#include "access/parallel.h"

#include "exec/answer/ask.h"
#include "exec/answer/kept_rows.h"
#include "exec/answer/key_exchange.h"
#include "exec/answer/outer_batch.h"
#include "exec/answer/partitions.h"
#include "exec/answer/shared_counters.h"
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
	GpbRowRange range;			/* of each partition, if there are several; the index is of one */
	GpbPartitionList partitions;
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

	bool		has_ordinary;	/* the second of the node's plans is the ordinary one, since the
								 * program may have no answer */

	List	   *values;			/* of each condition, over the outer columns */
	List	   *computed;		/* columns of the subquery that are computed, over outer columns
								 * and items */
	List	   *having;			/* the subquery's HAVING, over outer columns and items; it is tested
								 * before columns are computed */

	bool		joined;			/* GpubtreeJoinAggregate: one group of all outer rows, of which
								 * nothing is kept but their ranges, and without outer columns.  The
								 * scan tuple has also, never filled, the key columns; the program
								 * has an answer, once it is bound. */
	List	   *clauses;		/* if so: the conditions as OpExprs, for EXPLAIN */

	/*
	 * If so, and if the program reads no codes: what the row has in the place of items is their
	 * state (states.h), for a node above; or the outer plan's rows are such states, of which the
	 * row is made.
	 */
	bool		returns_state;
	bool		merges_states;
} GpbRangeAggregatePlan;

/* Put the fields into the plan node, and get them; arrays are palloc'd. */
extern void gpb_range_aggregate_put(const GpbRangeAggregatePlan *plan, CustomScan *scan);
extern void gpb_range_aggregate_get(const CustomScan *scan, GpbRangeAggregatePlan *plan);

extern const GpbNodeKind gpb_range_aggregate_node;
extern const GpbNodeKind gpb_join_aggregate_node;

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
 * on average, when "rows" rows of the target come out; partitions: NULL where one table is asked.
 */
extern GpbOuterPrice gpb_range_aggregate_price(PlannerInfo *root, IndexOptInfo *index,
											   const GpbPartitionMatch *partitions,
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
	GpbPartitions *partitions;	/* NULL: one table is asked */
	GpbAsk	   *ask;
	bool		bound;			/* the program's constants are those of this execution */
	GpbKeptRows all_rows;		/* if the program may have no answer */
	bool		complete;		/* all rows are kept, or the ordinary plan returns them */
	GpbSharedCounters *shared;	/* with other processes, which exchange keys behind that; NULL:
								 * this one has all outer rows */
	GpbWorkersCounters workers; /* what those counted that have ended */
	int			ncomputed;
	ExprState **computed;
	ExprState  *having;

	/*
	 * Outer rows: the mark of each is a bool, the first of a group, if rows come sorted by group
	 * columns; if groups are gathered, a pointer to its group's answer.
	 */
	GpbOuter	outer;

	/* groups */
	GpbRangeGroups groups;
	ExprState  *same_group;		/* NULL unless rows come sorted by group columns */
	TupleTableSlot *first;		/* first outer row of the group that was read last */
	TupleTableSlot *kept;		/* first row of the open group, when its batch has gone */
	bool		group_open;		/* the scan tuple has the first row of a group, the ask's group what
								 * was added to it */
} GpbRangeAggregateScan;

/* ---- groups that are gathered (range_groups.c) ---- */

/* Prepare to gather groups. */
extern void gpb_range_groups_begin(GpbRangeAggregateScan *scan);

/* Forget all groups. */
extern void gpb_range_groups_reset(GpbRangeAggregateScan *scan);

/*
 * Is one total wanted over all ranges, which are points, and no answer to each?  The ask's group
 * has it.
 */
extern bool gpb_range_is_total(const GpbRangeAggregateScan *scan);

/* GpbOuterAdded: let the row's mark be where its group's answer is added up; that stays there. */
extern void gpb_range_find_group(GpbNode *node, TupleTableSlot *slot, uint32 row);

/* Add what each row of the batch has, whose ranges were answered, to the answer of its group. */
extern void gpb_range_gather_batch(GpbRangeAggregateScan *scan);

/* There are no more rows: the groups can be handed out. */
extern void gpb_range_groups_complete(GpbRangeAggregateScan *scan);

/*
 * The next group, its first row in the scan tuple and its answer that of the ask's group; false if
 * there are no more.
 */
extern bool gpb_range_next_gathered(GpbRangeAggregateScan *scan);

/* ---- states of joins under aggregates (range_states.c) ---- */

/* Put the state of the ask's group into the scan tuple, in the place of items. */
extern void gpb_range_put_state(GpbRangeAggregateScan *scan);

/* Read the states that the child returns, and have the ask's group be what they have together. */
extern void gpb_range_merge_states(GpbRangeAggregateScan *scan);

/* ---- joins under aggregates that several processes run (range_parallel.c) ---- */

extern Size gpb_range_estimate_shared(CustomScanState *css, ParallelContext *pcxt);
extern void gpb_range_make_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate);
extern void gpb_range_renew_shared(CustomScanState *css, ParallelContext *pcxt, void *coordinate);
extern void gpb_range_find_shared(CustomScanState *css, shm_toc *toc, void *coordinate);
extern void gpb_range_leave_shared(CustomScanState *css);

/*
 * Read this process's outer rows, exchange their keys with the other processes, and add what those
 * have that come to this one to the ask's group.  Returns NULL, or why there is no answer.
 */
extern const char *gpb_range_ask_shared(GpbRangeAggregateScan *scan);

extern void gpb_range_aggregate_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif							/* GPB_RANGE_AGGREGATE_H */
