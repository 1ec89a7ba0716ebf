/*-------------------------------------------------------------------------
 *
 * aggregate_plan.c
 *	  Planning of aggregates over one table: the path and the plan node.
 *
 * An aggregate over one table becomes a CustomPath if one gpubtree index holds all columns of the
 * query (aggregate_match.c).  Whatever does not fit is left to the ordinary plans.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "lib/stringinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/lsyscache.h"

#include "exec/aggregate/aggregate_match.h"
#include "exec/aggregate/aggregate_node.h"
#include "exec/aggregate/aggregate_price.h"
#include "exec/answer/ordinary.h"
#include "exec/price/core_paths.h"
#include "exec/price/price.h"
#include "exec/shell/expressions.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/plan_check.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "exec/where/arms.h"

static Plan *plan_aggregate(PlannerInfo *root, RelOptInfo *rel,
							CustomPath *path, List *tlist, List *clauses,
							List *custom_plans);

static const CustomPathMethods aggregate_path_methods = {
	.CustomName = "GpubtreeAggregate",
	.PlanCustomPath = plan_aggregate
};

/* One way to answer the query: an index, with its conditions and aggregates */
typedef struct GpbAggregatePath
{
	CustomPath	path;
	IndexOptInfo *index;
	Cost		estimated_cost; /* what it has beside the paths of other indexes */
	List	   *columns;		/* aggregates, group expressions and calls of GROUPING(), which the
								 * node computes */
	GpbAggregatePlan plan;
} GpbAggregatePath;

/* ---- why not? ---- */

/* Say why no path of ours was made, if anybody wants to know. */
static void
explain_refusal(const char *refusal)
{
	if (gpb_explain_decisions)
		ereport(NOTICE,
				(errmsg("GpubtreeAggregate does not answer this query: %s", refusal)));
}

/* Say what our path costs, and what the cheapest of the others does, if that is less. */
static void
explain_price(RelOptInfo *grouped_rel, const Path *path)
{
	const Path *other = gpb_explain_decisions ? gpb_cheapest_path(grouped_rel) : NULL;

	if (other != NULL && gpb_is_cheaper(other, path))
		ereport(NOTICE,
				(errmsg("GpubtreeAggregate would cost %.2f, an ordinary plan %.2f",
						path->total_cost, other->total_cost)));
}

/* ---- path ---- */

/*
 * The path for one index; NULL, and *refusal says why, if the index cannot answer the query.  Its
 * parent is the table, not the grouping relation: EXPLAIN can then name the table's columns, and
 * all of the table's restrictions are ours anyway.
 *
 * With a child the node projects nothing but the grouping's target, which the child has too.
 */
static GpbAggregatePath *
make_aggregate_path(const GpbAggregateQuery *query, IndexOptInfo *index, const char **refusal)
{
	GpbAggregateMatch match;
	GpbAggregatePath *own;
	CustomPath *path;
	Path	   *child = NULL;

	*refusal = gpb_aggregate_match_index(query, index, &match);
	if (*refusal != NULL)
		return NULL;
	if (match.needs_child)
	{
		child = gpb_ordinary_path(query->root, query->grouped_rel, query->target,
								  gpb_may_fail((Node *) match.plan.program.constants) ||
								  gpb_arms_may_fail(match.plan.arms));
		*refusal = "there is no ordinary plan that could take over";
		if (child == NULL)
			return NULL;
	}
	path = gpb_make_path(sizeof(GpbAggregatePath), &aggregate_path_methods, index->rel,
						 query->target);
	own = (GpbAggregatePath *) path;
	*refusal = gpb_aggregate_price(query, &match, &path->path, &own->estimated_cost);
	if (*refusal != NULL)
		return NULL;
	if (child != NULL)
	{
		path->flags &= ~CUSTOMPATH_SUPPORT_PROJECTION;
		path->custom_paths = list_make1(child);
	}
	own->index = index;
	own->columns = list_concat(list_concat_copy(query->aggrefs, match.value_aggrefs),
							   query->groups);
	own->columns = gpb_grouping_as_said(query->grouping,
										list_concat(own->columns, query->groupings));
	own->plan = match.plan;
	return own;
}

/* The price of one entry, the least that an answer by the index may have */
static Cost
entry_price(const GpbAggregateQuery *query, IndexOptInfo *index)
{
	GpbPriceInput input = {.root = query->root, .index = index, .entries = 1.0};

	return gpb_setup_cost + gpb_price(&input);
}

/*
 * What the index has beside others at least, whatever its ranges are, of which one entry costs so
 * much.  A sum of the same parts in another order may differ in its last digits.
 */
static Cost
least_price(const GpbAggregateQuery *query, IndexOptInfo *index, Cost entry)
{
	const Bitmapset *restricted = index->indpred == NIL ? query->grouping->restricted :
		gpb_restricted_columns(query->root, query->rel, index, index->indrestrictinfo);
	Cost		read = gpb_setup_cost + gpb_least_price(query->root, index, restricted,
														query->has_arrays, query->rel->rows);

	return Max(entry, read) * (1.0 - 1e-9);
}

/*
 * Has core a plan that is cheaper than any that costs so much?  It takes microseconds then, which
 * matching the query would make more of.
 */
static bool
is_beaten(const GpbAggregateQuery *query, Cost least)
{
	return !add_path_precheck(query->grouped_rel, least, least, NIL, NULL);
}

/* Note for explain_refusal() why an index cannot answer. */
static void
add_refusal(StringInfo refusals, const IndexOptInfo *index, const char *refusal)
{
	if (gpb_explain_decisions)
		appendStringInfo(refusals, "%sindex \"%s\": %s", refusals->len > 0 ? "; " : "",
						 get_rel_name(index->indexoid), refusal);
}

/* An index that may answer the query */
typedef struct GpbCandidate
{
	IndexOptInfo *index;
	int			number;			/* in the table's list */
	Cost		least;			/* its estimated_cost, at least */
} GpbCandidate;

/*
 * Collect the indexes that may answer the query for less than core's plan, those that cost the
 * least first; of equal ones, that which comes first in the table's list.  Where reasons are wanted
 * all usable ones are among them, in the order of the list.
 */
static int
collect_candidates(const GpbAggregateQuery *query, GpbCandidate *candidates)
{
	int			n = 0;
	ListCell   *lc;

	foreach(lc, query->rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		Cost		least = 0.0;
		int			place = n;

		if (!gpb_index_is_usable(index))
			continue;
		if (!gpb_explain_decisions)
		{
			Cost		entry = entry_price(query, index);

			if (is_beaten(query, entry) || !gpb_grouping_may_match(query->grouping, index))
				continue;
			least = least_price(query, index, entry);
			/* where bounds are unknown the path may have the price of less than the estimate */
			if (!query->has_unknown_bounds && is_beaten(query, least))
				continue;
		}
		for (; place > 0 && candidates[place - 1].least > least; place--)
			candidates[place] = candidates[place - 1];
		candidates[place].index = index;
		candidates[place].number = foreach_current_index(lc);
		candidates[place].least = least;
		n++;
	}
	return n;
}

/*
 * Only the cheapest index is offered, of equal ones that which comes first in the table's list. To
 * match an index and to price it takes as long as core's planning: one that costs more than another
 * at least is left out.
 */
void
gpb_aggregate_add_path(const GpbGrouping *grouping, const char *refusal)
{
	GpbAggregateQuery query;
	GpbAggregatePath *best = NULL;
	int			best_number = 0;
	GpbCandidate *candidates;
	StringInfoData refusals;
	int			n;

	if (!gpb_enable_aggregate)
		return;
	if (refusal == NULL)
		refusal = gpb_aggregate_match_query(grouping, &query);
	if (refusal != NULL)
	{
		explain_refusal(refusal);
		return;
	}

	initStringInfo(&refusals);
	candidates = palloc(sizeof(GpbCandidate) * list_length(query.rel->indexlist));
	n = collect_candidates(&query, candidates);
	for (int i = 0; i < n; i++)
	{
		IndexOptInfo *index = candidates[i].index;
		GpbAggregatePath *own;

		if (best != NULL && candidates[i].least > best->estimated_cost)
			break;
		own = make_aggregate_path(&query, index, &refusal);
		if (own == NULL)
			add_refusal(&refusals, index, refusal);
		else if (best == NULL || own->estimated_cost < best->estimated_cost ||
				 (own->estimated_cost == best->estimated_cost &&
				  candidates[i].number < best_number))
		{
			best = own;
			best_number = candidates[i].number;
		}
	}
	if (best == NULL)
	{
		explain_refusal(refusals.len > 0 ? refusals.data : "its table has no gpubtree index");
		return;
	}
	explain_price(query.grouped_rel, &best->path.path);
	add_path(query.grouped_rel, (Path *) best);
}

/* ---- plan ---- */

/*
 * The columns of the scan tuple: what the node computes, the key and, to show the filters and what
 * aggregates depend on, the other columns in them.
 */
static List *
scan_columns(PlannerInfo *root, const GpbAggregatePath *own)
{
	List	   *columns = list_concat_unique(list_copy(own->columns),
											 gpb_key_vars(root, own->index));
	int			i;

	columns = list_concat_unique(columns,
								 pull_var_clause((Node *) own->plan.filters,
												 PVC_RECURSE_PLACEHOLDERS));
	for (i = 0; i < own->plan.nvalues; i++)
		columns = list_concat_unique(columns,
									 pull_var_clause((Node *) own->plan.values[i].value, 0));
	return columns;
}

/* PlanCustomPath */
static Plan *
plan_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
			   List *tlist, List *clauses, List *custom_plans)
{
	GpbAggregatePath *own = (GpbAggregatePath *) path;
	GpbAggregatePlan *plan = &own->plan;
	int			computed = list_length(own->columns);
	CustomScan *scan = gpb_make_node(&gpb_aggregate_node, path, rel->relid, tlist, NIL,
									 custom_plans, scan_columns(root, own));
	ListCell   *lc;
	int			i;

	gpb_aggregate_put(plan, scan);
	gpb_check_conditions(path, scan, plan->conditions, 1, 0);
	gpb_check_conditions(path, scan, plan->arrays, 1, 0);
	foreach(lc, plan->arms)
		gpb_check_conditions(path, scan, lfirst_node(List, lc), 1, 0);
	gpb_check_conditions(path, scan, plan->skips, 1, 0);
	gpb_check_expressions(path, scan, plan->program.constants, 1, 0);
	for (i = 0; i < plan->nvalues; i++)
		gpb_check_expressions(path, scan, plan->values[i].fractions, 1, 0);
	gpb_check_expressions(path, scan, list_concat_copy(tlist, plan->having), 1, computed);
	gpb_agree_with_columns(scan);
	return &scan->scan.plan;
}
