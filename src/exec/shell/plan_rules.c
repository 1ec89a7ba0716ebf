/*-------------------------------------------------------------------------
 *
 * plan_rules.c
 *	  What the planning of every node of ours asks: may a node of ours run in this query, over
 *	  this table, with this index (rule M10).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/heapam.h"
#include "access/stratnum.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "catalog/pg_statistic.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "parser/parsetree.h"
#include "utils/rel.h"
#include "utils/selfuncs.h"
#include "utils/snapmgr.h"
#include "utils/syscache.h"

#include "exec/shell/node_shell.h"
#include "exec/shell/plan_rules.h"
#include "index/index.h"

/* ---- queries ---- */

bool
gpb_query_allows_nodes(PlannerInfo *root)
{
	for (; root != NULL; root = root->parent_root)
	{
		CmdType		command = root->parse->commandType;

		if (command != CMD_SELECT && command != CMD_INSERT)
			return false;
		if (root->parse->rowMarks != NIL || root->rowMarks != NIL ||
			root->parse->onConflict != NULL)
			return false;
	}
	return true;
}

/* ---- clauses ---- */

/* What a clause's place is decided by */
typedef struct GpbClauseRank
{
	Index		security_level;
	Cost		cost;			/* of a test */
} GpbClauseRank;

/*
 * The rank of a clause.  A leakproof clause that is cheap may come ahead of its level, as in core.
 */
static GpbClauseRank
rank_clause(PlannerInfo *root, Node *clause)
{
	GpbClauseRank rank = {0};
	QualCost	cost;

	cost_qual_eval_node(&cost, clause, root);
	rank.cost = cost.per_tuple;
	if (IsA(clause, RestrictInfo) &&
		!(((RestrictInfo *) clause)->leakproof && rank.cost < 10 * cpu_operator_cost))
		rank.security_level = ((RestrictInfo *) clause)->security_level;
	return rank;
}

List *
gpb_order_clauses(PlannerInfo *root, List *clauses)
{
	int			n = list_length(clauses);
	GpbClauseRank *ranks = palloc(sizeof(GpbClauseRank) * (n + 1));
	List	   *ordered = NIL;
	ListCell   *lc;

	foreach(lc, clauses)
	{
		Node	   *clause = lfirst(lc);
		GpbClauseRank rank = rank_clause(root, clause);
		int			place = list_length(ordered);

		while (place > 0 && (ranks[place - 1].security_level > rank.security_level ||
							 (ranks[place - 1].security_level == rank.security_level &&
							  ranks[place - 1].cost > rank.cost)))
		{
			ranks[place] = ranks[place - 1];
			place--;
		}
		ranks[place] = rank;
		if (IsA(clause, RestrictInfo))
			clause = (Node *) ((RestrictInfo *) clause)->clause;
		ordered = list_insert_nth(ordered, place, clause);
	}
	return ordered;
}

/* ---- tables and indexes ---- */

/*
 * Are the table's rows those of its heap?  An extension may keep others elsewhere (a TimescaleDB
 * chunk that is compressed in part does, and has its indexes still); it replaces all paths that
 * core has made.  So one of them must be there, or one of ours that took its place in the list.
 * A path that gathers rows of workers never pushes a serial one out, which is parallel safe.
 */
static bool
rows_are_the_heaps(const RelOptInfo *rel)
{
	ListCell   *lc;

	foreach(lc, rel->pathlist)
	{
		const Path *path = lfirst(lc);

		while (IsA(path, ProjectionPath))
			path = ((const ProjectionPath *) path)->subpath;
		if (path->parent != rel)
			continue;
		if (path->pathtype == T_SeqScan || path->pathtype == T_IndexScan ||
			path->pathtype == T_IndexOnlyScan || path->pathtype == T_BitmapHeapScan ||
			path->pathtype == T_TidScan || path->pathtype == T_TidRangeScan ||
			gpb_is_our_path(path))
			return true;
	}
	return false;
}

bool
gpb_rel_is_heap(PlannerInfo *root, RelOptInfo *rel)
{
	/* The planner holds a lock already. */
	Relation	heap = table_open(planner_rt_fetch(rel->relid, root)->relid, NoLock);
	bool		is_heap = heap->rd_tableam == GetHeapamTableAmRoutine();

	table_close(heap, NoLock);
	return is_heap;
}

bool
gpb_rel_may_be_plain(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte;

	if (rel->reloptkind != RELOPT_BASEREL || rel->rtekind != RTE_RELATION ||
		rel->indexlist == NIL || IS_DUMMY_REL(rel) ||
		!bms_is_empty(rel->lateral_relids) || !rows_are_the_heaps(rel))
		return false;
	rte = planner_rt_fetch(rel->relid, root);
	return !rte->inh && rte->tablesample == NULL &&
		(rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_MATVIEW);
}

bool
gpb_rel_is_plain(PlannerInfo *root, RelOptInfo *rel)
{
	return gpb_rel_may_be_plain(root, rel) && gpb_rel_is_heap(root, rel);
}

bool
gpb_index_is_usable(IndexOptInfo *index)
{
	/* The cost function is how a planner node shows its access method. */
	return index->amcostestimate == gpb_costestimate &&
		!index->hypothetical && index->indexkeys[0] != 0 &&
		index->nkeycolumns == 1 &&
		(index->indpred == NIL || index->predOK);
}

bool
gpb_index_has_several_keys(IndexOptInfo *index)
{
	int			c;

	if (index->amcostestimate != gpb_costestimate || index->hypothetical ||
		index->nkeycolumns < 2 || index->ncolumns + 1 > GPB_MAX_COLUMNS ||
		(index->indpred != NIL && !index->predOK))
		return false;
	/* No key column is an expression. */
	for (c = 0; c < index->nkeycolumns; c++)
	{
		if (index->indexkeys[c] == 0)
			return false;
	}
	return true;
}

/* ---- joins ---- */

/*
 * With old_snapshot_threshold a row may go between the index's visit and the heap's, and nobody
 * would notice (rule M5).
 */
bool
gpb_join_is_possible(PlannerInfo *root, RelOptInfo *innerrel)
{
	return !OldSnapshotThresholdActive() && gpb_query_allows_nodes(root) &&
		gpb_rel_is_plain(root, innerrel);
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
	/* clauses without a column of the table wait for this join all the same */
	foreach(lc, outerrel->joininfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (bms_is_subset(rinfo->required_relids, joinrel->relids))
			clauses = list_append_unique_ptr(clauses, rinfo);
	}
	return clauses;
}
