/*-------------------------------------------------------------------------
 *
 * service_ranges.c
 *	  The service's requests of ranges: each a launch of its own, or small ones joined.
 *
 * Requests of few ranges that one look over the slots finds become one launch if they ask the same
 * of the same mirror: one program, one form, one map image.  Their ranges are gathered into staging
 * of the service's own, and their answers come from there; so the device reads and writes nothing
 * of the slots that are joined.  The launch has the least epoch of its requests: that leaves more
 * leaves unclean, never fewer (rule M5).  The changed map is read once, after all of them were
 * submitted (rule M4).
 *
 * Where less than GPB_FEW_LAUNCHES are in flight a request is launched at once; else it waits until
 * one has ended, or for GPB_LONG_WAIT_US, since those in flight may be long; and those that wait
 * together are joined.
 *
 * A joined launch may leave pieces, or entries for the heap.  Requests to which none of these
 * belong are answered; each of the others is launched again alone, so that what is to be fetched
 * lies on its own channel.  A mirror on which that happens to many has its requests launched alone
 * for a while.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/service.h"

#include "utils/memutils.h"

#include "hold.h"
#include "mirror/heartbeat.h"
#include "mirror/map_image.h"
#include "mirror/map/registry.h"
#include "mirror/pool.h"
#include "mirror/service/in_flight.h"
#include "mirror/service/served.h"
#include "mirror/service/service_bits.h"
#include "mirror/slots.h"

/*
 * With fewer launches in flight a request is launched at once, and no request waits for longer to
 * be joined with others.
 */
#define GPB_FEW_LAUNCHES	2
#define GPB_LONG_WAIT_US	200

/* Most ranges of a request that is joined with others */
#define GPB_JOINED_RANGES	16

/* Most records of a joined launch, of each kind, that are looked at to see whose they are */
#define GPB_JOINED_RECORDS	256

/* Least and most requests of a mirror that are launched alone after joining has not paid */
#define GPB_LEAST_ALONE		16
#define GPB_MOST_ALONE		1024

/* A joined launch in flight, and its staging */
typedef struct GpbJoined
{
	bool		used;
	int			channel;
	char	   *staging;		/* GPB_JOINED_STAGING bytes */
	GpbRangesSpec spec;
} GpbJoined;

/* What is known of how joining pays, by registry slot */
typedef struct GpbJoinRecord
{
	uint32		alone;			/* requests still to be launched alone */
	uint32		next_alone;		/* how many are to be, if it does not pay again */
} GpbJoinRecord;

/*
 * What the last aggregate or ranges on a channel left to fetch, by GpbFetchWhat; only the slot's
 * claim that asked for it may fetch it.
 */
typedef struct GpbLists
{
	uint64		generation;		/* of the slot's claim */
	uint64		records[GPB_FETCH_KINDS];
	int			width[GPB_FETCH_KINDS];	/* bytes of a record */
} GpbLists;

static GpbLists *lists_left = NULL;
static GpbJoined joined[GPB_JOINED_BUFFERS];
static GpbJoinRecord join_records[GPB_MIRRORS];
static bool *is_busy = NULL;	/* by query slot: waiting here, or in a joined launch */
static int *waiting = NULL;		/* query slots whose requests are to be launched */
static int	nwaiting = 0;
static int	small_in_flight = 0;	/* launches of requests that might have been joined */

void
gpb_ranges_init(void)
{
	int			n = gpb_slot_count(GPB_QUERY_SLOT);
	int			i;

	is_busy = MemoryContextAllocZero(TopMemoryContext, n * sizeof(bool));
	waiting = MemoryContextAllocZero(TopMemoryContext, n * sizeof(int));
	lists_left = MemoryContextAllocZero(TopMemoryContext,
										gpb_channels_needed() * sizeof(GpbLists));
	for (i = 0; i < GPB_JOINED_BUFFERS; i++)
		joined[i].staging = gpb_joined_staging(gpb_service_device, i);
}

/* Has the query slot ranges that are not answered yet, so that nobody may free the slot? */
bool
gpb_ranges_has_slot(int number)
{
	return is_busy[number];
}

/* ---- lists ---- */

/* Let the slot's present claim have nothing to fetch, until ranges leave something. */
static void
lists_begin(int number)
{
	const GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, number);
	GpbLists   *lists = &lists_left[gpb_query_channel(number)];
	GpbAnswerFormat format;

	gpb_answer_format(&slot->ranges.program, &format);
	memset(lists, 0, sizeof(*lists));
	lists->generation = slot->generation;
	lists->width[GPB_FETCH_PIECES] = gpb_piece_width(slot->ranges.program.layout.key_width);
	lists->width[GPB_FETCH_ENTRIES] = gpb_entry_record_width(&slot->ranges.program.layout);
	lists->width[GPB_FETCH_BLOCKS] = sizeof(uint32);
	lists->width[GPB_FETCH_GROUPS] = gpb_group_width(&slot->ranges.program, &format);
}

/* Copy records that the slot's ranges left behind to its staging. */
bool
gpb_serve_fetch(int channel, const GpbRequestSlot *slot, char *staging, Size size)
{
	const GpbLists *lists = &lists_left[channel];
	GpbDeviceStatus status;
	uint64		have;

	if (slot->incarnation != gpb_incarnation || slot->generation != lists->generation ||
		(uint32) slot->what >= GPB_FETCH_KINDS)
		return false;
	have = lists->records[slot->what];
	if (slot->offset > have || slot->n > have - slot->offset || slot->into > size ||
		slot->n * lists->width[slot->what] > size - slot->into)
		return false;
	status = gpb_api->fetch(gpb_device, channel, slot->what, slot->offset, slot->n,
							staging + slot->into);
	gpb_device_check(status);
	return status == GPB_DEVICE_OK;
}

/* ---- one request ---- */

/* The bytes that the spec's ranges and answers take, and behind them words of long tables */
static Size
spec_bytes(const GpbRangesSpec *spec)
{
	return gpb_request_more_offset(spec) + gpb_more_words(&spec->program) * sizeof(int64);
}

/*
 * May the request be joined with others?  A program that lists does not have one answer to each
 * range, bits that were sent are on the slot's channel, and a fault belongs to whoever asked.
 */
static bool
may_join(const GpbRequestSlot *slot)
{
	const GpbRangesSpec *spec = &slot->ranges;

	return !spec->program.list_entries && gpb_program_is_plain(&spec->program) &&
		spec->n > 0 && spec->n <= GPB_JOINED_RANGES &&
		gpb_count_answers(spec) == spec->n &&
		(slot->image != 0 || spec->heap_blocks == 0) &&
		spec_bytes(spec) <= GPB_JOINED_STAGING / 2;
}

static bool
launch_on(int channel, const GpbRequestSlot *slot, const GpbRangesSpec *spec, char *staging)
{
	GpbDeviceMirror *mirror = gpb_full_mirror(slot);
	const uint32 *changed;
	uint32		nblocks;
	GpbDeviceStatus status;

	if (mirror == NULL || !gpb_read_changed(slot, &changed, &nblocks) ||
		!gpb_give_bits(channel, slot))
		return false;
	/* answers take the place of the ranges */
	status = gpb_api->ranges_launch(gpb_device, mirror, channel, spec, staging, staging,
									changed, nblocks);
	gpb_device_check(status);
	if (status != GPB_DEVICE_OK)
		return false;
	gpb_bits_in_flight(channel);
	return true;
}

/* Launch the request in a query slot by itself, or answer that it failed. */
static void
launch_alone(int number)
{
	GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, number);
	int			channel = gpb_query_channel(number);
	char	   *staging = gpb_pool_staging(slot);

	is_busy[number] = false;
	lists_begin(number);
	/*
	 * The words of long tables belong to the launch as the ranges do: the slot is RUNNING, so
	 * nobody else writes or frees its staging until the launch is complete, and what is fetched
	 * overwrites them only then (rule M3).
	 */
	if (gpb_more_words(&slot->ranges.program) > 0)
		slot->ranges.program.tables.more =
			(const int64 *) (staging + gpb_request_more_offset(&slot->ranges));
	if (spec_bytes(&slot->ranges) > slot->nunits * GPB_POOL_UNIT ||
		!launch_on(channel, slot, &slot->ranges, staging))
	{
		gpb_answer_query(number, false);
		return;
	}
	small_in_flight += may_join(slot);
	gpb_note_launch(GPB_RANGES_LAUNCHED, channel, &number, 1);
}

/* Begin the request of ranges that was found in a query slot. */
void
gpb_ranges_submitted(int number)
{
	GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, number);

	if (!gpb_request_is_valid(slot))
		gpb_answer_query(number, false);
	else if (may_join(slot) && spec_bytes(&slot->ranges) <= slot->nunits * GPB_POOL_UNIT)
	{
		is_busy[number] = true;
		waiting[nwaiting++] = number;
	}
	else
		launch_alone(number);
}

/* ---- joining ---- */

/* Do the two slots ask the same of the same mirror, each of its own ranges? */
static bool
can_join(const GpbRequestSlot *a, const GpbRequestSlot *b)
{
	return a->mirror == b->mirror && a->mirror_generation == b->mirror_generation &&
		a->ranges.form == b->ranges.form && a->ranges.heap_blocks == b->ranges.heap_blocks &&
		a->ranges.exceptions == b->ranges.exceptions &&
		gpb_map_image_number(a) == gpb_map_image_number(b) &&
		gpb_program_equal(&a->ranges.program, &b->ranges.program);
}

/* Is the request to be launched alone, since joining has not paid for its mirror lately? */
static bool
is_to_be_alone(const GpbRequestSlot *slot)
{
	GpbJoinRecord *record = &join_records[slot->mirror];

	if (record->alone == 0)
		return false;
	record->alone--;
	return true;
}

static GpbJoined *
free_buffer(void)
{
	int			i;

	for (i = 0; i < GPB_JOINED_BUFFERS; i++)
	{
		if (!joined[i].used)
			return &joined[i];
	}
	return NULL;
}

/*
 * Gather the waiting requests that can be joined with the first one, which are taken out of the
 * list.  Returns their number.
 */
static int
gather(GpbJoined *join, int *numbers)
{
	const GpbRequestSlot *leader = gpb_own_slot(GPB_QUERY_SLOT, waiting[0]);
	int			width = gpb_range_width(leader->ranges.form,
										leader->ranges.program.layout.key_width);
	int			n = 0;
	int			left = 0;
	int			i;

	gpb_ranges_spec_copy(&join->spec, &leader->ranges);
	join->spec.total = false;
	join->spec.n = 0;
	for (i = 0; i < nwaiting; i++)
	{
		int			number = waiting[i];
		const GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, number);
		uint32		before = join->spec.n;

		join->spec.n += slot->ranges.n;
		if (n == GPB_SEARCH_PIECES || !can_join(leader, slot) ||
			spec_bytes(&join->spec) > GPB_JOINED_STAGING)
		{
			join->spec.n = before;
			waiting[left++] = number;
			continue;
		}
		memcpy(join->staging + (Size) before * width, gpb_pool_staging(slot),
			   (Size) slot->ranges.n * width);
		join->spec.epoch = Min(join->spec.epoch, slot->ranges.epoch);
		numbers[n++] = number;
	}
	nwaiting = left;
	return n;
}

/* Launch the first of the waiting requests, with those that can be joined with it. */
static void
launch_first(GpbJoined *join)
{
	int			numbers[GPB_SEARCH_PIECES];
	int			n = gather(join, numbers);
	const GpbRequestSlot *leader = gpb_own_slot(GPB_QUERY_SLOT, numbers[0]);
	int			i;

	join->channel = gpb_query_channel(numbers[0]);
	if (n > 1 && launch_on(join->channel, leader, &join->spec, join->staging))
	{
		join->used = true;
		small_in_flight++;
		gpb_note_launch(GPB_JOINED_RANGES_LAUNCHED, join->channel, numbers, n);
		GPB_HOLD_SERVICE("joined");
		return;
	}
	for (i = 0; i < n; i++)
		launch_alone(numbers[i]);
}

/* Take the first request out of the list. */
static int
take_first(void)
{
	int			number = waiting[0];

	nwaiting--;
	memmove(waiting, waiting + 1, nwaiting * sizeof(int));
	return number;
}

/* Has the first of the waiting requests waited long since it was submitted? */
static bool
has_waited_long(void)
{
	instr_time	waited;

	INSTR_TIME_SET_CURRENT(waited);
	INSTR_TIME_SUBTRACT(waited, gpb_own_slot(GPB_QUERY_SLOT, waiting[0])->submitted);
	return INSTR_TIME_GET_MICROSEC(waited) > GPB_LONG_WAIT_US;
}

/*
 * Launch the requests that wait.  Returns false if none was.  A request whose backend has gone is
 * dropped.
 */
bool
gpb_launch_ranges(void)
{
	bool		launched = false;

	while (nwaiting > 0 && (small_in_flight < GPB_FEW_LAUNCHES || has_waited_long()))
	{
		GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, waiting[0]);
		GpbJoined  *join = free_buffer();

		launched = true;
		if (pg_atomic_read_u32(&slot->state) == GPB_SLOT_ABANDONED)
		{
			int			number = take_first();

			is_busy[number] = false;
			gpb_answer_query(number, false);
		}
		else if (join == NULL || is_to_be_alone(slot))
			launch_alone(take_first());
		else
			launch_first(join);
		gpb_heartbeat();
	}
	return launched;
}

/* ---- completing ---- */

/*
 * Copy the first groups that a request left to its staging, as many as half of that holds: its
 * backend takes them next, and is spared a request.  Returns how many were copied.
 */
static uint64
stage_groups(int channel, const GpbRequestSlot *slot)
{
	const GpbLists *lists = &lists_left[channel];
	Size		half = slot->nunits * GPB_POOL_UNIT / 2;
	uint64		n = Min(lists->records[GPB_FETCH_GROUPS],
						(uint64) half / lists->width[GPB_FETCH_GROUPS]);
	GpbDeviceStatus status;

	if (n == 0 || slot->ranges_result.faults != 0 || slot->ranges_result.unheld != 0)
		return 0;
	status = gpb_api->fetch(gpb_device, channel, GPB_FETCH_GROUPS, 0, n, gpb_pool_staging(slot));
	gpb_device_check(status);
	return status == GPB_DEVICE_OK ? n : 0;
}

/* Finish the launch of a request by itself, which has ended, and answer it. */
void
gpb_ranges_completed(int channel, int number)
{
	GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, number);
	GpbLists   *lists = &lists_left[channel];
	GpbDeviceStatus status = gpb_api->ranges_finish(gpb_device, channel, &slot->ranges_result);

	gpb_device_check(status);
	gpb_bits_done(channel);
	if (status == GPB_DEVICE_OK)
	{
		lists->records[GPB_FETCH_PIECES] = slot->ranges_result.unclean;
		lists->records[GPB_FETCH_ENTRIES] = slot->ranges_result.entries;
		lists->records[GPB_FETCH_BLOCKS] = gpb_count_block_words(&slot->ranges);
		lists->records[GPB_FETCH_GROUPS] = slot->ranges_result.groups;
		slot->staged_groups = stage_groups(channel, slot);
	}
	if (may_join(slot))
		small_in_flight--;
	gpb_answer_query(number, status == GPB_DEVICE_OK);
}

/* Mark the requests to which records of a joined launch belong; false if that cannot be told. */
static bool
mark_concerned(const GpbJoined *join, const GpbLaunch *launch, GpbFetchWhat what, uint64 n,
			   bool *concerned)
{
	static char *records = NULL;
	int			most = gpb_entry_width(GPB_WIDE_KEY, GPB_PAGE_SPACE);
	const GpbLayout *layout = &join->spec.program.layout;
	int			width = what == GPB_FETCH_PIECES ? gpb_piece_width(layout->key_width) :
		gpb_entry_record_width(layout);
	GpbDeviceStatus status;
	uint64		i;

	if (n > GPB_JOINED_RECORDS)
		return false;
	if (n == 0)
		return true;
	if (records == NULL)
		records = MemoryContextAlloc(TopMemoryContext, (Size) GPB_JOINED_RECORDS * most);
	status = gpb_api->fetch(gpb_device, join->channel, what, 0, n, records);
	gpb_device_check(status);
	if (status != GPB_DEVICE_OK)
		return false;
	for (i = 0; i < n; i++)
	{
		const char *record = records + i * width;
		uint32		range = what == GPB_FETCH_PIECES ?
			gpb_piece_at(record, 0, layout->key_width).number :
			((const GpbRangeEntry *) record)->number;
		int			j = 0;

		for (; range >= gpb_own_slot(GPB_QUERY_SLOT, launch->number[j])->ranges.n; j++)
			range -= gpb_own_slot(GPB_QUERY_SLOT, launch->number[j])->ranges.n;
		concerned[j] = true;
	}
	return true;
}

/* Remember whether joining paid for the mirror: for less than half of the requests it did not. */
static void
note_join(int mirror, int nslots, int nconcerned)
{
	GpbJoinRecord *record = &join_records[mirror];

	if (nconcerned * 2 <= nslots)
	{
		record->next_alone = 0;
		return;
	}
	record->next_alone = Min(Max(2 * record->next_alone, GPB_LEAST_ALONE), GPB_MOST_ALONE);
	record->alone = record->next_alone;
}

/* Give each request its answers, and launch those that have records, or all if it failed, alone. */
static void
answer_joined(const GpbJoined *join, const GpbLaunch *launch, const bool *concerned,
			  const GpbRangesResult *result)
{
	GpbAnswerFormat format;
	Size		width;
	uint32		first = 0;
	int			i;

	gpb_answer_format(&join->spec.program, &format);
	width = gpb_answer_width(&format);
	for (i = 0; i < launch->nslots; i++)
	{
		int			number = launch->number[i];
		GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, number);
		uint32		n = slot->ranges.n;

		if (concerned[i])
			launch_alone(number);
		else
		{
			memcpy(gpb_pool_staging(slot), join->staging + first * width, n * width);
			memset(&slot->ranges_result, 0, sizeof(slot->ranges_result));
			slot->ranges_result.leaves = result->leaves / launch->nslots;
			is_busy[number] = false;
			lists_begin(number);
			gpb_answer_query(number, true);
		}
		first += n;
	}
}

/*
 * Answer the requests of a joined launch, which has ended.  Their slots were nobody else's until
 * now: so their ranges, which say what belongs to whom, are those that were gathered.
 */
void
gpb_ranges_joined_completed(const GpbLaunch *launch)
{
	int			channel = gpb_query_channel(launch->number[0]);
	GpbJoined  *join = joined;
	bool		concerned[GPB_SEARCH_PIECES] = {false};
	int			nconcerned = 0;
	int			mirror = gpb_own_slot(GPB_QUERY_SLOT, launch->number[0])->mirror;
	GpbRangesResult result;
	GpbDeviceStatus status;
	int			i;

	while (!join->used || join->channel != channel)
		join++;
	memset(&result, 0, sizeof(result));
	status = gpb_api->ranges_finish(gpb_device, channel, &result);
	gpb_device_check(status);
	gpb_bits_done(channel);
	small_in_flight--;
	if (status != GPB_DEVICE_OK ||
		!mark_concerned(join, launch, GPB_FETCH_PIECES, result.unclean, concerned) ||
		!mark_concerned(join, launch, GPB_FETCH_ENTRIES, result.entries, concerned))
		memset(concerned, true, sizeof(concerned));
	for (i = 0; i < launch->nslots; i++)
		nconcerned += concerned[i];
	note_join(mirror, launch->nslots, nconcerned);
	answer_joined(join, launch, concerned, &result);
	join->used = false;
}
