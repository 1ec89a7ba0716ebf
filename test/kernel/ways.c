/*-------------------------------------------------------------------------
 *
 * ways.c
 *	  All ways in which the cuda device searches a batch: by groups or tiles, sorted by
 *	  some bits, all or none, in chunks.
 *
 * What the device would choose by the size of a batch and of the tree is asked for
 * here (cuda/bench.h), so that small ones go every way.
 *
 *-------------------------------------------------------------------------
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../cuda/bench.h"
#include "separators.h"

#define GUARD			64		/* bytes after each array */
#define GUARD_BYTE		0xA5

/* From cuda/tuning.cuh; a test fails if it no longer gets there. */
#define SORT_KEYS		1048576
#define SCATTERED_KEYS	2097152

/* Keys in a large batch; fewer where threads are fibers */
static uint32
large(uint32 n)
{
	return test_emulated ? n / 15 : n;
}

/* The host device has one way only. */
static void *
symbol(const char *name)
{
	void	   *found = test_library != NULL ? dlsym(test_library, name) : NULL;

	CHECK(test_library == NULL || found != NULL, "no %s", name);
	return found;
}

/* ---- keys to search for ---- */

typedef enum QuerySet
{
	QUERY_WHOLE,				/* all over the width */
	QUERY_TREE,					/* separators and their neighbours */
	QUERY_MIDDLE,				/* about TEST_SPREAD_MIDDLE, and some way to either side */
	QUERY_SIGN,
	QUERY_ENDS,					/* the first and last few */
	QUERY_EQUAL,
	QUERY_ASCENDING,			/* as QUERY_MIXED */
	QUERY_DESCENDING,
	QUERY_MIXED,
	QUERY_SETS
} QuerySet;

static TestKey
query_key(const TestTree *tree, QuerySet set)
{
	TestKey		max = test_key_max(tree->width);
	TestKey		half = max / 2 + 1;

	switch (set)
	{
		case QUERY_WHOLE:
			return test_random_key(tree->width);
		case QUERY_TREE:
			return (tree->flat[test_below(tree->n)].key + test_below(3) - 1) & max;
		case QUERY_MIDDLE:
			return half / 2 + 12345 - 20000 + test_below(140000);
		case QUERY_SIGN:
			return half - 40000 + test_below(80000);
		case QUERY_ENDS:
			return test_once_in(2) ? test_below(50) : max - test_below(50);
		default:
			return query_key(tree, (QuerySet) test_below(QUERY_EQUAL));
	}
}

static int
compare_keys(const void *a, const void *b)
{
	TestKey		x;
	TestKey		y;

	memcpy(&x, a, sizeof(x));
	memcpy(&y, b, sizeof(y));
	return x < y ? -1 : x > y;
}

/* n keys as the device takes them */
static char *
make_queries(const TestTree *tree, QuerySet set, uint32 n)
{
	TestKey	   *key = malloc(((size_t) n + 1) * sizeof(TestKey));
	char	   *keys = malloc((size_t) n * tree->width + 1);
	uint32		i;

	for (i = 0; i < n; i++)
		key[i] = set == QUERY_EQUAL && i > 0 ? key[0] : query_key(tree, set);
	if (set == QUERY_ASCENDING || set == QUERY_DESCENDING)
		qsort(key, n, sizeof(TestKey), compare_keys);
	for (i = 0; i < n; i++)
		test_put_key(keys, tree->width, i, key[set == QUERY_DESCENDING ? n - 1 - i : i]);
	free(key);
	return keys;
}

/* ---- one way ---- */

/* The registered region, for arrays that the device reaches; its size */
static char *region;
static size_t region_size;

/* An array in the region, at its start if *used is 0 */
static void *
region_array(size_t *used, size_t size)
{
	char	   *array = region + *used;

	*used += (size + GUARD + 15) & ~(size_t) 15;
	if (*used > region_size)
		abort();
	memset(array, GUARD_BYTE, size + GUARD);
	return array;
}

static void
check_guard(const void *array, size_t size)
{
	int			i;

	for (i = 0; i < GUARD; i++)
		CHECK(((const uint8 *) array)[size + i] == GUARD_BYTE, "byte %d after an array written",
			  i);
}

static void
describe_way(const TestTree *tree, const GpbResidentBatch *batch, char *text, size_t size)
{
	snprintf(text, size, "width %d, %u separators, %u keys, order %d, bound %d, slots %d, "
			 "sorting %d, bits %d, group %d", tree->width, tree->n, batch->n, batch->order,
			 batch->bound, batch->slots, batch->sorting, batch->sort_bits, batch->group);
}

static void
check_permutation(const GpbResidentBatch *batch, const char *way)
{
	char	   *seen = calloc(batch->n + 1, 1);
	uint32		i;

	for (i = 0; i < batch->n; i++)
	{
		uint32		place = batch->permutation[i];

		CHECK(place < batch->n && !seen[place], "%s: result %u is of key %u", way, i, place);
		if (place >= batch->n)
			break;
		seen[place] = 1;
	}
	free(seen);
}

static void
check_results(const TestTree *tree, const GpbResidentBatch *batch, const char *keys,
			  const char *way)
{
	TestKey		before = 0;
	uint32		i;

	for (i = 0; i < batch->n; i++)
	{
		uint32		place = batch->order == GPB_ORDER_INPUT ? i : batch->permutation[i];
		TestKey		key = place < batch->n ? test_get_key(keys, tree->width, place) : 0;
		uint32		slot = test_tree_find(tree, (GpbSearchBound) batch->bound, key);
		uint32		expected = batch->slots ? slot : tree->flat[slot].child;

		CHECK(batch->result[i] == expected, "%s: key %lx:%lx: result %u, expected %u", way,
			  (uint64) (key >> 64), (uint64) key, batch->result[i], expected);
		CHECK(batch->order != GPB_ORDER_KEY || !batch->sorted || key >= before,
			  "%s: result %u out of order", way, i);
		before = key;
	}
}

/* Search, and compare; of a damaged tree only that results are of it. */
static void
search_way(const TestTree *tree, GpbResidentBatch *batch, const char *keys, bool damaged)
{
	GpbResidentSearch search = (GpbResidentSearch) symbol(GPB_RESIDENT_ENTRY);
	size_t		bytes = (size_t) batch->n * tree->width;
	size_t		results = (size_t) batch->n * sizeof(uint32);
	size_t		used = 0;
	bool		ended = false;
	char		way[200];
	uint32		i;

	batch->keys = memcpy(region_array(&used, bytes), keys, bytes);
	batch->result = region_array(&used, results);
	batch->permutation = region_array(&used, results);
	describe_way(tree, batch, way, sizeof(way));
	CHECK_OK(search(test_device.device, tree->mirror, batch));
	while (!ended && test_failures == 0)
		CHECK_OK(test_device.api->poll(test_device.device, 0, &ended));
	check_guard(batch->keys, bytes);
	check_guard(batch->result, results);
	check_guard(batch->permutation, results);
	CHECK(memcmp(batch->keys, keys, bytes) == 0, "%s: keys written to", way);
	if (batch->order != GPB_ORDER_INPUT)
		check_permutation(batch, way);
	if (!damaged)
		check_results(tree, batch, keys, way);
	for (i = 0; i < batch->n && damaged && batch->slots; i++)
		CHECK(batch->result[i] < tree->n, "%s: no such separator: %u", way, batch->result[i]);
}

static void
random_way(const TestTree *tree, GpbResidentBatch *batch)
{
	int			bits[] = {0, 8, 16, 8 * tree->width};

	memset(batch, 0, sizeof(*batch));
	batch->order = (int) test_below(3);
	batch->bound = (int) test_below(2);
	batch->slots = test_once_in(2);
	batch->sorting = (int) test_below(3);
	batch->sort_bits = bits[test_below(4)];
	batch->group = test_once_in(3) ? 0 : 1 << test_below(6);
}

static uint32
random_batch_size(void)
{
	static const uint32 sizes[] = {1, 31, 600, 4097};

	if (test_once_in(20))
		return large(100000);
	return sizes[test_below(4)];
}

/* Trees of several sizes and spreads, for a function that searches them */
static void
with_trees(void (*use) (TestTree *tree))
{
	static const uint32 totals[] = {1, 20, 600, 9000};
	const int  *width;
	int			spread;

	region = test_device.staging;
	region_size = TEST_STAGING;
	for (width = test_key_widths; *width != 0; width++)
	{
		for (spread = 0; spread < TEST_SPREADS; spread++)
		{
			TestTree   *tree = test_tree_create(*width, (TestKeySpread) spread);

			test_tree_fill(tree, totals[(spread + *width / 8) % 4], 0);
			CHECK_OK(test_tree_sync(tree));
			if (tree->n > 0)
				use(tree);
			test_tree_free(tree);
		}
	}
}

/* ---- the tests of ways ---- */

/* Each order and sorting with each set of keys; the rest as it comes */
static void
search_orders(TestTree *tree)
{
	GpbResidentBatch batch;
	int			set;
	int			order;

	for (set = 0; set < QUERY_SETS; set++)
	{
		for (order = GPB_ORDER_INPUT; order <= GPB_ORDER_KEY; order++)
		{
			uint32		n = random_batch_size();
			char	   *keys = make_queries(tree, (QuerySet) set, n);

			random_way(tree, &batch);
			batch.order = order;
			batch.sorting = test_once_in(4) ? batch.sorting : 2;
			batch.n = n;
			search_way(tree, &batch, keys, false);
			free(keys);
		}
	}
}

TEST_ONCE(ways_orders)
{
	if (test_library != NULL)
		with_trees(search_orders);
}

/* All bits that are sorted by, with each order and bound, on one set of keys */
static void
search_bits(TestTree *tree)
{
	int			bits[] = {0, 8, 16, 8 * tree->width};
	uint32		n = 700;
	char	   *keys = make_queries(tree, QUERY_MIXED, n);
	GpbResidentBatch batch;
	int			i;

	for (i = 0; i < 4 * 3 * 2; i++)
	{
		random_way(tree, &batch);
		batch.n = n;
		batch.sorting = 2;
		batch.sort_bits = bits[i % 4];
		batch.order = i / 4 % 3;
		batch.bound = i / 12;
		search_way(tree, &batch, keys, false);
		CHECK(batch.sorted, "not sorted");
	}
	free(keys);
}

TEST_ONCE(ways_bits)
{
	if (test_library != NULL)
		with_trees(search_bits);
}

static void
search_groups(TestTree *tree)
{
	uint32		n = test_once_in(2) ? 31 : 133;
	char	   *keys = make_queries(tree, test_once_in(2) ? QUERY_TREE : QUERY_MIXED, n);
	GpbResidentBatch batch;
	int			i;

	for (i = 0; i < 6 * 2 * 2; i++)
	{
		random_way(tree, &batch);
		batch.n = n;
		batch.sorting = 1;
		batch.group = 1 << i % 6;
		batch.bound = i / 6 % 2;
		batch.slots = i / 12;
		search_way(tree, &batch, keys, false);
		CHECK(!batch.sorted, "sorted");
	}
	free(keys);
}

TEST_ONCE(ways_groups)
{
	if (test_library != NULL)
		with_trees(search_groups);
}

/* A device of its own, whose region has room for n keys */
static void
open_large(TestDevice *device, uint32 n, int width)
{
	const char *message;

	region_size = (size_t) n * (width + 2 * sizeof(uint32)) + 4096;
	if (posix_memalign((void **) &region, 4096, region_size) != 0)
		abort();
	device->api = test_device.api;
	device->staging = region;
	CHECK_OK(device->api->open(0, 0, TEST_CHANNELS, &device->device, &message));
	CHECK_OK(device->api->register_region(device->device, region, region_size));
}

/* Enough keys for a look at their order; and for results put back through windows */
static void
search_large(int width, uint32 separators, uint32 n, QuerySet set, int sorting, bool sorted)
{
	TestDevice	whole = test_device;
	TestDevice	own;
	GpbResidentBatch batch;
	TestTree   *tree;
	char	   *keys;

	open_large(&own, n, width);
	test_device = own;
	tree = test_tree_create(width, TEST_SPREAD_WHOLE);
	test_tree_fill(tree, separators, 0);
	CHECK_OK(test_tree_sync(tree));
	memset(&batch, 0, sizeof(batch));
	batch.n = n;
	batch.sorting = sorting;
	batch.slots = test_once_in(2);
	batch.bound = (int) test_below(2);
	batch.order = sorting == 0 ? (int) test_below(2) : GPB_ORDER_INPUT;
	keys = make_queries(tree, set, n);
	search_way(tree, &batch, keys, false);
	CHECK(batch.sorted == sorted, "%u keys sorted: %d", n, batch.sorted);
	free(keys);
	test_tree_free(tree);
	test_close(&test_device);
	test_device = whole;
}

/* Keys in order already are not sorted, others are. */
TEST_ONCE(ways_look_at_order)
{
	if (test_library == NULL)
		return;
	search_large(16, 20000, SORT_KEYS + 77, QUERY_WHOLE, 0, true);
	search_large(16, 20000, SORT_KEYS + 77, QUERY_ASCENDING, 0, false);
}

TEST_ONCE(ways_windows)
{
	if (test_library != NULL)
		search_large(4, 3000, SCATTERED_KEYS + 12345, QUERY_WHOLE, 2, true);
}

/* ---- damage ---- */

/* Level-1 pages whose keys are anything, but for some pages */
static void
upload_damaged(TestTree *tree)
{
	char	   *page = malloc(GPB_PAGE_SIZE);
	uint32		p;
	uint32		i;

	for (p = 0; p < tree->npages; p++)
	{
		uint32		block = tree->page[p].block;

		if (test_once_in(5))
			continue;
		test_tree_write_page(tree, p, page);
		for (i = 0; i < tree->page[p].count; i++)
		{
			TestKey		key = test_once_in(4) ? (TestKey) 0 - test_below(2) :
				test_random_key(tree->width);

			test_put_key(page + gpb_key_place(tree->width, 0), tree->width, i, key);
		}
		free(tree->image[block]);
		tree->image[block] = NULL;
		CHECK_OK(test_device.api->upload(test_device.device, tree->mirror, 1, &block, page,
										 ++tree->epoch));
		CHECK_OK(test_device.api->upload_wait(test_device.device));
	}
	free(page);
}

/* set_inner with the images that are there */
static void
set_inner_again(TestTree *tree)
{
	uint32		blocks[TEST_INNER_PAGES];
	uint32		counts[TEST_INNER_PAGES];
	uint32		p;

	for (p = 0; p < tree->npages; p++)
	{
		blocks[p] = tree->page[p].block;
		counts[p] = tree->page[p].count;
	}
	CHECK_OK(test_device.api->set_inner(test_device.device, tree->mirror, tree->npages, blocks,
										counts, 0));
}

/*
 * Any answers, but no access elsewhere and an end.  To see accesses, build the emulated device
 * and this program with the address sanitizer:
 *		make -B EMULATED_EXTRA=-fsanitize=address test/kernel/emulated.so
 *		LD_PRELOAD=$(gcc -print-file-name=libasan.so) ASAN_OPTIONS=detect_leaks=0 \
 *			test/kernel/kernel_test ./test/kernel/emulated.so 1 ways_damaged
 * Afterwards a sound tree answers right.
 */
static void
search_damaged(TestTree *tree)
{
	int			round;

	upload_damaged(tree);
	set_inner_again(tree);
	for (round = 0; round < 24; round++)
	{
		uint32		n = random_batch_size() % 5000;
		char	   *keys = make_queries(tree, (QuerySet) test_below(QUERY_SETS), n);
		GpbResidentBatch batch;

		random_way(tree, &batch);
		batch.n = n;
		search_way(tree, &batch, keys, true);
		free(keys);
	}
	CHECK_OK(test_tree_sync(tree));
	search_bits(tree);
}

TEST_ONCE(ways_damaged)
{
	if (test_library != NULL)
		with_trees(search_damaged);
}

/* ---- chunks ---- */

#define BATCH_PIECES	5

/* A batch in flight, and the leaves that it should find, by the tree at its launch */
typedef struct LaunchedBatch
{
	GpbSearchSpec spec;
	int			channel;
	int			width;
	char	   *keys[BATCH_PIECES];
	uint32	   *expected[BATCH_PIECES];	/* by key */
	bool		in_region[BATCH_PIECES][2];	/* keys, leaves */
} LaunchedBatch;

static size_t region_used;		/* bytes of the region */

static void *
batch_array(LaunchedBatch *batch, size_t size, bool in_region)
{
	char	   *array;

	if (in_region)
		return region_array(&region_used, size);
	array = malloc(size + GUARD);
	memset(array, GUARD_BYTE, size + GUARD);
	return array;
}

static void
add_piece(LaunchedBatch *batch, const TestTree *tree, uint32 n)
{
	uint32		p = batch->spec.npieces++;
	GpbSearchPiece *piece = &batch->spec.piece[p];
	size_t		bytes = (size_t) n * tree->width;
	char	   *keys = make_queries(tree, batch->spec.ascending ? QUERY_ASCENDING : QUERY_MIXED,
									n);
	uint32		i;

	batch->in_region[p][0] = test_once_in(2);
	batch->in_region[p][1] = test_once_in(2);
	batch->keys[p] = batch_array(batch, bytes, batch->in_region[p][0]);
	piece->keys = memcpy(batch->keys[p], keys, bytes);
	piece->leaf = batch_array(batch, n * sizeof(uint32), batch->in_region[p][1]);
	piece->n = n;
	if (batch->spec.order != GPB_ORDER_INPUT)
		piece->permutation = batch_array(batch, n * sizeof(uint32), false);
	batch->expected[p] = malloc((n + 1) * sizeof(uint32));
	for (i = 0; i < n; i++)
		batch->expected[p][i] =
			tree->flat[test_tree_find(tree, batch->spec.bound,
									  test_get_key(keys, tree->width, i))].child;
	free(keys);
}

static LaunchedBatch *
launch_batch(const TestTree *tree, int channel, GpbSearchOrder order, uint32 n)
{
	LaunchedBatch *batch = calloc(1, sizeof(LaunchedBatch));
	uint32		pieces = order == GPB_ORDER_INPUT ? 1 + (uint32) test_below(BATCH_PIECES) : 1;

	batch->channel = channel;
	batch->width = tree->width;
	batch->spec.bound = (GpbSearchBound) test_below(2);
	batch->spec.order = order;
	batch->spec.ascending = test_once_in(3);
	batch->spec.epoch = tree->epoch;
	while (pieces-- > 0)
		add_piece(batch, tree, test_once_in(2) ? n : 1 + (uint32) test_below(n));
	CHECK_OK(test_device.api->search_launch(test_device.device, tree->mirror, channel,
											&batch->spec, NULL, 0));
	return batch;
}

static void
check_batch_piece(LaunchedBatch *batch, uint32 p)
{
	const GpbSearchPiece *piece = &batch->spec.piece[p];
	char	   *seen = calloc(piece->n + 1, 1);
	uint32		i;

	for (i = 0; i < piece->n; i++)
	{
		uint32		place = piece->permutation != NULL ? piece->permutation[i] : i;

		CHECK(place < piece->n && !seen[place], "result %u is of key %u", i, place);
		if (place >= piece->n)
			break;
		seen[place] = 1;
		CHECK(piece->leaf[i] == batch->expected[p][place],
			  "width %d, order %d, piece %u, result %u of %u: leaf %u, expected %u",
			  batch->width, batch->spec.order, p, i, piece->n, piece->leaf[i],
			  batch->expected[p][place]);
	}
	check_guard(piece->keys, (size_t) piece->n * batch->width);
	check_guard(piece->leaf, piece->n * sizeof(uint32));
	free(seen);
}

/* Finish and compare; arrays are given up. */
static void
finish_batch(LaunchedBatch *batch)
{
	uint32		p;

	CHECK_OK(test_device.api->search_finish(test_device.device, batch->channel));
	for (p = 0; p < batch->spec.npieces; p++)
	{
		check_batch_piece(batch, p);
		if (!batch->in_region[p][0])
			free(batch->keys[p]);
		if (!batch->in_region[p][1])
			free(batch->spec.piece[p].leaf);
		free(batch->spec.piece[p].permutation);
		free(batch->expected[p]);
	}
	free(batch);
}

static void
choose_chunk(uint32 keys)
{
	GpbChooseChunk choose = (GpbChooseChunk) symbol(GPB_CHUNK_ENTRY);

	if (choose != NULL)
		choose(test_device.device, keys);
	region_used = 0;
	region = test_device.staging;
	region_size = TEST_STAGING;
}

static TestTree *
batch_tree(int width)
{
	TestTree   *tree = test_tree_create(width, (TestKeySpread) test_below(TEST_SPREADS));

	test_tree_fill(tree, 700, 40);
	CHECK_OK(test_tree_sync(tree));
	return tree;
}

TEST_ONCE(chunks_sizes)
{
	static const uint32 chunk[] = {1, 37, 500, 0};
	const int  *width;
	int			i;

	for (width = test_key_widths; *width != 0; width++)
	{
		TestTree   *tree = batch_tree(*width);

		for (i = 0; i < 4; i++)
		{
			choose_chunk(chunk[i]);
			finish_batch(launch_batch(tree, 7, GPB_ORDER_INPUT, i == 0 ? 20 : 2500));
		}
		test_tree_free(tree);
	}
	choose_chunk(0);
}

/* Two channels at once, each with all its pipelines, and one that sorts */
TEST_ONCE(chunks_channels)
{
	const int  *width;
	int			round;

	for (width = test_key_widths; *width != 0; width++)
	{
		TestTree   *tree = batch_tree(*width);

		for (round = 0; round < 3; round++)
		{
			LaunchedBatch *a;
			LaunchedBatch *b;
			LaunchedBatch *c;

			/* the second needs more memory than its pipelines had */
			choose_chunk(200 << round);
			a = launch_batch(tree, 8, GPB_ORDER_INPUT, large(30000));
			b = launch_batch(tree, 9, GPB_ORDER_INPUT, large(30000));
			c = launch_batch(tree, 10, round == 1 ? GPB_ORDER_KEY : GPB_ORDER_NEAR, 1000);
			finish_batch(b);
			finish_batch(c);
			finish_batch(a);
		}
		test_tree_free(tree);
	}
	choose_chunk(0);
}

/* What is written after a launch is not seen by it, and by a later one it is (rule M3). */
TEST_ONCE(chunks_refresh_in_flight)
{
	const int  *width;
	int			round;

	for (width = test_key_widths; *width != 0; width++)
	{
		TestTree   *tree = batch_tree(*width);

		for (round = 0; round < 4; round++)
		{
			LaunchedBatch *a;
			LaunchedBatch *b;
			LaunchedBatch *c;
			uint32		p;

			choose_chunk(300);
			a = launch_batch(tree, 11, GPB_ORDER_INPUT, large(30000));
			b = launch_batch(tree, 12, (GpbSearchOrder) (round % 3), 1500);
			/* in place; then elsewhere, as the old place is too small */
			for (p = 0; p < tree->npages; p++)
				test_page_redraw(tree, p, tree->page[p].count);
			if (round == 2)
				test_tree_fill(tree, 3000, 100);
			CHECK_OK(test_tree_sync(tree));
			c = launch_batch(tree, 13, GPB_ORDER_INPUT, 1500);
			if (round == 3)
				finish_batch(c);
			finish_batch(a);
			finish_batch(b);
			if (round != 3)
				finish_batch(c);
		}
		test_tree_free(tree);
	}
	choose_chunk(0);
}

TEST_ONCE(chunks_destroy_in_flight)
{
	const int  *width;

	for (width = test_key_widths; *width != 0; width++)
	{
		TestTree   *tree = batch_tree(*width);
		LaunchedBatch *a;
		LaunchedBatch *b;

		choose_chunk(300);
		a = launch_batch(tree, 14, GPB_ORDER_INPUT, large(30000));
		b = launch_batch(tree, 15, GPB_ORDER_NEAR, 1500);
		test_device.api->mirror_destroy(test_device.device, tree->mirror);
		tree->mirror = NULL;
		finish_batch(a);
		finish_batch(b);
		test_tree_free(tree);
	}
	choose_chunk(0);
}
