/*-------------------------------------------------------------------------
 *
 * turn.c
 *	  A turn of the refresher: a refresh of changed blocks that are in shared buffers.
 *
 * A turn is a refresh like any other, with the steps of refresh.c; what differs is which blocks it
 * copies, and that it waits for nobody but the service.
 *
 * The refresher has no lock on the relation, which may be dropped at any moment, and its file
 * number be given to another relation.  So it reads no page into shared buffers, and asks for no
 * file's size.  A block that has just changed is in shared buffers; where it is there under the
 * file's tag, it is pinned and copied.  If the file is another relation's by now the mirror is
 * discarded, or belongs to an identity that no index has any more (rule M1), and nobody reads its
 * images.
 *
 * A block that is not there, or whose page is damaged, is left to a query's refresh; one whose
 * content lock a writer holds, to the next turn.  The bit of a block is moved when its page is
 * locked (gpb_map_take), so a block that is left keeps its bits as they were.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/refresher/refresher.h"

#include "miscadmin.h"
#include "port/pg_bitutils.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/timestamp.h"

#include "hold.h"
#include "mirror/backend/held.h"
#include "mirror/backend/refresh.h"
#include "mirror/map/changed_map.h"
#include "mirror/refresher_state.h"
#include "mirror/settings.h"
#include "page/page.h"

/*
 * The most blocks that a turn looks for without copying them.  As many blocks may be left to the
 * refresher by a query (refresh_due.c), so a pass over those takes one turn.
 */
#define GPB_TURN_MISSES		4096

/*
 * An index grows by blocks that are written at once.  Beyond the blocks that the mirror covers, the
 * turn looks for new ones until so many in a row were not in shared buffers.
 */
#define GPB_TAIL_MISSES		32

typedef enum GpbCopyOutcome
{
	GPB_COPIED,
	GPB_COPY_BUSY,				/* a writer has the page */
	GPB_COPY_LEFT,				/* not in shared buffers, or damaged */
	GPB_COPY_FAILED				/* the refresh is to be given up */
} GpbCopyOutcome;

/* A turn at work; "refresh" comes first, so that its copy step finds the rest */
typedef struct GpbTurnWork
{
	GpbRefresh	refresh;
	GpbPass    *pass;
	uint32		budget;
	uint32		misses;			/* blocks looked for and not copied */
	uint32		busy;			/* those among them that a writer had */
	bool		more;
} GpbTurnWork;

/* ---- one block ---- */

/* Pin a block if it is in shared buffers and valid there; else return InvalidBuffer. */
static Buffer
pin_if_present(const RelFileNode *file, BlockNumber block)
{
	Buffer		buffer = gpb_find_buffer(file, block);

	if (!BufferIsValid(buffer))
		return InvalidBuffer;
	GPB_HOLD_SERVICE("turn-found");
	/* the buffer may be another block's by now, which this call finds out */
	if (!ReadRecentBuffer(*file, MAIN_FORKNUM, block, buffer))
		return InvalidBuffer;
	return buffer;
}

/* Is the page one that the device can be given?  The page is locked. */
static bool
page_is_sound(const GpbLayout *layout, BlockNumber block, Page page)
{
	return (block == GPB_META_BLOCK ? gpb_meta_fault(page, layout) :
			gpb_page_fault_at(block, page, layout)) == NULL;
}

/*
 * Copy a block into staging, if it is in shared buffers and no writer has it locked.  Its bit is
 * moved and its page copied under one share lock, and in this order (rule M3): a writer comes
 * before both, or marks the block after both.
 */
static GpbCopyOutcome
copy_present(GpbRefresh *refresh, BlockNumber block)
{
	const GpbMirrorRef *ref = refresh->ref;
	GpbCopyOutcome outcome = GPB_COPY_LEFT;
	Buffer		buffer;
	Page		page;

	if (!gpb_refresh_room(refresh))
		return GPB_COPY_FAILED;
	buffer = pin_if_present(&ref->file, block);
	if (buffer == InvalidBuffer)
		return GPB_COPY_LEFT;
	GPB_HOLD_SERVICE("turn-pinned");
	if (!GPB_CONDITIONAL_SHARE_LOCK(buffer))
	{
		ReleaseBuffer(buffer);
		return GPB_COPY_BUSY;
	}
	page = BufferGetPage(buffer);
	if (PageIsNew(page) || gpb_is_dictionary_page(page) ||
		page_is_sound(refresh->layout, block, page))
	{
		(void) gpb_map_take(ref->slot, block);
		gpb_refresh_note_taken(refresh, block);
		gpb_refresh_put_if_wanted(refresh, block, page);
		outcome = GPB_COPIED;
	}
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	ReleaseBuffer(buffer);
	GPB_HOLD_SERVICE("turn-after-copy");
	return outcome;
}

/* ---- all blocks ---- */

/*
 * Copy a block, or note why not.  Returns false if the turn is at its end; *ok becomes false if the
 * refresh is to be given up.
 */
static bool
turn_block(GpbTurnWork *work, BlockNumber block, GpbCopyOutcome *outcome)
{
	GpbRefresh *refresh = &work->refresh;

	CHECK_FOR_INTERRUPTS();
	*outcome = copy_present(refresh, block);
	if (*outcome == GPB_COPY_FAILED)
		return false;
	if (*outcome == GPB_COPIED)
	{
		refresh->ntodo++;
		refresh->nblocks = Max(refresh->nblocks, block + 1);
	}
	else
		work->misses++;
	work->busy += *outcome == GPB_COPY_BUSY;
	return refresh->ntodo < work->budget && work->misses < GPB_TURN_MISSES;
}

/*
 * Copy the new blocks behind those that the mirror covers, as far as the map has segments.  The map
 * grows by a query's refresh alone, which may have to evict another mirror for that.
 */
static bool
copy_tail(GpbTurnWork *work, BlockNumber first)
{
	int			slot = work->refresh.ref->slot;
	uint64		segments = pg_atomic_read_u32(&gpb_registry->mirrors[slot].nsegments);
	uint64		end = Min(segments * GPB_SEGMENT_BLOCKS, (uint64) MaxBlockNumber);
	uint32		misses = 0;
	uint64		block;

	for (block = first; block < end && misses < GPB_TAIL_MISSES; block++)
	{
		GpbCopyOutcome outcome;

		if (!turn_block(work, (BlockNumber) block, &outcome))
		{
			work->more = true;
			return outcome != GPB_COPY_FAILED;
		}
		misses = outcome == GPB_COPY_LEFT ? misses + 1 : 0;
	}
	return true;
}

/*
 * Step 3 of a refresh: from where the pass stands to its end, or until the turn's budget is spent.
 * The map is read without its blocks being moved, so what is read is a proposal: each block's bit
 * is moved when it is copied.  Returns false if the refresh is to be given up, or has nothing to
 * send.
 */
static bool
copy_changed_present(GpbRefresh *refresh)
{
	GpbTurnWork *work = (GpbTurnWork *) refresh;
	GpbPass    *pass = work->pass;
	BlockNumber covered = refresh->nblocks;
	uint32		nwords = gpb_map_words(covered);
	uint32	   *changed = palloc(Max(nwords, 1) * sizeof(uint32));

	gpb_map_read(refresh->ref->slot, covered, changed);
	for (; pass->word < nwords && !work->more; pass->word++)
	{
		uint32		bits = changed[pass->word];

		while (bits != 0)
		{
			BlockNumber block = pass->word * 32 + pg_rightmost_one_pos32(bits);
			GpbCopyOutcome outcome;

			bits &= bits - 1;
			if (block >= covered)
				break;
			work->more = !turn_block(work, block, &outcome);
			if (outcome == GPB_COPY_FAILED)
				return false;
			pass->left += outcome == GPB_COPY_LEFT;
			/* the rest of a word is looked at once more by the next turn */
			if (work->more && bits != 0)
				return refresh->ntaken > 0;
		}
	}
	if (!work->more && !copy_tail(work, covered))
		return false;
	return refresh->ntaken > 0;
}

/* The pass has seen all blocks: tell queries how many are left to them, and begin again. */
static void
pass_end(int slot, GpbPass *pass)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];

	pg_atomic_write_u32(&mirror->left_over, pass->left);
	pg_atomic_write_u64(&mirror->passed, (uint64) GetCurrentTimestamp());
	pass->word = 0;
	pass->left = 0;
}

/*
 * Refer to the mirror in a slot.  Returns false if there is none that the refresher cares for: the
 * first refresh is a query's, and so are those of inner nodes alone (refresh_inner.c says when).
 */
static bool
refer_to_refreshed(int slot, GpbMirrorRef *ref, GpbLayout *layout)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];
	bool		wanted;

	LWLockAcquire(gpb_registry->lock, LW_SHARED);
	wanted = pg_atomic_read_u32(&mirror->state) == GPB_MIRROR_LIVE &&
		pg_atomic_read_u32(&mirror->mode) != GPB_MIRROR_INNER_ONLY &&
		pg_atomic_read_u64(&mirror->epoch) != 0;
	ref->slot = slot;
	ref->device = mirror->device;
	ref->generation = pg_atomic_read_u64(&mirror->generation);
	ref->file = mirror->identity.file;
	ref->index = mirror->identity.index;
	ref->inner_only = false;
	ref->piece = pg_atomic_read_u32(&mirror->mode) == GPB_MIRROR_PIECE;
	ref->keep_since = 0;
	*layout = mirror->layout;
	LWLockRelease(gpb_registry->lock);
	return wanted;
}

/* Is there anything to copy?  Read without ownership: a moment later it may be otherwise. */
static bool
has_work(const GpbMirrorRef *ref, BlockNumber covered)
{
	Buffer		next;

	if (!gpb_map_is_clean(ref->slot, covered))
		return true;
	next = pin_if_present(&ref->file, covered);
	if (next == InvalidBuffer)
		return false;
	ReleaseBuffer(next);
	return true;
}

GpbTurn
gpb_refresher_turn(int slot, GpbPass *pass, uint32 budget)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[slot];
	GpbTurn		turn = {0, false, false};
	GpbTurnWork work;
	GpbMirrorRef ref;
	GpbLayout	layout;

	if (!refer_to_refreshed(slot, &ref, &layout))
		return turn;
	if (pass->generation != ref.generation)
	{
		memset(pass, 0, sizeof(*pass));
		pass->generation = ref.generation;
	}
	memset(&work, 0, sizeof(work));
	work.refresh.layout = &layout;
	work.refresh.ref = &ref;
	work.refresh.copy = copy_changed_present;
	work.pass = pass;
	work.budget = budget;
	if (!has_work(&ref, pg_atomic_read_u32(&mirror->nblocks)))
	{
		pass->left = 0;
		pass_end(slot, pass);
		return turn;
	}
	/* somebody else refreshes the mirror */
	if (!gpb_try_hold_ownership(slot))
		return turn;
	/* from here on the mirror's segments are ours, and no other refresh raises nblocks */
	work.refresh.nblocks = pg_atomic_read_u32(&mirror->nblocks);
	if (gpb_mirror_is_live(slot, ref.generation))
	{
		if (gpb_refresh_run(&work.refresh))
		{
			turn.pages = work.refresh.ntodo;
			pg_atomic_fetch_add_u64(&gpb_refresher->turns, 1);
			pg_atomic_fetch_add_u64(&gpb_refresher->pages, turn.pages);
		}
		turn.more = work.more;
		turn.fruitless = turn.pages == 0 && work.misses > work.busy;
		if (!work.more)
			pass_end(slot, pass);
	}
	gpb_release_ownership(slot);
	return turn;
}
