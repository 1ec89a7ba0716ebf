/*-------------------------------------------------------------------------
 *
 * join_sides.c
 *	  Joins whose last step is one table: may there be a node of ours, and what it joins.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/snapmgr.h"

#include "exec/shell/join_sides.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"

/*
 * With old_snapshot_threshold a row may go between the index's visit and the heap's, and nobody
 * would notice (rule M5).
 */
RelOptInfo *
gpb_join_table(PlannerInfo *root, RelOptInfo *innerrel)
{
	if (OldSnapshotThresholdActive() || !gpb_query_allows_nodes(root))
		return NULL;
	/* in a join of children, which core makes of partitions that match each other */
	if (innerrel->reloptkind == RELOPT_OTHER_MEMBER_REL)
		return gpb_rel_is_table(root, innerrel) ? innerrel : NULL;
	return gpb_only_table(root, innerrel);
}

List *
gpb_join_leaves(PlannerInfo *root, RelOptInfo *innerrel)
{
	List	   *leaves;

	if (OldSnapshotThresholdActive() || !gpb_query_allows_nodes(root) || !gpb_enable_partitions ||
		innerrel->reloptkind != RELOPT_BASEREL || innerrel->rtekind != RTE_RELATION ||
		IS_DUMMY_REL(innerrel) || !bms_is_empty(innerrel->lateral_relids) ||
		!planner_rt_fetch(innerrel->relid, root)->inh ||
		planner_rt_fetch(innerrel->relid, root)->tablesample != NULL)
		return NIL;
	leaves = gpb_leaves_of(root, innerrel);
	return list_length(leaves) > 1 ? leaves : NIL;
}

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
	ListCell   *lc;

	/* the outer join that has the table on its right side is no part of the outer side */
	foreach(lc, root->join_info_list)
	{
		SpecialJoinInfo *sjinfo = lfirst_node(SpecialJoinInfo, lc);

		if (bms_is_member(innerrel->relid, sjinfo->syn_righthand) &&
			GPB_OUTER_JOIN_RELID(sjinfo) != 0)
			others = bms_del_member(others, GPB_OUTER_JOIN_RELID(sjinfo));
	}
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

/* Add those clauses of a side that wait for the join of "inputs", which has these relations. */
static List *
add_waiting(List *clauses, const RelOptInfo *side, Relids inputs, Relids joined)
{
	ListCell   *lc;

	foreach(lc, side->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (bms_is_subset(rinfo->required_relids, joined) && !GPB_IS_OTHER_CLONE(rinfo, inputs))
			clauses = list_append_unique_ptr(clauses, rinfo);
	}
	return clauses;
}

/* As build_joinrel_restrictlist() of core has them */
List *
gpb_join_clauses(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
				 RelOptInfo *innerrel, SpecialJoinInfo *own)
{
	Relids		inputs = bms_union(outerrel->relids, innerrel->relids);
	List	   *clauses = generate_join_implied_equalities(root, joinrel->relids,
														   outerrel->relids, innerrel, own);

	clauses = add_waiting(clauses, innerrel, inputs, joinrel->relids);
	/* clauses without a column of the table wait for this join all the same */
	return add_waiting(clauses, outerrel, inputs, joinrel->relids);
}
