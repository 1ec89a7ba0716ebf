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
#include "nodes/pathnodes.h"
#include "utils/tuplesort.h"

#include "exec/bucket/bucket_cut.h"
#include "exec/bucket/bucket_function.h"
#include "exec/common/key_conditions.h"
#include "exec/common/node_shell.h"
#include "exec/common/range_totals.h"

/* ---- the plan node ---- */

/*
 * The fields of the plan node, which scans one table.  Its scan tuple has the value of each item,
 * the bucket function's result and, never filled, the key column.  plan.qual, which is HAVING, is
 * tested on what comes out.
 */
typedef struct GpbBucketPlan
{
	Oid			index;
	int			nitems;
	GpbAggregateItem *items;
	List	   *functions;		/* OIDs, as gpb_match_bucket_function() has them */
	List	   *arguments;		/* of the functions, beside the key */
	List	   *conditions;		/* "key OP expression" and "key IS [NOT] NULL" */
} GpbBucketPlan;

/* Put the fields into the plan node. */
extern void gpb_bucket_put(const GpbBucketPlan *plan, CustomScan *scan);

/* Get the fields of the plan node; items and functions are palloc'd. */
extern void gpb_bucket_get(const CustomScan *scan, GpbBucketPlan *plan);

extern const GpbNodeKind gpb_bucket_aggregate_node;

/*
 * Offer our path for the grouping of a table; to be called from create_upper_paths_hook.  Returns
 * false if none was offered.
 */
extern bool gpb_bucket_aggregate_add_path(PlannerInfo *root, RelOptInfo *input_rel,
										  RelOptInfo *grouped_rel);

/* ---- planning (bucket_cost.c) ---- */

/*
 * How many buckets the expression "bucket" has; width is about how many keys a bucket spans, or 0
 * if that is unknown.
 */
extern double gpb_estimate_buckets(PlannerInfo *root, IndexOptInfo *index, Expr *bucket,
								   double width);

/* The price of the node when there are so many buckets */
extern void gpb_bucket_cost(PlannerInfo *root, IndexOptInfo *index, const GpbBucketPlan *plan,
							double buckets, PathTarget *target, List *having,
							Cost *startup_cost, Cost *total_cost);

/* ---- batches (bucket_batch.c) ---- */

/* Ranges of a batch, with their answers */
typedef struct GpbBucketBatches
{
	MemoryContext context;		/* the node's */
	GpbRangeTotals *totals;		/* NULL until the first batch */
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

/* Prepare the node's batches; memory is of the current context. */
extern void gpb_bucket_batches_begin(GpbBucketScan *scan);

/* What answers the node's batches; it is made when first asked for. */
extern GpbRangeTotals *gpb_bucket_totals(GpbBucketScan *scan);

/*
 * Begin with a range of keys, none of them NULL; ranges of before are forgotten.  The function has
 * its arguments, with this order, which is not silent.
 */
extern void gpb_bucket_batches_start(GpbBucketScan *scan, GpbKeyRange range,
									 const GpbBucketOrder *order);

/* Cut and answer the next batch of ranges; false if there are no more ranges. */
extern bool gpb_bucket_batch_next(GpbBucketScan *scan);

/*
 * The function's result for a range of the batch, counted from 0, that has a visible entry.  Raises
 * what the function does.
 */
extern int64 gpb_bucket_batch_result(GpbBucketScan *scan, uint32 range);

/* Forget all ranges, and give back what they are sorted in. */
extern void gpb_bucket_batches_stop(GpbBucketScan *scan);

/* Stop, and end what answers the batches. */
extern void gpb_bucket_batches_end(GpbBucketScan *scan);

/* ---- the executor node ---- */

typedef enum GpbBucketPhase
{
	GPB_BUCKET_START,			/* nothing has been looked for yet */
	GPB_BUCKET_NULL_FIRST,		/* the group of NULL is next, if there is one */
	GPB_BUCKET_RANGES,			/* then the group of NULL, if it comes last */
	GPB_BUCKET_END
} GpbBucketPhase;

struct GpbBucketScan
{
	GpbNode		node;
	GpbBucketPlan plan;
	GpbLayout	layout;
	MemoryContext execution;	/* one execution's */

	int			nconditions;
	GpbCondition *conditions;
	ScanKey		keys;			/* the conditions as keys of an index scan */

	/* the function */
	GpbBucketFunction *function;
	int			narguments;
	ExprState **arguments;
	bool		arguments_may_fail; /* evaluating an argument may raise an error, so there must be a
									 * row first */

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
	GpbBucketPhase phase;
	GpbBucketBatches batches;
	uint32		next;			/* range of the batch */

	/* the group at hand */
	bool		group_open;
	bool		group_null;
	int64		group_result;
	bool		any_result;		/* group_result is set, by the group at hand or the one before */
	GpbRangeTotals *null_totals;	/* answers the group of NULL; NULL until first needed */
};

#endif							/* GPB_BUCKET_NODE_H */
