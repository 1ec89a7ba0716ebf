/*-------------------------------------------------------------------------
 *
 * map_copies.c
 *	  Tests of mirror/service/service_bits.c: which copy of a map image a launch is given, with a
 *	  device that only notes what it is told.
 *
 * usage: map_copies_test; ends with "N passed, N failed".
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include <stdlib.h>

#include "utils/memutils.h"

#include "mirror/map_image.h"
#include "mirror/service/in_flight.h"
#include "mirror/service/service_bits.h"
#include "mirror/service/service_device.h"
#include "mirror/settings.h"

/* The C library's, not PostgreSQL's */
#undef printf
#include "verdict.h"

#define CHANNELS	8
#define MAPS		4

/* ---- what service_bits.c calls ---- */

static uint64 image;			/* number of the image that the slot refers to */
static int	made;				/* maps of the device */
static int	sets;				/* times that a map was given bits */
static char maps[MAPS];			/* the device's maps are pointers to these */
static uint64 bits_of_map[MAPS];	/* the image whose bits a map has */
static int	map_of_channel[CHANNELS];	/* -1: the channel's own bits */
static uint64 own_bits[CHANNELS];	/* the image whose bits were sent to the channel */

static GpbDeviceStatus
map_create(GpbDevice *device, GpbDeviceMap **map)
{
	if (made == MAPS)
		return GPB_DEVICE_NO_MEMORY;
	*map = (GpbDeviceMap *) &maps[made++];
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
map_set(GpbDevice *device, GpbDeviceMap *map, int channel, const void *bits, uint64 n)
{
	bits_of_map[(char *) map - maps] = *(const uint64 *) bits;
	sets++;
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
map_use(GpbDevice *device, int channel, GpbDeviceMap *map)
{
	map_of_channel[channel] = map == NULL ? -1 : (int) ((char *) map - maps);
	return GPB_DEVICE_OK;
}

static GpbDeviceStatus
set_visibility(GpbDevice *device, int channel, uint64 offset, const void *bits, uint64 n)
{
	own_bits[channel] = *(const uint64 *) bits;
	return GPB_DEVICE_OK;
}

static const GpbDeviceApi api = {
	.map_create = map_create,
	.map_set = map_set,
	.map_use = map_use,
	.set_visibility = set_visibility,
};

const GpbDeviceApi *gpb_api = &api;
GpbDevice  *gpb_device = NULL;
int			gpb_device_maps = 2;
MemoryContext TopMemoryContext = NULL;

void *
MemoryContextAllocZero(MemoryContext context, Size size)
{
	return calloc(1, size);
}

int
gpb_channels_needed(void)
{
	return CHANNELS;
}

void
gpb_device_check(GpbDeviceStatus status)
{
}

uint64
gpb_map_image_number(const GpbRequestSlot *slot)
{
	return image;
}

const char *
gpb_map_image_bits(const GpbRequestSlot *slot, uint64 *n)
{
	*n = sizeof(image);
	return (const char *) &image;
}

/* ---- the tests ---- */

/* Launch on the channel, with the image of that number; it stays in flight. */
static void
launch(int channel, uint64 number)
{
	image = number;
	verdict(gpb_give_bits(channel, NULL), "a launch is given bits");
	gpb_bits_in_flight(channel);
}

/* The image whose bits the launch on the channel reads */
static uint64
read_by(int channel)
{
	return map_of_channel[channel] < 0 ? own_bits[channel] : bits_of_map[map_of_channel[channel]];
}

int
main(void)
{
	gpb_bits_init();

	launch(0, 10);
	launch(1, 10);
	verdict(map_of_channel[0] == map_of_channel[1] && made == 1, "one image has one copy");
	launch(2, 20);
	verdict(read_by(2) == 20 && made == 2, "another image has a copy of its own");

	/* Both copies are being read. */
	launch(3, 30);
	verdict(map_of_channel[3] == -1 && read_by(3) == 30, "a third image is the channel's own bits");
	verdict(read_by(0) == 10 && read_by(1) == 10 && read_by(2) == 20, "nobody's bits change");

	/* One of the two launches that read the first copy ends. */
	gpb_bits_done(0);
	launch(0, 40);
	verdict(map_of_channel[0] == -1 && read_by(1) == 10,
			"a copy that another launch reads is not replaced");
	gpb_bits_done(0);
	gpb_bits_done(1);
	launch(1, 50);
	verdict(map_of_channel[1] >= 0 && read_by(1) == 50 && read_by(2) == 20,
			"a copy that nobody reads is replaced");
	gpb_bits_done(3);
	launch(3, 50);
	verdict(map_of_channel[3] == map_of_channel[1], "an image is found in its copy");
	gpb_bits_done(1);
	launch(1, 60);
	verdict(map_of_channel[1] == -1 && read_by(3) == 50, "the copy is read by the later launch");
	gpb_bits_done(1);
	gpb_bits_done(2);
	gpb_bits_done(3);

	/* All are idle; that of image 20 was used before that of 50. */
	launch(0, 70);
	verdict(read_by(0) == 70 && map_of_channel[0] >= 0, "an idle copy is replaced");
	sets = 0;
	launch(1, 50);
	verdict(sets == 0 && read_by(1) == 50, "it was the one that was used longest ago");
	gpb_bits_done(0);
	gpb_bits_done(1);

	/* Bits that were sent to the channel are read from there. */
	own_bits[4] = 99;
	launch(4, 0);
	verdict(map_of_channel[4] == -1 && read_by(4) == 99, "without an image the channel's bits are read");
	gpb_bits_done(4);

	return print_sums();
}
