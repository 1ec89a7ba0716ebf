/*-------------------------------------------------------------------------
 *
 * search.c
 *	  Batches of searches, held to the model.
 *
 *-------------------------------------------------------------------------
 */
#define _GNU_SOURCE				/* memfd_create */
#include <dlfcn.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../../cuda/bench.h"
#include "search_batch.h"

static const int one_int4[] = {GPB_KIND_INT4};

/* Keys in a large batch; fewer where threads are fibers */
static uint32
large(uint32 n)
{
	return test_emulated ? n / 15 : n;
}

/* One piece */
static void
search_once(TestMirror *mirror, GpbSearchBound bound, GpbSearchOrder order, uint32 n,
			TestKeyOrder how, bool positions)
{
	TestBatch  *batch = test_batch_create(mirror, bound, order, n, test_once_in(2));

	test_batch_piece(batch, n, how, positions);
	batch->spec.ascending = how == TEST_KEYS_ASCENDING && test_once_in(2);
	test_batch_run(batch);
}

/* Every bound and order, with positions and without */
static void
search_all(TestMirror *mirror, uint32 n)
{
	int			bound;
	int			order;

	for (bound = GPB_SEARCH_LOWER; bound <= GPB_SEARCH_EQUAL; bound++)
	{
		for (order = GPB_ORDER_INPUT; order <= GPB_ORDER_KEY; order++)
		{
			search_once(mirror, bound, order, n, (TestKeyOrder) test_below(TEST_KEY_ORDERS), false);
			search_once(mirror, bound, order, n, (TestKeyOrder) test_below(TEST_KEY_ORDERS), true);
		}
	}
}

/* ---- mirrors ---- */

static TestShape
search_shape(uint32 nentries)
{
	TestShape	shape;

	memset(&shape, 0, sizeof(shape));
	shape.layout = test_layout(8, 0, 1, one_int4);
	shape.nentries = nentries;
	shape.leaf_entries = 40;
	return shape;
}

static TestMirror *
search_mirror(const TestShape *shape)
{
	TestMirror *mirror = test_mirror_create(shape);

	test_mirror_fill(mirror, false);
	return mirror;
}

static void
search_shape_all(const TestShape *shape, uint32 n)
{
	TestMirror *mirror = search_mirror(shape);

	search_all(mirror, n);
	test_mirror_free(mirror);
}

/* ---- the tests ---- */

TEST(search_key_orders)
{
	TestShape	shape = search_shape(6000);
	TestMirror *mirror = search_mirror(&shape);
	int			bound;
	int			order;
	int			how;

	for (bound = GPB_SEARCH_LOWER; bound <= GPB_SEARCH_EQUAL; bound++)
		for (order = GPB_ORDER_INPUT; order <= GPB_ORDER_KEY; order++)
			for (how = TEST_KEYS_RANDOM; how < TEST_KEY_ORDERS; how++)
				search_once(mirror, bound, order, 1 + (uint32) test_below(3000), how,
							test_once_in(2));
	test_mirror_free(mirror);
}

/* Each width, ascending and descending, NULLs at either end */
TEST(search_layouts)
{
	TestShape	shape = search_shape(4000);
	int			key_width;
	int			flags;

	shape.null_keys = 50;
	for (key_width = 4; key_width <= GPB_WIDE_KEY; key_width *= 2)
	{
		for (flags = 0; flags <= (GPB_LAYOUT_DESC | GPB_LAYOUT_NULLS_FIRST); flags++)
		{
			shape.layout = test_layout(key_width, flags, flags & 1, one_int4);
			search_shape_all(&shape, 500);
		}
	}
}

TEST(search_large_batch)
{
	TestShape	shape = search_shape(60000);
	int			key_width;

	shape.leaf_entries = 0;
	for (key_width = 8; key_width <= GPB_WIDE_KEY; key_width *= 2)
	{
		TestMirror *mirror;
		int			order;

		shape.layout = test_layout(key_width, 0, 1, one_int4);
		mirror = search_mirror(&shape);
		for (order = GPB_ORDER_INPUT; order <= GPB_ORDER_KEY; order++)
		{
			search_once(mirror, GPB_SEARCH_LOWER, order, large(300000), TEST_KEYS_RANDOM, false);
			search_once(mirror, GPB_SEARCH_EQUAL, order, large(200000), TEST_KEYS_RANDOM, true);
			search_once(mirror, GPB_SEARCH_UPPER, order, large(65537), TEST_KEYS_ASCENDING, true);
		}
		test_mirror_free(mirror);
	}
}

/*
 * Positions of keys that the device has sorted as far as serves it, which it does with many keys:
 * those outside of all separators, too
 */
TEST(search_sorted_positions)
{
	GpbChooseSorting choose = NULL;
	TestShape	shape = search_shape(3000);
	int			key_width;
	int			bound;

	if (test_library != NULL)
	{
		choose = (GpbChooseSorting) dlsym(test_library, GPB_SORTING_ENTRY);
		CHECK(choose != NULL, "no " GPB_SORTING_ENTRY);
	}
	if (choose != NULL)
		choose(2);
	shape.distinct_keys = shape.nentries;
	for (key_width = 4; key_width <= GPB_WIDE_KEY; key_width *= 2)
	{
		TestMirror *mirror;

		shape.layout = test_layout(key_width, 0, 1, one_int4);
		mirror = search_mirror(&shape);
		for (bound = GPB_SEARCH_LOWER; bound <= GPB_SEARCH_EQUAL; bound++)
			search_once(mirror, bound, GPB_ORDER_NEAR, 5000, TEST_KEYS_RANDOM, true);
		test_mirror_free(mirror);
	}
	if (choose != NULL)
		choose(0);
}

/* As many keys as a batch can have, and as come again; fewer where threads are fibers */
#define MOST_KEYS		(test_emulated ? 50000u : 0x7FFFFFFFu)
#define PERIOD			((uint32) 1 << (test_emulated ? 12 : 20))

/*
 * An array of MOST_KEYS elements of 4 bytes in the memory of two periods: one that comes again and
 * again, at *body, and the last, at *tail, which is the array's end.
 */
static uint32 *
repeated_array(uint32 **body, uint32 **tail)
{
	size_t		bytes = (size_t) PERIOD * sizeof(uint32);
	size_t		periods = MOST_KEYS / PERIOD + 1;
	int			file = memfd_create("keys", 0);
	char	   *array = mmap(NULL, periods * bytes, PROT_NONE,
							 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
	bool		ok = file >= 0 && array != MAP_FAILED && ftruncate(file, 2 * bytes) == 0;
	size_t		i;

	for (i = 0; ok && i < periods; i++)
		ok = mmap(array + i * bytes, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
				  i + 1 < periods ? 0 : bytes) != MAP_FAILED;
	close(file);
	CHECK(ok, "no address space for %u keys", MOST_KEYS);
	*body = (uint32 *) array;
	*tail = (uint32 *) (array + (periods - 1) * bytes);
	return ok ? (uint32 *) array : NULL;
}

static void
search_leaves(TestMirror *mirror, uint32 *keys, uint32 *leaves, uint32 n)
{
	GpbSearchSpec spec;

	memset(&spec, 0, sizeof(spec));
	spec.bound = GPB_SEARCH_LOWER;
	spec.npieces = 1;
	spec.piece[0].keys = keys;
	spec.piece[0].leaf = leaves;
	spec.piece[0].n = n;
	CHECK_OK(test_device.api->search_launch(test_device.device, mirror->mirror, 0, &spec, NULL, 0));
	CHECK_OK(test_device.api->search_finish(test_device.device, 0));
}

/*
 * A small batch of the same keys says what to expect.  Two leaves are as few comparisons a key as tell
 * right from wrong: this is about the number of keys.
 */
TEST(search_most_keys)
{
	TestShape	shape = search_shape(80);
	TestMirror *mirror;
	uint32	   *body[2];
	uint32	   *tail[2];
	uint32	   *keys = repeated_array(&body[0], &tail[0]);
	uint32	   *leaves = repeated_array(&body[1], &tail[1]);
	uint32	   *expected = malloc(2 * (size_t) PERIOD * sizeof(uint32));
	uint32		last = MOST_KEYS % PERIOD;	/* elements of the tail */
	uint32		wrong = 0;
	uint32		i;

	if (keys == NULL || leaves == NULL)
		return;
	shape.layout = test_layout(4, 0, 1, one_int4);
	mirror = search_mirror(&shape);
	for (i = 0; i < PERIOD; i++)
	{
		body[0][i] = (uint32) test_random();
		tail[0][i] = (uint32) test_random();
	}
	search_leaves(mirror, body[0], expected, PERIOD);
	search_leaves(mirror, tail[0], expected + PERIOD, last);
	search_leaves(mirror, keys, leaves, MOST_KEYS);
	for (i = 0; i < PERIOD; i++)
		wrong += body[1][i] != expected[i] || (i < last && tail[1][i] != expected[PERIOD + i]);
	CHECK(wrong == 0, "%u of %u leaves are wrong", wrong, 2 * PERIOD);
	free(expected);
	munmap(keys, (size_t) (MOST_KEYS / PERIOD + 1) * PERIOD * sizeof(uint32));
	munmap(leaves, (size_t) (MOST_KEYS / PERIOD + 1) * PERIOD * sizeof(uint32));
	test_mirror_free(mirror);
}

TEST(search_few_keys)
{
	TestShape	shape = search_shape(2000);
	TestMirror *mirror = search_mirror(&shape);
	uint32		n;

	for (n = 0; n < 70; n += n < 4 ? 1 : 13)
		search_all(mirror, n);
	test_mirror_free(mirror);
}

TEST(search_pieces)
{
	TestShape	shape = search_shape(5000);
	TestMirror *mirror = search_mirror(&shape);
	int			round;

	for (round = 0; round < 24; round++)
	{
		bool		positions = test_once_in(2);
		uint32		npieces = round % 4 == 0 ? GPB_SEARCH_PIECES : (uint32) test_below(9);
		TestBatch  *batch = test_batch_create(mirror, (GpbSearchBound) (round % 3),
											  GPB_ORDER_INPUT, (size_t) npieces * 3000,
											  test_once_in(2));
		bool		ascending = test_once_in(4);
		uint32		p;

		batch->spec.ascending = ascending;
		for (p = 0; p < npieces; p++)
			test_batch_piece(batch,
							 test_once_in(4) ? 0 : (uint32) test_below(test_once_in(8) ? 3000 : 60),
							 ascending ? TEST_KEYS_ASCENDING :
							 (TestKeyOrder) test_below(TEST_KEY_ORDERS), positions);
		test_batch_run(batch);
	}
	test_mirror_free(mirror);
}

/* An empty root leaf, then a few entries on one */
TEST(search_one_leaf)
{
	TestShape	shape = search_shape(0);

	search_shape_all(&shape, 30);
	for (shape.nentries = 1; shape.nentries < 30; shape.nentries += 7)
		search_shape_all(&shape, 100);
}

/* One key on all leaves, then a few keys that begin anywhere on a leaf */
TEST(search_duplicates)
{
	TestShape	shape = search_shape(3000);

	for (shape.distinct_keys = 1; shape.distinct_keys < 200; shape.distinct_keys *= 6)
		search_shape_all(&shape, 300);
}

/* Leaves emptied by VACUUM lie between a separator and the key's first occurrence */
TEST(search_empty_leaves)
{
	TestShape	shape = search_shape(4000);

	shape.leaf_entries = 8;
	shape.empty_leaves = 2;
	search_shape_all(&shape, 500);
	shape.distinct_keys = 20;
	search_shape_all(&shape, 500);
	shape.empty_leaves = 1;
	search_shape_all(&shape, 500);
}

TEST(search_unclean_changed)
{
	TestShape	shape = search_shape(4000);
	TestMirror *mirror;

	shape.distinct_keys = 300;
	shape.empty_leaves = 10;
	mirror = search_mirror(&shape);
	test_change_leaves(mirror, 4);
	search_all(mirror, 1000);
	test_mirror_free(mirror);
}

TEST(search_unclean_newer)
{
	TestShape	shape = search_shape(4000);
	TestMirror *mirror = search_mirror(&shape);

	test_newer_images(mirror);
	search_all(mirror, 1000);
	test_next_epoch(mirror);
	search_all(mirror, 1000);
	test_mirror_free(mirror);
}

TEST(search_unclean_split)
{
	TestShape	shape = search_shape(4000);
	TestMirror *mirror = test_mirror_create(&shape);
	TestIndex  *index = mirror->index;

	test_split_leaves(index);
	test_mirror_fill(mirror, true);
	search_all(mirror, 1000);
	test_mirror_free(mirror);
}

/* Blocks that the map does not cover, and leaves without an image */
TEST(search_unclean_unknown)
{
	TestShape	shape = search_shape(3000);
	TestMirror *mirror = test_mirror_create(&shape);
	TestIndex  *index = mirror->index;
	uint32		i;

	for (i = 0; i < index->nblocks; i++)
	{
		if (i != index->leaf[0].block)
			CHECK_OK(test_upload(mirror, &i, 1, mirror->epoch));
	}
	CHECK_OK(test_set_inner(mirror));
	mirror->nblocks = mirror->nblocks / 2;
	for (i = 0; i < index->nleaves; i++)
		index->leaf[i].unclean = i == 0 || index->leaf[i].block >= mirror->nblocks;
	search_all(mirror, 1000);
	test_mirror_free(mirror);
}

TEST(search_no_inner_image)
{
	TestShape	shape = search_shape(1000);
	TestMirror *mirror = test_mirror_create(&shape);
	TestBatch  *batch = test_batch_create(mirror, GPB_SEARCH_LOWER, GPB_ORDER_INPUT, 10, true);

	test_batch_piece(batch, 10, TEST_KEYS_RANDOM, false);
	CHECK(test_batch_launch(batch, 0) == GPB_DEVICE_NO_MEMORY, "not refused");
	CHECK(test_device.api->last_error(test_device.device)[0] != '\0', "no reason given");
	test_batch_guards(batch);
	test_batch_free(batch);
	test_mirror_fill(mirror, false);
	search_once(mirror, GPB_SEARCH_LOWER, GPB_ORDER_INPUT, 10, TEST_KEYS_RANDOM, true);
	test_mirror_free(mirror);
}

/* What is uploaded after the launch is not seen by it, however far it has come. */
TEST(search_upload_after_launch)
{
	TestShape	shape = search_shape(20000);
	TestMirror *mirror = search_mirror(&shape);
	int			round;

	for (round = 0; round < 6; round++)
	{
		TestBatch  *batch = test_batch_create(mirror, (GpbSearchBound) (round % 3),
											  (GpbSearchOrder) (round / 2), large(200000), false);
		uint32		i;

		test_batch_piece(batch, large(200000), TEST_KEYS_RANDOM, true);
		CHECK_OK(test_batch_launch(batch, 1));
		test_batch_poll(1, round);
		for (i = 0; i < mirror->index->nleaves; i += 7)
			CHECK_OK(test_upload(mirror, &mirror->index->leaf[i].block, 1, mirror->epoch + 1));
		test_batch_finish(batch, 1);
		test_batch_free(batch);
		for (i = 0; i < mirror->index->nleaves; i += 7)
			CHECK_OK(test_upload(mirror, &mirror->index->leaf[i].block, 1, mirror->epoch));
	}
	test_mirror_free(mirror);
}

/* Another inner image after the launch is not seen by it. */
TEST(search_inner_after_launch)
{
	TestShape	shape = search_shape(20000);
	TestMirror *mirror = search_mirror(&shape);
	int			positions;

	for (positions = 0; positions <= 1; positions++)
	{
		TestBatch  *batch = test_batch_create(mirror, GPB_SEARCH_LOWER, GPB_ORDER_KEY,
											  large(200000), false);

		test_batch_piece(batch, large(200000), TEST_KEYS_RANDOM, positions);
		CHECK_OK(test_batch_launch(batch, 2));
		test_batch_poll(2, positions);
		CHECK_OK(test_device.api->set_inner(test_device.device, mirror->mirror, 0, NULL, NULL,
											mirror->index->leaf[0].block));
		test_batch_finish(batch, 2);
		test_batch_free(batch);
		CHECK_OK(test_set_inner(mirror));
	}
	search_all(mirror, 200);
	test_mirror_free(mirror);
}

TEST(search_destroy_in_flight)
{
	TestShape	shape = search_shape(20000);
	TestMirror *mirror = search_mirror(&shape);
	TestBatch  *batch = test_batch_create(mirror, GPB_SEARCH_EQUAL, GPB_ORDER_NEAR,
										  large(200000), false);

	test_batch_piece(batch, large(200000), TEST_KEYS_RANDOM, true);
	CHECK_OK(test_batch_launch(batch, 0));
	test_batch_poll(0, 1);
	test_device.api->mirror_destroy(test_device.device, mirror->mirror);
	test_batch_poll(0, 1);
	test_batch_finish(batch, 0);
	test_batch_free(batch);
	CHECK_OK(test_device.api->mirror_create(test_device.device, &mirror->index->layout,
											&mirror->mirror));
	test_mirror_free(mirror);
}

/* Searches and requests of ranges on many channels, finished in another order than launched */
TEST(search_channels)
{
	TestShape	shape = search_shape(8000);
	TestMirror *mirror = search_mirror(&shape);
	GpbRangesSpec spec = test_spec(mirror, 1);
	TestBatch  *batch[8];
	int			i;

	for (i = 0; i < 8; i++)
	{
		batch[i] = test_batch_create(mirror, (GpbSearchBound) (i % 3), (GpbSearchOrder) (i / 3),
									 5000, false);
		test_batch_piece(batch[i], 5000, TEST_KEYS_RANDOM, i & 1);
		CHECK_OK(test_batch_launch(batch[i], i));
		CHECK_OK(test_launch(mirror, 8 + i, &spec, &test_whole));
	}
	for (i = 7; i >= 0; i--)
	{
		test_finish(mirror, 8 + i, &spec, &test_whole);
		test_batch_finish(batch[i], i);
		test_batch_free(batch[i]);
	}
	test_mirror_free(mirror);
}

/* A search, or a request of ranges, that nobody waits for ends when the other is launched. */
TEST(search_abandoned)
{
	TestShape	shape = search_shape(8000);
	TestMirror *mirror = search_mirror(&shape);
	GpbRangesSpec spec = test_spec(mirror, 100);
	GpbNarrowRange *ranges = calloc(spec.n, sizeof(GpbNarrowRange));
	TestBatch  *batch[2];
	bool		ended = false;
	uint64		touched = 0;
	size_t		i;

	for (i = 0; i < spec.n; i++)
		ranges[i] = test_whole;
	for (i = 0; i < 2; i++)
	{
		batch[i] = test_batch_create(mirror, GPB_SEARCH_LOWER, (GpbSearchOrder) i, 5000, false);
		test_batch_piece(batch[i], 5000, TEST_KEYS_RANDOM, true);
	}
	CHECK_OK(test_launch(mirror, 4, &spec, ranges));
	CHECK_OK(test_batch_launch(batch[0], 4));
	test_batch_finish(batch[0], 4);
	CHECK_OK(test_device.api->poll(test_device.device, 4, &ended));
	CHECK(ended, "ranges go on after the search that was launched later");
	CHECK_OK(test_batch_launch(batch[1], 4));
	test_ask(mirror, 4, &spec, ranges);
	memset(batch[1]->arena, 0x5A, batch[1]->size);
	test_mirror_free(mirror);	/* where all that reads it comes to its end */
	for (i = 0; i < batch[1]->size; i++)
		touched += batch[1]->arena[i] != 0x5A;
	CHECK(touched == 0, "%lu bytes of an abandoned search written", touched);
	for (i = 0; i < 2; i++)
		test_batch_free(batch[i]);
	free(ranges);
}

/* Poll alone brings a batch to its end, a bounded part at a time. */
TEST(search_polled)
{
	TestShape	shape = search_shape(8000);
	TestMirror *mirror = search_mirror(&shape);
	int			order;

	for (order = GPB_ORDER_INPUT; order <= GPB_ORDER_KEY; order++)
	{
		TestBatch  *batch = test_batch_create(mirror, GPB_SEARCH_LOWER, (GpbSearchOrder) order,
											  large(300000), true);
		int			n;

		test_batch_piece(batch, large(300000), TEST_KEYS_RANDOM, true);
		CHECK_OK(test_batch_launch(batch, 5));
		n = test_batch_poll(5, 1000000000);
		if (strcmp(test_device.api->name, "host") == 0)
			CHECK(n >= 5 && n <= 200, "%d polls for 300,000 keys", n);
		test_batch_check(batch);	/* before finish: it has ended */
		CHECK_OK(test_device.api->search_finish(test_device.device, 5));
		test_batch_check(batch);
		test_batch_free(batch);
	}
	test_mirror_free(mirror);
}

/* A batch too large fails, at its launch or its finish; the device goes on. */
TEST(search_memory)
{
	TestDevice	whole = test_device;
	TestShape	shape = search_shape(3000);
	TestMirror *mirror;
	GpbDeviceInfo info;
	TestBatch  *batch;
	GpbDeviceStatus status;

	test_open(&test_device, whole.api, (uint64) 24 << 20);
	mirror = search_mirror(&shape);
	search_all(mirror, 500);
	batch = test_batch_create(mirror, GPB_SEARCH_LOWER, GPB_ORDER_KEY, 3000000, false);
	test_batch_piece(batch, 3000000, TEST_KEYS_RANDOM, true);
	status = test_batch_launch(batch, 3);
	if (status == GPB_DEVICE_OK)
		status = test_device.api->search_finish(test_device.device, 3);
	CHECK(status == GPB_DEVICE_NO_MEMORY, "status %d", status);
	CHECK(test_device.api->last_error(test_device.device)[0] != '\0', "no reason given");
	test_batch_guards(batch);
	test_batch_free(batch);
	test_device.api->describe(test_device.device, &info);
	CHECK(info.memory_used <= (uint64) 24 << 20, "%lu bytes used", info.memory_used);
	search_all(mirror, 500);
	test_mirror_free(mirror);
	test_close(&test_device);
	test_device = whole;
}

TEST(search_random_everything)
{
	int			round;

	for (round = 0; round < 25; round++)
	{
		TestShape	shape = search_shape(1 + (uint32) test_below(12000));
		TestMirror *mirror;

		shape.layout = test_layout(4 << test_below(3), (int) test_below(4), 0, NULL);
		shape.leaf_entries = (uint32) test_below(400);
		shape.inner_entries = (uint32) test_below(200);
		shape.distinct_keys = test_below(shape.nentries);
		shape.null_keys = (uint32) test_below(10);
		shape.empty_leaves = (uint32) test_below(10);
		mirror = search_mirror(&shape);
		test_change_leaves(mirror, 20);
		search_all(mirror, 1 + (uint32) test_below(2000));
		test_mirror_free(mirror);
	}
}
