/*-------------------------------------------------------------------------
 *
 * ordered_column.h
 *	  The key column in whose order an index has the rows of a query.
 *
 * Of an index with one key column it is that.  Of one with several it is the first that has no
 * condition by which it equals a single value: below a fixed prefix of the columns, entries are in
 * the order of this column.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ORDERED_COLUMN_H
#define GPB_ORDERED_COLUMN_H

#include "postgres.h"
#include "nodes/execnodes.h"
#include "nodes/pathnodes.h"
#include "utils/rel.h"

#include "exec/where/conditions.h"
#include "layout.h"
#include "program/ranges.h"

/* ---- planning ---- */

/*
 * Find the ordered column of an index, counted from 0, and the conditions on it and on the columns
 * before it, which all restrictions of the table must be that the index's predicate does not
 * imply.  Returns false if one is anything else, if the range may be lossy, if there is no such
 * column, or if the index is not usable.
 */
extern bool gpb_match_ordered_column(PlannerInfo *root, IndexOptInfo *index, int *column,
									 List **conditions);

/* Is it known that no row which the query wants of the table is NULL in key column c? */
extern bool gpb_key_column_is_not_null(PlannerInfo *root, IndexOptInfo *index, int c);

/* Do the keys of column c differ exactly if the values do, as those of floats do not? */
extern bool gpb_key_column_is_exact(IndexOptInfo *index, int c);

/* ---- run time ---- */

/* The conditions of a plan, ready to be evaluated */
typedef struct GpbOrderedColumn
{
	Relation	index;
	int			column;			/* the ordered column */
	GpbConditions *conditions;
} GpbOrderedColumn;

/* Prepare the conditions.  Memory is of the current context. */
extern void gpb_ordered_column_init(Relation index, int column, List *conditions, PlanState *ps,
									GpbOrderedColumn *ordered);

/* The entries that satisfy all conditions */
typedef struct GpbOrderedRanges
{
	bool		has_keys;		/* may any of them be not NULL in the ordered column? */
	GpbKeyRange keys;			/* of these, closed; 1 to 0 if has_keys is not set */
	GpbRange	nulls;			/* those that are NULL there; none if lo is not less than hi */
} GpbOrderedRanges;

/* Evaluate the conditions. */
extern void gpb_ordered_column_ranges(const GpbOrderedColumn *ordered, ExprContext *econtext,
									  GpbOrderedRanges *ranges);

/* Is an entry that is NULL in the ordered column among them? */
static inline bool
gpb_ordered_has_nulls(const GpbOrderedRanges *ranges)
{
	return gpb_bound_less(ranges->nulls.lo, ranges->nulls.hi);
}

/*
 * Part a range of entries that agree in the columns before c into those that are NULL in column c
 * and those that are not.
 */
extern void gpb_split_nulls(const GpbLayout *layout, int c, GpbRange range, GpbRange *not_null,
							GpbRange *nulls);

/* What keys differ by that agree in the columns up to c: the bits of the columns behind it */
extern GpbKey gpb_key_behind_column(const GpbLayout *layout, int c);

/* Do values of key column c fall in the order of the index? */
extern bool gpb_key_column_descends(const GpbLayout *layout, int c);

/* Do NULLs of key column c come first in the order of the index? */
extern bool gpb_key_column_nulls_first(const GpbLayout *layout, int c);

/*
 * The value of key column c in a key that is not NULL there.  The key need not be that of any
 * value: it is as good as the next one that is, or, if there is none, the one before.
 */
extern Datum gpb_key_column_datum(const GpbLayout *layout, int c, GpbKey key);

#endif							/* GPB_ORDERED_COLUMN_H */
