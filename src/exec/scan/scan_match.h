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

#include "exec/scan/scan_node.h"
#include "exec/where/column_skip.h"
#include "exec/where/range_split.h"

/* The first rows that a query wants: the first key of ORDER BY, with LIMIT and OFFSET */
typedef struct GpbScanFirst
{
	Expr	   *expression;
	bool		descending;
	bool		nulls_first;
	uint32		limit;			/* LIMIT and OFFSET together, or a guess if bound is not NIL */
	List	   *bound;			/* both, or LIMIT alone, if they are not constants */
} GpbScanFirst;

/* The last rows of groups that a query wants: DISTINCT ON, and the key of ORDER BY behind its */
typedef struct GpbScanLast
{
	List	   *groups;			/* expressions, each once */
	Expr	   *order;
	bool		descending;
} GpbScanLast;

/*
 * What a query wants of each group of rows, a group being what has the same values in some columns:
 * one row, or those that are first in an order, or those with the least and the greatest value
 */
typedef struct GpbScanGroups
{
	List	   *columns;		/* Vars, each once */
	List	   *order;			/* SortGroupClauses, none of which is on one of the columns */
	Var		   *extreme;		/* what min() and max() are of; NULL if there are none */
	List	   *functions;		/* OIDs of the operators that order as they do */
} GpbScanGroups;

/* What of a table's rows a path returns; all are NULL if it is what passes the restrictions */
typedef struct GpbScanWish
{
	const GpbScanFirst *first;
	const GpbScanLast *last;
	Var		   *each;			/* one row of each value of this column is enough */
	bool		many;			/* arrays have many keys, whatever core's paths cost */
} GpbScanWish;

/* Which columns of the table the query needs, as sets (plan_columns.h) */
typedef struct GpbScanColumns
{
	Bitmapset  *rows;			/* of the table's rows */
	Bitmapset  *restricted;		/* by restrictions that are not always true */
	Bitmapset  *needed;			/* both, but for the table's OID, which is known */
	Bitmapset  *order;			/* of what decides which rows are the first */
	bool		sorted;			/* does the query want the first of its rows in an order? */
	bool		has_arms;		/* is there an OR or a row comparison among the restrictions? */
	bool		has_arrays;		/* or a condition on the elements of an array? */
} GpbScanColumns;

/* How one index answers the rows */
typedef struct GpbScanMatch
{
	IndexOptInfo *index;
	GpbProgramBuilder *builder;
	GpbProgramBuilder *ends;	/* of the program that finds last keys; NULL if there is none */
	double		groups;			/* whose last keys that program finds, about */
	GpbRangeSplit split;
	List	   *columns;		/* Vars that the scan tuple has */
	List	   *filters;		/* RestrictInfos that the program tests */
	List	   *others;			/* RestrictInfos that are evaluated for each row */
	double		entries;		/* of the ranges, about */
	GpbSkip		skip;			/* the plan skips if that is cheaper */
	double		passed;			/* with a limit: entries that pass the filters, about; else 0 */
	double		listed;			/* entries that the program lists, about */
	List	   *pathkeys;		/* the order of rows that come in that of the index */
	GpbScanPlan plan;
} GpbScanMatch;

/*
 * Does the query want the first rows of this table, and nothing else of it, in an order?  Then each
 * path of the table may leave out what is behind them.
 */
extern bool gpb_scan_wants_first(PlannerInfo *root, RelOptInfo *rel, GpbScanFirst *first);

/*
 * Does the query want one row of each group of this table's rows, and nothing else of it, the one
 * that is first in an order?  Then each path of the table may leave out what comes behind.
 */
extern bool gpb_scan_wants_last(PlannerInfo *root, RelOptInfo *rel, GpbScanLast *last);

/*
 * Does the query want nothing of this table but its values of one column, each once, or one row of
 * each?  Then each path of the table may leave out further rows.  Returns the column, or NULL.
 */
extern Var *gpb_scan_wants_each(PlannerInfo *root, RelOptInfo *rel);

/*
 * Does the query want no more of this table than that of each group (scan_groups.c)?  Then each
 * path of the table may leave out further rows.
 */
extern bool gpb_scan_wants_groups(PlannerInfo *root, RelOptInfo *rel, GpbScanGroups *groups);

/*
 * Match the groups to one index, which has several key columns, but for the columns of the scan
 * tuple.  Returns false if a walk from group to group cannot return them.
 */
extern bool gpb_scan_match_groups(PlannerInfo *root, IndexOptInfo *index,
								  const GpbScanGroups *groups, GpbScanMatch *match);

/*
 * Match the rows of the table, in the order of an index with several key columns, or its reverse.
 * Returns false if that order is of no use, or if core's own scan of the index would do as much.
 */
extern bool gpb_scan_match_ordered(PlannerInfo *root, IndexOptInfo *index,
								   ScanDirection direction, GpbScanMatch *match);

/* Part the restrictions into ranges of the key and others. */
extern void gpb_scan_match_ranges(PlannerInfo *root, GpbScanMatch *match);

/*
 * Is this the plan of a cursor, and may UPDATE or DELETE WHERE CURRENT OF it ask where its row is?
 */
extern bool gpb_scan_shows_current_row(PlannerInfo *root);

/*
 * Match the rows of the table that are wished for to one index, which is usable.  Returns false if
 * the index cannot answer them, or if core's own scan of it would do as much.
 */
extern bool gpb_scan_match_index(PlannerInfo *root, IndexOptInfo *index, GpbScanWish wish,
								 GpbScanMatch *match);

/* The restrictions on the index's table that are not tested once, above the table's scan */
extern List *gpb_scan_row_restrictions(IndexOptInfo *index);

/*
 * Find the columns of the scan tuple, and where each comes from: from the table, if someone may ask
 * where a row is.
 */
extern void gpb_scan_match_columns(PlannerInfo *root, GpbScanMatch *match);

/*
 * Add to the match what finds the last rows of groups (scan_last.c); the restrictions are matched.
 * Returns false if the index cannot do it.
 */
extern bool gpb_scan_match_last(PlannerInfo *root, GpbScanMatch *match, const GpbScanLast *last);

/* May the match be by one row of each key (scan_each.c)?  The restrictions are matched. */
extern bool gpb_scan_match_each(GpbScanMatch *match, Var *column);

/*
 * Has the table a path already that is cheaper than any that lists entries of the index?  For all
 * rows that pass the restrictions, before anything is matched.  If not, *least is what such a path
 * costs at least.
 */
extern bool gpb_scan_is_beaten_at_once(PlannerInfo *root, IndexOptInfo *index,
									   const GpbScanColumns *columns, Cost *least);

/*
 * Has the table a path already that is cheaper than any that lists the first entries alone, which
 * core sorts if no other is cheaper?  Asked before anything is matched.  If not, *least is what
 * such a path costs at least.
 */
extern bool gpb_scan_first_is_beaten_at_once(PlannerInfo *root, IndexOptInfo *index,
											 const GpbScanColumns *columns, Cost *least);

/*
 * Has the table a path that is better in everything than the walk from group to group?  That may
 * fetch no rows if the index has all columns.
 */
extern bool gpb_scan_walk_is_beaten(PlannerInfo *root, GpbScanMatch *match,
									const GpbScanColumns *columns);

/*
 * Has the table a path already that is cheaper than any that lists the entries of these ranges?
 * For all rows that pass the restrictions, when only the ranges are matched.
 */
extern bool gpb_scan_is_beaten(PlannerInfo *root, const GpbScanMatch *match);

/* Have the plan skip if that is cheaper than to read the ranges whole. */
extern void gpb_scan_choose_skip(PlannerInfo *root, GpbScanMatch *match);

/* May the node return rows of this table, in this query, whichever index it reads? */
extern bool gpb_scan_may_be_planned(PlannerInfo *root, RelOptInfo *rel);

/*
 * The plan node of what was matched, as if its path had been chosen, but without a target list and
 * a price.  Its expressions are as the planner has them: setrefs.c has not seen them.
 */
extern CustomScan *gpb_scan_plan_match(PlannerInfo *root, RelOptInfo *rel,
									   const GpbScanMatch *match);

/* Fill in the path's rows and price. */
extern void gpb_scan_price(PlannerInfo *root, const GpbScanMatch *match, Path *path);

#endif							/* GPB_SCAN_MATCH_H */
