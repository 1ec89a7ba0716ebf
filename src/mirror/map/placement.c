/*-------------------------------------------------------------------------
 *
 * placement.c
 *	  Which device gets a new mirror: the one with the largest share of its memory free.
 *
 * The share counts, and not the bytes, since devices differ a little, or much, in how much they
 * have: else one would get all mirrors before any goes to another.  So mirrors spread, those of a
 * table's partitions, too, which are made one after the other.  A mirror that is being made counts
 * with what it is thought to need.  Where no device has room, that one makes it whose mirrors were
 * used longest ago, as if all were one device.  A mirror stays where it is as long as it lives.  If
 * its device is lost the next service for that discards it, and it is made anew where most is free
 * then.
 *
 * An index that is larger than each device is cut into pieces, on as few devices as have room for
 * it with a fourth of their memory to spare, or, if there are not so many, on all.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/map/placement.h"

#include "mirror/heartbeat.h"
#include "mirror/map/changed_map.h"
#include "mirror/map/eviction.h"
#include "mirror/map/refusals.h"
#include "mirror/service_state.h"
#include "mirror/settings.h"

/* Roughly how many pages of an index one page of level 1 stands for */
#define GPB_PAGES_PER_INNER		256

uint64
gpb_mirror_bytes_expected(GpbMirrorMode mode, BlockNumber nblocks)
{
	uint64		bytes = (uint64) nblocks * BLCKSZ;

	return mode == GPB_MIRROR_INNER_ONLY ? bytes / GPB_PAGES_PER_INNER : bytes;
}

bool
gpb_is_too_large(BlockNumber nblocks, int device)
{
	uint64		bytes = (uint64) nblocks * BLCKSZ;
	uint64		memory = gpb_device_memory_limit(device);

	return (gpb_max_mirror_size > 0 && bytes > (uint64) gpb_max_mirror_size * 1024) ||
		(memory > 0 && bytes > memory);
}

/* What the mirror in a slot takes, or is to take, of its device's memory */
static uint64
memory_of(GpbMirrorSlot *mirror)
{
	return Max(pg_atomic_read_u64(&mirror->memory), mirror->expected);
}

uint64
gpb_device_memory_taken(int device)
{
	uint64		taken = 0;
	int			slot;

	for (slot = 0; slot < GPB_MIRRORS; slot++)
	{
		GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];

		if (pg_atomic_read_u32(&mirror->state) == GPB_MIRROR_LIVE && mirror->device == device)
			taken += memory_of(mirror);
	}
	return taken;
}

/*
 * Would a mirror of so many bytes find room on a device beside all that are kept?  A fourth of the
 * memory is left to requests, which find none where nothing makes room.  What the others take is
 * what the service last said, so this is for the common case: nothing need be copied to find out.
 */
static bool
fits_beside_on(int device, uint64 bytes, TimestampTz keep_since)
{
	uint64		limit = gpb_device_memory_limit(device);
	int			slot;

	for (slot = 0; slot < GPB_MIRRORS; slot++)
	{
		GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];

		if (pg_atomic_read_u32(&mirror->state) == GPB_MIRROR_LIVE && mirror->device == device &&
			pg_atomic_read_u64(&mirror->last_used) >= (uint64) keep_since)
			bytes += pg_atomic_read_u64(&mirror->memory);
	}
	return limit == 0 || bytes <= limit / 4 * 3;
}

bool
gpb_fits_beside(BlockNumber nblocks, TimestampTz keep_since)
{
	int			device;

	if (keep_since == 0)
		return true;
	for (device = 0; device < gpb_devices; device++)
	{
		if (gpb_service_serves(device) &&
			fits_beside_on(device, (uint64) nblocks * BLCKSZ, keep_since))
			return true;
	}
	return false;
}

/* Bytes of a device's memory that no mirror has, or is to have */
static uint64
free_memory(int device)
{
	uint64		limit = gpb_device_memory_limit(device);
	uint64		taken = gpb_device_memory_taken(device);

	return limit > taken ? limit - taken : 0;
}

/* May the device have such a mirror, if others make room? */
static bool
may_have(int device, const GpbIdentity *identity, GpbMirrorMode mode, BlockNumber nblocks)
{
	return gpb_service_serves(device) && !gpb_is_refused(identity, mode, device) &&
		(mode == GPB_MIRROR_INNER_ONLY || !gpb_is_too_large(nblocks, device));
}

/*
 * When was the mirror used that would be the first to make room on a device?  The latest time there
 * is, if none would.
 */
static TimestampTz
least_used_at(int device, TimestampTz keep_since)
{
	int			victim = gpb_registry_least_used(device, GPB_NOT_MIRRORED, keep_since);

	return victim == GPB_NOT_MIRRORED ? PG_INT64_MAX :
		(TimestampTz) pg_atomic_read_u64(&gpb_registry->mirrors[victim].last_used);
}

/*
 * The device, of those that may have the mirror, with the largest share of its memory free, or with
 * room for the mirror if only others have none.  *fits says whether there is room.
 */
static int
most_free_device(const GpbIdentity *identity, GpbMirrorMode mode, BlockNumber nblocks, bool *fits)
{
	uint64		bytes = gpb_mirror_bytes_expected(mode, nblocks);
	int			best = GPB_NO_DEVICE;
	double		largest = 0;
	int			device;

	*fits = false;
	for (device = 0; device < gpb_devices; device++)
	{
		uint64		memory = free_memory(device);
		double		share = memory / (double) Max(gpb_device_memory_limit(device), 1);
		bool		has_room = bytes <= memory;

		if (!may_have(device, identity, mode, nblocks) ||
			(best != GPB_NO_DEVICE && (has_room == *fits ? share <= largest : *fits)))
			continue;
		best = device;
		largest = share;
		*fits = has_room;
	}
	return best;
}

int
gpb_place_mirror(const GpbIdentity *identity, GpbMirrorMode mode, BlockNumber nblocks,
				 TimestampTz keep_since)
{
	uint64		bytes = gpb_mirror_bytes_expected(mode, nblocks);
	bool		fits;
	int			best = most_free_device(identity, mode, nblocks, &fits);
	TimestampTz longest_ago = PG_INT64_MAX;
	int			device;

	if (best == GPB_NO_DEVICE || fits)
		return best;
	for (device = 0; device < gpb_devices; device++)
	{
		TimestampTz used_at;

		if (!may_have(device, identity, mode, nblocks) ||
			(keep_since != 0 && !fits_beside_on(device, bytes, keep_since)))
			continue;
		used_at = least_used_at(device, keep_since);
		if (used_at >= longest_ago)
			continue;
		best = device;
		longest_ago = used_at;
	}
	return best;
}

/* ---- pieces ---- */

/*
 * May a device have a piece of the index, which is not to have more than max_mirror_size in all?
 * A device whose memory is not known has none.
 */
static bool
may_have_piece(int device, const GpbIdentity *identity, BlockNumber nblocks)
{
	return gpb_service_serves(device) && gpb_device_memory_limit(device) > 0 &&
		!gpb_is_refused(identity, GPB_MIRROR_PIECE, device) &&
		(gpb_max_mirror_size == 0 ||
		 (uint64) nblocks * BLCKSZ <= (uint64) gpb_max_mirror_size * 1024);
}

int
gpb_place_pieces(const GpbIdentity *identity, BlockNumber nblocks, int *devices)
{
	uint64		bytes = (uint64) nblocks * BLCKSZ;
	uint64		memory = 0;
	int			n = 0;
	int			device;
	int			used;

	/* those with most free memory first */
	for (device = 0; device < gpb_devices; device++)
	{
		int			at = n;

		if (!may_have_piece(device, identity, nblocks))
			continue;
		for (; at > 0 && free_memory(devices[at - 1]) < free_memory(device); at--)
			devices[at] = devices[at - 1];
		devices[at] = device;
		n++;
	}
	/* each piece has a map of the whole index */
	n = Min(n, (int) (gpb_map_segments_total() / Max(gpb_map_segments_for(nblocks), 1)));
	for (used = 0; used < n; used++)
	{
		if (used > 1 && bytes <= memory / 4 * 3)
			return used;
		memory += gpb_device_memory_limit(devices[used]);
	}
	return used > 1 && bytes <= memory / 16 * 15 ? used : 0;
}

/* Has each piece that there is to be room on its device beside all mirrors that are there? */
static bool
pieces_have_room(const int *devices, int n, BlockNumber nblocks)
{
	double		all = 0;
	int			i;

	for (i = 0; i < n; i++)
		all += gpb_device_memory_limit(devices[i]);
	for (i = 0; i < n; i++)
	{
		double		share = gpb_device_memory_limit(devices[i]) / all;

		if (share * nblocks * BLCKSZ > free_memory(devices[i]))
			return false;
	}
	return true;
}

bool
gpb_has_room(const GpbIdentity *identity, GpbMirrorMode mode, BlockNumber nblocks)
{
	int			devices[GPB_MAX_DEVICES];
	uint64		segments = 0;
	int			free_slots = 0;
	int			n = 0;			/* mirrors to be made */
	bool		fits = false;
	int			slot;

	if (mode == GPB_MIRROR_FULL)
		n = most_free_device(identity, mode, nblocks, &fits) != GPB_NO_DEVICE;
	else if (mode == GPB_MIRROR_PIECE)
	{
		n = gpb_place_pieces(identity, nblocks, devices);
		fits = pieces_have_room(devices, n, nblocks);
	}
	for (slot = 0; slot < GPB_MIRRORS; slot++)
	{
		segments += pg_atomic_read_u32(&gpb_registry->mirrors[slot].nsegments);
		free_slots += pg_atomic_read_u32(&gpb_registry->mirrors[slot].state) == GPB_MIRROR_FREE;
	}
	return n > 0 && fits && free_slots >= n &&
		segments + (uint64) n * gpb_map_segments_for(nblocks) <= gpb_map_segments_total();
}

/* Bytes that pieces of an index take, or are to take, of a device */
static uint64
pieces_on(int device, const GpbIdentity *identity)
{
	uint64		bytes = 0;
	int			slot;

	for (slot = gpb_registry_next(identity, 0); slot != GPB_NOT_MIRRORED;
		 slot = gpb_registry_next(identity, slot + 1))
	{
		if (gpb_registry->mirrors[slot].device == device)
			bytes += memory_of(&gpb_registry->mirrors[slot]);
	}
	return bytes;
}

int
gpb_place_piece(const GpbIdentity *identity, BlockNumber nblocks, double share)
{
	int			best = GPB_NO_DEVICE;
	int			device;

	for (device = 0; device < gpb_devices; device++)
	{
		double		bytes = share * nblocks * BLCKSZ + pieces_on(device, identity);

		if (may_have_piece(device, identity, nblocks) &&
			bytes <= gpb_device_memory_limit(device) / 16 * 15 &&
			(best == GPB_NO_DEVICE || free_memory(device) > free_memory(best)))
			best = device;
	}
	return best;
}

bool
gpb_is_too_large_for_all(BlockNumber nblocks)
{
	uint64		bytes = (uint64) nblocks * BLCKSZ;
	uint64		memory = 0;
	int			device;

	for (device = 0; device < gpb_devices; device++)
		memory += gpb_device_memory_limit(device);
	return bytes > memory ||
		(gpb_max_mirror_size > 0 && bytes > (uint64) gpb_max_mirror_size * 1024);
}
