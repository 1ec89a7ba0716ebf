/*-------------------------------------------------------------------------
 *
 * mirror.cu
 *	  Page images on the device, addressed by block number.
 *
 * Images lie in chunks of GPB_CHUNK_PAGES; a directory on the device leads to them, so
 * that an index can grow without its images being moved.  Each image has a stamp,
 * the epoch of the upload that brought it.  Pages and stamps are written in stream
 * order, the stamp no earlier than its page.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "device.cuh"
#include "tuning.cuh"

#define GPB_CHUNK_BYTES		((size_t) GPB_CHUNK_PAGES * GPB_PAGE_SIZE)
#define GPB_CHUNK_STAMPS	((size_t) GPB_CHUNK_PAGES * sizeof(uint64))
#define GPB_CHUNK_WORDS		(GPB_CHUNK_PAGES / 64)	/* of imaged */
#define GPB_SLAB_CHUNKS		16	/* most chunks allocated together */

/* One allocation: the images of some consecutive chunks, then their stamps */
struct GpbSlab
{
	void	   *data;
	size_t		size;
	GpbSlab    *next;
};

/* ---- kernels ---- */

/* Where a batch of pages belongs */
struct GpbScatter
{
	uint32		block[GPB_SCATTER_PAGES];
};

/* Copy staged page b to its place, by block b of the grid. */
static __global__ void __launch_bounds__(256)
scatter_pages(GpbImages images, const __grid_constant__ GpbScatter scatter,
			  const uint4 *staging, uint64 epoch)
{
	uint32		block = scatter.block[blockIdx.x];
	GpbChunk	chunk = images.chunk[block / GPB_CHUNK_PAGES];
	uint32		at = block % GPB_CHUNK_PAGES;
	uint4	   *into = (uint4 *) (chunk.page + (size_t) at * GPB_PAGE_SIZE);
	uint32		words = GPB_PAGE_SIZE / sizeof(uint4);
	uint32		i;

	for (i = threadIdx.x; i < words; i += blockDim.x)
		into[i] = staging[(size_t) blockIdx.x * words + i];
	if (threadIdx.x == 0)
		chunk.stamp[at] = epoch;
}

/* Runs of consecutive blocks within a chunk each */
#define GPB_RUNS	240

struct GpbRuns
{
	uint32		n;
	uint32		first[GPB_RUNS];
	uint32		count[GPB_RUNS];
};

/* Stamp run r, by block r of the grid. */
static __global__ void __launch_bounds__(256)
stamp_runs(GpbImages images, const __grid_constant__ GpbRuns runs, uint64 epoch)
{
	uint32		first = runs.first[blockIdx.x];
	uint64	   *stamp = images.chunk[first / GPB_CHUNK_PAGES].stamp + first % GPB_CHUNK_PAGES;
	uint32		i;

	for (i = threadIdx.x; i < runs.count[blockIdx.x]; i += blockDim.x)
		stamp[i] = epoch;
}

/* ---- chunks ---- */

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

/* Make the directory name at least nchunks chunks. */
static GpbDeviceStatus
grow_directory(GpbDevice *device, GpbDeviceMirror *mirror, uint32 nchunks)
{
	GpbBuffer	directory = {NULL, nchunks * sizeof(GpbChunk)};
	GpbChunk   *chunk;
	uint64	   *imaged;
	uint64	   *fresh;
	uint32		added = nchunks - mirror->nchunks;
	GpbDeviceStatus status;

	chunk = (GpbChunk *) realloc(mirror->chunk, nchunks * sizeof(GpbChunk));
	if (chunk == NULL)
		return gpb_refuse(device, "out of memory");
	mirror->chunk = chunk;
	imaged = (uint64 *) realloc(mirror->imaged,
								(size_t) nchunks * GPB_CHUNK_WORDS * sizeof(uint64));
	if (imaged == NULL)
		return gpb_refuse(device, "out of memory");
	mirror->imaged = imaged;
	fresh = (uint64 *) realloc(mirror->fresh,
							   (size_t) nchunks * GPB_CHUNK_WORDS * sizeof(uint64));
	if (fresh == NULL)
		return gpb_refuse(device, "out of memory");
	mirror->fresh = fresh;
	memset(chunk + mirror->nchunks, 0, added * sizeof(GpbChunk));
	memset(imaged + (size_t) mirror->nchunks * GPB_CHUNK_WORDS, 0,
		   (size_t) added * GPB_CHUNK_WORDS * sizeof(uint64));
	memset(fresh + (size_t) mirror->nchunks * GPB_CHUNK_WORDS, 0,
		   (size_t) added * GPB_CHUNK_WORDS * sizeof(uint64));

	GPB_TRY(gpb_device_alloc(device, directory.size, &directory.data));
	status = gpb_check(device,
					   cudaMemcpyAsync(directory.data, chunk, directory.size,
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
	mirror->nchunks = nchunks;
	return GPB_DEVICE_OK;
}

/* Consecutive chunks from "first" on, up to "most", that do not exist yet */
static uint32
missing_chunks(const GpbDeviceMirror *mirror, uint32 first, uint32 most)
{
	uint32		n = 0;

	while (n < most && first + n < mirror->nchunks && mirror->chunk[first + n].page == NULL)
		n++;
	return n;
}

/* The stamps of n new chunks, and where all is, to the device */
static GpbDeviceStatus
submit_chunks(GpbDevice *device, GpbDeviceMirror *mirror, uint32 first, uint32 n)
{
	GPB_TRY_CUDA(device, cudaMemsetAsync(mirror->chunk[first].stamp, 0xFF,
										 n * GPB_CHUNK_STAMPS, device->stream));
	return gpb_check(device,
					 cudaMemcpyAsync((GpbChunk *) mirror->directory.data + first,
									 mirror->chunk + first, n * sizeof(GpbChunk),
									 cudaMemcpyHostToDevice, device->stream),
					 "copying the directory");
}

/* Allocate n chunks, none of which has an image; all, or none. */
static GpbDeviceStatus
add_slab(GpbDevice *device, GpbDeviceMirror *mirror, uint32 first, uint32 n)
{
	GpbSlab    *slab = (GpbSlab *) malloc(sizeof(GpbSlab));
	GpbDeviceStatus status;
	char	   *stamps;
	uint32		i;

	if (slab == NULL)
		return gpb_refuse(device, "out of memory");
	slab->size = n * (GPB_CHUNK_BYTES + GPB_CHUNK_STAMPS);
	status = gpb_device_alloc(device, slab->size, &slab->data);
	if (status != GPB_DEVICE_OK)
	{
		free(slab);
		return status;
	}
	stamps = (char *) slab->data + n * GPB_CHUNK_BYTES;
	for (i = 0; i < n; i++)
	{
		mirror->chunk[first + i].page = (char *) slab->data + i * GPB_CHUNK_BYTES;
		mirror->chunk[first + i].stamp = (uint64 *) (stamps + i * GPB_CHUNK_STAMPS);
	}
	status = submit_chunks(device, mirror, first, n);
	if (status != GPB_DEVICE_OK)
	{
		memset(&mirror->chunk[first], 0, n * sizeof(GpbChunk));
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
 * See that a block has a place.  Chunks are taken several at a time once the mirror has
 * several, so that loading a large index is not a matter of cudaMalloc.
 */
static GpbDeviceStatus
make_place(GpbDevice *device, GpbDeviceMirror *mirror, uint32 block)
{
	uint32		chunk = block / GPB_CHUNK_PAGES;
	uint32		want = mirror->present < 1 ? 1 :
		mirror->present > GPB_SLAB_CHUNKS ? GPB_SLAB_CHUNKS : mirror->present;
	uint32		n;

	if (chunk < mirror->nchunks && mirror->chunk[chunk].page != NULL)
		return GPB_DEVICE_OK;
	if (chunk >= mirror->nchunks)
		GPB_TRY(grow_directory(device, mirror,
							   chunk + chunk / 2 + GPB_SLAB_CHUNKS));
	n = missing_chunks(mirror, chunk, want);
	if (n > 1)
	{
		GpbDeviceStatus status = add_slab(device, mirror, chunk, n);

		if (status != GPB_DEVICE_NO_MEMORY)
			return status;
	}
	return add_slab(device, mirror, chunk, 1);
}

void
gpb_cuda_mirror_destroy(GpbDevice *device, GpbDeviceMirror *mirror)
{
	GpbSlab    *slab;
	int			i;

	/* An aggregate may have to run again over this mirror before it is finished. */
	for (i = 0; i < device->nchannels; i++)
	{
		GpbChannel *channel = &device->channel[i];

		if (channel->state == GPB_CHANNEL_LAUNCHED && channel->mirror == mirror)
			(void) gpb_channel_complete(device, channel);
	}
	gpb_ranges_settle(device, mirror);
	while ((slab = mirror->slabs) != NULL)
	{
		mirror->slabs = slab->next;
		gpb_device_free(device, slab->data, slab->size);
		free(slab);
	}
	gpb_buffer_free(device, &mirror->directory);
	gpb_tree_free(device, mirror);
	free(mirror->chunk);
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

	images.chunk = (const GpbChunk *) mirror->directory.data;
	images.nchunks = mirror->nchunks;
	return images;
}

bool
gpb_mirror_has_image(const GpbDeviceMirror *mirror, uint32 block)
{
	if (block / GPB_CHUNK_PAGES >= mirror->nchunks)
		return false;
	return (mirror->imaged[block / 64] >> (block % 64)) & 1;
}

/* The block must have an image.  Has it got a new one since the tree took it? */
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

/* ---- upload ---- */

/* Length of the run of consecutive blocks, within one chunk, that begins the list */
static uint32
run_length(const uint32 *blocks, uint32 n)
{
	uint32		length = 1;

	while (length < n && blocks[length] == blocks[0] + length &&
		   blocks[length] % GPB_CHUNK_PAGES != 0)
		length++;
	return length;
}

/* Pages that begin the list up to the next long run, and one batch */
static uint32
scattered_length(const uint32 *blocks, uint32 n)
{
	uint32		length = 0;

	while (length < n)
	{
		uint32		run = run_length(blocks + length, n - length);

		if (run >= GPB_RUN_PAGES)
			break;
		length += run;
	}
	return length < GPB_SCATTER_PAGES ? length : GPB_SCATTER_PAGES;
}

static GpbDeviceStatus
upload_run(GpbDevice *device, const GpbDeviceMirror *mirror, uint32 block, uint32 n,
		   const char *pages)
{
	char	   *into = mirror->chunk[block / GPB_CHUNK_PAGES].page +
		(size_t) (block % GPB_CHUNK_PAGES) * GPB_PAGE_SIZE;

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

static GpbDeviceStatus
flush_runs(GpbDevice *device, const GpbDeviceMirror *mirror, GpbRuns *runs, uint64 epoch)
{
	uint32		n = runs->n;

	runs->n = 0;
	if (n == 0)
		return GPB_DEVICE_OK;
	return gpb_launch(device, "stamp_runs", n, 256, stamp_runs,
					  gpb_mirror_images(mirror), *runs, epoch);
}

/*
 * Submit the copies.  Long runs go straight to their place; the pages between them go
 * to staging in one transfer and are scattered from there.  The list may name a block
 * twice: within a batch it must not.
 */
static GpbDeviceStatus
upload_pages(GpbDevice *device, GpbDeviceMirror *mirror, uint32 n, const uint32 *blocks,
			 const char *pages, uint64 epoch)
{
	GpbRuns		runs;
	uint32		done = 0;

	runs.n = 0;
	while (done < n)
	{
		const char *from = pages + (size_t) done * GPB_PAGE_SIZE;
		uint32		length = run_length(blocks + done, n - done);

		if (length >= GPB_RUN_PAGES)
		{
			GPB_TRY(upload_run(device, mirror, blocks[done], length, from));
			runs.first[runs.n] = blocks[done];
			runs.count[runs.n] = length;
			if (++runs.n == GPB_RUNS)
				GPB_TRY(flush_runs(device, mirror, &runs, epoch));
		}
		else
		{
			length = scattered_length(blocks + done, n - done);
			GPB_TRY(upload_scattered(device, mirror, blocks + done, length, from, epoch));
		}
		done += length;
	}
	return flush_runs(device, mirror, &runs, epoch);
}

/* All memory first: a request that fails for want of it changes no image. */
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
	/* the directory is written, too, even where memory for the pages is wanting then */
	GPB_TRY(gpb_writer_begin(device));
	status = make_places(device, mirror, (uint32) n, blocks);
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
