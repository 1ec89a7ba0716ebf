/*-------------------------------------------------------------------------
 *
 * memory.cu
 *	  What every file of the cuda device builds on: its errors, its memory, and in which order its
 *	  streams read and write mirrors.
 *
 *-------------------------------------------------------------------------
 */
#include <stdarg.h>
#include <stdio.h>

#include "device.cuh"

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

/*
 * Ask whether the event has been reached.  The answer "not ready" does not stay the last error:
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

GpbDeviceStatus
gpb_await_side_streams(GpbDevice *device, GpbChannel *channel)
{
	int			i;

	for (i = 0; i < GPB_SIDE_STREAMS; i++)
	{
		if (channel->side_stream[i] != NULL)
			GPB_TRY_CUDA(device, cudaStreamSynchronize(channel->side_stream[i]));
	}
	return GPB_DEVICE_OK;
}

GpbDeviceStatus
gpb_await_streams(GpbDevice *device)
{
	int			i;

	GPB_TRY_CUDA(device, cudaStreamSynchronize(device->stream));
	GPB_TRY_CUDA(device, cudaStreamSynchronize(device->fetch_stream));
	for (i = 0; i < device->nchannels; i++)
	{
		if (device->channel[i].stream != NULL)
			GPB_TRY_CUDA(device, cudaStreamSynchronize(device->channel[i].stream));
		GPB_TRY(gpb_await_side_streams(device, &device->channel[i]));
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
	if (gpb_await_streams(device) != GPB_DEVICE_OK)
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
		if (gpb_await_streams(device) != GPB_DEVICE_OK)
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

GpbDeviceStatus
gpb_record(GpbDevice *device, cudaEvent_t event, cudaStream_t stream)
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
	return gpb_record(device, channel->read, channel->stream);
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
	return gpb_record(device, device->uploaded, device->stream);
}
