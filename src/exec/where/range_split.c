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
#include "exec/where/arms.h"
#include "exec/where/condition_match.h"
#include "exec/where/range_split.h"

/* How gpb_match_restriction() and gpb_match_one_range() match a restriction with a column */
typedef Expr *(*GpbMatchColumn) (PlannerInfo *root, IndexOptInfo *index, int c,
								 RestrictInfo *rinfo, bool *point);

/* Begin with all restrictions among the others, but for those that are always true. */
static void
split_begin(PlannerInfo *root, IndexOptInfo *index, List *restrictions, GpbRangeSplit *split)
{
	ListCell   *lc;

	memset(split, 0, sizeof(*split));
	foreach(lc, restrictions)
	{
		if (!gpb_is_always_true(root, index, lfirst_node(RestrictInfo, lc)))
			split->others = lappend(split->others, lfirst(lc));
	}
}

/* Take from the others what is a condition on column c.  Returns whether one of them is a point. */
static bool
take_column(PlannerInfo *root, IndexOptInfo *index, int c, List *computed, GpbMatchColumn match,
			GpbRangeSplit *split)
{
	bool		points = false;
	ListCell   *lc;

	foreach(lc, split->others)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		bool		point;
		Expr	   *condition = match(root, index, c, rinfo, &point);

		if (condition == NULL || list_member(computed, condition))
			continue;
		if (IsA(condition, ScalarArrayOpExpr))
			split->arrays = lappend(split->arrays, condition);
		else
			split->conditions = lappend(split->conditions, condition);
		split->ranges = lappend(split->ranges, rinfo);
		split->others = foreach_delete_current(split->others, lc);
		points |= point;
	}
	return points;
}

void
gpb_split_restrictions(PlannerInfo *root, IndexOptInfo *index, List *restrictions,
					   List *computed, GpbRangeSplit *split)
{
	int			c = 0;

	split_begin(root, index, restrictions, split);
	/* A column that is there twice has its conditions where it comes first. */
	while (c < index->nkeycolumns &&
		   take_column(root, index, c, computed, gpb_match_restriction, split))
		c++;
	gpb_take_arms(root, index, computed, split);
}

void
gpb_split_leading(PlannerInfo *root, IndexOptInfo *index, List *restrictions, int ncolumns,
				  GpbRangeSplit *split)
{
	split_begin(root, index, restrictions, split);
	for (int c = 0; c < ncolumns; c++)
		(void) take_column(root, index, c, NIL, gpb_match_restriction, split);
}

bool
gpb_split_by_order(PlannerInfo *root, IndexOptInfo *index, List *restrictions, List *computed,
				   int *column, GpbRangeSplit *split)
{
	int			c = 0;

	split_begin(root, index, restrictions, split);
	while (c < index->nkeycolumns &&
		   take_column(root, index, c, computed, gpb_match_one_range, split))
		c++;
	/* The only column is the ordered one, whatever its conditions are. */
	*column = index->nkeycolumns == 1 ? 0 : c;
	return *column < index->nkeycolumns;
}

/* The product of arrays on several columns may be too many ranges. */
bool
gpb_split_may_be_lossy(const IndexOptInfo *index, const GpbRangeSplit *split)
{
	ListCell   *lc;

	foreach(lc, split->arms)
	{
		if (gpb_may_be_lossy(lfirst_node(List, lc)))
			return true;
	}
	return gpb_may_be_lossy(split->conditions) ||
		(index->nkeycolumns > 1 && list_length(split->arrays) > 1);
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
