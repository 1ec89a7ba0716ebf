/*-------------------------------------------------------------------------
 *
 * page_move.c
 *	  Moving a page of the tree to another block, so that the file can be cut off before it.
 *
 * The page that moves leaves a deleted page behind, as one does whose keys its right sibling took
 * over; its siblings, and its parent or the metapage, lead to its new block afterwards.  All of
 * this is one record.  Nobody else has the index open, so there is no reader who could meet the
 * page at neither block, or at both, and none who has entries of it.  Old links in mirrors, and
 * those that processes remember, lead to the deleted page, or to none (rule M7).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/lmgr.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "index/index.h"
#include "index/xlog.h"

/* A page that is to move, and what leads to it; all exclusively locked, or InvalidBuffer */
typedef struct GpbMove
{
	Relation	index;
	const GpbLayout *layout;
	GpbBound	low;			/* of the page */
	uint16		level;
	Buffer		left;			/* siblings */
	Buffer		page;
	Buffer		right;
	Buffer		above;			/* the parent, or the metapage if the page is the root */
	uint16		position;		/* of the page's downlink in the parent, or GPB_MOVED_ROOT */
	Buffer		target;			/* the block where it goes */
} GpbMove;

static void
release(Buffer buffer)
{
	if (BufferIsValid(buffer))
		UnlockReleaseBuffer(buffer);
}

static void
release_move(GpbMove *move)
{
	release(move->target);
	release(move->above);
	release(move->right);
	release(move->page);
	release(move->left);
}

/*
 * Find the page of a level that covers the low bound of the page that is to move.  Returns its
 * block.  Pages are locked share, as a reader does, since a writer finishes splits on its way: that
 * takes blocks, and those that VACUUM has found to be free at the end of the file must stay so.
 */
static BlockNumber
find_block(const GpbMove *move, uint32 level)
{
	Buffer		buffer = gpb_search_level(move->index, move->layout, move->low, level,
										  BUFFER_LOCK_SHARE);
	BlockNumber block = BufferGetBlockNumber(buffer);

	UnlockReleaseBuffer(buffer);
	return block;
}

/* Find out where in the tree a page is.  Returns false if a descent does not lead to it. */
static bool
find_page(GpbMove *move, BlockNumber block)
{
	Buffer		buffer = gpb_read(move->index, block, BUFFER_LOCK_SHARE, move->layout);

	move->low = gpb_page_low(BufferGetPage(buffer));
	move->level = gpb_special(BufferGetPage(buffer))->level;
	UnlockReleaseBuffer(buffer);
	return find_block(move, move->level) == block;
}

/*
 * Lock the page and its siblings from left to right.  Returns false if the page is the right half
 * of a split that is not done, and so has no downlink.
 */
static bool
lock_level(GpbMove *move, BlockNumber block)
{
	Relation	index = move->index;
	Buffer		buffer = gpb_read(index, block, BUFFER_LOCK_SHARE, move->layout);
	BlockNumber left = gpb_special(BufferGetPage(buffer))->left;
	const GpbPageSpecial *special;

	UnlockReleaseBuffer(buffer);
	if (left != GPB_NO_BLOCK)
	{
		move->left = gpb_read(index, left, BUFFER_LOCK_EXCLUSIVE, move->layout);
		move->page = gpb_read(index, block, BUFFER_LOCK_EXCLUSIVE, move->layout);
		special = gpb_special(BufferGetPage(move->left));
		if (special->right != block)
			gpb_corrupted(index, left, "right link is not that of its right sibling");
		if ((special->flags & GPB_PAGE_INCOMPLETE_SPLIT) != 0)
			return false;
		gpb_require_right(index, move->page, left, move->level,
						  gpb_page_high(BufferGetPage(move->left)));
	}
	else
		move->page = gpb_read(index, block, BUFFER_LOCK_EXCLUSIVE, move->layout);
	special = gpb_special(BufferGetPage(move->page));
	if (special->right == GPB_NO_BLOCK)
		return true;
	move->right = gpb_read(index, special->right, BUFFER_LOCK_EXCLUSIVE, move->layout);
	gpb_require_right(index, move->right, block, move->level,
					  gpb_page_high(BufferGetPage(move->page)));
	return true;
}

/* Lock what leads down to the page, of whose level all is locked: the metapage, or the parent. */
static void
lock_above(GpbMove *move)
{
	Relation	index = move->index;
	BlockNumber block = BufferGetBlockNumber(move->page);
	GpbRange	range;
	Page		page;
	int			position;

	move->above = gpb_lock_meta(index, move->layout, BUFFER_LOCK_EXCLUSIVE);
	move->position = GPB_MOVED_ROOT;
	if (gpb_meta(BufferGetPage(move->above))->root == block)
		return;
	UnlockReleaseBuffer(move->above);
	move->above = gpb_read(index, find_block(move, move->level + 1), BUFFER_LOCK_EXCLUSIVE,
						   move->layout);
	page = BufferGetPage(move->above);
	position = gpb_child_position(move->layout, page, move->low);
	if (gpb_child_at(index, move->layout, BufferGetBlockNumber(move->above), page, position,
					 &range) != block ||
		gpb_bound_cmp(range.lo, move->low) != 0)
		gpb_corrupted(index, BufferGetBlockNumber(move->above),
					  "downlink of a page is not in its parent");
	move->position = (uint16) position;
}

/* See xlog.h. */
void
gpb_move_from(char *page, BlockNumber target)
{
	if (gpb_special((Page) page)->level == 0)
		gpb_page_truncate((Page) page, 0);
	gpb_special((Page) page)->flags |= GPB_PAGE_DELETED;
	/* A deleted page has a right link, whatever it leads to, and so a high key. */
	if (gpb_special((Page) page)->right == GPB_NO_BLOCK)
		gpb_set_high((Page) page, GPB_BOUND_MAX);
	gpb_special((Page) page)->right = target;
}

/* See xlog.h. */
void
gpb_move_link(char *page, uint16 position, BlockNumber target)
{
	if (position == GPB_MOVED_ROOT)
		gpb_meta((Page) page)->root = target;
	else
		memcpy(unconstify(char *, gpb_page_row(page, GPB_INNER_ROW_WIDTH, position)) +
			   GPB_LOCATOR_WIDTH, &target, sizeof(target));
}

/* Log what move_page() has done.  The numbers of the blocks are as in xlog.h. */
static XLogRecPtr
log_move(const GpbMove *move)
{
	xl_gpb_move record = {move->position};

	XLogBeginInsert();
	XLogRegisterData((char *) &record, sizeof(record));
	XLogRegisterBuffer(0, move->target, REGBUF_FORCE_IMAGE | REGBUF_STANDARD);
	XLogRegisterBuffer(1, move->page, REGBUF_STANDARD);
	XLogRegisterBuffer(2, move->above, REGBUF_STANDARD);
	if (BufferIsValid(move->left))
		XLogRegisterBuffer(3, move->left, REGBUF_STANDARD);
	if (BufferIsValid(move->right))
		XLogRegisterBuffer(4, move->right, REGBUF_STANDARD);
	return XLogInsert(GPB_RMGR_ID, GPB_XLOG_MOVE);
}

/* Move the page.  Everything is locked. */
static void
move_page(GpbMove *move)
{
	Relation	index = move->index;
	Buffer		buffers[] = {move->left, move->page, move->right, move->above, move->target};
	BlockNumber block = BufferGetBlockNumber(move->page);
	BlockNumber target = BufferGetBlockNumber(move->target);

	if (move->level == 0)
		PredicateLockPageCombine(index, block, target);
	gpb_mark_changed(index, block);
	gpb_mark_changed(index, target);
	gpb_mark_changed(index, BufferGetBlockNumber(move->above));
	if (BufferIsValid(move->left))
		gpb_mark_changed(index, BufferGetBlockNumber(move->left));

	START_CRIT_SECTION();

	memcpy(BufferGetPage(move->target), BufferGetPage(move->page), BLCKSZ);
	gpb_move_from(BufferGetPage(move->page), target);
	gpb_move_link(BufferGetPage(move->above), move->position, target);
	if (BufferIsValid(move->left))
		gpb_special(BufferGetPage(move->left))->right = target;
	if (BufferIsValid(move->right))
		gpb_special(BufferGetPage(move->right))->left = target;
	for (int i = 0; i < lengthof(buffers); i++)
	{
		if (BufferIsValid(buffers[i]))
			MarkBufferDirty(buffers[i]);
	}
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn = log_move(move);

		for (int i = 0; i < lengthof(buffers); i++)
		{
			if (BufferIsValid(buffers[i]))
				PageSetLSN(BufferGetPage(buffers[i]), lsn);
		}
	}

	END_CRIT_SECTION();
}

bool
gpb_move_page(Relation index, const GpbLayout *layout, BlockNumber block)
{
	GpbMove		move = {index, layout};
	bool		moved = false;

	Assert(RELATION_IS_LOCAL(index) ||
		   CheckRelationLockedByMe(index, AccessExclusiveLock, false));
	if (!find_page(&move, block))
		return false;
	if (lock_level(&move, block))
	{
		lock_above(&move);
		move.target = gpb_free_block_before(index, block);
	}
	if (BufferIsValid(move.target))
	{
		move_page(&move);
		moved = true;
	}
	release_move(&move);
	return moved;
}
