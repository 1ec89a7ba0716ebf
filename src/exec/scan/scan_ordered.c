/*-------------------------------------------------------------------------
 *
 * scan_ordered.c
 *	  The rows of ranges in the order of an index with several key columns: which queries.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/paths.h"

#include "exec/scan/scan_match.h"
#include "exec/shell/settings.h"
#include "exec/where/arms.h"

/*
 * Core's scan of the index reads one range in order, but does not know an OR as ranges, nor a row
 * comparison whose columns the index has in different directions.  What the ranges leave is
 * evaluated for each row.
 */
bool
gpb_scan_match_ordered(PlannerInfo *root, IndexOptInfo *index, ScanDirection direction,
					   GpbScanMatch *match)
{
	GpbScanPlan *plan = &match->plan;

	memset(match, 0, sizeof(*match));
	match->index = index;
	plan->index = index->indexoid;
	plan->direction = direction;
	/* where a cursor is, its Sort would not be asked, and we would */
	if (gpb_planning_cursor != 0)
		return false;
	match->pathkeys = truncate_useless_pathkeys(root, index->rel,
												build_index_pathkeys(root, index, direction));
	if (match->pathkeys == NIL)
		return false;
	gpb_scan_match_ranges(root, match);
	if (plan->arms == NIL || gpb_arms_may_fail(plan->arms))
		return false;
	match->others = match->split.others;
	match->listed = index->rel->rows;
	gpb_scan_match_columns(root, match);
	return true;
}
