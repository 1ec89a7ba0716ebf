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

#include "catalog/pg_aggregate.h"
#include "catalog/pg_type.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "utils/fmgroids.h"
#include "utils/selfuncs.h"
#include "utils/typcache.h"

#include "engine/batch.h"
#include "exec/compile/program_match.h"
#include "exec/compile/program_words.h"
#include "exec/scan/scan_match.h"
#include "exec/shell/index_columns.h"

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
	SortGroupClause *clause;
	TypeCacheEntry *type;

	if (!parse->hasDistinctOn || parse->hasAggs || parse->hasWindowFuncs ||
		parse->hasTargetSRFs || parse->groupClause != NIL || parse->groupingSets != NIL ||
		parse->havingQual != NULL || parse->setOperations != NULL ||
		root->hasPseudoConstantQuals || bms_membership(root->all_baserels) != BMS_SINGLETON)
		return false;
	clause = order_in_groups(parse);
	if (clause == NULL ||
		gpb_match_group_clauses(root, rel, parse->distinctClause, &last->groups) != NULL)
		return false;
	last->order = (Expr *) get_sortgroupclause_expr(clause, root->processed_tlist);
	type = lookup_type_cache(exprType((Node *) last->order),
							 TYPECACHE_LT_OPR | TYPECACHE_GT_OPR);
	last->descending = clause->sortop == type->gt_opr;
	return last->descending || clause->sortop == type->lt_opr;
}

/* ---- the program ---- */

/* max() or min() of a type; InvalidOid if the key can have no such type */
static Oid
end_function(Oid type, bool greatest)
{
	switch (type)
	{
		case INT2OID:
			return greatest ? F_MAX_INT2 : F_MIN_INT2;
		case INT4OID:
			return greatest ? F_MAX_INT4 : F_MIN_INT4;
		case INT8OID:
			return greatest ? F_MAX_INT8 : F_MIN_INT8;
		case DATEOID:
			return greatest ? F_MAX_DATE : F_MIN_DATE;
		case TIMESTAMPOID:
			return greatest ? F_MAX_TIMESTAMP : F_MIN_TIMESTAMP;
		case TIMESTAMPTZOID:
			return greatest ? F_MAX_TIMESTAMPTZ : F_MIN_TIMESTAMPTZ;
		default:
			return InvalidOid;
	}
}

/* The aggregate that finds a group's last key; NULL if there is none for the key's type */
static Aggref *
end_aggref(Var *key, bool greatest)
{
	Oid			type = gpb_word_type(key->vartype);
	Oid			function = end_function(type, greatest);
	Aggref	   *aggref;

	if (!OidIsValid(function))
		return NULL;
	aggref = makeNode(Aggref);
	aggref->aggfnoid = function;
	aggref->aggtype = type;
	aggref->aggtranstype = type;
	aggref->aggargtypes = list_make1_oid(type);
	aggref->args = list_make1(makeTargetEntry((Expr *) key, 1, NULL, false));
	aggref->aggkind = AGGKIND_NORMAL;
	aggref->aggsplit = AGGSPLIT_SIMPLE;
	aggref->aggno = aggref->aggtransno = -1;
	aggref->location = -1;
	return aggref;
}

/* Build the program: the filters of the list, the groups, and the key that comes first in each. */
static bool
build_ends(PlannerInfo *root, GpbScanMatch *match, const GpbScanLast *last)
{
	GpbScanPlan *plan = &match->plan;
	Aggref	   *aggref = end_aggref(gpb_key_var(root, match->index), last->descending);
	GpbWordType *types;
	ListCell   *lc;

	match->ends = gpb_builder_begin(root, match->index);
	foreach(lc, plan->filters)
	{
		if (!gpb_build_filter(match->ends, lfirst(lc)))
			return false;
	}
	if (aggref == NULL || gpb_match_groups(match->ends, last->groups, false, &types) != NULL ||
		gpb_match_items(match->ends, list_make1(aggref), &plan->end) != NULL)
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
