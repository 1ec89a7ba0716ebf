/*-------------------------------------------------------------------------
 *
 * visibility.h
 *	  Reading the visibility map for entries of leaf pages (rule M5).
 *
 * The caller holds the leaf's pin, and has read the entries before: VACUUM needs the
 * cleanup lock of a leaf to remove an entry, and removes it before it recycles the tuple
 * and before it can set the heap page all-visible.  So an all-visible bit read after the leaf
 * and under its pin speaks about the tuples that the entries still point to.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_VISIBILITY_H
#define GPB_VISIBILITY_H

#include "postgres.h"
#include "storage/bufpage.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

#include "aggregate.h"

/* Heap blocks that one page of the visibility map covers, and its bytes */
#define GPB_VM_PAGE_BYTES	(BLCKSZ - MAXALIGN(SizeOfPageHeaderData))
#define GPB_VM_PAGE_BLOCKS	(GPB_VM_PAGE_BYTES * GPB_HEAPBLOCKS_PER_BYTE)

/* Pinned pages of a table's visibility map */
typedef struct GpbVisibility GpbVisibility;

extern GpbVisibility *gpb_visibility_begin(Relation heap);
/* Drop the pins. */
extern void gpb_visibility_release(GpbVisibility *visibility);
/* Drop the pins and free it; NULL is allowed. */
extern void gpb_visibility_end(GpbVisibility *visibility);

/*
 * Set visible[i - from] for entries [from, to) of a leaf or of a copy; there is at least
 * one.  May read a page of the map, so no lock may be held.
 */
extern void gpb_visibility_read(GpbVisibility *visibility, const char *page, int row_width,
								int from, int to, uint8 *visible);
/*
 * Are all entries [from, to) on all-visible heap blocks, by map pages that are pinned
 * already?  Takes no I/O: fit for use under the leaf's share lock.
 */
extern bool gpb_visibility_all_pinned(const GpbVisibility *visibility, const char *page,
									  int row_width, int from, int to);

/*
 * Must core decide on visibility?  Under SERIALIZABLE it takes the predicate
 * locks too; with old_snapshot_threshold rows may go that a snapshot can see;
 * and the visibility map says nothing to snapshots other than plain MVCC ones
 * (rules M5 and M8).
 */
extern bool gpb_needs_plain_scan(Snapshot snapshot);

/* Copy what a leaf holds: the hole between keys and rows is left out. */
extern void gpb_copy_leaf(char *copy, const char *page);

#endif							/* GPB_VISIBILITY_H */
