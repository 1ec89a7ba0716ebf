/*-------------------------------------------------------------------------
 *
 * page.c
 *	  Changing the bytes of a page, and marking it in the mirror.
 *
 * The functions that change a page know nothing of locks, WAL or the mirror: the caller holds the
 * exclusive lock, or nobody else can see the page.  They cannot fail, so that they fit a critical
 * section; redo uses them too.
 *
 *-------------------------------------------------------------------------
 */
#include "index/index.h"

#include "utils/rel.h"

#include "mirror/mark.h"
#include "index/page_runs.h"

int			gpb_inner_entries = GPB_PAGE_SIZE;

/* The address of the key of entry i. */
static inline char *
key_place(Page page, int key_width, int i)
{
	return (char *) page + gpb_key_place(key_width, i);
}

/* The address of the row of entry i. */
static inline char *
row_place(Page page, int row_width, int i)
{
	return (char *) page + GPB_SPECIAL_OFFSET - (i + 1) * row_width;
}

/* Set both ends of the hole, which follow from the number of entries. */
static inline void
set_count(Page page, int key_width, int row_width, int n)
{
	PageHeader	header = (PageHeader) page;

	header->pd_lower = gpb_key_place(key_width, n);
	header->pd_upper = GPB_SPECIAL_OFFSET - n * row_width;
}

/* Make an empty tree page without siblings. */
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
	/* Without entries, a page with runs has none of them. */
	set_count(page, key_width, row_width, 0);
}

StaticAssertDecl(GPB_META_SCALES >= GPB_MAX_KEYS + GPB_MAX_INCLUDE,
				 "the metapage has a scale for each column");

/* Make the metapage.  pd_lower is set behind its contents, which full-page images must keep. */
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
	meta->nkeys = layout->nkeys;
	memcpy(meta->key, layout->key, sizeof(meta->key));
	memset(meta->scale, 0, sizeof(meta->scale));
	for (int c = 0; c < gpb_layout_columns(layout); c++)
		meta->scale[c] = gpb_coding_stored_scale(gpb_column_coding(layout, c));
	((PageHeader) page)->pd_lower = GPB_PAGE_HEADER + sizeof(GpbMeta);
}

/* Insert an entry at position.  The page must have room for it. */
void
gpb_page_insert(Page page, int position, const void *key, const void *row)
{
	int			key_width = gpb_special(page)->key_width;
	int			row_width = gpb_special(page)->row_width;
	int			n = gpb_page_count(page);
	char	   *key_at = key_place(page, key_width, position);
	char	   *last_row = row_place(page, row_width, n - 1);

	if (gpb_has_runs(row_width))
	{
		gpb_runs_insert(page, position, key, row);
		return;
	}
	Assert(position >= 0 && position <= n);
	Assert(n < gpb_page_capacity(key_width, row_width));

	memmove(key_at + key_width, key_at, (n - position) * key_width);
	memcpy(key_at, key, key_width);
	memmove(last_row - row_width, last_row, (n - position) * row_width);
	memcpy(row_place(page, row_width, position), row, row_width);
	set_count(page, key_width, row_width, n + 1);
}

void
gpb_page_truncate(Page page, int n)
{
	Assert(n >= 0 && n <= gpb_page_count(page));
	if (gpb_has_runs(gpb_page_row_width(page)))
		gpb_runs_truncate(page, n);
	else
		set_count(page, gpb_special(page)->key_width, gpb_special(page)->row_width, n);
}

bool
gpb_page_set_dead(Page page, int position)
{
	int			row_width = gpb_page_row_width(page);
	char	   *row = unconstify(char *, gpb_page_row(page, row_width, position));
	uint32	   *word = (uint32 *) row + 1;

	if (gpb_has_runs(row_width))
	{
		uint16	   *low = (uint16 *) row;

		if (*low & GPB_SHORT_DEAD)
			return false;
		*low |= GPB_SHORT_DEAD;
		gpb_special(page)->flags |= GPB_PAGE_HAS_DEAD;
		return true;
	}
	if (*word & (uint32) (GPB_LOC_DEAD >> 32))
		return false;
	*word |= (uint32) (GPB_LOC_DEAD >> 32);
	gpb_special(page)->flags |= GPB_PAGE_HAS_DEAD;
	return true;
}

/* Is one of the first n entries marked dead? */
static bool
any_dead(Page page, int row_width, int n)
{
	for (int i = 0; i < n; i++)
	{
		if ((gpb_page_locator(page, row_width, i) & GPB_LOC_DEAD) != 0)
			return true;
	}
	return false;
}

/*
 * Remove the entries at n ascending positions of a page without runs.
 *
 * What lies between two removed entries is moved as a whole: one by one it takes VACUUM a fifth of
 * its time.
 */
static void
delete_entries(Page page, const uint16 *positions, int n)
{
	int			key_width = gpb_special(page)->key_width;
	int			row_width = gpb_special(page)->row_width;
	int			count = gpb_page_count(page);
	int			kept = positions[0];

	for (int i = 0; i < n; i++)
	{
		int			from = positions[i] + 1;
		int			to = i + 1 < n ? positions[i + 1] : count;

		Assert(from <= to);
		memmove(key_place(page, key_width, kept), key_place(page, key_width, from),
				(to - from) * key_width);
		kept += to - from;
		memmove(row_place(page, row_width, kept - 1), row_place(page, row_width, to - 1),
				(to - from) * row_width);
	}
	set_count(page, key_width, row_width, kept);
}

/*
 * Remove the entries at n ascending positions.  The page's hint that it has dead entries is cleared
 * if none of those that stay is marked.
 */
void
gpb_page_delete(Page page, const uint16 *positions, int n)
{
	GpbPageSpecial *special = gpb_special(page);
	int			row_width = special->row_width;

	if (n == 0)
		return;
	if (gpb_has_runs(row_width))
		gpb_runs_delete(page, positions, n);
	else
		delete_entries(page, positions, n);
	if ((special->flags & GPB_PAGE_HAS_DEAD) != 0 &&
		!any_dead(page, row_width, gpb_page_count(page)))
		special->flags &= ~GPB_PAGE_HAS_DEAD;
}

/*
 * Append entries [from, to) of source to target, which has room for them.  Both have the same
 * widths; a target with runs is empty.
 */
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
	if (gpb_has_runs(row_width))
	{
		gpb_runs_append(target, source, from, to);
		return;
	}
	Assert(n + added <= gpb_page_capacity(key_width, row_width));

	memcpy(key_place(target, key_width, n),
		   key_place(source, key_width, from), added * key_width);
	memcpy(row_place(target, row_width, n + added - 1),
		   row_place(source, row_width, to - 1), added * row_width);
	set_count(target, key_width, row_width, n + added);
}

void
gpb_page_set_low(Page page, GpbBound low)
{
	GpbPageSpecial *special = gpb_special(page);

	gpb_set_low(page, low);
	if (special->level > 0)
	{
		memcpy(key_place(page, special->key_width, 0), &low.key, special->key_width);
		memcpy(row_place(page, special->row_width, 0), &low.tie, sizeof(low.tie));
	}
}

void
gpb_mark_changed(Relation index, BlockNumber block)
{
	if (RelationUsesLocalBuffers(index))
		return;
	gpb_mirror_mark(&index->rd_node, block);
}
