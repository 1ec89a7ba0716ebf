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

#include "exec/answer/ask.h"
#include "exec/compile/items.h"
#include "exec/where/key_arrays.h"

/* ---- planning ---- */

/*
 * The price of aggregating n items over the keys that all of the conditions "arrays" admit, which
 * have so many entries
 */
extern Cost gpb_array_cost(PlannerInfo *root, IndexOptInfo *index, List *arrays, double entries,
						   const GpbAggregateItem *items, int nitems);

/* ---- execution ---- */

/*
 * Evaluate the arrays, and add the entries of their keys within the range, which the other
 * conditions leave, to the group of the ask.  Returns NULL, or why there is no answer.
 */
extern const char *gpb_arrays_run(GpbArrayScan *scan, Relation index, const GpbRange *range,
								  GpbAsk *ask);

#endif							/* GPB_AGGREGATE_ARRAY_H */
