/*-------------------------------------------------------------------------
 *
 * bucket_explain.c
 *	  EXPLAIN of aggregates by buckets.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "commands/explain.h"

#include "exec/answer/ordinary.h"
#include "exec/bucket/bucket_node.h"
#include "exec/shell/node_explain.h"

/* Show the bucket function and what else is grouped by, as core does. */
static void
explain_group_keys(GpbBucketScan *scan, List *ancestors, ExplainState *es)
{
	CustomScan *plan = castNode(CustomScan, scan->node.css.ss.ps.plan);
	List	   *keys = NIL;
	int			i;

	for (i = 0; i <= scan->plan.ngroups; i++)
		keys = lappend(keys, list_nth_node(TargetEntry, plan->custom_scan_tlist,
										   scan->plan.nitems + i)->expr);
	ExplainPropertyList(GPB_LABEL_GROUP_KEY,
						gpb_explained_list(&scan->node.css, keys, ancestors, es), es);
}

/* Show a node that merges states. */
static void
explain_merge(GpbBucketScan *scan, List *ancestors, ExplainState *es)
{
	uint64		merged;
	uint64		sorted;

	explain_group_keys(scan, ancestors, es);
	gpb_explain_clauses(GPB_LABEL_HAVING, &scan->node.css, scan->plan.having, ancestors, es);
	if (!es->analyze)
		return;
	gpb_bucket_merge_counts(scan, &merged, &sorted);
	ExplainPropertyInteger(GPB_LABEL_STATES, NULL, (int64) merged, es);
	ExplainPropertyInteger(GPB_LABEL_STATES_SORTED, NULL, (int64) sorted, es);
}

void
gpb_bucket_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbBucketScan *scan = (GpbBucketScan *) css;
	GpbBatchCounters counters = {0};
	uint64		runs;
	uint64		ranges;

	if (scan->plan.merges)
	{
		explain_merge(scan, ancestors, es);
		return;
	}
	gpb_ordinary_show(&scan->node);
	if (!scan->plan.returns_states)
		explain_group_keys(scan, ancestors, es);
	gpb_explain_index(scan->plan.index, es);
	if (scan->plan.backward)
		ExplainPropertyText(GPB_LABEL_SCAN_DIRECTION, "Backward", es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, css, scan->plan.conditions, ancestors, es);
	gpb_explain_clauses(GPB_LABEL_FILTER, css, scan->plan.filters, ancestors, es);
	gpb_explain_clauses(GPB_LABEL_HAVING, css, scan->plan.having, ancestors, es);
	if (!es->analyze)
		return;
	gpb_ask_counters(scan->ask, &counters);
	runs = counters.runs;
	ranges = counters.ranges;
	/* the group of NULL's are with the others, but it is no range of theirs */
	gpb_ask_counters(scan->null_ask, &counters);
	counters.runs = runs;
	counters.ranges = ranges;
	gpb_explain_counters(GPB_LABEL_RANGES, &counters, 0, es);
	ExplainPropertyInteger(GPB_LABEL_RANGES_SORTED, NULL, (int64) scan->batches.nsorted, es);
	if (scan->halved > 0)
		ExplainPropertyInteger(GPB_LABEL_BATCHES_HALVED, NULL, (int64) scan->halved, es);
	gpb_explain_gave_up(css, es);
}
