/*-------------------------------------------------------------------------
 *
 * subquery_exec.c
 *	  The executor node that answers scalar subqueries in batches.
 *
 * Rows of the child are read a batch at a time, with their ranges, and these are answered together
 * (range_totals.h).  Then each row comes out with the subqueries' results.  Where the engine may
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
#include "large_array.h"
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

/* The relations stay open to the end of the node, as gpb_open_scanned() has it. */
static void
begin_ranges(GpbSubqueryScan *scan, int eflags)
{
	int			place = scan->plan.ncolumns;
	int			i;

	scan->ranges = palloc0(sizeof(GpbSubqueryRangeState) * scan->plan.nranges);
	for (i = 0; i < scan->plan.nranges; i++)
	{
		const GpbRowRange *range = &scan->plan.ranges[i];
		GpbSubqueryRangeState *state = &scan->ranges[i];

		state->first_item = place;
		place += range->nitems;
		gpb_open_unnamed(scan->node.css.ss.ps.state, range->index, eflags, &state->heap,
						 &state->index);
		state->values = gpb_range_values_begin(state->index, range->nconditions,
											   range->conditions, scan->plan.values[i],
											   &scan->node.css.ss.ps);
	}
}

static void
begin_subquery(CustomScanState *css, EState *estate, int eflags)
{
	GpbSubqueryScan *scan = (GpbSubqueryScan *) css;
	CustomScan *plan = castNode(CustomScan, css->ss.ps.plan);

	/* it reads forward only, and goes back to the beginning by reading anew */
	eflags &= ~(EXEC_FLAG_BACKWARD | EXEC_FLAG_MARK);
	gpb_subquery_get(plan, &scan->plan);
	outerPlanState(css) = ExecInitNode(outerPlan(plan), estate, eflags);
	begin_results(scan);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	scan->context = CurrentMemoryContext;
	begin_ranges(scan, eflags);
	scan->bound_offset = ExecInitExpr((Expr *) scan->plan.bound_offset, &css->ss.ps);
	scan->bound_count = ExecInitExpr((Expr *) scan->plan.bound_count, &css->ss.ps);
	scan->wanted = gpb_add_columns(NULL, (Node *) plan->scan.plan.targetlist, INDEX_VAR);
	scan->wanted = gpb_add_columns(scan->wanted, (Node *) plan->scan.plan.qual, INDEX_VAR);
	scan->wanted = gpb_add_columns(scan->wanted, (Node *) plan->custom_exprs, INDEX_VAR);
	scan->child = gpb_child_rows_begin(outerPlanState(css));
	scan->rows = gpb_outer_begin(ExecGetResultType(outerPlanState(css)));
	gpb_outer_want(scan->rows, scan->wanted);
	scan->limit = GPB_FIRST_BATCH;
}

/*
 * The program of a range with its constants, which are the same for all executions: no parameter of
 * the executor is in them.  Returns NULL, or why the program cannot be used.
 */
static const char *
bind_program(GpbSubqueryScan *scan, const GpbRowProgram *row_program, Relation index,
			 GpbProgram *program)
{
	PlanState  *ps = &scan->node.css.ss.ps;

	*program = row_program->plan.program;
	if (!row_program->present)
		return NULL;
	return gpb_program_bind(gpb_program_constants_init(&row_program->plan, index, ps),
							ps->ps_ExprContext, program);
}

/*
 * What answers the batches of a range, made when first asked for.  Answers are kept for all rows of
 * a batch, so what they take must be known when rows are read.
 */
static GpbRangeTotals *
range_totals(GpbSubqueryScan *scan, int i)
{
	const GpbRowRange *range = &scan->plan.ranges[i];
	GpbSubqueryRangeState *state = &scan->ranges[i];
	Snapshot	snapshot = scan->node.css.ss.ps.state->es_snapshot;
	GpbRangeForm form = gpb_range_values_form(state->values);
	Size		memory = gpb_rows_memory() / scan->plan.nranges;
	GpbProgram	program;
	const char *refusal;
	MemoryContext caller;

	if (state->totals != NULL)
		return state->totals;
	caller = MemoryContextSwitchTo(scan->context);
	refusal = bind_program(scan, &range->program, state->index, &program);
	if (refusal != NULL)
		scan->gave_up = refusal;
	if (range->program.present)
		state->totals = gpb_range_totals_begin_program(state->heap, state->index, snapshot,
													   &program, range->items, range->nitems,
													   form, memory, GPB_ENGINE_AUTO);
	else
		state->totals = gpb_range_totals_begin(state->heap, state->index, snapshot, range->items,
											   range->nitems, form, memory, GPB_ENGINE_AUTO);
	MemoryContextSwitchTo(caller);
	return state->totals;
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
	return gpb_enabled && gpb_enable_subquery && scan->gave_up == NULL &&
		rows_to_read(scan) >= GPB_SUBQUERY_LEAST_BATCH &&
		!gpb_needs_plain_scan(scan->node.css.ss.ps.state->es_snapshot);
}

/* Bytes of a row that is passed by value, with its ranges and their answers */
static Size
row_bytes(GpbSubqueryScan *scan)
{
	Size		bytes = gpb_row_bytes(scan->plan.ncolumns, 0);
	int			i;

	for (i = 0; i < scan->plan.nranges; i++)
		bytes += gpb_range_values_width(scan->ranges[i].values) + sizeof(uint32) +
			gpb_batch_answer_width(gpb_range_totals_batch(range_totals(scan, i)));
	return bytes;
}

/* Make room for n rows; the rows of the last batch are lost. */
static void
reserve_rows(GpbSubqueryScan *scan, uint32 n)
{
	int			i;

	gpb_outer_clear(scan->rows, n);
	scan->next = 0;
	if (n <= scan->capacity)
		return;
	for (i = 0; i < scan->plan.nranges; i++)
	{
		GpbSubqueryRangeState *range = &scan->ranges[i];

		if (scan->capacity > 0)
		{
			pfree(range->ranges);
			pfree(range->row_range);
		}
		range->ranges = gpb_alloc_array(scan->context,
										n * gpb_range_values_width(range->values));
		range->row_range = gpb_alloc_array(scan->context, n * sizeof(uint32));
	}
	scan->capacity = n;
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
	gpb_outer_release(scan->rows);
	scan->next = 0;
	if (scan->capacity == 0)
		return;
	for (i = 0; i < scan->plan.nranges; i++)
	{
		GpbSubqueryRangeState *range = &scan->ranges[i];

		pfree(range->ranges);
		pfree(range->row_range);
		if (range->totals != NULL)
			gpb_range_totals_run(range->totals, NULL, 0);
	}
	scan->capacity = 0;
}

/* Put a row into the scan tuple; items and results are NULL. */
static inline void
load_row(GpbSubqueryScan *scan, uint32 row)
{
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	int			columns = scan->plan.ncolumns;

	ExecClearTuple(tuple);
	gpb_outer_get(scan->rows, row, tuple->tts_values, tuple->tts_isnull);
	memset(tuple->tts_isnull + columns, true,
		   (tuple->tts_tupleDescriptor->natts - columns) * sizeof(bool));
	ExecStoreVirtualTuple(tuple);
}

/* Add the ranges of the row in the slot, number "row" of its batch. */
static inline void
add_ranges(GpbSubqueryScan *scan, TupleTableSlot *slot, uint32 row)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
	bool		loaded = false;
	int			i;

	for (i = 0; i < scan->plan.nranges; i++)
	{
		GpbSubqueryRangeState *range = &scan->ranges[i];

		if (!loaded && !gpb_range_values_are_columns(range->values))
		{
			ResetExprContext(econtext);
			load_row(scan, row);
			econtext->ecxt_scantuple = scan->node.css.ss.ss_ScanTupleSlot;
			loaded = true;
		}
		if (gpb_range_of_row(range->values, econtext, slot,
							 range->ranges +
							 range->n * gpb_range_values_width(range->values)))
			range->row_range[row] = range->n++;
		else
			range->row_range[row] = GPB_NO_RANGE;
	}
}

/*
 * Rows of the next batch at most: more than of the last, as far as memory goes, and none that a
 * Limit above will not want.
 */
static uint32
next_limit(GpbSubqueryScan *scan)
{
	uint64		most;

	if (!scan->answered)
		return 1;
	most = gpb_most_rows(row_bytes(scan));
	if (scan->plan.bounded && scan->bound >= 0)
		most = Min(most, Max(scan->bound, 1));
	most = Min(most, rows_to_read(scan));
	return Min(scan->limit, most);
}

/* Read rows, each with its ranges, until the batch is full; false if there are none. */
static bool
read_rows(GpbSubqueryScan *scan, uint32 limit)
{
	Size		bytes = scan->answered ? row_bytes(scan) : 0;
	Size		memory = gpb_rows_memory();
	uint32		row;

	for (row = 0; row < limit; row++)
	{
		TupleTableSlot *slot;

		if (row > 0 && row * bytes + gpb_outer_copied(scan->rows) > memory)
			break;
		slot = gpb_child_next(scan->child);
		if (TupIsNull(slot))
		{
			scan->child_done = true;
			break;
		}
		gpb_outer_add(scan->rows, slot);
		if (scan->answered)
			add_ranges(scan, slot, row);
	}
	/* a batch that was cut short by memory is not followed by a larger one */
	if (scan->answered && row == limit)
		scan->limit = gpb_grown_batch(limit);
	if (scan->plan.bounded && scan->bound >= 0)
		scan->bound = Max(scan->bound - row, 0);
	return row > 0;
}

/* Have the ranges of the batch answered; if a program gives up, SubPlans do so from now on. */
static void
answer_batch(GpbSubqueryScan *scan)
{
	const char *why;
	int			i;

	for (i = 0; i < scan->plan.nranges && scan->gave_up == NULL; i++)
	{
		GpbSubqueryRangeState *range = &scan->ranges[i];

		gpb_range_totals_run(range->totals, range->ranges, range->n);
		if (range->n > 0 && gpb_range_totals_gave_up(range->totals, &why))
			scan->gave_up = why;
	}
	scan->answered = scan->gave_up == NULL;
}

/* Read the next batch of rows and answer their ranges; false if there are no rows. */
static bool
load_batch(GpbSubqueryScan *scan)
{
	uint32		limit;
	int			i;

	if (scan->child_done)
	{
		release_rows(scan);
		return false;
	}
	if (!scan->begun)
		begin_reading(scan);
	scan->answered = engine_may_answer(scan);
	limit = next_limit(scan);
	reserve_rows(scan, limit);
	for (i = 0; i < scan->plan.nranges; i++)
		scan->ranges[i].n = 0;
	if (!read_rows(scan, limit))
		return false;
	if (scan->answered)
		answer_batch(scan);
	return true;
}

/* ---- results ---- */

/* Put the items of a row's range into the scan tuple. */
static inline void
load_items(GpbSubqueryRangeState *range, uint32 row, TupleTableSlot *tuple)
{
	uint32		number = range->row_range[row];

	gpb_range_group_init(range->totals);
	if (number != GPB_NO_RANGE)
		gpb_range_group_add(range->totals, number);
	gpb_range_group_final(range->totals, tuple->tts_values + range->first_item,
						  tuple->tts_isnull + range->first_item);
}

/* Put the results that the engine has answered into the scan tuple. */
static void
answer_results(GpbSubqueryScan *scan, uint32 row, TupleTableSlot *tuple, ExprContext *econtext)
{
	int			first = tuple->tts_tupleDescriptor->natts - scan->plan.nresults;
	int			i;

	for (i = 0; i < scan->plan.nranges; i++)
		load_items(&scan->ranges[i], row, tuple);
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

	load_row(scan, row);
	econtext->ecxt_scantuple = tuple;
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	if (scan->answered)
		answer_results(scan, row, tuple, econtext);
	else
		run_subplans(scan, tuple, econtext);
	MemoryContextSwitchTo(caller);
	if (ps->qual != NULL && !ExecQual(ps->qual, econtext))
	{
		InstrCountFiltered1(ps, 1);
		return NULL;
	}
	return ps->ps_ProjInfo == NULL ? tuple : ExecProject(ps->ps_ProjInfo);
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
		if (scan->next >= gpb_outer_count(scan->rows) && !load_batch(scan))
			return NULL;
		result = row_result(scan, scan->next++);
	}
	return result;
}

/* ---- rescan and end ---- */

/* What was read and not used is forgotten; batches begin small again. */
static void
rescan_subquery(CustomScanState *css)
{
	GpbSubqueryScan *scan = (GpbSubqueryScan *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	gpb_outer_clear(scan->rows, 0);
	scan->next = 0;
	scan->limit = GPB_FIRST_BATCH;
	scan->child_done = false;
	scan->begun = false;
	/* ExecReScan has told the child which parameters have changed */
	if (outerPlanState(css)->chgParam == NULL)
		ExecReScan(outerPlanState(css));
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
		if (scan->ranges[i].totals != NULL)
			gpb_range_totals_end(scan->ranges[i].totals);
		index_close(scan->ranges[i].index, NoLock);
		table_close(scan->ranges[i].heap, NoLock);
	}
	if (scan->rows != NULL)
		gpb_outer_end(scan->rows);
	ExecEndNode(outerPlanState(css));
}

const GpbNodeKind gpb_subquery_node = {
	GPB_NODE_KIND("GpubtreeSubquery", GpbSubqueryScan),
	.exec.BeginCustomScan = begin_subquery,
	.exec.ExecCustomScan = exec_subquery,
	.exec.EndCustomScan = end_subquery,
	.exec.ReScanCustomScan = rescan_subquery,
	.exec.ExplainCustomScan = gpb_subquery_explain
};
