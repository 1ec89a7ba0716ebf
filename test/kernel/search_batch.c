/*-------------------------------------------------------------------------
 *
 * search_batch.c
 *	  A batch of searches: its random keys, and holding a device's results to the model's.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "search_batch.h"

#define GUARD		64			/* bytes around each array */
#define GUARD_BYTE	0xA5

/* ---- what a search should find ---- */

typedef struct Expected
{
	uint32		leaf;			/* where the search begins, in the order of keys */
	uint32		last;			/* EQUAL: last leaf that was looked at */
	uint16		position;
} Expected;

/* First entry of a leaf at or after the key, or beyond it; or the number there are */
static uint16
model_position(const TestIndex *index, const TestLeaf *leaf, GpbKey key, bool beyond)
{
	uint32		lo = 0;
	uint32		hi = leaf->count;

	while (lo < hi)
	{
		uint32		mid = (lo + hi) / 2;
		GpbKey		there = index->entry[leaf->first + mid].bound.key;

		if (there < key || (beyond && there == key))
			lo = mid + 1;
		else
			hi = mid;
	}
	return (uint16) lo;
}

static uint32
model_leaf(const TestIndex *index, GpbKey key, bool beyond)
{
	uint32		lo = 0;
	uint32		hi = index->nleaves;

	while (hi - lo > 1)
	{
		uint32		mid = (lo + hi) / 2;
		GpbKey		low = index->leaf[mid].low.key;

		if (low < key || (beyond && low == key))
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}

static Expected
model_search(const TestIndex *index, GpbSearchBound bound, GpbKey key)
{
	Expected	expected;
	bool		beyond = bound == GPB_SEARCH_UPPER;
	uint32		i;

	expected.leaf = model_leaf(index, key, beyond);
	for (i = expected.leaf;; i++)
	{
		const TestLeaf *leaf = &index->leaf[i];

		expected.last = i;
		expected.position = model_position(index, leaf, key, beyond);
		if (leaf->unclean)
			expected.position = GPB_POSITION_UNCLEAN;
		if (leaf->unclean || bound != GPB_SEARCH_EQUAL)
			return expected;
		if (expected.position < leaf->count)
		{
			if (index->entry[leaf->first + expected.position].bound.key != key)
				expected.position = GPB_POSITION_NONE;
			return expected;
		}
		expected.position = GPB_POSITION_NONE;
		if (i + 1 == index->nleaves || index->leaf[i + 1].low.key > key)
			return expected;
	}
}

/* ---- a batch, its arrays between guards ---- */

TestBatch *
test_batch_create(TestMirror *mirror, GpbSearchBound bound, GpbSearchOrder order, size_t most_keys,
			 bool registered)
{
	TestBatch  *batch = calloc(1, sizeof(TestBatch));

	batch->mirror = mirror;
	batch->spec.bound = bound;
	batch->spec.order = order;
	batch->spec.epoch = mirror->epoch;
	batch->size = most_keys * (GPB_WIDE_KEY + 10) +
		GPB_SEARCH_PIECES * 4 * (GUARD * 2 + GPB_WIDE_KEY) + GUARD;
	batch->registered = registered;
	if (registered && batch->size > TEST_STAGING)
		abort();
	batch->arena = registered ? test_device.staging : malloc(batch->size);
	memset(batch->arena, GUARD_BYTE, batch->size);
	return batch;
}

void
test_batch_free(TestBatch *batch)
{
	uint32		p;

	for (p = 0; p < batch->spec.npieces; p++)
		free(batch->key[p]);
	if (!batch->registered)
		free(batch->arena);
	free(batch);
}

/* An array aligned as its elements and no better */
static void *
batch_array(TestBatch *batch, uint32 n, size_t width)
{
	size_t		from = (batch->used + GUARD + width - 1) / width * width;

	if (test_once_in(2))
		from += width;
	batch->array[batch->narrays].from = from;
	batch->array[batch->narrays].to = from + n * width;
	batch->narrays++;
	batch->used = from + n * width;
	return batch->arena + from;
}

/* One that is there, a separator's, beside one or equal to it in one half, an end, or any */
static GpbKey
random_search_key(const TestMirror *mirror)
{
	const TestIndex *index = mirror->index;
	GpbKey		low = index->leaf[test_below(index->nleaves)].low.key;
	GpbKey		key;

	switch (test_below(10))
	{
		case 0:
			key = 0;
			break;
		case 1:
			key = ~(GpbKey) 0;
			break;
		case 2:
			key = (GpbKey) test_random() << 64 | test_random();
			break;
		case 3:
			key = low;
			break;
		case 4:
			key = low + (test_once_in(2) ? 1 : -1);
			break;
		case 5:
			key = low ^ (GpbKey) 1 << (64 + test_below(64));
			break;
		case 6:
			key = low ^ (uint64) 1 << test_below(64);
			break;
		default:
			key = index->nentries ? index->entry[test_below(index->nentries)].bound.key : 1;
	}
	return key & gpb_key_most(index->layout.key_width);
}

static int
compare_keys(const void *a, const void *b)
{
	GpbKey		x = *(const GpbKey *) a;
	GpbKey		y = *(const GpbKey *) b;

	return x < y ? -1 : x > y;
}

void
test_batch_piece(TestBatch *batch, uint32 n, TestKeyOrder how, bool positions)
{
	GpbSearchPiece *piece = &batch->spec.piece[batch->spec.npieces];
	GpbKey	   *key = calloc(n + 1, sizeof(GpbKey));
	int			width = batch->mirror->index->layout.key_width;
	char	   *keys = batch_array(batch, n, width);
	uint32		i;

	for (i = 0; i < n; i++)
		key[i] = random_search_key(batch->mirror);
	if (how != TEST_KEYS_RANDOM)
		qsort(key, n, sizeof(GpbKey), compare_keys);
	for (i = 0; i < n / 2 && how == TEST_KEYS_DESCENDING; i++)
	{
		GpbKey		t = key[i];

		key[i] = key[n - 1 - i];
		key[n - 1 - i] = t;
	}
	for (i = 0; i < n; i++)
		memcpy(keys + (size_t) i * width, &key[i], width);	/* little-endian */
	batch->key[batch->spec.npieces++] = key;
	piece->n = n;
	piece->keys = keys;
	piece->leaf = batch_array(batch, n, sizeof(uint32));
	piece->position = positions ? batch_array(batch, n, sizeof(uint16)) : NULL;
	piece->permutation = batch->spec.order != GPB_ORDER_INPUT ?
		batch_array(batch, n, sizeof(uint32)) : NULL;
}

GpbDeviceStatus
test_batch_launch(TestBatch *batch, int channel)
{
	TestMirror *mirror = batch->mirror;
	bool		positions = batch->spec.npieces > 0 && batch->spec.piece[0].position != NULL;
	size_t		bytes = (mirror->nblocks / 32 + 1) * sizeof(uint32);
	uint32	   *changed = malloc(bytes);
	GpbSearchSpec *copy = malloc(sizeof(GpbSearchSpec));
	GpbDeviceStatus status;

	memcpy(changed, mirror->changed, (mirror->nblocks + 31) / 32 * sizeof(uint32));
	*copy = batch->spec;
	status = test_device.api->search_launch(test_device.device, mirror->mirror, channel, copy,
											positions ? changed : NULL,
											positions ? mirror->nblocks : 0);
	/* the call has copied what it needs */
	memset(changed, 0x77, bytes);
	memset(copy, 0x77, sizeof(GpbSearchSpec));
	free(changed);
	free(copy);
	return status;
}

/* ---- comparing ---- */

static void
check_result(const TestBatch *batch, const GpbSearchPiece *piece, uint32 i, GpbKey key)
{
	const TestIndex *index = batch->mirror->index;
	Expected	expected = model_search(index, batch->spec.bound, key);
	uint32		leaf = expected.leaf;

	if (piece->position != NULL)
	{
		CHECK(piece->position[i] == expected.position, "key %lx:%lx: position %u, expected %u",
			  gpb_key_upper(key), (uint64) key, piece->position[i], expected.position);
		/* found: there; else anywhere that was looked at */
		if (expected.position < GPB_POSITION_UNCLEAN)
			leaf = expected.last;
		else
		{
			while (leaf < expected.last && piece->leaf[i] != index->leaf[leaf].block)
				leaf++;
		}
	}
	CHECK(piece->leaf[i] == index->leaf[leaf].block, "key %lx:%lx: leaf %u, expected %u",
		  gpb_key_upper(key), (uint64) key, piece->leaf[i], index->leaf[leaf].block);
}

static void
check_piece(const TestBatch *batch, uint32 p)
{
	const GpbSearchPiece *piece = &batch->spec.piece[p];
	const GpbKey *key = batch->key[p];
	int			width = batch->mirror->index->layout.key_width;
	char	   *seen = calloc(piece->n + 1, 1);
	GpbKey		before = 0;
	uint32		i;

	for (i = 0; i < piece->n; i++)
	{
		uint32		place = piece->permutation != NULL ? piece->permutation[i] : i;

		CHECK(memcmp((const char *) piece->keys + (size_t) i * width, &key[i], width) == 0,
			  "key %u was written to", i);
		CHECK(place < piece->n && !seen[place], "result %u: not a permutation: %u", i, place);
		if (place >= piece->n)
			break;
		seen[place] = 1;
		CHECK(batch->spec.order != GPB_ORDER_KEY || key[place] >= before, "result %u out of order",
			  i);
		before = key[place];
		check_result(batch, piece, i, key[place]);
	}
	free(seen);
}

void
test_batch_guards(const TestBatch *batch)
{
	size_t		from = 0;
	size_t		i;
	int			a;

	for (a = 0; a <= batch->narrays; a++)
	{
		size_t		to = a < batch->narrays ? batch->array[a].from : batch->used + GUARD;

		for (i = from; i < to; i++)
			CHECK((unsigned char) batch->arena[i] == GUARD_BYTE, "byte %zu beside array %d written",
				  i, a);
		from = a < batch->narrays ? batch->array[a].to : to;
	}
}

void
test_batch_check(const TestBatch *batch)
{
	uint32		p;

	for (p = 0; p < batch->spec.npieces; p++)
		check_piece(batch, p);
	test_batch_guards(batch);
}

int
test_batch_poll(int channel, int most)
{
	bool		ended = false;
	int			n;

	for (n = 0; n < most && !ended; n++)
		CHECK_OK(test_device.api->poll(test_device.device, channel, &ended));
	return n;
}

void
test_batch_finish(TestBatch *batch, int channel)
{
	CHECK_OK(test_device.api->search_finish(test_device.device, channel));
	test_batch_check(batch);
}

void
test_batch_run(TestBatch *batch)
{
	int			channel = (int) test_below(TEST_CHANNELS);

	CHECK_OK(test_batch_launch(batch, channel));
	if (test_once_in(2))
		test_batch_poll(channel, (int) test_below(4));
	test_batch_finish(batch, channel);
	test_batch_free(batch);
}
