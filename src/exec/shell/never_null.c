/*-------------------------------------------------------------------------
 *
 * never_null.c
 *	  What is never NULL, since a column is declared NOT NULL, or an index's predicate says so.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/table.h"
#include "parser/parsetree.h"
#include "utils/fmgroids.h"
#include "utils/rel.h"

#include "exec/shell/expressions.h"
#include "exec/shell/never_null.h"
#include "page/page.h"

bool
gpb_column_is_not_null(Oid table, AttrNumber column)
{
	/* the planner holds a lock already */
	Relation	heap = table_open(table, NoLock);
	bool		not_null = GPB_NEVER_NULL(RelationGetDescr(heap), column - 1);

	table_close(heap, NoLock);
	return not_null;
}

bool
gpb_index_has_no_null(IndexOptInfo *index, Var *column)
{
	return gpb_implies_not_null(index->indpred, (Expr *) column);
}

bool
gpb_is_never_null(PlannerInfo *root, IndexOptInfo *index, Expr *expression)
{
	RangeTblEntry *rte;
	Var		   *var;

	expression = gpb_without_labels(expression);
	if (IsA(expression, Const))
		return !((Const *) expression)->constisnull;
	var = (Var *) expression;
	if (!IsA(expression, Var) || var->varlevelsup != 0 || var->varattno <= 0 ||
		root->join_info_list != NIL)
		return false;
	rte = planner_rt_fetch(var->varno, root);
	return rte->rtekind == RTE_RELATION && !rte->inh &&
		(gpb_column_is_not_null(rte->relid, var->varattno) ||
		 (index != NULL && gpb_index_has_no_null(index, var)));
}

bool
gpb_counts_rows(PlannerInfo *root, IndexOptInfo *index, const Aggref *aggref)
{
	if (aggref->aggdistinct != NIL)
		return false;
	return aggref->aggfnoid == F_COUNT_ ||
		(aggref->aggfnoid == F_COUNT_ANY &&
		 gpb_is_never_null(root, index, linitial_node(TargetEntry, aggref->args)->expr));
}

bool
gpb_is_always_true(PlannerInfo *root, IndexOptInfo *index, const RestrictInfo *rinfo)
{
	NullTest   *test = (NullTest *) rinfo->clause;

	return IsA(test, NullTest) && test->nulltesttype == IS_NOT_NULL && !test->argisrow &&
		gpb_is_never_null(root, index, test->arg);
}
