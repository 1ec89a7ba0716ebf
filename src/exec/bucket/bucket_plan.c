/*-------------------------------------------------------------------------
 *
 * bucket_plan.c
 *	  Planning of aggregates by buckets of a key: the path and the plan node.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "nodes/makefuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "exec/answer/ordinary.h"
#include "exec/bucket/bucket_path.h"
#include "exec/price/core_paths.h"
#include "exec/shell/expressions.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/plan_check.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"

static Plan *plan_bucket_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
								   List *tlist, List *clauses, List *custom_plans);

static Plan *plan_alike(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
						List *clauses, List *custom_plans);

static const CustomPathMethods bucket_aggregate_path_methods = {
	.CustomName = "GpubtreeBucketAggregate",
	.PlanCustomPath = plan_bucket_aggregate
};

static const CustomPathMethods alike_path_methods = {
	.CustomName = "GpubtreeBucketAggregate",
	.PlanCustomPath = plan_alike
};

/* ---- path ---- */

/*
 * The order of the groups, if the query can use it: that of the index or its reverse, since the
 * function rises with the key.  Groups by more than the bucket come in any order, and so do the
 * rows of a child.
 */
static List *
bucket_pathkeys(PlannerInfo *root, const GpbBucketMatch *match, bool *backward)
{
	IndexOptInfo *index = match->index;
	int			column = match->plan.column;
	PathKey    *pathkey;
	bool		descends;

	*backward = false;
	if (match->needs_child || list_length(root->group_pathkeys) != 1)
		return NIL;
	pathkey = linitial_node(PathKey, root->group_pathkeys);
	descends = gpb_pathkey_descends(pathkey) != index->reverse_sort[column];
	if (pathkey->pk_nulls_first != (index->nulls_first[column] != descends) &&
		!gpb_key_column_is_not_null(root, index, column))
		return NIL;
	*backward = descends;
	return root->group_pathkeys;
}

GpbBucketPath *
gpb_make_bucket_path(RelOptInfo *parent, PathTarget *target)
{
	return (GpbBucketPath *) gpb_make_path(sizeof(GpbBucketPath), &bucket_aggregate_path_methods,
										   parent, target);
}

CustomPath *
gpb_alike_bucket_path(GpbBucketPath *model, const GpbSibling *sibling, const IndexOptInfo *index)
{
	return gpb_make_alike_path(&alike_path_methods, &model->path, &model->plans, sibling, index,
							   model->path.path.pathtarget);
}

/*
 * Have the path return rows of the query.  Returns false if it would need an ordinary plan, and
 * there is none.
 */
static bool
want_rows(const GpbGrouping *query, const GpbBucketMatch *match, GpbBucketPath *own)
{
	if (match->needs_child &&
		!gpb_add_ordinary_path(query->root, query->grouped_rel, &own->path,
							   gpb_may_fail((Node *) match->plan.program.constants)))
		return false;
	own->path.path.pathkeys = bucket_pathkeys(query->root, match, &own->plan.backward);
	own->columns = list_concat(lappend(list_copy(query->aggrefs), match->bucket), match->groups);
	own->columns = gpb_grouping_as_said(query, own->columns);
	own->having = query->having;
	return true;
}

/* Have the path return states.  Returns false if the node might not have all of them. */
static bool
want_states(const GpbBucketMatch *match, const GpbBucketWish *wish, GpbBucketPath *own)
{
	if (match->needs_child || match->groups != NIL)
		return false;
	own->plan.returns_states = true;
	own->plan.backward = wish->descends != match->index->reverse_sort[match->plan.column];
	own->columns = list_copy(wish->columns);
	return true;
}

/*
 * The path for a match; NULL if there is none.  Its parent is the table, so that EXPLAIN can name
 * the table's columns.
 */
static GpbBucketPath *
make_bucket_path(const GpbGrouping *query, const GpbBucketWish *wish, const GpbBucketMatch *match,
				 const GpbBucketCounts *counts)
{
	GpbBucketPath *own = gpb_make_bucket_path(query->rel, query->target);

	own->plan = match->plan;
	own->index = match->index;
	own->groups = counts->groups;
	if (wish != NULL ? !want_states(match, wish, own) : !want_rows(query, match, own))
		return NULL;
	gpb_bucket_price(query, match, counts, &own->path.path);
	return own;
}

/* The path for one index, which is usable; NULL if it cannot answer, or better not. */
static GpbBucketPath *
index_path(const GpbGrouping *query, const GpbBucketWish *wish, IndexOptInfo *index)
{
	GpbBucketMatch match;
	GpbBucketCounts counts;

	if (!gpb_grouping_may_match(query, index) || !gpb_bucket_match_index(query, index, &match))
		return NULL;
	counts = gpb_bucket_count(query, &match);
	if (index->nkeycolumns > 1 && gpb_enable_aggregate && gpb_bucket_is_sparse(&match, &counts))
		return NULL;
	if (!gpb_bucket_groups_fit(&match, &counts))
		return NULL;
	return make_bucket_path(query, wish, &match, &counts);
}

/* A path in the order asked for may be worth more than it costs. */
GpbBucketPath *
gpb_best_bucket_path(const GpbGrouping *query, const GpbBucketWish *wish)
{
	GpbBucketPath *best = NULL;
	ListCell   *lc;

	foreach(lc, query->rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		GpbBucketPath *own;

		if (!gpb_index_is_usable(index))
			continue;
		own = index_path(query, wish, index);
		if (own != NULL &&
			(best == NULL || own->path.path.total_cost < best->path.path.total_cost ||
			 (best->path.path.pathkeys == NIL && own->path.path.pathkeys != NIL)))
			best = own;
	}
	return best;
}

bool
gpb_offer_bucket_path(const GpbGrouping *query, GpbBucketPath *own)
{
	if (gpb_hashing_is_cheaper(query->root, query->grouped_rel, own->path.path.total_cost,
							   list_length(query->groups), own->groups))
		return false;
	add_path(query->grouped_rel, (Path *) own);
	return true;
}

bool
gpb_bucket_aggregate_add_path(const GpbGrouping *query)
{
	GpbBucketPath *own;

	if (!gpb_enable_bucketaggregate || !gpb_bucket_may_answer(query))
		return false;
	own = gpb_best_bucket_path(query, NULL);
	return own != NULL && gpb_offer_bucket_path(query, own);
}

/* ---- plan ---- */

/*
 * The columns of the scan tuple: what the node computes, the key's and, to show the filters, the
 * other columns in them.  A node that merges has no key.
 */
static List *
scan_columns(PlannerInfo *root, const GpbBucketPath *own)
{
	List	   *columns = list_copy(own->columns);

	if (own->plan.merges)
		return columns;
	columns = list_concat_unique(columns, gpb_key_vars(root, own->index));
	return list_concat_unique(columns,
							  pull_var_clause((Node *) own->plan.filters,
											  PVC_RECURSE_PLACEHOLDERS));
}

/*
 * PlanCustomPath.  HAVING is the qual of the plan node, but not where there are filters too, or a
 * child, whose rows have passed it.
 */
static Plan *
plan_bucket_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
					  List *tlist, List *clauses, List *custom_plans)
{
	GpbBucketPath *own = (GpbBucketPath *) path;
	GpbBucketPlan *plan = &own->plan;
	CustomScan *scan = gpb_make_node(&gpb_bucket_aggregate_node, path, rel->relid, tlist,
									 plan->has_program || plan->merges ? NIL : own->having,
									 custom_plans,
									 scan_columns(root, own));

	gpb_bucket_put(plan, scan);
	gpb_check_conditions(path, scan, plan->conditions, 1, 0);
	gpb_check_expressions(path, scan, plan->arguments, 1, 0);
	gpb_check_expressions(path, scan, plan->program.constants, 1, 0);
	gpb_check_expressions(path, scan, list_concat_copy(tlist, own->having), 1,
						  list_length(own->columns));
	return &scan->scan.plan;
}

/* The plan of a model, in no plan, as if it were that leaf's */
static const CustomScan *
model_plan(PlannerInfo *root, GpbBucketPath *model)
{
	List	   *tlist = NIL;
	ListCell   *lc;

	foreach(lc, model->columns)
		tlist = lappend(tlist, makeTargetEntry(lfirst(lc), foreach_current_index(lc) + 1, NULL,
											   false));
	return (CustomScan *) plan_bucket_aggregate(root, model->path.path.parent, &model->path,
												tlist, NIL, NIL);
}

/* PlanCustomPath of a path that is alike another */
static Plan *
plan_alike(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		   List *custom_plans)
{
	const GpbAlikePath *alike = (GpbAlikePath *) path;
	CustomScan *scan;
	ListCell   *lc;
	ListCell   *column;

	if (alike->plans->model == NULL)
		alike->plans->model = model_plan(root, (GpbBucketPath *) alike->model);
	scan = gpb_sibling_plan(alike, 0, tlist, false);
	/* the target is the model's */
	forboth(lc, tlist, column, scan->custom_scan_tlist)
		lfirst_node(TargetEntry, lc)->expr = lfirst_node(TargetEntry, column)->expr;
	return &scan->scan.plan;
}
