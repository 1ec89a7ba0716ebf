/*-------------------------------------------------------------------------
 *
 * host_ranges.c
 *	  Batches of ranges on the host device.
 *
 * A launch copies what it needs and does no work; each poll does a bounded part of
 * it, and finish the rest.  So that an upload in between is not seen (rule M3), whoever
 * is about to change a mirror or a channel's visibility bits first has the
 * ranges that read them brought to their end (gpb_host_ranges_settle).
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "device/host/host_device.h"
#include "leaf_aggregate.h"

/* Entries read and ranges begun by one poll, about: well under a millisecond */
#define GPB_HOST_RANGES_STEP	100000

struct GpbHostRanges
{
	bool		launched;		/* and not brought to its end */
	bool		answered;		/* there is something to fetch */
	const GpbDeviceMirror *mirror;
	GpbRangesSpec spec;
	GpbAggregateSpec leaf_spec; /* the same, as a leaf's loop wants it */
	const void *ranges;
	uint32		nblocks;		/* that changed covers */
	uint32		heap_blocks;	/* that visibility bits were given for */
	uint64		leaves;
	GpbDeviceStatus status;

	/* progress: the range that is worked on, if begun, and its next separator */
	uint32		number;
	bool		begun;
	GpbRange	range;
	uint64		separator;
	GpbAggregateState state;

	GpbHostBuffer changed;
	GpbHostBuffer answers;
	GpbHostBuffer pieces;
	GpbHostBuffer entries;
};

/* ---- what ranges leave behind ---- */

/* Room for size more bytes; NULL: no memory. */
static char *
gpb_host_append(GpbDevice *device, GpbHostBuffer *buffer, uint64 size)
{
	char	   *at;

	if (gpb_host_reserve(device, buffer, buffer->used + size) != GPB_DEVICE_OK)
		return NULL;
	at = buffer->data + buffer->used;
	buffer->used += size;
	return at;
}

/* The current range's answer, packed as gpb_range_answer_width says. */
static GpbDeviceStatus
gpb_host_range_answer(GpbDevice *device, struct GpbHostRanges *work)
{
	const GpbColumnState *column = &work->state.column[work->spec.column];
	uint8		want = work->spec.want;
	int64	   *word;

	if (work->spec.list_entries)
		return GPB_DEVICE_OK;
	word = (int64 *) gpb_host_append(device, &work->answers, gpb_range_answer_width(want));
	if (word == NULL)
		return GPB_DEVICE_NO_MEMORY;
	*word++ = work->state.entries;
	if (want & GPB_WANT_COUNT)
		*word++ = column->count;
	if (want & GPB_WANT_SUM)
	{
		*word++ = (int64) column->sum_low;
		*word++ = column->sum_high;
	}
	if (want & GPB_WANT_MINMAX)
	{
		*word++ = column->min;
		*word++ = column->max;
	}
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
gpb_host_range_unclean(GpbDevice *device, struct GpbHostRanges *work, GpbRange range, uint32 block)
{
	GpbUncleanPiece *piece =
		(GpbUncleanPiece *) gpb_host_append(device, &work->pieces, sizeof(GpbUncleanPiece));

	if (piece == NULL)
		return GPB_DEVICE_NO_MEMORY;
	piece->range = range;
	piece->block = block;
	piece->number = work->number;
	return GPB_DEVICE_OK;
}

/* Entry i of the page to the list. */
static GpbDeviceStatus
gpb_host_range_entry(GpbDevice *device, struct GpbHostRanges *work, const char *page, int i,
					 uint32 flags)
{
	const GpbLayout *layout = &work->mirror->layout;
	int			width = gpb_range_entry_width(layout->row_width);
	char	   *entry = gpb_host_append(device, &work->entries, width);
	uint64		key = gpb_page_key(page, layout->key_width, i);

	if (entry == NULL)
		return GPB_DEVICE_NO_MEMORY;
	memset(entry, 0, width);
	memcpy(entry, &work->number, 4);
	memcpy(entry + 4, &flags, 4);
	memcpy(entry + 8, &key, 8);
	memcpy(entry + 16, gpb_page_row(page, layout->row_width, i), layout->row_width);
	return GPB_DEVICE_OK;
}

/* ---- one leaf ---- */

/* Entries [from, to) of a clean leaf, all of them listed. */
static GpbDeviceStatus
gpb_host_range_list(GpbDevice *device, struct GpbHostRanges *work, const char *page, int from,
					int to, const uint8 *visible)
{
	int			row_width = work->mirror->layout.row_width;
	uint64		dead = work->spec.ignore_dead_hints ? 0 : GPB_LOC_DEAD;
	GpbDeviceStatus status = GPB_DEVICE_OK;
	int			i;

	for (i = from; status == GPB_DEVICE_OK && i < to; i++)
	{
		if ((gpb_row_locator(gpb_page_row(page, row_width, i)) & dead) == 0)
			status = gpb_host_range_entry(device, work, page, i,
										  visible[i - from] ? GPB_RANGE_ENTRY_VISIBLE : 0);
	}
	return status;
}

/* Entries [from, to) of a clean leaf, aggregated or, where not all-visible, listed. */
static GpbDeviceStatus
gpb_host_range_aggregate(GpbDevice *device, struct GpbHostRanges *work, const char *page,
						 int from, int to, const uint8 *visible)
{
	uint16		unknown[GPB_MAX_LEAF_ENTRIES];
	int			n = gpb_leaf_aggregate(page, &work->leaf_spec, from, to, visible, &work->state,
									   NULL, unknown);
	GpbDeviceStatus status = GPB_DEVICE_OK;
	int			i;

	for (i = 0; status == GPB_DEVICE_OK && i < n; i++)
		status = gpb_host_range_entry(device, work, page, unknown[i], 0);
	return status;
}

/* The part of the current range that its next leaf answers; entries read to *did. */
static GpbDeviceStatus
gpb_host_range_leaf(GpbDevice *device, GpbHostChannel *channel, struct GpbHostRanges *work,
					uint64 *did)
{
	const GpbDeviceMirror *mirror = work->mirror;
	const GpbLayout *layout = &mirror->layout;
	const GpbSeparator *separator = &mirror->separators[work->separator];
	GpbBound	high = gpb_host_leaf_limit(mirror, work->separator);
	const char *page = gpb_host_clean_leaf(mirror, separator->leaf, high, work->spec.epoch,
										   (const uint32 *) work->changed.data, work->nblocks);
	uint8		visible[GPB_MAX_LEAF_ENTRIES];
	GpbRange	piece = work->range;
	int			count;
	int			from;
	int			to;

	work->separator++;
	if (gpb_bound_less(piece.lo, separator->low))
		piece.lo = separator->low;
	if (gpb_bound_less(high, piece.hi))
		piece.hi = high;
	if (page == NULL)
		return gpb_host_range_unclean(device, work, piece, separator->leaf);
	work->leaves++;
	count = gpb_page_count(page);
	from = gpb_page_lower_bound(page, layout->key_width, layout->row_width, count, piece.lo);
	to = gpb_bound_cmp(piece.hi, high) == 0 ? count :
		gpb_page_lower_bound(page, layout->key_width, layout->row_width, count, piece.hi);
	if (from >= to)
		return GPB_DEVICE_OK;
	*did += to - from;
	gpb_host_look_up_visibility(channel, work->heap_blocks, page, layout->row_width, from, to,
								visible);
	return work->spec.list_entries ?
		gpb_host_range_list(device, work, page, from, to, visible) :
		gpb_host_range_aggregate(device, work, page, from, to, visible);
}

/* ---- range by range ---- */

static void
gpb_host_range_begin(struct GpbHostRanges *work)
{
	GpbKeyRange keys;

	if (work->spec.points)
		keys.lo = keys.hi = ((const uint64 *) work->ranges)[work->number];
	else
		keys = ((const GpbKeyRange *) work->ranges)[work->number];
	work->range = gpb_key_range(keys, work->mirror->layout.flags);
	work->begun = true;
	work->state.entries = 0;
	gpb_column_state_init(&work->state.column[work->spec.column]);
	work->separator = gpb_bound_less(work->range.lo, work->range.hi) ?
		gpb_host_find_separator(work->mirror, work->range.lo) : work->mirror->nseparators;
}

/* Has the current range a part right of the leaves done? */
static bool
gpb_host_range_goes_on(const struct GpbHostRanges *work)
{
	return work->separator < work->mirror->nseparators &&
		gpb_bound_less(work->mirror->separators[work->separator].low, work->range.hi);
}

/* One leaf of a range, or the range's beginning or end. */
static GpbDeviceStatus
gpb_host_ranges_step(GpbDevice *device, GpbHostChannel *channel, struct GpbHostRanges *work,
					 uint64 *did)
{
	GpbDeviceStatus status = GPB_DEVICE_OK;

	if (!work->begun)
	{
		gpb_host_range_begin(work);
		++*did;
		if (work->mirror->nseparators == 0 && gpb_bound_less(work->range.lo, work->range.hi))
			return gpb_host_range_unclean(device, work, work->range, GPB_NO_BLOCK);
	}
	if (gpb_host_range_goes_on(work))
		return gpb_host_range_leaf(device, channel, work, did);
	status = gpb_host_range_answer(device, work);
	work->begun = false;
	work->number++;
	return status;
}

/* Go on with about "most" entries and ranges. */
static void
gpb_host_ranges_run(GpbDevice *device, GpbHostChannel *channel, struct GpbHostRanges *work,
					uint64 most)
{
	uint64		did = 0;

	while (work->launched && did < most)
	{
		if (work->number == work->spec.n)
			work->launched = false;
		else
			work->status = gpb_host_ranges_step(device, channel, work, &did);
		if (work->status != GPB_DEVICE_OK)
			work->launched = false;
	}
}

void
gpb_host_ranges_settle(GpbDevice *device, const GpbDeviceMirror *mirror, int channel)
{
	int			i;

	for (i = 0; i < device->nchannels; i++)
	{
		GpbHostChannel *c = &device->channels[i];

		if (c->ranges != NULL && c->ranges->launched &&
			(i == channel || c->ranges->mirror == mirror))
			gpb_host_ranges_run(device, c, c->ranges, ~(uint64) 0);
	}
}

bool
gpb_host_ranges_poll(GpbDevice *device, int channel)
{
	GpbHostChannel *c = &device->channels[channel];

	if (c->ranges == NULL)
		return true;
	gpb_host_ranges_run(device, c, c->ranges, GPB_HOST_RANGES_STEP);
	return !c->ranges->launched;
}

void
gpb_host_ranges_abandon(GpbHostChannel *channel)
{
	if (channel->ranges != NULL)
		channel->ranges->launched = channel->ranges->answered = false;
}

/* ---- the interface ---- */

/* Why a request is not for ranges, or NULL */
static const char *
gpb_host_ranges_fault(const GpbRangesSpec *spec)
{
	if (spec->list_entries)
		return NULL;
	if (spec->column > spec->layout.ncolumns)
		return "ranges of a column that the index does not have; name the key or an INCLUDE column";
	if ((spec->want & GPB_WANT_SUM) != 0 && spec->column > 0 &&
		spec->layout.kind[spec->column - 1] == GPB_KIND_FLOAT8)
		return "a float8 column is not summed over ranges; use an aggregate for each range";
	return NULL;
}

/* All memory whose size is known beforehand */
static GpbDeviceStatus
gpb_host_ranges_reserve(GpbDevice *device, struct GpbHostRanges *work, uint32 nblocks)
{
	GpbDeviceStatus status;

	work->answers.used = 0;
	work->pieces.used = 0;
	work->entries.used = 0;
	work->changed.used = 0;
	status = gpb_host_reserve(device, &work->changed, ((uint64) nblocks + 31) / 32 * 4);
	if (status == GPB_DEVICE_OK && !work->spec.list_entries)
		status = gpb_host_reserve(device, &work->answers,
								  (uint64) work->spec.n *
								  gpb_range_answer_width(work->spec.want));
	return status;
}

GpbDeviceStatus
gpb_host_ranges_launch(GpbDevice *device, GpbDeviceMirror *mirror, int channel,
					   const GpbRangesSpec *spec, const void *ranges, const uint32 *changed,
					   uint32 nblocks)
{
	GpbHostChannel *c = &device->channels[channel];
	struct GpbHostRanges *work = c->ranges;

	if (work == NULL)
		work = c->ranges = gpb_host_alloc(device, sizeof(struct GpbHostRanges));
	if (work == NULL)
		return GPB_DEVICE_NO_MEMORY;
	work->launched = work->answered = false;
	if (gpb_host_ranges_fault(spec) != NULL)
	{
		device->error = gpb_host_ranges_fault(spec);
		return GPB_DEVICE_NO_MEMORY;
	}
	work->mirror = mirror;
	work->spec = *spec;
	work->ranges = ranges;
	work->nblocks = nblocks;
	work->heap_blocks = gpb_host_covered_blocks(c, spec->heap_blocks);
	work->leaves = 0;
	work->number = 0;
	work->begun = false;
	if (gpb_host_ranges_reserve(device, work, nblocks) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	if (nblocks > 0)
		memcpy(work->changed.data, changed, ((uint64) nblocks + 31) / 32 * 4);
	memset(&work->leaf_spec, 0, sizeof(work->leaf_spec));
	work->leaf_spec.layout = spec->layout;
	work->leaf_spec.ignore_dead_hints = spec->ignore_dead_hints;
	if (!spec->list_entries)
		work->leaf_spec.want[spec->column] = spec->want;
	work->status = GPB_DEVICE_OK;
	work->launched = work->answered = true;
	return GPB_DEVICE_OK;
}

/* qsort order of entries to be checked in the heap: heap TID. */
static int
gpb_host_compare_range_tids(const void *a, const void *b)
{
	uint64		x = gpb_row_locator((const char *) a + 16) & GPB_TID_MASK;
	uint64		y = gpb_row_locator((const char *) b + 16) & GPB_TID_MASK;

	return x < y ? -1 : x > y;
}

GpbDeviceStatus
gpb_host_ranges_finish(GpbDevice *device, int channel, GpbRangesResult *result)
{
	GpbHostChannel *c = &device->channels[channel];
	struct GpbHostRanges *work = c->ranges;
	int			width;

	if (work == NULL || !work->answered)
	{
		device->error = "no ranges were launched on this channel; launch them first";
		return GPB_DEVICE_NO_MEMORY;
	}
	gpb_host_ranges_run(device, c, work, ~(uint64) 0);
	if (work->status != GPB_DEVICE_OK)
	{
		work->answered = false;
		device->error = "out of memory";
		return work->status;
	}
	width = gpb_range_entry_width(work->spec.layout.row_width);
	if (!work->spec.list_entries && work->entries.used > 0)
		qsort(work->entries.data, work->entries.used / width, width,
			  gpb_host_compare_range_tids);
	result->leaves = work->leaves;
	result->unclean = work->pieces.used / sizeof(GpbUncleanPiece);
	result->entries = work->entries.used / width;
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
gpb_host_ranges_fetch(GpbDevice *device, GpbHostChannel *channel, GpbFetchWhat what,
					  uint64 first, uint64 n, void *into)
{
	const struct GpbHostRanges *work = channel->ranges;
	const GpbHostBuffer *buffer;
	uint64		width;

	if (work == NULL || !work->answered || work->launched)
	{
		device->error = "no finished ranges on this channel; finish them first";
		return GPB_DEVICE_NO_MEMORY;
	}
	buffer = what == GPB_FETCH_ANSWERS ? &work->answers :
		what == GPB_FETCH_PIECES ? &work->pieces : &work->entries;
	width = what == GPB_FETCH_ANSWERS ? gpb_range_answer_width(work->spec.want) :
		what == GPB_FETCH_PIECES ? sizeof(GpbUncleanPiece) :
		gpb_range_entry_width(work->spec.layout.row_width);
	if (first > buffer->used / width || n > buffer->used / width - first)
	{
		device->error = "no such records of ranges; fetch what the result counts";
		return GPB_DEVICE_NO_MEMORY;
	}
	if (n > 0)
		memcpy(into, buffer->data + first * width, n * width);
	return GPB_DEVICE_OK;
}

void
gpb_host_ranges_free(GpbDevice *device, GpbHostChannel *channel)
{
	struct GpbHostRanges *work = channel->ranges;

	if (work == NULL)
		return;
	gpb_host_free(device, work->changed.data, work->changed.size);
	gpb_host_free(device, work->answers.data, work->answers.size);
	gpb_host_free(device, work->pieces.data, work->pieces.size);
	gpb_host_free(device, work->entries.data, work->entries.size);
	gpb_host_free(device, work, sizeof(*work));
	channel->ranges = NULL;
}
