/*-------------------------------------------------------------------------
 *
 * service_bits.c
 *	  The visibility bits that launches of ranges read: map images, copied to the device once.
 *
 * The device has copies of the map images (map_image.c) that launches wanted last, each under its
 * image's number.  Most launches find their image there.  Another image takes the place of the copy
 * that was used longest ago and that no launch in flight reads, so that no launch sees its bits
 * change (rule M3).  Where every copy is being read, or there is no memory for one, the bits of the
 * image become the channel's own, as bits that were sent are.
 *
 * The service reads an image only while the slot that refers to it is RUNNING or ABANDONED: then
 * nobody but the service frees the slot, and with it the reference.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/service_bits.h"

#include "utils/memutils.h"

#include "mirror/map_image.h"
#include "mirror/service/in_flight.h"
#include "mirror/service/service_device.h"
#include "mirror/settings.h"

typedef struct GpbMapCopy
{
	GpbDeviceMap *map;			/* NULL: not made yet */
	uint64		number;			/* of the image whose bits it has; 0: none */
	uint64		last_used;		/* count of launches */
	int			in_flight;		/* launches that read it */
} GpbMapCopy;

static GpbMapCopy copies[GPB_DEVICE_MAPS];
static uint64 uses = 0;

/* By channel: the copy that its launch in flight reads, or its next launch; NULL: none */
static GpbMapCopy **copy_of_channel = NULL;

void
gpb_bits_init(void)
{
	copy_of_channel = MemoryContextAllocZero(TopMemoryContext,
											 gpb_channels_needed() * sizeof(GpbMapCopy *));
}

/* The copy of the image of that number, or NULL */
static GpbMapCopy *
find_copy(uint64 number)
{
	int			i;

	for (i = 0; i < GPB_DEVICE_MAPS; i++)
	{
		if (copies[i].number == number)
			return &copies[i];
	}
	return NULL;
}

/* The copy that no launch in flight reads and that was used longest ago, or NULL */
static GpbMapCopy *
find_idle_copy(void)
{
	GpbMapCopy *idle = NULL;
	int			i;

	for (i = 0; i < Min(gpb_device_maps, GPB_DEVICE_MAPS); i++)
	{
		if (copies[i].in_flight == 0 && (idle == NULL || copies[i].last_used < idle->last_used))
			idle = &copies[i];
	}
	return idle;
}

/* Copy the slot's image to the device; NULL if there is no room for it. */
static GpbMapCopy *
make_copy(int channel, const GpbRequestSlot *slot)
{
	GpbMapCopy *copy = find_idle_copy();
	GpbDeviceStatus status = GPB_DEVICE_OK;
	const char *bits;
	uint64		n;

	if (copy == NULL)
		return NULL;
	copy->number = 0;
	if (copy->map == NULL)
		status = gpb_api->map_create(gpb_device, &copy->map);
	bits = gpb_map_image_bits(slot, &n);
	if (status == GPB_DEVICE_OK)
		status = gpb_api->map_set(gpb_device, copy->map, channel, bits, n);
	gpb_device_check(status);
	if (status != GPB_DEVICE_OK)
		return NULL;
	copy->number = gpb_map_image_number(slot);
	return copy;
}

bool
gpb_give_bits(int channel, const GpbRequestSlot *slot)
{
	uint64		number = gpb_map_image_number(slot);
	GpbMapCopy *copy = NULL;
	GpbDeviceStatus status;

	if (number != 0)
	{
		copy = find_copy(number);
		if (copy == NULL)
			copy = make_copy(channel, slot);
	}
	status = gpb_api->map_use(gpb_device, channel, copy == NULL ? NULL : copy->map);
	if (status == GPB_DEVICE_OK && number != 0 && copy == NULL)
	{
		const char *bits;
		uint64		n;

		bits = gpb_map_image_bits(slot, &n);
		status = gpb_api->set_visibility(gpb_device, channel, 0, bits, n);
	}
	gpb_device_check(status);
	copy_of_channel[channel] = copy;
	return status == GPB_DEVICE_OK;
}

void
gpb_bits_in_flight(int channel)
{
	GpbMapCopy *copy = copy_of_channel[channel];

	if (copy == NULL)
		return;
	copy->in_flight++;
	copy->last_used = ++uses;
}

void
gpb_bits_done(int channel)
{
	if (copy_of_channel[channel] != NULL)
		copy_of_channel[channel]->in_flight--;
	copy_of_channel[channel] = NULL;
}
