/*-------------------------------------------------------------------------
 *
 * leaf.c
 *	  Tests of visible_entries.c, leaf_sum.c and leaf_aggregate.h: every form that this CPU has
 *	  against entries taken one by one.
 *
 * Leaves and map pages lie between pages that nobody may read, so a form that reads beyond one of
 * them ends the test.
 *
 * usage: leaf_test [seed]; ends with "N passed, N failed".
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>
#include <sys/mman.h>

#include "cpu_form.h"
#include "program/leaf_aggregate.h"
#include "program/visible_entries.h"
#include "verdict.h"

/* Number of map pages that a test may hold; they are held in any slots. */
#define MAP_PAGES	96

/* Number of map pages that cover all heap blocks */
#define ALL_MAP_PAGES	(0xFFFFFFFF / GPB_VM_PAGE_BLOCKS + 1)

static uint64 state;

/* xorshift64* */
static uint64
next_random(void)
{
	state ^= state >> 12;
	state ^= state << 25;
	state ^= state >> 27;
	return state * 0x2545F4914F6CDD1DUL;
}

/* A page between two pages that cannot be read */
static char *
guarded_page(void)
{
	char	   *all = mmap(NULL, 3 * GPB_PAGE_SIZE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

	if (all == MAP_FAILED ||
		mprotect(all + GPB_PAGE_SIZE, GPB_PAGE_SIZE, PROT_READ | PROT_WRITE) != 0)
	{
		perror("mmap");
		exit(1);
	}
	return all + GPB_PAGE_SIZE;
}

static void
set_locator(char *page, int row_width, int i, uint64 locator)
{
	memcpy((char *) gpb_page_row(page, row_width, i), &locator,
		   row_width < (int) sizeof(locator) ? row_width : (int) sizeof(locator));
}

/* ---- visibility ---- */

/* The map pages of a test; each begins with the bytes of a page header, which are not bits. */
static char *map_page[MAP_PAGES];

/* What the map says of an entry: 1, 0, or -1 if its map page is not held */
static int
expected_bit(const GpbVisibilityPages *pages, const char *page, int row_width, int i)
{
	uint32		block = gpb_locator_block(gpb_row_locator(gpb_page_row(page, row_width, i)));
	uint32		number = block / GPB_VM_PAGE_BLOCKS;
	uint32		at = block % GPB_VM_PAGE_BLOCKS;

	if (pages->tag[number % GPB_VM_SLOTS] != number + 1)
		return -1;
	return (pages->bits[number % GPB_VM_SLOTS][at / 4] >> (at % 4 * 2)) & 1;
}

/* Compare both functions with the bits of entries [from, to), taken one by one. */
static bool
check_visibility(const GpbVisibilityPages *pages, const char *page, int row_width, int from,
				 int to)
{
	uint8		visible[GPB_MAX_LEAF_ENTRIES + 1];
	int			stop = from;
	int			done;
	bool		all = true;
	bool		ok = true;
	int			i;

	while (stop < to && expected_bit(pages, page, row_width, stop) >= 0)
		stop++;
	for (i = from; i < to; i++)
		all &= expected_bit(pages, page, row_width, i) == 1;

	visible[to - from] = 0xAB;
	done = gpb_visible_entries(pages, page, row_width, from, to, visible);
	ok &= done == stop && visible[to - from] == 0xAB;
	for (i = from; i < stop; i++)
		ok &= visible[i - from] == expected_bit(pages, page, row_width, i);
	ok &= gpb_all_entries_visible(pages, page, row_width, from, to,
								  from % 2 == 0 ? page : NULL) == all;
	return ok;
}

/* Fill the map's bytes: every "rare"-th bit of all-visible is 0; the other bits are noise. */
static void
fill_map(int rare)
{
	int			p;
	int			i;
	int			k;

	for (p = 0; p < MAP_PAGES; p++)
	{
		for (i = 0; i < GPB_PAGE_SIZE; i++)
		{
			uint8		byte = (uint8) (next_random() & 0xAA);

			for (k = 0; k < 8; k += 2)
				byte |= (rare == 0 || next_random() % rare != 0) << k;
			map_page[p][i] = (char) byte;
		}
	}
}

/*
 * Hold each of the map pages that cover the first heap blocks with the given chance in percent,
 * some of them as pages further on, which share their slots.
 */
static void
hold_pages(GpbVisibilityPages *pages, int percent)
{
	uint32		p;

	gpb_visibility_pages_init(pages);
	for (p = 0; p < MAP_PAGES; p++)
	{
		if ((int) (next_random() % 100) < percent)
			gpb_visibility_pages_set(pages, p, next_random() % 50 == 0 ? NULL :
									 map_page[p] + GPB_PAGE_HEADER);
	}
}

/*
 * A heap block in one of so many orders: near, over two map pages, over many, at the ends of pages,
 * on some hundred blocks, near with exceptions
 */
static uint32
random_block(int order, uint32 first)
{
	uint32		edge;

	switch (order)
	{
		case 0:
			return first + (uint32) (next_random() % 4);
		case 1:
			return first + (uint32) (next_random() % GPB_VM_PAGE_BLOCKS);
		case 2:
			return (uint32) (next_random() % ((uint64) MAP_PAGES * GPB_VM_PAGE_BLOCKS));
		case 3:
			edge = (uint32) (next_random() % MAP_PAGES) * GPB_VM_PAGE_BLOCKS;
			return edge - 2 + (uint32) (next_random() % 4);
		case 4:
			return first + (uint32) (next_random() % 600);
		default:
			return next_random() % 16 == 0 ? (uint32) next_random() :
				first + (uint32) (next_random() % 4);
	}
}

static void
test_visibility(GpbCpuForm form, int row_width)
{
	static const int rare[] = {0, 0, 5000, 100, 2};
	GpbVisibilityPages pages;
	char	   *page = guarded_page();
	int			most = gpb_page_capacity(4, row_width);
	bool		ok = true;
	char		what[100];
	int			round;

	if (!gpb_cpu_force(form))
	{
		printf("       form %d: not on this CPU\n", (int) form);
		return;
	}
	for (round = 0; round < 400; round++)
	{
		uint32		first = (uint32) (next_random() % ((uint64) (MAP_PAGES - 2) *
													   GPB_VM_PAGE_BLOCKS));
		int			order = (int) (next_random() % 6);
		int			n = round % 3 == 0 ? (int) (next_random() % (most + 1)) : most;
		int			from;
		int			i;

		if (round % 80 == 0)
			fill_map(rare[round / 80]);
		hold_pages(&pages, round % 4 == 0 ? 90 : 100);
		for (i = 0; i < n; i++)
			set_locator(page, row_width, i,
						(next_random() & ~(GPB_TID_MASK >> 16 << 16)) |
						(uint64) random_block(order, first) << 16);
		from = round % 2 == 0 ? 0 : (int) (next_random() % (n + 1));
		ok &= check_visibility(&pages, page, row_width, from, n);
		for (i = 0; i < 20 && n > 0; i++)
		{
			int			short_from = (int) (next_random() % n);
			int			length = (int) (next_random() % 24);

			ok &= check_visibility(&pages, page, row_width, short_from,
								   short_from + length < n ? short_from + length : n);
		}
	}
	snprintf(what, sizeof(what), "%s, rows of %d bytes: visibility", gpb_cpu_form_name(),
			 row_width);
	verdict(ok, what);
}

/* The first and the last heap block that each map page covers are looked up in that page. */
static void
test_map_pages(GpbCpuForm form)
{
	GpbVisibilityPages pages;
	char	   *page = guarded_page();
	char	   *bits = guarded_page();
	bool		ok = true;
	char		what[100];
	uint64		p;
	int			i;

	if (!gpb_cpu_force(form))
		return;
	/* Of the page's heap blocks only the first and the last are all-visible. */
	memset(bits, 0, GPB_PAGE_SIZE);
	bits[GPB_PAGE_HEADER] = 1;
	bits[GPB_PAGE_SIZE - 1] = 1 << 6;
	for (p = 0; p < ALL_MAP_PAGES; p++)
	{
		uint64		first = p * GPB_VM_PAGE_BLOCKS;
		uint64		other = (p + 1) % 64 * GPB_VM_PAGE_BLOCKS;
		uint64		last = first + GPB_VM_PAGE_BLOCKS - 1;

		gpb_visibility_pages_init(&pages);
		gpb_visibility_pages_set(&pages, (uint32) p, bits + GPB_PAGE_HEADER);
		gpb_visibility_pages_set(&pages, (uint32) (p + 1) % 64, bits + GPB_PAGE_HEADER);
		if (last > 0xFFFFFFFF)
			last = first;
		/* The first entry is on another map page, so that none is common to all. */
		for (i = 0; i < 9; i++)
			set_locator(page, 12, i, (i == 0 ? other : i % 2 ? first : last) << 16);
		ok &= gpb_all_entries_visible(&pages, page, 12, 0, 9, NULL);
		ok &= gpb_all_entries_visible(&pages, page, 12, 1, 9, NULL);
		set_locator(page, 12, 5, (first + 1) << 16);
		ok &= !gpb_all_entries_visible(&pages, page, 12, 0, 9, NULL);
		if (last > first)
		{
			set_locator(page, 12, 5, (last - 1) << 16);
			ok &= !gpb_all_entries_visible(&pages, page, 12, 0, 9, NULL);
		}
	}
	snprintf(what, sizeof(what), "%s: both ends of each of %lu map pages",
			 gpb_cpu_form_name(), (unsigned long) ALL_MAP_PAGES);
	verdict(ok, what);
}

/*
 * Entries are on all of a number of adjacent heap blocks, or on every other one, ascending, of one
 * map page or of two; of all heap blocks only one is not all-visible.
 */
static void
test_one_block(GpbCpuForm form)
{
	GpbVisibilityPages pages;
	char	   *page = guarded_page();
	bool		ok = true;
	char		what[100];
	int			round;
	int			i;

	if (!gpb_cpu_force(form))
		return;
	fill_map(0);
	hold_pages(&pages, 0);
	gpb_visibility_pages_set(&pages, 0, map_page[0] + GPB_PAGE_HEADER);
	gpb_visibility_pages_set(&pages, 1, map_page[1] + GPB_PAGE_HEADER);
	for (round = 0; round < 20000; round++)
	{
		int			n = GPB_MAX_LEAF_ENTRIES / 2;
		int			step = 1 + (int) (next_random() % 2);
		int			blocks = 1 + (int) (next_random() % (round % 2 == 0 ? 40 : n));
		uint32		first = (uint32) (round % 4 == 0 ?
									  GPB_VM_PAGE_BLOCKS - next_random() % (step * blocks) :
									  next_random() % (GPB_VM_PAGE_BLOCKS - step * blocks));
		uint32		hidden = first + (uint32) (next_random() % (step * blocks));
		char	   *byte = map_page[hidden / GPB_VM_PAGE_BLOCKS] + GPB_PAGE_HEADER +
			hidden % GPB_VM_PAGE_BLOCKS / 4;
		char		saved = *byte;

		for (i = 0; i < n; i++)
			set_locator(page, 12, i, (uint64) (first + i * blocks / n * step) << 16);
		*byte &= ~(1 << hidden % 4 * 2);
		ok &= gpb_all_entries_visible(&pages, page, 12, 0, n, page) ==
			((hidden - first) % step != 0);
		*byte = saved;
		ok &= gpb_all_entries_visible(&pages, page, 12, 0, n, page);
	}
	snprintf(what, sizeof(what), "%s: one block is not visible", gpb_cpu_form_name());
	verdict(ok, what);
}

/* The least and the greatest heap block of entries, with rows of all widths that there are forms for. */
static void
test_entry_blocks(GpbCpuForm form)
{
	static const int widths[] = {8, 10, 12, 16, 20, 24, 32, 40};
	char	   *page = guarded_page();
	bool		ok = true;
	char		what[100];
	int			round;

	if (!gpb_cpu_force(form))
		return;
	for (round = 0; round < 20000; round++)
	{
		int			width = widths[round % 8];
		int			from = (int) (next_random() % 9);
		int			to = from + 1 + (int) (next_random() % 40);
		uint32		least = 0xFFFFFFFF;
		uint32		most = 0;
		uint32		found_least;
		uint32		found_most;
		int			i;

		for (i = 0; i < to + 9; i++)
		{
			uint32		block = (uint32) next_random() >> (round % 32);

			set_locator(page, width, i, next_random() << 48 | (uint64) block << 16 |
						(next_random() & 0xFFFF));
			if (i < from || i >= to)
				continue;
			least = block < least ? block : least;
			most = block > most ? block : most;
		}
		gpb_entry_blocks(page, width, from, to, &found_least, &found_most);
		ok &= found_least == least && found_most == most;
	}
	snprintf(what, sizeof(what), "%s: least and greatest block", gpb_cpu_form_name());
	verdict(ok, what);
}

/* Entries are on the last heap blocks that there can be; one of these is not all-visible, or none. */
static void
test_last_blocks(GpbCpuForm form)
{
	GpbVisibilityPages pages;
	char	   *page = guarded_page();
	char	   *bits = map_page[0] + GPB_PAGE_HEADER;
	bool		ok = true;
	char		what[100];
	uint32		first;
	uint32		hidden;
	int			i;

	if (!gpb_cpu_force(form))
		return;
	fill_map(0);
	gpb_visibility_pages_init(&pages);
	gpb_visibility_pages_set(&pages, ALL_MAP_PAGES - 1, bits);
	for (first = 0xFFFFFFFF; first > 0xFFFFFFFF - 50; first--)
	{
		for (i = 0; i < 50; i++)
			set_locator(page, 12, i,
						(first + (uint64) i % ((uint64) 0xFFFFFFFF - first + 1)) << 16);
		ok &= gpb_all_entries_visible(&pages, page, 12, 0, 50, NULL);
		for (hidden = 0xFFFFFFFF; hidden >= first; hidden--)
		{
			char	   *byte = bits + hidden % GPB_VM_PAGE_BLOCKS / 4;
			char		saved = *byte;

			*byte &= ~(1 << hidden % 4 * 2);
			ok &= !gpb_all_entries_visible(&pages, page, 12, 0, 50, NULL);
			*byte = saved;
		}
	}
	snprintf(what, sizeof(what), "%s: the last heap blocks", gpb_cpu_form_name());
	verdict(ok, what);
}

/* ---- aggregation ---- */

/* Sums of rows, of which a single one has flags */
static void
test_sum(GpbCpuForm form)
{
	char	   *page = guarded_page();
	bool		ok = true;
	char		what[100];
	int			round;
	int			i;

	if (!gpb_cpu_force(form))
		return;
	for (round = 0; round < 5000; round++)
	{
		int			n = (int) (next_random() % (GPB_PAGE_SIZE / GPB_INT4_ROW_WIDTH + 1));
		char	   *rows = page + GPB_PAGE_SIZE - n * GPB_INT4_ROW_WIDTH;
		int			flagged = n > 0 ? (int) (next_random() % n) : -1;
		uint16		flags = 0xABCD;
		int64		expected = 0;
		int64		sum;

		for (i = 0; i < n; i++)
		{
			uint64		locator = next_random() >> 16 | (uint64) (i == flagged) << (48 + round % 16);
			int32		value = round % 3 == 0 ? (int32) next_random() :
				round % 3 == 1 ? (int32) 0x80000000 : 0x7FFFFFFF;

			memcpy(rows + i * GPB_INT4_ROW_WIDTH, &locator, sizeof(locator));
			memcpy(rows + i * GPB_INT4_ROW_WIDTH + GPB_LOCATOR_WIDTH, &value, sizeof(value));
			expected += value;
		}
		sum = gpb_sum_int4_rows(rows, n, &flags);
		ok &= sum == expected && flags == (n > 0 ? 1 << round % 16 : 0);
	}
	snprintf(what, sizeof(what), "%s: sums of rows", gpb_cpu_form_name());
	verdict(ok, what);
}

/* A value of 8 bytes; "extreme" ones make sums that need more than 64 bits. */
static int64
random_value(bool extreme)
{
	static const uint64 ends[] = {
		0, ~(uint64) 0, (uint64) 1 << 63, ~((uint64) 1 << 63), 0xFFFFFFFF, (uint64) 0xFFFFFFFF << 32,
		0x80000000, 0x7FFFFFFF
	};

	return (int64) (extreme ? ends[next_random() % 8] : next_random());
}

/*
 * Aggregate a leaf with columns of all integer kinds, and compare with its entries one by one.
 * With nulls, many values are NULL, or a single one is.
 */
static bool
check_aggregate(char *page, const GpbProgram *program, int n, bool nulls, bool extreme)
{
	const GpbLayout *layout = &program->layout;
	GpbAnswerFormat format;
	GpbLeafPick pick = {NULL, 0, 0};
	uint16		at[GPB_MAX_LEAF_ENTRIES];
	int64		answer[8 * GPB_MAX_COLUMNS];
	int64		expected[8 * GPB_MAX_COLUMNS];
	int			single = nulls && n > 0 && next_random() % 2 == 0 ? (int) (next_random() % n) : -1;
	int			i;
	int			c;

	gpb_answer_format(program, &format);
	gpb_answer_init(&format, answer);
	gpb_answer_init(&format, expected);
	for (i = 0; i < n; i++)
	{
		char	   *row = (char *) gpb_page_row(page, layout->row_width, i);

		set_locator(page, layout->row_width, i,
					nulls && single < 0 && next_random() % 3 == 0 ? next_random() :
					next_random() & GPB_TIE_MASK);
		for (c = 0; c < layout->ncolumns; c++)
		{
			int64		value = random_value(extreme);

			memcpy(row + layout->offset[c], &value, layout->kind[c] == GPB_KIND_INT8 ? 8 :
				   layout->kind[c] == GPB_KIND_INT4 ? 4 : 2);
		}
	}
	if (single >= 0)
		set_locator(page, layout->row_width, single,
					(next_random() & GPB_TIE_MASK) |
					(uint64) 1 << (GPB_LOC_NULL_SHIFT + next_random() % 2));
	pick.first = n > 0 ? (int) (next_random() % n) : 0;
	pick.n = n - pick.first;
	if (next_random() % 4 == 0)
	{
		int			picked = 0;

		for (i = pick.first; i < n; i++)
		{
			at[picked] = (uint16) i;
			picked += next_random() % 2;
		}
		pick.at = at;
		pick.n = picked;
	}
	for (i = 0; i < pick.n; i++)
		gpb_answer_add_entry(&format, layout, expected, 0,
							 gpb_page_row(page, layout->row_width,
										  gpb_pick_position(&pick, i, pick.at == NULL)));
	gpb_leaf_answer(page, program, &format, &pick, answer);
	return memcmp(answer, expected, gpb_answer_width(&format)) == 0;
}

static void
test_aggregate(GpbCpuForm form, int want)
{
	static const GpbKind kinds[] = {GPB_KIND_INT4, GPB_KIND_INT8, GPB_KIND_INT2};
	GpbProgram	program;
	char	   *page = guarded_page();
	bool		ok = true;
	char		what[100];
	int			round;
	int			c;

	if (!gpb_cpu_force(form))
		return;
	memset(&program, 0, sizeof(program));
	program.layout.key_width = 8;
	program.layout.key_kind = GPB_KIND_INT8;
	for (round = 0; round < 600; round++)
	{
		int			width = GPB_LOCATOR_WIDTH;
		int			most;

		program.layout.ncolumns = (uint8) (round % 4);
		for (c = 0; c < program.layout.ncolumns; c++)
		{
			program.layout.kind[c] = (uint8) kinds[(round / 4 + c) % 3];
			program.layout.offset[c] = (uint8) width;
			program.want[c + 1] = (uint8) (next_random() % 4 == 0 ? 0 : want);
			width += program.layout.kind[c] == GPB_KIND_INT8 ? 8 : 4;
		}
		program.layout.row_width = (uint8) width;
		most = gpb_page_capacity(8, width);
		ok &= check_aggregate(page, &program, round % 2 ? most : (int) (next_random() % (most + 1)),
							  next_random() % 3 == 0, round % 5 == 0);
	}
	snprintf(what, sizeof(what), "%s: aggregates, wanted %d", gpb_cpu_form_name(), want);
	verdict(ok, what);
}

/* ---- leaves with runs ---- */

/* The entries of such a leaf, one by one */
typedef struct RunEntries
{
	int			n;
	GpbKey		key[GPB_MAX_LEAF_ENTRIES];
	uint64		locator[GPB_MAX_LEAF_ENTRIES];
} RunEntries;

/* Fill a leaf with runs of random lengths, about "many" entries each, and write down its entries. */
static void
make_runs(char *page, int key_width, int many, RunEntries *entries)
{
	GpbPageSpecial *special = (GpbPageSpecial *) (page + GPB_SPECIAL_OFFSET);
	int			room = GPB_PAGE_SPACE - gpb_key_halves(key_width);
	GpbKey		keys[GPB_MAX_LEAF_ENTRIES];
	uint16		ends[GPB_MAX_LEAF_ENTRIES];
	GpbKey		key = next_random() % 1000;
	int			nruns = 0;
	int			i = 0;
	uint16		bounds[2];

	memset(special, 0, sizeof(*special));
	special->key_width = (uint8) key_width;
	special->row_width = GPB_RUN_ROW_WIDTH;
	for (;;)
	{
		int			length = 1 + (int) (next_random() % many);

		room -= key_width + GPB_RUN_END_WIDTH;
		if (room < length * GPB_RUN_ROW_WIDTH)
			break;
		room -= length * GPB_RUN_ROW_WIDTH;
		keys[nruns] = key;
		for (; length > 0; length--, i++)
		{
			uint64		locator = 1 + next_random() % 290;

			locator |= (uint64) (i * 1000 + next_random() % 1000) << 16;
			locator |= next_random() % 8 == 0 ? GPB_LOC_DEAD : 0;
			entries->key[i] = key;
			entries->locator[i] = locator;
			locator = gpb_short_of_locator(locator);
			memcpy((char *) gpb_page_row(page, GPB_RUN_ROW_WIDTH, i), &locator,
				   GPB_RUN_ROW_WIDTH);
		}
		ends[nruns++] = (uint16) i;
		key += 1 + next_random() % 1000;
		if (key_width == GPB_WIDE_KEY)
			key += (GpbKey) (next_random() % 3) << 64;
	}
	entries->n = i;
	for (i = 0; i < nruns; i++)
		memcpy(page + gpb_key_place(key_width, i), &keys[i], key_width);
	memcpy(page + gpb_key_place(key_width, nruns), ends, nruns * sizeof(uint16));
	bounds[0] = (uint16) (gpb_key_place(key_width, nruns) + nruns * GPB_RUN_END_WIDTH);
	bounds[1] = (uint16) (GPB_SPECIAL_OFFSET - entries->n * GPB_RUN_ROW_WIDTH);
	memcpy(page + GPB_PD_LOWER, bounds, sizeof(bounds));
}

/* Is the entry at or after the bound? */
static bool
is_at_or_after(const RunEntries *entries, int i, GpbBound bound)
{
	GpbBound	entry = {entries->key[i], entries->locator[i] & GPB_TIE_MASK};

	return !gpb_bound_less(entry, bound);
}

static void
test_runs(int key_width, int many)
{
	static RunEntries entries;
	char	   *page = guarded_page();
	bool		ok = true;
	char		what[100];
	int			round;

	for (round = 0; round < 60; round++)
	{
		const uint16 *ends;
		GpbKeyReader reader;
		int			nruns;
		int			run = -1;
		int			i;

		make_runs(page, key_width, many, &entries);
		nruns = gpb_page_runs(page, key_width);
		ends = gpb_run_ends(page, key_width, nruns);
		ok &= gpb_page_count(page) == entries.n && gpb_page_run_count(page, key_width) == entries.n;
		reader = gpb_read_keys(page, key_width, GPB_RUN_ROW_WIDTH, 0);
		for (i = 0; i < entries.n; i++)
		{
			int			found = gpb_run_of(ends, nruns, i);
			GpbSpreadRow spread;

			ok &= gpb_leaf_key(page, key_width, GPB_RUN_ROW_WIDTH, i) == entries.key[i];
			ok &= gpb_page_locator(page, GPB_RUN_ROW_WIDTH, i) == entries.locator[i];
			ok &= gpb_row_locator(gpb_spread_row(page, GPB_RUN_ROW_WIDTH, i, &spread)) ==
				entries.locator[i];
			if (next_random() % 4 != 0)
				continue;
			ok &= gpb_next_key(&reader, key_width, GPB_RUN_ROW_WIDTH, i) == entries.key[i];
			run = gpb_run_from(ends, nruns, run < 0 ? 0 : run, i);
			ok &= run == found;
		}
		for (i = 0; i < 100 && entries.n > 0; i++)
		{
			int			near = (int) (next_random() % entries.n);
			GpbBound	bound = {entries.key[near] + next_random() % 3 - 1, 0};
			int			at;

			if (next_random() % 2)
				bound.tie = (entries.locator[near] & GPB_TIE_MASK) + next_random() % 3 - 1;
			if (entries.key[near] == 0)
				bound.key = 0;
			at = gpb_page_lower_bound(page, key_width, GPB_RUN_ROW_WIDTH, entries.n, bound);
			ok &= at == entries.n || is_at_or_after(&entries, at, bound);
			ok &= at == 0 || !is_at_or_after(&entries, at - 1, bound);
		}
	}
	snprintf(what, sizeof(what), "keys of %d bytes, up to %d a run", key_width, many);
	verdict(ok, what);
	munmap(page - GPB_PAGE_SIZE, 3 * GPB_PAGE_SIZE);
}

/* Whatever the ends of runs say, no reader leaves the page, and no position is beyond the entries. */
static void
test_damaged_runs(int key_width)
{
	static RunEntries entries;
	char	   *page = guarded_page();
	bool		ok = true;
	char		what[100];
	int			round;

	for (round = 0; round < 300; round++)
	{
		int			nruns;
		int			i;

		make_runs(page, key_width, 40, &entries);
		nruns = gpb_page_runs(page, key_width);
		for (i = 0; i < 4; i++)
		{
			uint16	   *end = (uint16 *) gpb_run_ends(page, key_width, nruns) +
				next_random() % (nruns - 1);

			*end = (uint16) (next_random() % 3 == 0 ? 0xFFFF : next_random() % 1500);
		}
		for (i = 0; i < 100; i++)
		{
			int			at = (int) (next_random() % entries.n);
			GpbBound	bound = {entries.key[at], next_random() % 2 ? entries.locator[at] : 0};

			(void) gpb_leaf_key(page, key_width, GPB_RUN_ROW_WIDTH, at);
			at = gpb_page_lower_bound(page, key_width, GPB_RUN_ROW_WIDTH, entries.n, bound);
			ok &= at >= 0 && at <= entries.n;
		}
	}
	snprintf(what, sizeof(what), "keys of %d bytes, ends of runs that are damaged", key_width);
	verdict(ok, what);
	munmap(page - GPB_PAGE_SIZE, 3 * GPB_PAGE_SIZE);
}

int
main(int argc, char **argv)
{
	static const int widths[] = {GPB_RUN_ROW_WIDTH, 8, 12, 16, 20, 24, 36, 120};
	uint64		seed = argc > 1 ? strtoul(argv[1], NULL, 10) : 1;
	int			form;
	int			i;

	printf("seed %lu\n", seed);
	state = seed * 2 + 1;
	for (i = 0; i < MAP_PAGES; i++)
		map_page[i] = guarded_page();
	for (form = GPB_CPU_PLAIN; form <= GPB_CPU_AVX2; form++)
	{
		for (i = 0; i < (int) (sizeof(widths) / sizeof(widths[0])); i++)
			test_visibility((GpbCpuForm) form, widths[i]);
		test_map_pages((GpbCpuForm) form);
		test_one_block((GpbCpuForm) form);
		test_last_blocks((GpbCpuForm) form);
		test_entry_blocks((GpbCpuForm) form);
	}
	for (i = 4; i <= GPB_WIDE_KEY; i *= 2)
	{
		test_runs(i, 1);
		test_runs(i, 20);
		test_runs(i, 1300);
		test_damaged_runs(i);
	}
	for (form = GPB_CPU_PLAIN; form <= GPB_CPU_AVX2; form++)
	{
		test_sum((GpbCpuForm) form);
		test_aggregate((GpbCpuForm) form, GPB_WANT_COUNT);
		test_aggregate((GpbCpuForm) form, GPB_WANT_COUNT | GPB_WANT_SUM);
		test_aggregate((GpbCpuForm) form, GPB_WANT_COUNT | GPB_WANT_MINMAX);
		test_aggregate((GpbCpuForm) form, GPB_WANT_COUNT | GPB_WANT_SUM | GPB_WANT_MINMAX);
	}
	return print_sums();
}
