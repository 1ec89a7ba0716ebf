/*-------------------------------------------------------------------------
 *
 * join_plan.c
 *	  Planning of batched index joins: which joins, by which paths.
 *
 * A join of anything with one table on equalities with key columns of a gpubtree index gets a
 * CustomPath for each such index and each outer path worth having, beside core's paths (rule M10).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"

#include "exec/join/join_node.h"
#include "exec/price/outer_price.h"
#include "exec/shell/clause_order.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/join_sides.h"
#include "exec/shell/plan_check.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"

static Plan *plan_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
					   List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods join_path_methods = {
	.CustomName = "GpubtreeJoin",
	.PlanCustomPath = plan_join
};

typedef struct GpbJoinPath
{
	CustomPath	path;
	const GpbJoinCandidate *candidate;	/* shared by all paths of one index */
	List	   *match;			/* RestrictInfos that decide about a match */
	List	   *result;			/* RestrictInfos that are tested on rows that come out */
} GpbJoinPath;

/* ---- paths ---- */

/*
 * Part what is left of the join's clauses: those that decide about a match, and those that are
 * tested on the rows that come out.
 */
static void
part_clauses(const GpbJoinCandidate *candidate, List *restrictlist,
			 List **match, List **result)
{
	ListCell   *lc;

	*match = *result = NIL;
	foreach(lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (list_member_ptr(candidate->ranged, rinfo))
			continue;
		if (IS_OUTER_JOIN(candidate->jointype) &&
			RINFO_IS_PUSHED_DOWN(rinfo, candidate->relids))
			*result = lappend(*result, rinfo);
		else
			*match = lappend(*match, rinfo);
	}
}

/* May the relation have indexes, or leaves that have? */
static bool
has_indexes(PlannerInfo *root, const RelOptInfo *rel)
{
	return rel->indexlist != NIL ||
		(rel->reloptkind == RELOPT_BASEREL && rel->rtekind == RTE_RELATION &&
		 planner_rt_fetch(rel->relid, root)->inh);
}

/*
 * May the outer path be joined to the inner table?  Core copies paths of children that have
 * parameters, but not what ours have beyond a CustomPath.
 */
static bool
outer_path_fits(const GpbJoinCandidate *candidate, Path *outer)
{
	Relids		required = PATH_REQ_OUTER(outer);

	return bms_is_empty(required) ||
		(candidate->joinrel->reloptkind == RELOPT_JOINREL &&
		 !bms_overlap(required, candidate->innerrel->relids) &&
		 bms_overlap(required, candidate->param_source_rels));
}

/* The order of the joined rows, which is the outer path's */
static List *
joined_order(PlannerInfo *root, const GpbJoinCandidate *candidate, const Path *outer)
{
	/* partitions are asked one after the other */
	if (outer->pathkeys == NIL || candidate->leaves != NIL)
		return NIL;
	return build_join_pathkeys(root, candidate->joinrel, candidate->jointype, outer->pathkeys);
}

/*
 * Has the join no path already that is cheaper than one of ours, of this price and order, would be?
 */
static bool
is_worth_it(const GpbJoinCandidate *candidate, const GpbOuterPrice *price, List *order,
			Path *outer)
{
	return add_path_precheck(candidate->joinrel, price->startup_cost, price->total_cost, order,
							 PATH_REQ_OUTER(outer));
}

/*
 * Find the outer paths over which one of ours may be cheaper than the join's paths, whatever the
 * index.  Most joins of a query with many tables have none.
 */
static List *
find_outer_paths(PlannerInfo *root, const GpbJoinCandidate *candidate)
{
	GpbOuterInput input = {.ask.root = root, .target = candidate->joinrel->reltarget};
	List	   *found = NIL;
	ListCell   *lc;

	foreach(lc, candidate->outerrel->pathlist)
	{
		Path	   *outer = lfirst(lc);
		GpbOuterPrice least;

		if (!outer_path_fits(candidate, outer))
			continue;
		input.outer = outer;
		/* a path with parameters has fewer rows than the join */
		input.rows = bms_is_empty(PATH_REQ_OUTER(outer)) ? candidate->joinrel->rows : 0.0;
		least = gpb_outer_total_price(&input);
		if (is_worth_it(candidate, &least, joined_order(root, candidate, outer), outer))
			found = lappend(found, outer);
	}
	return found;
}

/* The partial outer paths, if each process may join its share */
static List *
partial_outer_paths(const GpbJoinCandidate *candidate)
{
	const RelOptInfo *joinrel = candidate->joinrel;

	if (!joinrel->consider_parallel || !bms_is_empty(joinrel->lateral_relids))
		return NIL;
	return candidate->outerrel->partial_pathlist;
}

/* What the price of each path of the candidate's index rests on, but for the outer rows */
static void
begin_price(PlannerInfo *root, GpbJoinCandidate *candidate)
{
	GpbOuterInput *price = &candidate->price;

	part_clauses(candidate, candidate->restrictlist, &candidate->match, &candidate->result);
	memset(price, 0, sizeof(*price));
	price->ask.root = root;
	price->ask.index = candidate->index;
	price->ask.listed = true;
	price->ask.from_heap = !candidate->index_only;
	price->ask.dropped = 1.0 - candidate->kept;
	price->ask.entry_cost = candidate->entry_cost;
	price->begin_cost = candidate->begin_cost;
	price->target = candidate->joinrel->reltarget;
	candidate->kept_copy = NULL;
}

/* Fill in what the price of the path rests on beside that. */
static GpbOuterInput *
begin_path_price(PlannerInfo *root, GpbJoinCandidate *candidate, Path *outer, List *match,
				 const Path *path)
{
	GpbOuterInput *price = &candidate->price;

	price->outer = outer;
	price->ask.keys = gpb_join_distinct_keys(root, candidate, outer->rows);
	price->rows = path->rows;
	price->ask.entries = outer->rows * gpb_join_inner_entries(candidate) * candidate->selectivity;
	/* core knows from foreign keys of several columns what selectivities do not say */
	if (candidate->jointype == JOIN_INNER && path->param_info == NULL)
		price->ask.entries = Max(price->ask.entries, path->rows);
	if (candidate->partitions != NULL)
		gpb_price_partitions(price, candidate->partitions,
							 price->ask.entries / Max(outer->rows, 1.0));
	price->ask.in_order = path->pathkeys != NIL;
	price->filters = list_concat_copy(candidate->rest, match);
	return price;
}

/* The candidate as the paths of its index share it */
static const GpbJoinCandidate *
kept_candidate(GpbJoinCandidate *candidate)
{
	if (candidate->kept_copy == NULL)
		candidate->kept_copy = memcpy(palloc(sizeof(*candidate)), candidate, sizeof(*candidate));
	return candidate->kept_copy;
}

/*
 * The share of the outer relation's rows that a path has: a partial one those of one process, by
 * core's estimate
 */
static double
outer_share(const GpbJoinCandidate *candidate, const Path *outer)
{
	return Min(outer->rows / Max(candidate->outerrel->rows, 1.0), 1.0);
}

/*
 * Make the path with one outer path that fits; NULL if the join has a better path already.  Partial
 * paths are compared with each other alone, so for one "partial" is set; it has the rows of one
 * process, and their price.
 */
static CustomPath *
make_join_path(PlannerInfo *root, GpbJoinCandidate *candidate, Path *outer, bool partial)
{
	RelOptInfo *joinrel = candidate->joinrel;
	Relids		required = PATH_REQ_OUTER(outer);
	List	   *match = candidate->match;
	List	   *result = candidate->result;
	Path		sketch = {0};	/* what a path is judged by */
	GpbOuterInput *input;
	GpbOuterPrice price;
	CustomPath *path;
	GpbJoinPath *own;

	if (!bms_is_empty(required))
	{
		List	   *restrictlist = list_copy(candidate->restrictlist);

		sketch.param_info = get_joinrel_parampathinfo(root, joinrel, outer,
													  candidate->innerrel->cheapest_total_path,
													  candidate->sjinfo,
													  required, &restrictlist);
		part_clauses(candidate, restrictlist, &match, &result);
	}
	sketch.rows = sketch.param_info ? sketch.param_info->ppi_rows : joinrel->rows;
	if (partial)
		sketch.rows = clamp_row_est(joinrel->rows * outer_share(candidate, outer));
	sketch.pathkeys = joined_order(root, candidate, outer);
	input = begin_path_price(root, candidate, outer, match, &sketch);
	input->ask.processes = partial ? 1.0 / outer_share(candidate, outer) : 0.0;
	price = gpb_outer_total_price(input);
	if (!partial && !is_worth_it(candidate, &price, sketch.pathkeys, outer))
		return NULL;
	price = gpb_outer_full_price(input, &price);

	path = gpb_make_path(sizeof(GpbJoinPath), &join_path_methods, joinrel, joinrel->reltarget);
	path->path.param_info = sketch.param_info;
	path->path.rows = sketch.rows;
	path->path.parallel_safe = joinrel->consider_parallel && outer->parallel_safe &&
		candidate->leaves == NIL;
	path->path.pathkeys = sketch.pathkeys;
	path->path.startup_cost = price.startup_cost;
	path->path.total_cost = price.total_cost;
	path->custom_paths = list_make1(outer);
	if (candidate->partitions != NULL)
		path->custom_paths = lappend(path->custom_paths,
									 gpb_partitions_path(root, candidate->partitions));
	GPB_ADD_DISABLED(&path->path, outer);
	own = (GpbJoinPath *) path;
	own->candidate = kept_candidate(candidate);
	own->match = match;
	own->result = result;
	return path;
}

/* Offer the path with one partial outer path, of whose rows each process joins its share. */
static void
add_partial_join_path(PlannerInfo *root, GpbJoinCandidate *candidate, Path *outer)
{
	CustomPath *path;

	if (!outer->parallel_safe || !bms_is_empty(PATH_REQ_OUTER(outer)))
		return;
	path = make_join_path(root, candidate, outer, true);
	path->path.parallel_workers = outer->parallel_workers;
	add_partial_path(candidate->joinrel, (Path *) path);
}

/* Offer the paths of the candidate's index with each of these outer paths. */
static void
add_index_paths(PlannerInfo *root, GpbJoinCandidate *candidate, List *outers, List *partial)
{
	ListCell   *lc;

	begin_price(root, candidate);
	foreach(lc, outers)
	{
		CustomPath *path = make_join_path(root, candidate, lfirst(lc), false);

		if (path != NULL)
			add_path(candidate->joinrel, (Path *) path);
	}
	/* the node's plan of partitions is none that a worker has a share of */
	if (candidate->leaves != NIL)
		return;
	foreach(lc, partial)
		add_partial_join_path(root, candidate, lfirst(lc));
}

/*
 * Find the table that is asked, and have the candidate be about that; false if there is none.  Of a
 * join of children, which core makes of partitions that match each other, the inner relation is a
 * table itself.
 */
static bool
find_table(PlannerInfo *root, GpbJoinCandidate *candidate)
{
	RelOptInfo *table;

	candidate->leaves = gpb_join_leaves(root, candidate->innerrel);
	table = candidate->leaves == NIL ? gpb_join_table(root, candidate->innerrel) :
		gpb_model_partition(root, candidate->leaves);
	if (table == NULL)
		return false;
	candidate->table = table;
	if (table == candidate->innerrel)
		return true;
	candidate->relids = bms_union(candidate->relids, table->relids);
	candidate->restrictlist = (List *) gpb_of_child(root, table,
													(Node *) candidate->restrictlist);
	return gpb_is_join_by_columns(candidate);
}

/*
 * Offer the batched joins of the outer relation with the inner table, for each index that can
 * do it.
 */
void
gpb_join_add_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
				   RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	GpbJoinCandidate candidate = {0};
	Path	   *unique = NULL;
	List	   *outers;
	List	   *partial = NIL;
	ListCell   *lc;

	if (!gpb_enable_batchjoin || !has_indexes(root, innerrel) || IS_DUMMY_REL(innerrel) ||
		innerrel->cheapest_total_path == NULL ||
		!bms_is_empty(PATH_REQ_OUTER(innerrel->cheapest_total_path)))
		return;
	if (jointype == JOIN_UNIQUE_OUTER)
	{
		/* the inner side of IN, without duplicates, as the outer side */
		unique = (Path *) create_unique_path(root, outerrel, outerrel->cheapest_total_path,
											 extra->sjinfo);
		if (unique == NULL)
			return;
		jointype = JOIN_INNER;
	}
	if (jointype != JOIN_INNER && jointype != JOIN_LEFT && jointype != JOIN_SEMI &&
		jointype != JOIN_ANTI)
		return;
	candidate.jointype = jointype;
	candidate.joinrel = joinrel;
	candidate.outerrel = outerrel;
	candidate.innerrel = innerrel;
	candidate.table = innerrel;
	candidate.relids = joinrel->relids;
	candidate.restrictlist = extra->restrictlist;
	candidate.sjinfo = extra->sjinfo;
	candidate.param_source_rels = extra->param_source_rels;
	if (!gpb_is_join_by_columns(&candidate))
		return;
	if (unique != NULL)
		outers = outer_path_fits(&candidate, unique) ? list_make1(unique) : NIL;
	else
	{
		outers = find_outer_paths(root, &candidate);
		partial = partial_outer_paths(&candidate);
	}
	if ((outers == NIL && partial == NIL) || !find_table(root, &candidate) ||
		!gpb_collect_join_clauses(&candidate))
		return;
	foreach(lc, candidate.table->indexlist)
	{
		if (!gpb_match_join_index(root, &candidate, lfirst_node(IndexOptInfo, lc)))
			continue;
		gpb_match_join_program(root, &candidate);
		add_index_paths(root, &candidate, outers, partial);
	}
}

/* ---- plan ---- */

/* Where each inner column comes from: a column of the index, or of the table. */
static AttrNumber *
column_sources(IndexOptInfo *index, bool index_only, List *columns)
{
	AttrNumber *sources = palloc(sizeof(AttrNumber) * Max(list_length(columns), 1));
	ListCell   *lc;

	foreach(lc, columns)
	{
		AttrNumber	attno = lfirst_node(Var, lc)->varattno;

		sources[foreach_current_index(lc)] = index_only ?
			gpb_column_position(index, gpb_index_column(index, attno)) + 1 : attno;
	}
	return sources;
}

/* What is said of the table, as the query says it: what is above the node is matched with that. */
static List *
as_said(PlannerInfo *root, const GpbJoinCandidate *candidate, List *expressions)
{
	if (candidate->table == candidate->innerrel)
		return expressions;
	return (List *) gpb_of_parent(root, candidate->table, (Node *) expressions);
}

/* The fields of the plan node, but for what depends on the columns of both sides */
static void
begin_join_plan(PlannerInfo *root, const GpbJoinPath *own, GpbJoinPlan *plan)
{
	const GpbJoinCandidate *candidate = own->candidate;

	plan->index = candidate->index->indexoid;
	plan->jointype = candidate->jointype;
	plan->index_only = candidate->index_only;
	plan->in_order = own->path.path.pathkeys != NIL;
	plan->nconditions = candidate->nconditions;
	plan->conditions = candidate->conditions;
	plan->clauses = as_said(root, candidate, gpb_join_range_clauses(candidate));
	plan->match = as_said(root, candidate, gpb_order_clauses(root, own->match));
	plan->filters = as_said(root, candidate, gpb_order_clauses(root, candidate->filters));
	plan->has_program = candidate->has_program;
	if (plan->has_program)
		plan->program = *candidate->program;
	plan->rest = as_said(root, candidate, gpb_order_clauses(root, candidate->rest));
}

/* The partitions, and where each has the inner columns, which the query says so */
static void
add_partitions(PlannerInfo *root, const GpbJoinCandidate *candidate, List *inner,
			   GpbJoinPlan *plan)
{
	ListCell   *lc;

	plan->partitions = candidate->partitions->list;
	plan->partitions.has_append = true;
	if (plan->index_only)
		return;
	plan->partition_inner = palloc(sizeof(AttrNumber *) * plan->partitions.n);
	foreach(lc, candidate->partitions->indexes)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		List	   *columns = (List *) gpb_of_child(root, index->rel, (Node *) inner);

		plan->partition_inner[foreach_current_index(lc)] = column_sources(index, false, columns);
	}
}

/*
 * Can counts tell which outer rows have a match?  "result" has all expressions of the rows that
 * come out.  An anti-join returns inner columns only as NULLs.
 */
static bool
counts_are_enough(PlannerInfo *root, const GpbJoinPlan *plan, Index innerrel, List *result)
{
	if (plan->match != NIL || plan->filters != NIL)
		return false;
	if (plan->jointype == JOIN_SEMI)
		return !bms_is_member(innerrel, pull_varnos(root, (Node *) result));
	return plan->jointype == JOIN_ANTI;
}

/* PlanCustomPath */
static Plan *
plan_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
		  List *tlist, List *clauses, List *custom_plans)
{
	const GpbJoinPath *own = (const GpbJoinPath *) path;
	const GpbJoinCandidate *candidate = own->candidate;
	IndexOptInfo *index = candidate->index;
	List	   *result = as_said(root, candidate, gpb_order_clauses(root, own->result));
	List	   *columns = gpb_plan_columns(linitial(custom_plans));
	List	   *inner = as_said(root, candidate, candidate->columns);
	List	   *keys = as_said(root, candidate, gpb_key_vars(root, index));
	GpbJoinPlan plan = {0};
	CustomScan *scan;
	int			ncolumns;

	begin_join_plan(root, own, &plan);
	plan.nouter = list_length(columns);
	plan.ninner = list_length(candidate->columns);
	plan.inner = column_sources(index, plan.index_only, candidate->columns);
	if (candidate->partitions != NULL)
		add_partitions(root, candidate, inner, &plan);
	columns = list_concat(columns, inner);
	ncolumns = list_length(columns);
	columns = list_concat(columns, list_difference(keys, inner));
	plan.counts = counts_are_enough(root, &plan, candidate->innerrel->relid,
									list_concat_copy(tlist, result));
	scan = gpb_make_node(&gpb_join_node, path, 0, tlist, result, custom_plans, columns);
	gpb_join_put(&plan, scan);
	gpb_check_conditions(path, scan, plan.clauses, 1, plan.nouter);
	gpb_check_expressions(path, scan, list_concat_copy(plan.match, plan.filters), 1, ncolumns);
	gpb_check_expressions(path, scan, plan.program.constants, 1, plan.nouter);
	gpb_check_expressions(path, scan, list_concat_copy(tlist, result), 1, ncolumns);
	gpb_agree_on_nulling(path, scan);
	return &scan->scan.plan;
}
