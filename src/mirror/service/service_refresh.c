/*-------------------------------------------------------------------------
 *
 * service_refresh.c
 *	  The service's part of refreshes: taking pages, and a new inner image.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/service.h"

#include "utils/memutils.h"

#include "hold.h"
#include "mirror/heartbeat.h"
#include "mirror/map/registry.h"
#include "mirror/service/served.h"
#include "mirror/slots.h"

/* Make a new inner image if level 1 has changed and its pages form a chain (inner.c). */
static GpbDeviceStatus
serve_inner(const GpbRequestSlot *slot, GpbServed *served)
{
	GpbInnerChain chain;
	GpbDeviceStatus status;

	if (gpb_inner_chain(served->inner, &chain) == GPB_INNER_SAME)
		return GPB_DEVICE_OK;
	do
	{
		status = gpb_api->set_inner(gpb_device, served->mirror, chain.nblocks,
									chain.blocks, chain.counts, chain.root_leaf);
	} while (gpb_should_retry(status, slot));
	if (status == GPB_DEVICE_OK)
	{
		served->has_inner = true;
		pg_atomic_write_u64(&gpb_registry->mirrors[slot->mirror].leaves, chain.leaves);
	}
	pfree(chain.blocks);
	pfree(chain.counts);
	return status;
}

/*
 * Of n pages in staging keep those that a piece wants, moved together, with their blocks.  Staging
 * is the service's.  Returns how many there are.
 */
static uint32
keep_of_piece(GpbPieceImages *images, uint32 n, uint32 *blocks, char *pages)
{
	uint32		kept = 0;
	uint32		i;

	for (i = 0; i < n; i++)
	{
		char	   *page = pages + (Size) i * BLCKSZ;

		if (!gpb_piece_keep(images, blocks[i], page))
			continue;
		if (kept < i)
			memcpy(pages + (Size) kept * BLCKSZ, page, BLCKSZ);
		blocks[kept++] = blocks[i];
	}
	return kept;
}

/* Take the pages in staging; with the last transfer of a refresh also make the inner image. */
static bool
serve_upload(GpbRequestSlot *slot, char *staging)
{
	uint32	   *blocks = (uint32 *) staging;
	char	   *pages = staging + BLCKSZ;
	uint32		n = (uint32) slot->n;
	uint32		images[BLCKSZ / sizeof(uint32)];
	GpbDeviceStatus status = GPB_DEVICE_NO_MEMORY;
	GpbServed  *served;
	uint32		i;

	GPB_HOLD_SERVICE("upload");
	if (!gpb_request_is_valid(slot) || slot->n > GPB_UPLOAD_PAGES)
		return false;
	served = gpb_served_for(slot);
	if (served != NULL)
	{
		status = GPB_DEVICE_OK;
		if (served->images != NULL)
			n = keep_of_piece(served->images, n, blocks, pages);
		for (i = 0; i < n; i++)
			images[i] = gpb_inner_image(served->inner, blocks[i]);
		if (n > 0)
		{
			do
			{
				status = gpb_api->upload(gpb_device, served->mirror, (int) n, images,
										 pages, slot->epoch);
				if (status == GPB_DEVICE_OK)
					status = gpb_api->upload_wait(gpb_device);
			} while (gpb_should_retry(status, slot));
		}
		if (status == GPB_DEVICE_OK)
		{
			for (i = 0; i < n; i++)
				gpb_inner_note(served->inner, blocks[i], pages + (Size) i * BLCKSZ);
			if (slot->last)
				status = serve_inner(slot, served);
		}
	}
	if (status != GPB_DEVICE_OK)
	{
		if (gpb_request_is_valid(slot))
			gpb_give_up(slot->mirror);
		return false;
	}
	if (slot->last)
	{
		pg_atomic_write_u64(&gpb_registry->mirrors[slot->mirror].memory,
							gpb_api->mirror_bytes(served->mirror));
		gpb_device_show("ready");
	}
	return true;
}

/*
 * Serve all refresh requests.  Each is carried out the moment it is found, and one abandoned before
 * that never.  So an upload left behind by a refresh that died cannot overwrite the next refresh's:
 * the next owner submits only after the former owner's requests were done or abandoned.
 */
bool
gpb_serve_refreshes(void)
{
	bool		worked = false;
	int			i;

	GPB_HOLD_SERVICE("refreshes");
	for (i = 0; i < gpb_slot_count(GPB_REFRESH_SLOT); i++)
	{
		GpbRequestSlot *slot = gpb_own_slot(GPB_REFRESH_SLOT, i);

		if (pg_atomic_read_u32(&slot->state) == GPB_SLOT_ABANDONED)
			gpb_slot_free(GPB_REFRESH_SLOT, slot);
		else if (gpb_slot_take(slot))
		{
			bool		ok = serve_upload(slot, gpb_slot_staging(gpb_service_device,
															 GPB_REFRESH_SLOT, i));

			gpb_slot_answer(GPB_REFRESH_SLOT, slot, ok);
			gpb_heartbeat();
			worked = true;
		}
	}
	return worked;
}
