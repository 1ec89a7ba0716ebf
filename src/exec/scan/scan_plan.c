/*-------------------------------------------------------------------------
 *
 * scan_plan.c
 *	  Planning of a table's rows from lists of entries: the paths and the plan node.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/sysattr.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "utils/snapmgr.h"

#include "exec/compile/program_codes.h"
#include "exec/price/price.h"
#include "exec/price/workers.h"
#include "exec/scan/scan_match.h"
#include "exec/shell/clause_order.h"
#include "exec/shell/expressions.h"
#include "exec/shell/plan_check.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "exec/where/arms.h"
#include "mirror/mirror.h"
#include "exec/shell/sibling.h"

static Plan *plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
					   List *clauses, List *custom_plans);

static Plan *plan_alike(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
						List *clauses, List *custom_plans);

static const CustomPathMethods scan_path_methods = {
	.CustomName = "GpubtreeScan",
	.PlanCustomPath = plan_scan
};

static const CustomPathMethods alike_path_methods = {
	.CustomName = "GpubtreeScan",
	.PlanCustomPath = plan_alike
};

/* For which paths of other leaves a path is the model (GpbAlikePath) */
typedef enum GpbScanModel
{
	GPB_NO_MODEL,
	GPB_MODEL_OF_ALL,			/* of all rows that pass the restrictions */
	GPB_MODEL_OF_FIRST			/* of the first ones of these */
} GpbScanModel;

typedef struct GpbScanPath
{
	CustomPath	path;
	IndexOptInfo *index;
	List	   *columns;		/* as in GpbScanMatch */
	List	   *qual;			/* what is evaluated for each row, in core's order */
	GpbScanPlan plan;
	double		entries;		/* of the ranges, about */
	GpbScanModel model;			/* other leaves of the same parent may do the same */
	GpbAlikePlans plans;		/* of these */
} GpbScanPath;

/*
 * May the node run in a parallel worker?  The table's restrictions and columns may be evaluated in
 * one, by core's consider_parallel; what else the node evaluates is said by the query.  Where
 * constants may fail a worker could only judge all rows (program_bind_safe.c).
 */
static bool
is_parallel_safe_match(PlannerInfo *root, const RelOptInfo *rel, const GpbScanPlan *plan)
{
	List	   *evaluated = list_make3(plan->program.constants, plan->ends.constants, plan->bound);

	return rel->consider_parallel && is_parallel_safe(root, (Node *) evaluated) &&
		!gpb_may_fail((Node *) evaluated);
}

/* Make the path of what was matched, without its price. */
static CustomPath *
make_path(PlannerInfo *root, RelOptInfo *rel, const GpbScanMatch *match)
{
	CustomPath *path = gpb_make_path(sizeof(GpbScanPath), &scan_path_methods, rel,
									 rel->reltarget);
	GpbScanPath *own = (GpbScanPath *) path;

	own->index = match->index;
	own->columns = match->columns;
	own->qual = gpb_order_clauses(root, match->others);
	own->plan = match->plan;
	own->entries = match->entries;
	path->path.parallel_safe = is_parallel_safe_match(root, rel, &match->plan);
	return path;
}

/*
 * Offer, as one that several processes share, a copy of a path, which has so many bytes and does
 * what the model does, or is that.  Groups to skip to would be looked for by each, and a device is
 * asked by one process.
 */
static void
add_shared_path(RelOptInfo *rel, const GpbScanPath *model, const CustomPath *path, Size size)
{
	double		entries = model->entries;
	Path	   *shared;
	int			workers;

	if (!path->path.parallel_safe || max_parallel_workers_per_gather == 0 ||
		path->path.total_cost <= parallel_setup_cost || model->plan.skips != NIL ||
		gpb_arms_may_fail(model->plan.arms) || !bms_is_empty(rel->lateral_relids) ||
		gpb_mirror_spares_cpu())
		return;
	if (path != &model->path)
		entries *= path->path.rows / Max(model->path.path.rows, 1.0);
	workers = gpb_count_workers(rel, model->index, entries);
	if (workers == 0)
		return;
	shared = memcpy(palloc(size), path, size);
	shared->parallel_aware = true;
	shared->parallel_workers = workers;
	shared->rows = clamp_row_est(shared->rows / gpb_count_shares(workers));
	shared->total_cost = shared->startup_cost +
		(shared->total_cost - shared->startup_cost) / gpb_count_shares(workers);
	add_partial_path(rel, shared);
}

/*
 * Offer the path of what was matched, which costs "least" at least, and is to be such a model.
 */
static void
add_match(PlannerInfo *root, RelOptInfo *rel, const GpbScanMatch *match, Cost least,
		  GpbScanModel model)
{
	CustomPath *path = make_path(root, rel, match);

	((GpbScanPath *) path)->model = model;
	gpb_scan_price(root, match, &path->path);
	/* which may have been added up in another order */
	Assert(path->path.total_cost >= least * (1.0 - 1e-9));
	/* add_path() may free the path */
	if (model == GPB_MODEL_OF_ALL)
		add_shared_path(rel, (GpbScanPath *) path, path, sizeof(GpbScanPath));
	add_path(rel, (Path *) path);
}

CustomScan *
gpb_scan_plan_match(PlannerInfo *root, RelOptInfo *rel, const GpbScanMatch *match)
{
	return castNode(CustomScan, plan_scan(root, rel, make_path(root, rel, match), NIL, NIL, NIL));
}

/*
 * For which paths what was matched may be the model.  First rows are listed by a program that tests
 * all restrictions, so not where values which another leaf's index may lack are tested by codes.
 */
static GpbScanModel
model_kind(const GpbScanMatch *match, GpbScanWish wish)
{
	if (wish.last != NULL || wish.each != NULL)
		return GPB_NO_MODEL;
	if (wish.first == NULL)
		return GPB_MODEL_OF_ALL;
	return gpb_program_code_columns(match->index, &match->plan.program.program) == 0 ?
		GPB_MODEL_OF_FIRST : GPB_NO_MODEL;
}

/* Offer the path of one index, for the rows that are wished for; it costs "least" at least. */
static void
add_index_path(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index, GpbScanWish wish,
			   Cost least)
{
	GpbScanMatch match;

	if (gpb_rel_is_heap(root, rel) && gpb_scan_match_index(root, index, wish, &match))
		add_match(root, rel, &match, least, model_kind(&match, wish));
}

/* ---- leaves that are alike ---- */

/* A leaf of the same parent that was planned just before this one; NULL if there is none such */
static RelOptInfo *
leaf_before(PlannerInfo *root, const RelOptInfo *rel)
{
	RelOptInfo *before;

	if (rel->reloptkind != RELOPT_OTHER_MEMBER_REL || rel->relid < 2)
		return NULL;
	before = root->simple_rel_array[rel->relid - 1];
	return before != NULL && before->reloptkind == RELOPT_OTHER_MEMBER_REL &&
		bms_equal(before->top_parent_relids, rel->top_parent_relids) ? before : NULL;
}

/* The model of this kind that the leaf has: a path of its own, or that which this one is alike */
static GpbScanPath *
model_of(const RelOptInfo *leaf, GpbScanModel kind)
{
	ListCell   *lc;

	foreach(lc, leaf->pathlist)
	{
		CustomPath *path = lfirst(lc);

		if (!IsA(path, CustomPath))
			continue;
		if (path->methods == &alike_path_methods)
			path = ((GpbAlikePath *) path)->model;
		if (path->methods == &scan_path_methods && ((GpbScanPath *) path)->model == kind)
			return (GpbScanPath *) path;
	}
	return NULL;
}

/*
 * Offer a path that does what another leaf's does, which is a model of this kind, if the leaves are
 * alike.  Returns false if there is no such path.  Columns must have the same numbers, since some
 * are read from the table; and as many pages must be visible to all, or more, or the path would
 * have another price.
 */
static bool
add_alike_path(PlannerInfo *root, RelOptInfo *rel, GpbScanModel kind)
{
	RelOptInfo *before = leaf_before(root, rel);
	GpbScanPath *model = before != NULL ? model_of(before, kind) : NULL;
	GpbSibling	sibling;
	IndexOptInfo *index;
	CustomPath *path;

	if (model == NULL || rel->allvisfrac < model->index->rel->allvisfrac - 0.05)
		return false;
	gpb_sibling_begin(root, model->index->rel, rel, &sibling);
	index = gpb_sibling_index(&sibling, model->index);
	if (sibling.column != NULL || index == NULL || !gpb_sibling_restrictions_agree(&sibling) ||
		!gpb_sibling_lists_agree(&sibling, model->index->rel->reltarget->exprs,
								 rel->reltarget->exprs) || !gpb_rel_is_heap(root, rel))
		return false;
	path = gpb_make_alike_path(&alike_path_methods, &model->path, &model->plans, &sibling, index,
							   rel->reltarget);
	path->path.pathkeys = model->path.path.pathkeys;
	path->path.rows = kind == GPB_MODEL_OF_ALL ? rel->rows :
		Min(rel->rows, model->path.path.rows);
	path->path.parallel_safe = rel->consider_parallel && model->path.path.parallel_safe;
	gpb_sibling_price(&sibling, &model->path.path, gpb_setup_cost, &path->path);
	if (kind == GPB_MODEL_OF_ALL)
		add_shared_path(rel, model, path, sizeof(GpbAlikePath));
	add_path(rel, &path->path);
	return true;
}

/* ---- paths ---- */

/* Offer the paths of one index with several key columns whose rows come in its order. */
static void
add_ordered_paths(PlannerInfo *root, RelOptInfo *rel, IndexOptInfo *index)
{
	GpbScanMatch match;

	if (!gpb_rel_is_heap(root, rel))
		return;
	if (gpb_scan_match_ordered(root, index, ForwardScanDirection, &match))
		add_match(root, rel, &match, 0.0, GPB_NO_MODEL);
	if (gpb_scan_match_ordered(root, index, BackwardScanDirection, &match))
		add_match(root, rel, &match, 0.0, GPB_NO_MODEL);
}

/* Is there a restriction of which arms can be made, an OR or a row comparison? */
static bool
may_have_arms(List *restrictions)
{
	ListCell   *lc;

	foreach(lc, restrictions)
	{
		Expr	   *clause = lfirst_node(RestrictInfo, lc)->clause;

		if (IsA(clause, RowCompareExpr) || is_orclause(clause))
			return true;
	}
	return false;
}

/* What the query needs of rows and restrictions, to be read from the index or the table */
static Bitmapset *
needed_columns(const GpbScanColumns *columns)
{
	return bms_del_member(bms_union(columns->rows, columns->restricted),
						  TableOidAttributeNumber - FirstLowInvalidHeapAttributeNumber);
}

/* Collect the columns of the query, once for all indexes. */
static void
collect_columns(PlannerInfo *root, RelOptInfo *rel, const GpbScanFirst *first,
				GpbScanColumns *columns)
{
	memset(columns, 0, sizeof(*columns));
	columns->rows = gpb_add_column_numbers(NULL, rel->reltarget->exprs, rel->relid);
	columns->restricted = gpb_restricted_columns(root, rel, NULL, rel->baserestrictinfo);
	if (first != NULL)
		columns->order = gpb_add_column_numbers(NULL, list_make1(first->expression), rel->relid);
	columns->needed = needed_columns(columns);
	columns->sorted = first != NULL;
	columns->has_arms = may_have_arms(rel->baserestrictinfo);
	columns->has_arrays = gpb_has_array_clause(rel->baserestrictinfo);
}

/* Correct the columns for one index, whose predicate may imply some of the restrictions. */
static void
columns_of_index(PlannerInfo *root, IndexOptInfo *index, GpbScanColumns *columns)
{
	if (index->indpred == NIL)
		return;
	columns->restricted = gpb_restricted_columns(root, index->rel, index,
												 index->indrestrictinfo);
	columns->needed = needed_columns(columns);
}

/* The table's indexes with several key columns, the smallest one first */
static List *
several_keys_indexes(RelOptInfo *rel)
{
	List	   *indexes = NIL;
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		int			place = list_length(indexes);

		if (index->nkeycolumns < 2 || !gpb_index_is_usable(index))
			continue;
		while (place > 0 && list_nth_node(IndexOptInfo, indexes, place - 1)->pages > index->pages)
			place--;
		indexes = list_insert_nth(indexes, place, index);
	}
	return indexes;
}

/*
 * Offer the paths of indexes with several key columns, for rows of groups.  A walk through a small
 * index leaves larger ones no chance, in most cases.
 */
static void
add_groups_paths(PlannerInfo *root, RelOptInfo *rel, const GpbScanGroups *groups,
				 const GpbScanColumns *all)
{
	ListCell   *lc;

	if (!gpb_rel_is_heap(root, rel))
		return;
	foreach(lc, several_keys_indexes(rel))
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		GpbScanColumns columns = *all;
		GpbScanMatch match;

		columns_of_index(root, index, &columns);
		if (!gpb_scan_match_groups(root, index, groups, &match) ||
			gpb_scan_walk_is_beaten(root, &match, &columns))
			continue;
		gpb_scan_match_columns(root, &match);
		add_match(root, rel, &match, 0.0, GPB_NO_MODEL);
	}
}

/* May the index's program list the first rows?  It tests all restrictions then. */
static bool
may_list_first(const IndexOptInfo *index, const GpbScanColumns *columns)
{
	return gpb_index_covers(index, columns->order) && gpb_index_covers(index, columns->restricted);
}

/* May the expression be the key, which is of one column? */
static bool
is_key(const IndexOptInfo *index, const Expr *expression)
{
	return IsA(expression, Var) && ((const Var *) expression)->varattno == index->indexkeys[0];
}

/* Has the table an index that a path may read, with so many key columns or more? */
static bool
has_own_index(const RelOptInfo *rel, int nkeycolumns)
{
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);

		if (index->nkeycolumns >= nkeycolumns && gpb_index_is_usable(index))
			return true;
	}
	return false;
}

/* gpb_scan_may_be_planned(), but for whether the table is of the heap access method */
static bool
may_be_planned(PlannerInfo *root, RelOptInfo *rel)
{
	/* with old_snapshot_threshold a row may go between the index's visit and the heap's (M5) */
	if (!gpb_enable_scan || !has_own_index(rel, 1) || OldSnapshotThresholdActive() ||
		!gpb_query_allows_nodes(root) || !gpb_rel_may_be_table(root, rel))
		return false;
	/* what keeps rows for a cursor to move back does not say where they are */
	return (gpb_planning_cursor & CURSOR_OPT_SCROLL) == 0 || !gpb_scan_shows_current_row(root);
}

bool
gpb_scan_may_be_planned(PlannerInfo *root, RelOptInfo *rel)
{
	return may_be_planned(root, rel) && gpb_rel_is_heap(root, rel);
}

void
gpb_scan_add_paths(PlannerInfo *root, RelOptInfo *rel)
{
	GpbScanFirst first;
	GpbScanLast last;
	GpbScanGroups groups;
	bool		wants_first;
	bool		wants_last;
	bool		wants_groups;
	bool		has_first;		/* first rows have a path, or are not wanted */
	bool		has_all;		/* all rows have a path, or one of first rows has made it useless */
	Var		   *each;
	GpbScanColumns all;
	GpbScanColumns columns;
	Cost		least;
	ListCell   *lc;

	if (!may_be_planned(root, rel))
		return;
	wants_first = gpb_scan_wants_first(root, rel, &first);
	wants_last = gpb_scan_wants_last(root, rel, &last);
	wants_groups = has_own_index(rel, 2) && gpb_scan_wants_groups(root, rel, &groups);
	each = gpb_scan_wants_each(root, rel);
	if (rel->baserestrictinfo == NIL && !wants_first && !wants_last && !wants_groups &&
		each == NULL)
		return;
	has_all = add_alike_path(root, rel, GPB_MODEL_OF_ALL);
	has_first = !wants_first || add_alike_path(root, rel, GPB_MODEL_OF_FIRST);
	/* if the leaf before has none of all rows, its path of the first ones is better */
	has_all |= wants_first && has_first;
	if (has_all && has_first && !wants_last && !wants_groups && each == NULL &&
		!has_own_index(rel, 2))
		return;
	collect_columns(root, rel, wants_first ? &first : NULL, &all);
	foreach(lc, rel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);

		if (!gpb_index_is_usable(index))
			continue;
		columns = all;
		columns_of_index(root, index, &columns);
		if (!has_all && columns.restricted != NULL &&
			!gpb_scan_is_beaten_at_once(root, index, &columns, &least))
			add_index_path(root, rel, index, (GpbScanWish) {0}, least);
		if (!has_first && may_list_first(index, &columns) &&
			!gpb_scan_first_is_beaten_at_once(root, index, &columns, &least))
			add_index_path(root, rel, index, (GpbScanWish) {.first = &first}, least);
		if (index->nkeycolumns > 1 && columns.has_arms)
			add_ordered_paths(root, rel, index);
		if (index->nkeycolumns > 1)
			continue;			/* what follows is about the key's values */
		if (wants_last && is_key(index, last.order))
			add_index_path(root, rel, index, (GpbScanWish) {.last = &last}, 0.0);
		if (each != NULL && is_key(index, (Expr *) each))
			add_index_path(root, rel, index, (GpbScanWish) {.each = each}, 0.0);
	}
	if (wants_groups)
		add_groups_paths(root, rel, &groups, &all);
}

/* Give a plan without filters its program, which lists entries: a path needs none. */
static void
require_program(PlannerInfo *root, IndexOptInfo *index, GpbScanPlan *plan)
{
	if (plan->program.program.list_entries)
		return;
	plan->program = *gpb_builder_end(gpb_builder_begin(root, index));
	plan->program.program.list_entries = true;
}

/* PlanCustomPath */
static Plan *
plan_scan(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		  List *custom_plans)
{
	GpbScanPath *own = (GpbScanPath *) path;
	GpbScanPlan *plan = &own->plan;
	CustomScan *scan = gpb_make_node(&gpb_scan_node, path, rel->relid, tlist, own->qual, NIL,
									 own->columns);
	ListCell   *lc;

	require_program(root, own->index, plan);
	gpb_scan_put(plan, scan);
	gpb_check_conditions(path, scan, plan->conditions, 1, 0);
	gpb_check_conditions(path, scan, plan->arrays, 1, 0);
	foreach(lc, plan->arms)
		gpb_check_conditions(path, scan, lfirst_node(List, lc), 1, 0);
	gpb_check_conditions(path, scan, plan->skips, 1, 0);
	gpb_check_expressions(path, scan, plan->program.constants, 1, 0);
	gpb_check_expressions(path, scan, plan->ends.constants, 1, 0);
	gpb_check_expressions(path, scan, plan->bound, 1, 0);
	gpb_check_expressions(path, scan, list_concat_copy(tlist, own->qual), 1, plan->ncolumns);
	gpb_check_expressions(path, scan, plan->all, 1, plan->ncolumns);
	return &scan->scan.plan;
}

/* PlanCustomPath of a path that is alike another */
static Plan *
plan_alike(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist, List *clauses,
		   List *custom_plans)
{
	const GpbAlikePath *alike = (GpbAlikePath *) path;
	GpbScanPath *model = (GpbScanPath *) alike->model;
	CustomScan *scan;

	if (alike->plans->model == NULL)
		alike->plans->model = castNode(CustomScan, plan_scan(root, model->path.path.parent,
															&model->path, NIL, NIL, NIL));
	scan = gpb_sibling_plan(alike, 0, tlist, false);
	gpb_check_expressions(path, scan, tlist, 1, model->plan.ncolumns);
	return &scan->scan.plan;
}
