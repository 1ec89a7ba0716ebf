/*-------------------------------------------------------------------------
 *
 * skip_cost.c
 *	  The price of finding groups, and of reading the ranges of each.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "exec/price/outer_cost.h"
#include "exec/price/skip_cost.h"
#include "index/index.h"

/*
 * A leaf for each group, and one for each range.  Both are found in the order of the index, like
 * those of the outer rows of a join.
 */
Cost
gpb_skip_cost(PlannerInfo *root, IndexOptInfo *index, const GpbSkip *skip, int more_columns)
{
	GpbOuterInput groups = {0};
	GpbOuterInput ranges = {0};

	groups.index = index;
	groups.outer_rows = skip->groups;
	groups.aggregated = true;
	groups.index_only = true;
	ranges.index = index;
	ranges.outer_rows = skip->ranges;
	ranges.matches = skip->entries;
	ranges.aggregated = true;
	ranges.more_columns = more_columns;
	ranges.index_only = true;
	return gpb_inner_cost(root, &groups, skip->groups, skip->groups) +
		gpb_inner_cost(root, &ranges, skip->ranges, skip->ranges);
}

Cost
gpb_least_skip_cost(PlannerInfo *root, IndexOptInfo *index, bool first_restricted)
{
	double		groups = 1.0;

	if (index->nkeycolumns < 2 || index->tuples <= 0 || index->pages == 0)
		return INFINITY;
	if (!first_restricted)
	{
		double		values = gpb_count_values(root, index, 0, NIL);

		if (values == 0)
			return INFINITY;
		groups = Max(Min(values, index->tuples), 1.0);
	}
	return 2.0 * gpb_least_inner_cost(index, groups);
}

