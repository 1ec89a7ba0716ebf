/*-------------------------------------------------------------------------
 *
 * host_ranges.c
 *	  Requests of ranges on the host device.
 *
 * A launch copies what it needs and does no work; each poll does a bounded part of the work, and
 * finish does the rest.  So that an upload in between is not seen (rule M3), whoever is about to
 * change a mirror or a channel's visibility bits first has the ranges that read them completed
 * (gpb_host_ranges_settle()).
 *
 * Ranges are worked on in their order, each leaf by leaf.  The entries of a program that is not
 * plain go through an evaluator (program_entries.h), which may have gathered some until all ranges
 * are done.  Answers are formed in the device's own
 * memory, since the caller's memory for them may be that of the ranges, which are read until the
 * end.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "device/host/host_device.h"
#include "program/program_entries.h"

/* A limited list is pruned when it has so many entries, and twice as many as the last time. */
#define PRUNED_LEAST	4096

/* About how many entries one poll reads and how many ranges it begins: well under a millisecond */
#define RANGES_STEP		100000

typedef struct GpbHostRanges
{
	bool		launched;		/* launched, and not complete */
	bool		answered;		/* complete, with something for finish and fetch */
	GpbDeviceStatus status;
	const char *error;			/* why status is not OK */

	/* The request */
	const GpbDeviceMirror *mirror;
	GpbRangesSpec spec;
	GpbAnswerFormat format;
	const void *ranges;			/* the caller's memory */
	void	   *answers;		/* the caller's memory, written by finish */
	GpbHostBuffer changed;		/* a copy of the map */
	uint32		nblocks;		/* number of blocks that "changed" covers */
	const GpbDeviceMap *map;	/* the visibility bits are the map's; NULL: the channel's own */
	GpbHostVisibility visibility;

	/* Progress: the range that is worked on, whether it was begun, and its next separator */
	uint32		number;
	bool		begun;
	GpbRange	range;
	uint64		separator;

	/* Results so far */
	GpbHostBuffer program;		/* the memory of the evaluator */
	GpbEvaluator *evaluator;	/* NULL if the program is plain, or lists all entries */
	bool		limited;		/* is "best" in use?  If so, "ranks" has a rank for each entry */
	GpbListBest best;
	GpbHostBuffer best_ranks;
	GpbHostBuffer ranks;
	uint64		prune_at;		/* number of entries at which the list is pruned */
	GpbGroupTable groups;		/* made if the program has group slots */
	bool		has_groups;
	uint64		leaves;
	GpbHostBuffer formed;		/* answers */
	GpbHostBuffer pieces;		/* GpbUncleanPiece, or GpbWidePiece */
	GpbHostBuffer entries;		/* GpbRangeEntry */
} GpbHostRanges;

/* ---- answers ---- */

/* The answer that is being formed: that to the range that is worked on, or that to all ranges. */
static int64 *
current_answer(const GpbHostRanges *work)
{
	uint64		number = work->spec.total ? 0 : work->number;

	return (int64 *) work->formed.data + number * work->format.words;
}

/* ---- records ---- */

/* Leave a piece of the current range to the CPU. */
static GpbDeviceStatus
add_piece(GpbDevice *device, GpbHostRanges *work, GpbRange range, uint32 block)
{
	int			key_width = work->mirror->layout.key_width;
	char	   *piece = gpb_host_append(device, &work->pieces, gpb_piece_width(key_width));

	if (piece == NULL)
		return GPB_DEVICE_NO_MEMORY;
	gpb_put_piece(piece, 0, key_width, range, block, work->number);
	return GPB_DEVICE_OK;
}

/* Write entry i of the page to *entry. */
static void
write_entry(const GpbHostRanges *work, GpbRangeEntry *entry, const char *page, int i, uint32 flags)
{
	const GpbLayout *layout = &work->mirror->layout;
	int			row_width = gpb_page_row_width(page);
	int			width = gpb_range_entry_width(layout->row_width);
	GpbSpreadRow spread;

	memset((char *) entry + width - sizeof(uint64), 0, sizeof(uint64)); /* the padding, where the
																		 * row does not end at 8
																		 * bytes */
	gpb_entry_record(entry, work->number, flags,
					 gpb_leaf_key(page, layout->key_width, row_width, i),
					 gpb_spread_row(page, row_width, i, &spread), layout);
}

/* ---- one leaf ---- */

/* Drop listed entries that are behind the limit; the others stay in their order. */
static void
prune_entries(GpbHostRanges *work)
{
	int			width = gpb_entry_record_width(&work->spec.program.layout);
	uint64		n = work->entries.used / width;
	uint64	   *rank = (uint64 *) work->ranks.data;
	uint64		kept = 0;
	uint64		i;

	for (i = 0; i < n; i++)
	{
		if (gpb_best_is_behind(&work->best, rank[i]))
			continue;
		rank[kept] = rank[i];
		if (kept != i)
			memcpy(work->entries.data + kept * width, work->entries.data + i * width, width);
		kept++;
	}
	work->entries.used = kept * width;
	work->ranks.used = kept * sizeof(uint64);
	work->prune_at = 2 * kept > PRUNED_LEAST ? 2 * kept : PRUNED_LEAST;
}

/*
 * Note the rank of the entry that is listed next, and whether the snapshot sees it.  Returns false
 * if it is behind the limit.
 */
static bool
take_rank(GpbHostRanges *work, uint64 rank, bool counts)
{
	if (gpb_best_is_behind(&work->best, rank))
		return false;
	if (counts)
		gpb_best_add(&work->best, rank);
	*(uint64 *) (work->ranks.data + work->ranks.used) = rank;
	work->ranks.used += sizeof(uint64);
	return true;
}

/* Make room for the entries [from, to) of a leaf in the list, and for their ranks. */
static GpbDeviceStatus
reserve_entries(GpbDevice *device, GpbHostRanges *work, int from, int to, int width)
{
	uint64		n = to - from;

	if (work->limited && work->ranks.used / sizeof(uint64) >= work->prune_at)
		prune_entries(work);
	if (gpb_host_reserve(device, &work->entries, work->entries.used + n * width) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	return !work->limited ? GPB_DEVICE_OK :
		gpb_host_reserve(device, &work->ranks, work->ranks.used + n * sizeof(uint64));
}

/* List the entries [from, to) of a clean leaf that the program wants, but those hinted dead. */
static GpbDeviceStatus
list_entries(GpbDevice *device, GpbHostRanges *work, const char *page, int from, int to,
			 const uint8 *visible)
{
	int			row_width = gpb_page_row_width(page);
	int			width = gpb_entry_record_width(&work->mirror->layout);
	uint64		dead = work->spec.program.ignore_dead_hints ? 0 : GPB_LOC_DEAD;
	GpbHostBuffer *entries = &work->entries;
	GpbLeafPick pick = {NULL, from, to - from};
	uint8		judged[GPB_MAX_LEAF_ENTRIES];
	uint64		rank[GPB_MAX_LEAF_ENTRIES];
	int			i;

	if (work->evaluator == NULL)
		memset(judged + from, GPB_JUDGED_LISTED, to - from);
	else if (gpb_judge_leaf(work->evaluator, page, &pick, judged, rank) == 0)
		return GPB_DEVICE_OK;
	if (reserve_entries(device, work, from, to, width) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	for (i = from; i < to; i++)
	{
		bool		seen = visible[i - from] == GPB_ENTRY_SEEN;

		if (judged[i] == GPB_JUDGED_DROPPED ||
			(gpb_page_locator(page, row_width, i) & dead) != 0 ||
			(work->limited &&
			 !take_rank(work, rank[i], seen && judged[i] == GPB_JUDGED_LISTED)))
			continue;
		write_entry(work, (GpbRangeEntry *) (entries->data + entries->used), page, i,
					(seen ? GPB_RANGE_ENTRY_VISIBLE : 0) |
					(judged[i] == GPB_JUDGED_FAULTED ? GPB_RANGE_ENTRY_FAULTED : 0));
		entries->used += width;
	}
	return GPB_DEVICE_OK;
}

/*
 * Add the entries [from, to) of a clean leaf to the answer that is being formed.  Those of which it
 * is not known whether they are seen become records.
 */
static GpbDeviceStatus
aggregate_entries(GpbDevice *device, GpbHostRanges *work, const char *page, int from, int to,
				  const uint8 *visible)
{
	int			width = gpb_entry_record_width(&work->mirror->layout);
	GpbHostBuffer *entries = &work->entries;
	uint16		unknown[GPB_MAX_LEAF_ENTRIES];
	uint16		counted[GPB_MAX_LEAF_ENTRIES];
	GpbLeafPick pick;
	int			n = gpb_leaf_pick(page, &work->spec.program, from, to, visible, &pick, counted,
								  unknown);
	int			i;

	if (gpb_host_reserve(device, entries, entries->used + (uint64) n * width) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	if (work->evaluator != NULL)
		gpb_evaluate_leaf(work->evaluator, work->number, page, &pick);
	else
		gpb_leaf_answer(page, &work->spec.program, &work->format, &pick, current_answer(work));
	for (i = 0; i < n; i++)
	{
		write_entry(work, (GpbRangeEntry *) (entries->data + entries->used), page, unknown[i], 0);
		entries->used += width;
	}
	return GPB_DEVICE_OK;
}

/*
 * Do the part of the current range that its next leaf covers.  The entries read are added to *did.
 */
static GpbDeviceStatus
do_leaf(GpbDevice *device, GpbHostChannel *channel, GpbHostRanges *work, uint64 *did)
{
	const GpbDeviceMirror *mirror = work->mirror;
	const GpbLayout *layout = &mirror->layout;
	GpbBound	low = gpb_host_low(mirror, work->separator);
	uint32		leaf = mirror->separators[work->separator].leaf;
	GpbBound	high = gpb_host_leaf_limit(mirror, work->separator);
	const char *page = gpb_host_clean_leaf(mirror, work->separator, work->spec.epoch,
										   (const uint32 *) work->changed.data, work->nblocks);
	uint8		visible[GPB_MAX_LEAF_ENTRIES];
	GpbRange	piece = work->range;
	int			row_width;
	int			count;
	int			from;
	int			to;

	work->separator++;
	if (gpb_bound_less(piece.lo, low))
		piece.lo = low;
	if (gpb_bound_less(high, piece.hi))
		piece.hi = high;
	if (page == NULL)
		return add_piece(device, work, piece, leaf);
	work->leaves++;
	row_width = gpb_page_row_width(page);
	count = gpb_page_count(page);
	from = gpb_page_lower_bound(page, layout->key_width, row_width, count, piece.lo);
	to = gpb_bound_cmp(piece.hi, high) == 0 ? count :
		gpb_page_lower_bound(page, layout->key_width, row_width, count, piece.hi);
	if (from >= to)
		return GPB_DEVICE_OK;
	*did += to - from;
	gpb_host_look_up_visibility(&work->visibility, page, row_width, from, to, visible);
	return work->spec.program.list_entries ?
		list_entries(device, work, page, from, to, visible) :
		aggregate_entries(device, work, page, from, to, visible);
}

/* ---- range by range ---- */

/* Begin the next range and the answer to it, or, with the first range, the answer to all. */
static void
begin_range(GpbHostRanges *work)
{
	if (work->formed.used > 0 && (work->number == 0 || !work->spec.total))
		gpb_answer_init(&work->format, current_answer(work));
	work->range = gpb_input_range(work->spec.form, work->ranges, work->number,
								  work->mirror->layout.key_width, work->mirror->layout.flags);
	work->begun = true;
	work->separator = work->mirror->nseparators;
	if (gpb_bound_less(work->range.lo, work->range.hi) && work->mirror->nseparators > 0)
		work->separator = gpb_host_find_separator(work->mirror, work->range.lo);
}

/* Does the current range go on in the next separator's leaf? */
static bool
range_goes_on(const GpbHostRanges *work)
{
	return work->separator < work->mirror->nseparators &&
		gpb_bound_less(gpb_host_low(work->mirror, work->separator), work->range.hi);
}

/* Complete the answers, or the groups, of all ranges. */
static void
end_ranges(GpbHostRanges *work)
{
	uint64		words = work->format.words;
	int64	   *answers = (int64 *) work->formed.data;
	uint32		n = gpb_answer_has_float_sums(&work->format) ? gpb_count_answers(&work->spec) : 0;
	uint32		i;

	if (work->limited)
		prune_entries(work);
	else if (work->evaluator != NULL)
		gpb_evaluate_rest(work->evaluator);
	if (work->has_groups)
		gpb_groups_normalize(&work->groups);
	for (i = 0; i < n; i++)
		gpb_answer_normalize(&work->format, answers + i * words);
	work->launched = false;
}

/* Do one step of the work: begin the next range, do one leaf of the current one, or end it. */
static GpbDeviceStatus
do_step(GpbDevice *device, GpbHostChannel *channel, GpbHostRanges *work, uint64 *did)
{
	if (!work->begun)
	{
		begin_range(work);
		++*did;
		if (work->mirror->nseparators == 0 && gpb_bound_less(work->range.lo, work->range.hi))
			return add_piece(device, work, work->range, GPB_NO_BLOCK);
	}
	if (range_goes_on(work))
		return do_leaf(device, channel, work, did);
	work->begun = false;
	work->number++;
	return GPB_DEVICE_OK;
}

/* Did a step of the program fault? */
static bool
has_faulted(const GpbHostRanges *work)
{
	return work->evaluator != NULL && work->evaluator->outcome == GPB_EVALUATION_FAULTED;
}

/* Was there a value that a narrow sum does not hold? */
static bool
has_unheld(const GpbHostRanges *work)
{
	return work->evaluator != NULL && work->evaluator->outcome == GPB_EVALUATION_UNHELD;
}

/* Do steps of the work until about "most" entries were read and ranges begun. */
static void
run(GpbDevice *device, GpbHostChannel *channel, GpbHostRanges *work, uint64 most)
{
	uint64		did = 0;

	while (work->launched && did < most)
	{
		if (work->number < work->spec.n && !has_faulted(work) && !has_unheld(work))
			work->status = do_step(device, channel, work, &did);
		else
			end_ranges(work);
		if (work->evaluator != NULL && work->evaluator->outcome == GPB_EVALUATION_FULL)
		{
			device->error = "no memory for more groups";
			work->status = GPB_DEVICE_NO_MEMORY;
		}
		if (work->status != GPB_DEVICE_OK)
		{
			work->launched = false;
			work->error = device->error;
		}
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
			run(device, c, c->ranges, ~(uint64) 0);
	}
}

void
gpb_host_ranges_settle_map(GpbDevice *device, const GpbDeviceMap *map)
{
	int			i;

	for (i = 0; i < device->nchannels; i++)
	{
		GpbHostChannel *c = &device->channels[i];

		if (c->ranges != NULL && c->ranges->launched && c->ranges->map == map)
			run(device, c, c->ranges, ~(uint64) 0);
	}
}

bool
gpb_host_ranges_poll(GpbDevice *device, int channel)
{
	GpbHostChannel *c = &device->channels[channel];

	if (c->ranges == NULL)
		return true;
	run(device, c, c->ranges, RANGES_STEP);
	return !c->ranges->launched;
}

void
gpb_host_ranges_abandon(GpbHostChannel *channel)
{
	if (channel->ranges != NULL)
		channel->ranges->launched = channel->ranges->answered = false;
}

/* ---- the interface ---- */

/* Where the groups have their memory from: the device */
static void *
groups_allocate(void *arg, uint64 size)
{
	return gpb_host_alloc((GpbDevice *) arg, size);
}

static void
groups_release(void *arg, void *memory, uint64 size)
{
	gpb_host_free((GpbDevice *) arg, memory, size);
}

/* Give back the groups of the last request. */
static void
drop_groups(GpbHostRanges *work)
{
	if (work->has_groups)
		gpb_groups_reset(&work->groups);
	work->has_groups = false;
}

/* Begin a limited list, if there is memory for as many ranks as the limit. */
static void
prepare_limit(GpbDevice *device, GpbHostRanges *work)
{
	uint32		limit = work->spec.program.limit;

	work->limited = limit > 0 &&
		gpb_host_reserve(device, &work->best_ranks, (uint64) limit * sizeof(uint64)) ==
		GPB_DEVICE_OK;
	work->ranks.used = 0;
	work->prune_at = PRUNED_LEAST;
	if (work->limited)
		gpb_best_begin(&work->best, limit, (uint64 *) work->best_ranks.data);
}

/*
 * Make the evaluator, if the program is not plain or judges what it lists, once there is memory for
 * answers.
 */
static GpbDeviceStatus
prepare_program(GpbDevice *device, GpbHostRanges *work)
{
	const GpbProgram *program = &work->spec.program;
	GpbGroupMemory memory = {groups_allocate, groups_release, device, device->memory_limit};
	GpbEvaluatorSink sink;

	work->evaluator = NULL;
	work->limited = false;
	if (program->list_entries ? !gpb_program_judges(program) : gpb_program_is_plain(program))
		return GPB_DEVICE_OK;
	if (gpb_host_reserve(device, &work->program, gpb_evaluator_size(program)) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	work->evaluator = gpb_evaluator_init(work->program.data, program, &work->format);
	if (program->list_entries)
		prepare_limit(device, work);
	work->has_groups = program->ngroups > 0;
	if (work->has_groups)
		gpb_groups_init(&work->groups, program, &work->format, &memory);
	sink.answers = (int64 *) work->formed.data;
	sink.by_number = !work->spec.total;
	sink.groups = work->has_groups ? &work->groups : NULL;
	gpb_evaluator_begin(work->evaluator, &sink);
	return GPB_DEVICE_OK;
}

/* Copy the changed map, and get the memory whose size is known beforehand. */
static GpbDeviceStatus
prepare(GpbDevice *device, GpbHostRanges *work, const uint32 *changed, uint32 nblocks)
{
	uint64		bytes = ((uint64) nblocks + 31) / 32 * sizeof(uint32);
	uint64		answers = (uint64) gpb_count_answers(&work->spec) *
		gpb_answer_width(&work->format);

	work->formed.used = 0;
	work->pieces.used = 0;
	work->entries.used = 0;
	work->changed.used = 0;
	work->nblocks = nblocks;
	if (gpb_host_reserve(device, &work->changed, bytes) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	if (bytes > 0 && changed != NULL)
		memcpy(work->changed.data, changed, bytes);
	else if (bytes > 0)
		memset(work->changed.data, 0, bytes);
	if (gpb_host_reserve(device, &work->formed, answers) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	work->formed.used = answers;
	return prepare_program(device, work);
}

/*
 * Take the visibility bits and exceptions of the channel's map, or its own, as far as they were
 * given.
 */
static void
show_visibility(const GpbHostChannel *channel, const GpbRangesSpec *spec,
				GpbHostVisibility *visibility)
{
	uint64		offset = gpb_exceptions_offset(spec->heap_blocks);
	const GpbHostBuffer *bits = channel->map != NULL ? &channel->map->bits : &channel->visibility;
	uint64		given = bits->used;

	visibility->bits = (const uint8 *) bits->data;
	visibility->heap_blocks = (uint32) Min((uint64) spec->heap_blocks,
										   given * GPB_HEAPBLOCKS_PER_BYTE);
	visibility->nexceptions = 0;
	visibility->exceptions = NULL;
	if (spec->exceptions == 0 || offset + spec->exceptions * sizeof(uint64) > given)
		return;
	visibility->nexceptions = spec->exceptions;
	visibility->exceptions = (const uint64 *) (bits->data + offset);
}

GpbDeviceStatus
gpb_host_ranges_launch(GpbDevice *device, GpbDeviceMirror *mirror, int channel,
					   const GpbRangesSpec *spec, const void *ranges, void *answers,
					   const uint32 *changed, uint32 nblocks)
{
	GpbHostChannel *c = &device->channels[channel];
	GpbHostRanges *work = c->ranges;

	if (work == NULL)
		work = c->ranges = gpb_host_alloc(device, sizeof(GpbHostRanges));
	if (work == NULL)
		return GPB_DEVICE_NO_MEMORY;
	work->launched = work->answered = false;
	drop_groups(work);
	if (gpb_program_fault(&spec->program) != NULL)
	{
		device->error = gpb_program_fault(&spec->program);
		return GPB_DEVICE_NO_MEMORY;
	}
	work->mirror = mirror;
	gpb_ranges_spec_copy(&work->spec, spec);
	work->ranges = ranges;
	work->answers = answers;
	gpb_answer_format(&spec->program, &work->format);
	if (prepare(device, work, changed, nblocks) != GPB_DEVICE_OK)
		return GPB_DEVICE_NO_MEMORY;
	work->map = c->map;
	show_visibility(c, spec, &work->visibility);
	work->leaves = 0;
	work->number = 0;
	work->begun = false;
	/* A total over no ranges is the answer of no entries. */
	if (spec->n == 0 && work->formed.used > 0)
		gpb_answer_init(&work->format, current_answer(work));
	work->status = GPB_DEVICE_OK;
	work->launched = work->answered = true;
	return GPB_DEVICE_OK;
}

/* qsort comparator for entries to be checked in the heap: by heap TID. */
static int
compare_tids(const void *a, const void *b)
{
	uint64		x = gpb_row_locator(((const GpbRangeEntry *) a)->row) & GPB_TID_MASK;
	uint64		y = gpb_row_locator(((const GpbRangeEntry *) b)->row) & GPB_TID_MASK;

	return x < y ? -1 : x > y;
}

GpbDeviceStatus
gpb_host_ranges_finish(GpbDevice *device, int channel, GpbRangesResult *result)
{
	GpbHostChannel *c = &device->channels[channel];
	GpbHostRanges *work = c->ranges;
	int			width;

	if (work == NULL || !work->answered)
	{
		device->error = "no ranges were launched on this channel; launch them first";
		return GPB_DEVICE_NO_MEMORY;
	}
	run(device, c, work, ~(uint64) 0);
	if (work->status != GPB_DEVICE_OK)
	{
		work->answered = false;
		device->error = work->error;
		return work->status;
	}
	memset(result, 0, sizeof(*result));
	result->faults = has_faulted(work);
	result->unheld = has_unheld(work);
	if (result->faults || result->unheld)
	{
		work->answered = false;
		return GPB_DEVICE_OK;
	}
	width = gpb_entry_record_width(&work->spec.program.layout);
	if (!work->spec.program.list_entries && work->entries.used > 0)
		qsort(work->entries.data, work->entries.used / width, width, compare_tids);
	if (work->formed.used > 0)
		memcpy(work->answers, work->formed.data, work->formed.used);
	result->leaves = work->leaves;
	result->unclean = work->pieces.used / gpb_piece_width(work->mirror->layout.key_width);
	result->entries = work->entries.used / width;
	result->groups = work->has_groups ? work->groups.n : 0;
	return GPB_DEVICE_OK;
}

/*
 * Write words [first, first + n) of the bitmap of heap blocks where entries are that were left to
 * be checked.
 */
static void
write_blocks(const GpbHostRanges *work, uint64 first, uint64 n, uint32 *words)
{
	uint64		width = gpb_entry_record_width(&work->spec.program.layout);
	uint64		at;

	memset(words, 0, n * sizeof(uint32));
	for (at = 0; at < work->entries.used; at += width)
	{
		const GpbRangeEntry *entry = (const GpbRangeEntry *) (work->entries.data + at);
		uint32		block = gpb_locator_block(gpb_row_locator(entry->row));
		uint64		word = (uint64) block / 32 - first;

		if (block < work->spec.heap_blocks && word < n)
			words[word] |= (uint32) 1 << (block % 32);
	}
}

/* Copy groups [first, first + n). */
static void
write_groups(const GpbHostRanges *work, uint64 first, uint64 n, char *into)
{
	int			width = work->groups.width;
	uint64		i;

	for (i = 0; i < n; i++)
		memcpy(into + i * width, gpb_groups_at(&work->groups, (uint32) (first + i)), width);
}

/* How many records of this kind the finished request left, and the bytes of one. */
static uint64
count_records(const GpbHostRanges *work, GpbFetchWhat what, uint64 *width)
{
	switch (what)
	{
		case GPB_FETCH_PIECES:
			*width = gpb_piece_width(work->mirror->layout.key_width);
			return work->pieces.used / *width;
		case GPB_FETCH_ENTRIES:
			*width = gpb_entry_record_width(&work->spec.program.layout);
			return work->entries.used / *width;
		case GPB_FETCH_GROUPS:
			*width = gpb_group_width(&work->spec.program, &work->format);
			return work->has_groups ? work->groups.n : 0;
		case GPB_FETCH_BLOCKS:
			break;
	}
	*width = sizeof(uint32);
	return gpb_count_block_words(&work->spec);
}

GpbDeviceStatus
gpb_host_ranges_fetch(GpbDevice *device, int channel, GpbFetchWhat what, uint64 first, uint64 n,
					  void *into)
{
	const GpbHostRanges *work = device->channels[channel].ranges;
	uint64		width;
	uint64		have;

	if (work == NULL || !work->answered || work->launched)
	{
		device->error = "no finished ranges on this channel; finish them first";
		return GPB_DEVICE_NO_MEMORY;
	}
	have = count_records(work, what, &width);
	if (first > have || n > have - first)
	{
		device->error = "no such records of ranges; fetch what the result counts";
		return GPB_DEVICE_NO_MEMORY;
	}
	if (n == 0)
		return GPB_DEVICE_OK;
	if (what == GPB_FETCH_BLOCKS)
		write_blocks(work, first, n, (uint32 *) into);
	else if (what == GPB_FETCH_GROUPS)
		write_groups(work, first, n, (char *) into);
	else
		memcpy(into, (what == GPB_FETCH_PIECES ? work->pieces.data : work->entries.data) +
			   first * width, n * width);
	return GPB_DEVICE_OK;
}

void
gpb_host_ranges_free(GpbDevice *device, GpbHostChannel *channel)
{
	GpbHostRanges *work = channel->ranges;

	if (work == NULL)
		return;
	drop_groups(work);
	gpb_host_free(device, work->program.data, work->program.size);
	gpb_host_free(device, work->changed.data, work->changed.size);
	gpb_host_free(device, work->formed.data, work->formed.size);
	gpb_host_free(device, work->pieces.data, work->pieces.size);
	gpb_host_free(device, work->entries.data, work->entries.size);
	gpb_host_free(device, work->ranks.data, work->ranks.size);
	gpb_host_free(device, work->best_ranks.data, work->best_ranks.size);
	gpb_host_free(device, work, sizeof(*work));
	channel->ranges = NULL;
}
