/*-------------------------------------------------------------------------
 *
 * aggregate_path.c
 *	  Paths of GpubtreeAggregate, whatever their entries come from, and the plan node of one.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "exec/aggregate/aggregate_path.h"
#include "exec/price/core_paths.h"
#include "exec/shell/expressions.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/plan_check.h"
#include "exec/shell/settings.h"
#include "exec/where/arms.h"

static Plan *plan_aggregate(PlannerInfo *root, RelOptInfo *rel,
							CustomPath *path, List *tlist, List *clauses,
							List *custom_plans);

static Plan *plan_alike(PlannerInfo *root, RelOptInfo *rel,
						CustomPath *path, List *tlist, List *clauses,
						List *custom_plans);

static const CustomPathMethods aggregate_path_methods = {
	.CustomName = "GpubtreeAggregate",
	.PlanCustomPath = plan_aggregate
};

static const CustomPathMethods alike_path_methods = {
	.CustomName = "GpubtreeAggregate",
	.PlanCustomPath = plan_alike
};

/* ---- why not? ---- */

void
gpb_explain_aggregate_refusal(const char *refusal)
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

bool
gpb_constants_may_fail(const GpbAggregatePlan *plan)
{
	return gpb_may_fail((Node *) plan->program.constants) || gpb_arms_may_fail(plan->arms);
}

GpbAggregatePath *
gpb_make_aggregate_path(RelOptInfo *parent, PathTarget *target)
{
	return (GpbAggregatePath *) gpb_make_path(sizeof(GpbAggregatePath), &aggregate_path_methods,
											  parent, target);
}

CustomPath *
gpb_alike_aggregate_path(GpbAggregatePath *model, const GpbSibling *sibling,
						 const IndexOptInfo *index)
{
	return gpb_make_alike_path(&alike_path_methods, &model->path, &model->plans, sibling, index,
							   model->path.path.pathtarget);
}

const GpbAggregatePath *
gpb_aggregate_model(const CustomPath *leaf)
{
	if (leaf->methods == &alike_path_methods)
		leaf = ((const GpbAlikePath *) leaf)->model;
	return (const GpbAggregatePath *) leaf;
}

CustomPath *
gpb_copy_aggregate_path(const CustomPath *leaf)
{
	Size		size = leaf->methods == &alike_path_methods ? sizeof(GpbAlikePath) :
		sizeof(GpbAggregatePath);

	return memcpy(palloc(size), leaf, size);
}

void
gpb_offer_aggregate_path(RelOptInfo *grouped_rel, GpbAggregatePath *own)
{
	explain_price(grouped_rel, &own->path.path);
	add_path(grouped_rel, &own->path.path);
}

/* ---- plan ---- */

/*
 * The columns of the scan tuple: what the node computes, the key if there are conditions on it, or
 * nothing else, and, to show the filters and what aggregates depend on, the other columns in them.
 */
static List *
scan_columns(PlannerInfo *root, const GpbAggregatePath *own)
{
	const GpbAggregatePlan *plan = &own->plan;
	List	   *columns = list_copy(own->columns);
	int			i;

	if (columns == NIL || plan->conditions != NIL || plan->arrays != NIL || plan->arms != NIL ||
		plan->skips != NIL)
		columns = list_concat_unique(columns, gpb_key_vars(root, own->index));
	columns = list_concat_unique(columns,
								 pull_var_clause((Node *) plan->filters,
												 PVC_RECURSE_PLACEHOLDERS));
	for (i = 0; i < plan->nvalues; i++)
		columns = list_concat_unique(columns,
									 pull_var_clause((Node *) plan->values[i].value, 0));
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

/*
 * PlanCustomPath of a path that is alike another: all but columns has been found out, and tested,
 * for that.
 */
static Plan *
plan_alike(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		   List *custom_plans)
{
	const GpbAlikePath *alike = (GpbAlikePath *) path;

	if (alike->plans->model == NULL)
		alike->plans->model = (CustomScan *)
			plan_aggregate(root, alike->model->path.parent, alike->model, tlist, NIL, NIL);
	/* the target list is the state, which is of the same expression in all */
	return &gpb_sibling_plan(alike, 1, tlist, true)->scan.plan;
}
