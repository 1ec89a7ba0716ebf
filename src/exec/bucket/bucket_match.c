/*-------------------------------------------------------------------------
 *
 * bucket_match.c
 *	  Which queries GpubtreeBucketAggregate answers, and with which index.
 *
 * A query of one table that is grouped by one bucket function of a gpubtree index's key
 * (bucket_function.h), and by other expressions if a program can say them, if that index holds
 * every column of the query.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"

#include "exec/bucket/bucket_match.h"
#include "exec/compile/program_match.h"
#include "exec/compile/program_words.h"
#include "exec/shell/expressions.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/plan_rules.h"
#include "exec/where/range_split.h"

/* ---- the query ---- */

/* A column by itself is no bucket. */
bool
gpb_bucket_may_answer(const GpbGrouping *query)
{
	ListCell   *lc;

	if (query->root->parse->groupingSets != NIL || query->groupings != NIL)
		return false;
	foreach(lc, query->groups)
	{
		if (!IsA(lfirst(lc), Var))
			return true;
	}
	return false;
}

/* ---- the bucket ---- */

/*
 * With constants for arguments, is the order of the function known?  Else ordinary plans raise what
 * it raises, or do better than sorting. Fills in the width.  Arguments that are not constants are
 * seen at run time.
 */
static bool
bucket_is_promising(GpbBucketMatch *match)
{
	int			n = list_length(match->plan.arguments);
	Datum	   *values = palloc(sizeof(Datum) * n);
	bool	   *isnull = palloc(sizeof(bool) * n);
	const GpbBucketOrder *order;
	Oid			type;
	ListCell   *lc;

	match->width = 0.0;
	foreach(lc, match->plan.arguments)
	{
		Const	   *argument = (Const *) lfirst(lc);

		if (!IsA(argument, Const))
			return true;
		values[foreach_current_index(lc)] = argument->constvalue;
		isnull[foreach_current_index(lc)] = argument->constisnull;
	}
	type = match->index->opcintype[match->plan.column];
	order = gpb_bucket_function_set(gpb_bucket_function_begin(match->plan.functions, type),
									values, isnull);
	match->width = order->width;
	return !order->null && order->safe_lo <= order->safe_hi;
}

/* Find the first group expression that is a bucket function of the ordered column. */
static bool
match_bucket(const GpbGrouping *query, GpbBucketMatch *match)
{
	ListCell   *lc;

	foreach(lc, query->groups)
	{
		match->bucket = lfirst(lc);
		if (gpb_match_bucket_function(query->root, match->index, match->plan.column,
									  match->bucket, &match->plan.functions,
									  &match->plan.arguments) &&
			bucket_is_promising(match))
		{
			match->groups = list_copy(query->groups);
			match->groups = list_delete_nth_cell(match->groups, foreach_current_index(lc));
			return true;
		}
	}
	return false;
}

/* ---- the program ---- */

/* Is each of n groups one word?  GpubtreeAggregate has groups by values of two words. */
static bool
groups_are_words(const GpbWordType *types, int n)
{
	int			i;

	for (i = 0; i < n; i++)
	{
		if (gpb_type_words(types[i]) > 1)
			return false;
	}
	return true;
}

/*
 * Match filters, other groups and aggregates.  Where there are filters, no argument of the bucket
 * function may fail: core evaluates it only if there is a row that passes them.
 */
static bool
match_entries(const GpbGrouping *query, GpbBucketMatch *match, List *filters)
{
	GpbBucketPlan *plan = &match->plan;
	GpbEntriesQuery entries = {filters, match->groups, false, query->aggrefs};
	GpbEntriesMatch found;

	if ((filters != NIL && gpb_may_fail((Node *) plan->arguments)) ||
		gpb_match_entries(query->root, match->index, &entries, &found) != NULL ||
		!groups_are_words(found.group_types, list_length(match->groups)))
		return false;
	gpb_match_entries_end(&found);
	plan->nitems = list_length(query->aggrefs);
	plan->items = found.items;
	plan->filters = found.filters;
	plan->ngroups = list_length(match->groups);
	plan->group_types = found.group_types;
	if (found.program != NULL)
		plan->program = *found.program;
	plan->program.program.by_range = plan->ngroups > 0;
	plan->has_program = found.has_program;
	if (plan->has_program)
		plan->having = query->having;
	match->builder = found.builder;
	match->needs_child |= found.may_give_up;
	return true;
}

bool
gpb_bucket_match_index(const GpbGrouping *query, IndexOptInfo *index, GpbBucketMatch *match)
{
	GpbBucketPlan *plan = &match->plan;
	GpbRangeSplit split;

	GPB_COUNT_MATCH();
	memset(match, 0, sizeof(*match));
	match->index = index;
	plan->index = index->indexoid;
	/* A condition that equals a group expression is a filter (rule M13). */
	if (!gpb_split_by_order(query->root, index, index->indrestrictinfo, query->groups,
							&plan->column, &split))
		return false;
	plan->conditions = split.conditions;
	if (!match_bucket(query, match))
		return false;
	/* whether there is a row, before an argument is evaluated, is asked of one key column alone */
	if (index->nkeycolumns > 1 && gpb_may_fail((Node *) plan->arguments))
		return false;
	match->entries = gpb_split_entries(query->root, index, &split, query->rel->rows);
	match->needs_child = gpb_split_may_be_lossy(index, &split);
	if (!match_entries(query, match, split.others))
		return false;
	return !match->needs_child || !(contain_subplans((Node *) query->target->exprs) ||
									contain_subplans((Node *) query->having));
}
