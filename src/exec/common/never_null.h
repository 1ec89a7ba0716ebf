/*-------------------------------------------------------------------------
 *
 * never_null.h
 *	  What is never NULL, since a column is declared NOT NULL: counting it is counting rows, and
 *	  asking whether it is NULL needs no column.
 *
 * A plan that relies on such a declaration is made anew when that is dropped: the change of
 * pg_attribute sends an invalidation of the table, on which the plan depends.
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
 * Is it a constant or a table's column that is NULL in no row?  Not in a query with outer joins,
 * which may put NULL in its place.
 */
extern bool gpb_is_never_null(PlannerInfo *root, Expr *expression);

/* Is it count() of rows, but for its FILTER: count(*), or count() of what is never NULL? */
extern bool gpb_counts_rows(PlannerInfo *root, const Aggref *aggref);

/* Is the restriction true for all rows, "column IS NOT NULL" of such a column? */
extern bool gpb_is_always_true(PlannerInfo *root, const RestrictInfo *rinfo);

#endif							/* GPB_NEVER_NULL_H */
