/*-------------------------------------------------------------------------
 *
 * join_exec.c
 *	  The executor node of batched index joins.
 *
 * Outer rows are read a batch at a time, and the keys of a batch searched together (batch.h).  Each
 * index entry found is a match: the outer row's values and the entry's, or those of the row that it
 * points to, make the scan tuple, which the join's clauses are tested on.  Outer rows without a
 * match come last of their batch or, if the outer order was promised, in their place.
 *
 * A semi-join or anti-join whose matches are decided by the key alone needs no list: the entries of
 * each key are counted instead, and outer rows come out by their counts (join_counts.c).
 *
 * In the outer order a list must be complete before its first entry can be used; if memory does
 * not hold it, half of the keys are asked for instead.  The list of a single key needs no sorting
 * and may come in parts.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "executor/executor.h"
#include "miscadmin.h"
#include "utils/memutils.h"

#include "exec/join/join_node.h"
#include "exec/price/growth.h"
#include "large_array.h"

/* ---- begin ---- */

static void
begin_join(CustomScanState *css, EState *estate, int eflags)
{
	GpbJoinScan *join = (GpbJoinScan *) css;
	GpbJoinPlan *plan = &join->plan;
	int			i;

	gpb_join_get(castNode(CustomScan, css->ss.ps.plan), plan);
	gpb_start_child(&join->node, eflags);
	join->match_qual = ExecInitQual(plan->match, &css->ss.ps);
	join->inner_qual = ExecInitQual(plan->filters, &css->ss.ps);
	join->rest_qual = ExecInitQual(plan->rest, &css->ss.ps);
	if (!gpb_open_joined(&join->node, plan->index, eflags))
		return;
	gpb_join_program_begin(join);

	join->context = CurrentMemoryContext;
	gpb_keys_init(&join->keys, join->node.index, plan->nconditions, plan->conditions,
				  plan->clauses, &css->ss.ps);
	if (gpb_layout_has_dictionary(&join->keys.layout))
		join->dictionary = gpb_dictionary(join->node.index);
	for (i = 0; i < plan->ninner && !plan->index_only; i++)
		join->last_inner = Max(join->last_inner, plan->inner[i]);
	join->wants_rows = plan->counts || plan->jointype == JOIN_LEFT || plan->jointype == JOIN_ANTI;
	join->wants_matched = plan->jointype == JOIN_SEMI;
	join->rows = gpb_outer_begin(ExecGetResultType(join->node.child));
	join->child = gpb_child_rows_begin(join->node.child);
	join->limit = GPB_FIRST_BATCH;
	join->window = PG_UINT32_MAX;
	join->loaded_row = -1;
	/* Columns behind those of both sides are never filled. */
	memset(css->ss.ss_ScanTupleSlot->tts_isnull, true,
		   css->ss.ss_ScanTupleSlot->tts_tupleDescriptor->natts * sizeof(bool));
}

/* ---- a batch of outer rows ---- */

/* Make room for the marks of so many rows; what was there is lost. */
static void
reserve_marks(GpbJoinScan *join, uint32 n)
{
	if (n <= join->capacity)
		return;
	if (join->capacity > 0)
	{
		pfree(join->key_row);
		pfree(join->matched);
		if (join->plan.counts)
			pfree(join->count);
	}
	join->capacity = 0;
	join->key_row = gpb_alloc_array(join->context, n * sizeof(uint32));
	join->matched = gpb_alloc_array(join->context, n * sizeof(bool));
	if (join->plan.counts)
		join->count = gpb_alloc_array(join->context, n * sizeof(int64));
	join->capacity = n;
}

/* Put an outer row into the scan tuple, unless it is there; inner columns are as they were. */
static inline void
load_outer_row(GpbJoinScan *join, uint32 row)
{
	TupleTableSlot *tuple = join->node.css.ss.ss_ScanTupleSlot;

	if (join->loaded_row == row)
		return;
	gpb_outer_get(join->rows, row, tuple->tts_values, tuple->tts_isnull);
	join->loaded_row = row;
}

/*
 * Add the key of the outer row in the slot, number "row" of its batch.  A row
 * with a NULL, or with a value that no key can equal, has none.
 */
static void
add_key(GpbJoinScan *join, TupleTableSlot *slot, uint32 row)
{
	ExprContext *econtext = join->node.css.ss.ps.ps_ExprContext;
	GpbJoinKeys *keys = &join->keys;

	if (!keys->are_columns)
	{
		ResetExprContext(econtext);
		load_outer_row(join, row);
	}
	if (gpb_keys_add(keys, econtext, slot))
		join->key_row[keys->n - 1] = row;
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
 * Read the next batch of outer rows, each with its key if it has one; false if there are
 * none.
 */
static bool
read_outer_rows(GpbJoinScan *join)
{
	TupleTableSlot *tuple = join->node.css.ss.ss_ScanTupleSlot;
	ExprContext *econtext = join->node.css.ss.ps.ps_ExprContext;
	Size		memory = gpb_rows_memory();
	uint32		limit;
	uint32		row;

	if (join->outer_done)
		return false;
	limit = Min(join->limit, gpb_most_rows(gpb_row_bytes(join->plan.nouter, join->keys.width) +
										   (join->plan.counts ? sizeof(int64) : 0)));
	join->limit = gpb_grown_batch(limit);
	ExecClearTuple(tuple);
	gpb_outer_clear(join->rows, limit);
	gpb_keys_clear(&join->keys, limit);
	reserve_marks(join, limit);
	join->loaded_row = -1;
	load_nulls(join);
	ExecStoreVirtualTuple(tuple);
	econtext->ecxt_scantuple = tuple;

	while ((row = gpb_outer_count(join->rows)) < limit &&
		   gpb_outer_copied(join->rows) < memory)
	{
		TupleTableSlot *slot = gpb_child_next(join->child);

		if (TupIsNull(slot))
		{
			join->outer_done = true;
			break;
		}
		gpb_outer_add(join->rows, slot);
		add_key(join, slot, row);
	}
	join->first = join->end = 0;
	join->next_row = 0;
	memset(join->matched, 0, gpb_outer_count(join->rows) * sizeof(bool));
	return gpb_outer_count(join->rows) > 0;
}

/* ---- matches of a batch ---- */

/* What answers the node's batches, made when there are outer rows. */
static GpbBatch *
join_batch(GpbJoinScan *join)
{
	GpbBatchWant want = {0};
	MemoryContext caller;

	if (join->batch != NULL)
		return join->batch;
	load_outer_row(join, 0);
	gpb_join_program_bind(join, &want.program);
	caller = MemoryContextSwitchTo(join->context);
	want.form = join->keys.form;
	want.program.list_entries = !join->plan.counts;
	want.heap_rows = !join->plan.index_only && !join->plan.counts;
	want.memory = gpb_rows_memory();
	join->batch = gpb_batch_begin(join->node.heap, join->node.index,
								  join->node.css.ss.ps.state->es_snapshot, &want,
								  GPB_ENGINE_AUTO);
	if (want.heap_rows && join->visit == NULL)
		join->visit = gpb_visit_begin(join->node.heap, join->node.index,
									  join->node.css.ss.ps.state->es_snapshot,
									  gpb_entry_record_width(&join->keys.layout), NULL, NULL);
	MemoryContextSwitchTo(caller);
	return join->batch;
}

/* Ask for keys [first, end). */
static void
ask(GpbJoinScan *join)
{
	gpb_batch_run(join_batch(join), join->keys.keys + join->first * join->keys.width,
				  join->end - join->first, NULL);
}

static int
compare_numbers(const void *a, const void *b)
{
	uint32		i = ((const GpbRangeEntry *) a)->number;
	uint32		j = ((const GpbRangeEntry *) b)->number;

	return i < j ? -1 : i > j;
}

/*
 * Get the next part of the list, which may be the first of a new window of keys.  Returns false if
 * there are no more.
 */
static bool
next_part(GpbJoinScan *join)
{
	int			width = gpb_entry_record_width(&join->keys.layout);

	for (;;)
	{
		join->records = NULL;
		if (join->first < join->end)
		{
			join->records = gpb_batch_matches(join->batch, &join->nrecords);
			join->next = 0;
		}
		if (join->records == NULL)
		{
			/* the window is done; the next one */
			join->first = join->end;
			if (join->first == join->keys.n)
				return false;
			join->end += Min(join->window, join->keys.n - join->first);
			ask(join);
			continue;
		}
		if (!join->plan.in_order || join->end - join->first == 1)
			return true;
		if (gpb_batch_at_end(join->batch))
		{
			/* the list had half of the batch's memory */
			if (join->nrecords * width < gpb_rows_memory() / 4 && join->window <= PG_UINT32_MAX / 2)
				join->window *= 2;
			pg_qsort(join->records, join->nrecords, width, compare_numbers);
			return true;
		}
		/*
		 * too many for the memory: ask for half of the keys, until they turn out to have few
		 * matches
		 */
		join->window = (join->end - join->first) / 2;
		join->end = join->first + join->window;
		join->redone++;
		ask(join);
	}
}

static inline uint32
record_row(const GpbJoinScan *join, const GpbRangeEntry *record)
{
	return join->key_row[join->first + record->number];
}

/* Is the outer row done with, so that no further match of it matters? */
static inline bool
row_decided(const GpbJoinScan *join, uint32 row)
{
	return (join->plan.jointype == JOIN_SEMI || join->plan.jointype == JOIN_ANTI) &&
		join->matched[row];
}

static bool
record_decided(void *arg, const GpbRangeEntry *record)
{
	GpbJoinScan *join = (GpbJoinScan *) arg;

	return row_decided(join, record_row(join, record));
}

/* The next entry of the list whose inner row is there; false at the list's end. */
static bool
next_record(GpbJoinScan *join)
{
	int			width = gpb_entry_record_width(&join->keys.layout);

	for (;;)
	{
		if (join->visiting)
		{
			join->record = gpb_visit_next(join->visit, record_decided, join,
										  &join->inner_slot);
			if (join->record != NULL)
				return true;
			join->visiting = false;
		}
		if (join->records == NULL || join->next == join->nrecords)
		{
			if (!next_part(join))
				return false;
		}
		if (join->plan.index_only)
		{
			join->record = gpb_entry_at(join->records, join->next++, width);
			return true;
		}
		else
		{
			int			n = Min(join->nrecords - join->next, GPB_HEAP_BATCH);

			gpb_visit_start(join->visit, gpb_entry_at(join->records, join->next, width), n,
							join->plan.in_order);
			join->next += n;
			join->visiting = true;
		}
	}
}

/* Put the inner columns of the match at hand into the scan tuple. */
static inline void
load_inner(GpbJoinScan *join)
{
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
			values[i] = gpb_entry_value(join->node.heap, join->node.index,
										join->node.css.ss.ps.state->es_snapshot,
										&join->keys.layout, join->dictionary,
										gpb_entry_key(join->record, &join->keys.layout),
										join->record->row, join->plan.inner[i], &isnull[i]);
		MemoryContextSwitchTo(caller);
		return;
	}
	slot_getsomeattrs(join->inner_slot, join->last_inner);
	for (i = 0; i < join->plan.ninner; i++)
	{
		values[i] = join->inner_slot->tts_values[join->plan.inner[i] - 1];
		isnull[i] = join->inner_slot->tts_isnull[join->plan.inner[i] - 1];
	}
}

/* ---- the node ---- */

/* The scan tuple as it comes out of the node; NULL if the plan's condition refuses it. */
static TupleTableSlot *
join_result(GpbJoinScan *join)
{
	PlanState  *ps = &join->node.css.ss.ps;

	if (ps->qual != NULL && !ExecQual(ps->qual, ps->ps_ExprContext))
	{
		InstrCountFiltered1(ps, 1);
		return NULL;
	}
	if (ps->ps_ProjInfo == NULL)
		return join->node.css.ss.ss_ScanTupleSlot;
	return ExecProject(ps->ps_ProjInfo);
}

/* The filters that the match at hand, an entry of the list, has not passed yet */
static inline ExprState *
filters_left(const GpbJoinScan *join)
{
	if (join->filtered && (join->record->flags & GPB_RANGE_ENTRY_FAULTED) == 0)
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
	join->matched[join->row] = true;
	if (join->plan.jointype == JOIN_ANTI)
		return NULL;
	return join_result(join);
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
	uint32		row = join->next_row;

	while (join->wants_rows && row < join->rows_end && join->matched[row] != join->wants_matched)
		row++;
	if (!join->wants_rows || row >= join->rows_end)
	{
		join->next_row = Max(row, join->rows_end);
		join->phase = join->after_rows;
		return NULL;
	}
	join->next_row = row + 1;
	load_outer_row(join, row);
	load_nulls(join);
	return join_result(join);
}

/* Find the next match, and what comes before it; or, by counts, all matches of the batch. */
static void
join_next(GpbJoinScan *join)
{
	if (join->plan.counts)
	{
		gpb_join_count(join, join_batch(join));
		join_rows(join, gpb_outer_count(join->rows), GPB_JOIN_LOAD);
	}
	else if (!next_record(join))
		join_rows(join, gpb_outer_count(join->rows), GPB_JOIN_LOAD);
	else
	{
		join->row = record_row(join, join->record);
		if (join->plan.in_order)
			join_rows(join, join->row, GPB_JOIN_MATCH);
		else
			join->phase = GPB_JOIN_MATCH;
	}
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

/* End what answers, but keep what it counted and its engine's name. */
static void
end_batch(GpbJoinScan *join)
{
	const GpbBatchCounters *counters;

	if (join->batch == NULL)
		return;
	counters = gpb_batch_counters(join->batch);
	gpb_batch_counters_add(&join->past, counters);
	strlcpy(join->past_engine, counters->engine, sizeof(join->past_engine));
	join->past.engine = join->past_engine;
	gpb_batch_end(join->batch);
	join->batch = NULL;
}

/* What was read and not used is forgotten; batches begin small again. */
static void
rescan_join(CustomScanState *css)
{
	GpbJoinScan *join = (GpbJoinScan *) css;

	if (join->visit != NULL)
		gpb_visit_stop(join->visit);
	join->visiting = false;
	join->records = NULL;
	join->first = join->end = join->keys.n = 0;
	join->limit = GPB_FIRST_BATCH;
	join->outer_done = false;
	join->phase = GPB_JOIN_LOAD;
	/* the program's constants may be others */
	if (join->plan.has_program && css->ss.ps.chgParam != NULL)
		end_batch(join);
	gpb_rescan_child(&join->node);
}

static void
end_join(CustomScanState *css)
{
	GpbJoinScan *join = (GpbJoinScan *) css;

	ExecClearTuple(css->ss.ss_ScanTupleSlot);
	gpb_visit_end(join->visit);
	end_batch(join);
	if (join->rows != NULL)
		gpb_outer_end(join->rows);
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
