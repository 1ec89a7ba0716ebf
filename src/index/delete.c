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
#include "common/pg_prng.h"
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

/* ---- what the table is asked ---- */

/*
 * Entries of a leaf that the table judges, in one request or in several.  A candidate's id is its
 * place in op.status, where they are in the order of their positions; op.deltids has the candidates
 * of the request at hand, in an order that the table may change.
 */
typedef struct Candidates
{
	TM_IndexDeleteOp op;
	int			count;			/* of the candidates so far */
	TransactionId horizon;		/* of those judged dead so far; may be invalid */
} Candidates;

/* Begin without any candidates, on a leaf that is locked exclusively. */
static void
begin_candidates(Candidates *candidates, Relation index, Buffer buffer)
{
	int			most = gpb_page_count(BufferGetPage(buffer));

	candidates->op.irel = index;
	candidates->op.iblknum = BufferGetBlockNumber(buffer);
	candidates->op.bottomup = false;
	candidates->op.bottomupfreespace = 0;
	candidates->op.ndeltids = 0;
	candidates->op.deltids = palloc(most * sizeof(TM_IndexDelete));
	candidates->op.status = palloc(most * sizeof(TM_IndexStatus));
	candidates->count = 0;
	candidates->horizon = InvalidTransactionId;
}

static void
end_candidates(Candidates *candidates)
{
	pfree(candidates->op.deltids);
	pfree(candidates->op.status);
}

/* Make the entry at a position a candidate; "dead" says that a scan found its tuple dead. */
static void
add_candidate(Candidates *candidates, int position, bool dead)
{
	TM_IndexStatus *status = &candidates->op.status[candidates->count++];

	status->idxoffnum = position + 1;	/* the table wants offset numbers */
	status->knowndeletable = dead;
	status->promising = false;
	status->freespace = 0;
}

/* Ask about a candidate, to which the locator belongs, in the next request. */
static void
ask_about(Candidates *candidates, int id, uint64 locator)
{
	TM_IndexDelete *asked = &candidates->op.deltids[candidates->op.ndeltids++];

	if (gpb_locator_offset(locator) == InvalidOffsetNumber)
		gpb_corrupted(candidates->op.irel, candidates->op.iblknum,
					  "entry points to no heap tuple");
	ItemPointerSet(&asked->tid, gpb_locator_block(locator), gpb_locator_offset(locator));
	asked->id = id;
}

/*
 * Let the table judge those that it is asked about: "knowndeletable" of their status is set where a
 * tuple is dead to everybody.  Returns how many entries are of that kind.
 */
static int
judge(Candidates *candidates, Relation heap)
{
	TransactionId horizon = table_index_delete_tuples(heap, &candidates->op);
	int			dead = 0;
	int			i;

	for (i = 0; i < candidates->op.ndeltids; i++)
		dead += candidates->op.status[candidates->op.deltids[i].id].knowndeletable;
	candidates->op.ndeltids = 0;

	if (TransactionIdIsValid(horizon) &&
		(!TransactionIdIsValid(candidates->horizon) ||
		 TransactionIdFollows(horizon, candidates->horizon)))
		candidates->horizon = horizon;
	return dead;
}

/* Remove the candidates that were judged dead.  Returns their number. */
static int
remove_dead(Candidates *candidates, Relation heap, Buffer buffer)
{
	Relation	index = candidates->op.irel;
	TransactionId horizon = candidates->horizon;
	uint16		positions[GPB_MAX_LEAF_ENTRIES];
	int			n = 0;
	int			i;

	for (i = 0; i < candidates->count; i++)
	{
		if (candidates->op.status[i].knowndeletable)
			positions[n++] = candidates->op.status[i].idxoffnum - 1;
	}
	if (!XLogStandbyInfoActive() || !RelationNeedsWAL(index))
		horizon = InvalidTransactionId;
	if (n > 0)
		remove_entries(index, buffer, positions, n, GPB_XLOG_DELETE, horizon,
					   heap);
	return n;
}

/* ---- simple deletion ---- */

/* qsort comparator for block numbers. */
static int
compare_blocks(const void *a, const void *b)
{
	BlockNumber left = *(const BlockNumber *) a;
	BlockNumber right = *(const BlockNumber *) b;

	return left < right ? -1 : left > right;
}

/*
 * Collect the heap blocks of the entries marked dead, and the block "coming", sorted; one block may
 * be there several times.  Returns their number, or 0 if no entry is marked.
 */
static int
dead_blocks(Page page, BlockNumber coming, BlockNumber *blocks)
{
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	int			n = 0;
	int			i;

	for (i = 0; i < count; i++)
	{
		uint64		locator = gpb_page_locator(page, row_width, i);

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
 * Ask about the entries marked dead, and, since their heap blocks get visited anyway, about all
 * others that point to those blocks.
 */
static void
ask_about_blocks(Candidates *candidates, Page page, const BlockNumber *blocks, int nblocks)
{
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	int			i;

	for (i = 0; i < count; i++)
	{
		uint64		locator = gpb_page_locator(page, row_width, i);
		BlockNumber block = gpb_locator_block(locator);

		if (bsearch(&block, blocks, nblocks, sizeof(BlockNumber),
					compare_blocks) == NULL)
			continue;
		ask_about(candidates, candidates->count, locator);
		add_candidate(candidates, i, (locator & GPB_LOC_DEAD) != 0);
	}
}

/*
 * The entries' own marks are read, not the page's flag, which is a hint and no more: to look at
 * each row costs less than a split.
 */
int
gpb_delete_dead(Relation index, const GpbLayout *layout, Relation heap,
				Buffer buffer, BlockNumber coming)
{
	BlockNumber blocks[GPB_MAX_LEAF_ENTRIES + 1];
	Page		page = BufferGetPage(buffer);
	Candidates	candidates;
	int			nblocks = dead_blocks(page, coming, blocks);
	int			removed;

	if (nblocks == 0)
		return 0;

	begin_candidates(&candidates, index, buffer);
	ask_about_blocks(&candidates, page, blocks, nblocks);
	judge(&candidates, heap);
	removed = remove_dead(&candidates, heap, buffer);
	end_candidates(&candidates);
	return removed;
}

/* ---- bottom-up deletion ---- */

/*
 * How many heap pages the table is asked about in one request; whether there is another request is
 * decided by what came of the last.
 */
#define BLOCKS_OF_REQUEST	8
/* The most heap pages that are visited while the leaf is locked */
#define MOST_BLOCKS			64
/* The part of a full leaf's entries that is wanted: their eighth */
#define WANTED_PART	8

/* A heap page, and the entries of the leaf that lead to it */
typedef struct HeapPage
{
	int			first;			/* of its entries, in the array of all, sorted by place */
	int			count;
	float		promise;		/* about how many of them may be dead */
} HeapPage;

/* An entry, to be sorted by where its heap tuple is */
typedef struct Version
{
	uint64		tid;
	int			position;
	float		promise;		/* the chance that the tuple is dead */
} Version;

/* qsort comparator for entries, by their tuples' places. */
static int
compare_versions(const void *a, const void *b)
{
	uint64		left = ((const Version *) a)->tid;
	uint64		right = ((const Version *) b)->tid;

	return left < right ? -1 : left > right;
}

/* qsort comparator for heap pages: the most promising first, and otherwise in physical order. */
static int
compare_promises(const void *a, const void *b)
{
	const HeapPage *left = a;
	const HeapPage *right = b;

	if (left->promise != right->promise)
		return left->promise > right->promise ? -1 : 1;
	return left->first - right->first;
}

/*
 * List all entries of a leaf.  Of n entries with equal keys, that of the entry that is coming
 * counted in, all but one are dead if they are versions of one row and nobody sees the older ones
 * any more.  In a table that grows the live one is the last by its place.  One whose free space is
 * used again shows no such order, so what is late in it is less promising, but does promise.
 */
static void
list_versions(Page page, const GpbLayout *layout, GpbKey coming, Version *versions)
{
	int			key_width = layout->key_width;
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	GpbKeyReader reader = gpb_read_keys(page, key_width, row_width, 0);
	int			begin;
	int			end;

	for (begin = 0; begin < count; begin = end)
	{
		GpbKey		key = gpb_next_key(&reader, key_width, row_width, begin);
		int			equal;
		int			i;

		for (end = begin + 1; end < count; end++)
		{
			if (gpb_next_key(&reader, key_width, row_width, end) != key)
				break;
		}
		equal = end - begin + (key == coming);
		for (i = begin; i < end; i++)
		{
			versions[i].tid = gpb_page_locator(page, row_width, i) & GPB_TID_MASK;
			versions[i].position = i;
			versions[i].promise = equal == 1 ? 0 :
				(float) (equal - 1) / equal * (1.5 - (float) (i - begin) / (equal - 1));
		}
	}
}

/*
 * Group entries, sorted by their tuples' places, by heap page.  Returns the number of pages.  What
 * they promise gets a random factor, so that one pass after the other does not visit the same pages
 * in vain.
 */
static int
group_versions(const Version *versions, int count, HeapPage *pages)
{
	int			n = 0;
	int			i;

	for (i = 0; i < count; i++)
	{
		if (i == 0 || gpb_locator_block(versions[i].tid) != gpb_locator_block(versions[i - 1].tid))
		{
			pages[n].first = i;
			pages[n].count = 0;
			pages[n++].promise = 0;
		}
		pages[n - 1].count++;
		pages[n - 1].promise += versions[i].promise;
	}
	for (i = 0; i < n; i++)
		pages[i].promise *= 0.5 + pg_prng_double(&pg_global_prng_state);
	return n;
}

/*
 * Ask about the entries of the most promising heap pages, a few pages at a time, until enough are
 * dead, or too few of the last request were to make up for the visits.
 */
static void
ask_about_versions(Candidates *candidates, Relation heap, const Version *versions,
				   const HeapPage *pages, int npages, int wanted)
{
	int			dead = 0;
	int			visited = 0;

	while (dead < wanted && visited < Min(npages, MOST_BLOCKS))
	{
		int			end = Min(npages, visited + BLOCKS_OF_REQUEST);
		int			before = visited;

		for (; visited < end && pages[visited].promise > 0; visited++)
		{
			int			i;

			for (i = 0; i < pages[visited].count; i++)
			{
				const Version *version = &versions[pages[visited].first + i];

				ask_about(candidates, version->position, version->tid);
			}
		}
		if (visited == before)
			return;				/* what is left promises nothing */
		dead += judge(candidates, heap);
		if (dead * 4 < visited - BLOCKS_OF_REQUEST)
			return;
	}
}

/*
 * Every entry is a candidate, so that a candidate's id is its position.  The heap pages are chosen
 * here and not by the table (bottomup = true), which visits six of them at most and gives up after
 * one in vain.  That suits an index that merges its duplicates at any time; this one can give a
 * leaf runs once, and then splits.  Dead hints are not looked at: simple deletion has removed what
 * had one.
 */
int
gpb_delete_versions(Relation index, const GpbLayout *layout, Relation heap,
					Buffer buffer, GpbKey coming)
{
	Page		page = BufferGetPage(buffer);
	int			count = gpb_page_count(page);
	Version    *versions = palloc(count * sizeof(Version));
	HeapPage   *pages = palloc(count * sizeof(HeapPage));
	Candidates	candidates;
	int			npages;
	int			removed;
	int			i;

	list_versions(page, layout, coming, versions);
	qsort(versions, count, sizeof(Version), compare_versions);
	npages = group_versions(versions, count, pages);
	qsort(pages, npages, sizeof(HeapPage), compare_promises);

	begin_candidates(&candidates, index, buffer);
	for (i = 0; i < count; i++)
		add_candidate(&candidates, i, false);
	ask_about_versions(&candidates, heap, versions, pages, npages, count / WANTED_PART);
	removed = remove_dead(&candidates, heap, buffer);
	end_candidates(&candidates);
	pfree(pages);
	pfree(versions);
	return removed;
}
