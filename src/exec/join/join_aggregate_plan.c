/*-------------------------------------------------------------------------
 *
 * join_aggregate_plan.c
 *	  Planning of joins under aggregates.
 *
 * One row of aggregates over an inner join with one table, each of them count(*) or over one and the same column of that
 * table's index, needs no joined row: a batch of keys is answered by one total.  What the query
 * asks of the other tables is their own plan's affair.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"

#include "leaf_aggregate.h"
#include "exec/join/join_aggregate.h"
#include "exec/common/plan_check.h"
#include "exec/common/plan_rules.h"

static Plan *gpb_plan_join_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
									 List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods gpb_join_aggregate_path_methods = {
	.CustomName = "GpubtreeJoinAggregate",
	.PlanCustomPath = gpb_plan_join_aggregate
};

/* ---- is the join of our kind? ---- */

bool
gpb_joined_last(PlannerInfo *root, RelOptInfo *innerrel, const SpecialJoinInfo *own)
{
	ListCell   *lc;

	foreach(lc, root->join_info_list)
	{
		SpecialJoinInfo *sjinfo = lfirst_node(SpecialJoinInfo, lc);

		if (sjinfo == own)
			continue;
		if (bms_is_member(innerrel->relid, sjinfo->syn_righthand) ||
			bms_is_member(innerrel->relid, sjinfo->min_lefthand) ||
			(sjinfo->jointype == JOIN_FULL &&
			 bms_is_member(innerrel->relid, sjinfo->syn_lefthand)))
			return false;
	}
	return true;
}

RelOptInfo *
gpb_find_outer_side(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *innerrel)
{
	Relids		others = bms_del_member(bms_copy(joinrel->relids), innerrel->relid);
	RelOptInfo *outerrel;

	if (bms_membership(others) == BMS_MULTIPLE)
		outerrel = find_join_rel(root, others);
	else
		outerrel = find_base_rel(root, bms_singleton_member(others));
	if (outerrel == NULL || outerrel->cheapest_total_path == NULL ||
		IS_DUMMY_REL(outerrel) || !bms_is_empty(outerrel->lateral_relids) ||
		!bms_is_empty(PATH_REQ_OUTER(outerrel->cheapest_total_path)))
		return NULL;
	return outerrel;
}

List *
gpb_join_clauses(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
				 RelOptInfo *innerrel)
{
	List	   *clauses = generate_join_implied_equalities(root, joinrel->relids,
														   outerrel->relids, innerrel);
	ListCell   *lc;

	foreach(lc, innerrel->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (bms_is_subset(rinfo->required_relids, joinrel->relids))
			clauses = list_append_unique_ptr(clauses, rinfo);
	}
	/* those without a column of the table, which wait for it all the same */
	foreach(lc, outerrel->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (bms_is_subset(rinfo->required_relids, joinrel->relids))
			clauses = list_append_unique_ptr(clauses, rinfo);
	}
	return clauses;
}

/*
 * Fill in the plan's part about aggregates: all of them over one column of the index, and none
 * that needs a sum of double precision.
 */
static bool
gpb_match_join_aggrefs(IndexOptInfo *index, List *aggrefs, GpbAggregateItem **items)
{
	int			column = -1;
	ListCell   *lc;

	*items = palloc(sizeof(GpbAggregateItem) * list_length(aggrefs));
	foreach(lc, aggrefs)
	{
		GpbAggregateItem *item = &(*items)[foreach_current_index(lc)];

		if (!gpb_match_aggref(lfirst_node(Aggref, lc), index, item))
			return false;
		if (item->function == GPB_COUNT_ENTRIES)
			continue;
		if (column >= 0 && item->column != column)
			return false;
		column = item->column;
		if ((item->function == GPB_SUM || item->function == GPB_AVG) &&
			item->type == FLOAT8OID)
			return false;
	}
	return true;
}

/* ---- path ---- */

/* Make the path for a candidate, and the items of its aggregates. */
static CustomPath *
gpb_make_join_aggregate_path(PlannerInfo *root, RelOptInfo *grouped_rel,
							 GpbJoinCandidate *candidate, List *aggrefs,
							 GpbAggregateItem *items)
{
	CustomPath *path = makeNode(CustomPath);
	Path	   *outer = candidate->outerrel->cheapest_total_path;
	GpbJoinInput input = {0};

	path->path.pathtype = T_CustomScan;
	path->path.parent = candidate->joinrel;
	path->path.pathtarget = grouped_rel->reltarget;
	path->path.parallel_safe = false;
	path->path.rows = 1;

	input.index = candidate->index;
	input.outer = outer;
	input.outer_rows = outer->rows;
	input.keys = gpb_join_distinct_keys(root, candidate->condition, outer->rows);
	input.rows = 1;
	input.matches = outer->rows * candidate->index->tuples * candidate->selectivity;
	input.aggregated = true;
	input.index_only = true;
	input.target = path->path.pathtarget;
	gpb_join_cost(root, &input, &path->path.startup_cost, &path->path.total_cost);
	path->path.startup_cost = path->path.total_cost;

	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &gpb_join_aggregate_path_methods;
	path->custom_paths = list_make1(outer);
	path->custom_private =
		list_make5(aggrefs, gpb_key_var(root, candidate->index),
				   list_make1(candidate->condition),
				   gpb_aggregate_private(candidate->index->indexoid, items,
										 list_length(aggrefs)),
				   list_make1_oid(candidate->value_type));
	return path;
}

/* Offer the paths in which one table is the inner one. */
static void
gpb_add_inner_table(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *grouped_rel,
					RelOptInfo *innerrel, List *aggrefs)
{
	GpbJoinCandidate candidate = {0};
	SpecialJoinInfo sjinfo = {.type = T_SpecialJoinInfo};
	RelOptInfo *outerrel;
	ListCell   *lc;

	if (!gpb_join_is_possible(root, innerrel) || !gpb_joined_last(root, innerrel, NULL))
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
	candidate.restrictlist = gpb_join_clauses(root, joinrel, outerrel, innerrel);
	candidate.sjinfo = &sjinfo;
	if (list_length(candidate.restrictlist) != 1)
		return;

	foreach(lc, innerrel->indexlist)
	{
		IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);
		GpbAggregateItem *items;

		if (gpb_match_join_index(root, &candidate, index) && candidate.filters == NIL &&
			gpb_match_join_aggrefs(index, aggrefs, &items))
			add_path(grouped_rel,
					 (Path *) gpb_make_join_aggregate_path(root, grouped_rel, &candidate,
														   aggrefs, items));
	}
}

void
gpb_join_aggregate_add_paths(PlannerInfo *root, RelOptInfo *input_rel,
							 RelOptInfo *grouped_rel)
{
	List	   *aggrefs;
	int			relid = -1;

	if (!gpb_enable_joinaggregate || !gpb_enable_batchjoin || !gpb_enable_aggregate ||
		input_rel->reloptkind != RELOPT_JOINREL || IS_DUMMY_REL(input_rel) ||
		!gpb_query_is_plain(root) || root->hasPseudoConstantQuals ||
		!gpb_collect_aggrefs(grouped_rel->reltarget, &aggrefs))
		return;
	while ((relid = bms_next_member(input_rel->relids, relid)) >= 0)
	{
		RelOptInfo *innerrel = find_base_rel(root, relid);

		gpb_add_inner_table(root, input_rel, grouped_rel, innerrel, aggrefs);
	}
}

/* ---- plan ---- */

/* PlanCustomPath; see join_aggregate.h for what is where. */
static Plan *
gpb_plan_join_aggregate(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
						List *tlist, List *clauses, List *custom_plans)
{
	CustomScan *scan = makeNode(CustomScan);
	Plan	   *outer = linitial(custom_plans);
	List	   *columns = NIL;
	List	   *scan_tlist = NIL;
	ListCell   *lc;

	foreach(lc, outer->targetlist)
		columns = lappend(columns, lfirst_node(TargetEntry, lc)->expr);
	columns = list_concat(columns, linitial_node(List, path->custom_private));
	columns = lappend(columns, lsecond(path->custom_private));
	foreach(lc, columns)
		scan_tlist = lappend(scan_tlist,
							 makeTargetEntry(lfirst(lc), list_length(scan_tlist) + 1,
											 NULL, false));

	scan->scan.plan.targetlist = tlist;
	scan->scan.scanrelid = 0;
	scan->flags = path->flags;
	scan->custom_plans = custom_plans;
	scan->custom_scan_tlist = scan_tlist;
	scan->custom_exprs = lthird(path->custom_private);
	scan->custom_private = list_make3(lfourth(path->custom_private),
									  list_nth(path->custom_private, 4),
									  list_make1_int(list_length(outer->targetlist)));
	scan->methods = &gpb_join_aggregate_scan_methods;
	gpb_check_conditions(path, scan, scan->custom_exprs, 1, list_length(outer->targetlist));
	gpb_check_expressions(path, scan, tlist, list_length(outer->targetlist) + 1,
						  list_length(columns) - 1);
	return &scan->scan.plan;
}
