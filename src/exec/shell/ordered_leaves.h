/*-------------------------------------------------------------------------
 *
 * ordered_leaves.h
 *	  Partitions whose rows follow one another in the order of a column.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ORDERED_LEAVES_H
#define GPB_ORDERED_LEAVES_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* The order of a column of a partitioned table */
typedef struct GpbLeafOrder
{
	const Var  *column;
	bool		descends;
	bool		nulls_first;
	bool		apart;			/* no value of the column is in two leaves */
} GpbLeafOrder;

/*
 * The leaves that planning has left of a partitioned table, RelOptInfos, such that no row of one
 * comes before a row of another that is ahead of it in the list.  NIL if the partitions have no
 * such order, or if it is not known.
 */
extern List *gpb_ordered_leaves(PlannerInfo *root, RelOptInfo *rel, GpbLeafOrder order);

/*
 * Is the column NULL in no row of the leaves that planning has left of a partitioned table, since
 * only a default partition by ranges of the column may have such?
 */
extern bool gpb_leaves_have_no_null(const RelOptInfo *rel, const Var *column);

/*
 * Between which values of an integer, date or timestamp column all rows of the leaves lie that
 * planning has left of a partitioned table, by the bounds of its partitions: as integers
 * (bucket_function.h).  The least and the greatest of all integers where that is not known.
 */
extern void gpb_leaf_bounds(const RelOptInfo *rel, const Var *column, int64 *first, int64 *last);

#endif							/* GPB_ORDERED_LEAVES_H */
