/*-------------------------------------------------------------------------
 *
 * delete.c
 *	  Removing entries from a leaf: for VACUUM, and to make room.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/tableam.h"
#include "access/xlog.h"
#include "access/xloginsert.h"
#include "catalog/catalog.h"
#include "miscadmin.h"
#include "utils/rel.h"

#include "index/xlog.h"

/*
 * Remove the entries at n ascending positions of a leaf, and log it.  The leaf is locked
 * exclusively on entry and exit.  info is GPB_XLOG_VACUUM or GPB_XLOG_DELETE.  Only a DELETE record
 * has the horizon, the newest transaction whose tuples the entries pointed to, and says whether
 * their table, heap, is one that logical decoding may read as a catalog; VACUUM has no heap.
 */
static void
remove_entries(Relation index, Buffer buffer, const uint16 *positions, int n,
			   uint8 info, TransactionId horizon, Relation heap)
{
	Page		page = BufferGetPage(buffer);

	gpb_mark_changed(index, BufferGetBlockNumber(buffer));

	START_CRIT_SECTION();

	gpb_page_delete(page, positions, n);
	MarkBufferDirty(buffer);

	if (RelationNeedsWAL(index))
	{
		xl_gpb_delete record;
		XLogRecPtr	lsn;

		record.latest_removed_xid = horizon;
		record.is_catalog = heap != NULL && RelationIsAccessibleInLogicalDecoding(heap);
		XLogBeginInsert();
		if (info == GPB_XLOG_DELETE)
			XLogRegisterData((char *) &record, SizeOfGpbDelete);
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) positions, n * sizeof(uint16));
		lsn = XLogInsert(GPB_RMGR_ID, info);
		PageSetLSN(page, lsn);
	}

	END_CRIT_SECTION();
}

/*
 * No horizon is logged here: VACUUM's pruning of the heap has logged conflicts for the tuples, and
 * redo takes a cleanup lock as VACUUM did.
 */
void
gpb_delete_entries(Relation index, Buffer buffer, const uint16 *positions,
				   int n)
{
	remove_entries(index, buffer, positions, n, GPB_XLOG_VACUUM,
				   InvalidTransactionId, NULL);
}

/* qsort comparator for block numbers. */
static int
compare_blocks(const void *a, const void *b)
{
	BlockNumber left = *(const BlockNumber *) a;
	BlockNumber right = *(const BlockNumber *) b;

	return left < right ? -1 : left > right;
}

/* qsort comparator for deletable entries, by their ids. */
static int
compare_ids(const void *a, const void *b)
{
	return ((const TM_IndexDelete *) a)->id - ((const TM_IndexDelete *) b)->id;
}

/*
 * Collect the heap blocks of the entries marked dead, and the block "coming", sorted; one block may
 * be there several times.  Returns their number, or 0 if no entry is marked.
 */
static int
dead_blocks(Page page, int row_width, BlockNumber coming,
			BlockNumber *blocks)
{
	int			count = gpb_page_count(page);
	int			n = 0;
	int			i;

	for (i = 0; i < count; i++)
	{
		uint64		locator = gpb_row_locator(gpb_page_row(page, row_width, i));

		if ((locator & GPB_LOC_DEAD) != 0)
			blocks[n++] = gpb_locator_block(locator);
	}
	if (n == 0)
		return 0;
	blocks[n++] = coming;
	qsort(blocks, n, sizeof(BlockNumber), compare_blocks);
	return n;
}

/*
 * Collect the entries that the table shall judge: those marked dead, and, since their heap blocks
 * get visited anyway, all others that point to those blocks.
 */
static void
collect_candidates(Relation index, Buffer buffer, int row_width,
				   const BlockNumber *blocks, int nblocks,
				   TM_IndexDeleteOp *op)
{
	Page		page = BufferGetPage(buffer);
	int			count = gpb_page_count(page);
	int			i;

	op->irel = index;
	op->iblknum = BufferGetBlockNumber(buffer);
	op->bottomup = false;
	op->bottomupfreespace = 0;
	op->ndeltids = 0;
	for (i = 0; i < count; i++)
	{
		uint64		locator = gpb_row_locator(gpb_page_row(page, row_width, i));
		BlockNumber block = gpb_locator_block(locator);
		TM_IndexDelete *candidate = &op->deltids[op->ndeltids];
		TM_IndexStatus *status = &op->status[op->ndeltids];

		if (bsearch(&block, blocks, nblocks, sizeof(BlockNumber),
					compare_blocks) == NULL)
			continue;
		if (gpb_locator_offset(locator) == InvalidOffsetNumber)
			gpb_corrupted(index, op->iblknum, "entry points to no heap tuple");

		ItemPointerSet(&candidate->tid, block, gpb_locator_offset(locator));
		candidate->id = op->ndeltids;
		status->idxoffnum = i + 1;	/* the table wants offset numbers */
		status->knowndeletable = (locator & GPB_LOC_DEAD) != 0;
		status->promising = false;
		status->freespace = 0;
		op->ndeltids++;
	}
}

/*
 * Let the table judge the candidates, and remove those whose tuples it says are dead to everybody.
 * The leaf is locked exclusively on entry and exit.  Returns the number removed.
 */
static int
judge_and_remove(Relation index, Relation heap, Buffer buffer,
				 TM_IndexDeleteOp *op, uint16 *positions)
{
	TransactionId horizon = table_index_delete_tuples(heap, op);
	int			n = 0;
	int			i;

	if (!XLogStandbyInfoActive() || !RelationNeedsWAL(index))
		horizon = InvalidTransactionId;

	/* The table has put them into an order of its own. */
	qsort(op->deltids, op->ndeltids, sizeof(TM_IndexDelete), compare_ids);
	for (i = 0; i < op->ndeltids; i++)
	{
		const TM_IndexStatus *status = &op->status[op->deltids[i].id];

		if (status->knowndeletable)
			positions[n++] = status->idxoffnum - 1;
	}
	if (n > 0)
		remove_entries(index, buffer, positions, n, GPB_XLOG_DELETE, horizon,
					   heap);
	return n;
}

/*
 * The entries' own marks are read, not the page's flag, which is a hint and no more: to look at
 * each row costs less than a split.
 */
int
gpb_delete_dead(Relation index, const GpbLayout *layout, Relation heap,
				Buffer buffer, BlockNumber coming)
{
	BlockNumber blocks[GPB_PAGE_SPACE / (4 + GPB_LOCATOR_WIDTH) + 1];
	int			count = gpb_page_count(BufferGetPage(buffer));
	int			nblocks;
	int			removed;
	TM_IndexDeleteOp op;
	uint16	   *positions;

	nblocks = dead_blocks(BufferGetPage(buffer), layout->row_width,
						  coming, blocks);
	if (nblocks == 0)
		return 0;

	op.deltids = palloc(count * sizeof(TM_IndexDelete));
	op.status = palloc(count * sizeof(TM_IndexStatus));
	positions = palloc(count * sizeof(uint16));
	collect_candidates(index, buffer, layout->row_width, blocks, nblocks,
					   &op);
	removed = judge_and_remove(index, heap, buffer, &op, positions);
	pfree(positions);
	pfree(op.status);
	pfree(op.deltids);
	return removed;
}
