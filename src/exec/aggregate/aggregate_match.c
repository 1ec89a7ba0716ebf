/*-------------------------------------------------------------------------
 *
 * aggregate_match.c
 *	  Which queries GpubtreeAggregate answers, and with which index.
 *
 * What is refused has a reason, a text for gpubtree.explain_decisions.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/lsyscache.h"

#include "exec/aggregate/aggregate_match.h"
#include "exec/compile/program_match.h"
#include "exec/price/price.h"
#include "exec/price/unknown_bounds.h"
#include "exec/shell/never_null.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "exec/where/arms.h"
#include "exec/where/conditions.h"
#include "exec/where/range_split.h"

/* ---- the query ---- */

/* Part the aggregates into those that depend on values and others. */
static void
part_aggregates(GpbAggregateQuery *query, List *aggrefs)
{
	ListCell   *lc;

	foreach(lc, aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);

		if (gpb_depends_on_values(aggref))
			query->value_aggrefs = lappend(query->value_aggrefs, aggref);
		else
		{
			query->aggrefs = lappend(query->aggrefs, aggref);
			query->plain_aggrefs = lappend(query->plain_aggrefs, gpb_without_distinct(aggref));
		}
	}
}

const char *
gpb_aggregate_match_query(const GpbGrouping *grouping, GpbAggregateQuery *query)
{
	const char *refusal;

	memset(query, 0, sizeof(*query));
	query->grouping = grouping;
	query->root = grouping->root;
	query->rel = grouping->rel;
	query->grouped_rel = grouping->grouped_rel;
	query->target = grouping->target;
	query->groups = grouping->groups;
	query->groupings = grouping->groupings;
	query->having = grouping->having;
	refusal = gpb_sets_match(query->root, grouping->clauses, query->groups, query->groupings,
							 &query->sets);
	if (refusal != NULL)
		return refusal;
	part_aggregates(query, grouping->aggrefs);
	query->has_arrays = gpb_has_array_clause(query->rel->baserestrictinfo);
	query->has_unknown_bounds = gpb_have_statement_param(query->rel->baserestrictinfo);
	query->group_estimates = palloc0(sizeof(List *));
	return NULL;
}

/* ---- an index ---- */

/*
 * Match the query to the index, whose ranges leave these restrictions; what aggregates need of
 * groups comes last.
 */
static const char *
match_entries(const GpbAggregateQuery *query, GpbAggregateMatch *match)
{
	GpbAggregatePlan *plan = &match->plan;
	GpbEntriesQuery entries = {
		match->others, query->groups, true, query->plain_aggrefs, query->value_aggrefs,
		query->portable
	};
	GpbEntriesMatch found;
	const char *refusal = gpb_match_entries(query->root, match->index, &entries, &found);

	if (refusal == NULL && query->value_aggrefs != NIL)
		refusal = gpb_values_match(found.builder, query->value_aggrefs, &plan->values,
								   &plan->nvalues, &match->value_aggrefs);
	if (refusal != NULL)
		return refusal;
	gpb_match_entries_end(&found);
	plan->filters = found.filters;
	plan->ngroups = list_length(query->groups);
	plan->group_types = found.group_types;
	plan->nitems = list_length(query->aggrefs);
	plan->items = found.items;
	plan->has_program = found.has_program;
	if (found.program != NULL)
		plan->program = *found.program;
	match->builder = found.builder;
	match->needs_child |= found.may_give_up;
	return NULL;
}

/*
 * Has core a plan that is cheaper than to read the entries of the ranges?  Before the program is
 * built, which takes longest.  Groups and arrays have leaves of their own, and where bounds are
 * unknown the path may have the price of less than the estimate.
 */
static bool
ranges_are_beaten(const GpbAggregateQuery *query, const GpbAggregateMatch *match)
{
	GpbPriceInput input = {.root = query->root, .index = match->index,
	.entries = match->entries};
	Cost		least;

	if (query->state != NULL || query->has_unknown_bounds || match->plan.arrays != NIL ||
		match->skip.conditions != NIL)
		return false;
	least = gpb_setup_cost + gpb_price(&input);
	return !add_path_precheck(query->grouped_rel, least, least, NIL, NULL);
}

const char *
gpb_aggregate_match_index(const GpbAggregateQuery *query, IndexOptInfo *index,
						  GpbAggregateMatch *match)
{
	GpbRangeSplit split;
	const char *refusal;

	GPB_COUNT_MATCH();
	memset(match, 0, sizeof(*match));
	match->index = index;
	match->plan.index = index->indexoid;
	match->plan.having = query->having;
	match->plan.sets = query->sets;
	gpb_split_restrictions(query->root, index, query->of_rows ? NIL : index->indrestrictinfo,
						   query->groups, &split);
	gpb_match_skip(query->root, index, query->groups, &split, &match->skip);
	match->plan.conditions = split.conditions;
	match->plan.arrays = split.arrays;
	match->plan.arms = split.arms;
	match->others = split.others;
	match->entries = gpb_split_entries(query->root, index, &split, query->rel->rows);
	match->needs_child = gpb_split_may_be_lossy(index, &split);
	if (!gpb_explain_decisions && ranges_are_beaten(query, match))
		return "an ordinary plan is cheaper";
	match->needs_child |= gpb_arms_may_fail(match->plan.arms);
	refusal = match_entries(query, match);
	if (refusal != NULL)
		return refusal;
	if (match->needs_child && (contain_subplans((Node *) query->target->exprs) ||
							   contain_subplans((Node *) query->having)))
		return "the target list or HAVING has a subquery";
	return NULL;
}
