/*-------------------------------------------------------------------------
 *
 * key_arms.c
 *	  An OR each of whose arms has a range of the key.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"

#include "exec/compile/program_build.h"
#include "exec/shell/expressions.h"
#include "exec/where/key_arms.h"
#include "exec/where/key_conditions.h"

/* The conditions of an arm on the key; *exact becomes false if the arm has others. */
static List *
arm_conditions(PlannerInfo *root, Expr *arm, IndexOptInfo *index, List *computed, bool *exact)
{
	List	   *conditions = NIL;
	ListCell   *lc;

	foreach(lc, make_ands_implicit(arm))
	{
		Expr	   *condition = gpb_match_key_clause(root, lfirst(lc), index);

		if (condition != NULL && !list_member(computed, condition) &&
			!gpb_has_subquery_value(root, (Node *) condition))
			conditions = lappend(conditions, condition);
		else
			*exact = false;
	}
	return conditions;
}

List *
gpb_match_arms(PlannerInfo *root, Expr *clause, IndexOptInfo *index, List *computed, bool *exact)
{
	List	   *arms = NIL;
	ListCell   *lc;

	if (!is_orclause(clause))
		return NIL;
	*exact = true;
	foreach(lc, ((BoolExpr *) clause)->args)
	{
		List	   *conditions = arm_conditions(root, lfirst(lc), index, computed, exact);

		if (conditions == NIL)
			return NIL;
		arms = lappend(arms, conditions);
	}
	return arms;
}

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
