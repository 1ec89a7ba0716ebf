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

/*
 * Clauses in the order in which core would test them: those of less security first, then cheaper ones, else as they
 * stand.  Members of the list are RestrictInfos or bare clauses.
 */
extern List *gpb_order_clauses(PlannerInfo *root, List *clauses);

/* One ordinary table of the heap access method, without children, sampling or lateral references. */
extern bool gpb_rel_is_plain(PlannerInfo *root, RelOptInfo *rel);

/* A gpubtree index on a plain column whose predicate, if it has one, the query implies? */
extern bool gpb_index_is_usable(IndexOptInfo *index);

/* Position of a table column among the index's columns, or -1. */
extern int	gpb_index_column(IndexOptInfo *index, AttrNumber attno);

/* A Var of the index's key column. */
extern Var *gpb_key_var(PlannerInfo *root, IndexOptInfo *index);

/* Price of the CPU time of so many heap visits, each to a page that others visit too; beside_index_scan as below. */
extern Cost gpb_visit_cost(PlannerInfo *root, IndexOptInfo *index, double visits, bool on_device,
						   bool beside_index_scan);

/* How far the heap's order follows the key's: -1 to 1 */
extern double gpb_index_correlation(PlannerInfo *root, IndexOptInfo *index);

/* Distinct pages of "pages" that n visits at random touch */
extern double gpb_distinct_pages(double n, double pages);

/*
 * The price of aggregating so many entries of the index where they lie, heap visits included.  beside_index_scan: nothing else is likely to
 * answer the query but a scan of the index by core, whose price leaves out what it takes to wait for memory; so does ours then.
 */
extern Cost gpb_count_cost(PlannerInfo *root, IndexOptInfo *index, double entries,
						   bool beside_index_scan);

#endif							/* GPB_PLAN_RULES_H */
