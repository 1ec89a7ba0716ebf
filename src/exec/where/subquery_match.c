/*-------------------------------------------------------------------------
 *
 * subquery_match.c
 *	  Which subqueries an index can answer: one row of aggregates over one table, with conditions
 *	  on the index's key, and others that a program can test.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/clauses.h"
#include "optimizer/pathnode.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"

#include "exec/compile/grouping.h"
#include "exec/price/unknown_bounds.h"
#include "exec/shell/join_sides.h"
#include "exec/shell/plan_rules.h"
#include "exec/where/subquery_match.h"

RelOptInfo *
gpb_subquery_table(PlannerInfo *subroot, List **leaves)
{
	Query	   *parse = subroot->parse;
	RelOptInfo *rel;
	int			relid;

	*leaves = NIL;
	if (!gpb_query_is_one_row(subroot) || parse->hasSubLinks || parse->cteList != NIL ||
		parse->setOperations != NULL || parse->distinctClause != NIL ||
		parse->limitCount != NULL || parse->limitOffset != NULL ||
		subroot->init_plans != NIL || subroot->hasPseudoConstantQuals)
		return NULL;
	if (!bms_get_singleton_member(subroot->all_baserels, &relid))
		return NULL;
	rel = find_base_rel(subroot, relid);
	*leaves = gpb_join_leaves(subroot, rel);
	return *leaves == NIL ? gpb_only_table(subroot, rel) : gpb_model_partition(subroot, *leaves);
}

bool
gpb_subquery_aggrefs(Node *expression, List **aggrefs)
{
	return !contain_volatile_functions(expression) && !contain_subplans(expression) &&
		gpb_collect_aggrefs((List *) expression, aggrefs);
}

/*
 * Make conditions of the table's restrictions, of all that the index does not imply; *ranges has
 * these RestrictInfos, and *filters what is no condition on the key.  None may be one that might
 * tell what it saw ahead of a row-level security policy.
 */
static bool
match_conditions(PlannerInfo *subroot, GpbSubqueryMatch *match, List **ranges, List **filters)
{
	IndexOptInfo *index = match->index;
	GpbRowRange *range = &match->range;
	int			last;
	GpbRangeClause *clauses =
		gpb_match_range_clauses(subroot, index, index->indrestrictinfo, &last);
	int			i;

	*ranges = NIL;
	*filters = NIL;
	range->conditions = palloc(sizeof(GpbRangeCondition) *
							   (list_length(index->indrestrictinfo) + 1));
	for (i = 0; i < list_length(index->indrestrictinfo); i++)
	{
		const GpbRangeClause *clause = &clauses[i];

		if (!restriction_is_securely_promotable(clause->rinfo, index->rel))
			return false;
		if (gpb_is_key_not_null(index, clause->rinfo->clause))
			continue;
		if (clause->condition.column > last)
		{
			*filters = lappend(*filters, clause->rinfo);
			continue;
		}
		*ranges = lappend(*ranges, clause->rinfo);
		range->conditions[range->nconditions++] = clause->condition;
		match->values = lappend(match->values, clause->value);
	}
	return range->nconditions > 0;
}

/* expression_tree_walker: is there a parameter that the executor sets? */
static bool
exec_param_walker(Node *node, void *context)
{
	if (node == NULL)
		return false;
	if (IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
		return true;
	return expression_tree_walker(node, exec_param_walker, context);
}

/*
 * Match filters and aggregates.  A program has one value of each constant for all outer rows, so
 * values of outer queries must not be in it.
 */
static bool
match_entries(PlannerInfo *subroot, GpbSubqueryMatch *match, List *filters, List *aggrefs)
{
	GpbRowRange *range = &match->range;

	range->nitems = list_length(aggrefs);
	return gpb_match_row_program(subroot, match->index, filters, aggrefs, &range->program,
								 &range->items) == NULL &&
		!exec_param_walker((Node *) range->program.plan.constants, NULL);
}

/* Find an index like the match's in each of the leaves; false if there is none. */
static bool
match_leaves(PlannerInfo *subroot, GpbSubqueryMatch *match, List *leaves)
{
	IndexOptInfo *index = match->index;
	RelOptInfo *parent = find_base_rel(subroot,
									   bms_singleton_member(index->rel->top_parent_relids));

	if (gpb_row_program_has_ranks(&match->range.program))
		return false;
	match->partitions = palloc(sizeof(GpbPartitionMatch));
	return gpb_match_partitions(subroot, parent, leaves, index, match->partitions) == NULL;
}

bool
gpb_match_subquery(PlannerInfo *subroot, IndexOptInfo *index, List *leaves, List *aggrefs,
				   const GpbRangeColumns *columns, GpbSubqueryMatch *match)
{
	List	   *ranges;
	List	   *filters;

	if (!gpb_index_is_usable(index) || !gpb_may_have_ranges(index, columns))
		return false;
	GPB_COUNT_MATCH();
	memset(match, 0, sizeof(*match));
	match->index = index;
	match->range.index = index->indexoid;
	match->range.alias = planner_rt_fetch(index->rel->relid, subroot)->eref->aliasname;
	if (!match_conditions(subroot, match, &ranges, &filters) ||
		!match_entries(subroot, match, filters, aggrefs) ||
		(leaves != NIL && !match_leaves(subroot, match, leaves)))
		return false;
	match->entries = index->rel->rows;
	if (filters != NIL)
		match->entries = gpb_range_entries(subroot, index, ranges, 1.0, match->entries);
	/* of each partition as many of its entries as of the model's */
	if (match->partitions != NULL)
		match->entries *= match->partitions->whole->tuples / Max(index->tuples, 1.0);
	match->entries = clamp_row_est(match->entries);
	return true;
}
