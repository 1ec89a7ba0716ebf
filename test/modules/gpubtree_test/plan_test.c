/*-------------------------------------------------------------------------
 *
 * plan_test.c
 *	  What other extensions do with plans and with planning: the settings
 *	  gpubtree_test.reread_plans and planner_hook_passes_by, gpubtree_test_explain_running().
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "commands/explain.h"
#include "fmgr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/planner.h"
#include "tcop/pquery.h"
#include "utils/builtins.h"
#include "utils/guc.h"

PG_FUNCTION_INFO_V1(gpb_test_explain_running);
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
plan(Query *parse, const char *query_string, int cursor_options, ParamListInfo params)
{
	PlannedStmt *statement = previous_planner_hook != NULL && !passes_by ?
		previous_planner_hook(parse, query_string, cursor_options, params) :
		standard_planner(parse, query_string, cursor_options, params);

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
