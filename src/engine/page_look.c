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

static inline bool
page_shows_lsn(const volatile PageXLogRecPtr *shown, XLogRecPtr lsn)
{
	return GPB_SHOWN_LSN(shown) == lsn;
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

	if (!page_shows_lsn(shown, lsn))
		return false;
	GPB_STEP("settled-between-looks");
	pg_read_barrier();
	if (GPB_HAS_WRITER(desc))
		return false;
	pg_read_barrier();
	return page_shows_lsn(shown, lsn);
}

/* Lock a buffer's header.  Nearly always nobody else does. */
static inline GpbBufferState
lock_header(BufferDesc *desc)
{
	GpbBufferState state = GPB_READ_STATE(desc);

	if ((state & BM_LOCKED) == 0 && GPB_EXCHANGE_STATE(desc, &state, state | BM_LOCKED))
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
	GpbBufferState state = lock_header(desc);
	bool		unchanged = (state & BM_VALID) != 0 &&
		desc->tag.blockNum == block && desc->tag.forkNum == MAIN_FORKNUM &&
		BufTagMatchesRelFileLocator(&desc->tag, file) &&
		page_has_lsn(desc, lsn);

	use = use && unchanged && BUF_STATE_GET_USAGECOUNT(state) < BM_MAX_USAGE_COUNT;
	GPB_UNLOCK_HEADER(desc, state, use ? BUF_USAGECOUNT_ONE : 0);
	return unchanged;
}
