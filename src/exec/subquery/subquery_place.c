/*-------------------------------------------------------------------------
 *
 * subquery_place.c
 *	  Where a finished plan evaluates a scalar subquery for each row, and the node that answers it
 *	  in batches.
 *
 *	  SELECT b.id, (SELECT coalesce(sum(v), 0) FROM t WHERE k >= b.lo AND k < b.hi) FROM bins b
 *
 *	  Seq Scan on bins b			GpubtreeSubquery		projects id and the subquery's result
 *		SubPlan 1			 =>		  ->  Seq Scan on bins b	returns the columns id, lo, hi
 *									  SubPlan 1				runs where there is no batch
 *
 * The node comes above the plan node that evaluates the SubPlan, so it sees the rows that core
 * would evaluate it for, no others, after the same joins and conditions.  That plan node hands its
 * columns up, and what it made of them is computed by the new one.  Conditions with a SubPlan move
 * up with those after them.  The stock SubPlan stays in the plan: with it stay locks, rights and
 * dependencies, and it is run wherever there is no batch.
 *
 * Only SubPlans are taken that each row evaluates, whatever the rest of the expression yields, and
 * only where the rows are read to the end, or up to a LIMIT right above: so nothing is evaluated
 * that core would not evaluate.  Below a merge join, which may stop early, nothing that is
 * evaluated for a row may fail.
 *
 * Here expressions refer to a child's columns by OUTER_VAR, the plan being finished.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "jit/jit.h"
#include "miscadmin.h"
#include "nodes/makefuncs.h"
#include "nodes/nodeFuncs.h"
#include "optimizer/optimizer.h"
#include "optimizer/planmain.h"

#include "exec/join/join_node.h"
#include "exec/range/range_aggregate.h"
#include "exec/shell/expressions.h"
#include "exec/shell/settings.h"
#include "exec/subquery/subquery_place.h"
#include "exec/subquery/subquery_tree.h"

/*
 * Selectivity that is assumed of a condition on a subquery's result: core's guess for an inequality
 * that it knows nothing of.
 */
#define GPB_SUBQUERY_SELECTIVITY	(1.0 / 3.0)

/* What is known of who reads a plan node's rows */
typedef struct Reader
{
	GpbReading	reading;
	Limit	   *limit;			/* the Limit above, if reading is GPB_READ_BOUNDED */
	bool		on_top;			/* does each row that the statement returns take at least one row of
								 * the plan node? */
} Reader;

/* ---- where a node goes ---- */

/*
 * Does the plan node compute its target list itself, of what it reads, and may another do that in
 * its place?
 */
static bool
hands_up_columns(Plan *plan)
{
	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SampleScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
		case T_SubqueryScan:
		case T_FunctionScan:
		case T_TableFuncScan:
		case T_ValuesScan:
		case T_CteScan:
		case T_NamedTuplestoreScan:
		case T_WorkTableScan:
		case T_NestLoop:
		case T_MergeJoin:
		case T_HashJoin:
		case T_Agg:
		case T_Group:
		case T_Gather:
		case T_GatherMerge:
			return true;
		case T_WindowAgg:
			/* a run condition refers to the target list by number */
			return ((WindowAgg *) plan)->runCondition == NIL;
		case T_Result:
			return plan->lefttree != NULL;
		case T_CustomScan:
			return ((CustomScan *) plan)->methods == &gpb_join_node.scan ||
				((CustomScan *) plan)->methods == &gpb_range_aggregate_node.scan;
		default:
			return false;
	}
}

/* The rows that come out of a plan node, so many of them, as a path without a price of its own */
static Path *
rows_of(Plan *plan, double rows)
{
	Path	   *path = makeNode(Path);
	ListCell   *lc;

	path->pathtype = nodeTag(plan);
	path->pathtarget = makeNode(PathTarget);
	path->pathtarget->width = plan->plan_width;
	foreach(lc, plan->targetlist)
		path->pathtarget->exprs = lappend(path->pathtarget->exprs,
										  lfirst_node(TargetEntry, lc)->expr);
	path->rows = clamp_row_est(rows);
	return path;
}

/* How many rows a plan node hands up before the Limit stops reading */
static double
rows_read(Plan *plan, Limit *limit)
{
	double		rows = plan->plan_rows;

	if (limit == NULL)
		return rows;
	if (limit->limitOffset != NULL && IsA(limit->limitOffset, Const) &&
		!((Const *) limit->limitOffset)->constisnull)
		return Min(rows, limit->plan.plan_rows +
				   DatumGetInt64(((Const *) limit->limitOffset)->constvalue));
	return Min(rows, limit->plan.plan_rows);
}

/*
 * Place in the list of the first condition for which a batch pays, or the list's length; rows: how
 * many reach it
 */
static int
first_batched_qual(const GpbEachRow *like, Plan *plan, List *quals, int from, double rows)
{
	int			i;

	for (i = from; i < list_length(quals); i++)
	{
		GpbEachRow	each = gpb_collect_choices(like, rows_of(plan, rows), list_nth(quals, i));

		if (each.choices != NIL)
			break;
	}
	return i;
}

/* The list's members from "from" on, before "to" */
static List *
sublist(List *list, int from, int to)
{
	List	   *part = NIL;

	for (; from < to; from++)
		part = lappend(part, list_nth(list, from));
	return part;
}

/*
 * May a node read rows of the plan node ahead, which hands up these leaves?  Fills in what is known
 * of them in *like, from which choices are collected.
 */
static bool
may_read_ahead(GpbPlacing *placing, Plan *plan, List *leaves, const Reader *reader,
			   GpbEachRow *like)
{
	PlannedStmt *statement = placing->statement;

	memset(like, 0, sizeof(*like));
	like->placing = placing;
	like->careful = reader->reading == GPB_READ_MOST;
	like->on_top = reader->on_top;
	like->may_fail = gpb_plan_evaluates(statement, plan, leaves, gpb_may_fail);
	return !gpb_plan_evaluates(statement, plan, leaves, contain_volatile_functions) &&
		!(like->careful && like->may_fail);
}

/*
 * Put nodes above a plan node that evaluates subqueries in its conditions or its target list: one
 * for each condition with such, so that what rows fail before is not asked for them, and one for
 * the target list.
 */
static Plan *
place_above(GpbPlacing *placing, Plan *plan, const Reader *reader)
{
	List	   *quals = plan->qual;
	List	   *targets = plan->targetlist;
	List	   *leaves = NIL;
	List	   *moved;
	List	   *moved_targets;
	double		rows = rows_read(plan, reader->limit);
	double		qual_rows = rows / GPB_SUBQUERY_SELECTIVITY;
	int			next = list_length(quals);
	Plan	   *child = plan;
	GpbEachRow	like = {.placing = placing};
	GpbEachRow	target_each;
	ListCell   *lc;

	/* most plan nodes have no subquery at all: that is found out first, by what takes least */
	if (!hands_up_columns(plan) ||
		(!contain_subplans((Node *) targets) && !contain_subplans((Node *) quals)) ||
		(gpb_collect_choices(&like, rows_of(plan, rows), targets).choices == NIL &&
		 first_batched_qual(&like, plan, quals, 0, qual_rows) == list_length(quals)))
		return plan;
	moved_targets = (List *) gpb_leaf_mutator((Node *) targets, &leaves);
	(void) gpb_leaf_mutator((Node *) quals, &leaves);
	if (!may_read_ahead(placing, plan, leaves, reader, &like))
		return plan;
	/* with conditions above, it is not known how many rows are read */
	if (reader->limit == NULL)
		next = first_batched_qual(&like, plan, quals, 0, qual_rows);
	target_each = gpb_collect_choices(&like, rows_of(plan, rows), targets);
	if (next == list_length(quals) && target_each.choices == NIL)
		return plan;

	leaves = NIL;
	moved = (List *) gpb_leaf_mutator((Node *) sublist(quals, next, list_length(quals)), &leaves);
	moved_targets = (List *) gpb_leaf_mutator((Node *) targets, &leaves);
	plan->qual = sublist(quals, 0, next);
	plan->targetlist = NIL;
	foreach(lc, leaves)
		plan->targetlist = gpb_append_target(plan->targetlist, lfirst(lc));

	for (next = 0; next < list_length(moved);)
	{
		int			end = first_batched_qual(&like, child, moved, next + 1, qual_rows);
		bool		last = end == list_length(moved) && target_each.choices == NIL;
		List	   *stage = sublist(moved, next, end);
		/*
		 * of the conditions that come with it none has a batch, so only the first is asked for each
		 * row
		 */
		GpbEachRow	each = gpb_collect_choices(&like, rows_of(child, qual_rows), linitial(stage));

		child = gpb_make_subquery_node(&each, child,
								   last ? moved_targets : gpb_column_targets(child->targetlist,
																		 OUTER_VAR),
								   stage, NULL);
		next = end;
	}
	if (target_each.choices != NIL)
	{
		GpbEachRow	each = gpb_collect_choices(&like, rows_of(child, rows), moved_targets);

		child = gpb_make_subquery_node(&each, child, moved_targets, NIL, reader->limit);
	}
	return child;
}

/* ---- below an Agg ---- */

/*
 * The child's columns, with NULLs for those that the Agg does not refer to, and the results behind
 * them
 */
static List *
agg_child_targets(Agg *agg, Plan *child, List *choices)
{
	List	   *targets = gpb_column_targets(child->targetlist, OUTER_VAR);
	Bitmapset  *columns;
	ListCell   *lc;
	int			i;

	columns = gpb_add_columns(NULL, (Node *) agg->plan.targetlist, OUTER_VAR);
	columns = gpb_add_columns(columns, (Node *) agg->plan.qual, OUTER_VAR);
	for (i = 0; i < agg->numCols; i++)
		columns = bms_add_member(columns, agg->grpColIdx[i]);
	foreach(lc, targets)
	{
		TargetEntry *target = lfirst_node(TargetEntry, lc);

		if (!bms_is_member(target->resno, columns))
			target->expr = (Expr *) makeNullConst(exprType((Node *) target->expr),
												  exprTypmod((Node *) target->expr),
												  exprCollation((Node *) target->expr));
	}
	foreach(lc, choices)
		targets = gpb_append_target(targets, (Node *) ((GpbChoice *) lfirst(lc))->subplan);
	return targets;
}

/*
 * Put a node between an Agg and its child, of which it reads so much, if arguments of aggregates
 * are subqueries.
 */
static void
place_below_agg(GpbPlacing *placing, Agg *agg, const Reader *reader)
{
	Plan	   *child = agg->plan.lefttree;
	List	   *columns = NIL;
	GpbEachRow	each = {.placing = placing};
	ListCell   *lc;

	if (reader->reading == GPB_READ_SOME || agg->groupingSets != NIL || agg->chain != NIL)
		return;
	each.rows = rows_of(child, child->plan_rows);
	(void) gpb_aggregated_mutator((Node *) agg->plan.targetlist, &each);
	(void) gpb_aggregated_mutator((Node *) agg->plan.qual, &each);
	if (each.choices == NIL)
		return;
	foreach(lc, child->targetlist)
		columns = lappend(columns, lfirst_node(TargetEntry, lc)->expr);
	if (!may_read_ahead(placing, child, columns, reader, &each))
		return;
	each.rows = rows_of(child, child->plan_rows);
	(void) gpb_aggregated_mutator((Node *) agg->plan.targetlist, &each);
	(void) gpb_aggregated_mutator((Node *) agg->plan.qual, &each);
	if (each.choices == NIL)
		return;

	/*
	 * the results come behind the columns that there are, since the Agg knows its groups' by number
	 */
	each.first_result = list_length(child->targetlist) + 1;
	each.varno = OUTER_VAR;
	agg->plan.targetlist = (List *) gpb_aggregated_mutator((Node *) agg->plan.targetlist, &each);
	agg->plan.qual = (List *) gpb_aggregated_mutator((Node *) agg->plan.qual, &each);
	/* it is the Agg's price that has the SubPlans in it */
	child->total_cost += each.stock;
	agg->plan.lefttree = gpb_make_subquery_node(&each, child,
											agg_child_targets(agg, child, each.choices), NIL,
											NULL);
}

/* ---- the walk ---- */

/* Note that a WITH query is not read to the end by this node. */
static void
note_cte(GpbPlacing *placing, Plan *plan, GpbReading reading)
{
	if (IsA(plan, CteScan) && reading != GPB_READ_ALL)
		placing->partly_read = bms_add_member(placing->partly_read,
											  ((CteScan *) plan)->ctePlanId);
}

/* Does the plan node return no more rows than it reads of its child? */
static bool
hands_on_rows(Plan *plan)
{
	return IsA(plan, Result) || IsA(plan, SubqueryScan) || IsA(plan, Append) ||
		IsA(plan, Unique) || IsA(plan, Material);
}

/* What a plan node pays of what its child saves: a Limit pays for the rows that it reads. */
static Cost
saved_above(Plan *plan, Cost saved)
{
	Plan	   *child = plan->lefttree;

	if (!IsA(plan, Limit) || child->plan_rows < 1)
		return saved;
	return saved * Min(rows_read(child, (Limit *) plan) / child->plan_rows, 1.0);
}

static Plan *place(GpbPlacing *placing, Plan *plan, const Reader *reader);

/* Place nodes below a plan node; returns who read the last child. */
static Reader
place_in_children(GpbPlacing *placing, Plan *plan, const Reader *reader)
{
	Reader		child_reader = {GPB_READ_SOME, NULL, false};
	ListCell   *lc;

	foreach(lc, gpb_plan_children(plan, reader->reading))
	{
		GpbPlanChild *child = lfirst(lc);

		child_reader.reading = child->reading;
		child_reader.limit = child->reading != GPB_READ_BOUNDED ? NULL :
			IsA(plan, Limit) ? (Limit *) plan : reader->limit;
		child_reader.on_top = reader->on_top && hands_on_rows(plan);
		*child->plan = place(placing, *child->plan, &child_reader);
	}
	return child_reader;
}

/* The plan with nodes placed in it */
static Plan *
place(GpbPlacing *placing, Plan *plan, const Reader *reader)
{
	Cost		saved_before = placing->saved;
	Cost		saved;
	Reader		child_reader;

	check_stack_depth();
	note_cte(placing, plan, reader->reading);
	child_reader = place_in_children(placing, plan, reader);
	if (IsA(plan, Agg))
		place_below_agg(placing, (Agg *) plan, &child_reader);
	saved = saved_above(plan, placing->saved - saved_before);
	saved = Min(saved, plan->total_cost);
	plan->total_cost -= saved;
	plan->startup_cost = Min(plan->startup_cost, plan->total_cost);
	placing->saved = saved_before + saved;
	if (reader->reading == GPB_READ_SOME)
		return plan;
	return place_above(placing, plan, reader);
}

/*
 * Statements in which rows may be rechecked by running plan trees again, or are changed while they
 * are read
 */
static bool
statement_allows_nodes(PlannedStmt *statement)
{
	if (statement->hasModifyingCTE || statement->rowMarks != NIL)
		return false;
	return statement->commandType == CMD_SELECT || statement->commandType == CMD_INSERT;
}

/* Find the candidates that are the statement's SubPlans, by their numbers; false if none is. */
static bool
find_candidates(GpbPlacing *placing, List *candidates)
{
	bool		found = false;
	ListCell   *lc;
	ListCell   *root;

	placing->of_plan = palloc0(sizeof(GpbSubqueryCandidate *) *
							   (list_length(placing->statement->subplans) + 1));
	foreach(lc, candidates)
	{
		GpbSubqueryCandidate *candidate = lfirst(lc);

		/* a statement may be planned more than once, by other extensions' hooks */
		if (candidate->subroot->glob->subplans != placing->statement->subplans)
			continue;
		placing->glob = candidate->subroot->glob;
		foreach(root, placing->glob->subroots)
		{
			if (lfirst(root) == candidate->subroot)
			{
				placing->of_plan[foreach_current_index(root) + 1] = candidate;
				found = true;
			}
		}
	}
	return found;
}

/* The SubPlans that compute a value, or a WITH query, before or while the plan runs, by plan_id */
static void
collect_init_plans(Plan *plan, SubPlan **init_plans)
{
	ListCell   *lc;

	check_stack_depth();
	foreach(lc, plan->initPlan)
		init_plans[lfirst_node(SubPlan, lc)->plan_id] = lfirst(lc);
	foreach(lc, gpb_plan_children(plan, GPB_READ_SOME))
		collect_init_plans(*((GpbPlanChild *) lfirst(lc))->plan, init_plans);
}

/*
 * Place nodes in the statement's SubPlans.  A WITH query is scanned only by plans of higher
 * numbers, and by the main plan, which was walked before.
 */
static void
place_in_subplans(GpbPlacing *placing)
{
	List	   *subplans = placing->statement->subplans;
	SubPlan   **init_plans = palloc0(sizeof(SubPlan *) * (list_length(subplans) + 1));
	ListCell   *lc;
	int			id;

	collect_init_plans(placing->statement->planTree, init_plans);
	foreach(lc, subplans)
	{
		if (lfirst(lc) != NULL)
			collect_init_plans(lfirst(lc), init_plans);
	}
	for (id = list_length(subplans); id > 0; id--)
	{
		SubPlan    *subplan = init_plans[id];
		Reader		reader = {GPB_READ_SOME, NULL, false};
		Cost		saved_before;

		lc = list_nth_cell(subplans, id - 1);
		if (lfirst(lc) == NULL)
			continue;
		/* subqueries that give one value stop at the first row, or the second, which is an error */
		if (subplan != NULL && !bms_is_member(id, placing->partly_read) &&
			(subplan->subLinkType == CTE_SUBLINK || subplan->subLinkType == ARRAY_SUBLINK))
			reader.reading = GPB_READ_ALL;
		saved_before = placing->saved;
		lfirst(lc) = place(placing, lfirst(lc), &reader);
		/* it runs once, and core has added its price to that of the plan it belongs to */
		if (subplan != NULL)
			placing->statement->planTree->total_cost -= placing->saved - saved_before;
	}
}

/* Take back what core decided about compiling expressions, if the plan is cheaper now. */
static void
reconsider_jit(PlannedStmt *statement)
{
	Cost		cost = statement->planTree->total_cost;

	if (cost <= jit_above_cost)
		statement->jitFlags = PGJIT_NONE;
	if (cost <= jit_optimize_above_cost)
		statement->jitFlags &= ~PGJIT_OPT3;
	if (cost <= jit_inline_above_cost)
		statement->jitFlags &= ~PGJIT_INLINE;
}

/* The plan below a Material node, which keeps its rows for a cursor that moves backward */
static Plan *
materialized(GpbPlacing *placing, Plan *plan)
{
	Plan	   *material = materialize_finished_plan(plan);

	/* the InitPlans are on it already */
	material->extParam = bms_copy(plan->extParam);
	material->allParam = bms_copy(plan->allParam);
	material->plan_node_id = placing->glob->lastPlanNodeId++;
	material->targetlist = gpb_column_targets(plan->targetlist, OUTER_VAR);
	return material;
}

/* ---- cursors ---- */

/*
 * May UPDATE or DELETE WHERE CURRENT OF a cursor find the row's scan in the plan?  As
 * search_plan_tree() in core looks for it, but without looking at the table.
 */
static bool
shows_current_row(Plan *plan)
{
	ListCell   *lc;
	List	   *children = NIL;

	switch (nodeTag(plan))
	{
		case T_SeqScan:
		case T_SampleScan:
		case T_IndexScan:
		case T_IndexOnlyScan:
		case T_BitmapHeapScan:
		case T_TidScan:
		case T_TidRangeScan:
		case T_ForeignScan:
		case T_CustomScan:
			return true;
		case T_Append:
			children = ((Append *) plan)->appendplans;
			break;
		case T_MergeAppend:
			children = ((MergeAppend *) plan)->mergeplans;
			break;
		case T_Result:
		case T_Limit:
			return plan->lefttree != NULL && shows_current_row(plan->lefttree);
		case T_SubqueryScan:
			return shows_current_row(((SubqueryScan *) plan)->subplan);
		default:
			return false;
	}
	foreach(lc, children)
	{
		if (shows_current_row(lfirst(lc)))
			return true;
	}
	return false;
}

void
gpb_subqueries_place(PlannedStmt *statement, List *candidates, int cursor_options)
{
	GpbPlacing	placing = {0};
	Reader		client = {GPB_READ_ALL, NULL, true};
	bool		moves_back;

	placing.statement = statement;
	if (candidates == NIL || !statement_allows_nodes(statement) ||
		((cursor_options & GPB_NAMED_CURSOR) != 0 && shows_current_row(statement->planTree)) ||
		!find_candidates(&placing, candidates))
		return;
	/* what moves back without our nodes must do so with them */
	moves_back = (cursor_options & GPB_NAMED_CURSOR) != 0 &&
		(cursor_options & CURSOR_OPT_NO_SCROLL) == 0 &&
		ExecSupportsBackwardScan(statement->planTree);
	statement->planTree = place(&placing, statement->planTree, &client);
	place_in_subplans(&placing);
	if (!placing.placed)
		return;
	if (moves_back && !ExecSupportsBackwardScan(statement->planTree))
		statement->planTree = materialized(&placing, statement->planTree);
	reconsider_jit(statement);
}
