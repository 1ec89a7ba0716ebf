/*-------------------------------------------------------------------------
 *
 * plan_columns.h
 *	  Sets of a table's columns, by which indexes are refused before anything is matched.
 *
 * A set has a column's number less FirstLowInvalidHeapAttributeNumber, as pull_varattnos() has it,
 * so it can have system columns and whole rows, which no index has.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PLAN_COLUMNS_H
#define GPB_PLAN_COLUMNS_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/* Add the columns of table "relid" that the expressions have anywhere. */
extern Bitmapset *gpb_add_column_numbers(Bitmapset *columns, List *expressions, Index relid);

/*
 * The columns of the table's restrictions, RestrictInfos, but for those that are always true and
 * those without any column.  index is one whose predicate may say so, or NULL.
 */
extern Bitmapset *gpb_restricted_columns(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index,
										 List *restrictions);

/* Is one of the restrictions, RestrictInfos, on the elements of an array? */
extern bool gpb_has_array_clause(List *restrictions);

/*
 * The columns of the table that groups and aggregates need; counting rows takes none but those of
 * FILTER.  index is one whose predicate may say that what is counted is not NULL, or NULL.
 */
extern Bitmapset *gpb_grouping_columns(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index,
									   List *groups, List *aggrefs);

/* Add those columns of table "relid" that are an operand of an operator by themselves. */
extern Bitmapset *gpb_add_operand_columns(Bitmapset *columns, List *restrictions, Index relid);

/* Has the index all of these columns? */
extern bool gpb_index_covers(const IndexOptInfo *index, const Bitmapset *columns);

/* Is one of the index's key columns among these? */
extern bool gpb_key_is_among(const IndexOptInfo *index, const Bitmapset *columns);

/* Is key column c, counted from 0, among these columns? */
extern bool gpb_key_column_is_among(const IndexOptInfo *index, int c, const Bitmapset *columns);

/* Columns by which indexes are refused that are to aggregate a range for each outer row */
typedef struct GpbRangeColumns
{
	Bitmapset  *compared;		/* operands of conditions: the first key column must be one */
	Bitmapset  *needed;			/* what an index without a predicate must have */
} GpbRangeColumns;

/*
 * Collect them for aggregates over a table with its own restrictions and the clauses that join it,
 * RestrictInfos.
 */
extern void gpb_collect_range_columns(PlannerInfo *root, RelOptInfo *rel, List *joining,
									  List *aggrefs, GpbRangeColumns *columns);

/* May the index have a range for each outer row, and the columns that are aggregated? */
extern bool gpb_may_have_ranges(const IndexOptInfo *index, const GpbRangeColumns *columns);

/*
 * How many times an index has been matched with a query in this session, which
 * gpubtree.matched_indexes shows where hold points are compiled in: what must be refused before is
 * not counted [083].
 */
#ifdef GPB_HOLD_POINTS
extern int	gpb_matched_indexes;

#define GPB_COUNT_MATCH() (gpb_matched_indexes++)
#else
#define GPB_COUNT_MATCH() ((void) 0)
#endif

#endif							/* GPB_PLAN_COLUMNS_H */
