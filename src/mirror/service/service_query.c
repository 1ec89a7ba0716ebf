/*-------------------------------------------------------------------------
 *
 * service_query.c
 *	  The service's queries: aggregates, batches of ranges and of searches.
 *
 * Nothing here waits for the device.  A look over the slots launches what it finds; what is
 * launched is a flight, on a channel of the device; every look polls all flights and answers those
 * that have ended.  A slot whose backend has gone while the device works for it stays
 * ABANDONED until its flights have ended, because until then the device reads and writes its staging
 * (rule M3).
 *
 * Channels: one for each query slot, one for each batch slot (they keep visibility bits
 * and lists between a slot's requests), and a few spare ones for the second bucket of a large search.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/service.h"

#include "hold.h"
#include "utils/memutils.h"

#define GPB_SPARE_CHANNELS	4

/* What is launched on a channel */
typedef struct GpbFlight
{
	GpbFlightKind kind;
	int			nslots;
	int			number[GPB_SEARCH_PIECES];	/* of the query slot, or of batch slots */
} GpbFlight;

/*
 * What a channel's last aggregate or ranges left to fetch, by GpbFetchWhat; for those alone who asked
 * for it.
 */
typedef struct GpbLists
{
	uint64		generation;		/* of the slot's claim */
	uint64		records[GPB_FETCH_ENTRIES + 1];
	int			width[GPB_FETCH_ENTRIES + 1];	/* bytes of a record */
} GpbLists;

static GpbFlight *gpb_flights = NULL;	/* by channel */
static GpbLists *gpb_lists = NULL;
static int	gpb_nflying = 0;
static int	gpb_first_batch = 0;	/* where the next look begins */

int
gpb_channels_needed(void)
{
	return gpb_slot_count(GPB_QUERY_SLOT) + gpb_slot_count(GPB_BATCH_SLOT) + GPB_SPARE_CHANNELS;
}

int
gpb_batch_channel(int number)
{
	return gpb_slot_count(GPB_QUERY_SLOT) + number;
}

bool
gpb_channel_is_free(int channel)
{
	return gpb_flights[channel].kind == GPB_NO_FLIGHT;
}

/* A spare channel on which nothing flies; -1: there is none. */
int
gpb_spare_channel(void)
{
	int			channel;

	for (channel = gpb_channels_needed() - GPB_SPARE_CHANNELS; channel < gpb_channels_needed();
		 channel++)
	{
		if (gpb_channel_is_free(channel))
			return channel;
	}
	return -1;
}

void
gpb_queries_init(void)
{
	int			n = gpb_channels_needed();

	gpb_flights = MemoryContextAllocZero(TopMemoryContext, n * sizeof(GpbFlight));
	gpb_lists = MemoryContextAllocZero(TopMemoryContext, n * sizeof(GpbLists));
	gpb_searches_init();
}

/* ---- launching ---- */

/* A launch for these slots has succeeded. */
void
gpb_take_off(GpbFlightKind kind, int channel, const int *numbers, int n)
{
	GpbFlight  *flight = &gpb_flights[channel];

	Assert(flight->kind == GPB_NO_FLIGHT);
	flight->kind = kind;
	flight->nslots = n;
	memcpy(flight->number, numbers, n * sizeof(int));
	gpb_nflying++;
	if (kind == GPB_AGGREGATE_FLIGHT)
		return;
	pg_atomic_fetch_add_u64(&gpb_shared->statistics.launches, 1);
	if (n > 1)
		pg_atomic_fetch_add_u64(&gpb_shared->statistics.joined, 1);
}

/*
 * Rule M4's "read at launch": the changed map first (changed, barrier, in-flight), then whether the
 * mirror is still live.  If it is, it was while the map was read, so every writer up to then found its tag
 * and left its mark.  NULL: it is not.  The map is valid until the next call.
 */
const uint32 *
gpb_read_changed(const GpbRequestSlot *slot, uint32 *nblocks)
{
	static uint32 *bits = NULL;
	static uint32 bits_size = 0;

	*nblocks = pg_atomic_read_u32(&gpb_shared->mirrors[slot->mirror].nblocks);
	if (bits == NULL || gpb_map_words(*nblocks) > bits_size)
	{
		if (bits != NULL)
			pfree(bits);
		bits_size = Max(gpb_map_words(*nblocks), 1);
		bits = MemoryContextAllocHuge(TopMemoryContext, (Size) bits_size * sizeof(uint32));
	}
	gpb_map_read(slot->mirror, *nblocks, bits);
	pg_memory_barrier();
	return gpb_mirror_is_live(slot->mirror, slot->mirror_generation) ? bits : NULL;
}

static bool
gpb_launch_aggregate(int channel, GpbRequestSlot *slot)
{
	GpbDeviceMirror *mirror = gpb_full_mirror(slot);
	GpbLists   *lists = &gpb_lists[channel];
	const uint32 *changed;
	uint32		nblocks;
	GpbDeviceStatus status;

	memset(lists, 0, sizeof(*lists));
	lists->generation = slot->generation;
	if (mirror == NULL)
		return false;
	changed = gpb_read_changed(slot, &nblocks);
	if (changed == NULL)
		return false;
	status = gpb_api->aggregate_launch(gpb_device, mirror, channel, &slot->spec, changed,
									   nblocks);
	gpb_device_check(status);
	lists->width[GPB_FETCH_UNCLEAN] = sizeof(GpbUncleanLeaf);
	lists->width[GPB_FETCH_HEAP] = gpb_heap_entry_width(slot->spec.layout.row_width);
	return status == GPB_DEVICE_OK;
}

static bool
gpb_launch_ranges(int channel, GpbRequestSlot *slot, int number)
{
	const GpbRangesSpec *spec = &slot->ranges;
	GpbDeviceMirror *mirror = gpb_full_mirror(slot);
	GpbLists   *lists = &gpb_lists[channel];
	Size		width = spec->points ? sizeof(uint64) : sizeof(GpbKeyRange);
	const uint32 *changed;
	uint32		nblocks;
	GpbDeviceStatus status;

	memset(lists, 0, sizeof(*lists));
	lists->generation = slot->generation;
	if (mirror == NULL || gpb_api->ranges_launch == NULL ||
		(uint64) spec->n * width > slot->nunits * GPB_POOL_UNIT)
		return false;
	changed = gpb_read_changed(slot, &nblocks);
	if (changed == NULL)
		return false;
	status = gpb_api->ranges_launch(gpb_device, mirror, channel, spec, gpb_pool_staging(slot),
									changed, nblocks);
	gpb_device_check(status);
	if (status != GPB_DEVICE_OK)
		return false;
	lists->width[GPB_FETCH_ANSWERS] = gpb_range_answer_width(spec->want);
	lists->width[GPB_FETCH_PIECES] = sizeof(GpbUncleanPiece);
	lists->width[GPB_FETCH_ENTRIES] = gpb_range_entry_width(spec->layout.row_width);
	gpb_take_off(GPB_RANGES_FLIGHT, channel, &number, 1);
	return true;
}

/* ---- what is done at once ---- */

static bool
gpb_serve_visibility(int channel, GpbRequestSlot *slot, const char *staging, Size size)
{
	GpbDeviceStatus status;

	if (slot->incarnation != gpb_incarnation || slot->n > size)
		return false;
	status = gpb_api->set_visibility(gpb_device, channel, slot->offset, staging, slot->n);
	gpb_device_check(status);
	return status == GPB_DEVICE_OK;
}

static bool
gpb_serve_fetch(int channel, GpbRequestSlot *slot, char *staging, Size size)
{
	const GpbLists *lists = &gpb_lists[channel];
	GpbDeviceStatus status;
	uint64		have;

	if (slot->incarnation != gpb_incarnation || slot->generation != lists->generation ||
		(uint32) slot->what > GPB_FETCH_ENTRIES)
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

/* Requests whose backends have gone did not fail over. */
static bool
gpb_count_answer(GpbRequestSlot *slot, bool ok)
{
	if (!ok && pg_atomic_read_u32(&slot->state) != GPB_SLOT_ABANDONED)
		pg_atomic_fetch_add_u64(&gpb_shared->statistics.failed_over, 1);
	return ok;
}

/*
 * Answer a batch slot, counting what it asked for: keys of searches, and keys or ranges that were
 * to be aggregated or listed.
 */
void
gpb_answer_batch(int number, bool ok)
{
	GpbRequestSlot *slot = gpb_slot_at(GPB_BATCH_SLOT, number);
	GpbStatistics *statistics = &gpb_shared->statistics;

	if (ok && slot->op == GPB_OP_SEARCH)
		pg_atomic_fetch_add_u64(&statistics->keys, slot->search.n);
	if (ok && slot->op == GPB_OP_RANGES)
		pg_atomic_fetch_add_u64(slot->ranges.points ? &statistics->keys : &statistics->ranges,
								slot->ranges.n);
	if (ok && (slot->op == GPB_OP_SEARCH || slot->op == GPB_OP_RANGES))
		pg_atomic_fetch_add_u64(&statistics->batches, 1);
	gpb_slot_answer(GPB_BATCH_SLOT, slot, gpb_count_answer(slot, ok));
}

static void
gpb_serve_query(int channel, GpbRequestSlot *slot)
{
	char	   *staging = gpb_slot_staging(GPB_QUERY_SLOT, channel);
	Size		size = gpb_slot_staging_size(GPB_QUERY_SLOT);
	bool		ok = false;

	switch (slot->op)
	{
		case GPB_OP_VISIBILITY:
			ok = gpb_serve_visibility(channel, slot, staging, size);
			break;
		case GPB_OP_FETCH:
			ok = gpb_serve_fetch(channel, slot, staging, size);
			break;
		case GPB_OP_AGGREGATE:
			if (gpb_launch_aggregate(channel, slot))
			{
				gpb_take_off(GPB_AGGREGATE_FLIGHT, channel, &channel, 1);
				return;
			}
			break;
		default:
			break;
	}
	gpb_slot_answer(GPB_QUERY_SLOT, slot, gpb_count_answer(slot, ok));
}

static void
gpb_serve_batch(int number, GpbRequestSlot *slot)
{
	int			channel = gpb_batch_channel(number);
	char	   *staging = gpb_pool_staging(slot);
	Size		size = slot->nunits * GPB_POOL_UNIT;
	bool		ok = false;

	switch (slot->op)
	{
		case GPB_OP_VISIBILITY:
			ok = gpb_serve_visibility(channel, slot, staging, size);
			break;
		case GPB_OP_FETCH:
			ok = gpb_serve_fetch(channel, slot, staging, size);
			break;
		case GPB_OP_SEARCH:
			gpb_search_submitted(number);
			return;
		case GPB_OP_RANGES:
			if (gpb_launch_ranges(channel, slot, number))
				return;
			break;
		default:
			break;
	}
	gpb_answer_batch(number, ok);
}

/* ---- looking over the slots ---- */

/*
 * Take the slot if something was submitted in it.  One abandoned for which nothing flies is freed; an
 * abandoned one with flights is freed by whoever answers it.
 */
static bool
gpb_take_submitted(GpbSlotClass class, GpbRequestSlot *slot, bool busy)
{
	uint32		expected = GPB_SLOT_SUBMITTED;
	uint32		state = pg_atomic_read_u32(&slot->state);

	if (state == GPB_SLOT_ABANDONED && !busy)
		gpb_slot_free(class, slot);
	return state == GPB_SLOT_SUBMITTED &&
		pg_atomic_compare_exchange_u32(&slot->state, &expected, GPB_SLOT_RUNNING);
}

static bool
gpb_look_at_queries(void)
{
	bool		worked = false;
	int			i;

	for (i = 0; i < gpb_slot_count(GPB_QUERY_SLOT); i++)
	{
		GpbRequestSlot *slot = gpb_slot_at(GPB_QUERY_SLOT, i);

		if (!gpb_take_submitted(GPB_QUERY_SLOT, slot, !gpb_channel_is_free(i)))
			continue;
		gpb_serve_query(i, slot);
		gpb_heartbeat();
		worked = true;
	}
	return worked;
}

/* Each look begins one slot further, so that no slot is always the first. */
static bool
gpb_look_at_batches(void)
{
	int			n = gpb_slot_count(GPB_BATCH_SLOT);
	bool		worked = false;
	int			i;

	GPB_HOLD_SERVICE("batches");
	gpb_first_batch = (gpb_first_batch + 1) % n;
	for (i = 0; i < n; i++)
	{
		int			number = (gpb_first_batch + i) % n;
		GpbRequestSlot *slot = gpb_slot_at(GPB_BATCH_SLOT, number);
		bool		busy = gpb_search_has_slot(number) ||
		!gpb_channel_is_free(gpb_batch_channel(number));

		if (!gpb_take_submitted(GPB_BATCH_SLOT, slot, busy))
			continue;
		gpb_serve_batch(number, slot);
		gpb_heartbeat();
		worked = true;
	}
	return gpb_launch_searches() || worked;
}

/* ---- landing ---- */

/* Has it ended, so that finish does not wait?  A device that cannot say is waited for. */
static bool
gpb_has_ended(int channel)
{
	bool		ended = true;

	if (gpb_api->poll != NULL)
		gpb_device_check(gpb_api->poll(gpb_device, channel, &ended));
	return ended;
}

static void
gpb_land_aggregate(int channel, GpbRequestSlot *slot)
{
	GpbLists   *lists = &gpb_lists[channel];
	GpbDeviceStatus status = gpb_api->aggregate_finish(gpb_device, channel, &slot->result,
													   slot->sums);

	gpb_device_check(status);
	if (status == GPB_DEVICE_OK)
	{
		lists->records[GPB_FETCH_UNCLEAN] = slot->result.unclean;
		lists->records[GPB_FETCH_HEAP] = slot->result.heap;
		pg_atomic_fetch_add_u64(&gpb_shared->statistics.requests, 1);
	}
	gpb_slot_answer(GPB_QUERY_SLOT, slot, gpb_count_answer(slot, status == GPB_DEVICE_OK));
}

static void
gpb_land_ranges(int channel, int number)
{
	GpbRequestSlot *slot = gpb_slot_at(GPB_BATCH_SLOT, number);
	GpbLists   *lists = &gpb_lists[channel];
	GpbDeviceStatus status = gpb_api->ranges_finish(gpb_device, channel, &slot->ranges_result);

	gpb_device_check(status);
	if (status == GPB_DEVICE_OK)
	{
		lists->records[GPB_FETCH_ANSWERS] = slot->ranges.list_entries ? 0 : slot->ranges.n;
		lists->records[GPB_FETCH_PIECES] = slot->ranges_result.unclean;
		lists->records[GPB_FETCH_ENTRIES] = slot->ranges_result.entries;
	}
	gpb_answer_batch(number, status == GPB_DEVICE_OK);
}

static void
gpb_land_searches(int channel, const GpbFlight *flight)
{
	GpbDeviceStatus status = gpb_api->search_finish(gpb_device, channel);
	int			i;

	gpb_device_check(status);
	for (i = 0; i < flight->nslots; i++)
		gpb_search_landed(flight->number[i], status == GPB_DEVICE_OK);
}

/* Finish what has ended on the channel and answer. */
static void
gpb_land(int channel)
{
	GpbFlight	flight = gpb_flights[channel];

	gpb_flights[channel].kind = GPB_NO_FLIGHT;
	gpb_nflying--;
	if (flight.kind == GPB_AGGREGATE_FLIGHT)
		gpb_land_aggregate(channel, gpb_slot_at(GPB_QUERY_SLOT, channel));
	else if (flight.kind == GPB_RANGES_FLIGHT)
		gpb_land_ranges(channel, flight.number[0]);
	else
		gpb_land_searches(channel, &flight);
}

/* Poll each flight once. */
static void
gpb_poll_flights(void)
{
	int			n = gpb_channels_needed();
	int			channel;

	for (channel = 0; channel < n && gpb_nflying > 0; channel++)
	{
		if (gpb_flights[channel].kind == GPB_NO_FLIGHT)
			continue;
		if (gpb_has_ended(channel))
			gpb_land(channel);
		gpb_heartbeat();
	}
}

/*
 * One look over the slots and the flights.  False: nothing was found, and nothing flies.
 */
bool
gpb_serve_queries(void)
{
	bool		worked = gpb_look_at_queries();

	worked = gpb_look_at_batches() || worked;
	worked = gpb_nflying > 0 || worked;
	gpb_poll_flights();
	return worked;
}
