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
#include "portability/instr_time.h"
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

/* For so long, in milliseconds, the index stays locked before sessions that wait are looked for. */
#define GPB_LOCK_HELD		20

/* So many blocks are prefetched at a time, and looked at between two looks at the clock. */
#define GPB_BLOCKS_AT_A_TIME	32

/* One VACUUM's work on an index */
typedef struct GpbCut
{
	IndexVacuumInfo *info;
	GpbLayout	layout;			/* a copy, since the relcache may free its own */
	BlockNumber before;			/* length of the file when it began */
	BlockNumber planned;		/* and to which it can be cut, about */
	int			moves;			/* pages moved */
	IndexBulkDeleteResult *stats;	/* of VACUUM, or NULL: it had nothing to remove */
} GpbCut;

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

/* Prefetch the blocks that are looked at next, from this one down, where a new lot begins. */
static void
prefetch_downward(Relation index, BlockNumber block, BlockNumber first)
{
	if (block != first && block % GPB_BLOCKS_AT_A_TIME != GPB_BLOCKS_AT_A_TIME - 1)
		return;
	for (BlockNumber b = block - block % GPB_BLOCKS_AT_A_TIME; b <= block; b++)
		(void) PrefetchBuffer(index, MAIN_FORKNUM, b);
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
		prefetch_downward(info->index, length - cut, length - 1);
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

/* Has the index been locked since "began" for long enough, and does somebody wait for it? */
static bool
is_waited_for(Relation index, instr_time began)
{
	instr_time	now;

	INSTR_TIME_SET_CURRENT(now);
	INSTR_TIME_SUBTRACT(now, began);
	return INSTR_TIME_GET_MILLISEC(now) >= GPB_LOCK_HELD &&
		LockHasWaitersRelation(index, AccessExclusiveLock);
}

/*
 * From the end of the file to the planned length, move what is in use to the first free blocks, as
 * far as these lie before it.  The index is locked against everybody.  *interrupted says whether
 * this ended since somebody waits for the lock.  Returns the length to which the file can be cut:
 * behind it each block has been looked at under the lock, and is free.
 */
static BlockNumber
empty_end(GpbCut *cut, BlockNumber length, bool *interrupted)
{
	Relation	index = cut->info->index;
	BlockNumber left = length;
	instr_time	began;

	*interrupted = false;
	INSTR_TIME_SET_CURRENT(began);
	for (; left > cut->planned; left--)
	{
		BlockNumber block = left - 1;
		bool		fixed;

		if (block % GPB_BLOCKS_AT_A_TIME == 0 && is_waited_for(index, began))
		{
			*interrupted = true;
			break;
		}
		prefetch_downward(index, block, length - 1);
		if (!is_in_use(cut->info, block, &fixed))
			continue;
		if (fixed || cut->moves == GPB_MOVES || !gpb_move_page(index, &cut->layout, block))
			break;
		cut->moves++;
		RecordFreeIndexPage(index, block);
	}
	return left;
}

/*
 * Note what was cut off for pg_class, whose count of pages tells the planner how many entries are
 * on one.  Where VACUUM has not counted the entries, they are as many as they were.
 */
static void
note_cut(GpbCut *cut, BlockNumber length, BlockNumber left)
{
	IndexBulkDeleteResult *stats = cut->stats;

	if (stats == NULL)
	{
		stats = cut->stats = palloc0(sizeof(IndexBulkDeleteResult));
		stats->num_index_tuples = Max(cut->info->index->rd_rel->reltuples, 0);
		stats->estimated_count = cut->info->index->rd_rel->reltuples < 0;
	}
	stats->num_pages = left;
	stats->pages_free -= Min(stats->pages_free, length - left);
	stats->pages_deleted -= Min(stats->pages_deleted, length - left);
}

/*
 * Cut the file to the planned length, or as far as that is possible.  The index is locked against
 * everybody.  Returns whether it is worth going on when those were served who wait for the lock.
 */
static bool
cut_file(GpbCut *cut)
{
	Relation	index = cut->info->index;
	BlockNumber length = RelationGetNumberOfBlocks(index);
	bool		interrupted;
	BlockNumber left = empty_end(cut, length, &interrupted);

	GPB_HOLD("shorten-moved");
	Assert(RelationGetNumberOfBlocks(index) == length);
	if (left == length ||
		(!interrupted && !cut_pays(cut->before - Min(left, cut->before), cut->before)))
		return false;
	RelationTruncate(index, left);
	note_cut(cut, length, left);
	ereport(cut->info->message_level,
			(errmsg("index \"%s\": truncated %u to %u pages",
					RelationGetRelationName(index), length, left)));
	return interrupted;
}

/*
 * The lock is logged for standbys, which takes a transaction id: a parallel VACUUM cannot get one.
 * It is given up as soon as somebody waits for it, though not at once, and taken again.
 */
IndexBulkDeleteResult *
gpb_shorten(IndexVacuumInfo *info, IndexBulkDeleteResult *stats)
{
	GpbCut		cut = {.info = info, .stats = stats};
	bool		more;

	cut.before = RelationGetNumberOfBlocks(info->index);
	if (!cut_pays(stats != NULL ? stats->pages_free : cut.before, cut.before) ||
		IsInParallelMode() || !truncation_is_allowed(info->index))
		return stats;
	cut.layout = *gpb_layout(info->index);
	cut.planned = plan_length(info, cut.before);
	if (cut.planned == cut.before)
		return stats;
	GPB_HOLD("shorten-planned");
	do
	{
		if (!lock_index(info->index))
		{
			ereport(info->message_level,
					(errmsg("index \"%s\": not truncated, since others have it locked",
							RelationGetRelationName(info->index))));
			return cut.stats;
		}
		more = cut_file(&cut);
		gpb_xlog_log_unlocked();
		UnlockRelation(info->index, AccessExclusiveLock);
	} while (more);
	GPB_HOLD("shorten-after");
	return cut.stats;
}
