/*-------------------------------------------------------------------------
 *
 * insert.c
 *	  aminsert, and putting an entry on a page.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "hold.h"
#include "index/dictionary.h"
#include "index/unique.h"
#include "index/xlog.h"

/*
 * Return the leaf that took this backend's last insert, exclusively locked, if it is the rightmost
 * one, covers bound and has room.  Otherwise return InvalidBuffer, with nothing locked.
 *
 * For keys that ascend this saves the descent (an idea of nbtree's).  If somebody else has the page
 * locked, a descent costs less than the contention, so we don't wait.  The page must have room
 * because a split needs a stack.
 */
static Buffer
rightmost_leaf(Relation index, const GpbLayout *layout, GpbBound bound)
{
	BlockNumber block = RelationGetTargetBlock(index);
	Buffer		buffer;

	if (block == InvalidBlockNumber)
		return InvalidBuffer;

	buffer = gpb_pin(index, InvalidBuffer, block, NULL);
	if (ConditionalLockBuffer(buffer))
	{
		Page		page = BufferGetPage(buffer);
		const GpbPageSpecial *special = gpb_special(page);

		gpb_page_require(index, block, page, layout);
		if (special->right == GPB_NO_BLOCK && gpb_page_leads_to(page, 0, bound) &&
			gpb_page_has_room(page))
			return buffer;
		LockBuffer(buffer, BUFFER_LOCK_UNLOCK);
	}
	ReleaseBuffer(buffer);
	RelationSetTargetBlock(index, InvalidBlockNumber);
	return InvalidBuffer;
}

/*
 * Find the position of the new entry on its leaf, which is locked.  Every entry is unique by its
 * heap TID, so an equal one can only be left over from damage.
 */
static int
leaf_position(Relation index, const GpbLayout *layout, Buffer leaf,
			  GpbBound bound)
{
	Page		page = BufferGetPage(leaf);
	int			row_width = gpb_page_row_width(page);
	int			count = gpb_page_count(page);
	int			position = gpb_page_lower_bound(page, layout->key_width, row_width, count, bound);

	if (position < count &&
		gpb_bound_cmp(gpb_page_bound(page, layout->key_width, row_width, position), bound) == 0)
		gpb_corrupted(index, BufferGetBlockNumber(leaf),
					  "there is an entry for a new heap tuple already");
	return position;
}

/* Log one entry: the block data is the position, the key, the row, and nothing else. */
static XLogRecPtr
log_insert(Buffer buffer, Buffer child, uint16 position, GpbKey key,
		   const char *row)
{
	const GpbPageSpecial *special = gpb_special(BufferGetPage(buffer));
	int			row_width = gpb_spread_row_width(BufferGetPage(buffer));
	char		data[sizeof(position) + sizeof(key) + GPB_MAX_ROW_WIDTH];
	int			length = 0;

	memcpy(data, &position, sizeof(position));
	length += sizeof(position);
	memcpy(data + length, &key, special->key_width);
	length += special->key_width;
	memcpy(data + length, row, row_width);
	length += row_width;

	XLogBeginInsert();
	XLogRegisterBuffer(0, buffer, REGBUF_STANDARD);
	XLogRegisterBufData(0, data, length);
	if (BufferIsValid(child))
		XLogRegisterBuffer(1, child, REGBUF_STANDARD);
	return XLogInsert(GPB_RMGR_ID, BufferIsValid(child) ?
					  GPB_XLOG_INSERT_INNER : GPB_XLOG_INSERT_LEAF);
}

/*
 * Put an entry on a page that has room.  Buffers and arguments are as in gpb_insert_on_page(), but
 * all locks are kept.
 */
static void
insert_in_place(Relation index, Buffer buffer, Buffer child, int position,
				GpbKey key, const char *row)
{
	Page		page = BufferGetPage(buffer);

	START_CRIT_SECTION();

	gpb_page_insert(page, position, &key, row);
	MarkBufferDirty(buffer);
	if (BufferIsValid(child))
	{
		gpb_special(BufferGetPage(child))->flags &= ~GPB_PAGE_INCOMPLETE_SPLIT;
		MarkBufferDirty(child);
	}

	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn = log_insert(buffer, child, position, key, row);

		PageSetLSN(page, lsn);
		if (BufferIsValid(child))
			PageSetLSN(BufferGetPage(child), lsn);
	}

	END_CRIT_SECTION();
}

void
gpb_insert_on_page(Relation index, const GpbLayout *layout, Buffer buffer,
				   Buffer child, int position, GpbKey key, const char *row,
				   const GpbStack *stack)
{
	Page		page = BufferGetPage(buffer);
	const GpbPageSpecial *special = gpb_special(page);

	if (!gpb_page_has_room(page) ||
		(special->level > 0 && gpb_page_count(page) >= gpb_inner_limit(special->key_width)))
	{
		gpb_split(index, layout, buffer, child, position, key, row, stack);
		return;
	}

	if (BufferIsValid(child))	/* a leaf was marked in insert_entry() */
		gpb_mark_changed(index, BufferGetBlockNumber(buffer));
	insert_in_place(index, buffer, child, position, key, row);
	if (BufferIsValid(child))
		UnlockReleaseBuffer(child);
	UnlockReleaseBuffer(buffer);
}

/* Give runs to a leaf, and log it.  The leaf is locked exclusively. */
static void
give_runs(Relation index, Buffer leaf)
{
	Page		page = BufferGetPage(leaf);

	gpb_mark_changed(index, BufferGetBlockNumber(leaf));

	START_CRIT_SECTION();

	gpb_page_give_runs(page);
	MarkBufferDirty(leaf);

	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn;

		XLogBeginInsert();
		XLogRegisterBuffer(0, leaf, REGBUF_STANDARD);
		lsn = XLogInsert(GPB_RMGR_ID, GPB_XLOG_GIVE_RUNS);
		PageSetLSN(page, lsn);
	}

	END_CRIT_SECTION();
}

/*
 * Remove dead entries from a leaf that is full, if any are found, or else have its entries share
 * keys.  heap is the table, which is asked about dead entries.  An entry whose row was updated
 * without a change of its key has a version of the same key there already, and so, most likely,
 * have others: "unchanged" says so.
 */
static void
make_room(Relation index, const GpbLayout *layout, Relation heap, Buffer leaf,
		  const GpbEntry *entry, bool unchanged)
{
	gpb_delete_dead(index, layout, heap, leaf, gpb_locator_block(gpb_row_locator(entry->row)));
	if (unchanged && !gpb_page_has_room(BufferGetPage(leaf)))
		gpb_delete_versions(index, layout, heap, leaf, entry->key);
	if (!gpb_page_has_room(BufferGetPage(leaf)) && gpb_makes_runs(index, layout, heap) &&
		gpb_runs_pay(BufferGetPage(leaf)))
		give_runs(index, leaf);
}

/*
 * Find the leaf that an entry which "unique" is about goes to, when the check has passed on "leaf";
 * both are exclusively locked in exchange.  Each leaf is locked before the one to its left is
 * unlocked: whoever checks an equal row comes from the left and so cannot pass us.  Incomplete
 * splits are finished, since the leaf may have to be split.
 */
static Buffer
move_to_entry(Relation index, const GpbLayout *layout, Buffer leaf, GpbBound bound,
			  const GpbStack *stack)
{
	while (!gpb_page_covers(BufferGetPage(leaf), bound))
	{
		Page		page = BufferGetPage(leaf);
		Buffer		right = gpb_read(index, gpb_special(page)->right, BUFFER_LOCK_EXCLUSIVE,
									 layout);

		gpb_require_right(index, right, BufferGetBlockNumber(leaf), 0, gpb_page_high(page));
		if (gpb_special(BufferGetPage(right))->flags & GPB_PAGE_INCOMPLETE_SPLIT)
		{
			gpb_finish_split(index, layout, right, stack);
			continue;
		}
		GPB_HOLD("unique-move-right");
		UnlockReleaseBuffer(leaf);
		leaf = right;
	}
	return leaf;
}

/*
 * Find and lock the leaf of an entry, for an insert.  unique is NULL, or says that the entry is to
 * be unique: then this checks it, and returns InvalidBuffer for UNIQUE_CHECK_EXISTING.
 */
static Buffer
find_leaf(Relation index, const GpbLayout *layout, Relation heap, GpbBound bound,
		  GpbUnique *unique, GpbStack *stack)
{
	GpbBound	first = unique == NULL ? bound : unique->range.lo;
	Buffer		leaf;

	do
	{
		stack->height = 0;
		leaf = rightmost_leaf(index, layout, first);
		if (!BufferIsValid(leaf))
			leaf = gpb_search(index, layout, first, BUFFER_LOCK_EXCLUSIVE, stack);
		if (unique == NULL)
			return leaf;
	} while (!gpb_unique_check(index, layout, heap, leaf, unique));

	if (unique->mode == UNIQUE_CHECK_EXISTING)
	{
		UnlockReleaseBuffer(leaf);
		return InvalidBuffer;
	}
	return move_to_entry(index, layout, leaf, bound, stack);
}

/*
 * Insert an entry into the index.  heap is the table; unique is as in find_leaf().  "unchanged" is
 * the executor's hint that the entry is for a new version of a row, whose key is as before.
 */
static void
insert_entry(Relation index, const GpbLayout *layout, Relation heap,
			 const GpbEntry *entry, GpbUnique *unique, bool unchanged)
{
	uint64		locator = gpb_row_locator(entry->row);
	GpbBound	bound = {entry->key, locator & GPB_TIE_MASK};
	GpbStack	stack;
	Buffer		leaf = find_leaf(index, layout, heap, bound, unique, &stack);
	BlockNumber block;
	bool		rightmost;

	if (!BufferIsValid(leaf))
		return;
	block = BufferGetBlockNumber(leaf);

	if (gpb_has_runs(gpb_page_row_width(BufferGetPage(leaf))) &&
		gpb_locator_offset(locator) >= GPB_SHORT_OFFSETS)
		elog(ERROR, "index \"%s\" has no room for offset number %u in block %u",
			 RelationGetRelationName(index), gpb_locator_offset(locator), block);

	/* Rule M2 demands this order.  A mark for an insert that fails does no harm. */
	gpb_mark_changed(index, block);
	pg_memory_barrier();
	CheckForSerializableConflictIn(index, NULL, block);

	if (!gpb_page_has_room(BufferGetPage(leaf)))
		make_room(index, layout, heap, leaf, entry, unchanged);

	/* A root leaf is not remembered, since a descent to it is short enough. */
	rightmost = gpb_special(BufferGetPage(leaf))->right == GPB_NO_BLOCK &&
		gpb_special(BufferGetPage(leaf))->left != GPB_NO_BLOCK &&
		gpb_page_has_room(BufferGetPage(leaf));

	gpb_insert_on_page(index, layout, leaf, InvalidBuffer,
					   leaf_position(index, layout, leaf, bound),
					   entry->key, entry->row, &stack);
	if (rightmost)
		RelationSetTargetBlock(index, block);
}

/*
 * aminsert: insert the entry of a heap tuple.  Returns whether it is known to be unique, as far as
 * check_unique asks for that.
 */
bool
gpb_insert(Relation index, Datum *values, bool *isnull, ItemPointer heap_tid,
		   Relation heap, IndexUniqueCheck check_unique, bool index_unchanged,
		   IndexInfo *index_info)
{
	GpbLayout	layout = *gpb_layout(index);
	Datum		coded[GPB_MAX_KEYS + GPB_MAX_INCLUDE];
	GpbEntry	entry;
	GpbUnique	unique;

	gpb_require_null_codes(index, &layout, isnull);
	gpb_require_numerics(index, &layout, values, isnull);
	if (gpb_layout_has_dictionary(&layout))
		values = gpb_dictionary_encode(index, &layout, values, isnull, coded);
	gpb_entry_form(&layout, values, isnull, heap_tid, &entry);
	if (check_unique == UNIQUE_CHECK_NO || !gpb_unique_binds(index, isnull))
	{
		if (check_unique != UNIQUE_CHECK_EXISTING)
			insert_entry(index, &layout, heap, &entry, NULL, index_unchanged);
		return check_unique != UNIQUE_CHECK_NO;
	}
	unique.mode = check_unique;
	unique.range = gpb_equal_range(index, &layout, values, isnull, entry.key);
	unique.tid = *heap_tid;
	unique.values = values;
	unique.isnull = isnull;
	insert_entry(index, &layout, heap, &entry, &unique, index_unchanged);
	return unique.is_unique;
}
