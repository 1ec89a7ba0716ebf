/*-------------------------------------------------------------------------
 *
 * page_link.c
 *	  Following a link to a sibling or a child, and checking what the link promises.
 *
 * Between the page that has the link and the page that it leads to nothing is locked, so either may
 * have been split meanwhile (src/README, "Pages" and "Concurrency").
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "page/page.h"

void
gpb_require_right(Relation index, Buffer buffer, uint16 level, GpbBound low)
{
	Page		page = BufferGetPage(buffer);
	const GpbPageSpecial *special = gpb_special(page);
	BlockNumber block = BufferGetBlockNumber(buffer);

	if (special->level != level)
		gpb_corrupted(index, block, "right sibling is on another level");
	if (special->right != GPB_NO_BLOCK &&
		!gpb_bound_less(low, gpb_page_high(page)))
		gpb_corrupted(index, block,
					  "high key is not above the left sibling's");
	if (gpb_page_count(page) > 0 &&
		gpb_bound_less(gpb_page_bound(page, special->key_width,
									  special->row_width, 0), low))
		gpb_corrupted(index, block,
					  "first entry is below the left sibling's high key");
}

/*
 * Raise ERRCODE_INDEX_CORRUPTED if the left page still links to the right one, whose left link
 * leads elsewhere.  If the left page has been split meanwhile, then its right link has changed as
 * well.
 */
static void
require_split(Relation index, const GpbLayout *layout, BlockNumber left,
			  BlockNumber right)
{
	Buffer		buffer = gpb_read(index, left, BUFFER_LOCK_SHARE, layout);

	if (gpb_special(BufferGetPage(buffer))->right == right)
		gpb_corrupted(index, right,
					  "left link does not lead back to the left sibling");
	UnlockReleaseBuffer(buffer);
}

/*
 * Raise ERRCODE_INDEX_CORRUPTED if the page just read and locked cannot be the right sibling of
 * block "left"; the arguments are those of gpb_read_right().
 */
static void
require_sibling(Relation index, const GpbLayout *layout, BlockNumber left, Buffer buffer,
				uint16 level, GpbBound low, int lock)
{
	if (unlikely(gpb_special(BufferGetPage(buffer))->left != left))
	{
		BlockNumber block = BufferGetBlockNumber(buffer);

		/* one lock at a time: of two the left page's would come second */
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		require_split(index, layout, left, block);
		LockBuffer(buffer, lock);
		gpb_page_require(index, block, BufferGetPage(buffer), layout);
	}
	gpb_require_right(index, buffer, level, low);
}

Buffer
gpb_read_right(Relation index, const GpbLayout *layout, BlockNumber left,
			   BlockNumber block, uint16 level, GpbBound low, int lock)
{
	Buffer		buffer = gpb_read(index, block, lock, layout);

	require_sibling(index, layout, left, buffer, level, low, lock);
	return buffer;
}

Buffer
gpb_read_right_asked_for(Relation index, const GpbLayout *layout, BlockNumber left,
						 BlockNumber block, Buffer recent, uint16 level, GpbBound low)
{
	Buffer		buffer = gpb_read_asked_for(index, block, recent, layout);

	require_sibling(index, layout, left, buffer, level, low, BUFFER_LOCK_SHARE);
	return buffer;
}

int
gpb_child_position(const GpbLayout *layout, const void *page, GpbBound bound)
{
	int			width = layout->key_width;
	int			count = gpb_page_count(page);
	int			i;

	i = gpb_page_lower_bound(page, width, GPB_INNER_ROW_WIDTH, count, bound);
	if (i == count ||
		gpb_bound_cmp(gpb_page_bound(page, width, GPB_INNER_ROW_WIDTH, i),
					  bound) != 0)
		i--;
	return i;
}

BlockNumber
gpb_child_at(Relation index, const GpbLayout *layout, BlockNumber block,
			 const void *page, int position, GpbRange *range)
{
	int			width = layout->key_width;

	if (position < 0)
		gpb_corrupted(index, block,
					  "first separator is above what its parent promises");
	range->lo = gpb_page_bound(page, width, GPB_INNER_ROW_WIDTH, position);
	range->hi = position + 1 < gpb_page_count(page) ?
		gpb_page_bound(page, width, GPB_INNER_ROW_WIDTH, position + 1) :
		gpb_page_high(page);
	return gpb_row_child(gpb_page_row(page, GPB_INNER_ROW_WIDTH, position));
}

void
gpb_require_child(Relation index, Buffer buffer, uint16 level, GpbRange range)
{
	BlockNumber child = BufferGetBlockNumber(buffer);
	GpbBound	high;

	if (gpb_special(BufferGetPage(buffer))->level != level)
		gpb_corrupted(index, child, "child is not on the level below its parent");
	high = gpb_page_high(BufferGetPage(buffer));
	if (!gpb_bound_less(range.lo, high) || gpb_bound_less(range.hi, high))
		gpb_corrupted(index, child,
					  "high key is not between the separators of the parent");
}

/* The child is locked after the parent is unlocked, so it may have been split meanwhile. */
Buffer
gpb_step_down(Relation index, const GpbLayout *layout, Buffer buffer,
			  BlockNumber child, GpbRange range, int lock)
{
	uint16		level = gpb_special(BufferGetPage(buffer))->level;

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	buffer = gpb_exchange(index, buffer, child, lock, layout);
	gpb_require_child(index, buffer, level - 1, range);
	return buffer;
}
