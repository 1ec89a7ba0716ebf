/*-------------------------------------------------------------------------
 *
 * harness.c
 *	  Driving a device through its interface and holding it to the model.
 *
 *-------------------------------------------------------------------------
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "harness.h"

TestDevice	test_device;
int			test_variant;
bool		(*test_choose_variant) (GpbDevice *, int);
void	   *test_library;
bool		test_emulated;
bool		test_maps;
int			test_failures;

void
test_fail(const char *file, int line, const char *format, ...)
{
	va_list		args;

	if (++test_failures > 5)
		return;
	printf("  %s:%d: ", file, line);
	va_start(args, format);
	vprintf(format, args);
	va_end(args);
	printf("\n");
	fflush(stdout);
}

/* ---- the device ---- */

void
test_open(TestDevice *device, const GpbDeviceApi *api, uint64 memory_limit)
{
	const char *message = "";

	device->api = api;
	test_maps = memory_limit == 0;
	if (api->open(0, memory_limit, TEST_CHANNELS, &device->device, &message) != GPB_DEVICE_OK)
	{
		printf("cannot open device \"%s\": %s\n", api->name, message);
		printf("0 passed, 1 failed\n");
		exit(1);
	}
	if (posix_memalign((void **) &device->staging, 4096, TEST_REGION) != 0)
		abort();
	if (api->register_region(device->device, device->staging, TEST_REGION) != GPB_DEVICE_OK)
		printf("note: memory could not be registered: %s\n", api->last_error(device->device));
	if (test_choose_variant != NULL)
		test_choose_variant(device->device, test_variant);
}

void
test_close(TestDevice *device)
{
	test_requests_end();
	device->api->close(device->device);
	free(device->staging);
	device->device = NULL;
}

/* ---- an index on the device ---- */

GpbDeviceStatus
test_upload(TestMirror *mirror, const uint32 *blocks, uint32 n, uint64 epoch)
{
	uint32		most = TEST_STAGING / GPB_PAGE_SIZE;
	uint32		done;

	for (done = 0; done < n; done += most)
	{
		uint32		part = n - done < most ? n - done : most;
		GpbDeviceStatus status;
		uint32		i;

		for (i = 0; i < part; i++)
			memcpy(test_device.staging + (size_t) i * GPB_PAGE_SIZE,
				   test_page(mirror->index, blocks[done + i]), GPB_PAGE_SIZE);
		status = test_device.api->upload(test_device.device, mirror->mirror, (int) part,
										 blocks + done, test_device.staging, epoch);
		if (status != GPB_DEVICE_OK)
			return status;
		status = test_device.api->upload_wait(test_device.device);
		if (status != GPB_DEVICE_OK)
			return status;
		/* the source may be reused now: make it useless */
		memset(test_device.staging, 0x77, (size_t) part * GPB_PAGE_SIZE);
	}
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
test_set_inner(TestMirror *mirror)
{
	const TestIndex *index = mirror->index;

	return test_device.api->set_inner(test_device.device, mirror->mirror, index->ninner,
									  index->inner_block, index->inner_count,
									  index->leaf[0].block);
}

TestMirror *
test_mirror_create(const TestShape *shape)
{
	TestMirror *mirror = calloc(1, sizeof(TestMirror));
	uint32		heap_blocks = shape->heap_blocks ? shape->heap_blocks : 1000;

	mirror->index = test_index_create(shape);
	mirror->nblocks = mirror->index->nblocks;
	mirror->changed = calloc(mirror->nblocks / 32 + 2, sizeof(uint32));
	if (shape->heap_order)
		heap_blocks = mirror->index->nentries / 100 + 1;
	mirror->heap_blocks = heap_blocks;
	mirror->visible = malloc(heap_blocks / 4 + 1);
	mirror->epoch = 10;
	test_all_visible(mirror, true);
	CHECK_OK(test_device.api->mirror_create(test_device.device, &mirror->index->layout,
											&mirror->mirror));
	return mirror;
}

void
test_mirror_fill(TestMirror *mirror, bool in_order)
{
	uint32		n = mirror->nblocks;
	uint32	   *blocks = calloc(n, sizeof(uint32));
	uint32		i;

	for (i = 0; i < n; i++)
		blocks[i] = i;
	for (i = n - 1; i > 0 && !in_order; i--)
	{
		uint32		j = (uint32) test_below(i + 1);
		uint32		t = blocks[i];

		blocks[i] = blocks[j];
		blocks[j] = t;
	}
	CHECK_OK(test_upload(mirror, blocks, n, mirror->epoch));
	CHECK_OK(test_set_inner(mirror));
	free(blocks);
}

void
test_mirror_free(TestMirror *mirror)
{
	test_device.api->mirror_destroy(test_device.device, mirror->mirror);
	test_index_free(mirror->index);
	free(mirror->changed);
	free(mirror->visible);
	free(mirror);
}

/* ---- maps ---- */

void
test_all_visible(TestMirror *mirror, bool visible)
{
	memset(mirror->visible, visible ? 0x55 : 0xAA, mirror->heap_blocks / 4 + 1);
}

/* One heap block in so many is not all-visible; "all frozen" bits are noise. */
void
test_random_visible(TestMirror *mirror, uint64 one_in)
{
	uint32		b;

	for (b = 0; b <= mirror->heap_blocks / 4; b++)
		mirror->visible[b] = (uint8) (0x55 | (test_random() & 0xAA));
	for (b = 0; b < mirror->heap_blocks; b++)
	{
		if (test_once_in(one_in))
			mirror->visible[b / 4] &= (uint8) ~(1 << (b % 4 * 2));
	}
}

void
test_mark_changed(TestMirror *mirror, uint32 block)
{
	mirror->changed[block / 32] |= (uint32) 1 << (block % 32);
}

void
test_change_leaf(TestMirror *mirror, uint64 i)
{
	mirror->index->leaf[i].unclean = true;
	test_mark_changed(mirror, mirror->index->leaf[i].block);
}

void
test_change_leaves(TestMirror *mirror, uint64 one_in)
{
	uint32		i;

	for (i = 0; i < mirror->index->nleaves; i++)
	{
		if (test_once_in(one_in))
			test_change_leaf(mirror, i);
	}
}

void
test_newer_images(TestMirror *mirror)
{
	TestIndex  *index = mirror->index;
	uint32		i;

	for (i = 0; i < index->nleaves; i++)
	{
		index->leaf[i].unclean = test_once_in(3);
		if (index->leaf[i].unclean)
			CHECK_OK(test_upload(mirror, &index->leaf[i].block, 1, mirror->epoch + 1));
	}
}

void
test_next_epoch(TestMirror *mirror)
{
	uint32		i;

	for (i = 0; i < mirror->index->nleaves; i++)
		mirror->index->leaf[i].unclean = false;
	mirror->epoch++;
}

void
test_split_leaves(TestIndex *index)
{
	uint32		i;

	for (i = 0; i < index->nleaves; i++)
	{
		if (index->leaf[i].count < 2 || (i != index->nleaves - 1 && !test_once_in(4)))
			continue;
		index->leaf[i].unclean = true;
		test_split_unfinished(index, i, index->spare);
	}
}
