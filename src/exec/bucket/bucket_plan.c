/*-------------------------------------------------------------------------
 *
 * bucket_plan.c
 *	  Planning of aggregates by buckets of a key: which queries, and the plan node.
 *
 * A query of one table that is grouped by one bucket function of a gpubtree index's key
 * (bucket_function.h) becomes a CustomPath if that index holds every aggregated column and its key
 * range is all that the query restricts (rule M10).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/prep.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/typcache.h"

#include "exec/bucket/bucket_node.h"
#include "exec/common/plan_check.h"
#include "exec/common/plan_rules.h"
#include "exec/common/settings.h"

static Plan *plan_bucket_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
								   List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods bucket_aggregate_path_methods = {
	.CustomName = "GpubtreeBucketAggregate",
	.PlanCustomPath = plan_bucket_aggregate
};

/* What the query asks of an index, and how one answers */
typedef struct GpbBucketCandidate
{
	Expr	   *bucket;			/* what is grouped by */
	List	   *aggrefs;
	IndexOptInfo *index;
	GpbBucketPlan plan;
	double		width;			/* about how many keys a bucket spans; 0 if unknown */
} GpbBucketCandidate;

typedef struct GpbBucketPath
{
	CustomPath	path;
	IndexOptInfo *index;
	Expr	   *bucket;
	List	   *aggrefs;		/* of the items */
	List	   *having;
	GpbBucketPlan plan;
} GpbBucketPath;

/* ---- is the query of our kind? ---- */

static bool
query_is_bucketed(PlannerInfo *root)
{
	Query	   *parse = root->parse;

	return parse->commandType == CMD_SELECT && list_length(parse->groupClause) == 1 &&
		parse->groupingSets == NIL && !parse->hasTargetSRFs && gpb_query_allows_nodes(root);
}

/*
 * The expression that is grouped by, if its equality is the one of its type's default order, which
 * the node's groups are made by; else NULL.
 */
static Expr *
group_expression(PlannerInfo *root, PathTarget *target)
{
	SortGroupClause *group = linitial_node(SortGroupClause, root->parse->groupClause);
	ListCell   *lc;

	foreach(lc, target->exprs)
	{
		Expr	   *expression = lfirst(lc);
		TypeCacheEntry *type;

		if (get_pathtarget_sortgroupref(target, foreach_current_index(lc)) !=
			group->tleSortGroupRef)
			continue;
		type = lookup_type_cache(exprType((Node *) expression), TYPECACHE_EQ_OPR);
		return type->eq_opr == group->eqop ? expression : NULL;
	}
	return NULL;
}

/* Collect Aggrefs; true, which ends the walk, if anything else is needed but the bucket itself. */
static bool
collect_walker(Node *node, GpbBucketCandidate *candidate)
{
	if (node == NULL || equal(node, candidate->bucket))
		return false;
	if (IsA(node, Aggref))
	{
		candidate->aggrefs = list_append_unique(candidate->aggrefs, node);
		return false;
	}
	if (IsA(node, Var) || IsA(node, PlaceHolderVar) || IsA(node, GroupingFunc))
		return true;
	return expression_tree_walker(node, collect_walker, candidate);
}

/* ---- does an index hold what is asked for? ---- */

/*
 * With constants for arguments, is the order of the function known?  Else ordinary plans raise what
 * it raises, or do better than sorting. Fills in the width.  Arguments that are not constants are
 * seen at run time.
 */
static bool
bucket_is_promising(GpbBucketCandidate *candidate)
{
	int			n = list_length(candidate->plan.arguments);
	Datum	   *values = palloc(sizeof(Datum) * n);
	bool	   *isnull = palloc(sizeof(bool) * n);
	const GpbBucketOrder *order;
	ListCell   *lc;

	candidate->width = 0.0;
	foreach(lc, candidate->plan.arguments)
	{
		Const	   *argument = (Const *) lfirst(lc);

		if (!IsA(argument, Const))
			return true;
		values[foreach_current_index(lc)] = argument->constvalue;
		isnull[foreach_current_index(lc)] = argument->constisnull;
	}
	order = gpb_bucket_function_set(gpb_bucket_function_begin(candidate->plan.functions,
															  candidate->index->opcintype[0]),
									values, isnull);
	candidate->width = order->width;
	return !order->null && order->safe_lo <= order->safe_hi;
}

/* Match the whole query to one index. */
static bool
match_bucket_index(PlannerInfo *root, IndexOptInfo *index, GpbBucketCandidate *candidate)
{
	GpbBucketPlan *plan = &candidate->plan;

	if (!gpb_index_is_usable(index) ||
		!gpb_match_bucket_function(root, index, candidate->bucket, &plan->functions,
								   &plan->arguments) ||
		!gpb_match_conditions(root, index, &plan->conditions) ||
		!gpb_match_batch_aggrefs(index, candidate->aggrefs, &plan->items))
		return false;
	candidate->index = index;
	plan->index = index->indexoid;
	plan->nitems = list_length(candidate->aggrefs);
	return bucket_is_promising(candidate);
}

/* ---- path ---- */

/* Can the key be NULL, as far as index and conditions say? */
static bool
bucket_may_be_null(PlannerInfo *root, const GpbBucketCandidate *candidate)
{
	ListCell   *lc;

	foreach(lc, candidate->plan.conditions)
	{
		if (!IsA(lfirst(lc), NullTest) ||
			((NullTest *) lfirst(lc))->nulltesttype == IS_NOT_NULL)
			return false;
	}
	return true;
}

/*
 * The order of the groups, if the query can use it: that of the index, since the function rises
 * with the key.
 */
static List *
bucket_pathkeys(PlannerInfo *root, const GpbBucketCandidate *candidate)
{
	IndexOptInfo *index = candidate->index;
	PathKey    *pathkey;

	if (list_length(root->group_pathkeys) != 1)
		return NIL;
	pathkey = linitial_node(PathKey, root->group_pathkeys);
	if (pathkey->pk_strategy != (index->reverse_sort[0] ? BTGreaterStrategyNumber :
								 BTLessStrategyNumber))
		return NIL;
	if (pathkey->pk_nulls_first != index->nulls_first[0] &&
		bucket_may_be_null(root, candidate))
		return NIL;
	return root->group_pathkeys;
}

/* The path's parent is the table, so that EXPLAIN can name the table's columns. */
static CustomPath *
make_bucket_path(PlannerInfo *root, RelOptInfo *grouped_rel,
				 const GpbBucketCandidate *candidate, double buckets)
{
	IndexOptInfo *index = candidate->index;
	List	   *having = (List *) root->parse->havingQual;
	CustomPath *path = gpb_make_path(sizeof(GpbBucketPath), &bucket_aggregate_path_methods,
									 index->rel, grouped_rel->reltarget);
	GpbBucketPath *own = (GpbBucketPath *) path;

	path->path.rows = clamp_row_est(buckets * clauselist_selectivity(root, having, 0,
																	 JOIN_INNER, NULL));
	path->path.pathkeys = bucket_pathkeys(root, candidate);
	gpb_bucket_cost(root, index, &candidate->plan, buckets, grouped_rel->reltarget, having,
					&path->path.startup_cost, &path->path.total_cost);
	own->index = index;
	own->bucket = candidate->bucket;
	own->aggrefs = candidate->aggrefs;
	own->having = having;
	own->plan = candidate->plan;
	return path;
}

bool
gpb_bucket_aggregate_add_path(PlannerInfo *root, RelOptInfo *input_rel, RelOptInfo *grouped_rel)
{
	GpbBucketCandidate candidate = {0};
	CustomPath *best = NULL;
	double		best_buckets = 0.0;
	ListCell   *lc;

	if (!gpb_enable_bucketaggregate || !query_is_bucketed(root) ||
		!gpb_rel_is_plain(root, input_rel))
		return false;
	candidate.bucket = group_expression(root, grouped_rel->reltarget);
	if (candidate.bucket == NULL ||
		collect_walker((Node *) grouped_rel->reltarget->exprs, &candidate) ||
		collect_walker(root->parse->havingQual, &candidate))
		return false;

	foreach(lc, input_rel->indexlist)
	{
		CustomPath *path;
		double		buckets;

		if (!match_bucket_index(root, lfirst_node(IndexOptInfo, lc), &candidate))
			continue;
		buckets = gpb_estimate_buckets(root, candidate.index, candidate.bucket, candidate.width);
		path = make_bucket_path(root, grouped_rel, &candidate, buckets);
		/* a path in the order asked for may be worth more than it costs */
		if (best == NULL || path->path.total_cost < best->path.total_cost ||
			(best->path.pathkeys == NIL && path->path.pathkeys != NIL))
		{
			best = path;
			best_buckets = buckets;
		}
	}
	if (best == NULL ||
		gpb_hashing_is_cheaper(root, grouped_rel, best->path.total_cost, 1, best_buckets))
		return false;
	add_path(grouped_rel, (Path *) best);
	return true;
}

/* ---- plan ---- */

/* PlanCustomPath */
static Plan *
plan_bucket_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
					  List *tlist, List *clauses, List *custom_plans)
{
	GpbBucketPath *own = (GpbBucketPath *) path;
	GpbBucketPlan *plan = &own->plan;
	List	   *columns = lappend(list_copy(own->aggrefs), own->bucket);
	CustomScan *scan;

	columns = lappend(columns, gpb_key_var(root, own->index));
	scan = gpb_make_node(&gpb_bucket_aggregate_node, path, rel->relid, tlist, own->having, NIL,
						 columns);
	gpb_bucket_put(plan, scan);
	gpb_check_conditions(path, scan, plan->conditions, 1, 0);
	gpb_check_expressions(path, scan, plan->arguments, 1, 0);
	gpb_check_expressions(path, scan, list_concat_copy(tlist, own->having), 1, plan->nitems + 1);
	return &scan->scan.plan;
}
