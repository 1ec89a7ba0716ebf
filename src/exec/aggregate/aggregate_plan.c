/*-------------------------------------------------------------------------
 *
 * aggregate_plan.c
 *	  Planning of range aggregates: which queries, at what price.
 *
 * An ungrouped aggregate over one table becomes a CustomPath if one gpubtree index
 * holds every aggregated column and its key range is all that the query
 * restricts (rule M10).  Whatever does not fit is left to the ordinary plans.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/lsyscache.h"

#include "index/index.h"
#include "exec/aggregate/aggregate_node.h"
#include "exec/common/key_conditions.h"
#include "exec/common/plan_check.h"
#include "exec/common/plan_rules.h"
#include "engine/range_totals.h"

static Plan *gpb_plan_aggregate(PlannerInfo *root, RelOptInfo *rel,
								CustomPath *path, List *tlist, List *clauses,
								List *custom_plans);

static const CustomPathMethods gpb_aggregate_path_methods = {
	.CustomName = "GpubtreeAggregate",
	.PlanCustomPath = gpb_plan_aggregate
};

/* Core's aggregates that we know, by the type of their argument */
static const struct
{
	Oid			aggregate;
	GpbAggregateFunction function;
	Oid			type;
}			gpb_aggregates[] = {
	{F_SUM_INT2, GPB_SUM, INT2OID},
	{F_SUM_INT4, GPB_SUM, INT4OID},
	{F_SUM_INT8, GPB_SUM, INT8OID},
	{F_SUM_FLOAT8, GPB_SUM, FLOAT8OID},
	{F_AVG_INT2, GPB_AVG, INT2OID},
	{F_AVG_INT4, GPB_AVG, INT4OID},
	{F_AVG_INT8, GPB_AVG, INT8OID},
	{F_AVG_FLOAT8, GPB_AVG, FLOAT8OID},
	{F_MIN_INT2, GPB_MIN, INT2OID},
	{F_MIN_INT4, GPB_MIN, INT4OID},
	{F_MIN_INT8, GPB_MIN, INT8OID},
	{F_MIN_FLOAT8, GPB_MIN, FLOAT8OID},
	{F_MIN_DATE, GPB_MIN, DATEOID},
	{F_MIN_TIMESTAMP, GPB_MIN, TIMESTAMPOID},
	{F_MIN_TIMESTAMPTZ, GPB_MIN, TIMESTAMPTZOID},
	{F_MAX_INT2, GPB_MAX, INT2OID},
	{F_MAX_INT4, GPB_MAX, INT4OID},
	{F_MAX_INT8, GPB_MAX, INT8OID},
	{F_MAX_FLOAT8, GPB_MAX, FLOAT8OID},
	{F_MAX_DATE, GPB_MAX, DATEOID},
	{F_MAX_TIMESTAMP, GPB_MAX, TIMESTAMPOID},
	{F_MAX_TIMESTAMPTZ, GPB_MAX, TIMESTAMPTZOID},
};

/* One way to answer the query: an index, with its conditions and aggregates */
typedef struct GpbCandidate
{
	IndexOptInfo *index;
	List	   *conditions;		/* normalized clauses, key on the left */
	List	   *arrays;			/* those with an array, "key = ANY (array)" */
	int			nitems;
	GpbAggregateItem *items;	/* one for each Aggref */
	Cost		startup_cost;
	Cost		total_cost;
} GpbCandidate;

/* ---- is the query of our kind? ---- */

bool
gpb_query_is_one_row(PlannerInfo *root)
{
	Query	   *parse = root->parse;

	return parse->commandType == CMD_SELECT && parse->hasAggs &&
		parse->groupClause == NIL && parse->groupingSets == NIL &&
		!parse->hasWindowFuncs && !parse->hasTargetSRFs && gpb_query_allows_nodes(root);
}

bool
gpb_query_is_plain(PlannerInfo *root)
{
	return root->parse->havingQual == NULL && gpb_query_is_one_row(root);
}

bool
gpb_collect_aggrefs(PathTarget *target, List **aggrefs)
{
	List	   *nodes;
	ListCell   *lc;

	*aggrefs = NIL;
	nodes = pull_var_clause((Node *) target->exprs,
							PVC_INCLUDE_AGGREGATES | PVC_INCLUDE_PLACEHOLDERS);
	foreach(lc, nodes)
	{
		if (!IsA(lfirst(lc), Aggref))
			return false;
		*aggrefs = list_append_unique(*aggrefs, lfirst(lc));
	}
	return *aggrefs != NIL;
}

/* ---- does an index hold what is asked for? ---- */

/* Steps over relabelings (a domain shown as its base type). */
Var *
gpb_argument_var(Expr *argument, Index relid)
{
	Var		   *var;

	while (IsA(argument, RelabelType))
		argument = ((RelabelType *) argument)->arg;
	if (!IsA(argument, Var))
		return NULL;
	var = (Var *) argument;
	if (var->varno != relid || var->varlevelsup != 0 || var->varattno <= 0)
		return NULL;
	return var;
}

bool
gpb_match_aggref(Aggref *aggref, IndexOptInfo *index, GpbAggregateItem *item)
{
	Expr	   *argument;
	Var		   *var;
	int			i;

	if (aggref->aggkind != AGGKIND_NORMAL || aggref->agglevelsup != 0 ||
		aggref->aggsplit != AGGSPLIT_SIMPLE ||
		aggref->aggdirectargs != NIL || aggref->aggorder != NIL ||
		aggref->aggdistinct != NIL || aggref->aggfilter != NULL)
		return false;

	item->aggregate = aggref->aggfnoid;
	item->column = 0;
	item->type = InvalidOid;
	item->function = GPB_COUNT_ENTRIES;
	if (aggref->aggfnoid == F_COUNT_)
		return true;

	if (list_length(aggref->args) != 1)
		return false;
	argument = linitial_node(TargetEntry, aggref->args)->expr;

	/* count(1) is count(*) */
	if (aggref->aggfnoid == F_COUNT_ANY && IsA(argument, Const))
		return !((Const *) argument)->constisnull;

	var = gpb_argument_var(argument, index->rel->relid);
	if (var == NULL)
		return false;
	item->column = gpb_index_column(index, var->varattno);
	if (item->column < 0)
		return false;
	if (aggref->aggfnoid == F_COUNT_ANY)
	{
		item->function = GPB_COUNT_VALUES;
		return true;
	}
	for (i = 0; i < lengthof(gpb_aggregates); i++)
	{
		if (gpb_aggregates[i].aggregate != aggref->aggfnoid)
			continue;
		item->function = gpb_aggregates[i].function;
		item->type = gpb_aggregates[i].type;
		return getBaseType(var->vartype) == item->type;
	}
	return false;
}

/*
 * Match the whole query to one index: every restriction must be a range of its key, or an array of keys,
 * or be implied by its predicate (those are not in indrestrictinfo), and
 * every aggregate must be over its columns.
 */
static bool
gpb_match_index(PlannerInfo *root, IndexOptInfo *index, List *aggrefs,
				GpbCandidate *candidate)
{
	ListCell   *lc;
	int			n = 0;

	if (!gpb_index_is_usable(index))
		return false;

	candidate->index = index;
	candidate->conditions = candidate->arrays = NIL;
	foreach(lc, index->indrestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Expr	   *condition = gpb_match_condition(root, rinfo, index);
		Expr	   *array = condition == NULL ? gpb_match_array_condition(root, rinfo, index) : NULL;

		if (condition != NULL)
			candidate->conditions = lappend(candidate->conditions, condition);
		else if (array != NULL)
			candidate->arrays = lappend(candidate->arrays, array);
		else
			return false;
	}

	candidate->nitems = list_length(aggrefs);
	if (candidate->arrays != NIL)
		return gpb_match_range_aggrefs(index, aggrefs, &candidate->items);
	candidate->items = palloc(sizeof(GpbAggregateItem) * list_length(aggrefs));
	foreach(lc, aggrefs)
	{
		if (!gpb_match_aggref(lfirst_node(Aggref, lc), index,
							  &candidate->items[n++]))
			return false;
	}
	return true;
}

/* ---- price ---- */

/*
 * Price of a candidate.  setup_cost is charged whatever the engine, so that plans do not depend on it for small
 * queries; a batch of keys is set up for less, and goes to a device only if that pays.
 */
static void
gpb_cost_candidate(PlannerInfo *root, GpbCandidate *candidate, PathTarget *target)
{
	IndexOptInfo *index = candidate->index;
	Cost		cost;
	QualCost	bounds;

	cost_qual_eval(&bounds, candidate->conditions, root);
	cost = bounds.startup + bounds.per_tuple;
	if (candidate->arrays != NIL)
		cost += gpb_array_cost(root, index, candidate->arrays, candidate->items,
							   candidate->nitems);
	else
		cost += gpb_setup_cost + gpb_count_cost(root, index, clamp_row_est(index->rel->rows), false);

	candidate->startup_cost = cost + target->cost.startup;
	candidate->total_cost = candidate->startup_cost + target->cost.per_tuple;
}

/* ---- path and plan ---- */

/*
 * The path's parent is the table, not the grouping relation: EXPLAIN can then name the
 * table's columns, and all of its restrictions are ours anyway.
 */
static CustomPath *
gpb_make_path(PlannerInfo *root, RelOptInfo *grouped_rel, List *aggrefs,
			  const GpbCandidate *candidate)
{
	CustomPath *path = makeNode(CustomPath);

	path->path.pathtype = T_CustomScan;
	path->path.parent = candidate->index->rel;
	path->path.pathtarget = grouped_rel->reltarget;
	path->path.parallel_safe = false;
	path->path.rows = 1;
	path->path.startup_cost = candidate->startup_cost;
	path->path.total_cost = candidate->total_cost;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &gpb_aggregate_path_methods;
	path->custom_private =
		list_make4(aggrefs,
				   gpb_key_var(root, candidate->index),
				   list_make2(candidate->conditions, candidate->arrays),
				   gpb_aggregate_private(candidate->index->indexoid,
										 candidate->items,
										 list_length(aggrefs)));
	return path;
}

/*
 * Offer the cheapest way to answer an aggregate query from one gpubtree index,
 * if there is any.
 */
void
gpb_aggregate_add_path(PlannerInfo *root, RelOptInfo *input_rel,
					   RelOptInfo *grouped_rel)
{
	GpbCandidate best = {0};
	List	   *aggrefs;
	ListCell   *lc;

	if (!gpb_enable_aggregate || !gpb_query_is_plain(root) ||
		!gpb_rel_is_plain(root, input_rel) ||
		!gpb_collect_aggrefs(grouped_rel->reltarget, &aggrefs))
		return;

	foreach(lc, input_rel->indexlist)
	{
		GpbCandidate candidate;

		if (!gpb_match_index(root, lfirst_node(IndexOptInfo, lc), aggrefs,
							 &candidate))
			continue;
		gpb_cost_candidate(root, &candidate, grouped_rel->reltarget);
		if (best.index == NULL || candidate.total_cost < best.total_cost)
			best = candidate;
	}
	if (best.index != NULL)
		add_path(grouped_rel,
				 (Path *) gpb_make_path(root, grouped_rel, aggrefs, &best));
}

/* PlanCustomPath; see aggregate_node.h for what is where. */
static Plan *
gpb_plan_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
				   List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	List	   *columns = list_copy(linitial_node(List, path->custom_private));
	List	   *scan_tlist = NIL;
	ListCell   *lc;

	columns = lappend(columns, lsecond(path->custom_private));
	foreach(lc, columns)
		scan_tlist = lappend(scan_tlist,
							 makeTargetEntry(lfirst(lc),
											 list_length(scan_tlist) + 1,
											 NULL, false));

	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = rel->relid;
	scan->flags = path->flags;
	scan->custom_scan_tlist = scan_tlist;
	scan->custom_exprs = lthird(path->custom_private);
	scan->custom_private = lfourth(path->custom_private);
	scan->methods = &gpb_aggregate_scan_methods;
	gpb_check_conditions(path, scan, linitial(scan->custom_exprs), 1, 0);
	gpb_check_conditions(path, scan, lsecond(scan->custom_exprs), 1, 0);
	gpb_check_expressions(path, scan, tlist, 1, list_length(columns) - 1);
	return &scan->scan.plan;
}

/* ---- what travels in custom_private ---- */

/*
 * A list of the index's OID, the items' (function, column) pairs, and their (argument type, aggregate)
 * pairs: integers and OIDs only, so that plans can be copied.
 */
List *
gpb_aggregate_private(Oid index, const GpbAggregateItem *items, int n)
{
	List	   *functions = NIL;
	List	   *types = NIL;
	int			i;

	for (i = 0; i < n; i++)
	{
		functions = lappend_int(functions, items[i].function);
		functions = lappend_int(functions, items[i].column);
		types = lappend_oid(types, items[i].type);
		types = lappend_oid(types, items[i].aggregate);
	}
	return list_make3(list_make1_oid(index), functions, types);
}

Oid
gpb_aggregate_private_index(List *private)
{
	return linitial_oid(linitial(private));
}

/* Number of items, which are palloc'd. */
int
gpb_aggregate_private_items(List *private, GpbAggregateItem **items)
{
	List	   *functions = lsecond(private);
	List	   *types = lthird(private);
	int			n = list_length(types) / 2;
	int			i;

	*items = palloc(sizeof(GpbAggregateItem) * n);
	for (i = 0; i < n; i++)
	{
		(*items)[i].function = list_nth_int(functions, 2 * i);
		(*items)[i].column = list_nth_int(functions, 2 * i + 1);
		(*items)[i].type = list_nth_oid(types, 2 * i);
		(*items)[i].aggregate = list_nth_oid(types, 2 * i + 1);
	}
	return n;
}
