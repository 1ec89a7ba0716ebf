/*-------------------------------------------------------------------------
 *
 * column_arms.h
 *	  ORs and row comparisons as ranges of an index with several key columns.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_COLUMN_ARMS_H
#define GPB_COLUMN_ARMS_H

#include "postgres.h"
#include "nodes/pathnodes.h"
#include "nodes/primnodes.h"

#include "exec/where/range_split.h"

/*
 * Of what gpb_split_by_columns() leaves take those ORs and row comparisons of which every arm,
 * together with the conditions that are taken, makes ranges.  Of several the arms are combined.
 */
extern void gpb_take_column_arms(PlannerInfo *root, IndexOptInfo *index, List *computed,
								 GpbRangeSplit *split);

#endif							/* GPB_COLUMN_ARMS_H */
