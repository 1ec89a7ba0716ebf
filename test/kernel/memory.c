/*-------------------------------------------------------------------------
 *
 * memory.c
 *	  Requests of ranges that cannot be answered: too little memory, nonsense; and what is accounted
 *	  for.  One promise to a test.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "harness.h"

static const int one_float8[] = {GPB_KIND_FLOAT8};

#define SMALL_LIMIT		((uint64) 24 << 20)

/* ---- refused ---- */

/* What is not answered is refused, with a reason, and the channel goes on. */
TEST(refused)
{
	TestShape	shape = test_plain_shape(2000);
	TestMirror *mirror;
	GpbRangesSpec spec;
	GpbRangesResult result;
	void	   *ranges;

	shape.layout = test_layout(8, 0, 1, one_float8);
	mirror = test_filled(&shape);
	spec = test_spec(mirror, 20);
	spec.form = GPB_RANGE_KEYS;
	ranges = test_random_ranges(mirror, &spec, 100);
	spec.program.want[2] = GPB_WANT_COUNT;
	CHECK(test_try(mirror, 0, &spec, ranges) == GPB_DEVICE_NO_MEMORY, "no such column");
	CHECK(test_device.api->last_error(test_device.device)[0] != '\0', "no reason given");
	CHECK(test_device.api->ranges_finish(test_device.device, 0, &result) ==
		  GPB_DEVICE_NO_MEMORY, "finished what was refused");
	/* a list wants no column, so none is looked at */
	spec.program.list_entries = true;
	test_ask(mirror, 0, &spec, ranges);
	spec.program.list_entries = false;
	spec.program.want[2] = 0;
	test_ask(mirror, 0, &spec, ranges);
	free(ranges);
	test_mirror_free(mirror);
}

/* Fetching beyond what there is is refused. */
TEST(fetch_beyond)
{
	TestShape	shape = test_plain_shape(3000);
	TestMirror *mirror = test_filled(&shape);
	GpbRangesSpec spec = test_spec(mirror, 5);
	void	   *ranges = test_random_ranges(mirror, &spec, 100);
	GpbRangesResult result;
	char		into[4096];

	test_ask(mirror, 0, &spec, ranges);
	CHECK(test_device.api->fetch(test_device.device, 0, GPB_FETCH_PIECES, 0, 1, into) ==
		  GPB_DEVICE_NO_MEMORY, "a piece where there is none");
	CHECK(test_device.api->fetch(test_device.device, 0, GPB_FETCH_ENTRIES, 1, 1, into) ==
		  GPB_DEVICE_NO_MEMORY, "an entry where there is none");
	CHECK(test_device.api->fetch(test_device.device, 0, GPB_FETCH_BLOCKS,
								 gpb_count_block_words(&spec), 1, into) == GPB_DEVICE_NO_MEMORY,
		  "a word of heap blocks beyond the last");
	spec.program.list_entries = true;
	CHECK_OK(test_launch_at(mirror, 0, &spec, ranges, NULL));
	CHECK_OK(test_device.api->ranges_finish(test_device.device, 0, &result));
	CHECK(test_device.api->fetch(test_device.device, 0, GPB_FETCH_BLOCKS, 0, 1, into) ==
		  GPB_DEVICE_NO_MEMORY, "heap blocks of a list");
	CHECK(result.entries > 3, "only %lu entries listed", result.entries);
	CHECK(test_device.api->fetch(test_device.device, 0, GPB_FETCH_ENTRIES, result.entries - 2, 3,
								 into) == GPB_DEVICE_NO_MEMORY, "entries beyond the last");
	free(ranges);
	test_mirror_free(mirror);
}

/* More ranges than any memory holds: refused before they are read. */
TEST(too_many_ranges)
{
	TestDevice	whole = test_device;
	TestShape	shape = test_plain_shape(3000);
	TestMirror *mirror;
	GpbRangesSpec spec;
	GpbNarrowKeyRange ranges[20];
	uint32		i;

	test_open(&test_device, whole.api, (uint64) 64 << 20);
	mirror = test_filled(&shape);
	spec = test_spec(mirror, 0x7FFFFFFF);
	spec.form = GPB_RANGE_KEYS;
	for (i = 0; i < 20; i++)
		ranges[i] = test_near_keys(mirror, 100);
	CHECK(test_launch_at(mirror, 0, &spec, ranges, ranges) == GPB_DEVICE_NO_MEMORY, "not refused");
	CHECK(test_device.api->last_error(test_device.device)[0] != '\0', "no reason given");
	spec.n = 20;
	test_ask(mirror, 0, &spec, ranges);
	test_mirror_free(mirror);
	test_close(&test_device);
	test_device = whole;
}

/* ---- limits ---- */

/* An upload too large fails; the device goes on, and what was there stays. */
TEST(memory_exhausted)
{
	TestDevice	whole = test_device;
	TestShape	shape = test_plain_shape(20000);
	TestMirror *mirror;
	TestMirror *large;
	GpbDeviceInfo info;
	uint32	   *blocks;
	uint32		n = 0;

	test_open(&test_device, whole.api, SMALL_LIMIT);
	mirror = test_filled(&shape);
	test_ask_whole(mirror);

	shape.leaf_entries = 4;
	large = test_mirror_create(&shape);
	blocks = calloc(large->nblocks, sizeof(uint32));
	for (n = 0; n < large->nblocks; n++)
		blocks[n] = n;
	CHECK(test_upload(large, blocks, n, 11) == GPB_DEVICE_NO_MEMORY, "not refused");
	CHECK(test_device.api->last_error(test_device.device)[0] != '\0', "no reason given");
	test_device.api->describe(test_device.device, &info);
	CHECK(info.memory_used <= SMALL_LIMIT, "%lu bytes used", info.memory_used);
	test_ask_whole(mirror);
	test_mirror_free(large);
	free(blocks);

	/* room again */
	shape.leaf_entries = 0;
	large = test_filled(&shape);
	test_ask_whole(large);
	test_ask_whole(mirror);
	test_mirror_free(large);
	test_mirror_free(mirror);
	test_close(&test_device);
	test_device = whole;
}

/* No memory for a list: the request fails whole. */
TEST(memory_exhausted_by_list)
{
	TestDevice	whole = test_device;
	int			kinds[GPB_MAX_INCLUDE];
	TestShape	shape = test_plain_shape(30000);
	TestMirror *mirror;
	GpbRangesSpec spec;
	GpbDeviceStatus status;
	int			c;

	for (c = 0; c < GPB_MAX_INCLUDE; c++)
		kinds[c] = GPB_KIND_INT8;
	shape.layout = test_layout(8, 0, GPB_MAX_INCLUDE, kinds);
	test_open(&test_device, whole.api, SMALL_LIMIT);
	mirror = test_filled(&shape);
	test_random_visible(mirror, 1);
	spec = test_spec(mirror, 1);
	status = test_try(mirror, 0, &spec, &test_whole);
	/* the host device may find room; then the answer must be right */
	CHECK(status == GPB_DEVICE_NO_MEMORY || status == GPB_DEVICE_OK, "status %d", status);
	if (status == GPB_DEVICE_OK)
		test_ask_whole(mirror);
	test_random_visible(mirror, 100);
	test_ask_whole(mirror);
	test_mirror_free(mirror);
	test_close(&test_device);
	test_device = whole;
}

TEST(memory_accounted)
{
	TestShape	shape = test_plain_shape(20000);
	GpbDeviceInfo before;
	GpbDeviceInfo during;
	GpbDeviceInfo after;
	TestMirror *mirror;
	uint64		bytes;

	/* buffers that stay are there after a first round */
	mirror = test_filled(&shape);
	test_ask_whole(mirror);
	test_mirror_free(mirror);
	test_device.api->describe(test_device.device, &before);
	mirror = test_filled(&shape);
	bytes = test_device.api->mirror_bytes(mirror->mirror);
	test_device.api->describe(test_device.device, &during);
	CHECK(bytes >= (uint64) mirror->index->nleaves * GPB_PAGE_SIZE, "only %lu bytes", bytes);
	CHECK(during.memory_used >= before.memory_used + bytes / 2, "used memory did not grow");
	test_mirror_free(mirror);
	test_device.api->describe(test_device.device, &after);
	CHECK(after.memory_used == before.memory_used, "%ld bytes not given back",
		  (int64) (after.memory_used - before.memory_used));
}

/* What a filled mirror of this shape and a request of one range over it take */
static uint64
used_by_mirror(const TestShape *shape)
{
	TestMirror *mirror = test_filled(shape);
	GpbDeviceInfo info;

	test_ask_whole(mirror);
	test_device.api->describe(test_device.device, &info);
	test_mirror_free(mirror);
	/* pages differ from one random index to another, by less than this */
	return info.memory_used + 200000;
}

/* On a device of limited memory: a request that wants much, then one that has its memory. */
static GpbDeviceStatus
ask_within_limit(const TestShape *shape, bool list)
{
	TestMirror *mirror = test_filled(shape);
	GpbRangesSpec spec = test_spec(mirror, 300);
	GpbDeviceStatus status;
	GpbDeviceInfo info;
	void	   *ranges;

	test_ask_whole(mirror);		/* channel 0 has its memory now */
	spec.program.list_entries = list;
	spec.form = GPB_RANGE_KEYS;
	ranges = test_random_ranges(mirror, &spec, 4000);
	test_random_visible(mirror, 1);
	status = test_try(mirror, 1, &spec, ranges);
	if (status == GPB_DEVICE_NO_MEMORY)
		CHECK(test_device.api->last_error(test_device.device)[0] != '\0', "no reason given");
	test_device.api->describe(test_device.device, &info);
	CHECK(info.memory_used <= info.memory_limit, "%lu bytes used of %lu", info.memory_used,
		  info.memory_limit);
	test_all_visible(mirror, true);
	test_ask_whole(mirror);
	if (status == GPB_DEVICE_OK)
		test_ask(mirror, 1, &spec, ranges);
	free(ranges);
	test_mirror_free(mirror);
	return status;
}

/*
 * Memory that runs out at each step of a request: it fails whole, and the device
 * goes on.  The limit grows until the request succeeds.
 */
TEST(memory_limits)
{
	TestDevice	whole = test_device;
	TestShape	shape = test_plain_shape(8000);
	uint64		base;
	int			list;

	test_open(&test_device, whole.api, 0);
	base = used_by_mirror(&shape);
	test_close(&test_device);
	for (list = 0; list < 2; list++)
	{
		GpbDeviceStatus status = GPB_DEVICE_NO_MEMORY;
		uint64		more = 1024;
		int			failed = 0;

		for (; status == GPB_DEVICE_NO_MEMORY; more += more / 3)
		{
			test_open(&test_device, whole.api, base + more);
			status = ask_within_limit(&shape, list);
			CHECK(status == GPB_DEVICE_OK || status == GPB_DEVICE_NO_MEMORY, "status %d", status);
			failed += status == GPB_DEVICE_NO_MEMORY;
			test_close(&test_device);
		}
		CHECK(failed > 3, "memory ran out only %d times", failed);
	}
	test_device = whole;
}
