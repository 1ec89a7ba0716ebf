/*-------------------------------------------------------------------------
 *
 * join_exec.c
 *	  The executor node of batched index joins.
 *
 * Outer rows are read a batch at a time, and the keys of a batch searched together (ask.h).  Each
 * index entry found is a match: the outer row's values and the entry's, or those of the row that it
 * points to, make the scan tuple, which the join's clauses are tested on.  Outer rows without a
 * match come last of their batch or, if the outer order was promised, in their place.
 *
 * A semi-join or anti-join whose matches are decided by the key alone, and whose inner columns come
 * out but as NULL, needs no list: it is enough to know of each key how many entries the snapshot
 * sees.  That is an aggregate: eight bytes a key come back in place of a record of each entry, no
 * list has to fit into memory, and a key with many entries takes no more to bring back than one
 * with a single entry.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "nodes/nodeFuncs.h"
#include "utils/memutils.h"

#include "exec/join/join_node.h"
#include "exec/price/growth.h"

/* ---- begin ---- */

/* The least memory of a partition's list */
#define GPB_LEAST_LIST_MEMORY	(256 * 1024)

/* Prepare to list a target's entries. */
static void
begin_target(GpbJoinScan *join, GpbJoinTarget *target, const GpbAskTarget *table,
			 const AttrNumber *inner)
{
	const GpbJoinPlan *plan = &join->plan;
	GpbAskWant	want = {.ntargets = 1, .targets = table};
	int			i;

	target->table = *table;
	target->inner = inner;
	for (i = 0; i < plan->ninner && !plan->index_only; i++)
		target->last_inner = Max(target->last_inner, inner[i]);
	if (gpb_layout_has_dictionary(&join->layout))
		target->dictionary = gpb_dictionary(table->index);
	if (plan->counts)
		return;
	want.plan = plan->has_program ? &plan->program : NULL;
	want.list = true;
	want.form = join->outer.ranges[0].form;
	want.heap_rows = !plan->index_only;
	want.memory = gpb_rows_memory();
	if (join->partitions != NULL)
		want.memory = Max(want.memory / join->ntargets, GPB_LEAST_LIST_MEMORY);
	target->ask = gpb_ask_begin(&join->node.css.ss.ps, &want);
	target->list = gpb_list_begin(&join->node, table, target->ask, want.heap_rows, plan->in_order);
}

/* Prepare to ask one table, or each of the partitions that there are. */
static void
begin_targets(GpbJoinScan *join)
{
	const GpbJoinPlan *plan = &join->plan;
	GpbAskTarget only = {join->node.heap, join->node.index};
	const GpbAskTarget *tables = &only;
	GpbAskWant	want = {.ntargets = 1, .targets = &only};
	int			i;

	join->ntargets = 1;
	if (join->partitions != NULL)
		tables = gpb_partitions_targets(join->partitions, &join->ntargets);
	join->targets = palloc0(sizeof(GpbJoinTarget) * Max(join->ntargets, 1));
	join->shares = palloc0(sizeof(GpbAskShare) * Max(join->ntargets, 1));
	for (i = 0; i < join->ntargets; i++)
		begin_target(join, &join->targets[i], &tables[i],
					 join->partitions == NULL || plan->partition_inner == NULL ? plan->inner :
					 plan->partition_inner[gpb_partitions_place(join->partitions, i)]);
	if (!plan->counts)
		return;
	gpb_partitions_want(join->partitions, &want);
	want.form = join->outer.ranges[0].form;
	want.memory = gpb_rows_memory();
	join->counts = gpb_ask_begin(&join->node.css.ss.ps, &want);
}

/* Prepare to read outer rows, each with its key or range of keys. */
static void
begin_outer(GpbJoinScan *join)
{
	const GpbJoinPlan *plan = &join->plan;
	GpbOuter   *outer = &join->outer;
	List	   *values = NIL;
	Size		bytes;
	ListCell   *lc;

	foreach(lc, plan->clauses)
		values = lappend(values, get_rightop(lfirst(lc)));
	gpb_outer_begin(outer, &join->node, 1, sizeof(bool), NULL);
	gpb_outer_begin_ranges(outer, 0, join->node.index, plan->nconditions, plan->conditions, values);
	bytes = outer->ranges[0].width + (plan->counts ? sizeof(int64) : 0);
	/* partitions have copies of what they are asked */
	if (join->partitions != NULL)
		bytes += bytes + sizeof(uint32);
	gpb_outer_set_bytes(outer, bytes);
}

static void
begin_join(CustomScanState *css, EState *estate, int eflags)
{
	GpbJoinScan *join = (GpbJoinScan *) css;
	GpbJoinPlan *plan = &join->plan;
	bool		opened;

	gpb_join_get(castNode(CustomScan, css->ss.ps.plan), plan);
	gpb_start_child(&join->node, eflags);
	join->match_qual = ExecInitQual(plan->match, &css->ss.ps);
	join->inner_qual = ExecInitQual(plan->filters, &css->ss.ps);
	join->rest_qual = ExecInitQual(plan->rest, &css->ss.ps);
	opened = gpb_open_joined(&join->node, plan->index, eflags);
	join->partitions = gpb_partitions_begin(&join->node, &plan->partitions, join->node.index,
											eflags);
	if (!opened)
		return;

	join->layout = *gpb_layout(join->node.index);
	join->wants_rows = plan->counts || plan->jointype == JOIN_LEFT || plan->jointype == JOIN_ANTI;
	join->wants_matched = plan->jointype == JOIN_SEMI;
	begin_outer(join);
	begin_targets(join);
	join->loaded_row = -1;
}

/* ---- a batch of outer rows ---- */

/* Put an outer row into the scan tuple, unless it is there; inner columns are as they were. */
static inline void
load_outer_row(GpbJoinScan *join, uint32 row)
{
	TupleTableSlot *tuple = join->node.css.ss.ss_ScanTupleSlot;

	if (join->loaded_row == row)
		return;
	gpb_outer_get(&join->outer, row, tuple->tts_values, tuple->tts_isnull);
	join->loaded_row = row;
}

/* Take the scan tuple back from a node above that made its values its own. */
static inline void
renew_tuple(GpbJoinScan *join)
{
	TupleTableSlot *tuple = join->node.css.ss.ss_ScanTupleSlot;

	if (!TTS_SHOULDFREE(tuple))
		return;
	ExecClearTuple(tuple);
	ExecStoreVirtualTuple(tuple);
	join->loaded_row = -1;
}

/* Fill the scan tuple's inner columns with NULLs. */
static void
load_nulls(GpbJoinScan *join)
{
	TupleTableSlot *tuple = join->node.css.ss.ss_ScanTupleSlot;

	memset(tuple->tts_values + join->plan.nouter, 0, join->plan.ninner * sizeof(Datum));
	memset(tuple->tts_isnull + join->plan.nouter, true, join->plan.ninner * sizeof(bool));
}

/*
 * Set the programs of the lists, if there are any, for this execution.  The scan tuple has an outer
 * row meanwhile: setrefs.c may have found parts of the constants among its columns.  Where a
 * program cannot be used, all entries are listed.
 */
static void
require_bound(GpbJoinScan *join)
{
	int			i;

	if (join->bound || !join->plan.has_program)
		return;
	load_outer_row(join, 0);
	for (i = 0; i < join->ntargets; i++)
	{
		GpbJoinTarget *target = &join->targets[i];

		target->filtered = gpb_ask_bind(target->ask, join->node.css.ss.ps.ps_ExprContext) == NULL;
		if (!target->filtered)
			gpb_ask_set_program(target->ask, &(GpbProgram) {.list_entries = true},
								join->outer.ranges[0].form);
	}
	join->bound = true;
}

/* Mark the outer rows at hand that have a match, by counts of the entries of their ranges. */
static void
count_matches(GpbJoinScan *join)
{
	const GpbOuterRanges *ranges = &join->outer.ranges[0];
	bool	   *matched = join->outer.marks;

	if (join->partitions == NULL)
		(void) gpb_ask_each(join->counts, ranges->ranges, ranges->n);
	else
		(void) gpb_ask_each_share(join->counts,
								  gpb_partitions_share(join->partitions, ranges->form,
													   ranges->ranges, ranges->n), ranges->n);
	for (uint32 i = 0; i < ranges->n; i++)
		matched[ranges->row[i]] = gpb_ask_answer(join->counts, i)[0] > 0;
}

/* Begin the list of the next target that is asked anything; false if there is none. */
static bool
next_target(GpbJoinScan *join)
{
	int			i = join->target == NULL ? 0 : join->target - join->targets + 1;

	for (; i < join->ntargets; i++)
	{
		if (join->shares[i].n == 0)
			continue;
		join->target = &join->targets[i];
		gpb_list_start(join->target->list, join->shares[i].ranges, join->outer.ranges[0].width,
					   join->shares[i].n);
		return true;
	}
	return false;
}

/* Part the ranges of the batch at hand among the targets. */
static void
share_ranges(GpbJoinScan *join)
{
	const GpbOuterRanges *ranges = &join->outer.ranges[0];

	join->target = NULL;
	if (ranges->n > 0)
		require_bound(join);
	if (join->partitions == NULL)
		join->shares[0] = (GpbAskShare) {ranges->ranges, ranges->n, NULL};
	else
		memcpy(join->shares, gpb_partitions_share(join->partitions, ranges->form, ranges->ranges,
												  ranges->n),
			   sizeof(GpbAskShare) * join->ntargets);
}

/*
 * Read the next batch of outer rows, each with its range if it has one, and ask for what the ranges
 * have; false if there are no rows.
 */
static bool
read_outer_rows(GpbJoinScan *join)
{
	join->loaded_row = -1;
	if (!gpb_outer_read(&join->outer, PG_UINT64_MAX))
		return false;
	memset(join->outer.marks, 0, join->outer.n * sizeof(bool));
	if (join->plan.counts)
		count_matches(join);
	else
		share_ranges(join);
	return true;
}

/* ---- matches of a batch ---- */

/* Is the outer row done with, so that no further match of it matters? */
static inline bool
row_decided(const GpbJoinScan *join, uint32 row)
{
	return (join->plan.jointype == JOIN_SEMI || join->plan.jointype == JOIN_ANTI) &&
		((bool *) join->outer.marks)[row];
}

/* The outer row of a range of the list at hand */
static inline uint32
row_of_range(const GpbJoinScan *join, uint32 range)
{
	const uint32 *number = join->shares[join->target - join->targets].number;

	return join->outer.ranges[0].row[number == NULL ? range : number[range]];
}

/* GpbListSkip */
static bool
range_decided(void *arg, uint32 range)
{
	GpbJoinScan *join = arg;

	return row_decided(join, row_of_range(join, range));
}

/* Go to the next match; false after the batch's last one. */
static bool
next_match(GpbJoinScan *join)
{
	uint32		range;

	if (join->plan.counts)
		return false;
	while (join->target != NULL || next_target(join))
	{
		join->record = gpb_list_next(join->target->list, range_decided, join, &range,
									 &join->inner_slot);
		if (join->record != NULL)
		{
			join->row = row_of_range(join, range);
			return true;
		}
		if (!next_target(join))
			return false;
	}
	return false;
}

/* Put the inner columns of the match at hand into the scan tuple. */
static inline void
load_inner(GpbJoinScan *join)
{
	const GpbJoinTarget *target = join->target;
	TupleTableSlot *tuple = join->node.css.ss.ss_ScanTupleSlot;
	Datum	   *values = tuple->tts_values + join->plan.nouter;
	bool	   *isnull = tuple->tts_isnull + join->plan.nouter;
	int			i;

	if (join->plan.index_only)
	{
		/* Numerics are made in the memory of this match. */
		MemoryContext caller =
			MemoryContextSwitchTo(join->node.css.ss.ps.ps_ExprContext->ecxt_per_tuple_memory);

		for (i = 0; i < join->plan.ninner; i++)
			values[i] = gpb_entry_value(target->table.heap, target->table.index,
										join->node.css.ss.ps.state->es_snapshot,
										&join->layout, target->dictionary,
										gpb_entry_key(join->record, &join->layout),
										join->record->row, target->inner[i], &isnull[i]);
		MemoryContextSwitchTo(caller);
		return;
	}
	slot_getsomeattrs(join->inner_slot, target->last_inner);
	for (i = 0; i < join->plan.ninner; i++)
	{
		values[i] = join->inner_slot->tts_values[target->inner[i] - 1];
		isnull[i] = join->inner_slot->tts_isnull[target->inner[i] - 1];
	}
}

/* ---- the node ---- */

/* The filters that the match at hand, an entry of the list, has not passed yet */
static inline ExprState *
filters_left(const GpbJoinScan *join)
{
	if (join->target->filtered && (join->record->flags & GPB_RANGE_ENTRY_FAULTED) == 0)
		return join->rest_qual;
	return join->inner_qual;
}

/* Does the match at hand, put into the scan tuple, pass the conditions of the join? */
static bool
match_passes(GpbJoinScan *join, ExprState *filters)
{
	ExprContext *econtext = join->node.css.ss.ps.ps_ExprContext;

	if (filters != NULL && !ExecQual(filters, econtext))
	{
		join->inner_removed++;
		return false;
	}
	if (join->match_qual != NULL && !ExecQual(join->match_qual, econtext))
	{
		join->match_removed++;
		return false;
	}
	return true;
}

/* Deal with the match at hand; the row that comes out, or NULL. */
static TupleTableSlot *
join_match(GpbJoinScan *join)
{
	ExprState  *filters = filters_left(join);

	if (row_decided(join, join->row))
		return NULL;
	if (join->plan.jointype != JOIN_ANTI || filters != NULL || join->match_qual != NULL)
	{
		load_outer_row(join, join->row);
		load_inner(join);
		if (!match_passes(join, filters))
			return NULL;
	}
	((bool *) join->outer.marks)[join->row] = true;
	if (join->plan.jointype == JOIN_ANTI)
		return NULL;
	return gpb_node_result(&join->node, join->node.css.ss.ps.qual);
}

/* Go on to the outer rows before "end" that come out alone, and then to another phase. */
static void
join_rows(GpbJoinScan *join, uint32 end, GpbJoinPhase after)
{
	join->phase = GPB_JOIN_ROWS;
	join->rows_end = end;
	join->after_rows = after;
}

/*
 * Return the next outer row that comes out alone: without a match or, of a semi-join by counts,
 * with one.  Returns NULL if there is none; then the phase may be another.
 */
static TupleTableSlot *
next_row(GpbJoinScan *join)
{
	const bool *matched = join->outer.marks;
	uint32		row = join->outer.next;

	while (join->wants_rows && row < join->rows_end && matched[row] != join->wants_matched)
		row++;
	if (!join->wants_rows || row >= join->rows_end)
	{
		join->outer.next = Max(row, join->rows_end);
		join->phase = join->after_rows;
		return NULL;
	}
	join->outer.next = row + 1;
	load_outer_row(join, row);
	load_nulls(join);
	return gpb_node_result(&join->node, join->node.css.ss.ps.qual);
}

/* Find the next match, and what comes before it. */
static void
join_next(GpbJoinScan *join)
{
	if (!next_match(join))
		join_rows(join, join->outer.n, GPB_JOIN_LOAD);
	else if (join->plan.in_order)
		join_rows(join, join->row, GPB_JOIN_MATCH);
	else
		join->phase = GPB_JOIN_MATCH;
}

static TupleTableSlot *
exec_join(CustomScanState *css)
{
	GpbJoinScan *join = (GpbJoinScan *) css;
	TupleTableSlot *result = NULL;

	renew_tuple(join);
	ResetExprContext(css->ss.ps.ps_ExprContext);
	while (result == NULL)
	{
		CHECK_FOR_INTERRUPTS();
		switch (join->phase)
		{
			case GPB_JOIN_LOAD:
				if (!read_outer_rows(join))
					return NULL;
				join->phase = GPB_JOIN_NEXT;
				break;
			case GPB_JOIN_NEXT:
				join_next(join);
				break;
			case GPB_JOIN_ROWS:
				result = next_row(join);
				if (result == NULL)
					ResetExprContext(css->ss.ps.ps_ExprContext);
				break;
			case GPB_JOIN_MATCH:
				join->phase = GPB_JOIN_NEXT;
				result = join_match(join);
				if (result == NULL)
					ResetExprContext(css->ss.ps.ps_ExprContext);
				break;
		}
	}
	return result;
}

static void
rescan_join(CustomScanState *css)
{
	GpbJoinScan *join = (GpbJoinScan *) css;

	for (int i = 0; i < join->ntargets; i++)
	{
		if (join->targets[i].list != NULL)
			gpb_list_stop(join->targets[i].list);
	}
	join->target = NULL;
	gpb_partitions_restart(join->partitions);
	join->phase = GPB_JOIN_LOAD;
	/* the program's constants may be others */
	if (css->ss.ps.chgParam != NULL)
		join->bound = false;
	gpb_outer_rescan(&join->outer);
}

static void
end_join(CustomScanState *css)
{
	GpbJoinScan *join = (GpbJoinScan *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	for (int i = 0; i < join->ntargets; i++)
		gpb_list_end(join->targets[i].list);
	gpb_ask_end(join->counts);
	gpb_partitions_end(join->partitions);
	gpb_close_node(&join->node);
}

const GpbNodeKind gpb_join_node = {
	GPB_NODE_KIND("GpubtreeJoin", GpbJoinScan),
	.exec.BeginCustomScan = begin_join,
	.exec.ExecCustomScan = exec_join,
	.exec.EndCustomScan = end_join,
	.exec.ReScanCustomScan = rescan_join,
	.exec.ExplainCustomScan = gpb_join_explain
};
