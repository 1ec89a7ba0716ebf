/*-------------------------------------------------------------------------
 *
 * aggregate_node.h
 *	  Inside the node GpubtreeAggregate; what the node does is in README.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_NODE_H
#define GPB_AGGREGATE_NODE_H

#include "postgres.h"
#include "access/parallel.h"
#include "access/skey.h"
#include "access/tableam.h"
#include "commands/explain.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "exec/aggregate/aggregate_shards.h"
#include "exec/aggregate/aggregate_subprograms.h"
#include "exec/answer/item_final.h"
#include "exec/answer/shared_counters.h"
#include "exec/answer/states.h"
#include "exec/answer/word_rows.h"
#include "exec/compile/grouping.h"
#include "exec/compile/items.h"
#include "exec/compile/program_build.h"
#include "exec/shell/node_shell.h"
#include "exec/where/conditions.h"
#include "exec/where/shared_ranges.h"

/* ---- the plan node ---- */

/* What a node aggregates */
typedef enum GpbAggregateSource
{
	GPB_OF_INDEX,				/* the entries of ranges of its index */
	GPB_OF_STATES,				/* states (README) that the child returns, each of a part of the
								 * table, and groups that shards return; the index is that of one of
								 * the nodes they come from, or of the table, which has partitions
								 * */
	GPB_OF_ROWS					/* rows of a table, which the child returns */
} GpbAggregateSource;

/*
 * The fields of the plan node.  Its scan tuple has the value of each item, of each item of values,
 * of each group expression, of each call of GROUPING(), or in their place a row of states; and,
 * never filled, the columns to which conditions and filters refer, the key first.  It scans one
 * table, which if it merges states has partitions or children, and may have no storage.  Its
 * children are the plan of its source, unless that is an index, and then, if it has one, the
 * ordinary plan, whose rows are the node's.
 */
typedef struct GpbAggregatePlan
{
	Oid			index;
	GpbAggregateSource source;
	bool		returns_states; /* in the place of values, for a node above */
	int			nitems;
	GpbAggregateItem *items;
	List	   *conditions;		/* "key OP expression" and "key IS [NOT] NULL" */
	List	   *arrays;			/* "key = ANY (expression)" */
	List	   *arms;			/* of an OR: for each a List of what conditions has */
	List	   *skips;			/* conditions that make ranges of groups (column_skip.h) */
	int			skip_prefix;	/* key columns by which they are groups */
	bool		has_program;	/* not plain; else of what follows there may only be having */
	GpbProgramPlan program;
	List	   *filters;		/* the conditions that the program tests, for EXPLAIN */
	int			ngroups;
	GpbWordType *group_types;	/* one for each group expression */
	GpbSetsPlan sets;
	int			nvalues;		/* expressions on whose values aggregates depend */
	GpbValuesPlan *values;
	int			nshards;		/* of a node that merges shards' groups among states: the number of
								 * its programs, else 0 */
	GpbShardForm *shards;		/* for each program the columns of groups, which stand one behind
								 * the other, and behind the state and the program's number */
	List	   *bins;			/* for each program a List: for each column of first moments what
								 * makes groups of these */
	List	   *having;
} GpbAggregatePlan;

/* The number of the plan's aggregates that depend on values */
extern int	gpb_aggregate_count_values(const GpbAggregatePlan *plan);

/* Put the fields into the plan node. */
extern void gpb_aggregate_put(const GpbAggregatePlan *plan, CustomScan *scan);

/* Get the fields of the plan node; items and types are palloc'd. */
extern void gpb_aggregate_get(const CustomScan *scan, GpbAggregatePlan *plan);

/* The index of the plan node, which is all in which leaves that are alike differ */
extern Oid	gpb_aggregate_index(const CustomScan *scan);

extern const GpbNodeKind gpb_aggregate_node;

/*
 * Offer our path for a table's groups and aggregates; to be called from create_upper_paths_hook at
 * the stages UPPERREL_GROUP_AGG and UPPERREL_DISTINCT.  "refusal" says why no index could answer
 * the query, or is NULL.
 */
extern void gpb_aggregate_add_path(const GpbGrouping *grouping, const char *refusal);

/* Offer our path for groups and aggregates of a parent with several leaves, likewise. */
extern void gpb_aggregate_add_merge_path(const GpbGrouping *grouping);

/* ---- the executor node ---- */

typedef struct GpbAggregateRows GpbAggregateRows;
typedef struct GpbAggregateAhead GpbAggregateAhead;

typedef struct GpbAggregateScan
{
	GpbNode		node;
	GpbAggregatePlan plan;
	GpbCodeSource codes;		/* whose codes are in the words of groups */
	GpbTexts   *texts;			/* of states that are merged, or of rows: the values that are
								 * groups, and of rows those of conditions */
	uint64		states;			/* groups that were merged, in all executions */
	GpbAggregateRows *rows_read;	/* what reads rows; NULL before the first execution */
	GpbShardRows **shard_rows;	/* what reads shards' rows, for each program; NULL before the
								 * first */
	List	   *sent;			/* ExprStates of what is sent to shards and may fail */
	Bitmapset  *sent_params;	/* of the executor, in them */
	GpbConditions *conditions;
	bool		bound_early;	/* the program's constants were evaluated when the node began */
	const char *unbound;		/* if so, why it cannot be used, or NULL */
	bool		ranges_may_fail;	/* an error that core might not come to */
	Bitmapset  *range_params;	/* of the executor, if so */
	GpbSharedCounters *shared;	/* with other processes, by which they share out the index, and
								 * parts of it; NULL: this one has all of it */
	GpbWorkersCounters workers; /* what those counted that have ended */
	ExprState  *having;
	int			nsubs;
	GpbSubprogram *subs;		/* those of each phase together, in the order of values */
	int			subs_of_phase;
	Size		memory;			/* of the groups of all subprograms, which share it; those that are
								 * merged for a set may take as much again */
	MemoryContext set_context;	/* of the set at hand */
	bool		prepared;		/* what follows is set, for an answer that is to come */
	GpbFoundRanges found;
	const char *unprepared;		/* why there will be none, or NULL */
	GpbAggregateAhead *ahead;	/* the nodes that are executed next to this one, or NULL */
	const GpbAsk *last;			/* that was asked in this execution, for EXPLAIN; NULL: none */
	bool		no_ranges;		/* no entry can satisfy the conditions */
	int			set;			/* number of the set at hand; -1 before the first */
	uint64		set_rows;		/* of this set so far */
	bool		is_read_here;	/* states are merged by the node above as they are returned */
	int			state_sub;		/* of states that are returned: the subprogram at hand */
	uint64		state;			/* and where gpb_states_next() goes on */
	bool		states_gone;	/* all of this execution were returned, and the answer is gone */
	GpbWordRows *rows;			/* makes groups rows of the node; NULL: they become scan tuples */
} GpbAggregateScan;

/* Have gpb_aggregate_next_row() begin with the first row of the answer. */
extern void gpb_aggregate_first_row(GpbAggregateScan *scan);

/*
 * Put the next row of the answer into the scan tuple: the only one or, of a plan with groups, that
 * of the next group of the next set.  Returns false if there is none.  Memory is of the current
 * context.
 */
extern bool gpb_aggregate_next_row(GpbAggregateScan *scan);

/*
 * Can the plan's groups become rows of the node without a scan tuple, if its columns allow it?
 * Then gpb_aggregate_next_of_rows() returns the next such row, by way of "rows"; NULL after the
 * last one.
 */
extern bool gpb_aggregate_has_rows(const GpbAggregatePlan *plan);
extern TupleTableSlot *gpb_aggregate_next_of_rows(GpbAggregateScan *scan);

/*
 * Evaluate the ranges and constants of a node that asks an index.  Memory is of the current
 * context.
 */
extern void gpb_aggregate_prepare(GpbAggregateScan *scan);

/*
 * Submit what a node that was prepared will ask for; returns false if there was no room for all of
 * it: see gpb_batch_submit().
 */
extern bool gpb_aggregate_submit(GpbAggregateScan *scan, TimestampTz keep_since);

/*
 * Answer the ranges of a node's index, which may have been prepared and submitted, or its child's
 * rows.  Returns NULL, or why there is no answer.
 */
extern const char *gpb_aggregate_answer_ranges(GpbAggregateScan *scan);
extern const char *gpb_aggregate_answer_rows(GpbAggregateScan *scan);

/* End what answers, or is to answer. */
extern void gpb_aggregate_stop(GpbAggregateScan *scan);

/*
 * Let the nodes that the Append below a node executes next submit what they ask for together, until
 * gpb_aggregate_end_ahead() is called; returns false if there are no such nodes.  Memory is of the
 * current context.
 */
extern bool gpb_aggregate_begin_ahead(GpbAggregateScan *above);
extern void gpb_aggregate_end_ahead(GpbAggregateScan *above);

/* For a node that has node->ahead, and is to answer now: submit what others next to it ask for. */
extern void gpb_aggregate_go_ahead(GpbAggregateScan *node);

/*
 * Merge the states that the child returns into the answers of the subprograms.  Returns NULL, or
 * why there is no answer; then the child was not read to its end.
 */
extern const char *gpb_aggregate_merge_states(GpbAggregateScan *scan);

/*
 * Put the rows that the child returns through the subprograms, whose asks collect, and whose
 * constants were bound.  Returns NULL, or why there is no answer; then the child was not read to
 * its end.
 */
extern const char *gpb_aggregate_collect_rows(GpbAggregateScan *scan);

/*
 * Let nodes whose states this one reads, without another process between, know that.  To be called
 * when the child has begun.
 */
extern void gpb_aggregate_read_here(const GpbAggregateScan *above);

/* Have gpb_aggregate_next_state() begin with the first row of states. */
extern void gpb_aggregate_first_state(GpbAggregateScan *scan);

/*
 * Put the next row of states into the scan tuple, also one that says why there is no answer.
 * Returns false if there is none.  Memory is of the current context.
 */
extern bool gpb_aggregate_next_state(GpbAggregateScan *scan);

/* ---- a node that several processes run (aggregate_parallel.c) ---- */

extern Size gpb_aggregate_estimate_shared(CustomScanState *css, ParallelContext *pcxt);
extern void gpb_aggregate_make_shared(CustomScanState *css, ParallelContext *pcxt,
									  void *coordinate);
extern void gpb_aggregate_renew_shared(CustomScanState *css, ParallelContext *pcxt,
									   void *coordinate);
extern void gpb_aggregate_find_shared(CustomScanState *css, shm_toc *toc, void *coordinate);
extern void gpb_aggregate_leave_shared(CustomScanState *css);

/*
 * Have all subprograms answer what the ranges have in the parts that this process takes.  Returns
 * NULL, or why there is no answer.
 */
extern const char *gpb_aggregate_ask_shared(GpbAggregateScan *scan, const GpbFoundRanges *found);

extern void gpb_aggregate_explain(CustomScanState *css, List *ancestors,
								  ExplainState *es);

#endif							/* GPB_AGGREGATE_NODE_H */
