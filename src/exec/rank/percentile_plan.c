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
percentile_price(PlannerInfo *root, IndexOptInfo *index, const GpbPercentilePlan *plan)
{
	double		entries = clamp_row_est(index->rel->rows);
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

/* The path for one index; NULL if it cannot do this query. */
static CustomPath *
make_percentile_path(PlannerInfo *root, PathTarget *target, IndexOptInfo *index, List *others,
					 List *percentiles, List *fractions)
{
	GpbPercentilePlan plan = {.index = index->indexoid, .fractions = fractions};
	GpbPercentilePath *own;
	CustomPath *path;
	ListCell   *lc;

	plan.nitems = list_length(others);
	plan.npercentiles = list_length(percentiles);
	plan.percentiles = palloc(sizeof(GpbPercentile) * plan.npercentiles);
	/* A rank among equal keys, -0 and 0 say, is none that a condition can say. */
	if (!gpb_match_ordered_column(root, index, &plan.column, &plan.conditions) ||
		!gpb_key_column_is_exact(index, plan.column) ||
		!gpb_match_batch_aggrefs(index, others, &plan.items))
		return NULL;
	plan.nulls = others != NIL && !gpb_key_column_is_not_null(root, index, plan.column);
	foreach(lc, percentiles)
	{
		if (!match_percentile(lfirst_node(Aggref, lc), index, plan.column,
							  &plan.percentiles[foreach_current_index(lc)]))
			return NULL;
	}

	path = gpb_make_path(sizeof(GpbPercentilePath), &percentile_path_methods, index->rel,
						 target);
	path->path.rows = 1;
	path->path.startup_cost = target->cost.startup + percentile_price(root, index, &plan);
	path->path.total_cost = path->path.startup_cost + target->cost.per_tuple;
	own = (GpbPercentilePath *) path;
	own->index = index;
	own->aggrefs = list_concat_copy(others, percentiles);
	own->plan = plan;
	return path;
}

bool
gpb_percentile_add_path(const GpbGrouping *query)
{
	CustomPath *best = NULL;
	List	   *others;
	List	   *percentiles;
	List	   *fractions;
	ListCell   *lc;

	if (!gpb_enable_percentile || query->clauses != NIL || query->having != NIL ||
		query->root->parse->groupingSets != NIL)
		return false;
	part_aggrefs(query->aggrefs, &others, &percentiles, &fractions);
	if (percentiles == NIL)
		return false;
	foreach(lc, query->rel->indexlist)
	{
		CustomPath *path = make_percentile_path(query->root, query->target,
												lfirst_node(IndexOptInfo, lc), others,
												percentiles, fractions);

		if (path != NULL && (best == NULL || path->path.total_cost < best->path.total_cost))
			best = path;
	}
	if (best != NULL)
		add_path(query->grouped_rel, (Path *) best);
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
	CustomScan *scan = gpb_make_node(&gpb_percentile_node, path, rel->relid, tlist, NIL, NIL,
									 columns);

	gpb_percentile_put(plan, scan);
	gpb_check_conditions(path, scan, plan->conditions, 1, 0);
	gpb_check_expressions(path, scan, plan->fractions, 1, 0);
	gpb_check_expressions(path, scan, tlist, 1, list_length(own->aggrefs));
	return &scan->scan.plan;
}
