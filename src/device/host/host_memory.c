/*-------------------------------------------------------------------------
 *
 * host_memory.c
 *	  Memory of the host device, counted against the device's limit.
 *
 *-------------------------------------------------------------------------
 */
#include <stdlib.h>

#include "device/host/host_memory.h"

void *
gpb_host_alloc(GpbDevice *device, uint64 size)
{
	void	   *p;

	if (size > device->memory_limit ||
		device->memory_used > device->memory_limit - size ||
		(p = calloc(1, size)) == NULL)
	{
		device->error = "out of memory";
		return NULL;
	}
	device->memory_used += size;
	return p;
}

void
gpb_host_free(GpbDevice *device, void *p, uint64 size)
{
	if (p == NULL)
		return;
	free(p);
	device->memory_used -= size;
}

GpbDeviceStatus
gpb_host_reserve(GpbDevice *device, GpbHostBuffer *buffer, uint64 size)
{
	uint64		grown = Max(buffer->size * 2, 8192);
	char	   *data;

	if (size <= buffer->size)
		return GPB_DEVICE_OK;
	while (grown < size)
		grown *= 2;
	data = gpb_host_alloc(device, grown);
	if (data == NULL)
		return GPB_DEVICE_NO_MEMORY;
	if (buffer->used > 0)
		memcpy(data, buffer->data, buffer->used);
	gpb_host_free(device, buffer->data, buffer->size);
	buffer->data = data;
	buffer->size = grown;
	return GPB_DEVICE_OK;
}

char *
gpb_host_append(GpbDevice *device, GpbHostBuffer *buffer, uint64 size)
{
	char	   *at;

	if (gpb_host_reserve(device, buffer, buffer->used + size) != GPB_DEVICE_OK)
		return NULL;
	at = buffer->data + buffer->used;
	buffer->used += size;
	return at;
}
