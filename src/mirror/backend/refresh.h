/*-------------------------------------------------------------------------
 *
 * refresh.h
 *	  What all kinds of refresh share; private to refresh*.c and the refresher.
 *
 *	refresh.c			the steps of a refresh; all changed pages
 *	refresh_due.c		when a query refreshes
 *	refresh_inner.c		the changed pages of level 1 alone
 *	refresh_transfer.c	pages into staging, full staging to the service
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_REFRESH_H
#define GPB_REFRESH_H

#include "compat.h"

#include "storage/bufmgr.h"
#include "storage/bufpage.h"

#include "mirror/backend/request.h"
#include "mirror/map/registry.h"

/* Transfers of one refresh under way: one is filled while the other is sent */
#define GPB_REFRESH_DEPTH	2

typedef struct GpbRefresh
{
	Relation	index;			/* NULL in the refresher, which has no relations */
	const GpbLayout *layout;
	const GpbMirrorRef *ref;
	BlockNumber nblocks;		/* that the mirror covers when the refresh has ended */
	bool		(*copy) (struct GpbRefresh *refresh);	/* step 3; false: give up */
	bool		wait;			/* may wait for the first slot */
	bool		first;			/* the device cannot have an image of any block yet */
	uint32		ntodo;			/* blocks copied */
	uint64		stamp;
	BufferAccessStrategy strategy;

	/* What is in flight: a bitmap, if all blocks were moved together; else block by block */
	uint32	   *todo;			/* or NULL */
	BlockNumber *taken;
	uint32		ntaken;
	uint32		taken_room;

	uint32		inner_blocks;	/* inner-only: pages of level 1 */

	GpbRequest *request[GPB_REFRESH_DEPTH];
	int			nrequests;
	int			filling;		/* number of the request whose staging is being filled */
	int			npages;			/* pages in that staging */
} GpbRefresh;

/* ---- refresh.c ---- */

/*
 * Steps 3 to 6, and step 2 where copy() moves block by block.  The caller owns the mirror's refresh
 * and has set what stands before ntodo.  Returns false if the refresh was given up.
 */
extern bool gpb_refresh_run(GpbRefresh *refresh);

/* ---- refresh_due.c ---- */

/*
 * May a query leave what has changed to the refresher, now that the index has nblocks blocks?  Then
 * the CPU answers for those leaves (rule M4).
 */
extern bool gpb_refresh_can_wait(const GpbMirrorRef *ref, BlockNumber nblocks);

/* ---- refresh_transfer.c ---- */

/* See that there is room for another page in staging, sending what is there if need be. */
extern bool gpb_refresh_room(GpbRefresh *refresh);
/* Copy a locked page into staging; returns the copy. */
extern char *gpb_refresh_put(GpbRefresh *refresh, BlockNumber block, const char *page);
/* Copy a locked page into staging, which has room for it, unless the device has no use for it. */
extern void gpb_refresh_put_if_wanted(GpbRefresh *refresh, BlockNumber block, Page page);
/* Note a block that gpb_map_take() has put in flight. */
extern void gpb_refresh_note_taken(GpbRefresh *refresh, BlockNumber block);
/* Send the pages collected.  Wait until the service has taken all transfers. */
extern void gpb_refresh_send(GpbRefresh *refresh, bool last);
extern bool gpb_refresh_drain(GpbRefresh *refresh);

/* ---- refresh_inner.c ---- */

/* Would a refresh of the separators pay? */
extern bool gpb_separators_are_due(const GpbMirrorRef *ref, BlockNumber nblocks);
/* Step 3 of a refresh, for a mirror of the inner nodes. */
extern bool gpb_refresh_copy_inner(GpbRefresh *refresh);

#endif							/* GPB_REFRESH_H */
