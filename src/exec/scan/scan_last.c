/*-------------------------------------------------------------------------
 *
 * scan_last.c
 *	  The last rows of groups, in the order of the key: which queries, and the program that finds
 *	  the last key of each group.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include <math.h>

#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/tlist.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "engine/batch.h"
#include "exec/compile/grouping.h"
#include "exec/compile/program_match.h"
#include "exec/compile/program_words.h"
#include "exec/scan/scan_match.h"
#include "exec/shell/index_columns.h"
#include "exec/shell/plan_rules.h"

/* ---- the query ---- */

/* The first key of ORDER BY that is not one of DISTINCT ON; NULL if there is none */
static SortGroupClause *
order_in_groups(const Query *parse)
{
	ListCell   *lc;

	foreach(lc, parse->sortClause)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		ListCell   *other;
		bool		is_group = false;

		foreach(other, parse->distinctClause)
			is_group |= lfirst_node(SortGroupClause, other)->tleSortGroupRef ==
				clause->tleSortGroupRef;
		if (!is_group)
			return clause;
	}
	return NULL;
}

bool
gpb_scan_wants_last(PlannerInfo *root, RelOptInfo *rel, GpbScanLast *last)
{
	Query	   *parse = root->parse;
	RelOptInfo *named;			/* the table itself, or its topmost parent */
	SortGroupClause *clause;
	TypeCacheEntry *type;

	if (!parse->hasDistinctOn || parse->hasAggs || parse->hasWindowFuncs ||
		parse->hasTargetSRFs || parse->groupClause != NIL || parse->groupingSets != NIL ||
		parse->havingQual != NULL || parse->setOperations != NULL ||
		root->hasPseudoConstantQuals || bms_membership(root->all_baserels) != BMS_SINGLETON ||
		!gpb_rel_has_the_columns(root, rel))
		return false;
	named = find_base_rel(root, bms_singleton_member(root->all_baserels));
	clause = order_in_groups(parse);
	if (clause == NULL ||
		gpb_match_group_clauses(root, named, parse->distinctClause, &last->groups) != NULL)
		return false;
	last->groups = (List *) gpb_of_child(root, rel, (Node *) last->groups);
	last->order = (Expr *) gpb_of_child(root, rel, get_sortgroupclause_expr(clause,
																			root->processed_tlist));
	type = lookup_type_cache(exprType((Node *) last->order),
							 TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	last->descending = clause->sortop == type->gt_opr;
	return last->descending || clause->sortop == type->lt_opr;
}

/* ---- the program ---- */

/* Can the last key of a group be found as the greatest or least of its type's words? */
static bool
has_ends(Oid type)
{
	return type == INT2OID || type == INT4OID || type == INT8OID || type == DATEOID ||
		type == TIMESTAMPOID || type == TIMESTAMPTZOID;
}

/* Build the program: the filters of the list, the groups, and the key that comes first in each. */
static bool
build_ends(PlannerInfo *root, GpbScanMatch *match, const GpbScanLast *last)
{
	GpbScanPlan *plan = &match->plan;
	Var		   *key = gpb_key_var(root, match->index);
	GpbWordType *types;
	ListCell   *lc;

	match->ends = gpb_builder_begin(root, match->index);
	foreach(lc, plan->filters)
	{
		if (!gpb_build_filter(match->ends, lfirst(lc)))
			return false;
	}
	plan->end = palloc(sizeof(GpbAggregateItem));
	if (!has_ends(gpb_word_type(key->vartype)) ||
		gpb_match_groups(match->ends, last->groups, false, &types) != NULL ||
		!gpb_build_extreme(match->ends, (Expr *) key, last->descending, plan->end))
		return false;
	plan->ends = *gpb_builder_end(match->ends);
	return true;
}

/*
 * About how many entries have a last key.  If groups are spread over the keys alike, the last keys
 * of n groups are among the last few, n log n rows; but each group has its own at most.
 */
static double
estimate_last(PlannerInfo *root, const GpbScanMatch *match, double groups)
{
	double		rows = Max(match->index->tuples, 1.0);
	double		keys = estimate_num_groups(root, list_make1(gpb_key_var(root, match->index)),
										   rows, NULL, NULL);

	return clamp_row_est(Min(Min(groups * (1.0 + log(Max(groups, 1.0))), groups * rows / keys),
							 match->listed));
}

bool
gpb_scan_match_last(PlannerInfo *root, GpbScanMatch *match, const GpbScanLast *last)
{
	GpbScanPlan *plan = &match->plan;

	if (match->others != NIL || !equal(last->order, gpb_key_var(root, match->index)) ||
		!build_ends(root, match, last))
		return false;
	match->groups = estimate_num_groups(root, last->groups, match->listed, NULL, NULL);
	if (match->groups * gpb_batch_group_width(&plan->ends.program) > get_hash_memory_limit())
		return false;
	match->listed = estimate_last(root, match, match->groups);
	plan->has_ends = true;
	plan->groups = last->groups;
	return true;
}
