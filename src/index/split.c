/*-------------------------------------------------------------------------
 *
 * split.c
 *	  Splitting a page, and telling its parent.
 *
 * A split is two records.  The first makes two pages of one, linked to each
 * other, the left one marked INCOMPLETE_SPLIT; the tree is sound from then on,
 * for a search moves right.  The second puts the right half's downlink into the
 * parent and takes the mark away.  If an error or a crash comes between, the
 * next writer that meets the mark does the second step.
 *
 * Locks are taken left to right and bottom up: both halves stay locked until the
 * parent is, the left half until the downlink is in.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "hold.h"
#include "index/page_runs.h"
#include "index/xlog.h"

/* What a split does to its page; decided beforehand */
typedef struct GpbSplit
{
	int			kept;			/* old entries that stay on the left */
	bool		on_left;		/* the new entry goes to the left page */
	int			position;		/* position of the new entry on its page */
} GpbSplit;

/* The entries that the left half keeps where several sessions add to a run of equal keys */
#define RUN_KEPT(count)		((count) - (count) / 8)

/* The key of an entry of a page */
static GpbKey
entry_key(Page page, int position)
{
	return gpb_leaf_key(page, gpb_special(page)->key_width, gpb_page_row_width(page), position);
}

/*
 * Does an entry with this key come at the end of a run of equal keys that begins with the leaf and
 * fills half of it or more?
 */
static bool
ends_run(Page page, int position, GpbKey key)
{
	const GpbPageSpecial *special = gpb_special(page);
	int			count = gpb_page_count(page);

	return special->level == 0 && position >= (count + 1) / 2 &&
		gpb_page_key(page, special->key_width, 0) == key &&
		entry_key(page, position - 1) == key &&
		(position == count || entry_key(page, position) != key);
}

/*
 * Is the leaf full of one key from its beginning, and does an entry with this key come to its last
 * eighth, though not to the end of the run?
 */
static bool
is_near_end_of_run(Page page, int position, GpbKey key)
{
	const GpbPageSpecial *special = gpb_special(page);
	int			count = gpb_page_count(page);

	return special->level == 0 && position > RUN_KEPT(count) &&
		gpb_page_key(page, special->key_width, 0) == key &&
		entry_key(page, position - 1) == key;
}

/* The number of entries of a leaf with runs that so many bytes hold, counted from the first one */
static int
runs_within(Page page, int bytes)
{
	int			key_width = gpb_special(page)->key_width;
	int			nruns = gpb_page_runs(page, key_width);
	int			count = gpb_page_count(page);
	const uint16 *ends = gpb_run_ends(page, key_width, nruns);
	int			r = 0;
	int			n;

	while (r < nruns && (r + 1) * (key_width + GPB_RUN_END_WIDTH) +
		   gpb_run_begin(ends, r + 1, count) * GPB_RUN_ROW_WIDTH <= bytes)
		r++;
	if (r == nruns)
		return count;
	/* Of the first run that is not held as a whole, what goes in beside those before it */
	n = (bytes - (r + 1) * (key_width + GPB_RUN_END_WIDTH)) / GPB_RUN_ROW_WIDTH;
	return Max(n, gpb_run_begin(ends, r, count));
}

/*
 * How many entries, the one that comes included, does the left half of a page get that is split
 * for want of room in the middle or, where "fill" is not 0, with so many percent on the left?
 */
static int
left_entries(Page page, int fill)
{
	const GpbPageSpecial *special = gpb_special(page);
	int			room = GPB_PAGE_SPACE - gpb_key_halves(special->key_width);

	if (!gpb_has_runs(special->row_width))
		return fill == 0 ? (gpb_page_count(page) + 1) / 2 :
			gpb_page_capacity(special->key_width, special->row_width) * fill / 100;
	return runs_within(page, room * (fill == 0 ? 50 : fill) / 100);
}

/*
 * Has a leaf with several runs one at its beginning or its end that takes half of it, and gets no
 * more entries?  Then *left becomes the number of those for the left half, the one that comes
 * included.
 *
 * Rows come to the ends of runs.  So of the first run only the end gets any: what is before it
 * fills the left half, and the run goes on at the beginning of the right half; the left half keeps
 * seven eighths where a row is late.  Of the last run, if it goes on to the right of the leaf,
 * nothing gets any: it is the right half.
 */
static bool
splits_at_long_run(Page page, int position, GpbKey key, int *left)
{
	const GpbPageSpecial *special = gpb_special(page);
	int			key_width = special->key_width;
	int			count = gpb_page_count(page);
	const uint16 *ends;
	int			first;			/* entries of the first run */
	int			n;

	if (!gpb_has_runs(special->row_width))
		return false;
	n = gpb_page_runs(page, key_width);
	ends = gpb_run_ends(page, key_width, n);
	if (n < 2)
		return false;
	first = gpb_run_begin(ends, 1, count);
	if (first >= count / 2)
	{
		GpbKey		first_key = gpb_page_key(page, key_width, 0);

		if (position < first && key == first_key)
		{
			/* A row that is late, and not by little, shows that the run does get more. */
			if (position <= RUN_KEPT(first))
				return false;
			*left = RUN_KEPT(first);
			return true;
		}
		if (first < count * 3 / 4 && gpb_page_low(page).key == first_key)
		{
			/*
			 * The run has pages of its own.  Alone it fills those to come, and what is behind it
			 * stays as it is: better once than that each of its pages ends where it does now.
			 */
			*left = first + (position == first && key == first_key);
			return true;
		}
		*left = first - 1;
		*left += position < *left;
		return true;
	}
	if (gpb_run_begin(ends, n - 1, count) <= count / 2 && special->right != GPB_NO_BLOCK &&
		gpb_page_high(page).key == gpb_page_key(page, key_width, n - 1))
	{
		int			kept = gpb_run_begin(ends, n - 1, count);

		*left = kept + (position <= kept && key != gpb_page_key(page, key_width, n - 1));
		return true;
	}
	return false;
}

/*
 * Choose where to split a full page into which an entry comes at position.
 *
 * The middle is half of the entries or, where these share keys, of their bytes.  At the end of the
 * last page of a level keys likely ascend, and the left half will not be filled up any more, so it
 * keeps as much as the fillfactor says.
 *
 * The rows of a key come in the order of their TIDs as long as the table grows at its end, so a run
 * of equal keys grows at its end, too.  Where it has pages of its own the left half is the run,
 * with the new entry if it has room: split in the middle, each of its pages would stay half full.
 * Where several sessions insert, each fills heap pages of its own, and rows come near the run's
 * end; then the left half keeps room for those that are late.
 */
static GpbSplit
choose_split(Relation index, const GpbLayout *layout, Page page, int position, GpbKey key)
{
	const GpbPageSpecial *special = gpb_special(page);
	int			count = gpb_page_count(page);
	int			left = left_entries(page, 0);	/* the new entry included */
	GpbSplit	split;

	if (position == count && special->right == GPB_NO_BLOCK)
	{
		left = special->level == 0 ? left_entries(page, gpb_fillfactor(index, layout)) :
			gpb_inner_limit(special->key_width) * GPB_INNER_FILLFACTOR / 100;
	}
	else if (splits_at_long_run(page, position, key, &left))
		;
	else if (ends_run(page, position, key))
		left = position + 1;
	else if (is_near_end_of_run(page, position, key))
		left = RUN_KEPT(count);
	/* Each side gets at least one entry. */
	left = Max(1, Min(left, count));

	split.on_left = position < left;
	split.kept = split.on_left ? left - 1 : left;
	split.position = split.on_left ? position : position - split.kept;
	return split;
}

/*
 * Lock the right sibling of a page exclusively, if it has one; else return InvalidBuffer.  The page
 * "left" is locked exclusively, so nobody can split it, and the sibling's left link must lead back
 * to it.
 */
static Buffer
lock_sibling(Relation index, const GpbLayout *layout, Buffer left)
{
	const GpbPageSpecial *special = gpb_special(BufferGetPage(left));
	Buffer		sibling;

	if (special->right == GPB_NO_BLOCK)
		return InvalidBuffer;
	sibling = gpb_read(index, special->right, BUFFER_LOCK_EXCLUSIVE, layout);
	gpb_require_right(index, sibling, BufferGetBlockNumber(left), special->level,
					  gpb_page_high(BufferGetPage(left)));
	return sibling;
}

/*
 * Divide the entries of "left" between it and "right", an all-zero page, with the new entry on one
 * of them, and link the pages.  Called in a critical section; all three buffers are exclusively
 * locked.
 */
static void
divide(Buffer left, Buffer right, Buffer sibling, const GpbSplit *split,
	   GpbKey key, const char *row)
{
	Page		lpage = BufferGetPage(left);
	Page		rpage = BufferGetPage(right);
	GpbPageSpecial *lspecial = gpb_special(lpage);
	GpbPageSpecial *rspecial = gpb_special(rpage);
	GpbBound	separator;

	gpb_page_init(rpage, lspecial->level, lspecial->flags & GPB_PAGE_HAS_DEAD,
				  lspecial->key_width, lspecial->row_width);
	gpb_page_append(rpage, lpage, split->kept, gpb_page_count(lpage));
	gpb_page_truncate(lpage, split->kept);
	gpb_page_insert(split->on_left ? lpage : rpage, split->position, &key, row);

	gpb_set_high(rpage, gpb_stored_high(lpage));
	rspecial->right = lspecial->right;
	rspecial->left = BufferGetBlockNumber(left);

	separator = gpb_page_bound(rpage, rspecial->key_width, rspecial->row_width, 0);
	gpb_set_high(lpage, separator);
	gpb_set_low(rpage, separator);
	lspecial->right = BufferGetBlockNumber(right);
	lspecial->flags |= GPB_PAGE_INCOMPLETE_SPLIT;

	if (BufferIsValid(sibling))
		gpb_special(BufferGetPage(sibling))->left = BufferGetBlockNumber(right);
}

/* Log a split that divide() has done. */
static XLogRecPtr
log_split(Buffer left, Buffer right, Buffer sibling, Buffer child,
		  const GpbSplit *split, GpbKey key, const char *row)
{
	Page		lpage = BufferGetPage(left);
	Page		rpage = BufferGetPage(right);
	const GpbPageSpecial *lspecial = gpb_special(lpage);
	const GpbPageSpecial *rspecial = gpb_special(rpage);
	PageHeader	rheader = (PageHeader) rpage;
	xl_gpb_split record;

	memset(&record, 0, sizeof(record));
	record.high = gpb_stored_high(lpage);
	record.right_high = gpb_stored_high(rpage);
	record.level = lspecial->level;
	record.kept = split->kept;
	record.position = split->on_left ? split->position : GPB_NOT_ON_LEFT;
	record.key_width = lspecial->key_width;
	record.row_width = lspecial->row_width;

	XLogBeginInsert();
	XLogRegisterData((char *) &record, sizeof(record));

	XLogRegisterBuffer(0, left, REGBUF_STANDARD);
	if (split->on_left)
	{
		XLogRegisterBufData(0, (char *) &key, lspecial->key_width);
		XLogRegisterBufData(0, (char *) row, gpb_spread_row_width(lpage));
	}

	XLogRegisterBuffer(1, right, REGBUF_WILL_INIT | REGBUF_STANDARD);
	if (gpb_has_runs(rspecial->row_width))
		XLogRegisterBufData(1, (char *) &rheader->pd_lower, sizeof(rheader->pd_lower));
	XLogRegisterBufData(1, (char *) rpage + gpb_key_place(rspecial->key_width, 0),
						rheader->pd_lower - gpb_key_place(rspecial->key_width, 0));
	XLogRegisterBufData(1, (char *) rpage + rheader->pd_upper,
						GPB_SPECIAL_OFFSET - rheader->pd_upper);

	if (BufferIsValid(sibling))
		XLogRegisterBuffer(2, sibling, REGBUF_STANDARD);
	if (BufferIsValid(child))
		XLogRegisterBuffer(3, child, REGBUF_STANDARD);

	return XLogInsert(GPB_RMGR_ID, GPB_XLOG_SPLIT);
}

static void
insert_parent(Relation index, const GpbLayout *layout, Buffer left,
			  Buffer right, const GpbStack *stack);

void
gpb_split(Relation index, const GpbLayout *layout, Buffer left, Buffer child,
		  int position, GpbKey key, const char *row, const GpbStack *stack)
{
	Page		lpage = BufferGetPage(left);
	GpbSplit	split;
	Buffer		sibling;
	Buffer		right;

	Assert((gpb_special(lpage)->flags & GPB_PAGE_INCOMPLETE_SPLIT) == 0);

	/* Cut where damaged ends say, a half may lack the room for its part, and redo would find so. */
	if (gpb_has_runs(gpb_page_row_width(lpage)) && !gpb_runs_ascend(lpage))
		gpb_corrupted(index, BufferGetBlockNumber(left), "runs are out of order");
	split = choose_split(index, layout, lpage, position, key);

	/* What may fail comes before the file grows, so that no page is left unused. */
	sibling = lock_sibling(index, layout, left);
	right = gpb_new_block(index);
	gpb_mark_changed(index, BufferGetBlockNumber(left));
	gpb_mark_changed(index, BufferGetBlockNumber(right));

	START_CRIT_SECTION();

	divide(left, right, sibling, &split, key, row);
	MarkBufferDirty(left);
	MarkBufferDirty(right);
	if (BufferIsValid(sibling))
		MarkBufferDirty(sibling);
	if (BufferIsValid(child))
	{
		gpb_special(BufferGetPage(child))->flags &= ~GPB_PAGE_INCOMPLETE_SPLIT;
		MarkBufferDirty(child);
	}

	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn = log_split(left, right, sibling, child, &split, key, row);

		PageSetLSN(lpage, lsn);
		PageSetLSN(BufferGetPage(right), lsn);
		if (BufferIsValid(sibling))
			PageSetLSN(BufferGetPage(sibling), lsn);
		if (BufferIsValid(child))
			PageSetLSN(BufferGetPage(child), lsn);
	}

	END_CRIT_SECTION();

	if (BufferIsValid(child))
		UnlockReleaseBuffer(child);
	if (BufferIsValid(sibling))
		UnlockReleaseBuffer(sibling);

	if (gpb_special(lpage)->level == 0)
		PredicateLockPageSplit(index, BufferGetBlockNumber(left),
							   BufferGetBlockNumber(right));

	GPB_HOLD("split-before-parent");
	GPB_FAIL("fail-after-split");

	insert_parent(index, layout, left, right, stack);
}

/*
 * See xlog.h.  The left child's entry is (0, 0), below every real entry; the right child's is the
 * separator.
 */
void
gpb_fill_root(char *page, BlockNumber left, BlockNumber right, GpbKey key,
			  uint64 tie)
{
	GpbKey		lowest = 0;
	char		row[GPB_INNER_ROW_WIDTH];

	gpb_inner_row(row, 0, left);
	gpb_page_insert((Page) page, 0, &lowest, row);
	gpb_inner_row(row, tie, right);
	gpb_page_insert((Page) page, 1, &key, row);
}

/* Log a new root. */
static XLogRecPtr
log_new_root(Buffer root, Buffer left, Buffer meta,
			 xl_gpb_new_root *record)
{
	XLogBeginInsert();
	XLogRegisterData((char *) record, sizeof(*record));
	XLogRegisterBuffer(0, root, REGBUF_WILL_INIT | REGBUF_STANDARD);
	XLogRegisterBuffer(1, left, REGBUF_STANDARD);
	XLogRegisterBuffer(2, meta, REGBUF_WILL_INIT | REGBUF_STANDARD);
	return XLogInsert(GPB_RMGR_ID, GPB_XLOG_NEW_ROOT);
}

/*
 * If left, the left half of a split, was the root, put a new root above both halves, release them
 * and return true.  Otherwise return false; the halves are then still locked.
 *
 * Nobody else can make that new root while we hold the left half, so the answer stays true whatever
 * it is.
 */
static bool
grow(Relation index, const GpbLayout *layout, Buffer left, Buffer right)
{
	Page		lpage = BufferGetPage(left);
	uint16		level = gpb_special(lpage)->level + 1;
	GpbBound	separator = gpb_page_high(lpage);
	Buffer		meta = gpb_lock_meta(index, layout, BUFFER_LOCK_EXCLUSIVE);
	Page		mpage = BufferGetPage(meta);
	xl_gpb_new_root record;
	Buffer		root;
	Page		rpage;

	if (gpb_meta(mpage)->root != BufferGetBlockNumber(left))
	{
		UnlockReleaseBuffer(meta);
		return false;
	}
	if (gpb_meta(mpage)->level + 1 != level)
		gpb_corrupted(index, GPB_META_BLOCK, "level of the root is wrong");
	if (level > GPB_MAX_LEVEL)
		ereport(ERROR,
				(errcode(ERRCODE_PROGRAM_LIMIT_EXCEEDED),
				 errmsg("index \"%s\" cannot grow higher",
						RelationGetRelationName(index))));

	root = gpb_new_block(index);
	rpage = BufferGetPage(root);
	gpb_mark_changed(index, BufferGetBlockNumber(root));
	gpb_mark_changed(index, GPB_META_BLOCK);

	memset(&record, 0, sizeof(record));
	record.key = separator.key;
	record.tie = separator.tie;
	record.right = BufferGetBlockNumber(right);

	START_CRIT_SECTION();

	gpb_page_init(rpage, level, 0, layout->key_width, GPB_INNER_ROW_WIDTH);
	gpb_fill_root(rpage, BufferGetBlockNumber(left), record.right,
				  separator.key, separator.tie);
	MarkBufferDirty(root);

	gpb_meta(mpage)->root = BufferGetBlockNumber(root);
	gpb_meta(mpage)->level = level;
	MarkBufferDirty(meta);

	gpb_special(lpage)->flags &= ~GPB_PAGE_INCOMPLETE_SPLIT;
	MarkBufferDirty(left);

	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn;

		record.meta = *gpb_meta(mpage);
		record.builder = gpb_meta_builder(mpage);
		lsn = log_new_root(root, left, meta, &record);
		PageSetLSN(rpage, lsn);
		PageSetLSN(mpage, lsn);
		PageSetLSN(lpage, lsn);
	}

	END_CRIT_SECTION();

	UnlockReleaseBuffer(meta);
	UnlockReleaseBuffer(root);
	UnlockReleaseBuffer(right);
	UnlockReleaseBuffer(left);
	return true;
}

/*
 * Do the second step of a split: put the downlink of "right" into the parent.  Both halves are
 * exclusively locked on entry, the left one marked incomplete; they are released on exit.
 *
 * If the stack ends below the parent's level, the page was the root when the descent passed, or
 * there was no descent.  Then the page still is the root, or the parent is searched for from the
 * root anew.
 */
static void
insert_parent(Relation index, const GpbLayout *layout, Buffer left,
			  Buffer right, const GpbStack *stack)
{
	GpbBound	separator = gpb_page_high(BufferGetPage(left));
	uint32		level = gpb_special(BufferGetPage(left))->level + 1;
	char		row[GPB_INNER_ROW_WIDTH];
	Buffer		parent;
	Page		page;
	int			position;

	if (level <= stack->height)
		parent = gpb_read_parent(index, layout, separator, level, stack);
	else if (grow(index, layout, left, right))
		return;
	else
		parent = gpb_search_level(index, layout, separator, level,
								  BUFFER_LOCK_EXCLUSIVE);

	gpb_inner_row(row, separator.tie, BufferGetBlockNumber(right));
	UnlockReleaseBuffer(right);

	/*
	 * The parent that covers the separator has the left half's downlink, which
	 * is the last one below the separator.
	 */
	page = BufferGetPage(parent);
	position = gpb_page_lower_bound(page, layout->key_width,
									GPB_INNER_ROW_WIDTH, gpb_page_count(page),
									separator);
	if (position == 0 ||
		gpb_row_child(gpb_page_row(page, GPB_INNER_ROW_WIDTH, position - 1)) !=
		BufferGetBlockNumber(left))
		gpb_corrupted(index, BufferGetBlockNumber(parent),
					  "downlink of a split page is not in its parent");
	if (position < gpb_page_count(page) &&
		gpb_bound_cmp(gpb_page_bound(page, layout->key_width,
									 GPB_INNER_ROW_WIDTH, position),
					  separator) == 0)
		gpb_corrupted(index, BufferGetBlockNumber(parent),
					  "separator of a split is in the parent already");

	gpb_insert_on_page(index, layout, parent, left, position, separator.key,
					   row, stack);
}

void
gpb_finish_split(Relation index, const GpbLayout *layout, Buffer left,
				 const GpbStack *stack)
{
	Buffer		right;

	Assert((gpb_special(BufferGetPage(left))->flags &
			GPB_PAGE_INCOMPLETE_SPLIT) != 0);
	elog(DEBUG1, "finishing incomplete split of block %u of index \"%s\"",
		 BufferGetBlockNumber(left), RelationGetRelationName(index));

	right = lock_sibling(index, layout, left);
	insert_parent(index, layout, left, right, stack);
}
