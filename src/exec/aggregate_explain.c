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
#include "../compat.h"

#include "commands/explain.h"

#include "aggregate_node.h"
#include "node_explain.h"

void
gpb_aggregate_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);

	gpb_explain_index(gpb_aggregate_private_index(plan->custom_private), es);
	gpb_explain_clauses("Index Cond", plan,
						list_concat_copy(linitial(plan->custom_exprs), lsecond(plan->custom_exprs)),
						ancestors, es);
	if (!es->analyze)
		return;
	if (scan->arrays != NULL)
	{
		gpb_arrays_explain(scan->arrays, es);
		return;
	}
	ExplainPropertyText("Engine", scan->engine ? scan->engine : "none", es);
	ExplainPropertyInteger("Entries Counted on Device", NULL,
						   scan->counters.device_entries, es);
	ExplainPropertyInteger("Entries Checked in Heap", NULL,
						   scan->counters.heap_entries, es);
	ExplainPropertyInteger("Leaves Done by CPU", NULL,
						   scan->counters.cpu_leaves, es);
	ExplainPropertyInteger("Blocks Refreshed", NULL,
						   scan->counters.refreshed_blocks, es);
}
