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
#include "exec/shell/index_columns.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"

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
			RINFO_IS_PUSHED_DOWN(rinfo, candidate->relids))
			continue;
		if (restriction_is_securely_promotable(rinfo, candidate->table))
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
			restriction_is_securely_promotable(rinfo, candidate->table))
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
 * Make conditions of those of n clauses that are such on key column c; if "equal" is set, of the
 * first equality alone.  Returns whether there is one.
 */
static bool
add_conditions(GpbJoinCandidate *candidate, int c, const GpbRangeClause *clauses, int n,
			   bool equal)
{
	bool		has_equality = false;
	int			i;

	for (i = 0; i < n && !(equal && has_equality); i++)
	{
		const GpbRangeClause *clause = &clauses[i];

		if (clause->condition.column != c ||
			(equal && clause->condition.strategy != BTEqualStrategyNumber))
			continue;
		has_equality |= clause->condition.strategy == BTEqualStrategyNumber;
		candidate->conditions[candidate->nconditions++] = clause->condition;
		candidate->ranged = lappend(candidate->ranged, clause->rinfo);
		candidate->values = lappend(candidate->values, clause->value);
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
	List	   *filters = index->nkeycolumns > 1 ? usable_filters(candidate) : NIL;
	int			njoining = list_length(candidate->usable);
	GpbRangeClause *clauses;
	bool		joins = false;
	int			last;
	int			c;

	candidate->nconditions = 0;
	candidate->ranged = candidate->values = NIL;
	clauses = gpb_match_range_clauses(root, index, list_concat_copy(candidate->usable, filters),
									  &last);
	candidate->conditions = palloc(sizeof(GpbRangeCondition) *
								   (njoining + list_length(filters) + 1));
	for (c = 0; c <= last; c++)
	{
		joins |= add_conditions(candidate, c, clauses, njoining, index->nkeycolumns == 1);
		add_conditions(candidate, c, clauses + njoining, list_length(filters), false);
	}
	candidate->filters = list_difference_ptr(index->indrestrictinfo, candidate->ranged);
	return joins;
}

/*
 * The inner columns that the join, what is above it, and the filters need.  False if they need
 * anything but plain columns.
 */
static bool
inner_columns(GpbJoinCandidate *candidate)
{
	List	   *needed = list_copy(candidate->table->reltarget->exprs);
	List	   *filters = extract_actual_clauses(candidate->filters, false);
	ListCell   *lc;

	needed = list_concat(needed, pull_var_clause((Node *) filters, PVC_INCLUDE_PLACEHOLDERS));
	candidate->columns = NIL;
	foreach(lc, needed)
	{
		Var		   *var = (Var *) lfirst(lc);

		if (!IsA(var, Var) || var->varno != candidate->table->relid || var->varattno <= 0)
			return false;
		candidate->columns = list_append_unique(candidate->columns, var);
	}
	return true;
}

/*
 * Find an index like the candidate's in each of the leaves, if there are several; false if there is
 * none.
 */
static bool
match_leaves(PlannerInfo *root, GpbJoinCandidate *candidate)
{
	const char *refusal;

	candidate->partitions = NULL;
	if (candidate->leaves == NIL)
		return true;
	candidate->partitions = palloc(sizeof(GpbPartitionMatch));
	refusal = gpb_match_partitions(root, candidate->innerrel, candidate->leaves, candidate->index,
								   candidate->partitions);
	if (refusal != NULL && gpb_explain_decisions)
		ereport(NOTICE,
				(errmsg("GpubtreeJoin does not answer this join: index \"%s\": %s",
						get_rel_name(candidate->index->indexoid), refusal)));
	return refusal == NULL;
}

/* The fraction of all pairs of an outer and an inner row that the ranges let pass */
static double
range_selectivity(PlannerInfo *root, GpbJoinCandidate *candidate)
{
	SpecialJoinInfo inner = *candidate->sjinfo;
	List	   *filters = list_difference_ptr(candidate->ranged, candidate->restrictlist);
	List	   *joining = list_difference_ptr(candidate->ranged, filters);

	inner.jointype = JOIN_INNER;
	if (candidate->partitions != NULL)
		return gpb_partitions_selectivity(root, candidate->partitions, joining, JOIN_INNER,
										  &inner) *
			gpb_partitions_selectivity(root, candidate->partitions, filters, JOIN_INNER, NULL);
	return clauselist_selectivity(root, joining, 0, JOIN_INNER, &inner) *
		clauselist_selectivity(root, filters, candidate->table->relid, JOIN_INNER, NULL);
}

bool
gpb_is_join_by_columns(GpbJoinCandidate *candidate)
{
	ListCell   *lc;

	foreach(lc, candidate->restrictlist)
	{
		if (lfirst_node(RestrictInfo, lc)->pseudoconstant)
			return false;
	}
	candidate->joining = gpb_add_operand_columns(NULL, candidate->restrictlist,
												 candidate->table->relid);
	return candidate->joining != NULL;
}

bool
gpb_collect_join_clauses(GpbJoinCandidate *candidate)
{
	candidate->usable = usable_clauses(candidate);
	candidate->bounded = gpb_add_operand_columns(bms_copy(candidate->joining),
												 candidate->table->baserestrictinfo,
												 candidate->table->relid);
	return candidate->usable != NIL;
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
	if (!gpb_index_is_usable(index) ||
		!may_have_conditions(candidate, index))
		return false;
	GPB_COUNT_MATCH();
	if (!find_conditions(root, candidate) || !inner_columns(candidate) ||
		!match_leaves(root, candidate))
		return false;
	candidate->index_only = gpb_index_has_columns(index, candidate->columns);
	candidate->selectivity = range_selectivity(root, candidate);
	return true;
}

List *
gpb_join_range_clauses(const GpbJoinCandidate *candidate)
{
	List	   *clauses = NIL;
	ListCell   *range;
	ListCell   *value;

	forboth(range, candidate->ranged, value, candidate->values)
		clauses = lappend(clauses,
						  with_key_first((OpExpr *) lfirst_node(RestrictInfo, range)->clause,
										 lfirst(value)));
	return clauses;
}

double
gpb_join_inner_entries(const GpbJoinCandidate *candidate)
{
	return candidate->partitions != NULL ? candidate->partitions->whole->tuples :
		candidate->index->tuples;
}

/* Have two lists the same pointers in the same order? */
static bool
are_same(const List *a, const List *b)
{
	ListCell   *x;
	ListCell   *y;

	if (list_length(a) != list_length(b))
		return false;
	forboth(x, a, y, b)
	{
		if (lfirst(x) != lfirst(y))
			return false;
	}
	return true;
}

/* Several indexes of a table often have the same ranges, and outer paths the same rows. */
double
gpb_join_distinct_keys(PlannerInfo *root, GpbJoinCandidate *candidate, double outer_rows)
{
	if (candidate->distinct_values == NIL || outer_rows != candidate->distinct_rows ||
		!are_same(candidate->values, candidate->distinct_values))
	{
		candidate->distinct_keys = estimate_num_groups(root, candidate->values, outer_rows, NULL,
													   NULL);
		candidate->distinct_values = candidate->values;
		candidate->distinct_rows = outer_rows;
	}
	return candidate->distinct_keys;
}
