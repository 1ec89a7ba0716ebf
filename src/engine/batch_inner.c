/*-------------------------------------------------------------------------
 *
 * batch_inner.c
 *	  Leaves of a batch's keys from a mirror of the inner nodes; the CPU goes on from there.
 *
 * HB+-tree's division of work (Shahvarani and Jacobsen, SIGMOD 2016): the device finds the leaf of
 * each key, the CPU finishes in shared buffers.  The sorted keys go in chunks of GPB_INNER_CHUNK.
 * While the walk is at the leaves of one chunk the next two are with the service, in staging of
 * their own, so that transfer, device and CPU work at the same time:
 *
 *	 staging 1	| chunk 0 |          | chunk 2     |             | chunk 4 ...
 *	 staging 2	    | chunk 1 |           | chunk 3    |             | chunk 5 ...
 *	 walk				   | chunk 0 | chunk 1 | chunk 2 | chunk 3 ...
 *
 * The first part of a chunk may be the CPU's alone, which then looks its leaves up in the tree: as
 * large a part as balances the two sides (mirror/balance.h), and none where the device is the
 * faster one.
 *
 * Requests are held while the walk goes on, and given back whenever the caller has its turn; a
 * batch that is not answered leaves the rest of the keys to the tree.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "portability/instr_time.h"

#include "hold.h"
#include "mirror/mirror.h"
#include "engine/batch_engine.h"

/*
 * Number of keys of a chunk: large enough that what a request costs is nothing beside its keys,
 * small enough that the first chunk, for which the walk has to wait, is soon complete.
 * doc/design.md says how it was measured; make GPB_CFLAGS=-DGPB_INNER_CHUNK=... compiles another
 * one in.
 */
#ifndef GPB_INNER_CHUNK
#define GPB_INNER_CHUNK		16384
#endif

/* Number of chunks that are with the service at the same time */
#define GPB_INNER_IN_FLIGHT	2

/* Number of full chunks whose times make a sample for the balance */
#define GPB_INNER_SAMPLE	4

/* A chunk, and the request for its second part */
typedef struct GpbInnerChunk
{
	GpbRequest *request;		/* NULL: not held */
	uint32		most;			/* keys that fit its staging */
	uint32		cpu_end;		/* keys sorted[.. cpu_end) are the CPU's, ... */
	uint32		end;			/* ... those up to here the device's */
	bool		full;
	GpbSearchPiece arrays;
} GpbInnerChunk;

typedef struct GpbInnerFinder
{
	GpbMirrorRef ref;
	bool		failed;			/* no more requests are sent in this run */
	int			nheld;			/* number of requests held, which are the first of chunk[] */
	GpbInnerChunk chunk[GPB_INNER_IN_FLIGHT];
	int			first;			/* of the chunks that were sent, the one with the lowest keys */
	int			nsent;
	uint32		sent;			/* keys up to here are in chunks */
	uint32	   *leaves;			/* of the chunk that is being walked */
	uint64		stale_before;	/* the counter when that chunk was handed out */
	bool		walking;		/* a chunk was handed out */

	/* The times of this sample in microseconds, over nsampled chunks */
	GpbBalance	balance;		/* the balance when the sample began */
	int			nsampled;
	double		device_us;
	double		cpu_us;
	int			untimed;		/* number of chunks to come that are not timed */
	instr_time	handed_out;
	instr_time	answered;		/* when the chunk before was complete */

	char		name[160];
} GpbInnerFinder;

/* ---- requests ---- */

/* The bytes of a key in staging. */
static int
inner_width(const GpbBatch *batch)
{
	return batch->program.layout.key_width;
}

/* What is asked of the device for n keys */
static GpbRequestSearch
inner_search(uint32 n)
{
	GpbRequestSearch search = {.bound = GPB_SEARCH_LOWER, .order = GPB_ORDER_INPUT,
	.ascending = true, .n = n};

	return search;
}

/* Take as many requests as are to be had.  It is no error to get none. */
static void
inner_hold(GpbBatch *batch, GpbInnerFinder *finder)
{
	GpbRequestSearch search = inner_search(GPB_INNER_CHUNK);
	int			width = inner_width(batch);

	while (finder->nheld < GPB_INNER_IN_FLIGHT)
	{
		GpbInnerChunk *chunk = &finder->chunk[finder->nheld];
		Size		size;

		chunk->request = gpb_request_begin(&finder->ref,
										   gpb_search_arrange(&search, width, NULL,
															  &chunk->arrays));
		if (chunk->request == NULL)
			break;
		(void) gpb_request_staging(chunk->request, &size);
		chunk->most = Min(gpb_search_capacity(&search, width, size), GPB_INNER_CHUNK);
		finder->nheld++;
	}
}

/* Give all requests back, those in flight too. */
static void
inner_let_go(GpbInnerFinder *finder)
{
	while (finder->nheld > 0)
	{
		GpbInnerChunk *chunk = &finder->chunk[--finder->nheld];

		gpb_request_end(chunk->request);
		chunk->request = NULL;
	}
	finder->nsent = 0;
}

/*
 * Put the device's keys of the chunk into staging, and submit them.  Returns false if the service
 * is lost.
 */
static bool
inner_send(const GpbBatch *batch, GpbInnerChunk *chunk, GpbNumberedKeys sorted)
{
	GpbRequestSearch search = inner_search(chunk->end - chunk->cpu_end);
	int			width = inner_width(batch);
	GpbNumberedKeys from = gpb_numbered_keys_from(sorted, chunk->cpu_end);
	Size		size;
	uint32		i;

	gpb_search_arrange(&search, width, gpb_request_staging(chunk->request, &size),
					   &chunk->arrays);
	if (gpb_is_wide(width))
	{
		GpbKey	   *keys = (GpbKey *) chunk->arrays.keys;

		for (i = 0; i < search.n; i++)
			keys[i] = gpb_numbered_key(from, i);
	}
	else if (width == 8)
	{
		uint64	   *keys = (uint64 *) chunk->arrays.keys;

		for (i = 0; i < search.n; i++)
			keys[i] = (uint64) gpb_numbered_key(from, i);
	}
	else
	{
		uint32	   *keys = (uint32 *) chunk->arrays.keys;

		for (i = 0; i < search.n; i++)
			keys[i] = (uint32) gpb_numbered_key(from, i);
	}
	return gpb_request_submit_search(chunk->request, &search);
}

/*
 * Cut chunks from the keys that are in none yet, as long as there are free requests, and submit
 * them.  Returns false if the service is lost.
 */
static bool
inner_fill_pipeline(const GpbBatch *batch, GpbInnerFinder *finder, GpbNumberedKeys sorted,
					uint32 n)
{
	while (finder->nsent < finder->nheld && finder->sent < n)
	{
		GpbInnerChunk *chunk = &finder->chunk[(finder->first + finder->nsent) % finder->nheld];
		uint32		keys = Min(chunk->most, n - finder->sent);

		chunk->full = keys == chunk->most;
		chunk->cpu_end = finder->sent +
			(uint32) ((uint64) keys * finder->balance.share / GPB_SHARE_ALL);
		chunk->end = finder->sent + keys;
		finder->sent = chunk->end;
		finder->nsent++;
		if (!inner_send(batch, chunk, sorted))
			return false;
	}
	return true;
}

/* ---- balance ---- */

static double
microseconds(instr_time from, instr_time to)
{
	INSTR_TIME_SUBTRACT(to, from);
	return INSTR_TIME_GET_DOUBLE(to) * 1e6;
}

/* Begin a sample, with the balance as it is now, after "untimed" chunks. */
static void
inner_begin_sample(GpbInnerFinder *finder, int untimed)
{
	finder->balance = gpb_mirror_balance(&finder->ref);
	finder->untimed = untimed;
	finder->nsampled = 0;
	finder->device_us = finder->cpu_us = 0;
}

/*
 * Time a chunk that has been waited for.  The device's time for it is from when it was sent, or the
 * chunk before was complete, to its completion.  The CPU's time is what went by since the chunk
 * before was handed out, less the waiting.  Only full chunks without a pause between them count.
 */
static void
inner_time(GpbBatch *batch, GpbInnerFinder *finder, const GpbInnerChunk *chunk,
		   double waited_us)
{
	instr_time	submitted;
	instr_time	answered;
	instr_time	now;

	gpb_request_times(chunk->request, &submitted, &answered);
	INSTR_TIME_SET_CURRENT(now);
	if (finder->untimed > 0)
		finder->untimed--;
	else if (chunk->full)
	{
		finder->cpu_us += microseconds(finder->handed_out, now) - waited_us;
		finder->device_us += Min(microseconds(submitted, answered),
								 microseconds(finder->answered, answered));
		finder->nsampled++;
	}
	finder->handed_out = now;
	finder->answered = answered;
	if (finder->nsampled == GPB_INNER_SAMPLE)
	{
		gpb_mirror_balance_sample(&finder->ref, finder->balance, finder->device_us, finder->cpu_us);
		/* The chunks in flight have the former share. */
		inner_begin_sample(finder, GPB_INNER_IN_FLIGHT);
	}
	batch->counters.cpu_share = (double) finder->balance.share / GPB_SHARE_ALL;
}

/* ---- the finder ---- */

/* Count the steps to the right on the way from the leaves that were handed out. */
static void
inner_note_stale(const GpbBatch *batch, GpbInnerFinder *finder)
{
	if (finder->walking)
		gpb_mirror_note_stale(&finder->ref,
							  batch->counters.walk.stale_moves - finder->stale_before);
	finder->walking = false;
}

/*
 * Wait for the first chunk that was sent, and copy its leaves out of staging, which can then be
 * used anew.  Returns false if the service is lost.
 */
static bool
inner_receive(GpbBatch *batch, GpbInnerFinder *finder)
{
	GpbInnerChunk *chunk = &finder->chunk[finder->first];
	uint32		n = chunk->end - chunk->cpu_end;
	instr_time	before;
	instr_time	after;

	INSTR_TIME_SET_CURRENT(before);
	if (!gpb_request_wait(chunk->request))
		return false;
	INSTR_TIME_SET_CURRENT(after);
	inner_time(batch, finder, chunk, microseconds(before, after));
	memcpy(finder->leaves, chunk->arrays.leaf, n * sizeof(uint32));
	batch->counters.device_keys += n;
	batch->counters.requests++;
	finder->first = (finder->first + 1) % finder->nheld;
	finder->nsent--;
	return true;
}

/* Leave all "left" keys to the tree, since the service does not answer. */
static uint32
inner_fail(GpbBatch *batch, GpbInnerFinder *finder, uint32 left)
{
	inner_let_go(finder);
	finder->failed = true;
	batch->counters.fallbacks++;
	return left;
}

/*
 * Hand out the leaves of the first chunk that was sent.  The CPU's part of the chunk comes first,
 * without leaves; then the device is waited for.
 */
static uint32
inner_find(GpbBatch *batch, GpbNumberedKeys sorted, uint32 n, uint32 at,
		   const uint32 **leaves)
{
	GpbInnerFinder *finder = (GpbInnerFinder *) batch->finder_state;
	const GpbInnerChunk *chunk;
	uint32		end;

	*leaves = NULL;
	inner_note_stale(batch, finder);
	if (finder->failed)
		return n - at;
	if (finder->nsent == 0)
	{
		/* The keys are those of a new portion, or there was a pause. */
		finder->sent = at;
		finder->first = 0;
		inner_hold(batch, finder);
		if (finder->nheld == 0)
			return inner_fail(batch, finder, n - at);
		inner_begin_sample(finder, 1);
	}
	if (!inner_fill_pipeline(batch, finder, sorted, n))
		return inner_fail(batch, finder, n - at);

	chunk = &finder->chunk[finder->first];
	if (at < chunk->cpu_end)
		return chunk->cpu_end - at;
	end = chunk->end;
	GPB_HOLD("inner-before-wait");
	if (!inner_receive(batch, finder) ||
		!inner_fill_pipeline(batch, finder, sorted, n))
		return inner_fail(batch, finder, n - at);
	GPB_HOLD("inner-leaves-known");
	*leaves = finder->leaves;
	finder->walking = true;
	finder->stale_before = batch->counters.walk.stale_moves;
	return end - at;
}

/* Give all requests back; the leaves handed out stay. */
static void
inner_pause(GpbBatch *batch)
{
	GpbInnerFinder *finder = (GpbInnerFinder *) batch->finder_state;

	inner_note_stale(batch, finder);
	inner_let_go(finder);
}

const GpbLeafFinder gpb_batch_inner = {
	.find = inner_find,
	.pause = inner_pause
};

bool
gpb_batch_inner_begin(GpbBatch *batch)
{
	GpbInnerFinder *finder = (GpbInnerFinder *) batch->finder_state;
	GpbMirrorRef ref;
	uint64		blocks;

	if (!gpb_mirror_attach_search(batch->index, &batch->program.layout, &ref) ||
		!gpb_mirror_refresh_separators(batch->index, &batch->program.layout, &ref, &blocks))
	{
		batch->counters.fallbacks++;
		return false;
	}
	if (finder == NULL)
	{
		finder = MemoryContextAllocZero(batch->context, sizeof(GpbInnerFinder));
		finder->leaves = MemoryContextAlloc(batch->context, GPB_INNER_CHUNK * sizeof(uint32));
		batch->finder_state = finder;
	}
	finder->ref = ref;
	finder->failed = false;
	finder->walking = false;
	snprintf(finder->name, sizeof(finder->name), "CPU, inner nodes on %s",
			 gpb_mirror_engine_name(ref.device));
	batch->finder = &gpb_batch_inner;
	batch->counters.engine = finder->name;
	return true;
}
