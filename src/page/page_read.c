/*-------------------------------------------------------------------------
 *
 * page_read.c
 *	  Pinning, locking and checking the pages of an index.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "page/page.h"

/* What is about to be read */
typedef struct GpbPin
{
	Relation	index;
	BlockNumber block;			/* or InvalidBlockNumber: some of a stream */
} GpbPin;

/*
 * Asking the file for its length costs a system call, so the length is taken that the storage
 * manager's handle has from the last time somebody asked.  A file that grows makes it too small,
 * and it is asked for anew.  A file gets shorter under an exclusive lock of the index alone, and
 * before that is given up every process is told to forget the length, in replay too, as it does
 * when it locks the index next.
 */
bool
gpb_is_in_file(Relation index, BlockNumber block)
{
	SMgrRelation file = index->rd_smgr;

	if (likely(file != NULL && block < file->smgr_cached_nblocks[MAIN_FORKNUM] &&
			   file->smgr_cached_nblocks[MAIN_FORKNUM] != InvalidBlockNumber))
		return true;
	return block < RelationGetNumberOfBlocks(index);
}

/* Raise ERRCODE_INDEX_CORRUPTED if a link leads to a block beyond the end of the file. */
static void
require_block(Relation index, BlockNumber block)
{
	if (unlikely(!gpb_is_in_file(index, block)))
		gpb_corrupted(index, block, "a link leads beyond the end of the file");
}

/*
 * Have we locked this page already?  A writer that holds pages would wait for
 * itself, uninterruptibly, if a damaged link led back to one of them.
 */
static bool
holds_lock(Buffer buffer)
{
	if (BufferIsLocal(buffer))
		return false;
	return GPB_BUFFER_LOCKED_BY_ME(buffer);
}

/*
 * PostgreSQL's own check of a page comes before ours; if it fails, the index is corrupted to us,
 * too.
 */
static void
pin_error(void *arg)
{
	const GpbPin *pin = arg;

	if (geterrcode() == ERRCODE_DATA_CORRUPTED)
		errcode(ERRCODE_INDEX_CORRUPTED);
	if (pin->block == InvalidBlockNumber)
		errcontext("reading blocks of index \"%s\"", RelationGetRelationName(pin->index));
	else
		errcontext("reading block %u of index \"%s\"", pin->block,
				   RelationGetRelationName(pin->index));
}

Buffer
gpb_pin(Relation index, Buffer buffer, BlockNumber block,
		BufferAccessStrategy strategy)
{
	GpbPin		pin = {index, block};
	ErrorContextCallback context;

	context.callback = pin_error;
	context.arg = &pin;
	context.previous = error_context_stack;
	error_context_stack = &context;
	if (strategy == NULL)
		buffer = ReleaseAndReadBuffer(buffer, index, block);
	else
	{
		Assert(!BufferIsValid(buffer));
		buffer = ReadBufferExtended(index, MAIN_FORKNUM, block, RBM_NORMAL,
									strategy);
	}
	error_context_stack = context.previous;
	return buffer;
}

Buffer
gpb_exchange(Relation index, Buffer buffer, BlockNumber block, int lock,
			 const GpbLayout *layout)
{
	require_block(index, block);
	buffer = gpb_pin(index, buffer, block, NULL);
	if (unlikely(holds_lock(buffer)))
		gpb_corrupted(index, block, "links form a circle");
	LockBuffer(buffer, lock);
	gpb_page_require(index, block, BufferGetPage(buffer), layout);
	return buffer;
}

Buffer
gpb_read(Relation index, BlockNumber block, int lock, const GpbLayout *layout)
{
	return gpb_exchange(index, InvalidBuffer, block, lock, layout);
}

Buffer
gpb_lock_meta(Relation index, const GpbLayout *layout, int lock)
{
	Buffer		buffer;
	const char *fault;

	require_block(index, GPB_META_BLOCK);
	buffer = gpb_pin(index, InvalidBuffer, GPB_META_BLOCK, NULL);
	LockBuffer(buffer, lock);
	fault = gpb_meta_fault(BufferGetPage(buffer), layout);
	if (fault != NULL)
		gpb_meta_refuse(index, gpb_meta(BufferGetPage(buffer)), fault);
	return buffer;
}

void
gpb_read_meta(Relation index, const GpbLayout *layout, GpbMeta *meta)
{
	Buffer		buffer = gpb_lock_meta(index, layout, BUFFER_LOCK_SHARE);

	*meta = *gpb_meta(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
}

Buffer
gpb_stream_pin(Relation index, ReadStream *stream)
{
	GpbPin		pin = {index, InvalidBlockNumber};
	ErrorContextCallback context = {error_context_stack, pin_error, &pin};
	Buffer		buffer;

	error_context_stack = &context;
	buffer = read_stream_next_buffer(stream, NULL);
	error_context_stack = context.previous;
	return buffer;
}

/* ---- pages asked for ahead of time ---- */

/* Prefetch the descriptor of a buffer and the ends of its page. */
static inline void
ask_for_ends(Buffer buffer)
{
	__builtin_prefetch(GetBufferDescriptor(buffer - 1));
	__builtin_prefetch(BufferGetPage(buffer));
	__builtin_prefetch((char *) BufferGetPage(buffer) + GPB_SPECIAL_OFFSET);
}

Buffer
gpb_ask_for_page(Relation index, BlockNumber block)
{
	Buffer		buffer;

	require_block(index, block);
	buffer = PrefetchBuffer(index, MAIN_FORKNUM, block).recent_buffer;
	if (!BufferIsValid(buffer) || BufferIsLocal(buffer))
		return InvalidBuffer;
	ask_for_ends(buffer);
	return buffer;
}

Buffer
gpb_find_buffer(const RelFileNode *file, BlockNumber block)
{
	BufferTag	tag;
	uint32		hash;
	LWLock	   *partition;
	int			id;

	INIT_BUFFERTAG(tag, *file, MAIN_FORKNUM, block);
	hash = BufTableHashCode(&tag);
	partition = BufMappingPartitionLock(hash);
	LWLockAcquire(partition, LW_SHARED);
	id = BufTableLookup(&tag, hash);
	LWLockRelease(partition);
	return id + 1;				/* InvalidBuffer if there is none */
}

/* Does this buffer, if there is such a buffer, have the block?  Its tag is read without a lock. */
static inline bool
buffer_has(int64 buffer, const BufferTag *tag)
{
	return buffer >= 1 && buffer <= NBuffers &&
		BUFFERTAGS_EQUAL(*tag, GetBufferDescriptor((Buffer) buffer - 1)->tag);
}

/*
 * Find out where the sibling is, without a look-up if that can be guessed: an index that was built
 * or read in one go has blocks that follow each other in buffers that follow each other, either
 * way: buffers that a dropped table had are taken from the last to the first.  A guess that holds
 * now may fail later, as any may.  A page that is not in shared buffers is not asked for from the
 * disk, since the caller has locked another one.
 */
static Buffer
find_sibling(Relation index, Buffer buffer, BlockNumber block, BlockNumber sibling)
{
	int64		distance = (int64) sibling - block;
	BufferTag	tag;

	INIT_BUFFERTAG(tag, index->rd_node, MAIN_FORKNUM, sibling);
	if (buffer_has(buffer + distance, &tag))
		return (Buffer) (buffer + distance);
	if (buffer_has(buffer - distance, &tag))
		return (Buffer) (buffer - distance);
	return gpb_find_buffer(&index->rd_node, sibling);
}

Buffer
gpb_ask_for_sibling(Relation index, Buffer buffer, BlockNumber block, BlockNumber sibling)
{
	Buffer		recent;

	if (BufferIsLocal(buffer))
		return InvalidBuffer;
	recent = find_sibling(index, buffer, block, sibling);
	if (!BufferIsValid(recent))
		return InvalidBuffer;
	ask_for_ends(recent);
	return recent;
}

/*
 * The page is neither pinned nor locked: it may be any page by now, which makes the prefetch
 * useless, no more.
 */
void
gpb_ask_for_keys(Buffer recent)
{
	const char *page;
	int			used;
	int			i;

	if (!BufferIsValid(recent))
		return;
	page = BufferGetPage(recent);
	used = Min(gpb_page_u16(page, GPB_PD_LOWER), GPB_SPECIAL_OFFSET);
	for (i = 1; i < 9; i++)
		__builtin_prefetch(page + GPB_PAGE_HEADER + i * (used - GPB_PAGE_HEADER) / 9);
}

/* Pin a block, by the buffer where it was if it is still there: that spares another look-up. */
static inline Buffer
pin_asked_for(Relation index, BlockNumber block, Buffer recent)
{
	if (!BufferIsValid(recent) ||
		!ReadRecentBuffer(index->rd_node, MAIN_FORKNUM, block, recent))
		return gpb_pin(index, InvalidBuffer, block, NULL);
	pgstat_count_buffer_read(index);
	pgstat_count_buffer_hit(index);
	return recent;
}

Buffer
gpb_read_asked_for(Relation index, BlockNumber block, Buffer recent, const GpbLayout *layout)
{
	Buffer		buffer;

	if (!BufferIsValid(recent))
		return gpb_read(index, block, BUFFER_LOCK_SHARE, layout);
	buffer = pin_asked_for(index, block, recent);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	gpb_page_require(index, block, BufferGetPage(buffer), layout);
	return buffer;
}

/*
 * The caller may have locked other pages, and the block may have become one of them.
 */
Buffer
gpb_read_old_link(Relation index, BlockNumber block, Buffer recent, const GpbLayout *layout)
{
	const char *fault;
	Buffer		buffer;
	Page		page;

	if (unlikely(!gpb_is_in_file(index, block)))
		return InvalidBuffer;
	buffer = pin_asked_for(index, block, recent);
	if (unlikely(holds_lock(buffer)))
	{
		ReleaseBuffer(buffer);
		return InvalidBuffer;
	}
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	fault = gpb_page_fault_at(block, page, layout);
	if (likely(fault == NULL))
		return buffer;
	if (!PageIsNew(page) && !gpb_is_dictionary_page(page))
		gpb_corrupted(index, block, fault);
	UnlockReleaseBuffer(buffer);
	return InvalidBuffer;
}
