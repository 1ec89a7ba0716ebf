/*-------------------------------------------------------------------------
 *
 * range_aggregate_exec.c
 *	  The executor node of aggregates over each of many ranges.
 *
 * Outer rows are read a batch at a time, and the ranges of a batch aggregated together
 * (range_totals.h).  Then each outer row comes out with what its range has, or each group of rows
 * with what its rows' ranges have together.  A group may go on in the next batch: the scan tuple
 * keeps its first row meanwhile.  If a program may have no answer, all rows are kept until the end
 * (kept_rows.h).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/lsyscache.h"
#include "utils/memutils.h"

#include "exec/bind/program_bind_safe.h"
#include "exec/price/growth.h"
#include "exec/range/range_aggregate.h"
#include "exec/shell/expressions.h"
#include "large_array.h"

/* ---- begin ---- */

/* Prepare to compare outer rows by the group columns. */
static void
begin_groups(GpbRangeAggregateScan *scan)
{
	const GpbRangeAggregatePlan *plan = &scan->plan;
	TupleDesc	descriptor = ExecGetResultType(scan->node.child);

	if (plan->gathered)
	{
		gpb_range_groups_begin(scan);
		return;
	}
	if (plan->ngroup == 0)
		return;
	scan->first = ExecInitExtraTupleSlot(scan->node.css.ss.ps.state, descriptor, &TTSOpsVirtual);
	scan->kept = ExecInitExtraTupleSlot(scan->node.css.ss.ps.state,
										scan->node.css.ss.ss_ScanTupleSlot->tts_tupleDescriptor,
										&TTSOpsVirtual);
	scan->same_group = execTuplesMatchPrepare(descriptor, plan->ngroup, plan->group,
											  plan->group_operator, plan->group_collation,
											  &scan->node.css.ss.ps);
}

/* Prepare the columns that are computed from items, and the conditions on items. */
static void
begin_computed(GpbRangeAggregateScan *scan)
{
	ListCell   *lc;

	scan->ncomputed = list_length(scan->plan.computed);
	scan->computed = palloc(sizeof(ExprState *) * scan->ncomputed);
	foreach(lc, scan->plan.computed)
		scan->computed[foreach_current_index(lc)] = ExecInitExpr(lfirst(lc),
																 &scan->node.css.ss.ps);
	scan->having = ExecInitQual(scan->plan.having, &scan->node.css.ss.ps);
}

/* Prepare the ordinary plan for when a program has no answer, if there is one. */
static void
begin_ordinary(GpbRangeAggregateScan *scan, int eflags)
{
	CustomScan *node = castNode(CustomScan, scan->node.css.ss.ps.plan);

	gpb_kept_begin(&scan->node, &scan->all_rows,
				   scan->plan.has_ordinary ? llast(node->custom_plans) : NULL, eflags);
}

/* Raise core's errors about rights to execute what stands in the query. */
static void
require_rights(const GpbRangeAggregatePlan *plan)
{
	const GpbRowRange *range = &plan->range;
	int			i;

	gpb_require_aggregates(range->items, range->nitems);
	gpb_require_row_program(&range->program);
	for (i = 0; range->program.present && i < range->nconditions; i++)
		gpb_require_function(get_opcode(range->conditions[i].operator));
}

static void
begin_range_aggregate(CustomScanState *css, EState *estate, int eflags)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;
	const GpbRowRange *range = &scan->plan.range;

	gpb_range_aggregate_get(castNode(CustomScan, css->ss.ps.plan), &scan->plan);
	require_rights(&scan->plan);
	gpb_start_child(&scan->node, eflags);
	begin_ordinary(scan, eflags);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;

	scan->context = CurrentMemoryContext;
	gpb_open_unnamed(estate, range->index, eflags, &scan->node.heap, &scan->node.index);
	scan->node.opened_heap = true;
	if (range->program.present)
		scan->constants = gpb_program_constants_init(&range->program.plan, scan->node.index,
													 &css->ss.ps);
	scan->values = gpb_range_values_begin(scan->node.index, range->nconditions, range->conditions,
										  scan->plan.values, &css->ss.ps);
	begin_computed(scan);
	scan->child = gpb_child_rows_begin(scan->node.child);
	scan->rows = gpb_outer_begin(ExecGetResultType(scan->node.child));
	scan->limit = GPB_FIRST_BATCH;
	begin_groups(scan);
}

/* ---- what answers ---- */

static inline void load_outer_row(GpbRangeAggregateScan *scan, uint32 row);

/*
 * Begin what answers the node's batches, with this program unless the items are over bare columns.
 */
static void
begin_totals(GpbRangeAggregateScan *scan, const GpbProgram *program)
{
	const GpbRowRange *range = &scan->plan.range;
	Snapshot	snapshot = scan->node.css.ss.ps.state->es_snapshot;
	GpbRangeForm form = gpb_range_values_form(scan->values);
	MemoryContext caller = MemoryContextSwitchTo(scan->context);

	if (range->program.present)
		scan->totals = gpb_range_totals_begin_program(scan->node.heap, scan->node.index, snapshot,
													  program, range->items, range->nitems,
													  form, gpb_rows_memory(), GPB_ENGINE_AUTO);
	else
		scan->totals = gpb_range_totals_begin(scan->node.heap, scan->node.index, snapshot,
											  range->items, range->nitems, form,
											  gpb_rows_memory(), GPB_ENGINE_AUTO);
	MemoryContextSwitchTo(caller);
}

/*
 * Begin what answers, if it was not begun, now that there are outer rows.  The constants of a
 * program are evaluated with one of them in the scan tuple, since setrefs.c may have found parts of
 * them among the columns; they have the same value with each row.  The node may give up.
 */
static void
require_totals(GpbRangeAggregateScan *scan)
{
	const GpbRowProgram *own = &scan->plan.range.program;
	GpbProgram	program = own->plan.program;

	if (scan->totals != NULL)
		return;
	if (own->present)
	{
		ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
		const char *refusal;

		load_outer_row(scan, 0);
		econtext->ecxt_scantuple = scan->node.css.ss.ss_ScanTupleSlot;
		refusal = gpb_program_constants_bind(scan->constants,
											 gpb_may_fail((Node *) own->plan.constants),
											 econtext, &program);
		if (refusal != NULL)
		{
			gpb_kept_give_up(&scan->node, &scan->all_rows, refusal);
			return;
		}
	}
	begin_totals(scan, &program);
}

/* The format of the answers to ranges; that of a program does not depend on its constants. */
static const GpbAnswerFormat *
answer_format(GpbRangeAggregateScan *scan)
{
	if (scan->format.words > 0)
		return &scan->format;
	if (scan->plan.range.program.present)
		gpb_answer_format(&scan->plan.range.program.plan.program, &scan->format);
	else
	{
		require_totals(scan);
		scan->format = *gpb_range_totals_format(scan->totals);
	}
	return &scan->format;
}

/* End what answers, but keep what it counted and its engine's name. */
static void
end_totals(GpbRangeAggregateScan *scan)
{
	const GpbBatchCounters *counters;

	if (scan->totals == NULL)
		return;
	counters = gpb_range_totals_counters(scan->totals);
	gpb_batch_counters_add(&scan->past, counters);
	strlcpy(scan->past_engine, counters->engine, sizeof(scan->past_engine));
	scan->past.engine = scan->past_engine;
	gpb_range_totals_end(scan->totals);
	scan->totals = NULL;
}

/* ---- a batch of outer rows ---- */

/* Bytes of an outer row that is passed by value, with its range and its answer */
static Size
range_row_bytes(GpbRangeAggregateScan *scan)
{
	return gpb_row_bytes(scan->plan.nouter, gpb_range_values_width(scan->values)) +
		sizeof(int64 *) +
		gpb_answer_width(answer_format(scan));
}

/* Make room for n rows; the rows of the last batch are lost. */
static void
reserve_outer_rows(GpbRangeAggregateScan *scan, uint32 n)
{
	gpb_outer_clear(scan->rows, n);
	if (n <= scan->capacity)
		return;
	if (scan->capacity > 0)
	{
		pfree(scan->ranges);
		pfree(scan->row_range);
		pfree(scan->starts_group);
		pfree(scan->row_answer);
	}
	scan->capacity = 0;
	scan->ranges = gpb_alloc_array(scan->context,
								   n * gpb_range_values_width(scan->values));
	scan->row_range = gpb_alloc_array(scan->context, n * sizeof(uint32));
	scan->starts_group = gpb_alloc_array(scan->context, n * sizeof(bool));
	scan->row_answer = gpb_alloc_array(scan->context, n * sizeof(int64 *));
	scan->capacity = n;
}

/* Put an outer row into the scan tuple; the results are NULL. */
static inline void
load_outer_row(GpbRangeAggregateScan *scan, uint32 row)
{
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;

	ExecClearTuple(tuple);
	gpb_outer_get(scan->rows, row, tuple->tts_values, tuple->tts_isnull);
	memset(tuple->tts_isnull + scan->plan.nouter, true,
		   (scan->plan.range.nitems + scan->ncomputed) * sizeof(bool));
	ExecStoreVirtualTuple(tuple);
}

/* Add the range, if there is one, of the outer row in the slot, number "row" of its batch. */
static inline void
add_row_range(GpbRangeAggregateScan *scan, TupleTableSlot *slot, uint32 row)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;

	if (!gpb_range_values_are_columns(scan->values))
	{
		ResetExprContext(econtext);
		load_outer_row(scan, row);
		econtext->ecxt_scantuple = scan->node.css.ss.ss_ScanTupleSlot;
	}
	if (gpb_range_of_row(scan->values, econtext, slot,
						 scan->ranges + scan->nranges * gpb_range_values_width(scan->values)))
		scan->row_range[row] = scan->nranges++;
	else
		scan->row_range[row] = GPB_NO_RANGE;
}

/* Is the outer row in the slot, number "row" of its batch, the first of a group? */
static bool
row_starts_group(GpbRangeAggregateScan *scan, TupleTableSlot *slot, uint32 row)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;

	if (!TupIsNull(scan->first))
	{
		bool		same;

		econtext->ecxt_innertuple = scan->first;
		econtext->ecxt_outertuple = slot;
		same = ExecQual(scan->same_group, econtext);
		ResetExprContext(econtext);
		if (same)
			return false;
	}
	ExecClearTuple(scan->first);
	gpb_outer_get(scan->rows, row, scan->first->tts_values, scan->first->tts_isnull);
	ExecStoreVirtualTuple(scan->first);
	return true;
}

/*
 * Read outer rows, each with its range if it has one, until the batch is full; false if there are
 * none.
 */
static bool
read_outer_rows(GpbRangeAggregateScan *scan, uint32 limit)
{
	Size		row_bytes = range_row_bytes(scan);
	Size		memory = gpb_rows_memory();
	uint32		row;

	for (row = 0; row < limit; row++)
	{
		TupleTableSlot *slot;

		if (row > 0 && row * row_bytes + gpb_outer_copied(scan->rows) > memory)
			break;
		slot = gpb_child_next(scan->child);
		if (TupIsNull(slot))
		{
			scan->outer_done = true;
			break;
		}
		gpb_outer_add(scan->rows, slot);
		if (scan->same_group != NULL)
			scan->starts_group[row] = row_starts_group(scan, slot, row);
		else if (scan->plan.gathered)
			scan->row_answer[row] = gpb_range_group_of_row(scan, slot);
		add_row_range(scan, slot, row);
	}
	/* a batch that was cut short by memory is not followed by a larger one */
	if (row == limit)
		scan->limit = gpb_grown_batch(limit);
	return row > 0;
}

/*
 * Keep the open group's first row, and the first row to compare with, since the batch that they are
 * of goes.  What was kept when an earlier batch went stays where it is.
 */
static void
keep_first(GpbRangeAggregateScan *scan)
{
	if (scan->group_open && TupIsNull(scan->kept))
		ExecCopySlot(scan->kept, scan->node.css.ss.ss_ScanTupleSlot);
	if (!TupIsNull(scan->first))
		ExecMaterializeSlot(scan->first);
}

/*
 * Put the open group's first row into the scan tuple again; its values stay where they were kept.
 */
static void
restore_first(GpbRangeAggregateScan *scan)
{
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	int			natts = tuple->tts_tupleDescriptor->natts;

	if (!scan->group_open)
		return;
	ExecClearTuple(tuple);
	memcpy(tuple->tts_values, scan->kept->tts_values, natts * sizeof(Datum));
	memcpy(tuple->tts_isnull, scan->kept->tts_isnull, natts * sizeof(bool));
	ExecStoreVirtualTuple(tuple);
}

/* Give back the rows that keep_first() kept. */
static void
forget_first(GpbRangeAggregateScan *scan)
{
	if (scan->first == NULL)
		return;
	ExecClearTuple(scan->first);
	ExecClearTuple(scan->kept);
}

/* Aggregate the ranges of the batch; false if the node has given up. */
static bool
run_batch(GpbRangeAggregateScan *scan)
{
	const char *why;

	if (scan->all_rows.gave_up != NULL)
		return false;
	if (gpb_range_is_total(scan) && scan->nranges > 0)
		gpb_range_totals_sum(scan->totals, scan->ranges, scan->nranges);
	else
		gpb_range_totals_run(scan->totals, scan->ranges, scan->nranges);
	if (scan->nranges > 0 && gpb_range_totals_gave_up(scan->totals, &why))
		gpb_kept_give_up(&scan->node, &scan->all_rows, why);
	return scan->all_rows.gave_up == NULL;
}

/*
 * Read the next batch of outer rows and aggregate their ranges; false if there are no rows, or if
 * the node has given up.
 */
static bool
load_outer_batch(GpbRangeAggregateScan *scan)
{
	uint32		limit;
	bool		more;

	if (scan->outer_done)
		return false;
	limit = Min(scan->limit, gpb_most_rows(range_row_bytes(scan)));
	if (scan->same_group != NULL)
		keep_first(scan);
	reserve_outer_rows(scan, limit);
	scan->nranges = 0;
	scan->next = 0;
	more = read_outer_rows(scan, limit);
	if (more)
		require_totals(scan);
	restore_first(scan);
	return more && run_batch(scan);
}

/* ---- groups ---- */

/* Begin a group with an outer row. */
static inline void
open_group(GpbRangeAggregateScan *scan, uint32 row)
{
	load_outer_row(scan, row);
	if (scan->kept != NULL)
		ExecClearTuple(scan->kept);
	gpb_range_group_init(scan->totals);
	scan->group_open = true;
}

/* Add what an outer row's range has to the open group. */
static inline void
add_to_group(GpbRangeAggregateScan *scan, uint32 row)
{
	uint32		range = scan->row_range[row];

	if (range != GPB_NO_RANGE && gpb_range_totals_entries(scan->totals, range) > 0)
		gpb_range_group_add(scan->totals, range);
	else
		gpb_range_group_count(scan->totals, scan->plan.empty_count, false);
}

/*
 * Add rows to the open group until another begins; false if the outer rows end, or the batch does.
 */
static bool
fill_group(GpbRangeAggregateScan *scan)
{
	uint32		n = gpb_outer_count(scan->rows);

	while (scan->next < n)
	{
		if (!scan->group_open)
			open_group(scan, scan->next);
		else if (scan->same_group == NULL || scan->starts_group[scan->next])
			return true;
		add_to_group(scan, scan->next++);
	}
	return false;
}

/*
 * The next group of those that are gathered, which is when all outer rows were read; false if there
 * are no more, or if the node has given up.
 */
static bool
next_gathered(GpbRangeAggregateScan *scan)
{
	if (!scan->groups.complete)
	{
		if (scan->totals != NULL)
			gpb_range_group_init(scan->totals);
		while (load_outer_batch(scan))
			gpb_range_gather_batch(scan);
		if (scan->all_rows.gave_up != NULL)
			return false;
		/* without an outer row nothing was asked, so constants don't matter */
		if (scan->totals == NULL)
			begin_totals(scan, &scan->plan.range.program.plan.program);
		gpb_range_groups_complete(scan);
	}
	return gpb_range_next_gathered(scan);
}

/*
 * The next group, its first row in the scan tuple and what was added up in the group of the totals;
 * false if there are no more.
 */
static bool
next_group(GpbRangeAggregateScan *scan)
{
	if (scan->plan.gathered)
		return next_gathered(scan);
	scan->group_open = false;
	while (!fill_group(scan))
	{
		/* without group columns a row is done with its batch */
		if (scan->group_open && (scan->same_group == NULL || scan->outer_done))
			return true;
		if (!load_outer_batch(scan))
			return scan->group_open && scan->all_rows.gave_up == NULL;
	}
	return true;
}

/* ---- the node ---- */

/* Fill in the columns of the scan tuple that are computed from its items. */
static void
compute_columns(GpbRangeAggregateScan *scan, TupleTableSlot *tuple)
{
	int			first = scan->plan.nouter + scan->plan.range.nitems;
	int			i;

	for (i = 0; i < scan->ncomputed; i++)
		tuple->tts_values[first + i] =
			ExecEvalExprSwitchContext(scan->computed[i], scan->node.css.ss.ps.ps_ExprContext,
									  &tuple->tts_isnull[first + i]);
}

/* The open group as it comes out of the node; NULL if a condition rejects it, or it is left out. */
static TupleTableSlot *
group_result(GpbRangeAggregateScan *scan)
{
	PlanState  *ps = &scan->node.css.ss.ps;
	ExprContext *econtext = ps->ps_ExprContext;
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	bool		all_rows = scan->plan.gathered && scan->plan.ngroup == 0;
	MemoryContext caller;

	if (gpb_range_group_entries(scan->totals) == 0 && !scan->plan.keep_empty && !all_rows)
		return NULL;
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	gpb_range_group_final(scan->totals, tuple->tts_values + scan->plan.nouter,
						  tuple->tts_isnull + scan->plan.nouter);
	MemoryContextSwitchTo(caller);
	econtext->ecxt_scantuple = tuple;
	if (!ExecQual(scan->having, econtext))
	{
		InstrCountFiltered1(ps, 1);
		return NULL;
	}
	compute_columns(scan, tuple);
	if (ps->qual != NULL && !ExecQual(ps->qual, econtext))
	{
		InstrCountFiltered1(ps, 1);
		return NULL;
	}
	return ps->ps_ProjInfo == NULL ? tuple : ExecProject(ps->ps_ProjInfo);
}

/* The next row as it is computed; NULL after the last one, or if the node has given up. */
static TupleTableSlot *
next_result(GpbRangeAggregateScan *scan)
{
	TupleTableSlot *result = NULL;

	while (result == NULL)
	{
		CHECK_FOR_INTERRUPTS();
		ResetExprContext(scan->node.css.ss.ps.ps_ExprContext);
		if (!next_group(scan))
			return NULL;
		result = group_result(scan);
	}
	return result;
}

static TupleTableSlot *
exec_range_aggregate(CustomScanState *css)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;
	TupleTableSlot *row;

	if (scan->node.ordinary_plan == NULL)
		return next_result(scan);
	if (!scan->all_rows.complete)
	{
		while ((row = next_result(scan)) != NULL)
			gpb_kept_add(&scan->node, &scan->all_rows, row);
		gpb_kept_complete(&scan->all_rows);
	}
	return gpb_kept_next(&scan->node, &scan->all_rows);
}

/* What was read and not used is forgotten; batches begin small again. */
static void
rescan_range_aggregate(CustomScanState *css)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	forget_first(scan);
	gpb_outer_clear(scan->rows, 0);
	scan->next = 0;
	scan->group_open = false;
	scan->limit = GPB_FIRST_BATCH;
	scan->outer_done = false;
	gpb_range_groups_reset(scan);
	/* a program's constants may be others */
	if (scan->plan.range.program.present && css->ss.ps.chgParam != NULL)
		end_totals(scan);
	gpb_kept_rescan(&scan->node, &scan->all_rows);
	gpb_rescan_child(&scan->node);
}

static void
end_range_aggregate(CustomScanState *css)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	forget_first(scan);
	end_totals(scan);
	gpb_kept_end(&scan->all_rows);
	if (scan->rows != NULL)
		gpb_outer_end(scan->rows);
	gpb_close_node(&scan->node);
}

const GpbNodeKind gpb_range_aggregate_node = {
	GPB_NODE_KIND("GpubtreeRangeAggregate", GpbRangeAggregateScan),
	.exec.BeginCustomScan = begin_range_aggregate,
	.exec.ExecCustomScan = exec_range_aggregate,
	.exec.EndCustomScan = end_range_aggregate,
	.exec.ReScanCustomScan = rescan_range_aggregate,
	.exec.ExplainCustomScan = gpb_range_aggregate_explain
};
