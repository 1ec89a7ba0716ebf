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

#include "exec/common/range_split.h"

/*
 * A row comparison as what it stands for, an OR: (a, b) > (x, y) as "a > x OR a = x AND b > y".
 * Returns the arms, each a List of clauses; NIL if there is an operator that has no "=".
 */
extern List *gpb_row_comparison_arms(const RowCompareExpr *comparison);

/*
 * Of what gpb_split_by_columns() leaves take those ORs and row comparisons of which every arm,
 * together with the conditions that are taken, makes ranges.  Of several the arms are combined.
 */
extern void gpb_take_column_arms(PlannerInfo *root, IndexOptInfo *index, List *computed,
								 GpbRangeSplit *split);

#endif							/* GPB_COLUMN_ARMS_H */
