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
#include "exec/common/node_explain.h"

void
gpb_aggregate_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	GpbBatchCounters counters = {0};

	gpb_explain_index(scan->plan.index, es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, css,
						list_concat_copy(scan->plan.conditions, scan->plan.arrays),
						ancestors, es);
	if (!es->analyze)
		return;
	if (scan->arrays != NULL)
	{
		gpb_arrays_explain(scan->arrays, es);
		return;
	}
	counters.engine = scan->engine != NULL ? scan->engine : "none";
	counters.matches = scan->counters.matches;
	counters.heap_fetches = scan->counters.heap_entries;
	counters.walk.leaves = scan->counters.cpu_leaves;
	counters.refreshed_blocks = scan->counters.refreshed_blocks;
	counters.fallbacks = scan->counters.fallbacks;
	gpb_explain_counters(NULL, &counters, 0, es);
}
