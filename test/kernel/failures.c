/*-------------------------------------------------------------------------
 *
 * failures.c
 *	  Each CUDA call of an upload, a set_inner, a search, a sort fails in its turn, in
 *	  the emulated device.
 *
 * For want of memory: then the call of the interface says so, nothing that it
 * submitted goes on behind its back, and the device is as well as before.  Or with
 * an error that stays: then the device is lost, and closes.
 *
 *-------------------------------------------------------------------------
 */
#include <dlfcn.h>
#include <stdio.h>
#include <stdlib.h>

#include "../../cuda/bench.h"
#include "separators.h"

#define KEYS			400
#define UNTOUCHED		0x77777777
#define FAR_BLOCK		60000		/* beyond the directory of a small mirror */

static void (*fail_call) (int n, bool lost);
static bool (*has_failed) (void);
static long (*live) (void);
static GpbChooseChunk choose_chunk;

/* What fails, for messages */
static const char *what;
static int	call;

/* Failures of calls without which an operation did what it was to do */
static int	recovered;

/* What one search reads and writes */
typedef struct Look
{
	GpbSearchSpec spec;
	TestKey		key[KEYS];
	char		keys[KEYS * 16];
	uint32		leaf[KEYS];
	uint16		position[KEYS];
	uint32		permutation[KEYS];
	uint32		changed[2 * TEST_INNER_PAGES / 32];
} Look;

static bool
load_symbols(void)
{
	if (!test_emulated || test_library == NULL)
		return false;
	*(void **) &fail_call = dlsym(test_library, "emulated_fail");
	*(void **) &has_failed = dlsym(test_library, "emulated_has_failed");
	*(void **) &live = dlsym(test_library, "emulated_live");
	*(void **) &choose_chunk = dlsym(test_library, GPB_CHUNK_ENTRY);
	CHECK(fail_call && has_failed && live && choose_chunk, "no emulated_fail");
	return test_failures == 0;
}

/* ---- what may fail ---- */

/* Of a tree that stands; each is one call, or a launch and its finish */
typedef GpbDeviceStatus (*Operation) (TestTree *tree, Look *look);

static void
fill_look(const TestTree *tree, Look *look, GpbSearchOrder order, bool positions)
{
	GpbSearchPiece *piece = &look->spec.piece[0];
	uint32		i;

	memset(look, 0, sizeof(*look));
	memset(look->leaf, 0x77, sizeof(look->leaf));
	memset(look->position, 0x77, sizeof(look->position));
	memset(look->permutation, 0x77, sizeof(look->permutation));
	for (i = 0; i < KEYS; i++)
	{
		look->key[i] = (tree->flat[test_below(tree->n)].key + test_below(3)) &
			test_key_max(tree->width);
		test_put_key(look->keys, tree->width, i, look->key[i]);
	}
	look->spec.order = order;
	look->spec.epoch = tree->epoch;
	look->spec.npieces = 1;
	piece->n = KEYS;
	piece->keys = look->keys;
	piece->leaf = look->leaf;
	piece->position = positions ? look->position : NULL;
	piece->permutation = order != GPB_ORDER_INPUT ? look->permutation : NULL;
}

static GpbDeviceStatus
search(TestTree *tree, Look *look, GpbSearchOrder order, bool positions)
{
	GpbDeviceStatus status;
	uint32		i;

	fill_look(tree, look, order, positions);
	status = test_device.api->search_launch(test_device.device, tree->mirror, 1, &look->spec,
											positions ? look->changed : NULL,
											positions ? 2 * TEST_INNER_PAGES : 0);
	if (status == GPB_DEVICE_OK)
		status = test_device.api->search_finish(test_device.device, 1);
	for (i = 0; i < KEYS && status == GPB_DEVICE_OK; i++)
	{
		uint32		place = order != GPB_ORDER_INPUT ? look->permutation[i] : i;
		uint32		slot = test_tree_find(tree, GPB_SEARCH_LOWER, look->key[place % KEYS]);

		CHECK(look->leaf[i] == tree->flat[slot].child, "%s, call %d: leaf %u, expected %u",
			  what, call, look->leaf[i], tree->flat[slot].child);
		CHECK(!positions || look->position[i] == GPB_POSITION_UNCLEAN, "a position: %u",
			  look->position[i]);
	}
	if (status == GPB_DEVICE_OK)
		return status;
	/* given up: what is written from now on is written where others are */
	memset(look->leaf, 0x77, sizeof(look->leaf));
	memset(look->position, 0x77, sizeof(look->position));
	memset(look->permutation, 0x77, sizeof(look->permutation));
	return status;
}

static GpbDeviceStatus
search_chunks(TestTree *tree, Look *look)
{
	return search(tree, look, GPB_ORDER_INPUT, false);
}

static GpbDeviceStatus
search_positions(TestTree *tree, Look *look)
{
	return search(tree, look, GPB_ORDER_INPUT, true);
}

static GpbDeviceStatus
search_near(TestTree *tree, Look *look)
{
	return search(tree, look, GPB_ORDER_NEAR, false);
}

static GpbDeviceStatus
search_sorted(TestTree *tree, Look *look)
{
	return search(tree, look, GPB_ORDER_KEY, true);
}

/* Right after a page was changed: the search waits for the write. */
static GpbDeviceStatus
search_after_upload(TestTree *tree, Look *look)
{
	uint32		block = tree->page[0].block;
	char	   *page = malloc(GPB_PAGE_SIZE);
	GpbDeviceStatus status;

	test_tree_write_page(tree, 0, page);
	status = test_device.api->upload(test_device.device, tree->mirror, 1, &block, page,
									 tree->epoch);
	memset(page, 0xFF, GPB_PAGE_SIZE);
	free(page);
	return status == GPB_DEVICE_OK ? search(tree, look, GPB_ORDER_INPUT, true) : status;
}

static GpbDeviceStatus
refresh_page(TestTree *tree, Look *look)
{
	test_page_redraw(tree, 1, tree->page[1].count);
	return test_tree_sync(tree);
}

static GpbDeviceStatus
grow_tree(TestTree *tree, Look *look)
{
	test_tree_fill(tree, 5000, 0);
	return test_tree_sync(tree);
}

static GpbDeviceStatus
make_one_leaf(TestTree *tree, Look *look)
{
	test_tree_fill(tree, 0, 0);
	return test_tree_sync(tree);
}

/* The directory grows, and what reads it then finds it whole. */
static GpbDeviceStatus
upload_far(TestTree *tree, Look *look)
{
	uint32		block = FAR_BLOCK;
	char	   *page = calloc(1, GPB_PAGE_SIZE);
	GpbDeviceStatus status = test_device.api->upload(test_device.device, tree->mirror, 1,
													 &block, page, tree->epoch);

	free(page);
	return status;
}

/* ---- sorts ---- */

#define RECORD_WIDTH	12
#define READ_RECORDS	100

/* KEYS records, whose keys are few and whose ties are their numbers */
static void
fill_records(Look *look)
{
	uint32		i;

	for (i = 0; i < KEYS; i++)
	{
		uint32		key = (uint32) test_below(5);
		uint64		locator = i;

		memcpy(look->keys + i * RECORD_WIDTH, &key, 4);
		memcpy(look->keys + i * RECORD_WIDTH + 4, &locator, 8);
	}
}

static GpbDeviceStatus
add_records(Look *look, uint32 first, uint32 n)
{
	GpbDeviceStatus status = test_device.api->sort_add(test_device.device, 1,
													   look->keys + first * RECORD_WIDTH, n);

	return status == GPB_DEVICE_OK ? test_device.api->sort_finish(test_device.device, 1) :
		status;
}

/* Read some of the records, which are in order. */
static GpbDeviceStatus
read_records(Look *look, uint32 first, void *into)
{
	GpbDeviceStatus status = test_device.api->sort_read(test_device.device, 1, first,
														READ_RECORDS, into);
	uint64		before = 0;
	uint32		i;

	if (status == GPB_DEVICE_OK)
		status = test_device.api->sort_finish(test_device.device, 1);
	for (i = 0; i < READ_RECORDS && status == GPB_DEVICE_OK; i++)
	{
		uint32		words[3];
		uint64		at;

		memcpy(words, (char *) into + i * RECORD_WIDTH, RECORD_WIDTH);
		at = ((uint64) words[0] << 32 | words[1]) + 1;
		CHECK(at > before && words[0] < 5 && words[1] < KEYS && words[2] == 0,
			  "%s, call %d: place %u is not in order", what, call, first + i);
		before = at;
	}
	return status;
}

/*
 * A sort gets three pieces and is read twice.  A read that failed can be made again; an addition
 * that failed is the last.
 */
static GpbDeviceStatus
sort(Look *look, uint64 expected, uint32 first, uint32 second)
{
	const GpbSortFormat format = {4, RECORD_WIDTH};
	GpbDeviceStatus status;
	bool		ended;
	int			reads = 0;

	memset(look->leaf, 0x77, sizeof(look->leaf));
	memset(look->permutation, 0x77, sizeof(look->permutation));
	look->spec.npieces = 1;		/* what is untouched is looked at */
	fill_records(look);
	status = test_device.api->sort_begin(test_device.device, 1, &format, expected);
	if (status == GPB_DEVICE_OK)
		status = add_records(look, 0, first);
	if (status == GPB_DEVICE_OK)
		status = add_records(look, first, second);
	if (status == GPB_DEVICE_OK)
		status = add_records(look, first + second, KEYS - first - second);
	if (status != GPB_DEVICE_OK)
	{
		memset(look->keys, 0x77, sizeof(look->keys));
		CHECK(test_device.api->sort_finish(test_device.device, 1) == status,
			  "%s, call %d: finished what was not launched", what, call);
		CHECK(add_records(look, 0, 1) == status, "%s, call %d: it goes on", what, call);
		return status;
	}
	for (; reads < 2 && status == GPB_DEVICE_OK; reads++)
		status = read_records(look, 250 * reads, reads == 0 ? look->leaf : look->permutation);
	if (status != GPB_DEVICE_OK)
		CHECK(test_device.api->sort_finish(test_device.device, 1) == status,
			  "%s, call %d: finished what was not launched", what, call);
	if (status == GPB_DEVICE_NO_MEMORY)
		CHECK(read_records(look, 150, look->keys) == GPB_DEVICE_OK,
			  "%s, call %d: nothing can be read", what, call);
	if (status == GPB_DEVICE_OK)
	{
		test_device.api->sort_end(test_device.device, 1);
		return test_device.api->poll(test_device.device, 1, &ended);
	}
	memset(look->leaf, 0x77, sizeof(look->leaf));
	memset(look->permutation, 0x77, sizeof(look->permutation));
	return status;
}

/* There is room for all; two pieces are merged as they come, and the third by the first read. */
static GpbDeviceStatus
sort_records(TestTree *tree, Look *look)
{
	return sort(look, KEYS, 30, 270);
}

/* Each piece needs more than twice the room that there was. */
static GpbDeviceStatus
sort_grows(TestTree *tree, Look *look)
{
	return sort(look, 0, 30, 70);
}

/* The last piece gets twice the room that there was, or, without memory for that, what it needs. */
static GpbDeviceStatus
sort_doubles(TestTree *tree, Look *look)
{
	return sort(look, 0, 30, 270);
}

static const struct
{
	const char *name;
	Operation	run;
	bool		in_region;		/* the search's arrays, so that no copy waits for itself */
}			operations[] = {
	{"search_chunks", search_chunks, false},
	{"search_direct", search_chunks, true},
	{"search_positions", search_positions, true},
	{"search_near", search_near, true},
	{"search_sorted", search_sorted, true},
	{"search_after_upload", search_after_upload, true},
	{"refresh_page", refresh_page, true},
	{"grow_tree", grow_tree, true},
	{"make_one_leaf", make_one_leaf, true},
	{"upload_far", upload_far, true},
	{"sort_records", sort_records, true},
	{"sort_grows", sort_grows, true},
	{"sort_doubles", sort_doubles, true}
};

#define OPERATIONS	((int) (sizeof(operations) / sizeof(operations[0])))

/* Can the operation do without some of the calls that fail for want of memory? */
static bool
recovers(int operation)
{
	return operations[operation].run == sort_doubles;
}

/* ---- failing ---- */

/* Everything works, or, before the tree is made again, says that there is none. */
static void
check_well(TestTree *tree)
{
	Look	   *look = malloc(sizeof(Look));
	GpbDeviceStatus status = search_positions(tree, look);

	CHECK(status == GPB_DEVICE_OK || status == GPB_DEVICE_NO_MEMORY,
		  "%s, call %d: a search then: status %d", what, call, status);
	CHECK_OK(upload_far(tree, look));
	CHECK_OK(test_tree_sync(tree));
	CHECK_OK(search_chunks(tree, look));
	CHECK_OK(search_near(tree, look));
	free(look);
}

static void
check_untouched(const Look *look)
{
	uint32		i;

	for (i = 0; i < KEYS; i++)
		CHECK(look->leaf[i] == UNTOUCHED && look->permutation[i] == UNTOUCHED,
			  "%s, call %d: written to after it had failed", what, call);
}

static void
check_lost(TestTree *tree)
{
	Look	   *look = malloc(sizeof(Look));

	CHECK(search_chunks(tree, look) == GPB_DEVICE_LOST, "%s, call %d: it lives", what, call);
	CHECK(test_tree_sync(tree) == GPB_DEVICE_LOST, "%s, call %d: it lives", what, call);
	free(look);
}

/* Call n of the operation fails.  False: it has not as many. */
static bool
fail_once(int operation, int n, bool lost)
{
	TestDevice	whole = test_device;
	long		live_before = live();
	int			before = recovered;
	Look	   *look;
	GpbDeviceStatus status;
	TestTree   *tree;
	bool		failed;

	what = operations[operation].name;
	call = n;
	test_open(&test_device, whole.api, 0);
	look = operations[operation].in_region ? (Look *) test_device.staging : malloc(sizeof(Look));
	memset(look, 0, sizeof(Look));
	choose_chunk(test_device.device, 70);
	tree = test_tree_create(8, TEST_SPREAD_WHOLE);
	test_tree_fill(tree, 300, 30);
	CHECK_OK(test_tree_sync(tree));
	fail_call(n, lost);
	status = operations[operation].run(tree, look);
	failed = has_failed();
	if (failed && !lost && recovers(operation) && status == GPB_DEVICE_OK)
		recovered++;
	if (!lost)
		fail_call(0, false);
	CHECK(status == (!failed ? GPB_DEVICE_OK : lost ? GPB_DEVICE_LOST : GPB_DEVICE_NO_MEMORY) ||
		  (recovered > before && status == GPB_DEVICE_OK),
		  "%s, call %d failed (%d): status %d", what, call, failed, status);
	if (failed && lost)
		check_lost(tree);
	else if (failed)
		check_well(tree);
	test_tree_free(tree);		/* by now all that was submitted has run */
	if (failed && status == GPB_DEVICE_NO_MEMORY && look->spec.npieces > 0)
		check_untouched(look);
	if (!operations[operation].in_region)
		free(look);
	test_close(&test_device);
	fail_call(0, false);
	if (!lost)
		CHECK(live() == live_before, "%s, call %d: %ld things left behind", what, call,
			  live() - live_before);
	test_device = whole;
	return failed;
}

static void
fail_every_call(bool lost)
{
	int			operation;

	if (!load_symbols())
		return;
	for (operation = 0; operation < OPERATIONS; operation++)
	{
		int			n = 1;

		recovered = 0;
		while (fail_once(operation, n, lost) && test_failures == 0)
			n++;
		CHECK(n > 3, "%s makes %d calls only", operations[operation].name, n - 1);
		CHECK((recovered > 0) == (recovers(operation) && !lost),
			  "%s recovered from %d failures", operations[operation].name, recovered);
	}
}

/* ---- the tests ---- */

TEST_ONCE(failures_of_memory)
{
	fail_every_call(false);
}

TEST_ONCE(failures_for_good)
{
	fail_every_call(true);
}
