/*-------------------------------------------------------------------------
 *
 * range_totals.h
 *	  SQL aggregates over each of many key ranges.
 *
 * A batch (batch.h) aggregates one column.  This runs one batch for each column that a query's
 * aggregates are over, all with the same ranges and the same snapshot, so that their answers belong
 * together, and turns what a range got, or several ranges that make one group, into the
 * aggregates' values.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANGE_TOTALS_H
#define GPB_RANGE_TOTALS_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/aggregate/aggregate_node.h"
#include "engine/batch.h"

/*
 * Fill in the items of a query's aggregates; false unless the index answers all of them and none is a sum, or average, of
 * double precision, which batches do not have.
 */
extern bool gpb_match_range_aggrefs(IndexOptInfo *index, List *aggrefs,
									GpbAggregateItem **items);

/* Columns that the aggregates are over: the index is asked as many times. */
extern int	gpb_count_item_columns(const GpbAggregateItem *items, int nitems);

typedef struct GpbRangeTotals GpbRangeTotals;

/*
 * For the aggregates "items"; snapshot, relations, points, memory (of each batch, 0: hash_mem) and engine are as in
 * GpbBatchWant and gpb_batch_begin.  All memory is of a child of the current context.
 */
extern GpbRangeTotals *gpb_range_totals_begin(Relation heap, Relation index, Snapshot snapshot,
											  const GpbAggregateItem *items, int nitems,
											  bool points, Size memory, GpbEngine engine);

/* Answer n ranges; input as for gpb_batch_run.  Answers are good until the next run. */
extern void gpb_range_totals_run(GpbRangeTotals *totals, const void *input, uint32 n);

/* Add one total over all of n disjoint ranges to a group, without an answer for each. */
extern void gpb_range_totals_sum(GpbRangeTotals *totals, const void *input, uint32 n,
								 GpbAggregateState *group);

/* Bytes of answers for each range of a run */
extern Size gpb_range_totals_width(const GpbRangeTotals *totals);

/* Entries of one range of the last run */
extern int64 gpb_range_totals_entries(const GpbRangeTotals *totals, uint32 range);

/* A group: begin it, add ranges of the last run to it, over several runs if need be, and take the aggregates' values. */
extern void gpb_range_group_init(GpbAggregateState *group);
extern void gpb_range_group_add(const GpbRangeTotals *totals, uint32 range,
								GpbAggregateState *group);
/* values and isnull are of the items' number; what is not passed by value is allocated in the current context. */
extern void gpb_range_group_final(const GpbRangeTotals *totals, const GpbAggregateState *group,
								  Datum *values, bool *isnull);

/* Of the first column's batch, with the requests and fetches of all */
extern void gpb_range_totals_counters(const GpbRangeTotals *totals, GpbBatchCounters *counters);

extern void gpb_range_totals_end(GpbRangeTotals *totals);

#endif							/* GPB_RANGE_TOTALS_H */
