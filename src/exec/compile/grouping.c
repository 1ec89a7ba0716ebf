/*-------------------------------------------------------------------------
 *
 * grouping.c
 *	  What a query wants that aggregates or groups the rows of one table, whatever the index.
 *
 * What is refused has a reason, a text for gpubtree.explain_decisions.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "catalog/pg_class.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/clauses.h"
#include "optimizer/optimizer.h"
#include "optimizer/tlist.h"
#include "parser/parsetree.h"
#include "utils/typcache.h"

#include "exec/compile/grouping.h"
#include "exec/shell/expressions.h"
#include "exec/shell/plan_columns.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"

/* ---- clauses ---- */

/* Is it a query of our kind, as far as that shows in its clauses? */
static const char *
check_query(PlannerInfo *root, UpperRelationKind stage)
{
	Query	   *parse = root->parse;
	bool		grouped = parse->hasAggs || parse->groupClause != NIL;

	if (parse->commandType != CMD_SELECT || !gpb_query_allows_nodes(root))
		return "it is not a SELECT, or locks rows";
	if (stage == UPPERREL_DISTINCT && (grouped || parse->hasDistinctOn || parse->hasWindowFuncs))
		return "it has DISTINCT over groups or windows, or DISTINCT ON";
	if (stage == UPPERREL_GROUP_AGG && !grouped)
		return "it has neither aggregates nor groups";
	if (parse->hasTargetSRFs)
		return "it has set-returning functions";
	if (stage == UPPERREL_GROUP_AGG && parse->groupClause == NIL && parse->hasWindowFuncs)
		return "it has window functions";
	return NULL;
}

bool
gpb_query_is_one_row(PlannerInfo *root)
{
	Query	   *parse = root->parse;

	return parse->hasAggs && parse->groupClause == NIL && parse->groupingSets == NIL &&
		check_query(root, UPPERREL_GROUP_AGG) == NULL;
}

const char *
gpb_match_group_clauses(PlannerInfo *root, RelOptInfo *rel, List *clauses, List **groups)
{
	ListCell   *lc;

	*groups = NIL;
	foreach(lc, clauses)
	{
		SortGroupClause *clause = lfirst_node(SortGroupClause, lc);
		Node	   *expression = get_sortgroupclause_expr(clause, root->processed_tlist);
		TypeCacheEntry *type = lookup_type_cache(exprType(expression), TYPECACHE_EQ_OPR);

		if (type->eq_opr != clause->eqop)
			return "it groups by an equality that is not the type's own";
		if (!bms_is_member(rel->relid, pull_varnos(root, expression)))
			return "it groups by a constant";
		if (contain_volatile_functions(expression) || gpb_has_subplan(root, expression))
			return "it groups by a volatile function or a subquery";
		*groups = list_append_unique(*groups, expression);
	}
	return NULL;
}

/* ---- aggregates ---- */

typedef struct GpbAggregateWalk
{
	List	   *groups;
	List	   *aggrefs;
	List	   *groupings;
	bool		has_groupings;	/* calls of GROUPING() may be needed */
} GpbAggregateWalk;

/* Collect aggregates; true, which ends the walk, if anything else is needed but groups. */
static bool
collect_walker(Node *node, GpbAggregateWalk *walk)
{
	if (node == NULL || list_member(walk->groups, node))
		return false;
	if (IsA(node, Aggref))
	{
		walk->aggrefs = gpb_append_aggref(walk->aggrefs, (Aggref *) node);
		return false;
	}
	if (IsA(node, GroupingFunc) && walk->has_groupings)
	{
		walk->groupings = list_append_unique(walk->groupings, node);
		return false;
	}
	if (IsA(node, Var) || IsA(node, PlaceHolderVar) || IsA(node, GroupingFunc))
		return true;
	return expression_tree_walker(node, collect_walker, walk);
}

bool
gpb_collect_aggrefs(List *expressions, List **aggrefs)
{
	GpbAggregateWalk walk = {.aggrefs = *aggrefs};
	bool		needs_more = collect_walker((Node *) expressions, &walk);

	*aggrefs = walk.aggrefs;
	return !needs_more;
}

/* ---- columns ---- */

/*
 * The columns of groups and aggregates that the index must have, or every one without a predicate,
 * if that is NULL
 */
static Bitmapset *
needed_columns(const GpbGrouping *grouping, IndexOptInfo *index)
{
	return gpb_grouping_columns(grouping->root, grouping->rel, index, grouping->groups,
								grouping->aggrefs);
}

bool
gpb_grouping_may_match(const GpbGrouping *grouping, IndexOptInfo *index)
{
	if (index->indpred == NIL)
		return gpb_index_covers(index, grouping->columns) &&
			gpb_index_covers(index, grouping->restricted);
	/* the predicate may imply restrictions, and that what is counted is not NULL */
	return gpb_index_covers(index, needed_columns(grouping, index)) &&
		gpb_index_covers(index, gpb_restricted_columns(grouping->root, grouping->rel, index,
													   index->indrestrictinfo));
}

/* ---- the table ---- */

/* Is the only leaf a foreign table? */
static bool
is_foreign(PlannerInfo *root, List *leaves)
{
	return leaves != NIL &&
		planner_rt_fetch(linitial_node(RelOptInfo, leaves)->relid, root)->relkind ==
		RELKIND_FOREIGN_TABLE;
}

/*
 * Set the table whose rows the query groups: one that a node may scan, or the parent of several
 * leaves, or of a foreign one.  Returns false if there is none such.
 */
static bool
find_table(GpbGrouping *grouping, RelOptInfo *rel)
{
	const RangeTblEntry *rte;

	if (rel->reloptkind != RELOPT_BASEREL || rel->rtekind != RTE_RELATION)
		return false;
	rte = planner_rt_fetch(rel->relid, grouping->root);
	if (rte->inh)
	{
		grouping->leaves = gpb_leaves_of(grouping->root, rel);
		if (list_length(grouping->leaves) > 1 || is_foreign(grouping->root, grouping->leaves))
		{
			grouping->rel = rel;
			return gpb_enable_partitions && rte->tablesample == NULL &&
				bms_is_empty(rel->lateral_relids);
		}
		if (grouping->leaves == NIL)
			return false;
		rel = linitial(grouping->leaves);
		grouping->leaves = NIL;
	}
	grouping->rel = rel;
	return gpb_rel_is_table(grouping->root, rel);
}

/*
 * Have groups and aggregates be about the columns of grouping->rel, which is a child of the table
 * that they are about.
 */
static void
translate(GpbGrouping *grouping)
{
	grouping->said = list_concat_copy(grouping->groups, grouping->aggrefs);
	grouping->groups = (List *) gpb_of_child(grouping->root, grouping->rel,
											 (Node *) grouping->groups);
	grouping->aggrefs = (List *) gpb_of_child(grouping->root, grouping->rel,
											  (Node *) grouping->aggrefs);
	grouping->meant = list_concat_copy(grouping->groups, grouping->aggrefs);
}

/* Collect the columns that an index must have. */
static void
collect_columns(GpbGrouping *grouping)
{
	grouping->columns = needed_columns(grouping, NULL);
	grouping->restricted = gpb_restricted_columns(grouping->root, grouping->rel, NULL,
												  grouping->rel->baserestrictinfo);
}

List *
gpb_grouping_as_said(const GpbGrouping *grouping, List *expressions)
{
	List	   *said = NIL;
	ListCell   *lc;

	if (grouping->said == NIL)
		return expressions;
	foreach(lc, expressions)
	{
		Node	   *expression = lfirst(lc);
		ListCell   *s;
		ListCell   *m;

		forboth(s, grouping->said, m, grouping->meant)
		{
			if (lfirst(m) == lfirst(lc))
				expression = lfirst(s);
		}
		said = lappend(said, expression);
	}
	return said;
}

/* ---- the query ---- */

const char *
gpb_match_grouping(PlannerInfo *root, UpperRelationKind stage, RelOptInfo *input_rel,
				   RelOptInfo *grouped_rel, GpbGrouping *grouping)
{
	Query	   *parse = root->parse;
	const char *refusal = check_query(root, stage);
	GpbAggregateWalk walk = {.has_groupings = true};

	memset(grouping, 0, sizeof(*grouping));
	if (refusal != NULL)
		return refusal;
	grouping->root = root;
	if (!find_table(grouping, input_rel))
		return "it is not of one ordinary table with indexes";
	grouping->grouped_rel = grouped_rel;
	grouping->target = root->upper_targets[stage];
	grouping->clauses = stage == UPPERREL_DISTINCT ? parse->distinctClause : parse->groupClause;
	grouping->having = (List *) parse->havingQual;
	refusal = gpb_match_group_clauses(root, input_rel, grouping->clauses, &grouping->groups);
	if (refusal != NULL)
		return refusal;
	walk.groups = grouping->groups;
	if (collect_walker((Node *) grouping->target->exprs, &walk) ||
		collect_walker((Node *) grouping->having, &walk))
		return "it needs columns beside aggregates and groups";
	grouping->aggrefs = walk.aggrefs;
	grouping->groupings = walk.groupings;
	if (grouping->groups == NIL && grouping->aggrefs == NIL)
		return "it has no aggregate";
	if (grouping->leaves != NIL)
		return NULL;
	if (grouping->rel != input_rel)
		translate(grouping);
	collect_columns(grouping);
	return NULL;
}

void
gpb_grouping_of_leaf(const GpbGrouping *whole, RelOptInfo *leaf, GpbGrouping *grouping)
{
	*grouping = *whole;
	grouping->rel = leaf;
	grouping->leaves = NIL;
	translate(grouping);
	collect_columns(grouping);
}
