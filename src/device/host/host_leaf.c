/*-------------------------------------------------------------------------
 *
 * host_leaf.c
 *	  A mirror on the host device: page images, separators, and which leaves are clean.
 *
 *-------------------------------------------------------------------------
 */
#include "device/host/host_leaf.h"
#include "program/leaf_aggregate.h"

GpbHostImage *
gpb_host_image(const GpbDeviceMirror *mirror, uint32 block)
{
	uint32		c = block / GPB_HOST_CHUNK;

	if (c >= mirror->nchunks || mirror->chunks[c] == NULL)
		return NULL;
	return &mirror->chunks[c][block % GPB_HOST_CHUNK];
}

const char *
gpb_host_clean_leaf(const GpbDeviceMirror *mirror, uint64 separator, uint64 epoch,
					const uint32 *changed, uint32 nblocks)
{
	uint32		block = mirror->separators[separator].leaf;
	GpbBound	low = gpb_host_low(mirror, separator);
	GpbBound	high = gpb_host_leaf_limit(mirror, separator);
	const GpbLayout *layout = &mirror->layout;
	const GpbHostImage *image;

	if (block >= nblocks || ((changed[block / 32] >> (block % 32)) & 1) != 0)
		return NULL;
	image = gpb_host_image(mirror, block);
	if (image == NULL || image->page == NULL || image->stamp > epoch)
		return NULL;
	if (gpb_page_leaf_count(image->page, layout->key_width, layout->row_width, low, high) < 0)
		return NULL;
	return image->page;
}

uint64
gpb_host_find_separator(const GpbDeviceMirror *mirror, GpbBound bound)
{
	uint64		lo = 0;
	uint64		hi = mirror->nseparators;

	while (hi - lo > 1)
	{
		uint64		mid = lo + (hi - lo) / 2;

		if (gpb_bound_less(bound, gpb_host_low(mirror, mid)))
			hi = mid;
		else
			lo = mid;
	}
	return lo;
}

/* What is known of the entry with this TID on a heap block with these two bits? */
static GpbEntryState
entry_state(const GpbHostVisibility *visibility, int bits, uint64 tid)
{
	if ((bits & 1) != 0)
		return GPB_ENTRY_SEEN;
	if (bits == 0 || visibility->nexceptions == 0)
		return GPB_ENTRY_UNKNOWN;
	return gpb_is_exception(visibility->exceptions, visibility->nexceptions, tid) ?
		GPB_ENTRY_UNSEEN : GPB_ENTRY_SEEN;
}

/*
 * Entries of one heap block often follow each other; the block is looked up once for all of them.
 */
void
gpb_host_look_up_visibility(const GpbHostVisibility *visibility, const char *page, int row_width,
							int from, int to, uint8 *visible)
{
	uint64		last_block = ~(uint64) 0;
	int			bits = 0;
	int			i;

	for (i = from; i < to; i++)
	{
		uint64		locator = gpb_page_locator(page, row_width, i);
		uint32		block = gpb_locator_block(locator);

		if (block != last_block)
		{
			last_block = block;
			bits = block < visibility->heap_blocks ? gpb_heap_bits(visibility->bits, block) : 0;
		}
		visible[i - from] = entry_state(visibility, bits, locator & GPB_TID_MASK);
	}
}
