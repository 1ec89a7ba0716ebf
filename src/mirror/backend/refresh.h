/*-------------------------------------------------------------------------
 *
 * refresh.h
 *	  What the two kinds of refresh share; private to refresh*.c.
 *
 *	refresh.c			the steps of a refresh; all changed pages
 *	refresh_inner.c		the changed pages of level 1 alone
 *	refresh_transfer.c	pages into staging, full staging to the service
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_REFRESH_H
#define GPB_REFRESH_H

#include "compat.h"

#include "storage/bufmgr.h"

#include "mirror/backend/request.h"
#include "mirror/map/registry.h"

/* Transfers of one refresh under way: one is filled while the other is sent */
#define GPB_REFRESH_DEPTH	2

typedef struct GpbRefresh
{
	Relation	index;
	const GpbLayout *layout;
	const GpbMirrorRef *ref;
	BlockNumber nblocks;
	uint32	   *todo;			/* bitmap of the blocks to copy; inner-only: NULL */
	uint32		ntodo;			/* blocks copied */
	uint64		stamp;
	BufferAccessStrategy strategy;

	/* inner-only */
	uint32		inner_blocks;	/* pages of level 1 */
	BlockNumber *taken;			/* blocks in flight */
	uint32		ntaken;
	uint32		taken_room;

	GpbRequest *request[GPB_REFRESH_DEPTH];
	int			nrequests;
	int			filling;		/* number of the request whose staging is being filled */
	int			npages;			/* pages in that staging */
} GpbRefresh;

/* ---- refresh_transfer.c ---- */

/* See that there is room for another page in staging, sending what is there if need be. */
extern bool gpb_refresh_room(GpbRefresh *refresh);
/* Copy a locked page into staging; returns the copy. */
extern char *gpb_refresh_put(GpbRefresh *refresh, BlockNumber block, const char *page);
/* Send the pages collected.  Wait until the service has taken all transfers. */
extern void gpb_refresh_send(GpbRefresh *refresh, bool last);
extern bool gpb_refresh_drain(GpbRefresh *refresh);

/* ---- refresh_inner.c ---- */

/* Would a refresh of the separators pay? */
extern bool gpb_separators_are_due(const GpbMirrorRef *ref, BlockNumber nblocks);
/* Steps 3 and 6 of a refresh, for a mirror of the inner nodes. */
extern bool gpb_refresh_copy_inner(GpbRefresh *refresh);
extern void gpb_refresh_inner_done(GpbRefresh *refresh);

#endif							/* GPB_REFRESH_H */
