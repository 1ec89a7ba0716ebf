/*-------------------------------------------------------------------------
 *
 * subquery_plan.c
 *	  What is remembered of scalar subqueries while a statement is planned.
 *
 * Core plans the statement as it stands.  Each subquery passes through the planner by itself, and
 * there it is matched with the indexes of its table: predicates, policies and inheritance are all
 * decided by then.  Who evaluates the subquery, and for which rows, shows only in the finished
 * plan, to which subquery_place.c takes the candidates.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "nodes/nodeFuncs.h"
#include "utils/snapmgr.h"

#include "exec/shell/expressions.h"
#include "exec/shell/plan_rules.h"
#include "exec/shell/settings.h"
#include "exec/subquery/subquery.h"

/*
 * Candidates of the statement that is being planned; planning may run statements, which are planned
 * in turn.
 */
static List *current_candidates = NIL;

List *
gpb_subqueries_begin(void)
{
	List	   *outer = current_candidates;

	current_candidates = NIL;
	return outer;
}

List *
gpb_subqueries_end(List *outer)
{
	List	   *candidates = current_candidates;

	current_candidates = outer;
	return candidates;
}

void
gpb_subqueries_consider(PlannerInfo *root)
{
	GpbSubqueryCandidate *candidate;
	RelOptInfo *table;
	List	   *leaves;
	Node	   *target;
	List	   *aggrefs = NIL;
	List	   *meant;			/* the same over the table's columns */
	List	   *matches = NIL;
	GpbRangeColumns columns;
	ListCell   *lc;

	if (!gpb_enable_subquery || root->parent_root == NULL || OldSnapshotThresholdActive() ||
		root->parse->havingQual != NULL || list_length(root->processed_tlist) != 1)
		return;
	table = gpb_subquery_table(root, &leaves);
	if (table == NULL)
		return;
	target = (Node *) linitial_node(TargetEntry, root->processed_tlist)->expr;
	if (!gpb_subquery_aggrefs(target, &aggrefs) || aggrefs == NIL)
		return;
	meant = (List *) gpb_of_child(root, table, (Node *) aggrefs);
	gpb_collect_range_columns(root, table, NIL, meant, &columns);
	foreach(lc, table->indexlist)
	{
		GpbSubqueryMatch match;
		GpbRowProgram *program;

		if (!gpb_match_subquery(root, lfirst_node(IndexOptInfo, lc), leaves, meant,
								&columns, &match) ||
			gpb_may_fail((Node *) match.range.program.plan.constants))
			continue;
		match.values = copyObject(match.values);
		program = &match.range.program;
		program->plan.constants = copyObject(program->plan.constants);
		program->filters = copyObject(program->filters);
		program->aggrefs = copyObject(program->aggrefs);
		matches = lappend(matches, memcpy(palloc(sizeof(match)), &match, sizeof(match)));
	}
	if (matches == NIL)
		return;
	candidate = palloc(sizeof(GpbSubqueryCandidate));
	candidate->subroot = root;
	candidate->aggrefs = copyObject(aggrefs);
	candidate->target = copyObject(target);
	candidate->matches = matches;
	current_candidates = lappend(current_candidates, candidate);
}
