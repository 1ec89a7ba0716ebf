/*-------------------------------------------------------------------------
 *
 * range_aggregate_exec.c
 *	  The executor node of aggregates over each of many ranges.
 *
 * Outer rows are read a batch at a time, and the ranges of a batch aggregated together
 * (ask.h).  Then each outer row comes out with what its range has, or each group of rows
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
#include "utils/rel.h"

#include "exec/answer/ordinary.h"
#include "exec/price/growth.h"
#include "exec/range/range_aggregate.h"

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
	gpb_outer_get(&scan->outer, row, scan->first->tts_values, scan->first->tts_isnull);
	ExecStoreVirtualTuple(scan->first);
	return true;
}

/* GpbOuterAdded, where rows come sorted by group columns */
static void
mark_group_start(GpbNode *node, TupleTableSlot *slot, uint32 row)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) node;

	((bool *) scan->outer.marks)[row] = row_starts_group(scan, slot, row);
}

/* Prepare to read outer rows, each with its range and its mark, and to ask for the ranges. */
static void
begin_outer(GpbRangeAggregateScan *scan)
{
	const GpbRowRange *range = &scan->plan.range;
	GpbAskWant	want = {GPB_ASK_NODE(&scan->node), .nitems = range->nitems, .items = range->items};
	GpbOuter   *outer = &scan->outer;
	Size		bytes;

	want.plan = range->program.present ? &range->program.plan : NULL;
	if (scan->plan.merges_states)
	{
		want.collects = true;
		scan->ask = gpb_ask_begin(&scan->node.css.ss.ps, &want);
		return;
	}
	if (scan->plan.gathered)
		gpb_outer_begin(outer, &scan->node, 1, sizeof(int64 *), gpb_range_find_group);
	else
		gpb_outer_begin(outer, &scan->node, 1, sizeof(bool),
						scan->plan.ngroup > 0 ? mark_group_start : NULL);
	gpb_outer_begin_ranges(outer, 0, scan->node.index, range->nconditions, range->conditions,
						   scan->plan.values);
	gpb_partitions_want(scan->partitions, &want);
	want.form = outer->ranges[0].form;
	want.memory = gpb_rows_memory();
	scan->ask = gpb_ask_begin(&scan->node.css.ss.ps, &want);
	bytes = outer->ranges[0].width + sizeof(int64 *) + gpb_ask_answer_width(scan->ask);
	if (scan->partitions != NULL)
		bytes += outer->ranges[0].width + sizeof(uint32) + gpb_ask_answer_width(scan->ask);
	gpb_outer_set_bytes(outer, bytes);
}

/*
 * Open the index and its table.  A worker has no lock of its own, but by the number in the range
 * table, which only nodes of joins have.
 */
static void
open_relations(GpbRangeAggregateScan *scan, EState *estate, int eflags)
{
	GpbNode    *node = &scan->node;

	if (scan->plan.returns_state)
		(void) gpb_open_joined(node, scan->plan.range.index, eflags);
	else if ((eflags & EXEC_FLAG_EXPLAIN_ONLY) == 0)
	{
		gpb_open_unnamed(estate, scan->plan.range.index, eflags, &node->heap, &node->index);
		node->opened_heap = true;
	}
}

static void
begin_range_aggregate(CustomScanState *css, EState *estate, int eflags)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;
	CustomScan *node = castNode(CustomScan, css->ss.ps.plan);

	gpb_range_aggregate_get(node, &scan->plan);
	require_rights(&scan->plan);
	gpb_start_child(&scan->node, eflags);
	if (scan->plan.has_ordinary)
	{
		gpb_ordinary_begin(&scan->node, lsecond(node->custom_plans), eflags);
		gpb_kept_begin(&scan->all_rows, estate, css->ss.ps.ps_ResultTupleSlot);
	}
	open_relations(scan, estate, eflags);
	scan->partitions = gpb_partitions_begin(&scan->node, &scan->plan.partitions,
											scan->node.index, eflags);
	if (eflags & EXEC_FLAG_EXPLAIN_ONLY)
		return;
	begin_computed(scan);
	begin_outer(scan);
	begin_groups(scan);
	scan->node.work = AllocSetContextCreate(CurrentMemoryContext, "gpubtree range aggregate",
											ALLOCSET_SMALL_SIZES);
}

/* ---- a batch of outer rows ---- */

/*
 * Evaluate the constants of a program, now that there are outer rows, with one of them in the scan
 * tuple, since setrefs.c may have found parts of them among the columns; they have the same value
 * with each row.  The node may give up.
 */
static void
require_bound(GpbRangeAggregateScan *scan)
{
	ExprContext *econtext = scan->node.css.ss.ps.ps_ExprContext;
	const char *refusal;

	if (scan->bound || !scan->plan.range.program.present)
		return;
	gpb_outer_load(&scan->outer, 0);
	econtext->ecxt_scantuple = scan->node.css.ss.ss_ScanTupleSlot;
	refusal = gpb_ask_bind(scan->ask, econtext);
	if (refusal != NULL)
		gpb_node_give_up(&scan->node, refusal);
	scan->bound = refusal == NULL;
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

/* Ask for what each of the ranges at hand has, or all together; NULL, or why not. */
static const char *
ask_each(GpbRangeAggregateScan *scan)
{
	const GpbOuterRanges *ranges = &scan->outer.ranges[0];

	if (scan->partitions == NULL)
		return gpb_ask_each(scan->ask, ranges->ranges, ranges->n);
	return gpb_ask_each_share(scan->ask, gpb_partitions_share(scan->partitions, ranges->form,
															  ranges->ranges, ranges->n),
							  ranges->n);
}

static const char *
ask_total(GpbRangeAggregateScan *scan)
{
	const GpbOuterRanges *ranges = &scan->outer.ranges[0];

	if (scan->partitions == NULL)
		return gpb_ask_total(scan->ask, ranges->ranges, ranges->n);
	return gpb_ask_total_shares(scan->ask,
								gpb_partitions_share_total(scan->partitions, ranges->form,
														   ranges->ranges, ranges->n));
}

/*
 * Read the next batch of outer rows and aggregate their ranges; false if there are no rows, or if
 * the node has given up.
 */
static bool
load_outer_batch(GpbRangeAggregateScan *scan)
{
	const GpbOuterRanges *ranges = &scan->outer.ranges[0];
	const char *why;

	if (scan->outer.done)
		return false;
	if (scan->same_group != NULL)
		keep_first(scan);
	if (!gpb_outer_read(&scan->outer, PG_UINT64_MAX))
	{
		restore_first(scan);
		return false;
	}
	require_bound(scan);
	restore_first(scan);
	if (scan->node.gave_up != NULL)
		return false;
	if (gpb_range_is_total(scan) && ranges->n > 0)
		why = ask_total(scan);
	else
		why = ask_each(scan);
	if (why != NULL)
		gpb_node_give_up(&scan->node, why);
	return why == NULL;
}

/* ---- groups ---- */

/* Begin a group with an outer row. */
static inline void
open_group(GpbRangeAggregateScan *scan, uint32 row)
{
	gpb_outer_load(&scan->outer, row);
	if (scan->kept != NULL)
		ExecClearTuple(scan->kept);
	gpb_group_init(scan->ask);
	scan->group_open = true;
}

/* Add what an outer row's range has to the open group. */
static inline void
add_to_group(GpbRangeAggregateScan *scan, uint32 row)
{
	uint32		range = gpb_outer_range(&scan->outer, 0, row);

	if (range != GPB_NO_RANGE && gpb_ask_answer(scan->ask, range)[0] > 0)
		gpb_group_add(scan->ask, gpb_ask_answer(scan->ask, range));
	else
		gpb_group_count(scan->ask, scan->plan.empty_count, false);
}

/*
 * Add rows to the open group until another begins; false if the outer rows end, or the batch does.
 */
static bool
fill_group(GpbRangeAggregateScan *scan)
{
	GpbOuter   *outer = &scan->outer;

	while (outer->next < outer->n)
	{
		if (!scan->group_open)
			open_group(scan, outer->next);
		else if (scan->same_group == NULL || ((bool *) outer->marks)[outer->next])
			return true;
		add_to_group(scan, outer->next++);
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
		gpb_group_init(scan->ask);
		while (load_outer_batch(scan))
			gpb_range_gather_batch(scan);
		if (scan->node.gave_up != NULL)
			return false;
		gpb_range_groups_complete(scan);
	}
	return gpb_range_next_gathered(scan);
}

/*
 * The next group, its first row in the scan tuple and what was added up in the ask's group;
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
		if (scan->group_open && (scan->same_group == NULL || scan->outer.done))
			return true;
		if (!load_outer_batch(scan))
			return scan->group_open && scan->node.gave_up == NULL;
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

	if (gpb_group_answer(scan->ask)[0] == 0 && !scan->plan.keep_empty && !all_rows)
		return NULL;
	caller = MemoryContextSwitchTo(econtext->ecxt_per_tuple_memory);
	gpb_group_final(scan->ask, tuple->tts_values + scan->plan.nouter,
					tuple->tts_isnull + scan->plan.nouter);
	MemoryContextSwitchTo(caller);
	econtext->ecxt_scantuple = tuple;
	if (!ExecQual(scan->having, econtext))
	{
		InstrCountFiltered1(ps, 1);
		return NULL;
	}
	compute_columns(scan, tuple);
	return gpb_node_result(&scan->node, ps->qual);
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
	while (!scan->complete)
	{
		row = next_result(scan);
		if (row != NULL)
			gpb_kept_add(&scan->all_rows, row);
		scan->complete = row == NULL;
	}
	if (scan->node.gave_up == NULL)
		return gpb_kept_next(&scan->all_rows);
	gpb_kept_drop(&scan->all_rows);
	return gpb_ordinary_row(&scan->node);
}

/* What was read and not used is forgotten; batches begin small again. */
static void
rescan_range_aggregate(CustomScanState *css)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	forget_first(scan);
	scan->group_open = false;
	gpb_range_groups_reset(scan);
	gpb_partitions_restart(scan->partitions);
	/* a program's constants may be others */
	if (css->ss.ps.chgParam != NULL)
	{
		if (scan->bound)
			gpb_ask_stop(scan->ask);
		scan->bound = false;
	}
	gpb_kept_drop(&scan->all_rows);
	scan->complete = false;
	scan->node.gave_up = NULL;
	gpb_ordinary_rescan(&scan->node);
	gpb_outer_rescan(&scan->outer);
}

static void
end_range_aggregate(CustomScanState *css)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	forget_first(scan);
	gpb_ask_end(scan->ask);
	gpb_partitions_end(scan->partitions);
	gpb_kept_drop(&scan->all_rows);
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

/* ---- GpubtreeJoinAggregate: one group, and no rows ---- */

/* Ranges that are parted together, few enough that they are in the nearest cache when they are */
#define GPB_PARTED_TOGETHER		1024

/*
 * Read the ranges of at most so many outer rows, and part them among the partitions as they come.
 * Sets *why to why there is no answer, if there is none; false if these are the last rows.
 */
static bool
add_parted_rows(GpbRangeAggregateScan *scan, uint32 most, const char **why)
{
	const GpbOuterRanges *ranges = &scan->outer.ranges[0];
	uint32		n = 0;
	bool		more;

	gpb_partitions_expect(scan->partitions, ranges->form,
						  (uint64) Min(scan->node.child->plan->plan_rows, most));
	do
	{
		more = gpb_outer_read_ranges(&scan->outer, Min(most - n, GPB_PARTED_TOGETHER));
		gpb_partitions_part(scan->partitions, ranges->form, ranges->ranges, ranges->n);
		n += ranges->n;
	} while (more && n < most);
	if (n > 0)
		*why = gpb_ask_total_shares(scan->ask, gpb_partitions_parts(scan->partitions));
	return more;
}

/* Read the ranges of at most so many outer rows, and add what they have; like the above. */
static bool
add_some_rows(GpbRangeAggregateScan *scan, uint32 most, const char **why)
{
	bool		more;

	if (scan->partitions != NULL && gpb_partitions_begin_parts(scan->partitions))
		return add_parted_rows(scan, most, why);
	more = gpb_outer_read_ranges(&scan->outer, most);
	if (scan->outer.ranges[0].n > 0)
		*why = ask_total(scan);
	return more;
}

/* Ask for the ranges of all outer rows, a batch after the other; NULL, or why there is no answer */
static const char *
ask_outer_rows(GpbRangeAggregateScan *scan)
{
	const GpbOuterRanges *ranges = &scan->outer.ranges[0];
	uint32		most = Min(gpb_rows_memory() / ranges->width, GPB_MOST_ROWS);
	const char *why = NULL;
	bool		more;

	do
	{
		more = add_some_rows(scan, most, &why);
	} while (more && why == NULL);
	return why;
}

/*
 * Add up the ranges of outer rows in one group.  The planner has found the program to be certain,
 * once it is bound.
 */
static void
add_outer_rows(GpbRangeAggregateScan *scan)
{
	const char *why;

	gpb_group_init(scan->ask);
	why = scan->shared != NULL ? gpb_range_ask_shared(scan) : ask_outer_rows(scan);
	if (why != NULL)
		elog(ERROR, "program over index \"%s\" has no answer: %s",
			 RelationGetRelationName(scan->node.index), why);
}

/* Put the answer into the scan tuple. */
static void
answer_joined(CustomScanState *css)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;
	TupleTableSlot *tuple = css->ss.ss_ScanTupleSlot;
	int			nouter = scan->plan.nouter;
	MemoryContext caller;

	gpb_clear_answer(&scan->node);
	if (scan->plan.merges_states)
		gpb_range_merge_states(scan);
	else
		add_outer_rows(scan);
	caller = MemoryContextSwitchTo(scan->node.work);
	if (scan->plan.returns_state)
		gpb_range_put_state(scan);
	else
		gpb_group_final(scan->ask, tuple->tts_values + nouter, tuple->tts_isnull + nouter);
	/* an outer row's values are gone with the row */
	memset(tuple->tts_isnull, true, sizeof(bool) * nouter);
	MemoryContextSwitchTo(caller);
}

/*
 * The program is bound once: its constants are the same in each execution of the node, and no row
 * that the snapshot sees has a code that the dictionary gets later.  Nothing of the outer plan is
 * read before that, or if the node gives up.
 */
static TupleTableSlot *
exec_joined(CustomScanState *css)
{
	GpbRangeAggregateScan *scan = (GpbRangeAggregateScan *) css;

	if (!scan->bound && scan->plan.range.program.present && scan->node.gave_up == NULL)
	{
		const char *refusal = gpb_ask_bind(scan->ask, css->ss.ps.ps_ExprContext);

		if (refusal != NULL)
			gpb_node_give_up(&scan->node, refusal);
		scan->bound = refusal == NULL;
	}
	return scan->node.gave_up == NULL ? gpb_exec_one_row(css) : gpb_ordinary_row(&scan->node);
}

static void
rescan_joined(CustomScanState *css)
{
	GpbNode    *node = (GpbNode *) css;

	gpb_partitions_restart(((GpbRangeAggregateScan *) css)->partitions);
	gpb_rescan_one_row(css);
	node->gave_up = NULL;
	gpb_ordinary_rescan(node);
}

const GpbNodeKind gpb_join_aggregate_node = {
	GPB_NODE_KIND("GpubtreeJoinAggregate", GpbRangeAggregateScan),
	.answer = answer_joined,
	.exec.BeginCustomScan = begin_range_aggregate,
	.exec.ExecCustomScan = exec_joined,
	.exec.EndCustomScan = end_range_aggregate,
	.exec.ReScanCustomScan = rescan_joined,
	.exec.EstimateDSMCustomScan = gpb_range_estimate_shared,
	.exec.InitializeDSMCustomScan = gpb_range_make_shared,
	.exec.ReInitializeDSMCustomScan = gpb_range_renew_shared,
	.exec.InitializeWorkerCustomScan = gpb_range_find_shared,
	.exec.ShutdownCustomScan = gpb_range_leave_shared,
	.exec.ExplainCustomScan = gpb_range_aggregate_explain
};
