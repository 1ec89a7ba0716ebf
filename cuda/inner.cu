/*-------------------------------------------------------------------------
 *
 * inner.cu
 *	  The inner image: the separators of all level-1 pages as sorted arrays.
 *
 * Written in place: the stream puts the writing after every launched aggregate
 * (rule M3), and a request that fails for want of memory fails before it.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "device.cuh"

/* ---- kernels ---- */

/* The arrays that GpbSeparators shows, for writing */
struct GpbSeparatorsOut
{
	uint64	   *key;
	uint64	   *tie;
	uint32	   *child;
};

/*
 * Block p of the grid: the entries of level-1 page p to separators start[p] .. start[p +
 * 1] - 1.  The first of all counts as (0, 0): the leftmost page is below everything.
 */
static __global__ void __launch_bounds__(128)
flatten(GpbImages images, const uint32 *block, const uint32 *start, int key_width,
		GpbSeparatorsOut out)
{
	uint32		number = block[blockIdx.x];
	uint32		first = start[blockIdx.x];
	uint32		count = start[blockIdx.x + 1] - first;
	const char *page = images.chunk[number / GPB_CHUNK_PAGES].page +
		(size_t) (number % GPB_CHUNK_PAGES) * GPB_PAGE_SIZE;
	uint32		i;

	for (i = threadIdx.x; i < count; i += blockDim.x)
	{
		GpbBound	bound = gpb_page_bound(page, key_width, GPB_INNER_ROW_WIDTH, (int) i);
		bool		lowest = first + i == 0;

		out.key[first + i] = lowest ? 0 : bound.key;
		out.tie[first + i] = lowest ? 0 : bound.tie;
		out.child[first + i] =
			gpb_row_child(gpb_page_row(page, GPB_INNER_ROW_WIDTH, (int) i));
	}
}

/* An index that is one leaf */
static __global__ void
set_root_leaf(GpbSeparatorsOut out, uint32 leaf)
{
	out.key[0] = 0;
	out.tie[0] = 0;
	out.child[0] = leaf;
}

/* ---- host ---- */

static GpbSeparatorsOut
separators_out(const GpbDeviceMirror *mirror)
{
	GpbSeparatorsOut out;

	out.key = (uint64 *) mirror->inner.data;
	out.tie = out.key + mirror->inner_capacity;
	out.child = (uint32 *) (out.tie + mirror->inner_capacity);
	return out;
}

GpbSeparators
gpb_mirror_separators(const GpbDeviceMirror *mirror)
{
	GpbSeparatorsOut out = separators_out(mirror);
	GpbSeparators separators;

	separators.key = out.key;
	separators.tie = out.tie;
	separators.child = out.child;
	separators.n = mirror->nseparators;
	return separators;
}

/* Room for n separators.  The old ones stay if there is none. */
static GpbDeviceStatus
reserve_separators(GpbDevice *device, GpbDeviceMirror *mirror, uint32 n)
{
	GpbBuffer	larger;
	uint32		capacity;

	if (n <= mirror->inner_capacity)
		return GPB_DEVICE_OK;
	capacity = n + n / 4 + 64;
	larger.size = capacity * (2 * sizeof(uint64) + sizeof(uint32));
	GPB_TRY(gpb_device_alloc(device, larger.size, &larger.data));
	mirror->bytes += larger.size - mirror->inner.size;
	gpb_buffer_free(device, &mirror->inner);
	mirror->inner = larger;
	mirror->inner_capacity = capacity;
	mirror->nseparators = 0;
	return GPB_DEVICE_OK;
}

/*
 * Where each page's separators begin, and their number as the last; false: a page has
 * no image or more entries than fit one, and the device would read elsewhere.
 */
static bool
lay_out(const GpbDeviceMirror *mirror, uint32 nblocks, const uint32 *blocks,
		const uint32 *counts, uint32 *start)
{
	uint64		total = 0;
	uint32		most = gpb_page_capacity(mirror->layout.key_width, GPB_INNER_ROW_WIDTH);
	uint32		i;

	for (i = 0; i < nblocks; i++)
	{
		if (!gpb_mirror_has_image(mirror, blocks[i]) || counts[i] > most)
			return false;
		start[i] = (uint32) total;
		total += counts[i];
	}
	start[nblocks] = (uint32) total;
	return total > 0 && total < GPB_NO_BLOCK;
}

/* list: nblocks block numbers, then their starts and the end. */
static GpbDeviceStatus
flatten_pages(GpbDevice *device, GpbDeviceMirror *mirror, uint32 nblocks, const uint32 *list)
{
	size_t		bytes = (2 * (size_t) nblocks + 1) * sizeof(uint32);
	uint32		total = list[2 * (size_t) nblocks];
	const uint32 *places;

	GPB_TRY(gpb_buffer_reserve(device, &device->scratch, bytes));
	GPB_TRY(reserve_separators(device, mirror, total));
	places = (const uint32 *) device->scratch.data;
	/* from pageable memory: list may be freed as soon as this returns */
	GPB_TRY_CUDA(device, cudaMemcpyAsync(device->scratch.data, list, bytes,
										 cudaMemcpyHostToDevice, device->stream));
	GPB_TRY(gpb_launch(device, "flatten", nblocks, 128, flatten,
					   gpb_mirror_images(mirror), places, places + nblocks,
					   (int) mirror->layout.key_width, separators_out(mirror)));
	mirror->nseparators = total;
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
set_one_leaf(GpbDevice *device, GpbDeviceMirror *mirror, uint32 leaf)
{
	GPB_TRY(reserve_separators(device, mirror, 1));
	GPB_TRY(gpb_launch(device, "set_root_leaf", 1, 1, set_root_leaf,
					   separators_out(mirror), leaf));
	mirror->nseparators = 1;
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
gpb_cuda_set_inner(GpbDevice *device, GpbDeviceMirror *mirror, uint32 nblocks,
				   const uint32 *blocks, const uint32 *counts, uint32 root_leaf)
{
	GpbDeviceStatus status;
	uint32	   *list;

	GPB_ENTER(device);
	GPB_TRY(gpb_writer_begin(device));
	if (nblocks == 0)
	{
		GPB_TRY(set_one_leaf(device, mirror, root_leaf));
		return gpb_writer_end(device);
	}

	list = (uint32 *) malloc((2 * (size_t) nblocks + 1) * sizeof(uint32));
	if (list == NULL)
		return gpb_refuse(device, "out of memory");
	memcpy(list, blocks, nblocks * sizeof(uint32));
	if (lay_out(mirror, nblocks, blocks, counts, list + nblocks))
		status = flatten_pages(device, mirror, nblocks, list);
	else
		status = gpb_refuse(device, "inner page without an image, or of impossible size");
	free(list);
	GPB_TRY(status);
	return gpb_writer_end(device);
}
