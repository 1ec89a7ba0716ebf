/*-------------------------------------------------------------------------
 *
 * node_explain.h
 *	  What EXPLAIN shows of every node of ours.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_NODE_EXPLAIN_H
#define GPB_NODE_EXPLAIN_H

#include "postgres.h"
#include "commands/explain.h"
#include "nodes/plannodes.h"

#include "batch.h"
#include "range_conditions.h"

/* The index, with its schema if VERBOSE. */
extern void gpb_explain_index(Oid index, ExplainState *es);

/*
 * A conjunction of clauses over the node's scan tuple, columns with their tables' names if it is a join;
 * nothing if there are none.
 */
extern void gpb_explain_clauses(const char *label, CustomScan *plan, List *clauses,
								List *ancestors, ExplainState *es);

/*
 * Conditions of a range as one expression, put together from their parts, since the plan has no Var of the index's table.  values: one for
 * each condition, over the node's scan tuple.
 */
extern void gpb_explain_range_conditions(Oid index, int nconditions,
										 const GpbRangeCondition *conditions, List *values,
										 CustomScan *plan, List *ancestors, ExplainState *es);

/*
 * What was counted, by a batch, which is NULL if there was none, or by several; and the heap visits that the node itself
 * made.
 */
extern void gpb_explain_counters(const GpbBatchCounters *counters, uint64 heap_fetches,
								 ExplainState *es);
extern void gpb_explain_batch(GpbBatch *batch, uint64 heap_fetches, ExplainState *es);

#endif							/* GPB_NODE_EXPLAIN_H */
