/*-------------------------------------------------------------------------
 *
 * subquery_explain.c
 *	  EXPLAIN of scalar subqueries that are answered in batches.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "exec/shell/node_explain.h"
#include "exec/subquery/subquery.h"

/* The names of the SubPlans that a range answers */
static List *
answered_subplans(const GpbSubqueryPlan *plan, int range)
{
	List	   *names = NIL;
	int			i;

	for (i = 0; i < plan->nresults; i++)
	{
		if (plan->result_range[i] == range)
			names = lappend(names,
							GPB_SUBPLAN_NAME(list_nth_node(SubPlan, plan->subplans, i)->plan_name));
	}
	return names;
}

/* Show one range: the SubPlans that it answers, the index and the conditions. */
static void
explain_range(GpbSubqueryScan *state, int range, List *ancestors, ExplainState *es)
{
	ExplainOpenGroup("Range", NULL, true, es);
	ExplainPropertyList(GPB_LABEL_ANSWERS, answered_subplans(&state->plan, range), es);
	gpb_explain_row_range(&state->plan.ranges[range], state->plan.partitions[range].table,
						  state->plan.values[range], &state->node.css, ancestors, es);
	if (es->analyze)
		gpb_ask_explain(state->ranges == NULL ? NULL : state->ranges[range].ask, GPB_LABEL_RANGES,
						es);
	ExplainCloseGroup("Range", NULL, true, es);
}

void
gpb_subquery_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbSubqueryScan *state = (GpbSubqueryScan *) css;
	int			i;

	ExplainOpenGroup("Subqueries", "Subqueries", false, es);
	for (i = 0; i < state->plan.nranges; i++)
		explain_range(state, i, ancestors, es);
	ExplainCloseGroup("Subqueries", "Subqueries", false, es);
	if (es->analyze)
		gpb_explain_gave_up(css, es);
}
