/*-------------------------------------------------------------------------
 *
 * separators.c
 *	  Bounds that part a range of an index into stretches of about as many entries each.
 *
 * The separators of one level of inner pages have about as many entries between neighbours.  The
 * level is the highest that has enough of them in the range, so that few pages are read.  They
 * serve only to divide what lies between: whatever is there by the time that a part is read belongs
 * to that part (rule M7).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/rel.h"

#include "index/index.h"
#include "large_array.h"

/* The separators of a level within a range */
typedef struct GpbSeparators
{
	GpbBound   *bounds;
	uint32		n;
	uint32		capacity;
} GpbSeparators;

/* Add those separators of a locked inner page, from number i on, that are within the range. */
static void
add_separators(Relation index, const GpbLayout *layout, Buffer buffer, int i, GpbRange range,
			   GpbSeparators *separators)
{
	Page		page = BufferGetPage(buffer);
	int			count = gpb_page_count(page);

	for (; i < count; i++)
	{
		GpbBound	bound = gpb_page_bound(page, layout->key_width, GPB_INNER_ROW_WIDTH, i);

		if (!gpb_bound_less(range.lo, bound) || !gpb_bound_less(bound, range.hi))
			continue;
		if (separators->n > 0 && !gpb_bound_less(separators->bounds[separators->n - 1], bound))
			gpb_corrupted(index, BufferGetBlockNumber(buffer), "entries are out of order");
		if (separators->n == separators->capacity)
		{
			separators->capacity *= 2;
			separators->bounds = gpb_realloc_array(separators->bounds,
												   sizeof(GpbBound) * separators->capacity);
		}
		separators->bounds[separators->n++] = bound;
	}
}

/*
 * Collect the separators on one level that are within the range, ascending.  Of a page whose left
 * sibling was deleted after that was read the first ones have been met already.
 */
static void
read_separators(Relation index, const GpbLayout *layout, GpbRange range, uint32 level,
				GpbSeparators *separators)
{
	Buffer		buffer = gpb_search_level(index, layout, range.lo, level, BUFFER_LOCK_SHARE);
	GpbBound	met = range.lo;

	separators->n = 0;
	for (;;)
	{
		Page		page = BufferGetPage(buffer);
		BlockNumber block = BufferGetBlockNumber(buffer);
		BlockNumber right = gpb_special(page)->right;
		GpbBound	high = gpb_page_high(page);
		int			first = 0;

		if (gpb_bound_less(gpb_page_low(page), met))
			first = gpb_page_lower_bound(page, layout->key_width, GPB_INNER_ROW_WIDTH,
										 gpb_page_count(page), met);
		add_separators(index, layout, buffer, first, range, separators);
		UnlockReleaseBuffer(buffer);
		if (right == GPB_NO_BLOCK || !gpb_bound_less(high, range.hi))
			return;
		CHECK_FOR_INTERRUPTS();
		met = high;
		buffer = gpb_read_next(index, layout, block, right, InvalidBuffer, level, high);
	}
}

uint32
gpb_part_range(Relation index, const GpbLayout *layout, GpbRange range, uint32 enough,
			   uint32 most, GpbBound *bounds)
{
	GpbSeparators separators = {NULL, 0, 1024};
	uint32		level;
	uint32		n;

	Assert(enough <= most);
	gpb_root_level(index, layout, &level);
	if (level == 0 || most == 0 || !gpb_bound_less(range.lo, range.hi))
		return 0;
	separators.bounds = gpb_alloc_array(CurrentMemoryContext,
										sizeof(GpbBound) * separators.capacity);
	do
		read_separators(index, layout, range, level, &separators);
	while (separators.n < enough && --level > 0);
	n = Min(separators.n, most);
	/* of more than that some are left out, evenly */
	for (uint32 i = 0; i < n; i++)
		bounds[i] = separators.bounds[(uint64) (2 * i + 1) * separators.n / (2 * n)];
	pfree(separators.bounds);
	return n;
}
