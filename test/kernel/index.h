/*-------------------------------------------------------------------------
 *
 * index.h
 *	  An index in memory, as pages and as a model, and what a request over it should give.
 *
 * The model keeps each entry's values as they were before encoding, so that nothing
 * it says depends on the functions under test.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_TEST_INDEX_H
#define GPB_TEST_INDEX_H

#include "device/device.h"

/* ---- randomness, from a seed that is printed ---- */

extern uint64 test_random(void);
extern void test_seed(uint64 seed);

/* In [0, n) */
static inline uint64
test_below(uint64 n)
{
	return test_random() % n;
}

/* True once in n times */
static inline bool
test_once_in(uint64 n)
{
	return test_below(n) == 0;
}

/* ---- entries ---- */

typedef struct TestEntry
{
	GpbBound	bound;			/* normalized key, tie */
	uint32		heap_block;
	uint16		heap_offset;
	bool		dead;			/* carries the hint */
	bool		key_is_null;
	int64		key;			/* the value; of a wide key, the lower half's */
	uint64		upper;			/* the upper half of a wide key's code; else 0 */
	bool		is_null[GPB_MAX_INCLUDE];
	int64		value[GPB_MAX_INCLUDE]; /* sign-extended, or a float8's bits, or the first 8 bytes of
										 * 16 */
	uint64		rest[GPB_MAX_INCLUDE];	/* the last 8 bytes of 16; else 0 */
} TestEntry;

/* One part of the key space, as the inner image has it */
typedef struct TestLeaf
{
	GpbBound	low;
	GpbBound	high;
	uint32		block;
	uint32		first;			/* entries [first, first + count) */
	uint32		count;
	bool		unclean;		/* expected not to be answered by the device */
	bool		runs;			/* its page has runs */
} TestLeaf;

typedef struct TestIndex
{
	GpbLayout	layout;
	TestEntry  *entry;			/* in order */
	uint32		nentries;
	TestLeaf   *leaf;			/* in order */
	uint32		nleaves;
	uint32		ninner;			/* level-1 pages; 0: the leaf is the root */
	uint32	   *inner_block;	/* in order */
	uint32	   *inner_count;
	uint32		nblocks;
	uint32		spare;			/* a block that nothing uses */
	char	   *pages;			/* of all blocks; those unused are zero */
} TestIndex;

/* Row width and offsets for these INCLUDE kinds */
extern GpbLayout test_layout(int key_width, int flags, int ncolumns, const int *kinds);

/*
 * The layout of an index with several key columns that fill its key, and these INCLUDE kinds:
 * random codes for NULL, orders and signs.  All keys are such.
 */
extern GpbLayout test_columns_layout(int key_width, int ncolumns, const int *kinds);

/* Knobs of the generator; zero means a moderate choice. */
typedef struct TestShape
{
	GpbLayout	layout;
	uint32		nentries;
	uint32		leaf_entries;	/* most on a leaf; 0: as fit */
	uint32		inner_entries;	/* most on a level-1 page; 0: as fit */
	uint64		distinct_keys;	/* 0: about as many as entries */
	uint32		heap_blocks;	/* entries point to blocks below this */
	uint32		null_keys;		/* one in so many; 0: none */
	uint32		null_values;
	uint32		dead;			/* carry the hint, one in so many; 0: none */
	uint32		empty_leaves;	/* one in so many; 0: none */
	bool		heap_order;		/* locators ascend with the keys */
	bool		block_order;	/* leaves lie in order of their keys */
	int64		(*value) (int column, uint32 i);	/* NULL if values are random */
} TestShape;

extern TestIndex *test_index_create(const TestShape *shape);
extern void test_index_free(TestIndex *index);

static inline char *
test_page(const TestIndex *index, uint32 block)
{
	return index->pages + (size_t) block * GPB_PAGE_SIZE;
}

/* Write a leaf of the model as its page.  right: GPB_NO_BLOCK if rightmost. */
extern void test_write_leaf(TestIndex *index, uint32 i);

/* Cut leaf i in two as a split does before its parent knows. */
extern void test_split_unfinished(TestIndex *index, uint32 i, uint32 new_block);

/* ---- what a request should give ---- */

/* All that a finished request has, as the device interface lays it out */
typedef struct TestExpected
{
	uint64		leaves;
	int			words;			/* 64-bit words of an answer */
	uint64		nanswers;
	int64	   *answers;
	uint64		npieces;
	GpbPiece   *pieces;
	uint64		nentries;
	char	   *entries;		/* records, in the order of a list */
	uint64		room_pieces;
	uint64		room_entries;
	bool		fault;			/* a step faults, and nothing else counts */
	int			group_width;
	uint64		ngroups;
	char	   *groups;			/* GpbGroup records, in any order */
	uint64		room_groups;
} TestExpected;

/* What a request over the index should give; visible has bits as the visibility map has them. */
extern TestExpected *test_expect(const TestIndex *index, const GpbRangesSpec *spec,
								 const void *ranges, const uint8 *visible);
extern void test_expected_free(TestExpected *expected);

/* Has the request a program with steps, terms or groups? */
extern bool test_has_program(const GpbRangesSpec *spec);
/* test_expect() for such a request: what the others expect, and the program entry by entry */
extern TestExpected *test_expect_program(const TestIndex *index, const GpbRangesSpec *spec,
										 const void *ranges, const uint8 *visible);

/* Bytes of a range of that form; of an answer; of a record, on an index of that layout */
extern int	test_range_width(const GpbRangesSpec *spec);
extern int	test_answer_width(const GpbProgram *program);
extern int	test_entry_width(const GpbLayout *layout);

/* Row bytes of an entry, as on its leaf */
extern void test_row(const TestIndex *index, uint32 i, char *row);

#endif							/* GPB_TEST_INDEX_H */
