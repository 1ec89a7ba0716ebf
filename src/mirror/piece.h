/*-------------------------------------------------------------------------
 *
 * piece.h
 *	  Which pages a piece of an index has images of.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PIECE_H
#define GPB_PIECE_H

#include "compat.h"

#include "storage/block.h"

#include "layout.h"

/* Have two ranges of bounds, neither of them empty, a bound in common? */
static inline bool
gpb_ranges_meet(GpbRange a, GpbRange b)
{
	return gpb_bound_less(a.lo, b.hi) && gpb_bound_less(b.lo, a.hi);
}

/*
 * Does a piece of that range want an image of a page, by what the page is now?  It does of the
 * metapage, of pages of level 1, and of leaves that cover a part of the range.  The page is locked,
 * or a copy of one that was, and may be any that a refresh copies.
 */
static inline bool
gpb_piece_wants(const GpbRange *range, BlockNumber block, const char *page)
{
	const GpbPageSpecial *special = gpb_page_special(page);

	if (block == GPB_META_BLOCK)
		return true;
	if (special->page_id != GPB_PAGE_ID ||
		(special->flags & (GPB_PAGE_DELETED | GPB_PAGE_DICTIONARY)) != 0)
		return false;
	return special->level == 1 ||
		(special->level == 0 &&
		 gpb_ranges_meet(*range, (GpbRange) {gpb_page_low(page), gpb_page_high(page)}));
}

#endif							/* GPB_PIECE_H */
