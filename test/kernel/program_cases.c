/*-------------------------------------------------------------------------
 *
 * program_cases.c
 *	  Programs with steps, terms and groups, held to the model entry by entry.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>

#include "program/program_steps.h"
#include "program_builder.h"
#include "program_model.h"

/* ---- the tests ---- */

static void
with_random_programs(int rounds, int nterms, int ngroups)
{
	while (rounds-- > 0)
	{
		TestMirror *mirror = test_small_mirror(1 + (uint32) test_below(3000), test_once_in(5));
		int			i;

		if (test_once_in(3))
			test_change_leaf(mirror, test_below(mirror->index->nleaves));
		for (i = 0; i < 6; i++)
		{
			GpbRangesSpec spec = test_spec(mirror, 1);

			spec.program.ignore_dead_hints = test_once_in(4);
			test_random_program(&spec, (int) test_below(test_once_in(4) ? 60 : 8),
								(int) test_below(nterms + 1),
								ngroups == 0 ? 0 : 1 + (int) test_below(ngroups));
			if (gpb_program_is_plain(&spec.program))
				spec.program.term[spec.program.nterms++] =
					(GpbTerm) {GPB_NO_SLOT, GPB_KIND_INT8, GPB_WANT_COUNT, GPB_NO_SLOT, 0};
			CHECK(gpb_program_fault(&spec.program) == NULL, "%s",
				  gpb_program_fault(&spec.program));
			test_ask_program_forms(mirror, &spec);
		}
		test_mirror_free(mirror);
	}
}

TEST_ONCE(program_random)
{
	with_random_programs(25, 5, 0);
}

TEST_ONCE(program_many_terms)
{
	with_random_programs(4, GPB_MAX_TERMS, 0);
}

TEST_ONCE(program_random_groups)
{
	with_random_programs(25, 4, GPB_MAX_GROUP_SLOTS);
}

/* Each operator over odd values, a few entries at a time so that not all of them fault */
TEST_ONCE(program_each_operator)
{
	TestMirror *mirror = test_small_mirror(500, true);
	TestMirror *small = test_small_mirror(500, false);
	uint64		faults = 0;
	int			asked = 0;
	int			i;

	for (i = 0; i < test_nsignatures * 12; i++)
	{
		const TestSignature *signature = &test_signatures[i % test_nsignatures];
		TestMirror *of = test_once_in(2) ? mirror : small;
		GpbRangesSpec spec = test_spec(of, 1);
		SlotType	type = (SlotType) signature->result;
		TestBuilder		builder;
		GpbNarrowKeyRange keys = test_near_keys(of, 5);
		int			slot[3] = {0, 0, 0};
		int			k;
		int			result;

		test_begin(&builder, &spec);
		test_add_random_constants(&builder);
		for (k = 0; k < 3; k++)
		{
			if (signature->operand[k] == TYPE_BOOLEAN)
				slot[k] = test_add_step(&builder, GPB_OP_GT, TYPE_BOOLEAN, 1 + (int) test_below(3),
										GPB_FIRST_CONSTANT, 0, GPB_NO_SLOT);
			else if (signature->operand[k] != TYPE_NONE)
				slot[k] = test_random_slot(&builder, (SlotType) signature->operand[k]);
		}
		if (signature->op == GPB_OP_IN)
			slot[1] = 2;
		if (signature->op == GPB_OP_IN_CODES)
			slot[1] = 4 + i % 2;
		if (signature->op == GPB_OP_RANKED)
			slot[1] = 6;
		if (signature->op == GPB_OP_TO_LOCAL || signature->op == GPB_OP_OF_LOCAL)
			slot[1] = 3;
		result = test_add_step(&builder, signature->op, type, slot[0], slot[1], slot[2],
							   GPB_NO_SLOT);
		test_add_term(&builder, result, type == TYPE_FLOAT ? GPB_KIND_FLOAT8 : GPB_KIND_INT8,
					  type == TYPE_FLOAT ? 0x0F : 0x7F, GPB_NO_SLOT);
		spec.form = GPB_RANGE_KEYS;
		faults += test_ask_program(of, &spec, &keys) != 0;
		asked++;
	}
	CHECK(faults > 0 && faults < asked / 2, "%lu of %d requests faulted", faults, asked);
	test_mirror_free(mirror);
	test_mirror_free(small);
}

/* 1 / column 1, for entries that pass "column 1 <> 0" in one way or another */
static uint64
ask_division(TestMirror *mirror, bool filtered, bool guarded, bool seen)
{
	GpbRangesSpec spec = test_spec(mirror, 1);
	TestBuilder		builder;
	int			one;
	int			differs;
	int			quotient;

	test_begin(&builder, &spec);
	one = test_add_constant(&builder, TYPE_INTEGER, 1, false);
	differs = test_add_step(&builder, GPB_OP_NE, TYPE_BOOLEAN, 2,
							test_add_constant(&builder, TYPE_INTEGER, 0, false), 0, GPB_NO_SLOT);
	if (filtered)
		test_add_filter(&builder, differs);
	quotient = test_add_step(&builder, GPB_OP_DIVIDE, TYPE_INTEGER, one, 2, 0,
							 guarded ? differs : GPB_NO_SLOT);
	test_add_term(&builder, quotient, GPB_KIND_INT8, GPB_WANT_SUM, differs);
	if (test_once_in(2))
	{
		spec.program.ngroups = 1;
		spec.program.group[0] = 2;
	}
	test_all_visible(mirror, seen);
	return test_ask_program(mirror, &spec, &test_whole);
}

/* A step faults for entries that are seen and not dropped, and unless its guard is not true. */
TEST_ONCE(program_division)
{
	int			i;

	for (i = 0; i < 3; i++)
	{
		TestMirror *mirror = test_small_mirror(400, false);

		CHECK(ask_division(mirror, false, false, true) != 0, "no fault");
		CHECK(ask_division(mirror, true, false, true) == 0, "a fault of a dropped entry");
		CHECK(ask_division(mirror, false, true, true) == 0, "a fault in spite of the guard");
		CHECK(ask_division(mirror, false, false, false) == 0, "a fault of an entry not seen");
		CHECK(ask_division(mirror, false, false, true) != 0, "no fault");
		test_mirror_free(mirror);
	}
}

/* Groups by key with sums of floats: wide answers, and many */
static GpbRangesSpec
wide_groups(const TestMirror *mirror)
{
	GpbRangesSpec spec = test_spec(mirror, 1);
	TestBuilder		builder;
	int			number;
	int			t;

	test_begin(&builder, &spec);
	number = test_add_step(&builder, GPB_OP_INT_TO_FLOAT, TYPE_FLOAT, 1, 0, 0, GPB_NO_SLOT);
	for (t = 0; t < GPB_MAX_TERMS; t++)
		test_add_term(&builder, number, GPB_KIND_FLOAT8, 0x0F, GPB_NO_SLOT);
	spec.program.ngroups = 1;
	return spec;
}

/* So many groups of wide answers that the device's first room for them is too small; few again */
TEST_ONCE(program_many_groups)
{
	TestShape	shape = test_plain_shape(3000);
	TestMirror *mirror;
	GpbRangesSpec spec;
	int			i;

	shape.distinct_keys = 3000;
	mirror = test_filled(&shape);
	for (i = 0; i < 3; i++)
	{
		spec = wide_groups(mirror);
		if (i == 1)
			spec.program.nterms = 2;
		(void) test_ask_program(mirror, &spec, &test_whole);
	}
	test_mirror_free(mirror);
}

/* Bytes of device memory in use */
static uint64
used_memory(void)
{
	GpbDeviceInfo info;

	test_device.api->describe(test_device.device, &info);
	return info.memory_used;
}

/*
 * Memory for the groups runs out at one step or the other: a request fails whole, and the next goes
 * on.
 */
TEST_ONCE(program_memory)
{
	TestDevice	whole = test_device;
	TestShape	shape = test_plain_shape(2500);
	GpbDeviceStatus status = GPB_DEVICE_NO_MEMORY;
	uint64		more = 1 << 20;
	int			failed = 0;

	for (; status == GPB_DEVICE_NO_MEMORY && more < (uint64) 1 << 32; more += more / 2)
	{
		TestMirror *mirror;
		GpbRangesSpec spec;
		GpbRangesResult result;
		uint64		used;

		test_open(&test_device, whole.api, 0);
		mirror = test_filled(&shape);
		test_ask_whole(mirror);
		used = used_memory();
		test_mirror_free(mirror);
		test_close(&test_device);
		test_open(&test_device, whole.api, used + more);
		mirror = test_filled(&shape);
		test_ask_whole(mirror); /* channel 0 has its memory now */
		spec = wide_groups(mirror);
		status = test_launch_at(mirror, 0, &spec, &test_whole, NULL);
		if (status == GPB_DEVICE_OK)
			status = test_device.api->ranges_finish(test_device.device, 0, &result);
		failed += status == GPB_DEVICE_NO_MEMORY;
		if (status == GPB_DEVICE_OK)
			test_compare_program(mirror, 0, &spec, &test_whole, &result, NULL);
		test_requests_end();
		CHECK(used_memory() <= used + more, "%lu bytes used of %lu", used_memory(), used + more);
		test_ask_whole(mirror);
		test_mirror_free(mirror);
		test_close(&test_device);
	}
	CHECK(status == GPB_DEVICE_OK && failed > 3, "status %d, memory ran out %d times", status,
		  failed);
	test_device = whole;
}

/* Groups by few values with sums that shared memory has, some of it full: the first rows alone */
TEST_ONCE(program_shared_groups)
{
	int			i;

	for (i = 0; i < 4; i++)
	{
		TestMirror *mirror = test_small_mirror(4000, false);
		GpbRangesSpec spec = test_spec(mirror, 1);
		TestBuilder		builder;

		test_begin(&builder, &spec);
		test_add_term(&builder, 1, GPB_KIND_INT4, GPB_WANT_SUM, GPB_NO_SLOT);
		test_add_term(&builder, 3, GPB_KIND_INT8, GPB_WANT_SUM | GPB_WANT_MINMAX, GPB_NO_SLOT);
		test_add_term(&builder, 4, GPB_KIND_FLOAT8, GPB_WANT_MINMAX, GPB_NO_SLOT);
		if (i % 2 == 0)
			test_add_term(&builder, 0, GPB_KIND_INT8, GPB_WANT_SUM, GPB_NO_SLOT);
		spec.program.ngroups = 2;
		spec.program.group[0] = 2;
		spec.program.group[1] = i >= 2 ? 0 : 1;
		test_ask_program_forms(mirror, &spec);
		test_mirror_free(mirror);
	}
}

/* How many values the column that makes groups has; 0: any */
static uint32 column_values;

/* The first column's values are few or many; the others' are the ends of their type, or near 0. */
static int64
column_value(int column, uint32 i)
{
	static const int64 ends[] = {-0x7FFFFFFF - 1, 0x7FFFFFFF, -1, 0, 1};
	uint64		random = (i + 1) * (uint64) 0x9E3779B97F4A7C15;

	random ^= random >> 29;
	random *= (uint64) 0xBF58476D1CE4E5B9;
	random ^= random >> 32;
	if (column == 0 && column_values > 0)
		return (int64) (random % column_values) - column_values / 2;
	if (column == 0)
		return (int32) random;
	return i % 2 == 0 ? ends[random % 5] : (int64) (random % 100) - 50;
}

/*
 * Groups of a narrow column, and a sum of another or of the same: rows of all widths, fewer groups
 * and more than a block's table takes, NULLs, groups of each range.
 */
TEST_ONCE(program_column_groups)
{
	static const int kinds[] = {GPB_KIND_INT4, GPB_KIND_INT4, GPB_KIND_INT2, GPB_KIND_INT8};
	static const uint32 values[] = {1, 2, 40, 1000, 0};
	int			i;

	for (i = 0; i < 60; i++)
	{
		TestShape	shape = test_plain_shape(i % 5 == 4 ? 12000 : 3000);
		TestMirror *mirror;
		GpbRangesSpec spec;
		TestBuilder		builder;
		int			columns = 1 + i % 4;
		int			term = (int) test_below(5);

		column_values = values[i % 5];
		shape.layout = test_layout(8, 0, columns, kinds);
		shape.value = column_value;
		shape.null_values = test_once_in(2) ? 10 : 0;
		shape.dead = 15;
		mirror = test_filled(&shape);
		if (test_once_in(2))
			test_random_visible(mirror, 10);
		if (test_once_in(3))
			test_change_leaf(mirror, test_below(mirror->index->nleaves));
		spec = test_spec(mirror, 1);
		test_begin(&builder, &spec);
		if (term > 0)
			test_add_term(&builder, term > columns ? 1 : term, kinds[term > columns ? 0 : term - 1],
						  test_once_in(4) ? GPB_WANT_COUNT : GPB_WANT_SUM, GPB_NO_SLOT);
		spec.program.ngroups = 1;
		spec.program.group[0] = (uint8) (columns > 2 && test_once_in(4) ? 3 : 1);
		spec.program.by_range = test_once_in(2);
		test_ask_program_forms(mirror, &spec);
		test_mirror_free(mirror);
	}
}

/* Which floats the groups have */
static int	float_kind;

/*
 * Few groups in column 0, and floats in column 1: of one size; with signs, and what cancels them;
 * of sizes that differ within a group; of the ends of the range; all of these with what is not
 * finite; of all sizes that a narrow sum holds; any bits.
 */
static int64
grouped_float(int column, uint32 i)
{
	static const double ends[] = {
		5e-324, -5e-324, 2.2250738585072014e-308, 1e308, -1e308, 1.7976931348623157e308, 1e-308,
		0.0, -0.0, 1, -1, 4294967296.0, -4294967295.5, 1e-30, INFINITY, -INFINITY, NAN
	};
	uint64		random = (i + 1) * (uint64) 0x9E3779B97F4A7C15;
	double		ordinary;
	int64		bits;

	random ^= random >> 29;
	random *= (uint64) 0xBF58476D1CE4E5B9;
	random ^= random >> 32;
	if (column == 0)
		return (int64) (random % 150);
	ordinary = (double) (random >> 11) / ((uint64) 1 << 53) * 100;
	switch (float_kind)
	{
		case 0:
			return gpb_float_bits(ordinary);
		case 1:
			return gpb_float_bits(random & 1 ? -ordinary : i % 5 == 0 ? 1e15 : ordinary);
		case 2:
			return gpb_float_bits(ldexp(random & 1 ? -ordinary : ordinary,
										(int) (random >> 8 & 127) - 64));
		case 3:
			return gpb_float_bits(ends[(random >> 8) % 14]);
		case 4:
			return gpb_float_bits(ends[(random >> 8) % 17]);
		case 5:
			return (random & (uint64) 1 << 63) |
				(uint64) (1023 - 126 + (random >> 8) % (126 + 66)) << 52 |
				(random & 1 ? random >> 12 : random & 2 ? 0 : ((uint64) 1 << 52) - 1);
		default:
			/* NaNs of any bits are one value, but not one in bounds. */
			bits = (int64) random;
			return gpb_float_is_finite(bits) ? bits : 0;
	}
}

/* Exact sums in groups: more of these, or wider answers, than a block has slots for, and fewer */
TEST_ONCE(program_float_groups)
{
	static const int kinds[] = {GPB_KIND_INT4, GPB_KIND_FLOAT8};
	int			i;

	for (i = 0; i < 14; i++)
	{
		TestShape	shape = test_plain_shape(4000);
		TestMirror *mirror;
		GpbRangesSpec spec;
		TestBuilder		builder;
		int			negative;
		int			nterms = i % 2 == 0 ? 1 : 11;
		int			t;

		float_kind = i / 2;
		test_narrow_requests = 0;
		shape.layout = test_layout(8, (int) test_below(4), 2, kinds);
		shape.value = grouped_float;
		shape.null_values = test_once_in(2) ? 10 : 0;
		mirror = test_filled(&shape);
		spec = test_spec(mirror, 1);
		test_begin(&builder, &spec);
		negative = test_add_step(&builder, GPB_OP_FLOAT_NEGATE, TYPE_FLOAT, 2, 0, 0, GPB_NO_SLOT);
		test_add_term(&builder, 2, GPB_KIND_FLOAT8, GPB_WANT_SUM, GPB_NO_SLOT);
		for (t = 1; t < nterms; t++)
			test_add_term(&builder, t % 3 == 0 ? negative : 2, GPB_KIND_FLOAT8,
						  t == 4 ? GPB_WANT_SUM | GPB_WANT_MINMAX : GPB_WANT_SUM,
						  t == 5 ? 1 : GPB_NO_SLOT);
		if (nterms > 1)
			test_add_term(&builder, 1, GPB_KIND_INT4, GPB_WANT_SUM | GPB_WANT_MINMAX, GPB_NO_SLOT);
		spec.program.ngroups = 1;
		spec.program.group[0] = 1;
		test_ask_program_forms(mirror, &spec);
		CHECK((float_kind > 1 && float_kind != 5) || test_narrow_requests == 2,
			  "narrow sums in %lu requests of two", test_narrow_requests);
		test_mirror_free(mirror);
	}
}

TEST_ONCE(program_lists)
{
	int			rounds = 25;

	while (rounds-- > 0)
	{
		TestMirror *mirror = test_small_mirror(1 + (uint32) test_below(3000), test_once_in(4));
		int			i;

		if (test_once_in(3))
			test_change_leaf(mirror, test_below(mirror->index->nleaves));
		for (i = 0; i < 8; i++)
		{
			GpbRangesSpec spec = test_spec(mirror, 1);

			spec.program.ignore_dead_hints = test_once_in(4);
			test_random_list(&spec, (int) test_below(test_once_in(4) ? 60 : 8),
							 mirror->index->nentries);
			CHECK(gpb_program_fault(&spec.program) == NULL, "%s",
				  gpb_program_fault(&spec.program));
			test_ask_program_forms(mirror, &spec);
		}
		test_mirror_free(mirror);
	}
}

/* A list longer than the device's first room for one; and one with a fault for each second entry */
TEST_ONCE(program_long_lists)
{
	TestMirror *mirror = test_small_mirror(test_emulated ? 20000 : 60000, false);
	int			i;

	for (i = 0; i < 6; i++)
	{
		GpbRangesSpec spec = test_spec(mirror, 1);
		TestBuilder		builder;
		int			zero;
		int			half;

		test_begin(&builder, &spec);
		spec.program.list_entries = true;
		zero = test_add_constant(&builder, TYPE_INTEGER, 0, false);
		half = test_add_step(&builder, GPB_OP_GT, TYPE_BOOLEAN, 1, zero, 0, GPB_NO_SLOT);
		if (i % 3 == 1)
			half = test_add_step(&builder, GPB_OP_DIVIDE, TYPE_INTEGER, 3, half, 0, GPB_NO_SLOT);
		if (i % 3 == 0)
			test_add_filter(&builder, half);
		if (i >= 3)
		{
			spec.program.limit = (uint32) (i - 2) * 500;
			spec.program.order = (uint8) half;
		}
		(void) test_ask_program(mirror, &spec, &test_whole);
	}
	test_mirror_free(mirror);
}

/* A program at fault is refused, and the device goes on. */
TEST_ONCE(program_refused)
{
	TestMirror *mirror = test_small_mirror(100, false);
	GpbRangesSpec spec = test_spec(mirror, 1);
	TestBuilder		builder;
	int64		answers[64];
	int			i;

	test_begin(&builder, &spec);
	(void) test_add_step(&builder, GPB_OP_ADD, TYPE_INTEGER, 1, GPB_FIRST_TEMPORARY + 3, 0,
						 GPB_NO_SLOT);
	CHECK(test_launch_at(mirror, 0, &spec, &test_whole, answers) == GPB_DEVICE_NO_MEMORY,
		  "a slot without a value was accepted");
	for (i = 0; i < 4; i++)
	{
		GpbTables  *tables = &spec.program.tables;

		spec = test_spec(mirror, 1);
		test_begin(&builder, &spec);
		(void) test_add_step(&builder, i == 0 ? GPB_OP_IN : GPB_OP_IN_CODES, TYPE_BOOLEAN, 1, 2, 0,
							 GPB_NO_SLOT);
		tables->first[2] = i == 1 ? 0xFFFFFFFF : GPB_MAX_TABLE_WORDS;
		tables->length[2] = i == 2 ? GPB_MAX_MORE_WORDS + 1 : 2;
		tables->more = i == 3 ? NULL : answers;
		CHECK(test_launch_at(mirror, 0, &spec, &test_whole, answers) == GPB_DEVICE_NO_MEMORY,
			  "a long table at fault was accepted: %d", i);
	}
	test_requests_end();
	test_ask_whole(mirror);
	test_mirror_free(mirror);
}

/* Random programs, one in three without groups, one with groups, and one that lists */
static void
ask_programs(TestMirror *mirror)
{
	int			i;

	for (i = 0; i < 6; i++)
	{
		GpbRangesSpec spec = test_spec(mirror, 1);

		if (i % 3 == 2)
			test_random_list(&spec, (int) test_below(8), mirror->index->nentries);
		else
			test_random_program(&spec, (int) test_below(8), 1 + (int) test_below(4), i % 3);
		CHECK(gpb_program_fault(&spec.program) == NULL, "%s", gpb_program_fault(&spec.program));
		test_ask_program_forms(mirror, &spec);
	}
}

/* Programs, and lists by programs, that read the columns of a key that has several */
static void
key_columns_of(int key_width)
{
	int			rounds = test_emulated ? 12 : 40;

	while (rounds-- > 0)
	{
		GpbLayout	layout = test_columns_layout(key_width, 4, test_small_kinds);
		TestMirror *mirror = test_mirror_of_layout(&layout, 1 + (uint32) test_below(3000), false);

		ask_programs(mirror);
		test_mirror_free(mirror);
	}
}

TEST_ONCE(program_key_columns)
{
	key_columns_of(8);
	key_columns_of(4);
}

TEST_ONCE(program_wide_key_columns)
{
	key_columns_of(16);
}

/*
 * Programs, lists by programs and narrow groups over leaves that have nothing but keys, with many
 * entries to a key: half of these leaves have runs, some as many entries as a leaf can have.
 */
TEST_ONCE(program_runs)
{
	int			rounds = test_emulated ? 12 : 80;

	while (rounds-- > 0)
	{
		int			key_width = 4 << rounds % 3;
		GpbLayout	layout = test_once_in(2) ? test_columns_layout(key_width, 0, NULL) :
			test_layout(key_width, (int) test_below(4), 0, NULL);
		TestShape	shape = test_plain_shape(1 + (uint32) test_below(6000));
		TestMirror *mirror;

		shape.layout = layout;
		shape.distinct_keys = 1 + test_below(test_once_in(2) ? 8 : 500);
		shape.null_keys = layout.nkeys == 0 && test_once_in(2) ? 20 : 0;
		shape.dead = test_once_in(2) ? 15 : 0;
		shape.heap_order = test_once_in(2);
		shape.empty_leaves = 15;
		mirror = test_filled(&shape);
		if (test_once_in(2))
			test_random_visible(mirror, 10);
		ask_programs(mirror);
		test_mirror_free(mirror);
	}
}
