/*-------------------------------------------------------------------------
 *
 * visibility.h
 *	  Reading the visibility map for entries of leaf pages (rule M5).
 *
 * The caller holds the leaf's pin, and has read the entries before.  VACUUM needs the cleanup lock
 * of a leaf to remove an entry, and removes it before it recycles the tuple and before it can set
 * the heap page all-visible.  So an all-visible bit read after the leaf and under its pin speaks
 * about the tuples to which the entries still point.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_VISIBILITY_H
#define GPB_VISIBILITY_H

#include "postgres.h"
#include "storage/bufpage.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "program/visible_entries.h"

/* The pinned pages of a table's visibility map */
typedef struct GpbVisibility GpbVisibility;

extern GpbVisibility *gpb_visibility_begin(Relation heap);
/* Drop the pins. */
extern void gpb_visibility_release(GpbVisibility *visibility);
/* Drop the pins and free the object, which may be NULL. */
extern void gpb_visibility_end(GpbVisibility *visibility);

/*
 * Set visible[i - from] for entries [from, to) of a leaf or of a copy; from < to.  This may read a
 * page of the map, so no lock may be held.
 */
extern void gpb_visibility_read(GpbVisibility *visibility, const char *page, int row_width,
								int from, int to, uint8 *visible);
/*
 * Are all entries [from, to) on all-visible heap blocks, by map pages that are pinned already?
 * This takes no I/O, so it may be called under the leaf's share lock.  The same rows of the leaf at
 * "next", if it is not NULL, are prefetched meanwhile, for which it need not be pinned.
 */
extern bool gpb_visibility_all_pinned(const GpbVisibility *visibility, const char *page,
									  int row_width, int from, int to, const char *next);

/*
 * The first heap block of [first, last] that the map does not show all-visible; beyond "last" if it
 * shows all of them so.  This may read pages of the map, so no lock may be held.
 */
extern uint64 gpb_visibility_first_unmarked(GpbVisibility *visibility, BlockNumber first,
											BlockNumber last);

/*
 * Must core decide on visibility?  It must under SERIALIZABLE, where it takes predicate locks; with
 * old_snapshot_threshold, where rows may go that a snapshot can see; and for snapshots other than
 * plain MVCC ones, to which the visibility map says nothing (rules M5 and M8).
 */
extern bool gpb_needs_plain_scan(Snapshot snapshot);

/* Copy a leaf without the hole between its keys and rows. */
extern void gpb_copy_leaf(char *copy, const char *page);

#endif							/* GPB_VISIBILITY_H */
