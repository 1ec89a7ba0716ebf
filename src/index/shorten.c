/*-------------------------------------------------------------------------
 *
 * shorten.c
 *	  VACUUM cuts off the end of the file, where no page is in use.
 *
 * A few pages that are in use do not keep the end of the file from being cut off: the root, and the
 * last page of each level, which are never deleted, are often at the very end.  They are moved to
 * free blocks first.  See src/index/README, "A file that gets shorter".
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/table.h"
#include "access/xact.h"
#include "catalog/storage.h"
#include "commands/vacuum.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "storage/indexfsm.h"
#include "storage/latch.h"
#include "storage/lmgr.h"
#include "utils/rel.h"
#include "utils/wait_event.h"

#include "hold.h"
#include "index/index.h"

/*
 * So many blocks are cut off at least, and a sixteenth of the file, or a thousand: the latter two
 * are PostgreSQL's limits for a table.
 */
#define GPB_CUT_LEAST		32
#define GPB_CUT_SHARE		16
#define GPB_CUT_ENOUGH		1000

/* So many pages are moved at most, and one for so many blocks that are cut off */
#define GPB_MOVES			256
#define GPB_CUT_FOR_A_MOVE	8

/* So many pages in use, beyond that, may be met while free blocks are looked for. */
#define GPB_MOVES_AHEAD		8

/* How long VACUUM tries to lock the index, and how often, in milliseconds */
#define GPB_LOCK_TIME		2000
#define GPB_LOCK_INTERVAL	50

/* Waiting sessions are looked for after so many pages. */
#define GPB_PAGES_A_LOOK	32

/* Are so many blocks, of so many, worth to be cut off? */
static bool
cut_pays(BlockNumber cut, BlockNumber length)
{
	return cut >= GPB_CUT_LEAST && (cut >= GPB_CUT_ENOUGH || cut >= length / GPB_CUT_SHARE);
}

/* May VACUUM truncate the table?  What its option TRUNCATE says no index is told. */
static bool
truncation_is_allowed(Relation index)
{
	Relation	heap = table_open(index->rd_index->indrelid, NoLock);
	StdRdOptions *options = (StdRdOptions *) heap->rd_options;
	bool		allowed = GPB_VACUUM_TRUNCATES(options);

	table_close(heap, NoLock);
	return allowed;
}

/* Has the block a page that is in use?  *fixed becomes true if it is one that cannot be moved. */
static bool
is_in_use(IndexVacuumInfo *info, BlockNumber block, bool *fixed)
{
	Buffer		buffer = gpb_pin(info->index, InvalidBuffer, block, info->strategy);
	bool		in_use;

	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	in_use = !gpb_is_free_page(BufferGetPage(buffer));
	*fixed = block == GPB_META_BLOCK || gpb_is_dictionary_page(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
	return in_use;
}

/*
 * Find out how short the file can get: to the least length behind which as many blocks are free as
 * pay for the pages to be moved from there.  Looks at blocks from the end on, and soon gives up
 * where many are in use.  Returns the file's length if it stays as it is.  Nothing is locked but
 * the page that is looked at, so this is a plan, no more.
 */
static BlockNumber
plan_length(IndexVacuumInfo *info, BlockNumber length)
{
	BlockNumber planned = length;
	BlockNumber moves = 0;

	for (BlockNumber cut = 1; cut < length; cut++)
	{
		bool		fixed;

		vacuum_delay_point();
		if (is_in_use(info, length - cut, &fixed))
			moves++;
		if (fixed || moves > Min(cut / GPB_CUT_FOR_A_MOVE + GPB_MOVES_AHEAD, GPB_MOVES))
			break;
		if (moves * GPB_CUT_FOR_A_MOVE <= cut && cut_pays(cut, length))
			planned = length - cut;
	}
	return planned;
}

/*
 * Lock the index against everybody.  Tries only, for GPB_LOCK_TIME: sessions that read the index
 * have it locked to the end of their transactions, and others must not queue up behind us.
 */
static bool
lock_index(Relation index)
{
	for (int tries = 0;; tries++)
	{
		if (ConditionalLockRelation(index, AccessExclusiveLock))
			return true;
		CHECK_FOR_INTERRUPTS();
		if (tries >= GPB_LOCK_TIME / GPB_LOCK_INTERVAL)
			return false;
		(void) WaitLatch(MyLatch, WL_LATCH_SET | WL_TIMEOUT | WL_EXIT_ON_PM_DEATH,
						 GPB_LOCK_INTERVAL, WAIT_EVENT_VACUUM_TRUNCATE);
		ResetLatch(MyLatch);
	}
}

/*
 * From the end of the file to "planned", move what is in use to the first free blocks, as far as
 * these lie before it.  The index is locked against everybody.  Returns the length to which the
 * file can be cut: behind it each block has been looked at under the lock, and is free.
 */
static BlockNumber
empty_end(IndexVacuumInfo *info, const GpbLayout *layout, BlockNumber length,
		  BlockNumber planned)
{
	BlockNumber block = length;
	int			moves = 0;

	for (; block > planned; block--)
	{
		bool		fixed;

		if ((length - block) % GPB_PAGES_A_LOOK == GPB_PAGES_A_LOOK - 1 &&
			LockHasWaitersRelation(info->index, AccessExclusiveLock))
			break;
		if (!is_in_use(info, block - 1, &fixed))
			continue;
		if (fixed || ++moves > GPB_MOVES ||
			!gpb_move_page(info->index, layout, block - 1))
			break;
		RecordFreeIndexPage(info->index, block - 1);
	}
	return block;
}

/* Cut the file to "planned" blocks, or to more.  The index is locked against everybody. */
static void
cut_file(IndexVacuumInfo *info, IndexBulkDeleteResult *stats, const GpbLayout *layout,
		 BlockNumber planned)
{
	Relation	index = info->index;
	BlockNumber length = RelationGetNumberOfBlocks(index);
	BlockNumber left = empty_end(info, layout, length, planned);
	BlockNumber cut = length - left;

	GPB_HOLD("shorten-moved");
	/* A split that was finished on the way may have put a page behind the end. */
	if (RelationGetNumberOfBlocks(index) != length || !cut_pays(cut, length))
		return;
	RelationTruncate(index, left);
	if (stats != NULL)
	{
		stats->num_pages = left;
		stats->pages_free -= Min(stats->pages_free, cut);
		stats->pages_deleted -= Min(stats->pages_deleted, cut);
	}
	ereport(info->message_level,
			(errmsg("index \"%s\": truncated %u to %u pages",
					RelationGetRelationName(index), length, left)));
}

/*
 * The lock is logged for standbys, which takes a transaction id: a parallel VACUUM cannot get one.
 */
void
gpb_shorten(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	GpbLayout	layout = *gpb_layout(info->index);
	BlockNumber length = RelationGetNumberOfBlocks(info->index);
	BlockNumber planned;

	if ((stats != NULL && !cut_pays(stats->pages_free, length)) || IsInParallelMode() ||
		!truncation_is_allowed(info->index))
		return;
	planned = plan_length(info, length);
	if (planned == length)
		return;
	GPB_HOLD("shorten-planned");
	if (!lock_index(info->index))
	{
		ereport(info->message_level,
				(errmsg("index \"%s\": not truncated, since others have it locked",
						RelationGetRelationName(info->index))));
		return;
	}
	cut_file(info, stats, &layout, planned);
	UnlockRelation(info->index, AccessExclusiveLock);
	GPB_HOLD("shorten-after");
}
