/*-------------------------------------------------------------------------
 *
 * range_split.c
 *	  A table's restrictions, parted into ranges of an index's key and others.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"

#include "exec/price/unknown_bounds.h"
#include "exec/shell/never_null.h"
#include "exec/where/key_arms.h"
#include "exec/where/key_arrays.h"
#include "exec/where/key_conditions.h"
#include "exec/where/range_split.h"

/* Of the others take the first that is an OR of ranges. */
static void
take_arms(PlannerInfo *root, IndexOptInfo *index, List *computed, GpbRangeSplit *split)
{
	ListCell   *lc;

	if (split->arrays != NIL)
		return;
	foreach(lc, split->others)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		bool		exact;

		if (rinfo->pseudoconstant ||
			!restriction_is_securely_promotable(rinfo, index->rel))
			continue;
		split->arms = gpb_match_arms(root, rinfo->clause, index, computed, &exact);
		if (split->arms == NIL)
			continue;
		if (exact)
		{
			split->arms_clauses = list_make1(rinfo);
			split->others = foreach_delete_current(split->others, lc);
		}
		return;
	}
}

void
gpb_split_restrictions(PlannerInfo *root, IndexOptInfo *index, List *restrictions,
					   List *computed, GpbRangeSplit *split)
{
	ListCell   *lc;

	memset(split, 0, sizeof(*split));
	foreach(lc, restrictions)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Expr	   *condition;
		Expr	   *array = NULL;

		if (gpb_is_always_true(root, index, rinfo))
			continue;
		condition = gpb_match_condition(root, rinfo, index);
		if (condition == NULL)
			array = gpb_match_array_condition(root, rinfo, index);
		if (condition != NULL && !list_member(computed, condition))
			split->conditions = lappend(split->conditions, condition);
		else if (array != NULL && !list_member(computed, array))
			split->arrays = lappend(split->arrays, array);
		else
		{
			split->others = lappend(split->others, rinfo);
			continue;
		}
		split->ranges = lappend(split->ranges, rinfo);
	}
	take_arms(root, index, computed, split);
}

bool
gpb_split_may_be_lossy(const GpbRangeSplit *split)
{
	ListCell   *lc;

	foreach(lc, split->arms)
	{
		if (gpb_may_be_lossy(lfirst_node(List, lc)))
			return true;
	}
	return gpb_may_be_lossy(split->conditions);
}

double
gpb_split_entries(PlannerInfo *root, IndexOptInfo *index, const GpbRangeSplit *split, double rows)
{
	Selectivity arms = 1.0;

	if (split->others == NIL)
		return clamp_row_est(rows);
	if (split->arms != NIL)
		arms = gpb_arms_selectivity(root, index, split->arms);
	return gpb_range_entries(root, index, split->ranges, arms, rows);
}
