/*-------------------------------------------------------------------------
 *
 * job.cuh
 *	  What kernels are given and what they leave: plain data in device memory.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_JOB_CUH
#define GPB_JOB_CUH

#include "aggregate.h"

/* ---- images ---- */

#define GPB_CHUNK_PAGES		512 /* page images that lie together: 4 MB */

struct GpbChunk
{
	char	   *page;			/* GPB_CHUNK_PAGES images, or NULL */
	uint64	   *stamp;			/* of each; GPB_NO_STAMP: no image */
};

/* Above every epoch, so that a block without an image is not clean. */
#define GPB_NO_STAMP		(~(uint64) 0)

struct GpbImages
{
	const GpbChunk *chunk;
	uint32		nchunks;
};

/* ---- the inner image ---- */

/*
 * Separator i is (key, tie[i]), its key as wide as the index's; its leaf, child[i], ends
 * where separator i + 1 begins.  See tree.cuh.
 */
struct GpbSeparators
{
	const void *key;
	const uint64 *tie;
	const uint32 *child;
	uint32		n;
	uint8		key_width;
};

/* ---- an aggregate ---- */

/* Records appended in any order, with what they are to be sorted by */
struct GpbList
{
	uint64	   *order;
	char	   *record;
	uint64		capacity;		/* what does not fit is counted, not stored */
};

/* All an aggregate leaves but the lists; the sums are as many as were asked for. */
struct GpbAnswer
{
	uint32		first;			/* separators of the range: [first, end) */
	uint32		end;
	uint64		entries;
	uint64		leaves;
	uint64		nheap;
	uint64		nunclean;
	GpbColumnState column[GPB_MAX_COLUMNS];
	GpbFloatSum sum[GPB_MAX_INCLUDE];
};

/* A column as a pass over the leaves sees it.  want is 0 where there is none. */
struct GpbPassColumn
{
	uint8		index;			/* in GpbAnswer.column; 0 is the key */
	uint8		want;
	uint8		kind;			/* GpbKind */
	uint8		offset;			/* within the row */
	bool		is_narrow;		/* an integer of at most 4 bytes */
	uint32		sum;			/* in GpbAnswer.sum, of a float8 sum */
	uint64		null_mask;		/* NULL: (locator ^ null_flip) & null_mask */
	uint64		null_flip;
};

/*
 * One pass over the leaves of a range.  Registers hold the state of a few columns, so
 * a request for many takes several passes; the first of them counts entries and
 * leaves and fills the lists.
 */
#define GPB_PASS_COLUMNS	2

struct GpbLeafJob
{
	GpbRange	range;
	uint64		epoch;
	uint64		dead_mask;		/* GPB_LOC_DEAD, or 0 to ignore the hints */
	GpbSeparators separators;
	GpbImages	images;
	const uint32 *changed;
	const uint8 *visible;		/* visibility bits */
	const uint32 *all_visible;	/* a bit for each GPB_SUMMARY_BLOCKS of them */
	GpbAnswer  *answer;
	GpbList		heap;
	GpbList		unclean;
	uint32		changed_blocks;
	uint32		heap_blocks;
	uint32		visible_below;	/* all heap blocks below are all-visible */
	uint32		nsums;
	uint8		key_width;
	uint8		row_width;
	uint8		layout_flags;
	bool		first_pass;
	GpbPassColumn column[GPB_PASS_COLUMNS];
};

/*
 * A table that VACUUM has been over is all-visible almost everywhere, and then one bit
 * says so for many heap blocks: the summary stays in the nearest cache whatever the
 * order of the locators.  32 bytes of visibility bits, one memory sector, to a bit.
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

/* ---- the leaf kernels ---- */

/* Ways for a warp to read a leaf's rows; tuning.cuh says which is used where. */
enum GpbLeafVariant
{
	GPB_LEAF_ROWS,				/* each lane a row, words as needed */
	GPB_LEAF_QUADS,				/* each lane four rows, 16 bytes at a time */
	GPB_LEAF_VARIANTS
};

/* Blocks that fill the device, for each leaf kernel in the order of leaves.cu */
#define GPB_LEAF_KERNELS	12

struct GpbLeafGrids
{
	uint32		blocks[GPB_LEAF_KERNELS];
};

/* Kernels of batches of ranges whose grid fills the device, in the order of ranges_kernels.cu */
#define GPB_RANGES_KERNELS	6

#endif							/* GPB_JOB_CUH */
