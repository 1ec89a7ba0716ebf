/*-------------------------------------------------------------------------
 *
 * bucket_plan.c
 *	  Planning of aggregates by buckets of a key: the path and the plan node.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"

#include "exec/answer/ordinary.h"
#include "exec/bucket/bucket_match.h"
#include "exec/price/core_paths.h"
#include "exec/shell/expressions.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/plan_check.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"

static Plan *plan_bucket_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
								   List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods bucket_aggregate_path_methods = {
	.CustomName = "GpubtreeBucketAggregate",
	.PlanCustomPath = plan_bucket_aggregate
};

typedef struct GpbBucketPath
{
	CustomPath	path;
	IndexOptInfo *index;
	List	   *columns;		/* what the node computes: aggregates, bucket, other groups */
	List	   *having;
	GpbBucketPlan plan;
} GpbBucketPath;

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

/*
 * The path for a match; NULL if there is no ordinary plan that could be its child.  Its parent is
 * the table, so that EXPLAIN can name the table's columns.  With a child the node projects nothing
 * but the grouping's target, which the child has too.
 */
static CustomPath *
make_bucket_path(const GpbGrouping *query, const GpbBucketMatch *match,
				 const GpbBucketCounts *counts)
{
	CustomPath *path = gpb_make_path(sizeof(GpbBucketPath), &bucket_aggregate_path_methods,
									 query->rel, query->target);
	GpbBucketPath *own = (GpbBucketPath *) path;

	if (match->needs_child)
	{
		Path	   *child = gpb_ordinary_path(query->root, query->grouped_rel, query->target,
											  gpb_may_fail((Node *)
														   match->plan.program.constants));

		if (child == NULL)
			return NULL;
		path->flags &= ~CUSTOMPATH_SUPPORT_PROJECTION;
		path->custom_paths = list_make1(child);
	}
	own->plan = match->plan;
	path->path.pathkeys = bucket_pathkeys(query->root, match, &own->plan.backward);
	gpb_bucket_price(query, match, counts, &path->path);
	own->index = match->index;
	own->columns = list_concat(lappend(list_copy(query->aggrefs), match->bucket), match->groups);
	own->columns = gpb_grouping_as_said(query, own->columns);
	own->having = query->having;
	return path;
}

bool
gpb_bucket_aggregate_add_path(const GpbGrouping *query)
{
	CustomPath *best = NULL;
	double		best_groups = 0.0;
	ListCell   *lc;

	if (!gpb_enable_bucketaggregate || !gpb_bucket_may_answer(query))
		return false;
	foreach(lc, query->rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		GpbBucketMatch match;
		GpbBucketCounts counts;
		CustomPath *path;

		if (!gpb_index_is_usable(index) ||
			!gpb_grouping_may_match(query, index) ||
			!gpb_bucket_match_index(query, index, &match))
			continue;
		counts = gpb_bucket_count(query, &match);
		if (index->nkeycolumns > 1 && gpb_enable_aggregate &&
			gpb_bucket_is_sparse(&match, &counts))
			continue;
		if (!gpb_bucket_groups_fit(&match, &counts))
			continue;
		path = make_bucket_path(query, &match, &counts);
		/* a path in the order asked for may be worth more than it costs */
		if (path != NULL &&
			(best == NULL || path->path.total_cost < best->path.total_cost ||
			 (best->path.pathkeys == NIL && path->path.pathkeys != NIL)))
		{
			best = path;
			best_groups = counts.groups;
		}
	}
	if (best == NULL ||
		gpb_hashing_is_cheaper(query->root, query->grouped_rel, best->path.total_cost,
							   list_length(query->groups), best_groups))
		return false;
	add_path(query->grouped_rel, (Path *) best);
	return true;
}

/* ---- plan ---- */

/*
 * The columns of the scan tuple: what the node computes, the key's and, to show the filters, the
 * other columns in them.
 */
static List *
scan_columns(PlannerInfo *root, const GpbBucketPath *own)
{
	List	   *columns = list_concat_unique(list_copy(own->columns),
											 gpb_key_vars(root, own->index));

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
									 plan->has_program ? NIL : own->having, custom_plans,
									 scan_columns(root, own));

	gpb_bucket_put(plan, scan);
	gpb_check_conditions(path, scan, plan->conditions, 1, 0);
	gpb_check_expressions(path, scan, plan->arguments, 1, 0);
	gpb_check_expressions(path, scan, plan->program.constants, 1, 0);
	gpb_check_expressions(path, scan, list_concat_copy(tlist, own->having), 1,
						  list_length(own->columns));
	return &scan->scan.plan;
}
