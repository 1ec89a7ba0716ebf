/*-------------------------------------------------------------------------
 *
 * dictionary_page.c
 *	  The pages of the dictionary: reading, appending, WAL.
 *
 * Pages are a list linked in both directions, from GPB_DICTIONARY_BLOCK on; all but the last have
 * values.  Whoever appends holds the last page's exclusive lock, and has read all values before
 * under that lock or earlier: so no value is there twice.  Readers hold a share lock on one page at
 * a time.  No page of the tree is locked meanwhile.  The metapage is locked after the last page,
 * and the relation extension lock comes last.
 *
 * A page that has lost its right link, or is an older state of itself, looks like the last one with
 * its last value.  So the record that appends a value counts it in the metapage, and whoever comes
 * to the end compares.  An index that is being built has no metapage; the build counts at its end.
 *
 * Blocks of the dictionary were never pages of the tree, since they are always new ones at the end
 * of the file, and never become such.  So mirrors have no image of them, and nothing is marked
 * (M2).
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/xloginsert.h"
#include "access/xlogutils.h"
#include "miscadmin.h"
#include "storage/smgr.h"
#include "utils/rel.h"

#include "hold.h"
#include "index/dictionary.h"
#include "index/xlog.h"

#ifdef GPB_HOLD_POINTS
int			gpb_dictionary_codes = GPB_DICTIONARY_CODES;
#endif

/* ---- changing a page; redo does so too ---- */

void
gpb_dictionary_page_init(Page page, BlockNumber left, uint32 code)
{
	GpbPageSpecial *special = gpb_special(page);

	PageInit(page, BLCKSZ, sizeof(GpbPageSpecial));
	((PageHeader) page)->pd_lower = GPB_PAGE_HEADER;
	special->left = left;
	special->right = GPB_NO_BLOCK;
	special->low_key = special->high_key = code;
	special->flags = GPB_PAGE_DICTIONARY;
	special->page_id = GPB_PAGE_ID;
}

/* Has the page room for a value that takes so many bytes? */
static inline bool
page_has_room(Page page, int bytes)
{
	return ((PageHeader) page)->pd_upper - ((PageHeader) page)->pd_lower >= bytes;
}

/* Append a value, of so many bytes as it lies on the page, which has room for it. */
static void
page_append(Page page, const char *value, int bytes)
{
	memcpy((char *) page + ((PageHeader) page)->pd_lower, value, bytes);
	((PageHeader) page)->pd_lower += bytes;
	gpb_special(page)->high_key++;
}

/* ---- reading ---- */

/* What came of taking over the values of a page */
typedef enum GpbTaken
{
	GPB_TAKEN,
	GPB_TAKEN_ELSEWHERE,		/* the copy has gone on to another page, by somebody else */
	GPB_TAKEN_NOWHERE			/* no shared memory is left */
} GpbTaken;

/* What is wrong with a page, which is locked, if a place is to be on it; NULL: nothing is. */
static const char *
place_fault(const GpbDictionaryPlace *place, Page page)
{
	const GpbPageSpecial *special = gpb_special(page);
	const char *fault = gpb_dictionary_page_fault(page);

	if (fault != NULL)
		return fault;
	if (special->left != place->left || special->right == place->block ||
		special->right == GPB_META_BLOCK)
		return "a link of the dictionary is wrong";
	if (place->offset == GPB_PAGE_HEADER && special->low_key != place->code)
		return "codes of the dictionary are not those after the last page's";
	if (place->offset >= ((PageHeader) page)->pd_lower && special->high_key != place->code)
		return "a page of the dictionary has fewer values than codes";
	return NULL;
}

Buffer
gpb_dictionary_lock(Relation index, const GpbDictionaryPlace *place, int lock)
{
	Buffer		buffer = gpb_pin(index, InvalidBuffer, place->block, NULL);
	const char *fault;

	LockBuffer(buffer, lock);
	fault = place_fault(place, BufferGetPage(buffer));
	if (fault != NULL)
		gpb_corrupted(index, place->block, fault);
	return buffer;
}

/*
 * Add to the copy what the page of its end has more.  The page is locked, and so is a shared copy,
 * exclusively.  Returns what is wrong with the page, or NULL; the copy is left as far as it came.
 */
static const char *
add_values(GpbDictionaryCopy *copy, Page page, GpbTaken *taken)
{
	GpbDictionaryPlace place = copy->end;
	const char *fault = place_fault(&place, page);

	while (fault == NULL && place.offset < ((PageHeader) page)->pd_lower)
	{
		const GpbDictionaryValue *value[GPB_ADDED_TOGETHER];
		uint32		hash[GPB_ADDED_TOGETHER];
		int			n = 0;

		while (n < GPB_ADDED_TOGETHER && place.offset < ((PageHeader) page)->pd_lower &&
			   (value[n] = gpb_dictionary_next(page, copy->columns, &place, &fault)) != NULL)
		{
			hash[n] = gpb_dictionary_hash(value[n]->column, (const char *) (value[n] + 1),
										  value[n]->length);
			n++;
		}
		gpb_copy_prefetch(copy, hash, n);
		for (int i = 0; i < n; i++)
		{
			GpbAdded	added = gpb_copy_add(copy, value[i], hash[i]);

			if (added == GPB_ADDED_BEFORE)
				return "a value is in the dictionary twice";
			if (added == GPB_ADDED_NOWHERE)
			{
				*taken = GPB_TAKEN_NOWHERE;
				return NULL;
			}
		}
	}
	return fault != NULL ? fault : place_fault(&place, page);
}

/*
 * Add to the copy what this block has more, if it is the copy's last one.  The page is locked.
 * Raises ERRCODE_INDEX_CORRUPTED.
 */
static GpbTaken
take_values(Relation index, GpbDictionary *dictionary, BlockNumber block, Page page)
{
	GpbDictionaryCopy *copy = dictionary->copy;
	const char *fault = NULL;
	GpbTaken	taken = GPB_TAKEN;

	if (copy->lock != NULL)
		LWLockAcquire(copy->lock, LW_EXCLUSIVE);
	if (copy->end.block != block)
		taken = GPB_TAKEN_ELSEWHERE;
	else
		fault = add_values(copy, page, &taken);
	if (copy->lock != NULL)
		LWLockRelease(copy->lock);
	if (fault != NULL)
		gpb_corrupted(index, block, fault);
	gpb_dictionary_look(dictionary);
	return taken;
}

/* Go on from a page of the copy, all of which was read, to the next, unless somebody else has. */
static void
go_on(GpbDictionary *dictionary, BlockNumber block, BlockNumber right)
{
	GpbDictionaryCopy *copy = dictionary->copy;

	if (copy->lock != NULL)
		LWLockAcquire(copy->lock, LW_EXCLUSIVE);
	else
		gpb_dictionary_add_block(dictionary, right);
	if (copy->end.block == block)
	{
		copy->end.left = block;
		copy->end.block = right;
		copy->end.offset = GPB_PAGE_HEADER;
	}
	if (copy->lock != NULL)
		LWLockRelease(copy->lock);
}

void
gpb_dictionary_require(Relation index, const GpbLayout *layout, const GpbDictionaryPlace *end)
{
	Buffer		buffer = gpb_lock_meta(index, layout, BUFFER_LOCK_SHARE);
	uint32		codes = gpb_meta_codes(gpb_meta(BufferGetPage(buffer)));

	UnlockReleaseBuffer(buffer);
	if (end->code < codes)
		gpb_corrupted(index, end->block,
					  "the dictionary ends before codes that the metapage counts");
}

/*
 * Read what the page of the copy's end has more.  If that is the last page it is left locked, and
 * its buffer returned: the copy is complete as long as the lock is held.  Else the copy goes on to
 * the next page, and InvalidBuffer is returned.  layout is NULL while the index is being built.
 */
static Buffer
read_page(Relation index, GpbDictionary *dictionary, const GpbLayout *layout, int lock)
{
	/* In a shared copy it may be older than another backend's, which is found out. */
	BlockNumber block = ((volatile GpbDictionaryCopy *) dictionary->copy)->end.block;
	Buffer		buffer = gpb_pin(index, InvalidBuffer, block, NULL);
	GpbTaken	taken;
	BlockNumber right;

	LockBuffer(buffer, lock);
	taken = take_values(index, dictionary, block, BufferGetPage(buffer));
	right = gpb_special(BufferGetPage(buffer))->right;
	if (taken == GPB_TAKEN && right == GPB_NO_BLOCK)
	{
		GpbDictionaryPlace end = {.block = block, .code = dictionary->ncodes};

		if (layout != NULL)
			gpb_dictionary_require(index, layout, &end);
		dictionary->complete = true;
		return buffer;
	}
	UnlockReleaseBuffer(buffer);
	if (taken == GPB_TAKEN)
		go_on(dictionary, block, right);
	else if (taken == GPB_TAKEN_NOWHERE)
		gpb_dictionary_leave_shared(index, dictionary);
	CHECK_FOR_INTERRUPTS();
	return InvalidBuffer;
}

/* Lock the last page that there is, having read all before it, and that page too. */
static Buffer
lock_last(Relation index, GpbDictionary *dictionary, const GpbLayout *layout, int lock)
{
	Buffer		buffer;

	do
		buffer = read_page(index, dictionary, layout, lock);
	while (!BufferIsValid(buffer));
	return buffer;
}

void
gpb_dictionary_read_on(Relation index, GpbDictionary *dictionary, const GpbLayout *layout)
{
	UnlockReleaseBuffer(lock_last(index, dictionary, layout, BUFFER_LOCK_SHARE));
}

void
gpb_dictionary_read_some(Relation index, GpbDictionary *dictionary, const GpbLayout *layout,
						 uint32 codes)
{
	while (dictionary->ncodes < codes)
	{
		Buffer		buffer = read_page(index, dictionary, layout, BUFFER_LOCK_SHARE);

		if (BufferIsValid(buffer))
		{
			UnlockReleaseBuffer(buffer);
			break;
		}
	}
}

/* ---- appending ---- */

/*
 * Make a new page, which begins with this code, and link it to the last one, whose buffer is
 * exclusively locked; that is InvalidBuffer if there is none.  Returns the new page's buffer,
 * exclusively locked, with the other one released.
 */
static Buffer
new_page(Relation index, Buffer last, uint32 code)
{
	Buffer		buffer = gpb_extend(index);
	Page		page = BufferGetPage(buffer);

	START_CRIT_SECTION();
	gpb_dictionary_page_init(page, BufferIsValid(last) ? BufferGetBlockNumber(last) : GPB_NO_BLOCK,
							 code);
	MarkBufferDirty(buffer);
	if (BufferIsValid(last))
	{
		gpb_special(BufferGetPage(last))->right = BufferGetBlockNumber(buffer);
		MarkBufferDirty(last);
	}
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterData((char *) &code, sizeof(code));
		XLogRegisterBuffer(0, buffer, REGBUF_WILL_INIT | REGBUF_STANDARD);
		if (BufferIsValid(last))
			XLogRegisterBuffer(1, last, REGBUF_STANDARD);
		lsn = XLogInsert(GPB_RMGR_ID, GPB_XLOG_DICTIONARY_PAGE);
		PageSetLSN(page, lsn);
		if (BufferIsValid(last))
			PageSetLSN(BufferGetPage(last), lsn);
	}
	END_CRIT_SECTION();
	if (BufferIsValid(last))
		UnlockReleaseBuffer(last);
	return buffer;
}

/*
 * Log and append a value, as it lies on the page, which is exclusively locked and has room.  Count
 * it in the metapage, which has all codes then, unless layout is NULL: the index is being built.
 */
static void
append_value(Relation index, Buffer buffer, const GpbLayout *layout, const char *value, int bytes)
{
	Page		page = BufferGetPage(buffer);
	uint32		codes = gpb_special(page)->high_key + 1;
	Buffer		meta = layout == NULL ? InvalidBuffer :
		gpb_lock_meta(index, layout, BUFFER_LOCK_EXCLUSIVE);

	START_CRIT_SECTION();
	page_append(page, value, bytes);
	MarkBufferDirty(buffer);
	if (BufferIsValid(meta))
	{
		gpb_meta_set_codes(gpb_meta(BufferGetPage(meta)), codes);
		MarkBufferDirty(meta);
	}
	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
		XLogRegisterBufData(0, (char *) value, bytes);
		if (BufferIsValid(meta))
		{
			XLogRegisterData((char *) &codes, sizeof(codes));
			XLogRegisterBuffer(1, meta, REGBUF_STANDARD);
		}
		lsn = XLogInsert(GPB_RMGR_ID, GPB_XLOG_DICTIONARY_VALUE);
		PageSetLSN(page, lsn);
		if (BufferIsValid(meta))
			PageSetLSN(BufferGetPage(meta), lsn);
	}
	END_CRIT_SECTION();
	if (BufferIsValid(meta))
		UnlockReleaseBuffer(meta);
}

Buffer
gpb_dictionary_put(Relation index, Buffer buffer, const GpbLayout *layout, uint32 code,
				   const GpbDictionaryValue *value)
{
	int			size = GPB_DICTIONARY_BYTES(value->length);

	if (!page_has_room(BufferGetPage(buffer), size))
		buffer = new_page(index, buffer, code);
	append_value(index, buffer, layout, (const char *) value, size);
	return buffer;
}

void
gpb_dictionary_append(Relation index, GpbDictionary *dictionary, const GpbLayout *layout,
					  const GpbDictionaryValue *value, uint32 hash)
{
	GpbTaken	taken = GPB_TAKEN;
	Buffer		buffer;

	GPB_HOLD("dictionary-before-append");
	buffer = lock_last(index, dictionary, layout, BUFFER_LOCK_EXCLUSIVE);
	if (dictionary->ncodes < gpb_dictionary_codes &&
		gpb_dictionary_find(dictionary, value->column, (const char *) (value + 1), value->length,
							hash) == GPB_NO_CODE)
	{
		BlockNumber block = BufferGetBlockNumber(buffer);

		buffer = gpb_dictionary_put(index, buffer, layout, dictionary->ncodes, value);
		if (BufferGetBlockNumber(buffer) != block)
			go_on(dictionary, block, BufferGetBlockNumber(buffer));
		taken = take_values(index, dictionary, BufferGetBlockNumber(buffer),
							BufferGetPage(buffer));
	}
	UnlockReleaseBuffer(buffer);
	/* The copy finds no memory for the value: another is read, which has it. */
	if (taken != GPB_TAKEN)
		gpb_dictionary_read_on(index, dictionary, layout);
	GPB_HOLD("dictionary-after-append");
}

/* ---- values that are elsewhere ---- */

/* Log a page that was changed, all of it: this happens a few times in an index's life. */
static void
log_page(Relation index, Buffer buffer)
{
	MarkBufferDirty(buffer);
	if (RelationNeedsWAL(index))
		log_newpage_buffer(buffer, true);
}

/*
 * The columns of which the first page, which is checked and locked, says that values are elsewhere
 */
static uint32
columns_of(Relation index, Buffer buffer)
{
	const char *fault = gpb_dictionary_page_fault(BufferGetPage(buffer));

	if (fault != NULL)
		gpb_corrupted(index, GPB_DICTIONARY_BLOCK, fault);
	return (uint32) *gpb_elsewhere_columns(gpb_special(BufferGetPage(buffer)));
}

/*
 * The first page says which columns; then the metapage says that there are some, and a build's at
 * its end.  So no older state of one of them alone goes unnoticed, as with codes.
 */
void
gpb_dictionary_note_elsewhere(Relation index, GpbDictionary *dictionary, const GpbLayout *layout,
							  int column)
{
	uint32		bit = (uint32) 1 << column;
	Buffer		buffer;

	if ((dictionary->elsewhere & bit) != 0)
		return;
	buffer = gpb_pin(index, InvalidBuffer, GPB_DICTIONARY_BLOCK, NULL);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if ((columns_of(index, buffer) & bit) == 0)
	{
		START_CRIT_SECTION();
		*gpb_elsewhere_columns(gpb_special(BufferGetPage(buffer))) |= bit;
		log_page(index, buffer);
		END_CRIT_SECTION();
	}
	UnlockReleaseBuffer(buffer);
	if (layout != NULL)
	{
		buffer = gpb_lock_meta(index, layout, BUFFER_LOCK_EXCLUSIVE);
		if (!gpb_meta_has_elsewhere(gpb_meta(BufferGetPage(buffer))))
		{
			START_CRIT_SECTION();
			gpb_meta_set_elsewhere(gpb_meta(BufferGetPage(buffer)));
			log_page(index, buffer);
			END_CRIT_SECTION();
		}
		UnlockReleaseBuffer(buffer);
	}
	dictionary->elsewhere |= bit;
	GPB_HOLD("dictionary-after-note");
}

uint32
gpb_dictionary_elsewhere(Relation index, const GpbLayout *layout)
{
	bool		expected = false;
	uint32		columns;
	Buffer		buffer;
	GpbMeta		meta;

	/* The metapage first: it says so last. */
	if (layout != NULL)
	{
		gpb_read_meta(index, layout, &meta);
		expected = gpb_meta_has_elsewhere(&meta);
	}
	buffer = gpb_pin(index, InvalidBuffer, GPB_DICTIONARY_BLOCK, NULL);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	columns = columns_of(index, buffer);
	UnlockReleaseBuffer(buffer);
	if (expected && columns == 0)
		gpb_corrupted(index, GPB_DICTIONARY_BLOCK,
					  "the dictionary knows nothing of values that the metapage says are elsewhere");
	return columns;
}

uint32
gpb_dictionary_planned_elsewhere(Relation index, const GpbLayout *layout)
{
	GpbMeta		meta;

	gpb_read_meta(index, layout, &meta);
	return gpb_meta_has_elsewhere(&meta) ? gpb_dictionary_elsewhere(index, layout) : 0;
}

/* ---- the first page ---- */

void
gpb_dictionary_create(Relation index)
{
	PGAlignedBlock zeroes;
	Buffer		buffer;

	gpb_dictionary_forget(index);
	memset(zeroes.data, 0, BLCKSZ);
	smgrextend(RelationGetSmgr(index), MAIN_FORKNUM, GPB_META_BLOCK, zeroes.data, true);
	buffer = new_page(index, InvalidBuffer, 0);
	if (BufferGetBlockNumber(buffer) != GPB_DICTIONARY_BLOCK)
		elog(ERROR, "the dictionary of index \"%s\" begins at block %u",
			 RelationGetRelationName(index), BufferGetBlockNumber(buffer));
	UnlockReleaseBuffer(buffer);
}

/* ---- redo ---- */

/* Finish the redo of a page: set its LSN and mark its buffer dirty. */
static void
redo_done(XLogReaderState *record, Buffer buffer)
{
	PageSetLSN(BufferGetPage(buffer), record->EndRecPtr);
	MarkBufferDirty(buffer);
}

/* Redo a new page.  It is complete before the link to it can be followed. */
void
gpb_redo_dictionary_page(XLogReaderState *record)
{
	Buffer		buffer = XLogInitBufferForRedo(record, 0);
	BlockNumber block = BufferGetBlockNumber(buffer);
	BlockNumber left = GPB_NO_BLOCK;
	uint32		code;

	memcpy(&code, XLogRecGetData(record), sizeof(code));
	if (XLogRecHasBlockRef(record, 1))
		XLogRecGetBlockTag(record, 1, NULL, NULL, &left);
	gpb_dictionary_page_init(BufferGetPage(buffer), left, code);
	redo_done(record, buffer);
	UnlockReleaseBuffer(buffer);

	if (!XLogRecHasBlockRef(record, 1))
		return;
	if (XLogReadBufferForRedo(record, 1, &buffer) == BLK_NEEDS_REDO)
	{
		gpb_special(BufferGetPage(buffer))->right = block;
		redo_done(record, buffer);
	}
	if (BufferIsValid(buffer))
		UnlockReleaseBuffer(buffer);
}

/*
 * Redo a value, and then its count in the metapage, if the record has that.  Both are locked to the
 * end, for those who compare them.  The metapage is not marked (M2): its root stays.
 */
void
gpb_redo_dictionary_value(XLogReaderState *record)
{
	Buffer		buffer;
	Buffer		meta = InvalidBuffer;

	if (XLogReadBufferForRedo(record, 0, &buffer) == BLK_NEEDS_REDO)
	{
		Page		page = BufferGetPage(buffer);
		Size		bytes;
		char	   *value = XLogRecGetBlockData(record, 0, &bytes);

		if (gpb_special(page)->flags != GPB_PAGE_DICTIONARY || bytes > BLCKSZ ||
			!page_has_room(page, bytes))
			elog(PANIC, "gpubtree redo: no place for a value of %zu bytes", bytes);
		page_append(page, value, bytes);
		redo_done(record, buffer);
	}
	if (XLogRecHasBlockRef(record, 1) &&
		XLogReadBufferForRedo(record, 1, &meta) == BLK_NEEDS_REDO)
	{
		uint32		codes;

		memcpy(&codes, XLogRecGetData(record), sizeof(codes));
		gpb_meta_set_codes(gpb_meta(BufferGetPage(meta)), codes);
		redo_done(record, meta);
	}
	if (BufferIsValid(meta))
		UnlockReleaseBuffer(meta);
	if (BufferIsValid(buffer))
		UnlockReleaseBuffer(buffer);
}
