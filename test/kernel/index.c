/*-------------------------------------------------------------------------
 *
 * index.c
 *	  Random indexes: entries, and the pages that hold them.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "index.h"

/* ---- randomness: xorshift64* ---- */

static uint64 random_state = 1;

void
test_seed(uint64 seed)
{
	random_state = seed * 0x9E3779B97F4A7C15ul + 1;
	if (random_state == 0)
		random_state = 1;
}

uint64
test_random(void)
{
	random_state ^= random_state >> 12;
	random_state ^= random_state << 25;
	random_state ^= random_state >> 27;
	return random_state * 0x2545F4914F6CDD1Dul;
}

/* ---- layouts ---- */

static int
kind_width(int kind)
{
	if (kind == GPB_KIND_INT128 || kind == GPB_KIND_BYTES16)
		return 16;
	return kind == GPB_KIND_INT2 ? 2 : kind == GPB_KIND_INT4 ? 4 : 8;
}

GpbLayout
test_layout(int key_width, int flags, int ncolumns, const int *kinds)
{
	GpbLayout	layout;
	int			offset = GPB_LOCATOR_WIDTH;
	int			c;

	memset(&layout, 0, sizeof(layout));
	layout.key_width = (uint8) key_width;
	layout.key_kind = key_width == 4 ? GPB_KIND_INT4 : key_width == 8 ? GPB_KIND_INT8 :
		GPB_KIND_WIDE;
	layout.flags = (uint8) flags;
	layout.ncolumns = (uint8) ncolumns;
	for (c = 0; c < ncolumns; c++)
	{
		/* wide values lie at multiples of 4, int2 anywhere even */
		if (kinds[c] != GPB_KIND_INT2)
			offset = (offset + 3) & ~3;
		layout.kind[c] = (uint8) kinds[c];
		layout.offset[c] = (uint8) offset;
		offset += kind_width(kinds[c]);
	}
	layout.row_width = (uint8) ((offset + 3) & ~3);
	return layout;
}

GpbLayout
test_columns_layout(int key_width, int ncolumns, const int *kinds)
{
	static const uint8 nulls[] = {0, GPB_COLUMN_NULL_BIT, GPB_COLUMN_NULL_SPARE};
	GpbLayout	layout = test_layout(key_width, 0, ncolumns, kinds);
	int			left = 8 * key_width;

	layout.key_kind = 0;
	while (left > 0)
	{
		GpbKeyColumn *column = &layout.key[layout.nkeys++];
		int			most = left < 64 ? left : 64;

		column->flags = nulls[test_below(3)];
		column->bits = (uint8) (most < 4 || layout.nkeys == 4 ? most : 2 + test_below(most - 1));
		if (column->bits == 1)
			column->flags = 0;
		/* a code has at most 64 bits, and so has a field without a bit for NULL */
		if ((column->flags & GPB_COLUMN_NULL_BIT) && column->bits == 64 && left > 64)
			column->bits = 65;
		if (test_once_in(2))
			column->flags |= GPB_COLUMN_DESC;
		if (column->flags != 0 && test_once_in(2))
			column->flags |= GPB_COLUMN_NULLS_FIRST;
		if (test_once_in(2))
			column->flags |= GPB_COLUMN_SIGNED | (test_once_in(3) ? GPB_COLUMN_NAN : 0);
		left -= column->bits;
		column->shift = (uint8) left;
	}
	return layout;
}

/* ---- entries ---- */

/* The normalized key and the order bit, written out once more for the model's sake */
static GpbBound
entry_bound(const GpbLayout *layout, const TestEntry *entry)
{
	bool		nulls_first = (layout->flags & GPB_LAYOUT_NULLS_FIRST) != 0;
	uint64		bits = layout->key_width >= 8 ? ~(uint64) 0 : 0xFFFFFFFF;
	GpbBound	bound;

	if (entry->key_is_null)
	{
		bound.key = nulls_first ? 0 : layout->key_width == 16 ? ~(GpbKey) 0 : bits;
		bound.tie = (uint64) entry->heap_block << 16 | entry->heap_offset;
		if (!nulls_first)
			bound.tie |= (uint64) 1 << 48;
		return bound;
	}
	else
	{
		uint64		zero = layout->key_width >= 8 ? (uint64) 1 << 63 : 0x80000000;

		bound.key = ((uint64) entry->key + zero) & bits;
		if (layout->flags & GPB_LAYOUT_DESC)
			bound.key = bits - bound.key;
	}
	bound.key |= (GpbKey) entry->upper << 64;
	bound.tie = (uint64) entry->heap_block << 16 | entry->heap_offset;
	if (entry->key_is_null != nulls_first)
		bound.tie |= (uint64) 1 << 48;
	return bound;
}

static int64
random_integer(int width)
{
	uint64		bits = test_random();

	if (test_once_in(8))
		bits = test_once_in(2) ? 0 : (uint64) 1 << (width * 8 - 1);
	else if (test_once_in(8))
		bits = ((uint64) 1 << (width * 8 - 1)) - 1;
	return width == 2 ? (int16) bits : width == 4 ? (int32) bits : (int64) bits;
}

/* Ordinary float8s mostly; every kind of odd one now and then */
static int64
random_float(void)
{
	static const uint64 odd[] = {
		0x0000000000000000ul, 0x8000000000000000ul, /* zeros */
		0x0000000000000001ul, 0x800FFFFFFFFFFFFFul, /* subnormals */
		0x0010000000000000ul,	/* least normal */
		0x7FEFFFFFFFFFFFFFul, 0xFFEFFFFFFFFFFFFFul, /* largest */
		0x3FF0000000000000ul, 0x4340000000000000ul
	};
	double		value;
	int64		bits;

	if (test_once_in(16))
		return (int64) odd[test_below(sizeof(odd) / sizeof(odd[0]))];
	if (test_once_in(16))
		return (int64) (test_random() & 0xBFFFFFFFFFFFFFFFul);	/* any exponent below 1 */
	value = (double) (int64) test_below(2000000) / 100 - 10000;
	memcpy(&bits, &value, sizeof(bits));
	return bits;
}

static int64
random_value(const TestShape *shape, int column, uint32 i)
{
	int			kind = shape->layout.kind[column];

	if (shape->value != NULL)
		return shape->value(column, i);
	return kind == GPB_KIND_FLOAT8 ? random_float() :
		random_integer(kind_width(kind) < 8 ? kind_width(kind) : 8);
}

/* The last 8 of 16 bytes: few, so that the first ones decide too, and the ends of both orders */
static uint64
random_rest(void)
{
	static const uint64 ends[] = {
		0, 1, ~(uint64) 0, (uint64) 1 << 63, ((uint64) 1 << 63) - 1, 0x80, 0x7F
	};

	return test_once_in(8) ? test_random() : ends[test_below(sizeof(ends) / sizeof(ends[0]))];
}

static int64
random_key(const TestShape *shape)
{
	uint64		distinct = shape->distinct_keys ? shape->distinct_keys : shape->nentries + 1;
	int64		key = (int64) test_below(distinct) - (int64) (distinct / 2);

	/* spread over the whole type, its ends included */
	if (shape->distinct_keys == 0 && test_once_in(4))
		key = random_integer(shape->layout.key_width < 8 ? shape->layout.key_width : 8);
	return key;
}

static void
random_entry(const TestShape *shape, uint32 i, TestEntry *entry)
{
	int			c;

	memset(entry, 0, sizeof(*entry));
	entry->key_is_null = shape->null_keys && test_once_in(shape->null_keys);
	entry->key = random_key(shape);
	/* few upper halves, so that the lower ones decide as well, and the ends */
	if (shape->layout.key_width == 16 && !entry->key_is_null)
		entry->upper = test_once_in(8) ? test_random() : test_once_in(8) ? ~(uint64) 0 :
			test_below(4) * 5;
	entry->dead = shape->dead && test_once_in(shape->dead);
	entry->heap_block = (uint32) test_below(shape->heap_blocks ? shape->heap_blocks : 1000);
	entry->heap_offset = (uint16) (1 + test_below(291));
	for (c = 0; c < shape->layout.ncolumns; c++)
	{
		entry->is_null[c] = shape->null_values && test_once_in(shape->null_values);
		entry->value[c] = entry->is_null[c] ? 0 : random_value(shape, c, i);
		if (kind_width(shape->layout.kind[c]) == 16 && !entry->is_null[c])
			entry->rest[c] = random_rest();
	}
	entry->bound = entry_bound(&shape->layout, entry);
}

static int
compare_entries(const void *a, const void *b)
{
	return gpb_bound_cmp(((const TestEntry *) a)->bound, ((const TestEntry *) b)->bound);
}

/* Locators in the order of the keys, 100 to a heap block */
static void
order_heap(TestIndex *index)
{
	uint32		i;

	for (i = 0; i < index->nentries; i++)
	{
		index->entry[i].heap_block = i / 100;
		index->entry[i].heap_offset = (uint16) (1 + i % 100);
		index->entry[i].bound = entry_bound(&index->layout, &index->entry[i]);
	}
	qsort(index->entry, index->nentries, sizeof(TestEntry), compare_entries);
}

static void
make_entries(TestIndex *index, const TestShape *shape)
{
	uint32		n = 0;
	uint32		i;

	index->entry = calloc(shape->nentries + 1, sizeof(TestEntry));
	for (i = 0; i < shape->nentries; i++)
		random_entry(shape, i, &index->entry[i]);
	qsort(index->entry, shape->nentries, sizeof(TestEntry), compare_entries);
	for (i = 0; i < shape->nentries; i++)
	{
		/* no two entries are equal in an index */
		if (n == 0 || compare_entries(&index->entry[n - 1], &index->entry[i]) != 0)
			index->entry[n++] = index->entry[i];
	}
	index->nentries = n;
	if (shape->heap_order)
		order_heap(index);
}

/* ---- pages ---- */

static void
put_u16(char *page, int offset, int value)
{
	uint16		v = (uint16) value;

	memcpy(page + offset, &v, sizeof(v));
}

static void
init_page(char *page, int level, int key_width, int row_width, int count)
{
	GpbPageSpecial *special = (GpbPageSpecial *) (page + GPB_SPECIAL_OFFSET);

	/* garbage where nothing is said to be */
	memset(page, 0xDB, GPB_PAGE_SIZE);
	memset(page, 0, GPB_PAGE_HEADER);
	put_u16(page, GPB_PD_LOWER, gpb_key_place(key_width, count));
	put_u16(page, GPB_PD_UPPER, GPB_SPECIAL_OFFSET - count * row_width);
	put_u16(page, GPB_PD_SPECIAL, GPB_SPECIAL_OFFSET);
	memset(special, 0, sizeof(*special));
	special->left = GPB_NO_BLOCK;
	special->right = GPB_NO_BLOCK;
	special->level = (uint16) level;
	special->key_width = (uint8) key_width;
	special->row_width = (uint8) row_width;
	special->page_id = GPB_PAGE_ID;
}

static void
put_key(char *page, int key_width, int i, GpbKey key)
{
	int			halves = key_width == 16 ? 16 : 0;

	memcpy(page + GPB_PAGE_HEADER + halves + i * key_width, &key, key_width);	/* little-endian */
}

/* Set where the page begins. */
static void
put_low(char *page, int key_width, GpbBound low)
{
	GpbPageSpecial *special = (GpbPageSpecial *) (page + GPB_SPECIAL_OFFSET);
	uint64		upper = (uint64) (low.key >> 64);

	special->low_key = (uint64) low.key;
	special->low_tie = low.tie;
	if (key_width == 16)
		memcpy(page + GPB_PAGE_HEADER + 8, &upper, 8);
}

/* Set where it ends. */
static void
put_high(char *page, int key_width, GpbBound high)
{
	GpbPageSpecial *special = (GpbPageSpecial *) (page + GPB_SPECIAL_OFFSET);
	uint64		upper = (uint64) (high.key >> 64);

	special->high_key = (uint64) high.key;
	special->high_tie = high.tie;
	if (key_width == 16)
		memcpy(page + GPB_PAGE_HEADER, &upper, 8);
}

void
test_row(const TestIndex *index, uint32 i, char *row)
{
	const TestEntry *entry = &index->entry[i];
	uint64		locator = entry->bound.tie;
	int			c;

	memset(row, 0, index->layout.row_width);
	if (entry->dead)
		locator |= (uint64) 1 << 49;
	for (c = 0; c < index->layout.ncolumns; c++)
	{
		int			width = kind_width(index->layout.kind[c]);

		if (entry->is_null[c])
			locator |= (uint64) 1 << (50 + c);
		memcpy(row + index->layout.offset[c], &entry->value[c], width < 8 ? width : 8);
		if (width == 16)
			memcpy(row + index->layout.offset[c] + 8, &entry->rest[c], 8);
	}
	memcpy(row, &locator, sizeof(locator));
}

/* The bytes of a row, and of the end of a run, on a leaf that has runs */
#define RUN_ROW		6
#define RUN_END		2

/* Is entry i the first of its leaf's that has its key? */
static bool
begins_run(const TestIndex *index, const TestLeaf *leaf, uint32 i)
{
	return i == leaf->first || index->entry[i].bound.key != index->entry[i - 1].bound.key;
}

/* Write the entries of a leaf that has runs: a key for each, ends behind the keys, short rows. */
static void
write_runs(const TestIndex *index, const TestLeaf *leaf, char *page)
{
	int			key_width = index->layout.key_width;
	int			halves = key_width == 16 ? 16 : 0;
	int			nruns = 0;
	int			r = -1;
	uint32		k;

	for (k = 0; k < leaf->count; k++)
		nruns += begins_run(index, leaf, leaf->first + k);
	put_u16(page, GPB_PD_LOWER, GPB_PAGE_HEADER + halves + nruns * (key_width + RUN_END));
	for (k = 0; k < leaf->count; k++)
	{
		const TestEntry *entry = &index->entry[leaf->first + k];
		char	   *row = page + GPB_SPECIAL_OFFSET - ((int) k + 1) * RUN_ROW;
		uint64		tie = entry->bound.tie;
		uint32		block = (uint32) (tie >> 16);

		if (begins_run(index, leaf, leaf->first + k))
			put_key(page, key_width, ++r, entry->bound.key);
		put_u16(page, GPB_PAGE_HEADER + halves + nruns * key_width + r * RUN_END, (int) k + 1);
		put_u16(row, 0, (int) (tie & 0x3FFF) | (tie >> 48 & 1 ? 1 << 14 : 0) |
				(entry->dead ? 1 << 15 : 0));
		memcpy(row + 2, &block, sizeof(block));
	}
}

void
test_write_leaf(TestIndex *index, uint32 i)
{
	const TestLeaf *leaf = &index->leaf[i];
	const GpbLayout *layout = &index->layout;
	char	   *page = test_page(index, leaf->block);
	GpbPageSpecial *special = (GpbPageSpecial *) (page + GPB_SPECIAL_OFFSET);
	uint32		k;

	init_page(page, 0, layout->key_width, leaf->runs ? RUN_ROW : layout->row_width,
			  (int) leaf->count);
	if (i > 0)
		special->left = index->leaf[i - 1].block;
	put_low(page, layout->key_width, leaf->low);
	if (i + 1 < index->nleaves)
	{
		special->right = index->leaf[i + 1].block;
		put_high(page, layout->key_width, leaf->high);
	}
	for (k = 0; k < leaf->count; k++)
	{
		if (index->entry[leaf->first + k].dead)
			special->flags |= GPB_PAGE_HAS_DEAD;
		if (leaf->runs)
			continue;
		put_key(page, layout->key_width, (int) k, index->entry[leaf->first + k].bound.key);
		test_row(index, leaf->first + k,
				 page + GPB_SPECIAL_OFFSET - ((int) k + 1) * layout->row_width);
	}
	if (leaf->runs)
		write_runs(index, leaf, page);
}

void
test_split_unfinished(TestIndex *index, uint32 i, uint32 new_block)
{
	TestLeaf   *leaf = &index->leaf[i];
	char	   *page = test_page(index, leaf->block);
	char	   *right = test_page(index, new_block);
	GpbPageSpecial *special = (GpbPageSpecial *) (page + GPB_SPECIAL_OFFSET);
	uint32		keep = leaf->count / 2;

	memcpy(right, page, GPB_PAGE_SIZE);
	put_u16(page, GPB_PD_LOWER, gpb_key_place(index->layout.key_width, (int) keep));
	special->right = new_block;
	put_high(page, index->layout.key_width, index->entry[leaf->first + keep].bound);
	put_low(right, index->layout.key_width, index->entry[leaf->first + keep].bound);
	special->flags |= GPB_PAGE_INCOMPLETE_SPLIT;
}

static void
write_inner(TestIndex *index, uint32 p, uint32 first_leaf)
{
	int			key_width = index->layout.key_width;
	uint32		count = index->inner_count[p];
	char	   *page = test_page(index, index->inner_block[p]);
	GpbPageSpecial *special = (GpbPageSpecial *) (page + GPB_SPECIAL_OFFSET);
	uint32		k;

	init_page(page, 1, key_width, GPB_INNER_ROW_WIDTH, (int) count);
	for (k = 0; k < count; k++)
	{
		const TestLeaf *leaf = &index->leaf[first_leaf + k];
		char	   *row = page + GPB_SPECIAL_OFFSET - ((int) k + 1) * GPB_INNER_ROW_WIDTH;

		put_key(page, key_width, (int) k, leaf->low.key);
		memcpy(row, &leaf->low.tie, sizeof(uint64));
		memcpy(row + GPB_LOCATOR_WIDTH, &leaf->block, sizeof(uint32));
	}
	put_low(page, key_width, index->leaf[first_leaf].low);
	if (p + 1 < index->ninner)
	{
		special->right = index->inner_block[p + 1];
		put_high(page, key_width, index->leaf[first_leaf + count].low);
	}
}

/* ---- the tree ---- */

/* Where leaf i may begin: at its first entry, or anywhere after the one before */
static GpbBound
random_low(const TestIndex *index, uint32 first)
{
	GpbBound	low = index->entry[first].bound;

	if (low.key != index->entry[first - 1].bound.key && test_once_in(2))
		low.tie = 0;
	return low;
}

/*
 * Let a leaf have runs, and as many entries as go in with them, at most "most", of those from its
 * first one on.
 */
static void
cut_runs(const TestIndex *index, TestLeaf *leaf, uint32 most)
{
	int			key_width = index->layout.key_width;
	int			room = GPB_SPECIAL_OFFSET - GPB_PAGE_HEADER - (key_width == 16 ? 16 : 0);

	leaf->runs = true;
	leaf->count = 0;
	while (leaf->count < most && leaf->first + leaf->count < index->nentries)
	{
		if (begins_run(index, leaf, leaf->first + leaf->count))
			room -= key_width + RUN_END;
		room -= RUN_ROW;
		if (room < 0)
			break;
		leaf->count++;
	}
}

static void
cut_leaves(TestIndex *index, const TestShape *shape)
{
	uint32		most = (uint32) gpb_page_capacity(index->layout.key_width,
												  index->layout.row_width);
	/* An index that has no leaf with runs may have kernels of its own. */
	bool		runs = index->layout.row_width == GPB_LOCATOR_WIDTH && !test_once_in(3);
	uint32		first = 0;
	uint32		n = 0;

	if (shape->leaf_entries && shape->leaf_entries < most)
		most = shape->leaf_entries;
	index->leaf = calloc(index->nentries + 1, sizeof(TestLeaf));
	do
	{
		TestLeaf   *leaf = &index->leaf[n++];
		uint32		left = index->nentries - first;

		leaf->first = first;
		leaf->count = test_once_in(4) ? most : (uint32) (most - test_below(most) / 3);
		if (leaf->count > left)
			leaf->count = left;
		if (runs && test_once_in(2))
			cut_runs(index, leaf, shape->leaf_entries ? leaf->count :
					 test_once_in(2) ? UINT32_MAX : 1 + (uint32) test_below(700));
		if (first > 0)
		{
			leaf->low = random_low(index, first);
			leaf[-1].high = leaf->low;
		}
		first += leaf->count;
	} while (first < index->nentries);
	index->nleaves = n;
	index->leaf[n - 1].high = GPB_BOUND_MAX;
}

static void
cut_inner(TestIndex *index, const TestShape *shape)
{
	uint32		most = (uint32) gpb_page_capacity(index->layout.key_width,
												  GPB_INNER_ROW_WIDTH);
	uint32		done = 0;

	if (shape->inner_entries && shape->inner_entries < most)
		most = shape->inner_entries;
	index->inner_block = calloc(index->nleaves, sizeof(uint32));
	index->inner_count = calloc(index->nleaves, sizeof(uint32));
	if (index->nleaves == 1)
		return;
	while (done < index->nleaves)
	{
		uint32		count = 1 + (uint32) test_below(most);

		if (count > index->nleaves - done)
			count = index->nleaves - done;
		index->inner_count[index->ninner++] = count;
		done += count;
	}
}

/* Blocks 1 .. in random order, some never used: pages lie anywhere in the file. */
static void
give_blocks(TestIndex *index, const TestShape *shape)
{
	uint32		used = index->nleaves + index->ninner;
	uint32		n = used + used / 8 + 2;
	uint32	   *number = calloc(n, sizeof(uint32));
	uint32		i;

	for (i = 0; i < n; i++)
		number[i] = i;
	for (i = n - 1; i > 1 && !shape->block_order; i--)
	{
		uint32		j = 1 + (uint32) test_below(i);
		uint32		t = number[i];

		number[i] = number[j];
		number[j] = t;
	}
	for (i = 0; i < index->nleaves; i++)
		index->leaf[i].block = number[1 + i];
	for (i = 0; i < index->ninner; i++)
		index->inner_block[i] = number[1 + index->nleaves + i];
	index->nblocks = n;
	index->spare = number[n - 1];
	free(number);
}

TestIndex *
test_index_create(const TestShape *shape)
{
	TestIndex  *index = calloc(1, sizeof(TestIndex));
	uint32		first = 0;
	uint32		i;

	index->layout = shape->layout;
	make_entries(index, shape);
	cut_leaves(index, shape);
	cut_inner(index, shape);
	give_blocks(index, shape);
	for (i = 0; i < index->nleaves; i++)
	{
		if (shape->empty_leaves && test_once_in(shape->empty_leaves))
			index->leaf[i].count = 0;
	}
	index->pages = calloc(index->nblocks, GPB_PAGE_SIZE);
	for (i = 0; i < index->nleaves; i++)
		test_write_leaf(index, i);
	for (i = 0; i < index->ninner; i++)
	{
		write_inner(index, i, first);
		first += index->inner_count[i];
	}
	return index;
}

void
test_index_free(TestIndex *index)
{
	free(index->entry);
	free(index->leaf);
	free(index->inner_block);
	free(index->inner_count);
	free(index->pages);
	free(index);
}
