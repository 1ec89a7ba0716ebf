/*-------------------------------------------------------------------------
 *
 * settled_leaf.h
 *	  Which entries of a leaf are on heap pages that are known to be settled?  (rule M11)
 *
 * The caller has read the entries and holds the leaf's pin, as for the visibility map: a look at a
 * page says something about the rows to which the entries lead only while none of them can have
 * been removed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SETTLED_LEAF_H
#define GPB_SETTLED_LEAF_H

#include "engine/settled_pages.h"
#include "engine/visibility.h"

/*
 * Look for the heap pages of n entries of a leaf or of a copy, whose positions are in "at" and
 * ascend.  Sets visible[at[i]] (GpbEntryState) to seen or unseen for those on settled pages.  The
 * positions of the others are left at the beginning of "at", and their number is returned.
 */
extern int	gpb_settled_entries(GpbSettledReader *reader, const char *page, int row_width,
								uint16 *at, int n, uint8 *visible);

/*
 * Does the snapshot see all entries [from, to) of a leaf, because their heap blocks are all-visible
 * by map pages that are pinned already, or settled?  This takes no I/O and waits for nobody, so it
 * may be called under the leaf's share lock.
 */
extern bool gpb_settled_all_seen(GpbSettledReader *reader, const GpbVisibility *visibility,
								 const char *page, int row_width, int from, int to);

#endif							/* GPB_SETTLED_LEAF_H */
