/*-------------------------------------------------------------------------
 *
 * heap_page.c
 *	  Which rows of a heap page does a snapshot see?  (rules M6 and M11)
 *
 * A row whose header shows, by its hint bits or by a transaction that is remembered as committed,
 * that the snapshot sees it needs no call; about every other row core is asked, which follows
 * redirects and HOT chains and sets hint bits.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/heapam.h"
#include "access/htup_details.h"
#include "access/tableam.h"
#include "access/transam.h"
#include "pgstat.h"
#include "storage/bufmgr.h"
#include "storage/itemptr.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"

#include "engine/heap_page.h"
#include "engine/settled_pages.h"
#include "engine/visibility.h"
#include "hold.h"
#include "program/leaf_aggregate.h"

/* Number of transactions that are remembered as committed; a power of two */
#define KNOWN_XIDS	16

/*
 * The most pages that one GpbHeapPages prunes.  Who changes rows prunes the pages he comes to, and
 * a query of a few rows does so too, as core's scans do.  One that judges thousands of pages would
 * dirty and log each of them, to save others less than that costs.
 */
#define MOST_PRUNED	256

struct GpbHeapPages
{
	Relation	heap;
	Snapshot	snapshot;
	GpbSettledReader reader;
	Buffer		buffer;			/* the page that was visited last, pinned; or InvalidBuffer */
	BlockNumber block;			/* of that buffer */
	Buffer		map_buffer;		/* the page of the visibility map that was set last, likewise */
	BlockNumber ahead;			/* the page that gpb_heap_pages_ahead() named last */
	Buffer		ahead_buffer;	/* where it was then, not pinned; or InvalidBuffer */
	BlockNumber last;			/* the page that was pinned last, and where it was */
	Buffer		last_buffer;
	bool		adjacent;		/* was the page after another in the buffer after the other's? */
	uint64		count;
	int			prune;			/* number of pages that may still be pruned */

	/*
	 * Transactions that precede the snapshot's xmin, and that are committed; each in the place that
	 * known_xid() gives it.  Rows that they inserted are judged without their hint bits.
	 */
	TransactionId known[KNOWN_XIDS];

	/* What was found out about a whole page, by line pointer: GpbEntryState */
	uint8		seen[MaxHeapTuplesPerPage + 1];
	OffsetNumber ask[MaxHeapTuplesPerPage];
};

GpbHeapPages *
gpb_heap_pages_begin(Relation heap, Snapshot snapshot)
{
	GpbHeapPages *pages;

	if (heap->rd_tableam != GetHeapamTableAmRoutine() || gpb_needs_plain_scan(snapshot))
		return NULL;
	pages = palloc0(sizeof(GpbHeapPages));
	pages->heap = heap;
	pages->snapshot = snapshot;
	pages->buffer = InvalidBuffer;
	pages->map_buffer = InvalidBuffer;
	pages->block = InvalidBlockNumber;
	pages->ahead = InvalidBlockNumber;
	pages->last = InvalidBlockNumber;
	pages->prune = MOST_PRUNED;
	gpb_settled_begin(&pages->reader, heap, snapshot);
	return pages;
}

void
gpb_heap_pages_release(GpbHeapPages *pages)
{
	if (BufferIsValid(pages->buffer))
		ReleaseBuffer(pages->buffer);
	pages->buffer = InvalidBuffer;
	pages->block = InvalidBlockNumber;
}

void
gpb_heap_pages_end(GpbHeapPages *pages)
{
	if (pages == NULL)
		return;
	gpb_heap_pages_release(pages);
	if (BufferIsValid(pages->map_buffer))
		ReleaseBuffer(pages->map_buffer);
	pfree(pages);
}

uint64
gpb_heap_pages_count(const GpbHeapPages *pages)
{
	return pages->count;
}

/* ---- rows ---- */

/* Does xid, which is a normal one, precede all transactions that the snapshot sees as running? */
static inline bool
xid_is_past(TransactionId xid, TransactionId xmin)
{
	return (int32) (xid - xmin) < 0;
}

/* Where a transaction is remembered as committed, if it is. */
static inline TransactionId *
known_xid(GpbHeapPages *pages, TransactionId xid)
{
	return &pages->known[xid % KNOWN_XIDS];
}

/*
 * Is this the root of a row without an xmax, with an xmin that is neither frozen nor aborted, as
 * far as the hint bits say?  One that a VACUUM FULL before 9.0 moved is not plain.
 */
static inline bool
tuple_is_plain(const HeapTupleHeaderData *tuple)
{
	return (tuple->t_infomask & (HEAP_XMIN_INVALID | HEAP_XMAX_INVALID | HEAP_MOVED)) ==
		HEAP_XMAX_INVALID &&
		!HeapTupleHeaderIsHeapOnly(tuple);
}

/*
 * Does a tuple's header alone show that the snapshot sees it?  It does if there is no xmax but a
 * lock, and xmin, which must be past for the snapshot, is committed: the hint bits say so, or the
 * transaction is known.
 */
static inline bool
tuple_surely_seen(GpbHeapPages *pages, const HeapTupleHeaderData *tuple)
{
	uint16		mask = tuple->t_infomask;
	TransactionId xmin = HeapTupleHeaderGetRawXmin(tuple);

	if ((mask & HEAP_XMAX_INVALID) == 0 && !HEAP_XMAX_IS_LOCKED_ONLY(mask))
		return false;
	if ((mask & HEAP_XMIN_FROZEN) == HEAP_XMIN_FROZEN)
		return true;
	if ((mask & HEAP_XMIN_COMMITTED) != 0)
	{
		if (!xid_is_past(xmin, pages->snapshot->xmin))
			return false;
		*known_xid(pages, xmin) = xmin;
		return true;
	}
	return (mask & (HEAP_XMIN_INVALID | HEAP_MOVED)) == 0 &&
		TransactionIdIsNormal(xmin) && *known_xid(pages, xmin) == xmin;
}

/* Ask core whether the snapshot sees a row.  The caller holds a share lock on the page. */
static bool
ask_core(GpbHeapPages *pages, OffsetNumber offset)
{
	HeapTupleData tuple;
	ItemPointerData tid;

	ItemPointerSet(&tid, pages->block, offset);
	return heap_hot_search_buffer(&tid, pages->heap, pages->buffer, pages->snapshot, &tuple,
								  NULL, true);
}

/*
 * Ask core whether the snapshot sees a plain tuple, and remember its transaction if it does.
 *
 * Core sets the hint bits of this tuple.  The others of a transaction that is remembered are judged
 * without theirs, which are left to those who need them: to set them costs several times what it
 * takes to do without, and dirties pages.
 */
static bool
ask_core_and_learn(GpbHeapPages *pages, const HeapTupleHeaderData *tuple, OffsetNumber offset)
{
	TransactionId xmin = HeapTupleHeaderGetRawXmin(tuple);

	if (!ask_core(pages, offset))
		return false;
	if (TransactionIdIsNormal(xmin) && xid_is_past(xmin, pages->snapshot->xmin))
		*known_xid(pages, xmin) = xmin;
	return true;
}

/* Does the snapshot see the row to which a line pointer leads?  The page is share-locked. */
static inline bool
row_seen(GpbHeapPages *pages, Page page, OffsetNumber offset)
{
	ItemId		item;

	if (offset <= PageGetMaxOffsetNumber(page))
	{
		item = PageGetItemId(page, offset);
		if (ItemIdIsNormal(item))
		{
			HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(page, item);

			if (!HeapTupleHeaderIsHeapOnly(tuple) && tuple_surely_seen(pages, tuple))
				return true;
			if (tuple_is_plain(tuple))
				return ask_core_and_learn(pages, tuple, offset);
		}
	}
	return ask_core(pages, offset);
}

/* ---- whole pages (rule M11) ---- */

/* What is found out about a page's transactions, relative to the xmin of the snapshot */
typedef struct PageTransactions
{
	TransactionId xmin;			/* the snapshot's */
	int32		newest;			/* the newest transaction less xmin: negative if it is past */
	bool		any;			/* is there one at all? */
	bool		never;			/* is the page never recorded, whatever its transactions? */
} PageTransactions;

static inline void
count_transaction(PageTransactions *transactions, TransactionId xid)
{
	int32		distance = (int32) (xid - transactions->xmin);

	if (!TransactionIdIsNormal(xid))
		return;
	if (!transactions->any || distance > transactions->newest)
		transactions->newest = distance;
	transactions->any = true;
}

/*
 * Count the transactions of a tuple whose end may change what a snapshot sees: xmin unless it is
 * frozen, since a frozen one may be of an age that has gone by; and xmax unless it is flagged
 * invalid or is a mere lock.
 */
static inline void
count_tuple(PageTransactions *transactions, HeapTupleHeader tuple)
{
	uint16		mask = tuple->t_infomask;

	if ((mask & HEAP_XMIN_FROZEN) != HEAP_XMIN_FROZEN)
		count_transaction(transactions, HeapTupleHeaderGetRawXmin(tuple));
	if ((mask & HEAP_XMAX_INVALID) == 0 && !HEAP_XMAX_IS_LOCKED_ONLY(mask))
		count_transaction(transactions, HeapTupleHeaderGetUpdateXid(tuple));
	/* The two halves of a VACUUM FULL before 9.0 have a third transaction. */
	if ((mask & HEAP_MOVED) != 0)
		transactions->never = true;
}

/* The newest transaction of a page in 64 bits, for a reader with this xmin. */
static uint64
newest_transaction(const PageTransactions *transactions, uint64 xmin)
{
	if (transactions->never)
		return GPB_SETTLED_NEVER;
	return transactions->any ? xmin + transactions->newest : 0;
}

/*
 * Read the line pointers and tuple headers of a share-locked page.  pages->seen gets GPB_ENTRY_SEEN
 * for what is surely seen, and pages->ask the line pointers about which core must be asked;
 * *nask is their number.
 *
 * Returns false if the page is not settled, as soon as that is known.  New versions of rows tend to
 * lie at the end, so the line pointers are read from there.
 */
static bool
read_whole_page(GpbHeapPages *pages, Page page, PageTransactions *transactions, int *nask)
{
	OffsetNumber offset = PageGetMaxOffsetNumber(page);
	TransactionId past = InvalidTransactionId;	/* an xmin that was counted, and is committed */

	*nask = 0;
	for (; offset >= FirstOffsetNumber; offset--)
	{
		ItemId		item = PageGetItemId(page, offset);
		HeapTupleHeader tuple;

		pages->seen[offset] = GPB_ENTRY_UNSEEN;
		if (!ItemIdIsNormal(item))
		{
			if (ItemIdIsUsed(item))
				pages->ask[(*nask)++] = offset;
			continue;
		}
		tuple = (HeapTupleHeader) PageGetItem(page, item);
		/* Most rows of a page are like the one before. */
		if (HeapTupleHeaderGetRawXmin(tuple) == past && tuple_is_plain(tuple))
		{
			pages->seen[offset] = GPB_ENTRY_SEEN;
			continue;
		}
		count_tuple(transactions, tuple);
		if (transactions->never || (transactions->any && transactions->newest >= 0))
			return false;
		if (HeapTupleHeaderIsHeapOnly(tuple))
			continue;
		if (tuple_surely_seen(pages, tuple) ||
			(tuple_is_plain(tuple) && ask_core_and_learn(pages, tuple, offset)))
		{
			pages->seen[offset] = GPB_ENTRY_SEEN;
			/* That of a frozen tuple was not counted. */
			if (tuple_is_plain(tuple))
				past = HeapTupleHeaderGetRawXmin(tuple);
		}
		else
			pages->ask[(*nask)++] = offset;
	}
	return true;
}

/*
 * Judge all rows of a share-locked page.  Returns false if the page is not settled, or cannot be
 * recorded; else pages->seen is filled in, and so is *settled.
 *
 * No index entry leads to a heap-only tuple, nor, while it is in the index, to a line pointer that
 * is unused, so these are not among the unseen rows.
 */
static bool
judge_whole_page(GpbHeapPages *pages, Page page, PageTransactions *transactions,
				 GpbSettledPage *settled)
{
	int			nask;
	int			i;

	memset(settled, 0, sizeof(*settled));
	if (PageGetMaxOffsetNumber(page) > MaxHeapTuplesPerPage)
	{
		transactions->never = true;
		return false;
	}
	if (!read_whole_page(pages, page, transactions, &nask))
		return false;
	for (i = 0; i < nask; i++)
	{
		OffsetNumber offset = pages->ask[i];

		if (ask_core(pages, offset))
			pages->seen[offset] = GPB_ENTRY_SEEN;
		else if (offset <= GPB_SETTLED_OFFSETS)
			settled->unseen[(offset - 1) / 64] |= (uint64) 1 << ((offset - 1) % 64);
		else
		{
			transactions->never = true;
			return false;
		}
	}
	return true;
}

/* ---- a visit ---- */

void
gpb_heap_pages_ahead(GpbHeapPages *pages, BlockNumber block)
{
	pages->ahead_buffer = PrefetchBuffer(pages->heap, MAIN_FORKNUM, block).recent_buffer;
	pages->ahead = block;
}

/*
 * The buffer in which a page may be, or InvalidBuffer: where it was when it was prefetched; or,
 * since tables are read from disk in order, the one after the buffer of the block before it.
 */
static Buffer
likely_buffer(const GpbHeapPages *pages, BlockNumber block)
{
	if (pages->ahead == block)
		return pages->ahead_buffer;
	if (pages->adjacent && pages->last == block - 1 &&
		BufferIsValid(pages->last_buffer) && pages->last_buffer > 0 &&
		pages->last_buffer < NBuffers)
		return pages->last_buffer + 1;
	return InvalidBuffer;
}

/* Pin a page where it is likely to be, without the buffer table, or else wherever it is. */
static Buffer
read_page(GpbHeapPages *pages, BlockNumber block)
{
	Buffer		likely = likely_buffer(pages, block);

	if (!BufferIsValid(likely) ||
		!ReadRecentBuffer(pages->heap->rd_node, MAIN_FORKNUM, block, likely))
		return ReadBuffer(pages->heap, block);
	/* ReadBuffer() counts these in the table's statistics, ReadRecentBuffer() does not. */
	pgstat_count_buffer_read(pages->heap);
	pgstat_count_buffer_hit(pages->heap);
	return likely;
}

/* Prune the pinned page as core's index scans do, unless that was done to too many. */
static void
prune_page(GpbHeapPages *pages)
{
	Page		page = BufferGetPage(pages->buffer);
	XLogRecPtr	lsn;

	if (!TransactionIdIsValid(((PageHeader) page)->pd_prune_xid) || pages->prune == 0)
		return;
	lsn = BufferGetLSNAtomic(pages->buffer);
	GPB_PRUNE_PAGE(pages->heap, pages->buffer, &pages->map_buffer);
	if (BufferGetLSNAtomic(pages->buffer) != lsn)
		pages->prune--;
}

/* Pin a page, and prune it as core's index scans do when they come to a page. */
static void
pin_page(GpbHeapPages *pages, BlockNumber block)
{
	if (pages->block == block)
		return;
	gpb_heap_pages_release(pages);
	pages->buffer = read_page(pages, block);
	pages->block = block;
	pages->count++;
	/* Adjacent pages are looked for in adjacent buffers as long as that is where they are. */
	if (pages->last == block - 1)
		pages->adjacent = pages->buffer == pages->last_buffer + 1;
	pages->last = block;
	pages->last_buffer = pages->buffer;
	prune_page(pages);
}

/* Set seen[] for n rows of a page that has "most" line pointers and was judged as a whole. */
static int
look_up_rows(const GpbHeapPages *pages, OffsetNumber most, const OffsetNumber *offsets, int n,
			 uint8 *seen)
{
	int			nseen = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		seen[i] = offsets[i] <= most ? pages->seen[offsets[i]] : GPB_ENTRY_UNSEEN;
		nseen += seen[i] == GPB_ENTRY_SEEN;
	}
	return nseen;
}

/* Set seen[] for n rows of a page one after the other.  The page is share-locked. */
static int
judge_each_row(GpbHeapPages *pages, Page page, const OffsetNumber *offsets, int n, uint8 *seen)
{
	int			nseen = 0;
	int			i;

	for (i = 0; i < n; i++)
	{
		seen[i] = row_seen(pages, page, offsets[i]) ? GPB_ENTRY_SEEN : GPB_ENTRY_UNSEEN;
		nseen += seen[i] == GPB_ENTRY_SEEN;
	}
	return nseen;
}

/*
 * Judge n rows of the pinned page, all of its rows if that is wanted; set seen[], and return how
 * many the snapshot sees.  Whatever is recorded was
 * read under one hold of the lock, its LSN included: a change between the two would be missed.
 */
static int
judge_rows(GpbHeapPages *pages, const OffsetNumber *offsets, int n, uint8 *seen)
{
	Page		page = BufferGetPage(pages->buffer);
	PageTransactions transactions = {.xmin = pages->snapshot->xmin};
	GpbSettledPage settled;
	XLogRecPtr	lsn = InvalidXLogRecPtr;
	bool		wanted;
	bool		whole = false;
	int			nseen;

	LockBuffer(pages->buffer, BUFFER_LOCK_SHARE);
	wanted = gpb_settled_wanted(&pages->reader, pages->block, pages->buffer);
	if (wanted)
	{
		whole = judge_whole_page(pages, page, &transactions, &settled);
		GPB_HOLD("settled-before-lsn");
		/* Hint bits that were set just now may have raised it. */
		lsn = BufferGetLSNAtomic(pages->buffer);
	}
	if (whole)
		nseen = look_up_rows(pages, PageGetMaxOffsetNumber(page), offsets, n, seen);
	else
		nseen = judge_each_row(pages, page, offsets, n, seen);
	LockBuffer(pages->buffer, BUFFER_LOCK_UNLOCK);
	if (wanted)
	{
		GPB_HOLD("settled-before-record");
		gpb_settled_record(&pages->reader, pages->block, pages->buffer, lsn,
						   newest_transaction(&transactions, pages->reader.xmin), &settled);
	}
	return nseen;
}

int
gpb_heap_pages_judge(GpbHeapPages *pages, BlockNumber block, const OffsetNumber *offsets, int n,
					 uint8 *seen)
{
	pin_page(pages, block);
	return judge_rows(pages, offsets, n, seen);
}
