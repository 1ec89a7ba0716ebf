/*-------------------------------------------------------------------------
 *
 * aggregate_plan.c
 *	  Planning of aggregates over one table.
 *
 * An aggregate over one table becomes a CustomPath if one gpubtree index holds all columns of the
 * query (aggregate_match.c).  Whatever does not fit is left to the ordinary plans.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/lsyscache.h"

#include "exec/aggregate/aggregate_match.h"
#include "exec/aggregate/aggregate_node.h"
#include "exec/aggregate/aggregate_path.h"
#include "exec/aggregate/aggregate_price.h"
#include "exec/answer/ordinary.h"
#include "exec/price/price.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"

/* ---- path ---- */

/* The values that a row is made of, in the order that a scan tuple has them in */
static List *
row_values(const GpbAggregateQuery *query, const GpbAggregateMatch *match)
{
	List	   *values = list_concat_copy(query->aggrefs, match->value_aggrefs);

	values = list_concat(values, query->groups);
	return gpb_grouping_as_said(query->grouping, list_concat(values, query->groupings));
}

/*
 * The path for one index; NULL, and *refusal says why, if the index cannot answer the query.  Its
 * parent is the table, not the grouping relation: EXPLAIN can then name the table's columns, and
 * all of the table's restrictions are ours anyway.
 */
static GpbAggregatePath *
make_aggregate_path(const GpbAggregateQuery *query, IndexOptInfo *index, const char **refusal,
					bool *by_price)
{
	GpbAggregateMatch match;
	GpbAggregatePath *own;

	*refusal = gpb_aggregate_match_index(query, index, &match);
	if (*refusal != NULL)
		return NULL;
	own = gpb_make_aggregate_path(index->rel, query->target);
	if (match.needs_child && query->state == NULL &&
		!gpb_add_ordinary_path(query->root, query->grouped_rel, &own->path,
							   gpb_constants_may_fail(&match.plan)))
	{
		*refusal = "there is no ordinary plan that could take over";
		return NULL;
	}
	*refusal = gpb_aggregate_price(query, &match, &own->path.path, &own->estimated_cost);
	if (*refusal != NULL)
	{
		if (by_price != NULL)
			*by_price = true;
		return NULL;
	}
	own->index = index;
	own->entries = match.entries;
	own->may_give_up = match.needs_child;
	own->values = row_values(query, &match);
	own->columns = query->state == NULL ? own->values : list_make1(query->state);
	own->plan = match.plan;
	own->plan.returns_states = query->state != NULL;
	return own;
}

GpbAggregatePath *
gpb_rows_aggregate_path(const GpbAggregateQuery *query, IndexOptInfo *index, const char **refusal)
{
	GpbAggregateMatch match;
	GpbAggregatePath *own;

	*refusal = gpb_aggregate_match_index(query, index, &match);
	if (*refusal != NULL)
		return NULL;
	own = gpb_make_aggregate_path(query->rel, query->target);
	own->index = index;
	own->may_give_up = match.needs_child;
	own->values = row_values(query, &match);
	own->columns = list_make1(query->state);
	own->row_cost = gpb_aggregate_row_cost(&match);
	own->plan = match.plan;
	own->plan.sets = query->sets;
	own->plan.source = GPB_OF_ROWS;
	own->plan.returns_states = true;
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
 * matching the query would make more of.  A leaf's path does not stand beside those of the whole.
 */
static bool
is_beaten(const GpbAggregateQuery *query, Cost least)
{
	return query->state == NULL &&
		!add_path_precheck(query->grouped_rel, least, least, NIL, NULL);
}

/* Note for gpb_explain_aggregate_refusal() why an index cannot answer. */
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
 * Of equal indexes that is taken which comes first in the table's list.  To match an index and to
 * price it takes as long as core's planning: one that costs more than another at least is left out.
 */
GpbAggregatePath *
gpb_cheapest_aggregate_path(const GpbAggregateQuery *query, StringInfo refusals, bool *by_price)
{
	GpbAggregatePath *best = NULL;
	int			best_number = 0;
	GpbCandidate *candidates = palloc(sizeof(GpbCandidate) * list_length(query->rel->indexlist));
	int			n = collect_candidates(query, candidates);

	if (by_price != NULL)
		*by_price = false;
	for (int i = 0; i < n; i++)
	{
		IndexOptInfo *index = candidates[i].index;
		const char *refusal;
		GpbAggregatePath *own;

		if (best != NULL && candidates[i].least > best->estimated_cost)
			break;
		own = make_aggregate_path(query, index, &refusal, by_price);
		if (own == NULL)
			add_refusal(refusals, index, refusal);
		else if (best == NULL || own->estimated_cost < best->estimated_cost ||
				 (own->estimated_cost == best->estimated_cost &&
				  candidates[i].number < best_number))
		{
			best = own;
			best_number = candidates[i].number;
		}
	}
	if (best == NULL && refusals->len == 0)
		appendStringInfoString(refusals, "its table has no gpubtree index");
	return best;
}
