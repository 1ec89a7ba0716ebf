/*-------------------------------------------------------------------------
 *
 * groups.h
 *	  The groups of an index with several key columns, and the ranges of what is wanted in each.
 *
 * A group is what has the same values in a prefix of the key columns, NULL being one of them.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_GROUPS_H
#define GPB_GROUPS_H

#include "utils/rel.h"

#include "index/column_ranges.h"

/* What gpb_group_ranges() has done */
typedef struct GpbGroupCounters
{
	uint64		groups;			/* groups found that the conditions on the prefix admit */
	uint64		descents;		/* searches of the tree for them */
} GpbGroupCounters;

/*
 * Find the groups by the first "prefix" key columns that the conditions on these admit, and make of
 * each the ranges that the conditions on the columns behind admit, from the column "prefix" on, as
 * far as each column before has single fields.  The ranges are disjoint, ascend, and are palloc'd
 * into set, which has none.  They have every entry that satisfies all conditions and was in the
 * index all the time, and may have others.  No page may be locked.  Returns false if there are more
 * than "most" ranges.
 */
extern bool gpb_group_ranges(Relation index, const GpbColumnSets *sets, int prefix, uint32 most,
							 GpbRangeSet *set, GpbGroupCounters *counters);

#endif							/* GPB_GROUPS_H */
