/*-------------------------------------------------------------------------
 *
 * aggregate_explain.c
 *	  EXPLAIN of range aggregates.
 *
 * Without ANALYZE nothing is shown that depends on the device: which engine runs is
 * decided at run time.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "commands/explain.h"
#include "utils/ruleutils.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/common/key_arms.h"
#include "exec/common/node_explain.h"
#include "exec/common/range_totals.h"

/* Show the group expressions, as core shows what an aggregate is grouped by. */
static void
explain_groups(GpbAggregateScan *scan, List *ancestors, ExplainState *es)
{
	CustomScan *plan = castNode(CustomScan, scan->node.css.ss.ps.plan);
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan, ancestors);
	List	   *keys = NIL;
	int			i;

	for (i = 0; i < scan->plan.ngroups; i++)
	{
		TargetEntry *group = list_nth_node(TargetEntry, plan->custom_scan_tlist,
										   scan->plan.nitems + scan->plan.values.n + i);

		keys = lappend(keys, deparse_expression((Node *) group->expr, context,
												list_length(es->rtable) > 1 || es->verbose,
												true));
	}
	if (keys != NIL)
		ExplainPropertyList(GPB_LABEL_GROUP_KEY, keys, es);
}

void
gpb_aggregate_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	GpbBatchCounters counters = scan->past;

	explain_groups(scan, ancestors, es);
	gpb_explain_clauses(GPB_LABEL_VALUES, css, scan->plan.values.value, ancestors, es);
	gpb_explain_index(scan->plan.index, es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, css,
						gpb_index_conditions(scan->plan.conditions, scan->plan.arrays,
											 scan->plan.arms),
						ancestors, es);
	gpb_explain_clauses(GPB_LABEL_FILTER, css, scan->plan.filters, ancestors, es);
	gpb_explain_clauses(GPB_LABEL_HAVING, css, scan->plan.having, ancestors, es);
	if (!es->analyze)
		return;
	if (scan->totals != NULL)
		gpb_batch_counters_add(&counters, gpb_range_totals_counters(scan->totals));
	if (counters.engine == NULL)
		counters.engine = "none";
	if (scan->arrays == NULL && scan->engine != NULL)
		counters.engine = scan->engine;
	gpb_explain_counters(scan->arrays != NULL ? GPB_LABEL_KEYS :
						 scan->plan.arms != NIL ? GPB_LABEL_RANGES : NULL, &counters, 0, es);
	if (scan->gave_up != NULL)
		ExplainPropertyText(GPB_LABEL_GAVE_UP, scan->gave_up, es);
}
