/*-------------------------------------------------------------------------
 *
 * visible_entries.h
 *	  Which entries of a leaf are on all-visible heap pages, with the widest
 *	  instructions that this CPU has.
 *
 * Plain C, free of PostgreSQL headers.  The test exists in two forms, AVX2 and plain C
 * (cpu_form.h).
 *
 * The bits are those of pages of the visibility map, which others may change
 * meanwhile; each bit is read once, between call and return.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_VISIBLE_ENTRIES_H
#define GPB_VISIBLE_ENTRIES_H

#include "program/aggregate.h"

/*
 * Number of bytes of a page of the visibility map without its header, and of the heap blocks that
 * they cover
 */
#define GPB_VM_PAGE_BYTES	(GPB_PAGE_SIZE - GPB_PAGE_HEADER)
#define GPB_VM_PAGE_BLOCKS	(GPB_VM_PAGE_BYTES * GPB_HEAPBLOCKS_PER_BYTE)

/*
 * Number of pages of the visibility map that are held at a time: page p is held in slot p modulo
 * this number, or not at all.
 */
#define GPB_VM_SLOTS	64		/* a power of two; 16 GB of heap */

/*
 * The pages of the visibility map that are held.  Every slot's bits point to GPB_VM_PAGE_BYTES
 * bytes, those of an empty slot too, so that bits may be read before the tag is compared.
 */
typedef struct GpbVisibilityPages
{
	uint32		tag[GPB_VM_SLOTS];	/* number of the map page, plus 1; 0 if the slot is empty */
	const uint8 *bits[GPB_VM_SLOTS];
} GpbVisibilityPages;

/* Empty all slots. */
extern void gpb_visibility_pages_init(GpbVisibilityPages *pages);
/* Empty one slot. */
extern void gpb_visibility_pages_clear(GpbVisibilityPages *pages, int slot);
/* Hold a map page, with these bits; NULL stands for zero bits. */
extern void gpb_visibility_pages_set(GpbVisibilityPages *pages, uint32 map_page,
									 const void *bits);

/*
 * Rows are of the page's width: those of a leaf with runs have the heap block where others have it.
 *
 * Are all entries [from, to) of a leaf on heap blocks that the map pages held show all-visible?
 * While they are tested, the same rows of the leaf at "next" are prefetched, if it is not NULL.
 */
extern bool gpb_all_entries_visible(const GpbVisibilityPages *pages, const void *page,
									int row_width, int from, int to, const char *next);

/*
 * Set visible[i - from], for entries i from "from" on, to whether the entry's heap block is
 * all-visible.  Returns the position of the first entry whose map page is not held, or "to".  What
 * follows that entry's place in visible may have been overwritten.
 */
extern int	gpb_visible_entries(const GpbVisibilityPages *pages, const void *page, int row_width,
								int from, int to, uint8 *visible);

/*
 * The least and the greatest heap block to which entries [from, to) of a leaf lead; from < to.
 */
extern void gpb_entry_blocks(const char *page, int row_width, int from, int to, uint32 *least,
							 uint32 *most);

#endif							/* GPB_VISIBLE_ENTRIES_H */
