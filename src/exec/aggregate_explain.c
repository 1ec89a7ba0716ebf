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
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "aggregate_node.h"

/* The index, with its schema if VERBOSE. */
static void
gpb_explain_index(CustomScan *plan, ExplainState *es)
{
	Oid			index = gpb_aggregate_private_index(plan->custom_private);
	char	   *name = get_rel_name(index);

	if (name == NULL)
		elog(ERROR, "cache lookup failed for index %u", index);
	if (es->format != EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText("Index Name", name, es);
	else if (es->verbose)
		ExplainPropertyText("Index",
							quote_qualified_identifier(get_namespace_name_or_temp(get_rel_namespace(index)),
													   name), es);
	else
		ExplainPropertyText("Index", quote_identifier(name), es);
}

/* The conditions, as an index scan shows them. */
static void
gpb_explain_conditions(CustomScan *plan, List *ancestors, ExplainState *es)
{
	List	   *context;
	char	   *text;

	if (plan->custom_exprs == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan, ancestors);
	text = deparse_expression((Node *) make_ands_explicit(plan->custom_exprs),
							  context, es->verbose, false);
	ExplainPropertyText("Index Cond", text, es);
}

void
gpb_aggregate_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);

	gpb_explain_index(plan, es);
	gpb_explain_conditions(plan, ancestors, es);
	if (!es->analyze)
		return;
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
