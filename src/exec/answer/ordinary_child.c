/*-------------------------------------------------------------------------
 *
 * ordinary_child.c
 *	  The ordinary plan as a child, for when a program has no answer.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"

#include "exec/answer/ordinary_child.h"
#include "exec/price/core_paths.h"

/* ---- planning ---- */

/* The bytes of the struct of a path that groups; 0 if it is of a kind that is no child of ours. */
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
		default:
			return 0;
	}
}

/*
 * The ordinary path that a path of the grouping is, or that it has as its child: a path of ours may
 * have made the ordinary ones superfluous.  NULL if there is none.
 */
static Path *
ordinary_path(Path *path)
{
	if (gpb_is_our_path(path) && ((CustomPath *) path)->custom_paths != NIL)
		path = linitial(((CustomPath *) path)->custom_paths);
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

Path *
gpb_ordinary_child_path(PlannerInfo *root, RelOptInfo *grouped_rel, const PathTarget *target,
						bool serial)
{
	Path	   *best = NULL;
	Path	   *copy;
	ListCell   *lc;

	foreach(lc, grouped_rel->pathlist)
	{
		Path	   *path = ordinary_path(lfirst(lc));

		if (path != NULL && equal(path->pathtarget->exprs, target->exprs) &&
			is_better(root, path, best, serial))
			best = path;
	}
	if (best == NULL)
		return NULL;
	copy = palloc(path_size(best));
	memcpy(copy, best, path_size(best));
	return copy;
}

/* ---- execution ---- */

void
gpb_ordinary_child_begin(GpbNode *node, Plan *plan, int eflags)
{
	node->ordinary_plan = plan;
	node->ordinary_flags = eflags;
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
gpb_ordinary_child_show(GpbNode *node)
{
	/* A statement may be explained while it runs; only one that has ended asks for no more rows. */
	bool		ended = node->css.ss.ps.state->es_finished;

	if (node->ordinary_plan != NULL)
		require_begun(node, node->ordinary_flags | (ended ? EXEC_FLAG_EXPLAIN_ONLY : 0));
}

TupleTableSlot *
gpb_ordinary_child_row(GpbNode *node)
{
	require_begun(node, node->ordinary_flags);
	return gpb_ordinary_row_result(node, ExecProcNode(node->ordinary));
}

TupleTableSlot *
gpb_ordinary_row_result(GpbNode *node, TupleTableSlot *row)
{
	TupleTableSlot *result = node->css.ss.ps.ps_ResultTupleSlot;
	int			n = result->tts_tupleDescriptor->natts;

	if (TupIsNull(row))
		return NULL;
	slot_getallattrs(row);
	ExecClearTuple(result);
	memcpy(result->tts_values, row->tts_values, sizeof(Datum) * n);
	memcpy(result->tts_isnull, row->tts_isnull, sizeof(bool) * n);
	return ExecStoreVirtualTuple(result);
}

void
gpb_ordinary_child_rescan(GpbNode *node)
{
	/* ExecReScan has told the plan which parameters have changed */
	if (node->ordinary != NULL && node->ordinary->chgParam == NULL)
		ExecReScan(node->ordinary);
}
