/*-------------------------------------------------------------------------
 *
 * page.c
 *	  Reading, checking and changing the bytes of a page.
 *
 * The functions that change a page know nothing of locks, WAL or the mirror:
 * the caller holds the exclusive lock, or the page is its own.  They can't
 * fail, so that they fit a critical section; redo uses the same ones.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "pgstat.h"
#include "storage/buf_internals.h"
#include "storage/lmgr.h"
#include "utils/rel.h"

#include "mirror/mirror.h"

#ifdef WORDS_BIGENDIAN
#error "gpubtree's pages are little-endian"
#endif

StaticAssertDecl(GPB_PAGE_SIZE == BLCKSZ, "gpubtree needs 8 kB pages");
StaticAssertDecl(GPB_PAGE_HEADER == MAXALIGN(SizeOfPageHeaderData),
				 "page header size");
StaticAssertDecl(GPB_PD_LOWER == offsetof(PageHeaderData, pd_lower) &&
				 GPB_PD_UPPER == offsetof(PageHeaderData, pd_upper) &&
				 GPB_PD_SPECIAL == offsetof(PageHeaderData, pd_special),
				 "page header fields");
StaticAssertDecl(sizeof(GpbPageSpecial) == MAXALIGN(sizeof(GpbPageSpecial)),
				 "special space alignment");
StaticAssertDecl(GPB_NO_BLOCK == InvalidBlockNumber, "no block");

/* What gpb_pin is about to read */
typedef struct GpbPin
{
	Relation	index;
	BlockNumber block;
} GpbPin;

static inline char *
gpb_key_place(Page page, int key_width, int i)
{
	return (char *) page + GPB_PAGE_HEADER + i * key_width;
}

static inline char *
gpb_row_place(Page page, int row_width, int i)
{
	return (char *) page + GPB_SPECIAL_OFFSET - (i + 1) * row_width;
}

/* Both bounds of the hole follow from the number of entries. */
static inline void
gpb_set_count(Page page, int key_width, int row_width, int n)
{
	PageHeader	header = (PageHeader) page;

	header->pd_lower = GPB_PAGE_HEADER + n * key_width;
	header->pd_upper = GPB_SPECIAL_OFFSET - n * row_width;
}

/* An empty tree page without siblings. */
void
gpb_page_init(Page page, uint16 level, uint16 flags, int key_width,
			  int row_width)
{
	GpbPageSpecial *special;

	PageInit(page, BLCKSZ, sizeof(GpbPageSpecial));
	special = gpb_special(page);
	special->left = GPB_NO_BLOCK;
	special->right = GPB_NO_BLOCK;
	special->level = level;
	special->flags = flags;
	special->key_width = key_width;
	special->row_width = row_width;
	special->page_id = GPB_PAGE_ID;
}

/* The metapage.  pd_lower covers its contents, which images must keep. */
void
gpb_meta_init(Page page, const GpbLayout *layout, BlockNumber root,
			  uint32 level)
{
	GpbMeta    *meta;

	gpb_page_init(page, 0, GPB_PAGE_META, layout->key_width,
				  layout->row_width);
	meta = gpb_meta(page);
	meta->magic = GPB_META_MAGIC;
	meta->version = GPB_META_VERSION;
	meta->root = root;
	meta->level = level;
	meta->key_width = layout->key_width;
	meta->row_width = layout->row_width;
	meta->layout_flags = layout->flags;
	meta->key_kind = layout->key_kind;
	((PageHeader) page)->pd_lower = GPB_PAGE_HEADER + sizeof(GpbMeta);
}

/* What every page of ours has, the metapage too; NULL or what is wrong. */
static const char *
gpb_frame_fault(const void *page)
{
	const GpbPageSpecial *special = gpb_page_special(page);
	const PageHeaderData *header = (const PageHeaderData *) page;

	if (header->pd_upper == 0)
		return "page is not initialized";
	if (header->pd_special != GPB_SPECIAL_OFFSET ||
		header->pd_pagesize_version != (BLCKSZ | PG_PAGE_LAYOUT_VERSION) ||
		special->page_id != GPB_PAGE_ID)
		return "page is not a gpubtree page";
	if ((special->flags & ~GPB_PAGE_KNOWN_FLAGS) != 0)
		return "page has unknown flags";
	return NULL;
}

/*
 * What is wrong with a tree page, or NULL; see index.h.  Sibling links are
 * checked against the page's own block by gpb_page_require.
 */
const char *
gpb_page_fault(const void *page, const GpbLayout *layout)
{
	const GpbPageSpecial *special = gpb_page_special(page);
	const PageHeaderData *header = (const PageHeaderData *) page;
	const char *fault = gpb_frame_fault(page);
	int			row_width;
	int			count;

	if (fault != NULL)
		return fault;
	if ((special->flags & GPB_PAGE_META) != 0)
		return "metapage where a tree page should be";
	if (special->level > GPB_MAX_LEVEL)
		return "level is out of range";
	row_width = special->level == 0 ? layout->row_width : GPB_INNER_ROW_WIDTH;
	if (special->key_width != layout->key_width ||
		special->row_width != row_width)
		return "widths of entries are not the index's";
	if (header->pd_lower < GPB_PAGE_HEADER ||
		header->pd_lower > header->pd_upper ||
		header->pd_upper > GPB_SPECIAL_OFFSET)
		return "bounds of the free space are out of range";
	count = (header->pd_lower - GPB_PAGE_HEADER) / layout->key_width;
	if (header->pd_lower != GPB_PAGE_HEADER + count * layout->key_width ||
		header->pd_upper != GPB_SPECIAL_OFFSET - count * row_width)
		return "numbers of keys and of rows differ";
	if (special->level > 0 && count == 0)
		return "inner page without entries";
	if (special->left == GPB_META_BLOCK || special->right == GPB_META_BLOCK)
		return "sibling link to the metapage";
	if (special->right == GPB_NO_BLOCK &&
		(special->flags & GPB_PAGE_INCOMPLETE_SPLIT) != 0)
		return "split without a right half";
	return NULL;
}

void
gpb_page_require(Relation index, BlockNumber block, Page page,
				 const GpbLayout *layout)
{
	const char *fault = gpb_page_fault(page, layout);

	if (unlikely(fault != NULL))
		gpb_corrupted(index, block, fault);
	if (unlikely(gpb_special(page)->right == block ||
				 gpb_special(page)->left == block))
		gpb_corrupted(index, block, "page is its own sibling");

	/* the first leaf was the first root, and splits put new pages to the right */
	if (unlikely(gpb_special(page)->level == 0 &&
				 (gpb_special(page)->left == GPB_NO_BLOCK) != (block == GPB_FIRST_ROOT)))
		gpb_corrupted(index, block, "left link is missing, or one too many");
}

/* Raise ERRCODE_INDEX_CORRUPTED. */
void
gpb_corrupted(Relation index, BlockNumber block, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupted at block %u: %s",
					RelationGetRelationName(index), block, what),
			 errhint("REINDEX rebuilds the index from its table.")));
}

void
gpb_corrupted_index(Relation index, const char *what)
{
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" is corrupted: %s", RelationGetRelationName(index), what),
			 errhint("REINDEX rebuilds the index from its table.")));
}

/* The page must have room for one more entry. */
void
gpb_page_insert(Page page, int position, const void *key, const void *row)
{
	int			key_width = gpb_special(page)->key_width;
	int			row_width = gpb_special(page)->row_width;
	int			n = gpb_page_count(page);
	char	   *key_at = gpb_key_place(page, key_width, position);
	char	   *last_row = gpb_row_place(page, row_width, n - 1);

	Assert(position >= 0 && position <= n);
	Assert(n < gpb_page_capacity(key_width, row_width));

	memmove(key_at + key_width, key_at, (n - position) * key_width);
	memcpy(key_at, key, key_width);
	memmove(last_row - row_width, last_row, (n - position) * row_width);
	memcpy(gpb_row_place(page, row_width, position), row, row_width);
	gpb_set_count(page, key_width, row_width, n + 1);
}

void
gpb_page_truncate(Page page, int n)
{
	Assert(n >= 0 && n <= gpb_page_count(page));
	gpb_set_count(page, gpb_special(page)->key_width,
				  gpb_special(page)->row_width, n);
}

/*
 * Clears the page's hint that it has dead entries if none of those that stay
 * is marked.
 */
void
gpb_page_delete(Page page, const uint16 *positions, int n)
{
	int			key_width = gpb_special(page)->key_width;
	int			row_width = gpb_special(page)->row_width;
	int			count = gpb_page_count(page);
	int			next = 0;
	int			kept = 0;
	bool		dead = false;
	int			i;

	for (i = 0; i < count; i++)
	{
		char	   *row = gpb_row_place(page, row_width, i);

		if (next < n && positions[next] == i)
		{
			next++;
			continue;
		}
		dead |= (gpb_row_locator(row) & GPB_LOC_DEAD) != 0;
		if (kept != i)
		{
			memcpy(gpb_key_place(page, key_width, kept),
				   gpb_key_place(page, key_width, i), key_width);
			memcpy(gpb_row_place(page, row_width, kept), row, row_width);
		}
		kept++;
	}
	Assert(next == n);
	gpb_set_count(page, key_width, row_width, kept);
	if (!dead)
		gpb_special(page)->flags &= ~GPB_PAGE_HAS_DEAD;
}

/* Both pages have the same widths, and the target has room. */
void
gpb_page_append(Page target, Page source, int from, int to)
{
	int			key_width = gpb_special(target)->key_width;
	int			row_width = gpb_special(target)->row_width;
	int			n = gpb_page_count(target);
	int			added = to - from;

	Assert(from <= to && to <= gpb_page_count(source));
	Assert(key_width == gpb_special(source)->key_width);
	Assert(row_width == gpb_special(source)->row_width);
	Assert(n + added <= gpb_page_capacity(key_width, row_width));

	memcpy(gpb_key_place(target, key_width, n),
		   gpb_key_place(source, key_width, from), added * key_width);
	memcpy(gpb_row_place(target, row_width, n + added - 1),
		   gpb_row_place(source, row_width, to - 1), added * row_width);
	gpb_set_count(target, key_width, row_width, n + added);
}

/*
 * A damaged link may name any block.  Asking the file for its length costs a
 * system call, so that is done only when the block is new to us; the file of a
 * relcache entry never shrinks.
 */
void
gpb_require_block(Relation index, BlockNumber block)
{
	GpbRelCache *cache = gpb_rel_cache(index);

	if (likely(block < cache->blocks))
		return;
	cache->blocks = RelationGetNumberOfBlocks(index);
	if (block >= cache->blocks)
		gpb_corrupted(index, block, "a link leads beyond the end of the file");
}

/*
 * Have we locked this page already?  A writer that holds pages would wait for
 * itself, uninterruptibly, if a damaged link led back to one of them.
 */
static bool
gpb_holds_lock(Buffer buffer)
{
	if (BufferIsLocal(buffer))
		return false;
	return LWLockHeldByMe(BufferDescriptorGetContentLock(GetBufferDescriptor(buffer - 1)));
}

/* PostgreSQL's own check of a page comes first; here it means the same to us. */
static void
gpb_pin_error(void *arg)
{
	if (geterrcode() == ERRCODE_DATA_CORRUPTED)
		errcode(ERRCODE_INDEX_CORRUPTED);
	errcontext("reading block %u of index \"%s\"",
			   ((GpbPin *) arg)->block,
			   RelationGetRelationName(((GpbPin *) arg)->index));
}

Buffer
gpb_pin(Relation index, Buffer buffer, BlockNumber block,
		BufferAccessStrategy strategy)
{
	GpbPin		pin = {index, block};
	ErrorContextCallback context;

	context.callback = gpb_pin_error;
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
	gpb_require_block(index, block);
	buffer = gpb_pin(index, buffer, block, NULL);
	if (unlikely(gpb_holds_lock(buffer)))
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

/* ---- pages asked for ahead of time ---- */

Buffer
gpb_ask_for_page(Relation index, BlockNumber block)
{
	Buffer		buffer;

	gpb_require_block(index, block);
	buffer = PrefetchBuffer(index, MAIN_FORKNUM, block).recent_buffer;
	if (!BufferIsValid(buffer) || BufferIsLocal(buffer))
		return InvalidBuffer;
	__builtin_prefetch(GetBufferDescriptor(buffer - 1));
	__builtin_prefetch(BufferGetPage(buffer));
	__builtin_prefetch((char *) BufferGetPage(buffer) + GPB_SPECIAL_OFFSET);
	return buffer;
}

/* The page is neither pinned nor locked: it may be any page by now, which makes the prefetch useless, no more. */
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

/* The buffer where the page was is tried first: that spares another look-up. */
Buffer
gpb_read_asked_for(Relation index, BlockNumber block, Buffer recent, const GpbLayout *layout)
{
	if (!BufferIsValid(recent) ||
		!ReadRecentBuffer(index->rd_node, MAIN_FORKNUM, block, recent))
		return gpb_read(index, block, BUFFER_LOCK_SHARE, layout);
	pgstat_count_buffer_read(index);
	pgstat_count_buffer_hit(index);
	LockBuffer(recent, BUFFER_LOCK_SHARE);
	gpb_page_require(index, block, BufferGetPage(recent), layout);
	return recent;
}

/*
 * The page is locked before the extension lock is given back, so that VACUUM,
 * which takes that lock to read the file's length, waits for its contents.  A
 * failure before the contents are logged leaves a page of zeroes that nothing
 * links to.
 */
Buffer
gpb_extend(Relation index)
{
	bool		shared = !RELATION_IS_LOCAL(index);
	Buffer		buffer;

	if (shared)
		LockRelationForExtension(index, ExclusiveLock);
	buffer = ReadBuffer(index, P_NEW);
	LockBuffer(buffer, BUFFER_LOCK_EXCLUSIVE);
	if (shared)
		UnlockRelationForExtension(index, ExclusiveLock);
	if (!PageIsNew(BufferGetPage(buffer)))
		gpb_corrupted(index, BufferGetBlockNumber(buffer),
					  "new page is not empty");
	return buffer;
}

/* What is wrong with the metapage, or NULL. */
static const char *
gpb_meta_fault(Page page, const GpbLayout *layout)
{
	const GpbMeta *meta = gpb_meta(page);
	const char *fault = gpb_frame_fault(page);

	if (fault != NULL)
		return fault;
	if ((gpb_special(page)->flags & GPB_PAGE_META) == 0 ||
		((PageHeader) page)->pd_lower != GPB_PAGE_HEADER + sizeof(GpbMeta) ||
		meta->magic != GPB_META_MAGIC)
		return "not a metapage";
	if (meta->version != GPB_META_VERSION)
		return "unknown version of the index format";
	if (meta->key_width != layout->key_width ||
		meta->row_width != layout->row_width ||
		meta->layout_flags != layout->flags ||
		meta->key_kind != layout->key_kind)
		return "the metapage describes other columns than the catalog";
	if (meta->root == GPB_META_BLOCK || meta->root == GPB_NO_BLOCK ||
		meta->level > GPB_MAX_LEVEL)
		return "root is out of range";
	return NULL;
}

Buffer
gpb_lock_meta(Relation index, const GpbLayout *layout, int lock)
{
	Buffer		buffer;
	const char *fault;

	gpb_require_block(index, GPB_META_BLOCK);
	buffer = gpb_pin(index, InvalidBuffer, GPB_META_BLOCK, NULL);
	LockBuffer(buffer, lock);
	fault = gpb_meta_fault(BufferGetPage(buffer), layout);
	if (fault != NULL)
		gpb_corrupted(index, GPB_META_BLOCK, fault);
	return buffer;
}

void
gpb_read_meta(Relation index, const GpbLayout *layout, GpbMeta *meta)
{
	Buffer		buffer = gpb_lock_meta(index, layout, BUFFER_LOCK_SHARE);

	*meta = *gpb_meta(BufferGetPage(buffer));
	UnlockReleaseBuffer(buffer);
}

void
gpb_mark_changed(Relation index, BlockNumber block)
{
	if (RelationUsesLocalBuffers(index))
		return;
	gpb_mirror_mark(gpb_mirror_find(&index->rd_node), block);
}
