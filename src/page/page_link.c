/*-------------------------------------------------------------------------
 *
 * page_link.c
 *	  Following a link to a sibling or a child, and checking what the link promises.
 *
 * Between the page that has the link and the page that it leads to nothing is locked, so either may
 * have been split or deleted meanwhile, and the page recycled.  A page says itself what it covers,
 * so no link is believed (rule M7).
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "hold.h"
#include "page/page.h"

/*
 * How often a link that leads astray is looked at, before it is called damaged: each time but the
 * last a deletion may have come between two looks.
 */
#define GPB_LOOKS	5

/* Raise an error if the page, to which a right link led, is not in itself in order. */
static void
require_order(Relation index, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	const GpbPageSpecial *special = gpb_special(page);

	if (gpb_page_count(page) > 0 &&
		gpb_bound_less(gpb_page_bound(page, special->key_width, special->row_width, 0),
					   gpb_page_low(page)))
		gpb_corrupted(index, BufferGetBlockNumber(buffer), "first entry is below the low bound");
}

void
gpb_require_right(Relation index, Buffer buffer, BlockNumber left, uint16 level, GpbBound bound)
{
	Page		page = BufferGetPage(buffer);
	BlockNumber block = BufferGetBlockNumber(buffer);

	if (gpb_special(page)->level != level)
		gpb_corrupted(index, block, "right sibling is on another level");
	if (gpb_special(page)->left != left)
		gpb_corrupted(index, block, "left link does not lead back to the left sibling");
	if ((gpb_special(page)->flags & GPB_PAGE_DELETED) != 0)
		gpb_corrupted(index, block, "a deleted page has a left sibling still");
	if (gpb_bound_cmp(gpb_page_low(page), bound) != 0)
		gpb_corrupted(index, block, "low bound is not the left sibling's high key");
	require_order(index, buffer);
}

/* Does the page, block "left", still have its right link to "right", and this high key? */
static bool
links_still(Relation index, const GpbLayout *layout, BlockNumber left, BlockNumber right,
			uint16 level, GpbBound high)
{
	Buffer		buffer = gpb_read(index, left, BUFFER_LOCK_SHARE, layout);
	const GpbPageSpecial *special = gpb_special(BufferGetPage(buffer));
	bool		links = special->right == right && special->level == level &&
		(special->flags & GPB_PAGE_DELETED) == 0 &&
		gpb_bound_cmp(gpb_page_high(BufferGetPage(buffer)), high) == 0;

	UnlockReleaseBuffer(buffer);
	return links;
}

/*
 * Is this the page of the level that covers the bound?  One that ends before it was recycled
 * further left: right links from there would lead through what the caller has met already.
 */
static inline bool
is_right(Page page, uint16 level, GpbBound bound)
{
	return gpb_page_leads_to(page, level, bound) && gpb_page_covers(page, bound);
}

/*
 * Judge a page that was just read and locked, to which the right link of block "left" led; the
 * arguments are those of gpb_read_right().  Returns the buffer, or InvalidBuffer, with nothing
 * locked, if the link is out of date.
 *
 * A page that begins at the bound and links back is what was wanted.  Otherwise the left page has
 * been split or deleted since its link was read, or the right one was deleted, and perhaps
 * recycled: in each case the left page has not both this right link and this high key any more.
 */
static Buffer
take_right(Relation index, const GpbLayout *layout, BlockNumber left, Buffer buffer,
		   uint16 level, GpbBound bound, int lock)
{
	BlockNumber block = BufferGetBlockNumber(buffer);
	int			look;

	for (look = 1;; look++)
	{
		bool		covers = is_right(BufferGetPage(buffer), level, bound);
		bool		links;

		if (likely(covers && gpb_special(BufferGetPage(buffer))->left == left &&
				   gpb_bound_cmp(gpb_page_low(BufferGetPage(buffer)), bound) == 0))
			break;
		/* one lock at a time: of two the left page's would come second */
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
		links = links_still(index, layout, left, block, level, bound);
		if (!links && !covers)
		{
			ReleaseBuffer(buffer);
			return InvalidBuffer;
		}
		if (links && look == GPB_LOOKS)
			gpb_corrupted(index, block,
						  "it does not begin where its left sibling ends, or does not link back");
		LockBuffer(buffer, lock);
		gpb_page_require(index, block, BufferGetPage(buffer), layout);
		if (!links && is_right(BufferGetPage(buffer), level, bound))
			break;
	}
	require_order(index, buffer);
	return buffer;
}

Buffer
gpb_read_right(Relation index, const GpbLayout *layout, BlockNumber left,
			   BlockNumber block, uint16 level, GpbBound bound, int lock)
{
	return take_right(index, layout, left, gpb_read(index, block, lock, layout), level, bound,
					  lock);
}

Buffer
gpb_read_right_asked_for(Relation index, const GpbLayout *layout, BlockNumber left,
						 BlockNumber block, Buffer recent, uint16 level, GpbBound bound)
{
	return take_right(index, layout, left, gpb_read_asked_for(index, block, recent, layout),
					  level, bound, BUFFER_LOCK_SHARE);
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

/*
 * The child is locked after the parent is unlocked, so it may have been split or deleted meanwhile.
 */
Buffer
gpb_step_down(Relation index, const GpbLayout *layout, Buffer buffer,
			  BlockNumber child, GpbBound bound, int lock)
{
	uint16		level = gpb_special(BufferGetPage(buffer))->level;

	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	GPB_HOLD("step-down");
	buffer = gpb_exchange(index, buffer, child, lock, layout);
	if (likely(gpb_page_leads_to(BufferGetPage(buffer), level - 1, bound)))
		return buffer;
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}
