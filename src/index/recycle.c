/*-------------------------------------------------------------------------
 *
 * recycle.c
 *	  Blocks for new pages: those of deleted pages, or else new ones at the end of the file; and the
 *	  gates that keep pages from being recycled or deleted for a while.
 *
 * Nobody waits for readers who know a link to a deleted page (rule M7).  VACUUM alone must not meet
 * recycled blocks during its pass.  See src/index/README, "Deletion".
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "index/index.h"

/* ---- gates ---- */

/*
 * A gate is a heavyweight lock on the index: that of a row which an index does not have.  Whoever
 * must not meet recycled or deleted pages closes it (ShareLock); recycling and deletion pass it
 * (RowExclusiveLock), one page at a time, if that is possible without waiting.
 */
static inline ItemPointer
gate_row(GpbGate gate, ItemPointer row)
{
	ItemPointerSet(row, GPB_META_BLOCK, (OffsetNumber) gate);
	return row;
}

void
gpb_close_gate(Relation index, GpbGate gate)
{
	ItemPointerData row;

	if (!RELATION_IS_LOCAL(index))
		LockTuple(index, gate_row(gate, &row), ShareLock);
}

void
gpb_open_gate(Relation index, GpbGate gate)
{
	ItemPointerData row;

	if (!RELATION_IS_LOCAL(index))
		UnlockTuple(index, gate_row(gate, &row), ShareLock);
}

bool
gpb_enter_gate(Relation index, GpbGate gate)
{
	ItemPointerData row;

	return RELATION_IS_LOCAL(index) ||
		GPB_CONDITIONAL_LOCK_TUPLE(index, gate_row(gate, &row), RowExclusiveLock);
}

void
gpb_leave_gate(Relation index, GpbGate gate)
{
	ItemPointerData row;

	if (!RELATION_IS_LOCAL(index))
		UnlockTuple(index, gate_row(gate, &row), RowExclusiveLock);
}

/* ---- recycling ---- */

bool
gpb_is_free_page(Page page)
{
	return PageIsNew(page) ||
		(((PageHeader) page)->pd_special == GPB_SPECIAL_OFFSET &&
		 gpb_special(page)->page_id == GPB_PAGE_ID &&
		 (gpb_special(page)->flags & GPB_PAGE_DELETED) != 0);
}

/*
 * Pin a block and lock it exclusively, if nobody else has it locked and it is free.  The free space
 * map is not logged and may be wrong, so the page itself is asked.
 */
static Buffer
lock_if_free(Relation index, BlockNumber block)
{
	Buffer		buffer = ReadBuffer(index, block);

	if (ConditionalLockBuffer(buffer))
	{
		if (gpb_is_free_page(BufferGetPage(buffer)))
			return buffer;
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	}
	ReleaseBuffer(buffer);
	return InvalidBuffer;
}

/*
 * Get a deleted page for another use, pinned and exclusively locked, or InvalidBuffer if there is
 * none to be had at once.
 *
 * The gate is passed until the page is locked: so VACUUM, which closes it for a pass, either comes
 * to the page when its new contents are there, or keeps the page from being recycled.
 */
static Buffer
recycle(Relation index)
{
	Buffer		buffer = InvalidBuffer;
	BlockNumber length;
	BlockNumber block;

	if (!gpb_enter_gate(index, GPB_GATE_RECYCLE))
		return InvalidBuffer;
	length = RelationGetNumberOfBlocks(index);
	while (!BufferIsValid(buffer) && (block = GetFreeIndexPage(index)) != InvalidBlockNumber)
	{
		if (block != GPB_META_BLOCK && block < length)
			buffer = lock_if_free(index, block);
	}
	gpb_leave_gate(index, GPB_GATE_RECYCLE);
	return buffer;
}

/*
 * VACUUM, at the end of a pass, has had the map brought up to date, which makes it propose its
 * first block.  What lies behind the limit stays in the map, for the file may not be cut off there.
 */
Buffer
gpb_free_block_before(Relation index, BlockNumber limit)
{
	BlockNumber block;

	while ((block = GetFreeIndexPage(index)) != InvalidBlockNumber)
	{
		Buffer		buffer;

		if (block >= limit)
		{
			RecordFreeIndexPage(index, block);
			break;
		}
		buffer = block == GPB_META_BLOCK ? InvalidBuffer : lock_if_free(index, block);
		if (BufferIsValid(buffer))
			return buffer;
	}
	return InvalidBuffer;
}

/*
 * The page is locked before the extension lock is given back, so that VACUUM, which takes that lock
 * to read the file's length, waits for the page's contents.  A failure before the contents are
 * logged leaves a page of zeroes to which nothing is linked.
 *
 * An index that this transaction has made may be extended by the workers of its build, who do not
 * know whose it is: so the lock is left out for temporary indexes alone.
 */
Buffer
gpb_extend(Relation index)
{
	bool		shared = !RelationUsesLocalBuffers(index);
	Buffer		buffer;

	if (shared)
		LockRelationForExtension(index, ExclusiveLock);
	buffer = ReadBuffer(index, P_NEW);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (shared)
		UnlockRelationForExtension(index, ExclusiveLock);
	if (!PageIsNew(BufferGetPage(buffer)))
		gpb_corrupted(index, BufferGetBlockNumber(buffer),
					  "new page is not empty");
	return buffer;
}

Buffer
gpb_new_block(Relation index)
{
	Buffer		buffer = recycle(index);

	return BufferIsValid(buffer) ? buffer : gpb_extend(index);
}
