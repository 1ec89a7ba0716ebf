/*-------------------------------------------------------------------------
 *
 * check.c
 *	  gpubtree_check: is every promise of the tree kept?
 *
 * The checker takes AccessShareLock and runs beside writers without false
 * alarms, because it keeps pages from being deleted (GPB_GATE_DELETE) and compares only what cannot
 * change then: a page's level, its low bound (the separator it was split off with),
 * and each (separator, child) pair ever written.  High keys and right links do change;
 * they are compared under the locks of both pages.  src/index/README, "Checking".
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"
#include "hold.h"

#include "access/genam.h"
#include "access/relation.h"
#include "access/table.h"
#include "access/xact.h"
#include "access/xlog.h"
#include "access/xlogrecovery.h"
#include "catalog/index.h"
#include "fmgr.h"
#include "miscadmin.h"
#include "storage/bufmgr.h"
#include "utils/acl.h"
#include "utils/guc.h"
#include "utils/rel.h"
#include "utils/resowner.h"

#include "index/dictionary.h"
#include "index/index.h"
#include "mirror/mark.h"

PG_FUNCTION_INFO_V1(gpubtree_check);

/* How often a check on a standby begins anew, beside replay that deletes pages */
#define GPB_CHECKS_BESIDE_REPLAY	100

typedef struct GpbCheck
{
	Relation	index;
	GpbLayout	layout;			/* a copy, since the relcache may free its own */
	GpbDictionary *dictionary;	/* read by this check; NULL if the index has none */
	uint32		elsewhere;		/* columns of which the dictionary says that values are elsewhere */
	BufferAccessStrategy strategy;
	BlockNumber nblocks;		/* length of the file when the check began */
	BlockNumber length;			/* length of the file when it was last looked at */
	uint8	   *seen;			/* one bit for each of nblocks blocks */
} GpbCheck;

/* One page of a walk along a level, from left to right */
typedef struct GpbCursor
{
	BlockNumber block;			/* InvalidBlockNumber after the end of the level */
	uint32		level;
	GpbBound	low;			/* the page's low bound, which does not change while we check */
	bool		left_incomplete;	/* the left sibling was marked INCOMPLETE_SPLIT */
	PGAlignedBlock image;		/* the page as it was when the walk reached it */
} GpbCursor;

/* The downlinks of a parent level in order, over all of its pages */
typedef struct GpbDownlinks
{
	GpbCursor	cursor;
	int			position;		/* position of the current downlink in the image */
	GpbBound	separator;		/* separator of the current downlink */
	BlockNumber child;
} GpbDownlinks;

/* ---- saying what is wrong ---- */

static void damaged(GpbCheck *check, BlockNumber block, const char *what,
					const char *detail,...) pg_attribute_noreturn() pg_attribute_printf(4, 5);

/* Report corruption as gpb_corrupted() does, with the values that are wrong in the detail. */
static void
damaged(GpbCheck *check, BlockNumber block, const char *what,
		const char *detail,...)
{
	StringInfoData text;
	va_list		args;
	int			more;

	initStringInfo(&text);
	do
	{
		va_start(args, detail);
		more = appendStringInfoVA(&text, detail, args);
		va_end(args);
		if (more > 0)
			enlargeStringInfo(&text, more);
	} while (more > 0);

	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupted at block %u: %s",
					RelationGetRelationName(check->index), block, what),
			 errdetail_internal("%s", text.data),
			 errhint("REINDEX rebuilds the index from its table.")));
}

/* Write a key in digits, as many as it needs, for a message's detail. */
static const char *
key_text(GpbKey key)
{
	uint64		upper = (uint64) (key >> 64);

	return upper == 0 ? psprintf("%016llx", (unsigned long long) key) :
		psprintf("%016llx%016llx", (unsigned long long) upper, (unsigned long long) key);
}

/* Write a bound as "(key, tie)", as pages have them, for a message's detail. */
static const char *
bound_text(GpbBound bound)
{
	return psprintf("(%s, %u/%u%s)",
					key_text(bound.key),
					gpb_locator_block(bound.tie),
					gpb_locator_offset(bound.tie),
					(bound.tie & GPB_LOC_ORDER_BIT) ? "+" : "");
}

/* ---- reading ---- */

/*
 * Read and share-lock a tree page, and raise an error unless it is sound.  "from" is the block that
 * points to it, or InvalidBlockNumber if the page is known to exist.
 */
static Buffer
lock_page(GpbCheck *check, BlockNumber block, BlockNumber from)
{
	Buffer		buffer;
	const char *fault;

	if (block == from)
		damaged(check, block, "a link leads from the page to itself",
				"The index has %u blocks.", check->length);
	if (block >= check->length)
		check->length = RelationGetNumberOfBlocks(check->index);
	if (block >= check->length || block == GPB_META_BLOCK)
		damaged(check, from, "it points to a block that is no tree page",
				"It points to block %u, and the index has %u blocks.",
				block, check->length);

	buffer = gpb_pin(check->index, InvalidBuffer, block, check->strategy);
	LockBuffer(buffer, BUFFER_LOCK_SHARE);
	fault = gpb_page_fault(BufferGetPage(buffer), &check->layout);
	if (fault != NULL)
		gpb_corrupted(check->index, block, fault);
	return buffer;
}

static bool
was_seen(GpbCheck *check, BlockNumber block)
{
	return (check->seen[block / 8] & (1 << (block % 8))) != 0;
}

/* Note that the block has been reached, and raise an error if it was before: each may be once. */
static void
reach(GpbCheck *check, BlockNumber block)
{
	if (block >= check->nblocks)
		return;					/* a page made since the check began */
	if (was_seen(check, block))
		damaged(check, block, "it is reached twice",
				"Two links lead to the page.");
	check->seen[block / 8] |= 1 << (block % 8);
}

/* ---- one page ---- */

/* Require that the index says that INCLUDE column c has values that are elsewhere. */
static void
check_elsewhere(GpbCheck *check, BlockNumber block, int i, int c)
{
	if ((check->elsewhere >> c & 1) == 0)
		check->elsewhere = gpb_dictionary_elsewhere(check->index, &check->layout);
	if ((check->elsewhere >> c & 1) == 0)
		damaged(check, block, "a value is elsewhere, and the dictionary does not know",
				"Entry %d, INCLUDE column %d.", i, c + 1);
}

/* Check entry i of the cursor's leaf: its heap TID, its NULL bits, and its key. */
static void
check_leaf_entry(GpbCheck *check, GpbCursor *cursor, int i)
{
	const GpbLayout *layout = &check->layout;
	int			row_width = gpb_page_row_width(cursor->image.data);
	const char *row = gpb_page_row(cursor->image.data, row_width, i);
	uint64		locator = gpb_stored_locator(row, row_width);
	GpbKey		key = gpb_leaf_key(cursor->image.data, layout->key_width, row_width, i);
	uint64		columns = ((uint64) 1 << layout->ncolumns) - 1;

	if (gpb_locator_offset(locator) < FirstOffsetNumber ||
		gpb_locator_offset(locator) > MaxOffsetNumber ||
		gpb_locator_block(locator) == InvalidBlockNumber)
		damaged(check, cursor->block, "an entry points to no possible row",
				"Entry %d points to (%u,%u).", i,
				gpb_locator_block(locator), gpb_locator_offset(locator));

	if ((locator >> GPB_LOC_NULL_SHIFT) & ~columns)
		damaged(check, cursor->block,
				"an entry has null bits of columns that do not exist",
				"Entry %d has locator %016llx; the index has %d INCLUDE columns.",
				i, (unsigned long long) locator, layout->ncolumns);

	for (int c = 0; check->dictionary != NULL && c < layout->ncolumns; c++)
	{
		uint32		code;

		if (layout->coding[c] != GPB_CODING_DICTIONARY || gpb_locator_column_is_null(locator, c))
			continue;
		code = (uint32) gpb_row_value(row, layout->offset[c], layout->kind[c]);
		if (code == GPB_ELSEWHERE)
			check_elsewhere(check, cursor->block, i, c);
		else if (!gpb_dictionary_has(check->index, check->dictionary, c, code))
			damaged(check, cursor->block, "an entry has a code that the dictionary lacks",
					"Entry %d has code %u in INCLUDE column %d.", i, code, c + 1);
	}

	if (layout->nkeys > 0)
	{
		const char *fault = gpb_columns_fault(layout, key);

		if (fault == NULL && (locator & GPB_LOC_ORDER_BIT))
			fault = "an entry of several key columns has the order bit";
		if (fault != NULL)
			damaged(check, cursor->block, fault, "Entry %d has key %s.", i, key_text(key));
	}
	else if (gpb_locator_is_null(locator, layout->flags))
	{
		GpbKey		null_key = 0;

		if (!(layout->flags & GPB_LAYOUT_NULLS_FIRST))
			null_key = gpb_key_most(layout->key_width);
		if (key != null_key)
			damaged(check, cursor->block, "a null key is not in its usual form",
					"Entry %d has key %s.", i, key_text(key));
	}
	else
	{
		GpbKeyRange range = {key, key};

		gpb_clip_to_type(layout, &range);
		if (range.lo > range.hi)
			damaged(check, cursor->block, "a key is beyond its type's range",
					"Entry %d has key %lld.", i,
					(long long) gpb_key_value((uint64) key, layout->key_width, layout->flags));
	}
}

/*
 * Check entry i of an inner page.  Its locator has a tie and nothing else, and the first entry is
 * the page's low bound.
 */
static void
check_inner_entry(GpbCheck *check, GpbCursor *cursor, int i)
{
	uint64		locator;

	locator = gpb_row_locator(gpb_page_row(cursor->image.data,
										   GPB_INNER_ROW_WIDTH, i));
	if (locator & ~GPB_TIE_MASK)
		damaged(check, cursor->block, "a separator carries flags",
				"Entry %d has locator %016llx.",
				i, (unsigned long long) locator);
}

/*
 * Check the ends and the keys of the runs that the cursor's leaf has: each run has entries, and
 * keys ascend from one to the next.
 */
static void
check_runs(GpbCheck *check, GpbCursor *cursor)
{
	const void *image = cursor->image.data;
	int			key_width = check->layout.key_width;
	int			n = gpb_page_runs(image, key_width);
	const uint16 *ends = gpb_run_ends(image, key_width, n);

	for (int r = 0; r < n; r++)
	{
		if (ends[r] <= (r > 0 ? ends[r - 1] : 0))
			damaged(check, cursor->block, "a run has no entries",
					"Run %d ends at entry %u.", r, ends[r]);
		if (r > 0 && gpb_page_key(image, key_width, r - 1) >= gpb_page_key(image, key_width, r))
			damaged(check, cursor->block, "keys of runs are out of order",
					"Run %d has key %s.", r, key_text(gpb_page_key(image, key_width, r)));
	}
}

/*
 * Check all that can be said about the cursor's page by itself, beyond what gpb_page_fault() does:
 * its bounds, the order of its entries, and the entries.
 */
static void
check_image(GpbCheck *check, GpbCursor *cursor)
{
	const void *image = cursor->image.data;
	const GpbPageSpecial *special = gpb_page_special(image);
	int			key_width = check->layout.key_width;
	bool		leaf = cursor->level == 0;
	int			row_width = gpb_page_row_width(image);
	int			count = gpb_page_count(image);
	GpbBound	high = gpb_page_high(image);
	GpbBound	previous = cursor->low;

	if (special->right != GPB_NO_BLOCK && (high.tie & ~GPB_TIE_MASK))
		damaged(check, cursor->block, "its high key carries flags",
				"Its high key has tie %016llx.", (unsigned long long) high.tie);
	if (gpb_bound_cmp(gpb_page_low(image), cursor->low) != 0)
		damaged(check, cursor->block, "its low bound is not its left sibling's high key",
				"It begins at %s instead of %s.",
				bound_text(gpb_page_low(image)), bound_text(cursor->low));
	if (!gpb_bound_less(cursor->low, high))
		damaged(check, cursor->block, "its high key is not above its low bound",
				"Low bound %s, high key %s.",
				bound_text(cursor->low), bound_text(high));

	if (!leaf)
	{
		GpbBound	first;

		first = gpb_page_bound(image, key_width, row_width, 0);
		if (gpb_bound_cmp(first, cursor->low) != 0)
			damaged(check, cursor->block,
					"its first separator is not its low bound",
					"Separator %s, low bound %s.",
					bound_text(first), bound_text(cursor->low));
	}

	if (gpb_has_runs(row_width))
		check_runs(check, cursor);
	for (int i = 0; i < count; i++)
	{
		GpbBound	entry = gpb_page_bound(image, key_width, row_width, i);

		if (i > 0 ? !gpb_bound_less(previous, entry)
			: gpb_bound_less(entry, previous))
			damaged(check, cursor->block, "its entries are out of order",
					"Entry %d is %s, after %s.", i, bound_text(entry),
					bound_text(previous));
		if (leaf)
			check_leaf_entry(check, cursor, i);
		else
			check_inner_entry(check, cursor, i);
		previous = entry;
	}
	if (count > 0 && !gpb_bound_less(previous, high))
		damaged(check, cursor->block, "an entry is not below the high key",
				"Entry %d is %s, the high key %s.", count - 1,
				bound_text(previous), bound_text(high));
}

/* ---- walking a level ---- */

/* Make a locked page the cursor's, with a copy of it.  Its lock is kept. */
static void
cursor_take(GpbCheck *check, GpbCursor *cursor, BlockNumber block,
			Buffer buffer, BlockNumber left)
{
	const GpbPageSpecial *special = gpb_page_special(BufferGetPage(buffer));

	cursor->block = block;
	memcpy(cursor->image.data, BufferGetPage(buffer), BLCKSZ);
	if (special->level != cursor->level)
		damaged(check, block, "it is on the wrong level",
				"It says level %u, where level %u is expected.",
				special->level, cursor->level);
	if ((special->flags & GPB_PAGE_DELETED) != 0)
		damaged(check, block, "it is marked deleted, and a link leads to it",
				"Its flags are %04x.", special->flags);
	if (special->left != left)
		damaged(check, block, "its left link is wrong",
				"It points to block %u, but the left sibling is block %u.",
				special->left, left);
}

/* Start at a level's leftmost page, which block "from" points to. */
static void
cursor_begin(GpbCheck *check, GpbCursor *cursor, uint32 level,
			 BlockNumber block, BlockNumber from)
{
	Buffer		buffer = lock_page(check, block, from);

	cursor->level = level;
	cursor->low = GPB_BOUND_MIN;
	cursor->left_incomplete = false;
	cursor_take(check, cursor, block, buffer, InvalidBlockNumber);
	UnlockReleaseBuffer(buffer);
	check_image(check, cursor);
}

/*
 * Move the cursor right.  Both pages are locked meanwhile, so that the two links and the bound
 * between them are of one moment.  The page that is left may have been split since its image was
 * taken; then the cursor comes to its new sibling and meets some entries again.
 */
static void
cursor_next(GpbCheck *check, GpbCursor *cursor)
{
	BlockNumber block = cursor->block;
	GpbPageSpecial special;
	Buffer		buffer;
	Buffer		right;

	CHECK_FOR_INTERRUPTS();

	buffer = lock_page(check, block, InvalidBlockNumber);
	special = *gpb_page_special(BufferGetPage(buffer));
	if (special.right == GPB_NO_BLOCK)
	{
		UnlockReleaseBuffer(buffer);
		cursor->block = InvalidBlockNumber;
		return;
	}

	right = lock_page(check, special.right, block);
	cursor->low = gpb_page_high(BufferGetPage(buffer));
	cursor->left_incomplete = (special.flags & GPB_PAGE_INCOMPLETE_SPLIT) != 0;
	cursor_take(check, cursor, special.right, right, block);
	UnlockReleaseBuffer(right);
	UnlockReleaseBuffer(buffer);
	check_image(check, cursor);
}

/* ---- downlinks ---- */

/* Read the current downlink from the image of the parent page. */
static void
downlinks_read(GpbCheck *check, GpbDownlinks *down)
{
	const void *image = down->cursor.image.data;

	down->separator = gpb_page_bound(image, check->layout.key_width,
									 GPB_INNER_ROW_WIDTH, down->position);
	down->child = gpb_row_child(gpb_page_row(image, GPB_INNER_ROW_WIDTH,
											 down->position));
}

/*
 * Go to the next downlink.  If the parent was split since its image was taken, the image has had
 * all that moved to the new page, so the new page is passed over.  At the end the cursor's block is
 * invalid.
 */
static void
downlinks_next(GpbCheck *check, GpbDownlinks *down)
{
	GpbBound	last = down->separator;

	do
	{
		down->position++;
		while (down->position >= gpb_page_count(down->cursor.image.data))
		{
			cursor_next(check, &down->cursor);
			if (down->cursor.block == InvalidBlockNumber)
				return;
			down->position = 0;
		}
		downlinks_read(check, down);
	} while (!gpb_bound_less(last, down->separator));
}

/* Is the downlink of the cursor's page in the tree now? */
static bool
find_downlink(GpbCheck *check, GpbCursor *cursor)
{
	int			key_width = check->layout.key_width;
	GpbMeta		meta;
	Buffer		buffer;
	Page		page;
	int			count;
	int			position;
	bool		found;

	gpb_read_meta(check->index, &check->layout, &meta);
	if (meta.level <= cursor->level)
		return false;

	buffer = gpb_search_level(check->index, &check->layout, cursor->low,
							  cursor->level + 1, BUFFER_LOCK_SHARE);
	page = BufferGetPage(buffer);
	count = gpb_page_count(page);
	position = gpb_page_lower_bound(page, key_width, GPB_INNER_ROW_WIDTH, count,
									cursor->low);
	found = position < count &&
		gpb_bound_cmp(gpb_page_bound(page, key_width, GPB_INNER_ROW_WIDTH,
									 position), cursor->low) == 0 &&
		gpb_row_child(gpb_page_row(page, GPB_INNER_ROW_WIDTH,
								   position)) == cursor->block;
	UnlockReleaseBuffer(buffer);
	return found;
}

/*
 * Wait until the record that is being replayed, if any, has been replayed.  The caller holds no
 * lock.
 */
static void
wait_for_replay(void)
{
	XLogRecPtr	replaying = GetCurrentReplayRecPtr(NULL);

	while (GetXLogReplayRecPtr(NULL) < replaying)
	{
		CHECK_FOR_INTERRUPTS();
		pg_usleep(1000L);
	}
}

/*
 * Check a page that had no downlink in the image of its parent level, the cursor's.  That is right
 * if the split that made the page is not finished, or was finished after the image was taken: then
 * its downlink is in the tree by now.  (Replay takes the mark from the left sibling first, and puts
 * the downlink in afterwards.)
 */
static void
require_downlink(GpbCheck *check, GpbCursor *cursor)
{
	if (cursor->left_incomplete || find_downlink(check, cursor))
		return;
	if (RecoveryInProgress())
	{
		wait_for_replay();
		if (find_downlink(check, cursor))
			return;
	}
	damaged(check, cursor->block, "it has no downlink",
			"It is on level %u, its low bound is %s.",
			cursor->level, bound_text(cursor->low));
}

/*
 * Match the cursor's page with the current downlink, and step past the downlink if it is the page's
 * own.
 *
 * The parent's image is older than the page's: the current downlink was read before the cursor
 * moved here.  So the page that the downlink leads to was in the chain of right links already, and
 * cannot be passed over.
 */
static void
match_downlink(GpbCheck *check, GpbCursor *cursor, GpbDownlinks *down)
{
	int			order = -1;

	if (down->cursor.block != InvalidBlockNumber)
		order = gpb_bound_cmp(cursor->low, down->separator);

	if (order > 0)
		damaged(check, down->cursor.block,
				"a downlink's separator is no page's low bound",
				"Downlink %s to block %u, but the next page is block %u and begins at %s.",
				bound_text(down->separator), down->child, cursor->block,
				bound_text(cursor->low));
	if (order < 0)
	{
		require_downlink(check, cursor);
		return;
	}
	if (down->child != cursor->block)
		damaged(check, down->cursor.block, "a downlink leads to the wrong page",
				"Downlink %s leads to block %u, but block %u begins there.",
				bound_text(down->separator), down->child, cursor->block);
	if (cursor->left_incomplete)
		damaged(check, cursor->block,
				"it has a downlink, though its left sibling is marked half split",
				"Its low bound is %s.", bound_text(cursor->low));
	downlinks_next(check, down);
}

/* ---- the tree ---- */

/*
 * Check one level from its leftmost page.  "parent" is the leftmost page of the level above, with
 * which the level is compared, or invalid if this is the root's level.  Returns the leftmost page
 * of the level below.
 */
static BlockNumber
check_level(GpbCheck *check, uint32 level, BlockNumber leftmost,
			BlockNumber parent)
{
	GpbCursor  *cursor = palloc(sizeof(GpbCursor));
	GpbDownlinks *down = palloc(sizeof(GpbDownlinks));
	BlockNumber below = InvalidBlockNumber;

	down->cursor.block = InvalidBlockNumber;
	if (parent != InvalidBlockNumber)
	{
		cursor_begin(check, &down->cursor, level + 1, parent,
					 InvalidBlockNumber);
		down->position = 0;
		downlinks_read(check, down);
	}

	cursor_begin(check, cursor, level, leftmost,
				 parent != InvalidBlockNumber ? parent : GPB_META_BLOCK);
	if (level > 0)
		below = gpb_row_child(gpb_page_row(cursor->image.data,
										   GPB_INNER_ROW_WIDTH, 0));

	while (cursor->block != InvalidBlockNumber)
	{
		reach(check, cursor->block);
		if (parent != InvalidBlockNumber)
			match_downlink(check, cursor, down);
		else if (cursor->block != leftmost)
			require_downlink(check, cursor);
		cursor_next(check, cursor);
	}
	if (down->cursor.block != InvalidBlockNumber)
		damaged(check, down->cursor.block,
				"a downlink's separator is no page's low bound",
				"Downlink %s to block %u is beyond the last page of its level.",
				bound_text(down->separator), down->child);

	pfree(cursor);
	pfree(down);
	return below;
}

/*
 * Is this page, which the walk did not come to, deleted, or does a search find it?  A search does
 * if the block was recycled since the walk was there.  During recovery replay may have made the
 * page, but not yet linked it.
 */
static bool
is_deleted_or_found(GpbCheck *check, BlockNumber block)
{
	int			attempts;

	for (attempts = 0; attempts < 20; attempts++)
	{
		Buffer		buffer = lock_page(check, block, InvalidBlockNumber);
		GpbPageSpecial special = *gpb_page_special(BufferGetPage(buffer));
		GpbBound	low = gpb_page_low(BufferGetPage(buffer));
		GpbMeta		meta;
		bool		found;

		UnlockReleaseBuffer(buffer);
		CHECK_FOR_INTERRUPTS();
		if ((special.flags & GPB_PAGE_DELETED) != 0)
			return true;
		gpb_read_meta(check->index, &check->layout, &meta);
		if (special.level <= meta.level)
		{
			buffer = gpb_search_level(check->index, &check->layout, low, special.level,
									  BUFFER_LOCK_SHARE);
			found = BufferGetBlockNumber(buffer) == block;
			UnlockReleaseBuffer(buffer);
			if (found)
				return true;
		}
		/* It may have changed between the two looks. */
		if (RecoveryInProgress())
			wait_for_replay();
	}
	return false;
}

/*
 * Is this page of the dictionary, which was not met when that was read, in its list of pages now?
 * During recovery replay makes a page before it links it.
 */
static bool
is_linked(GpbCheck *check, BlockNumber block)
{
	const BlockNumber *blocks;
	int			n;

	if (check->dictionary == NULL)
		return false;
	if (RecoveryInProgress())
		wait_for_replay();
	gpb_dictionary_read_on(check->index, check->dictionary, &check->layout);
	blocks = gpb_dictionary_blocks(check->dictionary, &n);
	while (n > 0)
	{
		if (blocks[--n] == block)
			return true;
	}
	return false;
}

/*
 * Check that every block that was there at the beginning has been reached, but for those that are
 * deleted, and those that a crash, or an error, has left all-zero.
 */
static void
check_reached(GpbCheck *check)
{
	BlockNumber block;

	for (block = GPB_META_BLOCK + 1; block < check->nblocks; block++)
	{
		Buffer		buffer;
		bool		is_new;
		bool		is_dictionary;

		if (was_seen(check, block))
			continue;

		CHECK_FOR_INTERRUPTS();
		buffer = gpb_pin(check->index, InvalidBuffer, block, check->strategy);
		LockBuffer(buffer, BUFFER_LOCK_SHARE);
		is_new = PageIsNew(BufferGetPage(buffer));
		is_dictionary = gpb_is_dictionary_page(BufferGetPage(buffer));
		UnlockReleaseBuffer(buffer);
		if (is_dictionary && is_linked(check, block))
			continue;
		if (!is_new && !is_deleted_or_found(check, block))
			damaged(check, block, "it cannot be reached from the root",
					"The index had %u blocks.", check->nblocks);
	}
}

/*
 * Check the dictionary: read all of it, for the codes of entries to be looked up.  Pages that it
 * gets later, while entries are looked at, come after the blocks that must be reached.
 */
static void
check_dictionary(GpbCheck *check)
{
	const BlockNumber *block;
	int			n;

	check->dictionary = NULL;
	check->elsewhere = 0;
	if (!gpb_layout_has_dictionary(&check->layout))
		return;
	check->dictionary = gpb_dictionary_read(check->index);
	block = gpb_dictionary_blocks(check->dictionary, &n);
	for (int i = 0; i < n; i++)
		reach(check, block[i]);
}

/* Check the tree level by level, from the root down. */
static void
check_tree(GpbCheck *check)
{
	GpbMeta		meta;
	BlockNumber leftmost;
	BlockNumber parent = InvalidBlockNumber;
	uint32		level;

	/*
	 * A page that a split is making now will be found: its left sibling, or the metapage, is locked
	 * until the new page is linked.
	 */
	check->nblocks = check->length = RelationGetNumberOfBlocks(check->index);
	check->seen = MemoryContextAllocHuge(CurrentMemoryContext,
										 check->nblocks / 8 + 1);
	memset(check->seen, 0, check->nblocks / 8 + 1);
	check_dictionary(check);

	gpb_read_meta(check->index, &check->layout, &meta);
	leftmost = meta.root;
	for (level = meta.level + 1; level-- > 0;)
	{
		BlockNumber below = check_level(check, level, leftmost, parent);

		parent = leftmost;
		leftmost = below;
	}
	check_reached(check);
	pfree(check->seen);
}

/*
 * Check the tree on a standby, where nothing keeps replay from deleting pages.  What looks like
 * damage is none if that has happened since the check began: then it begins anew.
 */
static void
check_tree_beside_replay(GpbCheck *check)
{
	MemoryContext context = CurrentMemoryContext;
	ResourceOwner owner = CurrentResourceOwner;
	volatile bool done = false;
	volatile int attempts = 0;

	while (!done)
	{
		uint64		before = gpb_unlinks_noted();

		BeginInternalSubTransaction(NULL);
		MemoryContextSwitchTo(context);
		PG_TRY();
		{
			check_tree(check);
			ReleaseCurrentSubTransaction();
			done = true;
		}
		PG_CATCH();
		{
			if (geterrcode() != ERRCODE_INDEX_CORRUPTED || gpb_unlinks_noted() == before ||
				++attempts == GPB_CHECKS_BESIDE_REPLAY)
				PG_RE_THROW();
			FlushErrorState();
			RollbackAndReleaseCurrentSubTransaction();
		}
		PG_END_TRY();
		MemoryContextSwitchTo(context);
		CurrentResourceOwner = owner;
		CHECK_FOR_INTERRUPTS();
	}
}

/* ---- SQL ---- */

void
gpb_require_readable_index(Relation index)
{
	if (index->rd_rel->relkind == RELKIND_PARTITIONED_INDEX)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("index \"%s\" is partitioned",
						RelationGetRelationName(index)),
				 errhint("Name the index of a partition.")));
	if (index->rd_rel->relkind != RELKIND_INDEX ||
		index->rd_indam->ambuild != gpb_build)
		ereport(ERROR,
				(errcode(ERRCODE_WRONG_OBJECT_TYPE),
				 errmsg("\"%s\" is not a gpubtree index",
						RelationGetRelationName(index)),
				 errhint("Name an index that was created USING gpubtree.")));
	if (RELATION_IS_OTHER_TEMP(index))
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access temporary index \"%s\" of another session",
						RelationGetRelationName(index)),
				 errhint("Only the session that created it can read it.")));
	if (RecoveryInProgress() &&
		index->rd_rel->relpersistence == RELPERSISTENCE_UNLOGGED)
		ereport(ERROR,
				(errcode(ERRCODE_FEATURE_NOT_SUPPORTED),
				 errmsg("cannot access unlogged index \"%s\" during recovery",
						RelationGetRelationName(index)),
				 errhint("Unlogged indexes are empty on a standby; ask the primary.")));
}

void
gpb_require_own_index(Relation index)
{
	gpb_require_readable_index(index);
	if (!pg_class_ownercheck(RelationGetRelid(index), GetUserId()))
		aclcheck_error(ACLCHECK_NOT_OWNER, OBJECT_INDEX,
					   RelationGetRelationName(index));
}

Relation
gpb_open_named(Oid oid, LOCKMODE lock)
{
	Relation	relation = try_relation_open(oid, lock);

	if (relation == NULL)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("index with OID %u does not exist", oid),
				 errhint("If it was dropped, or replaced by REINDEX CONCURRENTLY, name it anew.")));
	return relation;
}

Relation
gpb_open_index(Oid indexid, LOCKMODE lock, Relation *heap)
{
	Oid			heapid = IndexGetRelation(indexid, true);
	Relation	index;

	GPB_HOLD("open-index");
	/* If the table is gone so is the index, and opening the index says so. */
	*heap = OidIsValid(heapid) ? try_relation_open(heapid, lock) : NULL;
	index = gpb_open_named(indexid, lock);
	/* The relation is not an index; say so. */
	if (!OidIsValid(heapid))
		gpb_require_readable_index(index);
	if (*heap == NULL || IndexGetRelation(indexid, true) != heapid)
		ereport(ERROR,
				(errcode(ERRCODE_UNDEFINED_TABLE),
				 errmsg("could not open the table of index \"%s\"",
						RelationGetRelationName(index))));
	gpb_require_readable_index(index);
	return index;
}

/*
 * gpubtree_check(index regclass, heapallindexed boolean): raise an error if the index is damaged.
 */
Datum
gpubtree_check(PG_FUNCTION_ARGS)
{
	Oid			indexid = PG_GETARG_OID(0);
	bool		heapallindexed = PG_GETARG_BOOL(1);
	Relation	heap;
	GpbCheck	check;
	Oid			userid;
	int			sec_context;
	int			nestlevel;

	check.index = gpb_open_index(indexid, AccessShareLock, &heap);
	gpb_require_own_index(check.index);
	if (!check.index->rd_index->indisvalid)
		ereport(ERROR,
				(errcode(ERRCODE_OBJECT_NOT_IN_PREREQUISITE_STATE),
				 errmsg("index \"%s\" is not valid",
						RelationGetRelationName(check.index)),
				 errhint("Drop it, or build it anew with REINDEX.")));

	/* Functions in the index's expressions run as the table's owner. */
	GetUserIdAndSecContext(&userid, &sec_context);
	SetUserIdAndSecContext(heap->rd_rel->relowner,
						   sec_context | SECURITY_RESTRICTED_OPERATION);
	nestlevel = NewGUCNestLevel();

	check.layout = *gpb_layout(check.index);
	check.strategy = GetAccessStrategy(BAS_BULKREAD);
	if (RecoveryInProgress())
		check_tree_beside_replay(&check);
	else
	{
		gpb_close_gate(check.index, GPB_GATE_DELETE);
		GPB_HOLD("check-tree");
		check_tree(&check);
		gpb_open_gate(check.index, GPB_GATE_DELETE);
	}
	if (check.index->rd_index->indisunique)
		gpb_check_unique(check.index, heap);
	if (heapallindexed)
		gpb_check_heap(check.index, heap);
	FreeAccessStrategy(check.strategy);

	AtEOXact_GUC(false, nestlevel);
	SetUserIdAndSecContext(userid, sec_context);

	index_close(check.index, AccessShareLock);
	table_close(heap, AccessShareLock);
	PG_RETURN_VOID();
}
