/*-------------------------------------------------------------------------
 *
 * scan_explain.c
 *	  EXPLAIN of rows from lists of entries.
 *
 * Core shows plan.qual, as Filter.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "lib/stringinfo.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "exec/scan/scan_node.h"
#include "exec/shell/node_explain.h"
#include "exec/where/column_skip.h"
#include "exec/where/arms.h"

/* Show which entries a limited list has. */
static void
explain_first(const GpbScanRows *scan, List *ancestors, ExplainState *es)
{
	Plan	   *plan = scan->node.css.ss.ps.plan;
	const GpbProgram *program = &scan->plan.program.program;
	List	   *context;
	StringInfoData count;
	ListCell   *lc;

	if (program->limit == 0)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, plan, ancestors);
	initStringInfo(&count);
	foreach(lc, scan->plan.bound)
	{
		appendStringInfoString(&count, count.len > 0 ? " + " : "");
		if (IsA(lfirst(lc), Const))
			appendStringInfo(&count, INT64_FORMAT,
							 DatumGetInt64(lfirst_node(Const, lc)->constvalue));
		else
			appendStringInfoString(&count, deparse_expression(lfirst(lc), context, false, false));
	}
	if (count.len == 0)
		appendStringInfo(&count, "%u", program->limit);
	ExplainPropertyText(GPB_LABEL_FIRST,
						psprintf("%s by %s%s NULLS %s", count.data,
								 deparse_expression(linitial(scan->plan.order), context,
													GPB_EXPLAINED_TABLES(es) > 1 || es->verbose,
													true),
								 program->descending ? " DESC" : "",
								 program->nulls_first ? "FIRST" : "LAST"), es);
}

/* Show which rows of which groups a walk looks for. */
static void
explain_walk(const GpbScanRows *scan, ExplainState *es)
{
	const GpbScanPlan *plan = &scan->plan;
	List	   *columns = NIL;
	const char *rows = plan->walk.ordered == 0 ? "One of Each Group" :
		plan->walk.forward && plan->walk.backward ? "First and Last of Each Group" :
		plan->walk.forward ? "First of Each Group" : "Last of Each Group";

	for (int c = 1; c <= plan->walk.prefix; c++)
		columns = lappend(columns, get_attname(plan->index, c, false));
	ExplainPropertyList(GPB_LABEL_WALKED, columns, es);
	ExplainPropertyText(GPB_LABEL_ROWS, rows, es);
}

/* Show what a walk, or the reading of rows in order, has done, if it has begun. */
static void
explain_read(const GpbScanRows *scan, ExplainState *es)
{
	uint64		descents = scan->walk != NULL ? gpb_group_walk_descents(scan->walk) : 0;
	uint64		fetches = scan->reader != NULL ? gpb_reader_heap_fetches(scan->reader) : 0;

	if (gpb_scan_walks(&scan->plan))
		ExplainPropertyInteger(GPB_LABEL_DESCENTS, NULL, (int64) descents, es);
	ExplainPropertyInteger(GPB_LABEL_HEAP_FETCHES, NULL, (int64) fetches, es);
}

void
gpb_scan_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbScanRows *scan = (GpbScanRows *) css;
	const GpbScanPlan *plan = &scan->plan;
	GpbBatchCounters counters = {0};
	bool		keys;

	gpb_explain_index(plan->index, es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, css,
						gpb_index_conditions(plan->conditions, plan->arrays, plan->arms),
						ancestors, es);
	gpb_explain_skip(css, plan->skips, scan->conditions, ancestors, es);
	gpb_explain_clauses(GPB_LABEL_INDEX_FILTER, css, plan->filters, ancestors, es);
	explain_first(scan, ancestors, es);
	if (plan->groups != NIL)
		ExplainPropertyList(GPB_LABEL_LAST, gpb_explained_list(css, plan->groups, ancestors, es),
							es);
	if (plan->has_each)
		ExplainPropertyText(GPB_LABEL_ROWS, "One of Each Key", es);
	if (gpb_scan_walks(plan))
		explain_walk(scan, es);
	if (plan->direction != NoMovementScanDirection)
		ExplainPropertyText(GPB_LABEL_SCAN_DIRECTION,
							ScanDirectionIsForward(plan->direction) ? "Forward" : "Backward", es);
	ExplainPropertyText(GPB_LABEL_COLUMNS, plan->index_only ? "Index" : "Table", es);
	if (!es->analyze)
		return;
	if (scan->keys != NULL || gpb_scan_walks(plan) || plan->direction != NoMovementScanDirection)
	{
		explain_read(scan, es);
		return;
	}
	gpb_ask_counters(scan->ask, &counters);
	if (scan->groups > 0)
		gpb_ask_counters(scan->ends, &counters);
	/* a child that was never begun has no conditions */
	keys = plan->arrays != NIL && (scan->conditions == NULL ||
								   gpb_conditions_form(scan->conditions) != GPB_RANGE_BOUNDS);
	gpb_explain_counters(keys ? GPB_LABEL_KEYS :
						 plan->arms != NIL || plan->arrays != NIL || plan->skips != NIL ?
						 GPB_LABEL_RANGES : NULL,
						 &counters, gpb_list_visits(scan->list), es);
	if (es->format != EXPLAIN_FORMAT_TEXT || scan->rechecked > 0)
		ExplainPropertyInteger(GPB_LABEL_RECHECKED, NULL, (int64) scan->rechecked, es);
	if (plan->has_ends)
		ExplainPropertyInteger(GPB_LABEL_GROUPS_FOUND, NULL, (int64) scan->groups, es);
	gpb_explain_gave_up(css, es);
}
