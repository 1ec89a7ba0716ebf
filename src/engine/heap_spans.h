/*-------------------------------------------------------------------------
 *
 * heap_spans.h
 *	  Spans: neighbouring entries of a leaf that are on one heap page (rules M5 and M11).
 *
 * What the visibility map and settled_pages.h know, they know of a heap page, so a span needs one
 * look.  The caller has read the entries and holds the leaf's pin: a look says something about the
 * rows to which the entries lead only while none of the entries can have been removed.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_HEAP_SPANS_H
#define GPB_HEAP_SPANS_H

#include "engine/settled_pages.h"
#include "engine/visibility.h"
#include "program/leaf_aggregate.h"

/* Entries [first, end) of a leaf, all of which lead to one heap block */
typedef struct GpbHeapSpan
{
	BlockNumber block;
	uint16		first;
	uint16		end;
} GpbHeapSpan;

/*
 * Add the spans of entries [from, to) of a leaf or of a copy to the n spans at "spans", which has
 * room for GPB_MAX_LEAF_ENTRIES.  Entries whose locators have a bit of "dead" are in no span.
 * Returns the number of spans.
 */
extern int	gpb_heap_spans(const char *page, int row_width, int from, int to, uint64 dead,
						   GpbHeapSpan *spans, int n);

/*
 * Read the visibility map for n spans of a copied leaf.  Sets visible[] (GpbEntryState) of their
 * entries to seen or unknown.  The spans whose entries are unknown are left at the beginning of
 * "spans", and their number is returned.  This may read a page of the map, so no lock may be held.
 */
extern int	gpb_spans_visible(GpbVisibility *visibility, const char *page, int row_width,
							  GpbHeapSpan *spans, int n, uint8 *visible);

/*
 * Look for n spans of a copied leaf among the settled pages.  Sets visible[] of the entries found
 * there to seen or unseen.  The spans that were not found are left at the beginning of "spans", and
 * their number is returned.
 */
extern int	gpb_spans_settled(GpbSettledReader *reader, const char *page, int row_width,
							  GpbHeapSpan *spans, int n, uint8 *visible);

/*
 * Does the snapshot see all entries of n spans of a leaf, because their heap blocks are all-visible
 * by map pages that are pinned already, or settled?  This takes no I/O and waits for nobody, so it
 * may be called under the leaf's share lock.
 */
extern bool gpb_spans_all_seen(GpbSettledReader *reader, const GpbVisibility *visibility,
							   const char *page, int row_width, GpbHeapSpan *spans, int n);

#endif							/* GPB_HEAP_SPANS_H */
