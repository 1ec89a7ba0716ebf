/*-------------------------------------------------------------------------
 *
 * plan_rules.c
 *	  May a node of ours run in this query, over this table, with this index (rule M10)?
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/heapam.h"
#include "access/table.h"
#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/appendinfo.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "parser/parsetree.h"
#include "utils/rel.h"

#include "exec/shell/node_shell.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "index/index.h"

/* ---- the query ---- */

bool
gpb_query_allows_nodes(PlannerInfo *root)
{
	CmdType		command = root->parse->commandType;

	return (command == CMD_SELECT || command == CMD_INSERT) && root->parse->rowMarks == NIL &&
		root->rowMarks == NIL;
}

/* ---- the table ---- */

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
gpb_rel_may_be_table(PlannerInfo *root, RelOptInfo *rel)
{
	RangeTblEntry *rte;

	if (!IS_SIMPLE_REL(rel) || (rel->reloptkind != RELOPT_BASEREL && !gpb_enable_partitions) ||
		rel->rtekind != RTE_RELATION || rel->indexlist == NIL ||
		IS_DUMMY_REL(rel) || !bms_is_empty(rel->lateral_relids) || !rows_are_the_heaps(rel))
		return false;
	rte = planner_rt_fetch(rel->relid, root);
	return !rte->inh && rte->tablesample == NULL &&
		(rte->relkind == RELKIND_RELATION || rte->relkind == RELKIND_MATVIEW);
}

bool
gpb_rel_is_table(PlannerInfo *root, RelOptInfo *rel)
{
	return gpb_rel_may_be_table(root, rel) && gpb_rel_is_heap(root, rel);
}

bool
gpb_rel_is_plain(PlannerInfo *root, RelOptInfo *rel)
{
	return rel->reloptkind == RELOPT_BASEREL && gpb_rel_is_table(root, rel);
}

/* ---- parents and children ---- */

/* Add the leaves that planning has left of a parent, in core's order. */
static void
collect_leaves(PlannerInfo *root, RelOptInfo *parent, List **leaves)
{
	ListCell   *lc;

	foreach(lc, root->append_rel_list)
	{
		const AppendRelInfo *info = lfirst_node(AppendRelInfo, lc);
		RelOptInfo *child = root->simple_rel_array[info->child_relid];

		if (info->parent_relid != parent->relid || child == NULL || IS_DUMMY_REL(child))
			continue;
		if (planner_rt_fetch(child->relid, root)->inh)
			collect_leaves(root, child, leaves);
		else
			*leaves = lappend(*leaves, child);
	}
}

List *
gpb_leaves_of(PlannerInfo *root, RelOptInfo *parent)
{
	List	   *leaves = NIL;

	collect_leaves(root, parent, &leaves);
	return leaves;
}

RelOptInfo *
gpb_only_table(PlannerInfo *root, RelOptInfo *rel)
{
	if (rel->reloptkind != RELOPT_BASEREL || rel->rtekind != RTE_RELATION)
		return NULL;
	if (planner_rt_fetch(rel->relid, root)->inh)
	{
		List	   *leaves = gpb_leaves_of(root, rel);

		if (list_length(leaves) != 1)
			return NULL;
		rel = linitial(leaves);
	}
	return gpb_rel_is_table(root, rel) ? rel : NULL;
}

bool
gpb_rel_has_the_columns(PlannerInfo *root, RelOptInfo *rel)
{
	Index		relid = rel->relid;

	if (rel->reloptkind == RELOPT_OTHER_MEMBER_REL)
		relid = bms_singleton_member(rel->top_parent_relids);
	return planner_rt_fetch(relid, root)->rtekind == RTE_RELATION;
}

Node *
gpb_of_child(PlannerInfo *root, RelOptInfo *rel, Node *expression)
{
	if (rel->reloptkind != RELOPT_OTHER_MEMBER_REL)
		return expression;
	return adjust_appendrel_attrs_multilevel(root, expression, GPB_RELS_OF(rel));
}

const AppendRelInfo *
gpb_parent_table(PlannerInfo *root, Index relid)
{
	const AppendRelInfo *info = NULL;

	/* without children there is no array */
	if (root->append_rel_array != NULL)
		info = root->append_rel_array[relid];
	if (info == NULL || planner_rt_fetch(info->parent_relid, root)->rtekind != RTE_RELATION)
		return NULL;
	return info;
}

/* expression_tree_mutator: put columns of the parent in the place of those of its child. */
static Node *
parent_mutator(Node *node, void *context)
{
	const AppendRelInfo *info = context;
	Var		   *var;

	if (node == NULL)
		return NULL;
	if (!IsA(node, Var) || ((Var *) node)->varno != info->child_relid ||
		((Var *) node)->varattno <= 0)
		return expression_tree_mutator(node, parent_mutator, context);
	var = copyObject((Var *) node);
	var->varno = info->parent_relid;
	var->varattno = info->parent_colnos[var->varattno - 1];
	var->varnosyn = var->varno;
	var->varattnosyn = var->varattno;
	return (Node *) var;
}

Node *
gpb_of_parent(PlannerInfo *root, RelOptInfo *rel, Node *expression)
{
	const AppendRelInfo *info = gpb_parent_table(root, rel->relid);

	for (; info != NULL; info = gpb_parent_table(root, info->parent_relid))
		expression = parent_mutator(expression, (void *) info);
	return expression;
}

/* ---- the index ---- */

/* Programs have the columns of a key that has several in slots of their own. */
bool
gpb_index_is_usable(IndexOptInfo *index)
{
	int			c;

	/* The cost function is how a planner node shows its access method. */
	if (index->amcostestimate != gpb_costestimate || index->hypothetical ||
		(index->nkeycolumns > 1 && index->ncolumns + 1 > GPB_MAX_COLUMNS) ||
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
