/*-------------------------------------------------------------------------
 *
 * wide.c
 *	  Ranges and searches over keys of 16 bytes: every form, bounds whose halves matter, leaves
 *	  that are not clean, damaged pages.
 *
 * Programs over the columns of such keys are in program_cases.c, over their halves in
 * program_halves.c.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "search_batch.h"

#define WIDE	16

/* A key of one column, in each order, or of several */
static TestShape
wide_shape(uint32 nentries)
{
	static const int kinds[] = {GPB_KIND_INT4, GPB_KIND_FLOAT8, GPB_KIND_INT2};
	int			ncolumns = (int) test_below(4);
	bool		several = test_once_in(2);
	TestShape	shape = test_small_leaves(nentries);

	shape.layout = several ? test_columns_layout(WIDE, ncolumns, kinds) :
		test_layout(WIDE, (int) test_below(4), ncolumns, kinds);
	shape.leaf_entries = test_once_in(2) ? 60 : 0;
	shape.distinct_keys = test_once_in(2) ? nentries / 10 + 1 : 0;
	shape.null_keys = several || test_once_in(2) ? 0 : 20;
	shape.null_values = 10;
	shape.dead = 15;
	return shape;
}

TEST(wide_forms)
{
	int			rounds = test_emulated ? 8 : 30;

	while (rounds-- > 0)
	{
		TestShape	shape = wide_shape(1 + (uint32) test_below(6000));
		TestMirror *mirror = test_filled(&shape);

		if (test_once_in(2))
			test_random_visible(mirror, 10);
		test_ask_whole(mirror);
		test_ask_singly(mirror, 20);
		test_ask_forms(mirror, 1 + (uint32) test_below(200), 400);
		test_mirror_free(mirror);
	}
}

/* Make an image unsound, or one that begins or ends elsewhere. */
static void
damage(char *page)
{
	GpbPageSpecial *special = (GpbPageSpecial *) (page + GPB_SPECIAL_OFFSET);
	uint16	   *lower = (uint16 *) (page + GPB_PD_LOWER);

	switch (test_below(8))
	{
		case 0:
			*(uint64 *) (page + GPB_WIDE_LOW) ^= (uint64) 1 << test_below(64);
			return;
		case 1:
			special->low_key ^= (uint64) 1 << test_below(64);
			return;
		case 2:
			special->right = 1;	/* a rightmost leaf has one now */
			*(uint64 *) (page + GPB_WIDE_HIGH) ^= (uint64) 1 << test_below(64);
			return;
		case 3:
			special->key_width = (uint8) (test_once_in(2) ? 8 : 4);
			return;
		case 4:
			*lower = (uint16) (GPB_PAGE_HEADER + GPB_WIDE_HALVES + WIDE * 500);
			return;
		case 5:
			*lower = (uint16) (GPB_PAGE_HEADER + (test_once_in(2) ? 0 : 8));
			return;
		case 6:
			*lower = (uint16) (*lower + 8);
			return;
		default:
			special->flags |= GPB_PAGE_DELETED;
			return;
	}
}

/* Mark a third of the leaves as changed, or damage them, before the device gets their images. */
static void
break_some_leaves(TestMirror *mirror)
{
	TestIndex  *index = mirror->index;
	uint32		i;

	for (i = 0; i < index->nleaves; i++)
	{
		index->leaf[i].unclean = test_once_in(3);
		if (index->leaf[i].unclean && test_once_in(2))
			test_mark_changed(mirror, index->leaf[i].block);
		else if (index->leaf[i].unclean)
			damage(test_page(index, index->leaf[i].block));
	}
}

TEST(wide_unclean)
{
	int			rounds = test_emulated ? 4 : 15;

	while (rounds-- > 0)
	{
		TestShape	shape = wide_shape(4000);
		TestMirror *mirror = test_mirror_create(&shape);

		break_some_leaves(mirror);
		test_mirror_fill(mirror, true);
		test_ask_whole(mirror);
		test_ask_singly(mirror, 20);
		test_ask_forms(mirror, 60, 400);
		test_mirror_free(mirror);
	}
}

/* A split whose parent does not know, and then the image of before. */
TEST(wide_split)
{
	TestShape	shape = wide_shape(3000);
	TestMirror *mirror;
	TestIndex  *index;
	uint32		i;

	shape.empty_leaves = 0;
	mirror = test_filled(&shape);
	index = mirror->index;
	i = (uint32) test_below(index->nleaves);
	if (index->leaf[i].count >= 2)
	{
		char		before[GPB_PAGE_SIZE];

		memcpy(before, test_page(index, index->leaf[i].block), GPB_PAGE_SIZE);
		test_split_unfinished(index, i, index->spare);
		CHECK_OK(test_upload(mirror, &index->leaf[i].block, 1, mirror->epoch));
		index->leaf[i].unclean = true;
		test_ask_singly(mirror, 10);
		test_ask_forms(mirror, 40, 400);
		memcpy(test_page(index, index->leaf[i].block), before, GPB_PAGE_SIZE);
		CHECK_OK(test_upload(mirror, &index->leaf[i].block, 1, mirror->epoch));
		index->leaf[i].unclean = false;
		test_ask_forms(mirror, 40, 400);
	}
	test_mirror_free(mirror);
}

/* Each bound and order of searches, with positions and without, some leaves not clean */
TEST(wide_searches)
{
	int			rounds = test_emulated ? 4 : 15;

	while (rounds-- > 0)
	{
		TestShape	shape = wide_shape(1 + (uint32) test_below(4000));
		TestMirror *mirror = test_mirror_create(&shape);
		int			how;

		break_some_leaves(mirror);
		test_mirror_fill(mirror, true);
		for (how = 0; how < 18; how++)
		{
			TestKeyOrder keys = (TestKeyOrder) test_below(TEST_KEY_ORDERS);
			TestBatch  *batch = test_batch_create(mirror, (GpbSearchBound) (how % 3),
												  (GpbSearchOrder) (how / 3 % 3), 600,
												  test_once_in(2));

			test_batch_piece(batch, (uint32) test_below(600), keys, how >= 9);
			batch->spec.ascending = keys == TEST_KEYS_ASCENDING && test_once_in(2);
			test_batch_run(batch);
		}
		test_mirror_free(mirror);
	}
}
