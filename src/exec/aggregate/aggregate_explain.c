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
#include "exec/common/range_totals.h"

void
gpb_aggregate_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	GpbBatchCounters counters = {.engine = "none"};

	gpb_explain_index(scan->plan.index, es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, css,
						list_concat_copy(scan->plan.conditions, scan->plan.arrays),
						ancestors, es);
	if (!es->analyze)
		return;
	if (scan->totals != NULL)
		counters = *gpb_range_totals_counters(scan->totals);
	if (scan->arrays == NULL && scan->engine != NULL)
		counters.engine = scan->engine;
	gpb_explain_counters(scan->arrays != NULL ? GPB_LABEL_KEYS : NULL, &counters, 0, es);
}
