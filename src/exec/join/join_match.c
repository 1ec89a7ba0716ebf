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
#include "exec/common/plan_columns.h"
#include "exec/common/plan_rules.h"

/* ---- the range of keys of an outer row ---- */

/*
 * The join's clauses that may make a range.  In an outer join they must be of the join's own, and
 * never be such as might tell what they saw ahead of a row-level security policy.
 */
static List *
usable_clauses(const GpbJoinCandidate *candidate)
{
	List	   *usable = NIL;
	ListCell   *lc;

	foreach(lc, candidate->restrictlist)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (IS_OUTER_JOIN(candidate->jointype) &&
			RINFO_IS_PUSHED_DOWN(rinfo, candidate->joinrel->relids))
			continue;
		if (restriction_is_securely_promotable(rinfo, candidate->innerrel))
			usable = lappend(usable, rinfo);
	}
	return usable;
}

/*
 * The table's own conditions that may make a range, each of which has one value for all outer rows.
 * None of them might tell what it saw ahead of a row-level security policy.
 */
static List *
usable_filters(const GpbJoinCandidate *candidate)
{
	List	   *usable = NIL;
	ListCell   *lc;

	foreach(lc, candidate->index->indrestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);

		if (!rinfo->pseudoconstant &&
			restriction_is_securely_promotable(rinfo, candidate->innerrel))
			usable = lappend(usable, rinfo);
	}
	return usable;
}

/* The clause as "key column OP value", whose value this is. */
static OpExpr *
with_key_first(OpExpr *clause, Expr *value)
{
	if (lsecond(clause->args) == value)
		return clause;
	clause = copyObject(clause);
	CommuteOpExpr(clause);
	return clause;
}

/*
 * Make conditions of the clauses that are such on key column c, counted from 0; if "equal" is set,
 * of the first equality alone.  Returns whether one of them is an equality.
 */
static bool
add_conditions(PlannerInfo *root, GpbJoinCandidate *candidate, int c, List *rinfos, bool equal)
{
	bool		has_equality = false;
	ListCell   *lc;

	foreach(lc, rinfos)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		GpbRangeCondition *condition = &candidate->conditions[candidate->nconditions];
		Expr	   *value;

		if (!gpb_match_range_condition(root, candidate->index, c, rinfo->clause, condition,
									   &value) ||
			condition->column != c ||
			(equal && condition->strategy != BTEqualStrategyNumber))
			continue;
		has_equality |= condition->strategy == BTEqualStrategyNumber;
		candidate->nconditions++;
		candidate->ranged = lappend(candidate->ranged, rinfo);
		candidate->clauses = lappend(candidate->clauses,
									 with_key_first((OpExpr *) rinfo->clause, value));
		if (equal)
			break;
	}
	return has_equality;
}

/*
 * Find what makes an outer row's range of keys.  An index of one key column answers one equality
 * with an outer expression.  Of one with several the first columns equal values, of which one at
 * least is the outer row's, and the next may have a range; these may be the table's own conditions,
 * too.
 */
static bool
find_conditions(PlannerInfo *root, GpbJoinCandidate *candidate)
{
	IndexOptInfo *index = candidate->index;
	List	   *joining = usable_clauses(candidate);
	List	   *filters;
	bool		joins = false;
	int			last;
	int			c;

	candidate->nconditions = 0;
	candidate->ranged = candidate->clauses = NIL;
	filters = index->nkeycolumns > 1 ? usable_filters(candidate) : NIL;
	candidate->conditions = palloc(sizeof(GpbRangeCondition) *
								   (list_length(joining) + list_length(filters) + 1));
	last = gpb_last_bounded_column(root, index, list_concat_copy(joining, filters));
	for (c = 0; c <= last; c++)
	{
		joins |= add_conditions(root, candidate, c, joining, index->nkeycolumns == 1);
		add_conditions(root, candidate, c, filters, false);
	}
	candidate->filters = list_difference_ptr(index->indrestrictinfo, candidate->ranged);
	return joins;
}

/*
 * The inner columns that the join, what is above it, and the filters need, and those of the key
 * that they do not need.  False if they need anything but plain columns.
 */
static bool
inner_columns(PlannerInfo *root, GpbJoinCandidate *candidate)
{
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
		candidate->columns = list_append_unique(candidate->columns, var);
	}
	candidate->keys = list_difference(gpb_key_vars(root, candidate->index), candidate->columns);
	return true;
}

/* The fraction of all pairs of an outer and an inner row that the ranges let pass */
static double
range_selectivity(PlannerInfo *root, GpbJoinCandidate *candidate)
{
	SpecialJoinInfo inner = *candidate->sjinfo;
	List	   *filters = list_difference_ptr(candidate->ranged, candidate->restrictlist);
	List	   *joining = list_difference_ptr(candidate->ranged, filters);

	inner.jointype = JOIN_INNER;
	return clauselist_selectivity(root, joining, 0, JOIN_INNER, &inner) *
		clauselist_selectivity(root, filters, candidate->innerrel->relid, JOIN_INNER, NULL);
}

bool
gpb_collect_join_columns(GpbJoinCandidate *candidate)
{
	Index		relid = candidate->innerrel->relid;
	ListCell   *lc;

	/* core tests such clauses once, above a join of its own */
	foreach(lc, candidate->restrictlist)
	{
		if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
			return false;
	}
	candidate->joining = gpb_add_operand_columns(NULL, candidate->restrictlist, relid);
	if (candidate->joining == NULL)
		return false;
	candidate->bounded = gpb_add_operand_columns(bms_copy(candidate->joining),
												 candidate->innerrel->baserestrictinfo, relid);
	return true;
}

/*
 * May the join's clauses make ranges of the index?  They or the table's own conditions are on its
 * first column then, and they on one of its columns at least.
 */
static bool
may_have_conditions(const GpbJoinCandidate *candidate, const IndexOptInfo *index)
{
	return gpb_key_column_is_among(index, 0, candidate->bounded) &&
		gpb_key_is_among(index, candidate->joining);
}

bool
gpb_match_join_index(PlannerInfo *root, GpbJoinCandidate *candidate, IndexOptInfo *index)
{
	candidate->index = index;
	if ((!gpb_index_is_usable(index) && !gpb_index_has_several_keys(index)) ||
		!may_have_conditions(candidate, index))
		return false;
	GPB_COUNT_MATCH();
	if (!find_conditions(root, candidate) || !inner_columns(root, candidate))
		return false;
	candidate->index_only = gpb_index_has_columns(index, candidate->columns);
	candidate->selectivity = range_selectivity(root, candidate);
	return true;
}

double
gpb_join_distinct_keys(PlannerInfo *root, const GpbJoinCandidate *candidate, double outer_rows)
{
	List	   *values = NIL;
	ListCell   *lc;

	foreach(lc, candidate->clauses)
		values = lappend(values, lsecond(lfirst_node(OpExpr, lc)->args));
	return estimate_num_groups(root, values, outer_rows, NULL, NULL);
}
