/*-------------------------------------------------------------------------
 *
 * vacuum.c
 *	  ambulkdelete and amvacuumcleanup.
 *
 * VACUUM removes entries, deletes the leaves that this leaves empty (page_delete.c), and enters
 * deleted pages in the free space map.  See src/index/README, "Vacuum" and "Deletion".
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/genam.h"
#include "access/xact.h"
#include "access/xloginsert.h"
#include "commands/progress.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"
#include "storage/lmgr.h"
#include "storage/proc.h"
#include "utils/rel.h"

#include "index/index.h"

/* One pass over the index */
typedef struct GpbVacuum
{
	IndexVacuumInfo *info;
	IndexBulkDeleteResult *stats;
	IndexBulkDeleteCallback callback;
	void	   *callback_state;
	GpbLayout	layout;			/* a copy, since the relcache may free its own */
	BlockNumber block;			/* to which the pass has come */
	BlockNumber next;			/* the next one to read, which may be ahead of it */
	BlockNumber nblocks;		/* length of the index when it was last looked at */
	uint16		positions[GPB_MAX_LEAF_ENTRIES];
} GpbVacuum;

/*
 * Get the length of the index at a moment when none of its pages is half made: whoever extends it
 * holds the extension lock until the new page is exclusively locked, so such a page cannot be taken
 * for one that a crash left empty.
 */
static BlockNumber
index_length(Relation index)
{
	bool		lock = !RELATION_IS_LOCAL(index);
	BlockNumber nblocks;

	if (lock)
		LockRelationForExtension(index, ExclusiveLock);
	nblocks = RelationGetNumberOfBlocks(index);
	if (lock)
		UnlockRelationForExtension(index, ExclusiveLock);
	return nblocks;
}

/*
 * Ask the callback about every entry of a leaf, and remove those whose tuples are dead.  The leaf
 * has its cleanup lock on entry and exit.
 */
static void
vacuum_leaf(GpbVacuum *vacuum, Buffer buffer)
{
	Page		page = BufferGetPage(buffer);
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	int			ndelete = 0;

	Assert(count <= lengthof(vacuum->positions));
	for (int i = 0; i < count; i++)
	{
		uint64		locator = gpb_page_locator(page, row_width, i);
		ItemPointerData tid;

		if (unlikely(gpb_locator_offset(locator) == InvalidOffsetNumber))
			gpb_corrupted(vacuum->info->index, BufferGetBlockNumber(buffer),
						  "entry points to no heap tuple");
		ItemPointerSet(&tid, gpb_locator_block(locator),
					   gpb_locator_offset(locator));
		if (vacuum->callback(&tid, vacuum->callback_state))
			vacuum->positions[ndelete++] = i;
	}

	if (ndelete > 0)
		gpb_delete_entries(vacuum->info->index, buffer, vacuum->positions,
						   ndelete);
	vacuum->stats->tuples_removed += ndelete;
	vacuum->stats->num_index_tuples += count - ndelete;
}

/* Note that a block is free, and can be recycled as soon as this pass is over. */
static void
note_free(GpbVacuum *vacuum, BlockNumber block)
{
	RecordFreeIndexPage(vacuum->info->index, block);
	vacuum->stats->pages_deleted++;
	vacuum->stats->pages_free++;
}

/*
 * Delete a leaf that was found empty and begins at low, and its right siblings, as long as they are
 * empty and could not be deleted before.
 */
static void
delete_leaf(GpbVacuum *vacuum, BlockNumber block, GpbBound low)
{
	while (block != InvalidBlockNumber)
	{
		BlockNumber deleted[GPB_MAX_LEVEL + 1];
		int			n = gpb_delete_page(vacuum->info->index, &vacuum->layout, block, low, deleted,
										&block);

		vacuum->stats->pages_newly_deleted += n;
		/* A block that this pass has still to come to is counted there. */
		for (int i = 0; i < n; i++)
		{
			if (deleted[i] <= vacuum->block)
				note_free(vacuum, deleted[i]);
		}
	}
}

/* A ReadStreamBlockNumberCB: the blocks from "next" to the length that is known. */
static BlockNumber
next_block(ReadStream *stream, void *arg, void *buffer_data)
{
	GpbVacuum  *vacuum = arg;

	return vacuum->next < vacuum->nblocks ? vacuum->next++ : InvalidBlockNumber;
}

/*
 * Vacuum the block of a pinned buffer, and give up the pin.
 *
 * Every leaf is locked for cleanup, also when nothing on it is to be removed: a scan may hold a pin
 * on this very page because it has yet to visit the heap, or to read the visibility map, for
 * entries that have meanwhile moved right by a split, and that this pass removes there.
 */
static void
vacuum_block(GpbVacuum *vacuum, Buffer buffer)
{
	Relation	index = vacuum->info->index;
	BlockNumber block = BufferGetBlockNumber(buffer);
	Page		page = BufferGetPage(buffer);
	GpbBound	low;
	bool		empty;

	vacuum->block = block;
	LockBuffer(buffer, BUFFER_LOCK_SHARE);

	if (PageIsNew(page))
	{
		/* A crash came between extending the file and writing the page. */
		UnlockReleaseBuffer(buffer);
		note_free(vacuum, block);
		return;
	}
	if (gpb_is_dictionary_page(page))
	{
		/* Values stay until the index is built anew. */
		UnlockReleaseBuffer(buffer);
		return;
	}
	gpb_page_require(index, block, page, &vacuum->layout);
	if ((gpb_special(page)->flags & GPB_PAGE_DELETED) != 0)
	{
		UnlockReleaseBuffer(buffer);
		note_free(vacuum, block);
		return;
	}
	if (gpb_page_special(page)->level > 0)
	{
		UnlockReleaseBuffer(buffer);
		return;
	}

	/* A leaf stays one as long as the gate is closed, so its lock can be exchanged for another. */
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	LockBufferForCleanup(buffer);
	gpb_page_require(index, block, page, &vacuum->layout);
	vacuum_leaf(vacuum, buffer);
	empty = gpb_page_count(page) == 0 && gpb_special(page)->right != GPB_NO_BLOCK;
	low = gpb_page_low(page);
	UnlockReleaseBuffer(buffer);
	if (empty)
		delete_leaf(vacuum, block, low);
}

/*
 * Is this pass not VACUUM's, but that of CREATE INDEX CONCURRENTLY, or REINDEX CONCURRENTLY, which
 * asks for all entries?  It comes after the snapshot was taken whose rows are added to the index
 * afterwards, in the same transaction.
 */
static bool
is_validation(Relation index)
{
	return !index->rd_index->indisvalid && (MyProc->statusFlags & PROC_IN_VACUUM) == 0;
}

/*
 * Name this transaction as the builder in the metapage: rows that its snapshot does not see are not
 * added to the index, and snapshots of a standby that do not see the transaction may see them.
 * Nothing is marked in the mirror (rule M2), since the root stays.
 */
static void
set_builder(Relation index, const GpbLayout *layout)
{
	uint64		builder = U64FromFullTransactionId(GetTopFullTransactionId());
	Buffer		buffer = gpb_lock_meta(index, layout, BUFFER_LOCK_EXCLUSIVE);

	START_CRIT_SECTION();
	gpb_meta_set_builder(BufferGetPage(buffer), builder);
	MarkBufferDirty(buffer);
	log_newpage_buffer(buffer, true);
	END_CRIT_SECTION();
	UnlockReleaseBuffer(buffer);
}

/*
 * ambulkdelete: remove every entry whose heap tuple the callback says is dead.
 *
 * Blocks are visited in physical order until the file has stopped growing.  As long as the gate is
 * closed a split moves entries to a new last block only, so an entry that was there when the pass
 * began is met, at the latest, where a split put it.
 *
 * The record at the end is for scans on a standby.  An entry that they copied may have left their
 * leaf before this pass removed it, by a split or by simple deletion; the redo of the removal then
 * waits for another leaf's pins, or for none.
 */
IndexBulkDeleteResult *
gpb_bulkdelete(IndexVacuumInfo *info, IndexBulkDeleteResult *stats,
			   IndexBulkDeleteCallback callback, void *state)
{
	GpbVacuum	vacuum;
	ReadStream *stream;

	if (stats == NULL)
		stats = (IndexBulkDeleteResult *) palloc0(sizeof(*stats));

	/*
	 * The counts are of the index as it is after this pass; tuples_removed adds up over the passes
	 * of a VACUUM.
	 */
	stats->num_index_tuples = 0;
	stats->pages_deleted = 0;
	stats->pages_free = 0;
	stats->estimated_count = false;

	vacuum.info = info;
	vacuum.stats = stats;
	vacuum.callback = callback;
	vacuum.callback_state = state;
	vacuum.layout = *gpb_layout(info->index);
	vacuum.next = GPB_META_BLOCK + 1;

	if (is_validation(info->index) && RelationNeedsWAL(info->index))
		set_builder(info->index, &vacuum.layout);
	gpb_close_gate(info->index, GPB_GATE_RECYCLE);
	stream = read_stream_begin_relation(READ_STREAM_MAINTENANCE | READ_STREAM_USE_BATCHING,
										info->strategy, info->index, MAIN_FORKNUM, next_block,
										&vacuum, 0);
	for (;;)
	{
		Buffer		buffer;

		vacuum.nblocks = index_length(info->index);
		if (info->report_progress)
			pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_TOTAL, vacuum.nblocks);
		if (vacuum.next >= vacuum.nblocks)
			break;
		for (;;)
		{
			vacuum_delay_point();
			buffer = gpb_stream_pin(info->index, stream);
			if (!BufferIsValid(buffer))
				break;
			vacuum_block(&vacuum, buffer);
			if (info->report_progress)
				pgstat_progress_update_param(PROGRESS_SCAN_BLOCKS_DONE, vacuum.block);
		}
		/* If the file has grown the stream, which is at its end, asks for more only after this. */
		read_stream_reset(stream);
	}
	read_stream_end(stream);
	gpb_open_gate(info->index, GPB_GATE_RECYCLE);
	gpb_xlog_log_vacuum_pass(info->index);
	if (stats->pages_free > 0)
		IndexFreeSpaceMapVacuum(info->index);
	stats->num_pages = vacuum.nblocks;
	return stats;
}

/*
 * amvacuumcleanup.  Of an index that had no bulk deletion a few pages at the end are read, since
 * the file may get shorter if a VACUUM before this one could not lock the index; pg_class keeps its
 * count of entries.
 */
IndexBulkDeleteResult *
gpb_vacuumcleanup(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	if (info->analyze_only)
		return stats;

	/* Entries that a split moved to the right were counted twice. */
	if (stats != NULL && !info->estimated_count &&
		stats->num_index_tuples > info->num_heap_tuples)
		stats->num_index_tuples = info->num_heap_tuples;
	return gpb_shorten(info, stats);
}
