/*-------------------------------------------------------------------------
 *
 * device.cu
 *	  Opening and closing the cuda device, and the table of its functions.
 *
 *-------------------------------------------------------------------------
 */
#include <stdio.h>
#include <stdlib.h>

#include "device.cuh"
#include "tuning.cuh"

/* ---- opening ---- */

static GpbDeviceStatus
read_properties(GpbDevice *device, int ordinal, uint64 memory_limit)
{
	cudaDeviceProp properties;
	size_t		free_bytes;
	size_t		total_bytes;

	GPB_TRY_CUDA(device, cudaSetDevice(ordinal));
	GPB_TRY_CUDA(device, cudaGetDeviceProperties(&properties, ordinal));
	GPB_TRY_CUDA(device, cudaMemGetInfo(&free_bytes, &total_bytes));
	snprintf(device->info.name, sizeof(device->info.name), "%.63s", properties.name);
	device->info.ordinal = ordinal;
	device->info.compute_major = properties.major;
	device->info.compute_minor = properties.minor;
	device->info.multiprocessors = properties.multiProcessorCount;
	device->info.memory_total = total_bytes;
	device->info.memory_limit = memory_limit ? memory_limit : free_bytes / 5 * 4;
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
create_channels(GpbDevice *device, int channels)
{
	int			i;

	device->channel = (GpbChannel *) calloc(channels, sizeof(GpbChannel));
	if (device->channel == NULL)
		return gpb_refuse(device, "out of memory");
	device->nchannels = channels;
	for (i = 0; i < channels; i++)
	{
		GpbChannel *channel = &device->channel[i];

		GPB_TRY_CUDA(device, cudaEventCreateWithFlags(&channel->read,
													  cudaEventDisableTiming));
		GPB_TRY_CUDA(device, cudaStreamCreateWithFlags(&channel->stream,
													   cudaStreamNonBlocking));
	}
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
set_up(GpbDevice *device, int ordinal, uint64 memory_limit, int channels)
{
	GPB_TRY(read_properties(device, ordinal, memory_limit));
	GPB_TRY_CUDA(device, cudaStreamCreateWithFlags(&device->stream, cudaStreamNonBlocking));
	GPB_TRY_CUDA(device, cudaStreamCreateWithFlags(&device->fetch_stream,
												   cudaStreamNonBlocking));
	GPB_TRY_CUDA(device, cudaEventCreateWithFlags(&device->uploaded, cudaEventDisableTiming));
	GPB_TRY_CUDA(device, cudaEventRecord(device->uploaded, device->stream));
	GPB_TRY(create_channels(device, channels));
	device->variant = GPB_LEAF_VARIANT;
	return gpb_ranges_prepare_kernels(device);
}

static void
free_channel(GpbDevice *device, GpbChannel *channel)
{
	gpb_search_free(device, channel);
	gpb_pinned_free(device, &channel->visible_host);
	gpb_ranges_free(device, channel);
	gpb_sort_free(device, channel);
	if (channel->read != NULL)
		(void) cudaEventDestroy(channel->read);
	if (channel->stream != NULL)
		(void) cudaStreamDestroy(channel->stream);
	channel->stream = NULL;
}

/*
 * Close the device, whose mirrors must have been destroyed.  Errors are ignored: what cannot be
 * freed goes with the process.
 */
static void
close_device(GpbDevice *device)
{
	int			i;

	if (device->stream != NULL && device->fetch_stream != NULL)
		(void) gpb_await_streams(device);
	for (i = 0; i < device->nchannels; i++)
		free_channel(device, &device->channel[i]);
	gpb_buffer_free(device, &device->staging);
	gpb_buffer_free(device, &device->scratch);
	if (device->region != NULL)
		(void) cudaHostUnregister(device->region);
	if (device->uploaded != NULL)
		(void) cudaEventDestroy(device->uploaded);
	if (device->fetch_stream != NULL)
		(void) cudaStreamDestroy(device->fetch_stream);
	if (device->stream != NULL)
		(void) cudaStreamDestroy(device->stream);
	(void) cudaGetLastError();
	free(device->channel);
	free(device);
}

static GpbDeviceStatus
open_device(int ordinal, uint64 memory_limit, int channels, GpbDevice **opened,
			const char **message)
{
	static char reason[256];
	GpbDevice  *device = (GpbDevice *) calloc(1, sizeof(GpbDevice));
	GpbDeviceStatus status;

	*opened = NULL;
	*message = reason;
	if (device == NULL)
	{
		snprintf(reason, sizeof(reason), "out of memory");
		return GPB_DEVICE_NO_MEMORY;
	}
	status = set_up(device, ordinal, memory_limit, channels);
	if (status != GPB_DEVICE_OK)
	{
		memcpy(reason, device->error, sizeof(reason));
		close_device(device);
		return status;
	}
	*opened = device;
	return GPB_DEVICE_OK;
}

static const char *
last_error(GpbDevice *device)
{
	return device->error;
}

static void
describe(GpbDevice *device, GpbDeviceInfo *info)
{
	*info = device->info;
}

/*
 * Register host memory for direct transfer.  If the operating system or the driver refuses, because
 * of a limit of locked memory, say, the device is not lost, whatever the error's code; so
 * gpb_check() is not asked about it.
 */
static GpbDeviceStatus
register_region(GpbDevice *device, void *base, size_t size)
{
	cudaError_t error;

	GPB_ENTER(device);
	error = cudaHostRegister(base, size, cudaHostRegisterDefault);
	if (error != cudaSuccess)
	{
		(void) cudaGetLastError();
		return gpb_refuse(device, "cudaHostRegister: %s", cudaGetErrorString(error));
	}
	device->region = base;
	device->region_size = size;
	return GPB_DEVICE_OK;
}

/* Destroy a mirror, after what refers to its images. */
static void
destroy_mirror(GpbDevice *device, GpbDeviceMirror *mirror)
{
	gpb_ranges_settle(device, mirror);
	gpb_tree_free(device, mirror);
	gpb_mirror_free(device, mirror);
}

/* ---- the table ---- */

static const GpbDeviceApi api = {
	GPB_DEVICE_ABI,
	"cuda",
	open_device,
	close_device,
	describe,
	last_error,
	register_region,
	gpb_cuda_mirror_create,
	destroy_mirror,
	gpb_cuda_mirror_bytes,
	gpb_cuda_upload,
	gpb_cuda_upload_wait,
	gpb_cuda_set_inner,
	gpb_cuda_set_visibility,
	gpb_cuda_map_create,
	gpb_cuda_map_set,
	gpb_cuda_map_destroy,
	gpb_cuda_map_use,
	gpb_cuda_ranges_launch,
	gpb_cuda_ranges_finish,
	gpb_cuda_fetch,
	gpb_cuda_search_launch,
	gpb_cuda_search_finish,
	gpb_cuda_sort_begin,
	gpb_cuda_sort_add,
	gpb_cuda_sort_read,
	gpb_cuda_sort_finish,
	gpb_cuda_sort_end,
	gpb_cuda_poll
};

extern "C" __attribute__((visibility("default"))) const GpbDeviceApi *gpb_cuda_device(void);

const GpbDeviceApi *
gpb_cuda_device(void)
{
	return &api;
}
