/*-------------------------------------------------------------------------
 *
 * offset_plan.c
 *	  Planning of ORDER BY with OFFSET over partitions that follow one another in that order.
 *
 * Core's Append of the leaves in order, whose parent is the partitioned table: so what is pruned,
 * locked and shown is core's affair, and leaves behind the last row wanted are not asked.  A leaf
 * over whose index the rank can be counted is a GpubtreeRank, the others are core's paths.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paramassign.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"

#include "exec/rank/rank_node.h"
#include "exec/shell/ordered_leaves.h"
#include "exec/shell/plan_check.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"

static Plan *plan_offset(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
						 List *clauses, List *custom_plans);

static const CustomPathMethods offset_path_methods = {
	.CustomName = "GpubtreeOffset",
	.PlanCustomPath = plan_offset
};

typedef struct GpbOffsetPath
{
	CustomPath	path;
	List	   *columns;		/* Vars of the query's that the Append returns */
	GpbOffsetPlan plan;
} GpbOffsetPath;

/* ---- the leaves ---- */

/* The column of the partitioned table that the query sorts by first, or NULL */
static Var *
first_column(PlannerInfo *root, const RelOptInfo *rel)
{
	EquivalenceClass *class = linitial_node(PathKey, root->sort_pathkeys)->pk_eclass;
	ListCell   *lc;

	foreach(lc, class->ec_members)
	{
		Var		   *column = (Var *) lfirst_node(EquivalenceMember, lc)->em_expr;

		if (IsA(column, Var) && column->varno == rel->relid && column->varattno > 0)
			return column;
	}
	return NULL;
}

/*
 * The leaves in the order of the query; NIL if they have none.  Where it sorts rows of equal keys
 * by more, equal keys must not be in two leaves.
 */
static List *
leaves_in_order(PlannerInfo *root, RelOptInfo *rel)
{
	const PathKey *first = linitial_node(PathKey, root->sort_pathkeys);
	GpbLeafOrder order = {.column = first_column(root, rel)};

	if (order.column == NULL)
		return NIL;
	order.descends = gpb_pathkey_descends(first);
	order.nulls_first = first->pk_nulls_first;
	order.apart = list_length(root->sort_pathkeys) > 1;
	return gpb_ordered_leaves(root, rel, order);
}

/* Is it a scan of the table that can return any of its columns? */
static bool
is_scan(const Path *path)
{
	return path->param_info == NULL &&
		(path->pathtype == T_SeqScan || path->pathtype == T_IndexScan ||
		 path->pathtype == T_IndexOnlyScan || path->pathtype == T_BitmapHeapScan ||
		 path->pathtype == T_ForeignScan);
}

/*
 * Core's cheapest scan of the leaf, in the order of the query if "sorted"; NULL if there is none.
 * What core projects of it for the query is left out.
 */
static Path *
cheapest_scan(PlannerInfo *root, RelOptInfo *leaf, bool sorted)
{
	Path	   *best = NULL;
	ListCell   *lc;

	foreach(lc, leaf->pathlist)
	{
		Path	   *path = lfirst(lc);

		while (IsA(path, ProjectionPath))
			path = ((ProjectionPath *) path)->subpath;
		if (is_scan(path) &&
			(!sorted || pathkeys_contained_in(root->sort_pathkeys, path->pathkeys)) &&
			(best == NULL || gpb_is_cheaper(path, best)))
			best = path;
	}
	return best;
}

/* Core's own path for the rows of the leaf in order; NULL if there is none. */
static Path *
ordinary_leaf_path(PlannerInfo *root, RelOptInfo *leaf)
{
	PathTarget *target = gpb_rank_child_target(root, leaf);
	Path	   *sorted = cheapest_scan(root, leaf, true);
	Path	   *any = cheapest_scan(root, leaf, false);

	if (sorted != NULL)
		sorted = (Path *) create_projection_path(root, leaf, sorted, target);
	if (any == NULL)
		return NULL;
	any = (Path *) create_sort_path(root, leaf, (Path *)
									create_projection_path(root, leaf, any, target),
									root->sort_pathkeys, -1.0);
	return sorted != NULL && !gpb_is_cheaper(any, sorted) ? sorted : any;
}

/* ---- price ---- */

/* The prices of the leaves, one after the other */
typedef struct GpbOffsetPrice
{
	double		remaining;		/* rows that the leaves behind are to skip */
	double		rows;			/* that come out */
	Cost		startup;		/* until the first of these */
	Cost		total;
	bool		counts;			/* is some leaf counted? */
} GpbOffsetPrice;

/* Add a leaf of so many rows, of which the first "skipped" are counted, or read and left out. */
static void
add_leaf_price(GpbOffsetPrice *price, const Path *path, bool counted, double all, double skipped)
{
	Cost		startup = path->startup_cost;

	if (!counted)
		startup += (path->total_cost - startup) * skipped / Max(all, 1.0) +
			skipped * cpu_tuple_cost;
	if (price->remaining > 0)
		price->startup = price->total + (skipped < all ? startup : path->total_cost);
	price->total += path->total_cost + (counted ? 0.0 : skipped * cpu_tuple_cost);
	price->rows += all - skipped;
	price->remaining -= skipped;
	price->counts |= counted && skipped > 0;
}

/* The path for one leaf, with its price; NULL if there is none. */
static Path *
leaf_path(PlannerInfo *root, RelOptInfo *leaf, bool no_nulls, int remaining,
		  GpbOffsetPrice *price)
{
	double		skipped = Min(price->remaining, leaf->rows);
	GpbRankWish wish = {.skipped = skipped, .no_nulls = no_nulls, .remaining = remaining};
	Path	   *path = NULL;
	bool		counted;

	wish.target = wish.child = gpb_rank_child_target(root, leaf);
	wish.columns = wish.target->exprs;
	if (gpb_rel_is_table(root, leaf))
		path = gpb_rank_path(root, leaf, &wish);
	counted = path != NULL;
	if (!counted)
		path = ordinary_leaf_path(root, leaf);
	if (path != NULL)
		add_leaf_price(price, path, counted, leaf->rows, skipped);
	return path;
}

/* ---- path ---- */

/* The Append of the leaves, with the price of the whole; NULL if there is none. */
static Path *
append_leaves(PlannerInfo *root, RelOptInfo *rel, List *leaves, int remaining,
			  GpbOffsetPrice *price)
{
	bool		no_nulls = gpb_leaves_have_no_null(rel, first_column(root, rel));
	List	   *paths = NIL;
	Path	   *append;
	ListCell   *lc;

	foreach(lc, leaves)
	{
		Path	   *path = leaf_path(root, lfirst(lc), no_nulls, remaining, price);

		if (path == NULL)
			return NULL;
		paths = lappend(paths, path);
	}
	append = (Path *) create_append_path(root, rel, paths, NIL, root->sort_pathkeys, NULL, 0, false,
										 -1.0);
	append->pathtarget = gpb_rank_child_target(root, rel);
	return append;
}

/* The path over the leaves; NULL if no rows of them are counted. */
static Path *
make_offset_path(PlannerInfo *root, RelOptInfo *rel, List *leaves,
				 const FinalPathExtraData *extra)
{
	PathTarget *target = root->upper_targets[UPPERREL_FINAL];
	GpbOffsetPrice price = {.remaining = gpb_rank_offset_rows(extra, rel->rows)};
	int			remaining = assign_special_exec_param(root);
	Path	   *append = append_leaves(root, rel, leaves, remaining, &price);
	GpbOffsetPath *own;
	Path	   *path;

	if (append == NULL || !price.counts)
		return NULL;
	path = (Path *) gpb_make_path(sizeof(GpbOffsetPath), &offset_path_methods, rel, target);
	own = (GpbOffsetPath *) path;
	own->path.flags = 0;
	own->path.custom_paths = list_make1(append);
	own->columns = gpb_rank_columns(root);
	own->plan.offset = (Expr *) root->parse->limitOffset;
	own->plan.remaining = remaining;
	path->pathkeys = root->sort_pathkeys;
	path->rows = clamp_row_est(price.rows);
	path->startup_cost = price.startup + target->cost.startup;
	path->total_cost = price.total + target->cost.startup +
		(target->cost.per_tuple + cpu_tuple_cost) * path->rows;
	GPB_ADD_DISABLED(path, append);
	return path;
}

void
gpb_offset_add_path(PlannerInfo *root, RelOptInfo *final_rel, RelOptInfo *rel,
					const FinalPathExtraData *extra)
{
	List	   *leaves;
	Path	   *path;

	/* WHERE CURRENT OF finds a row in core's own Append, and not below a node of ours */
	if (!gpb_enable_partitions || rel->rtekind != RTE_RELATION ||
		!planner_rt_fetch(rel->relid, root)->inh || gpb_planning_cursor != 0)
		return;
	leaves = leaves_in_order(root, rel);
	if (list_length(leaves) < 2)
		return;
	path = make_offset_path(root, rel, leaves, extra);
	if (path != NULL)
		gpb_rank_add_limit_path(root, final_rel, path, extra);
}

/* ---- plan ---- */

/* PlanCustomPath */
static Plan *
plan_offset(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
			List *custom_plans)
{
	GpbOffsetPath *own = (GpbOffsetPath *) path;
	CustomScan *scan = gpb_make_node(&gpb_offset_node, path, rel->relid, tlist, NIL, custom_plans,
									 own->columns);

	gpb_offset_put(&own->plan, scan);
	gpb_check_expressions(path, scan, list_make1(own->plan.offset), 1, 0);
	gpb_check_expressions(path, scan, tlist, 1, list_length(own->columns));
	return &scan->scan.plan;
}
