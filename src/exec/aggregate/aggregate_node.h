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
#include "access/skey.h"
#include "access/tableam.h"
#include "commands/explain.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "aggregate.h"
#include "engine/heap_visit.h"
#include "engine/visibility.h"
#include "exec/aggregate/aggregate_array.h"
#include "exec/common/item_final.h"
#include "exec/common/items.h"
#include "exec/common/key_conditions.h"
#include "exec/common/node_shell.h"

/* ---- the plan node ---- */

/*
 * The fields of the plan node.  Its scan tuple has the value of each item and, never filled, the
 * key column, to which the conditions refer.  It scans one table.
 */
typedef struct GpbAggregatePlan
{
	Oid			index;
	int			nitems;
	GpbAggregateItem *items;
	List	   *conditions;		/* "key OP expression" and "key IS [NOT] NULL" */
	List	   *arrays;			/* "key = ANY (expression)" */
} GpbAggregatePlan;

/* Put the fields into the plan node. */
extern void gpb_aggregate_put(const GpbAggregatePlan *plan, CustomScan *scan);

/* Get the fields of the plan node; items are palloc'd. */
extern void gpb_aggregate_get(const CustomScan *scan, GpbAggregatePlan *plan);

extern const GpbNodeKind gpb_aggregate_node;

/* Offer our path for the grouping of a table; to be called from create_upper_paths_hook. */
extern void gpb_aggregate_add_path(PlannerInfo *root, RelOptInfo *input_rel,
								   RelOptInfo *grouped_rel);

/* ---- one execution, as the engines have it ---- */

/* Numbers for EXPLAIN ANALYZE, summed over all executions of the node */
typedef struct GpbAggregateCounters
{
	uint64		matches;		/* entries aggregated */
	uint64		heap_entries;
	uint64		cpu_leaves;
	uint64		refreshed_blocks;
	uint64		fallbacks;		/* times that the device gave up, and the CPU began anew */
} GpbAggregateCounters;

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
 * aggregate_exec.c: compute the totals of the run's range, with the best engine there is; its name
 * is returned.  The same conditions as scan keys.  Everything but totals and counters is filled in;
 * memory is of the current context.
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

/* ---- the executor node ---- */

typedef struct GpbAggregateScan
{
	GpbNode		node;
	GpbAggregatePlan plan;
	int			nconditions;
	GpbCondition *conditions;
	GpbArrayScan *arrays;		/* NULL unless there are conditions with arrays */
	const char *engine;			/* of the last execution, for EXPLAIN */
	GpbAggregateCounters counters;
} GpbAggregateScan;

extern void gpb_aggregate_explain(CustomScanState *css, List *ancestors,
								  ExplainState *es);

#endif							/* GPB_AGGREGATE_NODE_H */
