/*-------------------------------------------------------------------------
 *
 * search.c
 *	  Descending the tree, and moving right in it (Lehman and Yao).
 *
 * A descent holds one lock at a time.  Between a parent and its child, and
 * between a page and its right sibling, nothing is locked, so the page reached
 * may have been split meanwhile; what was wanted is then to its right, and a
 * bound at or beyond the high key says so.  Pages are never deleted, so a link
 * read at any time in the past leads to the target or to its left.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "miscadmin.h"
#include "utils/rel.h"

/*
 * Return the root, pinned and locked share, in search of a page on the target level.
 *
 * The root that the relcache remembers is still the root if it is alone on its level: a root's
 * split gives it a right sibling, for ever.  Pages below the target level are not locked here,
 * since the caller may have locked them.
 */
static Buffer
read_root(Relation index, const GpbLayout *layout, uint32 target)
{
	GpbRelCache *cache = gpb_rel_cache(index);
	const GpbPageSpecial *special;
	GpbMeta		meta;
	Buffer		buffer;

	if (cache->root != InvalidBlockNumber && cache->level >= target)
	{
		buffer = gpb_read(index, cache->root, BUFFER_LOCK_SHARE, layout);
		special = gpb_special(BufferGetPage(buffer));
		if (special->level == cache->level &&
			special->left == GPB_NO_BLOCK && special->right == GPB_NO_BLOCK)
			return buffer;
		UnlockReleaseBuffer(buffer);
		cache->root = InvalidBlockNumber;
	}

	/* The root may be split before we lock it, but it stays the first page on its level. */
	gpb_read_meta(index, layout, &meta);
	if (meta.level < target)
		gpb_corrupted(index, GPB_META_BLOCK,
					  "root is below the level of other pages");
	buffer = gpb_read(index, meta.root, BUFFER_LOCK_SHARE, layout);
	special = gpb_special(BufferGetPage(buffer));
	if (special->level != meta.level || special->left != GPB_NO_BLOCK)
		gpb_corrupted(index, meta.root, "the metapage's root is not a root");
	cache->root = meta.root;
	cache->level = meta.level;
	return buffer;
}

/* Exchange a locked page for its right sibling, locked in the mode "lock" as the page was. */
static Buffer
step_right(Relation index, const GpbLayout *layout, Buffer buffer, int lock)
{
	const GpbPageSpecial *special = gpb_special(BufferGetPage(buffer));
	BlockNumber left = BufferGetBlockNumber(buffer);
	BlockNumber right = special->right;
	uint16		level = special->level;
	GpbBound	low = gpb_page_high(BufferGetPage(buffer));

	UnlockReleaseBuffer(buffer);
	CHECK_FOR_INTERRUPTS();
	return gpb_read_right(index, layout, left, right, level, low, lock);
}

/*
 * Move right from a locked page of any level until the page covers bound (bound < high key).  Every
 * page is locked in the mode "lock", one at a time; the one returned stays locked.
 */
static Buffer
move_right(Relation index, const GpbLayout *layout, Buffer buffer,
		   GpbBound bound, int lock)
{
	while (!gpb_page_covers(BufferGetPage(buffer), bound))
		buffer = step_right(index, layout, buffer, lock);
	return buffer;
}

/*
 * Move right as move_right() does, for a writer: no page marked with an incomplete split is
 * passed or returned, but its split is finished first.  So a page that a writer holds has its
 * downlink, and so have all pages to its left.
 */
static Buffer
move_right_finishing(Relation index, const GpbLayout *layout,
					 Buffer buffer, GpbBound bound, int lock,
					 const GpbStack *stack)
{
	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		BlockNumber block;

		if ((gpb_special(page)->flags & GPB_PAGE_INCOMPLETE_SPLIT) == 0)
		{
			if (likely(gpb_page_covers(page, bound)))
				return buffer;
			buffer = step_right(index, layout, buffer, lock);
			continue;
		}

		block = BufferGetBlockNumber(buffer);
		if (lock != BUFFER_LOCK_EXCLUSIVE)
		{
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
		}
		/* Another writer may have finished it while we held no lock. */
		if ((gpb_special(page)->flags & GPB_PAGE_INCOMPLETE_SPLIT) != 0)
			gpb_finish_split(index, layout, buffer, stack);
		else
			UnlockReleaseBuffer(buffer);
		buffer = gpb_read(index, block, lock, layout);
	}
}

/*
 * Descend to the page of the target level that covers bound; it is locked in the mode "lock" on
 * return.  Pages above it are locked share, one at a time.  With a stack the descent finishes
 * incomplete splits and leaves its path there.
 */
static Buffer
descend(Relation index, const GpbLayout *layout, GpbBound bound,
		uint32 target, int lock, GpbStack *stack)
{
	Buffer		buffer = read_root(index, layout, target);
	uint32		level = gpb_special(BufferGetPage(buffer))->level;
	int			held = BUFFER_LOCK_SHARE;

	if (stack != NULL)
		stack->height = level;

	for (;;)
	{
		BlockNumber child;
		GpbRange	range;

		if (level == target && held != lock)
		{
			/*
			 * The page is the root.  If it is split meanwhile and so no longer the root, moving
			 * right still leads to the page wanted.
			 */
			LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
			LockBuffer(buffer, lock);
			held = lock;
		}
		if (stack != NULL)
			buffer = move_right_finishing(index, layout, buffer, bound,
										  held, stack);
		else
			buffer = move_right(index, layout, buffer, bound, held);
		if (level == target)
			return buffer;

		child = gpb_child_at(index, layout, BufferGetBlockNumber(buffer),
							 BufferGetPage(buffer),
							 gpb_child_position(layout, BufferGetPage(buffer), bound),
							 &range);
		if (stack != NULL)
			stack->block[level] = BufferGetBlockNumber(buffer);
		level--;
		held = level == target ? lock : BUFFER_LOCK_SHARE;
		buffer = gpb_step_down(index, layout, buffer, child, range, held);
	}
}

Buffer
gpb_search(Relation index, const GpbLayout *layout, GpbBound bound, int lock,
		   GpbStack *stack)
{
	return descend(index, layout, bound, 0, lock, stack);
}

/* See index.h.  The stack is not given to the caller: it only makes the descent finish splits. */
Buffer
gpb_search_level(Relation index, const GpbLayout *layout, GpbBound bound,
				 uint32 level, int lock)
{
	GpbStack	stack;

	return descend(index, layout, bound, level, lock,
				   lock == BUFFER_LOCK_EXCLUSIVE ? &stack : NULL);
}

/* See index.h. */
Buffer
gpb_read_parent(Relation index, const GpbLayout *layout, GpbBound bound,
				uint32 level, const GpbStack *stack)
{
	Buffer		buffer = gpb_read(index, stack->block[level],
								  BUFFER_LOCK_EXCLUSIVE, layout);

	Assert(level <= stack->height);
	if (gpb_special(BufferGetPage(buffer))->level != level)
		gpb_corrupted(index, stack->block[level],
					  "page has changed its level");
	return move_right_finishing(index, layout, buffer, bound,
								BUFFER_LOCK_EXCLUSIVE, stack);
}

void
gpb_require_last(Relation index, const GpbLayout *layout, BlockNumber block)
{
	/* No bound is beyond the last leaf. */
	Buffer		buffer = gpb_search(index, layout, GPB_BOUND_MAX,
									BUFFER_LOCK_SHARE, NULL);
	bool		last = BufferGetBlockNumber(buffer) == block;

	UnlockReleaseBuffer(buffer);
	if (last)
		return;

	/* The leaf has been split meanwhile, or it never was the last one. */
	buffer = gpb_read(index, block, BUFFER_LOCK_SHARE, layout);
	if (gpb_special(BufferGetPage(buffer))->right == GPB_NO_BLOCK)
		gpb_corrupted(index, block, "right link is missing");
	UnlockReleaseBuffer(buffer);
}

bool
gpb_first_entry(Relation index, const GpbLayout *layout, GpbBound bound, GpbBound *entry)
{
	Buffer		buffer = gpb_search(index, layout, bound, BUFFER_LOCK_SHARE, NULL);

	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		int			count = gpb_page_count(page);
		int			position = gpb_page_lower_bound(page, layout->key_width, layout->row_width,
													count, bound);

		if (position < count)
		{
			*entry = gpb_page_bound(page, layout->key_width, layout->row_width, position);
			/* Callers go on after the entry, and must not meet it again. */
			if (gpb_bound_less(*entry, bound) || !gpb_bound_less(*entry, gpb_page_high(page)))
				gpb_corrupted(index, BufferGetBlockNumber(buffer), "entries are out of order");
			UnlockReleaseBuffer(buffer);
			return true;
		}
		if (gpb_special(page)->right == GPB_NO_BLOCK)
		{
			/*
			 * The descent came to a leaf that covers the bound, but this leaf may have been reached
			 * by a right link.
			 */
			BlockNumber block = BufferGetBlockNumber(buffer);

			UnlockReleaseBuffer(buffer);
			gpb_require_last(index, layout, block);
			return false;
		}
		buffer = step_right(index, layout, buffer, BUFFER_LOCK_SHARE);
	}
}

/*
 * The left link of then leads to the left sibling, or to a page that has been split since.  In that
 * case the sibling is to the right of that page, and its right link leads to "block".  Pages are
 * never deleted, so there always is one.
 *
 * Every page met must lie below "block", and each to the right of the one before, so that no
 * damaged link leads the caller in circles.
 */
Buffer
gpb_read_left(Relation index, const GpbLayout *layout, BlockNumber left, BlockNumber block,
			  GpbBound high)
{
	Buffer		buffer;

	CHECK_FOR_INTERRUPTS();
	buffer = gpb_read(index, left, BUFFER_LOCK_SHARE, layout);
	if (gpb_special(BufferGetPage(buffer))->level != 0)
		gpb_corrupted(index, left, "left sibling is on another level");
	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		BlockNumber right = gpb_special(page)->right;
		GpbBound	limit = gpb_page_high(page);

		left = BufferGetBlockNumber(buffer);
		if (right == GPB_NO_BLOCK || !gpb_bound_less(limit, high))
			gpb_corrupted(index, left, "left sibling is not below its right sibling");
		if (right == block)
			return buffer;
		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
		buffer = gpb_read_right(index, layout, left, right, 0, limit, BUFFER_LOCK_SHARE);
	}
}

/*
 * Raise an error unless the leaf, which has no left link, is the first one, as it is for ever: a
 * page is split to the right.
 */
static void
require_first(Relation index, const GpbLayout *layout, BlockNumber block)
{
	Buffer		buffer = gpb_search(index, layout, GPB_BOUND_MIN, BUFFER_LOCK_SHARE, NULL);
	bool		first = BufferGetBlockNumber(buffer) == block;

	UnlockReleaseBuffer(buffer);
	if (!first)
		gpb_corrupted(index, block, "left link is missing");
}

bool
gpb_last_entry(Relation index, const GpbLayout *layout, GpbBound bound, GpbBound *entry)
{
	GpbBound	before = bound;
	Buffer		buffer;

	if (bound.key == 0 && bound.tie == 0)
		return false;
	if (before.tie-- == 0)
		before.key--;
	buffer = gpb_search(index, layout, before, BUFFER_LOCK_SHARE, NULL);
	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		BlockNumber block = BufferGetBlockNumber(buffer);
		BlockNumber left = gpb_special(page)->left;
		GpbBound	high = gpb_page_high(page);
		int			position = gpb_page_lower_bound(page, layout->key_width, layout->row_width,
													gpb_page_count(page), bound);

		if (position > 0)
		{
			*entry = gpb_page_bound(page, layout->key_width, layout->row_width, position - 1);
			/* Callers go on before the entry, and must not meet it again. */
			if (!gpb_bound_less(*entry, bound))
				gpb_corrupted(index, block, "entries are out of order");
			UnlockReleaseBuffer(buffer);
			return true;
		}
		UnlockReleaseBuffer(buffer);
		if (left == GPB_NO_BLOCK)
		{
			require_first(index, layout, block);
			return false;
		}
		buffer = gpb_read_left(index, layout, left, block, high);
	}
}

void
gpb_root_level(Relation index, const GpbLayout *layout, uint32 *level)
{
	Buffer		buffer = read_root(index, layout, 0);

	*level = gpb_special(BufferGetPage(buffer))->level;
	UnlockReleaseBuffer(buffer);
}

uint32
gpb_least_height(Relation index, const GpbLayout *layout)
{
	const GpbRelCache *cache = gpb_rel_cache(index);
	uint32		level;

	if (cache->root != InvalidBlockNumber && cache->level > 0)
		return cache->level;
	gpb_root_level(index, layout, &level);
	return level;
}
