/*-------------------------------------------------------------------------
 *
 * planner_test.c
 *	  For the TAP tests: an extension whose planner_hook passes ours by.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "fmgr.h"
#include "optimizer/planner.h"
#include "utils/guc.h"

void		_PG_init(void);

static bool passes_by = false;
static planner_hook_type previous_planner_hook = NULL;

/* Plan a statement, by PostgreSQL's planner itself if the setting says so. */
static PlannedStmt *
plan(Query *parse, const char *query_string, int cursor_options, ParamListInfo params)
{
	if (passes_by || previous_planner_hook == NULL)
		return standard_planner(parse, query_string, cursor_options, params);
	return previous_planner_hook(parse, query_string, cursor_options, params);
}

void
_PG_init(void)
{
	DefineCustomBoolVariable("gpubtree_test.planner_hook_passes_by",
							 "Plans without the planner_hook of gpubtree.",
							 NULL, &passes_by, false, PGC_USERSET, 0, NULL, NULL, NULL);
	previous_planner_hook = planner_hook;
	planner_hook = plan;
}
