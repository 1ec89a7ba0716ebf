/*-------------------------------------------------------------------------
 *
 * cost.c
 *	  What the planner is told about an index scan.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "storage/lockdefs.h"
#include "utils/index_selfuncs.h"

#include "index/index.h"

/*
 * amcostestimate.  A descent, a leaf and an entry cost here what they cost in a B-tree of the same
 * size, so btree's estimator is called, and of two equal indexes neither is preferred.  It reads
 * operator strategies and statistics through our own operator family, which numbers them alike.
 * All that it lacks is the height of the tree, which the planner looks up for btree alone.
 */
void
gpb_costestimate(PlannerInfo *root, IndexPath *path, double loop_count,
				 Cost *startup_cost, Cost *total_cost,
				 Selectivity *selectivity, double *correlation, double *pages)
{
	IndexOptInfo *info = path->indexinfo;

	if (info->tree_height < 0 && !info->hypothetical)
	{
		/* The planner holds a lock on every index of the query's tables. */
		Relation	index = index_open(info->indexoid, NoLock);

		info->tree_height = gpb_least_height(index, gpb_layout(index));
		index_close(index, NoLock);
	}
	btcostestimate(root, path, loop_count, startup_cost, total_cost,
				   selectivity, correlation, pages);
}
