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

#include "exec/aggregate/aggregate_node.h"
#include "exec/answer/ordinary.h"
#include "exec/shell/node_explain.h"
#include "exec/where/column_skip.h"
#include "exec/where/arms.h"

/* The group expressions of a set */
static List *
set_expressions(const GpbAggregateScan *scan, uint32 set)
{
	CustomScan *plan = castNode(CustomScan, scan->node.css.ss.ps.plan);
	int			first = scan->plan.nitems + gpb_aggregate_count_values(&scan->plan);
	List	   *expressions = NIL;
	int			i;

	for (i = 0; i < scan->plan.ngroups; i++)
	{
		if (gpb_set_has(set, i))
			expressions = lappend(expressions, list_nth_node(TargetEntry, plan->custom_scan_tlist,
															 first + i)->expr);
	}
	return expressions;
}

/* Show the group expressions of one set, as core does. */
static void
explain_set(GpbAggregateScan *scan, uint32 set, List *ancestors, ExplainState *es)
{
	List	   *keys = gpb_explained_list(&scan->node.css, set_expressions(scan, set), ancestors,
										  es);

	if (keys == NIL && es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText(GPB_LABEL_GROUP_KEY, "()", es);
	else
		ExplainPropertyList(GPB_LABEL_GROUP_KEY, keys, es);
}

/* Show the group expressions, or those of each grouping set; and in how many phases they come. */
static void
explain_groups(GpbAggregateScan *scan, List *ancestors, ExplainState *es)
{
	const GpbSetsPlan *sets = &scan->plan.sets;
	int			i;

	if (scan->plan.ngroups == 0 || scan->plan.returns_states)
		return;
	if (sets->n == 1)
	{
		explain_set(scan, sets->set[0], ancestors, es);
		return;
	}
	ExplainOpenGroup(GPB_LABEL_GROUPING_SETS, GPB_LABEL_GROUPING_SETS, false, es);
	for (i = 0; i < sets->n; i++)
	{
		ExplainOpenGroup(GPB_LABEL_GROUPING_SET, NULL, true, es);
		explain_set(scan, sets->set[i], ancestors, es);
		ExplainCloseGroup(GPB_LABEL_GROUPING_SET, NULL, true, es);
	}
	ExplainCloseGroup(GPB_LABEL_GROUPING_SETS, GPB_LABEL_GROUPING_SETS, false, es);
}

/* Show the expressions on whose values aggregates depend. */
static void
explain_values(GpbAggregateScan *scan, List *ancestors, ExplainState *es)
{
	List	   *values = NIL;
	int			i;

	for (i = 0; i < scan->plan.nvalues; i++)
		values = lappend(values, linitial(scan->plan.values[i].value));
	if (values != NIL)
		ExplainPropertyList(GPB_LABEL_VALUES,
							gpb_explained_list(&scan->node.css, values, ancestors, es), es);
}

/* Show the conditions of a node that asks an index. */
static void
explain_conditions(GpbAggregateScan *scan, List *ancestors, ExplainState *es)
{
	CustomScanState *css = &scan->node.css;
	const GpbAggregatePlan *plan = &scan->plan;

	gpb_explain_index(plan->index, es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, css,
						gpb_index_conditions(plan->conditions, plan->arrays, plan->arms),
						ancestors, es);
	gpb_explain_skip(css, plan->skips, scan->conditions, ancestors, es);
	gpb_explain_clauses(GPB_LABEL_FILTER, css, plan->filters, ancestors, es);
}

/* Show what the batches of all executions counted, those of workers included. */
static void
explain_batches(const GpbAggregateScan *scan, ExplainState *es)
{
	const GpbAggregatePlan *plan = &scan->plan;
	GpbBatchCounters counters = {0};
	bool		keys = scan->conditions != NULL &&
		gpb_conditions_form(scan->conditions) != GPB_RANGE_BOUNDS;
	bool		ranges = plan->arms != NIL || plan->arrays != NIL || plan->skips != NIL;

	for (int i = 0; i < scan->nsubs; i++)
		gpb_ask_counters(scan->subs[i].ask, &counters);
	if (!keys)
		counters.engine = scan->last != NULL ? gpb_ask_engine(scan->last) :
			scan->workers.counters.runs > 0 ? scan->workers.engine : "none";
	if (scan->workers.counters.runs > 0)
		gpb_batch_counters_add(&counters, &scan->workers.counters);
	gpb_explain_counters(keys ? GPB_LABEL_KEYS : ranges ? GPB_LABEL_RANGES : NULL, &counters, 0,
						 es);
}

void
gpb_aggregate_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;

	gpb_ordinary_show(&scan->node);
	explain_groups(scan, ancestors, es);
	explain_values(scan, ancestors, es);
	if (scan->plan.sets.nphases * Max(scan->plan.nvalues, 1) > 1)
		ExplainPropertyInteger(GPB_LABEL_PROGRAMS, NULL,
							   scan->plan.sets.nphases * Max(scan->plan.nvalues, 1), es);
	if (scan->plan.source == GPB_OF_INDEX)
		explain_conditions(scan, ancestors, es);
	gpb_explain_clauses(GPB_LABEL_HAVING, css, scan->plan.having, ancestors, es);
	if (!es->analyze)
		return;
	if (scan->plan.source == GPB_OF_INDEX)
		explain_batches(scan, es);
	else if (scan->plan.source == GPB_OF_STATES)
		ExplainPropertyUInteger(GPB_LABEL_STATES, NULL, scan->states, es);
	gpb_explain_gave_up(css, es);
}
