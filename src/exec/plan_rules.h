/*-------------------------------------------------------------------------
 *
 * plan_rules.h
 *	  What the planning of every node of ours asks.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PLAN_RULES_H
#define GPB_PLAN_RULES_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/*
 * SELECT, or INSERT ... SELECT, and not below a statement that may recheck rows by running plan
 * trees again (EvalPlanQual).
 */
extern bool gpb_query_allows_nodes(PlannerInfo *root);

/* Clauses of a list of RestrictInfos, those of less security first, else in their order. */
extern List *gpb_secure_order(List *rinfos);

/* One ordinary table of the heap access method, without children, sampling or lateral references. */
extern bool gpb_rel_is_plain(PlannerInfo *root, RelOptInfo *rel);

/* A gpubtree index on a plain column whose predicate, if it has one, the query implies? */
extern bool gpb_index_is_usable(IndexOptInfo *index);

/* Position of a table column among the index's columns, or -1. */
extern int	gpb_index_column(IndexOptInfo *index, AttrNumber attno);

/* A Var of the index's key column. */
extern Var *gpb_key_var(PlannerInfo *root, IndexOptInfo *index);

/*
 * Price of heap visits for the fraction of so many index entries that need one, in TID
 * order batch by batch, so each page once at most if the batch covers it.
 */
extern Cost gpb_heap_cost(PlannerInfo *root, IndexOptInfo *index, double entries,
						  double fraction);

/* Price of aggregating so many entries of the index where they lie, heap visits included. */
extern Cost gpb_count_cost(PlannerInfo *root, IndexOptInfo *index, double entries);

#endif							/* GPB_PLAN_RULES_H */
