/*-------------------------------------------------------------------------
 *
 * page_look.c
 *	  Looks: has a page in shared buffers the LSN that somebody remembers?
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "storage/buf_internals.h"
#include "storage/bufmgr.h"

#include "engine/page_look.h"
#include "hold.h"

/*
 * The bits of a content lock's state that stand for a writer: from bit 18 on, above the number of
 * readers, and below the flags.
 */
#define CONTENT_LOCK_WRITER	0x0FFC0000

static inline bool
page_shows_lsn(const volatile PageXLogRecPtr *shown, XLogRecPtr lsn)
{
	return shown->xlogid == (uint32) (lsn >> 32) && shown->xrecoff == (uint32) lsn;
}

/*
 * Has the page in this buffer, whose header lock is held, the LSN "lsn" at some moment of the call?
 * The content lock is not taken, so a writer may be at work.
 *
 * A writer stores the two words of an LSN one after the other, so a single look at them could find
 * one word of an LSN and one of another.  Between two looks there is one at the content lock.  If
 * that finds no writer, the page has a whole LSN V then.  Say that V is not "lsn", but both looks
 * show "lsn".  What writers set never falls, and those who write hints hold the header lock; so by
 * the second look V has the high word of "lsn".  If a writer was between his two stores at the
 * first look, his LSN is V or one before it, so both of his LSNs had that high word, and the low
 * word that was read is that of one of them, whole.  So the page had "lsn" at the first look.
 */
static inline bool
page_has_lsn(BufferDesc *desc, XLogRecPtr lsn)
{
	Page		page = BufferGetPage(BufferDescriptorGetBuffer(desc));
	const volatile PageXLogRecPtr *shown = &((PageHeader) page)->pd_lsn;
	LWLock	   *content_lock = BufferDescriptorGetContentLock(desc);

	if (!page_shows_lsn(shown, lsn))
		return false;
	GPB_STEP("settled-between-looks");
	pg_read_barrier();
	if ((pg_atomic_read_u32(&content_lock->state) & CONTENT_LOCK_WRITER) != 0)
		return false;
	pg_read_barrier();
	return page_shows_lsn(shown, lsn);
}

/* Lock a buffer's header.  Nearly always nobody else does. */
static inline uint32
lock_header(BufferDesc *desc)
{
	uint32		state = pg_atomic_read_u32(&desc->state);

	if ((state & BM_LOCKED) == 0 &&
		pg_atomic_compare_exchange_u32(&desc->state, &state, state | BM_LOCKED))
		return state | BM_LOCKED;
	return LockBufHdr(desc);
}

/*
 * The header lock keeps the buffer from getting another page.  It does not keep writers out: one
 * may have changed the page, but not its LSN yet.
 */
bool
gpb_page_look(Buffer buffer, const RelFileNode *file, BlockNumber block, XLogRecPtr lsn, bool use)
{
	BufferDesc *desc = GetBufferDescriptor(buffer - 1);
	uint32		state = lock_header(desc);
	bool		unchanged = (state & BM_VALID) != 0 &&
		desc->tag.blockNum == block && desc->tag.forkNum == MAIN_FORKNUM &&
		BufTagMatchesRelFileLocator(&desc->tag, file) &&
		page_has_lsn(desc, lsn);

	if (use && unchanged && BUF_STATE_GET_USAGECOUNT(state) < BM_MAX_USAGE_COUNT)
		state += BUF_USAGECOUNT_ONE;
	UnlockBufHdr(desc, state);
	return unchanged;
}
