/*-------------------------------------------------------------------------
 *
 * scan_groups.c
 *	  The first and last rows of groups, by walking from group to group: which queries, with which
 *	  index.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/stratnum.h"
#include "catalog/pg_aggregate.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/paths.h"
#include "optimizer/tlist.h"
#include "utils/lsyscache.h"
#include "utils/selfuncs.h"
#include "utils/syscache.h"
#include "utils/typcache.h"

#include "exec/scan/scan_match.h"
#include "exec/shell/expressions.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/never_null.h"
#include "exec/shell/plan_rules.h"
#include "exec/where/condition_match.h"
#include "exec/where/ordered_column.h"
#include "index/index_clauses.h"
#include "page/page.h"

/* ---- the query ---- */

/* Does the query have nothing but the rows of one table, and these grouped? */
static bool
query_groups_rows(PlannerInfo *root)
{
	Query	   *parse = root->parse;

	return !parse->hasWindowFuncs && !parse->hasTargetSRFs && parse->groupingSets == NIL &&
		parse->setOperations == NULL && !root->hasPseudoConstantQuals &&
		bms_membership(root->all_baserels) == BMS_SINGLETON;
}

/* May the target list and HAVING be evaluated for fewer rows than the groups have? */
static bool
output_is_of_groups(PlannerInfo *root)
{
	List	   *expressions = get_tlist_exprs(root->processed_tlist, true);

	expressions = lappend(list_copy(expressions), root->parse->havingQual);
	return !contain_volatile_functions((Node *) expressions) &&
		!gpb_has_subplan(root, (Node *) expressions);
}

/* Add the Vars of an expression.  Returns false if one is no plain column of the table. */
static bool
add_columns(GpbScanGroups *groups, Node *expression)
{
	ListCell   *lc;

	foreach(lc, pull_var_clause(expression, PVC_RECURSE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS))
	{
		if (lfirst_node(Var, lc)->varattno <= 0)
			return false;
		groups->columns = list_append_unique(groups->columns, lfirst(lc));
	}
	return true;
}

/* Are the SortGroupClauses on nothing but a group's columns? */
static bool
is_of_groups(PlannerInfo *root, const GpbScanGroups *groups, SortGroupClause *clause)
{
	return list_member(groups->columns,
					   get_sortgroupclause_expr(clause, root->processed_tlist));
}

/* DISTINCT ON: of each group the row that is first in what is left of ORDER BY */
static bool
wants_first_of_each(PlannerInfo *root, GpbScanGroups *groups)
{
	Query	   *parse = root->parse;
	ListCell   *lc;

	if (parse->hasAggs || parse->groupClause != NIL || parse->havingQual != NULL)
		return false;
	foreach(lc, parse->distinctClause)
	{
		if (!add_columns(groups, get_sortgroupclause_expr(lfirst(lc), root->processed_tlist)))
			return false;
	}
	foreach(lc, parse->sortClause)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		bool		is_group = false;
		ListCell   *other;

		foreach(other, parse->distinctClause)
			is_group |= lfirst_node(SortGroupClause, other)->tleSortGroupRef ==
				clause->tleSortGroupRef;
		if (!is_group && !is_of_groups(root, groups, clause))
			groups->order = lappend(groups->order, clause);
	}
	return groups->columns != NIL;
}

/* The operator that sorts the rows such that the aggregate is the first value, or InvalidOid */
static Oid
extreme_operator(const Aggref *aggref)
{
	HeapTuple	tuple;
	Oid			operator;

	if (list_length(aggref->args) != 1 || aggref->aggorder != NIL || aggref->aggfilter != NULL)
		return InvalidOid;
	tuple = SearchSysCache1(AGGFNOID, ObjectIdGetDatum(aggref->aggfnoid));
	if (!HeapTupleIsValid(tuple))
		return InvalidOid;
	operator = ((Form_pg_aggregate) GETSTRUCT(tuple))->aggsortop;
	ReleaseSysCache(tuple);
	return operator;
}

/*
 * Take an aggregate: min() or max() of one column, the same for all of them, or one of distinct
 * values, for which these make groups.  Returns false if it is another one.
 */
static bool
add_aggregate(GpbScanGroups *groups, Aggref *aggref)
{
	Oid			operator = extreme_operator(aggref);
	Node	   *argument;

	if (!OidIsValid(operator))
		return aggref->aggkind == AGGKIND_NORMAL && aggref->aggdistinct != NIL &&
			add_columns(groups, (Node *) aggref);
	argument = (Node *) linitial_node(TargetEntry, aggref->args)->expr;
	if (!IsA(argument, Var) || ((Var *) argument)->varattno <= 0 ||
		(groups->extreme != NULL && !equal(groups->extreme, argument)))
		return false;
	groups->extreme = (Var *) argument;
	groups->functions = list_append_unique_oid(groups->functions, operator);
	return true;
}

/* DISTINCT and GROUP BY: of each combination of values any row, or the extremes of one column */
static bool
wants_any_of_each(PlannerInfo *root, GpbScanGroups *groups)
{
	List	   *expressions = get_tlist_exprs(root->processed_tlist, true);
	ListCell   *lc;

	expressions = lappend(list_copy(expressions), root->parse->havingQual);
	foreach(lc, pull_var_clause((Node *) expressions,
								PVC_INCLUDE_AGGREGATES | PVC_RECURSE_PLACEHOLDERS))
	{
		Node	   *node = lfirst(lc);

		if (IsA(node, Aggref) ? !add_aggregate(groups, (Aggref *) node) :
			!IsA(node, Var) || !add_columns(groups, node))
			return false;
	}
	return groups->columns != NIL;
}

bool
gpb_scan_wants_groups(PlannerInfo *root, RelOptInfo *rel, GpbScanGroups *groups)
{
	Query	   *parse = root->parse;

	memset(groups, 0, sizeof(*groups));
	if ((parse->distinctClause == NIL && parse->groupClause == NIL && !parse->hasAggs) ||
		!query_groups_rows(root) || !gpb_rel_has_the_columns(root, rel))
		return false;
	if (!(parse->hasDistinctOn ? wants_first_of_each(root, groups) :
		  wants_any_of_each(root, groups)) || !output_is_of_groups(root))
		return false;
	groups->columns = (List *) gpb_of_child(root, rel, (Node *) groups->columns);
	groups->extreme = (Var *) gpb_of_child(root, rel, (Node *) groups->extreme);
	return true;
}

/* ---- the index ---- */

/* The place of a column among those of the key, or -1 */
static int
key_place(IndexOptInfo *index, const Var *column)
{
	for (int c = 0; c < index->nkeycolumns; c++)
	{
		if (index->indexkeys[c] == column->varattno)
			return c;
	}
	return -1;
}

/*
 * Find how many columns of the key tell groups apart, and nothing else: each is one of the query's
 * or has one value.  Returns 0 if the query has other columns.
 */
static int
match_prefix(PlannerInfo *root, IndexOptInfo *index, const GpbScanGroups *groups,
			 List *restrictions)
{
	int			missing = list_length(groups->columns);
	int			c;

	for (c = 0; c < index->nkeycolumns && gpb_key_column_is_exact(index, c); c++)
	{
		bool		is_group = false;
		ListCell   *lc;

		foreach(lc, groups->columns)
			is_group |= key_place(index, lfirst(lc)) == c;
		missing -= is_group;
		if (!is_group && !gpb_column_is_fixed(root, index, c, restrictions))
			break;
	}
	return missing == 0 ? c : 0;
}

/* Is the value of this key column never NULL? */
static bool
column_is_never_null(PlannerInfo *root, IndexOptInfo *index, int c)
{
	return gpb_is_never_null(root, index, (Expr *) gpb_key_column_var(root, index, c));
}

/*
 * Does the operator sort key column c in an order that the index has?  *backward says in which
 * direction.
 */
static bool
match_operator(IndexOptInfo *index, int c, Oid operator, bool *backward)
{
	int			strategy = get_op_opfamily_strategy(operator, gpb_own_family(index, c));

	if (strategy != BTLessStrategyNumber && strategy != BTGreaterStrategyNumber)
		return false;
	*backward = (strategy == BTGreaterStrategyNumber) != index->reverse_sort[c];
	return true;
}

/*
 * Match one more key of ORDER BY to the column behind those matched.  Returns false if the rows
 * that are equal in these are to be sorted by it.
 */
static bool
match_order_clause(PlannerInfo *root, IndexOptInfo *index, SortGroupClause *clause,
				   GpbScanWalk *walk)
{
	int			c = walk->prefix + walk->ordered;
	Node	   *expression = gpb_of_child(root, index->rel,
										  get_sortgroupclause_expr(clause, root->processed_tlist));
	bool		backward;

	if (c >= index->nkeycolumns || !IsA(expression, Var) || !gpb_key_column_is_exact(index, c) ||
		((Var *) expression)->varattno != index->indexkeys[c] ||
		!match_operator(index, c, clause->sortop, &backward))
		return false;
	if (walk->ordered > 0 && backward != walk->backward)
		return false;
	if (clause->nulls_first != (index->nulls_first[c] != backward) &&
		!column_is_never_null(root, index, c))
	{
		if (walk->ordered > 0)
			return false;
		walk->nulls = clause->nulls_first ? GPB_WALK_NULLS_FIRST : GPB_WALK_NULLS_LAST;
	}
	walk->backward = backward;
	walk->forward = !backward;
	walk->ordered++;
	return true;
}

/* Find the ends of groups that the query wants.  Returns false if the index does not order so. */
static bool
match_ends(PlannerInfo *root, IndexOptInfo *index, const GpbScanGroups *groups, GpbScanWalk *walk)
{
	ListCell   *lc;

	walk->forward = groups->order == NIL && groups->extreme == NULL;
	foreach(lc, groups->order)
	{
		if (match_order_clause(root, index, lfirst(lc), walk))
			continue;
		walk->ties = true;
		break;
	}
	if (groups->extreme != NULL && key_place(index, groups->extreme) != walk->prefix)
		return false;
	foreach(lc, groups->functions)
	{
		bool		backward;

		if (!match_operator(index, walk->prefix, lfirst_oid(lc), &backward))
			return false;
		*(backward ? &walk->backward : &walk->forward) = true;
		/* min() and max() leave NULL out, and a group may have nothing else */
		walk->nulls = GPB_WALK_NULLS_LAST;
		walk->ordered = 1;
	}
	return walk->forward || walk->backward;
}

/*
 * Part the restrictions, all of which must be conditions on the groups' columns, or on the one
 * behind them, where they are one range of its values.
 */
static bool
match_conditions(PlannerInfo *root, GpbScanMatch *match, List *restrictions)
{
	IndexOptInfo *index = match->index;
	int			prefix = match->plan.walk.prefix;
	int			narrays;

	gpb_split_leading(root, index, restrictions, prefix, &match->split);
	narrays = list_length(match->split.arrays);
	gpb_split_leading(root, index, restrictions, Min(prefix + 1, index->nkeycolumns),
					  &match->split);
	match->plan.conditions = match->split.conditions;
	match->plan.arrays = match->split.arrays;
	return match->split.others == NIL && list_length(match->split.arrays) == narrays;
}

/* The first columns of the key, as Vars */
static List *
prefix_vars(PlannerInfo *root, IndexOptInfo *index, int prefix)
{
	return list_truncate(list_copy(gpb_key_vars(root, index)), prefix);
}

/*
 * The order in which the rows come: that of the groups' columns.  Where the query wants them so,
 * and then in the order within groups, they come in the query's order, since there is one row of
 * each group.
 */
static List *
match_pathkeys(PlannerInfo *root, const GpbScanMatch *match)
{
	const GpbScanWalk *walk = &match->plan.walk;
	IndexOptInfo *index = match->index;
	List	   *vars = prefix_vars(root, index, walk->prefix);
	List	   *restrictions = gpb_scan_row_restrictions(index);
	List	   *pathkeys = NIL;
	int			free = 0;
	ListCell   *lc;

	foreach(lc, build_index_pathkeys(root, index, ForwardScanDirection))
	{
		PathKey    *pathkey = lfirst_node(PathKey, lc);
		bool		is_group = false;
		ListCell   *member;

		foreach(member, pathkey->pk_eclass->ec_members)
			is_group |= list_member(vars, gpb_of_child(root, index->rel,
													   (Node *) lfirst_node(EquivalenceMember,
																			member)->em_expr));
		if (!is_group)
			break;
		pathkeys = lappend(pathkeys, pathkey);
	}
	for (int c = 0; c < walk->prefix; c++)
		free += !gpb_column_is_fixed(root, index, c, restrictions);
	if (list_length(pathkeys) >= free && !walk->ties && walk->forward != walk->backward &&
		pathkeys_contained_in(pathkeys, root->query_pathkeys))
		return root->query_pathkeys;
	return pathkeys;
}

/* ---- the number of groups ---- */

/*
 * About how many groups the index has, whatever restrictions the table has.  estimate_num_groups()
 * supposes that these have been applied, and have nothing to do with the columns; so it sees a copy
 * of the table's description that has as many rows as there are entries.
 */
static double
estimate_all_groups(PlannerInfo *root, IndexOptInfo *index, int prefix)
{
	PlannerInfo whole_root = *root;
	RelOptInfo	whole = *index->rel;
	Size		size = sizeof(RelOptInfo *) * root->simple_rel_array_size;

	whole.rows = clamp_row_est(index->tuples);
	whole_root.simple_rel_array = memcpy(palloc(size), root->simple_rel_array, size);
	whole_root.simple_rel_array[whole.relid] = &whole;
	return estimate_num_groups(&whole_root, prefix_vars(root, index, prefix), whole.rows, NULL,
							   NULL);
}

/* About how many groups satisfy the conditions on their columns */
static double
estimate_groups(PlannerInfo *root, const GpbScanMatch *match)
{
	IndexOptInfo *index = match->index;
	int			prefix = match->plan.walk.prefix;
	GpbRangeSplit split;

	gpb_split_leading(root, index, gpb_scan_row_restrictions(index), prefix, &split);
	return clamp_row_est(estimate_all_groups(root, index, prefix) *
						 clauselist_selectivity(root, split.ranges, index->rel->relid, JOIN_INNER,
												NULL));
}

/* ---- the match ---- */

/* Is a column of the table at two places of the key? */
static bool
key_has_column_twice(const IndexOptInfo *index)
{
	for (int c = 1; c < index->nkeycolumns; c++)
	{
		for (int before = 0; before < c; before++)
		{
			if (index->indexkeys[before] == index->indexkeys[c])
				return true;
		}
	}
	return false;
}

bool
gpb_scan_match_groups(PlannerInfo *root, IndexOptInfo *index, const GpbScanGroups *groups,
					  GpbScanMatch *match)
{
	GpbScanPlan *plan = &match->plan;
	List	   *restrictions = gpb_scan_row_restrictions(index);
	int			ends;

	memset(match, 0, sizeof(*match));
	match->index = index;
	plan->index = index->indexoid;
	/* a column that is there twice has two places, and one Var */
	if (key_has_column_twice(index))
		return false;
	plan->walk.prefix = match_prefix(root, index, groups, restrictions);
	if (plan->walk.prefix == 0 || !match_ends(root, index, groups, &plan->walk) ||
		!match_conditions(root, match, restrictions))
		return false;
	match->entries = match->index->rel->rows;
	match->groups = estimate_groups(root, match);
	ends = plan->walk.forward + plan->walk.backward;
	match->listed = clamp_row_est(Min(match->groups * ends, Max(index->rel->rows, 1.0)));
	match->pathkeys = match_pathkeys(root, match);
	return true;
}
