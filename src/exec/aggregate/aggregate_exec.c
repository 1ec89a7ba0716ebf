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
#include "exec/answer/ordinary_child.h"
#include "exec/answer/range_totals.h"
#include "exec/bind/program_bind_safe.h"
#include "exec/shell/expressions.h"
#include "exec/where/key_arms.h"
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
 * Make the subprograms of the plan's program.  Memory is of the current context.  What is a term of
 * the plan's program, of which only the count is wanted, may be a subprogram's group: so columns
 * whose codes are read are those of all subprograms.
 */
static void
begin_subs(GpbAggregateScan *scan)
{
	const GpbAggregatePlan *plan = &scan->plan;
	int			i;

	scan->subs_of_phase = Max(plan->nvalues, 1);
	scan->nsubs = plan->sets.nphases * scan->subs_of_phase;
	scan->subs = palloc(sizeof(GpbSubprogram) * scan->nsubs);
	for (i = 0; i < scan->nsubs; i++)
	{
		GpbSubprogram *sub = &scan->subs[i];

		gpb_subprogram_make(plan, plan->sets.phases[i / scan->subs_of_phase],
							i % scan->subs_of_phase, sub);
		if (sub->has_values)
			sub->scan = gpb_values_begin(&sub->values, &sub->program, sub->floats,
										 scan->node.index, &scan->node.css.ss.ps);
		if (scan->constants != NULL)
			scan->constants->columns |= gpb_program_columns(&sub->program);
	}
}

/*
 * Evaluate constants that may fail now, if the query has parallel workers: no subtransaction can
 * begin once it is in parallel mode.  Values of subqueries are not there yet.
 */
static void
bind_early(GpbAggregateScan *scan, EState *estate, int eflags)
{
	if (!scan->constants_may_fail || !estate->es_plannedstmt->parallelModeNeeded ||
		!bms_is_empty(scan->constants->params) || (eflags & EXEC_FLAG_EXPLAIN_ONLY) != 0)
		return;
	scan->bound = palloc(sizeof(GpbProgram));
	*scan->bound = scan->plan.program.program;
	scan->unbound = gpb_program_constants_bind(scan->constants, true,
											   scan->node.css.ss.ps.ps_ExprContext, scan->bound);
}

static void
begin_aggregate(CustomScanState *css, EState *estate, int eflags)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;
	GpbAggregatePlan *plan = &scan->plan;
	CustomScan *node = castNode(CustomScan, css->ss.ps.plan);

	gpb_aggregate_get(node, plan);
	require_rights(plan, node);
	if (node->custom_plans != NIL)
		gpb_ordinary_child_begin(&scan->node, linitial(node->custom_plans), eflags);
	if (!gpb_open_scanned(&scan->node, plan->index, eflags))
		return;

	if (IndexRelationGetNumberOfKeyAttributes(scan->node.index) > 1)
		scan->columns = gpb_column_conditions_init(scan->node.index, plan->conditions,
												   plan->arrays, plan->arms, &css->ss.ps);
	else
		gpb_node_ranges_init(plan->conditions, plan->arms, scan->node.index, &css->ss.ps,
							 &scan->ranges);
	if (plan->skips != NIL)
		gpb_column_conditions_skip(scan->columns, plan->skips, plan->skip_prefix, &css->ss.ps);
	if (plan->arrays != NIL && scan->columns == NULL)
		scan->arrays = gpb_arrays_begin(scan->node.index, plan->arrays, &css->ss.ps);
	if (plan->has_program)
	{
		scan->constants = gpb_program_constants_init(&plan->program, scan->node.index,
													 &css->ss.ps);
		scan->constants_may_fail = gpb_may_fail((Node *) plan->program.constants);
	}
	begin_subs(scan);
	bind_early(scan, estate, eflags);
	scan->ranges_may_fail = gpb_arms_may_fail(plan->arms);
	if (scan->ranges_may_fail)
		scan->range_params = bms_union(gpb_executor_params((Node *) plan->conditions),
									   gpb_executor_params((Node *) plan->arms));
	if (gpb_aggregate_has_rows(plan))
		scan->rows = gpb_word_rows_begin(css);
	scan->having = ExecInitQual(plan->having, &css->ss.ps);
	scan->context = CurrentMemoryContext;
	scan->node.work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree aggregate",
											ALLOCSET_DEFAULT_SIZES);
	scan->set_context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree grouping set",
											  ALLOCSET_DEFAULT_SIZES);
}

/* ---- the answer ---- */

/*
 * End a subprogram's batch, but keep what it counted, and the name of its engine, which goes with
 * it.
 */
static void
end_sub(GpbAggregateScan *scan, GpbSubprogram *sub)
{
	const GpbBatchCounters *counters;

	if (sub->totals == NULL)
		return;
	counters = gpb_range_totals_counters(sub->totals);
	gpb_batch_counters_add(&scan->past, counters);
	sub->wide_sums |= counters->widened > 0;
	strlcpy(scan->past_engine, counters->engine, sizeof(scan->past_engine));
	scan->past.engine = scan->past_engine;
	if (scan->engine == counters->engine)
		scan->engine = scan->past_engine;
	gpb_range_totals_end(sub->totals);
	sub->totals = NULL;
}

/* End all batches. */
static void
end_totals(GpbAggregateScan *scan)
{
	int			i;

	for (i = 0; i < scan->nsubs; i++)
		end_sub(scan, &scan->subs[i]);
}

/* The form of the node's ranges */
static GpbRangeForm
ranges_form(const GpbAggregateScan *scan)
{
	return scan->arrays != NULL ? gpb_arrays_form(scan->arrays) : GPB_RANGE_BOUNDS;
}

/*
 * The memory of each subprogram's batch, as in GpbBatchWant: all share what one has.  Groups that
 * are merged for a set may take as much again.
 */
static Size
sub_memory(const GpbAggregateScan *scan)
{
	int			shares = scan->nsubs * (scan->plan.sets.n > 1 ? 2 : 1);

	return shares == 1 ? 0 : get_hash_memory_limit() / shares;
}

/* Make what answers the node's ranges for a subprogram, with these constants. */
static void
make_sub_totals(GpbAggregateScan *scan, const GpbProgram *constants, GpbSubprogram *sub)
{
	GpbNode    *node = &scan->node;
	Snapshot	snapshot = node->css.ss.ps.state->es_snapshot;

	if (!scan->plan.has_program)
	{
		sub->totals = gpb_range_totals_begin(node->heap, node->index, snapshot, sub->items,
											 sub->nitems, ranges_form(scan), 0,
											 GPB_ENGINE_AUTO);
		return;
	}
	gpb_program_copy_bound(&sub->program, constants);
	sub->totals = gpb_range_totals_begin_program(node->heap, node->index, snapshot,
												 &sub->program, sub->items, sub->nitems,
												 ranges_form(scan), sub_memory(scan),
												 GPB_ENGINE_AUTO);
	if (sub->wide_sums)
		gpb_batch_use_wide_sums(gpb_range_totals_batch(sub->totals));
}

/*
 * Make what answers the node's ranges.  A batch over a plain program stays; others have constants
 * of one execution, which are not needed if there is nothing to be asked.  Returns NULL, or why the
 * program cannot be used.
 */
static const char *
make_totals(GpbAggregateScan *scan, bool asked)
{
	const GpbAggregatePlan *plan = &scan->plan;
	GpbProgram	program = plan->program.program;
	MemoryContext caller;
	int			i;

	if (scan->subs[0].totals != NULL && !plan->has_program)
		return NULL;
	end_totals(scan);
	if (scan->bound != NULL)
	{
		if (scan->unbound != NULL)
			return scan->unbound;
		program = *scan->bound;
	}
	else if (plan->has_program && asked)
	{
		const char *refusal;

		refusal = gpb_program_constants_bind(scan->constants, scan->constants_may_fail,
											 scan->node.css.ss.ps.ps_ExprContext, &program);
		if (refusal != NULL)
			return refusal;
	}
	caller = MemoryContextSwitchTo(scan->context);
	for (i = 0; i < scan->nsubs; i++)
		make_sub_totals(scan, &program, &scan->subs[i]);
	MemoryContextSwitchTo(caller);
	return NULL;
}

/* Have a subprogram's batch answer the ranges.  Returns NULL, or why there is no answer. */
static const char *
run_sub(GpbAggregateScan *scan, GpbSubprogram *sub, const GpbRange *ranges, uint32 n)
{
	const char *why;

	gpb_range_group_init(sub->totals);
	if (n == 0)
		return NULL;
	if (scan->arrays != NULL)
	{
		Assert(n == 1);
		gpb_arrays_run(scan->arrays, scan->node.index, ranges, sub->totals);
	}
	else
	{
		gpb_range_totals_sum(sub->totals, ranges, n);
		scan->engine = gpb_range_totals_counters(sub->totals)->engine;
	}
	return gpb_range_totals_gave_up(sub->totals, &why) ? why : NULL;
}

/* Let the child return the rows, for this reason. */
static void
give_up(GpbAggregateScan *scan, const char *why)
{
	if (scan->node.ordinary_plan == NULL)
		elog(ERROR, "aggregate of a gpubtree index has no answer, and no other plan: %s", why);
	end_totals(scan);
	scan->gave_up = why;
	gpb_note_gave_up(&scan->node, why);
}

/* The node's ranges, to be evaluated */
typedef struct GpbRangesEvaluation
{
	GpbAggregateScan *scan;
	GpbRange   *ranges;
	uint32		n;
	bool		lossy;			/* as of gpb_node_ranges_evaluate() */
} GpbRangesEvaluation;

/* Evaluate the ranges of a GpbRangesEvaluation. */
static const char *
evaluate_ranges(void *argument)
{
	GpbRangesEvaluation *evaluation = argument;

	if (evaluation->scan->columns != NULL)
	{
		evaluation->n =
			gpb_column_conditions_evaluate(evaluation->scan->columns,
										   evaluation->scan->node.css.ss.ps.ps_ExprContext,
										   &evaluation->ranges, &evaluation->lossy);
		return evaluation->n > 0 && evaluation->lossy ? "arrays that make too many ranges" : NULL;
	}
	evaluation->n = gpb_node_ranges_evaluate(&evaluation->scan->ranges,
											 evaluation->scan->node.css.ss.ps.ps_ExprContext,
											 &evaluation->ranges, &evaluation->lossy);
	return evaluation->n > 0 && evaluation->lossy ?
		"a condition for which a change of the time zone's offset matters" : NULL;
}

/* Compute the answer, or find that there is none. */
static void
answer(GpbAggregateScan *scan)
{
	GpbRangesEvaluation found = {scan};
	const char *why;
	MemoryContext caller;
	int			i;

	MemoryContextReset(scan->node.work);
	caller = MemoryContextSwitchTo(scan->node.work);
	scan->engine = "none";
	scan->gave_up = NULL;
	why = scan->ranges_may_fail ?
		gpb_evaluate_safely(evaluate_ranges, &found, scan->range_params,
							scan->node.css.ss.ps.ps_ExprContext) :
		evaluate_ranges(&found);
	scan->no_ranges = found.n == 0;
	if (why == NULL)
		why = make_totals(scan, found.n > 0);
	for (i = 0; i < scan->nsubs && why == NULL; i++)
		why = run_sub(scan, &scan->subs[i], found.ranges, found.n);
	if (why != NULL)
		give_up(scan, why);
	MemoryContextSwitchTo(caller);
}

/* ---- the node ---- */

/* Make the next row of the answer that HAVING admits, in the scan tuple; false if there is none. */
static bool
next_row(GpbAggregateScan *scan)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;

	for (;;)
	{
		MemoryContext caller;
		bool		found;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
		found = gpb_aggregate_next_row(scan);
		MemoryContextSwitchTo(caller);
		if (!found)
			return false;
		econtext->ecxt_scantuple = scan->node.css.ss.ss_ScanTupleSlot;
		if (ExecQual(scan->having, econtext))
			return true;
		InstrCountFiltered1(&scan->node.css.ss.ps, 1);
	}
}

static TupleTableSlot *
exec_aggregate(CustomScanState *css)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;

	if (!scan->node.answered)
	{
		ResetExprContext(css->ss.ps.ps_ExprContext);
		answer(scan);
		scan->node.answered = true;
		gpb_aggregate_first_row(scan);
	}
	if (scan->gave_up != NULL)
		return gpb_ordinary_child_row(&scan->node);
	if (scan->rows != NULL)
		return gpb_aggregate_next_of_rows(scan);
	if (!next_row(scan))
		return NULL;
	if (css->ss.ps.ps_ProjInfo == NULL)
		return css->ss.ss_ScanTupleSlot;
	return ExecProject(css->ss.ps.ps_ProjInfo);
}

/* The answer stays good unless a parameter has changed. */
static void
rescan_aggregate(CustomScanState *css)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;

	gpb_aggregate_first_row(scan);
	if (css->ss.ps.chgParam != NULL || scan->gave_up != NULL)
		gpb_ordinary_child_rescan(&scan->node);
	if (css->ss.ps.chgParam != NULL)
		scan->node.answered = false;
}

static void
end_aggregate(CustomScanState *css)
{
	GpbAggregateScan *scan = (GpbAggregateScan *) css;

	int			i;

	for (i = 0; i < scan->nsubs; i++)
	{
		if (scan->subs[i].totals != NULL)
			gpb_range_totals_end(scan->subs[i].totals);
	}
	gpb_close_node(&scan->node);
}

const GpbNodeKind gpb_aggregate_node = {
	GPB_NODE_KIND("GpubtreeAggregate", GpbAggregateScan),
	.exec.BeginCustomScan = begin_aggregate,
	.exec.ExecCustomScan = exec_aggregate,
	.exec.EndCustomScan = end_aggregate,
	.exec.ReScanCustomScan = rescan_aggregate,
	.exec.ExplainCustomScan = gpb_aggregate_explain
};
