/*-------------------------------------------------------------------------
 *
 * rank_node.h
 *	  The nodes GpubtreeRank and GpubtreePercentile; what they do is in README.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANK_NODE_H
#define GPB_RANK_NODE_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/compile/grouping.h"
#include "exec/compile/items.h"
#include "exec/shell/node_shell.h"

/* ---- planning: what both share (rank_plan.c) ---- */

/*
 * The price of finding a rank among so many entries of an index; beside_index_scan is as for
 * gpb_heap_price().
 */
extern Cost gpb_rank_price(PlannerInfo *root, IndexOptInfo *index, double entries,
						   bool beside_index_scan);

/* ---- the node GpubtreeRank ---- */

/* Where rows that are NULL in the ordered column come */
typedef enum GpbRankNulls
{
	GPB_RANK_NO_NULLS,			/* no such row is wanted */
	GPB_RANK_NULLS_FIRST,
	GPB_RANK_NULLS_LAST
} GpbRankNulls;

/*
 * The fields of the plan node, which scans one table by way of its child: core's scan of the index,
 * or index-only scan, for the rows wanted, or core's incremental sort of that scan.  The last of
 * the scan's index conditions is "column >= NULL" ("<=" if it goes to smaller keys) of the ordered
 * column, whose right side the node replaces by a parameter of its own.  A second child, if rows
 * that are NULL there are wanted, returns these.  The scan tuple has the children's columns, which
 * are the same, and, never filled, the key columns.
 */
typedef struct GpbRankPlan
{
	Oid			index;
	bool		backward;		/* do the children go backward through the index? */
	bool		sorted;			/* are they incremental sorts? */
	GpbRankNulls nulls;
	int			column;			/* the ordered column of the index's key, counted from 0 */
	int			start;			/* number of the parameter */
	List	   *conditions;		/* on the ordered column and those before it, and OFFSET: all
								 * evaluated before the first row */
	Expr	   *offset;
} GpbRankPlan;

/* Put the fields into the plan node. */
extern void gpb_rank_put(const GpbRankPlan *plan, CustomScan *scan);

/* Get the fields of the plan node. */
extern void gpb_rank_get(const CustomScan *scan, GpbRankPlan *plan);

extern const GpbNodeKind gpb_rank_node;

/* Offer our path for a query's final rows; to be called from create_upper_paths_hook. */
extern void gpb_rank_add_path(PlannerInfo *root, RelOptInfo *final_rel,
							  const FinalPathExtraData *extra);

/* ---- the node GpubtreePercentile ---- */

/* One percentile_disc */
typedef struct GpbPercentile
{
	bool		many;			/* an array of fractions, and of values */
	bool		descending;
	Oid			type;			/* of a value */
} GpbPercentile;

/*
 * The fields of the plan node, which scans one table.  Its scan tuple has the value of each item,
 * then of each percentile and, never filled, the key columns.
 */
typedef struct GpbPercentilePlan
{
	Oid			index;
	int			nitems;			/* other aggregates */
	GpbAggregateItem *items;
	int			npercentiles;
	GpbPercentile *percentiles;
	int			column;			/* the ordered column of the index's key, counted from 0 */
	List	   *conditions;		/* on it and the columns before it */
	List	   *fractions;		/* of each percentile */
	bool		nulls;			/* may rows be NULL there, which count for the other aggregates? */
} GpbPercentilePlan;

/* Put the fields into the plan node. */
extern void gpb_percentile_put(const GpbPercentilePlan *plan, CustomScan *scan);

/* Get the fields of the plan node; arrays are palloc'd. */
extern void gpb_percentile_get(const CustomScan *scan, GpbPercentilePlan *plan);

extern const GpbNodeKind gpb_percentile_node;

/*
 * Offer our path for a query's aggregates; to be called from create_upper_paths_hook.  Returns
 * false if none was offered.
 */
extern bool gpb_percentile_add_path(const GpbGrouping *query);

#endif							/* GPB_RANK_NODE_H */
