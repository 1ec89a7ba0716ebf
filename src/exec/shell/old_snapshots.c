/*-------------------------------------------------------------------------
 *
 * old_snapshots.c
 *	  Plan without the indexes that may lack rows which a standby's snapshot sees.
 *
 * The planner is told of no such index, so core's paths and ours do without it, and the answer is
 * right (src/index/README, "Standbys").  A plan is executed with the snapshot that was active when
 * it was made, or a later one, but for a cached plan that a cursor's older snapshot comes to: there
 * gpb_require_snapshot() raises an error.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "nodes/pathnodes.h"
#include "optimizer/plancat.h"
#include "utils/snapmgr.h"

#include "exec/shell/old_snapshots.h"
#include "index/index.h"

static get_relation_info_hook_type previous_get_relation_info_hook = NULL;

/* May an index of the planner's list, of whatever access method, lack rows of the snapshot? */
static bool
may_lack_rows(const IndexOptInfo *info, Snapshot snapshot)
{
	Relation	index;
	bool		lacks;

	/* The cost function is how a planner node shows its access method. */
	if (info->amcostestimate != gpb_costestimate || info->hypothetical)
		return false;
	index = index_open(info->indexoid, NoLock);	/* the planner has locked it */
	lacks = gpb_may_lack_rows(index, snapshot);
	index_close(index, NoLock);
	return lacks;
}

/*
 * The planner has collected what it knows about a table.  The plan is good as long as the session
 * has old snapshots, as one that does without an index with broken HOT chains.
 */
static void
leave_out_indexes(GPB_RELATION_ARGUMENTS)
{
	ListCell   *lc;

	if (previous_get_relation_info_hook)
		previous_get_relation_info_hook(GPB_RELATION_PASSED);
	if (!ActiveSnapshotSet() || !gpb_is_standby_snapshot(GetActiveSnapshot()))
		return;
	foreach(lc, rel->indexlist)
	{
		if (!may_lack_rows(lfirst_node(IndexOptInfo, lc), GetActiveSnapshot()))
			continue;
		rel->indexlist = foreach_delete_current(rel->indexlist, lc);
		root->glob->transientPlan = true;
	}
}

void
gpb_old_snapshots_init(void)
{
	previous_get_relation_info_hook = get_relation_info_hook;
	get_relation_info_hook = leave_out_indexes;
}
