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
#include "exec/bind/program_bind_safe.h"
#include "exec/shell/expressions.h"
#include "exec/where/arms.h"
#include "index/index.h"

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

/* Begin the plan of the source, if there is one, and note the ordinary one behind it. */
static void
begin_plans(GpbAggregateScan *scan, List *plans, int eflags)
{
	int			ordinary = 0;

	if (scan->plan.source != GPB_OF_INDEX)
	{
		gpb_start_child(&scan->node, eflags);
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

static void
begin_aggregate(CustomScanState *css, EState *estate, int eflags)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	GpbAggregatePlan *plan = &scan->plan;
	CustomScan *node = castNode(CustomScan, css->ss.ps.plan);

	gpb_aggregate_get(node, plan);
	require_rights(plan, node);
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

/* End what answers by the program, and had constants of another execution. */
static void
stop_asking(GpbAggregateScan *scan)
{
	int			i;

	for (i = 0; i < scan->nsubs; i++)
		gpb_ask_stop(scan->subs[i].ask);
}

/* Set the program's constants in all subprograms.  Returns NULL, or why it cannot be used. */
static const char *
bind_program(GpbAggregateScan *scan)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
	const char *refusal = scan->unbound;
	int			i;

	for (i = scan->bound_early ? 1 : 0; i < scan->nsubs && refusal == NULL; i++)
		refusal = gpb_ask_bind(scan->subs[i].ask, econtext);
	return refusal;
}

/* Have a subprogram answer the ranges.  Returns NULL, or why there is no answer. */
static const char *
run_sub(GpbAggregateScan *scan, GpbSubprogram *sub, const GpbFoundRanges *found)
{
	gpb_group_init(sub->ask);
	if (found->n == 0)
		return NULL;
	scan->last = sub->ask;
	return gpb_ask_total(sub->ask, found->ranges, found->n);
}

/*
 * Have all subprograms answer the ranges, or what those have in the parts of this process.  Returns
 * NULL, or why there is no answer.
 */
static const char *
ask_subs(GpbAggregateScan *scan, const GpbFoundRanges *found)
{
	const char *why = NULL;

	if (scan->parts != NULL && found->n > 0)
		return gpb_aggregate_ask_shared(scan, found);
	for (int i = 0; i < scan->nsubs && why == NULL; i++)
		why = run_sub(scan, &scan->subs[i], found);
	return why;
}

/* The node's ranges, to be evaluated */
typedef struct GpbRangesEvaluation
{
	GpbAggregateScan *scan;
	GpbFoundRanges found;
} GpbRangesEvaluation;

/* Evaluate the ranges of a GpbRangesEvaluation. */
static const char *
evaluate_ranges(void *argument)
{
	GpbRangesEvaluation *evaluation = argument;
	GpbNode    *node = &evaluation->scan->node;

	gpb_conditions_evaluate(evaluation->scan->conditions, node->css.ss.ps.ps_ExprContext,
							&evaluation->found);
	if (evaluation->found.n == 0 || !evaluation->found.lossy)
		return NULL;
	return gpb_layout(node->index)->nkeys > 0 ? "arrays that make too many ranges" :
		"a condition for which a change of the time zone's offset matters";
}

/* Have the subprograms answer the ranges of the index.  Returns NULL, or why there is no answer. */
static const char *
answer_ranges(GpbAggregateScan *scan)
{
	GpbRangesEvaluation evaluation = {scan};
	const char *why;

	if (scan->plan.has_program)
		stop_asking(scan);
	why = scan->ranges_may_fail ?
		gpb_evaluate_safely(evaluate_ranges, &evaluation, scan->range_params,
							scan->node.css.ss.ps.ps_ExprContext) :
		evaluate_ranges(&evaluation);
	scan->no_ranges = evaluation.found.n == 0;
	/* constants are not needed if there is nothing to be asked */
	if (why == NULL && scan->plan.has_program && evaluation.found.n > 0)
		why = bind_program(scan);
	if (why == NULL)
		why = ask_subs(scan, &evaluation.found);
	/* The answer is kept, but not the keys of arrays, which may be millions. */
	if (evaluation.found.form != GPB_RANGE_BOUNDS && evaluation.found.ranges != NULL)
		pfree(evaluation.found.ranges);
	return why;
}

/* Have the subprograms answer the child's rows.  Returns NULL, or why there is no answer. */
static const char *
answer_rows(GpbAggregateScan *scan)
{
	const char *why = NULL;
	int			i;

	gpb_texts_reset(scan->texts);
	stop_asking(scan);
	if (scan->plan.has_program)
		why = bind_program(scan);
	if (why == NULL)
		why = gpb_aggregate_collect_rows(scan);
	for (i = 0; i < scan->nsubs && why == NULL; i++)
	{
		if (scan->subs[i].program.ngroups == 0)
			gpb_ask_use_collected(scan->subs[i].ask);
	}
	return why;
}

/*
 * Leave the rows of this execution to the ordinary plan.  A node that returns states has none: the
 * node above, which has, drops all states then.
 */
static void
give_up(GpbAggregateScan *scan, const char *why)
{
	stop_asking(scan);
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

	MemoryContextReset(scan->node.work);
	caller = MemoryContextSwitchTo(scan->node.work);
	scan->last = NULL;
	scan->no_ranges = false;
	scan->node.gave_up = NULL;
	if (scan->plan.source == GPB_OF_STATES)
		why = gpb_aggregate_merge_states(scan);
	else if (scan->plan.source == GPB_OF_ROWS)
		why = answer_rows(scan);
	else
		why = answer_ranges(scan);
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
	stop_asking(scan);
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
	.exec.ReInitializeDSMCustomScan = gpb_aggregate_make_shared,
	.exec.InitializeWorkerCustomScan = gpb_aggregate_find_shared,
	.exec.ExplainCustomScan = gpb_aggregate_explain
};
