/*-------------------------------------------------------------------------
 *
 * rows_elsewhere.c
 *	  A set_rel_pathlist_hook that replaces all paths of some tables by one that returns each row
 *	  twice.  See README.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "fmgr.h"
#include "nodes/extensible.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "utils/lsyscache.h"

PG_MODULE_MAGIC;

PGDLLEXPORT void _PG_init(void);

static set_rel_pathlist_hook_type previous_hook = NULL;

/* ---- the node: it returns each of its child's rows twice ---- */

typedef struct RowsState
{
	CustomScanState css;
	bool		again;			/* has the row of the scan tuple been returned once? */
} RowsState;

static void
begin_rows(CustomScanState *css, EState *estate, int eflags)
{
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);

	css->custom_ps = list_make1(ExecInitNode(linitial(plan->custom_plans), estate, eflags));
}

/* ExecScan's access method */
static TupleTableSlot *
next_row(ScanState *scan)
{
	RowsState  *state = (RowsState *) scan;
	TupleTableSlot *row;

	if (state->again)
	{
		state->again = false;
		return scan->ss_ScanTupleSlot;
	}
	row = ExecProcNode(linitial(state->css.custom_ps));
	if (TupIsNull(row))
		return ExecClearTuple(scan->ss_ScanTupleSlot);
	state->again = true;
	/* Where no column is wanted there is no list of columns, and the scan tuple is the table's row. */
	if (row->tts_tupleDescriptor->natts == 0)
		return ExecStoreAllNullTuple(scan->ss_ScanTupleSlot);
	return ExecCopySlot(scan->ss_ScanTupleSlot, row);
}

static bool
recheck_row(ScanState *scan, TupleTableSlot *slot)
{
	return true;
}

static TupleTableSlot *
exec_rows(CustomScanState *css)
{
	return ExecScan(&css->ss, next_row, recheck_row);
}

static void
rescan_rows(CustomScanState *css)
{
	PlanState  *child = linitial(css->custom_ps);

	if (css->ss.ps.chgParam != NULL)
		UpdateChangedParamSet(child, css->ss.ps.chgParam);
	if (child->chgParam == NULL)
		ExecReScan(child);
	((RowsState *) css)->again = false;
	ExecScanReScan(&css->ss);
}

static void
end_rows(CustomScanState *css)
{
	ExecEndNode(linitial(css->custom_ps));
}

static const CustomExecMethods exec_methods = {
	.CustomName = "RowsElsewhere",
	.BeginCustomScan = begin_rows,
	.ExecCustomScan = exec_rows,
	.ReScanCustomScan = rescan_rows,
	.EndCustomScan = end_rows
};

static Node *
create_state(CustomScan *plan)
{
	RowsState  *state = (RowsState *) newNode(sizeof(RowsState), T_CustomScanState);

	state->css.methods = &exec_methods;
	return (Node *) state;
}

static const CustomScanMethods scan_methods = {"RowsElsewhere", create_state};

/* PlanCustomPath: the child has tested the clauses. */
static Plan *
plan_rows(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		  List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *child = linitial(custom_plans);

	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = rel->relid;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_scan_tlist = copyObject(child->targetlist);
	scan->methods = &scan_methods;
	return &scan->scan.plan;
}

static const CustomPathMethods path_methods = {"RowsElsewhere", plan_rows};

/* ---- the hook ---- */

/* A scan of the table and, behind it, of what is elsewhere */
static Path *
make_append(PlannerInfo *root, RelOptInfo *rel)
{
	return (Path *)
		create_append_path(root, rel,
						   list_make2(create_seqscan_path(root, rel, rel->lateral_relids, 0),
									  create_seqscan_path(root, rel, rel->lateral_relids, 0)),
						   NIL, NIL, rel->lateral_relids, 0, false, 2 * rel->rows);
}

static Path *
make_custom(RelOptInfo *rel, Path *child)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = rel;
	path->path.pathtarget = rel->reltarget;
	path->path.param_info = child->param_info;
	path->path.rows = 2 * child->rows;
	path->path.startup_cost = child->startup_cost;
	path->path.total_cost = child->total_cost;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->custom_paths = list_make1(child);
	path->methods = &path_methods;
	return &path->path;
}

static bool
begins_with(const char *name, const char *start)
{
	return strncmp(name, start, strlen(start)) == 0;
}

static void
replace_paths(PlannerInfo *root, RelOptInfo *rel, Index rti, RangeTblEntry *rte)
{
	const char *name;
	Path	   *path;

	if (previous_hook)
		previous_hook(root, rel, rti, rte);
	if (rte->rtekind != RTE_RELATION || rte->inh || rel->pathlist == NIL)
		return;
	name = get_rel_name(rte->relid);
	if (!begins_with(name, "appended_") && !begins_with(name, "custom_"))
		return;
	path = begins_with(name, "appended_") ? make_append(root, rel) :
		make_custom(rel, create_seqscan_path(root, rel, rel->lateral_relids, 0));
	rel->pathlist = NIL;
	rel->partial_pathlist = NIL;
	add_path(rel, path);
}

void
_PG_init(void)
{
	previous_hook = set_rel_pathlist_hook;
	set_rel_pathlist_hook = replace_paths;
}
