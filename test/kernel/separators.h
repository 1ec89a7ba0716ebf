/*-------------------------------------------------------------------------
 *
 * separators.h
 *	  Level-1 pages made by hand, and a model of the tree over their separators.
 *
 * An index of the generator (index.h) has the separators that its leaves give it.
 * Here there are no leaves: pages hold what separators a test wants, with keys of 4,
 * 8 or 16 bytes, and change as a test wants.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_TEST_SEPARATORS_H
#define GPB_TEST_SEPARATORS_H

#include "harness.h"

typedef unsigned __int128 TestKey;

#define TEST_INNER_PAGES	256	/* most in one tree */

typedef struct TestSeparator
{
	TestKey		key;
	uint64		tie;
	uint32		child;			/* no two separators of a tree have the same */
} TestSeparator;

typedef struct TestInnerPage
{
	uint32		block;
	uint32		count;
	TestSeparator *separator;	/* room for as many as fit a page */
} TestInnerPage;

/* Where the keys of a tree lie */
typedef enum TestKeySpread
{
	TEST_SPREAD_WHOLE,			/* all over the width */
	TEST_SPREAD_MIDDLE,			/* a narrow range with room on either side */
	TEST_SPREAD_SIGN,			/* a narrow range around 2^(bits - 1) */
	TEST_SPREAD_ENDS,			/* beside 0 and beside all ones */
	TEST_SPREAD_EQUAL,			/* one key */
	TEST_SPREADS
} TestKeySpread;

typedef struct TestTree
{
	int			width;			/* of keys */
	uint32		capacity;		/* separators of a page */
	GpbDeviceMirror *mirror;
	uint64		epoch;
	TestKeySpread spread;
	bool		low_blocks;		/* pages take the lowest block there is, not any */

	/* as the index is */
	uint32		npages;			/* 0: the leaf root_leaf is all */
	TestInnerPage page[TEST_INNER_PAGES];
	uint32		root_leaf;
	uint32		next_child;

	/* The inner image as the device has it */
	char	   *image[TEST_INNER_PAGES * 2];	/* by block; NULL if it has no image, or an unknown
												 * one */
	uint32		n;				/* separators of the last set_inner that succeeded */
	TestSeparator *flat;
} TestTree;

/* The widths of keys, 0 after the last */
extern const int test_key_widths[];

extern TestKey test_key_max(int width);
extern TestKey test_random_key(int width);

/* A tree with no pages, not yet on the device */
extern TestTree *test_tree_create(int width, TestKeySpread spread);
extern void test_tree_free(TestTree *tree);

/* Other pages: so many separators in all, up to per_page (0: as fit) on each. */
extern void test_tree_fill(TestTree *tree, uint32 total, uint32 per_page);
extern uint32 test_tree_total(const TestTree *tree);

/* Other separators between those of the neighbours, "count" of them */
extern void test_page_redraw(TestTree *tree, uint32 p, uint32 count);
extern void test_page_split(TestTree *tree, uint32 p);
extern void test_page_remove(TestTree *tree, uint32 p);

/*
 * Upload what differs from the device's images, and set_inner.  If either fails the model of
 * what the device has stays as it was.
 */
extern GpbDeviceStatus test_tree_sync(TestTree *tree);
extern GpbDeviceStatus test_tree_upload(TestTree *tree);
/* The page's bytes, as test_tree_upload sends them */
extern void test_tree_write_page(const TestTree *tree, uint32 p, char *page);

/* Which separator the search for the key leads to */
extern uint32 test_tree_find(const TestTree *tree, GpbSearchBound bound, TestKey key);

/* Keys in an array as devices take it, little-endian */
static inline void
test_put_key(void *keys, int width, uint32 i, TestKey key)
{
	memcpy((char *) keys + (size_t) i * width, &key, width);
}

static inline TestKey
test_get_key(const void *keys, int width, uint32 i)
{
	TestKey		key = 0;

	memcpy(&key, (const char *) keys + (size_t) i * width, width);
	return key;
}

#endif							/* GPB_TEST_SEPARATORS_H */
