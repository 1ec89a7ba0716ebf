/*-------------------------------------------------------------------------
 *
 * batch.c
 *	  A batch of ranges, answered from a gpubtree index.
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
#include "engine/cell_counts.h"
#include "engine/mirror_reader.h"

/* Fewer keys than this are not worth a request for their leaves, unless the caller asks for one */
#define GPB_INNER_LEAST_KEYS	16384

/* ---- heap visits ---- */

/* Bring the counter of heap fetches up to date. */
static void
batch_count_visits(GpbBatch *batch)
{
	uint64		visited = batch->visit == NULL ? 0 : gpb_visit_count(batch->visit);
	uint64		pages = batch->visit == NULL ? 0 : gpb_visit_pages_count(batch->visit);

	batch->counters.heap_fetches += visited - batch->visited;
	batch->counters.heap_pages += pages - batch->visited_pages;
	batch->visited = visited;
	batch->visited_pages = pages;
}

/* Forget the entries that were gathered for heap visits and not visited. */
static void
batch_forget_visits(GpbBatch *batch)
{
	batch_count_visits(batch);
	gpb_visit_end(batch->visit);
	batch->visit = NULL;
	batch->visited = 0;
	batch->visited_pages = 0;
}

/* ---- the object ---- */

GpbBatch *
gpb_batch_begin(Relation heap, Relation index, Snapshot snapshot,
				const GpbBatchWant *want, GpbEngine engine)
{
	MemoryContext context = AllocSetContextCreate(CurrentMemoryContext, "gpubtree batch",
												  ALLOCSET_DEFAULT_SIZES);
	GpbBatch   *batch = MemoryContextAllocZero(context, sizeof(GpbBatch));

	Assert(!want->heap_rows || want->program.list_entries);
	batch->context = context;
	batch->heap = heap;
	batch->index = index;
	batch->snapshot = snapshot;
	batch->form = want->form;
	batch->program = want->program;
	/* The layout is copied, since the relcache may rebuild its own at any time. */
	batch->program.layout = *gpb_layout(index);
	/* a worker's transaction may begin after a promotion, and the leader's snapshot before it */
	batch->program.ignore_dead_hints = TransactionStartedDuringRecovery() ||
		snapshot->takenDuringRecovery;
	batch->heap_rows = want->heap_rows;
	batch->early = want->early && want->program.list_entries && want->program.limit == 0;
	gpb_answer_format(&batch->program, &batch->format);
	batch->widest = gpb_answer_width(&batch->format);
	batch->memory = want->memory != 0 ? want->memory : get_hash_memory_limit();
	gpb_batch_program_begin(batch);
	batch->total = MemoryContextAlloc(context, batch->widest);
	gpb_answer_init(&batch->format, batch->total);
	batch->wish = engine;
	batch->match_width = gpb_entry_record_width(&batch->program.layout);
	gpb_batch_list_begin(batch);
	batch->counters.engine = "none";
	return batch;
}

const GpbAnswerFormat *
gpb_batch_format(const GpbBatch *batch)
{
	return &batch->format;
}

Size
gpb_batch_answer_width(const GpbBatch *batch)
{
	return batch->widest;
}

/* ---- engines ---- */

/* Close the engine of a run. */
static void
batch_stop(GpbBatch *batch)
{
	if (batch->engine != NULL)
		batch->engine->end(batch);
	batch->engine = NULL;
}

/* The engine by which devices answer a run: of an index that is cut, that of its pieces. */
static const GpbBatchEngine *
batch_device_engine(GpbBatch *batch)
{
	GpbMirrorCut cut;

	if (batch->piece != NULL ||
		!gpb_reader_cut(batch->index, &batch->program.layout, batch->keep_since, &cut))
		return &gpb_batch_device;
	gpb_batch_pieces_use(batch, &cut);
	return &gpb_batch_pieces;
}

/* Choose the engine for this run.  It is not known before, since plans are cached (rule M8). */
static const GpbBatchEngine *
batch_choose(GpbBatch *batch)
{
	memset(&batch->counters.choice, 0, sizeof(GpbEngineChoice));
	if (gpb_needs_plain_scan(batch->snapshot))
		return &gpb_batch_scan;
	if (batch->n == 0 || batch->source != NULL || batch->finder != NULL ||
		batch->wish == GPB_ENGINE_CPU || batch->wish == GPB_ENGINE_INNER ||
		gpb_batch_early_waits(batch))
		return &gpb_batch_cpu;
	if (batch->wish == GPB_ENGINE_DEVICE && gpb_mirror_available())
		return batch_device_engine(batch);
	return gpb_batch_device_pays_now(batch) ? batch_device_engine(batch) : &gpb_batch_cpu;
}

/*
 * Choose where the CPU engine gets its leaves from in this run.  A mirror of inner nodes is asked
 * where the caller wants it, and also where there can be no mirror of all pages and the keys are
 * enough for requests to pay.
 */
static void
batch_choose_finder(GpbBatch *batch)
{
	if (batch->engine != &gpb_batch_cpu || batch->n == 0 || batch->form == GPB_RANGE_BOUNDS)
		return;
	if (batch->wish == GPB_ENGINE_INNER ||
		(batch->wish == GPB_ENGINE_AUTO && batch->finder == NULL &&
		 batch->n >= GPB_INNER_LEAST_KEYS && gpb_mirror_is_inner_only(batch->index)))
		(void) gpb_batch_inner_begin(batch);
}

static void
batch_set_engine(GpbBatch *batch, const GpbBatchEngine *engine)
{
	batch->engine = engine;
	batch->counters.engine = engine->name;
}

/* Begin the total, and the answer to each range if the engine adds to those. */
static void
batch_init_answers(GpbBatch *batch)
{
	Size		width = gpb_answer_width(&batch->format);
	uint32		i;

	gpb_answer_init(&batch->format, batch->total);
	if (batch->answers == NULL || batch->engine->stores_answers)
		return;
	for (i = 0; i < batch->n; i++)
		memcpy(gpb_batch_answer(batch, i), batch->total, width);
}

/* Let the engine begin, with range batch->first. */
static void
batch_start(GpbBatch *batch)
{
	batch_init_answers(batch);
	gpb_batch_program_start(batch);
	if (!gpb_engine_is_device(batch->engine) && batch->n > batch->first)
		gpb_count_cpu_batch(batch->form, batch->n - batch->first);
	batch->engine->start(batch);
}

/* Choose an engine, and let it begin with range batch->first. */
static void
batch_begin_run(GpbBatch *batch)
{
	if (batch->finder == &gpb_batch_inner)
		batch->finder = NULL;
	batch_set_engine(batch, batch_choose(batch));
	gpb_batch_early_start(batch);
	batch_choose_finder(batch);
	batch_start(batch);
}

/*
 * Forget what an aggregate has so far: an answer is all or nothing (rule M4).  So are entries that
 * were gathered for heap visits and not visited.
 */
static void
batch_forget_aggregate(GpbBatch *batch)
{
	Assert(batch->first == 0);
	batch_forget_visits(batch);
	batch->counters.matches = batch->matches_before;
}

/*
 * Begin anew with the CPU engine, since the engine at work has given up.  Of a list the part at
 * hand is dropped, and those handed out before stay.
 */
static void
batch_fall_back(GpbBatch *batch)
{
	batch_stop(batch);
	if (!batch->program.list_entries)
		batch_forget_aggregate(batch);
	gpb_batch_list_take_back(batch, 0, 0);
	batch->counters.fallbacks++;
	batch_set_engine(batch, &gpb_batch_cpu);
	batch_start(batch);
}

/*
 * Let the engine go on, and the CPU engine in its place if it gives up.  The engine is closed if
 * all is done, or if the program does not go on: no other engine can do better then.
 */
static void
batch_fill(GpbBatch *batch)
{
	GpbFillOutcome outcome = batch->engine->fill(batch);

	if (outcome == GPB_FILL_FAILED)
	{
		batch_fall_back(batch);
		outcome = batch->engine->fill(batch);
	}
	if (outcome == GPB_FILL_DONE || outcome == GPB_FILL_GAVE_UP)
		batch_stop(batch);
}

/* ---- answers ---- */

/* Add up all entries of an aggregate, those that the heap decides about included. */
static void
batch_aggregate_all(GpbBatch *batch)
{
	batch_fill(batch);
	Assert(batch->engine == NULL);
	if (gpb_batch_gave_up(batch, NULL))
		batch_forget_visits(batch);
	else if (batch->visit != NULL)
		gpb_visit_flush(batch->visit);
	batch_count_visits(batch);
	gpb_batch_program_complete(batch);
}

/* All entries were added: make the exact sums in the answers, if any, ready to be read. */
static void
batch_complete_answers(GpbBatch *batch)
{
	uint32		n = batch->answers != NULL ? batch->n : 1;
	uint32		i;

	if (!gpb_answer_has_float_sums(&batch->format))
		return;
	for (i = 0; i < n; i++)
		gpb_answer_normalize(&batch->format, gpb_batch_answer(batch, i));
}

/* Add up all entries of a run that has begun, and count what cells did for it. */
static void
batch_run_aggregate(GpbBatch *batch)
{
	const GpbBatchCounters *counters = &batch->counters;
	uint64		passed = counters->cells;
	uint64		recorded = counters->cells_recorded;
	uint64		unseen = counters->cell_misses[GPB_CELL_UNSEEN];

	batch_aggregate_all(batch);
	if (gpb_batch_program_widen(batch))
	{
		batch_forget_aggregate(batch);
		batch_begin_run(batch);
		batch_aggregate_all(batch);
	}
	batch_complete_answers(batch);
	gpb_cell_counts_add(RelationGetRelid(batch->index), counters->cells - passed,
						counters->cells_recorded - recorded,
						counters->cell_misses[GPB_CELL_UNSEEN] - unseen);
}

/* Begin a run over these ranges, and all that the source, which may be NULL, has. */
static void
batch_begin(GpbBatch *batch, const void *ranges, uint32 n, GpbRangeSource *source, int64 *answers)
{
	Assert(answers == NULL || !batch->program.list_entries);
	Assert(answers == NULL || batch->program.ngroups == 0);
	batch_stop(batch);
	if (batch->rest != NULL)
		pfree(batch->rest);
	batch->rest = NULL;
	batch->ranges = ranges;
	batch->n = n;
	batch->source = source;
	batch->first = 0;
	batch->answers = answers;
	batch->matches_before = batch->counters.matches;
	gpb_batch_list_start(batch);
	batch->counters.runs++;
	batch->counters.ranges += n;
	batch_begin_run(batch);
	if (batch->engine != &gpb_batch_scan && batch->piece == NULL)
		pgstat_count_index_scan(batch->index);
}

/* Do a run. */
static void
batch_run(GpbBatch *batch, const void *ranges, uint32 n, GpbRangeSource *source, int64 *answers)
{
	MemoryContext caller = MemoryContextSwitchTo(batch->context);

	batch->keep_since = 0;
	batch_begin(batch, ranges, n, source, answers);
	if (!batch->program.list_entries)
		batch_run_aggregate(batch);
	MemoryContextSwitchTo(caller);
}

bool
gpb_batch_submit(GpbBatch *batch, const void *ranges, uint32 n, int64 *answers,
				 TimestampTz keep_since)
{
	MemoryContext caller = MemoryContextSwitchTo(batch->context);
	bool		room;

	Assert(!batch->program.list_entries);
	batch->keep_since = keep_since;
	batch_begin(batch, ranges, n, NULL, answers);
	room = batch->engine->submit == NULL || batch->engine->submit(batch);
	MemoryContextSwitchTo(caller);
	return room;
}

void
gpb_batch_finish(GpbBatch *batch)
{
	MemoryContext caller = MemoryContextSwitchTo(batch->context);

	batch_run_aggregate(batch);
	MemoryContextSwitchTo(caller);
}

void
gpb_batch_run(GpbBatch *batch, const void *ranges, uint32 n, int64 *answers)
{
	batch_run(batch, ranges, n, NULL, answers);
}

void
gpb_batch_run_source(GpbBatch *batch, GpbRangeSource *source)
{
	Assert(batch->form == GPB_RANGE_BOUNDS && !batch->program.list_entries);
	batch_run(batch, source->ranges, source->n, source, NULL);
}

const int64 *
gpb_batch_total(const GpbBatch *batch)
{
	return batch->total;
}

/* ---- the list ---- */

/* Begin the next part of the list, with another engine if it is that one's turn. */
static void
batch_start_part(GpbBatch *batch)
{
	if (gpb_batch_early_hands_over(batch))
	{
		batch_stop(batch);
		batch_set_engine(batch, batch_device_engine(batch));
		batch_start(batch);
	}
	gpb_batch_early_part(batch);
	batch->nunknown = 0;
}

GpbRangeEntry *
gpb_batch_matches(GpbBatch *batch, uint64 *n)
{
	MemoryContext caller = MemoryContextSwitchTo(batch->context);

	Assert(batch->program.list_entries);
	gpb_batch_list_reset(batch, 0, 0);
	gpb_batch_list_reserve(batch, GPB_LIST_INITIAL);
	while (batch->nmatches == 0 && batch->engine != NULL)
	{
		batch_start_part(batch);
		batch_fill(batch);
		if (batch->nunknown > 0)
			gpb_visit_records(gpb_batch_visit(batch), gpb_batch_match(batch, 0),
							  batch->nmatches);
		gpb_batch_list_complete(batch);
		batch_count_visits(batch);
	}
	MemoryContextSwitchTo(caller);
	batch->counters.matches += batch->nmatches;
	*n = batch->nmatches;
	return batch->nmatches > 0 ? gpb_batch_match(batch, 0) : NULL;
}

bool
gpb_batch_at_end(const GpbBatch *batch)
{
	return batch->engine == NULL;
}

const GpbBatchCounters *
gpb_batch_counters(const GpbBatch *batch)
{
	GpbBatchCounters *shown = &unconstify(GpbBatch *, batch)->shown;
	int			p;

	if (gpb_batch_pieces_number(batch) == 0)
		return &batch->counters;
	*shown = batch->counters;
	for (p = 0; p < gpb_batch_pieces_number(batch); p++)
		gpb_batch_pieces_count(batch, shown, p);
	return shown;
}

void
gpb_batch_counters_add(GpbBatchCounters *counters, const GpbBatchCounters *more)
{
	int			i;

	if (counters->runs == 0)
	{
		counters->engine = more->engine;
		counters->choice = more->choice;
	}
	counters->runs += more->runs;
	counters->ranges += more->ranges;
	counters->matches += more->matches;
	counters->heap_fetches += more->heap_fetches;
	counters->heap_pages += more->heap_pages;
	counters->settled_pages += more->settled_pages;
	counters->cells += more->cells;
	counters->cells_none += more->cells_none;
	counters->cells_recorded += more->cells_recorded;
	for (i = 0; i < GPB_CELL_MISSES; i++)
		counters->cell_misses[i] += more->cell_misses[i];
	if (more->no_cells != NULL)
		counters->no_cells = more->no_cells;
	counters->walk.leaves += more->walk.leaves;
	counters->requests += more->requests;
	counters->unclean += more->unclean;
	counters->refreshed_blocks += more->refreshed_blocks;
	counters->fallbacks += more->fallbacks;
	counters->widened += more->widened;
}

void
gpb_batch_end(GpbBatch *batch)
{
	batch_stop(batch);
	gpb_batch_pieces_end(batch);
	gpb_visit_end(batch->visit);
	MemoryContextDelete(batch->context);
}
