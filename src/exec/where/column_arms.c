/*-------------------------------------------------------------------------
 *
 * column_arms.c
 *	  ORs and row comparisons as ranges of an index with several key columns.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "catalog/pg_type.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"

#include "exec/compile/program_build.h"
#include "exec/shell/expressions.h"
#include "exec/where/column_arms.h"
#include "exec/where/column_conditions.h"

/* The most arms that clauses are combined to, since each is evaluated by itself */
#define GPB_MAX_COLUMN_ARMS		64

/* ---- arms ---- */

/* The arms of a clause, each a List of clauses; NIL if it is neither an OR nor a row comparison */
static List *
clause_arms(Expr *clause)
{
	List	   *arms = NIL;
	ListCell   *lc;

	if (IsA(clause, RowCompareExpr))
		return gpb_row_comparison_arms((RowCompareExpr *) clause);
	if (!is_orclause(clause))
		return NIL;
	foreach(lc, ((BoolExpr *) clause)->args)
	{
		List	   *part = IsA(lfirst(lc), RowCompareExpr) ?
			gpb_row_comparison_arms(lfirst_node(RowCompareExpr, lc)) :
			list_make1(make_ands_implicit(lfirst(lc)));

		if (part == NIL)
			return NIL;
		arms = list_concat(arms, part);
	}
	return arms;
}

/*
 * The conditions of an arm on key columns, each as far as the columns before have single values, by
 * the arm or by the conditions that are taken.  *exact becomes false if the arm has others.
 */
static List *
arm_conditions(PlannerInfo *root, IndexOptInfo *index, List *arm, List *computed,
			   const GpbRangeSplit *split, bool *exact)
{
	List	   *conditions = NIL;
	List	   *left = list_copy(arm);
	int			c;

	for (c = 0; c < index->nkeycolumns; c++)
	{
		bool		points = gpb_column_is_fixed(root, index, c, split->ranges);
		ListCell   *lc;

		foreach(lc, left)
		{
			bool		point;
			Expr	   *condition = gpb_match_column(root, index, c, lfirst(lc), &point);

			if (condition == NULL || IsA(condition, ScalarArrayOpExpr) ||
				list_member(computed, condition) ||
				gpb_has_subquery_value(root, (Node *) condition))
				continue;
			conditions = lappend(conditions, condition);
			left = foreach_delete_current(left, lc);
			points |= point;
		}
		if (!points)
			break;
	}
	*exact &= left == NIL;
	return conditions;
}

/* The arms of a clause as conditions on key columns; NIL if one has none. */
static List *
match_arms(PlannerInfo *root, IndexOptInfo *index, Expr *clause, List *computed,
		   const GpbRangeSplit *split, bool *exact)
{
	List	   *arms = NIL;
	ListCell   *lc;

	*exact = true;
	foreach(lc, clause_arms(clause))
	{
		List	   *conditions = arm_conditions(root, index, lfirst_node(List, lc), computed,
												split, exact);

		if (conditions == NIL)
			return NIL;
		arms = lappend(arms, conditions);
	}
	return arms;
}

/* Combine each arm with each of others. */
static List *
combine_arms(List *arms, List *others)
{
	List	   *combined = NIL;
	ListCell   *lc;
	ListCell   *other;

	if (arms == NIL)
		return others;
	foreach(lc, arms)
	{
		foreach(other, others)
			combined = lappend(combined, list_concat_copy(lfirst(lc), lfirst(other)));
	}
	return combined;
}

void
gpb_take_column_arms(PlannerInfo *root, IndexOptInfo *index, List *computed, GpbRangeSplit *split)
{
	ListCell   *lc;

	foreach(lc, split->others)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		List	   *arms;
		bool		exact;

		if (rinfo->pseudoconstant || !restriction_is_securely_promotable(rinfo, index->rel))
			continue;
		arms = match_arms(root, index, rinfo->clause, computed, split, &exact);
		if (arms == NIL ||
			list_length(arms) * Max(list_length(split->arms), 1) > GPB_MAX_COLUMN_ARMS)
			continue;
		split->arms = combine_arms(split->arms, arms);
		if (!exact)
			continue;
		split->arms_clauses = lappend(split->arms_clauses, rinfo);
		split->others = foreach_delete_current(split->others, lc);
	}
}
