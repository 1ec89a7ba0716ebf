/*-------------------------------------------------------------------------
 *
 * percentile_plan.c
 *	  Planning of percentile_disc: which queries, at what price.
 *
 * An ungrouped aggregate over one table, like those of aggregate_plan.c, with at least one percentile_disc over the key of a gpubtree
 * index.  Core would read and sort all of the keys; here they are in order, and the rank is found by counting.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "catalog/pg_aggregate.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "index/index.h"
#include "exec/common/key_conditions.h"
#include "exec/common/plan_check.h"
#include "exec/common/plan_rules.h"
#include "engine/range_totals.h"
#include "exec/rank/rank_find.h"

static Plan *gpb_plan_percentile(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
								 List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods gpb_percentile_path_methods = {
	.CustomName = "GpubtreePercentile",
	.PlanCustomPath = gpb_plan_percentile
};

static bool
gpb_is_percentile(const Aggref *aggref)
{
	return aggref->aggfnoid == F_PERCENTILE_DISC_FLOAT8_ANYELEMENT ||
		aggref->aggfnoid == F_PERCENTILE_DISC__FLOAT8_ANYELEMENT;
}

/* Part the aggregates of a query; the fractions of the percentiles go to a list of their own. */
static void
gpb_part_aggrefs(List *aggrefs, List **others, List **percentiles, List **fractions)
{
	ListCell   *lc;

	*others = *percentiles = *fractions = NIL;
	foreach(lc, aggrefs)
	{
		Aggref	   *aggref = lfirst_node(Aggref, lc);

		if (!gpb_is_percentile(aggref))
			*others = lappend(*others, aggref);
		else
		{
			*percentiles = lappend(*percentiles, aggref);
			*fractions = lappend(*fractions, linitial(aggref->aggdirectargs));
		}
	}
}

/* Can the index answer this percentile_disc?  Fills *percentile if so. */
static bool
gpb_match_percentile(Aggref *aggref, IndexOptInfo *index, GpbPercentile *percentile)
{
	Node	   *fraction = (Node *) linitial(aggref->aggdirectargs);
	Expr	   *argument = linitial_node(TargetEntry, aggref->args)->expr;
	Var		   *var = gpb_argument_var(argument, index->rel->relid);
	int			strategy;

	if (aggref->agglevelsup != 0 || aggref->aggsplit != AGGSPLIT_SIMPLE ||
		aggref->aggfilter != NULL || contain_volatile_functions(fraction) ||
		contain_subplans(fraction) || contain_var_clause(fraction) ||
		var == NULL || gpb_index_column(index, var->varattno) != 0)
		return false;
	strategy = get_op_opfamily_strategy(linitial_node(SortGroupClause, aggref->aggorder)->sortop,
										index->opfamily[0]);
	if (strategy != BTLessStrategyNumber && strategy != BTGreaterStrategyNumber)
		return false;
	percentile->many = aggref->aggfnoid == F_PERCENTILE_DISC__FLOAT8_ANYELEMENT;
	percentile->descending = strategy == BTGreaterStrategyNumber;
	percentile->type = exprType((Node *) argument);
	return true;
}

/*
 * Price: the rank, found in all entries, whose parts all percentiles share, and the other aggregates but the number of rows, for
 * which entries are read once for each column.  An array of fractions may have a rank in every part: then all are read again.
 */
static Cost
gpb_percentile_cost(PlannerInfo *root, IndexOptInfo *index, List *conditions,
					const GpbAggregateItem *items, int nitems, bool many)
{
	double		entries = clamp_row_est(index->rel->rows);
	Cost		cost = gpb_rank_cost(root, index, entries, false);
	QualCost	bounds;
	bool		seen[GPB_MAX_COLUMNS] = {false};
	int			i;

	cost_qual_eval(&bounds, conditions, root);
	cost += bounds.startup + bounds.per_tuple;
	if (many)
		cost += gpb_count_cost(root, index, entries, false);
	for (i = 0; i < nitems; i++)
	{
		if (!seen[items[i].column] && !gpb_item_counts_rows(&items[i]))
			cost += gpb_count_cost(root, index, entries, false);
		seen[items[i].column] |= !gpb_item_counts_rows(&items[i]);
	}
	return cost;
}

/* The path for one index; NULL if it cannot do this query. */
static CustomPath *
gpb_make_percentile_path(PlannerInfo *root, RelOptInfo *grouped_rel, IndexOptInfo *index,
						 List *others, List *percentiles, List *fractions)
{
	GpbPercentile *parsed = palloc(sizeof(GpbPercentile) * list_length(percentiles));
	PathTarget *target = grouped_rel->reltarget;
	GpbAggregateItem *items;
	List	   *conditions;
	CustomPath *path;
	bool		many = false;
	ListCell   *lc;

	if (!gpb_index_is_usable(index) || !gpb_match_conditions(root, index, &conditions) ||
		!gpb_match_range_aggrefs(index, others, &items))
		return NULL;
	/* rows with a NULL key count for the others alone, and batches leave them out */
	if (others != NIL && !gpb_key_is_not_null(root, index))
		return NULL;
	foreach(lc, percentiles)
	{
		if (!gpb_match_percentile(lfirst_node(Aggref, lc), index,
								  &parsed[foreach_current_index(lc)]))
			return NULL;
		many |= parsed[foreach_current_index(lc)].many;
	}

	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = index->rel;
	path->path.pathtarget = target;
	path->path.parallel_safe = false;
	path->path.rows = 1;
	path->path.startup_cost = target->cost.startup +
		gpb_percentile_cost(root, index, conditions, items, list_length(others),
							many);
	path->path.total_cost = path->path.startup_cost + target->cost.per_tuple;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &gpb_percentile_path_methods;
	path->custom_private =
		list_make4(list_concat_copy(others, percentiles), gpb_key_var(root, index),
				   list_make2(conditions, fractions),
				   list_make2(gpb_aggregate_private(index->indexoid, items, list_length(others)),
							  gpb_percentile_private(parsed, list_length(percentiles))));
	return path;
}

void
gpb_percentile_add_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel)
{
	CustomPath *best = NULL;
	List	   *aggrefs;
	List	   *others;
	List	   *percentiles;
	List	   *fractions;
	ListCell   *lc;

	if (!gpb_enable_percentile || !gpb_query_is_plain(root) || !gpb_rel_is_plain(root, input_rel) ||
		!gpb_collect_aggrefs(grouped_rel->reltarget, &aggrefs))
		return;
	gpb_part_aggrefs(aggrefs, &others, &percentiles, &fractions);
	if (percentiles == NIL)
		return;
	foreach(lc, input_rel->indexlist)
	{
		CustomPath *path = gpb_make_percentile_path(root, grouped_rel,
													lfirst_node(IndexOptInfo, lc), others,
													percentiles, fractions);

		if (path != NULL && (best == NULL || path->path.total_cost < best->path.total_cost))
			best = path;
	}
	if (best != NULL)
		add_path(grouped_rel, (Path *) best);
}

/* PlanCustomPath; see rank_find.h for what is where. */
static Plan *
gpb_plan_percentile(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
					List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *columns = lappend(list_copy(linitial_node(List, path->custom_private)),
								  lsecond(path->custom_private));
	List	   *scan_tlist = NIL;
	ListCell   *lc;

	foreach(lc, columns)
		scan_tlist = lappend(scan_tlist,
							 makeTargetEntry(lfirst(lc), list_length(scan_tlist) + 1,
											 NULL, false));
	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = rel->relid;
	scan->flags = path->flags;
	scan->custom_scan_tlist = scan_tlist;
	scan->custom_exprs = lthird(path->custom_private);
	scan->custom_private = lfourth(path->custom_private);
	scan->methods = &gpb_percentile_scan_methods;
	gpb_check_conditions(path, scan, linitial(scan->custom_exprs), 1, 0);
	gpb_check_expressions(path, scan, lsecond(scan->custom_exprs), 1, 0);
	gpb_check_expressions(path, scan, tlist, 1, list_length(columns) - 1);
	return &scan->scan.plan;
}

/* ---- what travels in custom_private ---- */

/* A list of flags and one of types, so that plans can be copied. */
List *
gpb_percentile_private(const GpbPercentile *percentiles, int n)
{
	List	   *flags = NIL;
	List	   *types = NIL;
	int			i;

	for (i = 0; i < n; i++)
	{
		flags = lappend_int(flags, percentiles[i].many);
		flags = lappend_int(flags, percentiles[i].descending);
		types = lappend_oid(types, percentiles[i].type);
	}
	return list_make2(flags, types);
}

int
gpb_percentile_read_private(List *private, GpbPercentile **percentiles)
{
	List	   *flags = linitial(private);
	List	   *types = lsecond(private);
	int			n = list_length(types);
	int			i;

	*percentiles = palloc(sizeof(GpbPercentile) * n);
	for (i = 0; i < n; i++)
	{
		(*percentiles)[i].many = list_nth_int(flags, 2 * i);
		(*percentiles)[i].descending = list_nth_int(flags, 2 * i + 1);
		(*percentiles)[i].type = list_nth_oid(types, i);
	}
	return n;
}
