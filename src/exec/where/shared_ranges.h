/*-------------------------------------------------------------------------
 *
 * shared_ranges.h
 *	  The ranges of a node that several processes run together: parts of the index that these share
 *	  out.
 *
 * Parts are told by bounds, never by blocks (rule M7), and cover all keys.  Each process makes the
 * node's ranges by itself, and takes of them what lies in its parts.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SHARED_RANGES_H
#define GPB_SHARED_RANGES_H

#include "postgres.h"
#include "utils/snapshot.h"

#include "engine/batch.h"
#include "exec/where/conditions.h"

/* What the processes share */
typedef struct GpbSharedParts GpbSharedParts;

/* The bytes that it takes for a leader and so many workers */
extern Size gpb_shared_parts_size(int workers);

/*
 * Make parts of the index for so many workers, by the ranges that the leader has found, which may
 * be none, and let all parts be taken anew.  No process takes one meanwhile.
 */
extern void gpb_shared_parts_make(GpbSharedParts *parts, int workers, Relation index,
								  Snapshot snapshot, const GpbFoundRanges *found);

/* Likewise, by the ranges that satisfy conditions, which are evaluated for that */
extern void gpb_shared_parts_find(GpbSharedParts *parts, int workers, Relation index,
								  Snapshot snapshot, GpbConditions *conditions,
								  ExprContext *econtext);

/* The ranges of one process, in its parts */
typedef struct GpbSharedRanges
{
	GpbRangeSource source;		/* must be first: what this process has taken */
	GpbSharedParts *parts;
	int			layout_flags;
	const GpbFoundRanges *all;
	GpbRange   *taken;
	uint32		capacity;
	uint32		nparts;			/* that had some of the ranges */
} GpbSharedRanges;

/*
 * Begin to take parts of the ranges, which ascend and are disjoint, and stay where they are.
 * Memory is of the current context.
 */
extern void gpb_shared_ranges_begin(GpbSharedRanges *shared, GpbSharedParts *parts,
									const GpbLayout *layout, const GpbFoundRanges *all);

#endif							/* GPB_SHARED_RANGES_H */
