/*-------------------------------------------------------------------------
 *
 * never_null.h
 *	  What is never NULL, since a column is declared NOT NULL, or NULL in no row of an index, since
 *	  the index's predicate implies that: counting it is counting rows, and asking whether it is
 *	  NULL needs no column.
 *
 * A plan that relies on such a declaration is made anew when that is dropped: the change of
 * pg_attribute sends an invalidation of the table, on which the plan depends.  An index has its
 * predicate as long as there is the index.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_NEVER_NULL_H
#define GPB_NEVER_NULL_H

#include "postgres.h"
#include "nodes/pathnodes.h"

/*
 * Is a column of a table NOT NULL, in rows too that are older than the declaration?  The caller has
 * a lock on the table.
 */
extern bool gpb_column_is_not_null(Oid table, AttrNumber column);

/*
 * Does the index's predicate imply that no row of the index is NULL in this column?  False if it is
 * another table's column.
 */
extern bool gpb_index_has_no_null(IndexOptInfo *index, Var *column);

/*
 * Is it a constant, or a table's column that is NULL in no row that this index has?  Not in a query
 * with outer joins, which may put NULL in its place.  index is NULL for rows of any index, here and
 * below.
 */
extern bool gpb_is_never_null(PlannerInfo *root, IndexOptInfo *index, Expr *expression);

/*
 * Is it count() of rows, but for its FILTER: count(*), or count() of what is never NULL?  The rows
 * are those of the index, joined or not.
 */
extern bool gpb_counts_rows(PlannerInfo *root, IndexOptInfo *index, const Aggref *aggref);

/* Is the restriction true for all rows of the index, "column IS NOT NULL" of such a column? */
extern bool gpb_is_always_true(PlannerInfo *root, IndexOptInfo *index, const RestrictInfo *rinfo);

#endif							/* GPB_NEVER_NULL_H */
