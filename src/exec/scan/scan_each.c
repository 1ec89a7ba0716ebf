/*-------------------------------------------------------------------------
 *
 * scan_each.c
 *	  One row of each key: which queries.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_type.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/typcache.h"

#include "exec/compile/program_words.h"
#include "exec/scan/scan_match.h"
#include "exec/shell/plan_rules.h"

/* Do these clauses take for equal what the types themselves do? */
static bool
equality_is_own(PlannerInfo *root, List *clauses)
{
	ListCell   *lc;

	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expression = get_sortgroupclause_expr(clause, root->processed_tlist);

		if (lookup_type_cache(exprType(expression), TYPECACHE_EQ_OPR)->eq_opr != clause->eqop)
			return false;
	}
	return true;
}

/* The only column that the expressions refer to; NULL if they refer to none, or to several */
static Var *
only_column(List *expressions)
{
	Var		   *column = NULL;
	ListCell   *lc;

	foreach(lc, pull_var_clause((Node *) expressions, PVC_RECURSE_PLACEHOLDERS))
	{
		if (column != NULL && !equal(column, lfirst(lc)))
			return NULL;
		column = lfirst_node(Var, lc);
	}
	return column;
}

/* The column of DISTINCT ON over one column, without any order but by that; else NULL */
static Var *
distinct_on_column(PlannerInfo *root)
{
	Query	   *parse = root->parse;
	ListCell   *lc;
	List	   *expressions = NIL;

	foreach(lc, list_concat_copy(parse->distinctClause, parse->sortClause))
		expressions = list_append_unique(expressions,
										 get_sortgroupclause_expr(lfirst(lc),
																  root->processed_tlist));
	if (list_length(expressions) != 1 || !IsA(linitial(expressions), Var))
		return NULL;
	return linitial(expressions);
}

/* Is the query one whose rows are those of one table, each value of some expressions once? */
static bool
wants_values(PlannerInfo *root, RelOptInfo *rel)
{
	Query	   *parse = root->parse;

	return (parse->distinctClause != NIL || parse->groupClause != NIL) && !parse->hasAggs &&
		gpb_rel_has_the_columns(root, rel) && !parse->hasWindowFuncs &&
		!parse->hasTargetSRFs && parse->groupingSets == NIL && parse->setOperations == NULL &&
		!root->hasPseudoConstantQuals && bms_membership(root->all_baserels) == BMS_SINGLETON;
}

/* Has the table an index on this column alone? */
static bool
has_index_on(const RelOptInfo *rel, const Var *column)
{
	ListCell   *lc;

	foreach(lc, rel->indexlist)
	{
		const IndexOptInfo *index = lfirst_node(IndexOptInfo, lc);

		if (index->nkeycolumns == 1 && index->indexkeys[0] == column->varattno)
			return true;
	}
	return false;
}

Var *
gpb_scan_wants_each(PlannerInfo *root, RelOptInfo *rel)
{
	Query	   *parse = root->parse;
	List	   *expressions;
	Var		   *column;

	if (!wants_values(root, rel))
		return NULL;
	expressions = lappend(get_tlist_exprs(root->processed_tlist, true), parse->havingQual);
	if (parse->hasDistinctOn)
		column = parse->groupClause == NIL ? distinct_on_column(root) : NULL;
	else
		column = only_column(expressions);
	/* values of other types may be equal and differ */
	if (column == NULL || column->varattno <= 0 ||
		!OidIsValid(gpb_word_type(column->vartype)) ||
		gpb_word_is_float(gpb_word_type(column->vartype)))
		return NULL;
	column = (Var *) gpb_of_child(root, rel, (Node *) column);
	if (!has_index_on(rel, column) || !equality_is_own(root, parse->distinctClause) ||
		!equality_is_own(root, parse->groupClause) ||
		contain_volatile_functions((Node *) expressions) ||
		contain_subplans((Node *) expressions))
		return NULL;
	return column;
}

bool
gpb_scan_match_each(GpbScanMatch *match, Var *column)
{
	if (match->split.others != NIL || match->split.arrays != NIL ||
		match->index->indexkeys[0] != column->varattno)
		return false;
	match->plan.has_each = true;
	return true;
}
