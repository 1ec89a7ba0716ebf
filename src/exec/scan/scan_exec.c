/*-------------------------------------------------------------------------
 *
 * scan_exec.c
 *	  The executor node of rows from lists of entries.
 *
 * The conditions on the key become ranges, or keys, and the program's constants are evaluated when
 * the first row is asked for.  Each entry that the program lists is a row: its columns are the
 * entry's or, if the index does not have them all, those of the heap.  About a row for which the
 * program faulted core's own evaluation of all conditions decides, and about all of them if the
 * program cannot be used.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/sysattr.h"
#include "executor/executor.h"
#include "miscadmin.h"
#include "optimizer/optimizer.h"
#include "utils/memutils.h"

#include "exec/bind/program_bind_safe.h"
#include "exec/compile/items.h"
#include "exec/scan/scan_node.h"
#include "exec/shell/expressions.h"
#include "index/index.h"

/* ---- begin ---- */

/* Prepare to take columns from the table's rows. */
static void
begin_table_columns(GpbScanRows *scan)
{
	CustomScanState *css = &scan->node.css;
	const GpbScanPlan *plan = &scan->plan;
	int			i;

	/* where WHERE CURRENT OF looks for the row */
	css->ss.ss_currentRelation = scan->node.heap;
	for (i = 0; i < plan->ncolumns; i++)
	{
		List	   *columns = castNode(CustomScan, css->ss.ps.plan)->custom_scan_tlist;

		scan->last_column = Max(scan->last_column, plan->columns[i]);
		if (plan->columns[i] == InvalidAttrNumber)
			scan->whole_row = ExecInitExpr(list_nth_node(TargetEntry, columns, i)->expr,
										   &css->ss.ps);
	}
}

static void
begin_scan(CustomScanState *css, EState *estate, int eflags)
{
	GpbScanRows *scan = (GpbScanRows *) css;
	GpbScanPlan *plan = &scan->plan;

	gpb_scan_get(castNode(CustomScan, css->ss.ps.plan), plan);
	gpb_require_functions(list_make4(plan->conditions, plan->arrays, plan->arms, plan->filters));
	if (!gpb_open_scanned(&scan->node, plan->index, eflags))
		return;

	scan->layout = *gpb_layout(scan->node.index);
	if (gpb_layout_has_dictionary(&scan->layout))
		scan->dictionary = gpb_dictionary(scan->node.index);
	scan->conditions = gpb_conditions_init(scan->node.index, plan->conditions, plan->arrays,
										   plan->arms, &css->ss.ps);
	if (plan->skips != NIL)
		gpb_conditions_skip(scan->conditions, plan->skips, plan->skip_prefix, &css->ss.ps);
	scan->constants = gpb_program_constants_init(&plan->program, scan->node.index,
												 &css->ss.ps);
	scan->constants_may_fail = gpb_may_fail((Node *) plan->program.constants);
	if (plan->has_ends)
		gpb_scan_begin_ends(scan);
	scan->bound = ExecInitExprList(plan->bound, &css->ss.ps);
	scan->all = ExecInitQual(plan->all, &css->ss.ps);
	scan->settings_matter = contain_mutable_functions((Node *) plan->all) ||
		contain_mutable_functions((Node *) css->ss.ps.plan->qual);
	if (!plan->index_only)
		begin_table_columns(scan);
	scan->ask = gpb_ask_begin(&css->ss.ps, &(GpbAskWant) {
		GPB_ASK_NODE(&scan->node), .heap_rows = !plan->index_only, .early = true
	});
	scan->list = gpb_list_begin(&scan->node,
								&(GpbAskTarget) {scan->node.heap, scan->node.index}, scan->ask,
								!plan->index_only, false);
	scan->node.work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree scan",
											ALLOCSET_DEFAULT_SIZES);
}

/* ---- the list ---- */

/*
 * How many of the first entries are wanted, by LIMIT and OFFSET as they are now; 0: all, or so many
 * that it is no use to leave the others out.  Core's Limit, which is above, has evaluated both, and
 * would have raised an error for a negative one.
 */
static uint32
evaluate_bound(GpbScanRows *scan)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
	int64		bound = 0;
	ListCell   *lc;

	foreach(lc, scan->bound)
	{
		bool		isnull;
		int64		count = DatumGetInt64(ExecEvalExprSwitchContext(lfirst(lc), econtext, &isnull));

		/* NULL is no OFFSET, which comes second, but all rows as LIMIT */
		if (isnull && foreach_current_index(lc) == 0)
			return 0;
		if (isnull)
			count = 0;
		if (count < 0 || count > GPB_MOST_FIRST)
			return 0;
		bound += count;
	}
	return (uint32) bound;
}

/* Fill in the program with its constants, or one that lists all entries if that cannot be. */
static void
bind_program(GpbScanRows *scan, GpbProgram *program)
{
	*program = scan->plan.program.program;
	scan->unfiltered = gpb_program_constants_bind(scan->constants, scan->constants_may_fail,
												  scan->node.css.ss.ps.ps_ExprContext, program);
	if (scan->bound != NIL)
		program->limit = evaluate_bound(scan);
	if (scan->unfiltered == NULL)
		return;
	gpb_note_gave_up(&scan->node, scan->unfiltered);
	memset(program, 0, sizeof(*program));
	program->list_entries = true;
}

/*
 * Ask for the entries of n ranges in this form; for those with the last keys of groups if that is
 * enough, and they can be found.
 */
static void
ask_for(GpbScanRows *scan, GpbRangeForm form, const void *ranges, uint32 n)
{
	GpbProgram	program;
	GpbRange   *keys;
	uint32		nkeys;

	bind_program(scan, &program);
	if (scan->plan.has_ends && scan->unfiltered == NULL &&
		gpb_scan_find_ends(scan, form, ranges, n, &keys, &nkeys))
	{
		form = GPB_RANGE_BOUNDS;
		ranges = keys;
		n = nkeys;
	}
	gpb_ask_set_program(scan->ask, &program, form);
	gpb_list_start(scan->list, ranges, 0, n);
}

/* Begin with one row of each key of n ranges. */
static void
start_keys(GpbScanRows *scan, const GpbRange *ranges, uint32 n)
{
	PlanState  *ps = &scan->node.css.ss.ps;

	if (scan->keys == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(ps->state->es_query_cxt);

		scan->keys = gpb_scan_keys_begin(scan->node.heap, scan->node.index,
										 ps->state->es_snapshot);
		scan->reader = gpb_scan_keys_reader(scan->keys);
		MemoryContextSwitchTo(caller);
	}
	gpb_scan_keys_start(scan->keys, ranges, n);
}

/* Begin with the rows of groups that satisfy the conditions; memory is that of one execution. */
static void
start_walk(GpbScanRows *scan)
{
	PlanState  *ps = &scan->node.css.ss.ps;
	GpbColumnSets *sets = palloc(sizeof(GpbColumnSets));

	if (scan->walk == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(ps->state->es_query_cxt);

		scan->walk = gpb_group_walk_begin(scan->node.heap, scan->node.index,
										  ps->state->es_snapshot, &scan->plan.walk,
										  scan->plan.index_only);
		scan->reader = gpb_group_walk_reader(scan->walk);
		MemoryContextSwitchTo(caller);
	}
	if (!gpb_conditions_sets(scan->conditions, ps->ps_ExprContext, &scan->layout, sets))
		sets = NULL;
	gpb_group_walk_start(scan->walk, sets);
}

/* Begin with the rows of n ranges in their order. */
static void
start_reading(GpbScanRows *scan, const GpbRange *ranges, uint32 n)
{
	PlanState  *ps = &scan->node.css.ss.ps;

	if (scan->reader == NULL)
	{
		MemoryContext caller = MemoryContextSwitchTo(ps->state->es_query_cxt);

		scan->reader = gpb_reader_begin(scan->node.heap, scan->node.index, ps->state->es_snapshot,
										scan->plan.index_only, false);
		MemoryContextSwitchTo(caller);
	}
	scan->to_read = ranges;
	scan->nto_read = n;
	scan->reading = false;
}

/* Go on to the next row in order; false if there are no more. */
static bool
read_next(GpbScanRows *scan)
{
	while (!scan->reading || !gpb_reader_next(scan->reader))
	{
		bool		forward = ScanDirectionIsForward(scan->plan.direction);

		CHECK_FOR_INTERRUPTS();
		if (scan->nto_read-- == 0)
		{
			scan->nto_read = 0;
			return false;
		}
		gpb_reader_start(scan->reader,
						 forward ? *scan->to_read++ : scan->to_read[scan->nto_read],
						 scan->plan.direction);
		scan->reading = true;
	}
	return true;
}

/* Evaluate the conditions, and ask for what satisfies those on the key. */
static void
ask(GpbScanRows *scan)
{
	MemoryContext caller;
	GpbFoundRanges found;		/* if lossy, each row is tested for the conditions too */

	gpb_list_stop(scan->list);
	MemoryContextReset(scan->node.work);
	caller = MemoryContextSwitchTo(scan->node.work);
	scan->unfiltered = NULL;
	if (scan->settings_matter)
		gpb_zone_settings_save(&scan->settings);
	if (gpb_scan_walks(&scan->plan))
	{
		start_walk(scan);
		MemoryContextSwitchTo(caller);
		return;
	}
	gpb_conditions_evaluate(scan->conditions, scan->node.css.ss.ps.ps_ExprContext, &found);
	if (scan->plan.has_each)
		start_keys(scan, found.ranges, found.n);
	else if (scan->plan.direction != NoMovementScanDirection)
		start_reading(scan, found.ranges, found.n);
	else if (found.n > 0 && scan->parts == NULL)
		ask_for(scan, found.form, found.ranges, found.n);
	else if (scan->parts != NULL)
	{
		scan->found = found;
		gpb_scan_start_shared(scan);
		ask_for(scan, GPB_RANGE_BOUNDS, NULL, 0);
	}
	MemoryContextSwitchTo(caller);
}

/* ---- rows ---- */

/* The whole row as a value, which core makes of it, in the memory of one row */
static Datum
whole_row(GpbScanRows *scan, TupleTableSlot *row, bool *isnull)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
	TupleTableSlot *tuple = econtext->ecxt_scantuple;
	Datum		value;

	econtext->ecxt_scantuple = row;
	value = ExecEvalExprSwitchContext(scan->whole_row, econtext, isnull);
	econtext->ecxt_scantuple = tuple;
	return value;
}

/* The value of a column of the row, a system column or the whole row included */
static Datum
row_column(GpbScanRows *scan, TupleTableSlot *row, AttrNumber column, bool *isnull)
{
	*isnull = false;
	if (column > 0)
	{
		*isnull = row->tts_isnull[column - 1];
		return row->tts_values[column - 1];
	}
	if (column == InvalidAttrNumber)
		return whole_row(scan, row, isnull);
	return slot_getsysattr(row, column, isnull);
}

/* The value of a column of the entry, or the table's OID */
static Datum
entry_column(GpbScanRows *scan, const GpbRangeEntry *entry, AttrNumber column, bool *isnull)
{
	*isnull = false;
	if (column == TableOidAttributeNumber)
		return ObjectIdGetDatum(RelationGetRelid(scan->node.heap));
	if (scan->reader != NULL)
		return gpb_reader_column(scan->reader, column, isnull);
	return gpb_entry_value(scan->node.heap, scan->node.index,
						   scan->node.css.ss.ps.state->es_snapshot, &scan->layout, scan->dictionary,
						   gpb_entry_key(entry, &scan->layout), entry->row, column, isnull);
}

/* Put the columns of the entry, or of its row, into the scan tuple, which is valid for one row. */
static void
load_row(GpbScanRows *scan, const GpbRangeEntry *entry, TupleTableSlot *row)
{
	const GpbScanPlan *plan = &scan->plan;
	TupleTableSlot *tuple = scan->node.css.ss.ss_ScanTupleSlot;
	MemoryContext caller =
		MemoryContextSwitchTo(scan->node.css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);
	int			i;

	ExecClearTuple(tuple);
	if (!plan->index_only)
		slot_getsomeattrs(row, scan->last_column);
	/* Numerics are made in the memory of this row. */
	for (i = 0; i < plan->ncolumns; i++)
		tuple->tts_values[i] = plan->index_only ?
			entry_column(scan, entry, plan->columns[i], &tuple->tts_isnull[i]) :
			row_column(scan, row, plan->columns[i], &tuple->tts_isnull[i]);
	for (; i < tuple->tts_tupleDescriptor->natts; i++)
		tuple->tts_isnull[i] = true;
	ExecStoreVirtualTuple(tuple);
	MemoryContextSwitchTo(caller);
	if (plan->index_only)
		return;
	/* where WHERE CURRENT OF looks for the row */
	tuple->tts_tid = row->tts_tid;
	tuple->tts_tableOid = RelationGetRelid(scan->node.heap);
}

/* Does the condition admit the row in the scan tuple, with the settings of the first row? */
static bool
passes_as_begun(GpbScanRows *scan, ExprState *qual)
{
	int			level = scan->settings_matter ? gpb_zone_settings_enter(&scan->settings) : 0;
	bool		passes = ExecQual(qual, scan->node.css.ss.ps.ps_ExprContext);

	if (scan->settings_matter)
		gpb_zone_settings_leave(level);
	return passes;
}

/*
 * Do the conditions that the ranges leave admit the row in the scan tuple?  entry is NULL if the
 * row was not listed.
 */
static bool
row_passes(GpbScanRows *scan, const GpbRangeEntry *entry)
{
	PlanState  *ps = &scan->node.css.ss.ps;
	ExprState  *qual = ps->qual;

	if (unlikely(scan->unfiltered != NULL ||
				 (entry != NULL && (entry->flags & GPB_RANGE_ENTRY_FAULTED) != 0)))
	{
		qual = scan->all;
		scan->rechecked++;
	}
	if (qual == NULL || passes_as_begun(scan, qual))
		return true;
	InstrCountFiltered1(ps, 1);
	return false;
}

/* Put the next row into the scan tuple, and *entry; false if there are no more. */
static bool
next_row(GpbScanRows *scan, const GpbRangeEntry **entry)
{
	TupleTableSlot *row = NULL;
	uint32		range;

	/* before the row that its values may point to goes */
	ExecClearTuple(scan->node.css.ss.ss_ScanTupleSlot);
	*entry = NULL;
	if (scan->reader != NULL)
	{
		if (!(scan->walk != NULL ? gpb_group_walk_next(scan->walk) :
			  scan->keys != NULL ? gpb_scan_keys_next(scan->keys) : read_next(scan)))
			return false;
		row = gpb_reader_row(scan->reader);
	}
	else
	{
		do
			*entry = gpb_list_next(scan->list, NULL, NULL, &range, &row);
		while (*entry == NULL && gpb_scan_next_part(scan));
	}
	if (*entry == NULL && row == NULL)
		return false;
	load_row(scan, *entry, row);
	return true;
}

static TupleTableSlot *
exec_scan(CustomScanState *css)
{
	GpbScanRows *scan = (GpbScanRows *) css;
	ExprContext *econtext = css->ss.ps.ps_ExprContext;

	if (!scan->asked)
	{
		ResetExprContext(econtext);
		ask(scan);
		scan->asked = true;
	}
	econtext->ecxt_scantuple = css->ss.ss_ScanTupleSlot;
	for (;;)
	{
		const GpbRangeEntry *entry;

		CHECK_FOR_INTERRUPTS();
		ResetExprContext(econtext);
		if (!next_row(scan, &entry))
			return NULL;
		if (row_passes(scan, entry))
			return gpb_node_result(&scan->node, NULL);
	}
}

static void
rescan_scan(CustomScanState *css)
{
	GpbScanRows *scan = (GpbScanRows *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	if (scan->list != NULL)
		gpb_list_stop(scan->list);
	scan->asked = false;
}

static void
end_scan(CustomScanState *css)
{
	GpbScanRows *scan = (GpbScanRows *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	if (scan->walk != NULL)
		gpb_group_walk_end(scan->walk);
	else if (scan->reader != NULL)
		gpb_reader_end(scan->reader);
	gpb_list_end(scan->list);
	gpb_ask_end(scan->ends);
	gpb_close_node(&scan->node);
}

const GpbNodeKind gpb_scan_node = {
	GPB_NODE_KIND("GpubtreeScan", GpbScanRows),
	.exec.BeginCustomScan = begin_scan,
	.exec.ExecCustomScan = exec_scan,
	.exec.EndCustomScan = end_scan,
	.exec.ReScanCustomScan = rescan_scan,
	.exec.EstimateDSMCustomScan = gpb_scan_estimate_shared,
	.exec.InitializeDSMCustomScan = gpb_scan_make_shared,
	.exec.ReInitializeDSMCustomScan = gpb_scan_make_shared,
	.exec.InitializeWorkerCustomScan = gpb_scan_find_shared,
	.exec.ShutdownCustomScan = gpb_scan_leave_shared,
	.exec.ExplainCustomScan = gpb_scan_explain
};
