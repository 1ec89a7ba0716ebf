/*-------------------------------------------------------------------------
 *
 * lateral_plan.c
 *	  Planning of LATERAL subqueries that aggregate a range of an index for each outer row.
 *
 * In a join with such a subquery core runs the subquery once for each outer row.  Where it is one
 * row of aggregates over one table, and all that it asks of the table are conditions on an index's
 * key, a batch of outer rows is a batch of ranges.  The subquery was planned before the join is:
 * what it compares the key with is in the subquery's plan a parameter, and here an expression over
 * the outer row again.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

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

#include "exec/answer/ordinary.h"
#include "exec/range/lateral.h"
#include "exec/range/range_aggregate.h"
#include "exec/shell/clause_order.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "exec/where/subquery_match.h"

static Plan *plan_lateral(PlannerInfo *root, RelOptInfo *rel, CustomPath *path,
						  List *tlist, List *clauses, List *custom_plans);

static const CustomPathMethods lateral_path_methods = {
	.CustomName = "GpubtreeRangeAggregate",
	.PlanCustomPath = plan_lateral
};

/* One way to answer the subquery: an index, with its conditions and aggregates */
typedef struct GpbLateralCandidate
{
	IndexOptInfo *index;
	GpbPartitionMatch *partitions;	/* with one like it each, or NULL */
	double		entries;		/* in the range of one outer row */
	List	   *results;		/* Vars of the subquery: for each item, then each computed column */
	Path	   *ordinary;		/* NULL unless the program may have no answer */
	GpbRangeAggregatePlan plan;
} GpbLateralCandidate;

typedef struct GpbLateralPath
{
	CustomPath	path;
	Index		relid;			/* of the subquery */
	List	   *clauses;		/* conditions on what comes out */
	const GpbLateralCandidate *candidate;	/* shared by all paths of one index */
} GpbLateralPath;

/*
 * Columns of the subquery that are needed, parted into aggregates and what is computed from these
 */
typedef struct GpbLateralColumns
{
	List	   *aggrefs;		/* distinct */
	List	   *meant;			/* the same over the columns of the table that is asked, */
	List	   *leaves;			/* which is one of these, if there are several */
	List	   *items;			/* a Var for each of aggrefs */
	List	   *columns;		/* Vars of the columns that are not items */
	List	   *expressions;	/* what columns are, over the items and the subquery's Params */
	List	   *having;			/* HAVING over the items, in the order of its tests */
} GpbLateralColumns;

/* ---- columns of the subquery ---- */

/* The expression with the items' Vars in place of aggregates, each of which must be an item */
static Node *
item_mutator(Node *node, void *argument)
{
	GpbLateralColumns *columns = argument;

	if (node != NULL && IsA(node, Aggref))
	{
		ListCell   *lc;

		foreach(lc, columns->aggrefs)
		{
			if (equal(lfirst(lc), node))
				return copyObject(list_nth(columns->items, foreach_current_index(lc)));
		}
		elog(ERROR, "aggregate %u of a subquery is not among its aggregates",
			 ((Aggref *) node)->aggfnoid);
	}
	return expression_tree_mutator(node, item_mutator, argument);
}

/*
 * The subquery's Vars that are needed above, or by conditions that are tested at this join or below
 * it
 */
static List *
lateral_vars(RelOptInfo *innerrel, List *restrictlist)
{
	List	   *needed = list_copy(innerrel->reltarget->exprs);
	List	   *vars = NIL;
	ListCell   *lc;

	needed = list_concat(needed, get_actual_clauses(innerrel->baserestrictinfo));
	needed = list_concat(needed, extract_actual_clauses(restrictlist, false));
	foreach(lc, pull_var_clause((Node *) needed, PVC_RECURSE_PLACEHOLDERS))
	{
		/* what an expression above us needs of the outer rows is in their plan */
		if (lfirst_node(Var, lc)->varno == innerrel->relid)
			vars = list_append_unique(vars, lfirst(lc));
	}
	return vars;
}

/*
 * The Var of an aggregate: of a column that is just that, if there is one, else one with a number
 * beyond the subquery's columns, which nothing but computed columns can refer to.
 */
static Var *
lateral_item(RelOptInfo *innerrel, Aggref *aggref, int number)
{
	List	   *targets = innerrel->subroot->processed_tlist;
	AttrNumber	column = list_length(targets) + 1 + number;
	ListCell   *lc;

	foreach(lc, targets)
	{
		if (equal(lfirst_node(TargetEntry, lc)->expr, aggref))
			column = lfirst_node(TargetEntry, lc)->resno;
	}
	return makeVar(innerrel->relid, column, exprType((Node *) aggref),
				   exprTypmod((Node *) aggref), exprCollation((Node *) aggref), 0);
}

/* What the subquery's column is, NULL if the Var is of its whole row */
static Node *
lateral_target(RelOptInfo *innerrel, Var *var)
{
	if (var->varattno <= 0)
		return NULL;
	return (Node *) get_tle_by_resno(innerrel->subroot->processed_tlist, var->varattno)->expr;
}

/*
 * Fill in the columns of the subquery that are needed; false if there is one that cannot be
 * computed outside of it.
 */
static bool
lateral_columns(RelOptInfo *innerrel, List *restrictlist, GpbLateralColumns *columns)
{
	List	   *vars = lateral_vars(innerrel, restrictlist);
	ListCell   *lc;

	memset(columns, 0, sizeof(*columns));
	foreach(lc, vars)
	{
		Node	   *target = lateral_target(innerrel, lfirst(lc));

		if (target == NULL || !gpb_subquery_aggrefs(target, &columns->aggrefs))
			return false;
	}
	foreach(lc, columns->aggrefs)
		columns->items = lappend(columns->items,
								 lateral_item(innerrel, lfirst(lc),
											  foreach_current_index(lc)));
	foreach(lc, vars)
	{
		/* two columns may be the same aggregate: one of them is the item */
		if (list_member(columns->items, lfirst(lc)))
			continue;
		columns->columns = lappend(columns->columns, lfirst(lc));
		columns->expressions = lappend(columns->expressions,
									   lateral_target(innerrel, lfirst(lc)));
	}
	columns->expressions = (List *) item_mutator((Node *) columns->expressions, columns);
	return true;
}

/* ---- parameters of the subquery ---- */

/* For putting the outer side's expressions in the place of parameters */
typedef struct GpbOuterValues
{
	PlannerInfo *root;
	List	   *params;			/* PlannerParamItems of the subquery */
	Relids		outer;			/* the outer relation */
	bool		elsewhere;		/* was a parameter found that comes from another relation? */
} GpbOuterValues;

/* Does the outer plan have the value of a parameter, which stands for "item"? */
static bool
outer_has(GpbOuterValues *context, Node *item)
{
	if (IsA(item, Var))
		return bms_is_member(((Var *) item)->varno, context->outer);
	if (IsA(item, PlaceHolderVar))
		return bms_is_subset(find_placeholder_info(context->root, (PlaceHolderVar *) item,
												   false)->ph_eval_at, context->outer);
	return false;
}

/*
 * The expression with what the parameters stand for in their place.  Parameters that the subquery
 * has from query levels above this one stay: they keep their value while the join runs.
 */
static Node *
outer_value_mutator(Node *node, void *argument)
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
			if (!outer_has(context, item->item))
				context->elsewhere = true;
			return copyObject(item->item);
		}
	}
	return expression_tree_mutator(node, outer_value_mutator, context);
}

/* ---- does an index hold what is asked for? ---- */

/* Add HAVING, and its items; false if it needs anything else. */
static bool
lateral_having(RelOptInfo *innerrel, GpbLateralColumns *columns)
{
	List	   *having = (List *) innerrel->subroot->parse->havingQual;
	ListCell   *lc;

	if (!gpb_subquery_aggrefs((Node *) having, &columns->aggrefs))
		return false;
	for_each_from(lc, columns->aggrefs, list_length(columns->items))
		columns->items = lappend(columns->items,
								 lateral_item(innerrel, lfirst(lc),
											  foreach_current_index(lc)));
	having = gpb_order_clauses(innerrel->subroot, having);
	columns->having = (List *) item_mutator((Node *) having, columns);
	return true;
}

/*
 * Make the candidate for an index of the subquery's table; NULL if that cannot answer the subquery.
 * "columns" are those of the subquery, "tested" those by which indexes are refused.
 */
static GpbLateralCandidate *
match_lateral_index(PlannerInfo *root, RelOptInfo *outerrel, RelOptInfo *innerrel,
					const GpbLateralColumns *columns, const GpbRangeColumns *tested,
					IndexOptInfo *index)
{
	GpbOuterValues outer = {root, innerrel->subplan_params, outerrel->relids, false};
	GpbLateralCandidate *candidate;
	GpbRangeAggregatePlan *plan;
	GpbSubqueryMatch match;

	if (!gpb_match_subquery(innerrel->subroot, index, columns->leaves, columns->meant, tested,
							&match))
		return NULL;
	candidate = palloc0(sizeof(GpbLateralCandidate));
	candidate->index = index;
	candidate->partitions = match.partitions;
	candidate->entries = match.entries;
	candidate->results = list_concat_copy(columns->items, columns->columns);
	plan = &candidate->plan;
	plan->range = match.range;
	if (match.partitions != NULL)
		plan->partitions = match.partitions->list;
	plan->values = (List *) outer_value_mutator((Node *) match.values, &outer);
	plan->having = (List *) outer_value_mutator((Node *) columns->having, &outer);
	plan->computed = (List *) outer_value_mutator((Node *) columns->expressions, &outer);
	plan->keep_empty = true;
	return outer.elsewhere ? NULL : candidate;
}

/* ---- paths ---- */

/* May the outer path be joined to the subquery?  *required is what its parameters come from. */
static bool
lateral_outer_fits(RelOptInfo *innerrel, JoinPathExtraData *extra, Path *outer,
				   Relids *required)
{
	*required = PATH_REQ_OUTER(outer);
	return bms_is_empty(*required) ||
		(!bms_overlap(*required, innerrel->relids) &&
		 bms_overlap(*required, extra->param_source_rels));
}

/*
 * Offer the path over one outer path, whose order is kept.  The result is in no parallel plan: the
 * node opens the table under the statement's lock, which a worker does not have.
 */
static void
add_lateral_path(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *innerrel,
				 JoinType jointype, JoinPathExtraData *extra,
				 const GpbLateralCandidate *candidate, Path *outer)
{
	const GpbRangeAggregatePlan *plan = &candidate->plan;
	List	   *clauses = list_concat_copy(innerrel->baserestrictinfo, extra->restrictlist);
	CustomPath *path;
	GpbLateralPath *own;
	GpbOuterPrice price;
	QualCost	qual_cost;
	Relids		required;

	if (!lateral_outer_fits(innerrel, extra, outer, &required) ||
		(candidate->ordinary != NULL && !bms_is_empty(required)))
		return;
	path = gpb_make_path(sizeof(GpbLateralPath), &lateral_path_methods, joinrel,
						 joinrel->reltarget);
	path->path.param_info = get_joinrel_parampathinfo(root, joinrel, outer,
													  innerrel->cheapest_total_path,
													  extra->sjinfo, required, &clauses);
	clauses = gpb_order_clauses(root, clauses);
	path->path.rows = path->path.param_info ? path->path.param_info->ppi_rows : joinrel->rows;
	path->path.pathkeys = build_join_pathkeys(root, joinrel, jointype, outer->pathkeys);
	/* the subquery's planner is who knows the table's size */
	price = gpb_range_aggregate_price(innerrel->subroot, candidate->index,
									  candidate->partitions, outer, &plan->range,
									  candidate->entries, path->path.rows, path->path.pathtarget);
	cost_qual_eval(&qual_cost, list_concat_copy(plan->having, clauses), root);
	path->path.startup_cost = price.startup_cost + qual_cost.startup;
	path->path.total_cost = price.total_cost + qual_cost.startup +
		qual_cost.per_tuple * outer->rows;
	path->custom_paths = list_make1(outer);
	GPB_ADD_DISABLED(&path->path, outer);
	if (candidate->ordinary != NULL)
		gpb_range_aggregate_beside(path, candidate->ordinary);
	own = (GpbLateralPath *) path;
	own->relid = innerrel->relid;
	own->clauses = clauses;
	own->candidate = candidate;
	add_path(joinrel, (Path *) path);
}

/*
 * Are there conditions on the subquery's row, or on the joined one, that core tests in this join or
 * below it?
 */
static bool
lateral_has_clauses(RelOptInfo *innerrel, JoinPathExtraData *extra)
{
	return extra->restrictlist != NIL || innerrel->baserestrictinfo != NIL ||
		innerrel->subroot->parse->havingQual != NULL;
}

/* Find the ordinary join that takes over if the program has no answer; false if there is none. */
static bool
find_ordinary(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
			  GpbLateralCandidate *candidate)
{
	candidate->plan.has_ordinary = candidate->plan.range.program.may_give_up;
	if (candidate->plan.has_ordinary)
		candidate->ordinary = gpb_ordinary_path_beside(root, joinrel, outerrel,
													   joinrel->reltarget);
	return !candidate->plan.has_ordinary || candidate->ordinary != NULL;
}

/*
 * Without conditions each outer row comes out with the subquery's one row, and an inner join and a
 * left join are the same.  With them it must be an inner join, and they are tested on what comes
 * out.
 */
void
gpb_lateral_add_paths(PlannerInfo *root, RelOptInfo *joinrel, RelOptInfo *outerrel,
					  RelOptInfo *innerrel, JoinType jointype, JoinPathExtraData *extra)
{
	RelOptInfo *table;
	GpbLateralColumns columns;
	GpbRangeColumns tested;
	List	   *leaves;
	ListCell   *lc;

	if (!gpb_enable_rangeaggregate ||
		innerrel->reloptkind != RELOPT_BASEREL || innerrel->rtekind != RTE_SUBQUERY ||
		bms_is_empty(innerrel->lateral_relids) ||
		!bms_is_subset(innerrel->lateral_relids, outerrel->relids) ||
		(jointype != JOIN_INNER && jointype != JOIN_LEFT) ||
		joinrel->reloptkind != RELOPT_JOINREL ||
		innerrel->subroot == NULL || IS_DUMMY_REL(innerrel) || IS_DUMMY_REL(outerrel) ||
		innerrel->cheapest_total_path == NULL || OldSnapshotThresholdActive() ||
		(jointype == JOIN_LEFT && lateral_has_clauses(innerrel, extra)))
		return;
	table = gpb_subquery_table(innerrel->subroot, &leaves);
	if (table == NULL || !lateral_columns(innerrel, extra->restrictlist, &columns) ||
		!lateral_having(innerrel, &columns) || columns.aggrefs == NIL)
		return;
	columns.leaves = leaves;
	columns.meant = (List *) gpb_of_child(innerrel->subroot, table, (Node *) columns.aggrefs);
	gpb_collect_range_columns(innerrel->subroot, table, NIL, columns.meant, &tested);
	foreach(lc, table->indexlist)
	{
		GpbLateralCandidate *candidate = match_lateral_index(root, outerrel, innerrel, &columns,
															 &tested,
															 lfirst_node(IndexOptInfo, lc));
		ListCell   *outer;

		if (candidate == NULL || !find_ordinary(root, joinrel, outerrel, candidate))
			continue;
		foreach(outer, outerrel->pathlist)
			add_lateral_path(root, joinrel, innerrel, jointype, extra, candidate,
							 lfirst(outer));
	}
}

/* ---- plan ---- */

/*
 * A plan of the subquery that never runs.  When setrefs.c comes to it, it adds the subquery's range
 * table entries to the statement's, with their permissions and, for cached plans, their locks and
 * dependencies.  It is none of the subquery's own plans, since those have parameters that only a
 * nested loop may set.
 */
static Plan *
unrun_subquery(Index relid)
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
plan_lateral(PlannerInfo *root, RelOptInfo *rel, CustomPath *path, List *tlist,
			 List *clauses, List *custom_plans)
{
	GpbLateralPath *own = (GpbLateralPath *) path;
	GpbRangeAggregatePlan plan = own->candidate->plan;
	List	   *further = list_copy_tail(custom_plans, 1);

	if (further == NIL)
		further = list_make1(unrun_subquery(own->relid));
	return gpb_make_range_aggregate(path, tlist, own->clauses, linitial(custom_plans), further,
									own->candidate->results, &plan);
}
