/*-------------------------------------------------------------------------
 *
 * cases.c
 *	  One promise of the device interface to a test.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "harness.h"

/* ---- helpers ---- */

static const int one_int4[] = {GPB_KIND_INT4};
static const int one_int8[] = {GPB_KIND_INT8};
static const int one_float8[] = {GPB_KIND_FLOAT8};
static const int mixed[] = {GPB_KIND_INT2, GPB_KIND_FLOAT8, GPB_KIND_INT2, GPB_KIND_INT8,
GPB_KIND_INT4};

/* Some leaves' worth of bigint keys with an int4, nothing odd about them */
static TestShape
plain_shape(uint32 nentries)
{
	TestShape	shape;

	memset(&shape, 0, sizeof(shape));
	shape.layout = test_layout(8, 0, 1, one_int4);
	shape.nentries = nentries;
	return shape;
}

static TestMirror *
filled(const TestShape *shape)
{
	TestMirror *mirror = test_mirror_create(shape);

	test_mirror_fill(mirror, false);
	return mirror;
}

static void
aggregate_all(TestMirror *mirror)
{
	GpbAggregateSpec spec = test_spec(mirror);

	test_aggregate(mirror, 0, &spec);
}

static void
aggregate_ranges(TestMirror *mirror, int n)
{
	GpbAggregateSpec spec = test_spec(mirror);

	while (n-- > 0)
	{
		spec.range = test_range(mirror);
		test_aggregate(mirror, 0, &spec);
	}
}

static void
run_shape(const TestShape *shape, int ranges)
{
	TestMirror *mirror = filled(shape);

	aggregate_all(mirror);
	aggregate_ranges(mirror, ranges);
	test_mirror_free(mirror);
}

/* ---- shapes ---- */

static void
empty_index(void)
{
	TestShape	shape = plain_shape(0);

	run_shape(&shape, 3);
}

static void
single_root_leaf(void)
{
	TestShape	shape = plain_shape(0);
	uint32		n;

	for (n = 1; n <= 9; n++)
	{
		shape.nentries = n;
		run_shape(&shape, 5);
	}
	shape.nentries = 200;
	run_shape(&shape, 10);
}

static void
many_leaves(void)
{
	TestShape	shape = plain_shape(60000);

	run_shape(&shape, 5);
	shape.leaf_entries = 3;
	shape.nentries = 6000;
	shape.inner_entries = 40;
	shape.empty_leaves = 10;
	run_shape(&shape, 30);
}

static void
full_leaves(void)
{
	TestShape	shape = plain_shape(20000);
	int			key_width;

	for (key_width = 4; key_width <= 8; key_width += 4)
	{
		shape.layout = test_layout(key_width, 0, 0, NULL);
		run_shape(&shape, 3);
		shape.layout = test_layout(key_width, 0, 1, one_int4);
		run_shape(&shape, 3);
		shape.layout = test_layout(key_width, 0, 1, one_int8);
		run_shape(&shape, 3);
	}
}

static void
duplicate_keys(void)
{
	TestShape	shape = plain_shape(8000);

	shape.distinct_keys = 1;
	run_shape(&shape, 20);
	shape.distinct_keys = 7;
	run_shape(&shape, 20);
}

/* Every key width, direction and place of NULLs */
static void
null_keys(void)
{
	TestShape	shape = plain_shape(3000);
	int			key_width;
	int			flags;

	shape.null_keys = 5;
	shape.leaf_entries = 100;
	for (key_width = 4; key_width <= 8; key_width += 4)
	{
		for (flags = 0; flags <= (GPB_LAYOUT_DESC | GPB_LAYOUT_NULLS_FIRST); flags++)
		{
			shape.layout = test_layout(key_width, flags, 1, one_int4);
			run_shape(&shape, 10);
		}
	}
}

static void
key_orders(void)
{
	TestShape	shape = plain_shape(3000);
	int			flags;

	for (flags = 0; flags <= (GPB_LAYOUT_DESC | GPB_LAYOUT_NULLS_FIRST); flags++)
	{
		shape.layout = test_layout(flags & 1 ? 4 : 8, flags, 0, NULL);
		run_shape(&shape, 10);
	}
}

/* ---- columns ---- */

static void
include_kinds(void)
{
	TestShape	shape = plain_shape(3000);
	int			kind;

	shape.null_values = 4;
	for (kind = GPB_KIND_INT2; kind <= GPB_KIND_FLOAT8; kind++)
	{
		shape.layout = test_layout(8, 0, 1, &kind);
		run_shape(&shape, 5);
	}
}

/* Row widths from 8 to the widest, int2 in either half of a word */
static void
include_many(void)
{
	TestShape	shape = plain_shape(2000);
	int			kinds[GPB_MAX_INCLUDE];
	int			n;
	int			c;

	shape.null_values = 3;
	for (n = 0; n <= GPB_MAX_INCLUDE; n++)
	{
		for (c = 0; c < n; c++)
			kinds[c] = n == GPB_MAX_INCLUDE ? GPB_KIND_INT8 : 1 + (int) test_below(4);
		shape.layout = test_layout(test_once_in(2) ? 4 : 8, 0, n, kinds);
		run_shape(&shape, 3);
	}
}

/* Each column with its own wishes, some with none */
static void
wanted_in_part(void)
{
	TestShape	shape = plain_shape(3000);
	TestMirror *mirror;
	GpbAggregateSpec spec;
	int			round;
	int			c;

	shape.layout = test_layout(8, 0, 5, mixed);
	shape.null_values = 5;
	mirror = filled(&shape);
	spec = test_spec(mirror);
	for (round = 0; round < 40; round++)
	{
		for (c = 0; c <= spec.layout.ncolumns; c++)
			spec.want[c] = round == 0 ? 0 : (uint8) test_below(8);
		spec.range = test_range(mirror);
		test_aggregate(mirror, 0, &spec);
	}
	test_mirror_free(mirror);
}

static int64
extreme_integer(int column, uint32 i)
{
	(void) column;
	return i % 3 == 0 ? -0x7FFFFFFFFFFFFFFF - 1 : 0x7FFFFFFFFFFFFFFF - (int64) (i % 5);
}

static int64
least_integer(int column, uint32 i)
{
	(void) column;
	(void) i;
	return -0x7FFFFFFFFFFFFFFF - 1;
}

static void
sums_beyond_64_bits(void)
{
	TestShape	shape = plain_shape(20000);

	shape.layout = test_layout(8, 0, 1, one_int8);
	shape.value = extreme_integer;
	run_shape(&shape, 5);
	shape.value = least_integer;
	run_shape(&shape, 5);
}

/* ---- float8 sums ---- */

static int64
any_bits(int column, uint32 i)
{
	uint64		bits = test_random();

	(void) column;
	(void) i;
	if (((bits >> 52) & 0x7FF) == 0x7FF)
		bits ^= (uint64) 1 << 62;
	return (int64) bits;
}

/* Huge and tiny, each to be cancelled by another but for a remainder */
static int64
cancelling(int column, uint32 i)
{
	static const double size[] = {1e308, 1e-308, 1, 5e-324, 1e16, 3};
	double		value = size[i / 2 % 6] * (i % 2 ? -1 : 1);
	int64		bits;

	(void) column;
	memcpy(&bits, &value, sizeof(bits));
	if (i % 101 == 0)
		bits = 1;				/* the least subnormal */
	return bits;
}

static int64
largest(int column, uint32 i)
{
	(void) column;
	(void) i;
	return 0x7FEFFFFFFFFFFFFF;
}

static int64
not_finite(int column, uint32 i)
{
	static const uint64 odd[] = {
		0x7FF0000000000000ul, 0xFFF0000000000000ul, /* infinities */
		0x7FF8000000000000ul, 0xFFF8000000000000ul, /* NaNs of both signs */
		0x7FF0000000000001ul, 0x7FFFFFFFFFFFFFFFul,
		0x3FF0000000000000ul, 0x0000000000000003ul
	};

	(void) column;
	return (int64) odd[i % 8];
}

static void
run_floats(int64 (*value) (int, uint32), uint32 nentries)
{
	TestShape	shape = plain_shape(nentries);

	shape.layout = test_layout(8, 0, 1, one_float8);
	shape.value = value;
	run_shape(&shape, 5);
}

static void
float_sum_ordinary(void)
{
	run_floats(NULL, 20000);
}

static void
float_sum_any_bits(void)
{
	run_floats(any_bits, 20000);
}

static void
float_sum_cancelling(void)
{
	run_floats(cancelling, 20000);
}

static void
float_sum_largest(void)
{
	run_floats(largest, 20000);
}

static void
float_sum_not_finite(void)
{
	run_floats(not_finite, 2000);
}

/* ---- visibility ---- */

static void
dead_hints(void)
{
	TestShape	shape = plain_shape(6000);
	TestMirror *mirror;
	GpbAggregateSpec spec;

	shape.dead = 3;
	mirror = filled(&shape);
	test_random_visible(mirror, 3);
	spec = test_spec(mirror);
	test_aggregate(mirror, 0, &spec);
	spec.ignore_dead_hints = true;
	test_aggregate(mirror, 0, &spec);
	test_mirror_free(mirror);
}

static void
visibility_random(void)
{
	static const uint64 one_in[] = {2, 1000, 1};
	TestShape	shape = plain_shape(6000);
	int			i;

	for (i = 0; i < 3; i++)
	{
		TestMirror *mirror;

		shape.heap_blocks = i == 1 ? 20000 : 777;
		mirror = filled(&shape);
		test_random_visible(mirror, one_in[i]);
		aggregate_all(mirror);
		aggregate_ranges(mirror, 5);
		test_mirror_free(mirror);
	}
}

/* Blocks at or beyond heap_blocks are not all-visible, whatever the bits say. */
static void
heap_beyond_map(void)
{
	TestShape	shape = plain_shape(6000);
	TestMirror *mirror;
	GpbAggregateSpec spec;
	uint32		blocks[] = {0, 1, 2, 3, 4, 5, 127, 128, 129, 255, 500, 999, 1000};
	uint32		i;

	mirror = filled(&shape);
	spec = test_spec(mirror);
	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
	{
		spec.heap_blocks = blocks[i];
		test_aggregate(mirror, 0, &spec);
	}
	test_mirror_free(mirror);
}

/* The bits stay with the channel from one aggregate to the next. */
static void
visibility_stays(void)
{
	TestShape	shape = plain_shape(6000);
	TestMirror *mirror = filled(&shape);
	GpbAggregateSpec spec = test_spec(mirror);

	test_random_visible(mirror, 4);
	spec.heap_blocks = 300;
	test_aggregate(mirror, 0, &spec);
	spec.heap_blocks = mirror->heap_blocks;
	CHECK_OK(test_device.api->aggregate_launch(test_device.device, mirror->mirror, 0, &spec,
											   mirror->changed, mirror->nblocks));
	test_finish(mirror, 0, &spec);
	test_mirror_free(mirror);
}

/* Nor do bits that another request left behind count. */
static void
visibility_begins_anew(void)
{
	TestShape	shape = plain_shape(6000);
	TestMirror *mirror = filled(&shape);
	GpbAggregateSpec spec = test_spec(mirror);

	test_aggregate(mirror, 0, &spec);
	CHECK_OK(test_device.api->set_visibility(test_device.device, 0, 0, mirror->visible, 50));
	CHECK_OK(test_device.api->aggregate_launch(test_device.device, mirror->mirror, 0, &spec,
											   mirror->changed, mirror->nblocks));
	spec.heap_blocks = 200;
	test_finish(mirror, 0, &spec);
	test_mirror_free(mirror);
}

/* ---- ranges ---- */

static void
ranges_random(void)
{
	TestShape	shape = plain_shape(4000);

	shape.leaf_entries = 50;
	run_shape(&shape, 200);
}

static void
ranges_extreme(void)
{
	TestShape	shape = plain_shape(4000);
	TestMirror *mirror = filled(&shape);
	GpbAggregateSpec spec = test_spec(mirror);
	uint32		i;

	spec.range.lo = GPB_BOUND_MAX;	/* nothing */
	test_aggregate(mirror, 0, &spec);
	spec.range.hi = spec.range.lo = GPB_BOUND_MIN;
	test_aggregate(mirror, 0, &spec);
	spec.range.lo = GPB_BOUND_MAX;	/* upside down */
	test_aggregate(mirror, 0, &spec);
	for (i = 0; i < mirror->index->nleaves; i++)
	{
		/* just a leaf; just its first entry; from its first to the next leaf's */
		spec.range.lo = mirror->index->leaf[i].low;
		spec.range.hi = mirror->index->leaf[i].high;
		test_aggregate(mirror, 0, &spec);
		spec.range.hi = spec.range.lo;
		spec.range.hi.tie++;
		test_aggregate(mirror, 0, &spec);
		spec.range.hi = mirror->index->leaf[i].high;
		spec.range.hi.tie++;
		test_aggregate(mirror, 0, &spec);
	}
	test_mirror_free(mirror);
}

/* ---- leaves that are not clean (rule M4) ---- */

static TestShape
unclean_shape(void)
{
	TestShape	shape = plain_shape(8000);

	shape.leaf_entries = 60;
	shape.empty_leaves = 20;
	return shape;
}

static void
unclean_changed_bit(void)
{
	TestShape	shape = unclean_shape();
	TestMirror *mirror = filled(&shape);
	TestIndex  *index = mirror->index;
	uint32		i;

	for (i = 0; i < index->nleaves; i++)
	{
		if (i != 0 && i != index->nleaves - 1 && !test_once_in(4))
			continue;
		index->leaf[i].unclean = true;
		test_mark_changed(mirror, index->leaf[i].block);
	}
	aggregate_all(mirror);
	aggregate_ranges(mirror, 50);
	for (i = 0; i < index->nleaves; i++)
	{
		index->leaf[i].unclean = true;
		test_mark_changed(mirror, index->leaf[i].block);
	}
	aggregate_all(mirror);
	aggregate_ranges(mirror, 10);
	test_mirror_free(mirror);
}

/* A level-1 page's bit says nothing about its leaves. */
static void
changed_inner_page(void)
{
	TestShape	shape = unclean_shape();
	TestMirror *mirror = filled(&shape);
	uint32		i;

	for (i = 0; i < mirror->index->ninner; i++)
		test_mark_changed(mirror, mirror->index->inner_block[i]);
	aggregate_all(mirror);
	test_mirror_free(mirror);
}

static void
unclean_no_image(void)
{
	TestShape	shape = unclean_shape();
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
	aggregate_all(mirror);
	aggregate_ranges(mirror, 20);
	free(blocks);
	test_mirror_free(mirror);
}

static void
unclean_newer_image(void)
{
	TestShape	shape = unclean_shape();
	TestMirror *mirror = filled(&shape);
	TestIndex  *index = mirror->index;
	GpbAggregateSpec spec;
	uint32		i;

	for (i = 0; i < index->nleaves; i++)
	{
		index->leaf[i].unclean = test_once_in(3);
		if (index->leaf[i].unclean)
			CHECK_OK(test_upload(mirror, &index->leaf[i].block, 1, mirror->epoch + 1));
	}
	aggregate_all(mirror);
	aggregate_ranges(mirror, 20);
	/* to a request of that epoch they are clean */
	for (i = 0; i < index->nleaves; i++)
		index->leaf[i].unclean = false;
	spec = test_spec(mirror);
	spec.epoch++;
	test_aggregate(mirror, 0, &spec);
	test_mirror_free(mirror);
}

/* A split whose parent does not know: the image ends before the next separator. */
static void
unclean_unfinished_split(void)
{
	TestShape	shape = unclean_shape();
	TestMirror *mirror = test_mirror_create(&shape);
	TestIndex  *index = mirror->index;
	uint32		i;

	for (i = 0; i < index->nleaves; i++)
	{
		if (index->leaf[i].count < 2 || (i != index->nleaves - 1 && !test_once_in(4)))
			continue;
		index->leaf[i].unclean = true;
		test_split_unfinished(index, i, index->spare);
	}
	test_mirror_fill(mirror, true);
	aggregate_all(mirror);
	aggregate_ranges(mirror, 20);
	test_mirror_free(mirror);
}

static void
unclean_beyond_map(void)
{
	TestShape	shape = unclean_shape();
	TestMirror *mirror = filled(&shape);
	TestIndex  *index = mirror->index;
	uint32		i;

	mirror->nblocks = index->nblocks / 2;
	for (i = 0; i < index->nleaves; i++)
		index->leaf[i].unclean = index->leaf[i].block >= mirror->nblocks;
	aggregate_all(mirror);
	aggregate_ranges(mirror, 20);
	mirror->nblocks = 0;
	for (i = 0; i < index->nleaves; i++)
		index->leaf[i].unclean = true;
	aggregate_all(mirror);
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

static void
unclean_damaged(void)
{
	TestShape	shape = unclean_shape();
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
	aggregate_all(mirror);
	aggregate_ranges(mirror, 20);
	test_mirror_free(mirror);
}

/* Nothing is known of the tree: the whole range is one unclean piece. */
static void
no_inner_image(void)
{
	TestShape	shape = plain_shape(1000);
	TestMirror *mirror = test_mirror_create(&shape);
	GpbAggregateSpec spec = test_spec(mirror);
	GpbAggregateResult result;
	GpbUncleanLeaf leaf;

	spec.range.lo.key = 5;
	CHECK_OK(test_launch(mirror, 0, &spec));
	CHECK_OK(test_device.api->aggregate_finish(test_device.device, 0, &result, NULL));
	CHECK(result.state.entries == 0 && result.leaves == 0 && result.heap == 0 &&
		  result.unclean == 1, "not one unclean piece");
	CHECK_OK(test_device.api->fetch(test_device.device, 0, GPB_FETCH_UNCLEAN, 0, 1, &leaf));
	CHECK(leaf.block == GPB_NO_BLOCK &&
		  gpb_bound_cmp(leaf.range.lo, spec.range.lo) == 0 &&
		  gpb_bound_cmp(leaf.range.hi, spec.range.hi) == 0, "not the whole range");
	test_mirror_free(mirror);
}

/* ---- refreshing ---- */

static void
upload_over_image(void)
{
	TestShape	shape = unclean_shape();
	TestMirror *mirror = filled(&shape);
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
		aggregate_all(mirror);
		aggregate_ranges(mirror, 5);
	}
	test_mirror_free(mirror);
}

/* An image that comes after the launch does not change its answer. */
static void
upload_after_launch(void)
{
	TestShape	shape = plain_shape(30000);
	TestMirror *mirror = filled(&shape);
	TestIndex  *index = mirror->index;
	GpbAggregateSpec spec = test_spec(mirror);
	uint32	   *counts = calloc(index->nleaves, sizeof(uint32));
	uint32		i;

	CHECK_OK(test_launch(mirror, 0, &spec));
	for (i = 0; i < index->nleaves; i++)
	{
		counts[i] = index->leaf[i].count;
		index->leaf[i].count = 0;
		test_write_leaf(index, i);
	}
	test_mirror_fill(mirror, true);
	for (i = 0; i < index->nleaves; i++)
		index->leaf[i].count = counts[i];
	test_finish(mirror, 0, &spec);
	free(counts);
	test_mirror_free(mirror);
}

/* The parent learns of the split: the same leaves, divided otherwise. */
static void
inner_image_replaced(void)
{
	TestShape	shape = plain_shape(5000);
	TestMirror *old = filled(&shape);
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
		aggregate_all(new);
		aggregate_ranges(new, 10);
		test_device.api->mirror_create(test_device.device, &old->index->layout, &old->mirror);
		test_mirror_free(old);
		old = new;
	}
	test_mirror_free(old);
}

/* Long runs and scattered pages, over several chunks */
static void
upload_runs(void)
{
	TestShape	shape = plain_shape(9000);
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
	aggregate_all(mirror);
	aggregate_ranges(mirror, 5);
	free(blocks);
	test_mirror_free(mirror);
}

/* A level-1 page without an image: refused, and the old inner image stays. */
static void
inner_page_missing(void)
{
	TestShape	shape = plain_shape(5000);
	TestMirror *mirror = filled(&shape);
	uint32		block = mirror->nblocks + 100000;
	uint32		count = 1;

	CHECK(test_device.api->set_inner(test_device.device, mirror->mirror, 1, &block, &count, 0)
		  == GPB_DEVICE_NO_MEMORY, "not refused");
	aggregate_all(mirror);
	test_mirror_free(mirror);
}

/* ---- lists longer than there is room for at first ---- */

static void
long_heap_list(void)
{
	TestShape	shape = plain_shape(50000);
	TestMirror *mirror = filled(&shape);

	test_random_visible(mirror, 1);
	aggregate_all(mirror);
	aggregate_ranges(mirror, 3);
	test_mirror_free(mirror);
}

static void
long_unclean_list(void)
{
	TestShape	shape = plain_shape(20000);
	TestMirror *mirror;
	uint32		i;

	shape.leaf_entries = 3;
	mirror = filled(&shape);
	for (i = 0; i < mirror->index->nleaves; i++)
		mirror->index->leaf[i].unclean = true;
	memset(mirror->changed, 0xFF, mirror->nblocks / 8);
	mirror->nblocks &= ~31u;
	aggregate_all(mirror);
	test_mirror_free(mirror);
}

/* Images replaced between launch and finish, when the lists did not fit */
static void
long_list_then_upload(void)
{
	TestShape	shape = plain_shape(50000);
	TestMirror *mirror = filled(&shape);
	TestIndex  *index = mirror->index;
	GpbAggregateSpec spec = test_spec(mirror);
	GpbAggregateResult result;
	int64		total;
	uint32		i;

	test_random_visible(mirror, 1);
	CHECK_OK(test_launch(mirror, 0, &spec));
	mirror->epoch++;
	for (i = 0; i < index->nleaves; i += 2)
		CHECK_OK(test_upload(mirror, &index->leaf[i].block, 1, mirror->epoch));
	CHECK_OK(test_device.api->aggregate_finish(test_device.device, 0, &result, NULL));
	/* every entry is either listed or in a leaf left to the CPU */
	total = (int64) result.heap;
	if (result.unclean > 0)
	{
		GpbUncleanLeaf *leaf = calloc(result.unclean, sizeof(GpbUncleanLeaf));
		uint64		k = 0;

		CHECK_OK(test_device.api->fetch(test_device.device, 0, GPB_FETCH_UNCLEAN, 0,
										result.unclean, leaf));
		for (i = 0; i < index->nleaves && k < result.unclean; i++)
		{
			if (gpb_bound_less(index->leaf[i].low, leaf[k].range.lo))
				continue;
			total += index->leaf[i].count;
			k += gpb_bound_cmp(index->leaf[i].high, leaf[k].range.hi) == 0;
		}
		free(leaf);
	}
	CHECK(total == index->nentries, "%ld of %u entries accounted for", total, index->nentries);
	test_mirror_free(mirror);
}

/* ---- channels ---- */

static void
channels_in_flight(void)
{
	TestShape	shape = unclean_shape();
	TestMirror *mirror[4];
	GpbAggregateSpec spec[TEST_CHANNELS];
	int			round;
	int			i;

	for (i = 0; i < 4; i++)
	{
		static const int floats[] = {GPB_KIND_FLOAT8, GPB_KIND_FLOAT8};
		static const int *const kinds[] = {NULL, one_int8, floats, mixed};
		static const int ncolumns[] = {0, 1, 2, 5};

		shape.layout = test_layout(i % 2 ? 4 : 8, i, ncolumns[i], kinds[i]);
		mirror[i] = filled(&shape);
		test_random_visible(mirror[i], 1 + (uint64) i);
	}
	for (round = 0; round < 3; round++)
	{
		for (i = 0; i < TEST_CHANNELS; i++)
		{
			spec[i] = test_spec(mirror[i % 4]);
			spec[i].range = test_range(mirror[i % 4]);
			CHECK_OK(test_launch(mirror[i % 4], i, &spec[i]));
		}
		for (i = TEST_CHANNELS; i-- > 0;)
			test_finish(mirror[i % 4], i, &spec[i]);
	}
	for (i = 0; i < 4; i++)
		test_mirror_free(mirror[i]);
}

/* A request that nobody waits for does not disturb the channel's next. */
static void
abandoned_request(void)
{
	TestShape	shape = unclean_shape();
	TestMirror *mirror = filled(&shape);
	GpbAggregateSpec spec = test_spec(mirror);

	CHECK_OK(test_launch(mirror, 3, &spec));
	test_random_visible(mirror, 2);
	spec.range = test_range(mirror);
	CHECK_OK(test_launch(mirror, 3, &spec));
	test_finish(mirror, 3, &spec);
	test_mirror_free(mirror);
}

static void
destroy_in_flight(void)
{
	TestShape	shape = plain_shape(50000);
	TestMirror *mirror = filled(&shape);
	GpbAggregateSpec spec = test_spec(mirror);
	TestMirror	copy;

	test_random_visible(mirror, 1);
	CHECK_OK(test_launch(mirror, 0, &spec));
	copy = *mirror;
	test_device.api->mirror_destroy(test_device.device, mirror->mirror);
	test_finish(&copy, 0, &spec);
	CHECK_OK(test_device.api->mirror_create(test_device.device, &mirror->index->layout,
											&mirror->mirror));
	test_mirror_free(mirror);
}

/* ---- memory ---- */

#define SMALL_LIMIT		((uint64) 24 << 20)

/* A request too large fails; the device goes on, and what was there stays. */
static void
memory_exhausted(void)
{
	TestDevice	whole = test_device;
	TestShape	shape = plain_shape(20000);
	TestMirror *mirror;
	TestMirror *large;
	GpbDeviceInfo info;
	uint32	   *blocks;
	uint32		n = 0;

	test_open(&test_device, whole.api, SMALL_LIMIT);
	mirror = filled(&shape);
	aggregate_all(mirror);

	shape.leaf_entries = 4;
	large = test_mirror_create(&shape);
	blocks = calloc(large->nblocks, sizeof(uint32));
	for (n = 0; n < large->nblocks; n++)
		blocks[n] = n;
	CHECK(test_upload(large, blocks, n, 11) == GPB_DEVICE_NO_MEMORY, "not refused");
	CHECK(test_device.api->last_error(test_device.device)[0] != '\0', "no reason given");
	test_device.api->describe(test_device.device, &info);
	CHECK(info.memory_used <= SMALL_LIMIT, "%lu bytes used", info.memory_used);
	aggregate_all(mirror);
	test_mirror_free(large);
	free(blocks);

	/* room again */
	shape.leaf_entries = 0;
	large = filled(&shape);
	aggregate_all(large);
	aggregate_all(mirror);
	test_mirror_free(large);
	test_mirror_free(mirror);
	test_close(&test_device);
	test_device = whole;
}

/* No memory for a list: the request fails whole. */
static void
memory_exhausted_by_list(void)
{
	TestDevice	whole = test_device;
	int			kinds[GPB_MAX_INCLUDE];
	TestShape	shape = plain_shape(30000);
	TestMirror *mirror;
	GpbAggregateSpec spec;
	GpbAggregateResult result;
	GpbDeviceStatus status;
	int			c;

	for (c = 0; c < GPB_MAX_INCLUDE; c++)
		kinds[c] = GPB_KIND_INT8;
	shape.layout = test_layout(8, 0, GPB_MAX_INCLUDE, kinds);
	test_open(&test_device, whole.api, SMALL_LIMIT);
	mirror = filled(&shape);
	test_random_visible(mirror, 1);
	spec = test_spec(mirror);
	status = test_launch(mirror, 0, &spec);
	if (status == GPB_DEVICE_OK)
		status = test_device.api->aggregate_finish(test_device.device, 0, &result, NULL);
	/* the host device may find room; then the answer must be right */
	CHECK(status == GPB_DEVICE_NO_MEMORY || status == GPB_DEVICE_OK, "status %d", status);
	test_random_visible(mirror, 100);
	aggregate_all(mirror);
	test_mirror_free(mirror);
	test_close(&test_device);
	test_device = whole;
}

static void
memory_accounted(void)
{
	TestShape	shape = plain_shape(20000);
	GpbDeviceInfo before;
	GpbDeviceInfo during;
	GpbDeviceInfo after;
	TestMirror *mirror;
	uint64		bytes;

	/* buffers that stay are there after a first round */
	run_shape(&shape, 1);
	test_device.api->describe(test_device.device, &before);
	mirror = filled(&shape);
	bytes = test_device.api->mirror_bytes(mirror->mirror);
	test_device.api->describe(test_device.device, &during);
	CHECK(bytes >= (uint64) mirror->index->nleaves * GPB_PAGE_SIZE, "only %lu bytes", bytes);
	CHECK(during.memory_used >= before.memory_used + bytes / 2, "used memory did not grow");
	test_mirror_free(mirror);
	test_device.api->describe(test_device.device, &after);
	CHECK(after.memory_used == before.memory_used, "%ld bytes not given back",
		  (int64) (after.memory_used - before.memory_used));
}

/* ---- everything at once ---- */

static void
random_everything(void)
{
	int			round;

	for (round = 0; round < 25; round++)
	{
		TestShape	shape = plain_shape(1 + (uint32) test_below(12000));
		int			kinds[GPB_MAX_INCLUDE];
		int			n = (int) test_below(4);
		TestMirror *mirror;
		uint32		i;
		int			c;

		for (c = 0; c < n; c++)
			kinds[c] = 1 + (int) test_below(4);
		shape.layout = test_layout(test_once_in(2) ? 4 : 8, (int) test_below(4), n, kinds);
		shape.leaf_entries = (uint32) test_below(400);
		shape.inner_entries = (uint32) test_below(200);
		shape.distinct_keys = test_below(shape.nentries);
		shape.heap_blocks = 1 + (uint32) test_below(5000);
		shape.null_keys = (uint32) test_below(10);
		shape.null_values = (uint32) test_below(10);
		shape.dead = (uint32) test_below(10);
		shape.empty_leaves = (uint32) test_below(10);
		shape.heap_order = test_once_in(3);
		mirror = filled(&shape);
		test_random_visible(mirror, 1 + test_below(1000));
		for (i = 0; i < mirror->index->nleaves; i++)
		{
			if (!test_once_in(20))
				continue;
			mirror->index->leaf[i].unclean = true;
			test_mark_changed(mirror, mirror->index->leaf[i].block);
		}
		aggregate_all(mirror);
		aggregate_ranges(mirror, 10);
		test_mirror_free(mirror);
	}
}

/* ---- the list ---- */

#define CASE(name) {#name, name}

const TestCase test_cases[] = {
	CASE(empty_index),
	CASE(single_root_leaf),
	CASE(many_leaves),
	CASE(full_leaves),
	CASE(duplicate_keys),
	CASE(null_keys),
	CASE(key_orders),
	CASE(include_kinds),
	CASE(include_many),
	CASE(wanted_in_part),
	CASE(sums_beyond_64_bits),
	CASE(float_sum_ordinary),
	CASE(float_sum_any_bits),
	CASE(float_sum_cancelling),
	CASE(float_sum_largest),
	CASE(float_sum_not_finite),
	CASE(dead_hints),
	CASE(visibility_random),
	CASE(heap_beyond_map),
	CASE(visibility_stays),
	CASE(visibility_begins_anew),
	CASE(ranges_random),
	CASE(ranges_extreme),
	CASE(unclean_changed_bit),
	CASE(changed_inner_page),
	CASE(unclean_no_image),
	CASE(unclean_newer_image),
	CASE(unclean_unfinished_split),
	CASE(unclean_beyond_map),
	CASE(unclean_damaged),
	CASE(no_inner_image),
	CASE(upload_over_image),
	CASE(upload_after_launch),
	CASE(inner_image_replaced),
	CASE(upload_runs),
	CASE(inner_page_missing),
	CASE(long_heap_list),
	CASE(long_unclean_list),
	CASE(long_list_then_upload),
	CASE(channels_in_flight),
	CASE(abandoned_request),
	CASE(destroy_in_flight),
	CASE(memory_exhausted),
	CASE(memory_exhausted_by_list),
	CASE(memory_accounted),
	CASE(random_everything)
};
const int	test_ncases = sizeof(test_cases) / sizeof(test_cases[0]);
