/*-------------------------------------------------------------------------
 *
 * batch_device.c
 *	  Engine: the device answers from the mirror; the CPU what it leaves over.
 *
 * Each call of fill is one session with the service and follows the order of a reader (mirror_reader.h).
 * The input goes in buckets, two in flight: while the device works on one the backend reads the
 * answers of the other and copies keys for the next.
 *
 *		lane 0	copy | device ...... | read, copy | device ...... | read
 *		lane 1	       copy | device ...... | read, copy | device ...... | read
 *
 * Of each bucket come answers or a list of entries, of clean leaves alone; entries that the heap must decide about
 * (rule M6); and pieces of ranges whose leaves were not clean (rule M4).  Pieces are gathered and
 * answered by a walk, which reads the visibility map anew.
 *
 * An answer is all or nothing: if any step fails, what has been added is dropped and the CPU engine goes on.  A
 * list is handed out in parts of whole ranges, each range by one engine, and every part is
 * exact by itself.  No slot and no staging is kept while a part is in the caller's hands: that might last, and
 * others wait for them.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "pgstat.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "hold.h"
#include "engine/batch_engine.h"
#include "engine/mirror_reader.h"

/*
 * Ranges of a bucket: large enough that what a request costs does not show, small enough that there are several
 * to overlap.  Tests get by with little data.
 */
#ifdef GPB_HOLD_POINTS
#define GPB_DEVICE_BUCKET_LEAST	((uint32) 8)
#define GPB_DEVICE_BUCKET_MOST	((uint32) 64)
#else
#define GPB_DEVICE_BUCKET_LEAST	((uint32) 1 << 15)
#define GPB_DEVICE_BUCKET_MOST	((uint32) 1 << 17)
#endif
#define GPB_DEVICE_BUCKETS		4

#define GPB_DEVICE_LANES		2

/* The least number of pieces that are walked together, whatever the memory */
#define GPB_LEAST_PIECES	1024

/*
 * ---- what it costs ----
 *
 * What the CPU engine pays more than the device for a range, and for an entry that is aggregated, in units of
 * gpubtree.batch_setup_cost, which is the device's fixed cost: a look for changed pages, the visibility map, and a
 * request's way to the service and back.  A range is a walk to a leaf that may not be in the CPU's cache,
 * an entry a few nanoseconds: as many as take the time of a request make up for it.
 */
#define GPB_RANGE_GAIN		0.02
#define GPB_ENTRY_GAIN		0.0002

bool
gpb_batch_device_pays(double n)
{
	return n * GPB_RANGE_GAIN >= gpb_batch_setup_cost;
}

bool
gpb_batch_aggregate_pays(double n, double entries)
{
	return n * GPB_RANGE_GAIN + entries * GPB_ENTRY_GAIN >= gpb_batch_setup_cost;
}

GpbEngine
gpb_batch_engine_for(Relation index, double entries)
{
	return entries * GPB_ENTRY_GAIN >= gpb_batch_setup_cost && gpb_mirror_available() &&
		!gpb_mirror_is_inner_only(index) ? GPB_ENGINE_DEVICE : GPB_ENGINE_CPU;
}

/* ---- state ---- */

/* One request slot with its staging, and the bucket in flight there */
typedef struct GpbDeviceLane
{
	GpbMirrorBatch *request;	/* NULL: none */
	char	   *staging;
	Size		size;
	GpbRangesSpec spec;			/* of the bucket: n ranges, 0: none in flight ... */
	uint32		first;			/* ... from this one on */
} GpbDeviceLane;

typedef enum GpbBucketOutcome
{
	GPB_BUCKET_DONE,			/* nothing is left to do */
	GPB_BUCKET_FULL,			/* the list is full, or the next bucket does not fit */
	GPB_BUCKET_FAILED			/* take the CPU */
} GpbBucketOutcome;

typedef struct GpbBatchDevice
{
	uint32		bucket;			/* ranges at most */
	uint32		next;			/* first range that was not sent */
	double		entries_per_range;	/* list: of the last bucket, or a guess after one that did not fit */
	GpbCpuAnswer *cpu;			/* list: a range that alone does not fit; NULL: none */

	GpbUncleanPiece *pieces;	/* gathered, to be walked; NULL until first needed */
	uint32		npieces;
	uint32		piece_room;		/* that there is memory for ... */
	uint32		most_pieces;	/* ... and may be */

	/* a session */
	GpbMirrorRef ref;
	uint64		epoch;
	int			nlanes;
	int			most_lanes;
	GpbDeviceLane lane[GPB_DEVICE_LANES];
} GpbBatchDevice;

static void
gpb_batch_device_start(GpbBatch *batch)
{
	GpbBatchDevice *device = palloc0(sizeof(GpbBatchDevice));

	batch->state = device;
	strlcpy(batch->device_name, gpb_mirror_engine_name(), sizeof(batch->device_name));
	batch->counters.engine = batch->device_name;
	device->bucket = Min(Max(batch->n / GPB_DEVICE_BUCKETS, GPB_DEVICE_BUCKET_LEAST),
						 GPB_DEVICE_BUCKET_MOST);
	device->entries_per_range = 1;
	device->most_pieces = (uint32) Min(Max(batch->memory / 4 / GPB_PIECE_MEMORY, GPB_LEAST_PIECES),
									   PG_INT32_MAX);
}

static Size
gpb_device_input_width(const GpbBatch *batch)
{
	return batch->want.points ? sizeof(uint64) : sizeof(GpbKeyRange);
}

/* ---- a session ---- */

/* Bytes of staging for a bucket of n ranges: its input, then in the same place its answers */
static Size
gpb_device_staging(const GpbBatch *batch, const GpbRangesSpec *spec, uint32 n)
{
	Size		width = gpb_device_input_width(batch);

	if (!spec->list_entries)
		width = Max(width, gpb_range_answer_width(spec->want));
	return width * n;
}

/* What is the same for all buckets of a lane, before its visibility map was shipped */
static void
gpb_device_spec(const GpbBatch *batch, const GpbBatchDevice *device, GpbRangesSpec *spec)
{
	memset(spec, 0, sizeof(*spec));
	spec->layout = batch->spec.layout;
	spec->points = batch->want.points;
	spec->list_entries = batch->want.list;
	spec->ignore_dead_hints = batch->spec.ignore_dead_hints;
	spec->epoch = device->epoch;
	if (batch->want.list)
		return;
	spec->column = batch->want.column;
	/* whether a range has a value at all is told by their number */
	if (batch->want.want != 0)
		spec->want = batch->want.want | GPB_WANT_COUNT;
}

/*
 * Take a slot for one more lane, and, in it, the next steps of a reader: epoch, which the first lane's
 * reading fixes for all, and visibility map.  NULL: none is to be had, or the mirror was lost, then *lost is set.
 */
static GpbDeviceLane *
gpb_device_add_lane(GpbBatch *batch, GpbBatchDevice *device, bool *lost)
{
	GpbDeviceLane *lane = &device->lane[device->nlanes];
	uint32		n = Min(batch->n - device->next, device->bucket);

	gpb_device_spec(batch, device, &lane->spec);
	lane->request = gpb_mirror_batch_begin(&device->ref,
										   gpb_device_staging(batch, &lane->spec, n));
	if (lane->request == NULL)
		return NULL;
	device->nlanes++;
	lane->staging = gpb_mirror_batch_staging(lane->request, &lane->size);
	if (device->epoch == 0)
		device->epoch = gpb_reader_epoch(&device->ref);
	lane->spec.epoch = device->epoch;
	/* with heap_rows no entry is vouched for */
	*lost = device->epoch == 0 ||
		(!batch->want.heap_rows &&
		 !gpb_reader_visibility(lane->request, batch->heap, &lane->spec.heap_blocks));
	return *lost ? NULL : lane;
}

static bool
gpb_device_open(GpbBatch *batch, GpbBatchDevice *device)
{
	uint64		blocks = 0;
	bool		lost = false;
	bool		fresh;

	device->epoch = 0;
	device->most_lanes = GPB_DEVICE_LANES;
	fresh = gpb_reader_refresh(batch->index, &batch->spec.layout, &device->ref, &blocks);
	batch->counters.refreshed_blocks += blocks;
	if (!fresh)
		return false;
	GPB_HOLD("batch-after-refresh");
	if (gpb_device_add_lane(batch, device, &lost) == NULL)
		return false;
	GPB_HOLD("batch-after-visibility-map");
	return true;
}

/* Give everything back.  What is still in flight is abandoned. */
static void
gpb_device_close(GpbBatchDevice *device)
{
	while (device->nlanes > 0)
		gpb_mirror_batch_end(device->lane[--device->nlanes].request);
}

static void
gpb_batch_device_end(GpbBatch *batch)
{
	GpbBatchDevice *device = (GpbBatchDevice *) batch->state;

	batch->state = NULL;
	gpb_device_close(device);
	if (device->cpu != NULL)
		gpb_cpu_answer_end(device->cpu);
	if (device->pieces != NULL)
		pfree(device->pieces);
	pfree(device);
}

/* ---- sending ---- */

/* The lane whose bucket comes first of those in flight; NULL: none flies. */
static GpbDeviceLane *
gpb_device_first_flying(GpbBatchDevice *device)
{
	GpbDeviceLane *first = NULL;
	int			i;

	for (i = 0; i < device->nlanes; i++)
	{
		GpbDeviceLane *lane = &device->lane[i];

		if (lane->spec.n > 0 && (first == NULL || lane->first < first->first))
			first = lane;
	}
	return first;
}

/*
 * A lane with nothing in flight; NULL: there is none, or the mirror was lost.  The second is taken when it is first
 * needed; one will do.
 */
static GpbDeviceLane *
gpb_device_idle_lane(GpbBatch *batch, GpbBatchDevice *device, bool *lost)
{
	GpbDeviceLane *lane;
	int			i;

	for (i = 0; i < device->nlanes; i++)
	{
		if (device->lane[i].spec.n == 0)
			return &device->lane[i];
	}
	if (device->nlanes == device->most_lanes)
		return NULL;
	lane = gpb_device_add_lane(batch, device, lost);
	if (lane == NULL)
		device->most_lanes = device->nlanes;
	return lane;
}

/*
 * How many ranges to send next in a lane; 0: none, since the list may not have room for their entries and those
 * of the buckets in flight.  A list that is empty takes one range whatever that has.
 */
static uint32
gpb_device_next_bucket(const GpbBatch *batch, GpbBatchDevice *device, const GpbDeviceLane *lane)
{
	Size		most = Min(lane->size / gpb_device_input_width(batch), device->bucket);
	double		room;
	int			i;

	most = Min(most, batch->n - device->next);
	if (!batch->want.list)
		return (uint32) most;
	if (batch->nmatches == 0 && gpb_device_first_flying(device) == NULL)
		room = Max(batch->most_matches, device->entries_per_range);
	else
		room = (double) (batch->most_matches - batch->nmatches);
	for (i = 0; i < device->nlanes; i++)
		room -= device->lane[i].spec.n * device->entries_per_range;
	if (most * device->entries_per_range > room)
		most = (Size) Max(room / device->entries_per_range, 0);
	return (uint32) most;
}

/* Send buckets as long as a lane is free; false: the mirror is lost. */
static bool
gpb_device_send(GpbBatch *batch, GpbBatchDevice *device)
{
	Size		width = gpb_device_input_width(batch);
	bool		lost = false;

	while (device->next < batch->n)
	{
		GpbDeviceLane *lane = gpb_device_idle_lane(batch, device, &lost);
		uint32		n;

		if (lane == NULL)
			return !lost;
		n = gpb_device_next_bucket(batch, device, lane);
		if (n == 0)
			return true;
		memcpy(lane->staging, (const char *) batch->input + device->next * width, n * width);
		lane->spec.n = n;
		lane->first = device->next;
		device->next += n;
		if (!gpb_mirror_batch_submit_ranges(lane->request, &lane->spec))
			return false;
	}
	return true;
}

/* ---- what comes back ---- */

/* Fetch records [*done, ...) to the lane's staging, as many as fit; *n of them. */
static bool
gpb_device_fetch(GpbDeviceLane *lane, GpbFetchWhat what, uint64 done, uint64 records, int width,
				 uint64 *n)
{
	*n = Min(records - done, lane->size / width);
	CHECK_FOR_INTERRUPTS();
	return gpb_mirror_batch_fetch(lane->request, what, done, *n, 0);
}

/* Add a packed answer (see gpb_range_answer_width); want is a constant where that matters. */
static inline void
gpb_device_add_answer(GpbRangeAnswer *into, const int64 *word, uint8 want)
{
	GpbColumnState column;

	into->entries += *word++;
	if (want == 0 || *word == 0)
		return;
	gpb_column_state_init(&column);
	column.count = *word++;
	if (want & GPB_WANT_SUM)
	{
		column.sum_low = (uint64) *word++;
		column.sum_high = *word++;
	}
	if (want & GPB_WANT_MINMAX)
	{
		column.min = *word++;
		column.max = *word++;
	}
	gpb_column_state_merge(&into->column, &column);
}

/* Add the answers of a bucket, one pass over staging. */
static bool
gpb_device_answers(GpbBatch *batch, GpbDeviceLane *lane)
{
	uint8		want = lane->spec.want;
	int			width = gpb_range_answer_width(want);
	int64		entries = 0;
	uint64		done;
	uint64		n;

	for (done = 0; done < lane->spec.n; done += n)
	{
		uint64		i;

		if (!gpb_device_fetch(lane, GPB_FETCH_ANSWERS, done, lane->spec.n, width, &n))
			return false;
		for (i = 0; i < n; i++)
		{
			const int64 *word = (const int64 *) (lane->staging + i * width);

			entries += *word;
			gpb_device_add_answer(gpb_batch_answer(batch, lane->first + done + i), word, want);
		}
	}
	pgstat_count_index_tuples(batch->index, entries);
	return true;
}

/* Entries of a bucket that is aggregated are gathered for the heap to decide about. */
static bool
gpb_device_heap_entries(GpbBatch *batch, GpbDeviceLane *lane, uint64 entries)
{
	uint64		done;
	uint64		n;

	for (done = 0; done < entries; done += n)
	{
		const char *record = lane->staging;
		uint64		i;

		if (!gpb_device_fetch(lane, GPB_FETCH_ENTRIES, done, entries, batch->match_width, &n))
			return false;
		for (i = 0; i < n; i++, record += batch->match_width)
			gpb_batch_add_unknown(batch, lane->first + ((const uint32 *) record)[0],
								  *(const uint64 *) (record + 8), record + 16);
	}
	pgstat_count_index_tuples(batch->index, entries);
	return true;
}

/* Entries of a bucket to the list, which may have so many. */
static bool
gpb_device_list(GpbBatch *batch, GpbDeviceLane *lane, uint64 entries)
{
	uint64		done;
	uint64		n;

	gpb_batch_list_reserve(batch, batch->nmatches + entries);
	for (done = 0; done < entries; done += n)
	{
		char	   *record = batch->matches + batch->nmatches * batch->match_width;
		uint64		i;

		if (!gpb_device_fetch(lane, GPB_FETCH_ENTRIES, done, entries, batch->match_width, &n))
			return false;
		memcpy(record, lane->staging, n * batch->match_width);
		for (i = 0; i < n; i++, record += batch->match_width)
		{
			uint32	   *head = (uint32 *) record;

			head[0] += lane->first;
			if (batch->want.heap_rows)
				head[1] = 0;
			else
				batch->nunknown += (head[1] & GPB_RANGE_ENTRY_VISIBLE) == 0;
		}
		batch->nmatches += n;
	}
	pgstat_count_index_tuples(batch->index, entries);
	return true;
}

/* ---- pieces ---- */

/*
 * Answer the pieces gathered.  False: the list is full before the end.  The walk's pins are gone on
 * return (rule M9).
 */
static bool
gpb_device_walk_pieces(GpbBatch *batch, GpbBatchDevice *device)
{
	GpbCpuAnswer *cpu;
	bool		done;

	if (device->npieces == 0)
		return true;
	cpu = gpb_cpu_answer_pieces(batch, device->pieces, device->npieces);
	done = gpb_cpu_answer_fill(batch, cpu);
	gpb_cpu_answer_end(cpu);
	device->npieces = 0;
	return done;
}

/* Make room for n more pieces, or as many as are gathered at most. */
static void
gpb_device_reserve_pieces(GpbBatch *batch, GpbBatchDevice *device, uint64 n)
{
	uint32		room = (uint32) Min(device->npieces + n, device->most_pieces);

	if (room <= device->piece_room)
		return;
	room = (uint32) Min(Max((uint64) room, 2 * (uint64) device->piece_room), device->most_pieces);
	device->pieces = device->pieces == NULL ?
		MemoryContextAllocHuge(batch->context, room * sizeof(GpbUncleanPiece)) :
		repalloc_huge(device->pieces, room * sizeof(GpbUncleanPiece));
	device->piece_room = room;
}

/* Gather the pieces of a bucket; whenever there are many, answer them. */
static GpbBucketOutcome
gpb_device_pieces(GpbBatch *batch, GpbBatchDevice *device, GpbDeviceLane *lane, uint64 pieces)
{
	uint64		done;
	uint64		n;

	gpb_device_reserve_pieces(batch, device, pieces);
	for (done = 0; done < pieces; done += n)
	{
		uint64		i;

		if (device->npieces == device->most_pieces && !gpb_device_walk_pieces(batch, device))
			return GPB_BUCKET_FULL;
		if (!gpb_device_fetch(lane, GPB_FETCH_PIECES, done,
							  Min(pieces, done + device->most_pieces - device->npieces),
							  sizeof(GpbUncleanPiece), &n))
			return GPB_BUCKET_FAILED;
		memcpy(device->pieces + device->npieces, lane->staging, n * sizeof(GpbUncleanPiece));
		for (i = 0; i < n; i++)
			device->pieces[device->npieces++].number += lane->first;
	}
	return GPB_BUCKET_DONE;
}

/* Range entries in the order of ranges, then keys */
static int
gpb_compare_matches(const void *a, const void *b)
{
	uint32		number[2] = {*(const uint32 *) a, *(const uint32 *) b};
	GpbBound	bound[2];

	if (number[0] != number[1])
		return number[0] < number[1] ? -1 : 1;
	bound[0].key = *(const uint64 *) ((const char *) a + 8);
	bound[1].key = *(const uint64 *) ((const char *) b + 8);
	bound[0].tie = gpb_row_locator((const char *) a + 16) & GPB_TIE_MASK;
	bound[1].tie = gpb_row_locator((const char *) b + 16) & GPB_TIE_MASK;
	return gpb_bound_cmp(bound[0], bound[1]);
}

/* ---- a bucket ---- */

static GpbBucketOutcome
gpb_device_take_aggregates(GpbBatch *batch, GpbBatchDevice *device, GpbDeviceLane *lane,
						   const GpbRangesResult *result)
{
	if (!gpb_device_answers(batch, lane) ||
		!gpb_device_heap_entries(batch, lane, result->entries))
		return GPB_BUCKET_FAILED;
	return gpb_device_pieces(batch, device, lane, result->unclean);
}

/*
 * The list of a bucket, those entries included that the CPU finds in its pieces.  If it does not
 * fit, the list is as before.
 */
static GpbBucketOutcome
gpb_device_take_list(GpbBatch *batch, GpbBatchDevice *device, GpbDeviceLane *lane,
					 const GpbRangesResult *result)
{
	uint64		before = batch->nmatches;
	uint64		unknown_before = batch->nunknown;
	double		n = lane->spec.n;
	GpbBucketOutcome outcome = GPB_BUCKET_FULL;

	if (result->entries <= batch->most_matches - before)
	{
		if (!gpb_device_list(batch, lane, result->entries))
			return GPB_BUCKET_FAILED;
		outcome = gpb_device_pieces(batch, device, lane, result->unclean);
		if (outcome == GPB_BUCKET_DONE && !gpb_device_walk_pieces(batch, device))
			outcome = GPB_BUCKET_FULL;
	}
	if (outcome == GPB_BUCKET_DONE)
	{
		device->entries_per_range = (batch->nmatches - before) / n;
		if (result->unclean > 0)
			qsort(batch->matches + before * batch->match_width, batch->nmatches - before,
				  batch->match_width, gpb_compare_matches);
		return outcome;
	}
	device->npieces = 0;
	device->entries_per_range = Max(2 * device->entries_per_range,
									Max(result->entries, batch->nmatches - before) / n);
	gpb_batch_list_reset(batch, before, unknown_before);
	return outcome;
}

/* Wait for the bucket of a lane and take what it brings. */
static GpbBucketOutcome
gpb_device_take(GpbBatch *batch, GpbBatchDevice *device, GpbDeviceLane *lane)
{
	GpbRangesResult result;

	if (!gpb_mirror_batch_wait(lane->request))
		return GPB_BUCKET_FAILED;
	gpb_mirror_batch_ranges_result(lane->request, &result);
	batch->counters.requests++;
	batch->counters.unclean += result.unclean;
	return batch->want.list ? gpb_device_take_list(batch, device, lane, &result) :
		gpb_device_take_aggregates(batch, device, lane, &result);
}

/*
 * The bucket of this lane did not fit: the next session begins with it, and with fewer ranges.  If it was
 * one range, and the list is empty, the CPU lists it, in as many parts as it takes.
 */
static void
gpb_device_take_back(GpbBatch *batch, GpbBatchDevice *device, const GpbDeviceLane *lane)
{
	device->next = lane->first;
	if (lane->spec.n == 1 && batch->nmatches == 0)
	{
		device->cpu = gpb_cpu_answer_ranges(batch, device->next, device->next + 1);
		device->next++;
	}
}

/* ---- the engine ---- */

/* Buckets until the end, until the list is full, or until the mirror fails. */
static GpbBucketOutcome
gpb_device_session(GpbBatch *batch, GpbBatchDevice *device)
{
	if (!gpb_device_open(batch, device))
		return GPB_BUCKET_FAILED;
	for (;;)
	{
		GpbBucketOutcome outcome;
		GpbDeviceLane *lane;

		if (!gpb_device_send(batch, device))
			return GPB_BUCKET_FAILED;
		lane = gpb_device_first_flying(device);
		if (lane == NULL)
			return device->next == batch->n ? GPB_BUCKET_DONE : GPB_BUCKET_FULL;
		outcome = gpb_device_take(batch, device, lane);
		if (outcome == GPB_BUCKET_FULL)
			gpb_device_take_back(batch, device, lane);
		if (outcome != GPB_BUCKET_DONE)
			return outcome;
		lane->spec.n = 0;
		GPB_HOLD("batch-bucket-taken");
	}
}

static bool
gpb_batch_device_fill(GpbBatch *batch)
{
	GpbBatchDevice *device = (GpbBatchDevice *) batch->state;
	uint32		first = device->next;
	GpbBucketOutcome outcome;

	if (device->cpu != NULL)
	{
		if (!gpb_cpu_answer_fill(batch, device->cpu))
			return false;
		gpb_cpu_answer_end(device->cpu);
		device->cpu = NULL;
		return device->next == batch->n;
	}
	outcome = gpb_device_session(batch, device);
	gpb_device_close(device);
	if (outcome == GPB_BUCKET_FAILED)
	{
		gpb_batch_fall_back(batch, first);
		return batch->engine->fill(batch);
	}
	/* of an aggregate alone: a list's are walked with each bucket */
	(void) gpb_device_walk_pieces(batch, device);
	return outcome == GPB_BUCKET_DONE;
}

const GpbBatchEngine gpb_batch_device = {
	.name = "device",
	.start = gpb_batch_device_start,
	.fill = gpb_batch_device_fill,
	.end = gpb_batch_device_end
};
