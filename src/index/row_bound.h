/*-------------------------------------------------------------------------
 *
 * row_bound.h
 *	  Row comparisons as bounds of an index with several key columns.
 *
 * A finished plan has scan keys in the place of a row comparison (exec/shell/row_scans.h): of
 * (a, b) < (x, y), "a <= x", which counts like any other key, and "b <= y", which counts where
 * a = x.  In an index that has a and b one after the other, ascending, no entry behind those of
 * (x, y) satisfies the comparison, so ranges of entries end there.  Entries before may still not
 * satisfy it, as one with a = x where b is NULL and NULLs come first: scans with such keys say that
 * each row is to be tested again.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_ROW_BOUND_H
#define GPB_ROW_BOUND_H

#include "access/skey.h"

#include "index/index.h"

/*
 * Collations that mark the scan keys of a row comparison; no type of a key has a collation.  FIRST:
 * this key, on the first column, says less than the comparison that it is made of.  NEXT: this key
 * is the comparison's next column, and counts only for entries whose columns before have the values
 * of the keys before it.
 */
#define GPB_ROW_FIRST	((Oid) 1)
#define GPB_ROW_NEXT	((Oid) 2)

/* Does one of the scan keys say less than the condition that it is made of? */
static inline bool
gpb_keys_need_recheck(const ScanKeyData *keys, int nkeys)
{
	for (int i = 0; i < nkeys; i++)
	{
		if (keys[i].sk_collation == GPB_ROW_FIRST)
			return true;
	}
	return false;
}

/*
 * Narrow ranges, which hold all entries that satisfy the scan keys, by the row comparisons among
 * these.  Ranges with different values in the columns before those of a comparison stay as they
 * are.
 */
extern void gpb_ranges_clip_rows(Relation index, const GpbLayout *layout,
								 const ScanKeyData *keys, int nkeys, GpbRangeSet *set);

#endif							/* GPB_ROW_BOUND_H */
