/*-------------------------------------------------------------------------
 *
 * node_shell.c
 *	  What all nodes of ours have in common: the path, the plan node, and the executor node's
 *	  relations, child, and the one row that some return.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/parallel.h"
#include "access/table.h"
#include "catalog/index.h"
#include "executor/executor.h"
#include "nodes/makefuncs.h"
#include "utils/memutils.h"

#include "exec/shell/node_shell.h"
#include "page/page.h"

/* What the names of all nodes of ours begin with */
#define GPB_NODE_PREFIX		"Gpubtree"

/* ---- planning ---- */

CustomPath *
gpb_make_path(Size size, const CustomPathMethods *methods, RelOptInfo *parent, PathTarget *target)
{
	CustomPath *path = (CustomPath *) newNode(size, T_CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = parent;
	path->path.pathtarget = target;
	path->path.parallel_safe = false;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = methods;
	return path;
}

bool
gpb_is_node_name(const char *name)
{
	return strncmp(name, GPB_NODE_PREFIX, strlen(GPB_NODE_PREFIX)) == 0;
}

bool
gpb_is_our_path(const Path *path)
{
	return IsA(path, CustomPath) &&
		gpb_is_node_name(((const CustomPath *) path)->methods->CustomName);
}

CustomScan *
gpb_make_node(const GpbNodeKind *kind, const CustomPath *path, Index scanrelid, List *tlist,
			  List *qual, List *plans, List *columns)
{
	CustomScan *scan = makeNode(CustomScan);
	ListCell   *lc;

	scan->scan.plan.targetlist = tlist;
	scan->scan.plan.qual = qual;
	scan->scan.scanrelid = scanrelid;
	scan->flags = path->flags;
	scan->custom_plans = plans;
	foreach(lc, columns)
		scan->custom_scan_tlist =
			lappend(scan->custom_scan_tlist,
					makeTargetEntry(lfirst(lc), foreach_current_index(lc) + 1, NULL, false));
	scan->methods = &kind->scan;
	return scan;
}

List *
gpb_plan_columns(const Plan *plan)
{
	List	   *columns = NIL;
	ListCell   *lc;

	foreach(lc, plan->targetlist)
		columns = lappend(columns, lfirst_node(TargetEntry, lc)->expr);
	return columns;
}

/* ---- begin ---- */

void
gpb_note_gave_up(GpbNode *node, const char *why)
{
	if (node->once_gave_up == NULL)
		node->once_gave_up = MemoryContextStrdup(node->css.ss.ps.state->es_query_cxt, why);
}

Node *
gpb_create_node(CustomScan *plan)
{
	const GpbNodeKind *kind = (const GpbNodeKind *) plan->methods;
	CustomScanState *css = (CustomScanState *) newNode(kind->state_size, T_CustomScanState);

	css->methods = &kind->exec;
	return (Node *) css;
}

/*
 * Open the node's index with the lock that the statement has on its table, number rti.  Raises
 * ERRCODE_T_R_SERIALIZATION_FAILURE if it may lack rows that the statement's snapshot sees.
 */
static bool
open_index_of(GpbNode *node, Oid index, Index rti, int eflags)
{
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return false;
	node->index = index_open(index, exec_rt_fetch(rti, node->css.ss.ps.state)->rellockmode);
	gpb_require_snapshot(node->index, node->css.ss.ps.state->es_snapshot);
	return true;
}

bool
gpb_open_scanned(GpbNode *node, Oid index, int eflags)
{
	Assert(node->css.ss.ss_currentRelation != NULL);
	node->heap = node->css.ss.ss_currentRelation;
	node->css.ss.ss_currentRelation = NULL;
	return open_index_of(node, index, ((Scan *) node->css.ss.ps.plan)->scanrelid, eflags);
}

/*
 * The statement has locked the index's table, as it has all tables of its plan: a partition too
 * that was pruned when the plan was begun.  So the index stays what it was when the query was
 * planned.
 */
bool
gpb_open_above(GpbNode *node, Oid index, int eflags)
{
	node->heap = node->css.ss.ss_currentRelation;
	node->css.ss.ss_currentRelation = NULL;
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return false;
	node->index = index_open(index, AccessShareLock);
	return true;
}

bool
gpb_open_joined(GpbNode *node, Oid index, int eflags)
{
	CustomScan *plan = castNode(CustomScan, node->css.ss.ps.plan);
	TargetEntry *last = llast_node(TargetEntry, plan->custom_scan_tlist);
	Index		rti = castNode(Var, last->expr)->varno;

	if (exec_rt_fetch(rti, node->css.ss.ps.state)->inh)
	{
		if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
			return false;
		gpb_open_unnamed(node->css.ss.ps.state, index, eflags, &node->heap, &node->index);
		node->opened_heap = true;
		return true;
	}
	node->heap = ExecOpenScanRelation(node->css.ss.ps.state, rti, eflags);
	return open_index_of(node, index, rti, eflags);
}

/*
 * Raise core's error if the table is a materialized view without data.  The executor does so for
 * tables that it opens.
 */
static void
require_data(Relation table, int eflags)
{
	if ((eflags & (EXEC_FLAG_EXPLAIN_ONLY | EXEC_FLAG_WITH_NO_DATA)) == 0 &&
		!RelationIsScannable(table))
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("materialized view \"%s\" has not been populated",
						RelationGetRelationName(table)),
				 errhint("Use the REFRESH MATERIALIZED VIEW command.")));
}

void
gpb_open_unnamed(EState *estate, Oid index, int eflags, Relation *heap_relation,
				 Relation *index_relation)
{
	/* a worker takes the locks of its leader again */
	*heap_relation = table_open(IndexGetRelation(index, false),
								IsParallelWorker() ? AccessShareLock : NoLock);
	require_data(*heap_relation, eflags);
	*index_relation = index_open(index, AccessShareLock);
	gpb_require_snapshot(*index_relation, estate->es_snapshot);
}

/* ---- the child, and the end ---- */

void
gpb_show_child(GpbNode *node, PlanState *child)
{
	PlanState  *ps = &node->css.ss.ps;

	if (outerPlanState(ps) == NULL)
		outerPlanState(ps) = child;
	else
	{
		Assert(innerPlanState(ps) == NULL);
		innerPlanState(ps) = child;
	}
}

void
gpb_start_child(GpbNode *node, int eflags)
{
	CustomScan *plan = castNode(CustomScan, node->css.ss.ps.plan);

	node->child = ExecInitNode(linitial(plan->custom_plans), node->css.ss.ps.state, eflags);
	gpb_show_child(node, node->child);
}

void
gpb_rescan_child(GpbNode *node)
{
	/* ExecReScan has told the child which parameters have changed */
	if (node->child->chgParam == NULL)
		ExecReScan(node->child);
}

void
gpb_close_node(GpbNode *node)
{
	if (node->child != NULL)
		ExecEndNode(node->child);
	if (node->ordinary != NULL)
		ExecEndNode(node->ordinary);
	if (node->index != NULL)
		index_close(node->index, NoLock);
	if (node->opened_heap)
		table_close(node->heap, NoLock);
}

/* ---- nodes that return one row ---- */

void
gpb_clear_answer(GpbNode *node)
{
	TupleTableSlot *tuple = node->css.ss.ss_ScanTupleSlot;

	ExecClearTuple(tuple);
	MemoryContextReset(node->work);
	memset(tuple->tts_isnull, true, sizeof(bool) * tuple->tts_tupleDescriptor->natts);
}

TupleTableSlot *
gpb_exec_one_row(CustomScanState *css)
{
	GpbNode    *node = (GpbNode *) css;
	const GpbNodeKind *kind = (const GpbNodeKind *) castNode(CustomScan, css->ss.ps.plan)->methods;

	if (node->returned)
		return NULL;
	ResetExprContext(css->ss.ps.ps_ExprContext);
	if (!node->answered)
		kind->answer(css);
	node->answered = true;
	node->returned = true;
	return gpb_node_result(node, NULL);
}

void
gpb_rescan_one_row(CustomScanState *css)
{
	GpbNode    *node = (GpbNode *) css;

	node->returned = false;
	if (css->ss.ps.chgParam == NULL && (node->child == NULL || node->child->chgParam == NULL) &&
		node->answered)
		return;
	node->answered = false;
	if (node->child != NULL)
		gpb_rescan_child(node);
}
