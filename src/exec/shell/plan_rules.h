/*-------------------------------------------------------------------------
 *
 * plan_rules.h
 *	  May a node of ours run in this query, over this table, with this index (rule M10)?
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PLAN_RULES_H
#define GPB_PLAN_RULES_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/*
 * Is the query a SELECT, or the SELECT of an INSERT, and not below a statement that may recheck
 * rows by running plan trees again (EvalPlanQual)?
 */
extern bool gpb_query_allows_nodes(PlannerInfo *root);

/*
 * Is the relation one ordinary table of the heap access method, without children, sampling or
 * lateral references, whose rows are all in its heap?  Asked when other modules have had their say
 * about the table's paths.
 */
extern bool gpb_rel_is_plain(PlannerInfo *root, RelOptInfo *rel);

/*
 * Is it a gpubtree index whose key columns, one or several, are plain columns, and whose predicate,
 * if it has one, the query implies?
 */
extern bool gpb_index_is_usable(IndexOptInfo *index);

#endif							/* GPB_PLAN_RULES_H */
