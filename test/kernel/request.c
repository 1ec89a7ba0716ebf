/*-------------------------------------------------------------------------
 *
 * request.c
 *	  Requests of ranges: random ones, and holding a device's answers to the model's.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

#define GUARD		64			/* bytes behind what the device may write */
#define WANT_ALL	(GPB_WANT_COUNT | GPB_WANT_SUM | GPB_WANT_MINMAX)

const GpbNarrowRange test_whole = {{0, 0}, {~(uint64) 0, ~(uint64) 0}};
static const GpbRange wide_whole = {{0, 0}, {~(GpbKey) 0, ~(uint64) 0}};

const void *
test_whole_of(const TestMirror *mirror)
{
	return mirror->index->layout.key_width == 16 ? (const void *) &wide_whole : &test_whole;
}

/* ---- specs ---- */

GpbRangesSpec
test_spec(const TestMirror *mirror, uint32 n)
{
	GpbRangesSpec spec;
	int			c;

	memset(&spec, 0, sizeof(spec));
	spec.program.layout = mirror->index->layout;
	for (c = 0; c <= spec.program.layout.ncolumns; c++)
		spec.program.want[c] = WANT_ALL;
	if (spec.program.layout.key_width == 16)
		spec.program.want[0] = GPB_WANT_COUNT;	/* it is no word */
	spec.form = GPB_RANGE_BOUNDS;
	spec.n = n;
	spec.epoch = mirror->epoch;
	spec.heap_blocks = mirror->heap_blocks;
	return spec;
}

void
test_random_wants(GpbRangesSpec *spec)
{
	int			c;

	for (c = 0; c <= spec->program.layout.ncolumns; c++)
		spec->program.want[c] = (uint8) test_below(WANT_ALL + 1);
	if (spec->program.layout.key_width == 16)
		spec->program.want[0] &= GPB_WANT_COUNT;
}

/* ---- ranges ---- */

/* An entry's place, a separator's, just beside one, an end, or anything */
static GpbBound
random_bound(const TestMirror *mirror)
{
	const TestIndex *index = mirror->index;
	GpbBound	bound = {test_random(), test_random()};

	if (index->layout.key_width == 16)
		bound.key |= (GpbKey) test_random() << 64;

	switch (test_below(8))
	{
		case 0:
			return GPB_BOUND_MIN;
		case 1:
			return GPB_BOUND_MAX;
		case 2:
			return bound;
		case 3:
			return index->leaf[test_below(index->nleaves)].low;
		case 4:
			bound = index->leaf[test_below(index->nleaves)].low;
			bound.tie += test_once_in(2) ? 1 : -1;
			return bound;
		default:
			if (index->nentries > 0)
				bound = index->entry[test_below(index->nentries)].bound;
			if (test_once_in(2))
				bound.tie = test_once_in(2) ? 0 : ~(uint64) 0;
			return bound;
	}
}

GpbNarrowRange
test_random_range(const TestMirror *mirror)
{
	GpbRange	range;

	range.lo = random_bound(mirror);
	range.hi = random_bound(mirror);
	if (gpb_bound_less(range.hi, range.lo) && !test_once_in(8))
	{
		GpbBound	lo = range.hi;

		range.hi = range.lo;
		range.lo = lo;
	}
	return gpb_narrow_range(range);
}

/* An entry's key, a separator's, one beside, an end of the type, or anything */
static GpbKey
random_key(const TestMirror *mirror)
{
	const TestIndex *index = mirror->index;
	GpbKey		most = index->layout.key_width == 16 ? ~(GpbKey) 0 :
		index->layout.key_width == 8 ? ~(uint64) 0 : 0xFFFFFFFF;
	GpbKey		key = ((GpbKey) test_random() << 64 | test_random()) & most;

	switch (test_below(8))
	{
		case 0:
			return test_once_in(2) ? 0 : most;
		case 1:
			return key;
		case 2:
			return index->leaf[test_below(index->nleaves)].low.key;
		case 3:
			key = index->leaf[test_below(index->nleaves)].low.key;
			return (test_once_in(2) ? key + 1 : key - 1) & most;
		default:
			return index->nentries > 0 ? index->entry[test_below(index->nentries)].bound.key : key;
	}
}

/* About so many entries, from *first to *last */
static void
near_entries(const TestIndex *index, uint64 entries, uint64 *first, uint64 *last)
{
	*first = test_below(index->nentries);
	*last = *first + test_below(entries + 1);
	if (*last >= index->nentries)
		*last = index->nentries - 1;
}

GpbNarrowKeyRange
test_near_keys(const TestMirror *mirror, uint64 entries)
{
	const TestIndex *index = mirror->index;
	GpbNarrowKeyRange keys = {0, 0};
	uint64		first;
	uint64		last;

	if (index->nentries == 0)
		return keys;
	near_entries(index, entries, &first, &last);
	keys.lo = index->entry[first].bound.key;
	keys.hi = index->entry[last].bound.key;
	return keys;
}

/* From an entry over about so many, exactly or with its whole key */
static GpbNarrowRange
near_range(const TestMirror *mirror, uint64 entries)
{
	const TestIndex *index = mirror->index;
	GpbNarrowRange range;
	uint64		first;
	uint64		last;

	if (index->nentries == 0)
		return test_whole;
	near_entries(index, entries, &first, &last);
	range.lo = gpb_narrow_bound(index->entry[first].bound);
	range.hi = gpb_narrow_bound(index->entry[last].bound);
	if (test_once_in(2))
	{
		range.lo.tie = 0;
		range.hi.tie = ~(uint64) 0;
	}
	return range;
}

static GpbNarrowKeyRange
random_keys(const TestMirror *mirror)
{
	GpbNarrowKeyRange keys;

	keys.lo = random_key(mirror);
	keys.hi = random_key(mirror);
	if (keys.lo > keys.hi && !test_once_in(6))
	{
		uint64		lo = keys.hi;

		keys.hi = keys.lo;
		keys.lo = lo;
	}
	return keys;
}

/* One range of the form over wide keys to *into */
static void
random_wide(const TestMirror *mirror, GpbRangeForm form, uint64 entries, void *into)
{
	const TestIndex *index = mirror->index;
	bool		near = entries > 0 && index->nentries > 0;
	uint64		first = 0;
	uint64		last = 0;
	GpbKeyRange keys;
	GpbRange	range;

	if (near)
		near_entries(index, entries, &first, &last);
	switch (form)
	{
		case GPB_RANGE_POINTS:
			keys.lo = random_key(mirror);
			memcpy(into, &keys.lo, 16);
			break;
		case GPB_RANGE_KEYS:
			keys.lo = near ? index->entry[first].bound.key : random_key(mirror);
			keys.hi = near ? index->entry[last].bound.key : random_key(mirror);
			memcpy(into, &keys, sizeof(keys));
			break;
		case GPB_RANGE_BOUNDS:
			range.lo = near ? index->entry[first].bound : random_bound(mirror);
			range.hi = near ? index->entry[last].bound : random_bound(mirror);
			if (near && test_once_in(2))
			{
				range.lo.tie = 0;
				range.hi.tie = ~(uint64) 0;
			}
			if (gpb_bound_less(range.hi, range.lo) && !test_once_in(8))
			{
				GpbBound	lo = range.hi;

				range.hi = range.lo;
				range.lo = lo;
			}
			memcpy(into, &range, sizeof(range));
			break;
	}
}

/* One range of the form to *into */
static void
random_one(const TestMirror *mirror, GpbRangeForm form, uint64 entries, void *into)
{
	bool		near = entries > 0 && !test_once_in(8);

	if (near && !test_once_in(4))
		entries /= 30;
	if (mirror->index->layout.key_width == 16)
	{
		random_wide(mirror, form, near ? entries : 0, into);
		return;
	}
	switch (form)
	{
		case GPB_RANGE_POINTS:
			*(uint64 *) into = random_key(mirror);
			break;
		case GPB_RANGE_KEYS:
			*(GpbNarrowKeyRange *) into = near ? test_near_keys(mirror, entries) : random_keys(mirror);
			break;
		case GPB_RANGE_BOUNDS:
			*(GpbNarrowRange *) into = near ? near_range(mirror, entries) : test_random_range(mirror);
			break;
	}
}

void *
test_random_ranges(const TestMirror *mirror, const GpbRangesSpec *spec, uint64 entries)
{
	int			width = test_range_width(spec);
	char	   *ranges = calloc(spec->n + 1, width);
	uint32		i;

	for (i = 0; i < spec->n; i++)
	{
		char	   *into = ranges + (uint64) i * width;

		if (i > 0 && test_once_in(6))
			memcpy(into, ranges + test_below(i) * width, width);
		else
			random_one(mirror, spec->form, entries, into);
	}
	return ranges;
}

/* ---- launching ---- */

/* What the device has of a request in flight */
typedef struct Memory
{
	struct Memory *older;		/* of a request on the channel that was abandoned */
	char	   *allocated;		/* NULL if it is the channel's slot of the region */
	char	   *ranges;
	char	   *answers;
	char	   *more;			/* words of long tables */
	size_t		range_bytes;
	size_t		answer_bytes;
	size_t		more_bytes;
} Memory;

static Memory *in_flight[TEST_CHANNELS];

/* ---- visibility bits ---- */

/* A map that was given to a launch on the channel, and may still be read */
typedef struct UsedMap
{
	struct UsedMap *older;
	GpbDeviceMap *map;
} UsedMap;

static UsedMap *used_maps[TEST_CHANNELS];

/* Send the bits to the channel, in two parts. */
static void
send_bits(int channel, const uint8 *bits, uint64 bytes)
{
	const GpbDeviceApi *api = test_device.api;
	uint64		half = bytes / 2;

	CHECK_OK(api->map_use(test_device.device, channel, NULL));
	CHECK_OK(api->set_visibility(test_device.device, channel, 0, bits, half));
	CHECK_OK(api->set_visibility(test_device.device, channel, half, bits + half, bytes - half));
}

/* Give the bits to the channel's next launch by a map.  Returns false if there is no memory. */
static bool
use_map(int channel, const uint8 *bits, uint64 bytes)
{
	const GpbDeviceApi *api = test_device.api;
	UsedMap    *used = calloc(1, sizeof(UsedMap));

	if (api->map_create(test_device.device, &used->map) != GPB_DEVICE_OK)
	{
		free(used);
		return false;
	}
	used->older = used_maps[channel];
	used_maps[channel] = used;
	/* what the map had before, and the channel's own bits, are not to be seen */
	if (test_once_in(2) &&
		api->map_set(test_device.device, used->map, (channel + 1) % TEST_CHANNELS, bits,
					 bytes / 3) != GPB_DEVICE_OK)
		return false;
	if (api->map_set(test_device.device, used->map, test_below(TEST_CHANNELS), bits, bytes) !=
		GPB_DEVICE_OK)
		return false;
	CHECK_OK(api->map_use(test_device.device, channel, used->map));
	return true;
}

/* Nothing that was launched on the channel is in flight any more. */
static void
free_maps(int channel)
{
	while (used_maps[channel] != NULL)
	{
		UsedMap    *used = used_maps[channel];

		used_maps[channel] = used->older;
		test_device.api->map_destroy(test_device.device, used->map);
		free(used);
	}
}

/* ---- launches ---- */

GpbDeviceStatus
test_launch_at(TestMirror *mirror, int channel, const GpbRangesSpec *spec, const void *ranges,
			   void *answers)
{
	const GpbDeviceApi *api = test_device.api;
	uint64		bytes = ((uint64) mirror->heap_blocks + 3) / 4;
	uint8	   *bits = malloc(bytes + 1);
	uint32	   *changed = malloc((mirror->nblocks / 32 + 1) * sizeof(uint32));
	bool		any_changed = false;
	GpbRangesSpec copy = *spec;
	GpbDeviceStatus status;
	uint32		i;

	memcpy(bits, mirror->visible, bytes);
	memcpy(changed, mirror->changed, (mirror->nblocks + 31) / 32 * sizeof(uint32));
	for (i = 0; i < (mirror->nblocks + 31) / 32; i++)
		any_changed = any_changed || changed[i] != 0;
	if (!test_maps || spec->exceptions > 0 || test_once_in(2) || !use_map(channel, bits, bytes))
		send_bits(channel, bits, bytes);
	if (spec->exceptions > 0)
	{
		uint64		offset = gpb_exceptions_offset(spec->heap_blocks);

		CHECK_OK(api->set_visibility(test_device.device, channel, offset, mirror->visible + offset,
									 spec->exceptions * sizeof(uint64)));
	}
	status = api->ranges_launch(test_device.device, mirror->mirror, channel, &copy, ranges,
								answers, any_changed ? changed : NULL, mirror->nblocks);
	/* the call has copied all but the ranges */
	memset(&copy, 0x77, sizeof(copy));
	memset(changed, 0x77, (mirror->nblocks / 32 + 1) * sizeof(uint32));
	memset(bits, 0x55, bytes + 1);
	free(bits);
	free(changed);
	return status;
}

/* Memory for the request, the ranges in it, and guards behind it */
static Memory *
give_memory(int channel, const GpbRangesSpec *spec, const void *ranges)
{
	Memory	   *memory = calloc(1, sizeof(Memory));
	bool		in_place = test_once_in(2);
	size_t		bytes;
	char	   *at = test_device.staging + TEST_STAGING + channel * TEST_SLOT;

	memory->range_bytes = (size_t) spec->n * test_range_width(spec);
	if (!spec->program.list_entries && spec->program.ngroups == 0)
		memory->answer_bytes = (size_t) (spec->total ? 1 : spec->n) *
			test_answer_width(&spec->program);
	memory->more_bytes = gpb_more_words(&spec->program) * sizeof(int64);
	bytes = memory->range_bytes + memory->answer_bytes + GUARD + memory->more_bytes;
	if (in_flight[channel] != NULL || bytes > TEST_SLOT || test_once_in(2))
		at = memory->allocated = malloc(bytes);
	memset(at, 0x77, bytes);
	if (memory->range_bytes > 0)
		memcpy(at, ranges, memory->range_bytes);
	/* nothing is to be read or written at an address where there is nothing */
	memory->ranges = memory->range_bytes > 0 ? at : NULL;
	memory->answers = memory->answer_bytes == 0 ? NULL :
		in_place ? at : at + memory->range_bytes;
	if (memory->more_bytes > 0)
	{
		memory->more = at + bytes - memory->more_bytes;
		memcpy(memory->more, spec->program.tables.more, memory->more_bytes);
	}
	memory->older = in_flight[channel];
	in_flight[channel] = memory;
	return memory;
}

/* The channel's request has ended, and with it those before. */
static void
take_memory(int channel)
{
	free_maps(channel);
	while (in_flight[channel] != NULL)
	{
		Memory	   *memory = in_flight[channel];

		in_flight[channel] = memory->older;
		if (memory->more != NULL)
			memset(memory->more, 0x77, memory->more_bytes);
		free(memory->allocated);
		free(memory);
	}
}

void
test_requests_end(void)
{
	int			channel;

	for (channel = 0; channel < TEST_CHANNELS; channel++)
		take_memory(channel);
}

GpbDeviceStatus
test_launch(TestMirror *mirror, int channel, const GpbRangesSpec *spec, const void *ranges)
{
	Memory	   *memory = give_memory(channel, spec, ranges);
	GpbRangesSpec given = *spec;

	given.program.tables.more = (const int64 *) memory->more;
	return test_launch_at(mirror, channel, &given, memory->ranges, memory->answers);
}

/* ---- comparing ---- */

/* The device wrote the answers, and nothing beside them. */
static void
compare_memory(const Memory *memory, const void *ranges)
{
	const char *end = memory->answers + memory->answer_bytes;
	uint64		touched = 0;
	int			i;

	if (memory->ranges != NULL && memory->ranges != memory->answers)
		CHECK(memcmp(memory->ranges, ranges, memory->range_bytes) == 0, "ranges were changed");
	if (memory->answers == NULL)
		end = memory->ranges + memory->range_bytes;
	if (memory->ranges == memory->answers && memory->range_bytes > memory->answer_bytes)
		end = memory->ranges + memory->range_bytes;
	for (i = 0; i < GUARD && end != NULL; i++)
		touched += end[i] != 0x77;
	CHECK(touched == 0, "%lu bytes written behind the answers", touched);
}

static void
compare_answers(const int64 *word, const GpbRangesSpec *spec, const TestExpected *expected)
{
	uint64		differing = 0;
	uint64		first = 0;
	int			w = 0;
	uint64		i;

	for (i = expected->nanswers; i-- > 0;)
	{
		if (memcmp(word + i * expected->words, expected->answers + i * expected->words,
				   expected->words * 8) == 0)
			continue;
		differing++;
		first = i;
	}
	if (differing == 0)
		return;
	word += first * expected->words;
	while (word[w] == expected->answers[first * expected->words + w])
		w++;
	CHECK(false, "%lu of %lu answers differ (form %d, want %d of the key), first %lu in word %d: "
		  "%ld for %ld", differing, expected->nanswers, spec->form, spec->program.want[0], first,
		  w, word[w], expected->answers[first * expected->words + w]);
}

void *
test_fetch(int channel, GpbFetchWhat what, uint64 n, size_t width)
{
	char	   *records = malloc(n * width + 1);
	uint64		done = 0;

	while (done < n)
	{
		uint64		part = 1 + test_below(n - done);

		CHECK_OK(test_device.api->fetch(test_device.device, channel, what, done, part,
										records + done * width));
		done += part;
	}
	return records;
}

static void
compare_pieces(int channel, int key_width, const TestExpected *expected)
{
	void	   *pieces = test_fetch(channel, GPB_FETCH_PIECES, expected->npieces,
									gpb_piece_width(key_width));
	uint64		differing = 0;
	uint64		i;

	for (i = 0; i < expected->npieces; i++)
	{
		GpbPiece	piece = gpb_piece_at(pieces, i, key_width);
		GpbPiece	other = expected->pieces[i];

		/* a random bound of narrow keys may have the bits of GPB_BOUND_MAX, and is it then */
		if (key_width < GPB_WIDE_KEY)
			other.range = gpb_widen_range(gpb_narrow_range(other.range));
		differing += memcmp(&piece, &other, sizeof(GpbPiece)) != 0;
	}
	CHECK(differing == 0, "%lu of %lu unclean pieces differ", differing, expected->npieces);
	free(pieces);
}

static int	compared_bytes;

static uint64
record_tid(const void *record)
{
	return gpb_load64((const char *) record + 16) & GPB_TID_MASK;
}

static int
compare_records(const void *a, const void *b)
{
	uint64		x = record_tid(a);
	uint64		y = record_tid(b);

	return x != y ? (x < y ? -1 : 1) : memcmp(a, b, compared_bytes);
}

static void
compare_entries(const TestIndex *index, int channel, const GpbRangesSpec *spec,
				TestExpected *expected)
{
	int			width = test_entry_width(&index->layout);
	char	   *entries = test_fetch(channel, GPB_FETCH_ENTRIES, expected->nentries, width);
	uint64		differing = 0;
	uint64		unordered = 0;
	uint64		i;

	if (!spec->program.list_entries && expected->nentries > 0)
	{
		for (i = 1; i < expected->nentries; i++)
			unordered += record_tid(entries + (i - 1) * width) > record_tid(entries + i * width);
		/* entries with the same TID come in any order */
		compared_bytes = width;
		qsort(entries, expected->nentries, width, compare_records);
		qsort(expected->entries, expected->nentries, width, compare_records);
	}
	for (i = 0; i < expected->nentries; i++)
		differing += memcmp(entries + i * width, expected->entries + i * width, width) != 0;
	CHECK(unordered == 0, "%lu entries out of TID order", unordered);
	CHECK(differing == 0, "%lu of %lu listed entries differ", differing, expected->nentries);
	free(entries);
}

/*
 * The bitmap of heap blocks has those of the entries that are to be checked, and no other.  Blocks
 * beyond the spec's are not compared, since a test may expect fewer to be covered than it asked for.
 */
static void
compare_blocks(const TestIndex *index, int channel, const GpbRangesSpec *spec,
			   const TestExpected *expected)
{
	uint32		words = gpb_count_block_words(spec);
	int			width = test_entry_width(&index->layout);
	uint32	   *block_bits = test_fetch(channel, GPB_FETCH_BLOCKS, words, sizeof(uint32));
	uint32	   *wanted = calloc(words + 1, sizeof(uint32));
	uint32		differing = 0;
	uint64		i;

	for (i = 0; i < expected->nentries && words > 0; i++)
	{
		uint32		block = gpb_locator_block(record_tid(expected->entries + i * width));

		if (block < spec->heap_blocks)
			wanted[block / 32] |= (uint32) 1 << (block % 32);
	}
	if (words > 0 && spec->heap_blocks % 32 != 0)
		block_bits[words - 1] &= ((uint32) 1 << (spec->heap_blocks % 32)) - 1;
	for (i = 0; i < words; i++)
		differing += block_bits[i] != wanted[i];
	CHECK(differing == 0, "%u of %u words of heap blocks differ", differing, words);
	free(wanted);
	free(block_bits);
}

/* qsort comparator for groups */
static int
compare_group_records(const void *a, const void *b)
{
	return memcmp(a, b, compared_bytes);
}

/* Are the groups those that are expected, in whichever order they come? */
static void
compare_groups(int channel, const TestExpected *expected)
{
	int			width = expected->group_width;
	char	   *groups = test_fetch(channel, GPB_FETCH_GROUPS, expected->ngroups, width);
	uint64		differing = 0;
	uint64		i;

	compared_bytes = width;
	if (expected->ngroups > 0)
	{
		qsort(groups, expected->ngroups, width, compare_group_records);
		qsort(expected->groups, expected->ngroups, width, compare_group_records);
	}
	for (i = 0; i < expected->ngroups; i++)
		differing += memcmp(groups + i * width, expected->groups + i * width, width) != 0;
	CHECK(differing == 0, "%lu of %lu groups differ", differing, expected->ngroups);
	free(groups);
}

/* Finish the request and compare all but where it wrote; true if there are answers to look at. */
static bool
finish_and_compare(TestMirror *mirror, int channel, const GpbRangesSpec *spec,
				   const int64 *answers, TestExpected *expected)
{
	GpbRangesResult result;
	GpbDeviceStatus status;

	memset(&result, 0x77, sizeof(result));
	status = test_device.api->ranges_finish(test_device.device, channel, &result);
	CHECK_OK(status);
	if (status != GPB_DEVICE_OK)
		return false;
	CHECK((result.faults != 0) == expected->fault, "%lu faults, expected %s", result.faults,
		  expected->fault ? "some" : "none");
	if (expected->fault)
		return false;
	CHECK(result.groups == expected->ngroups, "%lu groups, expected %lu", result.groups,
		  expected->ngroups);
	if (result.groups == expected->ngroups)
		compare_groups(channel, expected);
	CHECK(result.leaves == expected->leaves, "%lu leaves, expected %lu", result.leaves,
		  expected->leaves);
	CHECK(result.unclean == expected->npieces, "%lu unclean pieces, expected %lu",
		  result.unclean, expected->npieces);
	CHECK(result.entries == expected->nentries, "%lu entries listed, expected %lu",
		  result.entries, expected->nentries);
	compare_answers(answers, spec, expected);
	if (result.unclean == expected->npieces)
		compare_pieces(channel, spec->program.layout.key_width, expected);
	if (result.entries == expected->nentries)
		compare_entries(mirror->index, channel, spec, expected);
	compare_blocks(mirror->index, channel, spec, expected);
	return true;
}

void
test_finish_at(TestMirror *mirror, int channel, const GpbRangesSpec *spec, const void *ranges,
			   const int64 *answers)
{
	TestExpected *expected = test_expect(mirror->index, spec, ranges, mirror->visible);

	finish_and_compare(mirror, channel, spec, answers, expected);
	test_expected_free(expected);
}

void
test_finish(TestMirror *mirror, int channel, const GpbRangesSpec *spec, const void *ranges)
{
	TestExpected *expected = test_expect(mirror->index, spec, ranges, mirror->visible);
	const Memory *memory = in_flight[channel];

	CHECK(memory->answer_bytes == expected->nanswers * expected->words * 8, "room for answers");
	if (finish_and_compare(mirror, channel, spec, (const int64 *) memory->answers, expected))
		compare_memory(memory, ranges);
	take_memory(channel);
	test_expected_free(expected);
}

/* ---- asking ---- */

void
test_ask(TestMirror *mirror, int channel, const GpbRangesSpec *spec, const void *ranges)
{
	CHECK_OK(test_launch(mirror, channel, spec, ranges));
	test_finish(mirror, channel, spec, ranges);
}

GpbDeviceStatus
test_try(TestMirror *mirror, int channel, const GpbRangesSpec *spec, const void *ranges)
{
	GpbRangesResult result;
	GpbDeviceStatus status = test_launch(mirror, channel, spec, ranges);

	if (status == GPB_DEVICE_OK)
		status = test_device.api->ranges_finish(test_device.device, channel, &result);
	take_memory(channel);
	return status;
}

void
test_ask_range(TestMirror *mirror, GpbNarrowRange range)
{
	GpbRangesSpec spec = test_spec(mirror, 1);

	test_ask(mirror, 0, &spec, &range);
}

void
test_ask_whole(TestMirror *mirror)
{
	GpbRangesSpec spec = test_spec(mirror, 1);

	test_ask(mirror, 0, &spec, test_whole_of(mirror));
}

void
test_ask_singly(TestMirror *mirror, int n)
{
	while (n-- > 0)
	{
		GpbRangesSpec spec = test_spec(mirror, 1);
		void	   *range = test_random_ranges(mirror, &spec, 0);

		test_ask(mirror, 0, &spec, range);
		free(range);
	}
}

void
test_ask_forms(TestMirror *mirror, uint32 n, uint64 entries)
{
	int			round;

	for (round = 0; round < 9; round++)
	{
		GpbRangesSpec spec = test_spec(mirror, n);
		void	   *ranges;

		if (test_emulated && round >= 3 && !test_once_in(3))
			continue;			/* of lists and totals some form */
		spec.form = (GpbRangeForm) (round % 3);
		spec.program.list_entries = round / 3 == 1;
		spec.total = round / 3 == 2;
		if (test_once_in(2))
			test_random_wants(&spec);
		ranges = test_random_ranges(mirror, &spec, entries);
		test_ask(mirror, 0, &spec, ranges);
		free(ranges);
	}
}

/* ---- shapes ---- */

TestShape
test_plain_shape(uint32 nentries)
{
	static const int int4[] = {GPB_KIND_INT4};
	TestShape	shape;

	memset(&shape, 0, sizeof(shape));
	shape.layout = test_layout(8, 0, 1, int4);
	shape.nentries = nentries;
	return shape;
}

TestShape
test_small_leaves(uint32 nentries)
{
	TestShape	shape = test_plain_shape(nentries);

	shape.leaf_entries = 60;
	shape.empty_leaves = 20;
	return shape;
}

TestMirror *
test_filled(const TestShape *shape)
{
	TestMirror *mirror = test_mirror_create(shape);

	test_mirror_fill(mirror, false);
	return mirror;
}
