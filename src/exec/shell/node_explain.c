/*-------------------------------------------------------------------------
 *
 * node_explain.c
 *	  What EXPLAIN shows of every node of ours.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/index.h"
#include "lib/stringinfo.h"
#include "nodes/makefuncs.h"
#include "parser/parsetree.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"
#include "utils/ruleutils.h"

#include "exec/shell/node_explain.h"
#include "exec/shell/node_shell.h"

/* The name of the index as the text format shows it, with its schema if VERBOSE */
static char *
index_text(Oid index, ExplainState *es)
{
	char	   *name = get_rel_name(index);

	if (name == NULL)
		elog(ERROR, "cache lookup failed for index %u", index);
	if (!es->verbose)
		return pstrdup(quote_identifier(name));
	return quote_qualified_identifier(get_namespace_name_or_temp(get_rel_namespace(index)), name);
}

void
gpb_explain_index(Oid index, ExplainState *es)
{
	if (es->format == EXPLAIN_FORMAT_TEXT)
		ExplainPropertyText(GPB_LABEL_INDEX, index_text(index, es), es);
	else
		ExplainPropertyText(GPB_LABEL_INDEX_NAME, get_rel_name(index), es);
}

const char *
gpb_inner_alias(CustomScanState *css, ExplainState *es)
{
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);
	TargetEntry *key = llast_node(TargetEntry, plan->custom_scan_tlist);
	Index		rti = castNode(Var, key->expr)->varno;
	char	   *alias = list_nth(es->rtable_names, rti - 1);

	return alias != NULL ? alias : rt_fetch(rti, es->rtable)->eref->aliasname;
}

/*
 * Show the table whose rows are joined; in the format text under the label and behind "before",
 * which another format does without.
 */
static void
explain_inner_table(const char *label, const char *before, Oid table, const char *alias,
					ExplainState *es)
{
	char	   *name = get_rel_name(table);
	char	   *schema = get_namespace_name_or_temp(get_rel_namespace(table));
	StringInfoData text;

	if (alias == NULL)
		alias = name;
	if (es->format != EXPLAIN_FORMAT_TEXT)
	{
		ExplainPropertyText(GPB_LABEL_RELATION_NAME, name, es);
		if (es->verbose)
			ExplainPropertyText(GPB_LABEL_SCHEMA, schema, es);
		ExplainPropertyText(GPB_LABEL_ALIAS, alias, es);
		return;
	}
	initStringInfo(&text);
	appendStringInfo(&text, "%s%s", before,
					 es->verbose ? quote_qualified_identifier(schema, name) :
					 quote_identifier(name));
	if (strcmp(alias, name) != 0)
		appendStringInfo(&text, " %s", quote_identifier(alias));
	ExplainPropertyText(label, text.data, es);
}

void
gpb_explain_inner_index(Oid index, const char *alias, ExplainState *es)
{
	char	   *before = NULL;

	if (es->format != EXPLAIN_FORMAT_TEXT)
		gpb_explain_index(index, es);
	else
		before = psprintf("%s on ", index_text(index, es));
	explain_inner_table(GPB_LABEL_INDEX, before, IndexGetRelation(index, false), alias, es);
}

void
gpb_explain_inner_partitions(Oid table, const char *alias, ExplainState *es)
{
	explain_inner_table(GPB_LABEL_PARTITIONS, "", table, alias, es);
}

void
gpb_explain_clauses(const char *label, CustomScanState *css, List *clauses,
					List *ancestors, ExplainState *es)
{
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);
	List	   *context;

	if (clauses == NIL)
		return;
	context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan, ancestors);
	ExplainPropertyText(label,
						deparse_expression((Node *) make_ands_explicit(clauses), context,
										   es->verbose || plan->scan.scanrelid == 0, false), es);
}

List *
gpb_explained_list(CustomScanState *css, List *expressions, List *ancestors, ExplainState *es)
{
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);
	List	   *context = set_deparse_context_plan(es->deparse_cxt, &plan->scan.plan, ancestors);
	bool		prefix = plan->scan.scanrelid == 0 || GPB_EXPLAINED_TABLES(es) > 1 || es->verbose;
	List	   *texts = NIL;
	ListCell   *lc;

	foreach(lc, expressions)
		texts = lappend(texts, deparse_expression(lfirst(lc), context, prefix,
												  plan->scan.scanrelid != 0));
	return texts;
}

/*
 * Show what the engine of the last run was chosen by.  It depends on what others do at the time, so
 * only VERBOSE shows it.
 */
static void
explain_choice(const GpbEngineChoice *choice, ExplainState *es)
{
	StringInfoData text;

	if (!es->verbose || !choice->saw_entries)
		return;
	initStringInfo(&text);
	appendStringInfo(&text, "about %.0f entries", choice->entries);
	if (choice->looks > 0)
		appendStringInfo(&text, ", %.0f heap pages to look at", choice->looks);
	if (choice->saw_cells)
		appendStringInfo(&text, ", %.0f %% of the leaves by cells", choice->passed * 100.0);
	if (choice->records)
		appendStringInfoString(&text, ", others to be recorded");
	if (choice->saw_requests)
		appendStringInfo(&text, ", %d requests before it", choice->requests);
	if (choice->saw_blocks)
		appendStringInfo(&text, ", %d%s blocks to refresh", choice->blocks,
						 choice->blocks == GPB_CHOICE_BLOCKS ? " or more" : "");
	ExplainPropertyText(GPB_LABEL_CHOICE, text.data, es);
}

/* So many leaves are visited before EXPLAIN says why they were not passed by. */
#define MANY_LEAVES		16

/* Add "12 not recorded before" and the like to a list, unless the number is 0. */
static void
append_misses(StringInfo text, uint64 n, const char *reason)
{
	if (n > 0)
		appendStringInfo(text, "%s" UINT64_FORMAT " %s", text->len > 0 ? ", " : "", n, reason);
}

/*
 * Show why the CPU did not pass leaves by, if these are many.  It depends on what others did
 * before, so only VERBOSE shows it.
 */
static void
explain_not_passed(const GpbBatchCounters *counters, ExplainState *es)
{
	const uint64 *misses = counters->cell_misses;
	uint64		n = misses[GPB_CELL_ABSENT] + misses[GPB_CELL_UNSEEN] +
		misses[GPB_CELL_YOUNGER] + misses[GPB_CELL_UNHELD] + misses[GPB_CELL_MANY] +
		misses[GPB_CELL_MIXED];
	StringInfoData text;

	if (!es->verbose || (n < MANY_LEAVES &&
						 (counters->no_cells == NULL || counters->walk.leaves < MANY_LEAVES)))
		return;
	initStringInfo(&text);
	append_misses(&text, misses[GPB_CELL_ABSENT], "not recorded yet or with dead rows");
	append_misses(&text, misses[GPB_CELL_UNSEEN], "with rows not known to be visible");
	append_misses(&text, misses[GPB_CELL_YOUNGER], "changed meanwhile");
	append_misses(&text, misses[GPB_CELL_UNHELD], "with values too large or too small");
	append_misses(&text, misses[GPB_CELL_MANY], "with too many different values");
	append_misses(&text, misses[GPB_CELL_MIXED], "with rows that may pass the filters, or not");
	if (counters->no_cells != NULL)
		appendStringInfo(&text, "%s%s", text.len > 0 ? ", " : "", counters->no_cells);
	ExplainPropertyText(GPB_LABEL_NOT_PASSED, text.data, es);
}

void
gpb_explain_counters(const char *inputs, const GpbBatchCounters *counters, uint64 heap_fetches,
					 ExplainState *es)
{
	ExplainPropertyText(GPB_LABEL_ENGINE, counters->engine, es);
	explain_choice(&counters->choice, es);
	if (inputs != NULL)
	{
		ExplainPropertyInteger(GPB_LABEL_BATCHES, NULL, (int64) counters->runs, es);
		ExplainPropertyInteger(inputs, NULL, (int64) counters->ranges, es);
	}
	ExplainPropertyInteger(GPB_LABEL_MATCHES, NULL, (int64) counters->matches, es);
	ExplainPropertyInteger(GPB_LABEL_HEAP_FETCHES, NULL,
						   (int64) (counters->heap_fetches + heap_fetches), es);
	if (counters->heap_pages > 0)
		ExplainPropertyInteger(GPB_LABEL_HEAP_PAGES, NULL, (int64) counters->heap_pages, es);
	if (counters->settled_pages > 0)
		ExplainPropertyInteger(GPB_LABEL_SETTLED_PAGES, NULL, (int64) counters->settled_pages, es);
	if (counters->cells > 0)
		ExplainPropertyInteger(GPB_LABEL_CELLS, NULL, (int64) counters->cells, es);
	if (counters->cells_none > 0)
		ExplainPropertyInteger(GPB_LABEL_CELLS_NONE, NULL, (int64) counters->cells_none, es);
	if (es->verbose && counters->cells_recorded > 0)
		ExplainPropertyInteger(GPB_LABEL_CELLS_RECORDED, NULL, (int64) counters->cells_recorded,
							   es);
	explain_not_passed(counters, es);
	ExplainPropertyInteger(GPB_LABEL_CPU_LEAVES, NULL, (int64) counters->walk.leaves, es);
	ExplainPropertyInteger(GPB_LABEL_REFRESHED, NULL, (int64) counters->refreshed_blocks, es);
	ExplainPropertyInteger(GPB_LABEL_FALLBACKS, NULL, (int64) counters->fallbacks, es);
	if (counters->widened > 0)
		ExplainPropertyInteger(GPB_LABEL_WIDENED, NULL, (int64) counters->widened, es);
}

void
gpb_explain_gave_up(CustomScanState *css, ExplainState *es)
{
	const GpbNode *node = (const GpbNode *) css;

	if (node->once_gave_up != NULL)
		ExplainPropertyText(GPB_LABEL_GAVE_UP, node->once_gave_up, es);
}
