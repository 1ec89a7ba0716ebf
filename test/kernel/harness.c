/*-------------------------------------------------------------------------
 *
 * harness.c
 *	  Driving a device through its interface and holding it to the model.
 *
 *-------------------------------------------------------------------------
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

TestDevice	test_device;
int			test_variant;
bool		(*test_choose_variant) (GpbDevice *, int);
void	   *test_library;
bool		test_emulated;
int			test_failures;

void
test_fail(const char *file, int line, const char *format, ...)
{
	va_list		args;

	if (++test_failures > 5)
		return;
	printf("  %s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

/* ---- the device ---- */

void
test_open(TestDevice *device, const GpbDeviceApi *api, uint64 memory_limit)
{
	const char *message = "";

	device->api = api;
	if (api->open(0, memory_limit, TEST_CHANNELS, &device->device, &message) != GPB_DEVICE_OK)
	{
		printf("cannot open device \"%s\": %s\n", api->name, message);
		printf("0 passed, 1 failed\n");
		exit(1);
	}
	if (posix_memalign((void **) &device->staging, 4096, TEST_STAGING) != 0)
		abort();
	if (api->register_region(device->device, device->staging, TEST_STAGING) != GPB_DEVICE_OK)
		printf("note: memory could not be registered: %s\n", api->last_error(device->device));
	if (test_choose_variant != NULL)
		test_choose_variant(device->device, test_variant);
}

void
test_close(TestDevice *device)
{
	device->api->close(device->device);
	free(device->staging);
	device->device = NULL;
}

/* ---- an index on the device ---- */

GpbDeviceStatus
test_upload(TestMirror *mirror, const uint32 *blocks, uint32 n, uint64 epoch)
{
	uint32		most = TEST_STAGING / GPB_PAGE_SIZE;
	uint32		done;

	for (done = 0; done < n; done += most)
	{
		uint32		part = n - done < most ? n - done : most;
		GpbDeviceStatus status;
		uint32		i;

		for (i = 0; i < part; i++)
			memcpy(test_device.staging + (size_t) i * GPB_PAGE_SIZE,
				   test_page(mirror->index, blocks[done + i]), GPB_PAGE_SIZE);
		status = test_device.api->upload(test_device.device, mirror->mirror, (int) part,
										 blocks + done, test_device.staging, epoch);
		if (status != GPB_DEVICE_OK)
			return status;
		status = test_device.api->upload_wait(test_device.device);
		if (status != GPB_DEVICE_OK)
			return status;
		/* the source may be reused now: make it useless */
		memset(test_device.staging, 0x77, (size_t) part * GPB_PAGE_SIZE);
	}
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
test_set_inner(TestMirror *mirror)
{
	const TestIndex *index = mirror->index;

	return test_device.api->set_inner(test_device.device, mirror->mirror, index->ninner,
									  index->inner_block, index->inner_count,
									  index->leaf[0].block);
}

TestMirror *
test_mirror_create(const TestShape *shape)
{
	TestMirror *mirror = calloc(1, sizeof(TestMirror));
	uint32		heap_blocks = shape->heap_blocks ? shape->heap_blocks : 1000;

	mirror->index = test_index_create(shape);
	mirror->nblocks = mirror->index->nblocks;
	mirror->changed = calloc(mirror->nblocks / 32 + 2, sizeof(uint32));
	if (shape->heap_order)
		heap_blocks = mirror->index->nentries / 100 + 1;
	mirror->heap_blocks = heap_blocks;
	mirror->visible = malloc(heap_blocks / 4 + 1);
	mirror->epoch = 10;
	test_all_visible(mirror, true);
	CHECK_OK(test_device.api->mirror_create(test_device.device, &mirror->index->layout,
											&mirror->mirror));
	return mirror;
}

void
test_mirror_fill(TestMirror *mirror, bool in_order)
{
	uint32		n = mirror->nblocks;
	uint32	   *blocks = calloc(n, sizeof(uint32));
	uint32		i;

	for (i = 0; i < n; i++)
		blocks[i] = i;
	for (i = n - 1; i > 0 && !in_order; i--)
	{
		uint32		j = (uint32) test_below(i + 1);
		uint32		t = blocks[i];

		blocks[i] = blocks[j];
		blocks[j] = t;
	}
	CHECK_OK(test_upload(mirror, blocks, n, mirror->epoch));
	CHECK_OK(test_set_inner(mirror));
	free(blocks);
}

void
test_mirror_free(TestMirror *mirror)
{
	test_device.api->mirror_destroy(test_device.device, mirror->mirror);
	test_index_free(mirror->index);
	free(mirror->changed);
	free(mirror->visible);
	free(mirror);
}

/* ---- requests ---- */

void
test_all_visible(TestMirror *mirror, bool visible)
{
	memset(mirror->visible, visible ? 0x55 : 0xAA, mirror->heap_blocks / 4 + 1);
}

/* One heap block in so many is not all-visible; "all frozen" bits are noise. */
void
test_random_visible(TestMirror *mirror, uint64 one_in)
{
	uint32		b;

	for (b = 0; b <= mirror->heap_blocks / 4; b++)
		mirror->visible[b] = (uint8) (0x55 | (test_random() & 0xAA));
	for (b = 0; b < mirror->heap_blocks; b++)
	{
		if (test_once_in(one_in))
			mirror->visible[b / 4] &= (uint8) ~(1 << (b % 4 * 2));
	}
}

void
test_mark_changed(TestMirror *mirror, uint32 block)
{
	mirror->changed[block / 32] |= (uint32) 1 << (block % 32);
}

GpbAggregateSpec
test_spec(const TestMirror *mirror)
{
	GpbAggregateSpec spec;
	int			c;

	memset(&spec, 0, sizeof(spec));
	spec.layout = mirror->index->layout;
	spec.range.lo = GPB_BOUND_MIN;
	spec.range.hi = GPB_BOUND_MAX;
	spec.epoch = mirror->epoch;
	spec.heap_blocks = mirror->heap_blocks;
	for (c = 0; c <= spec.layout.ncolumns; c++)
		spec.want[c] = GPB_WANT_COUNT | GPB_WANT_SUM | GPB_WANT_MINMAX;
	return spec;
}

/* An entry's place, a separator's, just beside one, an end, or anything */
static GpbBound
random_bound(const TestMirror *mirror)
{
	const TestIndex *index = mirror->index;
	GpbBound	bound = {test_random(), test_random()};

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

GpbRange
test_range(const TestMirror *mirror)
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
	return range;
}

GpbDeviceStatus
test_launch(TestMirror *mirror, int channel, const GpbAggregateSpec *spec)
{
	const GpbDeviceApi *api = test_device.api;
	uint64		bytes = ((uint64) mirror->heap_blocks + 3) / 4;
	uint64		half = bytes / 2;
	uint8	   *bits = malloc(bytes + 1);
	uint32	   *changed = malloc((mirror->nblocks / 32 + 1) * sizeof(uint32));
	GpbAggregateSpec copy = *spec;
	GpbDeviceStatus status;

	memcpy(bits, mirror->visible, bytes);
	memcpy(changed, mirror->changed, (mirror->nblocks + 31) / 32 * sizeof(uint32));
	CHECK_OK(api->set_visibility(test_device.device, channel, 0, bits, half));
	CHECK_OK(api->set_visibility(test_device.device, channel, half, bits + half, bytes - half));
	status = api->aggregate_launch(test_device.device, mirror->mirror, channel, &copy, changed,
								   mirror->nblocks);
	/* the call has copied what it needs */
	memset(&copy, 0x77, sizeof(copy));
	memset(changed, 0x77, (mirror->nblocks / 32 + 1) * sizeof(uint32));
	memset(bits, 0x55, bytes + 1);
	free(bits);
	free(changed);
	return status;
}

/* ---- comparing ---- */

static void
compare_column(const GpbAggregateSpec *spec, int c, const GpbColumnState *state,
			   const TestAnswer *expected)
{
	bool		is_float = c > 0 && spec->layout.kind[c - 1] == GPB_KIND_FLOAT8;
	__int128	sum = (__int128) (((unsigned __int128) state->sum_high << 64) | state->sum_low);

	if (spec->want[c] == 0)
		return;
	CHECK(state->count == expected->count[c], "column %d: count %ld, expected %ld", c,
		  state->count, expected->count[c]);
	if ((spec->want[c] & GPB_WANT_SUM) && !is_float)
		CHECK(sum == expected->sum[c], "column %d: sum %ld:%lu, expected %ld:%lu", c,
			  state->sum_high, state->sum_low, (int64) (expected->sum[c] >> 64),
			  (uint64) expected->sum[c]);
	if (!(spec->want[c] & GPB_WANT_MINMAX) || expected->count[c] == 0)
		return;
	CHECK(state->min == expected->min[c], "column %d: min %ld, expected %ld", c, state->min,
		  expected->min[c]);
	CHECK(state->max == expected->max[c], "column %d: max %ld, expected %ld", c, state->max,
		  expected->max[c]);
}

static void
compare_state(const GpbAggregateSpec *spec, const GpbAggregateResult *result,
			  const GpbFloatSum *sums, const TestAnswer *expected)
{
	int			n = 0;
	int			c;

	CHECK(result->state.entries == expected->entries, "entries %ld, expected %ld",
		  result->state.entries, expected->entries);
	CHECK(result->leaves == expected->leaves, "leaves %lu, expected %lu", result->leaves,
		  expected->leaves);
	for (c = 0; c <= spec->layout.ncolumns; c++)
	{
		compare_column(spec, c, &result->state.column[c], expected);
		if (c == 0 || spec->layout.kind[c - 1] != GPB_KIND_FLOAT8 ||
			!(spec->want[c] & GPB_WANT_SUM))
			continue;
		CHECK(test_float_sum_equal(&expected->float_sum[c], &sums[n]),
			  "column %d: float8 sum differs", c);
		n++;
	}
	CHECK(n == GPB_MAX_INCLUDE || sums[n].pending == 0x7777777777777777l,
		  "more sums written than asked for");
}

/* A record may stand for one leaf or for several that adjoin. */
static void
compare_unclean(const GpbUncleanLeaf *leaf, uint64 n, const TestAnswer *expected)
{
	uint64		k = 0;
	uint64		i;

	for (i = 0; i < n && k < expected->nunclean; i++)
	{
		CHECK(leaf[i].block == expected->unclean[k].block,
			  "unclean piece %lu: block %u, expected %u", i, leaf[i].block,
			  expected->unclean[k].block);
		CHECK(gpb_bound_cmp(leaf[i].range.lo, expected->unclean[k].range.lo) == 0,
			  "unclean piece %lu begins elsewhere", i);
		while (gpb_bound_cmp(leaf[i].range.hi, expected->unclean[k].range.hi) != 0 &&
			   k + 1 < expected->nunclean &&
			   gpb_bound_cmp(expected->unclean[k].range.hi, expected->unclean[k + 1].range.lo) == 0)
			k++;
		CHECK(gpb_bound_cmp(leaf[i].range.hi, expected->unclean[k].range.hi) == 0,
			  "unclean piece %lu ends elsewhere", i);
		k++;
	}
	CHECK(i == n && k == expected->nunclean, "%lu unclean pieces for %lu leaves", n,
		  expected->nunclean);
}

static int	compared_bytes;

static int
compare_heap_entries(const void *a, const void *b)
{
	uint64		tid_a = gpb_load64((const char *) a + 8) & GPB_TID_MASK;
	uint64		tid_b = gpb_load64((const char *) b + 8) & GPB_TID_MASK;

	if (tid_a != tid_b)
		return tid_a < tid_b ? -1 : 1;
	return memcmp(a, b, compared_bytes);
}

static void
compare_heap(const TestIndex *index, char *entries, const TestAnswer *expected)
{
	int			row_width = index->layout.row_width;
	int			width = (8 + row_width + 7) / 8 * 8;
	char	   *wanted = calloc(expected->nheap + 1, width);
	uint64		unordered = 0;
	uint64		differing = 0;
	uint64		i;

	compared_bytes = 8 + row_width;
	for (i = 0; i < expected->nheap; i++)
	{
		memcpy(wanted + i * width, &index->entry[expected->heap[i]].bound.key, 8);
		test_row(index, expected->heap[i], wanted + i * width + 8);
	}
	for (i = 1; i < expected->nheap; i++)
		unordered += (gpb_load64(entries + (i - 1) * width + 8) & GPB_TID_MASK) >
			(gpb_load64(entries + i * width + 8) & GPB_TID_MASK);
	CHECK(unordered == 0, "%lu heap entries out of TID order", unordered);
	/* entries with the same TID come in any order */
	qsort(wanted, expected->nheap, width, compare_heap_entries);
	qsort(entries, expected->nheap, width, compare_heap_entries);
	for (i = 0; i < expected->nheap; i++)
		differing += memcmp(wanted + i * width, entries + i * width, 8 + row_width) != 0;
	CHECK(differing == 0, "%lu of %lu heap entries differ", differing, expected->nheap);
	free(wanted);
}

/* In pieces, as the service does */
static void *
fetch_all(int channel, GpbFetchWhat what, uint64 n, size_t width)
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

void
test_finish(TestMirror *mirror, int channel, const GpbAggregateSpec *spec)
{
	TestAnswer *expected = test_expect(mirror->index, spec, mirror->visible);
	GpbAggregateResult result;
	GpbFloatSum sums[GPB_MAX_INCLUDE];
	GpbUncleanLeaf *unclean;
	char	   *heap;

	memset(&result, 0x77, sizeof(result));
	memset(sums, 0x77, sizeof(sums));
	CHECK_OK(test_device.api->aggregate_finish(test_device.device, channel, &result, sums));
	compare_state(spec, &result, sums, expected);
	CHECK(result.heap == expected->nheap, "heap entries %lu, expected %lu", result.heap,
		  expected->nheap);
	unclean = fetch_all(channel, GPB_FETCH_UNCLEAN, result.unclean, sizeof(GpbUncleanLeaf));
	compare_unclean(unclean, result.unclean, expected);
	free(unclean);
	if (result.heap == expected->nheap)
	{
		heap = fetch_all(channel, GPB_FETCH_HEAP, result.heap,
						 gpb_heap_entry_width(spec->layout.row_width));
		compare_heap(mirror->index, heap, expected);
		free(heap);
	}
	test_answer_free(expected);
}

void
test_aggregate(TestMirror *mirror, int channel, const GpbAggregateSpec *spec)
{
	CHECK_OK(test_launch(mirror, channel, spec));
	test_finish(mirror, channel, spec);
}
