/*-------------------------------------------------------------------------
 *
 * search.c
 *	  Descending the tree, and moving right in it (Lehman and Yao).
 *
 * A descent holds one lock at a time.  Between a parent and its child, and
 * between a page and its right sibling, nothing is locked, so the page reached
 * may have been split meanwhile; what was wanted is then to its right, and a
 * bound at or beyond the high key says so.  It may also have been deleted, and
 * recycled as any other page.  A page that begins at or before the bound leads to what
 * is wanted, whatever it was before; from any other one the search begins anew (rule M7).
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "miscadmin.h"
#include "utils/rel.h"

#include "hold.h"
#include "index/root_copy.h"

/*
 * How often a search begins anew, each time because a page was deleted between the reading of its
 * link and of itself, before the link is called damaged.
 */
#define GPB_SEARCHES	50

/*
 * Return the root, pinned and locked share, in search of a page on the target level.
 *
 * The root that the relcache remembers is still the root, or as good as it, if it is alone on its
 * level.  Pages below the target level are not locked here, since the caller may have locked them.
 * Returns InvalidBuffer if the metapage's root has been split and then deleted before we locked it.
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
		buffer = gpb_read_old_link(index, cache->root, InvalidBuffer, layout);
		if (likely(BufferIsValid(buffer)))
		{
			special = gpb_special(BufferGetPage(buffer));
			if (special->right == GPB_NO_BLOCK &&
				gpb_page_leads_to(BufferGetPage(buffer), cache->level, GPB_BOUND_MIN))
				return buffer;
			UnlockReleaseBuffer(buffer);
		}
		cache->root = InvalidBlockNumber;
	}

	/* The root may be split before we lock it, but it stays the first page on its level. */
	gpb_read_meta(index, layout, &meta);
	if (meta.level < target)
		gpb_corrupted(index, GPB_META_BLOCK,
					  "root is below the level of other pages");
	buffer = gpb_read(index, meta.root, BUFFER_LOCK_SHARE, layout);
	if (!gpb_page_leads_to(BufferGetPage(buffer), meta.level, GPB_BOUND_MIN))
	{
		UnlockReleaseBuffer(buffer);
		return InvalidBuffer;
	}
	cache->root = meta.root;
	cache->level = meta.level;
	return buffer;
}

/*
 * Exchange a locked page for its right sibling, locked in the mode "lock" as the page was.  Returns
 * InvalidBuffer, with nothing locked, if the sibling has been deleted before it was locked.
 */
static Buffer
step_right(Relation index, const GpbLayout *layout, Buffer buffer, int lock)
{
	const GpbPageSpecial *special = gpb_special(BufferGetPage(buffer));
	BlockNumber left = BufferGetBlockNumber(buffer);
	BlockNumber right = special->right;
	uint16		level = special->level;
	GpbBound	high = gpb_page_high(BufferGetPage(buffer));

	UnlockReleaseBuffer(buffer);
	CHECK_FOR_INTERRUPTS();
	GPB_HOLD("step-right");
	return gpb_read_right(index, layout, left, right, level, high, lock);
}

/*
 * Move right from a locked page of any level until the page covers bound (bound < high key).  Every
 * page is locked in the mode "lock", one at a time; the one returned stays locked.  Returns
 * InvalidBuffer as step_right() does.
 */
static Buffer
move_right(Relation index, const GpbLayout *layout, Buffer buffer,
		   GpbBound bound, int lock)
{
	while (BufferIsValid(buffer) && !gpb_page_covers(BufferGetPage(buffer), bound))
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
	while (BufferIsValid(buffer))
	{
		Page		page = BufferGetPage(buffer);
		uint16		level = gpb_special(page)->level;
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
		/* Another writer may have finished it while we held no lock, and more may have happened. */
		if ((gpb_special(page)->flags & GPB_PAGE_INCOMPLETE_SPLIT) != 0 &&
			gpb_page_leads_to(page, level, bound))
			gpb_finish_split(index, layout, buffer, stack);
		else
			UnlockReleaseBuffer(buffer);
		buffer = gpb_read(index, block, lock, layout);
		if (!gpb_page_leads_to(BufferGetPage(buffer), level, bound))
		{
			UnlockReleaseBuffer(buffer);
			return InvalidBuffer;
		}
	}
	return InvalidBuffer;
}

/*
 * Read the child of the root that covers bound, by this process's copy of the root, and lock it
 * share.  Returns InvalidBuffer, with nothing locked, if there is no copy, or if it is out of date:
 * the child has been split, deleted or cut off the file since.  Then it is forgotten, since what
 * was recycled may lie any number of right links to the left of the bound.
 */
static Buffer
read_below_root(Relation index, const GpbLayout *layout, GpbBound bound)
{
	GpbRelCache *cache = gpb_rel_cache(index);
	const GpbRootCopy *root = gpb_root_copy(cache);
	uint32		level;
	GpbRange	range;
	BlockNumber child;
	Buffer		buffer;

	if (root == NULL)
		return InvalidBuffer;
	level = gpb_page_special(root->page.data)->level - 1;
	child = gpb_child_at(index, layout, root->block, root->page.data,
						 gpb_child_position(layout, root->page.data, bound), &range);
	GPB_HOLD("below-root");
	buffer = gpb_read_old_link(index, child, InvalidBuffer, layout);
	if (likely(BufferIsValid(buffer)))
	{
		if (likely(gpb_page_leads_to(BufferGetPage(buffer), level, bound) &&
				   gpb_page_covers(BufferGetPage(buffer), bound)))
			return buffer;
		UnlockReleaseBuffer(buffer);
	}
	gpb_root_copy_drop(cache);
	return InvalidBuffer;
}

/*
 * Read the page where a descent begins, pinned and locked share: the root, or, of a reader that
 * looks for a leaf, the root's child by a copy of the root.  Such a reader has no page locked,
 * which a link that is out of date might lead to.  Returns InvalidBuffer as read_root() does.
 */
static Buffer
read_first(Relation index, const GpbLayout *layout, GpbBound bound, uint32 target,
		   bool is_reader)
{
	Buffer		buffer;

	if (!is_reader || target > 0)
		return read_root(index, layout, target);
	buffer = read_below_root(index, layout, bound);
	if (likely(BufferIsValid(buffer)))
		return buffer;
	buffer = read_root(index, layout, target);
	if (BufferIsValid(buffer))
		gpb_root_copy_consider(gpb_rel_cache(index), buffer);
	return buffer;
}

/*
 * Descend to the page of the target level that covers bound; it is locked in the mode "lock" on
 * return.  Pages above it are locked share, one at a time.  With a stack the descent finishes
 * incomplete splits and leaves its path there.  Returns InvalidBuffer, with nothing locked, where
 * it came to a page that has been deleted.
 */
static Buffer
try_descend(Relation index, const GpbLayout *layout, GpbBound bound,
			uint32 target, int lock, GpbStack *stack)
{
	Buffer		buffer = read_first(index, layout, bound, target,
									stack == NULL && lock == BUFFER_LOCK_SHARE);
	uint32		level;
	int			held = BUFFER_LOCK_SHARE;

	if (!BufferIsValid(buffer))
		return InvalidBuffer;
	level = gpb_special(BufferGetPage(buffer))->level;
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
			if (!gpb_page_leads_to(BufferGetPage(buffer), level, bound))
			{
				UnlockReleaseBuffer(buffer);
				return InvalidBuffer;
			}
		}
		if (stack != NULL)
			buffer = move_right_finishing(index, layout, buffer, bound,
										  held, stack);
		else
			buffer = move_right(index, layout, buffer, bound, held);
		if (level == target || !BufferIsValid(buffer))
			return buffer;

		child = gpb_child_at(index, layout, BufferGetBlockNumber(buffer),
							 BufferGetPage(buffer),
							 gpb_child_position(layout, BufferGetPage(buffer), bound),
							 &range);
		if (stack != NULL)
			stack->block[level] = BufferGetBlockNumber(buffer);
		level--;
		held = level == target ? lock : BUFFER_LOCK_SHARE;
		buffer = gpb_step_down(index, layout, buffer, child, range.lo, held);
		if (!BufferIsValid(buffer))
			return InvalidBuffer;

		/*
		 * A page that begins elsewhere than the downlink says may be a recycled one which leads to
		 * the bound and has no downlink itself, as the right half of a split that an error left
		 * undone.  A writer needs its downlink to split it.
		 */
		if (stack != NULL &&
			gpb_bound_cmp(gpb_page_low(BufferGetPage(buffer)), range.lo) != 0)
		{
			UnlockReleaseBuffer(buffer);
			return InvalidBuffer;
		}
	}
}

/* Descend as try_descend() does, as often as it takes. */
static Buffer
descend(Relation index, const GpbLayout *layout, GpbBound bound,
		uint32 target, int lock, GpbStack *stack)
{
	int			i;

	for (i = 0; i < GPB_SEARCHES; i++)
	{
		Buffer		buffer = try_descend(index, layout, bound, target, lock, stack);

		if (likely(BufferIsValid(buffer)))
			return buffer;
		CHECK_FOR_INTERRUPTS();
	}
	gpb_corrupted_index(index, "its links lead to other pages than they promise");
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
	if (gpb_page_leads_to(BufferGetPage(buffer), level, bound))
		buffer = move_right_finishing(index, layout, buffer, bound,
									  BUFFER_LOCK_EXCLUSIVE, stack);
	else
	{
		UnlockReleaseBuffer(buffer);
		buffer = InvalidBuffer;
	}
	if (!BufferIsValid(buffer))
		buffer = gpb_search_level(index, layout, bound, level, BUFFER_LOCK_EXCLUSIVE);
	return buffer;
}

Buffer
gpb_read_next(Relation index, const GpbLayout *layout, BlockNumber left, BlockNumber right,
			  Buffer recent, uint16 level, GpbBound high)
{
	Buffer		buffer;

	GPB_HOLD("step-right");
	buffer = BufferIsValid(recent) ?
		gpb_read_right_asked_for(index, layout, left, right, recent, level, high) :
		gpb_read_right(index, layout, left, right, level, high, BUFFER_LOCK_SHARE);
	return BufferIsValid(buffer) ? buffer :
		gpb_search_level(index, layout, high, level, BUFFER_LOCK_SHARE);
}

/*
 * The last leaf is never deleted, but once it has been split it is not the last one any more; then
 * it may be deleted, recycled, and become the last one again.  So a link is missing only if that is
 * found several times.
 */
void
gpb_require_last(Relation index, const GpbLayout *layout, BlockNumber block)
{
	int			i;

	for (i = 0; i < 5; i++)
	{
		/* No bound is beyond the last leaf. */
		Buffer		buffer = gpb_search(index, layout, GPB_BOUND_MAX,
										BUFFER_LOCK_SHARE, NULL);
		bool		last = BufferGetBlockNumber(buffer) == block;
		bool		is_end;

		UnlockReleaseBuffer(buffer);
		if (last)
			return;

		/* The leaf has been split meanwhile, or it never was the last one. */
		buffer = gpb_read(index, block, BUFFER_LOCK_SHARE, layout);
		is_end = gpb_special(BufferGetPage(buffer))->right == GPB_NO_BLOCK &&
			gpb_special(BufferGetPage(buffer))->level == 0;
		UnlockReleaseBuffer(buffer);
		if (!is_end)
			return;
	}
	gpb_corrupted(index, block, "right link is missing");
}

/*
 * Exchange a leaf, locked share, for the one that covers its high key, which is the right sibling.
 */
static Buffer
leave_right(Relation index, const GpbLayout *layout, Buffer buffer)
{
	BlockNumber left = BufferGetBlockNumber(buffer);
	BlockNumber right = gpb_special(BufferGetPage(buffer))->right;
	GpbBound	high = gpb_page_high(BufferGetPage(buffer));

	UnlockReleaseBuffer(buffer);
	CHECK_FOR_INTERRUPTS();
	return gpb_read_next(index, layout, left, right, InvalidBuffer, 0, high);
}

bool
gpb_first_entry(Relation index, const GpbLayout *layout, GpbBound bound, GpbBound *entry)
{
	Buffer		buffer = gpb_search(index, layout, bound, BUFFER_LOCK_SHARE, NULL);

	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		int			row_width = gpb_page_row_width(page);
		int			count = gpb_page_count(page);
		int			position = gpb_page_lower_bound(page, layout->key_width, row_width, count,
													bound);

		if (position < count)
		{
			*entry = gpb_page_bound(page, layout->key_width, row_width, position);
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
		buffer = leave_right(index, layout, buffer);
	}
}

/* The bound just before this one, which is not GPB_BOUND_MIN */
static inline GpbBound
bound_before(GpbBound bound)
{
	if (bound.tie-- == 0)
		bound.key--;
	return bound;
}

/*
 * Does the leaf "block" begin at low still, and link to the left one?  That one links to it, but
 * does not end there: so it cannot be, but for a moment in which a block was recycled.
 */
static bool
begins_still(Relation index, const GpbLayout *layout, BlockNumber left, BlockNumber block,
			 GpbBound low)
{
	Buffer		buffer = gpb_read(index, block, BUFFER_LOCK_SHARE, layout);
	Page		page = BufferGetPage(buffer);
	bool		begins = gpb_page_leads_to(page, 0, low) && gpb_special(page)->left == left &&
		gpb_bound_cmp(gpb_page_low(page), low) == 0;

	UnlockReleaseBuffer(buffer);
	return begins;
}

/*
 * The leaf to the left is the one that covers what comes just before "low".  The left link of then
 * leads there, or to a page that has been split since, which is to its left; else a descent does.
 * What is found begins before "low", so a walk to the left comes to an end, whatever the links say.
 */
Buffer
gpb_read_left(Relation index, const GpbLayout *layout, BlockNumber left, BlockNumber block,
			  GpbBound low)
{
	GpbBound	before = bound_before(low);
	int			i;

	for (i = 0; i < GPB_SEARCHES; i++)
	{
		Buffer		buffer;
		BlockNumber found;

		CHECK_FOR_INTERRUPTS();
		GPB_HOLD("step-left");
		buffer = gpb_read(index, left, BUFFER_LOCK_SHARE, layout);
		if (gpb_page_leads_to(BufferGetPage(buffer), 0, before))
			buffer = move_right(index, layout, buffer, before, BUFFER_LOCK_SHARE);
		else
		{
			UnlockReleaseBuffer(buffer);
			buffer = InvalidBuffer;
		}
		if (!BufferIsValid(buffer))
			buffer = gpb_search(index, layout, before, BUFFER_LOCK_SHARE, NULL);
		found = BufferGetBlockNumber(buffer);
		if (likely(block == InvalidBlockNumber ||
				   gpb_special(BufferGetPage(buffer))->right != block ||
				   gpb_bound_cmp(gpb_page_high(BufferGetPage(buffer)), low) == 0))
			return buffer;
		UnlockReleaseBuffer(buffer);
		if (!begins_still(index, layout, found, block, low))
			return gpb_search(index, layout, before, BUFFER_LOCK_SHARE, NULL);
	}
	gpb_corrupted(index, block, "it does not begin where its left sibling ends");
}

bool
gpb_last_entry(Relation index, const GpbLayout *layout, GpbBound bound, GpbBound *entry)
{
	Buffer		buffer;

	if (bound.key == 0 && bound.tie == 0)
		return false;
	buffer = gpb_search(index, layout, bound_before(bound), BUFFER_LOCK_SHARE, NULL);
	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		BlockNumber block = BufferGetBlockNumber(buffer);
		BlockNumber left = gpb_special(page)->left;
		GpbBound	low = gpb_page_low(page);
		int			row_width = gpb_page_row_width(page);
		int			position = gpb_page_lower_bound(page, layout->key_width, row_width,
													gpb_page_count(page), bound);

		if (position > 0)
		{
			*entry = gpb_page_bound(page, layout->key_width, row_width, position - 1);
			/* Callers go on before the entry, and must not meet it again. */
			if (!gpb_bound_less(*entry, bound))
				gpb_corrupted(index, block, "entries are out of order");
			UnlockReleaseBuffer(buffer);
			return true;
		}
		UnlockReleaseBuffer(buffer);
		if (left == GPB_NO_BLOCK)
			return false;
		buffer = gpb_read_left(index, layout, left, block, low);
	}
}

void
gpb_root_level(Relation index, const GpbLayout *layout, uint32 *level)
{
	int			i;

	for (i = 0; i < GPB_SEARCHES; i++)
	{
		Buffer		buffer = read_root(index, layout, 0);

		if (BufferIsValid(buffer))
		{
			*level = gpb_special(BufferGetPage(buffer))->level;
			UnlockReleaseBuffer(buffer);
			return;
		}
		CHECK_FOR_INTERRUPTS();
	}
	gpb_corrupted(index, GPB_META_BLOCK, "the metapage's root is not a root");
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
