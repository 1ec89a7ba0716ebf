/*-------------------------------------------------------------------------
 *
 * page_check.c
 *	  Is a page sound enough to be read?  And the errors about pages that are not.
 *
 * The checks are of constant cost and look at bytes alone: they make sure that no reader of the
 * page leaves it.  The caller holds the page's lock, or the page is a copy.
 *
 *-------------------------------------------------------------------------
 */
#include "postgres.h"

#include "storage/bufpage.h"
#include "utils/rel.h"

#include "page/page.h"

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
StaticAssertDecl(GPB_NO_BLOCK == InvalidBlockNumber, "no block");
StaticAssertDecl(sizeof(GpbPageSpecial) == MAXALIGN(sizeof(GpbPageSpecial)),
				 "special space alignment");

/*
 * What is wrong with the frame that every page of ours has, the metapage too; NULL if nothing is.
 */
static const char *
frame_fault(const void *page)
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
 * The number of entries of a tree page, or -1 if the ends of its hole, which are in order, do not
 * agree on one.
 */
static int
count_entries(const void *page, int key_width, int row_width)
{
	const PageHeaderData *header = (const PageHeaderData *) page;
	int			keys = gpb_key_place(key_width, 0);
	int			count = (header->pd_lower - keys) / key_width;

	if (gpb_has_runs(row_width))
		return gpb_page_run_count(page, key_width);
	return header->pd_lower == keys + count * key_width &&
		header->pd_upper == GPB_SPECIAL_OFFSET - count * row_width ? count : -1;
}

/*
 * What is wrong with a tree page, or NULL; see page.h.  gpb_page_fault_at() checks the sibling
 * links against the page's own block.
 */
const char *
gpb_page_fault(const void *page, const GpbLayout *layout)
{
	const GpbPageSpecial *special = gpb_page_special(page);
	const PageHeaderData *header = (const PageHeaderData *) page;
	const char *fault = frame_fault(page);
	int			row_width;
	int			count;

	if (fault != NULL)
		return fault;
	if ((special->flags & GPB_PAGE_META) != 0)
		return "metapage where a tree page should be";
	if ((special->flags & GPB_PAGE_DICTIONARY) != 0)
		return "page of the dictionary where a tree page should be";
	if (special->level > GPB_MAX_LEVEL)
		return "level is out of range";
	row_width = special->level == 0 ? layout->row_width : GPB_INNER_ROW_WIDTH;
	if (special->level == 0 && gpb_has_runs(special->row_width) &&
		row_width == GPB_LOCATOR_WIDTH)
		row_width = GPB_RUN_ROW_WIDTH;
	if (special->key_width != layout->key_width ||
		special->row_width != row_width)
		return "widths of entries are not the index's";
	if (header->pd_lower < gpb_key_place(layout->key_width, 0) ||
		header->pd_lower > header->pd_upper ||
		header->pd_upper > GPB_SPECIAL_OFFSET)
		return "bounds of the free space are out of range";
	count = count_entries(page, layout->key_width, row_width);
	if (count < 0)
		return gpb_has_runs(row_width) ? "ends of runs and number of rows differ" :
			"numbers of keys and of rows differ";
	if (special->level > 0 && count == 0)
		return "inner page without entries";
	if (special->left == GPB_META_BLOCK || special->right == GPB_META_BLOCK)
		return "sibling link to the metapage";
	if (special->right == GPB_NO_BLOCK &&
		(special->flags & GPB_PAGE_INCOMPLETE_SPLIT) != 0)
		return "split without a right half";
	if ((special->flags & GPB_PAGE_DELETED) != 0 &&
		(special->right == GPB_NO_BLOCK || (special->level == 0 && count > 0)))
		return "a page is marked deleted that cannot be";
	return NULL;
}

const char *
gpb_dictionary_page_fault(Page page)
{
	const GpbPageSpecial *special = gpb_page_special(page);
	const PageHeaderData *header = (const PageHeaderData *) page;
	const char *fault = frame_fault(page);

	if (fault != NULL)
		return fault;
	if (special->flags != GPB_PAGE_DICTIONARY)
		return "not a page of the dictionary";
	if (header->pd_lower < GPB_PAGE_HEADER || header->pd_lower > header->pd_upper ||
		header->pd_upper != GPB_SPECIAL_OFFSET)
		return "bounds of the free space are out of range";
	if (special->low_key > special->high_key || special->high_key > GPB_DICTIONARY_CODES ||
		(special->low_key == special->high_key) != (header->pd_lower == GPB_PAGE_HEADER))
		return "codes of the dictionary are out of range";
	if (special->right != GPB_NO_BLOCK && special->low_key == special->high_key)
		return "page of the dictionary without values that is not the last";
	return NULL;
}

static const char unknown_version[] = "unknown version of the index format";

const char *
gpb_meta_frame_fault(Page page)
{
	const GpbMeta *meta = gpb_meta(page);
	const char *fault = frame_fault(page);

	if (fault != NULL)
		return fault;
	if (gpb_special(page)->flags != GPB_PAGE_META ||
		((PageHeader) page)->pd_lower != GPB_PAGE_HEADER + sizeof(GpbMeta) ||
		meta->magic != GPB_META_MAGIC)
		return "not a metapage";
	if (meta->version != GPB_META_VERSION)
		return unknown_version;
	return NULL;
}

/* What is wrong with the metapage, or NULL. */
const char *
gpb_meta_fault(Page page, const GpbLayout *layout)
{
	const GpbMeta *meta = gpb_meta(page);
	const char *fault = gpb_meta_frame_fault(page);

	if (fault != NULL)
		return fault;
	if (meta->key_width != layout->key_width ||
		meta->row_width != layout->row_width ||
		meta->layout_flags != layout->flags ||
		meta->key_kind != layout->key_kind ||
		meta->nkeys != layout->nkeys ||
		memcmp(meta->key, layout->key, sizeof(meta->key)) != 0)
		return "the metapage describes other columns than the catalog";
	for (int c = 0; c < gpb_layout_columns(layout); c++)
	{
		if (meta->scale[c] != gpb_coding_stored_scale(gpb_column_coding(layout, c)))
			return "the metapage has another scale of a numeric column than the catalog";
	}
	if (meta->root == GPB_META_BLOCK || meta->root == GPB_NO_BLOCK ||
		meta->level > GPB_MAX_LEVEL)
		return "root is out of range";
	return NULL;
}

const char *
gpb_page_fault_at(BlockNumber block, Page page, const GpbLayout *layout)
{
	const char *fault = gpb_page_fault(page, layout);

	if (unlikely(fault != NULL))
		return fault;
	if (unlikely(gpb_special(page)->right == block ||
				 gpb_special(page)->left == block))
		return "page is its own sibling";

	if (unlikely((gpb_special(page)->left == GPB_NO_BLOCK) !=
				 (gpb_bound_cmp(gpb_page_low(page), GPB_BOUND_MIN) == 0)))
		return "left link is missing, or one too many";
	if (unlikely(!gpb_bound_less(gpb_page_low(page), gpb_page_high(page))))
		return "high key is not above the low bound";
	if (unlikely(gpb_special(page)->level > 0 &&
				 gpb_bound_cmp(gpb_page_bound(page, layout->key_width, GPB_INNER_ROW_WIDTH, 0),
							   gpb_page_low(page)) != 0))
		return "first separator is not its low bound";
	return NULL;
}

void
gpb_page_require(Relation index, BlockNumber block, Page page,
				 const GpbLayout *layout)
{
	const char *fault = gpb_page_fault_at(block, page, layout);

	if (unlikely(fault != NULL))
		gpb_corrupted(index, block, fault);
}

/* Every error about a damaged page is raised here, so that all name index and block. */
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
gpb_meta_refuse(Relation index, const GpbMeta *meta, const char *fault)
{
	if (fault != unknown_version)
		gpb_corrupted(index, GPB_META_BLOCK, fault);
	ereport(ERROR,
			(errcode(ERRCODE_INDEX_CORRUPTED),
			 errmsg("index \"%s\" was made by a gpubtree of another format",
					RelationGetRelationName(index)),
			 errdetail("The index has version %u of the format, and this gpubtree reads version %u.",
					   meta->version, GPB_META_VERSION),
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
