/*-------------------------------------------------------------------------
 *
 * plan_rules.c
 *	  What the planning of every node of ours asks: may a node of ours run in this query, over
 *	  this table, with this index (rule M10); and what heap visits cost.
 *
 *-------------------------------------------------------------------------
 */
#include "../compat.h"

#include <math.h>

#include "access/heapam.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "nodes/makefuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "parser/parsetree.h"
#include "utils/lsyscache.h"
#include "utils/rel.h"
#include "utils/spccache.h"

#include "../index/index.h"
#include "../mirror/mirror.h"
#include "plan_rules.h"
#include "visibility.h"

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

List *
gpb_secure_order(List *rinfos)
{
	List	   *clauses = NIL;
	Index		level = 0;
	Index		most = 0;
	ListCell   *lc;

	for (level = 0; level <= most; level++)
	{
		foreach(lc, rinfos)
		{
			RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

			most = Max(most, rinfo->security_level);
			if (rinfo->security_level == level)
				clauses = lappend(clauses, rinfo->clause);
		}
	}
	return clauses;
}

/* ---- tables and indexes ---- */

bool
gpb_rel_is_plain(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte;
	Relation	heap;
	bool		plain;

	if (rel->reloptkind != RELOPT_BASEREL || rel->rtekind != RTE_RELATION ||
		rel->indexlist == NIL || IS_DUMMY_REL(rel) ||
		!bms_is_empty(rel->lateral_relids))
		return false;
	rte = planner_rt_fetch(rel->relid, root);
	if (rte->inh || rte->tablesample != NULL ||
		(rte->relkind != RELKIND_RELATION && rte->relkind != RELKIND_MATVIEW))
		return false;

	/* The planner holds a lock already. */
	heap = table_open(rte->relid, NoLock);
	plain = heap->rd_tableam == GetHeapamTableAmRoutine();
	table_close(heap, NoLock);
	return plain;
}

bool
gpb_index_is_usable(IndexOptInfo *index)
{
	/*
	 * The cost function is how a planner node shows its access method.  Entries that are there for
	 * an index's ends (index_ends.c) have no key column.
	 */
	return index->amcostestimate == gpb_costestimate &&
		!index->hypothetical && index->indexkeys[0] != 0 &&
		index->nkeycolumns == 1 &&
		(index->indpred == NIL || index->predOK);
}

int
gpb_index_column(IndexOptInfo *index, AttrNumber attno)
{
	int			c;

	for (c = 0; c < index->ncolumns; c++)
	{
		if (index->indexkeys[c] == attno)
			return c;
	}
	return -1;
}

Var *
gpb_key_var(PlannerInfo *root, IndexOptInfo *index)
{
	Oid			type;
	int32		typmod;
	Oid			collation;

	get_atttypetypmodcoll(planner_rt_fetch(index->rel->relid, root)->relid,
						  index->indexkeys[0], &type, &typmod, &collation);
	return makeVar(index->rel->relid, index->indexkeys[0], type, typmod, collation, 0);
}

/* ---- costs ---- */

/*
 * How far the heap's order follows the key's, as the access method estimates
 * it: its cost function is asked about a scan of the whole index.
 */
static double
gpb_index_correlation(PlannerInfo *root, IndexOptInfo *index)
{
	IndexPath  *path = makeNode(IndexPath);
	Cost		startup_cost;
	Cost		total_cost;
	Selectivity selectivity;
	double		correlation;
	double		pages;

	path->path.pathtype = T_IndexOnlyScan;
	path->path.parent = index->rel;
	path->path.pathtarget = index->rel->reltarget;
	path->indexinfo = index;
	path->indexscandir = ForwardScanDirection;
	index->amcostestimate(root, path, 1.0, &startup_cost, &total_cost,
						  &selectivity, &correlation, &pages);
	return correlation;
}

/* Interpolated by correlation as the core does for index scans. */
Cost
gpb_heap_cost(PlannerInfo *root, IndexOptInfo *index, double entries, double fraction)
{
	RelOptInfo *rel = index->rel;
	double		random_page_cost;
	double		seq_page_cost;
	double		scattered;
	double		clustered;
	double		correlation;
	double		share;

	if (fraction <= 0.0 || rel->pages == 0)
		return 0.0;
	get_tablespace_page_costs(rel->reltablespace, &random_page_cost, &seq_page_cost);

	scattered = index_pages_fetched(entries, rel->pages, index->pages, root);
	clustered = ceil(entries / Max(rel->tuples, 1.0) * rel->pages);
	clustered = Min(clustered, scattered);
	/* the more of the table a visit covers, the more it reads it in order */
	share = sqrt(Min(scattered / rel->pages, 1.0));
	correlation = gpb_index_correlation(root, index);
	correlation *= correlation;

	return fraction *
		(correlation * clustered * seq_page_cost +
		 (1.0 - correlation) * scattered *
		 (random_page_cost - (random_page_cost - seq_page_cost) * share)) +
		fraction * entries * cpu_tuple_cost;
}

/*
 * Reading entries costs a tenth of what an index scan is charged for them on the CPU, and next to nothing on a
 * device.
 */
Cost
gpb_count_cost(PlannerInfo *root, IndexOptInfo *index, double entries)
{
	RelOptInfo *rel = index->rel;
	double		leaves;
	double		random_page_cost;
	double		seq_page_cost;
	Cost		cost;

	get_tablespace_page_costs(index->reltablespace, &random_page_cost, &seq_page_cost);
	leaves = ceil(entries / Max(index->tuples, 1.0) * index->pages);
	leaves = Min(leaves, index->pages);
	if (gpb_mirror_available())
		cost = leaves * 0.1 * cpu_operator_cost +
			rel->pages / (double) GPB_VM_PAGE_BLOCKS * seq_page_cost;
	else
		cost = random_page_cost + leaves * seq_page_cost +
			entries * 0.1 * (cpu_index_tuple_cost + cpu_tuple_cost);
	return cost + gpb_heap_cost(root, index, entries, 1.0 - rel->allvisfrac);
}
