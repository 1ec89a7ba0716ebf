/*-------------------------------------------------------------------------
 *
 * piece_images.c
 *	  The numbers under which the device has the images of a piece of an index.
 *
 * A device keeps room for images of neighbouring blocks together, and the leaves of a range of keys
 * lie anywhere in the file.  So the images of a piece are numbered in the order in which their
 * blocks are first met, from 1 on (the metapage is number 0), and to the device these are the
 * blocks of an index of its own.  Pages of level 1 name the numbers of leaves in the place of their
 * blocks, and a leaf that has no key of the piece's range has a number that no image has.
 *
 * A number is its block's for as long as the mirror lives, and every page that is uploaded for a
 * block that has one is kept, whatever it is by then: a leaf that has left the range, or is none
 * any more, gets a new image too (rule M4).  What has no number has never had an image.
 *
 * Used by the service alone; no shared memory, no locks.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/piece_images.h"

#include "port/pg_bitutils.h"
#include "utils/memutils.h"

#include "large_array.h"
#include "mirror/map/changed_map.h"
#include "mirror/piece.h"

struct GpbPieceImages
{
	GpbLayout	layout;
	GpbRange	range;
	MemoryContext context;
	uint32	   *number;			/* by block; 0: none, as the metapage's */
	BlockNumber room;			/* number of blocks for which there is memory */
	BlockNumber *block;			/* by number */
	uint32		n;				/* numbers given, with the metapage's */
	uint32		block_room;
	BlockNumber last;			/* the last block that has a number */
	uint32	   *changed;		/* by number */
	uint32		changed_room;	/* words */
};

GpbPieceImages *
gpb_piece_images_create(const GpbLayout *layout, GpbRange range)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "gpubtree piece images",
												  ALLOCSET_DEFAULT_SIZES);
	GpbPieceImages *images = MemoryContextAllocZero(context, sizeof(GpbPieceImages));

	images->layout = *layout;
	images->range = range;
	images->context = context;
	images->block_room = 1024;
	images->block = gpb_alloc_array(context, images->block_room * sizeof(BlockNumber));
	images->block[0] = GPB_META_BLOCK;
	images->n = 1;
	return images;
}

void
gpb_piece_images_destroy(GpbPieceImages *images)
{
	MemoryContextDelete(images->context);
}

/* ---- numbers ---- */

static bool
has_number(const GpbPieceImages *images, BlockNumber block)
{
	return block == GPB_META_BLOCK || (block < images->room && images->number[block] != 0);
}

/* Make room for the numbers of blocks up to this one. */
static void
reserve_block(GpbPieceImages *images, BlockNumber block)
{
	uint64		room = (uint64) block + block / 4 + 1024;
	uint32	   *number;

	if (block < images->room)
		return;
	number = gpb_alloc_array(images->context, room * sizeof(uint32));
	memset(number, 0, room * sizeof(uint32));
	if (images->number != NULL)
	{
		memcpy(number, images->number, (Size) images->room * sizeof(uint32));
		pfree(images->number);
	}
	images->number = number;
	images->room = (BlockNumber) Min(room, MaxBlockNumber);
}

uint32
gpb_piece_image(GpbPieceImages *images, BlockNumber block)
{
	if (has_number(images, block))
		return block == GPB_META_BLOCK ? 0 : images->number[block];
	reserve_block(images, block);
	if (images->n == images->block_room)
	{
		images->block_room *= 2;
		images->block = gpb_realloc_array(images->block, images->block_room * sizeof(BlockNumber));
	}
	images->block[images->n] = block;
	images->last = Max(images->last, block);
	return images->number[block] = images->n++;
}

/* ---- pages ---- */

/* Name the children of a page of level 1 by numbers; those that are outside by GPB_OUTSIDE. */
static void
number_children(GpbPieceImages *images, char *page)
{
	int			count = gpb_page_count(page);
	GpbRange	child = {gpb_page_low(page), gpb_page_high(page)};
	GpbBound	high = child.hi;
	int			i;

	for (i = 0; i < count; i++, child.lo = child.hi)
	{
		uint32	   *block = (uint32 *) (gpb_page_row(page, GPB_INNER_ROW_WIDTH, i) +
										GPB_LOCATOR_WIDTH);

		child.hi = i + 1 == count ? high :
			gpb_page_bound(page, images->layout.key_width, GPB_INNER_ROW_WIDTH, i + 1);
		*block = gpb_ranges_meet(images->range, child) ? gpb_piece_image(images, *block) :
			GPB_OUTSIDE;
	}
}

bool
gpb_piece_keep(GpbPieceImages *images, BlockNumber block, char *page)
{
	bool		wanted = gpb_piece_wants(&images->range, block, page);

	if (!wanted && !has_number(images, block))
		return false;
	(void) gpb_piece_image(images, block);
	if (wanted && block != GPB_META_BLOCK && gpb_page_special(page)->level == 1)
		number_children(images, page);
	return true;
}

/* ---- the changed map ---- */

static void
set_changed(GpbPieceImages *images, uint32 number)
{
	images->changed[number / 32] |= (uint32) 1 << (number % 32);
}

const uint32 *
gpb_piece_changed(GpbPieceImages *images, const uint32 *changed, BlockNumber nblocks, uint32 *n)
{
	uint32		words = gpb_map_words(images->n);
	BlockNumber known = Min(nblocks, images->room);
	uint32		i;

	*n = images->n;
	if (changed == NULL && images->last < nblocks)
		return NULL;
	if (words > images->changed_room)
	{
		if (images->changed != NULL)
			pfree(images->changed);
		images->changed = gpb_alloc_array(images->context, words * sizeof(uint32));
		images->changed_room = words;
	}
	memset(images->changed, 0, words * sizeof(uint32));
	for (i = 0; changed != NULL && i < gpb_map_words(known); i++)
	{
		uint32		bits = changed[i];

		for (; bits != 0; bits &= bits - 1)
		{
			BlockNumber block = i * 32 + pg_rightmost_one_pos32(bits);

			if (block < known && has_number(images, block))
				set_changed(images, block == GPB_META_BLOCK ? 0 : images->number[block]);
		}
	}
	/* blocks beyond the map count as changed */
	for (i = 0; images->last >= nblocks && i < images->n; i++)
	{
		if (images->block[i] >= nblocks)
			set_changed(images, i);
	}
	return images->changed;
}
