/*-------------------------------------------------------------------------
 *
 * scan_parallel.h
 *	  A scan of the index that several processes share, leaf by leaf.
 *
 * The place that the scan has come to is in shared memory.  One process at a time goes on from
 * there: it seizes the scan, finds the next leaf, and releases the scan when it has that leaf's
 * bounds, under the leaf's lock; then it copies its entries while another process goes on.  What is
 * handed from process to process is a place as a scan keeps for itself between two leaves: bounds,
 * and links that rule M7 has tested again.  So each entry is met by one process, and a leaf that
 * was split or deleted in the meantime costs what it costs a scan of one process.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SCAN_PARALLEL_H
#define GPB_SCAN_PARALLEL_H

#include "compat.h"

#include "access/relscan.h"

#include "index/index.h"

/* A leaf that a scan has come to, as it was then, and how far it was read */
typedef struct GpbPlace
{
	BlockNumber block;
	BlockNumber left;			/* siblings */
	BlockNumber right;
	int			range;			/* the last range that was read there */
	GpbBound	lower;			/* of the entries between these all that are wanted were read */
	GpbBound	upper;
	GpbBound	low;			/* the leaf's low bound and high key */
	GpbBound	high;
	bool		walked;			/* the scan came by a right link */
} GpbPlace;

/*
 * Wait until no other process seeks the scan's next leaf, and have the others wait.  Returns false
 * if the scan has ended.  *place is where to go on from; its block is InvalidBlockNumber if no leaf
 * was read yet.  Whoever gets true calls one of the next two functions.  No page may be locked.
 */
extern bool gpb_parallel_scan_seize(IndexScanDesc scan, GpbPlace *place);

/* Let the others go on from this place, whose leaf the caller has locked. */
extern void gpb_parallel_scan_release(IndexScanDesc scan, const GpbPlace *place);

/* There is no further leaf: let all processes know. */
extern void gpb_parallel_scan_done(IndexScanDesc scan);

/* amestimateparallelscan: the bytes of what processes share. */
extern Size gpb_estimate_parallel_scan(GPB_PARALLEL_SIZE_ARGUMENTS);

/* aminitparallelscan: begin a scan in so many bytes of shared memory. */
extern void gpb_parallel_scan_init(void *target);

/* amparallelrescan: begin the scan anew, while one process alone has it. */
extern void gpb_parallel_scan_restart(IndexScanDesc scan);

#endif							/* GPB_SCAN_PARALLEL_H */
