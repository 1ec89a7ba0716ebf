/*-------------------------------------------------------------------------
 *
 * join_match.c
 *	  Can an index do a join?
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/nbtree.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/restrictinfo.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"

#include "exec/join/join_node.h"
#include "exec/common/plan_rules.h"

/*
 * The clause as "key = outer expression", if it is an equality of the index's family between
 * the key and an expression of the outer side alone; else NULL.
 */
static OpExpr *
match_equality(GpbJoinCandidate *candidate, RestrictInfo *rinfo)
{
	IndexOptInfo *index = candidate->index;
	OpExpr	   *clause = (OpExpr *) rinfo->clause;
	Oid			operator;
	Node	   *value;
	int			strategy;
	Oid			left;
	bool		commute = false;

	if (!IsA(clause, OpExpr) || list_length(clause->args) != 2)
		return NULL;
	if (bms_is_subset(rinfo->right_relids, candidate->outerrel->relids) &&
		match_index_to_operand(linitial(clause->args), 0, index))
	{
		operator = clause->opno;
		value = lsecond(clause->args);
	}
	else if (bms_is_subset(rinfo->left_relids, candidate->outerrel->relids) &&
			 match_index_to_operand(lsecond(clause->args), 0, index))
	{
		commute = true;
		operator = get_commutator(clause->opno);
		value = linitial(clause->args);
	}
	else
		return NULL;

	if (!OidIsValid(operator) || !op_in_opfamily(operator, index->opfamily[0]) ||
		contain_volatile_functions(value) || contain_subplans(value))
		return NULL;
	get_op_opfamily_properties(operator, index->opfamily[0], false, &strategy, &left,
							   &candidate->value_type);
	if (strategy != BTEqualStrategyNumber)
		return NULL;
	if (commute)
	{
		clause = copyObject(clause);
		CommuteOpExpr(clause);
	}
	return clause;
}

/*
 * Find the clause that the index is to answer.  In an outer join it must be one of the join's own,
 * and never one that might tell what it saw ahead of a row-level security policy.
 */
static bool
find_equality(GpbJoinCandidate *candidate, List *restrictlist)
{
	ListCell   *lc;

	foreach(lc, restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (IS_OUTER_JOIN(candidate->jointype) &&
			RINFO_IS_PUSHED_DOWN(rinfo, candidate->joinrel->relids))
			continue;
		if (!restriction_is_securely_promotable(rinfo, candidate->innerrel))
			continue;
		candidate->condition = match_equality(candidate, rinfo);
		if (candidate->condition == NULL)
			continue;
		candidate->equality = rinfo;
		return true;
	}
	return false;
}

/*
 * The inner columns that the join, what is above it, and the filters need; the key last.  False if
 * they need anything but plain columns.
 */
static bool
inner_columns(PlannerInfo *root, GpbJoinCandidate *candidate)
{
	Var		   *key = gpb_key_var(root, candidate->index);
	List	   *needed = list_copy(candidate->innerrel->reltarget->exprs);
	List	   *filters = extract_actual_clauses(candidate->filters, false);
	ListCell   *lc;

	needed = list_concat(needed, pull_var_clause((Node *) filters, PVC_INCLUDE_PLACEHOLDERS));
	candidate->columns = NIL;
	foreach(lc, needed)
	{
		Var		   *var = (Var *) lfirst(lc);

		if (!IsA(var, Var) || var->varno != candidate->innerrel->relid || var->varattno <= 0)
			return false;
		if (!equal(var, key))
			candidate->columns = list_append_unique(candidate->columns, var);
	}
	candidate->columns = lappend(candidate->columns, key);
	return true;
}

/* The fraction of all pairs of an outer and an inner row that the equality lets pass */
static double
equality_selectivity(PlannerInfo *root, GpbJoinCandidate *candidate)
{
	SpecialJoinInfo inner = *candidate->sjinfo;

	inner.jointype = JOIN_INNER;
	return clause_selectivity(root, (Node *) candidate->equality, 0, JOIN_INNER, &inner);
}

bool
gpb_match_join_index(PlannerInfo *root, GpbJoinCandidate *candidate, IndexOptInfo *index)
{
	ListCell   *lc;

	/* core tests such clauses once, above a join of its own */
	foreach(lc, candidate->restrictlist)
	{
		if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
			return false;
	}
	candidate->index = index;
	candidate->filters = index->indrestrictinfo;
	if (!gpb_index_is_usable(index) ||
		!find_equality(candidate, candidate->restrictlist) ||
		!inner_columns(root, candidate))
		return false;
	candidate->index_only = gpb_index_has_columns(index, candidate->columns);
	candidate->selectivity = equality_selectivity(root, candidate);
	return true;
}

double
gpb_join_distinct_keys(PlannerInfo *root, OpExpr *condition, double outer_rows)
{
	return estimate_num_groups(root, list_make1(lsecond(condition->args)), outer_rows, NULL, NULL);
}
