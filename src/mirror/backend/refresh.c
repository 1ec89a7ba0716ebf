/*-------------------------------------------------------------------------
 *
 * refresh.c
 *	  Bring a mirror up to date: the backend's side of rules M3 and M5.
 *
 * A refresh, in order:
 *
 *	1. take the mirror's ownership; read the index's size (the mirror has been
 *	   published with all bits set before: M2); let the map cover it;
 *	2. move: in-flight |= changed, barrier, clear those bits in changed;
 *	3. copy every block in flight into staging, each under its share lock, and hand
 *	   transfers to the service, stamped with a new value of the one counter;
 *	4. wait until the device has them, and the new inner image with them;
 *	5. publish the stamp as the mirror's epoch;
 *	6. clear the in-flight bits; give ownership back.
 *
 * Why the published epoch keeps Ti <= Ta (M5): a reader reads the epoch E before it reads the
 * visibility map (Ta), and trusts images stamped E or less.  E was published in step 5 of the
 * refresh that stamped E, after the last copy of its step 3 (Ti); earlier stamps of this mirror
 * belong to earlier refreshes, which ownership has put entirely before.  So every image the reader
 * trusts was copied before the epoch was published, therefore before Ta.  A refresh running beside
 * the reader has a higher stamp, whatever of it the device already holds.  Publishing before step 6
 * means that a reader who finds no bit set also finds the epoch that makes those images trusted;
 * publishing after step 4 means that it need not ask before they are usable.
 *
 * A refresh that stops half way, by error or by exit, leaves its in-flight bits
 * set: the next one copies those blocks again (M3).  Its transfers not yet run are abandoned before
 * its ownership ends (held.c), and the service drops them.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/backend/refresh.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/bufpage.h"
#include "utils/memutils.h"
#include "utils/rel.h"

#include "hold.h"
#include "mirror/backend/held.h"
#include "mirror/map/changed_map.h"
#include "mirror/map/eviction.h"
#include "page/page.h"

/*
 * Copy one page into the staging being filled.  A page never initialized (a crash between
 * extension and first use) gets no image, and so is never clean; pages above
 * level 1 are of no use to the device.  Share lock and pin only while copying.
 * Raises ERRCODE_INDEX_CORRUPTED.
 */
static void
refresh_copy(GpbRefresh *refresh, BlockNumber block)
{
	Buffer		buffer = gpb_pin(refresh->index, InvalidBuffer, block,
								 refresh->strategy);
	Page		page;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	if (!PageIsNew(page))
	{
		if (block != GPB_META_BLOCK)
			gpb_page_require(refresh->index, block, page, refresh->layout);
		if (block == GPB_META_BLOCK || gpb_page_special(page)->level <= 1)
			(void) gpb_refresh_put(refresh, block, page);
	}
	UnlockReleaseBuffer(buffer);
}

/*
 * Step 3 for a mirror of all pages: copy every block in flight.  Returns false if the refresh is to
 * be given up.
 */
static bool
refresh_copy_changed(GpbRefresh *refresh)
{
	uint32		nwords = gpb_map_words(refresh->nblocks);
	uint32		w;

	for (w = 0; w < nwords; w++)
	{
		uint32		bits = refresh->todo[w];

		while (bits != 0)
		{
			BlockNumber block = w * 32 + pg_rightmost_one_pos32(bits);

			bits &= bits - 1;
			if (!gpb_refresh_room(refresh))
				return false;
			CHECK_FOR_INTERRUPTS();
			refresh_copy(refresh, block);
		}
	}
	return true;
}

/*
 * Steps 3 and 4: copy the blocks and wait until the device has them.  Returns false if the refresh
 * is to be given up.
 */
static bool
refresh_copy_all(GpbRefresh *refresh)
{
	if (!(refresh->ref->inner_only ? gpb_refresh_copy_inner(refresh) :
		  refresh_copy_changed(refresh)))
		return false;
	/* the last transfer also asks for the inner image, so all others must have been taken */
	if (!gpb_refresh_drain(refresh))
		return false;
	gpb_refresh_send(refresh, true);
	return gpb_refresh_drain(refresh);
}

/* ---- the whole ---- */

/*
 * The buffer access strategy for copying ntodo blocks, or NULL.  Pages that are in shared buffers
 * are used there whatever the strategy; the ring keeps the others from pushing everything else out.
 */
static BufferAccessStrategy
refresh_strategy(uint32 ntodo)
{
	return ntodo > (uint32) NBuffers / 4 ? GetAccessStrategy(BAS_BULKREAD) : NULL;
}

/*
 * Steps 2 to 6.  The caller owns the mirror's refresh.  Returns false if the refresh was given up.
 */
static bool
refresh_move_and_copy(GpbRefresh *refresh)
{
	int			slot = refresh->ref->slot;
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];
	bool		ok;

	if (!refresh->ref->inner_only)
	{
		refresh->todo = MemoryContextAllocHuge(CurrentMemoryContext,
											   gpb_map_words(refresh->nblocks) * sizeof(uint32));
		refresh->ntodo = gpb_map_move(slot, refresh->nblocks, refresh->todo);
	}
	/* a mirror of the inner nodes moves its blocks one by one, as they are copied */
	GPB_HOLD("refresh-after-move");
	refresh->stamp = pg_atomic_add_fetch_u64(&gpb_registry->epoch, 1);
	refresh->strategy = refresh_strategy(refresh->ntodo);
	refresh->request[0] = gpb_request_claim(GPB_REFRESH_SLOT, refresh->ref, true);
	if (refresh->request[0] == NULL)
		return false;
	refresh->nrequests = 1;

	GPB_HOLD("refresh-before-copy");
	ok = refresh_copy_all(refresh);
	GPB_HOLD("refresh-before-publish");
	if (ok)
	{
		pg_memory_barrier();
		pg_atomic_write_u64(&mirror->epoch, refresh->stamp);
		pg_atomic_write_u32(&mirror->nblocks, refresh->nblocks);
		pg_memory_barrier();
		if (refresh->ref->inner_only)
			gpb_refresh_inner_done(refresh);
		else
			gpb_map_clear_in_flight(slot, refresh->nblocks, refresh->todo);
		pg_atomic_write_u64(&mirror->stale_moves, 0);
		pg_atomic_fetch_add_u64(&mirror->refreshes, 1);
	}
	while (refresh->nrequests > 0)
		gpb_request_end(refresh->request[--refresh->nrequests]);
	if (refresh->strategy != NULL)
		FreeAccessStrategy(refresh->strategy);
	if (refresh->todo != NULL)
		pfree(refresh->todo);
	if (refresh->taken != NULL)
		pfree(refresh->taken);
	return ok;
}

/*
 * Is there nothing that a refresh would do?  A mirror of the inner nodes alone always needs one,
 * since the bits of leaves stay set and tell nothing; separators says that only these are wanted,
 * and no more up to date than pays.
 */
static bool
refresh_is_needless(const GpbMirrorRef *ref, BlockNumber nblocks, bool separators)
{
	if (separators)
		return gpb_mirror_epoch(ref) != 0 && !gpb_separators_are_due(ref, nblocks);
	return !ref->inner_only && gpb_map_is_clean(ref->slot, nblocks) &&
		gpb_mirror_epoch(ref) != 0;
}

/*
 * Refresh a mirror if that is needed.  separators says that only these are wanted, and no more up
 * to date than pays.  Returns false if the mirror is of no use.
 */
static bool
refresh_as_needed(Relation index, const GpbLayout *layout, const GpbMirrorRef *ref,
				  bool separators, uint64 *blocks)
{
	GpbRefresh	refresh;
	bool		ok;

	*blocks = 0;
	if (refresh_is_needless(ref, RelationGetNumberOfBlocks(index), separators))
		return true;

	memset(&refresh, 0, sizeof(refresh));
	refresh.index = index;
	refresh.layout = layout;
	refresh.ref = ref;
	if (!gpb_hold_ownership(ref->slot))
		return false;
	/* a live mirror of ours cannot be freed while we own it */
	refresh.nblocks = RelationGetNumberOfBlocks(index);
	if (!gpb_mirror_is_live(ref->slot, ref->generation))
		ok = false;
	else if (refresh_is_needless(ref, refresh.nblocks, separators))
		ok = true;				/* the one before us did it */
	else
		ok = gpb_registry_grow(ref->slot, refresh.nblocks) &&
			refresh_move_and_copy(&refresh);
	gpb_release_ownership(ref->slot);
	*blocks = refresh.ntodo;
	return ok;
}

bool
gpb_mirror_refresh(Relation index, const GpbLayout *layout, const GpbMirrorRef *ref,
				   uint64 *blocks)
{
	return refresh_as_needed(index, layout, ref, false, blocks);
}

bool
gpb_mirror_refresh_separators(Relation index, const GpbLayout *layout, const GpbMirrorRef *ref,
							  uint64 *blocks)
{
	return refresh_as_needed(index, layout, ref, true, blocks);
}
