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
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"

#include "exec/common/items.h"
#include "exec/common/range_totals.h"

/* ---- planning ---- */

/* The restriction as a condition "key = ANY (array)" of the index, or NULL if it is not one */
extern Expr *gpb_match_array_condition(PlannerInfo *root, RestrictInfo *rinfo,
									   IndexOptInfo *index);

/* The price of aggregating n items over the keys that all of the conditions "arrays" admit */
extern Cost gpb_array_cost(PlannerInfo *root, IndexOptInfo *index, List *arrays,
						   const GpbAggregateItem *items, int nitems);

/* ---- execution ---- */

/* The conditions of a node */
typedef struct GpbArrayScan GpbArrayScan;

/* Prepare the conditions "arrays".  Memory is of the current context, but for what a run needs. */
extern GpbArrayScan *gpb_arrays_begin(Relation index, List *arrays, PlanState *ps);

/* GPB_RANGE_POINTS if the arrays' keys are single ones, else GPB_RANGE_KEYS */
extern GpbRangeForm gpb_arrays_form(const GpbArrayScan *scan);

/*
 * Evaluate the arrays, and add the entries of their keys within the range, which the other
 * conditions leave, to the group of the totals.
 */
extern void gpb_arrays_run(GpbArrayScan *scan, const GpbRange *range, GpbRangeTotals *totals);

#endif							/* GPB_AGGREGATE_ARRAY_H */
