/*-------------------------------------------------------------------------
 *
 * mirror.cu
 *	  Page images on the device, addressed by block number.
 *
 * Images lie in extents of GPB_EXTENT_PAGES.  A directory on the device leads to the extents, so
 * that an index can grow while its images stay where they are.  Each image has a stamp, the epoch
 * of the upload that brought it.  Pages and stamps are written in stream order, the stamp no
 * earlier than its page.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "device.cuh"
#include "tuning.cuh"

#define GPB_EXTENT_BYTES		((size_t) GPB_EXTENT_PAGES * GPB_PAGE_SIZE)
#define GPB_EXTENT_STAMPS	((size_t) GPB_EXTENT_PAGES * sizeof(uint64))
#define GPB_EXTENT_WORDS		(GPB_EXTENT_PAGES / 64)	/* of imaged */
#define GPB_SLAB_EXTENTS		16	/* most extents allocated together */

/* One allocation, of the images of some consecutive extents and their stamps behind them */
struct GpbSlab
{
	void	   *data;
	size_t		size;
	GpbSlab    *next;
};

/* ---- kernels ---- */

/* The blocks that a batch of staged pages are images of */
struct GpbScatter
{
	uint32		block[GPB_SCATTER_PAGES];
};

/* Copy staged pages to their places; block p of the grid does page p. */
static __global__ void __launch_bounds__(256)
scatter_pages(GpbImages images, const __grid_constant__ GpbScatter scatter,
			  const uint4 *staging, uint64 epoch)
{
	uint32		block = scatter.block[blockIdx.x];
	GpbExtent	extent = images.extent[block / GPB_EXTENT_PAGES];
	uint32		at = block % GPB_EXTENT_PAGES;
	uint4	   *into = (uint4 *) (extent.page + (size_t) at * GPB_PAGE_SIZE);
	uint32		words = GPB_PAGE_SIZE / sizeof(uint4);
	uint32		i;

	for (i = threadIdx.x; i < words; i += blockDim.x)
		into[i] = staging[(size_t) blockIdx.x * words + i];
	if (threadIdx.x == 0)
		extent.stamp[at] = epoch;
}

/* Spans of consecutive blocks, each span within one extent */
#define GPB_SPANS	240

struct GpbSpans
{
	uint32		n;
	uint32		first[GPB_SPANS];
	uint32		count[GPB_SPANS];
};

/* Stamp the images of spans of blocks; block r of the grid does span r. */
static __global__ void __launch_bounds__(256)
stamp_spans(GpbImages images, const __grid_constant__ GpbSpans spans, uint64 epoch)
{
	uint32		first = spans.first[blockIdx.x];
	uint64	   *stamp = images.extent[first / GPB_EXTENT_PAGES].stamp + first % GPB_EXTENT_PAGES;
	uint32		i;

	for (i = threadIdx.x; i < spans.count[blockIdx.x]; i += blockDim.x)
		stamp[i] = epoch;
}

/* ---- extents ---- */

GpbDeviceStatus
gpb_cuda_mirror_create(GpbDevice *device, const GpbLayout *layout, GpbDeviceMirror **mirror)
{
	*mirror = NULL;
	GPB_ENTER(device);
	*mirror = (GpbDeviceMirror *) calloc(1, sizeof(GpbDeviceMirror));
	if (*mirror == NULL)
		return gpb_refuse(device, "out of memory");
	(*mirror)->layout = *layout;
	return GPB_DEVICE_OK;
}

/* Make the directory name at least nextents extents. */
static GpbDeviceStatus
grow_directory(GpbDevice *device, GpbDeviceMirror *mirror, uint32 nextents)
{
	GpbBuffer	directory = {NULL, nextents * sizeof(GpbExtent)};
	GpbExtent  *extent;
	uint64	   *imaged;
	uint64	   *fresh;
	uint32		added = nextents - mirror->nextents;
	GpbDeviceStatus status;

	extent = (GpbExtent *) realloc(mirror->extent, nextents * sizeof(GpbExtent));
	if (extent == NULL)
		return gpb_refuse(device, "out of memory");
	mirror->extent = extent;
	imaged = (uint64 *) realloc(mirror->imaged,
								(size_t) nextents * GPB_EXTENT_WORDS * sizeof(uint64));
	if (imaged == NULL)
		return gpb_refuse(device, "out of memory");
	mirror->imaged = imaged;
	fresh = (uint64 *) realloc(mirror->fresh,
							   (size_t) nextents * GPB_EXTENT_WORDS * sizeof(uint64));
	if (fresh == NULL)
		return gpb_refuse(device, "out of memory");
	mirror->fresh = fresh;
	memset(extent + mirror->nextents, 0, added * sizeof(GpbExtent));
	memset(imaged + (size_t) mirror->nextents * GPB_EXTENT_WORDS, 0,
		   (size_t) added * GPB_EXTENT_WORDS * sizeof(uint64));
	memset(fresh + (size_t) mirror->nextents * GPB_EXTENT_WORDS, 0,
		   (size_t) added * GPB_EXTENT_WORDS * sizeof(uint64));

	GPB_TRY(gpb_device_alloc(device, directory.size, &directory.data));
	status = gpb_check(device,
					   cudaMemcpyAsync(directory.data, extent, directory.size,
									   cudaMemcpyHostToDevice, device->stream),
					   "copying the directory");
	if (status != GPB_DEVICE_OK)
	{
		gpb_buffer_free(device, &directory);
		return status;
	}
	mirror->bytes += directory.size - mirror->directory.size;
	gpb_buffer_free(device, &mirror->directory);
	mirror->directory = directory;
	mirror->nextents = nextents;
	return GPB_DEVICE_OK;
}

/* How many consecutive extents from "first" on, at most "most", do not exist yet? */
static uint32
missing_extents(const GpbDeviceMirror *mirror, uint32 first, uint32 most)
{
	uint32		n = 0;

	while (n < most && first + n < mirror->nextents && mirror->extent[first + n].page == NULL)
		n++;
	return n;
}

/* Submit, for n new extents, empty stamps and the directory's part that names them. */
static GpbDeviceStatus
submit_extents(GpbDevice *device, GpbDeviceMirror *mirror, uint32 first, uint32 n)
{
	GPB_TRY_CUDA(device, cudaMemsetAsync(mirror->extent[first].stamp, 0xFF,
										 n * GPB_EXTENT_STAMPS, device->stream));
	return gpb_check(device,
					 cudaMemcpyAsync((GpbExtent *) mirror->directory.data + first,
									 mirror->extent + first, n * sizeof(GpbExtent),
									 cudaMemcpyHostToDevice, device->stream),
					 "copying the directory");
}

/* Allocate n consecutive extents without images.  On failure there is none of them. */
static GpbDeviceStatus
add_slab(GpbDevice *device, GpbDeviceMirror *mirror, uint32 first, uint32 n)
{
	GpbSlab    *slab = (GpbSlab *) malloc(sizeof(GpbSlab));
	GpbDeviceStatus status;
	char	   *stamps;
	uint32		i;

	if (slab == NULL)
		return gpb_refuse(device, "out of memory");
	slab->size = n * (GPB_EXTENT_BYTES + GPB_EXTENT_STAMPS);
	status = gpb_device_alloc(device, slab->size, &slab->data);
	if (status != GPB_DEVICE_OK)
	{
		free(slab);
		return status;
	}
	stamps = (char *) slab->data + n * GPB_EXTENT_BYTES;
	for (i = 0; i < n; i++)
	{
		mirror->extent[first + i].page = (char *) slab->data + i * GPB_EXTENT_BYTES;
		mirror->extent[first + i].stamp = (uint64 *) (stamps + i * GPB_EXTENT_STAMPS);
	}
	status = submit_extents(device, mirror, first, n);
	if (status != GPB_DEVICE_OK)
	{
		memset(&mirror->extent[first], 0, n * sizeof(GpbExtent));
		gpb_device_free(device, slab->data, slab->size);
		free(slab);
		return status;
	}
	slab->next = mirror->slabs;
	mirror->slabs = slab;
	mirror->bytes += slab->size;
	mirror->present += n;
	return GPB_DEVICE_OK;
}

/*
 * See that a block's extent exists.  Once the mirror has several extents they are allocated several
 * at a time, so that loading a large index does not spend its time in cudaMalloc.
 */
static GpbDeviceStatus
make_place(GpbDevice *device, GpbDeviceMirror *mirror, uint32 block)
{
	uint32		extent = block / GPB_EXTENT_PAGES;
	uint32		want = mirror->present < 1 ? 1 :
		mirror->present > GPB_SLAB_EXTENTS ? GPB_SLAB_EXTENTS : mirror->present;
	uint32		n;

	if (extent < mirror->nextents && mirror->extent[extent].page != NULL)
		return GPB_DEVICE_OK;
	if (extent >= mirror->nextents)
		GPB_TRY(grow_directory(device, mirror,
							   extent + extent / 2 + GPB_SLAB_EXTENTS));
	n = missing_extents(mirror, extent, want);
	if (n > 1)
	{
		GpbDeviceStatus status = add_slab(device, mirror, extent, n);

		if (status != GPB_DEVICE_NO_MEMORY)
			return status;
	}
	return add_slab(device, mirror, extent, 1);
}

/* Free the mirror and its images; its tree must have been freed. */
void
gpb_mirror_free(GpbDevice *device, GpbDeviceMirror *mirror)
{
	GpbSlab    *slab;

	while ((slab = mirror->slabs) != NULL)
	{
		mirror->slabs = slab->next;
		gpb_device_free(device, slab->data, slab->size);
		free(slab);
	}
	gpb_buffer_free(device, &mirror->directory);
	free(mirror->extent);
	free(mirror->imaged);
	free(mirror->fresh);
	free(mirror);
}

uint64
gpb_cuda_mirror_bytes(GpbDeviceMirror *mirror)
{
	return mirror->bytes;
}

GpbImages
gpb_mirror_images(const GpbDeviceMirror *mirror)
{
	GpbImages	images;

	images.extent = (const GpbExtent *) mirror->directory.data;
	images.nextents = mirror->nextents;
	return images;
}

bool
gpb_mirror_has_image(const GpbDeviceMirror *mirror, uint32 block)
{
	if (block / GPB_EXTENT_PAGES >= mirror->nextents)
		return false;
	return (mirror->imaged[block / 64] >> (block % 64)) & 1;
}

/* Has the block's image come since the tree took it?  The block must have an image. */
bool
gpb_mirror_is_fresh(const GpbDeviceMirror *mirror, uint32 block)
{
	return (mirror->fresh[block / 64] >> (block % 64)) & 1;
}

void
gpb_mirror_not_fresh(GpbDeviceMirror *mirror, uint32 block)
{
	mirror->fresh[block / 64] &= ~((uint64) 1 << (block % 64));
}

/* Note that n blocks have images, which are newer than the tree. */
static void
note_images(GpbDeviceMirror *mirror, const uint32 *blocks, uint32 n)
{
	uint32		i;

	for (i = 0; i < n; i++)
	{
		uint64		bit = (uint64) 1 << (blocks[i] % 64);

		mirror->imaged[blocks[i] / 64] |= bit;
		mirror->fresh[blocks[i] / 64] |= bit;
	}
}

/* Note whether leaves with runs are among n pages that are about to be uploaded. */
static void
note_runs(GpbDeviceMirror *mirror, const char *pages, uint32 n)
{
	uint32		i;

	if (mirror->layout.row_width != GPB_LOCATOR_WIDTH)
		return;
	for (i = 0; i < n && !mirror->has_runs; i++)
		mirror->has_runs = gpb_page_row_width(pages + (size_t) i * GPB_PAGE_SIZE) ==
			GPB_RUN_ROW_WIDTH;
}

/* ---- upload ---- */

/* The length of the span of consecutive blocks, within one extent, with which the list begins */
static uint32
span_length(const uint32 *blocks, uint32 n)
{
	uint32		length = 1;

	while (length < n && blocks[length] == blocks[0] + length &&
		   blocks[length] % GPB_EXTENT_PAGES != 0)
		length++;
	return length;
}

/* How many pages of the list come before its first long span?  At most a batch is counted. */
static uint32
scattered_length(const uint32 *blocks, uint32 n)
{
	uint32		length = 0;

	while (length < n)
	{
		uint32		span = span_length(blocks + length, n - length);

		if (span >= GPB_SPAN_PAGES)
			break;
		length += span;
	}
	return length < GPB_SCATTER_PAGES ? length : GPB_SCATTER_PAGES;
}

/* Submit the copy of a span of pages straight to its place. */
static GpbDeviceStatus
upload_span(GpbDevice *device, const GpbDeviceMirror *mirror, uint32 block, uint32 n,
			const char *pages)
{
	char	   *into = mirror->extent[block / GPB_EXTENT_PAGES].page +
		(size_t) (block % GPB_EXTENT_PAGES) * GPB_PAGE_SIZE;

	return gpb_check(device,
					 cudaMemcpyAsync(into, pages, (size_t) n * GPB_PAGE_SIZE,
									 cudaMemcpyHostToDevice, device->stream),
					 "copying pages");
}

static GpbDeviceStatus
reserve_staging(GpbDevice *device)
{
	size_t		size = (size_t) GPB_SCATTER_PAGES * GPB_PAGE_SIZE;

	if (device->staging.data == NULL)
		GPB_TRY(gpb_device_alloc(device, size, &device->staging.data));
	device->staging.size = size;
	return GPB_DEVICE_OK;
}

/* Submit the copy of a batch of pages, through staging. */
static GpbDeviceStatus
upload_scattered(GpbDevice *device, const GpbDeviceMirror *mirror, const uint32 *blocks,
				 uint32 n, const char *pages, uint64 epoch)
{
	size_t		bytes = (size_t) n * GPB_PAGE_SIZE;
	GpbScatter	scatter;

	memcpy(scatter.block, blocks, n * sizeof(uint32));
	GPB_TRY_CUDA(device, cudaMemcpyAsync(device->staging.data, pages, bytes,
										 cudaMemcpyHostToDevice, device->stream));
	return gpb_launch(device, "scatter_pages", n, 256, scatter_pages,
					  gpb_mirror_images(mirror), scatter,
					  (const uint4 *) device->staging.data, epoch);
}

/* Submit the stamping of the spans noted so far, and forget them. */
static GpbDeviceStatus
flush_spans(GpbDevice *device, const GpbDeviceMirror *mirror, GpbSpans *spans, uint64 epoch)
{
	uint32		n = spans->n;

	spans->n = 0;
	if (n == 0)
		return GPB_DEVICE_OK;
	return gpb_launch(device, "stamp_spans", n, 256, stamp_spans,
					  gpb_mirror_images(mirror), *spans, epoch);
}

/*
 * Submit the copies of n pages.  Long spans are copied straight to their place.  The pages between
 * them are copied to staging in one transfer, from where a kernel takes them to their places.
 * The list may name a block twice, but not within one such transfer.
 */
static GpbDeviceStatus
upload_pages(GpbDevice *device, GpbDeviceMirror *mirror, uint32 n, const uint32 *blocks,
			 const char *pages, uint64 epoch)
{
	GpbSpans	spans;
	uint32		done = 0;

	spans.n = 0;
	while (done < n)
	{
		const char *from = pages + (size_t) done * GPB_PAGE_SIZE;
		uint32		length = span_length(blocks + done, n - done);

		if (length >= GPB_SPAN_PAGES)
		{
			GPB_TRY(upload_span(device, mirror, blocks[done], length, from));
			spans.first[spans.n] = blocks[done];
			spans.count[spans.n] = length;
			if (++spans.n == GPB_SPANS)
				GPB_TRY(flush_spans(device, mirror, &spans, epoch));
		}
		else
		{
			length = scattered_length(blocks + done, n - done);
			GPB_TRY(upload_scattered(device, mirror, blocks + done, length, from, epoch));
		}
		done += length;
	}
	return flush_spans(device, mirror, &spans, epoch);
}

/* Allocate all memory before anything is copied: an upload that fails here changes no image. */
static GpbDeviceStatus
make_places(GpbDevice *device, GpbDeviceMirror *mirror, uint32 n, const uint32 *blocks)
{
	uint32		i;

	for (i = 0; i < n; i++)
		GPB_TRY(make_place(device, mirror, blocks[i]));
	return reserve_staging(device);
}

GpbDeviceStatus
gpb_cuda_upload(GpbDevice *device, GpbDeviceMirror *mirror, int n, const uint32 *blocks,
				const void *pages, uint64 epoch)
{
	GpbDeviceStatus status;
	GpbDeviceStatus ended;

	GPB_ENTER(device);
	/* a grown directory is written too, even if memory for the pages is wanting after that */
	GPB_TRY(gpb_writer_begin(device));
	status = make_places(device, mirror, (uint32) n, blocks);
	note_runs(mirror, (const char *) pages, (uint32) n);
	if (status == GPB_DEVICE_OK)
		status = upload_pages(device, mirror, (uint32) n, blocks, (const char *) pages, epoch);
	if (status == GPB_DEVICE_OK)
		note_images(mirror, blocks, (uint32) n);
	ended = gpb_writer_end(device);
	return status != GPB_DEVICE_OK ? status : ended;
}

GpbDeviceStatus
gpb_cuda_upload_wait(GpbDevice *device)
{
	GPB_ENTER(device);
	return gpb_check(device, cudaEventSynchronize(device->uploaded), "waiting for an upload");
}
