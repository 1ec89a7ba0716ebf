/*-------------------------------------------------------------------------
 *
 * mirror_reader.c
 *	  The order of a reader of a mirror (rule M5), step by step.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "port/atomics.h"

#include "engine/mirror_reader.h"

/* Number of pages of the visibility map whose blocks are sent at a time */
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

/* ---- visible blocks ---- */

/* No pin is held while the service is waited for (rule M9). */
bool
gpb_reader_visibility(GpbRequest *request, GpbVisibleBlocks *visible)
{
	uint32		most = GPB_VM_BATCH * GPB_VM_PAGE_BLOCKS;
	uint8	   *bits = palloc((Size) Min(most, visible->heap_blocks) / GPB_HEAPBLOCKS_PER_BYTE + 1);
	uint64		first;
	bool		shipped = true;

	pg_memory_barrier();
	for (first = 0; first < visible->heap_blocks && shipped; first += most)
	{
		uint32		n = (uint32) Min(most, visible->heap_blocks - first);

		gpb_visible_blocks_fill(visible, (BlockNumber) first, n, bits);
		shipped = gpb_request_visibility(request, first / GPB_HEAPBLOCKS_PER_BYTE, bits,
										 ((uint64) n + GPB_HEAPBLOCKS_PER_BYTE - 1) /
										 GPB_HEAPBLOCKS_PER_BYTE);
	}
	pfree(bits);
	if (shipped && visible->nexceptions > 0)
		shipped = gpb_request_visibility(request, gpb_exceptions_offset(visible->heap_blocks),
										 gpb_visible_blocks_exceptions(visible),
										 (uint64) visible->nexceptions * sizeof(uint64));
	pg_memory_barrier();
	return shipped;
}
