/*-------------------------------------------------------------------------
 *
 * launches.c
 *	  What happens between the launch of a request and its finish: uploads and other changes (rule
 *	  M3), other requests, polls; and images that replace others.  One promise to a test.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "harness.h"

static const int one_int4[] = {GPB_KIND_INT4};
static const int one_int8[] = {GPB_KIND_INT8};
static const int mixed[] = {GPB_KIND_INT2, GPB_KIND_FLOAT8, GPB_KIND_INT2, GPB_KIND_INT8,
GPB_KIND_INT4};

/* ---- refreshing ---- */

TEST(upload_over_image)
{
	TestShape	shape = test_small_leaves(7000);
	TestMirror *mirror = test_filled(&shape);
	TestIndex  *index = mirror->index;
	uint32		i;
	int			round;

	for (round = 0; round < 5; round++)
	{
		mirror->epoch++;
		for (i = 0; i < index->nleaves; i++)
		{
			/* entries vanish from the leaf's end, as VACUUM would have it */
			if (index->leaf[i].count == 0 || !test_once_in(3))
				continue;
			index->leaf[i].count -= 1 + (uint32) test_below(index->leaf[i].count);
			test_write_leaf(index, i);
			CHECK_OK(test_upload(mirror, &index->leaf[i].block, 1, mirror->epoch));
		}
		test_ask_whole(mirror);
		test_ask_singly(mirror, 5);
		test_ask_forms(mirror, 20, 300);
	}
	test_mirror_free(mirror);
}

/* The parent learns of the split: the same leaves, divided otherwise. */
TEST(inner_image_replaced)
{
	TestShape	shape = test_plain_shape(5000);
	TestMirror *old = test_filled(&shape);
	TestMirror *new;
	int			round;

	for (round = 0; round < 4; round++)
	{
		GpbDeviceMirror *mirror = old->mirror;

		shape.leaf_entries = 20 + (uint32) test_below(100);
		shape.inner_entries = round == 3 ? 0 : 10;
		shape.nentries = round == 2 ? 100 : 5000;
		new = test_mirror_create(&shape);
		new->epoch = old->epoch + 1;
		test_device.api->mirror_destroy(test_device.device, new->mirror);
		new->mirror = mirror;	/* and all new pages into the old mirror */
		old->mirror = NULL;
		test_mirror_fill(new, false);
		test_ask_whole(new);
		test_ask_singly(new, 10);
		test_ask_forms(new, 20, 300);
		test_device.api->mirror_create(test_device.device, &old->index->layout, &old->mirror);
		test_mirror_free(old);
		old = new;
	}
	test_mirror_free(old);
}

/* Long runs and scattered pages, over several chunks */
TEST(upload_runs)
{
	TestShape	shape = test_plain_shape(9000);
	TestMirror *mirror;
	uint32		n;
	uint32	   *blocks;
	uint32		i;

	shape.leaf_entries = 6;
	shape.block_order = true;
	mirror = test_mirror_create(&shape);
	n = mirror->nblocks;
	blocks = calloc(n, sizeof(uint32));
	/* pairs swapped in the middle third, the rest in order */
	for (i = 0; i < n; i++)
		blocks[i] = i >= n / 3 / 2 * 2 && i < n * 2 / 3 / 2 * 2 ? i ^ 1 : i;
	CHECK_OK(test_upload(mirror, blocks, n, mirror->epoch));
	CHECK_OK(test_set_inner(mirror));
	test_ask_whole(mirror);
	test_ask_singly(mirror, 5);
	free(blocks);
	test_mirror_free(mirror);
}

/* A level-1 page without an image: refused, and the old inner image stays. */
TEST(inner_page_missing)
{
	TestShape	shape = test_plain_shape(5000);
	TestMirror *mirror = test_filled(&shape);
	uint32		block = mirror->nblocks + 100000;
	uint32		count = 1;

	CHECK(test_device.api->set_inner(test_device.device, mirror->mirror, 1, &block, &count, 0)
		  == GPB_DEVICE_NO_MEMORY, "not refused");
	test_ask_whole(mirror);
	test_ask_forms(mirror, 20, 300);
	test_mirror_free(mirror);
}

/* ---- changes after a launch (rule M3) ---- */

/* The kinds of request that these tests launch: one range or many, answered or listed */
static void *
request_of_kind(const TestMirror *mirror, int kind, uint32 n, uint64 entries, GpbRangesSpec *spec)
{
	void	   *ranges;

	*spec = test_spec(mirror, kind == 0 ? 1 : n);
	spec->program.list_entries = kind == 2;
	spec->total = kind == 3;
	if (kind > 0)
		spec->form = (GpbRangeForm) test_below(3);
	ranges = test_random_ranges(mirror, spec, entries);
	if (kind == 0)
		*(GpbNarrowRange *) ranges = test_whole;
	return ranges;
}

#define KINDS	4

/* Images and an inner image that come after the launch do not change its answer. */
TEST(upload_after_launch)
{
	TestShape	shape = test_plain_shape(15000);
	int			kind;

	for (kind = 0; kind < KINDS; kind++)
	{
		TestMirror *mirror = test_filled(&shape);
		TestIndex  *index = mirror->index;
		uint32	   *counts = calloc(index->nleaves, sizeof(uint32));
		GpbRangesSpec spec;
		void	   *ranges = request_of_kind(mirror, kind, 100, 100, &spec);
		uint32		i;

		/* the lists grow first, or finishing would run the kernels again, over the new images */
		CHECK_OK(test_launch(mirror, 0, &spec, ranges));
		test_finish(mirror, 0, &spec, ranges);
		CHECK_OK(test_launch(mirror, 0, &spec, ranges));
		for (i = 0; i < index->nleaves; i++)
		{
			counts[i] = index->leaf[i].count;
			index->leaf[i].count = 0;
			test_write_leaf(index, i);
		}
		test_mirror_fill(mirror, true);
		for (i = 0; i < index->nleaves; i++)
			index->leaf[i].count = counts[i];
		test_finish(mirror, 0, &spec, ranges);
		free(counts);
		free(ranges);
		test_mirror_free(mirror);
	}
}

/* Nor does an inner image alone: the tree becomes one leaf. */
TEST(inner_after_launch)
{
	TestShape	shape = test_plain_shape(5000);
	TestMirror *mirror = test_filled(&shape);
	int			kind;

	for (kind = 0; kind < KINDS; kind++)
	{
		GpbRangesSpec spec;
		void	   *ranges = request_of_kind(mirror, kind, 50, 300, &spec);

		CHECK_OK(test_launch(mirror, 0, &spec, ranges));
		CHECK_OK(test_device.api->set_inner(test_device.device, mirror->mirror, 0, NULL, NULL,
											mirror->index->leaf[0].block));
		test_finish(mirror, 0, &spec, ranges);
		CHECK_OK(test_set_inner(mirror));
		free(ranges);
	}
	test_mirror_free(mirror);
}

/* The channel's bits may be set anew before its request is finished. */
TEST(visibility_after_launch)
{
	TestShape	shape = test_plain_shape(5000);
	TestMirror *mirror = test_filled(&shape);
	uint8	   *none = calloc(1, mirror->heap_blocks / 4 + 1);
	int			kind;

	test_random_visible(mirror, 3);
	for (kind = 0; kind < KINDS; kind++)
	{
		GpbRangesSpec spec;
		void	   *ranges = request_of_kind(mirror, kind, 50, 300, &spec);

		CHECK_OK(test_launch(mirror, 0, &spec, ranges));
		CHECK_OK(test_device.api->set_visibility(test_device.device, 0, 0, none,
												 mirror->heap_blocks / 4 + 1));
		test_finish(mirror, 0, &spec, ranges);
		free(ranges);
	}
	free(none);
	test_mirror_free(mirror);
}

/* So much to list that a request may have to run again, when its mirror is gone */
TEST(destroy_in_flight)
{
	TestShape	shape = test_plain_shape(20000);
	int			kind;

	for (kind = 0; kind < KINDS; kind++)
	{
		TestMirror *mirror = test_filled(&shape);
		TestMirror	copy;
		GpbRangesSpec spec;
		void	   *ranges = request_of_kind(mirror, kind, 200, 900, &spec);

		test_random_visible(mirror, 1);
		CHECK_OK(test_launch(mirror, 0, &spec, ranges));
		copy = *mirror;
		test_device.api->mirror_destroy(test_device.device, mirror->mirror);
		test_finish(&copy, 0, &spec, ranges);
		free(ranges);
		CHECK_OK(test_device.api->mirror_create(test_device.device, &mirror->index->layout,
												&mirror->mirror));
		test_mirror_free(mirror);
	}
}

/* ---- lists longer than there is room for at first ---- */

TEST(long_lists)
{
	TestShape	shape = test_plain_shape(50000);
	TestMirror *mirror = test_filled(&shape);
	uint32		i;

	test_random_visible(mirror, 1);
	test_ask_whole(mirror);
	test_ask_singly(mirror, 3);
	test_mirror_free(mirror);

	shape.nentries = 20000;
	shape.leaf_entries = 3;
	mirror = test_filled(&shape);
	test_random_visible(mirror, 1);
	test_ask_forms(mirror, 60, 2000);
	for (i = 0; i < mirror->index->nleaves; i++)
	{
		mirror->index->leaf[i].unclean = i % 2;
		if (i % 2)
			test_mark_changed(mirror, mirror->index->leaf[i].block);
	}
	test_ask_forms(mirror, 60, 2000);
	/* every leaf */
	for (i = 0; i < mirror->index->nleaves; i++)
		mirror->index->leaf[i].unclean = true;
	memset(mirror->changed, 0xFF, mirror->nblocks / 8);
	mirror->nblocks &= ~31u;
	test_ask_whole(mirror);
	test_mirror_free(mirror);
}

/* Are all entries either listed or in a leaf left to the CPU? */
static void
check_accounted(const TestIndex *index, const GpbRangesResult *result)
{
	GpbUncleanPiece *piece = test_fetch(0, GPB_FETCH_PIECES, result->unclean,
										sizeof(GpbUncleanPiece));
	uint64		total = result->entries;
	uint64		k;
	uint32		i;

	for (k = 0; k < result->unclean; k++)
	{
		for (i = 0; i < index->nleaves; i++)
			total += index->leaf[i].block == piece[k].block ? index->leaf[i].count : 0;
	}
	CHECK(total == index->nentries, "%lu of %u entries accounted for", total, index->nentries);
	free(piece);
}

/* A list that did not fit, and other pages in the meantime: nothing is lost. */
TEST(long_list_then_upload)
{
	TestShape	shape = test_plain_shape(40000);
	int			round;

	for (round = 0; round < 4; round++)
	{
		TestMirror *mirror = test_filled(&shape);
		TestIndex  *index = mirror->index;
		GpbRangesSpec spec = test_spec(mirror, 2);
		GpbNarrowKeyRange keys[] = {{0, ~(uint64) 0}, {5, 4}};
		GpbNarrowRange bounds[] = {test_whole, {{5, 0}, {4, 0}}};
		GpbRangesResult result;
		int64		answers[2 * 20];
		uint32		i;

		spec.program.list_entries = round % 2;
		spec.form = round / 2 ? GPB_RANGE_KEYS : GPB_RANGE_BOUNDS;
		test_random_visible(mirror, 1);
		CHECK_OK(test_launch_at(mirror, 0, &spec, round / 2 ? (void *) keys : bounds, answers));
		mirror->epoch++;
		for (i = 0; i < index->nleaves; i += 2)
			CHECK_OK(test_upload(mirror, &index->leaf[i].block, 1, mirror->epoch));
		CHECK_OK(test_set_inner(mirror));
		CHECK_OK(test_device.api->ranges_finish(test_device.device, 0, &result));
		check_accounted(index, &result);
		CHECK(spec.program.list_entries || answers[0] == 0, "%ld entries visible", answers[0]);
		test_mirror_free(mirror);
	}
}

/* ---- channels ---- */

TEST(channels_in_flight)
{
	TestShape	shape = test_small_leaves(7000);
	TestMirror *mirror[4];
	GpbRangesSpec spec[TEST_CHANNELS];
	void	   *ranges[TEST_CHANNELS];
	int			round;
	int			i;

	for (i = 0; i < 4; i++)
	{
		static const int floats[] = {GPB_KIND_FLOAT8, GPB_KIND_FLOAT8};
		static const int *const kinds[] = {NULL, one_int8, floats, mixed};
		static const int ncolumns[] = {0, 1, 2, 5};

		shape.layout = test_layout(i % 2 ? 4 : 8, i, ncolumns[i], kinds[i]);
		mirror[i] = test_filled(&shape);
		test_random_visible(mirror[i], 1 + (uint64) i);
	}
	for (round = 0; round < 3; round++)
	{
		for (i = 0; i < TEST_CHANNELS; i++)
		{
			spec[i] = test_spec(mirror[i % 4], round == 0 ? 1 : 1 + (uint32) test_below(60));
			spec[i].program.list_entries = round > 0 && test_once_in(3);
			spec[i].total = round > 0 && test_once_in(4);
			spec[i].form = round == 0 ? GPB_RANGE_BOUNDS : (GpbRangeForm) test_below(3);
			ranges[i] = test_random_ranges(mirror[i % 4], &spec[i], round == 0 ? 0 : 400);
			CHECK_OK(test_launch(mirror[i % 4], i, &spec[i], ranges[i]));
		}
		for (i = TEST_CHANNELS; i-- > 0;)
		{
			test_finish(mirror[i % 4], i, &spec[i], ranges[i]);
			free(ranges[i]);
		}
	}
	for (i = 0; i < 4; i++)
		test_mirror_free(mirror[i]);
}

/* A request that nobody waits for does not disturb the channel's next, of whatever kind. */
TEST(abandoned_request)
{
	TestShape	shape = test_small_leaves(7000);
	TestMirror *mirror = test_filled(&shape);
	int			first;
	int			second;

	for (first = 0; first < KINDS; first++)
	{
		for (second = 0; second < KINDS; second++)
		{
			GpbRangesSpec spec[2];
			void	   *ranges[2];

			ranges[0] = request_of_kind(mirror, first, 40, 300, &spec[0]);
			ranges[1] = request_of_kind(mirror, second, 40, 300, &spec[1]);
			CHECK_OK(test_launch(mirror, 3, &spec[0], ranges[0]));
			test_random_visible(mirror, 2);
			test_ask(mirror, 3, &spec[1], ranges[1]);
			test_ask(mirror, 3, &spec[0], ranges[0]);
			free(ranges[0]);
			free(ranges[1]);
		}
	}
	test_mirror_free(mirror);
}

/* A large request polled to its end; the number of polls */
static int
poll_to_end(int channel)
{
	bool		ended = false;
	int			polls;

	for (polls = 0; !ended && polls < 1000000; polls++)
		CHECK_OK(test_device.api->poll(test_device.device, channel, &ended));
	CHECK(ended, "never ended");
	return polls;
}

/* Polled to the end, whatever was launched; with nothing launched it has ended. */
TEST(polled)
{
	TestShape	shape = test_plain_shape(9000);
	TestMirror *mirror = test_filled(&shape);
	bool		is_host = strcmp(test_device.api->name, "host") == 0;
	bool		ended = false;
	int			kind;

	CHECK_OK(test_device.api->poll(test_device.device, TEST_CHANNELS - 1, &ended));
	CHECK(ended, "what was never launched goes on");
	for (kind = 0; kind < KINDS; kind++)
	{
		GpbRangesSpec spec;
		void	   *ranges = request_of_kind(mirror, kind, 3000, 400, &spec);
		int			polls;

		CHECK_OK(test_launch(mirror, 1, &spec, ranges));
		polls = poll_to_end(1);
		CHECK(polls > 2 || kind == 0 || !is_host || spec.form == GPB_RANGE_POINTS,
			  "so much work in %d polls", polls);
		test_finish(mirror, 1, &spec, ranges);
		free(ranges);
	}
	test_mirror_free(mirror);
}

/* One long range is not done in one step. */
TEST(polled_in_steps)
{
	TestShape	shape = test_plain_shape(400000);
	TestMirror *mirror;
	GpbRangesSpec spec;
	int			polls;

	if (test_emulated)
		shape.nentries = 20000;
	shape.layout = test_layout(4, 0, 1, one_int4);
	mirror = test_filled(&shape);
	spec = test_spec(mirror, 1);
	CHECK_OK(test_launch(mirror, 1, &spec, &test_whole));
	polls = poll_to_end(1);
	if (strcmp(test_device.api->name, "host") == 0)
		CHECK(polls >= 3 && polls <= 20, "%d polls for %u entries", polls, shape.nentries);
	test_finish(mirror, 1, &spec, &test_whole);
	test_mirror_free(mirror);
}
