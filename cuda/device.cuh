/*-------------------------------------------------------------------------
 *
 * device.cuh
 *	  The cuda device: its memory, its stream, its status.
 *
 * Whatever writes to a mirror passes through one stream, and so happens in the order in which it
 * was submitted.  Searches and ranges run on their channel's own stream, so that a large request
 * does not hold up a small one: they wait for the writes submitted before them (gpb_reader_begin),
 * and a write waits for them (gpb_writer_begin).  Together that is rule M3: an image, the inner
 * image or a channel's input submitted after a kernel is written after that kernel ended.  Memory
 * is freed only after all streams have ended what was submitted to them (gpb_device_free).  Sorts
 * run on their channel's stream too, and read no mirror, so no write waits for them (sort.cu).  One
 * more stream copies lists to the host; it only reads what a channel's finished request left, which
 * nothing overwrites before that channel's next launch.
 *
 * No exception leaves these files and nothing aborts: a process attached to shared memory must not
 * die by a signal.  Hence malloc and status codes, no containers.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_DEVICE_CUH
#define GPB_DEVICE_CUH

#include <cuda_runtime.h>

#include "device/device.h"

#include "ranges.cuh"
#include "tuning.cuh"

/* A piece of device memory, counted against the limit */
struct GpbBuffer
{
	void	   *data;
	size_t		size;
};

/* A piece of host memory fit for direct transfer */
struct GpbPinned
{
	void	   *data;
	size_t		size;
};

/*
 * Visibility bits that launches on several channels read, with their exceptions, and behind them
 * their summary
 */
struct GpbDeviceMap
{
	GpbPinned	host;			/* what is transferred from */
	GpbBuffer	memory;
	size_t		bytes;			/* of bits and exceptions */
	size_t		summary_offset;
	uint32		heap_blocks;	/* that the bits cover, at most */
	uint32		visible_below;	/* see GpbVisibilityBits */
	cudaEvent_t set;			/* bits and summary are in memory */
	bool		setting;		/* "set" was not yet seen to have ended */
};

/*
 * What a request is given beside its spec: visibility bits with their exceptions, then changed
 * bits, then the summary of the former, which the device makes.  With a map there are changed bits
 * alone.
 */
struct GpbInput
{
	const GpbDeviceMap *map;	/* has the visibility bits; NULL: they are here */
	GpbPinned	changed_host;	/* pinned copy of the changed bits */
	GpbBuffer	memory;
	size_t		changed_offset;
	size_t		summary_offset;
	bool		any_changed;	/* of the changed_blocks */
	uint32		changed_blocks;
	uint32		heap_blocks;
	uint32		visible_below;	/* see GpbVisibilityBits */
	uint32		nexceptions;
	size_t		exceptions_offset;
};

/* One list that a request leaves behind: as found, and in order */
struct GpbListMemory
{
	GpbBuffer	order;			/* uint64: what to sort by */
	GpbBuffer	record;
	GpbBuffer	sorted;
	const void *result;			/* the records in order */
	uint32		width;			/* bytes of a record */
};

enum GpbChannelState
{
	GPB_CHANNEL_IDLE,
	GPB_CHANNEL_LAUNCHED,		/* kernels submitted, outcome unknown */
	GPB_CHANNEL_FINISHED		/* answers and lists are complete */
};

struct GpbSearchWork;
struct GpbRangesWork;
struct GpbSortWork;

#define GPB_SIDE_STREAMS	(GPB_PIPELINES - 1)

struct GpbChannel
{
	GpbPinned	visible_host;	/* visibility bits of the next request */
	uint64		visible_bytes;	/* of visible_host that were ever set */
	GpbDeviceMap *map;			/* read in the place of visible_host; NULL: none */
	cudaStream_t stream;
	cudaStream_t side_stream[GPB_SIDE_STREAMS]; /* of search.cu; NULL until it opens them */
	cudaEvent_t read;			/* what was submitted to stream last has ended */
	bool		reading;		/* "read" was not yet seen to have ended */
	GpbSearchWork *search;		/* search.cu's; NULL until the first */
	GpbRangesWork *ranges;		/* ranges.cu's; NULL until the first */
	GpbSortWork *sort;			/* sort.cu's; NULL while the channel has no sort */
};

struct GpbDevice
{
	GpbDeviceInfo info;			/* memory_used is kept here */
	bool		lost;
	char		error[256];

	cudaStream_t stream;
	cudaStream_t fetch_stream;
	cudaEvent_t uploaded;		/* the last write to a mirror */
	bool		writing;		/* "uploaded" was not yet seen to have ended */

	void	   *region;			/* registered host memory, or NULL */
	size_t		region_size;

	int			nchannels;
	GpbChannel *channel;

	GpbBuffer	staging;		/* scattered pages, before scatter_pages places them */
	GpbBuffer	scratch;		/* the places of inner pages' separators, see tree.cu */
	GpbLeafVariant variant;
	GpbRangesGrids grids[GPB_KERNEL_FORMS];
	uint32		chunk_keys;		/* of batches of searches; 0: as planned */
};

/* ---- memory.cu ---- */

/*
 * The one place that looks at a CUDA status.  Running out of memory is the request's failure, and
 * the error is cleared.  After any other error the context is lost, and every later call fails too.
 */
GpbDeviceStatus gpb_check(GpbDevice *device, cudaError_t error, const char *what);

/* Call cudaEventQuery, but leave no error behind. */
cudaError_t gpb_query(cudaEvent_t event);

/* Fail a request for a reason of our own. */
GpbDeviceStatus gpb_refuse(GpbDevice *device, const char *format, ...)
	__attribute__((format(printf, 2, 3)));

#define GPB_TRY(call) \
	do { \
		GpbDeviceStatus status_ = (call); \
		if (status_ != GPB_DEVICE_OK) \
			return status_; \
	} while (0)

#define GPB_TRY_CUDA(device, call) GPB_TRY(gpb_check(device, call, #call))

/* Every call of the interface starts here: a lost device stays lost. */
#define GPB_ENTER(device) \
	do { \
		if ((device)->lost) \
			return GPB_DEVICE_LOST; \
	} while (0)

/*
 * Rule M3.  Whoever submits to a channel's stream what reads a mirror calls gpb_reader_begin()
 * before and gpb_reader_end() after.  Whoever submits to the device's stream what writes to a
 * mirror calls gpb_writer_begin() before and gpb_writer_end() after.  The second call is
 * made also when something between the two fails.
 */
GpbDeviceStatus gpb_reader_begin(GpbDevice *device, GpbChannel *channel);
GpbDeviceStatus gpb_reader_end(GpbDevice *device, GpbChannel *channel);
GpbDeviceStatus gpb_writer_begin(GpbDevice *device);
GpbDeviceStatus gpb_writer_end(GpbDevice *device);
/*
 * Record the event behind what was submitted to the stream so far.  If the event cannot be recorded
 * for want of memory, wait for the stream and return that status: work must not go on unseen after
 * its request has failed.
 */
GpbDeviceStatus gpb_record(GpbDevice *device, cudaEvent_t event, cudaStream_t stream);
/* Wait until all that was submitted to the channel's stream has ended. */
GpbDeviceStatus gpb_reader_await(GpbDevice *device, GpbChannel *channel);

/* Wait until all streams of the device, or a channel's side streams, have ended what they have. */
GpbDeviceStatus gpb_await_streams(GpbDevice *device);
GpbDeviceStatus gpb_await_side_streams(GpbDevice *device, GpbChannel *channel);

/* Allocate device memory, within the limit, and free it; freeing waits for all streams (M3). */
GpbDeviceStatus gpb_device_alloc(GpbDevice *device, size_t size, void **data);
void		gpb_device_free(GpbDevice *device, void *data, size_t size);

/*
 * Give the buffer at least size bytes of device memory, of undefined contents.  A buffer that
 * cannot grow is empty on return.
 */
GpbDeviceStatus gpb_buffer_reserve(GpbDevice *device, GpbBuffer *buffer, size_t size);
void		gpb_buffer_free(GpbDevice *device, GpbBuffer *buffer);

/* Give at least size bytes of pinned memory.  Contents are kept, and new bytes are zero. */
GpbDeviceStatus gpb_pinned_reserve(GpbDevice *device, GpbPinned *pinned, size_t size);
void		gpb_pinned_free(GpbDevice *device, GpbPinned *pinned);

/* Submit a kernel to a stream; the status is that of the submission. */
template <typename... Parameters, typename... Arguments>
GpbDeviceStatus
gpb_launch_on(GpbDevice *device, cudaStream_t stream, const char *what, uint32 blocks,
			  uint32 threads, void (*kernel) (Parameters...), Arguments... arguments)
{
	cudaLaunchConfig_t config = {};

	config.gridDim = dim3(blocks);
	config.blockDim = dim3(threads);
	config.stream = stream;
	return gpb_check(device, cudaLaunchKernelEx(&config, kernel, arguments...), what);
}

template <typename... Parameters, typename... Arguments>
GpbDeviceStatus
gpb_launch(GpbDevice *device, const char *what, uint32 blocks, uint32 threads,
		   void (*kernel) (Parameters...), Arguments... arguments)
{
	return gpb_launch_on(device, device->stream, what, blocks, threads, kernel, arguments...);
}

/* ---- mirror.cu ---- */

struct GpbSlab;
struct GpbPlacedPage;
struct GpbTreeProfile;

/* The tree over the separators, see tree.cuh */
struct GpbTreeMemory
{
	GpbBuffer	memory;
	uint32		capacity;		/* separators there is room for */
	uint32		n;				/* separators; 0: no inner image yet */
	uint32		npages;			/* of page[] */
	GpbPlacedPage *page;		/* the level-1 pages that it was made from, in key order */
	GpbTreeProfile *profile;	/* pinned; complete when device->uploaded has ended */
};

struct GpbDeviceMirror
{
	GpbLayout	layout;
	uint64		bytes;			/* of device memory */
	bool		has_runs;		/* an image of a leaf with runs has come */

	uint32		nextents;		/* that the directory can name */
	uint32		present;		/* extents that exist */
	GpbExtent  *extent;			/* the directory's copy on the host */
	uint64	   *imaged;			/* a bit for each block of those extents */
	uint64	   *fresh;			/* a bit for each: imaged since the tree took it */
	GpbBuffer	directory;
	GpbSlab    *slabs;

	GpbTreeMemory tree;
};

GpbDeviceStatus gpb_cuda_mirror_create(GpbDevice *device, const GpbLayout *layout,
									   GpbDeviceMirror **mirror);
void		gpb_mirror_free(GpbDevice *device, GpbDeviceMirror *mirror);
uint64		gpb_cuda_mirror_bytes(GpbDeviceMirror *mirror);
GpbDeviceStatus gpb_cuda_upload(GpbDevice *device, GpbDeviceMirror *mirror, int n,
								const uint32 *blocks, const void *pages, uint64 epoch);
GpbDeviceStatus gpb_cuda_upload_wait(GpbDevice *device);
bool		gpb_mirror_has_image(const GpbDeviceMirror *mirror, uint32 block);
bool		gpb_mirror_is_fresh(const GpbDeviceMirror *mirror, uint32 block);
void		gpb_mirror_not_fresh(GpbDeviceMirror *mirror, uint32 block);
GpbImages	gpb_mirror_images(const GpbDeviceMirror *mirror);

/* ---- tree.cu ---- */

GpbDeviceStatus gpb_cuda_set_inner(GpbDevice *device, GpbDeviceMirror *mirror,
								   uint32 nblocks, const uint32 *blocks,
								   const uint32 *counts, uint32 root_leaf);
GpbSeparatorArray gpb_mirror_separators(const GpbDeviceMirror *mirror);
GpbTree		gpb_mirror_tree(const GpbDeviceMirror *mirror);
void		gpb_tree_free(GpbDevice *device, GpbDeviceMirror *mirror);

/* ---- input.cu ---- */

GpbDeviceStatus gpb_cuda_set_visibility(GpbDevice *device, int channel, uint64 offset,
										const void *bits, uint64 n);
GpbDeviceStatus gpb_cuda_map_create(GpbDevice *device, GpbDeviceMap **map);
GpbDeviceStatus gpb_cuda_map_set(GpbDevice *device, GpbDeviceMap *map, int channel,
								 const void *bits, uint64 n);
void		gpb_cuda_map_destroy(GpbDevice *device, GpbDeviceMap *map);
GpbDeviceStatus gpb_cuda_map_use(GpbDevice *device, int channel, GpbDeviceMap *map);
/*
 * Submit the channel's visibility bits and a copy of the changed bits to the stream.  The pinned
 * copies are the request's until the transfers have ended.
 */
GpbDeviceStatus gpb_input_submit(GpbDevice *device, cudaStream_t stream,
								 const GpbChannel *channel, GpbInput *input,
								 const GpbRangesSpec *spec, const uint32 *changed,
								 uint32 nblocks);
/* Submit what makes the summary of visibility bits. */
GpbDeviceStatus gpb_summary_launch(GpbDevice *device, cudaStream_t stream,
								   const GpbVisibilityBits *visibility);
/* Set what the job and *visibility have of the input to where it is in device memory. */
void		gpb_input_show(const GpbInput *input, GpbLeafJob *job, GpbVisibilityBits *visibility);
void		gpb_input_free(GpbDevice *device, GpbInput *input);

/* ---- search.cu ---- */

GpbDeviceStatus gpb_cuda_search_launch(GpbDevice *device, GpbDeviceMirror *mirror, int channel,
									   const GpbSearchSpec *spec, const uint32 *changed,
									   uint32 nblocks);
GpbDeviceStatus gpb_cuda_search_finish(GpbDevice *device, int channel);
GpbDeviceStatus gpb_cuda_poll(GpbDevice *device, int channel, bool *ended);
void		gpb_search_free(GpbDevice *device, GpbChannel *channel);
#ifdef GPB_BENCH
GpbDeviceStatus gpb_search_pipeline(GpbDevice *device, GpbChannel *channel,
									struct GpbPipeline **pipeline);
#endif

/* ---- sort.cu ---- */

GpbDeviceStatus gpb_cuda_sort_begin(GpbDevice *device, int channel, const GpbSortFormat *format,
									uint64 expected);
GpbDeviceStatus gpb_cuda_sort_add(GpbDevice *device, int channel, const void *records, uint32 n);
GpbDeviceStatus gpb_cuda_sort_read(GpbDevice *device, int channel, uint64 first, uint32 n,
								   void *into);
GpbDeviceStatus gpb_cuda_sort_finish(GpbDevice *device, int channel);
void		gpb_cuda_sort_end(GpbDevice *device, int channel);
void		gpb_sort_free(GpbDevice *device, GpbChannel *channel);
/* Has what was launched last on the channel's sort ended?  Without a sort it has. */
cudaError_t gpb_sort_query(const GpbChannel *channel);

/* ---- ranges.cu ---- */

GpbDeviceStatus gpb_cuda_ranges_launch(GpbDevice *device, GpbDeviceMirror *mirror, int channel,
									   const GpbRangesSpec *spec, const void *ranges,
									   void *answers, const uint32 *changed, uint32 nblocks);
GpbDeviceStatus gpb_cuda_ranges_finish(GpbDevice *device, int channel,
									   GpbRangesResult *result);
GpbDeviceStatus gpb_cuda_fetch(GpbDevice *device, int channel, GpbFetchWhat what,
							   uint64 first, uint64 n, void *into);
/*
 * Finish the requests of ranges that are in flight over the mirror, since they may have to run
 * again.  Called before the mirror is destroyed.
 */
void		gpb_ranges_settle(GpbDevice *device, const GpbDeviceMirror *mirror);
/* Is it certain, without asking the driver, that the channel's ranges have not ended? */
bool		gpb_ranges_cannot_have_ended(GpbChannel *channel);
void		gpb_ranges_free(GpbDevice *device, GpbChannel *channel);
#ifdef GPB_BENCH
GpbDeviceStatus gpb_ranges_repeat(GpbDevice *device, int channel);
#endif

/* ---- group_memory.cu ---- */

/* Memory of a channel for the groups of a request, see group_rows.cuh */
struct GpbGroupMemory
{
	GpbBuffer	row;
	GpbBuffer	table;
	GpbBuffer	copy;
	uint64		found;			/* groups that the last request with such had */
};

/*
 * Give a request memory for groups, of which nothing is known but the most that there can be, and
 * set what the job has of it.  That is not for many groups, unless the last request had many.
 */
GpbDeviceStatus gpb_groups_reserve(GpbDevice *device, GpbGroupMemory *memory, GpbGroupJob *job,
								   uint64 most);
/* Give it memory for more groups than it had; what was found is lost. */
GpbDeviceStatus gpb_groups_reserve_more(GpbDevice *device, GpbGroupMemory *memory,
										GpbGroupJob *job, uint64 most);
void		gpb_groups_free(GpbDevice *device, GpbGroupMemory *memory);

/* ---- list.cu ---- */

/* How many records does the list have room for? */
uint64		gpb_list_capacity(const GpbListMemory *list);
/* Give the list room for so many records of "width" bytes; those it has may be lost. */
GpbDeviceStatus gpb_list_reserve(GpbDevice *device, GpbListMemory *list, uint64 capacity,
								 uint32 width);
/* The list as kernels see it */
GpbList		gpb_list_view(const GpbListMemory *list);
void		gpb_list_free(GpbDevice *device, GpbListMemory *list);

/*
 * Sort the first n records of the list by the low order_bits bits of their order.  list->result has
 * them once the stream has ended what is submitted here.  Nothing but the stream uses scratch.
 */
GpbDeviceStatus gpb_list_sort(GpbDevice *device, cudaStream_t stream, GpbBuffer *scratch,
							  GpbListMemory *list, uint64 n, int order_bits);

/*
 * The first n records of the list are entries whose order is their TIDs.  Submit the making of
 * words [first, first + nwords) of a bitmap of their heap blocks, as gpb_count_block_words() has
 * it for so many heap blocks.  *words gets memory for it.
 */
GpbDeviceStatus gpb_list_blocks(GpbDevice *device, cudaStream_t stream, const GpbListMemory *list,
								uint64 n, uint32 heap_blocks, uint32 first, uint32 nwords,
								GpbBuffer *words);

#endif							/* GPB_DEVICE_CUH */
