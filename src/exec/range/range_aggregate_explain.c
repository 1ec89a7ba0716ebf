/*-------------------------------------------------------------------------
 *
 * range_aggregate_explain.c
 *	  EXPLAIN of aggregates over each of many ranges, and of joins under aggregates.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "commands/explain.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "utils/builtins.h"
#include "utils/lsyscache.h"

#include "exec/answer/ordinary.h"
#include "exec/range/range_aggregate.h"
#include "exec/shell/node_explain.h"

/* Show the columns that make a group, as the outer plan has them. */
static void
explain_group(const GpbRangeAggregatePlan *plan, CustomScanState *css, List *ancestors,
			  ExplainState *es)
{
	CustomScan *scan = castNode(CustomScan, css->ss.ps.plan);
	List	   *columns = NIL;
	int			i;

	for (i = 0; i < plan->ngroup; i++)
		columns = lappend(columns, list_nth_node(TargetEntry, scan->custom_scan_tlist,
												 plan->group[i] - 1)->expr);
	if (columns != NIL)
		ExplainPropertyList(GPB_LABEL_GROUP_KEY, gpb_explained_list(css, columns, ancestors, es),
							es);
}

/* ---- HAVING ---- */

/* What the text of an item begins with until the whole is shown */
#define ITEM_MARK "\001"
/* What PostgreSQL 19 puts before the name of a SubPlan */
#define MARKED_SUBPLAN "SubPlan " ITEM_MARK

/* An item as EXPLAIN shows it: "sum(fare)" */
static char *
item_text(const GpbRowRange *range, int i)
{
	const GpbAggregateItem *item = &range->items[i];
	char	   *name;

	if (range->program.item_texts != NIL)
		return strVal(list_nth(range->program.item_texts, i));
	name = get_func_name(item->aggregate);
	if (item->function == GPB_COUNT_ENTRIES)
		return psprintf("%s(*)", name);
	return psprintf("%s(%s)", name,
					quote_identifier(get_attname(range->index, item->column + 1, false)));
}

/*
 * The expression with SubPlans in place of items.  A SubPlan is shown by its name, whatever that
 * is; an item need not be a column that could be shown.
 */
static Node *
show_items_mutator(Node *node, void *argument)
{
	const GpbRangeAggregatePlan *plan = argument;

	if (node != NULL && IsA(node, Var) && ((Var *) node)->varattno > plan->nouter)
	{
		SubPlan    *shown = makeNode(SubPlan);
		Var		   *var = (Var *) node;

		shown->subLinkType = EXPR_SUBLINK;
		shown->plan_name = psprintf(ITEM_MARK "%s", item_text(&plan->range,
															  var->varattno - plan->nouter - 1));
		shown->firstColType = var->vartype;
		shown->firstColTypmod = var->vartypmod;
		shown->firstColCollation = var->varcollid;
		return (Node *) shown;
	}
	return expression_tree_mutator(node, show_items_mutator, argument);
}

/* Leave the marks of items out of a text, and what the server has put before them, in place. */
static char *
without_marks(char *text)
{
	char	   *to = text;
	const char *from = text;

	while (*from != '\0')
	{
		if (strncmp(from, MARKED_SUBPLAN, strlen(MARKED_SUBPLAN)) == 0)
			from += strlen(MARKED_SUBPLAN);
		else if (*from == ITEM_MARK[0])
			from++;
		else
			*to++ = *from++;
	}
	*to = '\0';
	return text;
}

static void
explain_having(const GpbRangeAggregatePlan *plan, CustomScanState *css, List *ancestors,
			   ExplainState *es)
{
	List	   *shown = (List *) show_items_mutator((Node *) plan->having, (void *) plan);
	List	   *texts;

	if (shown == NIL)
		return;
	texts = gpb_explained_list(css, list_make1(make_ands_explicit(shown)), ancestors, es);
	ExplainPropertyText(GPB_LABEL_HAVING, without_marks(linitial(texts)), es);
}

/* Show a join under aggregates, whose outer rows are looked up by keys. */
static void
explain_joined(GpbRangeAggregateScan *scan, List *ancestors, ExplainState *es)
{
	CustomScanState *css = &scan->node.css;
	GpbBatchCounters counters = {0};

	if (scan->plan.partitions.n > 0)
		gpb_explain_inner_partitions(scan->plan.partitions.table, gpb_inner_alias(css, es), es);
	else
		gpb_explain_inner_index(scan->plan.range.index, gpb_inner_alias(css, es), es);
	gpb_explain_clauses(GPB_LABEL_INDEX_COND, css, scan->plan.clauses, ancestors, es);
	if (!es->analyze)
		return;
	gpb_explain_gave_up(css, es);
	gpb_ask_counters(scan->ask, &counters);
	if (scan->workers.counters.runs > 0)
		gpb_batch_counters_add(&counters, &scan->workers.counters);
	gpb_explain_counters(GPB_LABEL_KEYS, &counters, 0, es);
}

void
gpb_range_aggregate_explain(CustomScanState *css, List *ancestors, ExplainState *es)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;

	gpb_ordinary_show(&scan->node);
	if (scan->plan.joined)
	{
		explain_joined(scan, ancestors, es);
		return;
	}
	explain_group(&scan->plan, css, ancestors, es);
	gpb_explain_row_range(&scan->plan.range, scan->plan.partitions.table,
						  scan->plan.values, css, ancestors, es);
	explain_having(&scan->plan, css, ancestors, es);
	if (scan->plan.gathered)
		ExplainPropertyText(GPB_LABEL_STRATEGY, scan->plan.ngroup == 0 ? "Plain" : "Hashed", es);
	if (!scan->plan.gathered || scan->plan.ngroup > 0)
		ExplainPropertyText(GPB_LABEL_GROUPS, scan->plan.keep_empty ? "All" : "Not Empty", es);
	if (!es->analyze)
		return;
	gpb_ask_explain(scan->ask, GPB_LABEL_RANGES, es);
	gpb_explain_gave_up(css, es);
}
