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
#include "optimizer/restrictinfo.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/typcache.h"

#include "exec/aggregate/aggregate_arms.h"
#include "exec/aggregate/aggregate_match.h"
#include "exec/common/plan_rules.h"

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
	if (parse->groupingSets != NIL)
		return "it has grouping sets";
	if (parse->hasTargetSRFs)
		return "it has set-returning functions";
	if (stage == UPPERREL_GROUP_AGG && parse->groupClause == NIL && parse->hasWindowFuncs)
		return "it has window functions";
	return NULL;
}

/* Collect the expressions of a list of SortGroupClauses. */
static const char *
collect_groups(GpbAggregateQuery *query, List *clauses)
{
	PlannerInfo *root = query->root;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expression = get_sortgroupclause_expr(clause, root->processed_tlist);
		TypeCacheEntry *type = lookup_type_cache(exprType(expression), TYPECACHE_EQ_OPR);

		if (type->eq_opr != clause->eqop)
			return "it groups by an equality that is not the type's own";
		if (!bms_is_member(query->rel->relid, pull_varnos(root, expression)))
			return "it groups by a constant";
		if (contain_volatile_functions(expression) || contain_subplans(expression))
			return "it groups by a volatile function or a subquery";
		query->groups = list_append_unique(query->groups, expression);
	}
	return NULL;
}

/* Collect Aggrefs; true, which ends the walk, if anything else is needed but groups. */
static bool
collect_walker(Node *node, GpbAggregateQuery *query)
{
	if (node == NULL || list_member(query->groups, node))
		return false;
	if (IsA(node, Aggref))
	{
		if (gpb_depends_on_values((Aggref *) node))
			query->value_aggrefs = list_append_unique(query->value_aggrefs, node);
		else
			query->aggrefs = list_append_unique(query->aggrefs, node);
		return false;
	}
	if (IsA(node, Var) || IsA(node, PlaceHolderVar) || IsA(node, GroupingFunc))
		return true;
	return expression_tree_walker(node, collect_walker, query);
}

const char *
gpb_aggregate_match_query(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
						  RelOptInfo *grouped_rel, GpbAggregateQuery *query)
{
	Query	   *parse = root->parse;
	const char *refusal = check_query(root, stage);

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
	refusal = collect_groups(query, stage == UPPERREL_DISTINCT ? parse->distinctClause :
							 parse->groupClause);
	if (refusal != NULL)
		return refusal;
	if (collect_walker((Node *) query->target->exprs, query) ||
		collect_walker((Node *) query->having, query))
		return "it needs columns beside aggregates and groups";
	if (query->groups == NIL && query->aggrefs == NIL && query->value_aggrefs == NIL)
		return "it has no aggregate";
	return NULL;
}

/* ---- restrictions ---- */

/* What becomes of the restrictions for one index */
typedef struct GpbSplit
{
	List	   *ranges;			/* RestrictInfos of conditions and arrays */
	List	   *filters;		/* RestrictInfos for the program */
} GpbSplit;

/*
 * Part the restrictions into those that are ranges or arrays of the key, and others.  A condition
 * that equals a group expression would be taken from the scan tuple (rule M13): it is a filter.
 */
static void
split_restrictions(const GpbAggregateQuery *query, GpbAggregateMatch *match, GpbSplit *split)
{
	GpbAggregatePlan *plan = &match->plan;
	ListCell   *lc;

	foreach(lc, match->index->indrestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Expr	   *condition = gpb_match_condition(query->root, rinfo, match->index);
		Expr	   *array = NULL;

		if (condition == NULL)
			array = gpb_match_array_condition(query->root, rinfo, match->index);
		if (condition != NULL && !list_member(query->groups, condition))
			plan->conditions = lappend(plan->conditions, condition);
		else if (array != NULL && !list_member(query->groups, array))
			plan->arrays = lappend(plan->arrays, array);
		else
		{
			split->filters = lappend(split->filters, rinfo);
			continue;
		}
		split->ranges = lappend(split->ranges, rinfo);
	}
}

/* Of the filters take the first that is an OR of ranges, unless there are arrays of keys. */
static void
take_arms(const GpbAggregateQuery *query, GpbAggregateMatch *match, GpbSplit *split)
{
	ListCell   *lc;

	if (match->plan.arrays != NIL)
		return;
	foreach(lc, split->filters)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		bool		exact;

		if (rinfo->pseudoconstant ||
			!restriction_is_securely_promotable(rinfo, query->rel))
			continue;
		match->plan.arms = gpb_match_arms(query->root, rinfo->clause, match->index,
										  query->groups, &exact);
		if (match->plan.arms == NIL)
			continue;
		if (exact)
			split->filters = foreach_delete_current(split->filters, lc);
		return;
	}
}

/* ---- the program ---- */

/* A column of the table that the expressions need and the index has not, as a refusal; or NULL */
static const char *
missing_column(const GpbAggregateQuery *query, IndexOptInfo *index, List *expressions)
{
	Oid			table = planner_rt_fetch(query->rel->relid, query->root)->relid;
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) expressions,
								PVC_RECURSE_AGGREGATES | PVC_INCLUDE_PLACEHOLDERS))
	{
		Var		   *var = (Var *) lfirst(lc);

		if (!IsA(var, Var) || var->varattno <= 0)
			return "it needs what is no column of the table";
		if (gpb_index_column(index, var->varattno) < 0)
			return psprintf("the index lacks column \"%s\"",
							get_attname(table, var->varattno, false));
	}
	return NULL;
}

/* May the program test this restriction ahead of whatever else is done with the row? */
static const char *
check_filter(const GpbAggregateQuery *query, RestrictInfo *rinfo)
{
	if (rinfo->pseudoconstant)
		return "a condition has no column";
	if (!restriction_is_securely_promotable(rinfo, query->rel))
		return "a condition must not see rows before a security policy does";
	if (contain_volatile_functions((Node *) rinfo->clause))
		return "a condition has a volatile function";
	if (contain_subplans((Node *) rinfo->clause))
		return "a condition has a subquery";
	return NULL;
}

/* The builder's reason, or one if it has none */
static const char *
builder_refusal(const GpbAggregateMatch *match)
{
	const char *refusal = gpb_builder_refusal(match->builder);

	return refusal != NULL ? pstrdup(refusal) : "the program cannot say it";
}

/* Add the filters to the program and to the plan, in the order in which core would test them. */
static const char *
build_filters(const GpbAggregateQuery *query, GpbAggregateMatch *match, List *filters)
{
	ListCell   *lc;

	foreach(lc, filters)
	{
		const char *refusal = check_filter(query, lfirst_node(RestrictInfo, lc));

		if (refusal != NULL)
			return refusal;
	}
	match->plan.filters = gpb_order_clauses(query->root, filters);
	foreach(lc, match->plan.filters)
	{
		if (!gpb_build_filter(match->builder, lfirst(lc)))
			return builder_refusal(match);
	}
	return NULL;
}

/* Add the groups to the program and to the plan. */
static const char *
build_groups(const GpbAggregateQuery *query, GpbAggregateMatch *match)
{
	GpbAggregatePlan *plan = &match->plan;
	ListCell   *lc;

	plan->ngroups = list_length(query->groups);
	plan->group_types = palloc(sizeof(Oid) * plan->ngroups);
	foreach(lc, query->groups)
	{
		Oid			type = exprType(lfirst(lc));

		if (!gpb_build_group(match->builder, lfirst(lc)))
			return builder_refusal(match);
		plan->group_types[foreach_current_index(lc)] = getBaseType(type);
	}
	return NULL;
}

/* Add the aggregates to the program and to the plan; what they need of groups comes last. */
static const char *
build_aggregates(const GpbAggregateQuery *query, GpbAggregateMatch *match)
{
	GpbAggregatePlan *plan = &match->plan;
	ListCell   *lc;

	plan->nitems = list_length(query->aggrefs);
	plan->items = palloc0(sizeof(GpbAggregateItem) * plan->nitems);
	foreach(lc, query->aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);

		if (contain_volatile_functions((Node *) aggref) || contain_subplans((Node *) aggref))
			return "an aggregate has a volatile function or a subquery";
		if (!gpb_build_aggref(match->builder, gpb_without_distinct(aggref),
							  &plan->items[foreach_current_index(lc)]))
			return builder_refusal(match);
	}
	if (query->value_aggrefs == NIL)
		return NULL;
	return gpb_values_match(match->builder, query->value_aggrefs, &plan->values);
}

/*
 * May the program have no answer, so that the ordinary plan must be at hand?  A constant whose
 * value is not known yet may turn out to be one that the program cannot say.
 */
static bool
may_give_up(const GpbAggregateMatch *match)
{
	ListCell   *lc;

	if (match->plan.program.program.ngroups > 0 || gpb_builder_can_fault(match->builder))
		return true;
	foreach(lc, match->plan.program.constants)
	{
		if (!IsA(lfirst(lc), Const))
			return true;
	}
	return false;
}

/* Match the query to the index by a program. */
static const char *
match_program(const GpbAggregateQuery *query, GpbAggregateMatch *match, List *filters)
{
	List	   *needed = list_concat(list_concat_copy(query->groups, query->aggrefs),
									 query->value_aggrefs);
	const char *refusal;
	ListCell   *lc;

	foreach(lc, filters)
		needed = lappend(needed, lfirst_node(RestrictInfo, lc)->clause);
	refusal = missing_column(query, match->index, needed);
	if (refusal != NULL)
		return refusal;
	match->builder = gpb_builder_begin(query->root, match->index);
	refusal = build_filters(query, match, filters);
	if (refusal == NULL)
		refusal = build_groups(query, match);
	if (refusal == NULL)
		refusal = build_aggregates(query, match);
	if (refusal != NULL)
		return refusal;
	match->plan.program = *gpb_builder_end(match->builder);
	match->plan.has_program = !gpb_program_is_plain(&match->plan.program.program);
	match->needs_child = may_give_up(match);
	if (match->needs_child && (contain_subplans((Node *) query->target->exprs) ||
							   contain_subplans((Node *) query->having)))
		return "the target list or HAVING has a subquery";
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

/* About how many entries the ranges have */
static double
estimate_entries(const GpbAggregateQuery *query, const GpbAggregateMatch *match,
				 const GpbSplit *split)
{
	double		rows = query->rel->rows;
	Selectivity share;

	if (split->filters == NIL)
		return clamp_row_est(rows);
	share = clauselist_selectivity(query->root, split->ranges, query->rel->relid, JOIN_INNER,
								   NULL);
	if (match->plan.arms != NIL)
		share *= gpb_arms_selectivity(query->root, match->index, match->plan.arms);
	return clamp_row_est(Max(match->index->tuples * share, rows));
}

const char *
gpb_aggregate_match_index(const GpbAggregateQuery *query, IndexOptInfo *index,
						  GpbAggregateMatch *match)
{
	GpbSplit	split = {0};

	memset(match, 0, sizeof(*match));
	match->index = index;
	match->plan.index = index->indexoid;
	match->plan.having = query->having;
	split_restrictions(query, match, &split);
	take_arms(query, match, &split);
	match->entries = estimate_entries(query, match, &split);
	if (split.filters == NIL && query->groups == NIL && query->value_aggrefs == NIL &&
		match_plain(query, match))
		return NULL;
	return match_program(query, match, split.filters);
}
