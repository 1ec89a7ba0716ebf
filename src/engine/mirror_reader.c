/*-------------------------------------------------------------------------
 *
 * mirror_reader.c
 *	  The order of a reader of a mirror (rule M5), step by step.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "miscadmin.h"
#include "port/atomics.h"
#include "storage/bufmgr.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "engine/mirror_reader.h"
#include "engine/visibility.h"

/* Number of pages of the visibility map that are sent at a time */
#define GPB_VM_BATCH		32

bool
gpb_reader_refresh(Relation index, const GpbLayout *layout, GpbMirrorRef *ref, uint64 *blocks)
{
	bool		fresh;

	if (!gpb_mirror_attach(index, layout, ref))
		return false;
	pg_memory_barrier();
	fresh = gpb_mirror_refresh_for_query(index, layout, ref, blocks);
	pg_memory_barrier();
	return fresh;
}

uint64
gpb_reader_epoch(const GpbMirrorRef *ref)
{
	uint64		epoch;

	pg_memory_barrier();
	epoch = gpb_mirror_epoch(ref);
	pg_memory_barrier();
	return epoch;
}

/* ---- the visibility map ---- */

/* Copy one page of the map without its header.  No lock is taken, as core takes none to read it. */
static void
copy_map_page(Relation heap, BlockNumber page, char *into)
{
	Buffer		buffer;

	buffer = ReadBufferExtended(heap, VISIBILITYMAP_FORKNUM, page,
								RBM_ZERO_ON_ERROR, NULL);
	memcpy(into, PageGetContents(BufferGetPage(buffer)), GPB_VM_PAGE_BYTES);
	ReleaseBuffer(buffer);
}

/* No pin is held while the service is waited for (rule M9). */
bool
gpb_reader_visibility(GpbRequest *request, Relation heap, uint32 *heap_blocks)
{
	SMgrRelation smgr = RelationGetSmgr(heap);
	BlockNumber pages = 0;
	BlockNumber page;
	char	   *bits;
	bool		shipped = true;

	if (smgrexists(smgr, VISIBILITYMAP_FORKNUM))
		pages = smgrnblocks(smgr, VISIBILITYMAP_FORKNUM);
	*heap_blocks = (uint32) Min((uint64) pages * GPB_VM_PAGE_BLOCKS,
								(uint64) MaxBlockNumber);

	bits = palloc((Size) GPB_VM_BATCH * GPB_VM_PAGE_BYTES);
	for (page = 0; page < pages && shipped; page += GPB_VM_BATCH)
	{
		int			n = Min(GPB_VM_BATCH, pages - page);
		int			i;

		CHECK_FOR_INTERRUPTS();
		for (i = 0; i < n; i++)
			copy_map_page(heap, page + i, bits + (Size) i * GPB_VM_PAGE_BYTES);
		shipped = gpb_request_visibility(request, (uint64) page * GPB_VM_PAGE_BYTES,
										 bits, (uint64) n * GPB_VM_PAGE_BYTES);
	}
	pfree(bits);
	pg_memory_barrier();
	return shipped;
}
