/*-------------------------------------------------------------------------
 *
 * refresh_inner.c
 *	  The refresh of a mirror that has the inner nodes alone: which pages, and when.
 *
 * Which pages.  Level 2 names all pages of level 1, and has one page for some hundreds of them: it
 * is read whole.  Of the pages named those are copied that are marked changed (M2) or were in
 * flight (M3); those that have split since level 2 learned of it lead by their right links to pages
 * that it does not name yet, and these are copied too.  So each image's right link leads to a page
 * that has an image, and the chain (inner.c) has no gap.  Marks of leaves are neither looked at nor
 * cleared: the bit of a block is moved when the block is about to be copied, so no block is ever
 * counted as copied that was not.
 *
 * When.  Old separators are harmless (M7); each leaf split since costs the searches that come there
 * a step to the right.  So it is a matter of renting or buying: as soon as the steps that were paid
 * since the last refresh are as many as the pages that one would copy, it is made, and so never
 * costs more than was lost before it.  And only if the file has grown, or was cut off: without a
 * split no separator is new, and steps to the right come from elsewhere (a key that is its leaf's
 * first is looked for one leaf to the left).
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/backend/refresh.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "mirror/map/changed_map.h"
#include "page/page.h"

/* What a refresh costs whatever it copies, counted in pages copied */
#define GPB_REFRESH_FIXED	16
/* Roughly how many pages of level 1 a page of level 2 names; tells what reading level 2 costs */
#define GPB_INNER_FANOUT	256

/* Would a refresh pay, now that the index has nblocks blocks? */
bool
gpb_separators_are_due(const GpbMirrorRef *ref, BlockNumber nblocks)
{
	GpbMirrorSlot *mirror = &gpb_registry->mirrors[ref->slot];
	uint32		before = pg_atomic_read_u32(&mirror->nblocks);
	uint64		moves = pg_atomic_read_u64(&mirror->stale_moves);
	uint32		inner = pg_atomic_read_u32(&mirror->inner_blocks);
	uint64		price = GPB_REFRESH_FIXED;

	if (nblocks == before || moves <= price)
		return false;
	if (ref->inner_only)
		price += (nblocks > before ? Min(nblocks - before, inner) : 0) + inner / GPB_INNER_FANOUT;
	else
		price += gpb_map_count(ref->slot, nblocks);
	return moves > price;
}

/*
 * Copy a page of level 1 that level 2 names, if it has changed, and the pages to its right up to
 * the next page that level 2 names, or to the end if that is GPB_NO_BLOCK.  Share lock on each page
 * while copying, one at a time.  Returns false if the refresh is to be given up.  Raises
 * ERRCODE_INDEX_CORRUPTED.
 */
static bool
copy_level_one(GpbRefresh *refresh, BlockNumber block, BlockNumber next)
{
	int			slot = refresh->ref->slot;
	BlockNumber left = GPB_NO_BLOCK;
	GpbBound	low = GPB_BOUND_MIN;

	refresh->inner_blocks++;
	if (!gpb_map_take(slot, block))
		return true;
	while (block != next)
	{
		Buffer		buffer;
		const char *copy;

		CHECK_FOR_INTERRUPTS();
		gpb_refresh_note_taken(refresh, block);
		if (!gpb_refresh_room(refresh))
			return false;
		buffer = left == GPB_NO_BLOCK ?
			gpb_read(refresh->index, block, BUFFER_LOCK_SHARE, refresh->layout) :
			gpb_read_right(refresh->index, refresh->layout, left, block, 1, low,
						   BUFFER_LOCK_SHARE);
		/* The page was deleted since the link to it was read: the next refresh finds its way. */
		if (!BufferIsValid(buffer))
			return false;
		if (!gpb_page_leads_to(BufferGetPage(buffer), 1, GPB_BOUND_MAX))
		{
			UnlockReleaseBuffer(buffer);
			return false;
		}
		copy = gpb_refresh_put(refresh, block, BufferGetPage(buffer));
		UnlockReleaseBuffer(buffer);
		refresh->ntodo++;
		left = block;
		low = gpb_page_high(copy);
		block = gpb_page_special(copy)->right;
		if (block == GPB_NO_BLOCK)
			break;
		if (block != next)
		{
			(void) gpb_map_take(slot, block);
			refresh->inner_blocks++;
		}
	}
	return true;
}

/*
 * The leftmost page of level 2, locked share: the root, or what the first downlinks below it lead
 * to.  Returns InvalidBuffer if one of them was deleted meanwhile.  Raises ERRCODE_INDEX_CORRUPTED.
 */
static Buffer
leftmost_of_level_two(GpbRefresh *refresh, const GpbMeta *meta)
{
	const GpbLayout *layout = refresh->layout;
	Buffer		buffer = gpb_read(refresh->index, meta->root, BUFFER_LOCK_SHARE, layout);
	uint32		level;

	if (!gpb_page_leads_to(BufferGetPage(buffer), meta->level, GPB_BOUND_MIN))
	{
		UnlockReleaseBuffer(buffer);
		return InvalidBuffer;
	}
	for (level = meta->level; level > 2 && BufferIsValid(buffer); level--)
	{
		Page		page = BufferGetPage(buffer);
		GpbRange	range;
		BlockNumber child = gpb_child_at(refresh->index, layout, BufferGetBlockNumber(buffer), page,
										 gpb_child_position(layout, page, GPB_BOUND_MIN), &range);

		buffer = gpb_step_down(refresh->index, layout, buffer, child, range.lo,
							   BUFFER_LOCK_SHARE);
	}
	return buffer;
}

/* Copy the pages of level 1 that level 2 names, from its leftmost page on. */
static bool
copy_below_level_two(GpbRefresh *refresh, const GpbMeta *meta)
{
	PGAlignedBlock image;
	BlockNumber block;
	BlockNumber named = GPB_NO_BLOCK;	/* and not copied yet */
	BlockNumber right;
	Buffer		buffer = leftmost_of_level_two(refresh, meta);

	for (;;)
	{
		int			i;

		if (!BufferIsValid(buffer))
			return false;
		memcpy(image.data, BufferGetPage(buffer), BLCKSZ);
		block = BufferGetBlockNumber(buffer);
		UnlockReleaseBuffer(buffer);
		for (i = 0; i < gpb_page_count(image.data); i++)
		{
			BlockNumber child = gpb_row_child(gpb_page_row(image.data, GPB_INNER_ROW_WIDTH, i));

			if (named != GPB_NO_BLOCK && !copy_level_one(refresh, named, child))
				return false;
			named = child;
		}
		right = gpb_page_special(image.data)->right;
		if (right == GPB_NO_BLOCK)
			break;
		buffer = gpb_read_right(refresh->index, refresh->layout, block, right, 2,
								gpb_page_high(image.data), BUFFER_LOCK_SHARE);
	}
	return named == GPB_NO_BLOCK || copy_level_one(refresh, named, GPB_NO_BLOCK);
}

/*
 * Step 3 of a refresh (refresh.c) for a mirror of the inner nodes: copy the metapage, which says
 * where the tree begins, and the changed pages of level 1.  Returns false if the refresh is to be
 * given up.
 */
bool
gpb_refresh_copy_inner(GpbRefresh *refresh)
{
	Buffer		buffer = gpb_lock_meta(refresh->index, refresh->layout, BUFFER_LOCK_SHARE);
	GpbMeta		meta;

	memcpy(&meta, gpb_meta(gpb_refresh_put(refresh, GPB_META_BLOCK, BufferGetPage(buffer))),
		   sizeof(meta));
	UnlockReleaseBuffer(buffer);
	refresh->ntodo++;
	if (meta.level == 0)
		return true;
	if (meta.level == 1)
		return copy_level_one(refresh, meta.root, GPB_NO_BLOCK);
	return copy_below_level_two(refresh, &meta);
}
