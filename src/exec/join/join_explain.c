/*-------------------------------------------------------------------------
 *
 * join_explain.c
 *	  EXPLAIN of batched index joins.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "commands/explain.h"
#include "exec/join/join_node.h"
#include "exec/shell/node_explain.h"

static const char *
join_type_name(JoinType jointype)
{
	switch (jointype)
	{
		case JOIN_INNER:
			return "Inner";
		case JOIN_LEFT:
			return "Left";
		case JOIN_SEMI:
			return "Semi";
		case JOIN_ANTI:
			return "Anti";
		default:
			elog(ERROR, "unrecognized join type: %d", (int) jointype);
	}
}

/* Show how many rows the clauses refused, in all loops, if there are any clauses. */
static void
explain_removed(const char *label, List *clauses, uint64 removed, ExplainState *es)
{
	if (clauses != NIL && (es->format != EXPLAIN_FORMAT_TEXT || removed > 0))
		ExplainPropertyInteger(label, NULL, (int64) removed, es);
}

void
gpb_join_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbJoinScan *join = (GpbJoinScan *) css;
	const GpbJoinPlan *plan = &join->plan;
	GpbBatchCounters counters = {0};
	uint64		visits = 0;
	uint64		halved = 0;
	int			i;

	ExplainPropertyText(GPB_LABEL_JOIN_TYPE, join_type_name(plan->jointype), es);
	if (plan->partitions.n > 0)
		gpb_explain_inner_partitions(plan->partitions.table, gpb_inner_alias(css, es), es);
	else
		gpb_explain_inner_index(plan->index, gpb_inner_alias(css, es), es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, css, plan->clauses, ancestors, es);
	if (plan->has_program)
		gpb_explain_clauses(GPB_LABEL_INDEX_FILTER, css,
							list_difference(plan->filters, plan->rest), ancestors, es);
	gpb_explain_clauses(GPB_LABEL_INNER_FILTER, css, plan->rest, ancestors, es);
	if (es->analyze)
		explain_removed(GPB_LABEL_INNER_REMOVED, plan->filters, join->inner_removed, es);
	gpb_explain_clauses(GPB_LABEL_JOIN_FILTER, css, plan->match, ancestors, es);
	if (es->analyze)
		explain_removed(GPB_LABEL_JOIN_REMOVED, plan->match, join->match_removed, es);
	ExplainPropertyText(GPB_LABEL_INNER_COLUMNS, plan->index_only ? "Index" : "Table", es);
	ExplainPropertyText(GPB_LABEL_OUTPUT_ORDER, plan->in_order ? "Outer" : "Any", es);
	if (!es->analyze)
		return;

	gpb_ask_counters(join->counts, &counters);
	for (i = 0; i < join->ntargets; i++)
	{
		if (!plan->counts)
			gpb_ask_counters(join->targets[i].ask, &counters);
		visits += gpb_list_visits(join->targets[i].list);
		halved += gpb_list_halved(join->targets[i].list);
	}
	gpb_explain_counters(GPB_LABEL_KEYS, &counters, visits, es);
	if (es->format != EXPLAIN_FORMAT_TEXT || halved > 0)
		ExplainPropertyInteger(GPB_LABEL_BATCHES_HALVED, NULL, (int64) halved, es);
}
