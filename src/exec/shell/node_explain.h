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
#include "nodes/execnodes.h"

#include "engine/batch.h"
#include "exec/shell/explain_labels.h"

/* Show the index of a node that scans one table, which core shows. */
extern void gpb_explain_index(Oid index, ExplainState *es);

/* Show the index of a node that joins a table, and that table; alias NULL is the table's name. */
extern void gpb_explain_inner_index(Oid index, const char *alias, ExplainState *es);

/* Likewise where a node asks several partitions, or children, of this table, each by an index */
extern void gpb_explain_inner_partitions(Oid table, const char *alias, ExplainState *es);

/* The alias of the table whose key is the last column of the node's scan tuple, as core shows it */
extern const char *gpb_inner_alias(CustomScanState *css, ExplainState *es);

/*
 * Show the conjunction of clauses over the node's scan tuple under a label, with the names of
 * tables if it is of a join; show nothing if there are no clauses.
 */
extern void gpb_explain_clauses(const char *label, CustomScanState *css, List *clauses,
								List *ancestors, ExplainState *es);

/*
 * The expressions over the node's scan tuple as texts, as core shows what a node groups by: with
 * the names of tables if there are several.
 */
extern List *gpb_explained_list(CustomScanState *css, List *expressions, List *ancestors,
								ExplainState *es);

/*
 * Show what batches counted, and the heap visits that the node itself made.  inputs is the label of
 * the batches' keys or ranges; NULL where there are no batches.
 */
extern void gpb_explain_counters(const char *inputs, const GpbBatchCounters *counters,
								 uint64 heap_fetches, ExplainState *es);

/* Show why an execution of the node was left to another way, if one was. */
extern void gpb_explain_gave_up(CustomScanState *css, ExplainState *es);

#endif							/* GPB_NODE_EXPLAIN_H */
