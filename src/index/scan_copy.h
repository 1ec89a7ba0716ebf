/*-------------------------------------------------------------------------
 *
 * scan_copy.h
 *	  The entries of a leaf that a scan wants, copied from it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SCAN_COPY_H
#define GPB_SCAN_COPY_H

#include "index/index.h"

#define GPB_SMALL_COPY			512

/*
 * Entries copied from a leaf.  They lie as on a page without runs: keys up from the start, rows
 * down from the end.
 */
typedef struct GpbCopy
{
	char	   *bytes;			/* small, or palloc'd when first needed */
	int			size;
	int			count;
	char		small[GPB_SMALL_COPY] pg_attribute_aligned(8);
} GpbCopy;

static inline void
gpb_copy_init(GpbCopy *copy)
{
	copy->bytes = copy->small;
	copy->size = GPB_SMALL_COPY;
	copy->count = 0;
}

static inline void
gpb_copy_free(GpbCopy *copy)
{
	if (copy->bytes != copy->small)
		pfree(copy->bytes);
}

static inline const char *
gpb_copy_row(const GpbCopy *copy, int row_width, int i)
{
	return copy->bytes + copy->size - (i + 1) * row_width;
}

static inline GpbKey
gpb_copy_key(const GpbCopy *copy, int key_width, int i)
{
	return gpb_load_key(copy->bytes + i * key_width, key_width);
}

/* Copy the entries of source to target, which has none, in memory of the context given. */
extern void gpb_copy_assign(GpbCopy *target, const GpbCopy *source, const GpbLayout *layout,
							MemoryContext context);

/*
 * Add to the copy the entries that ranges [first, last] have on a locked leaf with this high key.
 * No range ends before the leaf begins.  With in_step set several ranges are searched for at a
 * time, which needs the keys that gpb_ask_for_keys() prefetches.  With skip_dead set long runs of
 * entries that are hinted dead are left out; others are copied.  Memory is of the context given.
 * Returns false, with some of the entries added, if the leaf's entries are out of order.
 */
extern bool gpb_copy_ranges(GpbCopy *copy, const GpbLayout *layout, MemoryContext context,
							Page page, GpbBound high, const GpbRange *first,
							const GpbRange *last, bool in_step, bool skip_dead);

#endif							/* GPB_SCAN_COPY_H */
