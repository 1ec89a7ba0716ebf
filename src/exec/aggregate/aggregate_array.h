/*-------------------------------------------------------------------------
 *
 * aggregate_array.h
 *	  Aggregates over the keys of arrays: "key = ANY (array)" as one batch.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_AGGREGATE_ARRAY_H
#define GPB_AGGREGATE_ARRAY_H

#include "postgres.h"
#include "commands/explain.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"
#include "utils/snapshot.h"

#include "aggregate.h"
#include "exec/common/items.h"

/* ---- planning ---- */

/* The restriction as a condition "key = ANY (array)" of the index, or NULL if it is not one */
extern Expr *gpb_match_array_condition(PlannerInfo *root, RestrictInfo *rinfo,
									   IndexOptInfo *index);

/* The price of aggregating n items over the keys that all of the conditions "arrays" admit */
extern Cost gpb_array_cost(PlannerInfo *root, IndexOptInfo *index, List *arrays,
						   const GpbAggregateItem *items, int nitems);

/* ---- execution ---- */

/* The conditions of a node, and the batch that answers them */
typedef struct GpbArrayScan GpbArrayScan;

/*
 * Prepare the conditions "arrays".  Memory, and that of later runs which outlives them, is of the
 * current context.
 */
extern GpbArrayScan *gpb_arrays_begin(Relation heap, Relation index, Snapshot snapshot,
									  const GpbAggregateItem *items, int nitems,
									  List *arrays, PlanState *ps);

/* Evaluate the arrays, and add the entries of their keys within the range to the group. */
extern void gpb_arrays_run(GpbArrayScan *scan, const GpbRange *range, GpbAggregateState *group);

/* Show what all runs counted. */
extern void gpb_arrays_explain(const GpbArrayScan *scan, ExplainState *es);

/* Close what the runs opened. */
extern void gpb_arrays_end(GpbArrayScan *scan);

#endif							/* GPB_AGGREGATE_ARRAY_H */
