/*-------------------------------------------------------------------------
 *
 * batch_device.c
 *	  Engine: the device answers from the mirror; the CPU what it leaves over.
 *
 * Each call of fill is one session with the service and follows the order of a reader
 * (mirror_reader.h). The ranges go in chunks, two of them in flight: while the device works on one
 * the backend reads the answers to the other and copies ranges for the next.  A batch of one range
 * is one chunk.
 *
 *		request 0	copy | device ...... | read, copy | device ...... | read
 *		request 1	       copy | device ...... | read, copy | device ...... | read
 *
 * If the first answer to a chunk leaves very many entries to the heap, the pages where they are are
 * visited whole, so that they are known as settled (rule M11) where they are.  A new session then
 * asks for the chunk once more, and takes what it is answered.
 *
 * To each chunk come answers or a list of entries, of clean leaves alone; entries that the heap
 * must decide about (rule M6); and pieces of ranges whose leaves were not clean (rule M4).  Pieces
 * are gathered and answered by a walk, which reads the visibility map anew.
 *
 * An answer is all or nothing: if any step fails, so does the engine, and what it has added is
 * dropped.  A list is handed out in parts of whole ranges, each range by one engine, and every part
 * is exact by itself.  No slot and no staging is kept while a part is in the caller's hands: that
 * might last, and others wait for them.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "port/pg_bitutils.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "hold.h"
#include "engine/batch_engine.h"
#include "engine/mirror_reader.h"

/*
 * The least and the most ranges of a chunk: large enough that what a request costs does not show,
 * small enough that there are several chunks to overlap.  They are variables for the sake of tests,
 * which get by with little data (hold.h).
 */
int			gpb_chunk_least = 1 << 15;
int			gpb_chunk_most = 1 << 17;

/* Number of chunks into which a batch is cut, if that makes them neither too small nor too large */
#define GPB_BATCH_CHUNKS	4

/* The most staging of a chunk; answers with exact sums are wide */
#define GPB_CHUNK_STAGING	((Size) 8 * 1024 * 1024)

/*
 * The least staging of a request, so that records take few trips to the service, and that many
 * requests find staging at once
 */
#define GPB_LEAST_STAGING	((Size) 256 * 1024)

/* The least staging of a request for groups, which may be as many as entries */
#define GPB_GROUPS_STAGING	((Size) 1024 * 1024)

#define GPB_IN_FLIGHT		2

/*
 * Entries that are left to the heap are visited one by one if they are no more than this, or fewer
 * than so many for each heap block; else the blocks are visited whole.
 */
int			gpb_unknown_least = 32768;
#define GPB_UNKNOWN_OF_BLOCK	4

/*
 * So many of the blocks are visited first, and the others only if at least half of these turn out
 * to be settled.
 */
#define GPB_BLOCKS_TRIED	64

/* Number of blocks that are visited at a time */
#define GPB_BLOCKS_AT_ONCE	4096

/* The least number of pieces that are walked together, whatever the memory */
#define GPB_LEAST_PIECES	1024

/* ---- state ---- */

/* A request slot with its staging, and the chunk that is in flight there */
typedef struct GpbChunkRequest
{
	GpbRequest *request;		/* NULL: none */
	char	   *staging;
	Size		size;
	GpbRangesSpec spec;			/* of the chunk, which has n ranges; n is 0 if none is in flight */
	uint32		first;			/* number of the chunk's first range */
	uint64		staged;			/* groups of the chunk, answered, that are in staging already */
} GpbChunkRequest;

typedef struct GpbBatchDevice
{
	uint32		chunk;			/* most ranges of a chunk */
	uint32		more_words;		/* of long tables, which each chunk carries */
	Size		set_aside;		/* bytes of staging that no range of a chunk may take: these words,
								 * and an answer, since one may be wider than the ranges */
	uint32		next;			/* first range that was not sent */
	double		entries_per_range;	/* for a list: those of the last chunk, or a guess after one
									 * that did not fit */
	GpbCpuAnswer *cpu;			/* for a list: answers a range that alone does not fit; else NULL */

	GpbPiece   *pieces;			/* gathered, to be walked; NULL until first needed */
	uint32		npieces;
	uint32		piece_room;		/* number of pieces for which there is memory */
	uint32		most_pieces;	/* the most pieces for which there may be memory */

	/* Heap blocks that are visited whole */
	GpbVisibleRanges wanted;
	GpbVisibleBlocks visible;	/* as of the request that was begun last */
	GpbBlockSet unknown;		/* where the entries were that the heap was to decide about */
	bool		ask_again;		/* visit these, and begin another session with range "next" */
	uint32		asked_twice;	/* ranges before this one are not asked for again */

	/* The session */
	bool		lost;			/* when the run was submitted the mirror was not to be had */
	GpbMirrorRef ref;
	uint64		epoch;
	int			nrequests;
	int			most_requests;
	GpbChunkRequest requests[GPB_IN_FLIGHT];
} GpbBatchDevice;

/*
 * The bytes that a range takes in staging: the range lies there, and then its answer, in the place
 * of all ranges.  One answer over all ranges takes no more than the least staging of a chunk.
 */
static Size
device_width(const GpbBatch *batch)
{
	Size		width = gpb_range_width(batch->form, batch->program.layout.key_width);

	if (batch->answers != NULL)
		width = Max(width, gpb_answer_width(&batch->format));
	return width;
}

static void
batch_device_start(GpbBatch *batch)
{
	GpbBatchDevice *device = palloc0(sizeof(GpbBatchDevice));
	Size		most = Min((Size) gpb_chunk_most, GPB_CHUNK_STAGING / device_width(batch));

	batch->state = device;
	batch->counters.engine = batch->device_name;
	device->more_words = gpb_more_words(&batch->program);
	if (device->more_words > 0)
		device->set_aside = device->more_words * sizeof(int64) + batch->widest;
	device->chunk = Min(Max(batch->n / GPB_BATCH_CHUNKS, (uint32) gpb_chunk_least), most);
	device->next = batch->first;
	device->entries_per_range = 1;
	device->most_pieces = (uint32) Min(Max(batch->memory / 4 / GPB_PIECE_MEMORY, GPB_LEAST_PIECES),
									   PG_INT32_MAX);
	device->wanted.index = batch->index;
	device->wanted.layout = &batch->program.layout;
	device->wanted.form = batch->form;
	device->wanted.ranges = batch->ranges;
	device->wanted.n = batch->n;
	/* Of a program that may drop entries it is not known how many the ranges have. */
	if (batch->counters.ranges > batch->n && batch->evaluator == NULL && batch->listing == NULL)
		device->wanted.entries = batch->counters.matches * (double) batch->n /
			(batch->counters.ranges - batch->n);
}

/* ---- a session ---- */

/* Fill in what is asked of the device, but for the chunk and the visibility map. */
static void
device_spec(const GpbBatch *batch, const GpbBatchDevice *device, GpbRangesSpec *spec)
{
	memset(&spec->form, 0, sizeof(*spec) - offsetof(GpbRangesSpec, form));
	gpb_program_copy(&spec->program, &batch->program);
	spec->form = batch->form;
	spec->total = batch->answers == NULL && !batch->program.list_entries;
	spec->epoch = device->epoch;
}

/* Make the bits of visible heap blocks, and send them.  Returns false if the mirror was lost. */
static bool
device_send_visible(GpbBatch *batch, GpbBatchDevice *device, GpbChunkRequest *chunk)
{
	bool		sent;

	gpb_visible_blocks_begin(&device->visible, batch->heap, batch->snapshot, &device->wanted,
							 device->unknown.nwords > 0 ? &device->unknown : NULL);
	sent = gpb_reader_visibility(chunk->request, &device->visible);
	chunk->spec.heap_blocks = device->visible.heap_blocks;
	chunk->spec.exceptions = device->visible.nexceptions;
	batch->counters.settled_pages += device->visible.settled_blocks;
	gpb_visible_blocks_end(&device->visible);
	return sent;
}

/*
 * Take one more request slot, and with it the next steps of a reader: the epoch, which the first
 * request reads for all, and the visible heap blocks.  Returns NULL if there is no slot or staging
 * to be had, or if the mirror was lost; *lost tells which.
 */
static GpbChunkRequest *
device_add_request(GpbBatch *batch, GpbBatchDevice *device, bool *lost)
{
	GpbChunkRequest *chunk = &device->requests[device->nrequests];
	Size		bytes = Min(batch->n - device->next, device->chunk) * device_width(batch);
	Size		least = batch->program.ngroups > 0 ? GPB_GROUPS_STAGING : GPB_LEAST_STAGING;

	chunk->request = gpb_request_begin(&device->ref, Max(bytes + device->set_aside, least));
	if (chunk->request == NULL)
		return NULL;
	chunk->staging = gpb_request_staging(chunk->request, &chunk->size);
	if (chunk->size < device->set_aside + device_width(batch))
	{
		gpb_request_end(chunk->request);
		chunk->request = NULL;
		return NULL;
	}
	device->nrequests++;
	if (device->epoch == 0)
		device->epoch = gpb_reader_epoch(&device->ref);
	GPB_HOLD("batch-after-epoch");
	device_spec(batch, device, &chunk->spec);
	/* With heap_rows the caller visits every entry, so the bits serve a limit alone. */
	*lost = device->epoch == 0 ||
		(gpb_batch_list_sees(batch) && !device_send_visible(batch, device, chunk));
	return *lost ? NULL : chunk;
}

/*
 * Begin a session: the steps of a reader up to the visibility map.  Returns false if there is no
 * slot, or if the mirror cannot be had; *lost tells which.
 */
static bool
device_open(GpbBatch *batch, GpbBatchDevice *device, bool *lost)
{
	uint64		blocks = 0;

	device->epoch = 0;
	device->most_requests = GPB_IN_FLIGHT;
	*lost = !gpb_reader_refresh(batch->index, &batch->program.layout, batch->piece,
								batch->keep_since, &device->ref, &blocks);
	batch->counters.refreshed_blocks += blocks;
	if (*lost)
		return false;
	strlcpy(batch->device_name, gpb_mirror_engine_name(device->ref.device),
			sizeof(batch->device_name));
	GPB_HOLD("batch-after-refresh");
	if (device_add_request(batch, device, lost) == NULL)
		return false;
	GPB_HOLD("batch-after-visibility-map");
	return true;
}

/* Give all slots and staging back.  What is still in flight is abandoned. */
static void
device_close(GpbBatchDevice *device)
{
	while (device->nrequests > 0)
		gpb_request_end(device->requests[--device->nrequests].request);
}

static void
batch_device_end(GpbBatch *batch)
{
	GpbBatchDevice *device = (GpbBatchDevice *) batch->state;

	batch->state = NULL;
	device_close(device);
	if (device->cpu != NULL)
		gpb_cpu_answer_end(device->cpu);
	if (device->pieces != NULL)
		pfree(device->pieces);
	if (device->unknown.words != NULL)
		pfree(device->unknown.words);
	pfree(device);
}

/* ---- launching ---- */

/* The chunk in flight that has the lowest ranges, or NULL if none is in flight. */
static GpbChunkRequest *
device_first_in_flight(GpbBatchDevice *device)
{
	GpbChunkRequest *first = NULL;
	int			i;

	for (i = 0; i < device->nrequests; i++)
	{
		GpbChunkRequest *chunk = &device->requests[i];

		if (chunk->spec.n > 0 && (first == NULL || chunk->first < first->first))
			first = chunk;
	}
	return first;
}

/*
 * A request with nothing in flight.  Returns NULL if there is none, or if the mirror was lost;
 * *lost tells which.  The second slot is taken when it is first needed, and the batch does without
 * it if there is none.
 */
static GpbChunkRequest *
device_idle_request(GpbBatch *batch, GpbBatchDevice *device, bool *lost)
{
	GpbChunkRequest *chunk;
	int			i;

	for (i = 0; i < device->nrequests; i++)
	{
		if (device->requests[i].spec.n == 0)
			return &device->requests[i];
	}
	if (device->nrequests == device->most_requests)
		return NULL;
	chunk = device_add_request(batch, device, lost);
	if (chunk == NULL)
		device->most_requests = device->nrequests;
	return chunk;
}

/*
 * The number of ranges that the next chunk has in this request.  It is 0 if there is to be none
 * now, since the list may not have room for the entries of that chunk and of those in flight.  A
 * list that is empty takes one range, however many entries that has.
 */
static uint32
device_next_chunk(const GpbBatch *batch, GpbBatchDevice *device, const GpbChunkRequest *chunk)
{
	Size		most = Min((chunk->size - device->set_aside) / device_width(batch), device->chunk);
	double		room;
	int			i;

	most = Min(most, batch->n - device->next);
	if (!batch->program.list_entries)
		return (uint32) most;
	if (batch->nmatches == 0 && device_first_in_flight(device) == NULL)
		room = Max(batch->most_matches, device->entries_per_range);
	else
		room = (double) (batch->most_matches - batch->nmatches);
	for (i = 0; i < device->nrequests; i++)
		room -= device->requests[i].spec.n * device->entries_per_range;
	if (most * device->entries_per_range > room)
		most = (Size) Max(room / device->entries_per_range, 0);
	return (uint32) most;
}

/*
 * Launch chunks as long as there is a request with nothing in flight.  Returns false if the mirror
 * is lost.
 */
static bool
device_launch(GpbBatch *batch, GpbBatchDevice *device)
{
	bool		lost = false;

	while (device->next < batch->n)
	{
		GpbChunkRequest *chunk = device_idle_request(batch, device, &lost);
		uint32		n;

		if (chunk == NULL)
			return !lost;
		n = device_next_chunk(batch, device, chunk);
		if (n == 0)
			return true;
		gpb_put_ranges(batch->form, batch->ranges, device->next, n,
						   batch->program.layout.key_width, chunk->staging);
		chunk->spec.n = n;
		if (device->more_words > 0)
			memcpy(chunk->staging + gpb_request_more_offset(&chunk->spec),
				   batch->program.tables.more, device->more_words * sizeof(int64));
		chunk->first = device->next;
		device->next += n;
		if (!gpb_request_submit_ranges(chunk->request, &chunk->spec))
			return false;
	}
	return true;
}

/* ---- what comes back ---- */

/*
 * Store the answers to a chunk, which lie in its staging: pieces and heap entries of its ranges are
 * added later.  A total is added to the batch's.
 */
static void
device_answers(GpbBatch *batch, GpbChunkRequest *chunk)
{
	const GpbAnswerFormat *format = &batch->format;
	const int64 *answers = (const int64 *) chunk->staging;
	uint32		n = gpb_count_answers(&chunk->spec);
	int64		entries = 0;
	uint32		i;

	if (n == 0)
		return;
	for (i = 0; i < n; i++)
		entries += answers[(Size) i * format->words];
	if (chunk->spec.total)
		gpb_answer_merge(format, batch->total, answers);
	else
		memcpy(gpb_batch_answer(batch, chunk->first), answers,
			   (Size) n * gpb_answer_width(format));
	batch->counters.matches += entries;
	pgstat_count_index_tuples(batch->index, entries);
}

/*
 * Fetch records [done, records) to the chunk's staging, or as many of them as fit; *n becomes their
 * number.  Returns false if the mirror is lost.
 */
static bool
device_fetch(GpbChunkRequest *chunk, GpbFetchWhat what, uint64 done, uint64 records, int width,
			 uint64 *n)
{
	*n = Min(records - done, chunk->size / width);
	CHECK_FOR_INTERRUPTS();
	return gpb_request_fetch(chunk->request, what, done, *n, 0);
}

/*
 * Gather the entries of an aggregated chunk that the heap must decide about.  Returns false if the
 * mirror is lost.
 */
static bool
device_heap_entries(GpbBatch *batch, GpbChunkRequest *chunk, uint64 entries)
{
	uint64		done;
	uint64		n;

	for (done = 0; done < entries; done += n)
	{
		uint64		i;

		if (!device_fetch(chunk, GPB_FETCH_ENTRIES, done, entries, batch->match_width, &n))
			return false;
		for (i = 0; i < n; i++)
		{
			const GpbRangeEntry *entry = gpb_entry_at(chunk->staging, i, batch->match_width);

			gpb_batch_add_unknown(batch, chunk->first + entry->number,
								  gpb_entry_key(entry, &batch->program.layout), entry->row);
		}
	}
	pgstat_count_index_tuples(batch->index, entries);
	return true;
}

/*
 * Add the entries of a chunk to the list, which is allowed so many.  Returns false if the mirror is
 * lost.
 */
static bool
device_list(GpbBatch *batch, GpbChunkRequest *chunk, uint64 entries)
{
	uint64		done;
	uint64		n;

	gpb_batch_list_reserve(batch, batch->nmatches + entries);
	for (done = 0; done < entries; done += n)
	{
		uint64		i;

		if (!device_fetch(chunk, GPB_FETCH_ENTRIES, done, entries, batch->match_width, &n))
			return false;
		if (batch->listing != NULL && batch->listing->limited)
		{
			for (i = 0; i < n; i++)
			{
				const GpbRangeEntry *entry = gpb_entry_at(chunk->staging, i, batch->match_width);

				gpb_batch_list_record(batch, chunk->first + entry->number, entry);
			}
			continue;
		}
		memcpy(gpb_batch_match(batch, batch->nmatches), chunk->staging, n * batch->match_width);
		for (i = 0; i < n; i++)
		{
			GpbRangeEntry *entry = gpb_batch_match(batch, batch->nmatches + i);

			entry->number += chunk->first;
			if (batch->heap_rows)
				entry->flags &= ~GPB_RANGE_ENTRY_VISIBLE;
			else
				batch->nunknown += (entry->flags & GPB_RANGE_ENTRY_VISIBLE) == 0;
		}
		batch->nmatches += n;
	}
	pgstat_count_index_tuples(batch->index, entries);
	return true;
}

/*
 * Take the groups of a chunk.  The first came with the answer; others are fetched to one half of
 * the chunk's staging while those in the other are taken.  A group is in one chunk alone if there
 * is but one, or if it has the number of its range; else the groups of all chunks are merged.
 */
static GpbFillOutcome
device_groups(GpbBatch *batch, GpbChunkRequest *chunk, uint64 groups)
{
	Size		width = gpb_group_width(&batch->program, &batch->format);
	uint64		half = chunk->size / 2 / width;
	bool		distinct = batch->program.by_range || chunk->spec.n == batch->n;
	uint64		done = 0;
	uint64		n = Min(groups, half);
	bool		here = chunk->staged > 0;
	int			at = 0;

	if (groups == 0)
		return GPB_FILL_DONE;
	if (half == 0)
		return GPB_FILL_FAILED; /* so wide a group is one of many exact sums */
	if (distinct && !gpb_batch_program_expect(batch, groups))
		return GPB_FILL_GAVE_UP;
	if (here)
		n = chunk->staged;
	else if (!gpb_request_submit_fetch(chunk->request, GPB_FETCH_GROUPS, 0, n, 0))
		return GPB_FILL_FAILED;
	while (done < groups)
	{
		const char *records = chunk->staging + at * half * width;
		uint64		next = Min(groups - done - n, half);

		CHECK_FOR_INTERRUPTS();
		if (!here && !gpb_request_wait(chunk->request))
			return GPB_FILL_FAILED;
		here = false;
		at = 1 - at;
		if (next > 0 && !gpb_request_submit_fetch(chunk->request, GPB_FETCH_GROUPS, done + n, next,
												  at * half * width))
			return GPB_FILL_FAILED;
		if (distinct)
			gpb_batch_program_keep(batch, records, n, chunk->first);
		else if (!gpb_batch_program_merge(batch, records, n, chunk->first))
			return GPB_FILL_GAVE_UP;
		done += n;
		n = next;
	}
	return GPB_FILL_DONE;
}

/* ---- heap blocks visited whole ---- */

/*
 * Fetch the set of the heap blocks where the entries are that were left to the heap.  Returns false
 * if the mirror is lost.
 */
static bool
device_fetch_unknown(GpbBatch *batch, GpbBatchDevice *device, GpbChunkRequest *chunk)
{
	GpbBlockSet *unknown = &device->unknown;
	uint64		done;
	uint64		n;

	if (unknown->words != NULL)
		pfree(unknown->words);
	unknown->nwords = gpb_count_block_words(&chunk->spec);
	unknown->words = MemoryContextAllocHuge(batch->context,
											Max(unknown->nwords, 1) * sizeof(uint32));
	for (done = 0; done < unknown->nwords; done += n)
	{
		if (!device_fetch(chunk, GPB_FETCH_BLOCKS, done, unknown->nwords, sizeof(uint32), &n))
			return false;
		memcpy(unknown->words + done, chunk->staging, n * sizeof(uint32));
	}
	return true;
}

/*
 * Visit a few of the n unknown blocks.  Are half of them settled, so that it pays to visit the
 * others and to ask again?
 */
static bool
device_try_unknown(GpbBatch *batch, GpbBatchDevice *device, uint64 n)
{
	BlockNumber tried[GPB_BLOCKS_TRIED];
	uint64		step = Max(n / GPB_BLOCKS_TRIED, 1);
	uint64		next = 0;
	uint64		at;
	uint32		ntried = 0;
	uint32		settled = 0;
	uint32		i;
	BlockNumber block;

	for (at = 0; ntried < GPB_BLOCKS_TRIED &&
		 gpb_block_set_next(&device->unknown, &next, 1, &block) > 0; at++)
	{
		if (at % step == 0)
			tried[ntried++] = block;
	}
	gpb_visit_pages(gpb_batch_visit(batch), tried, ntried);
	for (i = 0; i < ntried; i++)
	{
		GpbSettledPage page;

		settled += gpb_settled_look(&device->visible.settled, tried[i], &page);
	}
	return 2 * settled >= ntried;
}

/*
 * Decide whether to visit the heap blocks of the chunk's unknown entries, and to ask for the chunk
 * again.  The answers in staging are kept.  Returns false if the mirror is lost.
 */
static bool
device_choose_ask_again(GpbBatch *batch, GpbBatchDevice *device, GpbChunkRequest *chunk,
						uint64 entries)
{
	Size		bytes = gpb_count_answers(&chunk->spec) * gpb_answer_width(&batch->format);
	char	   *answers;
	uint64		n;

	if (batch->program.list_entries || !device->visible.settled.eligible ||
		entries <= (uint64) gpb_unknown_least || chunk->first < device->asked_twice)
		return true;
	device->asked_twice = chunk->first + chunk->spec.n;
	answers = MemoryContextAllocHuge(batch->context, bytes);
	memcpy(answers, chunk->staging, bytes);
	chunk->staged = 0;			/* what is fetched takes their place */
	if (!device_fetch_unknown(batch, device, chunk))
		return false;
	memcpy(chunk->staging, answers, bytes);
	pfree(answers);
	n = pg_popcount((const char *) device->unknown.words,
					device->unknown.nwords * sizeof(uint32));
	device->ask_again = entries >= n * GPB_UNKNOWN_OF_BLOCK &&
		device_try_unknown(batch, device, n);
	return true;
}

/* Visit the unknown blocks, if that was decided.  Returns whether to ask again. */
static bool
device_visit_unknown(GpbBatch *batch, GpbBatchDevice *device)
{
	BlockNumber *blocks;
	uint64		next = 0;
	uint32		n;

	if (!device->ask_again)
		return false;
	device->ask_again = false;
	blocks = palloc(GPB_BLOCKS_AT_ONCE * sizeof(BlockNumber));
	while ((n = gpb_block_set_next(&device->unknown, &next, GPB_BLOCKS_AT_ONCE, blocks)) > 0)
		gpb_visit_pages(gpb_batch_visit(batch), blocks, n);
	pfree(blocks);
	GPB_HOLD("batch-after-settling");
	return true;
}

/* ---- pieces ---- */

/*
 * Answer the pieces that were gathered, all unless the list is full before or the program gives up.
 * The pins of the walk are gone on exit (rule M9).
 */
static GpbFillOutcome
device_walk_pieces(GpbBatch *batch, GpbBatchDevice *device)
{
	GpbCpuAnswer *cpu;
	GpbFillOutcome outcome;

	if (device->npieces == 0)
		return GPB_FILL_DONE;
	cpu = gpb_cpu_answer_pieces(batch, device->pieces, device->npieces);
	outcome = gpb_cpu_answer_fill(batch, cpu);
	gpb_cpu_answer_end(cpu);
	device->npieces = 0;
	return outcome;
}

/* Make room for n more pieces, or for as many as may be gathered. */
static void
device_reserve_pieces(GpbBatch *batch, GpbBatchDevice *device, uint64 n)
{
	uint32		room = (uint32) Min(device->npieces + n, device->most_pieces);

	if (room <= device->piece_room)
		return;
	room = (uint32) Min(Max((uint64) room, 2 * (uint64) device->piece_room), device->most_pieces);
	device->pieces = device->pieces == NULL ?
		MemoryContextAllocHuge(batch->context, room * sizeof(GpbPiece)) :
		repalloc_huge(device->pieces, room * sizeof(GpbPiece));
	device->piece_room = room;
}

/* Gather the pieces of a chunk, and answer those gathered whenever there are many. */
static GpbFillOutcome
device_pieces(GpbBatch *batch, GpbBatchDevice *device, GpbChunkRequest *chunk, uint64 pieces)
{
	int			key_width = batch->program.layout.key_width;
	uint64		done;
	uint64		n;

	device_reserve_pieces(batch, device, pieces);
	for (done = 0; done < pieces; done += n)
	{
		uint64		i;

		if (device->npieces == device->most_pieces)
		{
			GpbFillOutcome outcome = device_walk_pieces(batch, device);

			if (outcome != GPB_FILL_DONE)
				return outcome;
		}
		if (!device_fetch(chunk, GPB_FETCH_PIECES, done,
						  Min(pieces, done + device->most_pieces - device->npieces),
						  gpb_piece_width(key_width), &n))
			return GPB_FILL_FAILED;
		for (i = 0; i < n; i++)
		{
			GpbPiece   *piece = &device->pieces[device->npieces++];

			*piece = gpb_piece_at(chunk->staging, i, key_width);
			piece->number += chunk->first;
		}
	}
	return GPB_FILL_DONE;
}

/* qsort comparator for range entries: by the ranges' numbers, then by key. */
static int
compare_matches(const void *a, const void *b)
{
	const GpbRangeEntry *entry[2] = {(const GpbRangeEntry *) a, (const GpbRangeEntry *) b};
	GpbBound	bound[2];
	int			i;

	if (entry[0]->number != entry[1]->number)
		return entry[0]->number < entry[1]->number ? -1 : 1;
	for (i = 0; i < 2; i++)
	{
		bound[i].key = entry[i]->key;
		bound[i].tie = gpb_row_locator(entry[i]->row) & GPB_TIE_MASK;
	}
	return gpb_bound_cmp(bound[0], bound[1]);
}

/* ---- a chunk ---- */

/*
 * Take all that came of an aggregated chunk: its answers or groups, the entries for the heap, its
 * pieces.
 */
static GpbFillOutcome
device_take_aggregates(GpbBatch *batch, GpbBatchDevice *device, GpbChunkRequest *chunk,
					   const GpbRangesResult *result)
{
	GpbFillOutcome outcome;

	/* The answers come first, since what is fetched takes their place in staging. */
	device_answers(batch, chunk);
	outcome = device_groups(batch, chunk, result->groups);
	if (outcome != GPB_FILL_DONE)
		return outcome;
	if (!device_heap_entries(batch, chunk, result->entries))
		return GPB_FILL_FAILED;
	return device_pieces(batch, device, chunk, result->unclean);
}

/*
 * Add the entries of a chunk to the list, those included that the CPU finds in its pieces.  If they
 * do not fit, the list is left as it was.
 */
static GpbFillOutcome
device_take_list(GpbBatch *batch, GpbBatchDevice *device, GpbChunkRequest *chunk,
				 const GpbRangesResult *result)
{
	uint64		before = batch->nmatches;
	uint64		unknown_before = batch->nunknown;
	double		n = chunk->spec.n;
	GpbFillOutcome outcome = GPB_FILL_FULL;

	/* What other chunks left in the list stays where it is. */
	if (batch->listing != NULL)
		batch->listing->prune_from = before;
	if (result->entries <= batch->most_matches - before)
	{
		if (!device_list(batch, chunk, result->entries))
			return GPB_FILL_FAILED;
		outcome = device_pieces(batch, device, chunk, result->unclean);
		if (outcome == GPB_FILL_DONE)
			outcome = device_walk_pieces(batch, device);
	}
	if (outcome == GPB_FILL_DONE)
	{
		device->entries_per_range = (batch->nmatches - before) / n;
		if (result->unclean > 0)
		{
			qsort(gpb_batch_match(batch, before), batch->nmatches - before, batch->match_width,
				  compare_matches);
			gpb_batch_list_reordered(batch, before);
		}
		return outcome;
	}
	device->npieces = 0;
	device->entries_per_range = Max(2 * device->entries_per_range,
									Max(result->entries, batch->nmatches - before) / n);
	gpb_batch_list_take_back(batch, before, unknown_before);
	return outcome;
}

/* Wait for a chunk in flight, and take its answers or entries. */
static GpbFillOutcome
device_take(GpbBatch *batch, GpbBatchDevice *device, GpbChunkRequest *chunk)
{
	GpbRangesResult result;

	if (!gpb_request_wait(chunk->request))
		return GPB_FILL_FAILED;
	gpb_request_ranges_result(chunk->request, &result);
	chunk->staged = gpb_request_staged_groups(chunk->request);
	batch->counters.requests++;
	if (result.faults != 0)
	{
		gpb_batch_program_fault(batch);
		return GPB_FILL_GAVE_UP;
	}
	if (result.unheld != 0)
	{
		gpb_batch_program_unheld(batch);
		return GPB_FILL_GAVE_UP;
	}
	if (!device_choose_ask_again(batch, device, chunk, result.entries))
		return GPB_FILL_FAILED;
	if (device->ask_again)
		return GPB_FILL_FULL;
	batch->counters.unclean += result.unclean;
	return batch->program.list_entries ? device_take_list(batch, device, chunk, &result) :
		device_take_aggregates(batch, device, chunk, &result);
}

/*
 * Take back a chunk that is to be asked for again, or that did not fit: the next session begins
 * with it.  One that did not fit has fewer ranges then.  If it was one range, and the list is
 * empty, the CPU lists that range, in as many parts as it takes.
 */
static void
device_take_back(GpbBatch *batch, GpbBatchDevice *device, const GpbChunkRequest *chunk)
{
	device->next = chunk->first;
	if (!device->ask_again && chunk->spec.n == 1 && batch->nmatches == 0)
	{
		device->cpu = gpb_cpu_answer_ranges(batch, device->next, device->next + 1);
		device->next++;
	}
}

/* ---- the engine ---- */

/*
 * Answer chunks until all are done, until the list is full, until one is to be asked for again, or
 * until the mirror fails.  The session may have begun by submitting.
 */
static GpbFillOutcome
device_session(GpbBatch *batch, GpbBatchDevice *device)
{
	bool		lost;

	if (device->nrequests == 0 && !device_open(batch, device, &lost))
		return GPB_FILL_FAILED;
	for (;;)
	{
		GpbFillOutcome outcome;
		GpbChunkRequest *chunk;

		if (!device_launch(batch, device))
			return GPB_FILL_FAILED;
		chunk = device_first_in_flight(device);
		if (chunk == NULL)
			return device->next == batch->n ? GPB_FILL_DONE : GPB_FILL_FULL;
		outcome = device_take(batch, device, chunk);
		if (outcome == GPB_FILL_FULL)
			device_take_back(batch, device, chunk);
		if (outcome != GPB_FILL_DONE)
			return outcome;
		chunk->spec.n = 0;
		GPB_HOLD("batch-chunk-taken");
	}
}

/* Go on with the range that the CPU lists because it alone does not fit. */
static GpbFillOutcome
device_fill_large(GpbBatch *batch, GpbBatchDevice *device)
{
	if (gpb_cpu_answer_fill(batch, device->cpu) == GPB_FILL_FULL)
		return GPB_FILL_FULL;
	gpb_cpu_answer_end(device->cpu);
	device->cpu = NULL;
	return device->next == batch->n ? GPB_FILL_DONE : GPB_FILL_FULL;
}

/*
 * Go on, by one session with the service, or more where chunks are asked for again.  Its slots are
 * given back before the last pieces are walked.
 */
static GpbFillOutcome
batch_device_fill(GpbBatch *batch)
{
	GpbBatchDevice *device = (GpbBatchDevice *) batch->state;
	GpbFillOutcome outcome;

	if (device->lost)
		return GPB_FILL_FAILED;
	if (device->cpu != NULL)
		return device_fill_large(batch, device);
	if (device->nrequests == 0)
		batch->first = device->next;
	do
	{
		outcome = device_session(batch, device);
		device_close(device);
	} while (outcome == GPB_FILL_FULL && device_visit_unknown(batch, device));
	/* These are an aggregate's; the pieces of a list are walked with each chunk. */
	if (outcome == GPB_FILL_DONE)
		outcome = device_walk_pieces(batch, device);
	return outcome;
}

/*
 * Begin the first session, and launch its first chunks.  That the mirror is lost is noted for fill,
 * so that it is not looked for twice.
 */
static bool
batch_device_submit(GpbBatch *batch)
{
	GpbBatchDevice *device = (GpbBatchDevice *) batch->state;

	if (device_open(batch, device, &device->lost))
		device->lost = !device_launch(batch, device);
	GPB_HOLD("batch-submitted");
	return device->lost || device->nrequests > 0;
}

const GpbBatchEngine gpb_batch_device = {
	.name = "device",
	.stores_answers = true,
	.start = batch_device_start,
	.submit = batch_device_submit,
	.fill = batch_device_fill,
	.end = batch_device_end
};
