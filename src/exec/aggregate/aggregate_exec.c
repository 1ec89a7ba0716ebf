/*-------------------------------------------------------------------------
 *
 * aggregate_exec.c
 *	  The executor node of aggregates.
 *
 * The conditions on the key become ranges of the index's order, or keys; the program's constants
 * are evaluated; one batch answers, and its answers become rows of the scan tuple.  Which engine
 * gives them is decided at each execution, since plans are cached and devices come and go.  When
 * the program has no answer, the child returns the rows.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/aggregate/aggregate_node.h"
#include "exec/answer/ordinary.h"
#include "exec/shell/expressions.h"
#include "exec/where/arms.h"

/* ---- begin ---- */

/* Raise core's errors about rights to execute what stands in the query. */
static void
require_rights(const GpbAggregatePlan *plan, const CustomScan *node)
{
	gpb_require_aggregates(plan->items, plan->nitems);
	if (plan->has_program)
	{
		ListCell   *lc;

		gpb_require_functions(list_make4(plan->conditions, plan->arrays, plan->arms,
										 plan->filters));
		foreach(lc, node->custom_scan_tlist)
			gpb_require_functions(list_make1(lfirst_node(TargetEntry, lc)->expr));
	}
}

/*
 * Make a subprogram, and what asks by it.  The constants are those of the plan's program, which the
 * first one has.
 */
static void
begin_sub(GpbAggregateScan *scan, int i)
{
	const GpbAggregatePlan *plan = &scan->plan;
	GpbSubprogram *sub = &scan->subs[i];
	GpbAskWant	want = {GPB_ASK_NODE(&scan->node)};

	gpb_subprogram_make(plan, plan->sets.phases[i / scan->subs_of_phase],
						i % scan->subs_of_phase, sub);
	if (sub->has_values && !plan->returns_states)
		sub->scan = gpb_values_begin(&sub->values, &sub->program, sub->floats, &scan->codes,
									 &scan->node.css.ss.ps);
	if (plan->has_program)
	{
		want.program = &sub->program;
		want.memory = scan->memory / scan->nsubs;
	}
	if (plan->has_program && plan->source != GPB_OF_STATES)
	{
		want.plan = &plan->program;
		want.constants_of = i > 0 ? scan->subs[0].ask : NULL;
	}
	want.nitems = sub->nitems;
	want.items = sub->items;
	if (plan->source == GPB_OF_INDEX)
		want.form = gpb_conditions_form(scan->conditions);
	else
		want.collects = true;
	sub->ask = gpb_ask_begin(&scan->node.css.ss.ps, &want);
}

/*
 * Make the subprograms of the plan's program.  Memory is of the current context.  Constants that
 * must be are bound now.
 */
static void
begin_subs(GpbAggregateScan *scan, const EState *estate)
{
	const GpbAggregatePlan *plan = &scan->plan;
	int			i;

	scan->subs_of_phase = Max(plan->nvalues, 1);
	scan->nsubs = plan->sets.nphases * scan->subs_of_phase;
	scan->subs = palloc(sizeof(GpbSubprogram) * scan->nsubs);
	scan->memory = get_hash_memory_limit() / (plan->sets.n > 1 ? 2 : 1);
	for (i = 0; i < scan->nsubs; i++)
		begin_sub(scan, i);
	scan->bound_early = gpb_ask_binds_early(scan->subs[0].ask, estate);
	if (scan->bound_early)
		scan->unbound = gpb_ask_bind(scan->subs[0].ask, scan->node.css.ss.ps.ps_ExprContext);
}

/*
 * Where the node that merges states has, while it begins its child, the leaf that was begun last,
 * or NULL if none was; NULL while no such node is beginning.
 */
static const GpbAggregateScan **last_leaf = NULL;

/* Begin the plan of the source, in which leaves find what those begun before them know. */
static void
begin_source(GpbAggregateScan *scan, int eflags)
{
	const GpbAggregateScan **outer = last_leaf;
	const GpbAggregateScan *last = NULL;

	last_leaf = &last;
	PG_TRY();
	{
		gpb_start_child(&scan->node, eflags);
	}
	PG_FINALLY();
	{
		last_leaf = outer;
	}
	PG_END_TRY();
}

/* Begin the plan of the source, if there is one, and note the ordinary one behind it. */
static void
begin_plans(GpbAggregateScan *scan, List *plans, int eflags)
{
	int			ordinary = 0;

	if (scan->plan.source != GPB_OF_INDEX)
	{
		begin_source(scan, eflags);
		if (scan->plan.source == GPB_OF_STATES)
			gpb_aggregate_read_here(scan);
		if (scan->plan.nshards > 0)
			gpb_shards_begin(scan);
		ordinary = 1;
	}
	if (list_length(plans) > ordinary)
		gpb_ordinary_begin(&scan->node, list_nth(plans, ordinary), eflags);
}

/* Open the index; false if nothing is to be executed. */
static bool
open_relations(GpbAggregateScan *scan, int eflags)
{
	if (scan->plan.source == GPB_OF_INDEX)
		return gpb_open_scanned(&scan->node, scan->plan.index, eflags);
	return gpb_open_above(&scan->node, scan->plan.index, eflags);
}

/* Prepare the conditions that make the ranges. */
static void
begin_conditions(GpbAggregateScan *scan)
{
	const GpbAggregatePlan *plan = &scan->plan;
	PlanState  *ps = &scan->node.css.ss.ps;

	scan->conditions = gpb_conditions_init(scan->node.index, plan->conditions, plan->arrays,
										   plan->arms, ps);
	if (plan->skips != NIL)
		gpb_conditions_skip(scan->conditions, plan->skips, plan->skip_prefix, ps);
	scan->ranges_may_fail = gpb_arms_may_fail(plan->arms);
	if (scan->ranges_may_fail)
		scan->range_params = bms_union(gpb_executor_params((Node *) plan->conditions),
									   gpb_executor_params((Node *) plan->arms));
}

/*
 * Is the node alike the leaf that was begun last (gpb_finish_alike_plans())?  Then it has the same
 * expressions, by which it is known, and the same fields but for the index.
 */
static bool
is_alike_last(const CustomScan *node)
{
	if (last_leaf == NULL || *last_leaf == NULL)
		return false;
	return castNode(CustomScan, (*last_leaf)->node.css.ss.ps.plan)->custom_exprs ==
		node->custom_exprs;
}

/* Get the plan, and raise core's errors about rights; of leaves that are alike the first one's. */
static void
begin_plan(GpbAggregateScan *scan, const CustomScan *node)
{
	GpbAggregatePlan *plan = &scan->plan;

	gpb_require_finished(node);
	if (is_alike_last(node))
	{
		*plan = (*last_leaf)->plan;
		plan->index = gpb_aggregate_index(node);
	}
	else
	{
		gpb_aggregate_get(node, plan);
		require_rights(plan, node);
	}
	if (plan->returns_states && last_leaf != NULL)
		*last_leaf = scan;
}

static void
begin_aggregate(CustomScanState *css, EState *estate, int eflags)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	GpbAggregatePlan *plan = &scan->plan;
	CustomScan *node = castNode(CustomScan, css->ss.ps.plan);

	begin_plan(scan, node);
	begin_plans(scan, node->custom_plans, eflags);
	if (!open_relations(scan, eflags))
		return;

	scan->codes.index = scan->node.index;
	if (plan->source == GPB_OF_INDEX)
		begin_conditions(scan);
	else
		scan->codes.texts = scan->texts = gpb_texts_begin();
	begin_subs(scan, estate);
	if (gpb_aggregate_has_rows(plan))
		scan->rows = gpb_word_rows_begin(css);
	scan->having = ExecInitQual(plan->having, &css->ss.ps);
	scan->node.work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree aggregate",
											ALLOCSET_DEFAULT_SIZES);
	scan->set_context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree grouping set",
											  ALLOCSET_DEFAULT_SIZES);
}

/* ---- the answer ---- */

/*
 * Leave the rows of this execution to the ordinary plan.  A node that returns states has none: the
 * node above, which has, drops all states then.
 */
static void
give_up(GpbAggregateScan *scan, const char *why)
{
	gpb_aggregate_stop(scan);
	if (!scan->plan.returns_states)
		gpb_node_give_up(&scan->node, why);
	else
	{
		scan->node.gave_up = why;
		gpb_note_gave_up(&scan->node, why);
	}
}

/* Compute the answer, or find that there is none. */
static void
answer(GpbAggregateScan *scan)
{
	const char *why;
	MemoryContext caller;

	if (scan->ahead != NULL)
		gpb_aggregate_go_ahead(scan);
	if (!scan->prepared)
		MemoryContextReset(scan->node.work);
	caller = MemoryContextSwitchTo(scan->node.work);
	scan->last = NULL;
	scan->node.gave_up = NULL;
	if (scan->plan.source == GPB_OF_STATES)
		why = gpb_aggregate_merge_states(scan);
	else if (scan->plan.source == GPB_OF_ROWS)
		why = gpb_aggregate_answer_rows(scan);
	else
		why = gpb_aggregate_answer_ranges(scan);
	if (why != NULL)
		give_up(scan, why);
	MemoryContextSwitchTo(caller);
}

/* ---- the node ---- */

/*
 * The next row of states.  After the last one the answer goes: there may be many such nodes, one
 * after the other, and who has read the states has what they say.
 */
static TupleTableSlot *
exec_state(GpbAggregateScan *scan)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
	MemoryContext caller;
	bool		found;

	if (scan->states_gone)
		return NULL;
	CHECK_FOR_INTERRUPTS();
	ResetExprContext(econtext);
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	found = gpb_aggregate_next_state(scan);
	MemoryContextSwitchTo(caller);
	if (found)
		return gpb_node_result(&scan->node, NULL);
	gpb_aggregate_stop(scan);
	scan->states_gone = true;
	return NULL;
}

static TupleTableSlot *
exec_aggregate(CustomScanState *css)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;
	TupleTableSlot *row = NULL;

	if (!scan->node.answered)
	{
		ResetExprContext(econtext);
		answer(scan);
		scan->node.answered = true;
		gpb_aggregate_first_row(scan);
		gpb_aggregate_first_state(scan);
	}
	if (scan->plan.returns_states)
		return exec_state(scan);
	if (scan->node.gave_up != NULL)
		return gpb_ordinary_row(&scan->node);
	if (scan->rows != NULL)
		return gpb_aggregate_next_of_rows(scan);
	while (row == NULL)
	{
		MemoryContext caller;
		bool		found;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		found = gpb_aggregate_next_row(scan);
		MemoryContextSwitchTo(caller);
		if (!found)
			return NULL;
		row = gpb_node_result(&scan->node, scan->having);
	}
	return row;
}

/* The answer stays good unless a parameter has changed, or the states of it were all returned. */
static void
rescan_aggregate(CustomScanState *css)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;

	gpb_aggregate_first_row(scan);
	gpb_aggregate_first_state(scan);
	gpb_ordinary_rescan(&scan->node);
	if (css->ss.ps.chgParam == NULL && !scan->states_gone)
		return;
	scan->node.answered = false;
	scan->states_gone = false;
	if (scan->node.child != NULL)
		gpb_rescan_child(&scan->node);
}

static void
end_aggregate(CustomScanState *css)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	int			i;

	for (i = 0; i < scan->nsubs; i++)
		gpb_ask_end(scan->subs[i].ask);
	gpb_close_node(&scan->node);
}

const GpbNodeKind gpb_aggregate_node = {
	GPB_NODE_KIND("GpubtreeAggregate", GpbAggregateScan),
	.exec.BeginCustomScan = begin_aggregate,
	.exec.ExecCustomScan = exec_aggregate,
	.exec.EndCustomScan = end_aggregate,
	.exec.ReScanCustomScan = rescan_aggregate,
	.exec.EstimateDSMCustomScan = gpb_aggregate_estimate_shared,
	.exec.InitializeDSMCustomScan = gpb_aggregate_make_shared,
	.exec.ReInitializeDSMCustomScan = gpb_aggregate_renew_shared,
	.exec.InitializeWorkerCustomScan = gpb_aggregate_find_shared,
	.exec.ShutdownCustomScan = gpb_aggregate_leave_shared,
	.exec.ExplainCustomScan = gpb_aggregate_explain
};
