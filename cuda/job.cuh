/*-------------------------------------------------------------------------
 *
 * job.cuh
 *	  What kernels are given and what they leave: plain data in device memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_JOB_CUH
#define GPB_JOB_CUH

#include "program/aggregate.h"

/* ---- images ---- */

#define GPB_EXTENT_PAGES		512 /* page images that lie together: 4 MB */

struct GpbExtent
{
	char	   *page;			/* GPB_EXTENT_PAGES images, or NULL */
	uint64	   *stamp;			/* each image's epoch; of a block without one all bits, which makes
								 * it later than every request's, so unclean */
};

struct GpbImages
{
	const GpbExtent *extent;
	uint32		nextents;
};

/* ---- the inner image ---- */

/*
 * Separator i is (key, tie[i]), its key as wide as the index's; its leaf, child[i], ends
 * where separator i + 1 begins.  See tree.cuh.
 */
struct GpbSeparatorArray
{
	const void *key;
	const uint64 *tie;
	const uint32 *child;
	uint32		n;
	uint8		key_width;
};

/* ---- leaves ---- */

/* What is needed to tell whether a leaf's image is clean, and to read it */
struct GpbLeafJob
{
	uint64		epoch;
	GpbSeparatorArray separators;
	GpbImages	images;
	const uint32 *changed;		/* a bit for each block; NULL: none is set */
	uint32		changed_blocks;
	uint8		key_width;
	uint8		row_width;
	uint8		layout_flags;
	bool		runs;			/* may leaves have runs?  See gpb_has_runs() */
};

/* ---- visibility ---- */

/* The visibility bits of a request */
struct GpbVisibilityBits
{
	const uint8 *bits;			/* as the visibility map has them */
	const uint32 *summary;		/* a bit for each GPB_SUMMARY_BLOCKS heap blocks */
	bool		summarized;		/* the summary is there; else prepare makes it */
	uint32		heap_blocks;	/* that the bits cover */
	uint32		visible_below;	/* all heap blocks below are all-visible */
	uint32		nexceptions;
	const uint64 *exceptions;	/* see aggregate.h */
};

/*
 * A table that VACUUM has been over is all-visible almost everywhere, and then one bit of the
 * summary says so for many heap blocks: the summary stays in the nearest cache whatever the
 * order of the locators.  A bit stands for 32 bytes of visibility bits, one memory sector.
 */
#define GPB_SUMMARY_BLOCKS	128
#define GPB_SUMMARY_BYTES	(GPB_SUMMARY_BLOCKS / GPB_HEAPBLOCKS_PER_BYTE)

/* Words of the summary of so many heap blocks */
GPB_FN uint32
gpb_summary_words(uint32 heap_blocks)
{
	return (uint32) (((uint64) heap_blocks + 32 * GPB_SUMMARY_BLOCKS - 1) /
					 (32 * GPB_SUMMARY_BLOCKS));
}

/* ---- lists ---- */

/* Records that kernels append in any order, and for each the word that it is to be sorted by */
struct GpbList
{
	uint64	   *order;
	char	   *record;
	uint64		capacity;		/* what does not fit is counted, not stored */
};

#endif							/* GPB_JOB_CUH */
