/*-------------------------------------------------------------------------
 *
 * inner.h
 *	  The service's knowledge of an index's level 1; see inner.c.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_INNER_H
#define GPB_INNER_H

#include "compat.h"

#include "storage/block.h"

#include "layout.h"
#include "mirror/service/piece_images.h"

typedef struct GpbInnerPages GpbInnerPages;

/*
 * What is known of level 1 of an index; dense says how images are numbered (gpb_inner_image), and
 * images, if it is not NULL, has the numbers of a piece, and must live as long.
 */
extern GpbInnerPages *gpb_inner_create(const GpbLayout *layout, bool dense,
									   GpbPieceImages *images);
extern void gpb_inner_destroy(GpbInnerPages *inner);
/* Note what a page on its way to the device says. */
extern void gpb_inner_note(GpbInnerPages *inner, BlockNumber block, const char *page);
/* The block number under which the device has the image of a page. */
extern uint32 gpb_inner_image(GpbInnerPages *inner, BlockNumber block);

typedef enum GpbInnerOutcome
{
	GPB_INNER_SAME,				/* nothing changed, or no chain: keep the old */
	GPB_INNER_NEW
} GpbInnerOutcome;

typedef struct GpbInnerChain
{
	uint32		nblocks;
	uint32	   *blocks;			/* images on the device; palloc'd */
	uint32	   *counts;
	uint32		root_leaf;
	uint64		leaves;			/* of a piece: those of its range */
} GpbInnerChain;

/* Get the chain of level 1, for a new inner image. */
extern GpbInnerOutcome gpb_inner_chain(GpbInnerPages *inner, GpbInnerChain *chain);

#endif							/* GPB_INNER_H */
