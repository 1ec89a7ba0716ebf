/*-------------------------------------------------------------------------
 *
 * aggregate_node.h
 *	  Inside the aggregate node: what planning hands to execution, and what the
 *	  engines share.
 *
 *	  aggregate_plan.c		which queries, at what price; the plan node
 *	  aggregate_exec.c		the executor node; which engine, at run time
 *	  aggregate_mirror.c	engine: the device, and the CPU for what it leaves
 *	  aggregate_cpu.c		engine: leaf pages in shared buffers
 *	  aggregate_scan.c		engine: an ordinary index scan
 *	  aggregate_heap.c		heap visits, for the first two
 *	  aggregate_array.c		arrays of keys: which, at what price, and the batches that answer them
 *	  aggregate_final.c		from running state to SQL values
 *	  aggregate_explain.c	EXPLAIN
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_NODE_H
#define GPB_AGGREGATE_NODE_H

#include "postgres.h"
#include "access/skey.h"
#include "access/tableam.h"
#include "commands/explain.h"
#include "executor/tuptable.h"
#include "fmgr.h"
#include "nodes/execnodes.h"
#include "nodes/extensible.h"
#include "nodes/pathnodes.h"
#include "utils/numeric.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "aggregate.h"
#include "engine/heap_visit.h"
#include "exec/common/key_conditions.h"
#include "engine/visibility.h"

/* ---- settings (exec.c) ---- */

extern bool gpb_enable_aggregate;	/* gpubtree.enable_aggregate */
extern double gpb_setup_cost;	/* gpubtree.setup_cost */

/* ---- what is asked for ---- */

typedef enum GpbAggregateFunction
{
	GPB_COUNT_ENTRIES,			/* count(*) */
	GPB_COUNT_VALUES,
	GPB_SUM,
	GPB_MIN,
	GPB_MAX,
	GPB_AVG
} GpbAggregateFunction;

/* One aggregate of the query */
typedef struct GpbAggregateItem
{
	GpbAggregateFunction function;
	int			column;			/* as in aggregate.h: 0 is the key */
	Oid			type;			/* argument type; InvalidOid where any will do */
	Oid			aggregate;		/* the SQL function that it stands for */
} GpbAggregateItem;

/*
 * The plan node.  custom_scan_tlist holds the Aggrefs, in the order of the items, and
 * after them a Var of the key column.  That column of the scan tuple is never filled: it gives
 * custom_exprs, a list of the index conditions "key OP expression" and "key IS [NOT] NULL" and one
 * of those with an array, "key = ANY (expression)", something to refer to.  scanrelid is the table.
 * custom_private is what gpb_aggregate_private made.
 */
extern List *gpb_aggregate_private(Oid index, const GpbAggregateItem *items, int n);
extern Oid	gpb_aggregate_private_index(List *private);
extern int	gpb_aggregate_private_items(List *private, GpbAggregateItem **items);

/*
 * Raise an error unless the current user may execute the aggregate, or those of the items, as core's Agg does when it begins; to be
 * called when a node begins, under EXPLAIN too.
 */
extern void gpb_require_aggregate(Oid aggregate);
extern void gpb_require_aggregates(const GpbAggregateItem *items, int n);

extern const CustomScanMethods gpb_aggregate_scan_methods;

extern void gpb_aggregate_add_path(PlannerInfo *root, RelOptInfo *input_rel,
								   RelOptInfo *grouped_rel);

/* Is the query one row of aggregates, of a query that our nodes may run in? */
extern bool gpb_query_is_plain(PlannerInfo *root);
/* The same, or no row, if HAVING says so? */
extern bool gpb_query_is_one_row(PlannerInfo *root);
/*
 * Collect the distinct Aggrefs of the grouping target into *aggrefs.  false if the
 * target needs anything else of the tables.
 */
extern bool gpb_collect_aggrefs(PathTarget *target, List **aggrefs);
/* The Var of the table that an aggregate's argument is; NULL if it is anything else. */
extern Var *gpb_argument_var(Expr *argument, Index relid);
/* Can the index answer this aggregate?  Fills *item if so. */
extern bool gpb_match_aggref(Aggref *aggref, IndexOptInfo *index, GpbAggregateItem *item);

/* ---- one execution ---- */

/* Fill in what each column must be aggregated for (aggregate_exec.c). */
extern void gpb_aggregate_wants(const GpbAggregateItem *items, int n, GpbAggregateSpec *spec);

/* Numbers for EXPLAIN ANALYZE, summed over all executions of the node */
typedef struct GpbAggregateCounters
{
	uint64		matches;		/* entries aggregated */
	uint64		heap_entries;
	uint64		cpu_leaves;
	uint64		refreshed_blocks;
	uint64		fallbacks;		/* times that the device gave up, and the CPU began anew */
} GpbAggregateCounters;

/* Running state, and one GpbFloatSum for each column that needs one */
typedef struct GpbTotals
{
	GpbAggregateState state;
	GpbFloatSum *sums;			/* gpb_count_float_sums(spec) of them */
} GpbTotals;

/*
 * What the engines work on.  An engine adds to totals; the caller discards
 * them if the engine gives up.
 */
typedef struct GpbAggregateRun
{
	Relation	heap;
	Relation	index;
	Snapshot	snapshot;		/* registered, MVCC (but see aggregate_scan.c) */
	GpbAggregateSpec spec;		/* range, wants, layout; epoch etc. by engine */
	GpbTotals	totals;
	GpbAggregateCounters *counters;
	GpbHeapVisit *heap_visit;	/* NULL until first needed */
	GpbVisibility *visibility; /* NULL until first needed */
} GpbAggregateRun;

/*
 * aggregate_exec.c: compute the totals of the run's range, with the best engine there is; its name is returned.  The
 * same conditions as scan keys.  Everything but totals and counters is filled in; memory is of the current context.
 */
extern const char *gpb_aggregate_range(GpbAggregateRun *run, ScanKey keys, int nkeys);

/* aggregate_mirror.c: false, with totals in any state, if the CPU must answer */
extern bool gpb_run_mirror(GpbAggregateRun *run);

/* aggregate_cpu.c */
extern void gpb_run_cpu(GpbAggregateRun *run);
extern void gpb_run_cpu_range(GpbAggregateRun *run, GpbRange range);
extern void gpb_visibility_cache_release(GpbAggregateRun *run);

/* aggregate_scan.c */
extern void gpb_run_scan(GpbAggregateRun *run, ScanKey keys, int nkeys);

/*
 * aggregate_heap.c: entries whose visibility the heap must decide.  gpb_heap_add copies one entry
 * and visits when enough are gathered; gpb_heap_visit visits n records laid out as
 * gpb_heap_entry_width says; gpb_heap_flush visits what was added so far.  To be
 * called without buffer locks.
 */
extern void gpb_heap_add(GpbAggregateRun *run, uint64 key, const char *row);
extern void gpb_heap_flush(GpbAggregateRun *run);
extern void gpb_heap_visit(GpbAggregateRun *run, char *records, int n);
extern void gpb_heap_visit_release(GpbAggregateRun *run);

/* aggregate_final.c; the second: a two's complement 128-bit integer as numeric */
extern Datum gpb_aggregate_final(const GpbAggregateItem *item,
								 const GpbAggregateSpec *spec,
								 const GpbTotals *totals, bool *isnull);
extern Numeric gpb_int128_numeric(uint64 low, int64 high);

/* ---- the executor node ---- */

/*
 * aggregate_array.c, planning.  A restriction as a condition with an array, or NULL if it is not one; the price of
 * conditions with arrays.
 */
extern Expr *gpb_match_array_condition(PlannerInfo *root, RestrictInfo *rinfo,
									   IndexOptInfo *index);
extern Cost gpb_array_cost(PlannerInfo *root, IndexOptInfo *index, List *arrays,
						   const GpbAggregateItem *items, int nitems);

/*
 * aggregate_array.c, run time.  The clauses "arrays" are taken apart; all memory is of the current context and a child of it, but
 * for what a run needs.  A run evaluates them and adds the entries of their keys, within the range that the other conditions
 * leave, to a group.
 */
typedef struct GpbArrayScan GpbArrayScan;

extern GpbArrayScan *gpb_arrays_begin(Relation heap, Relation index, Snapshot snapshot,
									  const GpbAggregateItem *items, int nitems,
									  List *arrays, PlanState *ps);
extern void gpb_arrays_run(GpbArrayScan *scan, const GpbRange *range, GpbAggregateState *group);
extern void gpb_arrays_explain(const GpbArrayScan *scan, ExplainState *es);
extern void gpb_arrays_end(GpbArrayScan *scan);

typedef struct GpbAggregateScan
{
	CustomScanState css;
	Relation	heap;
	Relation	index;			/* NULL under EXPLAIN without ANALYZE */
	int			nitems;
	GpbAggregateItem *items;
	int			nconditions;
	GpbCondition *conditions;
	GpbArrayScan *arrays;		/* "key = ANY (array)"; NULL if there are none */
	MemoryContext work;			/* one execution's memory */
	bool		answered;		/* the scan tuple holds the answer */
	bool		returned;		/* and was handed out */
	const char *engine;			/* of the last execution, for EXPLAIN */
	GpbAggregateCounters counters;
} GpbAggregateScan;

extern void gpb_aggregate_explain(CustomScanState *css, List *ancestors,
								  ExplainState *es);

#endif							/* GPB_AGGREGATE_NODE_H */
