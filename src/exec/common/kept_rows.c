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

#include "exec/common/kept_rows.h"
#include "exec/common/plan_rules.h"

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
	if (IsA(path, CustomPath) && list_length(((CustomPath *) path)->custom_paths) == 2)
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

/* ---- the ordinary plan ---- */

void
gpb_kept_begin(GpbNode *node, GpbKeptRows *kept, Plan *plan, int eflags)
{
	EState	   *estate = node->css.ss.ps.state;

	if (plan == NULL)
		return;
	kept->plan = plan;
	kept->flags = eflags;
	kept->waits = true;
	kept->ordinary = ExecInitNode(plan, estate, eflags | EXEC_FLAG_EXPLAIN_ONLY);
	kept->stored = ExecInitExtraTupleSlot(estate,
										  node->css.ss.ps.ps_ResultTupleSlot->tts_tupleDescriptor,
										  &TTSOpsMinimalTuple);
	node->css.custom_ps = lappend(node->css.custom_ps, kept->ordinary);
}

/* Initialize the ordinary plan once more, to be executed. */
static void
start_ordinary(GpbNode *node, GpbKeptRows *kept)
{
	EState	   *estate = node->css.ss.ps.state;
	MemoryContext caller = MemoryContextSwitchTo(estate->es_query_cxt);

	ExecEndNode(kept->ordinary);
	node->css.custom_ps = list_delete_ptr(node->css.custom_ps, kept->ordinary);
	kept->ordinary = ExecInitNode(kept->plan, estate, kept->flags);
	node->css.custom_ps = lappend(node->css.custom_ps, kept->ordinary);
	kept->waits = false;
	MemoryContextSwitchTo(caller);
}

void
gpb_kept_give_up(GpbNode *node, GpbKeptRows *kept, const char *why)
{
	if (kept->ordinary == NULL)
		elog(ERROR, "ranges of a gpubtree index have no answer, and no other plan: %s", why);
	kept->gave_up = why;
	gpb_note_gave_up(node, why);
}

/* ---- rows ---- */

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

/* The next row of the ordinary plan or of those that were kept */
static TupleTableSlot *
next_source(GpbNode *node, GpbKeptRows *kept)
{
	if (kept->gave_up == NULL)
		return kept->store != NULL &&
			tuplestore_gettupleslot(kept->store, true, false, kept->stored) ? kept->stored : NULL;
	if (kept->waits)
		start_ordinary(node, kept);
	return ExecProcNode(kept->ordinary);
}

TupleTableSlot *
gpb_kept_next(GpbNode *node, GpbKeptRows *kept)
{
	TupleTableSlot *result = node->css.ss.ps.ps_ResultTupleSlot;
	TupleTableSlot *row = next_source(node, kept);
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
gpb_kept_rescan(GpbNode *node, GpbKeptRows *kept)
{
	if (kept->ordinary == NULL)
		return;
	drop_rows(kept);
	kept->gave_up = NULL;
	kept->complete = false;
	if (kept->waits)
		return;
	if (node->css.ss.ps.chgParam != NULL)
		UpdateChangedParamSet(kept->ordinary, node->css.ss.ps.chgParam);
	if (kept->ordinary->chgParam == NULL)
		ExecReScan(kept->ordinary);
}

void
gpb_kept_end(GpbKeptRows *kept)
{
	if (kept->ordinary == NULL)
		return;
	drop_rows(kept);
	ExecEndNode(kept->ordinary);
}
