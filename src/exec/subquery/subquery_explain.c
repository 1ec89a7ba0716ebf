/*-------------------------------------------------------------------------
 *
 * subquery_explain.c
 *	  EXPLAIN of scalar subqueries that are answered in batches.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "lib/stringinfo.h"

#include "exec/common/node_explain.h"
#include "exec/subquery/subquery.h"

/* The SubPlans that a range answers */
static List *
answered_subplans(const GpbSubqueryPlan *plan, CustomScan *scan, int range)
{
	List	   *names = NIL;
	int			i;

	for (i = 0; i < plan->nresults; i++)
	{
		if (plan->result_range[i] == range)
			names = lappend(names, list_nth_node(SubPlan, lthird(scan->custom_exprs),
												 i)->plan_name);
	}
	return names;
}

/* One range: whose it is, the index and the conditions */
static void
explain_range(GpbSubqueryScan *state, int range, int first_value, List *ancestors,
			  ExplainState *es)
{
	CustomScan *scan = castNode(CustomScan, state->css.ss.ps.plan);
	const GpbSubqueryRange *plan = &state->plan.ranges[range];
	List	   *values = NIL;
	int			i;

	for (i = 0; i < plan->nconditions; i++)
		values = lappend(values, list_nth(linitial(scan->custom_exprs), first_value + i));
	ExplainOpenGroup("Range", NULL, true, es);
	ExplainPropertyList(GPB_LABEL_ANSWERS, answered_subplans(&state->plan, scan, range), es);
	gpb_explain_inner_index(plan->index, plan->alias, es);
	gpb_explain_range_conditions(plan->index, plan->nconditions, plan->conditions, values, scan,
								 ancestors, es);
	if (es->analyze)
	{
		GpbRangeTotals *totals = state->ranges[range].totals;

		if (totals == NULL)
			gpb_explain_batch(GPB_LABEL_RANGES, NULL, 0, es);
		else
		{
			GpbBatchCounters counters;

			gpb_range_totals_counters(totals, &counters);
			gpb_explain_counters(GPB_LABEL_RANGES, &counters, 0, es);
		}
	}
	ExplainCloseGroup("Range", NULL, true, es);
}

void
gpb_subquery_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbSubqueryScan *state = (GpbSubqueryScan *) css;
	int			first_value = 0;
	int			i;

	ExplainOpenGroup("Subqueries", "Subqueries", false, es);
	for (i = 0; i < state->plan.nranges; i++)
	{
		explain_range(state, i, first_value, ancestors, es);
		first_value += state->plan.ranges[i].nconditions;
	}
	ExplainCloseGroup("Subqueries", "Subqueries", false, es);
}
