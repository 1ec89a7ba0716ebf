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
#include "utils/memutils.h"

#include "engine/mirror_reader.h"
#include "index/index.h"

/* Number of pages of the visibility map whose blocks are sent at a time */
#define GPB_VM_BATCH		32

bool
gpb_reader_refresh(Relation index, const GpbLayout *layout, const GpbRange *piece,
				   TimestampTz keep_since, GpbMirrorRef *ref, uint64 *blocks)
{
	bool		fresh;

	if (piece == NULL ? !gpb_mirror_attach_beside(index, layout, keep_since, ref) :
		!gpb_mirror_attach_piece(index, piece, keep_since, ref))
		return false;
	pg_memory_barrier();
	fresh = gpb_mirror_refresh_for_query(index, layout, ref, blocks);
	pg_memory_barrier();
	return fresh;
}

bool
gpb_reader_cut(Relation index, const GpbLayout *layout, TimestampTz keep_since, GpbMirrorCut *cut)
{
	GpbCutOutcome outcome = gpb_mirror_find_cut(index, layout, cut);
	GpbBound   *bounds;
	uint32		n;
	bool		made;

	if (outcome != GPB_CUT_WANTED)
		return outcome == GPB_CUT_FOUND;
	bounds = palloc(sizeof(GpbBound) * GPB_CUT_BOUNDS);
	n = gpb_part_range(index, layout, (GpbRange) {GPB_BOUND_MIN, GPB_BOUND_MAX},
					   GPB_CUT_BOUNDS / 8, GPB_CUT_BOUNDS, bounds);
	made = gpb_mirror_make_cut(index, layout, keep_since, bounds, n, cut);
	pfree(bounds);
	return made;
}

bool
gpb_reader_fill(Relation index, const GpbLayout *layout, uint64 *blocks)
{
	GpbMirrorCut cut;
	GpbMirrorRef ref;
	bool		done = true;
	int			i;

	*blocks = 0;
	if (!gpb_reader_cut(index, layout, 0, &cut))
		return gpb_mirror_attach(index, layout, &ref) &&
			gpb_mirror_refresh(index, layout, &ref, blocks);
	for (i = 0; i < cut.n; i++)
	{
		uint64		copied = 0;

		done = gpb_mirror_attach_piece(index, &cut.range[i], 0, &ref) &&
			gpb_mirror_refresh(index, layout, &ref, &copied) && done;
		*blocks += copied;
	}
	return done;
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

int			gpb_shared_bits = 8 * 1024 * 1024;

/* The bits that this backend made last.  The memory is kept for the next, which are as many. */
static char *made_bits = NULL;
static Size made_room = 0;

static Size
bits_size(uint32 heap_blocks)
{
	return ((Size) heap_blocks + GPB_HEAPBLOCKS_PER_BYTE - 1) / GPB_HEAPBLOCKS_PER_BYTE;
}

/* Get memory for so many bytes of bits and exceptions; those that were made stay. */
static void
reserve_bits(Size size)
{
	Size		room = size + size / 4;

	if (size <= made_room)
		return;
	made_bits = made_bits == NULL ? MemoryContextAlloc(TopMemoryContext, room) :
		repalloc(made_bits, room);
	made_room = room;
}

/* Make all bits, with the exceptions behind them.  Returns the size in bytes. */
static Size
make_bits(GpbVisibleBlocks *visible)
{
	Size		size = bits_size(visible->heap_blocks);
	Size		offset = gpb_exceptions_offset(visible->heap_blocks);
	uint64		first;

	reserve_bits(size);
	for (first = 0; first < visible->heap_blocks; first += GPB_VM_PAGE_BLOCKS)
	{
		CHECK_FOR_INTERRUPTS();
		gpb_visible_blocks_fill(visible, (BlockNumber) first,
								(uint32) Min(GPB_VM_PAGE_BLOCKS, visible->heap_blocks - first),
								(uint8 *) made_bits + first / GPB_HEAPBLOCKS_PER_BYTE);
	}
	if (visible->nexceptions == 0)
		return size;
	reserve_bits(offset + visible->nexceptions * sizeof(uint64));
	memset(made_bits + size, 0, offset - size);
	memcpy(made_bits + offset, visible->exceptions, visible->nexceptions * sizeof(uint64));
	return offset + visible->nexceptions * sizeof(uint64);
}

/*
 * Let the request have the bits just made: the current ones, which others use, if they are the
 * same, else new ones.  The bits just made are what was found out for this snapshot after the epoch
 * was read, so bits that are equal are right for it whoever made them (rules M5 and M11).
 * Returns false if they cannot be shared.
 */
static bool
share_bits(GpbRequest *request, Size size)
{
	const char *current = gpb_request_current_bits(request, size);
	char	   *bits;

	if (current != NULL && memcmp(current, made_bits, size) == 0)
		return true;
	bits = gpb_request_new_bits(request, size);
	if (bits == NULL)
		return false;
	memcpy(bits, made_bits, size);
	gpb_request_publish_bits(request);
	return true;
}

/* Make the bits a part at a time, and send them for this request alone. */
static bool
send_in_parts(GpbRequest *request, GpbVisibleBlocks *visible)
{
	uint32		most = GPB_VM_BATCH * GPB_VM_PAGE_BLOCKS;
	uint64		first;
	bool		sent = true;

	reserve_bits(bits_size(Min(most, visible->heap_blocks)));
	for (first = 0; first < visible->heap_blocks && sent; first += most)
	{
		uint32		n = (uint32) Min(most, visible->heap_blocks - first);

		CHECK_FOR_INTERRUPTS();
		gpb_visible_blocks_fill(visible, (BlockNumber) first, n, (uint8 *) made_bits);
		sent = gpb_request_visibility(request, first / GPB_HEAPBLOCKS_PER_BYTE, made_bits,
									  bits_size(n));
	}
	if (sent && visible->nexceptions > 0)
		sent = gpb_request_visibility(request, gpb_exceptions_offset(visible->heap_blocks),
									  visible->exceptions,
									  (uint64) visible->nexceptions * sizeof(uint64));
	return sent;
}

/* No pin is held while the service is waited for (rule M9). */
bool
gpb_reader_visibility(GpbRequest *request, GpbVisibleBlocks *visible)
{
	bool		given = true;

	pg_memory_barrier();
	if (bits_size(visible->heap_blocks) > (Size) gpb_shared_bits)
		given = send_in_parts(request, visible);
	else if (visible->heap_blocks > 0)
	{
		Size		size = make_bits(visible);

		if (size > (Size) gpb_shared_bits || !share_bits(request, size))
			given = gpb_request_visibility(request, 0, made_bits, size);
	}
	pg_memory_barrier();
	return given;
}
