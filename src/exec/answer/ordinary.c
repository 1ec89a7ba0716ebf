/*-------------------------------------------------------------------------
 *
 * ordinary.c
 *	  The ordinary plan that a node has beside it, for when its program has no answer.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/prep.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/selfuncs.h"

#include "exec/answer/kept_rows.h"
#include "exec/answer/ordinary.h"
#include "exec/price/core_paths.h"

/* ---- planning ---- */

/* The bytes of the struct of a path that groups or joins; 0 if it is of no kind that takes over. */
static Size
path_size(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_AggPath:
			return sizeof(AggPath);
		case T_GroupingSetsPath:
			return sizeof(GroupingSetsPath);
		case T_GroupPath:
			return sizeof(GroupPath);
		case T_UpperUniquePath:
			return sizeof(UpperUniquePath);
		case T_NestPath:
			return sizeof(NestPath);
		case T_MergePath:
			return sizeof(MergePath);
		case T_HashPath:
			return sizeof(HashPath);
		default:
			return 0;
	}
}

/*
 * The ordinary path that a path is, or that it has among its custom_paths at this place: a path of
 * ours may have made the ordinary ones superfluous.  NULL if there is none.
 */
static Path *
ordinary_of(Path *path, int place)
{
	if (gpb_is_our_path(path) && list_length(((CustomPath *) path)->custom_paths) > place)
		path = list_nth(((CustomPath *) path)->custom_paths, place);
	return path_size(path) > 0 ? path : NULL;
}

/*
 * Is a path better than another, which may be NULL?  What is parallel safe has no workers of its
 * own; core keeps such a path beside a cheaper one with workers.
 */
static bool
is_better(PlannerInfo *root, const Path *path, const Path *other, bool serial)
{
	if (other == NULL)
		return true;
	if (serial && path->parallel_safe != other->parallel_safe)
		return path->parallel_safe;
	return gpb_is_core_choice(root, path, other);
}

/*
 * Does the path append groups or joins of partitions, rather than partitions?  Such an Append is
 * not pruned when it begins, and no partition can be opened from PostgreSQL 18 on that another
 * Append of the statement has pruned then, that of our node, say.
 */
static bool
appends_results(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_AppendPath:
		case T_MergeAppendPath:
			return !IS_SIMPLE_REL(path->parent);
		case T_NestPath:
		case T_MergePath:
		case T_HashPath:
			return appends_results(((const JoinPath *) path)->outerjoinpath) ||
				appends_results(((const JoinPath *) path)->innerjoinpath);
		case T_AggPath:
			return appends_results(((const AggPath *) path)->subpath);
		case T_GroupingSetsPath:
			return appends_results(((const GroupingSetsPath *) path)->subpath);
		case T_GroupPath:
			return appends_results(((const GroupPath *) path)->subpath);
		case T_UpperUniquePath:
			return appends_results(((const UpperUniquePath *) path)->subpath);
		case T_SortPath:
		case T_IncrementalSortPath:
			return appends_results(((const SortPath *) path)->subpath);
		case T_ProjectionPath:
			return appends_results(((const ProjectionPath *) path)->subpath);
		case T_MaterialPath:
			return appends_results(((const MaterialPath *) path)->subpath);
		case T_GatherPath:
			return appends_results(((const GatherPath *) path)->subpath);
		case T_GatherMergePath:
			return appends_results(((const GatherMergePath *) path)->subpath);
		default:
			return false;
	}
}

/* The best ordinary path with this target and no parameters, as a copy; NULL if there is none. */
static Path *
choose_ordinary(PlannerInfo *root, RelOptInfo *rel, const PathTarget *target, int place,
				bool serial)
{
	Path	   *best = NULL;
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		Path	   *path = ordinary_of(lfirst(lc), place);

		if (path != NULL && bms_is_empty(PATH_REQ_OUTER(path)) &&
			equal(path->pathtarget->exprs, target->exprs) && !appends_results(path) &&
			is_better(root, path, best, serial))
			best = path;
	}
	return best == NULL ? NULL : memcpy(palloc(path_size(best)), best, path_size(best));
}

/* The table or subquery that a query groups; NULL if it groups several, or has sets of groups. */
static RelOptInfo *
grouped_alone(PlannerInfo *root, RelOptInfo *grouped_rel, const PathTarget *target)
{
	if (!list_member_ptr(root->upper_rels[UPPERREL_GROUP_AGG], grouped_rel) ||
		!equal(grouped_rel->reltarget->exprs, target->exprs) ||
		root->parse->groupingSets != NIL || root->numOrderedAggs > 0 ||
		bms_membership(root->all_baserels) != BMS_SINGLETON)
		return NULL;
	return find_base_rel(root, bms_singleton_member(root->all_baserels));
}

/*
 * A path that groups all rows of the partitions, which core makes, too, and drops where it is
 * cheaper to group each partition's first.
 */
static Path *
group_all_rows(PlannerInfo *root, RelOptInfo *grouped_rel, const PathTarget *target)
{
	RelOptInfo *rel = grouped_alone(root, grouped_rel, target);
	List	   *clauses = GPB_GROUP_CLAUSE(root);
	List	   *groups = get_sortgrouplist_exprs(root->parse->groupClause, root->processed_tlist);
	AggStrategy strategy = AGG_HASHED;
	AggClauseCosts costs = {0};
	Path	   *rows;
	double		ngroups;

	if (rel == NULL)
		return NULL;
	rows = rel->cheapest_total_path;
	ngroups = groups == NIL ? 1 : estimate_num_groups(root, groups, rows->rows, NULL, NULL);
	if (groups == NIL)
		strategy = AGG_PLAIN;
	else if (clauses == NIL || !grouping_is_hashable(clauses))
	{
		strategy = AGG_SORTED;
		if (root->group_pathkeys != NIL)
			rows = (Path *) create_sort_path(root, grouped_rel, rows, root->group_pathkeys, -1.0);
	}
	get_agg_clause_costs(root, AGGSPLIT_SIMPLE, &costs);
	return (Path *) create_agg_path(root, grouped_rel, rows, grouped_rel->reltarget, strategy,
									AGGSPLIT_SIMPLE, clauses, (List *) root->parse->havingQual,
									&costs, ngroups);
}

bool
gpb_add_ordinary_path(PlannerInfo *root, RelOptInfo *grouped_rel, CustomPath *own, bool serial)
{
	const PathTarget *target = own->path.pathtarget;
	Path	   *path = choose_ordinary(root, grouped_rel, target, 0, serial);

	if (path == NULL && enable_partitionwise_aggregate)
		path = group_all_rows(root, grouped_rel, target);
	if (path == NULL)
		return false;
	own->flags &= ~CUSTOMPATH_SUPPORT_PROJECTION;
	own->custom_paths = lappend(own->custom_paths, path);
	return true;
}

/*
 * May plans be made of the outer paths twice?  SubPlans would share their state, setrefs.c treats
 * the range table of a subquery each time, and one of the two might prune what the other opens.
 */
static bool
may_be_twice(PlannerInfo *root, RelOptInfo *outerrel)
{
	int			relid = -1;

	ListCell   *lc;

	if (root->parse->hasSubLinks || root->parse->cteList != NIL)
		return false;
	foreach(lc, outerrel->pathlist)
	{
		if (appends_results(lfirst(lc)))
			return false;
	}
	while ((relid = bms_next_member(outerrel->relids, relid)) >= 0)
	{
		if (planner_rt_fetch(relid, root)->rtekind == RTE_SUBQUERY)
			return false;
	}
	return true;
}

Path *
gpb_ordinary_path_beside(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *outerrel,
						 const PathTarget *target)
{
	if (!may_be_twice(root, outerrel))
		return NULL;
	return choose_ordinary(root, rel, target, 1, false);
}

/* ---- execution ---- */

void
gpb_ordinary_begin(GpbNode *node, Plan *plan, int eflags)
{
	node->ordinary_plan = plan;
	node->ordinary_flags = eflags;
}

void
gpb_node_give_up(GpbNode *node, const char *why)
{
	if (node->ordinary_plan == NULL)
		elog(ERROR, "%s has no answer, and no other plan: %s", node->css.methods->CustomName,
			 why);
	node->gave_up = why;
	gpb_note_gave_up(node, why);
}

/* Begin the ordinary plan, with these flags, unless it has begun. */
static void
require_begun(GpbNode *node, int eflags)
{
	EState	   *estate = node->css.ss.ps.state;
	MemoryContext caller;

	if (node->ordinary != NULL)
		return;
	caller = MemoryContextSwitchTo(estate->es_query_cxt);
	node->ordinary = ExecInitNode(node->ordinary_plan, estate, eflags);
	if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0)
		gpb_complete_shown(node->ordinary, NULL);
	gpb_show_child(node, node->ordinary);
	MemoryContextSwitchTo(caller);
}

void
gpb_ordinary_show(GpbNode *node)
{
	/* A statement may be explained while it runs; only one that has ended asks for no more rows. */
	bool		ended = node->css.ss.ps.state->es_finished;

	if (node->ordinary_plan != NULL)
		require_begun(node, node->ordinary_flags | (ended ? EXEC_FLAG_EXPLAIN_ONLY : 0));
}

TupleTableSlot *
gpb_ordinary_row(GpbNode *node)
{
	require_begun(node, node->ordinary_flags);
	return gpb_copy_row(ExecProcNode(node->ordinary), node->css.ss.ps.ps_ResultTupleSlot);
}

void
gpb_ordinary_rescan(GpbNode *node)
{
	/* ExecReScan has told the plan which parameters have changed */
	if (node->ordinary != NULL && node->ordinary->chgParam == NULL)
		ExecReScan(node->ordinary);
}
