/*-------------------------------------------------------------------------
 *
 * index_clauses.c
 *	  Index conditions as the planner makes them for a B-tree.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "catalog/pg_am.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "index/index_clauses.h"

const Query *gpb_row_query = NULL;
bool		gpb_row_query_has_paths = false;

/* ---- what core is shown ---- */

void
gpb_show_as_btree(IndexOptInfo *index)
{
	Size		size = sizeof(Oid) * index->nkeycolumns;
	Oid		   *families;

	if (index->sortopfamily == NULL)
		return;
	families = palloc(2 * size);
	memcpy(families, index->sortopfamily, size);
	memcpy(families + index->nkeycolumns, index->opfamily, size);
	index->relam = BTREE_AM_OID;
	index->sortopfamily = families;
	index->opfamily = families;
}

/* ---- what core has made ---- */

/* Is the operator of a condition, or are all of a row comparison, among the index's own? */
static bool
has_operators(const IndexOptInfo *index, const IndexClause *clause, const Expr *qual)
{
	const RowCompareExpr *comparison = (const RowCompareExpr *) qual;
	ListCell   *operator;
	ListCell   *column;

	if (IsA(qual, OpExpr))
		return op_in_opfamily(((const OpExpr *) qual)->opno,
							  gpb_own_family(index, clause->indexcol));
	if (IsA(qual, ScalarArrayOpExpr))
		return op_in_opfamily(((const ScalarArrayOpExpr *) qual)->opno,
							  gpb_own_family(index, clause->indexcol));
	if (!IsA(qual, RowCompareExpr))
		return true;
	forboth(operator, comparison->opnos, column, clause->indexcols)
	{
		if (!op_in_opfamily(lfirst_oid(operator), gpb_own_family(index, lfirst_int(column))))
			return false;
	}
	return true;
}

OpExpr *
gpb_row_column_bound(const RowCompareExpr *comparison, int i, Oid family)
{
	StrategyNumber whole = GPB_ROW_COMPARE_STRATEGY(comparison);
	Oid			operator = list_nth_oid(comparison->opnos, i);
	int			strategy;
	Oid			left;
	Oid			right;

	if (i < list_length(comparison->opnos) - 1)
	{
		get_op_opfamily_properties(operator, family, false, &strategy, &left, &right);
		if (whole == BTLessStrategyNumber)
			whole = BTLessEqualStrategyNumber;
		else if (whole == BTGreaterStrategyNumber)
			whole = BTGreaterEqualStrategyNumber;
		operator = get_opfamily_member(family, left, right, whole);
	}
	if (!OidIsValid(operator))
		return NULL;
	return (OpExpr *) make_opclause(operator, BOOLOID, false, list_nth(comparison->largs, i),
									list_nth(comparison->rargs, i), InvalidOid,
									list_nth_oid(comparison->inputcollids, i));
}

/* Will the whole query's plan be finished?  Others may call the planner, or copy the query. */
static bool
plan_is_finished(const PlannerInfo *root)
{
	while (root->parent_root != NULL)
		root = root->parent_root;
	return gpb_row_query != NULL && root->parse == gpb_row_query;
}

/*
 * Fit a row comparison; false if there is nothing like it for the index.  It stays where its second
 * column follows the first in the index, and the finished plan will be looked at.  Else it becomes
 * an inexact condition on its first column.
 */
static bool
fit_row_comparison(PlannerInfo *root, const IndexOptInfo *index, IndexClause *clause,
				   const RowCompareExpr *comparison)
{
	OpExpr	   *bound = gpb_row_column_bound(comparison, 0,
											 gpb_own_family(index, clause->indexcol));

	if (bound == NULL)
		return false;
	if (lsecond_int(clause->indexcols) == clause->indexcol + 1 && !index->hypothetical &&
		plan_is_finished(root))
	{
		gpb_row_query_has_paths = true;
		return true;
	}
	clause->indexquals = list_make1(make_simple_restrictinfo(root, (Expr *) bound));
	clause->lossy = true;
	clause->indexcols = NIL;
	return true;
}

/* Fit one condition; false if the path has to do without it. */
static bool
fit_clause(PlannerInfo *root, const IndexOptInfo *index, IndexClause *clause)
{
	ListCell   *lc;

	foreach(lc, clause->indexquals)
	{
		Expr	   *qual = lfirst_node(RestrictInfo, lc)->clause;

		if (!has_operators(index, clause, qual))
			return false;
		if (IsA(qual, RowCompareExpr))
			return fit_row_comparison(root, index, clause, (RowCompareExpr *) qual);
	}
	return true;
}

/*
 * Fit the conditions of a path.  Core shares IndexClauses, and the list of them, among the paths
 * over an index, so a clause is fitted in place, with the same result each time, and the list is
 * never changed.  What the path does without core makes a filter of the plan.
 */
static void
fit_clauses(PlannerInfo *root, IndexPath *path)
{
	List	   *shared = path->indexclauses;
	ListCell   *lc;

	foreach(lc, shared)
	{
		if (!fit_clause(root, path->indexinfo, lfirst_node(IndexClause, lc)))
			path->indexclauses = list_delete_ptr(list_copy(path->indexclauses), lfirst(lc));
	}
}

/*
 * amcostestimate.  Every path over an index comes here once it has its conditions, and before it
 * has a plan, so here they are fitted to what the executor can do.
 */
void
gpb_costestimate(PlannerInfo *root, IndexPath *path, double loop_count, Cost *startup_cost,
				 Cost *total_cost, Selectivity *selectivity, double *correlation, double *pages)
{
	fit_clauses(root, path);
	gpb_price_scan(root, path, loop_count, startup_cost, total_cost, selectivity, correlation,
				   pages);
}
