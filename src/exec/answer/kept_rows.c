/*-------------------------------------------------------------------------
 *
 * kept_rows.c
 *	  The rows of a node that reads outer rows and has a program which may have no answer.
 *
 * The ordinary plan has a copy of the outer plan in it.  Both run one after the other, if at all.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "parser/parsetree.h"

#include "exec/answer/kept_rows.h"
#include "exec/answer/ordinary_child.h"
#include "exec/price/core_paths.h"

/* ---- planning ---- */

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

/* The bytes of the struct of a path that groups or joins; 0 for other kinds. */
static Size
path_size(const Path *path)
{
	switch (nodeTag(path))
	{
		case T_AggPath:
			return sizeof(AggPath);
		case T_GroupPath:
			return sizeof(GroupPath);
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

/* The ordinary path that a path is, or that it has beside it; NULL if there is none. */
static Path *
ordinary_path(Path *path)
{
	if (gpb_is_our_path(path) && list_length(((CustomPath *) path)->custom_paths) == 2)
		path = lsecond(((CustomPath *) path)->custom_paths);
	return path_size(path) > 0 ? path : NULL;
}

Path *
gpb_ordinary_path_beside(PlannerInfo *root, RelOptInfo *rel, RelOptInfo *outerrel,
						 const PathTarget *target)
{
	Path	   *best = NULL;
	Path	   *copy;
	ListCell   *lc;

	if (!may_be_twice(root, outerrel))
		return NULL;
	foreach(lc, rel->pathlist)
	{
		Path	   *path = ordinary_path(lfirst(lc));

		if (path != NULL && bms_is_empty(PATH_REQ_OUTER(path)) &&
			equal(path->pathtarget->exprs, target->exprs) &&
			(best == NULL || gpb_is_core_choice(root, path, best)))
			best = path;
	}
	if (best == NULL)
		return NULL;
	copy = palloc(path_size(best));
	memcpy(copy, best, path_size(best));
	return copy;
}

/* ---- rows ---- */

void
gpb_kept_begin(GpbNode *node, GpbKeptRows *kept, Plan *plan, int eflags)
{
	if (plan == NULL)
		return;
	gpb_ordinary_child_begin(node, plan, eflags);
	kept->stored = ExecInitExtraTupleSlot(node->css.ss.ps.state,
										  node->css.ss.ps.ps_ResultTupleSlot->tts_tupleDescriptor,
										  &TTSOpsMinimalTuple);
}

void
gpb_kept_give_up(GpbNode *node, GpbKeptRows *kept, const char *why)
{
	if (node->ordinary_plan == NULL)
		elog(ERROR, "ranges of a gpubtree index have no answer, and no other plan: %s", why);
	kept->gave_up = why;
	gpb_note_gave_up(node, why);
}

static void
drop_rows(GpbKeptRows *kept)
{
	if (kept->store == NULL)
		return;
	ExecClearTuple(kept->stored);
	tuplestore_end(kept->store);
	kept->store = NULL;
}

void
gpb_kept_add(GpbNode *node, GpbKeptRows *kept, TupleTableSlot *row)
{
	if (kept->store == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(node->css.ss.ps.state->es_query_cxt);

		kept->store = tuplestore_begin_heap(false, false, work_mem);
		MemoryContextSwitchTo(caller);
	}
	tuplestore_puttupleslot(kept->store, row);
}

void
gpb_kept_complete(GpbKeptRows *kept)
{
	kept->complete = true;
	if (kept->gave_up != NULL)
		drop_rows(kept);
}

TupleTableSlot *
gpb_kept_next(GpbNode *node, GpbKeptRows *kept)
{
	if (kept->gave_up != NULL)
		return gpb_ordinary_child_row(node);
	if (kept->store == NULL || !tuplestore_gettupleslot(kept->store, true, false, kept->stored))
		return NULL;
	return gpb_ordinary_row_result(node, kept->stored);
}

void
gpb_kept_rescan(GpbNode *node, GpbKeptRows *kept)
{
	drop_rows(kept);
	kept->gave_up = NULL;
	kept->complete = false;
	gpb_ordinary_child_rescan(node);
}

void
gpb_kept_end(GpbKeptRows *kept)
{
	drop_rows(kept);
}
