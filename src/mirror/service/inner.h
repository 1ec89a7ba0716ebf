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

typedef struct GpbInnerPages GpbInnerPages;

extern GpbInnerPages *gpb_inner_create(const GpbLayout *layout, bool dense);
extern void gpb_inner_destroy(GpbInnerPages *inner);
extern void gpb_inner_note(GpbInnerPages *inner, BlockNumber block, const char *page);
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
	uint64		leaves;
} GpbInnerChain;

extern GpbInnerOutcome gpb_inner_chain(GpbInnerPages *inner, GpbInnerChain *chain);

#endif							/* GPB_INNER_H */
