/*-------------------------------------------------------------------------
 *
 * refresh.c
 *	  Bring a mirror up to date: rules M3 and M5 on the side of backends and of the refresher.
 *
 * A refresh, in order:
 *
 *	1. take the mirror's ownership; read the index's size (the mirror has been
 *	   published with all bits set before: M2); let the map cover it;
 *	2. move: in-flight |= changed, barrier, clear those bits in changed;
 *	3. copy every block in flight into staging, each under its share lock, and hand
 *	   transfers to the service, stamped with a new value of the one counter (where blocks
 *	   are moved one by one, step 2 for a block comes just before its copy);
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
#include "utils/memutils.h"
#include "utils/rel.h"
#include "utils/timestamp.h"

#include "hold.h"
#include "mirror/backend/held.h"
#include "mirror/map/changed_map.h"
#include "mirror/map/eviction.h"
#include "mirror/refresher_state.h"
#include "page/page.h"

/* The blocks of a refresh that are still to be read */
typedef struct GpbRefreshBlocks
{
	const uint32 *todo;			/* a bit for each block that is in flight */
	uint32		nwords;
	uint32		word;			/* number of the next word of todo */
	uint32		bits;			/* of the word before it, those to come */
	int			room;			/* so many more blocks the staging being filled has room for */
} GpbRefreshBlocks;

/*
 * A ReadStreamBlockNumberCB.  Names no more blocks than there is room for, since nothing may be
 * pinned while staging is waited for (rule M9).
 */
static BlockNumber
next_in_flight(ReadStream *stream, void *arg, void *buffer_data)
{
	GpbRefreshBlocks *blocks = arg;
	BlockNumber block;

	while (blocks->bits == 0 && blocks->word < blocks->nwords)
		blocks->bits = blocks->todo[blocks->word++];
	if (blocks->bits == 0 || blocks->room == 0)
		return InvalidBlockNumber;
	block = (blocks->word - 1) * 32 + pg_rightmost_one_pos32(blocks->bits);
	blocks->bits &= blocks->bits - 1;
	blocks->room--;
	return block;
}

/*
 * Copy the page of a pinned buffer into the staging being filled, and give up the pin.  Share lock
 * only while copying.  Raises ERRCODE_INDEX_CORRUPTED.
 */
static void
refresh_copy(GpbRefresh *refresh, Buffer buffer)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	Page		page = BufferGetPage(buffer);

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	if (!PageIsNew(page) && block != GPB_META_BLOCK && !gpb_is_dictionary_page(page))
		gpb_page_require(refresh->index, block, page, refresh->layout);
	gpb_refresh_put_if_wanted(refresh, block, page);
	UnlockReleaseBuffer(buffer);
}

/*
 * Step 3 for a mirror of all pages: copy every block in flight.  Returns false if the refresh is to
 * be given up.
 */
static bool
refresh_copy_changed(GpbRefresh *refresh)
{
	GpbRefreshBlocks blocks = {refresh->todo, gpb_map_words(refresh->nblocks)};
	ReadStream *stream = read_stream_begin_relation(READ_STREAM_USE_BATCHING, refresh->strategy,
													refresh->index, MAIN_FORKNUM,
													next_in_flight, &blocks, 0);
	bool		ok = true;

	while (ok && (blocks.bits != 0 || blocks.word < blocks.nwords))
	{
		ok = gpb_refresh_room(refresh);
		blocks.room = GPB_UPLOAD_PAGES - refresh->npages;
		while (ok)
		{
			Buffer		buffer = gpb_stream_pin(refresh->index, stream);

			if (!BufferIsValid(buffer))
				break;
			CHECK_FOR_INTERRUPTS();
			refresh_copy(refresh, buffer);
		}
		read_stream_reset(stream);
	}
	read_stream_end(stream);
	return ok;
}

/*
 * Steps 3 and 4: copy the blocks and wait until the device has them.  Returns false if the refresh
 * is to be given up.
 */
static bool
refresh_copy_all(GpbRefresh *refresh)
{
	if (!refresh->copy(refresh))
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

/* Steps 5 and 6: all that is in flight for this refresh has its images. */
static void
refresh_publish(GpbRefresh *refresh)
{
	int			slot = refresh->ref->slot;
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];
	uint32		i;

	pg_memory_barrier();
	pg_atomic_write_u64(&mirror->epoch, refresh->stamp);
	pg_atomic_write_u32(&mirror->nblocks, refresh->nblocks);
	pg_memory_barrier();
	if (refresh->todo != NULL)
		gpb_map_clear_in_flight(slot, refresh->nblocks, refresh->todo);
	for (i = 0; i < refresh->ntaken; i++)
		gpb_map_put(slot, refresh->taken[i]);
}

bool
gpb_refresh_run(GpbRefresh *refresh)
{
	bool		ok;

	refresh->stamp = pg_atomic_add_fetch_u64(&gpb_registry->epoch, 1);
	refresh->request[0] = gpb_request_claim(GPB_REFRESH_SLOT, refresh->ref, refresh->wait);
	if (refresh->request[0] == NULL)
		return false;
	refresh->nrequests = 1;

	GPB_HOLD("refresh-before-copy");
	ok = refresh_copy_all(refresh);
	GPB_HOLD("refresh-before-publish");
	if (ok)
		refresh_publish(refresh);
	while (refresh->nrequests > 0)
		gpb_request_end(refresh->request[--refresh->nrequests]);
	return ok;
}

/*
 * Steps 2 to 6 of a query's refresh.  The caller owns the mirror's refresh.  Returns false if the
 * refresh was given up.
 */
static bool
refresh_move_and_copy(GpbRefresh *refresh)
{
	int			slot = refresh->ref->slot;
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];
	bool		ok;

	/* a mirror of the inner nodes moves its blocks one by one, as they are copied */
	refresh->copy = gpb_refresh_copy_inner;
	refresh->wait = true;
	refresh->first = pg_atomic_exchange_u32(&mirror->begun, 1) == 0;
	if (!refresh->ref->inner_only)
	{
		refresh->copy = refresh_copy_changed;
		refresh->todo = MemoryContextAllocHuge(CurrentMemoryContext,
											   gpb_map_words(refresh->nblocks) * sizeof(uint32));
		refresh->ntodo = gpb_map_move(slot, refresh->nblocks, refresh->todo);
	}
	GPB_HOLD("refresh-after-move");
	refresh->strategy = refresh_strategy(refresh->ntodo);
	ok = gpb_refresh_run(refresh);
	if (ok)
	{
		if (refresh->ref->inner_only)
			pg_atomic_write_u32(&mirror->inner_blocks, refresh->inner_blocks);
		pg_atomic_write_u64(&mirror->stale_moves, 0);
		pg_atomic_write_u32(&mirror->left_over, 0);
		pg_atomic_write_u64(&mirror->rent, 0);
		pg_atomic_fetch_add_u64(&mirror->refreshes, 1);
	}
	if (refresh->strategy != NULL)
		FreeAccessStrategy(refresh->strategy);
	if (refresh->todo != NULL)
		pfree(refresh->todo);
	if (refresh->taken != NULL)
		pfree(refresh->taken);
	return ok;
}

/*
 * "queried" is no more exact than this, in milliseconds, so that not every query writes to memory
 * that all others read.
 */
#define GPB_QUERIED_MS		100

/* What a refresh is made for */
typedef enum GpbRefreshAim
{
	GPB_REFRESH_ALL,			/* every change before the call has its image afterwards */
	GPB_REFRESH_FOR_QUERY,		/* few changes may be left to the refresher */
	GPB_REFRESH_SEPARATORS		/* only separators are wanted, and no more up to date than pays */
} GpbRefreshAim;

/* The blocks that the mirror covers */
static BlockNumber
blocks_covered(const GpbMirrorRef *ref)
{
	return pg_atomic_read_u32(&gpb_registry->mirrors[ref->slot].nblocks);
}

/*
 * Is there nothing that a refresh would do, or nothing that it need do for this aim?  A mirror of
 * the inner nodes alone always needs one, since the bits of leaves stay set and tell nothing.
 *
 * The mirror covered so many blocks before the index had nblocks: if those are fewer, VACUUM has
 * cut off the end of the file.  The bits of what is gone stay set, and the refresher would look for
 * it again and again, until a query's refresh leaves it out.
 */
static bool
refresh_is_needless(const GpbMirrorRef *ref, BlockNumber covered, BlockNumber nblocks,
					GpbRefreshAim aim)
{
	if (gpb_mirror_epoch(ref) == 0)
		return false;
	if (aim == GPB_REFRESH_SEPARATORS)
		return !gpb_separators_are_due(ref, nblocks);
	if (ref->inner_only || covered > nblocks)
		return false;
	if (aim == GPB_REFRESH_FOR_QUERY && gpb_refresher_works())
		return gpb_refresh_can_wait(ref, nblocks);
	return gpb_map_is_clean(ref->slot, nblocks);
}

/*
 * Refresh a mirror if the aim asks for it.  Returns false if the mirror is of no use.
 */
static bool
refresh_as_needed(Relation index, const GpbLayout *layout, const GpbMirrorRef *ref,
				  GpbRefreshAim aim, uint64 *blocks)
{
	BlockNumber covered = blocks_covered(ref);
	GpbRefresh	refresh;
	bool		ok;

	*blocks = 0;
	if (refresh_is_needless(ref, covered, RelationGetNumberOfBlocks(index), aim))
		return true;

	memset(&refresh, 0, sizeof(refresh));
	refresh.index = index;
	refresh.layout = layout;
	refresh.ref = ref;
	if (!gpb_hold_ownership(ref->slot))
		return false;
	/* a live mirror of ours cannot be freed while we own it */
	covered = blocks_covered(ref);
	refresh.nblocks = RelationGetNumberOfBlocks(index);
	if (!gpb_mirror_is_live(ref->slot, ref->generation))
		ok = false;
	else if (refresh_is_needless(ref, covered, refresh.nblocks, aim))
		ok = true;				/* the one before us did it */
	else
		ok = gpb_registry_grow(ref, refresh.nblocks) &&
			refresh_move_and_copy(&refresh);
	gpb_release_ownership(ref->slot);
	*blocks = refresh.ntodo;
	return ok;
}

bool
gpb_mirror_refresh(Relation index, const GpbLayout *layout, const GpbMirrorRef *ref,
				   uint64 *blocks)
{
	return refresh_as_needed(index, layout, ref, GPB_REFRESH_ALL, blocks);
}

bool
gpb_mirror_refresh_for_query(Relation index, const GpbLayout *layout, const GpbMirrorRef *ref,
							 uint64 *blocks)
{
	pg_atomic_uint64 *queried = &gpb_registry->mirrors[ref->slot].queried;
	TimestampTz now = GetCurrentTimestamp();

	/* The mirror is hot; that somebody calls gpubtree_refresh() does not say that queries come. */
	if (TimestampDifferenceExceeds((TimestampTz) pg_atomic_read_u64(queried), now,
								   GPB_QUERIED_MS))
		pg_atomic_write_u64(queried, (uint64) now);
	gpb_wake_refresher();
	return refresh_as_needed(index, layout, ref, GPB_REFRESH_FOR_QUERY, blocks);
}

bool
gpb_mirror_refresh_separators(Relation index, const GpbLayout *layout, const GpbMirrorRef *ref,
							  uint64 *blocks)
{
	return refresh_as_needed(index, layout, ref, GPB_REFRESH_SEPARATORS, blocks);
}
