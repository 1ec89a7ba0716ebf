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

#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/common/plan_check.h"
#include "exec/common/plan_rules.h"
#include "exec/common/settings.h"

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
	List	   *aggrefs;		/* of the items */
	GpbAggregatePlan plan;
} GpbAggregatePath;

/* ---- does an index hold what is asked for? ---- */

/*
 * Match the whole query to one index: every restriction must be a range of its key, or an array of
 * keys, or be implied by its predicate (those are not in indrestrictinfo), and every aggregate must
 * be over its columns.
 */
static bool
match_index(PlannerInfo *root, IndexOptInfo *index, List *aggrefs, GpbAggregatePlan *plan)
{
	ListCell   *lc;

	if (!gpb_index_is_usable(index))
		return false;

	memset(plan, 0, sizeof(*plan));
	plan->index = index->indexoid;
	foreach(lc, index->indrestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Expr	   *condition = gpb_match_condition(root, rinfo, index);
		Expr	   *array = NULL;

		if (condition == NULL)
			array = gpb_match_array_condition(root, rinfo, index);
		if (condition != NULL)
			plan->conditions = lappend(plan->conditions, condition);
		else if (array != NULL)
			plan->arrays = lappend(plan->arrays, array);
		else
			return false;
	}

	plan->nitems = list_length(aggrefs);
	if (plan->arrays != NIL)
		return gpb_match_batch_aggrefs(index, aggrefs, &plan->items);
	plan->items = palloc(sizeof(GpbAggregateItem) * plan->nitems);
	foreach(lc, aggrefs)
	{
		if (!gpb_match_aggref(lfirst_node(Aggref, lc), index,
							  &plan->items[foreach_current_index(lc)]))
			return false;
	}
	return true;
}

/* ---- price ---- */

/*
 * A range whose bounds are parameters of a generic plan is priced as if it had no more entries, but
 * for one in a subquery, whose price is compared with that of batches of ranges.
 *
 * Of such a range core expects a part of the whole table.  Generic plans are compared with the mean
 * of custom ones, and would be too dear wherever the ranges asked for are smaller than that: then
 * each execution is planned anew, which takes as long as aggregating 10,000 entries.  Planning
 * would find nothing better, since the engine is chosen when the bounds are known.
 */
#define GPB_UNKNOWN_ENTRIES		100.0

/*
 * A range whose bounds come from the rows of an outer query is answered for each of them.  Batches
 * of ranges do that better, though core's guesses of the ranges make it look dearer; so this node
 * is charged so many times as much to begin.
 */
#define GPB_EACH_ROW_SETUP		100.0

/* expression_tree_walker: is there a parameter of the kind *context, whose value is not known? */
static bool
has_parameter(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == *(ParamKind *) context)
		return true;
	return expression_tree_walker(node, has_parameter, context);
}

/* The number of entries that the price of the range is for */
static double
priced_entries(PlannerInfo *root, IndexOptInfo *index, const GpbAggregatePlan *plan)
{
	double		entries = clamp_row_est(index->rel->rows);
	ParamKind	kind = PARAM_EXTERN;

	if (root->parent_root == NULL && entries > GPB_UNKNOWN_ENTRIES &&
		has_parameter((Node *) plan->conditions, &kind))
		return GPB_UNKNOWN_ENTRIES;
	return entries;
}

/*
 * The price of executing the plan node.  setup_cost is charged whatever the engine, so that plans
 * do not depend on it for small queries.
 */
static Cost
aggregate_cost(PlannerInfo *root, IndexOptInfo *index, const GpbAggregatePlan *plan)
{
	ParamKind	kind = PARAM_EXEC;
	QualCost	bounds;
	Cost		cost;

	cost_qual_eval(&bounds, plan->conditions, root);
	cost = bounds.startup + bounds.per_tuple;
	if (plan->arrays != NIL)
		return cost + gpb_array_cost(root, index, plan->arrays, plan->items, plan->nitems);
	if (has_parameter((Node *) plan->conditions, &kind))
		cost += gpb_setup_cost * (GPB_EACH_ROW_SETUP - 1.0);
	return cost + (gpb_setup_cost +
				   gpb_count_cost(root, index, priced_entries(root, index, plan), false));
}

/* ---- path and plan ---- */

/*
 * The path for one index; NULL if the index cannot answer the query.  Its parent is the table, not
 * the grouping relation: EXPLAIN can then name the table's columns, and all of the table's
 * restrictions are ours anyway.
 */
static CustomPath *
make_aggregate_path(PlannerInfo *root, RelOptInfo *grouped_rel, IndexOptInfo *index,
					List *aggrefs)
{
	PathTarget *target = grouped_rel->reltarget;
	GpbAggregatePlan plan;
	GpbAggregatePath *own;
	CustomPath *path;

	if (!match_index(root, index, aggrefs, &plan))
		return NULL;
	path = gpb_make_path(sizeof(GpbAggregatePath), &aggregate_path_methods, index->rel, target);
	path->path.rows = 1;
	path->path.startup_cost = aggregate_cost(root, index, &plan) + target->cost.startup;
	path->path.total_cost = path->path.startup_cost + target->cost.per_tuple;
	own = (GpbAggregatePath *) path;
	own->index = index;
	own->aggrefs = aggrefs;
	own->plan = plan;
	return path;
}

/* Only the cheapest index is offered. */
void
gpb_aggregate_add_path(PlannerInfo *root, RelOptInfo *input_rel,
					   RelOptInfo *grouped_rel)
{
	CustomPath *best = NULL;
	List	   *aggrefs;
	ListCell   *lc;

	if (!gpb_enable_aggregate || !gpb_query_is_plain(root) ||
		!gpb_rel_is_plain(root, input_rel) ||
		!gpb_collect_aggrefs(grouped_rel->reltarget, &aggrefs))
		return;

	foreach(lc, input_rel->indexlist)
	{
		CustomPath *path = make_aggregate_path(root, grouped_rel,
											   lfirst_node(IndexOptInfo, lc), aggrefs);

		if (path != NULL && (best == NULL || path->path.total_cost < best->path.total_cost))
			best = path;
	}
	if (best != NULL)
		add_path(grouped_rel, (Path *) best);
}

/* PlanCustomPath */
static Plan *
plan_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
			   List *tlist, List *clauses, List *custom_plans)
{
	GpbAggregatePath *own = (GpbAggregatePath *) path;
	GpbAggregatePlan *plan = &own->plan;
	List	   *columns = lappend(list_copy(own->aggrefs), gpb_key_var(root, own->index));
	CustomScan *scan = gpb_make_node(&gpb_aggregate_node, path, rel->relid, tlist, NIL, NIL,
									 columns);

	gpb_aggregate_put(plan, scan);
	gpb_check_conditions(path, scan, plan->conditions, 1, 0);
	gpb_check_conditions(path, scan, plan->arrays, 1, 0);
	gpb_check_expressions(path, scan, tlist, 1, plan->nitems);
	return &scan->scan.plan;
}
