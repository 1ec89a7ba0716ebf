/*-------------------------------------------------------------------------
 *
 * piece_images.h
 *	  The numbers under which the device has the images of a piece; see piece_images.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_PIECE_IMAGES_H
#define GPB_PIECE_IMAGES_H

#include "compat.h"

#include "storage/block.h"

#include "layout.h"

typedef struct GpbPieceImages GpbPieceImages;

/* The number of a leaf outside of the piece: there is never an image of it. */
#define GPB_OUTSIDE		(GPB_NO_BLOCK - 1)

extern GpbPieceImages *gpb_piece_images_create(const GpbLayout *layout, GpbRange range);
extern void gpb_piece_images_destroy(GpbPieceImages *images);
/* The number of a block's image, which is given to it now if it has none. */
extern uint32 gpb_piece_image(GpbPieceImages *images, BlockNumber block);
/*
 * Keep a page on its way to the device?  If so its block has a number then, and, where it is a page
 * of level 1, the blocks of its children are their numbers, in the copy at "page".
 */
extern bool gpb_piece_keep(GpbPieceImages *images, BlockNumber block, char *page);
/*
 * The changed map of a piece by its images' numbers, from that of the index's first nblocks blocks,
 * NULL if no bit is set there.  *n becomes how many images there are.  Returns NULL if none is
 * changed, else the map, which is valid until the next call.
 */
extern const uint32 *gpb_piece_changed(GpbPieceImages *images, const uint32 *changed,
									   BlockNumber nblocks, uint32 *n);

#endif							/* GPB_PIECE_IMAGES_H */
