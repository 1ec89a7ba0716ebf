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

#include "engine/batch.h"
#include "exec/common/explain_labels.h"
#include "exec/common/range_conditions.h"

/* The index of a node that scans one table, which core shows; with its schema if VERBOSE. */
extern void gpb_explain_index(Oid index, ExplainState *es);

/*
 * The index of a node that joins its table, and the table with its alias; NULL is the table's name.
 */
extern void gpb_explain_inner_index(Oid index, const char *alias, ExplainState *es);

/* The alias of the table whose key is the last column of the scan tuple, as core shows it */
extern const char *gpb_inner_alias(CustomScan *plan, ExplainState *es);

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
 * made.  "inputs" is the label of the batches' keys or ranges; NULL where there are no batches.
 */
extern void gpb_explain_counters(const char *inputs, const GpbBatchCounters *counters,
								 uint64 heap_fetches, ExplainState *es);
extern void gpb_explain_batch(const char *inputs, GpbBatch *batch, uint64 heap_fetches,
							  ExplainState *es);

#endif							/* GPB_NODE_EXPLAIN_H */
