/*-------------------------------------------------------------------------
 *
 * subquery_exec.c
 *	  The executor node that answers scalar subqueries in batches.
 *
 * Rows of the child are read a batch at a time, with their ranges, and these are answered together
 * (ask.h).  Then each row comes out with the subqueries' results.  Where the engine may
 * not answer (rule M8, or the node was switched off since the statement was planned, or a program
 * has no answer), rows are read one by one, and the stock SubPlans compute the results.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/table.h"
#include "common/int.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "engine/visibility.h"
#include "exec/price/growth.h"
#include "exec/shell/expressions.h"
#include "exec/shell/settings.h"
#include "exec/subquery/subquery.h"
#include "mirror/mirror.h"

/* Where no more rows may be read, batches are left alone. */
#define GPB_SUBQUERY_LEAST_BATCH	8

/* ---- begin ---- */

/*
 * Prepare the results.  SubPlans must be prepared under EXPLAIN, too, which shows those that a node
 * has.  A target that is an item needs no expression.
 */
static void
begin_results(GpbSubqueryScan *scan)
{
	PlanState  *ps = &scan->node.css.ss.ps;
	int			first_item = scan->plan.ncolumns + 1;
	int			i;

	scan->targets = palloc(sizeof(ExprState *) * scan->plan.nresults);
	scan->target_item = palloc(sizeof(int) * scan->plan.nresults);
	scan->subplans = palloc(sizeof(ExprState *) * scan->plan.nresults);
	for (i = 0; i < scan->plan.nresults; i++)
	{
		Expr	   *target = list_nth(scan->plan.targets, i);

		scan->targets[i] = ExecInitExpr(target, ps);
		scan->target_item[i] = -1;
		if (IsA(target, Var) && ((Var *) target)->varattno >= first_item)
			scan->target_item[i] = ((Var *) target)->varattno - 1;
		scan->subplans[i] = ExecInitExpr(list_nth(scan->plan.subplans, i), ps);
	}
}

/*
 * Prepare to read rows with their ranges, and to ask for these.  Answers are kept for all rows of a
 * batch.  The relations stay open to the end of the node, as gpb_open_scanned() has it.
 */
static void
begin_ranges(GpbSubqueryScan *scan, int eflags)
{
	int			place = scan->plan.ncolumns;
	Size		bytes = 0;
	int			i;

	scan->ranges = palloc0(sizeof(GpbSubqueryRangeState) * scan->plan.nranges);
	gpb_outer_begin(&scan->outer, &scan->node, scan->plan.nranges, 0, NULL);
	for (i = 0; i < scan->plan.nranges; i++)
	{
		const GpbRowRange *range = &scan->plan.ranges[i];
		GpbSubqueryRangeState *state = &scan->ranges[i];
		GpbAskWant	want = {.ntargets = 1, .nitems = range->nitems, .items = range->items};
		GpbAskTarget only;

		state->first_item = place;
		place += range->nitems;
		gpb_open_unnamed(scan->node.css.ss.ps.state, range->index, eflags, &state->heap,
						 &state->index);
		gpb_outer_begin_ranges(&scan->outer, i, state->index, range->nconditions,
							   range->conditions, scan->plan.values[i]);
		only = (GpbAskTarget) {state->heap, state->index};
		want.targets = &only;
		state->partitions = gpb_partitions_begin(&scan->node, &scan->plan.partitions[i],
												 state->index, eflags);
		gpb_partitions_want(state->partitions, &want);
		want.plan = range->program.present ? &range->program.plan : NULL;
		want.form = scan->outer.ranges[i].form;
		want.memory = gpb_rows_memory() / scan->plan.nranges;
		state->ask = gpb_ask_begin(&scan->node.css.ss.ps, &want);
		bytes += (scan->outer.ranges[i].width + sizeof(uint32) +
				  gpb_ask_answer_width(state->ask)) * (state->partitions != NULL ? 2 : 1);
	}
	/* a row has no mark beside its ranges' numbers, but for a bool */
	gpb_outer_set_bytes(&scan->outer, bytes);
}

static void
begin_subquery(CustomScanState *css, EState *estate, int eflags)
{
	GpbSubqueryScan *scan = (GpbSubqueryScan *) css;
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);

	/* it reads forward only, and goes back to the beginning by reading anew */
	eflags &= ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	gpb_subquery_get(plan, &scan->plan);
	scan->node.child = outerPlanState(css) = ExecInitNode(outerPlan(plan), estate, eflags);
	begin_results(scan);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	begin_ranges(scan, eflags);
	scan->bound_offset = ExecInitExpr((Expr *) scan->plan.bound_offset, &css->ss.ps);
	scan->bound_count = ExecInitExpr((Expr *) scan->plan.bound_count, &css->ss.ps);
	scan->wanted = gpb_add_columns(NULL, (Node *) plan->scan.plan.targetlist, INDEX_VAR);
	scan->wanted = gpb_add_columns(scan->wanted, (Node *) plan->scan.plan.qual, INDEX_VAR);
	scan->wanted = gpb_add_columns(scan->wanted, (Node *) plan->custom_exprs, INDEX_VAR);
	gpb_outer_want(&scan->outer, scan->wanted);
}

/* ---- the Limit above ---- */

/* The value of a count or an offset, or what stands for NULL */
static int64
evaluate_count(GpbSubqueryScan *scan, ExprState *count, int64 missing)
{
	bool		isnull;
	Datum		value;

	if (count == NULL)
		return missing;
	value = ExecEvalExprSwitchContext(count, scan->node.css.ss.ps.ps_ExprContext, &isnull);
	return isnull ? missing : DatumGetInt64(value);
}

/*
 * Find out how many rows will be read, before the first one is.  The Limit has looked at its
 * numbers by then, and raised an error about negative ones.  The child is told the bound, too.
 */
static void
begin_reading(GpbSubqueryScan *scan)
{
	int64		count;
	int64		offset;

	scan->begun = true;
	if (!scan->plan.bounded)
		return;
	count = evaluate_count(scan, scan->bound_count, -1);
	offset = evaluate_count(scan, scan->bound_offset, 0);
	if (count < 0 || pg_add_s64_overflow(count, Max(offset, 0), &scan->bound))
		scan->bound = -1;
	ExecSetTupleBound(scan->bound, outerPlanState(scan));
}

/* ---- a batch of rows ---- */

/*
 * How many rows may be read ahead.  Where that may fail, none that the client may not want: each
 * row that it is given takes one of ours at least if the node is on top, and otherwise nothing is
 * known.
 */
static uint64
rows_to_read(GpbSubqueryScan *scan)
{
	uint64		wanted = gpb_rows_wanted(scan->node.css.ss.ps.state);

	if (!scan->plan.may_fail || wanted == PG_UINT64_MAX)
		return PG_UINT64_MAX;
	return scan->plan.on_top ? Max(wanted, 1) : 1;
}

/*
 * May the engine answer now?  Otherwise the SubPlans do: also where a batch would be too small to
 * pay.
 */
static bool
engine_may_answer(GpbSubqueryScan *scan)
{
	return gpb_enabled && gpb_enable_subquery && scan->node.gave_up == NULL &&
		rows_to_read(scan) >= GPB_SUBQUERY_LEAST_BATCH &&
		!gpb_needs_plain_scan(scan->node.css.ss.ps.state->es_snapshot);
}

/*
 * Set the programs' constants, which are the same for all executions: no parameter of the executor
 * is in them.  Returns NULL, or why one of them has no answer.
 */
static const char *
bind_programs(GpbSubqueryScan *scan)
{
	const char *refusal = NULL;
	int			i;

	for (i = 0; i < scan->plan.nranges && refusal == NULL && !scan->programs_bound; i++)
	{
		if (scan->plan.ranges[i].program.present)
			refusal = gpb_ask_bind(scan->ranges[i].ask, scan->node.css.ss.ps.ps_ExprContext);
	}
	scan->programs_bound = true;
	return refusal;
}

/* Ask for what each row's range, one of those that it has, holds; NULL, or why not. */
static const char *
ask_range(const GpbSubqueryRangeState *range, const GpbOuterRanges *ranges)
{
	if (range->partitions == NULL)
		return gpb_ask_each(range->ask, ranges->ranges, ranges->n);
	return gpb_ask_each_share(range->ask,
							  gpb_partitions_share(range->partitions, ranges->form,
												   ranges->ranges, ranges->n), ranges->n);
}

/* Have the ranges of the batch answered; if a program gives up, SubPlans do so from now on. */
static void
answer_batch(GpbSubqueryScan *scan)
{
	const char *why = bind_programs(scan);
	int			i;

	for (i = 0; i < scan->plan.nranges && why == NULL; i++)
		why = ask_range(&scan->ranges[i], &scan->outer.ranges[i]);
	if (why != NULL)
	{
		scan->node.gave_up = why;
		gpb_note_gave_up(&scan->node, why);
	}
	scan->answered = why == NULL;
}

/*
 * Give back what a batch takes: a plan may have many nodes, of one partition each, that are done
 * one after the other.
 */
static void
release_rows(GpbSubqueryScan *scan)
{
	int			i;

	ExecClearTuple(scan->node.css.ss.ss_ScanTupleSlot);
	gpb_outer_release(&scan->outer);
	for (i = 0; i < scan->plan.nranges; i++)
		gpb_ask_forget(scan->ranges[i].ask);
}

/*
 * Read the next batch of rows, but none that a Limit above will not want, and answer their ranges;
 * false if there are no rows.
 */
static bool
load_batch(GpbSubqueryScan *scan)
{
	GpbOuter   *outer = &scan->outer;
	uint64		most;
	bool		found;

	if (outer->done)
	{
		release_rows(scan);
		return false;
	}
	if (!scan->begun)
		begin_reading(scan);
	scan->answered = engine_may_answer(scan);
	most = rows_to_read(scan);
	if (scan->plan.bounded && scan->bound >= 0)
		most = Min(most, Max(scan->bound, 1));
	found = scan->answered ? gpb_outer_read(outer, most) : gpb_outer_read_one(outer);
	if (scan->plan.bounded && scan->bound >= 0)
		scan->bound = Max(scan->bound - outer->n, 0);
	if (found && scan->answered)
		answer_batch(scan);
	return found;
}

/* ---- results ---- */

/* Put the items of a row's range, number i of its ranges, into the scan tuple. */
static inline void
load_items(GpbSubqueryScan *scan, int i, uint32 row, TupleTableSlot *tuple)
{
	const GpbSubqueryRangeState *range = &scan->ranges[i];
	uint32		number = gpb_outer_range(&scan->outer, i, row);

	gpb_group_init(range->ask);
	if (number != GPB_NO_RANGE)
		gpb_group_add(range->ask, gpb_ask_answer(range->ask, number));
	gpb_group_final(range->ask, tuple->tts_values + range->first_item,
					tuple->tts_isnull + range->first_item);
}

/* Put the results that the engine has answered into the scan tuple. */
static void
answer_results(GpbSubqueryScan *scan, uint32 row, TupleTableSlot *tuple, ExprContext *econtext)
{
	int			first = tuple->tts_tupleDescriptor->natts - scan->plan.nresults;
	int			i;

	for (i = 0; i < scan->plan.nranges; i++)
		load_items(scan, i, row, tuple);
	for (i = 0; i < scan->plan.nresults; i++)
	{
		int			item = scan->target_item[i];

		if (item >= 0)
		{
			tuple->tts_values[first + i] = tuple->tts_values[item];
			tuple->tts_isnull[first + i] = tuple->tts_isnull[item];
		}
		else
			tuple->tts_values[first + i] = ExecEvalExpr(scan->targets[i], econtext,
														&tuple->tts_isnull[first + i]);
	}
}

/* Put the results that the SubPlans compute into the scan tuple. */
static void
run_subplans(GpbSubqueryScan *scan, TupleTableSlot *tuple, ExprContext *econtext)
{
	int			first = tuple->tts_tupleDescriptor->natts - scan->plan.nresults;
	int			i;

	for (i = 0; i < scan->plan.nresults; i++)
		tuple->tts_values[first + i] = ExecEvalExpr(scan->subplans[i], econtext,
													&tuple->tts_isnull[first + i]);
}

/* The row as it comes out of the node; NULL if a condition rejects it. */
static TupleTableSlot *
row_result(GpbSubqueryScan *scan, uint32 row)
{
	PlanState  *ps = &scan->node.css.ss.ps;
	ExprContext *econtext = ps->ps_ExprContext;
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	MemoryContext caller;

	gpb_outer_load(&scan->outer, row);
	econtext->ecxt_scantuple = tuple;
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	if (scan->answered)
		answer_results(scan, row, tuple, econtext);
	else
		run_subplans(scan, tuple, econtext);
	MemoryContextSwitchTo(caller);
	return gpb_node_result(&scan->node, ps->qual);
}

static TupleTableSlot *
exec_subquery(CustomScanState *css)
{
	GpbSubqueryScan *scan = (GpbSubqueryScan *) css;
	TupleTableSlot *result = NULL;

	while (result == NULL)
	{
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(css->ss.ps.ps_ExprContext);
		if (scan->outer.next >= scan->outer.n && !load_batch(scan))
			return NULL;
		result = row_result(scan, scan->outer.next++);
	}
	return result;
}

/* ---- rescan and end ---- */

static void
rescan_subquery(CustomScanState *css)
{
	GpbSubqueryScan *scan = (GpbSubqueryScan *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	scan->begun = false;
	gpb_outer_rescan(&scan->outer);
}

/* Locks are kept to the end of the transaction. */
static void
end_subquery(CustomScanState *css)
{
	GpbSubqueryScan *scan = (GpbSubqueryScan *) css;
	int			i;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	for (i = 0; scan->ranges != NULL && i < scan->plan.nranges; i++)
	{
		gpb_ask_end(scan->ranges[i].ask);
		gpb_partitions_end(scan->ranges[i].partitions);
		index_close(scan->ranges[i].index, NoLock);
		table_close(scan->ranges[i].heap, NoLock);
	}
	gpb_close_node(&scan->node);
}

const GpbNodeKind gpb_subquery_node = {
	GPB_NODE_KIND("GpubtreeSubquery", GpbSubqueryScan),
	.exec.BeginCustomScan = begin_subquery,
	.exec.ExecCustomScan = exec_subquery,
	.exec.EndCustomScan = end_subquery,
	.exec.ReScanCustomScan = rescan_subquery,
	.exec.ExplainCustomScan = gpb_subquery_explain
};
