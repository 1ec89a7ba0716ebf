/*-------------------------------------------------------------------------
 *
 * bucket_node.h
 *	  Inside the node GpubtreeBucketAggregate: aggregates of one table's entries for each bucket of its key.
 *
 *	  bucket_function.c		functions that put keys into buckets, and the order of their results
 *	  bucket_zone.c			time zones
 *	  bucket_plan.c			which queries; the plan node
 *	  bucket_cost.c			how many buckets, at what price
 *	  bucket_cut.c			from a range of keys to the ranges of buckets
 *	  bucket_batch.c		batches of ranges, sorted first where results do not come in order
 *	  bucket_exec.c			the executor node
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_BUCKET_NODE_H
#define GPB_BUCKET_NODE_H

#include "postgres.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "utils/tuplesort.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/bucket/bucket_cut.h"
#include "exec/bucket/bucket_function.h"
#include "engine/range_totals.h"

/* ---- settings (exec.c) ---- */

extern bool gpb_enable_bucketaggregate; /* gpubtree.enable_bucketaggregate */

/* ---- the plan node ---- */

/*
 * What the node promises.  Each result that the bucket function has for the key of a row which the conditions admit and the snapshot sees
 * comes out once, with the aggregates over these rows; NULL is such a result.  They come in the order of the index: ascending or descending,
 * NULL first or last.  Errors are those that the function raises for keys of such rows.
 *
 * custom_scan_tlist: the Aggrefs in the order of the items, the bucket function as an expression, and the key's Var, which is
 * never filled.
 * custom_exprs: two lists, of the conditions "key OP expression" and "key IS [NOT] NULL", and of the function's other arguments.
 * custom_private: what gpb_aggregate_private made, the OIDs of the functions, and about how many entries there are.
 * plan.qual, HAVING, is tested on what comes out.
 */
extern const CustomScanMethods gpb_bucket_aggregate_scan_methods;

/* Offer our path for the grouping of a table; to be called from create_upper_paths_hook. */
extern void gpb_bucket_aggregate_add_path(PlannerInfo *root, RelOptInfo *input_rel,
										  RelOptInfo *grouped_rel);

/* ---- planning (bucket_cost.c) ---- */

/* How many buckets there are; width is of a bucket, in units of the key, 0 if unknown. */
extern double gpb_estimate_buckets(PlannerInfo *root, IndexOptInfo *index, Expr *bucket,
								   double width);

/* Price of the node with so many buckets and aggregates. */
extern void gpb_bucket_cost(PlannerInfo *root, IndexOptInfo *index, List *conditions,
							const GpbAggregateItem *items, int nitems, double buckets,
							PathTarget *target, List *having,
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

/* Memory is of the current context. */
extern void gpb_bucket_batches_begin(GpbBucketScan *scan);
/* What answers them, made when first asked for */
extern GpbRangeTotals *gpb_bucket_totals(GpbBucketScan *scan);
/* Begin with a range of keys, none of them NULL, the function having arguments of this order, which is not silent; forget what there was. */
extern void gpb_bucket_batches_start(GpbBucketScan *scan, GpbKeyRange range,
									 const GpbBucketOrder *order);
/* The next batch, answered; false if there are no more ranges. */
extern bool gpb_bucket_batch_next(GpbBucketScan *scan);
/* The function's result for a range that has a visible entry.  Raises what the function does. */
extern int64 gpb_bucket_batch_result(GpbBucketScan *scan, uint32 range);
/* Forget ranges, and give back what they are sorted in. */
extern void gpb_bucket_batches_stop(GpbBucketScan *scan);
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
	CustomScanState css;
	Relation	heap;
	Relation	index;			/* NULL under EXPLAIN without ANALYZE */
	GpbLayout	layout;
	int			nitems;
	GpbAggregateItem *items;
	double		entries;		/* about so many, as planned */
	MemoryContext execution;	/* one execution's */

	int			nconditions;
	GpbCondition *conditions;
	ScanKey		keys;			/* the same for an index scan, with room for one more; the first nkeys are set */
	int			nkeys;

	/* the function */
	GpbBucketFunction *function;
	int			narguments;
	ExprState **arguments;
	bool		arguments_may_fail; /* evaluating one may raise an error, so there must be a row first */

	/* what conditions and arguments were evaluated to */
	bool		evaluated;
	MemoryContext evaluation;	/* of the arguments */
	const GpbBucketOrder *order;
	bool		has_ranges;		/* the conditions admit keys whose result may not be NULL: ... */
	GpbKeyRange range;			/* ... these; or those that an error may be raised for */
	bool		has_null;		/* the conditions admit keys whose result is NULL: ... */
	GpbRange	null_range;		/* ... these */
	bool		asks_null_keys; /* for keys in "range" an error may be raised though their result is NULL */

	/* where we are */
	GpbBucketPhase phase;
	GpbBucketBatches batches;
	uint32		next;			/* range of the batch */

	/* the group at hand */
	bool		group_open;
	bool		group_null;
	int64		group_result;
	bool		any_result;		/* group_result is that of the group at hand, or of the one before */
	GpbAggregateState state;

	/* of the group of NULL, for EXPLAIN */
	const char *null_engine;
	GpbAggregateCounters null_counters;
};

#endif							/* GPB_BUCKET_NODE_H */
