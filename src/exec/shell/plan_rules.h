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
 * Is this level of the query a SELECT, or the SELECT of an INSERT, in which no row of a table is
 * marked to be locked or changed?  EvalPlanQual, which tests such rows again, puts a row in the
 * place of the scan of its table, so a node must stand for no such table.  It may stand for tables
 * at another level of the same statement: see src/README, M10.
 */
extern bool gpb_query_allows_nodes(PlannerInfo *root);

/*
 * Is the relation one ordinary table of the heap access method, without children, sampling or
 * lateral references, whose rows are all in its heap?  Asked when other modules have had their say
 * about the table's paths.
 */
extern bool gpb_rel_is_plain(PlannerInfo *root, RelOptInfo *rel);

/*
 * Is it such a table, or a leaf of a partitioned table, or a child of an inheritance parent or of
 * UNION ALL?  Core's Append has the paths of a child; the query's expressions are about its parent:
 * gpb_of_child().
 */
extern bool gpb_rel_is_table(PlannerInfo *root, RelOptInfo *rel);

/*
 * The two halves of gpb_rel_is_table(): what the relation's description says, and whether a table
 * is of the heap access method, which takes as long as all the rest.  Where most queries end
 * between the two, as look-ups do in scan/, they are asked apart.
 */
extern bool gpb_rel_may_be_table(PlannerInfo *root, RelOptInfo *rel);
extern bool gpb_rel_is_heap(PlannerInfo *root, RelOptInfo *rel);

/*
 * Are the table's columns the query's own?  So they are if it has no parent, or one that is a
 * table.  A member of UNION ALL may have expressions in their place, of other collations.
 */
extern bool gpb_rel_has_the_columns(PlannerInfo *root, RelOptInfo *rel);

/*
 * The leaves that planning has left of a partitioned table, or of an inheritance parent, which is a
 * child of itself: RelOptInfos, in core's order.
 */
extern List *gpb_leaves_of(PlannerInfo *root, RelOptInfo *parent);

/*
 * The table whose rows are those of the relation: itself or, of a parent, the only leaf that
 * planning has left.  NULL if there is no such table, or if no node may scan it.
 */
extern RelOptInfo *gpb_only_table(PlannerInfo *root, RelOptInfo *rel);

/* The query's expression, with the columns of the table's parent, if it has one, as its own */
extern Node *gpb_of_child(PlannerInfo *root, RelOptInfo *rel, Node *expression);

/*
 * How the columns of relation relid are those of the table that is its parent; NULL if it has none.
 * UNION ALL is no such parent: its columns are the members' expressions, whose numbers say nothing.
 */
extern const AppendRelInfo *gpb_parent_table(PlannerInfo *root, Index relid);

/* The reverse: an expression over columns of a child, with those of its topmost parent */
extern Node *gpb_of_parent(PlannerInfo *root, RelOptInfo *rel, Node *expression);

/*
 * Is it a gpubtree index whose key columns, one or several, are plain columns, and whose predicate,
 * if it has one, the query implies?
 */
extern bool gpb_index_is_usable(IndexOptInfo *index);

#endif							/* GPB_PLAN_RULES_H */
