/*-------------------------------------------------------------------------
 *
 * rank_node.h
 *	  The nodes GpubtreeRank, GpubtreeOffset and GpubtreePercentile; what they do is in README.
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
#include "exec/where/partition_match.h"

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
	Expr	   *offset;			/* NULL: of a leaf, which skips what is left of it */
	int			remaining;		/* of a leaf: number of the parameter that has that; else -1 */
} GpbRankPlan;

/* Put the fields into the plan node. */
extern void gpb_rank_put(const GpbRankPlan *plan, CustomScan *scan);

/* Get the fields of the plan node. */
extern void gpb_rank_get(const CustomScan *scan, GpbRankPlan *plan);

extern const GpbNodeKind gpb_rank_node;

/*
 * The relation whose rows, and nothing else of it, the query returns from an OFFSET on; NULL if it
 * is not of that kind.
 */
extern RelOptInfo *gpb_rank_rel(PlannerInfo *root, const FinalPathExtraData *extra);

/*
 * Offer our path for a query's final rows, which are of gpb_rank_rel(), if that is one table; to be
 * called from create_upper_paths_hook.
 */
extern void gpb_rank_add_path(PlannerInfo *root, RelOptInfo *final_rel, RelOptInfo *rel,
							  const FinalPathExtraData *extra);

/* ---- what a path over several leaves needs (rank_plan.c) ---- */

/* The rows before the one that OFFSET wants first, as core estimates them, of so many rows */
extern double gpb_rank_offset_rows(const FinalPathExtraData *extra, double rows);

/*
 * The columns that the query's target list needs, as the query says them; and a target that has
 * these of a table, which may be a leaf.
 */
extern List *gpb_rank_columns(PlannerInfo *root);
extern PathTarget *gpb_rank_child_target(PlannerInfo *root, RelOptInfo *rel);

/* What is wanted of a table's rows */
typedef struct GpbRankWish
{
	double		skipped;		/* so many are skipped, about */
	bool		no_nulls;		/* what the query sorts by first is NULL in none */
	Expr	   *offset;			/* as in GpbRankPlan */
	int			remaining;
	PathTarget *target;			/* of the node's rows */
	PathTarget *child;			/* of those that it reads: gpb_rank_child_target() */
	List	   *columns;		/* that this needs, Vars as they stand in it */
} GpbRankWish;

/* The cheapest path by counting, over an index of the table; NULL if there is none. */
extern Path *gpb_rank_path(PlannerInfo *root, RelOptInfo *table, const GpbRankWish *wish);

/* Offer a path that skips what OFFSET does, below core's Limit. */
extern void gpb_rank_add_limit_path(PlannerInfo *root, RelOptInfo *final_rel, Path *path,
									const FinalPathExtraData *extra);

/* ---- the node GpubtreeOffset ---- */

/*
 * The fields of the plan node, which stands for a partitioned table: above core's Append of the
 * leaves in order, some of which are GpubtreeRanks and count what they skip.  The scan tuple has
 * the Append's columns.
 */
typedef struct GpbOffsetPlan
{
	Expr	   *offset;
	int			remaining;		/* number of the parameter that has what of OFFSET is left */
} GpbOffsetPlan;

/* Put the fields into the plan node. */
extern void gpb_offset_put(const GpbOffsetPlan *plan, CustomScan *scan);

/* Get the fields of the plan node. */
extern void gpb_offset_get(const CustomScan *scan, GpbOffsetPlan *plan);

extern const GpbNodeKind gpb_offset_node;

/* OFFSET's value.  Core's Limit above has raised the error if it is negative. */
extern int64 gpb_offset_value(ExprState *offset, ExprContext *econtext);

/* How many rows the leaves from the one whose turn it is on are to skip, which is a parameter */
static inline int64
gpb_offset_remaining(const EState *estate, int number)
{
	return DatumGetInt64(estate->es_param_exec_vals[number].value);
}

static inline void
gpb_offset_set_remaining(EState *estate, int number, int64 remaining)
{
	ParamExecData *parameter = &estate->es_param_exec_vals[number];

	parameter->execPlan = NULL;
	parameter->value = Int64GetDatum(remaining);
	parameter->isnull = false;
}

/* As gpb_rank_add_path(), if the relation is a partitioned table that has several leaves left */
extern void gpb_offset_add_path(PlannerInfo *root, RelOptInfo *final_rel, RelOptInfo *rel,
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
 * The fields of the plan node, which scans one table, or stands for the parent of several
 * partitions.  Its scan tuple has the value of each item, then of each percentile and, never
 * filled, the key columns.
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
	GpbPartitionList partitions;	/* if there are several, the index is that of one of them, and
									 * no NULLs count */
} GpbPercentilePlan;

/* Put the fields into the plan node. */
extern void gpb_percentile_put(const GpbPercentilePlan *plan, CustomScan *scan);

/* Get the fields of the plan node; arrays are palloc'd. */
extern void gpb_percentile_get(const CustomScan *scan, GpbPercentilePlan *plan);

extern const GpbNodeKind gpb_percentile_node;

/*
 * Offer our path for a query's aggregates, of one table or of several leaves; to be called from
 * create_upper_paths_hook.  Returns false if none was offered.
 */
extern bool gpb_percentile_add_path(const GpbGrouping *query);

#endif							/* GPB_RANK_NODE_H */
