/*-------------------------------------------------------------------------
 *
 * host_memory.h
 *	  Memory of the host device, counted against the device's limit.
 *
 * This is the lowest of the headers host_*.h; all others include it.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_HOST_MEMORY_H
#define GPB_HOST_MEMORY_H

#include "device/device.h"

#define Max(a, b)	((a) > (b) ? (a) : (b))
#define Min(a, b)	((a) < (b) ? (a) : (b))

struct GpbDevice
{
	int			ordinal;
	uint64		memory_total;
	uint64		memory_limit;
	uint64		memory_used;
	int			nchannels;
	struct GpbHostChannel *channels;	/* see host_device.h */
	const char *error;			/* why the last call did not return OK */
};

/* An array that grows; data is NULL until something is appended. */
typedef struct GpbHostBuffer
{
	char	   *data;
	uint64		used;
	uint64		size;
} GpbHostBuffer;

/*
 * Allocate zeroed memory.  If it would exceed the device's limit, this sets device->error and
 * returns NULL.
 */
extern void *gpb_host_alloc(GpbDevice *device, uint64 size);

/* Free what gpb_host_alloc() returned for the same size; p may be NULL. */
extern void gpb_host_free(GpbDevice *device, void *p, uint64 size);

/* Make the whole buffer at least size bytes large; its first "used" bytes stay. */
extern GpbDeviceStatus gpb_host_reserve(GpbDevice *device, GpbHostBuffer *buffer, uint64 size);

/*
 * Lengthen the used part of the buffer by size bytes, and return their address, or NULL if there is
 * no memory.
 */
extern char *gpb_host_append(GpbDevice *device, GpbHostBuffer *buffer, uint64 size);

#endif							/* GPB_HOST_MEMORY_H */
