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

#include "engine/batch.h"
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


/* ---- the executor node ---- */

typedef struct GpbAggregateScan
{
	GpbNode		node;
	GpbAggregatePlan plan;
	int			nconditions;
	GpbCondition *conditions;
	GpbArrayScan *arrays;		/* NULL unless there are conditions with arrays */
	GpbRangeTotals *totals;	/* NULL until first needed */
	MemoryContext context;		/* the node's */
	const char *engine;			/* of the last execution, for EXPLAIN */
} GpbAggregateScan;

extern void gpb_aggregate_explain(CustomScanState *css, List *ancestors,
								  ExplainState *es);

#endif							/* GPB_AGGREGATE_NODE_H */
