/*-------------------------------------------------------------------------
 *
 * host_leaf.h
 *	  A mirror on the host device: page images, separators, and which leaves are clean.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_HOST_LEAF_H
#define GPB_HOST_LEAF_H

#include "device/host/host_memory.h"

/* Blocks whose image pointers and stamps are allocated together */
#define GPB_HOST_CHUNK	1024

typedef struct GpbHostImage
{
	char	   *page;			/* NULL: no image */
	uint64		stamp;			/* epoch of the upload */
} GpbHostImage;

typedef struct GpbHostSeparator
{
	GpbBound	low;			/* the leaf's entries are at or after it */
	uint32		leaf;			/* block */
} GpbHostSeparator;

struct GpbDeviceMirror
{
	GpbLayout	layout;
	uint32		nchunks;
	GpbHostImage **chunks;		/* NULL where no block has an image */
	uint64		nseparators;	/* 0: no inner image */
	GpbHostSeparator *separators;
	uint64		bytes;
};

/* The block's image entry, or NULL if no block near it has an image; page may be NULL there. */
extern GpbHostImage *gpb_host_image(const GpbDeviceMirror *mirror, uint32 block);

/*
 * Rule M4: a block's image if it is clean, that is not marked in changed (a bit for
 * each of nblocks blocks), not stamped above epoch, and ending at high; else NULL.
 */
extern const char *gpb_host_clean_leaf(const GpbDeviceMirror *mirror, uint32 block,
									   GpbBound high, uint64 epoch, const uint32 *changed,
									   uint32 nblocks);

/* Last separator at or before the bound; the mirror must have an inner image. */
extern uint64 gpb_host_find_separator(const GpbDeviceMirror *mirror, GpbBound bound);

/* Where the leaf of separator i ends: the next separator. */
static inline GpbBound
gpb_host_leaf_limit(const GpbDeviceMirror *mirror, uint64 i)
{
	return i + 1 < mirror->nseparators ? mirror->separators[i + 1].low : GPB_BOUND_MAX;
}

/*
 * Set visible[i - from] to whether the heap block of the page's entry i is all-visible, for
 * from <= i < to.  bits cover heap_blocks blocks, as gpb_heap_all_visible() takes them.
 */
extern void gpb_host_look_up_visibility(const uint8 *bits, uint32 heap_blocks, const char *page,
										int row_width, int from, int to, uint8 *visible);

#endif							/* GPB_HOST_LEAF_H */
