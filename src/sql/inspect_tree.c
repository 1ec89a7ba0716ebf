/*-------------------------------------------------------------------------
 *
 * inspect_tree.c
 *	  gpubtree_tree: the pages of each level, and how they hang together.
 *
 * The walk goes down the left edge of the tree, and along each level by right links.  It raises no
 * error about what it finds: a page that cannot be the one wanted ends its level, and says why.
 *
 *-------------------------------------------------------------------------
 */
#include "sql/inspect.h"

#include "funcapi.h"
#include "miscadmin.h"
#include "utils/builtins.h"
#include "utils/memutils.h"

PG_FUNCTION_INFO_V1(gpubtree_tree);

#define MOST_PAGES_PER_LEVEL	100000

void
gpb_inspect_require_limit(int most, int limit)
{
	if (most < 1 || most > limit)
		ereport(ERROR,
				(errcode(ERRCODE_INVALID_PARAMETER_VALUE),
				 errmsg("pages_per_level must be from 1 to %d", limit),
				 errhint("The first pages of each level are shown, and no more.")));
}

/* What is wrong with a page, in the place where the walk met it; NULL if nothing is */
static const char *
fault_in_place(GpbInspect *look, BlockNumber block, const PGAlignedBlock *page, int level,
			   const GpbBound *low)
{
	const char *fault = gpb_inspect_fault(look, block, page);

	if (fault != NULL)
		return fault;
	if (gpb_page_special(page->data)->level != level)
		return "page of another level";
	/* A page that has been taken out covers nothing; its right link leads on. */
	if (low != NULL && !gpb_inspect_is_gone(page) &&
		!gpb_bound_less(*low, gpb_page_high(page->data)))
		return "high keys do not ascend";
	return NULL;
}

/* The blocks to which an inner page leads */
static BlockNumber *
page_children(const PGAlignedBlock *page)
{
	int			count = gpb_page_count(page->data);
	int			row_width = gpb_page_special(page->data)->row_width;
	BlockNumber *children = palloc(count * sizeof(BlockNumber));
	int			i;

	for (i = 0; i < count; i++)
		children[i] = gpb_row_child(gpb_page_row(page->data, row_width, i));
	return children;
}

/* Describe a page.  low is where it begins, or NULL if it is the first of its level. */
static void
describe(GpbInspect *look, BlockNumber block, const PGAlignedBlock *page, const GpbBound *low,
		 GpbTreePage *described)
{
	const GpbPageSpecial *special = gpb_page_special(page->data);

	described->fault = fault_in_place(look, block, page, described->level, low);
	if (described->fault != NULL)
		return;
	described->left = special->left;
	described->right = special->right;
	described->entries = gpb_page_count(page->data);
	described->dead = gpb_inspect_dead(page);
	described->fill = gpb_inspect_fill(page);
	if (low != NULL)
		described->low = gpb_inspect_bound(look, *low);
	if (special->right != GPB_NO_BLOCK)
		described->high = gpb_inspect_bound(look, gpb_page_high(page->data));
	described->flags = gpb_inspect_flags(page);
	described->flag_text = gpb_inspect_flag_text(page);
	described->gone = gpb_inspect_is_gone(page);
	described->incomplete = (special->flags & GPB_PAGE_INCOMPLETE_SPLIT) != 0;
	described->mirror = gpb_inspect_mirror(look, block, described->level);
	if (special->level > 0)
		described->children = page_children(page);
}

/* Add a page to the tree, which has room for *capacity of them. */
static GpbTreePage *
add_page(GpbTree *tree, int *capacity)
{
	if (tree->count == *capacity)
	{
		*capacity *= 2;
		tree->pages = repalloc_huge(tree->pages, *capacity * sizeof(GpbTreePage));
	}
	memset(&tree->pages[tree->count], 0, sizeof(GpbTreePage));
	return &tree->pages[tree->count++];
}

/*
 * Walk along a level from its first page, block.  Returns the first page of the level below, or
 * GPB_NO_BLOCK if no page of this level leads there.
 */
static BlockNumber
walk_level(GpbInspect *look, int level, BlockNumber block, int most, GpbTree *tree, int *capacity)
{
	BlockNumber below = GPB_NO_BLOCK;
	GpbBound	low;
	bool		has_low = false;
	int			number;

	for (number = 0; number < most && block != GPB_NO_BLOCK; number++)
	{
		GpbTreePage *described = add_page(tree, capacity);
		PGAlignedBlock page;

		CHECK_FOR_INTERRUPTS();
		described->block = block;
		described->level = level;
		described->number = number;
		/* The file may have become longer since the walk began. */
		if (block >= look->nblocks)
			look->nblocks = RelationGetNumberOfBlocks(look->index);
		if (block >= look->nblocks)
			described->fault = "beyond the end of the file";
		else
		{
			gpb_inspect_copy(look, block, &page);
			describe(look, block, &page, has_low ? &low : NULL, described);
		}
		if (described->fault != NULL)
			break;
		if (below == GPB_NO_BLOCK && level > 0 && !described->gone)
			below = described->children[0];
		if (!described->gone)
		{
			low = gpb_page_high(page.data);
			has_low = true;
		}
		block = described->right;
	}
	return below;
}

void
gpb_inspect_tree(GpbInspect *look, int most, GpbTree *tree)
{
	int			capacity = 64;
	GpbMeta		meta;
	BlockNumber block;
	int			level;

	gpb_read_meta(look->index, &look->layout, &meta);
	tree->pages = palloc(capacity * sizeof(GpbTreePage));
	tree->count = 0;
	tree->levels = meta.level + 1;
	block = meta.root;
	for (level = meta.level; level >= 0 && block != GPB_NO_BLOCK; level--)
		block = walk_level(look, level, block, most, tree, &capacity);
}

/* gpubtree_tree(index, pages_per_level): one row for each page. */
Datum
gpubtree_tree(PG_FUNCTION_ARGS)
{
	ReturnSetInfo *result = (ReturnSetInfo *) fcinfo->resultinfo;
	int			most = PG_GETARG_INT32(1);
	GpbInspect	look;
	GpbTree		tree;
	int			i;

	gpb_inspect_require_limit(most, MOST_PAGES_PER_LEVEL);
	InitMaterializedSRF(fcinfo, 0);
	gpb_inspect_open(&look, PG_GETARG_OID(0));
	gpb_inspect_tree(&look, most, &tree);
	for (i = 0; i < tree.count; i++)
	{
		const GpbTreePage *page = &tree.pages[i];
		Datum		values[13];
		bool		nulls[13] = {false};

		values[0] = Int32GetDatum(page->level);
		values[1] = Int64GetDatum(page->number + 1);
		values[2] = Int64GetDatum((int64) page->block);
		memset(nulls + 3, page->fault != NULL, 9);
		values[3] = Int64GetDatum((int64) page->left);
		nulls[3] |= page->left == GPB_NO_BLOCK;
		values[4] = Int64GetDatum((int64) page->right);
		nulls[4] |= page->right == GPB_NO_BLOCK;
		values[5] = Int32GetDatum(page->entries);
		values[6] = Int32GetDatum(page->dead);
		values[7] = Float8GetDatum(rint(page->fill * 10) / 10);
		nulls[8] = page->low == NULL;
		if (page->low != NULL)
			values[8] = CStringGetTextDatum(page->low);
		nulls[9] = page->high == NULL;
		if (page->high != NULL)
			values[9] = CStringGetTextDatum(page->high);
		values[10] = page->flags;
		nulls[11] = page->mirror == NULL;
		if (page->mirror != NULL)
			values[11] = CStringGetTextDatum(page->mirror);
		nulls[12] = page->fault == NULL;
		if (page->fault != NULL)
			values[12] = CStringGetTextDatum(page->fault);
		tuplestore_putvalues(result->setResult, result->setDesc, values, nulls);
	}
	gpb_inspect_close(&look);
	return (Datum) 0;
}
