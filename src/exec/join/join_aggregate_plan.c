/*-------------------------------------------------------------------------
 *
 * join_aggregate_plan.c
 *	  Planning of joins under aggregates.
 *
 * One row of aggregates over an inner join with one table, all of them over what that table's index
 * has, needs no joined row: a batch of keys is answered by one total.  What the query asks of the
 * other tables is their own plan's affair.  A program may be what aggregates
 * (bind/row_program.h), if it has an answer in any case, as for min() and max() of texts.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"

#include "exec/answer/ordinary.h"
#include "exec/compile/grouping.h"
#include "exec/compile/state_column.h"
#include "exec/join/join_aggregate.h"
#include "exec/join/join_node.h"
#include "exec/price/outer_price.h"
#include "exec/price/price_constants.h"
#include "exec/price/workers.h"
#include "exec/range/range_aggregate.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/join_sides.h"
#include "exec/shell/plan_check.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "mirror/mirror.h"

static Plan *plan_join_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
								 List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods join_aggregate_path_methods = {
	.CustomName = "GpubtreeJoinAggregate",
	.PlanCustomPath = plan_join_aggregate
};

typedef struct GpbJoinAggregatePath
{
	CustomPath	path;
	const GpbJoinCandidate *candidate;
	List	   *aggrefs;		/* of the items, as the query says them */
	Expr	   *state;			/* of a node that returns one; else NULL */
	GpbRangeAggregatePlan *plan;	/* the outer plan's columns are not known yet */
} GpbJoinAggregatePath;

/* ---- path ---- */

/*
 * Find how an index answers the aggregates: fill in the items and the program, if they take one,
 * and the ordinary path that takes over where values are elsewhere.  Returns false if there is
 * none, or if the program may give up once the outer plan is read: that may be of a kind that is
 * not read twice; or if it reads ranks of texts, and the table has several partitions.
 */
static bool
match_aggregates(PlannerInfo *root, RelOptInfo *grouped_rel, RelOptInfo *outerrel,
				 IndexOptInfo *index, List *aggrefs, bool partitioned,
				 GpbRangeAggregatePlan *plan, Path **ordinary)
{
	GpbRowRange *range = &plan->range;

	range->nitems = list_length(aggrefs);
	range->alias = planner_rt_fetch(index->rel->relid, root)->eref->aliasname;
	*ordinary = NULL;
	if (gpb_match_row_program(root, index, NIL, aggrefs, &range->program, &range->items) != NULL ||
		!gpb_row_program_is_certain(&range->program) ||
		(partitioned && gpb_row_program_has_ranks(&range->program)))
		return false;
	plan->has_ordinary = range->program.present && range->program.may_give_up;
	if (!plan->has_ordinary)
		return true;
	*ordinary = gpb_ordinary_path_beside(root, grouped_rel, outerrel, grouped_rel->reltarget);
	return *ordinary != NULL;
}

/*
 * Make the path for a candidate over an outer path, and the fields of its plan node that say how to
 * aggregate.
 */
static CustomPath *
make_join_aggregate_path(PlannerInfo *root, PathTarget *target, GpbJoinCandidate *candidate,
						 Path *outer, List *aggrefs, const GpbRangeAggregatePlan *plan,
						 Path *ordinary)
{
	CustomPath *path = gpb_make_path(sizeof(GpbJoinAggregatePath),
									 &join_aggregate_path_methods, candidate->joinrel, target);
	GpbJoinAggregatePath *own = (GpbJoinAggregatePath *) path;
	GpbOuterInput input = {.ask.root = root, .ask.index = candidate->index, .outer = outer,
	.rows = 1, .target = path->path.pathtarget};
	double		processes = 1.0;

	path->path.rows = 1;
	/* processes exchange keys, so that each has its part of those of all */
	if (outer->parallel_workers > 0)
		processes = Max(candidate->outerrel->rows / Max(outer->rows, 1.0), 1.0);
	input.ask.processes = processes;
	input.ask.exchanged = outer->parallel_workers > 0;
	input.ask.keys = gpb_join_distinct_keys(root, candidate, outer->rows * processes) / processes;
	input.ask.entries = outer->rows * gpb_join_inner_entries(candidate) * candidate->selectivity;
	if (candidate->partitions != NULL)
		gpb_price_partitions(&input, candidate->partitions,
							 input.ask.entries / Max(outer->rows, 1.0));
	input.ask.entry_cost = plan->range.program.entry_cost;
	input.begin_cost = plan->range.program.begin_cost;
	path->path.total_cost = gpb_outer_price(&input).total_cost;
	path->path.startup_cost = path->path.total_cost;

	path->custom_paths = ordinary == NULL ? list_make1(outer) : list_make2(outer, ordinary);
	if (candidate->partitions != NULL)
		path->custom_paths = lappend(path->custom_paths,
									 gpb_partitions_path(root, candidate->partitions));
	GPB_ADD_DISABLED(&path->path, outer);
	own->candidate = memcpy(palloc(sizeof(*candidate)), candidate, sizeof(*candidate));
	own->aggrefs = aggrefs;
	own->plan = memcpy(palloc(sizeof(*plan)), plan, sizeof(*plan));
	own->plan->joined = true;
	if (candidate->partitions != NULL)
		own->plan->partitions = candidate->partitions->list;
	own->plan->partitions.has_append = candidate->partitions != NULL;
	own->plan->range.index = candidate->index->indexoid;
	own->plan->range.nconditions = candidate->nconditions;
	own->plan->range.conditions = candidate->conditions;
	own->plan->clauses = gpb_join_range_clauses(candidate);
	return path;
}

/* ---- workers ---- */

/*
 * The path that returns a state of the outer rows of one process; NULL if no workers can read the
 * outer side, or if answers have ranks of texts, which are no state.  A device is asked by one
 * process.
 */
static CustomPath *
make_partial_path(PlannerInfo *root, GpbJoinCandidate *candidate, List *aggrefs,
				  const GpbRangeAggregatePlan *plan)
{
	const RelOptInfo *joinrel = candidate->joinrel;
	Path	   *outer;
	Expr	   *state;
	CustomPath *path;
	GpbJoinAggregatePath *own;

	if (!joinrel->consider_parallel || candidate->outerrel->partial_pathlist == NIL ||
		!bms_is_empty(joinrel->lateral_relids) || candidate->partitions != NULL ||
		plan->has_ordinary || gpb_row_program_has_ranks(&plan->range.program) ||
		gpb_mirror_spares_cpu() ||
		!is_parallel_safe(root, (Node *) aggrefs))
		return NULL;
	outer = linitial(candidate->outerrel->partial_pathlist);
	state = gpb_state_expression(NIL, aggrefs);
	path = make_join_aggregate_path(root, gpb_state_target(state), candidate, outer, aggrefs, plan,
									NULL);
	path->path.parallel_safe = true;
	path->path.parallel_aware = true;
	path->path.parallel_workers = outer->parallel_workers;
	own = (GpbJoinAggregatePath *) path;
	own->state = state;
	own->plan->returns_state = true;
	return path;
}

/*
 * Offer a path that merges the states of several processes, if there is one, and if workers save
 * time beside one process, whose path is "serial".
 */
static void
add_gather_path(PlannerInfo *root, RelOptInfo *grouped_rel, GpbJoinCandidate *candidate,
				List *aggrefs, const GpbRangeAggregatePlan *plan, const CustomPath *serial)
{
	CustomPath *partial = make_partial_path(root, candidate, aggrefs, plan);
	CustomPath *path;
	GatherPath *gather;
	GpbJoinAggregatePath *own;
	double		rows;

	if (partial == NULL || !gpb_workers_save_time(serial->path.total_cost, false,
												  partial->path.parallel_workers))
		return;
	rows = partial->path.parallel_workers + (parallel_leader_participation ? 1 : 0);
	gather = create_gather_path(root, candidate->joinrel, &partial->path,
								partial->path.pathtarget, NULL, &rows);
	path = gpb_make_path(sizeof(GpbJoinAggregatePath), &join_aggregate_path_methods,
						 candidate->joinrel, grouped_rel->reltarget);
	own = (GpbJoinAggregatePath *) path;
	own->candidate = ((GpbJoinAggregatePath *) partial)->candidate;
	own->aggrefs = aggrefs;
	own->plan = memcpy(palloc(sizeof(*plan)), ((GpbJoinAggregatePath *) partial)->plan,
					   sizeof(*plan));
	own->plan->returns_state = false;
	own->plan->merges_states = true;
	own->plan->range.nconditions = 0;
	own->plan->clauses = NIL;
	path->custom_paths = list_make1(gather);
	path->path.rows = 1;
	path->path.startup_cost = gather->path.total_cost +
		rows * GPB_MERGE_COST * cpu_operator_cost + grouped_rel->reltarget->cost.startup;
	path->path.total_cost = path->path.startup_cost + cpu_tuple_cost +
		grouped_rel->reltarget->cost.per_tuple;
	GPB_ADD_DISABLED(&path->path, &gather->path);
	add_path(grouped_rel, &path->path);
}

/* ---- paths of all indexes ---- */

/* Offer the paths in which one table is the inner one. */
static void
add_inner_table(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *grouped_rel,
				RelOptInfo *innerrel, List *aggrefs)
{
	GpbJoinCandidate candidate = {0};
	SpecialJoinInfo sjinfo = {.type = T_SpecialJoinInfo};
	RelOptInfo *table;
	RelOptInfo *outerrel;
	GpbRangeColumns columns;
	List	   *meant;			/* the aggregates, over the table's columns */
	ListCell   *lc;

	candidate.leaves = gpb_join_leaves(root, innerrel);
	table = candidate.leaves == NIL ? gpb_join_table(root, innerrel) :
		gpb_model_partition(root, candidate.leaves);
	if (table == NULL || !gpb_joined_last(root, innerrel, NULL))
		return;
	outerrel = gpb_find_outer_side(root, joinrel, innerrel);
	if (outerrel == NULL)
		return;

	sjinfo.min_lefthand = sjinfo.syn_lefthand = outerrel->relids;
	sjinfo.min_righthand = sjinfo.syn_righthand = innerrel->relids;
	sjinfo.jointype = JOIN_INNER;
	candidate.jointype = JOIN_INNER;
	candidate.joinrel = joinrel;
	candidate.outerrel = outerrel;
	candidate.innerrel = innerrel;
	candidate.table = table;
	candidate.relids = bms_union(joinrel->relids, table->relids);
	candidate.restrictlist = gpb_join_clauses(root, joinrel, outerrel, innerrel, NULL);
	candidate.restrictlist = (List *)
		gpb_of_child(root, table, (Node *) candidate.restrictlist);
	meant = (List *) gpb_of_child(root, table, (Node *) aggrefs);
	candidate.sjinfo = &sjinfo;
	if (!gpb_is_join_by_columns(&candidate) || !gpb_collect_join_clauses(&candidate))
		return;
	gpb_collect_range_columns(root, table, candidate.restrictlist, meant, &columns);
	foreach(lc, table->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		GpbRangeAggregatePlan plan;
		CustomPath *serial;
		Path	   *ordinary;

		if (!gpb_may_have_ranges(index, &columns))
			continue;
		memset(&plan, 0, sizeof(plan));
		if (!gpb_match_join_index(root, &candidate, index) || candidate.filters != NIL ||
			list_difference_ptr(candidate.restrictlist, candidate.ranged) != NIL ||
			!match_aggregates(root, grouped_rel, outerrel, index, meant, candidate.leaves != NIL,
							  &plan, &ordinary))
			continue;
		serial = make_join_aggregate_path(root, grouped_rel->reltarget, &candidate,
										  outerrel->cheapest_total_path, aggrefs, &plan,
										  ordinary);
		add_gather_path(root, grouped_rel, &candidate, aggrefs, &plan, serial);
		add_path(grouped_rel, (Path *) serial);
	}
}

void
gpb_join_aggregate_add_paths(PlannerInfo *root, RelOptInfo *input_rel,
							 RelOptInfo *grouped_rel)
{
	List	   *aggrefs = NIL;
	int			relid = -1;
	Relids		tables;

	if (!gpb_enable_joinaggregate || !gpb_enable_batchjoin || !gpb_enable_aggregate ||
		input_rel->reloptkind != RELOPT_JOINREL || IS_DUMMY_REL(input_rel) ||
		!gpb_query_is_one_row(root) || root->parse->havingQual != NULL ||
		root->hasPseudoConstantQuals ||
		!gpb_collect_aggrefs(grouped_rel->reltarget->exprs, &aggrefs) || aggrefs == NIL)
		return;
	tables = GPB_TABLES(root, input_rel->relids);
	while ((relid = bms_next_member(tables, relid)) >= 0)
	{
		RelOptInfo *innerrel = find_base_rel(root, relid);

		add_inner_table(root, input_rel, grouped_rel, innerrel, aggrefs);
	}
}

/* ---- plan ---- */

/* PlanCustomPath */
static Plan *
plan_join_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
					List *tlist, List *clauses, List *custom_plans)
{
	GpbJoinAggregatePath *own = (GpbJoinAggregatePath *) path;
	GpbRangeAggregatePlan *plan = own->plan;
	List	   *columns = plan->merges_states ? NIL : gpb_plan_columns(linitial(custom_plans));
	int			results = own->state != NULL ? 1 : plan->range.nitems;
	CustomScan *scan;
	ListCell   *lc;

	plan->nouter = list_length(columns);
	plan->clauses = (List *) gpb_of_parent(root, own->candidate->table, (Node *) plan->clauses);
	plan->values = NIL;
	foreach(lc, plan->clauses)
		plan->values = lappend(plan->values, get_rightop(lfirst(lc)));
	columns = list_concat(columns, own->state != NULL ? list_make1(own->state) : own->aggrefs);
	columns = list_concat(columns,
						  (List *) gpb_of_parent(root, own->candidate->table, (Node *)
												 gpb_key_vars(root, own->candidate->index)));
	scan = gpb_make_node(&gpb_join_aggregate_node, path, 0, tlist, NIL, custom_plans, columns);
	gpb_range_aggregate_put(plan, scan);
	gpb_check_conditions(path, scan, plan->clauses, 1, plan->nouter);
	gpb_check_expressions(path, scan, tlist, plan->nouter + 1, plan->nouter + results);
	gpb_agree_on_nulling(path, scan);
	return &scan->scan.plan;
}
