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
#define TEST_STAGING	((size_t) 16 << 20)

/* The device under test; one for the whole run, another where a test says so */
typedef struct TestDevice
{
	const GpbDeviceApi *api;
	GpbDevice  *device;
	char	   *staging;		/* registered, TEST_STAGING bytes */
} TestDevice;

extern TestDevice test_device;
extern int	test_variant;		/* of the leaf kernels */
extern bool (*test_choose_variant) (GpbDevice *, int);
extern void *test_library;		/* the device's, for dlsym; NULL for the host */
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
	uint32		nblocks;		/* that changed covers */
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

/* Everything, wanted in every way, all visible as the mirror has it. */
extern GpbAggregateSpec test_spec(const TestMirror *mirror);
extern GpbRange test_range(const TestMirror *mirror);	/* a random one */
extern void test_all_visible(TestMirror *mirror, bool visible);
extern void test_random_visible(TestMirror *mirror, uint64 one_in);
extern void test_mark_changed(TestMirror *mirror, uint32 block);

/* Launch; finish, fetch all lists and compare with the model; or both. */
extern GpbDeviceStatus test_launch(TestMirror *mirror, int channel,
								   const GpbAggregateSpec *spec);
extern void test_finish(TestMirror *mirror, int channel, const GpbAggregateSpec *spec);
extern void test_aggregate(TestMirror *mirror, int channel, const GpbAggregateSpec *spec);

/* ---- the tests ---- */

typedef struct TestCase
{
	const char *name;
	void		(*run) (void);
} TestCase;

extern const TestCase test_cases[];
extern const int test_ncases;
extern const TestCase test_search_cases[];	/* of a device that searches */
extern const int test_nsearch_cases;
extern const TestCase test_tree_cases[];	/* likewise */
extern const int test_ntree_cases;
extern const TestCase test_ways_cases[];
extern const int test_nways_cases;
extern const TestCase test_failures_cases[];
extern const int test_nfailures_cases;
extern const TestCase test_ranges_cases[];	/* of a device that answers ranges */
extern const int test_nranges_cases;

#endif							/* GPB_TEST_HARNESS_H */
