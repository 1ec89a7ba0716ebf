/*-------------------------------------------------------------------------
 *
 * contents.c
 *	  What requests of ranges give, by what the index holds and what is asked of it: one promise to
 *	  a test.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "harness.h"
#include "program_builder.h"

static const int one_int4[] = {GPB_KIND_INT4};
static const int one_int8[] = {GPB_KIND_INT8};
static const int one_float8[] = {GPB_KIND_FLOAT8};
static const int mixed[] = {GPB_KIND_INT2, GPB_KIND_FLOAT8, GPB_KIND_INT2, GPB_KIND_INT8,
GPB_KIND_INT4, GPB_KIND_FLOAT8};

#define MIXED	((int) (sizeof(mixed) / sizeof(mixed[0])))

/*
 * Ask for all of an index of that shape, for so many ranges one by one, and for n ranges at once,
 * of up to so many entries.
 */
static void
run_shape(const TestShape *shape, int singly, uint32 n, uint64 entries)
{
	TestMirror *mirror = test_filled(shape);

	test_ask_whole(mirror);
	test_ask_singly(mirror, singly);
	test_ask_forms(mirror, n, entries);
	test_mirror_free(mirror);
}

/* ---- shapes ---- */

TEST(empty_index)
{
	TestShape	shape = test_plain_shape(0);

	run_shape(&shape, 3, 20, 0);
}

TEST(single_root_leaf)
{
	TestShape	shape = test_plain_shape(0);
	uint32		n;

	for (n = 1; n <= 9; n++)
	{
		shape.nentries = n;
		run_shape(&shape, 5, 33, 4);
	}
	shape.nentries = 200;
	run_shape(&shape, 10, 100, 50);
}

TEST(many_leaves)
{
	TestShape	shape = test_plain_shape(60000);

	run_shape(&shape, 5, 40, 3000);
	shape.leaf_entries = 3;
	shape.nentries = 6000;
	shape.inner_entries = 40;
	shape.empty_leaves = 10;
	run_shape(&shape, 30, 300, 40);
	shape.leaf_entries = 7;
	shape.nentries = 9000;
	run_shape(&shape, 5, 40, 3000);
}

/* Full pages of rows of each width, ranges of a leaf and of several */
TEST(full_leaves)
{
	TestShape	shape = test_plain_shape(15000);
	int			key_width;

	for (key_width = 4; key_width <= 8; key_width += 4)
	{
		shape.layout = test_layout(key_width, 0, 0, NULL);
		run_shape(&shape, 3, 40, 2500);
		shape.layout = test_layout(key_width, 0, 1, one_int4);
		run_shape(&shape, 3, 40, 2500);
		shape.layout = test_layout(key_width, 0, 1, one_int8);
		run_shape(&shape, 3, 40, 2500);
	}
}

/* One key over many leaves, asked for many times */
TEST(duplicate_keys)
{
	TestShape	shape = test_plain_shape(8000);

	shape.distinct_keys = 1;
	run_shape(&shape, 20, 12, 100);
	shape.distinct_keys = 7;
	run_shape(&shape, 20, 40, 100);
	shape.nentries = 3000;
	shape.leaf_entries = 8;
	shape.distinct_keys = 1;
	run_shape(&shape, 5, 12, 100);
	shape.distinct_keys = 400;
	run_shape(&shape, 5, 200, 30);
}

/* ---- keys ---- */

/* Every key width, direction and place of NULLs */
TEST(null_keys)
{
	TestShape	shape = test_plain_shape(2500);
	int			key_width;
	int			flags;

	shape.null_keys = 5;
	shape.leaf_entries = 60;
	for (key_width = 4; key_width <= 8; key_width += 4)
	{
		for (flags = 0; flags <= (GPB_LAYOUT_DESC | GPB_LAYOUT_NULLS_FIRST); flags++)
		{
			shape.layout = test_layout(key_width, flags, 1, one_int4);
			run_shape(&shape, 10, 60, 200);
		}
	}
}

TEST(key_orders)
{
	TestShape	shape = test_plain_shape(3000);
	int			flags;

	for (flags = 0; flags <= (GPB_LAYOUT_DESC | GPB_LAYOUT_NULLS_FIRST); flags++)
	{
		shape.layout = test_layout(flags & 1 ? 4 : 8, flags, 0, NULL);
		run_shape(&shape, 10, 20, 300);
	}
}

/*
 * NULL keys share their bits with the greatest or the least key, here both at the ends of ranges:
 * keys never name a NULL, bounds do if they reach so far.
 */
TEST(extreme_keys)
{
	TestShape	shape = test_plain_shape(3000);
	int			key_width;
	int			flags;

	shape.null_keys = 3;
	shape.leaf_entries = 40;
	for (key_width = 4; key_width <= 8; key_width += 4)
	{
		for (flags = 0; flags <= (GPB_LAYOUT_DESC | GPB_LAYOUT_NULLS_FIRST); flags++)
		{
			uint64		most = key_width == 8 ? ~(uint64) 0 : 0xFFFFFFFF;
			uint64		order_bit = (uint64) 1 << 48;
			GpbNarrowKeyRange keys[] = {{0, most}, {0, 0}, {most, most}, {most, 0}, {1, most - 1},
			{0, 1}, {most - 1, most}, {1, most}, {0, most - 1}};
			uint64		points[] = {0, most, 1, most - 1, most / 2, 0, most};
			GpbNarrowRange bounds[] = {{{0, 0}, {0, order_bit}}, {{0, order_bit}, {0, ~(uint64) 0}},
			{{most, 0}, {most, order_bit}}, {{most, order_bit}, {most, ~(uint64) 0}},
			{{0, order_bit}, {most, order_bit}}, {{0, 0}, {most, ~(uint64) 0}},
			{{0, 1}, {most, order_bit + 1}}, {{0, 0}, {~(uint64) 0, ~(uint64) 0}}};
			const void *ranges[] = {points, keys, bounds};
			static const uint32 n[] = {7, 9, 8};
			TestMirror *mirror;
			GpbRangesSpec spec;
			int			round;

			shape.layout = test_layout(key_width, flags, 1, one_int4);
			mirror = test_filled(&shape);
			for (round = 0; round < 9; round++)
			{
				spec = test_spec(mirror, n[round % 3]);
				spec.form = (GpbRangeForm) (round % 3);
				spec.program.list_entries = round / 3 == 1;
				spec.total = round / 3 == 2;
				test_ask(mirror, 0, &spec, ranges[round % 3]);
			}
			test_mirror_free(mirror);
		}
	}
}

/* ---- ranges ---- */

TEST(ranges_random)
{
	TestShape	shape = test_plain_shape(4000);

	shape.leaf_entries = 50;
	run_shape(&shape, 200, 300, 60);
}

TEST(ranges_extreme)
{
	TestShape	shape = test_plain_shape(4000);
	TestMirror *mirror = test_filled(&shape);
	const TestIndex *index = mirror->index;
	GpbNarrowRange *ranges = calloc(3 * index->nleaves + 3, sizeof(GpbNarrowRange));
	GpbRangesSpec spec;
	uint32		n = 0;
	uint32		i;

	ranges[n].lo = ranges[n].hi = gpb_narrow_bound(GPB_BOUND_MAX);	/* nothing */
	n++;
	ranges[n].lo = ranges[n].hi = gpb_narrow_bound(GPB_BOUND_MIN);
	n++;
	ranges[n].lo = gpb_narrow_bound(GPB_BOUND_MAX);	/* upside down */
	ranges[n].hi = gpb_narrow_bound(GPB_BOUND_MIN);
	n++;
	for (i = 0; i < index->nleaves; i++)
	{
		GpbNarrowBound low = gpb_narrow_bound(index->leaf[i].low);
		GpbNarrowBound high = gpb_narrow_bound(index->leaf[i].high);

		/* just a leaf; just its first entry; from its first to the next leaf's */
		ranges[n].lo = low;
		ranges[n++].hi = high;
		ranges[n].lo = ranges[n].hi = low;
		ranges[n++].hi.tie++;
		ranges[n].lo = low;
		ranges[n].hi = high;
		ranges[n++].hi.tie++;
	}
	for (i = 0; i < n; i++)
		test_ask_range(mirror, ranges[i]);
	spec = test_spec(mirror, n);
	test_ask(mirror, 0, &spec, ranges);
	spec.program.list_entries = true;
	test_ask(mirror, 0, &spec, ranges);
	free(ranges);
	test_mirror_free(mirror);
}

/* Short, long and middling ones in one request */
TEST(mixed_lengths)
{
	TestShape	shape = test_plain_shape(20000);
	TestMirror *mirror;
	GpbRangesSpec spec;
	GpbNarrowKeyRange *ranges;
	uint32		i;

	shape.leaf_entries = 30;
	mirror = test_filled(&shape);
	spec = test_spec(mirror, 700);
	spec.form = GPB_RANGE_KEYS;
	ranges = calloc(spec.n, sizeof(GpbNarrowKeyRange));
	for (i = 0; i < spec.n; i++)
		ranges[i] = test_near_keys(mirror, i % 100 == 7 ? 20000 : i % 10 == 3 ? 500 : i % 40);
	test_ask(mirror, 0, &spec, ranges);
	spec.total = true;
	test_ask(mirror, 0, &spec, ranges);
	spec.total = false;
	spec.program.list_entries = true;
	spec.n = 120;
	test_ask(mirror, 0, &spec, ranges);
	free(ranges);
	test_mirror_free(mirror);
}

/* Requests of no range, whose total is an answer nonetheless, and of ranges of nothing */
TEST(empty_requests)
{
	TestShape	shape = test_plain_shape(3000);
	TestMirror *mirror;
	GpbRangesSpec spec;
	GpbNarrowKeyRange ranges[50];
	GpbNarrowRange upside_down = gpb_narrow_range((GpbRange) {GPB_BOUND_MAX, GPB_BOUND_MIN});
	int			form;
	uint32		i;

	shape.layout = test_layout(8, 0, MIXED, mixed);
	mirror = test_filled(&shape);
	for (form = GPB_RANGE_POINTS; form <= GPB_RANGE_BOUNDS; form++)
	{
		spec = test_spec(mirror, 0);
		spec.form = (GpbRangeForm) form;
		test_ask(mirror, 0, &spec, NULL);
		spec.total = true;
		test_ask(mirror, 0, &spec, NULL);
		spec.program.list_entries = true;
		test_ask(mirror, 0, &spec, NULL);
	}
	test_ask_range(mirror, upside_down);
	spec = test_spec(mirror, 50);
	spec.form = GPB_RANGE_KEYS;
	for (i = 0; i < 50; i++)
	{
		ranges[i] = test_near_keys(mirror, 300);
		ranges[i].lo = ranges[i].hi + 1 + test_below(5);
	}
	test_ask(mirror, 0, &spec, ranges);
	spec.total = true;
	test_ask(mirror, 0, &spec, ranges);
	spec.program.list_entries = true;
	test_ask(mirror, 0, &spec, ranges);
	test_mirror_free(mirror);
}

/* Ranges that overlap and repeat count as often as they are given, in a total too. */
TEST(totals)
{
	TestShape	shape = test_plain_shape(5000);
	TestMirror *mirror;
	GpbRangesSpec spec;
	GpbNarrowRange same[100];
	void	   *ranges;
	int			form;
	int			i;

	shape.layout = test_layout(8, GPB_LAYOUT_NULLS_FIRST, MIXED, mixed);
	shape.leaf_entries = 50;
	shape.null_keys = 7;
	shape.null_values = 5;
	mirror = test_filled(&shape);
	test_random_visible(mirror, 30);
	for (form = GPB_RANGE_POINTS; form <= GPB_RANGE_BOUNDS; form++)
	{
		spec = test_spec(mirror, 500);
		spec.total = true;
		spec.form = (GpbRangeForm) form;
		ranges = test_random_ranges(mirror, &spec, 500);
		test_ask(mirror, 0, &spec, ranges);
		free(ranges);
	}
	for (i = 0; i < 100; i++)
		same[i] = test_whole;
	spec = test_spec(mirror, 100);
	spec.total = true;
	test_ask(mirror, 0, &spec, same);
	test_mirror_free(mirror);
}

/* ---- columns ---- */

TEST(include_kinds)
{
	TestShape	shape = test_plain_shape(3000);
	int			kind;

	shape.null_values = 4;
	for (kind = GPB_KIND_INT2; kind <= GPB_KIND_FLOAT8; kind++)
	{
		shape.layout = test_layout(8, 0, 1, &kind);
		run_shape(&shape, 5, 30, 900);
	}
}

/* Row widths from 8 to the widest, int2 in either half of a word */
TEST(include_many)
{
	TestShape	shape = test_plain_shape(2000);
	int			kinds[GPB_MAX_INCLUDE];
	int			n;
	int			c;

	shape.null_values = 3;
	for (n = 0; n <= GPB_MAX_INCLUDE; n++)
	{
		for (c = 0; c < n; c++)
			kinds[c] = n == GPB_MAX_INCLUDE ? GPB_KIND_INT8 : 1 + (int) test_below(4);
		shape.layout = test_layout(test_once_in(2) ? 4 : 8, 0, n, kinds);
		run_shape(&shape, 3, 10, 300);
	}
}

/* Each way of wanting each kind of column alone, the key included */
TEST(wanted_alone)
{
	TestShape	shape = test_plain_shape(3000);
	int			key_width;

	shape.null_values = 4;
	shape.null_keys = 10;
	shape.leaf_entries = 50;
	for (key_width = 4; key_width <= 8; key_width += 4)
	{
		TestMirror *mirror;
		GpbRangesSpec spec;
		void	   *ranges;
		int			c;
		int			want;

		shape.layout = test_layout(key_width, key_width == 4 ? GPB_LAYOUT_DESC : 0, MIXED, mixed);
		mirror = test_filled(&shape);
		spec = test_spec(mirror, 50);
		spec.form = GPB_RANGE_KEYS;
		ranges = test_random_ranges(mirror, &spec, 120);
		for (c = 0; c <= MIXED; c++)
		{
			memset(spec.program.want, 0, sizeof(spec.program.want));
			for (want = 0; want <= 7; want++)
			{
				spec.program.want[c] = (uint8) want;
				test_ask(mirror, 0, &spec, ranges);
			}
		}
		free(ranges);
		test_mirror_free(mirror);
	}
}

/* Each column with its own wishes, some with none; several sums of float8 among them */
TEST(wanted_together)
{
	TestShape	shape = test_plain_shape(3000);
	TestMirror *mirror;
	int			round;

	shape.layout = test_layout(8, 0, MIXED, mixed);
	shape.null_values = 5;
	shape.null_keys = 5;
	mirror = test_filled(&shape);
	for (round = 0; round < 40; round++)
	{
		GpbRangesSpec spec = test_spec(mirror, 1 + (uint32) test_below(40));
		GpbNarrowRange range = test_random_range(mirror);
		void	   *ranges;

		test_random_wants(&spec);
		if (round == 0)
			memset(spec.program.want, 0, sizeof(spec.program.want));
		spec.form = (GpbRangeForm) (round % 3);
		ranges = test_random_ranges(mirror, &spec, 400);
		test_ask(mirror, 0, &spec, ranges);
		free(ranges);
		spec.n = 1;
		spec.form = GPB_RANGE_BOUNDS;
		test_ask(mirror, 0, &spec, &range);
	}
	test_mirror_free(mirror);
}

/* As many sums of float8 as there can be, over ranges of their own and in one total */
TEST(many_float_sums)
{
	TestShape	shape = test_plain_shape(2000);
	int			kinds[GPB_MAX_INCLUDE];
	int			c;

	for (c = 0; c < GPB_MAX_INCLUDE; c++)
		kinds[c] = GPB_KIND_FLOAT8;
	shape.null_values = 9;
	for (c = 2; c <= GPB_MAX_INCLUDE; c += 4)
	{
		shape.layout = test_layout(8, 0, c, kinds);
		run_shape(&shape, 3, 60, 200);
	}
}

/* ---- sums of integers ---- */

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

/* Mostly negative */
static int64
low_integer(int column, uint32 i)
{
	(void) column;
	return i % 5 == 0 ? 0x7FFFFFFFFFFFFFFF - (int64) (i % 3) : -0x7FFFFFFFFFFFFFFF - 1;
}

TEST(sums_beyond_64_bits)
{
	TestShape	shape = test_plain_shape(15000);

	shape.layout = test_layout(8, 0, 1, one_int8);
	shape.value = extreme_integer;
	run_shape(&shape, 5, 60, 3000);
	shape.value = least_integer;
	run_shape(&shape, 5, 60, 3000);
	shape.value = low_integer;
	run_shape(&shape, 5, 60, 3000);
	shape.nentries = 9000;
	shape.leaf_entries = 5;
	run_shape(&shape, 5, 60, 300);
}

/* ---- float8 ---- */

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

/* Infinities, NaNs and zeros of both signs, a few to a range */
static int64
odd_floats(int column, uint32 i)
{
	static const uint64 odd[] = {
		0x7FF0000000000000ul, 0xFFF0000000000000ul,
		0x7FF8000000000000ul, 0xFFF8000000000000ul,
		0x0000000000000000ul, 0x8000000000000000ul,
		0x3FF0000000000000ul, 0xC000000000000000ul
	};

	(void) column;
	(void) i;
	return (int64) odd[test_below(8)];
}

static void
run_floats(int64 (*value) (int, uint32), uint32 nentries)
{
	TestShape	shape = test_plain_shape(nentries);

	shape.layout = test_layout(8, 0, 1, one_float8);
	shape.value = value;
	run_shape(&shape, 5, 60, 800);
}

TEST(float_sum_ordinary)
{
	run_floats(NULL, 20000);
}

TEST(float_sum_any_bits)
{
	run_floats(any_bits, 20000);
}

TEST(float_sum_cancelling)
{
	run_floats(cancelling, 20000);
}

TEST(float_sum_largest)
{
	run_floats(largest, 20000);
}

TEST(float_sum_not_finite)
{
	run_floats(not_finite, 2000);
}

TEST(float_order)
{
	TestShape	shape = test_plain_shape(2000);

	shape.layout = test_layout(8, 0, 1, one_float8);
	shape.value = odd_floats;
	run_shape(&shape, 5, 200, 8);
}

/* ---- everything at once ---- */

TEST(random_everything)
{
	int			round;

	for (round = 0; round < 25; round++)
	{
		TestShape	shape = test_plain_shape(1 + (uint32) test_below(10000));
		int			kinds[GPB_MAX_INCLUDE];
		int			n = (int) test_below(4);
		TestMirror *mirror;
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
		mirror = test_filled(&shape);
		test_random_visible(mirror, 1 + test_below(1000));
		test_change_leaves(mirror, 20);
		test_ask_whole(mirror);
		test_ask_singly(mirror, 10);
		test_ask_forms(mirror, 1 + (uint32) test_below(100), test_below(800));
		test_mirror_free(mirror);
	}
}

/* ---- leaves that get runs ---- */

/* A mirror without leaves that have runs, until the first one comes, and more after it. */
TEST(runs_later)
{
	int			width;

	for (width = 4; width <= 16; width *= 2)
	{
		TestShape	shape = test_plain_shape(5000);
		TestMirror *mirror;
		TestIndex  *index;
		uint32		i;

		shape.layout = test_layout(width, 0, 0, NULL);
		shape.distinct_keys = 300;
		shape.leaf_entries = 200;
		shape.dead = 10;
		mirror = test_mirror_create(&shape);
		index = mirror->index;
		for (i = 0; i < index->nleaves; i++)
		{
			index->leaf[i].runs = false;
			test_write_leaf(index, i);
		}
		test_mirror_fill(mirror, false);
		test_all_visible(mirror, true);
		test_ask_whole(mirror);
		test_ask_forms(mirror, 60, 300);
		for (i = 0; i < index->nleaves; i += 1 + index->nleaves / 4)
		{
			index->leaf[i].runs = true;
			test_write_leaf(index, i);
			CHECK_OK(test_upload(mirror, &index->leaf[i].block, 1, mirror->epoch));
			test_ask_whole(mirror);
			test_ask_forms(mirror, 60, 300);
		}
		test_mirror_free(mirror);
	}
}

/* ---- damage ---- */

/* Write anything for the ends of a leaf's runs but the last one, which readers make sure of. */
static void
damage_ends(const TestIndex *index, const TestLeaf *leaf)
{
	char	   *page = test_page(index, leaf->block);
	int			key_width = index->layout.key_width;
	int			keys = GPB_PAGE_HEADER + (key_width == 16 ? 16 : 0);
	int			n = (*(uint16 *) (page + GPB_PD_LOWER) - keys) / (key_width + 2);
	uint16	   *ends = (uint16 *) (page + keys + n * key_width);
	int			r;

	for (r = 0; r + 1 < n; r++)
	{
		if (test_once_in(3))
			ends[r] = (uint16) (test_once_in(2) ? test_below(65536) : test_below(leaf->count + 2));
	}
}

/*
 * Any answers, but no access elsewhere and an end, whatever is read of such leaves.  The address
 * sanitizer sees accesses, see search_damaged() in ways.c.
 */
TEST(damaged_runs)
{
	int			rounds = 12;

	while (rounds-- > 0)
	{
		TestShape	shape = test_plain_shape(1 + (uint32) test_below(4000));
		TestMirror *mirror;
		uint32		i;

		shape.layout = test_layout(4 << rounds % 3, (int) test_below(4), 0, NULL);
		shape.distinct_keys = 1 + test_below(400);
		shape.null_keys = 20;
		shape.dead = 10;
		mirror = test_mirror_create(&shape);
		for (i = 0; i < mirror->index->nleaves; i++)
		{
			if (mirror->index->leaf[i].runs)
				damage_ends(mirror->index, &mirror->index->leaf[i]);
		}
		test_mirror_fill(mirror, false);
		test_random_visible(mirror, 10);
		for (i = 0; i < 12; i++)
		{
			GpbRangesSpec spec = test_spec(mirror, 100);
			void	   *ranges;

			if (i < 9)
			{
				spec.form = (GpbRangeForm) (i % 3);
				spec.program.list_entries = i / 3 == 1;
				spec.total = i / 3 == 2;
			}
			else
				test_random_program(&spec, 4, 2, (int) i % 2);
			ranges = test_random_ranges(mirror, &spec, 300);
			CHECK_OK(test_try(mirror, 0, &spec, ranges));
			free(ranges);
		}
		test_mirror_free(mirror);
	}
}
