/*-------------------------------------------------------------------------
 *
 * search_batch.h
 *	  A batch of searches: its random keys, and holding a device's results to the model's.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_TEST_SEARCH_BATCH_H
#define GPB_TEST_SEARCH_BATCH_H

#include "harness.h"

typedef struct TestBatch
{
	TestMirror *mirror;
	GpbSearchSpec spec;
	GpbKey	   *key[GPB_SEARCH_PIECES];	/* the model's copy */
	char	   *arena;
	size_t		size;
	size_t		used;
	bool		registered;
	struct
	{
		size_t		from;
		size_t		to;
	}			array[GPB_SEARCH_PIECES * 4];
	int			narrays;
} TestBatch;

/* How the keys of a piece lie */
typedef enum TestKeyOrder
{
	TEST_KEYS_RANDOM,
	TEST_KEYS_ASCENDING,
	TEST_KEYS_DESCENDING,
	TEST_KEY_ORDERS
} TestKeyOrder;

/*
 * A batch without pieces, whose arrays lie between guards: room for so many keys in all, in memory
 * that is registered with the device or not.
 */
extern TestBatch *test_batch_create(TestMirror *mirror, GpbSearchBound bound, GpbSearchOrder order,
									size_t most_keys, bool registered);
extern void test_batch_free(TestBatch *batch);
/* Add a piece of n keys that lie as "how" says; are positions wanted? */
extern void test_batch_piece(TestBatch *batch, uint32 n, TestKeyOrder how, bool positions);

extern GpbDeviceStatus test_batch_launch(TestBatch *batch, int channel);
/* Poll until the batch has ended, or "most" times; returns how often. */
extern int	test_batch_poll(int channel, int most);
/* Finish a launched batch, and check it. */
extern void test_batch_finish(TestBatch *batch, int channel);
/* Launch, finish and check a batch on any channel, and free it. */
extern void test_batch_run(TestBatch *batch);

/* Check the results of a batch that has ended, and that nothing beside them was written. */
extern void test_batch_check(const TestBatch *batch);
/* Check that nothing beside the arrays was written. */
extern void test_batch_guards(const TestBatch *batch);

#endif							/* GPB_TEST_SEARCH_BATCH_H */
