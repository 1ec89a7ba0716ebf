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

#include "exec/answer/range_totals.h"
#include "exec/compile/items.h"
#include "exec/where/arrays.h"

/*
 * The price of aggregating n items over the keys that all of the conditions "arrays" admit, which
 * have so many entries
 */
extern Cost gpb_array_cost(PlannerInfo *root, IndexOptInfo *index, List *arrays, double entries,
						   const GpbAggregateItem *items, int nitems);

#endif							/* GPB_AGGREGATE_ARRAY_H */
