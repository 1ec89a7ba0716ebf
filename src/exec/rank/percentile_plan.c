/*-------------------------------------------------------------------------
 *
 * percentile_plan.c
 *	  Planning of percentile_disc: which queries, at what price.
 *
 * An ungrouped aggregate over one table, like those of aggregate_plan.c, with at least one
 * percentile_disc over the key of a gpubtree index.  Core would read and sort all of the keys; here
 * they are in order, and the rank is found by counting.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/lsyscache.h"

#include "exec/price/price.h"
#include "exec/price/price_constants.h"
#include "exec/rank/rank_node.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/plan_check.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "exec/where/ordered_column.h"
#include "index/index.h"
#include "index/index_clauses.h"

static Plan *plan_percentile(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
							 List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods percentile_path_methods = {
	.CustomName = "GpubtreePercentile",
	.PlanCustomPath = plan_percentile
};

typedef struct GpbPercentilePath
{
	CustomPath	path;
	IndexOptInfo *index;
	List	   *aggrefs;		/* of the items, then of the percentiles */
	GpbPercentilePlan plan;
} GpbPercentilePath;

/* Part the aggregates of a query; the fractions of the percentiles go to a list of their own. */
static void
part_aggrefs(List *aggrefs, List **others, List **percentiles, List **fractions)
{
	ListCell   *lc;

	*others = *percentiles = *fractions = NIL;
	foreach(lc, aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);
		const GpbAggregate *known = gpb_find_aggregate(aggref->aggfnoid);

		if (known == NULL || known->function != GPB_PERCENTILE_DISC)
			*others = lappend(*others, aggref);
		else
		{
			*percentiles = lappend(*percentiles, aggref);
			*fractions = lappend(*fractions, linitial(aggref->aggdirectargs));
		}
	}
}

/* Can the index answer this percentile_disc by its ordered column?  Fills *percentile if so. */
static bool
match_percentile(Aggref *aggref, IndexOptInfo *index, int column, GpbPercentile *percentile)
{
	Node	   *fraction = (Node *) linitial(aggref->aggdirectargs);
	Expr	   *argument = linitial_node(TargetEntry, aggref->args)->expr;
	Var		   *var = gpb_argument_var(argument, index->rel->relid);
	int			strategy;

	if (aggref->agglevelsup != 0 || aggref->aggsplit != AGGSPLIT_SIMPLE ||
		aggref->aggfilter != NULL || contain_volatile_functions(fraction) ||
		contain_subplans(fraction) || contain_var_clause(fraction) ||
		var == NULL || var->varattno != index->indexkeys[column])
		return false;
	strategy = get_op_opfamily_strategy(linitial_node(SortGroupClause, aggref->aggorder)->sortop,
										gpb_own_family(index, column));
	if (strategy != BTLessStrategyNumber && strategy != BTGreaterStrategyNumber)
		return false;
	percentile->many = gpb_find_aggregate(aggref->aggfnoid)->type == FLOAT8ARRAYOID;
	percentile->descending = strategy == BTGreaterStrategyNumber;
	percentile->type = exprType((Node *) argument);
	return true;
}

/*
 * Price: the rank, found in all entries, whose parts all percentiles share, and the other
 * aggregates, for which entries are read once for each column; but the number of rows is known,
 * unless some may be NULL in the ordered column.  An array of fractions may have a rank in every
 * part: then all are read again.
 */
static Cost
percentile_price(PlannerInfo *root, IndexOptInfo *index, double rows,
				 const GpbPercentilePlan *plan)
{
	double		entries = clamp_row_est(rows);
	GpbPriceInput input = {.root = root, .index = index, .entries = entries, .seen = entries};
	Bitmapset  *columns = NULL;
	bool		many = false;

	for (int i = 0; i < plan->npercentiles; i++)
		many |= plan->percentiles[i].many;
	for (int i = 0; i < plan->nitems; i++)
	{
		if (!gpb_item_counts_rows(&plan->items[i]) || plan->nulls)
			columns = bms_add_member(columns, plan->items[i].column);
	}
	return gpb_setup_cost * GPB_PERCENTILE_SETUP + gpb_rank_price(root, index, entries, false) +
		gpb_bounds_price(root, plan->conditions, NIL) +
		(many + bms_num_members(columns)) * gpb_price(&input);
}

/* Match the aggregates to one index.  Returns false if it cannot answer them. */
static bool
match_index(PlannerInfo *root, IndexOptInfo *index, List *others, List *percentiles,
			GpbPercentilePlan *match)
{
	GpbPercentilePlan plan = *match;
	ListCell   *lc;

	plan.index = index->indexoid;
	plan.nitems = list_length(others);
	plan.npercentiles = list_length(percentiles);
	plan.percentiles = palloc(sizeof(GpbPercentile) * plan.npercentiles);
	/* A rank among equal keys, -0 and 0 say, is none that a condition can say. */
	if (!gpb_match_ordered_column(root, index, &plan.column, &plan.conditions) ||
		!gpb_key_column_is_exact(index, plan.column) ||
		!gpb_match_batch_aggrefs(index, others, &plan.items))
		return false;
	plan.nulls = others != NIL && !gpb_key_column_is_not_null(root, index, plan.column);
	foreach(lc, percentiles)
	{
		if (!match_percentile(lfirst_node(Aggref, lc), index, plan.column,
							  &plan.percentiles[foreach_current_index(lc)]))
			return false;
	}
	*match = plan;
	return true;
}

/*
 * Have the path, whose index is of one leaf, ask all leaves of the parent.  Returns what they have
 * together in the place of that index, for the price; NULL if they have no indexes that are alike.
 * NULLs are asked for by bounds, which partitions have no part in.
 */
static IndexOptInfo *
ask_leaves(const GpbGrouping *whole, GpbPercentilePath *own)
{
	PlannerInfo *root = whole->root;
	GpbPartitionMatch match;

	if (own->plan.nulls ||
		gpb_match_partitions(root, whole->rel, whole->leaves, own->index, &match) != NULL)
		return NULL;
	match.list.has_append = true;
	own->plan.partitions = match.list;
	own->path.custom_paths = list_make1(gpb_partitions_path(root, &match));
	return match.whole;
}

/*
 * The path for one index of the query's table, which is one of the leaves of that of "whole", if
 * that has leaves; NULL if it cannot do this query.
 */
static CustomPath *
make_percentile_path(const GpbGrouping *whole, const GpbGrouping *query, IndexOptInfo *index,
					 List *others, List *percentiles, List *fractions)
{
	PathTarget *target = query->target;
	GpbPercentilePlan plan = {.fractions = fractions};
	CustomPath *path;
	GpbPercentilePath *own;
	IndexOptInfo *priced = index;

	if (!match_index(query->root, index, others, percentiles, &plan))
		return NULL;
	path = gpb_make_path(sizeof(GpbPercentilePath), &percentile_path_methods, whole->rel, target);
	own = (GpbPercentilePath *) path;
	own->index = index;
	own->aggrefs = gpb_grouping_as_said(query, list_concat_copy(others, percentiles));
	own->plan = plan;
	if (whole->leaves != NIL)
		priced = ask_leaves(whole, own);
	if (priced == NULL)
		return NULL;
	path->path.rows = 1;
	path->path.startup_cost = target->cost.startup +
		percentile_price(query->root, priced, whole->rel->rows, &plan) +
		list_length(whole->leaves) * GPB_RANK_LEAF_COST * cpu_operator_cost;
	path->path.total_cost = path->path.startup_cost + target->cost.per_tuple;
	return path;
}

/* What the query wants of the leaf whose index answers for all; false if there is none. */
static bool
find_model(const GpbGrouping *whole, GpbGrouping *query)
{
	RelOptInfo *model = gpb_model_partition(whole->root, whole->leaves);

	if (model != NULL)
		gpb_grouping_of_leaf(whole, model, query);
	return model != NULL;
}

bool
gpb_percentile_add_path(const GpbGrouping *whole)
{
	const GpbGrouping *query = whole;
	GpbGrouping model;
	CustomPath *best = NULL;
	List	   *others;
	List	   *percentiles;
	List	   *fractions;
	ListCell   *lc;

	if (!gpb_enable_percentile || whole->clauses != NIL || whole->having != NIL ||
		whole->root->parse->groupingSets != NIL)
		return false;
	part_aggrefs(whole->aggrefs, &others, &percentiles, &fractions);
	if (percentiles == NIL)
		return false;
	if (whole->leaves != NIL)
	{
		if (!find_model(whole, &model))
			return false;
		query = &model;
	}
	part_aggrefs(query->aggrefs, &others, &percentiles, &fractions);
	foreach(lc, query->rel->indexlist)
	{
		CustomPath *path = make_percentile_path(whole, query, lfirst_node(IndexOptInfo, lc),
												others, percentiles, fractions);

		if (path != NULL && (best == NULL || path->path.total_cost < best->path.total_cost))
			best = path;
	}
	if (best != NULL)
		add_path(whole->grouped_rel, (Path *) best);
	return best != NULL;
}

/* PlanCustomPath */
static Plan *
plan_percentile(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
				List *clauses, List *custom_plans)
{
	GpbPercentilePath *own = (GpbPercentilePath *) path;
	GpbPercentilePlan *plan = &own->plan;
	List	   *columns = list_concat_copy(own->aggrefs, gpb_key_vars(root, own->index));
	CustomScan *scan = gpb_make_node(&gpb_percentile_node, path, rel->relid, tlist, NIL,
									 custom_plans, columns);

	gpb_percentile_put(plan, scan);
	gpb_check_conditions(path, scan, plan->conditions, 1, 0);
	gpb_check_expressions(path, scan, plan->fractions, 1, 0);
	gpb_check_expressions(path, scan, tlist, 1, list_length(own->aggrefs));
	return &scan->scan.plan;
}
