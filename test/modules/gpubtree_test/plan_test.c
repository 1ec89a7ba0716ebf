/*-------------------------------------------------------------------------
 *
 * plan_test.c
 *	  What other extensions do with plans and with planning: the settings
 *	  gpubtree_test.reread_plans and planner_hook_passes_by, gpubtree_test_explain_running(); and
 *	  which fields plan nodes have, gpubtree_test_plan_nodes().
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "commands/explain.h"
#include "fmgr.h"
#include "nodes/extensible.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/guc.h"

PG_FUNCTION_INFO_V1(gpb_test_explain_running);
PG_FUNCTION_INFO_V1(gpb_test_plan_nodes);
PGDLLEXPORT void _PG_init(void);

static planner_hook_type previous_planner_hook = NULL;
static bool reread_plans = false;
static bool passes_by = false;

/* The plan as it is after it was copied, written as text, as for a worker, and read. */
static PlannedStmt *
reread(PlannedStmt *statement)
{
	char	   *text = nodeToString(copyObject(statement));
	PlannedStmt *read = stringToNode(text);
	char	   *again = nodeToString(read);

	/* What is read has no locations, so it is written alike from the second time on. */
	if (strcmp(nodeToString(stringToNode(again)), again) != 0)
		elog(ERROR, "a plan is another when it was read again");
	return read;
}

/* Plan a statement, by PostgreSQL's planner itself if the setting says so. */
static PlannedStmt *
plan(GPB_PLANNER_ARGUMENTS)
{
	PlannedStmt *statement = previous_planner_hook != NULL && !passes_by ?
		previous_planner_hook(GPB_PLANNER_PASSED) :
		standard_planner(GPB_PLANNER_PASSED);

	return reread_plans ? reread(statement) : statement;
}

/*
 * gpubtree_test_explain_running() returns text: EXPLAIN's output for the statement that calls it,
 * from within.
 */
Datum
gpb_test_explain_running(PG_FUNCTION_ARGS)
{
	ExplainState *es = NewExplainState();

	/* A utility statement's portal has none. */
	if (ActivePortal->queryDesc == NULL)
		elog(ERROR, "no query runs");
	es->costs = false;
	ExplainBeginOutput(es);
	ExplainPrintPlan(es, ActivePortal->queryDesc);
	ExplainEndOutput(es);
	PG_RETURN_TEXT_P(cstring_to_text(es->str->data));
}

void
_PG_init(void)
{
	DefineCustomBoolVariable("gpubtree_test.reread_plans",
							 "Copies each plan, writes it as text, and executes what is read.", NULL,
							 &reread_plans, false, PGC_USERSET, 0, NULL, NULL, NULL);
	DefineCustomBoolVariable("gpubtree_test.planner_hook_passes_by",
							 "Plans without the planner_hook of gpubtree.",
							 NULL, &passes_by, false, PGC_USERSET, 0, NULL, NULL, NULL);
	previous_planner_hook = planner_hook;
	planner_hook = plan;
}

/* An empty node of a plan, as core writes it: the names of its fields */
static void
append_node(StringInfo text, NodeTag tag, Size size)
{
	static const CustomScanMethods methods = {.CustomName = "empty"};
	Node	   *node = palloc0(size);

	node->type = tag;
	if (tag == T_CustomScan)
		((CustomScan *) node)->methods = &methods;
	appendStringInfo(text, "%s\n", nodeToString(node));
}

/*
 * gpubtree_test_plan_nodes() returns text: each node whose expressions and children
 * src/exec/subquery/subquery_tree.c knows, empty, one a line.
 */
Datum
gpb_test_plan_nodes(PG_FUNCTION_ARGS)
{
	StringInfoData text;

	initStringInfo(&text);
#define APPEND(name)	append_node(&text, T_##name, sizeof(name))
	APPEND(SeqScan);
	APPEND(SampleScan);
	APPEND(IndexScan);
	APPEND(IndexOnlyScan);
	APPEND(BitmapIndexScan);
	APPEND(BitmapHeapScan);
	APPEND(TidScan);
	APPEND(TidRangeScan);
	APPEND(SubqueryScan);
	APPEND(FunctionScan);
	APPEND(TableFuncScan);
	APPEND(ValuesScan);
	APPEND(CteScan);
	APPEND(NamedTuplestoreScan);
	APPEND(WorkTableScan);
	APPEND(CustomScan);
	APPEND(Result);
	APPEND(ProjectSet);
	APPEND(Append);
	APPEND(MergeAppend);
	APPEND(RecursiveUnion);
	APPEND(BitmapAnd);
	APPEND(BitmapOr);
	APPEND(NestLoop);
	APPEND(MergeJoin);
	APPEND(HashJoin);
	APPEND(Hash);
	APPEND(Material);
	APPEND(Memoize);
	APPEND(Sort);
	APPEND(IncrementalSort);
	APPEND(Group);
	APPEND(Agg);
	APPEND(WindowAgg);
	APPEND(Unique);
	APPEND(Gather);
	APPEND(GatherMerge);
	APPEND(SetOp);
	APPEND(LockRows);
	APPEND(Limit);
#undef APPEND
	PG_RETURN_TEXT_P(cstring_to_text(text.data));
}
