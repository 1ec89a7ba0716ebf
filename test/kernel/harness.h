/*-------------------------------------------------------------------------
 *
 * harness.h
 *	  Driving a device through its interface and holding it to the model.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_TEST_HARNESS_H
#define GPB_TEST_HARNESS_H

#include "index.h"

#define TEST_CHANNELS	32
#define TEST_STAGING	((size_t) 16 << 20)	/* for uploads */
#define TEST_SLOT		((size_t) 256 << 10)	/* of a channel, for ranges and answers */
#define TEST_REGION		(TEST_STAGING + TEST_CHANNELS * TEST_SLOT)

/* The device under test; one for the whole run, another where a test says so */
typedef struct TestDevice
{
	const GpbDeviceApi *api;
	GpbDevice  *device;
	char	   *staging;		/* registered, TEST_REGION bytes */
} TestDevice;

extern TestDevice test_device;
extern int	test_variant;		/* of the leaf kernels */
extern bool (*test_choose_variant) (GpbDevice *, int);
extern void *test_library;		/* the device's, for dlsym; NULL for the host */
extern bool test_maps;			/* visibility bits may come in maps: memory is not scarce */
extern bool test_emulated;		/* threads are fibers: large batches take too long */

extern void test_open(TestDevice *device, const GpbDeviceApi *api, uint64 memory_limit);
extern void test_close(TestDevice *device);

/* ---- verdicts: the first few failures of a test are printed ---- */

extern void test_fail(const char *file, int line, const char *format, ...)
	__attribute__((format(printf, 3, 4)));
extern int	test_failures;

#define CHECK(condition, ...) \
	do { \
		if (!(condition)) \
			test_fail(__FILE__, __LINE__, __VA_ARGS__); \
	} while (0)

#define CHECK_OK(call) \
	do { \
		GpbDeviceStatus status_ = (call); \
		CHECK(status_ == GPB_DEVICE_OK, "%s: status %d: %s", #call, status_, \
			  test_device.api->last_error(test_device.device)); \
	} while (0)

/* ---- an index on the device ---- */

typedef struct TestMirror
{
	TestIndex  *index;
	GpbDeviceMirror *mirror;
	uint32	   *changed;		/* a bit for each block */
	uint32		nblocks;		/* number of blocks that "changed" covers */
	uint8	   *visible;
	uint32		heap_blocks;
	uint64		epoch;			/* of the uploads so far */
} TestMirror;

/* Image of each listed block, as the index's pages are now. */
extern GpbDeviceStatus test_upload(TestMirror *mirror, const uint32 *blocks, uint32 n,
								   uint64 epoch);
/* All pages but some, in random order or not, and the inner image. */
extern TestMirror *test_mirror_create(const TestShape *shape);
extern void test_mirror_fill(TestMirror *mirror, bool in_order);
extern GpbDeviceStatus test_set_inner(TestMirror *mirror);
extern void test_mirror_free(TestMirror *mirror);

extern void test_all_visible(TestMirror *mirror, bool visible);
extern void test_random_visible(TestMirror *mirror, uint64 one_in);
extern void test_mark_changed(TestMirror *mirror, uint32 block);
/* Leaves that are not clean: leaf i, or one in so many, changed; one in three with a newer image */
extern void test_change_leaf(TestMirror *mirror, uint64 i);
extern void test_change_leaves(TestMirror *mirror, uint64 one_in);
extern void test_newer_images(TestMirror *mirror);
/* To a request of the epoch of these they are clean. */
extern void test_next_epoch(TestMirror *mirror);
/* Before the mirror is filled: some leaves, and the last, are split, which their parents do not know. */
extern void test_split_leaves(TestIndex *index);

/* ---- requests ---- */

/* n ranges in the form of bounds, everything wanted of every column */
extern GpbRangesSpec test_spec(const TestMirror *mirror, uint32 n);
/* Nothing, one thing or several wanted of each column */
extern void test_random_wants(GpbRangesSpec *spec);

/* Everything there is */
extern const GpbNarrowRange test_whole;
/* The range of everything, in the form that a request over the mirror has */
extern const void *test_whole_of(const TestMirror *mirror);
/* Any bounds, the upper before the lower now and then */
extern GpbNarrowRange test_random_range(const TestMirror *mirror);
/* From an entry's key over about so many entries */
extern GpbNarrowKeyRange test_near_keys(const TestMirror *mirror, uint64 entries);
/*
 * As many ranges as the spec says, in its form, mostly of up to so many entries; 0: of any length.
 * Some are empty, some given twice.  To be freed.
 */
extern void *test_random_ranges(const TestMirror *mirror, const GpbRangesSpec *spec,
								uint64 entries);

/*
 * Launch a request with the mirror's maps.  The ranges are copied to memory that the device has
 * until the request is finished: in the registered region or not, the answers to be at the same
 * address or not.
 */
extern GpbDeviceStatus test_launch(TestMirror *mirror, int channel, const GpbRangesSpec *spec,
								   const void *ranges);
/* Launch as test_launch() does, with ranges and answers in memory that the caller names. */
extern GpbDeviceStatus test_launch_at(TestMirror *mirror, int channel, const GpbRangesSpec *spec,
									  const void *ranges, void *answers);
/* Finish what was launched with these arguments, fetch all records, compare with the model. */
extern void test_finish(TestMirror *mirror, int channel, const GpbRangesSpec *spec,
						const void *ranges);
/* Finish a request as test_finish() does, one that was not launched by test_launch(). */
extern void test_finish_at(TestMirror *mirror, int channel, const GpbRangesSpec *spec,
						   const void *ranges, const int64 *answers);
/* Launch and finish. */
extern void test_ask(TestMirror *mirror, int channel, const GpbRangesSpec *spec,
					 const void *ranges);
/* Launch and finish a request that may fail; the status of whichever does. */
extern GpbDeviceStatus test_try(TestMirror *mirror, int channel, const GpbRangesSpec *spec,
								const void *ranges);

/* One range in the form of bounds, everything wanted; the whole index; so many at random */
extern void test_ask_range(TestMirror *mirror, GpbNarrowRange range);
extern void test_ask_whole(TestMirror *mirror);
extern void test_ask_singly(TestMirror *mirror, int n);
/*
 * n ranges of up to so many entries, in every form: answered, listed, and as one total; fewer of
 * these on the emulated device
 */
extern void test_ask_forms(TestMirror *mirror, uint32 n, uint64 entries);

/* All records of a finished request, fetched a part at a time, as the service does; to be freed */
extern void *test_fetch(int channel, GpbFetchWhat what, uint64 n, size_t width);

/* Forget requests that were never finished. */
extern void test_requests_end(void);

/* ---- the shapes of most tests ---- */

/* bigint keys with an int4, nothing odd about them */
extern TestShape test_plain_shape(uint32 nentries);
/* Many small leaves, some empty */
extern TestShape test_small_leaves(uint32 nentries);
/* A mirror with all pages and the inner image */
extern TestMirror *test_filled(const TestShape *shape);

/* ---- the tests ---- */

/* One of the tests that TEST() and TEST_ONCE() define */
typedef struct TestCase
{
	const char *name;
	void		(*run) (void);
	bool		once;
	struct TestCase *next;
} TestCase;

extern void test_register(TestCase *test);

/*
 * The head of a test, a function without arguments.  It is run with each of the ways to read leaves;
 * one that reads no leaf, or reads them in one way only, is run ONCE.
 */
#define TEST(name)		DEFINE_TEST(name, false)
#define TEST_ONCE(name)	DEFINE_TEST(name, true)
#define DEFINE_TEST(name, once) \
	static void name(void); \
	static void __attribute__((constructor)) \
	register_##name(void) \
	{ \
		static TestCase test = {#name, name, once, NULL}; \
		test_register(&test); \
	} \
	static void name(void)

#endif							/* GPB_TEST_HARNESS_H */
