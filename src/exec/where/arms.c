/*-------------------------------------------------------------------------
 *
 * arms.c
 *	  ORs and row comparisons each of whose arms makes ranges of an index's key.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/restrictinfo.h"

#include "exec/compile/program_build.h"
#include "exec/shell/expressions.h"
#include "exec/where/arms.h"
#include "exec/where/condition_match.h"

/* The most arms that clauses are combined to, since each is evaluated by itself */
#define GPB_MAX_ARMS	64

/* ---- arms ---- */

/*
 * The arms of a clause, each a List of clauses; NIL if it is neither an OR nor a row comparison.
 * Row comparisons have arms for indexes of several key columns alone.
 */
static List *
clause_arms(const IndexOptInfo *index, Expr *clause)
{
	bool		rows = index->nkeycolumns > 1;
	List	   *arms = NIL;
	ListCell   *lc;

	if (rows && IsA(clause, RowCompareExpr))
		return gpb_row_comparison_arms((RowCompareExpr *) clause);
	if (!is_orclause(clause))
		return NIL;
	foreach(lc, ((BoolExpr *) clause)->args)
	{
		List	   *part = rows && IsA(lfirst(lc), RowCompareExpr) ?
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

	for (int c = 0; c < index->nkeycolumns; c++)
	{
		bool		points = false;
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
		if (c + 1 < index->nkeycolumns && !points &&
			!gpb_column_is_fixed(root, index, c, split->ranges))
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
	foreach(lc, clause_arms(index, clause))
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

/*
 * May the arms of one more clause be combined with those there are?  Where a key has one column
 * nothing is combined, so arms may be any number.
 */
static bool
arms_fit(const IndexOptInfo *index, List *arms, const GpbRangeSplit *split)
{
	return index->nkeycolumns == 1 ||
		list_length(arms) * Max(list_length(split->arms), 1) <= GPB_MAX_ARMS;
}

void
gpb_take_arms(PlannerInfo *root, IndexOptInfo *index, List *computed, GpbRangeSplit *split)
{
	bool		alone = index->nkeycolumns == 1;
	ListCell   *lc;

	if (alone && split->arrays != NIL)
		return;
	foreach(lc, split->others)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		List	   *arms;
		bool		exact;

		if (rinfo->pseudoconstant || !restriction_is_securely_promotable(rinfo, index->rel))
			continue;
		arms = match_arms(root, index, rinfo->clause, computed, split, &exact);
		if (arms == NIL || !arms_fit(index, arms, split))
			continue;
		split->arms = combine_arms(split->arms, arms);
		if (exact)
		{
			split->arms_clauses = lappend(split->arms_clauses, rinfo);
			split->others = foreach_delete_current(split->others, lc);
		}
		if (alone)
			break;
	}
}

/* ---- what arms say ---- */

/* May evaluating the value of a condition on the key raise an error? */
static bool
value_may_fail(Expr *condition)
{
	Node	   *value;

	if (!IsA(condition, OpExpr))
		return false;
	value = lsecond(((OpExpr *) condition)->args);
	return gpb_may_fail(value) && !gpb_is_of_moments(value);
}

bool
gpb_arms_may_fail(List *arms)
{
	ListCell   *lc;

	foreach(lc, arms)
	{
		ListCell   *condition;

		foreach(condition, lfirst_node(List, lc))
		{
			if (value_may_fail(lfirst(condition)))
				return true;
		}
	}
	return false;
}

Selectivity
gpb_arms_selectivity(PlannerInfo *root, IndexOptInfo *index, List *arms)
{
	Selectivity all = 0.0;
	ListCell   *lc;

	foreach(lc, arms)
		all += clauselist_selectivity(root, lfirst_node(List, lc), index->rel->relid, JOIN_INNER,
									  NULL);
	return Min(all, 1.0);
}

List *
gpb_index_conditions(List *conditions, List *arrays, List *arms)
{
	List	   *all = list_concat_copy(conditions, arrays);
	List	   *joined = NIL;
	ListCell   *lc;

	foreach(lc, arms)
		joined = lappend(joined, make_ands_explicit(lfirst_node(List, lc)));
	if (joined != NIL)
		all = lappend(all, list_length(joined) == 1 ? linitial(joined) : make_orclause(joined));
	return all;
}
