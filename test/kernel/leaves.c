/*-------------------------------------------------------------------------
 *
 * leaves.c
 *	  Which entries and leaves a request may answer for: visibility bits, dead hints, and leaves
 *	  that are not clean (rules M4 and M5); one promise to a test.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "harness.h"

/* Ask for the whole index, for so many ranges one by one, and for n at once. */
static void
ask(TestMirror *mirror, int singly, uint32 n, uint64 entries)
{
	test_ask_whole(mirror);
	test_ask_singly(mirror, singly);
	test_ask_forms(mirror, n, entries);
}

/* ---- visibility ---- */

TEST(dead_hints)
{
	TestShape	shape = test_plain_shape(5000);
	TestMirror *mirror;
	int			round;

	shape.dead = 3;
	mirror = test_filled(&shape);
	test_random_visible(mirror, 3);
	for (round = 0; round < 12; round++)
	{
		GpbRangesSpec spec = test_spec(mirror, 80);
		void	   *ranges;

		spec.program.ignore_dead_hints = round % 2;
		spec.program.list_entries = round / 2 % 2;
		spec.form = (GpbRangeForm) (round / 4);
		ranges = test_random_ranges(mirror, &spec, 600);
		test_ask(mirror, 0, &spec, ranges);
		free(ranges);
		spec.n = 1;
		spec.form = GPB_RANGE_BOUNDS;
		test_ask(mirror, 0, &spec, &test_whole);
	}
	test_mirror_free(mirror);
}

TEST(visibility_random)
{
	static const uint64 one_in[] = {2, 1000, 1};
	TestShape	shape = test_plain_shape(6000);
	int			i;

	for (i = 0; i < 3; i++)
	{
		TestMirror *mirror;

		shape.heap_blocks = i == 1 ? 20000 : 777;
		mirror = test_filled(&shape);
		test_random_visible(mirror, one_in[i]);
		ask(mirror, 5, 60, 500);
		test_mirror_free(mirror);
	}
}

/* qsort comparator of TIDs */
static int
compare_exceptions(const void *a, const void *b)
{
	const uint64 *x = a;
	const uint64 *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Heap blocks are all-visible, trusted but for exceptions, or neither; one entry in "one_in" is an
 * exception, and there are exceptions where no entry is.
 */
static uint32
random_exceptions(TestMirror *mirror, uint64 one_in)
{
	const TestIndex *index = mirror->index;
	uint64		offset = gpb_exceptions_offset(mirror->heap_blocks);
	uint64	   *exceptions;
	uint32		n = 0;
	uint32		kept = 0;
	uint32		i;

	mirror->visible = realloc(mirror->visible, offset + (2 * index->nentries + 1) * sizeof(uint64));
	for (i = 0; i <= mirror->heap_blocks / 4; i++)
		mirror->visible[i] = (uint8) test_random();
	exceptions = (uint64 *) (mirror->visible + offset);
	for (i = 0; i < index->nentries; i++)
	{
		uint64		tid = index->entry[i].bound.tie & GPB_TID_MASK;

		if (test_once_in(one_in))
			exceptions[n++] = tid;
		if (test_once_in(10))
			exceptions[n++] = tid ^ 0x8000;
	}
	qsort(exceptions, n, sizeof(uint64), compare_exceptions);
	for (i = 0; i < n; i++)
	{
		if (kept == 0 || exceptions[i] != exceptions[kept - 1])
			exceptions[kept++] = exceptions[i];
	}
	return kept;
}

/* Entries at exceptions count for nothing, others of trusted heap blocks count. */
TEST(exceptions)
{
	static const uint64 one_in[] = {1, 3, 100};
	TestShape	shape = test_plain_shape(6000);
	int			round;

	for (round = 0; round < 12; round++)
	{
		TestMirror *mirror;
		GpbRangesSpec spec;
		void	   *ranges;

		shape.heap_blocks = round % 2 ? 777 : 20000;
		mirror = test_filled(&shape);
		spec = test_spec(mirror, 80);
		spec.exceptions = random_exceptions(mirror, one_in[round % 3]);
		spec.program.list_entries = round % 4 == 3;
		spec.form = (GpbRangeForm) (round / 4);
		ranges = test_random_ranges(mirror, &spec, 600);
		test_ask(mirror, 0, &spec, ranges);
		spec.program.list_entries = false;
		spec.total = true;
		test_ask(mirror, 0, &spec, ranges);
		free(ranges);
		spec.n = 1;
		spec.form = GPB_RANGE_BOUNDS;
		test_ask(mirror, 0, &spec, &test_whole);
		test_mirror_free(mirror);
	}
}

/* Blocks at or beyond heap_blocks are not all-visible, whatever the bits say. */
TEST(heap_beyond_map)
{
	TestShape	shape = test_plain_shape(5000);
	TestMirror *mirror;
	uint32		blocks[] = {0, 1, 2, 3, 4, 5, 127, 128, 129, 255, 500, 999, 1000};
	uint32		i;

	mirror = test_filled(&shape);
	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
	{
		GpbRangesSpec spec = test_spec(mirror, 1);
		void	   *ranges;

		spec.heap_blocks = blocks[i];
		test_ask(mirror, 0, &spec, &test_whole);
		spec.n = 20;
		spec.form = GPB_RANGE_KEYS;
		ranges = test_random_ranges(mirror, &spec, 700);
		test_ask(mirror, 0, &spec, ranges);
		free(ranges);
	}
	test_mirror_free(mirror);
}

/* Launch without setting the channel's bits; finish. */
static void
ask_with_bits_as_they_are(TestMirror *mirror, const GpbRangesSpec *spec, const void *ranges,
						  const GpbRangesSpec *expected)
{
	int64		answers[20 * 20];

	CHECK(test_answer_width(&spec->program) * spec->n <= sizeof(answers), "room for answers");
	CHECK_OK(test_device.api->ranges_launch(test_device.device, mirror->mirror, 0, spec, ranges,
											answers, mirror->changed, mirror->nblocks));
	test_finish_at(mirror, 0, expected, ranges, answers);
}

/* The bits stay with the channel from one request to the next. */
TEST(visibility_stays)
{
	TestShape	shape = test_plain_shape(6000);
	TestMirror *mirror = test_filled(&shape);
	GpbRangesSpec spec = test_spec(mirror, 1);

	test_random_visible(mirror, 4);
	CHECK_OK(test_device.api->set_visibility(test_device.device, 0, 0, mirror->visible,
											 mirror->heap_blocks / 4 + 1));
	spec.heap_blocks = 300;
	ask_with_bits_as_they_are(mirror, &spec, &test_whole, &spec);
	spec.heap_blocks = mirror->heap_blocks;
	ask_with_bits_as_they_are(mirror, &spec, &test_whole, &spec);
	test_mirror_free(mirror);
}

/* Nor do bits that another request left behind count. */
TEST(visibility_begins_anew)
{
	TestShape	shape = test_plain_shape(6000);
	TestMirror *mirror = test_filled(&shape);
	int			n;

	for (n = 1; n <= 20; n += 19)
	{
		GpbRangesSpec spec = test_spec(mirror, n);
		GpbRangesSpec expected;
		void	   *ranges = test_random_ranges(mirror, &spec, 700);

		test_ask(mirror, 0, &spec, ranges);
		CHECK_OK(test_device.api->set_visibility(test_device.device, 0, 0, mirror->visible, 50));
		expected = spec;
		expected.heap_blocks = 200;
		ask_with_bits_as_they_are(mirror, &spec, ranges, &expected);
		free(ranges);
	}
	test_mirror_free(mirror);
}

/* ---- leaves that are not clean (rule M4) ---- */

TEST(unclean_changed_bit)
{
	TestShape	shape = test_small_leaves(7000);
	TestMirror *mirror = test_filled(&shape);

	test_change_leaf(mirror, 0);
	test_change_leaf(mirror, mirror->index->nleaves - 1);
	test_change_leaves(mirror, 4);
	ask(mirror, 50, 150, 30);
	test_ask_forms(mirror, 40, 1000);
	test_change_leaves(mirror, 1);
	ask(mirror, 10, 40, 500);
	test_mirror_free(mirror);
}

/* A level-1 page's bit says nothing about its leaves. */
TEST(changed_inner_page)
{
	TestShape	shape = test_small_leaves(7000);
	TestMirror *mirror = test_filled(&shape);
	uint32		i;

	for (i = 0; i < mirror->index->ninner; i++)
		test_mark_changed(mirror, mirror->index->inner_block[i]);
	ask(mirror, 5, 20, 300);
	test_mirror_free(mirror);
}

TEST(unclean_no_image)
{
	TestShape	shape = test_small_leaves(7000);
	TestMirror *mirror = test_mirror_create(&shape);
	TestIndex  *index = mirror->index;
	uint32	   *blocks = calloc(index->nblocks, sizeof(uint32));
	uint32		n = 0;
	uint32		i;

	for (i = 0; i < index->ninner; i++)
		blocks[n++] = index->inner_block[i];
	for (i = 0; i < index->nleaves; i++)
	{
		index->leaf[i].unclean = test_once_in(3);
		if (!index->leaf[i].unclean)
			blocks[n++] = index->leaf[i].block;
	}
	CHECK_OK(test_upload(mirror, blocks, n, mirror->epoch));
	CHECK_OK(test_set_inner(mirror));
	ask(mirror, 20, 60, 300);
	/* and blocks that the map does not cover */
	mirror->nblocks = index->nblocks / 2;
	for (i = 0; i < index->nleaves; i++)
		index->leaf[i].unclean |= index->leaf[i].block >= mirror->nblocks;
	ask(mirror, 20, 60, 300);
	free(blocks);
	test_mirror_free(mirror);
}

TEST(unclean_newer_image)
{
	TestShape	shape = test_small_leaves(7000);
	TestMirror *mirror = test_filled(&shape);

	test_newer_images(mirror);
	ask(mirror, 20, 60, 300);
	test_next_epoch(mirror);
	ask(mirror, 5, 20, 300);
	test_mirror_free(mirror);
}

/* A split whose parent does not know: the image ends before the next separator. */
TEST(unclean_unfinished_split)
{
	TestShape	shape = test_small_leaves(7000);
	TestMirror *mirror = test_mirror_create(&shape);
	TestIndex  *index = mirror->index;

	test_split_leaves(index);
	test_mirror_fill(mirror, true);
	ask(mirror, 20, 60, 300);
	test_mirror_free(mirror);
}

TEST(unclean_beyond_map)
{
	TestShape	shape = test_small_leaves(7000);
	TestMirror *mirror = test_filled(&shape);
	TestIndex  *index = mirror->index;
	uint32		i;

	mirror->nblocks = index->nblocks / 2;
	for (i = 0; i < index->nleaves; i++)
		index->leaf[i].unclean = index->leaf[i].block >= mirror->nblocks;
	ask(mirror, 20, 20, 300);
	mirror->nblocks = 0;
	for (i = 0; i < index->nleaves; i++)
		index->leaf[i].unclean = true;
	ask(mirror, 5, 20, 300);
	test_mirror_free(mirror);
}

/* Damage that is an error on the CPU is for the CPU to find. */
static void
damage(char *page)
{
	GpbPageSpecial *special = (GpbPageSpecial *) (page + GPB_SPECIAL_OFFSET);
	uint16	   *lower = (uint16 *) (page + GPB_PD_LOWER);

	switch (test_below(9))
	{
		case 0:
			memset(page, 0, GPB_PAGE_SIZE);
			return;
		case 1:
			special->level = 1;
			return;
		case 2:
			special->page_id ^= 1;
			return;
		case 3:
			special->key_width ^= 12;	/* 4 for 8 */
			return;
		case 4:
			special->row_width += 4;
			return;
		case 5:
			*lower = 65535;
			return;
		case 6:
			*lower = 16;
			return;
		case 7:
			*lower += 2;
			return;
		default:
			special->flags |= GPB_PAGE_META;
			return;
	}
}

TEST(unclean_damaged)
{
	TestShape	shape = test_small_leaves(7000);
	TestMirror *mirror = test_mirror_create(&shape);
	TestIndex  *index = mirror->index;
	uint32		i;

	for (i = 0; i < index->nleaves; i++)
	{
		index->leaf[i].unclean = test_once_in(3);
		if (index->leaf[i].unclean)
			damage(test_page(index, index->leaf[i].block));
	}
	test_mirror_fill(mirror, true);
	ask(mirror, 20, 60, 300);
	test_mirror_free(mirror);
}

/* Nothing is known of the tree: each range that is not empty is one piece. */
TEST(no_inner_image)
{
	TestShape	shape = test_plain_shape(1000);
	TestMirror *mirror = test_mirror_create(&shape);
	uint64		points[] = {7, 0, 9};
	GpbNarrowKeyRange keys[] = {{5, 10}, {10, 5}, {7, 7}};
	GpbNarrowRange bounds[] = {{{5, 0}, {5, 1}}, {{5, 0}, {5, 0}}, test_whole};
	const void *ranges[] = {points, keys, bounds};
	TestLeaf	unknown = {GPB_BOUND_MIN, GPB_BOUND_MAX, GPB_NO_BLOCK, 0, 0, true, false};
	int			round;

	/* of this the model knows that the index is one unclean leaf at no block */
	mirror->index->leaf[0] = unknown;
	mirror->index->nleaves = 1;
	for (round = 0; round < 9; round++)
	{
		GpbRangesSpec spec = test_spec(mirror, 3);

		spec.form = (GpbRangeForm) (round % 3);
		spec.program.list_entries = round / 3 == 1;
		spec.total = round / 3 == 2;
		test_ask(mirror, 0, &spec, ranges[round % 3]);
	}
	test_mirror_free(mirror);
}
