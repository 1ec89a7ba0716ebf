/*-------------------------------------------------------------------------
 *
 * batch.c
 *	  A batch of key ranges, answered from a gpubtree index.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/xact.h"
#include "executor/nodeHash.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "index/index.h"
#include "mirror/mirror.h"
#include "engine/batch_engine.h"

/* Below this many keys a batch is not worth a request for their leaves, unless that is asked for */
#define GPB_INNER_LEAST_KEYS	16384

/* ---- entries ---- */

/* Put an entry at a place for a range entry. */
static inline void
gpb_match_form(const GpbBatch *batch, char *record, uint32 number, uint32 flags,
			   uint64 key, const char *row)
{
	((uint32 *) record)[0] = number;
	((uint32 *) record)[1] = flags;
	*(uint64 *) (record + 8) = key;
	memcpy(record + 16, row, batch->spec.layout.row_width);
}

/* Aggregate one entry. */
static inline void
gpb_batch_count(GpbBatch *batch, uint32 number, uint64 key, const char *row)
{
	const GpbLayout *layout = &batch->spec.layout;
	GpbRangeAnswer *answer = gpb_batch_answer(batch, number);
	int			c = batch->want.column;

	answer->entries++;
	if (batch->want.want == 0)
		return;
	if (c == 0)
		gpb_column_state_add(&answer->column,
							 gpb_key_value(key, layout->key_width, layout->flags));
	else if (!gpb_locator_column_is_null(gpb_row_locator(row), c - 1))
	{
		int64		value = gpb_row_value(row, layout->offset[c - 1], layout->kind[c - 1]);

		if (layout->kind[c - 1] == GPB_KIND_FLOAT8)
			value = gpb_float_order(value);
		gpb_column_state_add(&answer->column, value);
	}
}

/* Matches that there is room for at first */
#define GPB_LIST_INITIAL	1024

void
gpb_batch_list_reserve(GpbBatch *batch, uint64 n)
{
	uint64		room;

	Assert(n <= batch->most_matches);
	if (n <= batch->room)
		return;
	room = Min(Max(n, 2 * batch->room), batch->most_matches);
	batch->matches = batch->matches == NULL ?
		MemoryContextAllocHuge(batch->context, room * batch->match_width) :
		repalloc_huge(batch->matches, room * batch->match_width);
	batch->room = room;
}

static inline char *
gpb_match_place(GpbBatch *batch)
{
	Assert(batch->nmatches < batch->most_matches);
	if (unlikely(batch->nmatches == batch->room))
		gpb_batch_list_reserve(batch, batch->nmatches + 1);
	return batch->matches + (size_t) batch->nmatches++ * batch->match_width;
}

void
gpb_batch_add_visible(GpbBatch *batch, uint32 i, uint64 key, const char *row)
{
	if (batch->want.list)
		gpb_match_form(batch, gpb_match_place(batch), i,
					   batch->want.heap_rows ? 0 : GPB_RANGE_ENTRY_VISIBLE, key, row);
	else
		gpb_batch_count(batch, i, key, row);
}

/* The heap has decided: the row is visible. */
static void
gpb_batch_row_visible(void *arg, char *record, TupleTableSlot *slot)
{
	GpbBatch   *batch = (GpbBatch *) arg;

	if (batch->want.list)
		((uint32 *) record)[1] |= GPB_RANGE_ENTRY_VISIBLE;
	else
		gpb_batch_count(batch, *(uint32 *) record, *(uint64 *) (record + 8), record + 16);
}

static GpbHeapVisit *
gpb_batch_visit(GpbBatch *batch)
{
	MemoryContext caller = MemoryContextSwitchTo(batch->context);

	if (batch->visit == NULL)
		batch->visit = gpb_visit_begin(batch->heap, batch->index, batch->snapshot,
									   batch->spec.layout.row_width, true,
									   gpb_batch_row_visible, batch);
	MemoryContextSwitchTo(caller);
	return batch->visit;
}

void
gpb_batch_add_unknown(GpbBatch *batch, uint32 i, uint64 key, const char *row)
{
	char	   *record;

	if (batch->want.list)
	{
		record = gpb_match_place(batch);
		batch->nunknown++;
	}
	else
		record = gpb_visit_add(gpb_batch_visit(batch));
	gpb_match_form(batch, record, i, 0, key, row);
}

/* Keep the counter of entries checked in the heap up to date. */
static void
gpb_batch_count_visits(GpbBatch *batch)
{
	uint64		visited = batch->visit == NULL ? 0 : gpb_visit_count(batch->visit);

	batch->counters.heap_fetches += visited - batch->visited;
	batch->visited = visited;
}

/* ---- the object ---- */

static void
gpb_answer_init(GpbRangeAnswer *answer)
{
	answer->entries = 0;
	gpb_column_state_init(&answer->column);
}

GpbBatch *
gpb_batch_begin(Relation heap, Relation index, Snapshot snapshot,
				const GpbBatchWant *want, GpbEngine engine)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree batch",
												  ALLOCSET_DEFAULT_SIZES);
	GpbBatch   *batch = MemoryContextAllocZero(context, sizeof(GpbBatch));

	Assert(!want->heap_rows || want->list);
	batch->context = context;
	batch->heap = heap;
	batch->index = index;
	batch->snapshot = snapshot;
	batch->want = *want;
	/* a copy: the relcache may rebuild its own at any time */
	batch->spec.layout = *gpb_layout(index);
	batch->spec.ignore_dead_hints = TransactionStartedDuringRecovery();
	batch->spec.want[want->column] = want->want;
	batch->memory = want->memory != 0 ? want->memory : get_hash_memory_limit();
	batch->wish = engine;
	batch->match_width = gpb_range_entry_width(batch->spec.layout.row_width);
	/* half of the memory is the list's, the other half the sorted input's */
	batch->most_matches = Max(batch->memory / 2 / batch->match_width, GPB_LIST_INITIAL);
	batch->counters.engine = "none";
	gpb_answer_init(&batch->total);
	return batch;
}

/* Close the engine of a run. */
static void
gpb_batch_stop(GpbBatch *batch)
{
	if (batch->engine != NULL)
		batch->engine->end(batch);
	batch->engine = NULL;
}

/*
 * Does this run pay for the device's fixed costs?  Ranges to be aggregated are taken to hold as many entries as those
 * of the runs before: how many these are is often beyond the planner, and decides more than the number of the ranges.
 */
static bool
gpb_batch_pays(const GpbBatch *batch)
{
	double		entries = 0;

	if (!batch->want.list && batch->counters.ranges > 0)
		entries = batch->n * ((double) batch->counters.matches / batch->counters.ranges);
	return gpb_batch_aggregate_pays(batch->n, entries);
}

/* Which engine is right for this run (rule M8: not known before) */
static const GpbBatchEngine *
gpb_batch_choose(const GpbBatch *batch)
{
	if (gpb_needs_plain_scan(batch->snapshot))
		return &gpb_batch_scan;
	if (batch->n == 0 || batch->finder != NULL || batch->wish == GPB_ENGINE_CPU ||
		batch->wish == GPB_ENGINE_INNER || !gpb_mirror_available())
		return &gpb_batch_cpu;
	if (batch->wish == GPB_ENGINE_DEVICE)
		return &gpb_batch_device;
	return gpb_batch_pays(batch) && !gpb_mirror_is_inner_only(batch->index) ?
		&gpb_batch_device : &gpb_batch_cpu;
}

/*
 * Where the engine "CPU" gets its leaves from in this run.  A mirror of inner nodes is asked where one was asked for,
 * and of itself where there can be no mirror of all pages and the keys are enough for requests to pay.
 */
static void
gpb_batch_choose_finder(GpbBatch *batch)
{
	if (batch->engine != &gpb_batch_cpu || batch->n == 0)
		return;
	if (batch->wish == GPB_ENGINE_INNER ||
		(batch->wish == GPB_ENGINE_AUTO && batch->finder == NULL &&
		 batch->n >= GPB_INNER_LEAST_KEYS && gpb_mirror_is_inner_only(batch->index)))
		(void) gpb_batch_inner_begin(batch);
}

/* Nothing has been aggregated yet. */
static void
gpb_batch_init_answers(GpbBatch *batch)
{
	uint32		i;

	gpb_answer_init(&batch->total);
	for (i = 0; batch->answers != NULL && i < batch->n; i++)
		gpb_answer_init(&batch->answers[i]);
}

/* Entries that were gathered for a heap visit and not visited are forgotten. */
void
gpb_batch_fall_back(GpbBatch *batch, uint32 first)
{
	Assert(batch->want.list || first == 0);
	gpb_batch_stop(batch);
	if (!batch->want.list)
	{
		gpb_batch_count_visits(batch);
		gpb_visit_end(batch->visit);
		batch->visit = NULL;
		batch->visited = 0;
		gpb_batch_init_answers(batch);
	}
	gpb_batch_list_reset(batch, 0, 0);
	batch->first = first;
	batch->counters.fallbacks++;
	batch->engine = &gpb_batch_cpu;
	batch->counters.engine = batch->engine->name;
	gpb_count_cpu_batch(batch->want.points, batch->n - first);
	batch->engine->start(batch);
}

void
gpb_batch_run(GpbBatch *batch, const void *input, uint32 n, GpbRangeAnswer *answers)
{
	MemoryContext caller = MemoryContextSwitchTo(batch->context);
	uint32		i;

	Assert(answers == NULL || !batch->want.list);
	gpb_batch_stop(batch);
	if (batch->finder == &gpb_batch_inner)
		batch->finder = NULL;
	batch->input = input;
	batch->n = n;
	batch->first = 0;
	batch->answers = answers;
	gpb_batch_init_answers(batch);

	batch->engine = gpb_batch_choose(batch);
	batch->counters.engine = batch->engine->name;
	gpb_batch_choose_finder(batch);
	batch->counters.runs++;
	batch->counters.ranges += n;
	if (batch->engine != &gpb_batch_device && n > 0)
		gpb_count_cpu_batch(batch->want.points, n);
	if (batch->engine != &gpb_batch_scan)
		pgstat_count_index_scan(batch->index);
	batch->engine->start(batch);
	if (!batch->want.list)
	{
		(void) batch->engine->fill(batch);
		gpb_batch_stop(batch);
		if (batch->visit != NULL)
			gpb_visit_flush(batch->visit);
		gpb_batch_count_visits(batch);
		for (i = 0; answers != NULL && i < n; i++)
			batch->counters.matches += answers[i].entries;
		batch->counters.matches += batch->total.entries;
	}
	MemoryContextSwitchTo(caller);
}

const GpbRangeAnswer *
gpb_batch_total(const GpbBatch *batch)
{
	return &batch->total;
}

/* Drop from the list what the heap did not show to be visible. */
static void
gpb_batch_drop_invisible(GpbBatch *batch)
{
	uint64		kept = 0;
	uint64		i;

	for (i = 0; i < batch->nmatches; i++)
	{
		char	   *record = batch->matches + (size_t) i * batch->match_width;

		if ((((uint32 *) record)[1] & GPB_RANGE_ENTRY_VISIBLE) == 0)
			continue;
		if (kept != i)
			memcpy(batch->matches + (size_t) kept * batch->match_width, record,
				   batch->match_width);
		kept++;
	}
	batch->nmatches = kept;
}

char *
gpb_batch_matches(GpbBatch *batch, uint64 *n)
{
	MemoryContext caller = MemoryContextSwitchTo(batch->context);

	Assert(batch->want.list);
	batch->nmatches = 0;
	gpb_batch_list_reserve(batch, GPB_LIST_INITIAL);
	while (batch->nmatches == 0 && batch->engine != NULL)
	{
		batch->nunknown = 0;
		if (batch->engine->fill(batch))
			gpb_batch_stop(batch);
		if (batch->nunknown > 0)
		{
			gpb_visit_records(gpb_batch_visit(batch), batch->matches, batch->nmatches);
			gpb_batch_count_visits(batch);
			gpb_batch_drop_invisible(batch);
		}
	}
	MemoryContextSwitchTo(caller);
	batch->counters.matches += batch->nmatches;
	*n = batch->nmatches;
	return batch->nmatches > 0 ? batch->matches : NULL;
}

bool
gpb_batch_at_end(const GpbBatch *batch)
{
	return batch->engine == NULL;
}

const GpbBatchCounters *
gpb_batch_counters(const GpbBatch *batch)
{
	return &batch->counters;
}

void
gpb_batch_counters_add(GpbBatchCounters *counters, const GpbBatchCounters *more)
{
	if (counters->runs == 0)
		counters->engine = more->engine;
	counters->runs += more->runs;
	counters->ranges += more->ranges;
	counters->matches += more->matches;
	counters->heap_fetches += more->heap_fetches;
	counters->walk.leaves += more->walk.leaves;
	counters->requests += more->requests;
	counters->unclean += more->unclean;
	counters->refreshed_blocks += more->refreshed_blocks;
	counters->fallbacks += more->fallbacks;
}

void
gpb_batch_end(GpbBatch *batch)
{
	gpb_batch_stop(batch);
	gpb_visit_end(batch->visit);
	MemoryContextDelete(batch->context);
}
