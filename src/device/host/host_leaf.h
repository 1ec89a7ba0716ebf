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

/* Number of blocks whose image pointers and stamps are allocated together */
#define GPB_HOST_CHUNK	1024

typedef struct GpbHostImage
{
	char	   *page;			/* NULL if the block has no image */
	uint64		stamp;			/* epoch of the upload */
} GpbHostImage;

typedef struct GpbHostSeparator
{
	GpbNarrowBound low;			/* the leaf's entries are at or after this bound */
	uint32		leaf;			/* block number of the leaf */
} GpbHostSeparator;

struct GpbDeviceMirror
{
	GpbLayout	layout;
	uint32		nchunks;
	GpbHostImage **chunks;		/* NULL for a chunk in which no block has an image */
	uint64		nseparators;	/* 0 if there is no inner image */
	GpbHostSeparator *separators;
	uint64	   *upper;			/* of wide keys the upper halves of the separators; else NULL */
	uint64		bytes;
};

/* The bound of separator i */
static inline GpbBound
gpb_host_low(const GpbDeviceMirror *mirror, uint64 i)
{
	GpbBound	low = {mirror->separators[i].low.key, mirror->separators[i].low.tie};

	if (mirror->upper != NULL)
		low.key |= (GpbKey) mirror->upper[i] << 64;
	return low;
}

/*
 * The image entry of a block, or NULL if no block of its chunk has an image.  The entry's page may
 * be NULL.
 */
extern GpbHostImage *gpb_host_image(const GpbDeviceMirror *mirror, uint32 block);

/*
 * The image of the leaf of this separator if it is clean (rule M4), else NULL.  It is clean if its
 * bit is not set in "changed", which has a bit for each of nblocks blocks, if its stamp is not
 * above epoch, and if it begins at the separator and ends at the next one.
 */
extern const char *gpb_host_clean_leaf(const GpbDeviceMirror *mirror, uint64 separator,
									   uint64 epoch, const uint32 *changed, uint32 nblocks);

/* The number of the last separator at or before the bound.  The mirror must have an inner image. */
extern uint64 gpb_host_find_separator(const GpbDeviceMirror *mirror, GpbBound bound);

/* The bound where the leaf of separator i ends, which is the next separator. */
static inline GpbBound
gpb_host_leaf_limit(const GpbDeviceMirror *mirror, uint64 i)
{
	return i + 1 < mirror->nseparators ? gpb_host_low(mirror, i + 1) : GPB_BOUND_MAX;
}

/* The visibility bits of a request, and its exceptions (aggregate.h) */
typedef struct GpbHostVisibility
{
	const uint8 *bits;
	uint32		heap_blocks;	/* number of heap blocks that bits were given for */
	uint32		nexceptions;
	const uint64 *exceptions;
} GpbHostVisibility;

/* Set visible[i - from] to the GpbEntryState of the page's entry i, for from <= i < to. */
extern void gpb_host_look_up_visibility(const GpbHostVisibility *visibility, const char *page,
										int row_width, int from, int to, uint8 *visible);

#endif							/* GPB_HOST_LEAF_H */
