/*-------------------------------------------------------------------------
 *
 * page_delete.c
 *	  Deleting pages that have become empty.
 *
 * The right sibling takes over what an empty page covers: its low bound falls to that of the page,
 * and so does its downlink in the parent.  All of this is one record, under the locks of the page,
 * its siblings and the parent, so there is no state between; where the page is its parent's only
 * child the parent goes with it, and so on upwards.  See src/index/README, "Deletion".
 *
 *-------------------------------------------------------------------------
 */
#include "compat.h"

#include "access/xlog.h"
#include "access/xloginsert.h"
#include "miscadmin.h"
#include "storage/predicate.h"
#include "utils/rel.h"

#include "hold.h"
#include "index/index.h"
#include "index/xlog.h"

/* One level of what is deleted: a page and its siblings, exclusively locked, or InvalidBuffer */
typedef struct GpbBranchLevel
{
	Buffer		left;
	Buffer		page;
	Buffer		right;
} GpbBranchLevel;

/* An empty leaf, with the pages above it that have no other child, and what is above those */
typedef struct GpbBranch
{
	Relation	index;
	const GpbLayout *layout;
	GpbBound	low;			/* of each of its pages */
	GpbBound	high;
	int			nlevels;
	GpbBranchLevel level[GPB_MAX_LEVEL + 1];
	Buffer		parent;			/* exclusively locked, or InvalidBuffer */
	uint16		position;		/* of the branch's downlink there */
} GpbBranch;

/* ---- locking a branch ---- */

static void
release(Buffer buffer)
{
	if (BufferIsValid(buffer))
		UnlockReleaseBuffer(buffer);
}

static void
release_branch(GpbBranch *branch)
{
	int			i;

	release(branch->parent);
	for (i = branch->nlevels - 1; i >= 0; i--)
	{
		release(branch->level[i].right);
		release(branch->level[i].page);
		release(branch->level[i].left);
	}
}

/*
 * Lock a leaf for itself alone, so that no scan has a copy of entries that it had.  Returns
 * InvalidBuffer if somebody has it pinned.
 */
static Buffer
lock_leaf(GpbBranch *branch, BlockNumber block)
{
	Buffer		buffer = gpb_pin(branch->index, InvalidBuffer, block, NULL);

	if (!ConditionalLockBufferForCleanup(buffer))
	{
		ReleaseBuffer(buffer);
		return InvalidBuffer;
	}
	gpb_page_require(branch->index, block, BufferGetPage(buffer), branch->layout);
	return buffer;
}

/*
 * Is this page what the branch has on its topmost level, and has it this left link?  It must have
 * no entry but the downlink of the level below; a split of it must not be half done; and it must
 * have a right sibling, which the last page of a level has not, so that a root is never deleted.
 */
static bool
is_of_branch(const GpbBranch *branch, Page page, BlockNumber left)
{
	const GpbPageSpecial *special = gpb_special(page);
	int			level = branch->nlevels - 1;

	if (special->level != level || special->left != left || special->right == GPB_NO_BLOCK ||
		(special->flags & (GPB_PAGE_DELETED | GPB_PAGE_INCOMPLETE_SPLIT)) != 0 ||
		gpb_bound_cmp(gpb_page_low(page), branch->low) != 0)
		return false;
	if (level == 0)
		return gpb_page_count(page) == 0;
	return gpb_page_count(page) == 1 &&
		gpb_row_child(gpb_page_row(page, GPB_INNER_ROW_WIDTH, 0)) ==
		BufferGetBlockNumber(branch->level[level - 1].page);
}

/*
 * Add a level to the branch: lock the page and its siblings from left to right.  Returns false if
 * the page cannot be deleted; what is locked is in the branch.
 */
static bool
lock_level(GpbBranch *branch, BlockNumber block, BlockNumber left)
{
	Relation	index = branch->index;
	uint16		level = (uint16) branch->nlevels++;
	GpbBranchLevel *at = &branch->level[level];
	const GpbPageSpecial *special;
	Page		page;

	at->left = at->page = at->right = InvalidBuffer;
	if (left != GPB_NO_BLOCK)
	{
		at->left = gpb_read(index, left, BUFFER_LOCK_EXCLUSIVE, branch->layout);
		special = gpb_special(BufferGetPage(at->left));
		if (special->level != level || special->right != block ||
			(special->flags & (GPB_PAGE_DELETED | GPB_PAGE_INCOMPLETE_SPLIT)) != 0)
			return false;
	}

	at->page = level == 0 ? lock_leaf(branch, block) :
		gpb_read(index, block, BUFFER_LOCK_EXCLUSIVE, branch->layout);
	if (!BufferIsValid(at->page) || !is_of_branch(branch, BufferGetPage(at->page), left))
		return false;
	page = BufferGetPage(at->page);
	if (level == 0)
		branch->high = gpb_page_high(page);
	else if (gpb_bound_cmp(gpb_page_high(page), branch->high) != 0)
		gpb_corrupted(index, block, "high key is not that of its last child");

	at->right = gpb_read(index, gpb_special(page)->right, BUFFER_LOCK_EXCLUSIVE, branch->layout);
	gpb_require_right(index, at->right, block, level, branch->high);
	return true;
}

/*
 * Lock what is above the branch, having added to the branch all pages that have no other child than
 * its topmost page.  Returns false if the branch cannot be deleted: its topmost page is the last of
 * several children, so the page that takes over its keys is below another parent.
 */
static bool
lock_upwards(GpbBranch *branch, const GpbStack *stack)
{
	for (;;)
	{
		const GpbLayout *layout = branch->layout;
		const GpbBranchLevel *top = &branch->level[branch->nlevels - 1];
		BlockNumber block;
		BlockNumber left;
		GpbRange	range;
		Page		page;
		int			position;

		if (branch->nlevels > (int) stack->height)
			return false;
		branch->parent = gpb_read_parent(branch->index, layout, branch->low, branch->nlevels,
										 stack);
		block = BufferGetBlockNumber(branch->parent);
		page = BufferGetPage(branch->parent);
		position = gpb_child_position(layout, page, branch->low);
		if (gpb_child_at(branch->index, layout, block, page, position, &range) !=
			BufferGetBlockNumber(top->page) ||
			gpb_bound_cmp(range.lo, branch->low) != 0 ||
			gpb_bound_cmp(range.hi, branch->high) != 0)
			gpb_corrupted(branch->index, block, "downlink of an empty page is not in its parent");

		if (position + 1 < gpb_page_count(page))
		{
			if (gpb_child_at(branch->index, layout, block, page, position + 1, &range) !=
				BufferGetBlockNumber(top->right))
				gpb_corrupted(branch->index, block,
							  "downlink of a right sibling is not in its parent");
			branch->position = (uint16) position;
			return true;
		}
		if (position > 0)
			return false;

		/* The parent is locked anew, after its left sibling. */
		left = gpb_special(page)->left;
		UnlockReleaseBuffer(branch->parent);
		branch->parent = InvalidBuffer;
		if (!lock_level(branch, block, left))
			return false;
	}
}

/* ---- unlinking ---- */

/* See xlog.h. */
void
gpb_unlink_left(char *page, BlockNumber right)
{
	gpb_special((Page) page)->right = right;
}

void
gpb_unlink_page(char *page)
{
	gpb_special((Page) page)->flags |= GPB_PAGE_DELETED;
}

void
gpb_unlink_right(char *page, BlockNumber left, GpbBound low)
{
	gpb_special((Page) page)->left = left;
	gpb_page_set_low((Page) page, low);
}

/*
 * The right sibling's downlink takes the place of the page's.  Its own entry goes, and the page's
 * entry, with its separator, leads to the sibling.
 */
void
gpb_unlink_parent(char *page, uint16 position, BlockNumber right)
{
	uint16		next = position + 1;

	memcpy(unconstify(char *, gpb_page_row(page, GPB_INNER_ROW_WIDTH, position)) +
		   GPB_LOCATOR_WIDTH, &right, sizeof(right));
	gpb_page_delete((Page) page, &next, 1);
}

static BlockNumber
block_or_none(Buffer buffer)
{
	return BufferIsValid(buffer) ? BufferGetBlockNumber(buffer) : GPB_NO_BLOCK;
}

/* Log what unlink() has done.  The numbers of the blocks are as in xlog.h. */
static XLogRecPtr
log_unlink(const GpbBranch *branch)
{
	xl_gpb_unlink record;
	int			i;

	memset(&record, 0, sizeof(record));
	record.low_key = branch->low.key;
	record.low_tie = branch->low.tie;
	record.position = branch->position;
	record.nlevels = (uint8) branch->nlevels;

	XLogBeginInsert();
	XLogRegisterData((char *) &record, sizeof(record));
	for (i = 0; i < branch->nlevels; i++)
	{
		if (BufferIsValid(branch->level[i].left))
			XLogRegisterBuffer(3 * i, branch->level[i].left, REGBUF_STANDARD);
		XLogRegisterBuffer(3 * i + 1, branch->level[i].page, REGBUF_STANDARD);
		XLogRegisterBuffer(3 * i + 2, branch->level[i].right, REGBUF_STANDARD);
	}
	XLogRegisterBuffer(3 * i, branch->parent, REGBUF_STANDARD);
	return XLogInsert(GPB_RMGR_ID, GPB_XLOG_UNLINK);
}

/* Set the LSN of a page of the branch, if it is there. */
static void
set_lsn(Buffer buffer, XLogRecPtr lsn)
{
	if (BufferIsValid(buffer))
		PageSetLSN(BufferGetPage(buffer), lsn);
}

/* Take the branch out of the tree.  Everything is locked. */
static void
unlink_branch(GpbBranch *branch)
{
	Relation	index = branch->index;
	int			top = branch->nlevels - 1;
	int			i;

	/* Whoever reads the leaf's range from now on reads it on the right sibling. */
	PredicateLockPageCombine(index, BufferGetBlockNumber(branch->level[0].page),
							 BufferGetBlockNumber(branch->level[0].right));
	for (i = 0; i <= top; i++)
	{
		if (BufferIsValid(branch->level[i].left))
			gpb_mark_changed(index, BufferGetBlockNumber(branch->level[i].left));
		gpb_mark_changed(index, BufferGetBlockNumber(branch->level[i].page));
		gpb_mark_changed(index, BufferGetBlockNumber(branch->level[i].right));
	}
	gpb_mark_changed(index, BufferGetBlockNumber(branch->parent));
	XLogEnsureRecordSpace(3 * branch->nlevels, 0);

	START_CRIT_SECTION();

	for (i = 0; i <= top; i++)
	{
		GpbBranchLevel *at = &branch->level[i];

		if (BufferIsValid(at->left))
		{
			gpb_unlink_left(BufferGetPage(at->left), BufferGetBlockNumber(at->right));
			MarkBufferDirty(at->left);
		}
		gpb_unlink_page(BufferGetPage(at->page));
		MarkBufferDirty(at->page);
		gpb_unlink_right(BufferGetPage(at->right), block_or_none(at->left), branch->low);
		MarkBufferDirty(at->right);
	}
	gpb_unlink_parent(BufferGetPage(branch->parent), branch->position,
					  BufferGetBlockNumber(branch->level[top].right));
	MarkBufferDirty(branch->parent);

	if (RelationNeedsWAL(index))
	{
		XLogRecPtr	lsn = log_unlink(branch);

		for (i = 0; i <= top; i++)
		{
			set_lsn(branch->level[i].left, lsn);
			set_lsn(branch->level[i].page, lsn);
			set_lsn(branch->level[i].right, lsn);
		}
		set_lsn(branch->parent, lsn);
	}

	END_CRIT_SECTION();
}

/*
 * After a deletion: is the right sibling now an only child, and empty too?  It could not be deleted
 * while it was the last of several.
 */
static BlockNumber
next_of_branch(const GpbBranch *branch)
{
	int			i;

	if (gpb_page_count(BufferGetPage(branch->parent)) != 1 ||
		gpb_page_count(BufferGetPage(branch->level[0].right)) != 0)
		return InvalidBlockNumber;
	for (i = 1; i < branch->nlevels; i++)
	{
		if (gpb_page_count(BufferGetPage(branch->level[i].right)) != 1)
			return InvalidBlockNumber;
	}
	return BufferGetBlockNumber(branch->level[0].right);
}

/* Find the leaf by a descent; returns false if it is no longer empty, or begins elsewhere. */
static bool
find_leaf(GpbBranch *branch, BlockNumber block, GpbStack *stack, BlockNumber *left)
{
	Buffer		buffer = gpb_search(branch->index, branch->layout, branch->low,
									BUFFER_LOCK_EXCLUSIVE, stack);
	Page		page = BufferGetPage(buffer);
	bool		found = BufferGetBlockNumber(buffer) == block && gpb_page_count(page) == 0 &&
		gpb_special(page)->right != GPB_NO_BLOCK;

	*left = gpb_special(page)->left;
	UnlockReleaseBuffer(buffer);
	return found;
}

int
gpb_delete_page(Relation index, const GpbLayout *layout, BlockNumber block, GpbBound low,
				BlockNumber *deleted, BlockNumber *next)
{
	GpbBranch	branch;
	GpbStack	stack;
	BlockNumber left;
	int			n = 0;

	*next = InvalidBlockNumber;
	if (!gpb_enter_gate(index, GPB_GATE_DELETE))
		return 0;
	branch.index = index;
	branch.layout = layout;
	branch.low = low;
	branch.nlevels = 0;
	branch.parent = InvalidBuffer;
	if (find_leaf(&branch, block, &stack, &left))
	{
		GPB_HOLD("delete-before-lock");
		if (lock_level(&branch, block, left) && lock_upwards(&branch, &stack))
		{
			GPB_HOLD("delete-locked");
			unlink_branch(&branch);
			for (; n < branch.nlevels; n++)
				deleted[n] = BufferGetBlockNumber(branch.level[n].page);
			*next = next_of_branch(&branch);
		}
		release_branch(&branch);
	}
	gpb_leave_gate(index, GPB_GATE_DELETE);
	GPB_HOLD("delete-after");
	return n;
}
