/*-------------------------------------------------------------------------
 *
 * device.cu
 *	  The cuda device: opening and closing it, its memory, its errors.
 *
 *-------------------------------------------------------------------------
 */
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>

#include "device.cuh"
#include "tuning.cuh"

/* ---- status ---- */

GpbDeviceStatus
gpb_check(GpbDevice *device, cudaError_t error, const char *what)
{
	if (error == cudaSuccess)
		return GPB_DEVICE_OK;
	snprintf(device->error, sizeof(device->error), "%s: %s (%s)", what,
			 cudaGetErrorString(error), cudaGetErrorName(error));
	if (error == cudaErrorMemoryAllocation)
	{
		(void) cudaGetLastError();
		return GPB_DEVICE_NO_MEMORY;
	}
	device->lost = true;
	return GPB_DEVICE_LOST;
}

GpbDeviceStatus
gpb_refuse(GpbDevice *device, const char *format, ...)
{
	va_list		args;

	va_start(args, format);
	vsnprintf(device->error, sizeof(device->error), format, args);
	va_end(args);
	return GPB_DEVICE_NO_MEMORY;
}

static const char *
last_error(GpbDevice *device)
{
	return device->error;
}

/*
 * Ask whether the event has come to pass.  The answer "not ready" does not stay the last error:
 * CUB would take that for an error of its kernels.
 */
cudaError_t
gpb_query(cudaEvent_t event)
{
	cudaError_t error = cudaEventQuery(event);

	if (error == cudaErrorNotReady)
		(void) cudaGetLastError();
	return error;
}

/* ---- memory ---- */

#define GPB_ALLOCATION_UNIT 512 /* cudaMalloc's alignment */

/* What an allocation of so many bytes takes of the device's memory */
static size_t
allocation_size(size_t size)
{
	return (size + GPB_ALLOCATION_UNIT - 1) & ~(size_t) (GPB_ALLOCATION_UNIT - 1);
}

GpbDeviceStatus
gpb_device_alloc(GpbDevice *device, size_t size, void **data)
{
	size = allocation_size(size);
	*data = NULL;
	if (size > device->info.memory_limit ||
		device->info.memory_used > device->info.memory_limit - size)
		return gpb_refuse(device,
						  "%llu bytes of device memory in use, %llu more wanted, %llu allowed",
						  (unsigned long long) device->info.memory_used,
						  (unsigned long long) size,
						  (unsigned long long) device->info.memory_limit);
	GPB_TRY_CUDA(device, cudaMalloc(data, size));
	device->info.memory_used += size;
	return GPB_DEVICE_OK;
}

/* Wait until every stream of the device has ended what was submitted to it. */
static GpbDeviceStatus
await_streams(GpbDevice *device)
{
	int			i;

	GPB_TRY_CUDA(device, cudaStreamSynchronize(device->stream));
	GPB_TRY_CUDA(device, cudaStreamSynchronize(device->fetch_stream));
	for (i = 0; i < device->nchannels; i++)
	{
		if (device->channel[i].stream != NULL)
			GPB_TRY_CUDA(device, cudaStreamSynchronize(device->channel[i].stream));
		GPB_TRY(gpb_search_await(device, &device->channel[i]));
	}
	return GPB_DEVICE_OK;
}

void
gpb_device_free(GpbDevice *device, void *data, size_t size)
{
	if (data == NULL)
		return;
	device->info.memory_used -= allocation_size(size);
	if (device->lost)
		return;					/* the memory went with the context */
	if (await_streams(device) != GPB_DEVICE_OK)
		return;
	(void) gpb_check(device, cudaFree(data), "cudaFree");
}

void
gpb_buffer_free(GpbDevice *device, GpbBuffer *buffer)
{
	gpb_device_free(device, buffer->data, buffer->size);
	buffer->data = NULL;
	buffer->size = 0;
}

GpbDeviceStatus
gpb_buffer_reserve(GpbDevice *device, GpbBuffer *buffer, size_t size)
{
	if (size <= buffer->size)
		return GPB_DEVICE_OK;
	gpb_buffer_free(device, buffer);
	size += size / 4;			/* what grew once will grow again */
	GPB_TRY(gpb_device_alloc(device, size, &buffer->data));
	buffer->size = size;
	return GPB_DEVICE_OK;
}

void
gpb_pinned_free(GpbDevice *device, GpbPinned *pinned)
{
	if (pinned->data != NULL && !device->lost)
		(void) gpb_check(device, cudaFreeHost(pinned->data), "cudaFreeHost");
	pinned->data = NULL;
	pinned->size = 0;
}

GpbDeviceStatus
gpb_pinned_reserve(GpbDevice *device, GpbPinned *pinned, size_t size)
{
	GpbPinned	larger;

	if (size <= pinned->size)
		return GPB_DEVICE_OK;
	larger.size = size + size / 4;
	GPB_TRY_CUDA(device, cudaHostAlloc(&larger.data, larger.size, cudaHostAllocDefault));
	memset((char *) larger.data + pinned->size, 0, larger.size - pinned->size);
	if (pinned->data != NULL)
	{
		memcpy(larger.data, pinned->data, pinned->size);
		/* a transfer may still be reading the old memory */
		if (await_streams(device) != GPB_DEVICE_OK)
			return GPB_DEVICE_LOST;
		gpb_pinned_free(device, pinned);
	}
	*pinned = larger;
	return GPB_DEVICE_OK;
}

/* ---- readers and writers of mirrors (rule M3) ---- */

/*
 * A call of the driver costs a small request a microsecond, so none is made for a write that is
 * known to have ended.
 */
GpbDeviceStatus
gpb_reader_begin(GpbDevice *device, GpbChannel *channel)
{
	cudaError_t error;

	if (!device->writing)
		return GPB_DEVICE_OK;
	error = gpb_query(device->uploaded);
	if (error != cudaErrorNotReady)
	{
		GPB_TRY(gpb_check(device, error, "cudaEventQuery"));
		device->writing = false;
		return GPB_DEVICE_OK;
	}
	return gpb_check(device, cudaStreamWaitEvent(channel->stream, device->uploaded, 0),
					 "cudaStreamWaitEvent");
}

/*
 * Record the event behind what was submitted to the stream so far.  If the event cannot be recorded
 * for want of memory, wait for the stream and return that status: work must not go on unseen after
 * its request has failed.
 */
static GpbDeviceStatus
record_or_wait(GpbDevice *device, cudaEvent_t event, cudaStream_t stream)
{
	GpbDeviceStatus status = gpb_check(device, cudaEventRecord(event, stream),
									   "cudaEventRecord");

	if (status == GPB_DEVICE_NO_MEMORY)
		GPB_TRY_CUDA(device, cudaStreamSynchronize(stream));
	return status;
}

GpbDeviceStatus
gpb_reader_end(GpbDevice *device, GpbChannel *channel)
{
	channel->reading = true;
	return record_or_wait(device, channel->read, channel->stream);
}

GpbDeviceStatus
gpb_reader_await(GpbDevice *device, GpbChannel *channel)
{
	if (channel->reading)
		GPB_TRY_CUDA(device, cudaEventSynchronize(channel->read));
	channel->reading = false;
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
gpb_writer_begin(GpbDevice *device)
{
	int			i;

	for (i = 0; i < device->nchannels; i++)
	{
		GpbChannel *channel = &device->channel[i];

		if (channel->reading)
			GPB_TRY_CUDA(device, cudaStreamWaitEvent(device->stream, channel->read, 0));
	}
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
gpb_writer_end(GpbDevice *device)
{
	device->writing = true;
	return record_or_wait(device, device->uploaded, device->stream);
}

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
		(void) await_streams(device);
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
	gpb_cuda_mirror_destroy,
	gpb_cuda_mirror_bytes,
	gpb_cuda_upload,
	gpb_cuda_upload_wait,
	gpb_cuda_set_inner,
	gpb_cuda_set_visibility,
	gpb_cuda_ranges_launch,
	gpb_cuda_ranges_finish,
	gpb_cuda_fetch,
	gpb_cuda_search_launch,
	gpb_cuda_search_finish,
	gpb_cuda_poll
};

extern "C" __attribute__((visibility("default"))) const GpbDeviceApi *gpb_cuda_device(void);

const GpbDeviceApi *
gpb_cuda_device(void)
{
	return &api;
}
