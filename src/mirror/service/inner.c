/*-------------------------------------------------------------------------
 *
 * inner.c
 *	  The service's knowledge of an index's level 1, from the pages it uploads.
 *
 * The separators on level-1 pages, in key order, cut the key space into the pieces that the leaves
 * answer (rule M4).  Images of level-1 pages may have been taken at different times; they still
 * chain by their own right links, because splits do not change a page's low bound: the high key of
 * each image is the low bound of the page that its right link names.  What a newer split has put
 * between is simply not in the chain, and any subset of the separators that starts at minus
 * infinity is an exact partition.  If the chain meets a page that has no image yet, the previous
 * inner image stays: it, too, is an exact partition.  The same where a page has been deleted and
 * its right sibling, which then begins where that page began, has an image of before or after
 * alone: the chain has a gap until the other one is noted too.
 *
 * Used by the service alone; no shared memory, no locks.
 *
 *-------------------------------------------------------------------------
 */
#include "mirror/service/inner.h"

#include "utils/hsearch.h"
#include "utils/memutils.h"

/* What is known of a page of level 1 */
typedef struct GpbInnerPage
{
	uint32		block;			/* hash key */
	uint32		image;			/* its number on the device */
	uint32		right;
	uint32		count;			/* 0: not noted yet */
	uint32		leaves;			/* those among its children that the mirror is of */
	GpbBound	low;			/* its first separator */
	GpbBound	high;
} GpbInnerPage;

struct GpbInnerPages
{
	GpbLayout	layout;
	MemoryContext context;
	HTAB	   *pages;
	bool		dense;			/* images are numbered, see gpb_inner_image */
	GpbPieceImages *images;		/* of a piece, or NULL */
	uint32		leftmost;		/* level-1 page, or GPB_NO_BLOCK */
	GpbMeta		meta;			/* magic 0: not seen yet */
	bool		dirty;			/* changed since the last chain */
};

/*
 * Begin to note pages of an index.  dense says that images are numbered in the order in which they
 * come, as in a mirror of the inner nodes alone (see gpb_inner_image); those of a piece have the
 * numbers that "images" gives.
 */
GpbInnerPages *
gpb_inner_create(const GpbLayout *layout, bool dense, GpbPieceImages *images)
{
	MemoryContext context = AllocSetContextCreate(TopMemoryContext, "gpubtree inner pages",
												  ALLOCSET_DEFAULT_SIZES);
	GpbInnerPages   *inner = MemoryContextAllocZero(context, sizeof(GpbInnerPages));
	HASHCTL		control;

	control.keysize = sizeof(uint32);
	control.entrysize = sizeof(GpbInnerPage);
	control.hcxt = context;
	inner->layout = *layout;
	inner->dense = dense;
	inner->images = images;
	inner->context = context;
	inner->pages = hash_create("gpubtree inner pages", 256, &control,
							   HASH_ELEM | HASH_BLOBS | HASH_CONTEXT);
	inner->leftmost = GPB_NO_BLOCK;
	return inner;
}

void
gpb_inner_destroy(GpbInnerPages *inner)
{
	MemoryContextDelete(inner->context);
}

/* The entry of a page of level 1, made now if need be. */
static GpbInnerPage *
inner_page(GpbInnerPages *inner, BlockNumber block)
{
	bool		found;
	GpbInnerPage *page = hash_search(inner->pages, &block, HASH_ENTER, &found);

	if (!found)
	{
		page->count = 0;
		if (inner->images != NULL)
			page->image = gpb_piece_image(inner->images, block);
		else
			page->image = inner->dense ? (uint32) hash_get_num_entries(inner->pages) : block;
	}
	return page;
}

/*
 * The block number under which the device has the image of a page.  A mirror of all pages keeps the
 * index's numbers.  In a mirror of the inner nodes only a block in some hundreds has an image, and
 * a device keeps room for images of neighbouring blocks together; so these pages are numbered in
 * the order in which they came, and the device sees an index of them alone.  The metapage keeps its
 * number.
 */
uint32
gpb_inner_image(GpbInnerPages *inner, BlockNumber block)
{
	if (block == GPB_META_BLOCK || (!inner->dense && inner->images == NULL))
		return block;
	return inner->images != NULL ? gpb_piece_image(inner->images, block) :
		inner_page(inner, block)->image;
}

/* How many children of a page of level 1 are leaves that the mirror is of? */
static uint32
count_leaves(const GpbInnerPages *inner, const char *page)
{
	int			count = gpb_page_count(page);
	uint32		leaves = 0;
	int			i;

	if (inner->images == NULL)
		return count;
	for (i = 0; i < count; i++)
		leaves += gpb_row_child(gpb_page_row(page, GPB_INNER_ROW_WIDTH, i)) != GPB_OUTSIDE;
	return leaves;
}

/* Note what a page on its way to the device says of level 1. */
void
gpb_inner_note(GpbInnerPages *inner, BlockNumber block, const char *page)
{
	const GpbPageSpecial *special = gpb_page_special(page);
	GpbInnerPage *entry;

	if (block == GPB_META_BLOCK)
	{
		memcpy(&inner->meta, page + GPB_PAGE_HEADER, sizeof(GpbMeta));
		inner->dirty = true;
		return;
	}
	if (special->level != 1 || (special->flags & GPB_PAGE_DELETED) != 0)
	{
		/* A page of level 1 may have been deleted, and its block recycled on another level. */
		entry = hash_search(inner->pages, &block, HASH_FIND, NULL);
		if (entry != NULL && entry->count > 0)
		{
			entry->count = 0;
			inner->dirty = true;
		}
		return;
	}
	entry = inner_page(inner, block);
	entry->right = special->right;
	entry->count = gpb_page_count(page);
	entry->leaves = count_leaves(inner, page);
	entry->high = gpb_page_high(page);
	entry->low = entry->count > 0 ?
		gpb_page_bound(page, inner->layout.key_width, GPB_INNER_ROW_WIDTH, 0) :
		entry->high;
	if (special->left == GPB_NO_BLOCK)
		inner->leftmost = block;
	inner->dirty = true;
}

/* Follow the chain of level 1's pages and write it down.  Returns false if it has a gap. */
static bool
inner_walk(GpbInnerPages *inner, GpbInnerChain *chain)
{
	long		limit = hash_get_num_entries(inner->pages);
	GpbBound	low = {0, 0};
	uint32		block = inner->leftmost;

	while (block != GPB_NO_BLOCK)
	{
		GpbInnerPage *page = hash_search(inner->pages, &block, HASH_FIND, NULL);

		if (page == NULL || page->count == 0 || chain->nblocks >= limit ||
			gpb_bound_cmp(page->low, low) != 0)
			return false;
		chain->blocks[chain->nblocks] = page->image;
		chain->counts[chain->nblocks] = page->count;
		chain->nblocks++;
		chain->leaves += page->leaves;
		low = page->high;
		block = page->right;
	}
	return chain->nblocks > 0;
}

/*
 * Get the chain of level 1 as the images seen so far have it.  GPB_INNER_NEW says that a new inner
 * image is to be made of it; its arrays are the caller's to pfree.  A device that cannot take it
 * loses the mirror, so nothing has to be undone.
 */
GpbInnerOutcome
gpb_inner_chain(GpbInnerPages *inner, GpbInnerChain *chain)
{
	long		limit = hash_get_num_entries(inner->pages) + 1;

	memset(chain, 0, sizeof(*chain));
	if (!inner->dirty || inner->meta.magic != GPB_META_MAGIC)
		return GPB_INNER_SAME;
	chain->blocks = palloc(limit * sizeof(uint32));
	chain->counts = palloc(limit * sizeof(uint32));
	if (inner->meta.level == 0)
	{
		chain->root_leaf = inner->images != NULL ?
			gpb_piece_image(inner->images, inner->meta.root) : inner->meta.root;
		chain->leaves = 1;
	}
	else if (!inner_walk(inner, chain))
	{
		pfree(chain->blocks);
		pfree(chain->counts);
		return GPB_INNER_SAME;
	}
	inner->dirty = false;
	return GPB_INNER_NEW;
}
