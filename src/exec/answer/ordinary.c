/*-------------------------------------------------------------------------
 *
 * ordinary.c
 *	  The ordinary plan that a node has beside it, for when its program has no answer.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "parser/parsetree.h"

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
			equal(path->pathtarget->exprs, target->exprs) && is_better(root, path, best, serial))
			best = path;
	}
	return best == NULL ? NULL : memcpy(palloc(path_size(best)), best, path_size(best));
}

Path *
gpb_ordinary_path(PlannerInfo *root, RelOptInfo *grouped_rel, const PathTarget *target,
				  bool serial)
{
	return choose_ordinary(root, grouped_rel, target, 0, serial);
}

/*
 * May plans be made of the outer paths twice?  SubPlans would share their state, and setrefs.c
 * treats the range table of a subquery each time.
 */
static bool
may_be_twice(PlannerInfo *root, RelOptInfo *outerrel)
{
	int			relid = -1;

	if (root->parse->hasSubLinks || root->parse->cteList != NIL)
		return false;
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
