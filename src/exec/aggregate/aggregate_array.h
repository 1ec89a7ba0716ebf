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
#include "exec/where/key_arrays.h"

/*
 * Evaluate the arrays, and add the entries of their keys within the range, which the other
 * conditions leave, to the group of the totals.
 */
extern void gpb_arrays_run(GpbArrayScan *scan, Relation index, const GpbRange *range,
						   GpbRangeTotals *totals);

#endif							/* GPB_AGGREGATE_ARRAY_H */
