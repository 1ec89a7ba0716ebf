/*-------------------------------------------------------------------------
 *
 * grouping.h
 *	  What a query wants that aggregates or groups the rows of one table, whatever the index.
 *
 * It is matched once, for all nodes that may answer it: those of exec/aggregate, exec/bucket and
 * percentiles (exec/rank).
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_GROUPING_H
#define GPB_GROUPING_H

#include "postgres.h"
#include "nodes/pathnodes.h"

typedef struct GpbGrouping
{
	PlannerInfo *root;
	RelOptInfo *rel;			/* the only child that planning has left of a parent */
	List	   *leaves;			/* RelOptInfos: if it has left several, or a foreign one, all of
								 * them, and rel is the parent; else NIL */
	RelOptInfo *grouped_rel;	/* which has the paths */
	PathTarget *target;			/* of these */
	List	   *clauses;		/* SortGroupClauses: of DISTINCT too */
	List	   *groups;			/* their expressions, each once */
	List	   *aggrefs;		/* each once */
	List	   *groupings;		/* calls of GROUPING(), each once */
	List	   *having;
	List	   *said;			/* of a child: groups and aggrefs as the query says them, of the */
	List	   *meant;			/* parent's columns, and as they are above, of its own */
	Bitmapset  *columns;		/* that an index without a predicate must have, but for those of */
	Bitmapset  *restricted;		/* the table's restrictions; sets of plan_columns.h */
} GpbGrouping;

/*
 * Fill in what the query wants at this stage, UPPERREL_GROUP_AGG or UPPERREL_DISTINCT.  Returns
 * NULL, or why no index could answer it.
 */
extern const char *gpb_match_grouping(PlannerInfo *root, UpperRelationKind stage,
									  RelOptInfo *input_rel, RelOptInfo *grouped_rel,
									  GpbGrouping *grouping);

/* Fill in what the query wants of one of the leaves. */
extern void gpb_grouping_of_leaf(const GpbGrouping *whole, RelOptInfo *leaf,
								 GpbGrouping *grouping);

/*
 * Groups and aggrefs as the query says them, which is how a node's scan tuple must have them, since
 * what is above the node is matched with that.
 */
extern List *gpb_grouping_as_said(const GpbGrouping *grouping, List *expressions);

/*
 * May the index, which is usable, answer the query?  It has every column then.  Much cheaper than
 * to match it, which can say what is missing.
 */
extern bool gpb_grouping_may_match(const GpbGrouping *grouping, IndexOptInfo *index);

/*
 * Does the query return one row of aggregates, or none where HAVING rejects it, and may our nodes
 * run in it?
 */
extern bool gpb_query_is_one_row(PlannerInfo *root);

/*
 * Collect the expressions of a list of SortGroupClauses, each once.  Their values must be equal
 * where their type's own equality has them equal, and come from the table.  Returns NULL, or why
 * they do not.
 */
extern const char *gpb_match_group_clauses(PlannerInfo *root, RelOptInfo *rel, List *clauses,
										   List **groups);

/*
 * Add the Aggrefs in the expressions to *aggrefs, each once.  Returns false if anything else of a
 * table is needed.
 */
extern bool gpb_collect_aggrefs(List *expressions, List **aggrefs);

#endif							/* GPB_GROUPING_H */
