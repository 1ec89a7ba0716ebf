/*-------------------------------------------------------------------------
 *
 * scan_match.h
 *	  How an index answers a table's rows: which of its columns, conditions and order.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SCAN_MATCH_H
#define GPB_SCAN_MATCH_H

#include "postgres.h"
#include "nodes/pathnodes.h"

#include "exec/common/range_split.h"
#include "exec/scan/scan_node.h"

/* The first rows that a query wants: the first key of ORDER BY, with LIMIT and OFFSET */
typedef struct GpbScanFirst
{
	Expr	   *expression;
	bool		descending;
	bool		nulls_first;
	uint32		limit;			/* LIMIT and OFFSET together */
} GpbScanFirst;

/* How one index answers the rows */
typedef struct GpbScanMatch
{
	IndexOptInfo *index;
	GpbProgramBuilder *builder;
	GpbRangeSplit split;
	List	   *columns;		/* Vars that the scan tuple has */
	List	   *filters;		/* RestrictInfos that the program tests */
	List	   *others;			/* RestrictInfos that are evaluated for each row */
	double		entries;		/* of the ranges, about */
	double		listed;			/* entries that no filter drops, without a limit */
	GpbScanPlan plan;
} GpbScanMatch;

/*
 * Does the query want the first rows of this table, and nothing else of it, in an order?  Then each
 * path of the table may leave out what is behind them.
 */
extern bool gpb_scan_wants_first(PlannerInfo *root, RelOptInfo *rel, GpbScanFirst *first);

/*
 * Match the rows of the table to one index, which is usable; of the first ones alone unless first
 * is NULL.  Returns false if the index cannot answer them.
 */
extern bool gpb_scan_match_index(PlannerInfo *root, IndexOptInfo *index,
								 const GpbScanFirst *first, GpbScanMatch *match);

/* Fill in the path's rows and price. */
extern void gpb_scan_price(PlannerInfo *root, const GpbScanMatch *match, Path *path);

#endif							/* GPB_SCAN_MATCH_H */
