/*-------------------------------------------------------------------------
 *
 * placement.h
 *	  Which device gets a new mirror; see placement.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PLACEMENT_H
#define GPB_PLACEMENT_H

#include "mirror/map/registry.h"

/*
 * About how many bytes a mirror of an index of so many blocks needs.
 */
extern uint64 gpb_mirror_bytes_expected(GpbMirrorMode mode, BlockNumber nblocks);
/* Is an index of nblocks blocks larger than is allowed, or than the device's memory? */
extern bool gpb_is_too_large(BlockNumber nblocks, int device);
/*
 * The bytes that mirrors take, or are to take, of a device.  Its service frees what was discarded
 * before it takes pages of others, so that does not count.
 */
extern uint64 gpb_device_memory_taken(int device);
/*
 * Would a mirror of all pages of an index of so many blocks find room on some device beside those
 * that were used at keep_since or later?
 */
extern bool gpb_fits_beside(BlockNumber nblocks, TimestampTz keep_since);
/*
 * The device for a new mirror, or GPB_NO_DEVICE if none may have it.  Registry lock held.
 */
#define GPB_NO_DEVICE	(-1)
extern int	gpb_place_mirror(const GpbIdentity *identity, GpbMirrorMode mode, BlockNumber nblocks,
							 TimestampTz keep_since);

/*
 * The devices for the pieces of an index that is to be cut, most memory first, for which there is
 * room in devices[GPB_MAX_DEVICES].  Returns how many pieces there are to be, each to be as large
 * as its device's memory is among theirs, or 0 if the index cannot be cut.  Registry lock held.
 */
extern int	gpb_place_pieces(const GpbIdentity *identity, BlockNumber nblocks, int *devices);
/*
 * Is there room for new mirrors of an index of so many blocks, one of all pages or all pieces,
 * beside all mirrors that are there: memory of devices, registry slots, and changed map?  An
 * estimate, true as of now.  Registry lock held.
 */
extern bool gpb_has_room(const GpbIdentity *identity, GpbMirrorMode mode, BlockNumber nblocks);
/*
 * The device for a piece of such a share of an index of so many blocks, where others of it may be,
 * or GPB_NO_DEVICE.  Registry lock held.
 */
extern int	gpb_place_piece(const GpbIdentity *identity, BlockNumber nblocks, double share);
/* Is an index larger than all devices together, those included that are not there now? */
extern bool gpb_is_too_large_for_all(BlockNumber nblocks);

#endif							/* GPB_PLACEMENT_H */
