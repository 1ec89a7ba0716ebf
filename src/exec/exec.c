/*-------------------------------------------------------------------------
 *
 * exec.c
 *	  Load time of the planner/executor wing: hooks and nodes.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/paths.h"
#include "optimizer/planner.h"
#include "utils/guc.h"

#include "engine/batch.h"
#include "exec/aggregate/aggregate_node.h"
#include "exec/aggregate/aggregate_shards.h"
#include "exec/bucket/bucket_node.h"
#include "exec/exec.h"
#include "exec/join/join_aggregate.h"
#include "exec/join/join_node.h"
#include "exec/range/lateral.h"
#include "exec/range/range_aggregate.h"
#include "exec/rank/rank_find.h"
#include "exec/rank/rank_node.h"
#include "exec/scan/scan_node.h"
#include "exec/scan/scan_stand_in.h"
#include "exec/shell/as_btree.h"
#include "exec/shell/old_snapshots.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/row_scans.h"
#include "exec/shell/settings.h"
#include "exec/shell/sibling.h"
#include "exec/stand_in/stand_in.h"
#include "exec/subquery/subquery.h"
#include "exec/where/partition_match.h"
#include "index/index_clauses.h"
#include "mirror/mirror.h"

static create_upper_paths_hook_type previous_create_upper_paths_hook = NULL;
static set_rel_pathlist_hook_type previous_rel_pathlist_hook = NULL;
static set_join_pathlist_hook_type previous_join_pathlist_hook = NULL;
static planner_hook_type previous_planner_hook = NULL;

/*
 * Let the statement be planned as it stands; then finish index scans by row comparisons, and see
 * which of its scalar subqueries batches can answer, and which of its index scans an execution may
 * have another node for.
 */
static PlannedStmt *
plan_and_finish(GPB_PLANNER_ARGUMENTS)
{
	List	   *outer = gpb_subqueries_begin();
	List	   *outer_stand_ins = gpb_stand_ins_begin();
	List	   *volatile candidates = NIL;
	List	   *volatile stand_ins = NIL;
	PlannedStmt *volatile statement = NULL;
	int			outer_cursor = gpb_planning_cursor;
	const Query *outer_query = gpb_row_query;
	bool		outer_has_paths = gpb_row_query_has_paths;
	volatile bool has_row_paths = false;
	List	  **outer_unfinished = gpb_unfinished_plans;
	List	   *unfinished = NIL;

	PG_TRY();
	{
		gpb_unfinished_plans = &unfinished;
		gpb_row_query = parse;
		gpb_row_query_has_paths = false;
		gpb_planning_cursor = (cursor_options & GPB_NAMED_CURSOR) != 0 ? cursor_options : 0;
		if (previous_planner_hook)
			statement = previous_planner_hook(GPB_PLANNER_PASSED);
		else
			statement = standard_planner(GPB_PLANNER_PASSED);
		has_row_paths = gpb_row_query_has_paths;
	}
	PG_FINALLY();
	{
		gpb_row_query = outer_query;
		gpb_row_query_has_paths = outer_has_paths;
		gpb_planning_cursor = outer_cursor;
		gpb_unfinished_plans = outer_unfinished;
		candidates = gpb_subqueries_end(outer);
		stand_ins = gpb_stand_ins_end(outer_stand_ins);
	}
	PG_END_TRY();
	gpb_finish_alike_plans(unfinished);
	if (has_row_paths)
		gpb_finish_row_scans(statement);
	gpb_subqueries_place(statement, candidates, cursor_options);
	gpb_stand_ins_place(statement, stand_ins);
	return statement;
}

/*
 * Offer a path for the aggregates, groups or DISTINCT of one table, or of a parent of several.
 * Buckets come in the order of the key, and ranks by counting: no table of groups.
 */
static void
add_grouping_path(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
				  RelOptInfo *output_rel)
{
	GpbGrouping grouping;
	const char *refusal = gpb_match_grouping(root, stage, input_rel, output_rel, &grouping);

	if (refusal == NULL && grouping.leaves != NIL)
	{
		if (stage == UPPERREL_DISTINCT ||
			(!gpb_bucket_add_merge_path(&grouping) && !gpb_percentile_add_path(&grouping)))
			gpb_aggregate_add_merge_path(&grouping);
	}
	else if (refusal != NULL || stage == UPPERREL_DISTINCT ||
		(!gpb_bucket_aggregate_add_path(&grouping) && !gpb_percentile_add_path(&grouping)))
		gpb_aggregate_add_path(&grouping, refusal);
}

/* Offer a path for the rows of one table from an OFFSET on. */
static void
add_offset_path(PlannerInfo *root, RelOptInfo *output_rel, const FinalPathExtraData *extra)
{
	RelOptInfo *rel = gpb_rank_rel(root, extra);

	if (rel == NULL)
		return;
	gpb_rank_add_path(root, output_rel, rel, extra);
	gpb_offset_add_path(root, output_rel, rel, extra);
}

/* Offer our paths for an upper relation, after everyone else's. */
static void
create_upper_paths(PlannerInfo *root, UpperRelationKind stage,
				   RelOptInfo *input_rel, RelOptInfo *output_rel, void *extra)
{
	if (previous_create_upper_paths_hook)
		previous_create_upper_paths_hook(root, stage, input_rel, output_rel, extra);
	if (!gpb_enabled)
		return;
	if (stage == UPPERREL_GROUP_AGG || stage == UPPERREL_DISTINCT)
		add_grouping_path(root, stage, input_rel, output_rel);
	if (stage == UPPERREL_GROUP_AGG)
	{
		gpb_join_aggregate_add_paths(root, input_rel, output_rel);
		gpb_range_aggregate_add_paths(root, input_rel, output_rel);
		gpb_subqueries_consider(root);
	}
	else if (stage == UPPERREL_FINAL)
		add_offset_path(root, output_rel, extra);
}

/* Offer our paths for a table, after everyone else's. */
static void
rel_pathlist(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	if (previous_rel_pathlist_hook)
		previous_rel_pathlist_hook(root, rel, rti, rte);
	if (!gpb_enabled)
		return;
	gpb_shard_offer_states(root, rel);
	gpb_scan_add_paths(root, rel);
	gpb_stand_ins_consider(root, rel);
}

/*
 * Offer our paths for a join, after everyone else's.  An inner relation of groups that are
 * aggregated in part is a copy of the table's, with its indexes, but its rows are not the table's.
 */
static void
join_pathlist(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
			  RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	if (previous_join_pathlist_hook)
		previous_join_pathlist_hook(root, joinrel, outerrel, innerrel, jointype, extra);
	if (!gpb_enabled || GPB_HAS_GROUPS(innerrel))
		return;
	gpb_join_add_paths(root, joinrel, outerrel, innerrel, jointype, extra);
	gpb_lateral_add_paths(root, joinrel, outerrel, innerrel, jointype, extra);
}

/* Every kind of node, for core to find by its name */
static const GpbNodeKind *const node_kinds[] = {
	&gpb_aggregate_node,
	&gpb_scan_node,
	&gpb_join_node,
	&gpb_join_aggregate_node,
	&gpb_partition_node,
	&gpb_range_aggregate_node,
	&gpb_subquery_node,
	&gpb_rank_node,
	&gpb_offset_node,
	&gpb_percentile_node,
	&gpb_bucket_aggregate_node
};

void
gpb_exec_init(void)
{
	int			i;

	gpb_planning_define_settings();
	for (i = 0; i < lengthof(node_kinds); i++)
		RegisterCustomScanMethods(&node_kinds[i]->scan);

#ifdef GPB_HOLD_POINTS
	DefineCustomIntVariable("gpubtree.rank_parts",
							"Sets about how many parts of a range are counted together.",
							NULL, &gpb_rank_parts, GPB_RANK_PARTS, 32, GPB_RANK_PARTS,
							PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
	DefineCustomIntVariable("gpubtree.matched_indexes",
							"Counts how many times an index was matched with a query.",
							NULL, &gpb_matched_indexes, 0, 0, INT_MAX,
							PGC_USERSET, GUC_NOT_IN_SAMPLE, NULL, NULL, NULL);
#endif

	previous_create_upper_paths_hook = create_upper_paths_hook;
	create_upper_paths_hook = create_upper_paths;
	previous_rel_pathlist_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = rel_pathlist;
	previous_join_pathlist_hook = set_join_pathlist_hook;
	set_join_pathlist_hook = join_pathlist;
	previous_planner_hook = planner_hook;
	planner_hook = plan_and_finish;
	gpb_old_snapshots_init();
	gpb_as_btree_init();
	gpb_subquery_run_init();
	gpb_stand_in_start_init();
}
