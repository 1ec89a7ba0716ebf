/*-------------------------------------------------------------------------
 *
 * skip.h
 *	  Where a scan goes on that skips what its conditions on several columns do not admit.
 *
 * The ranges of a scan (column_ranges.h) bound the first columns only.  Within a range, the
 * conditions on later columns admit a part of each group of entries that have the same values in
 * the columns before: of "ts BETWEEN x AND y" alone, on (tenant, ts), a part for each tenant.  From
 * the bound that a scan has come to, the least key at or behind it that satisfies all conditions
 * follows from their sets of fields, without knowing which values the first columns have.  Nothing
 * between the two is wanted, so a scan that finds that key beyond its leaf searches the tree for
 * it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SKIP_H
#define GPB_SKIP_H

#include "storage/bufpage.h"

#include "index/column_ranges.h"

/* Do the ranges of the sets have entries that the conditions do not admit? */
static inline bool
gpb_skips(const GpbColumnSets *sets)
{
	return sets != NULL && sets->ntested > 0;
}

/*
 * Find where to go on to the right of *bound: raise it to the first bound from which on an entry
 * may be wanted, and *range to the first of the set's ranges that does not end before.  The bound
 * is then in this range.  Returns false if nothing is wanted any more.
 */
extern bool gpb_skip_right(const GpbColumnSets *sets, const GpbRangeSet *set, int *range,
						   GpbBound *bound);
/*
 * Find where to go on to the left of *bound: lower it to the last one up to which an entry may be
 * wanted, and *range to the last of the set's ranges that does not begin at or behind it.  The
 * bound is then in this range.  Returns false if nothing is wanted any more.
 */
extern bool gpb_skip_left(const GpbColumnSets *sets, const GpbRangeSet *set, int *range,
						  GpbBound *bound);

/*
 * Narrow a range to what the conditions admit of the entries of a locked leaf: to begin no earlier
 * than the first entry that the range has there allows, or, backward, to end no later than the last
 * one does.  The range may become empty.
 */
extern void gpb_skip_on_leaf(const GpbColumnSets *sets, Page page, bool forward, GpbRange *range);

#endif							/* GPB_SKIP_H */
