/*-------------------------------------------------------------------------
 *
 * ranges.cuh
 *	  A batch of ranges as its kernels see it.
 *
 * A range that lies within one leaf is a *place*: a page and the rows of it, found by one thread,
 * read by a few lanes.  One that touches several leaves is cut into *items*, one for
 * each leaf; the items of all such ranges are numbered through, by a prefix sum, and
 * dealt out to all warps of the device evenly.  So a batch is balanced whatever the
 * lengths of its ranges.
 *
 *		ranges	 0			 1	  2					   3	4
 *		leaves	|..a..|		 |b|  |.....c.....|........|...	|d|
 *				 1 leaf			   3 leaves
 *		items			 0 0 0				 3 3 3 ...			(prefix sums: where each begins)
 *
 * Where entries are listed, every range is cut into items: then the prefix sum of the items'
 * entries is where each entry goes, in the order of ranges and keys, without sorting.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_RANGES_CUH
#define GPB_RANGES_CUH

#include "device/device.h"

#include "tree.cuh"

/* Rows [from, to) of a clean leaf for range "number"; page NULL: nothing to read */
struct GpbRangePlace
{
	const char *page;
	uint16		from;
	uint16		to;
	uint32		number;
};

/* What the kernels count */
struct GpbRangesCounts
{
	uint64		leaves;
	uint64		nunclean;
	uint64		nentries;		/* of the list */
	uint64		nitems;			/* where entries are listed */
};

/* column[0] is the only column, heap is the list of entries, unclean that of pieces. */
struct GpbRangesJob : GpbLeafJob
{
	GpbTree		tree;
	const void *ranges;			/* GpbKeyRange, or uint64 if points */
	uint32		n;
	bool		points;
	bool		list_entries;
	const uint32 *order;		/* ranges in the order in which they are done; NULL: as
								 * numbered.  Arrays of ranges, but answers, follow it. */
	GpbRangesCounts *counts;
	int64	   *answers;
	uint32		words;			/* of an answer */
	uint32	   *first;			/* of each range, its first separator */
	uint64	   *items;			/* of each range, how many; then where its last ends */
	GpbRangePlace *place;		/* of each range; where entries are listed, of each item */
	uint64	   *live;			/* of each item, its entries; then where its last ends */
	uint64		item_capacity;
};

struct GpbDevice;
struct GpbSortMemory;
struct GpbTreeProfile;

/* Find job->order; sort has room for it and for n keys in "clamped". */
GpbDeviceStatus gpb_ranges_order(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
								 const GpbTreeProfile *profile, GpbSortMemory *sort);
/* All kernels of a batch, in order.  scan has room for the prefix sums, see below. */
GpbDeviceStatus gpb_ranges_run(GpbDevice *device, cudaStream_t stream, const GpbRangesJob *job,
							   void *scan, size_t scan_size);
/* Bytes that prefix sums of n ranges, and of so many items, want to work in */
GpbDeviceStatus gpb_ranges_scan_size(GpbDevice *device, uint32 n, uint64 items, size_t *size);
/* Load the kernels and see how many blocks fill the device. */
GpbDeviceStatus gpb_ranges_plan(GpbDevice *device);

#endif							/* GPB_RANGES_CUH */
