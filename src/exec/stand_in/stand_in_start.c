/*-------------------------------------------------------------------------
 *
 * stand_in_start.c
 *	  Stand-ins take the places of index scans, when an execution begins.
 *
 * A statement's plan is not changed, since it may be a cached one: an execution with a large array
 * has a copy.  All others pay for a look at the parameters.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/parallel.h"
#include "executor/executor.h"
#include "miscadmin.h"

#include "engine/visibility.h"
#include "exec/scan/scan_stand_in.h"
#include "exec/stand_in/stand_in.h"

static ExecutorStart_hook_type previous_executor_start_hook = NULL;

/* A walk through a plan */
typedef struct Walk
{
	ParamListInfo parameters;
	bool		replace;		/* of a copy: replace scans, instead of looking for one */
	bool		found;			/* a stand-in that pays */
} Walk;

static void walk(Walk *walking, Plan **plan);

static void
walk_all(Walk *walking, List *plans)
{
	ListCell   *lc;

	foreach(lc, plans)
		walk(walking, (Plan **) &lfirst(lc));
}

/* Find the stand-in behind an index scan that pays. */
static void
look_behind(Walk *walking, Plan **plan)
{
	Plan	   *stand_in = (*plan)->righttree;

	if (stand_in == NULL ||
		!gpb_stand_in_pays(castNode(CustomScan, stand_in), walking->parameters))
		return;
	walking->found = true;
	if (walking->replace)
		*plan = stand_in;
}

/* Find stand-ins in a plan, of which there are none below nodes that have no case here. */
static void
walk(Walk *walking, Plan **plan)
{
	if (*plan == NULL)
		return;
	switch (nodeTag(*plan))
	{
		case T_IndexScan:
		case T_IndexOnlyScan:
			look_behind(walking, plan);
			return;
		case T_Gather:
		case T_GatherMerge:
			return;
		case T_Append:
			walk_all(walking, ((Append *) *plan)->appendplans);
			break;
		case T_MergeAppend:
			walk_all(walking, ((MergeAppend *) *plan)->mergeplans);
			break;
		case T_SubqueryScan:
			walk(walking, &((SubqueryScan *) *plan)->subplan);
			break;
		case T_CustomScan:
			walk_all(walking, ((CustomScan *) *plan)->custom_plans);
			break;
		default:
			break;
	}
	walk(walking, &(*plan)->lefttree);
	walk(walking, &(*plan)->righttree);
}

/* Does a stand-in of the plan pay; in a copy, replace the scans for which one does. */
static bool
walk_statement(PlannedStmt *statement, ParamListInfo parameters, bool replace)
{
	Walk		walking = {.parameters = parameters,.replace = replace};

	check_stack_depth();
	walk(&walking, &statement->planTree);
	walk_all(&walking, statement->subplans);
	return walking.found;
}

/*
 * May executions of this kind have nodes of ours that core's scan may do without?  Not where rows
 * are read backward, which ours does not, in parallel workers, or where the batch would scan the
 * index for each key (rule M8).
 */
static bool
may_stand_in(const QueryDesc *query, int eflags)
{
	return (eflags & (EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK)) == 0 && !IsParallelWorker() &&
		query->snapshot != NULL && !gpb_needs_plain_scan(query->snapshot);
}

static void
start_executor(QueryDesc *query, int eflags)
{
	if (gpb_stand_ins_placed && query->params != NULL && may_stand_in(query, eflags) &&
		walk_statement(query->plannedstmt, query->params, false))
	{
		query->plannedstmt = copyObject(query->plannedstmt);
		walk_statement(query->plannedstmt, query->params, true);
	}
	if (previous_executor_start_hook)
		previous_executor_start_hook(query, eflags);
	else
		standard_ExecutorStart(query, eflags);
}

void
gpb_stand_in_start_init(void)
{
	previous_executor_start_hook = ExecutorStart_hook;
	ExecutorStart_hook = start_executor;
}
