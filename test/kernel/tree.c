/*-------------------------------------------------------------------------
 *
 * tree.c
 *	  The tree over the separators: kept up to date in place, damaged, out of memory.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>

#include "separators.h"

/* Most keys of one look; more are left out evenly */
#define LOOK_KEYS		20000

/* ---- holding a tree to the model ---- */

/* Keys beside each separator, and the ends; as the device takes them.  Their number to *n. */
static char *
keys_around(const TestTree *tree, uint32 *n)
{
	TestKey		max = test_key_max(tree->width);
	uint32		stride = tree->n * 3 / LOOK_KEYS + 1;
	char	   *keys = malloc(((size_t) tree->n * 3 + 2) * tree->width);
	uint32		i;

	test_put_key(keys, tree->width, 0, 0);
	test_put_key(keys, tree->width, 1, max);
	*n = 2;
	for (i = 0; i < tree->n; i += stride)
	{
		TestKey		key = tree->flat[i].key;

		test_put_key(keys, tree->width, (*n)++, (key - 1) & max);
		test_put_key(keys, tree->width, (*n)++, key);
		test_put_key(keys, tree->width, (*n)++, (key + 1) & max);
	}
	return keys;
}

/* A batch through the interface: keys and results in the registered region, or not */
static GpbDeviceStatus
look_up(const TestTree *tree, GpbSearchBound bound, const char *keys, uint32 n, bool registered,
		uint32 *leaf)
{
	size_t		bytes = (size_t) n * tree->width;
	size_t		offset = (bytes + 15) & ~(size_t) 15;
	char	   *memory = registered ? test_device.staging : malloc(offset + n * sizeof(uint32));
	GpbSearchSpec spec;
	GpbDeviceStatus status;

	memset(&spec, 0, sizeof(spec));
	spec.bound = bound;
	spec.order = GPB_ORDER_INPUT;
	spec.epoch = tree->epoch;
	spec.npieces = 1;
	spec.piece[0].n = n;
	spec.piece[0].keys = memcpy(memory, keys, bytes);
	spec.piece[0].leaf = memset(memory + offset, 0x77, n * sizeof(uint32));
	status = test_device.api->search_launch(test_device.device, tree->mirror, 3, &spec, NULL, 0);
	if (status == GPB_DEVICE_OK)
		status = test_device.api->search_finish(test_device.device, 3);
	memcpy(leaf, memory + offset, n * sizeof(uint32));
	if (!registered)
		free(memory);
	return status;
}

static void
check_found(const TestTree *tree, GpbSearchBound bound, const char *keys, uint32 n,
			const uint32 *leaf)
{
	uint32		i;

	for (i = 0; i < n; i++)
	{
		TestKey		key = test_get_key(keys, tree->width, i);
		uint32		slot = test_tree_find(tree, bound, key);

		CHECK(leaf[i] == tree->flat[slot].child,
			  "width %d, %u separators, bound %d, key %lx:%lx: leaf %u, expected %u (%u)",
			  tree->width, tree->n, bound, (uint64) (key >> 64), (uint64) key, leaf[i],
			  tree->flat[slot].child, slot);
	}
}

static void
check_searches(const TestTree *tree, bool registered)
{
	uint32		n;
	char	   *keys = keys_around(tree, &n);
	uint32	   *leaf = calloc(n, sizeof(uint32));
	int			bound;

	for (bound = GPB_SEARCH_LOWER; bound <= GPB_SEARCH_UPPER; bound++)
	{
		CHECK_OK(look_up(tree, bound, keys, n, registered, leaf));
		check_found(tree, bound, keys, n, leaf);
	}
	free(keys);
	free(leaf);
}

/*
 * The ties and children, which searches do not all look at: no leaf has an image, so that a request
 * of all entries gives every leaf back with its bounds.
 */
static void
check_ties(const TestTree *tree)
{
	const GpbDeviceApi *api = test_device.api;
	GpbRangesSpec spec;
	GpbRangesResult result;
	GpbRange	whole = {GPB_BOUND_MIN, GPB_BOUND_MAX};
	const void *ranges = tree->width == GPB_WIDE_KEY ? (const void *) &whole : &test_whole;
	void	   *unclean;
	int64		answer[2];
	uint64		i;

	memset(&spec, 0, sizeof(spec));
	spec.program.layout = test_layout(tree->width, 0, 0, NULL);
	spec.program.want[0] = GPB_WANT_COUNT;
	spec.form = GPB_RANGE_BOUNDS;
	spec.n = 1;
	spec.epoch = tree->epoch;
	CHECK_OK(api->ranges_launch(test_device.device, tree->mirror, 2, &spec, ranges, answer,
								NULL, 0));
	CHECK_OK(api->ranges_finish(test_device.device, 2, &result));
	CHECK(result.unclean == tree->n && answer[0] == 0, "%lu unclean leaves of %u, %ld entries",
		  result.unclean, tree->n, answer[0]);
	if (result.unclean != tree->n)
		return;
	unclean = malloc((size_t) tree->n * gpb_piece_width(tree->width));
	CHECK_OK(api->fetch(test_device.device, 2, GPB_FETCH_PIECES, 0, tree->n, unclean));
	for (i = 0; i < tree->n; i++)
	{
		GpbPiece	piece = gpb_piece_at(unclean, i, tree->width);

		CHECK(piece.range.lo.key == tree->flat[i].key && piece.range.lo.tie == tree->flat[i].tie &&
			  piece.block == tree->flat[i].child, "separator %lu differs", i);
	}
	free(unclean);
}

static void
check_tree(const TestTree *tree)
{
	check_searches(tree, test_once_in(2));
	check_ties(tree);
}

static void
sync_and_check(TestTree *tree)
{
	CHECK_OK(test_tree_sync(tree));
	check_tree(tree);
}

/* ---- changes ---- */

static uint32
random_page(const TestTree *tree)
{
	return (uint32) test_below(tree->npages);
}

/* As many separators as before, or others than before */
static void
change_page(TestTree *tree, bool same_count)
{
	uint32		p = random_page(tree);
	uint32		count = tree->page[p].count;

	if (!same_count)
		count = 1 + (uint32) test_below(test_once_in(8) ? tree->capacity : 12);
	test_page_redraw(tree, p, count);
}

static void
change_something(TestTree *tree)
{
	switch (test_below(4))
	{
		case 0:
			change_page(tree, true);
			break;
		case 1:
			change_page(tree, false);
			break;
		case 2:
			if (tree->npages < 60)
				test_page_split(tree, random_page(tree));
			break;
		default:
			if (tree->npages > 1 && test_once_in(3))
				test_page_remove(tree, random_page(tree));
	}
}

static void
refresh_randomly(int width, TestKeySpread spread, int rounds)
{
	TestTree   *tree = test_tree_create(width, spread);

	test_tree_fill(tree, 1 + (uint32) test_below(300), 12);
	sync_and_check(tree);
	for (; rounds > 0; rounds--)
	{
		int			changes = test_once_in(2) ? 1 : (int) test_below(6);

		for (; changes > 0; changes--)
			change_something(tree);
		/* some reach the device in two parts, some with pages that wait for the next */
		if (test_once_in(4))
			CHECK_OK(test_tree_upload(tree));
		sync_and_check(tree);
	}
	test_tree_free(tree);
}

/* ---- the tests ---- */

TEST_ONCE(tree_refresh)
{
	const int  *width;
	int			spread;

	for (width = test_key_widths; *width != 0; width++)
		for (spread = 0; spread < TEST_SPREADS; spread++)
			refresh_randomly(*width, (TestKeySpread) spread, 10);
}

/* One page at a time, so that what is not written again must have been right */
TEST_ONCE(tree_one_change)
{
	const int  *width;

	for (width = test_key_widths; *width != 0; width++)
	{
		TestTree   *tree = test_tree_create(*width, TEST_SPREAD_WHOLE);
		int			round;

		test_tree_fill(tree, 400, 20);
		sync_and_check(tree);
		for (round = 0; round < 4; round++)
		{
			test_page_redraw(tree, 0, tree->page[0].count);
			sync_and_check(tree);
			change_page(tree, true);
			sync_and_check(tree);
			change_page(tree, false);
			sync_and_check(tree);
			test_page_split(tree, random_page(tree));
			sync_and_check(tree);
			test_page_remove(tree, 0);
			sync_and_check(tree);
			test_page_remove(tree, tree->npages - 1);
			sync_and_check(tree);
			sync_and_check(tree);	/* nothing has changed */
		}
		test_tree_free(tree);
	}
}

/* The number of separators passes each power of the fanout, by one page that grows. */
TEST_ONCE(tree_levels)
{
	const int  *width;

	for (width = test_key_widths; *width != 0; width++)
	{
		uint32		fanout = 128 / *width;
		uint32		power;

		for (power = fanout; power <= 5000; power *= fanout)
		{
			/* keys below and above what memory has before it is written */
			TestTree   *tree = test_tree_create(*width, test_once_in(2) ? TEST_SPREAD_WHOLE :
												TEST_SPREAD_MIDDLE);
			int			step;

			test_tree_fill(tree, power - 2, power < 200 ? 10 : 80);
			for (step = 0; step < 9; step++)
			{
				/* to power + 2 and back */
				uint32		total = step <= 4 ? power - 2 + step : power + 6 - step;
				uint32		p = random_page(tree);
				uint32		others = test_tree_total(tree) - tree->page[p].count;

				if (total > others && total - others <= tree->capacity)
					test_page_redraw(tree, p, total - others);
				sync_and_check(tree);
			}
			test_tree_free(tree);
		}
	}
}

/* One leaf, a few pages, many, few, one leaf */
TEST_ONCE(tree_grows_and_shrinks)
{
	static const uint32 totals[] = {0, 0, 1, 3, 0, 100, 5000, 20, 3000, 0, 9000, 1, 0};
	const int  *width;
	uint32		i;

	for (width = test_key_widths; *width != 0; width++)
	{
		TestTree   *tree = test_tree_create(*width, TEST_SPREAD_WHOLE);

		for (i = 0; i < sizeof(totals) / sizeof(totals[0]); i++)
		{
			test_tree_fill(tree, totals[i], totals[i] > 1000 ? 250 : 12);
			sync_and_check(tree);
		}
		test_tree_free(tree);
	}
}

/* Refused: the old tree stays. */
TEST_ONCE(tree_refuses)
{
	TestTree   *tree = test_tree_create(8, TEST_SPREAD_WHOLE);
	uint32		blocks[2] = {5, TEST_INNER_PAGES * 2};
	uint32		counts[2] = {3, 3};

	test_tree_fill(tree, 300, 30);
	sync_and_check(tree);
	blocks[0] = tree->page[0].block;
	CHECK(test_device.api->set_inner(test_device.device, tree->mirror, 2, blocks, counts, 0) ==
		  GPB_DEVICE_NO_MEMORY, "a page without an image was taken");
	check_tree(tree);
	if (strcmp(test_device.api->name, "cuda") == 0)
	{
		counts[0] = tree->capacity + 1;
		CHECK(test_device.api->set_inner(test_device.device, tree->mirror, 1, blocks, counts,
										 0) == GPB_DEVICE_NO_MEMORY, "too long a page was taken");
		check_tree(tree);
	}
	test_page_redraw(tree, 1, 7);
	sync_and_check(tree);
	test_tree_free(tree);
}

/* ---- memory ---- */

/* Whose pages, when there are fewer again, find room where there were pages before */
static TestTree *
create_thrifty_tree(int width)
{
	TestTree   *tree = test_tree_create(width, TEST_SPREAD_WHOLE);

	tree->low_blocks = true;
	return tree;
}

/* The old tree answers, or the mirror is refused. */
static void
check_after_failure(const TestTree *tree)
{
	uint32		n;
	char	   *keys = keys_around(tree, &n);
	uint32	   *leaf = calloc(n, sizeof(uint32));
	GpbDeviceStatus status = look_up(tree, GPB_SEARCH_LOWER, keys, n, true, leaf);

	CHECK(status == GPB_DEVICE_OK || status == GPB_DEVICE_NO_MEMORY, "status %d", status);
	if (status == GPB_DEVICE_OK)
		check_found(tree, GPB_SEARCH_LOWER, keys, n, leaf);
	free(keys);
	free(leaf);
}

/* Bytes that a device with a small tree and its searches uses */
static uint64
memory_of_small_tree(int width)
{
	TestTree   *tree = create_thrifty_tree(width);
	GpbDeviceInfo info;

	test_tree_fill(tree, 200, 0);
	CHECK_OK(test_tree_sync(tree));
	check_searches(tree, true);
	test_device.api->describe(test_device.device, &info);
	test_tree_free(tree);
	return info.memory_used;
}

/*
 * A tree that grows until there is no memory for it, "spare" bytes after a small one.  Returns
 * how many set_inner failed.
 */
static int
exhaust_memory(int width, uint64 spare)
{
	TestDevice	whole = test_device;
	GpbDeviceInfo info;
	TestTree   *tree;
	uint64		limit;
	uint32		total;
	int			failures = 0;

	test_open(&test_device, whole.api, 0);
	limit = memory_of_small_tree(width) + spare;
	test_close(&test_device);
	test_open(&test_device, whole.api, limit);
	tree = create_thrifty_tree(width);
	test_tree_fill(tree, 200, 0);
	CHECK_OK(test_tree_sync(tree));
	check_searches(tree, true);
	for (total = 300; total < 40000; total *= 3)
	{
		GpbDeviceStatus status;

		test_tree_fill(tree, total, 0);
		status = test_tree_sync(tree);
		CHECK(status != GPB_DEVICE_LOST, "%s", whole.api->last_error(test_device.device));
		failures += status != GPB_DEVICE_OK;
		CHECK(status == GPB_DEVICE_OK || whole.api->last_error(test_device.device)[0] != '\0',
			  "no reason given");
		check_after_failure(tree);
		whole.api->describe(test_device.device, &info);
		CHECK(info.memory_used <= limit, "%lu bytes used of %lu", info.memory_used, limit);
	}
	if (strcmp(whole.api->name, "host") == 0)
	{
		/* there page images have taken the tree's room, and only the mirror's end gives it back */
		test_tree_free(tree);
		tree = create_thrifty_tree(width);
	}
	test_tree_fill(tree, 150, 0);
	CHECK_OK(test_tree_sync(tree));
	check_searches(tree, true);
	test_tree_free(tree);
	whole.api->describe(test_device.device, &info);
	CHECK(info.memory_used < limit, "%lu bytes left behind", info.memory_used);
	test_close(&test_device);
	test_device = whole;
	return failures;
}

TEST_ONCE(tree_memory)
{
	static const uint64 spare[] = {20000, 60000, 200000, 500000};
	const int  *width;
	uint32		i;

	for (width = test_key_widths; *width != 0; width++)
	{
		int			failures = 0;

		for (i = 0; i < sizeof(spare) / sizeof(spare[0]); i++)
			failures += exhaust_memory(*width, spare[i]);
		CHECK(failures >= 4, "memory sufficed");
	}
}

/* No memory for the first tree at all */
TEST_ONCE(tree_memory_at_first)
{
	TestDevice	whole = test_device;
	GpbDeviceInfo info;
	TestTree   *tree;
	uint32		leaf;

	/* pages find room, 60,000 separators beside them do not */
	test_open(&test_device, whole.api, 0);
	tree = create_thrifty_tree(8);
	test_tree_fill(tree, 60000, 0);
	CHECK_OK(test_tree_upload(tree));
	whole.api->describe(test_device.device, &info);
	test_tree_free(tree);
	test_close(&test_device);

	test_open(&test_device, whole.api, info.memory_used + 100000);
	tree = create_thrifty_tree(8);
	test_tree_fill(tree, 60000, 0);
	CHECK(test_tree_sync(tree) == GPB_DEVICE_NO_MEMORY, "memory sufficed");
	CHECK(look_up(tree, GPB_SEARCH_LOWER, (const char *) &tree->epoch, 1, true, &leaf) ==
		  GPB_DEVICE_NO_MEMORY, "a mirror without a tree was searched");
	test_tree_fill(tree, 500, 20);
	CHECK_OK(test_tree_sync(tree));
	check_searches(tree, true);
	test_tree_free(tree);
	test_close(&test_device);
	test_device = whole;
}
