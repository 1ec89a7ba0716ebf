/*-------------------------------------------------------------------------
 *
 * separators.c
 *	  Level-1 pages made by hand, and a model of the tree over their separators.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>

#include "separators.h"

/* ---- keys ---- */

const int	test_key_widths[] = {4, 8, 16, 0};

TestKey
test_key_max(int width)
{
	return ~(TestKey) 0 >> (128 - 8 * width);
}

TestKey
test_random_key(int width)
{
	return ((TestKey) test_random() << 64 | test_random()) & test_key_max(width);
}

/* Bounds of the keys of a tree */
static void
spread_limits(const TestTree *tree, TestKey *low, TestKey *high)
{
	TestKey		half = test_key_max(tree->width) / 2 + 1;

	*low = 0;
	*high = test_key_max(tree->width);
	switch (tree->spread)
	{
		case TEST_SPREAD_MIDDLE:
			*low = half / 2 + 12345;
			*high = *low + 100000;
			break;
		case TEST_SPREAD_SIGN:
			*low = half - 30000;
			*high = half + 30000;
			break;
		case TEST_SPREAD_EQUAL:
			*low = *high = half / 3;
			break;
		default:
			break;
	}
}

static TestKey
draw_key(const TestTree *tree, TestKey low, TestKey high)
{
	TestKey		range = high - low;
	TestKey		key = test_random_key(tree->width);

	if (tree->spread == TEST_SPREAD_ENDS)
	{
		key = test_below(40);
		if (test_once_in(2))
			key = test_key_max(tree->width) - key;
		return key < low ? low : key > high ? high : key;
	}
	return range == test_key_max(tree->width) ? key : low + key % (range + 1);
}

/* ---- pages ---- */

static int
compare_separators(const void *a, const void *b)
{
	const TestSeparator *x = a;
	const TestSeparator *y = b;

	if (x->key != y->key)
		return x->key < y->key ? -1 : 1;
	return x->tie < y->tie ? -1 : x->tie > y->tie;
}

static uint32
unused_block(const TestTree *tree)
{
	uint32		lowest = 0;

	for (;;)
	{
		uint32		block = tree->low_blocks ? lowest++ :
			(uint32) test_below(2 * TEST_INNER_PAGES);
		uint32		p = 0;

		while (p < tree->npages && tree->page[p].block != block)
			p++;
		if (p == tree->npages)
			return block;
	}
}

/* A page without separators at place p */
static void
insert_page(TestTree *tree, uint32 p)
{
	TestInnerPage *page = &tree->page[p];
	uint32		block = unused_block(tree);

	if (tree->npages == TEST_INNER_PAGES)
		abort();
	memmove(page + 1, page, (tree->npages - p) * sizeof(TestInnerPage));
	tree->npages++;
	page->block = block;
	page->count = 0;
	page->separator = calloc(tree->capacity, sizeof(TestSeparator));
}

void
test_page_remove(TestTree *tree, uint32 p)
{
	free(tree->page[p].separator);
	tree->npages--;
	memmove(&tree->page[p], &tree->page[p + 1], (tree->npages - p) * sizeof(TestInnerPage));
}

static void
draw_separators(TestTree *tree, TestSeparator *separator, uint32 n, TestKey low, TestKey high)
{
	uint32		i;

	for (i = 0; i < n; i++)
	{
		separator[i].key = draw_key(tree, low, high);
		separator[i].tie = test_random() & GPB_TIE_MASK;
		/* some twice: keys that go on from page to page, too */
		if (i > 0 && test_once_in(8))
			separator[i].key = separator[i - 1].key;
		separator[i].child = tree->next_child++;
	}
	qsort(separator, n, sizeof(TestSeparator), compare_separators);
}

void
test_page_redraw(TestTree *tree, uint32 p, uint32 count)
{
	TestInnerPage *page = &tree->page[p];
	TestKey		low;
	TestKey		high;

	spread_limits(tree, &low, &high);
	if (p > 0)
		low = tree->page[p - 1].separator[tree->page[p - 1].count - 1].key;
	if (p + 1 < tree->npages)
		high = tree->page[p + 1].separator[0].key;
	page->count = count;
	draw_separators(tree, page->separator, count, low, high);
}

void
test_page_split(TestTree *tree, uint32 p)
{
	uint32		keep = tree->page[p].count / 2;
	TestInnerPage *right;

	if (keep == 0)
		return;
	insert_page(tree, p + 1);
	right = &tree->page[p + 1];
	right->count = tree->page[p].count - keep;
	memcpy(right->separator, tree->page[p].separator + keep,
		   right->count * sizeof(TestSeparator));
	tree->page[p].count = keep;
}

uint32
test_tree_total(const TestTree *tree)
{
	uint32		total = 0;
	uint32		p;

	for (p = 0; p < tree->npages; p++)
		total += tree->page[p].count;
	return total;
}

void
test_tree_fill(TestTree *tree, uint32 total, uint32 per_page)
{
	TestSeparator *all = calloc(total + 1, sizeof(TestSeparator));
	TestKey		low;
	TestKey		high;
	uint32		done;
	uint32		n;

	while (tree->npages > 0)
		test_page_remove(tree, tree->npages - 1);
	tree->root_leaf = tree->next_child++;
	spread_limits(tree, &low, &high);
	draw_separators(tree, all, total, low, high);
	for (done = 0; done < total; done += n)
	{
		TestInnerPage *page = &tree->page[tree->npages];

		n = per_page == 0 ? tree->capacity : 1 + (uint32) test_below(per_page);
		n = n < total - done ? n : total - done;
		insert_page(tree, tree->npages);
		memcpy(page->separator, all + done, n * sizeof(TestSeparator));
		page->count = n;
	}
	free(all);
}

/* ---- the device ---- */

TestTree *
test_tree_create(int width, TestKeySpread spread)
{
	TestTree   *tree = calloc(1, sizeof(TestTree));
	GpbLayout	layout = test_layout(width, 0, 0, NULL);

	tree->width = width;
	tree->capacity = (uint32) gpb_page_capacity(width, GPB_INNER_ROW_WIDTH);
	tree->spread = spread;
	tree->epoch = 10;
	tree->next_child = 1000;
	tree->flat = calloc(1, sizeof(TestSeparator));
	CHECK_OK(test_device.api->mirror_create(test_device.device, &layout, &tree->mirror));
	return tree;
}

void
test_tree_free(TestTree *tree)
{
	uint32		b;

	if (tree->mirror != NULL)
		test_device.api->mirror_destroy(test_device.device, tree->mirror);
	while (tree->npages > 0)
		test_page_remove(tree, tree->npages - 1);
	for (b = 0; b < 2 * TEST_INNER_PAGES; b++)
		free(tree->image[b]);
	free(tree->flat);
	free(tree);
}

void
test_tree_write_page(const TestTree *tree, uint32 p, char *page)
{
	const TestInnerPage *inner = &tree->page[p];
	uint32		i;

	memset(page, 0xDB, GPB_PAGE_SIZE);	/* garbage where nothing is said to be */
	for (i = 0; i < inner->count; i++)
	{
		const TestSeparator *separator = &inner->separator[i];
		char	   *row = page + GPB_SPECIAL_OFFSET - ((int) i + 1) * GPB_INNER_ROW_WIDTH;
		/* flags that are no part of the order */
		uint64		locator = separator->tie | GPB_LOC_DEAD;

		test_put_key(page + gpb_key_place(tree->width, 0), tree->width, i, separator->key);
		memcpy(row, &locator, sizeof(locator));
		memcpy(row + GPB_LOCATOR_WIDTH, &separator->child, sizeof(uint32));
	}
}

GpbDeviceStatus
test_tree_upload(TestTree *tree)
{
	uint32		p;

	tree->epoch++;
	for (p = 0; p < tree->npages; p++)
	{
		uint32		block = tree->page[p].block;
		char	   *page = malloc(GPB_PAGE_SIZE);
		GpbDeviceStatus status;

		test_tree_write_page(tree, p, page);
		if (tree->image[block] != NULL && memcmp(tree->image[block], page, GPB_PAGE_SIZE) == 0)
		{
			free(page);
			continue;
		}
		free(tree->image[block]);
		tree->image[block] = NULL;
		status = test_device.api->upload(test_device.device, tree->mirror, 1, &block, page,
										 tree->epoch);
		if (status == GPB_DEVICE_OK)
			status = test_device.api->upload_wait(test_device.device);
		if (status != GPB_DEVICE_OK)
		{
			free(page);
			return status;
		}
		tree->image[block] = page;
	}
	return GPB_DEVICE_OK;
}

/* What the device has now */
static void
flatten(TestTree *tree)
{
	uint32		p;

	free(tree->flat);
	tree->flat = calloc(test_tree_total(tree) + 1, sizeof(TestSeparator));
	tree->n = 0;
	for (p = 0; p < tree->npages; p++)
	{
		memcpy(tree->flat + tree->n, tree->page[p].separator,
			   tree->page[p].count * sizeof(TestSeparator));
		tree->n += tree->page[p].count;
	}
	if (tree->npages == 0)
	{
		tree->n = 1;
		tree->flat[0].child = tree->root_leaf;
	}
	/* the leftmost leaf is below everything */
	tree->flat[0].key = 0;
	tree->flat[0].tie = 0;
}

GpbDeviceStatus
test_tree_sync(TestTree *tree)
{
	uint32		blocks[TEST_INNER_PAGES];
	uint32		counts[TEST_INNER_PAGES];
	GpbDeviceStatus status = test_tree_upload(tree);
	uint32		p;

	if (status != GPB_DEVICE_OK)
		return status;
	for (p = 0; p < tree->npages; p++)
	{
		blocks[p] = tree->page[p].block;
		counts[p] = tree->page[p].count;
	}
	status = test_device.api->set_inner(test_device.device, tree->mirror, tree->npages, blocks,
										counts, tree->root_leaf);
	memset(blocks, 0x77, sizeof(blocks));
	memset(counts, 0x77, sizeof(counts));
	if (status == GPB_DEVICE_OK)
		flatten(tree);
	return status;
}

uint32
test_tree_find(const TestTree *tree, GpbSearchBound bound, TestKey key)
{
	uint32		lo = 0;
	uint32		hi = tree->n;

	while (hi - lo > 1)
	{
		uint32		mid = (lo + hi) / 2;
		TestKey		there = tree->flat[mid].key;

		if (there < key || (bound == GPB_SEARCH_UPPER && there == key))
			lo = mid;
		else
			hi = mid;
	}
	return lo;
}
