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
#include "exec/price/least_price.h"
#include "exec/price/plan_costs.h"
#include "exec/price/unknown_bounds.h"
#include "exec/shell/never_null.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "exec/where/arms.h"
#include "exec/where/conditions.h"
#include "exec/where/range_split.h"

/* ---- the query ---- */

/* Is it a query of our kind, as far as that shows in its clauses? */
static const char *
check_query(PlannerInfo *root, UpperRelationKind stage)
{
	Query	   *parse = root->parse;
	bool		grouped = parse->hasAggs || parse->groupClause != NIL;

	if (parse->commandType != CMD_SELECT || !gpb_query_allows_nodes(root))
		return "it is not a SELECT, or locks rows";
	if (stage == UPPERREL_DISTINCT && (grouped || parse->hasDistinctOn || parse->hasWindowFuncs))
		return "it has DISTINCT over groups or windows, or DISTINCT ON";
	if (stage == UPPERREL_GROUP_AGG && !grouped)
		return "it has neither aggregates nor groups";
	if (parse->hasTargetSRFs)
		return "it has set-returning functions";
	if (stage == UPPERREL_GROUP_AGG && parse->groupClause == NIL && parse->hasWindowFuncs)
		return "it has window functions";
	return NULL;
}

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
			query->aggrefs = lappend(query->aggrefs, aggref);
	}
}

/* The columns that the index must have, or every one without a predicate, if that is NULL */
static Bitmapset *
needed_columns(const GpbAggregateQuery *query, IndexOptInfo *index)
{
	return gpb_grouping_columns(query->root, query->rel, index, query->groups,
								list_concat_copy(query->aggrefs, query->value_aggrefs));
}

/* Collect the columns that every index without a predicate must have. */
static void
collect_columns(GpbAggregateQuery *query)
{
	query->columns = needed_columns(query, NULL);
	query->restricted = gpb_restricted_columns(query->root, query->rel, NULL,
											   query->rel->baserestrictinfo);
	query->has_arrays = gpb_has_array_clause(query->rel->baserestrictinfo);
	query->has_unknown_bounds = gpb_have_statement_param(query->rel->baserestrictinfo);
}

const char *
gpb_aggregate_match_query(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
						  RelOptInfo *grouped_rel, GpbAggregateQuery *query)
{
	Query	   *parse = root->parse;
	List	   *clauses = stage == UPPERREL_DISTINCT ? parse->distinctClause : parse->groupClause;
	const char *refusal = check_query(root, stage);
	List	   *expressions;
	List	   *aggrefs;

	memset(query, 0, sizeof(*query));
	if (refusal != NULL)
		return refusal;
	if (!gpb_rel_is_plain(root, input_rel))
		return "it is not of one ordinary table with indexes";
	query->root = root;
	query->rel = input_rel;
	query->grouped_rel = grouped_rel;
	query->target = root->upper_targets[stage];
	query->having = (List *) parse->havingQual;
	query->group_estimates = palloc0(sizeof(List *));
	expressions = list_concat_copy(query->target->exprs, query->having);
	query->groupings = gpb_collect_groupings(expressions);
	refusal = gpb_match_group_clauses(root, input_rel, clauses, &query->groups);
	if (refusal == NULL)
		refusal = gpb_sets_match(root, clauses, query->groups, query->groupings, &query->sets);
	if (refusal == NULL)
		refusal = gpb_match_aggregates(list_concat_copy(query->groups, query->groupings),
									   expressions, &aggrefs);
	if (refusal != NULL)
		return refusal;
	part_aggregates(query, aggrefs);
	if (query->groups == NIL && aggrefs == NIL)
		return "it has no aggregate";
	collect_columns(query);
	return NULL;
}

bool
gpb_aggregate_may_match(const GpbAggregateQuery *query, IndexOptInfo *index)
{
	if (index->indpred == NIL)
		return gpb_index_covers(index, query->columns) &&
			gpb_index_covers(index, query->restricted);
	/* the predicate may imply restrictions, and that what is counted is not NULL */
	return gpb_index_covers(index, needed_columns(query, index)) &&
		gpb_index_covers(index, gpb_restricted_columns(query->root, query->rel, index,
													   index->indrestrictinfo));
}

/* ---- the program ---- */

/* Add the aggregates to the program and to the plan; what they need of groups comes last. */
static const char *
match_aggregates(const GpbAggregateQuery *query, GpbAggregateMatch *match)
{
	GpbAggregatePlan *plan = &match->plan;
	List	   *aggrefs = NIL;
	const char *refusal;
	ListCell   *lc;

	foreach(lc, query->aggrefs)
		aggrefs = lappend(aggrefs, gpb_without_distinct(lfirst_node(Aggref, lc)));
	plan->nitems = list_length(aggrefs);
	refusal = gpb_match_items(match->builder, aggrefs, &plan->items);
	if (refusal != NULL || query->value_aggrefs == NIL)
		return refusal;
	return gpb_values_match(match->builder, query->value_aggrefs, &plan->values, &plan->nvalues,
							&match->value_aggrefs);
}

/* Add the group expressions to the program, and their types to the plan. */
static const char *
match_groups(const GpbAggregateQuery *query, GpbAggregateMatch *match)
{
	GpbAggregatePlan *plan = &match->plan;
	ListCell   *lc;

	plan->ngroups = list_length(query->groups);
	plan->group_types = palloc(sizeof(Oid) * plan->ngroups);
	foreach(lc, query->groups)
	{
		if (!gpb_build_group_of_words(match->builder, lfirst(lc),
									  &plan->group_types[foreach_current_index(lc)]))
			return gpb_builder_refusal(match->builder);
	}
	return NULL;
}

/* Match the query to the index by a program. */
static const char *
match_program(const GpbAggregateQuery *query, GpbAggregateMatch *match, List *filters)
{
	GpbAggregatePlan *plan = &match->plan;
	List	   *needed = list_concat(list_concat_copy(query->groups, query->aggrefs),
									 query->value_aggrefs);
	const char *refusal;
	ListCell   *lc;

	foreach(lc, filters)
		needed = lappend(needed, lfirst_node(RestrictInfo, lc)->clause);
	refusal = gpb_match_columns(query->root, match->index, needed);
	if (refusal != NULL)
		return refusal;
	match->builder = gpb_builder_begin(query->root, match->index);
	refusal = gpb_match_filters(query->root, query->rel, match->builder, filters, &plan->filters);
	if (refusal == NULL)
		refusal = match_groups(query, match);
	if (refusal == NULL)
		refusal = match_aggregates(query, match);
	if (refusal != NULL)
		return refusal;
	plan->program = *gpb_builder_end(match->builder);
	plan->has_program = !gpb_program_is_plain(&plan->program.program);
	match->needs_child |= gpb_program_may_give_up(match->builder, &plan->program);
	return NULL;
}

/* ---- an index ---- */

/* Match the aggregates to the columns of the index, which have to be aggregated as they are. */
static bool
match_plain(const GpbAggregateQuery *query, GpbAggregateMatch *match)
{
	GpbAggregatePlan *plan = &match->plan;

	plan->nitems = list_length(query->aggrefs);
	return gpb_match_batch_aggrefs(match->index, query->aggrefs, &plan->items);
}

/* Match the query to the index, whose ranges are known, as a plain program or by another. */
static const char *
match_answer(const GpbAggregateQuery *query, GpbAggregateMatch *match, List *others)
{
	const char *refusal;

	match->needs_child |= gpb_arms_may_fail(match->plan.arms);
	if (others != NIL || query->groups != NIL || query->value_aggrefs != NIL ||
		!match_plain(query, match))
	{
		refusal = match_program(query, match, others);
		if (refusal != NULL)
			return refusal;
	}
	if (match->needs_child && (contain_subplans((Node *) query->target->exprs) ||
							   contain_subplans((Node *) query->having)))
		return "the target list or HAVING has a subquery";
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
	Cost		least;

	if (match->plan.arrays != NIL || match->skip.conditions != NIL || query->has_unknown_bounds)
		return false;
	least = gpb_setup_cost + gpb_read_cost(query->root, match->index, match->entries, true);
	return !add_path_precheck(query->grouped_rel, least, least, NIL, NULL);
}

const char *
gpb_aggregate_match_index(const GpbAggregateQuery *query, IndexOptInfo *index,
						  GpbAggregateMatch *match)
{
	GpbRangeSplit split;

	GPB_COUNT_MATCH();
	memset(match, 0, sizeof(*match));
	match->index = index;
	match->plan.index = index->indexoid;
	match->plan.having = query->having;
	match->plan.sets = query->sets;
	gpb_split_restrictions(query->root, index, index->indrestrictinfo, query->groups, &split);
	gpb_match_skip(query->root, index, query->groups, &split, &match->skip);
	match->plan.conditions = split.conditions;
	match->plan.arrays = split.arrays;
	match->plan.arms = split.arms;
	match->others = split.others;
	match->entries = gpb_split_entries(query->root, index, &split, query->rel->rows);
	match->needs_child = gpb_split_may_be_lossy(index, &split);
	if (!gpb_explain_decisions && ranges_are_beaten(query, match))
		return "an ordinary plan is cheaper";
	return match_answer(query, match, split.others);
}
