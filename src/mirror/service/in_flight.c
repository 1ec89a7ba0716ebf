/*-------------------------------------------------------------------------
 *
 * in_flight.c
 *	  Requests in flight: channels of the device, what was launched on them, and answers.
 *
 * Channels: one for each query slot (they keep visibility bits and lists between a slot's
 * requests), and a few spare ones for the second chunk of a large search.  At most one launch is in
 * flight on a channel.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/in_flight.h"

#include "utils/memutils.h"

#include "mirror/map/changed_map.h"
#include "mirror/map/registry.h"
#include "mirror/service/served.h"
#include "mirror/service/service.h"
#include "mirror/service/service_device.h"
#include "mirror/slots.h"
#include "mirror/statistics.h"

#define GPB_SPARE_CHANNELS	4

static GpbLaunch *launches = NULL;	/* by channel */
static int	launches_in_flight = 0;

/* ---- channels ---- */

int
gpb_channels_needed(void)
{
	return gpb_slot_count(GPB_QUERY_SLOT) + GPB_SPARE_CHANNELS;
}

void
gpb_in_flight_init(void)
{
	launches = MemoryContextAllocZero(TopMemoryContext,
									  gpb_channels_needed() * sizeof(GpbLaunch));
}

int
gpb_query_channel(int number)
{
	return number;
}

bool
gpb_channel_is_free(int channel)
{
	return launches[channel].kind == GPB_NOTHING_LAUNCHED;
}

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

/* ---- launches ---- */

/*
 * Read what rule M4 wants "read at launch": the changed map first (changed, barrier, in-flight),
 * then whether the mirror is still live.  If it is, it was live while the map was read, so every
 * writer up to then found its tag and left its mark.  Returns false if the mirror is not live.
 * *changed is NULL if no bit is set, else valid until the next call.  Both are of the blocks as the
 * device knows them.
 */
bool
gpb_read_changed(const GpbRequestSlot *slot, const uint32 **changed, uint32 *nblocks)
{
	static uint32 *bits = NULL;
	static uint32 bits_size = 0;

	*nblocks = pg_atomic_read_u32(&gpb_registry->mirrors[slot->mirror].nblocks);
	if (bits == NULL || gpb_map_words(*nblocks) > bits_size)
	{
		if (bits != NULL)
			pfree(bits);
		bits_size = Max(gpb_map_words(*nblocks), 1);
		bits = MemoryContextAllocHuge(TopMemoryContext, (Size) bits_size * sizeof(uint32));
	}
	*changed = gpb_map_read(slot->mirror, *nblocks, bits) ? bits : NULL;
	if (gpb_served_images(slot) != NULL)
		*changed = gpb_piece_changed(gpb_served_images(slot), *changed, *nblocks, nblocks);
	pg_memory_barrier();
	return gpb_mirror_is_live(slot->mirror, slot->mirror_generation);
}

/* Does the slot ask for a range aggregate, which statistics count apart? */
static bool
slot_is_aggregate(const GpbRequestSlot *slot)
{
	return slot->op == GPB_OP_RANGES && gpb_is_aggregate(slot->ranges.form, slot->ranges.n);
}

/* Note that a launch for these n slots has succeeded: it is in flight on the channel. */
void
gpb_note_launch(GpbLaunchKind kind, int channel, const int *numbers, int n)
{
	GpbLaunch  *launch = &launches[channel];

	Assert(launch->kind == GPB_NOTHING_LAUNCHED);
	launch->kind = kind;
	launch->nslots = n;
	memcpy(launch->number, numbers, n * sizeof(int));
	launches_in_flight++;
	if (kind == GPB_SORT_LAUNCHED ||
		(kind == GPB_RANGES_LAUNCHED &&
		 slot_is_aggregate(gpb_own_slot(GPB_QUERY_SLOT, numbers[0]))))
		return;
	pg_atomic_fetch_add_u64(&gpb_statistics->launches, 1);
	if (n > 1)
		pg_atomic_fetch_add_u64(&gpb_statistics->joined, 1);
}

/* Is anything in flight, on any channel? */
bool
gpb_any_in_flight(void)
{
	return launches_in_flight > 0;
}

/* Has what is in flight on the channel ended, so that its finish does not wait? */
bool
gpb_has_ended(int channel)
{
	bool		ended = true;

	gpb_device_check(gpb_api->poll(gpb_device, channel, &ended));
	return ended;
}

/*
 * Take what is in flight on a channel from it: it has ended and is about to be finished and
 * answered.
 */
GpbLaunch
gpb_take_launch(int channel)
{
	GpbLaunch	launch = launches[channel];

	Assert(launch.kind != GPB_NOTHING_LAUNCHED);
	launches[channel].kind = GPB_NOTHING_LAUNCHED;
	launches_in_flight--;
	return launch;
}

/* ---- answers ---- */

/*
 * Count a request that failed, unless its backend has gone: that one did not fail over.  Returns
 * ok.
 */
static bool
count_answer(GpbRequestSlot *slot, bool ok)
{
	if (!ok && pg_atomic_read_u32(&slot->state) != GPB_SLOT_ABANDONED)
		pg_atomic_fetch_add_u64(&gpb_statistics->failed_over, 1);
	return ok;
}

/*
 * Answer a query slot, counting what it asked for: keys of searches, keys or ranges that were to be
 * aggregated or listed, and records to be sorted.
 */
void
gpb_answer_query(int number, bool ok)
{
	GpbRequestSlot *slot = gpb_own_slot(GPB_QUERY_SLOT, number);

	if (ok && slot_is_aggregate(slot))
		pg_atomic_fetch_add_u64(&gpb_statistics->requests[gpb_service_device], 1);
	else if (ok && (slot->op == GPB_OP_SORT_FIRST || slot->op == GPB_OP_SORT_ADD))
		pg_atomic_fetch_add_u64(&gpb_statistics->sorted, slot->n);
	else if (ok && (slot->op == GPB_OP_SEARCH || slot->op == GPB_OP_RANGES))
	{
		if (slot->op == GPB_OP_SEARCH)
			pg_atomic_fetch_add_u64(&gpb_statistics->keys, slot->search.n);
		else
			pg_atomic_fetch_add_u64(slot->ranges.form == GPB_RANGE_POINTS ?
									&gpb_statistics->keys : &gpb_statistics->ranges,
									slot->ranges.n);
		pg_atomic_fetch_add_u64(&gpb_statistics->batches, 1);
	}
	gpb_slot_answer(GPB_QUERY_SLOT, slot, count_answer(slot, ok));
}
