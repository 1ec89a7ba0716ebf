/*-------------------------------------------------------------------------
 *
 * settled_pages.h
 *	  What is known of heap pages whose transactions have all ended (rule M11).
 *
 * A page is settled for a snapshot if each transaction that wrote to one of its tuples ended before
 * the snapshot was taken.  The reader that finds this out (heap_page.h) records the page's LSN, the
 * newest of those transactions, and the few rows that are not seen.  A later reader whose snapshot
 * has the newest transaction behind it, and who finds the page's LSN unchanged, takes over what is
 * recorded without reading the page.
 *
 * A look says something about the moment at which it is made.  What a reader does with the answer
 * must therefore keep rule M5's order: with the leaf's pin, after the leaf was read; or, for a
 * device, after the epoch was read and before the request is submitted.
 *
 *-------------------------------------------------------------------------
 */
#ifndef GPB_SETTLED_PAGES_H
#define GPB_SETTLED_PAGES_H

#include "compat.h"

#include "access/transam.h"
#include "access/xlogdefs.h"
#include "storage/block.h"
#include "storage/buf.h"
#include "storage/off.h"
#include "utils/relcache.h"
#include "utils/snapshot.h"

extern void gpb_settled_define_settings(void);
extern void gpb_settled_request_shmem(void);
extern void gpb_settled_init_shmem(void);

/*
 * The line pointers of which it can be said that their rows are not seen: 1 to this number.  Only a
 * page whose rows have no values has more; it is not recorded if one beyond them is not seen.
 */
#define GPB_SETTLED_OFFSETS	256

/* What is known of one heap page for one snapshot, at the moment of the look */
typedef struct GpbSettledPage
{
	uint64		unseen[GPB_SETTLED_OFFSETS / 64];	/* bit "offset - 1": its row is not seen */
} GpbSettledPage;

/* One reader: a table and a snapshot */
typedef struct GpbSettledReader
{
	bool		eligible;		/* may pages be looked up and recorded at all? */
	RelFileNode file;
	uint32		hash;			/* of file */
	uint64		xmin;			/* of the snapshot, in 64 bits */
	uint64		hits;			/* number of looks that found a settled page */
	uint64		unseen;			/* number of entries that such a page showed to be unseen */
} GpbSettledReader;

/*
 * The newest transaction of a page that is not recorded as settled for another reason than its
 * transactions: no snapshot has this one behind it.
 */
#define GPB_SETTLED_NEVER	PG_UINT64_MAX

/*
 * A transaction id in 64 bits.  "next" is the next one to begin, as read after the transaction, or
 * the snapshot whose xmin it is, was seen; so there are less than 2^31 from the one to the other.
 */
static inline uint64
gpb_full_xid(FullTransactionId next, TransactionId xid)
{
	uint64		full = U64FromFullTransactionId(next);

	return full - (uint32) ((uint32) full - xid);
}

/*
 * Begin to look up pages of a table for a snapshot, which is registered or active.  *reader is the
 * caller's and needs no end.
 */
extern void gpb_settled_begin(GpbSettledReader *reader, Relation heap, Snapshot snapshot);

/*
 * Fetch ahead what a look at this block reads: first the cell, and, in a second call some time
 * later, what the cell leads to.
 */
extern void gpb_settled_prefetch(const GpbSettledReader *reader, BlockNumber block);
extern void gpb_settled_prefetch_page(const GpbSettledReader *reader, BlockNumber block);

/*
 * Is the page settled for the snapshot at this moment?  Then *page says which rows are not seen.
 * No pin and no lock is needed or kept.  The reader must be eligible.
 */
extern bool gpb_settled_look(GpbSettledReader *reader, BlockNumber block, GpbSettledPage *page);

/* Are all rows of the page seen? */
static inline bool
gpb_settled_sees_all(const GpbSettledPage *page)
{
	return (page->unseen[0] | page->unseen[1] | page->unseen[2] | page->unseen[3]) == 0;
}

/* Does *page say that the row at this line pointer is seen? */
static inline bool
gpb_settled_sees(const GpbSettledPage *page, OffsetNumber offset)
{
	uint32		bit = offset - 1;

	return bit >= GPB_SETTLED_OFFSETS || (page->unseen[bit / 64] >> (bit % 64) & 1) == 0;
}

/*
 * For the planner: the share of a table's pages, of which there are nblocks, that are settled for
 * the snapshot, from a sample.  Returns 0 to 1.
 */
extern double gpb_settled_share(Relation heap, Snapshot snapshot, BlockNumber nblocks);

/* ---- for those who read heap pages (heap_page.c) ---- */

/*
 * Is it worth the while to find out whether the page is settled?  The caller holds a share lock on
 * the buffer.  It is not if that is recorded already, or if it was tried in vain since the page
 * changed last, and the transactions that were then in the way still are.
 */
extern bool gpb_settled_wanted(const GpbSettledReader *reader, BlockNumber block, Buffer buffer);

/*
 * Record a page that the snapshot of the reader judged.  lsn is the page's, read under the same
 * hold of the share lock as its tuples.  newest is the newest transaction of the page, in 64 bits:
 * all xmins count that are not frozen, and all xmaxes that are neither invalid nor mere locks; 0
 * stands for none.  If newest does not precede the reader's xmin the page is recorded as one that
 * is not settled, and *page is not read.  The caller has the buffer pinned.
 */
extern void gpb_settled_record(const GpbSettledReader *reader, BlockNumber block, Buffer buffer,
							   XLogRecPtr lsn, uint64 newest, const GpbSettledPage *page);

#endif							/* GPB_SETTLED_PAGES_H */
