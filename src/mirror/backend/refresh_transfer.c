/*-------------------------------------------------------------------------
 *
 * refresh_transfer.c
 *	  Transfers of a refresh: pages into staging, full staging to the service; and which blocks are
 *	  in flight where they are moved one by one.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/backend/refresh.h"

#include "mirror/piece.h"
#include "page/page.h"

/*
 * Wait for all transfers that the service still has.  Returns false if the refresh is to be given
 * up.
 */
bool
gpb_refresh_drain(GpbRefresh *refresh)
{
	bool		ok = true;
	int			i;

	for (i = 0; i < refresh->nrequests; i++)
	{
		GpbRequest *request = refresh->request[i];

		if (request->pending)
			ok = gpb_request_wait(request) && ok;
		ok = ok && !request->lost;
	}
	return ok;
}

/* Send the pages collected; last says that they are the refresh's last ones. */
void
gpb_refresh_send(GpbRefresh *refresh, bool last)
{
	GpbRequest *request = refresh->request[refresh->filling];

	request->slot->n = refresh->npages;
	request->slot->epoch = refresh->stamp;
	request->slot->last = last;
	(void) gpb_request_submit(request, GPB_OP_UPLOAD);
	refresh->npages = 0;
}

/*
 * See that the staging has room for a page: if it is full send it, and go on with the other one,
 * once it is free.  No page may be locked.  Returns false if the refresh is to be given up.
 */
bool
gpb_refresh_room(GpbRefresh *refresh)
{
	GpbRequest *request;

	if (refresh->npages < GPB_UPLOAD_PAGES)
		return true;
	gpb_refresh_send(refresh, false);
	if (refresh->nrequests < GPB_REFRESH_DEPTH)
	{
		/* never wait for a second: another refresh may be doing the same */
		request = gpb_request_claim(GPB_REFRESH_SLOT, refresh->ref, false);
		if (request != NULL)
			refresh->request[refresh->nrequests++] = request;
	}
	refresh->filling = (refresh->filling + 1) % refresh->nrequests;
	request = refresh->request[refresh->filling];
	return !request->pending || gpb_request_wait(request);
}

/* Put a page, which is locked, into the staging being filled; returns the copy. */
char *
gpb_refresh_put(GpbRefresh *refresh, BlockNumber block, const char *page)
{
	char	   *staging = refresh->request[refresh->filling]->staging;
	char	   *copy = staging + BLCKSZ + (Size) refresh->npages * BLCKSZ;

	((uint32 *) staging)[refresh->npages++] = block;
	memcpy(copy, page, BLCKSZ);
	return copy;
}

/*
 * A page never initialized (a crash between extension and first use) gets no image in the refresh
 * that is the first to send any, and so is never clean; nor does a page of the dictionary, or what
 * lies outside of a piece.  Later they do, also if that refresh failed: the block may have been
 * another page's before VACUUM cut it off the file, and have the image of a leaf, which would count
 * as clean again as soon as the block's bit is cleared.  Pages above level 1, too, are of no use to
 * the device, but take the place of the image of a leaf.
 */
void
gpb_refresh_put_if_wanted(GpbRefresh *refresh, BlockNumber block, Page page)
{
	if (refresh->first && (PageIsNew(page) || gpb_is_dictionary_page(page)))
		return;
	if (refresh->first && refresh->ref->piece &&
		!gpb_piece_wants(&gpb_registry->mirrors[refresh->ref->slot].range, block, page))
		return;
	(void) gpb_refresh_put(refresh, block, page);
}

/* ---- what is in flight ---- */

void
gpb_refresh_note_taken(GpbRefresh *refresh, BlockNumber block)
{
	if (refresh->ntaken == refresh->taken_room)
	{
		refresh->taken_room = Max(2 * refresh->taken_room, 256);
		refresh->taken = refresh->taken == NULL ?
			palloc(refresh->taken_room * sizeof(BlockNumber)) :
			repalloc_huge(refresh->taken, refresh->taken_room * sizeof(BlockNumber));
	}
	refresh->taken[refresh->ntaken++] = block;
}
