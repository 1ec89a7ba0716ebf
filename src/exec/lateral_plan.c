/*-------------------------------------------------------------------------
 *
 * lateral_plan.c
 *	  Planning of LATERAL subqueries that aggregate a range of an index for each outer row.
 *
 * In a join with such a subquery core runs the subquery once for each outer row.  Where it is one row of aggregates
 * over one table, and all that it asks of the table are conditions on an index's key, a batch of outer rows is
 * a batch of ranges.  The subquery was planned before the join is: what it compares the key with is in the
 * subquery's plan a parameter, and here an expression over the outer row again.
 *
 *-------------------------------------------------------------------------
 */
#include "../compat.h"

#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/cost.h"
#include "optimizer/optimizer.h"
#include "optimizer/pathnode.h"
#include "optimizer/paths.h"
#include "optimizer/placeholder.h"
#include "optimizer/planmain.h"
#include "optimizer/restrictinfo.h"
#include "parser/parsetree.h"
#include "utils/snapmgr.h"

#include "lateral.h"
#include "plan_rules.h"
#include "range_aggregate.h"

static Plan *gpb_plan_lateral(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
							  List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods gpb_lateral_path_methods = {
	.CustomName = "GpubtreeRangeAggregate",
	.PlanCustomPath = gpb_plan_lateral
};

/* One way to answer the subquery: an index, with its conditions and aggregates */
typedef struct GpbLateralCandidate
{
	IndexOptInfo *index;
	double		entries;		/* in the range of one outer row */
	List	   *values;			/* what the key is compared with, over the outer row */
	List	   *results;		/* Vars of the subquery that are needed */
	List	   *having;			/* its HAVING, over the results and the outer row */
	GpbRangeAggregatePlan plan;
} GpbLateralCandidate;

/* ---- is the subquery of our kind? ---- */

/*
 * The table of a subquery that is one row of aggregates over it, but for HAVING; NULL if it is
 * anything else.
 */
static RelOptInfo *
gpb_lateral_table(PlannerInfo *subroot)
{
	Query	   *parse = subroot->parse;
	RelOptInfo *rel;
	int			relid;

	if (!gpb_query_is_one_row(subroot) || parse->hasSubLinks || parse->cteList != NIL ||
		parse->setOperations != NULL || parse->distinctClause != NIL ||
		parse->limitCount != NULL || parse->limitOffset != NULL ||
		subroot->init_plans != NIL || subroot->hasPseudoConstantQuals)
		return NULL;
	if (!bms_get_singleton_member(subroot->all_baserels, &relid))
		return NULL;
	rel = find_base_rel(subroot, relid);
	return gpb_rel_is_plain(subroot, rel) ? rel : NULL;
}

/*
 * Collect the subquery's columns that are needed above, as Vars, with the aggregates that they are; false if one of them is not an
 * aggregate, or if there are none.
 */
static bool
gpb_lateral_results(RelOptInfo *innerrel, List **results, List **aggrefs)
{
	List	   *vars = pull_var_clause((Node *) innerrel->reltarget->exprs,
									   PVC_RECURSE_PLACEHOLDERS);
	ListCell   *lc;

	*results = *aggrefs = NIL;
	foreach(lc, vars)
	{
		Var		   *var = lfirst_node(Var, lc);
		TargetEntry *target;

		/* what an expression above us needs of the outer rows is in their plan */
		if (var->varno != innerrel->relid || list_member(*results, var))
			continue;
		target = get_tle_by_resno(innerrel->subroot->processed_tlist, var->varattno);
		if (target == NULL || !IsA(target->expr, Aggref))
			return false;
		*results = lappend(*results, var);
		*aggrefs = lappend(*aggrefs, target->expr);
	}
	return *results != NIL;
}

/* ---- parameters of the subquery ---- */

typedef struct GpbOuterValues
{
	PlannerInfo *root;
	List	   *params;			/* PlannerParamItems of the subquery */
	Relids		outer;			/* the outer relation */
	bool		elsewhere;		/* found one that comes from another */
} GpbOuterValues;

/* Does the outer plan have the value of a parameter? */
static bool
gpb_outer_has(GpbOuterValues *context, Node *item)
{
	if (IsA(item, Var))
		return bms_is_member(((Var *) item)->varno, context->outer);
	if (IsA(item, PlaceHolderVar))
		return bms_is_subset(find_placeholder_info(context->root, (PlaceHolderVar *) item,
												   false)->ph_eval_at, context->outer);
	return false;
}

/*
 * The expression with what the parameters stand for.  Those that the subquery does not have from this query level are from
 * levels above: they keep their value while the join runs, and stay.
 */
static Node *
gpb_outer_value_mutator(Node *node, void *argument)
{
	GpbOuterValues *context = argument;

	if (node != NULL && IsA(node, Param) && ((Param *) node)->paramkind == PARAM_EXEC)
	{
		ListCell   *lc;

		foreach(lc, context->params)
		{
			PlannerParamItem *item = lfirst_node(PlannerParamItem, lc);

			if (item->paramId != ((Param *) node)->paramid)
				continue;
			if (!gpb_outer_has(context, item->item))
				context->elsewhere = true;
			return copyObject(item->item);
		}
	}
	return expression_tree_mutator(node, gpb_outer_value_mutator, context);
}

/* ---- HAVING ---- */

/* The aggregates that we have, and where they are */
typedef struct GpbHavingResults
{
	List	   *aggrefs;
	List	   *results;
	bool		missing;		/* found another */
} GpbHavingResults;

/* The expression with the results in place of aggregates */
static Node *
gpb_having_mutator(Node *node, void *argument)
{
	GpbHavingResults *context = argument;

	if (node != NULL && IsA(node, Aggref))
	{
		ListCell   *lc;

		foreach(lc, context->aggrefs)
		{
			if (equal(lfirst(lc), node))
				return copyObject(list_nth(context->results, foreach_current_index(lc)));
		}
		context->missing = true;
		return node;
	}
	return expression_tree_mutator(node, gpb_having_mutator, context);
}

/* ---- does an index hold what is asked for? ---- */

/*
 * Make conditions of the table's restrictions, all that the index does not imply; values are the subquery's.  None may be
 * one that might tell what it saw ahead of a row-level security policy.
 */
static bool
gpb_lateral_conditions(PlannerInfo *subroot, IndexOptInfo *index, GpbLateralCandidate *candidate)
{
	GpbRangeAggregatePlan *plan = &candidate->plan;
	ListCell   *lc;

	candidate->values = NIL;
	plan->nconditions = 0;
	plan->conditions = palloc(sizeof(GpbRangeCondition) *
							  (list_length(index->indrestrictinfo) + 1));
	foreach(lc, index->indrestrictinfo)
	{
		RestrictInfo *rinfo = lfirst_node(RestrictInfo, lc);
		Expr	   *value;

		if (!restriction_is_securely_promotable(rinfo, index->rel))
			return false;
		if (gpb_is_key_not_null(index, rinfo->clause))
			continue;
		if (!gpb_match_range_condition(subroot, index, rinfo->clause,
									   &plan->conditions[plan->nconditions], &value))
			return false;
		plan->nconditions++;
		candidate->values = lappend(candidate->values, value);
	}
	return plan->nconditions > 0;
}

/* Fill in the candidate for an index of the subquery's table; false if it cannot answer the subquery. */
static bool
gpb_match_lateral_index(PlannerInfo *root, RelOptInfo *outerrel, RelOptInfo *innerrel,
						IndexOptInfo *index, GpbLateralCandidate *candidate)
{
	GpbOuterValues outer = {root, innerrel->subplan_params, outerrel->relids, false};
	GpbHavingResults having = {0};
	GpbRangeAggregatePlan *plan = &candidate->plan;
	List	   *aggrefs;

	memset(candidate, 0, sizeof(*candidate));
	if (!gpb_index_is_usable(index) ||
		!gpb_lateral_conditions(innerrel->subroot, index, candidate) ||
		!gpb_lateral_results(innerrel, &candidate->results, &aggrefs) ||
		!gpb_match_range_aggrefs(index, aggrefs, &plan->items))
		return false;
	candidate->values = (List *) gpb_outer_value_mutator((Node *) candidate->values, &outer);
	having.aggrefs = aggrefs;
	having.results = candidate->results;
	candidate->having = (List *) gpb_having_mutator(innerrel->subroot->parse->havingQual, &having);
	candidate->having = (List *) gpb_outer_value_mutator((Node *) candidate->having, &outer);
	candidate->index = index;
	candidate->entries = clamp_row_est(index->rel->rows);
	plan->index = index->indexoid;
	plan->nitems = list_length(aggrefs);
	plan->keep_empty = true;
	return !outer.elsewhere && !having.missing;
}

/* ---- paths ---- */

/* May the outer path be joined to the subquery?  *required is what its parameters come from. */
static bool
gpb_lateral_outer_fits(RelOptInfo *innerrel, JoinPathExtraData *extra, Path *outer,
					   Relids *required)
{
	*required = PATH_REQ_OUTER(outer);
	return bms_is_empty(*required) ||
		(!bms_overlap(*required, innerrel->relids) &&
		 bms_overlap(*required, extra->param_source_rels));
}

/*
 * Offer the path over one outer path, whose order is kept.  The result is in no parallel plan: the node opens the table under the
 * statement's lock, which a worker does not have.
 */
static void
gpb_add_lateral_path(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *innerrel,
					 JoinType jointype, JoinPathExtraData *extra,
					 const GpbLateralCandidate *candidate, Path *outer)
{
	CustomPath *path;
	List	   *clauses = list_concat_copy(innerrel->baserestrictinfo, extra->restrictlist);
	QualCost	qual_cost;
	Relids		required;

	if (!gpb_lateral_outer_fits(innerrel, extra, outer, &required))
		return;
	path = makeNode(CustomPath);
	path->path.pathtype = T_CustomScan;
	path->path.parent = joinrel;
	path->path.pathtarget = joinrel->reltarget;
	path->path.param_info = get_joinrel_parampathinfo(root, joinrel, outer,
													  innerrel->cheapest_total_path,
													  extra->sjinfo, required, &clauses);
	clauses = list_concat(list_copy(candidate->having), gpb_secure_order(clauses));
	path->path.rows = path->path.param_info ? path->path.param_info->ppi_rows : joinrel->rows;
	path->path.parallel_safe = false;
	path->path.pathkeys = build_join_pathkeys(root, joinrel, jointype, outer->pathkeys);
	/* the subquery's planner is who knows the table's size */
	gpb_range_aggregate_cost(innerrel->subroot, candidate->index, outer, candidate->plan.items,
							 candidate->plan.nitems, candidate->entries, path->path.rows,
							 path->path.pathtarget, &path->path.startup_cost,
							 &path->path.total_cost);
	cost_qual_eval(&qual_cost, clauses, root);
	path->path.startup_cost += qual_cost.startup;
	path->path.total_cost += qual_cost.startup + qual_cost.per_tuple * outer->rows;
	path->flags = CUSTOMPATH_SUPPORT_PROJECTION;
	path->methods = &gpb_lateral_path_methods;
	path->custom_paths = list_make1(outer);
	path->custom_private = list_make5(list_make1_int(innerrel->relid), candidate->results,
									  candidate->values,
									  gpb_range_aggregate_private(&candidate->plan), clauses);
	add_path(joinrel, (Path *) path);
}

/* Are there conditions on the subquery's row, or on the joined one, that core tests in this join or below it? */
static bool
gpb_lateral_has_clauses(RelOptInfo *innerrel, JoinPathExtraData *extra)
{
	return extra->restrictlist != NIL || innerrel->baserestrictinfo != NIL ||
		innerrel->subroot->parse->havingQual != NULL;
}

/*
 * Without conditions each outer row comes out with the subquery's one row, and an inner join and a left join are the same.  With them
 * it must be an inner join, and they are tested on what comes out.
 */
void
gpb_lateral_add_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
					  RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	RelOptInfo *table;
	ListCell   *lc;

	if (!gpb_enable_rangeaggregate ||
		innerrel->reloptkind != RELOPT_BASEREL || innerrel->rtekind != RTE_SUBQUERY ||
		bms_is_empty(innerrel->lateral_relids) ||
		!bms_is_subset(innerrel->lateral_relids, outerrel->relids) ||
		(jointype != JOIN_INNER && jointype != JOIN_LEFT) ||
		joinrel->reloptkind != RELOPT_JOINREL ||
		innerrel->subroot == NULL || IS_DUMMY_REL(innerrel) || IS_DUMMY_REL(outerrel) ||
		innerrel->cheapest_total_path == NULL || OldSnapshotThresholdActive() ||
		(jointype == JOIN_LEFT && gpb_lateral_has_clauses(innerrel, extra)))
		return;
	table = gpb_lateral_table(innerrel->subroot);
	if (table == NULL)
		return;
	foreach(lc, table->indexlist)
	{
		GpbLateralCandidate candidate;
		ListCell   *outer;

		if (!gpb_match_lateral_index(root, outerrel, innerrel, lfirst_node(IndexOptInfo, lc),
									 &candidate))
			continue;
		foreach(outer, outerrel->pathlist)
			gpb_add_lateral_path(root, joinrel, innerrel, jointype, extra, &candidate,
								 lfirst(outer));
	}
}

/* ---- plan ---- */

/*
 * A plan of the subquery that never runs.  When setrefs.c comes to it, it adds the subquery's range table entries to the
 * statement's, with their permissions and, for cached plans, their locks and dependencies.  It is none of
 * the subquery's own plans, since those have parameters that only a nested loop may set.
 */
static Plan *
gpb_unrun_subquery(Index relid)
{
	SubqueryScan *scan = makeNode(SubqueryScan);
	Result	   *nothing = makeNode(Result);

	nothing->resconstantqual = (Node *) list_make1(makeBoolConst(false, false));
	scan->scan.scanrelid = relid;
	scan->subplan = (Plan *) nothing;
	return (Plan *) scan;
}

/* PlanCustomPath */
static Plan *
gpb_plan_lateral(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
				 List *clauses, List *custom_plans)
{
	Index		relid = linitial_int(linitial(path->custom_private));
	GpbRangeAggregatePlan plan;

	gpb_range_aggregate_read_private(lfourth(path->custom_private), &plan);
	return gpb_make_range_aggregate(path, tlist, list_nth(path->custom_private, 4),
									linitial(custom_plans),
									list_make1(gpb_unrun_subquery(relid)),
									lsecond(path->custom_private),
									lthird(path->custom_private), &plan);
}
