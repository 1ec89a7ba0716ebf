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

#include "exec/common/outer_cost.h"
#include "exec/common/plan_check.h"
#include "exec/common/plan_rules.h"
#include "exec/common/settings.h"
#include "exec/join/join_node.h"

static Plan *plan_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
					   List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods join_path_methods = {
	.CustomName = "GpubtreeJoin",
	.PlanCustomPath = plan_join
};

typedef struct GpbJoinPath
{
	CustomPath	path;
	IndexOptInfo *index;
	List	   *columns;		/* as in GpbJoinCandidate, and so are keys */
	List	   *keys;
	List	   *result;			/* clauses that are tested on rows that come out */
	GpbJoinPlan plan;			/* the columns of both sides are not known yet */
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
			RINFO_IS_PUSHED_DOWN(rinfo, candidate->joinrel->relids))
			*result = lappend(*result, rinfo);
		else
			*match = lappend(*match, rinfo);
	}
}

/* May the outer path be joined to the inner table?  *required is what its parameters come from. */
static bool
outer_path_fits(const GpbJoinCandidate *candidate, Path *outer, Relids *required)
{
	*required = PATH_REQ_OUTER(outer);
	if (bms_is_empty(*required))
		return true;
	return !bms_overlap(*required, candidate->innerrel->relids) &&
		bms_overlap(*required, candidate->param_source_rels);
}

/*
 * Has the join a path already that is cheaper than any of ours over the outer path could be, with
 * so many rows fetched from the heap?
 */
static bool
is_beaten(PlannerInfo *root, const GpbJoinCandidate *candidate, IndexOptInfo *index, Path *outer,
		  double fetched)
{
	Cost		startup_cost;
	Cost		total_cost;

	gpb_least_outer_cost(root, outer, index, fetched, &startup_cost, &total_cost);
	return !add_path_precheck(candidate->joinrel, startup_cost, total_cost,
							  build_join_pathkeys(root, candidate->joinrel, candidate->jointype,
												  outer->pathkeys),
							  PATH_REQ_OUTER(outer));
}

/* How many rows come from the heap, about, for those of the outer path? */
static double
fetched_rows(const GpbJoinCandidate *candidate, const Path *outer)
{
	return candidate->index_only ? 0 :
		outer->rows * candidate->index->tuples * candidate->selectivity * candidate->kept;
}

/*
 * Are core's paths cheaper than any of ours, whatever the index?  Most joins of a query with many
 * tables end here.  Without rows to fetch the least price depends on no index.
 */
static bool
all_are_beaten(PlannerInfo *root, const GpbJoinCandidate *candidate)
{
	IndexOptInfo *any = linitial(candidate->innerrel->indexlist);
	ListCell   *lc;

	if (candidate->joinrel->consider_parallel && candidate->outerrel->partial_pathlist != NIL)
		return false;
	foreach(lc, candidate->outerrel->pathlist)
	{
		if (!is_beaten(root, candidate, any, lfirst(lc), 0))
			return false;
	}
	return true;
}

/* Make the path with one outer path; NULL if the two do not fit. */
static CustomPath *
make_join_path(PlannerInfo *root, GpbJoinCandidate *candidate, Path *outer)
{
	RelOptInfo *joinrel = candidate->joinrel;
	CustomPath *path;
	GpbJoinPath *own;
	List	   *restrictlist = list_copy(candidate->restrictlist);
	List	   *match;
	List	   *result;
	Relids		required;
	GpbOuterInput input = {0};

	if (!outer_path_fits(candidate, outer, &required))
		return NULL;
	path = gpb_make_path(sizeof(GpbJoinPath), &join_path_methods, joinrel, joinrel->reltarget);
	path->path.param_info = get_joinrel_parampathinfo(root, joinrel, outer,
													  candidate->innerrel->cheapest_total_path,
													  candidate->sjinfo,
													  required, &restrictlist);
	path->path.rows = path->path.param_info ? path->path.param_info->ppi_rows : joinrel->rows;
	path->path.parallel_safe = joinrel->consider_parallel && outer->parallel_safe;
	path->path.pathkeys = build_join_pathkeys(root, joinrel, candidate->jointype,
											  outer->pathkeys);
	part_clauses(candidate, restrictlist, &match, &result);

	input.index = candidate->index;
	input.outer = outer;
	input.outer_rows = outer->rows;
	input.keys = gpb_join_distinct_keys(root, candidate, outer->rows);
	input.rows = path->path.rows;
	input.matches = outer->rows * candidate->index->tuples * candidate->selectivity;
	/* core knows from foreign keys of several columns what selectivities do not say */
	if (candidate->jointype == JOIN_INNER && path->path.param_info == NULL)
		input.matches = Max(input.matches, path->path.rows);
	input.index_only = candidate->index_only;
	input.in_order = path->path.pathkeys != NIL;
	input.dropped = 1.0 - candidate->kept;
	input.begin_cost = candidate->begin_cost;
	input.entry_cost = candidate->entry_cost;
	input.filters = list_concat_copy(candidate->rest, match);
	input.target = path->path.pathtarget;
	gpb_outer_cost(root, &input, &path->path.startup_cost, &path->path.total_cost);

	path->custom_paths = list_make1(outer);
	GPB_ADD_DISABLED(&path->path, outer);
	own = (GpbJoinPath *) path;
	own->index = candidate->index;
	own->columns = candidate->columns;
	own->keys = candidate->keys;
	own->result = gpb_order_clauses(root, result);
	own->plan.index = candidate->index->indexoid;
	own->plan.jointype = candidate->jointype;
	own->plan.index_only = candidate->index_only;
	own->plan.in_order = input.in_order;
	own->plan.nconditions = candidate->nconditions;
	own->plan.conditions = candidate->conditions;
	own->plan.clauses = candidate->clauses;
	own->plan.match = gpb_order_clauses(root, match);
	own->plan.filters = gpb_order_clauses(root, candidate->filters);
	own->plan.has_program = candidate->has_program;
	own->plan.program = candidate->program;
	own->plan.rest = gpb_order_clauses(root, candidate->rest);
	return path;
}

/* Offer the path with one partial outer path, of whose rows each process joins its share. */
static void
add_partial_join_path(PlannerInfo *root, GpbJoinCandidate *candidate, Path *outer)
{
	CustomPath *path = make_join_path(root, candidate, outer);
	double		share = outer->rows / Max(candidate->outerrel->rows, 1.0);

	if (path == NULL || !path->path.parallel_safe || path->path.param_info != NULL)
		return;
	path->path.rows = clamp_row_est(path->path.rows * Min(share, 1.0));
	path->path.parallel_workers = outer->parallel_workers;
	add_partial_path(candidate->joinrel, (Path *) path);
}

/*
 * Offer the paths of the candidate's index: with the path "unique" alone, or if that is NULL with
 * each path of the outer side.
 */
static void
add_index_paths(PlannerInfo *root, GpbJoinCandidate *candidate, Path *unique)
{
	ListCell   *lc;

	if (unique != NULL)
	{
		CustomPath *path = make_join_path(root, candidate, unique);

		if (path != NULL)
			add_path(candidate->joinrel, (Path *) path);
		return;
	}
	foreach(lc, candidate->outerrel->pathlist)
	{
		Path	   *outer = lfirst(lc);
		CustomPath *path;

		if (is_beaten(root, candidate, candidate->index, outer, fetched_rows(candidate, outer)))
			continue;
		path = make_join_path(root, candidate, outer);
		if (path != NULL)
			add_path(candidate->joinrel, (Path *) path);
	}
	if (!candidate->joinrel->consider_parallel ||
		!bms_is_empty(candidate->joinrel->lateral_relids))
		return;
	foreach(lc, candidate->outerrel->partial_pathlist)
		add_partial_join_path(root, candidate, lfirst(lc));
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
	ListCell   *lc;

	if (!gpb_enable_batchjoin || innerrel->indexlist == NIL ||
		!gpb_join_is_possible(root, innerrel) || innerrel->cheapest_total_path == NULL ||
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
	candidate.restrictlist = extra->restrictlist;
	candidate.sjinfo = extra->sjinfo;
	candidate.param_source_rels = extra->param_source_rels;
	if (!gpb_collect_join_columns(&candidate) ||
		(unique == NULL && all_are_beaten(root, &candidate)))
		return;
	foreach(lc, innerrel->indexlist)
	{
		if (!gpb_match_join_index(root, &candidate, lfirst_node(IndexOptInfo, lc)))
			continue;
		gpb_match_join_program(root, &candidate);
		add_index_paths(root, &candidate, unique);
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

/* PlanCustomPath */
static Plan *
plan_join(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
		  List *tlist, List *clauses, List *custom_plans)
{
	GpbJoinPath *own = (GpbJoinPath *) path;
	GpbJoinPlan *plan = &own->plan;
	List	   *columns = gpb_plan_columns(linitial(custom_plans));
	CustomScan *scan;
	int			ncolumns;

	plan->nouter = list_length(columns);
	plan->ninner = list_length(own->columns);
	plan->inner = column_sources(own->index, plan->index_only, own->columns);
	columns = list_concat(columns, own->columns);
	ncolumns = list_length(columns);
	columns = list_concat(columns, own->keys);
	plan->counts = gpb_join_counts(root, plan, own->index->rel->relid,
								   list_concat_copy(tlist, own->result));
	scan = gpb_make_node(&gpb_join_node, path, 0, tlist, own->result, custom_plans, columns);
	gpb_join_put(plan, scan);
	gpb_check_conditions(path, scan, plan->clauses, 1, plan->nouter);
	gpb_check_expressions(path, scan, list_concat_copy(plan->match, plan->filters), 1, ncolumns);
	gpb_check_expressions(path, scan, plan->program.constants, 1, plan->nouter);
	gpb_check_expressions(path, scan, list_concat_copy(tlist, own->result), 1, ncolumns);
	gpb_agree_on_nulling(path, scan);
	return &scan->scan.plan;
}
