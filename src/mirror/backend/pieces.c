/*-------------------------------------------------------------------------
 *
 * pieces.c
 *	  An index that is larger than each device, cut into pieces by ranges of keys.
 *
 * A piece is a mirror of its own, with a registry slot, a changed map, an epoch and a device, and
 * differs from a mirror of all pages in this alone: the device gets images of those leaves only
 * that have keys of the piece's range.  All other leaves are without an image, so they are not
 * clean (rule M4), and whatever is asked of a piece has the right answer; it comes from the device
 * if it is asked for keys of the range.
 *
 * The ranges of an index's pieces have no keys in common, and a range stays as long as its piece
 * lives.  So the pieces there are say how the index is cut, and what lies between them is where a
 * piece was lost, with its device, or for want of memory.  It is made anew if there is room, else
 * the CPU answers for it; if no device that is there has room, all are given up, and the index is
 * cut anew, or gets a mirror of its inner nodes.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/backend/attach.h"

#include "storage/bufmgr.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "mirror/heartbeat.h"
#include "mirror/map/changed_map.h"
#include "mirror/map/eviction.h"
#include "mirror/map/placement.h"
#include "mirror/map/refusals.h"
#include "mirror/service_state.h"

/* ---- the pieces that there are ---- */

/* A cut, with what its ranges have */
typedef struct GpbCutState
{
	GpbMirrorCut cut;
	bool		has_piece[GPB_MOST_RANGES];
	int			npieces;
	double		share;			/* of the pieces */
} GpbCutState;

static void
add_range(GpbCutState *state, GpbBound lo, GpbBound hi, bool has_piece)
{
	GpbMirrorCut *cut = &state->cut;

	if (cut->n == GPB_MOST_RANGES)
		elog(ERROR, "an index is cut into too many pieces");
	state->has_piece[cut->n] = has_piece;
	cut->range[cut->n].lo = lo;
	cut->range[cut->n++].hi = hi;
}

/* The piece with the least range that begins at or after a bound, or GPB_NOT_MIRRORED */
static int
first_piece_from(const GpbIdentity *identity, GpbBound bound)
{
	int			best = GPB_NOT_MIRRORED;
	int			slot;

	for (slot = gpb_registry_next_piece(identity, 0); slot != GPB_NOT_MIRRORED;
		 slot = gpb_registry_next_piece(identity, slot + 1))
	{
		const GpbRange *range = &gpb_registry->mirrors[slot].range;

		if (!gpb_bound_less(range->lo, bound) &&
			(best == GPB_NOT_MIRRORED ||
			 gpb_bound_less(range->lo, gpb_registry->mirrors[best].range.lo)))
			best = slot;
	}
	return best;
}

/* Collect the ranges of the pieces, and what lies between them.  Registry lock held. */
static void
collect_cut(const GpbIdentity *identity, GpbCutState *state)
{
	GpbBound	at = GPB_BOUND_MIN;
	int			slot;

	memset(state, 0, sizeof(*state));
	while ((slot = first_piece_from(identity, at)) != GPB_NOT_MIRRORED)
	{
		const GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];

		if (gpb_bound_less(at, mirror->range.lo))
			add_range(state, at, mirror->range.lo, false);
		add_range(state, mirror->range.lo, mirror->range.hi, true);
		state->npieces++;
		state->share += mirror->share;
		at = mirror->range.hi;
	}
	if (gpb_bound_less(at, GPB_BOUND_MAX))
		add_range(state, at, GPB_BOUND_MAX, false);
}

/* ---- what was lost is made anew ---- */

static bool
all_devices_serve(void)
{
	int			device;

	for (device = 0; device < gpb_devices; device++)
	{
		if (!gpb_service_serves(device))
			return false;
	}
	return true;
}

/*
 * Make pieces for the ranges that have none, where there is room for them.  Where there is none on
 * any device, and none is away, give all pieces up, and return false.  Registry lock held
 * exclusively.
 */
static bool
make_lost_pieces(const GpbIdentity *identity, const GpbLayout *layout, BlockNumber nblocks,
				 const GpbCutState *state)
{
	GpbNewMirror new = {.mode = GPB_MIRROR_PIECE};
	int			i;

	new.share = Max(1 - state->share, 0) / Max(state->cut.n - state->npieces, 1);
	for (i = 0; i < state->cut.n; i++)
	{
		if (state->has_piece[i])
			continue;
		new.device = gpb_place_piece(identity, nblocks, new.share);
		if (new.device != GPB_NO_DEVICE)
		{
			new.range = state->cut.range[i];
			(void) gpb_publish_empty(identity, layout, nblocks, &new);
		}
		else if (all_devices_serve())
		{
			gpb_registry_discard_former(identity);
			return false;
		}
	}
	return true;
}

GpbCutOutcome
gpb_mirror_find_cut(Relation index, const GpbLayout *layout, GpbMirrorCut *cut)
{
	GpbIdentity identity;
	BlockNumber nblocks;
	GpbMirrorRef whole;
	GpbCutState state;
	GpbMirrorMode mode;
	int			slot;
	bool		kept;

	if (gpb_devices == 1 || !gpb_mirror_available() || !gpb_may_mirror(index))
		return GPB_CUT_NONE;
	gpb_identity_of(index, &identity);
	nblocks = RelationGetNumberOfBlocks(index);
	if (gpb_find_whole(&identity, nblocks, &whole))
		return GPB_CUT_NONE;
	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	mode = gpb_mirror_mode_for(&identity, nblocks);
	collect_cut(&identity, &state);
	gpb_use_pieces(&identity);
	/* a mirror of all pages whose service is away may be served again */
	slot = gpb_registry_lookup(&identity);
	kept = slot != GPB_NOT_MIRRORED && !gpb_slot_is_served(slot);
	LWLockRelease(gpb_registry->lock);

	if (mode != GPB_MIRROR_PIECE || kept)
		return GPB_CUT_NONE;
	if (state.npieces > 0 && state.npieces < state.cut.n)
	{
		LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
		collect_cut(&identity, &state);
		if (state.npieces > 0 && !make_lost_pieces(&identity, layout, nblocks, &state))
			state.npieces = 0;
		mode = gpb_mirror_mode_for(&identity, nblocks);
		LWLockRelease(gpb_registry->lock);
		if (mode != GPB_MIRROR_PIECE)
			return GPB_CUT_NONE;
	}
	*cut = state.cut;
	return state.npieces == 0 ? GPB_CUT_WANTED : GPB_CUT_FOUND;
}

/* ---- cutting ---- */

/*
 * Choose the ranges of pieces on these devices, by n bounds that part the index evenly: each gets
 * about as large a share as its device has of the memory of all.  Ranges begin at whole keys, so
 * that no key is in two of them.  Returns false if there are too few keys for that, so that a piece
 * would be larger than its device.
 */
static bool
choose_ranges(const int *devices, int ndevices, BlockNumber nblocks, const GpbBound *bounds,
			  uint32 n, GpbNewMirror *pieces)
{
	GpbBound	at = GPB_BOUND_MIN;
	double		all = 0;
	double		done = 0;
	uint32		before = 0;
	int			i;

	for (i = 0; i < ndevices; i++)
		all += gpb_device_memory_limit(devices[i]);
	for (i = 0; i < ndevices; i++)
	{
		GpbNewMirror *piece = &pieces[i];
		double		limit = gpb_device_memory_limit(devices[i]);
		uint32		end = n;

		done += limit / all;
		piece->mode = GPB_MIRROR_PIECE;
		piece->device = devices[i];
		piece->range.lo = at;
		piece->range.hi = GPB_BOUND_MAX;
		if (i < ndevices - 1)
		{
			end = (uint32) (done * n);
			if (end >= n)
				return false;
			piece->range.hi.key = bounds[end].key;
			piece->range.hi.tie = 0;
			/* of entries of that key all are the next piece's */
			while (end > before && !gpb_bound_less(bounds[end - 1], piece->range.hi))
				end--;
		}
		piece->share = (end - before) / (double) n;
		if (!gpb_bound_less(piece->range.lo, piece->range.hi) ||
			piece->share * nblocks * BLCKSZ > limit)
			return false;
		at = piece->range.hi;
		before = end;
	}
	return true;
}

/*
 * Cut the index, unless somebody has meanwhile.  Returns GPB_NOT_MIRRORED if there is no room for
 * so many mirrors in the registry or the map, else 0, with *cut, which has no ranges if the index
 * cannot be cut.  Registry lock held exclusively.
 */
static int
cut_index(const GpbIdentity *identity, const GpbLayout *layout, BlockNumber nblocks,
		  const GpbBound *bounds, uint32 n, GpbMirrorCut *cut)
{
	int			devices[GPB_MAX_DEVICES];
	GpbNewMirror pieces[GPB_MAX_DEVICES];
	GpbCutState state;
	int			ndevices;
	int			i;

	cut->n = 0;
	if (gpb_mirror_mode_for(identity, nblocks) != GPB_MIRROR_PIECE)
		return 0;
	if (!gpb_has_pieces(identity))
	{
		ndevices = gpb_place_pieces(identity, nblocks, devices);
		if (!choose_ranges(devices, ndevices, nblocks, bounds, n, pieces))
		{
			/* its inner nodes are mirrored for the time being */
			for (i = 0; i < ndevices; i++)
				gpb_refuse_mirror(identity, GPB_MIRROR_PIECE, devices[i]);
			return 0;
		}
		gpb_registry_discard_former(identity);
		for (i = 0; i < ndevices; i++)
		{
			if (gpb_publish_empty(identity, layout, nblocks, &pieces[i]) == GPB_NOT_MIRRORED)
			{
				gpb_registry_discard_former(identity);
				return GPB_NOT_MIRRORED;
			}
		}
	}
	collect_cut(identity, &state);
	*cut = state.cut;
	return 0;
}

bool
gpb_mirror_make_cut(Relation index, const GpbLayout *layout, TimestampTz keep_since,
					const GpbBound *bounds, uint32 n, GpbMirrorCut *cut)
{
	GpbIdentity identity;
	BlockNumber nblocks;
	int			attempt;

	gpb_identity_of(index, &identity);
	nblocks = RelationGetNumberOfBlocks(index);
	for (attempt = 0; attempt < GPB_MIRRORS; attempt++)
	{
		int			outcome;

		LWLockAcquire(gpb_registry->lock, LW_EXCLUSIVE);
		outcome = cut_index(&identity, layout, nblocks, bounds, n, cut);
		LWLockRelease(gpb_registry->lock);
		if (outcome != GPB_NOT_MIRRORED)
			return cut->n > 0;
		if (!gpb_mirror_available() || !gpb_registry_free_one(GPB_NOT_MIRRORED, keep_since))
			return false;
	}
	return false;
}

/* ---- attaching ---- */

bool
gpb_mirror_attach_piece(Relation index, const GpbRange *range, TimestampTz keep_since,
						GpbMirrorRef *ref)
{
	GpbIdentity identity;
	int			slot;
	bool		found = false;

	if (!gpb_mirror_available() || !gpb_may_mirror(index))
		return false;
	gpb_identity_of(index, &identity);
	ref->keep_since = keep_since;
	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	for (slot = gpb_registry_next_piece(&identity, 0); slot != GPB_NOT_MIRRORED && !found;
		 slot = gpb_registry_next_piece(&identity, slot + 1))
	{
		const GpbRange *has = &gpb_registry->mirrors[slot].range;

		found = gpb_bound_cmp(has->lo, range->lo) == 0 && gpb_bound_cmp(has->hi, range->hi) == 0 &&
			gpb_slot_is_served(slot);
		if (found)
			gpb_refer(slot, ref);
	}
	LWLockRelease(gpb_registry->lock);
	return found;
}
