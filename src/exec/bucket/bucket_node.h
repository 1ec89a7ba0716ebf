/*-------------------------------------------------------------------------
 *
 * bucket_node.h
 *	  Inside the node GpubtreeBucketAggregate; what the node does is in README.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BUCKET_NODE_H
#define GPB_BUCKET_NODE_H

#include "postgres.h"
#include "commands/explain.h"
#include "nodes/pathnodes.h"
#include "utils/tuplesort.h"

#include "exec/answer/ask.h"
#include "exec/answer/kept_rows.h"
#include "exec/answer/word_rows.h"
#include "exec/bucket/bucket_cut.h"
#include "exec/bucket/bucket_function.h"
#include "exec/compile/grouping.h"
#include "exec/compile/program_build.h"
#include "exec/shell/node_shell.h"
#include "exec/where/conditions.h"
#include "exec/where/ordered_column.h"

/* ---- the plan node ---- */

/* In which order a node that merges gets states, each of which is of one bucket */
typedef enum GpbStatesOrder
{
	GPB_STATES_UNSORTED,		/* in none: the node sorts them */
	GPB_STATES_MERGED,			/* in that of results, from core's MergeAppend */
	GPB_STATES_BY_LEAF			/* leaves follow one another by their keys, and each has its results
								 * in order: so do all, if the function rises */
} GpbStatesOrder;

/* How a node merges the states of its child's rows */
typedef struct GpbBucketMerge
{
	bool		descends;		/* does the node return falling results? */
	bool		nulls_first;
	GpbStatesOrder order;
	int64		first;			/* no key is below this, or above that, as integers of */
	int64		last;			/* bucket_function.h */
} GpbBucketMerge;

/*
 * The fields of the plan node, which scans one table.  Its scan tuple has the value of each item,
 * the bucket function's result, the value of each other group expression and, never filled, the
 * columns to which conditions and filters refer, those of the key first.  If it has a child, that
 * is the ordinary plan, whose rows are the node's.
 *
 * HAVING is tested on what comes out: it is plan.qual or, where there is a program, "having".
 *
 * A node that merges stands for a partitioned table, and has a child that returns states.  Its
 * index, column, items, functions and program are those of one of the leaves; its scan tuple has
 * none of the columns that are never filled, and HAVING is "having".
 */
typedef struct GpbBucketPlan
{
	Oid			index;
	int			column;			/* the ordered column of the index's key, counted from 0 */
	bool		backward;		/* do buckets come in the reverse order of the index? */
	int			nitems;
	GpbAggregateItem *items;
	List	   *functions;		/* OIDs, as gpb_match_bucket_function() has them */
	List	   *arguments;		/* of the functions, beside the key */
	List	   *conditions;		/* "column OP expression" and "column IS [NOT] NULL", of the
								 * ordered column and those before it */
	bool		has_program;	/* not plain; else there is nothing of what follows */
	GpbProgramPlan program;
	List	   *filters;		/* the conditions that the program tests, for EXPLAIN */
	int			ngroups;		/* group expressions beside the bucket */
	GpbWordType *group_types;	/* one for each of them */
	List	   *having;
	bool		returns_states; /* each bucket is a row of states, which is the first column; the
								 * result is the second */
	bool		merges;			/* there is nothing of conditions and filters */
	GpbBucketMerge merge;		/* then */
} GpbBucketPlan;

/* Put the fields into the plan node. */
extern void gpb_bucket_put(const GpbBucketPlan *plan, CustomScan *scan);

/* Get the fields of the plan node; items, functions and types are palloc'd. */
extern void gpb_bucket_get(const CustomScan *scan, GpbBucketPlan *plan);

extern const GpbNodeKind gpb_bucket_aggregate_node;

/*
 * Offer our path for a table's groups; to be called from create_upper_paths_hook.  Returns false if
 * none was offered.
 */
extern bool gpb_bucket_aggregate_add_path(const GpbGrouping *query);

/* Likewise for the groups of the leaves of a parent, of which planning has left several */
extern bool gpb_bucket_add_merge_path(const GpbGrouping *query);

/* ---- batches (bucket_batch.c) ---- */

/* Ranges of a batch, with their answers */
typedef struct GpbBucketBatches
{
	MemoryContext context;		/* the node's */
	GpbBucketCut cut;
	GpbKeyRange *keys;
	GpbBucketRange *ranges;
	uint32		n;				/* of the batch */
	uint32		capacity;
	uint32		limit;			/* of the next batch, at most */
	Tuplesortstate *sort;		/* ranges by result, if they are sorted */
	TupleTableSlot *to_sort;
	TupleTableSlot *sorted;
	uint64		nsorted;		/* over all executions, for EXPLAIN */
} GpbBucketBatches;

typedef struct GpbBucketScan GpbBucketScan;
typedef struct GpbStateStream GpbStateStream;

/* Prepare the node's batches; memory is of the current context. */
extern void gpb_bucket_batches_begin(GpbBucketScan *scan);

/*
 * Begin with a range of keys, none of them NULL; ranges of before are forgotten.  The function has
 * its arguments, with this order, which is not silent.
 */
extern void gpb_bucket_batches_start(GpbBucketScan *scan, GpbKeyRange range,
									 const GpbBucketOrder *order);

/*
 * Cut and answer the next batch of ranges; false if there are no more ranges, or if the program
 * gave up.
 */
extern bool gpb_bucket_batch_next(GpbBucketScan *scan);

/*
 * Cut the next batch of ranges, without an answer for each: their groups are asked for, in parts of
 * the batch.  False if there are no more ranges.
 */
extern bool gpb_bucket_batch_cut(GpbBucketScan *scan);

/*
 * The function's result for a range of the batch, counted from 0, that has a visible entry.  Raises
 * what the function does.
 */
extern int64 gpb_bucket_batch_result(GpbBucketScan *scan, uint32 range);

/* Forget all ranges, and give back what they are sorted in. */
extern void gpb_bucket_batches_stop(GpbBucketScan *scan);

/* ---- the executor node ---- */

typedef enum GpbBucketPhase
{
	GPB_BUCKET_START,			/* no group has been looked for yet */
	GPB_BUCKET_RANGES,			/* then the group of NULL, if it comes last */
	GPB_BUCKET_END
} GpbBucketPhase;

struct GpbBucketScan
{
	GpbNode		node;
	GpbBucketPlan plan;
	GpbLayout	layout;
	MemoryContext execution;	/* one execution's */

	GpbConditions *conditions;

	/* the function */
	GpbBucketFunction *function;
	int			narguments;
	ExprState **arguments;
	bool		arguments_may_fail; /* evaluating an argument may raise an error, so there must be a
									 * row first */

	GpbAsk	   *ask;			/* about ranges of keys */
	GpbAsk	   *null_ask;		/* about the group of NULL; NULL in a node that merges */
	ExprState  *having;

	/* what conditions and arguments were evaluated to */
	bool		evaluated;
	MemoryContext evaluation;	/* of the arguments */
	const GpbBucketOrder *order;
	bool		has_ranges;		/* do the conditions admit keys whose result may not be NULL? */
	GpbKeyRange range;			/* the keys of has_ranges, or of asks_null_keys */
	bool		has_null;		/* do the conditions admit keys whose result is NULL? */
	GpbRange	null_range;		/* the keys of has_null */
	bool		asks_null_keys; /* may errors be raised for keys in "range", though their result is
								 * NULL? */

	/* where we are */
	bool		started;
	GpbBucketPhase phase;
	GpbBucketBatches batches;
	uint32		next;			/* range of the batch */

	/* the group at hand */
	bool		group_open;
	bool		group_null;
	int64		group_result;
	bool		any_result;		/* group_result is set, by the group at hand or the one before */

	/* with a child all rows are kept until it is known that the node has them */
	GpbKeptRows kept;			/* scan tuples */
	bool		last_groups;	/* the groups of the last last_n ranges that were asked for, from
								 * last_first on, come after these rows, from where they are */
	uint32		last_first;
	uint32		last_n;
	uint64		last_at;		/* where gpb_ask_next_group() goes on */
	const Datum *last_results;	/* of the function for these ranges; NULL until first needed */
	GpbWordRows *rows;			/* makes them rows of the node; NULL: they become scan tuples */
	bool		last_rows;		/* it does so now: the rows that were kept are returned */

	uint64		halved;			/* batches whose groups took more than memory */

	GpbStateStream *stream;		/* what merges; NULL in a node that asks an index */
};

/* Do results fall from one group to the next? */
static inline bool
gpb_bucket_descends(const GpbBucketScan *scan)
{
	return gpb_key_column_descends(&scan->layout, scan->plan.column) != scan->plan.backward;
}

/* What has the answer over the group at hand */
static inline GpbAsk *
gpb_bucket_ask(const GpbBucketScan *scan)
{
	return scan->group_null && scan->null_ask != NULL ? scan->null_ask : scan->ask;
}

/* The part of an execution that follows is in bucket_groups.c. */

/* Find the next group of a plan with no groups but buckets; false if there are no more. */
extern bool gpb_bucket_next_group(GpbBucketScan *scan);

/*
 * Put the values of the aggregates, the result and the other group expressions of the group at hand
 * into the scan tuple; "group" is NULL if there are none but buckets.  Memory is of the current
 * context.
 */
extern void gpb_bucket_fill_tuple(GpbBucketScan *scan, const GpbGroup *group);

/* ---- bucket_store.c ---- */

/*
 * Compute all rows and keep them, or find that the program gave up.  What is to be answered was
 * evaluated.
 */
extern void gpb_bucket_store_rows(GpbBucketScan *scan);

/*
 * Put the next row that was kept into the scan tuple; false if there are no more, or if it is
 * gpb_bucket_last_row() that has the others.
 */
extern bool gpb_bucket_stored_row(GpbBucketScan *scan);

/* With last_rows: the next row of the node; NULL after the last one. */
extern TupleTableSlot *gpb_bucket_last_row(GpbBucketScan *scan);

/* Begin again with the rows that were kept. */
extern void gpb_bucket_rescan_rows(GpbBucketScan *scan);

/* Forget the rows that were kept. */
extern void gpb_bucket_drop_rows(GpbBucketScan *scan);

/* ---- bucket_arguments.c ---- */

/* Prepare the function and its arguments, for an open index. */
extern void gpb_bucket_begin_arguments(GpbBucketScan *scan);

/* Evaluate the function's other arguments; they live until the next evaluation. */
extern const GpbBucketOrder *gpb_bucket_set_arguments(GpbBucketScan *scan);

/* ---- bucket_merge.c ---- */

/* Put the group at hand into the scan tuple as a row of states. */
extern void gpb_bucket_fill_state(GpbBucketScan *scan);

/* Prepare to merge; the index is open. */
extern void gpb_bucket_merge_begin(GpbBucketScan *scan);

/*
 * Find the next group of the child's states; false if there are no more.  If nothing was evaluated
 * yet this is the moment whose settings count (rule M12).
 */
extern bool gpb_bucket_merged_group(GpbBucketScan *scan);

/* Forget all states; if "changed", also what was evaluated. */
extern void gpb_bucket_merge_rescan(GpbBucketScan *scan, bool changed);

/* Give back what states are sorted in. */
extern void gpb_bucket_merge_stop(GpbBucketScan *scan);

/* How many states were merged, and how many of them were sorted */
extern void gpb_bucket_merge_counts(const GpbBucketScan *scan, uint64 *merged, uint64 *sorted);

extern void gpb_bucket_explain(CustomScanState *css, List *ancestors, ExplainState *es);

#endif							/* GPB_BUCKET_NODE_H */
