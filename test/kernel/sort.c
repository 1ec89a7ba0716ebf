/*-------------------------------------------------------------------------
 *
 * sort.c
 *	  Sorts of records, held to a stable sort that compares them.  One promise to a test.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "harness.h"

/* What the halves of keys, and ties, are drawn from */
typedef enum Draw
{
	DRAW_ANY,					/* all 64 bits */
	DRAW_FEW,					/* one of five values, far apart */
	DRAW_EQUAL,					/* the same in all */
	DRAW_EXTREME,				/* 0, 1, and the greatest two */
	DRAW_MIDDLE,				/* some bits in the middle differ */
	DRAW_ASCENDING,
	DRAW_DESCENDING,
	DRAWS
} Draw;

typedef struct Draws
{
	Draw		upper;			/* of the key */
	Draw		lower;
	Draw		tie;
} Draws;

/* A sort of a channel, and what it was given */
typedef struct Sort
{
	int			channel;
	GpbSortFormat format;
	uint64		n;				/* records so far */
	uint64		most;			/* that there is room for */
	char	   *came;			/* the records, in the order in which they came */
	char	   *memory;			/* what the device has until the finish, or NULL */
	size_t		bytes;			/* of it */
	bool		in_region;
	uint32	   *order;			/* numbers of the records in order; NULL until they are compared */
} Sort;

/* Bytes behind what is read, which stay as they are */
#define MARGIN			16

static const Sort *comparing;

static const GpbDeviceApi *
api(void)
{
	return test_device.api;
}

/* ---- records ---- */

static uint64
draw(Draw how, uint64 i)
{
	static const uint64 extreme[] = {0, 1, ~(uint64) 0 - 1, ~(uint64) 0};

	switch (how)
	{
		case DRAW_ANY:
			return test_random();
		case DRAW_FEW:
			return test_below(5) * 0x3333333333333333;
		case DRAW_EXTREME:
			return extreme[test_below(4)];
		case DRAW_MIDDLE:
			return 0x8000000000000001 | test_below(1 << 13) << 20;
		case DRAW_ASCENDING:
			return i * 7 << 16 | i;
		case DRAW_DESCENDING:
			return ~(i * 7 << 16 | i);
		default:
			return 0x0123456789ABCDEF;
	}
}

static char *
record_at(const Sort *sort, uint64 i)
{
	return sort->came + i * sort->format.width;
}

/* Draw a record, whose flags beside the tie and whose row tell it from those drawn lately. */
static void
draw_record(Sort *sort, const Draws *draws)
{
	uint64		i = sort->n++;
	char	   *record = record_at(sort, i);
	int			key_width = sort->format.key_width;
	int			row = sort->format.width - key_width;
	uint64		upper = draw(draws->upper, i);
	uint64		lower = draw(draws->lower, i);
	uint64		locator = (draw(draws->tie, i) & GPB_TIE_MASK) | (0x7FFF - i) << 49;
	int			j;

	if (key_width == GPB_WIDE_KEY)
		memcpy(record, &lower, 8);
	memcpy(record + key_width - (key_width == 4 ? 4 : 8), &upper, key_width == 4 ? 4 : 8);
	memcpy(record + key_width, &locator, 8);
	for (j = 8; j < row; j++)
		record[key_width + j] = (char) (i * 37 + j);
}

static int
compare_bytes(const char *a, const char *b, int n)
{
	while (n-- > 0)
	{
		if (a[n] != b[n])
			return (uint8) a[n] < (uint8) b[n] ? -1 : 1;
	}
	return 0;
}

static int
compare(const void *a, const void *b)
{
	uint32		x = *(const uint32 *) a;
	uint32		y = *(const uint32 *) b;
	int			key_width = comparing->format.key_width;
	int			result = compare_bytes(record_at(comparing, x), record_at(comparing, y),
									   key_width);
	uint64		ties[2];

	if (result != 0)
		return result;
	memcpy(&ties[0], record_at(comparing, x) + key_width, 8);
	memcpy(&ties[1], record_at(comparing, y) + key_width, 8);
	/* the order bit and the TID, and no flags */
	ties[0] <<= 15;
	ties[1] <<= 15;
	if (ties[0] != ties[1])
		return ties[0] < ties[1] ? -1 : 1;
	return x < y ? -1 : x > y;
}

/* ---- sorts ---- */

/* Begin a sort, which will have up to "most" records. */
static Sort *
begin(int channel, int key_width, int row_width, uint64 most, uint64 expected)
{
	Sort	   *sort = calloc(1, sizeof(Sort));
	GpbSortFormat format;

	sort->channel = channel;
	sort->format.key_width = key_width;
	sort->format.width = key_width + row_width;
	sort->most = most;
	sort->came = malloc(most * sort->format.width + 1);
	sort->in_region = test_once_in(2);
	format = sort->format;
	CHECK_OK(api()->sort_begin(test_device.device, channel, &format, expected));
	memset(&format, 0x77, sizeof(format));
	return sort;
}

/* Take memory that the device will have until the finish; in the region where it fits there. */
static void
take_memory(Sort *sort, size_t bytes)
{
	char	   *slot = test_device.staging + TEST_STAGING + sort->channel * TEST_SLOT;

	sort->bytes = bytes;
	if (!sort->in_region || bytes > TEST_STAGING)
		sort->memory = malloc(bytes);
	else
		sort->memory = bytes <= TEST_SLOT ? slot : test_device.staging;
	memset(sort->memory, 0x77, bytes);
}

/* Take the memory back: the device must have no use for it. */
static void
return_memory(Sort *sort)
{
	char	   *memory = sort->memory;

	sort->memory = NULL;
	if (memory == NULL)
		return;
	memset(memory, 0x55, sort->bytes);
	if (memory < test_device.staging || memory >= test_device.staging + TEST_REGION)
		free(memory);
}

static GpbDeviceStatus
launch_add(Sort *sort, uint32 n, const Draws *draws)
{
	size_t		bytes = (size_t) n * sort->format.width;
	uint64		first = sort->n;
	GpbDeviceStatus status;
	uint32		i;

	if (first + n > sort->most)
		abort();
	for (i = 0; i < n; i++)
		draw_record(sort, draws);
	take_memory(sort, bytes + 1);
	memcpy(sort->memory, record_at(sort, first), bytes);
	status = api()->sort_add(test_device.device, sort->channel, sort->memory, n);
	if (status != GPB_DEVICE_OK)
	{
		return_memory(sort);
		sort->n = first;
	}
	return status;
}

static GpbDeviceStatus
launch_read(Sort *sort, uint64 first, uint32 n)
{
	GpbDeviceStatus status;

	take_memory(sort, (size_t) n * sort->format.width + MARGIN);
	status = api()->sort_read(test_device.device, sort->channel, first, n, sort->memory);
	if (status != GPB_DEVICE_OK)
		return_memory(sort);
	return status;
}

/* Finish, polling first or not. */
static void
finish(Sort *sort)
{
	bool		ended = false;

	while (test_once_in(2) && !ended)
		CHECK_OK(api()->poll(test_device.device, sort->channel, &ended));
	CHECK_OK(api()->sort_finish(test_device.device, sort->channel));
}

static void
add(Sort *sort, uint32 n, const Draws *draws)
{
	CHECK_OK(launch_add(sort, n, draws));
	finish(sort);
	return_memory(sort);
}

/* The records of a launched read that was finished are those of a stable sort. */
static void
check_read(Sort *sort, uint64 first, uint32 n)
{
	int			width = sort->format.width;
	uint64		i;

	if (sort->order == NULL)
	{
		sort->order = malloc(sort->n * sizeof(uint32) + 1);
		for (i = 0; i < sort->n; i++)
			sort->order[i] = (uint32) i;
		comparing = sort;
		qsort(sort->order, sort->n, sizeof(uint32), compare);
	}
	for (i = 0; i < n; i++)
	{
		if (memcmp(sort->memory + i * width, record_at(sort, sort->order[first + i]), width) != 0)
			break;
	}
	CHECK(i == n, "%lu records of %d + %d bytes, %u read from %lu on: a wrong one at place %lu",
		  sort->n, sort->format.key_width, width - sort->format.key_width, n, first, i);
	for (i = 0; i < MARGIN; i++)
		CHECK(sort->memory[(uint64) n * width + i] == 0x77, "written behind what is read");
}

static void
read_slice(Sort *sort, uint64 first, uint32 n)
{
	CHECK_OK(launch_read(sort, first, n));
	if (sort->memory == NULL)
		return;
	finish(sort);
	check_read(sort, first, n);
	return_memory(sort);
}

/* Read all, in slices of up to so many records. */
static void
read_all(Sort *sort, uint32 most)
{
	uint64		first = 0;

	while (first < sort->n)
	{
		uint32		n = 1 + (uint32) test_below(most);

		if (n > sort->n - first)
			n = (uint32) (sort->n - first);
		read_slice(sort, first, n);
		first += n;
	}
}

static void
free_sort(Sort *sort)
{
	return_memory(sort);
	free(sort->order);
	free(sort->came);
	free(sort);
}

/* End the sort, which may have something in flight. */
static void
end(Sort *sort)
{
	api()->sort_end(test_device.device, sort->channel);
	free_sort(sort);
}

static int
any_channel(void)
{
	return (int) test_below(TEST_CHANNELS);
}

static uint64
memory_used(void)
{
	GpbDeviceInfo info;

	api()->describe(test_device.device, &info);
	return info.memory_used;
}

static const int key_widths[] = {4, 8, GPB_WIDE_KEY};
static const Draws any_draws = {DRAW_ANY, DRAW_ANY, DRAW_ANY};
static const Draws few_draws = {DRAW_FEW, DRAW_FEW, DRAW_FEW};

/* ---- the tests ---- */

/* Keys and ties of all kinds, in one piece and in a few */
TEST_ONCE(sort_keys)
{
	int			w;

	for (w = 0; w < 3; w++)
	{
		int			kinds = key_widths[w] == GPB_WIDE_KEY ? DRAWS * DRAWS * DRAWS : DRAWS * DRAWS;
		int			kind;

		for (kind = 0; kind < kinds; kind++)
		{
			Draws		draws = {kind % DRAWS, kind / DRAWS / DRAWS, kind / DRAWS % DRAWS};
			uint32		n = 1 + (uint32) test_below(test_emulated ? 1000 : 3000);
			int			pieces = 1 + (int) test_below(3);
			Sort	   *sort = begin(any_channel(), key_widths[w], 8 + 4 * (int) test_below(5),
									 (uint64) n * pieces, test_below(3 * n));

			while (pieces-- > 0)
				add(sort, n, &draws);
			read_all(sort, 2 * n);
			end(sort);
		}
	}
}

/* Rows of every width, up to the widest that there may be */
TEST_ONCE(sort_widths)
{
	int			row;
	int			w;

	for (row = GPB_LOCATOR_WIDTH; row <= GPB_MAX_ROW_WIDTH;
		 row = row == 72 ? GPB_MAX_ROW_WIDTH : row + 4)
	{
		for (w = 0; w < 3; w++)
		{
			Sort	   *sort = begin(any_channel(), key_widths[w], row, 300, 200);

			add(sort, 100, &few_draws);
			add(sort, 200, &any_draws);
			read_all(sort, 300);
			end(sort);
		}
	}
}

/* Numbers of records about the sizes of what devices do at a time, in one piece and in two */
TEST_ONCE(sort_sizes)
{
	static const uint32 sizes[] = {
		1, 2, 31, 32, 33, 255, 256, 257, 2047, 2048, 2049, 4095, 4096, 4097, 65535, 65536, 65537
	};
	int			i;

	for (i = 0; i < (int) (sizeof(sizes) / sizeof(sizes[0])); i++)
	{
		Sort	   *sort = begin(any_channel(), 8, 8, sizes[i], sizes[i]);

		add(sort, sizes[i], &few_draws);
		read_slice(sort, 0, sizes[i]);
		end(sort);
		sort = begin(any_channel(), 4, 12, 2 * sizes[i], sizes[i]);
		add(sort, sizes[i], &any_draws);
		add(sort, sizes[i], &few_draws);
		read_slice(sort, 0, 2 * sizes[i]);
		end(sort);
	}
}

/* Pieces of the most records that there may be */
TEST_ONCE(sort_large_pieces)
{
	static const Draws draws = {DRAW_MIDDLE, DRAW_ANY, DRAW_ANY};
	uint32		most = test_emulated ? 100000 : GPB_SORT_PIECE;
	Sort	   *sort = begin(3, 4, 8, 2 * (uint64) most + 1, most);

	add(sort, most, &any_draws);
	add(sort, 1, &any_draws);
	add(sort, most, &draws);
	read_slice(sort, most / 2, most);
	read_slice(sort, 2 * (uint64) most, 1);
	read_all(sort, most);
	end(sort);
}

/* Many pieces: as they come, falling and rising in size, and each as long as all before it */
TEST_ONCE(sort_pieces)
{
	static const Draws draws[] = {
		{DRAW_ANY, DRAW_ANY, DRAW_ANY}, {DRAW_FEW, DRAW_EQUAL, DRAW_FEW},
		{DRAW_EQUAL, DRAW_EQUAL, DRAW_EQUAL}, {DRAW_ASCENDING, DRAW_ANY, DRAW_ANY},
		{DRAW_DESCENDING, DRAW_ANY, DRAW_ANY}, {DRAW_FEW, DRAW_FEW, DRAW_ASCENDING},
	};
	int			pieces = test_emulated ? 70 : 150;
	int			kind;
	int			turn;

	for (turn = 0; turn < 4; turn++)
	{
		for (kind = 0; kind < 6; kind++)
		{
			Sort	   *sort = begin(any_channel(), key_widths[kind % 3], 8, 40000,
									 test_below(20000));
			int			i;

			for (i = 0; i < pieces; i++)
			{
				uint32		n = turn == 0 ? 1 + (uint32) test_below(200) :
				turn == 1 ? 2 * (pieces - i) - 1 : turn == 2 ? 2 * i + 1 :
				i < 13 ? (uint32) (sort->n ? sort->n : 1) : 1;

				add(sort, n, &draws[kind]);
			}
			read_all(sort, 3000);
			end(sort);
		}
	}
}

/* There may be more records than were expected, and fewer. */
TEST_ONCE(sort_expectations)
{
	static const uint64 expected[] = {0, 1, 2000, 4999, 5000, 5001, 50000};
	int			i;

	for (i = 0; i < 7; i++)
	{
		Sort	   *sort = begin(any_channel(), key_widths[i % 3], 8, 5000, expected[i]);

		while (sort->n < sort->most)
			add(sort, 625, i % 2 ? &any_draws : &few_draws);
		read_all(sort, 5000);
		end(sort);
	}
}

/* Any part of the records is read, at any place, and as often as one likes. */
TEST_ONCE(sort_slices)
{
	Sort	   *sort = begin(any_channel(), 8, 12, 6000, 6000);
	int			i;

	add(sort, 3000, &any_draws);
	add(sort, 2000, &few_draws);
	add(sort, 1000, &any_draws);
	read_slice(sort, 5999, 1);
	read_slice(sort, 0, 1);
	read_slice(sort, 0, 6000);
	read_slice(sort, 0, 6000);
	for (i = 0; i < 50; i++)
	{
		uint64		first = test_below(6000);
		uint32		n = 1 + (uint32) test_below(6000 - first);

		sort->in_region = test_once_in(2);
		read_slice(sort, first, n);
		if (test_once_in(3))
			read_slice(sort, first, n);
	}
	read_all(sort, 100);
	end(sort);
}

/*
 * Sorts on many channels do not disturb each other, nor searches and ranges on others, nor those
 * that their own channels are asked for between two launches.
 */
TEST_ONCE(sort_side_by_side)
{
	TestShape	shape = test_plain_shape(3000);
	TestMirror *mirror = test_filled(&shape);
	GpbRangesSpec whole = test_spec(mirror, 1);
	Sort	   *sort[TEST_CHANNELS / 2];
	int			turn;
	int			i;

	for (i = 0; i < TEST_CHANNELS / 2; i++)
		sort[i] = begin(2 * i, key_widths[i % 3], 8 + 4 * (i % 4), 6000, test_below(3000));
	for (turn = 0; turn < 4; turn++)
	{
		GpbRangesSpec spec = test_spec(mirror, 20);
		void	   *ranges = test_random_ranges(mirror, &spec, 300);

		for (i = 0; i < TEST_CHANNELS / 2; i++)
			CHECK_OK(launch_add(sort[i], 1 + (uint32) test_below(100 * (i + 1)),
								i % 2 ? &any_draws : &few_draws));
		for (i = 0; i < TEST_CHANNELS / 2; i += 3)
			CHECK_OK(test_launch(mirror, 2 * i + 1, &spec, ranges));
		for (i = TEST_CHANNELS / 2 - 1; i >= 0; i--)
		{
			finish(sort[i]);
			return_memory(sort[i]);
		}
		for (i = 0; i < TEST_CHANNELS / 2; i += 3)
			test_finish(mirror, 2 * i + 1, &spec, ranges);
		test_ask(mirror, 0, &spec, ranges);
		test_ask(mirror, 6, &spec, ranges);
		test_ask_singly(mirror, 3);
		free(ranges);
	}
	for (i = 0; i < TEST_CHANNELS / 2; i++)
		CHECK_OK(launch_read(sort[i], 1, (uint32) sort[i]->n - 1));
	test_ask(mirror, 1, &whole, &test_whole);
	for (i = 0; i < TEST_CHANNELS / 2; i++)
	{
		finish(sort[i]);
		check_read(sort[i], 1, (uint32) sort[i]->n - 1);
		return_memory(sort[i]);
	}
	for (i = 0; i < TEST_CHANNELS / 2; i++)
		end(sort[i]);
	test_mirror_free(mirror);
}

/* A sort that is begun replaces the one before, whatever that one was doing. */
TEST_ONCE(sort_anew)
{
	uint64		before = memory_used();
	int			turn;

	for (turn = 0; turn < 8; turn++)
	{
		Sort	   *old = begin(4, 8, 8, 4000, turn % 2 ? 4000 : 0);
		Sort	   *sort;

		old->in_region = true;
		add(old, 3000, &any_draws);
		if (turn / 2 == 1)
			CHECK_OK(launch_add(old, 1000, &any_draws));
		if (turn / 2 == 2)
			CHECK_OK(launch_read(old, 0, 3000));
		if (turn / 2 == 3)
			read_slice(old, 0, 3000);
		sort = begin(4, key_widths[turn % 3], 16, 2000, 1000);
		free_sort(old);			/* its memory is no longer the device's */
		sort->in_region = false;
		CHECK(api()->sort_finish(test_device.device, 4) == GPB_DEVICE_NO_MEMORY,
			  "finished what was launched on another sort");
		add(sort, 2000, &few_draws);
		read_all(sort, 2000);
		end(sort);
		CHECK(memory_used() == before, "%lu bytes used, %lu before", memory_used(), before);
	}
}

/* A sort may end while something is in flight, which does not write later. */
TEST_ONCE(sort_end_in_flight)
{
	TestShape	shape = test_plain_shape(1000);
	TestMirror *mirror = test_filled(&shape);
	uint64		before = memory_used();
	char	   *slot = test_device.staging + TEST_STAGING + 9 * TEST_SLOT;
	bool		ended = false;
	int			turn;
	int			i;

	for (turn = 0; turn < 4; turn++)
	{
		Sort	   *sort = begin(9, 8, 8, 3000, 3000);

		sort->in_region = true;
		add(sort, 2000, &any_draws);
		if (turn % 2)
			CHECK_OK(launch_add(sort, 1000, &any_draws));
		else
			CHECK_OK(launch_read(sort, 0, 2000));
		end(sort);
		CHECK(memory_used() == before, "%lu bytes used, %lu before", memory_used(), before);
		CHECK_OK(api()->poll(test_device.device, 9, &ended));
		CHECK(ended, "something is in flight");
		memset(slot, 0x33, 32000);
		test_ask_singly(mirror, 2);
		for (i = 0; i < 32000; i++)
			CHECK(slot[i] == 0x33, "written to after the end");
	}
	/* and where there is no sort there is nothing to end */
	api()->sort_end(test_device.device, 9);
	test_mirror_free(mirror);
}

/* Polling alone brings a launch to its end; a device without threads does a bounded part each time. */
TEST_ONCE(sort_polled)
{
	uint32		n = test_emulated ? 3000 : 300000;
	Sort	   *sort = begin(7, GPB_WIDE_KEY, 8, 2 * n, n);
	bool		threads = test_library != NULL;
	int			turn;

	sort->in_region = true;		/* no transfer waits for itself */
	for (turn = 0; turn < 4; turn++)
	{
		bool		ended = false;
		long		polls = 0;

		if (turn < 2)
			CHECK_OK(launch_add(sort, n, &any_draws));
		else
			CHECK_OK(launch_read(sort, turn, n));
		for (; !ended && test_failures == 0; polls++)
			CHECK_OK(api()->poll(test_device.device, 7, &ended));
		/* an addition moves each record many times */
		CHECK(threads || polls > (turn < 2 ? 20 : 1) * (long) (n / 65536), "%ld polls", polls);
		CHECK_OK(api()->poll(test_device.device, 7, &ended));
		CHECK(ended, "it goes on");
		if (turn >= 2)
			check_read(sort, turn, n);
		CHECK_OK(api()->sort_finish(test_device.device, 7));
		return_memory(sort);
	}
	end(sort);
}

#define CHECK_REFUSED(call) \
	do { \
		CHECK((call) == GPB_DEVICE_NO_MEMORY, "%s was not refused", #call); \
		CHECK(api()->last_error(test_device.device)[0] != '\0', "no reason given"); \
	} while (0)

/* What is no sort is refused. */
TEST_ONCE(sort_no_format)
{
	static const GpbSortFormat formats[] = {
		{0, 16}, {2, 16}, {12, 24}, {32, 48}, {8, 12}, {8, 8}, {8, 0}, {8, 18}, {8, 17},
		{8, 8 + GPB_MAX_ROW_WIDTH + 4}, {-8, 16}, {4, 8}
	};
	const GpbSortFormat good = {8, 16};
	uint64		record[2] = {1, 2};
	int			i;

	for (i = 0; i <= (int) (sizeof(formats) / sizeof(formats[0])); i++)
	{
		if (i < (int) (sizeof(formats) / sizeof(formats[0])))
			CHECK_REFUSED(api()->sort_begin(test_device.device, 5, &formats[i], 100));
		else
			CHECK_REFUSED(api()->sort_begin(test_device.device, 5, &good, GPB_SORT_MOST + 1));
		CHECK_REFUSED(api()->sort_add(test_device.device, 5, record, 1));
		CHECK_REFUSED(api()->sort_read(test_device.device, 5, 0, 1, record));
		CHECK_REFUSED(api()->sort_finish(test_device.device, 5));
		api()->sort_end(test_device.device, 5);
		CHECK_OK(api()->sort_begin(test_device.device, 5, &good, 1));
	}
	api()->sort_end(test_device.device, 5);
}

/* What a sort has not is not read, which does it no harm. */
TEST_ONCE(sort_read_beyond)
{
	Sort	   *sort = begin(5, 8, 8, 1000, 1000);

	CHECK_REFUSED(launch_read(sort, 0, 1));
	CHECK_REFUSED(api()->sort_finish(test_device.device, 5));
	add(sort, 600, &any_draws);
	CHECK_REFUSED(launch_read(sort, 0, 601));
	CHECK_REFUSED(launch_read(sort, 600, 1));
	CHECK_REFUSED(launch_read(sort, 599, 2));
	CHECK_REFUSED(launch_read(sort, ~(uint64) 0, 2));
	CHECK_REFUSED(launch_read(sort, (uint64) 1 << 32, 1));
	CHECK_REFUSED(launch_read(sort, 0, 0));
	/* which were no reads, so more can be added */
	add(sort, 400, &any_draws);
	read_all(sort, 1000);
	CHECK_REFUSED(launch_read(sort, 999, 2));
	CHECK_REFUSED(launch_read(sort, 0, GPB_SORT_PIECE + 1));
	CHECK_REFUSED(api()->sort_finish(test_device.device, 5));
	read_all(sort, 300);
	end(sort);
}

/* An addition that is refused is the sort's last, which can only be ended. */
TEST_ONCE(sort_add_refused)
{
	char	   *records = calloc(GPB_SORT_PIECE + 1, 12);
	int			why;

	for (why = 0; why < 3; why++)
	{
		Sort	   *sort = begin(5, 4, 8, 1000, 1000);
		uint32		n = why == 0 ? 0 : why == 1 ? GPB_SORT_PIECE + 1 : 1;

		add(sort, 600, &any_draws);
		if (why == 2)
			read_all(sort, 600);
		CHECK_REFUSED(api()->sort_add(test_device.device, 5, records, n));
		CHECK_REFUSED(api()->sort_finish(test_device.device, 5));
		CHECK_REFUSED(api()->sort_add(test_device.device, 5, records, 1));
		CHECK_REFUSED(launch_read(sort, 0, 1));
		CHECK_REFUSED(api()->sort_finish(test_device.device, 5));
		end(sort);
		sort = begin(5, 4, 8, 100, 100);
		add(sort, 100, &any_draws);
		read_all(sort, 100);
		end(sort);
	}
	free(records);
}

/* Without memory a sort is refused, sooner or later; the device, its mirrors and others go on. */
TEST_ONCE(sort_without_memory)
{
	static const uint64 limit = (uint64) 24 << 20;
	static const uint64 expected[] = {1000000, 0, 3000, 40000};
	TestDevice	whole = test_device;
	TestShape	shape = test_plain_shape(3000);
	TestMirror *mirror;
	uint64		before;
	int			i;

	test_open(&test_device, whole.api, limit);
	mirror = test_filled(&shape);
	test_ask_singly(mirror, 3);
	for (i = 0; i < 4; i++)
	{
		GpbSortFormat format = {8, 32};
		Sort	   *other = begin(2, 8, 8, 3000, 3000);
		Sort	   *sort;

		add(other, 2000, &any_draws);
		before = memory_used();
		if (i == 0)
		{
			CHECK_REFUSED(api()->sort_begin(test_device.device, 1, &format, expected[0]));
			CHECK(memory_used() == before, "%lu bytes used, %lu before", memory_used(), before);
		}
		sort = begin(1, 8, 24, limit / 32, i == 0 ? 0 : expected[i]);
		while (sort->n + 9000 < sort->most &&
			   launch_add(sort, 9000, &any_draws) == GPB_DEVICE_OK)
		{
			finish(sort);
			return_memory(sort);
			CHECK(memory_used() <= limit, "%lu bytes used", memory_used());
		}
		CHECK(sort->n >= 90000, "only %lu records had room", sort->n);
		CHECK(sort->n + 9000 < sort->most, "%lu records had room", sort->n);
		CHECK_REFUSED(launch_read(sort, 0, 1));
		add(other, 100, &any_draws);
		end(sort);
		read_all(other, 3000);
		test_ask_singly(mirror, 3);
		end(other);
		CHECK(memory_used() <= before, "%lu bytes used, %lu before", memory_used(), before);
	}
	test_mirror_free(mirror);
	test_close(&test_device);
	test_device = whole;
}

/* The memory of a sort is the device's again when it ends. */
TEST_ONCE(sort_memory_returned)
{
	uint64		before = memory_used();
	int			turn;

	for (turn = 0; turn < 4; turn++)
	{
		Sort	   *sort = begin(8, 8, 16, 20000, turn % 2 ? 20000 : 0);

		if (turn % 2)
			CHECK(memory_used() >= before + 20000 * 24, "no room was made");
		while (turn < 3 && sort->n < 20000)
			add(sort, 2500, &any_draws);
		if (turn < 2)
			read_all(sort, 20000);
		CHECK(turn == 3 || memory_used() >= before + 20000 * 24, "%lu bytes used", memory_used());
		end(sort);
		CHECK(memory_used() == before, "%lu bytes used, %lu before", memory_used(), before);
	}
}
