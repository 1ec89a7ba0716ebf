/*-------------------------------------------------------------------------
 *
 * host_leaf.c
 *	  A mirror on the host device: page images, separators, and which leaves are clean.
 *
 *-------------------------------------------------------------------------
 */
#include "device/host/host_leaf.h"

GpbHostImage *
gpb_host_image(const GpbDeviceMirror *mirror, uint32 block)
{
	uint32		c = block / GPB_HOST_CHUNK;

	if (c >= mirror->nchunks || mirror->chunks[c] == NULL)
		return NULL;
	return &mirror->chunks[c][block % GPB_HOST_CHUNK];
}

const char *
gpb_host_clean_leaf(const GpbDeviceMirror *mirror, uint32 block, GpbBound high, uint64 epoch,
					const uint32 *changed, uint32 nblocks)
{
	const GpbLayout *layout = &mirror->layout;
	const GpbHostImage *image;

	if (block >= nblocks || ((changed[block / 32] >> (block % 32)) & 1) != 0)
		return NULL;
	image = gpb_host_image(mirror, block);
	if (image == NULL || image->page == NULL || image->stamp > epoch)
		return NULL;
	if (gpb_page_leaf_count(image->page, layout->key_width, layout->row_width, high) < 0)
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

		if (gpb_bound_less(bound, mirror->separators[mid].low))
			hi = mid;
		else
			lo = mid;
	}
	return lo;
}

/*
 * Entries of one heap block often follow each other; the block is looked up once for all of them.
 */
void
gpb_host_look_up_visibility(const uint8 *bits, uint32 heap_blocks, const char *page, int row_width,
							int from, int to, uint8 *visible)
{
	uint64		last_block = ~(uint64) 0;
	uint8		last = 0;
	int			i;

	for (i = from; i < to; i++)
	{
		uint32		block = gpb_locator_block(gpb_row_locator(gpb_page_row(page, row_width, i)));

		if (block != last_block)
		{
			last_block = block;
			last = gpb_heap_all_visible(bits, heap_blocks, block);
		}
		visible[i - from] = last;
	}
}
