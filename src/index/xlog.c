/*-------------------------------------------------------------------------
 *
 * xlog.c
 *	  The WAL resource manager: redo, desc, identify, mask.
 *
 * Redo changes pages with the functions that changed them first, and marks them
 * in the mirror as the primary does (rule M2), also where it finds a full-page
 * image, which it restored, or a page that is newer than the record.  Blocks whose
 * left link or flags alone change are not marked, here as there.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/bufmask.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlog_internal.h"
#include "access/xloginsert.h"
#include "access/xlogutils.h"
#include "storage/buf_internals.h"
#include "storage/standby.h"
#include "utils/rel.h"

#include "mirror/mark.h"
#include "index/dictionary.h"
#include "index/xlog.h"

/*
 * Mark the record's block number block_id as changed in the mirror.  Its buffer is exclusively
 * locked, unless its file is gone.
 */
static void
redo_mark(XLogReaderState *record, uint8 block_id)
{
	RelFileNode file;
	ForkNumber	fork;
	BlockNumber block;

	XLogRecGetBlockTag(record, block_id, &file, &fork, &block);
	if (fork == MAIN_FORKNUM)
		gpb_mirror_mark(&file, block);
}

static void
redo_release(Buffer buffer)
{
	if (BufferIsValid(buffer))
		UnlockReleaseBuffer(buffer);
}

/* Finish the redo of a page: set its LSN and mark its buffer dirty. */
static void
redo_done(XLogReaderState *record, Buffer buffer)
{
	PageSetLSN(BufferGetPage(buffer), record->EndRecPtr);
	MarkBufferDirty(buffer);
}

/*
 * Clear the mark of an incomplete split on the left half, block block_id of the record, since the
 * record inserts the downlink.
 */
static void
redo_complete_split(XLogReaderState *record, uint8 block_id)
{
	Buffer		buffer;

	if (XLogReadBufferForRedo(record, block_id, &buffer) == BLK_NEEDS_REDO)
	{
		gpb_special(BufferGetPage(buffer))->flags &= ~GPB_PAGE_INCOMPLETE_SPLIT;
		redo_done(record, buffer);
	}
	redo_release(buffer);
}

/* Redo the insertion of an entry, having checked that it fits. */
static void
redo_entry(Page page, uint16 position, const char *key, const char *row)
{
	if (position > gpb_page_count(page) || !gpb_page_has_room(page))
		elog(PANIC, "gpubtree redo: no place for an entry at position %u",
			 position);
	gpb_page_insert(page, position, key, row);
}

/*
 * Redo the insertion of an entry; "inner" says that it is a downlink.  The child is done first.
 * Between the two a writer would finish the split again, but during recovery there is none, and
 * readers do not look at the mark.
 */
static void
redo_insert(XLogReaderState *record, bool inner)
{
	Buffer		buffer;

	if (inner)
		redo_complete_split(record, 1);

	if (XLogReadBufferForRedo(record, 0, &buffer) == BLK_NEEDS_REDO)
	{
		Page		page = BufferGetPage(buffer);
		const GpbPageSpecial *special = gpb_special(page);
		Size		length;
		char	   *data = XLogRecGetBlockData(record, 0, &length);
		uint16		position;

		if (length != sizeof(position) + special->key_width + gpb_spread_row_width(page))
			elog(PANIC, "gpubtree redo: entry of %zu bytes", length);
		memcpy(&position, data, sizeof(position));
		data += sizeof(position);
		redo_entry(page, position, data, data + special->key_width);
		redo_done(record, buffer);
	}
	if (BufferIsValid(buffer))
		redo_mark(record, 0);
	redo_release(buffer);
}

/* Build the new right half of a split from the record alone.  It is locked on return. */
static Buffer
redo_split_right(XLogReaderState *record, const xl_gpb_split *split)
{
	Buffer		buffer = XLogInitBufferForRedo(record, 1);
	Page		page = BufferGetPage(buffer);
	GpbPageSpecial *special = gpb_special(page);
	PageHeader	header = (PageHeader) page;
	Size		length;
	char	   *data = XLogRecGetBlockData(record, 1, &length);
	int			keys = gpb_key_place(split->key_width, 0);
	uint16		lower;
	BlockNumber left;
	BlockNumber sibling;

	XLogRecGetBlockTag(record, 0, NULL, NULL, &left);
	if (!XLogRecGetBlockTagExtended(record, 2, NULL, NULL, &sibling, NULL))
		sibling = GPB_NO_BLOCK;

	gpb_page_init(page, split->level, 0, split->key_width, split->row_width);
	special->left = left;
	special->right = sibling;
	gpb_set_high(page, split->right_high);
	gpb_set_low(page, split->high);
	if (gpb_has_runs(split->row_width))
	{
		memcpy(&lower, data, sizeof(lower));
		data += sizeof(lower);
		length -= sizeof(lower);
	}
	else
		lower = gpb_key_place(split->key_width,
							  length / (split->key_width + split->row_width));
	header->pd_lower = lower;
	header->pd_upper = GPB_SPECIAL_OFFSET - (length - (lower - keys));
	memcpy((char *) page + keys, data, lower - keys);
	memcpy((char *) page + header->pd_upper, data + (lower - keys),
		   GPB_SPECIAL_OFFSET - header->pd_upper);
	redo_done(record, buffer);
	redo_mark(record, 1);
	return buffer;
}

/* Change the left half of a split in place.  It is locked on return, if its file still has it. */
static Buffer
redo_split_left(XLogReaderState *record, const xl_gpb_split *split)
{
	Buffer		buffer;

	if (XLogReadBufferForRedo(record, 0, &buffer) == BLK_NEEDS_REDO)
	{
		Page		page = BufferGetPage(buffer);
		GpbPageSpecial *special = gpb_special(page);

		if (split->kept > gpb_page_count(page))
			elog(PANIC, "gpubtree redo: split keeps %u entries of %d",
				 split->kept, gpb_page_count(page));
		gpb_page_truncate(page, split->kept);
		if (split->position != GPB_NOT_ON_LEFT)
		{
			char	   *data = XLogRecGetBlockData(record, 0, NULL);

			redo_entry(page, split->position, data,
					   data + split->key_width);
		}
		gpb_set_high(page, split->high);
		XLogRecGetBlockTag(record, 1, NULL, NULL, &special->right);
		special->flags |= GPB_PAGE_INCOMPLETE_SPLIT;
		redo_done(record, buffer);
	}
	if (BufferIsValid(buffer))
		redo_mark(record, 0);
	return buffer;
}

/*
 * Redo a split.  All pages of the level stay locked until the last one is done, so that a reader on
 * a standby finds links in both directions as on the primary.
 */
static void
redo_split(XLogReaderState *record)
{
	const xl_gpb_split *split = (xl_gpb_split *) XLogRecGetData(record);
	Buffer		left;
	Buffer		right;
	Buffer		sibling = InvalidBuffer;

	if (XLogRecHasBlockRef(record, 3))
		redo_complete_split(record, 3);

	left = redo_split_left(record, split);
	right = redo_split_right(record, split);
	if (XLogRecHasBlockRef(record, 2) &&
		XLogReadBufferForRedo(record, 2, &sibling) == BLK_NEEDS_REDO)
	{
		XLogRecGetBlockTag(record, 1, NULL, NULL,
						   &gpb_special(BufferGetPage(sibling))->left);
		redo_done(record, sibling);
	}

	redo_release(sibling);
	redo_release(right);
	redo_release(left);
}

StaticAssertDecl(offsetof(xl_gpb_new_root, builder) ==
				 MAXALIGN(offsetof(xl_gpb_new_root, meta) + sizeof(GpbMeta)),
				 "records without a builder end, with their padding, where it lies");

/*
 * Redo the growth of the tree by a new root.  Root and metapage stay locked until both are done.
 */
static void
redo_new_root(XLogReaderState *record)
{
	const xl_gpb_new_root *data = (xl_gpb_new_root *) XLogRecGetData(record);
	GpbLayout	layout;
	Buffer		root;
	Buffer		meta;
	BlockNumber left;

	redo_complete_split(record, 1);

	XLogRecGetBlockTag(record, 1, NULL, NULL, &left);
	root = XLogInitBufferForRedo(record, 0);
	gpb_page_init(BufferGetPage(root), data->meta.level, 0,
				  data->meta.key_width, GPB_INNER_ROW_WIDTH);
	gpb_fill_root(BufferGetPage(root), left, data->right, data->key, data->tie);
	redo_done(record, root);
	redo_mark(record, 0);

	memset(&layout, 0, sizeof(layout));
	layout.key_width = data->meta.key_width;
	layout.row_width = data->meta.row_width;
	layout.flags = data->meta.layout_flags;
	layout.key_kind = data->meta.key_kind;
	layout.nkeys = data->meta.nkeys;
	memcpy(layout.key, data->meta.key, sizeof(layout.key));
	meta = XLogInitBufferForRedo(record, 2);
	gpb_meta_init(BufferGetPage(meta), &layout, data->meta.root,
				  data->meta.level);
	/* What the layout here lacks is in the record. */
	*gpb_meta(BufferGetPage(meta)) = data->meta;
	if (XLogRecGetDataLen(record) > offsetof(xl_gpb_new_root, builder))
		gpb_meta_set_builder(BufferGetPage(meta), data->builder);
	redo_done(record, meta);
	redo_mark(record, 2);

	UnlockReleaseBuffer(meta);
	UnlockReleaseBuffer(root);
}

/* Redo that a leaf got runs. */
static void
redo_give_runs(XLogReaderState *record)
{
	Buffer		buffer;

	if (XLogReadBufferForRedo(record, 0, &buffer) == BLK_NEEDS_REDO)
	{
		Page		page = BufferGetPage(buffer);

		if (gpb_special(page)->level > 0 || gpb_page_row_width(page) != GPB_LOCATOR_WIDTH)
			elog(PANIC, "gpubtree redo: a page that cannot have runs");
		gpb_page_give_runs(page);
		redo_done(record, buffer);
	}
	if (BufferIsValid(buffer))
		redo_mark(record, 0);
	redo_release(buffer);
}

/* Redo the removal of entries, under a cleanup lock if VACUUM had one. */
static void
redo_remove(XLogReaderState *record, bool cleanup)
{
	Buffer		buffer;

	if (XLogReadBufferForRedoExtended(record, 0, RBM_NORMAL, cleanup,
									  &buffer) == BLK_NEEDS_REDO)
	{
		Page		page = BufferGetPage(buffer);
		Size		length;
		uint16	   *positions = (uint16 *) XLogRecGetBlockData(record, 0,
															   &length);
		int			n = length / sizeof(uint16);

		if (n == 0 || positions[n - 1] >= gpb_page_count(page))
			elog(PANIC, "gpubtree redo: no entry to remove");
		gpb_page_delete(page, positions, n);
		redo_done(record, buffer);
	}
	if (BufferIsValid(buffer))
		redo_mark(record, 0);
	redo_release(buffer);
}

/*
 * Redo a simple deletion.  Snapshots that may need the entries are cancelled before the page
 * changes.
 */
static void
redo_delete(XLogReaderState *record)
{
	const xl_gpb_delete *data = (xl_gpb_delete *) XLogRecGetData(record);

	if (InHotStandby)
	{
		RelFileNode file;

		XLogRecGetBlockTag(record, 0, &file, NULL, NULL);
		GPB_RESOLVE_CONFLICT(data->latest_removed_xid, data->is_catalog, file);
	}
	redo_remove(record, false);
}

/*
 * Lock a page of UNLINK or MOVE.  Returns whether it is to be changed; it stays locked in either
 * case, and is marked in the mirror.
 */
static bool
redo_unlinked(XLogReaderState *record, uint8 block_id, Buffer *buffer)
{
	bool		todo = XLogReadBufferForRedo(record, block_id, buffer) == BLK_NEEDS_REDO;

	if (BufferIsValid(*buffer))
		redo_mark(record, block_id);
	if (todo)
		redo_done(record, *buffer);
	return todo;
}

/*
 * Redo a deletion.  All pages stay locked until the last one is done, as on the primary: so a
 * reader that comes to a deleted page and begins its search anew does not find the way there any
 * more.
 *
 * No cleanup lock is needed.  A scan that holds a pin on the page may have a copy of entries that a
 * simple deletion removed; the redo of VACUUM_PASS waits for it before their rows are recycled,
 * whatever the block is by then.
 */
static void
redo_unlink(XLogReaderState *record)
{
	const xl_gpb_unlink *data = (xl_gpb_unlink *) XLogRecGetData(record);
	GpbBound	low = {data->low_key, data->low_tie};
	Buffer		buffers[3 * (GPB_MAX_LEVEL + 1) + 1];
	BlockNumber right = GPB_NO_BLOCK;
	int			n = 0;

	gpb_note_unlink();
	for (int i = 0; i < data->nlevels; i++)
	{
		BlockNumber left = GPB_NO_BLOCK;

		XLogRecGetBlockTag(record, 3 * i + 2, NULL, NULL, &right);
		if (XLogRecHasBlockRef(record, 3 * i))
		{
			XLogRecGetBlockTag(record, 3 * i, NULL, NULL, &left);
			if (redo_unlinked(record, 3 * i, &buffers[n++]))
				gpb_unlink_left(BufferGetPage(buffers[n - 1]), right);
		}
		if (redo_unlinked(record, 3 * i + 1, &buffers[n++]))
			gpb_unlink_page(BufferGetPage(buffers[n - 1]));
		if (redo_unlinked(record, 3 * i + 2, &buffers[n++]))
			gpb_unlink_right(BufferGetPage(buffers[n - 1]), left, low);
	}
	if (redo_unlinked(record, 3 * data->nlevels, &buffers[n++]))
	{
		Page		page = BufferGetPage(buffers[n - 1]);

		if (data->position + 1 >= gpb_page_count(page))
			elog(PANIC, "gpubtree redo: no downlink at position %u", data->position);
		gpb_unlink_parent(page, data->position, right);
	}
	while (n > 0)
		redo_release(buffers[--n]);
}

/*
 * Redo a move.  The primary had the index locked against everybody, and a standby has; the pages
 * stay locked until the last one is done for the sake of processes without a lock, which copy pages
 * for the mirror.
 */
static void
redo_move(XLogReaderState *record)
{
	const xl_gpb_move *data = (xl_gpb_move *) XLogRecGetData(record);
	Buffer		buffers[5];
	BlockNumber target;
	int			n = 0;

	gpb_note_unlink();
	XLogRecGetBlockTag(record, 0, NULL, NULL, &target);
	if (XLogReadBufferForRedo(record, 0, &buffers[n++]) != BLK_RESTORED)
		elog(PANIC, "gpubtree redo: no image of a page that is moved");
	redo_mark(record, 0);
	if (redo_unlinked(record, 1, &buffers[n++]))
		gpb_move_from(BufferGetPage(buffers[n - 1]), target);
	if (redo_unlinked(record, 2, &buffers[n++]))
	{
		Page		page = BufferGetPage(buffers[n - 1]);

		if (data->position != GPB_MOVED_ROOT && data->position >= gpb_page_count(page))
			elog(PANIC, "gpubtree redo: no downlink at position %u", data->position);
		gpb_move_link(page, data->position, target);
	}
	if (XLogRecHasBlockRef(record, 3) && redo_unlinked(record, 3, &buffers[n++]))
		gpb_special(BufferGetPage(buffers[n - 1]))->right = target;
	if (XLogRecHasBlockRef(record, 4))
	{
		if (XLogReadBufferForRedo(record, 4, &buffers[n++]) == BLK_NEEDS_REDO)
		{
			gpb_special(BufferGetPage(buffers[n - 1]))->left = target;
			redo_done(record, buffers[n - 1]);
		}
	}
	while (n > 0)
		redo_release(buffers[--n]);
}

/*
 * Get the block of the file that a shared buffer holds, if anybody has pinned that buffer; else
 * InvalidBlockNumber.
 */
static BlockNumber
pinned_block(int buffer_id, const RelFileNode *file)
{
	BufferDesc *descriptor = GetBufferDescriptor(buffer_id);
	BlockNumber block = InvalidBlockNumber;
	GpbBufferState state;

	/* A buffer that somebody has pinned keeps its tag, so the tag can be read before locking. */
	if (!BufTagMatchesRelFileLocator(&descriptor->tag, file))
		return InvalidBlockNumber;

	state = LockBufHdr(descriptor);
	if (BufTagMatchesRelFileLocator(&descriptor->tag, file) &&
		descriptor->tag.forkNum == MAIN_FORKNUM &&
		(state & BM_VALID) != 0 && BUF_STATE_GET_REFCOUNT(state) > 0)
		block = descriptor->tag.blockNum;
	GPB_UNLOCK_HEADER(descriptor, state, 0);
	return block;
}

/*
 * Wait, as VACUUM did, for every scan that has a leaf pinned.
 *
 * The entries that VACUUM removed are gone from all pages by now, so scans that come later do not
 * matter.  Scans that came earlier have their pages in shared buffers, so no page need be read.
 */
static void
redo_vacuum_pass(XLogReaderState *record)
{
	RelFileNode file;

	if (!InHotStandby)
		return;
	memcpy(&file, XLogRecGetData(record), sizeof(file));
	for (int i = 0; i < NBuffers; i++)
	{
		BlockNumber block = pinned_block(i, &file);
		Buffer		buffer;

		if (block == InvalidBlockNumber)
			continue;
		buffer = XLogReadBufferExtended(file, MAIN_FORKNUM, block, RBM_NORMAL,
										InvalidBuffer);
		if (!BufferIsValid(buffer))
			continue;
		LockBufferForCleanup(buffer);
		UnlockReleaseBuffer(buffer);
	}
}

/* Discard the mirror of a file that is being built anew, or dropped (rule M1). */
static void
redo_forget(XLogReaderState *record)
{
	RelFileNode file;

	memcpy(&file, XLogRecGetData(record), sizeof(file));
	gpb_mirror_forget(&file);
}

/* Redo that a transaction gave up its locks: PostgreSQL keeps them for it to its end. */
static void
redo_unlocked(XLogReaderState *record)
{
	TransactionId xid;

	memcpy(&xid, XLogRecGetData(record), sizeof(xid));
	if (standbyState != STANDBY_DISABLED)
		StandbyReleaseLockTree(xid, 0, NULL);
}

/* rm_redo: redo a record. */
static void
redo(XLogReaderState *record)
{
	uint8		info = XLogRecGetInfo(record) & ~XLR_INFO_MASK;

	switch (info)
	{
		case GPB_XLOG_INSERT_LEAF:
			redo_insert(record, false);
			break;
		case GPB_XLOG_INSERT_INNER:
			redo_insert(record, true);
			break;
		case GPB_XLOG_SPLIT:
			redo_split(record);
			break;
		case GPB_XLOG_NEW_ROOT:
			redo_new_root(record);
			break;
		case GPB_XLOG_VACUUM:
			redo_remove(record, true);
			break;
		case GPB_XLOG_DELETE:
			redo_delete(record);
			break;
		case GPB_XLOG_FORGET:
			redo_forget(record);
			break;
		case GPB_XLOG_VACUUM_PASS:
			redo_vacuum_pass(record);
			break;
		case GPB_XLOG_UNLINK:
			redo_unlink(record);
			break;
		case GPB_XLOG_DICTIONARY_PAGE:
			gpb_redo_dictionary_page(record);
			break;
		case GPB_XLOG_DICTIONARY_VALUE:
			gpb_redo_dictionary_value(record);
			break;
		case GPB_XLOG_GIVE_RUNS:
			redo_give_runs(record);
			break;
		case GPB_XLOG_MOVE:
			redo_move(record);
			break;
		case GPB_XLOG_UNLOCKED:
			redo_unlocked(record);
			break;
		default:
			elog(PANIC, "gpubtree redo: unknown record type %u", info);
	}
}

/*
 * Describe an insertion by the entry's position, unless a full-page image took the block data's
 * place.
 */
static void
desc_insert(StringInfo buf, XLogReaderState *record)
{
	Size		length;
	char	   *data = XLogRecGetBlockData(record, 0, &length);
	uint16		position;

	if (data == NULL)
		return;
	memcpy(&position, data, sizeof(position));
	appendStringInfo(buf, "position %u", position);
}

/*
 * Describe a removal by the number of entries, unless a full-page image took the block data's
 * place.
 */
static void
desc_remove(StringInfo buf, XLogReaderState *record)
{
	Size		length;

	if (XLogRecGetBlockData(record, 0, &length) != NULL)
		appendStringInfo(buf, "count %zu", length / sizeof(uint16));
}

/* Describe a value by its column and length, unless an image took the block data's place. */
static void
desc_value(StringInfo buf, XLogReaderState *record)
{
	GpbDictionaryValue value;
	char	   *data = XLogRecGetBlockData(record, 0, NULL);

	if (data == NULL)
		return;
	memcpy(&value, data, sizeof(value));
	appendStringInfo(buf, "column %u, length %u", value.column, value.length);
}

/* rm_desc: describe a record. */
static void
desc(StringInfo buf, XLogReaderState *record)
{
	char	   *data = XLogRecGetData(record);

	switch (XLogRecGetInfo(record) & ~XLR_INFO_MASK)
	{
		case GPB_XLOG_INSERT_LEAF:
		case GPB_XLOG_INSERT_INNER:
			desc_insert(buf, record);
			break;
		case GPB_XLOG_SPLIT:
			{
				xl_gpb_split *split = (xl_gpb_split *) data;

				appendStringInfo(buf, "level %u, kept %u", split->level,
								 split->kept);
				if (split->position != GPB_NOT_ON_LEFT)
					appendStringInfo(buf, ", new entry at %u",
									 split->position);
				break;
			}
		case GPB_XLOG_NEW_ROOT:
			{
				xl_gpb_new_root *root = (xl_gpb_new_root *) data;

				appendStringInfo(buf, "root %u, level %u", root->meta.root,
								 root->meta.level);
				break;
			}
		case GPB_XLOG_DELETE:
			appendStringInfo(buf, "latestRemovedXid %u, ",
							 ((xl_gpb_delete *) data)->latest_removed_xid);
			desc_remove(buf, record);
			break;
		case GPB_XLOG_VACUUM:
			desc_remove(buf, record);
			break;
		case GPB_XLOG_UNLINK:
			appendStringInfo(buf, "levels %u, position %u", ((xl_gpb_unlink *) data)->nlevels,
							 ((xl_gpb_unlink *) data)->position);
			break;
		case GPB_XLOG_MOVE:
			{
				uint16		position = ((xl_gpb_move *) data)->position;

				if (position == GPB_MOVED_ROOT)
					appendStringInfoString(buf, "root");
				else
					appendStringInfo(buf, "position %u", position);
				break;
			}
		case GPB_XLOG_UNLOCKED:
			{
				TransactionId xid;

				memcpy(&xid, data, sizeof(xid));
				appendStringInfo(buf, "xid %u", xid);
				break;
			}
		case GPB_XLOG_DICTIONARY_PAGE:
			{
				uint32		code;

				memcpy(&code, data, sizeof(code));
				appendStringInfo(buf, "from code %u", code);
				break;
			}
		case GPB_XLOG_DICTIONARY_VALUE:
			desc_value(buf, record);
			break;
		case GPB_XLOG_FORGET:
		case GPB_XLOG_VACUUM_PASS:
			{
				RelFileNode file;

				memcpy(&file, data, sizeof(file));
				appendStringInfo(buf, "rel %u/%u/%u", file.spcNode,
								 file.dbNode, file.relNode);
				break;
			}
	}
}

/* rm_identify: name the record's type. */
static const char *
identify(uint8 info)
{
	switch (info & ~XLR_INFO_MASK)
	{
		case GPB_XLOG_INSERT_LEAF:
			return "INSERT_LEAF";
		case GPB_XLOG_INSERT_INNER:
			return "INSERT_INNER";
		case GPB_XLOG_SPLIT:
			return "SPLIT";
		case GPB_XLOG_NEW_ROOT:
			return "NEW_ROOT";
		case GPB_XLOG_VACUUM:
			return "VACUUM";
		case GPB_XLOG_DELETE:
			return "DELETE";
		case GPB_XLOG_FORGET:
			return "FORGET";
		case GPB_XLOG_VACUUM_PASS:
			return "VACUUM_PASS";
		case GPB_XLOG_UNLINK:
			return "UNLINK";
		case GPB_XLOG_DICTIONARY_PAGE:
			return "DICTIONARY_PAGE";
		case GPB_XLOG_DICTIONARY_VALUE:
			return "DICTIONARY_VALUE";
		case GPB_XLOG_GIVE_RUNS:
			return "GIVE_RUNS";
		case GPB_XLOG_MOVE:
			return "MOVE";
		case GPB_XLOG_UNLOCKED:
			return "UNLOCKED";
	}
	return NULL;
}

/*
 * Mask what redo need not reproduce: LSN and checksum, the hole, and dead hints, which are set
 * without WAL, with the page flag that announces them.
 */
static void
mask(char *pagedata, BlockNumber block)
{
	Page		page = (Page) pagedata;
	GpbPageSpecial *special = gpb_special(page);
	int			count;
	int			i;

	mask_page_lsn_and_checksum(page);
	mask_unused_space(page);
	if ((special->flags & (GPB_PAGE_META | GPB_PAGE_DICTIONARY)) != 0 || special->level > 0)
		return;

	special->flags &= ~GPB_PAGE_HAS_DEAD;
	count = gpb_page_count(page);
	for (i = 0; i < count; i++)
	{
		char	   *row = (char *) gpb_page_row(page, special->row_width, i);
		uint64		locator;

		if (gpb_has_runs(special->row_width))
		{
			*(uint16 *) row &= ~GPB_SHORT_DEAD;
			continue;
		}
		locator = gpb_row_locator(row) & ~GPB_LOC_DEAD;
		memcpy(row, &locator, sizeof(locator));
	}
}

static RmgrData rmgr = {
	.rm_name = GPB_RMGR_NAME,
	.rm_redo = redo,
	.rm_desc = desc,
	.rm_identify = identify,
	.rm_mask = mask,
};

void
gpb_register_rmgr(void)
{
	RegisterCustomRmgr(GPB_RMGR_ID, &rmgr);
}

/* Log a record about the file of an index as a whole. */
static void
xlog_log_file(RelFileNode file, uint8 info)
{
	XLogBeginInsert();
	XLogRegisterData((char *) &file, sizeof(file));
	(void) XLogInsert(GPB_RMGR_ID, info);
}

void
gpb_xlog_log_forget(Relation index)
{
	if (RelationNeedsWAL(index))
		xlog_log_file(index->rd_node, GPB_XLOG_FORGET);
}

void
gpb_xlog_log_forget_file(const RelFileNode *file)
{
	xlog_log_file(*file, GPB_XLOG_FORGET);
}

void
gpb_xlog_log_vacuum_pass(Relation index)
{
	if (RelationNeedsWAL(index) && XLogStandbyInfoActive())
		xlog_log_file(index->rd_node, GPB_XLOG_VACUUM_PASS);
}

/* Nothing that follows need flush the record, so the WAL writer is told of it. */
void
gpb_xlog_log_unlocked(void)
{
	TransactionId xid = GetCurrentTransactionIdIfAny();

	if (!XLogStandbyInfoActive() || !TransactionIdIsValid(xid))
		return;
	XLogBeginInsert();
	XLogRegisterData((char *) &xid, sizeof(xid));
	XLogSetAsyncXactLSN(XLogInsert(GPB_RMGR_ID, GPB_XLOG_UNLOCKED));
}
