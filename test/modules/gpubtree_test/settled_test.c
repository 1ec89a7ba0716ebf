/*-------------------------------------------------------------------------
 *
 * settled_test.c
 *	  What is known of heap pages (rule M11), for the TAP tests: cells as no reader records them,
 *	  and looks at moments that no other session can bring about.
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/htup_details.h"
#include "access/relation.h"
#include "access/transam.h"
#include "fmgr.h"
#include "storage/buf_internals.h"
#include "storage/bufmgr.h"
#include "storage/bufpage.h"
#include "utils/builtins.h"
#include "utils/rel.h"
#include "utils/snapmgr.h"
#include "utils/xid8.h"

#include "engine/settled_pages.h"
#include "hold.h"

PG_FUNCTION_INFO_V1(gpb_test_settled_record);
PG_FUNCTION_INFO_V1(gpb_test_settled_look);
PG_FUNCTION_INFO_V1(gpb_test_settled_states);
PG_FUNCTION_INFO_V1(gpb_test_write_out);
PG_FUNCTION_INFO_V1(gpb_test_settled_xmin);
PG_FUNCTION_INFO_V1(gpb_test_widen_xid);
PG_FUNCTION_INFO_V1(gpb_test_age_frozen);

/* What makes another LSN of one: in its high word, and in its low word */
#define NEXT_HIGH	(UINT64CONST(1) << 32)
#define NEXT_LOW	8

static void
begin_reader(GpbSettledReader *reader, Relation heap)
{
	gpb_settled_begin(reader, heap, GetActiveSnapshot());
	if (!reader->eligible)
		elog(ERROR, "pages of \"%s\" are not recorded", RelationGetRelationName(heap));
}

/* Record a block as one whose rows are all seen, as if it had been read in this buffer. */
static void
record_block(const GpbSettledReader *reader, BlockNumber block, Buffer buffer)
{
	GpbSettledPage page = {{0}};

	gpb_settled_record(reader, block, buffer, BufferGetLSNAtomic(buffer), reader->xmin - 1,
					   &page);
}

/* (heap, block, other, page, fork): let the cell of a block name the buffer of another page. */
Datum
gpb_test_settled_record(PG_FUNCTION_ARGS)
{
	Relation	heap = relation_open(PG_GETARG_OID(0), AccessShareLock);
	Relation	other = relation_open(PG_GETARG_OID(2), AccessShareLock);
	ForkNumber	fork = forkname_to_number(text_to_cstring(PG_GETARG_TEXT_PP(4)));
	Buffer		buffer = ReadBufferExtended(other, fork, (BlockNumber) PG_GETARG_INT64(3), RBM_NORMAL,
											NULL);
	GpbSettledReader reader;

	begin_reader(&reader, heap);
	record_block(&reader, (BlockNumber) PG_GETARG_INT64(1), buffer);
	ReleaseBuffer(buffer);
	relation_close(other, AccessShareLock);
	relation_close(heap, AccessShareLock);
	PG_RETURN_VOID();
}

/* (heap, block): is the block settled? */
Datum
gpb_test_settled_look(PG_FUNCTION_ARGS)
{
	Relation	heap = relation_open(PG_GETARG_OID(0), AccessShareLock);
	GpbSettledReader reader;
	GpbSettledPage page;
	bool		settled;

	begin_reader(&reader, heap);
	settled = gpb_settled_look(&reader, (BlockNumber) PG_GETARG_INT64(1), &page);
	relation_close(heap, AccessShareLock);
	PG_RETURN_BOOL(settled);
}

/* Look at a block, and name the state if it is found settled. */
static void
look_in_state(GpbSettledReader *reader, BlockNumber block, const char *state, StringInfo found)
{
	GpbSettledPage page;

	if (gpb_settled_look(reader, block, &page))
		appendStringInfo(found, "%s%s", found->len > 0 ? ", " : "", state);
}

/*
 * Set the LSN that a page shows for the time of a look.  Up to PostgreSQL 18 a writer stores the
 * two words in turn.
 */
static void
look_at_lsn(GpbSettledReader *reader, BlockNumber block, Page page, XLogRecPtr lsn,
			const char *state, StringInfo found)
{
	XLogRecPtr	saved = PageGetLSN(page);

	PageSetLSN(page, lsn);
	look_in_state(reader, block, state, found);
	PageSetLSN(page, saved);
}

#ifdef GPB_HOLD_POINTS
/* The page whose LSN changes between the two looks at it */
static Page page_that_changes;

/* Store the low word of a newer LSN, as a writer may between the looks. */
static void
change_page(const char *point)
{
	PageSetLSN(page_that_changes, PageGetLSN(page_that_changes) + NEXT_LOW);
}

/* Look at a page whose LSN changes when it was looked at once and no writer was found. */
static void
look_beside_writer(GpbSettledReader *reader, BlockNumber block, Page page, StringInfo found)
{
	XLogRecPtr	saved = PageGetLSN(page);

	page_that_changes = page;
	gpb_step_hook = change_page;
	look_in_state(reader, block, "changed between the looks", found);
	gpb_step_hook = NULL;
	PageSetLSN(page, saved);
}
#endif

/*
 * (heap, block): record the block, and look at it in the states that its buffer can be in.  Returns
 * the names of those in which it was found settled.  Nobody else uses the table meanwhile.
 */
Datum
gpb_test_settled_states(PG_FUNCTION_ARGS)
{
	Relation	heap = relation_open(PG_GETARG_OID(0), AccessShareLock);
	BlockNumber block = (BlockNumber) PG_GETARG_INT64(1);
	Buffer		buffer = ReadBuffer(heap, block);
	BufferDesc *desc = GetBufferDescriptor(buffer - 1);
	Page		page = BufferGetPage(buffer);
	XLogRecPtr	lsn = PageGetLSN(page);
	StringInfoData found;
	GpbSettledReader reader;
	GpbBufferState state;

	initStringInfo(&found);
	begin_reader(&reader, heap);
	record_block(&reader, block, buffer);
	look_in_state(&reader, block, "pinned", &found);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	look_in_state(&reader, block, "share-locked", &found);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);

	/* a writer may have stored one word of a newer LSN already */
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	look_in_state(&reader, block, "exclusively locked", &found);
	look_at_lsn(&reader, block, page, lsn + NEXT_HIGH, "high word stored", &found);
	look_at_lsn(&reader, block, page, lsn + NEXT_LOW, "low word stored", &found);
	LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	look_at_lsn(&reader, block, page, lsn + NEXT_HIGH, "other high word", &found);
	look_at_lsn(&reader, block, page, lsn + NEXT_LOW, "other low word", &found);
#ifdef GPB_HOLD_POINTS
	look_beside_writer(&reader, block, page, &found);
#endif

	/* a page that is being read into the buffer */
	state = LockBufHdr(desc);
	GPB_UNLOCK_HEADER(desc, state, -BM_VALID);
	look_in_state(&reader, block, "not valid", &found);
	state = LockBufHdr(desc);
	GPB_UNLOCK_HEADER(desc, state, BM_VALID);
	look_in_state(&reader, block, "pinned again", &found);

	ReleaseBuffer(buffer);
	relation_close(heap, AccessShareLock);
	PG_RETURN_TEXT_P(cstring_to_text_with_len(found.data, found.len));
}

/* (relation, block): lock a page as who writes it out does, and hold. */
Datum
gpb_test_write_out(PG_FUNCTION_ARGS)
{
	Relation	relation = relation_open(PG_GETARG_OID(0), AccessShareLock);
	Buffer		buffer = ReadBuffer(relation, (BlockNumber) PG_GETARG_INT64(1));

	LockBuffer(buffer, GPB_WRITE_OUT_LOCK);
	GPB_HOLD("page-is-written");
	UnlockReleaseBuffer(buffer);
	relation_close(relation, AccessShareLock);
	PG_RETURN_VOID();
}

/* (heap): the xmin of a reader with the active snapshot, in 64 bits */
Datum
gpb_test_settled_xmin(PG_FUNCTION_ARGS)
{
	Relation	heap = relation_open(PG_GETARG_OID(0), AccessShareLock);
	GpbSettledReader reader;

	begin_reader(&reader, heap);
	relation_close(heap, AccessShareLock);
	PG_RETURN_FULLTRANSACTIONID(FullTransactionIdFromU64(reader.xmin));
}

/* (next, xid): a transaction that has begun, in 64 bits, where "next" is the next one to begin */
Datum
gpb_test_widen_xid(PG_FUNCTION_ARGS)
{
	FullTransactionId next = PG_GETARG_FULLTRANSACTIONID(0);

	PG_RETURN_FULLTRANSACTIONID(FullTransactionIdFromU64(
								gpb_full_xid(next, PG_GETARG_TRANSACTIONID(1))));
}

/*
 * (heap, block, xid): give all frozen tuples of a page this xmin, which is what they have when more
 * than half of all transaction ids have been used since.
 */
Datum
gpb_test_age_frozen(PG_FUNCTION_ARGS)
{
	Relation	heap = relation_open(PG_GETARG_OID(0), RowExclusiveLock);
	Buffer		buffer = ReadBuffer(heap, (BlockNumber) PG_GETARG_INT64(1));
	Page		page = BufferGetPage(buffer);
	OffsetNumber offset;
	int32		n = 0;

	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	for (offset = FirstOffsetNumber; offset <= PageGetMaxOffsetNumber(page); offset++)
	{
		ItemId		item = PageGetItemId(page, offset);
		HeapTupleHeader tuple = (HeapTupleHeader) PageGetItem(page, item);

		if (!ItemIdIsNormal(item) || !HeapTupleHeaderXminFrozen(tuple))
			continue;
		HeapTupleHeaderSetXmin(tuple, PG_GETARG_TRANSACTIONID(2));
		n++;
	}
	MarkBufferDirty(buffer);
	UnlockReleaseBuffer(buffer);
	relation_close(heap, RowExclusiveLock);
	PG_RETURN_INT32(n);
}
