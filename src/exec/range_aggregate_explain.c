/*-------------------------------------------------------------------------
 *
 * range_aggregate_explain.c
 *	  EXPLAIN of aggregates over each of many ranges.
 *
 *-------------------------------------------------------------------------
 */
#include "../compat.h"

#include "commands/explain.h"
#include "lib/stringinfo.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "node_explain.h"
#include "range_aggregate.h"

/*
 * The conditions as one expression.  They are put together from their parts, since the plan has no Var of the
 * table.
 */
static void
gpb_explain_conditions(const GpbRangeAggregatePlan *plan, CustomScan *scan, List *ancestors,
					   ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &scan->scan.plan, ancestors);
	const char *key = quote_identifier(get_attname(plan->index, 1, false));
	StringInfoData text;
	int			i;

	initStringInfo(&text);
	for (i = 0; i < plan->nconditions; i++)
	{
		char	   *value = deparse_expression(list_nth(scan->custom_exprs, i), context, true,
											   false);

		appendStringInfo(&text, "%s(%s %s %s)", i > 0 ? " AND " : "", key,
						 get_opname(plan->conditions[i].operator), value);
	}
	if (plan->nconditions > 1)
		ExplainPropertyText("Index Cond", psprintf("(%s)", text.data), es);
	else
		ExplainPropertyText("Index Cond", text.data, es);
}

/* The columns that make a group, as the outer plan has them */
static void
gpb_explain_group(const GpbRangeAggregatePlan *plan, CustomScan *scan, List *ancestors,
				  ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &scan->scan.plan, ancestors);
	List	   *columns = NIL;
	int			i;

	for (i = 0; i < plan->ngroup; i++)
	{
		TargetEntry *column = list_nth_node(TargetEntry, scan->custom_scan_tlist,
											plan->group[i] - 1);

		columns = lappend(columns, deparse_expression((Node *) column->expr, context, true,
													  false));
	}
	if (columns != NIL)
		ExplainPropertyList("Group Key", columns, es);
}

void
gpb_range_aggregate_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);

	gpb_explain_group(&scan->plan, plan, ancestors, es);
	gpb_explain_index(scan->plan.index, es);
	gpb_explain_conditions(&scan->plan, plan, ancestors, es);
	ExplainPropertyText("Groups", scan->plan.keep_empty ? "All" : "Not Empty", es);
	if (!es->analyze)
		return;
	if (scan->totals == NULL)
		gpb_explain_batch(NULL, 0, es);
	else
	{
		GpbBatchCounters counters;

		gpb_range_totals_counters(scan->totals, &counters);
		gpb_explain_counters(&counters, 0, es);
	}
}
