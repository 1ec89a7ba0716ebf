/*-------------------------------------------------------------------------
 *
 * ranges.c
 *	  Batches of ranges: one promise to a test.
 *
 * What is expected is worked out from the model alone: keys as values, leaves as
 * the inner image divides them.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

static const int one_int4[] = {GPB_KIND_INT4};
static const int one_int8[] = {GPB_KIND_INT8};
static const int one_float8[] = {GPB_KIND_FLOAT8};

#define WANT_ALL	(GPB_WANT_COUNT | GPB_WANT_SUM | GPB_WANT_MINMAX)

/* ---- what is expected ---- */

typedef struct Expected
{
	uint64		leaves;
	char	   *answers;
	uint64		nanswers;
	GpbUncleanPiece *piece;
	uint64		npieces;
	char	   *entries;
	uint64		nentries;
	uint64		room_pieces;
	uint64		room_entries;
} Expected;

/* One range's running answer */
typedef struct RangeTotal
{
	int64		entries;
	int64		count;
	__int128	sum;
	int64		min;
	int64		max;
} RangeTotal;

static uint64
range_lo(const GpbRangesSpec *spec, const void *ranges, uint32 i)
{
	return spec->points ? ((const uint64 *) ranges)[i] : ((const GpbKeyRange *) ranges)[i].lo;
}

static uint64
range_hi(const GpbRangesSpec *spec, const void *ranges, uint32 i)
{
	return spec->points ? ((const uint64 *) ranges)[i] : ((const GpbKeyRange *) ranges)[i].hi;
}

/* Where keys lo .. hi that are not NULL begin and end in the index's order */
static GpbRange
range_bounds(const GpbRangesSpec *spec, uint64 lo, uint64 hi)
{
	bool		nulls_first = (spec->layout.flags & GPB_LAYOUT_NULLS_FIRST) != 0;
	GpbRange	range;

	range.lo.key = lo;
	range.hi.key = hi;
	range.lo.tie = nulls_first ? (uint64) 1 << 48 : 0;
	range.hi.tie = nulls_first ? ~(uint64) 0 : (uint64) 1 << 48;
	return range;
}

static bool
is_visible(const GpbRangesSpec *spec, const uint8 *visible, uint32 block)
{
	return block < spec->heap_blocks && (visible[block / 4] & (1 << (block % 4 * 2))) != 0;
}

/* As floats compare: NaN last, zeros equal */
static int64
comparable(int kind, int64 value)
{
	double		number;

	if (kind != GPB_KIND_FLOAT8)
		return value;
	memcpy(&number, &value, sizeof(number));
	if (number != number)
		return 0x7FFFFFFFFFFFFFFF;
	if (number == 0)
		return 0;
	return number < 0 ? -(int64) ((uint64) value & 0x7FFFFFFFFFFFFFFFul) : value;
}

static void
add_to_total(RangeTotal *total, const GpbRangesSpec *spec, const TestEntry *entry)
{
	int			c = spec->column;
	int64		value = c == 0 ? entry->key : entry->value[c - 1];

	total->entries++;
	if (c > 0 && entry->is_null[c - 1])
		return;
	total->sum += value;
	if (c > 0)
		value = comparable(spec->layout.kind[c - 1], value);
	if (total->count == 0 || value < total->min)
		total->min = value;
	if (total->count == 0 || value > total->max)
		total->max = value;
	total->count++;
}

static void
expect_entry(Expected *expected, const TestIndex *index, uint32 number, uint32 flags, uint32 i)
{
	int			width = 8 + (8 + index->layout.row_width + 7) / 8 * 8;
	char	   *record;

	if (expected->nentries == expected->room_entries)
	{
		expected->room_entries = expected->room_entries * 2 + 1000;
		expected->entries = realloc(expected->entries, expected->room_entries * width);
	}
	record = expected->entries + expected->nentries++ * width;
	memset(record, 0, width);
	memcpy(record, &number, 4);
	memcpy(record + 4, &flags, 4);
	memcpy(record + 8, &index->entry[i].bound.key, 8);
	test_row(index, i, record + 16);
}

static void
expect_piece(Expected *expected, GpbRange range, uint32 block, uint32 number)
{
	GpbUncleanPiece *piece;

	if (expected->npieces == expected->room_pieces)
	{
		expected->room_pieces = expected->room_pieces * 2 + 1000;
		expected->piece = realloc(expected->piece,
								  expected->room_pieces * sizeof(GpbUncleanPiece));
	}
	piece = &expected->piece[expected->npieces++];
	piece->range = range;
	piece->block = block;
	piece->number = number;
}

static void
expect_leaf(Expected *expected, const TestMirror *mirror, const GpbRangesSpec *spec,
			const TestLeaf *leaf, uint32 number, uint64 lo, uint64 hi, RangeTotal *total)
{
	const TestIndex *index = mirror->index;
	uint32		i;

	expected->leaves++;
	for (i = leaf->first; i < leaf->first + leaf->count; i++)
	{
		const TestEntry *entry = &index->entry[i];
		bool		visible = is_visible(spec, mirror->visible, entry->heap_block);

		if (entry->key_is_null || entry->bound.key < lo || entry->bound.key > hi ||
			(entry->dead && !spec->ignore_dead_hints))
			continue;
		if (spec->list_entries)
			expect_entry(expected, index, number, visible ? GPB_RANGE_ENTRY_VISIBLE : 0, i);
		else if (visible)
			add_to_total(total, spec, entry);
		else
			expect_entry(expected, index, number, 0, i);
	}
}

/* First leaf that ends above the bound */
static uint32
first_leaf(const TestIndex *index, GpbBound bound)
{
	uint32		lo = 0;
	uint32		hi = index->nleaves - 1;

	while (lo < hi)
	{
		uint32		mid = (lo + hi) / 2;

		if (gpb_bound_cmp(index->leaf[mid].high, bound) > 0)
			hi = mid;
		else
			lo = mid + 1;
	}
	return lo;
}

static void
expect_range(Expected *expected, const TestMirror *mirror, const GpbRangesSpec *spec,
			 uint32 number, uint64 lo, uint64 hi, RangeTotal *total)
{
	const TestIndex *index = mirror->index;
	GpbRange	range = range_bounds(spec, lo, hi);
	uint32		k;

	if (lo > hi)
		return;
	for (k = first_leaf(index, range.lo);
		 k < index->nleaves && gpb_bound_cmp(index->leaf[k].low, range.hi) < 0; k++)
	{
		const TestLeaf *leaf = &index->leaf[k];
		GpbRange	piece = range;

		if (gpb_bound_cmp(piece.lo, leaf->low) < 0)
			piece.lo = leaf->low;
		if (gpb_bound_cmp(piece.hi, leaf->high) > 0)
			piece.hi = leaf->high;
		if (leaf->unclean)
			expect_piece(expected, piece, leaf->block, number);
		else
			expect_leaf(expected, mirror, spec, leaf, number, lo, hi, total);
	}
}

static int
answer_width(uint8 want)
{
	return 8 + (want & GPB_WANT_COUNT ? 8 : 0) + (want & GPB_WANT_SUM ? 16 : 0) +
		(want & GPB_WANT_MINMAX ? 16 : 0);
}

/* min above max says that there was no value. */
static void
pack_answer(char *into, uint8 want, const RangeTotal *total)
{
	int64		word[6];
	int			n = 0;

	word[n++] = total->entries;
	if (want & GPB_WANT_COUNT)
		word[n++] = total->count;
	if (want & GPB_WANT_SUM)
	{
		word[n++] = (int64) total->sum;
		word[n++] = (int64) (total->sum >> 64);
	}
	if (want & GPB_WANT_MINMAX)
	{
		word[n++] = total->count > 0 ? total->min : 0x7FFFFFFFFFFFFFFF;
		word[n++] = total->count > 0 ? total->max : -0x7FFFFFFFFFFFFFFF - 1;
	}
	memcpy(into, word, n * 8);
}

static int	compared_bytes;

static int
compare_entries(const void *a, const void *b)
{
	uint64		tid_a = gpb_load64((const char *) a + 16) & GPB_TID_MASK;
	uint64		tid_b = gpb_load64((const char *) b + 16) & GPB_TID_MASK;

	if (tid_a != tid_b)
		return tid_a < tid_b ? -1 : 1;
	return memcmp(a, b, compared_bytes);
}

static Expected *
expect(const TestMirror *mirror, const GpbRangesSpec *spec, const void *ranges)
{
	Expected   *expected = calloc(1, sizeof(Expected));
	int			width = answer_width(spec->want);
	uint32		i;

	expected->nanswers = spec->list_entries ? 0 : spec->n;
	expected->answers = malloc((uint64) spec->n * width + 1);
	for (i = 0; i < spec->n; i++)
	{
		RangeTotal	total;

		memset(&total, 0, sizeof(total));
		expect_range(expected, mirror, spec, i, range_lo(spec, ranges, i),
					 range_hi(spec, ranges, i), &total);
		pack_answer(expected->answers + (uint64) i * width, spec->want, &total);
	}
	return expected;
}

static void
expected_free(Expected *expected)
{
	free(expected->answers);
	free(expected->piece);
	free(expected->entries);
	free(expected);
}

/* ---- requests ---- */

static GpbRangesSpec
ranges_spec(const TestMirror *mirror, uint32 n)
{
	GpbRangesSpec spec;

	memset(&spec, 0, sizeof(spec));
	spec.layout = mirror->index->layout;
	spec.n = n;
	spec.column = spec.layout.ncolumns > 0 ? 1 : 0;
	spec.want = WANT_ALL;
	if (spec.column == 1 && spec.layout.kind[0] == GPB_KIND_FLOAT8)
		spec.want &= ~GPB_WANT_SUM;
	spec.epoch = mirror->epoch;
	spec.heap_blocks = mirror->heap_blocks;
	return spec;
}

static uint64
most_key(const TestMirror *mirror)
{
	return mirror->index->layout.key_width == 8 ? ~(uint64) 0 : 0xFFFFFFFF;
}

/* An entry's key, a separator's, one beside, an end of the type, or anything */
static uint64
random_key(const TestMirror *mirror)
{
	const TestIndex *index = mirror->index;
	uint64		most = most_key(mirror);
	uint64		key = test_random() & most;

	switch (test_below(8))
	{
		case 0:
			return test_once_in(2) ? 0 : most;
		case 1:
			return key;
		case 2:
			return index->leaf[test_below(index->nleaves)].low.key;
		case 3:
			key = index->leaf[test_below(index->nleaves)].low.key;
			return (test_once_in(2) ? key + 1 : key - 1) & most;
		default:
			return index->nentries > 0 ? index->entry[test_below(index->nentries)].bound.key : key;
	}
}

/* From an entry's key over about so many entries */
static GpbKeyRange
near_range(const TestMirror *mirror, uint64 entries)
{
	const TestIndex *index = mirror->index;
	GpbKeyRange range = {0, 0};
	uint64		first;
	uint64		last;

	if (index->nentries == 0)
		return range;
	first = test_below(index->nentries);
	last = first + test_below(entries + 1);
	if (last >= index->nentries)
		last = index->nentries - 1;
	range.lo = index->entry[first].bound.key;
	range.hi = index->entry[last].bound.key;
	return range;
}

/* Ranges of every length, upside down now and then, some given twice; or points */
static void *
random_ranges(const TestMirror *mirror, const GpbRangesSpec *spec, uint64 most_entries)
{
	GpbKeyRange *range = calloc(spec->n + 1, sizeof(GpbKeyRange));
	uint64	   *point = (uint64 *) range;
	uint32		i;

	for (i = 0; i < spec->n; i++)
	{
		if (spec->points)
			point[i] = i > 0 && test_once_in(5) ? point[test_below(i)] : random_key(mirror);
		else if (i > 0 && test_once_in(6))
			range[i] = range[test_below(i)];
		else if (most_entries > 0 && !test_once_in(8))
			range[i] = near_range(mirror, test_once_in(4) ? most_entries : most_entries / 30);
		else
		{
			range[i].lo = random_key(mirror);
			range[i].hi = random_key(mirror);
			if (range[i].lo > range[i].hi && !test_once_in(6))
			{
				uint64		lo = range[i].hi;

				range[i].hi = range[i].lo;
				range[i].lo = lo;
			}
		}
	}
	return range;
}

static GpbDeviceStatus
launch(TestMirror *mirror, int channel, const GpbRangesSpec *spec, const void *ranges)
{
	const GpbDeviceApi *api = test_device.api;
	uint64		bytes = ((uint64) mirror->heap_blocks + 3) / 4;
	uint8	   *bits = malloc(bytes + 1);
	uint32	   *changed = malloc((mirror->nblocks / 32 + 1) * sizeof(uint32));
	GpbRangesSpec copy = *spec;
	GpbDeviceStatus status;

	memcpy(bits, mirror->visible, bytes);
	memcpy(changed, mirror->changed, (mirror->nblocks + 31) / 32 * sizeof(uint32));
	CHECK_OK(api->set_visibility(test_device.device, channel, 0, bits, bytes));
	status = api->ranges_launch(test_device.device, mirror->mirror, channel, &copy, ranges,
								changed, mirror->nblocks);
	/* all but the ranges was copied */
	memset(&copy, 0x77, sizeof(copy));
	memset(changed, 0x77, (mirror->nblocks / 32 + 1) * sizeof(uint32));
	memset(bits, 0x55, bytes + 1);
	free(bits);
	free(changed);
	return status;
}

/* In pieces, as the service does */
static void *
fetch(int channel, GpbFetchWhat what, uint64 n, size_t width)
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

static void
compare_answers(int channel, const GpbRangesSpec *spec, const Expected *expected)
{
	int			width = answer_width(spec->want);
	char	   *answers = fetch(channel, GPB_FETCH_ANSWERS, expected->nanswers, width);
	uint64		differing = 0;
	uint64		first = 0;
	uint64		i;

	for (i = expected->nanswers; i-- > 0;)
	{
		if (memcmp(answers + i * width, expected->answers + i * width, width) == 0)
			continue;
		differing++;
		first = i;
	}
	CHECK(differing == 0,
		  "%lu of %u answers differ (want %d of column %d), first %lu: %ld entries for %ld",
		  differing, spec->n, spec->want, spec->column, first,
		  (int64) gpb_load64(answers + first * width),
		  (int64) gpb_load64(expected->answers + first * width));
	free(answers);
}

static void
compare_pieces(int channel, const Expected *expected)
{
	GpbUncleanPiece *piece = fetch(channel, GPB_FETCH_PIECES, expected->npieces,
								   sizeof(GpbUncleanPiece));
	uint64		differing = 0;
	uint64		i;

	for (i = 0; i < expected->npieces; i++)
		differing += memcmp(&piece[i], &expected->piece[i], sizeof(GpbUncleanPiece)) != 0;
	CHECK(differing == 0, "%lu of %lu unclean pieces differ", differing, expected->npieces);
	free(piece);
}

static void
compare_lists(const TestIndex *index, int channel, const GpbRangesSpec *spec,
			  const Expected *expected)
{
	int			width = 8 + (8 + index->layout.row_width + 7) / 8 * 8;
	char	   *entries = fetch(channel, GPB_FETCH_ENTRIES, expected->nentries, width);
	uint64		differing = 0;
	uint64		unordered = 0;
	uint64		i;

	if (!spec->list_entries)
	{
		for (i = 1; i < expected->nentries; i++)
			unordered += (gpb_load64(entries + (i - 1) * width + 16) & GPB_TID_MASK) >
				(gpb_load64(entries + i * width + 16) & GPB_TID_MASK);
		/* entries with the same TID come in any order */
		compared_bytes = width;
		qsort(entries, expected->nentries, width, compare_entries);
		if (expected->nentries > 0)
			qsort(expected->entries, expected->nentries, width, compare_entries);
	}
	for (i = 0; i < expected->nentries; i++)
		differing += memcmp(entries + i * width, expected->entries + i * width, width) != 0;
	CHECK(unordered == 0, "%lu entries out of TID order", unordered);
	CHECK(differing == 0, "%lu of %lu listed entries differ", differing, expected->nentries);
	free(entries);
}

static void
finish(TestMirror *mirror, int channel, const GpbRangesSpec *spec, const void *ranges)
{
	Expected   *expected = expect(mirror, spec, ranges);
	GpbRangesResult result;

	memset(&result, 0x77, sizeof(result));
	CHECK_OK(test_device.api->ranges_finish(test_device.device, channel, &result));
	CHECK(result.leaves == expected->leaves, "%lu leaves, expected %lu", result.leaves,
		  expected->leaves);
	CHECK(result.unclean == expected->npieces, "%lu unclean pieces, expected %lu",
		  result.unclean, expected->npieces);
	CHECK(result.entries == expected->nentries, "%lu entries listed, expected %lu",
		  result.entries, expected->nentries);
	compare_answers(channel, spec, expected);
	if (result.unclean == expected->npieces)
		compare_pieces(channel, expected);
	if (result.entries == expected->nentries)
		compare_lists(mirror->index, channel, spec, expected);
	expected_free(expected);
}

static void
ask(TestMirror *mirror, int channel, const GpbRangesSpec *spec, const void *ranges)
{
	CHECK_OK(launch(mirror, channel, spec, ranges));
	finish(mirror, channel, spec, ranges);
}

/* n random ranges of about so many entries; then their entries; then as many points. */
static void
ask_random(TestMirror *mirror, uint32 n, uint64 entries)
{
	GpbRangesSpec spec = ranges_spec(mirror, n);
	int			round;

	for (round = 0; round < 4; round++)
	{
		void	   *ranges;

		spec.points = round / 2;
		spec.list_entries = round % 2;
		ranges = random_ranges(mirror, &spec, entries);
		ask(mirror, 0, &spec, ranges);
		free(ranges);
	}
}

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
run_shape(const TestShape *shape, uint32 n, uint64 entries)
{
	TestMirror *mirror = filled(shape);

	ask_random(mirror, n, entries);
	test_mirror_free(mirror);
}

/* ---- shapes and keys ---- */

static void
batch_random(void)
{
	TestShape	shape = plain_shape(9000);

	run_shape(&shape, 300, 60);
	shape.leaf_entries = 7;
	shape.inner_entries = 30;
	shape.empty_leaves = 9;
	run_shape(&shape, 300, 40);
	run_shape(&shape, 40, 3000);
}

static void
batch_small_indexes(void)
{
	TestShape	shape = plain_shape(0);
	uint32		n;

	run_shape(&shape, 20, 0);
	for (n = 1; n <= 9; n += 2)
	{
		shape.nentries = n;
		run_shape(&shape, 33, 4);
	}
	shape.nentries = 200;
	run_shape(&shape, 100, 50);
}

/* Every key width, direction and place of NULLs */
static void
batch_key_orders(void)
{
	TestShape	shape = plain_shape(2500);
	int			key_width;
	int			flags;

	shape.null_keys = 5;
	shape.leaf_entries = 60;
	for (key_width = 4; key_width <= 8; key_width += 4)
	{
		for (flags = 0; flags <= (GPB_LAYOUT_DESC | GPB_LAYOUT_NULLS_FIRST); flags++)
		{
			shape.layout = test_layout(key_width, flags, 1, one_int4);
			run_shape(&shape, 60, 200);
		}
	}
}

/* NULL keys share their bits with the greatest or the least key: both at the ends of ranges. */
static void
batch_extreme_keys(void)
{
	TestShape	shape = plain_shape(3000);
	int			key_width;
	int			flags;

	shape.null_keys = 3;
	shape.leaf_entries = 40;
	for (key_width = 4; key_width <= 8; key_width += 4)
	{
		for (flags = 0; flags <= (GPB_LAYOUT_DESC | GPB_LAYOUT_NULLS_FIRST); flags++)
		{
			uint64		most = key_width == 8 ? ~(uint64) 0 : 0xFFFFFFFF;
			GpbKeyRange ranges[] = {{0, most}, {0, 0}, {most, most}, {most, 0}, {1, most - 1},
			{0, 1}, {most - 1, most}, {1, most}, {0, most - 1}};
			TestMirror *mirror;
			GpbRangesSpec spec;

			shape.layout = test_layout(key_width, flags, 1, one_int4);
			mirror = filled(&shape);
			spec = ranges_spec(mirror, sizeof(ranges) / sizeof(ranges[0]));
			ask(mirror, 0, &spec, ranges);
			spec.list_entries = true;
			ask(mirror, 0, &spec, ranges);
			test_mirror_free(mirror);
		}
	}
}

/* One key over hundreds of leaves, asked for many times */
static void
batch_duplicates(void)
{
	TestShape	shape = plain_shape(3000);

	shape.leaf_entries = 8;
	shape.distinct_keys = 1;
	run_shape(&shape, 12, 100);
	shape.distinct_keys = 5;
	run_shape(&shape, 40, 100);
	shape.distinct_keys = 400;
	run_shape(&shape, 200, 30);
}

static void
batch_mixed_lengths(void)
{
	TestShape	shape = plain_shape(20000);
	TestMirror *mirror;
	GpbRangesSpec spec;
	GpbKeyRange *ranges;
	uint32		i;

	shape.leaf_entries = 30;
	mirror = filled(&shape);
	spec = ranges_spec(mirror, 700);
	ranges = calloc(spec.n, sizeof(GpbKeyRange));
	for (i = 0; i < spec.n; i++)
		ranges[i] = near_range(mirror, i % 100 == 7 ? 20000 : i % 10 == 3 ? 500 : i % 40);
	ask(mirror, 0, &spec, ranges);
	spec.list_entries = true;
	spec.n = 120;
	ask(mirror, 0, &spec, ranges);
	free(ranges);
	test_mirror_free(mirror);
}

/* Full pages of rows of each width, ranges of a leaf and of several */
static void
batch_full_leaves(void)
{
	TestShape	shape = plain_shape(9000);
	int			key_width;

	for (key_width = 4; key_width <= 8; key_width += 4)
	{
		shape.layout = test_layout(key_width, 0, 0, NULL);
		run_shape(&shape, 40, 2500);
		shape.layout = test_layout(key_width, 0, 1, one_int4);
		run_shape(&shape, 40, 2500);
		shape.layout = test_layout(key_width, 0, 1, one_int8);
		run_shape(&shape, 40, 2500);
	}
}

static void
batch_empty(void)
{
	TestShape	shape = plain_shape(3000);
	TestMirror *mirror = filled(&shape);
	GpbRangesSpec spec = ranges_spec(mirror, 0);
	GpbKeyRange ranges[50];
	uint32		i;

	ask(mirror, 0, &spec, ranges);
	spec.list_entries = true;
	ask(mirror, 0, &spec, NULL);
	spec = ranges_spec(mirror, 50);
	for (i = 0; i < 50; i++)
	{
		ranges[i] = near_range(mirror, 300);
		ranges[i].lo = ranges[i].hi + 1 + test_below(5);
	}
	ask(mirror, 0, &spec, ranges);
	spec.list_entries = true;
	ask(mirror, 0, &spec, ranges);
	test_mirror_free(mirror);
}

/* ---- columns ---- */

/* Each way of wanting each kind of column, the key included */
static void
batch_columns(void)
{
	static const int kinds[] = {GPB_KIND_INT2, GPB_KIND_FLOAT8, GPB_KIND_INT2, GPB_KIND_INT8,
	GPB_KIND_INT4};
	TestShape	shape = plain_shape(3000);
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

		shape.layout = test_layout(key_width, key_width == 4 ? GPB_LAYOUT_DESC : 0, 5, kinds);
		mirror = filled(&shape);
		spec = ranges_spec(mirror, 50);
		ranges = random_ranges(mirror, &spec, 120);
		for (c = 0; c <= 5; c++)
		{
			for (want = 0; want <= WANT_ALL; want++)
			{
				if (c == 2 && (want & GPB_WANT_SUM))
					continue;
				spec.column = (uint8) c;
				spec.want = (uint8) want;
				ask(mirror, 0, &spec, ranges);
			}
		}
		free(ranges);
		test_mirror_free(mirror);
	}
}

static void
batch_kinds(void)
{
	TestShape	shape = plain_shape(3000);
	int			kind;

	shape.null_values = 4;
	for (kind = GPB_KIND_INT2; kind <= GPB_KIND_FLOAT8; kind++)
	{
		shape.layout = test_layout(8, 0, 1, &kind);
		run_shape(&shape, 30, 900);
	}
}

static int64
extreme_integer(int column, uint32 i)
{
	(void) column;
	return i % 5 == 0 ? 0x7FFFFFFFFFFFFFFF - (int64) (i % 3) : -0x7FFFFFFFFFFFFFFF - 1;
}

static void
batch_sums_beyond_64_bits(void)
{
	TestShape	shape = plain_shape(9000);

	shape.layout = test_layout(8, 0, 1, one_int8);
	shape.value = extreme_integer;
	run_shape(&shape, 60, 3000);
	shape.leaf_entries = 5;
	run_shape(&shape, 60, 300);
}

static int64
odd_floats(int column, uint32 i)
{
	static const uint64 odd[] = {
		0x7FF0000000000000ul, 0xFFF0000000000000ul, /* infinities */
		0x7FF8000000000000ul, 0xFFF8000000000000ul, /* NaNs */
		0x0000000000000000ul, 0x8000000000000000ul, /* zeros */
		0x3FF0000000000000ul, 0xC000000000000000ul
	};

	(void) column;
	(void) i;
	return (int64) odd[test_below(8)];
}

static void
batch_float_order(void)
{
	TestShape	shape = plain_shape(2000);

	shape.layout = test_layout(8, 0, 1, one_float8);
	shape.value = odd_floats;
	run_shape(&shape, 200, 8);
}

/* What is not answered is refused, with a reason, and the channel goes on. */
static void
batch_refused(void)
{
	TestShape	shape = plain_shape(2000);
	TestMirror *mirror;
	GpbRangesSpec spec;
	GpbRangesResult result;
	void	   *ranges;

	shape.layout = test_layout(8, 0, 1, one_float8);
	mirror = filled(&shape);
	spec = ranges_spec(mirror, 20);
	ranges = random_ranges(mirror, &spec, 100);
	spec.want = WANT_ALL;
	CHECK(launch(mirror, 0, &spec, ranges) == GPB_DEVICE_NO_MEMORY, "float8 sum not refused");
	CHECK(test_device.api->last_error(test_device.device)[0] != '\0', "no reason given");
	CHECK(test_device.api->ranges_finish(test_device.device, 0, &result) ==
		  GPB_DEVICE_NO_MEMORY, "finished what was refused");
	spec.column = 2;
	spec.want = GPB_WANT_COUNT;
	CHECK(launch(mirror, 0, &spec, ranges) == GPB_DEVICE_NO_MEMORY, "no such column");
	spec = ranges_spec(mirror, 20);
	ask(mirror, 0, &spec, ranges);
	/* a list wants no column, so none is looked at */
	spec.list_entries = true;
	spec.want = WANT_ALL;
	ask(mirror, 0, &spec, ranges);
	free(ranges);
	test_mirror_free(mirror);
}

/* ---- visibility ---- */

static void
batch_visibility(void)
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
		ask_random(mirror, 60, 500);
		test_mirror_free(mirror);
	}
}

static void
batch_heap_beyond_map(void)
{
	TestShape	shape = plain_shape(4000);
	TestMirror *mirror = filled(&shape);
	uint32		blocks[] = {0, 1, 3, 127, 128, 129, 500, 999};
	uint32		i;

	for (i = 0; i < sizeof(blocks) / sizeof(blocks[0]); i++)
	{
		GpbRangesSpec spec = ranges_spec(mirror, 20);
		void	   *ranges = random_ranges(mirror, &spec, 700);

		spec.heap_blocks = blocks[i];
		ask(mirror, 0, &spec, ranges);
		free(ranges);
	}
	test_mirror_free(mirror);
}

/* Bits that another request left behind do not count. */
static void
batch_visibility_begins_anew(void)
{
	TestShape	shape = plain_shape(4000);
	TestMirror *mirror = filled(&shape);
	GpbRangesSpec spec = ranges_spec(mirror, 20);
	void	   *ranges = random_ranges(mirror, &spec, 700);

	ask(mirror, 0, &spec, ranges);
	CHECK_OK(test_device.api->set_visibility(test_device.device, 0, 0, mirror->visible, 50));
	CHECK_OK(test_device.api->ranges_launch(test_device.device, mirror->mirror, 0, &spec, ranges,
											mirror->changed, mirror->nblocks));
	spec.heap_blocks = 200;
	finish(mirror, 0, &spec, ranges);
	free(ranges);
	test_mirror_free(mirror);
}

static void
batch_dead_hints(void)
{
	TestShape	shape = plain_shape(5000);
	TestMirror *mirror;
	GpbRangesSpec spec;
	void	   *ranges;
	int			round;

	shape.dead = 3;
	mirror = filled(&shape);
	test_random_visible(mirror, 3);
	spec = ranges_spec(mirror, 80);
	ranges = random_ranges(mirror, &spec, 600);
	for (round = 0; round < 4; round++)
	{
		spec.ignore_dead_hints = round % 2;
		spec.list_entries = round / 2;
		ask(mirror, 0, &spec, ranges);
	}
	free(ranges);
	test_mirror_free(mirror);
}

/* ---- leaves that are not clean (rule M4) ---- */

static TestShape
unclean_shape(void)
{
	TestShape	shape = plain_shape(6000);

	shape.leaf_entries = 60;
	shape.empty_leaves = 20;
	return shape;
}

static void
batch_changed_bit(void)
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
	ask_random(mirror, 150, 30);
	ask_random(mirror, 40, 1000);
	for (i = 0; i < index->nleaves; i++)
	{
		index->leaf[i].unclean = true;
		test_mark_changed(mirror, index->leaf[i].block);
	}
	ask_random(mirror, 40, 500);
	test_mirror_free(mirror);
}

static void
batch_newer_image(void)
{
	TestShape	shape = unclean_shape();
	TestMirror *mirror = filled(&shape);
	TestIndex  *index = mirror->index;
	uint32		i;

	for (i = 0; i < index->nleaves; i++)
	{
		index->leaf[i].unclean = test_once_in(3);
		if (index->leaf[i].unclean)
			CHECK_OK(test_upload(mirror, &index->leaf[i].block, 1, mirror->epoch + 1));
	}
	ask_random(mirror, 60, 300);
	/* to a request of that epoch they are clean */
	for (i = 0; i < index->nleaves; i++)
		index->leaf[i].unclean = false;
	mirror->epoch++;
	ask_random(mirror, 20, 300);
	test_mirror_free(mirror);
}

/* A split whose parent does not know: the image ends before the next separator. */
static void
batch_unfinished_split(void)
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
	ask_random(mirror, 60, 300);
	test_mirror_free(mirror);
}

/* No image at all, and blocks that the map does not cover */
static void
batch_no_image(void)
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
	ask_random(mirror, 60, 300);
	mirror->nblocks = index->nblocks / 2;
	for (i = 0; i < index->nleaves; i++)
		index->leaf[i].unclean |= index->leaf[i].block >= mirror->nblocks;
	ask_random(mirror, 60, 300);
	mirror->nblocks = 0;
	for (i = 0; i < index->nleaves; i++)
		index->leaf[i].unclean = true;
	ask_random(mirror, 20, 300);
	free(blocks);
	test_mirror_free(mirror);
}

/* Nothing is known of the tree: each range that is not empty is one piece. */
static void
batch_no_inner_image(void)
{
	TestShape	shape = plain_shape(1000);
	TestMirror *mirror = test_mirror_create(&shape);
	GpbRangesSpec spec = ranges_spec(mirror, 3);
	GpbKeyRange ranges[] = {{5, 10}, {10, 5}, {7, 7}};
	GpbRangesResult result;
	GpbUncleanPiece piece[2];
	int64		answer[3][6];
	int			i;

	CHECK_OK(launch(mirror, 0, &spec, ranges));
	CHECK_OK(test_device.api->ranges_finish(test_device.device, 0, &result));
	CHECK(result.leaves == 0 && result.entries == 0 && result.unclean == 2, "%lu pieces",
		  result.unclean);
	CHECK_OK(test_device.api->fetch(test_device.device, 0, GPB_FETCH_PIECES, 0, 2, piece));
	CHECK_OK(test_device.api->fetch(test_device.device, 0, GPB_FETCH_ANSWERS, 0, 3, answer));
	for (i = 0; i < 2; i++)
	{
		GpbRange	range = range_bounds(&spec, ranges[2 * i].lo, ranges[2 * i].hi);

		CHECK(piece[i].block == GPB_NO_BLOCK && piece[i].number == 2 * i &&
			  gpb_bound_cmp(piece[i].range.lo, range.lo) == 0 &&
			  gpb_bound_cmp(piece[i].range.hi, range.hi) == 0, "piece %d is not the range", i);
	}
	for (i = 0; i < 3; i++)
		CHECK(answer[i][0] == 0 && answer[i][1] == 0, "range %d has entries", i);
	test_mirror_free(mirror);
}

/* ---- rule M3 ---- */

/* Images and an inner image that come after the launch do not change its answer. */
static void
batch_then_upload(void)
{
	TestShape	shape = plain_shape(9000);
	int			list;

	for (list = 0; list < 2; list++)
	{
		TestMirror *mirror = filled(&shape);
		TestIndex  *index = mirror->index;
		GpbRangesSpec spec = ranges_spec(mirror, 100);
		uint32	   *counts = calloc(index->nleaves, sizeof(uint32));
		void	   *ranges;
		uint32		i;

		spec.list_entries = list;
		ranges = random_ranges(mirror, &spec, 100);
		CHECK_OK(launch(mirror, 0, &spec, ranges));
		for (i = 0; i < index->nleaves; i++)
		{
			counts[i] = index->leaf[i].count;
			index->leaf[i].count = 0;
			test_write_leaf(index, i);
		}
		test_mirror_fill(mirror, true);
		for (i = 0; i < index->nleaves; i++)
			index->leaf[i].count = counts[i];
		finish(mirror, 0, &spec, ranges);
		free(counts);
		free(ranges);
		test_mirror_free(mirror);
	}
}

/* The channel's bits may be set anew before its ranges are finished. */
static void
batch_then_visibility(void)
{
	TestShape	shape = plain_shape(5000);
	TestMirror *mirror = filled(&shape);
	GpbRangesSpec spec = ranges_spec(mirror, 50);
	void	   *ranges = random_ranges(mirror, &spec, 300);
	uint8	   *none = calloc(1, mirror->heap_blocks / 4 + 1);

	test_random_visible(mirror, 3);
	CHECK_OK(launch(mirror, 0, &spec, ranges));
	CHECK_OK(test_device.api->set_visibility(test_device.device, 0, 0, none,
											 mirror->heap_blocks / 4 + 1));
	finish(mirror, 0, &spec, ranges);
	free(none);
	free(ranges);
	test_mirror_free(mirror);
}

static void
batch_destroy_in_flight(void)
{
	TestShape	shape = plain_shape(20000);
	int			list;

	for (list = 0; list < 2; list++)
	{
		TestMirror *mirror = filled(&shape);
		GpbRangesSpec spec = ranges_spec(mirror, 200);
		void	   *ranges;
		TestMirror	copy;

		/* so much to list that it may have to run again */
		spec.list_entries = list;
		ranges = random_ranges(mirror, &spec, 900);
		test_random_visible(mirror, 1);
		CHECK_OK(launch(mirror, 0, &spec, ranges));
		copy = *mirror;
		test_device.api->mirror_destroy(test_device.device, mirror->mirror);
		finish(&copy, 0, &spec, ranges);
		free(ranges);
		CHECK_OK(test_device.api->mirror_create(test_device.device, &mirror->index->layout,
												&mirror->mirror));
		test_mirror_free(mirror);
	}
}

/* ---- lists longer than there is room for at first ---- */

static void
batch_long_lists(void)
{
	TestShape	shape = plain_shape(20000);
	TestMirror *mirror;
	uint32		i;

	shape.leaf_entries = 3;
	mirror = filled(&shape);
	test_random_visible(mirror, 1);
	ask_random(mirror, 60, 2000);
	for (i = 0; i < mirror->index->nleaves; i++)
	{
		mirror->index->leaf[i].unclean = i % 2;
		if (i % 2)
			test_mark_changed(mirror, mirror->index->leaf[i].block);
	}
	ask_random(mirror, 60, 2000);
	test_mirror_free(mirror);
}

/* A list that did not fit, and other pages in the meantime: nothing is lost. */
static void
batch_long_list_then_upload(void)
{
	TestShape	shape = plain_shape(30000);
	int			list;

	for (list = 0; list < 2; list++)
	{
		TestMirror *mirror = filled(&shape);
		TestIndex  *index = mirror->index;
		GpbRangesSpec spec = ranges_spec(mirror, 2);
		GpbKeyRange ranges[] = {{0, ~(uint64) 0}, {5, 4}};
		GpbRangesResult result;
		GpbUncleanPiece *piece;
		uint64		total;
		uint64		k;
		uint32		i;

		spec.list_entries = list;
		test_random_visible(mirror, 1);
		CHECK_OK(launch(mirror, 0, &spec, ranges));
		mirror->epoch++;
		for (i = 0; i < index->nleaves; i += 2)
			CHECK_OK(test_upload(mirror, &index->leaf[i].block, 1, mirror->epoch));
		CHECK_OK(test_set_inner(mirror));
		CHECK_OK(test_device.api->ranges_finish(test_device.device, 0, &result));
		/* every entry is either listed or in a leaf left to the CPU */
		total = result.entries;
		piece = fetch(0, GPB_FETCH_PIECES, result.unclean, sizeof(GpbUncleanPiece));
		for (k = 0; k < result.unclean; k++)
		{
			for (i = 0; i < index->nleaves; i++)
				total += index->leaf[i].block == piece[k].block ? index->leaf[i].count : 0;
		}
		CHECK(total == index->nentries, "%lu of %u entries accounted for", total,
			  index->nentries);
		free(piece);
		test_mirror_free(mirror);
	}
}

/* ---- channels ---- */

static void
batch_channels_in_flight(void)
{
	TestShape	shape = unclean_shape();
	TestMirror *mirror[4];
	GpbRangesSpec spec[TEST_CHANNELS];
	void	   *ranges[TEST_CHANNELS];
	int			i;

	for (i = 0; i < 4; i++)
	{
		shape.layout = test_layout(i % 2 ? 4 : 8, i, 1, i < 2 ? one_int4 : one_int8);
		mirror[i] = filled(&shape);
		test_random_visible(mirror[i], 1 + (uint64) i);
	}
	for (i = 0; i < TEST_CHANNELS; i++)
	{
		spec[i] = ranges_spec(mirror[i % 4], 1 + (uint32) test_below(60));
		spec[i].list_entries = test_once_in(3);
		spec[i].points = test_once_in(3);
		ranges[i] = random_ranges(mirror[i % 4], &spec[i], 400);
		CHECK_OK(launch(mirror[i % 4], i, &spec[i], ranges[i]));
	}
	for (i = TEST_CHANNELS; i-- > 0;)
	{
		finish(mirror[i % 4], i, &spec[i], ranges[i]);
		free(ranges[i]);
	}
	for (i = 0; i < 4; i++)
		test_mirror_free(mirror[i]);
}

/* A request that nobody waits for does not disturb the channel's next, of either kind. */
static void
batch_abandoned(void)
{
	TestShape	shape = unclean_shape();
	TestMirror *mirror = filled(&shape);
	GpbAggregateSpec aggregate = test_spec(mirror);
	GpbRangesSpec spec = ranges_spec(mirror, 40);
	void	   *ranges = random_ranges(mirror, &spec, 300);

	CHECK_OK(launch(mirror, 3, &spec, ranges));
	test_random_visible(mirror, 2);
	ask(mirror, 3, &spec, ranges);
	CHECK_OK(launch(mirror, 3, &spec, ranges));
	test_aggregate(mirror, 3, &aggregate);
	CHECK_OK(test_launch(mirror, 3, &aggregate));
	ask(mirror, 3, &spec, ranges);
	test_aggregate(mirror, 3, &aggregate);
	free(ranges);
	test_mirror_free(mirror);
}

/* Polled to the end, whatever was launched; with nothing launched it has ended. */
static void
batch_polled(void)
{
	TestShape	shape = plain_shape(9000);
	TestMirror *mirror = filled(&shape);
	GpbAggregateSpec aggregate = test_spec(mirror);
	GpbRangesSpec spec = ranges_spec(mirror, 3000);
	void	   *ranges = random_ranges(mirror, &spec, 400);
	bool		ended = false;
	int			polls;

	CHECK_OK(test_device.api->poll(test_device.device, TEST_CHANNELS - 1, &ended));
	CHECK(ended, "what was never launched goes on");
	CHECK_OK(launch(mirror, 1, &spec, ranges));
	for (polls = 0, ended = false; !ended && polls < 1000000; polls++)
		CHECK_OK(test_device.api->poll(test_device.device, 1, &ended));
	CHECK(ended, "never ended");
	CHECK(polls > 2 || strcmp(test_device.api->name, "host") != 0,
		  "so much work in %d polls", polls);
	finish(mirror, 1, &spec, ranges);
	CHECK_OK(test_launch(mirror, 1, &aggregate));
	for (polls = 0, ended = false; !ended && polls < 1000000; polls++)
		CHECK_OK(test_device.api->poll(test_device.device, 1, &ended));
	CHECK(ended, "the aggregate never ended");
	test_finish(mirror, 1, &aggregate);
	free(ranges);
	test_mirror_free(mirror);
}

/* ---- memory ---- */

/* Launch and finish within a limit; the status of whichever fails. */
static GpbDeviceStatus
try_ranges(TestMirror *mirror, const GpbRangesSpec *spec, const void *ranges)
{
	GpbRangesResult result;
	GpbDeviceStatus status = launch(mirror, 1, spec, ranges);

	if (status == GPB_DEVICE_OK)
		status = test_device.api->ranges_finish(test_device.device, 1, &result);
	return status;
}

/* What a filled mirror of this shape and an aggregate over it take */
static uint64
used_by_mirror(const TestShape *shape)
{
	TestMirror *mirror = filled(shape);
	GpbAggregateSpec spec = test_spec(mirror);
	GpbDeviceInfo info;

	test_aggregate(mirror, 0, &spec);
	test_device.api->describe(test_device.device, &info);
	test_mirror_free(mirror);
	/* pages differ from one random index to another, by less than this */
	return info.memory_used + 200000;
}

/* On a device of limited memory: a request that wants much, then one that has its memory. */
static GpbDeviceStatus
ranges_within_limit(const TestShape *shape, bool list)
{
	TestMirror *mirror = filled(shape);
	GpbRangesSpec spec = ranges_spec(mirror, 300);
	GpbAggregateSpec aggregate = test_spec(mirror);
	GpbDeviceStatus status;
	GpbDeviceInfo info;
	void	   *ranges;

	test_aggregate(mirror, 0, &aggregate);	/* which has its memory now */
	spec.list_entries = list;
	ranges = random_ranges(mirror, &spec, 4000);
	test_random_visible(mirror, 1);
	status = try_ranges(mirror, &spec, ranges);
	if (status == GPB_DEVICE_NO_MEMORY)
		CHECK(test_device.api->last_error(test_device.device)[0] != '\0', "no reason given");
	test_device.api->describe(test_device.device, &info);
	CHECK(info.memory_used <= info.memory_limit, "%lu bytes used of %lu", info.memory_used,
		  info.memory_limit);
	test_all_visible(mirror, true);
	test_aggregate(mirror, 0, &aggregate);
	if (status == GPB_DEVICE_OK)
		ask(mirror, 1, &spec, ranges);
	free(ranges);
	test_mirror_free(mirror);
	return status;
}

/*
 * Memory that runs out at each step of a request: it fails whole, and the device
 * goes on.  The limit grows until the request succeeds.
 */
static void
batch_memory_limits(void)
{
	TestDevice	whole = test_device;
	TestShape	shape = plain_shape(8000);
	uint64		base;
	int			list;

	test_open(&test_device, whole.api, 0);
	base = used_by_mirror(&shape);
	test_close(&test_device);
	for (list = 0; list < 2; list++)
	{
		GpbDeviceStatus status = GPB_DEVICE_NO_MEMORY;
		uint64		more = 1024;
		int			failed = 0;

		for (; status == GPB_DEVICE_NO_MEMORY; more += more / 3)
		{
			test_open(&test_device, whole.api, base + more);
			status = ranges_within_limit(&shape, list);
			CHECK(status == GPB_DEVICE_OK || status == GPB_DEVICE_NO_MEMORY, "status %d", status);
			failed += status == GPB_DEVICE_NO_MEMORY;
			test_close(&test_device);
		}
		CHECK(failed > 3, "memory ran out only %d times", failed);
	}
	test_device = whole;
}

/* More ranges than any memory holds: refused before they are read. */
static void
batch_too_many(void)
{
	TestDevice	whole = test_device;
	TestShape	shape = plain_shape(3000);
	TestMirror *mirror;
	GpbRangesSpec spec;
	GpbKeyRange ranges[20];
	uint32		i;

	test_open(&test_device, whole.api, (uint64) 64 << 20);
	mirror = filled(&shape);
	spec = ranges_spec(mirror, 0x7FFFFFFF);
	for (i = 0; i < 20; i++)
		ranges[i] = near_range(mirror, 100);
	CHECK(launch(mirror, 0, &spec, ranges) == GPB_DEVICE_NO_MEMORY, "not refused");
	CHECK(test_device.api->last_error(test_device.device)[0] != '\0', "no reason given");
	spec.n = 20;
	ask(mirror, 0, &spec, ranges);
	test_mirror_free(mirror);
	test_close(&test_device);
	test_device = whole;
}

/* Fetching beyond what there is is refused. */
static void
batch_fetch_beyond(void)
{
	TestShape	shape = plain_shape(3000);
	TestMirror *mirror = filled(&shape);
	GpbRangesSpec spec = ranges_spec(mirror, 5);
	void	   *ranges = random_ranges(mirror, &spec, 100);
	char		into[4096];

	ask(mirror, 0, &spec, ranges);
	CHECK(test_device.api->fetch(test_device.device, 0, GPB_FETCH_ANSWERS, 3, 3, into) ==
		  GPB_DEVICE_NO_MEMORY, "answers beyond the last");
	CHECK(test_device.api->fetch(test_device.device, 0, GPB_FETCH_PIECES, 0, 1, into) ==
		  GPB_DEVICE_NO_MEMORY, "a piece where there is none");
	CHECK(test_device.api->fetch(test_device.device, 0, GPB_FETCH_ENTRIES, 1, 1, into) ==
		  GPB_DEVICE_NO_MEMORY, "an entry where there is none");
	free(ranges);
	test_mirror_free(mirror);
}

/* ---- everything at once ---- */

static void
batch_random_everything(void)
{
	int			round;

	for (round = 0; round < 25; round++)
	{
		TestShape	shape = plain_shape(1 + (uint32) test_below(8000));
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
		ask_random(mirror, 1 + (uint32) test_below(100), test_below(800));
		test_mirror_free(mirror);
	}
}

/* ---- the list ---- */

#define CASE(name) {#name, name}

const TestCase test_ranges_cases[] = {
	CASE(batch_random),
	CASE(batch_small_indexes),
	CASE(batch_key_orders),
	CASE(batch_extreme_keys),
	CASE(batch_duplicates),
	CASE(batch_mixed_lengths),
	CASE(batch_full_leaves),
	CASE(batch_empty),
	CASE(batch_columns),
	CASE(batch_kinds),
	CASE(batch_sums_beyond_64_bits),
	CASE(batch_float_order),
	CASE(batch_refused),
	CASE(batch_visibility),
	CASE(batch_heap_beyond_map),
	CASE(batch_visibility_begins_anew),
	CASE(batch_dead_hints),
	CASE(batch_changed_bit),
	CASE(batch_newer_image),
	CASE(batch_unfinished_split),
	CASE(batch_no_image),
	CASE(batch_no_inner_image),
	CASE(batch_then_upload),
	CASE(batch_then_visibility),
	CASE(batch_destroy_in_flight),
	CASE(batch_long_lists),
	CASE(batch_long_list_then_upload),
	CASE(batch_channels_in_flight),
	CASE(batch_abandoned),
	CASE(batch_polled),
	CASE(batch_memory_limits),
	CASE(batch_too_many),
	CASE(batch_fetch_beyond),
	CASE(batch_random_everything)
};
const int	test_nranges_cases = sizeof(test_ranges_cases) / sizeof(test_ranges_cases[0]);
