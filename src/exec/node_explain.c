/*-------------------------------------------------------------------------
 *
 * node_explain.c
 *	  What EXPLAIN shows of every node of ours.
 *
 *-------------------------------------------------------------------------
 */
#include "../compat.h"

#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "node_explain.h"

void
gpb_explain_index(Oid index, ExplainState *es)
{
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

void
gpb_explain_clauses(const char *label, CustomScan *plan, List *clauses,
					List *ancestors, ExplainState *es)
{
	List	   *context;

	if (clauses == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan, ancestors);
	ExplainPropertyText(label,
						deparse_expression((Node *) make_ands_explicit(clauses), context,
										   es->verbose || plan->custom_plans != NIL, false), es);
}

void
gpb_explain_range_conditions(Oid index, int nconditions, const GpbRangeCondition *conditions,
							 List *values, CustomScan *plan, List *ancestors, ExplainState *es)
{
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan, ancestors);
	const char *key = quote_identifier(get_attname(index, 1, false));
	StringInfoData text;
	int			i;

	initStringInfo(&text);
	for (i = 0; i < nconditions; i++)
		appendStringInfo(&text, "%s(%s %s %s)", i > 0 ? " AND " : "", key,
						 get_opname(conditions[i].operator),
						 deparse_expression(list_nth(values, i), context, true, false));
	if (nconditions > 1)
		ExplainPropertyText("Index Cond", psprintf("(%s)", text.data), es);
	else
		ExplainPropertyText("Index Cond", text.data, es);
}

void
gpb_explain_counters(const GpbBatchCounters *counters, uint64 heap_fetches, ExplainState *es)
{
	ExplainPropertyText("Engine", counters->engine, es);
	ExplainPropertyInteger("Batches", NULL, (int64) counters->runs, es);
	ExplainPropertyInteger("Keys", NULL, (int64) counters->ranges, es);
	ExplainPropertyInteger("Matches", NULL, (int64) counters->matches, es);
	ExplainPropertyInteger("Heap Fetches", NULL,
						   (int64) (counters->heap_fetches + heap_fetches), es);
	ExplainPropertyInteger("Leaves Done by CPU", NULL, (int64) counters->walk.leaves, es);
	ExplainPropertyInteger("Blocks Refreshed", NULL, (int64) counters->refreshed_blocks, es);
	ExplainPropertyInteger("Fallbacks", NULL, (int64) counters->fallbacks, es);
}

void
gpb_explain_batch(GpbBatch *batch, uint64 heap_fetches, ExplainState *es)
{
	GpbBatchCounters none = {.engine = "none"};

	gpb_explain_counters(batch == NULL ? &none : gpb_batch_counters(batch), heap_fetches, es);
}
